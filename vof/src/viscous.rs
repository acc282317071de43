//! Viscosity, implicit: `(ρ/Δt − ∇·μ∇) u = ρ u*/Δt` for each component.
//!
//! The last step's accelerations are added before and taken away after, so that a steady flow does not depend on the step
//! (Popinet 2009, §2.2). The viscosity of a mixed cell, and of a face, is the harmonic mean. The terms that couple the
//! components, `∇·μ(∇u)ᵀ`, are taken at the start of the step ([`stress`]). Walls at rest and solid cells hold the velocity
//! at half a cell.

use crate::equations::{Equations, Viscous};
use crate::forces::Face;
use crate::grain_cells::{GrainFields, RigidMotion};
use crate::kernels::{Scene, TwoPhaseKernels};
use crate::mesh::FlowMesh;
use crate::params::{BoxFace, FlowParams};
use crate::penalty::{GrainSum, fluidity};
use crate::project::area;
use crate::running::Fields;
use crate::velocity::next;
use crate::{TwoPhaseError, restrict};
use cutlink_amr::dims;
use cutlink_device::{Backend, Host};
use cutlink_elliptic::{Stop, faces};
use rayon::prelude::*;

const STOP: Stop = Stop {
    relative: 1e-10,
    absolute: f64::MIN_POSITIVE,
    most: 100,
};

/// With cells that are held: their right sides are a thousand times larger, and what they are given is a difference.
const STOP_HELD: Stop = Stop {
    relative: 1e-13,
    ..STOP
};

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

/// Advances the cells' velocity by viscosity; returns iterations. Grains keep their motions, and what they get, N and N m, is
/// added to their sums.
///
/// # Errors
/// A solve that fails, memory.
pub(crate) fn advance<const D: usize, B: TwoPhaseKernels<D>>(
    at: &Scene<'_, D, B>,
    fields: &mut Fields<D, B>,
    w: &mut Equations<D, B>,
    dt: f64,
    mut grains: Option<(&[RigidMotion], &mut [GrainSum])>,
) -> Result<usize, TwoPhaseError> {
    let Some(viscous) = &mut w.viscous else {
        return Ok(0);
    };
    // What couples the components does so in the fluid as if there were no grains: across a surface at rest it is zero.
    B::viscosity(&at.without_grains(), &fields.alpha, &mut w.conductance)?;
    for (component, force) in viscous.forces.iter_mut().enumerate() {
        B::stress(
            at,
            &fields.velocity,
            &w.conductance,
            component,
            &mut w.faces,
        )?;
        restrict::faces(at, &mut w.faces)?;
        B::force(at, &w.faces, force)?;
    }
    if at.grains.is_some() {
        B::viscosity(at, &fields.alpha, &mut w.conductance)?;
    }
    let stop = if grains.is_some() { STOP_HELD } else { STOP };
    let mut iterations = 0;
    for component in 0..D {
        let Fields {
            alpha,
            velocity,
            pull,
            ..
        } = &mut *fields;
        let (u, pull) = (&mut velocity[component], &pull[component]);
        B::kick(at, pull, dt, u)?;
        if let Some(Viscous { diagonal, forces }) = &mut w.viscous {
            let system = System {
                component,
                dt,
                alpha,
                u,
                force: &forces[component],
            };
            B::equation(at, &system, diagonal, &mut w.b)?;
            if let Some((motions, _)) = &grains {
                B::penalise(at, motions, &system, &w.conductance, [diagonal, &mut w.b])?;
            }
        }
        iterations = iterations.max(w.solve_viscosity(at, component, u, stop)?);
        if let Some((motions, sums)) = &mut grains {
            B::handed(at, motions, (component, dt), [&w.conductance, u], sums)?;
        }
        B::kick(at, pull, -dt, u)?;
    }
    Ok(iterations)
}

/// Adds accelerations over some time to velocities.
pub(crate) fn kick(pull: &[f64], dt: f64, u: &mut [f64]) {
    let both = u.par_iter_mut().zip(pull).with_min_len(1 << 12);
    both.for_each(|(u, pull)| *u += dt * pull);
}

/// Conductances of faces for the velocity.
pub(crate) fn viscosity<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    grains: Option<&GrainFields>,
    alpha: &[f64],
    out: &mut [f64],
) {
    mesh.fill_faces(out, |block, cell, side| {
        match mesh.face(params, block, cell, side) {
            Face::Inner { cells, widths } => {
                let [a, b] = fluidity(&params.phases, grains, alpha, cells);
                2.0 * area(mesh, block) / ((a + b) * (0.5 * (widths[0] + widths[1])))
            }
            _ => 0.0,
        }
    });
}

