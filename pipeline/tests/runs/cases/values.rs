//! The parameters of a resolved case, and that resolving it again gives the same.

use super::*;
use cutlink::flow::Until;
use cutlink_solver::{
    Collision, FaceCondition, Interpolation, LatticeKind, Motion, PatchCondition, Precision,
    Sponge, WallScheme,
};

#[test]
fn a_case_resolves_to_the_parameters_computed_by_hand() {
    let made = plane(PLANE).expect("a case");
    let params = &made.params;
    near(params.viscosity, 0.005);
    // a Δt² / Δx = 4 * 6.25e-6 / 0.1.
    near(params.acceleration[0], 2.5e-4);
    let [[inlet, outlet], [floor, roof]] = params.faces;
    let FaceCondition::Velocity(u) = inlet else {
        unreachable!("an inlet, not {inlet:?}");
    };
    near(u[0], 0.05);
    near(u[1], -0.025);
    // 3 * 16000 / (1000 * 40²) = 0.03.
    let FaceCondition::Pressure(density) = outlet else {
        unreachable!("an outlet, not {outlet:?}");
    };
    near(density, 1.03);
    assert_eq!(floor, FaceCondition::Velocity([0.0; 2]), "no slip");
    assert_eq!(roof, FaceCondition::FreeSlip);
    assert_eq!(params.patches[0], PatchCondition::wall(WallScheme::Linear));
    let PatchCondition::Wall { motion, scheme } = params.patches[1] else {
        unreachable!("a wall");
    };
    assert_eq!(scheme, WallScheme::Linear);
    let Motion::Rotation { center, omega } = motion else {
        unreachable!("a rotation");
    };
    near(center[0], 20.0);
    near(center[1], 15.0);
    near(omega[2], 0.02);
    assert_eq!(omega[..2], [0.0; 2]);
    // The origin of the user's frame is ten cells from each side's lower corner.
    near(params.moment_center[0], 10.0);
    near(params.moment_center[1], 10.0);
    assert_eq!(made.until, Until::Steps(400), "1 s / 0.0025 s");
    near(made.area, 0.5);
    near(made.units.time, 0.0025);
    near(made.physics.reynolds(), 50.0);
    assert_eq!((made.forces_every, made.checkpoint_every), (1, None));
    assert!(params.forces && made.unstable.is_none());
}

#[test]
fn sponges_use_the_velocity_of_their_face_or_another() {
    let text = PLANE
        .replace(
            "velocity = [2.0, -1.0]",
            "velocity = [2.0, -1.0], sponge = { length = 0.5, strength = 3 }",
        )
        .replace(
            "pressure = 16000.0",
            "pressure = 16000.0, sponge = { length = 1.5 }",
        )
        .replace(
            "\"free-slip\"",
            "{ type = \"free-slip\", sponge = { length = 0.2 } }",
        );
    let made = plane(&text).expect("a case");
    let sponge = |axis, side, length, strength| Sponge {
        axis,
        side,
        length,
        strength,
        stream: [0, 0],
    };
    // Cells of 0.1 m.
    let expected = [
        sponge(0, 0, 5.0, 3.0),
        sponge(0, 1, 15.0, 5.0),
        sponge(1, 1, 2.0, 5.0),
    ];
    assert_eq!(made.params.sponges, expected);
    let written = made.case.boundary.x_upper.and_then(|face| face.sponge);
    assert_eq!(written.and_then(|sponge| sponge.strength), Some(5.0));
}

