//! The tables of a level: which blocks have slots, in what order, and what is in and around them.

use crate::{
    SolverError,
    constants::slot::{EXCHANGES, HAS_SLOT, IS_SPECIAL, OVERLAP},
    tables::{Cuts, Places, Slots, WallSlots, around},
};
use cutlink_amr::{NONE, OUTSIDE, dims};
use cutlink_device::{Host, scan};
use cutlink_voxelizer::{Mesh, pack_cell, unpack_cell};
use rayon::prelude::*;

/// Slots whose links are copied by one task.
const CHUNK: usize = 1 << 10;

fn kind_of<const D: usize>(
    mesh: &Mesh<D>,
    periodic: [bool; D],
    id: u32,
) -> Result<u8, SolverError> {
    let forest = &mesh.forest;
    let is_leaf = forest.is_leaf(id);
    let (mut to_leaf, mut to_refined, mut to_solid, mut ends) = (false, false, false, false);
    for direction in 0..dims::directions(D) {
        let next = around(mesh, periodic, id, direction)?;
        if next >= OUTSIDE {
            ends = true;
            continue;
        }
        let next_is_leaf = forest.is_leaf(next);
        to_leaf |= next_is_leaf;
        to_refined |= !next_is_leaf;
        to_solid |= mesh.classes.solid[next as usize] != 0;
    }
    let is_overlap = !is_leaf && to_leaf;
    let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
    let is_special = ends || to_solid || mesh.classes.boundary[id as usize] != 0;
    Ok(flag(HAS_SLOT, is_leaf || is_overlap)
        | flag(OVERLAP, is_overlap)
        | flag(EXCHANGES, is_overlap || to_refined)
        | flag(IS_SPECIAL, is_special))
}

/// The kinds of some blocks; the error is that of the first block that has one.
fn kinds<const D: usize>(
    mesh: &Mesh<D>,
    periodic: [bool; D],
    ids: &[u32],
) -> Result<Vec<u8>, SolverError> {
    let kind = |&id: &u32| kind_of(mesh, periodic, id);
    let found: Result<Vec<u8>, SolverError> = ids.par_iter().map(kind).collect();
    found.or_else(|_| ids.iter().map(kind).collect())
}

pub(super) fn slots<const D: usize>(
    mesh: &Mesh<D>,
    periodic: [bool; D],
    level: usize,
    children: &[u32],
    slot_of: &mut [u32],
) -> Result<Slots<Host>, SolverError> {
    let ids = &mesh.forest.levels[level];
    let kinds = kinds(mesh, periodic, ids)?;
    for (slot, &id) in children.iter().enumerate() {
        slot_of[id as usize] = slot as u32;
    }
    let places: Vec<u32> = (0..ids.len() as u32).collect();
    let own = |of: u8| {
        let is_own = |place: u32| {
            let kind = kinds[place as usize];
            kind & HAS_SLOT != 0
                && slot_of[ids[place as usize] as usize] == NONE
                && match kind & (EXCHANGES | IS_SPECIAL) {
                    0 => of == 0,
                    IS_SPECIAL => of == IS_SPECIAL,
                    _ => of == EXCHANGES,
                }
        };
        let found = scan::select(&places, is_own);
        found
            .into_par_iter()
            .map(|place| ids[place as usize])
            .collect::<Vec<u32>>()
    };
    let [exchange, wall, plain] = [EXCHANGES, IS_SPECIAL, 0].map(own);
    let exchanging = children.len() + exchange.len();
    let special = exchanging + wall.len();
    let blocks = [children, &exchange, &wall, &plain].concat();
    for (slot, &id) in blocks.iter().enumerate().skip(children.len()) {
        slot_of[id as usize] = slot as u32;
    }
    let mut overlap_of = vec![NONE; exchanging];
    let overlaps = ids
        .iter()
        .zip(&kinds)
        .filter(|(_, kind)| **kind & OVERLAP != 0);
    for (id, _) in overlaps {
        overlap_of[slot_of[*id as usize] as usize] = 0;
    }
    let exchanging_slots: Vec<u32> = (0..exchanging as u32).collect();
    let overlaps = scan::select(&exchanging_slots, |slot| overlap_of[slot as usize] == 0);
    for (place, &slot) in overlaps.iter().enumerate() {
        overlap_of[slot as usize] = place as u32;
    }
    let group = |&slot: &u32| {
        let first = mesh.forest.first_child[blocks[slot as usize] as usize];
        first..first + dims::children(D) as u32
    };
    Ok(Slots {
        exchanging,
        special,
        children: overlaps.iter().flat_map(group).collect(),
        overlaps,
        overlap_of,
        blocks,
    })
}

