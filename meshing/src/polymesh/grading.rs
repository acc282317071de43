//! Which cells of a forest make the mesh: those of its leaf blocks, or fewer, chosen cell by cell.
//!
//! Blocks refine in cubes of 4^3 cells and a layer of blocks a level, which suits lattice Boltzmann kernels and costs many
//! cells. A refined block has cells of its own, each of which may stand for the 8 of its children. So a mesh graded by
//! cell is a subset of the cells of all blocks, refined ones included: a word a block says which cells are *refined* and
//! which are *used*. From the finest level up, a cell is refined
//! - if a cell below it has a cut link, or fluid and solid are below it: exactly what the embedding found;
//! - if a rule wants it: a distance from walls, or a region;
//! - if a cell below it is needed around a refined one, so that each level is some cells wide.
//!
//! Blocks of a forest are balanced 2:1 over corners and have 4 cells an edge. So up to [`MOST_BETWEEN`] cells a level, all
//! that the second and third rule ask for lies in blocks that are there. Masks are exact and do not depend on the number
//! of threads. Cost: some passes over the blocks, a word each.

use super::cells::Side;
use super::wanted::Wanted;
use cutlink_amr::{Forest, NONE, OUTSIDE, dims};
use cutlink_common::Error;
use cutlink_device::memory;
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// The most cells between levels that a forest of blocks has room for.
pub const MOST_BETWEEN: u32 = dims::EDGE as u32;

/// Bytes of the masks for each block, of all at once.
pub(super) const BYTES_PER_BLOCK: u64 = 7 * 8;

/// Masks of cells by block id.
#[derive(Debug)]
pub(super) struct Grading {
    /// Cells of the mesh, solid ones included.
    pub(super) used: Vec<u64>,
    /// Cells that finer ones stand for.
    pub(super) refined: Vec<u64>,
    /// Cells below which all is solid.
    pub(super) solid: Vec<u64>,
    /// Cells of leaf blocks that a rule wants finer.
    pub(super) coarser_than_wanted: u64,
}

impl Grading {
    /// The cells of the leaf blocks.
    pub(super) fn of_blocks(mesh: &Mesh<3>) -> Result<Self, Error> {
        let forest = &mesh.forest;
        let mut grading = Self::none(forest)?;
        grading.solid.copy_from_slice(&mesh.classes.solid);
        for id in forest.ids() {
            let is_leaf = forest.is_leaf(id);
            grading.used[id as usize] = if is_leaf { u64::MAX } else { 0 };
            grading.refined[id as usize] = if is_leaf { 0 } else { u64::MAX };
        }
        Ok(grading)
    }

    /// Cells chosen one by one, with at least `between` cells of a level, counted over faces, between finer and coarser
    /// ones, 1 to [`MOST_BETWEEN`]; 2:1 over faces, edges and corners.
    pub(super) fn by_cell(mesh: &Mesh<3>, between: u32, wanted: &Wanted) -> Result<Self, Error> {
        let forest = &mesh.forest;
        let mut grading = Self::none(forest)?;
        let mut needed = masks(forest)?;
        for level in (0..=forest.finest()).rev() {
            let of_level = &forest.levels[level];
            let found: Vec<(u64, u64, u64)> = of_level
                .par_iter()
                .map(|&id| {
                    let (solid, refined) = below(mesh, id, &grading.solid, &needed);
                    let wants = wanted.cells(mesh, level, id) & !solid;
                    match forest.is_leaf(id) {
                        true => (solid, 0, u64::from(wants.count_ones())),
                        false => (solid, refined | wants, 0),
                    }
                })
                .collect();
            for (&id, (all, refined, short)) in of_level.iter().zip(found) {
                grading.solid[id as usize] = all;
                grading.refined[id as usize] = refined;
                grading.coarser_than_wanted += short;
            }
            let refined = &grading.refined;
            around(forest, level, refined, between, &mut needed);
            let cut = &mesh.classes.boundary;
            for &id in of_level.iter().filter(|&&id| forest.is_leaf(id)) {
                needed[id as usize] |= cut[id as usize];
            }
        }
        grading.use_the_rest(forest);
        Ok(grading)
    }

    fn none(forest: &Forest<3>) -> Result<Self, Error> {
        Ok(Self {
            used: masks(forest)?,
            refined: masks(forest)?,
            solid: masks(forest)?,
            coarser_than_wanted: 0,
        })
    }

    /// Uses the cells that are not refined, where those above are.
    fn use_the_rest(&mut self, forest: &Forest<3>) {
        for id in forest.ids() {
            let there = match forest.parent[id as usize] {
                NONE => u64::MAX,
                parent => {
                    let child = dims::unravel::<3>(child_of(forest, id), 2);
                    spread(self.refined[parent as usize], child)
                }
            };
            self.used[id as usize] = there & !self.refined[id as usize];
        }
    }
}

fn masks(forest: &Forest<3>) -> Result<Vec<u64>, Error> {
    let mut masks = memory::with_capacity("the grading of cells", forest.capacity())?;
    masks.resize(forest.capacity(), 0);
    Ok(masks)
}

/// Which of its siblings a block is.
pub(super) fn child_of(forest: &Forest<3>, id: u32) -> usize {
    dims::ravel(forest.coord[id as usize].map(|c| c & 1), 2)
}

