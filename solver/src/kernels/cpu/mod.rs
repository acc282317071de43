//! The stages on the CPU: rayon over slots; the arithmetic of a block in one loop over its cells, which
//! the compiler vectorizes for the processor at hand.

mod cell;
mod census;
mod collide;
mod exchange;
mod forces;
mod macroscopic;
mod step;
mod stream;

use super::{Between, Kernels, Relaxation};
use crate::{
    LatticeKind, SolverError,
    lattice::{D2Q9, D3Q19, D3Q27, Lattice},
    real::Real,
    tables::Level,
};
use cutlink_device::Host;
use std::any::Any;

pub use census::Census;
pub(crate) use census::census;

/// Most cells of a block.
const BLOCK: usize = 64;

/// Cells of a layer of a block.
const LAYER: usize = 16;

/// Room before and behind the cells of a row.
const PAD: usize = 16;

/// A population of each cell of a block.
type Row<T> = [T; PAD + BLOCK + PAD];

/// The populations of a block, by velocity.
#[repr(align(64))]
struct Tile<T>([Row<T>; crate::lattice::MOST]);

impl<T: Real> Tile<T> {
    fn new() -> Self {
        Self([[T::of(0.0); PAD + BLOCK + PAD]; crate::lattice::MOST])
    }
}

/// A constant that lints do not see through: turns that a lattice does not have would be out of its tables.
#[inline(always)]
fn turn<const N: usize>() -> usize {
    N
}

/// `unrolled!(i < n, { … })` is `for i in 0..n { … }` for a constant n up to 27, with `i` a constant
/// in each turn: the compiler does not unroll long loops by itself, and then looks up tables at run time.
macro_rules! unrolled {
    ($i:ident < $n:expr, $body:block) => {
        unrolled!(@ $i, $n, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26)
    };
    (@ $i:ident, $n:expr, $body:block, $($value:literal)*) => {
        $(
            if $value < $n {
                let $i = super::turn::<$value>();
                $body
            }
        )*
    };
}
use unrolled;

/// Steps of the lattices, compiled here: as generic functions they would be made again in each crate that runs flows,
/// and they take a minute.
pub trait Steps: Sized {
    /// Streams and collides a level; `D` is that of the lattice.
    fn step<const D: usize>(
        lattice: LatticeKind,
        level: &Level<D, Host>,
        relax: Relaxation<Self>,
        from: &[Self],
        to: &mut [Self],
        moments: &mut [Self],
    );
}

macro_rules! steps {
    ($type:ty, $plane:ident, $space:ident, $whole:ident) => {
        #[inline(never)]
        fn $plane(
            level: &Level<2, Host>,
            relax: Relaxation<$type>,
            from: &[$type],
            to: &mut [$type],
            moments: &mut [$type],
        ) {
            step::step::<2, D2Q9, $type>(level, relax, from, to, moments);
        }
        #[inline(never)]
        fn $space(
            level: &Level<3, Host>,
            relax: Relaxation<$type>,
            from: &[$type],
            to: &mut [$type],
            moments: &mut [$type],
        ) {
            step::step::<3, D3Q19, $type>(level, relax, from, to, moments);
        }
        #[inline(never)]
        fn $whole(
            level: &Level<3, Host>,
            relax: Relaxation<$type>,
            from: &[$type],
            to: &mut [$type],
            moments: &mut [$type],
        ) {
            step::step::<3, D3Q27, $type>(level, relax, from, to, moments);
        }
        impl Steps for $type {
            fn step<const D: usize>(
                lattice: LatticeKind,
                level: &Level<D, Host>,
                relax: Relaxation<Self>,
                from: &[Self],
                to: &mut [Self],
                moments: &mut [Self],
            ) {
                let level: &dyn Any = level;
                match (level.downcast_ref(), level.downcast_ref(), lattice) {
                    (Some(level), _, LatticeKind::D2Q9) => $plane(level, relax, from, to, moments),
                    (_, Some(level), LatticeKind::D3Q19) => $space(level, relax, from, to, moments),
                    (_, Some(level), LatticeKind::D3Q27) => $whole(level, relax, from, to, moments),
                    _ => unreachable!("a plan should have a lattice of the mesh's dimensions"),
                }
            }
        }
    };
}
steps!(f32, plane_f32, space_f32, whole_f32);
steps!(f64, plane_f64, space_f64, whole_f64);

impl<const D: usize> Kernels<D> for Host {
    fn step<L: Lattice, T: Real>(
        &self,
        level: &Level<D, Self>,
        relax: Relaxation<T>,
        from: &Vec<T>,
        to: &mut Vec<T>,
        moments: &mut Vec<T>,
    ) -> Result<(), SolverError> {
        T::step::<D>(L::KIND, level, relax, from, to, moments);
        Ok(())
    }

    fn interpolate<L: Lattice, T: Real>(
        &self,
        between: &Between<'_, D, T, Self>,
        moments: &Vec<T>,
        to: &mut Vec<T>,
    ) -> Result<(), SolverError> {
        exchange::interpolate::<D, L, T>(between, moments, to);
        Ok(())
    }

    fn average<L: Lattice, T: Real>(
        &self,
        between: &Between<'_, D, T, Self>,
        fine_moments: &Vec<T>,
        to: &mut Vec<T>,
        moments: &mut Vec<T>,
    ) -> Result<(), SolverError> {
        exchange::average::<D, L, T>(between, fine_moments, to, moments);
        Ok(())
    }

    fn forces<L: Lattice, T: Real>(
        &self,
        level: &Level<D, Self>,
        from: &Vec<T>,
        parts: &mut Vec<f64>,
        at: usize,
        fresh: bool,
        sums: &mut Vec<f64>,
    ) -> Result<(), SolverError> {
        let sums = &mut sums[at..at + 6 * level.patches];
        if fresh {
            sums.fill(0.0);
        }
        forces::forces::<D, L, T>(level, from, parts, sums);
        Ok(())
    }

    fn macroscopic<L: Lattice, T: Real>(
        &self,
        level: &Level<D, Self>,
        half_step: [T; 3],
        from: &Vec<T>,
    ) -> Result<Vec<f32>, SolverError> {
        Ok(macroscopic::macroscopic::<D, L, T>(level, half_step, from))
    }

    fn fastest<L: Lattice, T: Real>(
        &self,
        level: &Level<D, Self>,
        from: &Vec<T>,
    ) -> Result<Vec<f32>, SolverError> {
        Ok(macroscopic::fastest::<D, L, T>(level, from))
    }
}
