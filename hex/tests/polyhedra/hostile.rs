//! Meshes and fields that are sound but for their numbers, and files that are none: every one ends in a mesh that passes its
//! checks, or in an error with the name of the file.

#[path = "../../../fuzz/hostile.rs"]
mod mutants;

use cutlink_device::limits::LimitError;
use cutlink_hex::polymesh::{FoamField, read_zones};
use cutlink_hex::volume::{PATCH_ANGLE, parse_volume};
use cutlink_hex::{MeshFileError, PolyMesh};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn seeds(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/seeds")
        .join(folder)
}

/// A folder with the files of a mesh in one format.
fn mesh(format: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["points", "faces", "owner", "neighbour", "boundary"] {
        let own = seeds("poly_mesh").join(format!("{format}.{name}"));
        // Boundaries are always text.
        let text = seeds("poly_mesh").join(format!("ascii.{name}"));
        let from = if own.exists() { own } else { text };
        fs::copy(from, folder.path().join(name)).expect("a seed");
    }
    folder
}

/// Whether it was read; errors name the file or the folder, and are none of memory.
fn tried<T>(name: &str, read: Result<T, MeshFileError>) -> bool {
    match read {
        Ok(_) => true,
        Err(MeshFileError::Limit {
            source: LimitError::Memory { requested, .. },
            ..
        }) => panic!("{name}: {requested} bytes asked for"),
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty(), "{name}: {error:?}");
            false
        }
    }
}

#[test]
fn seeds_are_meshes() {
    for format in ["ascii", "binary"] {
        let mesh = PolyMesh::read(mesh(format).path()).expect(format);
        assert_eq!((mesh.cells, mesh.faces(), mesh.points.len()), (2, 11, 12));
        mesh.validate().expect(format);
    }
    let files = fs::read_dir(seeds("volumes")).expect("seeds");
    let files: Vec<PathBuf> = files.map(|file| file.expect("a seed").path()).collect();
    assert_eq!(files.len(), 7, "four of Gmsh, three of VTK");
    for path in files {
        let name = path.display().to_string();
        let bytes = fs::read(&path).expect(&name);
        let read = parse_volume(&path, &bytes, PATCH_ANGLE).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(read.mesh.cells, 2, "{name}");
        read.mesh.validate().expect(&name);
    }
}

#[test]
fn hostile_lists_of_openfoam_end_in_errors() {
    let mut counts = [0u32; 2];
    for format in ["ascii", "binary"] {
        for name in ["points", "faces", "owner", "neighbour", "boundary"] {
            let folder = mesh(format);
            let path = folder.path().join(name);
            let seed = fs::read(&path).expect("a seed");
            let words = mutants::words(&seed, 0).step_by(199);
            for bytes in mutants::texts(&seed).step_by(7).chain(words) {
                fs::write(&path, bytes).expect("a file");
                let read = PolyMesh::read(folder.path());
                counts[usize::from(tried(name, read))] += 1;
            }
        }
    }
    assert!(counts[0] > 100 && counts[1] > 20, "{counts:?}");
}

#[test]
fn hostile_zones_and_fields_end_in_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut counts = [0u32; 2];
    for name in ["cellZones", "field"] {
        let seed = fs::read(seeds("poly_mesh").join(format!("ascii.{name}"))).expect("a seed");
        let path = folder.path().join(name);
        let files = [seed.clone()];
        let mutants = (0..500).map(|i| mutants::mutant(&files, &mutants::noise(i, 48)));
        for bytes in mutants::texts(&seed).chain(mutants) {
            fs::write(&path, bytes).expect("a file");
            let read = match name {
                "field" => tried(name, FoamField::read(&path)),
                _ => tried(name, read_zones(&path, 2)),
            };
            counts[usize::from(read)] += 1;
        }
    }
    assert!(counts[0] > 100 && counts[1] > 20, "{counts:?}");
}

