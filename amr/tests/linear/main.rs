//! Linear trees against brute force and against the forest, on the CPU; every other backend is compared with the CPU in
//! `tests/tests/backends/linear.rs`. More cases with `CUTLINK_SLOW_TESTS` set.

mod conversion;
mod damage;
mod oracle;
mod random;

use cutlink_amr::checksum::mix;

/// Random numbers, the same every time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// Below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = mix(self.0);
        (self.0 >> 11) % bound
    }

    /// Root blocks, few on each axis, and whether the axes are periodic.
    pub(crate) fn grid<const D: usize>(&mut self) -> cutlink_amr::linear::Grid<D> {
        let root = std::array::from_fn(|_| 1 + self.below(if D == 2 { 5 } else { 3 }) as u32);
        let periodic = std::array::from_fn(|_| self.below(3) == 0);
        cutlink_amr::linear::Grid::new(root, periodic).expect("a root grid")
    }
}

/// Seeds: so many, twice as many where slow tests are wanted, any number by `CUTLINK_DRAWS`.
pub(crate) fn seeds(count: u64) -> std::ops::Range<u64> {
    let value = |name| std::env::var(name).ok().filter(|v| !v.is_empty());
    0..match value("CUTLINK_DRAWS") {
        Some(draws) => draws.parse().expect("CUTLINK_DRAWS should be a number"),
        None if value("CUTLINK_SLOW_TESTS").is_some() => 2 * count,
        None => count,
    }
}
