//! Flows by flux reconstruction on every backend: bit for bit those of the host. (The host's are tested against exact
//! solutions, definitions and a paper in `fr/tests/flows`.)

use cutlink_amr::{
    Mark,
    checksum::mix,
    linear::{Grid, Leaves},
};
use cutlink_device::Host;
use cutlink_fr::{
    Basis, BodyGeometry, ElementAdaptation, EmbeddedBodies, EulerFlow, EulerParams, GasBody,
    GasWall, GasWalls, LevelsInBox, Primitive, RungeKutta, Sensor, TimeStep, Viscosity,
    kernels::{EulerKernels, Kernels},
};
use cutlink_tests::backend_test;
use std::sync::Arc;

backend_test!(
    on_one_thread:
    periodic_flows_on_random_trees,
    flows_with_a_far_field,
    many_elements_of_one_level,
    elements_of_one_level_have_no_mortars,
    a_flow_goes_there_and_back,
    meshes_that_follow_a_flow,
    steps_of_one_length,
    flows_between_walls,
    meshes_that_follow_a_flow_around_bodies,
    a_flow_that_diverges_says_so,
    a_difference_is_told,
);

/// A backend with the stages for 2D and 3D.
trait AnyEuler: EulerKernels<2> + EulerKernels<3> {}
impl<K: EulerKernels<2> + EulerKernels<3>> AnyEuler for K {}

/// A number in 0..1, of a word.
fn unit(word: u64) -> f64 {
    (mix(word) >> 11) as f64 / (1u64 << 53) as f64
}

/// A tree with about a quarter of its leaves refined, so often.
fn tree<const D: usize>(root: [u32; D], periodic: [bool; D], rounds: u64, seed: u64) -> Leaves<D> {
    let grid = Grid::new(root, periodic).expect("a root grid");
    let mut leaves = Leaves::new(&Host, grid).expect("memory");
    for round in 0..rounds {
        let mark = |leaf: u64| match unit(mix(seed ^ round << 32) ^ leaf) < 0.25 {
            true => Mark::Refine as u8,
            false => Mark::Keep as u8,
        };
        let mut marks: Vec<u8> = (0..leaves.len() as u64).map(mark).collect();
        leaves.adapt(&Host, &mut marks).expect("memory");
    }
    leaves
}

/// What a flow is made of.
#[derive(Clone)]
struct Case<const D: usize> {
    leaves: Leaves<D>,
    params: EulerParams<D>,
    basis: Basis,
    seed: u64,
}

impl<const D: usize> Case<D> {
    fn new(leaves: Leaves<D>, order: usize, runge_kutta: RungeKutta) -> Self {
        let is_periodic = leaves.grid().periodic() == [true; D];
        Self {
            leaves,
            params: EulerParams {
                order,
                gamma: 1.4,
                runge_kutta,
                time_step: TimeStep::Courant(0.3),
                far_field: (!is_periodic).then_some(Primitive {
                    density: 1.1,
                    velocity: [0.4; D],
                    pressure: 0.9,
                }),
                viscosity: None,
                walls: GasWalls::default(),
            },
            basis: Basis::new(order),
            seed: 7,
        }
    }

    /// The same with viscosity: at the points its terms are about as large as the others.
    fn viscous(mut self) -> Self {
        self.params.viscosity = Some(Viscosity {
            dynamic: 0.01,
            prandtl: 0.72,
        });
        self
    }

    /// A flow whose state is noise around density 1, velocity 1/2 and pressure 1.
    fn flow<T: Kernels<D>>(&self) -> EulerFlow<D, T> {
        let upper = std::array::from_fn(|a| [1.5, 0.7, 1.1][a]);
        let flow = EulerFlow::<D, T>::with_basis(
            &self.leaves,
            [0.0; D],
            upper,
            self.params.clone(),
            self.basis.clone(),
        );
        let mut flow = flow.expect("a flow");
        flow.set(|x| {
            let word = x.iter().fold(self.seed, |sum, x| mix(sum ^ x.to_bits()));
            let near = |i: u64, value: f64| value + 0.2 * (unit(word ^ i) - 0.5);
            Primitive {
                density: near(1, 1.0),
                velocity: std::array::from_fn(|a| near(2 + a as u64, 0.5)),
                pressure: near(9, 1.0),
            }
        });
        flow
    }

