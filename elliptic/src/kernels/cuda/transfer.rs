//! Between levels.

use super::{Buf, DeviceBlocks, Done, THREADS, TRANSFER};
use crate::cg::Arrays;
use crate::{Blocks, EllipticOperator};
use cutlink_amr::dims;
use cutlink_device::cuda::{Cuda, LaunchGrid};

/// Sums of a share of the children's cells into a level's refined blocks.
fn sum_children<const D: usize>(
    cuda: &Cuda,
    blocks: &Blocks<D>,
    tables: &DeviceBlocks,
    level: usize,
    [from, to]: [u64; 2],
    share: f64,
) -> Done {
    let range = blocks.range(level);
    let launch = cuda
        .launch(&TRANSFER, D, "sum_children")
        .val(tables.addresses())
        .val(range.start as u32)
        .val(range.len() as u32)
        .val(from)
        .val(share)
        .val(to);
    // SAFETY: arrays of the blocks' cells, which callers borrow; what is read is of the next finer level.
    unsafe { launch.run(LaunchGrid::over(range.len() * dims::cells(D), THREADS))? };
    Ok(())
}

pub(super) fn restrict_cells<const D: usize>(
    cuda: &Cuda,
    blocks: &Blocks<D>,
    tables: &DeviceBlocks,
    values: &mut Buf,
    share: f64,
) -> Done {
    assert_eq!(values.len(), blocks.cells(), "cells of each block");
    let at = values.share();
    for level in (0..blocks.finest()).rev() {
        sum_children(cuda, blocks, tables, level, [at, at], share)?;
    }
    Ok(())
}

pub(super) fn begin_cycle<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    w: &mut Arrays<Cuda>,
) -> Done {
    let launch = cuda
        .launch(&TRANSFER, D, "begin_cycle")
        .val(op.tables.addresses())
        .val(op.cells())
        .buf(&w.r)
        .out(&mut w.z)
        .out(&mut w.b);
    // SAFETY: arrays of the operator's cells.
    unsafe { launch.run(LaunchGrid::over(op.blocks.cells(), THREADS))? };
    Ok(())
}

/// One thread a cell of a level's coarse layers.
pub(super) fn over_layers<const D: usize>(
    op: &EllipticOperator<D, Cuda>,
    level: usize,
) -> LaunchGrid {
    LaunchGrid::over(op.layers.range[level].len() * dims::cells(D), THREADS)
}

pub(super) fn save_layers<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    level: usize,
    w: &mut Arrays<Cuda>,
) -> Done {
    let launch = cuda
        .launch(&TRANSFER, D, "save_layers")
        .val(op.level(level))
        .val(op.lists.addresses())
        .buf(&w.b)
        .out(&mut w.layer[0]);
    // SAFETY: arrays of cells and of layers.
    unsafe { launch.run(over_layers(op, level))? };
    Ok(())
}

/// Residuals of a level into `d`, and its layers' part of the right side.
pub(super) fn residuals<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    level: usize,
    w: &mut Arrays<Cuda>,
) -> Done {
    let touched = &op.layers.touched_range[level];
    let launch = cuda
        .launch(&TRANSFER, D, "residuals")
        .val(op.addresses())
        .val(op.level(level))
        .buf(&op.lists.touched)
        .val(touched.start as u32)
        .val(touched.len() as u32)
        .buf(&w.z)
        .out(&mut w.b)
        .out(&mut w.d);
    // SAFETY: arrays of cells; each touched leaf is in the list of its level once, and none is of this level.
    unsafe { launch.run(op.level(level).grid::<D>(touched.len() as u32))? };
    Ok(())
}

pub(super) fn go_down<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    level: usize,
    w: &mut Arrays<Cuda>,
) -> Done {
    residuals(cuda, op, level, w)?;
    let launch = cuda
        .launch(&TRANSFER, D, "put_aside")
        .val(op.level(level))
        .val(op.lists.addresses())
        .out(&mut w.z)
        .out(&mut w.layer[1]);
    // SAFETY: arrays of cells and of layers.
    unsafe { launch.run(over_layers(op, level))? };
    let at = [w.d.share(), w.b.share()];
    sum_children(cuda, &op.blocks, &op.tables, level - 1, at, 1.0)
}

pub(super) fn go_up<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    level: usize,
    w: &mut Arrays<Cuda>,
) -> Done {
    let of = op.level(level);
    let launch = cuda
        .launch(&TRANSFER, D, "go_up")
        .val(op.addresses())
        .val(of)
        .val(op.lists.addresses())
        .buf(&w.layer[1])
        .out(&mut w.z)
        .out(&mut w.q);
    // SAFETY: arrays of cells and of layers. Parents are refined blocks of the next coarser level, layers are leaves there: what
    // is read is not written.
    unsafe { launch.run(of.grid::<D>(of.places))? };
    Ok(())
}
