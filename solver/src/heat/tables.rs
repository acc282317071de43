//! Tables of heat: which faces of cells pass heat to the cell beside, what is at the others, and what levels share. Made on the
//! host from those of the flow.

use super::{HeatCondition, LatticeHeat, is_open};
use crate::{
    Params, SolverError,
    constants::heat_face,
    tables::{At, Built, Level, bits},
};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::{NONE, OUTSIDE, dims};
use cutlink_device::{Backend, Host};

/// Smallest share of a link that a wall is away from a cell.
const NEAREST: f64 = 1e-6;

/// A face of a cell that does not only pass heat to the cell beside.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct HeatFace {
    /// Of a wall 1 over the distance, in cells.
    pub weight: f64,
    /// Temperature beyond the reference; of a flux the heat that a step brings.
    pub value: f64,
    /// The cell in its block.
    pub cell: u32,
    /// 2 axis + side.
    pub side: u32,
    /// One of `constants::heat_face`.
    pub kind: u32,
    /// Face of the box, or patch behind these, that the heat counts for; [`NONE`] in ghost cells and between levels.
    pub patch: u32,
}

#[expect(unsafe_code, reason = "plain data without padding")]
// SAFETY: plain data.
unsafe impl Zeroable for HeatFace {}
#[expect(unsafe_code, reason = "plain data without padding")]
// SAFETY: two f64 and four u32 leave no padding.
unsafe impl Pod for HeatFace {}

/// Tables of a level; places are 4^D times the slot plus the cell.
#[derive(Debug)]
pub struct HeatTables<B: Backend> {
    /// By slot, cells with a temperature.
    pub(crate) there: B::Buf<u64>,
    /// By slot and side, cells that pass heat to the cell beside.
    pub(crate) open: B::Buf<u64>,
    /// By special slot, and one more, the first of its faces.
    pub(crate) start: B::Buf<u32>,
    /// By slot and cell.
    pub(crate) faces: B::Buf<HeatFace>,
    /// What is shared with the coarser level.
    pub(crate) shared: HeatBetween<B>,
}

/// What a level shares with the coarser one. Places of the coarse level first, then those of this one.
#[derive(Debug)]
pub struct HeatBetween<B: Backend> {
    /// Cells that have the mean of the finer ones: the place, then 2^D places, [`NONE`] for none.
    pub(crate) means: B::Buf<u32>,
    /// Cells that ghosts are interpolated from: the 3^D places around, the cell's own in the middle, then those of the ghosts;
    /// [`NONE`] for none.
    pub(crate) ghosts: B::Buf<u32>,
    /// Cells that heat passes to from this level's cells.
    pub(crate) owed: B::Buf<u32>,
    /// By such a cell, and one more, the first of its faces.
    pub(crate) owed_start: B::Buf<u32>,
    /// Places in [`HeatTables::faces`].
    pub(crate) owed_faces: B::Buf<u32>,
}

impl HeatTables<Host> {
    pub(crate) fn upload<B: Backend>(self, backend: &B) -> Result<HeatTables<B>, SolverError> {
        let shared = self.shared;
        Ok(HeatTables {
            there: backend.upload(self.there)?,
            open: backend.upload(self.open)?,
            start: backend.upload(self.start)?,
            faces: backend.upload(self.faces)?,
            shared: HeatBetween {
                means: backend.upload(shared.means)?,
                ghosts: backend.upload(shared.ghosts)?,
                owed: backend.upload(shared.owed)?,
                owed_start: backend.upload(shared.owed_start)?,
                owed_faces: backend.upload(shared.owed_faces)?,
            },
        })
    }
}

