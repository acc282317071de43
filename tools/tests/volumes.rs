//! `cutlink refine MESH --polymesh CASE`: meshes of Gmsh and VTK as cases, with names and data.

mod kit;

use cutlink_hex::PolyMesh;
use cutlink_hex::polymesh::{FieldValue, FoamField, read_zones};
use kit::Folder;
use std::fmt::Write as _;

/// Cubes of size 1, n along each axis.
const N: usize = 3;

fn id(x: usize, y: usize, z: usize) -> usize {
    x + (N + 1) * (y + (N + 1) * z)
}

/// Corners of each cube, its lower side in a loop, then the upper one.
fn cubes() -> Vec<[usize; 8]> {
    let cell = |i: usize| {
        let (x, y, z) = (i % N, i / N % N, i / N / N);
        let quad = |z| {
            [
                id(x, y, z),
                id(x + 1, y, z),
                id(x + 1, y + 1, z),
                id(x, y + 1, z),
            ]
        };
        let (low, up) = (quad(z), quad(z + 1));
        std::array::from_fn(|k| if k < 4 { low[k] } else { up[k - 4] })
    };
    (0..N * N * N).map(cell).collect()
}

fn points() -> Vec<[usize; 3]> {
    let n = N + 1;
    (0..n * n * n)
        .map(|i| [i % n, i / n % n, i / n / n])
        .collect()
}

/// The cubes as Gmsh has them: the lowest layer is the volume `bed`, its lower side the surface `the floor`.
fn msh(cells: &[Vec<usize>]) -> String {
    let mut text = String::from(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"the floor\"\n3 2 \"bed\"\n$EndPhysicalNames\n",
    );
    let _ = writeln!(text, "$Nodes\n{}", points().len());
    for (i, [x, y, z]) in points().into_iter().enumerate() {
        let _ = writeln!(text, "{} {x} {y} {z}", i + 1);
    }
    let floor: Vec<_> = cubes().into_iter().take(N * N).collect();
    let _ = writeln!(text, "$EndNodes\n$Elements\n{}", floor.len() + cells.len());
    for (i, corners) in floor.iter().enumerate() {
        let [a, b, c, d, ..] = corners.map(|p| p + 1);
        let _ = writeln!(text, "{} 3 2 1 1 {a} {b} {c} {d}", i + 1);
    }
    for (i, corners) in cells.iter().enumerate() {
        let kind = if corners.len() == 8 { 5 } else { 4 };
        let is_low = corners.iter().all(|&p| p / ((N + 1) * (N + 1)) <= 1);
        let group = if is_low { 2 } else { 0 };
        let words: Vec<String> = corners.iter().map(|p| (p + 1).to_string()).collect();
        let _ = writeln!(
            text,
            "{} {kind} 2 {group} 1 {}",
            floor.len() + i + 1,
            words.join(" ")
        );
    }
    text + "$EndElements\n"
}

fn hexahedra() -> String {
    msh(&cubes().iter().map(|c| c.to_vec()).collect::<Vec<_>>())
}

/// Six tetrahedra a cube, around its diagonal; the floor's quads are no faces of theirs.
fn tetrahedra() -> String {
    const SIX: [[usize; 4]; 6] = [
        [0, 1, 2, 6],
        [0, 2, 3, 6],
        [0, 3, 7, 6],
        [0, 7, 4, 6],
        [0, 4, 5, 6],
        [0, 5, 1, 6],
    ];
    let six = |c: [usize; 8]| SIX.map(|t| t.map(|i| c[i]).to_vec());
    msh(&cubes().into_iter().flat_map(six).collect::<Vec<_>>())
}

/// The cubes as VTK has them, with three arrays.
fn vtu() -> String {
    let list = |values: Vec<String>| values.join(" ");
    let cells = cubes();
    let n = cells.len();
    let array = |name: &str, kind: &str, components: usize, values: String| {
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"ascii\">{values}</DataArray>\n"
        )
    };
    let numbers = |count: usize| list((0..count).map(|i| i.to_string()).collect());
    format!(
        "<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n\
         <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{n}\">\n<Points>\n{}</Points>\n<Cells>\n{}{}{}</Cells>\n\
         <CellData>\n{}{}{}</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n",
        points().len(),
        array(
            "Points",
            "Float64",
            3,
            list(points().iter().flatten().map(|x| x.to_string()).collect())
        ),
        array(
            "connectivity",
            "Int64",
            1,
            list(cells.iter().flatten().map(|p| p.to_string()).collect())
        ),
        array(
            "offsets",
            "Int64",
            1,
            list((1..=n).map(|i| (8 * i).to_string()).collect())
        ),
        array("types", "UInt8", 1, list(vec!["12".to_owned(); n])),
        array("T (K)", "Float64", 1, numbers(n)),
        array("S", "Float64", 6, numbers(6 * n)),
        array("pair", "Float64", 2, numbers(2 * n)),
    )
}

