//! The common flux of two states: Rusanov's, ½ (F(low) + F(high)) - ½ λ (high - low), with the larger |v_n| + c of both
//! sides as λ.

use super::sizes;
use cutlink_device::Real;

/// A side of a face at a point: normal velocity, pressure and fastest wave.
#[derive(Clone, Copy)]
struct Side<T> {
    normal: T,
    pressure: T,
    speed: T,
}

/// One side at point `i`, with the face's normal along axis `A`.
#[inline(always)]
fn side<const D: usize, const Q: usize, const A: usize, T: Real>(
    gamma: T,
    u: &[T],
    i: usize,
) -> Side<T> {
    let n = const { sizes::face(D, Q) };
    let inverse = T::of(1.0) / u[i];
    let normal = u[(1 + A) * n + i] * inverse;
    let mut square = u[n + i] * u[n + i];
    for a in 1..D {
        let momentum = u[(1 + a) * n + i];
        square = momentum.mul_add(momentum, square);
    }
    let kinetic = T::of(0.5) * (square * inverse);
    let pressure = (gamma - T::of(1.0)) * (u[(1 + D) * n + i] - kinetic);
    let sound = (gamma * pressure * inverse).sqrt();
    Side {
        normal,
        pressure,
        speed: normal.abs() + sound,
    }
}

/// The common fluxes at the points of a face: traces by unknown and point in, fluxes by unknown and point out.
#[inline(always)]
fn along<const D: usize, const Q: usize, const A: usize, T: Real>(
    gamma: T,
    low: &[T],
    high: &[T],
    out: &mut [T],
) {
    let n = const { sizes::face(D, Q) };
    let all = const { sizes::unknowns(D) * sizes::face(D, Q) };
    let (low, high, out) = (&low[..all], &high[..all], &mut out[..all]);
    let half = T::of(0.5);
    for i in 0..n {
        let left = side::<D, Q, A, T>(gamma, low, i);
        let right = side::<D, Q, A, T>(gamma, high, i);
        let speed = left.speed.larger(right.speed);
        for v in 0..const { sizes::unknowns(D) } {
            let at = v * n + i;
            let mut sum = if v == 0 {
                low[(1 + A) * n + i] + high[(1 + A) * n + i]
            } else {
                low[at].mul_add(left.normal, high[at] * right.normal)
            };
            if v == 1 + A {
                sum += left.pressure + right.pressure;
            } else if v == 1 + D {
                let work = left
                    .pressure
                    .mul_add(left.normal, right.pressure * right.normal);
                sum += work;
            }
            out[at] = half * (-speed).mul_add(high[at] - low[at], sum);
        }
    }
}

/// The common fluxes at the points of a face with its normal along `axis`. Traces and fluxes are by unknown, then point;
/// `low` is the side of lower coordinates.
#[inline(always)]
pub fn rusanov<const D: usize, const Q: usize, T: Real>(
    gamma: T,
    axis: usize,
    low: &[T],
    high: &[T],
    out: &mut [T],
) {
    match axis {
        0 => along::<D, Q, 0, T>(gamma, low, high, out),
        1 => along::<D, Q, 1, T>(gamma, low, high, out),
        _ if D == 3 => along::<D, Q, 2, T>(gamma, low, high, out),
        _ => unreachable!("a face should be along an axis"),
    }
}
