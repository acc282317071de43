//! Velocities over faces: expressions, profiles, tables, mass flows.

use super::*;
use crate::worst::worst;
use cutlink_solver::{Place, Plan, Space};

/// `PLANE` with another inlet.
fn with_inlet(inlet: &str) -> Resolved<2> {
    let given = "{ type = \"velocity\", velocity = [2.0, -1.0] }";
    assert!(PLANE.contains(given), "it is there");
    let made = plane(&PLANE.replace(given, inlet)).unwrap_or_else(|e| panic!("{e}"));
    let text = made.case.to_toml().expect("TOML");
    assert_eq!(plane(&text), Ok(made.clone()), "{text}");
    made
}

/// The velocity of the inlet, m/s, at a height and time.
fn inlet_at(made: &Resolved<2>, y: f64, t: f64) -> [f64; 2] {
    let variations = &made.params.variations;
    let found = variations
        .iter()
        .find(|v| v.place == Place::Face(0, 0))
        .expect("a variation");
    // The box begins at (-1, -1), root cells are 0.1 m, a root step 0.0025 s, and c is 40 m/s.
    let (x, t) = ([0.0, (y + 1.0) / 0.1], t / 0.0025);
    let space = match &found.space {
        Space::Uniform => Ok([1.0; 2]),
        Space::Steady(of) => of(x),
        Space::Moving(of) => of(t)(x),
    };
    let time = found.time.as_ref().map_or(Ok([1.0; 2]), |of| of(t));
    let (space, time) = (space.expect("a number"), time.expect("a number"));
    std::array::from_fn(|a| 40.0 * space[a] * time[a])
}

fn close(found: [f64; 2], wanted: [f64; 2]) {
    let apart = worst((0..2).map(|a| (found[a] - wanted[a]).abs()));
    assert!(apart < 1e-12, "{found:?} is not {wanted:?}");
}

