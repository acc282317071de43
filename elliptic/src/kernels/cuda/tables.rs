//! Tables of blocks in a device's memory.

use crate::{Beside, Blocks};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::{NONE, OUTSIDE};
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, CudaBuf},
    memory,
};

/// Set where the block beyond a side is of the next coarser level: `COARSER` of `blocks.cuh`.
const COARSER: u32 = 1 << 31;

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
        let mut beside = memory::with_capacity("neighbours over faces", count * 2 * D)?;
        let (mut first_child, mut parent) = (Vec::new(), Vec::new());
        let (mut level, mut coord) = (Vec::new(), Vec::new());
        let id = |block: Option<usize>| block.map_or(NONE, |b| b as u32);
        for block in 0..count {
            beside.extend((0..2 * D).map(|side| match blocks.beside(block, side) {
                Beside::Same(other) => other as u32,
                Beside::Coarser(other) => other as u32 | COARSER,
                Beside::Outside => OUTSIDE,
            }));
            first_child.push(id(blocks.first_child(block)));
            parent.push(id(blocks.parent(block)));
            level.push(blocks.level(block) as u8);
            coord.extend(blocks.coord(block));
        }
        Ok(Self {
            beside: cuda.upload(beside)?,
            first_child: cuda.upload(first_child)?,
            parent: cuda.upload(parent)?,
            level: cuda.upload(level)?,
            coord: cuda.upload(coord)?,
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
