//! The matrices of a basis in the precision of the flow, with lengths that are known to the compiler.

use crate::Basis;
use cutlink_device::Real;

/// A matrix by rows.
pub type Matrix<T, const Q: usize> = [[T; Q]; Q];

/// See [`Basis`]; `Q` points.
#[derive(Debug, Clone)]
pub struct Operators<T, const Q: usize> {
    /// [`Basis::divergence`].
    pub divergence: Matrix<T, Q>,
    /// Its transpose.
    pub columns: Matrix<T, Q>,
    /// The derivatives of the left and the right correction function.
    pub corrections: [[T; Q]; 2],
    /// The Lagrange polynomials at -1 and at 1.
    pub edges: [[T; Q]; 2],
    /// [`Basis::halves`].
    pub halves: [Matrix<T, Q>; 2],
    /// [`Basis::projections`].
    pub projections: [Matrix<T, Q>; 2],
}

impl<T: Real, const Q: usize> Operators<T, Q> {
    /// The operators of a basis, rounded.
    ///
    /// # Panics
    /// Where the basis has not `Q` points.
    pub fn of(basis: &Basis) -> Self {
        assert_eq!(basis.points.len(), Q, "the basis should have {Q} points");
        let matrix = |from: &[f64]| -> Matrix<T, Q> {
            std::array::from_fn(|i| std::array::from_fn(|j| T::of(from[i * Q + j])))
        };
        let vector = |value: &dyn Fn(usize) -> f64| std::array::from_fn(|i| T::of(value(i)));
        let divergence = matrix(&basis.divergence());
        Self {
            columns: std::array::from_fn(|j| std::array::from_fn(|i| divergence[i][j])),
            divergence,
            corrections: [
                vector(&|i| basis.correction[i]),
                vector(&|i| basis.upper_correction(i)),
            ],
            edges: [vector(&|j| basis.edge[j]), vector(&|j| basis.upper_edge(j))],
            halves: [0, 1].map(|half: usize| matrix(&basis.halves[half])),
            projections: [0, 1].map(|half: usize| matrix(&basis.projections[half])),
        }
    }
}

/// The numbers of the matrices by rows, in the order that CUDA kernels have them in: divergence, corrections (left, right),
/// edges (lower, upper), halves, projections.
pub(crate) fn numbers<T: Real>(basis: &Basis) -> Vec<T> {
    let n = basis.points.len();
    let corrections = basis.correction.iter().copied();
    let corrections = corrections.chain((0..n).map(|i| basis.upper_correction(i)));
    let edges = basis.edge.iter().copied();
    let edges = edges.chain((0..n).map(|j| basis.upper_edge(j)));
    let all = basis
        .divergence()
        .into_iter()
        .chain(corrections)
        .chain(edges);
    let all = all.chain(basis.halves.concat());
    all.chain(basis.projections.concat()).map(T::of).collect()
}
