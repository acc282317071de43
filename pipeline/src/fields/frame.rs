//! A slice as a picture: values as colours, the body grey with an outline, a colour bar, quantity and time.
//!
//! Every pixel has the value of the leaf cell at its centre, or an interpolated one on request. The default range of
//! the colours covers most pixels: a few cells at edges have vorticities that would leave the others pale. Values
//! beyond the range have its end colours.

use super::colours::{Map, colours};
use super::shades::{Line, Shade, View, shades};
use super::spec::{PictureSpec, Quantity};
use super::values::{Scene, title_of};
use crate::picture::draw::{Draw, INK, Rgb, text_width};
use crate::picture::full::FullCanvas;
use crate::picture::scale::{number, ticks};
use cutlink_voxelizer::Mesh;

const BODY: Rgb = [128, 134, 142];

/// Bytes per pixel while a picture is drawn: its value, the copy that is sorted for the range of colours, its colour, and
/// the compressed file, which is at most as large.
const PIXEL_BYTES: usize = size_of::<Shade>() + size_of::<f32>() + 2 * size_of::<Rgb>();

/// Bytes that drawing a picture takes.
pub(super) fn memory<const D: usize>(mesh: &Mesh<D>, spec: &PictureSpec) -> u64 {
    let [width, height] = View::new(mesh, spec, spec.width as usize).pixels;
    (width * height * PIXEL_BYTES) as u64
}

/// Draws a picture.
pub(super) fn draw<const D: usize>(scene: Scene<'_, D>, spec: &PictureSpec) -> FullCanvas {
    let text = (spec.width / 500).max(1) as usize;
    let margin = 6 * text;
    let line = 7 * text;
    let view = View::new(scene.mesh, spec, spec.width as usize - 2 * margin);
    let shades = shades(scene, spec, &view);
    let [width, height] = view.pixels;
    let [top, bar] = [2 * margin + line, 2 * margin];
    let below = top + height + margin;
    let mut canvas = FullCanvas::new([spec.width as usize, below + bar + 2 * line + margin]);

    let map = map_of(spec.quantity);
    let range = spec.range.unwrap_or_else(|| {
        let middle = match spec.quantity {
            Quantity::Density => scene.units.density.factor,
            _ => 0.0,
        };
        range_of(&shades, spec.quantity, middle)
    });
    let colours = colours(map);
    let left = (spec.width as usize - width) / 2;
    paint(
        &mut canvas,
        [left, top],
        view.pixels,
        &shades,
        range,
        &colours,
    );
    let frame = [left, top, left + width, top + height];
    canvas.outline(frame, text.div_ceil(2), INK);

    let axis = spec.plane.normal.map_or(2, |(axis, _)| axis);
    let (title, unit) = title_of(scene, spec.quantity, axis);
    canvas.text(
        [left, margin],
        text,
        &format!("{title} in {}", unit.name),
        INK,
    );
    let time = &scene.units.time;
    let mut when = format!("t = {} {}", number(scene.time(), 4), time.name);
    if let Some((axis, at)) = spec.plane.normal {
        when = format!("{} = {}   {when}", ["x", "y", "z"][axis], number(at, 4));
    }
    let from = (left + width).saturating_sub(text_width(&when, text));
    canvas.text([from, margin], text, &when, INK);
    let side = width / 6;
    let bar = [left + side, below, left + width - side, below + bar];
    legend(&mut canvas, bar, range, &colours, text);
    canvas
}

fn map_of(quantity: Quantity) -> Map {
    match quantity {
        Quantity::Speed => Map::Sequential,
        _ => Map::Diverging,
    }
}

