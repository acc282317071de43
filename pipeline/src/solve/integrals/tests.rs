//! Integrals of analytic flows, computed by hand.

use super::*;
use crate::{
    mesh::build::bare,
    options::Root,
    solid_stl::files_kit::random_mesh,
    solve::{case::Case, resolve::CaseGrid},
};
use cutlink_amr::{CellRef, dims};
use cutlink_common::config::parse;
use std::f64::consts::TAU;

/// A cell of 0.5 m, a step of 0.01 s, a density of 3 kg/m³: a lattice velocity of 1 is 50 m/s.
const UNITS: Units = Units {
    length: 0.5,
    time: 0.01,
    density: 3.0,
};

/// Density 1.1, and velocities as a function of the lower corner and the edge of each cell, in root cells.
pub(in crate::solve) fn snapshot<const D: usize>(
    mesh: &Mesh<D>,
    velocity: impl Fn([f64; D], f64) -> [f64; D],
) -> Snapshot<D> {
    let cells = dims::cells(D);
    let count = mesh.forest.capacity() * cells;
    let mut snapshot = Snapshot {
        step: 7,
        density: vec![1.1; count],
        velocity: std::array::from_fn(|_| vec![0.0; count]),
    };
    for block in mesh.forest.ids() {
        let edge = 0.5f64.powi(i32::from(mesh.forest.level[block as usize]));
        for cell in 0..cells as u32 {
            let low = mesh.forest.cell_coord(CellRef { block, cell });
            let u = velocity(low.map(|c| f64::from(c) * edge), edge);
            for a in 0..D {
                snapshot.velocity[a][block as usize * cells + cell as usize] = u[a] as f32;
            }
        }
    }
    snapshot
}

fn integrals_of<const D: usize>(openings: &[[usize; 2]]) -> Integrals<D> {
    let opening = |&[axis, side]: &[usize; 2]| Opening { axis, side };
    Integrals {
        every: 1,
        units: UNITS,
        openings: openings.iter().map(opening).collect(),
        line: None,
        patches: Vec::new(),
        partial: false,
        steps: Vec::new(),
        samples: Vec::new(),
        written: 0,
    }
}

/// A sample that has the values of no other blocks than it asks for.
fn sample<const D: usize>(of: &Integrals<D>, mesh: &Mesh<D>, flow: &Snapshot<D>) -> Sample {
    let (means, wanted) = (fields::integrals(mesh, flow), of.blocks(mesh));
    let mut some = flow.clone();
    let cells = dims::cells(D);
    for id in (0..mesh.forest.capacity()).filter(|&id| !wanted.contains(&(id as u32))) {
        let cells = id * cells..(id + 1) * cells;
        some.density[cells.clone()].fill(f32::NAN);
        some.velocity
            .iter_mut()
            .for_each(|u| u[cells.clone()].fill(f32::NAN));
    }
    of.sample(mesh, &means, &some, None)
}

/// The mean of 6 s (1 - s) over a part of 0 to 1, whose own mean is 1.
fn parabola(low: f64, edge: f64) -> f64 {
    let whole = |s: f64| 3.0 * s * s - 2.0 * s * s * s;
    (whole(low + edge) - whole(low)) / edge
}

fn near(found: f64, wanted: f64, share: f64) {
    let off = (found / wanted - 1.0).abs();
    assert!(off < share, "{found} is not {wanted}: {off:e}");
}

/// A mesh without a body, refined in several places, also at faces.
fn refined(seed: u64) -> Mesh<3> {
    let mut mesh = random_mesh(seed, [2, 3, 2], 3);
    mesh.classes.solid.fill(0);
    mesh
}

