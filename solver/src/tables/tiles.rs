//! Levels whose plain cells keep 9 values each instead of populations (decision 059): the order of their slots, and
//! tiles of 2^D blocks that a thread block steps.
//!
//! Special slots have populations, and so have the plain ones beside them, whose populations they read. These come
//! first.

use super::{Built, HaloRanges};
use crate::constants::kept::{STEPPED, VALUES};
use cutlink_amr::{NONE, dims};
use rayon::prelude::*;

/// Values that a cell keeps: density less 1, velocity, and the stress xx, xy, xz, yy, yz without its trace.
pub(crate) const KEPT: usize = VALUES as usize;

/// How the plain slots of a level are stepped in tiles.
#[derive(Debug)]
pub(crate) struct Tiling {
    /// By new slot the one of before; special ones stay where they are.
    pub(crate) order: Vec<u32>,
    /// Slots with populations: special ones, and plain ones beside them.
    pub(crate) populated: usize,
    /// The new slots of each tile's blocks and of those around them, 4^D a tile, x fastest; [`NONE`] where no cell of a
    /// plain slot reads them. Each plain slot is among the inner 2^D of one tile, with [`STEPPED`].
    pub(crate) tiles: Vec<u32>,
}

/// Whether levels with so many slots, of which so many would have populations, take less memory if the others keep
/// [`KEPT`] values a cell: all slots have these.
pub(crate) fn pays(slots: usize, populated: usize, q: usize) -> bool {
    populated * q + slots * KEPT < slots * q
}

impl<const D: usize> Built<D> {
    /// Which plain slots have a special one beside them.
    fn beside_special(&self) -> Vec<bool> {
        let level = &self.level;
        let mut beside = vec![false; level.slots - level.special];
        for &next in &level.neighbors[..level.special * dims::directions(D)] {
            if let Some(plain) = (next as usize).checked_sub(level.special)
                && let Some(beside) = beside.get_mut(plain)
            {
                *beside = true;
            }
        }
        beside
    }

    /// Slots that have populations where the others keep [`KEPT`] values a cell. Cost: a pass over the special slots.
    pub(crate) fn populated(&self) -> usize {
        let beside = self.beside_special();
        self.level.special + beside.iter().filter(|&&is| is).count()
    }

    /// For each axis 0 or 1, so that coordinates from an even number less that on are of one tile: as many pairs of
    /// plain slots as can be are together.
    fn parities(&self) -> [i32; D] {
        let level = &self.level;
        let center = dims::directions(D) / 2;
        std::array::from_fn(|axis| {
            let behind = center + 3usize.pow(axis as u32);
            let mut pairs = [0usize; 2];
            for slot in level.special..level.slots {
                let next = level.neighbors[slot * dims::directions(D) + behind] as usize;
                let at = level.coord[slot][axis];
                let is_pair = (level.special..level.slots).contains(&next)
                    && level.coord[next][axis] == at + 1;
                pairs[(at & 1) as usize] += usize::from(is_pair);
            }
            i32::from(pairs[1] > pairs[0])
        })
    }

