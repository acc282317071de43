//! Sums over the flow: volumes, energies, the front, the area of the interface.

use crate::compiled::compiled;
use crate::flow::TwoPhaseFlow;
use crate::interface::{Kind, is_in_one};
use crate::mesh::{Tile, in_tile};
use crate::normal;
use cutlink_amr::dims;
use cutlink_device::larger_or_nan;
use rayon::prelude::*;

/// Blocks that a task sums over.
const PART: usize = 64;

/// Integrals of a state. Per metre of depth in 2D.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseIntegrals<const D: usize> {
    /// Volume of liquid and gas, m^D.
    pub volume: [f64; 2],
    /// Kinetic energy of all, J.
    pub kinetic: f64,
    /// Potential energy by gravity, against the origin of coordinates, J.
    pub potential: f64,
    /// Centre of the liquid's volume, m; NaN without liquid.
    pub centre: [f64; D],
    /// Mean velocity of the liquid, m/s; NaN without liquid.
    pub mean_velocity: [f64; D],
    /// Corners of the box around cells that are at least half full, m; infinite without any.
    pub extent: [[f64; D]; 2],
    /// Largest velocity of a cell, m/s.
    pub largest_velocity: f64,
}

impl<const D: usize> TwoPhaseFlow<D> {
    /// Sums over all cells of leaves that are not solid, in the order of blocks.
    pub fn integrals(&self) -> PhaseIntegrals<D> {
        (compiled::<D>().integrals)(self)
    }

    pub(crate) fn sums(&self) -> PhaseIntegrals<D> {
        // Each block by itself, added in the order of blocks: the same bits for any number of threads.
        let leaf = |block: &usize| self.mesh.blocks.is_leaf(*block);
        let blocks: Vec<usize> = (0..self.mesh.blocks.len()).filter(leaf).collect();
        let of = |some: &[usize]| some.iter().fold(Self::none(), |sum, &b| self.with(sum, b));
        let parts: Vec<PhaseIntegrals<D>> = blocks.par_chunks(PART).map(of).collect();
        let mut sum = parts.into_iter().fold(Self::none(), PhaseIntegrals::plus);
        sum.centre = sum.centre.map(|x| x / sum.volume[0]);
        sum.mean_velocity = sum.mean_velocity.map(|x| x / sum.volume[0]);
        sum
    }

    fn none() -> PhaseIntegrals<D> {
        PhaseIntegrals {
            volume: [0.0; 2],
            kinetic: 0.0,
            potential: 0.0,
            centre: [0.0; D],
            mean_velocity: [0.0; D],
            extent: [[f64::INFINITY; D], [f64::NEG_INFINITY; D]],
            largest_velocity: 0.0,
        }
    }

    /// Sums with the cells of a block; centre and mean velocity times the volume.
    fn with(&self, mut sum: PhaseIntegrals<D>, block: usize) -> PhaseIntegrals<D> {
        let (mesh, params, fields) = (&self.mesh, &self.params, &self.host.fields);
        let cells = dims::cells(D);
        let (volume, half) = (mesh.volume_of(block), 0.5 * mesh.width_of(block));
        for cell in (0..cells).filter(|&cell| !mesh.is_solid(block, cell)) {
            let own = block * cells + cell;
            let c = self.alpha()[own];
            let at = mesh.centre(block, cell);
            let mass = params.phases.rho(c) * volume;
            let u: [f64; D] = std::array::from_fn(|a| fields.velocity[a][own]);
            let square: f64 = u.iter().map(|u| u * u).sum();
            sum.volume[0] += c * volume;
            sum.volume[1] += (1.0 - c) * volume;
            sum.kinetic += 0.5 * mass * square;
            sum.potential -= mass * params.head(at);
            sum.largest_velocity = larger_or_nan(sum.largest_velocity, square.sqrt());
            for a in 0..D {
                sum.centre[a] += c * volume * at[a];
                sum.mean_velocity[a] += c * volume * u[a];
                if c >= 0.5 {
                    sum.extent[0][a] = sum.extent[0][a].min(at[a] - half);
                    sum.extent[1][a] = sum.extent[1][a].max(at[a] + half);
                }
            }
        }
        sum
    }

    /// The area of the interface, m², in 2D its length by metre of depth, m: the integral of the gradient's size. That is 1 across
    /// a plane in any direction to 1 %, also where planes of neighbouring cells do not meet.
    pub fn interface_area(&self) -> f64 {
        (compiled::<D>().area)(self)
    }

    pub(crate) fn area_here(&self) -> f64 {
        let cells = dims::cells(D);
        let (mesh, alpha) = (&self.mesh, self.mesh.with_ghosts(self.alpha()));
        let kinds = Kind::of_blocks::<D>(&alpha);
        let of = |tile: &mut Tile, block: usize| {
            if !mesh.blocks.is_leaf(block) || is_in_one(mesh, &kinds, block) {
                return 0.0;
            }
            mesh.tile(&alpha, block, tile);
            let fluid = (0..cells).filter(|&cell| !mesh.is_solid(block, cell));
            let sum: f64 = fluid
                .map(|cell| normal::rise::<D>(tile, in_tile::<D>(cell)))
                .sum();
            sum * mesh.width_of(block).powi(D as i32 - 1)
        };
        let blocks = (0..mesh.blocks.len()).into_par_iter();
        let parts: Vec<f64> = blocks.map_init(Tile::new, of).collect();
        parts.iter().sum()
    }
}

impl<const D: usize> PhaseIntegrals<D> {
    /// Sums over two parts of the mesh.
    fn plus(self, other: Self) -> Self {
        let add = |a: [f64; D], b: [f64; D]| std::array::from_fn(|i| a[i] + b[i]);
        let (own, its) = (self.extent, other.extent);
        Self {
            volume: std::array::from_fn(|i| self.volume[i] + other.volume[i]),
            kinetic: self.kinetic + other.kinetic,
            potential: self.potential + other.potential,
            centre: add(self.centre, other.centre),
            mean_velocity: add(self.mean_velocity, other.mean_velocity),
            extent: [
                std::array::from_fn(|a| own[0][a].min(its[0][a])),
                std::array::from_fn(|a| own[1][a].max(its[1][a])),
            ],
            largest_velocity: larger_or_nan(self.largest_velocity, other.largest_velocity),
        }
    }
}
