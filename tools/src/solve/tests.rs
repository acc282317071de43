//! Cases: values worked out by hand, the round trip, every refusal, and that `docs/case.md` is whole.

use crate::config::{self, parse};
use crate::failure::Failure;
use crate::mesh::build::bare;
use crate::options::Root;
use crate::solve::case::Case;
use crate::solve::initial::Initial;
use crate::solve::resolve::{Grid, Resolved, Until};
use cutlink_solver::{
    Collision, FaceCondition, Interpolation, LatticeKind, Motion, PatchCondition, Place, Plan,
    Precision, Space, WallScheme,
};
use cutlink_voxelizer::Frame;

/// 40 x 20 root cells of 0.1 m; Re 50: ν = 2 * 0.5 / 50 = 0.02 m²/s. c = 2 / 0.05 = 40 m/s and a
/// root step is 0.1 / 40 = 0.0025 s.
const PLANE: &str = r#"
[mesh]
shape = "circle:r=0.25"

[physics]
re = 50
length = 0.5
velocity = 2
density = 1000
acceleration = [4.0, 0.0]

[boundary]
"x-" = { type = "velocity", velocity = [2.0, -1.0] }
"x+" = { type = "pressure", pressure = 16000.0 }
"y-" = "no-slip"
"y+" = "free-slip"

[patches.rotor]
type = "rotating"
center = [1.0, 0.5]
omega = 8

[run]
seconds = 1.0
"#;

const SPACE: &str = r#"
[domain]
box = [0.1, 0.2, 0.3, 1.1, 0.7, 0.8]
root = 40

[physics]
viscosity = 0.00371
velocity = 0.317
mach = 0.11
density = 1.2
moment_center = [0.1, 0.3, 0.7]

[numerics]
lattice = "d3q27"
collision = "regularized"
precision = "f64"
interpolation = "linear"
wall = "quadratic"

[boundary]
"x-" = "periodic"
"x+" = { type = "periodic" }
"y-" = "outflow"
"y+" = "pressure"
"z-" = { type = "velocity", velocity = [0.1, 0.2, 0.3] }
"z+" = "free-slip"

[patches.none]
type = "velocity"
velocity = [0.01, 0.02, 0.03]

[run]
settle = 1e-4
most = 5000

[output]
folder = "out"
forces_every = 10
checkpoint_every = 100
units = "reference"

[output.averages]
from_flow_through = 1.5

[[output.write]]
kind = "volume"
every_seconds = 0.5
average = "rms"

[[output.write]]
kind = "picture"
every_flow_through = 0.1
axis = "y"
grid = true

[[output.write]]
kind = "probes"
points = [[0.5, 0.5, 0.5]]
"#;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn plane(text: &str) -> Result<Resolved<2>, Failure> {
    let frame = Frame::new([-1.0, -1.0], 0.1, [40, 20]).expect("a frame");
    let patches = names(&["hull", "rotor"]);
    let grid = Grid {
        frame: &frame,
        patches: &patches,
        levels: 1,
        areas: &[],
    };
    parse::<Case>("case.toml", text)?.resolve("case.toml", grid)
}

fn space(text: &str) -> Result<Resolved<3>, Failure> {
    let case = parse::<Case>("case.toml", text)?;
    let domain = case.domain.as_ref().expect("a box");
    let mesh = bare::<3>(&domain.bounds, &domain.root)?;
    case.resolve("case.toml", Grid::of(&mesh))
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * b.abs().max(1e-3), "{a} is not {b}");
}

