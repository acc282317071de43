//! Planes of mixed cells, and their mean normals.

use super::{DeviceMesh, DeviceParams, INTERFACE, tile_threads};
use crate::TwoPhaseError;
use bytemuck::{Pod, Zeroable};
use cutlink_amr::dims;
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// Threads of a thread block, where each works on a cell alone.
const THREADS: u32 = 128;

/// Arrays of the interface. Memory in bytes: 17 + 16 D a cell of the finest level, and 8 a cell where there are solid ones.
#[derive(Debug)]
pub(crate) struct InterfaceWork {
    /// Fractions with those of solid cells near walls; none without such cells.
    pub(super) alpha: CudaBuf<f64>,
    /// Of cells of the finest level, as all that follows: one component after another.
    pub(super) normals: CudaBuf<f64>,
    /// Positions in columns; normals that count in means.
    pub(super) others: CudaBuf<f64>,
    pub(super) constants: CudaBuf<f64>,
    pub(super) curvature: CudaBuf<f64>,
    /// Of the columns that curvatures are from, as numbers.
    pub(super) directions: CudaBuf<u8>,
    /// By block of the finest level: whether cells have normals.
    pub(super) has: CudaBuf<u8>,
    /// By block: what is in it.
    pub(super) kinds: CudaBuf<u8>,
    /// Cells that have a curvature by heights, and by a fit.
    pub(super) counts: CudaBuf<u32>,
    /// The first cell of a coarse level with both fluids; `u32::MAX` without one.
    coarse: CudaBuf<u32>,
}

/// Vectors of cells: `Vectors` of `interface.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct VectorAddresses {
    of: u64,
    cells: u64,
}

/// Planes of cells: `Planes` of `interface.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PlaneAddresses {
    normals: VectorAddresses,
    constants: u64,
    has: u64,
    first: u64,
}

impl VectorAddresses {
    pub(super) fn of<const D: usize>(buf: &CudaBuf<f64>) -> Self {
        Self {
            of: buf.address(0),
            cells: (buf.len() / D) as u64,
        }
    }
}

impl InterfaceWork {
    /// # Errors
    /// Memory, and what the driver reports.
    pub(crate) fn new<const D: usize>(
        cuda: &Cuda,
        mesh: &DeviceMesh<D>,
    ) -> Result<Self, DeviceError> {
        let (blocks, all) = (mesh.finest().len(), mesh.len() * dims::cells(D));
        let cells = blocks * dims::cells(D);
        let array = |what, len| cuda.alloc(what, len, 0.0);
        let with_ghosts = if mesh.ghosts.is_empty() { 0 } else { all };
        Ok(Self {
            alpha: array("fractions in solid cells", with_ghosts)?,
            normals: array("normals of the interface", D * cells)?,
            others: array("positions of the interface", D * cells)?,
            constants: array("planes of the interface", cells)?,
            curvature: array("curvature", cells)?,
            directions: cuda.alloc("directions of columns", cells, 0)?,
            has: cuda.alloc("blocks at the interface", blocks, 0)?,
            kinds: cuda.alloc("fluids of blocks", mesh.len(), 0)?,
            counts: cuda.alloc("counts of curvatures", 2, 0)?,
            coarse: cuda.alloc("a coarse cell at the interface", 1, u32::MAX)?,
        })
    }

    /// What kernels have of the planes that were found last, for as long as this exists.
    pub(crate) fn planes<const D: usize>(&self, mesh: &DeviceMesh<D>) -> PlaneAddresses {
        PlaneAddresses {
            normals: VectorAddresses::of::<D>(&self.normals),
            constants: self.constants.address(0),
            has: self.has.address(0),
            first: mesh.finest().start as u64,
        }
    }
}

