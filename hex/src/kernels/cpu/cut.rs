//! A mesh with the numbers of a step: `Cut` of `hex.cuh`.

use super::view::View;
use crate::kernels::{CellShape, Corners, NONE, RefineTask, SplitNumbers};
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

    /// Whether a face becomes two or four.
    #[inline]
    pub(super) fn is_split(&self, face: usize) -> bool {
        self.numbers.split[face] != self.numbers.split[face + 1]
    }

    /// The new centre of a face, or [`NONE`].
    pub(super) fn center(&self, face: usize) -> u32 {
        let counts = &self.numbers.counts;
        let before = match counts.shape {
            CellShape::Sheet => self.numbers.quarters[face],
            _ => self.numbers.split[face],
        };
        match self.is_split(face) {
            true => (counts.points + counts.edges) as u32 + before,
            false => NONE,
        }
    }

    /// The slot of a face or of its first piece.
    pub(super) fn slot(&self, face: usize) -> usize {
        let counts = &self.numbers.counts;
        let inner = if face < counts.internal {
            0
        } else {
            counts.inner()
        };
        let split = self.numbers.split[face] as usize;
        let added = match counts.shape {
            CellShape::Sheet => split + 2 * self.numbers.quarters[face] as usize,
            _ => 3 * split,
        };
        face + added + inner
    }

    /// The corners of a face in the order of its pieces: that of the loop, and on second patches that of the mate.
    #[inline]
    pub(super) fn order(&self, face: usize, corners: &[u32]) -> [usize; 4] {
        let n = corners.len();
        let is_second = face >= self.numbers.counts.internal
            && matches!(self.view.boundary.mate(face), Some((_, true)));
        std::array::from_fn(|i| match is_second {
            _ if i >= n => i,
            false => i,
            // Joined loops begin at the same point, which may be no corner.
            true if self.view.face(face as u32)[0] == corners[0] => (n - i) % n,
            true => n - 1 - i,
        })
    }

    /// The points in the middle of the edges of a face, each behind its corner: new ones, or those that hang there.
    #[inline]
    pub(super) fn middles<const N: usize>(&self, face: usize, corners: &[u32; N]) -> [u32; N] {
        let ids = self.view.face(face as u32);
        std::array::from_fn(|i| {
            let (a, b) = (corners[i], corners[(i + 1) % N]);
            let at = ids.iter().position(|&p| p == a).unwrap_or(0);
            let next = ids[(at + 1) % ids.len()];
            if next == b { self.middle(a, b) } else { next }
        })
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
