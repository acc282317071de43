//! Bodies whose surfaces cut elements.

use super::{Random, noise, on_one_thread, params};
use cutlink_amr::linear::{Grid, Leaves};
use cutlink_device::Host;
use cutlink_fr::{
    BodyGeometry, ElementAdaptation, EmbeddedBodies, EulerFlow, EulerParams, FrError, GasWall,
    GasWalls, Primitive, Sensor, TimeStep, Viscosity, WallLoad, kernels::Kernels,
};
use std::sync::Arc;

/// Balls in a box of edge `edge` that begins at 0 with `roots` elements; elements at their surfaces are of level `level`.
#[derive(Debug)]
struct Balls<const D: usize> {
    balls: Vec<([f64; D], f64)>,
    edge: f64,
    roots: u32,
    level: u32,
}

impl<const D: usize> Balls<D> {
    /// Least and largest distance of a block from a point.
    fn distances(&self, level: u32, coord: [i32; D], from: [f64; D]) -> [f64; 2] {
        let size = self.edge / f64::from(self.roots << level);
        let (mut near, mut far) = (0.0, 0.0);
        for a in 0..D {
            let low = size * f64::from(coord[a]) - from[a];
            let ends = [low, low + size];
            let gap = ends[0].max(-ends[1]).max(0.0);
            near += gap * gap;
            far += ends[0].abs().max(ends[1].abs()).powi(2);
        }
        [near.sqrt(), far.sqrt()]
    }
}

impl<const D: usize> BodyGeometry<D> for Balls<D> {
    fn body_at(&self, point: [f64; D]) -> Option<usize> {
        let is_in = |(middle, radius): &([f64; D], f64)| {
            let square = (0..D).map(|a| (point[a] - middle[a]).powi(2));
            square.sum::<f64>() < radius * radius
        };
        self.balls.iter().position(is_in)
    }

    fn is_near(&self, level: u32, coord: [i32; D]) -> bool {
        let mut of = self.balls.iter();
        of.any(|(middle, radius)| self.distances(level, coord, *middle)[0] <= *radius)
    }

    fn least_level(&self, level: u32, coord: [i32; D]) -> u32 {
        let is_cut = |(middle, radius): &([f64; D], f64)| {
            let [near, far] = self.distances(level, coord, *middle);
            near <= *radius && *radius <= far
        };
        match self.balls.iter().any(is_cut) {
            true => self.level,
            false => 0,
        }
    }
}

/// The half of a plane below a height.
#[derive(Debug)]
struct Below(f64);

impl BodyGeometry<2> for Below {
    fn body_at(&self, point: [f64; 2]) -> Option<usize> {
        (point[1] < self.0).then_some(0)
    }

    fn is_near(&self, _: u32, _: [i32; 2]) -> bool {
        true
    }

    fn least_level(&self, _: u32, _: [i32; 2]) -> u32 {
        0
    }
}

fn viscous<const D: usize>(order: usize, step: f64, mu: f64, walls: GasWalls<D>) -> EulerParams<D> {
    EulerParams {
        viscosity: Some(Viscosity {
            dynamic: mu,
            prandtl: 0.7,
        }),
        walls,
        ..params(order, TimeStep::Fixed(step))
    }
}

fn bodies<const D: usize>(
    geometry: impl BodyGeometry<D> + 'static,
    temperatures: &[Option<f64>],
    relaxation: impl Into<Option<f64>>,
) -> EmbeddedBodies<D> {
    EmbeddedBodies {
        geometry: Arc::new(geometry),
        temperatures: temperatures.to_vec(),
        relaxation: relaxation.into(),
    }
}

/// Plane Couette flow above an embedded plate of the upper wall's temperature: stress on the plate over the exact one,
/// μ U / (1 - height), less 1; and that on the wall.
fn couette(elements: u32, height: f64) -> [f64; 2] {
    let (mu, speed) = (0.1, 0.05);
    let step = 0.016 / f64::from(elements).powi(2);
    let mut walls = GasWalls {
        embedded: Some(bodies(Below(height), &[Some(1.0)], None)),
        ..GasWalls::default()
    };
    let upper = GasWall::NoSlip {
        velocity: [speed, 0.0],
        temperature: Some(1.0),
    };
    walls.faces[1] = [Some(GasWall::Slip), Some(upper)];
    let grid = Grid::new([1, elements], [true, false]).expect("a grid");
    let leaves = Leaves::new(&Host, grid).expect("a tree");
    let length = 1.0 / f64::from(elements);
    let params = viscous(2, step, mu, walls);
    let mut flow = EulerFlow::<2>::new(&leaves, [0.0; 2], [length, 1.0], params).expect("a flow");
    flow.set(|x| Primitive {
        density: 1.0,
        velocity: [speed * (x[1] - height).max(0.0) / (1.0 - height), 0.0],
        pressure: 1.0,
    });
    flow.advance_to(6.0).expect("a flow");
    let exact = mu * speed / (1.0 - height) * length;
    let loads = flow.wall_loads([0.0; 2]).expect("loads");
    [
        loads[4].force()[0] / exact - 1.0,
        -loads[3].force()[0] / exact - 1.0,
    ]
}

