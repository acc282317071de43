//! Tables of blocks in a device's memory.

use crate::constants::COARSER;
use crate::{Beside, Blocks};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::OUTSIDE;
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, CudaBuf},
    memory,
};
use rayon::prelude::*;

/// Tables of blocks in a device's memory.
#[derive(Debug)]
pub struct DeviceBlocks {
    beside: CudaBuf<u32>,
    first_child: CudaBuf<u32>,
    parent: CudaBuf<u32>,
    level: CudaBuf<u8>,
    coord: CudaBuf<i32>,
}

/// Their addresses, a value for kernels: `Blocks` of `blocks.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct BlockAddresses([u64; 5]);

impl DeviceBlocks {
    /// Copies the tables to a device.
    ///
    /// # Errors
    /// Memory, and what the driver reports.
    pub fn new<const D: usize>(cuda: &Cuda, blocks: &Blocks<D>) -> Result<Self, DeviceError> {
        let count = blocks.len();
        let mut beside = Vec::new();
        memory::grow("neighbours over faces", &mut beside, count * 2 * D, OUTSIDE)?;
        let of_side = |(i, beside): (usize, &mut u32)| {
            *beside = match blocks.beside(i / (2 * D), i % (2 * D)) {
                Beside::Same(other) => other as u32,
                Beside::Coarser(other) => other as u32 | COARSER,
                Beside::Outside => OUTSIDE,
            };
        };
        beside.par_iter_mut().enumerate().for_each(of_side);
        let (level, coord, parent, first_child) = blocks.arrays();
        Ok(Self {
            beside: cuda.upload(beside)?,
            first_child: cuda.upload(first_child.to_vec())?,
            parent: cuda.upload(parent.to_vec())?,
            level: cuda.upload(level.to_vec())?,
            coord: cuda.upload(coord.as_flattened().to_vec())?,
        })
    }

    /// The addresses, for as long as this exists.
    pub fn addresses(&self) -> BlockAddresses {
        BlockAddresses([
            self.beside.address(0),
            self.first_child.address(0),
            self.parent.address(0),
            self.level.address(0),
            self.coord.address(0),
        ])
    }
}
