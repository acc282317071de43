//! The spheres of a running flow: `particles.csv`, forces on walls, outputs, checks, and their part of a checkpoint.

use super::{
    flow::{fill, restored, save},
    history::{BedLine, BedWalls, COLUMNS, Extremes},
    in_flow::BedInFlow,
    walls::CaseWalls,
};
use cutlink_common::Error;
use cutlink_flow::{
    Check, Lines,
    particles::{ParticleState, ShownWalls},
};
use cutlink_grains::{Bed, StepLimit};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    sync::Arc,
};

/// The spheres of a flow as they are now.
pub(in crate::solve) struct BedNow<'a> {
    pub(in crate::solve) bed: &'a Bed,
    /// Their weight, m/s².
    pub(in crate::solve) gravity: [f64; 3],
    /// The sum of what the fluid does to them, N: without their weight.
    pub(in crate::solve) fluid_force: [f64; 3],
}

/// What a run has of its spheres beside the flow, which has the bed.
pub(in crate::solve) struct RunningSpheres {
    walls: CaseWalls,
    shown: Arc<ShownWalls>,
    bed_walls: BedWalls,
    pub(in crate::solve) particles: Lines,
    materials: Vec<String>,
    pub(in crate::solve) ends: Vec<usize>,
    extremes: Extremes,
    /// Extremes with those of the end of the run, which a resumed run does not have.
    at_end: Option<Extremes>,
}

impl RunningSpheres {
    /// Of a run whose steps have so many seconds; the bed, for the flow, is the second.
    pub(in crate::solve) fn new(spheres: BedInFlow, dt: f64) -> (Self, Bed) {
        let BedInFlow {
            bed,
            mut walls,
            materials,
            ends,
            ..
        } = spheres;
        let forces = ["x", "y", "z"].map(|a| format!("fluid force {a}"));
        let names = COLUMNS.into_iter().chain(forces.iter().map(String::as_str));
        let running = Self {
            bed_walls: BedWalls::new(&bed, &walls),
            shown: Arc::new(std::mem::take(&mut walls.shown)),
            walls,
            particles: Lines::new("particles.csv", &names.collect::<Vec<_>>(), dt),
            materials,
            ends,
            extremes: Extremes::default(),
            at_end: None,
        };
        (running, bed)
    }

    /// Columns of `loads.csv`.
    pub(in crate::solve) fn columns(&self) -> Vec<String> {
        self.bed_walls.columns("spheres")
    }

    /// Forces of spheres on walls, N, in the order of the columns.
    pub(in crate::solve) fn forces(&self, bed: &Bed) -> Vec<f64> {
        self.bed_walls.forces(bed, &self.walls)
    }

    /// The bed now; its potential energy is that of the flow's weight.
    fn line(&self, now: &BedNow<'_>) -> BedLine {
        let bed = now.bed;
        let mut line = BedLine::of(bed, &self.walls);
        let low = bed.params().domain.lower;
        let each = bed.masses().into_iter().zip(bed.grains());
        line.energy.gravity = -each
            .map(|(mass, grain)| {
                let work = now.gravity.iter().zip(grain.center).zip(low);
                mass * work.map(|((g, x), low)| g * (x - low)).sum::<f64>()
            })
            .sum::<f64>();
        line
    }

    /// Adds a line to `particles.csv`.
    pub(in crate::solve) fn add(&mut self, step: u64, now: &BedNow<'_>) {
        let line = self.line(now);
        self.extremes.add(&line);
        let mut values = line.values();
        values.extend(now.fluid_force);
        self.particles.add(step, values);
    }

    /// Of the summary: keys, and lines of text.
    pub(in crate::solve) fn report(&mut self, of: &BedNow<'_>) -> (Value, String) {
        let (bed, now) = (of.bed, self.line(of));
        let mut extremes = self.extremes;
        extremes.add(&now);
        self.at_end = Some(extremes);
        let energy = &now.energy;
        let json = json!({
            "spheres": bed.len(),
            "materials": self.materials,
            "pairs": now.pairs,
            "wall_contacts": now.at_walls,
            "kinetic_energy": energy.kinetic,
            "spin_energy": energy.spin,
            "elastic_energy": energy.elastic,
            "potential_energy": energy.gravity,
            "largest_speed": now.speed,
            "largest_overlap": extremes.overlap,
            "centre_of_mass": now.center,
            "fluid_force": of.fluid_force,
            "lost": now.lost,
            "contact_steps": bed.steps(),
        });
        let text = format!(
            "{} sphere{}, {} contacts of pairs and {} with walls; largest speed {:.4e} m/s, largest overlap {:.2} % of the radius\n",
            bed.len(),
            if bed.len() == 1 { "" } else { "s" },
            now.pairs,
            now.at_walls,
            now.speed,
            100.0 * extremes.overlap
        );
        (json, text)
    }

    /// Rows of the verdict.
    pub(in crate::solve) fn checks(&self, bed: &Bed) -> Vec<Check> {
        let extremes = self.at_end.unwrap_or(self.extremes);
        let limit = StepLimit::of(&bed.params().materials, &bed.grains(), extremes.speed);
        let step = [
            bed.params().dt,
            limit.map_or(f64::INFINITY, |limit| limit.limit),
        ];
        extremes.checks(bed.len(), false, step, "contact_step")
    }

    /// The spheres for outputs.
    pub(in crate::solve) fn fill(&self, bed: &Bed, to: &mut ParticleState) {
        fill(to, bed, &self.shown);
    }

    /// Saves what a run has of them, and the state of the bed where the flow's own has none.
    ///
    /// # Errors
    /// What cannot be written.
    pub(in crate::solve) fn save(&self, bed: &[u8], out: &mut dyn Write) -> Result<(), Error> {
        save(&self.extremes, bed, out)
    }

    /// Takes what was saved; returns the state of the bed.
    ///
    /// # Errors
    /// A checkpoint that is cut.
    pub(in crate::solve) fn restore(&mut self, from: &mut dyn Read) -> Result<Vec<u8>, Error> {
        let (extremes, bytes) = restored(from)?;
        self.extremes = extremes;
        Ok(bytes)
    }
}
