use cutlink_mesher::primitives::{Shape2, Shape3};
use cutlink_solver::{
    FaceCondition, LatticeFlow, Motion, Params, PatchCondition, Place, Plan, Precision, Space,
    Variation, WallScheme,
};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, Region, RegionShape};
use std::{f64::consts::TAU, sync::Arc};

cutlink_tests::backend_test!(
    on_one_thread:
    a_plan_takes_other_parameters,
    a_constant_told_as_a_variation_is_that_constant,
    a_rotating_patch_is_its_velocities,
    products_are_what_they_multiply_to,
    restarts_keep_the_time,
    an_inlet_with_a_parabola_has_no_entrance,
    womersley_by_acceleration,
    womersley_by_pressure,
    values_that_are_none_are_refused
);

fn variation<const D: usize>(place: Place, space: Space<D>) -> Variation<D> {
    Variation {
        place,
        name: "a test's".into(),
        key: String::new(),
        space,
        time: None,
    }
}

fn in_time<const D: usize>(
    place: Place,
    of: impl Fn(f64) -> [f64; D] + Send + Sync + 'static,
) -> Variation<D> {
    Variation {
        time: Some(Arc::new(move |t| Ok(of(t)))),
        ..variation(place, Space::Uniform)
    }
}

fn steady<const D: usize>(of: impl Fn([f64; D]) -> [f64; D] + Send + Sync + 'static) -> Space<D> {
    Space::Steady(Arc::new(move |x| Ok(of(x))))
}

fn moving<const D: usize>(
    of: impl Fn([f64; D], f64) -> [f64; D] + Clone + Send + Sync + 'static,
) -> Space<D> {
    Space::Moving(Arc::new(move |t| {
        let of = of.clone();
        Box::new(move |x| Ok(of(x, t)))
    }))
}

/// A circle on three levels in a stream between moving sides.
fn circle() -> Mesh<2> {
    circle_on(3)
}

fn circle_on(levels: usize) -> Mesh<2> {
    let surface = Shape2::Circle { radius: 2.1 }.surface(1e-2);
    let frame = Frame::new([-8.3, -8.1], 1.0, [32, 16]).expect("a box");
    let params = EmbedParams::new(levels, 1.0, Fill::NonZero);
    bodies::mesh_of(&surface.expect("a circle"), frame, &params)
}

fn sphere() -> Mesh<3> {
    let surface = Shape3::Sphere { radius: 1.9 }.surface(1e-2);
    let frame = Frame::new([-6.3, -6.1, -5.8], 1.0, [16, 12, 12]).expect("a box");
    let params = EmbedParams::new(2, 0.5, Fill::NonZero);
    bodies::mesh_of(&surface.expect("a sphere"), frame, &params)
}

/// Velocity, pressure and a moving patch; where they meet in corners, too.
fn everything<const D: usize>(mesh: &Mesh<D>) -> Params<D> {
    let mut params = flows::params(mesh, 0.05);
    params.faces[0] = [
        FaceCondition::Velocity(inflow()),
        FaceCondition::Pressure(1.0 + 0.01),
    ];
    params.faces[1] = [FaceCondition::FreeSlip, FaceCondition::Velocity(inflow())];
    params.patches = vec![PatchCondition::Wall {
        scheme: WallScheme::Quadratic,
        motion: Motion::Uniform(inflow()),
    }];
    params.acceleration = inflow::<D>().map(|u| 1e-3 * u);
    params.forces = true;
    params
}

fn inflow<const D: usize>() -> [f64; D] {
    std::array::from_fn(|a| [0.04, 0.005, -0.01][a])
}

const PLACES: [Place; 4] = [
    Place::Face(0, 0),
    Place::Face(0, 1),
    Place::Face(1, 1),
    Place::Patch(0),
];

/// What is at a place, by itself.
fn own<const D: usize>(place: Place) -> [f64; D] {
    match place {
        Place::Face(0, 1) => [0.01; D],
        _ => inflow(),
    }
}

