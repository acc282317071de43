//! Faces with walls: what the gas is there, and the common flux through them.
//!
//! The inviscid flux is Rusanov's of the gas and its mirror image: pressure alone. Velocities that a wall holds, and its
//! temperature, are common values of the gradients; the viscous flux is the element's own with a penalty (Castillo et
//! al., *SIAM J. Numer. Anal.* 38 (2000) 1676). Through a wall without friction or heat there is none.

use super::{Coefficients, Operators, Task, advance::ends, for_chunks, sizes};
use crate::constants::{ISOTHERMAL, KIND_BITS, SLIP};
use crate::walls::WallTable;
use cutlink_device::Real;

/// A wall: its kind, and its velocity and temperature.
#[derive(Clone, Copy)]
pub(super) struct At<'a, T> {
    kind: u32,
    state: &'a [T],
}

/// The wall of a slot.
#[inline(always)]
pub(super) fn at<const D: usize, T: Real>(walls: &WallTable<T>, slot: usize) -> At<'_, T> {
    let word = walls.kinds[slot];
    At {
        kind: word & ((1 << KIND_BITS) - 1),
        state: &walls.states[(word >> KIND_BITS) as usize * (D + 1)..][..D + 1],
    }
}

impl<T: Real> At<'_, T> {
    /// Whether the wall holds the velocity `v` of the gas; its normal is along `axis`.
    #[inline(always)]
    fn holds(&self, v: usize, axis: usize) -> bool {
        self.kind != SLIP || v == axis
    }

    /// Puts what the wall holds in place of the gas' velocities and temperatures at the points of a face.
    #[inline(always)]
    pub(super) fn hold<const D: usize>(&self, points: usize, axis: usize, values: &mut [T]) {
        for (v, values) in values.chunks_exact_mut(points).enumerate() {
            let is_held = if v < D {
                self.holds(v, axis)
            } else {
                self.kind == ISOTHERMAL
            };
            if is_held {
                values.fill(self.state[v]);
            }
        }
    }
}

/// The viscous flux at a face with a wall, of the fluxes along its axis at all points of an element: stresses, and
/// the conducted heat in place of the energy.
#[inline(always)]
pub(super) fn viscous_trace<const D: usize, const Q: usize, const A: usize, T: Real>(
    operators: &Operators<T, Q>,
    upper: usize,
    own: &[T],
    flux: &[T],
    spare: &mut [T],
    out: &mut [T],
) {
    let n = const { sizes::nodes(D, Q) };
    spare.copy_from_slice(flux);
    let (stresses, heat) = spare.split_at_mut(D * n);
    for v in 0..D {
        for i in 0..n {
            heat[i] = (-stresses[v * n + i]).mul_add(own[v * n + i], heat[i]);
        }
    }
    ends::<Q, A, 1, T>([&operators.edges[upper]], spare, [out]);
}

/// The flux through a wall at one of some points, and then the pressure on it. `viscous` are coefficients, the penalty with the
/// side's sign, and the element's own flux.
#[inline(always)]
fn flux<const D: usize, T: Real>(
    gamma: T,
    face: usize,
    wall: At<'_, T>,
    viscous: Option<(&Coefficients<D, T>, T, &[T])>,
    (n, i): (usize, usize),
    trace: &[T],
    out: &mut [T],
) {
    let axis = face / 2;
    let u = |v: usize| trace[v * n + i];
    let inverse = T::of(1.0) / u(0);
    let mut square = u(1) * u(1);
    for a in 1..D {
        square = u(1 + a).mul_add(u(1 + a), square);
    }
    let kinetic = T::of(0.5) * (square * inverse);
    let pressure = (gamma - T::of(1.0)) * (u(1 + D) - kinetic);
    let sound = (gamma * pressure * inverse).sqrt();
    let normal = u(1 + axis) * inverse;
    let into = if face % 2 == 1 { normal } else { -normal };
    let speed = into.abs() + sound;
    let on_wall = (u(0) * into).mul_add(into + speed, pressure);
    let mut energy = T::ZERO;
    out[i] = T::ZERO;
    for v in 0..D {
        let mut value = if v == axis { on_wall } else { T::ZERO };
        if let Some((coefficients, penalty, own)) = viscous {
            let mut stress = T::ZERO;
            if wall.holds(v, axis) {
                let jump = u(1 + v) * inverse - wall.state[v];
                stress = (-(coefficients.viscosity * penalty)).mul_add(jump, own[v * n + i]);
            }
            energy = stress.mul_add(wall.state[v], energy);
            value -= stress;
        }
        out[(1 + v) * n + i] = value;
    }
    if let Some((coefficients, penalty, own)) = viscous
        && wall.kind == ISOTHERMAL
    {
        let jump = pressure * inverse - wall.state[D];
        energy += (-(coefficients.conductivity * penalty)).mul_add(jump, own[D * n + i]);
    }
    out[(1 + D) * n + i] = -energy;
    out[(2 + D) * n + i] = on_wall;
}

/// The fluxes through all walls: by slot, unknown and then the pressure, and point.
pub(super) fn walls<const D: usize, const Q: usize, T: Real>(
    task: &Task<'_, D, T>,
    viscous: &[T],
    out: &mut [T],
) {
    let (one, all) = (sizes::wall(D, Q), sizes::trace(D, Q));
    let (of_viscous, points) = (sizes::gradient_trace(D, Q), sizes::face(D, Q));
    for_chunks(
        out,
        one,
        #[inline(always)]
        |first, out| {
            for (i, out) in out.chunks_exact_mut(one).enumerate() {
                let slot = first + i;
                let at_face = task.walls.faces[slot] as usize;
                let (leaf, face) = (at_face / (2 * D), at_face % (2 * D));
                let trace = &task.traces[at_face * all..][..all];
                let wall = at::<D, T>(task.walls, slot);
                let viscous = task.viscosity.as_ref().map(|coefficients| {
                    let scale = T::of(f64::from(1u32 << task.levels[leaf]));
                    let penalty = task.penalty * (coefficients.slopes[face / 2] * scale);
                    let penalty = if face % 2 == 1 { penalty } else { -penalty };
                    (
                        coefficients,
                        penalty,
                        &viscous[slot * of_viscous..][..of_viscous],
                    )
                });
                for point in 0..points {
                    let at = (points, point);
                    flux::<D, T>(task.gamma, face, wall, viscous, at, trace, out);
                }
            }
        },
    );
}

/// The flux through the wall of a slot.
#[inline(always)]
pub(super) fn of_slot<const D: usize, const Q: usize, T>(fluxes: &[T], slot: usize) -> &[T] {
    let one = const { sizes::wall(D, Q) };
    &fluxes[slot * one..][..const { sizes::trace(D, Q) }]
}

/// The slots of leaves, cut into those of `chunk` leaves each.
pub(super) fn by_chunks<'a, const D: usize, T>(
    walls: &[u32],
    chunk: usize,
    leaves: usize,
    one: usize,
    out: &'a mut [T],
) -> Vec<&'a mut [T]> {
    let (mut rest, mut first) = (out, 0);
    let mut cut = Vec::with_capacity(leaves.div_ceil(chunk));
    for end in (0..leaves.div_ceil(chunk)).map(|c| (c + 1) * chunk * 2 * D) {
        let last = walls.partition_point(|&at| (at as usize) < end);
        let (own, others) = rest.split_at_mut((last - first) * one);
        cut.push(own);
        (rest, first) = (others, last);
    }
    cut
}
