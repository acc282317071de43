//! How well elements resolve a flow: what the highest modes of its polynomials tell of the error.

use crate::{
    EulerFlow,
    kernels::{Kernels, sizes},
    sensor::Modes,
};
use cutlink_device::larger_or_nan;
use rayon::prelude::*;

/// What the elements do not resolve of a flow: estimates of the error, relative to the deviation from the mean.
///
/// A wave exp(i k x) has a Legendre polynomial of degree m of norm √(2m+1) (κ)^m / (2m+1)!! in elements of edge h, with κ = k h / 2, so
/// the norms of the two highest ones tell κ; both, since one of them may be zero by symmetry. The one above the highest is missing
/// at once, and the upwind flux damps the wave by ½ (p! / (2p+1)!)² (2κ)^(2p+2) for each element that it passes (Ainsworth, J. Comput.
/// Phys. 198 (2004) 106, §4).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Unresolved {
    /// The error of the state as it is.
    pub now: f64,
    /// What it grows by, 1/s.
    pub rate: f64,
    /// Deviations of density and momentum from their means, over those of a wave of sound that doubles the density.
    pub deviation: f64,
}

/// Of a mode along an axis: the square of its norm, and that times the rate at which waves pass elements.
type Part = [f64; 2];

/// Sums over elements: the square of the deviation; by axis those of the two highest modes.
#[derive(Clone)]
struct Sums<const D: usize> {
    deviation: f64,
    modes: [[Part; 2]; D],
}

impl<const D: usize> Sums<D> {
    const NONE: Self = Self {
        deviation: 0.0,
        modes: [[[0.0; 2]; 2]; D],
    };

    fn and(mut self, of: &Self) -> Self {
        self.deviation += of.deviation;
        let parts = self.modes.as_flattened_mut().as_flattened_mut();
        for (sum, part) in parts.iter_mut().zip(of.modes.as_flattened().as_flattened()) {
            *sum += part;
        }
        self
    }
}

impl<const D: usize, T: Kernels<D>> EulerFlow<D, T> {
    /// What the elements do not resolve; nothing of a uniform flow. Costs about as much as a [`totals`](Self::totals) for each axis.
    pub fn unresolved(&self) -> Unresolved {
        (T::host_functions().unresolved)(self)
    }

    pub(crate) fn unresolved_here(&self) -> Unresolved {
        let (totals, volume, gamma) = (self.totals_here(), self.volume(), self.params().gamma);
        let density = totals.mass / volume;
        let velocity = totals.momentum.map(|m| m / totals.mass);
        let square: f64 = velocity.iter().map(|u| u * u).sum();
        let energy = totals.energy / totals.mass - 0.5 * square;
        let sound = (gamma * (gamma - 1.0) * energy).sqrt();
        let means = |v: usize| density * if v == 0 { 1.0 } else { velocity[v - 1] };
        let p = self.params().order;
        let modes: Vec<_> = (p.max(2) - 1..=p)
            .rev()
            .map(|degree| Modes::<D>::of(self.basis(), degree))
            .collect();
        let (nodes, one) = (self.nodes(), sizes::element(D, p + 1));
        let of_element = |leaf: usize| {
            let mut sums = Sums::NONE;
            if self.is_removed(leaf as u32) {
                return sums;
            }
            let edges = self.edges_of(leaf);
            let scale: f64 = edges.iter().map(|edge| 0.5 * edge).product();
            for v in 0..=D {
                let own = &self.unknowns()[leaf * one + v * nodes..][..nodes];
                let all: Vec<f64> = own.iter().map(|u| u.wide() - means(v)).collect();
                let weight = scale * if v == 0 { sound * sound } else { 1.0 };
                sums.deviation += weight * modes[0].norm(&all).powi(2);
                for (axis, parts) in sums.modes.iter_mut().enumerate() {
                    let passes = (velocity[axis].abs() + sound) / edges[axis];
                    for (part, mode) in parts.iter_mut().zip(&modes) {
                        let high = weight * mode.part(axis as u32, &all);
                        *part = [part[0] + high, part[1] + high * passes];
                    }
                }
            }
            sums
        };
        let parts: Vec<Sums<D>> = (0..self.leaves().len())
            .into_par_iter()
            .map(of_element)
            .collect();
        let sums = parts.iter().fold(Sums::NONE, Sums::and);
        let whole = volume * (density * sound).powi(2);
        estimate(&sums, p, (sums.deviation / whole).sqrt(), size_of::<T>())
    }
}

/// What sums tell of a flow of order p and this deviation, whose numbers have so many bytes.
fn estimate<const D: usize>(sums: &Sums<D>, p: usize, deviation: f64, bytes: usize) -> Unresolved {
    let rounding = if bytes == 4 { 1e-6 } else { 1e-10 };
    let mut of = Unresolved {
        deviation,
        ..Unresolved::default()
    };
    // Without a deviation modes are rounding; one that is not a number stays.
    if deviation <= rounding {
        return of;
    }
    for parts in &sums.modes {
        let half = |(below, &[high, _]): (usize, &Part)| {
            let norm = (high / sums.deviation).sqrt();
            half_width(p - below, norm)
        };
        let widest = parts
            .iter()
            .enumerate()
            .take(p.min(2))
            .map(half)
            .fold(0.0, larger_or_nan);
        let [high, passed] = parts[0].map(|x| x + f64::MIN_POSITIVE);
        let below = parts[1].map(|x| x + f64::MIN_POSITIVE);
        let of_below = if p > 1 { below[1] / below[0] } else { 0.0 };
        let rate = larger_or_nan(passed / high, of_below);
        let [next, damping] = errors(p, widest);
        of.now = of.now.hypot(next);
        of.rate += damping * rate;
    }
    of
}

/// 3 · 5 · … (2n + 1).
fn odd(n: usize) -> f64 {
    (1..=n).map(|k| (2 * k + 1) as f64).product()
}

/// κ of a wave by the norm of its mode of a degree.
fn half_width(degree: usize, norm: f64) -> f64 {
    let degrees = degree as f64;
    (norm * odd(degree) / (2.0 * degrees + 1.0).sqrt()).powf(1.0 / degrees)
}

/// The norm of the mode above the highest one of a wave, and its damping by an element that it passes.
fn errors(p: usize, half: f64) -> [f64; 2] {
    let next = (2.0 * p as f64 + 3.0).sqrt() * half.powi(p as i32 + 1) / odd(p + 1);
    let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
    let ratio = factorial(p) / factorial(2 * p + 1);
    let damping = 0.5 * ratio * ratio * (2.0 * half).powi(2 * p as i32 + 2);
    [next, damping]
}
