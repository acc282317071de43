//! Runs with bodies that move: resumed, refused.

use cutlink::{Case, Error, ErrorKind, RunOptions};

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

const ADAPT: &str =
    "[adapt]\nlevels = 2\nevery = 8\nby = [{ what = \"vorticity\", refine = 0.01 }]\n";

/// Looks of `adapt.csv`, without their times on the clock.
fn looks(of: &str) -> Vec<&str> {
    of.lines()
        .filter_map(|line| Some(line.rsplit_once(',')?.0))
        .collect()
}

#[test]
fn a_mesh_follows_body_and_flow() {
    // Blocks of a path have to be those of the longer run.
    for (refinement, way) in [("path", 0.3), ("follow", 0.6)] {
        let motion = format!(
            "[motion.circle]\ntranslation = [\"{way}*sin(pi*t)\", 0]\nrefinement = \"{refinement}\"\n"
        );
        let looks = goes_on(&format!("{motion}{ADAPT}"));
        let cells = |line: &str| -> [u64; 2] {
            let mut all = line.split(',').skip(2).map(|n| n.parse().expect("a count"));
            std::array::from_fn(|_| all.next().expect("two levels"))
        };
        let first = cells(looks.lines().nth(1).expect("looks"));
        let last = cells(looks.lines().last().expect("looks"));
        // Blocks of the path have all that the flow asks for.
        let is_path = refinement == "path";
        assert!(
            last[1] > first[1] || is_path,
            "{first:?} {last:?}: the flow asks for cells"
        );
    }
}

#[test]
fn a_case_runs_and_goes_on_to_the_same_bytes() {
    let motion = "[motion.circle]\ntranslation = [\"0.3*sin(pi*t)\", 0]\nangle = \"0.5*t\"\n";
    goes_on(motion);
    // More than a block away.
    let motion = motion.replace("0.3*", "0.6*") + "refinement = \"follow\"\n";
    let looks = goes_on(&motion);
    assert!(looks.lines().count() > 1, "{looks}");
}

/// Runs a case at once and in two parts, compares, and returns `adapt.csv`.
fn goes_on(motion: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |name: &str, seconds: &str, resume: bool| {
        let to = folder.path().join(name);
        let out = format!(
            "[output]\nfolder = {:?}\nintegrals_every = 0\n",
            to.display().to_string()
        );
        let base = PLANE.replace("seconds = 2", seconds);
        let case = Case::parse("case", &format!("{base}\n{motion}\n{out}")).expect("a case");
        let options = RunOptions {
            resume,
            ..RunOptions::default()
        };
        case.run_with(&options, &mut ()).map(|_| ())
    };
    let ran = |found: Result<(), Error>| {
        // So short a run need not be trusted.
        if let Err(error) = found {
            assert_eq!(error.kind, ErrorKind::Untrusted, "{error}");
        }
    };
    ran(run("whole", "seconds = 0.5", false));
    ran(run("parts", "seconds = 0.3", false));
    ran(run("parts", "seconds = 0.5", true));
    let read = |name: &str, file: &str| {
        std::fs::read_to_string(folder.path().join(name).join(file)).expect("a file")
    };
    for file in ["motion.csv", "forces.csv"] {
        assert!(read("whole", file).lines().count() > 30, "{file}");
        assert!(read("whole", file) == read("parts", file), "{file}");
    }
    let adapted = |name: &str| {
        std::fs::read_to_string(folder.path().join(name).join("adapt.csv")).unwrap_or_default()
    };
    let [whole, parts] = [adapted("whole"), adapted("parts")];
    assert_eq!(looks(&whole), looks(&parts));
    whole
}

