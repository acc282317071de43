//! Surfaces of a case: liquid in them at the start, and bodies by the mesher's inside test.

use super::case::{LiquidTable, SolidTable, TwoPhaseCase};
use super::frame;
use crate::solve::{
    placed::{other_dimension, place, placed},
    value::Value,
};
use cutlink_amr::{Forest, dims};
use cutlink_common::{Error, ErrorKind, device::Opened};
use cutlink_device::memory;
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_meshing::{
    mesh::{
        build::{Builder, Placed},
        domain::of_case,
        intersections::find_as_is,
        resolve::{Job, resolve},
    },
    options::{Axes, MeshOptions, Numbers, Root},
};
use cutlink_vof::{ClosedSurface, LiquidShape};
use cutlink_voxelizer::Mesh;
use std::sync::Arc;

/// Where a surface is, in the options of a mesh.
pub(super) trait SurfaceKeys {
    /// The keys that the table shares with `[mesh]`.
    fn keys(&self) -> MeshOptions;

    /// Whether any of them is given.
    fn has_surface(&self) -> bool {
        self.keys() != MeshOptions::default()
    }
}

impl SurfaceKeys for LiquidTable {
    fn keys(&self) -> MeshOptions {
        placed!(self)
    }
}

impl SurfaceKeys for SolidTable {
    fn keys(&self) -> MeshOptions {
        MeshOptions {
            flow: self.flow,
            robust: self.robust,
            ..placed!(self)
        }
    }
}

/// The solid cells of a body, level by level.
pub(super) struct SolidBody<const D: usize> {
    /// Of a level: a mesh whose finest cells are of this level.
    levels: Vec<SolidLevel<D>>,
    /// Its surface.
    pub(super) surface: Arc<ClosedSurface<D>>,
}

struct SolidLevel<const D: usize> {
    forest: Forest<D>,
    cells: Vec<u64>,
}

impl<const D: usize> SolidBody<D> {
    /// The solid cells of a block.
    pub(super) fn mask(&self, level: usize, coord: [i32; D]) -> u64 {
        let SolidLevel { forest, cells } = &self.levels[level];
        let found = forest.find(level, coord);
        let id = found.expect("the box of the flow") as usize;
        let up = level - usize::from(forest.level[id]);
        if up == 0 {
            return cells[id];
        }
        // Where no facet is near, the mesh of the body is coarser.
        let is_solid = |cell: usize| {
            let at: [i32; D] = dims::unravel(cell, 4);
            let above: [i32; D] = std::array::from_fn(|a| ((4 * coord[a] + at[a]) >> up) & 3);
            cells[id] >> dims::ravel(above, 4) & 1
        };
        (0..dims::cells(D)).fold(0, |mask, cell| mask | is_solid(cell) << cell)
    }
}

impl TwoPhaseCase {
    /// The mesh options of a surface in the box, with so many levels.
    fn options_of(
        &self,
        of: &dyn SurfaceKeys,
        root: &Root,
        levels: usize,
    ) -> Result<MeshOptions, Error> {
        Ok(MeshOptions {
            domain: Some(Numbers::Many(self.domain.bounds.clone())),
            root: Some(root.clone()),
            levels: Some(levels),
            wall_distance: Some(0.0),
            periodic: Some(Axes(self.periodic()?)),
            ..of.keys()
        })
    }

