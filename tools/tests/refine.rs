//! `cutlink refine`: meshes and fields of cases; OpenFOAM's own refinement as oracle where it is installed.

mod kit;

use cutlink_hex::polymesh::{FieldValue, FoamField, read_zones};
use cutlink_hex::refine::CellPlace;
use cutlink_hex::{PolyMesh, PolyMeshFormat, RefinedMesh};
use kit::Folder;

const MESH: &str =
    "mesh --shape sphere:r=0.5 --root 12 --levels 1 --no-picture --quiet --polymesh c";

fn read(folder: &Folder, mesh: &str) -> PolyMesh {
    let mesh = PolyMesh::read(&folder.path(mesh)).expect("a polyMesh");
    assert_eq!(mesh.validate(), Ok(()), "every invariant");
    mesh
}

fn volumes(mesh: &PolyMesh) -> Vec<f64> {
    let cells = mesh.cell_geometry(&mesh.face_geometry());
    cells.iter().map(|c| c.volume).collect()
}

/// Two cells.
const ZONES: &str = "FoamFile { version 2.0; format ascii; class regIOobject; object cellZones; }
1 ( heater { type cellZone; cellLabels List<label> 2(3 800); } )
";

/// A scalar that is the x of each cell, and on the walls the number of the face.
fn put_field(folder: &Folder, mesh: &PolyMesh) -> Vec<f64> {
    let cells = mesh.cell_geometry(&mesh.face_geometry());
    let values: Vec<f64> = cells.iter().map(|c| c.center[0]).collect();
    let lines: Vec<String> = values.iter().map(f64::to_string).collect();
    let wall: Vec<String> = (0..mesh.patches[0].faces).map(|i| i.to_string()).collect();
    std::fs::create_dir_all(folder.path("c/10")).expect("a folder");
    let head = |class: &str| {
        format!("FoamFile {{ version 2.0; format ascii; class {class}; object T; }}\n")
    };
    let text = format!(
        "{}dimensions [0 0 0 1 0 0 0];\ninternalField nonuniform List<scalar>\n{}\n(\n{}\n);\nboundaryField\n{{\n\
         sphere {{ type fixedValue; value nonuniform List<scalar> {}({}); }}\n\"[xyz](Min|Max)\" {{ type zeroGradient; }}\n}}\n",
        head("volScalarField"),
        values.len(),
        lines.join("\n"),
        wall.len(),
        wall.join(" ")
    );
    folder.write("c/10/T", &text);
    let flux = |i: usize| ((i * 7919 % 1000) as f64 / 1000.0).to_string();
    let list = |range: std::ops::Range<usize>| {
        let numbers: Vec<String> = range.clone().map(flux).collect();
        format!(
            "nonuniform List<scalar> {}({})",
            range.len(),
            numbers.join(" ")
        )
    };
    let patches: Vec<String> = mesh.patches[1..]
        .iter()
        .map(|p| {
            format!(
                "{} {{ type calculated; value {}; }}\n",
                p.name,
                list(p.start..p.start + p.faces)
            )
        })
        .collect();
    folder.write(
        "c/10/phi",
        &format!(
            "{}dimensions [0 3 -1 0 0 0 0];\noriented oriented;\ninternalField {};\nboundaryField {{\nsphere {{ type \
             calculated; value uniform 0; }}\n{}}}\n",
            head("surfaceScalarField"),
            list(0..mesh.internal_faces()),
            patches.concat()
        ),
    );
    folder.write(
        "c/10/weights",
        &format!(
            "{}dimensions [0 0 0 0 0 0 0];\ninternalField uniform 1;\n",
            head("surfaceScalarField")
        ),
    );
    folder.write(
        "c/10/areas",
        &format!(
            "{}dimensions [0 2 0 0 0 0 0];\ninternalField nonuniform List<scalar> 1(1);\n",
            head("surfaceScalarField")
        ),
    );
    folder.write("c/constant/polyMesh/cellZones", ZONES);
    folder.write("c/10/notes", "mine");
    values
}

