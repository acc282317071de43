//! Temperatures: a step of a level, and what levels share.

use super::BLOCK;
use crate::{
    constants::heat_face,
    heat::tables::{HeatBetween, HeatFace},
    kernels::HeatLevel,
    tables::{bits, locate},
};
use cutlink_amr::{NONE, dims};
use cutlink_device::Host;
use rayon::prelude::*;

/// Slots a task.
const CHUNK: usize = 32;

/// Cells of a block and those around it, 6 an edge.
const RING: usize = 216;

/// From a cell of them to the next one along each axis.
const STEP: [usize; 3] = [1, 6, 36];

/// Where a ring's cells are: direction of the block, and cell there.
struct Places<const D: usize>;

impl<const D: usize> Places<D> {
    const ALL: [(u8, u8); RING] = {
        let mut all = [(0, 0); RING];
        let mut n = 0;
        while n < 6usize.pow(D as u32) {
            let (mut at, mut a) = (dims::unravel::<D>(n, 6), 0);
            while a < D {
                at[a] -= 1;
                a += 1;
            }
            let (toward, inner) = locate(at);
            all[n] = (toward as u8, dims::ravel(inner, 4) as u8);
            n += 1;
        }
        all
    };

    /// The cells of the block itself.
    const OWN: [usize; BLOCK] = {
        let mut all = [0; BLOCK];
        let mut cell = 0;
        while cell < dims::cells(D) {
            let at = dims::unravel::<D>(cell, 4);
            let mut a = 0;
            while a < D {
                all[cell] += (at[a] as usize + 1) * STEP[a];
                a += 1;
            }
            cell += 1;
        }
        all
    };
}

/// Values of a block and of the cells around it.
struct Ring<const D: usize> {
    t: [f64; RING],
    j: [[f64; RING]; D],
    there: [bool; RING],
    /// Whether all of them are there.
    is_whole: bool,
}

impl<const D: usize> Ring<D> {
    fn new() -> Self {
        Self {
            t: [0.0; RING],
            j: [[0.0; RING]; D],
            there: [false; RING],
            is_whole: false,
        }
    }

    fn load(&mut self, heat: &HeatLevel<'_, D, Host>, slot: usize, from: &[f64]) {
        let (cells, directions) = (dims::cells(D), dims::directions(D));
        let next = &heat.level.neighbors[slot * directions..][..directions];
        let is_slot = |next: u32| (next as usize) < heat.level.slots;
        let mut masks = [0; 27];
        for (mask, &next) in masks.iter_mut().zip(next) {
            *mask = if is_slot(next) {
                heat.tables.there[next as usize]
            } else {
                0
            };
        }
        self.is_whole = masks[..directions]
            .iter()
            .all(|&mask| mask == dims::full_mask(D));
        for n in 0..6usize.pow(D as u32) {
            let (toward, cell) = Places::<D>::ALL[n];
            let (toward, cell) = (usize::from(toward), usize::from(cell));
            self.there[n] = masks[toward] >> cell & 1 == 1;
            let of = if is_slot(next[toward]) {
                next[toward] as usize
            } else {
                slot
            };
            self.t[n] = from[of * cells + cell];
            for a in 0..D {
                self.j[a][n] = heat.momentum[(of * D + a) * cells + cell];
            }
        }
    }

    /// What passes upwards through the lower face of a cell along an axis, in temperatures of the cell.
    #[inline(always)]
    fn flux(&self, at: usize, axis: usize, diffusivity: f64) -> f64 {
        let below = at - STEP[axis];
        let (low, high) = (self.t[below], self.t[at]);
        let u = 0.5 * (self.j[axis][below] + self.j[axis][at]);
        let mut across = 0.0;
        for b in 0..D {
            if b == axis {
                continue;
            }
            let s = STEP[b];
            let are_there = self.is_whole
                || self.there[below - s]
                    && self.there[below + s]
                    && self.there[at - s]
                    && self.there[at + s];
            if are_there {
                let v = 0.5 * (self.j[b][below] + self.j[b][at]);
                let t = &self.t;
                across += v * (0.25 * ((t[below + s] - t[below - s]) + (t[at + s] - t[at - s])));
            }
        }
        u * (0.5 * (low + high) - 0.5 * across) - (diffusivity + 0.5 * (u * u)) * (high - low)
    }

