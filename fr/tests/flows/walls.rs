//! Walls and bodies against exact solutions and definitions.

use crate::{Random, noise, on_one_thread, params, worst};
use cutlink_amr::{
    Mark,
    linear::{Grid, Leaves},
};
use cutlink_device::Host;
use cutlink_fr::{
    ElementAdaptation, EulerFlow, EulerParams, FrError, GasBody, GasWall, GasWalls, LevelsInBox,
    Primitive, Sensor, TimeStep, Viscosity, kernels::Kernels,
};
use std::f64::consts::PI;

const AIR: f64 = 1.4;

fn with_walls<const D: usize>(
    order: usize,
    courant: f64,
    dynamic: f64,
    walls: GasWalls<D>,
) -> EulerParams<D> {
    EulerParams {
        viscosity: (dynamic > 0.0).then_some(Viscosity {
            dynamic,
            prandtl: 0.72,
        }),
        walls,
        ..params(order, TimeStep::Courant(courant))
    }
}

/// The largest difference of an unknown from a state, of elements in the gas.
fn largest<const D: usize>(flow: &EulerFlow<D>, exact: impl Fn([f64; D]) -> Primitive<D>) -> f64
where
    f64: Kernels<D>,
{
    let nodes = flow.nodes();
    let mut most = 0.0f64;
    for (leaf, u) in flow.unknowns().chunks_exact((D + 2) * nodes).enumerate() {
        if flow.is_removed(leaf as u32) {
            continue;
        }
        for node in 0..nodes {
            let exact = exact(flow.point(leaf as u32, node));
            for v in 0..D + 2 {
                let off = (u[v * nodes + node] - exact.unknown(AIR, v)).abs();
                most = worst([most, off]);
            }
        }
    }
    most
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

fn grid<const D: usize>(root: [u32; D], periodic: [bool; D]) -> Grid<D> {
    Grid::new(root, periodic).expect("a root grid")
}

/// Root leaves; if requested, those of a corner of the box refined.
fn mesh<const D: usize>(root: [u32; D], periodic: [bool; D], is_hanging: bool) -> Leaves<D> {
    let mut leaves = Leaves::new(&Host, grid(root, periodic)).expect("root leaves");
    if is_hanging {
        let mark = |leaf: u32| {
            let at = leaves.coord(leaf);
            let is_inside = (0..D).all(|a| 2 * at[a] < root[a] as i32);
            if is_inside { Mark::Refine } else { Mark::Keep }
        };
        let mut marks: Vec<u8> = (0..leaves.len() as u32).map(|i| mark(i) as u8).collect();
        leaves.adapt(&Host, &mut marks).expect("an adaptation");
    }
    leaves
}

fn rests<const D: usize>(order: usize)
where
    f64: Kernels<D>,
{
    let rest = Primitive {
        density: 0.8,
        velocity: [0.0; D],
        pressure: 0.6,
    };
    let warm = GasWall::NoSlip {
        velocity: [0.0; D],
        temperature: Some(0.6 / 0.8),
    };
    let kinds = [GasWall::Slip, GasWall::ADIABATIC, warm];
    for (i, &wall) in kinds.iter().enumerate() {
        let walls = GasWalls {
            faces: [[Some(wall), Some(kinds[(i + 1) % 3])]; D],
            bodies: vec![GasBody {
                lower: [0.25; D],
                upper: [0.75; D],
                wall: kinds[(i + 2) % 3],
            }],
            ..GasWalls::default()
        };
        let leaves = walls
            .leaves(grid([2; D], [false; D]), [0.0; D], [1.0; D], 1)
            .expect("a tree");
        let flow = EulerFlow::<D>::new(
            &leaves,
            [0.0; D],
            [1.0; D],
            with_walls(order, 0.4, 0.05, walls),
        );
        let mut flow = flow.expect("a flow");
        flow.set(|_| rest);
        flow.advance(if D == 2 { 100 } else { 10 })
            .expect("a gas at rest");
        let moved = largest(&flow, |_| rest);
        assert!(moved < 1e-13, "{D}D, p{order}: {moved:e}");
        let loads = flow.wall_loads([0.5; D]).expect("loads");
        let body = loads[2 * D];
        let area = 2.0 * D as f64 * 0.5f64.powi(D as i32 - 1);
        assert!((body.area - area).abs() < 1e-14, "{D}D: {body:?}");
        for load in &loads {
            let pushed = load.pressure.map(f64::abs).into_iter().sum::<f64>();
            let all = load
                .friction
                .iter()
                .chain(&load.moment)
                .chain([&load.energy]);
            assert!(all.clone().all(|x| x.abs() < 1e-13), "{D}D: {load:?}");
            let expected = if *load == body { 0.0 } else { 0.6 };
            assert!((pushed - expected).abs() < 1e-13, "{D}D: {load:?}");
        }
    }
}

#[test]
fn a_gas_at_rest_stays_at_rest() {
    for order in 1..=4 {
        rests::<2>(order);
        rests::<3>(order);
    }
}

/// Plane Couette flow with constant viscosity: linear velocity, temperature of a parabola, the same pressure everywhere.
struct Couette {
    /// The axis across the plates, and that of their motion.
    axes: [usize; 2],
    speed: f64,
    dynamic: f64,
    /// Of the plates, as p / ρ.
    warmth: [f64; 2],
}

impl Couette {
    const PRESSURE: f64 = 1.0;

    fn conductivity(&self) -> f64 {
        AIR / (AIR - 1.0) * self.dynamic / 0.72
    }

    /// Temperature and its slope at a distance from the lower plate; the plates are 1 apart.
    fn warmth_at(&self, y: f64) -> [f64; 2] {
        let [low, high] = self.warmth;
        let heating = self.dynamic * self.speed * self.speed / (2.0 * self.conductivity());
        [
            low + (high - low) * y + heating * y * (1.0 - y),
            high - low + heating * (1.0 - 2.0 * y),
        ]
    }

    fn at<const D: usize>(&self, x: [f64; D]) -> Primitive<D> {
        let y = x[self.axes[0]];
        let mut velocity = [0.0; D];
        velocity[self.axes[1]] = self.speed * y;
        Primitive {
            density: Self::PRESSURE / self.warmth_at(y)[0],
            velocity,
            pressure: Self::PRESSURE,
        }
    }

    fn flow<const D: usize>(&self, order: usize, across: u32, is_hanging: bool) -> EulerFlow<D>
    where
        f64: Kernels<D>,
    {
        let plate = |speed: f64, warmth: f64| {
            let mut velocity = [0.0; D];
            velocity[self.axes[1]] = speed;
            Some(GasWall::NoSlip {
                velocity,
                temperature: Some(warmth),
            })
        };
        let mut walls = GasWalls::default();
        let [low, high] = self.warmth;
        walls.faces[self.axes[0]] = [plate(0.0, low), plate(self.speed, high)];
        let (mut root, mut periodic, mut upper) = ([2; D], [true; D], [0.5; D]);
        root[self.axes[0]] = across;
        periodic[self.axes[0]] = false;
        upper[self.axes[0]] = 1.0;
        let leaves = mesh(root, periodic, is_hanging);
        let params = with_walls(order, 0.5, self.dynamic, walls);
        let mut flow = EulerFlow::<D>::new(&leaves, [0.0; D], upper, params).expect("a flow");
        flow.set(|x| self.at(x));
        flow
    }
}

#[expect(clippy::print_stdout, reason = "shown where asked for")]
fn couette_has_its_order(axes: [usize; 2], is_hanging: bool) {
    let couette = Couette {
        axes,
        speed: 1.0,
        dynamic: 0.1,
        warmth: [0.6, 0.9],
    };
    for (order, grids) in (1..).zip([[8, 16], [4, 8], [4, 8], [4, 8]]) {
        let errors = grids.map(|across| {
            let mut flow = couette.flow::<2>(order, across, is_hanging);
            flow.advance_to(0.5).expect("a flow");
            difference(&flow, |x| couette.at(x))
        });
        let found = (errors[0] / errors[1]).log2();
        println!("{axes:?}, p{order}, hanging {is_hanging}: {errors:?}, order {found:.2}");
        assert!(
            found > order as f64 + 0.5,
            "{axes:?}, p{order}, hanging {is_hanging}: {errors:?}, order {found:.2}"
        );
    }
    let mut flow = couette.flow::<2>(3, 8, is_hanging);
    flow.advance_to(0.5).expect("a flow");
    let loads = flow.wall_loads([0.0; 2]).expect("loads");
    let (stress, conductivity) = (couette.dynamic * couette.speed, couette.conductivity());
    let [low, high] = [0.0, 1.0].map(|y| conductivity * couette.warmth_at(y)[1]);
    let expected = [(stress, low), (-stress, -high - couette.speed * stress)];
    for (load, (drag, energy)) in loads[2 * axes[0]..].iter().zip(expected) {
        let per_area = |x: f64| x / load.area;
        let found = [load.friction[axes[1]], load.energy].map(per_area);
        let is_right =
            (found[0] / drag - 1.0).abs() < 1e-4 && (found[1] / energy - 1.0).abs() < 1e-4;
        assert!(is_right, "{found:?}, {drag} and {energy} expected");
        let pressure = per_area(load.pressure[axes[0]]).abs();
        assert!((pressure - Couette::PRESSURE).abs() < 1e-4, "{pressure}");
    }
}

#[test]
fn couette_flow_has_the_order_of_the_scheme() {
    on_one_thread(|| {
        couette_has_its_order([1, 0], false);
        couette_has_its_order([0, 1], false);
        couette_has_its_order([1, 0], true);
    });
}

/// A plate that is a hundredth faster has an error that no finer mesh takes away.
#[test]
fn a_wrong_plate_is_seen() {
    let couette = Couette {
        axes: [1, 0],
        speed: 1.0,
        dynamic: 0.1,
        warmth: [0.6, 0.9],
    };
    let wrong = Couette {
        speed: 1.01,
        ..couette
    };
    let mut flow = couette.flow::<2>(3, 8, false);
    flow.advance_to(0.5).expect("a flow");
    let (right, wrong) = (
        difference(&flow, |x| couette.at(x)),
        difference(&flow, |x| wrong.at(x)),
    );
    assert!(wrong > 100.0 * right, "{wrong:e}, {right:e}");
}

/// Couette flow along x between plates across z has the error that it has in 2D.
#[test]
fn couette_flow_holds_in_3d() {
    let couette = |across: usize| Couette {
        axes: [across, 0],
        speed: 1.0,
        dynamic: 0.1,
        warmth: [0.6, 0.9],
    };
    let mut two = couette(1).flow::<2>(2, 4, false);
    let mut three = couette(2).flow::<3>(2, 4, false);
    two.advance_to(0.1).expect("a flow");
    three.advance_to(0.1).expect("a flow");
    let errors = [
        difference(&two, |x| couette(1).at(x)),
        difference(&three, |x| couette(2).at(x)),
    ];
    assert!((errors[0] / errors[1] - 1.0).abs() < 0.01, "{errors:?}");
}

/// A standing wave of small pressure between slip walls, in all directions.
fn standing<const D: usize>(order: usize, root: u32, is_hanging: bool, is_far: bool) -> f64
where
    f64: Kernels<D>,
{
    const SMALL: f64 = 1e-7;
    let wave = |time: f64, x: [f64; D]| {
        let sound = (AIR * 1.0f64).sqrt();
        let frequency = PI * sound * (D as f64).sqrt();
        let shape: f64 = x.iter().map(|x| (PI * x).cos()).product();
        let swing = SMALL * shape * (frequency * time).cos();
        let slope = |a: usize| {
            let of = |b: usize| match a == b {
                true => -PI * (PI * x[b]).sin(),
                false => (PI * x[b]).cos(),
            };
            (0..D).map(of).product::<f64>()
        };
        Primitive {
            density: 1.0 + swing / (sound * sound),
            velocity: std::array::from_fn(|a| {
                -SMALL * slope(a) * (frequency * time).sin() / frequency
            }),
            pressure: 1.0 + swing,
        }
    };
    let mut walls = GasWalls {
        faces: [[Some(GasWall::Slip); 2]; D],
        ..GasWalls::default()
    };
    if is_far {
        walls.faces[0][1] = None;
    }
    let leaves = mesh([root; D], [false; D], is_hanging);
    let mut params = with_walls(order, if order == 4 { 0.05 } else { 0.3 }, 0.0, walls);
    params.far_field = is_far.then(|| wave(0.25, [0.0; D]));
    let mut flow = EulerFlow::<D>::new(&leaves, [0.0; D], [1.0; D], params).expect("a flow");
    flow.set(|x| wave(0.0, x));
    flow.advance_to(0.5).expect("a flow");
    let time = flow.time();
    difference(&flow, |x| wave(time, x)) / SMALL
}

#[test]
#[expect(clippy::print_stdout, reason = "shown where asked for")]
fn slip_walls_reflect_waves_with_the_order_of_the_scheme() {
    on_one_thread(|| {
        for is_hanging in [false, true] {
            for (order, roots) in (1..).zip([[16, 32], [8, 16], [4, 8], [2, 4]]) {
                let errors = roots.map(|root| standing::<2>(order, root, is_hanging, false));
                let found = (errors[0] / errors[1]).log2();
                println!("p{order}, hanging {is_hanging}: {errors:?}, order {found:.2}");
                assert!(found > order as f64 + 0.5, "p{order}: {errors:?}");
            }
        }
        let three = standing::<3>(3, 3, true, false);
        assert!(three < 0.01, "{three:e}");
        let open = standing::<2>(3, 8, false, true);
        assert!(open > 0.1, "a face that does not reflect is seen: {open:e}");
    });
}

/// A shear wave between plates at rest, which decays; all walls of two kinds.
#[test]
#[expect(clippy::print_stdout, reason = "shown where asked for")]
fn shear_between_plates_decays_with_the_order_of_the_scheme() {
    on_one_thread(|| {
        const SMALL: f64 = 1e-7;
        let dynamic = 0.05;
        let warm = GasWall::NoSlip {
            velocity: [0.0; 2],
            temperature: Some(1.0),
        };
        let shear = |time: f64, x: [f64; 2]| Primitive {
            density: 1.0,
            velocity: [
                0.0,
                SMALL * (PI * x[0]).sin() * (-dynamic * PI * PI * time).exp(),
            ],
            pressure: 1.0,
        };
        for (order, roots) in (1..).zip([[8, 16], [4, 8], [4, 8], [2, 4]]) {
            let errors = roots.map(|root| {
                let mut walls = GasWalls::default();
                walls.faces[0] = [Some(GasWall::ADIABATIC), Some(warm)];
                let leaves = mesh([root, 2], [false, true], false);
                let params = with_walls(order, if order == 4 { 0.05 } else { 0.3 }, dynamic, walls);
                let mut flow =
                    EulerFlow::<2>::new(&leaves, [0.0; 2], [1.0, 2.0 / f64::from(root)], params);
                let flow = flow.as_mut().expect("a flow");
                flow.set(|x| shear(0.0, x));
                flow.advance_to(1.0).expect("a flow");
                let time = flow.time();
                difference(flow, |x| shear(time, x)) / SMALL
            });
            let found = (errors[0] / errors[1]).log2();
            println!("p{order}: {errors:?}, order {found:.2}");
            assert!(found > order as f64 + 0.5, "p{order}: {errors:?}");
        }
    });
}

/// Two bodies in a box with walls, one of them at the box' face, on a random-looking mesh.
fn around_bodies<const D: usize>(order: usize, temperature: Option<f64>) -> EulerFlow<D>
where
    f64: Kernels<D>,
{
    let wall = GasWall::NoSlip {
        velocity: [0.0; D],
        temperature,
    };
    let body = |lower: f64, upper: f64| GasBody {
        lower: [lower; D],
        upper: [upper; D],
        wall,
    };
    let mut walls = GasWalls {
        faces: [[Some(wall); 2]; D],
        bodies: vec![body(0.25, 0.5), body(0.75, 1.0)],
        ..GasWalls::default()
    };
    walls.faces[0] = [None, None];
    let mut periodic = [false; D];
    periodic[0] = true;
    let leaves = walls
        .leaves(grid([2; D], periodic), [0.0; D], [1.0; D], 2)
        .expect("a tree");
    let params = with_walls(order, 0.3, 0.02, walls);
    let mut flow = EulerFlow::<D>::new(&leaves, [0.0; D], [1.0; D], params).expect("a flow");
    flow.set(|x| noise(4, x));
    flow
}

/// Rates of change of mass, momentum and energy are what walls are given.
fn balances<const D: usize>(order: usize, temperature: Option<f64>)
where
    f64: Kernels<D>,
{
    let mut flow = around_bodies::<D>(order, temperature);
    let step = 1e-6;
    flow.set_time_step(TimeStep::Fixed(step)).expect("a step");
    let before = flow.totals();
    flow.advance(1).expect("a flow");
    let loads = flow.wall_loads([0.0; D]).expect("loads");
    flow.advance(1).expect("a flow");
    let after = flow.totals();
    assert!((after.mass - before.mass).abs() < 1e-14, "mass");
    let rate = |a: f64, b: f64| (a - b) / (2.0 * step);
    let forces: Vec<[f64; 3]> = loads.iter().map(|load| load.force()).collect();
    for a in 0..D {
        let (found, all) = (
            rate(after.momentum[a], before.momentum[a]),
            -forces.iter().map(|f| f[a]).sum::<f64>(),
        );
        assert!(
            (found - all).abs() < 1e-5 * all.abs().max(1.0),
            "{D}D: {found} and {all}"
        );
        assert!(all.abs() > 1e-3, "a force is needed: {all}");
    }
    let energy: f64 = loads.iter().map(|load| load.energy).sum();
    let found = rate(after.energy, before.energy);
    assert!(
        (found + energy).abs() < 1e-5 * energy.abs().max(1.0),
        "{D}D: {found} and {energy}"
    );
    match temperature {
        None => assert!(energy.abs() < 1e-15, "{energy:e}"),
        Some(_) => assert!(energy.abs() > 1e-3, "heat is needed: {energy}"),
    }
}

#[test]
fn walls_are_given_what_the_gas_loses() {
    for order in 1..=4 {
        for temperature in [None, Some(2.0)] {
            balances::<2>(order, temperature);
            balances::<3>(order, temperature);
        }
    }
}

/// Bodies that fill what is outside of a smaller box are walls of that box, to the last bit.
#[test]
fn a_wall_of_a_body_is_one_of_the_box() {
    let warm = GasWall::NoSlip {
        velocity: [0.0; 2],
        temperature: Some(1.5),
    };
    for order in 1..=4 {
        let run = |root: u32, walls: GasWalls<2>, lower: f64, upper: f64| {
            let leaves = Leaves::new(&Host, grid([4, root], [true, false])).expect("leaves");
            let params = with_walls(order, 0.3, 0.02, walls);
            let flow = EulerFlow::<2>::new(&leaves, [0.0, lower], [1.0, upper], params);
            let mut flow = flow.expect("a flow");
            // Points of both boxes are the same but for rounding.
            let known = |x: f64| (x * 1e6).round();
            flow.set(|x| noise(5, x.map(known)));
            flow.advance(10).expect("a flow");
            let one = 4 * flow.nodes();
            let mut elements: Vec<([u64; 2], Vec<u64>)> = (0..flow.elements())
                .filter(|&leaf| !flow.is_removed(leaf as u32))
                .map(|leaf| {
                    let own = &flow.unknowns()[leaf * one..][..one];
                    let at = flow.point(leaf as u32, 0).map(|x| known(x) as u64);
                    (at, own.iter().map(|u| u.to_bits()).collect())
                })
                .collect();
            elements.sort();
            let loads = flow.wall_loads([0.0; 2]).expect("loads");
            (elements, loads)
        };
        let mut faces = GasWalls::default();
        faces.faces[1] = [Some(GasWall::ADIABATIC), Some(warm)];
        let slab = |lower: f64, upper: f64, wall| GasBody {
            lower: [0.0, lower],
            upper: [1.0, upper],
            wall,
        };
        let mut slabs = GasWalls {
            bodies: vec![slab(-0.5, 0.0, GasWall::ADIABATIC), slab(1.0, 1.5, warm)],
            ..GasWalls::default()
        };
        slabs.faces[1] = [Some(GasWall::Slip); 2];
        let (small, large) = (run(4, faces, 0.0, 1.0), run(8, slabs, -0.5, 1.5));
        assert!(small.0 == large.0, "p{order}");
        assert_eq!(small.1[2..4], large.1[4..6], "p{order}");
        assert_eq!(
            large.1[2],
            cutlink_fr::WallLoad::default(),
            "a body is there"
        );
    }
}

/// A flow around a body on a mesh that follows it.
fn followed(bits: &mut Vec<u64>) -> EulerFlow<2> {
    let walls = GasWalls {
        bodies: vec![GasBody {
            lower: [1.5, 1.75],
            upper: [2.0, 2.25],
            wall: GasWall::ADIABATIC,
        }],
        ..GasWalls::default()
    };
    let leaves = walls
        .leaves(grid([4, 4], [false, true]), [0.0; 2], [4.0; 2], 3)
        .expect("a tree");
    let stream = Primitive {
        density: 1.0,
        velocity: [0.4, 0.0],
        pressure: 1.0,
    };
    let mut params = with_walls(3, 0.3, 0.005, walls);
    params.far_field = Some(stream);
    let mut flow = EulerFlow::<2>::new(&leaves, [0.0; 2], [4.0; 2], params).expect("a flow");
    flow.follow(Some(ElementAdaptation {
        every: 10,
        sensor: Sensor::Modal {
            refine_above: 0.1,
            coarsen_below: 0.001,
            momentum: 0.4,
            floor: 1e-10,
        },
        levels: [0, 3],
        buffer: 0,
        most_elements: usize::MAX,
        at_bodies: 3,
        places: vec![LevelsInBox {
            lower: [2.5, 0.0, 0.0],
            upper: [4.0, 4.0, 0.0],
            levels: [1, 2],
        }],
    }))
    .expect("an adaptation");
    flow.set_adapted(|_| stream).expect("a flow");
    for _ in 0..20 {
        flow.advance(10).expect("a flow");
        flow.leaves().validate().expect("a tree");
        for leaf in 0..flow.elements() as u32 {
            let (level, at) = (flow.leaves().level(leaf), flow.leaves().coord(leaf));
            let size = 1.0 / f64::from(1u32 << level);
            let [x, y] = at.map(|c| f64::from(c) * size);
            let is_in = x >= 1.5 && x + size <= 2.0 && y >= 1.75 && y + size <= 2.25;
            assert_eq!(flow.is_removed(leaf), is_in, "{x}, {y}, {size}");
            let touches = x <= 2.0 && x + size >= 1.5 && y <= 2.25 && y + size >= 1.75;
            assert!(is_in || !touches || level == 3, "{x}, {y}, {size}");
            assert!(x < 2.5 || (1..=2).contains(&level), "{x}, {y}, {size}");
        }
        let drag = flow.wall_loads([0.0; 2]).expect("loads")[4].force();
        bits.extend(drag.map(f64::to_bits));
    }
    bits.extend(flow.unknowns().iter().map(|u| u.to_bits()));
    flow
}

#[test]
fn meshes_follow_flows_around_bodies() {
    let mut all = Vec::new();
    let mut flow = followed(&mut all);
    let load = flow.wall_loads([1.75, 2.0]).expect("loads")[4];
    assert!(load.pressure[0] > 0.0 && load.friction[0] > 0.0, "{load:?}");
    let mut levels = (0..flow.elements() as u32).map(|leaf| flow.leaves().level(leaf));
    assert!(levels.any(|level| level < 3), "coarse elements are left");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let mut alone = Vec::new();
    pool.expect("a thread").install(|| followed(&mut alone));
    assert!(all == alone, "the same bits for any number of threads");
    // A saved state goes on with the same bits.
    let params = flow.params().clone();
    let mut other = EulerFlow::<2>::new(flow.leaves(), [0.0; 2], [4.0; 2], params).expect("a flow");
    other
        .follow(flow.adaptation().cloned())
        .expect("an adaptation");
    let (leaves, unknowns) = (flow.leaves().clone(), flow.unknowns().to_vec());
    other
        .restore(leaves, &unknowns, flow.time(), flow.steps())
        .expect("a state");
    flow.advance(20).expect("a flow");
    other.advance(20).expect("a flow");
    assert!(flow.unknowns() == other.unknowns());
}

/// Steps by a Courant number of 1 are stable where diffusion alone limits them, with walls.
#[test]
fn diffusive_steps_are_stable_with_walls() {
    for order in 1..=4 {
        let warm = GasWall::NoSlip {
            velocity: [0.0; 2],
            temperature: Some(1.0),
        };
        let walls = GasWalls {
            faces: [[Some(GasWall::ADIABATIC), Some(warm)]; 2],
            ..GasWalls::default()
        };
        let leaves = Random::new(30 + order as u64).tree::<2>([3, 2], [false; 2]);
        let params = with_walls(order, 1.0, 10.0, walls);
        let mut flow = EulerFlow::<2>::new(&leaves, [0.0; 2], [1.5, 1.0], params).expect("a flow");
        flow.set(|x| noise(1, x));
        let fastest = |flow: &EulerFlow<2>| {
            let nodes = flow.nodes();
            let elements = flow.unknowns().chunks_exact(4 * nodes);
            let all = elements.flat_map(|u| u[nodes..3 * nodes].iter().map(|m| m.abs()));
            worst(all)
        };
        let mut before = fastest(&flow);
        // An unstable mode would grow without end.
        for _ in 0..8 {
            flow.advance(100).expect("a flow");
            let now = fastest(&flow);
            assert!(now < before, "p{order}: {now} after {before}");
            before = now;
        }
    }
}

#[test]
fn walls_that_make_no_sense_are_refused() {
    let leaves = mesh([4, 4], [true, false], false);
    let make = |dynamic: f64, walls: GasWalls<2>| {
        let params = with_walls(2, 0.5, dynamic, walls);
        EulerFlow::<2>::new(&leaves, [0.0; 2], [1.0; 2], params).map(|_| ())
    };
    let faces = |low: GasWall<2>, high: GasWall<2>| {
        let mut walls = GasWalls::default();
        walls.faces[1] = [Some(low), Some(high)];
        walls
    };
    let moving = |velocity: [f64; 2], temperature: Option<f64>| GasWall::NoSlip {
        velocity,
        temperature,
    };
    let slip = faces(GasWall::Slip, GasWall::Slip);
    let body = |lower: [f64; 2], upper: [f64; 2], wall| GasWalls {
        bodies: vec![GasBody { lower, upper, wall }],
        ..slip.clone()
    };
    assert_eq!(make(0.0, slip.clone()), Ok(()));
    assert_eq!(
        make(0.0, faces(GasWall::Slip, GasWall::ADIABATIC)),
        Err(FrError::NoViscosity)
    );
    let mut half = GasWalls::default();
    half.faces[1][0] = Some(GasWall::Slip);
    assert_eq!(make(0.1, half.clone()), Err(FrError::NoFarField));
    half = slip.clone();
    half.faces[0][0] = Some(GasWall::Slip);
    assert_eq!(make(0.1, half), Err(FrError::PeriodicWall { axis: 0 }));
    let through = make(0.1, faces(moving([0.0, 1.0], None), GasWall::Slip));
    assert!(matches!(through, Err(FrError::WallVelocity { .. })));
    let cold = make(0.1, faces(moving([0.0; 2], Some(0.0)), GasWall::Slip));
    assert!(matches!(cold, Err(FrError::WallTemperature { .. })));
    let wall = GasWall::ADIABATIC;
    let belt = make(0.1, body([0.25; 2], [0.5; 2], moving([1.0, 0.0], None)));
    assert!(matches!(belt, Err(FrError::WallVelocity { .. })));
    assert_eq!(make(0.1, body([0.25; 2], [0.5; 2], wall)), Ok(()));
    for (lower, upper) in [([0.5; 2], [0.25; 2]), ([0.25; 2], [0.5, 1.25])] {
        let outside = make(0.1, body(lower, upper, wall));
        assert!(matches!(outside, Err(FrError::Body { body: 0, .. })));
    }
    assert_eq!(
        make(0.1, body([0.25; 2], [0.5, 0.6], wall)),
        Err(FrError::Unaligned {
            body: 0,
            axis: 1,
            at: 0.6,
            level: 0,
            nearest: [0.5, 0.75]
        })
    );
    // Elements of level 1 are elsewhere.
    let leaves = mesh([4, 4], [true, false], true);
    let walls = body([0.5, 0.625], [0.75, 0.75], wall);
    let params = with_walls(2, 0.5, 0.1, walls);
    let coarse = EulerFlow::<2>::new(&leaves, [0.0; 2], [1.0; 2], params).map(|_| ());
    let expected = FrError::CoarseAtBody {
        body: 0,
        found: 0,
        level: 1,
    };
    assert_eq!(coarse, Err(expected));
}
