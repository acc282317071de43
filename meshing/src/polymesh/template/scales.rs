//! Lengths of a flow, from the faces of its mesh.

use super::{Template, roles::Role};
use crate::polymesh::{Castellated, target::dot};
use cutlink_hex::FaceGeometry;

/// What a flow is measured by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scales {
    /// Length of the Reynolds number and of coefficients, m.
    pub(super) length: f64,
    /// Area of the walls as seen along the flow, m².
    pub(super) area: f64,
    pub(super) reynolds: f64,
    /// Estimated y⁺ of the centres of the cells at walls.
    pub(super) y_plus: f64,
    /// Edge of the finest cells, m.
    pub(super) finest: f64,
    /// The box around the mesh, m.
    pub(super) low: [f64; 3],
    pub(super) high: [f64; 3],
    /// A point between the walls, m.
    pub(super) middle: [f64; 3],
}

fn grow(bounds: &mut [[f64; 3]; 2], x: [f64; 3]) {
    for a in 0..3 {
        bounds[0][a] = bounds[0][a].min(x[a]);
        bounds[1][a] = bounds[1][a].max(x[a]);
    }
}

impl Scales {
    /// Edges of the box around the mesh.
    pub(super) fn span(&self) -> [f64; 3] {
        std::array::from_fn(|a| self.high[a] - self.low[a])
    }

    /// `finest` is the edge of the finest cells, `height` that of the cells at walls normal to these, in m.
    pub(super) fn new(
        template: &Template,
        made: &Castellated,
        roles: &[Role],
        [finest, height]: [f64; 2],
    ) -> Self {
        let mesh = &made.mesh;
        let mut all = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        mesh.points.iter().for_each(|&x| grow(&mut all, x));
        let mut walls = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        let speed = template.speed();
        let along = match speed > 0.0 {
            true => template.velocity.map(|u| u / speed),
            false => [1.0, 0.0, 0.0],
        };
        let geometry = mesh.face_geometry();
        let (mut seen, mut surface, mut volume) = (0.0, 0.0, 0.0);
        for ((patch, source), role) in mesh.patches.iter().zip(&made.sources).zip(roles) {
            for face in patch.start..patch.start + patch.faces {
                let FaceGeometry { center, area } = geometry[face];
                // Of divergence: a third of x·n over the boundary.
                volume += dot(center, area) / 3.0;
                if *role != Role::Wall {
                    continue;
                }
                surface += dot(area, area).sqrt();
                if source.is_some() {
                    let corners = mesh.face(face).iter();
                    corners.for_each(|&p| grow(&mut walls, mesh.points[p as usize]));
                    // Outward of the fluid: into the wall, so that what faces the flow is seen.
                    seen += dot(area, along).max(0.0);
                }
            }
        }
        let has_walls = walls[0][0].is_finite();
        let is_duct = roles.contains(&Role::NormalInlet);
        let [low, high] = if has_walls { walls } else { all };
        let span = |of: [[f64; 3]; 2]| {
            (0..3)
                .map(|a| (of[1][a] - of[0][a]) * along[a].abs())
                .sum::<f64>()
        };
        let length = template.length.unwrap_or(match is_duct && surface > 0.0 {
            true => 4.0 * volume / surface,
            false => span([low, high]),
        });
        let reynolds = speed * length / template.viscosity;
        // Friction of a flat plate: White, Viscous Fluid Flow (2006), eq. 6-78, at the end of the length.
        let friction = 0.5 * 0.026 * reynolds.max(1.0).powf(-1.0 / 7.0);
        Self {
            length,
            area: seen,
            reynolds,
            y_plus: 0.5 * height * speed * friction.sqrt() / template.viscosity,
            finest,
            low: all[0],
            high: all[1],
            middle: std::array::from_fn(|a| 0.5 * (low[a] + high[a])),
        }
    }
}
