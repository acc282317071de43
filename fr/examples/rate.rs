//! Degrees of freedom a second: points × unknowns × stages over the time of the steps, without set-up; on one thread of the
//! CPU, or on a GPU. Run with
//! `cargo run --release -p cutlink-fr --example rate`, or
//! `cargo run --release -p cutlink-fr --features cuda --example rate -- cuda`.
//!
//! Then the time of one adaptation of a mesh that follows a vortex in 3D, p3, f64: sensor, marks, tree, faces, state and traces,
//! on one thread or the GPU.
//!
//! The share of the copy is that of the least bytes of a stage: the state read and written, the state at the start of the
//! step where a stage takes some of it back, traces written and read once.

use cutlink_amr::{
    Mark,
    linear::{Grid, Leaves},
};
use cutlink_device::{Backend, Host, Memory};
use cutlink_fr::{
    ElementAdaptation, EulerFlow, EulerParams, FrError, IsentropicVortex, Primitive, RungeKutta,
    Sensor, TimeStep,
    kernels::{EulerKernels, Kernels, sizes},
};
use std::time::Instant;

/// Seconds that are long enough to time.
const ENOUGH: f64 = 1.0;
/// Steps between looks at the clock, which wait for a GPU.
const STEPS: u64 = 4;

/// A backend with the stages for 2D and 3D.
trait Both: EulerKernels<2> + EulerKernels<3> {}
impl<B: EulerKernels<2> + EulerKernels<3>> Both for B {}

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

/// A clock that runs while this thread does: a busy machine then counts less. Of a GPU, or where Linux does not tell, the
/// clock on the wall.
fn now<B: Backend>(since: Instant) -> f64 {
    let text = match B::MEMORY {
        Memory::Host => std::fs::read_to_string("/proc/thread-self/schedstat").ok(),
        Memory::Device => None,
    };
    let nanoseconds = text.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64(), |n| 1e-9 * n)
}

/// Bytes a second that a copy reads and writes.
fn copy<B: Backend>(backend: &B) -> Result<f64, FrError> {
    let len = match B::MEMORY {
        Memory::Host => 1 << 25,
        Memory::Device => 1 << 29,
    };
    let from = backend.alloc("a buffer to copy", len, 1.0f64)?;
    let mut to = backend.alloc("a copy", len, 0.0f64)?;
    let (since, mut best) = (Instant::now(), f64::INFINITY);
    for _ in 0..10 {
        let (before, start) = (backend.stamp()?, now::<B>(since));
        backend.copy(&from, &mut to)?;
        let seconds = backend.seconds(&before, &backend.stamp()?)?;
        best = best.min(match B::MEMORY {
            Memory::Host => now::<B>(since) - start,
            Memory::Device => seconds,
        });
    }
    Ok((2 * len * size_of::<f64>()) as f64 / best)
}

/// Degrees of freedom a second, how many there are, and the least bytes a second.
fn rate<const D: usize, T: Kernels<D>, B: EulerKernels<D>>(
    backend: &B,
    root: u32,
    order: usize,
    is_hanging: bool,
) -> Result<[f64; 3], FrError> {
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
    let numbers = flow.degrees_of_freedom() as f64;
    let mut flow = flow.on(backend)?;
    flow.advance(STEPS)?;
    let wait = || -> Result<(), FrError> {
        let stamp = backend.stamp()?;
        backend.seconds(&stamp, &stamp)?;
        Ok(())
    };
    wait()?;
    let since = Instant::now();
    let (start, before) = (now::<B>(since), flow.steps());
    while since.elapsed().as_secs_f64() < ENOUGH {
        flow.advance(STEPS)?;
        wait()?;
    }
    let seconds = now::<B>(since) - start;
    let steps = (flow.steps() - before) as f64;
    let stages = steps * RungeKutta::Rk33.evaluations() as f64;
    let traces = 2.0 * (2 * D * sizes::trace(D, order + 1)) as f64;
    // Two of three stages read the state at the start of the step.
    let least = 2.0 + 2.0 / 3.0 + traces / sizes::element(D, order + 1) as f64;
    let rate = numbers * stages / seconds;
    Ok([rate, numbers, rate * least * size_of::<T>() as f64])
}

