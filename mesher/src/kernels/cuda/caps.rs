//! The trees over a surface's caps and their rim, for kernels: nodes and simplices as the host has them.

use crate::robust::{CapTree, Node, Tree};
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
    caps: Nodes<D>,
    rim: Nodes<D>,
}

#[derive(Debug)]
struct Nodes<const D: usize> {
    nodes: CudaBuf<Node<D>>,
    simplices: CudaBuf<[[i32; D]; D]>,
}

/// `CapTree` of `caps.cuh`; `Caps` are two of them.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct TreeAddresses {
    nodes: u64,
    simplices: u64,
    count: u64,
}

impl<const D: usize> Nodes<D> {
    fn addresses(&self) -> TreeAddresses {
        TreeAddresses {
            nodes: self.nodes.address(0),
            simplices: self.simplices.address(0),
            count: self.nodes.len() as u64,
        }
    }
}

impl<const D: usize> Caps<D> {
    /// Copies the trees.
    pub fn new(cuda: &Cuda, tree: &CapTree<D>) -> Result<Self, DeviceError> {
        let copy = |tree: &Tree<D>| -> Result<Nodes<D>, DeviceError> {
            Ok(Nodes {
                nodes: cuda.upload_slice("caps", &tree.nodes)?,
                simplices: cuda.upload_slice("caps", &tree.simplices)?,
            })
        };
        Ok(Self {
            caps: copy(&tree.caps)?,
            rim: copy(&tree.rim)?,
        })
    }

    /// Gives a kernel the caps, which the launch borrows.
    pub fn give<'a>(&'a self, launch: Launch<'a>) -> Launch<'a> {
        launch.val([&self.caps, &self.rim].map(Nodes::addresses))
    }
}
