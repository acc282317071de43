//! Meshes in the memory of a backend: marks, mesh and fields stay there from one adaptation to the next.

use super::boundary::Boundary;
use super::{
    CellDemand, CellPath, CellPlace, MAX_REFINEMENTS, RefineError, RefinedMesh, check_memory,
    is_of_tets,
};
use crate::kernels::{CellShape, RefineKernels, RefineTask, SplitCounts};
use crate::{PolyLevels, PolyMesh, PolyPatch};
use cutlink_device::{Backend, Host, Item};
use rayon::prelude::*;

/// A [`RefinedMesh`] in the memory of a backend; see there and [`PolyMesh`] for the arrays. Made from one on the host,
/// which has been checked. A refinement is the same bits on every backend.
#[derive(Debug)]
pub struct HexMesh<B: Backend = Host> {
    pub(crate) points: B::Buf<[f64; 3]>,
    pub(crate) face_start: B::Buf<u32>,
    pub(crate) face_points: B::Buf<u32>,
    pub(crate) owner: B::Buf<u32>,
    pub(crate) neighbour: B::Buf<u32>,
    pub(crate) cell_levels: B::Buf<u8>,
    pub(crate) point_levels: B::Buf<u8>,
    pub(crate) paths: B::Buf<CellPath>,
    pub(crate) rims: B::Buf<u32>,
    pub(crate) boundary: Boundary,
    edge: f64,
    polyhedra: usize,
    pub(crate) shape: CellShape,
}

/// What a refinement did.
#[derive(Debug)]
pub struct HexSplit<B: Backend = Host> {
    /// Cells that were split.
    pub refined: usize,
    /// By old cell, its number or that of its first child, which the others follow; one entry more than old cells.
    pub first: B::Buf<u32>,
    /// The old face that each face is or was part of; `u32::MAX` inside split cells.
    pub from: B::Buf<u32>,
}

/// For each cell of a mesh, the cells of another mesh of the same parent that hold it or lie in it: always neighbours in
/// the order of cells.
#[derive(Debug)]
pub struct CellRanges<B: Backend = Host> {
    pub(crate) first: B::Buf<u32>,
    pub(crate) count: B::Buf<u32>,
    pub(crate) sources: usize,
}

impl HexMesh<Host> {
    /// The arrays of a mesh on the host, which are moved.
    pub fn of(refined: RefinedMesh) -> Self {
        let mesh = refined.mesh;
        let boundary = Boundary::of(mesh.patches.clone());
        let shape = match is_of_tets(&mesh) {
            true => CellShape::Tetrahedron,
            false if boundary.sheets.is_empty() => CellShape::Hexahedron,
            false => CellShape::Sheet,
        };
        let levels = mesh.levels.unwrap_or_default();
        Self {
            points: mesh.points,
            face_start: mesh.face_start,
            face_points: mesh.face_points,
            owner: mesh.owner,
            neighbour: mesh.neighbour,
            cell_levels: levels.cell,
            point_levels: levels.point,
            paths: refined.paths,
            rims: refined.rims,
            boundary,
            edge: levels.edge,
            polyhedra: refined.polyhedra,
            shape,
        }
    }

    /// Refuses what only the CPU refines.
    fn check_plain(&self) -> Result<(), RefineError> {
        match self.boundary.only_on_host() {
            Some(patch) => Err(RefineError::OnHostOnly {
                patch: patch.name.clone(),
                kind: patch.kind.clone(),
            }),
            None => Ok(()),
        }
    }

    /// The mesh, whose arrays are moved.
    pub fn into_refined(self) -> RefinedMesh {
        RefinedMesh {
            mesh: PolyMesh {
                cells: self.cell_levels.len(),
                points: self.points,
                face_start: self.face_start,
                face_points: self.face_points,
                owner: self.owner,
                neighbour: self.neighbour,
                patches: self.boundary.patches,
                levels: Some(PolyLevels {
                    cell: self.cell_levels,
                    point: self.point_levels,
                    edge: self.edge,
                }),
            },
            paths: self.paths,
            rims: self.rims,
            polyhedra: self.polyhedra,
        }
    }
}

