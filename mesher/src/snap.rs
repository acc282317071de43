//! Snapping: every vertex is rounded once to the nearest point of an integer lattice; all
//! geometry after that is exact integer arithmetic.
//!
//! In: a [`Surface`] in lengths. Out: a [`Snapped`] in lattice units relative to the lower
//! corner of the box. A facet whose corners meet in one point is dropped: its boundary is
//! nothing, so a closed surface stays closed (snapping is a simplicial map). Vertices come
//! out welded and in lexicographic order, whatever the input's order; facets keep theirs.
//!
//! Displacement is at most half a unit on each axis. Cost: one sort of the vertices.

use crate::Surface;
use cutlink_device::{ErrorKind, Failure};
use rayon::prelude::*;

/// Lattice coordinates stay within ±2^28, so that every product of the exact predicates
/// fits 64 bits in 2D and 128 bits in 3D.
pub const COORDINATE_LIMIT: i32 = 1 << 28;

/// An integer lattice: point `i` lies at `origin + unit * i`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SnapLattice<const D: usize> {
    /// Position of lattice point 0: the lower corner of the box.
    pub origin: [f64; D],
    /// Spacing, in lengths.
    pub unit: f64,
}

/// An indexed facet set on the lattice.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapped<const D: usize> {
    /// The lattice.
    pub lattice: SnapLattice<D>,
    /// Distinct lattice points, lexicographic; but for [`snap_apart`].
    pub vertices: Vec<[i32; D]>,
    /// Corner indices; no facet has two equal ones.
    pub facets: Vec<[u32; D]>,
    /// Patch of each facet; empty where there is only patch 0.
    pub facet_patch: Vec<u16>,
    /// Patch names.
    pub patches: Vec<String>,
    /// Facets at the end that only close the surface for the sake of winding numbers (see
    /// [`crate::robust`]); they are not walls.
    pub caps: usize,
    /// Effects of snapping.
    pub report: SnapReport,
}

/// Effects of snapping on the surface.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SnapReport {
    /// Spacing of the lattice, in lengths.
    pub unit: f64,
    /// Largest distance a vertex moved, in lengths.
    pub max_displacement: f64,
    /// Vertices that fell on another one.
    pub merged_vertices: usize,
    /// Facets dropped because two of their corners met.
    pub collapsed_facets: usize,
}

/// Why a surface cannot be snapped.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapError {
    /// A vertex so far from the box that exact arithmetic would overflow.
    #[error(
        "vertex {vertex} at {position:?} lies {cells:.3e} finest cells from the box's lower corner, \
         more than the {limit} that exact arithmetic holds: use fewer levels or a larger box"
    )]
    TooFar {
        /// Index of the vertex.
        vertex: usize,
        /// Its position.
        position: Vec<f64>,
        /// Its largest distance along an axis, in units of 256 lattice spacings.
        cells: f64,
        /// The limit in the same unit.
        limit: i32,
    },
    /// A facet at a periodic face that reaches too far.
    #[error(
        "a facet at a periodic face extends so far beyond the box that its periodic image exceeds the range of \
        exact arithmetic: shorten the surface, or use fewer levels"
    )]
    Image,
}

impl Failure for SnapError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

/// Snaps a surface to a lattice.
pub fn snap<const D: usize>(
    surface: &Surface<D>,
    lattice: SnapLattice<D>,
) -> Result<Snapped<D>, SnapError> {
    let points = snap_points(surface, lattice)?;
    let max_displacement = surface
        .vertices
        .par_iter()
        .zip(&points)
        .map(|(p, i)| {
            let moved = |a: usize| lattice.origin[a] + lattice.unit * f64::from(i[a]) - p[a];
            (0..D).map(|a| moved(a).powi(2)).sum::<f64>().sqrt()
        })
        .reduce(|| 0.0, f64::max);

    let (vertices, id_of) = weld(&points);
    let corners = |facet: &[u32; D], _: &[[i32; D]]| {
        let corners = facet.map(|v| id_of[v as usize]);
        distinct(&corners).then_some(corners)
    };
    let mut snapped = with_facets(surface, lattice, vertices, corners);
    snapped.report.max_displacement = max_displacement;
    Ok(snapped)
}

