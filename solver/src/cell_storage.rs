//! How the cells of a flow are stored: as populations, or where collision leaves fewer numbers than there are
//! populations as these (decision 059).

use crate::{
    Place, Plan, Precision,
    constants::{closure, operator},
    kernels::Relaxation,
    run::relaxation,
    tables::{KEPT, tiles},
};
use cutlink_amr::dims;
use cutlink_device::{Memory, Real};

/// How the cells of a flow are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellStorage {
    /// All populations of all cells.
    Populations,
    /// On levels where that takes less memory, 9 values a cell: density, velocity, and the stress that collision
    /// leaves; populations only of blocks beside walls, faces of the box and other levels, and of those beside them.
    Moments,
}

impl CellStorage {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Populations => "populations",
            Self::Moments => "moments",
        }
    }
}

/// Whether moments are what collision leaves of cells of this precision: density, velocity and stress after regularized
/// collision without an eddy viscosity.
pub(crate) fn leaves_moments<const D: usize>(
    precision: Precision,
    relax: &Relaxation<impl Real>,
) -> bool {
    D == 3
        && precision == Precision::F32
        && relax.operator == operator::REGULARIZED
        && relax.closure == closure::NONE
}

impl<const D: usize> Plan<'_, D> {
    /// How the flow would be stored on one rank or several, in this kind of memory: the one place where that is
    /// decided. Moments are what regularized collision leaves, and the kernels that read and write them are those of
    /// what is not excluded here.
    pub fn cell_storage(&self, memory: Memory, ranks: usize) -> CellStorage {
        let params = &self.params;
        let is_collided_so = leaves_moments::<D>(params.precision, &relaxation::<f64, D>(self, 0));
        // A variable acceleration would have to be known of the step before.
        let is_pulled_evenly =
            !(params.variations.iter()).any(|of| of.place == Place::Acceleration);
        // What changes populations after the step, or the blocks.
        let is_left_alone = params.sponges.is_empty()
            && params.modeled.is_empty()
            && params.adaptation.is_none()
            && !self.has_bodies;
        match !self.keeps_populations
            && memory == Memory::Device
            && ranks == 1
            && is_collided_so
            && is_pulled_evenly
            && is_left_alone
        {
            true => CellStorage::Moments,
            false => CellStorage::Populations,
        }
    }

    /// The same flow with all populations of all cells, to compare with.
    #[must_use]
    pub fn with_populations(mut self) -> Self {
        self.keeps_populations = true;
        self
    }

    /// Bytes of each level, of populations or moments and tables, on one rank or several together, in this kind of
    /// memory. Cost: with moments a pass over the blocks beside walls, faces and other levels.
    pub fn level_bytes(&self, memory: Memory, ranks: usize) -> Vec<u64> {
        let levels = self.levels.iter().map(|level| level.bytes);
        if self.cell_storage(memory, ranks) == CellStorage::Populations {
            return levels.collect();
        }
        let (q, size) = (self.params.lattice.velocities(), size_of::<f32>());
        let saved = self.tables.iter().map(|built| {
            let (slots, populated) = (built.level.slots, built.populated());
            if !tiles::pays(slots, populated, q) {
                return 0;
            }
            let numbers = slots * (q - KEPT) - populated * q;
            let tiles = size_of::<u32>() * dims::cells(D) * (slots - built.level.special);
            // As many tiles as whole ones would be.
            (2 * size * dims::cells(D) * numbers - tiles / dims::children(D)) as u64
        });
        levels
            .zip(saved)
            .map(|(bytes, saved)| bytes - saved)
            .collect()
    }
}
