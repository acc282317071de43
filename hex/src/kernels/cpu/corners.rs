//! Which cells are hexahedra, and their corners.
//!
//! A cell of level l is a hexahedron if eight of its points have levels up to l and its edges join them as those of a
//! cube, directly or with one hanging point between. Corners are in voxel order, x fastest; the axes are those of the
//! cell alone, right-handed, and begin at its smallest point.

use super::group::collected;
use super::view::View;
use crate::kernels::{Corners, NONE};
use crate::refine::RefineError;
use rayon::prelude::*;

/// The corners of all hexahedra, and the number of cells without.
pub(super) fn corners(view: View<'_>) -> Result<(Vec<Corners>, usize), RefineError> {
    of_all(view, |cell| {
        plain(view, cell).or_else(|| corners_of(view, cell))
    })
}

/// The corners of all cells, and the number of cells without.
pub(super) fn of_all(
    view: View<'_>,
    of: impl Fn(usize) -> Option<Corners> + Sync + Send,
) -> Result<(Vec<Corners>, usize), RefineError> {
    let of = |cell: usize| of(cell).unwrap_or([NONE; 8]);
    let all = collected(
        "corners of cells",
        (0..view.cells()).into_par_iter().map(of),
    )?;
    let none = all.par_iter().filter(|c| c[0] == NONE).count();
    Ok((all, none))
}

/// The corners of a cell whose faces are the six sides of a cube, as most are; `None` for others. They are those of
/// `corners_of`, in less time.
fn plain(view: View<'_>, cell: usize) -> Option<Corners> {
    let mut sides = [[0; 4]; 6];
    let faces = view.faces_of(cell);
    if faces.len() != sides.len() {
        return None;
    }
    for (side, &face) in sides.iter_mut().zip(faces) {
        *side = view.face(face).try_into().ok()?;
        if view.owner[face as usize] as usize != cell {
            side.reverse();
        }
    }
    let points = sides.as_flattened();
    let level = view.cell_levels[cell];
    let origin = *points.iter().min()?;
    let (first, at) = sides
        .iter()
        .find_map(|side| Some((side, side.iter().position(|&p| p == origin)?)))?;
    let [y, xy, x] = [1, 2, 3].map(|i| first[(at + i) % 4]);
    // The two points behind an edge in the loop that has it.
    let behind = |a: u32, b: u32| {
        sides.iter().find_map(|side| {
            let at = (0..4).find(|&i| side[i] == a && side[(i + 1) % 4] == b)?;
            Some([side[(at + 2) % 4], side[(at + 3) % 4]])
        })
    };
    let [xz, z] = behind(origin, x)?;
    let [yz, last] = behind(xy, y)?;
    let corners = [origin, x, y, xy, z, xz, yz, last];
    let is_cube = behind(y, origin)? == [z, yz]
        && behind(x, xy)? == [last, xz]
        && behind(z, xz)? == [last, yz];
    let is_new = |i: usize| !corners[..i].contains(&corners[i]);
    let is_corner = |&p: &u32| view.point_levels[p as usize] <= level;
    let is_plain = is_cube && (1..8).all(is_new) && corners.iter().all(is_corner);
    is_plain.then_some(corners)
}

/// Corners of a cell by number, ascending, and for each the set of corners beyond its edges, over one hanging point at
/// most.
struct Cube {
    all: [u32; 8],
    beyond: [u8; 8],
}

impl Cube {
    fn index(&self, point: u32) -> usize {
        self.all.iter().position(|&p| p == point).unwrap_or(8)
    }

    fn three(&self, corner: usize) -> Option<u8> {
        let of = *self.beyond.get(corner)?;
        (of.count_ones() == 3).then_some(of)
    }
}

/// The lowest corner of a set.
fn lowest(set: u8) -> Option<usize> {
    (set != 0).then(|| set.trailing_zeros() as usize)
}

fn corners_of(view: View<'_>, cell: usize) -> Option<Corners> {
    if !(6..=24).contains(&view.faces_of(cell).len()) {
        return None;
    }
    let cube = cube(view, cell)?;
    let three = cube.three(0)?;
    // A side of the cell at the origin: its outward loop comes from x and goes on to y.
    let (x, y) = loop_at(view, cell, cube.all[0])?;
    let (x, y) = (cube.index(x), cube.index(y));
    let (at_x, at_y) = (cube.three(x)?, cube.three(y)?);
    let z = lowest(three & !(1 << x | 1 << y))?;
    let at_z = cube.three(z)?;
    let (xy, xz, yz) = (
        lowest(at_x & at_y & !1)?,
        lowest(at_x & at_z & !1)?,
        lowest(at_y & at_z & !1)?,
    );
    let last = lowest(cube.three(xy)? & !(1 << x | 1 << y))?;
    let corners = [0, x, y, xy, z, xz, yz, last];
    let distinct = corners.iter().fold(0u8, |set, c| set | 1 << c);
    (distinct == u8::MAX).then(|| corners.map(|c| cube.all[c]))
}

fn cube(view: View<'_>, cell: usize) -> Option<Cube> {
    let level = view.cell_levels[cell];
    let is_corner = |p: u32| view.point_levels[p as usize] <= level;
    let (mut all, mut count) = ([NONE; 8], 0);
    view.edges(cell, |p, _| {
        if !is_corner(p) || count > 8 {
            return;
        }
        let at = all.iter().position(|&q| q >= p).unwrap_or(8);
        if at < 8 && all[at] == p {
            return;
        }
        count += 1;
        if at < 8 {
            all.copy_within(at..7, at + 1);
            all[at] = p;
        }
    });
    if count != 8 {
        return None;
    }
    let mut cube = Cube {
        all,
        beyond: [0; 8],
    };
    view.edges(cell, |from, to| {
        let at = cube.index(from);
        if at < 8 {
            let end = if is_corner(to) {
                to
            } else {
                end_of(view, cell, from, to)
            };
            let end = cube.index(end);
            if end < 8 {
                cube.beyond[at] |= 1 << end;
            }
        }
    });
    Some(cube)
}

/// The smallest corner, other than `from`, that an edge leads to from a hanging point; or [`NONE`].
fn end_of(view: View<'_>, cell: usize, from: u32, hanging: u32) -> u32 {
    let level = view.cell_levels[cell];
    let mut end = NONE;
    view.edges(cell, |a, b| {
        if a == hanging && b != from && b < end && view.point_levels[b as usize] <= level {
            end = b;
        }
    });
    end
}

/// The corners before and after a corner in the outward loop of the first side that has it.
fn loop_at(view: View<'_>, cell: usize, corner: u32) -> Option<(u32, u32)> {
    let has = |&&face: &&u32| view.face(face).contains(&corner);
    let face = *view.faces_of(cell).iter().find(has)?;
    let ids = view.face(face);
    let at = ids.iter().position(|&p| p == corner)?;
    let (after, before) = (
        ids[(at + 1) % ids.len()],
        ids[(at + ids.len() - 1) % ids.len()],
    );
    let (before, after) = match view.owner[face as usize] as usize == cell {
        true => (before, after),
        false => (after, before),
    };
    let level = view.cell_levels[cell];
    let end = |p: u32| match view.point_levels[p as usize] <= level {
        true => p,
        false => end_of(view, cell, corner, p),
    };
    Some((end(before), end(after)))
}
