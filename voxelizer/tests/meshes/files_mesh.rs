//! The mesh file: what is written is read, the `safetensors` crate agrees on the container,
//! and no damage goes unnoticed.

use super::files_kit::{ball_mesh, random_mesh};
use cutlink_amr::NONE;
use cutlink_voxelizer::mesh_file::{self, FileError};
use cutlink_voxelizer::{AnyMesh, Mesh};
use proptest::prelude::*;
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

fn extra() -> BTreeMap<String, String> {
    [("input", "a \"b\".stl"), ("config", "levels = 3\n")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into()
}

fn bytes_of<const D: usize>(mesh: &Mesh<D>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = mesh_file::write(mesh, &extra(), &mut bytes).expect("a sound mesh");
    assert_eq!(written, bytes.len() as u64, "the count that is returned");
    let size = mesh_file::size(mesh, &extra()).expect("a sound mesh");
    assert_eq!(size, written, "the size told beforehand");
    for threads in [1, 5] {
        for folder in folders() {
            let found = written_by(threads, mesh, &folder);
            assert!(found == bytes, "by {threads} threads in {folder:?}");
        }
    }
    bytes
}

/// The folder for temporary files, and on Linux one that lies in memory, whose files are mapped.
fn folders() -> Vec<PathBuf> {
    let memory = Path::new("/dev/shm").to_owned();
    [std::env::temp_dir(), memory]
        .into_iter()
        .filter(|folder| folder.is_dir())
        .collect()
}

/// The bytes of a file that several threads write.
fn written_by<const D: usize>(threads: usize, mesh: &Mesh<D>, folder: &Path) -> Vec<u8> {
    let mut file = tempfile::tempfile_in(folder).expect("a temporary file");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.build().expect("threads");
    let checksum = || (mesh.checksum(), "beside");
    let written = pool.install(|| mesh_file::write_file(mesh, &extra(), &file, checksum));
    let (written, beside) = written.expect("a sound mesh");
    assert_eq!(beside, "beside");
    file.seek(SeekFrom::Start(0)).expect("a file");
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).expect("its bytes");
    assert_eq!(written, bytes.len() as u64, "the count that is returned");
    bytes
}

fn parse(bytes: &[u8]) -> Result<mesh_file::Contents, FileError> {
    mesh_file::parse(Path::new("some.cutlink"), bytes)
}

/// A mesh as data that does not depend on ids: level, place, masks, links of every block.
fn content<const D: usize>(mesh: &Mesh<D>) -> Vec<String> {
    let forest = &mesh.forest;
    let classes = &mesh.classes;
    let mut out = vec![format!(
        "{:?} {:?} {:?} {} {:?}",
        mesh.frame,
        mesh.patches,
        mesh.fill,
        forest.levels.len(),
        forest.root
    )];
    for id in forest.ids() {
        let at = id as usize;
        let around: Vec<_> = forest
            .neighbors_of(id)
            .map(|n| forest.coord.get(n as usize).ok_or(n))
            .collect();
        let links: Vec<_> = (0..64)
            .filter_map(|cell| mesh.links.cell(id, classes.boundary[at], cell))
            .flat_map(|(directions, first)| {
                let many = first as usize + directions.count_ones() as usize;
                (first as usize..many).map(move |link| (directions, link))
            })
            .map(|(directions, link)| {
                let patch = mesh.links.patch.get(link);
                (directions, mesh.links.q[link].to_bits(), patch)
            })
            .collect();
        out.push(format!(
            "{} {:?} {} {around:?} {:x} {:x} {:x} {:x} {links:?}",
            forest.level[at],
            forest.coord[at],
            forest.first_child[at] == NONE,
            classes.solid[at],
            classes.boundary[at],
            classes.ghost[at],
            classes.interface[at],
        ));
    }
    out
}

