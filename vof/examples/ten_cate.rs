//! Spheres that settle in a box of oil: ten Cate, Nieuwstad, Derksen and Van den Akker (Phys. Fluids 14 (2002) 4012), E1 to E4.
//! Prints the largest speed over the terminal one of an unbounded fluid, beside the measured one.
//!
//! `cargo run --release -p cutlink-vof --example ten_cate -- CASE ROOT LEVELS [COURANT [RATIO]]`: ROOT is the number of root blocks over 100 mm,
//! a multiple of 5; there are `0.6 ROOT 2^(LEVELS − 1)` cells a diameter. RATIO is a density ratio other than that of the experiment.

#![allow(clippy::print_stdout, reason = "a program")]

use cutlink_amr::{Forest, Mark};
use cutlink_device::Host;
use cutlink_grains::{Bed, Grain, GrainBox, GrainParams, Material, Materials, Touch};
use cutlink_vof::{
    BoxFace, FlowMesh, FlowParams, GrainCoupling, InterfaceAdaptation, LiquidShape, Phases,
    TwoPhaseFlow,
};
use std::error::Error;

/// Density, viscosity, terminal speed, largest speed over it.
const CASES: [[f64; 4]; 4] = [
    [970.0, 0.373, 0.038, 0.947],
    [965.0, 0.212, 0.060, 0.953],
    [962.0, 0.113, 0.091, 0.959],
    [960.0, 0.058, 0.128, 0.955],
];

const RADIUS: f64 = 7.5e-3;

/// Blocks, the finest ones around the sphere.
fn around(
    start: [f64; 3],
    roots: [u32; 3],
    unit: f64,
    levels: usize,
) -> Result<Forest<3>, Box<dyn Error>> {
    let mut forest = Forest::new(&Host, roots)?;
    for level in 0..levels - 1 {
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        for &id in forest.levels.get(level).into_iter().flatten() {
            let half = 0.5 * unit / f64::from(1u32 << level);
            let at = forest.coord[id as usize].map(|c| f64::from(2 * c + 1) * half);
            let out: f64 = (0..3)
                .map(|a| ((at[a] - start[a]).abs() - half).max(0.0).powi(2))
                .sum();
            if out.sqrt() < RADIUS + 3.0 * half {
                marks[id as usize] = Mark::Refine as u8;
            }
        }
        forest.adapt(&Host, &mut marks)?;
    }
    let keep = vec![Mark::Keep as u8; forest.capacity()];
    let same = forest.refined_after(&Host, &keep)?;
    Ok(forest.rebuilt(&Host, &same)?.0)
}

/// The flow of one fluid.
fn oil([rho, mu]: [f64; 2], courant: f64) -> FlowParams<3> {
    FlowParams {
        phases: Phases {
            density: [rho; 2],
            viscosity: [mu; 2],
            surface_tension: 0.0,
        },
        gravity: [0.0, 0.0, -9.81],
        turning: None,
        faces: [[BoxFace::NoSlip; 2]; 3],
        contact_angles: [[std::f64::consts::FRAC_PI_2; 2]; 3],
        courant,
        longest_step: 0.02,
        tolerance: 1e-8,
        fixed_curvature: None,
    }
}

/// A sphere in a closed box.
fn sphere(start: [f64; 3], size: [f64; 3], density: f64) -> Result<Bed, Box<dyn Error>> {
    let nylon = Material {
        young: 1e7,
        poisson: 0.35,
        density,
    };
    let touch = Touch {
        restitution: 0.9,
        friction: 0.3,
        rolling: 0.0,
    };
    let grains = GrainParams::new(
        Materials::alike(&[nylon], touch)?,
        GrainBox::closed([0.0; 3], size, 0),
        1e-5,
    );
    Ok(Bed::start(grains, None, &[Grain::at(start, RADIUS)])?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<f64> = std::env::args()
        .skip(1)
        .map(|a| a.parse())
        .collect::<Result<_, _>>()?;
    let [case, root, levels] =
        [0, 1, 2].map(|k| args.get(k).copied().unwrap_or([1.0, 10.0, 1.0][k]));
    let courant = args.get(3).copied().unwrap_or(0.5);
    let [rho, mu, terminal, measured] = CASES[case as usize - 1];
    let ratio = args.get(4).copied().unwrap_or(1120.0 / rho);
    let (n, levels) = (root as u32, levels as usize);
    let roots = [n, n, n * 8 / 5];
    let unit = 0.1 / root;
    let start = [0.05, 0.05, 0.1275];
    let forest = around(start, roots, unit, levels)?;
    let mesh = FlowMesh::new(&forest, [0.0; 3], 0.25 * unit, Vec::new())?;
    let size = [0.1, 0.1, 0.16];
    let liquid = LiquidShape::Box([[0.0; 3], size]);
    let bed = sphere(start, size, ratio * rho)?;
    let flow = TwoPhaseFlow::new(mesh, oil([rho, mu], courant), &[liquid])?;
    let mut flow = flow.with_grains(bed, GrainCoupling::default())?;
    if levels > 1 {
        let none = Forest::new(&Host, roots)?;
        let adaptation = InterfaceAdaptation {
            levels,
            margin: 6,
            vorticity: Some(0.02 * terminal),
            coarsen: 0.5,
            max_cells: 2_000_000,
        };
        flow.follow(forest, none, adaptation)?;
    }
    let h = 0.25 * unit / f64::from(1u32 << (levels - 1));
    let clock = std::time::Instant::now();
    let (mut most, mut at, mut printed) = (0.0f64, 0.0, 0.0);
    loop {
        flow.adapt_if_due()?;
        let done = flow.step(1.0)?;
        let grain = flow.grain_motions()[0].grain;
        let speed = -grain.velocity[2];
        if speed > most {
            (most, at) = (speed, flow.time());
        }
        if flow.time() >= printed {
            printed += 0.1;
            println!(
                "{:6.3} s  dt {:.2e}  z {:.5}  {:.4} u∞  iterations {} {}  blocks {}",
                flow.time(),
                done.dt,
                grain.center[2],
                speed / terminal,
                done.viscous_iterations,
                done.pressure_iterations,
                flow.mesh().blocks().len()
            );
        }
        if grain.center[2] - RADIUS < 1e-3 * RADIUS || speed < 0.5 * most || flow.time() > 6.0 {
            break;
        }
    }
    println!(
        "E{case}, {:.1} cells a diameter, Courant {courant}, ratio {ratio:.3}: largest speed {:.4} u∞ at {at:.2} s, measured {measured}: {:+.2} %; {} steps, {:.0} s",
        2.0 * RADIUS / h,
        most / terminal,
        100.0 * (most / terminal / measured - 1.0),
        flow.steps(),
        clock.elapsed().as_secs_f64()
    );
    Ok(())
}
