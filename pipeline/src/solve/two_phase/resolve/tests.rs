//! The mesh of a case that follows the interface.

use super::*;

const DAM: &str = r#"
[solver]
kind = "two-phase"

[domain]
box = [0, 0, 1, 0.5]
root = 16

[adapt]
levels = 3
at_walls = 3

[phases]
liquid = { density = 1000, viscosity = 1e-3 }
gas = { density = 1.2, viscosity = 1.8e-5 }

[gravity]
acceleration = [0, -9.81]

[numerics]
dt = 0.02

[[liquid]]
box = [0, 0, 0.2, 0.2]

[[body]]
box = [0.6, 0, 0.66, 0.1]

[[refine]]
box = [0.8, 0.3, 0.9, 0.4]

[boundary]
"y+" = "pressure"

[run]
steps = 8
"#;

#[test]
fn walls_boxes_and_bodies_stay_refined() {
    let case = TwoPhaseCase::from_toml(DAM).expect("a case");
    let setting = case.setting::<2>(None).expect("a setting");
    let (forest, frame) = (&setting.mesh.forest, setting.mesh.frame);
    let (floor, _) = setting.following.expect("a mesh that follows");
    let level = |of: &Forest<2>, at: [f64; 2]| {
        let point = std::array::from_fn(|a| (at[a] - frame.origin[a]) / frame.dx);
        of.level[of.leaf_at(point).expect("a leaf").block as usize]
    };
    // The floor has the walls, the body and the box; the mesh at the start the water too.
    for at in [
        [0.01, 0.4],
        [0.5, 0.01],
        [0.99, 0.3],
        [0.62, 0.11],
        [0.85, 0.35],
    ] {
        assert_eq!(level(&floor, at), 2, "{at:?}");
        assert_eq!(level(forest, at), 2, "{at:?}");
    }
    let [stays, starts] = [&floor, forest].map(|of| level(of, [0.2, 0.17]));
    assert!(stays < 2 && starts == 2, "the water: {stays} {starts}");
    // The open face is no wall.
    assert!(level(forest, [0.4, 0.49]) < 2, "coarser than walls");
    let solid: u32 = setting
        .mesh
        .classes
        .solid
        .iter()
        .zip(&forest.first_child)
        .filter(|(_, c)| **c == cutlink_amr::NONE)
        .map(|(mask, _)| mask.count_ones())
        .sum();
    assert_eq!(solid, 4 * 6, "cells of 1/64 whose centre is in the body");
}

/// Contact angles are for walls, of 30 to 150 degrees, and need surface tension.
#[test]
fn contact_angles_that_mean_nothing_are_refused() {
    let with = |tension: &str, face: &str| {
        let text = DAM.replace("\"y+\" = \"pressure\"", face) + tension;
        let case = TwoPhaseCase::from_toml(&text).expect("a case");
        let setting = case.setting::<2>(None);
        setting
            .map(|setting| setting.params.contact_angles)
            .map_err(|e| e.to_string())
    };
    let tension = "[interface]\nsurface_tension = 0.07\n";
    let face = |kind: &str, angle: f64| {
        format!("\"y+\" = \"pressure\"\n\"y-\" = {{ type = \"{kind}\", contact_angle = {angle} }}")
    };
    let angles = with(tension, &face("no-slip", 60.0)).expect("an angle of a wall");
    assert!((angles[1][0] - PI / 3.0).abs() < 1e-15 && angles[0] == [FRAC_PI_2; 2]);
    for (tension, face, says) in [
        (
            "",
            face("no-slip", 60.0),
            "y-: contact_angle without surface tension",
        ),
        (tension, face("no-slip", 29.0), "y-: contact_angle is 29"),
        (
            tension,
            face("pressure", 60.0),
            "contact_angle is no key of this type",
        ),
    ] {
        let error = with(tension, &face).expect_err("no such angle");
        assert!(error.contains(says), "{error}");
    }
}
