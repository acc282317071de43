//! Steps of a flow.

use crate::{
    ElementAdaptation, ElementLook, EulerFlow, FrError, TimeStep,
    embedded::Masks,
    kernels::{Coefficients, EulerKernels, Fluxes, Kernels, Penalty, Task, Waves, sizes},
    run::task,
};
use cutlink_device::Backend;
use std::time::Instant;

/// Adaptations that are kept for who asks for them.
const MOST_LOOKS: usize = 1 << 16;

/// The launches of a step of a length, for the buffers of a flow as they were.
#[derive(Debug)]
pub(crate) struct RecordedStep<B: Backend> {
    graph: B::Graph,
    length: f64,
}

impl<const D: usize, T: Kernels<D>, B: EulerKernels<D>> EulerFlow<D, T, B> {
    /// Takes so many steps.
    ///
    /// # Errors
    /// [`FrError::Diverged`] where a step is to be found from a state that is no flow; steps of a fixed length go on.
    /// As [`adapt`](EulerFlow::adapt) where the mesh follows the flow.
    pub fn advance(&mut self, steps: u64) -> Result<(), FrError> {
        (B::functions::<T>().advance)(self, steps)
    }

    pub(crate) fn advance_here(&mut self, steps: u64) -> Result<(), FrError> {
        for _ in 0..steps {
            let step = self.time_step()?;
            self.step(step)?;
            self.adapt_if_due()?;
        }
        Ok(())
    }

