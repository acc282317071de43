//! A picture in full colour, row by row from the top, and what is drawn on it.
//!
//! Pictures of at most 256 colours are written with a palette, a byte per pixel; others with three bytes per pixel.
//! Shares of colours are rounded to eighths, so that text and lines on few colours remain few colours.

use std::io::{self, Write};

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// The background.
pub const PAPER: Rgb = [255; 3];
/// Frames and text.
pub const INK: Rgb = [34, 40, 49];

/// Left, top, right, bottom; right and bottom are the first pixels outside.
pub type Rect = [usize; 4];

/// An RGB picture in memory.
#[derive(Debug)]
pub struct Canvas {
    /// Width and height, in pixels.
    pub size: [usize; 2],
    pixels: Vec<Rgb>,
}

impl Canvas {
    /// A picture of so many pixels, all of them background.
    pub fn new(size: [usize; 2]) -> Self {
        Self {
            size,
            pixels: vec![PAPER; size[0] * size[1]],
        }
    }

    /// Sets a pixel; one outside is ignored.
    pub fn set(&mut self, [x, y]: [usize; 2], colour: Rgb) {
        if x < self.size[0] && y < self.size[1] {
            self.pixels[y * self.size[0] + x] = colour;
        }
    }

    /// Blends a share of a colour, rounded to eighths, into a pixel.
    pub fn tint(&mut self, [x, y]: [usize; 2], colour: Rgb, share: f64) {
        let share = (8.0 * share).round() / 8.0;
        if x < self.size[0] && y < self.size[1] && share > 0.0 {
            let at = &mut self.pixels[y * self.size[0] + x];
            *at = blend(*at, colour, share.min(1.0));
        }
    }

    /// Fills the part of a rectangle that is on the canvas.
    pub fn fill(&mut self, [left, top, right, bottom]: Rect, colour: Rgb) {
        let right = right.min(self.size[0]);
        if left >= right {
            return;
        }
        for y in top..bottom.min(self.size[1]) {
            self.pixels[y * self.size[0]..][left..right].fill(colour);
        }
    }

    /// A frame of `thick` pixels around a rectangle.
    pub fn outline(&mut self, [left, top, right, bottom]: Rect, thick: usize, colour: Rgb) {
        let (l, t) = (left.saturating_sub(thick), top.saturating_sub(thick));
        let (r, b) = (right + thick, bottom + thick);
        for side in [
            [l, t, r, top],
            [l, bottom, r, b],
            [l, t, left, b],
            [right, t, r, b],
        ] {
            self.fill(side, colour);
        }
    }

    /// A filled rectangle with a thin outline.
    pub fn swatch(&mut self, rect: Rect, colour: Rgb) {
        self.fill(rect, colour);
        self.outline(rect, 1, INK);
    }

    /// Segments of a line of some width in pixels, antialiased by distance, clipped to a frame. Pixel centres have
    /// whole coordinates. Pixels near several segments are tinted once.
    pub fn segments(
        &mut self,
        frame: Rect,
        segments: impl IntoIterator<Item = [[f64; 2]; 2]>,
        width: f64,
        colour: Rgb,
    ) {
        let segments: Vec<_> = segments.into_iter().collect();
        let [left, top, right, bottom] = within(frame, &segments, width / 2.0 + 1.0);
        if left >= right || top >= bottom {
            return;
        }
        let (columns, rows) = (right - left, bottom - top);
        let mut covered = vec![0f32; columns * rows];
        let half = width / 2.0;
        for [from, to] in segments {
            if !(from.iter().chain(&to)).all(|x| x.is_finite()) {
                continue;
            }
            let span = |a: usize, low: usize, high: usize| {
                let least = from[a].min(to[a]) - half - 1.0;
                let most = from[a].max(to[a]) + half + 1.0;
                let inside = |x: f64| x.clamp(low as f64, high as f64) as usize;
                inside(least.floor())..inside(most.ceil() + 1.0)
            };
            for y in span(1, top, bottom) {
                for x in span(0, left, right) {
                    let off = distance([x as f64, y as f64], from, to);
                    let share = (half + 0.5 - off).clamp(0.0, 1.0).min(width) as f32;
                    let at = &mut covered[(y - top) * columns + x - left];
                    *at = at.max(share);
                }
            }
        }
        for (i, share) in covered.into_iter().enumerate() {
            if share > 0.0 {
                let at = [left + i % columns, top + i / columns];
                self.tint(at, colour, f64::from(share));
            }
        }
    }

