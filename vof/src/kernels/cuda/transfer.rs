//! Fields from one mesh to another.

use super::heat::DeviceHeat;
use super::{DeviceParams, THREADS, TRANSFER, tile_threads};
use crate::kernels::{Made, TransferKernels};
use crate::transfer::Passage;
use cutlink_device::{
    DeviceError,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

type Buf = CudaBuf<f64>;

/// # Panics
/// Where arrays of cells are not of the meshes.
fn check<const D: usize>(of: &Passage<'_, D, Cuda>, from: &[&Buf], to: &[&Buf]) {
    let lens = |of: &[&Buf]| of.iter().map(|buf| buf.len()).collect::<Vec<_>>();
    of.old.tables.check(&lens(from), &[]);
    of.new.tables.check(&lens(to), &[]);
    assert_eq!(
        of.sources.len(),
        of.new.tables.len(),
        "a source for each block"
    );
}

impl<const D: usize> TransferKernels<D> for Cuda {
    fn move_fractions(of: &Passage<'_, D, Self>, to: &mut Buf) -> Made<()> {
        check(of, &[&of.from.alpha], &[to]);
        let launch = of
            .new
            .backend
            .launch(&TRANSFER, D, "move_fractions")
            .val(of.old.tables.addresses())
            .buf(&of.sources)
            .buf(&of.from.alpha)
            .out(to);
        let blocks = of.new.tables.len();
        // SAFETY: arrays of the two meshes, here and below; sources are blocks of the old one.
        unsafe { launch.run(LaunchGrid::blocks(blocks, tile_threads(D)))? };
        Ok(())
    }

    fn move_velocity(of: &Passage<'_, D, Self>, component: usize, to: &mut Buf) -> Made<()> {
        let u = &of.from.velocity[component];
        check(of, &[&of.from.alpha, u], &[to]);
        let launch = of
            .new
            .backend
            .launch(&TRANSFER, D, "move_velocity")
            .val(of.old.tables.addresses())
            .val(DeviceParams::new(of.old.params))
            .buf(&of.sources)
            .val(to.len() as u64)
            .buf(&of.from.alpha)
            .buf(u)
            .val(component as i32)
            .out(to);
        // SAFETY: as above.
        unsafe { launch.run(of.new.tables.over_cells())? };
        Ok(())
    }

    fn keep_momentum(
        of: &Passage<'_, D, Self>,
        component: usize,
        alpha: &Buf,
        to: &mut Buf,
    ) -> Made<()> {
        let u = &of.from.velocity[component];
        check(of, &[&of.from.alpha, u], &[alpha, to]);
        let launch = of
            .new
            .backend
            .launch(&TRANSFER, D, "keep_momentum")
            .val(DeviceParams::new(of.old.params))
            .buf(&of.sources)
            .val(to.len() as u64)
            .buf(&of.from.alpha)
            .buf(u)
            .buf(alpha)
            .out(to);
        // SAFETY: as above; a thread has the parts of one coarse cell.
        unsafe { launch.run(of.new.tables.over_cells())? };
        Ok(())
    }

    fn move_starts(of: &Passage<'_, D, Self>, from: &Buf, to: &mut Buf) -> Made<()> {
        check(of, &[from], &[to]);
        let launch = of
            .new
            .backend
            .launch(&TRANSFER, D, "move_starts")
            .buf(&of.sources)
            .val(to.len() as u64)
            .buf(from)
            .out(to);
        // SAFETY: as above.
        unsafe { launch.run(of.new.tables.over_cells())? };
        Ok(())
    }

    fn move_faces(of: &Passage<'_, D, Self>, to: &mut Buf) -> Made<()> {
        let flux = &of.from.flux;
        of.old.tables.check(&[], &[flux.len()]);
        of.new.tables.check(&[], &[to.len()]);
        let launch = of
            .new
            .backend
            .launch(&TRANSFER, D, "move_faces")
            .val(of.old.tables.addresses())
            .buf(&of.sources)
            .val(to.len() as u64)
            .buf(flux)
            .out(to);
        let len = of.new.tables.len() * cutlink_elliptic::faces::per_block(D);
        // SAFETY: as above, arrays of faces.
        unsafe { launch.run(LaunchGrid::over(len, THREADS))? };
        Ok(())
    }
}

pub(super) fn temperature<const D: usize>(
    of: &Passage<'_, D, Cuda>,
    heat: DeviceHeat<D>,
    from: &Buf,
    alpha: &Buf,
    to: &mut Buf,
) -> Result<(), DeviceError> {
    check(of, &[&of.from.alpha, from], &[alpha, to]);
    let cuda = of.new.backend;
    let launch = cuda
        .launch(&TRANSFER, D, "move_temperature")
        .val(of.old.tables.addresses())
        .val(heat)
        .buf(&of.sources)
        .val(to.len() as u64)
        .buf(&of.from.alpha)
        .buf(from)
        .out(to);
    // SAFETY: as above.
    unsafe { launch.run(of.new.tables.over_cells())? };
    let launch = cuda
        .launch(&TRANSFER, D, "keep_heat")
        .val(heat)
        .buf(&of.sources)
        .val(to.len() as u64)
        .buf(&of.from.alpha)
        .buf(from)
        .buf(alpha)
        .out(to);
    // SAFETY: as above; a thread has the parts of one coarse cell.
    unsafe { launch.run(of.new.tables.over_cells()) }
}
