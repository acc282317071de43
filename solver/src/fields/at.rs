//! Values between cell centres.

use super::{gradient, is_solid, toward, velocity_of};
use crate::{Snapshot, StrainRates, kernels::pairs};
use cutlink_amr::{CellRef, NONE, NeighborCell, OUTSIDE, dims};
use cutlink_voxelizer::Mesh;

/// The cells whose values a point between them has.
#[derive(Debug, Clone, PartialEq)]
pub enum Around<const D: usize> {
    /// Multilinear weights, which sum up to one, of the 2^D cells around the point.
    Cells(Vec<(CellRef, f64)>),
    /// The leaf cell that holds the point, and how far from its centre the point lies, in root
    /// cells: not all cells around it are of one level, in the box, fluid, and on the same side of
    /// the surface.
    Cell(CellRef, [f64; D]),
}

/// The cells around a point, in root cells from the lower corner of the box; `None` outside
/// the box and in solid cells.
///
/// Of the leaf that holds the point and its level; refined neighbours count with their means.
pub fn around<const D: usize>(mesh: &Mesh<D>, point: [f64; D]) -> Option<Around<D>> {
    let leaf = mesh.forest.leaf_at(point)?;
    if is_solid(mesh, leaf) {
        return None;
    }
    let per_root = f64::from(1u32 << mesh.forest.level[leaf.block as usize]);
    let coord = mesh.forest.cell_coord(leaf);
    // From the centre, in spacings of the level.
    let off: [f64; D] = std::array::from_fn(|a| point[a] * per_root - f64::from(coord[a]) - 0.5);
    let mut cells = Vec::with_capacity(dims::children(D));
    for corner in 0..dims::children(D) {
        let moved = |a: usize| corner >> a & 1 == 1;
        let step = std::array::from_fn(|a| match moved(a) {
            true if off[a] < 0.0 => -1,
            true => 1,
            false => 0,
        });
        let weight: f64 = (0..D)
            .map(|a| {
                if moved(a) {
                    off[a].abs()
                } else {
                    1.0 - off[a].abs()
                }
            })
            .product();
        let direction = dims::direction::<D>(step);
        let found = match mesh.forest.neighbor_cell(leaf, direction) {
            _ if corner == 0 => Some(leaf),
            NeighborCell::Same(to) | NeighborCell::Refined(to) => Some(to),
            NeighborCell::Coarser(_) | NeighborCell::Outside => None,
        };
        let cut = corner != 0 && mesh.link(leaf, direction).is_some();
        match found.filter(|&to| !cut && !is_solid(mesh, to)) {
            Some(to) => cells.push((to, weight)),
            None => return Some(Around::Cell(leaf, off.map(|x| x / per_root))),
        }
    }
    Some(Around::Cells(cells))
}

/// Ids of the blocks whose values [`velocity_at`] takes at some points, sorted; children of refined ones included. Points that have no
/// value add none.
pub fn blocks_around<const D: usize>(mesh: &Mesh<D>, points: &[[f64; D]]) -> Vec<u32> {
    let holding = points
        .iter()
        .filter_map(|&point| mesh.forest.leaf_at(point));
    let all = 0..dims::directions(D);
    Reach::new(mesh, all.collect()).of(holding.map(|leaf| leaf.block))
}

/// Ids of the blocks whose values [`gradients`](super::gradients()) of some blocks take, sorted; children of refined ones included.
pub(crate) fn blocks_of_gradients<const D: usize>(mesh: &Mesh<D>, blocks: &[u32]) -> Vec<u32> {
    let faces = (0..D).flat_map(|axis| [-1, 1].map(|side| toward::<D>(axis, side)));
    Reach::new(mesh, faces.collect()).of(blocks.iter().copied())
}

/// Blocks that gradients take values from.
struct Reach<'a, const D: usize> {
    mesh: &'a Mesh<D>,
    /// To the neighbours that count.
    directions: Vec<usize>,
    blocks: Vec<u32>,
    /// By id, whether a block is among them, and whether its neighbours are.
    is_in: Vec<bool>,
    is_surrounded: Vec<bool>,
}

impl<'a, const D: usize> Reach<'a, D> {
    fn new(mesh: &'a Mesh<D>, directions: Vec<usize>) -> Self {
        let ids = mesh.forest.capacity();
        Self {
            mesh,
            directions,
            blocks: Vec::new(),
            is_in: vec![false; ids],
            is_surrounded: vec![false; ids],
        }
    }

