//! Links at gaps, by hole.

use crate::Mesh;
use cutlink_mesher::robust::{Holes, first_gap};
use cutlink_mesher::snap::Snapped;
use rayon::prelude::*;

/// Gives each link at a gap the patch of its hole. The embedding gives all of them the first one, because which hole a
/// link passes does not change its cut. It is the hole whose caps are nearest to the link's cut; of equally near ones,
/// the first patch. `surface` is the one that was embedded. In f64, point by point: the same for any number of threads.
///
/// Cost: nothing with one hole; otherwise a pass over the links, and for each link at a gap the caps of the holes near
/// it.
pub fn tell_gaps_apart<const D: usize>(mesh: &mut Mesh<D>, surface: &Snapped<D>) {
    let Some(first) = first_gap(surface) else {
        return;
    };
    let holes = Holes::new(surface);
    if holes.len() < 2 || mesh.links.patch.is_empty() {
        return;
    }
    let lattice = surface.lattice;
    // The links follow one another in the table.
    let at_gaps: Vec<(usize, [f64; D])> = mesh
        .links()
        .enumerate()
        .filter(|(_, link)| link.patch == first)
        .map(|(at, link)| (at, link.point()))
        .collect();
    let found: Vec<(usize, u16)> = at_gaps
        .into_par_iter()
        .map(|(at, point)| {
            let p = std::array::from_fn(|a| (point[a] - lattice.origin[a]) / lattice.unit);
            (at, holes.nearest(p).unwrap_or(first))
        })
        .collect();
    for (at, patch) in found {
        mesh.links.patch[at] = patch;
    }
}