/// Fractions with those that make the interface meet walls of solid cells at a right angle, in `room` where there are such
/// cells.
pub(super) fn with_ghosts<'a, const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    alpha: &'a CudaBuf<f64>,
    room: &'a mut CudaBuf<f64>,
) -> Result<&'a CudaBuf<f64>, DeviceError> {
    if mesh.ghosts.is_empty() {
        return Ok(alpha);
    }
    cuda.copy(alpha, room)?;
    for layer in mesh.layers() {
        let launch = cuda
            .launch(&INTERFACE, D, "ghosts")
            .buf_at(&mesh.ghosts, layer.start)
            .val(layer.len() as u32)
            .out(room);
        // SAFETY: ghosts and the cells beside them are cells of the mesh; those of a layer are no neighbours of one another.
        unsafe { launch.run(LaunchGrid::over(layer.len(), THREADS))? };
    }
    Ok(room)
}

/// Checks that the interface is on the finest level.
///
/// # Errors
/// The first mixed cell of a coarser one; what the driver reports.
pub(crate) fn check_level<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    alpha: &CudaBuf<f64>,
    work: &mut InterfaceWork,
) -> Result<(), TwoPhaseError> {
    if !mesh.has_coarse_leaves {
        return Ok(());
    }
    let launch = cuda
        .launch(&INTERFACE, D, "check_level")
        .val(mesh.addresses())
        .buf(alpha)
        .out(&mut work.coarse);
    let cells = mesh.finest().start * dims::cells(D);
    // SAFETY: fractions of the mesh's cells.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    let found = work.coarse.read(0)?;
    if found == u32::MAX {
        return Ok(());
    }
    cuda.write(vec![u32::MAX], 0, &mut work.coarse)?;
    let (block, cell) = (
        found as usize / dims::cells(D),
        found as usize % dims::cells(D),
    );
    Err(TwoPhaseError::CoarseInterface {
        level: mesh.blocks.level(block),
        finest: mesh.blocks.finest(),
        at: mesh.centre(block, cell).to_vec(),
    })
}

/// Reconstructs the interface: [`InterfaceWork::planes`] has it then.
///
/// # Errors
/// Where a mixed cell is not on the finest level; what the driver reports.
pub(crate) fn planes<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    alpha: &CudaBuf<f64>,
    work: &mut InterfaceWork,
) -> Result<(), TwoPhaseError> {
    check_level(cuda, mesh, alpha, work)?;
    let planes = work.planes(mesh);
    let alpha = with_ghosts(cuda, mesh, alpha, &mut work.alpha)?;
    let launch = cuda
        .launch(&INTERFACE, D, "planes")
        .val(mesh.addresses())
        .val(*params)
        .buf(alpha)
        .val(planes);
    let grid = LaunchGrid::blocks(mesh.finest().len(), tile_threads(D));
    // SAFETY: a thread block for each block of the finest level, whose cells `work` has room for.
    unsafe { launch.run(grid)? };
    Ok(())
}

/// Turns planes to the mean normals of the mixed cells around, with the same volumes.
///
/// # Errors
/// What the driver reports.
pub(crate) fn smooth<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    alpha: &CudaBuf<f64>,
    work: &mut InterfaceWork,
) -> Result<(), DeviceError> {
    let (planes, inner) = (work.planes(mesh), VectorAddresses::of::<D>(&work.others));
    let grid = LaunchGrid::over(work.constants.len(), THREADS);
    let launch = cuda
        .launch(&INTERFACE, D, "inner_normals")
        .val(mesh.addresses())
        .buf(alpha)
        .val(planes)
        .val(inner);
    // SAFETY: a thread for each cell of the finest level; planes are read alone.
    unsafe { launch.run(grid)? };
    let launch = cuda
        .launch(&INTERFACE, D, "smooth")
        .val(mesh.addresses())
        .buf(alpha)
        .val(inner)
        .val(planes);
    // SAFETY: as above; each thread reads and writes the plane of its own cell alone.
    unsafe { launch.run(grid)? };
    Ok(())
}
