//! Binary STL: 80 bytes of header, a u32 count, then 50 bytes a triangle (normal,
//! three corners, two attribute bytes; little-endian f32).
//!
//! The header text, the normals and the attribute bytes are ignored. Some programs
//! write several STLs one behind the other: where their lengths add up to that of the
//! file, each is a patch, `body`, `body_2`, ... Otherwise the first count decides how
//! many triangles are read: bytes beyond it are noted and ignored.

use std::sync::atomic::{AtomicBool, Ordering};

use cutlink_device::memory;
use rayon::prelude::*;

use super::digits::far_away;
use super::sniff::{binary_count, binary_len, unknown};
use super::source::Source;
use super::stl_ascii::number;
use super::{DEFAULT_PATCH, FilePlace, Format, Loaded, ReadError, counted, loaded, weld};
use crate::Surface;

const FORMAT: Format = Format::StlBinary;

/// Triangles in file order, how many of them each body has, and notes.
pub(super) struct Soup {
    pub(super) triangles: Vec<[[f32; 3]; 3]>,
    bodies: Vec<u64>,
    notes: Vec<String>,
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let Soup {
        triangles,
        bodies,
        mut notes,
    } = soup(source)?;
    let facets_in_file = triangles.len() as u64;
    let (vertices, facets) = weld(&[&triangles]).map_err(|e| source.weld(FORMAT, e))?;
    notes.extend(far_away(&vertices));
    let names = (1..).map(|k| match k {
        1 => DEFAULT_PATCH.to_string(),
        _ => format!("{DEFAULT_PATCH}_{k}"),
    });
    let runs: Vec<_> = names.zip(bodies).collect();
    let (patches, facet_patch) = number(&runs, &mut notes);
    let surface = Surface {
        vertices,
        facets,
        facet_patch,
        patches,
    };
    Ok(loaded(surface, FORMAT, facets_in_file, notes))
}

pub(super) fn soup(source: Source<'_>) -> Result<Soup, ReadError> {
    let bytes = source.bytes;
    let Some(count) = binary_count(bytes) else {
        return Err(unknown(source));
    };
    let (len, wanted) = (bytes.len() as u64, binary_len(count));
    let mut notes = Vec::new();
    let mut bodies = vec![&bytes[84..len.min(wanted) as usize]];
    if len > wanted && count > 0 {
        let more = following(&bytes[wanted as usize..]);
        if !more.is_empty() {
            let all = more.len() + 1;
            notes.push(format!(
                "{all} binary STLs one behind the other: each is a patch"
            ));
        }
        bodies.extend(more);
    }
    if len != wanted && bodies.len() == 1 {
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
    if len > wanted && bodies.len() == 1 {
        notes.push(format!(
            "ignored {} after the {count} triangles that the header counts",
            counted(len - wanted, "byte")
        ));
    }
    let sizes: Vec<u64> = bodies.iter().map(|body| body.len() as u64 / 50).collect();
    let total = sizes.iter().sum::<u64>() as usize;
    let mut triangles =
        memory::with_capacity("its triangles", total).map_err(|e| source.memory(e))?;
    let sound = AtomicBool::new(true);
    for body in &bodies {
        triangles.par_extend(
            body.par_chunks_exact(50)
                .with_min_len(1 << 12)
                .map(|record| {
                    let corners = corners(record);
                    if !is_finite(&corners) {
                        sound.store(false, Ordering::Relaxed);
                    }
                    corners
                }),
        );
    }
    if !sound.into_inner() {
        return Err(not_finite(source, &triangles, &sizes));
    }
    Ok(Soup {
        triangles,
        bodies: sizes,
        notes,
    })
}

/// The records of the STLs that follow the first one, if `rest` is a sequence of whole STLs that have triangles and no
/// byte more; otherwise none.
fn following(mut rest: &[u8]) -> Vec<&[u8]> {
    let mut bodies = Vec::new();
    while !rest.is_empty() {
        let len = binary_count(rest)
            .filter(|&count| count > 0)
            .map(binary_len);
        let Some(len) = len.filter(|&len| len <= rest.len() as u64) else {
            return Vec::new();
        };
        let (body, behind) = rest.split_at(len as usize);
        bodies.push(&body[84..]);
        rest = behind;
    }
    bodies
}

/// The error for the first coordinate that is not finite; `bodies` has the number of triangles of each body.
fn not_finite(source: Source<'_>, triangles: &[[[f32; 3]; 3]], bodies: &[u64]) -> ReadError {
    let at = triangles.iter().position(|t| !is_finite(t)).unwrap_or(0);
    let mut values = triangles[at].into_iter().flatten();
    let value = values.find(|x| !x.is_finite()).map_or(f64::NAN, f64::from);
    let (mut triangle, mut body) = (at as u64, 0);
    while triangle >= bodies[body] {
        triangle -= bodies[body];
        body += 1;
    }
    let place = match body {
        0 => FilePlace::Triangle(triangle),
        _ => FilePlace::TriangleOfBody {
            body: body as u64,
            triangle,
            byte: 84 * (body as u64 + 1) + 50 * at as u64,
        },
    };
    source.not_finite(FORMAT, place, value)
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
    // What a text conversion left of an STL is named by the reader.
    if replaced(bytes) >= 3 {
        return true;
    }
    // Without a whole triangle, the count is all there is to judge by.
    if tried == 0 {
        count < 1 << 24
    } else {
        2 * good >= tried
    }
}

/// How many U+FFFD in UTF-8 the start of a file holds.
fn replaced(bytes: &[u8]) -> u64 {
    let head = &bytes[..bytes.len().min(1 << 16)];
    memchr::memmem::find_iter(head, b"\xef\xbf\xbd").count() as u64
}

/// Refuses a file of the wrong length that holds U+FFFD in UTF-8: something took
/// it for text, and what it replaced is lost.
fn check_mangled(source: Source<'_>) -> Result<(), ReadError> {
    let count = replaced(source.bytes);
    if count < 3 {
        return Ok(());
    }
    Err(ReadError::Mangled {
        path: source.name.into(),
        count,
    })
}
