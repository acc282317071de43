use cutlink_mesher::{Surface, primitives::Shape2};
use cutlink_solver::{
    Collision, FaceCondition, HeatCondition, HeatSums, LatticeFlow, LatticeHeat, Params, Precision,
    Snapshot, SolverError,
};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, Region, RegionShape};
use std::f64::consts::PI;

cutlink_tests::backend_test!(
    on_one_thread:
    a_slab_has_a_straight_profile,
    a_slab_in_space_with_a_flux,
    a_ring_conducts_by_the_logarithm,
    a_carried_bell_is_of_second_order,
    levels_pass_a_bell_on,
    insulated_boxes_keep_their_heat,
    what_comes_is_what_has_come_through,
    cavities_have_the_numbers_of_de_vahl_davis if slow_tests,
    a_cavity_in_space_is_one_in_the_plane if slow_tests,
    flows_with_heat_go_on_from_a_state,
    a_passive_temperature_leaves_the_flow_alone
);

const STILL: [FaceCondition<2>; 2] = [FaceCondition::Velocity([0.0; 2]); 2];

/// Parameters with heat of a diffusivity; insulated.
fn params<const D: usize>(mesh: &Mesh<D>, viscosity: f64, diffusivity: f64) -> Params<D> {
    let mut params = flows::params(mesh, viscosity);
    params.heat = Some(LatticeHeat::new(diffusivity, mesh.patches.len()));
    params
}

fn heat<const D: usize>(params: &mut Params<D>) -> &mut LatticeHeat<D> {
    params.heat.as_mut().expect("heat")
}

fn sums<const D: usize>(flow: &dyn LatticeFlow<D>) -> HeatSums {
    flow.heat().expect("sums").expect("heat")
}

/// Largest difference from a temperature, and the mean square of it.
fn errors<const D: usize>(
    flow: &dyn LatticeFlow<D>,
    exact: impl Fn([f64; D]) -> f64,
) -> (f64, f64) {
    let mut found = Vec::new();
    flow.temperature(&mut found).expect("temperatures");
    // As densities: so that places of cells are told in one place.
    let none = flow.snapshot().expect("a snapshot");
    let of = Snapshot {
        density: found,
        ..none
    };
    let (mut all, mut square, mut volume) = (Vec::new(), 0.0, 0.0);
    flows::each_cell(flow.mesh().expect("a mesh"), &of, |x, size, t, _| {
        let off = t - exact(x);
        all.push(off.abs());
        square += size * off * off;
        volume += size;
    });
    (worst(all), (square / volume).sqrt())
}

fn a_slab_has_a_straight_profile<K: AnyFlow>(kernels: &K) {
    let shape = RegionShape::Box {
        lower: [0.0; 3],
        upper: [8.0, 6.0, 1.0],
    };
    for (levels, bound) in [(1, 1e-6), (2, 1e-6)] {
        let regions = vec![Region { shape, levels }];
        let mesh = flows::empty_box([8, 16], levels, regions);
        let mut params = params(&mesh, 0.1, 0.1);
        params.faces[1] = STILL;
        let of = heat(&mut params);
        of.faces[1] = [300.0, 310.0].map(HeatCondition::Temperature);
        of.reference = 300.0;
        let mut flow = flows::start(kernels, &mesh, params);
        flow.advance(10_000).expect("steps");
        let before = sums(&*flow);
        let (error, _) = errors(&*flow, |x| 300.0 + 10.0 * x[1] / 16.0);
        assert!(error < 310.0 * bound, "{levels} levels: {error}");
        flow.advance(100).expect("steps");
        let now = sums(&*flow);
        let passes = 0.1 * 10.0 / 16.0 * 8.0 * 100.0;
        let [below, above] = [2, 3].map(|n| now.through[n] - before.through[n]);
        assert!((above - passes).abs() < 1e-9 * passes, "{above} {passes}");
        assert!((below + passes).abs() < 1e-9 * passes, "{below} {passes}");
    }
}

