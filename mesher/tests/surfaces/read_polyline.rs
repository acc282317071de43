//! 2D polylines and airfoils.

use std::path::Path;

use cutlink_mesher::read::{AnySurface, Loaded, ReadError, parse_any, read_polyline, read_surface};

fn parse(text: &str) -> Result<Loaded<2>, ReadError> {
    match parse_any(Path::new("test.dat"), text.as_bytes())? {
        AnySurface::D2(loaded) => Ok(loaded),
        AnySurface::D3(_) => panic!("a polyline should not be read as a surface"),
    }
}

fn read(text: &str) -> Loaded<2> {
    parse(text).expect("the text should be readable")
}

const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

#[test]
fn separators_comments_and_closing_do_not_matter() {
    let plain = read("0 0\n1 0\n1 1\n0 1\n");
    assert_eq!(plain.surface.vertices, SQUARE);
    assert_eq!(plain.surface.facets, [[0, 1], [1, 2], [2, 3], [3, 0]]);
    assert_eq!(plain.surface.patches, ["body"]);
    for variant in [
        "0,0\n1,0\n1,1\n0,1\n0,0",
        "0\t0\r\n1\t0\r\n1\t1\r\n0\t1\r\n",
        "# a square\n\n0 0 # corner\n1.0e0 0;\n1 , 1\n  0   1\n-0 0\n\n\n",
        "\u{feff}0 0\r1 0\r1 1\r0 1\r",
    ] {
        assert_eq!(read(variant).surface, plain.surface, "{variant:?}");
    }
}

#[test]
fn loops_are_kept_apart_and_named() {
    let hole =
        "outer\n0 0\n4 0\n4 4\n0 4\n\n1 1\n1 2\n2 2\n\nouter\n7 0\n8 0\n8 1\n\n5 5\n6 5\n6 6\n";
    let loaded = read(hole);
    assert_eq!(loaded.surface.patches, ["outer", "body", "body_2"]);
    assert_eq!(
        loaded.surface.facet_patch,
        [0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 2, 2, 2]
    );
    assert_eq!(loaded.surface.facets[4..7], [[4, 5], [5, 6], [6, 4]]);
}

#[test]
fn selig_and_lednicer_give_the_same_loop() {
    let selig = read("Wedge 12\n 1.0 0.01\n 0.5 0.06\n 0.0 0.0\n 0.5 -0.06\n 1.0 -0.01\n");
    let lednicer = read(
        "Wedge 12\n 3. 3.\n\n 0.0 0.0\n 0.5 0.06\n 1.0 0.01\n\n 0.0 0.0\n 0.5 -0.06\n 1.0 -0.01\n",
    );
    assert_eq!(selig.surface, lednicer.surface);
    assert_eq!(selig.surface.patches, ["Wedge 12"]);
    assert_eq!(selig.surface.facets.len(), 5);
    let area: f64 = selig
        .surface
        .facets
        .iter()
        .map(|&[a, b]| {
            let (p, q) = (
                selig.surface.vertices[a as usize],
                selig.surface.vertices[b as usize],
            );
            0.5 * (p[0] * q[1] - q[0] * p[1])
        })
        .sum();
    assert!(area > 0.0, "Selig's order is counter-clockwise");
    let lost =
        parse("Wedge 12\n 3. 3.\n\n 0.0 0.0\n 0.5 0.06\n 1.0 0.01\n\n 0.0 0.0\n 0.5 -0.06\n");
    assert!(
        lost.expect_err("a point is missing")
            .to_string()
            .contains("line 2: expected 3 + 3 points")
    );
    // A polygon whose first point happens to be counts is a polygon.
    assert_eq!(
        read("3 2\n9 0\n9 9\n5 5\n4 4\n3 3\n").surface.facets.len(),
        6
    );
}

#[test]
fn faults_name_the_line() {
    for (text, expected) in [
        (
            "0 0\n1 0\n1 1 0\n",
            "line 3: expected two numbers, x and y, found 3 numbers",
        ),
        (
            "0 0\n1 0\n1\n",
            "line 3: expected two numbers, x and y, found 1 numbers",
        ),
        (
            "0 0\n1 0\nx 1\n",
            "line 3: expected two numbers, or a blank line",
        ),
        ("0 0\n1 inf\n1 1\n", "line 2: coordinate inf is not finite"),
        (
            "0 0\n1 0\n0 0\n",
            "line 1: expected a loop of at least three points, found 2 distinct ones",
        ),
        ("hello world\n", "is of no known format (STL, PLY, "),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_wrong_dimension_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder should be had");
    let (flat, solid) = (folder.path().join("a"), folder.path().join("b"));
    std::fs::write(&flat, "0 0\n1 0\n1 1\n").expect("the folder should be writable");
    std::fs::write(&solid, "solid\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nendloop\nendfacet\nendsolid\n").expect("the folder should be writable");
    assert_eq!(
        read_polyline(&flat)
            .expect("three points should do")
            .report
            .bytes,
        12
    );
    assert!(matches!(read_surface(&flat), Err(ReadError::Planar { .. })));
    assert!(matches!(
        read_polyline(&solid),
        Err(ReadError::Spatial { .. })
    ));
    assert!(read_surface(&solid).is_ok());
}

#[test]
fn parts_of_a_loop_are_named() {
    let box_ = read("[bottom]\n0 0\n1 0\n[right]\n1 1\n[top]\n0 1\n[left]\n");
    assert_eq!(box_.surface.patches, ["bottom", "right", "top", "left"]);
    assert_eq!(box_.surface.facet_patch, [0, 1, 2, 3]);
    assert_eq!(box_.surface.vertices, SQUARE);
    // The same with the first point again at the end, a repeated corner, and a loop's name for what no part names.
    let mixed =
        read("wall\n0 0\n1 0\n[inlet]\n1 0\n1 1 # corner\n\n\n0 0\n1 0\n[ inlet ]\n1 1\n0 0\n");
    assert_eq!(mixed.surface.patches, ["wall", "inlet", "body"]);
    assert_eq!(mixed.surface.facet_patch, [0, 1, 1, 2, 1, 1]);
    let airfoil = read("NACA\n[upper]\n1 0\n0.5 0.1\n0 0\n[lower]\n0.5 -0.1\n1 0\n");
    assert_eq!(airfoil.surface.patches, ["upper", "lower"]);
    assert_eq!(airfoil.surface.facet_patch, [0, 0, 1, 1]);
    for (text, place) in [
        ("0 0\n1 0\n[]\n1 1\n", "line 3: expected a part's name"),
        ("0 0\n1 0\n[open\n1 1\n", "line 3: expected a part's name"),
        (
            "0 0\n1 0\n[a]\n[b]\n1 1\n",
            "line 3: expected points behind a part's name",
        ),
        (
            "0 0\n1 0\n1 1\n\n[a]\n",
            "line 5: expected points behind a part's name",
        ),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(place), "{error}");
    }
}
