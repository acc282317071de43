//! Pictures as PNG: of meshes, and what pictures of flows and of histories are drawn with ([`canvas`], [`axes`], [`plot`],
//! [`text`], [`scale`]; in three dimensions [`camera`], [`raster`], [`triad`]); [`film`]s of them; [`solid_stl`], the voxel surface of a mesh,
//! and [`voxels`], its picture; and [`blocks`], its slices for pages in a browser.
//!
//! The picture of a mesh ([`slice_png`]) has the cells that a plane cuts, coloured by class, with the grid drawn on them.
//!
//! In: a mesh and the position of the plane, in the length unit of the mesh or as a fraction of the box; where it is
//! known, the surface. In 2D the plane is the whole mesh. Every pixel has the colour of the leaf cell at its centre. Cell
//! edges are drawn where cells are at least 5 pixels wide; block edges, stronger, where blocks are. The surface is a line
//! over the cells; a mesh file has no surface, so that a picture of one shows cells only. The first axis of the plane
//! points right, the second one up; [`axes`] show coordinates.
//!
//! Colours (Okabe & Ito 2008 for the boundary) are distinguishable in the common kinds of colour blindness and in
//! print: fluid from white to light blue by level, boundary orange, solid dark. Determinism: the same bytes for the
//! same mesh. Cost: one visit of each leaf in the plane and one write per pixel.

pub mod axes;
mod backend;
pub mod blocks;
pub mod camera;
pub mod canvas;
pub mod coverage;
pub mod cut;
pub mod film;
mod palette;
mod plane;
pub mod plot;
pub mod raster;
pub mod scale;
pub mod solid_stl;
pub mod text;
pub mod triad;
pub mod voxels;

use axes::FrameAxes;
use canvas::{Canvas, INK};
use cutlink_mesher::snap::Snapped;
use cutlink_voxelizer::{AnyMesh, Mesh};
use palette::{Palette, SURFACE, Tone};
use plane::Plane;
use std::io::Write;

/// Position of a slice along its normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Position {
    /// As a fraction of the box, 0 at the lower face.
    Fraction(f64),
    /// As a coordinate in the length unit of the mesh.
    Length(f64),
}

/// What to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceOptions {
    /// The normal axis of the plane; ignored in 2D.
    pub axis: usize,
    /// The position of the plane on the axis; ignored in 2D.
    pub position: Position,
    /// Lower and upper corner of the part to draw, in the length unit of the mesh, in the two axes of the plane;
    /// clipped to the box. `None` draws all of it.
    pub region: Option<[[f64; 2]; 2]>,
    /// Width of the picture in pixels.
    pub width: u32,
    /// Whether to draw coordinate axes, from [`axes::LEAST_WIDTH`] on.
    pub axes: bool,
}

impl Default for SliceOptions {
    fn default() -> Self {
        Self {
            axis: 2,
            position: Position::Fraction(0.5),
            region: None,
            width: 1600,
            axes: true,
        }
    }
}

/// Allowed widths of a picture in pixels.
pub const WIDTHS: std::ops::RangeInclusive<u32> = 64..=20_000;

/// Errors of pictures; the texts are lowercase fragments.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// An axis that the mesh does not have.
    #[error("there is no axis {axis}: 0 is x, 1 is y, 2 is z")]
    Axis {
        /// The requested axis.
        axis: usize,
    },
    /// A plane outside the box.
    #[error("the slice at {at} lies outside the box, {from} to {to} on that axis")]
    Outside {
        /// The plane, in the length unit of the mesh.
        at: f64,
        /// Lower face of the box.
        from: f64,
        /// Upper face of the box.
        to: f64,
    },
    /// A region outside the box.
    #[error("the region {region:?} lies outside the box")]
    EmptyRegion {
        /// The requested region.
        region: [[f64; 2]; 2],
    },
    /// A picture too small or too large.
    #[error("the picture width is {width}, it must be {} to {} pixels", WIDTHS.start(), WIDTHS.end())]
    Width {
        /// The requested width.
        width: u32,
    },
    /// The picture could not be written.
    #[error("cannot write the picture: {0}")]
    Write(#[from] std::io::Error),
}

/// Draws a slice of the cells of a mesh and writes it as PNG.
pub fn slice_png(
    mesh: &AnyMesh,
    options: &SliceOptions,
    out: &mut impl Write,
) -> Result<(), PictureError> {
    match mesh {
        AnyMesh::D2(mesh) => slice_png_of(mesh, None, options, out),
        AnyMesh::D3(mesh) => slice_png_of(mesh, None, options, out),
    }
}

