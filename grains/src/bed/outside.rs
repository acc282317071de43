//! Forces and torques from outside, and time that is given.

use crate::{Bed, GrainError};
use cutlink_device::memory;

impl Bed {
    /// Forces in N and torques in N m on the grains, by id, beside weight and contacts: from now on, until others are set. They
    /// are part of the [saved](Bed::save) state, and zero for grains that are [inserted](Bed::insert).
    ///
    /// # Errors
    /// Not one force and one torque for each grain; a number that is not finite; no memory.
    pub fn set_loads(
        &mut self,
        forces: &[[f64; 3]],
        torques: &[[f64; 3]],
    ) -> Result<(), GrainError> {
        let n = self.len();
        for (what, of) in [("forces on grains", forces), ("torques on grains", torques)] {
            if of.len() != n {
                return Err(GrainError::Length {
                    what,
                    got: of.len(),
                    expected: n,
                });
            }
            if let Some(&value) = of.iter().flatten().find(|x| !x.is_finite()) {
                return Err(GrainError::Value {
                    what,
                    value,
                    range: "finite",
                });
            }
        }
        let g = &mut self.grains;
        memory::grow("loads of grains", &mut g.load, n, [[0.0; 3]; 2])?;
        for (load, &id) in g.load.iter_mut().zip(&g.id) {
            *load = [forces[id as usize], torques[id as usize]];
        }
        Ok(())
    }

    /// Forces and torques from outside by id; zero where none were set.
    pub fn loads(&self) -> Vec<[[f64; 3]; 2]> {
        let mut by_id = vec![[[0.0; 3]; 2]; self.len()];
        for (&id, &load) in self.grains.id.iter().zip(&self.grains.load) {
            by_id[id as usize] = load;
        }
        by_id
    }

    /// Makes steps of equal length over so much time, each at most as long as that of the parameters.
    ///
    /// # Errors
    /// A time that is not positive; those of [`Bed::run`].
    pub fn advance(&mut self, time: f64) -> Result<(), GrainError> {
        if !(time > 0.0 && time.is_finite()) {
            return Err(GrainError::Value {
                what: "time to advance by",
                value: time,
                range: "positive and finite",
            });
        }
        self.check_step()?;
        let steps = (time / self.params.dt - 1e-9).ceil().max(1.0);
        let end = self.time() + time;
        let done = self.steps_of(time / steps, steps as u64);
        self.clock = (end, self.step);
        done
    }

    /// Masses by id, in kg.
    pub fn masses(&self) -> Vec<f64> {
        let mut by_id = vec![0.0; self.len()];
        for (&id, &mass) in self.grains.id.iter().zip(&self.grains.m) {
            by_id[id as usize] = mass;
        }
        by_id
    }
}
