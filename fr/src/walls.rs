//! Walls: on faces of the box, and around bodies, which are boxes of elements.
//!
//! Elements in a body stay in the tree, so that it is one of the whole box, but are *removed*: nothing is computed there,
//! and their faces are closed. An element beside a body has a wall there. So bodies have to lie on faces of elements, and no
//! element may lie across their surface or touch it that is coarser than the level whose faces these are.

use crate::constants::{ADIABATIC, ISOTHERMAL, KIND_BITS, SLIP};
use crate::{EmbeddedBodies, EulerParams, FrError};
use cutlink_amr::{
    Mark,
    linear::{Face, Faces, Grid, Leaves},
};
use cutlink_device::{Backend, Host, Real};

/// What a wall does to the gas beside it. Nothing flows through it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GasWall<const D: usize> {
    /// No friction, no heat: a plane of symmetry.
    Slip,
    /// The gas has the wall's velocity.
    NoSlip {
        /// The wall's velocity, along the wall.
        velocity: [f64; D],
        /// The wall's temperature as p / ρ; `None` for no heat through it.
        temperature: Option<f64>,
    },
}

impl<const D: usize> GasWall<D> {
    /// A wall at rest without heat through it.
    pub const ADIABATIC: Self = Self::NoSlip {
        velocity: [0.0; D],
        temperature: None,
    };

    /// # Errors
    /// A velocity that is not along the wall with its normal along `axis`, a temperature that is none; no viscosity.
    fn validate(&self, is_viscous: bool, axis: Option<usize>) -> Result<(), FrError> {
        let Self::NoSlip {
            velocity,
            temperature,
        } = *self
        else {
            return Ok(());
        };
        if !is_viscous {
            return Err(FrError::NoViscosity);
        }
        let is_along = match axis {
            Some(axis) => velocity[axis] == 0.0,
            None => velocity == [0.0; D],
        };
        if !is_along || velocity.iter().any(|v| !v.is_finite()) {
            return Err(FrError::WallVelocity {
                velocity: velocity.to_vec(),
            });
        }
        match temperature {
            Some(temperature) if !(temperature > 0.0 && temperature.is_finite()) => {
                Err(FrError::WallTemperature { temperature })
            }
            _ => Ok(()),
        }
    }
}

/// A body: a box on faces of elements.
#[derive(Debug, Clone, PartialEq)]
pub struct GasBody<const D: usize> {
    /// Its lower corner.
    pub lower: [f64; D],
    /// Its upper corner.
    pub upper: [f64; D],
    /// Its surface.
    pub wall: GasWall<D>,
}

/// All walls. A *patch* is a face of the box (2 a for the lower one of axis a, 2 a + 1 for the upper one), or 2 D + i for
/// body i; embedded bodies come last.
#[derive(Debug, Clone, PartialEq)]
pub struct GasWalls<const D: usize> {
    /// By axis, the lower and the upper face of the box; `None` where it is periodic or the far field lies beyond.
    pub faces: [[Option<GasWall<D>>; 2]; D],
    /// Bodies. Where they overlap, a face is that of the first.
    pub bodies: Vec<GasBody<D>>,
    /// Bodies whose surfaces cut elements.
    pub embedded: Option<EmbeddedBodies<D>>,
}

impl<const D: usize> Default for GasWalls<D> {
    fn default() -> Self {
        Self {
            faces: [[None; 2]; D],
            bodies: Vec::new(),
            embedded: None,
        }
    }
}

impl<const D: usize> GasWalls<D> {
    /// Whether no face of an element is one.
    pub(crate) fn are_no_faces(&self) -> bool {
        self.faces == [[None; 2]; D] && self.bodies.is_empty()
    }

    /// Patches.
    pub fn patches(&self) -> usize {
        let embedded = self.embedded.as_ref().map_or(0, |of| of.temperatures.len());
        2 * D + self.bodies.len() + embedded
    }

    /// The wall of a patch.
    fn patch(&self, patch: usize) -> Option<GasWall<D>> {
        match patch.checked_sub(2 * D) {
            None => self.faces[patch / 2][patch % 2],
            Some(body) => self.bodies.get(body).map(|body| body.wall),
        }
    }

    /// The coarsest level of an element in place of a block that embedded bodies allow, up to `at_bodies`.
    pub(crate) fn least_embedded(&self, level: u32, coord: [i32; D], at_bodies: u32) -> u32 {
        let least = |of: &EmbeddedBodies<D>| of.geometry.least_level(level, coord);
        self.embedded.as_ref().map_or(0, least).min(at_bodies)
    }

