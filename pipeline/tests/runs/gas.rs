//! Runs of small cases: against the exact flow, resumed, refused.

use cutlink::solve::example;
use cutlink::{AnyCase, Case, ErrorKind, FluxCase, RunOptions};
use std::{collections::BTreeMap, fs, path::Path};

/// The example, with coarse elements and files in a folder.
pub(crate) fn vortex(folder: &Path, change: impl Fn(String) -> String) -> FluxCase {
    let text = example::text("vortex").expect("an example");
    let text = text.replace("folder = \"vortex\"", &format!("folder = {folder:?}"));
    let text = text.replace("levels = 4", "levels = 2");
    let text = text.replace("every_seconds = 5", "every_steps = 30");
    let text = text.replace("seconds = 25", "steps = 100");
    let more = "\n[[output.write]]\nkind = \"probes\"\npoints = [[1.0, 0.5]]\nevery_steps = 10\n\n[[output.write]]\nkind = \"volume\"\nfields = [\"pressure\", \"density\"]\n";
    let text = text.replace("dt = 0.005", "dt = 0.01") + more;
    FluxCase::from_toml(&change(text)).expect("a case")
}

pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            )
        })
        .filter(|(name, _)| {
            !["summary.json", "report.html"].contains(&name.as_str()) && !name.starts_with('.')
        })
        .map(|(name, path)| {
            let bytes = fs::read(path).expect("a file");
            let bytes = match name.as_str() {
                "adapt.csv" => without_times(&bytes),
                _ => bytes,
            };
            (name, bytes)
        })
        .collect()
}

/// The lines of `adapt.csv` without their last column, which is wall time.
fn without_times(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().filter_map(|line| line.rsplit_once(','));
    lines
        .flat_map(|(line, _)| [line.as_bytes(), b"\n"].concat())
        .collect()
}

#[test]
fn the_vortex_is_carried_and_a_resumed_run_has_the_same_files() {
    let (whole, parts) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    let mut options = RunOptions {
        threads: 2,
        ..RunOptions::default()
    };
    let case = vortex(whole.path(), |text| text);
    let summary = case.run_with(&options, &mut ()).expect("a run");
    let error = summary.json["density_error"].as_f64().expect("an error");
    // Elements of 25 / 16: far from the error of the example's, and from none.
    assert!(error > 1e-5 && error < 5e-2, "{error}");
    assert!((summary.time - 1.0).abs() < 1e-12);
    let drift = summary.json["integrals"]["mass_drift"]
        .as_f64()
        .expect("a drift");
    assert!(drift.abs() < 1e-13, "{drift:e}");
    assert!(
        case.run_with(&options, &mut ()).is_err(),
        "the folder has a run"
    );
    let case = vortex(parts.path(), |text| text);
    options.steps = Some(50);
    options.threads = 1;
    case.run_with(&options, &mut ()).expect("half a run");
    options.steps = None;
    options.resume = true;
    case.run_with(&options, &mut ()).expect("the other half");
    let (mut whole, mut parts) = (files(whole.path()), files(parts.path()));
    // Its folder's name is in it; one more checkpoint was kept.
    assert!(whole.remove("case.toml").is_some() && parts.remove("case.toml").is_some());
    parts.retain(|name, _| name != "step_000000000050.ckpt");
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&whole), names(&parts));
    for (name, bytes) in &whole {
        assert!(*bytes == parts[name], "{name}");
    }
    for name in [
        "picture_000000090.png",
        "probes.csv",
        "integrals.csv",
        "volume.htg.series",
    ] {
        assert!(whole.contains_key(name), "{name}: {:?}", names(&whole));
    }
    // The pressure of the stream far away, 2 / (γ Ma²) = 5.714, and less near the vortex.
    let probes = String::from_utf8_lossy(&whole["probes.csv"]).into_owned();
    let last = probes.lines().last().expect("a line");
    let pressure: f64 = last
        .rsplit(',')
        .next()
        .and_then(|p| p.parse().ok())
        .expect("a number");
    assert!(pressure > 4.0 && pressure < 5.7, "{last}");
}

