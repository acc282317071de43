//! Curvature of cells at the interface.

use super::interface::{InterfaceWork, VectorAddresses, with_ghosts};
use super::{CURVATURE, DeviceMesh, DeviceParams, tile_threads};
use bytemuck::{Pod, Zeroable};
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// `Found` of `curvature.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct FoundAddresses {
    normals: VectorAddresses,
    positions: VectorAddresses,
    curvature: u64,
    directions: u64,
    has: u64,
    first: u64,
}

/// Curvature of cells at the interface of the finest level: mixed ones, and pure ones beside one of the other kind.
/// [`InterfaceWork`] has it then; planes that were there are lost.
///
/// # Errors
/// What the driver reports.
pub(crate) fn curvature<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    alpha: &CudaBuf<f64>,
    work: &mut InterfaceWork,
) -> Result<(), DeviceError> {
    let found = FoundAddresses {
        normals: VectorAddresses::of::<D>(&work.normals),
        positions: VectorAddresses::of::<D>(&work.others),
        curvature: work.curvature.address(0),
        directions: work.directions.address(0),
        has: work.has.address(0),
        first: mesh.finest().start as u64,
    };
    let InterfaceWork {
        alpha: room,
        kinds,
        counts,
        ..
    } = work;
    let alpha = with_ghosts(cuda, mesh, alpha, room)?;
    let launch = cuda
        .launch(&CURVATURE, D, "kinds")
        .buf(alpha)
        .out(kinds)
        .out(counts);
    // SAFETY: a thread block for each block of the mesh.
    unsafe { launch.run(LaunchGrid::blocks(mesh.len(), tile_threads(D)))? };
    let grid = LaunchGrid::blocks(mesh.finest().len(), tile_threads(D));
    let launch = cuda
        .launch(&CURVATURE, D, "by_heights")
        .val(mesh.addresses())
        .val(*params)
        .buf(alpha)
        .buf(kinds)
        .val(found)
        .out(counts);
    // SAFETY: a thread block for each block of the finest level, whose cells `work` has room for.
    unsafe { launch.run(grid)? };
    let launch = cuda
        .launch(&CURVATURE, D, "by_fits")
        .val(mesh.addresses())
        .val(*params)
        .val(found)
        .out(counts);
    // SAFETY: as above; of other cells, normals, positions, directions and the curvatures that have one are read, which nobody
    // writes.
    unsafe { launch.run(grid)? };
    Ok(())
}

impl InterfaceWork {
    /// How many cells have a curvature by heights, and by a fit, with the parameters that it was found with; waits for all work.
    ///
    /// # Errors
    /// What the driver reports.
    pub(crate) fn curvatures<const D: usize>(
        &self,
        cuda: &Cuda,
        params: &DeviceParams<D>,
    ) -> Result<[usize; 2], DeviceError> {
        if !params.finds_curvature() {
            return Ok([0; 2]);
        }
        let counts = cuda.download(&self.counts)?;
        Ok([counts[0] as usize, counts[1] as usize])
    }
}
