//! Stages of a step with grains: one thread block a grain where its cells are added up, else one thread a cell or face.

use super::grain_cells::DeviceGrains;
use super::{DeviceMesh, DeviceParams, PENALTY, addresses, values};
use crate::grain_cells::RigidMotion;
use crate::kernels::{GrainKernels, Made, Scene};
use crate::penalty::{GrainSum, add_sums, mean_around};
use crate::running::Fields;
use crate::viscous::System;
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, CudaBuf, Launch},
};

type Buf = CudaBuf<f64>;
type Done = Result<(), DeviceError>;
type Sums = Result<Vec<GrainSum>, DeviceError>;

/// A mesh with grains.
#[derive(Debug, Clone, Copy)]
struct Place<'a, const D: usize> {
    cuda: &'a Cuda,
    mesh: &'a DeviceMesh<D>,
    params: DeviceParams<D>,
    grains: &'a DeviceGrains,
}

impl<const D: usize> Place<'_, D> {
    /// A launch that begins with the grains.
    fn launch(&self, kernel: &'static str) -> Launch<'_> {
        let launch = self.cuda.launch(&PENALTY, D, kernel);
        launch.val(self.grains.addresses())
    }

    /// A launch that begins with mesh, parameters and grains, for a thread a cell or face of the mesh.
    fn launch_on_mesh(&self, kernel: &'static str) -> Launch<'_> {
        let launch = self.cuda.launch(&PENALTY, D, kernel);
        launch
            .val(self.mesh.addresses())
            .val(self.params)
            .val(self.grains.addresses())
    }

    /// Motions of all grains, in the device's memory.
    ///
    /// # Panics
    /// Where they are of other grains.
    fn upload(&self, motions: &[RigidMotion]) -> Result<Buf, DeviceError> {
        assert_eq!(motions.len(), self.grains.len(), "a motion for each grain");
        let numbers = motions.iter().flat_map(|m| [m.u, m.w]).flatten();
        self.cuda.upload(numbers.collect())
    }

    /// What a kernel finds of each grain; `sums` is its last argument.
    ///
    /// # Safety
    /// The kernel must stay within the buffers it is given, for a thread block a grain.
    unsafe fn sums<'a>(&'a self, launch: Launch<'a>) -> Sums {
        let mut sums = self
            .cuda
            .alloc("sums of grains", 6 * self.grains.len(), 0.0)?;
        // SAFETY: six numbers of each grain; the rest is the caller's promise.
        unsafe { launch.val(sums.share()).run(self.grains.over_grains())? };
        let numbers = self.cuda.download(&sums)?;
        let of = |six: &[f64; 6]| [[six[0], six[1], six[2]], [six[3], six[4], six[5]]];
        Ok(numbers.as_chunks::<6>().0.iter().map(of).collect())
    }

    fn rigid(&self, motions: &[RigidMotion], fields: &mut Fields<D, Cuda>) -> Sums {
        self.mesh.check_fields(fields);
        let motions = self.upload(motions)?;
        let launch = self
            .launch("given")
            .val(self.params)
            .buf(&motions)
            .buf(&fields.alpha)
            .val(addresses(fields.velocity.each_ref()));
        // SAFETY: fields of the mesh, whose cells those of grains are, here and below.
        let given = unsafe { self.sums(launch)? };
        let launch = self
            .launch("rigid")
            .buf(&motions)
            .val(fields.velocity.each_mut().map(CudaBuf::share));
        // SAFETY: as above; the fields are borrowed for writing.
        unsafe { launch.run(self.grains.over_cells())? };
        Ok(given)
    }

    fn interior(&self, fields: &Fields<D, Cuda>) -> Sums {
        self.mesh.check_fields(fields);
        let launch = self
            .launch("interior")
            .val(self.params)
            .buf(&fields.alpha)
            .val(addresses(fields.velocity.each_ref()));
        // SAFETY: as above.
        unsafe { self.sums(launch) }
    }

    fn around(&self, alpha: &Buf) -> Result<Vec<f64>, DeviceError> {
        self.mesh.check(&[alpha.len()], &[]);
        // SAFETY: as above.
        let sums = unsafe { self.sums(self.launch("around").buf(alpha))? };
        Ok(sums.iter().map(mean_around).collect())
    }

    fn penalise(
        &self,
        motions: &[RigidMotion],
        of: &System<'_, Cuda>,
        conductance: &Buf,
        [diagonal, b]: [&mut Buf; 2],
    ) -> Done {
        let of_cells = [of.alpha.len(), diagonal.len(), b.len()];
        self.mesh.check(&of_cells, &[conductance.len()]);
        let motions = self.upload(motions)?;
        let launch = self
            .launch_on_mesh("penalise")
            .buf(&motions)
            .val(of.component as u32)
            .val(of.dt)
            .buf(of.alpha)
            .buf(conductance)
            .out(diagonal)
            .out(b);
        // SAFETY: as above.
        unsafe { launch.run(self.mesh.over_cells()) }
    }

    fn handed(
        &self,
        motions: &[RigidMotion],
        (component, dt): (usize, f64),
        [conductance, u]: [&Buf; 2],
    ) -> Sums {
        self.mesh.check(&[u.len()], &[conductance.len()]);
        let motions = self.upload(motions)?;
        let launch = self
            .launch("handed")
            .buf(&motions)
            .val(component as u32)
            .val(dt)
            .buf(conductance)
            .buf(u);
        // SAFETY: as above.
        unsafe { self.sums(launch) }
    }

    fn accelerate(&self, accelerations: &[RigidMotion], alpha: &Buf, out: &mut Buf) -> Sums {
        self.mesh.check(&[alpha.len()], &[out.len()]);
        let accelerations = self.upload(accelerations)?;
        let launch = self
            .launch_on_mesh("accelerate")
            .buf(&accelerations)
            .buf(alpha)
            .out(out);
        // SAFETY: as above.
        unsafe { launch.run(self.mesh.over_faces())? };
        // SAFETY: as above.
        unsafe { self.sums(self.launch("taken").buf(&accelerations)) }
    }

    fn pushed(&self, pull: &[Buf; D]) -> Sums {
        self.mesh.check(&pull.each_ref().map(CudaBuf::len), &[]);
        let launch = self.launch("pushed").val(addresses(pull.each_ref()));
        // SAFETY: as above.
        unsafe { self.sums(launch) }
    }

    fn blend(
        &self,
        motions: &[RigidMotion],
        fields: &mut Fields<D, Cuda>,
    ) -> Result<Buf, DeviceError> {
        self.mesh.check_fields(fields);
        let motions = self.upload(motions)?;
        let len = D * self.grains.cells();
        let mut kept = self.cuda.alloc("velocities of cut cells", len, 0.0)?;
        let launch = self
            .launch("blend")
            .val(self.params)
            .buf(&motions)
            .buf(&fields.alpha)
            .val(fields.velocity.each_mut().map(CudaBuf::share))
            .out(&mut kept);
        // SAFETY: as above; a value of each axis and cell of a grain.
        unsafe { launch.run(self.grains.over_cells())? };
        Ok(kept)
    }

    /// # Panics
    /// Where `kept` is of other grains.
    fn unblend(&self, kept: &Buf, dt: f64, fields: &mut Fields<D, Cuda>) -> Done {
        self.mesh.check_fields(fields);
        assert_eq!(kept.len(), D * self.grains.cells(), "values of these cells");
        let launch = self
            .launch("unblend")
            .buf(kept)
            .val(dt)
            .val(addresses(fields.pull.each_ref()))
            .val(fields.velocity.each_mut().map(CudaBuf::share));
        // SAFETY: as above.
        unsafe { launch.run(self.grains.over_cells()) }
    }
}

