//! Histories as a picture: stacked panels over a common time axis.
//!
//! In: curves, values at ascending times, by panel. The statistics apply to the time from `mean_from` on, which is
//! shaded, with the mean as a dashed line. The range of a panel covers the shaded part and the middle nine tenths of
//! all values, so that an extreme start from rest does not flatten the rest. Lines are two pixels wide, antialiased by
//! distance. Determinism: the same bytes for the same curves. Cost: curves are thinned to four values per column.

use super::draw::{Draw, INK, PAPER, Rect, Rgb, blend, text_width};
use super::full::FullCanvas;
use super::scale::{number, ticks};

/// Colours of curves, distinguishable in the common kinds of colour blindness (Okabe & Ito 2008).
const COLOURS: [Rgb; 6] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [86, 180, 233],
    [230, 159, 0],
];
const SHADE: Rgb = [240, 244, 249];
const WIDTH: usize = 1200;
const HEIGHT: usize = 300;
/// Pixels per dot of text.
const TEXT: usize = 2;
const LEFT: usize = 110;
const RIGHT: usize = 30;
const ABOVE: usize = 44;
const BELOW: usize = 62;
/// Half the width of a line.
const HALF: f64 = 1.1;

/// Curves of one quantity.
#[derive(Debug)]
pub(crate) struct Panel {
    /// Its title.
    pub(crate) title: String,
    /// Its statistics, as text.
    pub(crate) note: String,
    /// The dashed line.
    pub(crate) mean: Option<f64>,
    /// Values by curve, one per time.
    pub(crate) curves: Vec<Vec<f64>>,
}

/// Panels over time.
#[derive(Debug)]
pub(crate) struct Plot<'a> {
    /// Times, ascending.
    pub(crate) times: &'a [f64],
    /// Title of the time axis.
    pub(crate) time_title: &'a str,
    /// Start of the time span of the means.
    pub(crate) mean_from: f64,
    /// Names of the curves; the name of a single curve is not drawn.
    pub(crate) names: &'a [String],
    /// Panels from the top.
    pub(crate) panels: Vec<Panel>,
}

