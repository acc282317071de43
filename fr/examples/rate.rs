//! Degrees of freedom a second on one thread: points × unknowns × stages over the time of the steps, without set-up.
//! Run with `cargo run --release -p cutlink-fr --example rate`.

use cutlink_amr::{
    Mark,
    linear::{Grid, Leaves},
};
use cutlink_device::Host;
use cutlink_fr::{
    EulerFlow, EulerParams, FrError, Primitive, RungeKutta, TimeStep, kernels::Kernels,
};
use std::time::Instant;

/// Seconds that are long enough to time.
const ENOUGH: f64 = 1.0;

/// A periodic box; every eighth leaf refined, if asked for.
fn tree<const D: usize>(root: u32, is_hanging: bool) -> Result<Leaves<D>, FrError> {
    let mut leaves = Leaves::new(&Host, Grid::new([root; D], [true; D])?)?;
    if is_hanging {
        let mark = |i: usize| {
            if i.is_multiple_of(8) {
                Mark::Refine
            } else {
                Mark::Keep
            }
        };
        let mut marks: Vec<u8> = (0..leaves.len()).map(|i| mark(i) as u8).collect();
        leaves.adapt(&Host, &mut marks)?;
    }
    Ok(leaves)
}

/// Degrees of freedom a second, and how many there are.
fn rate<const D: usize, T: Kernels<D>>(
    root: u32,
    order: usize,
    is_hanging: bool,
) -> Result<(f64, usize), FrError> {
    let params = EulerParams {
        order,
        gamma: 1.4,
        runge_kutta: RungeKutta::Rk33,
        time_step: TimeStep::Fixed(0.02 / f64::from(root)),
        far_field: None,
    };
    let leaves = tree(root, is_hanging)?;
    let mut flow = EulerFlow::<D, T>::new(&leaves, [0.0; D], [1.0; D], params)?;
    flow.set(|x| Primitive {
        density: 1.0 + 0.2 * (std::f64::consts::TAU * x.iter().sum::<f64>()).sin(),
        velocity: [1.0; D],
        pressure: 1.0,
    });
    flow.advance(1)?;
    let (clock, before) = (Instant::now(), flow.steps());
    while clock.elapsed().as_secs_f64() < ENOUGH {
        flow.advance(1)?;
    }
    let steps = (flow.steps() - before) as f64;
    let stages = steps * RungeKutta::Rk33.evaluations() as f64;
    let numbers = flow.degrees_of_freedom();
    Ok((
        numbers as f64 * stages / clock.elapsed().as_secs_f64(),
        numbers,
    ))
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn print<const D: usize, T: Kernels<D>>(name: &str, roots: [u32; 4]) -> Result<(), FrError> {
    for (order, root) in (1..).zip(roots) {
        let (uniform, numbers) = rate::<D, T>(root, order, false)?;
        let (hanging, _) = rate::<D, T>(root, order, true)?;
        println!(
            "{D}D {name} p{order}: {:.3} GDoF/s ({numbers} degrees of freedom), {:.3} with hanging faces",
            uniform / 1e9,
            hanging / 1e9
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        print::<2, f64>("f64", [256, 128, 128, 128])?;
        print::<3, f64>("f64", [32, 24, 20, 16])?;
        print::<3, f32>("f32", [32, 24, 20, 16])
    })?;
    Ok(())
}