fn state<const D: usize>(flow: &dyn LatticeFlow<D>) -> Vec<u8> {
    let mut bytes = Vec::new();
    flow.save(&mut bytes).expect("a state");
    bytes
}

fn after<const D: usize, K: cutlink_solver::kernels::FlowKernels<D>>(
    kernels: &K,
    mesh: &Mesh<D>,
    params: Params<D>,
    steps: u64,
) -> (Vec<u8>, Vec<cutlink_solver::ForceSample>) {
    let mut flow = flows::start(kernels, mesh, params);
    flow.set(&|_| (1.0, inflow())).expect("a start");
    flow.advance(steps).expect("steps");
    flow.check().expect("no divergence");
    (state(&*flow), flow.take_forces().expect("forces"))
}

fn constants<const D: usize, K: cutlink_solver::kernels::FlowKernels<D>>(
    kernels: &K,
    mesh: &Mesh<D>,
) {
    let plain = everything(mesh);
    let expected = after(kernels, mesh, plain.clone(), 12);
    let with = |make: fn([f64; D], Place) -> Variation<D>| {
        let mut params = plain.clone();
        params.variations = PLACES.map(|place| make(own(place), place)).to_vec();
        after(kernels, mesh, params, 12)
    };
    let found = [
        with(|own, place| in_time(place, move |_| own)),
        with(|own, place| variation(place, steady(move |_| own))),
        with(|own, place| variation(place, moving(move |_, _| own))),
    ];
    for (way, found) in found.iter().enumerate() {
        assert!(found.0 == expected.0, "the same bits, way {way}");
        assert_eq!(found.1, expected.1, "and forces, way {way}");
    }
    let other = with(|own, place| variation(place, steady(move |x| own.map(|u| u + 1e-9 * x[0]))));
    assert!(other.0 != expected.0, "another profile is another flow");
    let mut params = plain.clone();
    let pull = plain.acceleration;
    params.acceleration = [0.0; D];
    params.variations = vec![in_time(Place::Acceleration, move |_| pull)];
    let found = after(kernels, mesh, params, 12);
    assert!(found == expected, "an acceleration too");
}

/// From each of some conditions to each: with and without profiles, and periodic along an axis or not.
fn a_plan_takes_other_parameters<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let plain = everything(&mesh);
    let mut profiles = plain.clone();
    let space = || steady(|x: [f64; 2]| [0.03 + 1e-3 * x[1], 1e-4 * x[0]]);
    profiles.variations = PLACES.map(|place| variation(place, space())).to_vec();
    all_to_all(kernels, &mesh, [plain, profiles]);
    let coarse = circle_on(1);
    let mut periodic = everything(&coarse);
    periodic.faces[1] = [FaceCondition::Periodic; 2];
    all_to_all(kernels, &coarse, [everything(&coarse), periodic]);
}

fn all_to_all<K: AnyFlow>(kernels: &K, mesh: &Mesh<2>, of: [Params<2>; 2]) {
    let after = |plan: Plan<'_, 2>| {
        let inflow = PLACES.map(|place| plan.inflow(place));
        let told = (plan.levels.clone(), plan.census, inflow);
        let mut flow = plan.start(kernels).expect("a flow");
        flow.advance(12).expect("steps");
        (told, state(&*flow), flow.take_forces().expect("forces"))
    };
    let plan = |params: &Params<2>| Plan::new(mesh, params.clone()).expect("a plan");
    let expected = of.each_ref().map(|params| after(plan(params)));
    assert!(expected[0] != expected[1], "one is not the other");
    for (a, former) in of.iter().enumerate() {
        for (b, params) in of.iter().enumerate() {
            let plan = plan(former).with_params(params.clone()).expect("a plan");
            assert!(after(plan) == expected[b], "from {a} to {b}");
        }
    }
}

fn a_constant_told_as_a_variation_is_that_constant<K: AnyFlow>(kernels: &K) {
    constants(kernels, &circle());
    constants(kernels, &sphere());
}