/// What the equation of a component of the velocity is made of.
#[derive(Debug)]
pub(crate) struct System<'a, B: Backend> {
    pub(crate) component: usize,
    pub(crate) dt: f64,
    pub(crate) alpha: &'a B::Buf<f64>,
    pub(crate) u: &'a B::Buf<f64>,
    /// Forces that couple the components.
    pub(crate) force: &'a B::Buf<f64>,
}

/// What multiplies a component of the velocity of each cell, and the right side.
pub(crate) fn equation<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    grains: Option<&GrainFields>,
    of: &System<'_, Host>,
    diagonal: &mut [f64],
    b: &mut [f64],
) {
    let System {
        component,
        dt,
        alpha,
        u,
        force,
    } = *of;
    let (phases, cells) = (&params.phases, dims::cells(D));
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
            let mu = phases.mu(alpha[own]);
            let held = friction(mesh, params, (block, cell), component, mu);
            // Of the fluid alone; cells of grains are held afterwards.
            let clear = grains.map_or(1.0, |of| of.clear[own]);
            let inertia = clear * phases.rho(alpha[own]) * mesh.volume_of(block) / dt;
            diagonal[cell] = inertia + held[0];
            b[cell] = inertia * u[own] + held[1] + force[own];
        }
    };
    (diagonal
        .par_chunks_mut(cells)
        .zip(b.par_chunks_mut(cells))
        .enumerate())
    .for_each(each);
}

/// Stresses of `∇·μ(∇u)ᵀ` on a component of the velocity, by face.
///
/// At a face with the normal `a` the stress on component `k` is `μ ∂u_a/∂x_k`: for `k = a` the difference over the face,
/// else the mean of the differences over the cells' faces along `k`, each with the smaller viscosity of both faces. So
/// it is at most as large as what the implicit part damps, and the step is stable for any length. Faces without fluid on
/// both sides have none: along a wall at rest `u_a` does not change, across it the flow's divergence is zero.
pub(crate) fn stress<const D: usize>(
    mesh: &FlowMesh<D>,
    u: &[Vec<f64>; D],
    conductance: &[f64],
    component: usize,
    out: &mut [f64],
) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    // The viscosity of a face of a leaf, by its conductance.
    let mu = |block: usize, cell: usize, side: usize| {
        let t = conductance[block * per + faces::of_side(D, side, cell)];
        let h = mesh.width_of(block);
        let apart = match next(mesh, block, cell, side) {
            Some((b, _)) => 0.5 * (h + mesh.width_of(b)),
            None => h,
        };
        t * (apart * (1.0 / area(mesh, block)))
    };
    // From a cell to the next one beyond a side, per length.
    let rise = |component: usize, (block, cell): (usize, usize), side: usize| {
        let Some((b, c)) = next(mesh, block, cell, side) else {
            return 0.0;
        };
        let difference = u[component][b * cells + c] - u[component][block * cells + cell];
        let over = 1.0 / (0.5 * (mesh.width_of(block) + mesh.width_of(b)));
        if side % 2 == 1 {
            difference * over
        } else {
            -difference * over
        }
    };
    mesh.fill_faces(out, |block, cell, side| {
        let (own, axis) = (mu(block, cell, side), side / 2);
        let Some(other) = next(mesh, block, cell, side) else {
            return 0.0;
        };
        if own == 0.0 {
            return 0.0;
        }
        if axis == component {
            return own * rise(component, (block, cell), side);
        }
        let (mut sum, mut count) = (0.0, 0);
        for at in [(block, cell), other] {
            for beside in [2 * component, 2 * component + 1] {
                let mu = mu(at.0, at.1, beside);
                if mu > 0.0 {
                    sum += own.min(mu) * rise(axis, at, beside);
                    count += 1;
                }
            }
        }
        sum / f64::from(count.max(1))
    });
}

/// Forces on cells by stresses of faces, N (in 2D a metre of depth).
pub(crate) fn force<const D: usize>(mesh: &FlowMesh<D>, stress: &[f64], force: &mut [f64]) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    force
        .par_chunks_mut(cells)
        .enumerate()
        .for_each(|(block, force)| {
            if !mesh.blocks.is_leaf(block) {
                return;
            }
            for (cell, force) in force.iter_mut().enumerate() {
                let each = |axis: usize| {
                    let face = block * per + faces::lower(D, axis, cell);
                    stress[face + faces::stride(axis)] - stress[face]
                };
                *force = (0..D).map(each).sum::<f64>() * area(mesh, block);
            }
        });
}
