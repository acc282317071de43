//! The entropic multi-relaxation collision of Karlin, Bösch & Chikatamarla 2014 on D2Q9 and D3Q27: the deviatoric stress
//! relaxes with the rate of the viscosity, all else with a rate that brings the entropy to its maximum, to second order in what
//! differs from the equilibrium. The equilibrium is the product of the axes' (Karlin & Asinari 2010).

use super::{Fluid, Operator, unrolled, without_trace};
use crate::{
    kernels::Relaxation,
    lattice::{Lattice, MOST},
};
use cutlink_device::Real;

pub(super) struct Kbc;

/// Weights of the velocities -1, 0, 1 along an axis.
const WEIGHTS: [f64; 3] = [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0];

/// One-dimensional equilibria Ψ of the velocities -1, 0, 1 along each axis, less the weights. In 2D that of z is not used.
type Shares<T> = [[T; 3]; 3];

#[cfg_attr(optimized, inline(always))]
fn shares<T: Real>(u: [T; 3]) -> Shares<T> {
    let half = T::of(0.5);
    let mut shares = [[T::of(0.0); 3]; 3];
    unrolled!(a < 3, {
        let square = u[a] * u[a];
        shares[a] = [half * (square - u[a]), -square, half * (square + u[a])];
    });
    shares
}

/// The weight of a velocity along an axis.
#[cfg_attr(optimized, inline(always))]
fn weight<L: Lattice>(q: usize, axis: usize) -> f64 {
    match axis < L::KIND.dimensions() {
        true => WEIGHTS[(L::C[q][axis] + 1) as usize],
        false => 1.0,
    }
}

/// A population of the equilibrium, less its weight.
#[cfg_attr(optimized, inline(always))]
fn equilibrium<L: Lattice, T: Real>(q: usize, rho: T, shares: &Shares<T>) -> T {
    let c = L::C[q];
    let [x, y, z] = [0, 1, 2].map(|a| T::of(weight::<L>(q, a)));
    let (dx, dy) = (
        shares[0][(c[0] + 1) as usize],
        shares[1][(c[1] + 1) as usize],
    );
    let mut flat = x * dy + y * dx + dx * dy;
    if L::KIND.dimensions() == 3 {
        let dz = shares[2][(c[2] + 1) as usize];
        flat = x * y * dz + flat * (z + dz);
    }
    T::of(L::W[q]) * rho + (T::of(1.0) + rho) * flat
}

/// What a population has of the deviatoric stress.
#[cfg_attr(optimized, inline(always))]
fn shear<L: Lattice, T: Real>(q: usize, deviator: &[T; 6]) -> T {
    let [xx, xy, xz, yy, yz, zz] = *deviator;
    let c = L::C[q];
    let quarter = |value: T, sign: i32| T::of(0.25 * f64::from(sign)) * value;
    match [c[0] != 0, c[1] != 0, c[2] != 0] {
        [true, false, false] => T::of(0.5) * xx,
        [false, true, false] => T::of(0.5) * yy,
        [false, false, true] => T::of(0.5) * zz,
        [true, true, false] => quarter(xy, c[0] * c[1]),
        [true, false, true] => quarter(xz, c[0] * c[2]),
        [false, true, true] => quarter(yz, c[1] * c[2]),
        _ => T::of(0.0),
    }
}

/// 1 / Ψ of the shares of density along an axis.
#[cfg_attr(optimized, inline(always))]
fn inverses<T: Real>(shares: &Shares<T>) -> Shares<T> {
    let mut inverses = *shares;
    unrolled!(a < 3, {
        unrolled!(n < 3, {
            inverses[a][n] = T::of(1.0) / (T::of(WEIGHTS[n]) + shares[a][n]);
        });
    });
    inverses
}

impl<L: Lattice, T: Real> Operator<L, T> for Kbc {
    const READS_STRESS: bool = true;

    /// The acceleration shifts the equilibrium by what it adds to the velocity (Kupershtokh, Medvedev & Karpov 2009).
    #[cfg_attr(optimized, inline(always))]
    fn relax(f: &mut [T; MOST], relax: &Relaxation<T>, fluid: &Fluid<T>, stress: &[T; 6]) {
        let (one, none, half) = (T::of(1.0), T::of(0.0), T::of(0.5));
        let (mut u, mut after, mut stress) = (fluid.u, fluid.u, *stress);
        let density = fluid.density();
        // Velocities before and after the acceleration; the stress is about the one before.
        let g = relax.acceleration;
        unrolled!(a < 3, {
            u[a] -= half * g[a];
            after[a] += half * g[a];
        });
        let v = fluid.u;
        unrolled!(n < 6, {
            let (a, b) = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)][n];
            stress[n] += density * (v[a] * v[b] - u[a] * u[b]);
        });
        let deviator = without_trace::<L, T>(&stress, one);
        let before = shares(u);
        let inverse = inverses(&before);
        let (mut both, mut square) = (none, none);
        unrolled!(q < L::Q, {
            let s = shear::<L, T>(q, &deviator);
            let h = f[q] - equilibrium::<L, T>(q, fluid.rho, &before) - s;
            let c = L::C[q];
            let mut by = inverse[0][(c[0] + 1) as usize] * inverse[1][(c[1] + 1) as usize];
            if L::KIND.dimensions() == 3 {
                by = by * inverse[2][(c[2] + 1) as usize];
            }
            both += s * h * by;
            square += h * h * by;
        });
        // (1 - βγ): what is left of the rest; nothing where levels meet, as of odd moments elsewhere.
        let free = if relax.odd == one { none } else { one };
        let left = free * (relax.even - one) * both / (square + T::of(1e-30));
        let keep = one - relax.even;
        let pushed = shares(after);
        unrolled!(q < L::Q, {
            let s = shear::<L, T>(q, &deviator);
            let h = f[q] - equilibrium::<L, T>(q, fluid.rho, &before) - s;
            f[q] = equilibrium::<L, T>(q, fluid.rho, &pushed) + keep * s + left * h;
        });
    }

    #[cfg_attr(optimized, inline(always))]
    fn build(to: &Relaxation<T>, keep: T, fluid: &Fluid<T>, stress: &[T; 6]) -> [T; MOST] {
        let deviator = without_trace::<L, T>(stress, T::of(1.0));
        let mut u = fluid.u;
        unrolled!(a < 3, {
            u[a] += T::of(0.5) * to.acceleration[a];
        });
        let shares = shares(u);
        let mut f = [T::of(0.0); MOST];
        unrolled!(q < L::Q, {
            let s = shear::<L, T>(q, &deviator);
            f[q] = equilibrium::<L, T>(q, fluid.rho, &shares) + keep * s;
        });
        f
    }
}
