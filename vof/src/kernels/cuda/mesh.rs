//! The mesh of a flow in a device's memory.

use super::{DeviceGrains, InterfaceWork, THREADS};
use crate::constants::MARGIN;
use crate::grain_cells::GrainCells;
use crate::kernels::{Made, Scene, TwoPhaseMemory};
use crate::mesh::{FlowMesh, centre, corners};
use crate::running::Fields;
use bytemuck::{Pod, Zeroable};
use cutlink_amr::dims;
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};
use cutlink_elliptic::{BlockAddresses, Blocks, DeviceBlocks, faces};
use std::{ops::Range, sync::Arc};

/// A solid cell near a wall: `GhostCell` of `ghosts.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct DeviceGhost {
    cell: u32,
    beside: [u32; 6],
    count: u32,
}

/// Tables of a mesh in a device's memory.
#[derive(Debug)]
pub(crate) struct DeviceMesh<const D: usize> {
    tables: DeviceBlocks,
    around: CudaBuf<u32>,
    solid: CudaBuf<u64>,
    pub(crate) ghosts: CudaBuf<DeviceGhost>,
    /// How many ghosts there are up to each layer.
    layers: [usize; MARGIN],
    /// In the host's memory.
    pub(crate) blocks: Arc<Blocks<D>>,
    /// Whether leaves are on coarser levels than the finest one.
    pub(crate) has_coarse_leaves: bool,
    origin: [f64; D],
    root_width: f64,
}

/// What kernels have of a mesh, a value: `Mesh` of `mesh.cuh`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub(crate) struct MeshAddresses<const D: usize> {
    blocks: BlockAddresses,
    around: u64,
    solid: u64,
    origin: [f64; D],
    root_width: f64,
    count: u32,
    first_finest: u32,
    finest: u32,
    pad: u32,
}

// SAFETY: numbers that may be zero.
unsafe impl<const D: usize> Zeroable for MeshAddresses<D> {}
// SAFETY: numbers of any bits, without padding: those of 8 bytes come first, and four of 4 bytes follow.
unsafe impl<const D: usize> Pod for MeshAddresses<D> {}

impl<const D: usize> DeviceMesh<D> {
    /// Copies the tables to a device.
    ///
    /// # Errors
    /// Memory, and what the driver reports.
    pub(crate) fn new(cuda: &Cuda, mesh: &FlowMesh<D>) -> Result<Self, DeviceError> {
        let (ghosts, layers) = mesh.ghosts();
        let ghosts = ghosts.iter().map(|ghost| DeviceGhost {
            cell: ghost.cell,
            beside: ghost.beside,
            count: u32::from(ghost.count),
        });
        let blocks = &mesh.blocks;
        let mut coarse = 0..blocks.range(blocks.finest()).start;
        Ok(Self {
            tables: DeviceBlocks::new(cuda, blocks)?,
            around: cuda.upload(mesh.all_around().to_vec())?,
            solid: cuda.upload(mesh.solid().to_vec())?,
            ghosts: cuda.upload(ghosts.collect())?,
            layers,
            blocks: Arc::clone(blocks),
            has_coarse_leaves: coarse.any(|block| blocks.is_leaf(block)),
            origin: mesh.origin(),
            root_width: mesh.width(0),
        })
    }

    /// What kernels have of it, for as long as this exists.
    pub(crate) fn addresses(&self) -> MeshAddresses<D> {
        MeshAddresses {
            blocks: self.tables.addresses(),
            around: self.around.address(0),
            solid: self.solid.address(0),
            origin: self.origin,
            root_width: self.root_width,
            count: self.len() as u32,
            first_finest: self.finest().start as u32,
            finest: self.blocks.finest() as u32,
            pad: 0,
        }
    }

    /// How many blocks there are, refined ones included.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Tables of its blocks.
    pub(crate) fn tables(&self) -> &DeviceBlocks {
        &self.tables
    }

    /// One thread a face.
    pub(super) fn over_faces(&self) -> LaunchGrid {
        LaunchGrid::over(self.len() * faces::per_block(D), THREADS)
    }

    /// One thread a cell.
    pub(super) fn over_cells(&self) -> LaunchGrid {
        LaunchGrid::over(self.cells(), THREADS)
    }

    /// # Panics
    /// Where an array of cells, or of faces, has another length than the mesh.
    pub(super) fn check(&self, of_cells: &[usize], of_faces: &[usize]) {
        let (cells, len) = (self.cells(), self.len() * faces::per_block(D));
        let is_sound = of_cells.iter().all(|&n| n == cells) && of_faces.iter().all(|&n| n == len);
        assert!(is_sound, "arrays should be of the mesh");
    }

    /// # Panics
    /// Where a field has another length than the mesh.
    pub(super) fn check_fields(&self, fields: &Fields<D, Cuda>) {
        let of_axes = fields.velocity.iter().chain(&fields.pull);
        let of_cells: Vec<usize> = of_axes
            .chain([&fields.alpha, &fields.pressure])
            .map(CudaBuf::len)
            .collect();
        self.check(&of_cells, &[fields.flux.len()]);
    }

    /// Cells of all blocks.
    pub(crate) fn cells(&self) -> usize {
        self.len() * dims::cells(D)
    }

    /// The blocks of the finest level, which come last.
    pub(crate) fn finest(&self) -> Range<usize> {
        self.blocks.range(self.blocks.finest())
    }

    /// The centre of a cell, m.
    pub(crate) fn centre(&self, block: usize, cell: usize) -> [f64; D] {
        centre(&self.blocks, self.origin, self.root_width, block, cell)
    }

    /// Lengths of the box, m.
    pub(super) fn lengths(&self) -> [f64; D] {
        let [low, high] = corners(&self.blocks, self.origin, self.root_width);
        std::array::from_fn(|a| high[a] - low[a])
    }

    /// Ghosts layer by layer: those of a layer depend on earlier layers alone.
    pub(crate) fn layers(&self) -> impl Iterator<Item = Range<usize>> {
        (0..MARGIN).map(|k| match k {
            0 => 0..self.layers[0],
            _ => self.layers[k - 1]..self.layers[k],
        })
    }
}

impl<const D: usize> TwoPhaseMemory<D> for Cuda {
    type Mesh = DeviceMesh<D>;
    type Interface = InterfaceWork;
    type Grains = DeviceGrains;

    fn upload_mesh(&self, mesh: &FlowMesh<D>) -> Made<DeviceMesh<D>> {
        Ok(DeviceMesh::new(self, mesh)?)
    }

    fn blocks_of(mesh: &DeviceMesh<D>) -> &DeviceBlocks {
        mesh.tables()
    }

    fn interface(at: &Scene<'_, D, Self>) -> Made<InterfaceWork> {
        Ok(InterfaceWork::new(at.backend, at.tables)?)
    }

    fn grains(at: &Scene<'_, D, Self>, cells: GrainCells) -> Made<DeviceGrains> {
        Ok(DeviceGrains::new(at.backend, at.tables, &cells)?)
    }
}
