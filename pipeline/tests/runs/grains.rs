//! Cases of grains: fall and bounce, resume and threads to the bit, files of spheres, forecasts, refusals.

use crate::worst::worst;
use cutlink::{AnyCase, ErrorKind, GrainsCase, RunOptions, TwoPhaseCase};
use std::{fs, path::Path};

pub(crate) const BOUNCE: &str = r#"
[solver]
kind = "grains"

[domain]
box = [0, 0, 0, 0.1, 0.1, 0.2]

[gravity]
acceleration = [0, 0, -9.81]

[materials.glass]
youngs_modulus = 1e8
density = 2500
restitution = 0.8
friction = 0.3

[[particles]]
center = [0.05, 0.05, 0.11]
radius = 0.01

[run]
seconds = 0.3

[output]
integrals_every = 1
checkpoint_at_end = false
report = false
"#;

/// Two sizes around a ball, which fall; the box is periodic along x.
pub(crate) const POUR: &str = r#"
[solver]
kind = "grains"

[domain]
box = [0, 0, 0, 0.02, 0.02, 0.03]

[gravity]
acceleration = [0, 0, -9.81]

[materials.glass]
youngs_modulus = 1e6
density = 2500
restitution = 0.5
friction = 0.4
rolling_friction = 0.05

[materials.steel]
youngs_modulus = 2e6
restitution = 0.6
friction = 0.2

[[contact]]
between = ["steel", "glass"]
friction = 0.6

[[wall]]
name = "ball"
shape = "sphere:r=0.004"
translate = [0.01, 0.01, 0.006]
side = "outside"
material = "steel"

[[particles]]
box = [0, 0, 0.011, 0.02, 0.02, 0.03]
diameter = [2e-3, 1.4e-3]
shares = [1, 2]
count = 250
velocity = [0, 0, -0.4]
material = "glass"

[boundary]
"x-" = "periodic"
"x+" = "periodic"
"y-" = { type = "wall", material = "steel" }
"y+" = { type = "wall", material = "glass" }
"z-" = { type = "wall", material = "steel" }
"z+" = "open"

[run]
steps = 3000

[output]
integrals_every = 50
report = false

[[output.write]]
kind = "particles"
every_steps = 500

[[output.write]]
kind = "render"
particles = "speed"
width = 200
range = [0, 0.5]

[[output.write]]
kind = "slice"
fields = ["solid-fraction", "density", "velocity", "pressure"]
axis = "y"
"#;

fn case(folder: &Path, text: &str) -> GrainsCase {
    let mut case = GrainsCase::from_toml(text).expect("a case");
    case.output.folder = Some(folder.to_owned());
    case
}

fn options(threads: usize) -> RunOptions {
    RunOptions {
        threads,
        ..RunOptions::default()
    }
}

/// A table by the names of its columns.
struct Rows {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Rows {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a table");
        let mut lines = text.lines().map(|line| line.split(','));
        let names = lines.next().expect("a header").map(str::to_owned).collect();
        let row =
            |line: std::str::Split<'_, char>| line.map(|x| x.parse().expect("a number")).collect();
        Self {
            names,
            rows: lines.map(row).collect(),
        }
    }

    fn of(&self, name: &str) -> Vec<f64> {
        let at = self.names.iter().position(|own| own == name);
        let at = at.unwrap_or_else(|| panic!("a column {name} of {:?}", self.names));
        self.rows.iter().map(|row| row[at]).collect()
    }
}