pub(super) fn places<const D: usize>(
    mesh: &Mesh<D>,
    periodic: [bool; D],
    blocks: &[u32],
    slot_of: &[u32],
) -> Places<D, Host> {
    let (forest, classes) = (&mesh.forest, &mesh.classes);
    let neighbors = match D {
        2 => neighbors::<D, 9>(mesh, periodic, blocks, slot_of),
        _ => neighbors::<D, 27>(mesh, periodic, blocks, slot_of),
    };
    let [stepped, solid] = masks(mesh, blocks);
    let ghost = |&id: &u32| match forest.is_leaf(id) {
        true => classes.ghost[id as usize],
        false => 0,
    };
    Places {
        coord: blocks
            .par_iter()
            .map(|&id| forest.coord[id as usize])
            .collect(),
        neighbors,
        stepped,
        solid,
        ghost: blocks.par_iter().map(ghost).collect(),
    }
}

/// Cells to step and solid cells of blocks.
pub(super) fn masks<const D: usize>(mesh: &Mesh<D>, blocks: &[u32]) -> [Vec<u64>; 2] {
    let stepped = blocks.par_iter().map(|&id| stepped(mesh, id));
    let solid = blocks.par_iter().map(|&id| mesh.classes.solid[id as usize]);
    [stepped.collect(), solid.collect()]
}

/// By slot, the slots around it: N directions. Rows are written by all threads, so that their memory is mapped by all.
fn neighbors<const D: usize, const N: usize>(
    mesh: &Mesh<D>,
    periodic: [bool; D],
    blocks: &[u32],
    slot_of: &[u32],
) -> Vec<u32> {
    let row = |&id: &u32| -> [u32; N] {
        std::array::from_fn(|direction| match around(mesh, periodic, id, direction) {
            Ok(next) if next < OUTSIDE => slot_of[next as usize],
            Ok(none) => none,
            Err(_) => {
                unreachable!("what lies around the level's blocks was found before (`kinds`)")
            }
        })
    };
    let rows: Vec<[u32; N]> = blocks.par_iter().map(row).collect();
    rows.into_flattened()
}

/// Cells that a level steps itself.
fn stepped<const D: usize>(mesh: &Mesh<D>, id: u32) -> u64 {
    let fluid = dims::full_mask(D) & !mesh.classes.solid[id as usize];
    let first = mesh.forest.first_child[id as usize];
    if first == NONE {
        return fluid;
    }
    (0..dims::cells(D))
        .filter(|&cell| {
            let (child, corner) = dims::below(dims::unravel::<D>(cell, 4), [0; D]);
            let corner = dims::ravel::<D>(corner, 4);
            mesh.classes.ghost[first as usize + child] >> corner & 1 == 1
        })
        .fold(0, |mask, cell| mask | 1 << cell)
        & fluid
}

/// The entries of a block's cut cells in the mesh's table, and its links.
fn row_of<const D: usize>(
    mesh: &Mesh<D>,
    id: u32,
) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let table = &mesh.links;
    let row = table.row_of.get(id as usize).copied().unwrap_or(NONE);
    if row == NONE || !mesh.forest.is_leaf(id) {
        return (0..0, 0..0);
    }
    let [from, to] = [0, 1].map(|n| table.cell_start[row as usize + n] as usize);
    let link = |entry: usize| {
        let cell = table.cells.get(entry);
        cell.map_or(table.q.len(), |&cell| unpack_cell(cell).1 as usize)
    };
    (from..to, link(from)..link(to))
}

