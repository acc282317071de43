//! Bulk quantities of a flow: mean density, kinetic energy, largest Mach number, density range.

use cutlink_amr::dims;
use cutlink_solver::Snapshot;
use cutlink_voxelizer::Mesh;
use serde::{Deserialize, Serialize};

/// Bulk quantities of a flow, in lattice units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bulk {
    /// Root steps done.
    pub(crate) step: u64,
    /// Volume mean.
    pub(crate) density: f64,
    /// Volume mean of ρ u², twice the kinetic energy.
    pub(crate) energy: f64,
    /// The largest speed.
    pub(crate) fastest: f64,
    /// The smallest and the largest density.
    pub(crate) densities: [f64; 2],
}

impl Bulk {
    /// The largest Mach number.
    pub(crate) fn mach(&self) -> f64 {
        self.fastest * 3f64.sqrt()
    }

    /// (Largest - smallest pressure) / (ρ c²) with the speed of sound c; 0 for an incompressible flow.
    pub(crate) fn compression(&self) -> f64 {
        (self.densities[1] - self.densities[0]) / self.density
    }
}

/// The fluid cells.
pub(crate) struct Fluid {
    /// Leaf blocks with the volume of their cells.
    leaves: Vec<(u32, f64)>,
    solid: Vec<u64>,
}

impl Fluid {
    pub(crate) fn new<const D: usize>(mesh: &Mesh<D>) -> Self {
        let volume = |block: u32| {
            let level = i32::from(mesh.forest.level[block as usize]);
            0.5f64.powi(level * D as i32)
        };
        Self {
            leaves: mesh.forest.leaves().map(|b| (b, volume(b))).collect(),
            solid: mesh.classes.solid.to_vec(),
        }
    }

    /// The bulk quantities of a snapshot.
    pub(crate) fn sum<const D: usize>(&self, snapshot: &Snapshot<D>) -> Bulk {
        let (mut energy, mut mass, mut total) = (0.0, 0.0, 0.0);
        let (mut fastest, mut densities) = (0.0f64, [f64::INFINITY, f64::NEG_INFINITY]);
        for &(block, volume) in &self.leaves {
            for cell in 0..dims::cells(D) {
                if self.solid[block as usize] >> cell & 1 == 1 {
                    continue;
                }
                let at = block as usize * dims::cells(D) + cell;
                let square = snapshot.velocity.iter().map(|u| f64::from(u[at]).powi(2));
                let (square, density) = (square.sum::<f64>(), f64::from(snapshot.density[at]));
                energy += volume * density * square;
                mass += volume * density;
                total += volume;
                fastest = fastest.max(square);
                densities = [densities[0].min(density), densities[1].max(density)];
            }
        }
        let total = total.max(f64::MIN_POSITIVE);
        Bulk {
            step: snapshot.step,
            density: mass / total,
            energy: energy / total,
            fastest: fastest.sqrt(),
            densities,
        }
    }
}
