//! Histories as a picture: stacked panels over a common time axis, by plotters.
//!
//! In: curves, values at ascending times, by panel. The statistics apply to the time from `mean_from` on, which is
//! shaded, with the mean as a dashed line and its error as a band. The range of a panel covers the shaded part and the
//! middle nine tenths of all values, so that an extreme start from rest does not flatten the rest; what is beyond is
//! left out. Determinism: the same bytes for the same curves. Cost: curves are thinned to four values per column.

use super::backend::{FINE, Plotter};
use super::canvas::{Canvas, INK, PAPER, Rgb, blend};
use super::scale::number;
use super::text::text_width;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::convert::Infallible;

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
/// Height of the curves of a panel.
const HEIGHT: usize = 300;
const TEXT: usize = 19;
const LEFT: usize = 110;
const RIGHT: usize = 30;
const ABOVE: usize = 44;
const BELOW: usize = 68;
/// Margin outside of the titles of axes.
const EDGE: usize = 8;
/// Width of a curve.
const LINE: f64 = 2.2;

type Area<'a> = DrawingArea<Plotter<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<Infallible>>;

/// Curves of one quantity.
#[derive(Debug)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// Its statistics, as text.
    pub note: String,
    /// The dashed line.
    pub mean: Option<f64>,
    /// The error of the mean.
    pub error: Option<f64>,
    /// Values by curve, one per time.
    pub curves: Vec<Vec<f64>>,
}

/// Panels over time.
#[derive(Debug)]
pub struct Plot<'a> {
    /// Times, ascending.
    pub times: &'a [f64],
    /// Title of the time axis.
    pub time_title: &'a str,
    /// Start of the time span of the means; without one, no part is shaded and panels show all values.
    pub mean_from: Option<f64>,
    /// Names of the curves; the name of a single curve is not drawn.
    pub names: &'a [String],
    /// Panels from the top.
    pub panels: Vec<Panel>,
}

