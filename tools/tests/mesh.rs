//! `cutlink mesh`: what it builds, prints and writes.

mod kit;

use kit::{Folder, keys, solid, stl};
use serde_json::Value;
use std::collections::BTreeSet;

/// A run that takes milliseconds; the picture is drawn in one test only.
const SMALL: &str = "mesh --shape sphere --root 16 --levels 2 --no-picture";

#[test]
fn a_sphere_is_meshed_reported_and_written() {
    let folder = Folder::new();
    let ran = folder.run("mesh --shape sphere --root 16 --levels 2").ok();
    for word in [
        "shape sphere:r=0.5",
        "closed, consistently oriented",
        "25 % of its longest extent",
        "root 16 x 16 x 16 cells, 2 levels",
        "5 % of the longest edge",
        "device    cpu",
        "leaf blocks",
        "links cut at",
        "checksum",
        "sphere.cutlink",
        "sphere.png",
    ] {
        assert!(ran.stdout.contains(word), "{word:?} in:\n{}", ran.stdout);
    }
    assert_eq!(ran.stderr, "", "no messages, and no bar without a terminal");
    assert_eq!(folder.files(), ["sphere.cutlink", "sphere.png"]);
    let png = folder.read("sphere.png");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "a picture");
}

#[test]
fn the_numbers_are_those_of_a_sphere() {
    let folder = Folder::new();
    let json = folder
        .run("mesh --shape sphere --root 32 --levels 3 --json --no-picture")
        .ok()
        .json();
    let levels = json["levels"].as_array().expect("levels");
    let finest_dx = levels[2]["dx"].as_f64().expect("dx");
    assert_eq!(
        finest_dx,
        1.5 / 32.0 / 4.0,
        "1.5 m in 32 cells, halved twice"
    );
    let volume = json["solid_finest"].as_f64().expect("a count") * finest_dx.powi(3);
    let sphere = std::f64::consts::PI / 6.0;
    assert!((volume / sphere - 1.0).abs() < 0.01, "volume {volume}");
    for level in levels {
        let n = |key: &str| level[key].as_u64().expect("a count");
        let cells = n("fluid") + n("boundary") + n("solid");
        assert_eq!(cells, 64 * n("leaf_blocks"), "{level}");
    }
}

#[test]
fn the_json_object_has_the_documented_keys() {
    const DOCUMENTED: &str = include_str!("../../docs/json-schema.md");
    let folder = Folder::new();
    let ran = folder.run(&format!("{SMALL} --json")).ok();
    let json = ran.json();
    let mut found = BTreeSet::new();
    keys(&json, "", &mut found);
    keys(&json["levels"][0], "levels[].", &mut found);
    let pinned = "blocks boundary_cells cells checksum command cutlink device device.name \
        device.model device.peak_bytes device.reason dimensions dry_run files files.mesh files.mesh.bytes files.mesh.path frame \
        frame.dx frame.how frame.origin frame.root_cells frame.upper health health.area \
        health.bounds health.components health.degenerate_facets health.duplicate_facets \
        health.facets health.flipped_edges health.inward health.nonmanifold_edges \
        health.odd_edges health.open_edges health.samples health.unbalanced_edges \
        health.vertices health.volume input input.bytes input.closed input.format \
        input.gzipped intersections input.kind input.name input.patches input.triangles input.vertices levels \
        levels[].blocks levels[].boundary levels[].dx levels[].fluid levels[].leaf_blocks \
        gap_links levels[].level levels[].solid links notes patches polymesh parameters parameters.close_holes parameters.deviation \
        parameters.fill parameters.flow parameters.levels parameters.periodic parameters.refine parameters.robust \
        parameters.seed parameters.wall_distance peak_rss_bytes schema thin thin.cells thin.links \
        thin.places snapping snapping.collapsed_facets snapping.max_displacement snapping.merged_vertices \
        snapping.unit solid_finest threads times_ms times_ms.bins times_ms.counts times_ms.download \
        times_ms.embed times_ms.estimate times_ms.health times_ms.open \
        times_ms.intersections times_ms.links times_ms.picture times_ms.polymesh times_ms.read times_ms.refine times_ms.snap \
        times_ms.total times_ms.upload times_ms.voxelize times_ms.write transform transform.linear \
        transform.offset transform.unit";
    let pinned: BTreeSet<String> = pinned.split_whitespace().map(str::to_owned).collect();
    assert_eq!(found, pinned, "the keys are an interface");
    for key in &pinned {
        let documented = DOCUMENTED.contains(&format!("`{key}`"));
        assert!(documented, "`{key}` should be in docs/json-schema.md");
    }
    assert_eq!(json["checksum"].as_str().map(str::len), Some(16), "hex");
}

