//! Stages of a step with grains: what they have of cells, and what they exchange with the fluid.
//!
//! The velocity of a cell that is all in a grain is the grain's. That of a cut cell is its fluid's. See
//! [`grains`](crate::grains) for the step.

use crate::forces::Face;
use crate::grain_cells::{GrainCell, GrainCells, LEAST_CLEAR, RigidMotion};
use crate::mesh::FlowMesh;
use crate::params::{FlowParams, Phases};
use crate::running::Fields;
use crate::velocity::next;
use cutlink_amr::{NONE, dims};
use cutlink_elliptic::faces;

/// Sums of a grain: a vector, and its moment about the centre.
pub(crate) type GrainSum = [[f64; 3]; 2];

/// How much stronger cells of grains are held than the faces around them pull.
const PENALTY: f64 = 1e3;

/// How much less viscous a fluid counts between cells without fluid: their faces stay open to the solver.
const WITHIN: f64 = 1e6;

/// The density of a cell: of its fluid and of grains.
#[inline]
pub(crate) fn rho(phases: &Phases, grains: Option<&GrainCells>, alpha: &[f64], cell: usize) -> f64 {
    let fluid = phases.rho(alpha[cell]);
    match grains {
        None => fluid,
        Some(of) => of.clear[cell] * fluid + of.mass[cell],
    }
}

/// One over the viscosity of the cells beside a face: grains do not give way. Within a grain hardly anything is handed on, since
/// forces there would be a torque against its rotation.
#[inline]
pub(crate) fn fluidity(
    phases: &Phases,
    grains: Option<&GrainCells>,
    alpha: &[f64],
    cells: [usize; 2],
) -> [f64; 2] {
    let fluid = cells.map(|c| phases.fluidity(alpha[c]));
    let Some(of) = grains else {
        return fluid;
    };
    let clear = cells.map(|c| of.clear[c]);
    if clear[0].max(clear[1]) < LEAST_CLEAR {
        return fluid.map(|f| WITHIN * f);
    }
    [0, 1].map(|k| clear[k].max(LEAST_CLEAR) * fluid[k])
}

/// The part of both cells that is fluid, the smaller one.
#[inline]
pub(crate) fn clear(grains: Option<&GrainCells>, [a, b]: [usize; 2]) -> f64 {
    grains.map_or(1.0, |of| of.clear[a].min(of.clear[b]))
}

/// Cells that grains hold move with them. Returns what the little fluid of these cells gets by it, kg m/s.
pub(crate) fn rigid<const D: usize>(
    grains: &GrainCells,
    params: &FlowParams<D>,
    motions: &[RigidMotion],
    alpha: &[f64],
    velocity: &mut [Vec<f64>; D],
) -> Vec<GrainSum> {
    let was = &*velocity;
    let given = grains.sums(|grain, of| {
        let own = of.cell as usize;
        let mass = match of.is_held() {
            true => grains.clear[own] * params.phases.rho(alpha[own]) * grains.volume,
            false => return [0.0; 3],
        };
        std::array::from_fn(|a| match was.get(a) {
            Some(u) => mass * (motions[grain].at(of.arm, a) - u[own]),
            None => 0.0,
        })
    });
    for (grain, motion) in motions.iter().enumerate() {
        for of in grains.of[grains.range(grain)]
            .iter()
            .filter(|c| c.is_held())
        {
            for (axis, u) in velocity.iter_mut().enumerate() {
                u[of.cell as usize] = motion.at(of.arm, axis);
            }
        }
    }
    given
}

/// Momentum of the fluid that the grains displace, kg m/s: of cells as if they were all fluid, times the grain's part.
pub(crate) fn interior<const D: usize>(
    grains: &GrainCells,
    params: &FlowParams<D>,
    alpha: &[f64],
    velocity: &[Vec<f64>; D],
) -> Vec<GrainSum> {
    grains.sums(|_, of| {
        let cell = of.cell as usize;
        let mass = of.part * params.phases.rho(alpha[cell]) * grains.volume;
        std::array::from_fn(|a| velocity.get(a).map_or(0.0, |u| mass * u[cell]))
    })
}

