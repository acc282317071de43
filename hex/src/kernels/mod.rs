//! The stages of refinement. A backend implements [`RefineKernels`]; the files in `cpu/` and `cuda/` are twins.
//!
//! | stage | result | order | file |
//! |---|---|---|---|
//! | [`cell_faces`](SplitKernels::cell_faces) | the faces of each cell | cells, faces ascending | `group` |
//! | [`corners`](SplitKernels::corners) | the corners of hexahedra, of tetrahedra | cells | `corners`, `tets` |
//! | [`close`](SplitKernels::close) | marks spread until levels differ by one at most around every point | cells | `close` |
//! | [`number`](SplitKernels::number) | numbers of cells, split faces, midpoints of edges | scans; edges sorted | `number` |
//! | [`places`](SplitKernels::places) | the points of each cell that is split, its children's too | cells | `places` |
//! | [`points`](SplitKernels::points) | points and their levels | old points, edges, faces, cells | `points` |
//! | [`outlines`](SplitKernels::outlines) | owner, neighbour and corners of each face, in slots | faces, inner faces, boundary | `outlines` |
//! | [`order`](SplitKernels::order) | slots in upper-triangular order | owner, neighbour, slot | `group` |
//! | [`emit`](SplitKernels::emit) | the arrays of faces | as `order` says | `outlines` |
//! | [`cells`](SplitKernels::cells) | levels and paths of cells | cells | `cells` |
//! | [`faces_geometry`](MapKernels::faces_geometry), [`volumes`](MapKernels::volumes), [`centers`](MapKernels::centers) | centres, areas, volumes | faces, cells | `geometry` |
//! | [`ranges`](MapKernels::ranges), [`map`](MapKernels::map), [`project`](MapKernels::project) | sources of cells, fields, marks | cells | `map` |
//! | [`flux_shares`](FluxKernels::flux_shares), [`split_flux`](FluxKernels::split_flux) | fluxes after a step | faces | `fluxes` |
//! | [`flux_parts`](FluxKernels::flux_parts), [`sum_flux`](FluxKernels::sum_flux) | fluxes of faces put together | faces | `fluxes` |
//!
//! Each stage writes to places that a scan before it counted, so no order depends on threads. (Faces are put into the lists
//! of their cells in any order on a GPU, and each list is sorted.) Numbers are results of the same operations in the same
//! order, of + - × ÷ √ alone: all arrays are the same bits on every backend, coordinates too.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;

use crate::refine::{CellPath, CellRanges, HexMesh, HexSplit, RefineError};
use cutlink_device::Backend;

/// No point, no cell, no face.
pub(crate) const NONE: u32 = u32::MAX;

/// The corners of a cell: eight in voxel order, or four; [`NONE`] for those that are not there, and for cells that are
/// never refined.
pub(crate) type Corners = [u32; 8];

mod sealed {
    pub trait Sealed {}
    impl Sealed for cutlink_device::Host {}
    #[cfg(feature = "cuda")]
    impl Sealed for cutlink_device::cuda::Cuda {}
}

/// The faces of each cell, ascending.
#[derive(Debug)]
pub struct CellFaces<B: Backend> {
    /// First entry of each cell, and their number.
    pub start: B::Buf<u32>,
    /// Faces.
    pub faces: B::Buf<u32>,
}

/// What a step reads.
#[derive(Debug)]
pub struct RefineTask<'a, B: Backend> {
    /// The mesh.
    pub mesh: &'a HexMesh<B>,
    /// Its faces by cell.
    pub of: &'a CellFaces<B>,
    /// The corners of its cells.
    pub corners: &'a B::Buf<[u32; 8]>,
    /// Closed marks, 0 or 1.
    pub marks: &'a B::Buf<u8>,
}

/// Marks after they were closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosedMarks {
    /// Marked cells.
    pub count: usize,
    /// Refinements of the deepest one of them so far.
    pub deepest: u32,
}

/// Numbers of what a step makes. With P old points, E edges, S split faces and M split cells, the points are: old ones,
/// midpoints of edges from P on; in hexahedra, of faces from P + E on, of cells from P + E + S on.
#[derive(Debug)]
pub struct SplitNumbers<B: Backend> {
    /// By old cell, its number or that of its first child; one entry more than cells.
    pub first: B::Buf<u32>,
    /// By old face, split faces before it; one entry more than faces.
    pub split: B::Buf<u32>,
    /// In meshes of one cell's thickness: by old face, faces before it that are divided into four; one entry more than faces.
    pub quarters: B::Buf<u32>,
    /// The split cells, ascending.
    pub marked: B::Buf<u32>,
    /// The split edges: smaller point in the high half, larger one in the low half; ascending.
    pub edges: B::Buf<u64>,
    /// By old point, split edges whose smaller point is before it; one entry more than points.
    pub edge_start: B::Buf<u32>,
    /// How many of them.
    pub counts: SplitCounts,
}