/// What a stage of grains finds; nothing where there are none.
fn with_grains<'a, const D: usize, T: Default>(
    at: &Scene<'a, D, Cuda>,
    of: impl FnOnce(Place<'a, D>) -> Result<T, DeviceError>,
) -> Made<T> {
    let Some(grains) = at.grains else {
        return Ok(T::default());
    };
    let place = Place {
        cuda: at.backend,
        mesh: at.tables,
        params: values(at),
        grains,
    };
    Ok(of(place)?)
}

impl<const D: usize> GrainKernels<D> for Cuda {
    fn rigid(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D, Self>,
    ) -> Made<Vec<GrainSum>> {
        with_grains(at, |place| place.rigid(motions, fields))
    }

    fn interior(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>) -> Made<Vec<GrainSum>> {
        with_grains(at, |place| place.interior(fields))
    }

    fn around(at: &Scene<'_, D, Self>, alpha: &Buf) -> Made<Vec<f64>> {
        with_grains(at, |place| place.around(alpha))
    }

    fn penalise(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        of: &System<'_, Self>,
        conductance: &Buf,
        diagonal_and_b: [&mut Buf; 2],
    ) -> Made<()> {
        with_grains(at, |place| {
            place.penalise(motions, of, conductance, diagonal_and_b)
        })
    }

    fn handed(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        component_and_dt: (usize, f64),
        conductance_and_u: [&Buf; 2],
        sums: &mut [GrainSum],
    ) -> Made<()> {
        let found = with_grains(at, |place| {
            place.handed(motions, component_and_dt, conductance_and_u)
        })?;
        add_sums(sums, &found);
        Ok(())
    }

    fn accelerate_grains(
        at: &Scene<'_, D, Self>,
        accelerations: &[RigidMotion],
        alpha: &Buf,
        out: &mut Buf,
    ) -> Made<Vec<GrainSum>> {
        with_grains(at, |place| place.accelerate(accelerations, alpha, out))
    }

    fn blend(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D, Self>,
    ) -> Made<Buf> {
        match with_grains(at, |place| place.blend(motions, fields).map(Some))? {
            Some(kept) => Ok(kept),
            None => Ok(at.backend.alloc("velocities of cut cells", 0, 0.0)?),
        }
    }

    fn unblend(
        at: &Scene<'_, D, Self>,
        kept: &Buf,
        dt: f64,
        fields: &mut Fields<D, Self>,
    ) -> Made<()> {
        with_grains(at, |place| place.unblend(kept, dt, fields))
    }

    fn pushed(at: &Scene<'_, D, Self>, pull: &[Buf; D]) -> Made<Vec<GrainSum>> {
        with_grains(at, |place| place.pushed(pull))
    }
}
