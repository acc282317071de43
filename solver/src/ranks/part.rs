//! A rank's tables: its own slots, those around them (the *halo*), and the places of what it exchanges with other ranks.
//!
//! Slots of a rank are in the order of the whole flow's, but for this: behind each class (exchanging, special, plain with
//! populations, plain without) come the halo's slots of that class, which are not stepped.

use super::{
    halo::{Halo, HaloLists},
    partition::Partition,
};
use crate::{
    Params, SolverError,
    constants::kept::STEPPED,
    kernels::{FlowKernels, exchanged},
    lattice::Lattice,
    run::kept,
    storage::Storage,
    tables::{Built, HaloRanges, KEPT, Level, Rule},
    wall_model::Modeled,
};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Backend, Host, Item};
use cutlink_voxelizer::{pack_cell, unpack_cell};
use rayon::prelude::*;
use std::{collections::BTreeMap, ops::Range};

/// Which slots of a level a rank has.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    /// By slot that of the whole flow.
    pub(crate) slots: Vec<u32>,
    /// Slots of other ranks.
    pub(crate) halo: HaloRanges,
    /// What each slot of the halo sends to the rank's own ones.
    needs: Vec<(u32, Needs)>,
    /// Slots of the halo beside the rank's own overlap blocks: their moments are what ghost cells are made of.
    beside_overlaps: Vec<u32>,
}

impl Outline {
    /// The rank's own slots: here, and in the whole flow.
    pub(crate) fn own(&self) -> impl Iterator<Item = (usize, usize)> {
        let own = self.halo.own().into_iter().flatten();
        own.map(|slot| (slot, self.slots[slot] as usize))
    }

    /// The rank's own slots among some of the whole flow, in their order.
    pub(crate) fn own_in(&self, whole: &Range<usize>) -> Vec<Range<usize>> {
        let within = |own: Range<usize>| {
            let slots = &self.slots[own.clone()];
            let before = |end: usize| own.start + slots.partition_point(|&s| (s as usize) < end);
            before(whole.start)..before(whole.end)
        };
        let all = self.halo.own().map(within);
        all.into_iter().filter(|slots| !slots.is_empty()).collect()
    }

    /// Whether populations come from other ranks, and moments.
    pub(crate) fn receives(&self) -> [bool; 2] {
        [!self.needs.is_empty(), !self.beside_overlaps.is_empty()]
    }

    /// With more slots behind it, of other ranks.
    pub(crate) fn and(&self, more: impl IntoIterator<Item = u32>) -> Self {
        let mut all = self.clone();
        all.slots.extend(more);
        all.halo.0[3].end = all.slots.len();
        all
    }

    /// By slot of the whole flow, of which there are so many, that of the rank, or [`NONE`].
    pub(crate) fn local(&self, slots: usize) -> Vec<u32> {
        let mut local = vec![NONE; slots];
        for (n, &slot) in (0..).zip(&self.slots) {
            local[slot as usize] = n;
        }
        local
    }
}

/// Slots in some ranges.
pub(crate) fn count(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(ExactSizeIterator::len).sum()
}

/// What a slot sends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Needs {
    /// Populations: see [`NEAR`].
    populations: u64,
    /// What cells keep, of those from which populations stream in these directions.
    kept: u64,
}

/// All populations of a slot.
const WHOLE: u64 = u64::MAX;

/// Populations that a slot sends, a bit each: from 0 on the directions of those that stream there; from here on the directions
/// of slots that read all populations of the cells within two of them.
const NEAR: usize = 27;

/// A level of the whole flow, and who has which slots.
pub(crate) struct WholeLevel<'a, const D: usize> {
    pub(crate) built: &'a Built<D>,
    pub(crate) owners: &'a [u32],
}

