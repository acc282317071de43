//! The VTK writers: sizes told beforehand, the same bytes for any number of threads, every
//! value at its cell. That VTK reads the files, and as the mesh they were made of, is what
//! `tests/python/check_vtk.py` checks.

use super::files_kit::{ball_mesh, random_mesh};
use cutlink_amr::CellRef;
use cutlink_voxelizer::Mesh;
use cutlink_voxelizer::vtk::{About, CutPoints, Field, Htg, Part, VtkError, Vtu};

fn htg<const D: usize>(mesh: &Mesh<D>, fields: &[Field<'_>]) -> Vec<u8> {
    let plan = Htg::new(mesh, fields).expect("a sound mesh");
    let mut bytes = Vec::new();
    let written = plan.write(&mut bytes).expect("written");
    assert_eq!(written, bytes.len() as u64, "bytes returned");
    assert_eq!(written, plan.bytes(), "bytes told beforehand");
    bytes
}

fn vtu<const D: usize>(mesh: &Mesh<D>, level: Option<usize>, fields: &[Field<'_>]) -> Vec<u8> {
    let plan = Vtu::new(mesh, level, fields).expect("a sound mesh");
    let mut bytes = Vec::new();
    let written = plan.write(&mut bytes).expect("written");
    assert_eq!(written, bytes.len() as u64, "bytes returned");
    assert_eq!(written, plan.bytes(), "bytes told beforehand");
    bytes
}

/// An appended array of a file, found by its name as any reader of the format would.
fn array<'a>(file: &'a [u8], name: &str) -> &'a [u8] {
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let text_end = file.windows(mark.len()).position(|w| w == mark);
    let text_end = text_end.expect("appended data");
    let text = std::str::from_utf8(&file[..text_end]).expect("text");
    let tag = text
        .split("<DataArray")
        .find(|t| t.contains(&format!("Name=\"{name}\"")));
    let tag = tag.unwrap_or_else(|| panic!("{name} is announced"));
    let offset = tag
        .split("offset=\"")
        .nth(1)
        .and_then(|t| t.split('"').next());
    let offset: usize = offset.expect("offset").parse().expect("a number");
    let at = text_end + mark.len() + offset;
    let len = u64::from_le_bytes(file[at..at + 8].try_into().expect("8 bytes"));
    &file[at + 8..at + 8 + len as usize]
}

fn u32s(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes")))
        .collect()
}

#[test]
fn one_level_holds_the_leaves_of_that_level() {
    let mesh = random_mesh(3, [2, 1, 2], 3);
    let counts = mesh.level_counts();
    let all = vtu(&mesh, None, &[]);
    let mut sum = 0;
    for row in &counts {
        let file = vtu(&mesh, Some(row.level), &[]);
        let level = array(&file, "level");
        assert!(level.iter().all(|&l| usize::from(l) == row.level), "level");
        let class = array(&file, "class");
        let of = |code| class.iter().filter(|&&c| c == code).count() as u64;
        assert_eq!(
            [of(0), of(1), of(2)],
            [row.fluid, row.boundary, row.solid],
            "classes"
        );
        sum += class.len();
    }
    assert_eq!(array(&all, "class").len(), sum, "all levels");
    assert!(
        counts.iter().filter(|row| row.leaf_blocks > 0).count() > 1,
        "several levels"
    );
    let error = Vtu::new(&mesh, Some(9), &[]).expect_err("no level 9");
    assert!(
        matches!(
            error,
            VtkError::NoSuchLevel {
                level: 9,
                finest: 2
            }
        ),
        "{error}"
    );
}