fn a_slab_in_space_with_a_flux<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([4, 4, 12], 1, Vec::new());
    let mut params = params(&mesh, 0.1, 0.12);
    params.faces[2] = [FaceCondition::Velocity([0.0; 3]); 2];
    let flux = 0.03;
    heat(&mut params).faces[2] = [HeatCondition::Flux(flux), HeatCondition::Temperature(1.0)];
    let mut flow = flows::start(kernels, &mesh, params);
    flow.advance(15_000).expect("steps");
    let (error, _) = errors(&*flow, |x| 1.0 + flux / 0.12 * (12.0 - x[2]));
    assert!(error < 1e-6, "{error}");
}

const MIDDLE: [f64; 2] = [0.13, -0.21];

/// The ring between two circles about the middle of a square of `n` cells: radii in cells.
fn ring(n: u32, radii: [f64; 2]) -> Mesh<2> {
    let mut all = Surface::<2>::single_patch(Vec::new(), Vec::new(), "inner");
    all.patches.push("outer".into());
    for (patch, radius) in radii.into_iter().enumerate() {
        let circle: Surface<2> = Shape2::Circle { radius }.surface(1e-3).expect("a circle");
        let first = all.vertices.len() as u32;
        let at = |p: &[f64; 2]| std::array::from_fn(|a| p[a] + MIDDLE[a] + 0.5 * f64::from(n));
        all.vertices.extend(circle.vertices.iter().map(at));
        all.facets
            .extend(circle.facets.iter().map(|f| f.map(|v| v + first)));
        all.facet_patch
            .extend(circle.facets.iter().map(|_| patch as u16));
    }
    let frame = Frame::new([0.0; 2], 1.0, [n; 2]).expect("a box");
    bodies::mesh_of(&all, frame, &EmbedParams::new(1, 0.0, Fill::Even))
}

/// Errors of the temperature and of the heat through both circles.
fn ring_errors<K: AnyFlow>(kernels: &K, n: u32) -> [f64; 3] {
    let scale = f64::from(n) / 32.0;
    let [a, b] = [6.3 * scale, 13.7 * scale];
    let mesh = ring(n, [a, b]);
    let mut params = params(&mesh, 0.1, 0.2);
    params.faces = [STILL; 2];
    heat(&mut params).patches = [1.0, 0.0].map(HeatCondition::Temperature).to_vec();
    let mut flow = flows::start(kernels, &mesh, params);
    flow.advance((1500.0 * scale * scale) as u64)
        .expect("steps");
    let before = sums(&*flow);
    let exact = |x: [f64; 2]| {
        let d: [f64; 2] = std::array::from_fn(|a| x[a] - MIDDLE[a] - 0.5 * f64::from(n));
        (b / d[0].hypot(d[1])).ln() / (b / a).ln()
    };
    let (error, _) = errors(&*flow, exact);
    flow.advance(100).expect("steps");
    let now = sums(&*flow);
    let passes = 100.0 * 0.2 * 2.0 * PI / (b / a).ln();
    let [inner, outer] = [4, 5].map(|n| now.through[n] - before.through[n]);
    [
        error,
        (inner / passes - 1.0).abs(),
        (outer / passes + 1.0).abs(),
    ]
}

fn a_ring_conducts_by_the_logarithm<K: AnyFlow>(kernels: &K) {
    let found = [32, 64].map(|n| ring_errors(kernels, n));
    let order = (found[0][0] / found[1][0]).log2();
    assert!(
        order > 1.7 && found[1][0] < 1.5e-3,
        "order {order}: {found:?}"
    );
    assert!(found[1][1] < 3e-3 && found[1][2] < 3e-3, "{found:?}");
}

/// A bell that a uniform stream carries through a periodic box, and that spreads.
fn bell(n: f64, u: [f64; 2], diffusivity: f64, time: f64) -> impl Fn([f64; 2]) -> f64 {
    let start = (0.09 * n).powi(2);
    let square = start + 2.0 * diffusivity * time;
    move |x| {
        let of_axis = |a: usize| -> f64 {
            let image = |k: f64| {
                let d = x[a] - 0.3 * n - u[a] * time + k * n;
                (-0.5 * d * d / square).exp()
            };
            (-3..=3).map(|k| image(f64::from(k))).sum()
        };
        start / square * of_axis(0) * of_axis(1)
    }
}

