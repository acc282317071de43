//! Viscosity, implicit: `(ρ/Δt − ∇·μ∇) u = ρ u*/Δt` for each component.
//!
//! The last step's accelerations are added before and taken away after, so that a steady flow does not depend on the step
//! (Popinet 2009, §2.2). The viscosity of a mixed cell, and of a face, is the harmonic mean. Terms that couple the components, which are zero
//! where the viscosity is constant, are left out. Walls at rest and solid cells hold the velocity at half a cell.

use crate::TwoPhaseError;
use crate::flow::Fields;
use crate::forces::Face;
use crate::mesh::FlowMesh;
use crate::params::{BoxFace, FlowParams};
use crate::velocity::next;
use cutlink_amr::dims;
use cutlink_elliptic::{EllipticOperator, Stop, faces};
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
    conductance: Vec<f64>,
}

fn wrap(source: cutlink_elliptic::EllipticError) -> TwoPhaseError {
    TwoPhaseError::Elliptic {
        what: "viscosity",
        source,
    }
}

/// Friction of a cell at its walls for a component: what multiplies the velocity, and the right side of moving walls.
fn friction<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    (block, cell): (usize, usize),
    component: usize,
    mu: f64,
) -> [f64; 2] {
    let h = mesh.width_of(block);
    let t = 2.0 * mu * h.powi(D as i32 - 2);
    let mut sum = [0.0; 2];
    for side in 0..2 * D {
        let held = match next(mesh, block, cell, side) {
            Some((b, c)) => mesh.is_solid(b, c).then_some(0.0),
            None => match params.face(side) {
                BoxFace::Slip => (component == side / 2).then_some(0.0),
                BoxFace::NoSlip => Some(0.0),
                BoxFace::Inflow { velocity, .. } => Some(velocity[component]),
                BoxFace::Pressure { .. } => None,
            },
        };
        if let Some(value) = held {
            sum[0] += t;
            sum[1] += t * value;
        }
    }
    sum
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
                b[cell] = inertia * u[own] + held[1];
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
            let made = EllipticOperator::new(blocks, w.conductance.clone(), diagonal.clone());
            w.operator = Some(made.map_err(wrap)?);
        }
        let operator = w.operator.as_ref().expect("made above");
        let solved = operator
            .solve(&b, &mut fields.velocity[component], STOP)
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
