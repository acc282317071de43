//! Disjoint sets by union-find (Galler, Fischer 1964): path halving, the lower number the root.
//!
//! The root of a set is its lowest number, whatever the order of the unions. Cost: O(log n) amortized for each call;
//! four bytes for each element.

use crate::{DeviceError, memory};

/// Disjoint sets of the numbers 0 to n - 1.
#[derive(Debug, Clone)]
pub struct UnionFind {
    /// A lower number of the same set, or the number itself for a root.
    parent: Vec<u32>,
}

impl UnionFind {
    /// One set for each number below `count`.
    ///
    /// # Panics
    /// Where 32 bits do not hold the numbers.
    pub fn new(count: usize) -> Self {
        Self {
            parent: (0..end_of(count)).collect(),
        }
    }

    /// As [`new`](Self::new); `what` names the memory in an error.
    ///
    /// # Errors
    /// Where the memory is not there.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn try_new(what: &'static str, count: usize) -> Result<Self, DeviceError> {
        let mut parent = memory::with_capacity(what, count)?;
        parent.extend(0..end_of(count));
        Ok(Self { parent })
    }

    /// The lowest number of the set that an element is in.
    #[inline]
    pub fn root(&mut self, mut of: u32) -> u32 {
        while self.parent[of as usize] != of {
            let above = self.parent[self.parent[of as usize] as usize];
            self.parent[of as usize] = above;
            of = above;
        }
        of
    }

    /// Joins the sets of two elements, and returns whether they were two.
    #[inline]
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
        a != b
    }
}

fn end_of(count: usize) -> u32 {
    u32::try_from(count).expect("elements should be numbered with 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sets that are relabelled whole.
    #[test]
    fn roots_are_the_lowest_numbers_of_their_sets() {
        const COUNT: u32 = 300;
        let mut sets = UnionFind::new(COUNT as usize);
        let mut label: Vec<u32> = (0..COUNT).collect();
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u32 % COUNT
        };
        let (mut joined, mut already) = (0, 0);
        for _ in 0..400 {
            let (a, b) = (next(), next());
            let (from, to) = (label[a as usize], label[b as usize]);
            assert_eq!(sets.join(a, b), from != to, "{a} and {b}");
            *if from == to {
                &mut already
            } else {
                &mut joined
            } += 1;
            let (low, high) = (from.min(to), from.max(to));
            label
                .iter_mut()
                .filter(|l| **l == high)
                .for_each(|l| *l = low);
            for i in 0..COUNT {
                assert_eq!(sets.root(i), label[i as usize], "{i}");
            }
        }
        assert!(joined > 100 && already > 50, "{joined} and {already}");
    }

    #[test]
    fn no_element_and_too_many() {
        assert!(UnionFind::try_new("a test", 0).is_ok(), "none at all");
        let too_many = usize::MAX / 8;
        assert!(
            UnionFind::try_new("a test", too_many).is_err(),
            "no such memory"
        );
        assert!(std::panic::catch_unwind(|| UnionFind::new(too_many)).is_err());
    }
}
