//! `cutlink pack`: files, shares, seeds, refusals; a bed that is meshed.

mod kit;

use kit::Folder;

const BED: &str =
    "pack --box 0,0,0,4,4,5 --unit mm --sizes 0.8mm:3,1.2mm:1 --count 40 --periodic x";

#[test]
fn a_bed_is_written_in_every_format_and_reported() {
    let folder = Folder::new();
    let outputs =
        "--output bed.csv --output bed.ply --output bed.vtp --output bed.stl --deviation 0.1";
    let ran = folder.run(&format!("{BED} {outputs} --json --threads 2"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["schema"], 1);
    assert_eq!(report["command"], "pack");
    assert_eq!(report["grains"], 40);
    assert_eq!(report["sizes"][0]["grains"], 30);
    assert_eq!(report["sizes"][1]["grains"], 10);
    let overlap = report["overlap"].as_f64().expect("a number");
    assert!(overlap > 0.0 && overlap <= 0.01, "{overlap}");
    let volume = std::f64::consts::PI / 6.0 * (30.0 * 0.8e-3f64.powi(3) + 10.0 * 1.2e-3f64.powi(3));
    let density = report["density"]["container"].as_f64().expect("a number");
    assert!(
        (density / (volume / (4e-3 * 4e-3 * 5e-3)) - 1.0).abs() < 1e-9,
        "{density}"
    );
    for (i, name) in ["bed.csv", "bed.ply", "bed.vtp", "bed.stl"]
        .iter()
        .enumerate()
    {
        let bytes = report["outputs"][i]["bytes"].as_u64().expect("a size");
        assert_eq!(folder.read(name).len() as u64, bytes, "{name}");
    }
    let text = String::from_utf8(folder.read("bed.csv")).expect("text");
    assert_eq!(text.lines().count(), 41);
    let health = folder.run("inspect bed.stl --json");
    let health: serde_json::Value = serde_json::from_str(&health.stdout).expect("JSON");
    assert_eq!(health["health"]["components"], 40, "{health:#}");
    let stl = health["health"]["volume"].as_f64().expect("a volume");
    assert!((stl / volume - 1.0).abs() < 1e-5, "{stl} {volume}");

    let mesh = "mesh bed.stl --domain 0,0,0,0.004,0.004,0.006 --root 16x16x24 --levels 1 --no-picture --quiet";
    let ran = folder.run(mesh);
    assert_eq!(ran.code, 0, "{}", ran.stderr);

    // The same seed, one thread; another seed.
    let again = folder.run(&format!("{BED} --output again.csv --threads 1 --quiet"));
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(
        folder.read("again.csv") == folder.read("bed.csv"),
        "the same bits"
    );
    let other = folder.run(&format!("{BED} --output other.csv --seed 2 --quiet"));
    assert_eq!(other.code, 0, "{}", other.stderr);
    assert!(
        folder.read("other.csv") != folder.read("bed.csv"),
        "of another seed"
    );
}

#[test]
fn what_cannot_be_packed_is_refused_before_anything_is_written() {
    let folder = Folder::new();
    folder.write("open.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    let cases = [
        (
            "pack --box 0,0,0,1,1,1 --sizes 1mm --output bed.txt",
            2,
            ".csv, .ply, .stl or .vtp",
        ),
        (
            "pack --box 0,0,0,1,1 --sizes 1mm --output bed.csv",
            2,
            "x0,y0,z0,x1,y1,z1",
        ),
        (
            "pack --box 0,0,0,1,1,-1 --sizes 1mm --output bed.csv",
            2,
            "no volume",
        ),
        (
            "pack --box 0,0,0,1,1,1 --sizes 1league --output bed.csv",
            2,
            "is no unit",
        ),
        (
            "pack --box 0,0,0,1,1,1 --sizes 0.3 --count 500 --output bed.csv",
            2,
            "of 500 grains fit",
        ),
        (
            "pack --box 0,0,0,1,1,1 --sizes 2 --output bed.csv",
            2,
            "fit into the container",
        ),
        (
            "pack --box 0,0,0,1,1,1 --sizes 0.1 --friction -1 --output bed.csv",
            2,
            "friction is -1",
        ),
        (
            "pack --box 0,0,0,1,1,1 --sizes 0.4 --periodic x --output bed.csv",
            2,
            "period",
        ),
        (
            "pack open.off --sizes 0.1 --output bed.csv",
            3,
            "not closed",
        ),
        (
            "pack missing.stl --sizes 0.1 --output bed.csv",
            2,
            "missing.stl",
        ),
        ("pack --sizes 0.1 --output bed.csv", 2, "--box"),
        (
            "pack --box 0,0,0,1,1,1 --sizes 0.3 --count 2 --output bed.stl --deviation 0",
            2,
            "--deviation is 0",
        ),
    ];
    for (args, code, text) in cases {
        let ran = folder.run(args);
        assert_eq!(ran.code, code, "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{args}: {}", ran.stderr);
    }
    assert_eq!(folder.files(), ["open.off"]);
    let first = folder.run("pack --box 0,0,0,1,1,1 --sizes 0.3 --count 2 --output bed.csv --quiet");
    assert_eq!(first.code, 0, "{}", first.stderr);
    let second = folder.run("pack --box 0,0,0,1,1,1 --sizes 0.3 --count 2 --output bed.csv");
    assert_eq!(second.code, 2, "{}", second.stderr);
    assert!(second.stderr.contains("--force"), "{}", second.stderr);
}

#[test]
fn the_bench_of_grains_reports() {
    let folder = Folder::new();
    let ran =
        folder.run("bench grains --grains 200 --settle 50 --steps 10 --runs 2 --threads 1 --json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["command"], "bench grains");
    assert_eq!(report["grains"], 200);
    let [middle, least, most] = [0, 1, 2].map(|i| report["step_us"][i].as_f64().expect("a time"));
    assert!(
        0.0 < least && least <= middle && middle <= most,
        "{report:#}"
    );
}

const CASE: &str = r#"
[solver]
kind = "grains"

[domain]
box = [0, 0, 0, 0.004, 0.004, 0.005]

[gravity]
acceleration = [0, 0, -9.81]

[materials.glass]
youngs_modulus = 1e6
density = 2500
restitution = 0.4
friction = 0.5

[boundary]
"x-" = "periodic"
"x+" = "periodic"

[[particles]]
file = "bed.csv"

[run]
steps = 512

[[output.write]]
kind = "particles"
"#;

#[test]
fn a_packed_bed_is_the_start_of_a_case() {
    let folder = Folder::new();
    let ran = folder.run(&format!("{BED} --output bed.csv --quiet"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    std::fs::write(folder.path("bed.toml"), CASE).expect("a case");
    let plan = folder.run("solve bed.toml --dry-run --json");
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).expect("JSON");
    assert_eq!(
        (&plan["kind"], &plan["spheres"]),
        (&"grains".into(), &40.into())
    );
    assert!(!folder.path("flow").exists(), "nothing is written");
    let ran = folder.run("solve bed.toml --json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(
        (&report["steps"], &report["spheres"]),
        (&512.into(), &40.into())
    );
    // It was at rest, but for a material that is not the one that it was packed with.
    let radius = 0.6e-3f64;
    let speed = report["largest_speed"].as_f64().expect("a number");
    assert!(speed < 0.2 * (9.81 * radius).sqrt(), "{speed}");
    assert_eq!(report["lost"], 0);
    for file in [
        "particles.csv",
        "loads.csv",
        "particles.vtp.series",
        "case.toml",
        "report.html",
    ] {
        assert!(folder.path("flow").join(file).exists(), "{file}");
    }
    let ran = folder.run("solve bed.toml --force --mesh bed.cutlink");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let gpu = folder.run("solve bed.toml --force --device cuda");
    assert_eq!(gpu.code, 2, "{}", gpu.stderr);
    // Without the density of the spheres; twice in one place.
    for (from, to, what) in [
        (
            "density = 2500\n",
            "",
            "[materials.glass] density is missing",
        ),
        (
            "[run]",
            "[[particles]]\nfile = \"bed.csv\"\n\n[run]",
            "pairs of grains overlap",
        ),
    ] {
        std::fs::write(folder.path("bad.toml"), CASE.replace(from, to)).expect("a case");
        let ran = folder.run("solve bad.toml --force");
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(
            ran.stderr.contains(what) && ran.stderr.contains("hint:"),
            "{}",
            ran.stderr
        );
    }
}