#[test]
fn a_ball_falls_and_bounces_as_formulas_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let summary = case(&out, BOUNCE)
        .run_with(&options(1), &mut ())
        .expect("a run");
    assert_eq!(summary.json["kind"], "grains");
    assert_eq!(summary.verdict(), Some("ok"), "{}", summary.json["verdict"]);
    let table = Rows::read(&out.join("particles.csv"));
    let (time, z) = (table.of("time (s)"), table.of("centre z"));
    // 0.1 m to the floor.
    let at = z
        .iter()
        .position(|z| *z < 0.01)
        .expect("it meets the floor");
    let share = (z[at - 1] - 0.01) / (z[at - 1] - z[at]);
    let hit = time[at - 1] + share * (time[at] - time[at - 1]);
    let exact = (2.0 * 0.1 / 9.81f64).sqrt();
    assert!((hit / exact - 1.0).abs() < 1e-4, "{hit} and {exact}");
    // e² of the height, from the floor; the impact takes 3 % of the fall.
    let top = worst(z[at..].iter().copied());
    assert!(((top - 0.01) / (0.64 * 0.1) - 1.0).abs() < 5e-3, "{top}");
    assert!(z.last().expect("lines") < &top, "it falls again");
    // The energy falls, and is that of the start before the impact.
    let energy: Vec<f64> = (0..z.len())
        .map(|i| {
            let of = |name: &str| table.of(name)[i];
            match i == 0 || i == at - 1 || i + 1 == z.len() {
                true => {
                    of("kinetic energy")
                        + of("spin energy")
                        + of("elastic energy")
                        + of("potential energy")
                }
                false => 0.0,
            }
        })
        .collect();
    assert!((energy[at - 1] / energy[0] - 1.0).abs() < 1e-9);
    assert!(energy[z.len() - 1] < 0.8 * energy[0]);
    let loads = Rows::read(&out.join("loads.csv")).of("z- force z");
    assert!(
        loads.iter().copied().fold(0.0, f64::min) < -1.0,
        "an impact"
    );
    // Momentum: the force over the time of the impact is m (1 + e) v.
    let mass = 4.0 / 3.0 * std::f64::consts::PI * 1e-6 * 2500.0;
    let pushed: f64 = -loads.iter().sum::<f64>() * (time[1] - time[0]);
    let expected = mass * 1.8 * (2.0 * 9.81 * 0.1f64).sqrt();
    assert!(
        (pushed / expected - 1.0).abs() < 0.02,
        "{pushed} and {expected}"
    );
}

#[test]
fn a_resumed_run_has_the_same_bits_for_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let summary = case(&whole, POUR)
        .run_with(&options(2), &mut ())
        .expect("a run");
    assert_eq!(summary.json["spheres"], 250);
    assert!(
        summary.json["wall_contacts"].as_u64() > Some(5),
        "they fell"
    );
    // To a step that is no multiple of anything.
    let first = RunOptions {
        steps: Some(1777),
        ..options(1)
    };
    case(&parts, POUR).run_with(&first, &mut ()).expect("a run");
    let rest = RunOptions {
        resume: true,
        ..options(1)
    };
    case(&parts, POUR).run_with(&rest, &mut ()).expect("a run");
    let names = [
        "particles.csv",
        "loads.csv",
        "particles_000000500.vtp",
        "particles_000001000.vtp",
        "particles_000001500.vtp",
        "particles.vtp.series",
        "render_000003000.png",
        "slice_000003000.vtu",
        "step_000000003000.ckpt",
    ];
    for name in names {
        let [a, b] = [&whole, &parts].map(|folder| fs::read(folder.join(name)).expect(name));
        assert!(a == b && !a.is_empty(), "{name}");
    }
    // The comparison can fail: another seed is another run.
    let other = folder.path().join("other");
    let text = POUR.replace("count = 250", "count = 250\nseed = 2");
    case(&other, &text)
        .run_with(&first, &mut ())
        .expect("a run");
    let [a, b] = [&whole, &other]
        .map(|folder| fs::read(folder.join("particles_000000500.vtp")).expect("spheres"));
    assert!(a != b, "another seed");

    let head =
        String::from_utf8_lossy(&fs::read(whole.join("particles_000003000.vtp")).expect("a file"))
            .into_owned();
    assert!(head.contains("NumberOfPoints=\"250\""));
    for name in ["velocity", "spin", "radius", "id", "material", "contacts"] {
        assert!(head.contains(&format!("Name=\"{name}\"")), "{name}");
    }
    // Forces of the last line: the ball and the floor are pressed down, and nothing pulls.
    let loads = Rows::read(&whole.join("loads.csv"));
    for wall in ["ball", "z-"] {
        let all = loads.of(&format!("{wall} force z"));
        assert!(all.iter().sum::<f64>() < 0.0, "{wall}: {all:?}");
    }
    assert_eq!(
        loads.names.len(),
        2 + 3 * 4,
        "y-, y+, z- and the ball: {:?}",
        loads.names
    );
}