#[test]
fn the_resolved_case_gives_the_same_flow() {
    let folder = tempfile::tempdir().expect("a folder");
    let by_cfl = |text: String| {
        let text = text
            .replace("dt = 0.01", "cfl = 0.4")
            .replace("steps = 100", "seconds = 0.2");
        text.replace(
            "moving-line\"\nvelocity = [1, 1]\ninner",
            "modal\"\nmomentum = 1\n# inner",
        )
        .replace("\nouter", "\n# outer")
    };
    let case = vortex(folder.path(), by_cfl);
    let mut options = RunOptions::default();
    let first = case.run_with(&options, &mut ()).expect("a run");
    let path = folder.path().join("case.toml");
    let again = match AnyCase::read(&path).expect("a case") {
        AnyCase::FluxReconstruction(case) => case,
        _ => panic!("of the other kind"),
    };
    options.replace = true;
    let before = files(folder.path());
    let again = FluxCase {
        file: None,
        ..again
    };
    let second = again.run_with(&options, &mut ()).expect("a run");
    assert_eq!(first.json["density_error"], second.json["density_error"]);
    assert!(
        first.time > 0.2 - 1e-9 && first.time < 0.25,
        "{}",
        first.time
    );
    assert!(before == files(folder.path()));
}

/// Taylor & Green's vortices in 2D, of which the incompressible flow is known.
pub(crate) fn vortices(folder: &Path, more: &str) -> FluxCase {
    let text = format!(
        "[solver]\nkind = \"flux-reconstruction\"\n[domain]\nbox = [1, 0, 3, 2]\nelements = [4, 4]\n\
         [physics]\ndynamic_viscosity = 0.01\n[boundary]\n\"x-\" = \"periodic\"\n\"x+\" = \"periodic\"\n\
         \"y-\" = \"periodic\"\n\"y+\" = \"periodic\"\n[initial]\npreset = \"taylor-green\"\n[run]\nsteps = 300\n\
         [output]\nfolder = {folder:?}\nintegrals_every = 20\n{more}"
    );
    FluxCase::from_toml(&text).expect("a case")
}

#[test]
fn vortices_decay_by_viscosity() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RunOptions::default();
    let case = vortices(folder.path(), "");
    let summary = case.run_with(&options, &mut ()).expect("a run");
    let end = |key: &str| summary.json[key].as_f64().expect("a number");
    // Velocity 1 and one wave along each edge of 2: volume / 4, and k² = 2 π² times as much.
    let pi = std::f64::consts::PI;
    let decay = |viscosity: f64| (-4.0 * viscosity * pi * pi * summary.time).exp();
    assert!(decay(0.01) < 0.9, "{}", summary.time);
    // Within the square of the Mach number.
    assert!((end("kinetic_energy") / decay(0.01) - 1.0).abs() < 2e-3);
    assert!((end("enstrophy") / (2.0 * pi * pi * decay(0.01)) - 1.0).abs() < 2e-3);
    // A viscosity that is wrong by 3 % would be seen.
    assert!((decay(0.0103) / decay(0.01) - 1.0).abs() > 4e-3);
    let text = fs::read_to_string(folder.path().join("integrals.csv")).expect("a file");
    let header = text.lines().next().expect("a header");
    assert!(
        header.ends_with("elements,kinetic_energy,enstrophy"),
        "{header}"
    );
}

#[test]
fn a_resumed_viscous_run_on_a_mesh_that_follows_has_the_same_files() {
    let (whole, parts) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    let adapt = "[adapt]\nlevels = 2\nmomentum = 1\nevery = 7\n[numerics]\norder = 2\nprecision = \"f32\"\n";
    let mut options = RunOptions {
        threads: 2,
        ..RunOptions::default()
    };
    let summary = vortices(whole.path(), adapt).run_with(&options, &mut ());
    assert!(summary.expect("a run").json["elements"].as_u64() > Some(16));
    (options.steps, options.threads) = (Some(130), 1);
    let case = vortices(parts.path(), adapt);
    case.run_with(&options, &mut ()).expect("half a run");
    (options.steps, options.resume) = (None, true);
    case.run_with(&options, &mut ()).expect("the other half");
    let (whole, parts) = (files(whole.path()), files(parts.path()));
    for name in ["integrals.csv", "step_000000000300.ckpt"] {
        assert!(whole[name] == parts[name], "{name}");
    }
}

