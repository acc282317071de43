//! The projection: pressure so that face velocities have no divergence (Popinet 2009, §2.3, approximate for cells).
//!
//! Face velocities are means of the cells' weighted by mass, m/s: the adjoint of the plain mean that takes accelerations of
//! faces back to cells, so that a projection never adds energy, at level jumps and jumps of density either.

use crate::TwoPhaseError;
use crate::forces::Face;
use crate::mesh::FlowMesh;
use crate::params::{BoxFace, FlowParams};
use crate::running::Fields;
use cutlink_amr::dims;
use cutlink_device::Host;
use cutlink_elliptic::{EllipticOperator, SolveWork, Solved, Stop, faces};
use rayon::prelude::*;
use std::sync::Arc;

/// The pressure's operator, kept from step to step.
#[derive(Debug, Default)]
pub(crate) struct ProjectWork<const D: usize> {
    operator: Option<EllipticOperator<D>>,
    solve: SolveWork<Host>,
    conductance: Vec<f64>,
}

/// Iterations of the pressure at most.
const MOST: usize = 100;

fn wrap(source: cutlink_elliptic::EllipticError) -> TwoPhaseError {
    TwoPhaseError::Elliptic {
        what: "pressure",
        source,
    }
}

/// Face velocities from the cells', and accelerations of faces.
pub(crate) fn to_faces<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
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
                let ma = widths[0] * params.phases.rho(alpha[a]);
                let mb = widths[1] * params.phases.rho(alpha[b]);
                let pull = acceleration[block * per + faces::of_side(D, side, cell)];
                (ma * u[a] + mb * u[b]) / (ma + mb) + dt * pull
            }
            Face::Opening { cell, face } => match face {
                BoxFace::Inflow { velocity, .. } => velocity[side / 2],
                _ => u[cell],
            },
        }
    });
    mesh.mean_faces(flux);
}

/// Solves for the pressure, and corrects the velocities of faces and cells. `acceleration` becomes that of the pressure
/// too.
pub(crate) fn project<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    fields: &mut Fields<D>,
    acceleration: &mut Vec<f64>,
    w: &mut ProjectWork<D>,
    dt: f64,
) -> Result<Solved, TwoPhaseError> {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let len = mesh.blocks.len() * per;
    w.conductance.resize(len, 0.0);
    let alpha = &fields.alpha;
    mesh.fill_faces(&mut w.conductance, |block, cell, side| {
        let area = mesh.width_of(block).powi(D as i32 - 1);
        match mesh.face(params, block, cell, side) {
            Face::Inner { cells, widths } => {
                let [a, b] = cells.map(|c| params.phases.rho(alpha[c]));
                2.0 / (a + b) * area / (0.5 * (widths[0] + widths[1]))
            }
            Face::Opening {
                cell,
                face: BoxFace::Pressure { .. },
            } => area / params.phases.rho(alpha[cell]) / (0.5 * mesh.width_of(block)),
            _ => 0.0,
        }
    });
    if let Some(operator) = &mut w.operator {
        operator.update(&w.conductance, &Vec::new()).map_err(wrap)?;
    } else {
        let blocks = Arc::clone(&mesh.blocks);
        let made = EllipticOperator::new(&Host, blocks, w.conductance.clone(), Vec::new());
        w.operator = Some(made.map_err(wrap)?);
    }
    let operator = w.operator.as_ref().expect("made above");
    let mut b = vec![0.0; mesh.blocks.cells()];
    right_side(mesh, params, fields, &w.conductance, dt, &mut b);
    check_rate(mesh, operator, &b, dt)?;
    // Against the sum of the fluxes' sizes, so that no flow at all is solved as well.
    let stop = Stop {
        relative: params.tolerance,
        absolute: 1e-15 * size(mesh, &fields.flux, dt) + f64::MIN_POSITIVE,
        most: MOST,
    };
    let solved = operator
        .solve(&b, &mut fields.pressure, stop, &mut w.solve)
        .map_err(wrap)?;
    let Fields {
        alpha,
        pressure,
        flux,
        velocity,
        pull,
    } = fields;
    let own = |block: usize, cell: usize, side: usize| block * per + faces::of_side(D, side, cell);
    let before = acceleration.clone();
    mesh.fill_faces(acceleration, |block, cell, side| {
        let pull = match mesh.face(params, block, cell, side) {
            Face::Inner {
                cells: [a, b],
                widths,
            } => {
                let [ra, rb] = [a, b].map(|c| params.phases.rho(alpha[c]));
                -2.0 / (ra + rb) * (pressure[b] - pressure[a]) / (0.5 * (widths[0] + widths[1]))
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
                -rise / params.phases.rho(alpha[cell]) / (0.5 * mesh.width_of(block))
            }
            _ => 0.0,
        };
        pull + before[own(block, cell, side)]
    });
    mesh.mean_faces(acceleration);
    let (acceleration, before) = (&*acceleration, &before);
    flux.par_chunks_mut(per)
        .enumerate()
        .for_each(|(block, flux)| {
            if mesh.blocks.is_leaf(block) {
                let range = block * per..(block + 1) * per;
                for ((q, a), b) in flux
                    .iter_mut()
                    .zip(&acceleration[range.clone()])
                    .zip(&before[range])
                {
                    *q += dt * (a - b);
                }
            }
        });
    mesh.mean_faces(flux);
    let to_cell = |block: usize, cell: usize, axis: usize| {
        if mesh.is_solid(block, cell) || !mesh.blocks.is_leaf(block) {
            return 0.0;
        }
        let face = own(block, cell, 2 * axis);
        0.5 * (acceleration[face] + acceleration[face + faces::stride(axis)])
    };
    for (axis, u) in velocity.iter_mut().enumerate() {
        u.par_chunks_mut(cells).enumerate().for_each(|(block, u)| {
            for (cell, u) in u.iter_mut().enumerate() {
                *u += dt * to_cell(block, cell, axis);
            }
        });
    }
    for (axis, pull) in pull.iter_mut().enumerate() {
        pull.par_chunks_mut(cells)
            .enumerate()
            .for_each(|(block, pull)| {
                for (cell, pull) in pull.iter_mut().enumerate() {
                    *pull = to_cell(block, cell, axis);
                }
            });
    }
    Ok(solved)
}

