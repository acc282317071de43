//! Fields on an adapted mesh: bodies in [`transfer`](crate::transfer).

use super::{Made, TwoPhaseMemory};
use crate::transfer::Passage;
use cutlink_device::Host;

/// Fields on an adapted mesh.
pub(crate) trait TransferKernels<const D: usize>: TwoPhaseMemory<D> {
    /// Fractions.
    fn move_fractions(of: &Passage<'_, D, Self>, to: &mut Self::Buf<f64>) -> Made<()>;

    /// A component of the velocity.
    fn move_velocity(
        of: &Passage<'_, D, Self>,
        component: usize,
        to: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// Parts of mixed cells get the momentum of the whole.
    fn keep_momentum(
        of: &Passage<'_, D, Self>,
        component: usize,
        alpha: &Self::Buf<f64>,
        to: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// First guesses and accelerations of cells, `from` of them.
    fn move_starts(
        of: &Passage<'_, D, Self>,
        from: &Self::Buf<f64>,
        to: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// Velocities through faces. Those of refined blocks, and of leaves beside finer ones, are the means of the fine faces, which come later.
    fn move_faces(of: &Passage<'_, D, Self>, to: &mut Self::Buf<f64>) -> Made<()>;
}

impl<const D: usize> TransferKernels<D> for Host {
    fn move_fractions(of: &Passage<'_, D, Self>, to: &mut Vec<f64>) -> Made<()> {
        of.fractions(to);
        Ok(())
    }

    fn move_velocity(of: &Passage<'_, D, Self>, component: usize, to: &mut Vec<f64>) -> Made<()> {
        of.velocities(component, to);
        Ok(())
    }

    fn keep_momentum(
        of: &Passage<'_, D, Self>,
        component: usize,
        alpha: &Vec<f64>,
        to: &mut Vec<f64>,
    ) -> Made<()> {
        of.keep_momentum(component, alpha, to);
        Ok(())
    }

    fn move_starts(of: &Passage<'_, D, Self>, from: &Vec<f64>, to: &mut Vec<f64>) -> Made<()> {
        of.starts(from, to);
        Ok(())
    }

    fn move_faces(of: &Passage<'_, D, Self>, to: &mut Vec<f64>) -> Made<()> {
        of.fluxes(to);
        Ok(())
    }
}
