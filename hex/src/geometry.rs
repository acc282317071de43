//! Areas and volumes, by OpenFOAM's formulas (`primitiveMeshTools`): a face is a fan of triangles around the mean of
//! its points, a cell a fan of pyramids around the mean of its face centres. Exact for planar faces; both sides of a
//! face see the same area vector, so cells are closed to rounding.

use crate::PolyMesh;
use rayon::prelude::*;

/// Centre and area vector of a face.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FaceGeometry {
    /// Centre.
    pub center: [f64; 3],
    /// Area times unit normal, out of the owner.
    pub area: [f64; 3],
}

/// Centre and volume of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellGeometry {
    /// Centre of mass.
    pub center: [f64; 3],
    /// Volume.
    pub volume: f64,
}

pub(crate) fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(crate) fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] + b[i])
}

pub(crate) fn scale(a: [f64; 3], s: f64) -> [f64; 3] {
    a.map(|x| x * s)
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(crate) fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

/// Centre and area vector of the face between some points.
pub(crate) fn face_of(points: &[[f64; 3]], ids: &[u32]) -> FaceGeometry {
    let at = |i: usize| points[ids[i] as usize];
    if let [a, b, c] = *ids {
        let [a, b, c] = [a, b, c].map(|i| points[i as usize]);
        return FaceGeometry {
            center: scale(add(add(a, b), c), 1.0 / 3.0),
            area: scale(cross(sub(b, a), sub(c, a)), 0.5),
        };
    }
    let sum = (0..ids.len()).fold([0.0; 3], |sum, i| add(sum, at(i)));
    let mid = scale(sum, 1.0 / ids.len() as f64);
    let fan = |i: usize| {
        let (p, q) = (at(i), at((i + 1) % ids.len()));
        (add(add(p, q), mid), cross(sub(q, p), sub(mid, p)))
    };
    let twice = (0..ids.len()).fold([0.0; 3], |sum, i| add(sum, fan(i).1));
    let (mut weight, mut weighted) = (0.0, [0.0; 3]);
    for i in 0..ids.len() {
        let (thrice, area) = fan(i);
        weight += norm(area);
        weighted = add(weighted, scale(thrice, norm(area)));
    }
    FaceGeometry {
        center: if weight > 0.0 {
            scale(weighted, 1.0 / (3.0 * weight))
        } else {
            mid
        },
        area: scale(twice, 0.5),
    }
}

/// Centre and volume of a cell between some faces; `owns` says whether a face points out of the cell.
pub(crate) fn cell_of(
    face: impl Fn(u32) -> FaceGeometry,
    ids: &[u32],
    owns: impl Fn(u32) -> bool,
) -> CellGeometry {
    let sum = ids
        .iter()
        .fold([0.0; 3], |sum, &f| add(sum, face(f).center));
    let mid = scale(sum, 1.0 / ids.len().max(1) as f64);
    let (mut volume, mut weighted) = (0.0, [0.0; 3]);
    for &f in ids {
        let FaceGeometry { center, area } = face(f);
        let sign = if owns(f) { 1.0 } else { -1.0 };
        let thrice = sign * dot(area, sub(center, mid));
        let pyramid = add(scale(center, 0.75), scale(mid, 0.25));
        volume += thrice;
        weighted = add(weighted, scale(pyramid, thrice));
    }
    CellGeometry {
        center: if volume > 0.0 {
            scale(weighted, 1.0 / volume)
        } else {
            mid
        },
        volume: volume / 3.0,
    }
}

impl PolyMesh {
    /// Centre and area vector of each face. Cost: one pass over the corners.
    pub fn face_geometry(&self) -> Vec<FaceGeometry> {
        (0..self.faces())
            .into_par_iter()
            .map(|face| face_of(&self.points, self.face(face)))
            .collect()
    }

    /// Centre and volume of each cell. Cost: two passes over the faces of the cells.
    pub fn cell_geometry(&self, faces: &[FaceGeometry]) -> Vec<CellGeometry> {
        let (start, of_cell) = self.cell_faces();
        (0..self.cells)
            .into_par_iter()
            .map(|cell| {
                let ids = &of_cell[start[cell] as usize..start[cell + 1] as usize];
                let owns = |f: u32| self.owner[f as usize] as usize == cell;
                cell_of(|f| faces[f as usize], ids, owns)
            })
            .collect()
    }
}
