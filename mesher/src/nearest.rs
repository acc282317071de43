//! The nearest of many points, segments or triangles to a place.
//!
//! A tree of boxes with median splits along the widest axis; all leaves are at one depth, so that the tree is an array
//! without links. A search visits the nearer child first, and leaves out boxes beyond the nearest element so far.
//! Cost: O(n log n) to build, on all threads; O(log n) a search for elements that do not overlap much.

use cutlink_device::{DeviceError, memory};
use rayon::prelude::*;

type Point = [f64; 3];
type Bounds = [Point; 2];

/// Elements of a leaf, at most.
const LEAF: usize = 4;
/// Elements below which one thread sorts a subtree.
const SHARE: usize = 4096;
/// A triangle is well conditioned if the squared sine of the angle at its first corner is above this.
const WELL_CONDITIONED: f64 = 1e-8;
/// Deeper than any tree of `u32::MAX` elements.
const STACK: usize = 40;

/// Points (N = 1), segments (2) or triangles (3), by place; lengths in any one unit.
#[derive(Debug, Clone)]
pub struct NearestTree<const N: usize> {
    /// Bounds of the nodes: the root, its two children, their four, and so on.
    boxes: Vec<Bounds>,
    /// The elements in the order of the leaves, and their numbers.
    elements: Vec<([Point; N], u32)>,
    /// Levels below the root.
    depth: u32,
}

/// The nearest element to a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Number of the element.
    pub element: u32,
    /// Its nearest point.
    pub point: [f64; 3],
    /// The distance of that point.
    pub distance: f64,
}

impl<const N: usize> NearestTree<N> {
    /// Bytes of an element, nodes included.
    pub const BYTES: u64 = (size_of::<([Point; N], u32)>() + size_of::<Bounds>()) as u64;

    /// A tree of elements by their corners, which must be finite; elements are numbered in the given order.
    ///
    /// # Errors
    /// Memory that is not there.
    pub fn new(corners: impl ExactSizeIterator<Item = [Point; N]>) -> Result<Self, DeviceError> {
        let count = corners.len();
        let mut elements = memory::with_capacity("elements to search", count)?;
        elements.extend(corners.zip(0..));
        let depth = count.div_ceil(LEAF).next_power_of_two().trailing_zeros();
        sort(&mut elements, depth);
        let mut boxes = memory::with_capacity("boxes to search", (2 << depth) - 1)?;
        boxes.resize(
            (2 << depth) - 1,
            [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]],
        );
        let first = (1 << depth) - 1;
        leaves(&elements, &mut boxes[first..]);
        for node in (0..first).rev() {
            boxes[node] = join(boxes[2 * node + 1], boxes[2 * node + 2]);
        }
        Ok(Self {
            boxes,
            elements,
            depth,
        })
    }

    /// The nearest element to a place at a distance of at most `within`; of several the one with the lowest number.
    pub fn nearest(&self, at: Point, within: f64) -> Option<Nearest> {
        self.nearest_of(at, within, |_| true)
    }

    /// The same among the elements of which `counts` says so, by their numbers. Cost: visits what is within the distance
    /// until one counts, so that `within` should be small if few do.
    pub fn nearest_of(
        &self,
        at: Point,
        within: f64,
        counts: impl Fn(u32) -> bool,
    ) -> Option<Nearest> {
        let mut best = (within * within, u32::MAX, at);
        if self.elements.is_empty() || !at.iter().all(|x| x.is_finite()) {
            return None;
        }
        let first = (1usize << self.depth) - 1;
        let mut stack = [(0.0, 0, 0, 0); STACK];
        stack[0] = (to_box(at, &self.boxes[0]), 0, 0, self.elements.len());
        let mut left = 1;
        while left > 0 {
            left -= 1;
            let (square, node, low, high) = stack[left];
            if square > best.0 {
                continue;
            }
            if node >= first {
                for (corners, element) in &self.elements[low..high] {
                    let point = nearest_point(corners, at);
                    let square = distance2(point, at);
                    let is_nearer = square < best.0 || (square == best.0 && *element < best.1);
                    if is_nearer && counts(*element) {
                        best = (square, *element, point);
                    }
                }
                continue;
            }
            let middle = low + (high - low) / 2;
            let one = |child: usize, low, high| (to_box(at, &self.boxes[child]), child, low, high);
            let (a, b) = (
                one(2 * node + 1, low, middle),
                one(2 * node + 2, middle, high),
            );
            let (near, far) = if a.0 <= b.0 { (a, b) } else { (b, a) };
            stack[left] = far;
            stack[left + 1] = near;
            left += 2;
        }
        let (square, element, point) = best;
        (element != u32::MAX).then(|| Nearest {
            element,
            point,
            distance: square.sqrt(),
        })
    }
}

