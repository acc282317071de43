//! Surfaces in a box that is periodic along some axes.
//!
//! A link across a periodic face runs from centre to centre and passes the face halfway. Its first half is cut by the
//! surface, its second half by the surface's periodic *images*: facets shifted by the box's extent, an exact number of
//! lattice units. The surface beyond the box is ignored, so a duct or a cylinder may extend past it. Crossings exactly
//! on the face, of the surface and its images together, count only where their signs do not cancel: the ends
//! of a body that fills the box from face to face are not walls.
//!
//! Fluid and solid cells on two sides of a face have a crossing between them if the surface goes on through
//! the face alike on both sides; [`check_periodic`] names the place where it does not.

use crate::{Mesh, VoxelError};
use cutlink_amr::{CellRef, NeighborCell, dims};
use cutlink_mesher::{
    repeat::shifted,
    snap::{SnapError, Snapped},
};

/// Images of facets, one direction after the other.
#[derive(Debug)]
pub(crate) struct ImageFacets<const D: usize> {
    /// All of them caps, which keep their order on every backend.
    pub(crate) surface: Snapped<D>,
    /// The first image by direction, and the number of images.
    pub(crate) starts: [u32; 28],
}

/// The images of the parts of a surface that lie in the box of `extent` lattice units, as far as they come
/// within `reach` of it from outside.
pub(crate) fn images<const D: usize>(
    of: &Snapped<D>,
    extent: [i32; D],
    periodic: [bool; D],
    reach: i32,
) -> Result<ImageFacets<D>, SnapError> {
    let walls = &of.facets[..of.facets.len() - of.caps];
    let mut surface = Snapped {
        vertices: Vec::new(),
        facets: Vec::new(),
        facet_patch: Vec::new(),
        ..of.clone()
    };
    let mut starts = [0; 28];
    for direction in 0..dims::directions(D) {
        let step = dims::step::<D>(direction);
        let is_image = step != [0; D] && (0..D).all(|a| step[a] == 0 || periodic[a]);
        for (f, corners) in walls.iter().enumerate().filter(|_| is_image) {
            let corners = corners.map(|v| of.vertices[v as usize]);
            let near = |a: usize| {
                let low = corners.iter().map(|v| v[a]).fold(i32::MAX, i32::min);
                let high = corners.iter().map(|v| v[a]).fold(i32::MIN, i32::max);
                match step[a] {
                    -1 => low <= extent[a] && high >= extent[a] - reach,
                    1 => low <= reach && high >= 0,
                    _ => low <= extent[a] && high >= 0,
                }
            };
            if !(0..D).all(near) {
                continue;
            }
            let shift = std::array::from_fn(|a| step[a] * extent[a]);
            let first = surface.vertices.len() as u32;
            surface
                .facets
                .push(std::array::from_fn(|k| first + k as u32));
            for v in corners {
                surface.vertices.push(shifted(v, shift)?);
            }
            surface.facet_patch.extend(of.facet_patch.get(f));
        }
        starts[direction + 1..].fill(surface.facets.len() as u32);
    }
    surface.caps = surface.facets.len();
    Ok(ImageFacets { surface, starts })
}

/// Checks that fluid and solid cells on two sides of a periodic face have a cut link between them. Cost: a
/// lookup for every link across the faces.
///
/// # Errors
/// [`VoxelError::NotPeriodic`] with the first such place.
pub fn check_periodic<const D: usize>(mesh: &Mesh<D>) -> Result<(), VoxelError> {
    let forest = &mesh.forest;
    let is_solid = |c: CellRef| mesh.classes.solid[c.block as usize] >> c.cell & 1 == 1;
    for id in forest.leaves().filter(|_| forest.periodic != [false; D]) {
        let level = usize::from(forest.level[id as usize]);
        let last = forest.root.map(|n| ((4 * n as i32) << level) - 1);
        for cell in 0..dims::cells(D) as u32 {
            let at = CellRef { block: id, cell };
            let coord = forest.cell_coord(at);
            let at_face = |a: usize| forest.periodic[a] && (coord[a] == 0 || coord[a] == last[a]);
            if is_solid(at) || !(0..D).any(at_face) {
                continue;
            }
            for direction in 0..dims::directions(D) {
                let step = dims::step::<D>(direction);
                let crosses = |a: &usize| {
                    let to = coord[*a] + step[*a];
                    to < 0 || to > last[*a]
                };
                let Some(axis) = (0..D).find(crosses) else {
                    continue;
                };
                if let NeighborCell::Same(n) | NeighborCell::Refined(n) =
                    forest.neighbor_cell(at, direction)
                    && is_solid(n)
                    && mesh.link(at, direction).is_none()
                {
                    return Err(VoxelError::NotPeriodic {
                        axis: ["x", "y", "z"][axis],
                        position: mesh.frame.center(level, coord).to_vec(),
                    });
                }
            }
        }
    }
    Ok(())
}
