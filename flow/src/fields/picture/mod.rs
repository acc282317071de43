//! A slice as a picture: values as colours, the body grey with an outline, a colour bar, quantity and time.
//!
//! Every pixel has the value of the leaf cell at its centre, or an interpolated one on request. The body is the section
//! of the surface with the plane; the fluid between it and the centre of a solid cell has the mean value of the fluid
//! cells beside. Where the section is not closed (sheets), solid cells are grey and the section is a line. Without a
//! surface, the outline is that of the solid cells. The default range of the colours covers most pixels: a few cells at edges
//! have vorticities that would leave the others pale. Values beyond the range have its end colours. On request: the grid, with
//! the outline of each level in a colour of its own, so that cells too small to be drawn are seen; contour lines; streamlines
//! or arrows.

mod lines;
mod shades;
mod spec;

pub use spec::FlowLines;
pub(super) use spec::{PictureSpec, resolve, write_defaults};

use super::colours::{Map, colour, colours, of_level};
use super::kinds::Quantity;
use super::values::{Scene, title_of};
use cutlink_pictures::{
    axes::FrameAxes,
    canvas::{Canvas, INK, PAPER, Rect, Rgb},
    coverage::Coverage,
    cut::{Cut, Segment},
    margin_of,
    scale::{number, printed, ticks, titled},
    text::{text_height, text_width},
    text_size,
};
use cutlink_voxelizer::Mesh;
use lines::Wind;
use shades::{Line, Shade, View, shades};

const BODY: Rgb = [128, 134, 142];

/// Bytes per pixel while a picture is drawn: its value; shares of body and outline, or the copy that is sorted for the
/// range of colours; its colour; the compressed file, which is at most as large.
const PIXEL_BYTES: usize = size_of::<Shade>() + 3 * size_of::<f32>() + 2 * size_of::<Rgb>();
/// And with lines: the velocity, and the values from which it is taken; what lines cover.
const LINE_BYTES: usize = 3 * size_of::<f32>() + size_of::<Shade>();

/// Bytes that drawing a picture takes.
pub(super) fn memory<const D: usize>(mesh: &Mesh<D>, spec: &PictureSpec) -> u64 {
    let [width, height] = View::new(mesh, spec, spec.width as usize).pixels;
    let lines = if spec.lines.is_some() { LINE_BYTES } else { 0 };
    (width * height * (PIXEL_BYTES + lines)) as u64
}

/// Draws a picture; with the section of the surface, the body has its shape instead of that of its cells.
pub(super) fn draw<const D: usize>(
    scene: Scene<'_, D>,
    spec: &PictureSpec,
    cut: Option<&Cut>,
) -> Canvas {
    let text = text_size(spec.width);
    let (line, margin) = (text_height(text), margin_of(spec.width));
    let shown = spec.shown(scene.mesh);
    let axes = FrameAxes::of(spec.width, spec.plane.axes, shown, text).filter(|_| spec.axes);
    let [aside, under] = axes.as_ref().map_or([0; 2], FrameAxes::room);
    let view = View::new(scene.mesh, spec, spec.width as usize - 2 * margin - aside);
    let shades = shades(scene, spec, &view);
    let [width, height] = view.pixels;
    let [top, bar] = [2 * margin + line, 2 * margin];
    let below = top + height + margin + under;
    let levels = if spec.grid { margin + line } else { 0 };
    let size = [
        spec.width as usize,
        below + bar + 2 * line + margin + levels,
    ];
    let mut canvas = Canvas::new(size);

    let map = map_of(spec.quantity);
    let range = spec.range.unwrap_or_else(|| {
        let middle = match spec.quantity {
            Quantity::Density => scene.units.density.factor,
            _ => 0.0,
        };
        range_of(&shades, spec.quantity, middle)
    });
    let colours = colours(map);
    let left = aside + (spec.width as usize - aside - width) / 2;
    let frame = [left, top, left + width, top + height];
    fill(&mut canvas, frame, &shades, cut, &view, &|v| {
        colour(v, range, &colours)
    });
    draw_lines(&mut canvas, frame, scene, spec, &view, &shades, range);
    let thin = (spec.width / 1000).max(1) as usize;
    if let Some(cut) = cut {
        let pixel = |at: [f64; 2]| {
            let [x, y] = view.pixel(at);
            [x + left as f64 - 0.5, y + top as f64 - 0.5]
        };
        let segments = cut.walls.iter().map(|segment| segment.map(pixel));
        canvas.segments(frame, segments, 0.4 + thin as f64, INK);
    }
    canvas.outline(frame, thin, INK);
    if let Some(axes) = &axes {
        axes.draw(&mut canvas, frame);
    }
    header(&mut canvas, frame, margin, scene, spec);
    let side = width / 6;
    let bar = [left + side, below, left + width - side, below + bar];
    legend(&mut canvas, bar, range, &colours, text);
    if spec.grid {
        let at = [bar[0], bar[3] + 2 * line + margin / 2];
        level_legend(&mut canvas, at, scene.mesh.forest.levels.len(), text);
    }
    canvas
}