    /// The fluxes through the lower faces of all cells, and of those above the block.
    fn fluxes(&self, diffusivity: f64, to: &mut [[f64; RING]; D]) {
        for (axis, to) in to.iter_mut().enumerate() {
            let most = |a: usize| if a == axis { 6 } else { 5 };
            let layers = if D == 3 { 1..most(2) } else { 0..1 };
            for z in layers {
                for y in 1..most(1) {
                    let row = STEP[2] * z + STEP[1] * y;
                    for x in 1..most(0) {
                        to[row + x] = self.flux(row + x, axis, diffusivity);
                    }
                }
            }
        }
    }
}

pub(super) fn carry<const D: usize>(
    heat: &HeatLevel<'_, D, Host>,
    from: &[f64],
    to: &mut [f64],
    given: &mut [f64],
) {
    let cells = dims::cells(D);
    let start = &heat.tables.start;
    let first_of = |slot: usize| start[slot.min(start.len() - 1)] as usize;
    let (mut rest, mut pieces) = (given, Vec::new());
    for first in (0..heat.level.slots).step_by(CHUNK) {
        let (piece, behind) = rest.split_at_mut(first_of(first + CHUNK) - first_of(first));
        pieces.push(piece);
        rest = behind;
    }
    to.par_chunks_mut(CHUNK * cells)
        .zip(pieces)
        .enumerate()
        .for_each(|(chunk, (to, mut given))| {
            let mut ring = Ring::<D>::new();
            let mut fluxes = [[0.0; RING]; D];
            for (n, to) in to.chunks_exact_mut(cells).enumerate() {
                let slot = CHUNK * chunk + n;
                to.copy_from_slice(&from[slot * cells..][..cells]);
                let faces = first_of(slot)..first_of(slot + 1);
                let own;
                (own, given) = given.split_at_mut(faces.len());
                let stepped = heat.level.stepped[slot] & heat.tables.there[slot];
                if stepped == 0 {
                    continue;
                }
                ring.load(heat, slot, from);
                ring.fluxes(heat.diffusivity, &mut fluxes);
                let open = &heat.tables.open[slot * 2 * D..][..2 * D];
                for cell in bits(stepped) {
                    to[cell] += balance::<D>(&fluxes, open, cell);
                }
                let faces = &heat.tables.faces[faces];
                at_faces(heat, &ring, &fluxes, faces, to, own);
            }
        });
}

/// What a cell gains through its open faces.
#[inline(always)]
fn balance<const D: usize>(fluxes: &[[f64; RING]; D], open: &[u64], cell: usize) -> f64 {
    let at = Places::<D>::OWN[cell];
    let mut gain = 0.0;
    for a in 0..D {
        let passes = |side: usize| open[2 * a + side] >> cell & 1 == 1;
        let low = if passes(0) { fluxes[a][at] } else { 0.0 };
        let high = if passes(1) {
            fluxes[a][at + STEP[a]]
        } else {
            0.0
        };
        gain += low - high;
    }
    gain
}

/// What comes through the faces of a block's cells; those of a cell lie together.
fn at_faces<const D: usize>(
    heat: &HeatLevel<'_, D, Host>,
    ring: &Ring<D>,
    fluxes: &[[f64; RING]; D],
    faces: &[HeatFace],
    to: &mut [f64],
    given: &mut [f64],
) {
    let mut first = 0;
    while first < faces.len() {
        let cell = faces[first].cell as usize;
        let many = faces[first..]
            .iter()
            .take_while(|face| face.cell as usize == cell)
            .count();
        let of_cell = &faces[first..first + many];
        let given = &mut given[first..first + many];
        first += many;
        let at = Places::<D>::OWN[cell];
        // What walls that hold a temperature give counts with the temperature after the step.
        let (mut gain, mut held, mut draw) = (0.0, 0.0, 0.0);
        for (face, given) in of_cell.iter().zip(&mut *given) {
            let axis = face.side as usize / 2;
            let is_upper = face.side % 2 == 1;
            let inward = if is_upper {
                -ring.j[axis][at]
            } else {
                ring.j[axis][at]
            };
            let comes = match face.kind {
                heat_face::HELD => {
                    let rate = heat.diffusivity * face.weight;
                    held += rate;
                    draw += rate * face.value;
                    continue;
                }
                heat_face::FLUX => face.value,
                heat_face::OPEN_HELD if inward > 0.0 => {
                    let rate = 2.0 * heat.diffusivity;
                    inward * face.value + rate * (face.value - ring.t[at])
                }
                heat_face::SHARED => {
                    let passed = if is_upper {
                        -fluxes[axis][at + STEP[axis]]
                    } else {
                        fluxes[axis][at]
                    };
                    *given += passed;
                    continue;
                }
                _ => inward * ring.t[at],
            };
            gain += comes;
            *given += comes;
        }
        let now = (to[cell] + gain + draw) / (1.0 + held);
        to[cell] = now;
        for (face, given) in of_cell.iter().zip(given) {
            if face.kind == heat_face::HELD {
                *given += heat.diffusivity * face.weight * (face.value - now);
            }
        }
    }
}

