//! Flows of gas around bodies of any shape.

use cutlink::solve::example;
use cutlink::{FluxCase, RunOptions};
use std::{fs, path::Path};

/// The example with a circle of diameter 1 in place of its square.
fn circle(folder: &Path, steps: u64, change: impl Fn(String) -> String) -> FluxCase {
    let text = example::text("square-cylinder").expect("an example");
    let text = text.replace("folder = \"square\"", &format!("folder = {folder:?}"));
    let text = text.replace("box = [-0.5, -0.5, 0.5, 0.5] ", "shape = \"circle:r=0.5\" ");
    let text = text.replace("seconds = 90", &format!("steps = {steps}"));
    let text = text.replace("[output]", "[output]\nforces_every = 8");
    FluxCase::from_toml(&change(text)).expect("a case")
}

fn same(text: String) -> String {
    text
}

#[test]
fn a_flow_around_a_circle_is_resumed_with_the_same_forces() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let options = RunOptions::default();
    let whole = circle(folders[0].path(), 64, same);
    let summary = whole.run_with(&options, &mut ()).expect("a run").json;
    circle(folders[1].path(), 32, same)
        .run_with(&options, &mut ())
        .expect("a run");
    let resume = RunOptions {
        resume: true,
        threads: 1,
        ..RunOptions::default()
    };
    circle(folders[1].path(), 64, same)
        .run_with(&resume, &mut ())
        .expect("a run");
    for name in ["forces.csv", "integrals.csv", "step_000000000064.ckpt"] {
        let [one, two] = folders
            .each_ref()
            .map(|folder| fs::read(folder.path().join(name)).expect(name));
        assert!(one == two, "{name}");
    }
    let drag = summary["patches"]["square"]["C_D"]["mean"].as_f64();
    assert!(drag > Some(0.5), "{summary}");
    let text = fs::read_to_string(folders[0].path().join("case.toml")).expect("a case");
    assert!(text.contains("shape = \"circle:r=0.5\""), "{text}");
    // The diameter, of which coefficients are made by default.
    let length: toml::Table = text.parse().expect("TOML");
    let length = length["reference"]["length"].as_float().expect("a length");
    assert!((length - 1.0).abs() < 1e-3, "{length}");
}

#[test]
fn bodies_that_make_no_sense_are_refused_with_their_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let shape = "shape = \"circle:r=0.5\"";
    let cases = [
        (
            format!("{shape}\nbox = [-0.5, -0.5, 0.5, 0.5]"),
            "more than once",
        ),
        (format!("{shape}\nfile = \"a.stl\""), "more than once"),
        (format!("{shape}\ntype = \"free-slip\""), "only boxes"),
        (
            format!("{shape}\ntemperature = -1"),
            "\"square\" temperature",
        ),
        ("shape = \"sphere:r=0.5\"".into(), "a box in 3D needs 6"),
        ("shape = \"circle:r=60\"".into(), "fill the box"),
        ("shape = \"circle:r=0.001\"".into(), "holds no point"),
        (
            "file = \"there-is-no-such-file.stl\"".into(),
            "there-is-no-such-file",
        ),
        (
            "box = [-0.5, -0.5, 0.5, 0.5]\nscale = 2".into(),
            "place a file",
        ),
        (
            format!("{shape}\n[[body]]\nname = \"square\"\n{shape}"),
            "name of other",
        ),
    ];
    for (bad, words) in cases {
        let case = circle(folder.path(), 10, |text| text.replace(shape, &bad));
        let failure = case.plan(&RunOptions::default(), &mut ()).expect_err(&bad);
        let whole = format!("{failure} {:?}", failure.hint);
        assert!(whole.contains(words), "{bad}: {whole}");
    }
    let inviscid = |text: String| {
        let text = text.replace("dynamic_viscosity = 0.01", "");
        text.replace("prandtl = 0.71", "")
    };
    let failure = circle(folder.path(), 10, inviscid).plan(&RunOptions::default(), &mut ());
    let failure = failure.expect_err("no viscosity").to_string();
    assert!(failure.contains("no viscosity"), "{failure}");
    let idle = |text: String| {
        let text = text.replace("order = 3", "order = 3\nrelaxation = 0.1");
        text.replace(shape, "box = [-0.5, -0.5, 0.5, 0.5]")
    };
    let failure = circle(folder.path(), 10, idle).plan(&RunOptions::default(), &mut ());
    let failure = failure.expect_err("no use").to_string();
    assert!(failure.contains("relaxation"), "{failure}");
}
