//! The facets of the body with values and normals at their corners.

use super::SurfaceColour;
use crate::fields::surface::Body;
use crate::fields::values::Scene;
use cutlink_device::DeviceError;
use cutlink_mesher::nearest::NearestTree;
use cutlink_pictures::camera::{Camera, cross, dot, length, sub};
use cutlink_pictures::raster::Corner;
use std::collections::HashMap;

/// Cosine of the angle between a facet and the mean of those around a corner above which the corner is an edge.
const CREASE: f64 = 0.75;

/// Facets with shared corners.
#[derive(Debug)]
pub(super) struct Skin {
    /// Distinct points, in the length unit of the mesh.
    points: Vec<[f64; 3]>,
    facets: Vec<[u32; 3]>,
    /// By point: the mean of the facets' normals by area.
    normals: Vec<[f64; 3]>,
    /// By point, or by facet where values are not interpolated; NaN without fluid in front.
    values: Vec<f32>,
    by_facet: bool,
}

impl Skin {
    /// The facets of a body with the values that colour them.
    pub(super) fn new<const D: usize>(
        scene: Scene<'_, D>,
        body: &Body<D>,
        colour: SurfaceColour,
    ) -> Self {
        let (corners, facets) = body.facets();
        let mut numbers = HashMap::new();
        let mut points = Vec::new();
        let mut number = |v: u32| {
            let point = std::array::from_fn(|a| corners[v as usize][a.min(D - 1)]);
            *numbers.entry(point.map(f64::to_bits)).or_insert_with(|| {
                points.push(point);
                points.len() as u32 - 1
            })
        };
        let facets: Vec<[u32; 3]> = facets
            .iter()
            .map(|facet| std::array::from_fn(|k| number(facet[k.min(D - 1)])))
            .collect();
        let mut skin = Self {
            normals: vec![[0.0; 3]; points.len()],
            points,
            facets,
            values: Vec::new(),
            by_facet: colour == SurfaceColour::Level,
        };
        for facet in &skin.facets {
            let normal = skin.normal(facet);
            for &v in facet {
                let sum = &mut skin.normals[v as usize];
                *sum = std::array::from_fn(|a| sum[a] + normal[a]);
            }
        }
        skin.values = match colour {
            SurfaceColour::Plain => vec![0.0; skin.points.len()],
            SurfaceColour::Level => body.levels(scene.mesh),
            _ => skin.spread(&body.values(scene, colour)),
        };
        skin
    }

    /// The normal of a facet, as long as its area.
    fn normal(&self, facet: &[u32; 3]) -> [f64; 3] {
        let [p, q, r] = facet.map(|v| self.points[v as usize]);
        cross(sub(q, p), sub(r, p)).map(|x| x / 2.0)
    }

    /// Means at the points of values of facets, by area.
    fn spread(&self, values: &[f32]) -> Vec<f32> {
        let mut sums = vec![[0.0; 2]; self.points.len()];
        for (facet, value) in self
            .facets
            .iter()
            .zip(values)
            .filter(|(_, v)| v.is_finite())
        {
            let area = length(self.normal(facet));
            for &v in facet {
                let [sum, areas] = sums[v as usize];
                sums[v as usize] = [sum + area * f64::from(*value), areas + area];
            }
        }
        sums.into_iter()
            .map(|[sum, area]| (sum / area) as f32)
            .collect()
    }

    /// The values, without those that are missing.
    pub(super) fn values(&self) -> impl Iterator<Item = f32> {
        self.values.iter().copied().filter(|v| v.is_finite())
    }

    /// Lower and upper corner of the points of the facets; `None` without any.
    pub(super) fn bounds(&self) -> Option<[[f64; 3]; 2]> {
        let first = *self.points.first()?;
        let wider = |[low, high]: [[f64; 3]; 2], p: &[f64; 3]| {
            [
                std::array::from_fn(|a| low[a].min(p[a])),
                std::array::from_fn(|a| high[a].max(p[a])),
            ]
        };
        Some(self.points.iter().fold([first; 2], wider))
    }

    /// The facets, for distances from the body.
    ///
    /// # Errors
    /// Memory that is not there.
    pub(super) fn tree(&self) -> Result<NearestTree<3>, DeviceError> {
        let facets = self.facets.iter();
        NearestTree::new(facets.map(|facet| facet.map(|v| self.points[v as usize])))
    }

    /// The facets in front of a camera, on its screen.
    pub(super) fn triangles(&self, camera: &Camera) -> Vec<[Corner; 3]> {
        let triangle = |(f, facet): (usize, &[u32; 3])| {
            let own = self.normal(facet);
            let corner = |v: u32| {
                let smooth = self.normals[v as usize];
                let alike = dot(own, smooth) > CREASE * length(own) * length(smooth);
                let normal = if alike { smooth } else { own };
                let size = length(normal);
                let value = self.values[if self.by_facet { f } else { v as usize }];
                camera.see(self.points[v as usize], normal.map(|x| x / size), value)
            };
            camera.projected(facet.map(corner))
        };
        self.facets.iter().enumerate().flat_map(triangle).collect()
    }
}
