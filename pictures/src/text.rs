//! Text in Noto Sans, antialiased, from a font in the program.

use super::canvas::{Canvas, Rgb};
use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use std::sync::OnceLock;

/// The font; its file is part of the crate `notosans`.
fn font() -> &'static FontRef<'static> {
    static FONT: OnceLock<FontRef<'static>> = OnceLock::new();
    FONT.get_or_init(|| {
        FontRef::try_from_slice(notosans::REGULAR_TTF).expect("the crate should have a font")
    })
}

/// Height of capital letters over the size of the font.
const CAPITALS: f32 = 0.714;

/// The scale of a size, which is the em in pixels.
fn scale(size: f32) -> PxScale {
    let font = font();
    let per_em = font.height_unscaled() / font.units_per_em().unwrap_or(1000.0);
    PxScale::from(size * per_em)
}

/// Height of capital letters in pixels.
pub fn text_height(size: f32) -> usize {
    (CAPITALS * size).round() as usize
}

/// Width of a line of text in pixels.
pub fn text_width(words: &str, size: f32) -> usize {
    places(words, size).1.ceil() as usize
}

/// The glyphs of a line of text with their positions, and the width of all.
fn places(words: &str, size: f32) -> (Vec<(ab_glyph::GlyphId, f32)>, f32) {
    let font = font().as_scaled(scale(size));
    let (mut x, mut last) = (0.0, None);
    let place = |c: char| {
        let glyph = font.glyph_id(c);
        x += last.map_or(0.0, |last| font.kern(last, glyph));
        let at = x;
        x += font.h_advance(glyph);
        last = Some(glyph);
        (glyph, at)
    };
    let places = words.chars().map(place).collect();
    (places, x)
}

/// Turns of a line of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// From left to right.
    None,
    /// From below upwards.
    Left,
}

impl Canvas {
    /// A line of text; `at` is the upper left corner of its capital letters.
    pub fn text(&mut self, at: [usize; 2], size: f32, words: &str, colour: Rgb) {
        let at = at.map(|x| x as i64);
        self.text_turned(at, size, words, colour, Turn::None);
    }

    /// A line of text; `at` is the corner of its capital letters that is the upper left one of upright text.
    pub fn text_turned(&mut self, at: [i64; 2], size: f32, words: &str, colour: Rgb, turn: Turn) {
        let base = text_height(size) as f32;
        for (id, x) in places(words, size).0 {
            let glyph = id.with_scale_and_position(scale(size), point(x, base));
            let Some(outline) = font().outline_glyph(glyph) else {
                continue;
            };
            let corner = outline.px_bounds().min;
            outline.draw(|i, j, share| {
                let right = i64::from(i) + corner.x as i64;
                let down = i64::from(j) + corner.y as i64;
                let [x, y] = match turn {
                    Turn::None => [at[0] + right, at[1] + down],
                    Turn::Left => [at[0] + down, at[1] - 1 - right],
                };
                if let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) {
                    self.tint([x, y], colour, f64::from(share));
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::{INK, PAPER};
    use super::*;

    /// Left, top, right, bottom of the pixels with ink, and their ink.
    fn ink(canvas: &Canvas) -> ([usize; 4], f64) {
        let mut file = Vec::new();
        canvas.write_png(&mut file).expect("written");
        let (size, pixels) = crate::png_kit::decoded(&file);
        let (mut bounds, mut sum) = ([usize::MAX, usize::MAX, 0, 0], 0.0);
        for (i, pixel) in pixels.iter().enumerate().filter(|(_, p)| **p != PAPER) {
            let [x, y] = [i % size[0], i / size[0]];
            bounds = [
                bounds[0].min(x),
                bounds[1].min(y),
                bounds[2].max(x + 1),
                bounds[3].max(y + 1),
            ];
            sum += f64::from(255 - pixel[0]) / f64::from(255 - INK[0]);
        }
        (bounds, sum)
    }

    #[test]
    fn capitals_have_the_height_of_the_font_and_stay_in_their_box() {
        // Noto Sans: capitals are 714 of 1000 units high; a size is the em.
        let size = 40.0;
        let mut canvas = Canvas::new([400, 120]);
        canvas.text([50, 30], size, "HHHH", INK);
        let ([left, top, right, bottom], _) = ink(&canvas);
        assert_eq!([top, bottom], [30, 30 + text_height(size)], "rows");
        assert_eq!(text_height(size), 29, "0.714 of the size");
        assert!((50..56).contains(&left), "{left}");
        let end = 50 + text_width("HHHH", size);
        assert!(right <= end && right + 6 > end, "{right}, {end}");
    }

    #[test]
    fn every_character_of_the_outputs_has_a_glyph() {
        let needed =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.-+=/^():,*_±−²³·ρωνΔ ";
        let font = font();
        for c in needed.chars() {
            assert_ne!(font.glyph_id(c).0, 0, "{c:?} has no glyph");
        }
        assert_eq!(font.glyph_id('\u{4e00}').0, 0, "the check can fail");
    }

    #[test]
    fn turned_text_is_the_same_ink_upwards() {
        let mut canvas = Canvas::new([200, 200]);
        canvas.text([20, 40], 30.0, "drag", INK);
        let (flat, sum) = ink(&canvas);
        let mut canvas = Canvas::new([200, 200]);
        canvas.text_turned([40, 150], 30.0, "drag", INK, Turn::Left);
        let (up, same) = ink(&canvas);
        assert!((sum - same).abs() < 1e-9 && sum > 100.0, "{sum} and {same}");
        assert_eq!(up[2] - up[0], flat[3] - flat[1], "as wide as high");
        assert_eq!(150 - up[3], flat[0] - 20, "it begins below");
        assert_eq!(up[0], flat[1], "its top is left");
    }
}
