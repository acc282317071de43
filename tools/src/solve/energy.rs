//! The kinetic energy of a flow without a body, which tells when it has settled.
//!
//! In: snapshots. Out: the mean over the fluid of ρ u² / 2, over that of the reference velocity; `energy.csv`.

use crate::{
    failure::Failure,
    solve::{history, resolve::Resolved},
};
use cutlink_amr::dims;
use cutlink_solver::{Snapshot, signal};
use cutlink_voxelizer::Mesh;
use std::{fmt::Write as _, path::Path};

const HEADER: &str = "step,time,kinetic energy";

/// What has been sampled so far.
pub(crate) struct Energy {
    /// Seconds of a root step.
    time: f64,
    /// The square of the reference velocity, on the lattice.
    square: f64,
    /// Blocks that are leaves, with the volume of a cell of theirs.
    leaves: Vec<(u32, f64)>,
    solid: Vec<u64>,
    steps: Vec<u64>,
    values: Vec<f64>,
}

impl Energy {
    pub(crate) fn new<const D: usize>(mesh: &Mesh<D>, resolved: &Resolved<D>) -> Self {
        let volume = |block: u32| {
            let level = i32::from(mesh.forest.level[block as usize]);
            0.5f64.powi(level * D as i32)
        };
        Self {
            time: resolved.units.time,
            square: resolved.physics.lattice_velocity.powi(2),
            leaves: mesh.forest.leaves().map(|b| (b, volume(b))).collect(),
            solid: mesh.classes.solid.to_vec(),
            steps: Vec::new(),
            values: Vec::new(),
        }
    }

    pub(crate) fn add<const D: usize>(&mut self, snapshot: &Snapshot<D>) {
        let (mut sum, mut total) = (0.0, 0.0);
        for &(block, volume) in &self.leaves {
            for cell in 0..dims::cells(D) {
                if self.solid[block as usize] >> cell & 1 == 1 {
                    continue;
                }
                let at = block as usize * dims::cells(D) + cell;
                let square = snapshot.velocity.iter().map(|u| f64::from(u[at]).powi(2));
                sum += volume * f64::from(snapshot.density[at]) * square.sum::<f64>();
                total += volume;
            }
        }
        self.steps.push(snapshot.step);
        self.values
            .push(sum / (total * self.square).max(f64::MIN_POSITIVE));
    }

    pub(crate) fn is_settled(&self, change: f64) -> bool {
        matches!(signal::settled(&self.values, change), Ok(Some(_)))
    }

    pub(crate) fn to_csv(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for (&step, value) in self.steps.iter().zip(&self.values) {
            let _ = writeln!(text, "{step},{:e},{value:e}", step as f64 * self.time);
        }
        text
    }

    /// Takes up the lines up to a step.
    pub(crate) fn read(&mut self, path: &Path, step: u64) -> Result<(), Failure> {
        for (at, numbers) in history::rows(path, HEADER, step)? {
            self.steps.push(at);
            self.values.push(numbers[0]);
        }
        Ok(())
    }
}
