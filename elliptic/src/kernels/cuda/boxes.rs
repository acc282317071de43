//! The grids below the root level.

use super::{BOXES, Done, THREADS, transfer};
use crate::EllipticOperator;
use crate::box_grid::BoxShape;
use crate::cg::Arrays;
use crate::cycle::Chebyshev;
use bytemuck::{Pod, Zeroable};
use cutlink_amr::dims;
use cutlink_device::cuda::{Cuda, LaunchGrid};

/// Grids of at most so many cells are cycled by one thread block, in one launch.
const SMALL: usize = 1024;

/// Threads of that block.
const ALONE: u32 = 512;

/// `Shape` of `boxes.cu`: numbers of cells, periodic axes, first cell, first faces, first ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
struct DeviceShape<const D: usize> {
    n: [u32; D],
    periodic: [u32; D],
    first: u32,
    first_face: [u32; D],
    first_ratio: [u32; D],
}

// SAFETY: numbers that may be zero.
unsafe impl<const D: usize> Zeroable for DeviceShape<D> {}
// SAFETY: numbers of 4 bytes, without padding between them.
unsafe impl<const D: usize> Pod for DeviceShape<D> {}

impl<const D: usize> DeviceShape<D> {
    fn new(shape: &BoxShape<D>) -> Self {
        let narrow = |values: [usize; D]| values.map(|v| v as u32);
        Self {
            n: narrow(shape.n),
            periodic: shape.periodic.map(u32::from),
            first: shape.first as u32,
            first_face: narrow(shape.first_face),
            first_ratio: narrow(shape.first_ratio),
        }
    }
}

/// Small grids at most: cells of an axis halve from [`SMALL`] to 2.
const TAIL: usize = 12;

/// `Tail` of `boxes.cu`.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
struct Tail<const D: usize>([DeviceShape<D>; TAIL]);

// SAFETY: as for `DeviceShape`.
unsafe impl<const D: usize> Zeroable for Tail<D> {}
// SAFETY: as above.
unsafe impl<const D: usize> Pod for Tail<D> {}

/// `Boxes` of `boxes.cu`: addresses of ratios and conductances by axis; of coefficients; of values, none where coefficients
/// are made.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct BoxAddresses<const D: usize> {
    ratio: [u64; D],
    t: [u64; D],
    coefficients: [u64; 3],
    values: [u64; 4],
}

// SAFETY: as for `DeviceShape`, of 8 bytes.
unsafe impl<const D: usize> Zeroable for BoxAddresses<D> {}
// SAFETY: as above.
unsafe impl<const D: usize> Pod for BoxAddresses<D> {}

/// `Factors` of `boxes.cu`: `keep` and `add` of the smoother's steps.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Factors([f64; 6]);

impl Factors {
    fn new() -> Self {
        let steps = Chebyshev::steps();
        Self(std::array::from_fn(|i| steps[i % 3][i / 3]))
    }
}

fn addresses<const D: usize>(
    op: &EllipticOperator<D, Cuda>,
    values: Option<&Arrays<Cuda>>,
) -> BoxAddresses<D> {
    let boxes = &op.boxes;
    BoxAddresses {
        ratio: boxes.ratio.each_ref().map(|r| r.address(0)),
        t: boxes.t.each_ref().map(|t| t.address(0)),
        coefficients: [
            boxes.diagonal.address(0),
            boxes.inverse.address(0),
            boxes.matrix.address(0),
        ],
        values: values.map_or([0; 4], |w| w.boxes.each_ref().map(|v| v.address(0))),
    }
}

fn over<const D: usize>(shape: &BoxShape<D>) -> LaunchGrid {
    LaunchGrid::over(shape.cells(), THREADS)
}

pub(super) fn fill<const D: usize>(cuda: &Cuda, op: &mut EllipticOperator<D, Cuda>) -> Done {
    let boxes = addresses(op, None);
    let shapes = &op.boxes.levels;
    let device: Vec<_> = shapes.iter().map(DeviceShape::new).collect();
    let launch = cuda
        .launch(&BOXES, D, "fill_first")
        .val(op.addresses())
        .val(device[0])
        .val(boxes);
    // SAFETY: arrays of all grids, which are borrowed; a first grid of the root blocks' cells. Here and below, what is
    // read is of another grid than what is written.
    unsafe { launch.run(over(&shapes[0]))? };
    for level in 0..shapes.len() {
        if level > 0 {
            let launch = cuda
                .launch(&BOXES, D, "fill_from_finer")
                .val(device[level - 1])
                .val(device[level])
                .val(boxes);
            // SAFETY: as above.
            unsafe { launch.run(over(&shapes[level]))? };
        }
        let launch = cuda
            .launch(&BOXES, D, "finish")
            .val(device[level])
            .val(boxes);
        // SAFETY: as above.
        unsafe { launch.run(over(&shapes[level]))? };
    }
    let launch = cuda
        .launch(&BOXES, D, "coarsest_matrix")
        .val(device[shapes.len() - 1])
        .val(boxes);
    // SAFETY: as above; at most 2^D cells.
    unsafe { launch.run(LaunchGrid::blocks(1, 32))? };
    Ok(())
}

