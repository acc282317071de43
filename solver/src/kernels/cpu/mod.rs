//! The stages on the CPU: rayon over slots; the arithmetic of a block in lanes of 16 cells, which
//! the compiler vectorizes for the processor at hand.

mod cell;
mod collide;
mod exchange;
mod forces;
mod macroscopic;
mod step;

use super::{Between, Kernels, Relaxation};
use crate::{SolverError, lattice::Lattice, real::Real, tables::Level};
use cutlink_device::Host;

/// Cells whose arithmetic is done side by side.
const LANES: usize = 16;

/// A number of 16 cells.
type Lane<T> = [T; LANES];

/// The populations of a block: by velocity and group of 16 cells.
type Tile<T> = [[Lane<T>; 4]; crate::lattice::MOST];

impl<const D: usize> Kernels<D> for Host {
    fn step<L: Lattice, T: Real>(
        &self,
        level: &Level<D, Self>,
        relax: Relaxation<T>,
        from: &Vec<T>,
        to: &mut Vec<T>,
        moments: &mut Vec<T>,
    ) -> Result<(), SolverError> {
        step::step::<D, L, T>(level, relax, from, to, moments);
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
