//! The readers on `../shared/meshes`: facts measured by independent readers, and
//! `stl_io` as the second opinion.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use cutlink_mesher::Surface;
use cutlink_mesher::read::{AnySurface, Format, Loaded, parse_any, read_any, read_surface, weld};
use cutlink_mesher::write_stl::write_stl;
use cutlink_tests::scans;

fn scan(name: &str) -> PathBuf {
    scans::folder().join(name)
}

/// A file whose fact we do not share, and why.
struct Deviation {
    file: &'static str,
    /// Triangles we read, or `None` where we refuse.
    ours: Option<u64>,
    /// A part of the message where we refuse.
    message: &'static str,
}

const fn refused(file: &'static str, message: &'static str) -> Deviation {
    Deviation {
        file,
        ours: None,
        message,
    }
}

/// All deviations from `FACTS.tsv`. The reader behind the facts takes a file without
/// triangles as sound; we refuse it, since there is nothing to mesh.
const DEVIATIONS: &[Deviation] = &[
    // A quad mesh with list properties on its vertices, which the facts' reader cannot parse: sound.
    Deviation {
        file: "openmesh__cube-minimal-custom_props.ply",
        ours: Some(12),
        message: "",
    },
    // Went through a text conversion: what the facts' reader shows is garbage up to 1e29.
    refused(
        "npm-stl-models__misc__multiWordName.bin.stl",
        "text conversion",
    ),
    // The facts' reader takes vertices three by three, across facets.
    refused(
        "npm-stl-models__broken__twoVertices.ascii.stl",
        "line 6: expected vertex, found 'endloop'",
    ),
    refused("microstl__empty_file.stl", "is empty"),
    refused("npm-stl-models__misc__faceless.ascii.stl", "no facet"),
    refused("trimesh__empty.stl", "no facet"),
    refused("pymesh__empty.stl", "no facet"),
    refused("openmesh__pointCloudBadEncoding.ply", "point cloud"),
    refused("ply-rs__empty_ok_ascii.ply", "no facet"),
    refused("trimesh__points_ascii.ply", "point cloud"),
    refused("trimesh__points_emptyface.ply", "no facet"),
];

/// What the facts' reader could not read either, and what we say.
const UNREADABLE: &[(&str, &str)] = &[
    ("assimp__issue623.ply", "point cloud"),
    (
        "microstl__incomplete_normal_ascii.stl",
        "line 7: expected a number, found 'endloop'",
    ),
    (
        "microstl__incomplete_vertex_ascii.stl",
        "line 7: expected a number, found 'endloop'",
    ),
    ("ply-rs__header_min_ok_ascii.ply", "no element 'vertex'"),
    (
        "ply-rs__single_elements_err_ascii.ply",
        "truncated: 2 rows of element 'point'",
    ),
];

fn facts() -> Vec<Vec<String>> {
    let text =
        std::fs::read_to_string(scan("broken/FACTS.tsv")).expect("FACTS.tsv should be readable");
    let rows = text.lines().skip(1);
    rows.map(|row| row.split('\t').map(str::to_string).collect())
        .collect()
}

