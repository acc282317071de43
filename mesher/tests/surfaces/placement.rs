//! Placement against values worked out by hand.

use crate::worst;
use cutlink_mesher::health;
use cutlink_mesher::placement::{
    Affine, Axis, Fit, Placement, PlacementError, Rotation, Scale, Unit,
};
use cutlink_mesher::primitives::{Shape2, Shape3};
use cutlink_mesher::surface::Surface;

const UNIT_BOX: [[f64; 3]; 2] = [[0.0; 3], [1.0; 3]];

fn rotated(text: &str) -> Placement {
    Placement {
        rotate: text
            .split(',')
            .map(|r| r.parse().expect("a rotation"))
            .collect(),
        ..Placement::default()
    }
}

fn resolve(placement: &Placement) -> Affine<3> {
    placement.resolve(UNIT_BOX).expect("a valid placement")
}

fn cuboid(size: [f64; 3]) -> Surface<3> {
    Shape3::Box { size }.surface(1.0).expect("a valid box")
}

fn close<const D: usize>(a: [f64; D], b: [f64; D]) -> bool {
    (0..D).all(|k| (a[k] - b[k]).abs() < 1e-14)
}

#[test]
fn nothing_asked_for_changes_nothing() {
    let map = resolve(&Placement::default());
    assert!(map.is_identity());
    assert_eq!(map.determinant(), 1.0);
    for p in [[1.0, -2.0, 3.5], [1e300, -1e-300, 0.1]] {
        assert_eq!(map.apply(p), p);
    }
}

#[test]
fn quarter_turns_are_exact() {
    for (text, image) in [
        ("z:90", [-2.0, 1.0, 3.0]),
        ("z:-90", [2.0, -1.0, 3.0]),
        ("z:180", [-1.0, -2.0, 3.0]),
        ("z:270", [2.0, -1.0, 3.0]),
        ("z:450", [-2.0, 1.0, 3.0]),
        ("z:-720", [1.0, 2.0, 3.0]),
        ("x:90", [1.0, -3.0, 2.0]),
        ("y:90", [3.0, 2.0, -1.0]),
        ("x:90,y:90", [2.0, -3.0, -1.0]),
        ("y:90,x:90", [3.0, 1.0, 2.0]),
    ] {
        let map = resolve(&rotated(text));
        assert_eq!(map.apply([1.0, 2.0, 3.0]), image, "{text}");
        for entry in map.linear.as_flattened() {
            assert!([-1.0, 0.0, 1.0].contains(entry), "{text}: {entry}");
            assert!(*entry != 0.0 || entry.is_sign_positive(), "{text}: -0");
        }
        assert_eq!(map.determinant(), 1.0, "{text}");
    }
}

#[test]
fn four_quarter_turns_are_none() {
    assert!(resolve(&rotated("x:90,x:90,x:90,x:90")).is_identity());
    assert!(!resolve(&rotated("x:90,x:90,x:90,x:89")).is_identity());
}

#[test]
fn other_angles_agree_with_trigonometry() {
    for degrees in [
        1.0, 30.0, 44.0, 45.0, 60.0, 89.9, 135.0, 200.5, -33.0, 359.0,
    ] {
        let map = resolve(&rotated(&format!("z:{degrees}")));
        let (s, c) = f64::to_radians(degrees).sin_cos();
        assert!(close(map.linear[0], [c, -s, 0.0]), "{degrees}: {map}");
        assert!(close(map.linear[1], [s, c, 0.0]), "{degrees}: {map}");
        assert!((map.determinant() - 1.0).abs() < 1e-15, "{degrees}");
    }
    let eighth = resolve(&rotated("y:45")).linear;
    assert_eq!(eighth[0][0], eighth[0][2]);
    let twelfth = resolve(&rotated("z:30")).linear;
    assert_eq!(twelfth[1][0], 0.5);
    let sixth = resolve(&rotated("z:60")).linear;
    assert_eq!([sixth[0][0], sixth[1][0]], [0.5, twelfth[0][0]]);
}

