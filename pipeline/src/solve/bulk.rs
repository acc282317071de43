//! What a flow is on the whole: mean density, kinetic energy, the largest Mach number, the range of the density.

use cutlink_amr::dims;
use cutlink_solver::Snapshot;
use cutlink_voxelizer::Mesh;
use serde::{Deserialize, Serialize};

/// A flow on the whole, in units of the lattice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bulk {
    /// Root steps done.
    pub(crate) step: u64,
    /// Mean over the volume.
    pub(crate) density: f64,
    /// Mean over the volume of ρ u², twice the kinetic energy.
    pub(crate) energy: f64,
    /// The largest speed.
    pub(crate) fastest: f64,
    /// The least and the largest density.
    pub(crate) densities: [f64; 2],
}

impl Bulk {
    /// The largest Mach number.
    pub(crate) fn mach(&self) -> f64 {
        self.fastest * 3f64.sqrt()
    }

    /// Largest less least pressure over ρ c², c the speed of sound: of an incompressible flow nothing.
    pub(crate) fn compression(&self) -> f64 {
        (self.densities[1] - self.densities[0]) / self.density
    }
}

/// The cells that hold a flow.
pub(crate) struct Fluid {
    /// Blocks that are leaves, with the volume of a cell of theirs.
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

    /// The whole of a snapshot.
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
