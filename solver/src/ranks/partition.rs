//! Which rank has which blocks: the blocks of all levels on one Morton curve, cut into runs of equal work, but for regions that a rank
//! has as a whole.

use super::regions::regions;
use crate::tables::{Built, StepCosts};
use cutlink_amr::{NONE, dims};
use std::collections::BTreeMap;

/// Bits of a block's coordinates on an axis, at the finest level.
const BITS: u32 = 21;

/// The ranks of all slots, by level.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Partition {
    ranks: usize,
    costs: StepCosts,
    owners: Vec<Vec<u32>>,
}

/// Which rank has which region as a whole.
struct Homes {
    share: u64,
    /// By region its steps in a root step, and the work on each rank as the curve is cut.
    regions: BTreeMap<u32, (u64, Vec<u64>)>,
    /// The least work of a level's step, however small the level is.
    least: u64,
    /// By region its rank, if one has room for it.
    home: BTreeMap<u32, u32>,
    ranks: usize,
}

impl Homes {
    fn new(ranks: usize, share: u64, least: u64) -> Self {
        Self {
            share,
            regions: BTreeMap::new(),
            least,
            home: BTreeMap::new(),
            ranks,
        }
    }

    /// Adds the work of a slot in a root step, in which its level takes so many steps.
    fn add(&mut self, region: u32, rank: u32, work: u64, steps: u64) {
        if region != NONE {
            let empty = || (0, vec![0; self.ranks]);
            let (most, of_rank) = self.regions.entry(region).or_insert_with(empty);
            *most = steps.max(*most);
            of_rank[rank as usize] += work;
        }
    }

    /// Gives regions to ranks, the largest first. Returns the work of each rank in them.
    fn settle(&mut self) -> Vec<u64> {
        let mut taken = vec![0; self.ranks];
        // The steps of a level and of the coarser ones.
        let sum = |(steps, of): &(u64, Vec<u64>)| of.iter().sum::<u64>() + self.least * (2 * steps);
        let mut all: Vec<_> = self.regions.iter().collect();
        all.sort_by_key(|(region, of)| (std::cmp::Reverse(sum(of)), **region));
        for (&region, of) in all {
            let (work, of_rank) = (sum(of), &of.1);
            let fits = (0..self.ranks).filter(|&rank| taken[rank] + work <= self.share);
            // Most of it, else the emptiest.
            let best = fits.max_by_key(|&rank| {
                (
                    of_rank[rank],
                    std::cmp::Reverse(taken[rank]),
                    std::cmp::Reverse(rank),
                )
            });
            if let Some(rank) = best {
                taken[rank] += work;
                self.home.insert(region, rank as u32);
            }
        }
        taken
    }
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

/// A slot on the Morton curve: its level, the slot, its work.
type OnCurve = (usize, usize, u64);

/// All slots in the order of the Morton curve of their lower corners.
fn curve<const D: usize>(tables: &[Built<D>], work: &[Vec<u64>]) -> Vec<OnCurve> {
    let finest = tables.len() - 1;
    let mut curve = Vec::new();
    for (level, built) in tables.iter().enumerate() {
        for (slot, coord) in built.level.coord.iter().enumerate() {
            let key = morton(coord.map(|x| x << (finest - level)));
            curve.push((key, level, slot, work[level][slot]));
        }
    }
    curve.sort_unstable();
    let place = |(_, level, slot, work)| (level, slot, work);
    curve.into_iter().map(place).collect()
}

/// Cuts a curve into runs with as much work as each rank has room for, in proportion.
fn cut<'a>(
    curve: impl Iterator<Item = &'a OnCurve> + Clone,
    room: &[u64],
    mut take: impl FnMut(&OnCurve, u32),
) {
    let all: u64 = curve.clone().map(|&(.., work)| work).sum();
    let rooms: u64 = room.iter().sum();
    let (mut rank, mut end, mut before) = (0, u128::from(room[0]), 0);
    for at in curve {
        let middle = 2 * before + at.2;
        // Where the middle is as a part of all, against the ends of the runs as parts of all rooms.
        while rank + 1 < room.len()
            && u128::from(middle) * u128::from(rooms) >= 2 * end * u128::from(all)
        {
            rank += 1;
            end += u128::from(room[rank]);
        }
        take(at, rank as u32);
        before += at.2;
    }
}

impl Partition {
    /// Equal shares of work for so many ranks. Regions of finer levels that fit into a share stay on one rank ([`regions`]), that which
    /// has most of them otherwise, if it has room. The children of an overlap block are of its rank, so that means of children
    /// never leave a rank.
    pub(crate) fn new<const D: usize>(tables: &[Built<D>], ranks: usize, costs: StepCosts) -> Self {
        let work = work_of(tables, costs);
        let curve = curve(tables, &work);
        let all: u64 = work.iter().flatten().sum();
        let share = all / ranks as u64;
        let mut owners: Vec<Vec<u32>> = tables.iter().map(|t| vec![0; t.level.slots]).collect();
        cut(curve.iter(), &vec![1; ranks], |&(level, slot, _), rank| {
            owners[level][slot] = rank;
        });
        let regions = match ranks {
            1 => work.iter().map(|of| vec![NONE; of.len()]).collect(),
            _ => regions(tables, &work, share),
        };
        let mut homes = Homes::new(ranks, share, costs.least);
        for &(level, slot, work) in &curve {
            homes.add(regions[level][slot], owners[level][slot], work, 1 << level);
        }
        let taken = homes.settle();
        let home = |level: usize, slot: usize| homes.home.get(&regions[level][slot]).copied();
        let others = curve.iter().filter(|at| home(at.0, at.1).is_none());
        let room: Vec<u64> = taken.iter().map(|&taken| share - taken).collect();
        // With all work in regions there is nothing to cut.
        let room = if room.iter().all(|&room| room == 0) {
            vec![1; ranks]
        } else {
            room
        };
        cut(others, &room, |&(level, slot, _), rank| {
            owners[level][slot] = rank
        });
        for &(level, slot, _) in &curve {
            if let Some(rank) = home(level, slot) {
                owners[level][slot] = rank;
            }
        }
        let mut partition = Self {
            ranks,
            costs,
            owners,
        };
        partition.keep_families(tables);
        partition
    }

    /// As [`new`](Self::new), of another mesh.
    pub(crate) fn again<const D: usize>(&self, tables: &[Built<D>]) -> Self {
        Self::new(tables, self.ranks, self.costs)
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
        let costs = StepCosts::new(cutlink_device::Memory::Host, 1);
        let mut partition = Self {
            ranks,
            costs,
            owners,
        };
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

    /// The same of slots in another order, by level and new slot the one of before; nothing where they stay.
    pub(crate) fn reorder(&mut self, orders: &[Vec<u32>]) {
        for (owners, order) in self.owners.iter_mut().zip(orders) {
            if !order.is_empty() {
                *owners = order.iter().map(|&slot| owners[slot as usize]).collect();
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
        for (of_slots, owners) in work_of(tables, self.costs).iter().zip(&self.owners) {
            for (of_slot, &rank) in of_slots.iter().zip(owners) {
                work[rank as usize] += of_slot;
            }
        }
        work
    }
}

/// The work of each slot in a root step, by level.
fn work_of<const D: usize>(tables: &[Built<D>], costs: StepCosts) -> Vec<Vec<u64>> {
    let of_level = |(level, built): (usize, &Built<D>)| -> Vec<u64> {
        built.work(costs).iter().map(|work| work << level).collect()
    };
    tables.iter().enumerate().map(of_level).collect()
}
