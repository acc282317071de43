//! `--polymesh` of `cutlink mesh` and `cutlink inspect`: the files, read back and checked; OpenFOAM's own check where it
//! is installed.

mod kit;
#[path = "../../tests/kit/worst.rs"]
mod worst;

use cutlink_hex::PolyMesh;
use kit::Folder;
use worst::worst;

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
        .run(&format!(
            "{SPHERE} --grading block --polymesh text --polymesh-format ascii"
        ))
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
    let types = "--patch xMin=symmetryPlane --patch sp*=wall,group=hot";
    let few = format!("{SPHERE} --polymesh few --force {types}");
    let few = folder.run(&few).ok().json();
    let by_cell = read(&folder, "few");
    assert_eq!(few["levels"], json["levels"], "the mesh file is the same");
    assert!(3 * by_cell.cells < mesh.cells, "{}", by_cell.cells);
    assert!(
        (total(&by_cell) / total(&mesh) - 1.0).abs() < 1e-10,
        "volume"
    );
    let told = |patch: usize| {
        let patch = &by_cell.patches[patch];
        let groups = patch.entries.iter().find(|entry| entry.0 == "inGroups");
        let groups = groups.map_or("", |entry| entry.1.as_str());
        (patch.name.as_str(), patch.kind.as_str(), groups)
    };
    assert_eq!(told(0), ("sphere", "wall", "2(wall hot)"));
    assert_eq!(told(1), ("xMin", "symmetryPlane", "1(symmetryPlane)"));
    assert_eq!(told(2), ("xMax", "patch", ""));
    let refused = [
        ("--polymesh d --patch inlet=patch", "there is no such patch"),
        ("--polymesh d --patch xMin=empty", "one cell thick"),
        ("--zone a.stl", "--zone needs --polymesh"),
        ("--grading cell", "--grading needs --polymesh"),
        ("--polymesh d --cells-between-levels 5", "it must be 1 to 4"),
        (
            "--polymesh d --grading block --cells-between-levels 2",
            "omit one of them",
        ),
    ];
    for (args, why) in refused {
        folder
            .run(&format!("{SPHERE} --force {args}"))
            .failed(2, &[why]);
    }
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
    // In blocks of 512 bytes.
    let line = format!("ulimit -f 16; exec $CUTLINK {export}");
    folder
        .shell(&line)
        .failed(1, &["cannot write c/constant/polyMesh", "hint"]);
    is_as_before("a limit on file size");
    let mut refused = 0;
    for limit in limits() {
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
            -1 if ran.stderr.is_empty() => {}
            _ => panic!("{limit} MiB: {}", ran.stderr),
        }
    }
    assert!(refused > 0, "some limits are too low");
    folder.run(export).ok();
    assert_ne!(read(&folder, "c"), before, "replaced");
}

/// Limits on memory in MiB, of which the last ones are enough. Below its own size the system ends a program before it begins.
fn limits() -> impl Iterator<Item = u64> {
    let program = std::fs::metadata(env!("CARGO_BIN_EXE_cutlink")).expect("the program");
    let own = program.len() >> 20;
    (own..own + 400).step_by(6)
}

/// The points of a patch, each once.
fn points_of(mesh: &PolyMesh, name: &str) -> Vec<[f64; 3]> {
    let patch = mesh.patches.iter().find(|p| p.name == name);
    let patch = patch.expect("the patch");
    let faces = patch.start..patch.start + patch.faces;
    let mut ids: Vec<u32> = faces.flat_map(|f| mesh.face(f)).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    ids.iter().map(|&id| mesh.points[id as usize]).collect()
}

