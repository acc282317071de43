//! What follows from the velocities of a [`Snapshot`]: gradients, vorticity, Q.
//!
//! In: a mesh and velocities by block id and cell, in Δx / Δt. Out: gradients in 1 / Δt of the
//! root level, whatever the level of the cell.
//!
//! | file | what |
//! |---|---|
//! | `gradient` | differences across levels, beside walls |
//! | `derived` | vorticity and Q of one gradient |
//! | `at` | a velocity anywhere between the centres |
//! | `integrals` | energy and enstrophy of the fluid, fluxes through the faces of the box |
//! | `wall` | density and shear at places of a wall |
//!
//! Refined blocks have values too, of their own cells. Determinism: the same values for any
//! number of threads. Cost: 2 D neighbours a cell, which are looked up one by one only beside the surface and other levels
//! ([`gradients`]).

mod at;
mod derived;
mod gradient;
mod integrals;
mod wall;

pub(crate) use at::blocks_of_gradients;
pub use at::{Around, around, blocks_around, scalar_at, strain_at, velocity_at};
pub use derived::{q_criterion, vorticity};
pub(crate) use gradient::{central, fluid_around, toward};
pub use gradient::{gradient, gradients};
pub(crate) use integrals::{FluidSums, sums};
pub use integrals::{Flux, Integrals, blocks_at, flux, integrals};
pub use wall::{WallPlace, WallState, wall_state};

use crate::Snapshot;
use cutlink_amr::{CellRef, FREE, dims};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// Vorticity and Q of every cell, in 1 / Δt and 1 / Δt² of the root level.
#[derive(Debug, Clone)]
pub struct Derived {
    /// By block id and cell: in 3D three components a cell, in 2D the one out of the plane.
    pub vorticity: Vec<f32>,
    /// By block id and cell.
    pub q: Vec<f32>,
}

/// Components of vorticity in D dimensions.
pub const fn vorticity_components(d: usize) -> usize {
    if d == 3 { 3 } else { 1 }
}

/// Vorticity and Q of every cell; zero in solid cells and for ids that name no block.
pub fn derive<const D: usize>(mesh: &Mesh<D>, snapshot: &Snapshot<D>) -> Derived {
    let (cells, components) = (dims::cells(D), vorticity_components(D));
    let count = mesh.forest.capacity() * cells;
    let mut vorticity = vec![0f32; count * components];
    let mut q = vec![0f32; count];
    vorticity
        .par_chunks_exact_mut(cells * components)
        .zip(q.par_chunks_exact_mut(cells))
        .enumerate()
        .filter(|(block, _)| mesh.forest.level[*block] != FREE)
        .for_each(|(block, (vorticity, q))| {
            let mut slopes = [[[0.0; D]; D]; 64];
            let slopes = &mut slopes[..cells];
            gradients(mesh, &snapshot.velocity, block as u32, slopes);
            let to = vorticity.chunks_exact_mut(components).zip(q);
            for (a, (w, q)) in slopes.iter().zip(to) {
                let full = self::vorticity(a);
                for (to, from) in w.iter_mut().zip(&full[3 - components..]) {
                    *to = *from as f32;
                }
                *q = q_criterion(a) as f32;
            }
        });
    Derived { vorticity, q }
}

/// Whether the centre of a cell is solid.
pub(crate) fn is_solid<const D: usize>(mesh: &Mesh<D>, at: CellRef) -> bool {
    mesh.classes.solid[at.block as usize] >> at.cell & 1 == 1
}

/// The velocity of a cell.
pub(crate) fn velocity_of<const D: usize>(velocity: &[Vec<f32>; D], at: CellRef) -> [f64; D] {
    let index = at.block as usize * dims::cells(D) + at.cell as usize;
    std::array::from_fn(|a| f64::from(velocity[a][index]))
}
