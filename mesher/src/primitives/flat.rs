//! Plane curves: ellipse, rectangle, polygon.

use super::{ShapeError, circle_segments, unit_circle, within_cap};
use crate::surface::Surface;

/// The closed chain of segments through `n` vertices in order.
pub(super) fn closed_chain(n: usize) -> Vec<[u32; 2]> {
    let n = n as u32;
    (0..n).map(|i| [i, (i + 1) % n]).collect()
}

/// The image of a regular polygon on the unit circle. A chord's point is moved to the circle
/// by at most its sagitta, and the stretch lengthens that by at most the larger half axis.
pub(super) fn ellipse(
    shape: &'static str,
    radii: [f64; 2],
    deviation: f64,
) -> Result<Surface<2>, ShapeError> {
    let segments = circle_segments(radii[0].max(radii[1]), deviation);
    within_cap(shape, deviation, segments)?;
    let n = segments as usize;
    let vertices = (0..n)
        .map(|k| {
            let [c, s] = unit_circle(k, n);
            [radii[0] * c, radii[1] * s]
        })
        .collect();
    Ok(Surface::single_patch(vertices, closed_chain(n), shape))
}

pub(super) fn rectangle(size: [f64; 2]) -> Surface<2> {
    let [x, y] = size.map(|s| 0.5 * s);
    Surface {
        vertices: vec![[-x, -y], [x, -y], [x, y], [-x, y]],
        facets: closed_chain(4),
        facet_patch: vec![2, 1, 3, 0],
        patches: ["x-", "x+", "y-", "y+"].map(String::from).to_vec(),
    }
}

/// Shoelace formula about the first point, so that a far-away polygon does not cancel.
pub(super) fn signed_area(points: &[[f64; 2]]) -> f64 {
    let Some(&[x0, y0]) = points.first() else {
        return 0.0;
    };
    let twice: f64 = points
        .windows(2)
        .map(|w| (w[0][0] - x0) * (w[1][1] - y0) - (w[1][0] - x0) * (w[0][1] - y0))
        .sum();
    0.5 * twice
}

pub(super) fn polygon(points: &[[f64; 2]]) -> Result<Surface<2>, ShapeError> {
    let wrong = |reason: String| Err(ShapeError::Polygon { reason });
    if points.len() < 3 {
        return wrong(format!("needs at least 3 points, has {}", points.len()));
    }
    within_cap("polygon", 0.0, points.len() as f64)?;
    for (i, p) in points.iter().enumerate() {
        if !p.iter().all(|x| x.is_finite()) {
            return wrong(format!("point {i} is not finite: {p:?}"));
        }
        if *p == points[(i + 1) % points.len()] {
            return wrong(format!(
                "point {i} equals the one after it: {p:?} (the last point must not repeat the first)"
            ));
        }
    }
    let area = signed_area(points);
    if area == 0.0 || !area.is_finite() {
        return wrong(format!("encloses an area of {area}"));
    }
    let mut vertices = points.to_vec();
    if area < 0.0 {
        vertices.reverse();
    }
    // Adding 0 turns −0 into 0: equal points have equal bits.
    for p in &mut vertices {
        *p = p.map(|x| x + 0.0);
    }
    let facets = closed_chain(vertices.len());
    Ok(Surface::single_patch(vertices, facets, "polygon"))
}
