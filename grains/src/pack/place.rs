//! Random places for grains in the free space of a container.

use super::{PackOptions, Vessel};
use crate::kernels::cpu::pairs::apart;
use crate::vec3::dot;
use crate::{Grain, GrainError};
use cutlink_device::memory;

/// Places that are tried for a grain, and for the first ones of a round: a narrow space is left in vain only if it is
/// really full.
const TRIES: [u32; 2] = [500, 20_000];

/// No grain.
const NONE: u32 = u32::MAX;

/// Random numbers: SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// From 0 to below 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Sizes, their shares by number, and how many there are of each.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    radius: Vec<f64>,
    /// As the options have them.
    given: Vec<f64>,
    share: Vec<f64>,
    count: Vec<usize>,
}

impl Sizes {
    pub(super) fn new(options: &PackOptions) -> Self {
        let radius: Vec<f64> = options.sizes.iter().map(|s| 0.5 * s.diameter).collect();
        let greatest = radius.iter().copied().fold(0.0, f64::max);
        let number = |(size, r): (&super::PackSize, &f64)| match options.by_volume {
            // Relative to the greatest, so that small lengths do not underflow.
            true => size.share / (r / greatest).powi(3),
            false => size.share,
        };
        let share: Vec<f64> = options.sizes.iter().zip(&radius).map(number).collect();
        let sum: f64 = share.iter().sum();
        Self {
            share: share.iter().map(|s| s / sum).collect(),
            count: vec![0; radius.len()],
            given: radius.clone(),
            radius,
        }
    }

    pub(super) fn scaled(mut self, by: f64) -> Self {
        self.radius.iter_mut().for_each(|r| *r *= by);
        self
    }

    pub(super) fn mean_radius(&self) -> f64 {
        let each = self.share.iter().zip(&self.radius);
        each.map(|(share, r)| share * r).sum()
    }

    pub(super) fn least(&self) -> f64 {
        self.radius.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(super) fn greatest(&self) -> f64 {
        self.radius.iter().copied().fold(0.0, f64::max)
    }

    pub(super) fn ratio(&self) -> f64 {
        self.greatest() / self.least()
    }

    pub(super) fn counts(&self) -> Vec<usize> {
        self.count.clone()
    }

    /// The radius as given, of one that was scaled.
    pub(super) fn given(&self, radius: f64) -> f64 {
        let at = self.radius.iter().position(|r| *r == radius);
        at.map_or(radius, |at| self.given[at])
    }

    /// The size that is most behind its share, the first of equals.
    fn next(&self) -> usize {
        let total = self.count.iter().sum::<usize>() as f64 + 1.0;
        let behind = |i: usize| self.share[i] * total - self.count[i] as f64;
        let each = (0..self.radius.len()).map(|i| (behind(i), i));
        each.reduce(|a, b| if b.0 > a.0 { b } else { a })
            .map_or(0, |(_, i)| i)
    }

    /// Takes grains back.
    pub(super) fn undo(&mut self, radii: impl Iterator<Item = f64>) {
        for radius in radii {
            if let Some(at) = self.radius.iter().position(|r| *r == radius) {
                self.count[at] -= 1;
            }
        }
    }
}

/// Random places.
#[derive(Debug)]
pub(super) struct Places {
    random: Random,
    periods: [[f64; 2]; 3],
}

/// Grains by cell: the first of each, and the next of each grain.
struct Lists {
    lower: [f64; 3],
    edge: f64,
    count: [usize; 3],
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Lists {
    fn new(vessel: &Vessel, greatest: f64, grains: usize) -> Result<Self, GrainError> {
        let most = (8 * grains).max(1 << 16) as f64;
        let mut edge = 2.0 * greatest;
        let along = |edge: f64, a: usize| (vessel.domain.length(a) / edge).floor().max(1.0);
        while (0..3).map(|a| along(edge, a)).product::<f64>() > most {
            edge *= 1.1;
        }
        let count = std::array::from_fn(|a| along(edge, a) as usize);
        let mut first = Vec::new();
        memory::grow("cells of grains", &mut first, count.iter().product(), NONE)?;
        Ok(Self {
            lower: vessel.domain.lower,
            edge,
            count,
            first,
            next: Vec::new(),
        })
    }

    fn cell(&self, x: [f64; 3]) -> [usize; 3] {
        std::array::from_fn(|a| {
            let cell = ((x[a] - self.lower[a]) / self.edge).floor();
            (cell.max(0.0) as usize).min(self.count[a] - 1)
        })
    }

    fn number(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.count[1] + j) * self.count[0] + i
    }