/// As [`slice_png`], of a mesh whose dimension is known, with the surface that it was made from.
pub fn slice_png_of<const D: usize>(
    mesh: &Mesh<D>,
    surface: Option<&Snapped<D>>,
    options: &SliceOptions,
    out: &mut impl Write,
) -> Result<(), PictureError> {
    Ok(draw(mesh, surface, options)?.write_png_fast(out)?)
}

/// The picture of a mesh of either dimension.
fn draw<const D: usize>(
    mesh: &Mesh<D>,
    surface: Option<&Snapped<D>>,
    options: &SliceOptions,
) -> Result<Canvas, PictureError> {
    if !WIDTHS.contains(&options.width) {
        return Err(PictureError::Width {
            width: options.width,
        });
    }
    let plane = Plane::new(mesh, options)?;
    let text = text_size(options.width);
    let margin = margin_of(options.width);
    let axes = FrameAxes::of(options.width, plane.axes, plane.corners(mesh), text);
    let axes = axes.filter(|_| options.axes);
    let [aside, under] = axes.as_ref().map_or([0; 2], FrameAxes::room);
    let footer = 3 * margin + text::text_height(text) + under;
    let [width, height] = plane.pixels(options.width as usize - 2 * margin - aside);
    let size = [options.width as usize, height + 2 * margin + footer];
    let mut canvas = Canvas::new(size);
    let left = aside + (options.width as usize - aside - width) / 2;
    let frame = [left, margin, left + width, margin + height];
    plane.paint(mesh, &mut canvas, frame);
    let line = (options.width / 700).max(1);
    if let Some(surface) = surface {
        // Thin enough to leave boundary cells visible.
        let thick = 1.5 * (f64::from(options.width) / 1600.0).max(1.0);
        plane.trace(mesh, surface, &mut canvas, frame, thick);
    }
    canvas.outline(frame, line as usize, INK);
    if let Some(axes) = &axes {
        axes.draw(&mut canvas, frame);
    }
    let base = margin + height + under + 2 * margin;
    let legend = Legend {
        levels: mesh.forest.levels.len(),
        surface: surface.is_some(),
        text,
    };
    legend.draw(
        &mut canvas,
        [left, left + width, base],
        &plane.caption(mesh, axes.is_some()),
    );
    Ok(canvas)
}

/// The size of text, the em in pixels, of a picture of some width.
pub fn text_size(width: u32) -> f32 {
    (width as f32 / 62.0).max(11.0)
}

/// The margin of a picture of some width, in pixels.
pub fn margin_of(width: u32) -> usize {
    ((width / 100) as usize).max(6)
}

struct Legend {
    levels: usize,
    surface: bool,
    text: f32,
}

impl Legend {
    /// Swatches of the classes from the left, the caption from the right if it fits.
    fn draw(&self, canvas: &mut Canvas, [left, right, y]: [usize; 3], caption: &str) {
        let space = (0.4 * self.text) as usize;
        let high = text::text_height(self.text);
        let label = |canvas: &mut Canvas, words: &str, x: usize| {
            canvas.text([x, y], self.text, words, INK);
            x + text::text_width(words, self.text) + space
        };
        let palette = Palette::new(self.levels);
        let mut x = label(canvas, "fluid, level", left);
        for level in 0..self.levels {
            canvas.swatch([x, y, x + high, y + high], palette.fluid(level, Tone::Fill));
            x = label(canvas, &level.to_string(), x + high + space) + space;
        }
        x += space;
        for (words, colour) in [
            ("boundary", palette.boundary(Tone::Fill)),
            ("solid", palette.solid(Tone::Fill)),
        ] {
            canvas.swatch([x, y, x + high, y + high], colour);
            x = label(canvas, words, x + high + space) + 2 * space;
        }
        if self.surface {
            let middle = y + high / 2;
            canvas.fill(
                [
                    x,
                    middle - high / 8,
                    x + 2 * high,
                    middle + high.div_ceil(8),
                ],
                SURFACE,
            );
            x = label(canvas, "surface", x + 2 * high + space) + 2 * space;
        }
        let needed = text::text_width(caption, self.text);
        if x + needed <= right {
            canvas.text([right - needed, y], self.text, caption, INK);
        }
    }
}