/// Of the cells of a block: below which all is solid; below which there is a needed cell, or both fluid and solid.
fn below(mesh: &Mesh<3>, id: u32, solid: &[u64], needed: &[u64]) -> (u64, u64) {
    let first = match mesh.forest.first_child[id as usize] {
        NONE => return (mesh.classes.solid[id as usize], 0),
        first => first,
    };
    let (mut all, mut refined) = (0, 0);
    for child in 0..8 {
        let at = first as usize + child;
        let fluid = collapse(!solid[at], child);
        all |= !fluid & spread_of(child);
        refined |= collapse(needed[at], child) | fluid & collapse(solid[at], child);
    }
    (all, refined)
}

/// The cells of a block over those of its `child`-th child.
fn spread_of(child: usize) -> u64 {
    collapse(u64::MAX, child)
}

/// The cells of a block with a cell of the mask below them, which is one of its `child`-th child.
fn collapse(mask: u64, child: usize) -> u64 {
    let mask = mask | mask >> 1;
    let mask = mask | mask >> 4;
    let mask = mask | mask >> 16;
    let child = dims::unravel::<3>(child, 2);
    (0..8).fold(0, |over, i| {
        let at = dims::unravel::<3>(i, 2).map(|c| 2 * c);
        let is_set = mask >> dims::ravel(at, 4) & 1;
        over | is_set << dims::ravel(dims::above(child, at), 4)
    })
}

/// The cells of a child block below those of a mask.
fn spread(mask: u64, child: [i32; 3]) -> u64 {
    (0..64).fold(0, |under, cell| {
        let over = dims::above(child, dims::unravel::<3>(cell, 4));
        under | (mask >> dims::ravel(over, 4) & 1) << cell
    })
}

/// Marks the cells of a level within so many steps over faces of a refined one, and those that touch one.
fn around(forest: &Forest<3>, level: usize, refined: &[u64], steps: u32, marks: &mut [u64]) {
    let of_level = &forest.levels[level];
    let start = |marks: &mut [u64]| {
        for &id in of_level {
            marks[id as usize] = refined[id as usize];
        }
    };
    // Axis by axis: the cells that touch one.
    start(marks);
    for axis in 0..3u8 {
        grow(
            forest,
            of_level,
            &[Side(2 * axis), Side(2 * axis + 1)],
            marks,
        );
    }
    let touching: Vec<u64> = of_level.iter().map(|&id| marks[id as usize]).collect();
    start(marks);
    for _ in 0..steps {
        grow(forest, of_level, &Side::ALL, marks);
    }
    for (&id, touching) in of_level.iter().zip(touching) {
        marks[id as usize] |= touching;
    }
}

/// Adds the cells one step beyond some sides of the marked ones.
fn grow(forest: &Forest<3>, of_level: &[u32], sides: &[Side], marks: &mut [u64]) {
    let old: &[u64] = marks;
    let grown: Vec<u64> = of_level
        .par_iter()
        .map(|&id| {
            let own = old[id as usize];
            sides.iter().fold(own, |grown, &side| {
                let beside = forest.neighbor(id, side.opposite().direction());
                let entering = match beside {
                    NONE | OUTSIDE => 0,
                    block => old[block as usize],
                };
                grown | moved(own, entering, side)
            })
        })
        .collect();
    for (&id, grown) in of_level.iter().zip(grown) {
        marks[id as usize] = grown;
    }
}

/// The mask of a block moved by a cell toward a side; what enters comes from the block on the other side.
fn moved(own: u64, entering: u64, side: Side) -> u64 {
    /// Cells of the lowest layer along each axis.
    const LOWEST: [u64; 3] = [0x1111_1111_1111_1111, 0x000f_000f_000f_000f, 0xffff];
    let lowest = LOWEST[side.axis()];
    let by = [1, 4, 16][side.axis()];
    let highest = lowest << (3 * by);
    match side.is_upper() {
        true => (own & !highest) << by | (entering & highest) >> (3 * by),
        false => (own & !lowest) >> by | (entering & lowest) << (3 * by),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_move_and_nest_as_their_cells_do() {
        for cell in 0..64 {
            let (at, mask) = (dims::unravel::<3>(cell, 4), 1u64 << cell);
            for side in Side::ALL {
                let mut to = at;
                to[side.axis()] += side.step()[side.axis()];
                let within = dims::ravel(to.map(|c| c.rem_euclid(4)), 4);
                let leaves = to != to.map(|c| c.rem_euclid(4));
                let (own, entering) = (moved(mask, 0, side), moved(0, mask, side));
                let expected = [u64::from(!leaves) << within, u64::from(leaves) << within];
                assert_eq!([own, entering], expected, "cell {cell}, {side:?}");
            }
            for child in 0..8 {
                let place = dims::unravel::<3>(child, 2);
                let over = dims::ravel(dims::above(place, at), 4);
                assert_eq!(
                    collapse(mask, child),
                    1 << over,
                    "cell {cell} of child {child}"
                );
                assert!(spread(1 << over, place) & mask != 0, "and back");
                assert_eq!(spread(1 << over, place).count_ones(), 8, "its siblings too");
            }
        }
    }
}
