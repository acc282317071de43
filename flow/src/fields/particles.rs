//! Spheres as a file: `.vtp`, a point a sphere.

use super::values::Scene;
use crate::particles::ParticleState;
use cutlink_common::{Error, output};
use cutlink_voxelizer::vtk::{About, Field, Vtp};
use std::path::Path;

/// Writes the spheres of a flow: points with velocity, spin, radius, id, material and contacts.
///
/// # Errors
/// A full disk.
pub(super) fn write<const D: usize>(
    path: &Path,
    replace: bool,
    scene: Scene<'_, D>,
) -> Result<(), Error> {
    let none = ParticleState::default();
    let of = scene.particles.unwrap_or(&none);
    let flat = |vectors: &[[f64; 3]]| -> Vec<f32> {
        vectors.iter().flatten().map(|&x| x as f32).collect()
    };
    let [velocity, spin] = [flat(&of.velocity), flat(&of.spin)];
    let radius: Vec<f32> = of.radius.iter().map(|&r| r as f32).collect();
    let id: Vec<f32> = (0..of.len()).map(|id| id as f32).collect();
    let material: Vec<f32> = of.material.iter().map(|&m| f32::from(m)).collect();
    let contacts: Vec<f32> = of.contacts.iter().map(|&n| n as f32).collect();
    let arrays = [
        ("velocity", 3, &velocity),
        ("spin", 3, &spin),
        ("radius", 1, &radius),
        ("id", 1, &id),
        ("material", 1, &material),
        ("contacts", 1, &contacts),
    ];
    let fields = arrays.map(|(name, components, values)| Field {
        name,
        components,
        values,
    });
    let about = About {
        time: Some(scene.time()),
        notes: &[
            ("velocity_unit", "m/s"),
            ("spin_unit", "rad/s"),
            ("radius_unit", "m"),
            ("time_unit", &scene.units.time.name),
        ],
    };
    let vertices: Vec<[u32; 1]> = (0..of.len() as u32).map(|i| [i]).collect();
    output::write(path, replace, |out| {
        let file = Vtp::new(&of.center, &vertices, &fields, &about);
        let written = file.and_then(|file| file.write(out));
        written.map_err(|e| output::failed(path, &e))
    })?;
    Ok(())
}
