//! Viscous flows against exact solutions and definitions.

use crate::{Random, conservation::relative, noise, on_one_thread, params, worst};
use cutlink_amr::{
    Mark,
    linear::{Grid, Leaves},
};
use cutlink_device::Host;
use cutlink_fr::{
    EulerFlow, EulerParams, FrError, Primitive, RungeKutta, TimeStep, Viscosity, kernels::Kernels,
};
use std::f64::consts::TAU;

const AIR: f64 = 1.4;

fn viscous<const D: usize>(order: usize, time_step: TimeStep, dynamic: f64) -> EulerParams<D> {
    EulerParams {
        runge_kutta: RungeKutta::Rk43,
        viscosity: Some(Viscosity {
            dynamic,
            prandtl: 0.72,
        }),
        ..params(order, time_step)
    }
}

/// Root leaves of a periodic box; if requested, those of a quarter of it refined.
fn mesh<const D: usize>(root: u32, is_hanging: bool) -> Leaves<D> {
    let grid = Grid::new([root; D], [true; D]).expect("a root grid");
    let mut leaves = Leaves::new(&Host, grid).expect("root leaves");
    if is_hanging {
        let mark = |leaf: u32| {
            let at = leaves.coord(leaf);
            let is_inside = at[0] < root as i32 / 2 && at[1] < root as i32 / 2;
            if is_inside { Mark::Refine } else { Mark::Keep }
        };
        let mut marks: Vec<u8> = (0..leaves.len() as u32).map(|i| mark(i) as u8).collect();
        leaves.adapt(&Host, &mut marks).expect("an adaptation");
    }
    leaves
}

/// A small plane disturbance of a uniform stream, a combination of the modes of the linearized equations with the
/// wave vector 2 π (1, …, 1): a decaying shear wave, or the compressive ones (two acoustic, one of entropy).
struct Waves<const D: usize> {
    viscosity: Viscosity,
    /// Amplitude of the disturbance.
    size: f64,
}

/// The stream, along all axes. It is supersonic: Rusanov's flux would damp slow waves so much that meshes had to be finer
/// to show their order.
const SPEED: f64 = 1.0;
const PRESSURE: f64 = 0.05;

impl<const D: usize> Waves<D> {
    /// The direction of the shear wave's velocity, at a right angle to (1, …, 1).
    fn across() -> [f64; D] {
        let half = 0.5f64.sqrt();
        std::array::from_fn(|a| [half, -half, 0.0][a])
    }

    /// The linearized equations for (ρ', u along k, p') ~ exp(i k x): d/dt of the amplitudes, real parts first. Exact to
    /// the square of the amplitude.
    fn slope(&self, state: [f64; 6]) -> [f64; 6] {
        let Viscosity { dynamic, prandtl } = self.viscosity;
        let k = TAU * (D as f64).sqrt();
        let [density, speed, pressure] = [0, 1, 2].map(|i: usize| [state[2 * i], state[2 * i + 1]]);
        // i k (a + i b) = -k b + i k a.
        let wave = |z: [f64; 2]| [-k * z[1], k * z[0]];
        let [by_speed, by_pressure] = [wave(speed), wave(pressure)];
        let heat = AIR * dynamic / prandtl * k * k;
        let mut slope = [0.0; 6];
        for part in 0..2 {
            slope[part] = -by_speed[part];
            slope[2 + part] = -by_pressure[part] - 4.0 / 3.0 * dynamic * k * k * speed[part];
            // γ p div u, and (γ - 1) times the heat that is conducted: p / ρ of the disturbed state.
            let warmth = pressure[part] - PRESSURE * density[part];
            slope[4 + part] = -AIR * PRESSURE * by_speed[part] - heat * warmth;
        }
        slope
    }

