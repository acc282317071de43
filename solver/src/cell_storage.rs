//! How the cells of a flow are stored: as populations, or where collision leaves fewer numbers than there are
//! populations as these (decision 059).

use crate::{
    Les, Place, Plan, Precision,
    constants::OperatorKind,
    kernels::Relaxation,
    run::relaxation,
    tables::{Built, KEPT, StepCosts, tiles},
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
/// collision.
pub(crate) fn leaves_moments<const D: usize>(
    precision: Precision,
    relax: &Relaxation<impl Real>,
) -> bool {
    D == 3 && precision == Precision::F32 && relax.kind() == OperatorKind::Regularized
}

impl<const D: usize> Plan<'_, D> {
    /// How the flow would be stored on any number of ranks, with all of them in this kind of memory: the one place
    /// where that is decided. Moments are what regularized collision leaves, and the kernels that read and write them
    /// are those of what is not excluded here.
    pub fn cell_storage(&self, memory: Memory) -> CellStorage {
        let params = &self.params;
        let is_collided_so = leaves_moments::<D>(params.precision, &relaxation::<f64, D>(self, 0));
        // Populations after collision have a part of the acceleration. A variable one would have to be known of the step
        // before, and the share of any in the stress follows from the rate, which an eddy viscosity makes that of a cell.
        let is_pulled_evenly = !(params.variations.iter())
            .any(|of| of.place == Place::Acceleration)
            && (params.les == Les::None || params.acceleration == [0.0; D]);
        // What changes populations after the step, or the blocks.
        let is_left_alone = params.sponges.is_empty()
            && params.modeled.is_empty()
            && params.adaptation.is_none()
            && params.heat.is_none()
            && !self.has_bodies;
        match !self.keeps_populations
            && memory == Memory::Device
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

    /// What steps cost in this kind of memory.
    pub(crate) fn step_costs(&self, memory: Memory) -> StepCosts {
        let populations = self.params.update_bytes(CellStorage::Populations);
        let costs = StepCosts::new(memory, populations);
        match self.cell_storage(memory) {
            CellStorage::Populations => costs,
            CellStorage::Moments => costs.with_moments(self.params.lattice.velocities()),
        }
    }

    /// Puts the slots of levels in the order of moments, if the flow in this kind of memory keeps them. Returns by level
    /// and new slot the one of before, or nothing where slots stay.
    pub(crate) fn keep_moments(&self, memory: Memory, tables: &mut [Built<D>]) -> Vec<Vec<u32>> {
        let q = self.params.lattice.velocities();
        let keep = |built: &mut Built<D>| match self.cell_storage(memory) {
            CellStorage::Populations => Vec::new(),
            CellStorage::Moments => built.keep_moments(q),
        };
        tables.iter_mut().map(keep).collect()
    }

    /// Bytes of each level, of populations or moments and tables, on all ranks together, in this kind of memory. Cost:
    /// with moments a pass over the blocks beside walls, faces and other levels.
    pub fn level_bytes(&self, memory: Memory) -> Vec<u64> {
        let levels = self.levels.iter().map(|level| level.bytes);
        if self.cell_storage(memory) == CellStorage::Populations {
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
