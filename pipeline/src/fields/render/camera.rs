//! The camera of a render: from points in the length unit of the mesh to the screen.

use serde::{Deserialize, Serialize};

/// Default angle of view from the lower to the upper edge, in degrees.
const ANGLE: f64 = 30.0;

/// The camera, as given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CameraSpec {
    /// The eye, in the length unit of the mesh. Default: upstream of the body along x, to its side and above it, at a
    /// distance from which all of it is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<[f64; 3]>,
    /// The point in the middle of the picture. Default: the middle of the body's bounding box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<[f64; 3]>,
    /// The direction that points up in the picture. Default: z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<[f64; 3]>,
    /// Angle of view from the lower to the upper edge, in degrees. Default: 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angle: Option<f64>,
    /// Distance between the lower and the upper edge of a parallel projection, in the length unit of the mesh; instead of
    /// `angle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<f64>,
}

impl CameraSpec {
    /// Checks what does not depend on the body.
    pub(super) fn check(&self) -> Result<(), String> {
        let vectors = [("from", self.from), ("at", self.at), ("up", self.up)];
        for (key, vector) in vectors {
            if vector.is_some_and(|v| v.iter().any(|x| !x.is_finite())) {
                return Err(format!("camera: {key} should be finite"));
            }
        }
        if self.up.is_some_and(|up| length(up) == 0.0) {
            return Err("camera: up is zero".into());
        }
        match (self.angle, self.height) {
            (Some(_), Some(_)) => Err("camera: angle and height exclude one another".into()),
            (Some(angle), _) if !(1.0..=120.0).contains(&angle) => Err(format!(
                "camera: angle is {angle}, it must be 1 to 120 degrees"
            )),
            (_, Some(height)) if !(height.is_finite() && height > 0.0) => {
                Err(format!("camera: height is {height}, it must be positive"))
            }
            _ => Ok(()),
        }
    }
}

/// A camera in front of a picture of some pixels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Camera {
    from: [f64; 3],
    /// Right, up, and towards the eye.
    axes: [[f64; 3]; 3],
    /// Pixels per unit of length, at distance 1 if the projection has a centre.
    scale: f64,
    has_centre: bool,
    middle: [f64; 2],
    nearest: f64,
}

impl Camera {
    /// The camera of a picture of bodies within a box.
    ///
    /// # Errors
    /// An eye in the middle of the picture, or above or below it along `up`.
    pub(super) fn new(
        spec: &CameraSpec,
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
        })
    }

    /// A point on the screen: pixels from the upper left corner, and its nearness, which is linear on the screen; `None`
    /// behind the eye.
    pub(super) fn project(&self, point: [f64; 3]) -> Option<([f32; 2], f32)> {
        let [x, y, z] = self.turned(sub(point, self.from));
        let (scale, near) = match self.has_centre {
            true if -z < self.nearest => return None,
            true => (self.scale / -z, 1.0 / -z),
            false => (self.scale, z),
        };
        let at = [self.middle[0] + scale * x, self.middle[1] - scale * y];
        Some((at.map(|x| x as f32), near as f32))
    }

    /// A direction in the axes of the camera.
    pub(super) fn turned(&self, v: [f64; 3]) -> [f64; 3] {
        self.axes.map(|axis| dot(axis, v))
    }
}

pub(super) fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

pub(super) fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let size = length(a);
    a.map(|x| x / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: [[f64; 3]; 2] = [[-1.0; 3], [1.0; 3]];

    #[test]
    fn points_are_where_geometry_puts_them() {
        // The eye at x = -4 looks along x; y points left, z up. 90 degrees: the edge is as far off as it is away.
        let mut spec = CameraSpec {
            from: Some([-4.0, 0.0, 0.0]),
            at: Some([0.0; 3]),
            angle: Some(90.0),
            ..CameraSpec::default()
        };
        let camera = Camera::new(&spec, BOX, [200, 100]).expect("a camera");
        let close = |found: [f32; 2], wanted: [f32; 2]| {
            (found[0] - wanted[0]).hypot(found[1] - wanted[1]) < 1e-4
        };
        let at = |p| camera.project(p).expect("in front");
        assert!(close(at([0.0; 3]).0, [100.0, 50.0]), "the middle");
        assert!(close(at([0.0, 0.0, 4.0]).0, [100.0, 0.0]), "the upper edge");
        assert!(close(at([0.0, 8.0, 0.0]).0, [0.0, 50.0]), "the left edge");
        assert!(
            close(at([4.0, 0.0, 4.0]).0, [100.0, 25.0]),
            "half as high twice as far"
        );
        assert!(at([0.0; 3]).1 > at([1.0, 0.0, 0.0]).1, "nearer");
        assert_eq!(camera.project([-5.0, 0.0, 0.0]), None, "behind the eye");
        (spec.angle, spec.height) = (None, Some(8.0));
        let camera = Camera::new(&spec, BOX, [200, 100]).expect("a camera");
        for x in [0.0, 4.0] {
            let (found, _) = camera.project([x, 0.0, 4.0]).expect("in front");
            assert!(
                close(found, [100.0, 0.0]),
                "the same at any distance: {found:?}"
            );
        }
    }

    #[test]
    fn the_default_camera_sees_all_of_the_body() {
        for up in [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]] {
            let spec = CameraSpec {
                up: Some(up),
                ..CameraSpec::default()
            };
            let camera = Camera::new(&spec, BOX, [150, 100]).expect("a camera");
            for i in 0..8 {
                let corner = std::array::from_fn(|a| f64::from(i >> a & 1) * 2.0 - 1.0);
                let ([x, y], _) = camera.project(corner).expect("in front");
                let inside = (0.0..150.0).contains(&x) && (0.0..100.0).contains(&y);
                assert!(inside, "corner {corner:?} at {x}, {y}");
            }
        }
    }
}
