//! The plane of a picture: its cells and their pixels.

use super::canvas::{Canvas, Rect, Rgb};
use super::cut::Cut;
use super::palette::{Palette, SURFACE, Tone};
use super::{PictureError, Position, SliceOptions};
use cutlink_amr::{NONE, dims};
use cutlink_mesher::snap::Snapped;
use cutlink_voxelizer::Mesh;

/// Minimum width of cells, or of blocks, in pixels to draw their edges.
const EDGES_FROM: f64 = 5.0;
/// Minimum width of a cell in pixels to draw block edges twice as wide.
const WIDE_EDGES_FROM: f64 = 16.0;
/// Largest height of a picture as a multiple of its width.
const TALLEST: f64 = 1.5;

/// A plane, in units of the finest cell from the lower corner of the box.
#[derive(Debug)]
pub(super) struct Plane {
    /// The axes of the picture, horizontal and vertical.
    pub(super) axes: [usize; 2],
    /// The normal axis and the cell on it, in 3D.
    normal: Option<(usize, i64)>,
    /// The position of the plane, in the length unit of the mesh.
    at: f64,
    /// Lower and upper corner of the drawn part.
    low: [f64; 2],
    high: [f64; 2],
    finest: usize,
}

impl Plane {
    pub(super) fn new<const D: usize>(
        mesh: &Mesh<D>,
        options: &SliceOptions,
    ) -> Result<Self, PictureError> {
        let finest = mesh.forest.finest();
        let (frame, dx) = (&mesh.frame, mesh.frame.dx_at(finest));
        let cells = frame.root_cells.map(|n| i64::from(n) << finest);
        let (mut axes, mut normal, mut at) = ([0, 1], None, 0.0);
        if D == 3 {
            let axis = options.axis;
            if axis >= D {
                return Err(PictureError::Axis { axis });
            }
            axes = [[1, 2], [0, 2], [0, 1]][axis];
            let (from, to) = (frame.origin[axis], frame.upper()[axis]);
            at = match options.position {
                Position::Fraction(f) => from + f * (to - from),
                Position::Length(x) => x,
            };
            let outside = PictureError::Outside { at, from, to };
            // A plane on the upper face of the box shows the last cells.
            let cell = ((at - from) / dx).floor();
            if !(at >= from && at <= to) {
                return Err(outside);
            }
            normal = Some((axis, (cell as i64).clamp(0, cells[axis] - 1)));
        }
        let mut plane = Self {
            axes,
            normal,
            at,
            low: [0.0; 2],
            high: axes.map(|a| cells[a] as f64),
            finest,
        };
        if let Some(region) = options.region {
            for (i, &a) in axes.iter().enumerate() {
                let cell = |x: f64| (x - frame.origin[a]) / dx;
                plane.low[i] = plane.low[i].max(cell(region[0][i]));
                plane.high[i] = plane.high[i].min(cell(region[1][i]));
                if !(region[0][i] < region[1][i] && plane.low[i] < plane.high[i]) {
                    return Err(PictureError::EmptyRegion { region });
                }
            }
        }
        Ok(plane)
    }

    fn extent(&self) -> [f64; 2] {
        [self.high[0] - self.low[0], self.high[1] - self.low[1]]
    }

    /// Width and height in pixels, the width at most `width`.
    pub(super) fn pixels(&self, width: usize) -> [usize; 2] {
        let [w, h] = self.extent();
        let scale = (width as f64 / w).min(TALLEST * width as f64 / h);
        [w, h].map(|n| ((n * scale).round() as usize).max(1))
    }

    /// Lower and upper corner of the drawn part, in the length unit of the mesh.
    pub(super) fn corners<const D: usize>(&self, mesh: &Mesh<D>) -> [[f64; 2]; 2] {
        let dx = mesh.frame.dx_at(self.finest);
        let place = |cells: [f64; 2]| {
            let at = |i: usize| mesh.frame.origin[self.axes[i]] + cells[i] * dx;
            [at(0), at(1)]
        };
        [place(self.low), place(self.high)]
    }

    /// Position and drawn part of the slice, as text; with axes, the position only.
    pub(super) fn caption<const D: usize>(&self, mesh: &Mesh<D>, has_axes: bool) -> String {
        let name = |a: usize| ["x", "y", "z"][a];
        let [low, high] = self.corners(mesh);
        let mut parts = Vec::new();
        if !has_axes {
            let range = |i: usize| {
                let (from, to) = (short(low[i]), short(high[i]));
                format!("{} = {from} to {to}", name(self.axes[i]))
            };
            parts.extend([range(0), range(1)]);
        }
        if let Some((axis, _)) = self.normal {
            parts.push(format!("{} = {}", name(axis), short(self.at)));
        }
        parts.join(", ")
    }

    /// Draws a surface as a line of some width in pixels.
    pub(super) fn trace<const D: usize>(
        &self,
        mesh: &Mesh<D>,
        surface: &Snapped<D>,
        canvas: &mut Canvas,
        frame: Rect,
        width: f64,
    ) {
        let scale = (frame[2] - frame[0]) as f64 / self.extent()[0];
        let dx = mesh.frame.dx_at(self.finest);
        let normal = self.normal.map(|(axis, _)| (axis, self.at));
        let pixel = |x: [f64; 2]| {
            let cells = |i: usize| (x[i] - mesh.frame.origin[self.axes[i]]) / dx - self.low[i];
            [
                frame[0] as f64 + cells(0) * scale - 0.5,
                frame[3] as f64 - cells(1) * scale - 0.5,
            ]
        };
        let cut = Cut::new(mesh, surface, normal, self.axes);
        let segments = cut.walls.iter().map(|segment| segment.map(pixel));
        canvas.segments(frame, segments, width, SURFACE);
    }

