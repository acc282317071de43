//! Time of the health report on two million triangles, sound and shuffled.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cutlink_mesher::health;
use cutlink_mesher::primitives::Shape3;
use cutlink_mesher::surface::Surface;

/// A sphere of 2.0 million triangles.
fn sphere() -> Surface<3> {
    let sphere = Shape3::Sphere { radius: 1.0 };
    sphere
        .surface(4e-6)
        .expect("the sphere should be buildable")
}

/// The same with vertices and facets in no order (a fixed multiplicative permutation).
fn shuffled(surface: &Surface<3>) -> Surface<3> {
    let n = surface.vertices.len();
    let permuted = |i: usize, n: usize| (i * 1_000_003) % n;
    let mut out = surface.clone();
    for i in 0..n {
        out.vertices[permuted(i, n)] = surface.vertices[i];
    }
    let m = surface.facets.len();
    for i in 0..m {
        out.facets[permuted(i, m)] = surface.facets[i].map(|v| permuted(v as usize, n) as u32);
    }
    out
}

fn bench(c: &mut Criterion) {
    let ordered = sphere();
    let mixed = shuffled(&ordered);
    let mut group = c.benchmark_group("health");
    group.sample_size(10);
    group.throughput(Throughput::Elements(ordered.facets.len() as u64));
    for (name, surface) in [("ordered", &ordered), ("shuffled", &mixed)] {
        group.bench_function(name, |b| b.iter(|| health::check(surface)));
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