/// Bytes that a cell of a refined mesh takes at least: a point, three faces of four corners, levels and a path.
const LEAST_BYTES: u64 = 24 + 3 * (4 + 16 + 4 + 4) + 2 + 8;

/// Cells of the mesh where each marked one is refined so many times.
fn forecast(shape: CellShape, marks: &[u8], times: &[u8]) -> u64 {
    let bits = shape.children().trailing_zeros();
    let cells = marks
        .par_iter()
        .zip(times)
        .map(|(&mark, &times)| match mark {
            0 => 1,
            _ => 1 << (bits * u32::from(times.clamp(1, MAX_REFINEMENTS))),
        });
    cells.sum()
}

/// Refuses so many cells before they are made.
fn check_cells<B: Backend>(kernels: &B, count: u64) -> Result<(), RefineError> {
    if count >= u64::from(u32::MAX) {
        return Err(RefineError::TooLarge {
            what: "cells",
            count,
        });
    }
    let (requested, free) = (count * LEAST_BYTES, kernels.free_bytes());
    match requested <= free {
        true => Ok(()),
        false => Err(RefineError::Cells {
            count,
            requested,
            free,
        }),
    }
}

#[expect(
    unsafe_code,
    reason = "stages trust the arrays of a mesh that was checked, and those of stages before them"
)]
impl<B: RefineKernels> HexMesh<B> {
    /// Copies a mesh to a backend.
    ///
    /// # Errors
    /// Where memory is short or the device fails, as with all methods.
    pub fn upload(kernels: &B, refined: &RefinedMesh) -> Result<Self, RefineError> {
        Self::moved(kernels, refined.clone())
    }

    /// Moves a mesh to a backend.
    pub(super) fn moved(kernels: &B, refined: RefinedMesh) -> Result<Self, RefineError> {
        let host = HexMesh::of(refined);
        if !B::TAKES_ALL {
            host.check_plain()?;
        }
        Ok(Self {
            points: kernels.upload(host.points)?,
            face_start: kernels.upload(host.face_start)?,
            face_points: kernels.upload(host.face_points)?,
            owner: kernels.upload(host.owner)?,
            neighbour: kernels.upload(host.neighbour)?,
            cell_levels: kernels.upload(host.cell_levels)?,
            point_levels: kernels.upload(host.point_levels)?,
            paths: kernels.upload(host.paths)?,
            rims: kernels.upload(host.rims)?,
            boundary: host.boundary,
            edge: host.edge,
            polyhedra: host.polyhedra,
            shape: host.shape,
        })
    }

    /// Moves the mesh to the host.
    pub(super) fn unload(self, kernels: &B) -> Result<RefinedMesh, RefineError> {
        let host = HexMesh::<Host> {
            points: kernels.unload(self.points)?,
            face_start: kernels.unload(self.face_start)?,
            face_points: kernels.unload(self.face_points)?,
            owner: kernels.unload(self.owner)?,
            neighbour: kernels.unload(self.neighbour)?,
            cell_levels: kernels.unload(self.cell_levels)?,
            point_levels: kernels.unload(self.point_levels)?,
            paths: kernels.unload(self.paths)?,
            rims: kernels.unload(self.rims)?,
            boundary: self.boundary,
            edge: self.edge,
            polyhedra: self.polyhedra,
            shape: self.shape,
        };
        Ok(host.into_refined())
    }