fn count(loaded: &Loaded<3>) -> (u64, usize) {
    let distinct: HashSet<[u64; 3]> = loaded
        .surface
        .facets
        .iter()
        .flatten()
        .map(|&v| loaded.surface.vertices[v as usize].map(|x| (x + 0.0).to_bits()))
        .collect();
    (loaded.surface.facets.len() as u64, distinct.len())
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn every_broken_file_matches_its_facts_or_a_listed_deviation() {
    let rows = facts();
    let mut seen = 0;
    for row in &rows {
        let file = row[0].as_str();
        let read = read_any(&scan("broken").join(file));
        seen += 1;
        if let Some(deviation) = DEVIATIONS.iter().find(|d| d.file == file) {
            match (deviation.ours, read) {
                (Some(ours), Ok(AnySurface::D3(loaded))) => {
                    assert_eq!(count(&loaded).0, ours, "{file}")
                }
                (None, Err(error)) => {
                    assert!(error.to_string().contains(deviation.message), "{error}")
                }
                (_, read) => panic!("{file}: not the listed deviation: {read:?}"),
            }
        } else if let Some((_, message)) = UNREADABLE.iter().find(|(name, _)| *name == file) {
            let error = read.expect_err(file).to_string();
            assert!(error.contains(message) && error.contains(file), "{error}");
        } else {
            let Ok(AnySurface::D3(loaded)) = read else {
                panic!("{file}: {read:?}")
            };
            let (triangles, welded) = count(&loaded);
            let fact = |column: &str| {
                column
                    .replace(',', "")
                    .parse::<u64>()
                    .expect("a fact should be a number")
            };
            assert_eq!(triangles, fact(&row[4]), "{file}: triangles");
            let (_, fact_welded) = row[3].split_once('/').expect("raw/welded should be there");
            // Unused PLY vertices count in the facts, and text is compared there as f32.
            let text = matches!(loaded.report.format, Format::StlAscii | Format::PlyAscii);
            if !text && !file.ends_with("ply") {
                assert_eq!(welded as u64, fact(fact_welded), "{file}: welded vertices");
            }
            let format = row[1].as_str();
            assert_eq!(
                format.contains("STL"),
                matches!(loaded.report.format, Format::StlAscii | Format::StlBinary),
                "{file}"
            );
            assert_eq!(format.contains("ascii"), text, "{file}");
        }
    }
    let files = std::fs::read_dir(scan("broken"))
        .expect("the folder should be readable")
        .count();
    assert_eq!(
        seen + 1,
        files,
        "every file but FACTS.tsv should have a row"
    );
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn the_scans_have_their_known_counts() {
    for (file, triangles, format) in [
        ("bunny_unit.stl", 69_664, Format::StlBinary),
        ("bunny_open.stl", 69_451, Format::StlBinary),
        ("bun_zipper.ply", 69_451, Format::PlyAscii),
        ("dragon_unit.ply", 868_632, Format::PlyBinaryLe),
        ("motorBike.stl", 331_653, Format::StlBinary),
        ("DTC-hull.stl", 116_062, Format::StlAscii),
        ("ahmed_body.stl", 5_658, Format::StlBinary),
    ] {
        let loaded = read_surface(&scan(file)).expect(file);
        assert_eq!(loaded.surface.facets.len(), triangles, "{file}");
        assert_eq!(loaded.report.facets_in_file, triangles as u64, "{file}");
        assert_eq!(loaded.report.format, format, "{file}");
        let size = std::fs::metadata(scan(file)).expect(file).len();
        assert_eq!(loaded.report.bytes, size, "{file}");
    }
    let bunny = read_surface(&scan("bun_zipper.ply")).expect("the bunny should be sound");
    assert_eq!(bunny.surface.vertices.len(), 35_947);
}

/// Corner coordinates as f32, facet by facet.
fn corners(surface: &Surface<3>) -> Vec<[[f32; 3]; 3]> {
    (0..surface.facets.len())
        .map(|f| surface.corners(f).map(|p| p.map(|x| x as f32)))
        .collect()
}

fn stl_io_corners(path: &Path) -> std::io::Result<Vec<[[f32; 3]; 3]>> {
    let mut file = BufReader::new(File::open(path)?);
    let triangles = stl_io::create_stl_reader(&mut file)?;
    triangles
        .map(|t| t.map(|t| t.vertices.map(|v| v.0)))
        .collect()
}

/// The first facet in which two soups differ; their lengths count as one.
fn first_difference(a: &[[[f32; 3]; 3]], b: &[[[f32; 3]; 3]]) -> Option<usize> {
    let differing = a.iter().zip(b).position(|(a, b)| a != b);
    differing.or((a.len() != b.len()).then(|| a.len().min(b.len())))
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn stl_io_reads_the_same_corners() {
    let mut compared = 0;
    let broken = facts().into_iter().map(|row| format!("broken/{}", row[0]));
    let whole = [
        "bunny_unit.stl",
        "motorBike.stl",
        "ahmed_body.stl",
        "DTC-hull.stl",
    ];
    for file in whole.map(String::from).into_iter().chain(broken) {
        let path = scan(&file);
        // What either refuses is the business of the facts' test; stl_io keeps one solid only.
        let (Ok(loaded), Ok(theirs)) = (read_surface(&path), stl_io_corners(&path)) else {
            continue;
        };
        let solids = loaded.surface.patches.len();
        if solids > 1 {
            assert!(theirs.len() < loaded.surface.facets.len(), "{file}");
            continue;
        }
        let mut ours = corners(&loaded.surface);
        assert_eq!(first_difference(&ours, &theirs), None, "{file}");
        ours[0][2][1] += 1.0;
        assert_eq!(
            first_difference(&ours, &theirs),
            Some(0),
            "the comparator should see one changed number"
        );
        compared += 1;
    }
    assert!(compared > 40, "{compared} files compared");
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn write_stl_is_read_back_by_both() {
    let folder = tempfile::tempdir().expect("a temporary folder should be had");
    let path = folder.path().join("bunny.stl");
    let bunny = read_surface(&scan("bunny_unit.stl")).expect("the bunny should be sound");
    write_stl(&path, &bunny.surface).expect("the folder should be writable");
    let back = read_surface(&path).expect("what we write should be readable");
    assert_eq!(back.surface, bunny.surface);
    let theirs = stl_io_corners(&path).expect("stl_io should read its own file");
    assert_eq!(first_difference(&corners(&bunny.surface), &theirs), None);
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn weld_of_the_motorbike_equals_a_brute_force_map() {
    let surface = read_surface(&scan("motorBike.stl"))
        .expect("the motorbike should be readable")
        .surface;
    let soup = corners(&surface);
    let mut known = std::collections::HashMap::new();
    let mut vertices = Vec::new();
    let facets: Vec<[u32; 3]> = soup
        .iter()
        .map(|t| {
            t.map(|p| {
                let next = vertices.len() as u32;
                *known
                    .entry(p.map(|x| (x + 0.0).to_bits()))
                    .or_insert_with(|| {
                        vertices.push(p.map(|x| f64::from(x + 0.0)));
                        next
                    })
            })
        })
        .collect();
    let (ours, our_facets) = weld(&[&soup]).expect("the motorbike should be small enough");
    assert_eq!(ours, vertices);
    assert_eq!(our_facets, facets);
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn both_routes_agree_on_ply_scans() {
    let parse = |bytes: &[u8]| match parse_any(Path::new("test.ply"), bytes) {
        Ok(AnySurface::D3(loaded)) => loaded.surface,
        other => panic!("the bytes should be a readable PLY: {other:?}"),
    };
    for name in [
        "bun_zipper.ply",
        "dragon_unit.ply",
        "broken/vcglib__knot_vcg_simplified.ply",
        "broken/trimesh__sphere.ply",
    ] {
        let bytes = std::fs::read(scan(name)).expect(name);
        let fast = parse(&bytes);
        // A trailing list element, empty, is unknown to the fast route and changes nothing.
        let at = bytes
            .windows(10)
            .position(|w| w == b"end_header")
            .expect("a header should end");
        let slow = [
            &bytes[..at],
            b"element tristrips 0\nproperty list uchar int vertex_indices\n",
            &bytes[at..],
        ]
        .concat();
        let slow = parse(&slow);
        assert_eq!(slow, fast, "{name}");
        let mut corrupted = fast;
        corrupted.facets[7].swap(0, 1);
        assert_ne!(
            slow, corrupted,
            "the comparator should see two swapped indices"
        );
    }
}
