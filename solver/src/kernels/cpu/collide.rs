//! Collision of the cells of a block, 16 side by side.

use super::{LANES, Lane, Tile};
use crate::{
    kernels::{Relaxation, exchanged},
    lattice::{Lattice, cubic_shares},
    real::Real,
};

/// Density less 1, momentum (the acceleration's half step included), one over density.
struct Fluid<T> {
    rho: Lane<T>,
    u: [Lane<T>; 3],
}

#[inline(always)]
fn lanes<T: Real>(of: impl Fn(usize) -> T) -> Lane<T> {
    std::array::from_fn(of)
}

#[inline(always)]
fn add<T: Real>(to: &mut Lane<T>, from: &Lane<T>, times: i32) {
    match times {
        1 => (0..LANES).for_each(|l| to[l] += from[l]),
        -1 => (0..LANES).for_each(|l| to[l] -= from[l]),
        _ => {}
    }
}

#[inline(always)]
fn fluid<L: Lattice, T: Real>(tile: &Tile<T>, group: usize, relax: &Relaxation<T>) -> Fluid<T> {
    let mut rho = [T::of(0.0); LANES];
    let mut j = [[T::of(0.0); LANES]; 3];
    for q in 0..L::Q {
        let f = &tile[q][group];
        add(&mut rho, f, 1);
        for a in 0..3 {
            add(&mut j[a], f, L::C[q][a]);
        }
    }
    let half = T::of(0.5);
    let mut u = j;
    for l in 0..LANES {
        let density = T::of(1.0) + rho[l];
        let inverse = T::of(1.0) / density;
        for a in 0..3 {
            u[a][l] = j[a][l] * inverse + half * relax.acceleration[a];
        }
    }
    Fluid { rho, u }
}

/// Σ c c f - ρ u u - ρ/3, less the weights' part: xx, xy, xz, yy, yz, zz.
#[inline(always)]
fn stress<L: Lattice, T: Real>(tile: &Tile<T>, group: usize, fluid: &Fluid<T>) -> [Lane<T>; 6] {
    const PAIRS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
    let mut stress = [[T::of(0.0); LANES]; 6];
    for q in 0..L::Q {
        for (n, (a, b)) in PAIRS.into_iter().enumerate() {
            add(&mut stress[n], &tile[q][group], L::C[q][a] * L::C[q][b]);
        }
    }
    let third = T::of(1.0 / 3.0);
    for (n, (a, b)) in PAIRS.into_iter().enumerate() {
        for l in 0..LANES {
            stress[n][l] -= (T::of(1.0) + fluid.rho[l]) * fluid.u[a][l] * fluid.u[b][l];
            if a == b && a < L::KIND.dimensions() {
                stress[n][l] -= third * fluid.rho[l];
            }
        }
    }
    stress
}

/// What levels exchange, of one group of cells; rows of `cells` numbers.
#[inline(always)]
pub(super) fn exchange<const D: usize, L: Lattice, T: Real>(
    tile: &Tile<T>,
    group: usize,
    relax: &Relaxation<T>,
    cells: usize,
    to: &mut [T],
) {
    let fluid = fluid::<L, T>(tile, group, relax);
    let stress = stress::<L, T>(tile, group, &fluid);
    let mut row = 0;
    let mut put = |lane: &dyn Fn(usize) -> T| {
        for l in 0..LANES {
            to[row * cells + group * LANES + l] = lane(l);
        }
        row += 1;
    };
    put(&|l| fluid.rho[l]);
    for a in 0..D {
        put(&|l| (T::of(1.0) + fluid.rho[l]) * fluid.u[a][l]);
    }
    let kept: &[usize] = if D == 2 {
        &[0, 1, 3]
    } else {
        &[0, 1, 2, 3, 4, 5]
    };
    for &n in kept {
        put(&|l| stress[n][l]);
    }
    debug_assert_eq!(row, exchanged(D));
}

/// Collides the cells of a group in place.
#[inline(always)]
pub(super) fn collide<L: Lattice, T: Real>(
    tile: &mut Tile<T>,
    group: usize,
    relax: &Relaxation<T>,
) {
    let fluid = fluid::<L, T>(tile, group, relax);
    if relax.regularized == 1 {
        let stress = stress::<L, T>(tile, group, &fluid);
        return regularized::<L, T>(tile, group, relax, &fluid, &stress);
    }
    let half = T::of(0.5);
    let base = lanes(|l| {
        let u = [fluid.u[0][l], fluid.u[1][l], fluid.u[2][l]];
        fluid.rho[l]
            - T::of(1.5) * (T::of(1.0) + fluid.rho[l]) * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    });
    let push = Push::new(relax, &fluid);
    let w0 = T::of(L::W[0]);
    for l in 0..LANES {
        let f = tile[0][group][l];
        tile[0][group][l] = f - relax.even * (f - w0 * base[l]) + w0 * push.rest(l);
    }
    for k in 0..L::Q / 2 {
        let (p, m) = (2 * k + 1, 2 * k + 2);
        let (w, along) = (T::of(L::W[p]), dot::<L, T>(p, &fluid.u));
        for l in 0..LANES {
            let (f, g) = (tile[p][group][l], tile[m][group][l]);
            let density = T::of(1.0) + fluid.rho[l];
            let even = w * (base[l] + T::of(4.5) * density * along[l] * along[l]);
            let odd = w * T::of(3.0) * density * along[l];
            let change = relax.even * (half * (f + g) - even);
            let turn = relax.odd * (half * (f - g) - odd);
            let (pe, pull) = push.of::<L>(p, l, along[l]);
            let po = push.odd * T::of(3.0) * pull;
            tile[p][group][l] = f - change - turn + w * (pe + po);
            tile[m][group][l] = g - change + turn + w * (pe - po);
        }
    }
}