/// As [`snap`], for what depends on the places of corners alone, such as an embedding: vertices are those of the surface, in its
/// order, and stay apart where they fall on one another. Facets are those of [`snap`]. Displacements are not measured. Cost: a pass
/// over vertices and facets, without the sort of the vertices, which is most of [`snap`].
///
/// # Errors
/// As [`snap`].
pub fn snap_apart<const D: usize>(
    surface: &Surface<D>,
    lattice: SnapLattice<D>,
) -> Result<Snapped<D>, SnapError> {
    let points = snap_points(surface, lattice)?;
    let corners = |facet: &[u32; D], points: &[[i32; D]]| {
        distinct(&facet.map(|v| points[v as usize])).then_some(*facet)
    };
    Ok(with_facets(surface, lattice, points, corners))
}

/// The facets of a surface with these vertices: the corners of each, or nothing where two of them met.
fn with_facets<const D: usize>(
    surface: &Surface<D>,
    lattice: SnapLattice<D>,
    vertices: Vec<[i32; D]>,
    corners: impl Fn(&[u32; D], &[[i32; D]]) -> Option<[u32; D]>,
) -> Snapped<D> {
    let mut facets = Vec::with_capacity(surface.facets.len());
    let mut facet_patch = Vec::with_capacity(surface.facet_patch.len());
    for (f, facet) in surface.facets.iter().enumerate() {
        if let Some(corners) = corners(facet, &vertices) {
            facets.push(corners);
            facet_patch.extend(surface.facet_patch.get(f));
        }
    }
    Snapped {
        lattice,
        report: SnapReport {
            unit: lattice.unit,
            max_displacement: 0.0,
            merged_vertices: surface.vertices.len() - vertices.len(),
            collapsed_facets: surface.facets.len() - facets.len(),
        },
        vertices,
        facets,
        facet_patch,
        patches: surface.patches.clone(),
        caps: 0,
    }
}

/// The lattice point of every vertex.
fn snap_points<const D: usize>(
    surface: &Surface<D>,
    lattice: SnapLattice<D>,
) -> Result<Vec<[i32; D]>, SnapError> {
    surface
        .vertices
        .par_iter()
        .enumerate()
        .map(|(vertex, p)| snap_point(lattice, vertex, *p))
        .collect()
}

/// Whether no two corners are the same.
fn distinct<T: PartialEq>(corners: &[T]) -> bool {
    (1..corners.len()).all(|i| !corners[..i].contains(&corners[i]))
}

fn snap_point<const D: usize>(
    lattice: SnapLattice<D>,
    vertex: usize,
    p: [f64; D],
) -> Result<[i32; D], SnapError> {
    let mut point = [0; D];
    for a in 0..D {
        let scaled = ((p[a] - lattice.origin[a]) / lattice.unit).round();
        if scaled.is_nan() || scaled.abs() > f64::from(COORDINATE_LIMIT) {
            return Err(SnapError::TooFar {
                vertex,
                position: p.to_vec(),
                cells: scaled.abs() / 256.0,
                limit: COORDINATE_LIMIT / 256,
            });
        }
        point[a] = scaled as i32;
    }
    Ok(point)
}

/// Numbers of the facets of a surface that [`snap`] keeps, in its order.
pub fn kept<const D: usize>(
    surface: &Surface<D>,
    lattice: SnapLattice<D>,
) -> Result<Vec<u32>, SnapError> {
    let points = snap_points(surface, lattice)?;
    let stays = |f: &u32| distinct(&surface.facets[*f as usize].map(|v| points[v as usize]));
    Ok((0..surface.facets.len() as u32).filter(stays).collect())
}

/// Distinct points in lexicographic order, and for each point its index among them.
fn weld<const D: usize>(points: &[[i32; D]]) -> (Vec<[i32; D]>, Vec<u32>) {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.par_sort_unstable_by_key(|&v| points[v as usize]);
    let mut vertices: Vec<[i32; D]> = Vec::new();
    let mut id_of = vec![0; points.len()];
    for &v in &order {
        let point = points[v as usize];
        if vertices.last() != Some(&point) {
            vertices.push(point);
        }
        id_of[v as usize] = vertices.len() as u32 - 1;
    }
    (vertices, id_of)
}

