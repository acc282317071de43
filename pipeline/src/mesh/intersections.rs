//! `--check-intersections`: self-intersections of a surface, as text, as JSON and as an STL of the facets.

use crate::mesh::report::{counted, point};
use cutlink_common::{Error, output};
use cutlink_mesher::Surface;
use cutlink_mesher::exact::Facet;
use cutlink_mesher::intersect::{self, Meet};
use cutlink_mesher::placement::Affine;
use cutlink_mesher::snap::{SnapError, SnapLattice, Snapped, kept, snap};
use cutlink_mesher::write_stl::write_stl;
use serde::Serialize;
use std::path::Path;

/// Maximum number of pairs listed individually.
const SAMPLES: usize = 10;
/// Maximum number of lattice spacings along the longest extent of a surface without a mesh.
const FINE: f64 = (1u32 << 27) as f64;

/// The result; docs/json-schema.md describes the keys.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct IntersectionReport {
    pub pairs: u64,
    pub facets: u64,
    pub complete: bool,
    pub unit: f64,
    pub samples: Vec<IntersectionSample>,
}

/// A pair of intersecting facets.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct IntersectionSample {
    pub facets: [u32; 2],
    pub at: Vec<f64>,
}

/// The result, and the intersecting facets in input coordinates.
#[derive(Debug, Clone)]
pub struct Found<const D: usize> {
    /// Counts and samples.
    pub report: IntersectionReport,
    /// Corners of the facets that intersect others.
    pub facets: Vec<[[f64; D]; D]>,
}

/// Finds the self-intersections of `snapped`, which was made from `placed`, the image of `surface` under `affine`
/// (orthogonal columns). The result is in the frame of `surface`.
///
/// # Errors
/// None if snapping succeeded.
pub fn find<const D: usize>(
    surface: &Surface<D>,
    affine: &Affine<D>,
    placed: &Surface<D>,
    snapped: &Snapped<D>,
) -> Result<Found<D>, SnapError>
where
    Facet<D>: Meet<D>,
{
    let found = intersect::find(snapped);
    let SnapLattice { origin, unit } = snapped.lattice;
    // Without collapsed facets, snapping keeps all facets.
    let number: Option<Vec<u32>> = match snapped.report.collapsed_facets {
        0 => None,
        _ => Some(kept(placed, snapped.lattice)?),
    };
    let in_file = |f: u32| number.as_ref().map_or(f, |n| n[f as usize]);
    let samples = found.pairs.iter().take(SAMPLES).map(|&pair| {
        let [a, b] =
            pair.map(|f| Facet(snapped.facets[f as usize].map(|v| snapped.vertices[v as usize])));
        let at = a.meet(&b).unwrap_or([0.0; D]);
        let at = std::array::from_fn(|k| origin[k] + unit * at[k]);
        IntersectionSample {
            facets: pair.map(in_file),
            at: back(affine, at).to_vec(),
        }
    });
    let report = IntersectionReport {
        pairs: found.pair_count,
        facets: found.facets.len() as u64,
        complete: found.complete,
        unit,
        samples: samples.collect(),
    };
    let facets = found.facets.iter();
    Ok(Found {
        report,
        facets: facets
            .map(|&f| surface.corners(in_file(f) as usize))
            .collect(),
    })
}

/// Like [`find`], for a surface without a mesh: on a lattice of at most 2^27 spacings along its longest extent. The
/// spacing is a power of two, so short binary fractions stay exact.
///
/// # Errors
/// Coordinates that no lattice can represent.
pub fn find_as_is<const D: usize>(surface: &Surface<D>) -> Result<Found<D>, SnapError>
where
    Facet<D>: Meet<D>,
{
    let [lower, upper] = surface.bounds().unwrap_or([[0.0; D]; 2]);
    let extent = (0..D).map(|k| upper[k] - lower[k]).fold(0.0, f64::max);
    let unit = match (extent / FINE).log2().ceil().exp2() {
        unit if unit.is_normal() => unit,
        _ => 1.0,
    };
    let lattice = SnapLattice {
        origin: lower.map(|x| (x / unit).floor() * unit),
        unit,
    };
    let snapped = snap(surface, lattice)?;
    find(surface, &Affine::identity(), surface, &snapped)
}