/// The error of such a bell after half the box, relative to its height, and the heat lost.
fn carried<K: AnyFlow>(kernels: &K, mesh: &Mesh<2>, u: [f64; 2]) -> (f64, f64) {
    let n = f64::from(mesh.frame.root_cells[0]);
    let (diffusivity, steps) = (2.5e-4 * n, (0.5 * n / u[0]).round());
    let params = params(mesh, 0.05, diffusivity);
    let mut flow = flows::start(kernels, mesh, params);
    flow.set_uniform(1.0, u).expect("a stream");
    flow.set_temperature(&bell(n, u, diffusivity, 0.0))
        .expect("a bell");
    let before = sums(&*flow).heat;
    flow.advance(steps as u64).expect("steps");
    let (_, error) = errors(&*flow, bell(n, u, diffusivity, steps));
    (error, (sums(&*flow).heat / before - 1.0).abs())
}

fn a_carried_bell_is_of_second_order<K: AnyFlow>(kernels: &K) {
    let found = [32, 64, 128].map(|n| {
        let mesh = flows::empty_box([n; 2], 1, Vec::new());
        carried(kernels, &mesh, [0.1, 0.08])
    });
    let order = (found[1].0 / found[2].0).log2();
    assert!(order > 1.9 && found[2].0 < 1e-3, "order {order}: {found:?}");
    assert!(worst(found.map(|of| of.1)) < 1e-12, "{found:?}");
}

fn levels_pass_a_bell_on<K: AnyFlow>(kernels: &K) {
    let found = [32, 64].map(|n| {
        let edge = f64::from(n);
        let shape = RegionShape::Box {
            lower: [0.375 * edge, 0.25 * edge, 0.0],
            upper: [0.625 * edge, 0.75 * edge, 1.0],
        };
        let mesh = flows::empty_box([n; 2], 2, vec![Region { shape, levels: 2 }]);
        carried(kernels, &mesh, [0.1, 0.08])
    });
    let order = (found[0].0 / found[1].0).log2();
    assert!(order > 1.7 && found[1].0 < 3e-3, "order {order}: {found:?}");
    assert!(worst(found.map(|of| of.1)) < 1e-12, "{found:?}");
}

/// A closed box with a circle in it and three levels around that.
fn refined() -> Mesh<2> {
    let circle: Surface<2> = Shape2::Circle { radius: 3.3 }
        .surface(1e-3)
        .expect("a circle");
    let frame = Frame::new([-16.2, -15.9], 1.0, [32; 2]).expect("a box");
    bodies::mesh_of(&circle, frame, &EmbedParams::new(3, 1.0, Fill::NonZero))
}

/// Weight and walls of a flow in such a box.
fn heavy(mesh: &Mesh<2>) -> Params<2> {
    let mut params = params(mesh, 0.02, 0.03);
    params.collision = Collision::Regularized;
    params.faces = [STILL; 2];
    heat(&mut params).lift = [0.0, 2e-4];
    params
}

fn blob(x: [f64; 2]) -> f64 {
    (-0.02 * ((x[0] - 14.0).powi(2) + (x[1] - 8.0).powi(2))).exp()
}

fn insulated_boxes_keep_their_heat<K: AnyFlow>(kernels: &K) {
    let mesh = refined();
    let mut flow = flows::start(kernels, &mesh, heavy(&mesh));
    flow.set_temperature(&blob).expect("temperatures");
    let before = sums(&*flow);
    flow.advance(1000).expect("steps");
    flow.check().expect("no divergence");
    let now = sums(&*flow);
    assert!(
        (now.heat / before.heat - 1.0).abs() < 1e-12,
        "{before:?} {now:?}"
    );
    assert!(
        now.square < 0.5 * before.square,
        "it spreads: {before:?} {now:?}"
    );
    let fastest = worst(
        flow.snapshot().expect("a snapshot").velocity[1]
            .iter()
            .map(|u| f64::from(u.abs())),
    );
    assert!(fastest > 5e-3, "it rises: {fastest}");
}

