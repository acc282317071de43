//! The forecast of a run: physical and lattice units, levels, memory, time.
//!
//! Of flows that are small enough, the time is that of their first steps ([`cutlink_flow::RunPlan::tried`]). Else it is the number
//! of block updates over the speed of a periodic box without body and refinement, measured for a tenth of a second with the same
//! lattice, collision and precision on the same backend. Blocks next to a wall, a face of the box or another level cost more
//! ([`Plan::level_work`]). Without output.

use crate::solve::{
    laws::Laws,
    resolve::Resolved,
    shares::{Costs, Shares},
};
use cutlink_amr::dims;
use cutlink_common::{Error, ErrorKind, device::DeviceReport};
use cutlink_device::{Backend, Memory, memory};
use cutlink_flow::{Until, duration, fields, verdict::Verdict};
use cutlink_meshing::{
    mesh::{build::bare, report::bytes},
    options::Root,
};
use cutlink_solver::{
    CellStorage, Census, FaceCondition, Les, LevelSheet, Params, PatchCondition, Plan,
    RunningMeans, WallScheme, kernels::FlowKernels,
};
use cutlink_voxelizer::Mesh;
use std::{fmt::Write as _, time::Instant};

/// Duration of the measurement, in seconds.
const MEASURE: f64 = 0.1;

/// The forecast of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sheet {
    /// Cell updates per root step.
    pub(crate) updates: u64,
    /// Cell updates of plain blocks that take as long.
    pub(crate) weight: u64,
    /// Maximum number of root steps.
    pub(crate) steps: u64,
    /// Bytes of populations or moments and of tables.
    pub(crate) flow: u64,
    /// How cells are stored, and where.
    pub(crate) storage: CellStorage,
    /// Bytes of the flow on one rank over its cells.
    bytes_per_cell: f64,
    memory: Memory,
    /// Bytes that a snapshot takes for a while where the flow is.
    snapshot: u64,
    /// Bytes of outputs while they are written, and of averages.
    pub(crate) output: u64,
    /// Of these, those of averages in the memory of the device that steps the flow.
    averages: u64,
    /// Totals of the walls: links, schemes and net mass flux.
    pub(crate) census: Census,
}

/// Bytes of density and velocity on the host, for the bulk quantities.
fn snapshot<const D: usize>(mesh: &Mesh<D>) -> u64 {
    (mesh.forest.capacity() * dims::cells(D) * 4 * (1 + D)) as u64
}

impl Sheet {
    /// The forecast of a plan in this kind of memory; `steps` overrides the case.
    pub(crate) fn new<const D: usize>(
        plan: &Plan<'_, D>,
        resolved: &Resolved<D>,
        steps: Option<u64>,
        memory: Memory,
    ) -> Self {
        let outputs = &resolved.outputs;
        let flow = plan.level_bytes(memory).iter().sum();
        let cells: u64 = plan.levels.iter().map(|level| level.cells).sum();
        Self {
            updates: plan.updates(),
            weight: plan.work(memory),
            steps: steps.unwrap_or(match resolved.until {
                Until::Steps(steps) => steps,
                Until::Settled { most, .. } => most,
            }),
            flow,
            bytes_per_cell: flow as f64 / cells.max(1) as f64,
            storage: plan.cell_storage(memory),
            memory,
            snapshot: plan.snapshot_bytes(),
            output: fields::memory(&outputs.specs, outputs.averages.is_some(), plan.mesh)
                .max(snapshot(plan.mesh)),
            averages: 0,
            census: plan.census,
        }
    }

    /// Counts averages, if there are any, in the memory of the device that steps the flow instead of the host's.
    pub(crate) fn keep_averages_on_device<const D: usize>(&mut self, mesh: &Mesh<D>) {
        let cells = (mesh.forest.capacity() * dims::cells(D)) as u64;
        self.averages = cells * RunningMeans::<D>::BYTES;
        self.output += self.averages - cells * RunningMeans::<D>::VALUE_BYTES;
    }

    /// How cells are stored, for `summary.json`.
    pub(crate) fn stored(&self) -> serde_json::Value {
        serde_json::json!({
            "cells": self.storage.name(),
            "bytes_per_cell": self.bytes_per_cell,
        })
    }

    /// The totals of the walls for `summary.json`.
    pub(crate) fn walls(&self) -> serde_json::Value {
        serde_json::json!({
            "links": self.census.links,
            "linear_instead": self.census.linear_instead,
            "bounced_instead": self.census.bounced_instead,
            "inflow": self.census.inflow,
        })
    }

