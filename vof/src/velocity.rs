//! Values of cells beside one another, across levels and at faces of the box.

use crate::mesh::FlowMesh;
use crate::params::{BoxFace, FlowParams};
use cutlink_amr::dims;
use cutlink_elliptic::{Beside, faces};

/// The cell beyond a side of a cell: of the same level, in a leaf or a refined block, or the coarser leaf's; `None` beyond
/// the box.
#[inline]
pub(crate) fn next<const D: usize>(
    mesh: &FlowMesh<D>,
    block: usize,
    cell: usize,
    side: usize,
) -> Option<(usize, usize)> {
    let (axis, upper) = (side / 2, side % 2);
    let at = dims::unravel::<D>(cell, 4);
    let step = faces::stride(axis);
    if upper == 0 && at[axis] > 0 {
        return Some((block, cell - step));
    }
    if upper == 1 && at[axis] < 3 {
        return Some((block, cell + step));
    }
    match mesh.blocks.beside(block, side) {
        Beside::Outside => None,
        Beside::Same(other) => Some((
            other,
            if upper == 0 {
                cell + 3 * step
            } else {
                cell - 3 * step
            },
        )),
        Beside::Coarser(other) => Some((other, mesh.blocks.coarser_cell(block, side, at))),
    }
}

/// A velocity component beyond a side of a cell; at faces of the box as a mirror gives the boundary's value; of solid
/// cells as at a wall at rest.
#[inline]
pub(crate) fn beyond<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    u: &[f64],
    component: usize,
    (block, cell): (usize, usize),
    side: usize,
) -> f64 {
    let cells = dims::cells(D);
    let own = u[block * cells + cell];
    match next(mesh, block, cell, side) {
        Some((b, c)) if mesh.is_solid(b, c) => -own,
        Some((b, c)) => u[b * cells + c],
        None => match params.face(side) {
            BoxFace::Slip if component == side / 2 => -own,
            BoxFace::Slip | BoxFace::Pressure { .. } => own,
            BoxFace::NoSlip => -own,
            BoxFace::Inflow { velocity, .. } => 2.0 * velocity[component] - own,
        },
    }
}

/// The slope of a velocity component over a cell along an axis, limited (van Leer 1977).
#[inline]
pub(crate) fn slope<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    u: &[f64],
    component: usize,
    at: (usize, usize),
    axis: usize,
) -> f64 {
    let own = u[at.0 * dims::cells(D) + at.1];
    let low = own - beyond(mesh, params, u, component, at, 2 * axis);
    let high = beyond(mesh, params, u, component, at, 2 * axis + 1) - own;
    limited(low, high)
}

/// A slope by the differences to the cells on both sides, limited.
#[inline]
pub(crate) fn limited(low: f64, high: f64) -> f64 {
    if low * high <= 0.0 {
        return 0.0;
    }
    let mean = 0.5 * (low + high);
    mean.signum() * mean.abs().min(2.0 * low.abs()).min(2.0 * high.abs())
}
