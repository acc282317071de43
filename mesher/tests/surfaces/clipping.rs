//! The common part of two triangles by clipping one with the half-spaces of the other, in
//! rational numbers: slow, exact, and with none of the arithmetic under test.

use num_rational::Ratio;

type R = Ratio<i128>;
type V = [R; 3];
/// Points x with n·x >= c.
type HalfSpace = (V, R);

fn vector(p: [i32; 3]) -> V {
    p.map(|c| R::from_integer(i128::from(c)))
}

fn sub(a: V, b: V) -> V {
    std::array::from_fn(|k| a[k] - b[k])
}

fn dot(a: V, b: V) -> R {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: V, b: V) -> V {
    std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i] * b[j] - a[j] * b[i]
    })
}

fn zero() -> R {
    R::from_integer(0)
}

/// Half-spaces whose common part is the hull of one, two or three points.
fn half_spaces(points: &[V]) -> Vec<HalfSpace> {
    let mut spaces = Vec::new();
    let mut equal = |n: V, at: V| {
        spaces.push((n, dot(n, at)));
        spaces.push((n.map(|x| -x), -dot(n, at)));
    };
    let units: [V; 3] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(vector);
    let normal = match *points {
        [a, b, c] => cross(sub(b, a), sub(c, a)),
        _ => [zero(); 3],
    };
    if normal != [zero(); 3] {
        equal(normal, points[0]);
        for k in 0..3 {
            let (a, b) = (points[k], points[(k + 1) % 3]);
            let inward = cross(normal, sub(b, a));
            spaces.push((inward, dot(inward, a)));
        }
        return spaces;
    }
    let Some(&[a, b]) = points
        .iter()
        .flat_map(|a| points.iter().map(move |b| [*a, *b]))
        .max_by_key(|[a, b]| dot(sub(*b, *a), sub(*b, *a)))
        .filter(|[a, b]| a != b)
        .as_ref()
    else {
        units.into_iter().for_each(|n| equal(n, points[0]));
        return spaces;
    };
    let run = sub(b, a);
    units.into_iter().for_each(|n| equal(cross(run, n), a));
    spaces.push((run, dot(run, a)));
    spaces.push((run.map(|x| -x), -dot(run, b)));
    spaces
}

/// Sutherland & Hodgman 1974: a convex polygon, which may be a segment or a point.
fn clip(polygon: &[V], (n, c): HalfSpace) -> Vec<V> {
    let mut out = Vec::new();
    for (i, &p) in polygon.iter().enumerate() {
        let q = polygon[(i + 1) % polygon.len()];
        let (vp, vq) = (dot(n, p) - c, dot(n, q) - c);
        if vp >= zero() {
            out.push(p);
        }
        if (vp > zero() && vq < zero()) || (vp < zero() && vq > zero()) {
            let t = vp / (vp - vq);
            out.push(std::array::from_fn(|k| p[k] + t * (q[k] - p[k])));
        }
    }
    out.dedup();
    out
}

/// Whether two triangles have more in common than the hull of their shared corners, or are
/// the same.
pub(crate) fn offends(a: [[i32; 3]; 3], b: [[i32; 3]; 3]) -> bool {
    let shared: Vec<V> = a
        .iter()
        .filter(|p| b.contains(p))
        .map(|p| vector(*p))
        .collect();
    if shared.len() == 3 {
        return true;
    }
    let mut common = a.map(vector).to_vec();
    for space in half_spaces(&b.map(vector)) {
        common = clip(&common, space);
    }
    if shared.is_empty() {
        return !common.is_empty();
    }
    let hull = half_spaces(&shared);
    common
        .iter()
        .any(|p| hull.iter().any(|(n, c)| dot(*n, *p) < *c))
}
