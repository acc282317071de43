//! The camera of a picture in three dimensions: from points in the length unit of the mesh to the screen.

use crate::raster::{Corner, ScreenBall};

/// Default angle of view from the lower to the upper edge, in degrees.
const ANGLE: f64 = 30.0;

/// Where a camera is; what is missing depends on what is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Viewpoint {
    /// The eye. Default: upstream of the bodies along x, to their side and above them, at a distance from which all of them are
    /// seen.
    pub from: Option<[f64; 3]>,
    /// The point in the middle of the picture. Default: the middle of the bodies' box.
    pub at: Option<[f64; 3]>,
    /// The direction that points up in the picture. Default: z.
    pub up: Option<[f64; 3]>,
    /// Angle of view from the lower to the upper edge, in degrees. Default: 30.
    pub angle: Option<f64>,
    /// Distance between the lower and the upper edge of a parallel projection, instead of `angle`.
    pub height: Option<f64>,
}

/// A camera in front of a picture of some pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    from: [f64; 3],
    /// Right, up, and towards the eye.
    axes: [[f64; 3]; 3],
    /// Pixels per unit of length, at distance 1 if the projection has a centre.
    scale: f64,
    has_centre: bool,
    middle: [f64; 2],
    nearest: f64,
    /// Distance of the point in the middle of the picture.
    focus: f64,
}

/// A corner of a triangle in the axes of the camera: right, up, towards the eye.
#[derive(Debug, Clone, Copy)]
pub struct ViewedCorner {
    /// From the eye.
    at: [f64; 3],
    normal: [f64; 3],
    value: f32,
}

impl Camera {
    /// The camera of a picture of bodies within a box.
    ///
    /// # Errors
    /// An eye in the middle of the picture, or above or below it along `up`.
    pub fn new(
        spec: &Viewpoint,
        [low, high]: [[f64; 3]; 2],
        pixels: [usize; 2],
    ) -> Result<Self, String> {
        let radius = (length(sub(high, low)) / 2.0).max(1e-12);
        let at = spec
            .at
            .unwrap_or(std::array::from_fn(|a| (low[a] + high[a]) / 2.0));
        let up = unit(spec.up.unwrap_or([0.0, 0.0, 1.0]));
        let angle = spec.angle.unwrap_or(ANGLE).to_radians();
        let from = spec.from.unwrap_or_else(|| {
            let along = if up[0].abs() > 0.9 {
                [0.0, 1.0, 0.0]
            } else {
                [1.0, 0.0, 0.0]
            };
            let side = unit(cross(along, up));
            let ahead = cross(up, side);
            let aside = |a: usize| -0.62 * ahead[a] + 0.66 * side[a] + 0.42 * up[a];
            let distance = 1.05 * radius / (angle / 2.0).sin();
            std::array::from_fn(|a| at[a] + distance * aside(a))
        });
        let back = sub(from, at);
        if length(back) == 0.0 {
            return Err("camera: from and at are the same point".into());
        }
        let back = unit(back);
        let right = cross(up, back);
        if length(right) < 1e-9 {
            return Err("camera: up points along the view".into());
        }
        let right = unit(right);
        let height = pixels[1] as f64;
        Ok(Self {
            from,
            axes: [right, cross(back, right), back],
            scale: match spec.height {
                Some(visible) => height / visible,
                None => height / 2.0 / (angle / 2.0).tan(),
            },
            has_centre: spec.height.is_none(),
            middle: pixels.map(|n| n as f64 / 2.0),
            nearest: 1e-3 * length(sub(from, at)),
            focus: length(sub(from, at)),
        })
    }

    /// The place of the eye.
    pub fn eye(&self) -> [f64; 3] {
        self.from
    }

    /// A direction from a place to the eye, of any length.
    pub fn towards_eye(&self, place: [f64; 3]) -> [f64; 3] {
        match self.has_centre {
            true => sub(self.from, place),
            false => self.axes[2],
        }
    }

    /// A sphere on the screen, with a value; none where it reaches behind the eye. With a centre of projection its outline is an
    /// ellipse, drawn as the circle of its radius at its distance.
    pub fn ball(&self, center: [f64; 3], radius: f64, value: f32) -> Option<ScreenBall> {
        let corner = |toward: f64| {
            let seen = self.see(center, [0.0; 3], value);
            let mut at = seen.at;
            at[2] += toward;
            let before = -at[2] - self.nearest;
            (!self.has_centre || before > 0.0).then(|| self.corner(ViewedCorner { at, ..seen }))
        };
        let (middle, pole) = (corner(0.0)?, corner(radius)?);
        let scale = match self.has_centre {
            true => self.scale * f64::from(middle.near),
            false => self.scale,
        };
        Some(ScreenBall {
            at: middle.at,
            radius: (scale * radius) as f32,
            near: [middle.near, pole.near],
            value,
        })
    }

    /// Pixels per unit of length, at the distance of the point in the middle of the picture.
    pub fn pixels_per_length(&self) -> f64 {
        match self.has_centre {
            true => self.scale / self.focus,
            false => self.scale,
        }
    }

