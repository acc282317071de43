//! The steps of a run, and its outputs.

use super::{
    forces::FluxForces,
    run::FluxResolved,
    scene::FluxScene,
    totals::{TotalsTable, write},
};
use crate::{
    error::{Error, ErrorKind},
    fields::{FieldWriter, Moment},
    mesh::report::DeviceReport,
    observer::Observer,
    output,
    solve::{
        checkpoint::{self, Header},
        lock::FolderLock,
        means::Statistics,
        run::{RunOptions, RunSummary},
        verdict::{Verdict, rows},
    },
};
use cutlink_amr::LinearKernels;
use cutlink_device::Host;
use cutlink_fr::{
    Energies, EulerFlow, Totals,
    kernels::{EulerKernels, Kernels},
};
use cutlink_voxelizer::kernels::AdaptKernels;
use serde_json::json;
use std::{
    fmt::Write as _,
    io::Write,
    time::{Duration, Instant},
};

/// Steps between two checks of the flow, at multiples of it.
const CHUNK: u64 = 64;
/// Wall time between checkpoints if the case gives no number of steps, and at least [`SAVE_SHARE`] times that of the
/// last one.
const SAVE_INTERVAL: Duration = Duration::from_secs(600);
const SAVE_SHARE: u32 = 20;
/// Wall time between two looks at the request to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(200);

/// A run and its outputs.
pub(super) struct FluxRun<'a, const D: usize> {
    pub(super) options: &'a RunOptions,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) resolved: FluxResolved<D>,
    pub(super) device: DeviceReport,
    pub(super) header: Header,
    pub(super) totals: TotalsTable,
    pub(super) forces: Option<FluxForces<D>>,
    pub(super) fields: FieldWriter<D>,
    pub(super) most: u64,
    pub(super) begun_at: u64,
    pub(super) began: Instant,
    /// Degrees of freedom times stages so far.
    pub(super) work: f64,
    pub(super) saved: Option<u64>,
    pub(super) last_save: Instant,
    /// Wall time of the last checkpoint.
    pub(super) save_time: Duration,
    /// Wall time of a step, by those taken last.
    pub(super) step_time: Option<Duration>,
    pub(super) _lock: FolderLock,
}

