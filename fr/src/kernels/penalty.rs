//! What bodies that cut elements take from the gas inside of them after a step: see [`embedded`](crate::EmbeddedBodies).

use super::{Operators, advance::all_traces, sizes, vectorized};
use crate::Basis;
use cutlink_device::{Backend, Host, Real};
use rayon::prelude::*;

/// Points in bodies.
#[derive(Debug)]
pub struct MaskTable<B: Backend = Host> {
    /// Elements with such points, ascending.
    pub elements: B::Buf<u32>,
    /// By such element and point, 0 in the gas, else 1 + the body.
    pub bodies: B::Buf<u8>,
}

/// What the stage reads.
#[derive(Debug)]
pub struct Penalty<'a, T: Real, B: Backend = Host> {
    /// The basis.
    pub basis: &'a Basis,
    /// Its matrices in the backend's memory.
    pub matrices: &'a B::Buf<T>,
    /// Where bodies are.
    pub table: &'a MaskTable<B>,
    /// By body, its inner energy over the density; 0 where it takes no heat.
    pub energies: &'a B::Buf<T>,
    /// The share of the velocity that goes: `1 - exp(-Δt / η)`.
    pub lost: T,
}

/// What a body takes at a point: momentum, then energy.
#[inline(always)]
fn losses<const D: usize, T: Real>(
    lost: T,
    energy: T,
    u: impl Fn(usize) -> T,
    mut out: impl FnMut(usize, T),
) {
    let (mut before, mut after) = (T::ZERO, T::ZERO);
    for a in 0..D {
        let own = u(1 + a);
        let loss = lost * own;
        let rest = own - loss;
        out(a, loss);
        before = own.mul_add(own, before);
        after = rest.mul_add(rest, after);
    }
    let density = u(0);
    let (before, after) = (T::of(0.5) * before / density, T::of(0.5) * after / density);
    let mut loss = before - after;
    if energy != T::ZERO {
        let inner = u(1 + D) - before;
        loss = lost.mul_add(inner - energy * density, loss);
    }
    out(D, loss);
}

/// See [`PrecisionKernels::penalize`](super::PrecisionKernels::penalize).
pub(super) fn penalize<const D: usize, const Q: usize, T: Real>(
    penalty: &Penalty<'_, T>,
    u: &mut [T],
    traces: &mut [T],
    out: &mut [T],
) {
    let (nodes, one) = (const { sizes::nodes(D, Q) }, const { sizes::element(D, Q) });
    let (slot, faces) = (nodes * (D + 1), 2 * D * sizes::trace(D, Q));
    let elements = &penalty.table.elements;
    out.par_chunks_mut(slot)
        .zip(penalty.table.bodies.par_chunks(nodes))
        .zip(elements)
        .for_each(|((out, bodies), &leaf)| {
            let u = &u[leaf as usize * one..][..one];
            for (node, &body) in bodies.iter().enumerate() {
                if let Some(body) = usize::from(body).checked_sub(1) {
                    let energy = penalty.energies[body];
                    let value = |v: usize| u[v * nodes + node];
                    losses::<D, T>(penalty.lost, energy, value, |v, loss| {
                        out[v * nodes + node] = loss
                    });
                }
            }
        });
    let operators = &Operators::<T, Q>::of(penalty.basis);
    u.par_chunks_mut(one)
        .zip(traces.par_chunks_mut(faces))
        .enumerate()
        .for_each(|(leaf, (u, traces))| {
            let Ok(at) = elements.binary_search(&(leaf as u32)) else {
                return;
            };
            for (u, loss) in u[nodes..].iter_mut().zip(&out[at * slot..][..slot]) {
                *u -= *loss;
            }
            vectorized(
                #[inline(always)]
                || all_traces::<D, Q, T>(operators, u, traces),
            );
        });
}
