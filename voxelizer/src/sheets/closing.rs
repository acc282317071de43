//! Fluid that a seed reaches past holes smaller than a size.
//!
//! A cell is in a *core* if a ball of the size fits around it and moves freely to the cells beside it: if it is farther
//! than half the size and half a link from the surface. Cells of cores are joined along axes: a hole that the ball
//! cannot pass divides cores. All other cells belong to the core that is nearest along uncut links, of equally near
//! ones to that of the seed. So a hole between two wide regions is closed in its middle, and corners stay fluid. A core
//! does not reach farther than two sizes from itself, so that it does not fill what lies behind a hole and has no core
//! of its own.
//!
//! Distances to the surface are up to 0.7 cells too large (see `clearance`), on both sides of a hole: the size counts
//! 1.5 cells more. A hole up to the size is closed; one that is five cells wider stays open.
//!
//! Cost: that of the distances, one pass in sequence that joins the cells of cores, and the links of all other cells
//! once (see `grow`). Memory: four bytes for each cell near the surface.

use super::{
    beside::{self, cut, is_solid},
    clearance::Clearance,
    grow::{FREE, OTHER, SEED, SOLID, grow, is_of_seed},
    nodes::Nodes,
};
use crate::{Mesh, SeedError, VoxelError};
use cutlink_amr::{CellRef, NONE, NeighborCell, OUTSIDE, dims};
use cutlink_device::{Backend, Host, UnionFind};
use rayon::prelude::*;

/// What distances may be too large by, on two sides of a hole, in cells at the surface.
const MARGIN: f32 = 1.5;
/// Sizes of cells that a core is farther from the surface, halved: 1 would do for cells of one level. A link between
/// levels is up to 1.66 cells of the finer one long, which is less than 1.2 (1 + 2) / 2.
const LINK: f32 = 1.2;
/// The fluid to keep.
pub(super) struct Closing<'a, const D: usize> {
    nodes: Nodes<'a, D>,
    /// By node, see [`mod@super::grow`].
    labels: Vec<u32>,
}

/// A size, in finest cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    size: f32,
    /// Cells at the surface.
    wall: f32,
}

impl Size {
    pub(super) fn new<const D: usize>(mesh: &Mesh<D>, length: f64) -> Self {
        let blocks = mesh.links.blocks.iter();
        Self {
            size: (length / mesh.frame.dx_at(mesh.forest.finest())) as f32,
            wall: blocks.map(|&b| beside::size(mesh, b)).fold(1.0, f32::max),
        }
    }

    /// How far distances are needed, but for a link.
    pub(super) fn reach(self) -> f32 {
        0.5 * (self.size + MARGIN * self.wall)
    }

    /// What a cell in a core is farther than from the surface, by the size of the cell.
    fn core(self, cell: f32) -> f32 {
        self.reach() + 0.5 * LINK * cell
    }

    /// How far a core reaches.
    fn depth(self) -> f32 {
        2.0 * self.size + 4.0 * self.wall
    }
}

impl<'a, const D: usize> Closing<'a, D> {
    /// # Errors
    /// A seed that is in no core; too little memory.
    pub(super) fn new(
        mesh: &Mesh<D>,
        clearance: &'a Clearance<D>,
        seed: CellRef,
        size: Size,
    ) -> Result<Self, SeedError> {
        let nodes = Nodes::new(mesh, clearance)?;
        let cores = cores(mesh, clearance, size)?;
        if !is_core(&nodes, &cores, seed) {
            let dx = mesh.frame.dx_at(mesh.forest.finest());
            let scaled = |x: f32| dx * f64::from(x);
            return Err(SeedError::Narrow {
                center: beside::center(mesh, seed).to_vec(),
                distance: scaled(clearance.distance(seed).unwrap_or(0.0)),
                needed: scaled(size.core(beside::size(mesh, seed.block))),
            });
        }
        let mut sets = UnionFind::try_new("fluid parts", nodes.len()).map_err(VoxelError::from)?;
        for block in mesh.forest.leaves() {
            join_block(mesh, &nodes, &cores, &mut sets, block);
        }
        let of_seed = sets.root(nodes.of(seed));
        let mut labels = Host
            .alloc("fluid parts", nodes.len(), FREE)
            .map_err(VoxelError::from)?;
        for node in 0..nodes.len() as u32 {
            let (is_core, is_solid) = if nodes.leaf(node).is_some() {
                (true, false)
            } else {
                let at = nodes.cell(node);
                (is_core(&nodes, &cores, at), is_solid(mesh, at))
            };
            if is_core {
                let own = sets.root(node) == of_seed;
                labels[node as usize] = if own { SEED } else { OTHER };
            } else if is_solid {
                labels[node as usize] = SOLID;
            }
        }
        drop(sets);
        grow(mesh, &nodes, &cores, &mut labels, size.depth());
        Ok(Self { nodes, labels })
    }