    /// A surface of liquid in a mesh of so many levels.
    ///
    /// # Errors
    /// A file that cannot be read, a surface of the other dimension, an open one, or one whose facets meet where they share
    /// no edge.
    pub(super) fn liquid_surface<const D: usize>(
        &self,
        table: &LiquidTable,
        root: &Root,
        levels: usize,
    ) -> Result<LiquidShape<D>, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let options = self.options_of(table, root, levels)?;
        let job = resolve(&options)?;
        let mut observer = ();
        let placed = place_of::<D>(&job, &mut Builder::new(&job, &Opened::Cpu, &mut observer))?;
        if !placed.health.closed() {
            let health = &placed.health;
            let text = format!(
                "{} is not closed: {} of {} facets' edges are not used as often each way",
                job.name(),
                health.unbalanced_edges,
                health.facets
            );
            return Err(Error::new(ErrorKind::Geometry, text).hint(
                "liquid needs a closed, consistently oriented surface: `cutlink inspect FILE` shows where it is open",
            ));
        }
        let found = find_as_is(&placed.placed)?;
        if let Some(first) = found.report.samples.first() {
            let text = format!(
                "{} overlaps itself: facets {} and {} meet at {:?}",
                job.name(),
                first.facets[0],
                first.facets[1],
                first.at
            );
            return Err(Error::new(ErrorKind::Geometry, text).hint(
                "liquid in two parts would count twice: unite the parts, or give each a [[liquid]] of its own if they only touch",
            ));
        }
        Ok(LiquidShape::Surface(closed(&placed)?))
    }

    /// What is below a height: facets between points at parts of the finest cells.
    ///
    /// # Errors
    /// An expression that is none, or has no finite value; too many points.
    pub(super) fn below<const D: usize>(
        &self,
        (what, level): (&str, &Value),
        root: &Root,
        levels: usize,
    ) -> Result<LiquidShape<D>, Error> {
        let height = level.expression(what, &frame::scope(D - 1, false))?;
        let bounds = &self.domain.bounds;
        let width = self.finest_width::<D>(root, levels)?;
        // Straight facets, with nodes at edges of cells: an error of this part of a cell squared, by the radius of curvature.
        let spacing = width / PARTS[D - 2];
        let nodes = |a: usize| -> Vec<f64> {
            let (from, to) = (bounds[a], bounds[D + a]);
            let count = ((to - from) / spacing).round();
            let inner = (0..=count as usize).map(|k| from + (to - from) * k as f64 / count);
            // Far beyond the sides, so that there is no interface at them.
            let beyond = [from - (to - from), to + (to - from)];
            ([beyond[0]].into_iter().chain(inner))
                .chain([beyond[1]])
                .collect()
        };
        let across: Vec<Vec<f64>> = (0..D - 1).map(nodes).collect();
        let count: usize = across.iter().map(Vec::len).product();
        if count > MOST_POINTS {
            let text = format!("{what} needs {count} points, and {MOST_POINTS} are the most");
            return Err(Error::new(ErrorKind::Memory, text)
                .hint("coarser cells, or a closed surface as `file`"));
        }
        let depth = bounds[2 * D - 1] - bounds[D - 1];
        let mut point = [bounds[D - 1] - depth; D];
        let mut heights = memory::with_capacity("points of a level", count)?;
        for k in 0..count {
            let mut rest = k;
            let mut inside = [0.0; D];
            for (a, nodes) in across.iter().enumerate() {
                point[a] = nodes[rest % nodes.len()];
                inside[a] = point[a].clamp(bounds[a], bounds[D + a]);
                rest /= nodes.len();
            }
            let value = height.at(&inside[..D - 1], 0.0);
            point[D - 1] = value.map_err(|reason| Error::input(format!("{what}: {reason}")))?;
            heights.push(point);
        }
        let floor = |mut of: [f64; D]| {
            of[D - 1] = bounds[D - 1] - depth;
            of
        };
        // The sides are vertical and beyond the box: they take no part.
        let row = across[0].len();
        let mut facets: Vec<[[f64; D]; D]> = memory::with_capacity("facets of a level", 4 * count)?;
        let mut add = |top: [usize; D]| {
            facets.push(top.map(|k| heights[k]));
            let mut bottom = top.map(|k| floor(heights[k]));
            bottom.swap(0, 1);
            facets.push(bottom);
        };
        for k in (0..count).filter(|k| k % row + 1 < row) {
            if D == 2 {
                add(std::array::from_fn(|n| k + 1 - n));
            } else if k + row < count {
                let corners = [k, k + 1, k + 1 + row, k + row];
                for of in [[0, 1, 2], [0, 2, 3]] {
                    add(std::array::from_fn(|n| corners[of[n]]));
                }
            }
        }
        Ok(LiquidShape::Surface(Arc::new(ClosedSurface::new(facets)?)))
    }

    /// The solid cells of a body on so many levels, and notes.
    ///
    /// # Errors
    /// A file that cannot be read, a surface that is open or not in the box, too little memory.
    pub(super) fn solid_body<const D: usize>(
        &self,
        table: &SolidTable,
        root: &Root,
        levels: usize,
    ) -> Result<(SolidBody<D>, Vec<String>), Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let (mut of_levels, mut surface, mut notes) = (Vec::new(), None, Vec::new());
        for count in 1..=levels {
            let mut options = self.options_of(table, root, count)?;
            // The same facets on all levels.
            options.deviation = options
                .shape
                .is_some()
                .then(|| self.finest_width::<D>(root, levels))
                .transpose()?
                .map(|width: f64| DEVIATION * width);
            let job = resolve(&options)?;
            let mut observer = ();
            let mut builder = Builder::new(&job, &Opened::Cpu, &mut observer);
            let placed = place_of::<D>(&job, &mut builder)?;
            if count == levels {
                surface = Some(closed(&placed)?);
            }
            let prepared = builder.prepare(placed)?;
            let Mesh {
                forest, classes, ..
            } = builder.build(&prepared)?;
            of_levels.push(SolidLevel {
                forest,
                cells: classes.solid,
            });
            notes = builder.notes;
        }
        let surface = surface.expect("there is at least one level");
        let body = SolidBody {
            levels: of_levels,
            surface,
        };
        Ok((body, notes))
    }

    /// The width of the finest cells.
    fn finest_width<const D: usize>(&self, root: &Root, levels: usize) -> Result<f64, Error> {
        let domain = of_case::<D>(&self.domain.bounds, root)?;
        Ok(domain.frame.dx_at(levels - 1))
    }
}

/// Parts of a finest cell between two points of a level, in 2D and in 3D.
const PARTS: [f64; 2] = [4.0, 2.0];

/// Most points of a level.
const MOST_POINTS: usize = 4_000_000;

/// Largest distance of a shape's facets from the true surface, over the width of the finest cells.
const DEVIATION: f64 = 1.0 / 64.0;

fn place_of<const D: usize>(job: &Job, builder: &mut Builder<'_>) -> Result<Placed<D>, Error> {
    place(builder).map_err(|error| other_dimension::<D>(job).unwrap_or(error))
}

/// The facets of a placed surface.
fn closed<const D: usize>(placed: &Placed<D>) -> Result<Arc<ClosedSurface<D>>, Error> {
    let surface = &placed.placed;
    let facets = (0..surface.facets.len()).map(|f| surface.corners(f));
    Ok(Arc::new(ClosedSurface::new(facets.collect())?))
}