fn norm(a: [f64; 3]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn farthest(points: &[[f64; 3]], from: impl Fn([f64; 3]) -> f64) -> f64 {
    worst(points.iter().map(|&p| from(p)))
}

/// Smallest volume and largest non-orthogonality in degrees, by tetrahedra between the centre of a cell (the mean of its
/// faces' centres), that of a face (the mean of its points) and an edge: none of `cutlink_hex`'s formulas.
fn by_tetrahedra(mesh: &PolyMesh) -> (f64, f64) {
    let sub = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| a[i] - b[i]) };
    let add = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| a[i] + b[i]) };
    let by = |a: [f64; 3], s: f64| a.map(|x| s * x);
    let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| a[i] * b[i]).sum::<f64>();
    let cross = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            a[j] * b[k] - a[k] * b[j]
        })
    };
    let corners = |f: usize| -> Vec<[f64; 3]> {
        let ids = mesh.face(f).iter();
        ids.map(|&p| mesh.points[p as usize]).collect()
    };
    let middle = |points: &[[f64; 3]]| {
        let sum = points.iter().fold([0.0; 3], |sum, &p| add(sum, p));
        by(sum, 1.0 / points.len() as f64)
    };
    let middles: Vec<[f64; 3]> = (0..mesh.faces()).map(|f| middle(&corners(f))).collect();
    let mut of_cell = vec![Vec::new(); mesh.cells];
    for f in 0..mesh.faces() {
        of_cell[mesh.owner[f] as usize].push((f, 1.0));
        if let Some(&other) = mesh.neighbour.get(f) {
            of_cell[other as usize].push((f, -1.0));
        }
    }
    let mut least = f64::INFINITY;
    let mut centers = Vec::with_capacity(mesh.cells);
    for faces in &of_cell {
        let all: Vec<[f64; 3]> = faces.iter().map(|&(f, _)| middles[f]).collect();
        let apex = middle(&all);
        let (mut volume, mut weighted) = (0.0, [0.0; 3]);
        for &(f, sign) in faces {
            let ring = corners(f);
            for i in 0..ring.len() {
                let (p, q, m) = (ring[i], ring[(i + 1) % ring.len()], middles[f]);
                let six = dot(sub(p, apex), cross(sub(q, apex), sub(m, apex)));
                let part = sign * six / 6.0;
                volume += part;
                weighted = add(weighted, by(add(add(p, q), add(m, apex)), part / 4.0));
            }
        }
        least = least.min(volume);
        centers.push(by(weighted, 1.0 / volume));
    }
    let mut cosine = 1.0f64;
    for f in 0..mesh.neighbour.len() {
        let ring = corners(f);
        let area = (0..ring.len()).fold([0.0; 3], |sum, i| {
            add(sum, cross(ring[i], ring[(i + 1) % ring.len()]))
        });
        let ends = [mesh.owner[f], mesh.neighbour[f]].map(|c| centers[c as usize]);
        let along = sub(ends[1], ends[0]);
        cosine = cosine.min(dot(along, area) / (norm(along) * norm(area)));
    }
    (least, cosine.acos().to_degrees())
}

/// Counts of a report's `polymesh.snap`.
fn snapped(json: &serde_json::Value) -> [u64; 4] {
    ["points", "snapped", "on_edges", "held_back"]
        .map(|key| json["polymesh"]["snap"][key].as_u64().expect("a count"))
}

#[test]
fn snapped_walls_of_a_sphere_are_on_it() {
    let folder = Folder::new();
    let json = folder
        .run(&format!("{SPHERE} --polymesh cubes"))
        .ok()
        .json();
    assert!(json["polymesh"]["snap"].is_null(), "not snapped");
    let cubes = read(&folder, "cubes");
    // Half a spacing, measured at the facets' own deviation, would be no proof of being on the sphere.
    let off = |p: [f64; 3]| (norm(p) - 0.5).abs();
    let (deviation, dx) = (1e-4, 1.5 / 64.0);
    assert!(
        farthest(&points_of(&cubes, "sphere"), off) > 0.5 * dx,
        "stairs"
    );
    let args = format!("{SPHERE} --deviation {deviation} --force --snap");
    let json = folder
        .run(&format!("{args} --polymesh c --threads 1"))
        .ok()
        .json();
    let mesh = read(&folder, "c");
    let walls = points_of(&mesh, "sphere");
    assert!(
        farthest(&walls, off) <= deviation,
        "{}",
        farthest(&walls, off)
    );
    let all = walls.len() as u64;
    assert_eq!(snapped(&json), [all, all, 0, 0], "every point");
    let (least, angle) = by_tetrahedra(&mesh);
    assert!(
        least > 0.1 * dx * dx * dx && angle < 65.0,
        "{least} {angle}"
    );
    let ball = std::f64::consts::PI / 6.0;
    assert!(
        (total(&mesh) + ball - 1.5f64.powi(3)).abs() < 0.01 * ball,
        "volume"
    );
    // Points move, and nothing else.
    let mut back = mesh.clone();
    back.points.clone_from(&cubes.points);
    assert_eq!(back, cubes, "topology");
    folder.run(&format!("{args} --polymesh d --threads 2")).ok();
    assert_eq!(read(&folder, "d"), mesh, "on two threads");
}