fn field(folder: &Folder, name: &str) -> FoamField {
    FoamField::read(&folder.path(name))
        .expect("a file")
        .expect("a field")
}

fn values(field: &FoamField) -> Vec<f64> {
    match field.get("internalField") {
        Some(FieldValue::List { values, .. }) => values.clone(),
        other => panic!("{other:?}"),
    }
}

/// Every patch has the same flux through it.
fn check_outflow(mesh: &PolyMesh, first: &FoamField, phi: &FoamField) {
    for (patch, (old, new)) in mesh
        .patches
        .iter()
        .zip(first.patches.iter().zip(&phi.patches))
    {
        assert_eq!(
            (&patch.name, &old.0),
            (&new.0, &new.0),
            "patches in their order"
        );
        let sum = |entries: &cutlink_hex::polymesh::FieldEntries| match &entries[1].1 {
            FieldValue::List { values, .. } => values.iter().sum(),
            FieldValue::Text(text) => text
                .replace("uniform", "")
                .trim()
                .parse::<f64>()
                .expect("a number"),
        };
        assert!(
            (sum(&old.1) - sum(&new.1)).abs() < 1e-10,
            "outflow of {}",
            patch.name
        );
    }
}

#[test]
fn a_case_is_refined_with_its_fields_and_coarsened_again() {
    let folder = Folder::new();
    folder.run(MESH).ok();
    let parent = read(&folder, "c/constant/polyMesh");
    let before = put_field(&folder, &parent);
    let integral = |mesh: &PolyMesh, values: &[f64]| -> f64 {
        assert_eq!(mesh.cells, values.len(), "a value for each cell");
        volumes(mesh)
            .iter()
            .zip(values)
            .map(|(v, x)| v * (x + 1.0))
            .sum()
    };
    let sum = integral(&parent, &before);
    let ran = folder
        .run("refine c --where sphere:0.5,0,0,r=0.3,levels=3 --where field:T<-0.6,levels=2 --json")
        .ok();
    let json = ran.json();
    let mesh = read(&folder, "c/constant/polyMesh");
    assert_eq!(
        json["cells"].as_u64(),
        Some(mesh.cells as u64),
        "the report's cells"
    );
    assert_eq!(
        json["levels"].as_array().map(Vec::len),
        Some(3),
        "levels: {}",
        json["levels"]
    );
    assert_eq!(json["left_out"], serde_json::json!(["areas"]));
    assert!(!folder.path("c/10/areas").exists(), "left out");
    assert!(folder.path("c/10/weights").exists(), "uniform");
    assert_eq!(json["fields"][1], "phi", "{}", json["fields"]);
    assert_eq!(json["zones"][0], "heater", "{}", json["zones"]);
    let refined = field(&folder, "c/10/T");
    assert!(
        (integral(&mesh, &values(&refined)) / sum - 1.0).abs() < 1e-13,
        "the integral stays"
    );
    let mut patches = refined.patches.iter();
    let sphere = patches.find(|p| p.0 == "sphere").expect("the patch");
    let wall = match &sphere.1[1].1 {
        FieldValue::List { values, .. } => values.len(),
        FieldValue::Text(text) => panic!("{text}"),
    };
    assert_eq!(wall, mesh.patches[0].faces, "a value for each face");
    assert_eq!(folder.read("c/10/notes"), b"mine", "other files stay");
    let first = field(&folder, "c/constant/polyMesh/parent/fields/10/phi");
    let phi = field(&folder, "c/10/phi");
    assert_eq!(
        values(&phi).len(),
        mesh.internal_faces(),
        "a flux for each face"
    );
    check_outflow(&mesh, &first, &phi);
    let zones = |count| {
        let path = folder.path("c/constant/polyMesh/cellZones");
        read_zones(&path, count).expect("read").expect("zones")
    };
    let size = |mesh: &PolyMesh| -> f64 {
        let volumes = volumes(mesh);
        zones(mesh.cells)[0]
            .ids
            .iter()
            .map(|&id| volumes[id as usize])
            .sum()
    };
    let heater: f64 = [3, 800].map(|id: usize| volumes(&parent)[id]).iter().sum();
    assert!(
        (size(&mesh) / heater - 1.0).abs() < 1e-12,
        "the zone's volume"
    );
    let kept = values(&field(&folder, "c/constant/polyMesh/parent/fields/10/T"));
    assert_eq!(kept, before, "the first fields are kept");
    // Cells in the sphere are as fine as requested.
    let centers = mesh.cell_geometry(&mesh.face_geometry());
    let finest = volumes(&mesh).into_iter().fold(f64::INFINITY, f64::min);
    for cell in &centers {
        let [x, y, z] = cell.center;
        let is_inside = (x - 0.5).powi(2) + y * y + z * z < 0.28f64.powi(2);
        assert!(!is_inside || cell.volume < 1.5 * finest, "{cell:?}");
    }
    folder.run("refine c --coarsen --threads 1").ok();
    let again = read(&folder, "c/constant/polyMesh");
    assert_eq!(again, parent, "the parent");
    let back = values(&field(&folder, "c/10/T"));
    assert!(
        back.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-13),
        "the first values"
    );
    let again = values(&field(&folder, "c/10/phi"));
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-13;
    assert!(
        again.iter().zip(&values(&first)).all(near),
        "the first fluxes"
    );
    assert_eq!(zones(parent.cells)[0].ids, [3, 800], "the first zone");
}

