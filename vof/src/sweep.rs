//! A sweep along one axis: volume by geometric fluxes, and momentum with the mass that these carry.
//!
//! Volume: Weymouth and Yue 2010 (J. Comput. Phys. 229): the divergence along the axis counts as liquid where a cell was
//! more than half full when the step began, in all sweeps; so fractions stay in 0 to 1 at Courant numbers up to 0.5, and
//! the sweeps of a divergence-free flow add up to a conservative step. Momentum: the same fluxes times the densities,
//! times the velocity in the middle of what crosses a face, by slopes limited as by van Leer.

use crate::heat_params::HeatField;
use crate::heat_step::{self, HeatKernels, HeatSweep};
use crate::interface::Planes;
use crate::kernels::Scene;
use crate::mesh::FlowMesh;
use crate::params::BoxFace;
use crate::running::{Way, by_axis};
use crate::{TwoPhaseError, restrict, transfer, velocity};
use cutlink_amr::dims;
use cutlink_device::{Backend, Host};
use cutlink_elliptic::{block_sum, faces, ordered_sum};
use rayon::prelude::*;

/// Arrays of the sweeps.
#[derive(Debug)]
pub(crate) struct SweepWork<const D: usize, B: Backend> {
    /// Liquid that crosses faces, as a velocity.
    pub(crate) liquid: B::Buf<f64>,
    /// By cell: 1 where it was more than half full when the step began.
    pub(crate) full: B::Buf<u8>,
    pub(crate) momentum: Option<Momentum<D, B>>,
    pub(crate) heat: Option<HeatSweep<D, B>>,
}

/// Momentum in the sweeps.
#[derive(Debug)]
pub(crate) struct Momentum<const D: usize, B: Backend> {
    /// That crosses faces, over the area and the time.
    pub(crate) crossing: [B::Buf<f64>; D],
    /// Velocities when the step began.
    pub(crate) before: [B::Buf<f64>; D],
}

impl<const D: usize, B: HeatKernels<D>> SweepWork<D, B> {
    /// Of sweeps that move volume, and momentum and heat if wanted.
    ///
    /// # Errors
    /// Memory.
    pub(crate) fn new(
        at: &Scene<'_, D, B>,
        [moves, has_heat]: [bool; 2],
    ) -> Result<Self, TwoPhaseError> {
        let (cells, len) = (
            at.mesh.blocks.cells(),
            at.mesh.blocks.len() * faces::per_block(D),
        );
        let array = |len| at.backend.alloc(transfer::WHAT, len, 0.0);
        let momentum = || {
            Ok::<_, TwoPhaseError>(Momentum {
                crossing: by_axis(|_| array(len))?,
                before: by_axis(|_| array(cells))?,
            })
        };
        Ok(Self {
            liquid: array(len)?,
            full: at.backend.alloc(transfer::WHAT, cells, 0)?,
            momentum: moves.then(momentum).transpose()?,
            heat: has_heat.then(|| HeatSweep::new(at)).transpose()?,
        })
    }
}

/// What moves in the sweeps of a step.
pub(crate) struct Moved<'a, const D: usize, B: Backend> {
    pub(crate) alpha: &'a mut B::Buf<f64>,
    /// Velocities; none where only volume moves.
    pub(crate) velocity: Option<&'a mut [B::Buf<f64>; D]>,
}

/// What crosses faces along an axis in a step of length `dt`.
pub(crate) struct Crossing<'a, const D: usize, B: Backend> {
    pub(crate) alpha: &'a B::Buf<f64>,
    pub(crate) velocity: Option<&'a [B::Buf<f64>; D]>,
    pub(crate) flux: &'a B::Buf<f64>,
    pub(crate) dt: f64,
    pub(crate) axis: usize,
}

