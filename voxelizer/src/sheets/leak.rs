//! Where fluid leaks out: the narrowest place of the widest way from a seed to a face of the box.

use super::{
    beside::{center, for_each_link, is_solid, length},
    clearance::Clearance,
    nodes::Nodes,
};
use crate::{Mesh, VoxelError};
use cutlink_amr::{CellRef, NONE, OUTSIDE, dims};
use cutlink_device::{Backend, Host};
use std::{collections::BinaryHeap, ops::Range};

/// Distances to the surface are known up to here at first, in finest cells.
const FIRST_REACH: f32 = 8.0;
/// Parts of a finest cell that widths are counted in.
const PARTS: f32 = 256.0;

/// A place on the way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Narrowest<const D: usize> {
    /// In lengths.
    pub(super) place: [f64; D],
    /// Diameter of the largest ball there that touches the surface, about; in lengths.
    pub(super) width: f64,
    /// The face of the box that the way leads to: its axis, and whether it is the upper one.
    pub(super) face: (usize, bool),
}

/// Whether a kept cell lies at a face of the box.
pub(super) fn reaches_box<const D: usize>(
    mesh: &Mesh<D>,
    mut keeps: impl FnMut(CellRef) -> bool,
) -> bool {
    let cells = dims::cells(D) as u32;
    let leaves = mesh.forest.leaves();
    let mut outer = leaves.filter(|&block| face(mesh, block, 0..cells).is_some());
    outer.any(|block| {
        let at_face = |&cell: &u32| face(mesh, block, cell..cell + 1).is_some();
        (0..cells).filter(at_face).any(|cell| {
            let at = CellRef { block, cell };
            !is_solid(mesh, at) && keeps(at)
        })
    })
}

/// The first face of the box that one of a block's cells touches.
fn face<const D: usize>(mesh: &Mesh<D>, block: u32, cells: Range<u32>) -> Option<(usize, bool)> {
    let mut faces = (0..D).flat_map(|axis| [(axis, false), (axis, true)]);
    faces.find(|&(axis, up)| {
        faces_out(mesh, block, axis, up) && cells.clone().any(|cell| is_outer::<D>(cell, axis, up))
    })
}

fn faces_out<const D: usize>(mesh: &Mesh<D>, block: u32, axis: usize, up: bool) -> bool {
    let mut step = [0; D];
    step[axis] = if up { 1 } else { -1 };
    mesh.forest.neighbor(block, dims::direction(step)) == OUTSIDE
}

fn is_outer<const D: usize>(cell: u32, axis: usize, up: bool) -> bool {
    dims::unravel::<D>(cell as usize, 4)[axis] == if up { 3 } else { 0 }
}

/// The narrowest place. Cost: a search through all cells, in sequence, for each doubling of the width.
///
/// # Errors
/// Too little memory.
pub(super) fn narrowest<const D: usize>(
    mesh: &Mesh<D>,
    seed: CellRef,
) -> Result<Narrowest<D>, VoxelError> {
    let finest = mesh.forest.finest();
    let cells = mesh
        .frame
        .root_cells
        .map(|n| (u64::from(n) << finest) as f32);
    let mut reach = FIRST_REACH;
    loop {
        let clearance = Clearance::new(mesh, reach)?;
        let nodes = Nodes::new(mesh, &clearance)?;
        let last = reach > length(cells);
        if let Some(found) = search(mesh, &nodes, seed, reach)? {
            return Ok(found);
        }
        if last {
            // No link on the way: the seed lies at a face.
            let cell = seed.cell..seed.cell + 1;
            return Ok(Narrowest {
                face: face(mesh, seed.block, cell).unwrap_or_default(),
                place: center(mesh, seed),
                width: 2.0
                    * mesh.frame.dx_at(finest)
                    * clearance.distance(seed).map_or(0.0, f64::from),
            });
        }
        reach *= 2.0;
    }
}

