//! The spectral radius of a linearized flow, matrix-free: how fast the fastest small disturbance of a steady state
//! grows.

use cutlink_solver::LatticeFlow;

/// Size of disturbances, relative to the norm of the vectors that are propagated: large enough for f64, small enough to
/// be linear.
const SIZE: f64 = 1e-6;

/// A steady flow whose disturbances are followed.
struct Linearized<'a, const D: usize> {
    flow: &'a mut dyn LatticeFlow<D>,
    /// Root steps of one application.
    stride: u64,
    /// The state, and the state a stride later.
    state: Vec<u8>,
    later: Vec<f64>,
    /// Where the numbers of the state are.
    runs: Vec<std::ops::Range<usize>>,
}

fn saved<const D: usize>(flow: &dyn LatticeFlow<D>) -> Vec<u8> {
    let mut state = Vec::new();
    flow.save(&mut state).expect("a state");
    state
}

impl<'a, const D: usize> Linearized<'a, D> {
    fn new(flow: &'a mut dyn LatticeFlow<D>, stride: u64) -> Self {
        let state = saved(flow);
        // Eight bytes of steps; then arrays of f64 behind their lengths.
        let mut runs = Vec::new();
        let mut at = 8;
        while at < state.len() {
            let length = state[at..at + 8].try_into().expect("eight bytes");
            let end = at + 8 + 8 * u64::from_le_bytes(length) as usize;
            runs.push(at + 8..end);
            at = end;
        }
        let mut this = Self {
            flow,
            stride,
            state,
            later: Vec::new(),
            runs,
        };
        this.flow.advance(stride).expect("steps");
        this.later = this.numbers(&saved(this.flow));
        this
    }

    fn numbers(&self, state: &[u8]) -> Vec<f64> {
        let runs = self.runs.iter();
        runs.flat_map(|run| {
            state[run.clone()]
                .chunks_exact(8)
                .map(|eight| f64::from_le_bytes(eight.try_into().expect("eight bytes")))
        })
        .collect()
    }

    /// What becomes of a disturbance.
    fn apply(&mut self, disturbance: &[f64]) -> Vec<f64> {
        let mut state = self.state.clone();
        let mut values = disturbance.iter();
        for run in &self.runs {
            for (eight, value) in state[run.clone()].chunks_exact_mut(8).zip(&mut values) {
                let number = f64::from_le_bytes((&*eight).try_into().expect("eight bytes"));
                eight.copy_from_slice(&(number + SIZE * value).to_le_bytes());
            }
        }
        self.flow.restore(&mut &state[..]).expect("a state");
        self.flow.advance(self.stride).expect("steps");
        let after = self.numbers(&saved(self.flow));
        let pairs = after.iter().zip(&self.later);
        pairs.map(|(a, b)| (a - b) / SIZE).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn normalized(mut v: Vec<f64>) -> Vec<f64> {
    let norm = dot(&v, &v).sqrt();
    v.iter_mut().for_each(|x| *x /= norm);
    v
}

/// Growth a root step of the fastest disturbance of a steady f64 flow, as it is now: the spectral radius of a
/// root step, less 1. A random disturbance is left to itself for `settle` applications of `stride` root steps, then
/// spans a Krylov space of so many dimensions (Arnoldi 1951), whose largest Ritz value is returned.
///
/// # Panics
/// Where the flow cannot be saved, restored or advanced.
pub fn growth<const D: usize>(
    flow: &mut dyn LatticeFlow<D>,
    stride: u64,
    settle: usize,
    dimensions: usize,
) -> f64 {
    let mut map = Linearized::new(flow, stride);
    let mut seed = 1u64;
    let noise = map.later.iter().map(|_| {
        // Knuth's linear congruence.
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    });
    let mut v = normalized(noise.collect());
    for _ in 0..settle {
        v = normalized(map.apply(&v));
    }
    let mut basis = vec![v];
    let mut hessenberg = vec![vec![0.0; dimensions]; dimensions];
    for column in 0..dimensions {
        let mut w = map.apply(&basis[column]);
        // Twice, for orthogonality to rounding.
        for _ in 0..2 {
            for (row, v) in basis.iter().enumerate() {
                let along = dot(&w, v);
                hessenberg[row][column] += along;
                w.iter_mut().zip(v).for_each(|(w, v)| *w -= along * v);
            }
        }
        let norm = dot(&w, &w).sqrt();
        if column + 1 == dimensions || norm < 1e-12 {
            break;
        }
        hessenberg[column + 1][column] = norm;
        w.iter_mut().for_each(|x| *x /= norm);
        basis.push(w);
    }
    let size = basis.len();
    hessenberg.truncate(size);
    hessenberg.iter_mut().for_each(|row| row.truncate(size));
    radius(hessenberg).powf(1.0 / stride as f64) - 1.0
}

/// The spectral radius of a small matrix: the limit of |A^n|^(1/n) (Gelfand 1941), by repeated squaring.
fn radius(mut a: Vec<Vec<f64>>) -> f64 {
    let size = a.len();
    let mut log = 0.0;
    for doubling in 0..40 {
        let norm = a.iter().map(|row| dot(row, row)).sum::<f64>().sqrt();
        if norm == 0.0 {
            return 0.0;
        }
        // |A|^(1 / 2^doubling) so far.
        log += norm.ln() / f64::from(doubling).exp2();
        let scaled: Vec<Vec<f64>> = a
            .iter()
            .map(|row| row.iter().map(|x| x / norm).collect())
            .collect();
        a = (0..size)
            .map(|i| {
                (0..size)
                    .map(|j| (0..size).map(|k| scaled[i][k] * scaled[k][j]).sum())
                    .collect()
            })
            .collect();
    }
    log.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_radius_of_known_matrices() {
        let near = |a: Vec<Vec<f64>>, want: f64| {
            let got = radius(a);
            assert!((got - want).abs() < 1e-9, "{got} {want}");
        };
        near(vec![vec![2.0]], 2.0);
        // A rotation, a shear with a double eigenvalue, and a companion matrix of (x - 3)(x - 2)(x + 1).
        near(vec![vec![0.6, -0.8], vec![0.8, 0.6]], 1.0);
        near(vec![vec![0.5, 1e3], vec![0.0, 0.5]], 0.5);
        near(
            vec![
                vec![4.0, -1.0, -6.0],
                vec![1.0, 0.0, 0.0],
                vec![0.0, 1.0, 0.0],
            ],
            3.0,
        );
        let none = radius(vec![vec![0.5, 0.0], vec![f64::NAN, 0.5]]);
        assert!(none.is_nan(), "{none}");
    }
}
