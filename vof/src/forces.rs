//! Faces between cells, and accelerations of faces by surface tension and weight.

use crate::TwoPhaseError;
use crate::curvature::{Curvature, curvature};
use crate::grain_cells::GrainFields;
use crate::interface::is_mixed;
use crate::lines::Lines;
use crate::mesh::FlowMesh;
use crate::params::{BoxFace, FlowParams};
use crate::penalty::{clear, rho};
use crate::running::Fields;
use crate::velocity::next;
use cutlink_amr::dims;
use cutlink_elliptic::faces;
use rayon::prelude::*;

/// A face of a leaf's cell.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Face<const D: usize> {
    /// A wall of the box, a solid cell, or a periodic box of one cell.
    Closed,
    /// Between two cells, as numbers in arrays, in the order of the axis: their widths, the area of the face.
    Inner { cells: [usize; 2], widths: [f64; 2] },
    /// An opening of the box, and the cell inside.
    Opening { cell: usize, face: BoxFace<D> },
}

impl<const D: usize> FlowMesh<D> {
    /// What a face of a leaf is. Towards finer blocks: as if they were of the same level.
    #[inline]
    pub(crate) fn face(
        &self,
        params: &FlowParams<D>,
        block: usize,
        cell: usize,
        side: usize,
    ) -> Face<D> {
        let count = dims::cells(D);
        if self.is_solid(block, cell) {
            return Face::Closed;
        }
        let own = block * count + cell;
        match next(self, block, cell, side) {
            None => match params.face(side) {
                BoxFace::Slip | BoxFace::NoSlip => Face::Closed,
                face => Face::Opening { cell: own, face },
            },
            Some((b, c)) if self.is_solid(b, c) => Face::Closed,
            Some((b, c)) => {
                let other = (b * count + c, self.width_of(b));
                let this = (own, self.width_of(block));
                let [low, high] = if side.is_multiple_of(2) {
                    [other, this]
                } else {
                    [this, other]
                };
                Face::Inner {
                    cells: [low.0, high.0],
                    widths: [low.1, high.1],
                }
            }
        }
    }

    /// The coordinate of a face along its axis, and of its centre along others, m.
    #[inline]
    pub(crate) fn face_centre(&self, block: usize, cell: usize, side: usize) -> [f64; D] {
        let mut at = self.centre(block, cell);
        let half = 0.5 * self.width_of(block);
        at[side / 2] += if side.is_multiple_of(2) { -half } else { half };
        at
    }

    /// Values of all faces of leaves, by block, cell and side; refined blocks stay as they are.
    pub(crate) fn fill_faces(
        &self,
        out: &mut [f64],
        of: impl Fn(usize, usize, usize) -> f64 + Sync,
    ) {
        let set = |out: &mut f64, block, cell, side| *out = of(block, cell, side);
        self.each_face(out, |_| true, set);
    }

    /// Changes values of faces of leaves of some blocks, each on its own.
    pub(crate) fn each_face(
        &self,
        out: &mut [f64],
        is_wanted: impl Fn(usize) -> bool + Sync,
        change: impl Fn(&mut f64, usize, usize, usize) + Sync,
    ) {
        let per = faces::per_block(D);
        out.par_chunks_mut(per)
            .enumerate()
            .for_each(|(block, out)| {
                if !self.blocks.is_leaf(block) || !is_wanted(block) {
                    return;
                }
                for cell in 0..dims::cells(D) {
                    let at = dims::unravel::<D>(cell, 4);
                    for axis in 0..D {
                        for upper in 0..=usize::from(at[axis] == 3) {
                            let side = 2 * axis + upper;
                            change(&mut out[faces::of_side(D, side, cell)], block, cell, side);
                        }
                    }
                }
            });
    }
}

/// Curvature at a face: the mean of both cells', where both have one. Where both are sure they count the same: else the curvature of a
/// cell that is nearly empty or full would not be felt, and its shape stay wrong. Of others those that are half full count most: the
/// interface is farther from the centres of the rest.
fn at_face(alpha: &[f64], found: &Curvature, [a, b]: [usize; 2]) -> f64 {
    let (ka, kb) = (found.of[a], found.of[b]);
    if found.is_sure[a] && found.is_sure[b] {
        return 0.5 * (ka + kb);
    }
    let [wa, wb] = [a, b].map(|c| (alpha[c] * (1.0 - alpha[c])).max(0.0) + 1e-6);
    match (ka.is_nan(), kb.is_nan()) {
        (false, false) => (wa * ka + wb * kb) / (wa + wb),
        (false, true) => ka,
        (true, false) => kb,
        (true, true) => 0.0,
    }
}

