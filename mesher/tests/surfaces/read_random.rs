//! Random surfaces in every format, cut and corrupted; gzip.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use cutlink_mesher::Surface;
use cutlink_mesher::read::{AnySurface, Loaded, MAX_UNPACK_RATIO, ReadError, parse_any, weld};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

fn parse(bytes: &[u8]) -> Result<Loaded<3>, ReadError> {
    match parse_any(Path::new("random"), bytes)? {
        AnySurface::D3(loaded) => Ok(loaded),
        AnySurface::D2(_) => panic!("a surface should not be read as a polyline"),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).expect("memory should take bytes");
    packer.finish().expect("memory should take bytes")
}

type Soup = Vec<[[f32; 3]; 3]>;

/// Every format a soup can be written in; the two ASCII ones in shortest digits, which
/// read back as f64 nearest to the text, hence the comparison in f32.
const FORMATS: [&str; 5] = [
    "stl",
    "stl ascii",
    "ascii",
    "binary_little_endian",
    "binary_big_endian",
];

fn write(soup: &Soup, format: &str) -> Vec<u8> {
    match format {
        "stl" => {
            let mut out = b"solid 0123456789".to_vec();
            out.resize(80, b' ');
            out.extend((soup.len() as u32).to_le_bytes());
            for t in soup {
                out.extend([1; 12]);
                out.extend(t.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
                out.extend([9; 2]);
            }
            out
        }
        "stl ascii" => {
            let mut out = String::from("solid random\n");
            for t in soup {
                out.push_str(" facet normal 0 0 1\n  outer loop\n");
                for [x, y, z] in t {
                    writeln!(out, "   vertex {x:e} {y} {z:E}").expect("a string should take text");
                }
                out.push_str("  endloop\n endfacet\n");
            }
            out.push_str("endsolid random\n");
            out.into_bytes()
        }
        encoding => ply(soup, encoding),
    }
}

fn ply(soup: &Soup, encoding: &str) -> Vec<u8> {
    let mut out = format!(
        "ply\nformat {encoding} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        3 * soup.len(),
        soup.len()
    )
    .into_bytes();
    let big = encoding == "binary_big_endian";
    if encoding == "ascii" {
        for [x, y, z] in soup.as_flattened() {
            writeln!(out, "{x} {y} {z}").expect("memory should take text");
        }
        for f in 0..soup.len() {
            writeln!(out, "3 {} {} {}", 3 * f, 3 * f + 1, 3 * f + 2)
                .expect("memory should take text");
        }
        return out;
    }
    for x in soup.as_flattened().as_flattened() {
        out.extend(if big {
            x.to_be_bytes()
        } else {
            x.to_le_bytes()
        });
    }
    for v in 0..3 * soup.len() as u32 {
        if v % 3 == 0 {
            out.push(3);
        }
        out.extend(if big {
            v.to_be_bytes()
        } else {
            v.to_le_bytes()
        });
    }
    out
}

fn corners(surface: &Surface<3>) -> Soup {
    (0..surface.facets.len())
        .map(|f| surface.corners(f).map(|p| p.map(|x| x as f32)))
        .collect()
}

/// Coordinates that often coincide, zeros of both signs among them, and any finite ones.
fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => (-3i8..4).prop_map(|k| f32::from(k) / 2.0),
        1 => Just(-0.0f32),
        2 => any::<f32>().prop_filter("finite", |x| x.is_finite()),
    ]
}

fn soup() -> impl Strategy<Value = Soup> {
    let point = || [coordinate(), coordinate(), coordinate()];
    prop::collection::vec([point(), point(), point()], 1..40)
}

