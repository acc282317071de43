//! Every comparator and `validate` must reject a mesh with one thing wrong in it.

use cutlink_device::Host;
use cutlink_mesher::snap::Snapped;
use cutlink_tests::{
    arrays::same_mesh,
    bodies::{lattice_frame, levels, map_lattice, mesh, split_in_four},
    chains::{Bodies, CELL, Chains, Soup},
    compare::{Mismatch, against_oracle, cell_against_oracle, cells, same_cells, solid_finest},
    oracle::Oracle,
};
use cutlink_voxelizer::{
    EmbedParams, Fill, LinkViolation, Mesh, MeshViolation, pack_cell, unpack_cell, validate,
};

const DEPTH: usize = 2;
const RAY: [i32; 3] = [-97, 411, 233];

/// An octahedron with a patch of its own for each half, oblique to the cells.
fn surface() -> Snapped<3> {
    let at = 8 * CELL + 37;
    let mut soup = Soup::default();
    for (i, f) in Bodies::cross([at; 3], [3 * CELL, 2 * CELL + 71, 3 * CELL + 5])
        .into_iter()
        .enumerate()
    {
        soup.facets.push((f, (i % 2) as u16));
    }
    soup.snapped(2)
}

fn sound() -> (Mesh<3>, Oracle<3>) {
    let surface = surface();
    let mesh = mesh(&surface, lattice_frame([24; 3], DEPTH), &levels(DEPTH));
    (mesh, Oracle::new(&surface, RAY))
}

/// The first array that differs; nothing if none does.
fn unlike(a: &Mesh<3>, b: &Mesh<3>) -> &'static str {
    same_mesh(a, b).map_or_else(|d| d.array, |()| "")
}

/// A copy with one thing wrong.
fn corrupted(mesh: &Mesh<3>, corrupt: impl FnOnce(&mut Mesh<3>)) -> Mesh<3> {
    let mut copy = mesh.download(&Host).expect("a copy should fit");
    corrupt(&mut copy);
    copy
}

/// Block of the middle row of the table, and its first boundary cell.
fn middle(mesh: &Mesh<3>) -> (usize, usize, u32) {
    let row = mesh.links.blocks.len() / 2;
    let block = mesh.links.blocks[row] as usize;
    (row, block, mesh.classes.boundary[block].trailing_zeros())
}

/// Takes one link out of the table, leaving the table well formed.
fn drop_link(mesh: &mut Mesh<3>, link: usize) {
    let links = &mut mesh.links;
    links.q.remove(link);
    if !links.patch.is_empty() {
        links.patch.remove(link);
    }
    for entry in &mut links.cells {
        let (directions, first) = unpack_cell(*entry);
        let count = u64::from(directions.count_ones());
        let at = link as u64;
        if first > at {
            *entry = pack_cell(directions, first - 1);
        } else if at < first + count {
            let mut rest = directions;
            for _ in first..at {
                rest &= rest - 1;
            }
            *entry = pack_cell(directions & !(rest & rest.wrapping_neg()), first);
        }
    }
}

/// A link of a cell that has several, whose other end is solid or fluid as asked.
fn link_to(mesh: &Mesh<3>, solid: bool) -> usize {
    use cutlink_amr::{CellRef, NeighborCell};
    for &block in &mesh.links.blocks {
        let mut rest = mesh.classes.boundary[block as usize];
        while rest != 0 {
            let cell = rest.trailing_zeros();
            rest &= rest - 1;
            let boundary = mesh.classes.boundary[block as usize];
            let Some((directions, first)) = mesh.links.cell(block, boundary, cell) else {
                continue;
            };
            let mut which = directions;
            for link in first.. {
                if which == 0 || directions.count_ones() < 2 {
                    break;
                }
                let direction = which.trailing_zeros() as usize;
                which &= which - 1;
                let to = mesh
                    .forest
                    .neighbor_cell(CellRef { block, cell }, direction);
                if let NeighborCell::Same(n) = to
                    && (mesh.classes.solid[n.block as usize] >> n.cell & 1 == 1) == solid
                {
                    return link as usize;
                }
            }
        }
    }
    panic!("the mesh should have such a link")
}