impl Plot<'_> {
    /// Draws it; none with fewer than two times.
    pub(crate) fn draw(&self) -> Option<FullCanvas> {
        let (&first, &last) = (self.times.first()?, self.times.last()?);
        if first >= last {
            return None;
        }
        let count = self.panels.len();
        let height = count * (ABOVE + HEIGHT) + BELOW;
        let mut canvas = FullCanvas::new([WIDTH, height]);
        for (i, panel) in self.panels.iter().enumerate() {
            let top = i * (ABOVE + HEIGHT) + ABOVE;
            let frame = [LEFT, top, WIDTH - RIGHT, top + HEIGHT];
            let axes = Axes {
                frame,
                x: [first, last],
                y: self.range(panel),
            };
            self.panel(&mut canvas, panel, &axes, i + 1 == count);
        }
        if self.names.len() > 1 {
            self.legend(&mut canvas);
        }
        let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2;
        let from = middle - text_width(self.time_title, TEXT) / 2;
        let line = height - 8 - 7 * TEXT;
        canvas.text([from, line], TEXT, self.time_title, INK);
        Some(canvas)
    }

    /// The value range of a panel.
    fn range(&self, panel: &Panel) -> [f64; 2] {
        let first = self.times.partition_point(|&t| t < self.mean_from);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut largest = 0.0f64;
        for curve in &panel.curves {
            let mut sorted: Vec<f64> = curve.iter().copied().filter(|v| v.is_finite()).collect();
            sorted.sort_by(f64::total_cmp);
            let share = |part: usize| sorted.get(sorted.len() * part / 20).copied();
            let ends = [share(1), share(19).or(sorted.last().copied())];
            let tail = curve[first.min(curve.len())..].iter().copied();
            for value in ends.into_iter().flatten().chain(tail) {
                (low, high) = (low.min(value), high.max(value));
                largest = largest.max(value.abs());
            }
        }
        if !(low.is_finite() && high.is_finite()) {
            return [-1.0, 1.0];
        }
        // Minimum range, so that a constant curve is not magnified.
        let least = (0.02 * largest).max(1e-3);
        let (middle, half) = ((low + high) / 2.0, ((high - low) / 2.0).max(least / 2.0));
        [middle - 1.15 * half, middle + 1.15 * half]
    }

    fn panel(&self, canvas: &mut FullCanvas, panel: &Panel, axes: &Axes, is_last: bool) {
        let [left, top, right, bottom] = axes.frame;
        let from = axes.column(self.mean_from).clamp(left as f64, right as f64) as usize;
        canvas.fill([from, top, right, bottom], SHADE);
        let light = blend(PAPER, INK, 0.14);
        let (marks, decimals) = ticks(axes.y);
        for mark in marks {
            let y = axes.row(mark).round() as usize;
            canvas.fill([left, y, right, y + 1], light);
            let words = number(mark, decimals);
            let at = left - 10 - text_width(&words, TEXT);
            canvas.text([at, y.saturating_sub(3 * TEXT)], TEXT, &words, INK);
        }
        let (marks, decimals) = ticks(axes.x);
        for mark in marks {
            let x = axes.column(mark).round() as usize;
            canvas.fill([x, top, x + 1, bottom], light);
            if is_last {
                canvas.fill([x, bottom, x + 1, bottom + 7], INK);
                let words = number(mark, decimals);
                let half = text_width(&words, TEXT) / 2;
                canvas.text([x.saturating_sub(half), bottom + 12], TEXT, &words, INK);
            }
        }
        if let Some(mean) = panel.mean {
            let y = axes.row(mean).round();
            if y > top as f64 && y < bottom as f64 {
                let y = y as usize;
                for x in (from..right).step_by(14) {
                    canvas.fill([x, y, (x + 8).min(right), y + 2], blend(PAPER, INK, 0.55));
                }
            }
        }
        for (i, curve) in panel.curves.iter().enumerate() {
            let places = axes.thinned(self.times, curve);
            line(canvas, axes.frame, &places, COLOURS[i % COLOURS.len()]);
        }
        canvas.outline(axes.frame, 1, INK);
        let base = top - 10 - 7 * TEXT;
        canvas.text([left, base], TEXT, &panel.title, INK);
        let from = right.saturating_sub(text_width(&panel.note, TEXT));
        canvas.text([from, base], TEXT, &panel.note, INK);
    }

    /// Names of the curves, above the first panel between its title and its note.
    fn legend(&self, canvas: &mut FullCanvas) {
        let mut x = LEFT + 70;
        let y = ABOVE - 10 - 7 * TEXT;
        for (i, name) in self.names.iter().take(COLOURS.len()).enumerate() {
            canvas.fill([x, y + 5, x + 24, y + 9], COLOURS[i]);
            x += 32;
            canvas.text([x, y], TEXT, name, INK);
            x += text_width(name, TEXT) + 24;
        }
    }
}

/// From values to pixels.
struct Axes {
    frame: Rect,
    x: [f64; 2],
    y: [f64; 2],
}

impl Axes {
    fn column(&self, x: f64) -> f64 {
        let [left, _, right, _] = self.frame;
        let share = (x - self.x[0]) / (self.x[1] - self.x[0]);
        left as f64 + share * (right - left - 1) as f64
    }

    fn row(&self, y: f64) -> f64 {
        let [_, top, _, bottom] = self.frame;
        let share = (y - self.y[0]) / (self.y[1] - self.y[0]);
        bottom as f64 - 1.0 - share * (bottom - top - 1) as f64
    }

    /// A curve in pixels: the first, smallest, largest and last value of each column, in order.
    fn thinned(&self, times: &[f64], values: &[f64]) -> Vec<[f64; 2]> {
        let height = (self.frame[3] - self.frame[1]) as f64;
        let (above, below) = (
            self.frame[1] as f64 - 9.0 * height,
            self.frame[3] as f64 + 9.0 * height,
        );
        let mut places: Vec<[f64; 2]> = Vec::new();
        let mut group: Vec<[f64; 2]> = Vec::new();
        let close = |group: &mut Vec<[f64; 2]>, places: &mut Vec<[f64; 2]>| {
            let by_row = |a: &usize, b: &usize| group[*a][1].total_cmp(&group[*b][1]);
            let least = (0..group.len()).min_by(by_row);
            let most = (0..group.len()).max_by(by_row);
            let mut kept: Vec<usize> = least.into_iter().chain(most).collect();
            kept.extend([0, group.len().saturating_sub(1)]);
            kept.sort_unstable();
            kept.dedup();
            places.extend(kept.into_iter().filter_map(|i| group.get(i)));
            group.clear();
        };
        for (&x, &y) in times.iter().zip(values).filter(|(_, y)| y.is_finite()) {
            let place = [self.column(x), self.row(y).clamp(above, below)];
            if group
                .first()
                .is_some_and(|first| first[0].floor() != place[0].floor())
            {
                close(&mut group, &mut places);
            }
            group.push(place);
        }
        close(&mut group, &mut places);
        places
    }
}