/// The tables of all levels.
///
/// # Errors
/// [`SolverError::Tables`] where levels share faces in another way than they should.
pub(crate) fn build<const D: usize>(
    params: &Params<D>,
    heat: &LatticeHeat<D>,
    levels: &[Built<D>],
) -> Result<Vec<HeatTables<Host>>, SolverError> {
    let mut all: Vec<HeatTables<Host>> = Vec::new();
    for (index, built) in levels.iter().enumerate() {
        let coarse = index.checked_sub(1).map(|n| &levels[n].level);
        let finer = levels.get(index + 1).map(|of| &of.level);
        let making = Making {
            params,
            heat,
            level: &built.level,
            there: cells_there(&built.level, coarse, finer),
        };
        let mut tables = making.faces();
        if let Some(coarse) = coarse {
            let of_coarse = &all[index - 1].there;
            tables.shared = shared(coarse, of_coarse, &making, &tables.faces, &tables.start)?;
        }
        all.push(tables);
    }
    Ok(all)
}

/// The place of an overlap block's cell's child on the finer level.
fn child_place<const D: usize>(overlap: usize, cell: usize, child: usize) -> usize {
    let local = dims::unravel::<D>(cell, 4);
    let (block, below) = dims::below(local, dims::unravel::<D>(child, 2));
    (overlap * dims::children(D) + block) * dims::cells(D) + dims::ravel::<D>(below, 4)
}

/// The coarse cell above a cell of an overlap block's child: its slot and the cell there.
fn parent<const D: usize>(coarse: &Level<D, Host>, slot: usize, cell: usize) -> (usize, usize) {
    let (overlap, child) = (slot / dims::children(D), slot % dims::children(D));
    let (local, at) = (dims::unravel::<D>(cell, 4), dims::unravel::<D>(child, 2));
    let above = std::array::from_fn(|a| 2 * at[a] + local[a] / 2);
    (
        coarse.overlaps[overlap] as usize,
        dims::ravel::<D>(above, 4),
    )
}

fn has(masks: &[u64], place: usize, cells: usize) -> bool {
    masks[place / cells] >> (place % cells) & 1 == 1
}

/// By slot, the cells with a temperature: those that are stepped, ghosts below solid cells apart, and those of refined blocks with
/// fluid below.
fn cells_there<const D: usize>(
    level: &Level<D, Host>,
    coarse: Option<&Level<D, Host>>,
    finer: Option<&Level<D, Host>>,
) -> Vec<u64> {
    let cells = dims::cells(D);
    let of_slot = |slot: usize| {
        let mut mask = level.stepped[slot] & !level.solid[slot];
        if let Some(coarse) = coarse {
            for cell in bits(mask & level.ghost[slot]) {
                let (above, at) = parent(coarse, slot, cell);
                if coarse.stepped[above] & !coarse.solid[above] & !coarse.ghost[above] & (1 << at)
                    == 0
                {
                    mask &= !(1 << cell);
                }
            }
        }
        let overlap = level.overlap_of.get(slot).filter(|&&n| n != NONE);
        if let (Some(&overlap), Some(finer)) = (overlap, finer) {
            let below = !level.stepped[slot] & !level.solid[slot] & dims::full_mask(D);
            for cell in bits(below) {
                let is_fluid = |child: usize| {
                    !has(
                        &finer.solid,
                        child_place::<D>(overlap as usize, cell, child),
                        cells,
                    )
                };
                if (0..dims::children(D)).any(is_fluid) {
                    mask |= 1 << cell;
                }
            }
        }
        mask
    };
    (0..level.slots).map(of_slot).collect()
}

/// What is beside a face.
enum Beside {
    /// A cell that heat passes to.
    Open,
    /// The same, and a cell of the coarser level behind.
    Shared,
    /// A wall, or an opening.
    Face(HeatFace),
    /// Nothing that heat passes to.
    Closed,
}

struct Making<'a, const D: usize> {
    params: &'a Params<D>,
    heat: &'a LatticeHeat<D>,
    level: &'a Level<D, Host>,
    there: Vec<u64>,
}

