//! What lies beyond the faces of leaves.

use super::Leaves;
use crate::{
    ForestError, LinearKernels,
    constants::{FACE_COARSER, FACE_FINER, FACE_ID_BITS, FACE_OUTSIDE},
    dims,
};
use cutlink_device::{Backend, Host};

/// The faces of all leaves.
///
/// Face 2 a is the lower one of axis a, face 2 a + 1 the upper one; the opposite of face f is f ^ 1. A *sub-face* is one
/// of the 2^(D-1) quarters (halves in 2D) of a face, by the sides that they lie on along the other axes, lower axis
/// first: `y + 2 z`, `x + 2 z`, `x + 2 y` for faces along x, y, z.
///
/// A *hanging* face is one with finer leaves beyond it. These have a slot each, in the order of (leaf, face).
///
/// Memory: 4 bytes a face, and 4 + 2^(D+1) bytes a hanging face.
#[derive(Debug)]
pub struct Faces<const D: usize, B: Backend = Host> {
    /// 2 D codes a leaf: read them by [`at`](Faces::at). The three highest bits: 0 for a leaf of the same level, 1 for
    /// finer ones, 2 for the outside, 4 + s for sub-face s of a coarser leaf. The others: the leaf, the slot, or of the
    /// outside a [tag](Faces::tag).
    pub codes: B::Buf<u32>,
    /// 2^(D-1) leaves a slot, by sub-face.
    pub hanging: B::Buf<u32>,
    /// By slot, which face it is: 2 D leaf + face.
    pub slots: B::Buf<u32>,
}

/// What lies beyond a face of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// A leaf of the same level.
    Same(u32),
    /// A part of a face of a leaf of the next coarser level.
    Coarser {
        /// The leaf.
        leaf: u32,
        /// The part of its opposite face.
        sub_face: u32,
    },
    /// Leaves of the next finer level: those of a slot.
    Finer(u32),
    /// Nothing: a face of the box that is not periodic.
    Outside,
}

impl Face {
    /// The face of a code.
    ///
    /// # Panics
    /// Where no face has that code.
    pub fn of(code: u32) -> Self {
        let id = code & ((1 << FACE_ID_BITS) - 1);
        match code >> FACE_ID_BITS {
            0 => Self::Same(id),
            FACE_FINER => Self::Finer(id),
            FACE_OUTSIDE => Self::Outside,
            kind @ FACE_COARSER.. => Self::Coarser {
                leaf: id,
                sub_face: kind - FACE_COARSER,
            },
            kind => panic!("{kind} should be the kind of a face"),
        }
    }
}

impl<const D: usize> Faces<D> {
    /// What lies beyond a face of a leaf.
    pub fn at(&self, leaf: u32, face: usize) -> Face {
        Face::of(self.codes[leaf as usize * 2 * D + face])
    }

    /// The tag of a face with nothing beyond it: 0, or what a solver [closed](Self::close) it with.
    pub fn tag(&self, leaf: u32, face: usize) -> u32 {
        self.codes[leaf as usize * 2 * D + face] & Self::LARGEST_TAG
    }

    /// The largest tag.
    pub const LARGEST_TAG: u32 = (1 << FACE_ID_BITS) - 1;

    /// Makes a face one with nothing beyond it, whatever is there. The leaves beyond and the slots of hanging faces stay as
    /// they are.
    ///
    /// # Panics
    /// Where the tag is above the [largest](Self::LARGEST_TAG).
    pub fn close(&mut self, leaf: u32, face: usize, tag: u32) {
        assert!(tag <= Self::LARGEST_TAG, "{tag} should be a tag");
        self.codes[leaf as usize * 2 * D + face] = FACE_OUTSIDE << FACE_ID_BITS | tag;
    }

    /// The finer leaves of a slot, by sub-face.
    pub fn finer(&self, slot: u32) -> &[u32] {
        let parts = dims::children(D) / 2;
        &self.hanging[slot as usize * parts..][..parts]
    }
}

impl<const D: usize, B: Backend> Faces<D, B> {
    /// A copy on the host.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub fn download(&self, backend: &B) -> Result<Faces<D>, ForestError> {
        Ok(Faces {
            codes: backend.download(&self.codes)?,
            hanging: backend.download(&self.hanging)?,
            slots: backend.download(&self.slots)?,
        })
    }
}

impl<const D: usize, K: LinearKernels<D>> Leaves<D, K> {
    /// What lies beyond the faces of the leaves (W24, Alg. 5; of hanging faces both sides are found).
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    ///
    /// # Panics
    /// May panic where the keys were changed so that they are no tree.
    pub fn faces(&self, kernels: &K) -> Result<Faces<D, K>, ForestError> {
        kernels.faces(self)
    }
}

/// The part of a coarser leaf's face that a child of its place's neighbour touches: the bits of the child's number
/// without that of the face's axis.
#[inline]
pub(crate) const fn sub_face(child: usize, axis: usize) -> usize {
    let low = child & ((1 << axis) - 1);
    low | child >> (axis + 1) << axis
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_faces_are_numbered_by_the_other_axes() {
        let [x, y, z] = [1, 2, 4];
        assert_eq!([0, y, z, y + z].map(|c| sub_face(c, 0)), [0, 1, 2, 3]);
        assert_eq!([0, x, z, x + z].map(|c| sub_face(c, 1)), [0, 1, 2, 3]);
        assert_eq!([0, x, y, x + y].map(|c| sub_face(c, 2)), [0, 1, 2, 3]);
        assert_eq!([x, x + y].map(|c| sub_face(c, 0)), [0, 1], "either side");
    }

    #[test]
    #[should_panic(expected = "3 should be the kind of a face")]
    fn codes_of_no_face_are_told() {
        Face::of(3 << FACE_ID_BITS | 5);
    }
}
