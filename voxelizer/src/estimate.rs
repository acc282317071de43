//! Blocks, cells, links, memory and time of a mesh before it is built.
//!
//! In: a surface, placed, in lengths; the frame; the parameters of [`crate::embed`]. Out: a
//! [`Forecast`], from which [`Forecast::at`] makes the [`Estimate`] of any number of levels up
//! to the requested one.
//!
//! **Blocks.** The coarse levels are built by [`crate::embed`] itself, as many as are
//! predicted to have at most `build_blocks` blocks, so their numbers are exact except for the
//! coarser snapping. For the finer ones the limit is known in closed form. A block with edge e is refined iff the
//! surface meets its box grown by L layers and the eighth of an edge of the facet lists;
//! a plane with unit normal n meets a cube of half width w iff its distance is at most
//! w |n|₁. So a facet of area A has A |n|₁ (L_fluid + L_solid + 1 + 1/4) / e^(D-1) refined
//! blocks. Curvature, edges and layers that overlap in narrow places are of the next order
//! in e: the measured ratio to the limit, less 1, is halved from level to level (the
//! Steiner formula has this order for smooth bodies).
//!
//! **Links.** The lines of cell centres along a direction s meet a facet A |n·s| / Δx^(D-1)
//! times (Cauchy and Crofton), and a plane has A |n|₁ / Δx^(D-1) boundary cells. Both numbers
//! grow by 2^(D-1) a level from those of the finest level that was built, which know of
//! overlaps and of walls of the box; the closed forms serve where none was built.
//!
//! **Memory.** The largest of the stages' needs, summed over the arrays that live in them: see
//! [`Forecast::at`]. **Time.** That of the finest level built, scaled by blocks: it knows the
//! machine, the threads and the facets, and is good to ± 50 % where the machine is idle.
//!
//! Deterministic but for the time. Cost: one pass over the facets, one snapping, and an
//! embedding of about [`BUILD_BLOCKS`] blocks, or none where the root grid is larger.

use crate::{
    EmbedParams, Frame, RegionShape, Stage, StageObserver, VoxelError, embed, kernels::MeshKernels,
    prepare, refine,
};
use cutlink_amr::{bytes_per_block, bytes_per_root_block, dims};
use cutlink_device::{DeviceError, ErrorKind, Failure};
use cutlink_mesher::Surface;
use rayon::prelude::*;

/// A good number of blocks to build for a forecast: a fraction of a second.
pub const BUILD_BLOCKS: u64 = 400_000;
/// About how much longer a block takes where a surface is closed by caps.
const OPEN_COST: u64 = 4;
/// Layers refined into the body, and what facet lists add: see the module.
const SOLID_LAYERS: f64 = 2.0;
const OWN_BLOCK: f64 = 1.25;
/// Resident size of the process itself.
const PROCESS_BYTES: f64 = 11e6;
/// Bytes per facet to read and check a surface, and the part of it that the allocator keeps
/// resident: at most 0.8 of the mesh's memory, which else reuses it. Measured on scans.
const FACET_READ: f64 = 59.0;
const FACET_RESIDUE: f64 = 80.0;
/// Parts of the link table that live twice while it is put together.
const LINK_COPIES: f64 = 1.28;
/// The same for links with a patch.
const PATCH_COPIES: f64 = 1.6;

/// Why an estimate could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// The coarse mesh could not be made.
    #[error(transparent)]
    Voxel(#[from] VoxelError),
    /// The surface could not be snapped.
    #[error(transparent)]
    Snap(#[from] cutlink_mesher::snap::SnapError),
}

impl Failure for EstimateError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Voxel(error) => error.kind(),
            Self::Snap(error) => error.kind(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Voxel(error) => error.hint(),
            _ => None,
        }
    }

    fn of_device(&self) -> Option<&DeviceError> {
        match self {
            Self::Voxel(error) => error.of_device(),
            _ => None,
        }
    }
}

