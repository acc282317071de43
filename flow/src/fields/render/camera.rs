//! The camera of a render, as given.

use cutlink_pictures::camera::{Viewpoint, length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The camera, as given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Angle of view from the lower to the upper edge, 1 to 120 degrees. Default: 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angle: Option<f64>,
    /// Distance between the lower and the upper edge of a parallel projection, in the length unit of the mesh; instead of
    /// `angle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<f64>,
}

impl CameraSpec {
    /// The same for drawing.
    pub(super) fn pose(&self) -> Viewpoint {
        Viewpoint {
            from: self.from,
            at: self.at,
            up: self.up,
            angle: self.angle,
            height: self.height,
        }
    }

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
