//! How a flow is computed: lattice, collision, precision, walls, and what that bears; from the table `[numerics]`.

use crate::{
    failure::Failure,
    solve::{
        case::{CollisionName, NumericsTable},
        resolve::{MAGIC, positive},
        units::Bounds,
    },
};
use cutlink_solver::{
    Collision, FaceCondition, Interpolation, LatticeKind, PatchCondition, Precision, WallScheme,
    has_opening,
};

/// Numerics with nothing left open.
pub(super) struct Numerics {
    pub(super) lattice: LatticeKind,
    pub(super) collision: Collision,
    pub(super) precision: Precision,
    pub(super) interpolation: Interpolation,
    pub(super) wall: WallScheme,
    pub(super) bounds: Bounds,
    pub(super) allow_unstable: bool,
}

pub(super) fn numerics<const D: usize>(
    given: &NumericsTable,
    wall: WallScheme,
    [is_stirred, is_coarse]: [bool; 2],
) -> Result<Numerics, Failure> {
    let lattice = given.lattice.unwrap_or(match D {
        2 => LatticeKind::D2Q9,
        _ if is_coarse => LatticeKind::D3Q27,
        _ => LatticeKind::D3Q19,
    });
    if lattice.dimensions() != D {
        return Err(Failure::usage(format!(
            "[numerics] lattice is {lattice}, and the mesh is {D}D"
        ))
        .hint("leave lattice out, or name one of the mesh's dimensions"));
    }
    let name = given.collision.unwrap_or(match given.magic {
        Some(_) => CollisionName::Trt,
        None if is_stirred => CollisionName::Trt,
        None => CollisionName::Regularized,
    });
    if given.magic.is_some() && name != CollisionName::Trt {
        return Err(
            Failure::usage("[numerics] magic is for collision = \"trt\" alone")
                .hint("leave magic out"),
        );
    }
    let (collision, bounds) = match name {
        CollisionName::Bgk => (Collision::Bgk, Bounds::BGK),
        CollisionName::Trt => {
            let magic = positive("[numerics] magic", given.magic.unwrap_or(MAGIC))?;
            (Collision::Trt { magic }, Bounds::TRT)
        }
        CollisionName::Regularized => {
            let bounds = match lattice {
                LatticeKind::D3Q19 => Bounds::REGULARIZED_D3Q19,
                _ => Bounds::REGULARIZED,
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
    /// Narrows the bounds by what faces of the box bear.
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
                    true => Bounds::MOVING,
                    false => Bounds::MOVING_CLOSED,
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
