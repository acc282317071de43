//! Populations in 16 bits: their conversions, and what flows lose by them.

use cutlink_mesher::primitives::Shape2;
use cutlink_solver::{
    Collision, F16, FaceCondition, LatticeFlow, LatticeKind, Params, PatchCondition, Plan,
    Precision, SolverError, WallScheme,
    kernels::{FlowKernels, PopulationKernels},
    storage::Storage,
};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};
use half::f16;
use std::f64::consts::TAU;

cutlink_tests::backend_test!(
    on_one_thread:
    conversions_are_those_of_ieee,
    a_vortex_decays_as_it_should,
    a_parabola_stays_one,
    slow_forces_and_walls_are_not_rounded_away,
    the_drag_of_a_circle_is_that_of_f32,
    mass_stays,
    a_state_goes_on,
    what_is_out_of_range_is_found
);

/// The factor of the format.
const SCALE: f32 = 32768.0;

/// Bits that differ; those that are not numbers count as the same.
fn differing(found: &[u32], expected: &[u32], is_nan: impl Fn(u32) -> bool) -> usize {
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().zip(expected);
    pairs
        .filter(|&(&a, &b)| a != b && !(is_nan(a) && is_nan(b)))
        .count()
}

/// 10⁶ pseudo-random numbers: of any bits, and of the sizes that populations have; ties, their neighbours, and the ends of the
/// range.
fn numbers() -> Vec<f32> {
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let mut all = Vec::new();
    for bits in 0..u16::MAX {
        // Between two halves, and beside that.
        let [low, high] = [bits, bits + 1].map(|bits| f16::from_bits(bits).to_f32_const() / SCALE);
        let middle = 0.5 * (low + high);
        if middle.is_finite() {
            all.extend([middle, middle.next_up(), middle.next_down()]);
        }
    }
    all.extend(
        [
            65519.0,
            65520.0,
            65536.0,
            1e30,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
        ]
        .map(|x| x / SCALE),
    );
    all.extend([0.0, -0.0, f32::MIN_POSITIVE, f32::from_bits(1), -1e30]);
    while all.len() < 1_000_000 {
        let bits = random();
        let exponent = 127 - 40 + random() % 44;
        all.push(match random() % 2 {
            0 => f32::from_bits(bits),
            _ => f32::from_bits(bits & 0x807f_ffff | exponent << 23),
        });
    }
    all
}

/// All halves, and 10⁶ numbers, against the integer arithmetic of another library.
fn conversions_are_those_of_ieee<K: AnyFlow>(kernels: &K) {
    let [halves, floats] = [
        |h: u32| h & 0x7fff > 0x7c00,
        |f: u32| f32::from_bits(f).is_nan(),
    ];
    let all: Vec<F16> = (0..=u16::MAX).map(F16::from_bits).collect();
    let expected = |f: &F16| (f16::from_bits(f.to_bits()).to_f32_const() / SCALE).to_bits();
    let expected: Vec<u32> = all.iter().map(expected).collect();
    let there = kernels.upload(all.clone()).expect("memory");
    let there = PopulationKernels::<3>::widen(kernels, &there).expect("values");
    let there = kernels.download(&there).expect("memory");
    for found in [there, all.iter().map(|f| f.load()).collect()] {
        let found: Vec<u32> = found.iter().map(|f: &f32| f.to_bits()).collect();
        assert_eq!(differing(&found, &expected, floats), 0);
    }

    let values = numbers();
    let expected = |&value: &f32| u32::from(f16::from_f32_const(value * SCALE).to_bits());
    let expected: Vec<u32> = values.iter().map(expected).collect();
    let there = kernels.upload(values.clone()).expect("memory");
    let there = PopulationKernels::<3>::narrow(kernels, &there).expect("halves");
    let there = kernels.download(&there).expect("memory");
    for found in [
        there,
        values.iter().map(|&value| F16::store(value)).collect(),
    ] {
        let found: Vec<u32> = found.iter().map(|f: &F16| u32::from(f.to_bits())).collect();
        assert_eq!(differing(&found, &expected, halves), 0);
    }
    // The comparator can fail: cut off in place of rounded.
    let cut = |&value: &f32| {
        let kept = f32::from_bits(value.to_bits() & !0x1fff);
        u32::from(F16::store(kept).to_bits())
    };
    let cut: Vec<u32> = values.iter().map(cut).collect();
    assert!(differing(&cut, &expected, halves) > 100_000);
}

