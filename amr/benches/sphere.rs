//! Adaptation alone, for a comparison with other forests: a sphere in a cubic root grid,
//! level by level; marks are made between the timed calls. Then the same leaves as a linear tree, in one build, and their
//! faces. Arguments: root blocks an axis, levels, repetitions. Prints one JSON object, the best repetition's time: on the
//! clock, and on the processor, which other programs disturb less.
#![expect(clippy::print_stdout, reason = "its output is the measurement")]

use cutlink_amr::{
    Forest, Mark,
    linear::{Grid, Leaves},
};
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

/// Seconds on the clock and on the processor.
type Seconds = [f64; 2];

fn timed<T>(run: impl FnOnce() -> T) -> (Seconds, T) {
    let (start, before) = (Instant::now(), processor_seconds());
    let result = run();
    let processor = processor_seconds() - before;
    ([start.elapsed().as_secs_f64(), processor], result)
}

/// Seconds of all adaptations, the forest, and keys of children of the blocks that were marked.
fn build(grid: &Grid<3>, levels: usize) -> (Seconds, Forest<3>, Vec<u64>) {
    let mut forest = Forest::new(&Host, grid.root()).expect("a root grid");
    let (mut seconds, mut wanted) = ([0.0; 2], Vec::new());
    for level in 1..levels {
        let mut marks = sphere_marks(&forest);
        let marked = forest.ids().filter(|&id| marks[id as usize] != 0);
        let child = |id: u32| grid.key(level as u32, forest.coord[id as usize].map(|c| 2 * c));
        wanted.extend(marked.map(|id| child(id).expect("inside")));
        let (own, _) = timed(|| forest.adapt(&Host, &mut marks).expect("memory"));
        seconds = [seconds[0] + own[0], seconds[1] + own[1]];
    }
    (seconds, forest, wanted)
}

/// The least of each entry.
fn least(runs: impl Iterator<Item = Seconds>) -> Seconds {
    runs.fold([f64::INFINITY; 2], |a, b| [a[0].min(b[0]), a[1].min(b[1])])
}

fn main() {
    let given: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let at = |i: usize, default| given.get(i).copied().unwrap_or(default);
    let (root, levels, repeat) = (at(0, 8), at(1, 3), at(2, 1));
    let grid = Grid::new([root as u32; 3], [false; 3]).expect("a root grid");
    let runs: Vec<_> = (0..repeat.max(1)).map(|_| build(&grid, levels)).collect();
    let (_, forest, wanted) = &runs[0];
    let linear = |_| {
        let keys = wanted.clone();
        let (tree, leaves) = timed(|| Leaves::build(&Host, grid, keys).expect("memory"));
        let (faces, _) = timed(|| leaves.faces(&Host).expect("memory"));
        assert_eq!(leaves.checksum(), forest.checksum(), "the same leaves");
        (tree, faces)
    };
    let linear: Vec<_> = (0..repeat.max(1)).map(linear).collect();
    let leaves = forest
        .levels
        .par_iter()
        .flatten()
        .filter(|&&id| forest.is_leaf(id))
        .count();
    let (blocks, threads) = (forest.blocks(), rayon::current_num_threads());
    let [adapt, cpu] = least(runs.iter().map(|run| run.0));
    let [tree, tree_cpu] = least(linear.iter().map(|run| run.0));
    let [faces, faces_cpu] = least(linear.iter().map(|run| run.1));
    println!(
        "{{\"leaves\": {leaves}, \"blocks\": {blocks}, \"adapt\": {adapt:.6}, \"cpu\": {cpu:.6}, \"threads\": {threads}, \
        \"linear\": {tree:.6}, \"linear_cpu\": {tree_cpu:.6}, \"faces\": {faces:.6}, \"faces_cpu\": {faces_cpu:.6}}}"
    );
}
