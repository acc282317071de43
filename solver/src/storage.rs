//! The types of populations in memory. Arithmetic is in [`Real`]: populations are converted where they are loaded and
//! stored, and nowhere else.

use crate::{
    Precision,
    kernels::cpu::{Compiled, LAYER, Processor, Row},
};
use bytemuck::Zeroable;
use cutlink_device::{Item, Real};

/// How a population is stored: f32 and f64 as they are.
pub trait Storage: Item + Compiled {
    /// The type of arithmetic, and of moments that pass between levels.
    type Real: Real;
    /// Its name in parameters.
    const PRECISION: Precision;

    /// The value.
    fn load(self) -> Self::Real;

    /// A value, rounded to nearest even.
    fn store(value: Self::Real) -> Self;

    /// A stored value after a change that may be smaller than half a step of the format, in which case [`store`](Self::store)
    /// would always undo it. In 16 bits it is rounded by a threshold that differs from place to place of a block (64 times the
    /// velocity plus the cell), so that changes are right on average; else rounded to nearest.
    #[inline(always)]
    fn store_change(value: Self::Real, _place: usize) -> Self {
        Self::store(value)
    }

    /// A value rounded up or down, by chance as near as it is: right on average over many. In 16 bits; else rounded to nearest. The
    /// chance is a number made of the value and its place in a block, as in [`store_change`](Self::store_change).
    #[inline(always)]
    fn store_dithered(value: Self::Real, _place: usize) -> Self {
        Self::store(value)
    }

    /// Rows of a block as they are gathered on the CPU, if they are to be converted.
    type Gathered: Zeroable;

    /// Where the CPU gathers row `q` of a tile: the row itself, or a row that [`unpack`](Self::unpack) is to convert.
    fn gather<'a>(
        row: &'a mut Row<Self::Real>,
        gathered: &'a mut Self::Gathered,
        q: usize,
    ) -> &'a mut Row<Self>;

    /// Brings the first `cells` cells of what was gathered into the row. To be done once all rows are gathered: a processor
    /// waits for stores in pieces that are read again at once as a whole.
    fn unpack<P: Processor>(
        processor: P,
        gathered: &Self::Gathered,
        q: usize,
        cells: usize,
        row: &mut Row<Self::Real>,
    );

    /// The values of a layer: itself, or converted in `spare`.
    fn widen<'a, P: Processor>(
        processor: P,
        layer: &'a [Self; LAYER],
        spare: &'a mut [Self::Real; LAYER],
    ) -> &'a [Self::Real; LAYER];

    /// A layer as it is stored: itself, or converted in `spare`; [dithered](Self::store_dithered) from a place on, if there is one.
    fn narrow<'a, P: Processor>(
        processor: P,
        layer: &'a [Self::Real; LAYER],
        dithered_from: Option<usize>,
        spare: &'a mut [Self; LAYER],
    ) -> &'a [Self; LAYER];
}

macro_rules! as_it_is {
    ($type:ty, $precision:ident) => {
        impl Storage for $type {
            type Real = Self;
            const PRECISION: Precision = Precision::$precision;

            #[inline(always)]
            fn load(self) -> Self {
                self
            }

            #[inline(always)]
            fn store(value: Self) -> Self {
                value
            }

            type Gathered = ();

            #[inline(always)]
            fn gather<'a>(row: &'a mut Row<Self>, _: &'a mut (), _: usize) -> &'a mut Row<Self> {
                row
            }

            #[inline(always)]
            fn unpack<P: Processor>(_: P, _: &(), _: usize, _: usize, _: &mut Row<Self>) {}

            #[inline(always)]
            fn widen<'a, P: Processor>(
                _: P,
                layer: &'a [Self; LAYER],
                _: &'a mut [Self; LAYER],
            ) -> &'a [Self; LAYER] {
                layer
            }

            #[inline(always)]
            fn narrow<'a, P: Processor>(
                _: P,
                layer: &'a [Self; LAYER],
                _: Option<usize>,
                _: &'a mut [Self; LAYER],
            ) -> &'a [Self; LAYER] {
                layer
            }
        }
    };
}
as_it_is!(f32, F32);
as_it_is!(f64, F64);
