//! Numerics of a flow: lattice, collision, precision, wall scheme and their stability bounds; from the table
//! `[numerics]`.

use crate::{
    error::Error,
    solve::{
        case::{CollisionName, NumericsTable},
        resolve::{MAGIC, positive},
        units::StabilityBounds,
    },
};
use cutlink_solver::{
    Collision, FaceCondition, Interpolation, LatticeKind, PatchCondition, Precision, WallScheme,
    has_opening,
};

/// Resolved numerics.
pub(super) struct Numerics {
    pub(super) lattice: LatticeKind,
    pub(super) collision: Collision,
    pub(super) precision: Precision,
    pub(super) interpolation: Interpolation,
    pub(super) wall: WallScheme,
    pub(super) bounds: StabilityBounds,
    pub(super) allow_unstable: bool,
}

pub(super) fn numerics<const D: usize>(
    given: &NumericsTable,
    wall: WallScheme,
    [is_wall_driven, is_coarse]: [bool; 2],
) -> Result<Numerics, Error> {
    let lattice = given.lattice.unwrap_or(match D {
        2 => LatticeKind::D2Q9,
        _ if is_coarse => LatticeKind::D3Q27,
        _ => LatticeKind::D3Q19,
    });
    if lattice.dimensions() != D {
        return Err(Error::input(format!(
            "[numerics] lattice is {lattice}, but the mesh is {D}D"
        ))
        .hint("omit lattice, or choose a {D}D one"));
    }
    let name = given.collision.unwrap_or(match given.magic {
        Some(_) => CollisionName::Trt,
        None if is_wall_driven => CollisionName::Trt,
        None => CollisionName::Regularized,
    });
    if given.magic.is_some() && name != CollisionName::Trt {
        return Err(
            Error::input("[numerics] magic applies only to collision = \"trt\"")
                .hint("remove magic"),
        );
    }
    let (collision, bounds) = match name {
        CollisionName::Bgk => (Collision::Bgk, StabilityBounds::BGK),
        CollisionName::Trt => {
            let magic = positive("[numerics] magic", given.magic.unwrap_or(MAGIC))?;
            (Collision::Trt { magic }, StabilityBounds::TRT)
        }
        CollisionName::Regularized => {
            let bounds = match lattice {
                LatticeKind::D3Q19 => StabilityBounds::REGULARIZED_D3Q19,
                _ => StabilityBounds::REGULARIZED,
            };
            (Collision::Regularized, bounds)
        }
    };
    Ok(Numerics {
        lattice,
        collision,
        precision: given.precision.unwrap_or(Precision::F32),
        interpolation: given.interpolation.unwrap_or(Interpolation::Cubic),
        wall,
        bounds,
        allow_unstable: given.allow_unstable.unwrap_or(false),
    })
}

impl Numerics {
    /// Tightens the bounds to those of the faces of the box.
    pub(super) fn bound<const D: usize>(
        &mut self,
        faces: &[[FaceCondition<D>; 2]; D],
        patches: &[PatchCondition<D>],
    ) {
        let along = |(a, face): (usize, &FaceCondition<D>)| match face {
            FaceCondition::Velocity(v) => v[a] == 0.0 && *v != [0.0; D],
            _ => false,
        };
        let mut of_axes = (0..D).flat_map(|a| faces[a].iter().map(move |face| (a, face)));
        let moves = of_axes.any(along);
        match self.collision {
            Collision::Trt { magic } if faces.iter().flatten().any(FaceCondition::opens) => {
                self.bounds.magic = Some(magic);
            }
            Collision::Regularized if moves => {
                self.bounds = match has_opening(faces, patches) {
                    true => StabilityBounds::MOVING,
                    false => StabilityBounds::MOVING_CLOSED,
                };
            }
            _ => {}
        }
    }

    pub(super) fn table(&self) -> NumericsTable {
        let (collision, magic) = match self.collision {
            Collision::Bgk => (CollisionName::Bgk, None),
            Collision::Trt { magic } => (CollisionName::Trt, Some(magic)),
            Collision::Regularized => (CollisionName::Regularized, None),
        };
        NumericsTable {
            lattice: Some(self.lattice),
            collision: Some(collision),
            magic,
            precision: Some(self.precision),
            interpolation: Some(self.interpolation),
            wall: Some(self.wall),
            allow_unstable: Some(self.allow_unstable),
        }
    }
}
