//! Grains in lattice Boltzmann flows: drag, torque, weight, momentum, impacts, states, refusals.

use cutlink_grains::{Bed, BoxAxis, Grain, GrainBox, GrainParams, Material, Materials, Touch};
use cutlink_solver::{
    Collision, FaceCondition, GrainScale, LatticeFlow, LatticeGrains, LatticeKind, Les, Params,
    Plan, Precision, SolverError, kernels::FlowKernels,
};
use cutlink_tests::{
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{Mesh, Region, RegionShape};
use std::f64::consts::PI;

cutlink_tests::backend_test!(
    on_one_thread:
    the_drag_of_an_array_is_that_of_zick_and_homsy,
    an_array_that_falls_has_that_drag,
    a_sphere_that_turns_has_the_torque_of_stokes,
    a_sphere_at_rest_has_its_weight_on_the_floor,
    a_sphere_nears_a_wall_as_by_brenner,
    momentum_is_kept_through_impacts,
    a_neutral_sphere_goes_with_the_stream,
    all_lattices_and_collisions_carry_grains,
    spheres_on_a_finer_level_fall_alike,
    a_state_with_grains_goes_on_with_its_bits,
    what_cannot_be_is_refused
);

const UNITS: GrainScale = GrainScale {
    origin: [0.0; 3],
    length: 1.0,
    time: 1.0,
    density: 1.0,
};

/// A bed of one material in a box with periodic faces or walls.
fn bed(size: [f64; 3], density: f64, is_periodic: bool, grains: &[Grain]) -> Bed {
    let material = Material {
        young: 1.0,
        poisson: 0.3,
        density,
    };
    let touch = Touch {
        restitution: 0.8,
        friction: 0.3,
        rolling: 0.0,
    };
    let materials = Materials::alike(&[material], touch).expect("a material");
    let mut domain = GrainBox::closed([0.0; 3], size, 0);
    if is_periodic {
        domain.axes = [BoxAxis::Periodic; 3];
    }
    Bed::start(GrainParams::new(materials, domain, 0.02), None, grains).expect("a sound start")
}

fn of(bed: Bed, gravity: [f64; 3]) -> LatticeGrains {
    LatticeGrains {
        bed,
        scale: UNITS,
        gravity,
        held: false,
    }
}

fn start<'a, K: FlowKernels<3>>(
    kernels: &K,
    mesh: &'a Mesh<3>,
    params: Params<3>,
    grains: LatticeGrains,
) -> Box<dyn LatticeFlow<3> + 'a> {
    let plan = Plan::new(mesh, params).unwrap_or_else(|e| panic!("{e}"));
    let plan = plan.with_grains(grains).unwrap_or_else(|e| panic!("{e}"));
    plan.start(kernels).unwrap_or_else(|e| panic!("{e}"))
}

/// Eight copies of a grain in the middle of cubes of an edge: an array, for a bed needs a longer period than one.
fn eight(edge: f64, grain: Grain) -> Vec<Grain> {
    let copy = |k: u32| {
        let mut copy = grain;
        for (a, x) in copy.center.iter_mut().enumerate() {
            *x += edge * (0.5 + f64::from(k >> a & 1));
        }
        copy
    };
    (0..8).map(copy).collect()
}

/// Mean velocity of all cells, those in grains too.
fn mean(flow: &dyn LatticeFlow<3>) -> [f64; 3] {
    let (mut sum, mut volume) = ([0.0; 3], 0.0);
    let snapshot = flow.snapshot().expect("a snapshot");
    flows::each_cell(flow.mesh().expect("a mesh"), &snapshot, |_, size, _, u| {
        (0..3).for_each(|a| sum[a] += size * u[a]);
        volume += size;
    });
    sum.map(|sum| sum / volume)
}

/// Radius of the spheres of a cubic array, whose share of the volume is 0.064, over the edge of a cube; and the drag there over
/// Stokes' (Zick & Homsy 1982).
const SHARE: f64 = 0.064;
const DRAG: f64 = 2.810;

fn radius(edge: f64) -> f64 {
    edge * (3.0 * SHARE / (4.0 * PI)).cbrt()
}

/// A place off the middle of a cube and of cells.
const OFF: [f64; 3] = [0.2, 0.07, -0.12];