#[test]
fn stress_on_an_embedded_plate_is_that_of_couette_flow() {
    on_one_thread(|| {
        for (elements, height) in [(4, 0.3), (8, 0.3), (16, 0.3), (8, 0.41)] {
            let [plate, wall] = couette(elements, height);
            // The wall of the scheme is within the distance of two points of the plate's.
            let bound = 0.5 / f64::from(elements) / (1.0 - height);
            assert!(plate.abs() < bound, "{elements} elements: {plate}");
            assert!((plate - wall).abs() < 1e-3, "{elements}: {plate} {wall}");
        }
    });
}

fn balance<const D: usize>(order: usize)
where
    f64: Kernels<D>,
{
    let balls = Balls {
        balls: vec![([0.4; D], 0.23), ([0.75; D], 0.17)],
        edge: 1.0,
        roots: 3,
        level: 0,
    };
    let walls = GasWalls {
        embedded: Some(bodies(balls, &[None, Some(0.8)], 0.0007)),
        ..GasWalls::default()
    };
    let leaves = Random::new(order as u64).tree::<D>([3; D], [true; D]);
    let step = 0.0001;
    let params = viscous(order, step, 0.01, walls);
    let mut flow = EulerFlow::<D>::new(&leaves, [0.0; D], [1.0; D], params).expect("a flow");
    flow.set(|x| noise(7, x));
    assert_eq!(
        flow.wall_loads([0.0; D]).expect("loads")[2 * D],
        WallLoad::default()
    );
    flow.advance(1).expect("a flow");
    let before = flow.totals();
    flow.advance(1).expect("a flow");
    let (after, loads) = (flow.totals(), flow.wall_loads([0.0; D]).expect("loads"));
    let taken = |of: &dyn Fn(&WallLoad) -> f64| step * loads[2 * D..].iter().map(of).sum::<f64>();
    for a in 0..D {
        let lost = before.momentum[a] - after.momentum[a];
        let force = taken(&|load| load.force()[a]);
        assert!(force.abs() > 1e-8, "{D}D, p{order}: no force");
        assert!(
            (lost - force).abs() < 1e-13,
            "{D}D, p{order}: {lost} {force}"
        );
    }
    let (lost, energy) = (before.energy - after.energy, taken(&|load| load.energy));
    assert!(
        (lost - energy).abs() < 1e-13,
        "{D}D, p{order}: {lost} {energy}"
    );
    assert!(
        (before.mass - after.mass).abs() < 1e-13,
        "{D}D, p{order}: mass"
    );
}

#[test]
fn bodies_take_what_the_gas_loses() {
    (1..=4).for_each(balance::<2>);
    (1..=3).for_each(balance::<3>);
}

/// A flow around a disc on a mesh that follows it; as set, or restored from `saved`.
fn followed(saved: Option<(&Leaves<2>, &[f64], f64, u64)>) -> EulerFlow<2> {
    let disc = Balls {
        balls: vec![([1.5, 2.1], 0.3)],
        edge: 4.0,
        roots: 4,
        level: 3,
    };
    let stream = Primitive {
        density: 1.0,
        velocity: [0.4, 0.0],
        pressure: 1.0,
    };
    let walls = GasWalls {
        embedded: Some(bodies(disc, &[None], 0.001)),
        ..GasWalls::default()
    };
    let grid = Grid::new([4, 4], [false, true]).expect("a grid");
    let leaves = walls.leaves(grid, [0.0; 2], [4.0; 2], 3).expect("a tree");
    let mut params = viscous(3, 0.001, 0.005, walls);
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
        places: Vec::new(),
    }))
    .expect("an adaptation");
    match saved {
        None => flow.set_adapted(|_| stream).expect("a flow"),
        Some((leaves, unknowns, time, steps)) => flow
            .restore(leaves.clone(), unknowns, time, steps)
            .expect("the same flow"),
    }
    flow
}

