//! Cells of rules that are found: along sharp edges and lines, where the surface bends, in gaps, inside of closed surfaces.
//!
//! In: the placed surface and its box, lengths in metres. Out: [`Spots`], cells of each level that are to be refined; a cell
//! implies those that contain it. The same for any number of threads.

use super::{Refine, What, bends, gaps, lines, solids};
use crate::options::{FillRule, FlowSide};
use cutlink_common::Error;
use cutlink_device::{Backend as _, Host};
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_mesher::{Surface, placement::Affine};
use cutlink_voxelizer::{Frame, Spots};
use rayon::prelude::*;

/// Cells by level.
pub(super) type Cells<const D: usize> = Vec<Vec<[i32; D]>>;

/// Where rules look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a, const D: usize> {
    /// The surface in its box.
    pub(crate) surface: &'a Surface<D>,
    pub(crate) frame: &'a Frame<D>,
    pub(crate) periodic: [bool; D],
    /// From the frame of files to that of the box.
    pub(crate) affine: &'a Affine<D>,
    /// On which sides of a facet there may be fluid: 1 is that of its normal.
    pub(crate) sides: &'static [f64],
}

/// On which sides of facets there is fluid; both where their directions do not tell.
pub(crate) fn sides(fill: FillRule, flow: FlowSide, inward: bool, told: bool) -> &'static [f64] {
    match (fill, told) {
        (FillRule::NonZero, true) if (flow == FlowSide::Inside) != inward => &[-1.0],
        (FillRule::NonZero, true) => &[1.0],
        _ => &[1.0, -1.0],
    }
}

