//! The running flow, behind the door of every physics.

use super::coarse::CoarseRecord;
use super::energy::{EnergyRecord, from_the_bottom, is_conserving, uncertain};
use super::{frame::FrameMotion, mesh::solid_above, since::Since, spheres::told, tables::Tables};
use crate::solve::{
    blocks::with_forest,
    grains::running::{BedNow, RunningSpheres},
    heat::HeatRecord,
};
use cutlink_amr::dims;
use cutlink_common::{Error, ErrorKind};
use cutlink_device::{Host, memory};
use cutlink_flow::{
    Check, Flow, FlowState, Report, Seen, Statistics, StepWork, Table, fields::FieldUnits,
};
use cutlink_grains::Bed;
use cutlink_solver::AdaptationLook;
use cutlink_vof::{Advanced, InterfaceLook, LookParts, TwoPhaseError, TwoPhaseFlow, TwoPhaseState};
use cutlink_voxelizer::{Mesh, VoxelError, kernels::AdaptKernels};
use serde_json::{Map, Value, json};
use std::{
    io::{Read, Write},
    sync::OnceLock,
};

/// Lines of `phases.csv` between two looks at how coarse the cells are.
const SAMPLE_EVERY: u64 = 16;

/// Why a step was not done.
enum Ended {
    Flow(TwoPhaseError),
    Frame(Error),
}

impl From<TwoPhaseError> for Ended {
    fn from(error: TwoPhaseError) -> Self {
        Self::Flow(error)
    }
}

/// What of a flow is watched, and moves it.
pub(super) type Watched<const D: usize> = (
    Tables<D>,
    Option<FrameMotion<D>>,
    Option<RunningSpheres>,
    Option<HeatRecord>,
    CoarseRecord,
);

/// A two-phase flow in a run. A step of the run is of a fixed length, and as many steps of the flow as that needs.
pub(super) struct TwoPhase<const D: usize> {
    pub(super) flow: TwoPhaseFlow<D>,
    /// The mesh at the start.
    pub(super) mesh: Mesh<D>,
    /// The present mesh, where it follows the interface. It is made at the first use.
    now: OnceLock<Mesh<D>>,
    epoch: u64,
    looks: Vec<AdaptationLook>,
    look_parts: LookParts,
    /// Wall time of making operators, s.
    setup: f64,
    pub(super) dt: f64,
    pub(super) units: FieldUnits,
    /// Steps between lines of `phases.csv`; 0 for none.
    pub(super) every: u64,
    /// Whether no liquid can leave or enter, so that its volume stays.
    pub(super) is_closed: bool,
    steps: u64,
    tables: Tables<D>,
    /// How the box moves.
    frame: Option<FrameMotion<D>>,
    /// Of a flow with spheres.
    spheres: Option<RunningSpheres>,
    /// Of a flow with heat.
    heat: Option<HeatRecord>,
    /// How coarse its cells and steps are.
    coarse: CoarseRecord,
    since: Since,
    all: Since,
    /// Volumes at the start.
    start: [f64; 2],
    /// Of a flow that can only lose energy.
    energy: Option<EnergyRecord>,
}

impl<const D: usize> TwoPhase<D> {
    pub(super) fn new(
        flow: TwoPhaseFlow<D>,
        mesh: Mesh<D>,
        dt: f64,
        units: FieldUnits,
        every: u64,
        is_closed: bool,
        (tables, frame, spheres, heat, coarse): Watched<D>,
    ) -> Self {
        // Spheres bring energy along, and so does heat that lifts.
        let lifts = (flow.heat_params()).is_some_and(|of| of.expansion != [0.0; 2]);
        let is_alone = frame.is_none() && spheres.is_none() && !lifts;
        let is_alone = is_alone && is_conserving(flow.params());
        Self {
            start: flow.integrals().volume,
            energy: is_alone.then(EnergyRecord::new),
            tables,
            frame,
            spheres,
            heat,
            coarse,
            flow,
            mesh,
            now: OnceLock::new(),
            epoch: 0,
            looks: Vec::new(),
            look_parts: LookParts::default(),
            setup: 0.0,
            dt,
            units,
            every,
            is_closed,
            steps: 0,
            since: Since::default(),
            all: Since::default(),
        }
    }

    /// Adapts the mesh if that is due.
    pub(super) fn look(&mut self) -> Result<(), Error> {
        let looked = self.flow.adapt_if_due();
        if let Some(look) = looked.map_err(|error| self.failed(error))? {
            self.looked(look);
        }
        Ok(())
    }