/// What the cells of a mesh are that can be refined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellShape {
    /// Some are hexahedra; all others stay.
    Hexahedron,
    /// All are tetrahedra.
    Tetrahedron,
    /// Some are quadrilaterals between both sides of a mesh of one cell's thickness; all others stay.
    Sheet,
}

impl CellShape {
    /// Edges of a cell.
    pub(crate) fn edges(self) -> usize {
        match self {
            Self::Hexahedron => 12,
            Self::Tetrahedron => 6,
            Self::Sheet => 8,
        }
    }

    /// Faces inside a split cell.
    pub(crate) fn inner(self) -> usize {
        match self {
            Self::Hexahedron => 12,
            Self::Tetrahedron => 8,
            Self::Sheet => 4,
        }
    }

    /// Entries of a split cell in the list of its places.
    pub(crate) fn places(self) -> usize {
        match self {
            Self::Hexahedron => 27,
            Self::Tetrahedron => 11,
            Self::Sheet => 18,
        }
    }

    /// Children of a cell.
    pub(crate) fn children(self) -> u32 {
        match self {
            Self::Hexahedron | Self::Tetrahedron => 8,
            Self::Sheet => 4,
        }
    }
}

/// Counts on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitCounts {
    /// What is split.
    pub shape: CellShape,
    /// Old points.
    pub points: usize,
    /// Old faces, and those of them that are internal.
    pub faces: usize,
    /// See [`faces`](Self::faces).
    pub internal: usize,
    /// New cells.
    pub cells: usize,
    /// Split cells.
    pub marked: usize,
    /// Split edges.
    pub edges: usize,
    /// Split faces.
    pub split: usize,
    /// Those of them that are divided into four around a centre.
    pub quarters: usize,
    /// Faces that the pieces are more than the split faces.
    pub added: usize,
    /// Those of them before the first boundary face.
    pub added_internal: usize,
    /// Those of them before the first face of each patch.
    pub added_patches: Vec<usize>,
}

impl SplitCounts {
    /// New points.
    pub fn new_points(&self) -> usize {
        match self.shape {
            CellShape::Hexahedron => self.points + self.edges + self.split + self.marked,
            CellShape::Tetrahedron => self.points + self.edges,
            CellShape::Sheet => self.points + self.edges + self.quarters,
        }
    }

    /// Faces inside split cells.
    pub fn inner(&self) -> usize {
        self.shape.inner() * self.marked
    }

    /// The first slot of the faces inside split cells.
    pub fn inner_slot(&self) -> usize {
        self.internal + self.added_internal
    }

    /// New internal faces.
    pub fn new_internal(&self) -> usize {
        self.inner_slot() + self.inner()
    }

    /// New faces.
    pub fn new_faces(&self) -> usize {
        self.faces + self.added + self.inner()
    }
}

/// Faces in slots: those of old internal faces, of split cells, of old boundary faces.
#[derive(Debug)]
pub struct FaceOutlines<B: Backend> {
    /// Owner of each face.
    pub owner: B::Buf<u32>,
    /// Neighbour; of internal faces alone.
    pub neighbour: B::Buf<u32>,
    /// Corners of each face.
    pub count: B::Buf<u32>,
}

/// The arrays of new faces.
#[derive(Debug)]
pub struct NewFaces<B: Backend> {
    /// As in [`PolyMesh`](crate::PolyMesh).
    pub face_start: B::Buf<u32>,
    /// As in [`PolyMesh`](crate::PolyMesh).
    pub face_points: B::Buf<u32>,
    /// As in [`PolyMesh`](crate::PolyMesh).
    pub owner: B::Buf<u32>,
    /// As in [`PolyMesh`](crate::PolyMesh).
    pub neighbour: B::Buf<u32>,
    /// The old face that each face is part of; `u32::MAX` inside split cells.
    pub from: B::Buf<u32>,
    /// The parent's face of each boundary face.
    pub rims: B::Buf<u32>,
}

/// The new points.
#[derive(Debug)]
pub struct NewPoints<B: Backend> {
    /// Coordinates.
    pub points: B::Buf<[f64; 3]>,
    /// As in [`PolyLevels`](crate::PolyLevels).
    pub levels: B::Buf<u8>,
}

/// The new cells.
#[derive(Debug)]
pub struct NewCells<B: Backend> {
    /// As in [`PolyLevels`](crate::PolyLevels).
    pub levels: B::Buf<u8>,
    /// Their places in the parent.
    pub paths: B::Buf<CellPath>,
}

