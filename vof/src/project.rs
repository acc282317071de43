//! The projection: pressure so that face velocities have no divergence (Popinet 2009, §2.3, approximate for cells).
//!
//! Face velocities are means of the cells' weighted by mass, m/s: the adjoint of the plain mean that takes accelerations of
//! faces back to cells, so that a projection never adds energy, at level jumps and jumps of density either.

use crate::equations::Equations;
use crate::forces::Face;
use crate::grain_cells::GrainFields;
use crate::kernels::{Scene, TwoPhaseKernels};
use crate::mesh::FlowMesh;
use crate::params::{BoxFace, FlowParams};
use crate::penalty::rho;
use crate::running::Fields;
use crate::{TwoPhaseError, restrict};
use cutlink_amr::dims;
use cutlink_elliptic::{Stop, block_sum, faces, ordered_sum};
use rayon::prelude::*;

/// Iterations of the pressure at most.
const MOST: usize = 100;

/// Sums over leaves that the host decides on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sizes {
    /// Of the right side, and of its values' sizes.
    pub(crate) net: f64,
    pub(crate) all: f64,
    /// Of the squares of fluxes through faces, as the right side has them.
    pub(crate) squares: f64,
}

/// Solves for the pressure, and corrects the velocities of faces and cells. `acceleration` becomes that of the pressure
/// too. Returns iterations.
///
/// # Errors
/// More inflow than outflow without an opening; a solve that fails; memory.
pub(crate) fn project<const D: usize, B: TwoPhaseKernels<D>>(
    at: &Scene<'_, D, B>,
    fields: &mut Fields<D, B>,
    acceleration: &mut B::Buf<f64>,
    w: &mut Equations<D, B>,
    dt: f64,
) -> Result<usize, TwoPhaseError> {
    B::conductance(at, &fields.alpha, &mut w.conductance)?;
    w.prepare_pressure(at)?;
    B::right_side(at, &fields.flux, &w.conductance, dt, &mut w.b)?;
    let sizes = B::sizes(at, &fields.flux, &w.b, dt)?;
    let regions = w.closed_regions();
    // Inflow and outflow agree where no pressure is given.
    // Against the fluxes too: of a uniform flow in a periodic box both sums are rounding.
    let rounding = 1e-10 * sizes.squares.sqrt();
    if regions == 1 && sizes.net.abs() > (1e-6 * sizes.all).max(rounding) {
        let rate = -sizes.net * dt;
        return Err(TwoPhaseError::NoOutlet { rate });
    }
    // Against the sum of the fluxes' sizes, so that no flow at all is solved as well.
    let stop = Stop {
        relative: at.params.tolerance,
        absolute: 1e-15 * sizes.squares.sqrt() + f64::MIN_POSITIVE,
        most: MOST,
    };
    let iterations = w.solve_pressure(&mut fields.pressure, stop)?;
    at.backend.copy(acceleration, &mut w.faces)?;
    B::pull(at, fields, &w.faces, acceleration)?;
    restrict::faces(at, acceleration)?;
    B::correct(at, [&*acceleration, &w.faces], dt, &mut fields.flux)?;
    restrict::faces(at, &mut fields.flux)?;
    B::to_cells(at, acceleration, dt, fields)?;
    Ok(iterations)
}

/// Face velocities from the cells', and accelerations of faces.
pub(crate) fn to_faces<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    grains: Option<&GrainFields>,
    fields: &mut Fields<D>,
    acceleration: &[f64],
    dt: f64,
) {
    let per = faces::per_block(D);
    let Fields {
        alpha,
        velocity,
        flux,
        ..
    } = fields;
    mesh.fill_faces(flux, |block, cell, side| {
        let u = &velocity[side / 2];
        match mesh.face(params, block, cell, side) {
            Face::Closed => 0.0,
            Face::Inner {
                cells: [a, b],
                widths,
            } => {
                let ma = widths[0] * rho(&params.phases, grains, alpha, a);
                let mb = widths[1] * rho(&params.phases, grains, alpha, b);
                let pull = acceleration[block * per + faces::of_side(D, side, cell)];
                (ma * u[a] + mb * u[b]) / (ma + mb) + dt * pull
            }
            Face::Opening { cell: own, face } => match face {
                BoxFace::Inflow { velocity, .. } => velocity[side / 2],
                _ => u[own] + dt * acceleration[block * per + faces::of_side(D, side, cell)],
            },
        }
    });
}

/// The area of a block's faces.
pub(crate) fn area<const D: usize>(mesh: &FlowMesh<D>, block: usize) -> f64 {
    mesh.width_of(block).powi(D as i32 - 1)
}

/// Conductances of faces for the pressure.
pub(crate) fn conductance<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    grains: Option<&GrainFields>,
    alpha: &[f64],
    out: &mut [f64],
) {
    let rho = |cell: usize| rho(&params.phases, grains, alpha, cell);
    mesh.fill_faces(out, |block, cell, side| {
        let area = area(mesh, block);
        match mesh.face(params, block, cell, side) {
            Face::Inner { cells, widths } => {
                let [a, b] = cells.map(rho);
                2.0 * area / ((a + b) * (0.5 * (widths[0] + widths[1])))
            }
            Face::Opening {
                cell,
                face: BoxFace::Pressure { .. },
            } => area / (rho(cell) * (0.5 * mesh.width_of(block))),
            _ => 0.0,
        }
    });
}