#[test]
fn what_knows_nothing_of_bodies_is_refused() {
    let motion = "[motion.circle]\ntranslation = [\"0.3*sin(pi*t)\", 0]\n";
    let averages = format!("{PLANE}\n{motion}\n[output.averages]\nfrom_seconds = 1\n");
    let case = Case::parse("case", &averages).expect("a case");
    let error = case
        .run_with(&RunOptions::default(), &mut ())
        .expect_err("refused");
    assert!(error.to_string().contains("averages"), "{error}");
    let case = Case::parse("case", &format!("{PLANE}\n{motion}")).expect("a case");
    let options = RunOptions {
        ranks: vec![2, 4],
        ..RunOptions::default()
    };
    let error = case.plan(&options, &mut ()).expect_err("refused");
    assert!(error.to_string().contains("one rank"), "{error}");
    // More levels than the bodies have.
    let case = format!("{PLANE}\n{motion}\n{}", ADAPT.replace("= 2", "= 3"));
    let case = Case::parse("case", &case).expect("a case");
    let error = case
        .run_with(&RunOptions::default(), &mut ())
        .expect_err("refused");
    assert!(error.to_string().contains("circle"), "{error}");
    assert!(error.to_string().contains("3 levels"), "{error}");
}

/// The mean of x over the vertices of a binary PLY file whose vertices are three doubles.
fn mean_x(path: &std::path::Path) -> f64 {
    let bytes = std::fs::read(path).expect("a file");
    let end = b"end_header\n";
    let at = bytes
        .windows(end.len())
        .position(|w| w == end)
        .expect("a header");
    let header = std::str::from_utf8(&bytes[..at]).expect("text");
    let count = header
        .lines()
        .find_map(|line| line.strip_prefix("element vertex "));
    let count: usize = count.and_then(|n| n.parse().ok()).expect("a count");
    let body = &bytes[at + end.len()..];
    let x = |n: usize| f64::from_le_bytes(body[24 * n..][..8].try_into().expect("eight bytes"));
    (0..count).map(x).sum::<f64>() / count as f64
}

/// Runs the plane with three levels and surfaces every half second; pressure and friction of the drag at its end.
fn with_surfaces(folder: &std::path::Path, far_field: &str, motion: &str) -> [f64; 2] {
    let plane = PLANE.replace("levels = 2", "levels = 3");
    let plane = plane.replace("velocity = [0, 0]", &format!("velocity = {far_field}"));
    let out = format!(
        "{motion}[output]\nfolder = {:?}\nforces_every = 1\n\
         [[output.write]]\nkind = \"surface\"\nformat = \"ply\"\nevery_seconds = 0.5\n",
        folder.display().to_string()
    );
    let case = Case::parse("case", &format!("{plane}\n{out}")).expect("a case");
    if let Err(error) = case.run_with(&RunOptions::default(), &mut ()) {
        assert_eq!(error.kind, ErrorKind::Untrusted, "{error}");
    }
    let summary = std::fs::read_to_string(folder.join("summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("json");
    let of = |key: &str| summary["parts"]["circle"]["C_D"][key].as_f64();
    ["pressure", "friction"].map(|key| of(key).unwrap_or(f64::NAN))
}

#[test]
fn surfaces_go_with_their_bodies() {
    let folder = tempfile::tempdir().expect("a folder");
    let [rest, flight] = ["rest", "flight"].map(|name| folder.path().join(name));
    let motion = "[motion.circle]\ntranslation = [\"-t\", 0]\nrefinement = \"follow\"\n";
    let in_stream = with_surfaces(&rest, "[1, 0]", "");
    let in_flight = with_surfaces(&flight, "[0, 0]", motion);
    let entries = std::fs::read_dir(&flight).expect("a folder").flatten();
    let paths = entries.map(|entry| entry.path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "ply"))
        .collect();
    paths.sort();
    assert_eq!(paths.len(), 5, "{paths:?}");
    for (path, expected) in paths.iter().zip([0.0, -0.5, -1.0, -1.5, -2.0]) {
        let x = mean_x(path);
        assert!((x - expected).abs() < 0.01, "{x} for {expected}");
    }
    // Both frames have the same drag, by pressure and by friction, which is relative to the wall.
    let [pressure, friction] = [0, 1].map(|n| in_flight[n] / in_stream[n]);
    assert!((pressure - 1.0).abs() < 0.04, "{in_flight:?} {in_stream:?}");
    assert!((friction - 1.0).abs() < 0.05, "{in_flight:?} {in_stream:?}");
    assert!(in_stream[1] > 0.2 * in_stream[0], "{in_stream:?}");
}
