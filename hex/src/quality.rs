//! Quality of meshes by OpenFOAM's definitions (`primitiveMeshTools`, `polyMeshTetDecomposition`), so that the figures
//! are those that `checkMesh` prints.

use crate::geometry::{add, cross, dot, norm, scale, sub};
use crate::{CellGeometry, FaceGeometry, PolyMesh};
use rayon::prelude::*;

/// OpenFOAM's `VSMALL` and `ROOTVSMALL`.
const TINY: f64 = 1e-300;
const ROOT_TINY: f64 = 1e-150;
/// Sine of the angle by which a face may lean out of a cell that counts as convex: OpenFOAM's `planarCosAngle`.
const PLANAR: f64 = 1e-6;
/// Faces or cells that a thread sums up at a time: sums do not depend on the number of threads.
const CHUNK: usize = 1 << 14;

/// What a face or cell may be like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QualityLimits {
    /// Largest angle between the area vector of a face and the line between the centres beside it, in degrees.
    pub non_orthogonality: f64,
    /// Largest skewness: distance of a face's centre from that line, relative to the size of the face. Of faces at the
    /// boundary too.
    pub skewness: f64,
    /// Smallest share of the nearer centre in the distance of both from a face.
    pub face_weight: f64,
    /// Smallest ratio of the volumes beside a face.
    pub volume_ratio: f64,
    /// Smallest determinant of a cell: 1 for a cube.
    pub determinant: f64,
    /// Smallest cosine between the triangles of a face, around its centre, and the line between the centres beside it.
    pub twist: f64,
}

impl Default for QualityLimits {
    /// Inside the limits of `checkMesh`, and near those that snappyHexMesh has by default.
    fn default() -> Self {
        Self {
            non_orthogonality: 65.0,
            skewness: 3.8,
            face_weight: 0.05,
            volume_ratio: 0.01,
            determinant: 0.001,
            twist: 0.02,
        }
    }
}

/// The quality of a mesh; angles in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeshQuality {
    /// Largest non-orthogonality.
    pub max_non_orthogonality: f64,
    /// The angle whose cosine is the mean over the internal faces.
    pub mean_non_orthogonality: f64,
    /// Largest skewness, of faces at the boundary too.
    pub max_skewness: f64,
    /// Smallest volume of a cell.
    pub min_volume: f64,
    /// Sum of the volumes.
    pub volume: f64,
    /// Smallest weight of an internal face; 0.5 where both centres are as far from it.
    pub min_face_weight: f64,
    /// Smallest ratio of the volumes beside a face.
    pub min_volume_ratio: f64,
    /// Smallest determinant of a cell.
    pub min_determinant: f64,
    /// Cells with a face whose centre is not behind the plane of another one.
    pub concave_cells: u64,
    /// Faces with a tetrahedron of negative volume: of an edge, the centre of the face and that of a cell beside it; or
    /// of every fan from one of its points, and that of the cell.
    pub bad_tetrahedra: u64,
}

/// A mesh with its geometry.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a> {
    pub(crate) mesh: &'a PolyMesh,
    pub(crate) faces: &'a [FaceGeometry],
    pub(crate) cells: &'a [CellGeometry],
    /// As of [`PolyMesh::cell_faces`].
    pub(crate) start: &'a [u32],
    pub(crate) of_cell: &'a [u32],
}

