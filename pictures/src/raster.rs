//! Triangles with a z-buffer, several samples per pixel.

use crate::canvas::{PAPER, Rgb};
use rayon::prelude::*;

/// Samples of a pixel along each axis.
pub const SAMPLES: usize = 3;
/// Bytes per pixel: nearness, depth and colour of its samples.
pub const PIXEL_BYTES: usize = SAMPLES * SAMPLES * (2 * size_of::<f32>() + size_of::<Rgb>());
/// Rows of pixels that a thread draws at a time.
const BAND: usize = 8;

/// Neighbours whose depth matters, how strongly it does, and the largest difference that counts, in
/// doublings of the distance.
const AROUND: [[isize; 2]; 8] = [
    [1, 0],
    [1, 1],
    [0, 1],
    [-1, 1],
    [-1, 0],
    [-1, -1],
    [0, -1],
    [1, -1],
];
const DEPTH_LIGHT: f32 = 14.0;
const DEEPEST: f32 = 0.06;

/// A corner of a triangle on the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corner {
    /// In pixels from the upper left corner.
    pub at: [f32; 2],
    /// Larger for nearer points; linear on the screen.
    pub near: f32,
    /// Normal of the surface in the axes of the camera: right, up, towards the eye; of any length and sign.
    pub normal: [f32; 3],
    /// What the colour depends on.
    pub value: f32,
}

/// A sphere on the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScreenBall {
    /// Its centre, in pixels from the upper left corner.
    pub at: [f32; 2],
    /// Its radius in pixels.
    pub radius: f32,
    /// Nearness of its centre and of its nearest point; between them by the height over the centre.
    pub near: [f32; 2],
    /// What the colour depends on.
    pub value: f32,
}

/// The samples of a picture.
#[derive(Debug)]
pub struct Raster {
    size: [usize; 2],
    near: Vec<f32>,
    colour: Vec<Rgb>,
}

impl Raster {
    /// An empty picture of some pixels.
    pub fn new(size: [usize; 2]) -> Self {
        let samples = size[0] * size[1] * SAMPLES * SAMPLES;
        Self {
            size,
            near: vec![f32::NEG_INFINITY; samples],
            colour: vec![PAPER; samples],
        }
    }

    /// Draws triangles; `paint` gives the colour of a value before shading. Of equally near triangles the first one is
    /// seen. Values and normals are interpolated linearly on the screen, so triangles should be small.
    pub fn draw(&mut self, triangles: &[[Corner; 3]], paint: impl Fn(f32) -> Rgb + Sync) {
        let spans = triangles.iter().map(|triangle| {
            let ys = triangle.map(|c| c.at[1]);
            let low = ys.iter().copied().fold(f32::MAX, f32::min);
            [low, ys.iter().copied().fold(f32::MIN, f32::max)]
        });
        self.in_strips(spans, |strip, i| strip.draw(&triangles[i], &paint));
    }

    /// Draws spheres, with exact depth where they meet; `paint` gives the colour of a value before shading.
    pub fn draw_balls(&mut self, balls: &[ScreenBall], paint: impl Fn(f32) -> Rgb + Sync) {
        let spans = balls
            .iter()
            .map(|ball| [ball.at[1] - ball.radius, ball.at[1] + ball.radius]);
        self.in_strips(spans, |strip, i| strip.draw_ball(&balls[i], &paint));
    }

