//! Numerics of a flow: lattice, collision, precision, wall scheme and their stability bounds; from the table
//! `[numerics]`.

use crate::solve::{
    case::{NumericsTable, WallModelName},
    units::{StabilityBounds, Unstable},
};
use cutlink_common::Error;
use cutlink_flow::setting::positive;
use cutlink_solver::{
    Collision, FaceCondition, Interpolation, LatticeKind, Les, PatchCondition, Plan, Precision,
    WallScheme, has_opening, is_driven_by_walls, is_passed,
};

/// What defaults depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// Moving walls alone drive it, and TRT is right there.
    pub(super) suits_trt: bool,
    /// In 3D, without faces that move along themselves or inlets that meet no-slip ones: on these cells, collisions other than
    /// cumulants dissipate too much (decision 024).
    pub(super) is_coarse: bool,
    /// The cells are too coarse for D3Q19 to be stable.
    pub(super) is_too_coarse: bool,
}

/// u Δx / ν on the root level from which on [`Kind::is_coarse`].
const COARSE: f64 = 500.0;

/// u Δx / ν on the root level up to which TRT is right in 3D: beyond, flows between walls are wrong by more than 2 % (decision 046).
const TRT_IN_SPACE: f64 = 3.0;

impl Kind {
    /// Of a flow with u Δx / ν on the root level between faces and patches.
    pub(super) fn of<const D: usize>(
        grid_reynolds: f64,
        faces: &[[FaceCondition<D>; 2]; D],
        patches: &[PatchCondition<D>],
    ) -> Self {
        let magic = Collision::Trt { magic: 0.0 };
        let for_trt = match D {
            2 => StabilityBounds::of_moving_walls(magic, D).grid_reynolds,
            _ => TRT_IN_SPACE,
        };
        Self {
            suits_trt: is_driven_by_walls(faces, patches) && grid_reynolds <= for_trt,
            is_coarse: D == 3
                && grid_reynolds > COARSE
                && !has_moving_face(faces)
                && !has_inlet_at_wall(faces)
                && !is_driven_by_walls(faces, patches),
            is_too_coarse: grid_reynolds > StabilityBounds::REGULARIZED_D3Q19.grid_reynolds,
        }
    }
}

/// Whether a face moves along itself.
fn has_moving_face<const D: usize>(faces: &[[FaceCondition<D>; 2]; D]) -> bool {
    let along = |(a, face): (usize, &FaceCondition<D>)| match face {
        FaceCondition::Velocity(v) => v[a] == 0.0 && *v != [0.0; D],
        _ => false,
    };
    let mut of_axes = (0..D).flat_map(|a| faces[a].iter().map(move |face| (a, face)));
    of_axes.any(along)
}

/// Whether a face with a velocity through it has a no-slip face beside it.
fn has_inlet_at_wall<const D: usize>(faces: &[[FaceCondition<D>; 2]; D]) -> bool {
    let passes = |&a: &usize| {
        let is =
            |face: &FaceCondition<D>| matches!(face, FaceCondition::Velocity(v) if v[a] != 0.0);
        faces[a].iter().any(is)
    };
    let rests = |face: &FaceCondition<D>| *face == FaceCondition::Velocity([0.0; D]);
    let has_wall = |a: usize| (0..D).any(|b| b != a && faces[b].iter().any(rests));
    (0..D).filter(passes).any(has_wall)
}

/// TRT with the magic parameter that puts a straight wall exactly halfway.
const TRT: Collision = Collision::Trt { magic: 3.0 / 16.0 };

/// Resolved numerics.
pub(super) struct Numerics {
    pub(super) lattice: LatticeKind,
    pub(super) collision: Collision,
    pub(super) les: Les,
    pub(super) precision: Precision,
    pub(super) interpolation: Interpolation,
    pub(super) wall: WallScheme,
    pub(super) wall_model: WallModelName,
    pub(super) bounds: StabilityBounds,
    pub(super) allow_unstable: bool,
}

