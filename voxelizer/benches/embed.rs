//! Every stage of an embedding, on a torus of about 70,000 facets in a 64³ root: time by
//! stage as the observer is told it, blocks a second.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use cutlink_device::Host;
use cutlink_mesher::{Surface, primitives::Shape3, snap::snap};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Stage, StageObserver, embed};
use std::time::Duration;

/// Adds up the time of one stage over all levels.
struct Stopwatch {
    stage: Stage,
    seconds: f64,
}

impl StageObserver for Stopwatch {
    fn stage_done(&mut self, stage: Stage, _: usize, seconds: f64) {
        if stage == self.stage {
            self.seconds += seconds;
        }
    }
}

/// In the middle of the unit box.
fn torus() -> Surface<3> {
    let torus = Shape3::Torus {
        major: 0.25,
        minor: 0.1,
    };
    let mut surface = torus.surface(1.2e-5).expect("a torus");
    for v in &mut surface.vertices {
        *v = v.map(|x| x + 0.5);
    }
    surface
}

fn stages(c: &mut Criterion) {
    let surface = torus();
    let frame = Frame::new([0.0; 3], 1.0 / 64.0, [64; 3]).expect("a box");
    for levels in [3, 5] {
        let params = EmbedParams::new(levels, 0.05, Fill::NonZero);
        let snapped = snap(&surface, frame.lattice(levels)).expect("inside");
        let blocks = embed(&Host, &snapped, frame, &params, &mut ())
            .expect("memory")
            .forest
            .blocks();
        let mut group = c.benchmark_group(format!("embed_{levels}_levels"));
        group.sample_size(10);
        group.throughput(Throughput::Elements(blocks as u64));
        for stage in [Stage::Bins, Stage::Voxelize, Stage::Refine, Stage::Links] {
            let name = format!("{stage:?}").to_lowercase();
            group.bench_function(BenchmarkId::from_parameter(name), |b| {
                b.iter_custom(|runs| {
                    let mut watch = Stopwatch {
                        stage,
                        seconds: 0.0,
                    };
                    for _ in 0..runs {
                        embed(&Host, &snapped, frame, &params, &mut watch).expect("memory");
                    }
                    Duration::from_secs_f64(watch.seconds)
                });
            });
        }
        group.finish();
    }
}

/// The limit that the stages run against: memory copied on all threads, bytes read and
/// written a second.
fn copy(c: &mut Criterion) {
    use rayon::prelude::*;
    let from = vec![1u64; 1 << 25];
    let mut to = vec![0u64; 1 << 25];
    let mut group = c.benchmark_group("memory");
    group.sample_size(10);
    group.throughput(Throughput::Bytes((2 * 8) << 25));
    group.bench_function("copy", |b| {
        b.iter(|| {
            to.par_chunks_mut(1 << 16)
                .zip(from.par_chunks(1 << 16))
                .for_each(|(to, from)| to.copy_from_slice(from));
        });
    });
    group.finish();
}

/// Snapping the same torus, vertices a second.
fn snapping(c: &mut Criterion) {
    let surface = torus();
    let frame = Frame::new([0.0; 3], 1.0 / 64.0, [64; 3]).expect("a box");
    let mut group = c.benchmark_group("snap");
    group.throughput(Throughput::Elements(surface.vertices.len() as u64));
    group.bench_function("torus", |b| b.iter(|| snap(&surface, frame.lattice(5))));
    group.finish();
}

criterion_group!(benches, copy, snapping, stages);
criterion_main!(benches);