/// Forecast of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelEstimate {
    /// The level, 0 the root.
    pub level: usize,
    /// Its cell spacing.
    pub dx: f64,
    /// Blocks, refined ones included.
    pub blocks: u64,
    /// Blocks without children.
    pub leaf_blocks: u64,
    /// Cells of the leaf blocks.
    pub cells: u64,
}

/// Forecast of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Its levels, the root first.
    pub levels: Vec<LevelEstimate>,
    /// How many of them were built to count them.
    pub counted_levels: usize,
    /// Blocks of all levels.
    pub blocks: u64,
    /// Cells of all leaves.
    pub cells: u64,
    /// Cut links.
    pub links: u64,
    /// Cells with a cut link.
    pub boundary_cells: u64,
    /// Largest resident memory of a run on the host.
    pub bytes_peak: u64,
    /// Largest memory of a run on a device: the device's.
    pub bytes_device: u64,
    /// And the host's, which gets a copy of the mesh.
    pub bytes_beside: u64,
    /// Size of the mesh file, without its strings.
    pub bytes_file: u64,
    /// Wall time of the embedding on this machine; `None` where no level was built.
    pub seconds: Option<f64>,
}

/// Forecasts of a mesh of any number of levels, up to the requested one.
#[derive(Debug, Clone)]
pub struct Forecast<const D: usize> {
    frame: Frame<D>,
    /// Size of the surface's file.
    input: u64,
    facets: u64,
    vertices: u64,
    patches: bool,
    /// Blocks of every level.
    blocks: Vec<f64>,
    /// Links and boundary cells, were the level the finest one.
    links: Vec<[f64; 2]>,
    counted: usize,
    /// Wall time up to each level that was built.
    seconds: Vec<f64>,
}

/// The bytes of an [`Estimate`].
struct Memory {
    whole: f64,
    device: f64,
    beside: f64,
}

/// Sums over the facets within the box.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    /// Of A |n|₁.
    area: f64,
    /// Of A |n·s| over all pairs of opposite directions s.
    links: f64,
}

/// Estimates meshes of up to `params.levels` levels. As many coarse ones as are predicted to
/// have at most `build_blocks` blocks (such as [`BUILD_BLOCKS`]) are counted by building them; a quarter of them where
/// caps close the surface.
///
/// `surface` is placed in the frame and need not be closed. See the module for the method.
pub fn forecast<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    build_blocks: u64,
) -> Result<Forecast<D>, EstimateError> {
    let limit = closed_form(surface, frame, params, &duplicates(surface))?;
    let mut made = limit.clone();
    let mut most = build_blocks;
    // What was counted may show that one more level is within the number.
    loop {
        let counted = made.levels_within(most);
        if counted <= made.counted {
            return Ok(made);
        }
        let coarse = params.clone().with_levels(counted);
        let (snapped, _) = prepare(kernels, surface, &frame, &coarse)?;
        if snapped.caps > 0 && most == build_blocks {
            most = build_blocks / OPEN_COST;
            continue;
        }
        let mut watch = Watch(vec![0.0; counted]);
        let mesh = embed(kernels, &snapped, frame, &coarse, &mut watch)?;
        made = limit.clone();
        made.count(
            &mesh.forest.levels.iter().map(K::len).collect::<Vec<_>>(),
            [mesh.links.len(), K::len(&mesh.links.cells)],
            counted,
        );
        made.seconds = watch.0;
    }
}

/// As [`forecast`], from the closed forms alone: no level is built. Good to a factor of 2 or 3
/// on coarse levels, and ever better on finer ones.
pub fn rough<const D: usize>(
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
) -> Result<Forecast<D>, EstimateError> {
    closed_form(surface, frame, params, &[])
}