/// The share of each pixel that the body covers; `None` if the section is not closed. The fluid is outside of the
/// outline, or inside if most of its pixels are.
fn body_of(cut: &Cut, view: &View, shades: &[Shade]) -> Option<Vec<f32>> {
    if !cut.is_closed {
        return None;
    }
    let mut coverage = Coverage::new(view.pixels);
    for segment in cut.all() {
        coverage.add(segment.map(|at| view.pixel(at)));
    }
    let mut shares = coverage.shares()?;
    let fluid = || shades.iter().zip(&shares).filter(|(shade, _)| !shade.solid);
    let inside: f64 = fluid().map(|(_, &share)| f64::from(share)).sum();
    if inside > 0.5 * fluid().count() as f64 {
        shares.iter_mut().for_each(|share| *share = 1.0 - *share);
    }
    Some(shares)
}

pub(super) fn map_of(quantity: Quantity) -> Map {
    match quantity {
        Quantity::Speed | Quantity::Scalar(_) => Map::Sequential,
        _ => Map::Diverging,
    }
}

/// Paints flow and body.
fn fill(
    canvas: &mut Canvas,
    frame: Rect,
    shades: &[Shade],
    cut: Option<&Cut>,
    view: &View,
    colour: &dyn Fn(f32) -> Rgb,
) {
    if let Some(shares) = cut.and_then(|cut| body_of(cut, view, shades)) {
        return paint(canvas, frame, shades, colour, |i| shares[i]);
    }
    let solid = |i: usize| f32::from(u8::from(shades[i].solid));
    paint(canvas, frame, shades, colour, solid);
    if cut.is_none() {
        stairs(canvas, frame, shades);
    }
}

/// Paints the pixels of a frame; `body` is the share of a pixel that the body covers.
fn paint(
    canvas: &mut Canvas,
    [left, top, right, bottom]: Rect,
    shades: &[Shade],
    colour: &dyn Fn(f32) -> Rgb,
    body: impl Fn(usize) -> f32,
) {
    let places = (top..bottom).flat_map(|y| (left..right).map(move |x| [x, y]));
    for (i, (to, shade)) in places.zip(shades).enumerate() {
        canvas.set(to, shade.value.map_or(BODY, colour));
        match shade.line {
            Line::None => {}
            Line::Cell => canvas.tint(to, INK, 0.14),
            Line::Block => canvas.tint(to, INK, 0.38),
            Line::Level(level) => canvas.set(to, of_level(usize::from(level))),
        }
        let share = if shade.value.is_none() { 1.0 } else { body(i) };
        canvas.tint(to, BODY, f64::from(share));
    }
}

/// Draws contour lines, streamlines or arrows.
fn draw_lines<const D: usize>(
    canvas: &mut Canvas,
    frame: Rect,
    scene: Scene<'_, D>,
    spec: &PictureSpec,
    view: &View,
    shades: &[Shade],
    range: [f64; 2],
) {
    let place = |at: [f64; 2]| [at[0] + frame[0] as f64, at[1] + frame[1] as f64];
    let thick = (f64::from(spec.width) / 1200.0).max(0.8);
    let mut put = |segments: &[Segment], width: f64, colour: Rgb| {
        canvas.segments(frame, segments.iter().map(|s| s.map(place)), width, colour);
    };
    if spec.contours {
        put(
            &lines::contours(shades, view.pixels[0], range),
            0.9 * thick,
            INK,
        );
    }
    let Some(kind) = spec.lines else {
        return;
    };
    let wind = Wind::new(scene, spec, view);
    let found = match kind {
        FlowLines::Streamlines => wind.streamlines(),
        FlowLines::Arrows => wind.arrows(),
    };
    // A rim sets them off from dark colours and from light ones.
    put(&found, 2.4 * thick, INK);
    put(&found, 1.1 * thick, PAPER);
}

