//! The recirculation length behind a body, along a line.
//!
//! In: a line (default: from the rear of the body along the free stream) and snapshots. Out: the distance from its
//! first point to where the velocity along it first changes from negative to positive.

use crate::solve::{case::FreeStreamTable, reference, resolve::missing};
use cutlink_common::Error;
use cutlink_flow::tables::RecirculationTable;
use cutlink_mesher::Surface;
use cutlink_solver::{Snapshot, fields::velocity_at};
use cutlink_voxelizer::{Frame, Mesh};

/// A line along which the velocity is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line<const D: usize> {
    /// Its first point, in root cells from the lower corner of the box.
    from: [f64; D],
    /// Unit vector.
    direction: [f64; D],
}

/// The table with `from` resolved: the point where the ray from the centre of the body's bounding box along the
/// direction of the line leaves that box.
pub(super) fn with_body<const D: usize>(
    given: &RecirculationTable,
    free_stream: Option<&FreeStreamTable>,
    body: &Surface<D>,
) -> Result<RecirculationTable, Error> {
    let direction = direction::<D>(given, &reference::axes::<D>(free_stream)?)?;
    let mut table = given.clone();
    let corners = body.facets.iter().flatten();
    let mut corners = corners.map(|&v| body.vertices[v as usize]);
    if let (None, Some(first)) = (&table.from, corners.next()) {
        let [mut low, mut high] = [first; 2];
        for p in corners {
            for a in 0..D {
                low[a] = low[a].min(p[a]);
                high[a] = high[a].max(p[a]);
            }
        }
        let exit = |a: usize| 0.5 * (high[a] - low[a]) / direction[a].abs();
        let along = (0..D).map(exit).fold(f64::INFINITY, f64::min);
        let from = (0..D).map(|a| 0.5 * (low[a] + high[a]) + along * direction[a]);
        table.from = Some(from.collect());
    }
    Ok(table)
}

/// The line of a table, and the table with all values resolved.
///
/// # Errors
/// A point that is missing or outside the box, a zero direction.
pub(super) fn line<const D: usize>(
    given: &RecirculationTable,
    frame: &Frame<D>,
    axes: &[[f64; 3]; 3],
) -> Result<(Line<D>, RecirculationTable), Error> {
    let direction = direction::<D>(given, axes)?;
    let Some(point) = &given.from else {
        return Err(missing("[output.recirculation] from")
            .hint("without a surface, give the start of the line: from = [x, y, z], in m"));
    };
    let point: [f64; D] = numbers("from", point)?;
    let inside = |a: usize| point[a] >= frame.origin[a] && point[a] <= frame.upper()[a];
    if !(0..D).all(inside) {
        let (low, high) = (frame.origin, frame.upper());
        return Err(
            Error::input(format!("[output.recirculation] from is {point:?}"))
                .hint(format!("the box runs from {low:?} to {high:?}")),
        );
    }
    let line = Line {
        from: std::array::from_fn(|a| (point[a] - frame.origin[a]) / frame.dx),
        direction,
    };
    let table = RecirculationTable {
        from: Some(point.to_vec()),
        direction: Some(
            given
                .direction
                .clone()
                .unwrap_or_else(|| direction.to_vec()),
        ),
    };
    Ok((line, table))
}

/// The unit direction of a table, by default that of the drag.
fn direction<const D: usize>(
    given: &RecirculationTable,
    axes: &[[f64; 3]; 3],
) -> Result<[f64; D], Error> {
    let Some(given) = &given.direction else {
        return Ok(std::array::from_fn(|a| axes[0][a]));
    };
    let direction: [f64; D] = numbers("direction", given)?;
    let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() {
        return Ok(direction.map(|x| x / length));
    }
    Err(
        Error::input("[output.recirculation] direction has no length")
            .hint("omit it to use the direction of the free stream"),
    )
}

fn numbers<const D: usize>(key: &str, given: &[f64]) -> Result<[f64; D], Error> {
    given.try_into().map_err(|_| {
        let count = given.len();
        Error::input(format!(
            "[output.recirculation] {key} has {count} numbers, but the mesh is {D}D"
        ))
        .hint(format!("give {D} numbers"))
    })
}

impl<const D: usize> Line<D> {
    /// Points half a cell apart, to the end of the box, with their distances from the first one.
    pub(crate) fn points(self, mesh: &Mesh<D>) -> impl Iterator<Item = (f64, [f64; D])> {
        let mut at = 0.0;
        std::iter::from_fn(move || {
            let here = at;
            let point = std::array::from_fn(|a| self.from[a] + here * self.direction[a]);
            let leaf = mesh.forest.leaf_at(point)?;
            at += 0.5f64.powi(1 + i32::from(mesh.forest.level[leaf.block as usize]));
            Some((here, point))
        })
    }

