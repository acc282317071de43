//! One symmetric V-cycle: from the finest level down to the coarsest grid and back.
//!
//! A level's grid is the mesh of all blocks up to this level. Smoothed are its own cells and the coarser leaves' cells
//! that touch them; what lies further is zero on the way down. The residual of those leaves and their neighbours is
//! made anew before the next coarser level begins.

use crate::EllipticError;
use crate::cg::Arrays;
use crate::kernels::EllipticKernels;
use crate::operator::EllipticOperator;

/// Chebyshev iteration on the upper three quarters of the spectrum of the operator over its diagonal, which ends at 2
/// (Gershgorin): Saad, *Iterative Methods for Sparse Linear Systems*, 2nd ed., algorithm 12.1.
#[derive(Debug)]
pub(crate) struct Chebyshev;

impl Chebyshev {
    const DEGREE: usize = 3;
    const HIGH: f64 = 2.0;
    const LOW: f64 = 0.5;

    /// For each step: what the former correction is multiplied by, and the residual over the diagonal.
    pub(crate) fn steps() -> [[f64; 2]; Self::DEGREE] {
        let (mid, half) = (
            0.5 * (Self::HIGH + Self::LOW),
            0.5 * (Self::HIGH - Self::LOW),
        );
        let sigma = mid / half;
        let mut rho = 1.0 / sigma;
        std::array::from_fn(|step| {
            if step == 0 {
                return [0.0, 1.0 / mid];
            }
            let next = 1.0 / (2.0 * sigma - rho);
            let factors = [next * rho, 2.0 * next / half];
            rho = next;
            factors
        })
    }
}

impl<const D: usize, B: EllipticKernels<D>> EllipticOperator<D, B> {
    /// One cycle for the residual from zero: `z` is the correction, on leaves.
    pub(crate) fn cycle(&self, w: &mut Arrays<B>) -> Result<(), EllipticError> {
        let backend = &self.backend;
        let finest = self.blocks.finest();
        backend.begin_cycle(self, w)?;
        for level in (1..=finest).rev() {
            backend.save_layers(self, level, w)?;
            backend.smooth(self, level, w, true)?;
            backend.go_down(self, level, w)?;
        }
        backend.smooth(self, 0, w, true)?;
        backend.correct_root(self, w)?;
        backend.smooth(self, 0, w, false)?;
        for level in 1..=finest {
            backend.go_up(self, level, w)?;
            backend.smooth(self, level, w, false)?;
        }
        Ok(())
    }
}
