//! Vectors of conjugate gradients, and sums.

use super::{Buf, Done, THREADS, VECTORS};
use crate::EllipticOperator;
use crate::cg::Arrays;
use crate::regions::Regions;
use bytemuck::{Pod, Zeroable};
use cutlink_amr::dims;
use cutlink_device::cuda::{Cuda, LaunchGrid};

/// Threads of a sum: `LANES` of `sums.cuh`.
const LANES: u32 = crate::SUM_LANES as u32;

/// `Regions` of `vectors.cu`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RegionAddresses([u64; 5]);

impl Regions<Cuda> {
    fn addresses(&self) -> RegionAddresses {
        RegionAddresses([
            self.of.address(0),
            self.volume.address(0),
            self.share_block.address(0),
            self.share_region.address(0),
            self.first_share.address(0),
        ])
    }
}

fn over_cells<const D: usize>(op: &EllipticOperator<D, Cuda>) -> LaunchGrid {
    LaunchGrid::over(op.blocks.cells(), THREADS)
}

pub(super) fn start<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    b: &Buf,
    x: &Buf,
    w: &mut Arrays<Cuda>,
) -> Done {
    let launch = cuda
        .launch(&VECTORS, D, "start")
        .val(op.addresses())
        .val(op.cells())
        .buf(b)
        .buf(x)
        .out(&mut w.r)
        .out(&mut w.x)
        .out(&mut w.scalars);
    // SAFETY: arrays of the operator's cells, here and below; places of products.
    unsafe { launch.run(over_cells(op))? };
    Ok(())
}

pub(super) fn subtract<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    w: &mut Arrays<Cuda>,
) -> Done {
    let launch = cuda
        .launch(&VECTORS, D, "subtract")
        .val(op.tables.addresses())
        .val(op.cells())
        .buf(&w.q)
        .out(&mut w.r);
    // SAFETY: as in `start`.
    unsafe { launch.run(over_cells(op))? };
    Ok(())
}

pub(super) fn over_diagonal<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    w: &mut Arrays<Cuda>,
) -> Done {
    let launch = cuda
        .launch(&VECTORS, D, "over_diagonal")
        .val(op.addresses())
        .val(op.cells())
        .buf(&w.r)
        .out(&mut w.z);
    // SAFETY: as in `start`.
    unsafe { launch.run(over_cells(op))? };
    Ok(())
}

pub(super) fn turn<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    w: &mut Arrays<Cuda>,
) -> Done {
    let launch = cuda
        .launch(&VECTORS, D, "turn")
        .val(op.tables.addresses())
        .val(op.cells())
        .buf(&w.scalars)
        .buf(&w.z)
        .out(&mut w.p);
    // SAFETY: as in `start`.
    unsafe { launch.run(over_cells(op))? };
    Ok(())
}

pub(super) fn advance<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    w: &mut Arrays<Cuda>,
) -> Done {
    let launch = cuda
        .launch(&VECTORS, D, "advance")
        .val(op.tables.addresses())
        .val(op.cells())
        .out(&mut w.scalars)
        .buf(&w.p)
        .buf(&w.q)
        .out(&mut w.x)
        .out(&mut w.r);
    // SAFETY: as in `start`; the product that is written is not read here.
    unsafe { launch.run(over_cells(op))? };
    Ok(())
}

pub(super) fn dot<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    [a, b]: [&Buf; 2],
    sums: &mut Buf,
    (to, place): (&mut Buf, usize),
) -> Done {
    let launch = cuda
        .launch(&VECTORS, D, "block_products")
        .val(op.tables.addresses())
        .val(op.cells())
        .buf(a)
        .buf(b)
        .out(sums);
    // SAFETY: as in `start`; a sum for each block at least.
    unsafe { launch.run(over_cells(op))? };
    let launch = cuda
        .launch(&VECTORS, D, "total")
        .buf(sums)
        .val(op.blocks.len() as u32)
        .out_at(to, place);
    // SAFETY: as above; the place exists.
    unsafe { launch.run(LaunchGrid::blocks(1, LANES))? };
    Ok(())
}

pub(super) fn remove_mean<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    values: &mut Buf,
    sums: &mut Buf,
    integrated: bool,
) -> Done {
    let regions = &op.regions;
    if regions.count() == 0 {
        return Ok(());
    }
    let (shares, finest) = (regions.shares(), op.blocks.finest() as u32);
    let launch = cuda
        .launch(&VECTORS, D, "share_sums")
        .val(op.tables.addresses())
        .val(regions.addresses())
        .val(shares as u32)
        .val(finest)
        .buf(values)
        .val(u32::from(integrated))
        .out(sums);
    // SAFETY: shares of the operator's blocks, with room for the sum of each, and for that of each region behind them.
    unsafe { launch.run(LaunchGrid::over(shares * dims::cells(D), THREADS))? };
    let launch = cuda
        .launch(&VECTORS, D, "region_sums")
        .val(regions.addresses())
        .val(sums.address(0))
        .val(sums.address(shares));
    // SAFETY: as above; nobody else has the sums meanwhile.
    unsafe { launch.run(LaunchGrid::blocks(regions.count(), LANES))? };
    let launch = cuda
        .launch(&VECTORS, D, "remove_means")
        .val(op.tables.addresses())
        .val(regions.addresses())
        .val(op.cells())
        .val(finest)
        .buf_at(sums, shares)
        .val(u32::from(integrated))
        .out(values);
    // SAFETY: as in `start`.
    unsafe { launch.run(over_cells(op))? };
    Ok(())
}
