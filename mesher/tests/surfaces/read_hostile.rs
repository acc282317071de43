//! Files that are sound but for their numbers: counts, sizes, offsets and indices at which arithmetic overflows. Every
//! reader ends with a surface or an error that names the file; a panic or an allocation that fails ends the test.

#[path = "../../../fuzz/hostile.rs"]
mod hostile;

use std::path::{Path, PathBuf};

use cutlink_mesher::read::{AnySurface, ReadError, parse_any};

use super::formats::{glb, threemf};

/// The seeds of the fuzz targets of surfaces.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let mut found = Vec::new();
    for folder in ["read_stl", "read_ply", "read_any"] {
        let files = std::fs::read_dir(root.join(folder)).expect("seeds");
        let mut files: Vec<PathBuf> = files.map(|file| file.expect("a seed").path()).collect();
        files.sort();
        for path in files {
            let bytes = std::fs::read(&path).expect("a seed");
            found.push((path.display().to_string(), bytes));
        }
    }
    assert!(found.len() > 25, "{} seeds", found.len());
    found
}

/// Reads a file; what is read has what a surface promises.
fn tried(name: &str, bytes: &[u8]) -> bool {
    match parse_any(Path::new("hostile"), bytes) {
        Ok(AnySurface::D3(loaded)) => {
            let surface = loaded.surface;
            let count = surface.vertices.len();
            assert!(
                surface
                    .facets
                    .iter()
                    .flatten()
                    .all(|&v| (v as usize) < count),
                "{name}: an index out of range"
            );
            let is_sound = |x: &f64| x.abs() <= 1e40;
            assert!(
                surface.vertices.iter().flatten().all(is_sound),
                "{name}: a coordinate beyond the limit"
            );
            true
        }
        Ok(AnySurface::D2(_)) => true,
        Err(ReadError::Memory {
            what, requested, ..
        }) => panic!("{name}: {requested} bytes asked for {what}"),
        Err(error) => {
            assert!(error.to_string().contains("hostile"), "{name}: {error}");
            false
        }
    }
}

#[test]
fn hostile_numbers_in_text_end_in_errors() {
    let (mut read, mut refused) = (0u32, 0u32);
    for (name, seed) in seeds() {
        // Digits of base64 are no numbers.
        let is_packed = ["base64", "zlib", "gltf", "gz", "3mf"];
        if is_packed.iter().any(|end| name.contains(end)) {
            continue;
        }
        for bytes in hostile::texts(&seed) {
            match tried(&name, &bytes) {
                true => read += 1,
                false => refused += 1,
            }
        }
    }
    assert!(
        read > 1000 && refused > 1000,
        "{read} read, {refused} refused"
    );
}

#[test]
fn hostile_words_in_binary_end_in_errors() {
    let (mut read, mut refused) = (0u32, 0u32);
    for (name, seed) in seeds() {
        let is_binary = ["binary", "little.ply", "big.ply", "raw.vtp", "glb", "3mf"];
        if !is_binary.iter().any(|part| name.contains(part)) {
            continue;
        }
        for bytes in hostile::words(&seed, 0).step_by(3) {
            match tried(&name, &bytes) {
                true => read += 1,
                false => refused += 1,
            }
        }
    }
    assert!(
        read > 1000 && refused > 1000,
        "{read} read, {refused} refused"
    );
}

#[test]
fn several_hostile_places_at_once_end_in_errors() {
    let files: Vec<Vec<u8>> = seeds().into_iter().map(|(_, bytes)| bytes).collect();
    let refused = (0..6000u64).filter(|&seed| {
        let bytes = hostile::mutant(&files, &hostile::noise(seed, 64));
        !tried(&format!("mutant {seed}"), &bytes)
    });
    assert!(refused.count() > 1000, "most are damaged");
}

#[test]
fn hostile_numbers_in_the_json_of_a_gltf_end_in_errors() {
    let embedded = String::from_utf8(glb::embedded(r#"[{"mesh":0}]"#)).expect("text");
    let (head, data) = embedded.split_once("base64,").expect("a buffer");
    let mut refused = 0;
    for start in hostile::texts(head.as_bytes()) {
        let bytes = [&start[..], b"base64,", data.as_bytes()].concat();
        refused += u32::from(!tried("gltf", &bytes));
    }
    assert!(refused > 300, "{refused}");
    // Keys that the file above does not have.
    let view = r#""byteOffset":24,"#;
    let accessor = r#""bufferView":1,"#;
    let node = r#"{"mesh":0}"#;
    for text in hostile::TEXTS {
        for (place, key) in [
            (view, format!(r#"{view}"byteStride":{text},"#)),
            (view, format!(r#""byteOffset":{text},"#)),
            (accessor, format!(r#"{accessor}"byteOffset":{text},"#)),
            (node, format!(r#"{{"mesh":0,"translation":[{text},0,0]}}"#)),
            (node, format!(r#"{{"mesh":0,"scale":[1,{text},1]}}"#)),
            (node, format!(r#"{{"mesh":0,"rotation":[0,0,{text},1]}}"#)),
            (node, format!(r#"{{"mesh":0,"children":[{text}]}}"#)),
        ] {
            assert!(embedded.contains(place), "{place}");
            tried("gltf", embedded.replacen(place, &key, 1).as_bytes());
        }
    }
}

#[test]
fn hostile_numbers_in_a_model_end_in_errors() {
    let object = threemf::object(1, "tetra");
    let item = r#"<item objectid="1" transform="1 0 0 0 1 0 0 0 1 0 0 0"/>"#;
    let model = threemf::model("meter", &object, item);
    let mut refused = 0;
    for text in hostile::texts(model.as_bytes()) {
        let Ok(text) = String::from_utf8(text) else {
            continue;
        };
        refused += u32::from(!tried("3mf", &threemf::package(&text)));
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn counts_whose_sum_overflows_are_no_panic() {
    let most = u64::MAX;
    for (nothing, vertices, is_read) in [(most, 4, true), (1, most, false), (most, most, false)] {
        let text = format!(
            "ply\nformat ascii 1.0\nelement nothing {nothing}\nelement vertex {vertices}\nproperty float x\n\
             property float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n\
             0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n"
        );
        assert_eq!(tried(&text, text.as_bytes()), is_read, "{text}");
    }
}
