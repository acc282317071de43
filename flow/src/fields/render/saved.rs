//! An isosurface as a file: `.vtp` or `.ply`, with one value a facet.
//!
//! Points that facets share are one. Facets are oriented so that their normals point to lower values. Memory: besides the
//! values of cells, all facets, 12 bytes each, and their points, about half as many.

use super::isosurface::{Values, Vertex};
use super::{IsosurfaceSpec, title_of_volume};
use crate::fields::kinds::SurfaceFormat;
use crate::fields::spec::OutputSpec;
use crate::fields::surface::write_ply;
use crate::fields::values::Scene;
use cutlink_amr::CellRef;
use cutlink_common::{Error, output};
use cutlink_voxelizer::vtk::{About, Field, Vtp};
use std::collections::HashMap;
use std::path::Path;

/// An isosurface to be saved, checked.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::fields) struct SavedSpec {
    isosurface: IsosurfaceSpec,
    pub(in crate::fields) format: SurfaceFormat,
}

/// Facets between points in the length unit of the mesh, and their values.
#[derive(Debug, Default, PartialEq)]
struct Triangulated {
    points: Vec<[f64; 3]>,
    facets: Vec<[u32; 3]>,
    values: Vec<f32>,
}

impl SavedSpec {
    /// # Errors
    /// Keys that are missing or of renders alone.
    pub(in crate::fields) fn new<const D: usize>(spec: &OutputSpec) -> Result<Self, String> {
        if D < 3 {
            return Err(
                "it needs a 3D mesh; kind = \"picture\" with contours draws a 2D flow".into(),
            );
        }
        let Some(of) = &spec.isosurface else {
            return Err(
                "isosurface is missing, such as isosurface = { field = \"q\", value = 1.0 }".into(),
            );
        };
        of.check_value()?;
        if of.range.is_some() || of.wall.is_some() {
            return Err("isosurface: range and wall are for renders".into());
        }
        Ok(Self {
            isosurface: of.clone(),
            format: spec.format.unwrap_or_default(),
        })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// I/O errors.
    pub(in crate::fields) fn write<const D: usize>(
        &self,
        path: &Path,
        replace: bool,
        scene: Scene<'_, D>,
    ) -> Result<(), Error> {
        let quantity = self.isosurface.colour.unwrap_or_default();
        let (name, unit) = title_of_volume(scene, quantity);
        let name = name.replace(' ', "_");
        let found = triangulated(scene, &self.isosurface);
        if self.format == SurfaceFormat::Ply {
            let columns = [(name.as_str(), 1, found.values)];
            output::write(path, replace, |out| {
                write_ply(out, &found.points, &found.facets, &columns)
                    .map_err(|e| output::failed(path, &e))
            })?;
            return Ok(());
        }
        let fields = [Field {
            name: &name,
            components: 1,
            values: &found.values,
        }];
        let of_unit = format!("{name}_unit");
        let about = About {
            time: Some(scene.time()),
            notes: &[
                (of_unit.as_str(), unit),
                ("time_unit", scene.units.time.name.as_str()),
            ],
        };
        output::write(path, replace, |out| {
            let file = Vtp::new(&found.points, &found.facets, &fields, &about);
            let written = file.and_then(|file| file.write(out));
            written.map_err(|e| output::failed(path, &e))
        })?;
        Ok(())
    }
}

fn triangulated<const D: usize>(scene: Scene<'_, D>, spec: &IsosurfaceSpec) -> Triangulated {
    let values = Values::new(scene.mesh, |at| scene.in_volume(spec.field, at) as f32);
    let quantity = spec.colour.unwrap_or_default();
    let mut found = Triangulated::default();
    // A point lies between the centres of two cells.
    let mut known: HashMap<[(u32, u32); 2], u32> = HashMap::new();
    let mut at_points: Vec<f32> = Vec::new();
    values.surface(spec.value as f32, |batch| {
        for triangle in batch {
            let facet = triangle.map(|vertex| {
                let key = key(&vertex);
                *known.entry(key).or_insert_with(|| {
                    found.points.push(vertex.place(&scene.mesh.frame));
                    at_points.push(vertex.value(|cell| scene.in_volume(quantity, cell) as f32));
                    (found.points.len() - 1) as u32
                })
            });
            // A facet whose points are one has no area.
            if facet[0] == facet[1] || facet[1] == facet[2] || facet[2] == facet[0] {
                continue;
            }
            let sum: f32 = facet.iter().map(|&p| at_points[p as usize]).sum();
            found.facets.push(facet);
            found.values.push(sum / 3.0);
        }
    });
    found
}

fn key(vertex: &Vertex) -> [(u32, u32); 2] {
    let of = |cell: CellRef| (cell.block, cell.cell);
    let [a, b] = vertex.between.map(of);
    if a < b { [a, b] } else { [b, a] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::kinds::OutputKind;
    use crate::fields::tests::snapshot;
    use crate::fields::units::FieldUnits;
    use crate::worst::worst;
    use cutlink_mesher::Surface;
    use cutlink_mesher::health;
    use cutlink_voxelizer::Mesh;
    use std::f64::consts::PI;

    /// A ball of solid cells in the middle, with finer cells around.
    fn mesh() -> Mesh<3> {
        crate::files_kit::ball_mesh([4, 4, 4], 2)
    }

    fn spec(text: &str) -> OutputSpec {
        toml::from_str(&format!("kind = \"isosurface\"\n{text}")).expect("an output")
    }

    #[test]
    fn a_sphere_is_closed_across_levels_and_has_its_area() {
        let mesh = mesh();
        let (frame, middle) = (mesh.frame, 8.1);
        let radius = 6.2;
        let of = |x: [f64; 3]| x.map(|x| (x - middle).powi(2)).iter().sum::<f64>().sqrt();
        let flow = snapshot(&mesh, 0, |x| {
            (2.0 - 0.01 * (of(x) - radius), [0.5, 0.0, 0.0])
        });
        let units = FieldUnits::lattice();
        let scene = Scene {
            pressure: None,
            scalars: &[],
            particles: None,
            mesh: &mesh,
            snapshot: &flow,
            units: &units,
            average: None,
        };
        let given = spec("isosurface = { field = \"density\", value = 2.0 }");
        let resolved = SavedSpec::new::<3>(&given).expect("a spec");
        let found = triangulated(scene, &resolved.isosurface);
        let place = |p: &[f64; 3]| std::array::from_fn(|a| (p[a] - frame.origin[a]) / frame.dx);
        let off = found.points.iter().map(|p| (of(place(p)) - radius).abs());
        assert!(worst(off) < 0.1, "points lie on it");
        assert!(worst(found.values.iter().map(|v| f64::from((v - 0.5).abs()))) < 1e-6);
        let surface = Surface::single_patch(found.points, found.facets, "iso");
        let health = health::check(&surface);
        assert!(health.closed() && health.components == 1, "{health:?}");
        let (area, volume) = (
            health.area / frame.dx.powi(2),
            health.volume / frame.dx.powi(3),
        );
        assert!(
            (area / (4.0 * PI * radius * radius) - 1.0).abs() < 0.02,
            "{area}"
        );
        // Values fall outwards: normals point outwards.
        let exact = 4.0 / 3.0 * PI * radius.powi(3);
        assert!((volume / exact - 1.0).abs() < 0.02, "{volume}");
    }

    #[test]
    fn wrong_keys_are_refused() {
        for (text, part) in [
            ("", "isosurface is missing"),
            ("isosurface = { value = nan }", "value is NaN"),
            ("isosurface = { value = 1, wall = 0.1 }", "for renders"),
            ("isosurface = { value = 1, range = [0, 1] }", "for renders"),
        ] {
            let error = SavedSpec::new::<3>(&spec(text)).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        let error = SavedSpec::new::<2>(&OutputSpec::new(OutputKind::Isosurface));
        assert!(error.expect_err("2D").contains("3D mesh"));
    }
}
