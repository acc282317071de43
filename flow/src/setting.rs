//! What the loop needs of a case: the tables `[run]` and `[output]`, which mean the same for every physics.

use crate::fields::{self, Clock, FieldUnits, OutputSpec};
use crate::{
    history::History,
    looks::Looks,
    tables::{AveragesTable, OutputTable, RunTable},
    verdict::check_accepted,
};
use cutlink_common::{Error, device::DeviceReport};
use cutlink_voxelizer::Mesh;
use std::path::PathBuf;

/// Default output folder.
pub const FOLDER: &str = "flow";
/// Default number of steps between two samples of averages.
const SAMPLE_EVERY: u64 = 16;
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
pub struct RunTimes {
    /// A step, s.
    pub step: f64,
    /// A flow-through, s; not a number where there is none.
    pub through: f64,
    /// The last step of a run of so many seconds.
    pub steps: fn(f64) -> u64,
}

/// The end of the run, and the resolved table.
///
/// # Errors
/// No duration, several ones, or one that is no number of steps.
pub fn until(given: &RunTable, times: &RunTimes) -> Result<(Until, RunTable), Error> {
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
    pub file: Option<PathBuf>,
    /// The output folder.
    pub folder: PathBuf,
    /// When the run ends.
    pub until: Until,
    /// The earliest step at which the flow can have settled.
    pub earliest: u64,
    /// Whether a run ends that grows without bound.
    pub watch: bool,
    /// Names of checks that are accepted as they are.
    pub accept: Vec<String>,
    /// Steps between two checkpoints, 0 for none; `None` for a period of wall time.
    pub checkpoint_every: Option<u64>,
    /// Whether the run ends with a checkpoint.
    pub checkpoint_at_end: bool,
    /// Whether there is a `report.html`.
    pub report: bool,
    /// The outputs.
    pub specs: Vec<OutputSpec>,
    /// The first step of averages, and the steps between two samples.
    pub averages: Option<[u64; 2]>,
    /// Units of outputs.
    pub units: FieldUnits,
    /// The word for a step in messages.
    pub step_name: &'static str,
    /// Empty where no forces are sampled.
    pub history: History<D>,
    /// Whether there is a `forces.csv`.
    pub has_forces: bool,
    /// `adapt.csv` of a mesh that follows the flow, empty.
    pub looks: Option<Looks>,
    /// The resolved case, as `case.toml` has it.
    pub case: String,
    /// The part of it that a resumed run cannot change.
    pub fixed: String,
    /// A checksum of the mesh at the start.
    pub mesh: u64,
    /// The kind of device in checkpoints; empty where all devices give the same bits.
    pub device_kind: String,
    /// Where the flow runs.
    pub device: DeviceReport,
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
        fields::check_mean_pressure(&specs)?;
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
            report: output.report.unwrap_or(true),
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

/// The first step of averages, and the steps between two samples, if the case has any.
///
/// # Errors
/// Averaged outputs without averages, values that make no sense.
pub fn averages(
    given: Option<&AveragesTable>,
    specs: &[OutputSpec],
    clock: &Clock,
) -> Result<Option<[u64; 2]>, Error> {
    let Some(given) = given else {
        return match specs.iter().find(|spec| spec.average.is_some()) {
            None => Ok(None),
            Some(spec) => Err(Error::input(format!(
                "[[output.write]] \"{}\" is an average, but there is no [output.averages]",
                spec.name.as_deref().unwrap_or_default()
            ))
            .hint("add [output.averages] with from_flow_through, from_seconds or from_steps")),
        };
    };
    let wrong = |what: String| Error::input(format!("[output.averages] {what}"));
    let (steps, seconds, through) = (
        given.from_steps,
        given.from_seconds,
        given.from_flow_through,
    );
    let from = clock
        .steps("from", steps, seconds, through)
        .map_err(|what| wrong(what).hint("give one of them, or none to start at the beginning"))?;
    match given.every_steps {
        Some(0) => Err(wrong("every_steps is 0".into()).hint("it must be at least 1")),
        every => Ok(Some([from.unwrap_or(0), every.unwrap_or(SAMPLE_EVERY)])),
    }
}

/// The value of a key that must be finite and positive.
///
/// # Errors
/// It is not.
pub fn positive(what: &str, value: f64) -> Result<f64, Error> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(Error::input(format!("{what} is {value}")).hint("it must be finite and positive"))
}

/// The part of a case that a resumed run cannot change: all but duration, groups and outputs.
///
/// # Errors
/// A text that is no TOML.
pub fn fixed(case: &str) -> Result<String, Error> {
    let wrong = |e: &dyn std::error::Error| Error::input("the case is no TOML").because(e);
    let mut table: toml::Table = case.parse().map_err(|e: toml::de::Error| wrong(&e))?;
    for name in ["run", "groups", "output"] {
        table.remove(name);
    }
    toml::to_string(&table).map_err(|e| wrong(&e))
}
