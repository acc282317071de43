//! Meshes graded by cell. Oracles: the same rule by sets of coordinates, without blocks and masks; walks over the faces of
//! the mesh; the mesh of the leaf blocks, which has the same walls and the same volume.

use crate::worst::worst;
use cutlink_amr::CellRef;
use cutlink_common::device::Opening;
use cutlink_hex::PolyMesh;
use cutlink_meshing::{
    MeshOptions,
    mesh::{
        build::{AnyPlaced, Builder, Prepared},
        resolve,
    },
    options::{Numbers, Root},
    polymesh::*,
};
use cutlink_voxelizer::Mesh;
use std::{collections::HashSet, path::Path};

type Cell = (usize, [i32; 3]);

/// A sphere in a box of 16^3 root cells of length 1/8, of so many levels.
fn sphere(levels: usize) -> MeshOptions {
    MeshOptions {
        shape: Some("sphere:r=0.3".into()),
        domain: Some(Numbers::Many(vec![-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])),
        root: Some(Root::Longest(16)),
        levels: Some(levels),
        wall_distance: Some(0.0),
        no_picture: true,
        ..MeshOptions::default()
    }
}

pub(crate) fn embedded(options: &MeshOptions) -> (Prepared<3>, Mesh<3>) {
    let job = resolve::resolve(options).expect("options");
    let opening = Opening::begin("cpu".parse().expect("a device")).expect("the CPU");
    let mut observer = ();
    let mut builder = Builder::opening(&job, &opening, &mut observer);
    let AnyPlaced::D3(placed) = builder.place().expect("a surface") else {
        unreachable!("in 3D");
    };
    let prepared = builder.prepare(placed).expect("a closed surface");
    let mesh = builder.build(&prepared).expect("a mesh");
    (prepared, mesh)
}

fn by_cell((prepared, mesh): &(Prepared<3>, Mesh<3>), between: u32) -> Castellated {
    let rule = CellGrading {
        between,
        surface: &prepared.snapped,
        params: &prepared.params,
    };
    let made = castellate_by_cell(mesh, &rule, &PolyLabels::default()).expect("a mesh");
    assert_eq!(made.mesh.validate(), Ok(()), "every check of the arrays");
    made
}

/// Leaf cells of the blocks: with a cut link, fluid, solid.
struct Leaves {
    cut: Vec<Cell>,
    fluid: Vec<Cell>,
    solid: Vec<Cell>,
}

impl Leaves {
    fn of(mesh: &Mesh<3>) -> Self {
        let (mut cut, mut fluid, mut solid) = (Vec::new(), Vec::new(), Vec::new());
        for block in mesh.forest.leaves() {
            for cell in 0..64 {
                let at = mesh.forest.cell_coord(CellRef { block, cell });
                let at = (usize::from(mesh.forest.level[block as usize]), at);
                let bit = |mask: &[u64]| mask[block as usize] >> cell & 1 == 1;
                cut.extend(bit(&mesh.classes.boundary).then_some(at));
                let side = match bit(&mesh.classes.solid) {
                    true => &mut solid,
                    false => &mut fluid,
                };
                side.push(at);
            }
        }
        Self { cut, fluid, solid }
    }
}

/// The cells over some, themselves included, of one level or coarser.
fn over(cells: &[Cell], level: usize) -> HashSet<[i32; 3]> {
    let deep = cells.iter().filter(|c| c.0 >= level);
    deep.map(|c| c.1.map(|x| x >> (c.0 - level))).collect()
}

