//! Directions of sheets: facets turned by the side that the fluid is on.
//!
//! Sheets may point anywhere, while the fluxes of inlet patches and the outputs on a surface go by normals. So each
//! facet with fluid on one side is turned as that of a closed surface: away from a flow inside, into a flow outside.
//! Facets with fluid on both sides or on none stay.

use crate::compiled::compiled;
use cutlink_mesher::Surface;
use cutlink_mesher::snap::Snapped;
use cutlink_mesher::surface::unit_normal;
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// Parts of a facet's edges between the points that are asked where the middle does not tell.
const PARTS: usize = 8;

/// Turns the facets of a surface in the frame of the box.
pub fn turn_surface<const D: usize>(mesh: &Mesh<D>, surface: &mut Surface<D>) {
    (compiled::<D>().turn_surface)(mesh, surface);
}

pub(crate) fn turn_surface_here<const D: usize>(mesh: &Mesh<D>, surface: &mut Surface<D>) {
    let Surface {
        vertices, facets, ..
    } = surface;
    turn(mesh, |v| vertices[v as usize], facets);
}

/// Turns the facets of a snapped surface.
pub fn turn_snapped<const D: usize>(mesh: &Mesh<D>, surface: &mut Snapped<D>) {
    (compiled::<D>().turn_snapped)(mesh, surface);
}

pub(crate) fn turn_snapped_here<const D: usize>(mesh: &Mesh<D>, surface: &mut Snapped<D>) {
    let Snapped {
        vertices,
        facets,
        lattice,
        ..
    } = surface;
    let at = |v: u32| {
        let p = vertices[v as usize];
        std::array::from_fn(|a| lattice.origin[a] + lattice.unit * f64::from(p[a]))
    };
    turn(mesh, at, facets);
}

fn turn<const D: usize>(
    mesh: &Mesh<D>,
    at: impl Fn(u32) -> [f64; D] + Sync,
    facets: &mut [[u32; D]],
) {
    // Of a flow inside the fluid lies behind the facets.
    let front = mesh.fill.flow() == "outside";
    let shares = shares(D);
    facets.par_iter_mut().for_each(|facet| {
        let corners = facet.map(&at);
        let Some(normal) = unit_normal(corners) else {
            return;
        };
        let seen = shares
            .iter()
            .map(|share| sides(mesh, &corners, share, normal));
        if let Some([ahead, _]) = seen.into_iter().find(|[ahead, behind]| ahead != behind)
            && ahead != front
        {
            facet.swap(0, 1);
        }
    });
}

/// Points of a facet by the shares of the corners behind the first: the middle, then others.
fn shares(d: usize) -> Vec<[f64; 2]> {
    let part = |n: usize| (n as f64 + 0.5) / PARTS as f64;
    let mut shares = vec![[1.0 / d as f64; 2]];
    if d == 2 {
        shares.extend((0..PARTS).map(|i| [part(i), 0.0]));
    } else {
        let within = (0..PARTS).flat_map(|i| (0..PARTS - 1 - i).map(move |j| (i, j)));
        shares.extend(within.map(|(i, j)| [part(i), part(j)]));
    }
    shares
}

/// Whether there is fluid ahead of and behind a point of a facet, one cell away.
fn sides<const D: usize>(
    mesh: &Mesh<D>,
    corners: &[[f64; D]; D],
    share: &[f64; 2],
    normal: [f64; D],
) -> [bool; 2] {
    let root = |p: [f64; D]| -> [f64; D] {
        std::array::from_fn(|a| (p[a] - mesh.frame.origin[a]) / mesh.frame.dx)
    };
    let mut at = corners[0];
    for (corner, share) in corners[1..].iter().zip(share) {
        (0..D).for_each(|a| at[a] += share * (corner[a] - corners[0][a]));
    }
    let at = root(at);
    let Some(leaf) = mesh.forest.leaf_at(at) else {
        return [false; 2];
    };
    let spacing = 0.5f64.powi(i32::from(mesh.forest.level[leaf.block as usize]));
    [1.0, -1.0].map(|side| {
        let ahead = std::array::from_fn(|a| at[a] + side * spacing * normal[a]);
        mesh.forest
            .leaf_at(ahead)
            .is_some_and(|cell| mesh.classes.solid[cell.block as usize] >> cell.cell & 1 == 0)
    })
}
