//! Cells of grains in a device's memory, from lists that the host makes.

use super::{DeviceMesh, GRAIN_CELLS, THREADS};
use crate::constants::GRAIN_LANES;
use crate::grain_cells::{GrainCells, WHAT};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::NONE;
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// Cells of grains, and what they make of the mesh's cells. 56 bytes a cell of a grain, of which 17 come from the host; 20 bytes a cell of
/// the mesh.
#[derive(Debug)]
pub(crate) struct DeviceGrains {
    first: CudaBuf<u32>,
    density: CudaBuf<f64>,
    cell: CudaBuf<u32>,
    grain: CudaBuf<u32>,
    after: CudaBuf<u32>,
    part: CudaBuf<f64>,
    arm: CudaBuf<f64>,
    place: CudaBuf<u32>,
    clear: CudaBuf<f64>,
    mass: CudaBuf<f64>,
    volume: f64,
    drive: [f64; 3],
}

/// What kernels have of cells of grains, a value: `Grains` of `grain_cells.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct GrainAddresses {
    first: u64,
    density: u64,
    cell: u64,
    grain: u64,
    after: u64,
    part: u64,
    arm: u64,
    place: u64,
    clear: u64,
    mass: u64,
    volume: f64,
    drive: [f64; 3],
    count: u32,
    cells: u32,
}

impl GrainAddresses {
    /// Those of a flow with or without grains.
    pub(super) fn of(grains: Option<&DeviceGrains>) -> Self {
        grains.map_or_else(Self::zeroed, DeviceGrains::addresses)
    }
}

impl DeviceGrains {
    /// # Errors
    /// Memory, and what the driver reports.
    ///
    /// # Panics
    /// Where there are more cells of grains than a `u32` counts.
    pub(super) fn new<const D: usize>(
        cuda: &Cuda,
        mesh: &DeviceMesh<D>,
        cells: &GrainCells,
    ) -> Result<Self, DeviceError> {
        let of = &cells.of;
        assert!(of.len() < NONE as usize, "places of cells should be u32");
        let first = cells.first.iter().map(|&at| at as u32).collect();
        let (all, len) = (mesh.cells(), of.len());
        let mut grains = Self {
            first: cuda.upload(first)?,
            density: cuda.upload(cells.density.clone())?,
            cell: cuda.upload(of.iter().map(|of| of.cell).collect())?,
            grain: cuda.alloc(WHAT, len, 0)?,
            after: cuda.upload(of.iter().map(|of| of.after).collect())?,
            part: cuda.upload(of.iter().map(|of| of.part).collect())?,
            arm: cuda.alloc(WHAT, 3 * len, 0.0)?,
            place: cuda.alloc(WHAT, all, NONE)?,
            clear: cuda.alloc(WHAT, all, 1.0)?,
            mass: cuda.alloc(WHAT, all, 0.0)?,
            volume: cells.volume,
            drive: cells.drive,
        };
        let image: CudaBuf<u8> = cuda.upload(of.iter().map(|of| of.image).collect())?;
        let centre = cuda.upload(cells.centre.as_flattened().to_vec())?;
        let launch = cuda
            .launch(&GRAIN_CELLS, D, "arms")
            .val(mesh.addresses())
            .buf(&grains.first)
            .buf(&grains.cell)
            .buf(&image)
            .buf(&centre)
            .val(mesh.lengths())
            .out(&mut grains.grain)
            .out(&mut grains.arm)
            .out(&mut grains.place);
        // SAFETY: a thread block a grain, whose cells are of the mesh; lists of all grains' cells; a place for each cell of the mesh.
        unsafe { launch.run(LaunchGrid::blocks(cells.len(), THREADS))? };
        let addresses = grains.addresses();
        let launch = cuda
            .launch(&GRAIN_CELLS, D, "shares")
            .val(addresses)
            .out(&mut grains.clear)
            .out(&mut grains.mass);
        // SAFETY: as above; the addresses are of these grains.
        unsafe { launch.run(LaunchGrid::over(len, THREADS))? };
        Ok(grains)
    }

    /// What kernels have of it, for as long as this exists.
    pub(super) fn addresses(&self) -> GrainAddresses {
        GrainAddresses {
            first: self.first.address(0),
            density: self.density.address(0),
            cell: self.cell.address(0),
            grain: self.grain.address(0),
            after: self.after.address(0),
            part: self.part.address(0),
            arm: self.arm.address(0),
            place: self.place.address(0),
            clear: self.clear.address(0),
            mass: self.mass.address(0),
            volume: self.volume,
            drive: self.drive,
            count: self.len() as u32,
            cells: self.cells() as u32,
        }
    }

    /// Grains.
    pub(super) fn len(&self) -> usize {
        self.density.len()
    }

    /// Cells of all of them.
    pub(super) fn cells(&self) -> usize {
        self.cell.len()
    }

    /// One thread a cell of a grain.
    pub(super) fn over_cells(&self) -> LaunchGrid {
        LaunchGrid::over(self.cells(), THREADS)
    }

    /// One thread block a grain.
    pub(super) fn over_grains(&self) -> LaunchGrid {
        LaunchGrid::blocks(self.len(), GRAIN_LANES as u32)
    }
}