    /// The distance to where the velocity along the line first changes from negative to positive, in root cells; 0 if
    /// it is nowhere negative, NaN if it is negative up to the end of the box or to another body.
    ///
    /// Sampled every half cell, linear in between: second order, like the velocities.
    pub(crate) fn length(&self, mesh: &Mesh<D>, snapshot: &Snapshot<D>) -> f64 {
        let mut before: Option<[f64; 2]> = None;
        for (at, point) in self.points(mesh) {
            let along = velocity_at(mesh, snapshot, point)
                .map(|(_, u)| (0..D).map(|a| u[a] * self.direction[a]).sum::<f64>());
            match (before, along) {
                (Some([from, back]), Some(now)) if back < 0.0 && now >= 0.0 => {
                    return from + (at - from) * back / (back - now);
                }
                (Some([_, back]), None) if back < 0.0 => return f64::NAN,
                (Some(_), None) => return 0.0,
                _ => before = along.map(|now| [at, now]),
            }
        }
        match before {
            Some([_, back]) if back < 0.0 => f64::NAN,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files_kit::random_mesh;
    use crate::solve::integrals;
    use cutlink_mesher::primitives::Shape2;
    use cutlink_meshing::{mesh::build::bare, options::Root};

    /// The velocity of each cell from its centre, in root cells.
    fn snapshot<const D: usize>(
        mesh: &Mesh<D>,
        velocity: impl Fn([f64; D]) -> [f64; D],
    ) -> Snapshot<D> {
        integrals::tests::snapshot(mesh, |low, edge| velocity(low.map(|x| x + 0.5 * edge)))
    }

    #[test]
    fn a_linear_velocity_changes_sign_at_its_zero_on_any_levels() {
        // Along (1, 2, 2) / 3 from (1, 1, 1): the distance is s, and the velocity 0.01 (s - 5.3).
        let along = [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];
        let line = Line::<3> {
            from: [1.0; 3],
            direction: along,
        };
        for seed in 0..4 {
            let mut mesh = random_mesh(seed, [2, 3, 3], 3);
            mesh.classes.solid.fill(0);
            let flow = |zero: f64| {
                snapshot(&mesh, |x| {
                    let s: f64 = (0..3).map(|a| along[a] * (x[a] - 1.0)).sum();
                    along.map(|d| 0.01 * d * (s - zero))
                })
            };
            let found = line.length(&mesh, &flow(5.3));
            assert!((found - 5.3).abs() < 1e-4, "{found}");
            assert_eq!(line.length(&mesh, &flow(-3.0)), 0.0, "nowhere back");
            assert!(line.length(&mesh, &flow(99.0)).is_nan(), "back to the end");
        }
    }

    #[test]
    fn a_bubble_behind_a_body_ends_in_second_order() {
        let off = |cells: u32| {
            let n = f64::from(cells);
            let mut mesh = bare::<2>(&[0.0, 0.0, 1.0, 1.0], &Root::Longest(cells)).expect("a box");
            // The body ends at x = 0.25; u = -sin(π s / 0.4) behind it, with a sign change at s = 0.4.
            for block in mesh.forest.ids().collect::<Vec<_>>() {
                if 4 * mesh.forest.coord[block as usize][0] < (cells / 4) as i32 {
                    mesh.classes.solid[block as usize] = 0xffff;
                }
            }
            let flow = snapshot(&mesh, |x| {
                let s = x[0] / n - 0.25;
                [-0.1 * (std::f64::consts::PI * s / 0.4).sin(), 0.0]
            });
            let line = Line::<2> {
                from: [0.25 * n - 0.3, 0.5 * n],
                direction: [1.0, 0.0],
            };
            (line.length(&mesh, &flow) / n - 0.4 - 0.3 / n).abs()
        };
        let [coarse, fine] = [off(16), off(64)];
        assert!(coarse < 2e-3 && fine < 2e-4, "{coarse} {fine}");
    }

    #[test]
    fn a_line_begins_at_the_rear_of_the_body() {
        let mut body = Shape2::Circle { radius: 0.5 }
            .body(0.001)
            .expect("a circle");
        for p in &mut body.vertices {
            p[0] += 2.0;
        }
        let given = RecirculationTable::default();
        let table = with_body(&given, None, &body).expect("a table");
        let from = table.from.clone().expect("a point");
        assert!(
            (from[0] - 2.5).abs() < 0.002 && from[1].abs() < 1e-9,
            "{from:?}"
        );
        let stream = FreeStreamTable {
            angle: Some(90.0),
            ..FreeStreamTable::default()
        };
        let up = with_body(&given, Some(&stream), &body).expect("a table");
        let from = up.from.expect("a point");
        assert!(
            (from[0] - 2.0).abs() < 1e-9 && (from[1] - 0.5).abs() < 0.002,
            "{from:?}"
        );
        let frame = Frame::new([0.0, -2.0], 0.25, [16, 16]).expect("a frame");
        let axes = reference::axes::<2>(None).expect("axes");
        let (made, full) = line(&table, &frame, &axes).expect("a line");
        assert_eq!(full.direction, Some(vec![1.0, 0.0]));
        assert!((made.from[0] - 10.0).abs() < 0.01 && (made.from[1] - 8.0).abs() < 1e-6);
        assert_eq!(line(&full, &frame, &axes).expect("a line"), (made, full));
    }

    #[test]
    fn invalid_lines_are_refused() {
        let frame = Frame::new([0.0, -2.0], 0.25, [16, 16]).expect("a frame");
        let axes = reference::axes::<2>(None).expect("axes");
        let table = |from: &[f64], direction: &[f64]| RecirculationTable {
            from: (!from.is_empty()).then(|| from.to_vec()),
            direction: Some(direction.to_vec()),
        };
        for (table, word) in [
            (table(&[], &[1.0, 0.0]), "from is missing"),
            (table(&[9.0, 0.0], &[1.0, 0.0]), "from is [9.0, 0.0]"),
            (table(&[1.0], &[1.0, 0.0]), "from has 1 numbers"),
            (table(&[1.0, 0.0], &[0.0, 0.0]), "no length"),
        ] {
            let failure = line(&table, &frame, &axes).expect_err(word);
            assert!(failure.message.contains(word), "{failure}");
            assert!(failure.hint.is_some(), "a way out");
        }
    }
}
