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