impl<const D: usize> WholeLevel<'_, D> {
    fn level(&self) -> &Level<D, Host> {
        &self.built.level
    }

    /// 3^D slots.
    pub(crate) fn neighbors(&self, slot: usize) -> &[u32] {
        let directions = dims::directions(D);
        &self.level().neighbors[slot * directions..][..directions]
    }

    /// The halo of a rank, in ascending order, and what its slots are to send: what streams into own slots, to plain ones whose
    /// cells keep moments these; to those at walls and faces, whose conditions read two cells deep, all that is near; and where
    /// walls are modelled everything.
    fn needs(&self, rank: u32) -> Vec<(u32, Needs)> {
        let (level, dragged) = (self.level(), &self.level().modeled.dragged);
        let is_modeled = !level.modeled.cells.is_empty();
        let mut needs = vec![Needs::default(); level.slots];
        let own = |&slot: &usize| self.owners[slot] == rank;
        for slot in (0..level.slots).filter(own) {
            let is_dragged = dragged.binary_search_by_key(&(slot as u32), |cell| cell.slot);
            let is_walled = level.walled.binary_search(&(slot as u32)).is_ok();
            let is_whole = is_dragged.is_ok() || is_walled && is_modeled;
            let reads_kept = level.keeps_moments && slot >= level.special;
            for (direction, &next) in self.neighbors(slot).iter().enumerate() {
                if (next as usize) < level.slots && self.owners[next as usize] != rank {
                    let back = dims::directions(D) - 1 - direction;
                    let near = u64::from(is_walled) << (NEAR + back);
                    let needs = &mut needs[next as usize];
                    match reads_kept {
                        true => needs.kept |= 1 << back,
                        false if is_whole => needs.populations = WHOLE,
                        false => needs.populations |= 1 << back | near,
                    }
                }
            }
        }
        let all = (0..).zip(needs);
        all.filter(|&(_, needs)| needs != Needs::default())
            .collect()
    }

    /// The slots of a rank.
    pub(crate) fn outline(&self, rank: u32) -> Outline {
        let level = self.level();
        let needs = self.needs(rank);
        let classes = [
            0..level.exchanging,
            level.exchanging..level.special,
            level.special..level.populated,
            level.populated..level.slots,
        ];
        let mut slots: Vec<u32> = Vec::new();
        let halo = classes.map(|class| {
            let is_own = |&slot: &usize| self.owners[slot] == rank;
            slots.extend(class.clone().filter(is_own).map(|slot| slot as u32));
            let first = slots.len();
            let beside = needs.iter().map(|&(slot, _)| slot);
            slots.extend(beside.filter(|&slot| class.contains(&(slot as usize))));
            first..slots.len()
        });
        Outline {
            slots,
            halo: HaloRanges(halo),
            needs,
            beside_overlaps: self.beside_overlaps(rank),
        }
    }

    /// Slots of other ranks beside the overlap blocks of a rank, in ascending order.
    fn beside_overlaps(&self, rank: u32) -> Vec<u32> {
        let owner = |slot: u32| self.owners.get(slot as usize);
        let own = self.level().overlaps.iter();
        let own = own.filter(|&&slot| owner(slot) == Some(&rank));
        let beside = own.flat_map(|&slot| self.neighbors(slot as usize));
        let mut others: Vec<u32> = beside
            .copied()
            .filter(|&next| owner(next).is_some_and(|&of| of != rank))
            .collect();
        others.sort_unstable();
        others.dedup();
        others
    }

    /// The tables of a rank.
    pub(crate) fn part(
        &self,
        outline: &Outline,
        params: &Params<D>,
        rules: &[Rule],
    ) -> Result<Built<D>, SolverError> {
        let mut built = self.tables(outline)?;
        built.add_places(&Host, params, rules)?;
        for range in &built.level.halo.0 {
            built.level.stepped[range.clone()].fill(0);
        }
        Ok(built)
    }

    /// The tables of some slots, without the places of conditions.
    pub(crate) fn tables(&self, outline: &Outline) -> Result<Built<D>, SolverError> {
        let (level, slots, halo) = (self.level(), &outline.slots[..], &outline.halo);
        let local = outline.local(level.slots);
        let is_own = |slot: &u32| !halo.contains(local[*slot as usize] as usize);
        let have = |slot: &u32| local[*slot as usize] != NONE;
        let own = |all: &[u32]| -> Vec<u32> {
            let mine = all.iter().filter(|slot| have(slot) && is_own(slot));
            mine.map(|&slot| local[slot as usize]).collect()
        };
        let to_local = |&next: &u32| match (next as usize) < level.slots {
            true => local[next as usize],
            false => next,
        };
        let overlaps = own(&level.overlaps);
        let [exchanging, special] = [halo.0[0].end, halo.0[1].end];
        let populated = match level.keeps_moments {
            true => halo.0[2].end,
            false => slots.len(),
        };
        let mut overlap_of = vec![NONE; exchanging];
        for (n, &slot) in (0..).zip(&overlaps) {
            overlap_of[slot as usize] = n;
        }
        let mut part = Level {
            index: level.index,
            extent: level.extent,
            slots: slots.len(),
            exchanging,
            special,
            keeps_moments: level.keeps_moments,
            populated,
            tiles: self.tiles(outline, &local),
            halo: halo.clone(),
            coord: slots.iter().map(|&s| level.coord[s as usize]).collect(),
            neighbors: (slots.iter())
                .flat_map(|&s| self.neighbors(s as usize).iter().map(to_local))
                .collect(),
            stepped: masks_of(slots, &level.stepped),
            solid: masks_of(slots, &level.solid),
            ghost: masks_of(slots, &level.ghost),
            overlaps,
            overlap_of,
            boundary: masks_of(&slots[..special], &level.boundary),
            linked: own(&level.linked),
            walled: own(&level.walled),
            faced: own(&level.faced),
            bounded: own(&level.bounded),
            cut: own(&level.cut),
            open: own(&level.open),
            cell_start: Vec::new(),
            cells: Vec::new(),
            q: Vec::new(),
            patch: Vec::new(),
            rules: level.rules.clone(),
            profile: Vec::new(),
            profile_face: Vec::new(),
            profile_link: Vec::new(),
            sponges: Vec::new(),
            modeled: Modeled::none(&Host)?,
            patches: level.patches,
            moment_center: level.moment_center,
        };
        for &slot in &slots[..special] {
            part.cell_start.push(part.cells.len() as u32);
            let first = level.cell_start[slot as usize] as usize;
            let count = level.boundary[slot as usize].count_ones() as usize;
            for &cell in &level.cells[first..first + count] {
                let (mask, link) = unpack_cell(cell);
                let links = link as usize..link as usize + mask.count_ones() as usize;
                part.cells.push(pack_cell(mask, part.q.len() as u64));
                part.q.extend_from_slice(&level.q[links.clone()]);
                part.patch.extend_from_slice(&level.patch[links]);
            }
        }
        let blocks = slots.iter().map(|&s| self.built.blocks[s as usize]);
        Ok(Built {
            level: part,
            blocks: blocks.collect(),
            moving: Vec::new(),
            profile: Vec::new(),
        })
    }
}

