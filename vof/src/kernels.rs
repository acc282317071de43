//! The stages of a step. A backend implements [`TwoPhaseKernels`]: the CPU by functions of the files named here, a GPU by
//! kernels of the same names in `cuda/`.
//!
//! | stage | contract | file |
//! |---|---|---|
//! | `mark_full` | cells that are more than half full | `sweep` |
//! | `planes` | the interface in mixed cells | `interface` |
//! | `fluxes` | liquid and momentum through the faces along an axis | `sweep` |
//! | `update` | what crossed is added to volume and momentum of cells | `sweep` |
//! | `keep_volume` | what the residual divergence added is taken from mixed cells | `sweep` |
//! | `viscous` | viscosity, implicit | `viscous` |
//! | `coriolis` | Coriolis' acceleration | `turning` |
//! | `accelerate` | accelerations of faces by tension and weight | `forces` |
//! | `to_faces`, `project` | velocities of faces, free of divergence | `project` |
//! | `survey` | the largest Courant number and divergence, and whether a value is out of bounds | `survey` |
//!
//! Each number is the result of the same operations in the same order on every backend, sums included.

#[cfg(feature = "cuda")]
pub(crate) mod cuda;

use crate::interface::Planes;
use crate::mesh::FlowMesh;
use crate::params::FlowParams;
use crate::project::{self, ProjectWork};
use crate::running::Fields;
use crate::survey::{self, Survey};
use crate::sweep::{self, Crossing, SweepWork};
use crate::viscous::{self, ViscousWork};
use crate::{Turning, TwoPhaseError, forces};
use cutlink_device::Host;
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
}

/// The stages.
pub(crate) trait TwoPhaseKernels<const D: usize>: EllipticKernels<D> {
    /// A mesh in the backend's memory.
    type Mesh: Debug + Send + Sync;
    /// Planes of mixed cells.
    type Planes: Debug;
    /// What the viscous step keeps.
    type Viscous: Debug + Default + Send + Sync;
    /// What the projection keeps.
    type Projection: Debug + Default + Send + Sync;

    fn upload_mesh(&self, mesh: &FlowMesh<D>) -> Made<Self::Mesh>;

    /// Of a mesh, what the solver reads.
    fn blocks_of(mesh: &Self::Mesh) -> &<Self as EllipticKernels<D>>::Tables;

    fn mark_full(
        at: &Scene<'_, D, Self>,
        alpha: &Self::Buf<f64>,
        full: &mut Self::Buf<u8>,
    ) -> Made<()>;

    /// # Errors
    /// An interface on a coarse level.
    fn planes(at: &Scene<'_, D, Self>, alpha: &Self::Buf<f64>) -> Made<Self::Planes>;

    fn fluxes(
        at: &Scene<'_, D, Self>,
        planes: &Self::Planes,
        of: &Crossing<'_, D, Self>,
        w: &mut SweepWork<D, Self>,
    ) -> Made<()>;

    fn update(
        at: &Scene<'_, D, Self>,
        flux: &Self::Buf<f64>,
        along: (f64, usize),
        w: &SweepWork<D, Self>,
        alpha: &mut Self::Buf<f64>,
        velocity: Option<&mut [Self::Buf<f64>; D]>,
    ) -> Made<()>;

    fn keep_volume(
        at: &Scene<'_, D, Self>,
        alpha: &mut Self::Buf<f64>,
        flux: &Self::Buf<f64>,
        dt: f64,
        full: &Self::Buf<u8>,
    ) -> Made<()>;

    /// Returns the most iterations of a component.
    fn viscous(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D, Self>,
        w: &mut Self::Viscous,
        dt: f64,
    ) -> Made<usize>;

    fn coriolis(
        at: &Scene<'_, D, Self>,
        turning: &Turning<D>,
        velocity: &mut [Self::Buf<f64>; D],
        dt: f64,
    ) -> Made<()>;

    /// Returns how many cells have their curvature from heights, and from fits.
    fn accelerate(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D, Self>,
        out: &mut Self::Buf<f64>,
    ) -> Made<[usize; 2]>;

    fn to_faces(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D, Self>,
        acceleration: &Self::Buf<f64>,
        dt: f64,
    ) -> Made<()>;

    /// Returns iterations.
    fn project(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D, Self>,
        acceleration: &mut Self::Buf<f64>,
        w: &mut Self::Projection,
        dt: f64,
    ) -> Made<usize>;

    fn survey(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>) -> Made<Survey>;
}

impl<const D: usize> TwoPhaseKernels<D> for Host {
    type Mesh = ();
    type Planes = Planes<D>;
    type Viscous = ViscousWork<D>;
    type Projection = ProjectWork<D>;

    fn upload_mesh(&self, _: &FlowMesh<D>) -> Made<()> {
        Ok(())
    }

    fn blocks_of((): &()) -> &() {
        &()
    }

    fn mark_full(_: &Scene<'_, D, Self>, alpha: &Vec<f64>, full: &mut Vec<u8>) -> Made<()> {
        sweep::mark_full(alpha, full);
        Ok(())
    }

    fn planes(at: &Scene<'_, D, Self>, alpha: &Vec<f64>) -> Made<Planes<D>> {
        Planes::new(at.mesh, at.params, alpha)
    }

    fn fluxes(
        at: &Scene<'_, D, Self>,
        planes: &Planes<D>,
        of: &Crossing<'_, D, Self>,
        w: &mut SweepWork<D, Self>,
    ) -> Made<()> {
        sweep::fluxes(at, planes, of, w);
        Ok(())
    }

    fn update(
        at: &Scene<'_, D, Self>,
        flux: &Vec<f64>,
        along: (f64, usize),
        w: &SweepWork<D, Self>,
        alpha: &mut Vec<f64>,
        velocity: Option<&mut [Vec<f64>; D]>,
    ) -> Made<()> {
        sweep::update(at, flux, along, w, alpha, velocity);
        Ok(())
    }

    fn keep_volume(
        at: &Scene<'_, D, Self>,
        alpha: &mut Vec<f64>,
        flux: &Vec<f64>,
        dt: f64,
        full: &Vec<u8>,
    ) -> Made<()> {
        sweep::keep_volume(at.mesh, alpha, flux, dt, full);
        Ok(())
    }

    fn viscous(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D>,
        w: &mut ViscousWork<D>,
        dt: f64,
    ) -> Made<usize> {
        viscous::advance(at.mesh, at.params, fields, w, dt)
    }

    fn coriolis(
        at: &Scene<'_, D, Self>,
        turning: &Turning<D>,
        velocity: &mut [Vec<f64>; D],
        dt: f64,
    ) -> Made<()> {
        turning.turn(at.mesh, velocity, dt);
        Ok(())
    }

    fn accelerate(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D>,
        out: &mut Vec<f64>,
    ) -> Made<[usize; 2]> {
        let found = forces::accelerate(at.mesh, at.params, fields, out)?;
        Ok([found.by_heights, found.by_fit])
    }

    fn to_faces(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D>,
        acceleration: &Vec<f64>,
        dt: f64,
    ) -> Made<()> {
        project::to_faces(at.mesh, at.params, fields, acceleration, dt);
        Ok(())
    }

    fn project(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D>,
        acceleration: &mut Vec<f64>,
        w: &mut ProjectWork<D>,
        dt: f64,
    ) -> Made<usize> {
        let solved = project::project(at.mesh, at.params, fields, acceleration, w, dt)?;
        Ok(solved.iterations)
    }

    fn survey(at: &Scene<'_, D, Self>, fields: &Fields<D>) -> Made<Survey> {
        Ok(survey::survey(at.mesh, fields))
    }
}
