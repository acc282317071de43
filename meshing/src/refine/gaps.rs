//! Gaps: how far it is from a facet across the fluid to a wall that faces it.
//!
//! A gap of width g asks for cells of at most g / n along the line across. Widths are measured from pieces of facets no wider
//! than those cells, along the normal, by steps of the distance to the nearest facet (Hart 1996).

use super::found::{Cells, Named, Scene, along, clipped, length};
use cutlink_common::Error;
use cutlink_mesher::nearest::NearestTree;
use cutlink_mesher::surface::unit_normal;
use rayon::prelude::*;

/// Steps of a measurement; each doubles the way or arrives.
const MOST_STEPS: usize = 64;
/// Where a measurement starts and ends, in finest cells.
const NEAR: f64 = 1.0 / 64.0;
/// The cosine of the angle between normals from which on a wall does not face another: more than 120 degrees.
const FACING: f64 = -0.5;

struct Gaps<'a, const D: usize> {
    scene: &'a Scene<'a, D>,
    facets: NearestTree<D>,
    normals: Vec<Option<[f64; D]>>,
    /// Cells across a gap.
    across: f64,
    /// The finest level whose cells are refined.
    finest: usize,
}

/// The cells of levels up to `finest` in gaps narrower than so many of them, between the named patches and any.
///
/// # Errors
/// Memory that is not there.
pub(super) fn cells<const D: usize>(
    scene: &Scene<'_, D>,
    named: &Named,
    finest: usize,
    across: f64,
) -> Result<Cells<D>, Error> {
    let surface = scene.surface;
    let corners = |facet: usize| {
        let corners = surface.corners(facet);
        corners.map(wide)
    };
    let count = surface.facets.len();
    super::found::reserve("gaps between facets", (8 * count) as f64, D)?;
    let gaps = Gaps {
        scene,
        facets: NearestTree::new((0..count).map(corners))?,
        normals: (0..count)
            .into_par_iter()
            .map(|facet| unit_normal(surface.corners(facet)))
            .collect(),
        across,
        finest,
    };
    let of_facet = |facet: usize| {
        let mut found = Vec::new();
        if named.any(&[surface.patch_of(facet)])
            && let Some(normal) = gaps.normals[facet]
        {
            for side in scene.sides {
                let toward = normal.map(|x| side * x);
                gaps.probe(surface.corners(facet), toward, &mut found);
            }
        }
        found
    };
    let mut made = vec![Vec::new(); finest + 1];
    let found = (0..count).into_par_iter().flat_map_iter(of_facet);
    for (level, cell) in found.collect::<Vec<_>>() {
        made[level].push(cell);
    }
    Ok(made)
}

/// A point in 3D; that of a 2D point has 0 as its third coordinate.
fn wide<const D: usize>(p: [f64; D]) -> [f64; 3] {
    std::array::from_fn(|a| p.get(a).copied().unwrap_or(0.0))
}

impl<const D: usize> Gaps<'_, D> {
    fn dx(&self, level: usize) -> f64 {
        self.scene.frame.dx_at(level)
    }

    /// Adds the cells across the gap before a piece of a facet.
    fn probe(&self, piece: [[f64; D]; D], toward: [f64; D], found: &mut Vec<(usize, [i32; D])>) {
        let (size, edge) = longest(&piece);
        let split = |found: &mut Vec<_>| {
            for half in halves(&piece, edge) {
                self.probe(half, toward, found);
            }
        };
        if !self.is_near(&piece) {
            return;
        }
        if size > self.dx(0) {
            return split(found);
        }
        let middle = |a: usize| piece.iter().map(|corner| corner[a]).sum::<f64>() / D as f64;
        let middle = std::array::from_fn(middle);
        let Some(width) = self.width(middle, toward) else {
            return;
        };
        let narrow = |level: &usize| width < self.across * self.dx(*level);
        let Some(level) = (0..=self.finest).rev().find(narrow) else {
            return;
        };
        if size > self.dx(level) {
            return split(found);
        }
        let end = std::array::from_fn(|a| middle[a] + width * toward[a]);
        if let Some(ends) = clipped(self.scene, [middle, end], 0.0) {
            let passed = along(self.scene.frame, level, ends);
            found.extend(passed.into_iter().map(|cell| (level, cell)));
        }
    }

    /// Whether a piece is within a gap of the root level of the box.
    fn is_near(&self, piece: &[[f64; D]; D]) -> bool {
        let frame = self.scene.frame;
        let (lower, upper, reach) = (frame.origin, frame.upper(), self.across * frame.dx);
        (0..D).filter(|&a| !self.scene.periodic[a]).all(|a| {
            let low = piece.iter().map(|p| p[a]).fold(f64::INFINITY, f64::min);
            let high = piece.iter().map(|p| p[a]).fold(f64::NEG_INFINITY, f64::max);
            low <= upper[a] + reach && high >= lower[a] - reach
        })
    }

    /// The way from a point on a wall to one that faces it, if it is less than a gap of the root level.
    fn width(&self, from: [f64; D], toward: [f64; D]) -> Option<f64> {
        let near = NEAR * self.dx(self.finest + 1);
        let most = self.across * self.dx(0);
        let mut way = near;
        for _ in 0..MOST_STEPS {
            let at: [f64; D] = std::array::from_fn(|a| from[a] + way * toward[a]);
            let nearest = self.facets.nearest(wide(at), most)?;
            let normal = self.normals[nearest.element as usize];
            let faces = normal.is_some_and(|normal| {
                let cosine: f64 = (0..D).map(|a| normal[a] * toward[a]).sum();
                // Where directions do not tell, a wall that is parallel faces as well.
                cosine < FACING || self.scene.sides.len() > 1 && cosine > -FACING
            });
            if nearest.distance < near && way > 2.0 * near && faces {
                return Some(way);
            }
            way += nearest.distance.max(near);
            if way >= most {
                return None;
            }
        }
        None
    }
}

/// The longest edge of a facet and its number; in 2D its length.
fn longest<const D: usize>(piece: &[[f64; D]; D]) -> (f64, usize) {
    let edges = (0..D).map(|k| (length([piece[k], piece[(k + 1) % D]]), k));
    edges.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
}

/// A facet cut in two at the middle of an edge.
fn halves<const D: usize>(piece: &[[f64; D]; D], edge: usize) -> [[[f64; D]; D]; 2] {
    let next = (edge + 1) % D;
    let middle = std::array::from_fn(|a| 0.5 * (piece[edge][a] + piece[next][a]));
    let with = |corner: usize| {
        let mut half = *piece;
        half[corner] = middle;
        half
    };
    [with(next), with(edge)]
}
