//! What the gas does to walls: forces, moments, heat.

use crate::{
    EulerFlow, FrError,
    kernels::{EulerKernels, Kernels, sizes},
};

/// What the gas does to a patch ([`GasWalls`](crate::GasWalls) numbers them). An embedded body has no faces: all of its force
/// is that of the pressure, and it has no area.
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
    /// bits for any number of threads and on every device. Loads of embedded bodies are means over the last step.
    ///
    /// Costs about half a stage, and of a flow on a device a copy of the fluxes through walls.
    ///
    /// # Errors
    /// Where the device fails.
    pub fn wall_loads(&mut self, about: [f64; D]) -> Result<Vec<WallLoad>, FrError> {
        (B::functions::<T>().wall_loads)(self, about)
    }

    pub(crate) fn wall_loads_here(&mut self, about: [f64; D]) -> Result<Vec<WallLoad>, FrError> {
        let mut loads = vec![WallLoad::default(); self.params.walls.patches()];
        self.add_embedded(about, &mut loads)?;
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

    /// Adds what embedded bodies took in the last step.
    fn add_embedded(&self, about: [f64; D], loads: &mut [WallLoad]) -> Result<(), FrError> {
        let masks = &self.masks;
        if masks.elements.is_empty() || masks.step == 0.0 {
            return Ok(());
        }
        let losses = self.backend.download(&masks.losses)?;
        let bodies = self.backend.download(&masks.table.bodies)?;
        let (q, nodes) = (self.params.order + 1, self.nodes());
        let first = 2 * D + self.params.walls.bodies.len();
        let by_element = bodies
            .chunks_exact(nodes)
            .zip(losses.chunks_exact(nodes * sizes::gradients(D)));
        for (element, (bodies, losses)) in masks.elements.iter().zip(by_element) {
            for (node, &body) in bodies.iter().enumerate().filter(|(_, body)| **body > 0) {
                let load = &mut loads[first + usize::from(body) - 1];
                let (mut rate, mut arm) = (1.0 / masks.step, [0.0; 3]);
                for a in 0..D {
                    let i = node / q.pow(a as u32) % q;
                    rate *= 0.5 * self.basis.weights[i] * element.edges[a];
                    let local = 0.5 + 0.5 * self.basis.points[i];
                    arm[a] = element.corner[a] + element.edges[a] * local - about[a];
                }
                let of = |v: usize| rate * losses[v * nodes + node].wide();
                let mut force = [0.0; 3];
                for a in 0..D {
                    force[a] = of(a);
                    load.pressure[a] += force[a];
                }
                for a in 0..3 {
                    let (b, c) = ((a + 1) % 3, (a + 2) % 3);
                    load.moment[a] += arm[b] * force[c] - arm[c] * force[b];
                }
                load.energy += of(D);
            }
        }
        Ok(())
    }
}