impl<const D: usize> Making<'_, D> {
    fn faces(&self) -> HeatTables<Host> {
        let (level, sides) = (self.level, 2 * D);
        let mut open = vec![0u64; level.slots * sides];
        let (mut start, mut faces) = (Vec::new(), Vec::new());
        for slot in 0..level.slots {
            if slot < level.special {
                start.push(faces.len() as u32);
            } else {
                open[slot * sides..][..sides].fill(dims::full_mask(D));
                continue;
            }
            for cell in bits(level.stepped[slot] & self.there[slot]) {
                for side in 0..sides {
                    let face = match self.beside(slot, cell, side) {
                        Beside::Closed => continue,
                        Beside::Face(face) => face,
                        of => {
                            open[slot * sides + side] |= 1 << cell;
                            match of {
                                Beside::Shared => face(cell, side, heat_face::SHARED, NONE),
                                _ => continue,
                            }
                        }
                    };
                    faces.push(face);
                }
            }
        }
        start.push(faces.len() as u32);
        HeatTables {
            there: self.there.clone(),
            open,
            start,
            faces,
            shared: HeatBetween {
                means: Vec::new(),
                ghosts: Vec::new(),
                owed: Vec::new(),
                owed_start: vec![0],
                owed_faces: Vec::new(),
            },
        }
    }

    fn is_ghost(&self, slot: usize, cell: usize) -> bool {
        self.level.ghost[slot] >> cell & 1 == 1
    }

    fn beside(&self, slot: usize, cell: usize, side: usize) -> Beside {
        let (level, at) = (self.level, At::<D>::new(slot, cell));
        let step = step_to::<D>(side);
        let is_ghost = self.is_ghost(slot, cell);
        if let Some(link) = level.links(at).place(dims::direction(step)) {
            let patch = usize::from(level.patch[link]);
            let weight = 1.0 / f64::from(level.q[link]).max(NEAREST);
            return self.wall((cell, side, is_ghost), 2 * D + patch, weight);
        }
        let (next, there) = level.step_from(at, step);
        if next == OUTSIDE {
            return match is_open(self.params, side / 2, side % 2) {
                true => self.opening(cell, side, is_ghost),
                false => self.wall((cell, side, is_ghost), side, 2.0),
            };
        }
        if next as usize >= level.slots {
            return Beside::Closed;
        }
        let (next, there) = (next as usize, there.cell());
        if self.there[next] >> there & 1 == 0 {
            return Beside::Closed;
        }
        let is_below = level.stepped[next] >> there & 1 == 0;
        match (is_ghost, is_below, self.is_ghost(next, there)) {
            // What passes between levels is told by the finer one.
            (false, true, _) => Beside::Closed,
            (false, false, true) => Beside::Shared,
            _ => Beside::Open,
        }
    }

    fn condition(&self, patch: usize) -> HeatCondition {
        match patch.checked_sub(2 * D) {
            Some(patch) => self.heat.patches[patch],
            None => self.heat.faces[patch / 2][patch % 2],
        }
    }

    fn wall(
        &self,
        (cell, side, is_ghost): (usize, usize, bool),
        patch: usize,
        weight: f64,
    ) -> Beside {
        let counts_for = if is_ghost { NONE } else { patch as u32 };
        match self.condition(patch) {
            HeatCondition::Insulated => Beside::Closed,
            HeatCondition::Temperature(held) => Beside::Face(HeatFace {
                weight,
                value: held - self.heat.reference,
                ..face(cell, side, heat_face::HELD, counts_for)
            }),
            HeatCondition::Flux(flux) => Beside::Face(HeatFace {
                value: flux,
                ..face(cell, side, heat_face::FLUX, counts_for)
            }),
        }
    }

    fn opening(&self, cell: usize, side: usize, is_ghost: bool) -> Beside {
        let counts_for = if is_ghost { NONE } else { side as u32 };
        Beside::Face(match self.condition(side) {
            HeatCondition::Temperature(held) => HeatFace {
                value: held - self.heat.reference,
                ..face(cell, side, heat_face::OPEN_HELD, counts_for)
            },
            _ => face(cell, side, heat_face::OPEN, counts_for),
        })
    }
}

fn face(cell: usize, side: usize, kind: u32, patch: u32) -> HeatFace {
    HeatFace {
        weight: 0.0,
        value: 0.0,
        cell: cell as u32,
        side: side as u32,
        kind,
        patch,
    }
}

fn step_to<const D: usize>(side: usize) -> [i32; D] {
    let mut step = [0; D];
    step[side / 2] = 2 * (side % 2) as i32 - 1;
    step
}

