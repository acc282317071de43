//! The door for every physics: what the run loop, the outputs and callbacks ask of a running flow.
//!
//! A solver implements [`Flow`]; [`run`](run()) takes it through its steps and writes its folder: tables, fields, averages,
//! checkpoints and `summary.json`. The loop is told once, so that what holds for one solver holds for all: files that are
//! complete up to the last check, a stop within a fraction of a second, a full disk that does not end a run, a verdict.
//! `docs/add-a-solver.md` shows how to add one.
//!
//! | file | what |
//! |---|---|
//! | `begin` | the output folder: a new run, or the last checkpoint of an earlier one |
//! | [`checkpoint`], [`leftovers`] | files of a run: its states, what an earlier one left |
//! | [`fields`] | outputs: series, slices, probes, pictures, averages |
//! | [`history`], [`means`], [`parts`] | forces: samples, statistics, pressure and friction |
//! | `lines` | a table of numbers that grows with a run |
//! | `look` | the running flow, for callbacks |
//! | `page` | `report.html` |
//! | [`particles`] | spheres that a flow has |
//! | `setting` | what the loop needs of a case: the tables `[run]` and `[output]` |
//! | `steps` | the loop |
//! | `end` | the last outputs, statistics, verdict and summary |
//! | `state` | values of all cells |
//! | [`tables`] | the tables `[run]` and `[output]` |
//! | [`verdict`], [`watch`] | whether the result can be trusted; whether the flow diverges |
//!
//! Values are in the units of the flow, which the [`RunSetting`] converts for outputs: a lattice flow keeps lattice units
//! in single precision, so that no bit is lost on the way to a file. Coordinates and times are in SI units.

mod api;
pub mod begin;
pub mod bulk;
pub mod checkpoint;
mod end;
pub mod fields;
#[cfg(test)]
#[path = "../../voxelizer/tests/files_kit/mod.rs"]
mod files_kit;
pub mod history;
pub mod leftovers;
mod lines;
mod look;
pub mod looks;
pub mod means;
mod page;
pub mod particles;
pub mod parts;
#[cfg(test)]
#[path = "../../tests/kit/png.rs"]
mod png_kit;
pub mod setting;
mod state;
mod steps;
pub mod tables;
mod trial;
pub mod verdict;
pub mod watch;
#[cfg(test)]
#[path = "../../tests/kit/worst.rs"]
mod worst;

pub use api::{Coefficient, RunOptions, RunPlan, RunSummary};
pub use lines::Lines;
pub use means::Statistics;
pub use setting::{RunSetting, RunTimes, Until, until};
pub use state::{FlowState, places};
pub use steps::{CHUNK, run, run_or_hand_over};
pub use trial::{duration, is_tried};
pub use verdict::{Check, Grade};
pub use watch::Growth;

use crate::fields::{Body, FieldUnits, FieldWriter};
use crate::{history::History, parts::WallParts, verdict::rows};
use cutlink_common::Error;
use cutlink_solver::{
    AdaptationLook, ForceSample, RunningMeans,
    fields::{blocks_around, velocity_at},
};
use cutlink_voxelizer::Mesh;
use serde_json::{Map, Value};
use std::{
    io::{Read, Write},
    path::Path,
};

/// Pressure and velocity at a point; none outside of the fluid.
pub type PointValue<const D: usize> = Option<(f64, [f64; D])>;

/// A running flow of any physics.
///
/// Required are steps, the mesh and its values, and how the state is saved; all else has a default that fits a flow
/// without bodies, tables and adaptation.
pub trait Flow<const D: usize> {
    /// Steps done.
    fn steps(&self) -> u64;

    /// Simulated time, s.
    fn time(&self) -> f64;

    /// Takes so many steps. May return before a device has done them.
    ///
    /// # Errors
    /// A device that fails, too little memory. A state that has diverged is found by [`check`](Self::check).
    fn advance(&mut self, steps: u64) -> Result<(), Error>;

