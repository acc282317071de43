//! Lattice Boltzmann flows of a case, behind the door of every physics ([`cutlink_flow`]).
//!
//! | file | what |
//! |---|---|
//! | `budget` | the cells that a mesh which follows the flow may have |
//! | `forecast` | memory, shares of ranks and notes before the first step |
//! | `initial_state` | the state at the start: from the case, or from another run |
//! | `judge` | the verdict |
//! | `mesh_file` | a mesh file in place of a surface |
//! | `pilot` | whether the time step is right by what the flow has shown, and another one if not |
//! | `report` | what the summary has of these flows alone |
//! | `set_up` | the device, the mesh of the case, the plan and its forecast, the flow |

mod budget;
mod forecast;
mod initial_state;
mod judge;
mod mesh_file;
mod pilot;
mod report;
mod set_up;
mod spheres;
mod start;

use crate::solve::verdict::openings::{FacesLook, Openings};
use crate::solve::{
    energy::Energy,
    heat::lattice::{RunningHeat, temperature_field},
    hints,
    integrals::Integrals,
    laws::Laws,
    motion::Motions,
    resolve::Resolved,
    shares::Shares,
    sheet::Sheet,
};
use cutlink_common::{Error, ErrorKind};
use cutlink_flow::{
    Flow, FlowState, Growth, PointValue, Report, Seen, Statistics, StepWork, Table,
    bulk::Bulk,
    fields::{FieldUnits, FieldWriter},
    verdict::Check,
    watch,
};
use cutlink_mesher::snap::Snapped;
use cutlink_solver::{
    AdaptationLook, ForceSample, LatticeFlow, RigidBodies, RunningMeans,
    fields::{Integrals as Means, blocks_around, velocity_at},
};
use cutlink_voxelizer::Mesh;
use judge::End;
use pilot::{Pilot, PilotNotes};
use rayon::prelude::*;
use serde_json::{Map, Value};
use spheres::LatticeSpheres;
use start::SetUp;
use std::{
    io::{Read, Write},
    sync::Arc,
};

/// Steps between two samples of the kinetic energy.
const CHUNK: u64 = cutlink_flow::CHUNK;

/// A lattice Boltzmann flow of a case, and what is measured of it.
struct Lattice<'a, const D: usize> {
    flow: Box<dyn LatticeFlow<D> + 'a>,
    resolved: Resolved<D>,
    /// The body, if there is one.
    surface: Option<&'a Snapped<D>>,
    /// Bodies that move, and `motion.csv`.
    bodies: Option<Arc<RigidBodies<D>>>,
    motions: Option<Motions<D>>,
    energy: Option<Energy>,
    heat: Option<RunningHeat>,
    spheres: Option<LatticeSpheres>,
    integrals: Integrals<D>,
    /// Ids of the blocks whose values `integrals` takes.
    open: Vec<u32>,
    /// Bulk quantities of the flow at each check so far.
    looks: Vec<Bulk>,
    /// Its open faces then.
    faces: Vec<FacesLook>,
    openings: Openings<D>,
    /// The finest level of the mesh at the start.
    finest: usize,
    /// The earliest root step at which it can have settled, or be judged.
    earliest: u64,
    sheet: Sheet,
    laws: Laws,
    /// How ranks share the flow, if there are several.
    shares: Option<Shares>,
    set_up: SetUp,
    pilot: Pilot,
    /// What the verdict is about, once the run has ended.
    end: Option<End<D>>,
}

impl<const D: usize> Lattice<'_, D> {
    /// Adds a line of integrals, and returns the means of the fluid.
    fn add_integrals(
        &mut self,
        seen: &Seen<'_, D>,
        now: &mut FlowState<D>,
    ) -> Result<Means, Error> {
        let now = &mut now.snapshot;
        let means = self.flow.integrals(&self.open, now)?;
        self.integrals
            .add(self.flow.mesh()?, &means, now, seen.last);
        if let Some(heat) = &mut self.heat {
            heat.add(seen.step, &*self.flow)?;
        }
        if let Some(spheres) = &mut self.spheres {
            spheres.add(seen.step, &*self.flow);
        }
        Ok(means)
    }
}

