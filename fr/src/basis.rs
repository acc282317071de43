//! The one-dimensional basis: Gauss points on [-1, 1], and the matrices of flux reconstruction on them.
//!
//! Tables are computed in f64 with + − × ÷ alone, so they are the same bits on every machine. Matrices are stored by
//! rows: entry (i, j) at `i * points + j` takes the value at point j to point i.

/// Newton steps to a root of a Legendre polynomial: the start is within 0.02 of it, convergence is quadratic.
const NEWTON_STEPS: usize = 8;

/// The highest order.
pub const MAX_ORDER: usize = 4;

/// Points and matrices of order p: polynomials of degree p on p + 1 Gauss points.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    /// Gauss points, ascending.
    pub points: Vec<f64>,
    /// Gauss weights; their sum is 2.
    pub weights: Vec<f64>,
    /// The derivative: (i, j) is l'_j at point i.
    pub derivative: Vec<f64>,
    /// The Lagrange polynomials at -1; those at 1 are the same in reverse.
    pub edge: Vec<f64>,
    /// The derivative of the left correction function at the points. That of the right one is the same in reverse with
    /// the other sign.
    pub correction: Vec<f64>,
    /// Interpolation from [-1, 1] to the points of its lower and its upper half.
    pub halves: [Vec<f64>; 2],
    /// The part of each half in the projection back to [-1, 1] (Kopriva 1996): the sum of both, applied to polynomials of
    /// degree p on the halves, is their L2 projection.
    pub projections: [Vec<f64>; 2],
}

impl Basis {
    /// The basis of an order.
    ///
    /// # Panics
    /// For an order that is not in 1..=[`MAX_ORDER`].
    pub fn new(order: usize) -> Self {
        assert!(
            (1..=MAX_ORDER).contains(&order),
            "the order should be 1 to {MAX_ORDER}, not {order}"
        );
        let (points, weights) = gauss(order + 1);
        let halves: [Vec<f64>; 2] = [-0.5, 0.5].map(|middle| {
            let at = points.iter().map(|x| 0.5 * x + middle);
            at.flat_map(|x| lagrange(&points, x)).collect()
        });
        let projections = [0, 1].map(|half: usize| projection(&halves[half], &weights));
        Self {
            derivative: derivative(&points),
            edge: lagrange(&points, -1.0),
            correction: points.iter().map(|&x| left_correction(order, x)).collect(),
            halves,
            projections,
            points,
            weights,
        }
    }

    /// The degree of its polynomials.
    pub fn order(&self) -> usize {
        self.points.len() - 1
    }

    /// The Legendre polynomial of a degree at the points.
    pub(crate) fn mode(&self, degree: usize) -> Vec<f64> {
        let value = |&x: &f64| legendre(degree, x).0;
        self.points.iter().map(value).collect()
    }

    /// The Lagrange polynomials at 1.
    pub(crate) fn upper_edge(&self, j: usize) -> f64 {
        self.edge[self.order() - j]
    }

    /// The derivative of the right correction function at a point.
    pub(crate) fn upper_correction(&self, i: usize) -> f64 {
        -self.correction[self.order() - i]
    }

    /// The matrix that takes a flux at the points to its derivative, less what the corrections take from its own values
    /// at the ends: `D - g'_L l(-1) - g'_R l(1)`. With `g'_L F_L + g'_R F_R` of the common fluxes it is the derivative of
    /// the corrected flux, and no trace of the flux is needed.
    pub fn divergence(&self) -> Vec<f64> {
        let n = self.points.len();
        let entry = |at: usize| {
            let (i, j) = (at / n, at % n);
            self.derivative[at]
                - self.correction[i] * self.edge[j]
                - self.upper_correction(i) * self.upper_edge(j)
        };
        (0..n * n).map(entry).collect()
    }
}

/// The Legendre polynomial of degree k at x, and its derivative (|x| < 1).
fn legendre(k: usize, x: f64) -> (f64, f64) {
    let (mut before, mut own) = (0.0, 1.0);
    for m in 0..k {
        let m = m as f64;
        (before, own) = (own, ((2.0 * m + 1.0) * x * own - m * before) / (m + 1.0));
    }
    (own, k as f64 * (before - x * own) / (1.0 - x * x))
}

