//! What the host decides on: bodies in [`survey`](crate::survey), and `seen` in [`adapt`](crate::adapt).

use super::{Made, Scene, TwoPhaseMemory};
use crate::adapt::{self, SeenBlocks, Sight};
use crate::running::Fields;
use crate::survey::{self, Survey};
use cutlink_device::Host;

/// What the host decides on.
pub(crate) trait SurveyKernels<const D: usize>: TwoPhaseMemory<D> {
    /// The largest Courant number and divergence, whether a value is out of bounds, and whether the interface is near
    /// coarse cells.
    fn survey(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>, levels: usize) -> Made<Survey>;

    /// What a look at the interface sees of blocks.
    fn seen(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>, of: &Sight) -> Made<SeenBlocks>;
}

impl<const D: usize> SurveyKernels<D> for Host {
    fn survey(at: &Scene<'_, D, Self>, fields: &Fields<D>, levels: usize) -> Made<Survey> {
        Ok(survey::survey(at.mesh, fields, levels))
    }

    fn seen(at: &Scene<'_, D, Self>, fields: &Fields<D>, of: &Sight) -> Made<SeenBlocks> {
        Ok(adapt::seen(at.mesh, at.params, fields, of))
    }
}
