//! Sheets through the program: a duct without thickness, leaks, holes that are closed, a flow.

mod kit;

use cutlink_mesher::Surface;
use kit::{Folder, stl};

/// A rectangle with corners p, p + u, p + u + v, p + v; the triangles point in opposite directions.
fn sheet(p: [f64; 3], u: [f64; 3], v: [f64; 3]) -> Surface<3> {
    let at = |s: f64, t: f64| std::array::from_fn(|a| p[a] + s * u[a] + t * v[a]);
    let vertices = vec![at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
    Surface::single_patch(vertices, vec![[0, 1, 2], [0, 3, 2]], "sheet")
}

fn named(name: &str, sheets: &[Surface<3>]) -> String {
    let facets = sheets.iter().map(|sheet| {
        let text = stl(sheet);
        let text = text.strip_prefix("solid test\n").expect("its first line");
        text.strip_suffix("endsolid test\n")
            .expect("its last line")
            .to_owned()
    });
    let facets: String = facets.collect();
    format!("solid {name}\n{facets}endsolid {name}\n")
}

const LENGTH: f64 = 3.0;

/// A duct of 3 x 1 x 1 along x of sheets; its top lacks a strip of this width at the far end.
fn duct(strip: f64) -> String {
    let [x, y, z] = [[LENGTH, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let walls = [
        sheet([0.0; 3], x, y),
        sheet([0.0, 0.0, 1.0], [LENGTH - strip, 0.0, 0.0], y),
        sheet([0.0; 3], x, z),
        sheet([0.0, 1.0, 0.0], x, z),
    ];
    named("wall", &walls)
        + &named("inlet", &[sheet([0.0; 3], y, z)])
        + &named("outlet", &[sheet([LENGTH, 0.0, 0.0], y, z)])
}

const SMALL: &str = "--fill sheets --flow inside --root 64 --levels 2 --no-picture --json --force";

#[test]
fn options_that_belong_together_are_asked_for() {
    let folder = Folder::new();
    folder.write("duct.stl", &duct(0.0));
    for (args, words) in [
        ("--fill sheets", &["--seed", "hint"][..]),
        (
            "--fill sheets --seed 1,0.5,0.5 --robust",
            &["--robust", "hint"],
        ),
        ("--close-holes 0.1", &["--fill sheets", "hint"]),
        (
            "--fill sheets --seed 1,0.5,0.5 --close-holes -1",
            &["--close-holes"],
        ),
    ] {
        folder
            .run(&format!("mesh duct.stl {args}"))
            .failed(2, words);
    }
    // Without the rule the way out is named.
    folder.write("open.stl", &duct(0.2));
    let refused = folder.run("mesh open.stl");
    refused.failed(3, &["is not closed", "--fill sheets"]);
}

#[test]
fn a_duct_of_sheets_leaks_at_its_slot_and_is_closed() {
    let folder = Folder::new();
    folder.write("duct.stl", &duct(0.0));
    let args = format!("{SMALL} --seed 1.5,0.5,0.5");
    let whole = folder.run(&format!("mesh duct.stl {args}")).ok().json();
    assert_eq!(whole["parameters"]["fill"], "sheets");
    assert_eq!(whole["gap_links"], 0);
    let fluid = |json: &serde_json::Value| {
        let levels = json["levels"].as_array().expect("levels");
        let of = |l: &serde_json::Value| {
            let count = |key: &str| l[key].as_f64().expect("a count");
            (count("fluid") + count("boundary")) * count("dx").powi(3)
        };
        let dx = levels.last().expect("one")["dx"]
            .as_f64()
            .expect("a length");
        (levels.iter().map(of).sum::<f64>(), dx)
    };
    let (volume, dx) = fluid(&whole);
    // Centres in 3 x 1 x 1: each length is right to a cell.
    let most = (LENGTH + dx) * (1.0 + dx).powi(2);
    assert!(
        volume <= most && volume >= (LENGTH - dx) * (1.0 - dx).powi(2),
        "{volume}"
    );

    let strip = 4.0 * dx;
    folder.write("slot.stl", &duct(strip));
    let leak = folder.run(&format!("mesh slot.stl {args}"));
    leak.failed(
        3,
        &["slot.stl", "leaks out", "--close-holes", "--flow outside"],
    );
    let closed = folder
        .run(&format!("mesh slot.stl {args} --close-holes {strip}"))
        .ok()
        .json();
    assert!(closed["gap_links"].as_u64().expect("a count") > 0);
    let (again, _) = fluid(&closed);
    assert!(
        (again - volume).abs() < 2.0 * strip * dx,
        "{again} of {volume}"
    );
    let gap = &closed["patches"][3];
    assert_eq!(gap["name"], "gap-1");
    let area = gap["area"].as_f64().expect("a number");
    assert!((area / strip - 1.0).abs() < 0.3, "{area} of {strip}");
    assert!(
        closed["notes"].to_string().contains("1 hole closed"),
        "{}",
        closed["notes"]
    );
    folder.run("inspect slot.cutlink --check").ok();
    let inspected = folder.run("inspect slot.cutlink --json").ok().json();
    assert_eq!(
        (&inspected["fill"], &inspected["flow"]),
        (&"sheets".into(), &"inside".into())
    );
    // For a file in millimetres, the message has the place in the file's coordinates too.
    let scaled = format!("mesh slot.stl --unit mm {SMALL} --seed 0.0015,0.0005,0.0005");
    folder
        .run(&scaled)
        .failed(3, &["in the file's coordinates (2.9"]);
}

/// The same duct, closed, with all normals outward.
fn closed_duct() -> String {
    let quad =
        |p: [[f64; 3]; 4]| Surface::single_patch(p.to_vec(), vec![[0, 1, 2], [0, 2, 3]], "quad");
    let at = |x: u8, y: u8, z: u8| [LENGTH * f64::from(x), f64::from(y), f64::from(z)];
    let walls = [
        quad([at(0, 0, 0), at(0, 1, 0), at(1, 1, 0), at(1, 0, 0)]),
        quad([at(0, 0, 1), at(1, 0, 1), at(1, 1, 1), at(0, 1, 1)]),
        quad([at(0, 0, 0), at(1, 0, 0), at(1, 0, 1), at(0, 0, 1)]),
        quad([at(0, 1, 0), at(0, 1, 1), at(1, 1, 1), at(1, 1, 0)]),
    ];
    let inlet = quad([at(0, 0, 0), at(0, 0, 1), at(0, 1, 1), at(0, 1, 0)]);
    let outlet = quad([at(1, 0, 0), at(1, 1, 0), at(1, 1, 1), at(1, 0, 1)]);
    named("wall", &walls) + &named("inlet", &[inlet]) + &named("outlet", &[outlet])
}

/// Faces of the duct lie between cell centres, so that walls exchange no mass.
const CASE: &str = r#"
[mesh]
file = "duct.stl"
fill = "sheets"
flow = "inside"
seed = [1.5, 0.5, 0.5]
domain = [-0.5, -0.5, -0.5, 3.5, 1.5, 1.5]
root = 32
levels = 1

[physics]
re = 20
length = 1
velocity = 1

[boundary]
"x-" = "no-slip"
"x+" = "no-slip"
"y-" = "no-slip"
"y+" = "no-slip"
"z-" = "no-slip"
"z+" = "no-slip"

[patches.inlet]
type = "velocity"
velocity = [1, 0, 0]

[patches.outlet]
type = "pressure"

[run]
steps = 4000

[output]
folder = "out"
"#;

#[test]
fn what_enters_a_duct_of_sheets_leaves_it() {
    let folder = Folder::new();
    folder.write("duct.stl", &duct(0.0));
    folder.write("case.toml", CASE);
    let summary = folder.run("solve case.toml --json").ok().json();
    let integrals = &summary["integrals"];
    let flow = |name: &str| {
        let rate = &integrals["patches"][name]["mass_flow"];
        rate.as_f64().expect("a rate")
    };
    // A unit area at 1 m/s, and a density that is half a per cent higher at the inlet.
    let (inlet, outlet) = (flow("inlet"), flow("outlet"));
    assert!((inlet + 1.0).abs() < 0.01, "{inlet}");
    assert!((inlet + outlet).abs() < 1e-3, "{inlet} and {outlet}");
    // Facets that point anywhere give the flow of the closed duct, inlet included.
    folder.write("duct.stl", &closed_duct());
    let closed = CASE
        .replace("sheets", "nonzero")
        .replace("\"out\"", "\"closed\"");
    folder.write("closed.toml", &closed);
    let closed = folder.run("solve closed.toml --json").ok().json();
    assert_eq!(*integrals, closed["integrals"], "to the bit");
}
