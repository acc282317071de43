//! The stages of a step. A backend implements [`TwoPhaseKernels`]: the CPU by functions of the files named here, which
//! `host` calls, a GPU by kernels of the same names in `cuda/`.
//!
//! | stage | contract | file |
//! |---|---|---|
//! | `mark_full` | cells that are more than half full | `sweep` |
//! | `planes` | the interface in mixed cells | `interface` |
//! | `fluxes` | liquid and momentum through the faces along an axis | `sweep` |
//! | `update` | what crossed is added to volume and momentum of cells | `sweep` |
//! | `keep_volume` | what the residual divergence added is taken from mixed cells | `sweep` |
//! | `viscosity` | conductances of faces for the velocity | `viscous` |
//! | `stress`, `force` | what couples the components of the velocity, on faces and on cells | `viscous` |
//! | `kick` | accelerations over some time are added to velocities | `viscous` |
//! | `equation` | diagonal and right side of a component | `viscous` |
//! | `coriolis` | the velocity turns | `turning` |
//! | `accelerate` | accelerations of faces by tension and weight | `forces` |
//! | `to_faces` | velocities of faces from those of cells; not beside finer cells | `project` |
//! | `conductance`, `right_side` | of the pressure | `project` |
//! | `sizes` | sums over right side and fluxes | `project` |
//! | `pull` | accelerations of faces by the pressure are added; not beside finer cells | `project` |
//! | `correct`, `to_cells` | velocities of faces and of cells by them | `project` |
//! | `grains` | cells of grains, and what they make of the mesh's cells | `grain_cells` |
//! | `rigid` | cells that grains hold get their velocities; returns what their fluid gets | `penalty` |
//! | `interior` | momentum of the fluid that each grain displaces, and its moment | `penalty` |
//! | `around` | the liquid's part of the fluid beside each grain | `penalty` |
//! | `penalise` | the equation of a component holds cells of grains | `penalty` |
//! | `handed` | what these cells give to each grain is added to its force and torque | `penalty` |
//! | `accelerate_grains` | accelerations of grains are added to those of faces | `penalty` |
//! | `blend`, `unblend` | velocities of cut cells become those of all of their mass, and of their fluid again | `penalty` |
//! | `pushed` | forces and torques by accelerations of cells | `penalty` |
//! | `seen` | what a look at the interface sees of blocks | `adapt` |
//! | `move_fractions`, `move_velocity`, `move_starts`, `move_faces` | fields on an adapted mesh | `transfer` |
//! | `keep_momentum` | parts of mixed cells get the momentum of the whole | `transfer` |
//! | `survey` | the largest Courant number and divergence, whether a value is out of bounds, and whether the interface is near coarse cells | `survey` |
//!
//! Each number is the result of the same operations in the same order on every backend, sums included.

#[cfg(feature = "cuda")]
pub(crate) mod cuda;
mod host;

use crate::TwoPhaseError;
use crate::adapt::{SeenBlocks, Sight};
use crate::grain_cells::{GrainCells, RigidMotion};
use crate::mesh::FlowMesh;
use crate::params::FlowParams;
use crate::penalty::GrainSum;
use crate::project::Sizes;
use crate::running::Fields;
use crate::survey::Survey;
use crate::sweep::{Crossing, Moved, SweepWork};
use crate::transfer::Passage;
use crate::turning::Rotation;
use crate::viscous::System;
use cutlink_elliptic::EllipticKernels;
use std::fmt::Debug;

type Made<T> = Result<T, TwoPhaseError>;

/// What all stages read.
#[derive(Debug)]
pub(crate) struct Scene<'a, const D: usize, B: TwoPhaseKernels<D>> {
    pub(crate) backend: &'a B,
    pub(crate) mesh: &'a FlowMesh<D>,
    /// The mesh in the backend's memory.
    pub(crate) tables: &'a B::Mesh,
    pub(crate) params: &'a FlowParams<D>,
    /// Cells of grains.
    pub(crate) grains: Option<&'a B::Grains>,
}

impl<const D: usize, B: TwoPhaseKernels<D>> Scene<'_, D, B> {
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

/// The stages.
pub(crate) trait TwoPhaseKernels<const D: usize>: EllipticKernels<D> {
    /// A mesh in the backend's memory.
    type Mesh: Debug + Send + Sync;
    /// Planes of mixed cells, how many cells have a curvature, and what it takes to find both.
    type Interface: Debug + Send + Sync;

    /// Cells of grains in the backend's memory.
    type Grains: Debug + Send + Sync;

