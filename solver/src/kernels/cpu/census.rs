//! Audit of all walls before a flow starts: schemes that lack a cell, and the net mass flux of moving walls.

use super::cell::{Behind, View, velocity};
use crate::{
    constants::{condition, scheme},
    kernels::ExactSum,
    lattice::Lattice,
    tables::{At, Level, Rule},
};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;
use std::{iter::Sum, marker::PhantomData, ops::Add};

/// Links of walls, and the net volume flux of moving walls into the box, in root cells a root step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Census {
    /// Cut links with a wall.
    pub links: u64,
    /// Of those, links of the quadratic scheme where a third cell is missing: they take the linear one.
    pub linear_instead: u64,
    /// Links of the linear and quadratic schemes where a second cell is missing: they bounce back.
    pub bounced_instead: u64,
    /// Net volume flux of moving walls into the fluid.
    pub inflow: f64,
    /// The sum of its absolute values over the links.
    pub exchanged: f64,
    /// The volume of the fluid.
    pub volume: f64,
    /// Of moving walls, the largest speed where they cut links, Δx / Δt.
    pub speed: f64,
    /// Of moving walls, the largest product of speed and cell: u Δx, in root cells and steps.
    pub fastest: f64,
    /// The same of patches that rotate.
    pub turning: f64,
}

impl Sum for Census {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |a, b| Self {
            links: a.links + b.links,
            linear_instead: a.linear_instead + b.linear_instead,
            bounced_instead: a.bounced_instead + b.bounced_instead,
            inflow: a.inflow + b.inflow,
            exchanged: a.exchanged + b.exchanged,
            volume: a.volume + b.volume,
            speed: a.speed.max(b.speed),
            fastest: a.fastest.max(b.fastest),
            turning: a.turning.max(b.turning),
        })
    }
}

impl Census {
    /// Counts what a wall drives in along a link of velocity `k`, the same for all schemes.
    fn moving<const D: usize, L: Lattice>(
        &mut self,
        view: &View<'_, D, L, f64>,
        (at, k): (At<D>, usize),
        q: f64,
        rule: &Rule,
    ) {
        if !rule.moves() {
            return;
        }
        // A level takes 2^ℓ steps a root step, and its cells are 2^-Dℓ root cells.
        let scale = (0.5f64).powi((view.level.index * (D - 1)) as i32);
        let u = view.velocity_at(at, k, q, rule);
        let driven = scale * view.displaced(at, k, rule);
        self.inflow += driven;
        self.exchanged += driven.abs();
        let speed = u.iter().map(|u| u * u).sum::<f64>().sqrt();
        let fast = speed / f64::from(1u32 << view.level.index);
        self.speed = self.speed.max(speed);
        self.fastest = self.fastest.max(fast);
        if rule.omega != [0.0; 3] {
            self.turning = self.turning.max(fast);
        }
    }
}

/// Audits the walls of a level. Cells that hold only copies of another level's do not count.
pub(crate) fn census<const D: usize, L: Lattice>(level: &Level<D, Host>) -> Census {
    let view = View::<D, L, f64> {
        level,
        from: &[],
        lattice: PhantomData,
    };
    let by_slot: Vec<Census> = level
        .walled
        .par_iter()
        .map(|&slot| of_slot(&view, slot as usize))
        .collect();
    let cells: u64 = (level.stepped.iter().zip(&level.ghost))
        .map(|(stepped, ghost)| u64::from((stepped & !ghost).count_ones()))
        .sum();
    let sum = |of: fn(&Census) -> f64| by_slot.iter().map(of).collect::<ExactSum>().value();
    let (inflow, exchanged) = (sum(|of| of.inflow), sum(|of| of.exchanged));
    let mut census = Census {
        inflow,
        exchanged,
        ..by_slot.into_iter().sum()
    };
    census.volume = cells as f64 * (0.5f64).powi((level.index * D) as i32);
    census
}

/// What one rule's face or patch drives into a level a root step, at density 1: of a face what passes beside its cells, of a
/// patch what its links take.
pub(crate) fn inflow<const D: usize, L: Lattice>(level: &Level<D, Host>, rule: usize) -> f64 {
    let view = View::<D, L, f64> {
        level,
        from: &[],
        lattice: PhantomData,
    };
    let wanted = &level.rules[rule];
    let of_cell = |at: At<D>| {
        if rule < 2 * D {
            let mut step = [0; D];
            step[rule / 2] = 2 * (rule % 2) as i32 - 1;
            let inward = -f64::from(step[rule / 2]);
            return match view.leaves(at, step) {
                true => inward * view.velocity_at(at, 0, 0.5, wanted)[rule / 2],
                false => 0.0,
            };
        }
        let (mut sum, links) = (0.0, view.links(at));
        for k in 1..L::Q {
            let Some(link) = links.place(dims::direction(velocity::<D, L>(k))) else {
                continue;
            };
            if 2 * D + usize::from(level.patch[link]) == rule {
                sum += view.displaced(at, k, wanted);
            }
        }
        sum
    };
    let of_slot = |&slot: &u32| -> f64 {
        let slot = slot as usize;
        let counted = level.stepped[slot] & !level.ghost[slot];
        let cells = (0..dims::cells(D)).filter(|cell| counted >> cell & 1 == 1);
        cells.map(|cell| of_cell(At::<D>::new(slot, cell))).sum()
    };
    if matches!(
        wanted.kind,
        condition::SLIP | condition::PRESSURE | condition::OUTFLOW | condition::PERIODIC
    ) {
        return 0.0;
    }
    let by_slot = level.walled.par_iter().map(of_slot).map(ExactSum::from);
    let sum = by_slot.reduce(ExactSum::default, Add::add);
    sum.value() * (0.5f64).powi((level.index * (D - 1)) as i32)
}

fn of_slot<const D: usize, L: Lattice>(view: &View<'_, D, L, f64>, slot: usize) -> Census {
    let level = view.level;
    let mut census = Census::default();
    let counted = level.stepped[slot] & !level.ghost[slot];
    for cell in (0..dims::cells(D)).filter(|cell| counted >> cell & 1 == 1) {
        let at = At::<D>::new(slot, cell);
        let links = view.links(at);
        for k in 1..L::Q {
            let step = velocity::<D, L>(k);
            if let Some(link) = links.place(dims::direction(step)) {
                let rule = &level.rules[2 * D + usize::from(level.patch[link])];
                if rule.kind != condition::WALL {
                    continue;
                }
                let q = f64::from(level.q[link]);
                let behind = view.behind(at, k, links, rule.scheme);
                census.links += 1;
                census.linear_instead +=
                    u64::from(rule.scheme == scheme::QUADRATIC && matches!(behind, Behind::One(_)));
                census.bounced_instead +=
                    u64::from(rule.scheme != scheme::BOUNCE_BACK && matches!(behind, Behind::None));
                census.moving(view, (at, k), q, rule);
            } else if view.leaves(at, step)
                && let Some(rule) = view.face_wall(at, step)
            {
                census.moving(view, (at, k), 0.5, rule);
            }
        }
    }
    census
}
