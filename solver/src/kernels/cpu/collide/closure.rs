//! Eddy viscosity from the non-equilibrium stress Π, without its trace (Π:Π and det Π below).
//!
//! With S = -3 Π / (2 ρ τ) a model ν_t(S) that is linear in |S| makes of τ = τ₀ + 3 ν_t a quadratic equation (Hou, Sterling,
//! Chen & Doolen 1996): τ = (τ₀ + √(τ₀² + 18 X / ρ)) / 2, with X = √2 C² √(Π:Π) for Smagorinsky (1963) and
//! X = C max(det Π, 0) / (Π:Π / 2) for QR (Verstappen 2011, Δ = 1).

use super::without_trace;
use crate::{
    constants::{closure, odd},
    kernels::Relaxation,
    lattice::Lattice,
};
use cutlink_device::Real;

/// X of the module's text.
#[cfg_attr(optimized, inline(always))]
fn model<L: Lattice, T: Real>(relax: &Relaxation<T>, stress: &[T; 6]) -> T {
    let [xx, xy, xz, yy, yz, zz] = without_trace::<L, T>(stress, T::of(1.0));
    let two = T::of(2.0);
    let square = xx * xx + yy * yy + zz * zz + two * (xy * xy + xz * xz + yz * yz);
    if relax.closure == closure::SMAGORINSKY {
        relax.eddy * square.sqrt()
    } else {
        let det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
        let det = if det > T::of(0.0) { det } else { T::of(0.0) };
        // No stress, no viscosity.
        relax.eddy * det / (T::of(0.5) * square + T::of(1e-30))
    }
}

/// The relaxation time of viscosity and eddy viscosity, of the stress before collision.
#[cfg_attr(optimized, inline(always))]
pub(super) fn tau<L: Lattice, T: Real>(relax: &Relaxation<T>, density: T, stress: &[T; 6]) -> T {
    let x = model::<L, T>(relax, stress);
    T::of(0.5) * (relax.tau + (relax.tau * relax.tau + T::of(18.0) * x / density).sqrt())
}

/// The same of a rate of strain: of the stress that the viscosity alone would have.
#[cfg_attr(optimized, inline(always))]
pub(super) fn tau_of_strain<L: Lattice, T: Real>(
    relax: &Relaxation<T>,
    density: T,
    stress: &[T; 6],
) -> T {
    relax.tau + T::of(4.5) * model::<L, T>(relax, stress) / (density * relax.tau)
}

/// The rates of a cell with this relaxation time.
#[cfg_attr(optimized, inline(always))]
pub(super) fn rates<T: Real>(relax: &Relaxation<T>, tau: T) -> Relaxation<T> {
    let even = T::of(1.0) / tau;
    let odd = match relax.odd_by {
        odd::AS_EVEN => even,
        odd::MAGIC => {
            let half = T::of(0.5);
            T::of(1.0) / (half + relax.parameter / (tau - half))
        }
        _ => relax.odd,
    };
    Relaxation {
        even,
        odd,
        tau,
        ..*relax
    }
}
