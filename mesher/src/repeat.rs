//! Wraps surfaces around the periodic axes of a box, by exact copies in lattice units.

use crate::snap::{COORDINATE_LIMIT, SnapError, Snapped};
use std::collections::HashSet;

/// Adds periodic copies: a connected part of the surface that crosses one of the two faces of a periodic axis of the
/// box of `extent` lattice units is copied, shifted by the box's extent to the opposite face. A part that crosses both
/// faces or none is not copied, nor is one whose copy the surface has already. Returns the number of copies added.
///
/// # Errors
/// Copies beyond the limits of the lattice.
pub fn repeat<const D: usize>(
    surface: &mut Snapped<D>,
    extent: [i32; D],
    periodic: [bool; D],
) -> Result<usize, SnapError> {
    let mut added = 0;
    for axis in (0..D).filter(|&a| periodic[a]) {
        added += repeat_along(surface, extent, axis)?;
    }
    Ok(added)
}

fn repeat_along<const D: usize>(
    surface: &mut Snapped<D>,
    extent: [i32; D],
    axis: usize,
) -> Result<usize, SnapError> {
    let part_of = parts(surface);
    let mut spans = vec![[i32::MAX, i32::MIN]; surface.vertices.len()];
    for (v, p) in surface.vertices.iter().enumerate() {
        let span = &mut spans[part_of[v] as usize];
        *span = [span[0].min(p[axis]), span[1].max(p[axis])];
    }
    let passes = |[low, high]: [i32; 2], face: i32| low < face && high > face;
    let shift_of = |part: u32| {
        let span = spans[part as usize];
        match [passes(span, 0), passes(span, extent[axis])] {
            [true, false] => extent[axis],
            [false, true] => -extent[axis],
            _ => 0,
        }
    };
    let at = |f: &[u32; D]| f.map(|v| surface.vertices[v as usize]);
    let moves = |f: &[u32; D]| shift_of(part_of[f[0] as usize]);
    if surface.facets.iter().all(|f| moves(f) == 0) {
        return Ok(0);
    }
    let there: HashSet<[[i32; D]; D]> = surface.facets.iter().map(|f| sorted(at(f))).collect();
    let mut copies: Vec<(u32, [[i32; D]; D], Option<u16>)> = Vec::new();
    let mut fresh = HashSet::new();
    for (f, corners) in surface.facets.iter().enumerate() {
        let by = moves(corners);
        if by == 0 {
            continue;
        }
        let shift = std::array::from_fn(|a| if a == axis { by } else { 0 });
        let mut copy = at(corners);
        for v in &mut copy {
            *v = shifted(*v, shift)?;
        }
        let part = part_of[corners[0] as usize];
        if !there.contains(&sorted(copy)) {
            fresh.insert(part);
        }
        copies.push((part, copy, surface.facet_patch.get(f).copied()));
    }
    for (_, copy, patch) in copies.iter().filter(|(part, ..)| fresh.contains(part)) {
        let first = surface.vertices.len() as u32;
        surface.vertices.extend(copy);
        let facet = std::array::from_fn(|k| first + k as u32);
        surface.facets.push(facet);
        surface.facet_patch.extend(patch);
    }
    weld(surface);
    Ok(fresh.len())
}

fn sorted<const D: usize>(mut corners: [[i32; D]; D]) -> [[i32; D]; D] {
    corners.sort_unstable();
    corners
}

/// For each vertex, the number of the connected part that it belongs to: that of one of its vertices.
fn parts<const D: usize>(surface: &Snapped<D>) -> Vec<u32> {
    let mut above: Vec<u32> = (0..surface.vertices.len() as u32).collect();
    fn root(above: &mut [u32], mut v: u32) -> u32 {
        while above[v as usize] != v {
            above[v as usize] = above[above[v as usize] as usize];
            v = above[v as usize];
        }
        v
    }
    for facet in &surface.facets {
        for pair in facet.windows(2) {
            let (a, b) = (root(&mut above, pair[0]), root(&mut above, pair[1]));
            above[a.max(b) as usize] = a.min(b);
        }
    }
    (0..above.len() as u32)
        .map(|v| root(&mut above, v))
        .collect()
}

/// Vertices distinct and in lexicographic order again.
fn weld<const D: usize>(surface: &mut Snapped<D>) {
    let mut vertices = surface.vertices.clone();
    vertices.sort_unstable();
    vertices.dedup();
    for v in surface.facets.iter_mut().flatten() {
        let at = vertices.binary_search(&surface.vertices[*v as usize]);
        *v = at.expect("every vertex should be listed") as u32;
    }
    surface.vertices = vertices;
}

/// A vertex of a copy.
///
/// # Errors
/// [`SnapError::Image`] beyond the limits of the lattice.
pub fn shifted<const D: usize>(v: [i32; D], by: [i32; D]) -> Result<[i32; D], SnapError> {
    let to: [i32; D] = std::array::from_fn(|a| v[a] + by[a]);
    if to.iter().all(|c| c.abs() <= COORDINATE_LIMIT) {
        Ok(to)
    } else {
        Err(SnapError::Image)
    }
}
