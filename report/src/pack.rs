//! Arrays as bytes that deflate well, and their descriptions for the viewer.
//!
//! | kind | code of an element | bytes |
//! |---|---|---|
//! | `bytes` | itself | 1 |
//! | `numbers` | round((v - low) / (high - low) · most), 65535 if missing; then the zigzag of the difference to the code `stride` before, or to the last one where there is none | 2, in planes |
//! | `index` | the high-water mark less the index (Pajarola and Rossignac, 2000, use the same idea) | 4, in planes |
//! | `floats` | its bits | 4, in planes |
//!
//! In planes: first the lowest byte of every element, then the next one.

use serde::Serialize;

/// Steps of a range: values.
pub(crate) const FINE: u16 = 2047;
/// Steps of a range: positions.
pub(crate) const FINEST: u16 = 65534;
/// The code of a missing value.
const MISSING: u16 = 65535;

/// Where an array is, and what it means.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Packed {
    kind: &'static str,
    at: usize,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    coding: Option<Coding>,
}

/// The coding of numbers; components take turns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Coding {
    pub(crate) stride: usize,
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
    pub(crate) most: u16,
}

/// Collects arrays.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    pub(crate) bytes: Vec<u8>,
}

impl Packer {
    fn begin(&self, kind: &'static str, count: usize) -> Packed {
        Packed {
            kind,
            at: self.bytes.len(),
            count,
            coding: None,
        }
    }

    pub(crate) fn bytes(&mut self, values: &[u8]) -> Packed {
        let packed = self.begin("bytes", values.len());
        self.bytes.extend_from_slice(values);
        packed
    }

    /// `coding` has ranges of finite numbers.
    pub(crate) fn numbers(
        &mut self,
        count: usize,
        value: impl Fn(usize) -> f64,
        coding: Coding,
    ) -> Packed {
        let packed = self.begin("numbers", count);
        let components = coding.low.len();
        let mut codes = Vec::with_capacity(count);
        let mut planes = vec![0; 2 * count];
        for i in 0..count {
            let k = i % components;
            let code = quantise(value(i), coding.low[k], coding.high[k], coding.most);
            let before = match i.checked_sub(coding.stride).or(i.checked_sub(1)) {
                Some(j) => codes[j],
                None => 0,
            };
            codes.push(code);
            let difference = code.wrapping_sub(before) as i16;
            let zigzag = ((difference << 1) ^ (difference >> 15)) as u16;
            [planes[i], planes[count + i]] = zigzag.to_le_bytes();
        }
        self.bytes.extend_from_slice(&planes);
        Packed {
            coding: Some(coding),
            ..packed
        }
    }

    /// Indices in the order of first use: each is at most one above all before it.
    pub(crate) fn indices(&mut self, indices: impl Iterator<Item = u32>) -> Packed {
        let mut next = 0;
        let below = indices.map(|i| {
            let below = next - i;
            next += u32::from(below == 0);
            below
        });
        let codes: Vec<u32> = below.collect();
        self.planes("index", &codes)
    }

    pub(crate) fn floats(&mut self, values: impl Iterator<Item = f64>) -> Packed {
        let codes: Vec<u32> = values.map(|v| (v as f32).to_bits()).collect();
        self.planes("floats", &codes)
    }

    fn planes(&mut self, kind: &'static str, codes: &[u32]) -> Packed {
        let packed = self.begin(kind, codes.len());
        for plane in 0..4 {
            let of = codes.iter().map(|code| (code >> (8 * plane)) as u8);
            self.bytes.extend(of);
        }
        packed
    }
}

fn quantise(value: f64, low: f64, high: f64, most: u16) -> u16 {
    if !value.is_finite() {
        return MISSING;
    }
    let share = match high > low {
        true => (value - low) / (high - low),
        false => 0.0,
    };
    (share * f64::from(most))
        .round()
        .clamp(0.0, f64::from(most)) as u16
}

/// The least and the largest finite value; none without any.
pub(crate) fn extent(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let finite = values.filter(|v| v.is_finite());
    finite.fold(None, |seen, v| match seen {
        None => Some([v, v]),
        Some([low, high]) => Some([low.min(v), high.max(v)]),
    })
}

/// The coding of values: coarse, unless most of them lie in a small part of their range.
pub(crate) fn coding(range: [f64; 2], shown: [f64; 2], stride: usize) -> Coding {
    let most = match shown[1] - shown[0] < (range[1] - range[0]) / 8.0 {
        true => FINEST,
        false => FINE,
    };
    Coding {
        stride,
        low: vec![range[0]],
        high: vec![range[1]],
        most,
    }
}

/// Values at the ends of a colour bar that cover 99.8 % of the finite ones: from zero where none is negative, symmetric
/// about zero for diverging colours.
pub(crate) fn shown(mut values: Vec<f32>, colours: crate::PageColours) -> [f64; 2] {
    use crate::PageColours::{Diverging, Sequential, Steps};
    values.retain(|v| v.is_finite());
    if values.is_empty() {
        return [0.0, 1.0];
    }
    if colours == Diverging {
        values.iter_mut().for_each(|v| *v = v.abs());
    }
    let last = values.len() - 1;
    let mut at = |share: f64| {
        let i = (last as f64 * share).round() as usize;
        f64::from(*values.select_nth_unstable_by(i, f32::total_cmp).1)
    };
    let [low, high] = match colours {
        Steps => [at(0.0), at(1.0)],
        Diverging => {
            let most = at(0.998);
            [-most, most]
        }
        Sequential => match at(0.0) >= 0.0 {
            true => [0.0, at(0.998)],
            false => [at(0.001), at(0.999)],
        },
    };
    match high > low || colours == Steps {
        true => [low, high],
        false => [low, low + low.abs().max(1.0)],
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with padding (RFC 4648, section 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |i: usize| u32::from(group.get(i).copied().unwrap_or(0)) << (16 - 8 * i);
        let word = at(0) | at(1) | at(2);
        for i in 0..4 {
            text.push(match i <= group.len() {
                true => char::from(DIGITS[(word >> (18 - 6 * i) & 63) as usize]),
                false => '=',
            });
        }
    }
    text
}