/// Fluid cells of each level, by sets of coordinates. `wants` tells whether a rule wants a cell of a level finer; all of the box
/// have to be in blocks that are deep enough. `periodic` axes wrap.
fn count_by_sets(
    mesh: &Mesh<3>,
    between: i32,
    wants: impl Fn(usize, [f64; 3]) -> bool,
) -> Vec<usize> {
    let leaves = Leaves::of(mesh);
    let finest = mesh.forest.finest();
    let wrap = |level: usize, at: [i32; 3]| -> Option<[i32; 3]> {
        let mut to = at;
        for a in 0..3 {
            let n = (4 * mesh.forest.root[a] as i32) << level;
            if mesh.forest.periodic[a] {
                to[a] = to[a].rem_euclid(n);
            } else if !(0..n).contains(&to[a]) {
                return None;
            }
        }
        Some(to)
    };
    let mut needed: HashSet<[i32; 3]> = HashSet::new();
    let mut refined: Vec<HashSet<[i32; 3]>> = vec![HashSet::new(); finest + 1];
    for level in (0..=finest).rev() {
        let (fluid, solid) = (
            over(&leaves.fluid, level + 1),
            over(&leaves.solid, level + 1),
        );
        let up = |at: &[i32; 3]| at.map(|c| c >> 1);
        let mixed: HashSet<[i32; 3]> = fluid.iter().map(up).collect();
        let solid_under: HashSet<[i32; 3]> = solid.iter().map(up).collect();
        let mut here: HashSet<[i32; 3]> = needed.iter().map(up).collect();
        here.extend(mixed.intersection(&solid_under));
        let dx = mesh.frame.dx_at(level);
        let is_wanted = |at: &&[i32; 3]| {
            let center = |a: usize| mesh.frame.origin[a] + dx * (f64::from(at[a]) + 0.5);
            wants(level, std::array::from_fn(center))
        };
        here.extend(mixed.iter().filter(is_wanted));
        needed = leaves
            .cut
            .iter()
            .filter(|c| c.0 == level)
            .map(|c| c.1)
            .collect();
        for at in &here {
            for x in -between.max(1)..=between.max(1) {
                for y in -between.max(1)..=between.max(1) {
                    for z in -between.max(1)..=between.max(1) {
                        let step = [x, y, z].map(i32::abs);
                        let touches = step.iter().all(|&s| s <= 1);
                        if touches || step.iter().sum::<i32>() <= between {
                            let to = std::array::from_fn(|a| at[a] + [x, y, z][a]);
                            needed.extend(wrap(level, to));
                        }
                    }
                }
            }
        }
        refined[level] = here;
    }
    // From the roots down: fluid cells that are there and not refined.
    let mut there: Vec<[i32; 3]> = Vec::new();
    let n = mesh.forest.root.map(|n| 4 * n as i32);
    for i in 0..n[0] * n[1] * n[2] {
        there.push([i % n[0], i / n[0] % n[1], i / (n[0] * n[1])]);
    }
    let mut counts = Vec::new();
    for (level, refined) in refined.iter().enumerate() {
        let fluid = over(&leaves.fluid, level);
        let (deep, used): (Vec<_>, Vec<_>) = there.into_iter().partition(|at| refined.contains(at));
        counts.push(used.iter().filter(|at| fluid.contains(*at)).count());
        there = deep
            .iter()
            .flat_map(|at| (0..8).map(|i| std::array::from_fn(|a| 2 * at[a] + (i >> a & 1))))
            .collect();
    }
    counts
}

fn counts_of(made: &PolyMesh, levels: usize) -> Vec<usize> {
    let of = made.levels.as_ref().expect("levels");
    let count = |level: usize| of.cell.iter().filter(|&&l| usize::from(l) == level).count();
    (0..levels).map(count).collect()
}

#[test]
fn cells_are_those_of_the_rule_by_sets() {
    let moved = MeshOptions {
        translate: Some(Numbers::Many(vec![0.013, -0.021, 0.034])),
        ..sphere(4)
    };
    let of = embedded(&moved);
    for between in 1..=MOST_BETWEEN {
        let made = by_cell(&of, between);
        let expected = count_by_sets(&of.1, between as i32, |_, _| false);
        assert_eq!(counts_of(&made.mesh, 4), expected, "{between} between");
        assert_eq!(made.coarser_than_wanted, 0, "no rule but the surface");
    }
    let all = castellate(&of.1, &PolyLabels::default())
        .expect("of the blocks")
        .mesh
        .cells;
    let few = by_cell(&of, 3).mesh.cells;
    assert!(3 * few < all, "{few} instead of {all} cells");
    // The oracle tells one number between levels from another.
    let [two, three] = [2, 3].map(|n| count_by_sets(&of.1, n, |_, _| false));
    assert_ne!(two, three, "the comparison can fail");
}

#[test]
fn a_body_that_crosses_a_periodic_face_has_the_cells_of_the_rule() {
    let options = MeshOptions {
        translate: Some(Numbers::Many(vec![0.0, 0.9, 0.0])),
        periodic: Some("y".parse().expect("an axis")),
        ..sphere(3)
    };
    let of = embedded(&options);
    let made = by_cell(&of, 2);
    let expected = count_by_sets(&of.1, 2, |_, _| false);
    assert_eq!(counts_of(&made.mesh, 3), expected, "across the faces");
    let faces = |name: &str| {
        let patch = made.mesh.patches.iter().find(|p| p.name == name);
        patch.map(|p| p.faces)
    };
    assert_eq!(faces("yMin"), faces("yMax"), "faces that match one another");
}

