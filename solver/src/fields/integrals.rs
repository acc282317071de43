//! Integrals of a flow: means over the fluid, and what passes the faces of the box.
//!
//! In: a mesh and a snapshot. Out: units of the root lattice, in 2D of a depth of one. Cells whose centre is fluid
//! count with their whole volume, cells that the surface cuts too. Blocks are added up exactly: their order does not
//! matter.

use super::{gradients, is_solid, velocity_of, vorticity};
use crate::{Snapshot, kernels::ExactSum};
use cutlink_amr::{CellRef, dims};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// Most cells of a block.
const MOST: usize = 64;

/// Means over the volume of the fluid, and extremes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Integrals {
    /// Volume of the fluid cells, in root cells.
    pub volume: f64,
    /// Mean density.
    pub density: f64,
    /// Mean of ρ u² / 2.
    pub kinetic_energy: f64,
    /// Mean of |ω|² / 2, by [`gradients`](super::gradients()).
    pub enstrophy: f64,
    /// The largest speed.
    pub fastest: f64,
    /// The smallest and the largest density; infinities of the wrong sign where there is no fluid.
    pub densities: [f64; 2],
}

/// Sums and extremes over fluid cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FluidSums {
    /// Of volume; of density, ρ u² / 2 and |ω|² / 2 times volume.
    pub(crate) totals: [ExactSum; 4],
    /// The largest square of a speed.
    pub(crate) square: f64,
    /// The smallest and the largest density.
    pub(crate) densities: [f64; 2],
}

impl FluidSums {
    pub(crate) const NONE: Self = Self {
        totals: [ExactSum::ZERO; 4],
        square: 0.0,
        densities: [f64::INFINITY, f64::NEG_INFINITY],
    };

    /// Of cells of a block: density, velocity and gradient of each. They are added up in their order.
    pub(crate) fn of_block<const D: usize>(
        volume: f64,
        cells: impl Iterator<Item = (f64, [f64; D], [[f64; D]; D])>,
    ) -> Self {
        let (mut sums, mut all) = ([0.0; 4], Self::NONE);
        let squared = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        for (density, velocity, slope) in cells {
            let square = squared(&velocity);
            sums[0] += volume;
            sums[1] += volume * density;
            sums[2] += 0.5 * volume * density * square;
            sums[3] += 0.5 * volume * squared(&vorticity(&slope));
            all.square = all.square.max(square);
            all.densities[0] = all.densities[0].min(density);
            all.densities[1] = all.densities[1].max(density);
        }
        all.totals = sums.map(ExactSum::from);
        all
    }

    pub(crate) fn and(mut self, other: Self) -> Self {
        for (sum, more) in self.totals.iter_mut().zip(other.totals) {
            *sum += more;
        }
        self.square = self.square.max(other.square);
        self.densities[0] = self.densities[0].min(other.densities[0]);
        self.densities[1] = self.densities[1].max(other.densities[1]);
        self
    }

    pub(crate) fn means(self) -> Integrals {
        let [volume, density, kinetic_energy, enstrophy] = self.totals.map(ExactSum::value);
        let mean = |sum: f64| sum / volume.max(f64::MIN_POSITIVE);
        Integrals {
            volume,
            density: mean(density),
            kinetic_energy: mean(kinetic_energy),
            enstrophy: mean(enstrophy),
            fastest: self.square.sqrt(),
            densities: self.densities,
        }
    }
}

/// What leaves through a face, a root step: negative where it enters.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Flux {
    /// Root cells.
    pub volume: f64,
    /// The same times the density.
    pub mass: f64,
    /// The area of the cells that were summed.
    pub area: f64,
}

/// Means over the fluid; zero where there is none. Cost: a velocity gradient a cell.
pub fn integrals<const D: usize>(mesh: &Mesh<D>, snapshot: &Snapshot<D>) -> Integrals {
    let leaves: Vec<u32> = mesh.forest.leaves().collect();
    sums(mesh, snapshot, &leaves).means()
}