    /// State and time after some steps, as bits.
    fn bits<T: Kernels<D>, K: EulerKernels<D>>(&self, kernels: &K, steps: u64) -> Vec<u64> {
        let mut flow = self.flow::<T>().on(kernels).expect("memory");
        flow.advance(steps).expect("a flow");
        let flow = flow.to_host().expect("memory");
        assert_eq!(flow.steps(), steps);
        let state = flow.unknowns().iter().map(|u| u.wide());
        let bits: Vec<u64> = state.chain([flow.time()]).map(f64::to_bits).collect();
        assert!(
            bits.iter().all(|&bits| f64::from_bits(bits).is_finite()),
            "a flow"
        );
        bits
    }

    fn compare<T: Kernels<D>, K: EulerKernels<D>>(&self, kernels: &K, steps: u64) {
        let (there, here) = (
            self.bits::<T, K>(kernels, steps),
            self.bits::<T, Host>(&Host, steps),
        );
        let differ = there.iter().zip(&here).filter(|(a, b)| a != b).count();
        assert_eq!(
            differ,
            0,
            "{D}D, {} bytes, order {}: of {}",
            size_of::<T>(),
            self.params.order,
            here.len()
        );
    }
}

/// All orders, both methods, both precisions.
fn all<const D: usize, K: EulerKernels<D>>(kernels: &K, leaves: &Leaves<D>, steps: u64)
where
    f32: Kernels<D>,
    f64: Kernels<D>,
{
    for order in 1..=4 {
        for method in [RungeKutta::Rk33, RungeKutta::Rk43] {
            let case = Case::new(leaves.clone(), order, method);
            case.compare::<f64, K>(kernels, steps);
            case.compare::<f32, K>(kernels, steps);
            let case = case.viscous();
            case.compare::<f64, K>(kernels, steps);
            case.compare::<f32, K>(kernels, steps);
        }
    }
}

fn periodic_flows_on_random_trees<K: AnyEuler>(kernels: &K) {
    for seed in 0..3 {
        all(kernels, &tree::<2>([5, 3], [true; 2], 3, seed), 20);
        all(kernels, &tree::<3>([2, 3, 2], [true; 3], 2, seed), 5);
    }
}

fn flows_with_a_far_field<K: AnyEuler>(kernels: &K) {
    all(kernels, &tree::<2>([3, 4], [false, true], 2, 5), 20);
    all(
        kernels,
        &tree::<3>([2, 1, 3], [true, false, false], 2, 5),
        5,
    );
}

/// More elements than a device has groups at once, the last of which do not fill a warp.
fn many_elements_of_one_level<K: AnyEuler>(kernels: &K) {
    let leaves = tree::<3>([17, 19, 13], [true; 3], 0, 0);
    for order in [1, 3] {
        let mut case = Case::new(leaves.clone(), order, RungeKutta::Rk33);
        case.params.time_step = TimeStep::Fixed(1e-4);
        case.compare::<f64, K>(kernels, 2);
    }
    let leaves = tree::<2>([101, 97], [true; 2], 0, 0);
    Case::new(leaves, 2, RungeKutta::Rk43).compare::<f32, K>(kernels, 2);
}

fn elements_of_one_level_have_no_mortars<K: AnyEuler>(kernels: &K) {
    all(kernels, &tree::<2>([1, 1], [true; 2], 0, 0), 3);
    all(kernels, &tree::<3>([1, 2, 1], [true; 3], 0, 0), 3);
}

/// Steps here, there, and here again are the steps of a flow that stays.
fn a_flow_goes_there_and_back<K: AnyEuler>(kernels: &K) {
    let case = Case::new(tree::<3>([2; 3], [true; 3], 2, 3), 3, RungeKutta::Rk33).viscous();
    let mut stays = case.flow::<f64>();
    stays.advance(9).expect("a flow");
    let mut goes = case.flow::<f64>();
    goes.advance(2).expect("a flow");
    let mut there = goes.on(kernels).expect("memory");
    there.advance(3).expect("a flow");
    let mut back = there.to_host().expect("memory");
    back.advance(4).expect("a flow");
    assert!(back.unknowns() == stays.unknowns(), "the same bits");
    assert_eq!(back.time().to_bits(), stays.time().to_bits());
}

fn a_flow_that_diverges_says_so<K: AnyEuler>(kernels: &K) {
    let mut case = Case::new(tree::<2>([4, 4], [true; 2], 1, 3), 3, RungeKutta::Rk33);
    case.params.time_step = TimeStep::Courant(50.0);
    let mut flow = case.flow::<f64>().on(kernels).expect("memory");
    let error = flow.advance(100).expect_err("steps that are too long");
    assert!(error.to_string().contains("diverged"), "{error}");
}