fn the_drag_of_an_array_is_that_of_zick_and_homsy<K: AnyFlow>(kernels: &K) {
    // Diameters of 6 and 8 cells.
    for (cells, viscosity, within) in [(12, 0.1, 0.015), (16, 0.04, 0.01)] {
        let edge = f64::from(cells);
        let mesh = flows::empty_box([2 * cells; 3], 1, Vec::new());
        let mut params = flows::params(&mesh, viscosity);
        let drive = 1e-6 / edge;
        params.acceleration = [drive, 0.0, 0.0];
        let grains = eight(edge, Grain::at(OFF, radius(edge)));
        let mut grains = of(bed([2.0 * edge; 3], 2.0, true, &grains), [0.0; 3]);
        grains.held = true;
        let mut flow = start(kernels, &mesh, params, grains);
        flow.advance((0.8 * edge * edge / viscosity) as u64)
            .expect("steps");
        let stokes = 6.0 * PI * viscosity * radius(edge) * mean(&*flow)[0];
        let push = drive * edge.powi(3);
        let off = push / stokes / DRAG - 1.0;
        assert!(off.abs() < within, "{cells} cells, {viscosity}: {off:+.4}");
        // At rest, the drive is what the spheres take.
        let forces = flow.grain_loads();
        assert_eq!(forces.len(), 8);
        let taken = worst(forces.iter().map(|f| (f[0][0] / push - 1.0).abs()));
        assert!(taken < 1e-3, "{taken}");
    }
}

fn an_array_that_falls_has_that_drag<K: AnyFlow>(kernels: &K) {
    let (edge, viscosity, ratio, wanted) = (12.0, 0.1, 1.5, 0.01);
    let mesh = flows::empty_box([24; 3], 1, Vec::new());
    let mut params = flows::params(&mesh, viscosity);
    let weight = DRAG * 6.0 * PI * viscosity * radius(edge) * wanted;
    let volume = SHARE * edge.powi(3);
    let g = weight / ((ratio - 1.0) * volume);
    // Not along an axis; the fluid gets what the weight gives, so that all stays where it is on the whole.
    let along = [-0.8, -0.6, 0.0];
    let up = weight / edge.powi(3);
    params.acceleration = along.map(|x| -up * x);
    let grains = eight(edge, Grain::at(OFF, radius(edge)));
    let grains = bed([2.0 * edge; 3], ratio, true, &grains);
    let mut flow = start(kernels, &mesh, params, of(grains, along.map(|x| g * x)));
    flow.advance((1.2 * edge * edge / viscosity) as u64)
        .expect("steps");
    let (mut speeds, mut forces) = (Vec::new(), Vec::new());
    for _ in 0..400 {
        flow.advance(1).expect("a step");
        let u = flow.bed().expect("a bed").grains()[0].velocity;
        let f = flow.grain_loads()[0][0];
        speeds.push((0..3).map(|a| u[a] * along[a]).sum::<f64>());
        forces.push((0..3).map(|a| f[a] * along[a]).sum::<f64>());
    }
    let mean_of = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let fluid = mean(&*flow);
    let slip = mean_of(&speeds) - (0..3).map(|a| fluid[a] * along[a]).sum::<f64>();
    assert!((wanted / slip - 1.0).abs() < 0.015, "{slip}");
    let force = mean_of(&forces);
    let noise = worst(forces.iter().map(|f| (f / force - 1.0).abs()));
    assert!(noise < 0.01, "{noise}");
}

fn a_sphere_that_turns_has_the_torque_of_stokes<K: AnyFlow>(kernels: &K) {
    let (edge, viscosity, r, spin) = (20.0, 0.1, 3.3, 0.004);
    let mesh = flows::empty_box([40; 3], 1, Vec::new());
    let params = flows::params(&mesh, viscosity);
    let mut grain = Grain::at(OFF, r);
    grain.spin = [0.6 * spin, 0.0, 0.8 * spin];
    // So heavy that it goes on.
    let bed = bed([2.0 * edge; 3], 1e8, true, &eight(edge, grain));
    let mut flow = start(kernels, &mesh, params, of(bed, [0.0; 3]));
    flow.advance(2000).expect("steps");
    let load = flow.grain_loads()[0];
    let stokes = 8.0 * PI * viscosity * r.powi(3) * spin;
    let found = -(0.6 * load[1][0] + 0.8 * load[1][2]) / stokes;
    // An array of spheres that turn alike: more by about its share of the volume, here 1.9 %.
    assert!((found / 1.019 - 1.0).abs() < 0.04, "{found}");
    let others = worst(
        load[0]
            .iter()
            .chain(&[load[1][1]])
            .map(|x| x.abs() / stokes),
    );
    assert!(others < 0.002, "{others}");
}