/// What flows out of cells, over the step, with the pressure of openings.
pub(crate) fn right_side<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    flux: &[f64],
    conductance: &[f64],
    dt: f64,
    b: &mut [f64],
) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    b.par_chunks_mut(cells).enumerate().for_each(|(block, b)| {
        if !mesh.blocks.is_leaf(block) {
            return;
        }
        let area = area(mesh, block);
        for (cell, b) in b.iter_mut().enumerate() {
            let mut sum = 0.0;
            for axis in 0..D {
                let face = block * per + faces::lower(D, axis, cell);
                sum += flux[face + faces::stride(axis)] - flux[face];
            }
            *b = -sum * area / dt;
            for side in 0..2 * D {
                if let Face::Opening {
                    face: BoxFace::Pressure { value, .. },
                    ..
                } = mesh.face(params, block, cell, side)
                {
                    *b += conductance[block * per + faces::of_side(D, side, cell)] * value;
                }
            }
        }
    });
}

/// Sums of fluxes and of a right side: over the cells of each block, then over blocks.
pub(crate) fn sizes<const D: usize>(mesh: &FlowMesh<D>, flux: &[f64], b: &[f64], dt: f64) -> Sizes {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    // A cell has its lower faces, and the block's upper ones.
    let squares = |block: usize, cell: usize| {
        let (area, at) = (area(mesh, block) / dt, dims::unravel::<D>(cell, 4));
        let mut sum = 0.0;
        for axis in 0..D {
            for upper in 0..=usize::from(at[axis] == 3) {
                let face = block * per + faces::of_side(D, 2 * axis + upper, cell);
                sum += (flux[face] * area).powi(2);
            }
        }
        sum
    };
    let of_block = |block: usize| {
        if !mesh.blocks.is_leaf(block) {
            return [0.0; 3];
        }
        let b = &b[block * cells..];
        [
            block_sum::<D>(|cell| b[cell]),
            block_sum::<D>(|cell| b[cell].abs()),
            block_sum::<D>(|cell| squares(block, cell)),
        ]
    };
    let of_blocks: Vec<[f64; 3]> = (0..mesh.blocks.len())
        .into_par_iter()
        .map(of_block)
        .collect();
    let [net, all, squares] =
        [0, 1, 2].map(|k| ordered_sum(&of_blocks.iter().map(|of| of[k]).collect::<Vec<_>>()));
    Sizes { net, all, squares }
}

/// Accelerations of faces by the pressure, beside those before.
pub(crate) fn pull<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    grains: Option<&GrainFields>,
    fields: &Fields<D>,
    before: &[f64],
    out: &mut [f64],
) {
    let per = faces::per_block(D);
    let pressure = &fields.pressure;
    let rho = |cell: usize| rho(&params.phases, grains, &fields.alpha, cell);
    mesh.fill_faces(out, |block, cell, side| {
        let pull = match mesh.face(params, block, cell, side) {
            Face::Inner {
                cells: [a, b],
                widths,
            } => {
                let [ra, rb] = [a, b].map(rho);
                let distance = 0.5 * (widths[0] + widths[1]);
                -2.0 * (pressure[b] - pressure[a]) / ((ra + rb) * distance)
            }
            Face::Opening {
                cell,
                face: BoxFace::Pressure { value, .. },
            } => {
                let rise = if side.is_multiple_of(2) {
                    pressure[cell] - value
                } else {
                    value - pressure[cell]
                };
                -rise / (rho(cell) * (0.5 * mesh.width_of(block)))
            }
            _ => 0.0,
        };
        pull + before[block * per + faces::of_side(D, side, cell)]
    });
}

/// Adds what accelerations of faces are above those before to the velocities of faces of leaves.
pub(crate) fn correct<const D: usize>(
    mesh: &FlowMesh<D>,
    [after, before]: [&[f64]; 2],
    dt: f64,
    flux: &mut [f64],
) {
    let per = faces::per_block(D);
    flux.par_chunks_mut(per)
        .enumerate()
        .for_each(|(block, flux)| {
            if mesh.blocks.is_leaf(block) {
                let range = block * per..(block + 1) * per;
                let both = after[range.clone()].iter().zip(&before[range]);
                for (q, (a, b)) in flux.iter_mut().zip(both) {
                    *q += dt * (a - b);
                }
            }
        });
}

/// Accelerations of cells from those of faces, and velocities by them; refined blocks have none.
pub(crate) fn to_cells<const D: usize>(
    mesh: &FlowMesh<D>,
    acceleration: &[f64],
    dt: f64,
    fields: &mut Fields<D>,
) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let of = |block: usize, cell: usize, axis: usize| {
        if mesh.is_solid(block, cell) || !mesh.blocks.is_leaf(block) {
            return 0.0;
        }
        let face = block * per + faces::lower(D, axis, cell);
        0.5 * (acceleration[face] + acceleration[face + faces::stride(axis)])
    };
    let both = fields.velocity.iter_mut().zip(&mut fields.pull);
    for (axis, (u, pull)) in both.enumerate() {
        let blocks = u.par_chunks_mut(cells).zip(pull.par_chunks_mut(cells));
        blocks.enumerate().for_each(|(block, (u, pull))| {
            for (cell, (u, pull)) in u.iter_mut().zip(pull).enumerate() {
                *pull = of(block, cell, axis);
                *u += dt * *pull;
            }
        });
    }
}
