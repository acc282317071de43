//! A stage of all elements: common fluxes, the derivative of the corrected flux, the Runge–Kutta update, new traces.

use super::{
    Fluxes, Operators, Task, low_first, mortar, prefetch, rusanov, sizes, vectorized, viscous,
    walls,
};
use crate::walls::{is_removed, slot};
use cutlink_amr::linear::Face;
use cutlink_device::Real;
use rayon::prelude::*;

/// Elements that a thread takes at once.
const CHUNK: usize = 16;

/// What an element needs besides its state.
struct Scratch<T> {
    /// Common fluxes, by face, unknown and point of the face.
    common: Vec<T>,
    /// Fluxes along an axis, by unknown and point.
    flux: Vec<T>,
    /// Velocity by axis and point, then pressure.
    primitive: Vec<T>,
    /// The new state.
    next: Vec<T>,
}

impl<T: Real> Scratch<T> {
    fn new<const D: usize, const Q: usize>() -> Self {
        let zeros = |len| vec![T::ZERO; len];
        Self {
            common: zeros(2 * D * sizes::trace(D, Q)),
            flux: zeros(sizes::element(D, Q)),
            primitive: zeros((1 + D) * sizes::nodes(D, Q)),
            next: zeros(sizes::element(D, Q)),
        }
    }
}

/// The common fluxes at the faces of a leaf. Of a conforming face, both sides compute the same.
#[inline(always)]
fn common<const D: usize, const Q: usize, const VISCOUS: bool, T: Real>(
    task: &Task<'_, D, T>,
    before: &Fluxes<'_, T>,
    leaf: u32,
    out: &mut [T],
) {
    let all = const { sizes::trace(D, Q) };
    let trace =
        |leaf: u32, face: usize| &task.traces[(leaf as usize * 2 * D + face) * all..][..all];
    for (face, out) in out.chunks_exact_mut(all).enumerate() {
        let at = task.faces.at(leaf, face);
        let beyond = match at {
            Face::Same(other) => trace(other, face ^ 1),
            Face::Outside => match slot(task.faces, leaf, face) {
                None => &task.far_field[..all],
                Some(slot) => {
                    out.copy_from_slice(walls::of_slot::<D, Q, T>(before.walls, slot));
                    continue;
                }
            },
            Face::Finer(slot) => {
                out.copy_from_slice(mortar::of_slot::<D, T>(before.mortars, all, slot));
                continue;
            }
            Face::Coarser { leaf, sub_face } => {
                let mortars = before.mortars;
                let flux = mortar::of_sub_face(task, mortars, all, face, leaf, sub_face);
                out.copy_from_slice(flux);
                continue;
            }
        };
        let (low, high) = low_first(face, trace(leaf, face), beyond);
        rusanov::<D, Q, T>(task.gamma, face / 2, low, high, out);
        if VISCOUS && let Face::Same(other) = at {
            let above = if face % 2 == 1 { other } else { leaf };
            let flux = viscous::at_lower::<D, Q, T>(before.viscous, above, face / 2);
            viscous::take::<D, T>(const { sizes::face(D, Q) }, flux, out);
        }
    }
}

/// Asks for the traces beyond the faces of a leaf, which lie anywhere.
#[inline(always)]
fn prefetch_beyond<const D: usize, const Q: usize, T: Real>(task: &Task<'_, D, T>, leaf: u32) {
    let all = const { sizes::trace(D, Q) };
    for face in 0..2 * D {
        if let Face::Same(other) = task.faces.at(leaf, face) {
            prefetch(&task.traces[(other as usize * 2 * D + (face ^ 1)) * all..][..all]);
        }
    }
}