fn read(folder: &Folder, case: &str) -> PolyMesh {
    let mesh =
        PolyMesh::read(&folder.path(&format!("{case}/constant/polyMesh"))).expect("a polyMesh");
    assert_eq!(mesh.validate(), Ok(()), "every invariant");
    mesh
}

fn volumes(mesh: &PolyMesh) -> Vec<f64> {
    let cells = mesh.cell_geometry(&mesh.face_geometry());
    cells.iter().map(|c| c.volume).collect()
}

#[test]
fn a_mesh_of_gmsh_becomes_a_case_refined_or_as_it_is() {
    let folder = Folder::new();
    folder.write("m.msh", &hexahedra());
    let json = folder.run("refine m.msh --polymesh c --json").ok().json();
    let parent = read(&folder, "c");
    assert_eq!(parent.cells, 27, "as it is");
    assert!(
        volumes(&parent).iter().all(|v| (v - 1.0).abs() < 1e-12),
        "cubes"
    );
    assert_eq!(json["mesh"], "m.msh", "{json}");
    assert_eq!(
        json["patches"],
        serde_json::json!([["the_floor", 9], ["defaultFaces", 45]]),
        "{json}"
    );
    assert_eq!(json["zones"], serde_json::json!(["bed"]), "{json}");
    assert!(
        !folder.path("c/constant/polyMesh/parent").exists() && !folder.path("c/0").exists(),
        "the mesh alone"
    );
    assert!(
        folder.path("c/system/controlDict").exists(),
        "what checkMesh needs"
    );
    let zones = |case: &str, cells| {
        let path = folder.path(&format!("{case}/constant/polyMesh/cellZones"));
        read_zones(&path, cells)
            .expect("read")
            .expect("zones")
            .remove(0)
            .ids
    };
    assert_eq!(
        zones("c", 27),
        (0..9).collect::<Vec<u32>>(),
        "the lowest layer"
    );
    folder
        .run("refine m.msh --polymesh c")
        .failed(2, &["c/constant/polyMesh exists", "--force"]);
    let rule = "--where box:0,0,0,1,1,1,levels=3";
    folder
        .run(&format!("refine m.msh --polymesh c --force {rule}"))
        .ok();
    let fine = read(&folder, "c");
    // The cell becomes 64, seven around it 8 each.
    assert_eq!(fine.cells, 27 - 8 + 64 + 7 * 8, "2:1");
    assert_eq!(
        zones("c", fine.cells).len(),
        5 + 64 + 3 * 8,
        "the lowest layer"
    );
    folder.run("refine m.msh --polymesh d").ok();
    folder.run(&format!("refine d {rule}")).ok();
    assert_eq!(read(&folder, "d"), fine, "at once or in two runs");
    folder.run("refine c --coarsen").ok();
    let again = PolyMesh {
        levels: None,
        ..read(&folder, "c")
    };
    assert_eq!(again, parent, "the mesh of the file");
}

#[test]
fn data_of_cells_become_fields() {
    let folder = Folder::new();
    folder.write("m.vtu", &vtu());
    let ran = folder.run("refine m.vtu --polymesh c --where field:T_(K)>25.5,levels=2 --json");
    ran.failed(2, &["there is no field T_(K)", "T__K_, S"]);
    assert!(!folder.path("c").exists(), "nothing is written");
    let ran = folder
        .run("refine m.vtu --polymesh c --where field:T__K_>25.5,levels=2 --json")
        .ok();
    let json = ran.json();
    assert_eq!(json["fields"], serde_json::json!(["T__K_", "S"]), "{json}");
    assert_eq!(json["time"], "0", "{json}");
    assert_eq!(
        json["patches"].as_array().map(Vec::len),
        Some(6),
        "sides of a cube: {json}"
    );
    let mesh = read(&folder, "c");
    assert_eq!(mesh.cells, 26 + 8, "the last cell");
    let field = |name: &str| {
        FoamField::read(&folder.path(name))
            .expect("a file")
            .expect("a field")
    };
    let values = |field: &FoamField| match field.get("internalField") {
        Some(FieldValue::List { values, .. }) => values.clone(),
        other => panic!("{other:?}"),
    };
    let t = values(&field("c/0/T__K_"));
    assert_eq!(
        t[..26],
        (0..26).map(f64::from).collect::<Vec<_>>(),
        "cells in their order"
    );
    assert_eq!(t[26..], [26.0; 8], "children have the value");
    let s = field("c/0/S");
    assert_eq!(s.class, "volSymmTensorField", "six numbers");
    // xx xy xz yy yz zz of xx yy zz xy yz xz.
    assert_eq!(
        values(&s)[..6],
        [0.0, 3.0, 5.0, 1.0, 4.0, 2.0],
        "OpenFOAM's order"
    );
    assert_eq!(s.patches.len(), 6, "each patch has a condition");
    assert_eq!(
        values(&field("c/constant/polyMesh/parent/fields/0/T__K_")).len(),
        27,
        "of the parent"
    );
    folder.run("refine c --coarsen").ok();
    assert_eq!(
        values(&field("c/0/T__K_")),
        (0..27).map(f64::from).collect::<Vec<_>>(),
        "the first values"
    );
    // Fields that are there are not replaced.
    std::fs::remove_dir_all(folder.path("c/constant")).expect("removed");
    folder
        .run("refine m.vtu --polymesh c")
        .failed(2, &["c/0/T__K_ exists", "--force"]);
    folder
        .run("refine m.vtu --polymesh c --force --patch-angle 100")
        .ok();
    assert_eq!(read(&folder, "c").patches.len(), 1, "one patch");
}