#[test]
fn steps_come_in_the_documented_order() {
    let placement = Placement {
        unit: Unit::Mm,
        scale: Scale::PerAxis(vec![2.0, 1.0, 1.0]),
        rotate: vec![Rotation {
            axis: Axis::Z,
            degrees: 90.0,
        }],
        fit: None,
        translate: vec![10.0, 0.0, -1.0],
    };
    // 1000 mm along x → 1 m → 2 m → along y → shifted.
    assert_eq!(
        resolve(&placement).apply([1000.0, 0.0, 0.0]),
        [10.0, 2.0, -1.0]
    );
    let fitted = Placement {
        fit: Some(Fit::Longest(4.0)),
        ..placement
    };
    // The unit cube is 2 × 1 × 1 mm, turned 1 × 2 × 1, fitted 2 × 4 × 2 about the origin.
    let map = resolve(&fitted);
    assert!(close(map.apply([0.0; 3]), [11.0, -2.0, -2.0]), "{map}");
    assert!(close(map.apply([1.0; 3]), [9.0, 2.0, 0.0]), "{map}");
}

#[test]
fn units_have_their_lengths() {
    for (text, metres) in [
        ("um", 1e-6),
        ("mm", 1e-3),
        ("cm", 1e-2),
        ("m", 1.0),
        ("in", 0.0254),
        ("ft", 12.0 * 0.0254),
        ("km", 1e3),
    ] {
        let unit: Unit = text.parse().expect("a unit");
        assert!((unit.metres() - metres).abs() < 1e-16, "{text}");
        assert_eq!(unit.to_string(), text);
        let placement = Placement {
            unit,
            ..Placement::default()
        };
        assert_eq!(resolve(&placement).apply([1.0; 3]), [unit.metres(); 3]);
    }
    let error = "furlong".parse::<Unit>().expect_err("no unit").to_string();
    assert!(error.contains("um, mm, cm, m, in, ft, km"), "{error}");
}

#[test]
fn fit_fills_the_tightest_axis_and_centres() {
    let surface = cuboid([2.0, 1.0, 0.5]);
    let fit = |fit: Fit| {
        let placement = Placement {
            fit: Some(fit),
            ..Placement::default()
        };
        let map = placement.resolve_surface(&surface).expect("a valid fit");
        let mut placed = surface.clone();
        map.apply_surface(&mut placed);
        placed.bounds().expect("facets")
    };
    assert_eq!(
        fit(Fit::Longest(1.0)),
        [[-0.5, -0.25, -0.125], [0.5, 0.25, 0.125]]
    );
    // y is the tightest: factor 1, centred at (12, 0.5, 5).
    assert_eq!(
        fit(Fit::Box {
            lower: vec![10.0, 0.0, 0.0],
            upper: vec![14.0, 1.0, 10.0],
        }),
        [[11.0, 0.0, 4.75], [13.0, 1.0, 5.25]]
    );
}

/// A turned sphere keeps its box; that of the turned box is larger by √2.
#[test]
fn fit_uses_the_box_of_the_turned_surface() {
    let sphere = Shape3::Sphere { radius: 1.0 };
    let surface = sphere.surface(1e-4).expect("a sphere");
    let placement = Placement {
        fit: Some(Fit::Longest(2.0)),
        ..rotated("z:45")
    };
    let exact = placement.resolve_surface(&surface).expect("valid");
    assert!((exact.determinant() - 1.0).abs() < 1e-3, "{exact}");
    let bounds = surface.bounds().expect("facets");
    let loose = placement.resolve(bounds).expect("valid");
    let cube = 2f64.sqrt().powi(-3);
    assert!((loose.determinant() - cube).abs() < 1e-12, "{loose}");
    // Unused vertices do not count.
    let mut stray = surface.clone();
    stray.vertices.push([100.0; 3]);
    assert_eq!(placement.resolve_surface(&stray), Ok(exact));
}

#[test]
fn a_flat_surface_fits_and_a_point_does_not() {
    let placement = Placement {
        fit: Some(Fit::Longest(3.0)),
        ..Placement::default()
    };
    let flat = placement.resolve([[0.0, 0.0, 5.0], [1.0, 1.5, 5.0]]);
    let flat = flat.expect("one axis of no extent is fine");
    assert_eq!(flat.apply([0.0, 0.0, 5.0]), [-1.0, -1.5, 0.0]);
    assert_eq!(
        placement.resolve([[1.0; 3]; 2]),
        Err(PlacementError::FitPoint)
    );
}