impl Plot<'_> {
    /// Draws it; none with fewer than two times.
    pub fn draw(&self) -> Option<Canvas> {
        let (&first, &last) = (self.times.first()?, self.times.last()?);
        if first >= last {
            return None;
        }
        let height = self.panels.len() * (ABOVE + HEIGHT) + BELOW;
        let mut canvas = Canvas::new([WIDTH, height]);
        let drawn = self.draw_on(Plotter::new(&mut canvas), [first, last]);
        drawn.expect("a canvas in memory should take every drawing");
        Some(canvas)
    }

    fn draw_on(&self, plotter: Plotter<'_>, times: [f64; 2]) -> Drawn {
        let mut rest = plotter.into_drawing_area();
        for (i, panel) in self.panels.iter().enumerate() {
            let is_last = i + 1 == self.panels.len();
            let (area, below) = match is_last {
                true => (rest.clone(), rest.clone()),
                false => rest.split_vertically(fine(ABOVE + HEIGHT)),
            };
            self.panel(&area, panel, times, is_last)?;
            if i == 0 && self.names.len() > 1 {
                self.legend(&area)?;
            }
            rest = below;
        }
        rest.present()
    }

    /// The value range of a panel.
    fn range(&self, panel: &Panel) -> [f64; 2] {
        let from = self.mean_from.unwrap_or(f64::NEG_INFINITY);
        let first = self.times.partition_point(|&t| t < from);
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

    fn panel(
        &self,
        area: &Area<'_>,
        panel: &Panel,
        [first, last]: [f64; 2],
        is_last: bool,
    ) -> Drawn {
        let [low, high] = self.range(panel);
        let mut chart = ChartBuilder::on(area)
            .margin_top(fine(ABOVE))
            .margin_right(fine(RIGHT))
            .margin_left(fine(EDGE))
            .margin_bottom(if is_last { fine(EDGE) } else { 0 })
            .set_label_area_size(LabelAreaPosition::Left, fine(LEFT - EDGE))
            .set_label_area_size(
                LabelAreaPosition::Bottom,
                if is_last { fine(BELOW - EDGE) } else { 0 },
            )
            .build_cartesian_2d(first..last, low..high)?;
        let from = self.mean_from.unwrap_or(first).clamp(first, last);
        if self.mean_from.is_some() {
            let shade = Rectangle::new([(from, low), (last, high)], solid(SHADE).filled());
            chart.draw_series([shade])?;
        }
        if let (Some(mean), Some(error)) = (panel.mean, panel.error) {
            let ends = [-2.0, 2.0].map(|by| (mean + by * error).clamp(low, high));
            let band = [(from, ends[0]), (last, ends[1])];
            chart.draw_series([Rectangle::new(
                band,
                solid(blend(PAPER, INK, 0.13)).filled(),
            )])?;
        }
        let small = ("sans-serif", fine(TEXT)).into_font().color(&solid(INK));
        let decimals = |from: f64, to: f64| {
            let step = (to - from) / 10.0;
            (1.0 - step.log10().floor()).max(0.0) as usize
        };
        let (x, y) = (decimals(first, last), decimals(low, high));
        chart
            .configure_mesh()
            .x_labels(9)
            .y_labels(7)
            .x_label_formatter(&|t| number(*t, x))
            .y_label_formatter(&|v| number(*v, y))
            .x_desc(if is_last { self.time_title } else { "" })
            .y_desc(&*panel.title)
            .label_style(small.clone())
            .axis_desc_style(small.clone())
            .axis_style(line(INK, 1.0))
            .bold_line_style(line(blend(PAPER, INK, 0.14), 1.0))
            .light_line_style(TRANSPARENT)
            .set_all_tick_mark_size(fine(6))
            .draw()?;
        if let Some(mean) = panel.mean.filter(|mean| (low..high).contains(mean)) {
            let style = line(blend(PAPER, INK, 0.6), 2.0);
            let ends = [(from, mean), (last, mean)];
            chart.draw_series(DashedLineSeries::new(ends, fine(8), fine(6), style))?;
        }
        let axes = Axes {
            size: [WIDTH - LEFT - RIGHT, HEIGHT],
            x: [first, last],
            y: [low, high],
        };
        for (curve, colour) in panel.curves.iter().zip(COLOURS.iter().cycle()) {
            let style = line(*colour, LINE);
            for part in clipped(&axes.thinned(self.times, curve), [low, high]) {
                chart.draw_series(LineSeries::new(part, style))?;
            }
        }
        let frame = Rectangle::new([(first, low), (last, high)], line(INK, 1.0));
        chart.draw_series([frame])?;
        let note = small.pos(Pos::new(HPos::Right, VPos::Bottom));
        let at = (fine(WIDTH - RIGHT), fine(ABOVE - 10));
        area.draw(&Text::new(panel.note.as_str(), at, note))
    }

    /// Names of the curves, above the first panel, left of its note.
    fn legend(&self, area: &Area<'_>) -> Drawn {
        let small = ("sans-serif", fine(TEXT)).into_font().color(&solid(INK));
        let style = small.pos(Pos::new(HPos::Left, VPos::Bottom));
        let mut x = LEFT;
        for (name, colour) in self.names.iter().zip(COLOURS) {
            let y = fine(ABOVE - 10 - TEXT / 3);
            let ends = vec![(fine(x), y), (fine(x + 26), y)];
            area.draw(&PathElement::new(ends, line(colour, 3.0)))?;
            x += 34;
            let at = (fine(x), fine(ABOVE - 10));
            area.draw(&Text::new(name.as_str(), at, style.clone()))?;
            x += text_width(name, TEXT as f32) + 26;
        }
        Ok(())
    }
}

/// Pixels in units of the plotter.
fn fine(pixels: usize) -> i32 {
    (pixels * FINE) as i32
}

/// The style of a line some pixels wide.
fn line([r, g, b]: Rgb, width: f64) -> ShapeStyle {
    RGBColor(r, g, b).stroke_width((width * FINE as f64) as u32)
}

fn solid([r, g, b]: Rgb) -> RGBColor {
    RGBColor(r, g, b)
}

