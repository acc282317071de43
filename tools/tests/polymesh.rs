//! `--polymesh` of `cutlink mesh` and `cutlink inspect`: the files, read back and checked; OpenFOAM's own check where it
//! is installed.

mod kit;

use cutlink_hex::PolyMesh;
use kit::Folder;

const SPHERE: &str = "mesh --shape sphere:r=0.5 --root 16 --levels 3 --no-picture --json";

fn read(folder: &Folder, case: &str) -> PolyMesh {
    let mesh = PolyMesh::read(&folder.path(case).join("constant/polyMesh")).expect("a polyMesh");
    assert_eq!(mesh.validate(), Ok(()), "every invariant");
    mesh
}

/// Fluid volume of the levels of a report.
fn volume(json: &serde_json::Value) -> f64 {
    let levels = json["levels"].as_array().expect("levels");
    let each = levels.iter().map(|level| {
        let n = |key: &str| level[key].as_f64().expect("a number");
        (n("fluid") + n("boundary")) * n("dx").powi(3)
    });
    each.sum()
}

fn total(mesh: &PolyMesh) -> f64 {
    let cells = mesh.cell_geometry(&mesh.face_geometry());
    cells.iter().map(|c| c.volume).sum()
}

#[test]
fn a_case_has_the_fluid_of_the_mesh_file_in_every_format() {
    let folder = Folder::new();
    let json = folder
        .run(&format!("{SPHERE} --polymesh text --polymesh-format ascii"))
        .ok()
        .json();
    let mesh = read(&folder, "text");
    let report = &json["polymesh"];
    let counts = [
        mesh.cells,
        mesh.points.len(),
        mesh.faces(),
        mesh.internal_faces(),
    ];
    let told = ["cells", "points", "faces", "internal_faces"].map(|key| report[key].as_u64());
    assert_eq!(told, counts.map(|n| Some(n as u64)), "the report's counts");
    assert!((total(&mesh) / volume(&json) - 1.0).abs() < 1e-10, "volume");
    let names: Vec<&str> = mesh.patches.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(
        names,
        ["sphere", "xMin", "xMax", "yMin", "yMax", "zMin", "zMax"]
    );
    for (case, format) in [("a", "binary"), ("b", "binary64")] {
        let args = format!(
            "inspect sphere.cutlink --polymesh {case} --polymesh-format {format} --threads 1"
        );
        folder.run(&args).ok();
        assert_eq!(read(&folder, case), mesh, "{format}");
    }
    let again = "inspect sphere.cutlink --polymesh a";
    folder.run(again).failed(2, &["polyMesh exists", "--force"]);
    folder.run(&format!("{again} --force")).ok();
    let planar = "mesh --shape naca:2412 --levels 2 --polymesh c --no-picture";
    folder
        .run(planar)
        .failed(2, &["a polyMesh needs a 3D mesh"]);
    assert!(
        !folder.path("c").exists(),
        "nothing is left of a refused case"
    );
}

#[test]
fn the_inside_of_a_duct_has_walls_only() {
    let folder = Folder::new();
    let args = "mesh --shape box:size=1x0.5x0.5 --flow inside --root 32 --levels 2 --no-picture --json --polymesh c";
    let json = folder.run(args).ok().json();
    let mesh = read(&folder, "c");
    let walls = mesh.patches.iter().filter(|p| p.kind == "wall").count();
    let found = (walls, mesh.patches.len());
    assert_eq!(found, (6, 6), "no face of the box: {:?}", mesh.patches);
    assert!((total(&mesh) / volume(&json) - 1.0).abs() < 1e-10, "volume");
}

/// Centre and area vector of each face of a patch.
fn faces_of(mesh: &PolyMesh, name: &str) -> Vec<cutlink_hex::FaceGeometry> {
    let patch = mesh
        .patches
        .iter()
        .find(|p| p.name == name)
        .expect("the patch");
    mesh.face_geometry()[patch.start..patch.start + patch.faces].to_vec()
}

const PERIODIC: &str = "mesh --shape sphere:r=0.5 --domain -1,-1,-0.5,1,1,1.5 --periodic z --root 16 --levels 3 \
                        --wall-distance 0.1 --no-picture --json --polymesh c";

