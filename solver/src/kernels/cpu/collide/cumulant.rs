//! Cumulants on D3Q27 with the parametrization of fourth-order diffusion (Geier, Pasquali & Schönherr 2017, parts I and II),
//! bulk viscosity with a rate of 1, all rates above the third order 1.
//!
//! Values are central moments less those of the fluid at rest with density 1 (their appendix), by powers of the velocity's components:
//! `m[a + 3 b + 9 c]`. Cumulants differ from central moments from the fourth order on. With rates of 1 those of order four and
//! above do not depend on what was before: so the transform stops at the third order.

use super::{Fluid, Operator, unrolled};
use crate::{
    constants::{LEAST_UNDAMPED, closure},
    kernels::Relaxation,
    lattice::{Lattice, MOST},
};
use cutlink_device::Real;

pub(super) struct Cumulant;

/// The smallest rate of the viscosity for which the optimized rates lie between 0 and 2: a viscosity of 1/42.
const LEAST_OPTIMIZED: f64 = 1.75;

/// Moments of the weights along an axis, for powers 0, 1, 2; and the weights of -1, 0, 1.
const POWERS: [f64; 3] = [1.0, 0.0, 1.0 / 3.0];
const WEIGHTS: [f64; 3] = [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0];

/// The sum of weights of the three values along an axis that a sweep takes, by line; steps between the three.
/// Sweeps go from z to x: axes before have powers, those behind velocities.
const SHIFTS: [[f64; 9]; 3] = {
    let mut shifts = [[0.0; 9]; 3];
    let mut line = 0;
    while line < 9 {
        let [low, high] = [line % 3, line / 3];
        shifts[0][line] = POWERS[low] * POWERS[high];
        shifts[1][line] = WEIGHTS[low] * POWERS[high];
        shifts[2][line] = WEIGHTS[low] * WEIGHTS[high];
        line += 1;
    }
    shifts
};
const STEPS: [usize; 3] = [1, 3, 9];

/// The first place of a line along an axis.
const fn first(axis: usize, line: usize) -> usize {
    let [low, high] = [line % 3, line / 3];
    match axis {
        0 => 3 * low + 9 * high,
        1 => low + 9 * high,
        _ => low + 3 * high,
    }
}

/// Where the population of a velocity is among the 27.
const fn place(c: [i32; 3]) -> usize {
    (13 + c[0] + 3 * c[1] + 9 * c[2]) as usize
}

/// From populations along an axis to central moments.
#[cfg_attr(optimized, inline(always))]
fn forward<T: Real, const AXIS: usize>(m: &mut [T; MOST], u: T) {
    unrolled!(line < 9, {
        let (at, step) = (first(AXIS, line), STEPS[AXIS]);
        let (low, rest, high) = (m[at], m[at + step], m[at + 2 * step]);
        let (sum, difference) = (high + low, high - low);
        m[at] = sum + rest;
        let carried = u * (m[at] + T::of(SHIFTS[AXIS][line]));
        m[at + step] = difference - carried;
        m[at + 2 * step] = sum - u * (difference + difference - carried);
    });
}

/// From central moments along an axis to populations.
#[cfg_attr(optimized, inline(always))]
fn backward<T: Real, const AXIS: usize>(m: &mut [T; MOST], u: T) {
    unrolled!(line < 9, {
        let (at, step) = (first(AXIS, line), STEPS[AXIS]);
        let (zeroth, one, two) = (m[at], m[at + step], m[at + 2 * step]);
        let carried = u * (zeroth + T::of(SHIFTS[AXIS][line]));
        let difference = one + carried;
        let sum = two + u * (one + difference);
        m[at] = T::of(0.5) * (sum - difference);
        m[at + step] = zeroth - sum;
        m[at + 2 * step] = T::of(0.5) * (sum + difference);
    });
}

/// Rates of the third order and factors of the fourth (part I, with a rate of 1 of the bulk viscosity).
struct Rates<T> {
    /// Of sums, of differences, and of xyz.
    third: [T; 3],
    a: T,
    b: T,
}