#[test]
fn flows_through_refined_faces_are_those_of_a_duct() {
    // 8 x 12 x 8 root cells; a mean of 0.02 * 50 = 1 m/s through 6 m by 4 m.
    for seed in 0..4 {
        let mesh = refined(seed);
        let flow = snapshot(&mesh, |low, edge| {
            let share = parabola(low[1] / 12.0, edge / 12.0) * parabola(low[2] / 8.0, edge / 8.0);
            [0.02 * share, 0.001, 0.0]
        });
        let integrals = integrals_of::<3>(&[[0, 0], [0, 1], [1, 1], [2, 0]]);
        let sample = sample(&integrals, &mesh, &flow);
        near(sample.flows[0][0], -24.0, 1e-6);
        near(sample.flows[1][0], 24.0, 1e-6);
        near(sample.flows[1][1], 24.0 * 1.1 * 3.0, 1e-6);
        // 0.05 m/s through 4 m by 4 m.
        near(sample.flows[2][0], 0.8, 1e-6);
        assert_eq!(sample.flows[3], [0.0; 2], "along the face");
        // The outflow through y+ has no inflow.
        let imbalance = integrals.imbalance(&sample).expect("a share");
        near(imbalance, 0.8 / 24.8, 1e-5);
    }
}

#[test]
fn velocities_of_centres_add_up_to_the_flow_in_second_order() {
    for cells in [8, 16, 32] {
        let h = f64::from(cells);
        let mesh = bare::<2>(&[0.0, 0.0, 1.0, 1.0], &Root::Longest(cells)).expect("a box");
        let flow = snapshot(&mesh, |low, _| {
            let s = (low[1] + 0.5) / h;
            [0.06 * s * (1.0 - s), 0.0]
        });
        let sample = sample(&integrals_of::<2>(&[[0, 1]]), &mesh, &flow);
        // The midpoint rule over n cells overestimates a parabola by 1 / (2 n²).
        let exact = 0.01 * 50.0 * 0.5 * h;
        near(sample.flows[0][0], exact * (1.0 + 0.5 / (h * h)), 1e-6);
    }
}

#[test]
fn energy_and_enstrophy_are_those_of_taylor_and_green() {
    // In 2D U²/4 and U² k²/2, in 3D U²/8 and 3 U² k²/8; differences between centres have the factor sin(k h) / (k h).
    let (amplitude, mass) = (2.5f64, 3.3);
    for cells in [32, 64] {
        let k = TAU / f64::from(cells);
        let mesh = bare::<2>(&[0.0, 0.0, 1.0, 1.0], &Root::Longest(cells)).expect("a box");
        let flow = snapshot(&mesh, |low, edge| {
            let [x, y] = low.map(|x| k * (x + 0.5 * edge));
            [x.sin() * y.cos(), -x.cos() * y.sin()].map(|u| 0.05 * u)
        });
        let sample = sample(&integrals_of::<2>(&[]), &mesh, &flow);
        near(sample.density, mass, 1e-6);
        near(sample.kinetic_energy, mass * amplitude.powi(2) / 4.0, 1e-6);
        let exact = (amplitude * k / 0.5).powi(2) / 2.0;
        near(sample.enstrophy, exact, k * k);
        near(sample.enstrophy, exact * (k.sin() / k).powi(2), 0.1 * k * k);
    }
    let k = TAU / 32.0;
    let mesh = bare::<3>(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0], &Root::Longest(32)).expect("a box");
    let flow = snapshot(&mesh, |low, edge| {
        let [x, y, z] = low.map(|x| k * (x + 0.5 * edge));
        let [u, v] = [x.sin() * y.cos() * z.cos(), -x.cos() * y.sin() * z.cos()];
        [0.05 * u, 0.05 * v, 0.0]
    });
    let sample = sample(&integrals_of::<3>(&[]), &mesh, &flow);
    near(sample.kinetic_energy, mass * amplitude.powi(2) / 8.0, 1e-6);
    let exact = 3.0 * (amplitude * k / 0.5).powi(2) / 8.0;
    near(sample.enstrophy, exact, k * k);
}

#[test]
fn means_on_a_refined_mesh_are_by_volume() {
    // Shear of 0.01 per root cell along y and z: differences are exact on any levels. The mean square of a linear
    // velocity at the centres is the exact one minus h²/12 per cell.
    let mesh = refined(5);
    let flow = snapshot(&mesh, |low, edge| {
        [
            0.01 * (low[1] + 0.5 * edge),
            0.0,
            0.02 * (low[1] + 0.5 * edge),
        ]
    });
    let sample = sample(&integrals_of::<3>(&[]), &mesh, &flow);
    near(sample.enstrophy, 0.5 * 5e-4 / 1e-4, 1e-4);
    let square = 12.0 * 12.0 / 3.0 * 5e-4 * 2500.0;
    near(sample.kinetic_energy, 0.5 * 3.3 * square, 1e-3);
}