#[test]
fn a_body_that_crosses_a_periodic_face_is_snapped_on_both_sides() {
    let options = MeshOptions {
        translate: Some(Numbers::Many(vec![0.0, 0.9, 0.0])),
        periodic: Some("y".parse().expect("an axis")),
        deviation: Some(1e-4),
        polymesh: Some("unused".into()),
        snap: true,
        ..sphere(3)
    };
    let of = embedded(&options);
    let mut made = by_cell(&of, 2);
    let placed = of.0.placed.as_ref().expect("the surface as placed");
    // Wall points that are not in the periodic faces, by their distance from the sphere or its image.
    let off = |made: &Castellated| -> Vec<f64> {
        let mesh = &made.mesh;
        let wall = mesh.patches.iter().find(|p| p.name == "sphere");
        let wall = wall.expect("the sphere's patch");
        let faces = wall.start..wall.start + wall.faces;
        let points: HashSet<u32> = faces.flat_map(|f| mesh.face(f).to_vec()).collect();
        let at = points.into_iter().map(|p| mesh.points[p as usize]);
        let free = at.filter(|p| p[1].abs() < 1.0 - 1e-9);
        free.map(|[x, y, z]| {
            let r = |center: f64| (x * x + (y - center).powi(2) + z * z).sqrt();
            (r(0.9) - 0.3).abs().min((r(-1.1) - 0.3).abs())
        })
        .collect()
    };
    let before = off(&made);
    assert!(worst(before.iter().copied()) > 0.01, "stairs");
    made.snap(placed, &of.1).expect("memory");
    assert_eq!(made.mesh.validate(), Ok(()), "every check of the arrays");
    let after = off(&made);
    let near = after.iter().filter(|&&off| off < 2e-4).count();
    assert!(
        after.len() > 500 && near > after.len() * 99 / 100,
        "{near} of {}",
        after.len()
    );
}

#[test]
fn distances_and_regions_want_the_cells_whose_places_they_hold() {
    // The distance of 0.1 is 6.4 of the finest cells; the lattice and the facets are within 0.001 of the sphere.
    let (distance, slack) = (0.1, 1e-3);
    let lower = [0.5, -0.25, -0.25];
    let mut options = sphere(4);
    options.wall_distance = Some(distance);
    let rule = "box:0.5,-0.25,-0.25,1,0.25,0.25,levels=3".parse();
    options.refine = Some(vec![rule.expect("a rule")]);
    options.deviation = Some(1e-4);
    let of = embedded(&options);
    let made = by_cell(&of, 2);
    let counts = |distance: f64| {
        count_by_sets(&of.1, 2, |level, at| {
            let r = at.iter().map(|x| x * x).sum::<f64>().sqrt();
            let near = level < 3 && (r - 0.3).abs() <= distance;
            let inside = (0..3).all(|a| at[a] > lower[a] && at[a] < [1.0, 0.25, 0.25][a]);
            near || level < 2 && inside
        })
    };
    let (few, many) = (counts(distance - slack), counts(distance + slack));
    let found = counts_of(&made.mesh, 4);
    let finest = few[3]..=many[3];
    assert!(finest.contains(&found[3]), "{few:?}, {found:?}, {many:?}");
    assert!(
        many[3] < few[3] + few[3] / 20,
        "a narrow band: {few:?} {many:?}"
    );
    assert!(counts(0.0)[3] < few[3] / 2, "the distance counts");
    assert_eq!(made.coarser_than_wanted, 0, "all of it is in fine blocks");
    // Beyond the blocks, and said.
    let mut far = by_cell_at(&of, 0.5);
    assert!(far.coarser_than_wanted > 100, "{}", far.coarser_than_wanted);
    let notes = far.notes();
    let said = notes.iter().any(|note| note.contains("--refine near:"));
    assert!(said, "{notes:?}");
    far.coarser_than_wanted = 0;
    assert!(!far.notes().iter().any(|n| n.contains("near:")), "else not");
}

fn by_cell_at((prepared, mesh): &(Prepared<3>, Mesh<3>), distance: f64) -> Castellated {
    let mut params = prepared.params.clone();
    params.wall_distance = distance;
    params.walls.clear();
    let rule = CellGrading {
        between: 2,
        surface: &prepared.snapped,
        params: &params,
    };
    castellate_by_cell(mesh, &rule, &PolyLabels::default()).expect("a mesh")
}