#[test]
fn elements_at_embedded_bodies_stay_fine() {
    let mut flow = followed(None);
    let begun = flow.elements();
    let (mut changed, mut drags) = (false, Vec::new());
    for _ in 0..20 {
        flow.advance(10).expect("a flow");
        changed |= flow.elements() != begun;
        let disc = ([1.5, 2.1], 0.3);
        for leaf in 0..flow.elements() as u32 {
            let inside = (0..flow.nodes()).filter(|&node| {
                let [x, y] = flow.point(leaf, node);
                (x - disc.0[0]).hypot(y - disc.0[1]) < disc.1
            });
            let inside = inside.count();
            let is_cut = inside > 0 && inside < flow.nodes();
            assert!(!is_cut || flow.leaves().level(leaf) == 3, "leaf {leaf}");
        }
        drags.push(flow.wall_loads([0.0; 2]).expect("loads")[4].force()[0]);
    }
    assert!(changed, "the mesh never changed");
    assert!(drags.iter().all(|drag| *drag > 0.0), "{drags:?}");

    // Restored in the middle: the same forces and state from the next step on.
    let mut first = followed(None);
    first.advance(100).expect("a flow");
    let saved = (
        first.leaves(),
        first.unknowns(),
        first.time(),
        first.steps(),
    );
    let mut second = followed(Some(saved));
    second.advance(100).expect("a flow");
    assert_eq!(second.unknowns(), flow.unknowns());
    let drag = second.wall_loads([0.0; 2]).expect("loads")[4].force()[0];
    assert_eq!(Some(&drag), drags.last());
}

#[test]
fn the_gas_inside_comes_to_rest_by_the_exact_solution() {
    // One uniform stream in a body that fills the box: v = v0 exp(-t / η), and with a temperature so does its difference.
    let (relaxation, step) = (0.01, 0.002);
    for temperature in [None, Some(0.5)] {
        let walls = GasWalls {
            embedded: Some(bodies(Below(2.0), &[temperature], relaxation)),
            ..GasWalls::default()
        };
        let grid = Grid::new([2, 2], [true; 2]).expect("a grid");
        let leaves = Leaves::new(&Host, grid).expect("a tree");
        let params = viscous(2, step, 0.01, walls);
        let mut flow = EulerFlow::<2>::new(&leaves, [0.0; 2], [1.0; 2], params).expect("a flow");
        flow.set(|_| Primitive {
            density: 1.5,
            velocity: [0.3, -0.2],
            pressure: 1.2,
        });
        // In the body it is set at rest; so it is pushed by hand.
        let pushed: Vec<f64> = (flow.unknowns().chunks_exact(flow.nodes()).enumerate())
            .flat_map(|(i, u)| {
                let by = [0.0, 1.5 * 0.3, -1.5 * 0.2, 0.75 * (0.09 + 0.04)][i % 4];
                u.iter().map(move |u| u + by)
            })
            .collect();
        flow.restore(leaves.clone(), &pushed, 0.0, 0)
            .expect("a state");
        flow.advance(7).expect("a flow");
        let left = (-7.0 * step / relaxation).exp();
        let temperature = temperature.map_or(0.8, |t: f64| t + (0.8 - t) * left);
        let velocity = [0.3 * left, -0.2 * left];
        let kinetic = 0.75 * velocity.iter().map(|v| v * v).sum::<f64>();
        let expected = [
            1.5,
            1.5 * velocity[0],
            1.5 * velocity[1],
            1.5 * temperature / 0.4 + kinetic,
        ];
        for (i, u) in flow.unknowns().chunks_exact(flow.nodes()).enumerate() {
            for u in u {
                assert!((u - expected[i % 4]).abs() < 1e-13, "{u} {expected:?}");
            }
        }
    }
}

#[test]
fn numbers_of_embedded_bodies_that_make_no_sense_are_refused() {
    let refused = |temperature: f64, relaxation: f64, viscosity: Option<Viscosity>| {
        let walls = GasWalls {
            embedded: Some(bodies(Below(0.5), &[Some(temperature)], relaxation)),
            ..GasWalls::default()
        };
        let mut params = viscous(1, 0.1, 0.1, walls);
        params.viscosity = viscosity;
        let grid = Grid::new([2, 2], [true; 2]).expect("a grid");
        let leaves = Leaves::new(&Host, grid).expect("a tree");
        EulerFlow::<2>::new(&leaves, [0.0; 2], [1.0; 2], params).expect_err("nonsense")
    };
    let air = Some(Viscosity {
        dynamic: 0.1,
        prandtl: 0.7,
    });
    assert!(matches!(refused(1.0, 0.0, air), FrError::Relaxation { .. }));
    assert!(matches!(
        refused(-1.0, 1.0, air),
        FrError::WallTemperature { .. }
    ));
    assert!(matches!(refused(1.0, 1.0, None), FrError::NoViscosity));
}
