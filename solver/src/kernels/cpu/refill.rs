//! Populations of cells that a body has uncovered: Grad's approximation (Dorschner, Chikatamarla, Bösch & Karlin 2015, §3.2), with
//! the density and the stress of the fluid beside, and a velocity between that of the wall and that of the fluid.

use super::{
    cell::{View, velocity},
    faces::equilibrium,
    order::{Order, Toward},
};
use crate::{
    constants::condition,
    kernels::RefillSource,
    lattice::{Lattice, MOST, opposite},
    storage::Storage,
    tables::{At, Level},
};
use cutlink_amr::dims;
use cutlink_device::{Host, Real};
use rayon::prelude::*;
use std::marker::PhantomData;

/// Density less 1, velocity, and the stress that collision has left (xx, xy, xz, yy, yz, zz; of axes that there are).
#[derive(Clone, Copy)]
struct Fluid<const D: usize> {
    density: f64,
    velocity: [f64; D],
    stress: [[f64; D]; D],
}

/// c c - δ / 3.
fn second<const D: usize, L: Lattice>(q: usize, a: usize, b: usize) -> f64 {
    let third = if a == b { 1.0 / 3.0 } else { 0.0 };
    f64::from(L::C[q][a] * L::C[q][b]) - third
}

impl<const D: usize> Fluid<D> {
    /// Of a cell; `half_step` of the acceleration is in its momentum after collision, and not in its velocity.
    fn of<L: Lattice, S: Storage>(
        view: &View<'_, D, L, S>,
        at: At<D>,
        half_step: &[f64; 3],
    ) -> Self {
        let f: [f64; MOST] = std::array::from_fn(|q| match q < L::Q {
            true => view.f(at, q).wide(),
            false => 0.0,
        });
        let density: f64 = f[..L::Q].iter().sum();
        let momentum = |a: usize| (0..L::Q).map(|q| f64::from(L::C[q][a]) * f[q]).sum::<f64>();
        let moved: [f64; D] = std::array::from_fn(|a| momentum(a) / (1.0 + density));
        let rest: [f64; MOST] = std::array::from_fn(|q| match q < L::Q {
            true => f[q] - equilibrium::<D, L, f64>(q, (density, moved)),
            false => 0.0,
        });
        let stress = |a: usize, b: usize| -> f64 {
            (0..L::Q).map(|q| second::<D, L>(q, a, b) * rest[q]).sum()
        };
        Self {
            density,
            velocity: std::array::from_fn(|a| moved[a] - half_step[a]),
            stress: std::array::from_fn(|a| std::array::from_fn(|b| stress(a, b))),
        }
    }

    fn add(&mut self, other: &Self, weight: f64) {
        self.density += weight * other.density;
        for a in 0..D {
            self.velocity[a] += weight * other.velocity[a];
            for b in 0..D {
                self.stress[a][b] += weight * other.stress[a][b];
            }
        }
    }

    /// A population by Grad's approximation.
    fn population<L: Lattice>(&self, q: usize, half_step: &[f64; 3]) -> f64 {
        let moved = std::array::from_fn(|a| self.velocity[a] + half_step[a]);
        let pairs = (0..D).flat_map(|a| (0..D).map(move |b| (a, b)));
        let stress: f64 = pairs
            .map(|(a, b)| second::<D, L>(q, a, b) * self.stress[a][b])
            .sum();
        equilibrium::<D, L, f64>(q, (self.density, moved)) + 4.5 * L::W[q] * stress
    }
}

/// A cell's place: 4^D times the slot plus the cell.
fn place<const D: usize>(at: At<D>) -> u32 {
    (dims::cells(D) * at.slot + at.cell()) as u32
}

/// The fluid of a cell, from those of its neighbours that do not wait; none where there is no such neighbour. The velocity is
/// interpolated along each cut link between the wall there and the cell on the other side, where that does not wait.
fn guess<const D: usize, L: Lattice, S: Storage>(
    view: &View<'_, D, L, S>,
    at: At<D>,
    half_step: &[f64; 3],
    waiting: &[u32],
) -> Option<Fluid<D>> {
    let links = view.links(at);
    let link = |q: usize| links.place(Toward::<L>::DIRECTION[q]);
    // A link that is cut ends at a wall, though there may be fluid behind it.
    let known = |q: usize| {
        let next = view.fluid(at, velocity::<D, L>(q))?;
        (link(q).is_none() && waiting.binary_search(&place(next)).is_err()).then_some(next)
    };
    let none = Fluid {
        density: 0.0,
        velocity: [0.0; D],
        stress: [[0.0; D]; D],
    };
    let (mut mean, mut weights) = (none, 0.0);
    let mut beside: [Option<Fluid<D>>; MOST] = [None; MOST];
    for q in 1..L::Q {
        let Some(next) = known(q) else { continue };
        let fluid = Fluid::of(view, next, half_step);
        mean.add(&fluid, L::W[q]);
        weights += L::W[q];
        beside[q] = Some(fluid);
    }
    if weights == 0.0 {
        return None;
    }
    let mut found = none;
    found.add(&mean, 1.0 / weights);
    let (mut sum, mut weights) = ([0.0; D], 0.0);
    for q in 1..L::Q {
        let Some(link) = link(q) else { continue };
        let rule = &view.level.rules[2 * D + usize::from(view.level.patch[link])];
        if rule.kind != condition::WALL {
            continue;
        }
        let share = f64::from(view.level.q[link]);
        let wall = view.wall_velocity(at, q, link);
        let inner = beside[opposite(q)].map(|fluid| fluid.velocity);
        for a in 0..D {
            sum[a] += L::W[q]
                * match inner {
                    Some(inner) => (wall[a] + share * inner[a]) / (1.0 + share),
                    None => wall[a],
                };
        }
        weights += L::W[q];
    }
    if weights > 0.0 {
        found.velocity = sum.map(|u| u / weights);
    }
    Some(found)
}

/// Refills those of the waiting cells that fluid is beside, or all with fluid at rest; the cells that still wait.
pub(super) fn refill<const D: usize, L: Lattice, S: Storage>(
    (level, half_step): (&Level<D, Host>, [f64; 3]),
    waiting: &[u32],
    source: RefillSource,
    populations: &mut [S],
) -> Vec<u32> {
    let cells = dims::cells(D);
    let view = View::<D, L, S> {
        level,
        from: populations,
        lattice: PhantomData,
    };
    let of = |&place: &u32| match source {
        RefillSource::Neighbors => {
            let at = At::<D>::new(place as usize / cells, place as usize % cells);
            guess(&view, at, &half_step, waiting)
        }
        RefillSource::Rest => Some(Fluid {
            density: 0.0,
            velocity: [0.0; D],
            stress: [[0.0; D]; D],
        }),
    };
    let found: Vec<Option<Fluid<D>>> = waiting.par_iter().map(of).collect();
    let mut left = Vec::new();
    for (&place, fluid) in waiting.iter().zip(found) {
        let Some(fluid) = fluid else {
            left.push(place);
            continue;
        };
        let (slot, cell) = (place as usize / cells, place as usize % cells);
        let block = &mut populations[slot * L::Q * cells..][..L::Q * cells];
        for q in 0..L::Q {
            let f = fluid.population::<L>(q, &half_step);
            block[Order::<L>::of(q, cell)] = S::store(S::Real::of(f));
        }
    }
    left
}
