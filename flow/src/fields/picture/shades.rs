//! The value at every pixel of a picture.

use super::spec::PictureSpec;
use crate::fields::plane::Plane;
use crate::fields::values::Scene;
use cutlink_amr::{CellRef, NONE};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// Largest height of a picture as a multiple of its width.
const TALLEST: f64 = 1.5;
/// Minimum width of a block in pixels to draw its edges.
const BLOCKS_FROM: f64 = 6.0;
/// Minimum width of a cell in pixels to draw its edges.
const CELLS_FROM: f64 = 9.0;
/// Width of the outline of a level in pixels.
const OUTLINE: f64 = 2.0;

/// A pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shade {
    /// The value of a fluid cell, or of the fluid cells beside a solid one; `None` inside the body.
    pub(super) value: Option<f32>,
    /// Whether the cell is solid.
    pub(super) solid: bool,
    /// The grid line at this pixel.
    pub(super) line: Line,
}

/// Lines of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    None,
    Cell,
    Block,
    /// Where a level begins, beside a coarser one.
    Level(u8),
}

/// The drawn part of a plane, in finest cells from the lower corner of the box.
pub(super) struct View {
    low: [f64; 2],
    scale: f64,
    /// Lower corner of the box, and the finest cell, in the length unit of the mesh.
    origin: [f64; 2],
    dx: f64,
    /// Width and height in pixels.
    pub(super) pixels: [usize; 2],
}

impl View {
    /// The view of a picture, at most `width` pixels wide.
    pub(super) fn new<const D: usize>(mesh: &Mesh<D>, spec: &PictureSpec, width: usize) -> Self {
        let finest = mesh.forest.finest();
        let dx = mesh.frame.dx_at(finest);
        let axes = spec.plane.axes;
        let mut low = [0.0; 2];
        let mut high = axes.map(|a| (i64::from(mesh.frame.root_cells[a]) << finest) as f64);
        if let Some([from, to]) = spec.region {
            for (i, &a) in axes.iter().enumerate() {
                low[i] = f64::max(low[i], (from[i] - mesh.frame.origin[a]) / dx);
                high[i] = f64::min(high[i], (to[i] - mesh.frame.origin[a]) / dx);
            }
        }
        let extent = [high[0] - low[0], high[1] - low[1]];
        let scale = (width as f64 / extent[0]).min(TALLEST * width as f64 / extent[1]);
        let pixels = extent.map(|n| ((n * scale).round() as usize).max(1));
        Self {
            low,
            scale,
            origin: axes.map(|a| mesh.frame.origin[a]),
            dx,
            pixels,
        }
    }

    /// A point in the length unit of the mesh, in pixels from the upper left corner.
    pub(super) fn pixel(&self, at: [f64; 2]) -> [f64; 2] {
        let along = |i: usize| ((at[i] - self.origin[i]) / self.dx - self.low[i]) * self.scale;
        [along(0), self.pixels[1] as f64 - along(1)]
    }

    /// The centre of a pixel, rows counted from the top.
    fn place(&self, [x, y]: [usize; 2]) -> [f64; 2] {
        let up = self.pixels[1] - 1 - y;
        let at = |i: usize, n: usize| self.low[i] + (n as f64 + 0.5) / self.scale;
        [at(0, x), at(1, up)]
    }
}

/// The values of the leaf cells in a plane, by cell.
struct Values<'a, const D: usize> {
    mesh: &'a Mesh<D>,
    plane: Plane,
    /// By block: index of its first value, or [`NONE`].
    first: Vec<u32>,
    /// 16 values per block, in rows of four cells.
    values: Vec<f32>,
}

impl<'a, const D: usize> Values<'a, D> {
    fn new(scene: Scene<'a, D>, spec: &PictureSpec) -> Self {
        let mesh = scene.mesh;
        let cells = spec.plane.cells(mesh);
        let axis = spec.plane.normal.map_or(2, |(axis, _)| axis);
        let values = cells
            .par_iter()
            .with_min_len(64)
            .map(|&at| scene.shown(spec.quantity, axis, at) as f32)
            .collect();
        // The 16 cells of a block are contiguous.
        let mut first = vec![NONE; mesh.forest.capacity()];
        for (i, at) in cells.iter().enumerate().step_by(16) {
            first[at.block as usize] = i as u32;
        }
        Self {
            mesh,
            plane: spec.plane,
            first,
            values,
        }
    }

    /// The value of a fluid cell.
    fn of(&self, at: CellRef) -> Option<f32> {
        let solid = self.mesh.classes.solid[at.block as usize] >> at.cell & 1 == 1;
        let local = |a: usize| (at.cell >> (2 * a) & 3) as usize;
        let [i, j] = self.plane.axes;
        let first = self.first[at.block as usize];
        let found = self.values.get(first as usize + local(i) + 4 * local(j));
        found.copied().filter(|_| !solid)
    }

    /// The mean over the fluid cells next to a solid cell, within the section. Fluid between the surface and the centre
    /// of the solid cell is drawn with this value.
    fn beside(&self, at: CellRef) -> Option<f32> {
        let (low, edge) = self.square(at);
        let steps = [-1, edge / 2, edge];
        let around = steps.map(|i| steps.map(|j| [low[0] + i, low[1] + j]));
        let cells = around.as_flattened().iter();
        let cell = |&at: &[i64; 2]| self.of(self.plane.leaf(self.mesh, at)?);
        mean(cells.filter_map(cell))
    }