/// Changes by a part of a step, at all places of a block: they are right on average, what has not changed stays, and without
/// the thresholds they are lost.
#[test]
fn small_changes_are_right_on_average() {
    let places = 19 * 64;
    for (n, value) in [0.0031, -0.0123, 3e-5, -7.7e-7, 1e-10, 0.4]
        .into_iter()
        .enumerate()
    {
        let stored = F16::store(value);
        let value = stored.load();
        let step = F16::from_bits(stored.to_bits() + 1).load() - value;
        let average = |part: f32| {
            let changed = (0..places).map(|place| F16::store_change(value + part * step, place));
            let sum: f64 = changed.map(|f| f64::from((f.load() - value) / step)).sum();
            sum / places as f64
        };
        assert_eq!(average(0.0), 0.0, "{value}");
        for part in [-0.9, -0.45, -0.1, -0.02, 0.02, 0.1, 0.45, 0.9] {
            let found = average(part);
            assert!(
                (found - f64::from(part)).abs() < 5e-3,
                "{n}: {part} {found}"
            );
        }
        assert_eq!(F16::store(value + 0.45 * step), stored);
    }
}

/// Values between two halves, rounded by chance at many places: right on average, within what is kept, and halves stay. Rounding
/// to nearest is not right on average: the comparator can fail.
#[test]
fn rounding_by_chance_is_right_on_average() {
    for value in [0.0031f32, -0.0123, 3e-5, -7.7e-7, 0.4] {
        let low = F16::store(value).load();
        let step = F16::from_bits(F16::store(value).to_bits() + 1).load() - low;
        assert_eq!(F16::store_dithered(low, 7).load(), low, "a half stays");
        for part in [0.02f32, 0.1, 0.3, 0.45] {
            let (mut sum, mut nearest) = (0.0, 0.0);
            const COUNT: usize = 4096;
            for n in 0..COUNT {
                // Neighbouring values too, for the chance is made of the value.
                let between = low + (part + 1e-3 * (n % 16) as f32) * step;
                let stored = F16::store_dithered(between, n / 4).load();
                assert!(stored == low || stored == low + step, "{value} {part}");
                sum += f64::from((stored - between) / step);
                nearest += f64::from((F16::store(between).load() - between) / step);
            }
            let found = sum / COUNT as f64;
            assert!(found.abs() < 0.03, "{value} {part}: {found}");
            assert!(part < 0.1 || (nearest / COUNT as f64).abs() > 0.03);
        }
    }
}

/// Taylor and Green's vortex in a periodic box: what is left of its speed.
fn decayed<const D: usize, K: FlowKernels<D>>(
    kernels: &K,
    mesh: &Mesh<D>,
    kind: (LatticeKind, Collision, Precision),
    steps: u64,
) -> f64 {
    let n = f64::from(mesh.frame.root_cells[0]);
    let (speed, k) = (0.04, TAU / n);
    let mut params = flows::params(mesh, 0.01);
    (params.lattice, params.collision, params.precision) = kind;
    let mut flow = flows::start(kernels, mesh, params);
    flow.set(&|x| {
        let mut u = [0.0; D];
        u[0] = -speed * (k * x[0]).cos() * (k * x[1]).sin();
        u[1] = speed * (k * x[0]).sin() * (k * x[1]).cos();
        let waves = (2.0 * k * x[0]).cos() + (2.0 * k * x[1]).cos();
        (1.0 - 0.75 * speed * speed * waves, u)
    })
    .expect("a start");
    let energy = |flow: &dyn LatticeFlow<D>| {
        let mut sum = 0.0;
        let snapshot = flow.snapshot().expect("a snapshot");
        flows::each_cell(mesh, &snapshot, |_, volume, _, u| {
            sum += volume * u.iter().map(|u| u * u).sum::<f64>();
        });
        sum
    };
    let before = energy(&*flow);
    flow.advance(steps).expect("steps");
    flow.check().expect("no divergence");
    (energy(&*flow) / before).sqrt()
}