    /// Writes it as PNG.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_png(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_png_as(out, png::Compression::Balanced)
    }

    /// As [`write_png`](Self::write_png), in a third of the time, with files that are twice as large.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_png_fast(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_png_as(out, png::Compression::Fast)
    }

    fn write_png_as(&self, out: &mut impl Write, compression: png::Compression) -> io::Result<()> {
        let [width, height] = self.size.map(|n| n as u32);
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(compression);
        let indexed = indexed(&self.pixels);
        let bytes = match &indexed {
            Some((palette, indices)) => {
                encoder.set_color(png::ColorType::Indexed);
                encoder.set_palette(palette.concat());
                encoder.set_filter(png::Filter::NoFilter);
                if matches!(compression, png::Compression::Fast) {
                    // What is fast for three bytes a pixel does not see that rows are alike.
                    encoder.set_deflate_compression(png::DeflateCompression::Level(1));
                }
                indices.as_slice()
            }
            None => {
                encoder.set_color(png::ColorType::Rgb);
                self.pixels.as_flattened()
            }
        };
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(bytes)?;
            writer.finish()
        });
        written.map_err(|e| match e {
            png::EncodingError::IoError(e) => e,
            other => io::Error::other(other),
        })
    }
}

/// The colours of at most 256, in the order of their first pixels, and the index of each pixel.
fn indexed(pixels: &[Rgb]) -> Option<(Vec<Rgb>, Vec<u8>)> {
    const FREE: u16 = u16::MAX;
    let mut slots = [FREE; 1024];
    let mut palette: Vec<Rgb> = Vec::new();
    let mut indices = Vec::with_capacity(pixels.len());
    let mut last = (*pixels.first()?, FREE);
    for &colour in pixels {
        if colour != last.0 || last.1 == FREE {
            let number = u32::from_be_bytes([0, colour[0], colour[1], colour[2]]);
            let mut slot = (number.wrapping_mul(0x9e37_79b1) >> 22) as usize;
            while slots[slot] != FREE && palette[usize::from(slots[slot])] != colour {
                slot = (slot + 1) % slots.len();
            }
            if slots[slot] == FREE {
                if palette.len() == 256 {
                    return None;
                }
                slots[slot] = palette.len() as u16;
                palette.push(colour);
            }
            last = (colour, slots[slot]);
        }
        indices.push(last.1 as u8);
    }
    Some((palette, indices))
}

/// The part of a frame around segments.
fn within(frame: Rect, segments: &[[[f64; 2]; 2]], around: f64) -> Rect {
    let along = |a: usize| segments.iter().flatten().map(move |at| at[a]);
    let low = |a: usize| along(a).fold(f64::MAX, f64::min) - around;
    let high = |a: usize| along(a).fold(f64::MIN, f64::max) + around + 1.0;
    [
        frame[0].max(low(0).clamp(0.0, 1e9) as usize),
        frame[1].max(low(1).clamp(0.0, 1e9) as usize),
        frame[2].min(high(0).clamp(0.0, 1e9) as usize + 1),
        frame[3].min(high(1).clamp(0.0, 1e9) as usize + 1),
    ]
}

/// A colour between two.
pub fn blend(from: Rgb, to: Rgb, share: f64) -> Rgb {
    std::array::from_fn(|i| {
        (f64::from(from[i]) + share * (f64::from(to[i]) - f64::from(from[i]))).round() as u8
    })
}

/// The distance of a point from a segment.
fn distance(at: [f64; 2], from: [f64; 2], to: [f64; 2]) -> f64 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let off = [at[0] - from[0], at[1] - from[1]];
    let square = along[0] * along[0] + along[1] * along[1];
    let share = match square > 0.0 {
        true => ((off[0] * along[0] + off[1] * along[1]) / square).clamp(0.0, 1.0),
        false => 0.0,
    };
    (off[0] - share * along[0]).hypot(off[1] - share * along[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::png_kit::decoded;

    #[test]
    fn files_have_the_pixels_with_and_without_a_palette() {
        for colours in [1, 255, 256, 257, 4000] {
            let mut canvas = Canvas::new([80, 50]);
            for i in 0..4000 {
                let n = i % colours;
                canvas.set([i % 80, i / 80], [n as u8, (n >> 4) as u8, (n >> 8) as u8]);
            }
            let mut file = Vec::new();
            canvas.write_png(&mut file).expect("written");
            let has_palette = file.windows(4).any(|w| w == b"PLTE");
            assert_eq!(has_palette, colours <= 256, "{colours} colours");
            assert_eq!(decoded(&file), ([80, 50], canvas.pixels), "{colours}");
        }
    }

    #[test]
    fn a_line_has_the_ink_of_its_area() {
        // 200 pixels at 30 degrees, 3 wide, with round ends: area 3 · 200 + π 1.5².
        let mut canvas = Canvas::new([300, 300]);
        let (sin, cos) = 30f64.to_radians().sin_cos();
        let (from, to) = ([40.3, 60.7], [40.3 + 200.0 * cos, 60.7 + 200.0 * sin]);
        canvas.segments([0, 0, 300, 300], [[from, to]], 3.0, [0; 3]);
        let ink = |p: &Rgb| f64::from(255 - p[0]) / 255.0;
        let area: f64 = canvas.pixels.iter().map(ink).sum();
        let exact = 600.0 + std::f64::consts::PI * 2.25;
        assert!((area - exact).abs() < 0.01 * exact, "{area}, not {exact}");
        for (i, pixel) in canvas.pixels.iter().enumerate() {
            let off = distance([(i % 300) as f64, (i / 300) as f64], from, to);
            assert!(off < 2.1 || *pixel == PAPER, "ink {off} pixels off");
        }
    }
}