    /// The distance from the eye of what is so near on the screen, over that of the point in the middle.
    pub fn depth(&self, near: f32) -> f64 {
        match self.has_centre {
            true => 1.0 / (f64::from(near) * self.focus),
            false => -f64::from(near) / self.focus,
        }
    }

    /// An edge as a band on the screen, some pixels wide and slightly in front of what it lies on; the part before the eye.
    pub fn band(&self, ends: [[f64; 3]; 2], wide: f64) -> Option<[[Corner; 3]; 2]> {
        let [p, q] = ends.map(|place| self.see(place, [0.0; 3], 0.0));
        // A triangle without area has the edge as its part.
        let part = self.projected([p, q, q]).next()?;
        let far = |a: &Corner, b: &Corner| (a.at[0] - b.at[0]).hypot(a.at[1] - b.at[1]);
        let from = part[0];
        let to = match far(&from, &part[1]) < far(&from, &part[2]) {
            true => part[2],
            false => part[1],
        };
        let long = far(&from, &to).max(1e-6);
        let half = wide as f32 / 2.0 / long;
        let aside = [
            -(to.at[1] - from.at[1]) * half,
            (to.at[0] - from.at[0]) * half,
        ];
        let moved = |c: Corner, sign: f32| Corner {
            at: [c.at[0] + sign * aside[0], c.at[1] + sign * aside[1]],
            near: c.near + 1e-4 * c.near.abs(),
            ..c
        };
        let [a, b, c, d] = [
            moved(from, -1.0),
            moved(to, -1.0),
            moved(to, 1.0),
            moved(from, 1.0),
        ];
        Some([[a, b, c], [a, c, d]])
    }

    /// A corner of a triangle, by its place, a normal of any length, and its value.
    pub fn see(&self, place: [f64; 3], normal: [f64; 3], value: f32) -> ViewedCorner {
        ViewedCorner {
            at: self.turned(sub(place, self.from)),
            normal: self.turned(normal),
            value,
        }
    }

    /// The part of a triangle that is in front of the eye, on the screen: none, one or two triangles.
    pub fn projected(&self, corners: [ViewedCorner; 3]) -> impl Iterator<Item = [Corner; 3]> {
        let before = |c: ViewedCorner| match self.has_centre {
            true => -c.at[2] - self.nearest,
            false => 0.0,
        };
        let parts = part(corners.map(|c| (c, before(c))));
        parts.map(|part| part.map(|c| self.corner(c)))
    }

    /// A camera that looks at the origin in the same direction, in a parallel projection of some height.
    pub fn of_directions(&self, pixels: [usize; 2], height: f64) -> Self {
        Self {
            from: self.axes[2].map(|x| x * height),
            scale: pixels[1] as f64 / height,
            has_centre: false,
            middle: pixels.map(|n| n as f64 / 2.0),
            ..self.clone()
        }
    }

    /// A point on the screen, in pixels from the upper left corner.
    pub fn on_screen(&self, place: [f64; 3]) -> [f32; 2] {
        self.corner(self.see(place, [0.0; 3], 0.0)).at
    }

    /// A corner on the screen; nearness is linear there.
    fn corner(&self, seen: ViewedCorner) -> Corner {
        let [x, y, z] = seen.at;
        let (scale, near) = match self.has_centre {
            true => (self.scale / -z, 1.0 / -z),
            false => (self.scale, z),
        };
        let at = [self.middle[0] + scale * x, self.middle[1] - scale * y];
        Corner {
            at: at.map(|x| x as f32),
            near: near as f32,
            normal: seen.normal.map(|x| x as f32),
            value: seen.value,
        }
    }

    /// A direction in the axes of the camera.
    pub fn turned(&self, v: [f64; 3]) -> [f64; 3] {
        self.axes.map(|axis| dot(axis, v))
    }
}

/// The part of a triangle where a number, given at its corners and linear between them, is at least zero: none, one or two
/// triangles of the same orientation.
pub fn part(corners: [(ViewedCorner, f64); 3]) -> impl Iterator<Item = [ViewedCorner; 3]> {
    let is_in = corners.map(|(_, number)| number >= 0.0);
    // The corner that is alone on its side comes first; the order around the triangle stays.
    let alone = |side: bool| (0..3).find(|&i| is_in[i] == side).unwrap_or(0);
    let from = |first: usize| std::array::from_fn(|i| corners[(first + i) % 3]);
    let parts = match is_in.into_iter().filter(|&is| is).count() {
        0 => [None, None],
        1 => {
            let [p, q, r]: [(ViewedCorner, f64); 3] = from(alone(true));
            [Some([p.0, at_zero(p, q), at_zero(p, r)]), None]
        }
        2 => {
            let [p, q, r]: [(ViewedCorner, f64); 3] = from(alone(false));
            let (beside_q, beside_r) = (at_zero(q, p), at_zero(r, p));
            [Some([q.0, r.0, beside_r]), Some([q.0, beside_r, beside_q])]
        }
        _ => [Some(corners.map(|corner| corner.0)), None],
    };
    parts.into_iter().flatten()
}