    /// Takes steps until a time, the last of which may be shorter.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn advance_to(&mut self, time: f64) -> Result<(), FrError> {
        (B::functions::<T>().advance_to)(self, time)
    }

    pub(crate) fn advance_to_here(&mut self, time: f64) -> Result<(), FrError> {
        while self.time < time {
            let (step, left) = (self.time_step()?, time - self.time);
            // What rounding leaves of the last step is no step of its own.
            if left <= step * (1.0 + 1e-9) {
                self.step(left)?;
                self.time = time;
            } else {
                self.step(step)?;
            }
            self.adapt_if_due()?;
        }
        Ok(())
    }

    /// A step of this length. One of the fixed length is recorded where the backend does so, and replayed from then on.
    fn step(&mut self, length: f64) -> Result<(), FrError> {
        if matches!(self.params.time_step, TimeStep::Fixed(fixed) if fixed == length) {
            self.recorded_stages(length)?;
        } else {
            self.stages(length)?;
        }
        self.masks.step = length;
        self.time += length;
        self.steps += 1;
        Ok(())
    }

    /// The stages of a step from a record, which is made where there is none yet.
    fn recorded_stages(&mut self, length: f64) -> Result<(), FrError> {
        let parity = (self.steps % 2) as usize;
        if self.recorded[parity]
            .as_ref()
            .is_none_or(|of| of.length != length)
        {
            let backend = self.backend.clone();
            let Some(graph) = backend.record(|| self.stages(length))? else {
                return Ok(());
            };
            self.recorded[parity] = Some(RecordedStep { graph, length });
        } else {
            self.swap_buffers();
        }
        let step = self.recorded[parity].as_ref().expect("recorded above");
        // SAFETY: the buffers are those it was recorded with, in their places after as many steps but for an even number, or
        // `recorded` would have been emptied.
        #[expect(unsafe_code, reason = "a graph holds addresses")]
        unsafe { self.backend.replay(&step.graph) }?;
        Ok(())
    }

    /// What embedded bodies take after the stages of a step of a length.
    fn penalize(&mut self, length: f64) -> Result<(), FrError> {
        let Some(bodies) = &self.params.walls.embedded else {
            return Ok(());
        };
        if self.masks.elements.is_empty() {
            return Ok(());
        }
        let Masks {
            table,
            energies,
            losses,
            ..
        } = &mut self.masks;
        let penalty = Penalty {
            basis: &self.basis,
            matrices: &self.matrices,
            table,
            energies,
            lost: T::of(-(-length / bodies.relaxation.unwrap_or(length)).exp_m1()),
        };
        self.backend
            .penalize(&penalty, &mut self.u, &mut self.traces, losses)
    }

    /// Puts buffers where [`stages`](Self::stages) puts them.
    fn swap_buffers(&mut self) {
        std::mem::swap(&mut self.u, &mut self.start);
        if self.params.runge_kutta.stages().len() % 2 == 1 {
            std::mem::swap(&mut self.traces, &mut self.next_traces);
        }
    }

    /// The stages of a step of this length.
    fn stages(&mut self, length: f64) -> Result<(), FrError> {
        for (i, stage) in self.params.runge_kutta.stages().iter().enumerate() {
            self.fluxes_at_slots()?;
            let rates = self.edges.map(|edge| 2.0 * stage.step * length / edge);
            let task = Task {
                time: T::of(stage.step * length),
                rates: rates.map(T::of),
                keep: T::of(stage.keep),
                is_first: i == 0,
                viscosity: self.coefficients(),
                ..task!(self, &self.traces)
            };
            let fluxes = Fluxes {
                mortars: &self.mortars,
                viscous: &self.viscous,
                rates: &self.viscous_rates,
                walls: &self.wall_fluxes,
            };
            self.backend.advance(
                &task,
                &fluxes,
                &mut self.u,
                &mut self.start,
                &mut self.next_traces,
            )?;
            std::mem::swap(&mut self.traces, &mut self.next_traces);
        }
        self.penalize(length)
    }

    /// What a stage has before all elements advance: the common fluxes of hanging faces and through walls, and of viscous
    /// flows the viscous fluxes.
    pub(crate) fn fluxes_at_slots(&mut self) -> Result<(), FrError> {
        let task = Task {
            viscosity: self.coefficients(),
            ..task!(self, &self.traces)
        };
        if task.viscosity.is_some() {
            self.backend.common_states(&task, &mut self.states)?;
            let out = [
                &mut self.viscous,
                &mut self.viscous_rates,
                &mut self.wall_viscous,
            ];
            self.backend
                .viscous_rates(&task, &self.states, &self.u, out)?;
        }
        self.backend
            .mortars(&task, &self.viscous, &mut self.mortars)?;
        if !self.wall_faces.is_empty() {
            self.backend
                .walls(&task, &self.wall_viscous, &mut self.wall_fluxes)?;
        }
        Ok(())
    }

    /// The coefficients of viscous fluxes.
    fn coefficients(&self) -> Option<Coefficients<D, T>> {
        let viscosity = self.params.viscosity?;
        Some(Coefficients {
            viscosity: T::of(viscosity.dynamic),
            conductivity: T::of(viscosity.conductivity(self.params.gamma)),
            slopes: self.edges.map(|edge| T::of(2.0 / edge)),
        })
    }

    /// How long the next step is.
    ///
    /// # Errors
    /// [`FrError::Diverged`] where the state has no finite wave speed.
    fn time_step(&self) -> Result<f64, FrError> {
        match self.params.time_step {
            TimeStep::Fixed(step) => Ok(step),
            TimeStep::Courant(number) => {
                let rate = self.wave_rate()?;
                if !rate.is_finite() {
                    return Err(FrError::Diverged { time: self.time });
                }
                Ok(number / rate)
            }
        }
    }

    /// The largest of `(2 p + 1) Σ (|v_a| + c) / h_a` at the points, with what viscosity adds to it (see
    /// [`TimeStep::Courant`]); infinite where a state is no flow.
    ///
    /// # Errors
    /// Where the device fails.
    pub fn wave_rate(&self) -> Result<f64, FrError> {
        self.wave_rate_refined(0)
    }

    /// The same as if all elements were refined so often.
    ///
    /// # Errors
    /// Where the device fails.
    pub fn wave_rate_refined(&self, times: u32) -> Result<f64, FrError> {
        (B::functions::<T>().wave_rate)(self, times)
    }

    pub(crate) fn wave_rate_here(&self, times: u32) -> Result<f64, FrError> {
        let edges = self.edges.map(|edge| edge / f64::from(1u32 << times));
        let p = self.params.order;
        let diffusion = self.params.diffusion(edges);
        let waves = Waves {
            gamma: self.params.gamma,
            edges,
            diffusion,
            nodes: sizes::nodes(D, p + 1),
            leaves: &self.leaves,
            levels: &self.levels,
            faces: &self.faces,
        };
        let largest = self.backend.wave_rate::<T>(&waves, &self.u)?;
        Ok((2 * p + 1) as f64 * largest)
    }

    /// An adaptation where one is due.
    fn adapt_if_due(&mut self) -> Result<(), FrError> {
        let due = |a: &ElementAdaptation| self.steps.is_multiple_of(a.every);
        if self.adaptation.as_ref().is_some_and(due) {
            let began = Instant::now();
            let changes = B::adapt(self)?;
            if self.looks.len() == MOST_LOOKS {
                self.looks.remove(0);
            }
            self.looks.push(ElementLook {
                step: self.steps,
                elements: self.elements() as u64,
                changes,
                seconds: began.elapsed().as_secs_f64(),
            });
        }
        Ok(())
    }
}
