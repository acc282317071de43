use cutlink_solver::{Collision, FaceCondition, Params, Snapshot, Sponge};
use cutlink_tests::{
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{Mesh, Region, RegionShape};

cutlink_tests::backend_test!(
    on_one_thread:
    faces_reflect_as_much_sound_as_documented,
    sponges_absorb_sound,
    sponges_absorb_oblique_sound if slow_tests,
    a_sponge_is_the_same_on_all_levels,
    a_uniform_stream_passes_sponges,
    a_vortex_leaves_through_a_sponge
);

const U: f64 = 0.05;
const STREAM: FaceCondition<2> = FaceCondition::Velocity([U, 0.0]);
const FAR: FaceCondition<2> = FaceCondition::FarField {
    velocity: [U, 0.0],
    density: 1.0,
};

/// Cells that the pulse of these tests extends over: it falls to 2 % within 20 cells to either side.
const PULSE: f64 = 40.0;

fn sound() -> f64 {
    1.0 / 3f64.sqrt()
}

/// As the program has it unless told otherwise.
fn sponge(axis: usize, side: usize, length: f64) -> Sponge {
    Sponge {
        axis,
        side,
        length,
        strength: 5.0,
        stream: [0, 0],
    }
}

fn params(mesh: &Mesh<2>, face: FaceCondition<2>, sponges: Vec<Sponge>) -> Params<2> {
    let mut params = flows::params(mesh, 1e-3);
    params.collision = Collision::Regularized;
    params.faces[0] = [FAR, face];
    params.sponges = sponges;
    params
}

/// What is left of a pulse of sound (Gaussian, 10 cells) that has been to a face and back, of its first amplitude.
fn echo_in<K: AnyFlow>(
    kernels: &K,
    mesh: &Mesh<2>,
    face: FaceCondition<2>,
    sponge: Option<Sponge>,
) -> f64 {
    let params = params(mesh, face, sponge.into_iter().collect());
    let mut flow = flows::start(kernels, mesh, params);
    let (size, c) = (1e-4, sound());
    let middle = 0.5 * f64::from(mesh.frame.root_cells[0]);
    // A wave that runs to the right alone: u' = c rho'.
    flow.set(&|x| {
        let pulse = size * (-((x[0] - middle) / 10.0).powi(2)).exp();
        (1.0 + pulse, [U + c * pulse, 0.0])
    })
    .expect("a start");
    // There at c + u and back at c - u.
    flow.advance((3.5 * middle) as u64).expect("steps");
    flow.check().expect("no divergence");
    let mut most = 0.0;
    let snapshot = flow.snapshot().expect("a snapshot");
    flows::each_cell(mesh, &snapshot, |_, _, density, _| {
        most = worst([most, (density - 1.0).abs()]);
    });
    most / size
}

fn echo<K: AnyFlow>(kernels: &K, face: FaceCondition<2>, sponge: Option<Sponge>) -> f64 {
    let mesh = flows::empty_box([240, 4], 1, Vec::new());
    echo_in(kernels, &mesh, face, sponge)
}

fn faces_reflect_as_much_sound_as_documented<K: AnyFlow>(kernels: &K) {
    // All of it comes back, less what viscosity takes on the way.
    let whole = echo(kernels, FaceCondition::Pressure(1.0), None);
    assert!(whole > 0.5 && whole < 0.7, "a pressure face: {whole}");
    for (name, face, share) in [
        // A given mass flow of a stream that leaves: (1 + M) / (1 - M) of the pressure, all of the energy.
        ("velocity", STREAM, 1.1..1.25),
        ("outflow", FaceCondition::Outflow, 0.2..0.35),
        ("far field", FAR, 0.0..0.02),
    ] {
        let echo = echo(kernels, face, None) / whole;
        assert!(share.contains(&echo), "{name}: {echo}");
    }
}

fn sponges_absorb_sound<K: AnyFlow>(kernels: &K) {
    let whole = echo(kernels, FaceCondition::Pressure(1.0), None);
    for (length, most) in [(0.5, 0.04), (1.0, 0.04), (2.0, 0.01)] {
        for (name, face) in [
            ("pressure", FaceCondition::Pressure(1.0)),
            ("velocity", STREAM),
            ("outflow", FaceCondition::Outflow),
            ("far field", FAR),
        ] {
            let echo = echo(kernels, face, Some(sponge(0, 1, length * PULSE))) / whole;
            assert!(echo < most, "{name}, {length} wavelengths: {echo}");
        }
    }
    // The comparator can fail.
    let mut weak = sponge(0, 1, PULSE);
    weak.strength = 1.0;
    let echo = echo(kernels, FaceCondition::Pressure(1.0), Some(weak)) / whole;
    assert!(echo > 0.3 && echo < 0.45, "exp(-1): {echo}");
}

/// The largest density of what comes back of a packet of waves of a length that meets a face obliquely, from the difference to
/// a box that is longer there.
fn back<K: AnyFlow>(
    kernels: &K,
    degrees: f64,
    of: &[(FaceCondition<2>, Option<Sponge>)],
) -> Vec<f64> {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    // Periodic along the face.
    let height = if sine == 0.0 {
        4
    } else {
        (PULSE / sine).round() as u32
    };
    let number = std::f64::consts::TAU / PULSE;
    let (size, middle, c) = (1e-3, 180.0, sound());
    let after = |cells: u32, face: FaceCondition<2>, sponge: Option<Sponge>| {
        let mesh = flows::empty_box([cells, height], 1, Vec::new());
        let params = params(&mesh, face, sponge.into_iter().collect());
        let mut flow = flows::start(kernels, &mesh, params);
        flow.set(&|x| {
            let envelope = size * (-((x[0] - middle) / 40.0).powi(2)).exp();
            let wave = envelope * (number * (cosine * x[0] + sine * x[1])).cos();
            (1.0 + wave, [U + c * cosine * wave, c * sine * wave])
        })
        .expect("a start");
        // To the face at 320 and back.
        let steps = 140.0 / (c * cosine + U) + 140.0 / (c * cosine - U);
        flow.advance(steps as u64).expect("steps");
        flow.check().expect("no divergence");
        let mut density = Vec::new();
        let snapshot: Snapshot<2> = flow.snapshot().expect("a snapshot");
        flows::each_cell(&mesh, &snapshot, |x, _, rho, _| {
            if x[0] > 20.0 && x[0] < 240.0 {
                density.push((x.map(|x| x as u32), rho));
            }
        });
        density.sort_by_key(|(x, _)| *x);
        density
    };
    let free = after(600, FAR, None);
    let most = |&(face, sponge): &(FaceCondition<2>, Option<Sponge>)| {
        let got = after(320, face, sponge);
        let pairs = got.iter().zip(&free);
        let most = worst(pairs.map(|(a, b)| (a.1 - b.1).abs()));
        most / size
    };
    of.iter().map(most).collect()
}

fn sponges_absorb_oblique_sound<K: AnyFlow>(kernels: &K) {
    let one = Some(sponge(0, 1, PULSE));
    let two = Some(sponge(0, 1, 2.0 * PULSE));
    // What comes back at 0 and at 30 degrees.
    let cases = [
        (
            "pressure",
            FaceCondition::Pressure(1.0),
            None,
            [1.0..1.01, 1.0..1.01],
        ),
        ("velocity", STREAM, None, [1.1..1.25, 1.1..1.25]),
        (
            "outflow",
            FaceCondition::Outflow,
            None,
            [0.1..0.3, 0.1..0.3],
        ),
        ("far field", FAR, None, [0.0..0.04, 0.05..0.12]),
        (
            "pressure, 1",
            FaceCondition::Pressure(1.0),
            one,
            [0.0..0.01, 0.0..0.05],
        ),
        ("velocity, 1", STREAM, one, [0.0..0.01, 0.0..0.05]),
        (
            "outflow, 1",
            FaceCondition::Outflow,
            one,
            [0.0..0.01, 0.0..0.05],
        ),
        ("far field, 1", FAR, one, [0.0..0.01, 0.0..0.05]),
        (
            "pressure, 2",
            FaceCondition::Pressure(1.0),
            two,
            [0.0..0.01, 0.0..0.01],
        ),
        ("velocity, 2", STREAM, two, [0.0..0.01, 0.0..0.01]),
        (
            "outflow, 2",
            FaceCondition::Outflow,
            two,
            [0.0..0.01, 0.0..0.01],
        ),
        ("far field, 2", FAR, two, [0.0..0.01, 0.0..0.01]),
    ];
    let faces = cases.clone().map(|(_, face, sponge, _)| (face, sponge));
    let mut wrong = Vec::new();
    for (at, degrees) in [0.0, 30.0].into_iter().enumerate() {
        let sizes = back(kernels, degrees, &faces);
        for ((name, .., share), size) in cases.iter().zip(&sizes) {
            let echo = size / sizes[0];
            if !share[at].contains(&echo) {
                wrong.push(format!("{degrees} degrees, {name}: {echo}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn a_sponge_is_the_same_on_all_levels<K: AnyFlow>(kernels: &K) {
    let whole = echo(kernels, FaceCondition::Pressure(1.0), None);
    let fine = |from: f64, to: f64| Region {
        shape: RegionShape::Box {
            lower: [from, -1.0, 0.0],
            upper: [to, 9.0, 0.0],
        },
        levels: 2,
    };
    let mut echoes = Vec::new();
    // All of the sponge, its first half, its second half.
    for (from, to) in [(150.0, 241.0), (150.0, 200.0), (200.0, 241.0)] {
        let mesh = flows::empty_box([240, 8], 2, vec![fine(from, to)]);
        assert_eq!(mesh.forest.levels.len(), 2);
        let sponge = Some(sponge(0, 1, 2.0 * PULSE));
        let echo = echo_in(kernels, &mesh, FaceCondition::Pressure(1.0), sponge) / whole;
        echoes.push(echo);
    }
    assert!(echoes.iter().all(|&echo| echo < 0.01), "{echoes:?}");
}

fn a_uniform_stream_passes_sponges<K: AnyFlow>(kernels: &K) {
    let ball = Region {
        shape: RegionShape::Ball {
            center: [30.0, 12.0, 0.0],
            radius: 6.0,
        },
        levels: 2,
    };
    let mesh = flows::empty_box([40, 24], 2, vec![ball]);
    let mut params = flows::params(&mesh, 1e-3);
    params.collision = Collision::Regularized;
    params.faces = [[FAR, FaceCondition::Outflow], [FAR; 2]];
    let bare = params.clone();
    params.sponges = [(0, 0, 10.0), (0, 1, 20.0), (1, 0, 8.0), (1, 1, 8.0)]
        .map(|(axis, side, length)| sponge(axis, side, length))
        .to_vec();
    let numbers = |params: Params<2>, faster: f64| -> Vec<f64> {
        let mut flow = flows::start(kernels, &mesh, params);
        flow.set(&|_| (1.0, [faster * U, 0.0])).expect("a start");
        flow.advance(500).expect("steps");
        flow.check().expect("no divergence");
        let mut bytes = Vec::new();
        flow.save(&mut bytes).expect("a state");
        let eights = bytes.chunks_exact(8);
        eights
            .map(|eight| f64::from_le_bytes(eight.try_into().expect("eight bytes")))
            .collect()
    };
    // Snapshots are f32: the state itself, and that of a flow without sponges, whose stream is uniform.
    let without = numbers(bare, 1.0);
    let most = |with: Vec<f64>| {
        let pairs = with.iter().zip(&without);
        worst(pairs.map(|(a, b)| (a - b).abs()))
    };
    let wrong = most(numbers(params.clone(), 1.0));
    assert!(wrong < 1e-13, "{wrong:e}");
    // Another stream becomes this one.
    let wrong = most(numbers(params, 1.01));
    assert!(wrong < 1e-5, "{wrong:e}");
}

/// A vortex that leaves through a sponge is not felt before it: against a box that is longer there.
fn a_vortex_leaves_through_a_sponge<K: AnyFlow>(kernels: &K) {
    const FAST: f64 = 0.1;
    let far = FaceCondition::FarField {
        velocity: [FAST, 0.0],
        density: 1.0,
    };
    let at_80 = |cells: u32, face: FaceCondition<2>, sponges: Vec<Sponge>| {
        let mesh = flows::empty_box([cells, 96], 1, Vec::new());
        let mut params = params(&mesh, face, sponges);
        params.faces[0][0] = far;
        let mut flow = flows::start(kernels, &mesh, params);
        let (radius, swirl) = (8.0, 0.5 * FAST);
        flow.set(&|x| {
            let (dx, dy) = (x[0] - 60.0, x[1] - 48.0);
            let square = (dx * dx + dy * dy) / (radius * radius);
            let turn = swirl / radius * (0.5 - 0.5 * square).exp();
            let pressure = -0.5 * swirl * swirl * (1.0 - square).exp();
            (1.0 + 3.0 * pressure, [FAST - turn * dy, turn * dx])
        })
        .expect("a start");
        let mut all = Vec::new();
        for _ in 0..40 {
            flow.advance(50).expect("steps");
            flow.check().expect("no divergence");
            let mut values = Vec::new();
            let snapshot = flow.snapshot().expect("a snapshot");
            flows::each_cell(&mesh, &snapshot, |x, _, _, u| {
                if (x[0] - 80.0).abs() < 4.0 {
                    values.push((x.map(|x| x as u32), u));
                }
            });
            values.sort_by_key(|(x, _)| *x);
            all.extend(values);
        }
        (all, swirl)
    };
    let (free, swirl) = at_80(400, far, Vec::new());
    let felt = |face, sponges| {
        let (got, _) = at_80(200, face, sponges);
        let pairs = got.iter().zip(&free);
        let wrong = pairs.map(|((_, a), (_, b))| (a[0] - b[0]).hypot(a[1] - b[1]));
        worst(wrong) / swirl
    };
    let bare = felt(FaceCondition::Outflow, Vec::new());
    let damped = felt(FaceCondition::Outflow, vec![sponge(0, 1, 80.0)]);
    assert!(bare > 0.008, "an outflow: {bare}");
    assert!(damped < 0.003, "with a sponge: {damped}");
}
