//! The direction in which a point leaves a wall.

use crate::geometry::{add, cross, dot, norm, scale, sub};

type Point = [f64; 3];

/// Sine of an angle below which planes count as one.
const SAME_PLANE: f64 = 1e-5;
/// Normals up to which triples are tried; points of more faces take the best pair.
const MOST_IN_TRIPLES: usize = 12;

pub(super) fn unit(v: Point) -> Option<Point> {
    let length = norm(v);
    (length > 0.0).then(|| scale(v, 1.0 / length))
}

/// Directions that some planes leave to a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Hold {
    Free,
    /// Those of a plane with this normal.
    Plane(Point),
    /// Along a line.
    Line(Point),
    Fixed,
}

impl Hold {
    /// Less one plane, by its unit normal.
    pub(super) fn within(self, normal: Point) -> Self {
        match self {
            Self::Free => Self::Plane(normal),
            Self::Plane(first) => {
                let along = cross(first, normal);
                match norm(along) > SAME_PLANE {
                    true => unit(along).map_or(Self::Fixed, Self::Line),
                    false => self,
                }
            }
            Self::Line(along) if dot(along, normal).abs() <= SAME_PLANE => self,
            Self::Line(_) | Self::Fixed => Self::Fixed,
        }
    }

    /// The part of a displacement that is allowed.
    pub(super) fn allow(self, v: Point) -> Point {
        match self {
            Self::Free => v,
            Self::Plane(normal) => sub(v, scale(normal, dot(normal, v))),
            Self::Line(along) => scale(along, dot(along, v)),
            Self::Fixed => [0.0; 3],
        }
    }
}

/// The unit vector whose smallest cosine with some unit normals is largest, and that cosine: the "most normal normal" of Aubry
/// and Löhner (Commun. Numer. Meth. Engng 24 (2008) 1641). It is a normal, or as far from two or three of them.
pub(super) fn most_normal(normals: &[Point], hold: Hold) -> Option<(Point, f64)> {
    let mut distinct: Vec<Point> = Vec::with_capacity(normals.len());
    for &n in normals {
        if distinct.iter().all(|&m| norm(sub(m, n)) > 1e-12) {
            distinct.push(n);
        }
    }
    let mut best: Option<(Point, f64)> = None;
    let mut offer = |v: Point| {
        let Some(v) = unit(v) else { return };
        let least = normals.iter().map(|&n| dot(n, v)).fold(1.0, f64::min);
        if best.is_none_or(|(_, cosine)| least > cosine) {
            best = Some((v, least));
        }
    };
    let both = |offer: &mut dyn FnMut(Point), v: Point| {
        offer(v);
        offer(scale(v, -1.0));
    };
    let n = distinct.len();
    match hold {
        Hold::Fixed => {}
        Hold::Line(along) => both(&mut offer, along),
        Hold::Plane(plane) => {
            for (i, &a) in distinct.iter().enumerate() {
                offer(hold.allow(a));
                for &b in &distinct[..i] {
                    both(&mut offer, cross(sub(a, b), plane));
                }
            }
        }
        Hold::Free => {
            distinct.iter().for_each(|&a| offer(a));
            for i in 0..n {
                for j in 0..i {
                    offer(add(distinct[i], distinct[j]));
                    for k in 0..if n <= MOST_IN_TRIPLES { j } else { 0 } {
                        let (a, b, c) = (distinct[i], distinct[j], distinct[k]);
                        both(&mut offer, cross(sub(a, b), sub(b, c)));
                    }
                }
            }
        }
    }
    best
}
