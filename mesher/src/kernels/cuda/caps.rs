//! The tree over a surface's caps, for kernels: nodes and facets as the host has them.

use crate::robust::{CapTree, Node};
use cutlink_device::{
    DeviceError,
    cuda::{Cuda, CudaBuf, Launch},
};

// SAFETY: all zeros are numbers.
unsafe impl<const D: usize> bytemuck::Zeroable for Node<D> {}
// SAFETY: `repr(C)`, members of 8 bytes or pairs of 4, so that there is nothing between them;
// every bit pattern of each is a number.
unsafe impl<const D: usize> bytemuck::Pod for Node<D> {}

const _: () = assert!(size_of::<Node<2>>() == 96 && size_of::<Node<3>>() == 152);

/// A surface's caps in a device's memory.
#[derive(Debug)]
pub struct Caps<const D: usize> {
    nodes: CudaBuf<Node<D>>,
    facets: CudaBuf<[[i32; D]; D]>,
}

impl<const D: usize> Caps<D> {
    /// Copies a tree.
    pub fn new(cuda: &Cuda, tree: &CapTree<D>) -> Result<Self, DeviceError> {
        Ok(Self {
            nodes: cuda.upload_slice("caps", &tree.nodes)?,
            facets: cuda.upload_slice("caps", &tree.facets)?,
        })
    }

    /// Gives a kernel the arguments that make up `Caps` of `caps.cuh`: nodes, their number, facets.
    pub fn give<'a>(&'a self, launch: Launch<'a>) -> Launch<'a> {
        launch
            .buf(&self.nodes)
            .val(self.nodes.len() as u32)
            .buf(&self.facets)
    }
}
