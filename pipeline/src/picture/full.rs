//! A full-colour picture, row by row from the top.

use super::draw::{Draw, PAPER, Rect, Rgb, blend};
use std::io::{self, Write};

pub(crate) struct FullCanvas {
    size: [usize; 2],
    pixels: Vec<Rgb>,
}

impl FullCanvas {
    pub(crate) fn new(size: [usize; 2]) -> Self {
        Self {
            size,
            pixels: vec![PAPER; size[0] * size[1]],
        }
    }

    pub(crate) fn set(&mut self, [x, y]: [usize; 2], colour: Rgb) {
        if x < self.size[0] && y < self.size[1] {
            self.pixels[y * self.size[0] + x] = colour;
        }
    }

    pub(crate) fn tint(&mut self, [x, y]: [usize; 2], colour: Rgb, share: f64) {
        if x < self.size[0] && y < self.size[1] {
            let at = &mut self.pixels[y * self.size[0] + x];
            *at = blend(*at, colour, share);
        }
    }

    pub(crate) fn write_png(&self, out: &mut impl Write) -> io::Result<()> {
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

impl Draw for FullCanvas {
    type Colour = Rgb;

    fn fill(&mut self, [left, top, right, bottom]: Rect, colour: Rgb) {
        let right = right.min(self.size[0]);
        if left >= right {
            return;
        }
        for y in top..bottom.min(self.size[1]) {
            self.pixels[y * self.size[0]..][left..right].fill(colour);
        }
    }
}
