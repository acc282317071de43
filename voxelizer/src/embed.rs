//! The embedding, level by level (J26 §3.4): facet lists → winding numbers → links of the
//! leaves → marks by near-wall distance → refinement → the next level.
//!
//! A block with a facet in its list is refined down to the finest level, unless the patch is
//! given fewer levels. So a leaf above that level is uniform, and the number of finest
//! centres inside the body does not depend on the forest. A level's marks never reach
//! its own rim, and 2:1 needs no further blocks: see [`crate::refine`].

use crate::{
    Classes, EmbedParams, Frame, LinkTable, Mesh, SUBCELL_BITS, Stage, StageObserver, VoxelError,
    kernels::{Classified, Images, LevelData, LevelView, LinkRule, MeshKernels, Seeds, SolidRule},
    periodic::{self, ImageFacets},
    refine::{self, LevelMarks},
    windows::Window,
};
use cutlink_amr::{Forest, NONE};
use cutlink_device::Backend;
use cutlink_mesher::{
    Surface,
    kernels::{Bins, ChildBoxes, FacetSet, Repeats},
    repeat::repeat,
    robust::{RobustReport, first_gap},
    snap::{SnapError, Snapped, snap, snap_apart},
};
use std::collections::VecDeque;

/// Bits of lattice coordinates in the box.
const LATTICE_BITS: u32 = 27;

/// Layers of blocks refined into the fluid: the blocks beside the surface, and N_prop more
/// by J26 eq. 3. The product 2^L Δx_{b,L} is the root block's edge on every level.
pub fn fluid_layers(wall_distance: f64, root_dx: f64) -> u32 {
    let root_block = 4.0 * root_dx;
    let more = (wall_distance / (std::f64::consts::SQRT_2 * root_block)).floor();
    2 + more.min(1e6) as u32
}

/// Checks that a mesh of so many levels fits the exact lattice.
pub fn check_levels<const D: usize>(frame: &Frame<D>, levels: usize) -> Result<(), VoxelError> {
    let cells = *frame.root_cells.iter().max().expect("D should be positive");
    let fits = |levels: usize| {
        let bits = levels - 1 + SUBCELL_BITS as usize;
        bits < 64 && u128::from(cells) << bits <= 1 << LATTICE_BITS
    };
    if fits(levels) {
        return Ok(());
    }
    Err(VoxelError::Levels {
        levels,
        root_cells: cells,
        most: (1..levels).rev().find(|&l| fits(l)).unwrap_or(0),
    })
}

/// Embeds a surface, snapped to `frame.lattice(params.levels)`, into an adaptive mesh.
///
/// The surface must be closed in the sense of the fill rule (see `cutlink_mesher::health`), or be
/// closed by caps (see [`prepare`]): winding numbers of an open one are not defined. It may
/// extend beyond the box. An empty surface gives the root grid. Links into the body without a
/// crossing are cut halfway and belong to the caps' patch. Links across periodic faces are cut by the surface
/// on the opposite side; [`crate::check_periodic`] checks that it continues there.
///
/// Cost: proportional to the facets and to the blocks near the surface on each level. Memory:
/// [`crate::forecast`].
///
/// Links at gaps are of the first gap: [`crate::tell_gaps_apart`] tells them apart.
///
/// # Errors
/// Parameters out of range, too many levels for the lattice, tables beyond 2^32 entries, too little memory, a device
/// that fails.
pub fn embed<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    observer: &mut dyn StageObserver,
) -> Result<Mesh<D, K>, VoxelError> {
    embed_scope(
        kernels,
        surface,
        frame,
        params,
        Scope::Whole,
        None,
        observer,
    )
}