#[test]
fn expressions_and_profiles_give_the_velocities_computed_by_hand() {
    let kind = |made: &Resolved<2>| {
        let name = format!("{:?}", made.params.variations[0].space);
        (name, made.params.variations[0].time.is_some())
    };
    // S(y) T(t): split into factors.
    let made = with_inlet(r#"{ type = "velocity", velocity = ["velocity*y^2*(1+t)", -1] }"#);
    assert_eq!(kind(&made), ("Steady".into(), true));
    close(inlet_at(&made, 0.5, 3.0), [2.0, -1.0]);
    assert!(
        made.notes
            .iter()
            .all(|note| !note.contains("not a product")),
        "{:?}",
        made.notes
    );
    // A wave is not a product, which a note reports.
    let made = with_inlet(r#"{ type = "velocity", velocity = ["1+sin(y-t)", 0] }"#);
    assert_eq!(kind(&made), ("Moving".into(), false));
    close(inlet_at(&made, 0.5, 0.25), [1.0 + 0.25f64.sin(), 0.0]);
    assert!(
        made.notes
            .iter()
            .any(|note| note.contains("\"x-\" is not a product")),
        "{:?}",
        made.notes
    );
    // A constant starts from rest by a ramp, which is at one half after half its duration.
    let made = with_inlet(r#"{ type = "velocity", velocity = [2, -1], ramp = 0.5 }"#);
    assert_eq!(kind(&made), ("Uniform".into(), true));
    close(inlet_at(&made, 0.0, 0.25), [1.0, -0.5]);
    assert_eq!(made.initial.at([3.0, 3.0]), Ok((1.0, [0.0; 2])), "at rest");
    let made = with_inlet(r#"{ type = "velocity", velocity = [2, -1], ramp = 0 }"#);
    assert!(
        made.params
            .variations
            .iter()
            .all(|v| v.place != Place::Face(0, 0))
    );
    let (_, [u, v]) = made.initial.at([3.0, 3.0]).expect("a state");
    near(u, 0.05);
    near(v, -0.025);
    // A width of 2 m about y = 0, from center and radius.
    let made = with_inlet(
        r#"{ type = "velocity", profile = "parabolic", mean = 1, center = [-1, 0], radius = 1, ramp = 0 }"#,
    );
    close(inlet_at(&made, 0.5, 0.0), [1.5 * 0.75, 0.0]);
    close(inlet_at(&made, -1.5, 0.0), [0.0, 0.0]);
    // Heights are above y = -1.
    let made = with_inlet(
        r#"{ type = "velocity", profile = "power-law", velocity = [2, 0], reference_height = 4, exponent = 0.5, ramp = 0 }"#,
    );
    close(inlet_at(&made, 0.0, 0.0), [1.0, 0.0]);
}

#[test]
fn a_parabola_between_walls_ends_at_them() {
    let walls = PLANE.replace("\"y+\" = \"free-slip\"", "\"y+\" = \"no-slip\"");
    for (text, height) in [(walls, 2.0), (PLANE.to_owned(), 4.0)] {
        let text = text.replace(
            "velocity = [2.0, -1.0]",
            "profile = \"parabolic\", max = 1.5, ramp = 0",
        );
        let made = plane(&text).expect("a flow");
        for (y, of) in [(-1.0, 0.0), (0.0, 1.0 / height), (1.0, 2.0 / height)] {
            close(inlet_at(&made, y, 0.0), [1.5 * 4.0 * of * (1.0 - of), 0.0]);
        }
    }
}

#[test]
fn a_table_stands_in_the_resolved_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("inlet.csv");
    std::fs::write(&path, "# measured\ny, u\n-1, 0\n0, 2\n1, 1\n").expect("a file");
    let made = with_inlet(&format!(
        r#"{{ type = "velocity", profile = {path:?}, ramp = 0 }}"#
    ));
    std::fs::remove_file(&path).expect("it is no longer needed");
    close(inlet_at(&made, -0.5, 0.0), [1.0, 0.0]);
    close(inlet_at(&made, 0.5, 9.0), [1.5, 0.0]);
    let text = made.case.to_toml().expect("TOML");
    assert_eq!(plane(&text), Ok(made), "{text}");
}

#[test]
fn a_mass_flow_is_the_flux_of_the_links() {
    let text = SPACE.replace(
        "\"z-\" = { type = \"velocity\", velocity = [0.1, 0.2, 0.3] }",
        "\"z-\" = { type = \"mass-flow\", mass_flow = 0.03, profile = \"parabolic\", center = [0.6, 0.45, 0.3], radius = 0.2 }",
    );
    let text = text.replace(
        "\n[patches.none]\ntype = \"velocity\"\nvelocity = [0.01, 0.02, 0.03]\n",
        "",
    );
    let case = Case::parse("case.toml", &text).expect("a case");
    let domain = case.domain.as_ref().expect("a box");
    let mesh = bare::<3>(&domain.bounds, &domain.root).expect("a mesh");
    let grid = CaseGrid::of(&mesh);
    let first = case.resolve("case.toml", grid).expect("a flow");
    let areas = first.areas(
        &Plan::new(&mesh, first.params.clone()).expect("a plan"),
        None,
    );
    let made = case
        .resolve(
            "case.toml",
            CaseGrid {
                areas: &areas,
                ..grid
            },
        )
        .expect("a flow");
    let plan = Plan::new(&mesh, made.params.clone()).expect("a plan");
    // kg/s: density times lattice volumes per step.
    let volume = made.units.length.powi(3) / made.units.time;
    let delivered = 1.2 * volume * plan.inflow(Place::Face(2, 0));
    assert!((delivered / 0.03 - 1.0).abs() < 1e-12, "{delivered}");
    // The area is off by 5 % on eight cells across, which the velocity compensates.
    let area = std::f64::consts::PI * 0.04;
    assert!(
        (areas[0].1 / area - 1.0).abs() < 0.1,
        "{areas:?}, and not {area}"
    );
}