pub(super) fn numerics<const D: usize>(
    given: &NumericsTable,
    wall: WallScheme,
    flow: Kind,
) -> Result<Numerics, Error> {
    let lattice = given.lattice.unwrap_or(match D {
        2 => LatticeKind::D2Q9,
        _ if matches!(
            given.collision,
            Some(Collision::Cumulant { .. } | Collision::Kbc)
        ) =>
        {
            LatticeKind::D3Q27
        }
        _ if flow.is_coarse && given.collision.is_none() && given.magic.is_none() => {
            LatticeKind::D3Q27
        }
        _ if flow.is_too_coarse => LatticeKind::D3Q27,
        _ => LatticeKind::D3Q19,
    });
    if lattice.dimensions() != D {
        return Err(Error::input(format!(
            "[numerics] lattice is {lattice}, but the mesh is {D}D"
        ))
        .hint("omit lattice, or choose a {D}D one"));
    }
    let mut collision = given.collision.unwrap_or(match given.magic {
        Some(_) => TRT,
        None if flow.suits_trt => TRT,
        None if flow.is_coarse && lattice == LatticeKind::D3Q27 => Collision::CUMULANT,
        None => Collision::Regularized,
    });
    match (&mut collision, given.magic) {
        (_, None) => {}
        (Collision::Trt { magic }, Some(given)) => *magic = positive("[numerics] magic", given)?,
        _ => {
            return Err(
                Error::input("[numerics] magic applies only to collision = \"trt\"")
                    .hint("remove magic"),
            );
        }
    }
    let bounds = match (collision, lattice) {
        (Collision::Bgk, _) => StabilityBounds::BGK,
        (Collision::Trt { .. }, _) => StabilityBounds::TRT,
        (Collision::Regularized, LatticeKind::D3Q19) => StabilityBounds::REGULARIZED_D3Q19,
        (Collision::Regularized, _) => StabilityBounds::REGULARIZED,
        (Collision::Cumulant { .. }, _) => StabilityBounds::CUMULANT,
        (Collision::Kbc, _) => StabilityBounds::KBC,
    };
    if !collision.fits(lattice) {
        let lattices = match collision {
            Collision::Kbc => "d2q9 and d3q27",
            _ => "d3q27, which is 3D",
        };
        return Err(Error::input(format!(
            "[numerics] collision = \"{collision}\" exists on {lattices}; the lattice is {lattice}"
        ))
        .hint(match D {
            2 => "choose collision = \"regularized\" or \"kbc\"",
            _ => "omit lattice, or choose collision = \"regularized\"",
        }));
    }
    let les = les::<D>(given)?;
    Ok(Numerics {
        lattice,
        collision,
        les,
        precision: given.precision.unwrap_or(Precision::F32),
        interpolation: given.interpolation.unwrap_or(Interpolation::Cubic),
        wall,
        wall_model: given.wall_model.unwrap_or_default(),
        bounds,
        allow_unstable: given.allow_unstable.unwrap_or(false),
    })
}

/// What is violated at the moving walls of a closed box, by the cells there. Bodies that turn are stable further.
pub(super) fn at_moving_walls<const D: usize>(plan: &Plan<'_, D>) -> Option<Unstable> {
    let (params, census) = (&plan.params, &plan.census);
    if !is_driven_by_walls(&params.faces, &params.patches) || census.fastest <= census.turning {
        return None;
    }
    // A mesh that follows the flow is finest where walls move.
    let deeper = params
        .adaptation
        .as_ref()
        .map_or(0, |adaptation| adaptation.levels - 1);
    let value = census.fastest / params.viscosity / f64::from(1u32 << deeper.min(31));
    let bounds = StabilityBounds::of_moving_walls(params.collision, D);
    (value > bounds.grid_reynolds).then_some(Unstable::GridReynolds { value, bounds })
}

