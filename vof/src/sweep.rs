//! A sweep along one axis: volume by geometric fluxes, and momentum with the mass that these carry.
//!
//! Volume: Weymouth and Yue 2010 (J. Comput. Phys. 229): the divergence along the axis counts as liquid where a cell was
//! more than half full when the step began, in all sweeps; so fractions stay in 0 to 1 at Courant numbers up to 0.5, and
//! the sweeps of a divergence-free flow add up to a conservative step. Momentum: the same fluxes times the densities,
//! times the velocity in the middle of what crosses a face, by slopes limited as by van Leer.

use crate::interface::Planes;
use crate::mesh::FlowMesh;
use crate::params::{BoxFace, FlowParams};
use crate::{TwoPhaseError, velocity};
use cutlink_amr::dims;
use cutlink_elliptic::faces;
use rayon::prelude::*;

/// Arrays of the sweeps.
#[derive(Debug, Default)]
pub(crate) struct SweepWork {
    /// Liquid that crosses faces, as a velocity.
    liquid: Vec<f64>,
    /// Momentum that crosses faces, over the area and the time.
    momentum: Vec<Vec<f64>>,
    /// By cell: whether it was more than half full when the step began.
    full: Vec<bool>,
}

/// What moves in the sweeps of a step.
pub(crate) struct Moved<'a, const D: usize> {
    pub(crate) alpha: &'a mut [f64],
    /// Velocities; none where only volume moves.
    pub(crate) velocity: Option<&'a mut [Vec<f64>; D]>,
}

/// All sweeps of a step of length `dt`; `first` is the axis that comes first.
pub(crate) fn step<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    moved: Moved<'_, D>,
    flux: &[f64],
    (dt, first): (f64, usize),
    w: &mut SweepWork,
) -> Result<(), TwoPhaseError> {
    let Moved {
        alpha,
        mut velocity,
    } = moved;
    w.full.clear();
    w.full.par_extend(alpha.par_iter().map(|&c| c > 0.5));
    let len = mesh.blocks.len() * faces::per_block(D);
    w.liquid.resize(len, 0.0);
    let before = velocity.as_deref().cloned();
    w.momentum
        .resize_with(if before.is_some() { D } else { 0 }, Vec::new);
    w.momentum.iter_mut().for_each(|m| m.resize(len, 0.0));
    for k in 0..D {
        let axis = (k + first) % D;
        sweep(
            mesh,
            params,
            alpha,
            velocity.as_deref_mut(),
            before.as_ref(),
            flux,
            (dt, axis),
            w,
        )?;
    }
    keep_volume(mesh, alpha, flux, dt, &w.full);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "a step's fields")]
fn sweep<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    alpha: &mut [f64],
    velocity: Option<&mut [Vec<f64>; D]>,
    before: Option<&[Vec<f64>; D]>,
    flux: &[f64],
    (dt, axis): (f64, usize),
    w: &mut SweepWork,
) -> Result<(), TwoPhaseError> {
    let planes = Planes::new(mesh, params, alpha)?;
    let mut velocity = velocity;
    if let Some(u) = velocity.as_deref_mut() {
        u.iter_mut().for_each(|u| mesh.restrict(u));
    }
    let now = velocity.as_deref();
    let crossing = Crossing {
        mesh,
        params,
        planes: &planes,
        alpha,
        velocity: now,
        flux,
        dt,
        axis,
    };
    crossing.fill(w);
    let share = 1.0 / (dims::children(D) / 2) as f64;
    faces::restrict(&mesh.blocks, &mut w.liquid, [share; 2]);
    for m in &mut w.momentum {
        faces::restrict(&mesh.blocks, m, [share; 2]);
    }
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let phases = &params.phases;
    let (liquid, full) = (&w.liquid, &w.full);
    let gain = |values: &[f64], block: usize, cell: usize| {
        let face = block * per + faces::lower(D, axis, cell);
        dt / mesh.width_of(block) * (values[face] - values[face + faces::stride(axis)])
    };
    let old: Vec<f64> = if velocity.is_some() {
        alpha.to_vec()
    } else {
        Vec::new()
    };
    alpha
        .par_chunks_mut(cells)
        .enumerate()
        .for_each(|(block, alpha)| {
            if mesh.blocks.is_leaf(block) {
                for (cell, c) in alpha.iter_mut().enumerate() {
                    let grown = if full[block * cells + cell] {
                        gain(flux, block, cell)
                    } else {
                        0.0
                    };
                    *c += gain(liquid, block, cell) - grown;
                }
            }
        });
    let (Some(u), Some(before)) = (velocity, before) else {
        return Ok(());
    };
    for (k, u) in u.iter_mut().enumerate() {
        let momentum = &w.momentum[k];
        u.par_chunks_mut(cells).enumerate().for_each(|(block, u)| {
            if mesh.blocks.is_leaf(block) {
                for (cell, u) in u.iter_mut().enumerate() {
                    let own = block * cells + cell;
                    let held = phases.density[usize::from(!full[own])] * before[k][own];
                    let change = gain(momentum, block, cell) - held * gain(flux, block, cell);
                    *u = (phases.rho(old[own]) * *u + change) / phases.rho(alpha[own]);
                }
            }
        });
    }
    Ok(())
}