fn roundtrip<const D: usize>(mesh: &Mesh<D>, of: impl Fn(AnyMesh) -> Option<Mesh<D>>) {
    let bytes = bytes_of(mesh);
    let (back, strings) = parse(&bytes).expect("what was written");
    let back = of(back).expect("the same dimension");
    assert_eq!(strings, extra(), "the caller's strings");
    assert_eq!(content(&back), content(mesh), "the mesh");
    assert_eq!(bytes_of(&back), bytes, "a second generation");
}

fn plane(mesh: AnyMesh) -> Option<Mesh<2>> {
    match mesh {
        AnyMesh::D2(mesh) => Some(mesh),
        AnyMesh::D3(_) => None,
    }
}

fn space(mesh: AnyMesh) -> Option<Mesh<3>> {
    match mesh {
        AnyMesh::D2(_) => None,
        AnyMesh::D3(mesh) => Some(mesh),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_written_is_read(seed in any::<u64>(), levels in 1usize..4) {
        let mesh = random_mesh(seed, [2, 3], levels + 1);
        roundtrip(&mesh, plane);
        let mesh = random_mesh(seed, [2, 1, 2], levels);
        roundtrip(&mesh, space);
    }
}

#[test]
fn the_meshes_of_this_file_are_not_trivial() {
    let mesh = random_mesh(3, [2, 1, 2], 3);
    assert!(!mesh.forest.gaps.is_empty(), "recycled ids");
    assert_eq!(mesh.forest.levels.len(), 3, "levels");
    assert!(mesh.links.len() > 100, "links");
    let mut other = random_mesh(3, [2, 1, 2], 3);
    assert_eq!(content(&other), content(&mesh), "the same seed");
    other.links.q[5] = 0.75;
    assert_ne!(
        content(&other),
        content(&mesh),
        "the comparator sees one link"
    );
}

#[test]
fn the_container_is_safetensors() {
    let mesh = ball_mesh([2, 2, 2], 3);
    let bytes = bytes_of(&mesh);
    let file = SafeTensors::deserialize(&bytes).expect("the crate accepts it");
    let blocks = mesh.forest.blocks();
    let coord = file.tensor("coord").expect("there");
    assert_eq!(coord.dtype(), Dtype::I32, "type of coord");
    assert_eq!(coord.shape(), [blocks, 3], "shape of coord");
    let expected: Vec<u8> = mesh
        .forest
        .ids()
        .flat_map(|id| mesh.forest.coord[id as usize])
        .flat_map(i32::to_le_bytes)
        .collect();
    assert_eq!(coord.data(), expected, "coordinates");
    let solid = file.tensor("solid").expect("there");
    let ones: u32 = solid.data().iter().map(|b| b.count_ones()).sum();
    let expected: u32 = mesh.classes.solid.iter().map(|m| m.count_ones()).sum();
    assert_eq!(ones, expected, "solid cells");
    for (name, tensor) in file.tensors() {
        let at = tensor.data().as_ptr() as usize - bytes.as_ptr() as usize;
        let width = tensor.dtype().bitsize() / 8;
        assert_eq!(at % width, 0, "{name} is aligned");
    }
    let (_, header) = SafeTensors::read_metadata(&bytes).expect("the crate accepts it");
    let strings = header.metadata().clone().expect("a string map");
    assert_eq!(strings["dimension"], "3", "dimension");
    assert_eq!(
        strings["checksum"],
        format!("{:016x}", mesh.checksum()),
        "checksum"
    );
}

#[test]
fn every_flipped_bit_is_refused() {
    let bytes = bytes_of(&random_mesh(11, [1, 2], 3));
    parse(&bytes).expect("sound before");
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 1 << (at % 8);
        let error = parse(&bad).expect_err("a flipped bit");
        assert!(error.to_string().contains("some.cutlink"), "{at}: {error}");
    }
}

