//! Populations that go to other ranks when the mesh changes: each rank makes those of its own slots, from what its old slots hold
//! and from whole blocks that other ranks send.

use super::part::{Outline, Whole};
use crate::{
    SolverError,
    adapt::transfer::{Seeds, SlotSource},
    constants::source,
    tables::Built,
};
use cutlink_amr::{NONE, dims};
use cutlink_device::Host;
use rayon::prelude::*;

/// Slots by other rank.
type ByRank = Vec<(usize, Vec<u32>)>;

/// What a rank sends and receives of an old level.
#[derive(Debug)]
pub(crate) struct LevelMoves<const D: usize> {
    /// Its own slots.
    pub(crate) send: ByRank,
    /// Where slots of others go: in the halo, or behind all slots.
    pub(crate) receive: ByRank,
    /// The old tables, with the slots behind.
    pub(crate) built: Built<D>,
}

/// What the populations of a rank are made of.
#[derive(Debug)]
pub(crate) struct RankMoves<const D: usize> {
    /// By old level.
    pub(crate) levels: Vec<LevelMoves<D>>,
    /// Of its new slots, by its old ones.
    pub(crate) seeds: Seeds<Host>,
}

#[cfg(test)]
impl<const D: usize> RankMoves<D> {
    /// Has the first and the last block that come from a rank go to one another's places.
    pub(crate) fn swap_received(&mut self) {
        for (_, slots) in self.levels.iter_mut().flat_map(|of| &mut of.receive) {
            let last = slots.len() - 1;
            slots.swap(0, last);
        }
    }
}

/// A change from one mesh, with its ranks, to another one.
pub(crate) struct Moves<'a, const D: usize> {
    old: &'a Whole<D>,
    new: &'a Whole<D>,
    /// Of the whole flow.
    seeds: Seeds<Host>,
    /// By rank and old level, the slots that it needs, ascending.
    needs: Vec<Vec<Vec<u32>>>,
}

impl<'a, const D: usize> Moves<'a, D> {
    pub(crate) fn new(old: &'a Whole<D>, new: &'a Whole<D>, seeds: Seeds<Host>) -> Self {
        let needs = new.outlines.par_iter();
        let needs = needs.map(|outlines| needs_of(old, outlines, &seeds));
        Self {
            needs: needs.collect(),
            old,
            new,
            seeds,
        }
    }

    /// What one rank does.
    pub(crate) fn of_rank(&self, rank: usize) -> Result<RankMoves<D>, SolverError> {
        let (mut levels, mut local) = (Vec::new(), Vec::new());
        for level in 0..self.old.levels() {
            let (moves, of_level) = self.of_level(rank, level)?;
            levels.push(moves);
            local.push(of_level);
        }
        Ok(RankMoves {
            levels,
            seeds: self.local_seeds(&self.new.outlines[rank], &local),
        })
    }

    /// Also by slot of the whole flow that of the rank, or [`NONE`].
    fn of_level(
        &self,
        rank: usize,
        level: usize,
    ) -> Result<(LevelMoves<D>, Vec<u32>), SolverError> {
        let whole = self.old.level(level);
        let outline = &self.old.outlines[rank][level];
        let mut local = outline.local(whole.owners.len());
        let others = || (0..self.needs.len()).filter(|&other| other != rank);
        let of_owner = |needs: &[u32], owner: usize| -> Vec<u32> {
            let is_of = |slot: &&u32| whole.owners[**slot as usize] as usize == owner;
            needs.iter().filter(is_of).copied().collect()
        };
        let here = |local: &[u32], slots: &[u32]| -> Vec<u32> {
            slots.iter().map(|&slot| local[slot as usize]).collect()
        };
        let send = others().map(|other| {
            let slots = of_owner(&self.needs[other][level], rank);
            (other, here(&local, &slots))
        });
        let send = send.filter(|(_, slots)| !slots.is_empty()).collect();
        let mut more = Vec::new();
        let mut receive = Vec::new();
        for other in others() {
            let slots = of_owner(&self.needs[rank][level], other);
            for &slot in &slots {
                if local[slot as usize] == NONE {
                    local[slot as usize] = (outline.slots.len() + more.len()) as u32;
                    more.push(slot);
                }
            }
            if !slots.is_empty() {
                receive.push((other, here(&local, &slots)));
            }
        }
        let moves = LevelMoves {
            send,
            receive,
            built: whole.tables(&outline.and(more))?,
        };
        Ok((moves, local))
    }

    /// Seeds of a rank's new slots, by its old ones, of which `local` has that of each of the whole flow by level.
    fn local_seeds(&self, outlines: &[Outline], local: &[Vec<u32>]) -> Seeds<Host> {
        let mut slot_of = Vec::new();
        let mut of_level = |(level, outline): (usize, &Outline)| {
            let mut sources = vec![
                SlotSource {
                    kind: source::OTHER_RANK,
                    at: 0,
                };
                outline.slots.len()
            ];
            for (slot, whole) in outline.own() {
                let SlotSource { kind, at } = self.seeds.sources[level][whole];
                let at = match kind {
                    source::SAME => local[level][at as usize],
                    source::CHILD_BLOCKS => {
                        let first = slot_of.len() as u32;
                        let to_local = |&slot: &u32| match slot {
                            NONE => NONE,
                            slot => local[level + 1][slot as usize],
                        };
                        slot_of.extend(family::<D>(&self.seeds, at).iter().map(to_local));
                        first
                    }
                    _ => local[level - 1][at as usize],
                };
                sources[slot] = SlotSource { kind, at };
            }
            sources
        };
        let sources = outlines.iter().enumerate().map(&mut of_level).collect();
        Seeds { sources, slot_of }
    }
}

/// The old slots of the children of a block that was refined; `at` is the first one's place.
fn family<const D: usize>(seeds: &Seeds<Host>, at: u32) -> &[u32] {
    &seeds.slot_of[at as usize..][..dims::children(D)]
}

/// By old level the slots that a rank with these new ones needs.
fn needs_of<const D: usize>(
    old: &Whole<D>,
    outlines: &[Outline],
    seeds: &Seeds<Host>,
) -> Vec<Vec<u32>> {
    let mut needs: Vec<Vec<u32>> = vec![Vec::new(); old.levels()];
    for (level, outline) in outlines.iter().enumerate() {
        for (_, whole) in outline.own() {
            let SlotSource { kind, at } = seeds.sources[level][whole];
            match kind {
                source::SAME => needs[level].push(at),
                source::CHILD_BLOCKS => {
                    let slots = family::<D>(seeds, at).iter();
                    needs[level + 1].extend(slots.filter(|&&slot| slot != NONE));
                }
                _ => {
                    let coarser = old.level(level - 1);
                    let slots = coarser.owners.len() as u32;
                    let around = coarser.neighbors(at as usize).iter();
                    needs[level - 1].extend(around.filter(|&&slot| slot < slots));
                }
            }
        }
    }
    for slots in &mut needs {
        slots.sort_unstable();
        slots.dedup();
    }
    needs
}
