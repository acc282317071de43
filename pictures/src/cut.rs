//! A surface cut by a plane.

use cutlink_mesher::snap::Snapped;
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;
use std::collections::HashMap;

/// A directed segment in the two axes of a plane, in the length unit of the mesh; solid is on its left, or on its right,
/// along a whole outline.
pub type Segment = [[f64; 2]; 2];

/// The section of a surface with a plane; of a 2D surface, all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cut {
    /// Of the walls.
    pub walls: Vec<Segment>,
    /// Of the facets that close an open surface.
    pub caps: Vec<Segment>,
    /// Whether as many segments begin as end at each place.
    pub is_closed: bool,
}

impl Cut {
    /// The section with a plane: its normal axis with the coordinate on it in 3D, and the axes in it. Copies of the body
    /// through periodic faces of the mesh are included. A vertex on the plane counts as above it, so that the section of
    /// a closed surface is closed. Cost: one pass over the facets.
    pub fn new<const D: usize>(
        mesh: &Mesh<D>,
        surface: &Snapped<D>,
        normal: Option<(usize, f64)>,
        axes: [usize; 2],
    ) -> Self {
        let extent = |a: usize| mesh.frame.upper()[a] - mesh.frame.origin[a];
        let mut shifts = vec![[0.0; D]];
        for a in (0..D).filter(|&a| mesh.forest.periodic[a]) {
            let along = |by: f64| {
                let by = by * extent(a);
                move |mut shift: [f64; D]| {
                    shift[a] = by;
                    shift
                }
            };
            let copies = [-1.0, 1.0].map(|by| shifts.iter().copied().map(along(by)).collect());
            copies
                .into_iter()
                .for_each(|copies: Vec<_>| shifts.extend(copies));
        }
        let mut cut = Self::default();
        let walls = surface.facets.len() - surface.caps;
        for shift in shifts {
            let of = |facets: &[[u32; D]]| -> Vec<Segment> {
                let facets = facets.par_iter();
                facets
                    .filter_map(|facet| section(surface, facet, shift, normal, axes))
                    .collect()
            };
            cut.walls.extend(of(&surface.facets[..walls]));
            cut.caps.extend(of(&surface.facets[walls..]));
        }
        let mut counts: HashMap<[u64; 2], i32> = HashMap::new();
        for &[from, to] in cut.all() {
            *counts.entry(from.map(f64::to_bits)).or_default() += 1;
            *counts.entry(to.map(f64::to_bits)).or_default() -= 1;
        }
        cut.is_closed = counts.values().all(|&n| n == 0);
        cut
    }

    /// All segments, of walls and caps.
    pub fn all(&self) -> impl Iterator<Item = &Segment> {
        self.walls.iter().chain(&self.caps)
    }
}

/// The section of a facet, displaced by `shift`.
fn section<const D: usize>(
    surface: &Snapped<D>,
    facet: &[u32; D],
    shift: [f64; D],
    normal: Option<(usize, f64)>,
    axes: [usize; 2],
) -> Option<Segment> {
    let lattice = &surface.lattice;
    let at = |v: u32, a: usize| {
        let x = surface.vertices[v as usize][a];
        lattice.origin[a] + lattice.unit * f64::from(x) + shift[a]
    };
    let Some((axis, height)) = normal else {
        return Some([facet[0], facet[1]].map(|v| axes.map(|a| at(v, a))));
    };
    let off = facet.map(|v| at(v, axis) - height);
    let mut ends = [None; 2];
    for k in 0..D {
        let next = (k + 1) % D;
        if (off[k] >= 0.0) == (off[next] >= 0.0) {
            continue;
        }
        // The same place for both facets of an edge.
        let (i, j) = if facet[k] < facet[next] {
            (k, next)
        } else {
            (next, k)
        };
        let share = off[i] / (off[i] - off[j]);
        let place = axes.map(|a| {
            let (from, to) = (at(facet[i], a), at(facet[j], a));
            from + share * (to - from)
        });
        ends[usize::from(off[k] >= 0.0)] = Some(place);
    }
    Some([ends[0]?, ends[1]?])
}
