//! What a level's kernels read, made from the mesh.
//!
//! Blocks with populations have slots: leaves, and *overlap blocks*, the refined blocks next to a leaf (over
//! faces, edges or corners), whose outer cells are stepped on this level and whose other cells get
//! the means of their children. Slots of a level are ordered: children of the coarser level's overlap
//! blocks (2^D each, in their order), other blocks that exchange, other *special* blocks (walls, faces,
//! solid cells), and then the plain ones, whose neighbours are all there and which need no test at all.
//!
//! Tables are made by stages of the backend that holds the mesh ([`build`]), and are the same on all of them.

mod cells;
mod periodic;
mod rules;
pub(crate) mod tiles;
mod work;

pub(crate) use cells::{At, Links, bits, locate};
pub(crate) use periodic::around;
pub(crate) use rules::{Rule, rules};
pub(crate) use tiles::KEPT;
pub(crate) use work::StepCosts;

use crate::{
    FaceCondition, Params, SolverError,
    kernels::FlowKernels,
    profile::{self, Point},
    sponge::{self, Damped},
    storage::Storage,
    wall_model::{self, DraggedCell, Modeled, ModeledCell},
};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Backend, Host};
use cutlink_voxelizer::Mesh;
use std::ops::Range;

const _: () = assert!(crate::constants::DIRECTION_BITS == cutlink_voxelizer::DIRECTION_BITS);

/// The slots of a level that belong to other ranks: the last ones of the exchanging, the special, the plain ones with
/// populations and those without. They are read and not stepped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HaloRanges(pub [Range<usize>; 4]);

impl HaloRanges {
    /// No such slots, where all slots have populations.
    pub(crate) fn none(exchanging: usize, special: usize, slots: usize) -> Self {
        Self([exchanging, special, slots, slots].map(|end| end..end))
    }

    /// Whether a slot is of another rank.
    pub(crate) fn contains(&self, slot: usize) -> bool {
        self.0.iter().any(|range| range.contains(&slot))
    }

    /// The end of the rank's own plain slots, where all slots have populations.
    pub(crate) fn own_end(&self) -> usize {
        self.0[2].start
    }

    /// The rank's own slots.
    pub(crate) fn own(&self) -> [Range<usize>; 4] {
        let [a, b, c, d] = &self.0;
        [0..a.start, a.end..b.start, b.end..c.start, c.end..d.start]
    }
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
    /// Whether cells keep [`KEPT`] values.
    pub keeps_moments: bool,
    /// Slots with populations, the first ones: all, or where cells keep 9 values the special ones and those beside
    /// them.
    pub populated: usize,
    /// Where cells keep 9 values, tiles of the rank's own plain slots: 4^D slots a tile, see [`Tiling`](tiles::Tiling);
    /// else empty.
    pub tiles: B::Buf<u32>,
    /// Slots of other ranks.
    pub halo: HaloRanges,
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
    /// Those at one face, with nothing but fluid of their level in them and around them.
    pub faced: B::Buf<u32>,
    /// The other ones at faces of the box.
    pub bounded: B::Buf<u32>,
    /// Those with cut links, or solid cells in them or around them, away from these faces.
    pub cut: B::Buf<u32>,
    /// The other special slots: beside another level.
    pub open: B::Buf<u32>,
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
    /// Modelled walls.
    pub modeled: Modeled<B>,
    /// Patches.
    pub patches: usize,
    /// Reference point of torques.
    pub moment_center: [f64; D],
}

/// The blocks of a level that have slots.
#[derive(Debug)]
pub struct Slots<B: Backend> {
    /// Block ids by slot.
    pub blocks: B::Buf<u32>,
    /// Slots that exchange with another level: the first ones.
    pub exchanging: usize,
    /// Slots that are not plain, the exchanging ones included.
    pub special: usize,
    /// Slots of the overlap blocks.
    pub overlaps: B::Buf<u32>,
    /// By exchanging slot: the place among the overlap blocks, or [`NONE`].
    pub overlap_of: B::Buf<u32>,
    /// Block ids of the children of the overlap blocks: they have the first slots of the next level.
    pub children: B::Buf<u32>,
}

