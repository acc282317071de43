//! A step of a run: as many steps of the flow as that needs.

use crate::{InterfaceLook, StepDone, Turning, TwoPhaseError, TwoPhaseFlow};

/// The shortest step over the time to advance by: a flow that needs shorter ones has diverged.
const SHORTEST: f64 = 1e-6;

/// Most trials of a step's length.
const MOST_PARTS: usize = 8;

/// The weight of a step, m/s², and how the box turns in it.
pub type BoxWeight<const D: usize> = ([f64; D], Option<Turning<D>>);

/// What happened in an advance.
#[derive(Debug, Clone)]
pub enum Advanced {
    /// The interface was looked at, and the mesh adapted where it had to be.
    Look(InterfaceLook),
    /// The flow made a step.
    Step(StepDone),
    /// A step of the run has ended.
    Reached,
}

impl<const D: usize> TwoPhaseFlow<D> {
    /// Advances over steps of the run that are `length` long and end at the times `ends`, s. The mesh is adapted where that is
    /// due. A state on a GPU is copied to the host once, after the last step. `weight(time, dt)` returns the weight of a step, or
    /// `None` to keep the present one; `each` is called with what happened.
    ///
    /// # Errors
    /// Those of a step, of a look and of `weight`, and [`TooFast`](TwoPhaseError::TooFast).
    pub fn advance<E: From<TwoPhaseError>>(
        &mut self,
        ends: impl IntoIterator<Item = f64>,
        length: f64,
        mut weight: impl FnMut(f64, f64) -> Result<Option<BoxWeight<D>>, E>,
        mut each: impl FnMut(Advanced),
    ) -> Result<(), E> {
        let went = ends.into_iter().try_for_each(|end| {
            self.go(end, length, &mut weight, &mut each)?;
            each(Advanced::Reached);
            Ok::<(), E>(())
        });
        self.end(went)
    }

    fn go<E: From<TwoPhaseError>>(
        &mut self,
        end: f64,
        length: f64,
        weight: &mut impl FnMut(f64, f64) -> Result<Option<BoxWeight<D>>, E>,
        each: &mut impl FnMut(Advanced),
    ) -> Result<(), E> {
        loop {
            let left = end - self.time();
            if left <= 1e-9 * length {
                return Ok(());
            }
            if let Some(look) = self.look_if_due()? {
                each(Advanced::Look(look));
            }
            self.weigh(left, weight)?;
            let allowed = self.allowed_step();
            if allowed < SHORTEST * length {
                return Err(TwoPhaseError::TooFast { allowed }.into());
            }
            // Equal parts, so that no short one is left at the end.
            let parts = (left / allowed - 1e-9).ceil().max(1.0);
            let mut part = if parts.is_finite() {
                left / parts
            } else {
                allowed
            };
            // A kick of the box is a force that grows as the step gets shorter; the limit by it only as the root of that.
            // It has to be in one step as a whole.
            for _ in 0..MOST_PARTS {
                self.weigh(part, weight)?;
                let allowed = self.allowed_step();
                if allowed >= (1.0 - 1e-9) * part {
                    break;
                }
                part = 0.99 * allowed * allowed / part;
            }
            each(Advanced::Step(self.substep(part)?));
        }
    }

    fn weigh<E: From<TwoPhaseError>>(
        &mut self,
        dt: f64,
        weight: &mut impl FnMut(f64, f64) -> Result<Option<BoxWeight<D>>, E>,
    ) -> Result<(), E> {
        if let Some((gravity, turning)) = weight(self.time(), dt)? {
            self.set_weight(gravity, turning)?;
        }
        Ok(())
    }
}