pub(crate) fn cuts<const D: usize>(mesh: &Mesh<D>, blocks: &[u32]) -> Cuts<Host> {
    let table = &mesh.links;
    let sizes = |blocks: &[u32]| {
        let rows = blocks.iter().map(|&id| row_of(mesh, id));
        rows.fold((0, 0), |sum, (cells, links)| {
            (sum.0 + cells.len(), sum.1 + links.len())
        })
    };
    let sizes: Vec<(usize, usize)> = blocks.par_chunks(CHUNK).map(sizes).collect();
    let mut starts = Vec::new();
    let (mut cells, mut links) = (0, 0);
    for size in sizes {
        starts.push((cells, links));
        (cells, links) = (cells + size.0, links + size.1);
    }
    let copy = |(blocks, &(mut cells, mut links)): (&[u32], &(usize, usize))| {
        let mut part = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for &id in blocks {
            let (entries, of) = row_of(mesh, id);
            let boundary = match entries.is_empty() {
                true => 0,
                false => mesh.classes.boundary[id as usize],
            };
            part.0.push(boundary);
            part.1.push(cells as u32);
            cells += entries.len();
            for &cell in &table.cells[entries] {
                let (mask, first) = unpack_cell(cell);
                part.2
                    .push(pack_cell(mask, first - of.start as u64 + links as u64));
            }
            links += of.len();
            part.3.extend_from_slice(&table.q[of.clone()]);
            let patch = |at: usize| table.patch.get(at).copied().unwrap_or(0);
            part.4.extend(of.map(patch));
        }
        part
    };
    let parts: Vec<_> = blocks.par_chunks(CHUNK).zip(&starts).map(copy).collect();
    let mut all = Cuts::<Host> {
        boundary: Vec::with_capacity(blocks.len()),
        cell_start: Vec::with_capacity(blocks.len()),
        cells: Vec::with_capacity(cells),
        q: Vec::with_capacity(links),
        patch: Vec::with_capacity(links),
    };
    for (boundary, cell_start, cells, q, patch) in parts {
        all.boundary.extend(boundary);
        all.cell_start.extend(cell_start);
        all.cells.extend(cells);
        all.q.extend(q);
        all.patch.extend(patch);
    }
    all
}

