//! Collision, cell by cell. Loops over the velocities are unrolled by a macro, so that the tables
//! become constants and what is left is one straight loop over cells, which the compiler vectorizes.

use super::{BLOCK, LAYER, PAD, Tile, Values, unrolled};
use crate::{
    kernels::{Arrival, Relaxation, exchanged},
    lattice::{Lattice, MOST, cubic_shares},
    real::Real,
};
use std::marker::PhantomData;

/// Density less 1, and velocity with the acceleration's half step.
#[derive(Clone, Copy)]
pub(super) struct Fluid<T> {
    rho: T,
    u: [T; 3],
}

/// `sum + times * value` for -1, 0 and 1.
#[inline(always)]
fn add<T: Real>(sum: T, value: T, times: i32) -> T {
    match times {
        1 => sum + value,
        -1 => sum - value,
        _ => sum,
    }
}

/// The populations of a cell.
#[inline(always)]
fn of_cell<L: Lattice, T: Real>(tile: &Tile<T>, cell: usize) -> [T; MOST] {
    let mut f = [T::of(0.0); MOST];
    unrolled!(q < L::Q, {
        f[q] = tile.0[q][PAD + cell];
    });
    f
}

#[inline(always)]
fn fluid<L: Lattice, T: Real>(f: &[T; MOST], relax: &Relaxation<T>) -> Fluid<T> {
    let (mut rho, [mut x, mut y, mut z]) = (T::of(0.0), [T::of(0.0); 3]);
    unrolled!(q < L::Q, {
        rho += f[q];
        x = add(x, f[q], L::C[q][0]);
        y = add(y, f[q], L::C[q][1]);
        z = add(z, f[q], L::C[q][2]);
    });
    let inverse = T::of(1.0) / (T::of(1.0) + rho);
    let half = T::of(0.5);
    let g = relax.acceleration;
    let u = [
        x * inverse + half * g[0],
        y * inverse + half * g[1],
        z * inverse + half * g[2],
    ];
    Fluid { rho, u }
}

/// Σ c c f - ρ u u - ρ/3, less the weights' part: xx, xy, xz, yy, yz, zz.
#[inline(always)]
fn stress<L: Lattice, T: Real>(f: &[T; MOST], fluid: &Fluid<T>) -> [T; 6] {
    let [mut xx, mut xy, mut xz, mut yy, mut yz, mut zz] = [T::of(0.0); 6];
    unrolled!(q < L::Q, {
        let [x, y, z] = L::C[q];
        xx = add(xx, f[q], x * x);
        xy = add(xy, f[q], x * y);
        xz = add(xz, f[q], x * z);
        yy = add(yy, f[q], y * y);
        yz = add(yz, f[q], y * z);
        zz = add(zz, f[q], z * z);
    });
    let Fluid { rho, u: [x, y, z] } = *fluid;
    let density = T::of(1.0) + rho;
    let third = T::of(1.0 / 3.0) * rho;
    let flat = if L::KIND.dimensions() == 3 {
        third
    } else {
        T::of(0.0)
    };
    [
        xx - density * x * x - third,
        xy - density * x * y,
        xz - density * x * z,
        yy - density * y * y - third,
        yz - density * y * z,
        zz - density * z * z - flat,
    ]
}

/// Transferred moments: rows of `cells` values.
#[inline(always)]
pub(super) fn exchange<const D: usize, L: Lattice, T: Real>(
    tile: &Tile<T>,
    relax: &Relaxation<T>,
    to: &mut Values<T>,
) {
    for cell in 0..cutlink_amr::dims::cells(D) {
        let f = of_cell::<L, T>(tile, cell);
        let fluid = fluid::<L, T>(&f, relax);
        let [xx, xy, xz, yy, yz, zz] = stress::<L, T>(&f, &fluid);
        let density = T::of(1.0) + fluid.rho;
        // No closure here: it would stay a call, and the loop would be left as it is.
        let [x, y, z] = fluid.u;
        let [x, y, z] = [density * x, density * y, density * z];
        let rows = if D == 2 {
            let none = T::of(0.0);
            [fluid.rho, x, y, xx, xy, yy, none, none, none, none]
        } else {
            [fluid.rho, x, y, z, xx, xy, xz, yy, yz, zz]
        };
        unrolled!(row < exchanged(D), {
            to[row][cell] = rows[row];
        });
    }
}

