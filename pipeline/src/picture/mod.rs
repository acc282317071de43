//! A picture of a mesh: the cells that a plane cuts, coloured by class, with the grid drawn
//! on them, as PNG.
//!
//! In: a mesh and the position of the plane, in the length unit of the mesh or as a fraction of the box. In 2D the
//! plane is the whole mesh. Every pixel has the colour of the leaf cell at its centre. Cell edges are drawn where cells
//! are at least 5 pixels wide; block edges, stronger, where blocks are. The first axis of the plane points right, the
//! second one up.
//!
//! Colours (Okabe & Ito 2008 for the boundary) are distinguishable in the common kinds of colour blindness and in
//! print: fluid from white to light blue by level, boundary orange, solid dark. Determinism: the same bytes for the
//! same mesh. Cost: one visit of each leaf in the plane and one write per pixel.

mod canvas;
pub(crate) mod draw;
mod font;
pub(crate) mod full;
mod palette;
mod plane;
pub(crate) mod plot;
pub(crate) mod scale;

use canvas::Canvas;
use cutlink_voxelizer::{AnyMesh, Mesh};
use draw::Draw;
use palette::{INK, Palette, Tone};
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
}

impl Default for SliceOptions {
    fn default() -> Self {
        Self {
            axis: 2,
            position: Position::Fraction(0.5),
            region: None,
            width: 1600,
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

/// Draws a slice and writes it as PNG.
pub fn slice_png(
    mesh: &AnyMesh,
    options: &SliceOptions,
    out: &mut impl Write,
) -> Result<(), PictureError> {
    match mesh {
        AnyMesh::D2(mesh) => slice_png_of(mesh, options, out),
        AnyMesh::D3(mesh) => slice_png_of(mesh, options, out),
    }
}

/// As [`slice_png`], of a mesh whose dimension is known.
pub fn slice_png_of<const D: usize>(
    mesh: &Mesh<D>,
    options: &SliceOptions,
    out: &mut impl Write,
) -> Result<(), PictureError> {
    draw(mesh, options)?.write_png(out)
}

/// The picture of a mesh of either dimension.
fn draw<const D: usize>(mesh: &Mesh<D>, options: &SliceOptions) -> Result<Canvas, PictureError> {
    if !WIDTHS.contains(&options.width) {
        return Err(PictureError::Width {
            width: options.width,
        });
    }
    let plane = Plane::new(mesh, options)?;
    let levels = mesh.forest.levels.len();
    let text = (options.width / 700).max(1) as usize;
    let margin = 6 * text;
    let footer = 7 * text + 4 * margin;
    let [width, height] = plane.pixels(options.width as usize - 2 * margin);
    let size = [options.width as usize, height + 2 * margin + footer];
    let mut canvas = Canvas::new(size, Palette::new(levels));
    let left = (options.width as usize - width) / 2;
    let frame = [left, margin, left + width, margin + height];
    plane.paint(mesh, &mut canvas, frame);
    canvas.outline(frame, text, INK);
    let base = margin + height + 2 * margin;
    legend(
        &mut canvas,
        [left, base],
        text,
        levels,
        &plane.caption(mesh),
    );
    Ok(canvas)
}

/// Swatches of the classes from the left, the caption from the right if it fits.
fn legend(canvas: &mut Canvas, at: [usize; 2], text: usize, levels: usize, caption: &str) {
    let [left, y] = at;
    let advance = 6 * text;
    let swatch = 9 * text;
    let label = |canvas: &mut Canvas, words: &str, x: usize| {
        canvas.text([x, y + text], text, words, INK);
        x + words.len() * advance + advance / 2
    };
    let mut x = label(canvas, "FLUID LEVEL", left);
    for level in 0..levels {
        let colour = canvas.palette.fluid(level, Tone::Fill);
        canvas.swatch([x, y, x + swatch, y + swatch], colour);
        x = label(canvas, &level.to_string(), x + swatch + 3 * text) + advance / 2;
    }
    x += advance;
    for (words, colour) in [
        ("BOUNDARY", canvas.palette.boundary(Tone::Fill)),
        ("SOLID", canvas.palette.solid(Tone::Fill)),
    ] {
        canvas.swatch([x, y, x + swatch, y + swatch], colour);
        x = label(canvas, words, x + swatch + 3 * text) + 2 * advance;
    }
    let right = canvas.size[0] - left;
    let needed = caption.len() * advance;
    if x + needed <= right + advance {
        canvas.text([right + text - needed, y + text], text, caption, INK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solid_stl::files_kit::{ball_mesh, random_mesh};

    /// Size and palette indices of a picture.
    fn decoded(mesh: &AnyMesh, options: &SliceOptions) -> ([u32; 2], Vec<u8>) {
        let mut file = Vec::new();
        slice_png(mesh, options, &mut file).expect("a picture");
        let decoder = png::Decoder::new(std::io::Cursor::new(file));
        let mut reader = decoder.read_info().expect("a PNG file");
        let size = [reader.info().width, reader.info().height];
        let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
        reader.next_frame(&mut pixels).expect("its pixels");
        (size, pixels)
    }

    /// Every pixel inside the frame, without edges, is the class of the cell at its centre.
    fn check_pixels(mesh: Mesh<3>, axis: usize, at: f64) {
        let options = SliceOptions {
            axis,
            position: Position::Fraction(at),
            width: 512,
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
                let found = pixels[(y + top) * size[0] as usize + x + left];
                assert!(
                    expected.contains(&found),
                    "pixel {x}, {y}: colour {found} for class {class} of level {level}"
                );
            }
        }
        assert!(
            seen.iter().all(|&n| n > 100),
            "all classes are seen: {seen:?}"
        );
    }

    fn clone(mesh: &Mesh<3>) -> Mesh<3> {
        mesh.download(&cutlink_device::Host).expect("a copy")
    }

    #[test]
    fn pixels_have_the_class_of_the_cell_at_their_centre() {
        // 500 pixels, 12.5 or 6.25 pixels per cell: no cell edge coincides with a pixel centre.
        check_pixels(ball_mesh([5, 5, 5], 3), 2, 0.47);
        check_pixels(ball_mesh([5, 5, 5], 3), 0, 0.5);
        check_pixels(random_mesh(3, [5, 4, 5], 3), 1, 0.52);
    }

    #[test]
    fn a_region_is_a_part_of_the_whole() {
        let mesh = AnyMesh::D2(ball_mesh([5, 5], 3));
        let AnyMesh::D2(flat) = &mesh else { return };
        let (low, high) = (flat.frame.origin, flat.frame.upper());
        let whole = SliceOptions {
            width: 512,
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