/// Milliseconds of an adaptation, the median of several, and the elements of the mesh.
fn adaptation<B: Both>(backend: &B, root: u32) -> Result<[f64; 2], FrError> {
    let params = EulerParams {
        order: 3,
        gamma: 1.4,
        runge_kutta: RungeKutta::Rk33,
        time_step: TimeStep::Courant(0.5),
        far_field: None,
    };
    let vortex = IsentropicVortex::w24(20.0);
    let leaves = tree::<3>(root, false)?;
    let mut flow = EulerFlow::<3, f64>::new(&leaves, [-10.0; 3], [10.0; 3], params)?;
    flow.follow(Some(ElementAdaptation {
        every: u64::MAX,
        sensor: Sensor::Modal {
            refine_above: 0.1,
            coarsen_below: 0.001,
            momentum: 1.0,
            floor: 1e-10,
        },
        levels: [0, 2],
        buffer: 0,
        most_elements: usize::MAX,
    }))?;
    flow.set_adapted(|x| vortex.at(0.0, x))?;
    let mut flow = flow.on(backend)?;
    let (since, mut times) = (Instant::now(), Vec::new());
    while times.len() < 9 {
        flow.advance(2)?;
        // Waits for the device.
        flow.wave_rate()?;
        let start = now::<B>(since);
        let changes = B::adapt(&mut flow)?;
        flow.wave_rate()?;
        if changes.is_any() {
            times.push(now::<B>(since) - start);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok([1e3 * times[times.len() / 2], flow.elements() as f64])
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn print<const D: usize, T: Kernels<D>, B: EulerKernels<D>>(
    backend: &B,
    roots: [u32; 4],
    copy: f64,
) -> Result<(), FrError> {
    let bits = 8 * size_of::<T>();
    for (order, root) in (1..).zip(roots) {
        let [uniform, numbers, bytes] = rate::<D, T, B>(backend, root, order, false)?;
        let [hanging, ..] = rate::<D, T, B>(backend, root, order, true)?;
        println!(
            "{D}D f{bits} p{order}: {:.3} GDoF/s ({numbers} degrees of freedom, {:.0} % of the copy), {:.3} with hanging faces",
            1e-9 * uniform,
            100.0 * bytes / copy,
            1e-9 * hanging
        );
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn all<B: Both>(backend: &B) -> Result<(), FrError> {
    let copy = copy(backend)?;
    println!("copy: {:.1} GB/s", 1e-9 * copy);
    let (plane, space) = match B::MEMORY {
        Memory::Host => ([256, 128, 128, 128], [32, 24, 20, 16]),
        Memory::Device => ([2048, 1360, 1024, 820], [128, 88, 64, 52]),
    };
    print::<2, f64, B>(backend, plane, copy)?;
    print::<3, f64, B>(backend, space, copy)?;
    print::<3, f32, B>(backend, space, copy)?;
    let root = match B::MEMORY {
        Memory::Host => 12,
        Memory::Device => 50,
    };
    let [time, elements] = adaptation(backend, root)?;
    println!("3D f64 p3: an adaptation of {elements} elements takes {time:.2} ms");
    Ok(())
}

#[cfg(feature = "cuda")]
fn on_gpu() -> Result<(), Box<dyn std::error::Error>> {
    Ok(all(&cutlink_device::cuda::Cuda::new(0)?)?)
}

#[cfg(not(feature = "cuda"))]
fn on_gpu() -> Result<(), Box<dyn std::error::Error>> {
    Err("built without the feature cuda".into())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("cuda") => on_gpu(),
        None | Some("cpu") => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
            Ok(pool.install(|| all(&Host))?)
        }
        Some(other) => Err(format!("{other} is neither cpu nor cuda").into()),
    }
}
