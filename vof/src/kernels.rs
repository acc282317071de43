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

use crate::adapt::{self, SeenBlocks, Sight};
use crate::grain_cells::{GrainCells, RigidMotion};
use crate::interface::Planes;
use crate::mesh::FlowMesh;
use crate::params::FlowParams;
use crate::penalty::{self, GrainSum};
use crate::project::{self, Sizes};
use crate::running::Fields;
use crate::survey::{self, Survey};
use crate::sweep::{self, Crossing, Moved, SweepWork};
use crate::transfer::Passage;
use crate::turning::Rotation;
use crate::viscous::{self, System};
use crate::{TwoPhaseError, forces};
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
    /// A backend without grains.
    fn grains(&self, cells: GrainCells) -> Made<Self::Grains>;

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

/// What the CPU keeps of the interface.
#[derive(Debug, Default)]
pub(crate) struct Interface<const D: usize> {
    planes: Planes<D>,
    curvatures: [usize; 2],
}

impl<const D: usize> TwoPhaseKernels<D> for Host {
    type Mesh = ();
    type Interface = Interface<D>;

    type Grains = GrainCells;

    fn grains(&self, cells: GrainCells) -> Made<GrainCells> {
        Ok(cells)
    }

    fn rigid(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D>,
    ) -> Made<Vec<GrainSum>> {
        let Fields {
            alpha, velocity, ..
        } = fields;
        let of = |grains| penalty::rigid(grains, at.params, motions, alpha, velocity);
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn interior(at: &Scene<'_, D, Self>, fields: &Fields<D>) -> Made<Vec<GrainSum>> {
        let of = |grains| penalty::interior(grains, at.params, &fields.alpha, &fields.velocity);
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn around(at: &Scene<'_, D, Self>, alpha: &Vec<f64>) -> Made<Vec<f64>> {
        let of = |grains| penalty::around(grains, alpha);
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn penalise(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        of: &System<'_, Self>,
        conductance: &Vec<f64>,
        [diagonal, b]: [&mut Vec<f64>; 2],
    ) -> Made<()> {
        if let Some(grains) = at.grains {
            let held = penalty::Held {
                component: of.component,
                dt: of.dt,
                alpha: of.alpha,
                conductance,
            };
            let to = [diagonal, b].map(|v| &mut v[..]);
            penalty::penalise((at.mesh, at.params), grains, motions, &held, to);
        }
        Ok(())
    }

    fn handed(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        component_and_dt: (usize, f64),
        conductance_and_u: [&Vec<f64>; 2],
        sums: &mut [GrainSum],
    ) -> Made<()> {
        if let Some(grains) = at.grains {
            let values = conductance_and_u.map(|v| &v[..]);
            penalty::handed::<D>(grains, motions, component_and_dt, values, sums);
        }
        Ok(())
    }

    fn blend(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D>,
    ) -> Made<Vec<f64>> {
        let of = |grains| penalty::blend(grains, at.params, motions, fields);
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn accelerate_grains(
        at: &Scene<'_, D, Self>,
        accelerations: &[RigidMotion],
        alpha: &Vec<f64>,
        out: &mut Vec<f64>,
    ) -> Made<Vec<GrainSum>> {
        let both = (at.mesh, at.params);
        let of = |grains| penalty::accelerate(both, grains, accelerations, alpha, out);
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn unblend(
        at: &Scene<'_, D, Self>,
        kept: &Vec<f64>,
        dt: f64,
        fields: &mut Fields<D>,
    ) -> Made<()> {
        if let Some(grains) = at.grains {
            penalty::unblend(grains, kept, dt, fields);
        }
        Ok(())
    }

    fn pushed(at: &Scene<'_, D, Self>, pull: &[Vec<f64>; D]) -> Made<Vec<GrainSum>> {
        let of = |grains| penalty::pushed(grains, pull);
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn upload_mesh(&self, _: &FlowMesh<D>) -> Made<()> {
        Ok(())
    }

    fn blocks_of((): &()) -> &() {
        &()
    }

    fn interface(_: &Scene<'_, D, Self>) -> Made<Interface<D>> {
        Ok(Interface::default())
    }

    fn mark_full(_: &Scene<'_, D, Self>, alpha: &Vec<f64>, full: &mut Vec<u8>) -> Made<()> {
        sweep::mark_full(alpha, full);
        Ok(())
    }

    fn planes(at: &Scene<'_, D, Self>, alpha: &Vec<f64>, interface: &mut Interface<D>) -> Made<()> {
        interface.planes = Planes::new(at.mesh, at.params, alpha)?;
        Ok(())
    }

    fn fluxes(
        at: &Scene<'_, D, Self>,
        interface: &Interface<D>,
        of: &Crossing<'_, D, Self>,
        w: &mut SweepWork<D, Self>,
    ) -> Made<()> {
        sweep::fluxes(at, &interface.planes, of, w);
        Ok(())
    }

    fn update(
        at: &Scene<'_, D, Self>,
        flux: &Vec<f64>,
        along: (f64, usize),
        w: &SweepWork<D, Self>,
        moved: Moved<'_, D, Self>,
    ) -> Made<()> {
        sweep::update(at, flux, along, w, moved);
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

    fn viscosity(at: &Scene<'_, D, Self>, alpha: &Vec<f64>, out: &mut Vec<f64>) -> Made<()> {
        viscous::viscosity(at.mesh, at.params, at.grains, alpha, out);
        Ok(())
    }

    fn stress(
        at: &Scene<'_, D, Self>,
        velocity: &[Vec<f64>; D],
        conductance: &Vec<f64>,
        component: usize,
        out: &mut Vec<f64>,
    ) -> Made<()> {
        viscous::stress(at.mesh, velocity, conductance, component, out);
        Ok(())
    }

    fn force(at: &Scene<'_, D, Self>, stress: &Vec<f64>, out: &mut Vec<f64>) -> Made<()> {
        viscous::force(at.mesh, stress, out);
        Ok(())
    }

    fn kick(_: &Scene<'_, D, Self>, pull: &Vec<f64>, dt: f64, u: &mut Vec<f64>) -> Made<()> {
        viscous::kick(pull, dt, u);
        Ok(())
    }

    fn equation(
        at: &Scene<'_, D, Self>,
        of: &System<'_, Self>,
        diagonal: &mut Vec<f64>,
        b: &mut Vec<f64>,
    ) -> Made<()> {
        viscous::equation(at.mesh, at.params, at.grains, of, diagonal, b);
        Ok(())
    }

    fn coriolis(at: &Scene<'_, D, Self>, by: &Rotation, velocity: &mut [Vec<f64>; D]) -> Made<()> {
        by.turn(at.mesh, velocity);
        Ok(())
    }

    fn accelerate(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D>,
        interface: &mut Interface<D>,
        out: &mut Vec<f64>,
    ) -> Made<()> {
        let found = forces::accelerate(at.mesh, at.params, at.grains, fields, out)?;
        interface.curvatures = [found.by_heights, found.by_fit];
        Ok(())
    }

    fn curvatures(_: &Scene<'_, D, Self>, interface: &Interface<D>) -> Made<[usize; 2]> {
        Ok(interface.curvatures)
    }

    fn to_faces(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D>,
        acceleration: &Vec<f64>,
        dt: f64,
    ) -> Made<()> {
        project::to_faces(at.mesh, at.params, at.grains, fields, acceleration, dt);
        Ok(())
    }

    fn conductance(at: &Scene<'_, D, Self>, alpha: &Vec<f64>, out: &mut Vec<f64>) -> Made<()> {
        project::conductance(at.mesh, at.params, at.grains, alpha, out);
        Ok(())
    }

    fn right_side(
        at: &Scene<'_, D, Self>,
        flux: &Vec<f64>,
        conductance: &Vec<f64>,
        dt: f64,
        b: &mut Vec<f64>,
    ) -> Made<()> {
        project::right_side(at.mesh, at.params, flux, conductance, dt, b);
        Ok(())
    }

    fn sizes(at: &Scene<'_, D, Self>, flux: &Vec<f64>, b: &Vec<f64>, dt: f64) -> Made<Sizes> {
        Ok(project::sizes(at.mesh, flux, b, dt))
    }

    fn pull(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D>,
        before: &Vec<f64>,
        out: &mut Vec<f64>,
    ) -> Made<()> {
        project::pull(at.mesh, at.params, at.grains, fields, before, out);
        Ok(())
    }

    fn correct(
        at: &Scene<'_, D, Self>,
        [after, before]: [&Vec<f64>; 2],
        dt: f64,
        flux: &mut Vec<f64>,
    ) -> Made<()> {
        project::correct(at.mesh, [after, before], dt, flux);
        Ok(())
    }

    fn to_cells(
        at: &Scene<'_, D, Self>,
        acceleration: &Vec<f64>,
        dt: f64,
        fields: &mut Fields<D>,
    ) -> Made<()> {
        project::to_cells(at.mesh, acceleration, dt, fields);
        Ok(())
    }

    fn seen(at: &Scene<'_, D, Self>, fields: &Fields<D>, of: &Sight) -> Made<SeenBlocks> {
        Ok(adapt::seen(at.mesh, at.params, fields, of))
    }

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

    fn survey(at: &Scene<'_, D, Self>, fields: &Fields<D>, levels: usize) -> Made<Survey> {
        Ok(survey::survey(at.mesh, fields, levels))
    }
}