/// A line through points, clipped to the frame.
fn line(canvas: &mut FullCanvas, frame: Rect, places: &[[f64; 2]], colour: Rgb) {
    let [left, top, right, bottom] = frame;
    let (width, height) = (right - left, bottom - top);
    let mut covered = vec![0f32; width * height];
    for pair in places.windows(2) {
        let [from, to] = [pair[0], pair[1]];
        let span = |a: usize, low: usize, high: usize| {
            let least = from[a].min(to[a]) - HALF - 1.0;
            let most = from[a].max(to[a]) + HALF + 1.0;
            let inside = |x: f64| x.clamp(low as f64, high as f64) as usize;
            inside(least.floor())..inside(most.ceil() + 1.0)
        };
        for y in span(1, top, bottom) {
            for x in span(0, left, right) {
                let off = distance([x as f64, y as f64], from, to);
                let share = (HALF + 0.5 - off).clamp(0.0, 1.0) as f32;
                let at = &mut covered[(y - top) * width + x - left];
                *at = at.max(share);
            }
        }
    }
    for (i, share) in covered.into_iter().enumerate() {
        if share > 0.0 {
            let at = [left + i % width, top + i / width];
            canvas.tint(at, colour, f64::from(share));
        }
    }
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

    /// Width and pixels of a plot of one curve.
    fn drawn(times: &[f64], values: &[f64]) -> (usize, Vec<Rgb>) {
        let plot = Plot {
            times,
            time_title: "time in s",
            mean_from: times[times.len() / 2],
            names: &["a".into()],
            panels: vec![Panel {
                title: "C_D".into(),
                note: String::new(),
                mean: None,
                curves: vec![values.to_vec()],
            }],
        };
        let mut file = Vec::new();
        let canvas = plot.draw().expect("a plot");
        canvas.write_png(&mut file).expect("disk space");
        let mut reader = png::Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .expect("a PNG file");
        let width = reader.info().width as usize;
        let mut bytes = vec![0; reader.output_buffer_size().expect("small")];
        reader.next_frame(&mut bytes).expect("its pixels");
        (
            width,
            bytes.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
        )
    }

    #[test]
    fn a_curve_goes_through_its_values() {
        // A line from (0, 2) to (10, 6): quantiles and the second half give a range of 2.2 to 6.
        let times: Vec<f64> = (0..=1000).map(|i| f64::from(i) / 100.0).collect();
        let values: Vec<f64> = times.iter().map(|t| 2.0 + 0.4 * t).collect();
        let (width, pixels) = drawn(&times, &values);
        let (low, high) = (4.1 - 1.15 * 1.9, 4.1 + 1.15 * 1.9);
        for share in [0.1, 0.25, 0.5, 0.75, 0.9] {
            let x = LEFT as f64 + share * (WIDTH - LEFT - RIGHT - 1) as f64;
            let up = (2.0 + 4.0 * share - low) / (high - low);
            let y = (ABOVE + HEIGHT) as f64 - 1.0 - up * (HEIGHT - 1) as f64;
            let column = |y: usize| pixels[y * width + x.round() as usize];
            let on = (ABOVE + 1..ABOVE + HEIGHT - 1).filter(|&y| column(y) == COLOURS[0]);
            let rows: Vec<usize> = on.collect();
            assert!((1..=4).contains(&rows.len()), "{share}: {rows:?}");
            let off = rows
                .iter()
                .map(|&r| (r as f64 - y).abs())
                .fold(0.0, f64::max);
            assert!(off < 2.5, "{share}: {rows:?}, not {y}");
        }
    }

    #[test]
    fn a_far_off_start_leaves_the_rest_visible_and_a_constant_is_drawn() {
        let times: Vec<f64> = (0..2000).map(f64::from).collect();
        let values: Vec<f64> = times.iter().map(|t| 1.0 + 1e6 * (-t).exp()).collect();
        let (width, pixels) = drawn(&times, &values);
        let row = ABOVE + HEIGHT / 2;
        let blue = |y: usize| (300..1100).all(|x| pixels[y * width + x] == COLOURS[0]);
        assert!(
            (row - 4..row + 4).any(blue),
            "the constant is in the middle"
        );
        let plot = Plot {
            times: &[1.0],
            time_title: "",
            mean_from: 0.0,
            names: &[],
            panels: Vec::new(),
        };
        assert!(plot.draw().is_none(), "one time makes no curve");
    }
}