#[test]
fn initial_fields_have_the_values_computed_by_hand() {
    let with = |initial: &str| {
        let text = format!("[initial]\n{initial}\n{PLANE}");
        let made = plane(&text).unwrap_or_else(|e| panic!("{e}"));
        let text = made.case.to_toml().expect("TOML");
        assert_eq!(plane(&text), Ok(made.clone()), "{text}");
        assert!(
            made.params.variations.is_empty(),
            "no ramp from a given initial field"
        );
        made
    };
    // At (0.5, 0.5) m; 16000 Pa are 0.03.
    let at = |made: &Resolved<2>| made.initial.at([15.0, 15.0]).expect("a state");
    let (density, u) = at(&with("velocity = [\"4*x\", -1]\npressure = \"32000*y\""));
    near(density, 1.03);
    near(u[0], 0.05);
    near(u[1], -0.025);
    let (density, _) = at(&with("density = \"density*(1+y/100)\""));
    near(density, 1.005);
    let (_, u) = at(&with("preset = \"free-stream\""));
    near(u[0], 0.05);
    // The box is 4 m by 2 m: a quarter of pi from each lower corner's vortex.
    let (_, u) = at(&with("preset = \"taylor-green\""));
    near(
        u[0],
        0.05 * (0.75 * std::f64::consts::PI).sin() * (1.5 * std::f64::consts::PI).cos(),
    );
    // One radius to the right of the centre (1, 0) the vortex moves up at full speed.
    let vortex = with("preset = \"vortex\"\nradius = 0.5\nvelocity = [1, 0]");
    let (density, u) = vortex.initial.at([25.0, 10.0]).expect("a state");
    near(u[0], 0.025);
    near(u[1], 0.05);
    near(density, 1.0 - 1.5 * 0.05 * 0.05);
}

#[test]
fn a_vortex_ring_moves_along_its_axis() {
    let ring = "[initial]\npreset = \"vortex-ring\"\nradius = 0.1\ncore = 0.02\ncirculation = 0.01";
    let with = |more: &str| space(&format!("{ring}\n{more}\n{SPACE}"));
    let made = with("axis = \"y\"\nvelocity = [0.1, 0, 0]").unwrap_or_else(|e| panic!("{e}"));
    let text = made.case.to_toml().expect("TOML");
    assert_eq!(space(&text), Ok(made.clone()), "{text}");
    // Velocities over the stream of 0.1 m/s. In the middle Γ / 2R; beyond its plane the fluid moves away from the axis.
    let at = |x: [f64; 3]| made.initial.at(x).expect("a state").1;
    let [stream, along, aside] = at([20.0, 10.0, 10.0]);
    assert!((along / stream - 0.5).abs() < 1e-8, "{along} of {stream}");
    assert!(aside.abs() < 1e-15);
    let ahead = |x: f64, z: f64| at([20.0 + x, 12.0, 10.0 + z]);
    let [right, back] = [ahead(2.0, 0.0)[0], ahead(0.0, -2.0)[2]].map(|u| u / stream);
    assert!(
        back < 0.0 && (right - 1.0 + back).abs() < 1e-12,
        "{right}, {back}"
    );
    for (more, words) in [
        ("core = 0.2", "not between 0.001 and 1 times the radius"),
        ("core = 1e-9", "not between 0.001 and 1 times the radius"),
        ("circulation = nan", "circulation is NaN"),
        ("amplitude = 1", "has amplitude, but preset is"),
    ] {
        let key = more.split(' ').next().expect("a key");
        let lines = ring.lines().filter(|line| !line.starts_with(key));
        let text = format!("{}\n{more}\n{SPACE}", lines.collect::<Vec<_>>().join("\n"));
        let error = space(&text).expect_err(more).to_string();
        assert!(error.contains(words), "{error}");
    }
    let error = plane(&format!("{ring}\n{PLANE}"))
        .expect_err("2D")
        .to_string();
    assert!(error.contains("needs a box in 3D"), "{error}");
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let made = plane(PLANE).expect("a case");
    let params = &made.params;
    assert_eq!(params.lattice, LatticeKind::D2Q9);
    assert_eq!(params.collision, Collision::Regularized);
    assert_eq!(params.precision, Precision::F32);
    assert_eq!(params.interpolation, Interpolation::Cubic);
    // The box is 4 m long: at 2 m/s two flow-throughs are 4 s, 1600 steps.
    let twice = PLANE.replace("seconds = 1.0", "flow_through = 2");
    let made = plane(&twice).expect("a case");
    assert_eq!(made.until, Until::Steps(1600));
    let made = space(SPACE).expect("a case");
    near(made.physics.length, 1.0);
    near(made.physics.mach(), 0.11);
    assert_eq!(made.params.faces[1][1], FaceCondition::Pressure(1.0));
    let settled = Until::Settled {
        change: 1e-4,
        most: 5000,
    };
    assert_eq!(made.until, settled);
    // Cells of 0.025 m, from the box's lower corner.
    let [x, y, z] = made.params.moment_center;
    near(x, 0.0);
    near(y, 4.0);
    near(z, 16.0);
}