proptest! {
    #[test]
    fn every_format_reads_back(soup in soup()) {
        for format in FORMATS {
            let bytes = write(&soup, format);
            for bytes in [gzip(&bytes), bytes] {
                let loaded = parse(&bytes).expect(format);
                // Comparison by value: -0.0 may have become 0.0.
                prop_assert_eq!(&corners(&loaded.surface), &soup, "{}", format);
                prop_assert_eq!(loaded.report.gzipped, bytes[0] == 0x1f);
                prop_assert_eq!(loaded.report.facets_in_file, soup.len() as u64);
                prop_assert_eq!(loaded.report.bytes, bytes.len() as u64);
            }
        }
    }

    #[test]
    fn weld_equals_a_linear_search(soup in soup(), cut in 0usize..40) {
        let mut vertices: Vec<[f32; 3]> = Vec::new();
        let facets: Vec<[u32; 3]> = soup.iter().map(|t| t.map(|p| {
            let found = vertices.iter().position(|q| *q == p);
            found.unwrap_or_else(|| { vertices.push(p); vertices.len() - 1 }) as u32
        })).collect();
        let (head, tail) = soup.split_at(cut.min(soup.len()));
        let (ours, our_facets) = weld(&[head, tail]).expect("a small soup should do");
        prop_assert_eq!(our_facets, facets);
        prop_assert_eq!(ours.len(), vertices.len());
        for (a, b) in ours.iter().zip(&vertices) {
            prop_assert_eq!(*a, b.map(f64::from));
            prop_assert!(a.iter().all(|x| *x != 0.0 || x.is_sign_positive()));
        }
    }

    #[test]
    fn a_cut_file_is_refused_or_whole(soup in soup(), at in 0.0..1.0f64) {
        for format in FORMATS {
            let bytes = write(&soup, format);
            let cut = &bytes[..(at * bytes.len() as f64) as usize];
            match parse_any(Path::new("cut"), cut) {
                Err(_) => {}
                // Text can be cut behind a facet, or inside the last number or 'endsolid'.
                Ok(AnySurface::D3(loaded)) if format == "stl ascii" => {
                    let noted = loaded.report.notes.iter().any(|n| n.contains("truncated"));
                    let last_word = cut.len() + "endsolid random\n".len() >= bytes.len();
                    prop_assert!(noted || last_word && loaded.surface.facets.len() == soup.len());
                }
                Ok(AnySurface::D3(loaded)) if format == "ascii" => {
                    prop_assert_eq!(loaded.surface.facets.len(), soup.len());
                    prop_assert!(cut.len() + 6 > bytes.len());
                }
                Ok(other) => prop_assert!(false, "{}: {:?}", format, other),
            }
            let packed = gzip(&bytes);
            let cut = &packed[..(at * packed.len() as f64) as usize];
            prop_assert!(parse_any(Path::new("cut"), cut).is_err());
        }
    }

    #[test]
    fn corruption_never_panics(soup in soup(), hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        for format in FORMATS {
            let mut bytes = write(&soup, format);
            for (at, value) in &hits {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            if let Ok(AnySurface::D3(loaded)) = parse_any(Path::new("corrupted"), &bytes) {
                let surface = loaded.surface;
                prop_assert!(surface.vertices.iter().flatten().all(|x| x.is_finite()));
                prop_assert!(surface.facets.iter().flatten().all(|&v| (v as usize) < surface.vertices.len()));
                prop_assert!(surface.facet_patch.is_empty() || surface.facet_patch.len() == surface.facets.len());
                prop_assert!(surface.facet_patch.iter().all(|&p| usize::from(p) < surface.patches.len()));
                prop_assert!(!surface.facets.is_empty());
            }
        }
    }

    #[test]
    fn a_wrong_count_is_never_read_in_silence(soup in soup(), wrong in 0u32..60) {
        prop_assume!(wrong != soup.len() as u32);
        let mut stl = write(&soup, "stl");
        stl[80..84].copy_from_slice(&wrong.to_le_bytes());
        if let Ok(loaded) = parse(&stl) {
            prop_assert_eq!(loaded.surface.facets.len(), wrong as usize);
            prop_assert!(!loaded.report.notes.is_empty());
        }
        for format in &FORMATS[2..] {
            let bytes = write(&soup, format);
            let right = format!("element face {}\n", soup.len());
            let at = bytes.windows(right.len()).position(|w| w == right.as_bytes()).expect("the line should be there");
            let line = format!("element face {wrong}\n");
            let bytes = [&bytes[..at], line.as_bytes(), &bytes[at + right.len()..]].concat();
            if let Ok(loaded) = parse(&bytes) {
                prop_assert_eq!(loaded.surface.facets.len(), wrong as usize);
                prop_assert!(!loaded.report.notes.is_empty());
            }
        }
    }

    #[test]
    fn any_bytes_are_taken_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), head in 0usize..6) {
        let heads: [&[u8]; 6] = [b"", b"solid ", b"ply\nformat ascii 1.0\n", b"ply\nformat binary_big_endian 1.0\nelement vertex 9\nproperty char x\n", b"\x1f\x8b\x08", b"0 0\n1 "];
        let _ = parse_any(Path::new("noise"), &[heads[head], &bytes].concat());
    }

    #[test]
    fn the_result_does_not_depend_on_threads(soup in soup()) {
        for format in FORMATS {
            let bytes = write(&soup, format);
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool should start");
                pool.install(|| parse(&bytes)).expect(format)
            };
            prop_assert_eq!(with(1), with(3));
        }
    }
}

#[test]
fn a_gzip_bomb_is_refused() {
    let zeros = vec![b' '; 64 << 20];
    let bomb = gzip(&zeros);
    assert!(
        zeros.len() as u64 > MAX_UNPACK_RATIO * bomb.len() as u64,
        "the bomb should be one"
    );
    let error = parse(&bomb).expect_err("the bomb should be refused");
    assert!(
        matches!(error, ReadError::UnpackedTooLarge { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("unpack it"));
}

#[test]
fn what_follows_a_gzip_stream_is_ignored() {
    let soup = vec![[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]];
    let plain = write(&soup, "stl");
    let (head, tail) = plain.split_at(100);
    let members = [gzip(head), gzip(tail)].concat();
    let read = |rest: &[u8]| {
        let loaded = parse(&[&members[..], rest].concat()).expect("a surface");
        assert_eq!(loaded.surface.facets, [[0, 1, 2]]);
        loaded.report.notes
    };
    assert!(read(b"").is_empty(), "two members");
    assert!(read(&[0; 512]).is_empty(), "padding of a tape");
    let notes = read(b"signature");
    assert_eq!(notes, ["ignored 9 bytes behind the gzip stream"]);
}

#[test]
fn a_damaged_gzip_is_named() {
    let mut packed = gzip(&write(&vec![[[1.0, 2.0, 3.0]; 3]; 50], "stl"));
    let last = packed.len() - 6;
    packed[last] ^= 1;
    let error = parse(&packed).expect_err("the checksum should not match");
    assert!(matches!(error, ReadError::Gzip { .. }), "{error}");
    assert!(matches!(parse(&gzip(b"")), Err(ReadError::Empty { .. })));
}
