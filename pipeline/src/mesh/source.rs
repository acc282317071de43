//! The surface: read from a file, or generated from a shape with the deviation that the mesh needs.

use crate::mesh::resolve::Job;
use cutlink_common::Error;
use cutlink_mesher::Surface;
use cutlink_mesher::health::{self, Health};
use cutlink_mesher::placement::{Affine, Placement};
use cutlink_mesher::primitives::{Shape2, Shape3, ShapeError};
use cutlink_mesher::read::ReadReport;

/// Shapes are first generated with a deviation of their longest extent over this number, to find their box.
const PROVISIONAL: f64 = 256.0;
/// The default deviation is the finest cell over this number.
pub const DEVIATION_SHARE: f64 = 64.0;

/// A shape of D dimensions.
pub trait Shape<const D: usize> {
    /// Facets within `deviation` of the true shape and inside its box.
    ///
    /// # Errors
    /// As for the shape.
    fn facets(&self, deviation: f64) -> Result<Surface<D>, ShapeError>;

    /// Facets with the true area or volume if the shape is round; otherwise those of [`facets`](Self::facets).
    ///
    /// # Errors
    /// As for the shape.
    fn body(&self, deviation: f64) -> Result<Surface<D>, ShapeError>;
}

impl Shape<2> for Shape2 {
    fn facets(&self, deviation: f64) -> Result<Surface<2>, ShapeError> {
        self.surface(deviation)
    }

    fn body(&self, deviation: f64) -> Result<Surface<2>, ShapeError> {
        Self::body(self, deviation)
    }
}

impl Shape<3> for Shape3 {
    fn facets(&self, deviation: f64) -> Result<Surface<3>, ShapeError> {
        self.surface(deviation)
    }

    fn body(&self, deviation: f64) -> Result<Surface<3>, ShapeError> {
        Self::body(self, deviation)
    }
}

/// A shape and its placement, which uses the box of the true shape.
#[derive(Debug, Clone, Copy)]
pub struct Sketch<'a, S, const D: usize> {
    shape: &'a S,
    /// From the frame of the shape to that of the box.
    pub affine: Affine<D>,
}

impl<'a, S, const D: usize> Sketch<'a, S, D> {
    /// Generates a coarse shape and places it; returns the sketch and the box of the placed shape.
    ///
    /// # Errors
    /// Invalid values of the shape, or an impossible placement.
    pub fn new(shape: &'a S, placement: &Placement) -> Result<(Self, [[f64; D]; 2]), Error>
    where
        S: Shape<D>,
    {
        let extent =
            |[lower, upper]: [[f64; D]; 2]| (0..D).map(|a| upper[a] - lower[a]).fold(0.0, f64::max);
        let longest = shape.facets(f64::MAX)?.bounds().map_or(0.0, extent);
        let mut surface = shape.facets(longest / PROVISIONAL)?;
        let affine = placement.resolve_surface(&surface)?;
        affine.apply_surface(&mut surface);
        let bounds = surface.bounds().unwrap_or([[0.0; D]; 2]);
        Ok((Self { shape, affine }, bounds))
    }

    /// The facets of the shape before placement; `deviation` applies after placement.
    ///
    /// # Errors
    /// A deviation that needs too many facets.
    pub fn surface(&self, deviation: f64) -> Result<Surface<D>, Error>
    where
        S: Shape<D>,
    {
        let surface = self.shape.body(deviation / stretch(&self.affine));
        surface.map_err(|e| Error::from(e).hint("give a larger --deviation, or fewer --levels"))
    }
}

/// The largest length factor of a placement. Its columns are orthogonal: it scales along the axes before it rotates.
fn stretch<const D: usize>(affine: &Affine<D>) -> f64 {
    let column = |j: usize| (0..D).map(|i| affine.linear[i][j].powi(2)).sum::<f64>();
    (0..D).map(column).fold(0.0, f64::max).sqrt()
}

/// The health report of a file's surface, and a note on merged vertices: a file with indexed
/// facets may list a point more than once, and files that meet share points, which would leave the surface open there.
pub fn health_of<const D: usize>(
    surface: &mut Surface<D>,
    report: &ReadReport,
) -> (Health<D>, Option<String>) {
    let merged = if report.format.is_indexed() {
        surface.weld()
    } else {
        0
    };
    let note = (merged > 0)
        .then(|| format!("{merged} vertices merged with coincident ones or dropped as unused"));
    (health::check(surface), note)
}

/// The deviation of a job's shapes for this finest cell size, in metres.
pub fn deviation(job: &Job, finest_dx: f64) -> f64 {
    job.deviation.unwrap_or(finest_dx / DEVIATION_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_mesher::placement::Scale;
    use cutlink_mesher::read::Format;

    #[test]
    fn the_deviation_holds_after_placement() {
        let shape = Shape3::Sphere { radius: 0.5 };
        let placement = Placement {
            scale: Scale::Uniform(10.0),
            rotate: vec!["x:30".parse().expect("a rotation")],
            ..Placement::default()
        };
        let (sketch, bounds) = Sketch::new(&shape, &placement).expect("a sphere");
        assert!(
            (bounds[1][0] - 5.0).abs() < 1e-12,
            "x is the axis: {bounds:?}"
        );
        let mut surface = sketch.surface(0.01).expect("a sphere");
        sketch.affine.apply_surface(&mut surface);
        let inmost = (0..surface.facets.len())
            .map(|f| {
                let c = surface.corners(f);
                let middle: [f64; 3] = std::array::from_fn(|a| (c[0][a] + c[1][a] + c[2][a]) / 3.0);
                middle.iter().map(|x| x * x).sum::<f64>().sqrt()
            })
            .fold(f64::INFINITY, f64::min);
        assert!(5.0 - inmost <= 0.01, "deviation {}", 5.0 - inmost);
        assert!(5.0 - inmost > 0.001, "and no finer than needed");
        let volume = health::check(&surface).volume;
        let truth = 4.0 / 3.0 * std::f64::consts::PI * 125.0;
        assert!((volume / truth - 1.0).abs() < 1e-12, "the true volume");
    }

    #[test]
    fn a_ply_cube_of_separate_faces_is_welded() {
        let mut cube = Shape3::Box { size: [1.0; 3] }.surface(1.0).expect("a box");
        let corners: Vec<[f64; 3]> = (0..cube.facets.len())
            .flat_map(|f| cube.corners(f))
            .collect();
        cube.facets = (0..cube.facets.len() as u32)
            .map(|f| [3 * f, 3 * f + 1, 3 * f + 2])
            .collect();
        cube.vertices = corners;
        let report = |format| ReadReport {
            format,
            gzipped: false,
            bytes: 0,
            facets_in_file: 12,
            notes: Vec::new(),
        };
        let (open, note) = health_of(&mut cube, &report(Format::StlBinary));
        assert!(!open.closed() && note.is_none(), "left alone");
        let (closed, note) = health_of(&mut cube, &report(Format::PlyAscii));
        assert!(closed.closed() && closed.vertices == 8, "welded");
        assert!(
            note.expect("a note").starts_with("28 "),
            "36 corners, 8 points"
        );
    }
}
