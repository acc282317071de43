//! On an NVIDIA GPU: the same bits as on the CPU.

#![expect(unsafe_code, reason = "kernels are launched with addresses")]

mod boxes;
mod prepare;
mod smooth;
mod tables;
mod transfer;
mod vectors;

pub use tables::{BlockAddresses, DeviceBlocks};

use super::{CycleKernels, EllipticKernels, EllipticTables, PrepareKernels, VectorKernels};
use crate::cg::Arrays;
use crate::layers::CoarseLayers;
use crate::regions::OpenFaces;
use crate::{Blocks, EllipticError, EllipticOperator};
use bytemuck::{Pod, Zeroable};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid, Module};

static APPLY: [Module; 2] = cutlink_device::cuda_modules!("apply");
static BOXES: [Module; 2] = cutlink_device::cuda_modules!("boxes");
static PREPARE: [Module; 2] = cutlink_device::cuda_modules!("prepare");
static SMOOTH: [Module; 2] = cutlink_device::cuda_modules!("smooth");
static TRANSFER: [Module; 2] = cutlink_device::cuda_modules!("transfer");
static VECTORS: [Module; 2] = cutlink_device::cuda_modules!("vectors");

/// Threads of a block.
const THREADS: u32 = 256;

type Done = Result<(), EllipticError>;
type Buf = CudaBuf<f64>;

/// `Operator` of `operator.cuh`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct OperatorAddresses {
    blocks: BlockAddresses,
    conductance: u64,
    diagonal: u64,
    inverse: u64,
}

/// `Level` of `operator.cuh`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct LevelRange {
    first: u32,
    count: u32,
    first_place: u32,
    places: u32,
}

/// `Layers` of `operator.cuh`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct LayerAddresses {
    block: u64,
    cells: u64,
}

/// Lists of coarse layers in a device's memory.
#[derive(Debug)]
pub struct DeviceLayers {
    block: CudaBuf<u32>,
    cells: CudaBuf<u64>,
    touched: CudaBuf<u32>,
}

impl DeviceLayers {
    fn addresses(&self) -> LayerAddresses {
        LayerAddresses {
            block: self.block.address(0),
            cells: self.cells.address(0),
        }
    }
}

impl<const D: usize> EllipticOperator<D, Cuda> {
    fn addresses(&self) -> OperatorAddresses {
        OperatorAddresses {
            blocks: self.tables.addresses(),
            conductance: self.conductance.address(0),
            diagonal: self.diagonal.address(0),
            inverse: self.inverse.address(0),
        }
    }

    fn level(&self, level: usize) -> LevelRange {
        let (blocks, places) = (self.blocks.range(level), &self.layers.range[level]);
        LevelRange {
            first: blocks.start as u32,
            count: blocks.len() as u32,
            first_place: places.start as u32,
            places: places.len() as u32,
        }
    }

    fn cells(&self) -> u32 {
        self.blocks.cells() as u32
    }
}

impl LevelRange {
    /// One thread a cell of the level and of so many other blocks.
    fn grid<const D: usize>(self, others: u32) -> LaunchGrid {
        let blocks = (self.count + others) as usize;
        LaunchGrid::over(blocks * cutlink_amr::dims::cells(D), THREADS)
    }
}

impl<const D: usize> EllipticKernels<D> for Cuda {}

impl<const D: usize> EllipticTables<D> for Cuda {
    type Tables = DeviceBlocks;
    type Lists = DeviceLayers;

    fn tables(&self, blocks: &Blocks<D>) -> Result<DeviceBlocks, EllipticError> {
        Ok(DeviceBlocks::new(self, blocks)?)
    }

    fn lists(&self, layers: &CoarseLayers) -> Result<DeviceLayers, EllipticError> {
        use cutlink_device::Backend;
        Ok(DeviceLayers {
            block: self.upload(layers.block.clone())?,
            cells: self.upload(layers.cells.clone())?,
            touched: self.upload(layers.touched.clone())?,
        })
    }
}

impl<const D: usize> PrepareKernels<D> for Cuda {
    fn restrict_faces(
        &self,
        blocks: &Blocks<D>,
        tables: &DeviceBlocks,
        values: &mut Buf,
        factor: [f64; 2],
    ) -> Done {
        prepare::restrict_faces(self, blocks, tables, values, factor)
    }

    fn restrict_cells(
        &self,
        blocks: &Blocks<D>,
        tables: &DeviceBlocks,
        values: &mut Buf,
        share: f64,
    ) -> Done {
        transfer::restrict_cells(self, blocks, tables, values, share)
    }

