//! The spheres of a running flow: `particles.csv`, forces on walls, outputs, checks, and their part of a checkpoint.

use super::spheres::Spheres;
use crate::solve::grains::{
    flow::{fill, restored, save},
    history::{BedLine, BedWalls, COLUMNS, Extremes},
    walls::CaseWalls,
};
use cutlink_common::Error;
use cutlink_flow::{
    Check, Lines,
    particles::{ParticleState, ShownWalls},
};
use cutlink_grains::{Bed, StepLimit};
use cutlink_vof::TwoPhaseFlow;
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    sync::Arc,
};

/// What a run has of its spheres beside the flow, which has the bed.
pub(super) struct RunningSpheres {
    walls: CaseWalls,
    shown: Arc<ShownWalls>,
    bed_walls: BedWalls,
    pub(super) particles: Lines,
    materials: Vec<String>,
    pub(super) ends: Vec<usize>,
    extremes: Extremes,
    /// Extremes with those of the end of the run, which a resumed run does not have.
    at_end: Option<Extremes>,
}

/// The bed of a flow that has one.
fn bed_of<const D: usize>(flow: &TwoPhaseFlow<D>) -> &Bed {
    flow.bed().expect("a flow with spheres has a bed")
}

impl RunningSpheres {
    /// Of a run whose steps have so many seconds; the bed, for the flow, is the second.
    pub(super) fn new(spheres: Spheres, dt: f64) -> (Self, Bed) {
        let Spheres {
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
    pub(super) fn columns(&self) -> Vec<String> {
        self.bed_walls.columns("spheres")
    }

    /// Forces of spheres on walls, N, in the order of the columns.
    pub(super) fn forces<const D: usize>(&self, flow: &TwoPhaseFlow<D>) -> Vec<f64> {
        self.bed_walls.forces(bed_of(flow), &self.walls)
    }

    /// The bed now; its potential energy is that of the flow's weight.
    fn line<const D: usize>(&self, flow: &TwoPhaseFlow<D>) -> BedLine {
        let bed = bed_of(flow);
        let mut line = BedLine::of(bed, &self.walls);
        let (gravity, low) = (flow.params().gravity, bed.params().domain.lower);
        let each = bed.masses().into_iter().zip(bed.grains());
        line.energy.gravity = -each
            .map(|(mass, grain)| {
                let work = gravity.iter().zip(grain.center).zip(low);
                mass * work.map(|((g, x), low)| g * (x - low)).sum::<f64>()
            })
            .sum::<f64>();
        line
    }

    /// The sum of what the fluid does to the spheres, N: without their weight.
    fn fluid_force<const D: usize>(&self, flow: &TwoPhaseFlow<D>) -> [f64; 3] {
        let mut sum = [0.0; 3];
        if flow.steps() == 0 {
            return sum;
        }
        let mass: f64 = bed_of(flow).masses().iter().sum();
        for motion in flow.grain_motions() {
            (0..3).for_each(|a| sum[a] += motion.force[a]);
        }
        let gravity = flow.params().gravity;
        let weight = gravity.iter().chain(&[0.0; 3]);
        for ((sum, g), drive) in sum.iter_mut().zip(weight).zip(flow.coupling().drive) {
            *sum -= mass * (g + drive);
        }
        sum
    }

    /// Adds a line to `particles.csv`.
    pub(super) fn add<const D: usize>(&mut self, step: u64, flow: &TwoPhaseFlow<D>) {
        let line = self.line(flow);
        self.extremes.add(&line);
        let mut values = line.values();
        values.extend(self.fluid_force(flow));
        self.particles.add(step, values);
    }

    /// Of the summary: keys, and lines of text.
    pub(super) fn report<const D: usize>(&mut self, flow: &TwoPhaseFlow<D>) -> (Value, String) {
        let (bed, now) = (bed_of(flow), self.line(flow));
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
            "fluid_force": self.fluid_force(flow),
            "lost": now.lost,
            "contact_steps": bed.steps(),
        });
        let text = format!(
            "{} spheres, {} contacts of pairs and {} with walls; largest speed {:.4e} m/s, largest overlap {:.2} % of the radius\n",
            bed.len(),
            now.pairs,
            now.at_walls,
            now.speed,
            100.0 * extremes.overlap
        );
        (json, text)
    }

    /// Rows of the verdict.
    pub(super) fn checks<const D: usize>(&self, flow: &TwoPhaseFlow<D>) -> Vec<Check> {
        let (bed, extremes) = (bed_of(flow), self.at_end.unwrap_or(self.extremes));
        let limit = StepLimit::of(&bed.params().materials, &bed.grains(), extremes.speed);
        let step = [
            bed.params().dt,
            limit.map_or(f64::INFINITY, |limit| limit.limit),
        ];
        extremes.checks(bed.len(), false, step, "contact_step")
    }

    /// The spheres for outputs.
    pub(super) fn fill<const D: usize>(&self, flow: &TwoPhaseFlow<D>, to: &mut ParticleState) {
        fill(to, bed_of(flow), &self.shown);
    }

    /// # Errors
    /// What cannot be written, memory.
    pub(super) fn save<const D: usize>(
        &self,
        flow: &TwoPhaseFlow<D>,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        save(&self.extremes, &flow.save_grains()?, out)
    }

    /// After the flow was restored.
    ///
    /// # Errors
    /// A checkpoint that is cut, or of other spheres.
    pub(super) fn restore<const D: usize>(
        &mut self,
        flow: &mut TwoPhaseFlow<D>,
        from: &mut dyn Read,
    ) -> Result<(), Error> {
        let (extremes, bytes) = restored(from)?;
        flow.restore_grains(&bytes)?;
        self.extremes = extremes;
        Ok(())
    }
}