    /// Waits until all steps are done.
    ///
    /// # Errors
    /// A device that fails.
    fn wait(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Checks the state.
    ///
    /// # Errors
    /// [`Diverged`](cutlink_common::ErrorKind::Diverged), with the place and the way out.
    fn check(&self) -> Result<(), Error>;

    /// The mesh now: a forest of blocks of 4^D cells, with solid cells and patches. Block ids hold for one
    /// [`epoch`](Self::epoch).
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    fn mesh(&self) -> Result<&Mesh<D>, Error>;

    /// Changes of the mesh so far.
    fn epoch(&self) -> u64 {
        0
    }

    /// Brings values up to date in their own memory: of all cells, or of some blocks and the descendants of refined ones
    /// among them. Refined blocks have the means over their children.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    fn update(&self, blocks: Option<&[u32]>, to: &mut FlowState<D>) -> Result<(), Error>;

    /// Writes all that [`restore`](Self::restore) needs to go on bit for bit.
    ///
    /// # Errors
    /// Those of `out`, too little memory, a device that fails.
    fn save(&self, out: &mut dyn Write) -> Result<(), Error>;

    /// Takes the place of a flow that was saved; called before [`begin`](Self::begin).
    ///
    /// # Errors
    /// A state that is none of this flow, too little memory.
    fn restore(&mut self, from: &mut dyn Read) -> Result<(), Error>;

    /// Called once between the set-up, or [`restore`](Self::restore), and the first step.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    fn begin(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The SI units of its values.
    fn si(&self) -> FieldUnits {
        FieldUnits::si(1.0, 1.0, 1.0)
    }

    /// Pressure (gauge or absolute, as outputs have it), Pa, and velocity, m/s, at points: multilinear between the cells
    /// around them. None outside of the fluid.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    fn sample(&self, points: &[[f64; D]]) -> Result<Vec<PointValue<D>>, Error> {
        let (mesh, si) = (self.mesh()?, self.si());
        let places = places(mesh, points);
        let mut now = FlowState::default();
        self.update(Some(&blocks_around(mesh, &places)), &mut now)?;
        let at = |&place: &[f64; D]| {
            let (density, velocity) = velocity_at(mesh, &now.snapshot, place)?;
            let pressure = now.pressure_at(mesh, place, density)? * si.pressure.factor;
            Some((pressure, velocity.map(|u| u * si.velocity.factor)))
        };
        Ok(places.iter().map(at).collect())
    }

    /// Adds the values now to running means. The default does so on the host.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    fn average(&self, means: &mut RunningMeans<D>) -> Result<(), Error> {
        let mut now = FlowState::default();
        self.update(None, &mut now)?;
        Ok(means.add(&now.snapshot)?)
    }

    /// Forces of the fluid on each patch since the last call, oldest first.
    ///
    /// # Errors
    /// A device that fails.
    fn take_loads(&mut self) -> Result<Vec<ForceSample>, Error> {
        Ok(Vec::new())
    }

    /// How the mesh has followed the flow since the last call, oldest first.
    fn take_looks(&mut self) -> Vec<AdaptationLook> {
        Vec::new()
    }

    /// The work of a step on the mesh as it is now.
    fn work(&self) -> StepWork;

    /// What the line of progress says besides speed, time and drag.
    fn progress(&self) -> String {
        String::new()
    }

    /// Tables of its own that grow with the run, such as `integrals.csv`.
    fn tables(&mut self) -> Vec<&mut dyn Table> {
        Vec::new()
    }

    /// The first step after `step` at which [`look`](Self::look) has something to do.
    fn next_due(&self, step: u64) -> Option<u64> {
        let _ = step;
        None
    }

    /// Adds to its tables what is due. Called at the start and at each check of the flow; `now` is memory for values.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    fn look(&mut self, seen: &Seen<'_, D>, now: &mut FlowState<D>) -> Result<(), Error> {
        let _ = (seen, now);
        Ok(())
    }

    /// How many times as long a step will take in the mean of so many from the start on than it does now, as far as the flow knows.
    fn slows(&self, steps: u64) -> f64 {
        let _ = steps;
        1.0
    }

    /// What grows without bound by the looks so far, if anything. Forces are watched by the loop.
    fn growth(&self) -> Option<Growth> {
        None
    }

    /// Whether another flow is to go on from the state now, asked after each look: the run then ends without results
    /// ([`run_or_hand_over`]).
    fn hands_over(&self) -> bool {
        false
    }

    /// Adds the surface of the body to the outputs; again where the mesh has changed.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    fn show_body(&self, fields: &mut FieldWriter<D>, is_first: bool) -> Result<(), Error> {
        let _ = (fields, is_first);
        Ok(())
    }

    /// Called where [`epoch`](Self::epoch) has changed.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    fn follow(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Whether a flow without forces has settled to a relative change; none where only forces tell.
    fn is_settled(&self, change: f64) -> Option<bool> {
        let _ = change;
        None
    }

    /// What to change in this case after a divergence; `saved` is the step of the last checkpoint.
    fn advice(&self, saved: Option<u64>) -> Option<String> {
        let _ = saved;
        None
    }

    /// What of its own a checkpoint has in its header, for [`take_notes`](Self::take_notes).
    fn notes(&self) -> Map<String, Value> {
        Map::new()
    }

    /// Takes what [`notes`](Self::notes) gave.
    ///
    /// # Errors
    /// Notes of another flow.
    fn take_notes(&mut self, notes: Map<String, Value>) -> Result<(), Error> {
        let _ = notes;
        Ok(())
    }

    /// The end of a run: what of its own `summary.json` and the printed summary have.
    ///
    /// # Errors
    /// Too little memory, a device that fails.
    fn report(&mut self, seen: &Seen<'_, D>, now: &mut FlowState<D>) -> Result<Report<D>, Error> {
        let _ = (seen, now);
        Ok(Report::default())
    }

    /// The checks of the verdict, after its [`report`](Self::report); by default those of the forces.
    fn judge(&self, seen: &Seen<'_, D>, statistics: &Statistics<'_, D>) -> Vec<Check> {
        of_forces(seen, statistics)
    }
}

