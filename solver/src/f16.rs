//! Populations in 16 bits.

use crate::{
    Precision,
    constants::F16_SCALE,
    kernels::cpu::{LAYER, PAD, Processor, Row},
    lattice::MOST,
    storage::Storage,
};
use bytemuck::{Pod, Zeroable};

/// 2^97: from a number whose exponent and mantissa are those of a half in the bits of an f32 to the value.
const UP: f32 = f32::from_bits((127 + 112) << 23) / F16_SCALE;
/// And back.
const DOWN: f32 = F16_SCALE * f32::from_bits((127 - 112) << 23);
/// The exponent of an f32.
const EXPONENT: u32 = 0xff << 23;
/// The exponent below which the distance of two halves stays the same, less the scale: -14 - 15.
const LEAST: u32 = (127 - 29) << 23;
/// Bits of a half whose exponent says that it is infinite or not a number.
const INFINITE: u16 = 0x1f << 10;

/// A population less its weight, times 2^15, as IEEE half-precision number (FP16S of Lehmann, Krause, Amati, Sega, Harting &
/// Gekle, Phys. Rev. E 106 (2022) 015308). Eleven significant bits where the magnitude is 2^-29 or more, steps of 2^-39
/// below, and at most 1.999; what rounds to 2 or more becomes infinite, so that the flow counts as diverged. Equality is that
/// of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct F16(u16);

impl F16 {
    /// Of the bits of a half.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The bits of the half.
    #[must_use]
    pub const fn to_bits(self) -> u16 {
        self.0
    }
}

/// A scaled value with no more bits than a half keeps, up or down by chance: a hash of the value and a place.
#[inline(always)]
pub(crate) fn dithered(scaled: f32, place: u32) -> f32 {
    const LOST: u32 = 13;
    let bits = scaled.to_bits();
    let hash = (bits ^ place.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
    let raised = bits.wrapping_add(hash >> (32 - LOST));
    f32::from_bits(raised & !((1 << LOST) - 1))
}

impl Storage for F16 {
    type Real = f32;
    const PRECISION: Precision = Precision::F16;

    /// In integer arithmetic and products that are exact, on any processor.
    #[inline(always)]
    fn load(self) -> f32 {
        let magnitude = self.0 & 0x7fff;
        // An f32 of this exponent is 2^112 times too small, and the scale is 2^15.
        let value = f32::from_bits(u32::from(magnitude) << 13) * UP;
        let special = if magnitude >= INFINITE { EXPONENT } else { 0 };
        let sign = u32::from(self.0 & 0x8000) << 16;
        f32::from_bits(value.to_bits() | special | sign)
    }

    /// By a sum whose rounding leaves eleven significant bits; the rest is exact.
    #[inline(always)]
    fn store(value: f32) -> Self {
        let bits = value.to_bits();
        let magnitude = f32::from_bits(bits & 0x7fff_ffff);
        // Beyond the range, and NaN.
        let magnitude = if magnitude < 4.0 { magnitude } else { 4.0 };
        // 2^13 times the power of two below: the last bit of the sum is the eleventh of the value.
        let exponent = (magnitude.to_bits() & EXPONENT).max(LEAST);
        let shift = f32::from_bits(exponent + (13 << 23));
        let rounded = (magnitude + shift) - shift;
        let rounded = if rounded < 2.0 { rounded } else { 2.0 };
        #[allow(
            clippy::cast_possible_truncation,
            reason = "15 bits of magnitude, one of sign"
        )]
        let [half, sign, payload] = [
            ((rounded * DOWN).to_bits() >> 13) as u16,
            (bits >> 16) as u16 & 0x8000,
            (bits >> 13) as u16 & 0x3ff,
        ];
        let half = if value.is_nan() {
            INFINITE | 0x200 | payload
        } else {
            half
        };
        Self(half | sign)
    }

    /// Thresholds are a sequence of low discrepancy: multiples of the golden ratio.
    #[inline(always)]
    fn store_change(value: f32, place: usize) -> Self {
        let exponent = (value.to_bits() & EXPONENT).max(LEAST);
        let step = f32::from_bits(exponent - (10 << 23));
        let turn = (place as u32).wrapping_mul(0x9e37_79b9) >> 24;
        // Within half a step: what has not changed stays.
        let threshold = (2 * turn + 1) as f32 * (1.0 / 512.0) - 0.5;
        Self::store(value + threshold * step)
    }

    /// A random number is added below the last bit that is kept, and the rest cut off. What has all its bits kept stays.
    #[inline(always)]
    fn store_dithered(value: f32, place: usize) -> Self {
        Self::store(dithered(value * F16_SCALE, place as u32) * (1.0 / F16_SCALE))
    }

    type Gathered = [Row<Self>; MOST];

    #[inline(always)]
    fn gather<'a>(
        _: &'a mut Row<f32>,
        gathered: &'a mut Self::Gathered,
        q: usize,
    ) -> &'a mut Row<Self> {
        &mut gathered[q]
    }

    #[inline(always)]
    fn unpack<P: Processor>(
        processor: P,
        gathered: &Self::Gathered,
        q: usize,
        cells: usize,
        row: &mut Row<f32>,
    ) {
        let from = gathered[q][PAD..].as_chunks::<LAYER>().0;
        let to = row[PAD..].as_chunks_mut::<LAYER>().0;
        for layer in 0..cells / LAYER {
            processor.widen(&from[layer], &mut to[layer]);
        }
    }

    #[inline(always)]
    fn widen<'a, P: Processor>(
        processor: P,
        layer: &'a [Self; LAYER],
        spare: &'a mut [f32; LAYER],
    ) -> &'a [f32; LAYER] {
        processor.widen(layer, spare);
        spare
    }

    #[inline(always)]
    fn narrow<'a, P: Processor>(
        processor: P,
        layer: &'a [f32; LAYER],
        dithered_from: Option<usize>,
        spare: &'a mut [Self; LAYER],
    ) -> &'a [Self; LAYER] {
        match dithered_from {
            Some(place) => processor.dither(layer, place, spare),
            None => processor.narrow(layer, spare),
        }
        spare
    }
}
