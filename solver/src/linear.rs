//! Small linear systems.

/// Solves the system of the first `count` rows by Gaussian elimination with pivots; `None` for a matrix that is nearly singular.
pub(crate) fn solve<const N: usize, const M: usize>(
    mut matrix: [[f64; N]; N],
    mut right: [[f64; M]; N],
    count: usize,
) -> Option<[[f64; M]; N]> {
    let size = (0..count).map(|i| matrix[i][i]).fold(0.0, f64::max);
    for i in 0..count {
        let pivot =
            (i..count).max_by(|&a, &b| matrix[a][i].abs().total_cmp(&matrix[b][i].abs()))?;
        matrix.swap(i, pivot);
        right.swap(i, pivot);
        if matrix[i][i].abs() <= 1e-10 * size {
            return None;
        }
        for below in i + 1..count {
            let factor = matrix[below][i] / matrix[i][i];
            for j in i..count {
                matrix[below][j] -= factor * matrix[i][j];
            }
            for k in 0..M {
                right[below][k] -= factor * right[i][k];
            }
        }
    }
    for i in (0..count).rev() {
        for k in 0..M {
            let known: f64 = (i + 1..count).map(|j| matrix[i][j] * right[j][k]).sum();
            right[i][k] = (right[i][k] - known) / matrix[i][i];
        }
    }
    Some(right)
}