/// All sweeps of a way. The axis that comes first changes from part to part, and from step to step.
pub(crate) fn go<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    moved: Moved<'_, D, B>,
    mut heat: Option<&mut HeatField<D, B>>,
    flux: &B::Buf<f64>,
    way: Way,
    interface: &mut B::Interface,
    w: &mut SweepWork<D, B>,
) -> Result<(), TwoPhaseError> {
    let Moved {
        alpha,
        mut velocity,
    } = moved;
    let dt = way.time / way.parts as f64;
    (0..way.parts as u64).try_for_each(|part| {
        let moved = Moved {
            alpha,
            velocity: velocity.as_deref_mut(),
        };
        let first = ((way.steps + part) % D as u64) as usize;
        along(
            at,
            moved,
            heat.as_deref_mut(),
            flux,
            (dt, first),
            (interface, w),
        )
    })
}

/// Sweeps along all axes, beginning with one.
fn along<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    moved: Moved<'_, D, B>,
    mut heat: Option<&mut HeatField<D, B>>,
    flux: &B::Buf<f64>,
    (dt, first): (f64, usize),
    (interface, w): (&mut B::Interface, &mut SweepWork<D, B>),
) -> Result<(), TwoPhaseError> {
    let Moved {
        alpha,
        mut velocity,
    } = moved;
    B::mark_full(at, alpha, &mut w.full)?;
    if let (Some(u), Some(momentum)) = (&velocity, &mut w.momentum) {
        for (u, before) in u.iter().zip(&mut momentum.before) {
            at.backend.copy(u, before)?;
        }
    }
    if let (Some(field), Some(of)) = (&heat, &mut w.heat) {
        of.begin(at, field)?;
    }
    for k in 0..D {
        let axis = (k + first) % D;
        B::planes(at, alpha, interface)?;
        if let Some(u) = velocity.as_deref_mut() {
            u.iter_mut().try_for_each(|u| restrict::cells(at, u))?;
        }
        let crossing = Crossing {
            alpha,
            velocity: velocity.as_deref(),
            flux,
            dt,
            axis,
        };
        B::fluxes(at, interface, &crossing, w)?;
        restrict::faces(at, &mut w.liquid)?;
        for crossing in w.momentum.iter_mut().flat_map(|m| &mut m.crossing) {
            restrict::faces(at, crossing)?;
        }
        if let Some(field) = heat.as_deref_mut() {
            heat_step::sweep(at, field, (alpha, flux), (dt, axis), w)?;
        }
        let moved = Moved {
            alpha,
            velocity: velocity.as_deref_mut(),
        };
        B::update(at, flux, (dt, axis), w, moved)?;
    }
    B::keep_volume(at, alpha, flux, dt, &w.full)
}

/// Marks cells that are more than half full.
pub(crate) fn mark_full(alpha: &[f64], full: &mut [u8]) {
    full.par_iter_mut()
        .zip(alpha)
        .with_min_len(1 << 12)
        .for_each(|(full, &c)| *full = u8::from(c > 0.5));
}

/// Adds what crosses the faces along an axis to volume and momentum of cells.
pub(crate) fn update<const D: usize>(
    at: &Scene<'_, D, Host>,
    flux: &[f64],
    (dt, axis): (f64, usize),
    w: &SweepWork<D, Host>,
    moved: Moved<'_, D, Host>,
) {
    let Moved { alpha, velocity } = moved;
    let (mesh, phases) = (at.mesh, &at.params.phases);
    let (cells, per) = (dims::cells(D), faces::per_block(D));
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
                    let grown = if full[block * cells + cell] == 1 {
                        gain(flux, block, cell)
                    } else {
                        0.0
                    };
                    *c += gain(liquid, block, cell) - grown;
                }
            }
        });
    let (Some(u), Some(momentum)) = (velocity, &w.momentum) else {
        return;
    };
    for (k, u) in u.iter_mut().enumerate() {
        let (crossing, before) = (&momentum.crossing[k], &momentum.before[k]);
        u.par_chunks_mut(cells).enumerate().for_each(|(block, u)| {
            if mesh.blocks.is_leaf(block) {
                for (cell, u) in u.iter_mut().enumerate() {
                    let own = block * cells + cell;
                    let held = phases.density[1 - usize::from(full[own])] * before[own];
                    let change = gain(crossing, block, cell) - held * gain(flux, block, cell);
                    *u = (phases.rho(old[own]) * *u + change) / phases.rho(alpha[own]);
                }
            }
        });
    }
}