#[test]
fn faces_of_a_periodic_axis_match_one_another() {
    let folder = Folder::new();
    folder.run(PERIODIC).ok();
    let mesh = read(&folder, "c");
    let (low, high) = (faces_of(&mesh, "zMin"), faces_of(&mesh, "zMax"));
    assert!(
        low.len() > 256,
        "the sphere touches the face, which is refined there: {}",
        low.len()
    );
    assert_eq!(low.len(), high.len(), "as many faces");
    for (a, b) in low.iter().zip(&high) {
        let apart: [f64; 3] = std::array::from_fn(|i| b.center[i] - a.center[i]);
        assert!(
            (0..3).all(|i| (apart[i] - [0.0, 0.0, 2.0][i]).abs() < 1e-12),
            "{apart:?}"
        );
        assert!((0..3).all(|i| a.area[i] == -b.area[i]), "{a:?} {b:?}");
    }
}

#[test]
#[cfg_attr(not(has_openfoam), ignore = "needs OpenFOAM")]
fn openfoam_accepts_the_meshes() {
    let folder = Folder::new();
    let shape = SPHERE.replace("sphere:r=0.5", "torus");
    let cases = [
        (
            SPHERE.replace("--levels 3", "--levels 1") + " --polymesh c",
            "-allTopology -allGeometry",
        ),
        (format!("{shape} --polymesh c"), "-allTopology"),
        (
            format!("{shape} --polymesh c --polymesh-format ascii"),
            "-allTopology",
        ),
        (
            format!("{shape} --polymesh c --polymesh-format binary64"),
            "-allTopology",
        ),
        (
            format!("{shape} --flow inside --polymesh c"),
            "-allTopology",
        ),
        (PERIODIC.to_owned(), "-allTopology"),
    ];
    for (args, checks) in cases {
        let json = folder.run(&format!("{args} --force")).ok().json();
        let said = folder
            .shell(&format!("checkMesh -case c {checks}"))
            .ok()
            .stdout;
        assert!(said.contains("Mesh OK."), "{args}\n{said}");
        let cells = format!("cells:            {}\n", json["polymesh"]["cells"]);
        assert!(said.contains(&cells), "{cells} in {said}");
    }
}

#[test]
#[cfg_attr(not(has_openfoam), ignore = "needs OpenFOAM")]
fn openfoam_notices_a_wrong_mesh() {
    let folder = Folder::new();
    folder.run(&format!("{SPHERE} --polymesh c")).ok();
    let mut mesh = read(&folder, "c");
    mesh.neighbour.swap(0, 1);
    let polymesh = folder.path("c/constant/polyMesh");
    mesh.write(&polymesh, Default::default()).expect("written");
    let said = folder.shell("checkMesh -case c -allTopology").stdout;
    assert!(!said.contains("Mesh OK."), "{said}");
}

#[test]
fn a_failure_leaves_the_mesh_that_was_there() {
    let folder = Folder::new();
    folder
        .run("mesh --shape box --root 8 --levels 1 --no-picture --quiet --polymesh c")
        .ok();
    let before = read(&folder, "c");
    folder.run(&format!("{SPHERE} --force")).ok();
    let export = "inspect sphere.cutlink --force --polymesh c";
    let is_as_before = |at: &str| {
        assert_eq!(read(&folder, "c"), before, "{at}");
        let left = std::fs::read_dir(folder.path("c/constant"))
            .expect("a folder")
            .count();
        assert_eq!(left, 1, "{at}: nothing is left behind");
    };
    // In blocks of 512 bytes; the signal of the limit is ignored.
    let line = format!("trap '' XFSZ; ulimit -f 16; exec $CUTLINK {export}");
    folder
        .shell(&line)
        .failed(1, &["cannot write c/constant/polyMesh", "hint"]);
    is_as_before("a limit on file size");
    let mut refused = 0;
    // Below its own size of 25 MB, the system ends the program before it begins.
    for limit in (48..400).step_by(24) {
        let line = format!(
            "ulimit -c 0; ulimit -v {}; exec $CUTLINK {export} --threads 2",
            limit << 10
        );
        let ran = folder.shell(&line);
        match ran.code {
            0 => break,
            4 => {
                refused += 1;
                is_as_before(&ran.stderr);
            }
            // The program could not be loaded.
            127 => {}
            _ => panic!("{limit} MiB: {}", ran.stderr),
        }
    }
    assert!(refused > 0, "some limits are too low");
    folder.run(export).ok();
    assert_ne!(read(&folder, "c"), before, "replaced");
}