pub(crate) fn walls<const D: usize>(
    boundary: &[u64],
    neighbors: &[u32],
    solid: &[u64],
    exchanging: usize,
) -> WallSlots<Host> {
    let slots: Vec<u32> = (0..boundary.len() as u32).collect();
    let around = |slot: u32| -> &[u32] {
        let first = slot as usize * dims::directions(D);
        &neighbors[first..first + dims::directions(D)]
    };
    let has_links = |slot: u32| boundary[slot as usize] != 0;
    let is_at_face = |slot: u32| around(slot).contains(&OUTSIDE);
    let has_solid = |slot: u32| {
        let mask = |next: &u32| solid.get(*next as usize);
        around(slot).iter().filter_map(mask).any(|&mask| mask != 0)
    };
    let has_one_face = |slot: u32| {
        let outside = around(slot).iter().filter(|next| **next == OUTSIDE);
        let is_alone = around(slot).iter().all(|&next| next != NONE);
        let is_pure = slot as usize >= exchanging && is_alone && !has_solid(slot);
        is_pure && !has_links(slot) && outside.count() == dims::directions(D - 1)
    };
    let is_cut = |slot: u32| has_links(slot) || has_solid(slot);
    WallSlots {
        linked: scan::select(&slots, has_links),
        walled: scan::select(&slots, |slot| has_links(slot) || is_at_face(slot)),
        faced: scan::select(&slots, has_one_face),
        bounded: scan::select(&slots, |slot| is_at_face(slot) && !has_one_face(slot)),
        cut: scan::select(&slots, |slot| !is_at_face(slot) && is_cut(slot)),
        open: scan::select(&slots, |slot| !is_at_face(slot) && !is_cut(slot)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        FaceCondition,
        kernels::cpu::fixture,
        lattice::{D2Q9, D3Q19},
        tables::Level,
    };
    use cutlink_mesher::primitives::{Shape2, Shape3};
    use std::collections::BTreeSet;

    /// The lists against each slot's place in the box and what is around it; how many slots each of the four kinds has.
    fn check<const D: usize>(level: &Level<D, Host>) -> [usize; 4] {
        let set = |list: &[u32]| -> BTreeSet<usize> { list.iter().map(|&s| s as usize).collect() };
        let [linked, walled] = [&level.linked, &level.walled].map(|list| set(list));
        let kinds = [&level.faced, &level.bounded, &level.cut, &level.open].map(|list| set(list));
        for slot in 0..level.special {
            let places = &level.neighbors[slot * dims::directions(D)..][..dims::directions(D)];
            let coord = level.coord[slot];
            // By the place in the box: the faces that the block touches.
            let touched: usize = (0..D)
                .map(|a| {
                    let last = level.extent[a] / 4 - 1;
                    usize::from(coord[a] == 0) + usize::from(coord[a] == last)
                })
                .sum();
            let has_links = level.boundary[slot] != 0;
            let mut solid = false;
            for &next in places.iter().filter(|next| (**next as usize) < level.slots) {
                solid |= level.solid[next as usize] != 0;
            }
            let is_faced = touched == 1
                && !has_links
                && !solid
                && slot >= level.exchanging
                && !places.contains(&NONE);
            let is_walled = has_links || touched > 0;
            let is_bounded = touched > 0 && !is_faced;
            let is_cut = touched == 0 && (has_links || solid);
            assert_eq!(linked.contains(&slot), has_links, "links of {slot}");
            assert_eq!(walled.contains(&slot), is_walled, "walls of {slot}");
            let is_open = touched == 0 && !is_cut;
            let is = [is_faced, is_bounded, is_cut, is_open];
            assert_eq!(
                kinds.each_ref().map(|kind| kind.contains(&slot)),
                is,
                "{slot}"
            );
        }
        let counts = kinds.map(|kind| kind.len());
        assert_eq!(
            counts.iter().sum::<usize>(),
            level.special,
            "each in one list"
        );
        counts
    }

    #[test]
    fn special_slots_are_in_one_list_each() {
        let face = FaceCondition::Outflow;
        let circle = Shape2::Circle { radius: 1.1 };
        let circle = circle.surface(1e-2).expect("a circle");
        let plane = fixture::levels::<2, D2Q9>(&circle, 32, 3, [[face; 2]; 2]);
        let sphere = Shape3::Sphere { radius: 1.1 };
        let sphere = sphere.surface(1e-1).expect("a sphere");
        let space = fixture::levels::<3, D3Q19>(&sphere, 24, 3, [[FaceCondition::Outflow; 2]; 3]);
        let counts: Vec<_> = plane.iter().map(|built| check(&built.level)).collect();
        // Sixteen blocks along an edge: 4 times 14 at one face, 4 corners.
        assert_eq!([counts[0][0], counts[0][1]], [56, 4]);
        assert!(counts[2][2] > 0 && counts[1][3] > 0, "{counts:?}");
        let counts: Vec<_> = space.iter().map(|built| check(&built.level)).collect();
        // Twelve along an edge: 6 times 100, and 12 times 10 and 8 at edges and corners.
        assert_eq!([counts[0][0], counts[0][1]], [600, 128]);
        assert!(counts[2][2] > 0 && counts[1][3] > 0, "{counts:?}");
    }
}