#[test]
fn a_resolved_case_resolves_to_itself_to_the_bit() {
    let first = plane(PLANE).expect("a case");
    let text = first.case.to_toml().expect("TOML");
    assert!(
        !text.contains("\nre = "),
        "it follows from the rest: {text}"
    );
    let second = plane(&text).expect("the same case");
    assert_eq!(second, first, "{text}");
    assert_eq!(second.case.to_toml().expect("TOML"), text);
    for (from, to) in [("", ""), ("root = 40", "root = 24"), ("mach = 0.11", "")] {
        let first = space(&SPACE.replace(from, to)).expect("a case");
        let text = first.case.to_toml().expect("TOML");
        assert_eq!(space(&text).as_ref(), Ok(&first), "{text}");
    }
    let other = plane(&text.replace("density = 1000", "density = 1001")).expect("a case");
    assert_ne!(other, first, "differences are seen");
}

#[test]
fn closed_boxes_driven_by_walls_default_to_trt() {
    let lid = PLANE
        .replace("re = 50", "re = 5")
        .replace("velocity = [2.0, -1.0]", "velocity = [0.0, 2.0]")
        .replace("{ type = \"pressure\", pressure = 16000.0 }", "\"no-slip\"");
    let two = Collision::Trt { magic: 0.1875 };
    assert_eq!(plane(&lid).expect("a cavity").params.collision, two);
    // u Δx / ν = 2 * 0.025 * re / (...): TRT is unstable beyond 20 there.
    let coarse = lid.replace("re = 5", "re = 500");
    let made = plane(&coarse).expect("a coarse cavity");
    assert_eq!(made.params.collision, Collision::Regularized);
    // Fluid that passes two faces is not driven by walls.
    let passed = lid.replace("velocity = [0.0, 2.0]", "velocity = [2.0, 0.0]");
    assert_eq!(
        plane(&passed).expect("a stream").params.collision,
        Collision::Regularized
    );
    let given = lid.replace(
        "[boundary]",
        "[numerics]\ncollision = \"regularized\"\n[boundary]",
    );
    let made = plane(&given).expect("a cavity");
    assert_eq!(made.params.collision, Collision::Regularized);
}

#[test]
fn an_unstable_flow_runs_if_allowed() {
    let bold = PLANE.replace("re = 50", "re = 151").replace(
        "[boundary]",
        "[numerics]\ncollision = \"trt\"\nallow_unstable = true\n\n[boundary]",
    );
    let made = plane(&bold).expect("allowed");
    assert!(made.unstable.is_some(), "noted");
    let other = PLANE.replace("re = 50", "re = 151").replace(
        "[boundary]",
        "[numerics]\ncollision = \"regularized\"\n\n[boundary]",
    );
    assert_eq!(plane(&other).expect("the remedy").unstable, None);
}

#[test]
fn bgk_in_space_with_open_faces_has_a_bound_of_its_own() {
    // u Δx / ν = 0.374 * 0.025 / ν, of the fastest face.
    let with = |viscosity: &str| {
        let text = SPACE.replace("\"regularized\"", "\"bgk\"");
        space(&text.replace("0.00371", viscosity))
    };
    with("0.00098").expect("9.5");
    let text = with("0.0005").expect_err("18.7").to_string();
    assert!(
        text.contains("in 3D with openings") && text.contains("regularized"),
        "{text}"
    );
}

