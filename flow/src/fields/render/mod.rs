//! A picture in three dimensions, without a display: the body's surface, shaded, an isosurface of the flow, its spheres.
//!
//! In: the facets of the body and their values, a snapshot, a camera. Out: a picture with its quantities, their colour
//! bars and the time. Triangles go to a z-buffer of 3 × 3 samples per pixel; those of the isosurface in batches, so that
//! memory does not grow with them. Colours of facets are means at their corners, interpolated. Triangles are cut
//! off close before the eye. Determinism: the same bytes for the same snapshot. Cost: one value per cell and its
//! neighbourhood for an isosurface, otherwise the pixels that the triangles cover.

mod camera;
mod isosurface;
mod saved;
mod skin;
mod spec;
mod spheres;

pub use camera::CameraSpec;
pub(super) use saved::SavedSpec;
pub use spec::{IsosurfaceSpec, SurfaceColour};
pub(super) use spec::{RenderSpec, resolve, write_defaults};

use super::colours::{Map, colour, colours, of_level};
use super::kinds::Quantity;
use super::picture::{covering, legend, map_of};
use super::surface::Body;
use super::values::{Scene, title_of};
use cutlink_amr::{CellRef, dims};
use cutlink_mesher::nearest::NearestTree;
use cutlink_pictures::{
    camera::{Camera, part},
    canvas::{Canvas, INK, Rect, Rgb},
    margin_of,
    raster::{self, Raster},
    scale::{number, printed, significant, titled},
    text::{text_height, text_width},
    text_size, triad,
};
use cutlink_voxelizer::Mesh;
use isosurface::{Values, Vertex};
use rayon::prelude::*;
use skin::Skin;
use std::ops::RangeInclusive;

/// A body without values, and facets without fluid in front.
const PLAIN: Rgb = [196, 202, 210];
/// Edges of the box.
const EDGE: Rgb = [120, 128, 138];
/// Bytes that drawing a render takes, without those of the body.
pub(super) fn memory<const D: usize>(mesh: &Mesh<D>, spec: &RenderSpec) -> u64 {
    let [width, height] = spec.pixels();
    let pixels = (width * height * (raster::PIXEL_BYTES + 3 * size_of::<Rgb>())) as u64;
    let isosurface = spec.isosurface.as_ref();
    pixels + isosurface.map_or(0, |_| memory_of_isosurface(mesh))
}

/// Bytes that finding an isosurface takes.
pub(super) fn memory_of_isosurface<const D: usize>(mesh: &Mesh<D>) -> u64 {
    let cells = (mesh.forest.capacity() * dims::cells(D)) as u64;
    cells * size_of::<f32>() as u64 + isosurface::BATCH_BYTES
}

/// What colours mean.
struct Legend {
    title: String,
    key: Key,
}

enum Key {
    /// A colour bar over a range.
    Range([f64; 2], Vec<Rgb>),
    /// A colour for each level from the first to the last one.
    Levels(usize, usize),
}

/// Draws a render.
///
/// # Errors
/// A camera from which there is nothing to see, by its key.
pub(super) fn draw<const D: usize>(
    scene: Scene<'_, D>,
    spec: &RenderSpec,
    body: Option<&Body<D>>,
) -> Result<Canvas, String> {
    let skin = body.map(|body| Skin::new(scene, body, spec.surface));
    let frame = &scene.mesh.frame;
    let whole = [frame.origin, frame.upper()].map(|p| std::array::from_fn(|a| p[a.min(D - 1)]));
    let bounds = skin.as_ref().and_then(Skin::bounds).unwrap_or(whole);
    let camera = Camera::new(&spec.camera.pose(), bounds, spec.pixels())?;
    let mut raster = Raster::new(spec.pixels());
    let mut legends = Vec::new();
    let mut note = None;
    if let Some(skin) = &skin {
        legends.extend(draw_skin(&mut raster, scene, skin, spec, &camera));
    }
    if spec.domain {
        let bands: Vec<_> = edges(whole)
            .filter_map(|ends| camera.band(ends, f64::from(spec.width) / 900.0))
            .flatten()
            .collect();
        raster.draw(&bands, |_| EDGE);
    }
    if let (Some(by), Some(particles)) = (spec.particles, scene.particles) {
        let seen = (&camera, f64::from(spec.width) / 900.0);
        legends.extend(spheres::draw(&mut raster, particles, by, spec.range, seen));
    }
    if let Some(surface) = &spec.isosurface {
        let (name, unit) = title_of_volume(scene, surface.field);
        let unit = if unit == "1" { "" } else { unit };
        let text = format!("{name} = {} {}", number(surface.value, 4), printed(unit));
        note = Some(text.trim_end().to_owned());
        let body = match (&skin, surface.wall) {
            (Some(skin), Some(wall)) if wall > 0.0 => {
                Some((skin.tree().map_err(|error| error.to_string())?, wall))
            }
            _ => None,
        };
        legends.push(draw_isosurface(
            &mut raster,
            scene,
            surface,
            body.as_ref(),
            &camera,
        ));
    }
    raster.deepen(2, |near| camera.depth(near));
    Ok(composed(scene, spec, &camera, &raster, &legends, note))
}

