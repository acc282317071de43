//! Collision, cell by cell. Loops over the velocities are unrolled by a macro, so that the tables
//! become constants and what is left is one straight loop over cells, which the compiler vectorizes.
//!
//! What a new operator touches: a file here and one of the same stem in `cuda/`; a variant of `constants::OperatorKind`, from
//! which the compiler names the matches that miss it (`collide` and `arrive` here, `entries` and `arrival_entry!` in `cuda/`); a
//! line of `OPERATOR` in `cuda/step.cu` and of `EACH_ARRIVAL` in `cuda/exchange.cuh`. For users: a variant of
//! [`Collision`](crate::Collision), whose matches the compiler names too.

mod closure;
mod cumulant;
mod kbc;
mod regularized;
mod trt;

use super::{
    LAYER, PAD, Tile, Values,
    processor::{Processor, Work, dispatch},
    unrolled,
};
use crate::{
    constants::{OperatorKind, closure as model},
    kernels::{Arrival, Relaxation, exchanged},
    lattice::{Lattice, MOST},
};
use cumulant::Cumulant;
use cutlink_device::Real;
use kbc::Kbc;
use regularized::Regularized;
use std::marker::PhantomData;
use trt::Trt;

/// A collision operator.
trait Operator<L: Lattice, T: Real> {
    /// Whether [`relax`](Self::relax) reads the stress.
    const READS_STRESS: bool;

    /// The populations of a cell after collision, in place of those before it.
    fn relax(f: &mut [T; MOST], relax: &Relaxation<T>, fluid: &Fluid<T>, stress: &[T; 6]);

    /// Populations after collision, of density, velocity and stress before it: without non-equilibrium of higher order.
    fn build(to: &Relaxation<T>, keep: T, fluid: &Fluid<T>, stress: &[T; 6]) -> [T; MOST];
}

/// Density less 1, and velocity with the acceleration's half step.
#[derive(Clone, Copy)]
pub(super) struct Fluid<T> {
    rho: T,
    u: [T; 3],
}

impl<T: Real> Fluid<T> {
    #[cfg_attr(optimized, inline(always))]
    fn density(&self) -> T {
        T::of(1.0) + self.rho
    }
}

/// `sum + times * value` for -1, 0 and 1.
#[cfg_attr(optimized, inline(always))]
fn add<T: Real>(sum: T, value: T, times: i32) -> T {
    match times {
        1 => sum + value,
        -1 => sum - value,
        _ => sum,
    }
}

/// The populations of a cell.
#[cfg_attr(optimized, inline(always))]
fn of_cell<L: Lattice, T: Real>(tile: &Tile<T>, cell: usize) -> [T; MOST] {
    let mut f = [T::of(0.0); MOST];
    unrolled!(q < L::Q, {
        f[q] = tile.0[q][PAD + cell];
    });
    f
}

#[cfg_attr(optimized, inline(always))]
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
#[cfg_attr(optimized, inline(always))]
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

/// Transferred moments: rows of `cells` values. With an eddy viscosity the stress is as the level's own viscosity would have
/// it: a rate of strain in other units, which is continuous where levels meet.
#[cfg_attr(optimized, inline(always))]
pub(super) fn exchange<const D: usize, L: Lattice, T: Real>(
    tile: &Tile<T>,
    relax: &Relaxation<T>,
    to: &mut Values<T>,
) {
    match relax.closure {
        model::NONE => exchange_as::<D, L, T, false>(tile, relax, to),
        _ => exchange_as::<D, L, T, true>(tile, relax, to),
    }
}