#[test]
fn the_sound_mesh_passes() {
    let (mesh, oracle) = sound();
    let copy = corrupted(&mesh, |_| ());
    assert_eq!(validate(&copy), Ok(()), "validate");
    assert_eq!(same_mesh(&mesh, &copy), Ok(()), "arrays");
    assert_eq!(same_cells(&cells(&mesh), &cells(&copy)), Ok(()), "cells");
    let seen = against_oracle(&copy, DEPTH, &oracle).expect("oracle");
    assert!(seen.links > 300 && seen.solid > 20, "{seen:?}");
    solid_finest(&copy, DEPTH, &oracle).expect("count");
}

/// Every array that the comparator of two meshes goes through, damaged, shortened and lengthened.
#[test]
fn every_array_is_compared() {
    type Damage = (&'static str, fn(&mut Mesh<3>));
    fn bit<T: Copy + std::ops::BitXorAssign + From<u8>>(of: &mut [T]) {
        let middle = of.len() / 2;
        of[middle] ^= T::from(1);
    }
    let damages: [Damage; 28] = [
        ("frame", |m| m.frame.dx *= 1.0 + f64::EPSILON),
        ("root", |m| m.forest.root[2] += 1),
        ("level", |m| bit(&mut m.forest.level)),
        ("coord", |m| m.forest.coord[9][2] += 1),
        ("parent", |m| bit(&mut m.forest.parent)),
        ("first child", |m| bit(&mut m.forest.first_child)),
        ("families", |m| bit(&mut m.forest.families)),
        ("families", |m| m.forest.families.truncate(64)),
        ("levels", |m| m.forest.levels.push(Vec::new())),
        ("levels", |m| m.forest.levels[1].swap(3, 4)),
        ("gaps", |m| m.forest.gaps.push(64)),
        ("solid", |m| bit(&mut m.classes.solid)),
        ("solid", |m| m.classes.solid.push(0)),
        ("boundary", |m| bit(&mut m.classes.boundary)),
        ("ghost", |m| bit(&mut m.classes.ghost)),
        ("interface", |m| bit(&mut m.classes.interface)),
        ("link blocks", |m| bit(&mut m.links.blocks)),
        ("link rows", |m| bit(&mut m.links.row_of)),
        ("link cell starts", |m| bit(&mut m.links.cell_start)),
        ("link cells", |m| bit(&mut m.links.cells)),
        ("link cells", |m| m.links.cells.truncate(7)),
        ("link distances", |m| {
            m.links.q[5] = f32::from_bits(m.links.q[5].to_bits() ^ 1)
        }),
        ("link distances", |m| m.links.q[5] = f32::NAN),
        ("link patches", |m| bit(&mut m.links.patch)),
        ("link patches", |m| m.links.patch.clear()),
        ("patches", |m| m.patches.push("one more".into())),
        ("fill", |m| m.fill = m.fill.complement()),
        ("graded", |m| m.graded = !m.graded),
    ];
    let (mesh, _) = sound();
    for (array, damage) in damages {
        let found = unlike(&mesh, &corrupted(&mesh, damage));
        assert_eq!(found, array, "where that is damaged");
    }
    let shorter = corrupted(&mesh, |m| m.forest.level.truncate(3));
    assert_eq!(unlike(&mesh, &shorter), "level", "a shorter one");
}

#[test]
fn one_solid_bit() {
    let (mesh, oracle) = sound();
    // A different cell each, at any place in the mesh.
    for block in (0..mesh.forest.capacity()).step_by(29) {
        let cell = block * 7 % 64;
        let bad = corrupted(&mesh, |m| m.classes.solid[block] ^= 1 << cell);
        let found = against_oracle(&bad, DEPTH, &oracle);
        assert!(matches!(found, Err(Mismatch::Solid { .. })), "{found:?}");
        assert_eq!(unlike(&mesh, &bad), "solid");
        if mesh.forest.is_leaf(block as u32) {
            let found = solid_finest(&bad, DEPTH, &oracle);
            assert!(
                matches!(found, Err(Mismatch::SolidFinest { .. })),
                "{found:?}"
            );
            assert!(same_cells(&cells(&mesh), &cells(&bad)).is_err(), "cells");
            assert_ne!(mesh.checksum(), bad.checksum(), "checksum");
            assert!(
                validate(&bad).is_err(),
                "a lone solid or fluid cell has no cuts"
            );
        }
    }
}

#[test]
fn a_leaf_that_is_not_uniform() {
    let nothing = Soup::<3>::default().snapped(1);
    let empty = mesh(&nothing, lattice_frame([4; 3], 3), &levels(3));
    // A speck around one finest centre, off all links of the leaf's cells.
    let at = [8, 9, 8].map(|c| c * CELL + CELL / 2);
    let speck = Bodies::cross(at, [9; 3]).into_iter();
    let soup = Soup {
        facets: speck.map(|f| (f, 0)).collect(),
    };
    let oracle = Oracle::new(&soup.snapped(1), RAY);
    let found = against_oracle(&empty, 3, &oracle);
    let expected = Err(Mismatch::NotUniform { cell: (0, [2; 3]) });
    assert_eq!(found, expected, "only finer centres see it");
    let found = solid_finest(&empty, 3, &oracle);
    let expected = Err(Mismatch::SolidFinest { mesh: 0, oracle: 1 });
    assert_eq!(found, expected, "one centre");
}

/// A mesh of sheets has a wall at every facet: what links between two kinds of fluid were cut at, until they were cut
/// where the kind changes.
#[test]
fn a_wall_inside_of_the_fluid() {
    let outer = Bodies::cuboid([-CELL; 3], [9 * CELL; 3]);
    let inner = Bodies::cuboid([2 * CELL + 9; 3], [5 * CELL - 7; 3]);
    let soup = Soup {
        facets: outer.into_iter().chain(inner).map(|f| (f, 0)).collect(),
    };
    let surface = soup.snapped(1);
    let params = |fill| EmbedParams { fill, ..levels(1) };
    let made = |fill| mesh(&surface, lattice_frame([8; 3], 1), &params(fill));
    let oracle = Oracle::new(&surface, RAY);
    let seen = against_oracle(&made(Fill::Zero), 1, &oracle).expect("a mesh as it should be");
    assert!(seen.links == 0 && seen.passed > 100, "{seen:?}");
    let sheets = corrupted(&made(Fill::Sheets), |m| m.fill = Fill::Zero);
    validate(&sheets).expect("well formed");
    let found = against_oracle(&sheets, 1, &oracle);
    assert!(
        matches!(found, Err(Mismatch::Existence { mesh: true, .. })),
        "{found:?}"
    );
}

#[test]
fn a_missing_link() {
    let (mesh, oracle) = sound();
    let bad = corrupted(&mesh, |m| drop_link(m, link_to(&mesh, true)));
    let found = validate(&bad);
    assert!(
        matches!(found, Err(MeshViolation::MissingLink { .. })),
        "{found:?}"
    );
    let found = against_oracle(&bad, DEPTH, &oracle);
    assert!(
        matches!(found, Err(Mismatch::Existence { mesh: false, .. })),
        "{found:?}"
    );
    assert!(same_cells(&cells(&mesh), &cells(&bad)).is_err(), "cells");
    assert_ne!(mesh.checksum(), bad.checksum(), "checksum");
}

#[test]
fn a_thin_wall_seen_from_one_side() {
    let (mesh, oracle) = sound();
    let bad = corrupted(&mesh, |m| drop_link(m, link_to(&mesh, false)));
    let found = validate(&bad);
    assert!(
        matches!(found, Err(MeshViolation::LoneLink { .. })),
        "{found:?}"
    );
    let found = against_oracle(&bad, DEPTH, &oracle);
    assert!(
        matches!(found, Err(Mismatch::Existence { mesh: false, .. })),
        "{found:?}"
    );
}

#[test]
fn a_link_too_many() {
    let (mesh, oracle) = sound();
    // Turn one cut into a direction that is none by moving its bit.
    let (row, block, cell) = middle(&mesh);
    let entry = mesh.links.cell_start[row] as usize;
    let (directions, first) = unpack_cell(mesh.links.cells[entry]);
    let free = (0..27)
        .find(|d| directions >> d & 1 == 0 && *d != 13)
        .expect("a free direction");
    let moved = directions & (directions - 1) | 1 << free;
    let bad = corrupted(&mesh, |m| m.links.cells[entry] = pack_cell(moved, first));
    let found = against_oracle(&bad, DEPTH, &oracle);
    assert!(found.is_err(), "block {block} cell {cell}: {found:?}");
    assert!(validate(&bad).is_err(), "block {block} cell {cell}");
}

#[test]
fn a_distance_by_two_units_in_the_last_place() {
    let (mesh, oracle) = sound();
    let link = mesh
        .links
        .q
        .iter()
        .position(|&q| q < 0.9)
        .expect("some are shorter");
    let bad = corrupted(&mesh, |m| {
        let q = &mut m.links.q[link];
        *q = f32::from_bits(q.to_bits() + 3);
    });
    let found = against_oracle(&bad, DEPTH, &oracle);
    assert!(matches!(found, Err(Mismatch::Distance { .. })), "{found:?}");
    assert_eq!(unlike(&mesh, &bad), "link distances");
    assert!(same_cells(&cells(&mesh), &cells(&bad)).is_err(), "cells");
    assert_ne!(mesh.checksum(), bad.checksum(), "checksum");
}

#[test]
fn distances_and_patches_out_of_range() {
    let (mesh, oracle) = sound();
    let link = mesh.links.q.len() / 2;
    for q in [
        0.0,
        -0.5,
        f32::from_bits(1.0f32.to_bits() + 1),
        2.0,
        f32::NAN,
        f32::INFINITY,
    ] {
        let bad = corrupted(&mesh, |m| m.links.q[link] = q);
        let found = validate(&bad);
        assert!(
            matches!(
                found,
                Err(MeshViolation::Links(LinkViolation::Distance { .. }))
            ),
            "{q}: {found:?}"
        );
        assert!(against_oracle(&bad, DEPTH, &oracle).is_err(), "{q}");
    }
    let bad = corrupted(&mesh, |m| m.links.patch[link] = 2);
    let found = validate(&bad);
    assert!(
        matches!(
            found,
            Err(MeshViolation::Links(LinkViolation::Patch {
                patch: 2,
                patches: 2,
                ..
            }))
        ),
        "{found:?}"
    );

    let bad = corrupted(&mesh, |m| m.links.patch[link] ^= 1);
    assert_eq!(
        validate(&bad),
        Ok(()),
        "another patch is possible, but not right"
    );
    let found = against_oracle(&bad, DEPTH, &oracle);
    assert!(matches!(found, Err(Mismatch::Patch { .. })), "{found:?}");
    assert_eq!(unlike(&mesh, &bad), "link patches");
    assert_ne!(mesh.checksum(), bad.checksum(), "checksum");
}

#[test]
fn one_cell_alone() {
    let (mesh, oracle) = sound();
    let (_, block, cell) = middle(&mesh);
    let boundary = mesh.classes.boundary[block];
    let block = block as u32;
    let (_, first) = mesh.links.cell(block, boundary, cell).expect("links");
    let coord = mesh.forest.cell_coord(cutlink_amr::CellRef { block, cell });
    let place = (usize::from(mesh.forest.level[block as usize]), coord);
    let seen = cell_against_oracle(&mesh, DEPTH, &oracle, place).expect("oracle");
    assert!(seen.links > 0, "{seen:?}");
    let right = mesh.links.q[first as usize];
    for q in [0.9 * right, f32::NAN] {
        let bad = corrupted(&mesh, |m| m.links.q[first as usize] = q);
        let found = cell_against_oracle(&bad, DEPTH, &oracle, place);
        assert!(
            matches!(found, Err(Mismatch::Distance { .. })),
            "{q}: {found:?}"
        );
    }
}

#[test]
fn masks_that_contradict() {
    let (mesh, _) = sound();
    let (_, block, cell) = middle(&mesh);
    let rim = mesh
        .classes
        .ghost
        .iter()
        .position(|&g| g != 0)
        .expect("levels end somewhere");
    let plain = (0..mesh.forest.capacity())
        .find(|&b| mesh.forest.is_leaf(b as u32) && mesh.classes.boundary[b] == 0)
        .expect("a leaf without links");
    let refined = (0..mesh.forest.capacity())
        .find(|&b| !mesh.forest.is_leaf(b as u32))
        .expect("a refined block");
    let flips: [(&str, Mesh<3>); 7] = [
        (
            "solid",
            corrupted(&mesh, |m| m.classes.solid[block] |= 1 << cell),
        ),
        (
            "boundary",
            corrupted(&mesh, |m| m.classes.boundary[plain] |= 1),
        ),
        (
            "boundary",
            corrupted(&mesh, |m| m.classes.boundary[refined] |= 1),
        ),
        (
            "ghost",
            corrupted(&mesh, |m| m.classes.ghost[rim] ^= 1 << 21),
        ),
        (
            "ghost",
            corrupted(&mesh, |m| m.classes.ghost[plain] ^= 1 << 63),
        ),
        (
            "interface",
            corrupted(&mesh, |m| m.classes.interface[rim] ^= 1 << 42),
        ),
        ("ghost", corrupted(&mesh, |m| m.classes.ghost[rim] = 0)),
    ];
    for (i, (name, bad)) in flips.iter().enumerate() {
        match validate(bad) {
            // Its fluid neighbours, checked before it, miss their cuts.
            Err(MeshViolation::MissingLink { .. }) if *name == "solid" => {}
            Err(MeshViolation::Mask { mask, .. }) => assert_eq!(mask, *name, "case {i}"),
            // A wrong number of boundary cells also breaks the block's row.
            Err(MeshViolation::Links(LinkViolation::Cells { .. })) if *name == "boundary" => {}
            other => panic!("case {i}, {name}: {other:?}"),
        }
        assert_ne!(unlike(&mesh, bad), "", "case {i}");
    }
}

#[test]
fn tables_that_do_not_fit() {
    let (mesh, _) = sound();
    let (row, block, _) = middle(&mesh);
    let start = mesh.links.cell_start[row] as usize;
    let bad: [Mesh<3>; 9] = [
        corrupted(&mesh, |m| {
            m.links.q.pop();
        }),
        corrupted(&mesh, |m| {
            m.links.patch.pop();
        }),
        corrupted(&mesh, |m| {
            m.links.cells.pop();
        }),
        corrupted(&mesh, |m| m.links.cell_start[row] += 1),
        corrupted(&mesh, |m| m.links.row_of[block] = u32::MAX),
        corrupted(&mesh, |m| m.links.blocks.swap(row, row + 1)),
        corrupted(&mesh, |m| m.links.cells.swap(start, start + 1)),
        corrupted(&mesh, |m| m.links.cells[start] |= 1 << 13),
        corrupted(&mesh, |m| {
            m.classes.solid.pop();
        }),
    ];
    for (i, bad) in bad.iter().enumerate() {
        assert!(validate(bad).is_err(), "case {i}");
    }
}

#[test]
fn forests_that_are_not_sound() {
    let (mesh, _) = sound();
    let last = mesh.forest.capacity() - 1;
    let place = mesh.forest.families.len() - 1;
    let bad: [Mesh<3>; 4] = [
        corrupted(&mesh, |m| m.forest.coord[last][0] += 1),
        corrupted(&mesh, |m| m.forest.level[last] -= 1),
        corrupted(&mesh, |m| m.forest.families[place] = 0),
        corrupted(&mesh, |m| m.forest.parent[last] = 0),
    ];
    for (i, bad) in bad.iter().enumerate() {
        let found = validate(bad);
        assert!(
            matches!(found, Err(MeshViolation::Forest(_))),
            "case {i}: {found:?}"
        );
    }
}

#[test]
fn another_order_of_ids_differs_in_arrays_only() {
    // Splitting faces changes no array but must not go unnoticed by a wrong map.
    let even = map_lattice(&surface(), |p| p.map(|c| c & !1));
    let split = split_in_four(&even);
    assert_eq!(split.facets.len(), 4 * even.facets.len(), "four each");
    let frame = lattice_frame([24; 3], DEPTH);
    let a = mesh(&even, frame, &levels(DEPTH));
    let b = mesh(&split, frame, &levels(DEPTH));
    assert_eq!(
        same_cells(&cells(&a), &cells(&b)),
        Ok(()),
        "the same surface"
    );
    let moved = map_lattice(&even, |p| [p[0] + 1, p[1], p[2]]);
    let c = mesh(&moved, frame, &levels(DEPTH));
    assert!(same_cells(&cells(&a), &cells(&c)).is_err(), "one unit away");
    assert_ne!(a.checksum(), c.checksum(), "one unit away");
}