/// What fluxes of a step are made from.
#[derive(Debug)]
pub struct FluxTask<'a, B: Backend> {
    /// The mesh after the step.
    pub mesh: &'a HexMesh<B>,
    /// Its faces by cell.
    pub of: &'a CellFaces<B>,
    /// What the step did.
    pub split: &'a HexSplit<B>,
    /// By face, its share in the old face that it was part of.
    pub shares: &'a B::Buf<f64>,
    /// By cell, its volume.
    pub volumes: &'a B::Buf<f64>,
}

/// The stages of [`HexMesh`]; see the module's table. Sealed: the backends are those of `cutlink-device`. The arrays given
/// are those of one step of one checked mesh; others give wrong meshes, errors or panics on the host.
pub trait RefineKernels: SplitKernels + MapKernels + FluxKernels {
    /// Whether the backend refines meshes of one cell's thickness, and such with joined patches.
    const TAKES_ALL: bool;
}

/// The stages of a refinement, from marks to the new mesh.
#[expect(
    unsafe_code,
    reason = "on a device, stages follow ids without bounds checks"
)]
pub trait SplitKernels: Backend + sealed::Sealed {
    /// The faces of each cell.
    ///
    /// # Safety
    /// As for all stages: the mesh is one whose ids are in range, and other arrays are those that earlier stages made of it.
    unsafe fn cell_faces(&self, mesh: &HexMesh<Self>) -> Result<CellFaces<Self>, RefineError>;

    /// The corners of each cell, and the number of cells without.
    ///
    /// # Errors
    /// A tetrahedron whose corners are not those that its place in its parent has.
    ///
    /// # Safety
    /// See [`cell_faces`](Self::cell_faces).
    unsafe fn corners(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
    ) -> Result<(Self::Buf<[u32; 8]>, usize), RefineError>;

    /// Closes marks: after refinement, levels differ by one at most around every point. First marks too close to cells that
    /// cannot be refined are dropped, then marks spread to coarser cells. The result is the same for any order: levels are
    /// lowered and raised to fixed points.
    ///
    /// # Safety
    /// See [`cell_faces`](Self::cell_faces).
    unsafe fn close(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
        corners: &Self::Buf<[u32; 8]>,
        marks: &mut Self::Buf<u8>,
    ) -> Result<ClosedMarks, RefineError>;

    /// The numbers of a step with marks.
    ///
    /// # Errors
    /// Too many cells or points; a face to be split that has too few corners.
    ///
    /// # Safety
    /// See [`cell_faces`](Self::cell_faces).
    unsafe fn number(
        &self,
        task: &RefineTask<'_, Self>,
        closed: ClosedMarks,
    ) -> Result<SplitNumbers<Self>, RefineError>;

    /// The points at the places of each split cell: 27 of a hexahedron; 10 of a tetrahedron, and whether it is mirrored.
    ///
    /// # Safety
    /// See [`cell_faces`](Self::cell_faces).
    unsafe fn places(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
    ) -> Result<Self::Buf<u32>, RefineError>;

    /// Points and their levels.
    ///
    /// # Safety
    /// See [`cell_faces`](Self::cell_faces).
    unsafe fn points(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
    ) -> Result<NewPoints<Self>, RefineError>;

    /// Ends of each new face, and its number of corners.
    ///
    /// # Safety
    /// See [`cell_faces`](Self::cell_faces).
    unsafe fn outlines(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
        places: &Self::Buf<u32>,
    ) -> Result<FaceOutlines<Self>, RefineError>;

    /// The slots of internal faces by owner, neighbour and slot.
    ///
    /// # Safety
    /// See [`cell_faces`](Self::cell_faces).
    unsafe fn order(
        &self,
        counts: &SplitCounts,
        outlines: &FaceOutlines<Self>,
    ) -> Result<Self::Buf<u32>, RefineError>;

    /// The arrays of new faces.
    ///
    /// # Errors
    /// Too many corners; a face without one of its points, where levels do not fit.
    ///
    /// # Safety
    /// See [`cell_faces`](Self::cell_faces).
    unsafe fn emit(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
        places: &Self::Buf<u32>,
        outlines: FaceOutlines<Self>,
        order: Self::Buf<u32>,
    ) -> Result<NewFaces<Self>, RefineError>;

    /// Levels and paths of the new cells.
    ///
    /// # Safety
    /// See [`cell_faces`](Self::cell_faces).
    unsafe fn cells(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
    ) -> Result<NewCells<Self>, RefineError>;
}

