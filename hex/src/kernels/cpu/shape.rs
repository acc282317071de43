//! How a kind of cells is divided: twin of `shape.cuh`.

use super::{cut::Cut, view::View};
use crate::kernels::NONE;

/// A piece of a face that is split, as [`Shape::behind`] needs it: its corner of the face, or one of these.
pub(super) const WHOLE: u32 = NONE;
/// The piece between the midpoints of a triangle.
pub(super) const MIDDLE: u32 = NONE - 1;

/// The template of a kind of cells.
pub(super) trait Shape {
    /// Points of a side, and of each of its four pieces, before midpoints of their edges are put in.
    type Side: AsRef<[u32]> + Copy;
    /// Edges, as two corners.
    const EDGES: &'static [[usize; 2]];
    /// Sides of a cell.
    const SIDES: usize;
    /// Corners of a side.
    const SIDE: usize;
    /// Faces inside a split cell.
    const INNER: usize;
    /// Points of a split cell in the list of [`places`](super::places).
    const PLACES: usize;

    /// The points of a split cell, and what else its inner faces need.
    fn places(cut: Cut<'_>, cell: usize, number: usize) -> Self::Places;
    /// A list of [`PLACES`](Self::PLACES) words.
    type Places: AsRef<[u32]>;

    /// The pieces of a split face, each with what [`behind`](Self::behind) knows it by, and their number. Those of joined
    /// faces are in the same order, and begin at the same points.
    fn pieces(cut: Cut<'_>, face: usize) -> ([(u32, Self::Side); 4], usize);

    /// The child of a split cell behind a face of its level, at a corner of it or in its middle; or behind a face that is
    /// part of one of its sides, with [`WHOLE`].
    fn child(cut: Cut<'_>, cell: usize, face: usize, piece: u32) -> u32;

    /// A face inside a split cell, by its places: its loop, and the children on both sides.
    fn inner(places: &[u32], face: usize) -> (Self::Side, [u32; 2]);
}

impl Cut<'_> {
    /// The new number of a cell behind a face, or behind a piece of it.
    #[inline(always)]
    pub(super) fn behind<S: Shape>(self, cell: u32, face: usize, piece: u32) -> u32 {
        let at = cell as usize;
        let first = self.numbers.first[at];
        if self.marks[at] == 0 {
            return first;
        }
        let is_level = self.view.cell_levels[at] == self.view.face_level(face);
        first + S::child(self, at, face, if is_level { piece } else { WHOLE })
    }
}

/// Whether a cell has no hanging points: as many faces as a whole one, of as many points.
pub(super) fn is_plain<S: Shape>(view: View<'_>, cell: usize) -> bool {
    let faces = view.faces_of(cell);
    faces.len() == S::SIDES && faces.iter().all(|&face| view.face(face).len() == S::SIDE)
}

/// Puts the corners of a split cell and the midpoints of its edges, new ones or those that hang there, to their places: a
/// midpoint is halfway between its corners.
#[inline]
pub(super) fn put_edges<S: Shape>(
    cut: Cut<'_>,
    cell: usize,
    place_of: fn(usize) -> usize,
    places: &mut [u32],
) {
    let corners = cut.corners[cell];
    let is_plain = is_plain::<S>(cut.view, cell);
    for (corner, &point) in corners.iter().enumerate() {
        places[place_of(corner)] = point;
    }
    for &[a, b] in S::EDGES {
        let place = (place_of(a) + place_of(b)) / 2;
        places[place] = cut.middle(corners[a], corners[b]);
        if places[place] == NONE && !is_plain {
            places[place] = cut.view.hanging(cell, corners[a], corners[b]);
        }
    }
}