impl<const D: usize> Snapped<D> {
    /// Lower and upper corner of all facets in lattice units; `None` without facets.
    pub fn bounds(&self) -> Option<[[i32; D]; 2]> {
        let mut corners = self.facets.iter().flatten();
        let first = self.vertices[*corners.next()? as usize];
        let mut bounds = [first, first];
        for &v in corners {
            let p = self.vertices[v as usize];
            for a in 0..D {
                bounds[0][a] = bounds[0][a].min(p[a]);
                bounds[1][a] = bounds[1][a].max(p[a]);
            }
        }
        Some(bounds)
    }

    /// The same surface in lengths, each vertex at its lattice point.
    pub fn to_surface(&self) -> Surface<D> {
        let SnapLattice { origin, unit } = self.lattice;
        let at = |p: &[i32; D]| std::array::from_fn(|a| origin[a] + unit * f64::from(p[a]));
        Surface {
            vertices: self.vertices.iter().map(at).collect(),
            facets: self.facets.clone(),
            facet_patch: self.facet_patch.clone(),
            patches: self.patches.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATTICE: SnapLattice<3> = SnapLattice {
        origin: [1.0, 0.0, -1.0],
        unit: 0.5,
    };

    #[test]
    fn facets_of_vertices_that_stay_apart_are_the_same() {
        // Two pairs of vertices fall on one another; a facet has such a pair.
        let points = [[0.0, 0.0], [0.2, 0.1], [3.0, 0.0], [3.1, 0.2], [0.0, 4.0]];
        let surface = Surface {
            vertices: points.to_vec(),
            facets: vec![[0, 2], [1, 3], [0, 1], [3, 4]],
            facet_patch: vec![0, 1, 0, 1],
            patches: vec!["a".into(), "b".into()],
        };
        let lattice = SnapLattice {
            origin: [0.0; 2],
            unit: 1.0,
        };
        let welded = snap(&surface, lattice).expect("near");
        let apart = snap_apart(&surface, lattice).expect("near");
        let at = |of: &Snapped<2>| -> Vec<[[i32; 2]; 2]> {
            let facets = of.facets.iter();
            facets.map(|f| f.map(|v| of.vertices[v as usize])).collect()
        };
        assert_eq!(at(&welded), at(&apart));
        assert_eq!(welded.facet_patch, apart.facet_patch);
        assert_eq!([welded.vertices.len(), apart.vertices.len()], [3, 5]);
        let collapsed = [&welded, &apart].map(|of| of.report.collapsed_facets);
        assert_eq!(collapsed, [1, 1]);
    }

    #[test]
    fn vertices_go_to_the_nearest_point_and_meet_there() {
        let surface = Surface::single_patch(
            vec![
                [1.0, 0.0, -1.0],
                [2.1, 0.1, -1.0],
                [1.9, -0.1, -1.2],
                [1.0, 1.0, 0.0],
            ],
            vec![[0, 1, 3], [1, 2, 3]],
            "p",
        );
        let snapped = snap(&surface, LATTICE).expect("near");
        assert_eq!(
            snapped.vertices,
            [[0, 0, 0], [0, 2, 2], [2, 0, 0]],
            "lexicographic, welded"
        );
        assert_eq!(snapped.facets, [[0, 2, 1]], "the sliver is gone");
        assert_eq!(snapped.report.collapsed_facets, 1, "counted");
        assert_eq!(kept(&surface, LATTICE), Ok(vec![0]), "the other one");
        assert_eq!(snapped.report.merged_vertices, 1, "counted");
        let moved = (0.01f64 + 0.01 + 0.04).sqrt();
        assert!(
            (snapped.report.max_displacement - moved).abs() < 1e-12,
            "{:?}",
            snapped.report
        );
        assert_eq!(snapped.bounds(), Some([[0, 0, 0], [2, 2, 2]]), "bounds");
    }

    #[test]
    fn far_and_undefined_vertices_are_refused() {
        for bad in [1e300, f64::NAN, f64::INFINITY, 2.0f64.powi(27) + 10.0] {
            let surface = Surface::single_patch(
                vec![[0.0; 3], [1.0; 3], [bad, 0.0, 0.0]],
                vec![[0, 1, 2]],
                "p",
            );
            let error = snap(&surface, LATTICE).expect_err("too far");
            assert!(
                matches!(error, SnapError::TooFar { vertex: 2, .. }),
                "{error}"
            );
        }
    }
}
