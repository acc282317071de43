//! Sums over the flow: volumes, energies, the front.

use crate::compiled::compiled;
use crate::flow::TwoPhaseFlow;
use crate::survey::larger;
use cutlink_amr::dims;

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
        let (mesh, params, fields) = (&self.mesh, &self.params, &self.host.fields);
        let mut sum = PhaseIntegrals {
            volume: [0.0; 2],
            kinetic: 0.0,
            potential: 0.0,
            centre: [0.0; D],
            mean_velocity: [0.0; D],
            extent: [[f64::INFINITY; D], [f64::NEG_INFINITY; D]],
            largest_velocity: 0.0,
        };
        let cells = dims::cells(D);
        for block in (0..mesh.blocks.len()).filter(|&b| mesh.blocks.is_leaf(b)) {
            let (volume, half) = (mesh.volume_of(block), 0.5 * mesh.width_of(block));
            for cell in (0..cells).filter(|&cell| !mesh.is_solid(block, cell)) {
                let own = block * cells + cell;
                let c = fields.alpha[own];
                let at = mesh.centre(block, cell);
                let mass = params.phases.rho(c) * volume;
                let u: [f64; D] = std::array::from_fn(|a| fields.velocity[a][own]);
                let square: f64 = u.iter().map(|u| u * u).sum();
                sum.volume[0] += c * volume;
                sum.volume[1] += (1.0 - c) * volume;
                sum.kinetic += 0.5 * mass * square;
                sum.potential -= mass * params.head(at);
                sum.largest_velocity = larger(sum.largest_velocity, square.sqrt());
                for a in 0..D {
                    sum.centre[a] += c * volume * at[a];
                    sum.mean_velocity[a] += c * volume * u[a];
                    if c >= 0.5 {
                        sum.extent[0][a] = sum.extent[0][a].min(at[a] - half);
                        sum.extent[1][a] = sum.extent[1][a].max(at[a] + half);
                    }
                }
            }
        }
        sum.centre = sum.centre.map(|x| x / sum.volume[0]);
        sum.mean_velocity = sum.mean_velocity.map(|x| x / sum.volume[0]);
        sum
    }
}