impl Shape<'_> {
    fn owner(&self, face: usize) -> CellGeometry {
        self.cells[self.mesh.owner[face] as usize]
    }

    fn neighbour(&self, face: usize) -> Option<CellGeometry> {
        let other = self.mesh.neighbour.get(face)?;
        Some(self.cells[*other as usize])
    }

    fn corners(&self, face: usize) -> impl Iterator<Item = [f64; 3]> + Clone + '_ {
        let ids = self.mesh.face(face).iter();
        ids.map(|&id| self.mesh.points[id as usize])
    }

    /// Cosine of the angle between the area vector and the line between the centres.
    pub(crate) fn orthogonality(&self, face: usize) -> Option<f64> {
        let along = sub(self.neighbour(face)?.center, self.owner(face).center);
        let area = self.faces[face].area;
        Some(dot(along, area) / (norm(along) * norm(area) + TINY))
    }

    pub(crate) fn skewness(&self, face: usize) -> f64 {
        let FaceGeometry { center, area } = self.faces[face];
        let out = sub(center, self.owner(face).center);
        let (along, share) = match self.neighbour(face) {
            Some(other) => (sub(other.center, self.owner(face).center), 0.2),
            None => {
                let normal = scale(area, 1.0 / norm(area).max(TINY));
                (scale(normal, dot(normal, out)), 0.4)
            }
        };
        let away = sub(
            out,
            scale(along, dot(area, out) / (dot(area, along) + ROOT_TINY)),
        );
        let unit = scale(away, 1.0 / (norm(away) + ROOT_TINY));
        let size = share * norm(along) + ROOT_TINY;
        let size = self
            .corners(face)
            .fold(size, |size, p| size.max(dot(unit, sub(p, center)).abs()));
        norm(away) / size
    }

    pub(crate) fn weight(&self, face: usize) -> Option<f64> {
        let FaceGeometry { center, area } = self.faces[face];
        let from = |cell: CellGeometry| dot(area, sub(center, cell.center)).abs();
        let (a, b) = (from(self.owner(face)), from(self.neighbour(face)?));
        Some(a.min(b) / (a + b + TINY))
    }

    pub(crate) fn volume_ratio(&self, face: usize) -> Option<f64> {
        let (a, b) = (self.owner(face).volume, self.neighbour(face)?.volume);
        Some(a.min(b) / (a.max(b) + TINY))
    }

    /// Smallest cosine between the triangles of the face and the line between the centres.
    fn twist(&self, face: usize) -> f64 {
        let FaceGeometry { center, .. } = self.faces[face];
        let from = self.owner(face).center;
        let along = sub(self.neighbour(face).map_or(center, |c| c.center), from);
        let along = scale(along, 1.0 / norm(along).max(TINY));
        let next = self.corners(face).cycle().skip(1);
        let each = self.corners(face).zip(next).map(|(p, q)| {
            let area = cross(sub(q, p), sub(center, p));
            dot(area, along) / norm(area).max(TINY)
        });
        each.fold(1.0, f64::min)
    }

    /// Whether all tetrahedra of the face's edges, its centre and the centres of the cells have a positive volume, and
    /// those from some point of the face too.
    pub(crate) fn has_tetrahedra(&self, face: usize) -> bool {
        let ids = self.mesh.face(face);
        let at = |i: usize| self.mesh.points[ids[i % ids.len()] as usize];
        let (own, other) = (
            self.owner(face).center,
            self.neighbour(face).map(|c| c.center),
        );
        let is_base = |base: usize| {
            (1..ids.len() - 1).all(|i| {
                let (a, b, c) = (at(base), at(base + i), at(base + i + 1));
                let area = cross(sub(b, a), sub(c, a));
                dot(area, sub(a, own)) > 0.0 && other.is_none_or(|o| dot(area, sub(o, a)) > 0.0)
            })
        };
        let center = self.faces[face].center;
        let around = |i: usize| {
            let area = cross(sub(at(i + 1), at(i)), sub(center, at(i)));
            dot(area, sub(center, own)) > 0.0
                && other.is_none_or(|o| dot(area, sub(o, center)) > 0.0)
        };
        (0..ids.len()).all(around) && (0..ids.len()).any(is_base)
    }

    /// Determinant of the sum of squares of the area vectors of internal faces, relative to their mean length; `inner`
    /// says which faces count as internal.
    pub(crate) fn determinant(&self, cell: usize, inner: impl Fn(usize) -> bool) -> f64 {
        let ids = &self.of_cell[self.start[cell] as usize..self.start[cell + 1] as usize];
        let areas = || {
            let of_inner = ids.iter().filter(|&&f| inner(f as usize));
            of_inner.map(|&f| self.faces[f as usize].area)
        };
        let (sum, count) = areas().fold((0.0, 0), |(sum, n), a| (sum + norm(a), n + 1));
        if count == 0 {
            return 0.0;
        }
        let unit = f64::from(count) / f64::max(sum, TINY);
        let mut rows = [[0.0; 3]; 3];
        for area in areas().map(|a| scale(a, unit)) {
            for (row, x) in rows.iter_mut().zip(area) {
                *row = add(*row, scale(area, x));
            }
        }
        dot(rows[0], cross(rows[1], rows[2])).abs() / 8.0
    }

    fn is_concave(&self, cell: usize) -> bool {
        let ids = &self.of_cell[self.start[cell] as usize..self.start[cell + 1] as usize];
        ids.iter().any(|&f| {
            let FaceGeometry { center, area } = self.faces[f as usize];
            let is_own = self.mesh.owner[f as usize] as usize == cell;
            let sign = if is_own { 1.0 } else { -1.0 };
            let normal = scale(area, sign / norm(area).max(TINY));
            ids.iter().filter(|&&other| other != f).any(|&other| {
                let to = sub(self.faces[other as usize].center, center);
                dot(to, normal) / norm(to).max(TINY) > -PLANAR
            })
        })
    }

    /// Whether a face keeps the limits.
    pub(crate) fn is_good_face(&self, face: usize, limits: &QualityLimits, cosine: f64) -> bool {
        self.is_well_placed(face, limits, cosine) && self.is_well_formed(face, limits)
    }

    /// The part of this that depends on the centres beside the face.
    pub(crate) fn is_well_placed(&self, face: usize, limits: &QualityLimits, cosine: f64) -> bool {
        let is_at_least = |value: Option<f64>, least: f64| value.is_none_or(|v| v >= least);
        let points_out = dot(
            sub(self.faces[face].center, self.owner(face).center),
            self.faces[face].area,
        ) > 0.0;
        points_out
            && is_at_least(self.orthogonality(face), cosine)
            && is_at_least(self.weight(face), limits.face_weight)
            && is_at_least(self.volume_ratio(face), limits.volume_ratio)
            && self.skewness(face) <= limits.skewness
    }

    /// The part that depends on how far the face is from a plane.
    pub(crate) fn is_well_formed(&self, face: usize, limits: &QualityLimits) -> bool {
        self.twist(face) >= limits.twist && self.has_tetrahedra(face)
    }
}

