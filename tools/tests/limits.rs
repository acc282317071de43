//! The limits of `docs/limits.md`: what has no end, is no file, or asks for more than there is, ends at once with a message.

#![cfg(target_os = "linux")]

mod kit;

use kit::{Folder, solid, stl};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A compressible flow in a periodic cube of so many elements an axis; 110,592 of them take 1.4 GB.
fn gas(elements: u32, steps: u64) -> String {
    let sides: String = ["x-", "x+", "y-", "y+", "z-", "z+"]
        .map(|side| format!("\"{side}\" = \"periodic\"\n"))
        .concat();
    format!(
        "[solver]\nkind = \"flux-reconstruction\"\n[domain]\nbox = [0, 0, 0, 1, 1, 1]\n\
         elements = [{elements}, {elements}, {elements}]\n[boundary]\n{sides}[initial]\ndensity = 1\n\
         velocity = [0.5, 0, 0]\npressure = 1\n[run]\nsteps = {steps}\n[output]\nfolder = \"out\"\n"
    )
}

/// A case of OpenFOAM, two cubes.
fn cubes(folder: &Folder) {
    let to = folder.path("case/constant/polyMesh");
    fs::create_dir_all(&to).expect("a folder");
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/seeds/poly_mesh");
    for name in ["points", "faces", "owner", "neighbour", "boundary"] {
        fs::copy(format!("{seeds}/ascii.{name}"), to.join(name)).expect("a seed");
    }
}

#[test]
fn devices_folders_and_pipes_are_refused_at_once() {
    let folder = Folder::new();
    cubes(&folder);
    folder.write("case.toml", &gas(2, 1));
    fs::create_dir(folder.path("a folder")).expect("a folder");
    symlink("/dev/zero", folder.path("zero.toml")).expect("a link");
    symlink("/dev/zero", folder.path("zero.msh")).expect("a link");
    let begin = Instant::now();
    for (command, words) in [
        ("solve /dev/zero", "a device"),
        ("solve zero.toml", "a device"),
        ("solve case", "a folder"),
        ("mesh --config /dev/zero", "a device"),
        ("mesh --config case", "a folder"),
        ("mesh /dev/zero", "not a regular file"),
        ("refine /dev/zero --polymesh new", "a device"),
        ("refine zero.msh --polymesh new", "a device"),
        ("refine case/constant --polymesh new", "a folder"),
        (
            "mesh --shape sphere --output /dev/full",
            "/dev/full is not a regular file",
        ),
        (
            "mesh --shape sphere --output /dev/null --force",
            "/dev/null is not a regular file",
        ),
    ] {
        let ran = folder.run(command);
        ran.failed(2, &[words]);
    }
    for name in ["points", "faces", "owner", "neighbour", "boundary"] {
        let path = folder.path("case/constant/polyMesh").join(name);
        let kept = fs::read(&path).expect("a file");
        fs::remove_file(&path).expect("a file");
        symlink("/dev/zero", &path).expect("a link");
        folder
            .run("refine case --where box:0,0,0,1,1,1,levels=2")
            .failed(2, &[name, "a device"]);
        fs::remove_file(&path).expect("a link");
        folder
            .shell(&format!("mkfifo case/constant/polyMesh/{name}"))
            .ok();
        folder
            .run("refine case --where box:0,0,0,1,1,1,levels=2")
            .failed(2, &[name, "a pipe"]);
        fs::remove_file(&path).expect("a pipe");
        fs::write(&path, kept).expect("a file");
    }
    folder
        .run("refine case --where box:0,0,0,1,1,1,levels=2")
        .ok();
    let taken = begin.elapsed();
    assert!(taken < Duration::from_secs(60), "{taken:?}");
    assert!(!std::path::Path::new("/dev/full.cutlink").exists());
    // A case from a pipe, and a surface too.
    folder
        .shell("mkfifo pipe; cat case.toml > pipe & exec $CUTLINK solve pipe --dry-run")
        .ok();
    folder.write("sphere.stl", &stl(&solid("sphere")));
    folder
        .shell("cat sphere.stl | $CUTLINK mesh - -o part --root 8 --levels 1 --no-picture")
        .ok();
}

#[test]
fn cells_are_counted_before_they_are_made() {
    let folder = Folder::new();
    cubes(&folder);
    let begin = Instant::now();
    // Both cubes, refined ten times: 2 · 8^10.
    let ran = folder.run("refine case --where sphere:0,0,0,r=9,levels=11");
    ran.failed(4, &["at least 2147483648 cells", "hint"]);
    // Seven times: 4,194,304 cells of some 118 bytes.
    let line =
        "ulimit -v 400000; exec $CUTLINK refine case --threads 1 --where sphere:0,0,0,r=9,levels=8";
    let ran = folder
        .shell(line)
        .failed(4, &["at least 4194304 cells", "are free"]);
    assert!(ran.stderr.contains("494927872 bytes"), "{}", ran.stderr);
    let taken = begin.elapsed();
    assert!(taken < Duration::from_secs(10), "{taken:?}");
    folder
        .run("refine case --where sphere:0,0,0,r=9,levels=3 --threads 1")
        .ok();
}