    /// Copies the mesh to the host.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    pub fn download(&self, kernels: &B) -> Result<RefinedMesh, RefineError> {
        let host = HexMesh::<Host> {
            points: kernels.download(&self.points)?,
            face_start: kernels.download(&self.face_start)?,
            face_points: kernels.download(&self.face_points)?,
            owner: kernels.download(&self.owner)?,
            neighbour: kernels.download(&self.neighbour)?,
            cell_levels: kernels.download(&self.cell_levels)?,
            point_levels: kernels.download(&self.point_levels)?,
            paths: kernels.download(&self.paths)?,
            rims: kernels.download(&self.rims)?,
            boundary: self.boundary.clone(),
            edge: self.edge,
            polyhedra: self.polyhedra,
            shape: self.shape,
        };
        Ok(host.into_refined())
    }

    /// A copy in the same memory.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    pub fn copy(&self, kernels: &B) -> Result<Self, RefineError> {
        Ok(Self {
            points: copied(kernels, &self.points)?,
            face_start: copied(kernels, &self.face_start)?,
            face_points: copied(kernels, &self.face_points)?,
            owner: copied(kernels, &self.owner)?,
            neighbour: copied(kernels, &self.neighbour)?,
            cell_levels: copied(kernels, &self.cell_levels)?,
            point_levels: copied(kernels, &self.point_levels)?,
            paths: copied(kernels, &self.paths)?,
            rims: copied(kernels, &self.rims)?,
            boundary: self.boundary.clone(),
            edge: self.edge,
            polyhedra: self.polyhedra,
            shape: self.shape,
        })
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        B::len(&self.cell_levels)
    }

    /// Number of faces.
    pub fn faces(&self) -> usize {
        B::len(&self.owner)
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        B::len(&self.points)
    }

    /// The place of each cell in its parent.
    pub fn paths(&self) -> &B::Buf<CellPath> {
        &self.paths
    }

    /// Refines a parent: as [`RefinedMesh::build`], but for its check of levels.
    ///
    /// # Errors
    /// As there.
    pub fn build(
        kernels: &B,
        parent: &PolyMesh,
        wanted: impl CellDemand,
    ) -> Result<Self, RefineError> {
        let mut mesh = Self::moved(kernels, RefinedMesh::new(parent)?)?;
        loop {
            // How often more each cell is wanted to be refined, and is known to be.
            let more = |place: CellPlace| {
                let level = place.path.level();
                let left = |times: u8| times.min(MAX_REFINEMENTS).saturating_sub(level);
                match left(wanted.at(place)) {
                    0 => (0, 0),
                    _ => (1, left(wanted.throughout(place)).max(1)),
                }
            };
            let (marks, times): (Vec<u8>, Vec<u8>) = mesh.places(kernels)?.map(more).unzip();
            // Marks beside polyhedra may all be dropped.
            if marks.par_iter().all(|&mark| mark == 0) {
                return Ok(mesh);
            }
            let mut marks = kernels.upload(marks)?;
            let shape = mesh.shape;
            let check = |closed: &B::Buf<u8>| {
                let cells = forecast(shape, &kernels.download(closed)?, &times);
                check_cells(kernels, cells)
            };
            if mesh.refine_if(kernels, &mut marks, check)?.is_none() {
                return Ok(mesh);
            }
        }
    }

    /// Where each cell is.
    fn places(
        &self,
        kernels: &B,
    ) -> Result<impl IndexedParallelIterator<Item = CellPlace>, RefineError> {
        // SAFETY: as in `refine`.
        let centers = unsafe {
            let faces = kernels.faces_geometry(self)?;
            let of = kernels.cell_faces(self)?;
            kernels.centers(self, &of, &faces)?
        };
        let centers = kernels.unload(centers)?.into_par_iter();
        let paths = kernels.download(&self.paths)?.into_par_iter();
        let place = |([x, y, z, radius], path): ([f64; 4], CellPath)| CellPlace {
            center: [x, y, z],
            radius,
            path,
        };
        Ok(centers.zip(paths).map(place))
    }

    /// Refines the cells with a mark that is not 0, and those that have to be refined with them. The marks are closed in
    /// place: marks of polyhedra and of cells too close to them are dropped. `None` where no cell is refined. On an error
    /// the mesh is as it was.
    ///
    /// # Errors
    /// As [`RefinedMesh::build`].
    ///
    /// # Panics
    /// Where there is not one mark for each cell.
    pub fn refine(
        &mut self,
        kernels: &B,
        marks: &mut B::Buf<u8>,
    ) -> Result<Option<HexSplit<B>>, RefineError> {
        self.refine_if(kernels, marks, |_| Ok(()))
    }

    /// As [`refine`](Self::refine), if nothing speaks against the closed marks.
    fn refine_if(
        &mut self,
        kernels: &B,
        marks: &mut B::Buf<u8>,
        check: impl FnOnce(&B::Buf<u8>) -> Result<(), RefineError>,
    ) -> Result<Option<HexSplit<B>>, RefineError> {
        assert_eq!(
            B::len(marks),
            self.cells(),
            "there should be a mark for each cell"
        );
        check_memory(kernels, "closing marks", self.close_bytes())?;
        // SAFETY: the mesh was checked when it was uploaded, or made of such a one; the other arrays are those of the
        // stages before.
        unsafe {
            let of = kernels.cell_faces(self)?;
            let (corners, polyhedra) = kernels.corners(self, &of)?;
            self.polyhedra = polyhedra;
            let closed = kernels.close(self, &of, &corners, marks)?;
            if closed.count == 0 {
                return Ok(None);
            }
            if closed.deepest >= u32::from(MAX_REFINEMENTS) {
                let level = closed.deepest as u8 + 1;
                return Err(RefineError::TooDeep { level });
            }
            check(marks)?;
            let task = RefineTask {
                mesh: &*self,
                of: &of,
                corners: &corners,
                marks,
            };
            check_memory(
                kernels,
                "numbers of new points",
                self.number_bytes(closed.count),
            )?;
            let numbers = kernels.number(&task, closed)?;
            let counts = &numbers.counts;
            if counts.new_points() as u64 >= u64::from(u32::MAX) {
                let (what, count) = ("points", counts.new_points() as u64);
                return Err(RefineError::TooLarge { what, count });
            }
            check_memory(kernels, "the refined mesh", self.new_bytes(counts))?;
            let places = kernels.places(&task, &numbers)?;
            let outlines = kernels.outlines(&task, &numbers, &places)?;
            let order = kernels.order(counts, &outlines)?;
            let faces = kernels.emit(&task, &numbers, &places, outlines, order)?;
            drop(places);
            let points = kernels.points(&task, &numbers)?;
            let cells = kernels.cells(&task, &numbers)?;
            *self = Self {
                points: points.points,
                face_start: faces.face_start,
                face_points: faces.face_points,
                owner: faces.owner,
                neighbour: faces.neighbour,
                cell_levels: cells.levels,
                point_levels: points.levels,
                paths: cells.paths,
                rims: faces.rims,
                boundary: Boundary::of(self.new_patches(counts)),
                edge: self.edge,
                polyhedra,
                shape: self.shape,
            };
            Ok(Some(HexSplit {
                refined: closed.count,
                first: numbers.first,
                from: faces.from,
            }))
        }
    }

    /// The mesh of the same parent in which each cell is refined as often as the cells here want it that hold it or lie
    /// in it: what no cell wants is coarse again. `wanted` has a number of refinements for each cell. (Yu & Zhao 2025,
    /// Alg. 1, for any number of levels.)
    ///
    /// # Errors
    /// As [`RefinedMesh::build`].
    ///
    /// # Panics
    /// Where there is not one number for each cell.
    pub fn adapt(
        &self,
        kernels: &B,
        parent: &Self,
        wanted: &B::Buf<u8>,
    ) -> Result<Self, RefineError> {
        assert_eq!(
            B::len(wanted),
            self.cells(),
            "there should be a number for each cell"
        );
        let mut new = parent.copy(kernels)?;
        new.follow(kernels, &self.paths, wanted)?;
        Ok(new)
    }

    /// Refines each cell as often in all as the cells of another mesh of the same parent want it that hold it or lie in
    /// it; `wanted` has a number for each of their paths.
    fn follow(
        &mut self,
        kernels: &B,
        paths: &B::Buf<CellPath>,
        wanted: &B::Buf<u8>,
    ) -> Result<(), RefineError> {
        loop {
            let ranges = kernels.ranges(paths, &self.paths)?;
            // SAFETY: ranges of paths, of which there are as many as numbers.
            let (mut marks, count) = unsafe { kernels.project(&ranges, wanted, &self.paths)? };
            if count == 0 || self.refine(kernels, &mut marks)?.is_none() {
                return Ok(());
            }
        }
    }

    /// Refines each cell so many times more, and those that have to be refined with them.
    ///
    /// # Errors
    /// As [`RefinedMesh::build`].
    ///
    /// # Panics
    /// Where there is not one number for each cell.
    pub fn refine_times(&mut self, kernels: &B, times: &[u8]) -> Result<(), RefineError> {
        assert_eq!(
            times.len(),
            self.cells(),
            "there should be a number for each cell"
        );
        let paths = kernels.download(&self.paths)?;
        let each = paths.par_iter().zip(times);
        let wanted = each.map(|(path, &times)| path.level().saturating_add(times));
        let wanted = kernels.upload(wanted.collect())?;
        let paths = kernels.upload(paths)?;
        self.follow(kernels, &paths, &wanted)
    }

    /// The volume of each cell, as [`PolyMesh::cell_geometry`] has it.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    pub fn volumes(&self, kernels: &B) -> Result<B::Buf<f64>, RefineError> {
        // SAFETY: as in `refine`.
        unsafe {
            let faces = kernels.faces_geometry(self)?;
            let of = kernels.cell_faces(self)?;
            kernels.volumes(self, &of, &faces)
        }
    }

    /// Bytes that a step takes before it numbers what is new: faces and corners of each cell, levels.
    fn close_bytes(&self) -> u64 {
        let (cells, faces, points) = (self.cells(), self.faces(), self.points());
        (48 * cells + 10 * faces + 4 * points) as u64
    }

    /// Bytes of numbers, and of edges twice while they are sorted.
    fn number_bytes(&self, marked: usize) -> u64 {
        let (cells, faces, points) = (self.cells(), self.faces(), self.points());
        (4 * (cells + faces + points) + (4 + 3 * 8 * self.shape.edges()) * marked) as u64
    }

    /// Bytes of the new mesh and of what is needed to make it.
    fn new_bytes(&self, counts: &SplitCounts) -> u64 {
        // A midpoint of an edge is a corner of some four faces more, in bulk.
        let old = B::len(&self.face_points);
        let corners = old + 12 * counts.split + 48 * counts.marked + 4 * counts.edges;
        let bytes = 25 * counts.new_points()
            + 13 * counts.cells
            + 28 * counts.new_faces()
            + 4 * corners
            + 4 * (counts.shape.places() + 1) * counts.marked;
        bytes as u64
    }

    fn new_patches(&self, counts: &SplitCounts) -> Vec<PolyPatch> {
        let mut patches = self.boundary.patches.clone();
        let starts = counts.added_patches.iter().copied();
        let ends = starts.clone().skip(1).chain([counts.added]);
        for (patch, (start, end)) in patches.iter_mut().zip(starts.zip(ends)) {
            patch.start += start + counts.inner();
            patch.faces += end - start;
        }
        patches
    }
}

