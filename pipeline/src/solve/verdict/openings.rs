//! The open faces of the box at a check of the flow: pressure, what passes, and what comes back in.
//!
//! In: snapshots of the blocks at these faces. Out: sums over the fluid cells beside them, in lattice units. Cost: those
//! cells, and the prescribed velocity at each.

use crate::solve::{conditions::FACES, resolve::Resolved};
use cutlink_amr::dims;
use cutlink_solver::{
    FaceCondition, Params, Place, Snapshot, Space, Variation,
    fields::{blocks_at, flux},
};
use cutlink_voxelizer::Mesh;
use serde::{Deserialize, Serialize};

/// Fluid that enters slower than this share of the reference velocity is no inflow.
const INFLOW: f64 = 0.02;

/// What an open face prescribes.
#[derive(Debug, Clone, PartialEq)]
enum Given<const D: usize> {
    /// A velocity: the same everywhere, or what it is replaced by.
    Velocity(f64, Option<Variation<D>>),
    /// A density that stays.
    Density(f64),
    /// A density that varies.
    Varies(Variation<D>),
    /// A far field of a density, through which fluid may pass both ways.
    FarField(f64),
}

/// An open face of the box.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Opening<const D: usize> {
    axis: usize,
    side: usize,
    given: Given<D>,
    is_outflow: bool,
}

/// An open face at a check, in lattice units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct FaceLook {
    /// Mean over the area of the fluid beside it.
    pub(crate) density: f64,
    /// Mass that leaves in a root step.
    pub(crate) mass: f64,
    /// Mass at density 1 that should enter, where a velocity is prescribed.
    pub(crate) asked: Option<f64>,
    /// Share of the area through which fluid enters.
    pub(crate) back: f64,
}

/// The open faces at a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FacesLook {
    /// Root steps done.
    pub(crate) step: u64,
    /// In the order of the openings.
    pub(crate) faces: Vec<FaceLook>,
}

/// The open faces of a flow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Openings<const D: usize> {
    pub(crate) all: Vec<Opening<D>>,
    /// Lattice velocity of the reference velocity.
    velocity: f64,
}

