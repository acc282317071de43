//! Drawing operations shared by indexed and full-colour pictures.

use super::font;

/// Red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// The background.
pub(crate) const PAPER: Rgb = [255; 3];
/// Frames and text.
pub(crate) const INK: Rgb = [34, 40, 49];

/// Left, top, right, bottom; right and bottom are the first pixels outside.
pub(crate) type Rect = [usize; 4];

/// A canvas.
pub(crate) trait Draw {
    /// The type of a pixel's colour.
    type Colour: Copy;

    /// Fills the part of a rectangle that is on the canvas.
    fn fill(&mut self, rect: Rect, colour: Self::Colour);

    /// A frame of `thick` pixels around a rectangle.
    fn outline(&mut self, [left, top, right, bottom]: Rect, thick: usize, colour: Self::Colour) {
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

    /// A line of text from its upper left corner, with `scale` pixels per dot; characters without a glyph are skipped.
    fn text(&mut self, [mut x, y]: [usize; 2], scale: usize, words: &str, colour: Self::Colour) {
        for c in words.chars() {
            for (row, dots) in font::glyph(c).into_iter().enumerate() {
                for column in (0..5).filter(|column| dots >> (4 - column) & 1 == 1) {
                    let (left, top) = (x + column * scale, y + row * scale);
                    self.fill([left, top, left + scale, top + scale], colour);
                }
            }
            x += 6 * scale;
        }
    }
}

/// Width of a line of text in pixels.
pub(crate) fn text_width(words: &str, scale: usize) -> usize {
    (6 * words.chars().count()).saturating_sub(1) * scale
}

/// A colour between two.
pub(crate) fn blend(from: Rgb, to: Rgb, share: f64) -> Rgb {
    std::array::from_fn(|i| {
        (f64::from(from[i]) + share * (f64::from(to[i]) - f64::from(from[i]))).round() as u8
    })
}
