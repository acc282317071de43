//! A picture of full colour, row by row from the top.

use super::colours::{Rgb, blend};
use crate::picture::font;
use std::io::{self, Write};

pub(super) const PAPER: Rgb = [255; 3];
pub(super) const INK: Rgb = [34, 40, 49];

pub(super) struct Canvas {
    size: [usize; 2],
    pixels: Vec<Rgb>,
}

impl Canvas {
    pub(super) fn new(size: [usize; 2]) -> Self {
        Self {
            size,
            pixels: vec![PAPER; size[0] * size[1]],
        }
    }

    pub(super) fn set(&mut self, [x, y]: [usize; 2], colour: Rgb) {
        if x < self.size[0] && y < self.size[1] {
            self.pixels[y * self.size[0] + x] = colour;
        }
    }

    pub(super) fn tint(&mut self, [x, y]: [usize; 2], colour: Rgb, share: f64) {
        if x < self.size[0] && y < self.size[1] {
            let at = &mut self.pixels[y * self.size[0] + x];
            *at = blend(*at, colour, share);
        }
    }

    /// Left, top, and the first pixels outside on the right and below.
    pub(super) fn fill(&mut self, [left, top, right, bottom]: [usize; 4], colour: Rgb) {
        for y in top..bottom {
            for x in left..right {
                self.set([x, y], colour);
            }
        }
    }

    /// A frame around a rectangle.
    pub(super) fn outline(&mut self, [left, top, right, bottom]: [usize; 4], thick: usize) {
        let (l, t) = (left.saturating_sub(thick), top.saturating_sub(thick));
        let (r, b) = (right + thick, bottom + thick);
        for side in [
            [l, t, r, top],
            [l, bottom, r, b],
            [l, t, left, b],
            [right, t, r, b],
        ] {
            self.fill(side, INK);
        }
    }

    /// A line of text from its left upper corner, `scale` pixels a dot.
    pub(super) fn text(&mut self, [mut x, y]: [usize; 2], scale: usize, words: &str) {
        for c in words.chars() {
            for (row, dots) in font::glyph(c).into_iter().enumerate() {
                for column in (0..5).filter(|column| dots >> (4 - column) & 1 == 1) {
                    let (left, top) = (x + column * scale, y + row * scale);
                    self.fill([left, top, left + scale, top + scale], INK);
                }
            }
            x += 6 * scale;
        }
    }

    pub(super) fn write_png(&self, out: &mut impl Write) -> io::Result<()> {
        let [width, height] = self.size.map(|n| n as u32);
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(self.pixels.as_flattened())?;
            writer.finish()
        });
        written.map_err(|e| match e {
            png::EncodingError::IoError(e) => e,
            other => io::Error::other(other),
        })
    }
}

/// Pixels of a line of text.
pub(super) fn text_width(words: &str, scale: usize) -> usize {
    (6 * words.chars().count()).saturating_sub(1) * scale
}