#[test]
fn every_cut_is_refused() {
    let bytes = bytes_of(&random_mesh(12, [1, 2], 2));
    for len in 0..bytes.len() {
        parse(&bytes[..len]).expect_err("a truncated file");
    }
    let mut long = bytes.clone();
    long.push(0);
    let error = parse(&long).expect_err("a file that is too long");
    assert!(error.to_string().contains("size of the file"), "{error}");
}

/// The file with one array changed and the last eight bytes put right, so that the checks
/// behind the checksum are reached.
fn resealed<const D: usize>(
    mesh: &Mesh<D>,
    name: &str,
    change: impl FnOnce(&mut [u8]),
) -> Result<mesh_file::Contents, FileError> {
    let mut bytes = bytes_of(mesh);
    let (start, header) = SafeTensors::read_metadata(&bytes).expect("the crate accepts it");
    let (from, to) = header.info(name).expect("there").data_offsets;
    change(&mut bytes[8 + start + from..8 + start + to]);
    reseal(&mut bytes);
    parse(&bytes)
}

fn reseal(bytes: &mut [u8]) {
    let (body, sum) = bytes.split_at_mut(bytes.len() - 8);
    let mut value = 0u64;
    for (i, chunk) in body.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let key = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = u64::from_le_bytes(word).wrapping_add(key);
        value = value.wrapping_add(cutlink_amr::checksum::mix(word));
    }
    sum.copy_from_slice(&value.to_le_bytes());
}

#[test]
fn contradictions_are_named() {
    let mesh = random_mesh(3, [2, 1, 2], 3);
    resealed(&mesh, "solid", |_| ()).expect("nothing changed");
    let set = |value: u32| move |array: &mut [u8]| array[..4].copy_from_slice(&value.to_le_bytes());
    let q = |value: f32| set(value.to_bits());
    let refuse = |name: &str, change: &dyn Fn(&mut [u8]), expected: &str| {
        let error = resealed(&mesh, name, change)
            .expect_err(expected)
            .to_string();
        assert!(error.contains(expected), "{name}: {error}, not {expected}");
    };
    refuse("link_q", &q(0.0), "outside (0, 1]");
    refuse("link_q", &q(-0.0), "outside (0, 1]");
    refuse("link_q", &q(1.000_001), "outside (0, 1]");
    refuse("link_q", &q(f32::NAN), "outside (0, 1]");
    refuse("link_q", &q(0.123), "checksum");
    refuse("link_patch", &|a| a[0] = 2, "patch 2 of 2");
    refuse("link_blocks", &set(u32::MAX), "link_blocks");
    refuse("link_cell_start", &set(1), "link_cell_start");
    refuse("link_cells", &|a| a[0] ^= 1, "link_cells");
    refuse("link_cells", &|a| a[7] = 1, "link_cells");
    refuse("boundary", &|a| a.fill(0xff), "solid");
    refuse("coord", &set(1), "coord");
    refuse("level_start", &set(1), "level_start");
    refuse("first_child", &set(0), "first_child");
    refuse("first_child", &set(u32::MAX - 3), "first_child");
    refuse("first_child", &|a| a.fill(0xff), "the child of none");
    let flat = random_mesh(3, [2, 3], 3);
    let error = resealed(&flat, "ghost", |a| a[2] = 1).expect_err("a cell 16 in the plane");
    assert!(error.to_string().contains("names no cells"), "{error}");
}

fn with_text(from: &str, to: &str) -> FileError {
    let bytes = bytes_of(&random_mesh(5, [1, 2], 2));
    let len =
        usize::try_from(u64::from_le_bytes(bytes[..8].try_into().expect("8"))).expect("small");
    let json = String::from_utf8(bytes[8..8 + len].to_vec()).expect("text");
    assert!(json.contains(from), "{from} is in {json}");
    let json = json.replace(from, to);
    let mut bad = (json.len() as u64).to_le_bytes().to_vec();
    bad.extend(json.as_bytes());
    bad.extend(&bytes[8 + len..]);
    reseal(&mut bad);
    parse(&bad).expect_err("a changed header")
}