/// Tables by slot; see the fields of [`Level`].
#[derive(Debug)]
pub struct Places<const D: usize, B: Backend> {
    /// [`Level::coord`]
    pub coord: B::Buf<[i32; D]>,
    /// [`Level::neighbors`]
    pub neighbors: B::Buf<u32>,
    /// [`Level::stepped`]
    pub stepped: B::Buf<u64>,
    /// [`Level::solid`]
    pub solid: B::Buf<u64>,
    /// [`Level::ghost`]
    pub ghost: B::Buf<u64>,
}

/// Cut links of the special slots; see the fields of [`Level`].
#[derive(Debug)]
pub struct Cuts<B: Backend> {
    /// [`Level::boundary`]
    pub boundary: B::Buf<u64>,
    /// [`Level::cell_start`]
    pub cell_start: B::Buf<u32>,
    /// [`Level::cells`]
    pub cells: B::Buf<u64>,
    /// [`Level::q`]
    pub q: B::Buf<f32>,
    /// [`Level::patch`]
    pub patch: B::Buf<u16>,
}

/// The special slots by what is around them; see the fields of [`Level`].
#[derive(Debug)]
pub struct WallSlots<B: Backend> {
    /// [`Level::linked`]
    pub linked: B::Buf<u32>,
    /// [`Level::walled`]
    pub walled: B::Buf<u32>,
    /// [`Level::faced`]
    pub faced: B::Buf<u32>,
    /// [`Level::bounded`]
    pub bounded: B::Buf<u32>,
    /// [`Level::cut`]
    pub cut: B::Buf<u32>,
    /// [`Level::open`]
    pub open: B::Buf<u32>,
}

/// A level with what only the host reads.
#[derive(Debug)]
pub(crate) struct Built<const D: usize, B: Backend = Host> {
    /// The tables.
    pub(crate) level: Level<D, B>,
    /// Block ids by slot.
    pub(crate) blocks: B::Buf<u32>,
    /// Places of profiles whose values change.
    pub(crate) moving: Vec<Point<D>>,
    /// The values of all places of profiles, those that change without their share of time.
    pub(crate) profile: Vec<f64>,
}

/// The axes along which a flow is periodic.
pub(crate) fn periodic_axes<const D: usize>(params: &Params<D>) -> [bool; D] {
    std::array::from_fn(|a| params.faces[a].contains(&FaceCondition::Periodic))
}

/// The tables of all levels of a mesh on the host, which may be periodic in the flow alone.
///
/// # Errors
/// Periodic faces without a partner, or refined differently.
pub(crate) fn build_checked<const D: usize>(
    mesh: &Mesh<D>,
    params: &Params<D>,
) -> Result<Vec<Built<D>>, SolverError> {
    periodic::check(mesh, periodic_axes(params))?;
    build(&Host, mesh, params)
}

/// The tables of all levels. On a device, the mesh has to be periodic where the flow is.
///
/// # Errors
/// Periodic faces that are refined differently, a device that fails, memory that is short.
pub(crate) fn build<const D: usize, B: FlowKernels<D>>(
    backend: &B,
    mesh: &Mesh<D, B>,
    params: &Params<D>,
) -> Result<Vec<Built<D, B>>, SolverError> {
    let periodic = periodic_axes(params);
    let rules = rules(params, None)?;
    let mut slot_of = backend.alloc("slots", mesh.forest.capacity(), NONE)?;
    let mut all: Vec<Built<D, B>> = Vec::new();
    let mut children = backend.upload(Vec::new())?;
    for index in 0..mesh.forest.levels.len() {
        let slots = backend.slots(mesh, periodic, index, &children, &mut slot_of)?;
        let places = backend.places(mesh, periodic, &slots.blocks, &slot_of)?;
        let cuts = backend.cuts(mesh, &slots.blocks, slots.special)?;
        let walls = backend.walls(
            &cuts.boundary,
            &places.neighbors,
            &places.solid,
            slots.exchanging,
        )?;
        let level = Level {
            index,
            extent: mesh.frame.root_cells.map(|n| (n << index) as i32),
            slots: B::len(&slots.blocks),
            exchanging: slots.exchanging,
            special: slots.special,
            keeps_moments: false,
            populated: B::len(&slots.blocks),
            tiles: backend.upload(Vec::new())?,
            halo: HaloRanges::none(slots.exchanging, slots.special, B::len(&slots.blocks)),
            coord: places.coord,
            neighbors: places.neighbors,
            stepped: places.stepped,
            solid: places.solid,
            ghost: places.ghost,
            overlaps: slots.overlaps,
            overlap_of: slots.overlap_of,
            boundary: cuts.boundary,
            linked: walls.linked,
            walled: walls.walled,
            faced: walls.faced,
            bounded: walls.bounded,
            cut: walls.cut,
            open: walls.open,
            cell_start: cuts.cell_start,
            cells: cuts.cells,
            q: cuts.q,
            patch: cuts.patch,
            rules: backend.upload(Vec::new())?,
            profile: backend.upload(Vec::new())?,
            profile_face: backend.upload(Vec::new())?,
            profile_link: backend.upload(Vec::new())?,
            sponges: Vec::new(),
            modeled: Modeled::none(backend)?,
            patches: 0,
            moment_center: [0.0; D],
        };
        let mut built = Built {
            level,
            blocks: slots.blocks,
            moving: Vec::new(),
            profile: Vec::new(),
        };
        built.take(backend, params, &rules)?;
        children = slots.children;
        all.push(built);
    }
    Ok(all)
}