#[test]
fn viscous_cases_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = vortices(folder.path(), "").to_toml().expect("a case");
    let cases = [
        (
            "dynamic_viscosity = 0.01",
            "dynamic_viscosity = -1",
            "dynamic_viscosity",
        ),
        ("dynamic_viscosity = 0.01", "prandtl = 1", "no viscosity"),
        (
            "dynamic_viscosity = 0.01",
            "dynamic_viscosity = 0.01\nprandtl = 0",
            "prandtl",
        ),
        (
            "preset = \"taylor-green\"",
            "preset = \"taylor-green\"\nstrength = 1",
            "neither strength",
        ),
        (
            "preset = \"taylor-green\"",
            "preset = \"taylor-green\"\nmach = 2",
            "pressure left",
        ),
    ];
    let fails = |text: &str| {
        let case = FluxCase::from_toml(text).expect("a case");
        let failure = case.plan(&RunOptions::default(), &mut ());
        failure.expect_err(text)
    };
    for (from, to, words) in cases {
        assert!(good.contains(from), "{good}");
        let failure = fails(&good.replace(from, to));
        assert!(failure.to_string().contains(words), "{to}: {failure}");
    }
    let flat = good
        .replace("3.0, 2.0", "3.0, 1.0")
        .replace("[4, 4]", "[4, 2]");
    assert!(flat != good, "{good}");
    assert!(fails(&flat).to_string().contains("a square or a cube"));
    // The other kind's viscosity is not this one.
    let kinematic = good.replace("dynamic_viscosity", "viscosity");
    let failure = FluxCase::from_toml(&kinematic).expect_err("of the other kind");
    assert!(
        failure.message.contains("[physics] viscosity is a key of"),
        "{failure}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_its_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = [
        ("order = 3", "order = 5", "[numerics] order"),
        ("dt = 0.01", "dt = 0.01\ncfl = 0.5", "both dt and cfl"),
        ("elements = [8, 8]", "elements = [8, 4]", "squares"),
        (
            "elements = [8, 8]",
            "elements = [8, 8, 1]",
            "elements has 3",
        ),
        (
            "\"x+\" = \"periodic\"",
            "\"x+\" = \"far-field\"",
            "one face along x",
        ),
        (
            "\"x+\" = \"periodic\"",
            "\"x+\" = \"no-slip\"",
            "no viscosity",
        ),
        ("mach = 0.5", "mach = 0.5\ndensity = 1", "preset and fields"),
        ("mach = 0.5", "mach = 0.5\nstrength = 500", "pressure left"),
        ("inner = 5", "inner = 5\nrefine = 0.1", "sensor = \"modal\""),
        ("inner = 5", "inner = 7", "sensor"),
        ("levels = 2", "levels = 0", "levels is 0"),
        (
            "steps = 100",
            "steps = 100\nseconds = 1",
            "more than one duration",
        ),
    ];
    for (good, bad, words) in cases {
        let case = vortex(folder.path(), |text| {
            assert!(text.contains(good), "{good}");
            text.replace(good, bad)
        });
        let failure = case.plan(&RunOptions::default(), &mut ()).expect_err(bad);
        assert!(failure.to_string().contains(words), "{bad}: {failure}");
        assert_eq!(failure.kind, ErrorKind::Input, "{failure}");
    }
    assert!(
        vortex(folder.path(), |text| text)
            .plan(&RunOptions::default(), &mut ())
            .is_ok()
    );
}

/// The flow around a square in a folder, for so many steps.
pub(crate) fn square(folder: &Path, steps: u64, change: impl Fn(String) -> String) -> FluxCase {
    let text = example::text("square-cylinder").expect("an example");
    let text = text.replace("folder = \"square\"", &format!("folder = {folder:?}"));
    let text = text.replace("levels = 5 ", "levels = 4 ");
    let text = text.replace("levels = [4, 5]", "levels = [3, 4]");
    let text = text.replace("seconds = 90", &format!("steps = {steps}"));
    let text = text.replace("every_seconds = 10", "every_steps = 40");
    FluxCase::from_toml(&change(text)).expect("a case")
}