/// Puts elements in the order of the leaves of a tree.
fn sort<const N: usize>(elements: &mut [([Point; N], u32)], depth: u32) {
    if depth == 0 || elements.len() < 2 {
        return;
    }
    let middle = |corners: &[Point; N], axis: usize| -> f64 {
        corners.iter().map(|corner| corner[axis]).sum()
    };
    let mut around = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for (corners, _) in elements.iter() {
        let at: Point = std::array::from_fn(|axis| middle(corners, axis));
        around = join(around, [at; 2]);
    }
    let wide = |a: usize| around[1][a] - around[0][a];
    let axis = (1..3).fold(
        0,
        |widest, a| if wide(a) > wide(widest) { a } else { widest },
    );
    let half = elements.len() / 2;
    // Numbers make the order of equal places, and so the tree, the same in each run.
    elements.select_nth_unstable_by(half, |a, b| {
        middle(&a.0, axis)
            .total_cmp(&middle(&b.0, axis))
            .then(a.1.cmp(&b.1))
    });
    let count = elements.len();
    let (low, high) = elements.split_at_mut(half);
    if count < SHARE {
        sort(low, depth - 1);
        sort(high, depth - 1);
    } else {
        rayon::join(|| sort(low, depth - 1), || sort(high, depth - 1));
    }
}

/// Bounds of the leaves below a node.
fn leaves<const N: usize>(elements: &[([Point; N], u32)], boxes: &mut [Bounds]) {
    if let [only] = boxes {
        for (corners, _) in elements {
            *only = corners
                .iter()
                .fold(*only, |all, corner| join(all, [*corner; 2]));
        }
        return;
    }
    let (low, high) = elements.split_at(elements.len() / 2);
    let (left, right) = boxes.split_at_mut(boxes.len() / 2);
    [(low, left), (high, right)]
        .into_par_iter()
        .for_each(|(elements, boxes)| leaves(elements, boxes));
}

fn join(a: Bounds, b: Bounds) -> Bounds {
    [
        std::array::from_fn(|axis| a[0][axis].min(b[0][axis])),
        std::array::from_fn(|axis| a[1][axis].max(b[1][axis])),
    ]
}

/// The square of the distance of a place from a box.
fn to_box(at: Point, [low, high]: &Bounds) -> f64 {
    let off = |a: usize| (low[a] - at[a]).max(at[a] - high[a]).max(0.0);
    let off: Point = std::array::from_fn(off);
    dot(off, off)
}

/// The nearest point of an element to a place.
fn nearest_point<const N: usize>(corners: &[Point; N], at: Point) -> Point {
    match corners.as_slice() {
        [only] => *only,
        [a, b] => on_segment([*a, *b], at),
        [a, b, c] => on_triangle([*a, *b, *c], at),
        _ => unreachable!("elements have one to three corners"),
    }
}

/// The nearest point of a segment, which may have no length.
pub fn on_segment([a, b]: [Point; 2], at: Point) -> Point {
    let (along, arm) = (minus(b, a), minus(at, a));
    let (square, share) = (dot(along, along), dot(along, arm));
    match share {
        _ if share <= 0.0 => a,
        _ if share >= square => b,
        _ => std::array::from_fn(|i| a[i] + share / square * along[i]),
    }
}

/// The nearest point of a triangle, which may have no area: the foot of the perpendicular if that is inside, else the
/// nearest point of an edge. For needles, whose feet are ill-conditioned, the nearest of all four.
pub fn on_triangle([a, b, c]: [Point; 3], at: Point) -> Point {
    let (u, v, w) = (minus(b, a), minus(c, a), minus(at, a));
    let (uu, uv, vv, wu, wv) = (dot(u, u), dot(u, v), dot(v, v), dot(w, u), dot(w, v));
    let area = uu * vv - uv * uv;
    let (s, t) = (vv * wu - uv * wv, uu * wv - uv * wu);
    let inside = area > 0.0 && s >= 0.0 && t >= 0.0 && s + t <= area;
    let foot = inside.then(|| std::array::from_fn(|i| a[i] + (s * u[i] + t * v[i]) / area));
    if let Some(foot) = foot
        && area > WELL_CONDITIONED * uu * vv
    {
        return foot;
    }
    let edges = [[a, b], [b, c], [c, a]].map(|edge| on_segment(edge, at));
    let nearer = |a: Point, b: Point| {
        if distance2(b, at) < distance2(a, at) {
            b
        } else {
            a
        }
    };
    edges[1..]
        .iter()
        .copied()
        .chain(foot)
        .fold(edges[0], nearer)
}

fn minus(a: Point, b: Point) -> Point {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn distance2(a: Point, b: Point) -> f64 {
    let off = minus(a, b);
    dot(off, off)
}