impl<const D: usize> WholeLevel<'_, D> {
    /// The tiles with slots of the rank's own, which they step, by the rank's numbers of slots.
    fn tiles(&self, outline: &Outline, local: &[u32]) -> Vec<u32> {
        let to_local = |&entry: &u32| match entry {
            NONE => NONE,
            _ => match local[(entry & !STEPPED) as usize] {
                NONE => NONE,
                slot if outline.halo.contains(slot as usize) => slot,
                slot => slot | entry & STEPPED,
            },
        };
        let all = self.level().tiles.par_chunks(dims::cells(D));
        let mapped = all.map(|tile| tile.iter().map(to_local).collect::<Vec<u32>>());
        let is_stepped = |&entry: &u32| entry != NONE && entry & STEPPED != 0;
        let own = mapped.filter(|tile| tile.iter().any(is_stepped));
        own.collect::<Vec<_>>().concat()
    }
}

fn masks_of(slots: &[u32], of: &[u64]) -> Vec<u64> {
    slots.iter().map(|&s| of[s as usize]).collect()
}

/// The levels of the whole flow, and who has which slots.
fn wholes<'a, const D: usize>(
    tables: &'a [Built<D>],
    partition: &'a Partition,
) -> impl Iterator<Item = WholeLevel<'a, D>> {
    tables.iter().enumerate().map(|(level, built)| WholeLevel {
        built,
        owners: partition.owners(level),
    })
}

