//! The share of each pixel that closed outlines cover, exact for straight sides.
//!
//! Each directed segment adds the signed area between itself and the right end of its rows; the sum along a row is the
//! winding number averaged over a pixel. Outlines of either direction are filled.

/// Shares of the pixels of a frame.
#[derive(Debug)]
pub struct Coverage {
    size: [usize; 2],
    /// By row and column: the change of the sum at this pixel; one more column than pixels.
    change: Vec<f32>,
}

impl Coverage {
    /// Nothing covered, of so many pixels.
    pub fn new(size: [usize; 2]) -> Self {
        Self {
            size,
            change: vec![0.0; (size[0] + 2) * size[1]],
        }
    }

    /// Adds a directed segment, in pixels from the upper left corner.
    pub fn add(&mut self, [from, to]: [[f64; 2]; 2]) {
        let (sign, [low, high]) = match from[1] <= to[1] {
            true => (1.0, [from, to]),
            false => (-1.0, [to, from]),
        };
        let slope = (high[0] - low[0]) / (high[1] - low[1]);
        let height = self.size[1] as f64;
        let (top, bottom) = (low[1].max(0.0), high[1].min(height));
        let at = |y: f64| {
            (low[0] + (y - low[1]) * slope).clamp(low[0].min(high[0]), low[0].max(high[0]))
        };
        let mut y = top;
        while y < bottom {
            let row = y.floor();
            let end = (row + 1.0).min(bottom);
            self.row(row as usize, [at(y), at(end)], sign * (end - y));
            y = end;
        }
    }

    /// Adds a segment that crosses `height` of a row, from one column to another.
    fn row(&mut self, row: usize, [a, b]: [f64; 2], height: f64) {
        let width = self.size[0] as f64;
        let (low, high) = (a.min(b), a.max(b));
        let line = &mut self.change[row * (self.size[0] + 2)..][..self.size[0] + 2];
        // The parts left and right of the frame are vertical at its ends.
        let share = |from: f64, to: f64| match high > low {
            true => ((high.min(to) - low.max(from)) / (high - low)).max(0.0),
            false => 0.0,
        };
        let mut put = |from: f64, to: f64, height: f64| {
            let cell = from.floor().min(width);
            let right = (cell + 1.0 - (from + to) / 2.0) * height;
            line[cell as usize] += right as f32;
            line[cell as usize + 1] += (height - right) as f32;
        };
        if high <= low {
            return put(low.clamp(0.0, width), low.clamp(0.0, width), height);
        }
        put(0.0, 0.0, height * share(f64::NEG_INFINITY, 0.0));
        put(width, width, height * share(width, f64::INFINITY));
        let (mut x, end) = (low.max(0.0), high.min(width));
        while x < end {
            let next = (x.floor() + 1.0).min(end);
            put(x, next, height * share(x, next));
            x = next;
        }
    }

    /// The shares by row and column; `None` if an outline is open.
    pub fn shares(mut self) -> Option<Vec<f32>> {
        let [width, height] = self.size;
        let mut shares = Vec::with_capacity(width * height);
        for line in self.change.chunks_exact_mut(width + 2) {
            let mut sum = 0.0;
            for change in &mut *line {
                sum += *change;
                *change = sum;
            }
            if sum.abs() > 1e-2 {
                return None;
            }
            shares.extend(line[..width].iter().map(|s| s.abs().min(1.0)));
        }
        Some(shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A regular polygon of an area, by its corners.
    fn polygon(middle: [f64; 2], radius: f64, sides: usize) -> Vec<[[f64; 2]; 2]> {
        let at = |i: usize| {
            let angle = std::f64::consts::TAU * i as f64 / sides as f64;
            [
                middle[0] + radius * angle.cos(),
                middle[1] + radius * angle.sin(),
            ]
        };
        (0..sides).map(|i| [at(i), at(i + 1)]).collect()
    }

    fn area(size: [usize; 2], segments: &[[[f64; 2]; 2]]) -> Option<f64> {
        let mut coverage = Coverage::new(size);
        segments.iter().for_each(|&s| coverage.add(s));
        Some(coverage.shares()?.iter().map(|&s| f64::from(s)).sum())
    }

    #[test]
    fn a_polygon_covers_its_area_in_either_direction() {
        let sides = polygon([31.3, 28.9], 20.4, 7);
        let exact = 3.5 * 20.4 * 20.4 * (std::f64::consts::TAU / 7.0).sin();
        let found = area([64, 60], &sides).expect("closed");
        assert!((found - exact).abs() < 1e-3, "{found}, not {exact}");
        let back: Vec<_> = sides.iter().map(|&[a, b]| [b, a]).collect();
        let found = area([64, 60], &back).expect("closed");
        assert!((found - exact).abs() < 1e-3, "{found} backwards");
    }

    #[test]
    fn a_polygon_across_the_frame_covers_what_is_inside() {
        // A square at 45 degrees about each corner of the frame covers a quarter of its area, 2 r².
        for middle in [[0.0, 0.0], [40.0, 0.0], [0.0, 30.0], [40.0, 30.0]] {
            let found = area([40, 30], &polygon(middle, 13.7, 4)).expect("closed");
            let exact = 13.7 * 13.7 / 2.0;
            assert!(
                (found - exact).abs() < 1e-3,
                "{middle:?}: {found}, not {exact}"
            );
        }
        let found = area([40, 30], &polygon([20.0, 15.0], 1e4, 4)).expect("closed");
        assert!((found - 1200.0).abs() < 1e-2, "all of it: {found}");
        let found = area([40, 30], &polygon([-30.0, 15.0], 20.0, 9)).expect("closed");
        assert!(found.abs() < 1e-3, "none of it: {found}");
    }

    #[test]
    fn an_open_outline_is_not_filled() {
        let mut sides = polygon([20.0, 15.0], 9.0, 12);
        sides.remove(2);
        assert_eq!(area([40, 30], &sides), None, "a side is missing");
    }
}