    pub(super) fn paint<const D: usize>(&self, mesh: &Mesh<D>, canvas: &mut Canvas, frame: Rect) {
        let scale = (frame[2] - frame[0]) as f64 / self.extent()[0];
        let brush = Brush {
            plane: self,
            mesh,
            frame,
            scale,
            palette: Palette::new(mesh.forest.levels.len()),
        };
        for &id in &mesh.forest.levels[0] {
            brush.visit(canvas, id);
        }
    }
}

/// A number in at most five digits.
fn short(x: f64) -> String {
    let digits = match x.abs() {
        a if a >= 1000.0 => 0,
        a if a >= 10.0 => 2,
        _ => 4,
    };
    let text = format!("{x:.digits$}");
    if !text.contains('.') {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}

struct Brush<'a, const D: usize> {
    plane: &'a Plane,
    mesh: &'a Mesh<D>,
    frame: Rect,
    scale: f64,
    palette: Palette,
}

impl<const D: usize> Brush<'_, D> {
    /// Paints the leaves below a block that the plane cuts.
    fn visit(&self, canvas: &mut Canvas, id: u32) {
        let forest = &self.mesh.forest;
        let up = self.plane.finest - usize::from(forest.level[id as usize]);
        let coord = forest.coord[id as usize];
        // Cells of the block on an axis, in units of the finest.
        let span = |a: usize, from: i64, to: i64| {
            let low = i64::from(coord[a]) * 4;
            ((low + from) << up, (low + to) << up)
        };
        let mut layer = 0;
        if let Some((axis, cell)) = self.plane.normal {
            let (from, to) = span(axis, 0, 4);
            if !(from..to).contains(&cell) {
                return;
            }
            layer = ((cell - from) >> up) as i32;
        }
        let outside = |i: usize| {
            let (from, to) = span(self.plane.axes[i], 0, 4);
            from as f64 >= self.plane.high[i] || to as f64 <= self.plane.low[i]
        };
        if outside(0) || outside(1) {
            return;
        }
        let first = forest.first_child[id as usize];
        if first != NONE {
            for child in first..first + dims::children(D) as u32 {
                self.visit(canvas, child);
            }
            return;
        }
        for v in 0..4 {
            for u in 0..4 {
                let mut local = [layer; D];
                local[self.plane.axes[0]] = u;
                local[self.plane.axes[1]] = v;
                let bit = dims::ravel(local, 4);
                let [h, w] = [(0, u), (1, v)]
                    .map(|(i, c)| span(self.plane.axes[i], i64::from(c), i64::from(c) + 1));
                self.cell(canvas, id, bit, [h, w], [u, v]);
            }
        }
    }

    fn cell(
        &self,
        canvas: &mut Canvas,
        id: u32,
        bit: usize,
        [across, up]: [(i64, i64); 2],
        local: [i32; 2],
    ) {
        let [left, top, right, bottom] = [
            self.column(across.0),
            self.row(up.1),
            self.column(across.1),
            self.row(up.0),
        ];
        if left >= right || top >= bottom {
            return;
        }
        canvas.fill([left, top, right, bottom], self.colour(id, bit, Tone::Fill));
        let pixels = (across.1 - across.0) as f64 * self.scale;
        for (i, &at) in local.iter().enumerate() {
            let (tone, needed) = if at == 0 {
                (Tone::BlockEdge, pixels * 4.0)
            } else {
                (Tone::CellEdge, pixels)
            };
            if needed < EDGES_FROM {
                continue;
            }
            // Edges of blocks without cell edges are drawn in a softer tone.
            let tone = if pixels < EDGES_FROM {
                Tone::CellEdge
            } else {
                tone
            };
            let wide = tone == Tone::BlockEdge && pixels >= WIDE_EDGES_FROM;
            let thick = if wide { 2 } else { 1 };
            let edge = self.colour(id, bit, tone);
            match i {
                0 => canvas.fill([left, top, right.min(left + thick), bottom], edge),
                _ => canvas.fill([left, top.max(bottom - thick), right, bottom], edge),
            }
        }
    }

    fn colour(&self, id: u32, bit: usize, tone: Tone) -> Rgb {
        let classes = &self.mesh.classes;
        let has = |mask: &[u64]| mask[id as usize] >> bit & 1 == 1;
        if has(&classes.solid) {
            self.palette.solid(tone)
        } else if has(&classes.boundary) {
            self.palette.boundary(tone)
        } else {
            let level = self.mesh.forest.level[id as usize];
            self.palette.fluid(usize::from(level), tone)
        }
    }

    /// The first pixel column right of a cell edge, or with its centre on it; the same for equal edges of any level.
    fn column(&self, edge: i64) -> usize {
        let x = (edge as f64 - self.plane.low[0]) * self.scale;
        let x = (x - 0.5).ceil().max(0.0);
        (self.frame[0] + x as usize).min(self.frame[2])
    }

    /// The first pixel row below a cell edge.
    fn row(&self, edge: i64) -> usize {
        let height = (self.frame[3] - self.frame[1]) as f64;
        let y = height - (edge as f64 - self.plane.low[1]) * self.scale;
        (self.frame[1] + y.round().max(0.0) as usize).min(self.frame[3])
    }
}
