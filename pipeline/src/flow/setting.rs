//! What the loop needs of a case: the tables `[run]` and `[output]`, which mean the same for every physics.

use crate::{
    fields::{self, Clock, FieldUnits, OutputSpec},
    solve::{
        adapt::Looks,
        case::{OutputTable, RunTable},
        history::History,
        outputs::averages,
        resolve::{FOLDER, positive},
        verdict::check_accepted,
    },
};
use cutlink_common::{Error, device::DeviceReport};
use cutlink_voxelizer::Mesh;
use std::path::PathBuf;

/// Upper bound of the steps of a run.
const MAX_STEPS: u64 = 1_000_000_000_000;

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// After this number of steps.
    Steps(u64),
    /// When the forces have settled, or the flow itself where there are none.
    Settled {
        /// Largest relative change.
        change: f64,
        /// Maximum number of steps.
        most: u64,
    },
}

impl Until {
    /// Maximum number of steps.
    pub fn most(self) -> u64 {
        match self {
            Self::Steps(steps) => steps,
            Self::Settled { most, .. } => most,
        }
    }
}

/// Times that durations of a case are given in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunTimes {
    /// A step, s.
    pub(crate) step: f64,
    /// A flow-through, s; not a number where there is none.
    pub(crate) through: f64,
    /// The last step of a run of so many seconds.
    pub(crate) steps: fn(f64) -> u64,
}

/// The end of the run, and the resolved table.
///
/// # Errors
/// No duration, several ones, or one that is no number of steps.
pub(crate) fn until(given: &RunTable, times: &RunTimes) -> Result<(Until, RunTable), Error> {
    const WAYS: &str = "give one of steps, seconds, flow_through, or settle with most";
    let ways = [
        given.steps.is_some(),
        given.seconds.is_some(),
        given.flow_through.is_some(),
        given.settle.is_some(),
    ];
    let count = ways.into_iter().filter(|&given| given).count();
    if count != 1 {
        let message = match count {
            0 => "[run] has no duration",
            _ => "[run] has more than one duration",
        };
        return Err(Error::input(message).hint(WAYS));
    }
    if given.settle.is_some() != given.most.is_some() {
        return Err(Error::input("[run] settle and most must be given together").hint(WAYS));
    }
    if given.steps == Some(0) || given.most == Some(0) {
        return Err(Error::input("[run] has no steps").hint("it must be at least 1"));
    }
    if given.flow_through.is_some() && times.through.is_nan() {
        return Err(
            Error::input("[run] flow_through is given, and nothing flows through the box")
                .hint("give steps or seconds"),
        );
    }
    let seconds = match (given.seconds, given.flow_through) {
        (Some(seconds), _) => Some(positive("[run] seconds", seconds)?),
        (_, Some(through)) => Some(positive("[run] flow_through", through)? * times.through),
        _ => None,
    };
    let steps = seconds.map(|seconds| (times.steps)(seconds / times.step));
    let steps = steps.or(given.steps);
    let longest = steps.into_iter().chain(given.most).max();
    if let Some(steps) = longest.filter(|&n| n > MAX_STEPS) {
        return Err(Error::input(format!("[run] amounts to {steps} root steps"))
            .hint(format!("the maximum is {MAX_STEPS}; check the units")));
    }
    let table = RunTable {
        steps,
        settle: given.settle,
        most: given.most,
        seconds: None,
        flow_through: None,
        ..given.clone()
    };
    let until = match (steps, given.settle, given.most) {
        (None, Some(change), Some(most)) => Until::Settled {
            change: positive("[run] settle", change)?,
            most,
        },
        _ => Until::Steps(steps.unwrap_or(1)),
    };
    Ok((until, table))
}