    fn looked(&mut self, look: InterfaceLook) {
        if look.refined + look.coarsened > 0 {
            self.epoch += 1;
            self.now = OnceLock::new();
        }
        self.looks.push(AdaptationLook {
            step: self.steps,
            leaves: look.leaves,
            refined: look.refined,
            coarsened: look.coarsened,
            withheld: look.withheld,
            raised: look.raised,
            seconds: look.seconds,
        });
        self.look_parts = self.look_parts.and(&look.parts);
    }

    fn go(&mut self, steps: u64) -> Result<(), Error> {
        let (from, dt) = (self.steps, self.dt);
        let ends = (1..=steps).map(|n| (from + n) as f64 * dt);
        let frame = self.frame.as_ref();
        let weight = |time, dt| {
            let over = frame.map(|frame| frame.over(time, dt));
            over.transpose().map_err(Ended::Frame)
        };
        let mut all = Vec::new();
        let went = self.flow.advance(ends, dt, weight, |one| all.push(one));
        for one in all {
            match one {
                Advanced::Look(look) => self.looked(look),
                Advanced::Step(done) => {
                    self.since.add(&done);
                    self.all.add(&done);
                    // Operators on an adapted mesh are of the look before.
                    if let Some(look) = self.looks.last_mut() {
                        look.seconds += done.setup;
                    }
                    self.setup += done.setup;
                }
                Advanced::Reached => self.steps += 1,
            }
        }
        went.map_err(|ended| match ended {
            Ended::Flow(error) => self.failed(error),
            Ended::Frame(error) => error,
        })
    }

    fn failed(&self, error: TwoPhaseError) -> Error {
        let level = matches!(error, TwoPhaseError::CoarseInterface { .. });
        let budget = matches!(error, TwoPhaseError::Budget { .. });
        let ends = self.spheres.as_ref().map_or(&[][..], |of| &of.ends);
        let error = told(error, ends);
        let at = format!(
            "the flow stopped in step {} (time {:.6} s)",
            self.steps + 1,
            self.flow.time()
        );
        let error = error.within(&at);
        if budget {
            return error.hint("a larger [adapt] max_cells, or fewer levels");
        }
        match (level, error.kind) {
            (true, _) => error.hint("larger [[refine]] boxes, or [adapt]"),
            (_, ErrorKind::Diverged) => {
                error.hint("a smaller [numerics] cfl or dt, or finer cells")
            }
            _ => error,
        }
    }

    fn change_of_volume(&self) -> f64 {
        let now = self.flow.integrals().volume;
        if self.start[0] > 0.0 {
            now[0] / self.start[0] - 1.0
        } else {
            now[0]
        }
    }
}

