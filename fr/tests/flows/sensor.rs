//! Sensors on states of known modes, and what becomes of wishes: levels, buffer, budget.

use crate::{noise, params, worst};
use cutlink_amr::linear::{Face, Grid, Leaves};
use cutlink_device::Host;
use cutlink_fr::{
    ElementAdaptation, EulerFlow, FrError, IsentropicVortex, Primitive, Sensor, TimeStep,
    kernels::Kernels,
};

fn uniform<const D: usize>(root: u32, order: usize) -> EulerFlow<D>
where
    f64: Kernels<D>,
{
    let grid = Grid::new([root; D], [true; D]).expect("a root grid");
    let leaves = Leaves::new(&Host, grid).expect("leaves");
    let params = params(order, TimeStep::Courant(0.3));
    EulerFlow::new(&leaves, [0.0; D], [1.0; D], params).expect("a flow")
}

/// Legendre polynomials of degree 1 to 4.
fn legendre(order: usize, x: f64) -> f64 {
    match order {
        1 => x,
        2 => 1.5 * x * x - 0.5,
        3 => 2.5 * x.powi(3) - 1.5 * x,
        _ => (35.0 * x.powi(4) - 30.0 * x * x + 3.0) / 8.0,
    }
}

/// In one element φ = 2 + c P_p(x) has η = c / √(4 (2 p + 1) + c²), by the norms of Legendre polynomials.
fn known_modes_have_their_decay<const D: usize>()
where
    f64: Kernels<D>,
{
    for order in 1..=4 {
        let mut flow = uniform::<D>(1, order);
        let amplitudes = [0.3, 0.02, 1e-5];
        flow.set(|x| Primitive {
            density: 1.0,
            velocity: std::array::from_fn(|i| {
                // The highest mode of momentum i is along axis (i + 1) % D.
                1.5 + amplitudes[i] * legendre(order, 2.0 * x[(i + 1) % D] - 1.0)
            }),
            pressure: 1.0,
        });
        let [found] = flow.decays(0.5)[..] else {
            panic!("there is one element");
        };
        for i in 0..D {
            let c: f64 = amplitudes[i];
            let exact = c / (4.0 * (2 * order + 1) as f64 + c * c).sqrt();
            let error = (found[i] - exact).abs();
            assert!(error < 1e-14, "{D}D p{order}, {i}: {error:e}");
        }
    }
}

#[test]
fn modes_decay_as_they_should() {
    known_modes_have_their_decay::<2>();
    known_modes_have_their_decay::<3>();
}

/// Of a smooth flow, η falls with the p-th power of the element's edge.
#[test]
fn decay_of_a_smooth_flow_has_its_order() {
    for order in 1..=4 {
        let largest = |root: u32| {
            let mut flow = uniform::<2>(root, order);
            flow.set(|x| Primitive {
                density: 1.0,
                velocity: [
                    2.0 + (std::f64::consts::TAU * (x[0] + 0.3 * x[1])).sin(),
                    1.0,
                ],
                pressure: 1.0,
            });
            let decays = flow.decays(0.0);
            worst(decays.iter().map(|eta| eta[0]))
        };
        let rate = (largest(16) / largest(32)).log2();
        assert!((rate - order as f64).abs() < 0.1, "p{order}: {rate}");
    }
}

fn modal(refine_above: f64, coarsen_below: f64) -> Sensor {
    Sensor::Modal {
        refine_above,
        coarsen_below,
        momentum: 1.0,
        floor: 1e-12,
    }
}

fn adaptation(sensor: Sensor, finest: u32) -> ElementAdaptation {
    ElementAdaptation {
        every: 5,
        sensor,
        levels: [0, finest],
        buffer: 0,
        most_elements: usize::MAX,
        at_bodies: 0,
        places: Vec::new(),
    }
}

/// A jet along y in the middle of x, of a width of about an eighth.
fn jet<const D: usize>(x: [f64; D]) -> Primitive<D> {
    let bell = (-((x[0] - 0.5) / 0.06).powi(2)).exp();
    Primitive {
        density: 1.0,
        velocity: std::array::from_fn(|a| if a == 1 { bell } else { 0.0 }),
        pressure: 2.0,
    }
}

#[test]
fn flags_of_a_jet_are_at_the_jet() {
    let mut flow = uniform::<2>(8, 2);
    flow.follow(Some(adaptation(modal(0.1, 1e-3), 2)))
        .expect("an adaptation");
    flow.set_adapted(jet).expect("a jet");
    for leaf in 0..flow.leaves().len() as u32 {
        let x = flow.point(leaf, 4)[0];
        let level = flow.leaves().level(leaf);
        if (x - 0.5).abs() < 0.1 {
            assert_eq!(level, 2, "at {x}");
        }
        if (x - 0.5).abs() > 0.3 {
            assert_eq!(level, 0, "at {x}");
        }
    }
    // What was refined for the jet is coarse again without one.
    flow.set(|_| Primitive {
        density: 1.0,
        velocity: [0.3, 0.7],
        pressure: 1.0,
    });
    for _ in 0..2 {
        assert!(flow.adapt().expect("an adaptation").is_any());
    }
    assert_eq!(flow.leaves().len(), 64, "rounding is no reason to refine");
}