#[test]
fn snapped_walls_keep_the_edges_of_a_turned_box() {
    let folder = Folder::new();
    let args = "mesh --shape box --rotate z:20 --root 16 --levels 3 --no-picture --json --snap --polymesh c";
    let json = folder.run(args).ok().json();
    let mesh = read(&folder, "c");
    let [points, on, edges, held] = snapped(&json);
    assert!(
        on == points && edges > 300 && held == 0,
        "{on} {edges} {held}"
    );
    let (s, c) = 20f64.to_radians().sin_cos();
    let mut corners = [false; 8];
    let mut walls = 0;
    for patch in mesh.patches.iter().filter(|p| p.kind == "wall") {
        for [x, y, z] in points_of(&mesh, &patch.name) {
            let p = [c * x + s * y, c * y - s * x, z];
            let ends = p.map(|x| (x.abs() - 0.5).abs() < 1e-9);
            let beyond = p.iter().any(|x| x.abs() > 0.5 + 1e-9);
            assert!(ends.contains(&true) && !beyond, "{p:?} is on the box");
            if ends == [true; 3] {
                corners[(0..3).map(|a| usize::from(p[a] > 0.0) << a).sum::<usize>()] = true;
            }
            walls += 1;
        }
    }
    assert!(walls > 5000 && corners == [true; 8], "{walls} {corners:?}");
    let (least, angle) = by_tetrahedra(&mesh);
    assert!(least > 0.0 && angle < 65.0, "{least} {angle}");
}

/// A box turned about all axes meets cells at all angles: many points are held back at first.
#[test]
fn points_that_were_held_back_recover() {
    let folder = Folder::new();
    let args = "mesh --shape box --rotate x:15,y:20,z:25 --root 16 --levels 3 --no-picture --json --snap --polymesh c";
    let json = folder.run(args).ok().json();
    let [points, on, edges, held] = snapped(&json);
    // 8.3 % without.
    assert!(
        25 * held < points && points == on + held && edges > 250,
        "{on} {edges} {held} of {points}"
    );
    let (least, angle) = by_tetrahedra(&read(&folder, "c"));
    assert!(least > 0.0 && angle < 65.1, "{least} {angle}");
}

#[test]
fn snapped_walls_of_a_cylinder_keep_its_rims() {
    let folder = Folder::new();
    let args = "mesh --shape cylinder:r=0.5,h=1 --deviation 1e-4 --rotate y:90 --root 16 --levels 3 --no-picture --json \
                --snap --polymesh c";
    let json = folder.run(args).ok().json();
    let mesh = read(&folder, "c");
    let [points, on, edges, held] = snapped(&json);
    assert!(
        70 * held < points && points == on + held,
        "{on} {held} of {points}"
    );
    let walls = mesh.patches.iter().filter(|p| p.kind == "wall");
    let walls: Vec<[f64; 3]> = walls.flat_map(|p| points_of(&mesh, &p.name)).collect();
    let off = |p: [f64; 3]| {
        let (r, x) = (p[1].hypot(p[2]) - 0.5, p[0].abs() - 0.5);
        match (r > 0.0, x > 0.0) {
            (true, true) => r.hypot(x),
            _ => r.max(x).abs(),
        }
    };
    let exact = walls.iter().filter(|&&p| off(p) <= 1e-4).count();
    assert!(exact as u64 >= on, "{exact} of {}", walls.len());
    assert!(
        farthest(&walls, off) < 0.3 * 1.5 / 64.0,
        "held back, but near"
    );
    let rim =
        |p: &&[f64; 3]| (p[1].hypot(p[2]) - 0.5).abs() <= 1e-4 && (p[0].abs() - 0.5).abs() < 1e-9;
    assert!(
        walls.iter().filter(rim).count() as u64 >= edges && edges > 100,
        "{edges}"
    );
    let (least, angle) = by_tetrahedra(&mesh);
    assert!(least > 0.0 && angle < 65.0, "{least} {angle}");
}