    /// The forecast as JSON; `speed` in updates per second, none if the flow itself is to be tried.
    pub(crate) fn to_json<const D: usize>(
        self,
        plan: &Plan<'_, D>,
        resolved: &Resolved<D>,
        device: &DeviceReport,
        speed: Option<f64>,
        shares: &[Shares],
        laws: &Laws,
    ) -> serde_json::Value {
        let (physics, units) = (&resolved.physics, &resolved.units);
        let level = |(l, bytes): (&LevelSheet, u64)| {
            serde_json::json!({
                "level": l.level,
                "blocks": l.blocks,
                "cells": l.cells,
                "tau": l.tau,
                "bytes": bytes,
            })
        };
        let level_bytes = plan.level_bytes(self.memory);
        let costs = speed.map(|speed| Costs::new(self.memory, self.weight, speed));
        serde_json::json!({
            "schema": cutlink_common::JSON_SCHEMA,
            "cutlink": env!("CARGO_PKG_VERSION"),
            "command": "solve",
            "dry_run": true,
            "device": device,
            "dimensions": D,
            "folder": resolved.folder,
            "steps": self.steps,
            "reynolds": physics.reynolds(),
            "mach": physics.mach(),
            "area": resolved.area,
            "units": { "length": units.length, "time": units.time, "density": units.density },
            "lattice": resolved.params.lattice.to_string(),
            "collision": resolved.params.collision.to_string(),
            "les": resolved.params.les.to_string(),
            "precision": resolved.params.precision.to_string(),
            "storage": self.stored(),
            "levels": plan.levels.iter().zip(level_bytes).map(level).collect::<Vec<_>>(),
            "walls": self.walls(),
            "bytes": { "flow": self.flow, "output": self.output },
            "ranks": shares.iter().map(|s| s.to_json(costs.as_ref())).collect::<Vec<_>>(),
            "updates_per_step": self.updates,
            "work_per_step": self.weight,
            "seconds": speed.map(|speed| self.steps as f64 * self.weight as f64 / speed),
            "unstable": resolved.unstable.as_ref().map(ToString::to_string),
            "forecast": Verdict::new(laws.forecast(), &resolved.case.run.accept).to_json(),
        })
    }

