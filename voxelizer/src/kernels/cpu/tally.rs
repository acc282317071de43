//! Sums over the leaves and the cut links of a mesh.

use crate::{
    Mesh,
    kernels::{Tally, ThinBlock},
    unpack_cell,
};
use cutlink_amr::{CellRef, NeighborCell, OUTSIDE, checksum, dims};
use rayon::prelude::*;

pub(super) fn tally<const D: usize>(mesh: &Mesh<D>) -> Tally<D> {
    let by_level = || {
        let levels = 0..mesh.forest.levels.len();
        levels.map(|level| leaves(mesh, level)).collect()
    };
    let (checksum, ((thin_links, thin), leaves)) = rayon::join(
        || checksum_of_leaves(mesh),
        || rayon::join(|| thin(mesh), by_level),
    );
    Tally {
        leaves,
        checksum,
        thin_links,
        thin,
    }
}

/// Leaf blocks of a level, and their boundary and solid cells.
pub(crate) fn leaves<const D: usize>(mesh: &Mesh<D>, level: usize) -> [u64; 3] {
    mesh.forest.levels[level]
        .par_iter()
        .filter(|&&id| mesh.forest.is_leaf(id))
        .map(|&id| {
            let ones = |mask: &[u64]| u64::from(mask[id as usize].count_ones());
            [1, ones(&mesh.classes.boundary), ones(&mesh.classes.solid)]
        })
        .reduce(|| [0; 3], |a, b| std::array::from_fn(|i| a[i] + b[i]))
}

/// The part of [`Mesh::checksum`] that sums over leaves.
pub(crate) fn checksum_of_leaves<const D: usize>(mesh: &Mesh<D>) -> u64 {
    let of_leaf = |&id: &u32| {
        let at = id as usize;
        let key = checksum::block_key(mesh.forest.level[at], mesh.forest.coord[at]);
        let masks = [
            key,
            mesh.classes.solid[at],
            mesh.classes.boundary[at],
            mesh.classes.ghost[at],
            mesh.classes.interface[at],
        ];
        checksum::mix_all(masks).wrapping_add(links_checksum(mesh, id, key))
    };
    mesh.forest
        .levels
        .par_iter()
        .flatten()
        .filter(|&&id| mesh.forest.is_leaf(id))
        .map(of_leaf)
        .reduce(|| 0, u64::wrapping_add)
}

/// The sum over a block's links of `mix_all([key, cell and directions, position, q and patch])`. What links have in
/// common is mixed once.
fn links_checksum<const D: usize>(mesh: &Mesh<D>, id: u32, key: u64) -> u64 {
    const POSITIONS: [u64; 27] = {
        let mut mixed = [0; 27];
        let mut k = 0;
        while k < 27 {
            mixed[k] = checksum::mix(k as u64);
            k += 1;
        }
        mixed
    };
    let of_block = checksum::mix_all([key]);
    let boundary = mesh.classes.boundary[id as usize];
    let mut rest = boundary;
    let mut sum = 0u64;
    while rest != 0 {
        let cell = rest.trailing_zeros();
        rest &= rest - 1;
        let Some((directions, first)) = mesh.links.cell(id, boundary, cell) else {
            continue;
        };
        let of_cell = u64::from(cell) << 32 | u64::from(directions);
        let of_cell = checksum::mix_with(of_block, checksum::mix(of_cell));
        let positions = POSITIONS.iter().take(directions.count_ones() as usize);
        for (k, &position) in positions.enumerate() {
            let at = first as usize + k;
            let q = mesh.links.q.get(at).map_or(0, |q| q.to_bits());
            let patch = mesh.links.patch.get(at).copied().unwrap_or(0);
            let what = u64::from(q) | u64::from(patch) << 32;
            let of_link = checksum::mix_with(of_cell, position);
            sum = sum.wrapping_add(checksum::mix_with(of_link, checksum::mix(what)));
        }
    }
    sum
}

/// Links with fluid at both ends, counted from both, and the blocks with cells of thin places.
pub(crate) fn thin<const D: usize>(mesh: &Mesh<D>) -> (u64, Vec<ThinBlock<D>>) {
    let steps: Vec<Step> = (0..dims::directions(D)).map(Step::new::<D>).collect();
    let rows: Vec<(u64, ThinBlock<D>)> = mesh
        .links
        .blocks
        .par_iter()
        .map(|&block| {
            let (links, cells) = of_block(mesh, &steps, block);
            let (level, coord) = (
                mesh.forest.level[block as usize],
                mesh.forest.coord[block as usize],
            );
            let thin = ThinBlock {
                block,
                level,
                coord,
                cells,
            };
            (links, thin)
        })
        .filter(|row| row.0 > 0)
        .collect();
    let links = rows.iter().map(|row| row.0).sum();
    let blocks = rows.into_iter().map(|row| row.1);
    (links, blocks.filter(|block| block.cells != 0).collect())
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
