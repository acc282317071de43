//! What a look at the interface sees.

use super::{ADAPT, DeviceMesh, DeviceParams, addresses, tile_threads};
use crate::adapt::{SeenBlocks, Sight};
use crate::running::Fields;
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, LaunchGrid},
};

pub(super) fn seen<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    fields: &Fields<D, Cuda>,
    of: &Sight,
) -> Result<SeenBlocks, DeviceError> {
    mesh.check_fields(fields);
    let blocks = mesh.len();
    let (of_turn, velocity) = match of.has_vorticity {
        true => (blocks, addresses(fields.velocity.each_ref())),
        false => (0, [0; D]),
    };
    let mut fluids = cuda.uninit::<u8>("fluids of blocks", blocks)?;
    let mut squares = cuda.uninit::<f64>("vorticities of blocks", of_turn)?;
    let launch = cuda
        .launch(&ADAPT, D, "seen")
        .val(mesh.addresses())
        .val(*params)
        .buf(&fields.alpha)
        .val(velocity)
        .val(of.levels as u32)
        .val(of.margin)
        .out(&mut fluids)
        .out(&mut squares);
    // SAFETY: fields of the mesh, and a number for each block; of squares where velocities are given.
    unsafe { launch.run(LaunchGrid::blocks(blocks, tile_threads(D)))? };
    Ok(SeenBlocks {
        fluids: cuda.download(&fluids)?,
        squares: cuda.download(&squares)?,
    })
}