impl<const D: usize, B: Backend> Built<D, B> {
    /// Takes conditions in place of those before. The tables of blocks and links stay: they depend on the mesh and on the axes along
    /// which the flow is periodic.
    pub(crate) fn take(
        &mut self,
        backend: &B,
        params: &Params<D>,
        rules: &[Rule],
    ) -> Result<(), SolverError> {
        let level = &mut self.level;
        level.rules = backend.upload(rules.to_vec())?;
        level.profile = backend.upload(Vec::new())?;
        level.profile_face = backend.upload(Vec::new())?;
        level.profile_link = backend.upload(Vec::new())?;
        level.sponges = Vec::new();
        level.modeled = Modeled::none(backend)?;
        level.patches = params.patches.len();
        level.moment_center = params.moment_center;
        (self.moving, self.profile) = (Vec::new(), Vec::new());
        self.add_places(backend, params, rules)
    }

    /// Sponges, and the places of profiles: few blocks, described by functions of the host.
    pub(crate) fn add_places(
        &mut self,
        backend: &B,
        params: &Params<D>,
        rules: &[Rule],
    ) -> Result<(), SolverError> {
        let has_profile = params.variations.iter().any(|of| of.has_profile());
        let has_model = !params.modeled.is_empty();
        if params.sponges.is_empty() && !has_profile && !has_model {
            return Ok(());
        }
        let mut host = self.level.download_places(backend, has_model)?;
        self.level.sponges = (sponge::on(params, &host).iter())
            .map(|sponge| sponge.upload(backend))
            .collect::<Result<_, _>>()?;
        self.moving = profile::fill(&mut host, &params.variations, rules)?;
        self.level.modeled = wall_model::add(&mut host, params)?.upload(backend)?;
        self.profile.clone_from(&host.profile);
        self.level.profile = backend.upload(host.profile)?;
        self.level.profile_face = backend.upload(host.profile_face)?;
        self.level.profile_link = backend.upload(host.profile_link)?;
        Ok(())
    }
}

impl<const D: usize> Built<D> {
    /// The tables in a backend's memory.
    pub(crate) fn upload<B: Backend>(self, backend: &B) -> Result<Built<D, B>, SolverError> {
        let level = self.level;
        let level = Level {
            index: level.index,
            extent: level.extent,
            slots: level.slots,
            exchanging: level.exchanging,
            special: level.special,
            keeps_moments: level.keeps_moments,
            populated: level.populated,
            tiles: backend.upload(level.tiles)?,
            halo: level.halo,
            coord: backend.upload(level.coord)?,
            neighbors: backend.upload(level.neighbors)?,
            stepped: backend.upload(level.stepped)?,
            solid: backend.upload(level.solid)?,
            ghost: backend.upload(level.ghost)?,
            overlaps: backend.upload(level.overlaps)?,
            overlap_of: backend.upload(level.overlap_of)?,
            boundary: backend.upload(level.boundary)?,
            linked: backend.upload(level.linked)?,
            walled: backend.upload(level.walled)?,
            faced: backend.upload(level.faced)?,
            bounded: backend.upload(level.bounded)?,
            cut: backend.upload(level.cut)?,
            open: backend.upload(level.open)?,
            cell_start: backend.upload(level.cell_start)?,
            cells: backend.upload(level.cells)?,
            q: backend.upload(level.q)?,
            patch: backend.upload(level.patch)?,
            rules: backend.upload(level.rules)?,
            profile: backend.upload(level.profile)?,
            profile_face: backend.upload(level.profile_face)?,
            profile_link: backend.upload(level.profile_link)?,
            sponges: (level.sponges.iter())
                .map(|sponge| sponge.upload(backend))
                .collect::<Result<_, _>>()?,
            modeled: level.modeled.upload(backend)?,
            patches: level.patches,
            moment_center: level.moment_center,
        };
        Ok(Built {
            level,
            blocks: backend.upload(self.blocks)?,
            moving: self.moving,
            profile: self.profile,
        })
    }
}

