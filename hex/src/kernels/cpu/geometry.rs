//! Areas and volumes, by the formulas of [`crate::PolyMesh::face_geometry`].

use super::group::collected;
use super::view::View;
use crate::FaceGeometry;
use crate::geometry::{CellGeometry, cell_of, face_of, norm, sub};
use crate::refine::{HexMesh, RefineError};
use cutlink_device::Host;
use rayon::prelude::*;

/// Centre and area vector of each face.
pub(super) fn faces(mesh: &HexMesh<Host>) -> Result<Vec<[f64; 6]>, RefineError> {
    let of = |face: usize| {
        let [start, end] = [face, face + 1].map(|f| mesh.face_start[f] as usize);
        let FaceGeometry { center, area } = face_of(&mesh.points, &mesh.face_points[start..end]);
        [center[0], center[1], center[2], area[0], area[1], area[2]]
    };
    let each = (0..mesh.owner.len()).into_par_iter();
    collected("centres and areas of faces", each.map(of))
}

pub(super) fn volumes(view: View<'_>, faces: &[[f64; 6]]) -> Result<Vec<f64>, RefineError> {
    let cells = (0..view.cells()).into_par_iter();
    collected(
        "volumes",
        cells.map(|cell| of_cell(view, faces, cell).volume),
    )
}

/// Centre of each cell, and how far its points are from it at most.
pub(super) fn centers(view: View<'_>, faces: &[[f64; 6]]) -> Result<Vec<[f64; 4]>, RefineError> {
    let of = |cell: usize| {
        let [x, y, z] = of_cell(view, faces, cell).center;
        let ids = view.faces_of(cell).iter().flat_map(|&face| view.face(face));
        let away = ids.map(|&p| norm(sub(view.points[p as usize], [x, y, z])));
        [x, y, z, away.fold(0.0, f64::max)]
    };
    collected(
        "centres of cells",
        (0..view.cells()).into_par_iter().map(of),
    )
}

fn of_cell(view: View<'_>, faces: &[[f64; 6]], cell: usize) -> CellGeometry {
    let face = |f: u32| {
        let [x, y, z, u, v, w] = faces[f as usize];
        FaceGeometry {
            center: [x, y, z],
            area: [u, v, w],
        }
    };
    let owns = |f: u32| view.owner[f as usize] as usize == cell;
    cell_of(face, view.faces_of(cell), owns)
}
