//! Coordinate axes along the left and the lower edge of a frame: round numbers with ticks, and the names of the axes.

use crate::canvas::{Canvas, INK, Rect};
use crate::scale::{number, ticks};
use crate::text::{text_height, text_width};

/// Pictures narrower than this have no axes.
pub const LEAST_WIDTH: u32 = 400;

/// The axes of a frame, horizontal and vertical.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameAxes {
    /// Their names.
    pub names: [&'static str; 2],
    /// The coordinates at both ends of each, in the length unit of the mesh.
    pub ranges: [[f64; 2]; 2],
    /// The size of the text.
    pub text: f32,
}

impl FrameAxes {
    /// The axes of a picture that has some width and shows a part of the plane of two coordinate axes; none if it is too narrow.
    pub fn of(width: u32, axes: [usize; 2], [low, high]: [[f64; 2]; 2], text: f32) -> Option<Self> {
        (width >= LEAST_WIDTH).then(|| Self {
            names: axes.map(|a| ["x", "y", "z"][a]),
            ranges: [0, 1].map(|i| [low[i], high[i]]),
            text: 0.85 * text,
        })
    }

    /// The pixels that they take left of the frame and below it.
    pub fn room(&self) -> [usize; 2] {
        let widest = self
            .marks(1)
            .into_iter()
            .map(|(_, words)| self.width(&words));
        let left = widest.chain([self.width(self.names[1])]).max().unwrap_or(0);
        [
            left + self.tick() + self.gap(),
            self.tick() + self.gap() + text_height(self.text),
        ]
    }

    /// Draws them around a frame.
    pub fn draw(&self, canvas: &mut Canvas, [left, top, right, bottom]: Rect) {
        let (tick, gap, high) = (self.tick(), self.gap(), text_height(self.text));
        let thin = (self.text / 18.0).round().max(1.0) as usize;
        let (across, down) = ((right - left) as f64, (bottom - top) as f64);
        // The name takes the place of numbers close to the end.
        let name = self.width(self.names[0]);
        let mut free = 0;
        for (share, words) in self.marks(0) {
            let x = left + (share * (across - 1.0)).round() as usize;
            canvas.fill([x, bottom, x + thin, bottom + tick], INK);
            let wide = self.width(&words);
            let from = x.saturating_sub(wide / 2);
            if from < free || from + wide + gap > right.saturating_sub(name) {
                continue;
            }
            canvas.text([from, bottom + tick + gap], self.text, &words, INK);
            free = from + wide + high;
        }
        let at = [right.saturating_sub(name), bottom + tick + gap];
        canvas.text(at, self.text, self.names[0], INK);
        let mut free = bottom + high;
        for (share, words) in self.marks(1) {
            let y = bottom - 1 - (share * (down - 1.0)).round() as usize;
            canvas.fill([left.saturating_sub(tick), y, left, y + thin], INK);
            let lower = y + high.div_ceil(2);
            if lower > free || y < top + 2 * high {
                continue;
            }
            self.left_of(canvas, left, y.saturating_sub(high / 2), &words);
            free = y.saturating_sub(high);
        }
        self.left_of(canvas, left, top, self.names[1]);
    }

    /// Words that end left of the frame.
    fn left_of(&self, canvas: &mut Canvas, left: usize, top: usize, words: &str) {
        let room = self.width(words) + self.tick() + self.gap();
        canvas.text([left.saturating_sub(room), top], self.text, words, INK);
    }

    /// The round numbers of an axis: the share of its length, and the words.
    fn marks(&self, axis: usize) -> Vec<(f64, String)> {
        let [low, high] = self.ranges[axis];
        let (ticks, decimals) = ticks([low, high]);
        let mark = |at: f64| ((at - low) / (high - low), number(at, decimals));
        ticks.into_iter().map(mark).collect()
    }

    fn width(&self, words: &str) -> usize {
        text_width(words, self.text)
    }

    fn tick(&self) -> usize {
        (0.35 * self.text).round() as usize
    }

    fn gap(&self) -> usize {
        (0.3 * self.text).round() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::PAPER;

    #[test]
    fn ticks_are_at_their_coordinates() {
        // 0 to 2 in tens of pixels: ticks at 0, 0.2, ..., 2 below, and at -1, -0.9, ..., 0 on the left.
        let axes = FrameAxes::of(1000, [0, 2], [[0.0, -1.0], [2.0, 0.0]], 16.0).expect("axes");
        let [left, below] = axes.room();
        let frame = [left, 10, left + 801, 10 + 401];
        let mut canvas = Canvas::new([left + 820, 411 + below]);
        axes.draw(&mut canvas, frame);
        let mut file = Vec::new();
        canvas.write_png(&mut file).expect("written");
        let (size, pixels) = crate::png_kit::decoded(&file);
        let ink = |x: usize, y: usize| pixels[y * size[0] + x] != PAPER;
        let columns: Vec<usize> = (left..frame[2]).filter(|&x| ink(x, frame[3])).collect();
        let wanted: Vec<usize> = (0..=10).map(|i| left + 80 * i).collect();
        assert_eq!(columns, wanted, "below");
        let rows: Vec<usize> = (10..frame[3]).filter(|&y| ink(left - 1, y)).collect();
        let wanted: Vec<usize> = (0..=10).map(|i| 10 + 40 * i).collect();
        assert_eq!(rows, wanted, "on the left");
        assert!(
            FrameAxes::of(300, [0, 1], [[0.0; 2], [1.0; 2]], 16.0).is_none(),
            "too narrow"
        );
    }
}