#[test]
fn snapping_needs_a_polymesh_in_space_and_memory() {
    let folder = Folder::new();
    let shape = "mesh --shape sphere:r=0.5 --root 20 --levels 3 --no-picture --snap --force";
    folder
        .run(shape)
        .failed(2, &["--snap needs --polymesh CASE", "hint"]);
    let planar = "mesh --shape naca:2412 --levels 2 --polymesh c --no-picture --snap";
    folder
        .run(planar)
        .failed(2, &["a polyMesh needs a 3D mesh"]);
    let mut refused = 0;
    for limit in limits() {
        let line = format!(
            "ulimit -c 0; ulimit -v {}; exec $CUTLINK {shape} --polymesh c --threads 2",
            limit << 10
        );
        let ran = folder.shell(&line);
        match ran.code {
            0 => break,
            4 => refused += 1,
            127 => {}
            -1 if ran.stderr.is_empty() => {}
            _ => panic!("{limit} MiB: {}", ran.stderr),
        }
    }
    assert!(refused > 0, "some limits are too low");
    assert!(
        folder.path("c/constant/polyMesh").exists(),
        "the last one is enough"
    );
}

/// The number after some words of a text.
fn figure(text: &str, words: &str) -> f64 {
    let rest = text
        .split_once(words)
        .map_or("", |(_, rest)| rest)
        .trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c)));
    let number = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
    number
        .parse()
        .unwrap_or_else(|_| panic!("{words} in:\n{text}"))
}

/// `checkMesh` on snapped meshes: what it finds is what castellated meshes have too (concave cells beside finer ones), and
/// its figures are those of `PolyMesh::quality`.
#[test]
#[cfg_attr(not(has_openfoam), ignore = "needs OpenFOAM")]
fn openfoam_accepts_snapped_meshes() {
    let folder = Folder::new();
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1e-3);
    for shape in [
        "sphere",
        "box --rotate x:15,y:20,z:25",
        "cylinder --rotate y:90",
        "box:size=1x0.5x0.5 --rotate z:20 --flow inside",
        "torus",
    ] {
        let args = format!(
            "mesh --shape {shape} --root 16 --levels 2 --no-picture --quiet --force --snap --polymesh c"
        );
        folder.run(&args).ok();
        let quality = read(&folder, "c").quality();
        let said = folder
            .shell("checkMesh -case c -allTopology -allGeometry")
            .stdout;
        let failed: Vec<&str> = said.lines().filter(|l| l.contains("***")).collect();
        let is_known = |l: &&str| l.contains("***Concave cells (using face planes)");
        assert!(failed.iter().all(is_known), "{shape}: {failed:?}");
        assert!(said.contains("Mesh non-orthogonality Max"), "{said}");
        let found = [
            figure(&said, "non-orthogonality Max:"),
            figure(&said, "average:"),
            figure(&said, "Max skewness ="),
            figure(&said, "Min volume ="),
            figure(&said, "Total volume ="),
            figure(&said, "planes) found, number of cells:"),
        ];
        let ours = [
            quality.max_non_orthogonality,
            quality.mean_non_orthogonality,
            quality.max_skewness,
            quality.min_volume,
            quality.volume,
            quality.concave_cells as f64,
        ];
        assert!(
            (0..6).all(|i| same(ours[i], found[i])),
            "{shape}: {ours:?} {found:?}"
        );
        assert!(
            ours[0] < 65.0 && ours[2] < 4.0 && quality.bad_tetrahedra == 0,
            "{shape}: {quality:?}"
        );
    }
}

#[test]
#[cfg_attr(
    not(all(has_scans, has_openfoam)),
    ignore = "needs ../shared/meshes and OpenFOAM"
)]
fn openfoam_accepts_a_snapped_scan() {
    let folder = Folder::new();
    let scan = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/meshes/bunny_unit.stl"
    );
    std::fs::copy(scan, folder.path("bunny.stl")).expect("a scan");
    let args = "mesh bunny.stl --root 16 --levels 3 --no-picture --json --snap --polymesh c";
    let json = folder.run(args).ok().json();
    let [points, on, _, _] = snapped(&json);
    // Without points that recover, less than nine in ten.
    assert!(25 * on > 24 * points, "{on} of {points}");
    let said = folder
        .shell("checkMesh -case c -allTopology -allGeometry")
        .stdout;
    for line in said.lines().filter(|l| l.contains("***")) {
        let slots = line.contains("***Cells with small determinant");
        assert!(
            slots || line.contains("***Concave cells (using face planes)"),
            "{line}"
        );
        let beyond = &json["polymesh"]["snap"]["beyond_limits"];
        assert!(
            !slots || figure(line, "number of cells:") <= beyond.as_f64().expect("a count"),
            "{line}"
        );
    }
}