#[test]
fn spheres_come_from_a_file_and_a_lattice() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = folder.path().join("bed.csv");
    fs::write(
        &bed,
        "id,x,y,z,diameter,vx,vy,vz\n0,0.01,0.02,0.03,4e-3,0,0,0.5\n1,1e-2,0.02,0.04,0.002,0,0,0\n",
    )
    .expect("a file");
    let table = format!(
        "[[particles]]\nfile = {:?}\ntranslate = [0.01, 0, 0]\n\n[[particles]]\nbox = [0.05, 0.05, 0, 0.1, 0.1, 0.05]\n\
         radius = 0.005\nspacing = 0.0125\ncount = 30\nspin = [1, 0, 0]\n",
        bed.display().to_string()
    );
    let text = BOUNCE.replace(
        "[[particles]]\ncenter = [0.05, 0.05, 0.11]\nradius = 0.01\n",
        &table,
    );
    let out = folder.path().join("out");
    let one = RunOptions {
        steps: Some(1),
        ..options(1)
    };
    case(&out, &text).run_with(&one, &mut ()).expect("a run");
    let rows = Rows::read(&out.join("particles.csv"));
    let mass = |r: f64| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) * 2500.0;
    let kinetic = 0.5 * mass(2e-3) * 0.25;
    assert!((rows.of("kinetic energy")[0] / kinetic - 1.0).abs() < 1e-12);
    let spin = 30.0 * 0.5 * 0.4 * mass(5e-3) * 25e-6;
    assert!((rows.of("spin energy")[0] / spin - 1.0).abs() < 1e-12);
    // Layers of 4 by 4: 16 at a height of 0.00625, 14 a spacing above.
    let height = 16.0 * 0.00625 + 14.0 * 0.01875;
    let sum = 30.0 * mass(5e-3) + mass(2e-3) + mass(1e-3);
    let center = (height * mass(5e-3) + 0.03 * mass(2e-3) + 0.04 * mass(1e-3)) / sum;
    assert!((rows.of("centre z")[0] / center - 1.0).abs() < 1e-12);
    let center = (0.02 * (mass(2e-3) + mass(1e-3)) + 30.0 * mass(5e-3) * 0.075) / sum;
    assert!((rows.of("centre x")[0] / center - 1.0).abs() < 0.02);
}

#[test]
fn tables_that_are_broken_are_refused_by_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = folder.path().join("bed.csv");
    let keys = format!("file = {:?}", bed.display().to_string());
    let text = BOUNCE.replace("center = [0.05, 0.05, 0.11]\nradius = 0.01", &keys);
    for (table, what) in [
        ("", "line 1: there is no column \"\""),
        ("x,y,z\n0.1,0.1,0.1\n", "line 1: the columns are \"x,y,z\""),
        ("x,y,z,radius,mass\n", "line 1: there is no column \"mass\""),
        (
            "x,y,z,radius\n0.05,0.05,0.1\n",
            "line 2: 3 numbers for 4 columns",
        ),
        (
            "x,y,z,radius\n\n0.05,0.05,inf,0.01\n",
            "line 3: \"inf\" is no finite number",
        ),
        (
            "x,y,z,radius\n0.05,0.05,0.1,0\n",
            "line 2: a size is not positive",
        ),
        ("x,y,z,radius\n", "has no spheres"),
    ] {
        fs::write(&bed, table).expect("a file");
        let case = GrainsCase::from_toml(&text).expect("a case");
        let error = case.plan(&options(1), &mut ()).expect_err(what);
        let said = error.to_string();
        assert!(
            said.contains(what) && said.contains("[[particles]] 1"),
            "{what}: {said}"
        );
        assert!(error.hint.is_some(), "{said}");
    }
}