fn a_sphere_at_rest_has_its_weight_on_the_floor<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([16, 16, 16], 1, Vec::new());
    let mut params = flows::params(&mesh, 0.1);
    params.faces = [[FaceCondition::Velocity([0.0; 3]); 2]; 3];
    let (r, g) = (3.0, 2e-5);
    let bed = bed(
        [16.0; 3],
        2.0,
        false,
        &[Grain::at([8.0, 8.2, r - 0.012], r)],
    );
    let mut flow = start(kernels, &mesh, params, of(bed, [0.0, 0.0, -g]));
    flow.advance(4000).expect("steps");
    let bed = flow.bed().expect("a bed");
    let volume = 4.0 / 3.0 * PI * r.powi(3);
    let contacts = bed.wall_loads();
    let force: f64 = contacts.iter().map(|of| of.force[2]).sum();
    assert!((force.abs() / (volume * g) - 1.0).abs() < 2e-3, "{force}");
    let off = worst(flow.grain_loads()[0].as_flattened().iter().map(|x| x.abs()));
    assert!(off < 2e-3 * volume * g, "{off}");
    let moves = worst(bed.grains()[0].velocity.map(f64::abs));
    assert!(moves < 1e-6, "{moves}");
}

/// The drag of a sphere whose surface is h radii from a wall, which it nears, over Stokes' (Brenner 1961, equation 2.19).
fn brenner(h: f64) -> f64 {
    let alpha = (1.0 + h).acosh();
    let term = |n: f64| {
        let (odd, middle) = ((2.0 * n + 1.0) * alpha, (n + 0.5) * alpha);
        let over = 2.0 * odd.sinh() + (2.0 * n + 1.0) * (2.0 * alpha).sinh();
        let under = 4.0 * middle.sinh().powi(2) - ((2.0 * n + 1.0) * alpha.sinh()).powi(2);
        n * (n + 1.0) / ((2.0 * n - 1.0) * (2.0 * n + 3.0)) * (over / under - 1.0)
    };
    4.0 / 3.0 * alpha.sinh() * (1..100).map(|n| term(f64::from(n))).sum::<f64>()
}

fn a_sphere_nears_a_wall_as_by_brenner<K: AnyFlow>(kernels: &K) {
    // As printed there in table 1, for acosh(1 + h) of 1 and 3.
    let printed = [(1.0f64, 3.0361), (3.0, 1.1252)];
    let off = printed.map(|(alpha, known)| (brenner(alpha.cosh() - 1.0) - known).abs());
    assert!(worst(off) < 1e-4, "{off:?}");
    let mesh = flows::empty_box([32; 3], 1, Vec::new());
    let mut params = flows::params(&mesh, 0.05);
    params.faces = [[FaceCondition::Velocity([0.0; 3]); 2]; 3];
    let (r, g) = (3.0, 2e-6);
    // The gap is resolved, and then not.
    for gap in [1.5, 0.3] {
        let grain = Grain::at([16.2, 15.9, r + gap], r);
        let beds = bed([32.0; 3], 2.0, false, &[grain]);
        let mut flow = start(kernels, &mesh, params.clone(), of(beds, [0.0, 0.0, -g]));
        flow.advance(1500).expect("steps");
        let now = flow.bed().expect("a bed").grains()[0];
        let weight = 4.0 / 3.0 * PI * r.powi(3) * g;
        let stokes = 6.0 * PI * 0.05 * r * -now.velocity[2];
        let found = weight / stokes / brenner((now.center[2] - r) / r);
        assert!(
            (found - 1.0).abs() < 0.08,
            "{gap}: {found}, {:?}",
            now.center
        );
    }
}

fn momentum_is_kept_through_impacts<K: AnyFlow>(kernels: &K) {
    let (n, viscosity, density) = (32, 0.02, 3.0);
    let mesh = flows::empty_box([n; 3], 1, Vec::new());
    let params = flows::params(&mesh, viscosity);
    let r = 3.0;
    let mut one = Grain::at([6.0, 12.3, 15.6], r);
    one.velocity = [0.05, 0.002, 0.0];
    one.spin = [0.001, 0.0, 0.002];
    let mut two = Grain::at([12.7, 13.1, 15.2], r);
    two.velocity = [-0.01, 0.0, 0.001];
    let beds = bed([f64::from(n); 3], density, true, &[one, two]);
    let mut flow = start(kernels, &mesh, params, of(beds, [0.0; 3]));
    let volume = 4.0 / 3.0 * PI * r.powi(3);
    let now = |flow: &dyn LatticeFlow<3>, before: &[[f64; 3]; 2]| -> [f64; 3] {
        let mut sum = [0.0; 3];
        let snapshot = flow.snapshot().expect("a snapshot");
        flows::each_cell(
            flow.mesh().expect("a mesh"),
            &snapshot,
            |_, size, rho, u| (0..3).for_each(|a| sum[a] += size * rho * u[a]),
        );
        let grains = flow.bed().expect("a bed").grains();
        for (grain, before) in grains.iter().zip(before) {
            (0..3).for_each(|a| sum[a] += volume * (density * grain.velocity[a] - before[a]));
        }
        sum
    };
    let mut met = 0;
    let mut first = None;
    for _ in 0..600 {
        let grains = flow.bed().expect("a bed").grains();
        // Of the displaced fluid that of the exchange before counts.
        let before = [grains[0].velocity, grains[1].velocity];
        flow.advance(1).expect("a step");
        met += flow.bed().expect("a bed").touching();
        let sum = now(&*flow, &before);
        let first = *first.get_or_insert(sum);
        let off = worst((0..3).map(|a| (sum[a] - first[a]).abs()));
        // Snapshots are f32.
        assert!(off < 2e-5 * volume * 0.05, "{off}");
    }
    assert!(met > 0, "the spheres never met");
}