/// The cells that all rules want, but those of patches and regions.
///
/// # Errors
/// A file that cannot be read or is not what a rule needs, and memory that is not there.
pub(crate) fn spots<const D: usize>(rules: &[Refine], scene: Scene<'_, D>) -> Result<Spots, Error>
where
    Facet<D>: Exact<D>,
{
    let mut cells = Cells::new();
    let on_edges = |rule: &Refine| matches!(rule.what, What::Edges { .. } | What::Curved { .. });
    let ridges = match rules.iter().any(on_edges) {
        true => bends::ridges(scene.surface)?,
        false => Vec::new(),
    };
    // One level is the root grid.
    for rule in rules.iter().filter(|rule| rule.levels > 1) {
        let finest = rule.levels - 2;
        if cells.len() < rule.levels {
            cells.resize(rule.levels, Vec::new());
        }
        match &rule.what {
            What::Edges {
                name,
                angle,
                distance,
            } => {
                let named = Named::new(name, scene.surface);
                let sharp = ridges.iter().filter(|ridge| named.any(&ridge.patches));
                let sharp = sharp.filter(|ridge| ridge.is_border || ridge.angle.abs() > *angle);
                let sharp: Vec<_> = sharp.map(|ridge| ridge.ends).collect();
                cells[finest].extend(near_lines(&scene, finest, &sharp, *distance)?);
            }
            What::Lines { file, distance } => {
                let lines = lines::read(file, scene.affine)?;
                cells[finest].extend(near_lines(&scene, finest, &lines, *distance)?);
            }
            What::Curved { name, angle } => {
                let named = Named::new(name, scene.surface);
                let bent = ridges.iter().filter(|ridge| named.any(&ridge.patches));
                let found =
                    bends::cells(&scene, &bent.copied().collect::<Vec<_>>(), finest, *angle)?;
                add(&mut cells, found);
            }
            What::Gap { name, across } => {
                let named = Named::new(name, scene.surface);
                add(&mut cells, gaps::cells(&scene, &named, finest, *across)?);
            }
            What::Solid { file, inside } => {
                cells[finest].extend(solids::cells(&scene, file, *inside, finest)?);
            }
            What::Patch { .. } | What::Near { .. } | What::Region { .. } => {}
        }
    }
    Ok(Spots::new(scene.frame, scene.periodic, cells))
}

fn add<const D: usize>(all: &mut Cells<D>, found: Cells<D>) {
    for (level, found) in found.into_iter().enumerate() {
        all[level].extend(found);
    }
}

/// The patches of a rule.
#[derive(Debug)]
pub(super) struct Named(Option<u16>);

impl Named {
    /// A name that [`super::apply`] has found, or `*`.
    fn new<const D: usize>(name: &str, surface: &Surface<D>) -> Self {
        let at = surface.patches.iter().position(|patch| patch == name);
        Self(at.map(|at| at as u16).filter(|_| name != "*"))
    }

    pub(super) fn any(&self, patches: &[u16]) -> bool {
        self.0.is_none_or(|named| patches.contains(&named))
    }
}

/// The cells of a level that segments pass, and those up to a distance from them along each axis.
fn near_lines<const D: usize>(
    scene: &Scene<'_, D>,
    level: usize,
    segments: &[[[f64; D]; 2]],
    distance: f64,
) -> Result<Vec<[i32; D]>, Error> {
    let dx = scene.frame.dx_at(level);
    let clipped: Vec<_> = segments
        .par_iter()
        .filter_map(|&segment| clipped(scene, segment, distance + dx))
        .collect();
    let steps: f64 = clipped.iter().map(|&ends| steps(ends, dx) as f64).sum();
    reserve("cells along edges", steps * (1 << (D - 1)) as f64, D)?;
    let along = clipped
        .par_iter()
        .flat_map_iter(|&ends| along(scene.frame, level, ends));
    let mut cells = unique(along.collect());
    let layers = (distance / dx).ceil() as i32;
    for axis in (0..D).filter(|_| layers > 0) {
        let width = f64::from(2 * layers + 1);
        reserve("cells near edges", cells.len() as f64 * width, D)?;
        let wide = cells.par_iter().flat_map_iter(|cell| {
            (-layers..=layers).map(move |by| {
                let mut moved = *cell;
                moved[axis] += by;
                moved
            })
        });
        cells = unique(wide.collect());
    }
    Ok(cells)
}

pub(super) fn unique<const D: usize>(mut cells: Vec<[i32; D]>) -> Vec<[i32; D]> {
    cells.par_sort_unstable();
    cells.dedup();
    cells
}

/// Refuses so many cells where there is no memory for them.
pub(super) fn reserve(what: &'static str, cells: f64, dimensions: usize) -> Result<(), Error> {
    let bytes = cells * (dimensions * size_of::<i32>()) as f64;
    Host.reserve(what, bytes as u64)
        .map_err(|error| Error::from(error).hint("use fewer levels or a coarser root grid"))
}

/// The part of a segment within a distance of the box, along axes that are not periodic.
pub(super) fn clipped<const D: usize>(
    scene: &Scene<'_, D>,
    [from, to]: [[f64; D]; 2],
    around: f64,
) -> Option<[[f64; D]; 2]> {
    let (lower, upper) = (scene.frame.origin, scene.frame.upper());
    let (mut first, mut last) = (0.0f64, 1.0f64);
    for a in (0..D).filter(|&a| !scene.periodic[a]) {
        let (low, high) = (lower[a] - around, upper[a] + around);
        let along = to[a] - from[a];
        if along == 0.0 {
            if !(low..=high).contains(&from[a]) {
                return None;
            }
            continue;
        }
        let (s, t) = ((low - from[a]) / along, (high - from[a]) / along);
        first = first.max(s.min(t));
        last = last.min(s.max(t));
    }
    let at = |t: f64| std::array::from_fn(|a| from[a] + t * (to[a] - from[a]));
    (first <= last).then(|| [at(first), at(last)])
}

/// Pieces of at most half a cell.
fn steps<const D: usize>(ends: [[f64; D]; 2], dx: f64) -> usize {
    ((2.0 * length(ends) / dx).ceil() as usize).max(1)
}

pub(super) fn length<const D: usize>([from, to]: [[f64; D]; 2]) -> f64 {
    (0..D)
        .map(|a| (to[a] - from[a]).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// The cells of a level that a segment passes: those that meet the box around one of its pieces.
pub(super) fn along<const D: usize>(
    frame: &Frame<D>,
    level: usize,
    ends: [[f64; D]; 2],
) -> Vec<[i32; D]> {
    let dx = frame.dx_at(level);
    let count = steps(ends, dx);
    let [from, to] = ends;
    let mut cells = Vec::with_capacity(count);
    for i in 0..count {
        let at = |i: usize, a: usize| {
            let x = from[a] + (to[a] - from[a]) * i as f64 / count as f64;
            ((x - frame.origin[a]) / dx).floor() as i32
        };
        let ends: [[i32; 2]; D] = std::array::from_fn(|a| {
            let (s, t) = (at(i, a), at(i + 1, a));
            [s.min(t), s.max(t)]
        });
        for corner in 0..1usize << D {
            let cell = std::array::from_fn(|a| ends[a][corner >> a & 1]);
            if cells.last() != Some(&cell) {
                cells.push(cell);
            }
        }
    }
    cells
}