    /// # Errors
    /// Where a number makes no sense.
    pub(crate) fn validate(&self, is_viscous: bool) -> Result<(), FrError> {
        for (axis, pair) in self.faces.iter().enumerate() {
            for wall in pair.iter().flatten() {
                wall.validate(is_viscous, Some(axis))?;
            }
        }
        for body in &self.bodies {
            body.wall.validate(is_viscous, None)?;
        }
        self.embedded
            .as_ref()
            .map_or(Ok(()), |of| of.validate(is_viscous))
    }

    /// # Errors
    /// A wall on a periodic axis, or a face of the box that needs a far field where there is none.
    pub(crate) fn check_box(&self, grid: &Grid<D>, has_far_field: bool) -> Result<(), FrError> {
        for (axis, pair) in self.faces.iter().enumerate() {
            if grid.periodic()[axis] {
                if pair.iter().any(Option::is_some) {
                    return Err(FrError::PeriodicWall { axis });
                }
            } else if !has_far_field && pair.contains(&None) {
                return Err(FrError::NoFarField);
            }
        }
        Ok(())
    }

    /// The coarsest tree whose elements around bodies, those that touch one from outside, are of level `at_bodies` or
    /// finer; around embedded bodies, as fine as [their geometry](crate::BodyGeometry::least_level) says but for that level.
    ///
    /// # Errors
    /// A body that is empty, not in the box, or not on faces of elements of that level; memory that is short.
    pub fn leaves(
        &self,
        grid: Grid<D>,
        lower: [f64; D],
        upper: [f64; D],
        at_bodies: u32,
    ) -> Result<Leaves<D>, FrError> {
        let bodies = Bodies::new(self, &grid, lower, upper, at_bodies)?;
        let mut leaves = Leaves::new(&Host, grid)?;
        loop {
            let mark = |leaf: u32| {
                let level = leaves.level(leaf);
                let coord = leaves.coord(leaf);
                let around = bodies.least_level(level, coord, at_bodies);
                let least = around.max(self.least_embedded(level, coord, at_bodies));
                match level < least {
                    true => Mark::Refine as u8,
                    false => Mark::Keep as u8,
                }
            };
            let mut marks: Vec<u8> = (0..leaves.len() as u32).map(mark).collect();
            if leaves.adapt(&Host, &mut marks)?.refined == 0 {
                return Ok(leaves);
            }
        }
    }
}

/// Bodies in blocks of a level.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bodies<const D: usize> {
    all: Vec<Blocks<D>>,
    periodic: Option<Grid<D>>,
}

/// The blocks of a body: from `lower` up to before `upper`, of the coarsest level whose faces its own are.
#[derive(Debug, Clone)]
struct Blocks<const D: usize> {
    level: u32,
    lower: [i64; D],
    upper: [i64; D],
}

/// Where a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    /// In the body.
    Inside,
    /// It touches the body's surface from outside, or lies across it.
    Beside,
    Clear,
}

/// A coordinate in blocks of a level; `None` where it is on no face of them, but for a millionth of a block.
fn block_at(roots: f64, level: u32) -> Option<i64> {
    let blocks = roots * f64::from(1u32 << level);
    let nearest = blocks.round();
    ((blocks - nearest).abs() <= 1e-6).then_some(nearest as i64)
}

impl<const D: usize> Bodies<D> {
    /// # Errors
    /// As [`GasWalls::leaves`].
    pub(crate) fn new(
        walls: &GasWalls<D>,
        grid: &Grid<D>,
        lower: [f64; D],
        upper: [f64; D],
        finest: u32,
    ) -> Result<Self, FrError> {
        if !walls.bodies.is_empty() && finest > grid.limit() {
            return Err(FrError::Levels {
                levels: [0, finest],
                limit: grid.limit(),
            });
        }
        let roots = |axis: usize, at: f64| {
            let edge = (upper[axis] - lower[axis]) / f64::from(grid.root()[axis]);
            (at - lower[axis]) / edge
        };
        let blocks = |(body, of): (usize, &GasBody<D>)| {
            let is_inside = |a: usize| {
                let (from, to) = (roots(a, of.lower[a]), roots(a, of.upper[a]));
                from < to && from > -1e-6 && to < f64::from(grid.root()[a]) + 1e-6
            };
            if !(0..D).all(is_inside) {
                return Err(FrError::Body {
                    body,
                    lower: of.lower.to_vec(),
                    upper: of.upper.to_vec(),
                });
            }
            for (axis, at) in (0..D).flat_map(|a| [(a, of.lower[a]), (a, of.upper[a])]) {
                if block_at(roots(axis, at), finest).is_none() {
                    let edge = (upper[axis] - lower[axis])
                        / f64::from(grid.root()[axis])
                        / f64::from(1u32 << finest);
                    let below = ((at - lower[axis]) / edge).floor();
                    let nearest = [below, below + 1.0].map(|n| lower[axis] + n * edge);
                    return Err(FrError::Unaligned {
                        body,
                        axis,
                        at,
                        level: finest,
                        nearest,
                    });
                }
            }
            let of_level = |level: u32| -> Option<Blocks<D>> {
                let (mut from, mut to) = ([0; D], [0; D]);
                for a in 0..D {
                    from[a] = block_at(roots(a, of.lower[a]), level)?;
                    to[a] = block_at(roots(a, of.upper[a]), level)?;
                }
                Some(Blocks {
                    level,
                    lower: from,
                    upper: to,
                })
            };
            let found = (0..=finest).find_map(of_level);
            Ok(found.expect("faces of elements of the finest level"))
        };
        let all = walls.bodies.iter().enumerate().map(blocks);
        Ok(Self {
            all: all.collect::<Result<_, _>>()?,
            periodic: Some(*grid),
        })
    }

