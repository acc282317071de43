//! Whether two facets meet beyond what they share.
//!
//! The common part of two simplices is convex, so it lies within the hull S of the shared
//! corners iff each of its extreme points does. An extreme point is a corner of one that lies
//! in the other, or a point where an edge of one passes through the plane of the other, or,
//! where both lie in one plane or have no area, a point where two edges cross. Each is found
//! by signs of integer determinants alone; a facet without area counts as its longest edge.

use crate::exact::{Exact, Facet, Plane};

/// Facets that can be asked whether they meet.
pub trait Meet<const D: usize> {
    /// A point that both facets hold, and that is not in the hull of their shared corners;
    /// the middle of the facet where they are the same. Whether there is one is exact; where
    /// it is, in lattice units, is rounded. Corners within [`crate::snap::COORDINATE_LIMIT`].
    fn meet(&self, other: &Self) -> Option<[f64; D]>;
}

/// Up to three points.
#[derive(Clone, Copy)]
struct Points<const D: usize> {
    at: [[i32; D]; 3],
    len: usize,
}

impl<const D: usize> Points<D> {
    fn of(points: impl IntoIterator<Item = [i32; D]>) -> Self {
        let mut list = Self {
            at: [[0; D]; 3],
            len: 0,
        };
        for p in points {
            list.at[list.len] = p;
            list.len += 1;
        }
        list
    }

    fn as_slice(&self) -> &[[i32; D]] {
        &self.at[..self.len]
    }

    /// The edges: one of two points, three of three.
    fn edges(&self) -> impl Iterator<Item = [[i32; D]; 2]> {
        let edges = if self.len == 3 { 3 } else { self.len / 2 };
        (0..edges).map(|k| [self.at[k], self.at[(k + 1) % self.len]])
    }

    fn shared(a: &Facet<D>, b: &Facet<D>) -> Self {
        Self::of(a.0.into_iter().filter(|p| b.0.contains(p)))
    }
}

fn middle<const D: usize>(facet: &Facet<D>) -> [f64; D] {
    std::array::from_fn(|k| facet.0.iter().map(|p| f64::from(p[k])).sum::<f64>() / D as f64)
}

/// The point `t` of the way along an edge.
fn along<const D: usize>([p, q]: [[i32; D]; 2], t: f64) -> [f64; D] {
    std::array::from_fn(|k| f64::from(p[k]) + t * (f64::from(q[k]) - f64::from(p[k])))
}

fn difference<const D: usize>(a: [i32; D], b: [i32; D]) -> [i64; D] {
    std::array::from_fn(|k| i64::from(a[k]) - i64::from(b[k]))
}

impl Meet<2> for Facet<2> {
    fn meet(&self, other: &Self) -> Option<[f64; 2]> {
        let shared = Points::shared(self, other);
        if shared.len == 2 {
            return Some(middle(self));
        }
        let [a, b] = [self, other].map(|f| Points::of(f.0));
        let contact = flat::meet(&a, &b, &shared)?;
        Some(contact.point(&a, &b))
    }
}

impl Meet<3> for Facet<3> {
    fn meet(&self, other: &Self) -> Option<[f64; 3]> {
        // Near the origin most values fit 64 bits.
        let origin = self.0[0];
        let [a, b] = [self, other].map(|f| f.relative_to(origin));
        let point = meet_near_origin(&a, &b)?;
        Some(std::array::from_fn(|k| f64::from(origin[k]) + point[k]))
    }
}

fn meet_near_origin(a: &Facet<3>, b: &Facet<3>) -> Option<[f64; 3]> {
    let shared = Points::shared(a, b);
    if shared.len == 3 {
        return Some(middle(a));
    }
    let corners = a.0.as_flattened().iter().chain(b.0.as_flattened());
    let reach = corners.map(|c| c.abs()).max().unwrap_or(0);
    let [a, b] = [a, b].map(|f| Body::new(f, reach));
    let of_a = b.sides_of(&a, &shared);
    if of_a == Sides::OneSided {
        return None;
    }
    let of_b = a.sides_of(&b, &shared);
    match (of_a, of_b) {
        (_, Sides::OneSided) => None,
        (Sides::NoPlane, Sides::NoPlane) => meet_as_segments(&a, &b, &shared),
        (Sides::Within(axis), _) | (_, Sides::Within(axis)) => {
            meet_within_a_plane(&a, &b, &shared, axis)
        }
        (of_a, of_b) => b
            .pierced_by(&a, of_a, &shared)
            .or_else(|| a.pierced_by(&b, of_b, &shared)),
    }
}