fn a_rotating_patch_is_its_velocities<K: AnyFlow>(kernels: &K) {
    let mesh = sphere();
    let (center, omega) = ([6.0, 6.1, 5.5], [0.002, -0.001, 0.004]);
    let mut params = everything(&mesh);
    let scheme = WallScheme::Linear;
    let motion = Motion::Rotation { center, omega };
    params.patches = vec![PatchCondition::Wall { scheme, motion }];
    let turning = params.clone();
    let profile = steady(move |x: [f64; 3]| {
        let r = std::array::from_fn::<_, 3, _>(|a| x[a] - center[a]);
        std::array::from_fn(|a| {
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            omega[b] * r[c] - omega[c] * r[b]
        })
    });
    let motion = Motion::Uniform([0.01; 3]);
    params.patches = vec![PatchCondition::Wall { scheme, motion }];
    params.variations = vec![variation(Place::Patch(0), profile)];
    let [a, b] = [turning.clone(), params].map(|p| after(kernels, &mesh, p, 20).1);
    let slower = Params {
        variations: vec![in_time(Place::Patch(0), |_| [0.99; 3])],
        ..turning
    };
    let slower = after(kernels, &mesh, slower, 20).1;
    let torque = |of: &[cutlink_solver::ForceSample]| of[19].patches[0];
    let apart =
        |a: [f64; 6], b: [f64; 6]| worst(a.iter().zip(b).map(|(a, b)| (a - b).abs())) / a[5].abs();
    let wrong = apart(torque(&a), torque(&b));
    assert!(wrong < 1e-11, "{wrong}");
    let wrong = apart(torque(&a), torque(&slower));
    assert!(wrong > 1e-3, "and a hundredth less is less: {wrong}");
}

/// S(x) T(t) by its factors, and as one function.
fn products_are_what_they_multiply_to<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let space = |x: [f64; 2]| [0.03 + 1e-3 * (0.4 * x[1]).sin(), 1e-4 * x[0]];
    let time = |t: f64| [1.0 + 0.1 * (0.3 * t).sin(), 0.5 - 0.01 * t];
    let all = |make: &dyn Fn(Place) -> Variation<2>| {
        let mut params = everything(&mesh);
        params.variations = PLACES.map(make).to_vec();
        let mut flow = flows::start(kernels, &mesh, params);
        flow.advance(15).expect("steps");
        flow.snapshot().expect("a snapshot")
    };
    let factors = all(&|place| Variation {
        time: Some(Arc::new(move |t| Ok(time(t)))),
        ..variation(place, steady(space))
    });
    let whole = all(&|place| {
        let product = move |x, t| {
            let (s, t) = (space(x), time(t));
            [s[0] * t[0], s[1] * t[1]]
        };
        variation(place, moving(product))
    });
    let apart = |a: &[f32], b: &[f32]| worst(a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    let wrong = apart(&factors.velocity[0], &whole.velocity[0]);
    assert!(wrong < 1e-8, "{wrong}");
    let still = all(&|place| variation(place, steady(space)));
    let wrong = apart(&factors.velocity[0], &still.velocity[0]);
    assert!(wrong > 1e-4, "time counts: {wrong}");
}

fn restarts_keep_the_time<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let start = || {
        let mut params = everything(&mesh);
        params.precision = Precision::F32;
        params.variations = vec![
            in_time(Place::Acceleration, |t| [1e-4 * (0.2 * t).sin(), 0.0]),
            variation(
                Place::Face(0, 0),
                moving(|x, t| [0.03 + 0.01 * (0.3 * x[1] - 0.2 * t).sin(), 0.0]),
            ),
            in_time(Place::Patch(0), |t| [0.01 * (0.3 * t).cos(), 0.0]),
        ];
        flows::start(kernels, &mesh, params)
    };
    let mut straight = start();
    straight.advance(20).expect("steps");
    let mut first = start();
    first.advance(7).expect("steps");
    let middle = state(&*first);
    let mut second = start();
    second.advance(2).expect("steps that do not count");
    second.restore(&mut &middle[..]).expect("a state");
    let [a, b] = [&first, &second].map(|flow| flow.snapshot().expect("a snapshot"));
    assert_eq!(
        a.velocity, b.velocity,
        "half a step of the same acceleration"
    );
    second.advance(13).expect("steps");
    assert!(state(&*straight) == state(&*second), "the same bits");
    let mut late = start();
    late.restore(&mut &middle[..]).expect("a state");
    late.advance(12).expect("steps");
    assert!(state(&*straight) != state(&*late), "and no others");
}

