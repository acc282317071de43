//! How a flow is shared among ranks, for the forecast and the summary; and the processes that share it.
//!
//! **Efficiency**: the time of a root step on one rank, over that on N ranks times N. A step on N ranks takes the largest
//! share of the work, then the messages: [`exchanges`](RankSheet::exchanges) one after the other, each with the same delay, and
//! the bytes of the rank that receives most. Nothing is taken to hide messages. The constants of [`Costs`] are measured
//! (`docs/performance-log.md`, "Forecast of ranks").

use crate::mesh::report::bytes;
use cutlink_common::Error;
use cutlink_device::{Memory, Route};
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

/// Costs of ranks of one host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Costs {
    /// Seconds of a root step on one rank.
    pub(crate) step: f64,
    /// Seconds of an exchange of small messages.
    exchange: f64,
    /// Bytes per second that a rank receives.
    rate: f64,
}

impl Costs {
    /// Of ranks whose flow is in this kind of memory, of a root step that takes as long as so many updates of plain blocks; `speed`:
    /// such updates per second, measured here.
    pub(crate) fn new(memory: Memory, weight: u64, speed: f64) -> Self {
        Self {
            step: weight as f64 / speed,
            ..Self::of(memory)
        }
    }

    /// What messages cost.
    fn of(memory: Memory) -> Self {
        let (exchange, rate) = match memory {
            Memory::Host => (100e-6, 3e9),
            Memory::Device => (22e-6, 250e9),
        };
        Self {
            step: 0.0,
            exchange,
            rate,
        }
    }
}

impl Shares {
    /// The shares of so many ranks, with populations in this kind of memory.
    pub(crate) fn new<const D: usize>(
        plan: &Plan<'_, D>,
        ranks: usize,
        memory: Memory,
    ) -> Result<Self, Error> {
        let named = |error| Error::from(error).within("--ranks");
        let ranks = plan.ranks(ranks, memory).map_err(named)?;
        Ok(Self {
            ranks,
            messages: None,
        })
    }

    fn exchanges(&self) -> u64 {
        self.ranks[0].exchanges
    }

    /// A forecast of the efficiency; see the module.
    fn efficiency(&self, costs: &Costs) -> f64 {
        let ranks = self.ranks.len() as f64;
        let messages = self.exchanges() as f64 * costs.exchange
            + self.most(|rank| rank.received) as f64 / costs.rate;
        let step = self.imbalance() * costs.step / ranks + messages;
        costs.step / (ranks * step)
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

    /// As JSON, with the efficiency if it is to be forecast.
    pub(crate) fn to_json(&self, costs: Option<&Costs>) -> Value {
        let of = |of: fn(&RankSheet) -> u64| self.ranks.iter().map(of).collect::<Vec<_>>();
        json!({
            "ranks": self.ranks.len(),
            "messages": self.messages,
            "imbalance": self.imbalance(),
            "exchanges": self.exchanges(),
            "efficiency": costs.map(|costs| self.efficiency(costs)),
            "blocks": of(|rank| rank.blocks),
            "halo_blocks": of(|rank| rank.halo_blocks),
            "received": of(|rank| rank.received),
            "bytes": of(|rank| rank.bytes),
        })
    }

    /// One line.
    pub(crate) fn text(&self, costs: &Costs) -> String {
        format!(
            "{} ranks: at most {:.3} of the mean work, {} blocks and {} of other ranks beside them, {} received a root step in {} exchanges, {} of memory; {:.0} % efficient",
            self.ranks.len(),
            self.imbalance(),
            self.most(|rank| rank.blocks),
            self.most(|rank| rank.halo_blocks),
            bytes(self.most(|rank| rank.received)),
            self.exchanges(),
            bytes(self.most(|rank| rank.bytes)),
            100.0 * self.efficiency(costs),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two equal ranks of a flow whose root step takes so many milliseconds on one H100.
    fn on_two_gpus(step_ms: f64, exchanges: u64, received: u64) -> f64 {
        let rank = RankSheet {
            blocks: 1,
            halo_blocks: 1,
            work: 0.5,
            bytes: 1,
            received,
            exchanges,
        };
        let shares = Shares {
            ranks: vec![rank.clone(), rank],
            messages: None,
        };
        shares.efficiency(&Costs {
            step: step_ms * 1e-3,
            ..Costs::of(Memory::Device)
        })
    }

    /// Measured on two H100 (docs/performance-log.md, "Several GPUs"). A periodic box of 512³ has two faces of 512² cells between
    /// ranks, of which each cell sends five populations.
    #[test]
    fn boxes_on_two_gpus_are_as_efficient_as_measured() {
        let face = |population: u64| 2 * 512 * 512 * 5 * population;
        let cells = 512f64.powi(3);
        for (mlups, cells, received, measured) in [
            (18_467.0, cells, face(4), 0.974),
            (9_519.0, cells, face(8), 0.980),
            (18_467.0, 2.0 * cells, face(4), 0.980),
        ] {
            let found = on_two_gpus(cells / mlups * 1e-3, 1, received);
            assert!((found - measured).abs() < 0.02, "{found} {measured}");
        }
    }

    /// The time of an exchange was fitted to the f32 sphere, and to nothing else.
    #[test]
    fn spheres_on_two_gpus_are_as_efficient_as_measured() {
        // 17.1 million updates; some megabytes, whose time is below that of one exchange.
        for (mlups, received, measured) in [(14_262.0, 3 << 20, 1.26), (7_907.0, 6 << 20, 1.56)] {
            let found = 2.0 * on_two_gpus(17.1e6 / mlups * 1e-3, 12, received);
            assert!((found / measured - 1.0).abs() < 0.1, "{found} {measured}");
        }
    }
}