/// The rate of decay against the analytic one: within 0.5 % of what f64 finds.
fn a_vortex_decays_as_it_should<K: AnyFlow>(kernels: &K) {
    let rate = |left: f64| -left.ln();
    let collisions = [
        Collision::Bgk,
        Collision::Trt { magic: 0.25 },
        Collision::Regularized,
    ];
    let plane = flows::empty_box([64, 64], 1, Vec::new());
    let space = flows::empty_box([32, 32, 4], 1, Vec::new());
    for collision in collisions {
        let exact = 2.0 * 0.01 * (TAU / 64.0f64).powi(2) * 4000.0;
        let kind = |precision| (LatticeKind::D2Q9, collision, precision);
        let [half, full] = [Precision::F16, Precision::F64]
            .map(|precision| rate(decayed(kernels, &plane, kind(precision), 4000)));
        assert!(
            (full / exact - 1.0).abs() < 5e-3,
            "{collision:?}: {full} {exact}"
        );
        assert!(
            (half / full - 1.0).abs() < 5e-3,
            "{collision:?}: {half} {full}"
        );
        for lattice in [LatticeKind::D3Q19, LatticeKind::D3Q27] {
            let kind = |precision| (lattice, collision, precision);
            let [half, full] = [Precision::F16, Precision::F64]
                .map(|precision| rate(decayed(kernels, &space, kind(precision), 1000)));
            assert!(
                (half / full - 1.0).abs() < 5e-3,
                "{lattice} {collision:?}: {half} {full}"
            );
        }
    }
}

/// A channel that an acceleration drives: the mean and the largest difference from the parabola, over its largest velocity.
fn a_parabola_stays_one<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([8, 32], 1, Vec::new());
    let (viscosity, most, height) = (0.1, 0.05, 32.0);
    let exact = |y: f64| 4.0 * most * (y / height) * (1.0 - y / height);
    for collision in [Collision::Trt { magic: 3.0 / 16.0 }, Collision::Regularized] {
        let mut params = flows::params(&mesh, viscosity);
        params.precision = Precision::F16;
        params.collision = collision;
        params.faces[1] = [FaceCondition::Velocity([0.0; 2]); 2];
        params.acceleration = [8.0 * viscosity * most / (height * height), 0.0];
        let mut flow = flows::start(kernels, &mesh, params);
        flow.set(&|x| (1.0, [exact(x[1]), 0.0])).expect("a start");
        flow.advance(20_000).expect("steps");
        flow.check().expect("no divergence");
        let (mut sum, mut all, mut farthest) = (0.0, 0.0, 0.0);
        let mut mass = 0.0;
        flows::each_cell(
            &mesh,
            &flow.snapshot().expect("a snapshot"),
            |x, _, density, u| {
                mass += (density - 1.0) / 256.0;
                sum += u[0];
                all += exact(x[1]);
                farthest = worst([farthest, (u[0] - exact(x[1])).abs() / most]);
            },
        );
        assert!(
            (sum / all - 1.0).abs() < 5e-3,
            "{collision:?}: {}",
            sum / all
        );
        assert!(farthest < 1e-2, "{collision:?}: {farthest}");
        // Rounding by chance is a walk: 4e-6 in 1000 steps, 2e-5 in these.
        assert!(mass.abs() < 8e-5, "{collision:?}: {mass}");
    }
}