/// A channel between plates; a parabola comes in, and a pressure lets it out.
fn an_inlet_with_a_parabola_has_no_entrance<K: AnyFlow>(kernels: &K) {
    let error = |n: u32, profile: bool| {
        let mesh = flows::empty_box([2 * n, n], 1, Vec::new());
        let (h, speed) = (f64::from(n), 0.002);
        let parabola = move |y: f64| 4.0 * speed * y * (h - y) / (h * h);
        let mut params = flows::params(&mesh, 0.1);
        params.faces = [
            [
                FaceCondition::Velocity([2.0 / 3.0 * speed, 0.0]),
                FaceCondition::Pressure(1.0),
            ],
            [FaceCondition::Velocity([0.0; 2]); 2],
        ];
        if profile {
            let space = steady(move |x: [f64; 2]| [parabola(x[1]), 0.0]);
            params.variations = vec![variation(Place::Face(0, 0), space)];
        }
        let mut flow = flows::start(kernels, &mesh, params);
        flow.set(&|x| (1.0, [parabola(x[1]), 0.0]))
            .expect("a start");
        flow.advance(u64::from(30 * n * n)).expect("steps");
        let mut most = 0.0;
        flows::each_cell(
            &mesh,
            &flow.snapshot().expect("a snapshot"),
            |x, _, _, u| {
                // The outlet disturbs what is less than a width away.
                if x[0] > 1.0 && x[0] < h {
                    most = worst([most, (u[0] - parabola(x[1])).abs(), u[1].abs()]);
                }
            },
        );
        most / speed
    };
    let [coarse, fine] = [16, 32].map(|n| error(n, true));
    // The inlet lets the mass flow of the parabola in, which at the middles of cells is larger by 1 / (2 n²), and turns round what
    // goes into a wall (decision 045): the cells behind it are off to first order.
    assert!(
        fine < 2.8e-3 && (coarse / fine).log2() > 0.6,
        "{coarse} {fine}"
    );
    assert!(error(16, false) > 0.1, "a plug has an entrance");
}

/// Velocity between plates at -1 and 1 under a cos(ω t): Womersley (1955) in 2D. `beta` is α √i; amplitude a / ω.
fn womersley(y: f64, phase: f64, alpha: f64) -> f64 {
    // cosh of a complex number.
    let cosh = |s: f64| {
        let k = s * alpha / 2f64.sqrt();
        (k.cosh() * k.cos(), k.sinh() * k.sin())
    };
    let ((a, b), (c, d)) = (cosh(y), cosh(1.0));
    let square = c * c + d * d;
    let (re, im) = (1.0 - (a * c + b * d) / square, -(b * c - a * d) / square);
    // Real part of (re + i im) exp(i phase) / i.
    re * phase.sin() + im * phase.cos()
}

