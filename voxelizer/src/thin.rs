//! Where the body is thinner than a cell: cut links with fluid at both ends.
//!
//! Such a link enters the body and leaves it again. Along an axis, and without a solid cell next to either end, the body
//! is thinner than the cells there: a plate, a trailing edge, a spike. A diagonal link may just clip a corner, and a
//! link beside solid cells a bump of the surface, so these do not count as places.

use crate::{Mesh, unpack_cell};
use cutlink_amr::{CellRef, NeighborCell, OUTSIDE, dims};
use cutlink_device::UnionFind;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Parts of a body thinner than a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Thin<const D: usize> {
    /// Links in all directions with fluid at both ends, each counted once.
    pub links: u64,
    /// Cells that such a link along an axis leaves, without a solid cell next to either end.
    pub cells: u64,
    /// Where those cells are, the place with most cells first.
    pub places: Vec<ThinPlace<D>>,
}

/// Blocks that touch one another and have such cells.
#[derive(Debug, Clone, PartialEq)]
pub struct ThinPlace<const D: usize> {
    /// Cells as in [`Thin::cells`].
    pub cells: u64,
    /// Box of their centres, in lengths.
    pub bounds: [[f64; D]; 2],
}

/// Finds parts thinner than a cell. Cost: one pass over the link table.
pub fn thin<const D: usize>(mesh: &Mesh<D>) -> Thin<D> {
    let steps: Vec<Step> = (0..dims::directions(D)).map(Step::new::<D>).collect();
    let rows: Vec<(u32, u64, u64)> = mesh
        .links
        .blocks
        .par_iter()
        .map(|&block| {
            let (links, cells) = of_block(mesh, &steps, block);
            (block, links, cells)
        })
        .filter(|row| row.1 > 0)
        .collect();
    Thin {
        links: rows.iter().map(|r| r.1).sum::<u64>() / 2,
        cells: rows.iter().map(|r| u64::from(r.2.count_ones())).sum(),
        places: places(mesh, &rows),
    }
}

/// A direction on the cells of a block and one layer around it: what it adds to their row, `y + 6 z`, and to x; both
/// count from the layer.
struct Step {
    row: usize,
    x: usize,
    along_axis: bool,
}

impl Step {
    fn new<const D: usize>(direction: usize) -> Self {
        let step: [i32; 3] = in_space(dims::step::<D>(direction));
        // Cell 0 is in row and column 1, which a step may go back to 0.
        let [x, y, z] = step.map(|s| (s + 1) as usize);
        Self {
            row: y + 6 * if D == 3 { z } else { 0 },
            x,
            along_axis: step.iter().filter(|&&s| s != 0).count() == 1,
        }
    }
}

/// A vector in 3D, in 2D without a z.
fn in_space<const D: usize>(v: [i32; D]) -> [i32; 3] {
    std::array::from_fn(|a| v.get(a).copied().unwrap_or(0))
}

/// Which cells of a block and of one layer around it are fluid cells of blocks of its level: rows of 6 bits. In 2D the
/// first 6 rows.
fn fluid_around<const D: usize>(mesh: &Mesh<D>, block: u32) -> [u8; 36] {
    let mut rows = [0; 36];
    for (direction, n) in mesh.forest.neighbors_of(block).enumerate() {
        if n >= OUTSIDE {
            continue;
        }
        let fluid = !mesh.classes.solid[n as usize];
        let step = in_space(dims::step::<D>(direction));
        // The neighbour's cells that are in the block or the layer, on y and z.
        let reach = |a: usize| match step[a] {
            _ if a >= D => 0..1,
            -1 => 3..4,
            1 => 0..1,
            _ => 0..4,
        };
        for z in reach(2) {
            for y in reach(1) {
                let cells = (fluid >> (4 * y + 16 * z)) as u8 & 0xf;
                let row = (y + 1 + 4 * step[1]) + 6 * if D == 3 { z + 1 + 4 * step[2] } else { 0 };
                rows[row as usize] |= match step[0] {
                    -1 => cells >> 3,
                    1 => (cells & 1) << 5,
                    _ => cells << 1,
                };
            }
        }
    }
    rows
}