    /// Lower corner and edge of a cell in the plane, in finest cells.
    fn square(&self, at: CellRef) -> ([i64; 2], i64) {
        let forest = &self.mesh.forest;
        let up = forest.finest() - usize::from(forest.level[at.block as usize]);
        let low = forest.cell_coord(at);
        (self.plane.axes.map(|a| i64::from(low[a]) << up), 1 << up)
    }

    /// The mean of the fluid cells around a corner.
    fn corner(&self, at: [i64; 2]) -> Option<f32> {
        let around = [[-1, -1], [0, -1], [-1, 0], [0, 0]];
        let cell = |step: [i64; 2]| {
            self.plane
                .leaf(self.mesh, [at[0] + step[0], at[1] + step[1]])
        };
        mean(around.into_iter().filter_map(|s| self.of(cell(s)?)))
    }
}

fn mean(values: impl Iterator<Item = f32>) -> Option<f32> {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
    (n > 0.0).then(|| sum / n)
}

/// What the pixels of a cell show.
#[derive(Clone, Copy)]
struct Pattern {
    low: [i64; 2],
    edge: i64,
    solid: bool,
    value: Option<f32>,
    /// Of a smooth picture.
    corners: Option<[f32; 4]>,
}

impl Pattern {
    fn new<const D: usize>(values: &Values<'_, D>, at: CellRef, smooth: bool) -> Self {
        let (low, edge) = values.square(at);
        let own = values.of(at);
        let value = own.or_else(|| values.beside(at));
        let corners = value.filter(|_| smooth).map(|value| {
            std::array::from_fn(|c| {
                let step = [(c & 1) as i64, (c >> 1) as i64];
                let corner = values.corner([low[0] + step[0] * edge, low[1] + step[1] * edge]);
                corner.unwrap_or(value)
            })
        });
        Self {
            low,
            edge,
            solid: own.is_none(),
            value,
            corners,
        }
    }

    fn at(&self, place: [f64; 2]) -> Shade {
        let smooth = |[a, b, c, d]: [f32; 4]| {
            let share = |i: usize| ((place[i] - self.low[i] as f64) / self.edge as f64) as f32;
            let [s, t] = [share(0), share(1)];
            let (below, above) = (a + s * (b - a), c + s * (d - c));
            below + t * (above - below)
        };
        Shade {
            value: self.corners.map(smooth).or(self.value),
            solid: self.solid,
            line: Line::None,
        }
    }
}

/// The pixels of a picture, row by row from the top.
///
/// Smooth pictures are bilinear between the corners of a cell, each the mean of the fluid cells around it; at level
/// interfaces there is a slight step.
pub(super) fn shades<const D: usize>(
    scene: Scene<'_, D>,
    spec: &PictureSpec,
    view: &View,
) -> Vec<Shade> {
    let values = Values::new(scene, spec);
    let [width, height] = view.pixels;
    let nothing = Shade {
        value: None,
        solid: true,
        line: Line::None,
    };
    let mut shades = vec![nothing; width * height];
    shades
        .par_chunks_exact_mut(width)
        .enumerate()
        .for_each(|(y, row)| {
            let mut last: Option<(CellRef, Pattern)> = None;
            for (x, shade) in row.iter_mut().enumerate() {
                let place = view.place([x, y]);
                let Some(at) = values
                    .plane
                    .leaf(scene.mesh, place.map(|n| n.floor() as i64))
                else {
                    continue;
                };
                let pattern = match last {
                    Some((of, pattern)) if of == at => pattern,
                    _ => Pattern::new(&values, at, spec.smooth),
                };
                last = Some((at, pattern));
                *shade = pattern.at(place);
                if spec.grid {
                    let (low, edge) = (pattern.low, pattern.edge);
                    shade.line = outline(&values, place, at, view.scale).unwrap_or_else(|| {
                        line(place, low, edge, at, view.scale, values.plane.axes)
                    });
                }
            }
        });
    shades
}

/// The outline of the level at a pixel: whether a coarser cell is less than two pixels away.
fn outline<const D: usize>(
    values: &Values<'_, D>,
    place: [f64; 2],
    at: CellRef,
    scale: f64,
) -> Option<Line> {
    let own = values.mesh.forest.level[at.block as usize];
    let off = OUTLINE / scale;
    let near = [[off, 0.0], [-off, 0.0], [0.0, off], [0.0, -off]];
    let coarser = near.into_iter().any(|[x, y]| {
        let beside = [place[0] + x, place[1] + y].map(|n| n.floor() as i64);
        let leaf = values.plane.leaf(values.mesh, beside);
        leaf.is_some_and(|leaf| values.mesh.forest.level[leaf.block as usize] < own)
    });
    coarser.then_some(Line::Level(own))
}

/// The grid line at a pixel: whether it is the first pixel of a cell or of a block, from the left or from below.
fn line(
    place: [f64; 2],
    low: [i64; 2],
    edge: i64,
    at: CellRef,
    scale: f64,
    axes: [usize; 2],
) -> Line {
    let pixels = edge as f64 * scale;
    let mut found = Line::None;
    for (i, &a) in axes.iter().enumerate() {
        if place[i] - 1.0 / scale >= low[i] as f64 {
            continue;
        }
        let first = at.cell >> (2 * a) & 3 == 0;
        if first && 4.0 * pixels >= BLOCKS_FROM {
            return Line::Block;
        }
        if pixels >= CELLS_FROM {
            found = Line::Cell;
        }
    }
    found
}
