//! Adaptation alone, for a comparison with other forests: a sphere in a cubic root grid,
//! level by level; marks are made between the timed calls. Arguments: root blocks an axis,
//! levels, repetitions. Prints one JSON object, the best repetition's time: on the clock, and
//! on the processor, which other programs disturb less.
#![expect(clippy::print_stdout, reason = "its output is the measurement")]

use cutlink_amr::{Forest, Mark};
use cutlink_device::Host;
use rayon::prelude::*;
use std::time::Instant;

/// Marks the finest leaves whose middle is within an edge of the sphere of radius 0.3.
fn sphere_marks(forest: &Forest<3>) -> Vec<u8> {
    let finest = forest.finest();
    let size = 1.0 / f64::from(forest.root[0] << finest);
    let near = |id: u32| {
        let center = forest.coord[id as usize].map(|c| f64::from(c) * size + 0.5 * size - 0.5);
        let distance = center.iter().map(|x| x * x).sum::<f64>().sqrt() - 0.3;
        distance.abs() < size
    };
    let mut marks = vec![Mark::Keep as u8; forest.capacity()];
    for &id in &forest.levels[finest] {
        if near(id) {
            marks[id as usize] = Mark::Refine as u8;
        }
    }
    marks
}

/// Seconds that the threads of this process have run; 0 where the system does not tell.
fn processor_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let times = tasks.flatten().filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    times.sum::<f64>() / 1e9
}

/// Seconds of all adaptations, on the clock and on the processor, and the forest.
fn build(root: u32, levels: usize) -> (f64, f64, Forest<3>) {
    let mut forest = Forest::new(&Host, [root; 3]).expect("a root grid");
    let (mut seconds, mut processor) = (0.0, 0.0);
    for _ in 1..levels {
        let mut marks = sphere_marks(&forest);
        let (start, before) = (Instant::now(), processor_seconds());
        forest.adapt(&Host, &mut marks).expect("memory");
        seconds += start.elapsed().as_secs_f64();
        processor += processor_seconds() - before;
    }
    (seconds, processor, forest)
}

fn main() {
    let given: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let at = |i: usize, default| given.get(i).copied().unwrap_or(default);
    let (root, levels, repeat) = (at(0, 8), at(1, 3), at(2, 1));
    let runs: Vec<_> = (0..repeat.max(1))
        .map(|_| build(root as u32, levels))
        .collect();
    let best = runs.iter().map(|r| r.0).fold(f64::INFINITY, f64::min);
    let cpu = runs.iter().map(|r| r.1).fold(f64::INFINITY, f64::min);
    let forest = &runs[0].2;
    let leaves = forest
        .levels
        .par_iter()
        .flatten()
        .filter(|&&id| forest.is_leaf(id))
        .count();
    let (blocks, threads) = (forest.blocks(), rayon::current_num_threads());
    println!(
        "{{\"leaves\": {leaves}, \"blocks\": {blocks}, \"adapt\": {best:.6}, \"cpu\": {cpu:.6}, \"threads\": {threads}}}"
    );
}
