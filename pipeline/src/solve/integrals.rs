//! Integrals of the flow over time: mean density, kinetic energy and enstrophy of the fluid, and the flow out through
//! the open faces of the box; `integrals.csv`.
//!
//! In: means over the fluid, and snapshots of the blocks at open faces. Out: SI units, in 2D per metre of depth. Flows
//! are positive where fluid leaves the box; [`flux`] documents the summation.

use crate::solve::{conditions::FACES, recirculation::Line, resolve::Resolved, units::Units};
use cutlink_common::Error;
use cutlink_flow::{Table, history};
use cutlink_solver::{
    ForceSample, Motion, Params, PatchCondition, Place, Snapshot,
    fields::{self, blocks_around, blocks_at, flux},
};
use cutlink_voxelizer::Mesh;
use serde_json::{Map, Value, json};
use std::{fmt::Write as _, path::Path};

/// An open face of the box.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Opening {
    axis: usize,
    side: usize,
}

impl Opening {
    fn name(self) -> &'static str {
        FACES[self.axis][self.side]
    }
}

/// The integrals at one root step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    density: f64,
    kinetic_energy: f64,
    enstrophy: f64,
    /// By open face: volume and mass flow, per second.
    flows: Vec<[f64; 2]>,
    /// By open patch: mass flow out, per second.
    through_patches: Vec<f64>,
    /// Recirculation length, if requested; NaN if it does not end in the box.
    recirculation: Option<f64>,
}

impl Sample {
    /// In the order of the columns.
    fn numbers(&self) -> impl Iterator<Item = f64> {
        [self.density, self.kinetic_energy, self.enstrophy]
            .into_iter()
            .chain(self.flows.iter().flatten().copied())
            .chain(self.through_patches.iter().copied())
            .chain(self.recirculation)
    }

    /// Parses the numbers of a line.
    fn of(numbers: &[f64], (openings, patches): (usize, usize), recirculation: bool) -> Self {
        let (numbers, more) = numbers.split_at(3 + 2 * openings);
        let (through, more) = more.split_at(patches);
        Self {
            density: numbers[0],
            kinetic_energy: numbers[1],
            enstrophy: numbers[2],
            flows: numbers[3..].as_chunks().0.to_vec(),
            through_patches: through.to_vec(),
            recirculation: recirculation.then(|| more.first().copied().unwrap_or(f64::NAN)),
        }
    }

    /// Mass flow in and out, per second.
    fn in_and_out(&self) -> [f64; 2] {
        let flows = self.flows.iter().map(|f| f[1]);
        let flows = flows.chain(self.through_patches.iter().copied());
        let sum = |sign: f64| flows.clone().map(|flow| (sign * flow).max(0.0)).sum();
        [sum(-1.0), sum(1.0)]
    }
}

/// The samples so far.
pub(crate) struct Integrals<const D: usize> {
    /// Root steps between two lines; 0 for none.
    pub(super) every: u64,
    units: Units,
    openings: Vec<Opening>,
    line: Option<Line<D>>,
    /// Open patches, by index and name.
    patches: Vec<(usize, String)>,
    /// Whether the flow through patches is unknown because forces are not sampled: then the faces alone do not balance.
    partial: bool,
    steps: Vec<u64>,
    samples: Vec<Sample>,
    /// Number of samples already written to the file.
    written: usize,
}

impl<const D: usize> Integrals<D> {
    pub(crate) fn new(resolved: &Resolved<D>, names: &[String]) -> Self {
        let params = &resolved.params;
        let passed = names.iter().cloned().enumerate();
        let passed: Vec<_> = passed.filter(|(n, _)| may_pass(params, *n)).collect();
        let partial = !params.forces && !passed.is_empty();
        let sides = (0..D).flat_map(|axis| [0, 1].map(|side| Opening { axis, side }));
        Self {
            every: resolved.integrals_every,
            units: resolved.units,
            openings: sides
                .filter(|face| params.faces[face.axis][face.side].passes(face.axis))
                .collect(),
            line: resolved.recirculation,
            patches: if params.forces { passed } else { Vec::new() },
            partial,
            steps: Vec::new(),
            samples: Vec::new(),
            written: 0,
        }
    }

