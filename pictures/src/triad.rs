//! The directions of the axes, as three arrows in the lower left corner of a render.

use crate::camera::{Camera, cross, sub};
use crate::canvas::{Canvas, INK, PAPER, Rgb};
use crate::raster::{Corner, Raster};
use crate::text::{text_height, text_width};

/// Colours of x, y and z.
const COLOURS: [Rgb; 3] = [[204, 61, 51], [64, 145, 77], [51, 92, 191]];
/// Where a head begins, and half the widths of shaft and head; arrows are 1 long.
const HEAD: f64 = 0.72;
const THIN: f64 = 0.035;
const WIDE: f64 = 0.11;
/// Where the names are.
const NAME: f64 = 1.2;
/// Pictures narrower than this have none.
pub const LEAST_WIDTH: usize = 600;

/// Draws the arrows with their names into a square of a canvas, whose corners are its left and lower end and its edge.
pub fn draw(canvas: &mut Canvas, [left, bottom, edge]: [usize; 3], camera: &Camera, text: f32) {
    let camera = camera.of_directions([edge; 2], 2.0 * NAME + 0.4);
    let mut raster = Raster::new([edge; 2]);
    for axis in 0..3 {
        raster.draw(&arrow(axis, &camera), |_| COLOURS[axis]);
    }
    let top = bottom - edge;
    for (i, pixel) in raster.pixels().into_iter().enumerate() {
        if pixel != PAPER {
            canvas.set([left + i % edge, top + i / edge], pixel);
        }
    }
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let tip = std::array::from_fn(|a| if a == axis { NAME } else { 0.0 });
        let [x, y] = camera.on_screen(tip);
        let from = (left as f32 + x).max(0.0) as usize;
        let middle = (top as f32 + y).max(0.0) as usize;
        let from = [
            from.saturating_sub(text_width(name, text) / 2),
            middle.saturating_sub(text_height(text) / 2),
        ];
        canvas.text(from, text, name, INK);
    }
}

/// A shaft with a square cross-section and a pyramid.
fn arrow(axis: usize, camera: &Camera) -> Vec<[Corner; 3]> {
    let at = |along: f64, half: f64, corner: usize| {
        let sides = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]][corner % 4];
        let mut place = [0.0; 3];
        place[axis] = along;
        place[(axis + 1) % 3] = half * sides[0];
        place[(axis + 2) % 3] = half * sides[1];
        place
    };
    let tip = at(1.0, 0.0, 0);
    let mut triangles = Vec::new();
    for side in 0..4 {
        let shaft = [at(0.0, THIN, side), at(0.0, THIN, side + 1)];
        let neck = [at(HEAD, THIN, side), at(HEAD, THIN, side + 1)];
        let rim = [at(HEAD, WIDE, side), at(HEAD, WIDE, side + 1)];
        triangles.extend([
            [shaft[0], shaft[1], neck[1]],
            [shaft[0], neck[1], neck[0]],
            [rim[0], rim[1], tip],
            [rim[0], at(HEAD, 0.0, 0), rim[1]],
        ]);
    }
    let seen = |[p, q, r]: [[f64; 3]; 3]| {
        let normal = cross(sub(q, p), sub(r, p));
        camera.projected([p, q, r].map(|place| camera.see(place, normal, 0.0)))
    };
    triangles.into_iter().flat_map(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::Viewpoint;

    /// Along y from the lower side: x points right, z up, and y away from the eye.
    #[test]
    fn arrows_point_where_the_axes_do() {
        let spec = Viewpoint {
            from: Some([0.5, -9.0, 0.0]),
            at: Some([0.0; 3]),
            ..Viewpoint::default()
        };
        let camera = Camera::new(&spec, [[-1.0; 3], [1.0; 3]], [800, 400]).expect("a camera");
        let mut canvas = Canvas::new([120, 120]);
        draw(&mut canvas, [0, 120, 120], &camera, 9.0);
        let mut file = Vec::new();
        canvas.write_png(&mut file).expect("written");
        let (_, pixels) = crate::png_kit::decoded(&file);
        let middle = |colour: Rgb| {
            let is = |p: Rgb| {
                let strongest = |c: Rgb| (0..3).max_by_key(|&k| c[k]);
                let grey = p.iter().max() == p.iter().min();
                !grey && strongest(p) == strongest(colour)
            };
            let all = (0..120 * 120).map(|i| [i % 120, i / 120]);
            let found: Vec<[usize; 2]> =
                all.filter(|&at| is(pixels[at[0] + 120 * at[1]])).collect();
            let mean =
                |a: usize| found.iter().map(|p| p[a] as f64).sum::<f64>() / found.len() as f64;
            [mean(0) - 60.0, mean(1) - 60.0]
        };
        let [x, y, z] = COLOURS.map(middle);
        assert!(x[0] > 10.0 && x[1].abs() < 4.0, "x points right: {x:?}");
        assert!(z[1] < -10.0 && z[0].abs() < 4.0, "z points up: {z:?}");
        assert!(y[0].abs() < 6.0 && y[1].abs() < 4.0, "y points away: {y:?}");
    }
}