/// Embeds a surface, snapped to `frame.lattice(params.levels)`, on the blocks of a forest, which stay as they are: masks, links, cut
/// distances and patches are, bit for bit, those that [`embed`] makes where the blocks are the same. A surface that leaves the finest
/// blocks has links on coarser levels, and may cross from one level to another, which [`crate::validate`] finds. Of
/// `params`, wall distance, rules and regions do not count.
///
/// Cost: as [`embed`], without marks and new blocks.
///
/// # Errors
/// As [`embed`]; a forest that is not of this box ([`VoxelError::Blocks`]).
///
/// # Panics
/// Where the forest's ids do not ascend with the level.
pub fn embed_fixed<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    forest: Forest<D, K>,
    observer: &mut dyn StageObserver,
) -> Result<Mesh<D, K>, VoxelError> {
    let fits = forest.root == frame.root_blocks()
        && forest.periodic == params.periodic_axes()
        && forest.levels.len() <= params.levels;
    if !fits {
        return Err(VoxelError::Blocks {
            levels: forest.levels.len(),
            most: params.levels,
        });
    }
    embed_scope(
        kernels,
        surface,
        frame,
        params,
        Scope::Whole,
        Some(forest),
        observer,
    )
}

/// How much of a mesh is made.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'a, const D: usize> {
    /// All of it.
    Whole,
    /// What a window has: see [`Window`].
    Window(&'a Window<D>),
    /// So many levels and the next one's blocks, without links and the cells at level boundaries.
    Coarse(usize),
}

impl<const D: usize> Scope<'_, D> {
    fn is_coarse(self) -> bool {
        matches!(self, Self::Coarse(_))
    }
}

/// [`embed`], of a part of the mesh, or on given blocks.
pub(crate) fn embed_scope<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    scope: Scope<'_, D>,
    given: Option<Forest<D, K>>,
    observer: &mut dyn StageObserver,
) -> Result<Mesh<D, K>, VoxelError> {
    params.validate()?;
    check_levels(&frame, params.levels)?;
    let levels = match scope {
        Scope::Coarse(levels) => levels,
        Scope::Whole | Scope::Window(_) => params.levels,
    };
    let gaps = kernels.gaps(surface);
    let gaps = (!gaps.is_empty()).then_some(&gaps);
    let plan = match given {
        Some(_) => Vec::new(),
        None => refine::plan(params, &frame, surface.patches.len(), gaps.is_some())?,
    };
    let mut clock = Clock::new(kernels, observer)?;
    let embedding = Embedding {
        kernels,
        levels: params.levels,
        patches: surface.patches.len(),
        scope,
        rule: SolidRule {
            fill: params.fill,
            gaps,
        },
        gap: gaps.and_then(|_| first_gap(surface)),
        plan,
        set: kernels.facet_set(surface, repeats_in(params.periodic_axes::<D>()))?,
        beyond: Beyond::new(kernels, surface, &frame, params)?,
    };
    clock.lap(Stage::Upload)?;
    let forest = match given {
        Some(forest) => forest,
        None => Forest::new(kernels, frame.root_blocks())?.with_periodic(params.periodic_axes()),
    };
    let mut build = Build::new(kernels, forest)?;
    let mut above = None;
    for level in 0..levels {
        if level >= build.forest.levels.len() {
            // No block of the level above meets the surface.
            break;
        }
        clock.level = level;
        above = Some(embedding.level(&mut build, above, &mut clock)?);
    }
    drop(above);
    if !scope.is_coarse() {
        let rim = kernels.interfaces(&build.forest)?;
        (build.classes.ghost, build.classes.interface) = (rim.ghost, rim.interface);
    }
    clock.lap(Stage::Refine)?;
    clock.finish()?;
    clock.observer.facets_passed(build.passed);

    Ok(Mesh {
        frame,
        forest: build.forest,
        classes: build.classes,
        links: build.links,
        patches: surface.patches.clone(),
        fill: params.fill,
        graded: gaps.is_some() || params.is_graded(surface.patches.len()),
    })
}

/// What is the same on all levels.
struct Embedding<'a, const D: usize, K: Backend> {
    kernels: &'a K,
    levels: usize,
    patches: usize,
    scope: Scope<'a, D>,
    rule: SolidRule<'a, D>,
    /// The patch of links through gaps.
    gap: Option<u16>,
    /// By level; empty where the blocks are given.
    plan: Vec<LevelMarks<D>>,
    set: FacetSet<D, K>,
    beyond: Option<Beyond<D, K>>,
}