    /// Whether a line is due at a root step and not yet sampled.
    pub(crate) fn is_due(&self, step: u64) -> bool {
        self.every > 0 && step.is_multiple_of(self.every) && self.steps.last() != Some(&step)
    }

    /// Ids of the blocks whose values a sample takes.
    pub(crate) fn blocks(&self, mesh: &Mesh<D>) -> Vec<u32> {
        let at_face = |&Opening { axis, side }: &Opening| blocks_at(mesh, axis, side == 1);
        let mut blocks: Vec<u32> = self.openings.iter().flat_map(at_face).collect();
        if let Some(line) = self.line {
            let points: Vec<[f64; D]> = line.points(mesh).map(|(_, point)| point).collect();
            blocks.extend(blocks_around(mesh, &points));
        }
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    /// Of means over the fluid, a snapshot of [`blocks`](Self::blocks), and the mass exchanged with patches in the last step.
    pub(crate) fn sample(
        &self,
        mesh: &Mesh<D>,
        means: &fields::Integrals,
        snapshot: &Snapshot<D>,
        last: Option<&ForceSample>,
    ) -> Sample {
        let Units {
            length,
            time,
            density,
        } = self.units;
        let speed = self.units.velocity();
        let area = length.powi(D as i32 - 1);
        let through = |&Opening { axis, side }: &Opening| {
            let flux = flux(mesh, snapshot, axis, side == 1);
            [flux.volume, flux.mass * density].map(|x| x * speed * area)
        };
        Sample {
            density: means.density * density,
            kinetic_energy: means.kinetic_energy * density * speed * speed,
            enstrophy: means.enstrophy / (time * time),
            flows: self.openings.iter().map(through).collect(),
            through_patches: self
                .patches
                .iter()
                .map(|(n, _)| {
                    last.map_or(f64::NAN, |last| -last.inflow[*n] * density * speed * area)
                })
                .collect(),
            recirculation: self.line.map(|line| length * line.length(mesh, snapshot)),
        }
    }

    pub(crate) fn add(
        &mut self,
        mesh: &Mesh<D>,
        means: &fields::Integrals,
        snapshot: &Snapshot<D>,
        last: Option<&ForceSample>,
    ) {
        self.steps.push(snapshot.step);
        self.samples.push(self.sample(mesh, means, snapshot, last));
    }

    fn header(&self) -> String {
        let mut header = "step,time,density,kinetic energy,enstrophy".to_owned();
        for opening in &self.openings {
            let name = opening.name();
            let _ = write!(header, ",volume flow {name},mass flow {name}");
        }
        for (_, name) in &self.patches {
            let _ = write!(header, ",mass flow {}", name.replace([',', '\n'], " "));
        }
        header
    }

    /// The column that is not of faces or patches comes last.
    fn full_header(&self) -> String {
        let more = self.line.map_or("", |_| ",recirculation length");
        self.header() + more
    }

    /// Mass imbalance: (out - in) / max(in, out). None if no fluid enters or leaves, or if the flow through patches is
    /// unknown.
    pub(crate) fn imbalance(&self, sample: &Sample) -> Option<f64> {
        let [enters, leaves] = sample.in_and_out();
        let larger = enters.max(leaves);
        (larger > 0.0 && !self.partial).then(|| (leaves - enters) / larger)
    }

    /// The mean flows over the last quarter of the run, the given sample at its end included; the rest as there.
    pub(crate) fn late(&self, step: u64, end: &Sample) -> Sample {
        let all = self.steps.iter().zip(&self.samples);
        let late = all.filter(|(at, _)| **at < step && **at as f64 >= 0.75 * step as f64);
        let late: Vec<&Sample> = late.map(|(_, sample)| sample).chain([end]).collect();
        let count = late.len() as f64;
        let mean = |of: &dyn Fn(&Sample) -> f64| late.iter().map(|s| of(s)).sum::<f64>() / count;
        let flows = (0..self.openings.len()).map(|n| [0, 1].map(|i| mean(&|s| s.flows[n][i])));
        let through = (0..self.patches.len()).map(|n| mean(&|s| s.through_patches[n]));
        Sample {
            flows: flows.collect(),
            through_patches: through.collect(),
            ..end.clone()
        }
    }

    /// Open patches by name, with the mass that leaves through each per second.
    pub(crate) fn through_patches(&self, sample: &Sample) -> Vec<(String, f64)> {
        let names = self.patches.iter().map(|(_, name)| name.clone());
        names.zip(sample.through_patches.iter().copied()).collect()
    }

    /// For `summary.json`.
    pub(crate) fn summary(&self, sample: &Sample) -> Value {
        let faces: Map<String, Value> = self
            .openings
            .iter()
            .zip(&sample.flows)
            .map(|(face, [volume, mass])| {
                let flows = json!({ "volume_flow": volume, "mass_flow": mass });
                (face.name().to_owned(), flows)
            })
            .collect();
        let patches: Map<String, Value> = self
            .patches
            .iter()
            .zip(&sample.through_patches)
            .map(|((_, name), mass)| (name.clone(), json!({ "mass_flow": mass })))
            .collect();
        json!({
            "patches": patches,
            "density": sample.density,
            "kinetic_energy": sample.kinetic_energy,
            "enstrophy": sample.enstrophy,
            "faces": faces,
            "imbalance": self.imbalance(sample),
            "recirculation_length": sample.recirculation.filter(|x| x.is_finite()),
        })
    }

    /// The mass flow and the recirculation length as text; with `faces`, the flow through each open face and patch.
    pub(crate) fn text(&self, sample: &Sample, faces: bool) -> String {
        let (volume, mass) = match D {
            2 => ("m^2/s", "kg/(m s)"),
            _ => ("m^3/s", "kg/s"),
        };
        let mut text = String::new();
        let openings = self.openings.iter().zip(&sample.flows);
        for (face, [v, m]) in openings.filter(|_| faces) {
            let name = face.name();
            let _ = writeln!(
                text,
                "flow out through {name}: {v:.5e} {volume}, {m:.5e} {mass}"
            );
        }
        let patches = self.patches.iter().zip(&sample.through_patches);
        for ((_, name), m) in patches.filter(|_| faces) {
            let _ = writeln!(text, "flow out through patch {name}: {m:.5e} {mass}");
        }
        let [enters, leaves] = sample.in_and_out();
        if let Some(imbalance) = self.imbalance(sample) {
            let _ = writeln!(
                text,
                "mass flow in {enters:.5e} {mass}, out {leaves:.5e} {mass}, imbalance {:+.3} %",
                100.0 * imbalance,
            );
        }
        match sample.recirculation {
            None => {}
            Some(length) if length.is_nan() => {
                text += "recirculation: does not end within the box on the given line\n";
            }
            Some(length) => {
                let _ = writeln!(text, "recirculation length {length:.5e} m");
            }
        }
        text
    }
}

impl<const D: usize> Table for Integrals<D> {
    fn file(&self) -> &'static str {
        "integrals.csv"
    }

