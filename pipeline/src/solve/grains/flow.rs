//! The running bed, behind the door of every physics.

use super::{
    cells::Cells,
    history::{BedLine, Extremes, Histories},
    resolve::GrainsSetting,
    walls::CaseWalls,
};
use crate::solve::particles::{BedOf, explained};
use cutlink_common::{Error, ErrorKind};
use cutlink_flow::{
    Check, Flow, FlowState, Report, Seen, Statistics, StepWork, Table,
    fields::FieldUnits,
    particles::{ParticleState, ShownWalls},
};
use cutlink_grains::{Bed, BoxAxis, StepLimit};
use cutlink_voxelizer::Mesh;
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    sync::{Arc, Mutex},
};

/// A bed in a run.
pub(super) struct GrainsFlow {
    bed: Bed,
    walls: CaseWalls,
    shown: Arc<ShownWalls>,
    /// The cells that fields are summed on.
    mesh: Mesh<3>,
    units: FieldUnits,
    /// Steps between lines of the tables.
    every: u64,
    histories: Histories,
    materials: Vec<String>,
    ends: Vec<usize>,
    /// Extremes with those of the end of the run, which a resumed run does not have.
    at_end: Option<Extremes>,
    /// Memory for sums.
    cells: Mutex<Cells>,
}

/// Contacts a sphere of a bed at rest. A step of spheres with n contacts each takes 1 + n times as long as one in the air: both measured.
const CONTACTS: f64 = 2.5;

impl GrainsFlow {
    pub(super) fn new(setting: GrainsSetting, units: FieldUnits, every: u64) -> Self {
        let GrainsSetting {
            bed,
            mut walls,
            mesh,
            materials,
            ends,
            ..
        } = setting;
        Self {
            histories: Histories::new(&bed, &walls, bed.params().dt),
            shown: Arc::new(std::mem::take(&mut walls.shown)),
            bed,
            walls,
            mesh,
            units,
            every,
            materials,
            ends,
            at_end: None,
            cells: Mutex::default(),
        }
    }

    /// Whether gravity has a potential in the box.
    fn has_potential(&self) -> bool {
        let params = self.bed.params();
        !(0..3).any(|a| params.gravity[a] != 0.0 && params.domain.axes[a] == BoxAxis::Periodic)
    }

    /// The limit of the step at the largest speed so far.
    fn limit(&self, extremes: &Extremes) -> f64 {
        let materials = &self.bed.params().materials;
        let limit = StepLimit::of(materials, &self.bed.grains(), extremes.speed);
        limit.map_or(f64::INFINITY, |limit| limit.limit)
    }
}

/// The spheres of a bed, for outputs.
pub(in crate::solve) fn fill(particles: &mut ParticleState, bed: &Bed, shown: &Arc<ShownWalls>) {
    particles.clear();
    particles.walls = Arc::clone(shown);
    particles.contacts = bed.contact_counts();
    for grain in bed.grains() {
        particles.center.push(grain.center);
        particles.velocity.push(grain.velocity);
        particles.spin.push(grain.spin);
        particles.radius.push(grain.radius);
        particles.material.push(grain.material);
    }
}

/// Saves a bed, as its bytes, with the extremes of its run.
pub(in crate::solve) fn save(
    extremes: &Extremes,
    bed: &[u8],
    out: &mut dyn Write,
) -> Result<(), Error> {
    let unsaved =
        |e: std::io::Error| Error::new(ErrorKind::Runtime, "cannot save the spheres").because(&e);
    let length = (bed.len() as u64).to_le_bytes();
    for part in [&extremes.to_bytes()[..], &length, bed] {
        out.write_all(part).map_err(unsaved)?;
    }
    Ok(())
}

/// What [`save`] has written.
///
/// # Errors
/// A checkpoint that is cut.
pub(in crate::solve) fn restored(from: &mut dyn Read) -> Result<(Extremes, Vec<u8>), Error> {
    let cut = |e: std::io::Error| Error::input("a checkpoint is cut").because(&e);
    let (mut extremes, mut length) = ([0; Extremes::BYTES], [0; 8]);
    from.read_exact(&mut extremes).map_err(cut)?;
    from.read_exact(&mut length).map_err(cut)?;
    let mut bytes = Vec::new();
    let length = u64::from_le_bytes(length);
    from.take(length).read_to_end(&mut bytes).map_err(cut)?;
    Ok((Extremes::from_bytes(&extremes), bytes))
}

impl Flow<3> for GrainsFlow {
    fn steps(&self) -> u64 {
        self.bed.steps()
    }

    fn time(&self) -> f64 {
        self.bed.time()
    }

    fn advance(&mut self, steps: u64) -> Result<(), Error> {
        self.bed.run(steps).map_err(|error| {
            let (step, time) = (self.bed.steps(), self.bed.time());
            let at = format!("the run stopped in step {step} (time {time:.6} s)");
            let error = explained(error, &self.ends, BedOf::Grains).within(&at);
            match error.kind {
                ErrorKind::Diverged => error.hint(
                    "a smaller [numerics] time_step, a larger youngs_modulus, or spheres that do not overlap at the start",
                ),
                _ => error,
            }
        })
    }

