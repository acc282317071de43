//! Binary STL: 80 bytes of header, a u32 count, then 50 bytes a triangle (normal,
//! three corners, two attribute bytes; little-endian f32).
//!
//! The header text, the normals and the attribute bytes are ignored. The count
//! decides how many triangles are read: bytes beyond it are noted and ignored.

use std::sync::atomic::{AtomicBool, Ordering};

use cutlink_device::memory;
use rayon::prelude::*;

use super::digits::far_away;
use super::sniff::{binary_count, binary_len, unknown};
use super::source::Source;
use super::{DEFAULT_PATCH, Format, Loaded, Place, ReadError, counted, loaded, weld};
use crate::Surface;

const FORMAT: Format = Format::StlBinary;

/// Triangles in file order, and notes.
pub(super) struct Soup {
    pub(super) triangles: Vec<[[f32; 3]; 3]>,
    notes: Vec<String>,
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let Soup {
        triangles,
        mut notes,
    } = soup(source)?;
    let facets_in_file = triangles.len() as u64;
    let (vertices, facets) = weld(&[&triangles]).map_err(|e| source.weld(FORMAT, e))?;
    notes.extend(far_away(&vertices));
    let surface = Surface::single_patch(vertices, facets, DEFAULT_PATCH);
    Ok(loaded(surface, FORMAT, facets_in_file, notes))
}

pub(super) fn soup(source: Source<'_>) -> Result<Soup, ReadError> {
    let bytes = source.bytes;
    let Some(count) = binary_count(bytes) else {
        return Err(unknown(source));
    };
    let (len, wanted) = (bytes.len() as u64, binary_len(count));
    let mut notes = Vec::new();
    if len != wanted {
        check_mangled(source)?;
    }
    if len < wanted {
        return Err(ReadError::Truncated {
            path: source.name.into(),
            format: FORMAT,
            what: "triangles".into(),
            expected: count.into(),
            found: (len - 84) / 50,
            end: len,
        });
    }
    if count == 0 {
        return Err(source.no_facets(FORMAT, "the count in its header is 0"));
    }
    if len > wanted {
        notes.push(format!(
            "ignored {} after the {count} triangles that the header counts",
            counted(len - wanted, "byte")
        ));
    }
    let body = &bytes[84..84 + 50 * count as usize];
    let sound = AtomicBool::new(true);
    let mut triangles =
        memory::with_capacity("its triangles", count as usize).map_err(|e| source.memory(e))?;
    body.par_chunks_exact(50)
        .with_min_len(1 << 12)
        .map(|record| {
            let corners = corners(record);
            if !is_finite(&corners) {
                sound.store(false, Ordering::Relaxed);
            }
            corners
        })
        .collect_into_vec(&mut triangles);
    if !sound.into_inner() {
        let triangle = triangles.iter().position(|t| !is_finite(t)).unwrap_or(0);
        let mut values = triangles[triangle].into_iter().flatten();
        let value = values.find(|x| !x.is_finite()).map_or(f64::NAN, f64::from);
        return Err(source.not_finite(FORMAT, Place::Triangle(triangle as u64), value));
    }
    Ok(Soup { triangles, notes })
}

fn is_finite(corners: &[[f32; 3]; 3]) -> bool {
    // No early exit: the nine tests become one vector test.
    corners
        .as_flattened()
        .iter()
        .fold(true, |all, x| all & x.is_finite())
}

fn corners(record: &[u8]) -> [[f32; 3]; 3] {
    // PERF: nine words at once; number by number the compiler made calls of it, at half the speed.
    let words: [u32; 9] = bytemuck::pod_read_unaligned(&record[12..48]);
    bytemuck::cast(words.map(u32::from_le))
}

/// Whether bytes whose length is not that of the count may be a binary STL all the same: at least half of the first
/// whole triangles have corners of sane magnitude. Of random bytes, one in 500 triangles has.
pub(super) fn is_plausible(bytes: &[u8]) -> bool {
    let Some(count) = binary_count(bytes) else {
        return false;
    };
    let sane = |x: &f32| *x == 0.0 || (1e-20..1e20).contains(&x.abs());
    let (mut tried, mut good) = (0, 0);
    for record in bytes[84..].chunks_exact(50).take(32) {
        tried += 1;
        good += u32::from(corners(record).as_flattened().iter().all(sane));
    }
    // Without a whole triangle, the count is all there is to judge by.
    if tried == 0 {
        count < 1 << 24
    } else {
        2 * good >= tried
    }
}

/// Refuses a file of the wrong length that holds U+FFFD in UTF-8: something took
/// it for text, and what it replaced is lost.
fn check_mangled(source: Source<'_>) -> Result<(), ReadError> {
    let head = &source.bytes[..source.bytes.len().min(1 << 16)];
    let count = memchr::memmem::find_iter(head, b"\xef\xbf\xbd").count() as u64;
    if count < 3 {
        return Ok(());
    }
    Err(ReadError::Mangled {
        path: source.name.into(),
        count,
    })
}