/// The slots of a rank by level.
pub(crate) fn outlines<const D: usize>(
    tables: &[Built<D>],
    partition: &Partition,
    rank: usize,
) -> Vec<Outline> {
    let wholes = wholes(tables, partition);
    wholes.map(|whole| whole.outline(rank as u32)).collect()
}

/// The tables of a rank by level, of its outlines.
pub(crate) fn tables_of<const D: usize>(
    tables: &[Built<D>],
    partition: &Partition,
    outlines: &[Outline],
    params: &Params<D>,
) -> Result<Vec<Built<D>>, SolverError> {
    let rules = crate::tables::rules(params, None)?;
    let wholes = wholes(tables, partition).zip(outlines);
    wholes
        .map(|(whole, outline)| whole.part(outline, params, &rules))
        .collect()
}

/// The tables of the whole flow, and how ranks share them.
pub(crate) struct Whole<const D: usize> {
    /// By level; nothing once ranks have their parts of a mesh that stays.
    pub(crate) built: Vec<Built<D>>,
    pub(crate) partition: Partition,
    /// By rank and level.
    pub(crate) outlines: Vec<Vec<Outline>>,
}

impl<const D: usize> Whole<D> {
    pub(crate) fn new(built: Vec<Built<D>>, partition: Partition) -> Self {
        let ranks = 0..partition.ranks();
        let outlines = ranks
            .into_par_iter()
            .map(|rank| outlines(&built, &partition, rank))
            .collect();
        Self {
            built,
            partition,
            outlines,
        }
    }

    /// Levels.
    pub(crate) fn levels(&self) -> usize {
        self.outlines[0].len()
    }

    /// A level and who has its slots.
    pub(crate) fn level(&self, level: usize) -> WholeLevel<'_, D> {
        WholeLevel {
            built: &self.built[level],
            owners: self.partition.owners(level),
        }
    }

    /// A rank's tables by level.
    pub(crate) fn tables(
        &self,
        params: &Params<D>,
        rank: usize,
    ) -> Result<Vec<Built<D>>, SolverError> {
        tables_of(&self.built, &self.partition, &self.outlines[rank], params)
    }

    fn of_level(&self, level: usize) -> Vec<&Outline> {
        self.outlines.iter().map(|of| &of[level]).collect()
    }

    /// What a rank exchanges by level.
    pub(crate) fn halos<L: Lattice, S: Storage, B: FlowKernels<D>>(
        &self,
        rank: usize,
        backend: &B,
    ) -> Result<Vec<Halo<S, B>>, SolverError> {
        let of_level = |level: usize| {
            let (outlines, owners) = (self.of_level(level), self.partition.owners(level));
            halo::<D, L, S, B>(&outlines, owners, rank, backend)
        };
        (0..self.levels()).map(of_level).collect()
    }

    /// By level what a rank exchanges of density and velocity for indicators: the cells of other ranks beside its own ones.
    pub(crate) fn fields<B: FlowKernels<D>>(
        &self,
        rank: usize,
        backend: &B,
    ) -> Result<Vec<HaloLists<f32, B>>, SolverError> {
        let of_level = |level: usize| {
            let (outlines, owners) = (self.of_level(level), self.partition.owners(level));
            fields(&outlines, owners, rank, backend)
        };
        (0..self.levels()).map(of_level).collect()
    }

    pub(crate) fn blocks(&self) -> Vec<Vec<u32>> {
        self.built
            .iter()
            .map(|built| built.blocks.clone())
            .collect()
    }

    pub(crate) fn coords(&self) -> Vec<Vec<[i32; D]>> {
        self.built
            .iter()
            .map(|built| built.level.coord.clone())
            .collect()
    }
}

