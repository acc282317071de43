//! Flows by flux reconstruction against definitions, exact solutions and a paper. Longer ones with `CUTLINK_SLOW_TESTS`
//! set.

// The unit tests of this file, without a second library.
#[allow(dead_code, unreachable_pub, reason = "only its tests are used here")]
#[path = "../../src/basis.rs"]
mod basis;
mod conservation;
mod embedded;
mod far_field;
mod free_stream;
mod mortars;
mod order;
mod resolution;
mod sensor;
mod state;
#[path = "../../../tests/kit/threads.rs"]
mod test_threads;
mod threads;
mod transfer;
mod viscous;
mod vortex;
mod walls;
#[path = "../../../tests/kit/worst.rs"]
mod worst;

use cutlink_amr::{
    Mark,
    checksum::mix,
    linear::{Grid, Leaves},
};
use cutlink_device::Host;
use cutlink_fr::{EulerParams, GasWalls, Primitive, RungeKutta, TimeStep};
use test_threads::on_one_thread;
use worst::worst;

/// Random numbers, the same every time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// In 0..1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = mix(self.0);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A tree on a root grid with random leaves refined, twice: one with hanging faces in all 2 D directions.
    pub(crate) fn tree<const D: usize>(
        &mut self,
        root: [u32; D],
        periodic: [bool; D],
    ) -> Leaves<D> {
        let grid = Grid::new(root, periodic).expect("a root grid");
        loop {
            let mut leaves = Leaves::new(&Host, grid).expect("root leaves");
            for _ in 0..2 {
                let mut mark = || match self.unit() < 0.25 {
                    true => Mark::Refine as u8,
                    false => Mark::Keep as u8,
                };
                let mut marks: Vec<u8> = (0..leaves.len()).map(|_| mark()).collect();
                leaves.adapt(&Host, &mut marks).expect("an adaptation");
            }
            let faces = leaves.faces(&Host).expect("faces");
            let is_hanging =
                |face: usize| faces.slots.iter().any(|&at| at as usize % (2 * D) == face);
            if (0..2 * D).all(is_hanging) {
                return leaves;
            }
        }
    }

    /// A state near density 1, velocity (0.5, …) and pressure 1, different at each point.
    pub(crate) fn state<const D: usize>(&mut self) -> Primitive<D> {
        let mut near = |value: f64| value + 0.2 * (self.unit() - 0.5);
        Primitive {
            density: near(1.0),
            velocity: std::array::from_fn(|_| near(0.5)),
            pressure: near(1.0),
        }
    }
}

/// A state that depends on a point's bits alone, so that it is the same in any order of points.
pub(crate) fn noise<const D: usize>(seed: u64, point: [f64; D]) -> Primitive<D> {
    let word = point.iter().fold(seed, |sum, x| mix(sum ^ x.to_bits()));
    Random::new(word).state()
}

/// Parameters of a periodic flow in air.
pub(crate) fn params<const D: usize>(order: usize, time_step: TimeStep) -> EulerParams<D> {
    EulerParams {
        order,
        gamma: 1.4,
        runge_kutta: RungeKutta::Rk33,
        time_step,
        far_field: None,
        viscosity: None,
        walls: GasWalls::default(),
    }
}

/// Whether slow tests are wanted.
pub(crate) fn is_slow() -> bool {
    std::env::var_os("CUTLINK_SLOW_TESTS").is_some_and(|v| !v.is_empty())
}