fn what_comes_is_what_has_come_through<K: AnyFlow>(kernels: &K) {
    let mesh = refined();
    let mut params = heavy(&mesh);
    params.faces[0] = [FaceCondition::Velocity([0.04, 0.0]), FaceCondition::Outflow];
    params.faces[1] = [FaceCondition::FreeSlip; 2];
    let of = heat(&mut params);
    of.faces[0][0] = HeatCondition::Temperature(0.25);
    of.faces[1] = [HeatCondition::Flux(1e-3), HeatCondition::Temperature(-0.5)];
    of.patches = vec![HeatCondition::Temperature(1.0)];
    let mut flow = flows::start(kernels, &mesh, params);
    flow.set_temperature(&blob).expect("temperatures");
    let before = sums(&*flow).heat;
    flow.advance(500).expect("steps");
    flow.check().expect("no divergence");
    let now = sums(&*flow);
    let came: f64 = now.through.iter().sum();
    let size: f64 = now.through.iter().map(|of| of.abs()).sum();
    assert!((now.heat - before - came).abs() < 1e-12 * size, "{now:?}");
    assert!(
        worst(
            now.through[..]
                .iter()
                .map(|of| f64::from(u8::from(*of == 0.0)))
        ) == 0.0,
        "{now:?}"
    );
    assert!(
        (now.through[2] - 500.0 * 32.0 * 1e-3).abs() < 1e-9,
        "a flux is what is given: {now:?}"
    );
}

/// The mean Nusselt number of the hot wall of a cavity with so many cells an edge, at a Rayleigh number.
fn nusselt<const D: usize, K: AnyFlow + cutlink_solver::kernels::FlowKernels<D>>(
    kernels: &K,
    mesh: &Mesh<D>,
    rayleigh: f64,
    transits: f64,
) -> f64 {
    let (edge, prandtl, speed) = (f64::from(mesh.frame.root_cells[0]), 0.71, 0.1);
    let viscosity = speed * edge * (prandtl / rayleigh).sqrt();
    let mut params = params(mesh, viscosity, viscosity / prandtl);
    for pair in &mut params.faces[..2] {
        *pair = [FaceCondition::Velocity([0.0; D]); 2];
    }
    let of = heat(&mut params);
    of.faces[0] = [0.5, -0.5].map(HeatCondition::Temperature);
    of.lift[1] = speed * speed / edge;
    let diffusivity = of.diffusivity;
    let depth: f64 = mesh.frame.root_cells[2..]
        .iter()
        .map(|&n| f64::from(n))
        .product();
    let mut flow = flows::start(kernels, mesh, params);
    flow.advance((transits * edge / speed) as u64)
        .expect("steps");
    let before = sums(&*flow).through;
    flow.advance(100).expect("steps");
    let now = sums(&*flow).through;
    let [hot, cold] = [0, 1].map(|n| (now[n] - before[n]) / (100.0 * diffusivity * depth));
    assert!(
        (hot + cold).abs() < 2e-3 * hot,
        "it is steady: {hot} {cold}"
    );
    hot
}

fn cavities_have_the_numbers_of_de_vahl_davis<K: AnyFlow>(kernels: &K) {
    // De Vahl Davis 1983, table I.
    for (rayleigh, cells, printed, bound) in [
        (1e3, 32, 1.118, 5e-3),
        (1e4, 48, 2.243, 5e-3),
        (1e5, 64, 4.519, 1e-2),
    ] {
        let mesh = flows::empty_box([cells; 2], 1, Vec::new());
        let found = nusselt(kernels, &mesh, rayleigh, 60.0);
        assert!(
            (found / printed - 1.0).abs() < bound,
            "{rayleigh:e}: {found}, printed {printed}"
        );
    }
}