/// Flows in which a step adds less than rounding to nearest would take away, from rest to their end: between walls that an
/// acceleration drives, and beside one that moves. Exact but for the noise of rounding.
fn slow_forces_and_walls_are_not_rounded_away<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([16, 16], 1, Vec::new());
    let (viscosity, most, height) = (0.008, 0.05, 16.0);
    let steps = (1.5 * height * height / viscosity) as u64;
    let parabola = |y: f64| 4.0 * most * (y / height) * (1.0 - y / height);
    let line = |y: f64| most * y / height;
    let exact: [(&str, &dyn Fn(f64) -> f64); 2] = [("force", &parabola), ("wall", &line)];
    for (n, (name, exact)) in exact.into_iter().enumerate() {
        let mut params = flows::params(&mesh, viscosity);
        params.precision = Precision::F16;
        params.collision = Collision::Trt { magic: 3.0 / 16.0 };
        params.faces[1] = [FaceCondition::Velocity([0.0; 2]); 2];
        match n {
            0 => params.acceleration = [8.0 * viscosity * most / (height * height), 0.0],
            _ => params.faces[1][1] = FaceCondition::Velocity([most, 0.0]),
        }
        let mut flow = flows::start(kernels, &mesh, params);
        flow.advance(steps).expect("steps");
        flow.check().expect("no divergence");
        let (mut sum, mut all, mut farthest) = (0.0, 0.0, 0.0);
        flows::each_cell(&mesh, &flow.snapshot().expect("fields"), |x, _, _, u| {
            sum += u[0];
            all += exact(x[1]);
            farthest = worst([farthest, (u[0] - exact(x[1])).abs() / most]);
        });
        // Rounded to nearest, the force's flow is 31 % too slow.
        assert!((sum / all - 1.0).abs() < 0.015, "{name}: {}", sum / all);
        assert!(farthest < 0.03, "{name}: {farthest}");
    }
}

/// LatticeFlow past a circle of eight cells on two levels at Re 20.
fn circle() -> Mesh<2> {
    let mut surface = Shape2::Circle { radius: 4.0 }
        .surface(1e-3)
        .expect("a circle");
    for vertex in &mut surface.vertices {
        *vertex = [vertex[0] + 20.13, vertex[1] + 24.0];
    }
    let frame = Frame::new([0.0; 2], 1.0, [80, 48]).expect("a box");
    bodies::mesh_of(&surface, frame, &EmbedParams::new(2, 2.0, Fill::NonZero))
}

fn tunnel(mesh: &Mesh<2>, precision: Precision) -> Params<2> {
    let mut params = flows::params(mesh, 0.04);
    params.precision = precision;
    params.faces = [
        [FaceCondition::Velocity([0.1, 0.0]), FaceCondition::Outflow],
        [FaceCondition::FreeSlip; 2],
    ];
    params.patches = vec![PatchCondition::wall(WallScheme::Linear)];
    params.forces = true;
    params
}

fn the_drag_of_a_circle_is_that_of_f32<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let [half, single] = [Precision::F16, Precision::F32].map(|precision| {
        let mut flow = flows::start(kernels, &mesh, tunnel(&mesh, precision));
        flow.set(&|_| (1.0, [0.1, 0.0])).expect("a start");
        flow.advance(2400).expect("steps");
        flow.check().expect("no divergence");
        let forces = flow.take_forces().expect("forces");
        let late = &forces[forces.len() / 2..];
        late.iter().map(|f| f.patches[0][0]).sum::<f64>() / late.len() as f64
    });
    assert!((half / single - 1.0).abs() < 5e-3, "{half} {single}");
}