/// Least number of steps over faces from cells of finer levels, for each cell.
fn steps_from(mesh: &PolyMesh, is_start: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut steps: Vec<u32> = (0..mesh.cells)
        .map(|cell| if is_start(cell) { 0 } else { u32::MAX })
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (face, &other) in mesh.neighbour.iter().enumerate() {
            let [a, b] = [mesh.owner[face], other].map(|c| c as usize);
            for (from, to) in [(a, b), (b, a)] {
                if steps[from].saturating_add(1) < steps[to] {
                    steps[to] = steps[from] + 1;
                    changed = true;
                }
            }
        }
    }
    steps
}

#[test]
fn levels_are_some_cells_wide_and_differ_by_one_at_points() {
    let of = embedded(&MeshOptions {
        shape: Some("box:size=0.5x0.31x0.2".into()),
        rotate: Some(vec!["z:30".parse().expect("a rotation")]),
        ..sphere(4)
    });
    for between in [1, 3] {
        let made = by_cell(&of, between).mesh;
        let level = &made.levels.as_ref().expect("levels").cell;
        for finer in 2..4u8 {
            let steps = steps_from(&made, |cell| level[cell] >= finer);
            let coarse = (0..made.cells).filter(|&cell| level[cell] + 1 < finer);
            let least = coarse.map(|cell| steps[cell]).min();
            assert!(least > Some(between), "{least:?} steps from level {finer}");
        }
        let mut range = vec![[u8::MAX, 0]; made.points.len()];
        let (start, faces) = made.cell_faces();
        for cell in 0..made.cells {
            for &face in &faces[start[cell] as usize..start[cell + 1] as usize] {
                for &point in made.face(face as usize) {
                    let [low, high] = &mut range[point as usize];
                    (*low, *high) = ((*low).min(level[cell]), (*high).max(level[cell]));
                }
            }
        }
        assert!(range.iter().all(|r| r[1] - r[0] <= 1), "2:1 over points");
    }
}

/// Walls as places of their centres, area vectors and patches, in order.
fn walls(made: &Castellated) -> Vec<(Vec<u64>, String)> {
    let faces = made.mesh.face_geometry();
    let mut walls = Vec::new();
    for patch in made.mesh.patches.iter().filter(|p| p.kind == "wall") {
        for face in &faces[patch.start..patch.start + patch.faces] {
            // Zeros have a sign.
            let numbers = face.center.iter().chain(&face.area);
            let bits = numbers.map(|x| (x + 0.0).to_bits()).collect();
            walls.push((bits, patch.name.clone()));
        }
    }
    walls.sort();
    walls
}

#[test]
fn walls_and_volume_are_those_of_the_blocks_for_any_number_of_threads() {
    let plate = "box:size=0.5x0.4x0.01".to_owned();
    for shape in ["sphere:r=0.3".to_owned(), "torus".into(), plate] {
        let of = embedded(&MeshOptions {
            shape: Some(shape.clone()),
            ..sphere(3)
        });
        let (few, all) = (
            by_cell(&of, 2),
            castellate(&of.1, &PolyLabels::default()).expect("of the blocks"),
        );
        assert!(few.mesh.cells < all.mesh.cells, "{shape}");
        assert_eq!(walls(&few), walls(&all), "{shape}: the same faces");
        let volume = |made: &Castellated| {
            let cells = made.mesh.cell_geometry(&made.mesh.face_geometry());
            cells.iter().map(|cell| cell.volume).sum::<f64>()
        };
        let apart = volume(&few) / volume(&all) - 1.0;
        assert!(worst([apart.abs()]) < 1e-12, "{shape}: volume {apart:e}");
        let told = |made: &Castellated| (made.baffles, made.underdetermined, made.regions);
        assert_eq!(told(&few), told(&all), "{shape}");
        for threads in [1, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let again = pool.expect("a pool").install(|| by_cell(&of, 2));
            assert_eq!(again, few, "{shape}, {threads} threads");
        }
    }
}

#[test]
fn blocks_have_room_for_four_cells_between_levels() {
    let of = embedded(&sphere(2));
    for between in [0, MOST_BETWEEN + 1] {
        let rule = CellGrading {
            between,
            surface: &of.0.snapped,
            params: &of.0.params,
        };
        let error = castellate_by_cell(&of.1, &rule, &PolyLabels::default()).expect_err("no room");
        assert!(error.to_string().contains("must be 1 to 4"), "{error}");
    }
}

