//! The flow as cells of blocks, which outputs are made of: an element is a leaf block, and has the state at the centres of
//! its 4^D cells.

use crate::solve::blocks::with_forest;
use cutlink_amr::{Forest, NONE, dims};
use cutlink_common::Error;
use cutlink_device::Host;
use cutlink_flow::FlowState;
use cutlink_fr::{
    EulerFlow, Primitive,
    kernels::{EulerKernels, Kernels},
};
use cutlink_voxelizer::{Mesh, VoxelError, kernels::AdaptKernels};

/// Elements whose states are evaluated at once.
const AT_ONCE: usize = 1 << 12;

/// The blocks of the elements.
pub(super) struct Scene<const D: usize> {
    pub(super) mesh: Mesh<D>,
    /// By block id, the element of a leaf; of other blocks [`NONE`].
    elements: Vec<u32>,
}

impl<const D: usize> Scene<D>
where
    Host: AdaptKernels<D> + cutlink_amr::LinearKernels<D>,
{
    /// The blocks of a flow's elements; `base` is the box.
    ///
    /// # Errors
    /// Where memory is short.
    pub(super) fn new<T: Kernels<D>>(
        base: &Mesh<D>,
        flow: &EulerFlow<D, T>,
    ) -> Result<Self, Error> {
        let leaves = flow.leaves();
        let forest = Forest::of(&Host, leaves).map_err(VoxelError::from)?;
        let mut elements = vec![NONE; forest.capacity()];
        for &id in forest
            .levels
            .iter()
            .flatten()
            .filter(|&&id| forest.is_leaf(id))
        {
            let level = u32::from(forest.level[id as usize]);
            let leaf = leaves.find(level, forest.coord[id as usize]);
            elements[id as usize] = leaf.expect("a leaf block should be an element");
        }
        let solid = solid(flow, &forest, &elements);
        let mesh = with_forest(base, forest, solid)?;
        Ok(Self { mesh, elements })
    }
}

/// Brings the states of cells up to date: of all blocks, or of some.
///
/// # Errors
/// Where the device fails.
pub(super) fn states<const D: usize, T: Kernels<D>, B: EulerKernels<D>>(
    flow: &EulerFlow<D, T, B>,
    scene: &Scene<D>,
    blocks: Option<&[u32]>,
    to: &mut FlowState<D>,
) -> Result<(), Error> {
    let count = scene.mesh.forest.capacity() * dims::cells(D);
    to.snapshot.density.resize(count, 1.0);
    let velocity = &mut to.snapshot.velocity;
    velocity.iter_mut().for_each(|of| of.resize(count, 0.0));
    to.pressure.get_or_insert_default().resize(count, 1.0);
    match blocks {
        Some(blocks) => {
            for &id in blocks {
                put(to, id, &block(flow, scene, id)?);
            }
        }
        None => {
            let values = values(flow, scene)?;
            for (id, cells) in values.chunks_exact(dims::cells(D)).enumerate() {
                put(to, id as u32, cells);
            }
        }
    }
    Ok(())
}

/// Puts the states of a block's cells.
fn put<const D: usize>(to: &mut FlowState<D>, id: u32, cells: &[Primitive<D>]) {
    let first = id as usize * dims::cells(D);
    let pressure = to.pressure.as_mut().expect("it was made before");
    for (i, state) in cells.iter().enumerate() {
        to.snapshot.density[first + i] = state.density as f32;
        pressure[first + i] = state.pressure as f32;
        for (of, v) in to.snapshot.velocity.iter_mut().zip(state.velocity) {
            of[first + i] = v as f32;
        }
    }
}

/// The states of a block's cells; those of a refined one are the means over its children's.
fn block<const D: usize, T: Kernels<D>, B: EulerKernels<D>>(
    flow: &EulerFlow<D, T, B>,
    scene: &Scene<D>,
    id: u32,
) -> Result<Vec<Primitive<D>>, Error> {
    let forest = &scene.mesh.forest;
    if forest.is_leaf(id) {
        let element = scene.elements[id as usize] as usize;
        return Ok(flow.cells_of(element..element + 1)?);
    }
    let first = forest.first_child[id as usize];
    let mut children = Vec::new();
    for child in 0..dims::children(D) as u32 {
        children.extend(block(flow, scene, first + child)?);
    }
    let cell = |cell: usize| {
        let (child, cells) = children_of_cell(forest, id, cell);
        mean(&children, child - first as usize, cells)
    };
    Ok((0..dims::cells(D)).map(cell).collect())
}

/// By block id, the cells in bodies; of a refined block those with nothing but solid finer cells.
fn solid<const D: usize, T: Kernels<D>>(
    flow: &EulerFlow<D, T>,
    forest: &Forest<D>,
    elements: &[u32],
) -> Vec<u64> {
    let mut solid = vec![0; forest.capacity()];
    for ids in forest.levels.iter().rev() {
        for &id in ids {
            solid[id as usize] = if forest.is_leaf(id) {
                flow.solid_cells(elements[id as usize])
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
fn values<const D: usize, T: Kernels<D>, B: EulerKernels<D>>(
    flow: &EulerFlow<D, T, B>,
    scene: &Scene<D>,
) -> Result<Vec<Primitive<D>>, Error> {
    let (cells, forest) = (dims::cells(D), &scene.mesh.forest);
    let rest = Primitive {
        density: 1.0,
        velocity: [0.0; D],
        pressure: 1.0,
    };
    let mut values = vec![rest; forest.capacity() * cells];
    let mut blocks = vec![NONE; flow.elements()];
    for (id, &element) in scene.elements.iter().enumerate() {
        if element != NONE {
            blocks[element as usize] = id as u32;
        }
    }
    for first in (0..blocks.len()).step_by(AT_ONCE) {
        let range = first..blocks.len().min(first + AT_ONCE);
        let states = flow.cells_of(range.clone())?;
        for (&id, own) in blocks[range].iter().zip(states.chunks_exact(cells)) {
            values[id as usize * cells..][..cells].copy_from_slice(own);
        }
    }
    let refined = forest.levels.iter().rev().flatten();
    for &id in refined.filter(|&&id| !forest.is_leaf(id)) {
        for cell in 0..cells {
            let (block, finer) = children_of_cell(forest, id, cell);
            values[id as usize * cells + cell] = mean(&values, block, finer);
        }
    }
    Ok(values)
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

/// The mean over some cells of a block.
fn mean<const D: usize>(values: &[Primitive<D>], block: usize, cells: Vec<usize>) -> Primitive<D> {
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

#[cfg(test)]
mod tests;