/// What a level shares with the coarser one, whose cells with a temperature are given.
fn shared<const D: usize>(
    coarse: &Level<D, Host>,
    of_coarse: &[u64],
    fine: &Making<'_, D>,
    faces: &[HeatFace],
    start: &[u32],
) -> Result<HeatBetween<Host>, SolverError> {
    let (cells, family) = (dims::cells(D), dims::children(D));
    let (mut means, mut ghosts) = (Vec::new(), Vec::new());
    for (overlap, &slot) in coarse.overlaps.iter().enumerate() {
        let slot = slot as usize;
        for cell in bits(of_coarse[slot]) {
            let is_stepped = coarse.stepped[slot] >> cell & 1 == 1;
            let children = (0..family).map(|child| child_place::<D>(overlap, cell, child));
            let of_child = |place: usize| {
                let is_ghost = has(&fine.level.ghost, place, cells);
                match has(&fine.there, place, cells) && is_ghost == is_stepped {
                    true => place as u32,
                    false => NONE,
                }
            };
            let children: Vec<u32> = children.map(of_child).collect();
            if children.iter().all(|&place| place == NONE) {
                continue;
            }
            if is_stepped {
                ghosts.extend(around(coarse, of_coarse, slot, cell));
                ghosts.extend(children);
            } else {
                means.push((slot * cells + cell) as u32);
                means.extend(children);
            }
        }
    }
    let (owed, owed_start, owed_faces) = owed(coarse, fine, faces, start)?;
    Ok(HeatBetween {
        means,
        ghosts,
        owed,
        owed_start,
        owed_faces,
    })
}

/// The 3^D places around a cell, [`NONE`] where there is no temperature.
fn around<const D: usize>(
    level: &Level<D, Host>,
    there: &[u64],
    slot: usize,
    cell: usize,
) -> Vec<u32> {
    let cells = dims::cells(D);
    let of = |direction: usize| {
        let step = dims::unravel::<D>(direction, 3).map(|x| x - 1);
        let (next, at) = level.step_from(At::<D>::new(slot, cell), step);
        let is_there = (next as usize) < level.slots && there[next as usize] >> at.cell() & 1 == 1;
        match is_there {
            true => (next as usize * cells + at.cell()) as u32,
            false => NONE,
        }
    };
    (0..dims::directions(D)).map(of).collect()
}

/// Coarse cells, where their faces begin, and faces.
type Owed = (Vec<u32>, Vec<u32>, Vec<u32>);

/// Faces between levels by the coarse cell that heat passes to.
fn owed<const D: usize>(
    coarse: &Level<D, Host>,
    fine: &Making<'_, D>,
    faces: &[HeatFace],
    start: &[u32],
) -> Result<Owed, SolverError> {
    let (cells, level) = (dims::cells(D), fine.level);
    let mut found = Vec::new();
    for (slot, range) in start.windows(2).enumerate() {
        for n in range[0]..range[1] {
            let face = &faces[n as usize];
            if face.kind != heat_face::SHARED {
                continue;
            }
            let step = step_to::<D>(face.side as usize);
            let (next, at) = level.step_from(At::<D>::new(slot, face.cell as usize), step);
            let (above, cell) = parent(coarse, next as usize, at.cell());
            let is_own = coarse.stepped[above] & !coarse.ghost[above] & !coarse.solid[above];
            if is_own >> cell & 1 == 0 {
                return Err(SolverError::Tables {
                    level: level.index,
                    reason: format!("block {slot} shares heat with a cell that is not stepped"),
                });
            }
            found.push(((above * cells + cell) as u32, n));
        }
    }
    found.sort_unstable();
    let (mut owed, mut owed_start) = (Vec::new(), Vec::new());
    for (n, &(place, _)) in found.iter().enumerate() {
        if owed.last() != Some(&place) {
            owed.push(place);
            owed_start.push(n as u32);
        }
    }
    owed_start.push(found.len() as u32);
    Ok((
        owed,
        owed_start,
        found.into_iter().map(|(_, n)| n).collect(),
    ))
}