#[test]
fn mirrors_keep_outward_outward() {
    for (factors, mirror) in [
        ([-1.0, 1.0, 1.0], true),
        ([1.0, 2.0, -3.0], true),
        ([-1.0, -1.0, -0.5], true),
        ([-1.0, -1.0, 1.0], false),
    ] {
        let mut surface = cuboid([1.0, 2.0, 0.5]);
        let before = surface.clone();
        let placement = Placement {
            scale: Scale::PerAxis(factors.to_vec()),
            ..Placement::default()
        };
        let map = placement.resolve_surface(&surface).expect("valid");
        map.apply_surface(&mut surface);
        let h = health::check(&surface);
        assert!(h.closed() && h.consistent() && !h.inward, "{factors:?}");
        let volume = factors.iter().product::<f64>().abs();
        assert!((h.volume - volume).abs() < 1e-14, "{factors:?}");
        assert_eq!(map.determinant() < 0.0, mirror, "{factors:?}");
        assert_eq!(surface.facets != before.facets, mirror, "{factors:?}");
        // Without the reversal the comparison fails.
        surface.facets = before.facets;
        assert_eq!(health::check(&surface).inward, mirror, "{factors:?}");
    }
    let mut circle = Shape2::Circle { radius: 1.0 }.surface(0.01).expect("valid");
    let placement = Placement {
        scale: Scale::PerAxis(vec![-1.0, 1.0]),
        ..Placement::default()
    };
    let map = placement.resolve_surface(&circle).expect("valid");
    map.apply_surface(&mut circle);
    let h = health::check(&circle);
    assert!(h.closed() && h.volume > 3.0, "{h}");
}

#[test]
fn composition_is_one_map_after_the_other() {
    let shift = Placement {
        translate: vec![1.0, 2.0, 3.0],
        scale: Scale::Uniform(2.0),
        ..Placement::default()
    };
    let (turn, shift) = (resolve(&rotated("x:90,z:90")), resolve(&shift));
    for p in [[0.0; 3], [1.0, -2.0, 0.5], [8.0, 0.25, -4.0]] {
        assert_eq!(turn.compose(&shift).apply(p), turn.apply(shift.apply(p)));
        assert_eq!(shift.compose(&turn).apply(p), shift.apply(turn.apply(p)));
    }
    assert_ne!(turn.compose(&shift), shift.compose(&turn));
    assert_eq!(turn.compose(&shift).determinant(), 8.0);
}

#[test]
fn the_plane_turns_about_z_only() {
    let bounds = [[0.0; 2], [1.0; 2]];
    let map = rotated("z:90").resolve(bounds).expect("valid");
    assert_eq!(map.apply([1.0, 2.0]), [-2.0, 1.0]);
    assert_eq!(map.determinant(), 1.0);
    assert_eq!(
        rotated("x:90").resolve(bounds),
        Err(PlacementError::OutOfPlane(Axis::X))
    );
}

#[test]
fn bad_values_are_refused() {
    let bad = |placement: Placement, word: &str| {
        let error = placement.resolve(UNIT_BOX).expect_err(word).to_string();
        assert!(error.contains(word), "{error}");
    };
    let scale = |scale| Placement {
        scale,
        ..Placement::default()
    };
    bad(scale(Scale::Uniform(0.0)), "not zero");
    bad(scale(Scale::Uniform(f64::NAN)), "finite");
    bad(scale(Scale::PerAxis(vec![1.0, 2.0])), "2 values, 3");
    bad(scale(Scale::PerAxis(vec![1.0, 2.0, 0.0])), "not zero");
    bad(
        scale(Scale::PerAxis(vec![1.0, f64::INFINITY, 1.0])),
        "finite",
    );
    let translate = |translate| Placement {
        translate,
        ..Placement::default()
    };
    bad(translate(vec![1.0]), "1 values, 3");
    bad(translate(vec![1.0, f64::NAN, 0.0]), "finite");
    let fit = |fit| Placement {
        fit: Some(fit),
        ..Placement::default()
    };
    bad(fit(Fit::Longest(0.0)), "larger than 0");
    bad(fit(Fit::Longest(f64::NAN)), "larger than 0");
    let turned_round = Fit::Box {
        lower: vec![0.0, 1.0, 0.0],
        upper: vec![1.0, 0.0, 1.0],
    };
    bad(fit(turned_round), "axis 1 has -1");
    let never = Placement {
        rotate: vec![Rotation {
            axis: Axis::X,
            degrees: f64::NAN,
        }],
        ..Placement::default()
    };
    bad(never, "finite");
    let huge = scale(Scale::Uniform(1e300)).resolve([[0.0; 3], [1e10; 3]]);
    assert_eq!(huge, Err(PlacementError::Overflow(1e10)));
    for text in ["90", "w:90", "z:", "z:inf", "z:ninety"] {
        let error = text.parse::<Rotation>().expect_err(text).to_string();
        assert!(error.contains("z:90"), "{error}");
    }
}

