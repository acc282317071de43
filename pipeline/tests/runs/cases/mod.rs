//! Cases: values computed by hand, the round trip, every refusal, and the completeness of `docs/case.md`.

use cutlink::solve::resolve::{CaseGrid, Resolved};
use cutlink::{Case, Error};
use cutlink_meshing::mesh::build::bare;
use cutlink_voxelizer::Frame;

mod documentation;
mod inflow;
mod refusals;
mod turbulence;
mod values;

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

fn plane(text: &str) -> Result<Resolved<2>, Error> {
    let frame = Frame::new([-1.0, -1.0], 0.1, [40, 20]).expect("a frame");
    let patches = names(&["hull", "rotor"]);
    let grid = CaseGrid {
        frame: &frame,
        patches: &patches,
        areas: &[],
    };
    Case::parse("case.toml", text)?.resolve("case.toml", grid)
}

fn space(text: &str) -> Result<Resolved<3>, Error> {
    let case = Case::parse("case.toml", text)?;
    let domain = case.domain.as_ref().expect("a box");
    let mesh = bare::<3>(&domain.bounds, &domain.root)?;
    case.resolve("case.toml", CaseGrid::of(&mesh))
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * b.abs().max(1e-3), "{a} is not {b}");
}
