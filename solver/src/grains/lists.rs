//! Which blocks of the finest level grains reach into: lists that hold until a grain has moved by half a cell.

use crate::{kernels::HeldSphere, tables::Level};
use cutlink_device::Host;
use std::collections::HashMap;

/// Cells around a grain that it acts on.
const AROUND: f64 = 1.0;

/// Cells that a grain may move before its lists are made again.
const MARGIN: f64 = 0.5;

/// The blocks of the finest level that may have grains.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// Slots by block coordinates.
    slots: HashMap<[i32; 3], u32>,
    /// Blocks along each axis.
    count: [i32; 3],
    periodic: [bool; 3],
}

/// Lists of blocks and grains, and where the grains were then.
#[derive(Debug)]
pub(crate) struct Reach {
    at: Vec<[f64; 3]>,
    /// Slots that grains reach into, ascending.
    pub(crate) slots: Vec<u32>,
    /// By such a slot the first of its pairs; one more.
    pub(crate) starts: Vec<u32>,
    /// By pair the grain.
    pub(crate) grains: Vec<u32>,
    /// By grain the first of its pairs in `pairs`; one more.
    pub(crate) firsts: Vec<u32>,
    /// By grain its pairs, ascending.
    pub(crate) pairs: Vec<u32>,
    /// Grains that share a slot, the lower number first, each pair once: those with less than a cell between them, and others.
    pub(crate) near: Vec<[u32; 2]>,
}

impl Blocks {
    /// Of a level: those without ghost cells.
    pub(crate) fn of<const D: usize>(level: &Level<D, Host>, periodic: [bool; D]) -> Self {
        let three = |at: &[i32; D]| std::array::from_fn(|a| at.get(a).map_or(0, |x| *x));
        let own = level.coord.iter().zip(&level.ghost).enumerate();
        let own = own.filter(|(_, (_, ghost))| **ghost == 0);
        Self {
            slots: own
                .map(|(slot, (at, _))| (three(at), slot as u32))
                .collect(),
            count: three(&level.extent).map(|cells: i32| (cells / 4).max(1)),
            periodic: std::array::from_fn(|a| periodic.get(a).is_some_and(|is| *is)),
        }
    }

    /// Cells after which the box repeats along each axis; 0 where it does not.
    pub(crate) fn period(&self) -> [f64; 3] {
        std::array::from_fn(|a| match self.periodic[a] {
            true => f64::from(4 * self.count[a]),
            false => 0.0,
        })
    }

    /// Calls with the slots that a sphere reaches into; false if one of them is missing.
    fn each(&self, sphere: &HeldSphere, mut call: impl FnMut(u32)) -> bool {
        let reach = sphere.radius + AROUND + MARGIN;
        let range: [[i32; 2]; 3] = std::array::from_fn(|a| {
            let place = |by: f64| ((sphere.center[a] + by) / 4.0).floor() as i32;
            let [low, high] = [place(-reach), place(reach)];
            match self.periodic[a] {
                true => [low, high.min(low + self.count[a] - 1)],
                false => [low.max(0), high.min(self.count[a] - 1)],
            }
        });
        let mut is_there = true;
        for z in range[2][0]..=range[2][1] {
            for y in range[1][0]..=range[1][1] {
                for x in range[0][0]..=range[0][1] {
                    let at = [x, y, z];
                    let away = |a: usize| {
                        let low = f64::from(4 * at[a]);
                        let c = sphere.center[a];
                        (low - c).max(c - low - 4.0).max(0.0).powi(2)
                    };
                    // Where the box is hardly longer than the sphere, its other side may be nearer.
                    let wraps = (0..3).any(|a| {
                        self.periodic[a] && range[a][1] - range[a][0] + 1 == self.count[a]
                    });
                    if !wraps && (0..3).map(away).sum::<f64>() > reach * reach {
                        continue;
                    }
                    let wrapped: [i32; 3] =
                        std::array::from_fn(|a| at[a].rem_euclid(self.count[a]));
                    match self.slots.get(&wrapped) {
                        Some(slot) => call(*slot),
                        None => is_there = false,
                    }
                }
            }
        }
        is_there
    }
}

/// Lists by key, from pairs of key and value in the order of the values: where each key's begin, and the values.
fn by_key(keys: usize, of: impl Iterator<Item = (usize, u32)> + Clone) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; keys + 1];
    of.clone().for_each(|(key, _)| starts[key + 1] += 1);
    for key in 0..keys {
        starts[key + 1] += starts[key];
    }
    let mut next = starts.clone();
    let mut values = vec![0; starts[keys] as usize];
    for (key, value) in of {
        values[next[key] as usize] = value;
        next[key] += 1;
    }
    (starts, values)
}

impl Reach {
    /// Of spheres where they are.
    ///
    /// # Errors
    /// The number of one that reaches beyond the blocks.
    pub(crate) fn new(blocks: &Blocks, spheres: &[HeldSphere]) -> Result<Self, usize> {
        let mut found: Vec<(u32, u32)> = Vec::new();
        for (k, sphere) in spheres.iter().enumerate() {
            if !blocks.each(sphere, |slot| found.push((slot, k as u32))) {
                return Err(k);
            }
        }
        found.sort_unstable();
        let mut slots: Vec<u32> = found.iter().map(|of| of.0).collect();
        slots.dedup();
        let mut at = 0;
        let of_slots = found.iter().map(|&(slot, grain)| {
            while slots[at] != slot {
                at += 1;
            }
            (at, grain)
        });
        let of_slots: Vec<(usize, u32)> = of_slots.collect();
        let (starts, grains) = by_key(slots.len(), of_slots.iter().copied());
        let of_grains = (0u32..)
            .zip(&grains)
            .map(|(pair, &grain)| (grain as usize, pair));
        let (firsts, pairs) = by_key(spheres.len(), of_grains);
        let mut near = Vec::new();
        for range in starts.windows(2) {
            let of_slot = &grains[range[0] as usize..range[1] as usize];
            for (n, &one) in of_slot.iter().enumerate() {
                near.extend(of_slot[n + 1..].iter().map(|&two| [one, two]));
            }
        }
        near.sort_unstable();
        near.dedup();
        Ok(Self {
            at: spheres.iter().map(|of| of.center).collect(),
            slots,
            starts,
            grains,
            firsts,
            pairs,
            near,
        })
    }

    /// Whether the lists hold for spheres that have moved.
    pub(crate) fn holds(&self, spheres: &[HeldSphere]) -> bool {
        self.at.iter().zip(spheres).all(|(at, now)| {
            let square: f64 = (0..3).map(|a| (now.center[a] - at[a]).powi(2)).sum();
            square <= MARGIN * MARGIN
        })
    }
}
