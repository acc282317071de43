//! Hanging faces: common fluxes at the points of the fine side, and what they are on the coarse side.
//!
//! A trace of the coarse side is a polynomial, so its values at the points of a sub-face are exact. The fluxes there are
//! the fine sides' own. The coarse side has their L2 projection, with the same integral: the scheme is conservative.

use super::{Matrix, Operators, Task, for_chunks, sizes, viscous};
use cutlink_amr::linear::Face;
use cutlink_device::Real;

/// Values at the points of a face, by a matrix for each axis of the face, the lower one first: `to` of `from`, or what it
/// held plus that.
#[inline(always)]
fn tensor<const D: usize, const Q: usize, T: Real>(
    matrices: [&Matrix<T, Q>; 2],
    from: &[T],
    to: &mut [T],
    is_added: bool,
) {
    let mut rows = [[T::ZERO; Q]; Q];
    for (row, from) in rows.iter_mut().zip(from.chunks_exact(Q)) {
        for i in 0..Q {
            let mut sum = matrices[0][i][0] * from[0];
            for j in 1..Q {
                sum = matrices[0][i][j].mul_add(from[j], sum);
            }
            row[i] = sum;
        }
    }
    for (b, to) in to.chunks_exact_mut(Q).enumerate() {
        for i in 0..Q {
            let mut value = rows[b][i];
            if D == 3 {
                value = matrices[1][b][0] * rows[0][i];
                for j in 1..Q {
                    value = matrices[1][b][j].mul_add(rows[j][i], value);
                }
            }
            to[i] = if is_added { to[i] + value } else { value };
        }
    }
}

/// A coarse trace, by unknown and point, at the points of one of its sub-faces.
#[inline(always)]
pub fn to_sub_face<const D: usize, const Q: usize, T: Real>(
    operators: &Operators<T, Q>,
    part: usize,
    coarse: &[T],
    fine: &mut [T],
) {
    let n = const { sizes::face(D, Q) };
    let matrices = [&operators.halves[part & 1], &operators.halves[part >> 1]];
    for (from, to) in coarse.chunks_exact(n).zip(fine.chunks_exact_mut(n)) {
        tensor::<D, Q, T>(matrices, from, to, false);
    }
}

/// The fluxes of all sub-faces, by sub-face, unknown and point, on the coarse side: added up in the order of sub-faces.
#[inline(always)]
pub fn gather<const D: usize, const Q: usize, T: Real>(
    operators: &Operators<T, Q>,
    fine: &[T],
    coarse: &mut [T],
) {
    let n = const { sizes::face(D, Q) };
    for (part, fine) in fine.chunks_exact(coarse.len()).enumerate() {
        let matrices = [
            &operators.projections[part & 1],
            &operators.projections[part >> 1],
        ];
        for (from, to) in fine.chunks_exact(n).zip(coarse.chunks_exact_mut(n)) {
            tensor::<D, Q, T>(matrices, from, to, part > 0);
        }
    }
}

/// The fluxes of the sub-faces of some hanging faces, the first of which has slot `first`.
#[inline(always)]
fn slots<const D: usize, const Q: usize, const VISCOUS: bool, T: Real>(
    task: &Task<'_, D, T>,
    viscous: &[T],
    operators: &Operators<T, Q>,
    first: usize,
    out: &mut [T],
) {
    let all = const { sizes::trace(D, Q) };
    let mut coarse_there = vec![T::ZERO; all];
    let mut viscous_there = vec![T::ZERO; const { sizes::gradient_trace(D, Q) }];
    for (i, out) in out.chunks_exact_mut(sizes::slot(D, Q)).enumerate() {
        let (out, whole) = out.split_at_mut(sizes::parts(D) * all);
        let slot = first + i;
        let at = task.faces.slots[slot] as usize;
        let face = at % (2 * D);
        let coarse = &task.traces[at * all..][..all];
        let finer = task.faces.finer(slot as u32);
        for (part, out) in out.chunks_exact_mut(all).enumerate() {
            to_sub_face::<D, Q, T>(operators, part, coarse, &mut coarse_there);
            let beyond = finer[part] as usize * 2 * D + (face ^ 1);
            let fine = &task.traces[beyond * all..][..all];
            let (low, high) = super::low_first(face, &coarse_there, fine);
            super::rusanov::<D, Q, T>(task.gamma, face / 2, low, high, out);
            if VISCOUS {
                let above = if face % 2 == 1 {
                    finer[part]
                } else {
                    (at / (2 * D)) as u32
                };
                let mut flux = viscous::at_lower::<D, Q, T>(viscous, above, face / 2);
                if face.is_multiple_of(2) {
                    to_sub_face::<D, Q, T>(operators, part, flux, &mut viscous_there);
                    flux = &viscous_there;
                }
                viscous::take::<D, T>(const { sizes::face(D, Q) }, flux, out);
            }
        }
        gather::<D, Q, T>(operators, out, whole);
    }
}

/// The fluxes of all hanging faces: by slot, sub-face (and then the whole face), unknown and point.
pub(super) fn mortars<const D: usize, const Q: usize, T: Real>(
    task: &Task<'_, D, T>,
    viscous: &[T],
    out: &mut [T],
) {
    let operators = Operators::<T, Q>::of(task.basis);
    let one = sizes::slot(D, Q);
    for_chunks(
        out,
        one,
        #[inline(always)]
        |first, out| match task.viscosity {
            Some(_) => slots::<D, Q, true, T>(task, viscous, &operators, first, out),
            None => slots::<D, Q, false, T>(task, viscous, &operators, first, out),
        },
    );
}

/// The `all` numbers of a hanging face as its coarse side has them.
#[inline(always)]
pub(super) fn of_slot<const D: usize, T: Real>(mortars: &[T], all: usize, slot: u32) -> &[T] {
    let one = const { sizes::parts(D) + 1 } * all;
    &mortars[slot as usize * one + one - all..][..all]
}

/// The `all` numbers of a sub-face that a fine leaf has beyond its face: those in the coarse leaf's slot.
#[inline(always)]
pub(super) fn of_sub_face<'a, const D: usize, T: Real>(
    task: &Task<'_, D, T>,
    mortars: &'a [T],
    all: usize,
    face: usize,
    coarse: u32,
    sub_face: u32,
) -> &'a [T] {
    let Face::Finer(slot) = task.faces.at(coarse, face ^ 1) else {
        unreachable!("a face with a coarser leaf beyond it should be hanging there");
    };
    let one = const { sizes::parts(D) + 1 } * all;
    &mortars[slot as usize * one + sub_face as usize * all..][..all]
}
