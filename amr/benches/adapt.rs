//! Refinement and balance of a forest around a sphere, blocks a second.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use cutlink_amr::{Forest, Mark};
use cutlink_device::Host;

/// Marks the finest leaves that the sphere of radius 0.3 around the middle passes through.
fn sphere_marks(forest: &Forest<3>) -> Vec<u8> {
    let finest = forest.finest();
    let size = 1.0 / f64::from(forest.root[0] << finest);
    let mut marks = vec![Mark::Keep as u8; forest.capacity()];
    for &id in &forest.levels[finest] {
        let center = forest.coord[id as usize].map(|c| (f64::from(c) + 0.5) * size - 0.5);
        let distance = (center.iter().map(|x| x * x).sum::<f64>()).sqrt() - 0.3;
        if distance.abs() < size {
            marks[id as usize] = Mark::Refine as u8;
        }
    }
    marks
}

fn build(levels: usize) -> Forest<3> {
    let mut forest = Forest::new(&Host, [16; 3]).expect("a root grid");
    for _ in 1..levels {
        let mut marks = sphere_marks(&forest);
        forest.adapt(&Host, &mut marks).expect("memory");
    }
    forest
}

fn adapt(c: &mut Criterion) {
    let mut group = c.benchmark_group("adapt_sphere");
    group.sample_size(10);
    for levels in [3, 5] {
        let blocks = build(levels).blocks() as u64;
        group.throughput(Throughput::Elements(blocks));
        group.bench_with_input(
            BenchmarkId::from_parameter(levels),
            &levels,
            |b, &levels| {
                b.iter(|| build(levels));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, adapt);
criterion_main!(benches);