    /// Draws things in rows of samples, each in those between its smallest and its largest height in pixels.
    fn in_strips(
        &mut self,
        spans: impl Iterator<Item = [f32; 2]>,
        draw: impl Fn(&mut Strip<'_>, usize) + Sync,
    ) {
        let width = self.size[0] * SAMPLES;
        let rows = BAND * SAMPLES;
        let bands = self.near.len() / width / rows + 1;
        let mut bins = vec![Vec::new(); bands];
        for (i, span) in spans.enumerate() {
            let [low, high] = span.map(|y| y * SAMPLES as f32);
            let low = low.max(0.0);
            if !(high >= 0.0 && (low as usize) < self.size[1] * SAMPLES) {
                continue;
            }
            let last = (high as usize / rows).min(bands - 1);
            for bin in &mut bins[low as usize / rows..=last] {
                bin.push(i as u32);
            }
        }
        self.near
            .par_chunks_mut(width * rows)
            .zip(self.colour.par_chunks_mut(width * rows))
            .zip(&bins)
            .enumerate()
            .for_each(|(band, ((near, colour), bin))| {
                let mut strip = Strip {
                    width,
                    top: band * rows,
                    near,
                    colour,
                };
                for &i in bin {
                    draw(&mut strip, i as usize);
                }
            });
    }

    /// Darkens what lies behind nearer things beside it, so that edges and depth are seen without shadows (eye-dome lighting;
    /// Boucheny 2009). `depth` is the distance of what is so near, in any unit; what is some pixels apart counts.
    pub fn deepen(&mut self, pixels: usize, depth: impl Fn(f32) -> f64 + Sync) {
        let width = self.size[0] * SAMPLES;
        let height = self.near.len() / width.max(1);
        let far: Vec<f32> = (self.near.par_iter())
            .map(|&near| match near.is_finite() {
                true => depth(near).max(f64::MIN_POSITIVE).log2() as f32,
                false => f32::INFINITY,
            })
            .collect();
        let off = (SAMPLES * pixels) as isize;
        let light = |i: usize| {
            let (x, y) = ((i % width) as isize, (i / width) as isize);
            let mut sum = 0.0;
            for [right, down] in AROUND {
                let (x, y) = (x + right * off, y + down * off);
                let inside = x >= 0 && y >= 0 && x < width as isize && y < height as isize;
                let beside = if inside {
                    far[y as usize * width + x as usize]
                } else {
                    far[i]
                };
                sum += (far[i] - beside).clamp(0.0, DEEPEST);
            }
            (-DEPTH_LIGHT * sum / AROUND.len() as f32).exp()
        };
        self.colour
            .par_iter_mut()
            .enumerate()
            .for_each(|(i, colour)| {
                if far[i].is_finite() {
                    let light = light(i);
                    *colour = colour.map(|c| (f32::from(c) * light).round() as u8);
                }
            });
    }

    /// The means of the samples of each pixel, row by row.
    pub fn pixels(&self) -> Vec<Rgb> {
        let [width, height] = self.size;
        let count = (SAMPLES * SAMPLES) as u32;
        let pixel = |i: usize| {
            let (x, y) = (i % width * SAMPLES, i / width * SAMPLES);
            let mut sum = [0u32; 3];
            for row in y..y + SAMPLES {
                for colour in &self.colour[row * width * SAMPLES + x..][..SAMPLES] {
                    sum = std::array::from_fn(|c| sum[c] + u32::from(colour[c]));
                }
            }
            sum.map(|s| ((s + count / 2) / count) as u8)
        };
        (0..width * height).into_par_iter().map(pixel).collect()
    }
}

/// Rows of samples.
struct Strip<'a> {
    width: usize,
    top: usize,
    near: &'a mut [f32],
    colour: &'a mut [Rgb],
}