#[test]
fn a_bed_that_rests_settles_and_spheres_may_leave_through_open_faces() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("settled");
    let text = BOUNCE
        .replace("seconds = 0.3", "settle = 1e-6\nmost = 200000")
        .replace("restitution = 0.8", "restitution = 0.1")
        .replace("integrals_every = 1", "integrals_every = 64")
        .replace("1e8", "1e7");
    let summary = case(&out, &text)
        .run_with(&options(1), &mut ())
        .expect("a run");
    assert_eq!(summary.settled, Some(true));
    assert!(summary.json["wall_contacts"] == 1, "it lies on the floor");
    let out = folder.path().join("open");
    let text = BOUNCE.replace("[run]", "[boundary]\n\"z-\" = \"open\"\n\n[run]");
    let summary = case(&out, &text)
        .run_with(&options(1), &mut ())
        .expect("a run");
    assert_eq!(summary.json["outside"], 1);
    assert_eq!(summary.json["lost"], 0, "it may leave");
    assert_eq!(summary.verdict(), Some("ok"), "{}", summary.json["verdict"]);
}

#[test]
fn soft_spheres_are_doubtful_and_the_forecast_writes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let soft = BOUNCE.replace("1e8", "1e7");
    let plan = case(&out, &soft)
        .plan(&options(1), &mut ())
        .expect("a plan");
    assert!(!out.exists(), "a plan writes nothing");
    assert_eq!(plan.json["spheres"], 1);
    assert_eq!(plan.json["limit"]["rule"], "Hertz");
    let [dt, limit] =
        [&plan.json["dt"], &plan.json["limit"]["dt"]].map(|x| x.as_f64().expect("a number"));
    // Hertz's duration of the impact of two such balls at 2 √(2 g 0.2 m), over 20, and 0.9 of it.
    let (mass, radius) = (
        0.5 * 4.0 / 3.0 * std::f64::consts::PI * 1e-6 * 2500.0,
        0.005f64,
    );
    let (young, speed) = (
        1e7 / (2.0 * (1.0 - 0.0625)),
        2.0 * (2.0 * 9.81 * 0.2f64).sqrt(),
    );
    let deep = (15.0 * mass * speed * speed / (16.0 * young * radius.sqrt())).powf(0.4);
    let expected = 2.9432 * deep / speed / 20.0;
    assert!(
        (limit / expected - 1.0).abs() < 1e-4,
        "{limit} and {expected}"
    );
    assert!((dt / limit - 0.9).abs() < 1e-12);
    let steps = plan.json["steps"].as_u64().expect("steps");
    assert_eq!(steps, (0.3 / dt).ceil() as u64);
    for word in ["1 sphere,", "Hertz", "glass", "MB"] {
        assert!(plan.text.contains(word), "{word}: {}", plan.text);
    }
    let summary = case(&out, &soft)
        .run_with(&options(1), &mut ())
        .expect("a run");
    assert_eq!(
        summary.verdict(),
        Some("doubtful"),
        "{}",
        summary.json["verdict"]
    );
    assert!(summary.json["verdict"].to_string().contains("\"overlap\""));
    let accepted = soft.replace("seconds = 0.3", "seconds = 0.3\naccept = [\"overlap\"]");
    let again = RunOptions {
        replace: true,
        ..options(1)
    };
    let summary = case(&out, &accepted)
        .run_with(&again, &mut ())
        .expect("a run");
    assert_eq!(summary.verdict(), Some("ok"));
}

#[test]
fn a_sphere_too_fast_for_its_step_ends_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let text = BOUNCE.replace("[run]", "[numerics]\ntime_step = 5e-5\n\n[run]");
    #[derive(Default)]
    struct Notes(Vec<String>);
    impl cutlink::Observer for Notes {
        fn note(&mut self, note: &str) {
            self.0.push(note.to_owned());
        }
    }
    let mut notes = Notes::default();
    let error = case(&out, &text)
        .run_with(&options(1), &mut notes)
        .expect_err("too fast");
    assert!(
        notes.0[0].contains("beyond the Hertz limit"),
        "{:?}",
        notes.0
    );
    let said = error.to_string();
    for part in [
        "the run stopped in step",
        "beyond the Hertz limit",
        "[[particles]] 1, sphere 1",
        "leave [numerics] time_step out",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Lines up to there are written.
    let table = Rows::read(&out.join("particles.csv"));
    let speed = worst(table.of("largest speed"));
    assert!(speed > 0.1 && speed < 1.4, "{speed}");
}

/// The case with something else in one place.
fn changed(from: &str, to: &str) -> String {
    let text = BOUNCE.replace(from, to);
    assert_ne!(text, BOUNCE, "{from}");
    text
}

