//! Viscous fluxes by the local discontinuous Galerkin method (Cockburn & Shu 1998), axis by axis.
//!
//! Velocity and temperature p / ρ have corrected gradients. At a face their common value is that of the side of lower
//! coordinates, and the common viscous flux is that of the other side: the switch β = 1/2 on all axes, for which no
//! penalty is needed. At a far-field face the common value is the inner one, and the viscous flux is zero. `walls.rs` has
//! walls.

use super::{
    CHUNK, Coefficients, Operators, Task,
    advance::{ends, subtract},
    for_chunks, mortar, sizes, vectorized, walls,
};
use crate::walls::{is_removed, slot};
use cutlink_amr::linear::Face;
use cutlink_device::Real;
use rayon::prelude::*;

/// Velocity by axis, then p / ρ, at some points of which `u` has the unknowns.
#[inline(always)]
fn variables<const D: usize, T: Real>(gamma: T, points: usize, u: &[T], out: &mut [T]) {
    let n = points;
    let (u, out) = (&u[..(D + 2) * n], &mut out[..(D + 1) * n]);
    for i in 0..n {
        let inverse = T::of(1.0) / u[i];
        let mut square = T::ZERO;
        for a in 0..D {
            let momentum = u[(1 + a) * n + i];
            out[a * n + i] = momentum * inverse;
            square = momentum.mul_add(momentum, square);
        }
        let kinetic = T::of(0.5) * (square * inverse);
        let pressure = (gamma - T::of(1.0)) * (u[(1 + D) * n + i] - kinetic);
        out[D * n + i] = pressure * inverse;
    }
}

/// What the viscous fluxes of an element are made with.
struct Scratch<T> {
    /// Common variables, by face, variable and point of the face.
    common: Vec<T>,
    /// Variables by point.
    own: Vec<T>,
    /// Gradients, by axis, variable and point.
    gradients: Vec<T>,
    /// The viscous flux along an axis, by unknown without ρ and point.
    flux: Vec<T>,
    /// The same with the conducted heat in place of the energy.
    spare: Vec<T>,
}

impl<T: Real> Scratch<T> {
    fn new<const D: usize, const Q: usize>() -> Self {
        let zeros = |len| vec![T::ZERO; len];
        let all = sizes::gradients(D) * sizes::nodes(D, Q);
        Self {
            common: zeros(2 * D * sizes::gradient_trace(D, Q)),
            own: zeros(all),
            gradients: zeros(D * all),
            flux: zeros(all),
            spare: zeros(all),
        }
    }
}

/// The common velocities and temperatures at the faces of a leaf.
#[inline(always)]
fn common<const D: usize, const Q: usize, T: Real>(
    task: &Task<'_, D, T>,
    states: &[T],
    leaf: u32,
    out: &mut [T],
) {
    let (all, of_trace) = const { (sizes::gradient_trace(D, Q), sizes::trace(D, Q)) };
    let trace = |leaf: u32, face: usize| {
        &task.traces[(leaf as usize * 2 * D + face) * of_trace..][..of_trace]
    };
    for (face, out) in out.chunks_exact_mut(all).enumerate() {
        let from = match task.faces.at(leaf, face) {
            Face::Same(other) if face % 2 == 0 => trace(other, face + 1),
            Face::Same(_) | Face::Outside => trace(leaf, face),
            Face::Finer(slot) => {
                out.copy_from_slice(mortar::of_slot::<D, T>(states, all, slot));
                continue;
            }
            Face::Coarser { leaf, sub_face } => {
                let state = mortar::of_sub_face(task, states, all, face, leaf, sub_face);
                out.copy_from_slice(state);
                continue;
            }
        };
        let points = const { sizes::face(D, Q) };
        variables::<D, T>(task.gamma, points, from, out);
        if let Some(slot) = slot(task.faces, leaf, face) {
            walls::at::<D, T>(task.walls, slot).hold::<D>(points, face / 2, out);
        }
    }
}

/// The gradients along axis `A`.
#[inline(always)]
fn gradients_along<const D: usize, const Q: usize, const A: usize, T: Real>(
    operators: &Operators<T, Q>,
    slope: T,
    scratch: &mut Scratch<T>,
) {
    let (trace, all) = const {
        let all = sizes::gradients(D) * sizes::nodes(D, Q);
        (sizes::gradient_trace(D, Q), all)
    };
    let (low, high) = scratch.common[2 * A * trace..][..2 * trace].split_at(trace);
    let out = &mut scratch.gradients[A * all..][..all];
    out.fill(T::ZERO);
    subtract::<Q, A, true, T>(operators, &scratch.own[..all], low, high, -slope, out);
}