/// The n Gauss points and their weights, symmetric to the last bit.
fn gauss(n: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut points, mut weights) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n.div_ceil(2) {
        // Near the root cos(π angle), which is about this polynomial.
        let angle = (i as f64 + 0.75) / (n as f64 + 0.5);
        let mut x = (1.0 - 2.0 * angle) * (1.0 + 2.2 * angle * (1.0 - angle));
        for _ in 0..NEWTON_STEPS {
            let (value, slope) = legendre(n, x);
            x -= value / slope;
        }
        if 2 * i + 1 == n {
            x = 0.0;
        }
        let (_, slope) = legendre(n, x);
        let weight = 2.0 / ((1.0 - x * x) * slope * slope);
        (points[i], points[n - 1 - i]) = (-x, x);
        (weights[i], weights[n - 1 - i]) = (weight, weight);
    }
    (points, weights)
}

/// The Lagrange polynomials of the points at x.
pub(crate) fn lagrange(points: &[f64], x: f64) -> Vec<f64> {
    let value = |j: usize| {
        let others = (0..points.len()).filter(|&m| m != j);
        others.fold(1.0, |product, m| {
            product * ((x - points[m]) / (points[j] - points[m]))
        })
    };
    (0..points.len()).map(value).collect()
}

/// (i, j): the derivative of Lagrange polynomial j at point i. Rows add up to zero, as far as rounding lets them.
fn derivative(points: &[f64]) -> Vec<f64> {
    let n = points.len();
    // The denominator of Lagrange polynomial j.
    let scale = |j: usize| {
        let others = (0..n).filter(|&m| m != j);
        others.fold(1.0, |product, m| product * (points[j] - points[m]))
    };
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        let mut sum = 0.0;
        for j in (0..n).filter(|&j| j != i) {
            let entry = scale(i) / (scale(j) * (points[i] - points[j]));
            matrix[i * n + j] = entry;
            sum += entry;
        }
        matrix[i * n + i] = -sum;
    }
    matrix
}

/// The derivative at x of Huynh's left correction function of order p that recovers the discontinuous Galerkin method:
/// the right Radau polynomial of degree k = p + 1, (-1)^k (P_k - P_(k-1)) / 2, which is 1 at -1 and 0 at 1.
fn left_correction(order: usize, x: f64) -> f64 {
    let sign = if order % 2 == 1 { 0.5 } else { -0.5 };
    sign * (legendre(order + 1, x).1 - legendre(order, x).1)
}