/// The point whose image is `x`.
fn back<const D: usize>(affine: &Affine<D>, x: [f64; D]) -> [f64; D] {
    std::array::from_fn(|j| {
        let column: [f64; D] = std::array::from_fn(|i| affine.linear[i][j]);
        let along = (0..D).map(|i| column[i] * (x[i] - affine.offset[i]));
        along.sum::<f64>() / column.iter().map(|c| c * c).sum::<f64>()
    })
}

impl IntersectionReport {
    /// The lines for the summary.
    pub fn text(&self) -> String {
        if self.pairs == 0 {
            return "no two facets intersect".to_owned();
        }
        let mut text = format!(
            "{}{} of {} intersect; the first (coordinates as in the file):",
            if self.complete { "" } else { "at least " },
            counted(self.pairs, "pair"),
            counted(self.facets, "facet")
        );
        for IntersectionSample { facets, at } in &self.samples {
            let at = point(at);
            text += &format!("\n  facets {} and {} at {at}", facets[0], facets[1]);
        }
        text
    }

    /// A note, if facets intersect.
    pub fn note(&self) -> Option<String> {
        (self.pairs > 0).then(|| {
            format!(
                "{}{} intersect others, in {} (not an error)",
                if self.complete { "" } else { "at least " },
                counted(self.facets, "facet"),
                counted(self.pairs, "pair"),
            )
        })
    }
}

/// Writes the facets as STL, if there are any and they are triangles; returns the file size in bytes.
///
/// # Errors
/// I/O errors, and coordinates too large for STL.
pub(super) fn write<const D: usize>(
    facets: &[[[f64; D]; D]],
    path: &Path,
    force: bool,
) -> Result<Option<u64>, Error> {
    if D != 3 || facets.is_empty() {
        return Ok(None);
    }
    let vertices: Vec<[f64; 3]> = facets
        .as_flattened()
        .iter()
        .map(|p| std::array::from_fn(|k| p[k]))
        .collect();
    let facets = (0..facets.len() as u32)
        .map(|f| std::array::from_fn(|k| 3 * f + k as u32))
        .collect();
    let surface = Surface::single_patch(vertices, facets, "intersections");
    let written = output::write_by_path(path, force, |to| {
        write_stl(to, &surface).map_err(|e| output::failed(path, &e))
    })?;
    Ok(Some(written.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worst::worst;
    use cutlink_mesher::placement::{Placement, Scale};

    #[test]
    fn places_come_back_to_the_frame_of_the_file() {
        let placement = Placement {
            scale: Scale::PerAxis(vec![2.0, 3.0, -0.5]),
            rotate: vec!["x:30".parse().expect("x"), "z:70".parse().expect("z")],
            translate: vec![1.0, -2.0, 3.0],
            ..Placement::default()
        };
        let corners = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let surface = Surface::single_patch(corners, vec![[0, 1, 2]], "p");
        let affine = placement.resolve_surface(&surface).expect("a placement");
        for x in [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [-7.0, 0.5, 11.0]] {
            let again = back(&affine, affine.apply(x));
            let gap = worst((0..3).map(|k| (again[k] - x[k]).abs()));
            assert!(gap < 1e-12, "{x:?} came back as {again:?}");
        }
    }

    #[test]
    fn a_surface_without_a_mesh_keeps_its_facet_numbers() {
        let surface = |scale: f64| {
            let corners = [
                // A needle far below the lattice spacing: it collapses.
                [[0.5, 0.5, 0.0], [0.5, 0.5, 1e-12], [0.5, 0.5, 2e-12]],
                [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]],
                [[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [2.0, 2.0, 1.0]],
            ];
            let vertices = corners.as_flattened().iter().map(|p| p.map(|x| scale * x));
            let facets = vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]];
            Surface::single_patch(vertices.collect(), facets, "p")
        };
        for scale in [1.0, 1e-9, 1e9] {
            let found = find_as_is(&surface(scale)).expect("in range");
            let report = &found.report;
            assert_eq!((report.pairs, report.facets), (1, 2), "{report:?}");
            assert_eq!(report.samples[0].facets, [1, 2], "numbers of the file");
            let at = &report.samples[0].at;
            assert!((at[2] / scale).abs() < 1e-7, "in the floor: {at:?}");
            assert!(
                at.iter().take(2).all(|x| (1.0..2.0).contains(&(x / scale))),
                "{at:?}"
            );
            assert_eq!(found.facets[0], surface(scale).corners(1), "as in the file");
        }
        let nothing = Surface::<3>::single_patch(Vec::new(), Vec::new(), "p");
        assert_eq!(find_as_is(&nothing).expect("nothing").report.pairs, 0);
    }
}