fn a_neutral_sphere_goes_with_the_stream<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([32; 3], 1, Vec::new());
    let params = flows::params(&mesh, 0.02);
    let stream = [0.03, 0.01, -0.02];
    let mut grain = Grain::at([7.3, 8.1, 9.2], 3.0);
    grain.velocity = stream;
    let mut flow = start(
        kernels,
        &mesh,
        params,
        of(bed([32.0; 3], 1.0, true, &[grain]), [0.0; 3]),
    );
    flow.set_uniform(1.0, stream).expect("a stream");
    flow.advance(500).expect("steps");
    let now = flow.bed().expect("a bed").grains()[0];
    let off = worst((0..3).map(|a| (now.velocity[a] - stream[a]).abs()));
    assert!(off < 1e-9, "{off}");
    let at = worst((0..3).map(|a| {
        let way = now.center[a] - grain.center[a] - 500.0 * stream[a];
        (way - 32.0 * (way / 32.0).round()).abs()
    }));
    assert!(at < 1e-6, "{at}");
}

fn all_lattices_and_collisions_carry_grains<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([24; 3], 1, Vec::new());
    let fall = |lattice, collision, precision| {
        let mut params = flows::params(&mesh, 0.1);
        (params.lattice, params.collision, params.precision) = (lattice, collision, precision);
        let grains = eight(12.0, Grain::at(OFF, radius(12.0)));
        let bed = bed([24.0; 3], 2.0, true, &grains);
        let mut flow = start(kernels, &mesh, params, of(bed, [0.0, 0.0, -4e-5]));
        flow.advance(300).expect("steps");
        -flow.bed().expect("a bed").grains()[0].velocity[2]
    };
    let trt = Collision::Trt { magic: 3.0 / 16.0 };
    let first = fall(LatticeKind::D3Q19, trt, Precision::F64);
    assert!(first > 5e-4, "{first}");
    let single = fall(LatticeKind::D3Q19, trt, Precision::F32);
    assert!((single / first - 1.0).abs() < 1e-4, "{single} {first}");
    for lattice in [LatticeKind::D3Q19, LatticeKind::D3Q27] {
        for collision in [trt, Collision::Bgk, Collision::Regularized] {
            let found = fall(lattice, collision, Precision::F32);
            assert!(
                (found / first - 1.0).abs() < 0.03,
                "{lattice:?} {collision:?}: {found} {first}"
            );
        }
    }
    let others = [Collision::Cumulant { limiter: 0.01 }, Collision::Kbc];
    for collision in others {
        let found = fall(LatticeKind::D3Q27, collision, Precision::F32);
        assert!(
            (found / first - 1.0).abs() < 0.04,
            "{collision:?}: {found} {first}"
        );
    }
}

fn spheres_on_a_finer_level_fall_alike<K: AnyFlow>(kernels: &K) {
    // The same fall on cells of one size, and with coarser ones away from the sphere.
    let fall = |mesh: &Mesh<3>, levels: i32| {
        let fine = 2f64.powi(levels - 1);
        // Units of the finest level in both.
        let mut params = flows::params(mesh, 0.1 / fine);
        params.faces = [[FaceCondition::Velocity([0.0; 3]); 2]; 3];
        let size = 48.0;
        let scale = GrainScale {
            length: fine,
            time: fine,
            ..UNITS
        };
        let bed = bed([size; 3], 2.0, false, &[Grain::at([24.2, 23.9, 27.1], 2.5)]);
        let grains = LatticeGrains {
            scale,
            ..of(bed, [0.0, 0.0, -1e-4])
        };
        let mut flow = start(kernels, mesh, params, grains);
        flow.advance((400.0 / fine) as u64).expect("steps");
        flow.bed().expect("a bed").grains()[0]
    };
    let uniform = fall(&flows::empty_box([48; 3], 1, Vec::new()), 1);
    let shape = RegionShape::Box {
        lower: [4.5; 3],
        upper: [19.5; 3],
    };
    let refined = flows::empty_box([24; 3], 2, vec![Region { shape, levels: 2 }]);
    let refined = fall(&refined, 2);
    let [a, b] = [uniform, refined].map(|of| of.velocity[2]);
    assert!(a < -5e-4 && (a / b - 1.0).abs() < 0.01, "{a} {b}");
}

