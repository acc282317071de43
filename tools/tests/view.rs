//! Pages for the browser: who writes them, what they hold, what they do not replace.

mod kit;

use kit::Folder;
use serde_json::Value;

/// A circle in a stream, a few steps.
const CASE: &str = r#"
[mesh]
shape = "circle:r=0.5"
domain = [-2, -2, 6, 2]
root = 64
levels = 2

[physics]
re = 40
length = 1
velocity = 1

[boundary]
"x-" = { type = "velocity", velocity = [1, 0] }
"x+" = "outflow"
"y-" = "free-slip"
"y+" = "free-slip"

[run]
steps = 128
accept = ["duration", "stationarity", "compressibility", "Mach", "sound", "movement"]

[output]
checkpoint_at_end = false
"#;

/// What a page says of itself.
fn header(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"header\">").expect("a header");
    let (json, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(json).expect("JSON")
}

fn page(folder: &Folder, name: &str) -> Value {
    header(&String::from_utf8(folder.read(name)).expect("text"))
}

#[test]
fn a_run_writes_its_page() {
    let folder = Folder::new();
    folder.write("case.toml", CASE);
    let ran = folder.run("solve case.toml --quiet");
    assert!([0, 6].contains(&ran.code), "{}", ran.stderr);
    let shown = page(&folder, "flow/report.html");
    let summary: Value = serde_json::from_slice(&folder.read("flow/summary.json")).expect("JSON");
    assert_eq!(shown["title"], "flow");
    let slice = &shown["slices"][0];
    assert_eq!(
        slice["size"],
        serde_json::json!([128, 64]),
        "a value a finest cell"
    );
    let times = slice["times"].as_array().expect("times");
    assert_eq!(times.len(), 3, "at 0, 64 and 128: {times:?}");
    assert_eq!(times[2], summary["time"]);
    assert_eq!(slice["is_closed"], true);
    let names: Vec<&Value> = slice["fields"]
        .as_array()
        .expect("fields")
        .iter()
        .map(|f| &f["name"])
        .collect();
    assert_eq!(names, ["speed", "pressure", "vorticity z"]);
    assert_eq!(shown["plots"][0]["title"], "Forces");
    assert_eq!(shown["plots"][0]["x"]["count"], 128);
    let checks = shown["checks"][0]["rows"].as_array().expect("checks").len();
    assert_eq!(
        Some(checks),
        summary["verdict"]["checks"].as_array().map(Vec::len)
    );
    let case = shown["texts"][0]["text"].as_str().expect("text");
    assert!(case.as_bytes() == folder.read("flow/case.toml"));
    // A new run replaces it; without one on request there is none.
    folder.write("case.toml", &(CASE.to_owned() + "report = false\n"));
    let ran = folder.run("solve case.toml --quiet --force");
    assert!([0, 6].contains(&ran.code), "{}", ran.stderr);
    assert!(!folder.path("flow/report.html").exists());
    let refused = folder.run("view flow --no-open");
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("report = false"),
        "{}",
        refused.stderr
    );
}

#[test]
fn slices_in_space_have_the_values_of_the_flow() {
    let folder = Folder::new();
    let case = CASE.replace("circle:r=0.5", "sphere:r=0.5");
    let case = case
        .replace("[-2, -2, 6, 2]", "[-2, -2, -2, 2, 2, 2]")
        .replace("[1, 0]", "[1, 0, 0], ramp = 0");
    let case = case.replace("root = 64", "root = 16").replace(
        "\"free-slip\"\n\n[run]",
        "\"free-slip\"\n\"z-\" = \"free-slip\"\n\"z+\" = \"free-slip\"\n\n[run]",
    );
    folder.write("case.toml", &case.replace("steps = 128", "steps = 64"));
    let ran = folder.run("solve case.toml --quiet");
    assert!([0, 6].contains(&ran.code), "{}", ran.stderr);
    let shown = page(&folder, "flow/report.html");
    assert_eq!(shown["slices"].as_array().map(Vec::len), Some(3));
    for slice in shown["slices"].as_array().expect("slices") {
        // Blocks that were not brought up to date have density 0: a pressure of -1/3, in lattice units.
        let extent = |k: usize| {
            let coding = &slice["fields"][k]["values"]["coding"];
            ["low", "high"].map(|end| coding[end][0].as_f64().expect("a number"))
        };
        let ([low, high], pressure) = (extent(0), extent(1));
        assert!(
            low >= 0.0 && (1.0..2.0).contains(&high),
            "speed {low} to {high}"
        );
        assert!(
            pressure[0] > -3.0 && pressure[1] < 3.0,
            "pressure {pressure:?}"
        );
    }
    let body = &shown["surface"];
    let names: Vec<&Value> = body["fields"]
        .as_array()
        .expect("fields")
        .iter()
        .map(|f| &f["name"])
        .collect();
    assert_eq!(names, ["pressure", "friction", "y⁺", "level"]);
    assert_eq!(body["patches"][0], "sphere");
}

