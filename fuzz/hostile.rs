//! Valid files with hostile numbers in them, for the fuzz targets and, by `#[path]`, for tests of the workspace.
//!
//! Random bytes seldom get past a header. Here a valid file keeps its structure: only its counts, sizes, offsets and
//! values change, to numbers at which arithmetic overflows.

use std::ops::Range;

/// Numbers in text: the limits of 32 and 64 bits, of reals, and what is none.
pub(crate) const TEXTS: [&str; 20] = [
    "0",
    "1",
    "-1",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "6148914691236517206",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e300",
    "1e999",
    "nan",
];

/// Numbers in binary.
pub(crate) const WORDS: [u64; 12] = [
    0,
    1,
    0xff,
    0xffff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x1_0000_0000,
    0x5555_5555_5555_5556,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fff0,
    u64::MAX,
];

/// Where numbers of text are in a file: digits with what belongs to a number around them.
pub(crate) fn numbers(file: &[u8]) -> Vec<Range<usize>> {
    let is_part = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+');
    let mut found = Vec::new();
    let mut at = 0;
    while at < file.len() {
        let len = file[at..].iter().take_while(|&&b| is_part(b)).count();
        if file[at..at + len].iter().any(u8::is_ascii_digit) {
            found.push(at..at + len);
        }
        at += len.max(1);
    }
    found
}

/// The file with other bytes in the place of some.
pub(crate) fn replaced(file: &[u8], range: Range<usize>, by: &[u8]) -> Vec<u8> {
    [&file[..range.start], by, &file[range.end..]].concat()
}

/// The bytes of a number in binary.
pub(crate) fn word(value: u64, width: usize, is_big: bool) -> Vec<u8> {
    let bytes = value.to_le_bytes();
    let mut bytes = bytes[..width.min(8)].to_vec();
    if is_big {
        bytes.reverse();
    }
    bytes
}

/// Each number of text of a file replaced by each of [`TEXTS`], one at a time.
pub(crate) fn texts(file: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let each = numbers(file).into_iter();
    each.flat_map(move |range| {
        let by = move |text: &&str| replaced(file, range.clone(), text.as_bytes());
        TEXTS.iter().map(by)
    })
}

/// Each word of 4 and of 8 bytes of a file, from a place on, replaced by each of [`WORDS`] in both byte orders, one at a
/// time.
pub(crate) fn words(file: &[u8], from: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    (from..file.len()).flat_map(move |at| {
        WORDS.iter().flat_map(move |&value| {
            [(4, false), (4, true), (8, false), (8, true)]
                .into_iter()
                .filter(move |(width, _)| at + width <= file.len())
                .map(move |(width, is_big)| {
                    replaced(file, at..at + width, &word(value, width, is_big))
                })
        })
    })
}

/// Choices that bytes make; zeros behind their end.
#[derive(Debug)]
pub(crate) struct Choices<'a>(pub(crate) &'a [u8]);

impl Choices<'_> {
    /// A number below `count`, or 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let mut value = 0u64;
        for _ in 0..3 {
            let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
            self.0 = rest;
            value = value << 8 | u64::from(*first);
        }
        (value % count.max(1) as u64) as usize
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// One of some valid files, changed in up to eight places as `data` chooses: a number of text or of binary becomes a hostile
/// one, a part is doubled, or the end is cut off.
///
/// # Panics
/// Where there is no file.
pub(crate) fn mutant(files: &[Vec<u8>], data: &[u8]) -> Vec<u8> {
    let mut choices = Choices(data);
    let mut file = files[choices.below(files.len())].clone();
    for _ in 0..8 {
        if choices.is_empty() || file.is_empty() {
            break;
        }
        let kind = choices.below(8);
        let found = if kind < 4 { numbers(&file) } else { Vec::new() };
        file = match (kind, found.is_empty()) {
            (0..4, false) => {
                let range = found[choices.below(found.len())].clone();
                let text = TEXTS[choices.below(TEXTS.len())];
                replaced(&file, range, text.as_bytes())
            }
            (0..6, _) => {
                let width = [1, 2, 4, 8][choices.below(4)].min(file.len());
                let at = choices.below(file.len() - width + 1);
                let value = WORDS[choices.below(WORDS.len())];
                replaced(
                    &file,
                    at..at + width,
                    &word(value, width, choices.below(2) == 1),
                )
            }
            (6, _) => {
                let from = choices.below(file.len());
                let to = from + choices.below((file.len() - from).min(64));
                let part = file[from..to].to_vec();
                replaced(&file, from..from, &part)
            }
            _ => {
                let len = choices.below(file.len());
                file[..len].to_vec()
            }
        };
    }
    file
}

/// Bytes without a pattern, for tests: the same for a seed on every machine.
pub(crate) fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(next).collect()
}