/// Velocities by axis, and the pressure.
#[inline(always)]
fn primitives<const D: usize, const Q: usize, T: Real>(gamma: T, u: &[T], out: &mut [T]) {
    let n = const { sizes::nodes(D, Q) };
    let u = &u[..const { sizes::element(D, Q) }];
    let out = &mut out[..const { (1 + D) * sizes::nodes(D, Q) }];
    for i in 0..n {
        let inverse = T::of(1.0) / u[i];
        let mut square = T::ZERO;
        for a in 0..D {
            let momentum = u[(1 + a) * n + i];
            out[a * n + i] = momentum * inverse;
            square = momentum.mul_add(momentum, square);
        }
        let kinetic = T::of(0.5) * (square * inverse);
        out[D * n + i] = (gamma - T::of(1.0)) * (u[(1 + D) * n + i] - kinetic);
    }
}

/// The fluxes along axis `A`.
#[inline(always)]
fn fluxes<const D: usize, const Q: usize, const A: usize, T: Real>(
    u: &[T],
    primitive: &[T],
    out: &mut [T],
) {
    let n = const { sizes::nodes(D, Q) };
    let u = &u[..const { sizes::element(D, Q) }];
    let primitive = &primitive[..const { (1 + D) * sizes::nodes(D, Q) }];
    let out = &mut out[..const { sizes::element(D, Q) }];
    let (velocity, pressure) = (&primitive[A * n..][..n], &primitive[D * n..][..n]);
    out[..n].copy_from_slice(&u[(1 + A) * n..][..n]);
    for v in 1..=D {
        for i in 0..n {
            let flux = u[v * n + i] * velocity[i];
            out[v * n + i] = if v == 1 + A { flux + pressure[i] } else { flux };
        }
    }
    for i in 0..n {
        let at = (1 + D) * n + i;
        out[at] = (u[at] + pressure[i]) * velocity[i];
    }
}

/// Takes `rate` times the derivative of the corrected flux along axis `A` from the new state; `low` and `high` are the
/// common fluxes on the axis' faces. Without `MEETS` they count as 0.
#[inline(always)]
pub(super) fn subtract<const Q: usize, const A: usize, const MEETS: bool, T: Real>(
    operators: &Operators<T, Q>,
    flux: &[T],
    low: &[T],
    high: &[T],
    rate: T,
    next: &mut [T],
) {
    // Points between neighbours on the axis; lines of points that lie side by side are taken together.
    let stride = const { Q.pow(A as u32) };
    let lines = flux.chunks_exact(Q * stride);
    let lines = lines.zip(next.chunks_exact_mut(Q * stride));
    let ends = low.chunks_exact(stride).zip(high.chunks_exact(stride));
    for ((flux, next), (low, high)) in lines.zip(ends) {
        if A == 0 {
            let mut sum: [T; Q] = if MEETS {
                let sum = operators.corrections[0].map(|left| left * low[0]);
                std::array::from_fn(|i| operators.corrections[1][i].mul_add(high[0], sum[i]))
            } else {
                operators.columns[0].map(|first| first * flux[0])
            };
            for j in usize::from(!MEETS)..Q {
                for i in 0..Q {
                    sum[i] = operators.columns[j][i].mul_add(flux[j], sum[i]);
                }
            }
            for i in 0..Q {
                next[i] = (-rate).mul_add(sum[i], next[i]);
            }
            continue;
        }
        // Rows of Q points side by side: the lanes of a vector.
        for k in (0..stride).step_by(Q) {
            let (low, high) = (row::<Q, T>(low, k), row::<Q, T>(high, k));
            let rows: [[T; Q]; Q] = std::array::from_fn(|j| row(flux, j * stride + k));
            for i in 0..Q {
                let mut sum: [T; Q] = if MEETS {
                    let sum = low.map(|low| operators.corrections[0][i] * low);
                    std::array::from_fn(|l| operators.corrections[1][i].mul_add(high[l], sum[l]))
                } else {
                    rows[0].map(|flux| operators.divergence[i][0] * flux)
                };
                for j in usize::from(!MEETS)..Q {
                    for l in 0..Q {
                        sum[l] = operators.divergence[i][j].mul_add(rows[j][l], sum[l]);
                    }
                }
                let next = &mut next[i * stride + k..][..Q];
                for l in 0..Q {
                    next[l] = (-rate).mul_add(sum[l], next[l]);
                }
            }
        }
    }
}

