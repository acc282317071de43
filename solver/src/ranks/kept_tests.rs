//! What ranks step and exchange of levels whose cells keep moments, against the neighbours of every cell. The kernels that
//! read them are on GPUs.

use super::{
    part::{Outline, Whole, halo},
    partition::Partition,
};
use crate::{
    FaceCondition,
    constants::kept::STEPPED,
    kernels::cpu::fixture,
    lattice::{D3Q19, D3Q27, Lattice},
    run::kept::place,
    tables::{Built, KEPT, Level},
};
use cutlink_amr::{NONE, dims};
use cutlink_device::Host;
use cutlink_mesher::primitives::Shape3;
use std::collections::BTreeSet;

const D: usize = 3;
const CELLS: usize = 64;

/// A sphere on two levels, each in the order of moments, on three ranks without any order.
fn whole<L: Lattice>() -> Whole<D> {
    let sphere = Shape3::Sphere { radius: 3.0 }.surface(1e-2);
    let faces = [
        [FaceCondition::FreeSlip; 2],
        [FaceCondition::Periodic; 2],
        [FaceCondition::Periodic; 2],
    ];
    let mut built = fixture::levels::<D, L>(&sphere.expect("a sphere"), 12, 2, faces);
    for of_level in &mut built {
        let tiling = of_level.tiling();
        of_level.tile(tiling);
    }
    let partition = Partition::of(&built, 3, |level, slot| {
        ((slot as u32).wrapping_mul(2_654_435_761) >> 20).wrapping_add(level as u32) % 3
    });
    Whole::new(built, partition)
}

/// Where the cells of plain blocks of a rank's own read what cells of other ranks keep: places in the rank's buffer.
fn read<L: Lattice>(level: &Level<D, Host>) -> BTreeSet<u64> {
    let mut read = BTreeSet::new();
    let own = level.halo.own().into_iter().flatten();
    for slot in own.filter(|&slot| slot >= level.special) {
        for (cell, c) in (0..CELLS).flat_map(|cell| L::C[..L::Q].iter().map(move |c| (cell, c))) {
            let local = dims::unravel::<D>(cell, 4);
            let from: [i32; D] = std::array::from_fn(|a| local[a] - c[a]);
            let toward = dims::direction::<D>(from.map(|x| x >> 2));
            let next = level.neighbors[slot * 27 + toward] as usize;
            assert!(next < level.slots, "a plain block has all neighbours");
            if level.halo.contains(next) {
                let cell = dims::ravel::<D>(from.map(|x| x & 3), 4);
                let first = level.populated * L::Q * CELLS + next * KEPT * CELLS;
                read.extend((0..KEPT).map(|value| (first + place::<D>(value, cell)) as u64));
            }
        }
    }
    read
}

/// A place in a rank's buffer as one of the whole flow: its slot, where in it, and whether of what cells keep.
fn of_whole<L: Lattice>(
    outline: &Outline,
    level: &Level<D, Host>,
    place: u64,
) -> (u32, usize, bool) {
    let (kept_from, place) = (level.populated * L::Q * CELLS, place as usize);
    match place.checked_sub(kept_from) {
        Some(kept) => (
            outline.slots[kept / (KEPT * CELLS)],
            kept % (KEPT * CELLS),
            true,
        ),
        None => (
            outline.slots[place / (L::Q * CELLS)],
            place % (L::Q * CELLS),
            false,
        ),
    }
}

fn check_messages<L: Lattice>() {
    let whole = whole::<L>();
    for level in 0..2 {
        let outlines: Vec<&Outline> = whole.outlines.iter().map(|of| &of[level]).collect();
        let owners = whole.partition.owners(level);
        let parts: Vec<Built<D>> = outlines
            .iter()
            .map(|outline| whole.level(level).tables(outline).expect("tables"))
            .collect();
        let lists: Vec<_> = (0..3)
            .map(|rank| {
                let halo = halo::<D, L, f64, Host>(&outlines, owners, rank, &Host);
                halo.expect("lists").populations.expect("messages")
            })
            .collect();
        for (rank, (part, lists)) in parts.iter().zip(&lists).enumerate() {
            let kept_from = (part.level.populated * L::Q * CELLS) as u64;
            let received = lists.receive.places.iter().copied();
            let received: BTreeSet<u64> = received.filter(|&place| place >= kept_from).collect();
            let read = read::<L>(&part.level);
            assert!(!read.is_empty(), "something is read");
            assert!(received == read, "rank {rank}: what is read of others");
        }
        // What one sends is what the other receives, in the same order.
        let numbers = |rank: usize, sends: bool, other: usize| {
            let places = match sends {
                true => &lists[rank].send,
                false => &lists[rank].receive,
            };
            let shares = places.shares.iter().filter(|(of, _)| *of == other);
            let places = shares.flat_map(|(_, range)| &places.places[range.clone()]);
            let name = |&at| of_whole::<L>(outlines[rank], &parts[rank].level, at);
            places.map(name).collect::<Vec<_>>()
        };
        for (from, to) in (0..3).flat_map(|from| (0..3).map(move |to| (from, to))) {
            if from != to {
                let sent = numbers(from, true, to);
                assert!(sent == numbers(to, false, from), "{from} to {to}");
                assert!(sent.iter().all(|of| owners[of.0 as usize] == from as u32));
            }
        }
    }
}

#[test]
fn plain_blocks_receive_what_the_cells_beside_them_keep() {
    check_messages::<D3Q19>();
    check_messages::<D3Q27>();
}

#[test]
fn ranks_step_each_plain_block_once_with_its_neighbors() {
    let whole = whole::<D3Q19>();
    let mut whole_tiles = 0;
    for level in 0..2 {
        let all = whole.level(level);
        let mut times = vec![0; all.built.level.slots];
        for outlines in &whole.outlines {
            let outline = &outlines[level];
            let part = all.tables(outline).expect("tables").level;
            assert!(part.keeps_moments && part.populated <= part.slots);
            for tile in part.tiles.chunks_exact(CELLS) {
                let steps = |entry: u32| entry != NONE && entry & STEPPED != 0;
                assert!(tile.iter().any(|&entry| steps(entry)), "an idle tile");
                whole_tiles += usize::from(tile.iter().filter(|&&e| steps(e)).count() == 8);
                for (at, &entry) in tile.iter().enumerate().filter(|(_, entry)| steps(**entry)) {
                    let slot = (entry & !STEPPED) as usize;
                    times[outline.slots[slot] as usize] += 1;
                    assert!(!part.halo.contains(slot), "a block of another rank");
                    let inner = dims::unravel::<D>(at, 4);
                    for direction in 0..27 {
                        let toward = dims::unravel::<D>(direction, 3);
                        let there = std::array::from_fn(|a| inner[a] + toward[a] - 1);
                        let found = tile[dims::ravel::<D>(there, 4)] & !STEPPED;
                        assert_eq!(found, part.neighbors[slot * 27 + direction]);
                    }
                }
            }
        }
        let special = all.built.level.special;
        assert!(times[..special].iter().all(|&n| n == 0));
        assert!(times[special..].iter().all(|&n| n == 1));
        assert!(special < times.len(), "level {level} has plain blocks");
    }
    // Cut at random, hardly any tile is of one rank.
    assert!(whole_tiles < 10, "{whole_tiles} tiles");
}