#[test]
fn tetrahedra_become_a_case_and_are_refined() {
    let folder = Folder::new();
    folder.write("m.msh", &tetrahedra());
    let ran = folder
        .run("refine m.msh --polymesh c --where box:0,0,0,1,1,1,levels=3 --json")
        .ok();
    let json = ran.json();
    let mesh = read(&folder, "c");
    assert_eq!(json["polyhedra"], 0, "{json}");
    assert_eq!(json["parent_cells"], 6 * 27, "{json}");
    assert!(json["levels"][2].as_u64() >= Some(6 * 64), "{json}");
    let sum: f64 = volumes(&mesh).iter().sum();
    assert!((sum - 27.0).abs() < 1e-12, "{sum}");
    folder.run("refine c --where box:2,2,2,3,3,3,levels=2").ok();
    let other = read(&folder, "c");
    assert!(
        other.cells < mesh.cells && other.cells > 6 * 27,
        "another corner"
    );
    folder.run("refine c --coarsen").ok();
    assert_eq!(read(&folder, "c").cells, 6 * 27, "the parent");
}

#[test]
fn refusals_name_what_is_wrong_and_write_nothing() {
    let folder = Folder::new();
    let sound = hexahedra();
    folder.write("m.msh", &sound);
    folder.run("refine m.msh").failed(2, &["--where"]);
    folder
        .run("refine m.msh --where sphere:0,0,0,r=1,levels=2")
        .failed(2, &["m.msh is no folder of a case", "--polymesh CASE"]);
    folder
        .run("refine none.msh --polymesh c")
        .failed(2, &["cannot read none.msh"]);
    folder
        .run("refine m.msh --polymesh c --patch-angle 0")
        .failed(2, &["--patch-angle is 0"]);
    folder
        .run("refine m.msh --polymesh c --coarsen")
        .failed(2, &["--coarsen"]);
    folder.write("s.stl", "solid s\nendsolid s\n");
    folder
        .run("refine s.stl --polymesh c")
        .failed(2, &["s.stl is not a volume mesh", "$MeshFormat"]);
    folder.write("short.msh", &sound[..sound.len() / 2]);
    folder
        .run("refine short.msh --polymesh c")
        .failed(2, &["short.msh, line "]);
    folder.write(
        "prism.msh",
        &sound.replace("\n10 5 2 2 1 ", "\n10 6 2 2 1 "),
    );
    folder
        .run("refine prism.msh --polymesh c")
        .failed(2, &["prism.msh, line "]);
    folder
        .run("refine m.msh --polymesh m.msh")
        .failed(2, &["m.msh is not a folder"]);
    assert!(!folder.path("c").exists(), "nothing is written");
}

#[test]
#[cfg_attr(not(has_openfoam), ignore = "needs OpenFOAM")]
fn checkmesh_accepts_them() {
    let folder = Folder::new();
    folder.write("h.msh", &hexahedra());
    folder.write("t.msh", &tetrahedra());
    folder.write("h.vtu", &vtu());
    for file in ["h.msh", "t.msh", "h.vtu"] {
        for rule in ["", "--where sphere:0.6,1,1.4,r=0.7,levels=3"] {
            folder
                .run(&format!("refine {file} --polymesh c --force {rule}"))
                .ok();
            let said = folder.shell("checkMesh -case c -allTopology").ok();
            assert!(
                said.stdout.contains("Mesh OK"),
                "{file} {rule}: {}",
                said.stdout
            );
        }
    }
}