fn closed_form<const D: usize>(
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    duplicates: &[u32],
) -> Result<Forecast<D>, EstimateError> {
    params.validate()?;
    crate::check_levels(&frame, params.levels)?;
    let sums = moments(surface, &frame, duplicates);
    let plan = refine::plan(params, &frame, surface.patches.len(), false)?;
    let power = D as i32 - 1;
    let root: f64 = frame.root_blocks().iter().map(|&n| f64::from(n)).product();
    let children = dims::children(D) as f64;
    let mut blocks = vec![root];
    let regions = params.regions.iter();
    let volumes: Vec<f64> = regions.map(|r| volume(&r.shape, &frame)).collect();
    for (level, marks) in plan.iter().enumerate() {
        let edge = 4.0 * frame.dx_at(level);
        let around = |(patch, sums): (usize, &Moments)| {
            let layers = marks.layers(patch).map_or(0.0, f64::from);
            (layers + SOLID_LAYERS + OWN_BLOCK) * sums.area
        };
        let at_walls = sums
            .iter()
            .enumerate()
            .filter(|&(patch, _)| marks.layers(patch).is_some());
        let mut refined = at_walls.map(around).sum::<f64>() / edge.powi(power);
        for (region, volume) in params.regions.iter().zip(&volumes) {
            if level + 1 < region.levels {
                refined += volume / edge.powi(D as i32);
            }
        }
        refined += marks.spots.len() as f64;
        blocks.push(children * refined.min(blocks[level]));
    }
    let links = |level: usize| {
        let of_patch = |(patch, sums): (usize, &Moments)| {
            // The finest level that the patch is given.
            let marks = plan[..level].iter();
            let at = marks.take_while(|m| m.layers(patch).is_some()).count();
            let cells = frame.dx_at(at).powi(power);
            [sums.links / cells, sums.area / cells]
        };
        sums.iter()
            .enumerate()
            .map(of_patch)
            .fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]])
    };
    Ok(Forecast {
        frame,
        input: 0,
        facets: surface.facets.len() as u64,
        vertices: surface.vertices.len() as u64,
        patches: surface.patches.len() > 1 || params.robust,
        blocks,
        links: (0..params.levels).map(links).collect(),
        counted: 0,
        seconds: Vec::new(),
    })
}

impl<const D: usize> Forecast<D> {
    /// The same for a surface that comes from a file of so many bytes: reading it may take more
    /// memory than a coarse mesh.
    #[must_use]
    pub fn with_input(self, bytes: u64) -> Self {
        Self {
            input: bytes,
            ..self
        }
    }

    /// Largest number of levels for [`Forecast::at`].
    pub fn levels(&self) -> usize {
        self.blocks.len()
    }

    /// The largest number of levels with at most `blocks` blocks in total.
    fn levels_within(&self, blocks: u64) -> usize {
        let mut sum = 0.0;
        let within = self.blocks.iter().take_while(|&&of_level| {
            sum += of_level;
            sum <= blocks as f64
        });
        within.count()
    }

    /// Puts the counts of the coarse levels in place of their predictions, and corrects the
    /// finer ones by them.
    fn count(&mut self, blocks: &[usize], links: [usize; 2], counted: usize) {
        let limit = std::mem::take(&mut self.blocks);
        let at = |level: usize| blocks.get(level).map_or(0.0, |&n| n as f64);
        let last = counted - 1;
        // The root grid says nothing about the surface.
        let excess = match last {
            0 => 0.0,
            _ if limit[last] > 0.0 => at(last) / limit[last] - 1.0,
            _ => 0.0,
        };
        let none = last > 0 && at(last) == 0.0;
        let children = dims::children(D) as f64;
        for (level, &limit) in limit.iter().enumerate() {
            let next = if level <= last {
                at(level)
            } else if none {
                0.0
            } else {
                let left = excess * 0.5f64.powi((level - last) as i32);
                (limit * (1.0 + left)).clamp(0.0, children * self.blocks[level - 1])
            };
            self.blocks.push(next);
        }
        let measured = links.map(|n| n as f64);
        // Coarser meshes keep the closed form, scaled to what the finest one shows.
        let share: [f64; 2] = std::array::from_fn(|i| match self.links[last][i] {
            x if x > 0.0 => measured[i] / x,
            _ => 0.0,
        });
        for of_level in &mut self.links {
            *of_level = std::array::from_fn(|i| of_level[i] * share[i]);
        }
        self.counted = counted;
    }

