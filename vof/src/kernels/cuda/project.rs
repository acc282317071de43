//! The projection: one thread a cell, or a face where these are written.

use super::{LANES, PROJECT, addresses, grains_of, values};
use crate::kernels::{Made, ProjectionKernels, Scene};
use crate::project::Sizes;
use crate::running::Fields;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

type Buf = CudaBuf<f64>;

impl<const D: usize> ProjectionKernels<D> for Cuda {
    fn to_faces(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D, Self>,
        acceleration: &Buf,
        dt: f64,
    ) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check_fields(fields);
        mesh.check(&[], &[acceleration.len()]);
        let launch = cuda
            .launch(&PROJECT, D, "to_faces")
            .val(mesh.addresses())
            .val(values(at))
            .val(grains_of(at))
            .buf(&fields.alpha)
            .val(addresses(fields.velocity.each_ref()))
            .buf(acceleration)
            .val(dt)
            .out(&mut fields.flux);
        // SAFETY: fields of the mesh, here and below.
        unsafe { launch.run(mesh.over_faces())? };
        Ok(())
    }

    fn conductance(at: &Scene<'_, D, Self>, alpha: &Buf, out: &mut Buf) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check(&[alpha.len()], &[out.len()]);
        let launch = cuda
            .launch(&PROJECT, D, "conductance")
            .val(mesh.addresses())
            .val(values(at))
            .val(grains_of(at))
            .buf(alpha)
            .out(out);
        // SAFETY: as above.
        unsafe { launch.run(mesh.over_faces())? };
        Ok(())
    }

    fn right_side(
        at: &Scene<'_, D, Self>,
        flux: &Buf,
        conductance: &Buf,
        dt: f64,
        b: &mut Buf,
    ) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check(&[b.len()], &[flux.len(), conductance.len()]);
        let launch = cuda
            .launch(&PROJECT, D, "right_side")
            .val(mesh.addresses())
            .val(values(at))
            .buf(flux)
            .buf(conductance)
            .val(dt)
            .out(b);
        // SAFETY: as above.
        unsafe { launch.run(mesh.over_cells())? };
        Ok(())
    }

    fn sizes(at: &Scene<'_, D, Self>, flux: &Buf, b: &Buf, dt: f64) -> Made<Sizes> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check(&[b.len()], &[flux.len()]);
        let mut sums = cuda.alloc("sums of blocks", 3 * mesh.len(), 0.0)?;
        let launch = cuda
            .launch(&PROJECT, D, "block_sizes")
            .val(mesh.addresses())
            .buf(flux)
            .buf(b)
            .val(dt)
            .out(&mut sums);
        // SAFETY: as above; three sums of each block.
        unsafe { launch.run(mesh.over_cells())? };
        let mut found = cuda.alloc("sums", 3, 0.0)?;
        let launch = cuda
            .launch(&PROJECT, D, "sizes")
            .buf(&sums)
            .val(mesh.len() as u32)
            .out(&mut found);
        // SAFETY: as above; a thread block for each of three.
        unsafe { launch.run(LaunchGrid::blocks(3, LANES))? };
        let found = cuda.download(&found)?;
        Ok(Sizes {
            net: found[0],
            all: found[1],
            squares: found[2],
        })
    }

    fn pull(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D, Self>,
        before: &Buf,
        out: &mut Buf,
    ) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check_fields(fields);
        mesh.check(&[], &[before.len(), out.len()]);
        let launch = cuda
            .launch(&PROJECT, D, "pull")
            .val(mesh.addresses())
            .val(values(at))
            .val(grains_of(at))
            .buf(&fields.alpha)
            .buf(&fields.pressure)
            .buf(before)
            .out(out);
        // SAFETY: as above.
        unsafe { launch.run(mesh.over_faces())? };
        Ok(())
    }

    fn correct(
        at: &Scene<'_, D, Self>,
        [after, before]: [&Buf; 2],
        dt: f64,
        flux: &mut Buf,
    ) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check(&[], &[after.len(), before.len(), flux.len()]);
        let launch = cuda
            .launch(&PROJECT, D, "correct")
            .val(mesh.addresses())
            .buf(after)
            .buf(before)
            .val(dt)
            .out(flux);
        // SAFETY: as above; one thread a face.
        unsafe { launch.run(mesh.over_faces())? };
        Ok(())
    }

    fn to_cells(
        at: &Scene<'_, D, Self>,
        acceleration: &Buf,
        dt: f64,
        fields: &mut Fields<D, Self>,
    ) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check_fields(fields);
        mesh.check(&[], &[acceleration.len()]);
        let launch = cuda
            .launch(&PROJECT, D, "to_cells")
            .val(mesh.addresses())
            .buf(acceleration)
            .val(dt)
            .val(fields.velocity.each_mut().map(CudaBuf::share))
            .val(fields.pull.each_mut().map(CudaBuf::share));
        // SAFETY: as above; the fields are borrowed for writing.
        unsafe { launch.run(mesh.over_cells())? };
        Ok(())
    }
}
