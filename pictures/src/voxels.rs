//! A picture of the solid cells of a level in three dimensions, under a light, without a display.
//!
//! In: a mesh, a level and a direction of view. Out: the faces between solid and other cells ([`crate::solid_stl`]), seen from
//! a distance from which all of them are in the picture, with the directions of the axes. Determinism: the same bytes for the
//! same mesh. Cost: that of the surface, and the pixels that it covers.

use crate::camera::{Camera, Viewpoint, cross, length, sub};
use crate::canvas::{Canvas, INK, Rgb};
use crate::raster::Raster;
use crate::scale::significant;
use crate::solid_stl::solid_surface;
use crate::{margin_of, text, text_size, triad};
use cutlink_mesher::Surface;
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// Faces that look up, to the left, to the right and down.
const FACES: [Rgb; 4] = [
    [222, 230, 238],
    [178, 192, 207],
    [128, 144, 162],
    [88, 102, 120],
];
/// Width over height.
const ASPECT: f64 = 1.35;
const ANGLE: f64 = 24.0;

/// What to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct VoxelOptions {
    /// The level.
    pub level: usize,
    /// The direction from the body to the eye; of any length. `None`: upstream along x, to the side and above.
    pub view: Option<[f64; 3]>,
    /// The axis that points up.
    pub up: usize,
    /// Width of the picture in pixels.
    pub width: u32,
}

/// Draws the solid cells of a level; `None` without any.
///
/// # Errors
/// A view along the axis that points up.
pub fn draw(mesh: &Mesh<3>, options: &VoxelOptions) -> Result<Option<Canvas>, String> {
    let surface = solid_surface(mesh, options.level).filter(|s| !s.facets.is_empty());
    let Some(surface) = surface else {
        return Ok(None);
    };
    let size = [
        options.width as usize,
        (f64::from(options.width) / ASPECT) as usize,
    ];
    let camera = camera(&surface, options, size)?;
    let mut raster = Raster::new(size);
    let triangles: Vec<_> = surface
        .facets
        .par_iter()
        .flat_map_iter(|facet| {
            let places = facet.map(|v| surface.vertices[v as usize]);
            let normal = cross(sub(places[1], places[0]), sub(places[2], places[0]));
            let face = face(&camera, normal, options.up);
            // Without a normal, colours are as given.
            camera.projected(places.map(|place| camera.see(place, [0.0; 3], face)))
        })
        .collect();
    raster.draw(&triangles, |face| FACES[face as usize]);
    for pixels in [2, 9] {
        raster.deepen(pixels, |near| camera.depth(near));
    }
    let mut canvas = Canvas::new(size);
    for (i, pixel) in raster.pixels().into_iter().enumerate() {
        canvas.set([i % size[0], i / size[0]], pixel);
    }
    let (text, margin) = (text_size(options.width), margin_of(options.width));
    if size[0] >= triad::LEAST_WIDTH {
        let edge = (size[1] / 5).min(size[0] / 8);
        triad::draw(&mut canvas, [margin, size[1], edge], &camera, text);
    }
    let edge = significant(mesh.frame.dx_at(options.level), 4);
    let words = format!("solid cells of level {}, edge {edge}", options.level);
    let from = size[0].saturating_sub(margin + text::text_width(&words, text));
    let top = size[1] - margin - text::text_height(text);
    canvas.text([from, top], text, &words, INK);
    Ok(Some(canvas))
}

/// The kind of a face, by its normal: an index of [`FACES`].
fn face(camera: &Camera, normal: [f64; 3], up: usize) -> f32 {
    let size = length(normal);
    match (normal[up] / size, camera.turned(normal)[0]) {
        (along, _) if along > 0.5 => 0.0,
        (along, _) if along < -0.5 => 3.0,
        (_, right) if right < 0.0 => 1.0,
        _ => 2.0,
    }
}

/// A camera that sees all of a surface, as large as it gets.
fn camera(
    surface: &Surface<3>,
    options: &VoxelOptions,
    size: [usize; 2],
) -> Result<Camera, String> {
    let first = surface.vertices[0];
    let wider = |[low, high]: [[f64; 3]; 2], p: &[f64; 3]| {
        [
            std::array::from_fn(|a| f64::min(low[a], p[a])),
            std::array::from_fn(|a| f64::max(high[a], p[a])),
        ]
    };
    let bounds = surface.vertices.iter().fold([first; 2], wider);
    let mut up = [0.0; 3];
    up[options.up] = 1.0;
    let [low, high] = bounds;
    let at: [f64; 3] = std::array::from_fn(|a| (low[a] + high[a]) / 2.0);
    let mut pose = Viewpoint {
        at: Some(at),
        up: Some(up),
        angle: Some(ANGLE),
        from: options.view.map(|view| {
            let far = length(sub(high, low)) / length(view) * 2.5;
            std::array::from_fn(|a| at[a] + far * view[a])
        }),
        ..Viewpoint::default()
    };
    let camera = Camera::new(&pose, bounds, size)?;
    // The part of half the picture that the corners need; the angle is made to fit.
    let needed = (0..8).map(|corner: usize| {
        let place = std::array::from_fn(|a| bounds[corner >> a & 1][a]);
        let seen = camera.on_screen(place);
        let off = |a: usize| (f64::from(seen[a]) / (size[a] as f64 / 2.0) - 1.0).abs();
        off(0).max(off(1))
    });
    let share = needed.fold(0.0, f64::max).clamp(0.1, 3.0);
    let half = (ANGLE.to_radians() / 2.0).tan() * share * 1.06;
    pose.angle = Some(2.0 * half.atan().to_degrees());
    // Without a view, the eye depends on the angle.
    pose.from = pose.from.or(Some(camera.eye()));
    Camera::new(&pose, bounds, size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::PAPER;
    use crate::files_kit::ball_mesh;

    #[test]
    fn the_body_is_all_in_the_picture_and_fills_it() {
        let mesh = ball_mesh([4, 4, 4], 2);
        for (view, up) in [
            (None, 2),
            (Some([0.0, 1.0, 0.3]), 0),
            (Some([-2.0, 0.5, 0.1]), 1),
        ] {
            let options = VoxelOptions {
                level: 1,
                view,
                up,
                width: 540,
            };
            let canvas = draw(&mesh, &options).expect("a view").expect("solid cells");
            let mut file = Vec::new();
            canvas.write_png(&mut file).expect("written");
            let ([width, height], pixels) = crate::png_kit::decoded(&file);
            // Above the words.
            let body = |x: usize, y: usize| y + 30 < height && pixels[y * width + x] != PAPER;
            let all = || (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
            let found: Vec<[usize; 2]> = all().filter(|&[x, y]| body(x, y)).collect();
            let range = |a: usize| {
                let along = || found.iter().map(|p| p[a]);
                [along().min().expect("seen"), along().max().expect("seen")]
            };
            let ([left, right], [top, _]) = (range(0), range(1));
            assert!(
                left > 0 && right < width - 1 && top > 0,
                "{view:?}: all of it"
            );
            let share = found.len() as f64 / (width * height) as f64;
            assert!(share > 0.15, "{view:?}: {share} of the picture");
        }
        let along = VoxelOptions {
            level: 1,
            view: Some([0.0, 0.0, 3.0]),
            up: 2,
            width: 540,
        };
        assert!(
            draw(&mesh, &along).is_err(),
            "along the axis that points up"
        );
    }
}