/// Collides the first cells of a tile in place; calls `meanwhile` with each layer of 16.
#[inline(always)]
pub(super) fn collide<L: Lattice, T: Real>(
    tile: &mut Tile<T>,
    cells: usize,
    relax: &Relaxation<T>,
    meanwhile: impl Fn(usize),
) {
    let pushed = relax.acceleration != [T::of(0.0); 3];
    let [of, damped] = [relax.regularized == 1, relax.bulk == 1];
    match (of, damped, pushed) {
        (true, _, true) => collide_as::<L, T, true, true, true>(tile, cells, relax, meanwhile),
        (true, _, false) => collide_as::<L, T, true, true, false>(tile, cells, relax, meanwhile),
        (_, true, true) => collide_as::<L, T, false, true, true>(tile, cells, relax, meanwhile),
        (_, true, false) => collide_as::<L, T, false, true, false>(tile, cells, relax, meanwhile),
        (_, _, true) => collide_as::<L, T, false, false, true>(tile, cells, relax, meanwhile),
        (_, _, false) => collide_as::<L, T, false, false, false>(tile, cells, relax, meanwhile),
    }
}

#[inline(always)]
fn collide_as<
    L: Lattice,
    T: Real,
    const REGULARIZED: bool,
    const BULK: bool,
    const PUSHED: bool,
>(
    tile: &mut Tile<T>,
    cells: usize,
    relax: &Relaxation<T>,
    meanwhile: impl Fn(usize),
) {
    for layer in 0..cells.min(BLOCK) / LAYER {
        meanwhile(layer);
        for cell in LAYER * layer..LAYER * (layer + 1) {
            let mut f = of_cell::<L, T>(tile, cell);
            let fluid = fluid::<L, T>(&f, relax);
            if REGULARIZED {
                let stress = stress::<L, T>(&f, &fluid);
                relax_regularized::<L, T, PUSHED>(&mut f, relax, &fluid, &stress);
            } else {
                relax_trt::<L, T, BULK, PUSHED>(&mut f, relax, &fluid);
            }
            unrolled!(q < L::Q, {
                tile.0[q][PAD + cell] = f[q];
            });
        }
    }
}

#[inline(always)]
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
#[inline(always)]
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

/// What a trace of 1 has of a population, its weight apart.
#[inline(always)]
fn isotropic<L: Lattice, T: Real>(q: usize) -> T {
    let d = L::KIND.dimensions() as f64;
    let square: i32 = L::C[q].iter().map(|c| c * c).sum();
    T::of(4.5 * (f64::from(square) / d - 1.0 / 3.0))
}

/// c·u.
#[inline(always)]
fn dot<L: Lattice, T: Real>(q: usize, u: &[T; 3]) -> T {
    let x = add(T::of(0.0), u[0], L::C[q][0]);
    let y = add(x, u[1], L::C[q][1]);
    add(y, u[2], L::C[q][2])
}

/// The acceleration's source (Guo, Zheng & Shi 2002, eq. 20), its even and its odd part.
struct Push<T> {
    acceleration: [T; 3],
    density: T,
    /// ρ g·u.
    work: T,
    even: T,
    odd: T,
}

impl<T: Real> Push<T> {
    #[inline(always)]
    fn new<const PUSHED: bool>(relax: &Relaxation<T>, fluid: &Fluid<T>) -> Self {
        let half = T::of(0.5);
        let (g, u) = (relax.acceleration, fluid.u);
        let density = T::of(1.0) + fluid.rho;
        Self {
            acceleration: g,
            density,
            work: if PUSHED {
                density * (g[0] * u[0] + g[1] * u[1] + g[2] * u[2])
            } else {
                T::of(0.0)
            },
            even: T::of(1.0) - half * relax.even,
            odd: T::of(1.0) - half * relax.odd,
        }
    }

    #[inline(always)]
    fn rest(&self) -> T {
        -(self.even * T::of(3.0) * self.work)
    }

