//! Recursive regularization up to third order (Malaspinas 2015). The trace of the stress relaxes with a time of 1: the bulk
//! viscosity is that of the grid, and damps sound (decision 016).

use super::{Fluid, Operator, Push, dot, unrolled, without_trace};
use crate::{
    constants::OperatorKind,
    kernels::Relaxation,
    lattice::{Lattice, MOST, cubic_shares},
};
use cutlink_device::Real;
use std::marker::PhantomData;

/// Without `PUSHED` there is no acceleration.
pub(super) struct Regularized<const PUSHED: bool>;

impl<L: Lattice, T: Real, const PUSHED: bool> Operator<L, T> for Regularized<PUSHED> {
    const READS_STRESS: bool = true;

    #[cfg_attr(optimized, inline(always))]
    fn relax(f: &mut [T; MOST], relax: &Relaxation<T>, fluid: &Fluid<T>, stress: &[T; 6]) {
        relax_regularized::<L, T, PUSHED>(f, relax, fluid, stress);
    }

    #[cfg_attr(optimized, inline(always))]
    fn build(to: &Relaxation<T>, keep: T, fluid: &Fluid<T>, stress: &[T; 6]) -> [T; MOST] {
        build::<L, T>(to, keep, fluid, stress)
    }
}

/// [`cubic_shares`] of all velocities, worked out when compiling.
struct Shares<L>(PhantomData<L>);

impl<L: Lattice> Shares<L> {
    const ALL: [[f64; 7]; MOST] = {
        let mut all = [[0.0; 7]; MOST];
        let mut q = 0;
        while q < L::Q {
            all[q] = cubic_shares::<L>(q);
            q += 1;
        }
        all
    };
}

/// Momentum flux of the equilibrium and of what is kept of the stress (xx, xy, xz, yy, yz, zz), and
/// third-order coefficients of both (Malaspinas 2015): xxy, xxz, xyy, yyz, xzz, yzz, xyz.
struct Orders<T> {
    flux: [T; 6],
    cubic: [T; 7],
}

impl<T: Real> Orders<T> {
    #[cfg_attr(optimized, inline(always))]
    fn new(fluid: &Fluid<T>, stress: &[T; 6], keep: T) -> Self {
        let [x, y, z] = fluid.u;
        let [xx, xy, xz, yy, yz, zz] = *stress;
        let (density, two) = (T::of(1.0) + fluid.rho, T::of(2.0));
        Self {
            flux: [
                density * x * x + keep * xx,
                density * x * y + keep * xy,
                density * x * z + keep * xz,
                density * y * y + keep * yy,
                density * y * z + keep * yz,
                density * z * z + keep * zz,
            ],
            cubic: [
                density * x * x * y + keep * (two * x * xy + y * xx),
                density * x * x * z + keep * (two * x * xz + z * xx),
                density * x * y * y + keep * (two * y * xy + x * yy),
                density * y * y * z + keep * (two * y * yz + z * yy),
                density * x * z * z + keep * (two * z * xz + x * zz),
                density * y * z * z + keep * (two * z * yz + y * zz),
                density * x * y * z + keep * (x * yz + y * xz + z * xy),
            ],
        }
    }

    /// What even parts have in common, which is the population at rest, weights apart.
    #[cfg_attr(optimized, inline(always))]
    fn base(&self, fluid: &Fluid<T>) -> T {
        fluid.rho - T::of(1.5) * (self.flux[0] + self.flux[3] + self.flux[5])
    }

    #[cfg_attr(optimized, inline(always))]
    fn even<L: Lattice>(&self, q: usize, base: T) -> T {
        let [cx, cy, cz] = L::C[q];
        let products = [cx * cx, cx * cy, cx * cz, cy * cy, cy * cz, cz * cz];
        let mut even = base;
        unrolled!(n < 6, {
            let times = if n == 0 || n == 3 || n == 5 { 4.5 } else { 9.0 } * f64::from(products[n]);
            if times != 0.0 {
                even += T::of(times) * self.flux[n];
            }
        });
        even
    }

    /// The third order's odd part.
    #[cfg_attr(optimized, inline(always))]
    fn odd<L: Lattice>(&self, q: usize) -> T {
        let shares = Shares::<L>::ALL[q];
        let mut odd = T::of(0.0);
        unrolled!(n < 7, {
            if shares[n] != 0.0 {
                odd += T::of(shares[n]) * self.cubic[n];
            }
        });
        odd
    }
}

#[cfg_attr(optimized, inline(always))]
fn relax_regularized<L: Lattice, T: Real, const PUSHED: bool>(
    f: &mut [T; MOST],
    relax: &Relaxation<T>,
    fluid: &Fluid<T>,
    stress: &[T; 6],
) {
    let stress = without_trace::<L, T>(stress, T::of(1.0));
    let orders = Orders::new(fluid, &stress, T::of(1.0) - relax.even);
    let density = T::of(1.0) + fluid.rho;
    let base = orders.base(fluid);
    let push = Push::new::<PUSHED>(relax, fluid);
    let w0 = T::of(L::W[0]);
    f[0] = w0 * base;
    if PUSHED {
        f[0] += w0 * (push.rest() + push.bulk::<L>(0));
    }
    unrolled!(k < L::Q / 2, {
        let (p, m) = (2 * k + 1, 2 * k + 2);
        let (w, along) = (T::of(L::W[p]), dot::<L, T>(p, &fluid.u));
        let mut even = orders.even::<L>(p, base);
        let mut odd = T::of(3.0) * density * along + orders.odd::<L>(p);
        if PUSHED {
            let (pe, pull) = push.of::<L>(p, along);
            // The half step of the acceleration is in the momentum already: the other half is missing.
            even += pe + push.bulk::<L>(p);
            odd += T::of(1.5) * pull;
        }
        f[p] = w * (even + odd);
        f[m] = w * (even - odd);
    });
}

/// Populations after collision; third-order parts only with an operator that makes them.
#[cfg_attr(optimized, inline(always))]
pub(super) fn build<L: Lattice, T: Real>(
    to: &Relaxation<T>,
    keep: T,
    fluid: &Fluid<T>,
    stress: &[T; 6],
) -> [T; MOST] {
    let third = T::of(f64::from(u8::from(
        to.operator == OperatorKind::Regularized as u32,
    )));
    let half_step = to.acceleration.map(|g| T::of(0.5) * g);
    let density = fluid.density();
    let orders = Orders::new(fluid, stress, keep);
    let base = orders.base(fluid);
    let mut f = [T::of(0.0); MOST];
    f[0] = T::of(L::W[0]) * base;
    unrolled!(k < L::Q / 2, {
        let (p, m) = (2 * k + 1, 2 * k + 2);
        let along = dot::<L, T>(p, &fluid.u) + dot::<L, T>(p, &half_step);
        let even = orders.even::<L>(p, base);
        let odd = T::of(3.0) * density * along + third * orders.odd::<L>(p);
        let w = T::of(L::W[p]);
        f[p] = w * (even + odd);
        f[m] = w * (even - odd);
    });
    f
}