impl<const D: usize, K: MeshKernels<D>> Embedding<'_, D, K> {
    /// Embeds the level of the clock, and refines it.
    fn level(
        &self,
        build: &mut Build<'_, D, K>,
        above: Option<Level<K>>,
        clock: &mut Clock<'_, K>,
    ) -> Result<Level<K>, VoxelError> {
        let kernels = self.kernels;
        let view = level_view(&build.forest, clock.level, self.levels);
        let (bins, image_bins) = self.bins(&build.forest, view, above.as_ref())?;
        clock.lap(Stage::Bins)?;

        let seeds = build.seeds(&self.set, view, above.as_ref())?;
        let data = LevelData {
            set: &self.set,
            forest: &build.forest,
            bins: &bins,
            images: None,
            view,
        };
        let solid = &mut build.classes.solid;
        let classified = kernels.classify(&data, seeds, self.rule, solid)?;
        clock.lap(Stage::Voxelize)?;

        let plan = self.plan.get(view.level);
        if let Some(plan) = plan {
            let marks = self.marks(&data, &build.classes.solid, &classified, plan)?;
            build.refine(view, marks)?;
            clock.lap(Stage::Refine)?;
        }
        let images = self.beyond.as_ref().zip(image_bins.as_ref());
        let data = LevelData {
            set: &self.set,
            forest: &build.forest,
            bins: &bins,
            images: images.map(Beyond::with),
            view,
        };
        // Where every block with a facet is refined, no leaf has links.
        let refined = |marks: &LevelMarks<D>| marks.refines_all(self.patches);
        let no_leaf_has_links = self.gap.is_none() && plan.is_some_and(refined);
        if !(no_leaf_has_links || self.scope.is_coarse()) {
            let rule = LinkRule {
                fill: self.rule.fill,
                gap: self.gap,
                classified: &classified,
            };
            let Classes {
                solid, boundary, ..
            } = &mut build.classes;
            build.passed += kernels.cut_links(&data, solid, rule, boundary, &mut build.links)?;
        }
        clock.lap(Stage::Links)?;
        Ok(Level {
            view,
            bins,
            image_bins,
            classified,
        })
    }

    /// The facet lists of a level: of the surface, and of its images.
    fn bins(
        &self,
        forest: &Forest<D, K>,
        view: LevelView,
        above: Option<&Level<K>>,
    ) -> Result<(Bins<K>, Option<Bins<K>>), VoxelError> {
        let of = |set, above| bin_level(self.kernels, forest, set, view, above);
        let bins = of(&self.set, above.map(|above| (above.view, &above.bins)))?;
        let images = above.and_then(|above| Some((above.view, above.image_bins.as_ref()?)));
        let image_bins = self.beyond.as_ref().map(|beyond| of(&beyond.set, images));
        Ok((bins, image_bins.transpose()?))
    }

    /// Marks of the blocks to refine, of those that the scope has.
    fn marks(
        &self,
        data: &LevelData<'_, D, K>,
        solid: &K::Buf<u64>,
        classified: &Classified<K>,
        plan: &LevelMarks<D>,
    ) -> Result<K::Buf<u8>, VoxelError> {
        let mut marks = (self.kernels).mark(data, solid, &classified.uncertain, plan)?;
        if let Scope::Window(window) = self.scope {
            let places = window.places(self.kernels, data.view.level)?;
            (self.kernels).restrict(data.forest, data.view, &places, &mut marks)?;
        }
        Ok(marks)
    }
}

/// Snaps a surface to the lattice of a mesh of `params.levels` levels, wraps it around the periodic axes
/// (see [`mod@cutlink_mesher::repeat`]), and closes it by caps if `params.robust` is set.
///
/// # Errors
/// A vertex or facet too far from the box for exact arithmetic.
pub fn prepare<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Surface<D>,
    frame: &Frame<D>,
    params: &EmbedParams,
) -> Result<(Snapped<D>, Option<RobustReport>), SnapError> {
    let mut snapped = snap(surface, frame.lattice(params.levels))?;
    repeat(
        &mut snapped,
        frame.extent(params.levels),
        params.periodic_axes(),
    )?;
    let report = params.robust.then(|| kernels.close(&mut snapped));
    Ok((snapped, report))
}