    /// The order of slots and the tiles.
    pub(crate) fn tiling(&self) -> Tiling {
        let level = &self.level;
        let (special, children) = (level.special, dims::children(D));
        let parities = self.parities();
        // A tile, and the place of a block in it.
        let split = |slot: u32| -> ([i32; D], usize) {
            let at: [i32; D] = std::array::from_fn(|a| level.coord[slot as usize][a] + parities[a]);
            let corner = (0..D).map(|a| ((at[a] & 1) as usize) << a).sum();
            (at.map(|x| x >> 1), corner)
        };
        // By tiles along a Morton curve, so that tiles that are stepped together share what is around them.
        let key = |slot: u32| -> u128 {
            let (tile, corner) = split(slot);
            let bit = |n: usize, a: usize| u128::from((tile[a] >> n & 1) as u32) << (D * n + a);
            let morton: u128 = (0..31).flat_map(|n| (0..D).map(move |a| bit(n, a))).sum();
            morton * children as u128 + corner as u128
        };
        let mut plain: Vec<u32> = (special as u32..level.slots as u32).collect();
        plain.par_sort_by_cached_key(|&slot| key(slot));
        let beside = self.beside_special();
        let is_beside = |slot: &u32| beside[*slot as usize - special];
        let mut order: Vec<u32> = (0..special as u32).collect();
        order.extend(plain.iter().copied().filter(is_beside));
        let populated = order.len();
        order.extend(plain.iter().copied().filter(|slot| !is_beside(slot)));
        let mut new_of: Vec<u32> = vec![NONE; level.slots];
        for (new, &old) in (0..).zip(&order) {
            new_of[old as usize] = new;
        }
        let mut tiles = Vec::new();
        for of_tile in plain.chunk_by(|&a, &b| split(a).0 == split(b).0) {
            let first = tiles.len();
            tiles.resize(first + dims::cells(D), NONE);
            for &slot in of_tile {
                let corner = dims::unravel::<D>(split(slot).1, 2);
                let row = &level.neighbors[slot as usize * dims::directions(D)..];
                for direction in 0..dims::directions(D) {
                    let toward = dims::unravel::<D>(direction, 3);
                    let place = std::array::from_fn(|a| corner[a] + toward[a]);
                    tiles[first + dims::ravel::<D>(place, 4)] = new_of[row[direction] as usize];
                }
            }
            for &slot in of_tile {
                let inner = dims::unravel::<D>(split(slot).1, 2).map(|x| x + 1);
                tiles[first + dims::ravel(inner, 4)] |= STEPPED;
            }
        }
        Tiling {
            order,
            populated,
            tiles,
        }
    }

    /// Brings the slots into the order of tiles, if cells with [`KEPT`] values take less memory; returns by new slot
    /// the one of before, or nothing where they stay.
    pub(crate) fn keep_moments(&mut self, q: usize) -> Vec<u32> {
        if !pays(self.level.slots, self.populated(), q) {
            return Vec::new();
        }
        let tiling = self.tiling();
        let order = tiling.order.clone();
        self.tile(tiling);
        order
    }

    /// Puts the slots in the order of a tiling. Only tables that plain slots have change: modelled walls and sponges
    /// are not among them.
    pub(crate) fn tile(&mut self, tiling: Tiling) {
        fn by<T: Copy + Send + Sync>(order: &[u32], of: &[T], row: usize) -> Vec<T> {
            let rows = order.par_iter();
            let rows = rows.flat_map_iter(|&old| &of[old as usize * row..][..row]);
            rows.copied().collect()
        }
        let Tiling {
            order,
            populated,
            tiles,
        } = tiling;
        let mut new_of = vec![NONE; order.len()];
        for (new, &old) in (0..).zip(&order) {
            new_of[old as usize] = new;
        }
        let level = &mut self.level;
        level.coord = by(&order, &level.coord, 1);
        level.neighbors = by(&order, &level.neighbors, dims::directions(D));
        for next in &mut level.neighbors {
            *next = new_of.get(*next as usize).copied().unwrap_or(*next);
        }
        level.stepped = by(&order, &level.stepped, 1);
        level.solid = by(&order, &level.solid, 1);
        level.ghost = by(&order, &level.ghost, 1);
        self.blocks = by(&order, &self.blocks, 1);
        let ends = [level.exchanging, level.special, populated, level.slots];
        level.halo = HaloRanges(ends.map(|end| end..end));
        level.keeps_moments = true;
        level.populated = populated;
        level.tiles = tiles;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FaceCondition, kernels::cpu::fixture, lattice::D3Q19};
    use cutlink_mesher::primitives::Shape3;

    const D: usize = 3;

    fn built() -> Vec<Built<D>> {
        let sphere = Shape3::Sphere { radius: 3.0 }.surface(1e-2);
        let faces = [
            [FaceCondition::FreeSlip; 2],
            [FaceCondition::Periodic; 2],
            [FaceCondition::Periodic; 2],
        ];
        fixture::levels::<D, D3Q19>(&sphere.expect("a sphere"), 18, 2, faces)
    }