/// Ranges of the axes, and their lengths in pixels.
struct Axes {
    size: [usize; 2],
    x: [f64; 2],
    y: [f64; 2],
}

impl Axes {
    /// A curve: the first, smallest, largest and last value of each column of pixels, in order.
    fn thinned(&self, times: &[f64], values: &[f64]) -> Vec<[f64; 2]> {
        let column = |x: f64| {
            let share = (x - self.x[0]) / (self.x[1] - self.x[0]);
            (share * self.size[0] as f64).floor()
        };
        // Far values stay finite in pixels.
        let far = 9.0 * (self.y[1] - self.y[0]);
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
            let place = [x, y.clamp(self.y[0] - far, self.y[1] + far)];
            if group
                .first()
                .is_some_and(|first| column(first[0]) != column(x))
            {
                close(&mut group, &mut places);
            }
            group.push(place);
        }
        close(&mut group, &mut places);
        places
    }
}

/// The parts of a curve within a range of values, cut at its ends.
fn clipped(places: &[[f64; 2]], [low, high]: [f64; 2]) -> Vec<Vec<(f64, f64)>> {
    let mut parts: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut part: Vec<(f64, f64)> = Vec::new();
    for pair in places.windows(2) {
        let [from, to] = [pair[0], pair[1]];
        let rise = to[1] - from[1];
        // Shares of the segment at which it enters and leaves.
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        if rise == 0.0 {
            if !(low..=high).contains(&from[1]) {
                leave = -1.0;
            }
        } else {
            let ends = [(low - from[1]) / rise, (high - from[1]) / rise];
            enter = enter.max(ends[0].min(ends[1]));
            leave = leave.min(ends[0].max(ends[1]));
        }
        let at = |share: f64| (from[0] + share * (to[0] - from[0]), from[1] + share * rise);
        if enter > leave || enter > 0.0 {
            parts.push(std::mem::take(&mut part));
        }
        if enter > leave {
            continue;
        }
        if part.is_empty() {
            part.push(at(enter));
        }
        part.push(at(leave));
        if leave < 1.0 {
            parts.push(std::mem::take(&mut part));
        }
    }
    parts.push(part);
    parts.retain(|part| part.len() > 1);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worst::worst;

    /// Width and pixels of a plot of one curve.
    fn drawn(times: &[f64], values: &[f64]) -> (usize, Vec<Rgb>) {
        let plot = Plot {
            times,
            time_title: "time in s",
            mean_from: Some(times[times.len() / 2]),
            names: &["a".into()],
            panels: vec![Panel {
                title: "C_D".into(),
                note: String::new(),
                mean: None,
                error: None,
                curves: vec![values.to_vec()],
            }],
        };
        let mut file = Vec::new();
        let canvas = plot.draw().expect("a plot");
        canvas.write_png(&mut file).expect("disk space");
        let (size, pixels) = crate::png_kit::decoded(&file);
        (size[0], pixels)
    }

    #[test]
    fn a_curve_beyond_the_range_is_cut_at_its_ends() {
        let places = [[0.0, 0.0], [1.0, 4.0], [2.0, 0.0], [3.0, -2.0], [4.0, 0.5]];
        let parts = clipped(&places, [-1.0, 1.0]);
        let expected = [
            vec![(0.0, 0.0), (0.25, 1.0)],
            vec![(1.75, 1.0), (2.0, 0.0), (2.5, -1.0)],
            vec![(3.4, -1.0), (4.0, 0.5)],
        ];
        assert_eq!(parts.len(), expected.len(), "{parts:?}");
        for (part, wanted) in parts.iter().flatten().zip(expected.iter().flatten()) {
            let off = (part.0 - wanted.0).hypot(part.1 - wanted.1);
            assert!(off < 1e-12, "{part:?}, not {wanted:?}");
        }
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
            let off = worst(rows.iter().map(|&r| (r as f64 - y).abs()));
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
            mean_from: None,
            names: &[],
            panels: Vec::new(),
        };
        assert!(plot.draw().is_none(), "one time makes no curve");
    }
}