fn paint(
    canvas: &mut FullCanvas,
    [left, top]: [usize; 2],
    [width, height]: [usize; 2],
    shades: &[Shade],
    range: [f64; 2],
    colours: &[Rgb],
) {
    let at = |x: usize, y: usize| shades[y * width + x];
    let solid = |x: usize, y: usize| at(x, y).value.is_none();
    for y in 0..height {
        for x in 0..width {
            let to = [left + x, top + y];
            let shade = at(x, y);
            canvas.set(to, shade.value.map_or(BODY, |v| colour(v, range, colours)));
            match shade.line {
                Line::None => {}
                Line::Cell => canvas.tint(to, INK, 0.14),
                Line::Block => canvas.tint(to, INK, 0.38),
            }
            let fluid_beside = solid(x, y)
                && ((x > 0 && !solid(x - 1, y))
                    || (x + 1 < width && !solid(x + 1, y))
                    || (y > 0 && !solid(x, y - 1))
                    || (y + 1 < height && !solid(x, y + 1)));
            if fluid_beside {
                canvas.set(to, INK);
            }
        }
    }
}

fn colour(value: f32, [low, high]: [f64; 2], colours: &[Rgb]) -> Rgb {
    let share = ((f64::from(value) - low) / (high - low)).clamp(0.0, 1.0);
    colours[(share * (colours.len() - 1) as f64).round() as usize]
}

/// The range of most pixels: from zero for speeds, otherwise symmetric about `middle`.
fn range_of(shades: &[Shade], quantity: Quantity, middle: f64) -> [f64; 2] {
    let off = |v: f32| (f64::from(v) - middle).abs() as f32;
    let mut sizes: Vec<f32> = shades.iter().filter_map(|s| s.value).map(off).collect();
    sizes.retain(|v| v.is_finite());
    let share = match quantity {
        Quantity::Vorticity | Quantity::Q => 0.98,
        _ => 0.998,
    };
    let at = (sizes.len().saturating_sub(1) as f64 * share) as usize;
    let mut most = match sizes.is_empty() {
        true => 0.0,
        false => f64::from(*sizes.select_nth_unstable_by(at, f32::total_cmp).1),
    };
    if most <= 1e-12 * middle.abs().max(1e-20) {
        most = 1.0;
    }
    match map_of(quantity) {
        Map::Sequential => [0.0, most],
        Map::Diverging => [middle - most, middle + most],
    }
}

/// A colour bar with numbers below.
fn legend(canvas: &mut FullCanvas, bar: [usize; 4], range: [f64; 2], colours: &[Rgb], text: usize) {
    let [left, top, right, bottom] = bar;
    let width = right - left;
    for x in left..right {
        let i = (x - left) * (colours.len() - 1) / width.max(2).saturating_sub(1);
        canvas.fill([x, top, x + 1, bottom], colours[i.min(colours.len() - 1)]);
    }
    canvas.outline(bar, text.div_ceil(2), INK);
    let (ticks, decimals) = ticks(range);
    for tick in ticks {
        let share = (tick - range[0]) / (range[1] - range[0]);
        let x = left + (share * (width - 1) as f64).round() as usize;
        canvas.fill([x, bottom, x + text.div_ceil(2), bottom + 3 * text], INK);
        let words = number(tick, decimals);
        let half = text_width(&words, text) / 2;
        canvas.text(
            [x.saturating_sub(half), bottom + 5 * text],
            text,
            &words,
            INK,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ignores_outliers_and_is_symmetric() {
        let shade = |value| Shade {
            value: Some(value),
            line: Line::None,
        };
        let mut all: Vec<Shade> = (0..1000)
            .map(|i| shade(1.0 + (i % 10) as f32 * 0.1))
            .collect();
        all[7] = shade(1e9);
        all[8] = shade(f32::NAN);
        let [low, high] = range_of(&all, Quantity::Speed, 0.0);
        assert_eq!(low, 0.0, "speeds begin at zero");
        assert!((high - 1.9).abs() < 1e-6, "{high}");
        let [low, high] = range_of(&all, Quantity::Density, 1.0);
        assert!(
            (low - 0.1).abs() < 1e-6 && (high - 1.9).abs() < 1e-6,
            "{low} to {high}"
        );
        let [low, high] = range_of(&[shade(0.0); 9], Quantity::Q, 0.0);
        assert_eq!([low, high], [-1.0, 1.0], "nothing to see");
    }
}