/// The gradients of velocity and temperature in a leaf, into `scratch`.
#[inline(always)]
fn gradients<const D: usize, const Q: usize, T: Real>(
    task: &Task<'_, D, T>,
    slopes: &[T; D],
    states: &[T],
    operators: &Operators<T, Q>,
    leaf: usize,
    u: &[T],
    scratch: &mut Scratch<T>,
) {
    common::<D, Q, T>(task, states, leaf as u32, &mut scratch.common);
    let nodes = const { sizes::nodes(D, Q) };
    variables::<D, T>(task.gamma, nodes, u, &mut scratch.own);
    gradients_along::<D, Q, 0, T>(operators, slopes[0], scratch);
    gradients_along::<D, Q, 1, T>(operators, slopes[1], scratch);
    if D == 3 {
        gradients_along::<D, Q, 2, T>(operators, slopes[2], scratch);
    }
}

/// The viscous fluxes along axis `A` into `scratch`, which has the gradients: stresses μ (∂_A v_i + ∂_i v_A - 2/3 δ div v),
/// and their power with the conducted heat.
#[inline(always)]
fn fluxes<const D: usize, const Q: usize, const A: usize, T: Real>(
    coefficients: &Coefficients<D, T>,
    scratch: &mut Scratch<T>,
) {
    let (n, all) = const {
        let n = sizes::nodes(D, Q);
        (n, sizes::gradients(D) * n)
    };
    let (own, gradients) = (&scratch.own[..all], &scratch.gradients[..D * all]);
    let out = &mut scratch.flux[..all];
    let slope = |axis: usize, variable: usize, i: usize| gradients[axis * all + variable * n + i];
    for v in 0..D {
        for i in 0..n {
            let strain = if v == A {
                let mut divergence = slope(0, 0, i);
                for b in 1..D {
                    divergence += slope(b, b, i);
                }
                let twice = slope(A, A, i) + slope(A, A, i);
                T::of(-2.0 / 3.0).mul_add(divergence, twice)
            } else {
                slope(A, v, i) + slope(v, A, i)
            };
            out[v * n + i] = coefficients.viscosity * strain;
        }
    }
    for i in 0..n {
        let mut energy = coefficients.conductivity * slope(A, D, i);
        for v in 0..D {
            energy = out[v * n + i].mul_add(own[v * n + i], energy);
        }
        out[D * n + i] = energy;
    }
}

/// The viscous trace on the lower face of axis `A`, and what the fluxes along it add to the rates; `at_walls` are the places
/// for the viscous fluxes at walls on both faces of the axis, empty where there is none.
#[inline(always)]
fn axis<const D: usize, const Q: usize, const A: usize, T: Real>(
    coefficients: &Coefficients<D, T>,
    slopes: &[T; D],
    operators: &Operators<T, Q>,
    scratch: &mut Scratch<T>,
    [traces, rates]: [&mut [T]; 2],
    at_walls: [&mut [T]; 2],
) {
    let all = const { sizes::gradient_trace(D, Q) };
    fluxes::<D, Q, A, T>(coefficients, scratch);
    let low = &mut traces[A * all..][..all];
    ends::<Q, A, 1, T>([&operators.edges[0]], &scratch.flux, [low]);
    for (upper, out) in at_walls.into_iter().enumerate() {
        if !out.is_empty() {
            let Scratch {
                own, flux, spare, ..
            } = &mut *scratch;
            walls::viscous_trace::<D, Q, A, T>(operators, upper, own, flux, spare, out);
        }
    }
    // Common fluxes come with the inviscid ones.
    let none = &scratch.common[..all];
    subtract::<Q, A, false, T>(operators, &scratch.flux, none, none, -slopes[A], rates);
}

/// See [`PrecisionKernels::viscous_rates`](super::PrecisionKernels::viscous_rates).
pub(super) fn rates<const D: usize, const Q: usize, T: Real>(
    task: &Task<'_, D, T>,
    states: &[T],
    u: &[T],
    [traces, rates, at_walls]: [&mut [T]; 3],
) {
    let operators = &Operators::<T, Q>::of(task.basis);
    let (of_traces, of_rates) = (sizes::viscous(D, Q), sizes::rates(D, Q));
    let (leaves, of_wall) = (task.levels.len(), sizes::gradient_trace(D, Q));
    let at_walls = walls::by_chunks::<D, T>(&task.walls.faces, CHUNK, leaves, of_wall, at_walls);
    traces
        .par_chunks_mut(CHUNK * of_traces)
        .zip(rates.par_chunks_mut(CHUNK * of_rates))
        .zip(at_walls)
        .enumerate()
        .for_each(|(chunk, out)| {
            vectorized(
                #[inline(always)]
                || elements::<D, Q, T>(task, states, operators, chunk * CHUNK, u, out),
            );
        });
}

