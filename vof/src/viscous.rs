//! Viscosity, implicit: `(ρ/Δt − ∇·μ∇) u = ρ u*/Δt` for each component.
//!
//! The last step's accelerations are added before and taken away after, so that a steady flow does not depend on the step
//! (Popinet 2009, §2.2). The viscosity of a mixed cell, and of a face, is the harmonic mean. The terms that couple the
//! components, `∇·μ(∇u)ᵀ`, are taken at the start of the step (`coupling`). Walls at rest and solid cells hold the velocity
//! at half a cell.

use crate::TwoPhaseError;
use crate::forces::Face;
use crate::mesh::FlowMesh;
use crate::params::{BoxFace, FlowParams};
use crate::running::Fields;
use crate::velocity::next;
use cutlink_amr::dims;
use cutlink_device::{Host, memory};
use cutlink_elliptic::{EllipticOperator, SolveWork, Stop, faces};
use rayon::prelude::*;
use std::sync::Arc;

const STOP: Stop = Stop {
    relative: 1e-10,
    absolute: f64::MIN_POSITIVE,
    most: 100,
};

#[derive(Debug, Default)]
pub(crate) struct ViscousWork<const D: usize> {
    operator: Option<EllipticOperator<D>>,
    solve: SolveWork<Host>,
    conductance: Vec<f64>,
}

fn wrap(source: cutlink_elliptic::EllipticError) -> TwoPhaseError {
    TwoPhaseError::Elliptic {
        what: "viscosity",
        source,
    }
}

/// The velocity component that a side of a cell holds the fluid at, if it does.
pub(crate) fn held<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    (block, cell): (usize, usize),
    component: usize,
    side: usize,
) -> Option<f64> {
    match next(mesh, block, cell, side) {
        Some((b, c)) => mesh.is_solid(b, c).then_some(0.0),
        None => match params.face(side) {
            BoxFace::Slip => (component == side / 2).then_some(0.0),
            BoxFace::NoSlip => Some(0.0),
            BoxFace::Inflow { velocity, .. } => Some(velocity[component]),
            BoxFace::Pressure { .. } => None,
        },
    }
}

/// Friction of a cell at its walls for a component: what multiplies the velocity, and the right side of moving walls.
fn friction<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    at: (usize, usize),
    component: usize,
    mu: f64,
) -> [f64; 2] {
    let t = 2.0 * mu * mesh.width_of(at.0).powi(D as i32 - 2);
    let held = (0..2 * D).filter_map(|side| held(mesh, params, at, component, side));
    held.fold([0.0; 2], |sum, value| [sum[0] + t, sum[1] + t * value])
}

/// Advances the cells' velocity by viscosity; returns iterations.
pub(crate) fn advance<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    fields: &mut Fields<D>,
    w: &mut ViscousWork<D>,
    dt: f64,
) -> Result<usize, TwoPhaseError> {
    let phases = &params.phases;
    if phases.viscosity == [0.0; 2] {
        return Ok(0);
    }
    let cells = dims::cells(D);
    w.conductance
        .resize(mesh.blocks.len() * faces::per_block(D), 0.0);
    let alpha = &fields.alpha;
    mesh.fill_faces(&mut w.conductance, |block, cell, side| {
        match mesh.face(params, block, cell, side) {
            Face::Inner { cells, widths } => {
                let [a, b] = cells.map(|c| phases.mu(alpha[c]));
                let area = mesh.width_of(block).powi(D as i32 - 1);
                2.0 * a * b / (a + b) * area / (0.5 * (widths[0] + widths[1]))
            }
            _ => 0.0,
        }
    });
    let coupling = coupling(mesh, fields, &w.conductance)?;
    let mut iterations = 0;
    let (mut diagonal, mut b) = (vec![0.0; alpha.len()], vec![0.0; alpha.len()]);
    for component in 0..D {
        for (u, pull) in fields.velocity[component]
            .iter_mut()
            .zip(&fields.pull[component])
        {
            *u += dt * pull;
        }
        let u = &fields.velocity[component];
        let each = |(block, (diagonal, b)): (usize, (&mut [f64], &mut [f64]))| {
            if !mesh.blocks.is_leaf(block) {
                return;
            }
            for cell in 0..cells {
                let own = block * cells + cell;
                if mesh.is_solid(block, cell) {
                    (diagonal[cell], b[cell]) = (1.0, 0.0);
                    continue;
                }
                let held = friction(
                    mesh,
                    params,
                    (block, cell),
                    component,
                    phases.mu(alpha[own]),
                );
                let inertia = phases.rho(alpha[own]) * mesh.volume_of(block) / dt;
                diagonal[cell] = inertia + held[0];
                b[cell] = inertia * u[own] + held[1] + coupling[component][own];
            }
        };
        (diagonal
            .par_chunks_mut(cells)
            .zip(b.par_chunks_mut(cells))
            .enumerate())
        .for_each(each);
        if let Some(operator) = &mut w.operator {
            operator.update(&w.conductance, &diagonal).map_err(wrap)?;
        } else {
            let blocks = Arc::clone(&mesh.blocks);
            let made =
                EllipticOperator::new(&Host, blocks, w.conductance.clone(), diagonal.clone());
            w.operator = Some(made.map_err(wrap)?);
        }
        let operator = w.operator.as_ref().expect("made above");
        let solved = operator
            .solve(&b, &mut fields.velocity[component], STOP, &mut w.solve)
            .map_err(wrap)?;
        iterations = iterations.max(solved.iterations);
        for (u, pull) in fields.velocity[component]
            .iter_mut()
            .zip(&fields.pull[component])
        {
            *u -= dt * pull;
        }
    }
    Ok(iterations)
}