    fn check(&self) -> Result<(), Error> {
        // Each step looks at the places of all spheres.
        Ok(())
    }

    fn mesh(&self) -> Result<&Mesh<3>, Error> {
        Ok(&self.mesh)
    }

    fn si(&self) -> FieldUnits {
        self.units.clone()
    }

    fn update(&self, _blocks: Option<&[u32]>, to: &mut FlowState<3>) -> Result<(), Error> {
        let grains = self.bed.grains();
        to.snapshot.step = self.bed.steps();
        let mut cells = self
            .cells
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        cells.fill(&self.bed, &grains, &self.mesh, to);
        fill(to.particles.get_or_insert_default(), &self.bed, &self.shown);
        Ok(())
    }

    fn save(&self, out: &mut dyn Write) -> Result<(), Error> {
        save(&self.histories.extremes, &self.bed.save()?, out)
    }

    fn restore(&mut self, from: &mut dyn Read) -> Result<(), Error> {
        let (extremes, bytes) = restored(from)?;
        let (params, surface) = (self.bed.params().clone(), self.bed.surface().cloned());
        self.bed = Bed::restore(params, surface, &bytes)?;
        self.histories.extremes = extremes;
        Ok(())
    }

    fn work(&self) -> StepWork {
        StepWork {
            amount: self.bed.len() as f64,
            unit: "million spheres a second",
            scale: 1e6,
            digits: 2,
            key: "million_spheres_per_second",
        }
    }

    /// By the time in which spheres fall through the box and come to rest.
    fn slows(&self, steps: u64) -> f64 {
        let params = self.bed.params();
        let weight: f64 = params.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        let way = (0..3).map(|a| params.domain.length(a) * params.gravity[a].abs() / weight);
        let fall = (2.0 * way.sum::<f64>() / weight).sqrt();
        if !(self.has_potential() && fall.is_finite()) {
            return 1.0;
        }
        let now = self.bed.touching() + self.bed.wall_contacts().len();
        let each = now as f64 / self.bed.len().max(1) as f64;
        let rests = 1.0 - (fall / (steps as f64 * params.dt)).min(1.0);
        1.0 + rests * (CONTACTS - each).max(0.0) / (1.0 + each)
    }

    fn progress(&self) -> String {
        format!(
            ", {} contacts, {:.3} m/s",
            self.bed.touching() + self.bed.wall_contacts().len(),
            self.bed.largest_speed()
        )
    }

    fn tables(&mut self) -> Vec<&mut dyn Table> {
        self.histories.all()
    }

    fn next_due(&self, step: u64) -> Option<u64> {
        Some(step - step % self.every + self.every)
    }

    fn look(&mut self, seen: &Seen<'_, 3>, _now: &mut FlowState<3>) -> Result<(), Error> {
        if seen.step.is_multiple_of(self.every) {
            self.histories.add(seen.step, &self.bed, &self.walls);
        }
        Ok(())
    }

    fn is_settled(&self, change: f64) -> Option<bool> {
        let energy = self.bed.energy();
        let largest = self.histories.extremes.motion;
        Some(energy.kinetic + energy.spin < change * largest)
    }

    fn report(&mut self, _seen: &Seen<'_, 3>, _now: &mut FlowState<3>) -> Result<Report<3>, Error> {
        let now = BedLine::of(&self.bed, &self.walls);
        let mut extremes = self.histories.extremes;
        extremes.add(&now);
        self.at_end = Some(extremes);
        let energy = &now.energy;
        let json = json!({
            "kind": "grains",
            "spheres": self.bed.len(),
            "materials": self.materials,
            "pairs": now.pairs,
            "wall_contacts": now.at_walls,
            "kinetic_energy": energy.kinetic,
            "spin_energy": energy.spin,
            "elastic_energy": energy.elastic,
            "potential_energy": self.has_potential().then_some(energy.gravity),
            "largest_speed": now.speed,
            "largest_overlap": extremes.overlap,
            "centre_of_mass": now.center,
            "outside": now.outside,
            "lost": now.lost,
            "sorts": self.bed.sorts(),
        });
        let mut above = format!(
            "{} spheres, {} contacts of pairs and {} with walls; kinetic energy {:.4e} J, largest speed {:.4e} m/s\n\
             largest overlap {:.2} % of the radius\n",
            self.bed.len(),
            now.pairs,
            now.at_walls,
            energy.kinetic + energy.spin,
            now.speed,
            100.0 * extremes.overlap
        );
        if now.outside > 0 {
            above += &format!("{} spheres are outside of the box\n", now.outside);
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

    fn judge(&self, _seen: &Seen<'_, 3>, _statistics: &Statistics<'_, 3>) -> Vec<Check> {
        let extremes = self.at_end.unwrap_or(self.histories.extremes);
        let step = [self.bed.params().dt, self.limit(&extremes)];
        extremes.checks(self.bed.len(), self.has_potential(), step, "time_step")
    }
}