/// What the loop needs of a case, with all defaults resolved.
pub struct RunSetting<const D: usize> {
    /// The file of the case, which is never replaced.
    pub(crate) file: Option<PathBuf>,
    pub(crate) folder: PathBuf,
    pub(crate) until: Until,
    /// The earliest step at which the flow can have settled.
    pub(crate) earliest: u64,
    /// Whether a run ends that grows without bound.
    pub(crate) watch: bool,
    pub(crate) accept: Vec<String>,
    /// Steps between two checkpoints, 0 for none; `None` for a period of wall time.
    pub(crate) checkpoint_every: Option<u64>,
    pub(crate) checkpoint_at_end: bool,
    pub(crate) specs: Vec<OutputSpec>,
    /// The first step of averages, and the steps between two samples.
    pub(crate) averages: Option<[u64; 2]>,
    /// Units of outputs.
    pub(crate) units: FieldUnits,
    /// The word for a step in messages.
    pub(crate) step_name: &'static str,
    /// Empty where no forces are sampled.
    pub(crate) history: History<D>,
    /// Whether there is a `forces.csv`.
    pub(crate) has_forces: bool,
    /// `adapt.csv` of a mesh that follows the flow, empty.
    pub(crate) looks: Option<Looks>,
    /// The resolved case, as `case.toml` has it.
    pub(crate) case: String,
    /// The part of it that a resumed run cannot change.
    pub(crate) fixed: String,
    /// A checksum of the mesh at the start.
    pub(crate) mesh: u64,
    /// The kind of device in checkpoints; empty where all devices give the same bits.
    pub(crate) device_kind: String,
    pub(crate) device: DeviceReport,
}

impl<const D: usize> RunSetting<D> {
    /// Of a flow without bodies on a mesh: `case` is the whole case, as TOML; values of the flow are in `units`, whose
    /// time is that of a step.
    ///
    /// # Errors
    /// Values that make no sense, outputs that the mesh does not support.
    pub fn new(
        case: &str,
        run: &RunTable,
        output: &OutputTable,
        mesh: &Mesh<D>,
        units: FieldUnits,
    ) -> Result<Self, Error> {
        check_accepted(&run.accept)?;
        let step = units.time.factor;
        let times = RunTimes {
            step,
            through: f64::NAN,
            steps: |steps| (steps - 1e-6).ceil() as u64,
        };
        let clock = Clock {
            step,
            through: f64::NAN,
        };
        let (until, _) = until(run, &times)?;
        let specs = fields::written(&output.write, &mesh.frame, &clock)?;
        fields::check(&specs, &units, mesh)?;
        let averages = averages(output.averages.as_ref(), &specs, &clock)?;
        Ok(Self {
            file: None,
            folder: output.folder.clone().unwrap_or_else(|| FOLDER.into()),
            until,
            earliest: 0,
            watch: run.watch.unwrap_or(true),
            accept: run.accept.clone(),
            checkpoint_every: output.checkpoint_every,
            checkpoint_at_end: output.checkpoint_at_end.unwrap_or(true),
            specs,
            averages,
            units,
            step_name: "step",
            history: History::without_patches(step),
            has_forces: false,
            looks: None,
            case: case.to_owned(),
            fixed: fixed(case)?,
            mesh: mesh.checksum(),
            device_kind: String::new(),
            device: DeviceReport::cpu(),
        })
    }

    /// Maximum number of steps.
    pub(super) fn most(&self, asked: Option<u64>) -> u64 {
        asked.unwrap_or_else(|| self.until.most())
    }
}

impl<const D: usize> std::fmt::Debug for RunSetting<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut setting = f.debug_struct("RunSetting");
        setting.field("folder", &self.folder);
        setting.field("until", &self.until).finish_non_exhaustive()
    }
}

/// The part of a case that a resumed run cannot change: all but duration, groups and outputs.
///
/// # Errors
/// A text that is no TOML.
pub(crate) fn fixed(case: &str) -> Result<String, Error> {
    let wrong = |e: &dyn std::error::Error| Error::input("the case is no TOML").because(e);
    let mut table: toml::Table = case.parse().map_err(|e: toml::de::Error| wrong(&e))?;
    for name in ["run", "groups", "output"] {
        table.remove(name);
    }
    toml::to_string(&table).map_err(|e| wrong(&e))
}