impl<T: Real> Rates<T> {
    #[cfg_attr(optimized, inline(always))]
    fn new(relax: &Relaxation<T>) -> Self {
        let of = |value: f64| T::of(value);
        let (one, w) = (of(1.0), relax.even);
        let less = w - of(2.0);
        let sums =
            of(8.0) * less * (one + of(2.0) * w) / (of(7.0) * w * w - of(14.0) * w - of(8.0));
        let differences =
            of(8.0) * less * (of(4.0) * w - of(7.0)) / (of(9.0) * w * w - of(50.0) * w + of(56.0));
        let product = of(24.0) * less * (of(3.0) * w * w - of(7.0) * w - of(2.0))
            / (((of(29.0) * w - of(130.0)) * w + of(152.0)) * w + of(48.0));
        let square = w * w;
        let a =
            (of(4.0) + of(2.0) * w - of(3.0) * square) / (of(2.0) - of(7.0) * w + of(5.0) * square);
        let b = (of(4.0) + of(28.0) * w - of(14.0) * square)
            / (of(6.0) - of(21.0) * w + of(15.0) * square);
        // Where levels meet, odd moments relax with a rate of 1.
        let is_low = w >= of(LEAST_OPTIMIZED);
        let is_free = is_low && relax.odd != one;
        // An eddy viscosity damps by itself.
        let least = match relax.closure {
            closure::NONE => one - of(1.0 / LEAST_UNDAMPED) * (one / w - of(0.5)),
            _ => of(0.0),
        };
        let third = [sums, differences, product].map(|rate| match is_free {
            true if rate > least => rate,
            true => least,
            false => one,
        });
        let none = of(0.0);
        Self {
            third,
            a: if is_low { a } else { none },
            b: if is_low { b } else { none },
        }
    }
}

/// What collision leaves of a third-order cumulant, with the limiter (part II).
#[cfg_attr(optimized, inline(always))]
fn left<T: Real>(value: T, rate: T, limit: T) -> T {
    let size = value.abs();
    let limited = rate + (T::of(1.0) - rate) * size / (limit + size);
    (T::of(1.0) - limited) * value
}

/// Collision: `m` has moments up to the third order before, and all of them after it.
#[cfg_attr(optimized, inline(always))]
fn collide<T: Real>(m: &mut [T; MOST], relax: &Relaxation<T>, u: [T; 3]) {
    let of = |value: f64| T::of(value);
    let (one, half, third, w) = (of(1.0), of(0.5), of(1.0 / 3.0), relax.even);
    let rates = Rates::new(relax);
    let rho = m[0];
    let density = one + rho;
    let inverse = one / density;

    // First order: the other half of the acceleration.
    let [x, y, z] = [-m[1], -m[3], -m[9]];

    // Second order, with velocity gradients times density.
    let (d1, d2) = (m[2] - m[6], m[2] - m[18]);
    let trace = m[2] + m[6] + m[18];
    let [ux, uy, uz] = [u[0] * u[0], u[1] * u[1], u[2] * u[2]];
    let dx = half * (rho - trace) - half * w * (d1 + d2);
    let dy = dx + of(1.5) * w * d1;
    let dz = dx + of(1.5) * w * d2;
    let galilean = of(3.0) * (one - half * w);
    let d1 = (one - w) * d1 - galilean * (ux * dx - uy * dy);
    let d2 = (one - w) * d2 - galilean * (ux * dx - uz * dz);
    let trace = rho - of(1.5) * (ux * dx + uy * dy + uz * dz);
    let xx = third * (d1 + d2 + trace);
    let (yy, zz) = (xx - d1, xx - d2);
    let [xy, xz, yz] = [(one - w) * m[4], (one - w) * m[10], (one - w) * m[12]];

    // Fourth-order cumulants, of the gradients.
    let slow = one / w - half;
    let even = of(-2.0 / 3.0) * slow * rates.a;
    let mixed = slow * rates.b * w;
    let [cyz, cxz, cxy] = [even * (dy + dz), even * (dx + dz), even * (dx + dy)];
    let [mx, my, mz] = [mixed * m[12], mixed * m[10], mixed * m[4]];

    // Third order: xyy ± xzz, xxy ± yzz, xxz ± yyz, xyz.
    let limit = density * relax.parameter;
    let [s, d, p] = rates.third;
    let (sum, difference) = (left(m[7] + m[19], s, limit), left(m[7] - m[19], d, limit));
    let (xyy, xzz) = (half * (sum + difference), half * (sum - difference));
    let (sum, difference) = (left(m[5] + m[21], s, limit), left(m[5] - m[21], d, limit));
    let (xxy, yzz) = (half * (sum + difference), half * (sum - difference));
    let (sum, difference) = (left(m[11] + m[15], s, limit), left(m[11] - m[15], d, limit));
    let (xxz, yyz) = (half * (sum + difference), half * (sum - difference));
    let xyz = left(m[13], p, limit);

    // Moments of the fourth, fifth and sixth order, of cumulants and lower moments.
    let (two, four) = (of(2.0), of(4.0));
    let ninth = of(1.0 / 9.0) * rho;
    let [sx, sy, sz] = [xx + third, yy + third, zz + third];
    let xxyy = cxy + inverse * (xx * yy + two * xy * xy + third * (xx + yy) - ninth);
    let xxzz = cxz + inverse * (xx * zz + two * xz * xz + third * (xx + zz) - ninth);
    let yyzz = cyz + inverse * (yy * zz + two * yz * yz + third * (yy + zz) - ninth);
    let xxyz = mx + inverse * (sx * yz + two * xy * xz);
    let xyyz = my + inverse * (sy * xz + two * xy * yz);
    let xyzz = mz + inverse * (sz * xy + two * xz * yz);
    let xyyzz = inverse * (sz * xyy + sy * xzz + four * yz * xyz + two * (xz * yyz + xy * yzz));
    let xxyzz = inverse * (sz * xxy + sx * yzz + four * xz * xyz + two * (yz * xxz + xy * xzz));
    let xxyyz = inverse * (sy * xxz + sx * yyz + four * xy * xyz + two * (yz * xxy + xz * xyy));
    let pairs = xx * yyzz + yy * xxzz + zz * xxyy;
    let sums = of(1.0 / 9.0) * (xx + yy + zz) + third * (xxyy + xxzz + yyzz);
    let mixed = yz * xxyz + xz * xyyz + xy * xyzz;
    let odd = xyy * xzz + xxy * yzz + xxz * yyz;
    let products = of(16.0) * xy * xz * yz
        + four * (xz * xz * sy + yz * yz * sx + xy * xy * sz)
        + two * xx * yy * zz
        + of(2.0 / 3.0) * (xx * yy + xx * zz + yy * zz)
        + of(2.0 / 9.0) * (xx + yy + zz);
    let xxyyzz = inverse
        * (four * xyz * xyz
            + pairs
            + sums
            + four * mixed
            + two * odd
            + inverse * (of(1.0 / 27.0) * rho * (one - rho) - products));
    *m = [
        rho, x, xx, y, xy, xxy, yy, xyy, xxyy, z, xz, xxz, yz, xyz, xxyz, yyz, xyyz, xxyyz, zz,
        xzz, xxzz, yzz, xyzz, xxyzz, yyzz, xyyzz, xxyyzz,
    ];
}

