//! The entropic multi-relaxation collision of Karlin, Bösch & Chikatamarla 2014 on D2Q9 and D3Q27: the deviatoric stress
//! relaxes with the rate of the viscosity, all else with a rate that brings the entropy to its maximum, to second order in what
//! differs from the equilibrium. The equilibrium is the product of the axes' (Karlin & Asinari 2010). The trace of the stress
//! relaxes with a time of 1, as in all operators that damp sound (decision 016).
//!
//! In 3D the natural moments of the deviatoric stress are not orthogonal to those above: a stress in Hermite form has parts of
//! fourth order, cs² (Π_xx + Π_yy) in xxyy. The entropic rate relaxes them as it does the stress. Where levels meet, nothing but
//! the stress is left, which therefore takes its Hermite form: without the parts of fourth order flows diverge from a cell
//! Reynolds number of 25 on (decision 024).

use super::{Fluid, Operator, isotropic, unrolled, without_trace};
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

/// What a population has of the deviatoric stress in Hermite form (Latt & Chopard 2006, eq. 11).
#[cfg_attr(optimized, inline(always))]
fn projected<L: Lattice, T: Real>(q: usize, deviator: &[T; 6]) -> T {
    let [x, y, z] = L::C[q];
    let products = [x * x, 2 * x * y, 2 * x * z, y * y, 2 * y * z, z * z];
    let mut sum = T::of(0.0);
    unrolled!(n < 6, {
        if products[n] != 0 {
            sum += T::of(4.5 * L::W[q] * f64::from(products[n])) * deviator[n];
        }
    });
    sum
}

/// Populations of a velocity and a deviatoric stress.
#[cfg_attr(optimized, inline(always))]
fn regular<L: Lattice, T: Real>(keep: T, rho: T, u: [T; 3], deviator: &[T; 6]) -> [T; MOST] {
    let shares = shares(u);
    let mut f = [T::of(0.0); MOST];
    unrolled!(q < L::Q, {
        f[q] = equilibrium::<L, T>(q, rho, &shares) + keep * projected::<L, T>(q, deviator);
    });
    f
}

/// What a population has of the deviatoric stress as a natural moment.
#[cfg_attr(optimized, inline(always))]
pub(super) fn shear<L: Lattice, T: Real>(q: usize, deviator: &[T; 6]) -> T {
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
        let keep = one - relax.even;
        // Where levels meet, as of odd moments elsewhere.
        if relax.odd == one {
            *f = regular::<L, T>(keep, fluid.rho, after, &deviator);
            return;
        }
        let trace = stress[0] + stress[3] + stress[5];
        unrolled!(q < L::Q, {
            f[q] -= T::of(L::W[q]) * isotropic::<L, T>(q) * trace;
        });
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
        // (1 - βγ): what is left of the rest.
        let left = (relax.even - one) * both / (square + T::of(1e-30));
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
        regular::<L, T>(keep, fluid.rho, u, &deviator)
    }
}