/// The liquid's part of the fluid in the cells that a grain is partly in; 0 without any.
pub(crate) fn around(grains: &GrainCells, alpha: &[f64]) -> Vec<f64> {
    let sums = grains.sums(|_, of| {
        let beside = 1.0 - of.part;
        [
            beside,
            beside * alpha[of.cell as usize].clamp(0.0, 1.0),
            0.0,
        ]
    });
    let mean = |[[all, liquid, _], _]: &GrainSum| if *all > 0.0 { liquid / all } else { 0.0 };
    sums.iter().map(mean).collect()
}

/// Momentum over time that accelerations of cells give to the grains, N.
pub(crate) fn pushed<const D: usize>(grains: &GrainCells, pull: &[Vec<f64>; D]) -> Vec<GrainSum> {
    grains.sums(|grain, of| {
        let mass = of.part * grains.density[grain] * grains.volume;
        std::array::from_fn(|a| {
            pull.get(a)
                .map_or(0.0, |pull| mass * pull[of.cell as usize])
        })
    })
}

/// What is known of the equation of a component of the velocity.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    pub(crate) component: usize,
    pub(crate) dt: f64,
    pub(crate) alpha: &'a [f64],
    pub(crate) conductance: &'a [f64],
}

/// How strongly a cell of a grain is held, N s/m.
fn hold<const D: usize>(
    grains: &GrainCells,
    grain: usize,
    cell: &GrainCell,
    (conductance, dt): (&[f64], f64),
) -> f64 {
    let first = cell.block as usize * faces::per_block(D);
    let own = cell.cell as usize % dims::cells(D);
    let each = |side: usize| conductance[first + faces::of_side(D, side, own)];
    let inertia = grains.density[grain] * grains.volume / dt;
    PENALTY * ((0..2 * D).map(each).sum::<f64>() + inertia)
}

/// What holds the cells of grains in the equation of a component of the velocity, and what the rotation of grains is there.
pub(crate) fn penalise<const D: usize>(
    (mesh, params): (&FlowMesh<D>, &FlowParams<D>),
    grains: &GrainCells,
    motions: &[RigidMotion],
    of: &Held<'_>,
    [diagonal, b]: [&mut [f64]; 2],
) {
    for (grain, motion) in motions.iter().enumerate() {
        let all = &grains.of[grains.range(grain)];
        for cell in all.iter().filter(|c| c.is_held()) {
            let own = cell.cell as usize;
            let hold = hold::<D>(grains, grain, cell, (of.conductance, of.dt));
            diagonal[own] += hold;
            b[own] += hold * motion.at(cell.arm, of.component);
        }
    }
    for (grain, motion) in motions.iter().enumerate() {
        turned((mesh, params), (grains, grain), motion, of, b);
    }
}

/// A rigid rotation over a face has the stress that it has in the fluid, so that with what couples the components it has none: the
/// conductance of a face with grains is for what differs from the rotation.
fn turned<const D: usize>(
    (mesh, params): (&FlowMesh<D>, &FlowParams<D>),
    (grains, grain): (&GrainCells, usize),
    motion: &RigidMotion,
    of: &Held<'_>,
    b: &mut [f64],
) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let range = grains.range(grain);
    let all = &grains.of[range];
    for cell in all {
        let (own, block) = (cell.cell as usize, cell.block as usize);
        let h = mesh.width_of(block);
        for side in (0..2 * D).filter(|side| side / 2 != of.component) {
            let beside = cell.beside[side];
            // Each face once.
            if beside != NONE && side % 2 == 0 {
                continue;
            }
            let c = of.conductance[block * per + faces::of_side(D, side, own % cells)];
            let Some((next, at)) = next(mesh, block, own % cells, side) else {
                continue;
            };
            if c == 0.0 || !mesh.blocks.is_leaf(next) || mesh.width_of(next) != h {
                continue;
            }
            let other = next * cells + at;
            let mut arm = [0.0; 3];
            arm[side / 2] = if side % 2 == 1 { h } else { -h };
            let rise = RigidMotion {
                u: [0.0; 3],
                w: motion.w,
            }
            .at(arm, of.component);
            // Where several grains are beside a face, each has its share of it.
            let part = cell.part + all.get(beside as usize).map_or(0.0, |c| c.part);
            let share = part / (2.0 - grains.clear[own] - grains.clear[other]).max(part);
            let fluid = [own, other].map(|c| params.phases.fluidity(of.alpha[c]));
            let plain = 2.0 * h.powi(D as i32 - 2) / (fluid[0] + fluid[1]);
            let more = share * ((plain - c) * rise);
            b[own] += more;
            b[other] -= more;
        }
    }
}