/// Whether a population of a cell streams out of its block in one of some directions.
fn leaves<const D: usize, L: Lattice>(directions: u64, q: usize, cell: usize) -> bool {
    let local = dims::unravel::<D>(cell, 4);
    let to: [i32; D] = std::array::from_fn(|a| (local[a] + L::C[q][a]) >> 2);
    directions >> dims::direction(to) & 1 == 1
}

/// The places in a slot, by velocity and cell, of populations that it sends.
fn sent<const D: usize, L: Lattice>(needs: u64) -> impl Iterator<Item = (usize, usize)> {
    let near: u64 = (0..dims::cells(D))
        .filter(|&cell| is_near::<D>(needs, cell))
        .map(|cell| 1 << cell)
        .sum();
    let all = (0..L::Q).flat_map(|q| (0..dims::cells(D)).map(move |cell| (q, cell)));
    all.filter(move |&(q, cell)| {
        needs == WHOLE || near >> cell & 1 == 1 || leaves::<D, L>(needs, q, cell)
    })
}

/// The places among what the cells of a slot keep of what it sends.
fn sent_kept<const D: usize, L: Lattice>(directions: u64) -> impl Iterator<Item = usize> {
    let any = move |cell: &usize| (0..L::Q).any(|q| leaves::<D, L>(directions, q, *cell));
    let cells = (0..dims::cells(D)).filter(any);
    cells.flat_map(|cell| (0..KEPT).map(move |value| kept::place::<D>(value, cell)))
}

/// Whether a cell is within two of a slot that reads all that is near.
fn is_near<const D: usize>(needs: u64, cell: usize) -> bool {
    let local = dims::unravel::<D>(cell, 4);
    (0..dims::directions(D)).any(|direction| {
        let step = dims::step::<D>(direction);
        let is_within = |a: usize| match step[a] {
            -1 => local[a] < 2,
            1 => local[a] >= 2,
            _ => true,
        };
        needs >> (NEAR + direction) & 1 == 1 && (0..D).all(is_within)
    })
}

/// By rank that sends it, what a rank receives on a level: populations after a step, and moments before ghost cells are made.
pub(crate) fn received<const D: usize, L: Lattice>(
    outline: &Outline,
    owners: &[u32],
    ranks: usize,
) -> Vec<[u64; 2]> {
    let mut known = BTreeMap::new();
    let mut numbers = vec![[0; 2]; ranks];
    for &(slot, needs) in &outline.needs {
        let count =
            || sent::<D, L>(needs.populations).count() + sent_kept::<D, L>(needs.kept).count();
        let of_step = *known.entry(needs).or_insert_with(|| count() as u64);
        numbers[owners[slot as usize] as usize][0] += of_step;
    }
    for &slot in &outline.beside_overlaps {
        let moments = exchanged(D) * dims::cells(D);
        numbers[owners[slot as usize] as usize][1] += moments as u64;
    }
    numbers
}

