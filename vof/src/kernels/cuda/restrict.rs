//! Values of refined blocks: one thread a cell of a level, from fine to coarse.

use super::{DeviceMesh, RESTRICT, THREADS};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::dims;
use cutlink_device::{
    DeviceError,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// `Arrays` of `restrict.cu`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Arrays([u64; 4]);

pub(super) fn all<const D: usize, const N: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    mut values: [&mut CudaBuf<f64>; N],
) -> Result<(), DeviceError> {
    let mut arrays = Arrays([0; 4]);
    for (to, values) in arrays.0.iter_mut().zip(&mut values) {
        assert_eq!(values.len(), mesh.cells(), "a value for each cell");
        *to = values.share();
    }
    let coarse = mesh.levels.len() - 1;
    for level in mesh.levels[..coarse].iter().rev() {
        let launch = cuda
            .launch(&RESTRICT, D, "restrict_level")
            .val(mesh.addresses())
            .val(level.start as u32)
            .val(level.len() as u32)
            .val(arrays)
            .val(N.min(4) as i32);
        let cells = level.len() * dims::cells(D);
        // SAFETY: arrays of the mesh; a thread writes its own cell, and reads those of finer blocks.
        unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    }
    Ok(())
}
