//! Points against the plane of a facet: which side, how far, and where rows of points pass it.

use super::{Exact, Facet, first_sign};
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// Integers wide enough for the values of a plane: i64 where [`Plane::is_narrow`], else i128.
pub trait Int:
    Copy
    + Ord
    + From<i64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// Whether it is i64.
    const NARROW: bool;

    /// The nearest f64.
    fn to_f64(self) -> f64;

    /// The lowest 64 bits: the number itself where it is narrow.
    fn low(self) -> i64;

    /// The number itself.
    fn wide(self) -> i128;
}

impl Int for i64 {
    const NARROW: bool = true;

    #[inline]
    fn to_f64(self) -> f64 {
        self as f64
    }

    #[inline]
    fn low(self) -> i64 {
        self
    }

    #[inline]
    fn wide(self) -> i128 {
        self.into()
    }
}

impl Int for i128 {
    const NARROW: bool = false;

    #[inline]
    fn to_f64(self) -> f64 {
        self as f64
    }

    #[inline]
    fn low(self) -> i64 {
        self as i64
    }

    #[inline]
    fn wide(self) -> i128 {
        self
    }
}

/// The plane of a facet.
#[derive(Debug, Clone, Copy)]
pub struct Plane<const D: usize> {
    /// The normal.
    pub normal: [i64; D],
    corner: [i32; D],
    tie: bool,
    narrow: bool,
}

impl<const D: usize> Plane<D>
where
    Facet<D>: Exact<D>,
{
    /// The plane of `facet`; all points asked about lie within ±`reach`.
    #[inline]
    pub fn new(facet: &Facet<D>, reach: i32) -> Self {
        const NARROW: i32 = 1 << 19;
        let normal = facet.normal();
        let small = |c: &i32| c.abs() <= NARROW;
        Self {
            normal,
            corner: facet.0[0],
            tie: first_sign(&normal) > 0,
            // Differences within 2^20, normals within 2^41, sums of three within 2^63.
            narrow: reach <= NARROW && facet.0.as_flattened().iter().all(small),
        }
    }

    /// Whether all values fit i64.
    #[inline]
    pub fn is_narrow(&self) -> bool {
        self.narrow
    }

    #[inline]
    fn value_in<T: Int>(&self, p: [i32; D]) -> T {
        let mut sum = T::from(0);
        for a in 0..D {
            let step = i64::from(p[a]) - i64::from(self.corner[a]);
            sum = sum + T::from(self.normal[a]) * T::from(step);
        }
        sum
    }

    /// N·(p - corner): positive outside, unperturbed.
    #[inline]
    pub fn value(&self, p: [i32; D]) -> i128 {
        if self.narrow {
            i128::from(self.value_in::<i64>(p))
        } else {
            self.value_in(p)
        }
    }

    /// Whether a point of this value is on the outer side, ties broken.
    #[inline]
    pub fn outer(&self, value: i128) -> bool {
        value > 0 || (value == 0 && self.tie)
    }

    /// N·d.
    #[inline]
    pub fn along(&self, d: [i32; D]) -> i64 {
        (0..D).map(|a| self.normal[a] * i64::from(d[a])).sum()
    }

    /// Where rows of points with steps `d · spacing` pass the plane; `along` is N·d, not 0.
    #[inline]
    pub fn passes<T: Int>(&self, along: i64, spacing: i32) -> Passes<D, T> {
        let ahead = |value: T| if along > 0 { value } else { -value };
        // Beyond are values G >= 0, or G > 0 where a tie counts as before: G - 1 >= 0.
        let bias = T::from(i64::from(self.tie != (along > 0)));
        let spacing = T::from(i64::from(spacing));
        Passes {
            at_zero: ahead(self.value_in([0; D])) - bias,
            step: self.normal.map(|n| ahead(T::from(n)) * spacing),
            rise: T::from(along.abs()) * spacing,
            bias,
        }
    }
}

/// Rows of evenly spaced points and the plane they pass: a value that grows by
/// [`rise`](Self::rise) from each point of a row to the next, negative before the plane.
#[derive(Debug, Clone, Copy)]
pub struct Passes<const D: usize, T> {
    at_zero: T,
    /// Growth of the value for one spacing along each axis.
    pub step: [T; D],
    /// Growth from one point of a row to the next, positive.
    pub rise: T,
    bias: T,
}

impl<const D: usize, T: Int> Passes<D, T> {
    /// The value at the point `at` times the spacing.
    #[inline]
    pub fn at(&self, at: [i32; D]) -> T {
        (0..D).fold(self.at_zero, |value, a| {
            value + T::from(i64::from(at[a])) * self.step[a]
        })
    }

    /// Distance of the plane from the first point beyond it, whose value is given, as a
    /// fraction of a step: two exact integers, each rounded to f64, divided in f64, rounded to
    /// f32; 0 to 1.
    #[inline]
    pub fn from_beyond(&self, value: T) -> f32 {
        (self.beyond(value).to_f64() / self.rise.to_f64()) as f32
    }

    /// The same distance times [`rise`](Self::rise), exactly.
    #[inline]
    pub fn beyond(&self, value: T) -> T {
        value + self.bias
    }

    /// Whether the plane is nearer to the point before it or to the first one beyond it, whose value is
    /// given: less, if to the point before it. Exact.
    #[inline]
    pub fn side(&self, value: T) -> Ordering {
        self.before(value).cmp(&self.beyond(value))
    }

    /// The same distance from the point before it.
    #[inline]
    pub fn from_before(&self, value: T) -> f32 {
        (self.before(value).to_f64() / self.rise.to_f64()) as f32
    }

    /// That distance times [`rise`](Self::rise), exactly.
    #[inline]
    pub fn before(&self, value: T) -> T {
        self.rise - value - self.bias
    }
}