/// What the residual divergence adds to the liquid's volume (1e-9 of it and less) is taken from the mixed cells, where
/// these have room: the volume is then that of the inflow alone, to rounding.
fn keep_volume<const D: usize>(
    mesh: &FlowMesh<D>,
    alpha: &mut [f64],
    flux: &[f64],
    dt: f64,
    full: &[bool],
) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let of_block = |block: usize| {
        let (mut added, mut room) = (0.0, 0.0);
        if mesh.blocks.is_leaf(block) {
            for cell in 0..cells {
                let own = block * cells + cell;
                room += mixing(alpha[own]);
                if full[own] {
                    for axis in 0..D {
                        let face = block * per + faces::lower(D, axis, cell);
                        added += dt / mesh.width_of(block)
                            * (flux[face + faces::stride(axis)] - flux[face]);
                    }
                }
            }
        }
        [added * mesh.volume_of(block), room * mesh.volume_of(block)]
    };
    let sums: Vec<[f64; 2]> = (0..mesh.blocks.len())
        .into_par_iter()
        .map(of_block)
        .collect();
    let [added, room] = sums
        .iter()
        .fold([0.0; 2], |sum, s| [sum[0] + s[0], sum[1] + s[1]]);
    // More than a thousandth of the room is no residual: an inflow without an outlet, which the pressure refuses.
    if room <= 0.0 || added.abs() > 1e-3 * room {
        return;
    }
    let share = added / room;
    alpha
        .par_chunks_mut(cells)
        .enumerate()
        .for_each(|(block, alpha)| {
            if mesh.blocks.is_leaf(block) {
                alpha.iter_mut().for_each(|c| *c -= share * mixing(*c));
            }
        });
}

fn mixing(c: f64) -> f64 {
    (c * (1.0 - c)).max(0.0)
}

struct Crossing<'a, const D: usize> {
    mesh: &'a FlowMesh<D>,
    params: &'a FlowParams<D>,
    planes: &'a Planes<D>,
    alpha: &'a [f64],
    velocity: Option<&'a [Vec<f64>; D]>,
    flux: &'a [f64],
    dt: f64,
    axis: usize,
}