/// The case with more tables.
fn with(tables: &str) -> String {
    changed("[run]", &format!("{tables}\n\n[run]"))
}

/// Cases, what their errors say, and what the hints do.
fn refused(cases: &[(String, &str, &str)]) {
    let folder = tempfile::tempdir().expect("a folder");
    for (text, what, hint) in cases {
        let case = GrainsCase::from_toml(text).expect("a case");
        let error = case.plan(&options(1), &mut ()).expect_err(what);
        let said = error.to_string();
        assert!(said.contains(what), "{what}: {said}");
        assert_eq!(error.kind, ErrorKind::Input, "{said}");
        assert!(
            error.hint.unwrap_or_default().contains(hint),
            "{hint}: {said}"
        );
        assert!(!folder.path().join("flow").exists());
    }
}

#[test]
fn materials_and_grains_that_cannot_be_are_refused_with_their_key() {
    refused(&[
        (
            changed("youngs_modulus = 1e8", "youngs_modulus = 0"),
            "[materials.glass] youngs_modulus is 0",
            "positive",
        ),
        (
            changed("youngs_modulus = 1e8\n", ""),
            "[materials.glass] youngs_modulus is missing",
            "",
        ),
        (
            changed("density = 2500\n", ""),
            "[materials.glass] density is missing",
            "spheres",
        ),
        (
            changed("restitution = 0.8", "restitution = 1.2"),
            "[materials.glass] restitution is 1.2",
            "at most 1",
        ),
        (
            changed("friction = 0.3", "friction = -1"),
            "[materials.glass] friction is -1",
            "not negative",
        ),
        (
            changed("center = [0.05, 0.05, 0.11]", "center = [0.05, 0.05, 0.21]"),
            "1 grains are outside of the box",
            "[domain] box",
        ),
        (
            changed(
                "center = [0.05, 0.05, 0.11]",
                "center = [0.05, 0.05, 0.005]",
            ),
            "reach into a wall of the box",
            "[boundary]",
        ),
        (
            changed(
                "[run]",
                "[[particles]]\nbox = [0, 0, 0.1, 0.1, 0.1, 0.2]\nradius = 0.01\nspacing = 0.02\n\n[run]",
            ),
            "pairs of grains overlap by more than 1 % of the smaller radius; the first is grains 0 and",
            "max_overlap",
        ),
        (
            changed("[run]", "[numerics]\ntime_step = 1e-3\n\n[run]"),
            "the time step 0.001 s is beyond the Rayleigh limit",
            "time_step",
        ),
    ]);
}

#[test]
fn blocks_of_grains_that_cannot_be_are_refused_with_their_key() {
    let block = |keys: &str| changed("center = [0.05, 0.05, 0.11]\nradius = 0.01", keys);
    refused(&[
        (
            block("box = [0, 0, 0, 0.1, 0.1, 0.1]\nradius = 0.01\ncount = 400"),
            "of count = 400 spheres find a place",
            "cutlink pack",
        ),
        (
            block("box = [0, 0, 0, 0.1, 0.1, 0.3]\nradius = 0.01\ncount = 4"),
            "is not within [domain] box",
            "smaller",
        ),
        (
            block("box = [0, 0, 0, 0.1, 0.1, 0.1]\nradius = 0.01\nspacing = 0.015"),
            "spacing is 0.015",
            "a diameter",
        ),
        (
            block("box = [0, 0, 0, 0.1, 0.1, 0.1]\nradius = 0.01"),
            "there is no number",
            "count and spacing",
        ),
        (
            block("radius = 0.01"),
            "[[particles]] 1: there is no place",
            "center",
        ),
        (
            block("center = [0.05, 0.05, 0.1]\nradius = -1"),
            "radius is -1",
            "positive",
        ),
        (
            block("center = [0.05, 0.05, 0.1]\nradius = 1e-2\nmaterial = \"glas\""),
            "there is no [materials.glas]",
            "did you mean `glass`",
        ),
        (block("file = \"none.csv\""), "cannot read none.csv", ""),
    ]);
}