/// What the residual divergence adds to the liquid's volume (1e-9 of it and less) is taken from the mixed cells, where
/// these have room: the volume is then that of the inflow alone, to rounding.
pub(crate) fn keep_volume<const D: usize>(
    mesh: &FlowMesh<D>,
    alpha: &mut [f64],
    flux: &[f64],
    dt: f64,
    full: &[u8],
) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    // What was added to a cell, over the part of its width that a velocity of 1 crosses in the step.
    let outflow = |block: usize, cell: usize| {
        let each = |axis: usize| {
            let face = block * per + faces::lower(D, axis, cell);
            flux[face + faces::stride(axis)] - flux[face]
        };
        match full[block * cells + cell] {
            1 => (0..D).map(each).sum(),
            _ => 0.0,
        }
    };
    let blocks = || (0..mesh.blocks.len()).into_par_iter();
    let added = |block: usize| {
        if !mesh.blocks.is_leaf(block) {
            return 0.0;
        }
        let sum = block_sum::<D>(|cell| outflow(block, cell));
        dt / mesh.width_of(block) * sum * mesh.volume_of(block)
    };
    let room = |block: usize| {
        if !mesh.blocks.is_leaf(block) {
            return 0.0;
        }
        let sum = block_sum::<D>(|cell| mixing(alpha[block * cells + cell]));
        sum * mesh.volume_of(block)
    };
    let added = ordered_sum(&blocks().map(added).collect::<Vec<_>>());
    let room = ordered_sum(&blocks().map(room).collect::<Vec<_>>());
    let share = share(added, room);
    alpha
        .par_chunks_mut(cells)
        .enumerate()
        .for_each(|(block, alpha)| {
            if share != 0.0 && mesh.blocks.is_leaf(block) {
                alpha.iter_mut().for_each(|c| *c -= share * mixing(*c));
            }
        });
}

/// The part of the room that was added. More than a thousandth is no residual: an inflow without an outlet, which the pressure
/// refuses.
fn share(added: f64, room: f64) -> f64 {
    if room <= 0.0 || added.abs() > 1e-3 * room {
        return 0.0;
    }
    added / room
}

fn mixing(c: f64) -> f64 {
    (c * (1.0 - c)).max(0.0)
}

/// Liquid and momentum through all faces along the axis of leaves.
pub(crate) fn fluxes<const D: usize>(
    at: &Scene<'_, D, Host>,
    planes: &Planes<D>,
    of: &Crossing<'_, D, Host>,
    w: &mut SweepWork<D, Host>,
) {
    let per = faces::per_block(D);
    let through = Through { at, planes, of };
    let liquid = &mut w.liquid;
    each_face(at.mesh, of.axis, liquid, |block, cell, side| {
        let q = of.flux[block * per + faces::of_side(D, side, cell)];
        q * through.part(block, cell, side, q)
    });
    let (Some(velocity), Some(momentum)) = (of.velocity, &mut w.momentum) else {
        return;
    };
    let [of_liquid, of_gas] = at.params.phases.density;
    for (k, crossing) in momentum.crossing.iter_mut().enumerate() {
        each_face(at.mesh, of.axis, crossing, |block, cell, side| {
            let face = block * per + faces::of_side(D, side, cell);
            let (q, l) = (of.flux[face], liquid[face]);
            let mass = of_liquid * l + of_gas * (q - l);
            if q == 0.0 {
                0.0
            } else {
                mass * through.carried(&velocity[k], k, (block, cell), side, (q, mass / q))
            }
        });
    }
}

/// What is asked of faces.
struct Through<'a, const D: usize> {
    at: &'a Scene<'a, D, Host>,
    planes: &'a Planes<D>,
    of: &'a Crossing<'a, D, Host>,
}

