//! Lines against facets: linear forms, for one line, for rows of lines, for many directions.

use super::{Exact, Facet, first_sign};

/// Linear forms `w·p + c`; with the tie rule folded into `c`, negative or not tells the sign.
#[derive(Debug, Clone, Copy)]
pub struct LineForms<const D: usize> {
    w: [[i64; D]; D],
    c: [i64; D],
}

impl<const D: usize> LineForms<D> {
    pub(super) fn untied(w: [[i64; D]; D], c: [i64; D]) -> Self {
        Self { w, c }
    }

    /// Folds the tie rule in: a form that is 0 at p has the sign of its first non-zero
    /// coefficient.
    #[inline]
    pub(super) fn tied(mut self) -> Self {
        for k in 0..D {
            if first_sign(&self.w[k]) < 0 {
                self.c[k] -= 1;
            }
        }
        self
    }

    /// Whether the line through `p` meets the facet.
    #[inline]
    pub fn hit(&self, p: [i32; D]) -> bool {
        self.at(p, 0).hit()
    }

    /// The values at `p`, and their increments for steps of `spacing` along each axis: for
    /// going over many lines with additions only.
    #[inline(always)]
    pub fn at(&self, p: [i32; D], spacing: i32) -> LineCursor<D> {
        let mut value = self.c;
        for k in 0..D {
            for a in 0..D {
                value[k] += self.w[k][a] * i64::from(p[a]);
            }
        }
        LineCursor {
            value,
            step: self.w.map(|w| w.map(|c| c * i64::from(spacing))),
        }
    }
}

/// The forms at one of a grid of points; see [`LineForms::at`].
#[derive(Debug, Clone, Copy)]
pub struct LineCursor<const D: usize> {
    value: [i64; D],
    step: [[i64; D]; D],
}

impl<const D: usize> LineCursor<D> {
    /// Whether the line through the point meets the facet: all signs alike.
    #[inline]
    pub fn hit(&self) -> bool {
        let (mut and, mut or) = (-1i64, 0i64);
        for value in self.value {
            and &= value;
            or |= value;
        }
        and < 0 || or >= 0
    }

    /// Four points of a row at once, as [`LineCursor::hit`] would answer with them one by one:
    /// the sign of each number tells. Points `first` to `first + 3` steps up along `axis`.
    #[inline(always)]
    pub fn hits(&self, axis: usize, first: i64) -> [i64; 4] {
        let (mut and, mut or) = ([-1i64; 4], [0i64; 4]);
        for k in 0..D {
            let step = self.step[k][axis];
            let base = self.value[k].wrapping_add(first.wrapping_mul(step));
            for lane in 0..4 {
                let value = base.wrapping_add((lane as i64).wrapping_mul(step));
                and[lane] &= value;
                or[lane] |= value;
            }
        }
        std::array::from_fn(|lane| and[lane] | !or[lane])
    }

    /// Goes one step up along `axis`.
    #[inline]
    pub fn advance(&mut self, axis: usize) {
        for k in 0..D {
            self.value[k] += self.step[k][axis];
        }
    }
}

/// The forms of a facet for the directions of the axes, from which those of any direction
/// are sums.
#[derive(Debug, Clone, Copy)]
pub struct AxisForms<const D: usize>([LineForms<D>; D]);

impl<const D: usize> AxisForms<D>
where
    Facet<D>: Exact<D>,
{
    /// The forms of a facet.
    #[inline]
    pub fn new(facet: &Facet<D>) -> Self {
        Self(std::array::from_fn(|axis| {
            facet.untied_forms(std::array::from_fn(|a| i32::from(a == axis)))
        }))
    }

    /// The forms of lines along `d`, ties broken.
    #[inline(always)]
    pub fn along(&self, d: [i32; D]) -> LineForms<D> {
        let mut sum = LineForms {
            w: [[0; D]; D],
            c: [0; D],
        };
        for (forms, &d) in self.0.iter().zip(&d) {
            for k in 0..D {
                for a in 0..D {
                    sum.w[k][a] += i64::from(d) * forms.w[k][a];
                }
                sum.c[k] += i64::from(d) * forms.c[k];
            }
        }
        sum.tied()
    }
}