/// The edges of a box.
fn edges([low, high]: [[f64; 3]; 2]) -> impl Iterator<Item = [[f64; 3]; 2]> {
    (0..3).flat_map(move |axis| {
        (0..4).map(move |side| {
            let mut ends = [low, high];
            for (k, other) in [(axis + 1) % 3, (axis + 2) % 3].into_iter().enumerate() {
                let at = [low, high][side >> k & 1][other];
                ends.iter_mut().for_each(|end| end[other] = at);
            }
            ends
        })
    })
}

/// Draws the body; returns its legend, if it has one.
fn draw_skin<const D: usize>(
    raster: &mut Raster,
    scene: Scene<'_, D>,
    skin: &Skin,
    spec: &RenderSpec,
    camera: &Camera,
) -> Option<Legend> {
    let triangles = skin.triangles(camera);
    let (title, map) = match spec.surface {
        SurfaceColour::Plain => {
            raster.draw(&triangles, |_| PLAIN);
            return None;
        }
        SurfaceColour::Level => {
            raster.draw(&triangles, |level| of_level(level.round() as usize));
            let levels = || skin.values().map(|level| level.round() as usize);
            return Some(Legend {
                title: "level of the cells".into(),
                key: Key::Levels(levels().min()?, levels().max()?),
            });
        }
        SurfaceColour::Pressure => ("wall pressure", Map::Diverging),
        SurfaceColour::Shear => ("wall shear stress", Map::Sequential),
        SurfaceColour::YPlus => ("y+", Map::Sequential),
    };
    let range = spec
        .range
        .unwrap_or_else(|| covering(skin.values().collect(), 0.99, map, 0.0));
    let colours = colours(map);
    raster.draw(&triangles, |value| match value.is_nan() {
        true => PLAIN,
        false => colour(value, range, &colours),
    });
    let title = match spec.surface {
        SurfaceColour::YPlus => title.to_owned(),
        _ => titled(title, &scene.units.pressure.name),
    };
    Some(Legend {
        title,
        key: Key::Range(range, colours),
    })
}

/// Draws the isosurface, beyond a distance from the body where one is given; returns its legend.
fn draw_isosurface<const D: usize>(
    raster: &mut Raster,
    scene: Scene<'_, D>,
    spec: &IsosurfaceSpec,
    body: Option<&(NearestTree<3>, f64)>,
    camera: &Camera,
) -> Legend {
    let of = |quantity: Quantity, at: CellRef| scene.in_volume(quantity, at) as f32;
    let values = Values::new(scene.mesh, |at| of(spec.field, at));
    let quantity = spec.colour.unwrap_or_default();
    let map = map_of(quantity);
    let range = spec.range.unwrap_or_else(|| {
        let middle = match quantity {
            Quantity::Density => scene.units.density.factor,
            _ => 0.0,
        };
        covering(some_values(scene, quantity), 0.998, map, middle)
    });
    let colours = colours(map);
    let corner = |vertex: &Vertex| {
        let place = vertex.place(&scene.mesh.frame);
        let value = vertex.value(|cell| of(quantity, cell));
        // Beyond twice the distance nothing depends on it.
        let off = body.map_or(0.0, |(tree, wall)| {
            let near = tree.nearest(place, 2.0 * wall);
            near.map_or(*wall, |near| near.distance - wall)
        });
        (camera.see(place, vertex.slope, value), off)
    };
    values.surface(spec.value as f32, |batch| {
        let seen = |t: &[Vertex; 3]| {
            let beyond = part([corner(&t[0]), corner(&t[1]), corner(&t[2])]);
            beyond.flat_map(|triangle| camera.projected(triangle))
        };
        let triangles: Vec<_> = batch.par_iter().flat_map_iter(seen).collect();
        raster.draw(&triangles, |value| colour(value, range, &colours));
    });
    let (name, unit) = title_of_volume(scene, quantity);
    Legend {
        title: titled(&name, unit),
        key: Key::Range(range, colours),
    }
}

/// Values of fluid leaf cells, of about a million at most.
fn some_values<const D: usize>(scene: Scene<'_, D>, quantity: Quantity) -> Vec<f32> {
    let (mesh, cells) = (scene.mesh, dims::cells(D));
    let leaves = mesh
        .forest
        .ids()
        .filter(|&b| mesh.forest.first_child[b as usize] == cutlink_amr::NONE);
    let leaves: Vec<u32> = leaves.collect();
    let every = (leaves.len() * cells / 1_000_000 + 1) | 1;
    let places = (0..leaves.len() * cells).step_by(every);
    let cell = |i: usize| CellRef {
        block: leaves[i / cells],
        cell: (i % cells) as u32,
    };
    let is_fluid = |at: &CellRef| mesh.classes.solid[at.block as usize] >> at.cell & 1 == 0;
    let fluid = places.map(cell).filter(is_fluid);
    fluid
        .map(|at| scene.in_volume(quantity, at) as f32)
        .collect()
}

