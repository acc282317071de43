//! Numerics of a flow: lattice, collision, precision and wall scheme; from the table `[numerics]`.

use crate::solve::case::{NumericsTable, WallModelName};
use cutlink_common::Error;
use cutlink_flow::setting::positive;
use cutlink_solver::stability::{self, StabilityBounds};
use cutlink_solver::{
    Collision, FaceCondition, Interpolation, LatticeKind, Les, PatchCondition, Precision,
    WallScheme, is_driven_by_walls,
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
                && !stability::has_moving_face(faces)
                && !stability::has_inlet_at_wall(faces)
                && !is_driven_by_walls(faces, patches),
            is_too_coarse: grid_reynolds > StabilityBounds::REGULARIZED_D3Q19.grid_reynolds,
        }
    }
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
        allow_unstable: given.allow_unstable.unwrap_or(false),
    })
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
    pub(super) fn table(&self, given: &NumericsTable) -> NumericsTable {
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
            // Of spheres, as the user gives them.
            contact_step: given.contact_step,
            max_overlap: given.max_overlap,
            allow_unstable: Some(self.allow_unstable),
        }
    }
}

#[cfg(test)]
mod tests;