/// By brute force over all points: inside against outside, with the nearest copy of the line.
#[test]
fn a_line_that_moves_is_followed() {
    let sensor = Sensor::MovingLine {
        from: [0.1, 0.2],
        velocity: [1.0, 2.0],
        inner: 0.2,
        outer: 0.25,
    };
    let mut flow = uniform::<2>(16, 1);
    flow.follow(Some(adaptation(sensor, 1)))
        .expect("an adaptation");
    flow.set(|_| Primitive {
        density: 1.0,
        velocity: [0.0; 2],
        pressure: 1.0,
    });
    flow.advance_to(0.4).expect("a fluid at rest");
    flow.adapt().expect("an adaptation");
    flow.adapt().expect("an adaptation");
    let middle = [0.5, 0.0];
    // Points of an element inside, less those outside.
    let side = |leaf: u32| -> i32 {
        let of_point = |node: usize| {
            let point = flow.point(leaf, node);
            let copies = (0..9).map(|i| [i % 3 - 1, i / 3 - 1].map(f64::from));
            let square =
                copies.map(|c| (0..2).map(|a| (point[a] - middle[a] - c[a]).powi(2)).sum());
            let distance = square.fold(f64::INFINITY, f64::min).sqrt();
            i32::from(distance < 0.2) - i32::from(distance > 0.25)
        };
        (0..4).map(of_point).sum()
    };
    let mut groups = 0;
    for leaf in 0..flow.leaves().len() as u32 {
        let coord = flow.leaves().coord(leaf);
        if flow.leaves().level(leaf) == 0 {
            assert!(side(leaf) <= 0, "inside: {coord:?}");
        } else if coord.iter().all(|c| c % 2 == 0) {
            let any = (leaf..leaf + 4).any(|sibling| side(sibling) >= 0);
            assert!(any, "outside: {coord:?}");
            groups += 1;
        }
    }
    // As many as the area of the circle is of root elements, or some more.
    assert!((32..60).contains(&groups), "{groups}");
}

/// A circle that all points of the coarsest elements miss.
#[test]
fn a_line_is_found_from_the_coarsest_elements() {
    let mut flow = uniform::<2>(2, 1);
    let sensor = Sensor::MovingLine {
        from: [0.02, 0.97],
        velocity: [0.0; 2],
        inner: 0.1,
        outer: 0.12,
    };
    flow.follow(Some(adaptation(sensor, 4)))
        .expect("an adaptation");
    flow.set_adapted(|x| noise(1, x)).expect("noise");
    for x in [[0.02, 0.97], [0.08, 0.97], [0.96, 0.03]] {
        let place = x.map(|x| (x * 32.0) as i32);
        let leaf = flow.leaves().find(4, place).expect("inside");
        assert_eq!(flow.leaves().level(leaf), 4, "at {x:?}");
    }
    let far = flow.leaves().find(0, [1, 0]).expect("inside");
    assert!(flow.leaves().level(far) < 4);
}

/// By brute force: an element is fine if one that the sensor wants fine is so many faces away.
#[test]
fn the_buffer_is_rings_of_elements() {
    let fine = |buffer: u32| -> Vec<[i32; 2]> {
        let mut flow = uniform::<2>(16, 1);
        let sensor = Sensor::MovingLine {
            from: [0.53, 0.55],
            velocity: [0.0; 2],
            inner: 0.07,
            outer: 0.08,
        };
        let mut wanted = adaptation(sensor, 1);
        wanted.buffer = buffer;
        flow.follow(Some(wanted)).expect("an adaptation");
        flow.adapt().expect("an adaptation");
        let leaves = flow.leaves();
        let places = (0..256).map(|i| [i % 16, i / 16]);
        let is_fine = |at: &[i32; 2]| {
            let leaf = leaves.find(0, *at).expect("inside");
            leaves.level(leaf) == 1
        };
        places.filter(is_fine).collect()
    };
    let seeds = fine(0);
    assert!((1..8).contains(&seeds.len()), "{seeds:?}");
    for buffer in 1..4 {
        let near = |at: &[i32; 2]| {
            let steps = |s: &[i32; 2]| (s[0] - at[0]).abs() + (s[1] - at[1]).abs();
            seeds.iter().any(|seed| steps(seed) <= buffer as i32)
        };
        let places = (0..256).map(|i| [i % 16, i / 16]);
        let expected: Vec<[i32; 2]> = places.filter(near).collect();
        assert_eq!(fine(buffer), expected, "buffer {buffer}");
    }
}