/// The files of a case and of its copy, refined on two devices.
#[test]
#[cfg_attr(not(has_cuda), ignore = "needs an NVIDIA GPU")]
fn a_gpu_writes_the_same_files() {
    let folder = Folder::new();
    folder.run(MESH).ok();
    put_field(&folder, &read(&folder, "c/constant/polyMesh"));
    folder.shell("cp -r c d").ok();
    for rules in [
        "--where sphere:0.5,0,0,r=0.3,levels=3 --where field:T<-0.6,levels=2",
        "--where sphere:0.4,0,0,r=0.4,levels=2",
        "--coarsen",
    ] {
        for (case, device) in [("c", "cpu"), ("d", "cuda")] {
            let args = format!("refine {case} {rules} --device {device} --json");
            let json = folder.run_with_gpus(&args).ok().json();
            let name = json["device"]["name"].as_str().unwrap_or_default();
            assert!(name.starts_with(device), "{json}");
        }
        let differ = folder.shell("diff -r c d").ok().stdout;
        assert_eq!(differ, "", "{rules}");
    }
}

#[test]
fn a_device_that_is_not_there_is_refused() {
    let folder = Folder::new();
    folder.run(MESH).ok();
    let mesh = read(&folder, "c/constant/polyMesh");
    let rule = "refine c --where sphere:0,0,0,r=1,levels=2 --json --device";
    for (device, what) in [("cuda", "--device cpu"), ("gpu", "cuda")] {
        let ran = folder.run(&format!("{rule} {device}"));
        ran.failed(2, &[what]);
    }
    assert_eq!(read(&folder, "c/constant/polyMesh"), mesh, "as it was");
    let json = folder.run(&format!("{rule} auto")).ok().json();
    assert_eq!(json["device"]["name"], "cpu", "{json}");
}

/// One facet in the plane z = 0.1, whose corner is a right one.
const FACET: &str = "solid s\nfacet normal 0 0 1\nouter loop\nvertex -0.3 -0.2 0.1\nvertex 0.5 -0.2 0.1\n\
                     vertex -0.3 0.6 0.1\nendloop\nendfacet\nendsolid s\n";

/// The distance from it.
fn to_facet([x, y, z]: [f64; 3]) -> f64 {
    let (u, v) = (x + 0.3, y + 0.2);
    // Onto the slanted edge, or the others.
    let beyond = (u + v - 0.8) / 2.0;
    let (along, a) = if beyond > 0.0 {
        let along = (u - beyond).clamp(0.0, 0.8);
        (along, 0.8 - along)
    } else {
        (u.max(0.0), v.max(0.0))
    };
    let (along, a) = if beyond <= 0.0 {
        (along.min(0.8), a.min(0.8))
    } else {
        (along, a)
    };
    ((u - along).powi(2) + (v - a).powi(2) + (z - 0.1).powi(2)).sqrt()
}