    fn open_faces(
        &self,
        blocks: &Blocks<D>,
        conductance: &Buf,
        diagonal: &Buf,
    ) -> Result<Vec<OpenFaces>, EllipticError> {
        prepare::open_faces(self, blocks, conductance, diagonal)
    }

    fn first_bad(
        &self,
        blocks: &Blocks<D>,
        tables: &DeviceBlocks,
        values: &Buf,
        per: usize,
    ) -> Result<Option<usize>, EllipticError> {
        prepare::first_bad(self, blocks, tables, values, per)
    }

    fn first_opened(
        &self,
        op: &EllipticOperator<D, Self>,
        conductance: &Buf,
    ) -> Result<Option<usize>, EllipticError> {
        prepare::first_opened(self, op, conductance)
    }

    fn inverses(&self, op: &mut EllipticOperator<D, Self>) -> Done {
        prepare::inverses(self, op)
    }

    fn least_share(&self, op: &EllipticOperator<D, Self>) -> Result<f64, EllipticError> {
        prepare::least_share(self, op)
    }

    fn fill_boxes(&self, op: &mut EllipticOperator<D, Self>) -> Done {
        boxes::fill(self, op)
    }
}

impl<const D: usize> CycleKernels<D> for Cuda {
    fn begin_cycle(&self, op: &EllipticOperator<D, Self>, w: &mut Arrays<Self>) -> Done {
        transfer::begin_cycle(self, op, w)
    }

    fn save_layers(
        &self,
        op: &EllipticOperator<D, Self>,
        level: usize,
        w: &mut Arrays<Self>,
    ) -> Done {
        transfer::save_layers(self, op, level, w)
    }

    fn smooth(
        &self,
        op: &EllipticOperator<D, Self>,
        level: usize,
        w: &mut Arrays<Self>,
        from_zero: bool,
    ) -> Done {
        smooth::smooth(self, op, level, w, from_zero)
    }

    fn go_down(&self, op: &EllipticOperator<D, Self>, level: usize, w: &mut Arrays<Self>) -> Done {
        transfer::go_down(self, op, level, w)
    }

    fn go_up(&self, op: &EllipticOperator<D, Self>, level: usize, w: &mut Arrays<Self>) -> Done {
        transfer::go_up(self, op, level, w)
    }

    fn correct_root(&self, op: &EllipticOperator<D, Self>, w: &mut Arrays<Self>) -> Done {
        boxes::correct_root(self, op, w)
    }
}

impl<const D: usize> VectorKernels<D> for Cuda {
    fn apply(&self, op: &EllipticOperator<D, Self>, x: &Buf, out: &mut Buf) -> Done {
        let launch = self
            .launch(&APPLY, D, "apply")
            .val(op.addresses())
            .val(op.cells())
            .buf(x)
            .out(out);
        // SAFETY: arrays of the operator's cells.
        unsafe { launch.run(LaunchGrid::over(op.blocks.cells(), THREADS))? };
        Ok(())
    }

    fn over_diagonal(&self, op: &EllipticOperator<D, Self>, w: &mut Arrays<Self>) -> Done {
        vectors::over_diagonal(self, op, w)
    }

    fn start(
        &self,
        op: &EllipticOperator<D, Self>,
        b: &Buf,
        x: &Buf,
        w: &mut Arrays<Self>,
    ) -> Done {
        vectors::start(self, op, b, x, w)
    }

    fn subtract(&self, op: &EllipticOperator<D, Self>, w: &mut Arrays<Self>) -> Done {
        vectors::subtract(self, op, w)
    }

    fn turn(&self, op: &EllipticOperator<D, Self>, w: &mut Arrays<Self>) -> Done {
        vectors::turn(self, op, w)
    }

    fn advance(&self, op: &EllipticOperator<D, Self>, w: &mut Arrays<Self>) -> Done {
        vectors::advance(self, op, w)
    }

    fn dot(
        &self,
        op: &EllipticOperator<D, Self>,
        of: [&Buf; 2],
        sums: &mut Buf,
        to: (&mut Buf, usize),
    ) -> Done {
        vectors::dot(self, op, of, sums, to)
    }

    fn remove_mean(
        &self,
        op: &EllipticOperator<D, Self>,
        values: &mut Buf,
        sums: &mut Buf,
        integrated: bool,
    ) -> Done {
        vectors::remove_mean(self, op, values, sums, integrated)
    }
}