/// The eddy viscosity of `les` and `les_constant`.
fn les<const D: usize>(given: &NumericsTable) -> Result<Les, Error> {
    let les = given.les.unwrap_or(Les::None);
    if matches!(les, Les::Qr { .. }) && D == 2 {
        return Err(Error::input(
            "[numerics] les = \"qr\" has no viscosity in plane flow, where vortices are not stretched",
        )
        .hint("choose les = \"smagorinsky\", or none"));
    }
    let Some(constant) = given.les_constant else {
        return Ok(les);
    };
    let constant = positive("[numerics] les_constant", constant)?;
    match les {
        Les::None => Err(
            Error::input("[numerics] les_constant needs an eddy viscosity")
                .hint("add les = \"smagorinsky\" or \"qr\", or remove les_constant"),
        ),
        Les::Smagorinsky { .. } => Ok(Les::Smagorinsky { constant }),
        Les::Qr { .. } => Ok(Les::Qr { constant }),
    }
}

impl Numerics {
    /// Tightens the bounds to those of the kind of box, its openings and walls.
    pub(super) fn bound<const D: usize>(
        &mut self,
        faces: &[[FaceCondition<D>; 2]; D],
        patches: &[PatchCondition<D>],
    ) {
        let is_open = has_opening(faces, patches);
        if is_passed(faces) && !is_open {
            self.bounds = StabilityBounds::PASSED;
            return;
        }
        let is_quadratic = |patch: &PatchCondition<D>| {
            matches!(
                patch,
                PatchCondition::Wall {
                    scheme: WallScheme::Quadratic,
                    ..
                }
            )
        };
        match self.collision {
            Collision::Trt { magic } if is_open => self.bounds.magic = Some(magic),
            Collision::Bgk if is_open => {
                self.bounds = match D {
                    2 => StabilityBounds::BGK_OPEN_2D,
                    _ => StabilityBounds::BGK_OPEN,
                };
            }
            Collision::Cumulant { .. } if patches.iter().any(is_quadratic) => {
                self.bounds = StabilityBounds::CUMULANT_QUADRATIC;
            }
            Collision::Regularized | Collision::Cumulant { .. }
                if is_open && has_moving_face(faces) =>
            {
                self.bounds = StabilityBounds::MOVING;
            }
            _ => {}
        }
        if has_inlet_at_wall(faces) {
            // With 27 velocities, an outflow less than two heights behind the inlet has a mode along the edges of ducts.
            let is_full = self.lattice == LatticeKind::D3Q27;
            let is_less = |face: &FaceCondition<D>| match face {
                FaceCondition::FarField { .. } => true,
                FaceCondition::Outflow => is_full,
                _ => false,
            };
            let is_regular =
                self.collision == Collision::Regularized && !faces.iter().flatten().any(is_less);
            let bounds = match D {
                2 => StabilityBounds::INLET_AT_WALL_2D,
                _ if is_regular => StabilityBounds::INLET_AT_WALL,
                _ => StabilityBounds::INLET_AT_WALL_3D,
            };
            if bounds.grid_reynolds < self.bounds.grid_reynolds {
                self.bounds = StabilityBounds {
                    magic: self.bounds.magic,
                    ..bounds
                };
            }
        }
    }

    pub(super) fn table(&self) -> NumericsTable {
        let magic = match self.collision {
            Collision::Trt { magic } => Some(magic),
            _ => None,
        };
        let les_constant = match self.les {
            Les::None => None,
            Les::Smagorinsky { constant } | Les::Qr { constant } => Some(constant),
        };
        NumericsTable {
            lattice: Some(self.lattice),
            collision: Some(self.collision),
            magic,
            les: Some(self.les),
            les_constant,
            precision: Some(self.precision),
            interpolation: Some(self.interpolation),
            wall: Some(self.wall),
            wall_model: Some(self.wall_model),
            allow_unstable: Some(self.allow_unstable),
        }
    }
}

#[cfg(test)]
mod tests;