    /// Where a block is in relation to a body.
    fn place(&self, body: &Blocks<D>, level: u32, coord: [i32; D]) -> Where {
        let common = level.max(body.level);
        let scaled = |x: i64, from: u32| x << (common - from);
        let mut is_inside = true;
        for (a, &at) in coord.iter().enumerate() {
            let own = [0, 1].map(|end| scaled(i64::from(at) + end, level));
            let of = [body.lower[a], body.upper[a]].map(|x| scaled(x, body.level));
            is_inside &= of[0] <= own[0] && own[1] <= of[1];
            let around = self.periodic.filter(|grid| grid.periodic()[a]);
            let length = around.map_or(0, |grid| scaled(i64::from(grid.root()[a]), 0));
            let touches = |shift: i64| own[1] + shift >= of[0] && own[0] + shift <= of[1];
            if ![-length, 0, length].into_iter().any(touches) {
                return Where::Clear;
            }
        }
        if is_inside {
            Where::Inside
        } else {
            Where::Beside
        }
    }

    /// The first body that a block is in.
    pub(crate) fn around(&self, level: u32, coord: [i32; D]) -> Option<usize> {
        let is_inside = |body: &Blocks<D>| self.place(body, level, coord) == Where::Inside;
        self.all.iter().position(is_inside)
    }

    /// The coarsest level that an element in place of a block may have; beside bodies this is `at_bodies` or that of their
    /// own faces.
    pub(crate) fn least_level(&self, level: u32, coord: [i32; D], at_bodies: u32) -> u32 {
        let mut least = 0;
        for body in &self.all {
            match self.place(body, level, coord) {
                Where::Inside => return 0,
                Where::Beside => least = least.max(at_bodies.max(body.level)),
                Where::Clear => {}
            }
        }
        least
    }

    /// # Errors
    /// An element that is too coarse beside a body.
    fn check(&self, leaves: &Leaves<D>) -> Result<(), FrError> {
        for leaf in 0..leaves.len() as u32 {
            let (found, coord) = (leaves.level(leaf), leaves.coord(leaf));
            let level = self.least_level(found, coord, 0);
            if found < level {
                let is_it = |of: &Blocks<D>| self.place(of, found, coord) == Where::Beside;
                let body = self.all.iter().position(is_it).unwrap_or(0);
                return Err(FrError::CoarseAtBody { body, found, level });
            }
        }
        Ok(())
    }
}

/// Walls as kernels have them. The faces with walls have a slot each.
#[derive(Debug)]
pub struct WallTable<T: Real, B: Backend = Host> {
    /// By slot, which face it is: 2 D leaf + face, ascending.
    pub faces: B::Buf<u32>,
    /// By slot, the kind of the wall (0 slip, 1 no heat, 2 a temperature) and 4 times its patch.
    pub kinds: B::Buf<u32>,
    /// By patch, the wall's velocity and temperature.
    pub states: B::Buf<T>,
}

impl<T: Real> WallTable<T> {
    /// The table in a backend's memory.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub(crate) fn upload<B: Backend>(self, backend: &B) -> Result<WallTable<T, B>, FrError> {
        Ok(WallTable {
            faces: backend.upload(self.faces)?,
            kinds: backend.upload(self.kinds)?,
            states: backend.upload(self.states)?,
        })
    }
}

/// A face with a wall.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WallFace<const D: usize> {
    pub(crate) patch: u32,
    pub(crate) face: u8,
    /// The lower corner of its element, and the element's edges.
    pub(crate) corner: [f64; D],
    pub(crate) edges: [f64; D],
}

/// The walls of a tree.
pub(crate) struct WallsOf<const D: usize, T: Real> {
    pub(crate) table: WallTable<T>,
    pub(crate) faces: Vec<WallFace<D>>,
    /// By leaf, whether it is in a body; empty without bodies.
    pub(crate) removed: Vec<bool>,
    pub(crate) bodies: Bodies<D>,
}