/// Sizes of cells, and values and marks from mesh to mesh.
#[expect(
    unsafe_code,
    reason = "on a device, stages follow ids without bounds checks"
)]
pub trait MapKernels: Backend + sealed::Sealed {
    /// Centre and area vector of each face, as [`PolyMesh::face_geometry`](crate::PolyMesh::face_geometry) has them.
    ///
    /// # Safety
    /// See [`cell_faces`](SplitKernels::cell_faces).
    unsafe fn faces_geometry(
        &self,
        mesh: &HexMesh<Self>,
    ) -> Result<Self::Buf<[f64; 6]>, RefineError>;

    /// The volume of each cell, as [`PolyMesh::cell_geometry`](crate::PolyMesh::cell_geometry) has it.
    ///
    /// # Safety
    /// See [`cell_faces`](SplitKernels::cell_faces).
    unsafe fn volumes(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
        faces: &Self::Buf<[f64; 6]>,
    ) -> Result<Self::Buf<f64>, RefineError>;

    /// Centre of mass of each cell, as [`PolyMesh::cell_geometry`](crate::PolyMesh::cell_geometry) has it, and the
    /// distance of the point of the cell that is farthest from it.
    ///
    /// # Safety
    /// See [`cell_faces`](SplitKernels::cell_faces).
    unsafe fn centers(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
        faces: &Self::Buf<[f64; 6]>,
    ) -> Result<Self::Buf<[f64; 4]>, RefineError>;

    /// For each cell of a mesh, the cells of another mesh of the same parent that hold it or lie in it. Both lists are
    /// sorted.
    fn ranges(
        &self,
        from: &Self::Buf<CellPath>,
        to: &Self::Buf<CellPath>,
    ) -> Result<CellRanges<Self>, RefineError>;

    /// Means of values by volume; the value itself where there is one source.
    ///
    /// # Safety
    /// The ranges lie in the values, of which there are as many as volumes.
    unsafe fn map(
        &self,
        ranges: &CellRanges<Self>,
        volumes: &Self::Buf<f64>,
        values: &Self::Buf<f64>,
    ) -> Result<Self::Buf<f64>, RefineError>;

    /// A mark for each cell of a mesh: whether a source of it wants more refinements than it has. Also how many are
    /// marked.
    ///
    /// # Safety
    /// The ranges lie in `wanted`, and there is one for each path.
    unsafe fn project(
        &self,
        ranges: &CellRanges<Self>,
        wanted: &Self::Buf<u8>,
        paths: &Self::Buf<CellPath>,
    ) -> Result<(Self::Buf<u8>, usize), RefineError>;
}

/// Fluxes from mesh to mesh.
#[expect(
    unsafe_code,
    reason = "on a device, stages follow ids without bounds checks"
)]
pub trait FluxKernels: Backend + sealed::Sealed {
    /// By face of a mesh after a step, its share in the old face that it was part of, by area; 0 inside split cells. `faces`
    /// are centres and areas.
    ///
    /// # Safety
    /// See [`cell_faces`](SplitKernels::cell_faces).
    unsafe fn flux_shares(
        &self,
        from: &Self::Buf<u32>,
        old_faces: usize,
        faces: &Self::Buf<[f64; 6]>,
    ) -> Result<Self::Buf<f64>, RefineError>;

    /// A flux after a step: that of each face by its share; inside a split cell that of the least potential that gives
    /// each child its share, by volume, of the cell's sum.
    ///
    /// # Safety
    /// See [`cell_faces`](SplitKernels::cell_faces); there is a flux for each old face.
    unsafe fn split_flux(
        &self,
        task: &FluxTask<'_, Self>,
        flux: &Self::Buf<f64>,
    ) -> Result<Self::Buf<f64>, RefineError>;

    /// For each face of a mesh, the faces of a finer one, ascending, that are it or part of it. `holders` are the cells of
    /// the mesh for those of the finer one.
    ///
    /// # Errors
    /// A face that is no part of one.
    ///
    /// # Safety
    /// See [`cell_faces`](SplitKernels::cell_faces).
    unsafe fn flux_parts(
        &self,
        fine: (&HexMesh<Self>, &CellFaces<Self>),
        to: (&HexMesh<Self>, &CellFaces<Self>),
        holders: &CellRanges<Self>,
    ) -> Result<CellFaces<Self>, RefineError>;

    /// The sum of a flux over each list of [`flux_parts`](Self::flux_parts).
    ///
    /// # Safety
    /// There is a flux for each entry.
    unsafe fn sum_flux(
        &self,
        parts: &CellFaces<Self>,
        flux: &Self::Buf<f64>,
    ) -> Result<Self::Buf<f64>, RefineError>;
}