/// Links of a block with fluid at both ends, and the mask of cells of thin places.
fn of_block<const D: usize>(mesh: &Mesh<D>, steps: &[Step], block: u32) -> (u64, u64) {
    let boundary = mesh.classes.boundary[block as usize];
    let row = mesh.links.row_of[block as usize] as usize;
    let first = mesh.links.cell_start[row] as usize;
    let fluid = fluid_around(mesh, block);
    let (mut links, mut cells, mut rest) = (0, 0, boundary);
    let mut entry = first;
    while rest != 0 {
        let cell = rest.trailing_zeros();
        rest &= rest - 1;
        let (directions, _) = unpack_cell(mesh.links.cells[entry]);
        entry += 1;
        let at = cell as usize;
        let (row, x) = ((at >> 2 & 3) + 6 * (at >> 4), at & 3);
        let mut left = directions;
        while left != 0 {
            let direction = left.trailing_zeros() as usize;
            left &= left - 1;
            let step = &steps[direction];
            if fluid[row + step.row] >> (x + step.x) & 1 == 0 {
                continue;
            }
            links += 1;
            let from = CellRef { block, cell };
            if step.along_axis
                && let NeighborCell::Same(n) | NeighborCell::Refined(n) =
                    mesh.forest.neighbor_cell(from, direction)
            {
                let is_thin = !beside_solid(mesh, from) && !beside_solid(mesh, n);
                cells |= u64::from(is_thin) << cell;
            }
        }
    }
    (links, cells)
}

/// Whether one of the 3^D - 1 cells around a cell is solid.
fn beside_solid<const D: usize>(mesh: &Mesh<D>, cell: CellRef) -> bool {
    (0..dims::directions(D)).any(
        |direction| match mesh.forest.neighbor_cell(cell, direction) {
            NeighborCell::Same(n) | NeighborCell::Refined(n) => {
                mesh.classes.solid[n.block as usize] >> n.cell & 1 == 1
            }
            _ => false,
        },
    )
}

/// Groups of touching blocks.
fn places<const D: usize>(mesh: &Mesh<D>, rows: &[(u32, u64, u64)]) -> Vec<ThinPlace<D>> {
    let mut blocks: Vec<(u32, u64)> = rows
        .iter()
        .filter(|row| row.2 != 0)
        .map(|&(block, _, mask)| (block, mask))
        .collect();
    blocks.sort_unstable();
    let number = |block| blocks.binary_search_by_key(&block, |b| b.0).ok();
    let mut sets = UnionFind::new(blocks.len());
    for (i, &(block, _)) in blocks.iter().enumerate() {
        // Neighbours that are none have no number.
        for n in mesh.forest.neighbors_of(block).filter_map(number) {
            sets.join(i as u32, n as u32);
        }
    }
    let mut places: BTreeMap<u32, ThinPlace<D>> = BTreeMap::new();
    for (i, &(block, mask)) in blocks.iter().enumerate() {
        let level = usize::from(mesh.forest.level[block as usize]);
        let place = places.entry(sets.root(i as u32)).or_insert(ThinPlace {
            cells: 0,
            bounds: [[f64::INFINITY; D], [f64::NEG_INFINITY; D]],
        });
        for cell in (0..dims::cells(D) as u32).filter(|c| mask >> c & 1 == 1) {
            let at = mesh.forest.cell_coord(CellRef { block, cell });
            let center = mesh.frame.center(level, at);
            place.cells += 1;
            for a in 0..D {
                place.bounds[0][a] = place.bounds[0][a].min(center[a]);
                place.bounds[1][a] = place.bounds[1][a].max(center[a]);
            }
        }
    }
    let mut places: Vec<ThinPlace<D>> = places.into_values().collect();
    places.sort_by_key(|p| std::cmp::Reverse(p.cells));
    places
}
