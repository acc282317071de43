//! How a flow is shared among ranks, for the forecast and the summary; and the processes that share it.

use crate::{error::Error, mesh::report::bytes};
use cutlink_device::Route;
use cutlink_mpi::{MpiError, World};
use cutlink_solver::{Communicator, Plan, RankSheet, SolverError};
use serde_json::{Value, json};
use std::sync::Arc;

/// The ranks of a flow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shares {
    ranks: Vec<RankSheet>,
    /// What carries messages, once the flow has started.
    messages: Option<String>,
}

impl Shares {
    /// The shares of so many ranks.
    pub(crate) fn new<const D: usize>(plan: &Plan<'_, D>, ranks: usize) -> Result<Self, Error> {
        let named = |error| Error::from(error).within("--ranks");
        let ranks = plan.ranks(ranks).map_err(named)?;
        let messages = None;
        Ok(Self { ranks, messages })
    }

    /// Takes what carries the messages of a flow that has started. A reason why GPUs are not connected is returned.
    pub(crate) fn take_messages(&mut self, route: Option<Route<String>>) -> Option<String> {
        let (name, why) = match route? {
            Route::Direct(name) => (name, None),
            Route::Host(why) => ("host memory".into(), why),
        };
        self.messages = Some(name);
        why
    }

    /// Bytes of a rank.
    pub(crate) fn bytes_of(&self, rank: usize) -> u64 {
        self.ranks[rank].bytes
    }

    /// Bytes of the largest rank.
    pub(crate) fn largest(&self) -> u64 {
        self.most(|rank| rank.bytes)
    }

    /// Bytes of all ranks.
    pub(crate) fn bytes(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.bytes).sum()
    }

    fn most(&self, of: impl Fn(&RankSheet) -> u64) -> u64 {
        self.ranks.iter().map(of).max().unwrap_or(0)
    }

    /// The largest share of the work over the mean.
    fn imbalance(&self) -> f64 {
        let most = self
            .ranks
            .iter()
            .fold(0.0, |most, rank| rank.work.max(most));
        most * self.ranks.len() as f64
    }

    /// As JSON.
    pub(crate) fn to_json(&self) -> Value {
        let of = |of: fn(&RankSheet) -> u64| self.ranks.iter().map(of).collect::<Vec<_>>();
        json!({
            "ranks": self.ranks.len(),
            "messages": self.messages,
            "imbalance": self.imbalance(),
            "blocks": of(|rank| rank.blocks),
            "halo_blocks": of(|rank| rank.halo_blocks),
            "received": of(|rank| rank.received),
            "bytes": of(|rank| rank.bytes),
        })
    }

    /// One line.
    pub(crate) fn text(&self) -> String {
        format!(
            "{} ranks: at most {:.3} of the mean work, {} blocks and {} of other ranks beside them, {} received a root step, {} of memory",
            self.ranks.len(),
            self.imbalance(),
            self.most(|rank| rank.blocks),
            self.most(|rank| rank.halo_blocks),
            bytes(self.most(|rank| rank.received)),
            bytes(self.most(|rank| rank.bytes)),
        )
    }
}

/// The processes that share a flow.
#[derive(Debug)]
struct Processes(Arc<World>);

/// The processes as the solver reaches them.
pub(crate) fn processes(world: &Arc<World>) -> Arc<dyn Communicator> {
    Arc::new(Processes(Arc::clone(world)))
}

fn failed(error: MpiError) -> SolverError {
    SolverError::Communication {
        reason: error.to_string(),
    }
}

impl Communicator for Processes {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn ranks(&self) -> usize {
        self.0.size()
    }

    fn send(&self, to: usize, bytes: Vec<u8>) -> Result<(), SolverError> {
        self.0.send(to, bytes).map_err(failed)
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, SolverError> {
        self.0.receive(from).map_err(failed)
    }

    fn try_receive(&self, from: usize) -> Result<Option<Vec<u8>>, SolverError> {
        self.0.try_receive(from).map_err(failed)
    }

    fn flush(&self) -> Result<(), SolverError> {
        self.0.flush().map_err(failed)
    }

    fn ended(&self) {
        self.0.release();
    }
}
