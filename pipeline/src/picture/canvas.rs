//! A picture of indexed pixels, row by row from the top.

use super::PictureError;
use super::draw::{Draw, Rect};
use super::palette::{INK, PAPER, Palette};
use std::io::{self, Write};

#[derive(Debug)]
pub(super) struct Canvas {
    pub(super) size: [usize; 2],
    pub(super) palette: Palette,
    pixels: Vec<u8>,
}

impl Canvas {
    pub(super) fn new(size: [usize; 2], palette: Palette) -> Self {
        Self {
            size,
            palette,
            pixels: vec![PAPER; size[0] * size[1]],
        }
    }

    /// A filled rectangle with a thin outline.
    pub(super) fn swatch(&mut self, rect: Rect, colour: u8) {
        self.fill(rect, colour);
        self.outline(rect, 1, INK);
    }

    pub(super) fn write_png(&self, out: &mut impl Write) -> Result<(), PictureError> {
        let [width, height] = self.size.map(|n| n as u32);
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(self.palette.bytes());
        encoder.set_compression(png::Compression::Fast);
        encoder.set_filter(png::Filter::NoFilter);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&self.pixels)?;
            writer.finish()
        });
        written.map_err(|e| match e {
            png::EncodingError::IoError(e) => PictureError::Write(e),
            other => PictureError::Write(io::Error::other(other)),
        })
    }
}

impl Draw for Canvas {
    type Colour = u8;

    fn fill(&mut self, [left, top, right, bottom]: Rect, colour: u8) {
        let right = right.min(self.size[0]);
        if left >= right {
            return;
        }
        for y in top..bottom.min(self.size[1]) {
            self.pixels[y * self.size[0]..][left..right].fill(colour);
        }
    }
}