/// The twelve facets of a box, as an ASCII STL file.
fn write_box(path: &Path, lower: [f64; 3], upper: [f64; 3]) {
    let mut text = "solid box\n".to_owned();
    for axis in 0..3 {
        for (end, at) in [lower, upper].into_iter().enumerate() {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let corner = |i: usize, j: usize| {
                let mut p = [0.0; 3];
                p[axis] = at[axis];
                p[u] = [lower, upper][i][u];
                p[v] = [lower, upper][j][v];
                p
            };
            let mut ring = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            if end == 0 {
                ring.reverse();
            }
            for facet in [[ring[0], ring[1], ring[2]], [ring[0], ring[2], ring[3]]] {
                text += " facet normal 0 0 0\n  outer loop\n";
                for [x, y, z] in facet {
                    text += &format!("   vertex {x} {y} {z}\n");
                }
                text += "  endloop\n endfacet\n";
            }
        }
    }
    std::fs::write(path, text + "endsolid\n").expect("a file");
}

#[test]
fn zones_have_the_cells_inside_and_the_faces_around() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("the rotor.stl");
    let (lower, upper, moved) = (
        [-0.41, -0.37, -0.33],
        [0.52, 0.44, 0.39],
        [0.1, 0.02, -0.03],
    );
    write_box(&path, lower, upper);
    let of = embedded(&MeshOptions {
        polymesh: Some(folder.path().join("case")),
        zone: Some(vec![path]),
        translate: Some(Numbers::Many(moved.to_vec())),
        ..sphere(3)
    });
    let rule = CellGrading {
        between: 2,
        surface: &of.0.snapped,
        params: &of.0.params,
    };
    let labels = PolyLabels {
        zones: &of.0.zones,
        ..PolyLabels::default()
    };
    let made = castellate_by_cell(&of.1, &rule, &labels).expect("a mesh");
    let ([zone], [around]) = (&made.zones.cells[..], &made.zones.faces[..]) else {
        unreachable!("one zone");
    };
    assert_eq!(
        [&zone.name, &around.name],
        ["the_rotor"; 2],
        "its file's, as a word"
    );
    let faces = made.mesh.face_geometry();
    let cells = made.mesh.cell_geometry(&faces);
    let level = &made.mesh.levels.as_ref().expect("levels").cell;
    let is_inside = |cell: &u32| {
        // Castellated cells are cubes; those with hanging points have the same centre.
        let c = cells[*cell as usize].center;
        (0..3).all(|a| (lower[a] + moved[a]..upper[a] + moved[a]).contains(&c[a]))
    };
    let inside: Vec<u32> = (0..made.mesh.cells as u32).filter(is_inside).collect();
    assert_eq!(zone.ids, inside, "centres in the box that was moved");
    let levels: HashSet<u8> = inside.iter().map(|&cell| level[cell as usize]).collect();
    assert!(levels.len() > 1, "of several levels: {levels:?}");
    let mut sum = [0.0; 3];
    for (&face, &flip) in around.ids.iter().zip(&around.flips) {
        let (own, other) = (
            made.mesh.owner[face as usize],
            made.mesh.neighbour[face as usize],
        );
        let ends = [own, other].map(|cell| inside.binary_search(&cell).is_ok());
        assert_eq!(ends, [!flip, flip], "from inside to outside");
        let sign = if flip { -1.0 } else { 1.0 };
        (0..3).for_each(|a| sum[a] += sign * faces[face as usize].area[a]);
    }
    let open = worst(sum.map(f64::abs));
    assert!(open < 1e-12 && around.ids.len() > 100, "closed: {sum:?}");
    let report = PolyMeshReport::new(&made);
    assert_eq!(report.zones[0].cells, inside.len(), "{:?}", report.zones);
    assert!(made.notes().iter().all(|note| !note.contains("zone")));
}

#[test]
fn convex_bodies_have_no_baffles_and_thin_plates_stay_sealed() {
    let turned = |shape: &str, levels: usize| {
        embedded(&MeshOptions {
            shape: Some(shape.into()),
            rotate: Some(
                ["x:17", "y:9", "z:30"]
                    .map(|r| r.parse().expect("a rotation"))
                    .into(),
            ),
            ..sphere(levels)
        })
    };
    // The thinnest side is 8 of the finest cells long.
    let of = turned("box:size=0.7x0.5x0.25", 3);
    let links = cutlink_voxelizer::thin(&of.1).links;
    assert!(links > 0, "links clip its edges");
    assert_eq!(by_cell(&of, 2).baffles, 0, "and make no baffles");
    // A plate across the box, half a cell thick; some centres lie in it.
    let of = turned("box:size=6x6x0.016", 3);
    assert!(!Leaves::of(&of.1).solid.is_empty(), "solid cells");
    let made = by_cell(&of, 2);
    assert!(made.baffles > 1000, "{}", made.baffles);
    assert_eq!((made.regions, made.pockets), (2, 0), "nothing leaks");
}