/// From all central moments to populations.
#[cfg_attr(optimized, inline(always))]
fn populations<L: Lattice, T: Real>(m: &mut [T; MOST], u: [T; 3]) -> [T; MOST] {
    backward::<T, 0>(m, u[0]);
    backward::<T, 1>(m, u[1]);
    backward::<T, 2>(m, u[2]);
    let mut f = [T::of(0.0); MOST];
    unrolled!(q < L::Q, {
        f[q] = m[place(L::C[q])];
    });
    f
}

impl<L: Lattice, T: Real> Operator<L, T> for Cumulant {
    const READS_STRESS: bool = false;

    #[cfg_attr(optimized, inline(always))]
    fn relax(f: &mut [T; MOST], relax: &Relaxation<T>, fluid: &Fluid<T>, _: &[T; 6]) {
        let mut m = [T::of(0.0); MOST];
        unrolled!(q < L::Q, {
            m[place(L::C[q])] = f[q];
        });
        forward::<T, 2>(&mut m, fluid.u[2]);
        forward::<T, 1>(&mut m, fluid.u[1]);
        forward::<T, 0>(&mut m, fluid.u[0]);
        collide(&mut m, relax, fluid.u);
        *f = populations::<L, T>(&mut m, fluid.u);
    }

    #[cfg_attr(optimized, inline(always))]
    fn build(to: &Relaxation<T>, _: T, fluid: &Fluid<T>, stress: &[T; 6]) -> [T; MOST] {
        let (half, density) = (T::of(0.5), fluid.density());
        let third = T::of(1.0 / 3.0) * fluid.rho;
        let mut m = [T::of(0.0); MOST];
        m[0] = fluid.rho;
        unrolled!(a < 3, {
            m[STEPS[a]] = -(half * density * to.acceleration[a]);
        });
        // About a velocity with half a step of the acceleration more than the momentum has.
        let (u, g) = (fluid.u, to.acceleration);
        let [xx, xy, xz, yy, yz, zz] = *stress;
        let push = |a: usize, b: usize| half * density * (u[a] * g[b] + u[b] * g[a]);
        m[2] = xx + third + push(0, 0);
        m[4] = xy + push(0, 1);
        m[6] = yy + third + push(1, 1);
        m[10] = xz + push(0, 2);
        m[12] = yz + push(1, 2);
        m[18] = zz + third + push(2, 2);
        collide(&mut m, to, u);
        populations::<L, T>(&mut m, u)
    }
}