    /// The mesh of so many levels, from 1 to [`Forecast::levels`].
    ///
    /// The peak of memory is that of the finest level's cut links: forest, solid and boundary masks and link rows of
    /// all blocks; winding numbers and facet lists of the finest two levels; links, partly twice; boundary cells and
    /// their directions; the surface twice, the process, and what the reader left resident. Reading may need more.
    /// Where links are few, the peak is that of the ghost and interface masks.
    pub fn at(&self, levels: usize) -> Estimate {
        let n = levels.clamp(1, self.levels());
        let children = dims::children(D) as u64;
        let round = |x: f64| x.round() as u64;
        let blocks: Vec<u64> = self.blocks[..n].iter().map(|&b| round(b)).collect();
        let of_level = |level: usize| {
            let finer = blocks.get(level + 1).map_or(0, |b| b / children);
            let leaf_blocks = blocks[level].saturating_sub(finer);
            LevelEstimate {
                level,
                dx: self.frame.dx_at(level),
                blocks: blocks[level],
                leaf_blocks,
                cells: leaf_blocks * dims::cells(D) as u64,
            }
        };
        let [links, cells] = self.links[n - 1];
        let all: Vec<LevelEstimate> = (0..n).map(of_level).collect();
        let memory = self.memory(n);
        Estimate {
            counted_levels: self.counted.min(n),
            blocks: blocks.iter().sum(),
            cells: all.iter().map(|l| l.cells).sum(),
            links: round(links),
            boundary_cells: round(cells),
            bytes_peak: round(memory.whole),
            bytes_device: round(memory.device),
            bytes_beside: round(memory.beside),
            bytes_file: round(self.file(n)),
            seconds: self.time(n),
            levels: all,
        }
    }

    /// The finest mesh that `fits`, or `None` where not even the root grid does.
    pub fn finest(&self, mut fits: impl FnMut(&Estimate) -> bool) -> Option<Estimate> {
        (1..=self.levels())
            .rev()
            .map(|n| self.at(n))
            .find(|estimate| fits(estimate))
    }

    fn memory(&self, n: usize) -> Memory {
        let blocks: f64 = self.blocks[..n].iter().sum();
        let [links, cells] = self.links[n - 1];
        let (a_link, copies) = if self.patches {
            (6.0, PATCH_COPIES)
        } else {
            (4.0, LINK_COPIES)
        };
        let stored = [bytes_per_root_block(D), bytes_per_block(D)].map(|bytes| bytes as f64 + 4.0);
        let forest = self.blocks[0] * stored[0] + (blocks - self.blocks[0]) * stored[1];
        let finest: f64 = self.blocks[n.saturating_sub(2)..n].iter().sum();
        let level = finest * (4 * dims::children(D) + 6) as f64;
        let table = links * a_link + 8.0 * cells;
        let at_links =
            forest + blocks * 16.0 + level + table + links * a_link * (copies - 1.0) + 4.0 * cells;
        let at_rim = forest + blocks * 32.0 + table;
        // As it was snapped, and as the kernels read it.
        let row = 4 * D as u64;
        let surface = (self.facets * (row + row * D as u64) + self.vertices * row) as f64;
        let facets = self.facets as f64;
        let mesh = at_links.max(at_rim);
        let reading = self.input as f64 + FACET_READ * facets;
        let host = |mesh: f64| {
            let residue = (FACET_RESIDUE * facets).min(0.8 * mesh);
            PROCESS_BYTES + reading.max(mesh + surface + residue)
        };
        Memory {
            whole: host(mesh),
            device: mesh + surface,
            beside: host(at_rim),
        }
    }