    /// All that some blocks reach, sorted.
    fn of(mut self, blocks: impl Iterator<Item = u32>) -> Vec<u32> {
        blocks.for_each(|block| self.surround(block));
        self.blocks.sort_unstable();
        self.blocks
    }

    /// Adds a block and its neighbours; of coarser ones, whose values are carried by their gradients, those beside them too.
    fn surround(&mut self, block: u32) {
        if std::mem::replace(&mut self.is_surrounded[block as usize], true) {
            return;
        }
        self.add(block);
        let forest = &self.mesh.forest;
        for n in 0..self.directions.len() {
            let direction = self.directions[n];
            match forest.neighbor(block, direction) {
                OUTSIDE => {}
                NONE => self.surround(forest.coarser_neighbor(block, direction)),
                other => self.add(other),
            }
        }
    }

    /// Adds a block and its descendants.
    fn add(&mut self, block: u32) {
        if std::mem::replace(&mut self.is_in[block as usize], true) {
            return;
        }
        self.blocks.push(block);
        let first = self.mesh.forest.first_child[block as usize];
        if first != NONE {
            (first..first + dims::children(D) as u32).for_each(|child| self.add(child));
        }
    }
}

/// Density and velocity at a point, in root cells from the lower corner of the box; `None`
/// outside the box and in solid cells.
///
/// Multilinear between the centres of one level; elsewhere (see [`Around`]) the density of the cell
/// and the velocity carried on from its centre by its gradient. Linear velocities are exact
/// either way.
pub fn velocity_at<const D: usize>(
    mesh: &Mesh<D>,
    snapshot: &Snapshot<D>,
    point: [f64; D],
) -> Option<(f64, [f64; D])> {
    let density = |at: CellRef| {
        f64::from(snapshot.density[at.block as usize * dims::cells(D) + at.cell as usize])
    };
    match around(mesh, point)? {
        Around::Cells(cells) => {
            let mut sum = (0.0, [0.0; D]);
            for (at, weight) in cells {
                sum.0 += weight * density(at);
                let here = velocity_of(&snapshot.velocity, at);
                for a in 0..D {
                    sum.1[a] += weight * here[a];
                }
            }
            Some(sum)
        }
        Around::Cell(at, off) => {
            let slope = gradient(mesh, &snapshot.velocity, at);
            let mut here = velocity_of(&snapshot.velocity, at);
            for i in 0..D {
                here[i] += (0..D).map(|j| slope[i][j] * off[j]).sum::<f64>();
            }
            Some((density(at), here))
        }
    }
}

/// Any value at a point, of values by block id and cell: as the density of [`velocity_at`].
pub fn scalar_at<const D: usize>(mesh: &Mesh<D>, values: &[f32], point: [f64; D]) -> Option<f64> {
    let value =
        |at: CellRef| f64::from(values[at.block as usize * dims::cells(D) + at.cell as usize]);
    match around(mesh, point)? {
        Around::Cells(cells) => {
            let mut sum = 0.0;
            for (at, weight) in cells {
                sum += weight * value(at);
            }
            Some(sum)
        }
        Around::Cell(at, _) => Some(value(at)),
    }
}

/// The rate of strain at a point, in 1 / Δt of the root level: multilinear as [`velocity_at`], elsewhere that of the cell; `None`
/// outside the box and in solid cells.
pub fn strain_at<const D: usize>(
    mesh: &Mesh<D>,
    rates: &StrainRates<D>,
    point: [f64; D],
) -> Option<[[f64; D]; D]> {
    let cells = match around(mesh, point)? {
        Around::Cells(cells) => cells,
        Around::Cell(at, _) => vec![(at, 1.0)],
    };
    let mut strain = [[0.0; D]; D];
    for ((_, a, b), row) in pairs::<D>().zip(&rates.pairs) {
        let value =
            |at: CellRef| f64::from(row[at.block as usize * dims::cells(D) + at.cell as usize]);
        let sum = cells.iter().map(|&(at, weight)| weight * value(at)).sum();
        (strain[a][b], strain[b][a]) = (sum, sum);
    }
    Some(strain)
}