/// As [`prepare`], for an embedding alone, whose result is the same: vertices that fall on one another stay apart where no periodic face
/// is crossed and nothing is closed. Cost: a pass over vertices and facets.
///
/// # Errors
/// As [`prepare`].
pub(crate) fn prepare_apart<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Surface<D>,
    frame: &Frame<D>,
    params: &EmbedParams,
) -> Result<Snapped<D>, SnapError> {
    let snapped = snap_apart(surface, frame.lattice(params.levels))?;
    let (extent, periodic) = (frame.extent(params.levels), params.periodic_axes::<D>());
    let is_inside = |x: &[i32; D]| (0..D).all(|a| !periodic[a] || (0..=extent[a]).contains(&x[a]));
    match !params.robust && snapped.vertices.iter().all(is_inside) {
        true => Ok(snapped),
        false => Ok(prepare(kernels, surface, frame, params)?.0),
    }
}

/// What becomes of facets on the same corners: on periodic faces, crossings add up.
pub(crate) fn repeats_in<const D: usize>(periodic: [bool; D]) -> Repeats {
    match periodic == [false; D] {
        true => Repeats::Merge,
        false => Repeats::Keep,
    }
}

/// A level of a forest whose ids ascend, in a mesh of `levels` levels at most.
pub(crate) fn level_view<const D: usize, K: Backend>(
    forest: &Forest<D, K>,
    level: usize,
    levels: usize,
) -> LevelView {
    LevelView {
        level,
        first: forest.levels[..level].iter().map(K::len).sum(),
        count: K::len(&forest.levels[level]),
        spacing: 1 << (SUBCELL_BITS as usize + levels - 1 - level),
        last: level + 1 == levels,
    }
}

/// The facet lists of a level, from those of the level above it.
pub(crate) fn bin_level<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    forest: &Forest<D, K>,
    set: &FacetSet<D, K>,
    view: LevelView,
    above: Option<(LevelView, &Bins<K>)>,
) -> Result<Bins<K>, VoxelError> {
    let edge = 4 * view.spacing;
    let Some((above, lists)) = above else {
        return Ok(kernels.bin_root(set, forest.root, edge)?);
    };
    let children = ChildBoxes {
        coord: &forest.coord,
        parent: &forest.parent,
        first_child: &forest.first_child,
        first: view.first,
        count: view.count,
        first_parent: above.first,
        edge,
    };
    Ok(kernels.bin_children(set, lists, children)?)
}

/// What the next level needs of the one above it.
struct Level<K: Backend> {
    view: LevelView,
    bins: Bins<K>,
    image_bins: Option<Bins<K>>,
    classified: Classified<K>,
}

/// The images of the surface beyond periodic faces.
#[derive(Debug)]
pub(crate) struct Beyond<const D: usize, K: Backend> {
    pub(crate) set: FacetSet<D, K>,
    starts: [u32; 28],
}

/// How far beyond a periodic face images are needed, in lattice units: no list reaches farther than half a cell of the root.
pub(crate) fn reach_of_images(levels: usize) -> i32 {
    1 << (SUBCELL_BITS as usize + levels - 2)
}

impl<const D: usize, K: MeshKernels<D>> Beyond<D, K> {
    pub(crate) fn new(
        kernels: &K,
        surface: &Snapped<D>,
        frame: &Frame<D>,
        params: &EmbedParams,
    ) -> Result<Option<Self>, VoxelError> {
        let periodic = params.periodic_axes();
        if periodic == [false; D] {
            return Ok(None);
        }
        let reach = reach_of_images(params.levels);
        let ImageFacets { surface, starts } =
            periodic::images(surface, frame.extent(params.levels), periodic, reach)?;
        if surface.facets.is_empty() {
            return Ok(None);
        }
        let set = kernels.facet_set(&surface, Repeats::Keep)?;
        Ok(Some(Self { set, starts }))
    }

    pub(crate) fn with<'a>((beyond, bins): (&'a Self, &'a Bins<K>)) -> Images<'a, D, K> {
        Images {
            set: &beyond.set,
            bins,
            starts: beyond.starts,
        }
    }
}

