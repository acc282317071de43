//! What a user chooses about an embedding.

use crate::{Fill, VoxelError};

/// Parameters of [`crate::embed`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmbedParams {
    /// Number of levels, the root level included (L_max of J25): at least 1.
    pub levels: usize,
    /// Near-wall distance d_spec of J26 eq. 3, in lengths: at least 0.
    pub wall_distance: f64,
    /// Which winding numbers are solid.
    pub fill: Fill,
}

impl EmbedParams {
    /// Checks the ranges.
    pub fn validate(&self) -> Result<(), VoxelError> {
        let refuse = |name, value, expected| {
            Err(VoxelError::Parameter {
                name,
                value,
                expected,
            })
        };
        if self.levels == 0 {
            return refuse("levels", 0.0, "at least 1 level is needed");
        }
        if !(self.wall_distance.is_finite() && self.wall_distance >= 0.0) {
            return refuse(
                "wall-distance",
                self.wall_distance,
                "a length of 0 or more is needed",
            );
        }
        Ok(())
    }
}

/// Stages of an embedding, in the order of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Facet lists of the blocks.
    Bins,
    /// Winding numbers and solid masks.
    Voxelize,
    /// Marks, new blocks, neighbours, ghost and interface cells.
    Refine,
    /// The cut-link table.
    Links,
}

/// Called when a stage of a level has ended, with the wall time it took.
pub trait Observer {
    /// `level` runs from 0; a stage that belongs to no level reports the finest.
    fn stage_done(&mut self, stage: Stage, level: usize, seconds: f64);
}

/// Observes nothing.
impl Observer for () {
    fn stage_done(&mut self, _: Stage, _: usize, _: f64) {}
}