/// Launches with values of grids.
struct Cycle<'a, const D: usize> {
    cuda: &'a Cuda,
    op: &'a EllipticOperator<D, Cuda>,
    boxes: BoxAddresses<D>,
}

impl<const D: usize> Cycle<'_, D> {
    fn shape(&self, level: usize) -> DeviceShape<D> {
        DeviceShape::new(&self.op.boxes.levels[level])
    }

    fn smooth(&self, level: usize, from_zero: bool) -> Done {
        let grid = over(&self.op.boxes.levels[level]);
        for (step, [keep, add]) in Chebyshev::steps().into_iter().enumerate() {
            let launch = self
                .cuda
                .launch(&BOXES, D, "smooth_box")
                .val(self.shape(level))
                .val(self.boxes)
                .val(keep)
                .val(add)
                .val(u32::from(from_zero && step == 0))
                .val(u32::from(step == 1));
            // SAFETY: arrays of all grids, which the caller of the cycle borrows; here and below.
            unsafe { launch.run(grid)? };
        }
        Ok(())
    }

    /// A kernel between a grid and the next coarser one, with a thread for each cell of one of them.
    fn between(&self, kernel: &'static str, level: usize, threads_of: usize) -> Done {
        let launch = self
            .cuda
            .launch(&BOXES, D, kernel)
            .val(self.shape(level))
            .val(self.shape(level + 1))
            .val(self.boxes);
        // SAFETY: as above.
        unsafe { launch.run(over(&self.op.boxes.levels[threads_of]))? };
        Ok(())
    }

    fn down(&self, level: usize) -> Done {
        self.smooth(level, true)?;
        let launch = self
            .cuda
            .launch(&BOXES, D, "residual_box")
            .val(self.shape(level))
            .val(self.boxes);
        // SAFETY: as above.
        unsafe { launch.run(over(&self.op.boxes.levels[level]))? };
        self.between("restrict_box", level, level + 1)
    }

    fn up(&self, level: usize) -> Done {
        self.between("prolong_box", level, level)?;
        self.smooth(level, false)
    }

    /// The small grids, from a level on.
    fn tail(&self, first: usize) -> Done {
        let last = self.op.boxes.levels.len() - 1;
        let launch = self
            .cuda
            .launch(&BOXES, D, "cycle_tail")
            .val(Tail(std::array::from_fn(|i| {
                self.shape((first + i).min(last))
            })))
            .val((last + 1 - first) as u32)
            .val(self.boxes)
            .val(Factors::new());
        // SAFETY: as above; shapes of all grids.
        unsafe { launch.run(LaunchGrid::blocks(1, ALONE))? };
        Ok(())
    }
}

pub(super) fn correct_root<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    w: &mut Arrays<Cuda>,
) -> Done {
    transfer::residuals(cuda, op, 0, w)?;
    let boxes = addresses(op, Some(w));
    let shapes = &op.boxes.levels;
    let cells = op.blocks.range(0).len() * dims::cells(D);
    let cycle = Cycle { cuda, op, boxes };
    let launch = cuda
        .launch(&BOXES, D, "restrict_root")
        .val(cycle.shape(0))
        .buf(&w.d)
        .val(boxes);
    // SAFETY: arrays of all grids and of cells, which are borrowed.
    unsafe { launch.run(over(&shapes[0]))? };
    let is_small = |shape: &BoxShape<D>| shape.cells() <= SMALL;
    let small = shapes.iter().position(is_small).unwrap_or(shapes.len() - 1);
    for level in 0..small {
        cycle.down(level)?;
    }
    cycle.tail(small)?;
    for level in (0..small).rev() {
        cycle.up(level)?;
    }
    let launch = cuda
        .launch(&BOXES, D, "add_to_root")
        .val(op.addresses())
        .val(cells as u32)
        .val(cycle.shape(0))
        .val(boxes)
        .buf(&w.z)
        .out(&mut w.q);
    // SAFETY: as above; the cells of root blocks come first.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(())
}