#[test]
fn threads_change_neither_the_mesh_nor_its_file() {
    let folder = Folder::new();
    let run = |threads: usize| {
        let args = format!("{SMALL} --json --threads {threads} --output t{threads}");
        folder.run(&args).ok().json()
    };
    let one = run(1);
    assert_eq!(one["threads"], 1, "as requested");
    for threads in [2, 5] {
        let more = run(threads);
        assert_eq!(more["threads"], threads, "as requested");
        assert_eq!(one["checksum"], more["checksum"], "{threads} threads");
        let file = folder.read(&format!("t{threads}.cutlink"));
        assert!(file == folder.read("t1.cutlink"), "{threads} threads");
    }
    let other = SMALL.replace("sphere", "sphere:r=0.45") + " --domain -.75,-.75,-.75,.75,.75,.75";
    let other = folder.run(&format!("{other} --json")).ok().json();
    assert_ne!(one["checksum"], other["checksum"], "another body");
}

#[test]
fn a_dry_run_prints_the_settings_and_writes_nothing() {
    let folder = Folder::new();
    let ran = folder.run("mesh --shape torus --levels 6 --dry-run").ok();
    assert!(ran.stdout.contains("6 levels"), "{}", ran.stdout);
    assert!(ran.stdout.contains("nothing was built"), "{}", ran.stdout);
    let json = folder
        .run("mesh --shape torus --dry-run --json")
        .ok()
        .json();
    assert_eq!(json["dry_run"], true, "says so");
    assert_eq!(
        json["levels"].as_array().map(Vec::len),
        Some(4),
        "the default"
    );
    assert!(json["levels"][3]["dx"].is_f64(), "spacing is known");
    assert!(json.get("links").is_none(), "nothing that was not built");
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn files_are_placed_and_the_placement_is_reported() {
    let folder = Folder::new();
    folder.write("box.stl", &stl(&solid("box:size=1000x500x250")));
    let args = "mesh box.stl --unit mm --rotate x90,z:90 --translate 1,2,3 --root 16 --levels 2 \
                --no-picture --json";
    let json = folder.run(args).ok().json();
    assert_eq!(json["input"]["format"], "ASCII STL", "detected by content");
    // Half extents 0.5, 0.25, 0.125; about x: 0.5, 0.125, 0.25; about z: 0.125, 0.5, 0.25.
    let (lower, upper) = (&json["frame"]["origin"], &json["frame"]["upper"]);
    for (axis, (middle, half)) in [(1.0, 0.125), (2.0, 0.5), (3.0, 0.25)]
        .into_iter()
        .enumerate()
    {
        let [l, u] = [lower, upper].map(|c| c[axis].as_f64().expect("a number"));
        assert!(
            (0.5 * (l + u) - middle).abs() < 1e-9,
            "axis {axis}: {l} to {u}"
        );
        assert!(u - l >= 2.0 * half + 0.5 - 1e-9, "axis {axis}: {l} to {u}");
    }
    assert_eq!(
        json["transform"]["offset"],
        serde_json::json!([1.0, 2.0, 3.0])
    );
    let inspected = folder.run("inspect box.cutlink --json").ok().json();
    assert_eq!(
        inspected["metadata"]["transform"], json["transform"],
        "stored in the file"
    );
}

#[test]
fn airfoils_are_meshed_in_2d() {
    let folder = Folder::new();
    folder.write("square.dat", "0 0\n1 0\n1 1\n0 1\n");
    let json = folder
        .run("mesh square.dat --root 16 --levels 2 --json --no-picture")
        .ok()
        .json();
    assert_eq!(json["dimensions"], 2, "two columns");
    let dx = json["levels"][1]["dx"].as_f64().expect("dx");
    let area = json["solid_finest"].as_f64().expect("a count") * dx * dx;
    assert!((area - 1.0).abs() < 0.1, "area {area}");
    folder
        .run("mesh --shape naca:0012 --root 16 --levels 2")
        .ok();
}

#[test]
fn crossing_a_face_is_noted_and_inward_facets_are_accepted() {
    let folder = Folder::new();
    let crossing = "mesh --shape sphere --domain 0,-1,-1,2,1,1 --root 8 --levels 2 --no-picture";
    let ran = folder.run(crossing).ok();
    assert!(ran.stderr.contains("lower x face"), "{}", ran.stderr);

    let mut inward = solid("box");
    inward.facets.iter_mut().for_each(|f| f.swap(0, 1));
    folder.write("inward.stl", &stl(&inward));
    folder.write("outward.stl", &stl(&solid("box")));
    let run = |name: &str| {
        let args = format!("mesh {name}.stl --root 8 --levels 2 --json --no-picture");
        folder.run(&args).ok()
    };
    let (inward, outward) = (run("inward"), run("outward"));
    assert!(inward.stderr.contains("all facets face inward"), "noted");
    assert_eq!(
        inward.json()["notes"].as_array().map(Vec::len),
        Some(1),
        "in JSON too"
    );
    let solid = |ran: &kit::Ran| ran.json()["solid_finest"].clone();
    assert_eq!(solid(&inward), solid(&outward), "the same body");
}

#[test]
fn quiet_is_quiet_and_a_closed_pipe_is_no_panic() {
    let folder = Folder::new();
    let ran = folder.run(&format!("{SMALL} --quiet")).ok();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let ran = folder
        .shell("$CUTLINK mesh --shape sphere --dry-run | true")
        .ok();
    assert_eq!(ran.stderr, "", "no panic message");
    let ran = folder.shell("$CUTLINK mesh --help | true").ok();
    assert_eq!(ran.stderr, "", "no panic message");
    let ran = folder.shell("$CUTLINK completions bash | true").ok();
    assert_eq!(ran.stderr, "", "no panic message");
}

/// A duct is the complement of the body: the same cut links, seen from the other side.
#[test]
fn a_flow_inside_fills_what_the_surface_encloses() {
    let folder = Folder::new();
    let mesh = |flow: &str| {
        let args = "mesh --shape cylinder:r=0.3,h=1.5 --root 32 --levels 3 --no-picture --json";
        let ran = folder
            .run(&format!("{args} --flow {flow} --output {flow}"))
            .ok();
        folder
            .run(&format!("inspect {flow}.cutlink --check --quiet"))
            .ok();
        ran.json()
    };
    let (outside, inside) = (mesh("outside"), mesh("inside"));
    let finest = |json: &Value| json["solid_finest"].as_u64().expect("a count");
    let frame = outside["frame"]["root_cells"].as_array().expect("cells");
    let cells: u64 = frame
        .iter()
        .map(|n| n.as_u64().expect("a number") * 4)
        .product();
    assert_eq!(finest(&outside) + finest(&inside), cells, "complements");
    assert_eq!(inside["parameters"]["flow"], "inside", "said");
    let dx = inside["levels"][2]["dx"].as_f64().expect("a length");
    let fluid = (cells - finest(&inside)) as f64 * dx.powi(3);
    let exact = std::f64::consts::PI * 0.09 * 1.5;
    assert!((fluid / exact - 1.0).abs() < 0.02, "{fluid} of {exact}");
    assert!(inside["links"].as_u64() > Some(1000), "cut from within");
}

/// Two boxes 0.1 apart, root cells of 1/16: how many levels rules give.
#[test]
fn rules_find_gaps_lines_and_insides() {
    let folder = Folder::new();
    let at = |shape: &str, x: f64| {
        let mut surface = solid(shape);
        surface
            .vertices
            .iter_mut()
            .for_each(|vertex| vertex[0] += x);
        stl(&surface)
    };
    let [left, right] = [-0.175, 0.175].map(|x| at("box:size=0.25x0.4x0.4", x));
    folder.write("two.stl", &(left + &right));
    folder.write("zone.stl", &at("box:size=0.12x0.2x0.2", 0.37));
    folder.write("l.obj", "v -0.4 -0.4 -0.4\nv 0.4 -0.4 -0.4\nl 1 2\n");
    let mesh = "mesh two.stl --domain -0.5,-0.5,-0.5,0.5,0.5,0.5 --root 16 --levels 1 --wall-distance 0 --no-picture --force";
    for (rule, levels) in [
        // 4 cells in 0.1 need 1/64, 1 fits already, 1.7 need 1/32.
        ("gap:*,levels=6", 3),
        ("gap:*,levels=6,cells=1", 1),
        ("gap:*,levels=6,cells=1.7", 2),
        ("edges:*,levels=4", 4),
        ("curvature:*,levels=3", 3),
        ("edges:*,levels=4,angle=91", 1),
        ("curvature:*,levels=3,angle=91", 1),
        ("lines:l.obj,levels=4", 4),
        ("inside:zone.stl,levels=3", 3),
        ("outside:zone.stl,levels=2", 2),
    ] {
        let args = format!("{mesh} --refine {rule} --json");
        let json = folder.run(&args).ok().json();
        let found = json["levels"].as_array().expect("levels").len();
        assert_eq!(found, levels, "{rule}");
    }
}
