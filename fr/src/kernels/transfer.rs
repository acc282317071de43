//! The state of an adapted tree from that of the tree before: copied, at the points of children, or projected to parents
//! (W24, eq. 9).
//!
//! A parent's state is a polynomial, so its values at the points of children are exact. A parent has the L2 projection of
//! its children's states: the same integrals, and a polynomial of the parent comes back as it was.

use super::{Matrix, Operators, for_chunks, sizes};
use crate::Basis;
use cutlink_amr::Mark;
use cutlink_device::Real;

const REFINE: u8 = Mark::Refine as u8;
const COARSEN: u8 = Mark::Coarsen as u8;

/// What became of leaves in an adaptation.
#[derive(Debug, Clone, Copy)]
pub struct Moves<'a> {
    /// The closed mark of each old leaf.
    pub marks: &'a [u8],
    /// See [`AdaptedLeaves::first`](cutlink_amr::linear::AdaptedLeaves::first).
    pub first: &'a [u32],
}

impl Moves<'_> {
    /// The last of the old leaves whose place or part of it a new leaf has.
    fn origin(&self, new: u32) -> usize {
        self.first.partition_point(|&first| first <= new) - 1
    }
}

/// Values of one unknown with the matrix along an axis whose points are `stride` apart.
#[inline(always)]
fn along<const Q: usize, T: Real>(stride: usize, matrix: &Matrix<T, Q>, from: &[T], to: &mut [T]) {
    let lines = from.chunks_exact(Q * stride);
    for (from, to) in lines.zip(to.chunks_exact_mut(Q * stride)) {
        for i in 0..Q {
            for k in 0..stride {
                let mut sum = matrix[i][0] * from[k];
                for j in 1..Q {
                    sum = matrix[i][j].mul_add(from[j * stride + k], sum);
                }
                to[i * stride + k] = sum;
            }
        }
    }
}

/// Values of one unknown with a matrix for each axis; `spare` is overwritten.
#[inline(always)]
fn tensor<const D: usize, const Q: usize, T: Real>(
    matrices: [&Matrix<T, Q>; D],
    from: &[T],
    to: &mut [T],
    spare: &mut [T],
) {
    if D == 3 {
        along(1, matrices[0], from, to);
        along(Q, matrices[1], to, spare);
        along(Q * Q, matrices[2], spare, to);
    } else {
        along(1, matrices[0], from, spare);
        along(Q, matrices[1], spare, to);
    }
}

/// The half of its parent that a child is in, by axis.
#[inline(always)]
fn half(child: usize, axis: usize) -> usize {
    child >> axis & 1
}

/// The state of a parent, by unknown and point, at the points of a child.
#[inline(always)]
pub fn to_child<const D: usize, const Q: usize, T: Real>(
    operators: &Operators<T, Q>,
    child: usize,
    parent: &[T],
    out: &mut [T],
) {
    let n = const { sizes::nodes(D, Q) };
    let matrices = std::array::from_fn(|a| &operators.halves[half(child, a)]);
    let mut spare = [T::ZERO; MOST_NODES];
    for (from, to) in parent.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        tensor::<D, Q, T>(matrices, from, to, &mut spare[..n]);
    }
}

/// The L2 projection of the states of all children, in their order: added up in it.
#[inline(always)]
pub fn to_parent<const D: usize, const Q: usize, T: Real>(
    operators: &Operators<T, Q>,
    children: &[T],
    out: &mut [T],
) {
    let n = const { sizes::nodes(D, Q) };
    let one = const { sizes::element(D, Q) };
    let (mut part, mut spare) = ([T::ZERO; MOST_NODES], [T::ZERO; MOST_NODES]);
    out.fill(T::ZERO);
    for (child, from) in children.chunks_exact(one).enumerate() {
        let matrices = std::array::from_fn(|a| &operators.projections[half(child, a)]);
        for (from, to) in from.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
            tensor::<D, Q, T>(matrices, from, &mut part[..n], &mut spare[..n]);
            for (to, part) in to.iter_mut().zip(&part[..n]) {
                *to += *part;
            }
        }
    }
}

/// Points of the largest element.
const MOST_NODES: usize = sizes::nodes(3, crate::MAX_ORDER + 1);

/// The states of some new leaves, the first of which is `first`.
#[inline(always)]
fn leaves<const D: usize, const Q: usize, T: Real>(
    operators: &Operators<T, Q>,
    moves: &Moves<'_>,
    from: &[T],
    first: usize,
    out: &mut [T],
) {
    let one = const { sizes::element(D, Q) };
    let mut old = moves.origin(first as u32);
    for (i, out) in out.chunks_exact_mut(one).enumerate() {
        let new = (first + i) as u32;
        while moves.first[old + 1] <= new {
            old += 1;
        }
        let state = |leaf: usize, count: usize| &from[leaf * one..][..count * one];
        match moves.marks[old] {
            REFINE => {
                let child = (new - moves.first[old]) as usize;
                to_child::<D, Q, T>(operators, child, state(old, 1), out);
            }
            COARSEN => {
                let children = 1 << D;
                to_parent::<D, Q, T>(operators, state(old + 1 - children, children), out);
            }
            _ => out.copy_from_slice(state(old, 1)),
        }
    }
}

/// See [`PrecisionKernels::transfer`](super::PrecisionKernels::transfer).
pub(super) fn transfer<const D: usize, const Q: usize, T: Real>(
    basis: &Basis,
    moves: &Moves<'_>,
    from: &[T],
    to: &mut [T],
) {
    let operators = Operators::<T, Q>::of(basis);
    for_chunks(
        to,
        sizes::element(D, Q),
        #[inline(always)]
        |first, out| leaves::<D, Q, T>(&operators, moves, from, first, out),
    );
}