/// The narrowest link of the widest way, of the narrowest ones the last; `None` where the way is wider than twice the
/// reach.
fn search<const D: usize>(
    mesh: &Mesh<D>,
    nodes: &Nodes<'_, D>,
    seed: CellRef,
    reach: f32,
) -> Result<Option<Narrowest<D>>, VoxelError> {
    let most = (PARTS * reach) as i32;
    // Least clearance on the way to a node, and the node before it.
    let mut widest = Host.alloc("ways out", nodes.len(), i32::MIN)?;
    let mut before = Host.alloc("ways out", nodes.len(), NONE)?;
    let width = |a: CellRef, b: CellRef, way: [f32; D]| {
        let ends = [a, b].map(|at| nodes.clearance.distance(at));
        match ends {
            [Some(a), Some(b)] => most.min((PARTS * 0.5 * (a + b - length(way))).floor() as i32),
            _ => most,
        }
    };
    // Of equally wide ways, that of fewer links goes first.
    let from = uphill(mesh, nodes.clearance, seed);
    let mut heap = BinaryHeap::from([(most, 0i64, nodes.of(from), NONE)]);
    while let Some((wide, steps, node, from)) = heap.pop() {
        if widest[node as usize] != i32::MIN {
            continue;
        }
        (widest[node as usize], before[node as usize]) = (wide, from);
        let (block, cells) = match nodes.leaf(node) {
            Some(block) => (block, 0..dims::cells(D) as u32),
            None => {
                let at = nodes.cell(node);
                (at.block, at.cell..at.cell + 1)
            }
        };
        if let Some(face) = face(mesh, block, cells.clone()) {
            let found = backwards(mesh, nodes, &before, node, width, most);
            return Ok(found.map(|(place, width)| Narrowest { place, width, face }));
        }
        for cell in cells {
            let at = CellRef { block, cell };
            for_each_link(mesh, at, |n, way| {
                let there = nodes.of(n);
                if widest[there as usize] == i32::MIN {
                    let wide = wide.min(width(at, n, way));
                    heap.push((wide, steps - 1, there, node));
                }
            });
        }
    }
    Ok(None)
}

/// From a cell to the widest place next to it: how near the seed lies to a wall does not count.
fn uphill<const D: usize>(mesh: &Mesh<D>, clearance: &Clearance<D>, mut at: CellRef) -> CellRef {
    while let Some(here) = clearance.distance(at) {
        let mut best = (here, at);
        for_each_link(mesh, at, |n, _| {
            let there = clearance.distance(n).unwrap_or(f32::INFINITY);
            if there > best.0 {
                best = (there, n);
            }
        });
        if best.1 == at {
            break;
        }
        at = best.1;
    }
    at
}

/// The narrowest link on the way back from a node.
fn backwards<const D: usize>(
    mesh: &Mesh<D>,
    nodes: &Nodes<'_, D>,
    before: &[u32],
    mut node: u32,
    width: impl Fn(CellRef, CellRef, [f32; D]) -> i32,
    most: i32,
) -> Option<([f64; D], f64)> {
    let mut found: Option<(i32, [CellRef; 2], [f32; D])> = None;
    while before[node as usize] != NONE {
        let from = before[node as usize];
        if nodes.leaf(node).is_none() && nodes.leaf(from).is_none() {
            let (a, b) = (nodes.cell(from), nodes.cell(node));
            for_each_link(mesh, a, |n, way| {
                let wide = width(a, b, way);
                if n == b && wide < found.map_or(most, |f| f.0) {
                    found = Some((wide, [a, b], way));
                }
            });
        }
        node = from;
    }
    let (_, ends, way) = found?;
    let dx = mesh.frame.dx_at(mesh.forest.finest());
    let from = center(mesh, ends[0]);
    // The nearest points of both ends, seen from the middle.
    let to_surface = ends.into_iter().zip([0.5, -0.5]).filter_map(|(at, part)| {
        let v = nodes.clearance.vector(at)?;
        let seen: [f32; D] = std::array::from_fn(|k| v[k] - part * way[k]);
        Some(length(seen))
    });
    let nearest = to_surface.fold(f32::INFINITY, f32::min);
    let place = std::array::from_fn(|k| from[k] + dx * f64::from(0.5 * way[k]));
    Some((place, 2.0 * dx * f64::from(nearest)))
}