#[test]
fn coarse_flows_in_space_default_to_cumulants() {
    let fine = SPACE.replace("lattice = \"d3q27\"\ncollision = \"regularized\"\n", "");
    let of = |text: &str| {
        let params = space(text).expect("a case").params;
        (params.lattice, params.collision)
    };
    let usual = (LatticeKind::D3Q19, Collision::Regularized);
    assert_eq!(of(&fine), usual);
    // u Δx / ν = 0.317 * 0.025 / 1e-5 = 793.
    let coarse = fine.replace("0.00371", "1e-5");
    assert_eq!(of(&coarse), (LatticeKind::D3Q27, Collision::CUMULANT));
    assert_eq!(of(&coarse.replace("1e-5", "1.7e-5")), usual, "466");
    let given = coarse.replace("[numerics]", "[numerics]\nlattice = \"d3q19\"");
    assert_eq!(of(&given), usual);
    let lid = coarse.replace("[0.1, 0.2, 0.3] }", "[0.1, 0.2, 0.0] }");
    assert_eq!(of(&lid), usual, "a face that moves along itself");
}

#[test]
fn walls_are_modelled_where_a_case_says_so() {
    let modeled = |text: &str| plane(text).map(|made| made.params.modeled);
    assert_eq!(modeled(PLANE), Ok(vec![]));
    let all = format!("{PLANE}\n[numerics]\nwall_model = \"equilibrium\"\n");
    assert_eq!(modeled(&all), Ok(vec![0]), "walls at rest alone");
    let own = PLANE.replace("omega = 8", "omega = 8\nwall_model = \"equilibrium\"");
    assert_eq!(modeled(&own), Ok(vec![1]));
    let none = format!("{all}[patches.hull]\nwall_model = \"none\"\n");
    assert_eq!(modeled(&none), Ok(vec![]));
    let text = |text: &str| plane(text).expect_err("a refusal").to_string();
    let ramp = text(&own.replace("omega = 8", "omega = 8\nramp = 0.1"));
    assert!(
        ramp.contains("[patches.rotor]") && ramp.contains("varies"),
        "{ramp}"
    );
    let halfway = text(&all.replace("wall_model", "wall = \"bounce-back\"\nwall_model"));
    assert!(
        halfway.contains("[patches.hull]") && halfway.contains("\"bounce-back\""),
        "{halfway}"
    );
    let open = "[patches.hull]\ntype = \"pressure\"\nwall_model = \"equilibrium\"\n";
    let open = text(&format!("{PLANE}\n{open}"));
    assert!(
        open.contains("wall_model") && open.contains("\"pressure\""),
        "{open}"
    );
}

#[test]
fn quadratic_walls_and_boxes_between_velocities_have_bounds_of_their_own() {
    // u Δx / ν = 0.317 * 0.025 / 3e-6 = 2642.
    let coarse = SPACE
        .replace("\"regularized\"", "\"cumulant\"")
        .replace("0.00371", "3e-6");
    let text = space(&coarse).expect_err("beyond 2000").to_string();
    assert!(
        text.contains("up to 2000") && text.contains("or wall = \"linear\""),
        "{text}"
    );
    space(&coarse.replace("\"quadratic\"", "\"linear\"")).expect("the remedy");
    let between = PLANE
        .replace(
            "{ type = \"pressure\", pressure = 16000.0 }",
            "{ type = \"velocity\", velocity = [2.0, -1.0] }",
        )
        .replace("re = 50", "re = 10");
    let text = plane(&between).expect_err("2.0 is beyond 1.5").to_string();
    assert!(text.contains("an outflow in place"), "{text}");
    let outflow = between.replacen(
        "{ type = \"velocity\", velocity = [2.0, -1.0] }",
        "\"outflow\"",
        1,
    );
    plane(&outflow).expect("the remedy");
}