#[test]
fn cells_near_a_surface_are_refined() {
    let folder = Folder::new();
    folder.run(MESH).ok();
    folder.write("s.stl", FACET);
    let parent = read(&folder, "c/constant/polyMesh");
    folder
        .run("refine c --where surface:s.stl,distance=0.05,levels=3")
        .ok();
    let mesh = read(&folder, "c/constant/polyMesh");
    let wanted = |place: CellPlace| 2 * u8::from(to_facet(place.center) <= 0.05 + place.radius);
    let expected = RefinedMesh::build(&parent, wanted).expect("a mesh");
    assert_eq!(
        mesh.checksum(),
        expected.mesh.checksum(),
        "those of a search by hand"
    );
    // All that is within the distance has the level.
    let levels = &mesh.levels.as_ref().expect("levels").cell;
    let cells = mesh.cell_geometry(&mesh.face_geometry());
    let near = cells
        .iter()
        .zip(levels)
        .filter(|(c, _)| to_facet(c.center) <= 0.05);
    let near: Vec<u8> = near.map(|(_, &level)| level).collect();
    assert!(
        near.len() > 100 && near.iter().all(|&level| level == 2),
        "{}",
        near.len()
    );
    folder.write("empty.stl", "solid s\nendsolid s\n");
    for (rule, texts) in [
        ("surface:none.stl,distance=1,levels=2", ["none.stl", ""]),
        ("surface:empty.stl,distance=1,levels=2", ["empty.stl", ""]),
        (
            "surface:s.stl,levels=2",
            ["surface:FILE,distance=D,levels=N", ""],
        ),
    ] {
        let code = if rule.contains("empty") { 3 } else { 2 };
        folder
            .run(&format!("refine c --where {rule}"))
            .failed(code, &texts);
    }
}

#[test]
fn refusals_name_what_is_wrong_and_change_nothing() {
    let folder = Folder::new();
    folder.run(MESH).ok();
    let mesh = read(&folder, "c/constant/polyMesh");
    put_field(&folder, &mesh);
    let sphere = "--where sphere:0,0,0,r=1,levels=2";
    folder
        .run(&format!("refine none {sphere}"))
        .failed(2, &["points does not exist", "constant/polyMesh"]);
    folder
        .run("refine c --where field:q>1,levels=2")
        .failed(2, &["no field q in time 10", "T"]);
    folder.run("refine c --where ball:1").failed(2, &["ball"]);
    folder.run("refine c").failed(2, &["--where"]);
    // More cells than there can be, more memory than there is, and zones of another mesh.
    folder
        .run("refine c --where box:-9,-9,-9,9,9,9,levels=9")
        .failed(4, &["cells", "fewer levels or smaller regions"]);
    let box_9 = "box:-9,-9,-9,9,9,9,levels=6";
    folder
        .shell(&format!(
            "ulimit -c 0; ulimit -v 600000; exec $CUTLINK refine c --where {box_9} --threads 1"
        ))
        .failed(4, &["need", "fewer levels or smaller regions"]);
    folder.write(
        "c/constant/polyMesh/cellZones",
        &ZONES.replace("800", "80000"),
    );
    folder
        .run(&format!("refine c {sphere}"))
        .failed(2, &["cellZones", "heater", "80000"]);
    std::fs::remove_file(folder.path("c/constant/polyMesh/cellZones")).expect("removed");
    let damaged = String::from_utf8(folder.read("c/10/T"))
        .expect("text")
        .replace(
            "fixedValue; value nonuniform List<scalar> ",
            "fixedValue; value nonuniform List<scalar> 1",
        );
    folder.write("c/10/U", &damaged);
    folder
        .run(&format!("refine c {sphere}"))
        .failed(2, &["10/U"]);
    assert_eq!(
        read(&folder, "c/constant/polyMesh"),
        mesh,
        "the mesh is as it was"
    );
    assert!(
        !folder.path("c/constant/polyMesh/parent").exists(),
        "no parent"
    );
    // A rule that matches no cell is reported.
    std::fs::remove_file(folder.path("c/10/U")).expect("removed");
    let far = folder
        .run("refine c --where sphere:99,0,0,r=1,levels=2")
        .ok();
    assert!(far.stderr.contains("no cell was refined"), "{}", far.stderr);
    let near = folder.run(&format!("refine c {sphere}")).ok();
    assert!(!near.stderr.contains("no cell was"), "{}", near.stderr);
}