/// Adds to `sums` what a component of the velocity gives to the grains through what holds them, N.
pub(crate) fn handed<const D: usize>(
    grains: &GrainCells,
    motions: &[RigidMotion],
    (component, dt): (usize, f64),
    [conductance, u]: [&[f64]; 2],
    sums: &mut [GrainSum],
) {
    let found = grains.sums(|grain, of| {
        let mut force = [0.0; 3];
        if of.is_held() {
            let slip = u[of.cell as usize] - motions[grain].at(of.arm, component);
            force[component] = slip * hold::<D>(grains, grain, of, (conductance, dt));
        }
        force
    });
    for (sum, found) in sums
        .iter_mut()
        .flatten()
        .flatten()
        .zip(found.iter().flatten().flatten())
    {
        *sum += found;
    }
}

/// Adds to accelerations of faces those of grains, m/s² and rad/s²: of both cells beside a face the mean by mass, as velocities
/// have it. So a force on a grain that weight and pressure balance moves no cell. Returns the forces that this takes, N.
pub(crate) fn accelerate<const D: usize>(
    (mesh, params): (&FlowMesh<D>, &FlowParams<D>),
    grains: &GrainCells,
    accelerations: &[RigidMotion],
    alpha: &[f64],
    out: &mut [f64],
) -> Vec<GrainSum> {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let rho = |cell: usize| rho(&params.phases, Some(grains), alpha, cell);
    for (grain, by) in accelerations.iter().enumerate() {
        for of in &grains.of[grains.range(grain)] {
            let (block, cell) = (of.block as usize, of.cell as usize % cells);
            let mass = of.part * grains.density[grain] * mesh.width_of(block);
            for side in 0..2 * D {
                let Face::Inner {
                    cells: both,
                    widths,
                } = mesh.face(params, block, cell, side)
                else {
                    continue;
                };
                let all = widths[0] * rho(both[0]) + widths[1] * rho(both[1]);
                let more = mass / all * by.at(of.arm, side / 2);
                out[block * per + faces::of_side(D, side, cell)] += more;
                // The block beyond has the face too.
                let beyond = both[side % 2];
                let next = beyond / cells;
                if next != block && mesh.blocks.is_leaf(next) {
                    out[next * per + faces::of_side(D, side ^ 1, beyond % cells)] += more;
                }
            }
        }
    }
    grains.sums(|grain, of| {
        let mass = of.part * grains.density[grain] * grains.volume;
        std::array::from_fn(|a| mass * accelerations[grain].at(of.arm, a))
    })
}

/// Velocities of cut cells become those of all of their mass; returns those of their fluid, by axis.
pub(crate) fn blend<const D: usize>(
    grains: &GrainCells,
    params: &FlowParams<D>,
    motions: &[RigidMotion],
    fields: &mut Fields<D>,
) -> Vec<f64> {
    let Fields {
        alpha, velocity, ..
    } = fields;
    let mut kept = Vec::with_capacity(D * grains.cut.len());
    for (axis, u) in velocity.iter_mut().enumerate() {
        for (cell, entries) in grains.cut() {
            kept.push(u[cell]);
            let mut momentum = grains.clear[cell] * params.phases.rho(alpha[cell]) * u[cell];
            for &(grain, at) in entries {
                let (grain, of) = (grain as usize, &grains.of[at as usize]);
                let mass = of.part * grains.density[grain];
                momentum += mass * motions[grain].at(of.arm, axis);
            }
            u[cell] = momentum / rho(&params.phases, Some(grains), alpha, cell);
        }
    }
    kept
}

/// Velocities of cut cells become those of their fluid again, after some time of the accelerations.
pub(crate) fn unblend<const D: usize>(
    grains: &GrainCells,
    kept: &[f64],
    dt: f64,
    fields: &mut Fields<D>,
) {
    let mut kept = kept.iter();
    for (u, pull) in fields.velocity.iter_mut().zip(&fields.pull) {
        for ((cell, _), kept) in grains.cut.iter().zip(kept.by_ref()) {
            let cell = *cell as usize;
            u[cell] = kept + dt * pull[cell];
        }
    }
}
