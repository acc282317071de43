//! What cases of all kinds share: their name, their text, and how a run of them ends.

use cutlink_common::Error;
use cutlink_flow::{RunOptions, RunPlan, RunSummary};
use serde::Serialize;
use std::path::Path;

/// How a run ended.
pub(super) enum Outcome {
    /// It was another process's.
    Served,
    Planned(RunPlan),
    Ran(RunSummary),
}

impl Outcome {
    /// Of a run that was not only planned.
    pub(super) fn ran(self) -> RunSummary {
        match self {
            Self::Ran(summary) => summary,
            Self::Planned(_) | Self::Served => {
                unreachable!("a run that is not only planned should end in a summary")
            }
        }
    }

    /// Of a run that was only planned.
    pub(super) fn planned(self) -> RunPlan {
        match self {
            Self::Planned(plan) => plan,
            Self::Ran(_) | Self::Served => {
                unreachable!("a run that is only planned should not end in a summary")
            }
        }
    }
}

/// Refuses several ranks of a flow that has none; `flow` is its name.
///
/// # Errors
/// More than one rank, GPU or process.
pub(super) fn check_alone(options: &RunOptions, flow: &str) -> Result<(), Error> {
    let several = options.ranks.iter().any(|&ranks| ranks != 1) || options.gpus > 1;
    if options.world.is_some() || several {
        return Err(Error::input(format!("{flow} has no ranks"))
            .hint("leave --ranks and --gpus out, and start one process"));
    }
    Ok(())
}

/// Name of a case in messages.
pub(super) fn name_of(file: Option<&Path>) -> String {
    file.map_or_else(|| "case".into(), |path| path.display().to_string())
}

/// A case as TOML.
pub(super) fn toml_of(case: &impl Serialize) -> Result<String, Error> {
    toml::to_string(case).map_err(|e| Error::input("cannot write the case as TOML").because(&e))
}

/// How a kind of case is read and written: it has a `file`.
macro_rules! case_text {
    ($case:ty) => {
        impl $case {
            /// Reads a case from a TOML file.
            ///
            /// # Errors
            /// A file that cannot be read, or is no such case.
            pub fn read(path: &std::path::Path) -> Result<Self, cutlink_common::Error> {
                $crate::solve::flux::read(path)
            }

            /// Parses a case.
            ///
            /// # Errors
            /// As [`read`](Self::read).
            pub fn from_toml(text: &str) -> Result<Self, cutlink_common::Error> {
                $crate::solve::flux::parse("case", text)
            }

            /// Name of the case in messages.
            pub(super) fn name(&self) -> String {
                $crate::solve::outcome::name_of(self.file.as_deref())
            }

            /// The case as TOML, which reads back as the same case.
            ///
            /// # Errors
            /// None that a user can cause.
            pub fn to_toml(&self) -> Result<String, cutlink_common::Error> {
                $crate::solve::outcome::toml_of(self)
            }
        }
    };
}
pub(super) use case_text;

/// How a kind of case is run: it has `start`.
macro_rules! case_runs {
    ($case:ty) => {
        impl $case {
            /// Runs the case and writes the output folder. Notes and progress go to `observer`.
            ///
            /// # Errors
            /// An invalid case, a device that is not there, a flow that does not fit into memory, existing files, a full disk;
            /// [`Diverged`](cutlink_common::ErrorKind::Diverged) and [`Stopped`](cutlink_common::ErrorKind::Stopped), which
            /// keep the files written so far; [`Untrusted`](cutlink_common::ErrorKind::Untrusted) after all files are written.
            pub fn run_with(
                &self,
                options: &cutlink_flow::RunOptions,
                observer: &mut dyn cutlink_common::Observer,
            ) -> Result<cutlink_flow::RunSummary, cutlink_common::Error> {
                let ended = self.start(options, false, observer);
                ended.map($crate::solve::outcome::Outcome::ran)
            }

            /// Does everything up to the first step, and forecasts the run. Writes nothing.
            ///
            /// # Errors
            /// Those of [`run_with`](Self::run_with) that occur before the first step.
            pub fn plan(
                &self,
                options: &cutlink_flow::RunOptions,
                observer: &mut dyn cutlink_common::Observer,
            ) -> Result<cutlink_flow::RunPlan, cutlink_common::Error> {
                let ended = self.start(options, true, observer);
                ended.map($crate::solve::outcome::Outcome::planned)
            }
        }
    };
}
pub(super) use case_runs;