/// Values of the faces along an axis of leaves.
pub(crate) fn each_face<const D: usize>(
    mesh: &FlowMesh<D>,
    axis: usize,
    values: &mut [f64],
    of: impl Fn(usize, usize, usize) -> f64 + Sync,
) {
    let each = |(block, values): (usize, &mut [f64])| {
        if !mesh.blocks.is_leaf(block) {
            return;
        }
        for cell in 0..dims::cells(D) {
            let last = dims::unravel::<D>(cell, 4)[axis] == 3;
            for upper in 0..=usize::from(last) {
                let side = 2 * axis + upper;
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
pub(crate) fn from<const D: usize>(
    mesh: &FlowMesh<D>,
    (axis, dt): (usize, f64),
    own: (usize, usize),
    side: usize,
    q: f64,
) -> (Option<(usize, usize)>, usize, f64) {
    let is_own = (q > 0.0) == (side % 2 == 1);
    let from = if is_own {
        Some(own)
    } else {
        velocity::next(mesh, own.0, own.1, side)
    };
    let leaves = 2 * axis + usize::from(q > 0.0);
    let width = from.map_or(1.0, |(b, _)| mesh.width_of(b));
    (from, leaves, q.abs() * dt / width)
}

impl<const D: usize> Through<'_, D> {
    fn from(
        &self,
        own: (usize, usize),
        side: usize,
        q: f64,
    ) -> (Option<(usize, usize)>, usize, f64) {
        from(self.at.mesh, (self.of.axis, self.of.dt), own, side, q)
    }

    /// The liquid's part of what crosses a face with a velocity along the axis.
    fn part(&self, block: usize, cell: usize, side: usize, q: f64) -> f64 {
        if q == 0.0 {
            return 0.0;
        }
        match self.from((block, cell), side, q) {
            (Some((b, c)), leaves, courant) => {
                let alpha = self.of.alpha[b * dims::cells(D) + c];
                self.planes.leaving(alpha, b, c, leaves, courant)
            }
            (None, ..) => match self.at.params.face(side) {
                BoxFace::Inflow { liquid, .. } | BoxFace::Pressure { liquid, .. } => liquid,
                BoxFace::Slip | BoxFace::NoSlip => 0.0,
            },
        }
    }

    /// A component of the velocity in the middle of what crosses a face, with a density. It differs from the cell's by so much at most
    /// that what stays is not beyond the velocities of the cells around: where liquid leaves little gas, the slope could give it any.
    fn carried(
        &self,
        u: &[f64],
        k: usize,
        own: (usize, usize),
        side: usize,
        (q, density): (f64, f64),
    ) -> f64 {
        match self.from(own, side, q) {
            (Some(at), leaves, courant) => {
                let slope = velocity::slope(self.at.mesh, self.at.params, u, k, at, self.of.axis);
                let half = if leaves % 2 == 1 { 0.5 } else { -0.5 };
                let ahead = half * (1.0 - courant) * slope;
                let behind = velocity::beyond(self.at.mesh, self.at.params, u, k, at, leaves ^ 1);
                let own = u[at.0 * dims::cells(D) + at.1];
                let goes = courant * density;
                let alpha = self.of.alpha[at.0 * dims::cells(D) + at.1];
                let stays = (self.at.params.phases.rho(alpha) - goes).max(0.0);
                let room = (own - behind).abs();
                if ahead.abs() <= room * stays / goes {
                    return own + ahead;
                }
                let most = self.farthest(u, at, (own, -ahead), room) * stays / goes;
                own + if ahead.abs() <= most {
                    ahead
                } else {
                    most.copysign(ahead)
                }
            }
            (None, ..) => match self.at.params.face(side) {
                BoxFace::Inflow { velocity, .. } => velocity[k],
                _ => u[own.0 * dims::cells(D) + own.1],
            },
        }
    }

    /// How far the values around a cell, corners included, are from its own in the direction of a number: at least so far.
    fn farthest(
        &self,
        u: &[f64],
        (block, cell): (usize, usize),
        (own, toward): (f64, f64),
        least: f64,
    ) -> f64 {
        let around = self.at.mesh.near(block, cell, 1);
        let fluid =
            around.filter(|near| near.is_inside && !self.at.mesh.is_solid(near.block, near.cell));
        fluid.fold(least, |far, near| {
            let away = u[near.block * dims::cells(D) + near.cell] - own;
            far.max(if toward < 0.0 { -away } else { away })
        })
    }
}