/// How far a flow is from Womersley's, in the L2 norm over a period, of the largest velocity.
fn from_womersley<K: AnyFlow>(
    kernels: &K,
    mesh: &Mesh<2>,
    viscosity: f64,
    alpha: f64,
    set_up: impl Fn(&mut Params<2>, f64, f64),
    at: impl Fn([f64; 2]) -> bool,
) -> f64 {
    let h = f64::from(mesh.frame.root_cells[1]);
    let omega = 4.0 * alpha * alpha * viscosity / (h * h);
    let speed = 1e-3;
    let mut params = flows::params(mesh, viscosity);
    params.faces[1] = [FaceCondition::Velocity([0.0; 2]); 2];
    set_up(&mut params, speed * omega, omega);
    let exact = |x: [f64; 2], t: f64| {
        [
            speed * womersley(2.0 * x[1] / h - 1.0, omega * t, alpha),
            0.0,
        ]
    };
    let mut flow = flows::start(kernels, mesh, params);
    flow.set(&|x| (1.0, exact(x, 0.0))).expect("a start");
    let period = TAU / omega;
    flow.advance((2.0 * period) as u64).expect("steps");
    let (mut wrong, mut count) = (0.0, 0.0);
    for _ in 0..8 {
        flow.advance((period / 8.0) as u64).expect("steps");
        let time = flow.steps() as f64;
        flows::each_cell(
            mesh,
            &flow.snapshot().expect("a snapshot"),
            |x, volume, _, u| {
                if at(x) {
                    let e = exact(x, time);
                    wrong += volume * ((u[0] - e[0]).powi(2) + u[1].powi(2));
                    count += volume;
                }
            },
        );
    }
    (wrong / count).sqrt() / speed
}

fn womersley_by_acceleration<K: AnyFlow>(kernels: &K) {
    let lower = RegionShape::Box {
        lower: [0.0; 3],
        upper: [8.0, 8.0, 1.0],
    };
    let refined = vec![Region {
        shape: lower,
        levels: 2,
    }];
    for (mesh, alpha, bound) in [
        (flows::empty_box([4, 32], 1, Vec::new()), 4.0, 2e-3),
        (flows::empty_box([4, 48], 1, Vec::new()), 10.0, 5e-3),
        (flows::empty_box([8, 32], 2, refined), 4.0, 5e-3),
    ] {
        let pull = |late: f64| {
            from_womersley(
                kernels,
                &mesh,
                0.1,
                alpha,
                |params, size, omega| {
                    let of = move |t: f64| [size * (omega * t + late).cos(), 0.0];
                    params.variations = vec![in_time(Place::Acceleration, of)];
                },
                |_| true,
            )
        };
        let wrong = pull(0.0);
        assert!(wrong < bound, "alpha {alpha}: {wrong}");
        assert!(pull(0.03) > 1.5 * bound, "a hundredth of a radian counts");
    }
}

fn womersley_by_pressure<K: AnyFlow>(kernels: &K) {
    // Sound crosses the channel in a thirtieth of a period; the openings disturb the flow about a width away.
    let mesh = flows::empty_box([48, 16], 1, Vec::new());
    let wrong = from_womersley(
        kernels,
        &mesh,
        0.01,
        4.0,
        |params, size, omega| {
            params.faces[0] = [FaceCondition::Pressure(1.0); 2];
            // p = ρ / 3 falls by `size` a cell.
            params.variations = [(0, 0.5), (1, -0.5)]
                .map(|(side, share)| {
                    let of = move |t: f64| [3.0 * 48.0 * share * size * (omega * t).cos(); 2];
                    in_time(Place::Face(0, side), of)
                })
                .to_vec();
        },
        |x| (20.0..28.0).contains(&x[0]),
    );
    // The ends take a part of the pressure: 2.0 %.
    assert!(wrong < 2.5e-2, "{wrong}");
}

fn values_that_are_none_are_refused<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let with = |variation: Variation<2>| {
        let mut params = everything(&mesh);
        params.variations = vec![variation];
        Plan::new(&mesh, params)
    };
    // The face lies at 0.
    let steep = steady(|x: [f64; 2]| [1.0 / x[0], 0.0]);
    let said = with(variation(Place::Face(0, 0), steep)).expect_err("1 / 0");
    let said = said.to_string();
    assert!(said.contains("a test's") && said.contains("inf"), "{said}");
    let late = in_time(Place::Patch(0), |t| [1e-3 / (t - 5.5), 0.0]);
    let mut flow = with(late).expect("a plan").start(kernels).expect("a start");
    flow.advance(5).expect("steps before");
    let said = flow.advance(1).expect_err("1 / 0").to_string();
    assert!(said.contains("a test's") && said.contains("5.5"), "{said}");
}