/// Q numbers from place `at` on.
#[inline(always)]
fn row<const Q: usize, T: Real>(from: &[T], at: usize) -> [T; Q] {
    let from = &from[at..][..Q];
    std::array::from_fn(|l| from[l])
}

/// Traces of an element along axis `A`, each by the Lagrange polynomials at a place on the axis.
#[inline(always)]
pub(super) fn ends<const Q: usize, const A: usize, const N: usize, T: Real>(
    edges: [&[T; Q]; N],
    u: &[T],
    mut out: [&mut [T]; N],
) {
    let all = out[0].len();
    let stride = const { Q.pow(A as u32) };
    // Q points of a face at once, which are the lanes of a vector.
    for f in (0..all).step_by(Q) {
        let lanes: [[T; Q]; Q] = if A == 0 {
            let lines: [[T; Q]; Q] = std::array::from_fn(|l| row(u, (f + l) * Q));
            std::array::from_fn(|j| std::array::from_fn(|l| lines[l][j]))
        } else {
            let first = f / stride * Q * stride + f % stride;
            std::array::from_fn(|j| row(u, first + j * stride))
        };
        for (edge, out) in edges.iter().zip(&mut out) {
            let mut sum: [T; Q] = lanes[0].map(|u| edge[0] * u);
            for j in 1..Q {
                for l in 0..Q {
                    sum[l] = edge[j].mul_add(lanes[j][l], sum[l]);
                }
            }
            out[f..][..Q].copy_from_slice(&sum);
        }
    }
}

/// The traces of an element on the two faces of axis `A`.
#[inline(always)]
fn traces_of<const D: usize, const Q: usize, const A: usize, T: Real>(
    operators: &Operators<T, Q>,
    u: &[T],
    out: &mut [T],
) {
    let all = const { sizes::trace(D, Q) };
    let (low, high) = out[2 * A * all..][..2 * all].split_at_mut(all);
    let [lower, upper] = &operators.edges;
    ends::<Q, A, 2, T>([lower, upper], u, [low, high]);
}

/// The traces of an element, by face, unknown and point.
#[inline(always)]
pub(super) fn all_traces<const D: usize, const Q: usize, T: Real>(
    operators: &Operators<T, Q>,
    u: &[T],
    out: &mut [T],
) {
    traces_of::<D, Q, 0, T>(operators, u, out);
    traces_of::<D, Q, 1, T>(operators, u, out);
    if D == 3 {
        traces_of::<D, Q, 2, T>(operators, u, out);
    }
}

/// An axis of an element: fluxes, and their derivative taken from the new state.
#[inline(always)]
fn axis<const D: usize, const Q: usize, const A: usize, T: Real>(
    operators: &Operators<T, Q>,
    u: &[T],
    rates: &[T; D],
    scratch: &mut Scratch<T>,
) {
    fluxes::<D, Q, A, T>(u, &scratch.primitive, &mut scratch.flux);
    let Scratch {
        common, flux, next, ..
    } = scratch;
    let all = const { sizes::trace(D, Q) };
    let (low, high) = common[2 * A * all..][..2 * all].split_at(all);
    subtract::<Q, A, true, T>(operators, flux, low, high, rates[A], next);
}