impl<const D: usize> Opening<D> {
    pub(crate) fn name(&self) -> &'static str {
        FACES[self.axis][self.side]
    }

    /// The density that it holds in a root step, if it is the same everywhere.
    pub(crate) fn density(&self, step: u64) -> Option<f64> {
        match &self.given {
            Given::Density(density) => Some(*density),
            Given::Varies(Variation {
                space: Space::Uniform,
                time: Some(of),
                ..
            }) => Some(1.0 + of(step as f64 - 0.5).ok()?[0]),
            _ => None,
        }
    }

    /// The density that it holds, or draws the flow to.
    pub(crate) fn draws_to(&self, step: u64) -> Option<f64> {
        match self.given {
            Given::FarField(density) => Some(density),
            _ => self.density(step),
        }
    }

    /// Whether it prescribes no density.
    pub(crate) fn is_inlet(&self) -> bool {
        matches!(self.given, Given::Velocity(..))
    }

    pub(crate) fn is_outflow(&self) -> bool {
        self.is_outflow
    }

    /// Whether fluid should leave through this face, the nth, and enter nowhere: in sum it leaves.
    pub(crate) fn leaves(&self, looks: &[FacesLook], n: usize) -> bool {
        let mass: f64 = looks.iter().map(|look| look.faces[n].mass).sum();
        matches!(self.given, Given::Density(_) | Given::Varies(_)) && mass > 0.0
    }

    fn of(params: &Params<D>, axis: usize, side: usize) -> Option<Self> {
        let at = Place::Face(axis, side);
        let varies = params.variations.iter().find(|v| v.place == at);
        let constant = |density: f64| match varies {
            None => Given::Density(density),
            Some(variation) => Given::Varies(variation.clone()),
        };
        let condition = params.faces[axis][side];
        let given = match condition {
            FaceCondition::Velocity(v) if v[axis] != 0.0 => {
                Given::Velocity(v[axis], varies.cloned())
            }
            FaceCondition::Pressure(density) => constant(density),
            FaceCondition::Outflow => Given::Density(1.0),
            FaceCondition::FarField { density, .. } => Given::FarField(density),
            _ => return None,
        };
        Some(Self {
            axis,
            side,
            given,
            is_outflow: condition == FaceCondition::Outflow,
        })
    }

    /// The prescribed velocity along the axis, as a function of the place, in a root step; `None` where there is none.
    fn velocity(&self, step: u64) -> Option<impl Fn([f64; D]) -> Option<f64>> {
        let Given::Velocity(own, variation) = &self.given else {
            return None;
        };
        // Conditions have the value of the middle of a step.
        let (time, axis) = (step as f64 - 0.5, self.axis);
        let factor = variation.as_ref().and_then(|v| v.time.as_ref());
        let factor = match factor {
            Some(of) => of(time).ok()?[axis],
            None => 1.0,
        };
        let moving = match variation.as_ref().map(|v| &v.space) {
            Some(Space::Moving(of)) => Some(of(time)),
            _ => None,
        };
        Some(move |x: [f64; D]| {
            let place = match (variation.as_ref().map(|v| &v.space), &moving) {
                (None, _) => return Some(*own),
                (Some(Space::Steady(of)), _) => of(x).ok()?[axis],
                (_, Some(of)) => of(x).ok()?[axis],
                _ => 1.0,
            };
            Some(place * factor)
        })
    }

    /// The face in a snapshot of the blocks beside it.
    fn look(&self, mesh: &Mesh<D>, snapshot: &Snapshot<D>, step: u64, still: f64) -> FaceLook {
        let (axis, upper) = (self.axis, self.side == 1);
        let (layer, outward) = if upper { (3, 1.0) } else { (0, -1.0) };
        let asked = self.velocity(step);
        let (mut density, mut back, mut enters) = (0.0, 0.0, Some(0.0));
        for block in blocks_at(mesh, axis, upper) {
            let at = block as usize;
            let size = 0.5f64.powi(i32::from(mesh.forest.level[at]));
            let area = size.powi(D as i32 - 1);
            for cell in 0..dims::cells(D) {
                let along = |a: usize| cell >> (2 * a) & 3;
                if along(axis) != layer || mesh.classes.solid[at] >> cell & 1 == 1 {
                    continue;
                }
                let index = at * dims::cells(D) + cell;
                density += area * f64::from(snapshot.density[index]);
                let leaves = outward * f64::from(snapshot.velocity[axis][index]);
                if leaves < -still {
                    back += area;
                }
                if let Some(asked) = &asked {
                    let corner = &mesh.forest.coord[at];
                    let mut x = std::array::from_fn(|a| {
                        size * (f64::from(4 * corner[a]) + along(a) as f64 + 0.5)
                    });
                    x[axis] += 0.5 * outward * size;
                    enters = enters
                        .zip(asked(x))
                        .map(|(sum, v)| sum - outward * area * v);
                }
            }
        }
        let sums = flux(mesh, snapshot, axis, upper);
        if sums.area == 0.0 {
            // Nothing but solid cells beside it.
            return FaceLook {
                density: self.density(step).unwrap_or(1.0),
                mass: 0.0,
                asked: None,
                back: 0.0,
            };
        }
        FaceLook {
            density: density / sums.area,
            mass: sums.mass,
            asked: asked.and(enters),
            back: back / sums.area,
        }
    }
}

impl<const D: usize> Openings<D> {
    pub(crate) fn new(resolved: &Resolved<D>) -> Self {
        let sides = (0..D).flat_map(|axis| [0, 1].map(|side| (axis, side)));
        let opening = |(axis, side)| Opening::of(&resolved.params, axis, side);
        Self {
            all: sides.filter_map(opening).collect(),
            velocity: resolved.physics.lattice_velocity,
        }
    }

    /// All of them, in a snapshot of the blocks beside them.
    pub(crate) fn look(&self, mesh: &Mesh<D>, snapshot: &Snapshot<D>, step: u64) -> FacesLook {
        let still = INFLOW * self.velocity;
        let look = |opening: &Opening<D>| opening.look(mesh, snapshot, step, still);
        FacesLook {
            step,
            faces: self.all.iter().map(look).collect(),
        }
    }
}
