//! Images of a surface along periodic axes: what leaves the box through a face comes in through the opposite one.

use cutlink_mesher::Surface;
use cutlink_voxelizer::Mesh;
use std::borrow::Cow;

type Point = [f64; 3];

/// A surface with those facets of its images that lie in the box of a mesh, or within a root cell of it. Patches keep their
/// numbers.
pub(super) fn with_images<'a>(surface: &'a Surface<3>, mesh: &Mesh<3>) -> Cow<'a, Surface<3>> {
    let (frame, periodic) = (&mesh.frame, mesh.forest.periodic);
    let box_of = |margin: f64| {
        let upper = frame.upper();
        let grown = |a: usize| [frame.origin[a] - margin, upper[a] + margin];
        [0, 1, 2].map(grown)
    };
    let near = box_of(frame.dx);
    let extent: Point = std::array::from_fn(|a| frame.dx * f64::from(frame.root_cells[a]));
    // By axis, the periods by which the surface comes into the box.
    let periods = |a: usize| {
        if !periodic[a] {
            return 0..=0;
        }
        let along = surface.vertices.iter().map(|v| v[a]);
        let low = along.clone().fold(f64::INFINITY, f64::min);
        let high = along.fold(f64::NEG_INFINITY, f64::max);
        let [from, to] = near[a];
        ((from - high) / extent[a]).ceil() as i64..=((to - low) / extent[a]).floor() as i64
    };
    let [x, y, z] = [0, 1, 2].map(periods);
    let mut made = Cow::Borrowed(surface);
    for k in z {
        for j in y.clone() {
            for i in x.clone().filter(|&i| (i, j, k) != (0, 0, 0)) {
                let shift = [i, j, k].map(|n| n as f64);
                let shift: Point = std::array::from_fn(|a| shift[a] * extent[a]);
                add(made.to_mut(), surface, shift, near);
            }
        }
    }
    made
}

/// Adds the facets of an image whose bounds meet a box.
fn add(made: &mut Surface<3>, surface: &Surface<3>, shift: Point, near: [[f64; 2]; 3]) {
    for facet in 0..surface.facets.len() {
        let corners = surface.corners(facet);
        let corners = corners.map(|p| std::array::from_fn(|a| p[a] + shift[a]));
        let meets = (0..3).all(|a| {
            let along = corners.map(|p: Point| p[a]);
            let [from, to] = near[a];
            along.iter().any(|&x| x >= from) && along.iter().any(|&x| x <= to)
        });
        if !meets {
            continue;
        }
        let first = made.vertices.len() as u32;
        made.vertices.extend(corners);
        made.facets.push(std::array::from_fn(|i| first + i as u32));
        if !surface.facet_patch.is_empty() {
            made.facet_patch.push(surface.facet_patch[facet]);
        }
    }
}