impl<const D: usize> Flow<D> for Lattice<'_, D> {
    fn steps(&self) -> u64 {
        self.flow.steps()
    }

    fn time(&self) -> f64 {
        self.flow.steps() as f64 * self.resolved.units.time
    }

    fn advance(&mut self, steps: u64) -> Result<(), Error> {
        self.flow
            .advance(steps)
            .map_err(|error| match &self.spheres {
                Some(spheres) => spheres.told(error),
                None => error.into(),
            })
    }

    fn wait(&self) -> Result<(), Error> {
        Ok(self.flow.wait()?)
    }

    fn check(&self) -> Result<(), Error> {
        Ok(self.flow.check()?)
    }

    fn mesh(&self) -> Result<&Mesh<D>, Error> {
        Ok(self.flow.mesh()?)
    }

    fn epoch(&self) -> u64 {
        self.flow.epoch()
    }

    fn update(&self, blocks: Option<&[u32]>, to: &mut FlowState<D>) -> Result<(), Error> {
        self.flow.update(blocks, &mut to.snapshot)?;
        if self.heat.is_some() {
            to.scalars.resize_with(1, Vec::new);
            self.flow.temperature(&mut to.scalars[0])?;
        }
        if let Some(spheres) = &self.spheres {
            spheres.fill(&*self.flow, to.particles.get_or_insert_default());
        }
        Ok(())
    }

    fn save(&self, out: &mut dyn Write) -> Result<(), Error> {
        self.flow.save(out)?;
        if let Some(heat) = &self.heat {
            save_words(&heat.record.save(), out)?;
        }
        match &self.spheres {
            Some(spheres) => spheres.save(out),
            None => Ok(()),
        }
    }

    fn restore(&mut self, from: &mut dyn Read) -> Result<(), Error> {
        self.flow.restore(from)?;
        if let Some(heat) = &mut self.heat {
            let words = read_words(heat.record.words(), from)?;
            heat.record.restore(&words);
        }
        match &mut self.spheres {
            Some(spheres) => spheres.restore(from),
            None => Ok(()),
        }
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.open = self.integrals.blocks(self.flow.mesh()?);
        Ok(())
    }

    fn si(&self) -> FieldUnits {
        let units = &self.resolved.units;
        let scalars = self.heat.iter().filter_map(|_| temperature_field().ok());
        FieldUnits {
            scalars: scalars.collect(),
            particles: self.spheres.is_some(),
            ..FieldUnits::si(units.length, units.time, units.density)
        }
    }

    fn sample(&self, points: &[[f64; D]]) -> Result<Vec<PointValue<D>>, Error> {
        let mesh = self.flow.mesh()?;
        let places = cutlink_flow::places(mesh, points);
        let mut now = FlowState::default();
        self.update(Some(&blocks_around(mesh, &places)), &mut now)?;
        let units = &self.resolved.units;
        let velocity = units.velocity();
        // The squared speed of sound is 1/3 on the lattice.
        let pressure = units.density * velocity * velocity / 3.0;
        let value = |&at: &[f64; D]| {
            let (density, u) = velocity_at(mesh, &now.snapshot, at)?;
            Some(((density - 1.0) * pressure, u.map(|u| u * velocity)))
        };
        Ok(places.par_iter().map(value).collect())
    }

    fn average(&self, means: &mut RunningMeans<D>) -> Result<(), Error> {
        Ok(self.flow.sample(means)?)
    }

    fn take_loads(&mut self) -> Result<Vec<ForceSample>, Error> {
        if let Some(motions) = &mut self.motions {
            motions.add(&self.flow.take_motion());
        }
        Ok(self.flow.take_forces()?)
    }

    fn take_looks(&mut self) -> Vec<AdaptationLook> {
        self.flow.take_looks()
    }

    fn work(&self) -> StepWork {
        StepWork::cells(self.flow.updates() as usize)
    }

    fn tables(&mut self) -> Vec<&mut dyn Table> {
        let mut tables: Vec<&mut dyn Table> = Vec::new();
        if let Some(energy) = &mut self.energy {
            tables.push(energy);
        }
        if let Some(motions) = &mut self.motions {
            tables.push(motions);
        }
        if self.integrals.every > 0 {
            tables.push(&mut self.integrals);
            tables.extend(
                self.heat
                    .as_mut()
                    .map(|of| &mut of.record.table as &mut dyn Table),
            );
            tables.extend(self.spheres.iter_mut().flat_map(LatticeSpheres::tables));
        }
        tables
    }

    fn next_due(&self, step: u64) -> Option<u64> {
        let every = self.integrals.every;
        let of_integrals = (every > 0).then(|| step - step % every + every);
        of_integrals
            .into_iter()
            .chain(self.pilot.next_due(step))
            .min()
    }

    fn look(&mut self, seen: &Seen<'_, D>, now: &mut FlowState<D>) -> Result<(), Error> {
        let step = seen.step;
        let of_energy = self.energy.is_some() && step.is_multiple_of(CHUNK) && !seen.is_start;
        let of_integrals = self.integrals.is_due(step);
        let of_pilot = self.pilot.is_due(step);
        if !(seen.is_watched || of_energy || of_integrals || of_pilot) {
            return Ok(());
        }
        let means = match (of_integrals, seen.is_watched) {
            (true, _) => self.add_integrals(seen, now)?,
            (_, true) => self.flow.integrals(&self.open, &mut now.snapshot)?,
            _ => self.flow.integrals(&[], &mut now.snapshot)?,
        };
        let bulk = Bulk::new(step, &means);
        if let Some(energy) = self.energy.as_mut().filter(|_| of_energy) {
            energy.add(&bulk);
        }
        if seen.is_watched {
            self.looks.push(bulk);
            let mesh = self.flow.mesh()?;
            let faces = self.openings.look(mesh, &now.snapshot, step);
            self.faces.push(faces);
        }
        if of_pilot {
            self.pilot.add(bulk, &self.resolved);
        }
        Ok(())
    }

    fn hands_over(&self) -> bool {
        self.pilot.next().is_some()
    }

    fn growth(&self) -> Option<Growth> {
        watch::bulk(&self.looks)
    }

    fn show_body(&self, fields: &mut FieldWriter<D>, is_first: bool) -> Result<(), Error> {
        let Some(surface) = self.surface_now()? else {
            return Ok(());
        };
        if is_first || self.bodies.is_some() {
            fields.set_surface(self.flow.mesh()?, &surface);
        }
        if let Some(most) = fields.needs_body() {
            fields.set_body(self.facets(&surface, most)?);
        }
        Ok(())
    }

    fn follow(&mut self) -> Result<(), Error> {
        self.open = self.integrals.blocks(self.flow.mesh()?);
        Ok(())
    }

    fn is_settled(&self, change: f64) -> Option<bool> {
        let of_flow = self.energy.as_ref().map(|energy| energy.is_settled(change));
        // Without an energy, forces tell once the heat has settled.
        let is_warm = self.heat.as_ref().is_none_or(|heat| {
            let now = heat.now(&*self.flow);
            now.is_ok_and(|(now, _)| heat.record.is_settled(&now, change))
        });
        if is_warm { of_flow } else { Some(false) }
    }

    fn advice(&self, saved: Option<u64>) -> Option<String> {
        let (params, physics) = (&self.resolved.params, &self.resolved.physics);
        let viscous = self.laws.too_viscous();
        let fast = self.laws.too_fast();
        Some(hints::diverged(params, physics, viscous, fast, saved))
    }

    fn notes(&self) -> Map<String, Value> {
        let notes = [
            ("looks", serde_json::to_value(&self.looks)),
            ("faces", serde_json::to_value(&self.faces)),
            ("pilot", serde_json::to_value(self.pilot.notes())),
        ];
        let value = |of: serde_json::Result<Value>| of.expect("numbers are JSON");
        let notes = notes.map(|(name, of)| (name.to_owned(), value(of)));
        notes.into_iter().collect()
    }

    fn take_notes(&mut self, notes: Map<String, Value>) -> Result<(), Error> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Notes {
            looks: Vec<Bulk>,
            faces: Vec<FacesLook>,
            pilot: PilotNotes,
        }
        let notes: Notes = serde_json::from_value(Value::Object(notes)).map_err(|e| {
            Error::input("the header of a checkpoint is not of this flow").because(&e)
        })?;
        (self.looks, self.faces) = (notes.looks, notes.faces);
        self.pilot.take_notes(notes.pilot);
        Ok(())
    }

    fn report(&mut self, seen: &Seen<'_, D>, now: &mut FlowState<D>) -> Result<Report<D>, Error> {
        self.report_of(seen, now)
    }

    fn judge(&self, seen: &Seen<'_, D>, statistics: &Statistics<'_, D>) -> Vec<Check> {
        match &self.end {
            Some(end) => self.judged(end, seen, statistics),
            None => Vec::new(),
        }
    }
}

/// Writes numbers of a saved state.
fn save_words(words: &[f64], out: &mut dyn Write) -> Result<(), Error> {
    let bytes: Vec<u8> = words.iter().flat_map(|of| of.to_le_bytes()).collect();
    out.write_all(&bytes)
        .map_err(|e| Error::new(ErrorKind::Runtime, "cannot save the flow").because(&e))
}

/// Reads so many of them.
fn read_words(count: usize, from: &mut dyn Read) -> Result<Vec<f64>, Error> {
    let mut word = || {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)
            .map_err(|e| Error::input("a checkpoint is cut").because(&e))?;
        Ok(f64::from_le_bytes(bytes))
    };
    (0..count).map(|_| word()).collect()
}
