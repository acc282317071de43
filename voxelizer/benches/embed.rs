//! Every stage of an embedding, on a torus of about 70,000 facets in a 64³ root: time by
//! stage as the observer is told it, blocks a second.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use cutlink_device::Host;
use cutlink_mesher::{primitives::Shape3, snap::snap};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Observer, Stage, embed};
use std::time::Duration;

/// Adds up the time of one stage over all levels.
struct Stopwatch {
    stage: Stage,
    seconds: f64,
}

impl Observer for Stopwatch {
    fn stage_done(&mut self, stage: Stage, _: usize, seconds: f64) {
        if stage == self.stage {
            self.seconds += seconds;
        }
    }
}

fn stages(c: &mut Criterion) {
    let torus = Shape3::Torus {
        major: 0.25,
        minor: 0.1,
    };
    let mut surface = torus.surface(1.2e-5).expect("a torus");
    for v in &mut surface.vertices {
        *v = v.map(|x| x + 0.5);
    }
    let frame = Frame::new([0.0; 3], 1.0 / 64.0, [64; 3]).expect("a box");
    for levels in [3, 5] {
        let params = EmbedParams {
            levels,
            wall_distance: 0.05,
            fill: Fill::NonZero,
        };
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

criterion_group!(benches, stages);
criterion_main!(benches);