impl<const D: usize, B: Backend> Level<D, B> {
    /// Numbers of a buffer of all cells: `q` populations of the first slots, then what all slots keep.
    pub(crate) fn numbers(&self, q: usize) -> usize {
        let kept = if self.keeps_moments { KEPT } else { 0 };
        (self.populated * q + self.slots * kept) * dims::cells(D)
    }

    /// On the host what sponges and profiles, and with `of_model` modelled walls, are made from; tables that they do not read are
    /// empty.
    fn download_places(&self, backend: &B, of_model: bool) -> Result<Level<D, Host>, SolverError> {
        Ok(Level {
            index: self.index,
            extent: self.extent,
            slots: self.slots,
            exchanging: self.exchanging,
            special: self.special,
            keeps_moments: self.keeps_moments,
            populated: self.populated,
            tiles: Vec::new(),
            halo: self.halo.clone(),
            coord: backend.download(&self.coord)?,
            neighbors: match of_model {
                true => backend.download(&self.neighbors)?,
                false => Vec::new(),
            },
            stepped: backend.download(&self.stepped)?,
            solid: backend.download(&self.solid)?,
            ghost: match of_model {
                true => backend.download(&self.ghost)?,
                false => Vec::new(),
            },
            overlaps: Vec::new(),
            overlap_of: Vec::new(),
            boundary: backend.download(&self.boundary)?,
            linked: Vec::new(),
            walled: Vec::new(),
            faced: Vec::new(),
            bounded: Vec::new(),
            cut: Vec::new(),
            open: Vec::new(),
            cell_start: backend.download(&self.cell_start)?,
            cells: backend.download(&self.cells)?,
            q: backend.download(&self.q)?,
            patch: backend.download(&self.patch)?,
            rules: Vec::new(),
            profile: Vec::new(),
            profile_face: Vec::new(),
            profile_link: Vec::new(),
            sponges: Vec::new(),
            modeled: Modeled::none(&Host)?,
            patches: self.patches,
            moment_center: self.moment_center,
        })
    }
}

impl<const D: usize> Level<D, Host> {
    /// Entries of the lists of special slots, without [`Level::linked`].
    fn listed(&self) -> usize {
        let kinds = [&self.faced, &self.bounded, &self.cut, &self.open];
        self.walled.len() + kinds.map(Vec::len).iter().sum::<usize>()
    }

    /// Host bytes of the tables and of two buffers of all cells, with `q` populations or what cells keep.
    pub fn bytes<S: Storage>(&self, q: usize) -> u64 {
        let cells = dims::cells(D);
        let numbers = self.numbers(q) * 2 * size_of::<S>();
        let moments = self.exchanging * cells * crate::kernels::exchanged(D) * size_of::<S::Real>();
        let tables = self.slots * (4 * dims::directions(D) + 4 * D + 24)
            + self.cells.len() * 8
            + self.q.len() * 6
            + self.linked.len() * (4 + 48 * self.patches)
            + (self.listed() + self.tiles.len()) * 4
            + self.profile.len() * 8
            + self.modeled.cells.len() * size_of::<ModeledCell>()
            + self.modeled.dragged.len() * (size_of::<DraggedCell>() + 8 * D)
            + self.modeled.groups() * (4 + 56 * self.patches)
            + self
                .sponges
                .iter()
                .map(|s| 4 * (s.slots.len() + s.rate.len()))
                .sum::<usize>()
            + (self.profile_face.len() + self.profile_link.len()) * 4;
        (numbers + moments + tables) as u64
    }
}