    /// As `docs/mesh-file.md` lays it out; about one row for 4^(D-1) boundary cells.
    fn file(&self, n: usize) -> f64 {
        let blocks: f64 = self.blocks[..n].iter().sum();
        let [links, cells] = self.links[n - 1];
        let a_link = if self.patches { 6.0 } else { 4.0 };
        let rows = cells / f64::from(1 << (2 * (D - 1)));
        blocks * (36 + 4 * D) as f64 + links * a_link + 8.0 * (cells + rows)
    }

    fn time(&self, n: usize) -> Option<f64> {
        let last = self.counted.checked_sub(1)?;
        let built: f64 = self.seconds.iter().take(n).sum();
        let more: f64 = self.blocks[..n].iter().skip(self.counted).sum();
        let rate = if self.blocks[last] > 0.0 {
            self.seconds[last] / self.blocks[last]
        } else {
            0.0
        };
        Some(built + more * rate)
    }
}

/// Facets that are there already, on the same corners, ascending: they cut nothing new. Cost:
/// one parallel sort.
fn duplicates<const D: usize>(surface: &Surface<D>) -> Vec<u32> {
    let key = |f: u32| {
        let mut corners = surface.facets[f as usize];
        corners.sort_unstable();
        (corners, f)
    };
    let mut keys: Vec<([u32; D], u32)> = (0..surface.facets.len() as u32)
        .into_par_iter()
        .map(key)
        .collect();
    keys.par_sort_unstable();
    let again = keys.windows(2).filter(|w| w[0].0 == w[1].0);
    let mut again: Vec<u32> = again.map(|w| w[1].1).collect();
    again.sort_unstable();
    again
}

/// Volume (2D: area) of a region, or of the box where that is less.
fn volume<const D: usize>(shape: &RegionShape, frame: &Frame<D>) -> f64 {
    use std::f64::consts::PI;
    let whole: f64 = (0..D)
        .map(|a| frame.dx * f64::from(frame.root_cells[a]))
        .product();
    let own = match shape {
        RegionShape::Box { lower, upper } => {
            let extent = |a: usize| {
                let high = upper[a].min(frame.upper()[a]);
                (high - lower[a].max(frame.origin[a])).max(0.0)
            };
            (0..D).map(extent).product()
        }
        RegionShape::Ball { radius, .. } if D == 2 => PI * radius * radius,
        RegionShape::Ball { radius, .. } => 4.0 / 3.0 * PI * radius.powi(3),
        RegionShape::Cylinder { from, to, radius } => {
            let square: f64 = (0..D).map(|a| (to[a] - from[a]).powi(2)).sum();
            let across = if D == 2 {
                2.0 * radius
            } else {
                PI * radius * radius
            };
            across * square.sqrt()
        }
    };
    own.min(whole)
}

/// The sums of each patch.
fn moments<const D: usize>(
    surface: &Surface<D>,
    frame: &Frame<D>,
    duplicates: &[u32],
) -> Vec<Moments> {
    let directions: Vec<[f64; D]> = (dims::center(D) + 1..dims::directions(D))
        .map(|i| dims::step::<D>(i).map(f64::from))
        .collect();
    let bounds = [frame.origin, frame.upper()];
    let of_facet = |f: usize| {
        let corners = surface.corners(f);
        let normal = normal(&corners);
        let share = share_inside(&corners, &bounds);
        let along = |s: &[f64; D]| (0..D).map(|a| normal[a] * s[a]).sum::<f64>().abs();
        Moments {
            area: share * normal.iter().map(|x| x.abs()).sum::<f64>(),
            links: share * directions.iter().map(along).sum::<f64>(),
        }
    };
    // Chunks of one size, added in order: the same sum for any number of threads.
    let facets: Vec<usize> = (0..surface.facets.len()).collect();
    let sums: Vec<Vec<Moments>> = facets
        .par_chunks(1 << 12)
        .map(|chunk| {
            let mut sums = vec![Moments::default(); surface.patches.len()];
            for &f in chunk {
                if duplicates.binary_search(&(f as u32)).is_ok() {
                    continue;
                }
                let patch = surface.facet_patch.get(f).copied().unwrap_or(0);
                let sum = &mut sums[usize::from(patch)];
                *sum = add(*sum, of_facet(f));
            }
            sums
        })
        .collect();
    let mut all = vec![Moments::default(); surface.patches.len()];
    for chunk in sums {
        for (sum, own) in all.iter_mut().zip(chunk) {
            *sum = add(*sum, own);
        }
    }
    all
}