#[expect(
    unsafe_code,
    reason = "a stage trusts the lengths that are checked here"
)]
impl<B: RefineKernels> CellRanges<B> {
    /// The cells of `from` for each cell of `to`. Both have the same parent. Cost: a search a cell.
    ///
    /// # Errors
    /// As [`HexMesh::upload`].
    pub fn new(kernels: &B, from: &HexMesh<B>, to: &HexMesh<B>) -> Result<Self, RefineError> {
        kernels.ranges(&from.paths, &to.paths)
    }

    /// Values of cells on the other mesh: that of the cell that is the same or holds the new one, or the mean of finer
    /// cells by volume, which keeps the integral over them.
    ///
    /// # Errors
    /// As [`HexMesh::upload`].
    ///
    /// # Panics
    /// Where there is not one value and one volume for each cell.
    pub fn map(
        &self,
        kernels: &B,
        volumes: &B::Buf<f64>,
        values: &B::Buf<f64>,
    ) -> Result<B::Buf<f64>, RefineError> {
        assert_eq!(B::len(values), self.sources, "a value for each cell");
        assert_eq!(B::len(volumes), self.sources, "a volume for each cell");
        // SAFETY: the ranges lie among the sources.
        unsafe { kernels.map(self, volumes, values) }
    }
}

fn copied<B: Backend, T: Item>(kernels: &B, buf: &B::Buf<T>) -> Result<B::Buf<T>, RefineError> {
    let mut copy = kernels.alloc("a copy of a mesh", B::len(buf), T::zeroed())?;
    kernels.copy(buf, &mut copy)?;
    Ok(copy)
}