/// The mass of a periodic box without symmetries, 400 steps later. Errors of rounding are independent from cell to cell:
/// their sum over the box is 2e-6 √(steps / cells) of its mass.
fn mass_stays<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([48, 48, 48], 1, Vec::new());
    for collision in [Collision::Trt { magic: 0.25 }, Collision::Regularized] {
        for (precision, bound) in [(Precision::F16, 4e-7), (Precision::F32, 2e-8)] {
            let mut params = flows::params(&mesh, 0.01);
            (params.precision, params.collision) = (precision, collision);
            let mut flow = flows::start(kernels, &mesh, params);
            let k = TAU / 48.0;
            let wave = |along: f64, across: f64, phase: f64| {
                0.02 * (k * along + phase).sin() + 0.015 * (2.0 * k * across + phase).cos()
            };
            flow.set(&|x| {
                let u = [
                    wave(x[1], x[2], 0.3),
                    wave(x[2], x[0], 1.1),
                    wave(x[0], x[1], 2.3),
                ];
                (1.0 + 1e-3 * (k * (x[0] + x[1]) + 0.7).sin(), u)
            })
            .expect("a start");
            let before = mean_density(&mesh, &*flow);
            flow.advance(400).expect("steps");
            flow.check().expect("no divergence");
            let change = mean_density(&mesh, &*flow) - before;
            assert!(
                change.abs() < bound,
                "{collision:?} {precision}: {change:e}"
            );
        }
    }
}

/// Less 1.
fn mean_density<const D: usize>(mesh: &Mesh<D>, flow: &dyn LatticeFlow<D>) -> f64 {
    let (mut sum, mut all) = (0.0, 0.0);
    let snapshot = flow.snapshot().expect("a snapshot");
    flows::each_cell(mesh, &snapshot, |_, volume, density, _| {
        sum += volume * (density - 1.0);
        all += volume;
    });
    sum / all
}

/// Saved, restored and continued: the same bits, and the size of halves.
fn a_state_goes_on<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let start = || {
        let mut flow = flows::start(kernels, &mesh, tunnel(&mesh, Precision::F16));
        flow.set(&|_| (1.0, [0.1, 0.0])).expect("a start");
        flow
    };
    let mut straight = start();
    straight.advance(30).expect("steps");
    let mut first = start();
    first.advance(13).expect("steps");
    let mut middle = Vec::new();
    first.save(&mut middle).expect("a state");
    let plan = Plan::new(&mesh, tunnel(&mesh, Precision::F16)).expect("a plan");
    let populations: usize = plan.levels.iter().map(|level| level.blocks * 16 * 9).sum();
    assert_eq!(middle.len(), 8 + 8 * plan.levels.len() + 2 * populations);
    let mut second = start();
    second.restore(&mut &middle[..]).expect("a state");
    second.advance(17).expect("steps");
    let [expected, found] = [straight, second].map(|flow| {
        let mut bytes = Vec::new();
        flow.save(&mut bytes).expect("a state");
        bytes
    });
    assert!(expected == found, "the same bits");
    let mut other = flows::start(kernels, &mesh, tunnel(&mesh, Precision::F32));
    assert!(other.restore(&mut &middle[..]).is_err(), "of another size");
}

/// Populations beyond the range are infinite: a density of 8 has too many at rest. In f32 it is fine.
fn what_is_out_of_range_is_found<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([16, 16], 1, Vec::new());
    for (precision, density, is_fine) in [
        (Precision::F32, 8.0, true),
        (Precision::F16, 8.0, false),
        (Precision::F16, 4.0, true),
    ] {
        let mut params = flows::params(&mesh, 0.1);
        params.precision = precision;
        let mut flow = flows::start(kernels, &mesh, params);
        let here = |x: [f64; 2]| if x == [5.5, 9.5] { density } else { 1.0 };
        flow.set(&|x| (here(x), [0.0; 2])).expect("a start");
        match flow.check() {
            Ok(()) => assert!(is_fine, "{precision} {density}"),
            Err(SolverError::Diverged { cell, .. }) => {
                assert!(!is_fine && cell == [5, 9], "{precision}: {cell:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}