#[test]
fn hostile_volume_meshes_end_in_errors() {
    let mut counts = [0u32; 2];
    let files = fs::read_dir(seeds("volumes")).expect("seeds");
    let mut all = Vec::new();
    for file in files {
        let path = file.expect("a seed").path();
        let (name, seed) = (path.display().to_string(), fs::read(&path).expect("a seed"));
        let words = mutants::words(&seed, 0).step_by(199);
        for bytes in mutants::texts(&seed).step_by(7).chain(words) {
            let read = parse_volume(&path, &bytes, PATCH_ANGLE);
            counts[usize::from(tried(&name, read))] += 1;
        }
        all.push(seed);
    }
    for i in 0..1000 {
        let bytes = mutants::mutant(&all, &mutants::noise(i, 64));
        let read = parse_volume(Path::new("mutant"), &bytes, PATCH_ANGLE);
        counts[usize::from(tried("mutant", read))] += 1;
    }
    assert!(counts[0] > 500 && counts[1] > 100, "{counts:?}");
}

#[test]
fn names_that_are_no_words_are_refused_with_their_place() {
    let boundary = fs::read_to_string(seeds("poly_mesh").join("ascii.boundary")).expect("a seed");
    let named = |name: &str| {
        let folder = mesh("ascii");
        let text = boundary.replace("walls", name);
        fs::write(folder.path().join("boundary"), text).expect("a file");
        PolyMesh::read(folder.path())
    };
    for name in ["inlet_1", "wing-left", "été", "a.b:c"] {
        let mesh = named(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(mesh.patches[0].name, name);
    }
    for name in [
        "../../evil",
        "#include",
        "$HOME",
        "a\0b",
        "\"quoted\"",
        "..",
        "a/b",
        "it's",
    ] {
        let error = named(name).expect_err(name).to_string();
        let said = error.contains("boundary, line 9") && error.contains("no word of OpenFOAM");
        assert!(said, "{name:?}: {error}");
    }
}

#[test]
fn what_has_no_end_is_not_read() {
    // 1.1 GB of line ends in 1.1 MB: more than 1 GiB, and than 64 times as much.
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    let zeros = vec![b'\n'; 1 << 20];
    for _ in 0..1100 {
        packer.write_all(&zeros).expect("memory");
    }
    let bomb = packer.finish().expect("memory");
    let folder = mesh("ascii");
    fs::remove_file(folder.path().join("owner")).expect("a file");
    fs::write(folder.path().join("owner.gz"), &bomb).expect("a file");
    let volume = folder.path().join("bomb.msh");
    fs::write(&volume, &bomb).expect("a file");
    let errors = [
        PolyMesh::read(folder.path()).map(drop),
        cutlink_hex::volume::read_volume(&volume, PATCH_ANGLE).map(drop),
    ];
    for error in errors {
        let error = error.expect_err("a bomb");
        let MeshFileError::Limit { path, source } = error else {
            panic!("{error}");
        };
        let is_limit = matches!(
            source,
            LimitError::Unpacked { .. } | LimitError::Memory { .. }
        );
        assert!(is_limit, "{}: {source}", path.display());
    }
    // What is gzipped is unpacked, whatever its name.
    let text = fs::read(seeds("poly_mesh").join("ascii.owner")).expect("a seed");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    packer.write_all(&text).expect("memory");
    let packed = packer.finish().expect("memory");
    for name in ["owner.gz", "owner"] {
        let _ = fs::remove_file(folder.path().join("owner.gz"));
        fs::write(folder.path().join(name), &packed).expect("a file");
        PolyMesh::read(folder.path()).expect(name);
    }
    if cfg!(unix) {
        fs::remove_file(folder.path().join("owner")).expect("a file");
        #[cfg(unix)]
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("owner")).expect("a link");
        let error = PolyMesh::read(folder.path()).expect_err("no end");
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let text = source.unwrap_or_default();
        assert!(text.contains("a device, not a regular file"), "{text}");
    }
}
