//! Fields from one mesh to another.

use super::{DeviceParams, THREADS, TRANSFER, tile_threads};
use crate::transfer::Passage;
use cutlink_device::{
    DeviceError,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

type Buf = CudaBuf<f64>;
type Done = Result<(), DeviceError>;

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

pub(super) fn fractions<const D: usize>(of: &Passage<'_, D, Cuda>, to: &mut Buf) -> Done {
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
    unsafe { launch.run(LaunchGrid::blocks(blocks, tile_threads(D))) }
}

pub(super) fn velocity<const D: usize>(
    of: &Passage<'_, D, Cuda>,
    component: usize,
    to: &mut Buf,
) -> Done {
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
    unsafe { launch.run(of.new.tables.over_cells()) }
}

pub(super) fn keep_momentum<const D: usize>(
    of: &Passage<'_, D, Cuda>,
    component: usize,
    alpha: &Buf,
    to: &mut Buf,
) -> Done {
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
    unsafe { launch.run(of.new.tables.over_cells()) }
}

pub(super) fn starts<const D: usize>(of: &Passage<'_, D, Cuda>, from: &Buf, to: &mut Buf) -> Done {
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
    unsafe { launch.run(of.new.tables.over_cells()) }
}

pub(super) fn faces<const D: usize>(of: &Passage<'_, D, Cuda>, to: &mut Buf) -> Done {
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
    unsafe { launch.run(LaunchGrid::over(len, THREADS)) }
}
