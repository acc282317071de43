//! A solver of its own (`diffusion`), and twenty lines: a sphere's mesh, its cut links, a hundred steps of flow past it, and a case with its outputs.

mod diffusion;

use cutlink::{AnyMesh, Case, MeshOptions, options::Root};
use cutlink_device::Host;
use cutlink_solver::{FaceCondition, LatticeKind, Params, PatchCondition, Plan, WallScheme};

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = MeshOptions {
        shape: Some("sphere:r=0.5".into()),
        root: Some(Root::Longest(32)),
        levels: Some(2),
        ..MeshOptions::default()
    };
    let AnyMesh::D3(mesh) = cutlink::mesh::from_options(&options, &mut ())? else {
        unreachable!("a sphere is in 3D")
    };
    let nearest = mesh.links().map(|link| link.q).fold(1.0, f32::min);
    println!(
        "{} cut links, the shortest {nearest:.3} of its length",
        mesh.links().count()
    );

    let mut params = Params::<3>::new(LatticeKind::D3Q19, 0.02);
    params.faces[0] = [
        FaceCondition::Velocity([0.05, 0.0, 0.0]),
        FaceCondition::Pressure(1.0),
    ];
    params.patches = vec![PatchCondition::wall(WallScheme::Linear)];
    let mut flow = Plan::new(&mesh, params)?.start(&Host)?;
    flow.advance(100)?;
    flow.check()?;
    let drag = flow
        .take_forces()?
        .last()
        .map_or(f64::NAN, |sample| sample.patches[0][0]);
    println!(
        "drag after {} steps: {drag:.5} in lattice units",
        flow.steps()
    );

    let summary = Case::from_toml(include_str!("case.toml"))?.run(&mut ())?;
    let drag = summary.coefficient("all", "C_D").expect("a drag");
    println!(
        "C_D {:.3} after {} steps; files in {}",
        drag.mean,
        summary.steps,
        summary.folder.display()
    );

    let summary = diffusion::run(include_str!("plate.toml"), &cutlink::RunOptions::default())?;
    println!(
        "a plate after {:.2} s; files in {}",
        summary.time,
        summary.folder.display()
    );
    Ok(())
}
