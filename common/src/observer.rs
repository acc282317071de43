//! Communication with the caller during a run: notes, a summary, progress, and a request to stop.

use crate::Error;
use cutlink_voxelizer::Stage;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A running flow, between two root steps.
pub trait FlowLook {
    /// Root steps done.
    fn steps(&self) -> u64;

    /// Simulated time, in seconds.
    fn time(&self) -> f64;

    /// Drag, lift and side force coefficients of the body at the last sample; `None` without one.
    fn coefficients(&self) -> Option<[f64; 3]>;

    /// Pressure relative to the reference density in pascals, then the D components of velocity in metres per second,
    /// at each point (D coordinates in metres); NaN outside the box and in solid cells. Interpolates as probes do.
    /// Cost: a snapshot of the flow.
    ///
    /// # Errors
    /// A number of coordinates that is no multiple of D, a device error.
    fn sample(&self, points: &[f64]) -> Result<Vec<f64>, Error>;
}

/// Receives the reports of a long computation. By default every method ignores its report, so `&mut ()` observes
/// nothing.
///
/// All calls come from the thread that runs the computation.
pub trait Observer: Send {
    /// A note for the user: something unusual about the input, the mesh or the flow.
    fn note(&mut self, _note: &str) {}

    /// Whether [`Observer::summary`] is used. Without it, nothing is measured for the summary alone.
    fn wants_summary(&self) -> bool {
        false
    }

    /// Whether the summary should have all rows: faces, and the checks of the verdict that are ok.
    fn wants_details(&self) -> bool {
        false
    }

    /// A part of the summary, in full lines.
    ///
    /// # Errors
    /// The observer cannot show it; the computation ends with this error.
    fn summary(&mut self, _text: &str) -> Result<(), Error> {
        Ok(())
    }

    /// A computation of `steps` steps begins.
    fn begin(&mut self, _steps: u64) {}

    /// `steps` more steps are done; `status` describes the current work or the progress.
    fn advance(&mut self, _steps: u64, _status: &str) {}

    /// A flow was checked and its histories are written; called before [`Observer::advance`]. A [`StopToken`] that is
    /// set here ends the run at this step.
    ///
    /// # Errors
    /// The run ends with this error, without a checkpoint.
    fn look(&mut self, _flow: &dyn FlowLook) -> Result<(), Error> {
        Ok(())
    }

    /// The computation has ended, successfully or not.
    fn end(&mut self) {}

    /// A stage of the embedding of a level took `seconds`.
    fn stage(&mut self, _stage: Stage, _level: usize, _seconds: f64) {}
}

impl Observer for () {}

/// Asks a run to stop, from another thread or a signal handler. Clones share one request.
///
/// A run checks it at least every 64 root steps, writes a checkpoint and ends with
/// [`ErrorKind::Stopped`](crate::ErrorKind::Stopped).
#[derive(Debug, Clone, Default)]
pub struct StopToken(Arc<Stop>);

#[derive(Debug, Default)]
struct Stop {
    requested: AtomicBool,
    running: AtomicBool,
}

/// Marks a run as one that checks the token, until dropped.
#[derive(Debug)]
pub struct Running<'a>(&'a StopToken);

impl StopToken {
    /// A token without a request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests the stop. True if this is the first request and a run is in progress, which will stop. A run that
    /// begins after the request stops at its first check.
    pub fn stop(&self) -> bool {
        let first = !self.0.requested.swap(true, Relaxed);
        first && self.0.running.load(Relaxed)
    }

    /// Whether a stop was requested.
    pub fn is_stopped(&self) -> bool {
        self.0.requested.load(Relaxed)
    }

    /// Marks the beginning of a run.
    pub fn running(&self) -> Running<'_> {
        self.0.running.store(true, Relaxed);
        Running(self)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.0.running.store(false, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_answered_once_and_only_by_a_run() {
        let early = StopToken::new();
        assert!(!early.stop(), "nothing runs that could answer");
        assert!(early.is_stopped(), "a later run sees it");
        let token = StopToken::new();
        let running = token.running();
        assert!(!token.is_stopped());
        assert!(token.clone().stop(), "the run answers");
        assert!(token.is_stopped(), "clones share the request");
        assert!(!token.stop(), "the second request is not answered");
        drop(running);
        let ended = StopToken::new();
        drop(ended.running());
        assert!(!ended.stop(), "the run has ended");
    }
}