    /// Amplitudes of density, velocity along k, pressure at a time, by a Runge–Kutta method of fourth order with steps so
    /// short that they are exact to rounding.
    fn amplitudes(&self, time: f64) -> [f64; 6] {
        let mut state = [1.0, 0.0, 0.5, 0.0, 0.7, 0.0];
        let steps = 2000;
        let h = time / f64::from(steps);
        let plus = |a: [f64; 6], h: f64, b: [f64; 6]| -> [f64; 6] {
            std::array::from_fn(|i| a[i] + h * b[i])
        };
        for _ in 0..steps {
            let k1 = self.slope(state);
            let k2 = self.slope(plus(state, 0.5 * h, k1));
            let k3 = self.slope(plus(state, 0.5 * h, k2));
            let k4 = self.slope(plus(state, h, k3));
            let sum = std::array::from_fn(|i| k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            state = plus(state, h / 6.0, sum);
        }
        state
    }

    fn at(&self, time: f64, amplitudes: &[f64; 6], x: [f64; D]) -> Primitive<D> {
        let phase = TAU * x.iter().map(|x| x - SPEED * time).sum::<f64>();
        let wave = |i: usize| amplitudes[2 * i] * phase.cos() - amplitudes[2 * i + 1] * phase.sin();
        let square = TAU * TAU * D as f64;
        let shear = (-self.viscosity.dynamic * square * time).exp() * phase.cos();
        let along = wave(1) / (D as f64).sqrt();
        let across = Self::across();
        Primitive {
            density: 1.0 + self.size * wave(0),
            velocity: std::array::from_fn(|a| SPEED + self.size * (along + across[a] * shear)),
            pressure: PRESSURE + self.size * wave(2),
        }
    }
}

/// The root mean square of the unknowns' differences from a state, at all points.
fn difference<const D: usize>(flow: &EulerFlow<D>, exact: impl Fn([f64; D]) -> Primitive<D>) -> f64
where
    f64: Kernels<D>,
{
    let nodes = flow.nodes();
    let of_element = |(leaf, u): (usize, &[f64])| -> f64 {
        let of_node = |node: usize| -> f64 {
            let exact = exact(flow.point(leaf as u32, node));
            let of = |v: usize| (u[v * nodes + node] - exact.unknown(AIR, v)).powi(2);
            (0..D + 2).map(of).sum()
        };
        (0..nodes).map(of_node).sum()
    };
    let elements = flow.unknowns().chunks_exact((D + 2) * nodes).enumerate();
    let square: f64 = elements.map(of_element).sum();
    (square / (flow.elements() * nodes) as f64).sqrt()
}

/// The differences of all unknowns from the waves, over their amplitude; the flow's viscosity is `factor`
/// times theirs.
fn error<const D: usize>(order: usize, root: u32, is_hanging: bool, factor: f64) -> f64
where
    f64: Kernels<D>,
{
    let viscosity = Viscosity {
        dynamic: 0.005,
        prandtl: 0.72,
    };
    let waves = Waves::<D> {
        viscosity,
        size: 1e-7,
    };
    let params = viscous(order, TimeStep::Courant(0.5), factor * viscosity.dynamic);
    let leaves = mesh::<D>(root, is_hanging);
    let mut flow = EulerFlow::<D>::new(&leaves, [0.0; D], [1.0; D], params).expect("a flow");
    let start = waves.amplitudes(0.0);
    flow.set(|x| waves.at(0.0, &start, x));
    let end = 0.1;
    flow.advance_to(end).expect("waves");
    let amplitudes = waves.amplitudes(end);
    difference(&flow, |x| waves.at(end, &amplitudes, x)) / waves.size
}

#[expect(clippy::print_stdout, reason = "shown where asked for")]
fn has_its_order<const D: usize>(roots: [[u32; 3]; 4], is_hanging: bool)
where
    f64: Kernels<D>,
{
    for (order, roots) in (1..).zip(roots) {
        let errors = roots.map(|root| error::<D>(order, root, is_hanging, 1.0));
        let between = |i: usize, j: usize| {
            (errors[i] / errors[j]).ln() / (f64::from(roots[j]) / f64::from(roots[i])).ln()
        };
        // A refined quarter of an odd number of elements is less than a quarter: pairs of meshes scatter.
        let (found, pairs) = (between(0, 2), [between(0, 1), between(1, 2)]);
        println!("{D}D, p{order}, hanging {is_hanging}: {errors:?}, order {found:.2}, {pairs:.2?}");
        let order = order as f64;
        assert!(
            found >= order + 0.7 && pairs.iter().all(|&pair| pair >= order + 0.45),
            "{D}D, p{order}, hanging {is_hanging}: {errors:?}, order {found:.2}, {pairs:.2?}"
        );
    }
}

#[test]
fn waves_decay_with_the_order_of_the_scheme() {
    on_one_thread(|| {
        for is_hanging in [false, true] {
            has_its_order::<2>(
                [[16, 24, 32], [8, 12, 16], [6, 8, 12], [4, 6, 8]],
                is_hanging,
            );
        }
        // In 3D on the mesh with hanging faces alone, which has regular faces too.
        has_its_order::<3>([[4, 6, 8], [3, 4, 6], [2, 3, 4], [2, 3, 4]], true);
    });
}

/// A viscosity that is wrong by a hundredth has an error that no finer mesh takes away.
#[test]
fn a_wrong_viscosity_is_seen() {
    let [right, wrong] = [1.0, 1.01].map(|factor| error::<2>(4, 8, true, factor));
    assert!(wrong > 20.0 * right, "{wrong:e}, {right:e}");
}

/// The largest relative change of an integral, of a flow that starts from noise on a random mesh.
fn drift<const D: usize>(order: usize, steps: u64) -> f64
where
    f64: Kernels<D>,
{
    let root = std::array::from_fn(|a| [3, 2, 2][a]);
    let leaves = Random::new(10 + order as u64).tree::<D>(root, [true; D]);
    let params = viscous(order, TimeStep::Courant(0.3), 0.05);
    let upper = std::array::from_fn(|a| [1.5, 0.7, 1.1][a]);
    let mut flow = EulerFlow::<D>::new(&leaves, [0.0; D], upper, params).expect("a flow");
    flow.set(|x| noise(1, x));
    let before = flow.totals();
    let start = flow.unknowns().to_vec();
    flow.advance(steps).expect("a flow");
    let moved = flow.unknowns().iter().zip(&start);
    let moved = worst(moved.map(|(a, b)| (a - b).abs()));
    assert!(moved > 0.01, "the flow should change: {moved:e}");
    relative(&flow.totals(), &before)
}

#[test]
#[expect(clippy::print_stdout, reason = "shown where asked for")]
fn integrals_stay_on_random_meshes() {
    for order in 1..=4 {
        let (two, three) = (drift::<2>(order, 100), drift::<3>(order, 10));
        println!("p{order}: drift {two:.1e} in 2D, {three:.1e} in 3D");
        assert!(two <= 1e-13, "2D, order {order}: {two:e}");
        assert!(three <= 1e-13, "3D, order {order}: {three:e}");
    }
}

/// The largest change of an unknown of a uniform stream.
fn change<const D: usize>(order: usize, periodic: bool, steps: u64) -> f64
where
    f64: Kernels<D>,
{
    let stream = Primitive {
        density: 1.0,
        velocity: std::array::from_fn(|a| [0.7, -0.4, 0.3][a]),
        pressure: 0.9,
    };
    let root = std::array::from_fn(|a| [3, 2, 2][a]);
    let leaves = Random::new(order as u64).tree::<D>(root, [periodic; D]);
    let mut params = viscous(order, TimeStep::Courant(0.4), 0.05);
    params.far_field = (!periodic).then_some(stream);
    let upper = std::array::from_fn(|a| [1.5, 0.7, 1.1][a]);
    let mut flow = EulerFlow::<D>::new(&leaves, [0.0; D], upper, params).expect("a flow");
    flow.set(|_| stream);
    let before = flow.unknowns().to_vec();
    flow.advance(steps).expect("a free stream");
    let after = flow.unknowns().iter().zip(before);
    worst(after.map(|(a, b)| (a - b).abs()))
}

#[test]
fn a_free_stream_stays_on_random_meshes() {
    for order in 1..=4 {
        for periodic in [true, false] {
            let two = change::<2>(order, periodic, 100);
            let three = change::<3>(order, periodic, 10);
            assert!(two <= 1e-13, "2D, order {order}: {two:e}");
            assert!(three <= 1e-13, "3D, order {order}: {three:e}");
        }
    }
}

/// Steps by a Courant number of 1 are stable where diffusion alone limits them, on hanging faces too.
#[test]
fn diffusive_steps_are_stable() {
    for order in 1..=4 {
        for method in [RungeKutta::Rk33, RungeKutta::Rk43] {
            let leaves = Random::new(30 + order as u64).tree::<2>([3, 2], [true; 2]);
            let mut params = viscous(order, TimeStep::Courant(1.0), 10.0);
            params.runge_kutta = method;
            let mut flow =
                EulerFlow::<2>::new(&leaves, [0.0; 2], [1.5, 1.0], params).expect("a flow");
            flow.set(|x| noise(1, x));
            flow.advance(400).expect("a flow");
            let mean = flow.totals();
            let speed = flow
                .unknowns()
                .chunks_exact(4 * flow.nodes())
                .flat_map(|u| {
                    let nodes = u.len() / 4;
                    (nodes..2 * nodes).map(move |i| u[i] / u[i - nodes])
                });
            let (slow, fast) = (-worst(speed.clone().map(|v| -v)), worst(speed));
            let middle = mean.momentum[0] / mean.mass;
            assert!(
                fast - slow < 0.1 && slow <= middle && middle <= fast,
                "p{order}: {slow} to {fast}"
            );
        }
    }
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let leaves = mesh::<2>(2, false);
    for (dynamic, prandtl) in [
        (0.0, 0.72),
        (-1.0, 0.72),
        (f64::NAN, 0.72),
        (1.0, 0.0),
        (1.0, f64::INFINITY),
    ] {
        let mut params = viscous(2, TimeStep::Courant(0.5), 1.0);
        params.viscosity = Some(Viscosity { dynamic, prandtl });
        let flow = EulerFlow::<2>::new(&leaves, [0.0; 2], [1.0; 2], params);
        assert!(
            matches!(flow, Err(FrError::Viscosity { .. })),
            "{dynamic}, {prandtl}"
        );
    }
}
