//! Stages of a step with grains: what they have of cells, and what they exchange with the fluid.
//!
//! The velocity of a cell that is all in a grain is the grain's. That of a cut cell is its fluid's. See
//! [`grains`](crate::grains) for the step.

use crate::constants::{LEAST_CLEAR, PENALTY, WITHIN};
use crate::forces::Face;
use crate::grain_cells::{GrainCell, GrainCells, GrainFields, RigidMotion};
use crate::mesh::FlowMesh;
use crate::params::{FlowParams, Phases};
use crate::running::Fields;
use crate::velocity::next;
use cutlink_amr::dims;
use cutlink_elliptic::faces;
use rayon::prelude::*;

/// Sums of a grain: a vector, and its moment about the centre.
pub(crate) type GrainSum = [[f64; 3]; 2];

/// The density of a cell: of its fluid and of grains.
#[inline]
pub(crate) fn rho(
    phases: &Phases,
    grains: Option<&GrainFields>,
    alpha: &[f64],
    cell: usize,
) -> f64 {
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
    grains: Option<&GrainFields>,
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
pub(crate) fn clear(grains: Option<&GrainFields>, [a, b]: [usize; 2]) -> f64 {
    grains.map_or(1.0, |of| of.clear[a].min(of.clear[b]))
}

/// Cells that grains hold move with them. Returns what the little fluid of these cells gets by it, kg m/s.
pub(crate) fn rigid<const D: usize>(
    grains: &GrainFields,
    params: &FlowParams<D>,
    motions: &[RigidMotion],
    alpha: &[f64],
    velocity: &mut [Vec<f64>; D],
) -> Vec<GrainSum> {
    let (was, cells) = (&*velocity, &grains.cells);
    let given = cells.sums(|of| {
        let own = of.cell as usize;
        let mass = match of.is_held() {
            true => grains.clear[own] * params.phases.rho(alpha[own]) * cells.volume,
            false => return [0.0; 3],
        };
        std::array::from_fn(|a| match was.get(a) {
            Some(u) => mass * (motions[of.grain as usize].at(of.arm, a) - u[own]),
            None => 0.0,
        })
    });
    // Where several grains hold a cell, the last one does.
    for of in cells.of.iter().filter(|of| of.is_held()) {
        for (axis, u) in velocity.iter_mut().enumerate() {
            u[of.cell as usize] = motions[of.grain as usize].at(of.arm, axis);
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
    grains.sums(|of| {
        let cell = of.cell as usize;
        let mass = of.part * params.phases.rho(alpha[cell]) * grains.volume;
        std::array::from_fn(|a| velocity.get(a).map_or(0.0, |u| mass * u[cell]))
    })
}

/// The liquid's part of the fluid in the cells that a grain is partly in; 0 without any.
pub(crate) fn around(grains: &GrainCells, alpha: &[f64]) -> Vec<f64> {
    let sums = grains.sums(|of| {
        let beside = 1.0 - of.part;
        [
            beside,
            beside * alpha[of.cell as usize].clamp(0.0, 1.0),
            0.0,
        ]
    });
    sums.iter().map(mean_around).collect()
}

/// The liquid's part of all, by the sums of both.
pub(crate) fn mean_around([[all, liquid, _], _]: &GrainSum) -> f64 {
    if *all > 0.0 { liquid / all } else { 0.0 }
}

/// Momentum over time that accelerations of cells give to the grains, N.
pub(crate) fn pushed<const D: usize>(grains: &GrainCells, pull: &[Vec<f64>; D]) -> Vec<GrainSum> {
    grains.sums(|of| {
        let mass = of.part * grains.density[of.grain as usize] * grains.volume;
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
    of: &GrainCell,
    (conductance, dt): (&[f64], f64),
) -> f64 {
    let (block, own) = (
        of.cell as usize / dims::cells(D),
        of.cell as usize % dims::cells(D),
    );
    let each =
        |side: usize| conductance[block * faces::per_block(D) + faces::of_side(D, side, own)];
    let inertia = grains.density[of.grain as usize] * grains.volume / dt;
    PENALTY * ((0..2 * D).map(each).sum::<f64>() + inertia)
}

/// What holds the cells of grains in the equation of a component of the velocity, and what the rotation of grains is there.
pub(crate) fn penalise<const D: usize>(
    (mesh, params): (&FlowMesh<D>, &FlowParams<D>),
    grains: &GrainFields,
    motions: &[RigidMotion],
    of: &Held<'_>,
    [diagonal, b]: [&mut [f64]; 2],
) {
    let count = dims::cells(D);
    let each = |(block, (diagonal, b)): (usize, (&mut [f64], &mut [f64]))| {
        if !grains.is_near[block] || !mesh.blocks.is_leaf(block) {
            return;
        }
        for cell in 0..count {
            for held in grains.in_cell(block * count + cell).filter(|c| c.is_held()) {
                let hold = hold::<D>(&grains.cells, held, (of.conductance, of.dt));
                diagonal[cell] += hold;
                b[cell] += hold * motions[held.grain as usize].at(held.arm, of.component);
            }
            for side in (0..2 * D).filter(|side| side / 2 != of.component) {
                let at = (block, cell, side);
                if let Some(more) = turned((mesh, params), grains, motions, of, at) {
                    b[cell] += more;
                }
            }
        }
    };
    (diagonal
        .par_chunks_mut(count)
        .zip(b.par_chunks_mut(count))
        .enumerate())
    .for_each(each);
}

/// A rigid rotation over a face has the stress that it has in the fluid, so that with what couples the components it has none: the
/// conductance of a face with grains is for what differs from the rotation. What a face gives to the cell; the one beyond gets
/// the opposite, to the bit. The rotation is the mean of those of all grains in both cells.
fn turned<const D: usize>(
    (mesh, params): (&FlowMesh<D>, &FlowParams<D>),
    grains: &GrainFields,
    motions: &[RigidMotion],
    of: &Held<'_>,
    (block, cell, side): (usize, usize, usize),
) -> Option<f64> {
    let (next, at) = next(mesh, block, cell, side)?;
    let (count, h) = (dims::cells(D), mesh.width_of(block));
    let cells = [block * count + cell, next * count + at];
    let [(pa, wa), (pb, wb)] = cells.map(|cell| spin(grains, motions, cell));
    let part = pa + pb;
    if part == 0.0 {
        return None;
    }
    let c = of.conductance[block * faces::per_block(D) + faces::of_side(D, side, cell)];
    if c == 0.0 || !mesh.blocks.is_leaf(next) || mesh.width_of(next) != h {
        return None;
    }
    let mut arm = [0.0; 3];
    arm[side / 2] = if side % 2 == 1 { h } else { -h };
    let rotation = RigidMotion {
        u: [0.0; 3],
        w: std::array::from_fn(|a| (wa[a] + wb[a]) / part),
    };
    let fluid = cells.map(|c| params.phases.fluidity(of.alpha[c]));
    let plain = 2.0 * h.powi(D as i32 - 2) / (fluid[0] + fluid[1]);
    Some((plain - c) * rotation.at(arm, of.component))
}

/// The part of a cell that is in grains, and their rotation times their parts, rad/s.
fn spin(grains: &GrainFields, motions: &[RigidMotion], cell: usize) -> (f64, [f64; 3]) {
    let (mut part, mut sum) = (0.0, [0.0; 3]);
    for of in grains.in_cell(cell) {
        part += of.part;
        for (sum, w) in sum.iter_mut().zip(motions[of.grain as usize].w) {
            *sum += of.part * w;
        }
    }
    (part, sum)
}

/// Adds to `sums` what a component of the velocity gives to the grains through what holds them, N.
pub(crate) fn handed<const D: usize>(
    grains: &GrainCells,
    motions: &[RigidMotion],
    (component, dt): (usize, f64),
    [conductance, u]: [&[f64]; 2],
    sums: &mut [GrainSum],
) {
    let found = grains.sums(|of| {
        let mut force = [0.0; 3];
        if of.is_held() {
            let slip = u[of.cell as usize] - motions[of.grain as usize].at(of.arm, component);
            force[component] = slip * hold::<D>(grains, of, (conductance, dt));
        }
        force
    });
    add_sums(sums, &found);
}

/// Adds sums of grains to others.
pub(crate) fn add_sums(sums: &mut [GrainSum], more: &[GrainSum]) {
    let to = sums.as_flattened_mut().as_flattened_mut();
    for (sum, more) in to.iter_mut().zip(more.as_flattened().as_flattened()) {
        *sum += more;
    }
}

/// Adds to accelerations of faces those of grains, m/s² and rad/s²: of both cells beside a face the mean by mass, as velocities
/// have it. So a force on a grain that weight and pressure balance moves no cell. Not of faces beside finer cells. Returns the forces
/// that this takes, N.
pub(crate) fn accelerate<const D: usize>(
    (mesh, params): (&FlowMesh<D>, &FlowParams<D>),
    grains: &GrainFields,
    accelerations: &[RigidMotion],
    alpha: &[f64],
    out: &mut [f64],
) -> Vec<GrainSum> {
    let rho = |cell: usize| rho(&params.phases, Some(grains), alpha, cell);
    // Momentum of grains in a cell over volume and time.
    let push = |cell: usize, axis: usize| {
        let each = |of: &GrainCell| {
            let density = of.part * grains.cells.density[of.grain as usize];
            density * accelerations[of.grain as usize].at(of.arm, axis)
        };
        grains.in_cell(cell).fold(0.0, |sum, of| sum + each(of))
    };
    let is_near = |block: usize| grains.is_near[block];
    mesh.each_face(out, is_near, |out, block, cell, side| {
        let Face::Inner { cells, widths } = mesh.face(params, block, cell, side) else {
            return;
        };
        if cells.iter().any(|&cell| grains.has(cell)) {
            let [a, b] = [0, 1].map(|k| widths[k] * push(cells[k], side / 2));
            *out += (a + b) / (widths[0] * rho(cells[0]) + widths[1] * rho(cells[1]));
        }
    });
    taken(&grains.cells, accelerations)
}

/// Forces and torques that accelerations of grains take, by their cells, N and N m.
fn taken(grains: &GrainCells, accelerations: &[RigidMotion]) -> Vec<GrainSum> {
    grains.sums(|of| {
        let grain = of.grain as usize;
        let mass = of.part * grains.density[grain] * grains.volume;
        std::array::from_fn(|a| mass * accelerations[grain].at(of.arm, a))
    })
}

/// Velocities of cut cells become those of all of their mass; returns those of their fluid, by axis and place among the cells of
/// grains.
pub(crate) fn blend<const D: usize>(
    grains: &GrainFields,
    params: &FlowParams<D>,
    motions: &[RigidMotion],
    fields: &mut Fields<D>,
) -> Vec<f64> {
    let Fields {
        alpha, velocity, ..
    } = fields;
    let mut kept = vec![0.0; D * grains.cells.of.len()];
    let rows = kept.chunks_mut(grains.cells.of.len().max(1));
    for (axis, (u, kept)) in velocity.iter_mut().zip(rows).enumerate() {
        for (at, cell) in grains.cut() {
            kept[at] = u[cell];
            let mut momentum = grains.clear[cell] * params.phases.rho(alpha[cell]) * u[cell];
            for of in grains.in_cell(cell) {
                let mass = of.part * grains.cells.density[of.grain as usize];
                momentum += mass * motions[of.grain as usize].at(of.arm, axis);
            }
            u[cell] = momentum / rho(&params.phases, Some(grains), alpha, cell);
        }
    }
    kept
}

/// Velocities of cut cells become those of their fluid again, after some time of the accelerations.
pub(crate) fn unblend<const D: usize>(
    grains: &GrainFields,
    kept: &[f64],
    dt: f64,
    fields: &mut Fields<D>,
) {
    let rows = kept.chunks(grains.cells.of.len().max(1));
    let fields = fields.velocity.iter_mut().zip(&fields.pull);
    for ((u, pull), kept) in fields.zip(rows) {
        for (at, cell) in grains.cut() {
            u[cell] = kept[at] + dt * pull[cell];
        }
    }
}