/// What a rank exchanges on a level, of the outlines of all ranks.
pub(crate) fn halo<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>>(
    outlines: &[&Outline],
    owners: &[u32],
    rank: usize,
    backend: &B,
) -> Result<Halo<S, B>, SolverError> {
    let cells = dims::cells(D);
    let local = outlines[rank].local(owners.len());
    // Where levels keep moments, these begin behind the populations of the first slots.
    let kept_from = outlines[rank].halo.0[2].end * L::Q * cells;
    // The places, in this rank's buffers, of what rank `to` gets from rank `from`.
    let populations = |from: u32, to: usize| -> Vec<u64> {
        let needs = outlines[to].needs.iter();
        let of_slot = |&(slot, needs): &(u32, Needs)| {
            let slot = local[slot as usize] as usize;
            let (first, kept) = (slot * L::Q * cells, kept_from + slot * KEPT * cells);
            let populations = sent::<D, L>(needs.populations);
            let populations = populations.map(move |(q, cell)| first + B::place::<L>(q, cell));
            let kept = sent_kept::<D, L>(needs.kept).map(move |place| kept + place);
            populations.chain(kept).map(|place| place as u64)
        };
        let of_rank = needs.filter(|&&(slot, _)| owners[slot as usize] == from);
        of_rank.flat_map(of_slot).collect()
    };
    let moments = |from: u32, to: usize| -> Vec<u64> {
        let slots = outlines[to].beside_overlaps.iter();
        let row = exchanged(D) * cells;
        let of_slot = |&slot: &u32| {
            let first = local[slot as usize] as usize * row;
            (first as u64)..(first + row) as u64
        };
        let of_rank = slots.filter(|&&slot| owners[slot as usize] == from);
        of_rank.flat_map(of_slot).collect()
    };
    let any_receives = |list: usize| outlines.iter().any(|outline| outline.receives()[list]);
    let populations =
        any_receives(0).then(|| both_ways(backend, outlines.len(), rank, populations));
    let moments = any_receives(1).then(|| both_ways(backend, outlines.len(), rank, moments));
    Ok(Halo {
        populations: populations.transpose()?,
        moments: moments.transpose()?,
    })
}

/// Lists of what a rank sends to others and receives from them, of the places of what the second one of two gets from the first.
fn both_ways<T: Item, B: Backend>(
    backend: &B,
    ranks: usize,
    rank: usize,
    places: impl Fn(u32, usize) -> Vec<u64>,
) -> Result<HaloLists<T, B>, SolverError> {
    let others = || (0..ranks).filter(|&other| other != rank);
    HaloLists::new(
        backend,
        others().map(|other| (other, places(rank as u32, other))),
        others().map(|other| (other, places(other as u32, rank))),
    )
}

/// Whether a cell lies at a face of its block that is towards one of some directions.
fn is_beside<const D: usize>(directions: u64, cell: usize) -> bool {
    let local = dims::unravel::<D>(cell, 4);
    (0..D).any(|axis| {
        let step = |by: i32| std::array::from_fn(|a| if a == axis { by } else { 0 });
        let is_towards = |by: i32| directions >> dims::direction::<D>(step(by)) & 1 == 1;
        local[axis] == 0 && is_towards(-1) || local[axis] == 3 && is_towards(1)
    })
}

/// What a rank exchanges on a level of what `FieldKernels::macroscopic` gives.
fn fields<const D: usize, B: FlowKernels<D>>(
    outlines: &[&Outline],
    owners: &[u32],
    rank: usize,
    backend: &B,
) -> Result<HaloLists<f32, B>, SolverError> {
    let cells = dims::cells(D);
    let local = outlines[rank].local(owners.len());
    let places = |from: u32, to: usize| -> Vec<u64> {
        let needs = outlines[to].needs.iter();
        let of_slot = |&(slot, needs): &(u32, Needs)| {
            let first = local[slot as usize] as usize * (1 + D) * cells;
            let beside = (0..cells).filter(move |&cell| is_beside::<D>(needs.populations, cell));
            beside.flat_map(move |cell| (0..=D).map(move |row| (first + row * cells + cell) as u64))
        };
        let of_rank = needs.filter(|&&(slot, _)| owners[slot as usize] == from);
        of_rank.flat_map(of_slot).collect()
    };
    both_ways(backend, outlines.len(), rank, places)
}
