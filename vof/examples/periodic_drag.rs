//! The drag of a simple cubic array of spheres that are held, in Stokes flow: Zick and Homsy (J. Fluid Mech. 115 (1982) 13).
//! Prints `F / (6 π μ r U)` with the mean velocity of the box, beside theirs.
//!
//! `cargo run --release -p cutlink-vof --example periodic_drag -- SHARE BLOCKS [STEP [STEPS [SHIFT]]]`: SHARE is the volume fraction, 0.064
//! or 0.125; there are `4 BLOCKS` cells over two spheres; STEP is over `ρ h² / μ`; SHIFT moves the spheres, in cells.

#![allow(clippy::print_stdout, reason = "a program")]

use cutlink_amr::{Forest, Mark};
use cutlink_device::Host;
use cutlink_grains::{Bed, BoxAxis, Grain, GrainBox, GrainParams, Material, Materials, Touch};
use cutlink_vof::{
    BoxFace, FlowMesh, FlowParams, GrainCoupling, LiquidShape, Phases, TwoPhaseFlow,
};
use std::error::Error;
use std::f64::consts::{FRAC_PI_2, PI};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<f64> = (std::env::args().skip(1))
        .map(|a| a.parse())
        .collect::<Result<_, _>>()?;
    let arg = |k: usize, or: f64| args.get(k).copied().unwrap_or(or);
    let (share, blocks, steps) = (arg(0, 0.064), arg(1, 6.0) as u32, arg(3, 60.0) as usize);
    let wanted = if share == 0.064 { 2.810 } else { 4.292 };
    let h = 0.25 / f64::from(blocks);
    let radius = 0.5 * (share * 3.0 / (4.0 * PI)).cbrt();
    let forest = Forest::new(&Host, [blocks; 3])?.with_periodic([true; 3]);
    let keep = vec![Mark::Keep as u8; forest.capacity()];
    let same = forest.refined_after(&Host, &keep)?;
    let forest = forest.rebuilt(&Host, &same)?.0;
    let mesh = FlowMesh::new(&forest, [0.0; 3], h, Vec::new())?;
    let params = FlowParams {
        phases: Phases {
            density: [1.0; 2],
            viscosity: [1.0; 2],
            surface_tension: 0.0,
        },
        gravity: [0.0; 3],
        turning: None,
        faces: [[BoxFace::Slip; 2]; 3],
        contact_angles: [[FRAC_PI_2; 2]; 3],
        courant: 0.5,
        longest_step: arg(2, 4.0) * h * h,
        tolerance: 1e-9,
        fixed_curvature: None,
    };
    let flow = TwoPhaseFlow::new(mesh, params, &[LiquidShape::Box([[0.0; 3], [1.0; 3]])])?;
    let material = Material {
        young: 1e5,
        poisson: 0.3,
        density: 1.0,
    };
    let touch = Touch {
        restitution: 0.5,
        friction: 0.3,
        rolling: 0.0,
    };
    let mut domain = GrainBox::closed([0.0; 3], [1.0; 3], 0);
    domain.axes = [BoxAxis::Periodic; 3];
    let shift = arg(4, 0.0) * h;
    let grains: Vec<Grain> = (0..8)
        .map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|i| 0.25 + 0.5 * f64::from(i) + shift))
        .map(|center| Grain::at(center, radius))
        .collect();
    let params = GrainParams::new(Materials::alike(&[material], touch)?, domain, 1e-4);
    let drive = 0.01;
    let coupling = GrainCoupling {
        held: true,
        drive: [drive, 0.0, 0.0],
    };
    let mut flow = flow.with_grains(Bed::start(params, None, &grains)?, coupling)?;
    for step in 1..=steps {
        flow.step(1.0)?;
        if step % (steps / 10).max(1) == 0 {
            let force = flow.grain_motions()[0].force[0];
            let u = &flow.velocity()[0];
            let mean = u.iter().sum::<f64>() / u.len() as f64;
            println!(
                "{:.4} s: force over that of the drive {:.5}, drag {:.4}, by the drive {:.4} of {wanted}: {:+.2} %",
                flow.time(),
                8.0 * force / drive,
                force / (6.0 * PI * radius * mean),
                drive / 8.0 / (6.0 * PI * radius * mean),
                100.0 * (drive / 8.0 / (6.0 * PI * radius * mean) / wanted - 1.0)
            );
        }
    }
    println!("{:.2} cells a diameter", 2.0 * radius / h);
    Ok(())
}