/// ½ M⁻¹ Iᵀ M of the interpolation I to a half, with the weights as mass matrix M.
fn projection(half: &[f64], weights: &[f64]) -> Vec<f64> {
    let n = weights.len();
    let entry = |at: usize| {
        let (i, j) = (at / n, at % n);
        0.5 * weights[j] * half[j * n + i] / weights[i]
    };
    (0..n * n).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: f64 = 4e-15;

    fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
        let rows = matrix.chunks_exact(vector.len());
        rows.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
            .collect()
    }

    fn assert_close(found: &[f64], expected: &[f64], what: &str) {
        assert_eq!(found.len(), expected.len(), "{what}");
        for (a, b) in found.iter().zip(expected) {
            assert!(
                (a - b).abs() < TINY * 16.0,
                "{what}: {found:?}, {expected:?}"
            );
        }
    }

    /// Each order, with the values of each monomial x^m that it holds.
    fn monomials(check: impl Fn(&Basis, usize, &[f64])) {
        for order in 1..=MAX_ORDER {
            let basis = Basis::new(order);
            for m in 0..=order {
                let values: Vec<f64> = basis.points.iter().map(|x| x.powi(m as i32)).collect();
                check(&basis, m, &values);
            }
        }
    }

    #[test]
    fn points_and_weights_are_the_closed_forms() {
        let root = (1.2f64).sqrt();
        let (near, far) = ((3.0 - 2.0 * root) / 7.0, (3.0 + 2.0 * root) / 7.0);
        let ten = (10.0f64 / 7.0).sqrt();
        let root30 = 30.0f64.sqrt();
        let root70 = 70.0f64.sqrt();
        let closed: [(Vec<f64>, Vec<f64>); 4] = [
            (vec![(1.0f64 / 3.0).sqrt()], vec![1.0]),
            (vec![0.0, 0.6f64.sqrt()], vec![8.0 / 9.0, 5.0 / 9.0]),
            (
                vec![near.sqrt(), far.sqrt()],
                vec![(18.0 + root30) / 36.0, (18.0 - root30) / 36.0],
            ),
            (
                vec![
                    0.0,
                    (5.0 - 2.0 * ten).sqrt() / 3.0,
                    (5.0 + 2.0 * ten).sqrt() / 3.0,
                ],
                vec![
                    128.0 / 225.0,
                    (322.0 + 13.0 * root70) / 900.0,
                    (322.0 - 13.0 * root70) / 900.0,
                ],
            ),
        ];
        for (order, (points, weights)) in (1..).zip(closed) {
            let basis = Basis::new(order);
            let upper = basis.points.len() / 2;
            assert_close(&basis.points[upper..], &points, "points");
            assert_close(&basis.weights[upper..], &weights, "weights");
            let mirrored: Vec<f64> = basis.points.iter().rev().map(|x| -x).collect();
            assert_eq!(basis.points, mirrored, "points are symmetric");
        }
    }

    #[test]
    fn quadrature_is_exact_to_degree_2p_plus_1() {
        for order in 1..=MAX_ORDER {
            let basis = Basis::new(order);
            let integral = |m: i32| -> f64 {
                let terms = basis.points.iter().zip(&basis.weights);
                terms.map(|(x, w)| w * x.powi(m)).sum()
            };
            for m in 0..=2 * order as i32 + 1 {
                let exact = f64::from((m + 1) % 2 * 2) / f64::from(m + 1);
                assert!((integral(m) - exact).abs() < TINY, "order {order}, x^{m}");
            }
            let m = 2 * order as i32 + 2;
            let exact = 2.0 / f64::from(m + 1);
            assert!((integral(m) - exact).abs() > 1e-4, "and not beyond");
        }
    }

    #[test]
    fn derivative_edges_and_halves_are_exact_on_polynomials() {
        monomials(|basis, m, values| {
            let power = |x: f64| x.powi(m as i32);
            let slope = |x: &f64| m as f64 * x.powi(m.saturating_sub(1) as i32);
            let slopes: Vec<f64> = basis.points.iter().map(slope).collect();
            assert_close(&times(&basis.derivative, values), &slopes, "derivative");
            assert_close(&times(&basis.edge, values), &[power(-1.0)], "edge");
            for (half, middle) in basis.halves.iter().zip([-0.5, 0.5]) {
                let at = basis.points.iter().map(|x| power(middle + 0.5 * x));
                assert_close(&times(half, values), &at.collect::<Vec<_>>(), "half");
            }
        });
    }

    #[test]
    fn projection_of_a_restriction_is_the_identity() {
        monomials(|basis, _, values| {
            let part = |half: usize| {
                let there = times(&basis.halves[half], values);
                times(&basis.projections[half], &there)
            };
            let (lower, upper) = (part(0), part(1));
            let sum: Vec<f64> = lower.iter().zip(&upper).map(|(a, b)| a + b).collect();
            assert_close(&sum, values, "projection of a restriction");
        });
    }

    #[test]
    fn projection_keeps_integrals_of_what_no_polynomial_is() {
        for order in 1..=MAX_ORDER {
            let basis = Basis::new(order);
            for half in 0..2 {
                for j in 0..=order {
                    let mut there = vec![0.0; order + 1];
                    there[j] = 1.0;
                    let back = times(&basis.projections[half], &there);
                    let integral = back.iter().zip(&basis.weights).map(|(v, w)| v * w);
                    let integral: f64 = integral.sum();
                    assert!((integral - 0.5 * basis.weights[j]).abs() < TINY);
                }
            }
        }
    }

    /// With Radau's functions, corrections are the lifts of the discontinuous Galerkin method: g'_L = -l(-1) / w.
    #[test]
    fn corrections_are_lifts_of_traces() {
        for order in 1..=MAX_ORDER {
            let basis = Basis::new(order);
            let lifts = basis.edge.iter().zip(&basis.weights).map(|(l, w)| -l / w);
            assert_close(&basis.correction, &lifts.collect::<Vec<_>>(), "lifts");
        }
    }

    /// With common fluxes that are those of the polynomial itself, the corrected flux is the polynomial.
    #[test]
    fn the_corrected_derivative_is_exact_on_polynomials() {
        monomials(|basis, m, values| {
            let (low, high) = ((-1f64).powi(m as i32), 1.0);
            let found: Vec<f64> = times(&basis.divergence(), values)
                .into_iter()
                .enumerate()
                .map(|(i, own)| own + basis.correction[i] * low + basis.upper_correction(i) * high)
                .collect();
            let slope = |x: &f64| m as f64 * x.powi(m.saturating_sub(1) as i32);
            let slopes: Vec<f64> = basis.points.iter().map(slope).collect();
            assert_close(&found, &slopes, "corrected derivative");
        });
    }

    #[test]
    #[should_panic(expected = "the order should be 1 to 4")]
    fn other_orders_are_refused() {
        Basis::new(5);
    }
}