/// Meshes that change on the way, and the states on them: by modes alone, with a buffer and a budget that binds, by a line.
fn meshes_that_follow_a_flow<K: AnyEuler>(kernels: &K) {
    let modal = |refine_above| Sensor::Modal {
        refine_above,
        coarsen_below: 0.7 * refine_above,
        momentum: 1.0,
        floor: 1e-10,
    };
    let line = Sensor::MovingLine {
        from: [0.3, 0.2],
        velocity: [2.0, 1.0],
        inner: 0.1,
        outer: 0.3,
    };
    for order in 1..=4 {
        follows::<2, f32, K>(kernels, order, modal(0.9), 0, usize::MAX, false);
        follows::<3, f64, K>(kernels, order, modal(0.9), 0, usize::MAX, order % 2 == 0);
    }
    follows::<3, f32, K>(kernels, 2, modal(0.5), 1, 100, false);
    follows::<2, f64, K>(kernels, 3, modal(0.8), 1, 30, true);
    follows::<3, f64, K>(kernels, 2, line.clone(), 0, usize::MAX, true);
    follows::<2, f64, K>(kernels, 3, line, 1, usize::MAX, false);
}

/// Steps of one length, which a device records: on a mesh that stays, and on one that follows the flow.
fn steps_of_one_length<K: AnyEuler>(kernels: &K) {
    fn fixed<const D: usize, T: Kernels<D>, K: EulerKernels<D>>(kernels: &K, method: RungeKutta) {
        let root = std::array::from_fn(|a| [3, 4, 2][a]);
        let mut case = Case::new(tree::<D>(root, [true; D], 2, 3), 2, method).viscous();
        case.params.time_step = TimeStep::Fixed(5e-4);
        (1..=5).for_each(|steps| case.compare::<T, K>(kernels, steps));
    }
    for method in [RungeKutta::Rk33, RungeKutta::Rk43] {
        fixed::<2, f64, K>(kernels, method);
        fixed::<3, f32, K>(kernels, method);
    }
    let modal = Sensor::Modal {
        refine_above: 0.9,
        coarsen_below: 0.2,
        momentum: 0.5,
        floor: 1e-10,
    };
    let step = TimeStep::Fixed(2e-4);
    follows_in::<2, f64, K>(kernels, 3, modal.clone(), [0, usize::MAX], true, step);
    follows_in::<3, f32, K>(kernels, 2, modal, [0, usize::MAX], false, step);
}

fn follows<const D: usize, T: Kernels<D>, K: EulerKernels<D>>(
    kernels: &K,
    order: usize,
    sensor: Sensor,
    buffer: u32,
    more: usize,
    is_viscous: bool,
) {
    let step = TimeStep::Courant(0.3);
    let limits = [buffer as usize, more];
    follows_in::<D, T, K>(kernels, order, sensor, limits, is_viscous, step);
}

/// The same with steps of a length; `buffer` rings, and so many elements more at most.
fn follows_in<const D: usize, T: Kernels<D>, K: EulerKernels<D>>(
    kernels: &K,
    order: usize,
    sensor: Sensor,
    [buffer, more]: [usize; 2],
    is_viscous: bool,
    step: TimeStep,
) {
    let root = std::array::from_fn(|a| [4, 3, 2][a]);
    let case = Case::new(tree::<D>(root, [true; D], 2, 3), order, RungeKutta::Rk43);
    let mut case = if is_viscous { case.viscous() } else { case };
    case.params.time_step = step;
    let mut here = case.flow::<T>();
    let adaptation = ElementAdaptation {
        every: 2,
        sensor,
        levels: [0, 3],
        buffer: buffer as u32,
        most_elements: case.leaves.len().saturating_add(more),
        at_bodies: 0,
        places: Vec::new(),
    };
    here.follow(Some(adaptation)).expect("of use");
    let begun = here.leaves().keys().clone();
    let mut there = case.flow::<T>();
    there.follow(here.adaptation().cloned()).expect("of use");
    let mut there = there.on(kernels).expect("memory");
    for _ in 0..3 {
        there.advance(3).expect("a flow");
        here.advance(3).expect("a flow");
        let seen = there.to_host().expect("memory");
        assert!(
            seen.leaves().keys() == here.leaves().keys(),
            "the same leaves"
        );
        assert!(seen.unknowns() == here.unknowns(), "the same bits");
        assert_eq!(there.elements(), here.elements());
    }
    assert!(
        *here.leaves().keys() != begun,
        "{D}D, order {order}, {:?}: the mesh follows",
        here.adaptation()
    );
}