impl PolyMesh {
    /// The quality of the mesh. Faces of coupled patches (`cyclic`) count as faces of the boundary, but for
    /// determinants. Memory: 64 bytes a face and 40 bytes a cell. Cost: a few passes.
    pub fn quality(&self) -> MeshQuality {
        let faces = self.face_geometry();
        let cells = self.cell_geometry(&faces);
        let (start, of_cell) = self.cell_faces();
        let shape = Shape {
            mesh: self,
            faces: &faces,
            cells: &cells,
            start: &start,
            of_cell: &of_cell,
        };
        let inner = |face: usize| {
            face < self.internal_faces()
                || self
                    .patches
                    .iter()
                    .any(|p| p.kind == "cyclic" && (p.start..p.start + p.faces).contains(&face))
        };
        let (minimum, sums) = (Lowest::default(), (0.0, 0u64));
        let of_faces = fold(
            self.faces(),
            (minimum, sums),
            |(mut low, (mut sum, mut bad)), face| {
                if let Some(cosine) = shape.orthogonality(face) {
                    low.0[0] = low.0[0].min(cosine);
                    sum += cosine;
                }
                low.0[1] = low.0[1].min(-shape.skewness(face));
                low.0[2] = low.0[2].min(shape.weight(face).unwrap_or(0.5));
                low.0[3] = low.0[3].min(shape.volume_ratio(face).unwrap_or(1.0));
                bad += u64::from(!shape.has_tetrahedra(face));
                (low, (sum, bad))
            },
        );
        let of_cells = fold(
            self.cells,
            (minimum, sums),
            |(mut low, (mut sum, mut concave)), cell| {
                low.0[0] = low.0[0].min(cells[cell].volume);
                low.0[1] = low.0[1].min(shape.determinant(cell, inner));
                sum += cells[cell].volume;
                concave += u64::from(shape.is_concave(cell));
                (low, (sum, concave))
            },
        );
        let mean = of_faces.1.0 / (self.internal_faces().max(1)) as f64;
        let degrees = |cosine: f64| cosine.clamp(-1.0, 1.0).acos().to_degrees();
        MeshQuality {
            max_non_orthogonality: degrees(of_faces.0.0[0].min(1.0)),
            mean_non_orthogonality: degrees(mean),
            max_skewness: -of_faces.0.0[1],
            min_volume: of_cells.0.0[0],
            volume: of_cells.1.0,
            min_face_weight: of_faces.0.0[2].min(0.5),
            min_volume_ratio: of_faces.0.0[3].min(1.0),
            min_determinant: of_cells.0.0[1],
            concave_cells: of_cells.1.1,
            bad_tetrahedra: of_faces.1.1,
        }
    }
}

/// Smallest values.
#[derive(Debug, Clone, Copy)]
struct Lowest([f64; 4]);

impl Default for Lowest {
    fn default() -> Self {
        Self([f64::INFINITY; 4])
    }
}

type Sums = (Lowest, (f64, u64));

/// Folds all elements, chunk by chunk.
fn fold(count: usize, empty: Sums, f: impl Fn(Sums, usize) -> Sums + Sync) -> Sums {
    let parts: Vec<Sums> = (0..count.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| (chunk * CHUNK..count.min((chunk + 1) * CHUNK)).fold(empty, &f))
        .collect();
    parts
        .into_iter()
        .fold(empty, |(low, (sum, count)), (l, (s, c))| {
            let low = std::array::from_fn(|i| f64::min(low.0[i], l.0[i]));
            (Lowest(low), (sum + s, count + c))
        })
}