fn a_state_with_grains_goes_on_with_its_bits<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([24; 3], 1, Vec::new());
    let make = || {
        let mut grain = Grain::at([6.0, 12.3, 11.6], 3.0);
        grain.velocity = [0.02, 0.0, 0.01];
        let other = Grain::at([13.0, 12.0, 12.0], 3.1);
        let bed = bed([24.0; 3], 2.0, true, &[grain, other]);
        start(
            kernels,
            &mesh,
            flows::params(&mesh, 0.05),
            of(bed, [1e-5, 0.0, 0.0]),
        )
    };
    let bits = |flow: &dyn LatticeFlow<3>| {
        let mut bytes = Vec::new();
        flow.save(&mut bytes).expect("a state");
        bytes
    };
    let mut whole = make();
    whole.advance(60).expect("steps");
    let half = bits(&*whole);
    whole.advance(60).expect("steps");
    let mut again = make();
    again.restore(&mut &half[..]).expect("the state");
    again.advance(60).expect("steps");
    assert!(bits(&*whole) == bits(&*again), "other bits after a restart");
    for cut in [half.len() - 1, half.len() / 2, 40] {
        assert!(make().restore(&mut &half[..cut]).is_err());
    }
}

fn what_cannot_be_is_refused<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([24; 3], 1, Vec::new());
    let refused = |change: &dyn Fn(&mut Params<3>, &mut LatticeGrains), grain: Grain| {
        let mut params = flows::params(&mesh, 0.05);
        let mut grains = of(bed([24.0; 3], 2.0, true, &[grain]), [0.0; 3]);
        change(&mut params, &mut grains);
        let plan = Plan::new(&mesh, params).expect("a plan");
        match plan.with_grains(grains) {
            Err(SolverError::Grains { reason }) => reason,
            other => panic!("{:?}", other.map(|_| ())),
        }
    };
    let sound = Grain::at([12.0; 3], 3.0);
    let said = refused(&|of, _| of.precision = Precision::F16, sound);
    assert!(said.contains("16 bits"), "{said}");
    let said = refused(&|of, _| of.les = Les::Smagorinsky { constant: 0.1 }, sound);
    assert!(said.contains("eddy"), "{said}");
    let said = refused(&|_, of| of.scale.length = 0.9, sound);
    assert!(said.contains("along axis 0"), "{said}");
    let said = refused(&|_, of| of.scale.density = 4.5, sound);
    assert!(said.contains("0.444 times"), "{said}");
    let said = refused(&|_, _| (), Grain::at([12.0; 3], 1.9));
    assert!(said.contains("1 of them are too small"), "{said}");
    let plan = Plan::new(&mesh, flows::params(&mesh, 0.05)).expect("a plan");
    let plan = plan.with_grains(of(bed([24.0; 3], 2.0, true, &[sound]), [0.0; 3]));
    let two = [kernels.clone(), kernels.clone()];
    let said = plan
        .expect("a plan")
        .start_ranks(&two)
        .err()
        .expect("an error");
    assert!(said.to_string().contains("one rank"), "{said}");
    // A sphere that leaves the finest level ends the run, with its place.
    let shape = RegionShape::Box {
        lower: [4.5; 3],
        upper: [15.5; 3],
    };
    let refined = flows::empty_box([24; 3], 2, vec![Region { shape, levels: 2 }]);
    let mut grain = Grain::at([10.0; 3], 2.0);
    grain.velocity = [0.05, 0.0, 0.0];
    let bed = bed([24.0; 3], 1e6, true, &[grain]);
    let mut flow = start(
        kernels,
        &refined,
        flows::params(&refined, 0.05),
        of(bed, [0.0; 3]),
    );
    let said = flow.advance(400).expect_err("it leaves").to_string();
    assert!(
        said.contains("grain 0") && said.contains("refine"),
        "{said}"
    );
}