/// A moving wall, along an axis, with a temperature.
fn plate<const D: usize>(along: usize) -> GasWall<D> {
    let mut velocity = [0.0; D];
    velocity[along] = 0.3;
    GasWall::NoSlip {
        velocity,
        temperature: Some(1.2),
    }
}

/// Loads of all patches, as bits.
fn loads<const D: usize, T: Kernels<D>, K: EulerKernels<D>>(
    flow: &mut EulerFlow<D, T, K>,
) -> Vec<u64> {
    let loads = flow.wall_loads([0.1; D]).expect("a device");
    let numbers = loads.iter().flat_map(|load| {
        let vectors = [load.pressure, load.friction, load.moment].concat();
        vectors.into_iter().chain([load.energy, load.area])
    });
    numbers.map(f64::to_bits).collect()
}

/// Walls of all kinds on all faces, of inviscid and viscous flows.
fn flows_between_walls<K: AnyEuler>(kernels: &K) {
    fn between<const D: usize, T: Kernels<D>, K: EulerKernels<D>>(kernels: &K, order: usize) {
        let root = std::array::from_fn(|a| [3, 4, 2][a]);
        let leaves = tree::<D>(root, [false; D], 2, 5);
        let mut case = Case::new(leaves, order, RungeKutta::Rk43);
        case.params.walls.faces = [[Some(GasWall::Slip); 2]; D];
        case.compare::<T, K>(kernels, 10);
        let mut case = case.viscous();
        for turn in 0..3 {
            for (i, wall) in case.params.walls.faces.iter_mut().flatten().enumerate() {
                let along = (i / 2 + 1) % D;
                let kinds = [
                    Some(GasWall::Slip),
                    Some(GasWall::ADIABATIC),
                    Some(plate(along)),
                    None,
                ];
                *wall = kinds[(i + turn) % 4];
            }
            case.compare::<T, K>(kernels, 10);
        }
        let (mut here, there) = (case.flow::<T>(), case.flow::<T>());
        let mut there = there.on(kernels).expect("memory");
        assert!(loads(&mut here) == loads(&mut there), "the same loads");
        here.advance(1).expect("a flow");
        assert!(loads(&mut here) != loads(&mut there), "others are seen");
    }
    for order in 1..=4 {
        between::<2, f64, K>(kernels, order);
        between::<2, f32, K>(kernels, order);
        between::<3, f64, K>(kernels, order);
        between::<3, f32, K>(kernels, order);
    }
}

/// A ball in a unit box of four root elements an axis.
#[derive(Debug)]
struct Ball {
    middle: f64,
    radius: f64,
    level: u32,
}

impl<const D: usize> BodyGeometry<D> for Ball {
    fn body_at(&self, point: [f64; D]) -> Option<usize> {
        let square = point.map(|x| (x - self.middle).powi(2)).iter().sum::<f64>();
        (square < self.radius * self.radius).then(|| usize::from(point[0] > self.middle))
    }

    fn is_near(&self, level: u32, coord: [i32; D]) -> bool {
        BodyGeometry::<D>::least_level(self, level, coord) > 0
    }

    /// Fine in the cube around it.
    fn least_level(&self, level: u32, coord: [i32; D]) -> u32 {
        let size = 0.25 / f64::from(1u32 << level);
        let meets = |c: i32| {
            let low = size * f64::from(c) - self.middle;
            low < self.radius && low + size > -self.radius
        };
        if coord.into_iter().all(meets) {
            self.level
        } else {
            0
        }
    }
}