#[test]
fn the_budget_keeps_the_strongest() {
    let count = |most_elements: usize| {
        let mut flow = uniform::<2>(8, 2);
        let mut wanted = adaptation(modal(0.01, 1e-4), 4);
        wanted.most_elements = most_elements;
        flow.follow(Some(wanted)).expect("an adaptation");
        flow.set_adapted(jet).expect("a jet");
        let refused = flow.adapt().expect("an adaptation").refused;
        let finest = (0..flow.leaves().len() as u32).map(|i| flow.leaves().level(i));
        (flow.leaves().len(), refused, finest.max())
    };
    let (all, refused, finest) = count(usize::MAX);
    assert_eq!((refused, finest), (0, Some(4)));
    for budget in [all - 1, all / 2, 100, 64] {
        let (found, refused, _) = count(budget);
        assert!(
            found <= budget && found + 40 > budget.min(100),
            "{found} of {budget}"
        );
        assert!(refused > 0, "{budget}");
    }
    let (found, refused, _) = count(10);
    assert!(
        found == 64 && refused > 0,
        "a mesh that has more stays: {found}"
    );
}

#[test]
fn levels_are_kept() {
    let mut flow = uniform::<3>(2, 1);
    let mut wanted = adaptation(modal(0.1, 0.01), 2);
    wanted.levels = [1, 2];
    flow.follow(Some(wanted)).expect("an adaptation");
    flow.set_adapted(|x| noise(4, x)).expect("noise");
    let levels = (0..flow.leaves().len() as u32).map(|i| flow.leaves().level(i));
    let levels: Vec<u32> = levels.collect();
    assert!(levels.iter().all(|l| (1..=2).contains(l)), "{levels:?}");
    assert!(levels.contains(&2));
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let mut flow = uniform::<2>(4, 1);
    let mut check = |change: &dyn Fn(&mut ElementAdaptation)| {
        let mut wanted = adaptation(modal(0.1, 0.01), 2);
        change(&mut wanted);
        flow.follow(Some(wanted))
    };
    assert_eq!(check(&|_| {}), Ok(()));
    assert_eq!(check(&|a| a.every = 0), Err(FrError::NoInterval));
    let levels = |found| matches!(found, Err(FrError::Levels { .. }));
    assert!(levels(check(&|a| a.levels = [2, 1])));
    assert!(levels(check(&|a| a.levels = [0, 40])));
    for sensor in [modal(0.1, 0.2), modal(1.5, 0.2), modal(f64::NAN, 0.0)] {
        let found = check(&|a| a.sensor = sensor.clone());
        assert!(matches!(found, Err(FrError::Sensor { .. })), "{sensor:?}");
    }
}

/// Hanging faces come and go while a random state moves, and the keys and state are the same for any number of threads.
fn bits(threads: usize, seed: u64) -> Vec<u64> {
    let run = || {
        let grid = Grid::new([16; 2], [true; 2]).expect("a root grid");
        let leaves = Leaves::new(&Host, grid).expect("leaves");
        let params = params(2, TimeStep::Courant(0.5));
        let mut flow = EulerFlow::<2>::new(&leaves, [-12.5; 2], [12.5; 2], params).expect("a flow");
        let mut wanted = adaptation(modal(0.1, 0.01), 2);
        wanted.buffer = 1;
        wanted.most_elements = 800;
        flow.follow(Some(wanted)).expect("an adaptation");
        let vortex = IsentropicVortex::w24(25.0);
        flow.set_adapted(|x| Primitive {
            pressure: vortex.at(0.0, x).pressure + 1e-4 * noise(seed, x).pressure,
            ..vortex.at(0.0, x)
        })
        .expect("a vortex");
        let mut checksums = Vec::new();
        for _ in 0..60 {
            flow.advance(5).expect("a flow");
            checksums.push(flow.leaves().checksum());
        }
        let mut meshes = checksums.clone();
        meshes.dedup();
        assert!(
            meshes.len() > 10,
            "the mesh should change: {}, {}",
            meshes.len(),
            flow.leaves().len()
        );
        let faces = flow.leaves().faces(&Host).expect("faces");
        let is_hanging = |code: &u32| matches!(Face::of(*code), Face::Finer(_));
        assert!(faces.codes.iter().any(is_hanging));
        let state = flow.unknowns().iter().map(|u| u.to_bits());
        checksums.into_iter().chain(state).collect::<Vec<_>>()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(run)
}

#[test]
fn adaptive_runs_are_the_same_bits_for_any_number_of_threads() {
    let one = bits(1, 1);
    for threads in [2, 3, 8] {
        assert!(one == bits(threads, 1), "{threads} threads");
    }
    assert!(one != bits(1, 2), "another state is seen");
}