#[test]
fn a_case_comes_to_the_parameters_worked_out_by_hand() {
    let made = plane(PLANE).expect("a case");
    let params = &made.params;
    near(params.viscosity, 0.005);
    // a Δt² / Δx = 4 * 6.25e-6 / 0.1.
    near(params.acceleration[0], 2.5e-4);
    let [[inlet, outlet], [floor, roof]] = params.faces;
    let FaceCondition::Velocity(u) = inlet else {
        unreachable!("an inlet, not {inlet:?}");
    };
    near(u[0], 0.05);
    near(u[1], -0.025);
    // 3 * 16000 / (1000 * 40²) = 0.03.
    let FaceCondition::Pressure(density) = outlet else {
        unreachable!("an outlet, not {outlet:?}");
    };
    near(density, 1.03);
    assert_eq!(floor, FaceCondition::Velocity([0.0; 2]), "no slip");
    assert_eq!(roof, FaceCondition::FreeSlip);
    assert_eq!(params.patches[0], PatchCondition::wall(WallScheme::Linear));
    let PatchCondition::Wall { motion, scheme } = params.patches[1] else {
        unreachable!("a wall");
    };
    assert_eq!(scheme, WallScheme::Linear);
    let Motion::Rotation { center, omega } = motion else {
        unreachable!("a rotation");
    };
    near(center[0], 20.0);
    near(center[1], 15.0);
    near(omega[2], 0.02);
    assert_eq!(omega[..2], [0.0; 2]);
    // The origin of the user's frame is ten cells from each side's lower corner.
    near(params.moment_center[0], 10.0);
    near(params.moment_center[1], 10.0);
    assert_eq!(made.until, Until::Steps(400), "1 s / 0.0025 s");
    near(made.area, 0.5);
    near(made.units.time, 0.0025);
    near(made.physics.reynolds(), 50.0);
    assert_eq!((made.forces_every, made.checkpoint_every), (1, 0));
    assert!(params.forces && made.unstable.is_none());
}

/// `PLANE` with another inlet.
fn with_inlet(inlet: &str) -> Resolved<2> {
    let given = "{ type = \"velocity\", velocity = [2.0, -1.0] }";
    assert!(PLANE.contains(given), "it is there");
    let made = plane(&PLANE.replace(given, inlet)).unwrap_or_else(|e| panic!("{e}"));
    let text = made.case.to_toml().expect("TOML");
    assert_eq!(plane(&text), Ok(made.clone()), "{text}");
    made
}

/// The inlet's velocity, m/s, at a height and time.
fn inlet_at(made: &Resolved<2>, y: f64, t: f64) -> [f64; 2] {
    let variations = &made.params.variations;
    let found = variations
        .iter()
        .find(|v| v.place == Place::Face(0, 0))
        .expect("a variation");
    // The box begins at (-1, -1), root cells are 0.1 m, a root step 0.0025 s, and c is 40 m/s.
    let (x, t) = ([0.0, (y + 1.0) / 0.1], t / 0.0025);
    let space = match &found.space {
        Space::Uniform => Ok([1.0; 2]),
        Space::Steady(of) => of(x),
        Space::Moving(of) => of(x, t),
    };
    let time = found.time.as_ref().map_or(Ok([1.0; 2]), |of| of(t));
    let (space, time) = (space.expect("a number"), time.expect("a number"));
    std::array::from_fn(|a| 40.0 * space[a] * time[a])
}

fn close(found: [f64; 2], wanted: [f64; 2]) {
    let apart = (0..2)
        .map(|a| (found[a] - wanted[a]).abs())
        .fold(0.0, f64::max);
    assert!(apart < 1e-12, "{found:?} is not {wanted:?}");
}