impl Strip<'_> {
    fn draw(&mut self, triangle: &[Corner; 3], paint: &impl Fn(f32) -> Rgb) {
        let at = triangle.map(|c| c.at.map(|x| f64::from(x) * SAMPLES as f64 - 0.5));
        let cross = |p: [f64; 2], q: [f64; 2], r: [f64; 2]| {
            (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
        };
        let area = cross(at[0], at[1], at[2]);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let rows = self.near.len() / self.width;
        let span = |a: usize, first: usize, count: usize| {
            let along = at.map(|p| p[a]);
            let low = along.iter().copied().fold(f64::MAX, f64::min).ceil();
            let high = along.iter().copied().fold(f64::MIN, f64::max).floor();
            let (first, end) = (first as f64, (first + count) as f64);
            (low.max(first) as usize)..((high + 1.0).clamp(first, end) as usize)
        };
        for y in span(1, self.top, rows) {
            for x in span(0, 0, self.width) {
                let p = [x as f64, y as f64];
                let weights = [
                    cross(p, at[1], at[2]) / area,
                    cross(p, at[2], at[0]) / area,
                    cross(p, at[0], at[1]) / area,
                ];
                if weights.iter().any(|&w| w < 0.0) {
                    continue;
                }
                let mixed = |of: &dyn Fn(&Corner) -> f32| -> f32 {
                    let terms = triangle.iter().zip(weights);
                    terms.map(|(c, w)| f64::from(of(c)) * w).sum::<f64>() as f32
                };
                let near = mixed(&|c| c.near);
                let i = (y - self.top) * self.width + x;
                if near > self.near[i] {
                    self.near[i] = near;
                    let normal = std::array::from_fn(|a| mixed(&|c| c.normal[a]));
                    self.colour[i] = shaded(paint(mixed(&|c| c.value)), normal);
                }
            }
        }
    }

    fn draw_ball(&mut self, ball: &ScreenBall, paint: &impl Fn(f32) -> Rgb) {
        let scaled = SAMPLES as f32;
        let [x0, y0] = ball.at.map(|x| x * scaled - 0.5);
        let radius = ball.radius * scaled;
        if !(radius > 0.0 && radius.is_finite() && x0.is_finite() && y0.is_finite()) {
            return;
        }
        let rows = self.near.len() / self.width;
        let span = |middle: f32, first: usize, count: usize| {
            let (first, end) = (first as f32, (first + count) as f32);
            let (low, high) = ((middle - radius).ceil(), (middle + radius).floor());
            (low.max(first) as usize)..((high + 1.0).clamp(first, end) as usize)
        };
        let colour = paint(ball.value);
        for y in span(y0, self.top, rows) {
            for x in span(x0, 0, self.width) {
                let (right, down) = ((x as f32 - x0) / radius, (y as f32 - y0) / radius);
                let height = 1.0 - right * right - down * down;
                if height < 0.0 {
                    continue;
                }
                let height = height.sqrt();
                let near = ball.near[0] + height * (ball.near[1] - ball.near[0]);
                let i = (y - self.top) * self.width + x;
                if near > self.near[i] {
                    self.near[i] = near;
                    self.colour[i] = shaded(colour, [right, -down, height]);
                }
            }
        }
    }
}