/// What flows out of cells, over the step, with the pressure of openings.
fn right_side<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    fields: &Fields<D>,
    conductance: &[f64],
    dt: f64,
    b: &mut [f64],
) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    b.par_chunks_mut(cells).enumerate().for_each(|(block, b)| {
        if !mesh.blocks.is_leaf(block) {
            return;
        }
        let area = mesh.width_of(block).powi(D as i32 - 1);
        for (cell, b) in b.iter_mut().enumerate() {
            let mut sum = 0.0;
            for axis in 0..D {
                let face = block * per + faces::lower(D, axis, cell);
                sum += fields.flux[face + faces::stride(axis)] - fields.flux[face];
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

/// The 2-norm of fluxes through faces, as the right side has them.
fn size<const D: usize>(mesh: &FlowMesh<D>, flux: &[f64], dt: f64) -> f64 {
    let per = faces::per_block(D);
    let of_block = |block: usize| -> f64 {
        if !mesh.blocks.is_leaf(block) {
            return 0.0;
        }
        let area = mesh.width_of(block).powi(D as i32 - 1) / dt;
        flux[block * per..(block + 1) * per]
            .iter()
            .map(|q| (q * area).powi(2))
            .sum()
    };
    let sums: Vec<f64> = (0..mesh.blocks.len())
        .into_par_iter()
        .map(of_block)
        .collect();
    sums.iter().sum::<f64>().sqrt()
}

/// Inflow and outflow agree where no pressure is given.
fn check_rate<const D: usize>(
    mesh: &FlowMesh<D>,
    operator: &EllipticOperator<D>,
    b: &[f64],
    dt: f64,
) -> Result<(), TwoPhaseError> {
    if operator.closed_regions() == 0 {
        return Ok(());
    }
    let cells = dims::cells(D);
    let leaf = |block: &usize| mesh.blocks.is_leaf(*block);
    let sum = |f: fn(f64) -> f64| -> f64 {
        let of = |block: usize| {
            b[block * cells..(block + 1) * cells]
                .iter()
                .map(|&b| f(b))
                .sum::<f64>()
        };
        (0..mesh.blocks.len()).filter(leaf).map(of).sum()
    };
    let (net, all) = (sum(|b| b), sum(f64::abs));
    if net.abs() > 1e-6 * all && operator.closed_regions() == 1 {
        return Err(TwoPhaseError::NoOutlet { rate: -net * dt });
    }
    Ok(())
}