/// Two bodies on a mesh that follows the flow: by modes, and by place alone.
fn meshes_that_follow_a_flow_around_bodies<K: AnyEuler>(kernels: &K) {
    fn around<const D: usize, T: Kernels<D>, K: EulerKernels<D>>(
        kernels: &K,
        order: usize,
        sensor: Sensor,
        is_viscous: bool,
    ) {
        let grid = Grid::new([4; D], std::array::from_fn(|a| a == 1)).expect("a root grid");
        let wall = if is_viscous {
            GasWall::ADIABATIC
        } else {
            GasWall::Slip
        };
        let body = |lower: f64, upper: f64| GasBody {
            lower: [lower; D],
            upper: [upper; D],
            wall,
        };
        let walls = GasWalls {
            bodies: vec![body(0.25, 0.375), body(0.75, 1.0)],
            embedded: is_viscous.then(|| EmbeddedBodies {
                geometry: Arc::new(Ball {
                    middle: 0.6,
                    radius: 0.12,
                    level: 2,
                }),
                temperatures: vec![None, Some(0.9)],
                relaxation: Some(0.001),
            }),
            ..GasWalls::default()
        };
        let leaves = walls.leaves(grid, [0.0; D], [1.0; D], 1).expect("a tree");
        let mut case = Case::new(leaves, order, RungeKutta::Rk43);
        case.params.walls = walls;
        let case = if is_viscous { case.viscous() } else { case };
        let flow = || {
            let params = case.params.clone();
            let flow = EulerFlow::<D, T>::new(&case.leaves, [0.0; D], [1.0; D], params);
            let mut flow = flow.expect("a flow");
            flow.set(|x| Primitive {
                density: 1.0 + 0.1 * (7.0 * x[0]).sin(),
                velocity: [0.4; D],
                pressure: 1.0 + 0.1 * (9.0 * x[1]).cos(),
            });
            let place = LevelsInBox {
                lower: [0.5, 0.0, 0.0],
                upper: [1.0, 0.5, 1.0],
                levels: [1, 2],
            };
            flow.follow(Some(ElementAdaptation {
                every: 2,
                sensor: sensor.clone(),
                levels: [0, 2],
                buffer: 0,
                most_elements: usize::MAX,
                at_bodies: 2,
                places: vec![place],
            }))
            .expect("of use");
            flow
        };
        let (mut here, begun) = (flow(), case.leaves.len());
        let mut there = flow().on(kernels).expect("memory");
        for _ in 0..3 {
            there.advance(3).expect("a flow");
            here.advance(3).expect("a flow");
            let seen = there.to_host().expect("memory");
            assert!(
                seen.leaves().keys() == here.leaves().keys(),
                "the same leaves"
            );
            assert!(seen.unknowns() == here.unknowns(), "the same bits");
            assert!(loads(&mut here) == loads(&mut there), "the same loads");
            let rates = [here.wave_rate(), there.wave_rate()].map(|rate| rate.expect("a rate"));
            assert_eq!(rates[0].to_bits(), rates[1].to_bits());
        }
        assert!(
            here.elements() > begun,
            "{D}D, order {order}: the mesh follows"
        );
        assert!(here.elements_in_gas() < here.elements(), "there are bodies");
    }
    let modal = || Sensor::Modal {
        refine_above: 0.5,
        coarsen_below: 0.01,
        momentum: 1.0,
        floor: 1e-10,
    };
    for order in 1..=4 {
        around::<2, f64, K>(kernels, order, modal(), true);
        around::<2, f32, K>(kernels, order, modal(), order % 2 == 0);
        around::<3, f64, K>(kernels, order, Sensor::Places, true);
    }
    around::<3, f32, K>(kernels, 2, modal(), true);
    around::<3, f64, K>(kernels, 2, modal(), false);
}

/// The comparison sees one bit of one entry of a matrix, for each of them that a stage reads, and another state.
fn a_difference_is_told<K: AnyEuler>(kernels: &K) {
    let case = Case::new(tree::<3>([2; 3], [true; 3], 2, 3), 2, RungeKutta::Rk33).viscous();
    let here = case.bits::<f64, Host>(&Host, 2);
    let nudge = |entry: &mut f64| *entry = f64::from_bits(entry.to_bits() + 1);
    let changes: [&dyn Fn(&mut Basis); 6] = [
        &|basis| nudge(&mut basis.derivative[1]),
        &|basis| nudge(&mut basis.edge[0]),
        &|basis| nudge(&mut basis.correction[0]),
        &|basis| nudge(&mut basis.halves[0][1]),
        &|basis| nudge(&mut basis.halves[1][1]),
        &|basis| nudge(&mut basis.projections[1][0]),
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut other = case.clone();
        change(&mut other.basis);
        assert!(other.bits::<f64, K>(kernels, 2) != here, "change {i}");
    }
    let changes: [&dyn Fn(&mut Viscosity); 2] =
        [&|v| nudge(&mut v.dynamic), &|v| nudge(&mut v.prandtl)];
    for (i, change) in changes.iter().enumerate() {
        let mut other = case.clone();
        change(other.params.viscosity.as_mut().expect("a viscous flow"));
        assert!(other.bits::<f64, K>(kernels, 2) != here, "coefficient {i}");
    }
    let other = Case { seed: 8, ..case };
    assert!(other.bits::<f64, K>(kernels, 2) != here, "another state");
}
