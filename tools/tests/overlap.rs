//! Bodies that overlap, touch or lie in one another, through the program: walls are where the kind changes.

mod kit;

use cutlink_mesher::Surface;
use kit::{Folder, solid, stl};

/// A box of this size, its middle at a place.
fn cuboid(size: [f64; 3], at: [f64; 3]) -> Surface<3> {
    let [x, y, z] = size;
    let mut surface = solid(&format!("box:size={x}x{y}x{z}"));
    let moved = |p: &mut [f64; 3]| (0..3).for_each(|a| p[a] += at[a]);
    surface.vertices.iter_mut().for_each(moved);
    surface
}

/// All of them as one solid of an STL file.
fn together(bodies: &[Surface<3>]) -> String {
    let facets = bodies.iter().map(|body| {
        let text = stl(body);
        let text = text.strip_prefix("solid test\n").expect("its first line");
        let text = text.strip_suffix("endsolid test\n");
        text.expect("its last line").to_owned()
    });
    format!("solid test\n{}endsolid test\n", facets.collect::<String>())
}

const SMALL: &str = "--domain=-2,-1,-1,2,1,1 --root 32 --levels 2 --no-picture --json --force";

#[test]
fn bodies_in_one_another_mesh_as_their_union() {
    let folder = Folder::new();
    let mesh = |bodies: &[Surface<3>], args: &str| {
        folder.write("bodies.stl", &together(bodies));
        let run = folder.run(&format!("mesh bodies.stl {SMALL} {args}"));
        let json = run.ok().json();
        let passed = json["notes"].to_string().contains("are no walls");
        folder.run("inspect bodies.cutlink --check").ok();
        (json["checksum"].to_string(), passed)
    };
    let whole = [cuboid([3.0, 1.03, 1.03], [0.0; 3])];
    let half = |length: f64, x: f64| cuboid([length, 1.03, 1.03], [x, 0.0, 0.0]);
    let overlapping = [half(2.0, -0.5), half(2.0, 0.5)];
    let touching = [half(1.3, -0.85), half(1.7, 0.65)];
    let turned = {
        let mut bodies = touching.clone();
        bodies[1].facets.iter_mut().for_each(|f| f.swap(0, 1));
        bodies
    };
    let nested = [whole[0].clone(), cuboid([0.7, 0.4, 0.3], [0.1, 0.1, 0.0])];
    let twice = [whole[0].clone(), whole[0].clone()];
    for flow in ["--flow inside", "--flow outside"] {
        let (union, passed) = mesh(&whole, flow);
        assert!(!passed, "one body, {flow}");
        for robust in ["", " --robust"] {
            for (name, bodies) in [
                ("overlapping", &overlapping),
                ("touching", &touching),
                ("turned", &turned),
                ("nested", &nested),
                ("twice", &twice),
            ] {
                let args = format!("{flow}{robust}");
                let (checksum, passed) = mesh(bodies, &args);
                assert_eq!(checksum, union, "{name}, {args}");
                // Faces in common cancel, and copies are one facet.
                let is_passed = flow == "--flow inside" && !["touching", "twice"].contains(&name);
                assert_eq!(passed, is_passed, "{name}, {args}: the note");
            }
        }
    }
    // What the notes advise.
    let (hollow, passed) = mesh(&nested, "--flow inside --fill evenodd");
    assert_ne!(
        hollow,
        mesh(&whole, "--flow inside").0,
        "a body in the duct"
    );
    assert!(!passed, "all facets are walls");
}

/// Two closed rectangles, 0 to 2 and 1.5 to 4, or one: a channel of height 1.
const TWO: &str =
    "[wall]\n0 0\n2 0\n2 1\n0 1\n[inlet]\n\n[wall]\n1.5 0\n4 0\n[outlet]\n4 1\n[wall]\n1.5 1\n";
const ONE: &str = "[wall]\n0 0\n4 0\n[outlet]\n4 1\n[wall]\n0 1\n[inlet]\n";

const CASE: &str = r#"
[mesh]
file = "ducts.dat"
flow = "inside"
domain = [-0.25, -0.25, 4.25, 1.25]
root = "72x24"
levels = 1

[physics]
viscosity = 0.05
velocity = 0.5
length = 1
lattice_velocity = 0.05

[boundary]
"x-" = "no-slip"
"x+" = "no-slip"
"y-" = "no-slip"
"y+" = "no-slip"

[patches.inlet]
type = "pressure"
pressure = 0.8

[patches.outlet]
type = "pressure"
pressure = 0

[run]
seconds = 15

[output]
folder = "out"
"#;

#[test]
fn overlapping_ducts_have_the_flow_of_a_channel() {
    let folder = Folder::new();
    folder.write("case.toml", CASE);
    let flow = |ducts: &str| {
        folder.write("ducts.dat", ducts);
        let run = folder.run("solve case.toml --json --force").ok();
        let rate = run.json()["integrals"]["patches"]["outlet"]["mass_flow"].as_f64();
        (rate.expect("a rate"), run.stderr)
    };
    let (two, said) = flow(TWO);
    assert!(
        said.contains("their facets inside the fluid are no walls"),
        "{said}"
    );
    let (one, said) = flow(ONE);
    assert!(!said.contains("are no walls"), "{said}");
    // Poiseuille: G h^3 / (12 nu), by one duct or by two.
    let exact = 0.8 / 4.0 / (12.0 * 0.05);
    assert!((one / exact - 1.0).abs() < 0.03, "{one} of {exact}");
    assert!((two / one - 1.0).abs() < 1e-6, "{two} of {one}");
}

#[test]
fn a_flow_in_a_box_that_is_all_solid_is_refused() {
    let folder = Folder::new();
    folder.write("ducts.dat", ONE);
    let case = CASE.replace("[-0.25, -0.25, 4.25, 1.25]", "[-4.5, -1.5, 0.0, 0.0]");
    let boundary = case.find("[boundary]").expect("it");
    let patches = case.find("[patches.inlet]").expect("it");
    folder.write(
        "case.toml",
        &(case[..boundary].to_owned() + &case[patches..]),
    );
    let run = folder.run("solve case.toml");
    run.failed(3, &["no cell of the box is fluid", "hint: ", "flow"]);
}