    pub(super) fn keeps(&self, at: CellRef) -> bool {
        is_of_seed(self.labels[self.nodes.of(at) as usize])
    }
}

/// Joins the core cells of a block with those beside them, through faces.
fn join_block<const D: usize>(
    mesh: &Mesh<D>,
    nodes: &Nodes<'_, D>,
    cores: &[u64],
    sets: &mut UnionFind,
    block: u32,
) {
    let near = nodes.clearance.near(block);
    for (axis, up) in (0..D).flat_map(|axis| [(axis, false), (axis, true)]) {
        let mut step = [0; D];
        step[axis] = if up { 1 } else { -1 };
        let direction = dims::direction(step);
        let n = mesh.forest.neighbor(block, direction);
        let Some(slot) = near else {
            join_far(mesh, nodes, cores, sets, block, direction);
            continue;
        };
        let stride = 1 << (2 * axis);
        for cell in 0..dims::cells(D) as u32 {
            if cores[slot] >> cell & 1 == 0 {
                continue;
            }
            let at = CellRef { block, cell };
            let is_last = (cell / stride) & 3 == if up { 3 } else { 0 };
            // Pairs of one level are joined from below.
            if is_last && (up || n == NONE || nodes_far(nodes, n)) {
                join_cell(mesh, nodes, cores, sets, at, direction);
            } else if !is_last && up {
                let next = cell + stride;
                if cores[slot] >> next & 1 == 1 && cut(mesh, at) >> direction & 1 == 0 {
                    let next = CellRef { block, cell: next };
                    sets.join(nodes.of(at), nodes.of(next));
                }
            }
        }
    }
}

/// Whether there is a block that is far from the surface.
fn nodes_far<const D: usize>(nodes: &Nodes<'_, D>, n: u32) -> bool {
    n != NONE && n != OUTSIDE && nodes.clearance.near(n).is_none()
}

/// The same for a block far from the surface: with the leaf of its level beside it as a whole, or with coarser cells.
fn join_far<const D: usize>(
    mesh: &Mesh<D>,
    nodes: &Nodes<'_, D>,
    cores: &[u64],
    sets: &mut UnionFind,
    block: u32,
    direction: usize,
) {
    match mesh.forest.neighbor(block, direction) {
        OUTSIDE => {}
        NONE => {
            for cell in 0..dims::cells(D) as u32 {
                let at = CellRef { block, cell };
                join_cell(mesh, nodes, cores, sets, at, direction);
            }
        }
        n if mesh.forest.is_leaf(n) && nodes_far(nodes, n) => {
            let [a, b] = [block, n].map(|block| nodes.of(CellRef { block, cell: 0 }));
            sets.join(a, b);
        }
        // Cells of near blocks and finer ones look here themselves.
        _ => {}
    }
}

/// Joins a core cell with the one beside it, which is not finer.
fn join_cell<const D: usize>(
    mesh: &Mesh<D>,
    nodes: &Nodes<'_, D>,
    cores: &[u64],
    sets: &mut UnionFind,
    at: CellRef,
    direction: usize,
) {
    if cut(mesh, at) >> direction & 1 == 1 {
        return;
    }
    // Coarser cells do not look for finer ones, which look for them.
    if let NeighborCell::Same(n) | NeighborCell::Coarser(n) =
        mesh.forest.neighbor_cell(at, direction)
        && is_core(nodes, cores, n)
    {
        sets.join(nodes.of(at), nodes.of(n));
    }
}

/// Whether a cell is in a core: all cells far from the surface are.
fn is_core<const D: usize>(nodes: &Nodes<'_, D>, cores: &[u64], at: CellRef) -> bool {
    let near = nodes.clearance.near(at.block);
    near.is_none_or(|slot| cores[slot] >> at.cell & 1 == 1)
}

/// The core cells of each near block, a bit each.
fn cores<const D: usize>(
    mesh: &Mesh<D>,
    clearance: &Clearance<D>,
    size: Size,
) -> Result<Vec<u64>, VoxelError> {
    let blocks = clearance.blocks();
    let mut cores = Host.alloc("cores", blocks.len(), 0u64)?;
    cores.par_iter_mut().zip(blocks).for_each(|(mask, &block)| {
        let least = size.core(beside::size(mesh, block));
        let fluid = !mesh.classes.solid[block as usize];
        for cell in 0..dims::cells(D) as u32 {
            // Without a distance it is farther.
            let distance = clearance.distance(CellRef { block, cell });
            let core = fluid >> cell & 1 == 1 && distance.is_none_or(|d| d > least);
            *mask |= u64::from(core) << cell;
        }
    });
    Ok(cores)
}