/// A facet as a set of points: a triangle, or the segment that one without area is.
struct Body {
    hull: Points<3>,
    plane: Plane<3>,
    reach: i32,
}

/// Where a body lies with respect to the plane of another.
#[derive(Clone, Copy, PartialEq)]
enum Sides {
    /// The other has no plane.
    NoPlane,
    /// All but shared corners lie strictly on one side: nothing to be found.
    OneSided,
    /// In it; the plane can be projected along this axis.
    Within(usize),
    /// Values of the corners of the hull.
    Across([i128; 3]),
}

impl Body {
    fn new(facet: &Facet<3>, reach: i32) -> Self {
        let plane = Plane::new(facet, reach);
        let mut corners = facet.0;
        if plane.normal == [0; 3] {
            // Along a line the lexicographic order is that of the points.
            corners.sort_unstable();
            corners[1] = corners[2];
        }
        let flat = plane.normal == [0; 3];
        Self {
            hull: Points::of(corners.into_iter().take(if flat { 2 } else { 3 })),
            plane,
            reach,
        }
    }

    /// Where `other` lies with respect to this one's plane.
    fn sides_of(&self, other: &Self, shared: &Points<3>) -> Sides {
        let Some(axis) = self.plane.normal.iter().position(|&n| n != 0) else {
            return Sides::NoPlane;
        };
        let mut values = [0; 3];
        let (mut below, mut above, mut on) = (false, false, false);
        for (value, p) in values.iter_mut().zip(other.hull.as_slice()) {
            if shared.as_slice().contains(p) {
                continue;
            }
            *value = self.plane.value(*p);
            below |= *value < 0;
            above |= *value > 0;
            on |= *value == 0;
        }
        match (below, above, on) {
            (true, true, _) | (true, _, true) | (_, true, true) => Sides::Across(values),
            (false, false, true) => Sides::Within(axis),
            _ => Sides::OneSided,
        }
    }

    /// Where corners or edges of `other`, of these values, meet this triangle.
    fn pierced_by(&self, other: &Self, sides: Sides, shared: &Points<3>) -> Option<[f64; 3]> {
        let Sides::Across(values) = sides else {
            return None;
        };
        let axis = self.plane.normal.iter().position(|&n| n != 0)?;
        let [triangle, shared_flat] = [&self.hull, shared].map(|x| project(x, axis));
        for (p, &value) in other.hull.as_slice().iter().zip(&values) {
            let on = |p| flat::holds(triangle.as_slice(), p);
            let known = |p| flat::holds(shared_flat.as_slice(), p);
            if value == 0 && on(drop_axis(*p, axis)) && !known(drop_axis(*p, axis)) {
                return Some(p.map(f64::from));
            }
        }
        for (k, edge) in other.hull.edges().enumerate() {
            let (from, to) = (values[k], values[(k + 1) % other.hull.len]);
            if from.signum() * to.signum() < 0
                && self.holds_passage(edge)
                // A shared corner on the edge is where it passes: only if it has no area.
                && !shared.as_slice().iter().any(|&w| on_line(edge, w))
            {
                return Some(along(edge, from as f64 / (from - to) as f64));
            }
        }
        None
    }

    /// Whether a segment from one side to the other passes through this triangle.
    fn holds_passage(&self, [p, q]: [[i32; 3]; 2]) -> bool {
        let (mut below, mut above) = (false, false);
        for [v, w] in self.hull.edges() {
            let value = Plane::new(&Facet([p, q, v]), self.reach).value(w);
            below |= value < 0;
            above |= value > 0;
        }
        !(below && above)
    }
}

/// Whether `w` lies on the line of an edge.
fn on_line([p, q]: [[i32; 3]; 2], w: [i32; 3]) -> bool {
    Facet([p, q, w]).normal() == [0; 3]
}

fn drop_axis(p: [i32; 3], axis: usize) -> [i32; 2] {
    [p[(axis + 1) % 3], p[(axis + 2) % 3]]
}

fn project(points: &Points<3>, axis: usize) -> Points<2> {
    Points::of(points.as_slice().iter().map(|&p| drop_axis(p, axis)))
}

fn meet_within_a_plane(a: &Body, b: &Body, shared: &Points<3>, axis: usize) -> Option<[f64; 3]> {
    let [flat_a, flat_b, shared] = [&a.hull, &b.hull, shared].map(|x| project(x, axis));
    let contact = flat::meet(&flat_a, &flat_b, &shared)?;
    Some(contact.point(&a.hull, &b.hull))
}