    /// What a tiling is to be, by coordinates of blocks.
    fn check(before: &Built<D>, after: &Built<D>, order: &[u32]) -> Result<(), String> {
        let (old, new) = (&before.level, &after.level);
        let is = |right: bool, what: &str| right.then_some(()).ok_or_else(|| what.to_owned());
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        is(
            sorted.iter().copied().eq(0..old.slots as u32),
            "no permutation",
        )?;
        let at = |slot: usize| new.coord[slot];
        let mut times = vec![0; new.slots];
        for slot in 0..new.slots {
            let from = order[slot] as usize;
            is(at(slot) == old.coord[from], "coordinates")?;
            is(after.blocks[slot] == before.blocks[from], "blocks")?;
            let masks = |of: &crate::tables::Level<D, cutlink_device::Host>, slot: usize| {
                [of.stepped[slot], of.solid[slot], of.ghost[slot]]
            };
            is(masks(new, slot) == masks(old, from), "masks")?;
            let row = |of: &[u32], slot: usize| of[slot * 27..][..27].to_vec();
            let there = row(&old.neighbors, from).into_iter();
            let there = there.map(|next| old.coord.get(next as usize).copied());
            let here = row(&new.neighbors, slot).into_iter();
            let here = here.map(|next| new.coord.get(next as usize).copied());
            is(here.eq(there), "neighbours")?;
            let beside = row(&new.neighbors, slot).into_iter();
            let has_special = beside.into_iter().any(|next| (next as usize) < new.special);
            is(
                slot < new.special || has_special == (slot < new.populated),
                "populations",
            )?;
        }
        for tile in new.tiles.chunks_exact(64) {
            for (place, &entry) in tile.iter().enumerate() {
                if entry == NONE || entry & STEPPED == 0 {
                    continue;
                }
                let slot = (entry & !STEPPED) as usize;
                times[slot] += 1;
                let inner = dims::unravel::<D>(place, 4);
                is(
                    inner.iter().all(|x| (1..3).contains(x)),
                    "a block at the rim",
                )?;
                for direction in 0..27 {
                    let toward = dims::unravel::<D>(direction, 3);
                    let there = std::array::from_fn(|a| inner[a] + toward[a] - 1);
                    let found = tile[dims::ravel::<D>(there, 4)] & !STEPPED;
                    is(found == new.neighbors[slot * 27 + direction], "a tile")?;
                }
            }
        }
        let steps = |slot: usize| usize::from(slot >= new.special);
        is(
            (0..new.slots).all(|slot| times[slot] == steps(slot)),
            "steps",
        )
    }

    #[test]
    fn tiles_step_each_plain_block_once() {
        let mut whole = 0;
        for before in built() {
            let tiling = before.tiling();
            assert_eq!(tiling.populated, before.populated());
            let order = tiling.order.clone();
            let mut after = built().swap_remove(before.level.index);
            after.tile(tiling);
            check(&before, &after, &order).expect("a tiling");
            let members = |tile: &[u32]| {
                let steps = |&&entry: &&u32| entry != NONE && entry & STEPPED != 0;
                tile.iter().filter(steps).count()
            };
            whole += after
                .level
                .tiles
                .chunks(64)
                .filter(|tile| members(tile) == 8)
                .count();
            // Each thing that is checked can be wrong.
            let place = |entry: &u32| *entry != NONE && entry & STEPPED != 0;
            let Some(step) = after.level.tiles.iter().position(place) else {
                continue;
            };
            let is_wrong = |change: &dyn Fn(&mut Built<D>), order: &[u32]| {
                let mut wrong = built().swap_remove(before.level.index);
                wrong.tile(before.tiling());
                change(&mut wrong);
                check(&before, &wrong, order).is_err()
            };
            assert!(!is_wrong(&|_| (), &order));
            let neighbor = |wrong: &mut Built<D>| wrong.level.tiles[step - 1] ^= 1;
            assert!(is_wrong(&neighbor, &order), "a wrong neighbour");
            let left = |wrong: &mut Built<D>| wrong.level.tiles[step] &= !STEPPED;
            assert!(is_wrong(&left, &order), "a block is left out");
            let less = |wrong: &mut Built<D>| wrong.level.populated -= 1;
            assert!(is_wrong(&less, &order), "a block without populations");
            let mut moved = order.clone();
            moved.swap(0, 1);
            assert!(is_wrong(&|_| (), &moved), "another order");
        }
        assert!(whole > 10, "{whole} whole tiles");
    }

    #[test]
    fn moments_take_less_where_few_blocks_are_special() {
        // Of 18 and 27 numbers, half of the blocks or two thirds would do.
        assert!(pays(1000, 526, 19) && !pays(1000, 527, 19));
        assert!(pays(1000, 666, 27) && !pays(1000, 667, 27));
        assert!(!pays(0, 0, 19));
    }
}
