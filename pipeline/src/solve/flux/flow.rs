//! A flow by flux reconstruction behind the door of every physics ([`cutlink_flow`]).

use super::{
    forces::FluxForces,
    resolution::FluxResolution,
    run::FluxResolved,
    scene::{Scene, states},
    state::restore,
};
use cutlink_amr::LinearKernels;
use cutlink_common::{Error, ErrorKind, output};
use cutlink_device::Host;
use cutlink_flow::{
    Check, Flow, FlowState, Lines, Report, Seen, Statistics, StepWork, Table, of_forces,
};
use cutlink_fr::{
    Energies, EulerFlow, FrError, Totals,
    kernels::{EulerKernels, Kernels},
};
use cutlink_solver::{AdaptationLook, ForceSample, Precision};
use cutlink_voxelizer::{Mesh, kernels::AdaptKernels};
use serde_json::{Map, Value, json};
use std::{
    cell::OnceCell,
    fmt::Write as _,
    io::{Read, Write},
};

/// Where the flow is.
#[expect(clippy::large_enum_variant, reason = "there is one of them in a run")]
enum Place<const D: usize, T: Kernels<D>, B: EulerKernels<D>> {
    /// On the host, until its state is that of the start.
    Host(EulerFlow<D, T>),
    /// Where it takes its steps.
    There(EulerFlow<D, T, B>),
    /// Between the two.
    Nowhere,
}

/// A compressible flow of a case, and what is measured of it.
pub(super) struct Gas<'a, const D: usize, T: Kernels<D>, B: EulerKernels<D>> {
    backend: &'a B,
    place: Place<D, T, B>,
    resolved: FluxResolved<D>,
    /// `integrals.csv`: mass, momentum and energy, elements; of viscous flows kinetic energy and enstrophy; the error where
    /// the exact flow is known.
    totals: Lines,
    forces: Option<FluxForces<D>>,
    /// Forces that were not taken yet.
    samples: Vec<ForceSample>,
    /// The blocks of the elements as they are.
    scene: OnceCell<Scene<D>>,
    /// What the elements did not resolve so far; none with bodies.
    resolution: Option<FluxResolution>,
}

/// Evaluates with the flow, wherever it is.
macro_rules! with {
    ($gas:expr, $flow:ident => $value:expr) => {
        match &$gas.place {
            Place::Host($flow) => $value,
            Place::There($flow) => $value,
            Place::Nowhere => unreachable!("a flow is somewhere"),
        }
    };
}

