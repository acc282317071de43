//! A mesh and its faces by cell, as the stages see them: `View` of `hex.cuh`.

use crate::kernels::{CellFaces, NONE};
use crate::refine::{Boundary, HexMesh};
use cutlink_device::Host;

#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) points: &'a [[f64; 3]],
    face_start: &'a [u32],
    face_points: &'a [u32],
    pub(super) owner: &'a [u32],
    pub(super) neighbour: &'a [u32],
    pub(super) cell_levels: &'a [u8],
    pub(super) point_levels: &'a [u8],
    start: &'a [u32],
    of_cell: &'a [u32],
    pub(super) boundary: &'a Boundary,
}

impl<'a> View<'a> {
    pub(super) fn new(mesh: &'a HexMesh<Host>, of: &'a CellFaces<Host>) -> Self {
        Self {
            points: &mesh.points,
            face_start: &mesh.face_start,
            face_points: &mesh.face_points,
            owner: &mesh.owner,
            neighbour: &mesh.neighbour,
            cell_levels: &mesh.cell_levels,
            point_levels: &mesh.point_levels,
            start: &of.start,
            of_cell: &of.faces,
            boundary: &mesh.boundary,
        }
    }

    pub(super) fn cells(&self) -> usize {
        self.cell_levels.len()
    }

    /// The points of a face.
    #[inline]
    pub(super) fn face(&self, face: u32) -> &'a [u32] {
        let face = face as usize;
        &self.face_points[self.face_start[face] as usize..self.face_start[face + 1] as usize]
    }

    /// The faces of a cell.
    #[inline]
    pub(super) fn faces_of(&self, cell: usize) -> &'a [u32] {
        &self.of_cell[self.start[cell] as usize..self.start[cell + 1] as usize]
    }

    /// Calls `visit` with each edge of each face of a cell, in outward loops.
    #[inline(always)]
    pub(super) fn edges(&self, cell: usize, mut visit: impl FnMut(u32, u32)) {
        for &face in self.faces_of(cell) {
            let ids = self.face(face);
            let is_owner = self.owner[face as usize] as usize == cell;
            let mut before = ids[ids.len() - 1];
            for &id in ids {
                if is_owner {
                    visit(before, id);
                } else {
                    visit(id, before);
                }
                before = id;
            }
        }
    }

    fn has(&self, cell: usize, from: u32, to: u32) -> bool {
        let mut has = false;
        self.edges(cell, |a, b| has |= a == from && b == to);
        has
    }

    /// The point that hangs between two corners of a cell, or [`NONE`].
    pub(super) fn hanging(&self, cell: usize, a: u32, b: u32) -> u32 {
        let level = self.cell_levels[cell];
        let hangs = |p: u32| self.point_levels[p as usize] > level;
        let (mut found, mut is_whole) = (NONE, false);
        self.edges(cell, |from, to| {
            if from == a {
                is_whole |= to == b;
                if to < found && hangs(to) && self.has(cell, to, b) {
                    found = to;
                }
            }
        });
        if is_whole { NONE } else { found }
    }

    /// The cell on the other side of a face: behind its mate, where there is one.
    #[inline]
    pub(super) fn across(&self, face: usize) -> Option<u32> {
        match self.neighbour.get(face) {
            Some(&neighbour) => Some(neighbour),
            None => self.boundary.mate(face).map(|(mate, _)| self.owner[mate]),
        }
    }

    /// The level of a face: that of the finer cell.
    #[inline]
    pub(super) fn face_level(&self, face: usize) -> u8 {
        let owner = self.cell_levels[self.owner[face] as usize];
        match self.across(face) {
            Some(other) => owner.max(self.cell_levels[other as usize]),
            None => owner,
        }
    }

    /// Joined faces, those of first patches before their mates.
    pub(super) fn mates(&self) -> impl Iterator<Item = [&'a [u32]; 2]> {
        let loops = |face: usize| self.face(face as u32);
        self.boundary
            .mates()
            .map(move |(a, b)| [loops(a), loops(b)])
    }

    /// Joined edges of faces, each as two points.
    pub(super) fn joined_edges(&self) -> impl Iterator<Item = [[u32; 2]; 2]> {
        self.mates().flat_map(|[a, b]| {
            let edge = move |k: usize| {
                let n = a.len().min(b.len());
                let [next, behind] = [(k + 1) % n, n - 1 - k];
                [[a[k], a[next]], [b[(n - k) % n], b[behind]]]
            };
            (0..a.len().min(b.len())).map(edge)
        })
    }

    /// The corners of a face of a cell's side, in its loop; [`NONE`] for those that are not there.
    #[inline]
    pub(super) fn side<const N: usize>(&self, face: usize) -> [u32; N] {
        let level = self.face_level(face);
        let mut side = [NONE; N];
        let ids = self.face(face as u32).iter();
        let corners = ids.filter(|&&p| self.point_levels[p as usize] <= level);
        for (corner, &point) in side.iter_mut().zip(corners) {
            *corner = point;
        }
        side
    }
}