#[test]
fn expressions_and_profiles_come_to_the_velocities_worked_out_by_hand() {
    let kind = |made: &Resolved<2>| {
        let name = format!("{:?}", made.params.variations[0].space);
        (name, made.params.variations[0].time.is_some())
    };
    // S(y) T(t): taken apart.
    let made = with_inlet(r#"{ type = "velocity", velocity = ["velocity*y^2*(1+t)", -1] }"#);
    assert_eq!(kind(&made), ("Steady".into(), true));
    close(inlet_at(&made, 0.5, 3.0), [2.0, -1.0]);
    assert!(
        made.notes.iter().all(|note| !note.contains("no product")),
        "{:?}",
        made.notes
    );
    // A wave is no product, which is said.
    let made = with_inlet(r#"{ type = "velocity", velocity = ["1+sin(y-t)", 0] }"#);
    assert_eq!(kind(&made), ("Moving".into(), false));
    close(inlet_at(&made, 0.5, 0.25), [1.0 + 0.25f64.sin(), 0.0]);
    assert!(
        made.notes
            .iter()
            .any(|note| note.contains("\"x-\" is no product")),
        "{:?}",
        made.notes
    );
    // A constant rises from rest, unless told otherwise; the ramp is half way at half its time.
    let made = with_inlet(r#"{ type = "velocity", velocity = [2, -1], ramp = 0.5 }"#);
    assert_eq!(kind(&made), ("Uniform".into(), true));
    close(inlet_at(&made, 0.0, 0.25), [1.0, -0.5]);
    assert_eq!(made.initial.at([3.0, 3.0]), Ok((1.0, [0.0; 2])), "at rest");
    let made = with_inlet(r#"{ type = "velocity", velocity = [2, -1], ramp = 0 }"#);
    assert!(
        made.params
            .variations
            .iter()
            .all(|v| v.place != Place::Face(0, 0))
    );
    let (_, [u, v]) = made.initial.at([3.0, 3.0]).expect("a state");
    near(u, 0.05);
    near(v, -0.025);
    // Of 2 m width about y = 0, the axis given.
    let made = with_inlet(
        r#"{ type = "velocity", profile = "parabolic", mean = 1, center = [-1, 0], radius = 1, ramp = 0 }"#,
    );
    close(inlet_at(&made, 0.5, 0.0), [1.5 * 0.75, 0.0]);
    close(inlet_at(&made, -1.5, 0.0), [0.0, 0.0]);
    // Heights are above y = -1.
    let made = with_inlet(
        r#"{ type = "velocity", profile = "power-law", velocity = [2, 0], reference_height = 4, exponent = 0.5, ramp = 0 }"#,
    );
    close(inlet_at(&made, 0.0, 0.0), [1.0, 0.0]);
}

#[test]
fn a_parabola_between_walls_ends_at_them() {
    let walls = PLANE.replace("\"y+\" = \"free-slip\"", "\"y+\" = \"no-slip\"");
    for (text, height) in [(walls, 2.0), (PLANE.to_owned(), 4.0)] {
        let text = text.replace(
            "velocity = [2.0, -1.0]",
            "profile = \"parabolic\", max = 1.5, ramp = 0",
        );
        let made = plane(&text).expect("a flow");
        for (y, of) in [(-1.0, 0.0), (0.0, 1.0 / height), (1.0, 2.0 / height)] {
            close(inlet_at(&made, y, 0.0), [1.5 * 4.0 * of * (1.0 - of), 0.0]);
        }
    }
}

#[test]
fn a_table_stands_in_the_resolved_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("inlet.csv");
    std::fs::write(&path, "# measured\ny, u\n-1, 0\n0, 2\n1, 1\n").expect("a file");
    let made = with_inlet(&format!(
        r#"{{ type = "velocity", profile = {path:?}, ramp = 0 }}"#
    ));
    std::fs::remove_file(&path).expect("it is no longer needed");
    close(inlet_at(&made, -0.5, 0.0), [1.0, 0.0]);
    close(inlet_at(&made, 0.5, 9.0), [1.5, 0.0]);
    let text = made.case.to_toml().expect("TOML");
    assert_eq!(plane(&text), Ok(made), "{text}");
}

#[test]
fn initial_fields_come_to_the_values_worked_out_by_hand() {
    let with = |initial: &str| {
        let text = format!("[initial]\n{initial}\n{PLANE}");
        let made = plane(&text).unwrap_or_else(|e| panic!("{e}"));
        let text = made.case.to_toml().expect("TOML");
        assert_eq!(plane(&text), Ok(made.clone()), "{text}");
        assert!(
            made.params.variations.is_empty(),
            "no ramp from a field of one's own"
        );
        made.initial
    };
    // At (0.5, 0.5) m; 16000 Pa are 0.03.
    let at = |initial: &Initial<2>| initial.at([15.0, 15.0]).expect("a state");
    let (density, u) = at(&with("velocity = [\"4*x\", -1]\npressure = \"32000*y\""));
    near(density, 1.03);
    near(u[0], 0.05);
    near(u[1], -0.025);
    let (density, _) = at(&with("density = \"density*(1+y/100)\""));
    near(density, 1.005);
    let (_, u) = at(&with("preset = \"free-stream\""));
    near(u[0], 0.05);
    // The box is 4 m by 2 m: a quarter of pi from each lower corner's vortex.
    let (_, u) = at(&with("preset = \"taylor-green\""));
    near(
        u[0],
        0.05 * (0.75 * std::f64::consts::PI).sin() * (1.5 * std::f64::consts::PI).cos(),
    );
    // A radius to the right of the middle (1, 0) the vortex goes up at full speed.
    let vortex = with("preset = \"vortex\"\nradius = 0.5\nvelocity = [1, 0]");
    let (density, u) = vortex.at([25.0, 10.0]).expect("a state");
    near(u[0], 0.025);
    near(u[1], 0.05);
    near(density, 1.0 - 1.5 * 0.05 * 0.05);
}

#[test]
fn a_mass_flow_is_what_the_links_bring_in() {
    let text = SPACE.replace(
        "\"z-\" = { type = \"velocity\", velocity = [0.1, 0.2, 0.3] }",
        "\"z-\" = { type = \"mass-flow\", mass_flow = 0.03, profile = \"parabolic\", center = [0.6, 0.45, 0.3], radius = 0.2 }",
    );
    let text = text.replace(
        "\n[patches.none]\ntype = \"velocity\"\nvelocity = [0.01, 0.02, 0.03]\n",
        "",
    );
    let case = parse::<Case>("case.toml", &text).expect("a case");
    let domain = case.domain.as_ref().expect("a box");
    let mesh = bare::<3>(&domain.bounds, &domain.root).expect("a mesh");
    let grid = Grid::of(&mesh);
    let first = case.resolve("case.toml", grid).expect("a flow");
    let areas = first.areas(
        &Plan::new(&mesh, first.params.clone()).expect("a plan"),
        None,
    );
    let made = case
        .resolve(
            "case.toml",
            Grid {
                areas: &areas,
                ..grid
            },
        )
        .expect("a flow");
    let plan = Plan::new(&mesh, made.params.clone()).expect("a plan");
    // kg/s: density, lattice volumes a step.
    let volume = made.units.length.powi(3) / made.units.time;
    let delivered = 1.2 * volume * plan.inflow(Place::Face(2, 0));
    assert!((delivered / 0.03 - 1.0).abs() < 1e-12, "{delivered}");
    // 5 % off on eight cells across, which the velocity makes good.
    let area = std::f64::consts::PI * 0.04;
    assert!(
        (areas[0].1 / area - 1.0).abs() < 0.1,
        "{areas:?}, and not {area}"
    );
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let made = plane(PLANE).expect("a case");
    let params = &made.params;
    assert_eq!(params.lattice, LatticeKind::D2Q9);
    assert_eq!(params.collision, Collision::Regularized);
    assert_eq!(params.precision, Precision::F32);
    assert_eq!(params.interpolation, Interpolation::Cubic);
    // The box is 4 m long: at 2 m/s two flow-throughs are 4 s, 1600 steps.
    let twice = PLANE.replace("seconds = 1.0", "flow_through = 2");
    let made = plane(&twice).expect("a case");
    assert_eq!(made.until, Until::Steps(1600));
    let made = space(SPACE).expect("a case");
    near(made.physics.length, 1.0);
    near(made.physics.mach(), 0.11);
    assert_eq!(made.params.faces[1][1], FaceCondition::Pressure(1.0));
    let settled = Until::Settled {
        change: 1e-4,
        most: 5000,
    };
    assert_eq!(made.until, settled);
    // Cells of 0.025 m, from the box's lower corner.
    let [x, y, z] = made.params.moment_center;
    near(x, 0.0);
    near(y, 4.0);
    near(z, 16.0);
}

#[test]
fn a_resolved_case_resolves_to_itself_to_the_bit() {
    let first = plane(PLANE).expect("a case");
    let text = first.case.to_toml().expect("TOML");
    assert!(
        !text.contains("\nre = "),
        "it follows from the rest: {text}"
    );
    let second = plane(&text).expect("the same case");
    assert_eq!(second, first, "{text}");
    assert_eq!(second.case.to_toml().expect("TOML"), text);
    for (from, to) in [("", ""), ("root = 40", "root = 24"), ("mach = 0.11", "")] {
        let first = space(&SPACE.replace(from, to)).expect("a case");
        let text = first.case.to_toml().expect("TOML");
        assert_eq!(space(&text).as_ref(), Ok(&first), "{text}");
    }
    let other = plane(&text.replace("density = 1000", "density = 1001")).expect("a case");
    assert_ne!(other, first, "differences are seen");
}

#[test]
fn what_makes_no_flow_is_refused_by_table_and_key() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("re = 50", "", &["[physics] re is missing"]),
        (
            "re = 50",
            "re = 50\nviscosity = 1",
            &["both re and viscosity"],
        ),
        ("re = 50", "re = -1", &["[physics] re is -1"]),
        ("re = 50", "re = nan", &["[physics] re is NaN"]),
        ("length = 0.5", "", &["[physics] length is missing"]),
        ("velocity = 2\n", "\n", &["[physics] velocity is missing"]),
        (
            "velocity = 2\n",
            "velocity = 0\n",
            &["[physics] velocity is 0"],
        ),
        (
            "density = 1000",
            "mach = 0.1\nlattice_velocity = 0.1",
            &["both lattice_velocity and mach"],
        ),
        (
            "[4.0, 0.0]",
            "[4.0, 0.0, 0.0]",
            &["[physics] acceleration has 3 numbers", "2D"],
        ),
        ("[4.0, 0.0]", "[inf, 0.0]", &["[physics] acceleration is"]),
        (
            "[boundary]",
            "[numerics]\nlattice = \"d3q19\"\n[boundary]",
            &["lattice is d3q19", "2D"],
        ),
        (
            "[boundary]",
            "[numerics]\nlattice = \"d2q10\"\n[boundary]",
            &["line", "d2q10", "d2q9"],
        ),
        (
            "[boundary]",
            "[numerics]\ncollision = \"bgk\"\nmagic = 0.2\n[boundary]",
            &["magic is for"],
        ),
        (
            "\"y-\" = \"no-slip\"\n",
            "",
            &["\"y-\" is missing", "free-slip"],
        ),
        (
            "\"y-\" = \"no-slip\"",
            "\"y-\" = \"periodic\"",
            &["\"y-\" and \"y+\" one is periodic"],
        ),
        (
            "\"y-\" = \"no-slip\"",
            "\"z-\" = \"no-slip\"\n\"y-\" = \"no-slip\"",
            &["\"z-\" is no face"],
        ),
        (
            "\"y-\" = \"no-slip\"",
            "\"y-\" = \"no-slp\"",
            &[
                "unknown name `no-slp`",
                "did you mean `no-slip`",
                "line 15, column 8",
            ],
        ),
        (
            "\"y-\" = \"no-slip\"",
            "\"y-\" = { type = \"no-slip\", velocty = [0] }",
            &[
                "unknown key `velocty`",
                "did you mean `velocity`",
                "line 15",
            ],
        ),
        (
            "\"y-\" = \"no-slip\"",
            "\"y-\" = { type = \"no-slip\", velocity = [0, 0] }",
            &["\"y-\" has velocity", "\"no-slip\""],
        ),
        (
            "\"y-\" = \"no-slip\"",
            "\"y-\" = \"velocity\"",
            &["\"y-\" velocity is missing"],
        ),
        (
            "\"y-\" = \"no-slip\"",
            "\"y-\" = 3",
            &["line 15", "periodic"],
        ),
        ("\"y-\"", "\"y_\"", &["unknown key `y_`", "keys: x-, x+"]),
        (
            "16000.0",
            "-1e6",
            &["\"x+\" pressure is -1000000", "at rest"],
        ),
        (
            "patches.rotor",
            "patches.rotr",
            &["[patches.rotr] is no patch", "did you mean `rotor`"],
        ),
        ("omega = 8", "", &["[patches.rotor] omega is missing"]),
        ("omega = 8", "omega = [1, 2]", &["omega has 2 numbers"]),
        (
            "center = [1.0, 0.5]",
            "",
            &["[patches.rotor] center is missing"],
        ),
        (
            "type = \"rotating\"",
            "",
            &["[patches.rotor] has center", "\"wall\""],
        ),
        (
            "type = \"rotating\"",
            "type = \"rotating\"\nwal = \"linear\"",
            &["did you mean `wall`"],
        ),
        (
            "seconds = 1.0",
            "",
            &["[run] does not say how long", "flow_through"],
        ),
        (
            "seconds = 1.0",
            "seconds = 1.0\nsteps = 3",
            &["more than once"],
        ),
        (
            "seconds = 1.0",
            "settle = 0.1",
            &["settle and most go together"],
        ),
        (
            "seconds = 1.0",
            "steps = 3\nmost = 3",
            &["settle and most go together"],
        ),
        ("seconds = 1.0", "steps = 0", &["no steps"]),
        (
            "seconds = 1.0",
            "settle = 0.0\nmost = 3",
            &["[run] settle is 0"],
        ),
        ("seconds = 1.0", "seconds = inf", &["[run] seconds is inf"]),
        (
            "seconds = 1.0",
            "settle = 0.1\nmost = 3\n[output]\nforces_every = 0",
            &["goes by the forces"],
        ),
        (
            "seconds = 1.0",
            "seconds = 1e18",
            &["[run] comes to", "units"],
        ),
        (
            "seconds = 1.0",
            "seconds = 1.0\n[[output.write]]\nkind = \"slise\"",
            &["unknown name `slise`", "did you mean `slice`"],
        ),
        (
            "seconds = 1.0",
            "seconds = 1.0\n[[output.write]]\nkind = \"slice\"\nevery_step = 3",
            &[
                "unknown key `every_step`",
                "did you mean `every_steps`",
                "line 27",
            ],
        ),
        (
            "seconds = 1.0",
            "seconds = 1.0\n[[output.write]]\nkind = \"slice\"\nevery_steps = 3\nevery_seconds = 1",
            &["output \"slice\"", "exclude one another"],
        ),
        (
            "seconds = 1.0",
            "seconds = 1.0\n[[output.write]]\nkind = \"slice\"\naverage = \"mean\"",
            &["\"slice\" is an average", "from_flow_through"],
        ),
        (
            "seconds = 1.0",
            "seconds = 1.0\n[output.averages]\nfrom_steps = 3\nfrom_seconds = 1",
            &["[output.averages]", "exclude one another"],
        ),
        (
            "seconds = 1.0",
            "seconds = 1.0\n[output.averages]\nevery_steps = 0",
            &["[output.averages] every_steps is 0"],
        ),
        (
            "[2.0, -1.0]",
            "[\"velocity * (1 - y\", 0]",
            &["[boundary] \"x-\" velocity", "column 12", "not closed"],
        ),
        (
            "[2.0, -1.0]",
            "[\"2*veloctiy\", 0]",
            &["\"x-\" velocity", "column 3", "did you mean `velocity`"],
        ),
        ("[2.0, -1.0]", "[\"z\", 0]", &["column 1", "no z here"]),
        (
            "[4.0, 0.0]",
            "[\"x\", 0]",
            &["[physics] acceleration", "no x here"],
        ),
        ("16000.0", "\"2 t\"", &["\"x+\" pressure", "column 3"]),
        (
            "velocity = [2.0, -1.0]",
            "profile = \"parabolc\"",
            &["profile is \"parabolc\"", "parabolic, power-law"],
        ),
        (
            "\"y-\" = \"no-slip\"",
            "\"y-\" = { type = \"velocity\", profile = \"parabolic\", mean = 1 }",
            &["between no walls", "center and radius"],
        ),
        (
            "velocity = [2.0, -1.0]",
            "profile = \"parabolic\", center = [0, 0], radius = 1",
            &["one of mean and max"],
        ),
        (
            "velocity = [2.0, -1.0]",
            "velocity = [2.0, -1.0], mean = 1",
            &["\"x-\" has mean", "\"velocity\""],
        ),
        (
            "velocity = [2.0, -1.0]",
            "velocity = [2.0, -1.0], profile = \"power-law\"",
            &["reference_height is missing"],
        ),
        (
            "velocity = [2.0, -1.0]",
            "profile = \"nothing.csv\"",
            &["cannot read nothing.csv"],
        ),
        (
            "velocity = [2.0, -1.0]",
            "velocity = [2.0, -1.0], ramp = -1",
            &["\"x-\" ramp is -1", "sudden"],
        ),
        (
            "type = \"velocity\", velocity = [2.0, -1.0]",
            "type = \"mass-flow\"",
            &["\"x-\" mass_flow is missing"],
        ),
        (
            "type = \"velocity\", velocity = [2.0, -1.0]",
            "type = \"mass-flow\", mass_flow = 1, direction = [0, 0]",
            &["direction is zero"],
        ),
        (
            "[run]",
            "[initial]\nvelocity = [\"sin(t)\", 0]\n[run]",
            &["[initial] velocity", "no t here"],
        ),
        (
            "[run]",
            "[initial]\ndensity = 1\npressure = 2\n[run]",
            &["both density and pressure"],
        ),
        (
            "[run]",
            "[initial]\npreset = \"taylor-gren\"\n[run]",
            &["unknown name `taylor-gren`", "did you mean `taylor-green`"],
        ),
        (
            "[run]",
            "[initial]\npreset = \"rest\"\nradius = 1\n[run]",
            &["[initial] has radius", "\"rest\""],
        ),
        ("re = 50", "re = 1e-310", &["[physics] viscosity"]),
        (
            "[mesh]",
            "[domain]\nbox = [0, 0, 1, 1]\nroot = 4\n[mesh]",
            &["both [mesh] and [domain]"],
        ),
        (
            "[mesh]\nshape = \"circle:r=0.25\"",
            "",
            &["neither [mesh] nor [domain]"],
        ),
        (
            "[mesh]\nshape = \"circle:r=0.25\"",
            "[domain]\nbox = [0, 1]\nroot = 4",
            &["box has 2 numbers"],
        ),
        (
            "[mesh]",
            "[mesh]\nrooot = 4",
            &[
                "unknown key `rooot`",
                "did you mean `root`",
                "line 3, column 1",
            ],
        ),
        (
            "re = 50",
            "re = 1510",
            &["u dx / viscosity", "lower Reynolds", "allow_unstable"],
        ),
        (
            "[2.0, -1.0]",
            "[8.0, 0.0]",
            &["Mach number", "allow_unstable"],
        ),
    ];
    for (from, to, words) in cases {
        let text = PLANE.replacen(from, to, 1);
        assert_ne!(text, PLANE, "{from} is there");
        let failure = plane(&text).expect_err(to);
        assert_eq!(failure.kind.exit_code(), 2);
        let said = failure.to_string();
        assert!(
            said.starts_with("error: case.toml"),
            "names the file: {said}"
        );
        for word in *words {
            assert!(said.contains(word), "{to}: {said} lacks {word}");
        }
        assert!(
            failure.hint.is_some() || said.contains("line"),
            "a way out: {said}"
        );
    }
}

#[test]
fn boxes_that_walls_alone_stir_have_two_relaxation_times() {
    let lid = PLANE
        .replace("re = 50", "re = 5")
        .replace("velocity = [2.0, -1.0]", "velocity = [0.0, 2.0]")
        .replace("{ type = \"pressure\", pressure = 16000.0 }", "\"no-slip\"");
    let two = Collision::Trt { magic: 0.1875 };
    assert_eq!(plane(&lid).expect("a cavity").params.collision, two);
    let given = lid.replace(
        "[boundary]",
        "[numerics]\ncollision = \"regularized\"\n[boundary]",
    );
    let made = plane(&given).expect("a cavity");
    assert_eq!(made.params.collision, Collision::Regularized);
}

#[test]
fn an_unstable_flow_runs_where_that_is_asked_for() {
    let bold = PLANE.replace("re = 50", "re = 151").replace(
        "[boundary]",
        "[numerics]\ncollision = \"trt\"\nallow_unstable = true\n\n[boundary]",
    );
    let made = plane(&bold).expect("allowed");
    assert!(made.unstable.is_some(), "and said");
    let other = PLANE.replace("re = 50", "re = 151").replace(
        "[boundary]",
        "[numerics]\ncollision = \"regularized\"\n\n[boundary]",
    );
    assert_eq!(plane(&other).expect("the remedy").unstable, None);
}

/// What a table may hold, by the refusal of what it may not.
fn keys(text: &str) -> Vec<String> {
    let failure = parse::<Case>("docs", text).expect_err("no such key");
    let hint = failure.hint.expect("all of them");
    let (_, list) = hint.split_once("s: ").expect("a list");
    list.split(", ").map(str::to_owned).collect()
}

#[test]
fn the_documentation_names_every_key_and_every_name() {
    let page = include_str!("../../../docs/case.md");
    let section = |title: &str| {
        let title = match title.contains(".write") {
            true => format!("`[[{title}]]`"),
            false => format!("`[{title}]`"),
        };
        let mut found = page.split("\n## ").filter(|s| s.starts_with(&title));
        found.next().unwrap_or_default()
    };
    let lacks = |title: &str, names: &[String]| -> Vec<String> {
        let text = section(title);
        let lacking = |name: &&String| !text.contains(&format!("`{name}`"));
        names.iter().filter(lacking).cloned().collect()
    };
    let tables = keys("\"?\" = 1");
    assert_eq!(tables.len(), 11, "{tables:?}");
    assert!(
        section("groups").contains("`all`"),
        "names there are the user's"
    );
    for table in tables.iter().filter(|&table| table != "groups") {
        let (title, inside) = match table.as_str() {
            "patches" => ("patches.NAME", "[patches.p]".to_owned()),
            other => (other, format!("[{other}]")),
        };
        let inside = keys(&format!("{inside}\n\"?\" = 1"));
        assert!(
            lacks(title, &inside).is_empty(),
            "{:?}",
            lacks(title, &inside)
        );
    }
    let face = "[boundary]\n\"x-\" = ";
    let more = [
        ("boundary", keys(&format!("{face}{{ \"?\" = 1 }}"))),
        ("boundary", keys(&format!("{face}\"?\""))),
        ("patches.NAME", keys("[patches.p]\ntype = \"?\"")),
        ("initial", keys("[initial]\npreset = \"?\"")),
        ("output", keys("[output]\nunits = \"?\"")),
        ("output.averages", keys("[output.averages]\n\"?\" = 1")),
        (
            "output.recirculation",
            keys("[output.recirculation]\n\"?\" = 1"),
        ),
        ("output.write", keys("[[output.write]]\n\"?\" = 1")),
        ("output.write", keys("[[output.write]]\nkind = \"?\"")),
        ("output.write", keys("[[output.write]]\naverage = \"?\"")),
        ("output.write", keys("[[output.write]]\nfields = [\"?\"]")),
        ("output.write", keys("[[output.write]]\nquantity = \"?\"")),
        ("output.write", keys("[[output.write]]\naxis = \"?\"")),
        ("output.write", keys("[[output.write]]\nformat = \"?\"")),
        ("numerics", keys("[numerics]\ncollision = \"?\"")),
        ("numerics", names(LatticeKind::NAMES)),
        ("numerics", names(Precision::NAMES)),
        ("numerics", names(Interpolation::NAMES)),
        ("numerics", names(WallScheme::NAMES)),
        ("mesh", config::keys()),
    ];
    for (title, inside) in more {
        assert!(
            lacks(title, &inside).is_empty(),
            "{:?}",
            lacks(title, &inside)
        );
    }
    assert_eq!(lacks("physics", &names(&["rey"])), ["rey"], "gaps are seen");
}

#[test]
fn the_examples_of_the_documentation_are_cases() {
    let page = include_str!("../../../docs/case.md");
    let examples: Vec<&str> = page.split("```toml\n").skip(1).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        let (text, _) = example.split_once("```").expect("its end");
        let case = parse::<Case>("case.md", text).expect("a case");
        let root = |n| Root::Longest(n);
        let made = match &case.domain {
            Some(domain) => {
                let mesh = bare::<2>(&domain.bounds, &domain.root).expect("a mesh");
                case.resolve("case.md", Grid::of(&mesh)).map(|made| {
                    let plan = Plan::new(&mesh, made.params);
                    assert!(plan.is_ok(), "the solver takes it: {plan:?}");
                })
            }
            None if case.mesh.as_ref().and_then(|m| m.root.clone()) == Some(root(128)) => {
                let frame = Frame::new([-5.0, -5.0, -5.0], 0.15625, [128, 64, 64]);
                let grid = Grid {
                    frame: &frame.expect("a frame"),
                    patches: &names(&["sphere"]),
                    levels: 4,
                    areas: &[],
                };
                case.resolve("case.md", grid).map(drop)
            }
            None => {
                let frame = Frame::new([-4.0, -4.0], 0.25, [64, 32]);
                let grid = Grid {
                    frame: &frame.expect("a frame"),
                    patches: &names(&["circle"]),
                    levels: 3,
                    areas: &[],
                };
                let made = case.resolve("case.md", grid).expect("a flow");
                // A root step is 0.05 * 0.25 / 1 = 0.0125 s.
                assert_eq!(made.outputs.averages, Some([4000, 16]));
                assert_eq!(made.outputs.specs[0].every_steps, Some(8));
                Ok(())
            }
        };
        assert_eq!(made, Ok(()), "{text}");
    }
}