const CASE: &str = r#"
[domain]
box = [0, 0, 1, 1]
root = 8
[physics]
re = 10
length = 1
velocity = 1
[boundary]
"x-" = { type = "velocity", velocity = [1, 0] }
"x+" = "outflow"
"y-" = "no-slip"
"y+" = { type = "velocity", velocity = [1, 0] }
[run]
steps = 3
"#;

fn resolved(text: &str) -> Resolved<2> {
    let case = parse::<Case>("case.toml", text).expect("a case");
    let domain = case.domain.as_ref().expect("a box");
    let mesh = bare::<2>(&domain.bounds, &domain.root).expect("a mesh");
    let patches = ["lid".to_owned()];
    let grid = CaseGrid {
        patches: &patches,
        ..CaseGrid::of(&mesh)
    };
    case.resolve("case.toml", grid).expect("a flow")
}

fn of_case(text: &str) -> Integrals<2> {
    Integrals::new(&resolved(text), &["lid".to_owned()])
}

#[test]
fn open_faces_have_columns() {
    let made = of_case(CASE);
    let columns = "step,time,density,kinetic energy,enstrophy,volume flow x-,mass flow x-,volume flow x+,mass flow x+";
    assert_eq!(made.header(), columns, "and no lid");
    assert!(!made.partial && made.every == 256);
    let inlet = "[patches.lid]\ntype = \"velocity\"\nvelocity = [0, 1]\n[run]";
    let made = of_case(&CASE.replace("[run]", inlet));
    assert_eq!(made.header(), format!("{columns},mass flow lid"));
    let numbers = [1.0, 1.0, 1.0, -1.0, -1.0, 2.0, 2.0, -1.5];
    let sample = Sample::of(&numbers, (2, 1), false);
    assert_eq!(made.imbalance(&sample), Some(-0.2), "2 of 2.5 leave");
    let summary = made.summary(&sample);
    assert_eq!(summary["faces"]["x+"]["mass_flow"], 2.0);
    assert_eq!(summary["patches"]["lid"]["mass_flow"], -1.5);
    let silent = CASE.replace("[run]", &format!("{inlet}\n")) + "[output]\nforces_every = 0\n";
    let made = of_case(&silent);
    assert_eq!(
        made.imbalance(&sample),
        None,
        "the flux of the patch is unknown"
    );
    let shut = CASE.replace("velocity = [1, 0]", "velocity = [0, 0]");
    let shut = shut.replace("\"outflow\"", "\"free-slip\"");
    let made = of_case(&shut);
    let none = Sample::of(&[1.0; 3], (0, 0), false);
    assert!(made.openings.is_empty() && made.text(&none, true).is_empty());
}

#[test]
fn lines_are_read_back_to_the_bit() {
    let mut whole = integrals_of::<2>(&[[0, 0], [0, 1]]);
    for step in [0, 64, 128] {
        let value = |k: u64| ((step + k) as f64).sqrt() / 3.0;
        whole.steps.push(step);
        let numbers: Vec<f64> = (0..7).map(value).collect();
        whole.samples.push(Sample::of(&numbers, (2, 0), false));
    }
    let text = whole.whole();
    assert_eq!(whole.fresh(), "", "all of it is written");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("integrals.csv");
    std::fs::write(&path, &text).expect("disk space");
    let mut read = integrals_of::<2>(&[[0, 0], [0, 1]]);
    read.read(&path, 100).expect("a table");
    assert_eq!(
        (read.steps.len(), &read.samples[..]),
        (2, &whole.samples[..2])
    );
    assert!(
        read.is_due(128) && !read.is_due(64),
        "what is there is not due"
    );
    assert!(text.starts_with(&read.whole()), "the same text");
    let mut other = integrals_of::<2>(&[[1, 0]]);
    let refused = other.read(&path, 100).expect_err("other columns");
    assert!(refused.to_string().contains("integrals.csv"), "{refused}");
}