#[test]
fn cells_too_distorted_to_be_divided_stay_whole() {
    let folder = Folder::new();
    folder.run(MESH).ok();
    let mut mesh = read(&folder, "c/constant/polyMesh");
    let edge = volumes(&mesh)[0].cbrt();
    let low = mesh.points[0];
    let corner = low.map(|x| x + edge);
    let apart = |p: &[f64; 3]| (0..3).map(|a| (p[a] - corner[a]).abs()).sum::<f64>();
    let nearest = |a: &&mut [f64; 3], b: &&mut [f64; 3]| apart(a).total_cmp(&apart(b));
    let point = mesh.points.iter_mut().min_by(nearest).expect("points");
    assert!(apart(point) < 1e-9 * edge, "the first point is the lowest");
    *point = point.map(|x| x + 0.6 * edge);
    let to = folder.path("c/constant/polyMesh");
    mesh.write(&to, PolyMeshFormat::Binary).expect("written");
    read(&folder, "c/constant/polyMesh");
    let near = corner.map(|x| x + 0.5 * edge);
    let [x, y, z] = near;
    let rule = format!("--where sphere:{x},{y},{z},r={edge},levels=2");
    let said = folder.run(&format!("refine c {rule}")).ok().stderr;
    assert!(said.contains("4 cells stay whole"), "{said}");
    let made = read(&folder, "c/constant/polyMesh");
    assert!(made.turned_faces().is_empty());
    assert!(made.cells > mesh.cells, "others are divided");
    // Finer cells around ask for a division of that one.
    let rule = rule.replace("levels=2", "levels=4");
    folder.run(&format!("refine c {rule}")).failed(
        2,
        &[
            "would point the wrong way, the first at (",
            "too distorted",
            "fewer levels there",
        ],
    );
    assert_eq!(read(&folder, "c/constant/polyMesh"), made, "as it was");
}

#[test]
fn cells_with_faces_that_point_the_wrong_way_are_not_divided() {
    let folder = Folder::new();
    folder.run(MESH).ok();
    let mut mesh = read(&folder, "c/constant/polyMesh");
    let edge = volumes(&mesh)[0].cbrt();
    let corner = mesh.points[0].map(|x| x + edge);
    let apart = |p: &[f64; 3]| (0..3).map(|a| (p[a] - corner[a]).abs()).sum::<f64>();
    let point = mesh.points.iter_mut().find(|p| apart(p) < 1e-9 * edge);
    *point.expect("a corner of the first cell") = corner.map(|x| x + 0.95 * edge);
    let before = mesh.turned_faces();
    assert!(!before.is_empty(), "the cell itself is turned");
    let to = folder.path("c/constant/polyMesh");
    mesh.write(&to, PolyMeshFormat::Binary).expect("written");
    let [x, y, z] = corner;
    let rule = format!("--where sphere:{x},{y},{z},r={},levels=2", 3.0 * edge);
    let said = folder.run(&format!("refine c {rule}")).ok().stderr;
    assert!(said.contains("cells stay whole"), "{said}");
    let made = PolyMesh::read(&to).expect("a mesh");
    assert!(made.cells > mesh.cells, "others are divided");
    assert_eq!(made.turned_faces().len(), before.len(), "no more of them");
}