pub(super) fn restrict<const D: usize>(
    shared: &HeatBetween<Host>,
    fine: &[f64],
    given: &mut [f64],
    coarse: &mut [f64],
) {
    for of in shared.means.chunks_exact(1 + dims::children(D)) {
        let (mut sum, mut count) = (0.0, 0u32);
        for &place in of[1..].iter().filter(|&&place| place != NONE) {
            sum += fine[place as usize];
            count += 1;
        }
        coarse[of[0] as usize] = sum / f64::from(count);
    }
    let share = 1.0 / dims::children(D) as f64;
    for (&place, range) in shared.owed.iter().zip(shared.owed_start.windows(2)) {
        let mut passed = 0.0;
        for &face in &shared.owed_faces[range[0] as usize..range[1] as usize] {
            passed += given[face as usize];
            given[face as usize] = 0.0;
        }
        coarse[place as usize] -= share * passed;
    }
}

pub(super) fn prolong<const D: usize>(
    shared: &HeatBetween<Host>,
    coarse: &[f64],
    fine: &mut [f64],
) {
    let directions = dims::directions(D);
    for of in shared.ghosts.chunks_exact(directions + dims::children(D)) {
        let (around, children) = of.split_at(directions);
        let mut t = [0.0; 27];
        for (t, &place) in t
            .iter_mut()
            .zip(around)
            .filter(|(_, place)| **place != NONE)
        {
            *t = coarse[place as usize];
        }
        for (child, &place) in children.iter().enumerate() {
            if place != NONE {
                fine[place as usize] = of_child::<D>(&t, around, child);
            }
        }
    }
}

/// The value of a child: the cell's, its slopes, and its mixed derivatives.
fn of_child<const D: usize>(t: &[f64; 27], around: &[u32], child: usize) -> f64 {
    let middle = dims::directions(D) / 2;
    let stride = |a: usize| [1, 3, 9][a];
    let is_there = |n: usize| around[n] != NONE;
    let sign = |a: usize| if child >> a & 1 == 1 { 1.0 } else { -1.0 };
    let mut value = t[middle];
    for a in 0..D {
        let (low, high) = (middle - stride(a), middle + stride(a));
        let slope = match (is_there(low), is_there(high)) {
            (true, true) => 0.125 * (t[high] - t[low]),
            (false, true) => 0.25 * (t[high] - t[middle]),
            (true, false) => 0.25 * (t[middle] - t[low]),
            (false, false) => 0.0,
        };
        value += sign(a) * slope;
        for b in 0..a {
            let s = stride(b);
            if is_there(low - s) && is_there(low + s) && is_there(high - s) && is_there(high + s) {
                let mixed = (t[high + s] - t[high - s]) - (t[low + s] - t[low - s]);
                value += sign(a) * sign(b) * (0.015625 * mixed);
            }
        }
    }
    value
}

/// Sums over the cells of a level that are its own: how many, temperatures, their squares, the lowest and the highest, which are
/// not numbers where one is none.
pub(crate) fn sums<const D: usize>(
    (stepped, ghost): (&[u64], &[u64]),
    there: &[u64],
    t: &[f64],
) -> [f64; 5] {
    let mut all = [0.0, 0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY];
    for (slot, t) in t.chunks_exact(dims::cells(D)).enumerate() {
        for cell in bits(stepped[slot] & !ghost[slot] & there[slot]) {
            let t = t[cell];
            all[0] += 1.0;
            all[1] += t;
            all[2] += t * t;
            if t < all[3] || t.is_nan() {
                all[3] = t;
            }
            if t > all[4] || t.is_nan() {
                all[4] = t;
            }
        }
    }
    all
}

/// The first slot and cell that is a level's own and whose temperature is not finite.
pub(crate) fn first_bad<const D: usize>(
    stepped: &[u64],
    there: &[u64],
    t: &[f64],
) -> Option<(usize, usize)> {
    let blocks = t.chunks_exact(dims::cells(D)).enumerate();
    let mut bad = blocks.filter_map(|(slot, t)| {
        let cell = bits(stepped[slot] & there[slot]).find(|&cell| !t[cell].is_finite());
        Some((slot, cell?))
    });
    bad.next()
}
