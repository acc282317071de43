//! Vorticity and Q of a velocity gradient `a[i][j]` = ∂u_i / ∂x_j.

/// The curl; in 2D only the last component is not zero.
pub fn vorticity<const D: usize>(a: &[[f64; D]; D]) -> [f64; 3] {
    let d = |i: usize, j: usize| if i < D && j < D { a[i][j] } else { 0.0 };
    [d(2, 1) - d(1, 2), d(0, 2) - d(2, 0), d(1, 0) - d(0, 1)]
}

/// Q = (|Ω|² - |S|²) / 2 of the antisymmetric and symmetric parts (Hunt, Wray & Moin 1988), which
/// is -1/2 of the trace of the square: positive where rotation outweighs strain.
pub fn q_criterion<const D: usize>(a: &[[f64; D]; D]) -> f64 {
    let mut trace = 0.0;
    for i in 0..D {
        for j in 0..D {
            trace += a[i][j] * a[j][i];
        }
    }
    -0.5 * trace
}
