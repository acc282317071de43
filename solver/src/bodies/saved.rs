//! Bodies as they are saved with a flow: where they are, how they move, and the poses of tables and blocks.

use super::{BodyState, Movement, free::Momentum, movement::Again};
use crate::{Params, SolverError, run::saved::read_word};
use cutlink_amr::Forest;
use cutlink_mesher::rigid::{Pose, Quaternion};
use std::io;

/// Numbers of a body.
fn numbers<const D: usize>(
    state: &BodyState<D>,
    momentum: &Momentum,
    load: Option<[f64; 6]>,
    poses: [&Pose<D>; 2],
) -> Vec<f64> {
    let mut all = state.pose.center.to_vec();
    all.extend(state.pose.rotation.0);
    all.extend(state.velocity);
    all.extend(state.spin);
    all.extend(momentum.spin);
    for load in [momentum.before, load] {
        all.push(f64::from(u8::from(load.is_some())));
        all.extend(load.unwrap_or_default());
    }
    for pose in poses {
        all.extend(pose.center);
        all.extend(pose.rotation.0);
    }
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
        for (n, state) in self.states.iter().enumerate() {
            let poses = [&self.placed[n], &self.meshed[n]];
            let load = self.loads.as_ref().map(|loads| loads[n]);
            for number in numbers(state, &self.momenta[n], load, poses) {
                out.write_all(&number.to_bits().to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Takes the place of what was saved, with its blocks, and embeds the bodies where they were embedded. Blocks that follow bodies alone
    /// are not given.
    pub(crate) fn restore(
        &mut self,
        from: &mut dyn io::Read,
        forest: Option<Forest<D>>,
        params: &Params<D>,
    ) -> Result<Again<D>, SolverError> {
        let count = read_word(from)?;
        if count != self.states.len() as u64 {
            let here = self.states.len();
            let reason = format!("it has {count} bodies that move, and there are {here}");
            return Err(SolverError::State { reason });
        }
        let since = read_word(from)?;
        let (mut placed, mut loads) = (Vec::new(), Vec::new());
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
            let load = |from: &mut dyn io::Read| -> Result<Option<[f64; 6]>, SolverError> {
                let [is_there] = take(from)?;
                let load = take(from)?;
                Ok((is_there == 1.0).then_some(load))
            };
            self.momenta[n] = Momentum {
                spin: take(from)?,
                before: load(from)?,
            };
            loads.push(load(from)?);
            placed.push(pose(from)?);
            self.meshed[n] = pose(from)?;
        }
        self.clear();
        self.loads = loads.into_iter().collect();
        let built = match self.changes_blocks() {
            true => Some(self.rebuild(forest, params)?),
            false => None,
        };
        let states = std::mem::take(&mut self.states);
        self.states = states.clone();
        for (state, pose) in self.states.iter_mut().zip(placed) {
            state.pose = pose;
        }
        let followed = self.follow()?;
        self.states = states;
        self.since = u32::try_from(since).unwrap_or(u32::MAX);
        Ok((built, followed))
    }
}