/// The checks of forces alone.
pub fn of_forces<const D: usize>(seen: &Seen<'_, D>, statistics: &Statistics<'_, D>) -> Vec<Check> {
    if !seen.has_forces {
        return Vec::new();
    }
    let mut checks = vec![rows::movement(seen.history.rest(), "the force on the body")];
    checks.extend(statistics.growth().map(rows::growth));
    checks.extend(statistics.swing().map(rows::swing));
    let change = statistics.change();
    checks.extend(change.map(|(change, why)| rows::stationarity(change, why)));
    checks
}

/// The loop's side of a run, as a flow sees it.
#[derive(Clone, Copy)]
pub struct Seen<'a, const D: usize> {
    /// Steps done.
    pub step: u64,
    /// The forces of the last step at which they were summed.
    pub last: Option<&'a ForceSample>,
    /// Whether forces are sampled at all.
    pub has_forces: bool,
    /// Whether the summary is to have all rows.
    pub wants_details: bool,
    /// Whether no step was taken yet, since the start or since it was resumed.
    pub is_start: bool,
    /// Whether what may grow without bound is looked at now.
    pub is_watched: bool,
    /// The forces so far.
    pub history: &'a History<D>,
    /// The surface of the bodies, if there are any.
    pub body: Option<&'a Body<D>>,
}

impl<const D: usize> std::fmt::Debug for Seen<'_, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut seen = f.debug_struct("Seen");
        seen.field("step", &self.step).finish_non_exhaustive()
    }
}

/// The work of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepWork {
    /// Units of it in a step.
    pub amount: f64,
    /// A million or 10⁹ of these units a second, by name, such as `MLUPS`.
    pub unit: &'static str,
    /// Units in one of that name.
    pub scale: f64,
    /// Digits behind the point.
    pub digits: usize,
    /// The key in `summary.json`.
    pub key: &'static str,
}

impl StepWork {
    /// A step that updates so many cells, in MLUPS.
    pub fn cells(count: usize) -> Self {
        Self {
            amount: count as f64,
            unit: "MLUPS",
            scale: 1e6,
            digits: 1,
            key: "mlups",
        }
    }
}

/// A table of lines `step,time,...` that grows with the run.
pub trait Table {
    /// The name of the file in the output folder; `docs/cli.md` lists those of a run.
    fn file(&self) -> &'static str;

    /// The whole table; later lines come from [`fresh`](Self::fresh).
    fn whole(&mut self) -> String;

    /// Lines that were not given out yet.
    fn fresh(&mut self) -> String;

    /// Reads the lines of an earlier run up to a step.
    ///
    /// # Errors
    /// A file that cannot be read or is of another case.
    fn read(&mut self, path: &Path, step: u64) -> Result<(), Error>;
}

/// What a flow says of itself at the end of a run.
#[derive(Debug, Clone, Default)]
pub struct Report<const D: usize> {
    /// Keys of `summary.json` besides those of every run.
    pub json: Map<String, Value>,
    /// Lines printed above the table of forces, and below it.
    pub lines: [String; 2],
    /// Torque coefficients to show, as indices of C_Mx, C_My, C_Mz from 3 on.
    pub torques: Vec<usize>,
    /// Pressure and friction on the walls.
    pub parts: Option<WallParts<D>>,
}