/// The point of an edge where the number is zero.
fn at_zero((one, from): (ViewedCorner, f64), (other, to): (ViewedCorner, f64)) -> ViewedCorner {
    let share = from / (from - to);
    let mixed = |from: f64, to: f64| from + share * (to - from);
    let between = |from: [f64; 3], to: [f64; 3]| std::array::from_fn(|a| mixed(from[a], to[a]));
    ViewedCorner {
        at: between(one.at, other.at),
        normal: between(one.normal, other.normal),
        value: mixed(f64::from(one.value), f64::from(other.value)) as f32,
    }
}

/// The difference of two vectors.
pub fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

/// The scalar product of two vectors.
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The vector product of two vectors.
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

/// The length of a vector.
pub fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let size = length(a);
    a.map(|x| x / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point on the screen, and its nearness.
    fn projected(camera: &Camera, point: [f64; 3]) -> ([f32; 2], f32) {
        let corner = camera.corner(camera.see(point, [0.0; 3], 0.0));
        (corner.at, corner.near)
    }

    const BOX: [[f64; 3]; 2] = [[-1.0; 3], [1.0; 3]];

    #[test]
    fn points_are_where_geometry_puts_them() {
        // The eye at x = -4 looks along x; y points left, z up. 90 degrees: the edge is as far off as it is away.
        let mut spec = Viewpoint {
            from: Some([-4.0, 0.0, 0.0]),
            at: Some([0.0; 3]),
            angle: Some(90.0),
            ..Viewpoint::default()
        };
        let camera = Camera::new(&spec, BOX, [200, 100]).expect("a camera");
        let close = |found: [f32; 2], wanted: [f32; 2]| {
            (found[0] - wanted[0]).hypot(found[1] - wanted[1]) < 1e-4
        };
        let at = |p| projected(&camera, p);
        assert!(close(at([0.0; 3]).0, [100.0, 50.0]), "the middle");
        assert!(close(at([0.0, 0.0, 4.0]).0, [100.0, 0.0]), "the upper edge");
        assert!(close(at([0.0, 8.0, 0.0]).0, [0.0, 50.0]), "the left edge");
        assert!(
            close(at([4.0, 0.0, 4.0]).0, [100.0, 25.0]),
            "half as high twice as far"
        );
        assert!(at([0.0; 3]).1 > at([1.0, 0.0, 0.0]).1, "nearer");
        (spec.angle, spec.height) = (None, Some(8.0));
        let camera = Camera::new(&spec, BOX, [200, 100]).expect("a camera");
        for x in [0.0, 4.0] {
            let (found, _) = projected(&camera, [x, 0.0, 4.0]);
            assert!(
                close(found, [100.0, 0.0]),
                "the same at any distance: {found:?}"
            );
        }
    }

    #[test]
    fn a_floor_that_reaches_behind_the_eye_is_seen_up_to_the_horizon() {
        // The eye is 1 above a floor from 100 behind it to 10^5 before it.
        let spec = Viewpoint {
            from: Some([0.0, 0.0, 1.0]),
            at: Some([4.0, 0.0, 1.0]),
            angle: Some(90.0),
            ..Viewpoint::default()
        };
        let camera = Camera::new(&spec, BOX, [200, 100]).expect("a camera");
        let corner = |x: f64, y: f64| camera.see([x, y, 0.0], [0.0, 0.0, 1.0], 0.0);
        let far = 1e5;
        let floor = [[-100.0, -far], [far, -far], [far, far], [-100.0, far]];
        let [a, b, c, d] = floor.map(|[x, y]| corner(x, y));
        let triangles: Vec<_> = [[a, b, c], [a, c, d], [c, a, b], [d, c, a], [c, d, a]]
            .into_iter()
            .flat_map(|triangle| camera.projected(triangle))
            .collect();
        assert!(
            triangles.len() > 5,
            "some are cut into two: {}",
            triangles.len()
        );
        let mut raster = crate::raster::Raster::new([200, 100]);
        raster.draw(&triangles, |_| [0; 3]);
        let pixels = raster.pixels();
        for (i, pixel) in pixels.into_iter().enumerate() {
            let is_floor = i / 200 > 50;
            let is_seen = pixel != [255; 3];
            assert!(
                i / 200 == 50 || is_floor == is_seen,
                "pixel {} of row {}",
                i % 200,
                i / 200
            );
        }
        let behind = [[-1.0, 0.0], [-2.0, 1.0], [-3.0, 0.0]].map(|[x, y]| corner(x, y));
        assert_eq!(camera.projected(behind).count(), 0, "behind the eye");
    }

    #[test]
    fn the_default_camera_sees_all_of_the_body() {
        for up in [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]] {
            let spec = Viewpoint {
                up: Some(up),
                ..Viewpoint::default()
            };
            let camera = Camera::new(&spec, BOX, [150, 100]).expect("a camera");
            for i in 0..8 {
                let corner = std::array::from_fn(|a| f64::from(i >> a & 1) * 2.0 - 1.0);
                let ([x, y], _) = projected(&camera, corner);
                let inside = (0.0..150.0).contains(&x) && (0.0..100.0).contains(&y);
                assert!(inside, "corner {corner:?} at {x}, {y}");
            }
        }
    }
}
