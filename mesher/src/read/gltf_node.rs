//! Nodes of glTF and their transforms.

use crate::rigid::Quaternion;
use serde::Deserialize;

use super::transform::MAX_COORDINATE;
use crate::placement::Affine;

/// How far the length of a quaternion may be from 1, and the last row of a matrix from 0 0 0 1: numbers in text are
/// rounded.
const ROUNDED: f64 = 1e-2;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) mesh: Option<usize>,
    pub(super) skin: Option<usize>,
    pub(super) children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

impl Node {
    /// Its transform, or what is wrong with it.
    pub(super) fn affine(&self) -> Result<Affine<3>, String> {
        let given = [self.translation, self.scale].into_iter().flatten();
        let mut given = given.flatten().chain(self.matrix.into_iter().flatten());
        if let Some(x) = given.find(|x| x.is_nan() || x.abs() > MAX_COORDINATE) {
            return Err(format!("{x:e} among its numbers"));
        }
        if let Some(m) = self.matrix {
            if self.translation.is_some() || self.rotation.is_some() || self.scale.is_some() {
                return Err("both".into());
            }
            let last = [m[3], m[7], m[11], m[15] - 1.0];
            if !last.iter().all(|x| x.abs() <= ROUNDED) {
                let [a, b, c, d] = [m[3], m[7], m[11], m[15]];
                return Err(format!(
                    "a matrix whose last row is {a} {b} {c} {d}, not 0 0 0 1"
                ));
            }
            // Columns follow one another.
            return Ok(Affine {
                linear: std::array::from_fn(|r| std::array::from_fn(|c| m[4 * c + r])),
                offset: [m[12], m[13], m[14]],
            });
        }
        let [x, y, z, w] = self.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let length = (x * x + y * y + z * z + w * w).sqrt();
        if length.is_nan() || (length - 1.0).abs() > ROUNDED {
            return Err(format!("a rotation of length {length:e}, not 1"));
        }
        let scale = self.scale.unwrap_or([1.0; 3]);
        let rows = Quaternion([w, x, y, z]).matrix();
        Ok(Affine {
            linear: rows.map(|row| std::array::from_fn(|c| row[c] * scale[c])),
            offset: self.translation.unwrap_or_default(),
        })
    }
}