#[test]
fn flows_of_gas_are_refused_before_their_memory_is_taken() {
    let folder = Folder::new();
    folder.write("large.toml", &gas(48, 5));
    folder.write("huge.toml", &gas(400, 5));
    let begin = Instant::now();
    for dry in ["", " --dry-run"] {
        let line = format!("ulimit -v 1000000; exec $CUTLINK solve large.toml --threads 1{dry}");
        let words = [
            "110592 elements need",
            "bytes of memory",
            "are free",
            "hint",
        ];
        folder.shell(&line).failed(4, &words);
        let ran = folder.run(&format!("solve huge.toml --threads 1{dry}"));
        ran.failed(4, &["64000000 elements need", "are free"]);
    }
    assert!(!folder.path("out").exists(), "nothing was written");
    let taken = begin.elapsed();
    assert!(taken < Duration::from_secs(20), "{taken:?}");
}

#[test]
fn a_dry_run_of_a_large_flow_makes_no_state() {
    let folder = Folder::new();
    folder.write("large.toml", &gas(24, 5));
    folder.write("small.toml", &gas(4, 5));
    let large = folder
        .run("solve large.toml --threads 1 --dry-run --json")
        .ok();
    let [large, small] = [
        large,
        folder
            .run("solve small.toml --threads 1 --dry-run --json")
            .ok(),
    ]
    .map(|ran| ran.json());
    assert_eq!(
        (&large["elements"], &large["is_exact"]),
        (&13_824.into(), &false.into())
    );
    assert_eq!(
        (&small["elements"], &small["is_exact"]),
        (&64.into(), &true.into())
    );
    // The state is the same everywhere, so the sample's step is that of the flow: in proportion to the edge.
    let step = |plan: &serde_json::Value| plan["dt"].as_f64().expect("a number");
    let ratio = step(&small) / step(&large);
    assert!((ratio - 6.0).abs() < 1e-9, "{ratio}");
}

#[test]
fn a_flow_of_gas_stops_within_a_second_of_the_signal() {
    let folder = Folder::new();
    // On one thread, 64 steps take some ten seconds.
    let text = gas(20, 100_000).replace("[run]", "[numerics]\norder = 4\n[run]");
    folder.write("case.toml", &text);
    let mut child = Command::new(env!("CARGO_BIN_EXE_cutlink"))
        .args(["solve", "case.toml", "--threads", "1"])
        .current_dir(folder.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("cutlink should start");
    let begin = Instant::now();
    while !folder.path("out/integrals.csv").exists() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(1500));
    let asked = Instant::now();
    Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .expect("kill should run");
    let ended = child.wait().expect("a child");
    let taken = asked.elapsed();
    assert_eq!(ended.code(), Some(130));
    // A loaded machine shares its cores among several tests.
    assert!(taken < Duration::from_secs(4), "{taken:?}");
    let names = folder.files_in("out");
    let saved = names.iter().find(|name| name.ends_with(".ckpt"));
    let saved = saved.unwrap_or_else(|| panic!("no checkpoint: {names:?}"));
    let step: u64 = saved[5..17].parse().expect("a step");
    let ran = folder.run(&format!(
        "solve case.toml --threads 1 --resume --steps {}",
        step + 2
    ));
    ran.ok();
}

#[test]
fn force_leaves_no_result_of_another_run() {
    let folder = Folder::new();
    let outputs = "[[output.write]]\nname = \"line\"\nkind = \"probes\"\npoints = [[0.5, 0.5, 0.5]]\nevery_steps = 1\n\
                   [[output.write]]\nname = \"all\"\nkind = \"volume\"\n";
    folder.write("case.toml", &format!("{}{outputs}", gas(2, 3)));
    folder.run("solve case.toml --threads 1").ok();
    let before = folder.files_in("out");
    for name in [
        "line.csv",
        "summary.json",
        "all_000000003.htg",
        "step_000000000003.ckpt",
    ] {
        assert!(
            before.iter().any(|n| n == name),
            "{name} is not in {before:?}"
        );
    }
    folder.write("out/mine.txt", "mine");
    // Another case that ends in its first step.
    let failing = gas(2, 100).replace("[run]", "[numerics]\ndt = 1e3\n[run]");
    folder.write("case.toml", &failing);
    folder
        .run("solve case.toml --threads 1")
        .failed(2, &["exists", "--force"]);
    assert_eq!(
        folder.files_in("out").len(),
        before.len() + 1,
        "nothing is removed without --force"
    );
    let ran = folder.run("solve case.toml --threads 1 --force");
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    assert_eq!(
        folder.files_in("out"),
        ["case.toml", "integrals.csv", "mine.txt", "report.html"]
    );
}
