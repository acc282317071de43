use super::*;
use crate::solve::{Case, resolve::CaseGrid};
use cutlink_common::config::parse;
use cutlink_device::Host;
use cutlink_flow::Table;
use cutlink_mesher::primitives::{AnyShape, Shape2, Shape3, parse_shape};
use cutlink_solver::MotionSample;
use cutlink_voxelizer::{Fill, Mesh, validate};
use std::f64::consts::PI;

const PLANE: &str = r#"
[mesh]
shape = "circle:r=0.5"
domain = [-8, -8, 8, 8]
root = 64
levels = 2

[physics]
re = 40
length = 1
velocity = 1
lattice_velocity = 0.05

[boundary]
"x-" = { type = "far-field", velocity = [0, 0] }
"x+" = { type = "far-field", velocity = [0, 0] }
"y-" = { type = "far-field", velocity = [0, 0] }
"y+" = { type = "far-field", velocity = [0, 0] }

[run]
seconds = 2
"#;

/// The bodies that motion tables make of a circle of diameter 1 in the middle of a box, with the time step of the case, and the
/// mesh of their paths.
fn plane(motion: &str) -> Result<(Arc<RigidBodies<2>>, Mesh<2>, Units), Error> {
    let case = parse::<Case>("case", &format!("{PLANE}\n{motion}"))?;
    let frame = Frame::new([-8.0, -8.0], 0.25, [64, 64]).expect("a box");
    let placed = Shape2::Circle { radius: 0.5 }
        .surface(1e-3)
        .expect("a circle");
    let embedding = EmbedParams::new(2, 0.05, Fill::NonZero);
    let (bodies, resolved) = made(&case, frame, &placed, &embedding)?;
    let mesh = bodies.first_mesh(frame)?;
    Ok((bodies, mesh, resolved.units))
}

/// The bodies of a case, and its numbers.
fn made(
    case: &Case,
    frame: Frame<2>,
    placed: &Surface<2>,
    embedding: &EmbedParams,
) -> Result<(Arc<RigidBodies<2>>, Resolved<2>), Error> {
    let grid = CaseGrid {
        frame: &frame,
        patches: &placed.patches,
        areas: &[],
    };
    let resolved = case.resolve("case", grid)?;
    let maker = Maker {
        frame,
        physics: resolved.physics,
        units: resolved.units,
        placed,
        embedding,
    };
    let bodies = maker.bodies(&resolved.case.motion, resolved.until.most())?;
    Ok((bodies, resolved))
}