/// The name of a quantity in three dimensions, and its unit.
fn title_of_volume<'a, const D: usize>(
    scene: Scene<'a, D>,
    quantity: Quantity,
) -> (String, &'a str) {
    let (name, unit) = title_of(scene, quantity, 2);
    match quantity {
        Quantity::Vorticity => (name.trim_end_matches(" z").to_owned(), &unit.name),
        _ => (name, &unit.name),
    }
}

/// The samples with text above and legends below.
fn composed<const D: usize>(
    scene: Scene<'_, D>,
    spec: &RenderSpec,
    camera: &Camera,
    raster: &Raster,
    legends: &[Legend],
    note: Option<String>,
) -> Canvas {
    let text = text_size(spec.width);
    let (line, margin) = (text_height(text), margin_of(spec.width));
    let [width, height] = spec.pixels();
    let top = 2 * margin + line;
    let below = top + height + margin;
    let footer = match legends.is_empty() {
        true => 0,
        false => 4 * margin + 3 * line,
    };
    let mut canvas = Canvas::new([width, below + footer]);
    for (i, pixel) in raster.pixels().into_iter().enumerate() {
        canvas.set([i % width, top + i / width], pixel);
    }
    if width >= triad::LEAST_WIDTH {
        let edge = (height / 5).min(width / 8);
        triad::draw(&mut canvas, [margin, top + height, edge], camera, text);
    }
    if width >= triad::LEAST_WIDTH {
        scale_bar(
            &mut canvas,
            [width - margin, top + height - margin],
            camera,
            text,
        );
    }
    if let Some(note) = note {
        canvas.text([margin, margin], text, &note, INK);
    }
    let time = &scene.units.time;
    let when = format!("t = {} {}", number(scene.time(), 4), printed(&time.name));
    let from = (width - margin).saturating_sub(text_width(&when, text));
    canvas.text([from, margin], text, &when, INK);
    let share = width / legends.len().max(1);
    for (i, what) in legends.iter().enumerate() {
        let (left, side) = (i * share, share / 8);
        let middle = left + share / 2;
        let from = middle.saturating_sub(text_width(&what.title, text) / 2);
        canvas.text([from, below], text, &what.title, INK);
        let top = below + line + margin;
        let rect = [left + side, top, left + share - side, top + 3 * margin / 2];
        match &what.key {
            Key::Range(range, colours) => legend(&mut canvas, rect, *range, colours, text),
            Key::Levels(first, last) => swatches(&mut canvas, rect, *first..=*last, text),
        }
    }
    canvas
}

/// A round length at the distance of the point in the middle, in the length unit of the mesh, as a bar; `at` is its right end.
fn scale_bar(canvas: &mut Canvas, [right, bottom]: [usize; 2], camera: &Camera, text: f32) {
    let scale = camera.pixels_per_length();
    let most = canvas.size[0] as f64 / 8.0 / scale;
    let power = 10f64.powf(most.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|n| n * power);
    let long = steps.into_iter().find(|&n| n <= most).unwrap_or(power);
    let wide = (long * scale).round() as usize;
    let thick = (text / 6.0).round().max(2.0) as usize;
    let left = right.saturating_sub(wide);
    canvas.fill([left, bottom - thick, right, bottom], INK);
    for x in [left, right.saturating_sub(thick)] {
        canvas.fill([x, bottom - 3 * thick, x + thick, bottom], INK);
    }
    let words = significant(long, 1);
    let from = ((left + right) / 2).saturating_sub(text_width(&words, text) / 2);
    let above = bottom.saturating_sub(4 * thick + text_height(text));
    canvas.text([from, above], text, &words, INK);
}

/// A swatch with a number below for each level.
fn swatches(canvas: &mut Canvas, rect: Rect, levels: RangeInclusive<usize>, text: f32) {
    let [left, top, right, bottom] = rect;
    let side = bottom - top;
    let pitch = (right - left) / levels.clone().count().max(1);
    for (i, level) in levels.enumerate() {
        let middle = left + i * pitch + pitch / 2;
        let from = middle - (side / 2).min(middle);
        canvas.swatch([from, top, from + side, bottom], of_level(level));
        let words = level.to_string();
        let from = middle.saturating_sub(text_width(&words, text) / 2);
        canvas.text(
            [from, bottom + text_height(text) * 3 / 4],
            text,
            &words,
            INK,
        );
    }
}

#[cfg(test)]
mod tests;