/// Viscous traces and rates of some elements, and the viscous fluxes at their walls.
type Out<'a, T> = ((&'a mut [T], &'a mut [T]), &'a mut [T]);

/// The viscous traces and rates of some elements, the first of which is leaf `first`.
#[inline(always)]
fn elements<const D: usize, const Q: usize, T: Real>(
    task: &Task<'_, D, T>,
    states: &[T],
    operators: &Operators<T, Q>,
    first: usize,
    u: &[T],
    ((traces, rates), mut at_walls): Out<'_, T>,
) {
    let coefficients = &task.viscosity.expect("a viscous flow");
    let (element, of_wall) = const { (sizes::element(D, Q), sizes::gradient_trace(D, Q)) };
    let mut scratch = Scratch::new::<D, Q>();
    let all = traces
        .chunks_exact_mut(const { sizes::viscous(D, Q) })
        .zip(rates.chunks_exact_mut(const { sizes::rates(D, Q) }));
    for (i, (traces, rates)) in all.enumerate() {
        let leaf = first + i;
        if is_removed(task.faces, leaf as u32) {
            continue;
        }
        let scale = T::of(f64::from(1u32 << task.levels[leaf]));
        let slopes = &coefficients.slopes.map(|slope| slope * scale);
        let u = &u[leaf * element..][..element];
        gradients::<D, Q, T>(task, slopes, states, operators, leaf, u, &mut scratch);
        rates.fill(T::ZERO);
        let with = &mut scratch;
        // Slots are in the order of faces.
        let mut next = |axis: usize| -> [&mut [T]; 2] {
            [2 * axis, 2 * axis + 1].map(|face| {
                let has_wall = slot(task.faces, leaf as u32, face).is_some();
                let len = if has_wall { of_wall } else { 0 };
                let own;
                (own, at_walls) = std::mem::take(&mut at_walls).split_at_mut(len);
                own
            })
        };
        let out = [&mut *traces, &mut *rates];
        axis::<D, Q, 0, T>(coefficients, slopes, operators, with, out, next(0));
        let out = [&mut *traces, &mut *rates];
        axis::<D, Q, 1, T>(coefficients, slopes, operators, with, out, next(1));
        if D == 3 {
            let out = [&mut *traces, &mut *rates];
            axis::<D, Q, 2, T>(coefficients, slopes, operators, with, out, next(2));
        }
    }
}

/// The common velocities and temperatures of all hanging faces: by slot, sub-face (and then the whole face), variable and
/// point.
pub(super) fn common_states<const D: usize, const Q: usize, T: Real>(
    task: &Task<'_, D, T>,
    out: &mut [T],
) {
    let operators = &Operators::<T, Q>::of(task.basis);
    let (one, all) = (sizes::common_slot(D, Q), sizes::gradient_trace(D, Q));
    let (of_trace, points) = (sizes::trace(D, Q), sizes::face(D, Q));
    for_chunks(
        out,
        one,
        #[inline(always)]
        |first, out| {
            let mut low = vec![T::ZERO; of_trace];
            for (i, out) in out.chunks_exact_mut(one).enumerate() {
                let (out, whole) = out.split_at_mut(sizes::parts(D) * all);
                let slot = first + i;
                let at = task.faces.slots[slot] as usize;
                let finer = task.faces.finer(slot as u32);
                for (part, out) in out.chunks_exact_mut(all).enumerate() {
                    if at % 2 == 1 {
                        let coarse = &task.traces[at * of_trace..][..of_trace];
                        mortar::to_sub_face::<D, Q, T>(operators, part, coarse, &mut low);
                    } else {
                        let beyond = finer[part] as usize * 2 * D + (at % (2 * D) + 1);
                        low.copy_from_slice(&task.traces[beyond * of_trace..][..of_trace]);
                    }
                    variables::<D, T>(task.gamma, points, &low, out);
                }
                mortar::gather::<D, Q, T>(operators, out, whole);
            }
        },
    );
}

/// Takes a viscous flux from an inviscid one, by unknown and point.
#[inline(always)]
pub(super) fn take<const D: usize, T: Real>(points: usize, viscous: &[T], flux: &mut [T]) {
    let flux = &mut flux[points..][..(D + 1) * points];
    for (flux, &viscous) in flux.iter_mut().zip(viscous) {
        *flux -= viscous;
    }
}

/// The viscous trace of a leaf on the lower face of an axis.
#[inline(always)]
pub(super) fn at_lower<const D: usize, const Q: usize, T>(
    viscous: &[T],
    leaf: u32,
    axis: usize,
) -> &[T] {
    let all = const { sizes::gradient_trace(D, Q) };
    &viscous[(leaf as usize * D + axis) * all..][..all]
}