#[test]
fn a_flow_that_diverges_has_its_page() {
    let folder = Folder::new();
    let case = CASE.replace("re = 40", "re = 1000000");
    let case = case.replace("velocity = 1\n", "velocity = 1\nlattice_velocity = 0.3\n");
    let case = case + "[numerics]\ncollision = \"bgk\"\nallow_unstable = true\n";
    folder.write("case.toml", &case.replace("steps = 128", "steps = 20000"));
    let ran = folder.run("solve case.toml --quiet");
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    let shown = page(&folder, "flow/report.html");
    assert_eq!(shown["verdict"]["grade"], "bad");
    let text = shown["verdict"].to_string();
    assert!(text.contains("diverged"), "{text}");
}

#[test]
fn pages_of_files_replace_nothing_else() {
    let folder = Folder::new();
    // A tetrahedron without a facet.
    folder.write(
        "open.off",
        "OFF\n4 3 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n",
    );
    let ran = folder.run("view open.off --no-open").ok();
    assert_eq!(ran.stdout, "open.off.html\n");
    let shown = page(&folder, "open.off.html");
    assert_eq!(shown["verdict"]["grade"], "bad");
    let rows = &shown["checks"][0]["rows"];
    assert_eq!(rows[0]["title"], "3 open edges");
    let hole = &rows[0]["places"][0];
    let normal: Vec<f64> = (0..3)
        .map(|k| hole["normal"][k].as_f64().expect("a number"))
        .collect();
    assert!(
        normal.iter().all(|&n| n > 0.0),
        "out of the body: {normal:?}"
    );
    // Its own page again, and nothing else.
    folder.run("view open.off --no-open --quiet").ok();
    folder.write("open.off.html", "mine");
    assert_eq!(folder.run("view open.off --no-open").code, 2);
    assert_eq!(folder.read("open.off.html"), b"mine");
    folder
        .run("inspect open.off --check --report health.html --quiet")
        .ok();
    assert_eq!(page(&folder, "health.html")["checks"], shown["checks"]);
    assert_eq!(folder.run("inspect open.off --report health.html").code, 2);
    assert_eq!(folder.run("view missing.stl --no-open").code, 2);
}

#[test]
fn meshes_and_volume_meshes_have_pages() {
    let folder = Folder::new();
    folder
        .run("mesh --shape sphere:r=0.5 --root 16 --levels 2 --output ball --polymesh case --report ball.html --quiet")
        .ok();
    let made = page(&folder, "ball.html");
    assert_eq!(made["slices"].as_array().expect("slices").len(), 3);
    assert_eq!(
        made["slices"][0]["is_closed"], true,
        "the section of the sphere"
    );
    assert!(made["surface"]["triangles"]["count"].as_u64() > Some(100));
    folder.run("view ball.cutlink --no-open --quiet").ok();
    let read = page(&folder, "ball.cutlink.html");
    let blocks = |page: &Value| page["slices"][0]["blocks"]["level"]["count"].clone();
    assert_eq!(blocks(&read), blocks(&made));
    assert!(
        blocks(&read).as_u64() > Some(16),
        "more than the root blocks"
    );
    assert_eq!(read["surface"]["fields"][0]["name"], "level");
    folder
        .run("view case --no-open --quiet --output case.html")
        .ok();
    let case = page(&folder, "case.html");
    let patches = case["surface"]["patches"].as_array().expect("patches");
    assert!(patches.iter().any(|name| name == "sphere"), "{patches:?}");
    assert!(
        folder
            .run("mesh --shape sphere:r=0.5 --report ball.html")
            .code
            == 2,
        "exists"
    );
}
