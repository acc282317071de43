//! What the host decides on after a step: one thread a cell of all blocks.

use super::{DeviceMesh, SURVEY, THREADS};
use crate::running::Fields;
use crate::survey::Survey;
use bytemuck::{Pod, Zeroable};
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, LaunchGrid},
};
use cutlink_elliptic::faces;

/// `State` of `survey.cu`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct StateAddresses<const D: usize> {
    alpha: u64,
    velocity: [u64; D],
    pressure: u64,
    flux: u64,
}

// SAFETY: numbers that may be zero.
unsafe impl<const D: usize> Zeroable for StateAddresses<D> {}
// SAFETY: numbers of any bits, without padding: all have 8 bytes.
unsafe impl<const D: usize> Pod for StateAddresses<D> {}

pub(super) fn survey<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    fields: &Fields<D, Cuda>,
) -> Result<Survey, DeviceError> {
    let of_cells = fields
        .velocity
        .iter()
        .chain([&fields.alpha, &fields.pressure]);
    let is_of_mesh = of_cells
        .map(|values| values.len())
        .all(|n| n == mesh.cells())
        && fields.flux.len() == mesh.len() * faces::per_block(D);
    assert!(is_of_mesh, "fields should be of the mesh");
    let mut keys = cuda.upload_slice("what is found of a state", &[0u64; 3])?;
    let launch = cuda
        .launch(&SURVEY, D, "survey")
        .val(mesh.addresses())
        .val(StateAddresses {
            alpha: fields.alpha.address(0),
            velocity: fields.velocity.each_ref().map(|u| u.address(0)),
            pressure: fields.pressure.address(0),
            flux: fields.flux.address(0),
        })
        .out(&mut keys);
    // SAFETY: fields are of the mesh, and there are three keys.
    unsafe { launch.run(LaunchGrid::over(mesh.cells(), THREADS))? };
    let keys = cuda.download(&keys)?;
    Ok(Survey {
        fastest: f64::from_bits(keys[0]),
        divergence: f64::from_bits(keys[1]),
        is_bad: keys[2] != 0,
    })
}