/// The acceleration of a face of given pressure: that of the fluid beyond, less its weight. What flows in was at rest, so that its
/// pressure at the face is less by ρ u² / 2 (Bernoulli); else gas that flows in has the energy to draw in more.
fn at_opening<const D: usize>(
    mesh: &FlowMesh<D>,
    (params, fields): (&FlowParams<D>, &Fields<D>),
    grains: Option<&GrainFields>,
    (block, own, side): (usize, usize, usize),
    liquid: f64,
) -> f64 {
    let (per, cell) = (faces::per_block(D), own % dims::cells(D));
    let inside = rho(&params.phases, grains, &fields.alpha, own);
    let beyond = params.phases.rho(liquid);
    let head = params.head(mesh.face_centre(block, cell, side));
    let flux = fields.flux[block * per + faces::of_side(D, side, cell)];
    let is_upper = side % 2 == 1;
    let speed = (if is_upper { flux } else { -flux }).min(0.0);
    let rise = head * (beyond - inside) - 0.5 * beyond * (speed * speed);
    let pull = -rise / inside / (0.5 * mesh.width_of(block));
    if is_upper { pull } else { -pull }
}

/// Accelerations of faces by surface tension and by the weight that jumps at the interface, m/s², towards the upper end
/// of the axis, as differences of the cells' fractions and densities: the same that the pressure's are, so that a drop of
/// constant curvature and a level surface are at rest to rounding (François et al. 2006). A surface at an angle to the cells
/// is so by the density of [`Lines`].
///
/// # Errors
/// An interface on a coarse level.
pub(crate) fn accelerate<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    grains: Option<&GrainFields>,
    fields: &Fields<D>,
    out: &mut [f64],
) -> Result<Curvature, TwoPhaseError> {
    let phases = &params.phases;
    let sigma = phases.surface_tension;
    let mut found = Curvature {
        of: Vec::new(),
        is_sure: Vec::new(),
        by_heights: 0,
        by_fit: 0,
        missing: 0,
    };
    if sigma > 0.0 && params.fixed_curvature.is_none() {
        found = curvature(mesh, params, &fields.alpha);
    }
    let alpha = &fields.alpha;
    let lines = Lines::new(mesh, params, fields)?;
    mesh.fill_faces(out, |block, cell, side| {
        let (cells, widths) = match mesh.face(params, block, cell, side) {
            Face::Inner { cells, widths } => (cells, widths),
            Face::Opening {
                cell: own,
                face: BoxFace::Pressure { liquid, .. },
            } => {
                return at_opening(mesh, (params, fields), grains, (block, own, side), liquid);
            }
            _ => return 0.0,
        };
        let (at, axis) = (mesh.face_centre(block, cell, side), side / 2);
        let turned = params.turning.as_ref();
        let turned = turned.map_or(0.0, |of| of.acceleration(at, axis));
        let turned = grains.map_or(turned, |of| turned + of.cells.drive[axis]);
        let [ca, cb] = cells.map(|c| alpha[c]);
        let mixed = cells.iter().any(|&c| is_mixed(alpha[c]));
        // Grains have no tension, and no lines.
        let clear = clear(grains, cells);
        if ca == cb && !mixed && clear == 1.0 {
            return turned;
        }
        let [ra, rb] = cells.map(|c| rho(phases, grains, alpha, c));
        let (mean, distance) = (0.5 * (ra + rb), 0.5 * (widths[0] + widths[1]));
        let mut force = 0.0;
        if sigma > 0.0 {
            let k = params
                .fixed_curvature
                .unwrap_or_else(|| at_face(alpha, &found, cells));
            force += clear * (sigma * k * (cb - ca));
        }
        force -= params.head(at) * (rb - ra);
        if let Some(lines) = lines.as_ref().filter(|_| mixed) {
            let [a, b] = cells.map(|c| (c / dims::cells(D), c % dims::cells(D)));
            let rise = params.head(mesh.centre(b.0, b.1)) - params.head(mesh.centre(a.0, a.1));
            let felt = rise + distance * (turned - lines.pull([a, b], axis));
            let fluid = 0.5 * (phases.rho(ca) + phases.rho(cb));
            force += clear * ((lines.density(a, b, axis) - fluid) * felt);
        }
        force / mean / distance + turned
    });
    Ok(found)
}