#[test]
fn stored_forms_read_back() {
    let placement = Placement {
        unit: Unit::In,
        scale: Scale::PerAxis(vec![1.0, 2.0, 3.0]),
        fit: Some(Fit::Box {
            lower: vec![0.0; 3],
            upper: vec![1.0; 3],
        }),
        translate: vec![0.1, 0.2, 0.3],
        ..rotated("z:30,x:-12.5")
    };
    let text = serde_json::to_string(&placement).expect("text");
    assert!(text.contains(r#""rotate":["z:30","x:-12.5"]"#), "{text}");
    assert_eq!(
        serde_json::from_str::<Placement>(&text).ok(),
        Some(placement.clone())
    );
    let map = resolve(&placement);
    let text = serde_json::to_string(&map).expect("text");
    assert_eq!(serde_json::from_str::<Affine<3>>(&text).ok(), Some(map));
    assert!(
        serde_json::from_str::<Affine<2>>(&text).is_err(),
        "3D is not 2D"
    );
    let short = r#"{"unit":"mm","scale":2.0,"fit":1.0}"#;
    let short: Placement = serde_json::from_str(short).expect("other fields default");
    assert_eq!((short.unit, short.fit), (Unit::Mm, Some(Fit::Longest(1.0))));
    assert!(
        serde_json::from_str::<Placement>(r#"{"scael":2.0}"#).is_err(),
        "typo"
    );
    assert!(
        serde_json::from_str::<Placement>(r#"{"rotate":["q:1"]}"#).is_err(),
        "no axis q"
    );
}

#[test]
fn a_map_prints_one_line_an_axis() {
    let placement = Placement {
        translate: vec![0.5, 0.0, -2.0],
        ..rotated("z:90")
    };
    assert_eq!(
        resolve(&placement).to_string(),
        "x' = 0 x - 1 y + 0 z + 0.5\ny' = 1 x + 0 y + 0 z + 0\nz' = 0 x + 0 y + 1 z - 2"
    );
}

#[test]
fn quarter_turns_of_a_cube_permute_its_vertices() {
    let cube = cuboid([1.0; 3]);
    let mut turned = cube.clone();
    resolve(&rotated("x:90,z:270")).apply_surface(&mut turned);
    let sorted = |s: &Surface<3>| {
        let mut bits: Vec<_> = s.vertices.iter().map(|v| v.map(f64::to_bits)).collect();
        bits.sort_unstable();
        bits
    };
    assert_eq!(sorted(&cube), sorted(&turned));
    resolve(&rotated("x:1")).apply_surface(&mut turned);
    assert_ne!(sorted(&cube), sorted(&turned));
}

#[test]
fn a_map_and_its_inverse_are_the_identity() {
    let placement = Placement {
        unit: Unit::Mm,
        scale: Scale::PerAxis(vec![1.0, -2.0, 3.0]),
        translate: vec![0.1, 0.2, -0.3],
        ..rotated("z:90,x:-12.5")
    };
    let map = resolve(&placement);
    let back = map.inverse().expect("not singular");
    for p in [[0.0; 3], [1.0, -2.0, 3.5], [300.0, 1.0, -20.0]] {
        let again = back.apply(map.apply(p));
        let off = worst((0..3).map(|a| (again[a] - p[a]).abs()));
        assert!(off < 1e-12 * 300.0, "{p:?} came back as {again:?}");
    }
    // A quarter turn by hand: x to y and y to -x.
    let turn = Affine::<2> {
        linear: [[0.0, -2.0], [2.0, 0.0]],
        offset: [1.0, 5.0],
    };
    assert_eq!(
        turn.inverse().expect("a turn").apply([1.0, 7.0]),
        [1.0, 0.0]
    );
    let flat = Affine::<2> {
        linear: [[1.0, 2.0], [2.0, 4.0]],
        offset: [0.0; 2],
    };
    assert_eq!(flat.inverse(), None, "a line");
}
