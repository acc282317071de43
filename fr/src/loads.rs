//! What the gas does to walls: forces, moments, heat.

use crate::{
    EulerFlow, FrError,
    kernels::{EulerKernels, Kernels, sizes},
};

/// What the gas does to a patch ([`GasWalls`](crate::GasWalls) numbers them).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WallLoad {
    /// The force of the pressure; in 2D along x and y, and per length along z.
    pub pressure: [f64; 3],
    /// The force of friction.
    pub friction: [f64; 3],
    /// The moment of both about x, y and z; in 2D about z alone.
    pub moment: [f64; 3],
    /// Energy into the wall a time: conducted heat, and the work on a moving wall.
    pub energy: f64,
    /// The area, in 2D the length.
    pub area: f64,
}

impl WallLoad {
    /// The whole force.
    pub fn force(&self) -> [f64; 3] {
        std::array::from_fn(|a| self.pressure[a] + self.friction[a])
    }
}

impl<const D: usize, T: Kernels<D>, B: EulerKernels<D>> EulerFlow<D, T, B> {
    /// What the gas does to each patch at the flow's time, with moments about a point. These are the fluxes of the scheme:
    /// what a wall is given, the gas has lost. Faces are added up in the order of elements, so the numbers are the same
    /// bits for any number of threads and on every device.
    ///
    /// Costs about half a stage, and of a flow on a device a copy of the fluxes through walls.
    ///
    /// # Errors
    /// Where the device fails.
    pub fn wall_loads(&mut self, about: [f64; D]) -> Result<Vec<WallLoad>, FrError> {
        let mut loads = vec![WallLoad::default(); self.params.walls.patches()];
        if self.wall_faces.is_empty() {
            return Ok(loads);
        }
        self.fluxes_at_slots()?;
        let fluxes = self.backend.download(&self.wall_fluxes)?;
        let q = self.params.order + 1;
        let (n, one) = (sizes::face(D, q), sizes::wall(D, q));
        for (wall, flux) in self.wall_faces.iter().zip(fluxes.chunks_exact(one)) {
            let load = &mut loads[wall.patch as usize];
            let (axis, is_upper) = (usize::from(wall.face) / 2, wall.face % 2 == 1);
            // From the gas into the wall.
            let outward = if is_upper { 1.0 } else { -1.0 };
            for point in 0..n {
                let (mut area, mut arm, mut rest) = (1.0, [0.0; 3], point);
                for a in 0..D {
                    let mut share = f64::from(u8::from(is_upper));
                    if a != axis {
                        let i = rest % q;
                        rest /= q;
                        share = 0.5 + 0.5 * self.basis.points[i];
                        area *= 0.5 * self.basis.weights[i] * wall.edges[a];
                    }
                    arm[a] = wall.corner[a] + wall.edges[a] * share - about[a];
                }
                let of = |v: usize| outward * area * flux[v * n + point].wide();
                let mut force = [0.0; 3];
                for a in 0..D {
                    force[a] = of(1 + a);
                }
                let pressure = of(D + 2);
                load.pressure[axis] += pressure;
                for a in 0..3 {
                    let by_pressure = if a == axis { pressure } else { 0.0 };
                    load.friction[a] += force[a] - by_pressure;
                    let (b, c) = ((a + 1) % 3, (a + 2) % 3);
                    load.moment[a] += arm[b] * force[c] - arm[c] * force[b];
                }
                load.energy += of(1 + D);
                load.area += area;
            }
        }
        Ok(loads)
    }
}