/// Quantity, place and time, above a frame.
fn header<const D: usize>(
    canvas: &mut Canvas,
    [left, _, right, _]: Rect,
    margin: usize,
    scene: Scene<'_, D>,
    spec: &PictureSpec,
) {
    let text = text_size(spec.width);
    let axis = spec.plane.normal.map_or(2, |(axis, _)| axis);
    let (title, unit) = title_of(scene, spec.quantity, axis);
    let title = titled(&title, &unit.name);
    canvas.text([left, margin], text, &title, INK);
    let time = &scene.units.time;
    let mut when = format!("t = {} {}", number(scene.time(), 4), printed(&time.name));
    if let Some((axis, at)) = spec.plane.normal {
        when = format!("{} = {},  {when}", ["x", "y", "z"][axis], number(at, 4));
    }
    let from = right.saturating_sub(text_width(&when, text));
    canvas.text([from, margin], text, &when, INK);
}

/// A swatch for each level but the coarsest.
fn level_legend(canvas: &mut Canvas, [left, top]: [usize; 2], levels: usize, text: f32) {
    let (high, words) = (text_height(text), "outlines of levels");
    canvas.text([left, top], text, words, INK);
    let mut x = left + text_width(words, text) + high;
    for level in 1..levels {
        canvas.swatch([x, top, x + high, top + high], of_level(level));
        let words = level.to_string();
        canvas.text([x + 3 * high / 2, top], text, &words, INK);
        x += 5 * high / 2 + text_width(&words, text);
    }
}

/// Draws the outline of the solid cells.
fn stairs(canvas: &mut Canvas, [left, top, right, bottom]: Rect, shades: &[Shade]) {
    let (width, height) = (right - left, bottom - top);
    let solid = |x: usize, y: usize| shades[y * width + x].solid;
    for y in 0..height {
        for x in 0..width {
            let fluid_beside = solid(x, y)
                && ((x > 0 && !solid(x - 1, y))
                    || (x + 1 < width && !solid(x + 1, y))
                    || (y > 0 && !solid(x, y - 1))
                    || (y + 1 < height && !solid(x, y + 1)));
            if fluid_beside {
                canvas.set([left + x, top + y], INK);
            }
        }
    }
}

/// The range of most pixels: from zero for speeds and scalars, otherwise symmetric about `middle`.
fn range_of(shades: &[Shade], quantity: Quantity, middle: f64) -> [f64; 2] {
    let fluid = shades.iter().filter(|shade| !shade.solid);
    let share = match quantity {
        Quantity::Vorticity | Quantity::Q => 0.98,
        _ => 0.998,
    };
    covering(
        fluid.filter_map(|s| s.value).collect(),
        share,
        map_of(quantity),
        middle,
    )
}

/// The range of a share of some values: from zero, or symmetric about `middle`.
pub(super) fn covering(mut sizes: Vec<f32>, share: f64, map: Map, middle: f64) -> [f64; 2] {
    for value in &mut sizes {
        *value = (f64::from(*value) - middle).abs() as f32;
    }
    sizes.retain(|v| v.is_finite());
    let at = (sizes.len().saturating_sub(1) as f64 * share) as usize;
    let mut most = match sizes.is_empty() {
        true => 0.0,
        false => f64::from(*sizes.select_nth_unstable_by(at, f32::total_cmp).1),
    };
    if most <= 1e-12 * middle.abs().max(1e-20) {
        most = 1.0;
    }
    match map {
        Map::Sequential => [0.0, most],
        Map::Diverging => [middle - most, middle + most],
    }
}

/// A colour bar with numbers below, as many as there is room for.
pub(super) fn legend(canvas: &mut Canvas, bar: Rect, range: [f64; 2], colours: &[Rgb], text: f32) {
    let [left, top, right, bottom] = bar;
    let width = right - left;
    for x in left..right {
        let i = (x - left) * (colours.len() - 1) / width.max(2).saturating_sub(1);
        canvas.fill([x, top, x + 1, bottom], colours[i.min(colours.len() - 1)]);
    }
    let thin = (text / 18.0).round().max(1.0) as usize;
    canvas.outline(bar, thin, INK);
    let (ticks, decimals) = ticks(range);
    let mut free = 0;
    for tick in ticks {
        let share = (tick - range[0]) / (range[1] - range[0]);
        let x = left + (share * (width - 1) as f64).round() as usize;
        let words = number(tick, decimals);
        let wide = text_width(&words, text);
        let from = x.saturating_sub(wide / 2);
        if from < free {
            continue;
        }
        let high = text_height(text);
        canvas.fill([x, bottom, x + thin, bottom + high / 2], INK);
        canvas.text([from, bottom + high * 3 / 4], text, &words, INK);
        free = from + wide + high;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ignores_outliers_and_is_symmetric() {
        let shade = |value| Shade {
            value: Some(value),
            solid: false,
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
