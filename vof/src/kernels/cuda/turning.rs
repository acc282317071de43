//! A box that turns: one thread a cell.

use super::{DeviceMesh, TURNING};
use crate::turning::Rotation;
use cutlink_device::{
    DeviceError,
    cuda::{Cuda, CudaBuf},
};

pub(super) fn turn<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    by: &Rotation,
    velocity: &mut [CudaBuf<f64>; D],
) -> Result<(), DeviceError> {
    mesh.check(&velocity.each_ref().map(CudaBuf::len), &[]);
    let launch = cuda
        .launch(&TURNING, D, "turn")
        .val(mesh.cells() as u64)
        .val(by.axis)
        .val(by.sin)
        .val(by.cos)
        .val(velocity.each_mut().map(CudaBuf::share));
    // SAFETY: arrays of the mesh's cells, borrowed for writing.
    unsafe { launch.run(mesh.over_cells()) }
}