#[test]
fn a_flow_around_a_square_is_resumed_with_the_same_forces() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let modal = |text: String| {
        let text = text.replace("sensor = \"places\" ", "momentum = 1 ");
        text.replace(
            "[[adapt.place]]\nbox = [-2, -2.5, 12, 2.5]\nlevels = [3, 5]\n",
            "",
        )
    };
    let options = RunOptions::default();
    let whole = square(folders[0].path(), 160, modal);
    let summary = whole.run_with(&options, &mut ()).expect("a run").json;
    square(folders[1].path(), 72, modal)
        .run_with(&options, &mut ())
        .expect("a run");
    let resume = RunOptions {
        resume: true,
        threads: 1,
        ..RunOptions::default()
    };
    square(folders[1].path(), 160, modal)
        .run_with(&resume, &mut ())
        .expect("a run");
    let [one, two] = folders.each_ref().map(|folder| files(folder.path()));
    for name in ["forces.csv", "integrals.csv", "step_000000000160.ckpt"] {
        let name = match one.contains_key(name) {
            true => name.to_owned(),
            false => {
                let last = one.keys().rfind(|file| file.ends_with(".ckpt"));
                last.expect("a checkpoint").clone()
            }
        };
        assert!(one[&name] == two[&name], "{name}");
    }
    let forces = String::from_utf8(one["forces.csv"].clone()).expect("text");
    assert_eq!(forces.lines().count(), 1 + 11, "{forces}");
    let last = forces.lines().last().expect("a line");
    let numbers: Vec<f64> = last.split(',').map(|x| x.parse().expect(last)).collect();
    assert!(numbers[2] > 0.5, "a drag: {forces}");
    assert!(summary["removed"].as_u64() > Some(0), "{summary}");
    assert!(
        summary["patches"]["square"]["C_D"]["mean"].as_f64() > Some(0.5),
        "{summary}"
    );
}

#[test]
fn walls_that_make_no_sense_are_refused_with_their_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = [
        (
            "box = [-0.5, -0.5, 0.5, 0.5]",
            "box = [-0.5, -0.5, 0.6, 0.5]",
            "x = 0.6, where elements of level 4 have none",
        ),
        (
            "box = [-0.5, -0.5, 0.5, 0.5]",
            "box = [-0.5, -0.5, 0.6, 0.5]",
            "the nearest are at 0.5 and 1",
        ),
        (
            "box = [-0.5, -0.5, 0.5, 0.5]",
            "box = [0.5, -0.5, -0.5, 0.5]",
            "\"square\" is empty",
        ),
        (
            "box = [-0.5, -0.5, 0.5, 0.5]",
            "box = [-0.5, 0.5]",
            "4 are needed",
        ),
        ("name = \"square\"", "", "no name"),
        (
            "name = \"square\"",
            "name = \"square\"\ntype = \"periodic\"",
            "no body has",
        ),
        ("dynamic_viscosity = 0.01", "", "prandtl"),
        (
            "\"y-\" = \"far-field\"",
            "\"y-\" = { type = \"far-field\", velocity = [1, 0] }",
            "does not use",
        ),
        (
            "\"y-\" = \"far-field\"",
            "\"y-\" = { type = \"no-slip\", velocity = [0, 1] }",
            "through the wall",
        ),
        (
            "\"y-\" = \"far-field\"",
            "\"y-\" = { type = \"no-slip\", temperature = -1 }",
            "\"y-\" temperature",
        ),
        (
            "sensor = \"places\" ",
            "every = 3\nsensor = \"places\" ",
            "never changes",
        ),
        (
            "sensor = \"places\" ",
            "at_bodies = 9\nsensor = \"places\" ",
            "at_bodies is 9",
        ),
        ("levels = [3, 4]", "levels = [4, 3]", "[[adapt.place]]"),
        (
            "[run]",
            "[reference]\nlength = -1\n[run]",
            "[reference] length",
        ),
    ];
    for (good, bad, words) in cases {
        let case = square(folder.path(), 10, |text| {
            assert!(text.contains(good), "{good}");
            text.replace(good, bad)
        });
        let failure = case.plan(&RunOptions::default(), &mut ()).expect_err(bad);
        assert!(failure.to_string().contains(words), "{bad}: {failure}");
        assert_eq!(failure.kind, ErrorKind::Input, "{failure}");
    }
    // Without viscosity a wall cannot hold the gas.
    let inviscid = |text: String| {
        let text = text
            .replace("dynamic_viscosity = 0.01", "")
            .replace("prandtl = 0.71", "");
        text.replace("\"y-\" = \"far-field\"", "\"y-\" = \"no-slip\"")
    };
    let failure = square(folder.path(), 10, inviscid).plan(&RunOptions::default(), &mut ());
    let failure = failure.expect_err("no viscosity");
    assert!(failure.to_string().contains("no viscosity"), "{failure}");
    let free = |text: String| inviscid(text).replace("\"no-slip\"", "\"free-slip\"");
    let plan = square(folder.path(), 10, free).plan(&RunOptions::default(), &mut ());
    assert!(plan.is_ok(), "{plan:?}");
    // Walls are needed for forces.
    let text = example::text("vortex").expect("an example");
    let case = FluxCase::from_toml(&format!("{text}\n[reference]\nlength = 1\n")).expect("a case");
    let failure = case
        .plan(&RunOptions::default(), &mut ())
        .expect_err("no walls");
    assert!(failure.to_string().contains("there are none"), "{failure}");
}

