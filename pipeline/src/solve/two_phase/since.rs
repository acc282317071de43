//! What steps of a flow did.

use cutlink_flow::Check;
use cutlink_vof::StepDone;

/// What happened since the last line of the table, or the start.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Since {
    pub(super) substeps: u64,
    pub(super) iterations: u64,
    pub(super) courant: f64,
    pub(super) divergence: f64,
    pub(super) curvatures: [usize; 2],
}

impl Since {
    pub(super) fn add(&mut self, done: &StepDone) {
        self.substeps += 1;
        self.iterations += done.pressure_iterations as u64;
        self.courant = self.courant.max(done.courant);
        self.divergence = self.divergence.max(done.divergence);
        self.curvatures = done.curvatures;
    }

    /// The checks of a run's steps.
    pub(super) fn judge(&self) -> Vec<Check> {
        vec![
            Check {
                name: "Courant",
                value: self.courant,
                bars: [0.5, 0.6],
                what: "largest Courant number of a step".into(),
                remedy: Some("a smaller [numerics] cfl".into()),
            },
            Check {
                name: "divergence",
                value: self.divergence,
                bars: [1e-4, 1e-2],
                what: "largest divergence of a cell times the step".into(),
                remedy: Some("a smaller [numerics] tolerance".into()),
            },
        ]
    }
}
