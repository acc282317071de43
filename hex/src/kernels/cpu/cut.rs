//! A mesh with the numbers of a step: `Cut` of `hex.cuh`.

use super::view::View;
use crate::kernels::{Corners, NONE, RefineTask, SplitNumbers};
use cutlink_device::Host;

#[derive(Clone, Copy)]
pub(super) struct Cut<'a> {
    pub(super) view: View<'a>,
    pub(super) corners: &'a [Corners],
    pub(super) marks: &'a [u8],
    pub(super) numbers: &'a SplitNumbers<Host>,
}

impl<'a> Cut<'a> {
    pub(super) fn new(task: &RefineTask<'a, Host>, numbers: &'a SplitNumbers<Host>) -> Self {
        Self {
            view: View::new(task.mesh, task.of),
            corners: task.corners,
            marks: task.marks,
            numbers,
        }
    }

    /// The new midpoint of an edge, or [`NONE`].
    #[inline]
    pub(super) fn middle(&self, a: u32, b: u32) -> u32 {
        let (low, high) = (a.min(b) as usize, a.max(b));
        let counts = &self.numbers.counts;
        if low >= counts.points {
            return NONE;
        }
        let start = &self.numbers.edge_start;
        for at in start[low]..start[low + 1] {
            if self.numbers.edges[at as usize] as u32 == high {
                return counts.points as u32 + at;
            }
        }
        NONE
    }

    /// The new centre of a face, or [`NONE`].
    pub(super) fn center(&self, face: usize) -> u32 {
        let (split, counts) = (&self.numbers.split, &self.numbers.counts);
        match split[face] == split[face + 1] {
            true => NONE,
            false => (counts.points + counts.edges) as u32 + split[face],
        }
    }

    /// The slot of a face or of its first quarter.
    pub(super) fn slot(&self, face: usize) -> usize {
        let counts = &self.numbers.counts;
        let inner = if face < counts.internal {
            0
        } else {
            12 * counts.marked
        };
        face + 3 * self.numbers.split[face] as usize + inner
    }

    /// The new number of a cell at one of its corners.
    fn child_at(&self, cell: u32, corner: u32) -> u32 {
        let first = self.numbers.first[cell as usize];
        match self.marks[cell as usize] {
            0 => first,
            _ => {
                let corners = self.corners[cell as usize];
                first + corners.iter().position(|&p| p == corner).unwrap_or(0) as u32
            }
        }
    }

    /// The new number of a cell behind a face, or behind its quarter at a corner.
    pub(super) fn behind(&self, cell: u32, face: usize, quarter: u32) -> u32 {
        let at = cell as usize;
        if quarter != NONE && self.view.cell_levels[at] == self.view.face_level(face) {
            return self.child_at(cell, quarter);
        }
        if self.marks[at] == 0 {
            return self.numbers.first[at];
        }
        // A quarter of one of the cell's sides: it has one of the cell's corners.
        let mut points = self.view.face(face as u32).iter();
        let corner = points.find(|p| self.corners[at].contains(p));
        self.child_at(cell, corner.map_or(NONE, |&p| p))
    }

    /// The outlines of the four quarters of a face, without midpoints of their edges.
    pub(super) fn quarters(&self, face: usize, center: u32) -> [[u32; 4]; 4] {
        let (quad, ids) = (self.view.quad(face), self.view.face(face as u32));
        // The point between two corners: new, or one that hangs there already.
        let middle = |a: u32, b: u32| {
            let at = ids.iter().position(|&p| p == a).unwrap_or(0);
            let next = ids[(at + 1) % ids.len()];
            if next == b { self.middle(a, b) } else { next }
        };
        let middles: [u32; 4] = std::array::from_fn(|i| middle(quad[i], quad[(i + 1) % 4]));
        std::array::from_fn(|i| [quad[i], middles[i], center, middles[(i + 3) % 4]])
    }

    /// Calls `put` with each point of a face, with midpoints in its split edges.
    #[inline(always)]
    pub(super) fn outline(&self, ids: &[u32], mut put: impl FnMut(u32)) {
        let mut next = ids[0];
        for i in 0..ids.len() {
            let point = next;
            next = ids[if i + 1 < ids.len() { i + 1 } else { 0 }];
            put(point);
            let middle = self.middle(point, next);
            if middle != NONE {
                put(middle);
            }
        }
    }
}
