//! TRT (Ginzburg 2008), and BGK as its special case.

use super::{Fluid, Operator, Push, dot, isotropic, regularized, unrolled};
use crate::{
    kernels::Relaxation,
    lattice::{Lattice, MOST},
};
use cutlink_device::Real;

/// With `BULK` the trace of the stress relaxes with a time of 1; without `PUSHED` there is no acceleration.
pub(super) struct Trt<const BULK: bool, const PUSHED: bool>;

impl<L: Lattice, T: Real, const BULK: bool, const PUSHED: bool> Operator<L, T>
    for Trt<BULK, PUSHED>
{
    const READS_STRESS: bool = false;

    #[cfg_attr(optimized, inline(always))]
    fn relax(f: &mut [T; MOST], relax: &Relaxation<T>, fluid: &Fluid<T>, _: &[T; 6]) {
        relax_trt::<L, T, BULK, PUSHED>(f, relax, fluid);
    }

    #[cfg_attr(optimized, inline(always))]
    fn build(to: &Relaxation<T>, keep: T, fluid: &Fluid<T>, stress: &[T; 6]) -> [T; MOST] {
        regularized::build::<L, T>(to, keep, fluid, stress)
    }
}

#[cfg_attr(optimized, inline(always))]
fn relax_trt<L: Lattice, T: Real, const BULK: bool, const PUSHED: bool>(
    f: &mut [T; MOST],
    relax: &Relaxation<T>,
    fluid: &Fluid<T>,
) {
    let half = T::of(0.5);
    let [x, y, z] = fluid.u;
    let density = T::of(1.0) + fluid.rho;
    let base = fluid.rho - T::of(1.5) * density * (x * x + y * y + z * z);
    let push = Push::new::<PUSHED>(relax, fluid);
    let w0 = T::of(L::W[0]);
    let kept = match BULK {
        true => (T::of(1.0) - relax.even) * trace::<L, T>(f, fluid),
        false => T::of(0.0),
    };
    f[0] = f[0] - relax.even * (f[0] - w0 * base);
    if BULK {
        f[0] -= w0 * isotropic::<L, T>(0) * kept;
    }
    if PUSHED {
        f[0] += w0 * push.rest();
        if BULK {
            f[0] += w0 * push.bulk::<L>(0);
        }
    }
    unrolled!(k < L::Q / 2, {
        let (p, m) = (2 * k + 1, 2 * k + 2);
        let (w, along) = (T::of(L::W[p]), dot::<L, T>(p, &fluid.u));
        let even = w * (base + T::of(4.5) * density * along * along);
        let odd = w * T::of(3.0) * density * along;
        let change = relax.even * (half * (f[p] + f[m]) - even);
        let turn = relax.odd * (half * (f[p] - f[m]) - odd);
        f[p] = f[p] - change - turn;
        f[m] = f[m] - change + turn;
        if BULK {
            let kept = w * isotropic::<L, T>(p) * kept;
            f[p] -= kept;
            f[m] -= kept;
        }
        if PUSHED {
            let (mut pe, pull) = push.of::<L>(p, along);
            if BULK {
                pe += push.bulk::<L>(p);
            }
            let po = push.odd * T::of(3.0) * pull;
            f[p] += w * (pe + po);
            f[m] += w * (pe - po);
        }
    });
}

/// The trace of the non-equilibrium stress.
#[cfg_attr(optimized, inline(always))]
fn trace<L: Lattice, T: Real>(f: &[T; MOST], fluid: &Fluid<T>) -> T {
    let mut sum = T::of(0.0);
    unrolled!(q < L::Q, {
        let square: i32 = L::C[q].iter().map(|c| c * c).sum();
        if square > 0 {
            sum += T::of(f64::from(square)) * f[q];
        }
    });
    let [x, y, z] = fluid.u;
    let density = T::of(1.0) + fluid.rho;
    let thirds = T::of(L::KIND.dimensions() as f64 / 3.0);
    sum - density * (x * x + y * y + z * z) - thirds * fluid.rho
}
