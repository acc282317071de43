//! Writers and the reader, in bytes a second: a ball in 64^3 root cells and four levels
//! (20 MB as a mesh file, 60 MB as trees, 480 MB as voxels), into memory that is thrown away.

#![allow(missing_docs, reason = "criterion's macros make items without docs")]

#[path = "../tests/files_kit/mod.rs"]
mod files_kit;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cutlink_voxelizer::{mesh_file, vtk};
use files_kit::ball_mesh;
use std::collections::BTreeMap;
use std::io::sink;
use std::path::Path;

fn files(criterion: &mut Criterion) {
    let mesh = ball_mesh([16, 16, 16], 4);
    let strings = BTreeMap::new();
    let mut group = criterion.benchmark_group("files");
    group.sample_size(10);

    let mut bytes = Vec::new();
    let size = mesh_file::write(&mesh, &strings, &mut bytes).expect("a sound mesh");
    group.throughput(Throughput::Bytes(size));
    group.bench_function("mesh_file_write", |b| {
        b.iter(|| mesh_file::write(&mesh, &strings, &mut sink()).expect("a sound mesh"));
    });
    group.bench_function("mesh_file_parse", |b| {
        b.iter(|| mesh_file::parse(Path::new("ball.cutlink"), &bytes).expect("a sound file"));
    });

    let size = vtk::Htg::new(&mesh, &[]).expect("a sound mesh").bytes();
    group.throughput(Throughput::Bytes(size));
    group.bench_function("htg", |b| {
        b.iter(|| {
            let file = vtk::Htg::new(&mesh, &[]).expect("a sound mesh");
            file.write(&mut sink()).expect("written")
        });
    });

    let size = vtk::Vtu::new(&mesh, None, &[])
        .expect("a sound mesh")
        .bytes();
    group.throughput(Throughput::Bytes(size));
    group.bench_function("vtu", |b| {
        b.iter(|| {
            let file = vtk::Vtu::new(&mesh, None, &[]).expect("a sound mesh");
            file.write(&mut sink()).expect("written")
        });
    });
    group.finish();
}

criterion_group!(benches, files);
criterion_main!(benches);
