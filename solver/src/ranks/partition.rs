//! Which rank has which blocks: the blocks of all levels on one Morton curve, cut into runs of equal work.

use crate::tables::Built;
use cutlink_amr::dims;

/// Work of a slot in a step of its level.
const PLAIN: u64 = 2;
const SPECIAL: u64 = 5;

/// Bits of a block's coordinates on an axis, at the finest level.
const BITS: u32 = 21;

/// The ranks of all slots, by level.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Partition {
    ranks: usize,
    owners: Vec<Vec<u32>>,
}

/// The place of a block's lower corner on the Morton curve.
fn morton<const D: usize>(at: [i32; D]) -> u64 {
    let bit =
        |bit: u32, a: usize| u64::from(at[a] as u32 >> bit & 1) << (D as u32 * bit + a as u32);
    (0..BITS)
        .flat_map(|b| (0..D).map(move |a| (b, a)))
        .map(|(b, a)| bit(b, a))
        .sum()
}

impl Partition {
    /// Equal shares of work for so many ranks. The children of an overlap block are of its rank, so that means of children never
    /// leave a rank.
    pub(crate) fn new<const D: usize>(tables: &[Built<D>], ranks: usize) -> Self {
        let finest = tables.len() - 1;
        let mut curve: Vec<(u64, usize, usize, u64)> = Vec::new();
        for (level, built) in tables.iter().enumerate() {
            for (slot, coord) in built.level.coord.iter().enumerate() {
                let key = morton(coord.map(|x| x << (finest - level)));
                curve.push((key, level, slot, cost(built, slot) << level));
            }
        }
        curve.sort_unstable();
        let all: u64 = curve.iter().map(|&(.., work)| work).sum();
        let mut owners: Vec<Vec<u32>> = tables.iter().map(|t| vec![0; t.level.slots]).collect();
        let mut before = 0;
        for (_, level, slot, work) in curve {
            let middle = 2 * before + work;
            let rank = u128::from(middle) * ranks as u128 / (2 * u128::from(all));
            owners[level][slot] = rank as u32;
            before += work;
        }
        let mut partition = Self { ranks, owners };
        partition.keep_families(tables);
        partition
    }

    /// Any cut, for tests: the rank of each slot, by level.
    #[cfg(test)]
    pub(crate) fn of<const D: usize>(
        tables: &[Built<D>],
        ranks: usize,
        owner: impl Fn(usize, usize) -> u32,
    ) -> Self {
        let of_level = |(level, built): (usize, &Built<D>)| {
            (0..built.level.slots)
                .map(|slot| owner(level, slot))
                .collect()
        };
        let owners = tables.iter().enumerate().map(of_level).collect();
        let mut partition = Self { ranks, owners };
        partition.keep_families(tables);
        partition
    }

    /// Gives the children of overlap blocks to these blocks' ranks.
    fn keep_families<const D: usize>(&mut self, tables: &[Built<D>]) {
        for level in 1..tables.len() {
            let (coarser, finer) = self.owners.split_at_mut(level);
            let (coarser, finer) = (&coarser[level - 1], &mut finer[0]);
            let families = finer.chunks_exact_mut(dims::children(D));
            for (family, &overlap) in families.zip(&tables[level - 1].level.overlaps) {
                family.fill(coarser[overlap as usize]);
            }
        }
    }

    /// Ranks.
    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    /// The ranks of a level's slots.
    pub(crate) fn owners(&self, level: usize) -> &[u32] {
        &self.owners[level]
    }

    /// The work of each rank in a root step.
    pub(crate) fn work<const D: usize>(&self, tables: &[Built<D>]) -> Vec<u64> {
        let mut work = vec![0; self.ranks];
        for (level, built) in tables.iter().enumerate() {
            for (slot, &rank) in self.owners[level].iter().enumerate() {
                work[rank as usize] += cost(built, slot) << level;
            }
        }
        work
    }
}

/// The work of a slot in a step of its level.
fn cost<const D: usize>(built: &Built<D>, slot: usize) -> u64 {
    match slot < built.level.special {
        true => SPECIAL,
        false => PLAIN,
    }
}
