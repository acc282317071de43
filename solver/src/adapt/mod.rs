//! Adaptation of the mesh to the flow: where it is refined and coarsened while the flow runs.
//!
//! A *look* at the flow has these steps, all of them on the backend of the flow; the middle ones are exact and the same on all
//! backends:
//! 1. an [`Indicator`] of each leaf, the largest value of its cells;
//! 2. marks: leaves above a threshold are refined, with some layers of blocks around them, and groups of siblings far enough
//!    below it are removed ([`wish`]);
//! 3. the mesh: 2:1 balance, canonical ids, masks ([`cutlink_voxelizer::Mesh::adapted`], [`cutlink_voxelizer::Mesh::take`]); then the tables of the levels, as
//!    for a flow that starts on this mesh;
//! 4. populations: those of blocks that stay are copied, those of others made from the coarser or the finer level
//!    ([`transfer`]), without loss of mass or momentum.
//!
//! The mesh that a flow is given is the coarsest: its refined blocks stay. Blocks with solid cells or cut links stay too.

pub(crate) mod own_mesh;
pub(crate) mod transfer;
pub(crate) mod wish;

use crate::{SolverError, constants::indicator};
use wish::Weight;

/// Most layers of a buffer.
const MOST_LAYERS: u32 = 100;

/// A measure of how much a cell needs resolution, in units of the cell: Δx = 1 on every level, and velocities in root units
/// (Δx / Δt, the same number on all levels). A threshold on one of these halves (for Q, quarters) the physical gradient it
/// allows with each coarser level, since Δx is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Indicator {
    /// Magnitude of the vorticity.
    Vorticity = indicator::VORTICITY,
    /// Second invariant of the velocity gradient where positive (Hunt, Wray & Moin 1988): rotation that exceeds strain.
    Q = indicator::Q_CRITERION,
    /// Magnitude of the strain rate, √(2 S:S).
    Strain = indicator::STRAIN,
    /// Largest velocity difference to a face neighbour.
    VelocityJump = indicator::VELOCITY_JUMP,
    /// Magnitude of the density gradient: of that of the pressure, times 3.
    PressureGradient = indicator::PRESSURE_GRADIENT,
}

impl Indicator {
    /// All of them, with the names that users write.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("vorticity", Self::Vorticity),
        ("q", Self::Q),
        ("strain", Self::Strain),
        ("velocity-jump", Self::VelocityJump),
        ("pressure-gradient", Self::PressureGradient),
    ];

    /// The factor from multiples of a velocity (for Q, of its square; for the pressure, of ρ times its square) to its unit.
    pub fn scale(self, velocity: f64) -> f64 {
        match self {
            Self::Vorticity | Self::Strain | Self::VelocityJump => velocity,
            Self::Q => velocity * velocity,
            // p = ρ / 3, and what is compared is the density.
            Self::PressureGradient => 3.0 * velocity * velocity,
        }
    }

    /// Factor of its value on the next coarser level, where the field is smooth.
    pub(crate) fn one_up(self) -> f32 {
        match self {
            Self::Q => 4.0,
            _ => 2.0,
        }
    }
}

/// A criterion; a leaf is refined where any is exceeded and coarsened where all allow it.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion<const D: usize> {
    /// What is compared.
    pub indicator: Indicator,
    /// Threshold above which a leaf is refined, in lattice units.
    pub refine: f64,
    /// Share of `refine` that values must stay below *after* coarsening for a group to be removed: below 1, so that
    /// blocks near the threshold do not come and go.
    pub coarsen: f64,
    /// Lower and upper corner of a box in root cells, outside of which the criterion is not applied.
    pub within: Option<[[f64; D]; 2]>,
    /// Root step from which it is applied.
    pub from_step: u64,
}

impl<const D: usize> Criterion<D> {
    /// How its values count.
    #[allow(clippy::cast_possible_truncation, reason = "values are f32")]
    pub(crate) fn weight(&self) -> Weight<D> {
        Weight {
            within: self.within,
            refine: self.refine as f32,
            coarsen: (self.refine * self.coarsen) as f32,
            one_up: self.indicator.one_up(),
        }
    }
}

/// A box in which leaves are not refined beyond some levels.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelLimit<const D: usize> {
    /// Lower and upper corner in root cells.
    pub within: [[f64; D]; 2],
    /// Levels, the root included.
    pub levels: usize,
}

/// How the mesh follows the flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Adaptation<const D: usize> {
    /// Root steps from one look at the flow to the next.
    pub every: u64,
    /// Most levels, the root included.
    pub levels: usize,
    /// Most leaf cells; thresholds are raised where more are wanted.
    pub max_cells: u64,
    /// Layers of blocks around a block that is refined which are refined too, on each level.
    pub buffer: u32,
    /// The criteria.
    pub criteria: Vec<Criterion<D>>,
    /// Where not to refine.
    pub limits: Vec<LevelLimit<D>>,
}

impl<const D: usize> Adaptation<D> {
    /// The criteria that are applied at a root step.
    pub(crate) fn due(&self, step: u64) -> impl Iterator<Item = &Criterion<D>> {
        let is_due = move |of: &&Criterion<D>| step >= of.from_step;
        self.criteria.iter().filter(is_due)
    }

    /// # Errors
    /// A value out of range, named.
    pub(crate) fn validate(&self) -> Result<(), SolverError> {
        let refuse = |name: &str, reason: &str| {
            Err(SolverError::Value {
                name: name.into(),
                reason: reason.into(),
            })
        };
        if self.every == 0 {
            return refuse(
                "the interval of the adaptation",
                "it has to be at least one root step",
            );
        }
        if self.levels == 0 || self.levels > cutlink_amr::MAX_LEVELS {
            return refuse("the levels of the adaptation", "they have to be 1 to 29");
        }
        if self.buffer > MOST_LAYERS {
            return refuse(
                "the buffer of the adaptation",
                "it has to be at most 100 layers",
            );
        }
        if self.criteria.is_empty() {
            return refuse("the adaptation", "it has no criterion");
        }
        for criterion in &self.criteria {
            if !(criterion.refine > 0.0 && criterion.refine.is_finite()) {
                return refuse("the threshold of a criterion", "it has to be positive");
            }
            if !(criterion.coarsen > 0.0 && criterion.coarsen < 1.0) {
                return refuse(
                    "the coarsening share of a criterion",
                    "it has to lie between 0 and 1: at 1, blocks would be refined and coarsened in turn",
                );
            }
        }
        Ok(())
    }
}

/// A look at the flow: what an adaptation found and did.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptationLook {
    /// Root steps done.
    pub step: u64,
    /// Leaves by level, after it.
    pub leaves: Vec<u64>,
    /// Leaves that were given children.
    pub refined: u64,
    /// Blocks whose children were taken.
    pub coarsened: u64,
    /// Leaves that were wanted finer and may not be: beside or within a body, or at a limit.
    pub withheld: u64,
    /// Factor of all thresholds, above 1 where the budget of cells required it.
    pub raised: f64,
    /// Wall time in seconds.
    pub seconds: f64,
}