impl<const D: usize> Flow<D> for TwoPhase<D>
where
    Host: AdaptKernels<D>,
{
    fn steps(&self) -> u64 {
        self.steps
    }

    fn time(&self) -> f64 {
        self.steps as f64 * self.dt
    }

    fn advance(&mut self, steps: u64) -> Result<(), Error> {
        self.go(steps)
    }

    fn check(&self) -> Result<(), Error> {
        self.flow.check().map_err(|error| self.failed(error))
    }

    fn mesh(&self) -> Result<&Mesh<D>, Error> {
        let Some(forest) = self.flow.forest() else {
            return Ok(&self.mesh);
        };
        if let Some(mesh) = self.now.get() {
            return Ok(mesh);
        }
        let forest = forest.download(&Host).map_err(VoxelError::from)?;
        let mut solid = self.flow.mesh().solid().to_vec();
        solid_above(&forest, &mut solid);
        let mesh = with_forest(&self.mesh, forest, solid)?;
        Ok(self.now.get_or_init(|| mesh))
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    fn take_looks(&mut self) -> Vec<AdaptationLook> {
        std::mem::take(&mut self.looks)
    }

    fn si(&self) -> FieldUnits {
        self.units.clone()
    }

    fn update(&self, _blocks: Option<&[u32]>, to: &mut FlowState<D>) -> Result<(), Error> {
        let (flow, cells) = (&self.flow, dims::cells(D));
        let phases = &flow.params().phases;
        let [liquid, gas] = phases.density;
        let count = flow.alpha().len();
        to.snapshot.step = self.steps;
        to.snapshot.density.resize(count, 0.0);
        for (of, u) in to.snapshot.velocity.iter_mut().zip(flow.velocity()) {
            of.clear();
            of.extend(u.iter().map(|&u| u as f32));
        }
        let pressure = to.pressure.get_or_insert_default();
        pressure.resize(count, 0.0);
        let more = usize::from(self.spheres.is_some()) + usize::from(self.heat.is_some());
        to.scalars.resize_with(1 + more, Vec::new);
        to.scalars[0].clear();
        to.scalars[0].extend(flow.alpha().iter().map(|&c| c as f32));
        if let (Some(spheres), Some(clear)) = (&self.spheres, flow.fluid_parts()?) {
            to.scalars[1].clear();
            to.scalars[1].extend(clear.iter().map(|&part| (1.0 - part) as f32));
            spheres.fill(bed_of(flow), to.particles.get_or_insert_default());
        }
        if let Some(temperature) = flow.temperature() {
            to.scalars[1].clear();
            to.scalars[1].extend(temperature.iter().map(|&t| t as f32));
        }
        for (i, &c) in flow.alpha().iter().enumerate() {
            let rho = gas + (liquid - gas) * c.clamp(0.0, 1.0);
            let at = flow.mesh().centre(i / cells, i % cells);
            let head = flow.params().head(at);
            let then = gas + (liquid - gas) * flow.alpha_of_pressure()[i].clamp(0.0, 1.0);
            to.snapshot.density[i] = rho as f32;
            pressure[i] = (flow.pressure()[i] + then * head) as f32;
        }
        Ok(())
    }

    fn save(&self, out: &mut dyn Write) -> Result<(), Error> {
        let TwoPhaseState {
            values,
            refined,
            path,
            time,
            steps,
            behind,
        } = self.flow.save();
        let all = &self.all;
        let head = [
            self.steps,
            steps,
            time.to_bits(),
            path.to_bits(),
            behind.to_bits(),
            self.start[0].to_bits(),
            self.start[1].to_bits(),
            all.substeps,
            all.iterations,
            all.courant.to_bits(),
            all.divergence.to_bits(),
            refined.len() as u64,
        ];
        let energy = self
            .energy
            .map_or([0.0; EnergyRecord::WORDS], |of| of.save());
        let mut bytes: Vec<u8> = head.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.extend(energy.into_iter().flat_map(f64::to_le_bytes));
        bytes.extend(refined);
        bytes.extend(values.into_iter().flat_map(f64::to_le_bytes));
        let of_heat = self.heat.as_ref().map(HeatRecord::save);
        bytes.extend(of_heat.into_iter().flatten().flat_map(f64::to_le_bytes));
        out.write_all(&bytes)
            .map_err(|e| Error::new(ErrorKind::Runtime, "cannot save the flow").because(&e))?;
        match &self.spheres {
            Some(spheres) => spheres.save(&self.flow.save_grains()?, out),
            None => Ok(()),
        }
    }

    fn restore(&mut self, from: &mut dyn Read) -> Result<(), Error> {
        let cut = |e: std::io::Error| Error::input("a checkpoint is cut").because(&e);
        let mut word = || {
            let mut bytes = [0; 8];
            from.read_exact(&mut bytes).map_err(cut)?;
            Ok::<u64, Error>(u64::from_le_bytes(bytes))
        };
        self.steps = word()?;
        let steps = word()?;
        let mut number = || word().map(f64::from_bits);
        let (time, path, behind) = (number()?, number()?, number()?);
        self.start = [f64::from_bits(word()?), f64::from_bits(word()?)];
        self.all = Since {
            substeps: word()?,
            iterations: word()?,
            courant: f64::from_bits(word()?),
            divergence: f64::from_bits(word()?),
            curvatures: [0; 2],
        };
        let blocks = word()?;
        let mut energy = [0.0; EnergyRecord::WORDS];
        for value in &mut energy {
            *value = f64::from_bits(word()?);
        }
        self.energy = self.energy.map(|_| EnergyRecord::restored(energy));
        let mut refined = Vec::new();
        let mut part = (&mut *from).take(blocks);
        part.read_to_end(&mut refined).map_err(cut)?;
        let count = self.flow.saved_values(&refined)?;
        let mut numbers = |count: usize| {
            let mut values = memory::with_capacity("a saved state", count)?;
            for _ in 0..count {
                let mut bytes = [0; 8];
                from.read_exact(&mut bytes).map_err(cut)?;
                values.push(f64::from_le_bytes(bytes));
            }
            Ok::<Vec<f64>, Error>(values)
        };
        let values = numbers(count)?;
        if let Some(heat) = &mut self.heat {
            heat.restore(&numbers(heat.words())?);
        }
        let state = TwoPhaseState {
            values,
            refined,
            path,
            time,
            steps,
            behind,
        };
        self.flow.restore(&state)?;
        if let Some(spheres) = &mut self.spheres {
            let bytes = spheres.restore(from)?;
            self.flow.restore_grains(&bytes)?;
        }
        self.epoch += 1;
        self.now = OnceLock::new();
        self.looks.clear();
        Ok(())
    }

    fn work(&self) -> StepWork {
        let blocks = self.flow.mesh().blocks();
        let leaves = (0..blocks.len()).filter(|&b| blocks.is_leaf(b)).count();
        StepWork::cells(leaves * dims::cells(D))
    }

    fn progress(&self) -> String {
        let steps = self.flow.steps().max(1);
        format!(
            ", {:.1} substeps a step",
            steps as f64 / self.steps.max(1) as f64
        )
    }

    fn tables(&mut self) -> Vec<&mut dyn Table> {
        let mut tables = self.tables.all();
        tables.extend(self.heat.as_mut().map(|of| &mut of.table as &mut dyn Table));
        if let Some(spheres) = &mut self.spheres {
            tables.push(&mut spheres.particles);
        }
        tables
    }

    fn next_due(&self, step: u64) -> Option<u64> {
        (self.every > 0).then(|| step - step % self.every + self.every)
    }

    fn look(&mut self, seen: &Seen<'_, D>, _now: &mut FlowState<D>) -> Result<(), Error> {
        if self.every == 0 || !seen.step.is_multiple_of(self.every) {
            return Ok(());
        }
        let now = self.flow.integrals();
        let mut line = vec![now.volume[0], now.volume[1], now.kinetic, now.potential];
        line.extend(now.centre);
        line.extend(now.mean_velocity);
        line.extend(now.extent.iter().flatten());
        let area = self.flow.interface_area();
        line.push(area);
        if let Some(energy) = &mut self.energy {
            let params = self.flow.params();
            let potential = from_the_bottom(params, self.flow.mesh().corners(), &now);
            let finest = self.flow.mesh().width(self.flow.mesh().blocks().finest());
            let interface = params.phases.surface_tension * area;
            let off = uncertain(params, finest, area);
            energy.add([now.kinetic, potential, interface, off]);
        }
        let since = std::mem::take(&mut self.since);
        let fits =
            since.curvatures[1] as f64 / since.curvatures.iter().sum::<usize>().max(1) as f64;
        line.extend([now.largest_velocity, since.substeps as f64]);
        line.extend([
            since.iterations as f64,
            since.courant,
            since.divergence,
            fits,
        ]);
        self.tables.phases.add(seen.step, line);
        if seen.step > 0 && seen.step.is_multiple_of(SAMPLE_EVERY * self.every) {
            self.coarse.sample(&self.flow);
        }
        let time = self.steps as f64 * self.dt;
        self.coarse.line(&self.flow, &now, time, since.substeps);
        let of_spheres = match &mut self.spheres {
            Some(spheres) => {
                spheres.add(seen.step, &bed_now(&self.flow));
                spheres.forces(bed_of(&self.flow))
            }
            None => Vec::new(),
        };
        self.tables.measure(seen.step, &self.flow, of_spheres);
        let now = self.flow.heat_account().zip(self.flow.heat_spread());
        if let (Some(heat), Some(now)) = (&mut self.heat, now) {
            heat.add(seen.step, now, self.steps as f64 * self.dt);
        }
        Ok(())
    }

    fn is_settled(&self, change: f64) -> Option<bool> {
        // At rest: less than this part of a cell in a step.
        let now = self.flow.integrals();
        let finest = self.flow.mesh().width(self.flow.mesh().blocks().finest());
        let is_at_rest = now.largest_velocity * self.dt < change * finest;
        let is_warm = (self.heat.as_ref().zip(self.flow.heat_account()))
            .is_none_or(|(heat, now)| heat.is_settled(now, change));
        Some(is_at_rest && is_warm)
    }

    fn notes(&self) -> Map<String, Value> {
        [("coarse".to_owned(), self.coarse.to_json())]
            .into_iter()
            .collect()
    }

    fn take_notes(&mut self, notes: Map<String, Value>) -> Result<(), Error> {
        if let Some(kept) = notes.get("coarse") {
            self.coarse.restore(kept);
        }
        Ok(())
    }

    fn report(&mut self, _seen: &Seen<'_, D>, _now: &mut FlowState<D>) -> Result<Report<D>, Error> {
        let now = self.flow.integrals();
        let change = self.change_of_volume();
        let steps = self.flow.steps();
        let iterations = self.all.iterations as f64 / self.all.substeps.max(1) as f64;
        let (of_spheres, said) = match &mut self.spheres {
            Some(spheres) => spheres.report(&bed_now(&self.flow)),
            None => (Value::Null, String::new()),
        };
        let mut json = json!({
            "kind": "two-phase",
            "substeps": steps,
            "liquid_volume": now.volume[0],
            "gas_volume": now.volume[1],
            "volume_change": self.is_closed.then_some(change),
            "kinetic_energy": now.kinetic,
            "largest_velocity": now.largest_velocity,
            "pressure_iterations": iterations,
            "largest_courant": self.all.courant,
            "largest_divergence": self.all.divergence,
            "look_seconds": self.flow.forest().map(|_| {
                let LookParts { seen, marks, forest, mesh, fields } = self.look_parts;
                json!({ "seen": seen, "marks": marks, "forest": forest, "mesh": mesh, "fields": fields, "operators": self.setup })
            }),
        });
        let mut above = format!(
            "{steps} substeps, {iterations:.1} iterations of the pressure each; largest Courant number {:.2}\n",
            self.all.courant
        );
        if self.is_closed {
            above += &format!("the liquid's volume has changed by {change:.1e} of it\n");
        }
        above += &format!("largest velocity {:.4e} m/s\n", now.largest_velocity);
        if let (Some(heat), Some(now)) = (&self.heat, self.flow.heat_account()) {
            let (keys, said) = heat.report(now);
            json["heat"] = keys;
            above += &said;
        }
        if !of_spheres.is_null() {
            json["particles"] = of_spheres;
            above += &said;
        }
        Ok(Report {
            json: match json {
                Value::Object(keys) => keys,
                _ => unreachable!("an object was made above"),
            },
            lines: [above, String::new()],
            ..Report::default()
        })
    }

    fn judge(&self, _seen: &Seen<'_, D>, _statistics: &Statistics<'_, D>) -> Vec<Check> {
        let mut checks = self.all.judge();
        if self.is_closed {
            checks.push(Check {
                name: "volume",
                value: self.change_of_volume().abs(),
                bars: [1e-9, 1e-6],
                what: "change of the liquid's volume over it, which can neither leave nor enter"
                    .into(),
                remedy: Some("a smaller [numerics] cfl".into()),
            });
        }
        // The last sample is not kept, so that a run that goes on has those of one without a pause.
        let mut coarse = self.coarse.clone();
        coarse.sample(&self.flow);
        checks.extend(coarse.judge());
        checks.extend(self.energy.as_ref().and_then(EnergyRecord::judge));
        if let (Some(heat), Some(now)) = (&self.heat, self.flow.heat_account()) {
            checks.extend(heat.check(now));
        }
        if let Some(spheres) = &self.spheres {
            checks.extend(spheres.checks(bed_of(&self.flow)));
        }
        checks
    }
}

/// The bed of a flow that has one.
fn bed_of<const D: usize>(flow: &TwoPhaseFlow<D>) -> &Bed {
    flow.bed().expect("a flow with spheres has a bed")
}

/// The same, with what the fluid does to it.
fn bed_now<const D: usize>(flow: &TwoPhaseFlow<D>) -> BedNow<'_> {
    let (bed, given) = (bed_of(flow), flow.params().gravity);
    let gravity = std::array::from_fn(|a| given.get(a).copied().unwrap_or(0.0));
    let mut fluid_force = [0.0; 3];
    if flow.steps() > 0 {
        let mass: f64 = bed.masses().iter().sum();
        for motion in flow.grain_motions() {
            (0..3).for_each(|a| fluid_force[a] += motion.force[a]);
        }
        let drive = flow.coupling().drive;
        for ((sum, g), drive) in fluid_force.iter_mut().zip(gravity).zip(drive) {
            *sum -= mass * (g + drive);
        }
    }
    BedNow {
        bed,
        gravity,
        fluid_force,
    }
}
