//! The flow as cells of blocks, which outputs are made of: an element is a leaf block, and has the state at the centres of
//! its 4^D cells.

use crate::error::Error;
use cutlink_amr::{Forest, NONE, dims};
use cutlink_device::Host;
use cutlink_fr::{EulerFlow, Primitive, kernels::Kernels};
use cutlink_solver::Snapshot;
use cutlink_voxelizer::{Classes, LinkTable, Mesh, VoxelError, kernels::AdaptKernels};

/// Blocks, and the values of their cells.
pub(super) struct FluxScene<const D: usize> {
    pub(super) mesh: Mesh<D>,
    /// Density and velocity.
    pub(super) snapshot: Snapshot<D>,
    /// With the pressure in place of the density.
    pub(super) pressure: Snapshot<D>,
}

impl<const D: usize> FluxScene<D>
where
    Host: AdaptKernels<D> + cutlink_amr::LinearKernels<D>,
{
    /// The flow on the blocks of its elements; `base` is the box.
    ///
    /// # Errors
    /// Where memory is short.
    pub(super) fn new<T: Kernels<D>>(
        base: &Mesh<D>,
        flow: &EulerFlow<D, T>,
    ) -> Result<Self, Error> {
        let leaves = flow.leaves();
        let forest = Forest::of(&Host, leaves).map_err(VoxelError::from)?;
        let values = values(flow, &forest);
        let rim = Host.interfaces(&forest)?;
        let blocks = forest.capacity();
        let solid = solid(flow, &forest);
        let mesh = Mesh {
            frame: base.frame,
            classes: Classes {
                solid,
                boundary: vec![0; blocks],
                ghost: rim.ghost,
                interface: rim.interface,
            },
            links: LinkTable {
                blocks: base.links.blocks.clone(),
                row_of: vec![NONE; blocks],
                cell_start: base.links.cell_start.clone(),
                cells: base.links.cells.clone(),
                q: base.links.q.clone(),
                patch: base.links.patch.clone(),
            },
            patches: base.patches.clone(),
            fill: base.fill,
            graded: base.graded,
            forest,
        };
        let column = |of: &dyn Fn(&Primitive<D>) -> f64| -> Vec<f32> {
            values.iter().map(|state| of(state) as f32).collect()
        };
        let snapshot = Snapshot {
            step: flow.steps(),
            density: column(&|state| state.density),
            velocity: std::array::from_fn(|a| column(&|state| state.velocity[a])),
        };
        let pressure = Snapshot {
            density: column(&|state| state.pressure),
            ..snapshot.clone()
        };
        Ok(Self {
            mesh,
            snapshot,
            pressure,
        })
    }
}

/// By block id, the cells in bodies; of a refined block those with nothing but solid finer cells.
fn solid<const D: usize, T: Kernels<D>>(flow: &EulerFlow<D, T>, forest: &Forest<D>) -> Vec<u64> {
    let mut solid = vec![0; forest.capacity()];
    for ids in forest.levels.iter().rev() {
        for &id in ids {
            solid[id as usize] = if forest.is_leaf(id) {
                let level = u32::from(forest.level[id as usize]);
                let leaf = flow.leaves().find(level, forest.coord[id as usize]);
                let leaf = leaf.expect("a leaf block should be an element");
                flow.solid_cells(leaf)
            } else {
                let is_solid = |cell: &usize| {
                    let (block, cells) = children_of_cell(forest, id, *cell);
                    cells.into_iter().all(|cell| solid[block] >> cell & 1 == 1)
                };
                let cells = (0..dims::cells(D)).filter(is_solid);
                cells.map(|cell| 1 << cell).sum()
            };
        }
    }
    solid
}

/// By block id and cell; refined blocks have the means of their children's cells.
fn values<const D: usize, T: Kernels<D>>(
    flow: &EulerFlow<D, T>,
    forest: &Forest<D>,
) -> Vec<Primitive<D>> {
    let cells = dims::cells(D);
    let rest = Primitive {
        density: 1.0,
        velocity: [0.0; D],
        pressure: 1.0,
    };
    let mut values = vec![rest; forest.capacity() * cells];
    let of_leaves = flow.cells();
    for ids in forest.levels.iter().rev() {
        for &id in ids {
            let at = id as usize * cells;
            if forest.is_leaf(id) {
                let (level, coord) = (
                    u32::from(forest.level[id as usize]),
                    forest.coord[id as usize],
                );
                let leaf = flow.leaves().find(level, coord);
                let leaf = leaf.expect("a leaf block should be an element") as usize;
                values[at..][..cells].copy_from_slice(&of_leaves[leaf * cells..][..cells]);
                continue;
            }
            for cell in 0..cells {
                values[at + cell] = mean_of_children(forest, id, cell, &values);
            }
        }
    }
    values
}

/// The child of a refined block that holds one of its cells, and the finer cells in it.
fn children_of_cell<const D: usize>(
    forest: &Forest<D>,
    id: u32,
    cell: usize,
) -> (usize, Vec<usize>) {
    let place: [i32; D] = dims::unravel(cell, dims::EDGE as usize);
    let child = (0..D)
        .map(|a| ((place[a] / 2) as usize) << a)
        .sum::<usize>();
    let block = forest.first_child[id as usize] as usize + child;
    let finer = |part: usize| {
        let finer = std::array::from_fn(|a| place[a] % 2 * 2 + (part >> a & 1) as i32);
        dims::ravel::<D>(finer, dims::EDGE as usize)
    };
    (block, (0..dims::children(D)).map(finer).collect())
}

/// The mean of the 2^D finer cells in a cell of a refined block.
fn mean_of_children<const D: usize>(
    forest: &Forest<D>,
    id: u32,
    cell: usize,
    values: &[Primitive<D>],
) -> Primitive<D> {
    let (block, cells) = children_of_cell(forest, id, cell);
    let mut sum = Primitive {
        density: 0.0,
        velocity: [0.0; D],
        pressure: 0.0,
    };
    let share = 1.0 / dims::children(D) as f64;
    for cell in cells {
        let own = &values[block * dims::cells(D) + cell];
        sum.density += share * own.density;
        sum.pressure += share * own.pressure;
        for (sum, own) in sum.velocity.iter_mut().zip(own.velocity) {
            *sum += share * own;
        }
    }
    sum
}