#[test]
fn keys_of_the_other_kind_are_named() {
    let text = example::text("vortex").expect("an example");
    let other = example::text("cavity").expect("an example");
    let failure = Case::from_toml(&format!("{other}\n[[body]]\nname = \"a\"\n"));
    let failure = failure.expect_err("of the other kind");
    assert!(failure.message.contains("[body] is a key of"), "{failure}");
    for (add, words) in [
        ("[mesh]\nshape = \"circle\"\n", "[mesh] is a key of"),
        ("[patches.a]\n", "[patches] is a key of"),
    ] {
        let failure =
            FluxCase::from_toml(&format!("{text}\n{add}")).expect_err("of the other kind");
        assert!(failure.message.contains(words), "{failure}");
        assert!(failure.message.contains("lattice-boltzmann"), "{failure}");
    }
    let collision = text.replace("order = 3", "collision = \"trt\"");
    let failure = FluxCase::from_toml(&collision).expect_err("of the other kind");
    assert!(
        failure.message.contains("[numerics] collision is a key of"),
        "{failure}"
    );
    let failure = Case::from_toml(&format!("{other}\n[far_field]\ndensity = 1\n"));
    let failure = failure.expect_err("of the other kind");
    assert!(
        failure.message.contains("[far_field] is a key of"),
        "{failure}"
    );
    let failure = Case::from_toml(text).expect_err("of the other kind");
    assert!(failure.message.contains("flux-reconstruction"), "{failure}");
    let failure = Case::from_toml(&text.replace("flux-r", "flux-d")).expect_err("no such kind");
    assert!(
        failure.message.contains("unknown name `flux-d"),
        "{failure}"
    );
    // A key of neither is unknown.
    let failure = FluxCase::from_toml(&text.replace("order = 3", "ordr = 3")).expect_err("unknown");
    assert!(failure.message.contains("unknown key `ordr`"), "{failure}");
    assert!(Case::from_toml(&format!("[solver]\nkind = \"lattice-boltzmann\"\n{other}")).is_ok());
}

#[test]
fn a_flow_that_diverges_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = vortex(folder.path(), |text| text.replace("dt = 0.01", "dt = 0.3"));
    let failure = case
        .run_with(&RunOptions::default(), &mut ())
        .expect_err("too long steps");
    assert_eq!(failure.kind, ErrorKind::Diverged, "{failure}");
}

#[test]
fn the_cases_of_the_page_are_cases() {
    let page = include_str!("../../../docs/flux-reconstruction.md");
    let examples = page.split("```toml\n").skip(1);
    let mut plans = 0;
    for text in examples.filter_map(|rest| rest.split("```").next()) {
        let case = FluxCase::from_toml(text).expect("a case");
        case.plan(&RunOptions::default(), &mut ()).expect("a plan");
        plans += 1;
    }
    assert_eq!(plans, 2);
}