#[cfg_attr(optimized, inline(always))]
fn exchange_as<const D: usize, L: Lattice, T: Real, const EDDY: bool>(
    tile: &Tile<T>,
    relax: &Relaxation<T>,
    to: &mut Values<T>,
) {
    for cell in 0..cutlink_amr::dims::cells(D) {
        let f = of_cell::<L, T>(tile, cell);
        let fluid = fluid::<L, T>(&f, relax);
        let mut stress = stress::<L, T>(&f, &fluid);
        if EDDY {
            let share = relax.tau / closure::tau::<L, T>(relax, fluid.density(), &stress);
            unrolled!(n < 6, {
                stress[n] = stress[n] * share;
            });
        }
        let [xx, xy, xz, yy, yz, zz] = stress;
        let density = fluid.density();
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

/// Collides the cells of a tile in place; calls `meanwhile` with each layer of 16.
#[cfg_attr(optimized, inline(always))]
pub(super) fn collide<const D: usize, L: Lattice, T: Real>(
    tile: &mut Tile<T>,
    relax: &Relaxation<T>,
    meanwhile: &dyn Fn(usize),
) {
    // An eddy viscosity costs more than an acceleration of 0: one variant for both.
    let is_eddy = relax.closure != model::NONE;
    let is_pushed = relax.acceleration != [T::of(0.0); 3];
    macro_rules! by {
        ($operator:ty, $eddy:literal) => {
            // A function of its own for each processor, which all callers and storage types share: else they take minutes to
            // compile.
            dispatch(Block::<D, L, T, $operator, $eddy> {
                tile,
                relax,
                meanwhile,
                of: PhantomData,
            })
        };
    }
    match relax.kind() {
        OperatorKind::Trt => match (relax.bulk == 1, is_eddy, is_pushed) {
            (true, true, _) => by!(Trt<true, true>, true),
            (false, true, _) => by!(Trt<false, true>, true),
            (true, _, true) => by!(Trt<true, true>, false),
            (true, _, false) => by!(Trt<true, false>, false),
            (false, _, true) => by!(Trt<false, true>, false),
            (false, _, false) => by!(Trt<false, false>, false),
        },
        OperatorKind::Regularized => match (is_eddy, is_pushed) {
            (true, _) => by!(Regularized<true>, true),
            (_, true) => by!(Regularized<true>, false),
            _ => by!(Regularized<false>, false),
        },
        // An eddy viscosity of 0 costs little of these. Other lattices are refused before: `validate.rs`.
        OperatorKind::Cumulant if L::Q == 27 => by!(Cumulant, true),
        OperatorKind::Kbc if L::Q != 19 => by!(Kbc, true),
        kind => unreachable!("{kind:?} on {:?}", L::KIND),
    }
}

/// A block to collide.
struct Block<'a, const D: usize, L, T, O, const EDDY: bool> {
    tile: &'a mut Tile<T>,
    relax: &'a Relaxation<T>,
    meanwhile: &'a dyn Fn(usize),
    of: PhantomData<(L, O)>,
}

impl<const D: usize, L: Lattice, T: Real, O: Operator<L, T>, const EDDY: bool> Work
    for Block<'_, D, L, T, O, EDDY>
{
    #[cfg_attr(optimized, inline(always))]
    fn run<P: Processor>(self, _: P) {
        let (tile, relax) = (self.tile, self.relax);
        for layer in 0..cutlink_amr::dims::cells(D) / LAYER {
            (self.meanwhile)(layer);
            for cell in LAYER * layer..LAYER * (layer + 1) {
                let mut f = of_cell::<L, T>(tile, cell);
                let fluid = fluid::<L, T>(&f, relax);
                let mut stress = [T::of(0.0); 6];
                if O::READS_STRESS || EDDY {
                    stress = self::stress::<L, T>(&f, &fluid);
                }
                if EDDY {
                    let tau = closure::tau::<L, T>(relax, fluid.density(), &stress);
                    O::relax(&mut f, &closure::rates(relax, tau), &fluid, &stress);
                } else {
                    O::relax(&mut f, relax, &fluid, &stress);
                }
                unrolled!(q < L::Q, {
                    tile.0[q][PAD + cell] = f[q];
                });
            }
        }
    }
}

/// c·u.
#[cfg_attr(optimized, inline(always))]
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
    #[cfg_attr(optimized, inline(always))]
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

    #[cfg_attr(optimized, inline(always))]
    fn rest(&self) -> T {
        -(self.even * T::of(3.0) * self.work)
    }

    /// What the trace of the source gets besides, for it relaxes with a time of 1.
    #[cfg_attr(optimized, inline(always))]
    fn bulk<L: Lattice>(&self, q: usize) -> T {
        T::of(2.0) * isotropic::<L, T>(q) * (T::of(0.5) - self.even) * self.work
    }

    /// The even part, and ρ c·g.
    #[cfg_attr(optimized, inline(always))]
    fn of<L: Lattice>(&self, q: usize, along: T) -> (T, T) {
        let pull = self.density * dot::<L, T>(q, &self.acceleration);
        let even = self.even * (T::of(9.0) * along * pull - T::of(3.0) * self.work);
        (even, pull)
    }
}

