//! The stages of a step, in groups. A group is a trait in a file of this folder, whose documentation is the contract. The
//! file has the CPU's part too, which calls functions of `src`; the GPU's part is the file of the same name in `cuda/`.
//! Stages of heat, which only some flows have, are in `heat_step.rs`, with the CPU's part in `heat_host.rs`.
//!
//! Each number is the result of the same operations in the same order on every backend, sums included.

#[cfg(feature = "cuda")]
pub(crate) mod cuda;
mod forces;
mod memory;
mod penalty;
mod project;
mod survey;
mod sweep;
mod transfer;
mod viscous;

pub(crate) use forces::ForceKernels;
pub(crate) use memory::TwoPhaseMemory;
pub(crate) use penalty::GrainKernels;
pub(crate) use project::ProjectionKernels;
pub(crate) use survey::SurveyKernels;
pub(crate) use sweep::SweepKernels;
pub(crate) use transfer::TransferKernels;
pub(crate) use viscous::ViscousKernels;

use crate::TwoPhaseError;
use crate::mesh::FlowMesh;
use crate::params::FlowParams;
use cutlink_device::Host;

type Made<T> = Result<T, TwoPhaseError>;

/// What all stages read.
#[derive(Debug)]
pub(crate) struct Scene<'a, const D: usize, B: TwoPhaseMemory<D>> {
    pub(crate) backend: &'a B,
    pub(crate) mesh: &'a FlowMesh<D>,
    /// The mesh in the backend's memory.
    pub(crate) tables: &'a B::Mesh,
    pub(crate) params: &'a FlowParams<D>,
    /// Cells of grains.
    pub(crate) grains: Option<&'a B::Grains>,
}

impl<const D: usize, B: TwoPhaseMemory<D>> Scene<'_, D, B> {
    /// The same with cells of grains.
    pub(crate) fn with_grains<'b>(&'b self, grains: &'b B::Grains) -> Scene<'b, D, B> {
        Scene {
            grains: Some(grains),
            ..*self
        }
    }

    /// The same as if there were fluid alone.
    pub(crate) fn without_grains(&self) -> Self {
        Self {
            grains: None,
            ..*self
        }
    }
}

/// All stages.
pub(crate) trait TwoPhaseKernels<const D: usize>:
    SweepKernels<D>
    + ViscousKernels<D>
    + ForceKernels<D>
    + ProjectionKernels<D>
    + GrainKernels<D>
    + SurveyKernels<D>
    + TransferKernels<D>
{
}

impl<const D: usize> TwoPhaseKernels<D> for Host {}
