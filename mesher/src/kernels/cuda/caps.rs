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

    /// Gives a kernel the arguments `CAPS_PARAMS` of `caps.cuh`: nodes, their number and facets of the caps, then nodes,
    /// their number and edges of the rim.
    pub fn give<'a>(&'a self, launch: Launch<'a>) -> Launch<'a> {
        [&self.caps, &self.rim]
            .into_iter()
            .fold(launch, |launch, tree| {
                launch
                    .buf(&tree.nodes)
                    .val(tree.nodes.len() as u32)
                    .buf(&tree.simplices)
            })
    }
}