#[cfg(test)]
#[path = "../../voxelizer/tests/files_kit/mod.rs"]
mod files_kit;
#[cfg(test)]
#[path = "../../tests/kit/png.rs"]
mod png_kit;
#[cfg(test)]
#[path = "../../tests/kit/worst.rs"]
mod worst;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files_kit::{ball_mesh, random_mesh};
    use cutlink_device::Host;
    use cutlink_mesher::primitives::Shape3;
    use cutlink_voxelizer::{EmbedParams, Fill, Frame, embed, prepare};

    /// Size and pixels of a picture.
    fn decoded(mesh: &AnyMesh, options: &SliceOptions) -> ([usize; 2], Vec<canvas::Rgb>) {
        let mut file = Vec::new();
        slice_png(mesh, options, &mut file).expect("a picture");
        png_kit::decoded(&file)
    }

    /// Every pixel inside the frame, without edges, is the class of the cell at its centre.
    fn check_pixels(mesh: Mesh<3>, axis: usize, at: f64) {
        let options = SliceOptions {
            axis,
            position: Position::Fraction(at),
            width: 512,
            axes: false,
            ..SliceOptions::default()
        };
        let levels = mesh.forest.levels.len();
        let axes = [[1, 2], [0, 2], [0, 1]][axis];
        let extent = axes.map(|a| f64::from(mesh.frame.root_cells[a]));
        let palette = Palette::new(levels);
        let (size, pixels) = decoded(&AnyMesh::D3(clone(&mesh)), &options);
        let (left, top, width) = (6, 6, 500.0);
        let height = width * extent[1] / extent[0];
        let mut seen = [0; 3];
        for y in 0..height as usize {
            for x in 0..width as usize {
                let mut point = [0.0; 3];
                point[axis] = at * f64::from(mesh.frame.root_cells[axis]);
                point[axes[0]] = (x as f64 + 0.5) / width * extent[0];
                point[axes[1]] = extent[1] - (y as f64 + 0.5) / width * extent[0];
                let cell = mesh.forest.leaf_at(point).expect("inside the box");
                let has = |mask: &[u64]| mask[cell.block as usize] >> cell.cell & 1 == 1;
                let level = usize::from(mesh.forest.level[cell.block as usize]);
                let tones = [Tone::Fill, Tone::CellEdge, Tone::BlockEdge];
                let (class, expected) = if has(&mesh.classes.solid) {
                    (2, tones.map(|t| palette.solid(t)))
                } else if has(&mesh.classes.boundary) {
                    (1, tones.map(|t| palette.boundary(t)))
                } else {
                    (0, tones.map(|t| palette.fluid(level, t)))
                };
                seen[class] += 1;
                let found = pixels[(y + top) * size[0] + x + left];
                assert!(
                    expected.contains(&found),
                    "pixel {x}, {y}: colour {found:?} for class {class} of level {level}"
                );
            }
        }
        assert!(
            seen.iter().all(|&n| n > 100),
            "all classes are seen: {seen:?}"
        );
    }

    fn clone(mesh: &Mesh<3>) -> Mesh<3> {
        mesh.download(&Host).expect("a copy")
    }

    #[test]
    fn pixels_have_the_class_of_the_cell_at_their_centre() {
        // 500 pixels, 12.5 or 6.25 pixels per cell: no cell edge coincides with a pixel centre.
        check_pixels(ball_mesh([5, 5, 5], 3), 2, 0.47);
        check_pixels(ball_mesh([5, 5, 5], 3), 0, 0.5);
        check_pixels(random_mesh(3, [5, 4, 5], 3), 1, 0.52);
    }

    #[test]
    fn the_surface_is_a_line_where_it_cuts_the_plane() {
        // A sphere of radius 1 at height 0.6 over its middle: a circle of radius 0.8.
        let (mesh, surface) = sphere();
        let options = SliceOptions {
            position: Position::Length(0.6),
            width: 1000,
            axes: false,
            ..SliceOptions::default()
        };
        let mut file = Vec::new();
        slice_png_of(&mesh, Some(&surface), &options, &mut file).expect("a picture");
        let (size, pixels) = png_kit::decoded(&file);
        let margin = margin_of(1000) as f64;
        let scale = (1000.0 - 2.0 * margin) / 4.0;
        let mut seen = 0;
        for (i, _) in pixels.iter().enumerate().filter(|(_, p)| **p == SURFACE) {
            let [x, y] =
                [i % size[0], i / size[0]].map(|n| (n as f64 + 0.5 - margin) / scale - 2.0);
            if y > 2.0 {
                continue; // The legend.
            }
            let off = (x.hypot(y) - 0.8).abs() * scale;
            assert!(off < 1.5, "surface {off} pixels off its place");
            seen += 1;
        }
        // At least the middle of the line, half a pixel wide, all around.
        let round = std::f64::consts::TAU * 0.8 * scale;
        assert!(f64::from(seen) > 0.45 * round, "{seen} of {round}");
    }

    #[test]
    fn sections_of_a_sphere_are_closed_circles() {
        // Also through vertices of the surface, which lie on a lattice about the middle.
        let (mesh, surface) = sphere();
        for axis in 0..3 {
            let axes = [[1, 2], [0, 2], [0, 1]][axis];
            for at in [0.0, 0.25, -0.5, 0.613, 0.97] {
                let cut = cut::Cut::new(&mesh, &surface, Some((axis, at)), axes);
                assert!(cut.is_closed, "axis {axis} at {at}");
                let twice = cut.all().map(|[p, q]| p[0] * q[1] - p[1] * q[0]);
                let area = (twice.sum::<f64>() / 2.0).abs();
                let exact = std::f64::consts::PI * (1.0 - at * at);
                assert!(
                    (area / exact - 1.0).abs() < 0.08,
                    "{area}, not {exact}, at {at}"
                );
            }
            let missed = cut::Cut::new(&mesh, &surface, Some((axis, 1.5)), axes);
            assert_eq!(missed.all().count(), 0, "no section");
        }
    }

    /// A sphere of radius 1 in the middle of a box of edge 4.
    fn sphere() -> (Mesh<3>, Snapped<3>) {
        let shape = Shape3::Sphere { radius: 1.0 };
        let surface = shape.body(0.002).expect("a sphere");
        let frame = Frame::new([-2.0; 3], 0.25, [16; 3]).expect("a frame");
        let params = EmbedParams::new(2, 0.5, Fill::NonZero);
        let (snapped, _) = prepare(&Host, &surface, &frame, &params).expect("it snaps");
        let mesh = embed(&Host, &snapped, frame, &params, &mut ()).expect("a mesh");
        (mesh, snapped)
    }

    #[test]
    fn a_region_is_a_part_of_the_whole() {
        let mesh = AnyMesh::D2(ball_mesh([5, 5], 3));
        let AnyMesh::D2(flat) = &mesh else { return };
        let (low, high) = (flat.frame.origin, flat.frame.upper());
        let whole = SliceOptions {
            width: 512,
            axes: false,
            ..SliceOptions::default()
        };
        let all = SliceOptions {
            region: Some([low.map(|x| x - 1.0), high.map(|x| x + 1.0)]),
            ..whole.clone()
        };
        assert_eq!(
            decoded(&mesh, &whole),
            decoded(&mesh, &all),
            "clipped to the box"
        );
        let part = SliceOptions {
            region: Some([low, [high[0], (low[1] + high[1]) / 2.0]]),
            ..whole.clone()
        };
        let ([_, tall], _) = decoded(&mesh, &whole);
        let ([_, low_half], _) = decoded(&mesh, &part);
        assert_eq!(tall - low_half, 250, "half of the height");
    }

    #[test]
    fn impossible_pictures_are_errors() {
        let mesh = AnyMesh::D3(ball_mesh([2, 2, 2], 2));
        let refused = |options: SliceOptions| {
            let result = slice_png(&mesh, &options, &mut Vec::new());
            result.expect_err("impossible").to_string()
        };
        let plain = SliceOptions::default;
        let error = refused(SliceOptions { axis: 3, ..plain() });
        assert!(error.contains("no axis 3"), "{error}");
        for position in [
            Position::Fraction(1.01),
            Position::Length(-5.0),
            Position::Length(f64::NAN),
        ] {
            let error = refused(SliceOptions {
                position,
                ..plain()
            });
            assert!(error.contains("lies outside the box"), "{error}");
        }
        for region in [
            [[5.0; 2], [6.0; 2]],
            [[0.3; 2], [0.2; 2]],
            [[f64::NAN; 2]; 2],
        ] {
            let error = refused(SliceOptions {
                region: Some(region),
                ..plain()
            });
            assert!(error.contains("lies outside the box"), "{error}");
        }
        let error = refused(SliceOptions {
            width: 3,
            ..plain()
        });
        assert!(error.contains("width is 3"), "{error}");
        let wall = SliceOptions {
            position: Position::Fraction(1.0),
            ..plain()
        };
        slice_png(&mesh, &wall, &mut Vec::new()).expect("the upper wall is in the box");
    }
}
