//! Coefficients on all levels, and their checks.

use super::{Buf, DeviceBlocks, Done, PREPARE, THREADS};
use crate::regions::OpenFaces;
use crate::{Blocks, EllipticError, EllipticOperator, faces};
use cutlink_device::Backend;
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// No block.
const NOWHERE: u32 = u32::MAX;

pub(super) fn restrict_faces<const D: usize>(
    cuda: &Cuda,
    blocks: &Blocks<D>,
    tables: &DeviceBlocks,
    values: &mut Buf,
    factor: [f64; 2],
) -> Done {
    let per = faces::per_block(D);
    assert_eq!(values.len(), blocks.len() * per, "faces of each block");
    for level in (0..blocks.finest()).rev() {
        let range = blocks.range(level);
        let launch = cuda
            .launch(&PREPARE, D, "restrict_faces")
            .val(tables.addresses())
            .val(range.start as u32)
            .val(range.len() as u32)
            .val(factor[0])
            .val(factor[1])
            .out(values);
        // SAFETY: an array of the blocks' faces; what is read is of the next finer level.
        unsafe { launch.run(LaunchGrid::over(range.len() * per, THREADS))? };
    }
    Ok(())
}

pub(super) fn open_faces<const D: usize>(
    cuda: &Cuda,
    blocks: &Blocks<D>,
    conductance: &Buf,
    diagonal: &Buf,
) -> Result<Vec<OpenFaces>, EllipticError> {
    let (count, has_diagonal) = (blocks.len(), !diagonal.is_empty());
    assert_eq!(
        conductance.len(),
        count * faces::per_block(D),
        "faces of each block"
    );
    assert!(
        !has_diagonal || diagonal.len() == blocks.cells(),
        "cells of each block"
    );
    let mut open = cuda.uninit::<OpenFaces>("open faces", count)?;
    let launch = cuda
        .launch(&PREPARE, D, "open_faces")
        .buf(conductance)
        .buf(diagonal)
        .val(u32::from(has_diagonal))
        .out(&mut open);
    // SAFETY: arrays of the blocks' faces and cells, one thread block each.
    unsafe { launch.run(LaunchGrid::blocks(count, THREADS))? };
    Ok(cuda.download(&open)?)
}

fn read_first(cuda: &Cuda, first: &CudaBuf<u32>) -> Result<Option<usize>, EllipticError> {
    let found = cuda.download(first)?[0];
    Ok((found != NOWHERE).then_some(found as usize))
}

pub(super) fn first_bad<const D: usize>(
    cuda: &Cuda,
    blocks: &Blocks<D>,
    tables: &DeviceBlocks,
    values: &Buf,
    per: usize,
) -> Result<Option<usize>, EllipticError> {
    assert_eq!(values.len(), blocks.len() * per, "values of each block");
    let mut first = cuda.alloc("a block", 1, NOWHERE)?;
    let launch = cuda
        .launch(&PREPARE, D, "first_bad")
        .val(tables.addresses())
        .val(values.len() as u64)
        .val(per as u32)
        .buf(values)
        .out(&mut first);
    // SAFETY: `per` values of each block.
    unsafe { launch.run(LaunchGrid::over(values.len(), THREADS))? };
    read_first(cuda, &first)
}

pub(super) fn first_opened<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    conductance: &Buf,
) -> Result<Option<usize>, EllipticError> {
    let mut first = cuda.alloc("a block", 1, NOWHERE)?;
    let launch = cuda
        .launch(&PREPARE, D, "first_opened")
        .val(op.tables.addresses())
        .val(conductance.len() as u64)
        .buf(&op.conductance)
        .buf(conductance)
        .out(&mut first);
    // SAFETY: arrays of the blocks' faces, whose lengths the caller has checked.
    unsafe { launch.run(LaunchGrid::over(conductance.len(), THREADS))? };
    read_first(cuda, &first)
}

pub(super) fn least_share<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
) -> Result<f64, EllipticError> {
    let mut least = cuda.alloc("a share", 1, 1.0)?;
    let cells = op.blocks.cells();
    let launch = cuda
        .launch(&PREPARE, D, "least_share")
        .val(op.addresses())
        .val(cells as u32)
        .out(&mut least);
    // SAFETY: arrays of the operator's cells, with a diagonal.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(cuda.download(&least)?[0])
}

pub(super) fn inverses<const D: usize>(cuda: &Cuda, op: &mut EllipticOperator<D, Cuda>) -> Done {
    let (addresses, cells) = (op.addresses(), op.blocks.cells());
    let launch = cuda
        .launch(&PREPARE, D, "inverses")
        .val(addresses)
        .val(cells as u32)
        .out(&mut op.inverse);
    // SAFETY: an array of the operator's cells.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    let cells = op.layer_inverse.len();
    let launch = cuda
        .launch(&PREPARE, D, "layer_inverses")
        .val(addresses)
        .val(op.lists.addresses())
        .val(cells as u32)
        .out(&mut op.layer_inverse);
    // SAFETY: an array of the layers' cells.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(())
}
