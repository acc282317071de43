//! What a level's kernels read, made once from the mesh.
//!
//! Blocks with populations have slots: leaves, and *overlap blocks*, the refined blocks next to a leaf (over
//! faces, edges or corners), whose outer cells are stepped on this level and whose other cells get
//! the means of their children. Slots of a level are ordered: children of the coarser level's overlap
//! blocks (2^D each, in their order), other blocks that exchange, other *special* blocks (walls, faces,
//! solid cells), and then the plain ones, whose neighbours are all there and which need no test at all.

use crate::{
    Collision, FaceCondition, Motion, Params, PatchCondition, Place, SolverError, Variation,
    WallScheme,
    plan::tau,
    profile,
    real::Real,
    sponge::{self, Damped},
};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::{NONE, OUTSIDE, dims};
use cutlink_device::Backend;
use cutlink_voxelizer::{Mesh, unpack_cell};
use rayon::prelude::*;

/// Conditions of a face or patch as kernels read them: see [`Rule`].
pub(crate) mod kind {
    /// Bounce-back from a wall at rest or a moving one.
    pub(crate) const WALL: u32 = 0;
    /// Specular reflection.
    pub(crate) const SLIP: u32 = 1;
    /// A face that fluid leaves through, with the mean density held.
    pub(crate) const OUTFLOW: u32 = 2;
    /// A given density: of a face by ghost cells, of a patch by anti-bounce-back.
    pub(crate) const PRESSURE: u32 = 3;
    /// A face with a given far field.
    pub(crate) const FAR: u32 = 4;
    /// A face that fluid passes with a given velocity.
    pub(crate) const STREAM: u32 = 5;
    /// None: neighbours wrap around.
    pub(crate) const PERIODIC: u32 = 6;
}

/// A condition.
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C)]
pub struct Rule {
    /// Velocity at the origin of the box; with a profile what that is multiplied by.
    pub velocity: [f64; 3],
    /// Angular velocity, a root step.
    pub omega: [f64; 3],
    /// Density; with a profile what that is multiplied by, to give the density less 1.
    pub density: f64,
    /// Of faces of given density, the relaxation time of the viscosity on the root less 1/2.
    pub relaxation: f64,
    /// One of [`kind`].
    pub kind: u32,
    /// 0 bounce-back, 1 linear, 2 quadratic.
    pub scheme: u32,
    /// 0 for no profile, [`LINKS`](profile::LINKS) for one by cut link, [`FACES`](profile::FACES) and the number of the face for one of a face.
    pub profile: u32,
    /// Of faces, 1 where ghost cells take no more than the stress of the non-equilibrium: where collision leaves other parts too.
    pub projects: u32,
}