fn a_cavity_in_space_is_one_in_the_plane<K: AnyFlow>(kernels: &K) {
    let plane = flows::empty_box([20; 2], 1, Vec::new());
    let space = flows::empty_box([20, 20, 4], 1, Vec::new());
    let [plane, space] = [
        nusselt(kernels, &plane, 1e4, 50.0),
        nusselt(kernels, &space, 1e4, 50.0),
    ];
    // D2Q9 and D3Q19 differ in fourth order.
    assert!((plane / space - 1.0).abs() < 3e-3, "{plane} {space}");
}

fn flows_with_heat_go_on_from_a_state<K: AnyFlow>(kernels: &K) {
    let mesh = refined();
    for precision in [Precision::F64, Precision::F32] {
        let mut params = heavy(&mesh);
        params.precision = precision;
        heat(&mut params).patches = vec![HeatCondition::Temperature(1.0)];
        let mut flow = flows::start(kernels, &mesh, params.clone());
        flow.set_temperature(&blob).expect("temperatures");
        flow.advance(51).expect("steps");
        let mut saved = Vec::new();
        flow.save(&mut saved).expect("a state");
        flow.advance(50).expect("steps");
        let mut other = flows::start(kernels, &mesh, params);
        other.restore(&mut saved.as_slice()).expect("a state");
        other.advance(50).expect("steps");
        let (mut ends, mut sizes) = (Vec::new(), Vec::new());
        for flow in [&flow, &other] {
            let mut end = Vec::new();
            flow.save(&mut end).expect("a state");
            sizes.push(sums(&**flow));
            ends.push(end);
        }
        assert!(ends[0] == ends[1], "{precision}");
        assert_eq!(sizes[0], sizes[1], "{precision}");
    }
}

fn a_passive_temperature_leaves_the_flow_alone<K: AnyFlow>(kernels: &K) {
    let mesh = refined();
    let mut plain = heavy(&mesh);
    plain.faces[0] = [FaceCondition::Velocity([0.04, 0.0]), FaceCondition::Outflow];
    heat(&mut plain).lift = [0.0; 2];
    let mut without = plain.clone();
    without.heat = None;
    let [a, b] = [plain, without].map(|params| {
        let mut flow = flows::start(kernels, &mesh, params);
        flow.advance(40).expect("steps");
        flow.snapshot().expect("a snapshot")
    });
    assert_eq!(a.density, b.density);
    assert_eq!(a.velocity, b.velocity);
}

#[test]
fn what_has_no_heat_is_refused_by_name() {
    type Change = fn(&mut Params<2>);
    const CASES: [(&str, Change); 8] = [
        ("a time step of", |p| heat(p).diffusivity = 0.07),
        ("the thermal diffusivity", |p| heat(p).diffusivity = 0.0),
        ("16 bits", |p| p.precision = Precision::F16),
        ("eddy", |p| p.les = cutlink_solver::Les::SMAGORINSKY),
        ("a wall model has none", |p| p.modeled = vec![0]),
        ("its cells have more area", |p| {
            heat(p).patches[0] = HeatCondition::Flux(1.0)
        }),
        ("a face that fluid passes", |p| {
            p.faces[0] = [FaceCondition::Outflow; 2];
            heat(p).faces[0][1] = HeatCondition::Flux(1.0);
        }),
        ("a patch is an opening", |p| {
            p.patches[0] = cutlink_solver::PatchCondition::Pressure(1.0);
        }),
    ];
    let mesh = refined();
    cutlink_solver::Plan::new(&mesh, heavy(&mesh)).expect("a flow");
    for (part, change) in CASES {
        let mut params = heavy(&mesh);
        change(&mut params);
        let error: SolverError = cutlink_solver::Plan::new(&mesh, params).expect_err(part);
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    let plan = cutlink_solver::Plan::new(&mesh, heavy(&mesh)).expect("a flow");
    let error = plan.start_ranks(&[cutlink_device::Host, cutlink_device::Host]);
    let error = error.err().expect("an error").to_string();
    assert!(error.contains("one rank"), "{error}");
}
