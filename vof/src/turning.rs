//! A box that turns: what its fluid feels beside weight.
//!
//! In axes that turn with the angular velocity Ω about a point c, a fluid of velocity u has the accelerations
//! `−dΩ/dt × r − 2 Ω × u − Ω × (Ω × r)`, with r from c (Euler, Coriolis, centrifugal). The last one is the gradient of
//! `|Ω × r|²/2` and acts like weight, at the interface alone. The first acts on faces. Coriolis' turns the velocity of cells
//! by −2 |Ω| Δt about Ω, which keeps its size.

use crate::mesh::FlowMesh;
use crate::vector::{cross, in_3d, length};
use cutlink_amr::dims;
use rayon::prelude::*;

/// How the axes of the box turn during a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turning<const D: usize> {
    /// The point that they turn about, m.
    pub center: [f64; D],
    /// Angular velocity in the middle of the step, in these axes, rad/s; in 2D along z.
    pub spin: [f64; 3],
    /// Its change over the step by the length of the step, rad/s².
    pub rate: [f64; 3],
}

impl<const D: usize> Turning<D> {
    fn arm(&self, at: [f64; D]) -> [f64; 3] {
        in_3d(std::array::from_fn::<_, D, _>(|a| at[a] - self.center[a]))
    }

    /// The potential of the centrifugal acceleration, m²/s².
    pub(crate) fn head(&self, at: [f64; D]) -> f64 {
        0.5 * length(cross(self.spin, self.arm(at))).powi(2)
    }

    /// Euler's acceleration along an axis, m/s².
    pub(crate) fn acceleration(&self, at: [f64; D], axis: usize) -> f64 {
        -cross(self.rate, self.arm(at))[axis]
    }

    /// A bound of all but Coriolis' at so many metres from the centre, m/s².
    pub(crate) fn most(&self, arm: f64) -> f64 {
        (length(self.spin).powi(2) + length(self.rate)) * arm
    }

    /// The rotation of velocities by Coriolis' acceleration in a step; none where the box does not turn.
    pub(crate) fn rotation(&self, dt: f64) -> Option<Rotation> {
        let spin = length(self.spin);
        let (sin, cos) = (-2.0 * spin * dt).sin_cos();
        let axis = self.spin.map(|x| x / spin);
        (spin != 0.0).then_some(Rotation { axis, sin, cos })
    }
}

/// A rotation about an axis through the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rotation {
    /// Of length 1.
    pub(crate) axis: [f64; 3],
    pub(crate) sin: f64,
    pub(crate) cos: f64,
}

impl Rotation {
    /// By Rodrigues' formula.
    fn turned<const D: usize>(&self, u: [f64; D]) -> [f64; D] {
        let Self { axis, sin, cos } = *self;
        let u = in_3d(u);
        let (across, along) = (cross(axis, u), (0..3).map(|k| axis[k] * u[k]).sum::<f64>());
        std::array::from_fn(|k| cos * u[k] + sin * across[k] + (1.0 - cos) * along * axis[k])
    }

    /// Turns the velocities of cells.
    pub(crate) fn turn<const D: usize>(&self, mesh: &FlowMesh<D>, velocity: &mut [Vec<f64>; D]) {
        let cells = dims::cells(D);
        let mut parts: Vec<[&mut [f64]; D]> = Vec::with_capacity(mesh.blocks.len());
        let mut rest = velocity.each_mut().map(|u| u.chunks_mut(cells));
        for _ in 0..mesh.blocks.len() {
            parts.push(
                rest.each_mut()
                    .map(|chunks| chunks.next().expect("a chunk a block")),
            );
        }
        parts.par_iter_mut().for_each(|u| {
            for cell in 0..cells {
                let fresh = self.turned::<D>(std::array::from_fn(|a| u[a][cell]));
                (0..D).for_each(|a| u[a][cell] = fresh[a]);
            }
        });
    }
}
