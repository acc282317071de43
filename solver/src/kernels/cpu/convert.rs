//! Values to 16-bit populations and back, by the conversions that [`stream`](super::stream) uses.

use super::{
    LAYER,
    processor::{Processor, Work, dispatch},
};
use crate::{F16, storage::Storage};

/// Narrows what fills layers.
struct Narrow<'a> {
    from: &'a [f32],
    to: &'a mut [F16],
}

impl Work for Narrow<'_> {
    #[cfg_attr(optimized, inline(always))]
    fn run<P: Processor>(self, processor: P) {
        let to = self.to.as_chunks_mut().0;
        for (from, to) in self.from.as_chunks::<LAYER>().0.iter().zip(to) {
            processor.narrow(from, to);
        }
    }
}

/// Widens what fills layers.
struct Widen<'a> {
    from: &'a [F16],
    to: &'a mut [f32],
}

impl Work for Widen<'_> {
    #[cfg_attr(optimized, inline(always))]
    fn run<P: Processor>(self, processor: P) {
        let to = self.to.as_chunks_mut().0;
        for (from, to) in self.from.as_chunks::<LAYER>().0.iter().zip(to) {
            processor.widen(from, to);
        }
    }
}

pub(super) fn narrow(values: &[f32]) -> Vec<F16> {
    // What is left behind the last layer is converted one by one.
    let mut out: Vec<F16> = values.iter().map(|&value| F16::store(value)).collect();
    dispatch(Narrow {
        from: values,
        to: &mut out,
    });
    out
}

pub(super) fn widen(populations: &[F16]) -> Vec<f32> {
    let mut out: Vec<f32> = populations.iter().map(|f| f.load()).collect();
    dispatch(Widen {
        from: populations,
        to: &mut out,
    });
    out
}