/// Two facets without area.
fn meet_as_segments(a: &Body, b: &Body, shared: &Points<3>) -> Option<[f64; 3]> {
    let [p, q] = [a.hull.at[0], a.hull.at[1]];
    let [v, w] = [b.hull.at[0], b.hull.at[1]];
    let apart = Plane::new(&Facet([p, q, v]), a.reach).value(w) != 0;
    if apart {
        return None;
    }
    // The four points lie in one plane: any axis that its normal is not square to.
    let normals = [Facet([p, q, v]).normal(), Facet([p, q, w]).normal()];
    let axis = normals.iter().flatten().position(|&n| n != 0);
    let axis = axis.map_or_else(
        // All on one line: any axis that it does not run along alone.
        || {
            let run = difference(q, p).iter().position(|&d| d != 0);
            (run.unwrap_or(0) + 1) % 3
        },
        |k| k % 3,
    );
    meet_within_a_plane(a, b, shared, axis)
}

/// The plane: points, segments and triangles of non-zero area.
mod flat {
    use super::{Points, along, difference};

    /// An extreme point of what two bodies have in common.
    pub(super) enum Contact {
        /// A corner of the first.
        OfFirst(usize),
        /// A corner of the second.
        OfSecond(usize),
        /// A point so far along an edge of the first.
        OnEdge(usize, f64),
    }

    impl Contact {
        /// The point, on bodies whose corners correspond.
        pub(super) fn point<const D: usize>(&self, a: &Points<D>, b: &Points<D>) -> [f64; D] {
            match *self {
                Self::OfFirst(k) => a.at[k].map(f64::from),
                Self::OfSecond(k) => b.at[k].map(f64::from),
                Self::OnEdge(k, t) => along([a.at[k], a.at[(k + 1) % a.len]], t),
            }
        }
    }

    /// Twice the area of the triangle, positive where c lies to the left of a→b.
    fn area(a: [i32; 2], b: [i32; 2], c: [i32; 2]) -> i64 {
        let ([ux, uy], [vx, vy]) = (difference(b, a), difference(c, a));
        ux * vy - uy * vx
    }

    /// Whether the closed hull of the points holds `p`.
    pub(super) fn holds(hull: &[[i32; 2]], p: [i32; 2]) -> bool {
        match *hull {
            [] => false,
            [a] => a == p,
            [a, b] => area(a, b, p) == 0 && (0..2).all(|k| between(a[k], p[k], b[k])),
            [a, b, c, ..] => {
                let areas = [area(a, b, p), area(b, c, p), area(c, a, p)];
                areas.iter().all(|&x| x >= 0) || areas.iter().all(|&x| x <= 0)
            }
        }
    }

    fn between(a: i32, x: i32, b: i32) -> bool {
        a.min(b) <= x && x <= a.max(b)
    }

    /// How far along the first edge the second crosses it, both in their interior.
    fn crossing([a, b]: [[i32; 2]; 2], [c, d]: [[i32; 2]; 2]) -> Option<f64> {
        let (of_a, of_b) = (area(c, d, a), area(c, d, b));
        let (of_c, of_d) = (area(a, b, c), area(a, b, d));
        let opposite = |x: i64, y: i64| x.signum() * y.signum() < 0;
        (opposite(of_a, of_b) && opposite(of_c, of_d))
            .then(|| of_a as f64 / (of_a as f64 - of_b as f64))
    }

    /// A point of both that is not in the hull of the shared corners.
    pub(super) fn meet(a: &Points<2>, b: &Points<2>, shared: &Points<2>) -> Option<Contact> {
        let shared = shared.as_slice();
        let new =
            |p: &[i32; 2], other: &Points<2>| !holds(shared, *p) && holds(other.as_slice(), *p);
        if let Some(k) = a.as_slice().iter().position(|p| new(p, b)) {
            return Some(Contact::OfFirst(k));
        }
        if let Some(k) = b.as_slice().iter().position(|p| new(p, a)) {
            return Some(Contact::OfSecond(k));
        }
        for (k, e) in a.edges().enumerate() {
            for f in b.edges() {
                let Some(t) = crossing(e, f) else { continue };
                // Only two facets without area cross at a corner that they share.
                let known = |w: &[i32; 2]| holds(&e, *w) && holds(&f, *w);
                if !shared.iter().any(known) {
                    return Some(Contact::OnEdge(k, t));
                }
            }
        }
        None
    }
}