#[test]
fn points_of_a_uniform_grid_are_all_welded() {
    let mesh = ball_mesh([3, 2, 4], 1);
    let file = vtu(&mesh, None, &[]);
    let points = array(&file, "Points").len() / 24;
    assert_eq!(points, 13 * 9 * 17, "points of a grid of 12 x 8 x 16 cells");
    let corners = u32s(array(&file, "connectivity"));
    let place = |p: u32| {
        let at = &array(&file, "Points")[24 * p as usize..][..24];
        [0, 1, 2].map(|a| f64::from_le_bytes(at[8 * a..8 * a + 8].try_into().expect("8 bytes")))
    };
    for cell in corners.chunks_exact(8) {
        let low = place(cell[0]);
        for (i, &p) in cell.iter().enumerate() {
            for (a, x) in place(p).into_iter().enumerate() {
                let expected = low[a] + (i >> a & 1) as f64 * mesh.frame.dx;
                assert!(
                    (x - expected).abs() < 1e-12,
                    "corner {i}: {x}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn values_of_a_field_stay_with_their_cells() {
    let mesh = random_mesh(9, [2, 3], 3);
    let values: Vec<f32> = (0..mesh.forest.capacity() * 16)
        .flat_map(|i| [i as f32, -(i as f32)])
        .collect();
    let field = Field {
        name: "a <b> & \"c\"",
        components: 2,
        values: &values,
    };
    for file in [htg(&mesh, &[field]), vtu(&mesh, None, &[field])] {
        let found = u32s(array(&file, "a &lt;b&gt; &amp; &quot;c&quot;"));
        let levels = array(&file, "level");
        let classes = array(&file, "class");
        assert_eq!(found.len(), 2 * classes.len(), "two numbers a cell");
        for (i, pair) in found.chunks_exact(2).enumerate() {
            let [cell, minus] = [pair[0], pair[1]].map(f32::from_bits);
            assert_eq!(cell, -minus, "components of one cell");
            let (block, cell) = (cell as usize / 16, cell as usize % 16);
            assert_eq!(mesh.forest.level[block], levels[i], "level of value {i}");
            let solid = mesh.classes.solid[block] >> cell & 1 == 1;
            assert_eq!(solid, classes[i] == 2, "class of value {i}");
        }
    }
    let short = Field {
        values: &values[1..],
        ..field
    };
    let error = Htg::new(&mesh, &[short]).expect_err("a value is missing");
    assert!(matches!(error, VtkError::FieldLength { .. }), "{error}");
}

#[test]
fn a_tree_grid_has_a_node_for_every_cell_of_every_block() {
    let mesh = random_mesh(4, [2, 1, 2], 4);
    let file = htg(&mesh, &[]);
    // Above the cells: each root block, and its octants.
    let (trees, cells) = (4, 64 * mesh.forest.blocks());
    let nodes = cells + 9 * trees;
    assert_eq!(array(&file, "class").len(), nodes, "nodes");
    assert_eq!(
        array(&file, "DepthPerTree").len(),
        4 * trees,
        "a tree per root block"
    );
    let by_depth: u64 = array(&file, "NumberOfVerticesPerDepth")
        .chunks_exact(8)
        .map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes")))
        .sum();
    assert_eq!(by_depth, nodes as u64, "nodes by depth");
    assert_eq!(
        f64s(array(&file, "XCoordinates")).len(),
        3,
        "corners of two root blocks"
    );
}

/// Cells of the file against the links that the mesh lists one by one.
fn check_links<const D: usize>(mesh: &Mesh<D>) {
    let plan = Vtu::new(mesh, None, &[])
        .expect("a sound mesh")
        .with_links();
    let mut file = Vec::new();
    let written = plan.write(&mut file).expect("written");
    assert_eq!(written, plan.bytes(), "bytes told beforehand");
    let mut nearest = std::collections::BTreeMap::new();
    for link in mesh.links() {
        let from_center: f64 = (0..D)
            .map(|a| (link.point()[a] - link.center[a]).powi(2))
            .sum();
        let least = nearest
            .entry((link.cell.block, link.cell.cell))
            .or_insert((f64::MAX, 0, 0.0));
        if from_center.sqrt() < least.0 * (1.0 - 1e-9) {
            *least = (from_center.sqrt(), i32::from(link.patch), link.q);
        }
    }
    let blocks = u32s(array(&file, "block"));
    let [patch, q, distance] = ["patch", "q", "wall_distance"].map(|name| u32s(array(&file, name)));
    let cells = leaf_cells(mesh);
    assert_eq!(blocks.len(), cells.len());
    let mut with = 0;
    for (i, cell) in (0..1u32 << (2 * D)).cycle().take(cells.len()).enumerate() {
        let found = (
            patch[i] as i32,
            f32::from_bits(q[i]),
            f32::from_bits(distance[i]),
        );
        match nearest.get(&(blocks[i], cell)) {
            Some(&(least, patch, q)) => {
                with += 1;
                assert_eq!((found.0, found.1), (patch, q), "cell {i}");
                assert!((f64::from(found.2) / least - 1.0).abs() < 1e-6, "cell {i}");
            }
            None => assert!(
                found.0 == -1 && found.1.is_nan() && found.2.is_nan(),
                "cell {i}"
            ),
        }
    }
    assert_eq!(with, nearest.len(), "every boundary cell");
    assert!(with > 0, "links");
}

#[test]
fn cells_have_the_nearest_of_their_cut_links() {
    check_links(&ball_mesh([4, 4], 3));
    check_links(&ball_mesh([4, 4, 4], 3));
}

#[test]
fn cut_points_lie_where_the_surface_cuts_the_links() {
    let mesh = ball_mesh([4, 4, 4], 3);
    let finest = mesh.forest.finest();
    let file = |level| {
        let mut bytes = Vec::new();
        let cuts = CutPoints::new(&mesh, level).expect("memory");
        cuts.write(&mut bytes).expect("written");
        bytes
    };
    let all = file(None);
    let points = f64s(array(&all, "Points"));
    let links: Vec<_> = mesh.links().collect();
    assert_eq!(points.len(), 3 * links.len());
    let q = u32s(array(&all, "q"));
    let vectors = u32s(array(&all, "link"));
    for (i, link) in links.iter().enumerate() {
        assert_eq!(f32::from_bits(q[i]), link.q);
        for a in 0..3 {
            let from = points[3 * i + a] - f64::from(f32::from_bits(vectors[3 * i + a]));
            assert!(
                (from - link.center[a]).abs() < 1e-6,
                "from the centre of the cell"
            );
        }
    }
    let offsets = array(&all, "offsets");
    assert_eq!(offsets[..8], 1u64.to_le_bytes(), "one point per vertex");
    let some = file(Some(finest));
    let of_finest = links.iter().filter(|link| link.level == finest).count();
    assert_eq!(u32s(array(&some, "q")).len(), of_finest);
    assert!(u32s(array(&file(Some(0)), "q")).is_empty() || of_finest < links.len());
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let mesh = ball_mesh([4, 4, 4], 4);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads")
            .install(|| (htg(&mesh, &[]), vtu(&mesh, None, &[])))
    };
    let (one, three) = (with(1), with(3));
    assert!(one == three, "one thread and three");
}

fn f64s(bytes: &[u8]) -> Vec<f64> {
    bytes
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes")))
        .collect()
}

fn leaf_cells<const D: usize>(mesh: &Mesh<D>) -> Vec<CellRef> {
    let cells = |block| (0..1 << (2 * D)).map(move |cell| CellRef { block, cell });
    mesh.forest.leaves().flat_map(cells).collect()
}

fn part<const D: usize>(mesh: &Mesh<D>, cells: &[CellRef], plane: Option<(usize, f64)>) -> Vec<u8> {
    let values: Vec<f32> = (0..cells.len()).map(|i| i as f32).collect();
    let field = Field {
        name: "number",
        components: 1,
        values: &values,
    };
    let fields = [field];
    let plan = Part::new(mesh, cells, plane, &fields).expect("cells of the mesh");
    let mut bytes = Vec::new();
    let written = plan.write(&mut bytes).expect("written");
    assert_eq!(written, bytes.len() as u64, "bytes returned");
    assert_eq!(written, plan.bytes(), "bytes told beforehand");
    bytes
}

/// Corners of each cell as places.
fn places(file: &[u8], per_cell: usize) -> Vec<Vec<[f64; 3]>> {
    let points = f64s(array(file, "Points"));
    let corners: Vec<usize> = array(file, "connectivity")
        .chunks_exact(8)
        .map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes")) as usize)
        .collect();
    let place = |&p: &usize| [points[3 * p], points[3 * p + 1], points[3 * p + 2]];
    corners
        .chunks_exact(per_cell)
        .map(|c| c.iter().map(place).collect())
        .collect()
}

#[test]
fn a_part_has_its_cells_in_order_and_no_point_twice() {
    let mesh = random_mesh(3, [2, 1, 2], 3);
    let mut cells = leaf_cells(&mesh);
    cells.reverse();
    cells.truncate(cells.len() / 2);
    let file = part(&mesh, &cells, None);
    let found = places(&file, 8);
    assert_eq!(found.len(), cells.len(), "cells");
    for ((at, corners), number) in cells.iter().zip(&found).zip(u32s(array(&file, "number"))) {
        let level = usize::from(mesh.forest.level[at.block as usize]);
        let (low, dx) = (mesh.forest.cell_coord(*at), mesh.frame.dx_at(level));
        assert_eq!(
            &cells[f32::from_bits(number) as usize],
            at,
            "value of {at:?}"
        );
        for (i, corner) in corners.iter().enumerate() {
            for a in 0..3 {
                let x = mesh.frame.origin[a] + f64::from(low[a] + (i >> a & 1) as i32) * dx;
                assert!((corner[a] - x).abs() < 1e-12, "corner {i} of {at:?}");
            }
        }
    }
    let mut points: Vec<[u64; 3]> = f64s(array(&file, "Points"))
        .chunks_exact(3)
        .map(|p| [p[0], p[1], p[2]].map(f64::to_bits))
        .collect();
    let count = points.len();
    points.sort_unstable();
    points.dedup();
    assert_eq!(points.len(), count, "points are welded");
}

#[test]
fn a_cut_covers_its_plane_once() {
    let mesh = random_mesh(3, [2, 1, 2], 3);
    let at = 5.3;
    let cut = |c: &CellRef| {
        let per_root = f64::from(1u32 << mesh.forest.level[c.block as usize]);
        (at * per_root) as i32 == mesh.forest.cell_coord(*c)[2]
    };
    let cells: Vec<CellRef> = leaf_cells(&mesh).into_iter().filter(cut).collect();
    let z = mesh.frame.origin[2] + at * mesh.frame.dx;
    let file = part(&mesh, &cells, Some((2, z)));
    let mut area = 0.0;
    for corners in places(&file, 4) {
        assert!(corners.iter().all(|c| c[2] == z), "in the plane");
        area += (corners[1][0] - corners[0][0]) * (corners[2][1] - corners[0][1]);
    }
    let whole = f64::from(8 * 4) * mesh.frame.dx.powi(2);
    assert!((area - whole).abs() < 1e-12, "area {area}, not {whole}");
    assert!(array(&file, "types").iter().all(|&t| t == 8), "pixels");
    let error = Part::new(&mesh, &cells, Some((3, z)), &[]).expect_err("no fourth axis");
    assert!(
        matches!(error, VtkError::NoSuchAxis { axis: 3, .. }),
        "{error}"
    );
}

#[test]
fn time_and_notes_are_field_data() {
    let mesh = ball_mesh([2, 2], 2);
    let about = About {
        time: Some(0.125),
        notes: &[("velocity_unit", "m/s")],
    };
    let mut file = Vec::new();
    let plan = Htg::new(&mesh, &[]).expect("a mesh").about(&about);
    let written = plan.write(&mut file).expect("written");
    assert_eq!(written, plan.bytes(), "bytes told beforehand");
    let text = String::from_utf8_lossy(&file);
    assert!(text.contains("Name=\"TimeValue\""), "time");
    assert!(text.contains(">0.125</DataArray>"), "its value");
    assert!(text.contains(">109 47 115 0</DataArray>"), "m/s in codes");
    let plain = htg(&mesh, &[]);
    assert!(
        !String::from_utf8_lossy(&plain).contains("FieldData"),
        "only if asked for"
    );
    assert_eq!(
        array(&file, "class"),
        array(&plain, "class"),
        "arrays are the same"
    );
}