/// A stage of some elements, the first of which is leaf `first`.
#[inline(always)]
fn elements<const D: usize, const Q: usize, const VISCOUS: bool, T: Real>(
    task: &Task<'_, D, T>,
    before: &Fluxes<'_, T>,
    operators: &Operators<T, Q>,
    first: usize,
    [u, start, traces]: [&mut [T]; 3],
) {
    let (one, faces) = const { (sizes::element(D, Q), 2 * D * sizes::trace(D, Q)) };
    let mut scratch = Scratch::<T>::new::<D, Q>();
    let elements = u
        .chunks_exact_mut(one)
        .zip(start.chunks_exact_mut(one))
        .zip(traces.chunks_exact_mut(faces));
    for (i, ((u, start), traces)) in elements.enumerate() {
        let leaf = first + i;
        if leaf + 1 < task.levels.len() {
            prefetch_beyond::<D, Q, T>(task, leaf as u32 + 1);
        }
        if is_removed(task.faces, leaf as u32) {
            // It stays as it is.
            if task.is_first {
                start.copy_from_slice(u);
            }
            continue;
        }
        common::<D, Q, VISCOUS, T>(task, before, leaf as u32, &mut scratch.common);
        primitives::<D, Q, T>(task.gamma, u, &mut scratch.primitive);
        if task.keep == T::ZERO {
            scratch.next.copy_from_slice(u);
        } else {
            for ((next, &u), &start) in scratch.next.iter_mut().zip(&*u).zip(&*start) {
                *next = task.keep.mul_add(start - u, u);
            }
        }
        let scale = T::of(f64::from(1u32 << task.levels[leaf]));
        let rates = task.rates.map(|rate| rate * scale);
        if VISCOUS {
            let one = const { sizes::rates(D, Q) };
            let by_viscosity = &before.rates[leaf * one..][..one];
            let next = &mut scratch.next[const { sizes::nodes(D, Q) }..];
            for (next, &rate) in next.iter_mut().zip(by_viscosity) {
                *next = task.time.mul_add(rate, *next);
            }
        }
        axis::<D, Q, 0, T>(operators, u, &rates, &mut scratch);
        axis::<D, Q, 1, T>(operators, u, &rates, &mut scratch);
        if D == 3 {
            axis::<D, Q, 2, T>(operators, u, &rates, &mut scratch);
        }
        let to = if task.is_first { start } else { u };
        to.copy_from_slice(&scratch.next);
        all_traces::<D, Q, T>(operators, &scratch.next, traces);
    }
}

/// See [`PrecisionKernels::advance`](super::PrecisionKernels::advance).
pub(super) fn advance<const D: usize, const Q: usize, T: Real>(
    task: &Task<'_, D, T>,
    before: &Fluxes<'_, T>,
    u: &mut [T],
    start: &mut [T],
    traces: &mut [T],
) {
    if task.viscosity.is_some() {
        all_elements::<D, Q, true, T>(task, before, [u, start, traces]);
    } else {
        all_elements::<D, Q, false, T>(task, before, [u, start, traces]);
    }
}

fn all_elements<const D: usize, const Q: usize, const VISCOUS: bool, T: Real>(
    task: &Task<'_, D, T>,
    before: &Fluxes<'_, T>,
    [u, start, traces]: [&mut [T]; 3],
) {
    let operators = &Operators::<T, Q>::of(task.basis);
    let (one, faces) = (sizes::element(D, Q), 2 * D * sizes::trace(D, Q));
    u.par_chunks_mut(CHUNK * one)
        .zip(start.par_chunks_mut(CHUNK * one))
        .zip(traces.par_chunks_mut(CHUNK * faces))
        .enumerate()
        .for_each(|(chunk, ((u, start), traces))| {
            vectorized(
                #[inline(always)]
                || {
                    let first = chunk * CHUNK;
                    let numbers = [u, start, traces];
                    elements::<D, Q, VISCOUS, T>(task, before, operators, first, numbers);
                },
            );
        });
}

/// See [`PrecisionKernels::traces`](super::PrecisionKernels::traces).
pub(super) fn traces<const D: usize, const Q: usize, T: Real>(
    basis: &crate::Basis,
    u: &[T],
    traces: &mut [T],
) {
    let operators = &Operators::<T, Q>::of(basis);
    u.par_chunks(sizes::element(D, Q))
        .zip(traces.par_chunks_mut(2 * D * sizes::trace(D, Q)))
        .for_each(|(u, traces)| {
            vectorized(
                #[inline(always)]
                || all_traces::<D, Q, T>(operators, u, traces),
            );
        });
}