/// Forces of `∇·μ(∇u)ᵀ` on cells, by component, N (in 2D a metre of depth).
///
/// At a face with the normal `a` the stress on component `k` is `μ ∂u_a/∂x_k`: for `k = a` the difference over the face,
/// else the mean of the differences over the cells' faces along `k`, each with the smaller viscosity of both faces. So
/// it is at most as large as what the implicit part damps, and the step is stable for any length. Faces without fluid on
/// both sides have none: along a wall at rest `u_a` does not change, across it the flow's divergence is zero.
fn coupling<const D: usize>(
    mesh: &FlowMesh<D>,
    fields: &Fields<D>,
    conductance: &[f64],
) -> Result<[Vec<f64>; D], TwoPhaseError> {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let u = &fields.velocity;
    // The viscosity of a face of a leaf, by its conductance.
    let mu = |block: usize, cell: usize, side: usize| {
        let t = conductance[block * per + faces::of_side(D, side, cell)];
        let h = mesh.width_of(block);
        let apart = match next(mesh, block, cell, side) {
            Some((b, _)) => 0.5 * (h + mesh.width_of(b)),
            None => h,
        };
        t * apart / h.powi(D as i32 - 1)
    };
    // From a cell to the next one beyond a side, per length.
    let rise = |component: usize, (block, cell): (usize, usize), side: usize| {
        let Some((b, c)) = next(mesh, block, cell, side) else {
            return 0.0;
        };
        let difference = u[component][b * cells + c] - u[component][block * cells + cell];
        let apart = 0.5 * (mesh.width_of(block) + mesh.width_of(b));
        if side % 2 == 1 {
            difference / apart
        } else {
            -difference / apart
        }
    };
    let mut stress = Vec::new();
    memory::grow("stresses", &mut stress, mesh.blocks.len() * per, 0.0)?;
    let mut force = [(); D].map(|()| Vec::new());
    for (k, force) in force.iter_mut().enumerate() {
        memory::grow("forces of the viscosity", force, mesh.blocks.cells(), 0.0)?;
        mesh.fill_faces(&mut stress, |block, cell, side| {
            let (own, axis) = (mu(block, cell, side), side / 2);
            let Some(other) = next(mesh, block, cell, side) else {
                return 0.0;
            };
            if own == 0.0 {
                return 0.0;
            }
            if axis == k {
                return own * rise(k, (block, cell), side);
            }
            let (mut sum, mut count) = (0.0, 0);
            for at in [(block, cell), other] {
                for beside in [2 * k, 2 * k + 1] {
                    let mu = mu(at.0, at.1, beside);
                    if mu > 0.0 {
                        sum += own.min(mu) * rise(axis, at, beside);
                        count += 1;
                    }
                }
            }
            sum / f64::from(count.max(1))
        });
        mesh.mean_faces(&mut stress);
        let stress = &stress;
        force
            .par_chunks_mut(cells)
            .enumerate()
            .for_each(|(block, force)| {
                if !mesh.blocks.is_leaf(block) {
                    return;
                }
                let area = mesh.width_of(block).powi(D as i32 - 1);
                for (cell, force) in force.iter_mut().enumerate() {
                    let sum: f64 = (0..D)
                        .map(|axis| {
                            let face = block * per + faces::lower(D, axis, cell);
                            stress[face + faces::stride(axis)] - stress[face]
                        })
                        .sum();
                    *force = sum * area;
                }
            });
    }
    Ok(force)
}
