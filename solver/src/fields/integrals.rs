//! Integrals of a flow: means over the fluid, and what passes the faces of the box.
//!
//! In: a mesh and a snapshot. Out: units of the root lattice, in 2D of a depth of one. Cells whose centre is fluid
//! count with their whole volume, cells that the surface cuts too. Blocks are added up exactly: their order does not
//! matter.

use super::{gradient, is_solid, velocity_of, vorticity};
use crate::{Snapshot, kernels::ExactSum};
use cutlink_amr::{CellRef, dims};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// Means over the volume of the fluid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Integrals {
    /// Volume of the fluid cells, in root cells.
    pub volume: f64,
    /// Mean density.
    pub density: f64,
    /// Mean of ρ u² / 2.
    pub kinetic_energy: f64,
    /// Mean of |ω|² / 2, by [`gradient`](super::gradient()).
    pub enstrophy: f64,
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
    let of_block = |&block: &u32| {
        let level = i32::from(mesh.forest.level[block as usize]);
        let volume = 0.5f64.powi(level * D as i32);
        let mut sums = [0.0; 4];
        for cell in 0..dims::cells(D) as u32 {
            let at = CellRef { block, cell };
            if is_solid(mesh, at) {
                continue;
            }
            let density = density_of(snapshot, at);
            let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
            let curl = vorticity(&gradient(mesh, &snapshot.velocity, at));
            sums[0] += volume;
            sums[1] += volume * density;
            sums[2] += 0.5 * volume * density * square(&velocity_of(&snapshot.velocity, at));
            sums[3] += 0.5 * volume * square(&curl);
        }
        sums
    };
    let leaves: Vec<u32> = mesh.forest.leaves().collect();
    let blocks: Vec<[f64; 4]> = leaves.par_iter().map(of_block).collect();
    let sum = |i: usize| blocks.iter().map(|block| block[i]).collect::<ExactSum>();
    let [volume, density, kinetic_energy, enstrophy] = [0, 1, 2, 3].map(|i| sum(i).value());
    let mean = |sum: f64| sum / volume.max(f64::MIN_POSITIVE);
    Integrals {
        volume,
        density: mean(density),
        kinetic_energy: mean(kinetic_energy),
        enstrophy: mean(enstrophy),
    }
}

/// What leaves through a face of the box: the sum, over the fluid leaf cells next to it, of the velocity along the outward
/// normal (for the mass times the density) by the area of a cell's face. Velocities are those of cell centres, half a cell
/// inside. `upper` is the face at the upper end of the axis.
pub fn flux<const D: usize>(
    mesh: &Mesh<D>,
    snapshot: &Snapshot<D>,
    axis: usize,
    upper: bool,
) -> Flux {
    let (layer, outward) = if upper { (3, 1.0) } else { (0, -1.0) };
    let mut sums = [ExactSum::default(); 3];
    for block in mesh.forest.leaves() {
        let level = mesh.forest.level[block as usize];
        let last = (mesh.forest.root[axis] << level) as i32 - 1;
        let wanted = if upper { last } else { 0 };
        if mesh.forest.coord[block as usize][axis] != wanted {
            continue;
        }
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