/// A colour under a light beside the eye, upper left of it, and light from everywhere (Lambert); both sides alike.
fn shaded(colour: Rgb, normal: [f32; 3]) -> Rgb {
    const LIGHT: [f32; 3] = [-0.35, 0.45, 0.82];
    const AMBIENT: f32 = 0.42;
    let length = normal.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length == 0.0 || !length.is_finite() {
        return colour;
    }
    let side = if normal[2] < 0.0 { -1.0 } else { 1.0 };
    let along: f32 = (0..3).map(|a| side * normal[a] / length * LIGHT[a]).sum();
    let light = AMBIENT + (1.06 - AMBIENT) * along.max(0.0);
    colour.map(|c| (f32::from(c) * light).round().min(255.0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: f32, y: f32, near: f32, value: f32) -> Corner {
        Corner {
            at: [x, y],
            near,
            normal: [-0.35, 0.45, 0.82],
            value,
        }
    }

    fn grey(value: f32) -> Rgb {
        [value as u8; 3]
    }

    #[test]
    fn triangles_cover_their_area_and_the_nearer_one_is_seen() {
        let mut raster = Raster::new([60, 40]);
        // Right triangles with legs of 30 and 20 pixels; they overlap in a region computed by hand.
        let far = [
            corner(5.0, 5.0, 1.0, 0.0),
            corner(35.0, 5.0, 1.0, 0.0),
            corner(5.0, 25.0, 1.0, 0.0),
        ];
        let near = [
            corner(5.0, 5.0, 2.0, 100.0),
            corner(20.0, 5.0, 2.0, 100.0),
            corner(5.0, 15.0, 2.0, 100.0),
        ];
        let share = |raster: &Raster, colour: u8| {
            let hits = raster
                .colour
                .iter()
                .filter(|c| c[0].abs_diff(colour) < 8)
                .count();
            hits as f64 / (SAMPLES * SAMPLES) as f64
        };
        for order in [[near, far], [far, near]] {
            raster = Raster::new([60, 40]);
            raster.draw(&order, grey);
            assert!(
                (share(&raster, 106) - 75.0).abs() < 2.0,
                "{}",
                share(&raster, 106)
            );
            assert!(
                (share(&raster, 0) - 225.0).abs() < 3.0,
                "{}",
                share(&raster, 0)
            );
        }
        assert!(share(&raster, PAPER[0]) > 2000.0, "the rest is paper");
    }

    #[test]
    fn what_lies_behind_an_edge_is_darker_beside_it() {
        let square = |left: f32, right: f32, near: f32| {
            let [a, b, c, d] = [(left, 0.0), (right, 0.0), (right, 40.0), (left, 40.0)]
                .map(|(x, y)| corner(x, y, near, 100.0));
            [[a, b, c], [a, c, d]]
        };
        let mut raster = Raster::new([60, 40]);
        raster.draw(&square(0.0, 60.0, 1.0), grey);
        raster.draw(&square(0.0, 20.0, 2.0), grey);
        let before = raster.pixels();
        raster.deepen(2, |near| 1.0 / f64::from(near));
        let after = raster.pixels();
        let row = |x: usize| (before[20 * 60 + x][0], after[20 * 60 + x][0]);
        for x in [5, 15, 30, 50] {
            let (before, after) = row(x);
            assert_eq!(before, after, "column {x} is even");
        }
        let (before, after) = row(20);
        assert!(after < before - 5, "behind the edge: {before} to {after}");
        assert_eq!(row(19).0, row(19).1, "the edge itself");
    }

    #[test]
    fn two_triangles_of_a_square_leave_no_gap() {
        let at = |x: f32, y: f32| corner(x, y, 1.0, 0.0);
        let [a, b, c, d] = [at(3.3, 2.1), at(51.7, 8.9), at(47.2, 36.4), at(6.8, 31.5)];
        let mut raster = Raster::new([60, 40]);
        raster.draw(&[[a, b, c], [a, c, d]], grey);
        let inside = raster.pixels();
        for y in 12..28 {
            for x in 10..44 {
                assert_eq!(inside[y * 60 + x], [0; 3], "pixel {x}, {y}");
            }
        }
    }

    #[test]
    fn spheres_cover_their_discs_and_meet_in_a_circle() {
        let ball = |x: f32, near: f32, value: f32| ScreenBall {
            at: [x, 20.0],
            radius: 10.0,
            near: [near, near + 10.0],
            value,
        };
        let share = |raster: &Raster, is: &dyn Fn(Rgb) -> bool| {
            let hits = raster.colour.iter().filter(|c| is(**c)).count();
            hits as f64 / (SAMPLES * SAMPLES) as f64
        };
        let mut raster = Raster::new([60, 40]);
        raster.draw_balls(&[ball(30.0, 0.0, 0.0)], grey);
        let disc = share(&raster, &|c| c == [0; 3]);
        assert!(
            (disc / (std::f64::consts::PI * 100.0) - 1.0).abs() < 5e-3,
            "{disc}"
        );
        // Two equal spheres, 10 pixels apart, part in the plane between them: half of the common outline each.
        let lit = |c: Rgb| c != PAPER && c[0] > 0;
        for order in [[0, 1], [1, 0]] {
            let both = [ball(25.0, 0.0, 0.0), ball(35.0, 0.0, 200.0)];
            let mut raster = Raster::new([60, 40]);
            raster.draw_balls(&order.map(|i| both[i]), grey);
            let (dark, light) = (share(&raster, &|c| c == [0; 3]), share(&raster, &lit));
            assert!((dark / light - 1.0).abs() < 0.02, "{dark} and {light}");
            // A disc without a segment of 5 pixels beside its middle.
            let segment = 100.0 * (0.5f64.acos() - 0.5 * 0.75f64.sqrt());
            let whole = std::f64::consts::PI * 100.0 - segment;
            assert!((dark / whole - 1.0).abs() < 0.01, "{dark} of {whole}");
        }
    }

    #[test]
    fn values_are_linear_and_pixels_are_means() {
        let mut raster = Raster::new([64, 8]);
        let (left, right) = (
            |y| corner(0.0, y, 1.0, 0.0),
            |y| corner(64.0, y, 1.0, 128.0),
        );
        raster.draw(
            &[
                [left(0.0), right(0.0), right(8.0)],
                [left(0.0), right(8.0), left(8.0)],
            ],
            grey,
        );
        let lit = f64::from(shaded([100; 3], [-0.35, 0.45, 0.82])[0]) / 100.0;
        for (x, pixel) in raster.pixels()[3 * 64..4 * 64].iter().enumerate() {
            let exact = (x as f64 + 0.5) * 2.0 * lit;
            assert!(
                (f64::from(pixel[0]) - exact).abs() < 2.0,
                "{x}: {pixel:?}, not {exact}"
            );
        }
    }
}