/// c·u.
#[inline(always)]
fn dot<L: Lattice, T: Real>(q: usize, u: &[Lane<T>; 3]) -> Lane<T> {
    let mut along = [T::of(0.0); LANES];
    for a in 0..3 {
        add(&mut along, &u[a], L::C[q][a]);
    }
    along
}

/// The acceleration's source (Guo, Zheng & Shi 2002, eq. 20), its even and its odd part.
struct Push<'a, T> {
    relax: &'a Relaxation<T>,
    fluid: &'a Fluid<T>,
    even: T,
    odd: T,
}

impl<'a, T: Real> Push<'a, T> {
    #[inline(always)]
    fn new(relax: &'a Relaxation<T>, fluid: &'a Fluid<T>) -> Self {
        let half = T::of(0.5);
        let [even, odd] = [
            T::of(1.0) - half * relax.even,
            T::of(1.0) - half * relax.odd,
        ];
        Self {
            relax,
            fluid,
            even,
            odd,
        }
    }

    #[inline(always)]
    fn work(&self, l: usize) -> T {
        let (g, u) = (&self.relax.acceleration, &self.fluid.u);
        (T::of(1.0) + self.fluid.rho[l]) * (g[0] * u[0][l] + g[1] * u[1][l] + g[2] * u[2][l])
    }

    #[inline(always)]
    fn rest(&self, l: usize) -> T {
        -(self.even * T::of(3.0) * self.work(l))
    }

    /// The even part, and ρ c·g.
    #[inline(always)]
    fn of<L: Lattice>(&self, q: usize, l: usize, along: T) -> (T, T) {
        let mut pull = T::of(0.0);
        for a in 0..3 {
            match L::C[q][a] {
                1 => pull += self.relax.acceleration[a],
                -1 => pull -= self.relax.acceleration[a],
                _ => {}
            }
        }
        let pull = (T::of(1.0) + self.fluid.rho[l]) * pull;
        let even = self.even * (T::of(9.0) * along * pull - T::of(3.0) * self.work(l));
        (even, pull)
    }
}

#[inline(always)]
fn regularized<L: Lattice, T: Real>(
    tile: &mut Tile<T>,
    group: usize,
    relax: &Relaxation<T>,
    fluid: &Fluid<T>,
    stress: &[Lane<T>; 6],
) {
    let keep = T::of(1.0) - relax.even;
    let [ux, uy, uz] = &fluid.u;
    let [xx, xy, xz, yy, yz, zz] = stress;
    // Momentum flux and third-order coefficients after collision: of the equilibrium, and what is kept.
    let mut flux = [[T::of(0.0); LANES]; 6];
    let mut cubic = [[T::of(0.0); LANES]; 7];
    let two = T::of(2.0);
    for l in 0..LANES {
        let density = T::of(1.0) + fluid.rho[l];
        let (x, y, z) = (ux[l], uy[l], uz[l]);
        flux[0][l] = density * x * x + keep * xx[l];
        flux[1][l] = density * x * y + keep * xy[l];
        flux[2][l] = density * x * z + keep * xz[l];
        flux[3][l] = density * y * y + keep * yy[l];
        flux[4][l] = density * y * z + keep * yz[l];
        flux[5][l] = density * z * z + keep * zz[l];
        cubic[0][l] = density * x * x * y + keep * (two * x * xy[l] + y * xx[l]);
        cubic[1][l] = density * x * x * z + keep * (two * x * xz[l] + z * xx[l]);
        cubic[2][l] = density * x * y * y + keep * (two * y * xy[l] + x * yy[l]);
        cubic[3][l] = density * y * y * z + keep * (two * y * yz[l] + z * yy[l]);
        cubic[4][l] = density * x * z * z + keep * (two * z * xz[l] + x * zz[l]);
        cubic[5][l] = density * y * z * z + keep * (two * z * yz[l] + y * zz[l]);
        cubic[6][l] = density * x * y * z + keep * (x * yz[l] + y * xz[l] + z * xy[l]);
    }
    let base = lanes(|l| fluid.rho[l] - T::of(1.5) * (flux[0][l] + flux[3][l] + flux[5][l]));
    let push = Push::new(relax, fluid);
    let w0 = T::of(L::W[0]);
    tile[0][group] = lanes(|l| w0 * (base[l] + push.rest(l)));
    for k in 0..L::Q / 2 {
        let (p, m) = (2 * k + 1, 2 * k + 2);
        let (w, along) = (T::of(L::W[p]), dot::<L, T>(p, &fluid.u));
        let c = L::C[p];
        let mut even = base;
        let mut n = 0;
        for a in 0..3 {
            for b in a..3 {
                let times = if a == b { 4.5 } else { 9.0 } * f64::from(c[a] * c[b]);
                if times != 0.0 {
                    (0..LANES).for_each(|l| even[l] += T::of(times) * flux[n][l]);
                }
                n += 1;
            }
        }
        let mut odd = lanes(|l| T::of(3.0) * (T::of(1.0) + fluid.rho[l]) * along[l]);
        let shares = cubic_shares::<L>(p);
        for n in 0..7 {
            if shares[n] != 0.0 {
                (0..LANES).for_each(|l| odd[l] += T::of(shares[n]) * cubic[n][l]);
            }
        }
        for l in 0..LANES {
            let (pe, pull) = push.of::<L>(p, l, along[l]);
            // The half step of the acceleration is in the momentum already: what is missing is the other half.
            tile[p][group][l] = w * (even[l] + odd[l] + pe + T::of(1.5) * pull);
            tile[m][group][l] = w * (even[l] - odd[l] + pe - T::of(1.5) * pull);
        }
    }
}