/// The tag of the faces of removed elements.
pub(crate) const fn removed_tag<const D: usize>() -> u32 {
    Faces::<D>::LARGEST_TAG
}

/// Whether a leaf is in a body.
#[inline(always)]
pub(crate) fn is_removed<const D: usize>(faces: &Faces<D>, leaf: u32) -> bool {
    faces.at(leaf, 0) == Face::Outside && faces.tag(leaf, 0) == removed_tag::<D>()
}

/// The slot of a face with a wall.
#[inline(always)]
pub(crate) fn slot<const D: usize>(faces: &Faces<D>, leaf: u32, face: usize) -> Option<usize> {
    if faces.at(leaf, face) != Face::Outside {
        return None;
    }
    (faces.tag(leaf, face) as usize).checked_sub(1)
}

impl<const D: usize, T: Real> WallsOf<D, T> {
    /// Finds the faces with walls, and closes them and those of removed elements.
    ///
    /// # Errors
    /// A body that is not in the box or not on faces of elements.
    pub(crate) fn new(
        params: &EulerParams<D>,
        leaves: &Leaves<D>,
        faces: &mut Faces<D>,
        lower: [f64; D],
        edges: [f64; D],
    ) -> Result<Self, FrError> {
        let (walls, grid) = (&params.walls, leaves.grid());
        let mut of = Self {
            table: WallTable {
                faces: Vec::new(),
                kinds: Vec::new(),
                states: states(walls),
            },
            faces: Vec::new(),
            removed: Vec::new(),
            bodies: Bodies::default(),
        };
        if walls.are_no_faces() {
            return Ok(of);
        }
        let upper = std::array::from_fn(|a| lower[a] + edges[a] * f64::from(grid.root()[a]));
        of.bodies = Bodies::new(walls, grid, lower, upper, leaves.finest())?;
        of.bodies.check(leaves)?;
        for leaf in 0..leaves.len() as u32 {
            let (level, coord) = (leaves.level(leaf), leaves.coord(leaf));
            let is_removed = of.bodies.around(level, coord).is_some();
            if !walls.bodies.is_empty() {
                of.removed.push(is_removed);
            }
            if is_removed {
                (0..2 * D).for_each(|face| faces.close(leaf, face, removed_tag::<D>()));
                continue;
            }
            for face in 0..2 * D {
                // By coordinates: the faces may be closed already.
                let patch = match beside(grid, level, coord, face) {
                    None => face,
                    Some(beside) => match of.bodies.around(level, beside) {
                        Some(body) => 2 * D + body,
                        None => continue,
                    },
                };
                let Some(wall) = walls.patch(patch) else {
                    continue;
                };
                faces.close(leaf, face, 1 + of.faces.len() as u32);
                let scale = 1.0 / f64::from(1u32 << level);
                of.table.faces.push(leaf * 2 * D as u32 + face as u32);
                of.table
                    .kinds
                    .push((patch as u32) << KIND_BITS | kind(&wall));
                of.faces.push(WallFace {
                    patch: patch as u32,
                    face: face as u8,
                    corner: std::array::from_fn(|a| {
                        lower[a] + edges[a] * scale * f64::from(coord[a])
                    }),
                    edges: edges.map(|edge| edge * scale),
                });
            }
        }
        Ok(of)
    }
}

/// The block beside one, around the box where it is periodic; `None` outside of it.
fn beside<const D: usize>(
    grid: &Grid<D>,
    level: u32,
    coord: [i32; D],
    face: usize,
) -> Option<[i32; D]> {
    let (mut to, axis) = (coord, face / 2);
    let count = (grid.root()[axis] << level) as i32;
    to[axis] += if face % 2 == 1 { 1 } else { -1 };
    if grid.periodic()[axis] {
        to[axis] = to[axis].rem_euclid(count);
    }
    (0..count).contains(&to[axis]).then_some(to)
}

fn kind<const D: usize>(wall: &GasWall<D>) -> u32 {
    match wall {
        GasWall::Slip => SLIP,
        GasWall::NoSlip {
            temperature: None, ..
        } => ADIABATIC,
        GasWall::NoSlip { .. } => ISOTHERMAL,
    }
}

/// By patch, velocity and temperature; zeros where they count for nothing.
fn states<const D: usize, T: Real>(walls: &GasWalls<D>) -> Vec<T> {
    if walls.are_no_faces() {
        return Vec::new();
    }
    let of_patch = |patch: usize| {
        let (velocity, temperature) = match walls.patch(patch) {
            Some(GasWall::NoSlip {
                velocity,
                temperature,
            }) => (velocity, temperature.unwrap_or(0.0)),
            _ => ([0.0; D], 0.0),
        };
        velocity.into_iter().chain([temperature]).map(T::of)
    };
    (0..walls.patches()).flat_map(of_patch).collect()
}
