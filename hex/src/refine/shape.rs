//! Which cells are hexahedra, and their corners.
//!
//! A cell of level l is a hexahedron if eight of its points have levels up to l and its edges join them as those of a
//! cube, directly or with one hanging point between. Corners are in voxel order, x fastest; the axes are those of the
//! cell alone, right-handed, and begin at its smallest point.

use crate::PolyMesh;
use rayon::prelude::*;

/// No corner: the cell is not a hexahedron.
pub(super) const NONE: u32 = u32::MAX;

/// The corners of a cell, or [`NONE`] eight times.
pub(super) type Corners = [u32; 8];

/// Points and edges of one cell, found by looking through its faces.
#[derive(Debug)]
pub(super) struct Frame {
    /// Directed edges of its faces, outward loops.
    edges: Vec<[u32; 2]>,
}

impl Frame {
    pub(super) fn of(mesh: &PolyMesh, faces: &[u32], cell: usize) -> Self {
        let mut edges = Vec::with_capacity(64);
        for &face in faces {
            let ids = mesh.face(face as usize);
            let is_owner = mesh.owner[face as usize] as usize == cell;
            for (i, &from) in ids.iter().enumerate() {
                let to = ids[(i + 1) % ids.len()];
                edges.push(if is_owner { [from, to] } else { [to, from] });
            }
        }
        edges.sort_unstable();
        Self { edges }
    }

    fn has(&self, from: u32, to: u32) -> bool {
        self.edges.binary_search(&[from, to]).is_ok()
    }

    fn from(&self, point: u32) -> impl Iterator<Item = u32> + '_ {
        let at = self.edges.partition_point(|e| e[0] < point);
        self.edges[at..]
            .iter()
            .take_while(move |e| e[0] == point)
            .map(|e| e[1])
    }

    /// The point between two corners, if there is one.
    pub(super) fn between(&self, a: u32, b: u32) -> Option<u32> {
        match self.has(a, b) {
            true => None,
            false => self.from(a).find(|&m| self.has(m, b)),
        }
    }
}

/// The corners of all cells. `levels`: of cells and of points.
pub(super) fn corners(
    mesh: &PolyMesh,
    starts: &[u32],
    of_cell: &[u32],
    cells: &[u8],
    points: &[u8],
) -> Vec<Corners> {
    let corners = |cell: usize| {
        let faces = &of_cell[starts[cell] as usize..starts[cell + 1] as usize];
        match (6..=24).contains(&faces.len()) {
            true => corners_of(mesh, faces, cell, cells[cell], points).unwrap_or([NONE; 8]),
            false => [NONE; 8],
        }
    };
    (0..mesh.cells).into_par_iter().map(corners).collect()
}

fn corners_of(
    mesh: &PolyMesh,
    faces: &[u32],
    cell: usize,
    level: u8,
    points: &[u8],
) -> Option<Corners> {
    let frame = Frame::of(mesh, faces, cell);
    let is_corner = |p: u32| points[p as usize] <= level;
    let mut all: Vec<u32> = frame
        .edges
        .iter()
        .map(|e| e[0])
        .filter(|&p| is_corner(p))
        .collect();
    all.dedup();
    if all.len() != 8 {
        return None;
    }
    // Corners beyond each corner, over one hanging point at most.
    let beyond = |p: u32| -> Option<[u32; 3]> {
        let mut found: Vec<u32> = frame
            .from(p)
            .filter_map(|q| match is_corner(q) {
                true => Some(q),
                false => frame.from(q).find(|&r| r != p && is_corner(r)),
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found.try_into().ok()
    };
    let other = |a: u32, b: u32, not: u32| -> Option<u32> {
        let (of_a, of_b) = (beyond(a)?, beyond(b)?);
        of_a.into_iter().find(|&p| p != not && of_b.contains(&p))
    };
    let origin = all[0];
    let three = beyond(origin)?;
    // A side of the cell at the origin: its outward loop comes from x and goes on to y.
    let (x, y) = loop_at(mesh, faces, cell, origin, &is_corner, &frame)?;
    let z = three.into_iter().find(|&p| p != x && p != y)?;
    let (xy, xz, yz) = (
        other(x, y, origin)?,
        other(x, z, origin)?,
        other(y, z, origin)?,
    );
    let last = beyond(xy)?.into_iter().find(|&p| p != x && p != y)?;
    let corners = [origin, x, y, xy, z, xz, yz, last];
    let mut sorted = corners;
    sorted.sort_unstable();
    (sorted[..] == all[..]).then_some(corners)
}

/// The corners before and after a corner in the outward loop of a side.
fn loop_at(
    mesh: &PolyMesh,
    faces: &[u32],
    cell: usize,
    corner: u32,
    is_corner: &impl Fn(u32) -> bool,
    frame: &Frame,
) -> Option<(u32, u32)> {
    let face = *faces
        .iter()
        .find(|&&f| mesh.face(f as usize).contains(&corner))? as usize;
    let ids = mesh.face(face);
    let at = ids.iter().position(|&p| p == corner)?;
    let (after, before) = (
        ids[(at + 1) % ids.len()],
        ids[(at + ids.len() - 1) % ids.len()],
    );
    let (before, after) = match mesh.owner[face] as usize == cell {
        true => (before, after),
        false => (after, before),
    };
    let end = |p: u32| match is_corner(p) {
        true => Some(p),
        false => frame.from(p).find(|&q| q != corner && is_corner(q)),
    };
    Some((end(before)?, end(after)?))
}
