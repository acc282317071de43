//! What a caller gives to a run, and what it gets back.

use cutlink_common::{StopToken, device::DeviceOption};
use cutlink_mpi::World;
use std::{path::PathBuf, sync::Arc};

/// Options of a run; those that are not given are the defaults.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Continue from the last checkpoint in the output folder.
    pub resume: bool,
    /// Replace an earlier run in the output folder.
    pub replace: bool,
    /// Maximum number of root steps; overrides the case.
    pub steps: Option<u64>,
    /// Where to run; overrides `[mesh] device` of the case.
    pub device: Option<DeviceOption>,
    /// Worker threads; 0 for one per core.
    pub threads: usize,
    /// Ranks that share the flow, each with a part of the mesh; none for one. For a forecast several numbers.
    pub ranks: Vec<usize>,
    /// GPUs of this machine that share the flow, from `device` on; 0 and 1 for one device.
    pub gpus: usize,
    /// The processes that share the flow, each of which is a rank; none for a flow of one process.
    pub world: Option<Arc<World>>,
    /// Ends the run early, with a checkpoint.
    pub stop: StopToken,
}

/// The forecast of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunPlan {
    /// Units, levels, walls, memory and time, as text.
    pub text: String,
    /// The same as the JSON object of `cutlink solve --dry-run --json` (`docs/json-schema.md`).
    pub json: serde_json::Value,
}

/// The result of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunSummary {
    /// The output folder.
    pub folder: PathBuf,
    /// Root steps done.
    pub steps: u64,
    /// Simulated time, in seconds.
    pub time: f64,
    /// Whether it settled, if the case has `[run] settle`.
    pub settled: Option<bool>,
    /// The object in `summary.json` (`docs/json-schema.md`).
    pub json: serde_json::Value,
}

/// The mean of a coefficient over the second half of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Coefficient {
    /// The mean.
    pub mean: f64,
    /// Its standard error; none if the run was too short.
    pub error: Option<f64>,
}

impl RunPlan {
    /// A forecast, as text and as the JSON object of `cutlink solve --dry-run --json`.
    pub fn new(text: String, json: serde_json::Value) -> Self {
        Self { text, json }
    }
}

impl RunSummary {
    /// The verdict on the result, `ok` or `doubtful` (`docs/verdict.md`): a result that is *wrong* is the error
    /// [`Untrusted`](cutlink_common::ErrorKind::Untrusted).
    pub fn verdict(&self) -> Option<&str> {
        self.json["verdict"]["grade"].as_str()
    }

    /// A force or moment coefficient (`C_D`, `C_L`, `C_S`, `C_Mx`, `C_My`, `C_Mz`) of a patch or group; `all` is the
    /// sum over all patches.
    pub fn coefficient(&self, part: &str, name: &str) -> Option<Coefficient> {
        let parts = self.json["patches"].as_object()?;
        // A single patch is all there is, and has no sum beside it.
        let only = || {
            parts
                .values()
                .next()
                .filter(|_| part == "all" && parts.len() == 1)
        };
        let found = &parts.get(part).or_else(only)?[name];
        Some(Coefficient {
            mean: found["mean"].as_f64()?,
            error: found["error"].as_f64(),
        })
    }
}