impl<'a, const D: usize, T: Kernels<D>, B: EulerKernels<D>> Gas<'a, D, T, B>
where
    Host: AdaptKernels<D> + LinearKernels<D>,
{
    pub(super) fn new(flow: EulerFlow<D, T>, backend: &'a B, resolved: FluxResolved<D>) -> Self {
        let mut columns = vec!["mass"];
        columns.extend(&["momentum_x", "momentum_y", "momentum_z"][..D]);
        columns.extend(["energy", "elements"]);
        if resolved.is_viscous() {
            columns.extend(["kinetic_energy", "enstrophy"]);
        }
        columns.extend(resolved.exact().map(|_| "density_error"));
        let totals = Lines::new("integrals.csv", &columns, resolved.dt);
        Self {
            totals,
            forces: FluxForces::new(&resolved),
            backend,
            place: Place::Host(flow),
            resolution: resolved
                .case
                .bodies
                .is_empty()
                .then(FluxResolution::default),
            resolved,
            samples: Vec::new(),
            scene: OnceCell::new(),
        }
    }

    /// The flow on the host, of which a device makes a copy.
    fn seen<R>(&self, look: impl FnOnce(&EulerFlow<D, T>) -> R) -> Result<R, Error> {
        Ok(match &self.place {
            Place::Host(flow) => look(flow),
            Place::There(flow) => B::look(flow, look)?,
            Place::Nowhere => unreachable!("a flow is somewhere"),
        })
    }

    fn scene(&self) -> Result<&Scene<D>, Error> {
        if let Some(scene) = self.scene.get() {
            return Ok(scene);
        }
        let scene = self.seen(|flow| Scene::new(&self.resolved.setting.mesh, flow))??;
        Ok(self.scene.get_or_init(|| scene))
    }

    /// Adds a sample of what the elements do not resolve.
    fn sample_resolution(&mut self) -> Result<(), Error> {
        if self.resolution.is_some() {
            let (now, time) = (self.seen(EulerFlow::unresolved)?, self.time());
            self.resolution.iter_mut().for_each(|of| of.add(time, now));
        }
        Ok(())
    }

    /// Adds a sample of the forces if one is due.
    fn sample_forces(&mut self) -> Result<(), Error> {
        let Some(forces) = &self.forces else {
            return Ok(());
        };
        let sample = match &mut self.place {
            Place::Host(flow) => forces.sample(flow)?,
            Place::There(flow) => forces.sample(flow)?,
            Place::Nowhere => None,
        };
        self.samples.extend(sample);
        Ok(())
    }

    /// Mass, momentum, energy and elements, of viscous flows kinetic energy and enstrophy, and the error where the exact flow
    /// is known.
    fn numbers(&self, flow: &EulerFlow<D, T>) -> Vec<f64> {
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
    fn error(&self, flow: &EulerFlow<D, T>) -> Option<f64> {
        let exact = self.resolved.exact()?;
        let time = flow.time();
        Some(flow.density_error(|x| exact(time, x)))
    }

    fn report_of(&self, flow: &EulerFlow<D, T>) -> Report<D> {
        let now = self.numbers(flow);
        // Of mass and energy; the integrals of the first line are those of the start.
        let drift = |i: usize| self.totals.first().map(|first| now[i] / first[i] - 1.0);
        let (elements, error) = (flow.elements(), self.error(flow));
        let energies = self.resolved.is_viscous().then(|| flow.energies());
        let removed = elements - flow.elements_in_gas();
        let json = json!({
            "kind": "flux-reconstruction",
            "dt": self.resolved.dt,
            "order": self.resolved.setting.params.order,
            "elements": elements,
            "removed": removed,
            "points": elements * flow.nodes(),
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
            "axes": self.forces.as_ref().map(FluxForces::axes),
        });
        let mut above = format!("{elements} elements at time {:.6} s\n", self.time());
        if removed > 0 {
            let _ = writeln!(above, "{removed} of them are in bodies");
        }
        let mut below = String::new();
        if let Some(error) = error {
            let _ = writeln!(below, "L2 error of the density: {error:.4e}");
        }
        if let Some(Energies { kinetic, enstrophy }) = energies {
            let _ = writeln!(
                below,
                "kinetic energy {kinetic:.6e}, enstrophy {enstrophy:.6e}"
            );
        }
        if let (Some(mass), Some(energy)) = (drift(0), drift(1 + D)) {
            let _ = writeln!(
                below,
                "mass has changed by {mass:.1e} of it, energy by {energy:.1e}"
            );
        }
        Report {
            json: match json {
                Value::Object(keys) => keys,
                _ => unreachable!("an object was made above"),
            },
            lines: [above, below],
            ..Report::default()
        }
    }
}

impl<const D: usize, T: Kernels<D>, B: EulerKernels<D>> Flow<D> for Gas<'_, D, T, B>
where
    Host: AdaptKernels<D> + LinearKernels<D>,
{
    fn steps(&self) -> u64 {
        with!(self, flow => flow.steps())
    }

    fn time(&self) -> f64 {
        self.steps() as f64 * self.resolved.dt
    }

    fn advance(&mut self, steps: u64) -> Result<(), Error> {
        let to = self.steps() + steps;
        while self.steps() < to {
            let left = to - self.steps();
            let next = self.forces.as_ref().map(|of| of.to_next(self.steps()));
            let Place::There(flow) = &mut self.place else {
                unreachable!("a flow begins before it takes steps")
            };
            let epoch = flow.epoch();
            let advanced = flow.advance(next.map_or(left, |next| next.min(left)));
            if flow.epoch() != epoch {
                self.scene.take();
            }
            advanced.map_err(|error| match error {
                FrError::Diverged { .. } => diverged(self.steps(), self.time()),
                other => other.into(),
            })?;
            self.sample_forces()?;
        }
        Ok(())
    }

    /// A device may have steps ahead of it.
    fn wait(&self) -> Result<(), Error> {
        with!(self, flow => flow.wave_rate()?);
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        let rate = with!(self, flow => flow.wave_rate()?);
        match rate.is_finite() {
            true => Ok(()),
            false => Err(diverged(self.steps(), self.time())),
        }
    }

    fn mesh(&self) -> Result<&Mesh<D>, Error> {
        Ok(&self.scene()?.mesh)
    }

    fn epoch(&self) -> u64 {
        with!(self, flow => flow.epoch())
    }

    fn update(&self, blocks: Option<&[u32]>, to: &mut FlowState<D>) -> Result<(), Error> {
        let scene = self.scene()?;
        with!(self, flow => states(flow, scene, blocks, to))?;
        to.snapshot.step = self.steps();
        Ok(())
    }

    fn save(&self, out: &mut dyn Write) -> Result<(), Error> {
        let folder = &self.resolved.folder;
        self.seen(|flow| {
            let keys = flow.leaves().keys();
            let words = [flow.steps(), flow.time().to_bits(), keys.len() as u64];
            let words = words.iter().chain(keys).flat_map(|word| word.to_le_bytes());
            let words: Vec<u8> = words.collect();
            out.write_all(&words)
                .and_then(|()| out.write_all(bytemuck::cast_slice(flow.unknowns())))
                .map_err(|e| output::failed(folder, &e))
        })?
    }

    fn restore(&mut self, from: &mut dyn Read) -> Result<(), Error> {
        let Place::Host(flow) = &mut self.place else {
            unreachable!("a flow is restored before it begins")
        };
        self.scene.take();
        restore(flow, from)
    }

    fn begin(&mut self) -> Result<(), Error> {
        if let Place::Host(flow) = std::mem::replace(&mut self.place, Place::Nowhere) {
            self.place = Place::There(flow.on(self.backend)?);
        }
        self.sample_forces()
    }

    fn take_loads(&mut self) -> Result<Vec<ForceSample>, Error> {
        Ok(std::mem::take(&mut self.samples))
    }

    fn take_looks(&mut self) -> Vec<AdaptationLook> {
        let looks = match &mut self.place {
            Place::Host(flow) => flow.take_looks(),
            Place::There(flow) => flow.take_looks(),
            Place::Nowhere => Vec::new(),
        };
        let look = |of: cutlink_fr::ElementLook| AdaptationLook {
            step: of.step,
            leaves: vec![of.elements],
            refined: of.changes.refined,
            coarsened: of.changes.coarsened,
            withheld: of.changes.refused,
            raised: 1.0,
            seconds: of.seconds,
        };
        looks.into_iter().map(look).collect()
    }

    fn work(&self) -> StepWork {
        let stages = self.resolved.setting.params.runge_kutta.evaluations() as f64;
        StepWork {
            amount: stages * with!(self, flow => flow.degrees_of_freedom()) as f64,
            unit: "GDoF/s",
            scale: 1e9,
            digits: 3,
            key: "gdofs",
        }
    }

    fn progress(&self) -> String {
        format!(", {} elements", with!(self, flow => flow.elements()))
    }

    fn tables(&mut self) -> Vec<&mut dyn Table> {
        vec![&mut self.totals]
    }

    fn next_due(&self, step: u64) -> Option<u64> {
        let every = self.resolved.integrals_every;
        (every > 0).then(|| step - step % every + every)
    }

    fn look(&mut self, seen: &Seen<'_, D>, _now: &mut FlowState<D>) -> Result<(), Error> {
        let every = self.resolved.integrals_every;
        if every > 0 && seen.step.is_multiple_of(every) {
            let numbers = self.seen(|flow| self.numbers(flow))?;
            self.totals.add(seen.step, numbers);
            self.sample_resolution()?;
        } else if seen.step == 0 {
            self.sample_resolution()?;
        }
        Ok(())
    }

    fn notes(&self) -> Map<String, Value> {
        let kept = self
            .resolution
            .map(|of| ("resolution".to_owned(), of.to_json()));
        kept.into_iter().collect()
    }

    fn take_notes(&mut self, notes: Map<String, Value>) -> Result<(), Error> {
        if let (Some(of), Some(kept)) = (&mut self.resolution, notes.get("resolution")) {
            *of = FluxResolution::from_json(kept)?;
        }
        Ok(())
    }

    fn report(&mut self, _seen: &Seen<'_, D>, _now: &mut FlowState<D>) -> Result<Report<D>, Error> {
        self.seen(|flow| self.report_of(flow))
    }

    fn judge(&self, seen: &Seen<'_, D>, statistics: &Statistics<'_, D>) -> Vec<Check> {
        let stages = self.resolved.setting.params.runge_kutta.evaluations() as f64;
        let is_single = self.resolved.setting.precision == Precision::F32;
        let stages = is_single.then_some(stages * self.steps() as f64);
        // The last sample is not kept, so that a run that goes on has those of one without a pause.
        let of_elements = self.resolution.and_then(|mut of| {
            of.add(self.time(), self.seen(EulerFlow::unresolved).ok()?);
            Some(of.judge(stages))
        });
        let mut checks = of_elements.unwrap_or_default();
        checks.extend(of_forces(seen, statistics));
        checks
    }
}

fn diverged(step: u64, time: f64) -> Error {
    Error::new(
        ErrorKind::Diverged,
        format!("the flow diverged by step {step} (time {time:.6} s): a density or pressure is not positive"),
    )
    .hint("choose a smaller [numerics] cfl or dt, finer elements, or a lower order: there is no shock capturing")
}