#[test]
fn headers_are_not_trusted() {
    let cases = [
        ("\"cutlink-mesh\"", "\"pt\"", "not a cutlink mesh file"),
        (
            "\"format_version\":\"1\"",
            "\"format_version\":\"3\"",
            "version \"3\"",
        ),
        ("\"dimension\":\"2\"", "\"dimension\":\"3\"", "3 numbers"),
        (
            "\"dimension\":\"2\"",
            "\"dimension\":\"9\"",
            "neither 2 nor 3",
        ),
        ("[4, 8]", "[4, 9]", "multiples of 4"),
        ("[4, 8]", "[4294967292, 4294967292]", "root blocks"),
        ("\"evenodd\"", "\"odd\"", "no fill rule"),
        ("\"dtype\":\"F32\"", "\"dtype\":\"I32\"", "link_q"),
        ("\"ghost\"", "\"guest\"", "ghost"),
        (
            "\"I32\",\"shape\":[",
            "\"I32\",\"shape\":[9999999999999999,",
            "coord",
        ),
    ];
    for (from, to, expected) in cases {
        let error = with_text(from, to).to_string();
        assert!(
            error.contains(expected),
            "{from} to {to}: {error}, not {expected}"
        );
    }
}

#[test]
fn a_damaged_header_is_not_taken_for_another_format() {
    let whole = bytes_of(&random_mesh(5, [1, 2], 2));
    let len = whole[..8].iter().rposition(|&b| b != 0).expect("a length");
    let quote = 8 + whole[8..].iter().position(|&b| b == b':').expect("JSON");
    for (at, value) in [(7, 1), (len, 0x70), (quote, b';')] {
        let mut bytes = whole.clone();
        bytes[at] = value;
        let error = parse(&bytes).expect_err("a damaged header");
        let damaged = matches!(&error, FileError::Damaged { place, .. } if place == "the header");
        assert!(damaged, "byte {at}: {error}");
    }
}

#[test]
fn short_texts_are_no_mesh_files() {
    let text = b"solid empty\nendsolid empty\nmore and more of it";
    for length in 0..text.len() {
        let error = parse(&text[..length]).expect_err("no mesh");
        let other = matches!(&error, FileError::NotAMesh { .. });
        assert!(other, "{length} bytes: {error}");
    }
}

#[test]
fn counts_in_a_header_take_no_memory() {
    for count in [u64::MAX, 1 << 62, 1 << 40, 99_999_999] {
        let mut bytes = count.to_le_bytes().to_vec();
        bytes.extend([b'{'; 64]);
        parse(&bytes).expect_err("a header longer than the file");
    }
}

#[test]
fn what_cannot_be_read_back_is_not_written() {
    let mut mesh = random_mesh(3, [2, 3], 3);
    let own = BTreeMap::from([("dx".to_owned(), "1".to_owned())]);
    let error = mesh_file::write(&mesh, &own, &mut Vec::new()).expect_err("a taken key");
    assert!(error.to_string().contains("\"dx\""), "{error}");
    mesh.links.blocks.swap(0, 1);
    let error = mesh_file::write(&mesh, &extra(), &mut Vec::new()).expect_err("rows in disorder");
    assert!(error.to_string().contains("level order"), "{error}");
}

#[test]
fn files_are_read_from_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ball.cutlink");
    let mesh = ball_mesh([2, 2, 2], 3);
    let mut file = std::fs::File::create(&path).expect("a file");
    mesh_file::write(&mesh, &extra(), &mut file).expect("written");
    let (back, _) = mesh_file::read(&path).expect("read");
    let back = space(back).expect("three dimensions");
    assert_eq!(back.checksum(), mesh.checksum(), "checksum");
    let missing = folder.path().join("no.cutlink");
    let error = mesh_file::read(&missing).expect_err("no such file");
    assert!(error.to_string().contains("no.cutlink"), "{error}");
    mesh_file::read(folder.path()).expect_err("a folder");
}