/// A block with curved edges and graded cells.
const BLOCK: &str = "FoamFile { version 2.0; format ascii; class dictionary; object blockMeshDict; }
vertices ((0 0 0) (2 0 0) (2 1 0) (0 1 0) (0 0 1) (2 0 1) (2 1 1) (0 1 1));
edges (arc 0 1 (1 0.2 0.1) arc 4 5 (1 -0.3 1) arc 2 6 (2.2 1.1 0.5));
blocks (hex (0 1 2 3 4 5 6 7) (12 9 8) simpleGrading (3 1 0.5));
boundary (ends { type patch; faces ((0 4 7 3) (2 6 5 1)); } sides { type wall; faces ((1 5 4 0) (3 7 6 2)); }
 floor { type wall; faces ((0 3 2 1) (4 5 6 7)); });
";
const TOPO: &str = "FoamFile { version 2.0; format ascii; class dictionary; object topoSetDict; }
actions ({ name ball; type cellSet; action new; source sphereToCell; centre (0.8 0.5 0.5); radius 0.45; }
 { name cells; type cellSet; action new; source boxToCell; box (0 0 0) (1 0.6 0.6); }
 { name cells; type cellZoneSet; action new; source setToCellZone; set cells; }
 { name faces; type faceSet; action new; source boxToFace; box (0.3 0.2 0.2) (1 0.6 0.6); }
 { name faces; type faceZoneSet; action new; source setToFaceZone; faceSet faces; });
";

#[test]
#[cfg_attr(not(has_openfoam), ignore = "needs OpenFOAM")]
fn meshes_are_those_of_openfoam() {
    let folder = Folder::new();
    // Any mesh for the dictionaries of `system`.
    folder.run(MESH).ok();
    let control = String::from_utf8(folder.read("c/system/controlDict")).expect("text");
    folder.write("c/system/controlDict", &(control + "writePrecision 17;\n"));
    folder.write("c/system/blockMeshDict", BLOCK);
    folder.write("c/system/topoSetDict", TOPO);
    folder.shell("blockMesh -case c && topoSet -case c && cp -r c d && refineHexMesh -case d -overwrite ball").ok();
    folder
        .run("refine c --where sphere:0.8,0.5,0.5,r=0.45,levels=2 --polymesh-format ascii")
        .ok();
    let [ours, theirs] = ["c", "d"].map(|case| read(&folder, &format!("{case}/constant/polyMesh")));
    let counts = |m: &PolyMesh| {
        let patches: Vec<usize> = m.patches.iter().map(|p| p.faces).collect();
        (
            [m.cells, m.points.len(), m.faces(), m.internal_faces()],
            patches,
        )
    };
    assert_eq!(
        counts(&ours),
        counts(&theirs),
        "cells, points, faces, and faces of each patch"
    );
    let sorted = |mesh: &PolyMesh| {
        let mut volumes = volumes(mesh);
        volumes.sort_by(f64::total_cmp);
        volumes
    };
    let near = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 1e-12;
    assert!(
        sorted(&ours).iter().zip(&sorted(&theirs)).all(near),
        "volumes of the cells"
    );
    for (file, counts) in [
        ("cellZones", [ours.cells, theirs.cells]),
        ("faceZones", [ours.faces(), theirs.faces()]),
    ] {
        let [mine, other] = [("c", counts[0]), ("d", counts[1])].map(|(case, count)| {
            let path = folder.path(&format!("{case}/constant/polyMesh/{file}"));
            let zones = read_zones(&path, count).expect("read").expect("zones");
            let flipped = zones[0].flips.iter().filter(|&&flip| flip).count();
            (
                zones.len(),
                zones[0].name.clone(),
                zones[0].ids.len(),
                flipped,
            )
        });
        assert!(mine.2 > 50, "{mine:?}");
        assert_eq!(mine, other, "{file}");
    }
    let said = folder
        .shell("checkMesh -case c -allTopology && foamToVTK -case c")
        .ok()
        .stdout;
    assert!(said.contains("Mesh OK."), "{said}");
    folder
        .run("refine c --where sphere:0.8,0.5,0.5,r=0.45,levels=4")
        .ok();
    read(&folder, "c/constant/polyMesh");
    let said = folder.shell("checkMesh -case c -allTopology").ok().stdout;
    assert!(said.contains("Mesh OK."), "{said}");
}