fn add(a: Moments, b: Moments) -> Moments {
    Moments {
        area: a.area + b.area,
        links: a.links + b.links,
    }
}

/// The facet's normal, as long as its area (2D: length).
fn normal<const D: usize>(corners: &[[f64; D]; D]) -> [f64; D] {
    let edge = |k: usize, a: usize| corners[k][a] - corners[0][a];
    let mut normal = [0.0; D];
    if D == 2 {
        normal[0] = edge(1, 1);
        normal[1] = -edge(1, 0);
    } else {
        for a in 0..D {
            let (b, c) = ((a + 1) % D, (a + 2) % D);
            normal[a] = 0.5 * (edge(1, b) * edge(2, c) - edge(1, c) * edge(2, b));
        }
    }
    normal
}

/// The share of a facet's area that lies in a box, by cutting it at each side (Sutherland and
/// Hodgman 1974).
fn share_inside<const D: usize>(corners: &[[f64; D]; D], [low, high]: &[[f64; D]; 2]) -> f64 {
    let is_in = |p: &[f64; D]| (0..D).all(|a| low[a] <= p[a] && p[a] <= high[a]);
    if corners.iter().all(is_in) {
        return 1.0;
    }
    let mut polygon = corners.to_vec();
    for side in 0..2 * D {
        let (axis, upper) = (side / 2, side % 2 == 1);
        let depth = |p: &[f64; D]| {
            if upper {
                high[axis] - p[axis]
            } else {
                p[axis] - low[axis]
            }
        };
        polygon = cut(&polygon, depth, D > 2);
    }
    let whole = size(corners);
    if whole > 0.0 {
        size(&polygon) / whole
    } else {
        0.0
    }
}

/// The part of a polygon (or of a segment, not `closed`) with a depth of 0 or more.
fn cut<const D: usize>(
    points: &[[f64; D]],
    depth: impl Fn(&[f64; D]) -> f64,
    closed: bool,
) -> Vec<[f64; D]> {
    let mut kept = Vec::with_capacity(points.len() + 1);
    for (i, p) in points.iter().enumerate() {
        let from = depth(p);
        if from >= 0.0 {
            kept.push(*p);
        }
        let next = match points.get(i + 1) {
            Some(next) => next,
            None if closed => &points[0],
            None => break,
        };
        let to = depth(next);
        if (from < 0.0) != (to < 0.0) {
            let t = from / (from - to);
            kept.push(std::array::from_fn(|a| p[a] + t * (next[a] - p[a])));
        }
    }
    kept
}

/// Area of a planar polygon, length of a segment.
fn size<const D: usize>(points: &[[f64; D]]) -> f64 {
    let Some((first, rest)) = points.split_first() else {
        return 0.0;
    };
    let mut sum = [0.0; D];
    for pair in rest.windows(D - 1) {
        let corners: [[f64; D]; D] =
            std::array::from_fn(|k| if k == 0 { *first } else { pair[k - 1] });
        for (sum, x) in sum.iter_mut().zip(normal(&corners)) {
            *sum += x;
        }
    }
    sum.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Adds up the time of each level.
struct Watch(Vec<f64>);

impl StageObserver for Watch {
    fn stage_done(&mut self, _: Stage, level: usize, seconds: f64) {
        if let Some(sum) = self.0.get_mut(level) {
            *sum += seconds;
        }
    }
}
