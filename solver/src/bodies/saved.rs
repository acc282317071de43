//! Bodies as they are saved with a flow: where they are, how they move, and the poses of the tables.

use super::{BodyState, Followed, Movement, free::Momentum};
use crate::{SolverError, run::saved::read_word};
use cutlink_mesher::rigid::{Pose, Quaternion};
use std::io;

/// Numbers of a body.
fn numbers<const D: usize>(
    state: &BodyState<D>,
    momentum: &Momentum,
    placed: &Pose<D>,
) -> Vec<f64> {
    let mut all = state.pose.center.to_vec();
    all.extend(state.pose.rotation.0);
    all.extend(state.velocity);
    all.extend(state.spin);
    all.extend(momentum.spin);
    all.push(f64::from(u8::from(momentum.before.is_some())));
    all.extend(momentum.before.unwrap_or_default());
    all.extend(placed.center);
    all.extend(placed.rotation.0);
    all
}

fn take<const N: usize>(from: &mut dyn io::Read) -> Result<[f64; N], SolverError> {
    let mut all = [0.0; N];
    for number in &mut all {
        *number = f64::from_bits(read_word(from)?);
        if !number.is_finite() {
            let reason = "a body's place or velocity is not finite".into();
            return Err(SolverError::State { reason });
        }
    }
    Ok(all)
}

impl<const D: usize> Movement<D> {
    /// Writes the number of bodies, the steps since they were embedded, and the numbers of each.
    pub(crate) fn save(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        for word in [self.states.len() as u64, u64::from(self.since)] {
            out.write_all(&word.to_le_bytes())?;
        }
        let states = self.states.iter().zip(&self.momenta).zip(&self.placed);
        for ((state, momentum), placed) in states {
            for number in numbers(state, momentum, placed) {
                out.write_all(&number.to_bits().to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Takes the place of what was saved, and embeds the bodies where they were embedded.
    pub(crate) fn restore(&mut self, from: &mut dyn io::Read) -> Result<Followed, SolverError> {
        let count = read_word(from)?;
        if count != self.states.len() as u64 {
            let here = self.states.len();
            let reason = format!("it has {count} bodies that move, and there are {here}");
            return Err(SolverError::State { reason });
        }
        let since = read_word(from)?;
        let mut placed = Vec::new();
        for n in 0..self.states.len() {
            let pose = |from: &mut dyn io::Read| -> Result<Pose<D>, SolverError> {
                Ok(Pose {
                    center: take(from)?,
                    rotation: Quaternion(take(from)?),
                })
            };
            self.states[n] = BodyState {
                pose: pose(from)?,
                velocity: take(from)?,
                spin: take(from)?,
            };
            let spin = take(from)?;
            let [has_before] = take(from)?;
            let before = take(from)?;
            self.momenta[n] = Momentum {
                spin,
                before: (has_before == 1.0).then_some(before),
            };
            placed.push(pose(from)?);
        }
        self.clear();
        let states = std::mem::take(&mut self.states);
        self.states = states.clone();
        for (state, pose) in self.states.iter_mut().zip(placed) {
            state.pose = pose;
        }
        let followed = self.follow()?;
        self.states = states;
        self.since = u32::try_from(since).unwrap_or(u32::MAX);
        Ok(followed)
    }
}