/// What a trace of 1 has of a population, its weight apart.
#[cfg_attr(optimized, inline(always))]
fn isotropic<L: Lattice, T: Real>(q: usize) -> T {
    let d = L::KIND.dimensions() as f64;
    let square: i32 = L::C[q].iter().map(|c| c * c).sum();
    T::of(4.5 * (f64::from(square) / d - 1.0 / 3.0))
}

/// The stress without `share` of its trace: all of it, 1, where the bulk viscosity has a relaxation time of 1.
#[cfg_attr(optimized, inline(always))]
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

/// Populations after collision in some layers of 16 cells, of values before it that are this level's: rows as
/// [`exchange`] makes them.
#[cfg_attr(optimized, inline(always))]
pub(super) fn arrive<const D: usize, L: Lattice, T: Real>(
    values: &Values<T>,
    to: &Arrival<T>,
    targets: u64,
    tile: &mut Tile<T>,
) {
    macro_rules! by {
        ($operator:ty, $eddy:literal) => {
            dispatch(Arriving::<D, L, T, $operator, $eddy> {
                values,
                to,
                targets,
                tile,
                of: PhantomData,
            })
        };
    }
    match (to.relax.kind(), to.relax.closure) {
        (OperatorKind::Cumulant, _) if L::Q == 27 => by!(Cumulant, true),
        (OperatorKind::Kbc, _) if L::Q != 19 => by!(Kbc, true),
        // With or without third-order parts: a factor of 1 or 0.
        (OperatorKind::Trt | OperatorKind::Regularized, model::NONE) => {
            by!(Regularized<true>, false)
        }
        (OperatorKind::Trt | OperatorKind::Regularized, _) => by!(Regularized<true>, true),
        (kind, _) => unreachable!("{kind:?} on {:?}", L::KIND),
    }
}

/// The layers of 16 cells that have any of some.
pub(super) fn layers<const D: usize>(cells: u64) -> impl Iterator<Item = usize> {
    (0..cutlink_amr::dims::cells(D) / LAYER)
        .filter(move |layer| cells >> (LAYER * layer) & 0xffff != 0)
}

/// Values of a block from another level.
struct Arriving<'a, const D: usize, L, T, O, const EDDY: bool> {
    values: &'a Values<T>,
    to: &'a Arrival<T>,
    targets: u64,
    tile: &'a mut Tile<T>,
    of: PhantomData<(L, O)>,
}

impl<const D: usize, L: Lattice, T: Real, O: Operator<L, T>, const EDDY: bool> Work
    for Arriving<'_, D, L, T, O, EDDY>
{
    #[cfg_attr(optimized, inline(always))]
    fn run<P: Processor>(self, _: P) {
        let (values, to, tile) = (self.values, self.to, self.tile);
        let none = T::of(0.0);
        let bulk = T::of(f64::from(to.relax.bulk));
        for layer in layers::<D>(self.targets) {
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
                let mut stress = without_trace::<L, T>(&stress, bulk);
                let f = if EDDY {
                    let tau = closure::tau_of_strain::<L, T>(&to.relax, density, &stress);
                    let share = tau / to.relax.tau;
                    unrolled!(n < 6, {
                        stress[n] = stress[n] * share;
                    });
                    let relax = closure::rates(&to.relax, tau);
                    O::build(&relax, T::of(1.0) - relax.even, &fluid, &stress)
                } else {
                    O::build(&to.relax, to.keep, &fluid, &stress)
                };
                unrolled!(q < L::Q, {
                    tile.0[q][PAD + cell] = f[q];
                });
            }
        }
    }
}

#[cfg(test)]
mod tests;
