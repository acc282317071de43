//! Readers on a torus of two million triangles, in bytes of file a second; and what the
//! memory gives in the same run: `copy` from one buffer to another, `fresh` for filling 48 MB
//! that were just allocated, as much as the result of a reader takes.
//!
//! `soup` parses, `weld` indexes the parsed triangles, `read` is the whole of
//! [`parse_any`]; the bytes are in memory.

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rayon::prelude::*;

use cutlink_mesher::read::{ascii_stl_soup, binary_stl_soup, parse_any, weld};

const AROUND: u32 = 1000;

fn torus() -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let angle = |k: u32| f64::from(k) * std::f64::consts::TAU / f64::from(AROUND);
    let mut vertices = Vec::new();
    let mut facets = Vec::new();
    for i in 0..AROUND {
        for j in 0..AROUND {
            let (u, v) = (angle(i), angle(j));
            let r = 1.0 + 0.4 * v.cos();
            vertices.push([r * u.cos(), r * u.sin(), 0.4 * v.sin()].map(|x| x as f32));
            let at = |i: u32, j: u32| (i % AROUND) * AROUND + j % AROUND;
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            facets.extend([[a, b, c], [a, c, d]]);
        }
    }
    (vertices, facets)
}

fn stl(vertices: &[[f32; 3]], facets: &[[u32; 3]]) -> (Vec<u8>, Vec<u8>) {
    let mut binary = vec![b' '; 80];
    binary.extend((facets.len() as u32).to_le_bytes());
    let mut ascii = String::from("solid torus\n");
    for facet in facets {
        binary.extend([0; 12]);
        ascii.push_str("  facet normal 0.000000e+00 0.000000e+00 0.000000e+00\n    outer loop\n");
        for &v in facet {
            let [x, y, z] = vertices[v as usize];
            binary.extend([x, y, z].map(f32::to_le_bytes).as_flattened());
            writeln!(ascii, "      vertex {x:.6e} {y:.6e} {z:.6e}")
                .expect("a string should take text");
        }
        binary.extend([0; 2]);
        ascii.push_str("    endloop\n  endfacet\n");
    }
    ascii.push_str("endsolid torus\n");
    (binary, ascii.into_bytes())
}

fn ply(vertices: &[[f32; 3]], facets: &[[u32; 3]], encoding: &str) -> Vec<u8> {
    let mut out = format!(
        "ply\nformat {encoding} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        vertices.len(),
        facets.len()
    )
    .into_bytes();
    if encoding == "ascii" {
        let mut text = String::new();
        for [x, y, z] in vertices {
            writeln!(text, "{x} {y} {z}").expect("a string should take text");
        }
        for [a, b, c] in facets {
            writeln!(text, "3 {a} {b} {c}").expect("a string should take text");
        }
        out.extend(text.into_bytes());
        return out;
    }
    let big = encoding == "binary_big_endian";
    for x in vertices.as_flattened() {
        out.extend(if big {
            x.to_be_bytes()
        } else {
            x.to_le_bytes()
        });
    }
    for facet in facets {
        out.push(3);
        for v in facet {
            out.extend(if big {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            });
        }
    }
    out
}

fn memory(criterion: &mut Criterion) {
    const PIECE: usize = 1 << 20;
    let from = vec![1u8; 128 << 20];
    let mut to = vec![0u8; from.len()];
    let mut group = criterion.benchmark_group("memory");
    group.throughput(Throughput::Bytes(from.len() as u64));
    group.bench_function("copy", |b| {
        b.iter(|| {
            let pieces = to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE));
            pieces.for_each(|(to, from)| to.copy_from_slice(black_box(from)));
        })
    });
    const FRESH: usize = 48_000_000 / 8;
    group.throughput(Throughput::Bytes(8 * FRESH as u64));
    group.bench_function("fresh", |b| {
        b.iter(|| {
            let mut words = cutlink_device::memory::with_capacity("a bench", FRESH)
                .expect("48 MB should be there");
            (0..FRESH)
                .into_par_iter()
                .with_min_len(1 << 14)
                .collect_into_vec(&mut words);
            words
        })
    });
    group.finish();
}

fn readers(criterion: &mut Criterion) {
    let name = Path::new("torus");
    let (vertices, facets) = torus();
    let (binary, ascii) = stl(&vertices, &facets);
    let mut group = criterion.benchmark_group("read");
    group.sample_size(10);

    group.throughput(Throughput::Bytes(binary.len() as u64));
    group.bench_function("stl_binary/soup", |b| {
        b.iter(|| binary_stl_soup(name, black_box(&binary)))
    });
    let soup = binary_stl_soup(name, &binary).expect("the torus should be sound");
    group.bench_function("stl_binary/weld", |b| b.iter(|| weld(black_box(&[&soup]))));
    group.bench_function("stl_binary/read", |b| {
        b.iter(|| parse_any(name, black_box(&binary)))
    });

    group.throughput(Throughput::Bytes(ascii.len() as u64));
    group.bench_function("stl_ascii/soup", |b| {
        b.iter(|| ascii_stl_soup(name, black_box(&ascii)))
    });
    group.bench_function("stl_ascii/read", |b| {
        b.iter(|| parse_any(name, black_box(&ascii)))
    });

    for encoding in ["binary_little_endian", "binary_big_endian", "ascii"] {
        let bytes = ply(&vertices, &facets, encoding);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(format!("ply_{encoding}/read"), |b| {
            b.iter(|| parse_any(name, black_box(&bytes)))
        });
    }
    group.finish();
}

criterion_group!(benches, memory, readers);
criterion_main!(benches);