    fn push(&mut self, x: [f64; 3]) {
        let number = self.number(self.cell(x));
        self.next.push(self.first[number]);
        self.first[number] = self.next.len() as u32 - 1;
    }

    /// Whether any grain in the cells around fulfils something.
    fn any(&self, x: [f64; 3], periodic: [bool; 3], is: impl Fn(usize) -> bool) -> bool {
        let cell = self.cell(x);
        let around = |a: usize| {
            let (count, at) = (self.count[a] as isize, cell[a] as isize);
            let all = (-1..=1).map(move |shift| at + shift);
            let wrapped = all.filter_map(move |c| match periodic[a] {
                true => Some(c.rem_euclid(count) as usize),
                false => (0..count).contains(&c).then_some(c as usize),
            });
            let mut cells: Vec<usize> = wrapped.collect();
            cells.sort_unstable();
            cells.dedup();
            cells
        };
        let [xs, ys, zs] = [around(0), around(1), around(2)];
        for &k in &zs {
            for &j in &ys {
                for &i in &xs {
                    let mut at = self.first[self.number([i, j, k])];
                    while at != NONE {
                        if is(at as usize) {
                            return true;
                        }
                        at = self.next[at as usize];
                    }
                }
            }
        }
        false
    }
}

impl Places {
    pub(super) fn new(vessel: &Vessel, seed: u64) -> Self {
        Self {
            random: Random(seed),
            periods: vessel.domain.periods(),
        }
    }

    /// New grains among those that are there, at most so many; ends with the first that finds no place.
    pub(super) fn fill(
        &mut self,
        vessel: &Vessel,
        there: &[Grain],
        sizes: &mut Sizes,
        most: usize,
    ) -> Result<Vec<Grain>, GrainError> {
        self.fill_where(vessel, there, sizes, (most, TRIES), &|x, r| {
            is_clear(vessel, x, r)
        })
    }

    /// The same with other numbers of tries, where a centre and a radius are free of all but grains.
    pub(super) fn fill_where(
        &mut self,
        vessel: &Vessel,
        there: &[Grain],
        sizes: &mut Sizes,
        (most, tries): (usize, [u32; 2]),
        is_clear: &dyn Fn([f64; 3], f64) -> bool,
    ) -> Result<Vec<Grain>, GrainError> {
        let domain = &vessel.domain;
        let expected = (vessel.volume / (8.0 * sizes.least().powi(3))) as usize;
        let cells = there.len() + most.min(expected);
        let greatest = there.iter().map(|grain| grain.radius);
        let greatest = greatest.fold(sizes.greatest(), f64::max);
        let mut lists = Lists::new(vessel, greatest, cells)?;
        let mut all = memory::with_capacity("places of grains", there.len())?;
        for grain in there {
            let mut x = grain.center;
            vessel.wrap(&mut x);
            lists.push(x);
            all.push((x, grain.radius));
        }
        let periodic = std::array::from_fn(|a| domain.is_periodic(a));
        let mut new = Vec::new();
        'grains: while new.len() < most {
            let size = sizes.next();
            let r = sizes.radius[size];
            let is_late = new.len() * 20 > there.len();
            for _ in 0..tries[usize::from(!is_late)] {
                let x: [f64; 3] = std::array::from_fn(|a| {
                    let inset = if periodic[a] { 0.0 } else { r };
                    let share = self.random.next();
                    domain.lower[a] + inset + share * (domain.length(a) - 2.0 * inset)
                });
                let overlaps = |other: usize| {
                    let (y, s): ([f64; 3], f64) = all[other];
                    let d = apart(x, y, &self.periods);
                    dot(d, d) < (r + s) * (r + s)
                };
                if lists.any(x, periodic, overlaps) || !is_clear(x, r) {
                    continue;
                }
                lists.push(x);
                all.push((x, r));
                sizes.count[size] += 1;
                new.push(Grain::at(x, r));
                continue 'grains;
            }
            break;
        }
        Ok(new)
    }
}

/// Whether a sphere is on the inner side of the surface and away from it.
fn is_clear(vessel: &Vessel, x: [f64; 3], radius: f64) -> bool {
    let Some(wall) = &vessel.wall else {
        return true;
    };
    !wall.is_within(x, radius) && wall.is_free(x)
}