    fn whole(&mut self) -> String {
        self.written = 0;
        format!("{}\n{}", self.full_header(), self.fresh())
    }

    fn fresh(&mut self) -> String {
        let mut text = String::new();
        for (step, sample) in self.steps.iter().zip(&self.samples).skip(self.written) {
            let _ = write!(text, "{step},{:e}", *step as f64 * self.units.time);
            for number in sample.numbers() {
                let _ = write!(text, ",{number:e}");
            }
            text.push('\n');
        }
        self.written = self.steps.len();
        text
    }

    fn read(&mut self, path: &Path, step: u64) -> Result<(), Error> {
        let columns = 3 + 2 * self.openings.len() + self.patches.len();
        for (at, numbers) in history::rows(path, &self.header(), columns, step)? {
            self.steps.push(at);
            let counts = (self.openings.len(), self.patches.len());
            let sample = Sample::of(&numbers, counts, self.line.is_some());
            self.samples.push(sample);
        }
        Ok(())
    }
}

/// Whether a patch may be open: an opening, or a wall with a velocity.
fn may_pass<const D: usize>(params: &Params<D>, patch: usize) -> bool {
    let varies = params
        .variations
        .iter()
        .any(|v| v.place == Place::Patch(patch));
    match params.patches[patch] {
        PatchCondition::Pressure(_) => true,
        PatchCondition::Wall {
            motion: Motion::Uniform(velocity),
            ..
        } => varies || velocity != [0.0; D],
        PatchCondition::Wall { .. } => false,
    }
}

#[cfg(test)]
pub(super) mod tests;