    /// What the trace of the source gets besides, for it relaxes with a time of 1.
    #[inline(always)]
    fn bulk<L: Lattice>(&self, q: usize) -> T {
        T::of(2.0) * isotropic::<L, T>(q) * (T::of(0.5) - self.even) * self.work
    }

    /// The even part, and ρ c·g.
    #[inline(always)]
    fn of<L: Lattice>(&self, q: usize, along: T) -> (T, T) {
        let pull = self.density * dot::<L, T>(q, &self.acceleration);
        let even = self.even * (T::of(9.0) * along * pull - T::of(3.0) * self.work);
        (even, pull)
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
pub(super) struct Orders<T> {
    flux: [T; 6],
    cubic: [T; 7],
}

impl<T: Real> Orders<T> {
    #[inline(always)]
    pub(super) fn new(fluid: &Fluid<T>, stress: &[T; 6], keep: T) -> Self {
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
    #[inline(always)]
    pub(super) fn base(&self, fluid: &Fluid<T>) -> T {
        fluid.rho - T::of(1.5) * (self.flux[0] + self.flux[3] + self.flux[5])
    }

    #[inline(always)]
    pub(super) fn even<L: Lattice>(&self, q: usize, base: T) -> T {
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
    #[inline(always)]
    pub(super) fn odd<L: Lattice>(&self, q: usize) -> T {
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

/// The stress without `share` of its trace: all of it, 1, where the bulk viscosity has a relaxation time of 1.
#[inline(always)]
fn without_trace<L: Lattice, T: Real>(stress: &[T; 6], share: T) -> [T; 6] {
    let [xx, xy, xz, yy, yz, zz] = *stress;
    let mean = share * T::of(1.0 / L::KIND.dimensions() as f64) * (xx + yy + zz);
    let flat = if L::KIND.dimensions() == 3 {
        zz - mean
    } else {
        zz
    };
    [xx - mean, xy, xz, yy - mean, yz, flat]
}

/// Recursive regularization. The trace of the stress relaxes with a time of 1: the bulk viscosity is that of the grid, and
/// damps sound (decision 016).
#[inline(always)]
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

/// Populations after collision in a layer of 16 cells, of values before it that are this level's: rows as
/// [`exchange`] makes them.
#[inline(always)]
pub(super) fn arrive<const D: usize, L: Lattice, T: Real>(
    values: &Values<T>,
    to: &Arrival<T>,
    layer: usize,
    tile: &mut Tile<T>,
) {
    let none = T::of(0.0);
    let [third, bulk] = [to.regularized, to.bulk].map(|flag| T::of(f64::from(flag)));
    for cell in LAYER * layer..LAYER * (layer + 1) {
        let mut value = [none; 10];
        unrolled!(n < exchanged(D), {
            value[n] = values[n][cell];
        });
        let density = T::of(1.0) + value[0];
        let inverse = T::of(1.0) / density;
        let (z, stress) = if D == 2 {
            let [_, _, _, xx, xy, yy, ..] = value;
            (none, [xx, xy, none, yy, none, none])
        } else {
            let [_, _, _, z, xx, xy, xz, yy, yz, zz] = value;
            (z, [xx, xy, xz, yy, yz, zz])
        };
        let fluid = Fluid {
            rho: value[0],
            u: [value[1] * inverse, value[2] * inverse, z * inverse],
        };
        let stress = without_trace::<L, T>(&stress, bulk);
        let orders = Orders::new(&fluid, &stress, to.keep);
        let base = orders.base(&fluid);
        tile.0[0][PAD + cell] = T::of(L::W[0]) * base;
        unrolled!(k < L::Q / 2, {
            let (p, m) = (2 * k + 1, 2 * k + 2);
            let along = dot::<L, T>(p, &fluid.u) + dot::<L, T>(p, &to.half_step);
            let even = orders.even::<L>(p, base);
            let odd = T::of(3.0) * density * along + third * orders.odd::<L>(p);
            let w = T::of(L::W[p]);
            tile.0[p][PAD + cell] = w * (even + odd);
            tile.0[m][PAD + cell] = w * (even - odd);
        });
    }
}