impl<const D: usize> FluxRun<'_, D>
where
    Host: AdaptKernels<D> + LinearKernels<D>,
{
    /// Takes the steps. Outputs look at the flow on the host.
    pub(super) fn go<T: Kernels<D>, B: EulerKernels<D>>(
        &mut self,
        mut flow: EulerFlow<D, T, B>,
    ) -> Result<RunSummary, Error> {
        self.observer.begin(self.most.saturating_sub(self.begun_at));
        self.sample_forces(&mut flow)?;
        B::look(&flow, |seen| self.write(seen, false))??;
        while flow.steps() < self.most {
            let step = flow.steps();
            let steps = self.to_next_look(step).min(self.most - step);
            let advanced = self.advance(&mut flow, step + steps);
            // Also those of a flow that diverged.
            if let Some(forces) = &mut self.forces {
                forces.write()?;
            }
            advanced?;
            let stages = self.resolved.setting.params.runge_kutta.evaluations() as f64;
            let steps = flow.steps() - step;
            self.work += steps as f64 * stages * flow.degrees_of_freedom() as f64;
            let step = flow.steps();
            if !flow.wave_rate()?.is_finite() {
                return Err(diverged(step, flow.time()));
            }
            self.look_by_observer(&flow)?;
            let is_stopped = self.options.stop.is_stopped();
            let by_time = !is_stopped && self.is_save_due_by_time();
            if by_time {
                B::look(&flow, |seen| self.save_by_time(seen))?;
            }
            let saves = is_stopped || self.is_save_due(step);
            if saves || self.has_totals(step) || self.fields.is_due(step, Moment::Running) {
                B::look(&flow, |seen| self.write(seen, saves))??;
            }
            let status = self.progress(step, flow.elements());
            self.observer.advance(steps, &status);
            if is_stopped {
                let message = format!("stopped at step {step}, with a checkpoint");
                return Err(Error::new(ErrorKind::Stopped, message).hint("continue with --resume"));
            }
        }
        B::look(&flow, |seen| self.finish(seen))?
    }

    /// Takes steps up to a number of them, or up to the next one after a request to stop.
    fn advance<T: Kernels<D>, B: EulerKernels<D>>(
        &mut self,
        flow: &mut EulerFlow<D, T, B>,
        to: u64,
    ) -> Result<(), Error> {
        while flow.steps() < to && !self.options.stop.is_stopped() {
            let (from, began) = (flow.steps(), Instant::now());
            // One step tells how long they take.
            let slice = self.step_time.map_or(1, |each| {
                (STOP_INTERVAL.as_nanos() / each.as_nanos().max(1)).clamp(1, 1 << 20) as u64
            });
            let to_sample = self.forces.as_ref().map(|forces| forces.to_next(from));
            let left = slice.min(to - from);
            flow.advance(to_sample.map_or(left, |next| next.min(left)))?;
            if self.step_time.is_none() || left < to - from {
                // A device may have steps ahead of it; this waits for them.
                flow.wave_rate()?;
            }
            let taken = (flow.steps() - from).max(1) as u32;
            let each = began.elapsed() / taken;
            self.step_time = Some(self.step_time.map_or(each, |before| before.max(each)));
            self.sample_forces(flow)?;
        }
        Ok(())
    }

    /// A sample of the forces where one is due.
    fn sample_forces<T: Kernels<D>, B: EulerKernels<D>>(
        &mut self,
        flow: &mut EulerFlow<D, T, B>,
    ) -> Result<(), Error> {
        match &mut self.forces {
            Some(forces) => forces.sample(flow),
            None => Ok(()),
        }
    }

    /// What is due, and a checkpoint if requested.
    fn write<T: Kernels<D>>(&mut self, flow: &EulerFlow<D, T>, saves: bool) -> Result<(), Error> {
        if self.has_totals(flow.steps()) {
            let numbers = self.numbers(flow);
            self.totals.add(flow.steps(), numbers)?;
        }
        self.write_fields(flow, Moment::Running)?;
        if saves { self.save(flow) } else { Ok(()) }
    }

    fn has_totals(&self, step: u64) -> bool {
        let every = self.resolved.integrals_every;
        every > 0 && step.is_multiple_of(every)
    }

    fn is_save_due(&self, step: u64) -> bool {
        match self.resolved.checkpoint_every {
            Some(0) => false,
            Some(every) => step.is_multiple_of(every),
            None => false,
        }
    }

    fn is_save_due_by_time(&self) -> bool {
        let interval = SAVE_INTERVAL.max(SAVE_SHARE * self.save_time);
        self.resolved.checkpoint_every.is_none() && self.last_save.elapsed() > interval
    }

    /// Writes a checkpoint by wall time. A failure is noted and does not end the run.
    fn save_by_time<T: Kernels<D>>(&mut self, flow: &EulerFlow<D, T>) {
        if let Err(error) = self.save(flow) {
            self.last_save = Instant::now();
            self.observer.note(&format!(
                "cannot write a checkpoint at step {}, the run continues: {error}",
                flow.steps()
            ));
        }
    }

    /// Steps to the next check of the flow.
    fn to_next_look(&self, step: u64) -> u64 {
        let periods = [
            CHUNK,
            self.resolved.checkpoint_every.unwrap_or(0),
            self.resolved.integrals_every,
        ];
        let multiples = periods.into_iter().filter(|&every| every > 0);
        let due = self.fields.next_due(step).map(|due| due - step);
        multiples
            .map(|every| every - step % every)
            .chain(due)
            .min()
            .expect("there is a period")
    }

    /// Mass, momentum, energy and elements, of viscous flows kinetic energy and enstrophy, and the error where the exact flow is known.
    fn numbers<T: Kernels<D>>(&self, flow: &EulerFlow<D, T>) -> Vec<f64> {
        let Totals {
            mass,
            momentum,
            energy,
        } = flow.totals();
        let elements = flow.elements() as f64;
        let mut numbers = vec![mass];
        numbers.extend(momentum);
        numbers.extend([energy, elements]);
        if self.resolved.is_viscous() {
            let energies = flow.energies();
            numbers.extend([energies.kinetic, energies.enstrophy]);
        }
        numbers.extend(self.error(flow));
        numbers
    }

    /// The L2 error of the density, where the exact one is known.
    fn error<T: Kernels<D>>(&self, flow: &EulerFlow<D, T>) -> Option<f64> {
        let exact = self.resolved.exact()?;
        let time = flow.time();
        Some(flow.density_error(|x| exact(time, x)))
    }

    fn write_fields<T: Kernels<D>>(
        &mut self,
        flow: &EulerFlow<D, T>,
        moment: Moment,
    ) -> Result<(), Error> {
        if self.fields.is_due(flow.steps(), moment) {
            let scene = FluxScene::new(&self.resolved.setting.mesh, flow)?;
            let pressure = Some(&scene.pressure);
            self.fields
                .write_with(&scene.mesh, &scene.snapshot, pressure, moment)?;
        }
        Ok(())
    }

    /// Degrees of freedom times stages a second, in 10⁹.
    fn rate(&self) -> f64 {
        self.work / self.began.elapsed().as_secs_f64().max(1e-9) / 1e9
    }

    fn progress(&self, step: u64, elements: usize) -> String {
        let done = (step - self.begun_at).max(1) as f64;
        let left = (self.most - step) as f64 / done;
        let drag = self.forces.as_ref().and_then(FluxForces::drag);
        let drag = drag.map_or(String::new(), |drag| format!(", C_D {drag:.4}"));
        format!(
            "{:.3} GDoF/s, {:.0} s left, {elements} elements{drag}",
            self.rate(),
            left * self.began.elapsed().as_secs_f64(),
        )
    }

    fn save<T: Kernels<D>>(&mut self, flow: &EulerFlow<D, T>) -> Result<(), Error> {
        let step = flow.steps();
        if self.saved == Some(step) {
            return Ok(());
        }
        let begin = Instant::now();
        self.totals.sync()?;
        if let Some(forces) = &self.forces {
            forces.sync()?;
        }
        let header = Header {
            step,
            ..self.header.clone()
        };
        let folder = &self.resolved.folder;
        checkpoint::write(folder, &header, |out: &mut dyn Write| {
            let keys = flow.leaves().keys();
            let words = [step, flow.time().to_bits(), keys.len() as u64];
            let words = words.iter().chain(keys).flat_map(|word| word.to_le_bytes());
            let words: Vec<u8> = words.collect();
            out.write_all(&words)
                .and_then(|()| out.write_all(bytemuck::cast_slice(flow.unknowns())))
                .map_err(|e| output::failed(folder, &e))
        })?;
        (self.saved, self.last_save) = (Some(step), Instant::now());
        self.save_time = begin.elapsed();
        Ok(())
    }

    fn finish<T: Kernels<D>>(&mut self, flow: &EulerFlow<D, T>) -> Result<RunSummary, Error> {
        self.write_fields(flow, Moment::End)?;
        if self.resolved.checkpoint_at_end {
            self.save(flow)?;
        }
        let (steps, seconds) = (flow.steps(), self.began.elapsed().as_secs_f64());
        let (time, now) = (steps as f64 * self.resolved.dt, self.numbers(flow));
        // Of mass and energy; the integrals of the first line are those of the start.
        let drift = |i: usize| self.totals.first().map(|first| now[i] / first[i] - 1.0);
        let (elements, error) = (flow.elements(), self.error(flow));
        let energies = self.resolved.is_viscous().then(|| flow.energies());
        let params = &self.resolved.setting.params;
        let folder = &self.resolved.folder;
        let forces = self.forces.as_ref();
        let forces = forces.map(|forces| forces.statistics(folder)).transpose()?;
        let verdict = self.judge(forces.as_ref());
        let removed = elements - flow.elements_in_gas();
        let summary = json!({
            "schema": crate::JSON_SCHEMA,
            "cutlink": env!("CARGO_PKG_VERSION"),
            "command": "solve",
            "kind": "flux-reconstruction",
            "folder": self.resolved.folder,
            "device": self.device,
            "steps": steps,
            "time": time,
            "dt": self.resolved.dt,
            "order": params.order,
            "elements": elements,
            "removed": removed,
            "points": elements * flow.nodes(),
            "patches": forces.as_ref().map(Statistics::summary),
            "stationary": forces.as_ref().map(Statistics::stationary),
            "strouhal": forces.as_ref().map(Statistics::strouhal),
            "integrals": {
                "mass": now[0],
                "momentum": &now[1..1 + D],
                "energy": now[1 + D],
                "mass_drift": drift(0),
                "energy_drift": drift(1 + D),
            },
            "kinetic_energy": energies.map(|energies| energies.kinetic),
            "enstrophy": energies.map(|energies| energies.enstrophy),
            "density_error": error,
            "gdofs": self.rate(),
            "seconds": seconds,
            "verdict": verdict.to_json(),
        });
        write(folder, "summary.json", &format!("{summary:#}\n"))?;
        let mut text = format!("{elements} elements at time {time:.6} s\n");
        if removed > 0 {
            let _ = writeln!(text, "{removed} of them are in bodies");
        }
        text += &forces
            .as_ref()
            .map(|forces| forces.table(None, &[]))
            .unwrap_or_default();
        if let Some(error) = error {
            let _ = writeln!(text, "L2 error of the density: {error:.4e}");
        }
        if let Some(Energies { kinetic, enstrophy }) = energies {
            let _ = writeln!(
                text,
                "kinetic energy {kinetic:.6e}, enstrophy {enstrophy:.6e}"
            );
        }
        if let (Some(mass), Some(energy)) = (drift(0), drift(1 + D)) {
            let _ = writeln!(
                text,
                "mass has changed by {mass:.1e} of it, energy by {energy:.1e}"
            );
        }
        let _ = writeln!(
            text,
            "{:.3} GDoF/s; written to {}",
            self.rate(),
            folder.display()
        );
        text += &verdict.text("verdict", self.observer.wants_details());
        self.observer.summary(&text)?;
        if let Some(error) = verdict.error(folder, &summary) {
            return Err(error);
        }
        Ok(RunSummary {
            folder: folder.clone(),
            steps,
            time,
            settled: None,
            json: summary,
        })
    }
}

impl<const D: usize> FluxRun<'_, D> {
    /// The checks that apply to a compressible flow: of its forces.
    fn judge(&self, statistics: Option<&Statistics<'_, D>>) -> Verdict {
        let mut checks = Vec::new();
        if let (Some(of), Some(forces)) = (statistics, &self.forces) {
            let rest = forces.rest();
            checks.push(rows::movement(rest, "the force on the body"));
            checks.extend(of.growth().map(rows::growth));
            checks.extend(of.swing().map(rows::swing));
            let change = of.change();
            checks.extend(change.map(|(change, why)| rows::stationarity(change, why)));
        }
        Verdict::new(checks, &self.resolved.case.run.accept)
    }
}

fn diverged(step: u64, time: f64) -> Error {
    Error::new(
        ErrorKind::Diverged,
        format!("the flow diverged by step {step} (time {time:.6} s): a density or pressure is not positive"),
    )
    .hint("choose a smaller [numerics] cfl or dt, finer elements, or a lower order: there is no shock capturing")
}