/// Sums over the fluid cells of some leaf blocks.
pub(crate) fn sums<const D: usize>(
    mesh: &Mesh<D>,
    snapshot: &Snapshot<D>,
    blocks: &[u32],
) -> FluidSums {
    let of_block = |&block: &u32| {
        let level = i32::from(mesh.forest.level[block as usize]);
        let mut slopes = [[[0.0; D]; D]; MOST];
        let slopes = &mut slopes[..dims::cells(D)];
        gradients(mesh, &snapshot.velocity, block, slopes);
        let cells = (0..).map(|cell| CellRef { block, cell }).zip(&*slopes);
        let fluid = cells.filter(|(at, _)| !is_solid(mesh, *at));
        let values = fluid.map(|(at, slope)| {
            let velocity = velocity_of(&snapshot.velocity, at);
            (density_of(snapshot, at), velocity, *slope)
        });
        FluidSums::of_block(0.5f64.powi(level * D as i32), values)
    };
    let all = blocks.par_iter().map(of_block);
    all.reduce(|| FluidSums::NONE, FluidSums::and)
}

/// Leaf blocks at a face of the box, level by level. Cost: that of the blocks at the face, not of the mesh.
pub fn blocks_at<const D: usize>(mesh: &Mesh<D>, axis: usize, upper: bool) -> Vec<u32> {
    let forest = &mesh.forest;
    let mut over = forest.root;
    over[axis] = 1;
    // Root blocks are numbered by their coordinates, x fastest.
    let roots = (0..over.iter().product::<u32>()).filter_map(|i| {
        let mut rest = i;
        let mut at = over.map(|n| {
            let along = (rest % n) as i32;
            rest /= n;
            along
        });
        at[axis] = if upper {
            forest.root[axis] as i32 - 1
        } else {
            0
        };
        forest.find(0, at)
    });
    let mut found = Vec::new();
    let mut blocks: Vec<u32> = roots.collect();
    while !blocks.is_empty() {
        let mut finer = Vec::new();
        for block in blocks {
            if forest.is_leaf(block) {
                found.push(block);
                continue;
            }
            let first = forest.first_child[block as usize];
            let beside = (0..dims::children(D) as u32).filter(|c| (c >> axis & 1 == 1) == upper);
            finer.extend(beside.map(|child| first + child));
        }
        blocks = finer;
    }
    found
}

/// What leaves through a face of the box: the sum, over the fluid leaf cells next to it, of the velocity along the outward
/// normal (for the mass times the density) by the area of a cell's face. Velocities are those of cell centres, half a cell
/// inside. `upper` is the face at the upper end of the axis. Takes values of [`blocks_at`] the face.
pub fn flux<const D: usize>(
    mesh: &Mesh<D>,
    snapshot: &Snapshot<D>,
    axis: usize,
    upper: bool,
) -> Flux {
    let (layer, outward) = if upper { (3, 1.0) } else { (0, -1.0) };
    let mut sums = [ExactSum::default(); 3];
    for block in blocks_at(mesh, axis, upper) {
        let level = mesh.forest.level[block as usize];
        let area = 0.5f64.powi(i32::from(level) * (D as i32 - 1));
        for cell in 0..dims::cells(D) as u32 {
            let at = CellRef { block, cell };
            if cell >> (2 * axis) & 3 != layer || is_solid(mesh, at) {
                continue;
            }
            let through = outward * area * velocity_of(&snapshot.velocity, at)[axis];
            let of_cell = [through, through * density_of(snapshot, at), area];
            (0..3).for_each(|i| sums[i] += of_cell[i].into());
        }
    }
    let [volume, mass, area] = sums.map(ExactSum::value);
    Flux { volume, mass, area }
}

fn density_of<const D: usize>(snapshot: &Snapshot<D>, at: CellRef) -> f64 {
    f64::from(snapshot.density[at.block as usize * dims::cells(D) + at.cell as usize])
}