fn wide<const D: usize>(v: [f64; D]) -> [f64; 3] {
    std::array::from_fn(|a| v.get(a).copied().unwrap_or(0.0))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

impl Rule {
    fn new(kind: u32) -> Self {
        Self {
            velocity: [0.0; 3],
            omega: [0.0; 3],
            density: 1.0,
            relaxation: 0.0,
            kind,
            scheme: 0,
            profile: 0,
            projects: 0,
        }
    }

    /// Whether this is a moving wall.
    pub fn moves(&self) -> bool {
        self.velocity != [0.0; 3] || self.omega != [0.0; 3]
    }

    /// In a closed box faces of given velocity are walls: these conserve mass exactly.
    fn of_face<const D: usize>(face: &FaceCondition<D>, closed: bool) -> Self {
        match *face {
            FaceCondition::Periodic => Self::new(kind::PERIODIC),
            FaceCondition::FreeSlip => Self::new(kind::SLIP),
            FaceCondition::Outflow => Self::new(kind::OUTFLOW),
            FaceCondition::Velocity(v) => Self {
                velocity: wide(v),
                ..Self::new(match closed || v == [0.0; D] {
                    true => kind::WALL,
                    false => kind::STREAM,
                })
            },
            FaceCondition::FarField { velocity, density } => Self {
                velocity: wide(velocity),
                density,
                ..Self::new(kind::FAR)
            },
            FaceCondition::Pressure(density) => Self {
                density,
                ..Self::new(kind::PRESSURE)
            },
        }
    }

    fn of_patch<const D: usize>(patch: &PatchCondition<D>) -> Self {
        let (scheme, motion) = match *patch {
            PatchCondition::Pressure(density) => {
                return Self {
                    density,
                    ..Self::new(kind::PRESSURE)
                };
            }
            PatchCondition::Wall { scheme, motion } => (scheme, motion),
        };
        let scheme = match scheme {
            WallScheme::BounceBack => 0,
            WallScheme::Linear => 1,
            WallScheme::Quadratic => 2,
        };
        let rule = Self {
            scheme,
            ..Self::new(kind::WALL)
        };
        match motion {
            Motion::Uniform(v) => Self {
                velocity: wide(v),
                ..rule
            },
            Motion::Rotation { center, omega } => {
                let omega = if D == 2 { [0.0, 0.0, omega[2]] } else { omega };
                let velocity = cross(omega, wide(center)).map(|v| -v);
                Self {
                    velocity,
                    omega,
                    ..rule
                }
            }
        }
    }
}

/// The conditions of faces and patches at a time in root steps; without one as they are by themselves, with the share of place
/// in what varies.
///
/// # Errors
/// Variations without a number at this time.
pub(crate) fn rules<const D: usize>(
    params: &Params<D>,
    time: Option<f64>,
) -> Result<Vec<Rule>, SolverError> {
    let closed = !params.has_opening();
    let faces = params.faces.iter().flatten();
    let relaxation = tau(params.viscosity, 0) - 0.5;
    let projects = u32::from(params.collision != Collision::Regularized);
    let faces = faces.map(|face| Rule {
        relaxation,
        projects,
        ..Rule::of_face(face, closed)
    });
    let patches = params.patches.iter().map(Rule::of_patch);
    let mut rules: Vec<Rule> = faces.chain(patches).collect();
    for variation in &params.variations {
        let (at, profile) = match variation.place {
            Place::Face(axis, side) => (2 * axis + side, profile::FACES + (2 * axis + side) as u32),
            Place::Patch(patch) => (2 * D + patch, profile::LINKS),
            Place::Acceleration => continue,
        };
        vary(&mut rules[at], variation, profile, time)?;
    }
    Ok(rules)
}

fn vary<const D: usize>(
    rule: &mut Rule,
    variation: &Variation<D>,
    profile: u32,
    time: Option<f64>,
) -> Result<(), SolverError> {
    let has_profile = variation.has_profile();
    if has_profile {
        rule.profile = profile;
    }
    let factor = match time {
        Some(time) => variation.of_time(time)?,
        None if has_profile => [1.0; D],
        None => return Ok(()),
    };
    match (rule.kind, has_profile) {
        (kind::PRESSURE, true) => rule.density = factor[0],
        (kind::PRESSURE, false) => rule.density = 1.0 + factor[0],
        _ if rule.omega != [0.0; 3] => {
            rule.velocity = rule.velocity.map(|v| v * factor[0]);
            rule.omega = rule.omega.map(|v| v * factor[0]);
        }
        _ => rule.velocity = wide(factor),
    }
    Ok(())
}

/// A level; see the module.
#[derive(Debug)]
pub struct Level<const D: usize, B: Backend> {
    /// The level.
    pub index: usize,
    /// Its cells on each axis of the box.
    pub extent: [i32; D],
    /// Slots.
    pub slots: usize,
    /// Slots that exchange with another level: the first ones.
    pub exchanging: usize,
    /// Slots that are not plain, the exchanging ones included: the first ones.
    pub special: usize,
    /// Block coordinates by slot.
    pub coord: B::Buf<[i32; D]>,
    /// 3^D slots a slot; [`NONE`] where the level ends, [`OUTSIDE`] beyond the box.
    pub neighbors: B::Buf<u32>,
    /// Cells to step: fluid, and in overlap blocks above ghosts.
    pub stepped: B::Buf<u64>,
    /// Solid cells.
    pub solid: B::Buf<u64>,
    /// Ghost cells.
    pub ghost: B::Buf<u64>,
    /// Slots of the overlap blocks.
    pub overlaps: B::Buf<u32>,
    /// By exchanging slot: the place among the overlap blocks, or [`NONE`].
    pub overlap_of: B::Buf<u32>,
    /// Cells with cut links, by special slot.
    pub boundary: B::Buf<u64>,
    /// Slots that have such cells.
    pub linked: B::Buf<u32>,
    /// Those and slots at a face of the box that is not periodic.
    pub walled: B::Buf<u32>,
    /// First entry in `cells`, by special slot.
    pub cell_start: B::Buf<u32>,
    /// As in the mesh's table: directions, and the first link of this level.
    pub cells: B::Buf<u64>,
    /// Cut distances.
    pub q: B::Buf<f32>,
    /// Patches of the links.
    pub patch: B::Buf<u16>,
    /// Conditions of faces and patches.
    pub rules: B::Buf<Rule>,
    /// Values of profiles, D a place: see [`profile`].
    pub profile: B::Buf<f64>,
    /// By special slot and face the first of its places, or [`NONE`]; empty where no face has a profile.
    pub profile_face: B::Buf<u32>,
    /// By cut link its place, or [`NONE`]; empty where no patch has a profile.
    pub profile_link: B::Buf<u32>,
    /// Sponges that reach the level.
    pub sponges: Vec<Damped<B>>,
    /// Patches.
    pub patches: usize,
    /// Reference point of torques.
    pub moment_center: [f64; D],
}

/// The same on the host, with the block of each slot.
#[derive(Debug)]
pub(crate) struct HostLevel<const D: usize> {
    /// The tables.
    pub level: Level<D, cutlink_device::Host>,
    /// Places of profiles whose values change.
    pub(crate) moving: Vec<profile::Point<D>>,
    /// Block ids by slot.
    pub blocks: Vec<u32>,
}

/// The block beside a block, through the faces that are periodic in the flow but not in the mesh too.
fn around<const D: usize>(
    mesh: &Mesh<D>,
    periodic: [bool; D],
    id: u32,
    direction: usize,
) -> Result<u32, SolverError> {
    let found = mesh.forest.neighbor(id, direction);
    if found != OUTSIDE {
        return Ok(found);
    }
    let level = usize::from(mesh.forest.level[id as usize]);
    let step = dims::step::<D>(direction);
    let mut at = mesh.forest.coord[id as usize];
    let mut inner = step;
    for a in 0..D {
        let count = (mesh.forest.root[a] << level) as i32;
        at[a] += step[a];
        if at[a] < 0 || at[a] >= count {
            if !periodic[a] {
                return Ok(OUTSIDE);
            }
            at[a] = at[a].rem_euclid(count);
            inner[a] = 0;
        }
    }
    let found = mesh
        .forest
        .find(level, at)
        .expect("a wrapped coordinate should lie in the box");
    if usize::from(mesh.forest.level[found as usize]) == level {
        return Ok(found);
    }
    // The level may end along the faces, alike on both: then it ends without the wrap too.
    if mesh.forest.neighbor(id, dims::direction(inner)) == NONE {
        return Ok(NONE);
    }
    Err(SolverError::Mesh {
        reason: format!(
            "block {:?} of level {level} lies at a periodic face, and the other face is coarser there: keep refinement away from periodic faces, or refine both alike",
            mesh.forest.coord[id as usize]
        ),
    })
}

/// The tables of all levels.
///
/// # Errors
/// Periodic faces without a partner, or refined differently.
pub(crate) fn build<const D: usize>(
    mesh: &Mesh<D>,
    params: &Params<D>,
) -> Result<Vec<HostLevel<D>>, SolverError> {
    let forest = &mesh.forest;
    let periodic: [bool; D] =
        std::array::from_fn(|a| params.faces[a].contains(&FaceCondition::Periodic));
    let rules = rules(params, None)?;
    let directions = dims::directions(D);
    check_periodic(mesh, periodic)?;
    let mut slot_of = vec![NONE; forest.capacity()];
    let mut all: Vec<HostLevel<D>> = Vec::new();
    let mut children: Vec<u32> = Vec::new();
    let mut is_child = vec![false; forest.capacity()];
    for (index, ids) in forest.levels.iter().enumerate() {
        let kinds = kinds(mesh, periodic, ids)?;
        let mut overlap = Vec::new();
        let mut by_kind: [Vec<u32>; 3] = [children.clone(), Vec::new(), Vec::new()];
        let mut plain = Vec::new();
        for (&id, kind) in ids.iter().zip(&kinds) {
            if kind.is_overlap {
                overlap.push(id);
            }
            if !kind.has_slot || is_child[id as usize] {
                continue;
            }
            match (kind.exchanges, kind.is_special) {
                (true, _) => by_kind[1].push(id),
                (false, true) => by_kind[2].push(id),
                (false, false) => plain.push(id),
            }
        }
        let exchanging = by_kind[0].len() + by_kind[1].len();
        let special = exchanging + by_kind[2].len();
        let blocks: Vec<u32> = by_kind.concat().into_iter().chain(plain).collect();
        for (slot, &id) in blocks.iter().enumerate() {
            slot_of[id as usize] = slot as u32;
        }
        overlap.sort_by_key(|&id| slot_of[id as usize]);
        let mut level = Level::<D, cutlink_device::Host> {
            index,
            extent: mesh.frame.root_cells.map(|n| (n << index) as i32),
            slots: blocks.len(),
            exchanging,
            special,
            coord: blocks.iter().map(|&id| forest.coord[id as usize]).collect(),
            neighbors: neighbors(mesh, periodic, &blocks, &slot_of)?,
            stepped: blocks.par_iter().map(|&id| stepped(mesh, id)).collect(),
            solid: blocks
                .par_iter()
                .map(|&id| mesh.classes.solid[id as usize])
                .collect(),
            ghost: blocks
                .iter()
                .map(|&id| {
                    if forest.is_leaf(id) {
                        mesh.classes.ghost[id as usize]
                    } else {
                        0
                    }
                })
                .collect(),
            overlaps: overlap.iter().map(|&id| slot_of[id as usize]).collect(),
            overlap_of: vec![NONE; exchanging],
            boundary: Vec::new(),
            linked: Vec::new(),
            walled: Vec::new(),
            cell_start: Vec::new(),
            cells: Vec::new(),
            q: Vec::new(),
            patch: Vec::new(),
            rules: rules.clone(),
            profile: Vec::new(),
            profile_face: Vec::new(),
            profile_link: Vec::new(),
            sponges: Vec::new(),
            patches: params.patches.len(),
            moment_center: params.moment_center,
        };
        for (at, &slot) in level.overlaps.iter().enumerate() {
            level.overlap_of[slot as usize] = at as u32;
        }
        links(mesh, &blocks[..special], &mut level);
        level.sponges = sponge::on(params, &level);
        let moving = profile::fill(&mut level, &params.variations)?;
        let has_links = |slot: &u32| level.boundary[*slot as usize] != 0;
        level.linked = (0..special as u32).filter(has_links).collect();
        let at_face = |slot: u32| {
            let first = slot as usize * directions;
            level.neighbors[first..first + directions].contains(&OUTSIDE)
        };
        level.walled = (0..special as u32)
            .filter(|slot| has_links(slot) || at_face(*slot))
            .collect();
        children = overlap
            .iter()
            .flat_map(|&id| {
                let first = forest.first_child[id as usize];
                first..first + dims::children(D) as u32
            })
            .collect();
        for &id in &children {
            is_child[id as usize] = true;
        }
        all.push(HostLevel {
            level,
            moving,
            blocks,
        });
    }
    Ok(all)
}

/// What a block has to do.
#[derive(Clone, Copy)]
struct Kind {
    /// Whether it is a leaf, or refined beside one.
    has_slot: bool,
    /// Whether it is refined beside a leaf.
    is_overlap: bool,
    /// Whether it is an overlap block or beside a refined block.
    exchanges: bool,
    /// Whether there is a wall, a face, a solid cell or the end of the level in it or beside it.
    is_special: bool,
}

impl Kind {
    fn of<const D: usize>(
        mesh: &Mesh<D>,
        periodic: [bool; D],
        id: u32,
    ) -> Result<Self, SolverError> {
        let forest = &mesh.forest;
        let is_leaf = forest.is_leaf(id);
        let (mut to_leaf, mut to_refined, mut to_solid, mut ends) = (false, false, false, false);
        for direction in 0..dims::directions(D) {
            let next = around(mesh, periodic, id, direction)?;
            if next >= OUTSIDE {
                ends = true;
                continue;
            }
            let next_is_leaf = forest.is_leaf(next);
            to_leaf |= next_is_leaf;
            to_refined |= !next_is_leaf;
            to_solid |= mesh.classes.solid[next as usize] != 0;
        }
        let is_overlap = !is_leaf && to_leaf;
        Ok(Self {
            has_slot: is_leaf || is_overlap,
            is_overlap,
            exchanges: is_overlap || to_refined,
            is_special: ends || to_solid || mesh.classes.boundary[id as usize] != 0,
        })
    }
}

/// The kinds of some blocks; the error is that of the first block that has one.
fn kinds<const D: usize>(
    mesh: &Mesh<D>,
    periodic: [bool; D],
    ids: &[u32],
) -> Result<Vec<Kind>, SolverError> {
    let kind = |&id: &u32| Kind::of(mesh, periodic, id);
    let found: Result<Vec<Kind>, SolverError> = ids.par_iter().map(kind).collect();
    found.or_else(|_| ids.iter().map(kind).collect())
}

/// By slot, the slots around it.
fn neighbors<const D: usize>(
    mesh: &Mesh<D>,
    periodic: [bool; D],
    blocks: &[u32],
    slot_of: &[u32],
) -> Result<Vec<u32>, SolverError> {
    let directions = dims::directions(D);
    let mut all = vec![NONE; blocks.len() * directions];
    let fill = |(to, &id): (&mut [u32], &u32)| {
        for (direction, to) in to.iter_mut().enumerate() {
            *to = match around(mesh, periodic, id, direction)? {
                next if next < OUTSIDE => slot_of[next as usize],
                none => none,
            };
        }
        Ok::<_, SolverError>(())
    };
    let rows = all.par_chunks_mut(directions).zip(blocks);
    rows.try_for_each(fill)?;
    Ok(all)
}

/// Whether the mesh suits the flow's periodic faces: it must not be periodic where the flow is not, and where it is not
/// and the flow is, no body may pass through the face, since the links across it are not cut.
fn check_periodic<const D: usize>(mesh: &Mesh<D>, periodic: [bool; D]) -> Result<(), SolverError> {
    let forest = &mesh.forest;
    let refuse = |reason: String| Err(SolverError::Mesh { reason });
    let name = |a: usize| ["x", "y", "z"][a];
    if let Some(a) = (0..D).find(|&a| forest.periodic[a] && !periodic[a]) {
        return refuse(format!(
            "it is periodic along {0}, and the faces {0}- and {0}+ of the flow are not: make a mesh without periodic {0}, or make the faces periodic",
            name(a)
        ));
    }
    for id in forest.leaves().filter(|_| forest.periodic != periodic) {
        let level = usize::from(forest.level[id as usize]);
        for direction in 0..dims::directions(D) {
            if forest.neighbor(id, direction) != OUTSIDE {
                continue;
            }
            let beyond = around(mesh, periodic, id, direction)?;
            if beyond >= OUTSIDE || !passes(mesh, id, beyond, direction) {
                continue;
            }
            let step = dims::step::<D>(direction);
            let axis = (0..D).find(|&a| step[a] != 0 && !forest.periodic[a] && periodic[a]);
            let axis = name(axis.unwrap_or(0));
            let coord = forest.coord[id as usize].map(|c| 4 * c);
            return refuse(format!(
                "the body passes through the periodic face {axis}{} beside the block at {:?}, and the links across it are not cut: make the mesh with --periodic {axis}",
                ["-", "+"][usize::from(step.iter().any(|s| *s > 0))],
                mesh.frame.center(level, coord)
            ));
        }
    }
    Ok(())
}

/// Whether a fluid cell of a block has a solid one of another as its neighbour in a direction beyond the box.
fn passes<const D: usize>(mesh: &Mesh<D>, block: u32, beyond: u32, direction: usize) -> bool {
    let solid = |id: u32| mesh.classes.solid[id as usize];
    let full = dims::full_mask(D);
    if solid(block) == full || solid(beyond) == 0 {
        return false;
    }
    (0..dims::cells(D)).any(|cell| {
        let at = dims::unravel::<D>(cell, 4);
        let is_fluid = solid(block) >> cell & 1 == 0;
        is_fluid
            && (0..dims::directions(D)).any(|link| {
                let step = dims::step::<D>(link);
                let to: [i32; D] = std::array::from_fn(|a| at[a] + step[a]);
                let toward = dims::direction(to.map(|c| c.div_euclid(4)));
                let cell = dims::ravel(to.map(|c| c.rem_euclid(4)), 4);
                toward == direction && solid(beyond) >> cell & 1 == 1
            })
    })
}

/// Cells that a level steps itself.
fn stepped<const D: usize>(mesh: &Mesh<D>, id: u32) -> u64 {
    let fluid = dims::full_mask(D) & !mesh.classes.solid[id as usize];
    let first = mesh.forest.first_child[id as usize];
    if first == NONE {
        return fluid;
    }
    (0..dims::cells(D))
        .filter(|&cell| {
            let (child, corner) = dims::below(dims::unravel::<D>(cell, 4), [0; D]);
            let corner = dims::ravel::<D>(corner, 4);
            mesh.classes.ghost[first as usize + child] >> corner & 1 == 1
        })
        .fold(0, |mask, cell| mask | 1 << cell)
        & fluid
}

fn links<const D: usize>(
    mesh: &Mesh<D>,
    blocks: &[u32],
    level: &mut Level<D, cutlink_device::Host>,
) {
    let table = &mesh.links;
    for &id in blocks {
        level.cell_start.push(level.cells.len() as u32);
        let row = table.row_of.get(id as usize).copied().unwrap_or(NONE);
        if row == NONE || !mesh.forest.is_leaf(id) {
            level.boundary.push(0);
            continue;
        }
        level.boundary.push(mesh.classes.boundary[id as usize]);
        let range =
            table.cell_start[row as usize] as usize..table.cell_start[row as usize + 1] as usize;
        for &cell in &table.cells[range] {
            let (mask, first) = unpack_cell(cell);
            level
                .cells
                .push(cutlink_voxelizer::pack_cell(mask, level.q.len() as u64));
            let links = first as usize..first as usize + mask.count_ones() as usize;
            level.q.extend_from_slice(&table.q[links.clone()]);
            let patch = |at: usize| table.patch.get(at).copied().unwrap_or(0);
            level.patch.extend(links.map(patch));
        }
    }
}

impl<const D: usize> Level<D, cutlink_device::Host> {
    /// The tables in a backend's memory.
    pub fn upload<B: Backend>(&self, backend: &B) -> Result<Level<D, B>, SolverError> {
        Ok(Level {
            index: self.index,
            extent: self.extent,
            slots: self.slots,
            exchanging: self.exchanging,
            special: self.special,
            coord: backend.upload(self.coord.clone())?,
            neighbors: backend.upload(self.neighbors.clone())?,
            stepped: backend.upload(self.stepped.clone())?,
            solid: backend.upload(self.solid.clone())?,
            ghost: backend.upload(self.ghost.clone())?,
            overlaps: backend.upload(self.overlaps.clone())?,
            overlap_of: backend.upload(self.overlap_of.clone())?,
            boundary: backend.upload(self.boundary.clone())?,
            linked: backend.upload(self.linked.clone())?,
            walled: backend.upload(self.walled.clone())?,
            cell_start: backend.upload(self.cell_start.clone())?,
            cells: backend.upload(self.cells.clone())?,
            q: backend.upload(self.q.clone())?,
            patch: backend.upload(self.patch.clone())?,
            rules: backend.upload(self.rules.clone())?,
            profile: backend.upload(self.profile.clone())?,
            profile_face: backend.upload(self.profile_face.clone())?,
            profile_link: backend.upload(self.profile_link.clone())?,
            sponges: (self.sponges.iter())
                .map(|sponge| sponge.upload(backend))
                .collect::<Result<_, _>>()?,
            patches: self.patches,
            moment_center: self.moment_center,
        })
    }

    /// Host bytes of the tables and of two buffers of `q` populations.
    pub fn bytes<T: Real>(&self, q: usize) -> u64 {
        let cells = dims::cells(D);
        let populations = self.slots * cells * q * 2 * size_of::<T>();
        let moments = self.exchanging * cells * crate::kernels::exchanged(D) * size_of::<T>();
        let tables = self.slots * (4 * dims::directions(D) + 4 * D + 24)
            + self.cells.len() * 8
            + self.q.len() * 6
            + self.linked.len() * (4 + 48 * self.patches)
            + self.walled.len() * 4
            + self.profile.len() * 8
            + self
                .sponges
                .iter()
                .map(|s| 4 * (s.slots.len() + s.rate.len()))
                .sum::<usize>()
            + (self.profile_face.len() + self.profile_link.len()) * 4;
        (populations + moments + tables) as u64
    }
}