fn path(bodies: &RigidBodies<2>) -> &BodyPath<2> {
    match &bodies.motions[0] {
        BodyMotion::Prescribed(path) => path,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_path_is_in_lattice_units_with_its_exact_derivatives() {
    let motion = "[motion.circle]\ntranslation = [\"1.2*sin(pi*t)\", 0.25]\nangle = \"0.3*t^2\"\ncenter = [0.1, 0]";
    let (bodies, mesh, units) = plane(motion).expect("bodies");
    validate(&mesh).expect("sound");
    // 0.05 root cells a root step at 1 m/s.
    assert!((units.time - 0.05 * 0.25).abs() < 1e-15, "{units:?}");
    for step in [0.0, 17.0, 80.5] {
        let t = step * units.time;
        let state = path(&bodies)(step).expect("numbers");
        let expected = [(0.1 + 1.2 * (PI * t).sin() + 8.0) / 0.25, 8.25 / 0.25];
        assert!(
            (state.pose.center[0] - expected[0]).abs() < 1e-12,
            "{state:?}"
        );
        assert!(
            (state.pose.center[1] - expected[1]).abs() < 1e-12,
            "{state:?}"
        );
        let velocity = 1.2 * PI * (PI * t).cos() * units.time / 0.25;
        assert!((state.velocity[0] - velocity).abs() < 1e-14, "{state:?}");
        assert_eq!(state.velocity[1], 0.0);
        assert!(
            (state.spin[2] - 0.6 * t * units.time).abs() < 1e-15,
            "{state:?}"
        );
        assert!(
            (state.pose.angle() - 0.3 * t * t).abs() < 1e-12,
            "{state:?}"
        );
    }
    // Blocks hold the whole path, and the finest level is not everywhere.
    let leaves = mesh.level_counts();
    assert!(
        leaves[0].leaf_blocks > 10 && leaves[1].leaf_blocks > 100,
        "{leaves:?}"
    );
    let steps: Vec<Pose<2>> = (0..160)
        .map(|n| {
            let pose = path(&bodies)(f64::from(n)).expect("numbers").pose;
            let frame = &mesh.frame;
            let center = std::array::from_fn(|a| frame.origin[a] + frame.dx * pose.center[a]);
            Pose { center, ..pose }
        })
        .collect();
    let mut mesh = mesh;
    for pose in steps {
        let params = &bodies.embedding;
        mesh = bodies
            .surface
            .embed_on(&Host, mesh.forest, mesh.frame, params, &[pose])
            .expect("a mesh");
        assert_eq!(mesh.coarse_link_of(&[true]), None, "{pose:?}");
    }
}

/// The path of Kinsey & Dumas (2008, eq. 1 and 2), about a third of the chord, on blocks that hold all of it.
#[test]
fn the_flapping_example_goes_as_its_source_says() {
    let text = crate::solve::example::text("flapping").expect("an example");
    let case = parse::<Case>("case", text).expect("a case");
    let frame = Frame::new([-16.0, -20.0], 2.0 / 3.0, [60, 60]).expect("a box");
    let AnyShape::D2(foil) = parse_shape("naca:0015,chord=1").expect("a shape") else {
        panic!("an aerofoil is 2D");
    };
    let placed = foil.surface(1e-3).expect("an aerofoil");
    let embedding = EmbedParams::new(6, 0.1, Fill::NonZero);
    let (bodies, resolved) = made(&case, frame, &placed, &embedding).expect("bodies");
    let period = 1.0 / 0.14 / resolved.units.time;
    let periods = resolved.until.most() as f64 / period;
    assert!((3.99..4.02).contains(&periods), "{periods}");
    let mut mesh = bodies.first_mesh(frame).expect("a mesh");
    for eighth in 0..8 {
        let phase = 2.0 * PI * f64::from(eighth) / 8.0;
        let pose = path(&bodies)(f64::from(eighth) / 8.0 * period)
            .expect("numbers")
            .pose;
        let expected = [1.0 / 3.0, phase.cos()];
        for a in 0..2 {
            let found = frame.origin[a] + frame.dx * pose.center[a];
            assert!((found - expected[a]).abs() < 1e-9, "{pose:?}");
        }
        let angle = 76.33f64.to_radians() * phase.sin();
        assert!((pose.angle() - angle).abs() < 1e-9, "{pose:?}");
        let there = Pose {
            center: expected,
            ..pose
        };
        mesh = bodies
            .surface
            .embed_on(&Host, mesh.forest, mesh.frame, &bodies.embedding, &[there])
            .expect("a mesh");
        let moves = vec![true; placed.patches.len()];
        assert_eq!(mesh.coarse_link_of(&moves), None, "{there:?}");
    }
}

#[test]
fn a_free_body_has_the_mass_of_its_surface() {
    let motion = r#"
[motion.circle]
kind = "free"
density = 3
gravity = [0, -2]
springs = { x = 5.0, rz = 0.5 }
dampers = { y = 0.25 }
locked = ["rz"]
velocity = [0.5, 0]
omega = 0.2
"#;
    let (bodies, _, units) = plane(motion).expect("bodies");
    let BodyMotion::Free(free) = &bodies.motions[0] else {
        panic!("a free body");
    };
    let (dx, dt) = (units.length, units.time);
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
    let area = PI * 0.25;
    assert!(near(free.mass, 3.0 * area / (dx * dx)), "{free:?}");
    assert!(near(free.displaced, area / (dx * dx)), "{free:?}");
    assert!(
        near(free.inertia[2][2], 3.0 * area * 0.125 / dx.powi(4)),
        "{free:?}"
    );
    // 4 m/s² of the mass less the displaced one.
    assert!(
        near(free.force[1], -2.0 * 2.0 * area / (dx * dx) * dt * dt / dx),
        "{free:?}"
    );
    assert!(near(free.springs[0], 5.0 * dt * dt / (dx * dx)), "{free:?}");
    assert!(
        near(free.springs[5], 0.5 * dt * dt / dx.powi(4)),
        "{free:?}"
    );
    assert!(near(free.dampers[1], 0.25 * dt / (dx * dx)), "{free:?}");
    assert_eq!(free.locked, [false, false, false, false, false, true]);
    assert!(near(free.start.velocity[0], 0.5 * dt / dx), "{free:?}");
    assert!(near(free.start.spin[2], 0.2 * dt), "{free:?}");
}

#[test]
fn mistakes_are_told_by_table_and_key() {
    for (motion, words) in [
        (
            "[motion.ball]",
            ["[motion.ball] patches", "no patch matches \"ball\""],
        ),
        (
            "[motion.circle]\ndensity = 2",
            ["[motion.circle] density", "kind = \"free\""],
        ),
        (
            "[motion.circle]\nkind = \"free\"\nangle = 1",
            ["[motion.circle] angle", "kind = \"prescribed\""],
        ),
        (
            "[motion.circle]\nkind = \"free\"",
            ["density", "it or mass is needed"],
        ),
        (
            "[motion.circle]\nkind = \"free\"\nmass = 1\nlocked = [\"ry\"]",
            ["locked", "\"ry\" is no degree of freedom"],
        ),
        (
            "[motion.circle]\nkind = \"free\"\nmass = 1\nsprings = { x = -1.0 }",
            ["springs", "x is -1"],
        ),
        (
            "[motion.circle]\ntranslation = [0]",
            ["translation", "it has 1 values"],
        ),
        ("[motion.circle]\naxis = [0, 0, 1]", ["axis", "2D"]),
        (
            "[motion.circle]\nangle = \"sqrt(t)\"",
            ["[motion.circle]", "derivative inf"],
        ),
        (
            "[motion.circle]\ntranslation = [\"x\", 0]",
            ["translation", "there is no x here"],
        ),
        (
            "[motion.a]\npatches = [\"circle\"]\n[motion.b]\npatches = [\"c*\"]",
            ["named twice", "\"a\""],
        ),
    ] {
        let text = match plane(motion) {
            Err(error) => format!("{error} {error:?}"),
            Ok(_) => panic!("{motion} should be refused"),
        };
        for word in words {
            assert!(text.contains(word), "{motion}: {text}");
        }
    }
    let frame = Frame::new([-1.0; 3], 0.25, [8; 3]).expect("a box");
    let placed = Shape3::Sphere { radius: 0.3 }
        .surface(1e-2)
        .expect("a sphere");
    let embedding = EmbedParams::new(1, 0.0, Fill::NonZero);
    let (physics, units) = {
        let case = parse::<Case>("case", PLANE).expect("a case");
        let grid = CaseGrid::<2> {
            frame: &Frame::new([-4.0, -3.0], 0.25, [32, 24]).expect("a box"),
            patches: &["circle".to_owned()],
            areas: &[],
        };
        let resolved = case.resolve("case", grid).expect("a case");
        (resolved.physics, resolved.units)
    };
    let maker = Maker {
        frame,
        physics,
        units,
        placed: &placed,
        embedding: &embedding,
    };
    let table = |axis: Option<Vec<f64>>| MotionTable {
        patches: vec!["sphere".into()],
        angle: Some(0.5.into()),
        axis,
        ..MotionTable::default()
    };
    let of = |axis| maker.bodies(&BTreeMap::from([("ball".to_owned(), table(axis))]), 10);
    let text = of(None).expect_err("no axis").to_string();
    assert!(text.contains("[motion.ball] axis: it is missing"), "{text}");
    let text = of(Some(vec![0.0; 3]))
        .expect_err("no direction")
        .to_string();
    assert!(text.contains("no direction"), "{text}");
    of(Some(vec![0.0, 0.0, 2.0])).expect("an axis");
}

#[test]
fn a_table_is_read_as_it_was_written() {
    let frame = Frame::new([-4.0, -3.0], 0.25, [32, 24]).expect("a box");
    let units = Units {
        length: 0.25,
        time: 0.0125,
        density: 2.0,
    };
    let new = || Motions::<2>::new(&["a", "b,c"], frame, units, 2);
    let state = BodyState {
        pose: Pose {
            center: [16.0, 12.0],
            rotation: Quaternion::about_z(0.5),
        },
        velocity: [0.05, 0.0],
        spin: [0.0, 0.0, 0.0125],
    };
    let sample = |step: u64| MotionSample {
        step,
        bodies: vec![state; 2],
        forces: vec![[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]; 2],
    };
    let mut written = new();
    written.add(&[sample(1), sample(2), sample(3), sample(4)]);
    let text = written.whole();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].starts_with("step,time,a x,a y,a angle,a u,a v,a omega,a fx,a fy,a mz,b_c x"),
        "{text}"
    );
    let numbers: Vec<f64> = lines[1]
        .split(',')
        .map(|x| x.parse().expect("a number"))
        .collect();
    // 2 kg/m³ (0.25 m)³ / (0.0125 s)² a unit of force.
    let force = 2.0 * 0.25f64.powi(3) / 0.0125f64.powi(2);
    let expected = [
        2.0,
        0.025,
        0.0,
        0.0,
        0.5,
        1.0,
        0.0,
        1.0,
        force,
        0.0,
        0.25 * force,
    ];
    for (found, expected) in numbers.iter().zip(expected) {
        assert!(
            (found - expected).abs() < 1e-12 * (1.0 + expected.abs()),
            "{numbers:?}"
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("motion.csv");
    std::fs::write(&file, &text).expect("a file");
    let mut read = new();
    read.read(&file, 2).expect("its own file");
    assert_eq!(
        read.whole().lines().collect::<Vec<_>>(),
        lines[..2],
        "up to the step"
    );
    let mut other = Motions::<2>::new(&["a"], frame, units, 2);
    other.read(&file, 4).expect_err("other bodies");
}

#[test]
fn the_mesh_follows_free_bodies() {
    let free = "[motion.circle]\nkind = \"free\"\ndensity = 3\n";
    let (bodies, mesh, _) = plane(free).expect("bodies");
    assert!(bodies.is_followed() && mesh.level_counts()[1].leaf_blocks > 0);
    let (bodies, mesh, _) = plane(&format!("{free}refinement = \"fixed\"\n")).expect("bodies");
    assert!(!bodies.is_followed() && mesh.level_counts().len() == 1);
    let error = plane(&format!("{free}refinement = \"path\"\n")).expect_err("unknown path");
    assert!(error.to_string().contains("refinement"), "{error}");
    let along = "[motion.circle]\ntranslation = [\"t\", 0]\n";
    let (path, all, _) = plane(along).expect("bodies");
    let (follows, around, _) = plane(&format!("{along}refinement = \"follow\"\n")).expect("bodies");
    assert!(!path.is_followed() && follows.is_followed());
    let [all, around] = [all, around].map(|mesh| mesh.level_counts()[1].leaf_blocks);
    assert!(around < all, "{around} of {all}");
}