    /// Checks that flow and outputs fit into memory.
    pub(crate) fn check_memory<B: Backend>(&self, backend: &B) -> Result<(), Error> {
        // On a GPU the flow and its averages use device memory, output host memory.
        let (needed, free) = match B::MEMORY {
            Memory::Device if self.output - self.averages <= memory::available() => (
                self.flow + self.snapshot + self.averages,
                backend.free_bytes(),
            ),
            _ => (self.flow + self.output, memory::available()),
        };
        if needed <= free {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Memory,
            format!(
                "not enough memory for the flow: {} are needed, {} for the flow and {} for output, \
                 and {} are free ({free} bytes free)",
                bytes(needed),
                bytes(self.flow),
                bytes(needed - self.flow),
                bytes(free)
            ),
        )
        .hint("use fewer levels, a coarser root grid or precision = \"f32\" or \"f16\", or drop [output.averages]"))
    }

    /// The forecast as text; `speed` in updates per second, none if the flow itself is to be tried.
    pub(crate) fn text<const D: usize>(
        &self,
        plan: &Plan<'_, D>,
        resolved: &Resolved<D>,
        speed: Option<f64>,
        shares: &[Shares],
        laws: &Laws,
    ) -> String {
        let (physics, units) = (&resolved.physics, &resolved.units);
        let finest = plan.levels.len() - 1;
        let across = physics.length / units.length * f64::from(1u32 << finest);
        let mut text = format!(
            "Re {:.6}, Mach {:.4}, {across:.1} finest cells across the reference length\n\
             reference area {:.6e}{}\n\
             root cell {:.6e}, root step {:.6e}, velocity {:.6e} is {:.4} on the lattice\n\
             {}, {}{}, {}, {} interpolation\n\
             level   blocks        cells       tau     MB\n",
            physics.reynolds(),
            physics.mach(),
            resolved.area,
            if D == 2 { ", a length" } else { "" },
            units.length,
            units.time,
            physics.velocity,
            physics.lattice_velocity,
            resolved.params.lattice,
            resolved.params.collision,
            match resolved.params.les {
                Les::None => String::new(),
                les => format!(" with {les}"),
            },
            resolved.params.precision,
            resolved.params.interpolation,
        );
        let level_bytes = plan.level_bytes(self.memory);
        for (level, bytes) in plan.levels.iter().zip(level_bytes) {
            let _ = writeln!(
                text,
                "{:>5} {:>8} {:>12} {:>9.5} {:>6.1}",
                level.level,
                level.blocks,
                level.cells,
                level.tau,
                bytes as f64 / 1e6
            );
        }
        let _ = writeln!(
            text,
            "cells are stored as {}, {:.0} bytes a cell with tables",
            self.storage.name(),
            self.bytes_per_cell
        );
        text += &self.walls_text();
        if let Some(unstable) = &resolved.unstable {
            let _ = writeln!(
                text,
                "running despite a stability limit (allow_unstable): {unstable}"
            );
        }
        let forecast = Verdict::new(laws.forecast(), &resolved.case.run.accept);
        text += &forecast.text("forecast", true);
        let _ = writeln!(
            text,
            "memory: {} for the flow, {} for output",
            bytes(self.flow),
            bytes(self.output)
        );
        if let Some(speed) = speed {
            let costs = Costs::new(self.memory, self.weight, speed);
            for shares in shares {
                let _ = writeln!(text, "{}", shares.text(&costs));
            }
            text += &self.time_text(resolved.until, speed);
        }
        text
    }

    fn walls_text(&self) -> String {
        let census = &self.census;
        let mut text = format!("walls: {} cut links", census.links);
        for (links, scheme) in [
            (
                census.linear_instead,
                "use the linear scheme (no third fluid cell)",
            ),
            (
                census.bounced_instead,
                "use halfway bounce-back (no second fluid cell)",
            ),
        ] {
            if links > 0 {
                let _ = write!(text, ", {links} {scheme}");
            }
        }
        text.push('\n');
        text
    }

    /// The time at so many updates per second.
    fn time_text(&self, until: Until, speed: f64) -> String {
        let most = match until {
            Until::Steps(_) => "",
            Until::Settled { .. } => "at most ",
        };
        format!(
            "time: {most}{} root steps of {:.3} million updates, about {} at {:.1} MLUPS \
             (plain boxes reach {:.1} here)\n",
            self.steps,
            self.updates as f64 / 1e6,
            duration(self.steps as f64 * self.weight as f64 / speed),
            speed * self.updates as f64 / self.weight.max(1) as f64 / 1e6,
            speed / 1e6
        )
    }
}

/// Updates per second of a periodic box with the same lattice, collision and precision.
pub(crate) fn calibrate<const D: usize, B: FlowKernels<D>>(
    backend: &B,
    like: &Params<D>,
    storage: CellStorage,
) -> Result<f64, Error>
where
    cutlink_mesher::exact::Facet<D>: cutlink_mesher::exact::Exact<D>,
{
    // Enough to keep all cores of a GPU busy, if it has room.
    let (large, small): (&[u32], u32) = match (B::MEMORY, D) {
        (Memory::Host, 2) => (&[], 320),
        (Memory::Host, _) => (&[], 48),
        (Memory::Device, 2) => (&[2048, 1024], 320),
        (Memory::Device, _) => (&[192, 96], 48),
    };
    let room = backend.free_bytes() / (2 * like.update_bytes(storage));
    let fits = |cells: &u32| u64::from(*cells).pow(D as u32) <= room;
    let cells = large.iter().copied().find(fits).unwrap_or(small);
    let bounds = [vec![0.0; D], vec![1.0; D]].concat();
    let mesh = bare::<D>(&bounds, &Root::Longest(cells))?;
    let params = Params {
        faces: [[FaceCondition::Periodic; 2]; D],
        patches: vec![PatchCondition::wall(WallScheme::BounceBack); mesh.patches.len()],
        modeled: Vec::new(),
        forces: false,
        variations: Vec::new(),
        sponges: Vec::new(),
        adaptation: None,
        heat: None,
        ..like.clone()
    };
    let mut plan = Plan::new(&mesh, params)?;
    if storage == CellStorage::Populations {
        plan = plan.with_populations();
    }
    let updates = plan.updates();
    let mut flow = plan.start(backend)?;
    flow.advance(1)?;
    flow.wait()?;
    let (began, mut steps) = (Instant::now(), 0);
    while began.elapsed().as_secs_f64() < MEASURE {
        flow.advance(1)?;
        flow.wait()?;
        steps += 1;
    }
    Ok((steps * updates) as f64 / began.elapsed().as_secs_f64())
}
