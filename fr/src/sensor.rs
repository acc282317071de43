//! Where a mesh should be finer or coarser: a wish for each element.

use crate::{
    EulerFlow, FrError,
    basis::Basis,
    kernels::{Kernels, sizes},
};
use rayon::prelude::*;

/// What elements are refined and coarsened by.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Sensor {
    /// The decay of modes (Persson & Peraire 2006; Naddei et al. 2019; W24, eq. 15): for each axis i, η is the L2 norm of
    /// the highest modes of φ = ρ v_i + `momentum` over that of φ, and η_max the largest η of all elements.
    Modal {
        /// α: elements are refined where an η is above α η_max.
        refine_above: f64,
        /// β: elements are coarsened where all η are below β η_max.
        coarsen_below: f64,
        /// The momentum ρ_∞ U_∞ that is added, so that φ is not zero in a fluid at rest.
        momentum: f64,
        /// Where η_max is not above this, η counts as zero: what rounding leaves of a smooth flow is no reason to refine.
        floor: f64,
    },
    /// The distance to a line along z that moves, in a periodic box to the nearest of its copies (W24, §5.2): elements
    /// are refined where more of their points are within the inner distance than beyond the outer one, and coarsened
    /// where fewer are. Elements longer than the inner distance are refined where any part of them is within it, as all
    /// their points may miss it.
    MovingLine {
        /// Where the line is at time 0, on x and y.
        from: [f64; 2],
        /// Its velocity.
        velocity: [f64; 2],
        /// The inner distance.
        inner: f64,
        /// The outer distance.
        outer: f64,
    },
    /// No wish but that for coarse elements: levels by place and at bodies decide alone.
    Places,
}

impl Sensor {
    /// # Errors
    /// Where a number makes no sense.
    pub(crate) fn validate(&self) -> Result<(), FrError> {
        let is_known = |values: &[f64]| values.iter().all(|x| x.is_finite());
        let is_right = match *self {
            Self::Modal {
                refine_above,
                coarsen_below,
                momentum,
                floor,
            } => {
                is_known(&[momentum, floor])
                    && floor >= 0.0
                    && coarsen_below >= 0.0
                    && coarsen_below < refine_above
                    && refine_above < 1.0
            }
            Self::Places => true,
            Self::MovingLine {
                from,
                velocity,
                inner,
                outer,
            } => {
                is_known(&[from, velocity].concat())
                    && 0.0 < inner
                    && inner <= outer
                    && outer.is_finite()
            }
        };
        if !is_right {
            return Err(FrError::Sensor {
                sensor: self.clone(),
            });
        }
        Ok(())
    }
}

impl<const D: usize, T: Kernels<D>> EulerFlow<D, T> {
    /// By element and axis i, the L2 norm of the highest modes of φ = ρ v_i + `momentum` over that of φ: a number in 0..=1
    /// (W24, eq. 15). φ^(p-1) is φ without the modes that are of degree p on any axis.
    pub fn decays(&self, momentum: f64) -> Vec<[f64; D]> {
        (T::host_functions().decays)(self, momentum)
    }

    pub(crate) fn decays_here(&self, momentum: f64) -> Vec<[f64; D]> {
        let modes = Modes::<D>::new(self.basis());
        let nodes = self.nodes();
        let of_element = |u: &[T]| {
            std::array::from_fn(|i| {
                let own = &u[(1 + i) * nodes..][..nodes];
                let whole: Vec<f64> = own.iter().map(|m| m.wide() + momentum).collect();
                let mut low = whole.clone();
                for axis in 0..D as u32 {
                    modes.remove(axis, &mut low);
                }
                let high: Vec<f64> = whole.iter().zip(&low).map(|(a, b)| a - b).collect();
                match modes.norm(&high) {
                    0.0 => 0.0,
                    high => high / modes.norm(&whole),
                }
            })
        };
        let one = self.unknowns().len() / self.leaves().len();
        self.unknowns().par_chunks(one).map(of_element).collect()
    }
}

/// The Legendre polynomial of the highest degree, and the weights of the points of an element.
pub(crate) struct Modes<const D: usize> {
    /// Its values at the points of an axis.
    values: Vec<f64>,
    /// What takes values there to its coefficient.
    coefficient: Vec<f64>,
    weights: Vec<f64>,
}

impl<const D: usize> Modes<D> {
    pub(crate) fn new(basis: &Basis) -> Self {
        Self::of(basis, basis.order())
    }

    /// The mode of a degree.
    pub(crate) fn of(basis: &Basis, degree: usize) -> Self {
        let (values, q) = (basis.mode(degree), basis.points.len());
        let half = degree as f64 + 0.5;
        let weighted = values.iter().zip(&basis.weights);
        let weight = |node: usize| {
            let along = |a: u32| basis.weights[node / q.pow(a) % q];
            (0..D as u32).map(along).product()
        };
        Self {
            coefficient: weighted.map(|(v, w)| half * v * w).collect(),
            values,
            weights: (0..sizes::nodes(D, q)).map(weight).collect(),
        }
    }

    /// All numbers, as kernels have them.
    #[cfg(feature = "cuda")]
    pub(crate) fn numbers(self) -> Vec<f64> {
        [self.values, self.coefficient, self.weights].concat()
    }

    /// The square of the norm of what has this mode on an axis.
    pub(crate) fn part(&self, axis: u32, values: &[f64]) -> f64 {
        let mut rest = values.to_vec();
        self.remove(axis, &mut rest);
        rest.iter_mut().zip(values).for_each(|(r, v)| *r = v - *r);
        self.norm(&rest).powi(2)
    }

    /// Takes the mode away on an axis.
    fn remove(&self, axis: u32, values: &mut [f64]) {
        let q = self.values.len();
        let stride = q.pow(axis);
        for line in values.chunks_exact_mut(q * stride) {
            for k in 0..stride {
                let own = line[k..].iter().step_by(stride).zip(&self.coefficient);
                let coefficient: f64 = own.map(|(v, c)| v * c).sum();
                let own = line[k..].iter_mut().step_by(stride).zip(&self.values);
                own.for_each(|(v, mode)| *v -= coefficient * mode);
            }
        }
    }

    /// The L2 norm: squares are summed up along the last axis, and then these sums.
    pub(crate) fn norm(&self, values: &[f64]) -> f64 {
        let face = values.len() / self.values.len();
        let column = |point: usize| {
            let at = (point..values.len()).step_by(face);
            at.map(|i| self.weights[i] * values[i] * values[i])
                .sum::<f64>()
        };
        (0..face).map(column).sum::<f64>().sqrt()
    }
}