#[test]
fn walls_that_cannot_be_are_refused_with_their_key() {
    let wall = |keys: &str| with(&format!("[[wall]]\n{keys}"));
    refused(&[
        (
            wall("shape = \"sphere:r=0.02\"\ntranslate = [0.05, 0.05, 0.11]\nside = \"outside\""),
            "1 grains are on the wrong side of the surface",
            "side",
        ),
        (
            wall("shape = \"sphere:r=0.005\"\ntranslate = [0.05, 0.05, 0.097]"),
            "1 grains reach into the surface",
            "radius away",
        ),
        (
            wall("file = \"a.stl\"\ndeviation = 1e-3"),
            "deviation is given",
            "shape",
        ),
        (
            wall(
                "name = \"a\"\nshape = \"sphere:r=0.01\"\n\n[[wall]]\nname = \"b\"\nshape = \"sphere:r=0.03\"\n\
                 translate = [0.05, 0.05, 0.11]\nside = \"outside\"",
            ),
            "[[wall]] b: 1 grains are on the wrong side of the surface",
            "side",
        ),
        (
            wall("name = \"a\""),
            "[[wall]] 1: there is no surface",
            "file and shape",
        ),
    ]);
}

#[test]
fn keys_that_mean_nothing_for_grains_are_refused() {
    let contact = |keys: &str| with(&format!("[[contact]]\n{keys}"));
    refused(&[
        (
            changed("[run]", "[boundary]\n\"x-\" = \"periodic\"\n\n[run]"),
            "one of x- and x+ is periodic",
            "both",
        ),
        (
            changed("[run]", "[[output.write]]\nkind = \"surface\"\n\n[run]"),
            "there is no body in the box",
            "",
        ),
        (
            changed("report = false", "report = false\nforces_every = 4"),
            "[output] forces_every is not for grains",
            "loads.csv",
        ),
        (
            changed("report = false", "report = false\nunits = \"lattice\""),
            "[output] units is not for grains",
            "SI units",
        ),
        (
            changed("seconds = 0.3", "flow_through = 2"),
            "nothing flows through the box",
            "seconds",
        ),
        (
            contact("between = [\"glass\"]"),
            "[[contact]] 1: between has 1 names",
            "two materials",
        ),
        (
            contact("between = [\"glass\", \"glass\"]\nrestitution = 0"),
            "[[contact]] 1: restitution is 0",
            "above 0",
        ),
        (
            contact("between = [\"glass\", \"steel\"]"),
            "there is no [materials.steel]",
            "glass",
        ),
        (
            changed(
                "[gravity]\nacceleration = [0, 0, -9.81]",
                "[gravity]\nacceleration = [0, -9.81]",
            ),
            "[gravity] acceleration has 2 numbers",
            "3",
        ),
    ]);
}

#[test]
fn keys_and_kinds_of_others_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = GrainsCase::from_toml(&changed("[run]", "[phases]\n\n[run]")).expect_err("a key");
    assert!(
        error
            .to_string()
            .contains("of [solver] kind = \"two-phase\""),
        "{error}"
    );
    assert!(error.to_string().contains("docs/grains.md"), "{error}");
    let error = TwoPhaseCase::from_toml(BOUNCE).expect_err("another kind");
    assert!(error.to_string().contains("kind = \"grains\""), "{error}");
    let ranks = RunOptions {
        ranks: vec![2],
        ..options(1)
    };
    let error = case(folder.path(), BOUNCE)
        .plan(&ranks, &mut ())
        .expect_err("ranks");
    assert!(error.to_string().contains("has no ranks"), "{error}");
    // As a table, from which it reads back.
    let table = BOUNCE.parse().expect("a table");
    let any = AnyCase::from_table("case", table).expect("a case");
    let AnyCase::Grains(same) = &any else {
        panic!("{any:?}");
    };
    assert_eq!(
        *same,
        GrainsCase::from_toml(&any.to_toml().expect("text")).expect("a case")
    );
}

#[test]
fn other_flows_have_no_particles() {
    let text = include_str!("../../src/solve/examples/dam.toml");
    let text = format!("{text}\n[[output.write]]\nkind = \"particles\"\n");
    let case = TwoPhaseCase::from_toml(&text).expect("a case");
    let error = case.plan(&options(1), &mut ()).expect_err("no particles");
    assert!(
        error.to_string().contains("this flow has no particles"),
        "{error}"
    );
}