    /// # Errors
    /// Memory.
    fn grains(at: &Scene<'_, D, Self>, cells: GrainCells) -> Made<Self::Grains>;

    fn rigid(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D, Self>,
    ) -> Made<Vec<GrainSum>>;

    fn interior(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>) -> Made<Vec<GrainSum>>;

    fn around(at: &Scene<'_, D, Self>, alpha: &Self::Buf<f64>) -> Made<Vec<f64>>;

    fn penalise(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        of: &System<'_, Self>,
        conductance: &Self::Buf<f64>,
        diagonal_and_b: [&mut Self::Buf<f64>; 2],
    ) -> Made<()>;

    fn handed(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        component_and_dt: (usize, f64),
        conductance_and_u: [&Self::Buf<f64>; 2],
        sums: &mut [GrainSum],
    ) -> Made<()>;

    /// Returns the velocities of the fluid in cut cells.
    fn blend(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D, Self>,
    ) -> Made<Self::Buf<f64>>;

    fn accelerate_grains(
        at: &Scene<'_, D, Self>,
        accelerations: &[RigidMotion],
        alpha: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<Vec<GrainSum>>;

    fn unblend(
        at: &Scene<'_, D, Self>,
        kept: &Self::Buf<f64>,
        dt: f64,
        fields: &mut Fields<D, Self>,
    ) -> Made<()>;

    fn pushed(at: &Scene<'_, D, Self>, pull: &[Self::Buf<f64>; D]) -> Made<Vec<GrainSum>>;

    fn upload_mesh(&self, mesh: &FlowMesh<D>) -> Made<Self::Mesh>;

    /// Of a mesh, what the solver reads.
    fn blocks_of(mesh: &Self::Mesh) -> &<Self as EllipticKernels<D>>::Tables;

    fn interface(at: &Scene<'_, D, Self>) -> Made<Self::Interface>;

    fn mark_full(
        at: &Scene<'_, D, Self>,
        alpha: &Self::Buf<f64>,
        full: &mut Self::Buf<u8>,
    ) -> Made<()>;

    /// # Errors
    /// An interface on a coarse level.
    fn planes(
        at: &Scene<'_, D, Self>,
        alpha: &Self::Buf<f64>,
        interface: &mut Self::Interface,
    ) -> Made<()>;

    fn fluxes(
        at: &Scene<'_, D, Self>,
        interface: &Self::Interface,
        of: &Crossing<'_, D, Self>,
        w: &mut SweepWork<D, Self>,
    ) -> Made<()>;

    fn update(
        at: &Scene<'_, D, Self>,
        flux: &Self::Buf<f64>,
        along: (f64, usize),
        w: &SweepWork<D, Self>,
        moved: Moved<'_, D, Self>,
    ) -> Made<()>;

    fn keep_volume(
        at: &Scene<'_, D, Self>,
        alpha: &mut Self::Buf<f64>,
        flux: &Self::Buf<f64>,
        dt: f64,
        full: &Self::Buf<u8>,
    ) -> Made<()>;

    fn viscosity(
        at: &Scene<'_, D, Self>,
        alpha: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn stress(
        at: &Scene<'_, D, Self>,
        velocity: &[Self::Buf<f64>; D],
        conductance: &Self::Buf<f64>,
        component: usize,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn force(
        at: &Scene<'_, D, Self>,
        stress: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn kick(
        at: &Scene<'_, D, Self>,
        pull: &Self::Buf<f64>,
        dt: f64,
        u: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn equation(
        at: &Scene<'_, D, Self>,
        of: &System<'_, Self>,
        diagonal: &mut Self::Buf<f64>,
        b: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn coriolis(
        at: &Scene<'_, D, Self>,
        by: &Rotation,
        velocity: &mut [Self::Buf<f64>; D],
    ) -> Made<()>;

    /// # Errors
    /// An interface on a coarse level.
    fn accelerate(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D, Self>,
        interface: &mut Self::Interface,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// How many cells have their curvature from heights, and from fits.
    fn curvatures(at: &Scene<'_, D, Self>, interface: &Self::Interface) -> Made<[usize; 2]>;

    fn to_faces(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D, Self>,
        acceleration: &Self::Buf<f64>,
        dt: f64,
    ) -> Made<()>;

    fn conductance(
        at: &Scene<'_, D, Self>,
        alpha: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn right_side(
        at: &Scene<'_, D, Self>,
        flux: &Self::Buf<f64>,
        conductance: &Self::Buf<f64>,
        dt: f64,
        b: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn sizes(
        at: &Scene<'_, D, Self>,
        flux: &Self::Buf<f64>,
        b: &Self::Buf<f64>,
        dt: f64,
    ) -> Made<Sizes>;

    fn pull(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D, Self>,
        before: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn correct(
        at: &Scene<'_, D, Self>,
        after_and_before: [&Self::Buf<f64>; 2],
        dt: f64,
        flux: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn to_cells(
        at: &Scene<'_, D, Self>,
        acceleration: &Self::Buf<f64>,
        dt: f64,
        fields: &mut Fields<D, Self>,
    ) -> Made<()>;

    fn seen(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>, of: &Sight) -> Made<SeenBlocks>;

    fn move_fractions(of: &Passage<'_, D, Self>, to: &mut Self::Buf<f64>) -> Made<()>;

    fn move_velocity(
        of: &Passage<'_, D, Self>,
        component: usize,
        to: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn keep_momentum(
        of: &Passage<'_, D, Self>,
        component: usize,
        alpha: &Self::Buf<f64>,
        to: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn move_starts(
        of: &Passage<'_, D, Self>,
        from: &Self::Buf<f64>,
        to: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// Those of refined blocks, and of leaves beside finer ones, are the means of the fine faces, which come later.
    fn move_faces(of: &Passage<'_, D, Self>, to: &mut Self::Buf<f64>) -> Made<()>;

    fn survey(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>, levels: usize) -> Made<Survey>;
}