/// The mesh so far.
struct Build<'a, const D: usize, K: Backend> {
    kernels: &'a K,
    forest: Forest<D, K>,
    classes: Classes<K>,
    links: LinkTable<K>,
    /// Links that pass facets and are not cut.
    passed: u64,
}

impl<'a, const D: usize, K: MeshKernels<D>> Build<'a, D, K> {
    fn new(kernels: &'a K, forest: Forest<D, K>) -> Result<Self, VoxelError> {
        let blocks = forest.capacity();
        let none = || kernels.upload(Vec::new());
        Ok(Self {
            kernels,
            classes: Classes {
                solid: kernels.alloc("solid cells", blocks, 0)?,
                boundary: kernels.alloc("boundary cells", blocks, 0)?,
                ghost: none()?,
                interface: none()?,
            },
            links: LinkTable {
                blocks: kernels.upload(Vec::new())?,
                row_of: kernels.alloc("link rows", blocks, NONE)?,
                cell_start: kernels.upload(vec![0])?,
                cells: kernels.upload(Vec::new())?,
                q: kernels.upload(Vec::new())?,
                patch: kernels.upload(Vec::new())?,
            },
            passed: 0,
            forest,
        })
    }

    fn seeds<'b>(
        &self,
        set: &FacetSet<D, K>,
        view: LevelView,
        above: Option<&'b Level<K>>,
    ) -> Result<Seeds<'b, K>, VoxelError> {
        Ok(match above {
            None => Seeds::Blocks(self.kernels.seed_roots(set, &self.forest, view.spacing)?),
            Some(above) => Seeds::Parents {
                anchors: &above.classified.anchors,
                first: above.view.first,
                uncertain: &above.classified.uncertain,
            },
        })
    }

    fn refine(&mut self, view: LevelView, mut marks: K::Buf<u8>) -> Result<(), VoxelError> {
        let kernels = self.kernels;
        self.forest.refine(kernels, view.level, &mut marks)?;
        let blocks = self.forest.capacity();
        kernels.resize("solid cells", &mut self.classes.solid, blocks, 0)?;
        kernels.resize("boundary cells", &mut self.classes.boundary, blocks, 0)?;
        kernels.resize("link rows", &mut self.links.row_of, blocks, NONE)?;
        Ok(())
    }
}

/// Times of the stages, reported to the observer as soon as they are known: a device runs asynchronously, and is
/// not waited for before the end.
struct Clock<'a, K: Backend> {
    kernels: &'a K,
    observer: &'a mut dyn StageObserver,
    level: usize,
    last: K::Stamp,
    launches: Option<u64>,
    pending: VecDeque<(Stage, usize, K::Stamp)>,
}

impl<'a, K: Backend> Clock<'a, K> {
    fn new(kernels: &'a K, observer: &'a mut dyn StageObserver) -> Result<Self, VoxelError> {
        Ok(Self {
            kernels,
            observer,
            level: 0,
            last: kernels.stamp()?,
            launches: kernels.launches(),
            pending: VecDeque::new(),
        })
    }

    fn lap(&mut self, stage: Stage) -> Result<(), VoxelError> {
        let launches = self.kernels.launches();
        if let (Some(before), Some(now)) = (self.launches, launches) {
            if before == now {
                // Nothing to do on this level.
                self.observer.stage_done(stage, self.level, 0.0);
                return Ok(());
            }
            self.observer.stage_launched(stage, now - before);
        }
        self.launches = launches;
        self.pending
            .push_back((stage, self.level, self.kernels.stamp()?));
        while let Some((.., stamp)) = self.pending.front()
            && self.kernels.has_passed(stamp)?
        {
            self.tell()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), VoxelError> {
        while !self.pending.is_empty() {
            self.tell()?;
        }
        Ok(())
    }

    fn tell(&mut self) -> Result<(), VoxelError> {
        if let Some((stage, level, stamp)) = self.pending.pop_front() {
            let seconds = self.kernels.seconds(&self.last, &stamp)?;
            self.observer.stage_done(stage, level, seconds);
            self.last = stamp;
        }
        Ok(())
    }
}
