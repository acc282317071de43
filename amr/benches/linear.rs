//! A linear tree around a sphere: build (sort, ancestors, 2:1, leaves), faces, and one adaptation, leaves a second. The
//! leaves are those of `sphere.rs` and of `peers/p4est.py`. Wanted blocks and marks are made between the timed calls.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use cutlink_amr::{
    Mark,
    linear::{Grid, Leaves, level},
};
use cutlink_device::Host;

/// The distance of a block's middle to the sphere of radius 0.3 around that of the box, and the block's edge.
fn distance(grid: &Grid<3>, level: u32, coord: [i32; 3]) -> (f64, f64) {
    let size = 1.0 / f64::from(grid.root()[0] << level);
    let center = coord.map(|c| f64::from(c) * size + 0.5 * size - 0.5);
    let distance = center.iter().map(|x| x * x).sum::<f64>().sqrt() - 0.3;
    (distance.abs(), size)
}

/// A child of each block that is refined because its middle is within an edge of the sphere.
fn wanted(grid: &Grid<3>, levels: u32) -> Vec<u64> {
    let root = grid.root()[0] as i32;
    let all = 0..root.pow(3);
    let mut blocks: Vec<[i32; 3]> = all
        .map(|i| [i % root, i / root % root, i / root / root])
        .collect();
    let mut keys = Vec::new();
    for level in 0..levels - 1 {
        blocks.retain(|&at| {
            let (distance, size) = distance(grid, level, at);
            distance < size
        });
        let child = |at: [i32; 3], i: i32| [0, 1, 2].map(|a| 2 * at[a] + (i >> a & 1));
        let first = blocks.iter().map(|&at| grid.key(level + 1, child(at, 0)));
        keys.extend(first.map(|key| key.expect("inside")));
        blocks = (blocks.iter())
            .flat_map(|&at| (0..8).map(move |i| child(at, i)))
            .collect();
    }
    keys
}

/// Marks as of a front that has moved a little: finest leaves go on one side, the next ones are refined on the other.
fn marks(leaves: &Leaves<3>) -> Vec<u8> {
    let (grid, finest) = (leaves.grid(), leaves.finest());
    let mark = |&key: &u64| {
        let (own, at) = (level(key), grid.coord(key));
        let is_ahead = at[0] >= (grid.root()[0] << own) as i32 / 2;
        match (own, is_ahead) {
            (own, false) if own == finest => Mark::Coarsen as u8,
            (own, true) if own + 1 == finest => Mark::Refine as u8,
            _ => Mark::Keep as u8,
        }
    };
    leaves.keys().iter().map(mark).collect()
}

fn linear(c: &mut Criterion) {
    let grid = Grid::new([16; 3], [false; 3]).expect("a root grid");
    let mut group = c.benchmark_group("linear_sphere");
    group.sample_size(10);
    for levels in [4, 6] {
        let keys = wanted(&grid, levels);
        let build = |keys| Leaves::build(&Host, grid, keys).expect("memory");
        let leaves = build(keys.clone());
        group.throughput(Throughput::Elements(leaves.len() as u64));
        group.bench_with_input(BenchmarkId::new("build", leaves.len()), &keys, |b, keys| {
            b.iter_batched(|| keys.clone(), build, BatchSize::LargeInput);
        });
        group.bench_function(BenchmarkId::new("faces", leaves.len()), |b| {
            b.iter(|| leaves.faces(&Host).expect("memory"));
        });
        group.bench_function(BenchmarkId::new("adapt", leaves.len()), |b| {
            let fresh = || (leaves.clone(), marks(&leaves));
            let adapt = |(mut leaves, mut marks): (Leaves<3>, Vec<u8>)| {
                let done = leaves.adapt(&Host, &mut marks).expect("memory");
                (leaves, done)
            };
            b.iter_batched(fresh, adapt, BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group!(benches, linear);
criterion_main!(benches);