impl<const D: usize> Crossing<'_, D> {
    /// Liquid and momentum through all faces along the axis of leaves.
    fn fill(&self, w: &mut SweepWork) {
        let per = faces::per_block(D);
        let SweepWork {
            liquid, momentum, ..
        } = w;
        self.each_face(liquid, |block, cell, side| {
            let q = self.flux[block * per + faces::of_side(D, side, cell)];
            q * self.part(block, cell, side, q)
        });
        let Some(velocity) = self.velocity else {
            return;
        };
        let [of_liquid, of_gas] = self.params.phases.density;
        for (k, momentum) in momentum.iter_mut().enumerate() {
            self.each_face(momentum, |block, cell, side| {
                let face = block * per + faces::of_side(D, side, cell);
                let (q, l) = (self.flux[face], liquid[face]);
                let mass = of_liquid * l + of_gas * (q - l);
                if q == 0.0 {
                    0.0
                } else {
                    mass * self.carried(&velocity[k], k, (block, cell), side, q)
                }
            });
        }
    }

    /// Values of the faces along the axis of leaves.
    fn each_face(&self, values: &mut [f64], of: impl Fn(usize, usize, usize) -> f64 + Sync) {
        let each = |(block, values): (usize, &mut [f64])| {
            if !self.mesh.blocks.is_leaf(block) {
                return;
            }
            for cell in 0..dims::cells(D) {
                let last = dims::unravel::<D>(cell, 4)[self.axis] == 3;
                for upper in 0..=usize::from(last) {
                    let side = 2 * self.axis + upper;
                    values[faces::of_side(D, side, cell)] = of(block, cell, side);
                }
            }
        };
        values
            .par_chunks_mut(faces::per_block(D))
            .enumerate()
            .for_each(each);
    }

    /// The cell that what crosses a face comes from, the side that it leaves by, and how wide it is in this cell; no cell
    /// where it comes from outside.
    fn from(
        &self,
        block: usize,
        cell: usize,
        side: usize,
        q: f64,
    ) -> (Option<(usize, usize)>, usize, f64) {
        let is_own = (q > 0.0) == (side % 2 == 1);
        let from = if is_own {
            Some((block, cell))
        } else {
            velocity::next(self.mesh, block, cell, side)
        };
        let leaves = 2 * self.axis + usize::from(q > 0.0);
        let width = from.map_or(1.0, |(b, _)| self.mesh.width_of(b));
        (from, leaves, q.abs() * self.dt / width)
    }

    /// The liquid's part of what crosses a face with a velocity along the axis.
    fn part(&self, block: usize, cell: usize, side: usize, q: f64) -> f64 {
        if q == 0.0 {
            return 0.0;
        }
        match self.from(block, cell, side, q) {
            (Some((b, c)), leaves, courant) => {
                let alpha = self.alpha[b * dims::cells(D) + c];
                self.planes.leaving(alpha, b, c, leaves, courant)
            }
            (None, ..) => match self.params.face(side) {
                BoxFace::Inflow { liquid, .. } | BoxFace::Pressure { liquid, .. } => liquid,
                BoxFace::Slip | BoxFace::NoSlip => 0.0,
            },
        }
    }

    /// A component of the velocity in the middle of what crosses a face.
    fn carried(&self, u: &[f64], k: usize, own: (usize, usize), side: usize, q: f64) -> f64 {
        match self.from(own.0, own.1, side, q) {
            (Some(at), leaves, courant) => {
                let slope = velocity::slope(self.mesh, self.params, u, k, at, self.axis);
                let ahead = if leaves % 2 == 1 { 0.5 } else { -0.5 };
                u[at.0 * dims::cells(D) + at.1] + ahead * (1.0 - courant) * slope
            }
            (None, ..) => match self.params.face(side) {
                BoxFace::Inflow { velocity, .. } => velocity[k],
                _ => u[own.0 * dims::cells(D) + own.1],
            },
        }
    }
}

/// The largest Courant number of a step, of the faces of leaves.
pub(crate) fn courant<const D: usize>(mesh: &FlowMesh<D>, flux: &[f64], dt: f64) -> f64 {
    let per = faces::per_block(D);
    let of_block = |block: usize| {
        let h = mesh.width_of(block);
        let of = &flux[block * per..(block + 1) * per];
        of.iter().map(|q| q.abs() * dt / h).fold(0.0, larger)
    };
    let leaf = |block: &usize| mesh.blocks.is_leaf(*block);
    (0..mesh.blocks.len())
        .into_par_iter()
        .filter(leaf)
        .map(of_block)
        .reduce(|| 0.0, larger)
}

/// The larger value; NaN if one is.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
