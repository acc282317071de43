//! 2D polylines: two-column text, and airfoils in Selig's or Lednicer's layout.
//!
//! A line holds a point (two numbers, separated by blanks, tabs, commas or
//! semicolons), a name (text), or nothing. `#` starts a comment. A blank line ends a
//! loop; each loop is closed, whether or not it repeats its first point at its end. A
//! name stands at the start of the file or behind a blank line, and names the next
//! loop's patch; loops of one name are one patch, and the k-th loop without a name
//! is `body` (k = 1) or `body_k`. The order of the points is kept: a body has to run
//! counter-clockwise, which the health report checks.
//!
//! A line `[name]` within a loop names a part of it: the segments that follow, from the point before the line
//! on, are of that patch, up to the next such line or the end of the loop. Behind the last point it names
//! the segment that closes the loop.
//!
//! Selig: a name, then the points from the trailing edge over the upper side to the
//! nose and back below; that is a loop as it stands. Lednicer: a name, a line with the
//! two numbers of points, then the upper and the lower side, each from the nose to the
//! trailing edge; it is put into Selig's order. The layout is Lednicer's where the
//! first pair is whole numbers that add up to the points that follow, and each side
//! begins at its leftmost point and ends at its rightmost.

use std::collections::HashMap;

use super::sniff::{strip_bom, unknown};
use super::source::Source;
use super::{DEFAULT_PATCH, FilePlace, Format, Loaded, ReadError, loaded};
use crate::Surface;

const FORMAT: Format = Format::Polyline;

/// Points that follow one another, and the name before them.
#[derive(Debug, Default)]
struct Loop {
    name: Option<String>,
    points: Vec<[f64; 2]>,
    /// Names of parts, with how many points came before and their line.
    parts: Vec<(usize, String, u64)>,
    /// Line of the first point.
    line: u64,
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<2>, ReadError> {
    let mut notes = Vec::new();
    let mut loops = loops(source, &mut notes)?;
    let points: u64 = loops.iter().map(|l| l.points.len() as u64).sum();
    if points == 0 {
        return Err(unknown(source));
    }
    if points > u64::from(u32::MAX) {
        return Err(ReadError::TooMany {
            path: source.name.into(),
            format: FORMAT,
            corners: points,
        });
    }
    if let Some(airfoil) = lednicer(source, &loops)? {
        notes.push("Lednicer airfoil: the two sides were joined into one loop from the trailing edge over the upper side".into());
        loops = vec![airfoil];
    }
    let surface = close(source, loops, &mut notes)?;
    Ok(loaded(surface, FORMAT, points, notes))
}

fn loops(source: Source<'_>, notes: &mut Vec<String>) -> Result<Vec<Loop>, ReadError> {
    let mut loops: Vec<Loop> = Vec::new();
    let mut current = Loop::default();
    for (line, text) in lines(strip_bom(source.bytes)) {
        let text = String::from_utf8_lossy(text);
        let text = text.split('#').next().unwrap_or("").trim();
        let blank_line = text.is_empty();
        if blank_line {
            if !current.points.is_empty() {
                loops.push(std::mem::take(&mut current));
            }
            continue;
        }
        let place = FilePlace::Line(line);
        if let Some(rest) = text.strip_prefix('[') {
            let name = rest.strip_suffix(']').map(str::trim);
            let Some(name) = name.filter(|name| !name.is_empty()) else {
                let found: String = text.chars().take(40).collect();
                let found = format!("'{}'", found.escape_debug());
                return Err(source.syntax(FORMAT, place, "a part's name, as in [inlet]", found));
            };
            current
                .parts
                .push((current.points.len(), name.to_string(), line));
            continue;
        }
        match numbers(text) {
            Some(pair) => {
                let &[x, y] = &pair[..] else {
                    let found = format!("{} numbers", pair.len());
                    return Err(source.syntax(FORMAT, place, "two numbers, x and y", found));
                };
                if let Some(value) = [x, y].into_iter().find(|v| !v.is_finite()) {
                    return Err(source.not_finite(FORMAT, place, value));
                }
                if current.points.is_empty() {
                    current.line = line;
                }
                current.points.push([x, y]);
            }
            None if current.points.is_empty() => match current.name {
                None => current.name = Some(text.to_string()),
                Some(_) => notes.push(format!("{place} was skipped: the loop has a name already")),
            },
            None => {
                let found: String = text.chars().take(40).collect();
                let found = format!("'{}'", found.escape_debug());
                return Err(source.syntax(
                    FORMAT,
                    place,
                    "two numbers, or a blank line before a name",
                    found,
                ));
            }
        }
    }
    if !current.points.is_empty() {
        loops.push(current);
    } else if let Some((_, part, line)) = current.parts.first() {
        let found = format!("the end of the file behind '{part}'");
        return Err(source.syntax(
            FORMAT,
            FilePlace::Line(*line),
            "points behind a part's name",
            found,
        ));
    }
    Ok(loops)
}

/// Lines with their numbers from 1; `\n`, `\r\n` and a lone `\r` each end one.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = Some(bytes);
    let mut line = 0;
    std::iter::from_fn(move || {
        let bytes = rest?;
        line += 1;
        let Some(len) = memchr::memchr2(b'\n', b'\r', bytes) else {
            rest = None;
            return Some((line, bytes));
        };
        let skip = if bytes[len..].starts_with(b"\r\n") {
            2
        } else {
            1
        };
        rest = Some(&bytes[len + skip..]);
        Some((line, &bytes[..len]))
    })
}

/// The numbers of a line, or `None` where a word of it is none.
fn numbers(text: &str) -> Option<Vec<f64>> {
    // A letter at the front is a name, though "inf" and "nan" are numbers.
    text.split(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .filter(|word| !word.is_empty())
        .map(|word| fast_float2::parse(word).ok())
        .collect()
}

/// The one loop of a Lednicer airfoil, or `None` where the file is not one.
fn lednicer(source: Source<'_>, loops: &[Loop]) -> Result<Option<Loop>, ReadError> {
    if loops.iter().any(|l| !l.parts.is_empty()) {
        return Ok(None);
    }
    let counts = loops[0].points[0];
    let whole = |n: f64| (2.0..=1e6).contains(&n) && n.fract() == 0.0;
    if !counts.iter().all(|&n| whole(n)) {
        return Ok(None);
    }
    let points: Vec<[f64; 2]> = loops
        .iter()
        .flat_map(|l| &l.points)
        .skip(1)
        .copied()
        .collect();
    let [upper, lower] = counts.map(|n| n as usize);
    if points.len() != upper + lower {
        // A counts line above a chord of about one, yet the counts are wrong.
        let unit_chord = points
            .iter()
            .all(|p| p[0].abs() <= 1.5 && p[1].abs() <= 1.5);
        if loops[0].name.is_some()
            && counts.iter().all(|&n| n > 2.0)
            && unit_chord
            && points.len() > 2
        {
            let expected =
                format!("{upper} + {lower} points of a Lednicer airfoil behind this line");
            return Err(source.syntax(
                FORMAT,
                FilePlace::Line(loops[0].line),
                expected,
                format!("{} points", points.len()),
            ));
        }
        return Ok(None);
    }
    let (above, below) = points.split_at(upper);
    if !(spans_chord(above) && spans_chord(below)) {
        return Ok(None);
    }
    let nose = usize::from(above[0] == below[0]);
    let joined = above.iter().rev().chain(&below[nose..]).copied().collect();
    Ok(Some(Loop {
        name: loops[0].name.clone(),
        points: joined,
        parts: Vec::new(),
        line: loops[0].line,
    }))
}

/// Whether a side begins at its leftmost point and ends at its rightmost, within 1 % of the chord.
fn spans_chord(side: &[[f64; 2]]) -> bool {
    let xs = || side.iter().map(|p| p[0]);
    let (left, right) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
    let slack = 0.01 * (right - left);
    right > left && side[0][0] <= left + slack && side[side.len() - 1][0] >= right - slack
}

/// The distinct points of a loop; the part that the segment from each of them belongs to, 0 for that before the first
/// part's name; and how many points were dropped that repeat the one before.
fn segments(
    mut points: Vec<[f64; 2]>,
    parts: &[(usize, String, u64)],
) -> (Vec<[f64; 2]>, Vec<usize>, usize) {
    while points.len() > 1 && points.last() == points.first() {
        points.pop();
    }
    let before = points.len();
    let mut kept: Vec<([f64; 2], usize)> = Vec::with_capacity(before);
    for (k, point) in points.into_iter().enumerate() {
        // A name behind k + 1 points is that of the segment from point k.
        let part = parts.iter().take_while(|(at, ..)| *at <= k + 1).count();
        match kept.last_mut() {
            Some(last) if last.0 == point => last.1 = part,
            _ => kept.push((point, part)),
        }
    }
    let dropped = before - kept.len();
    let (points, part_of) = kept.into_iter().unzip();
    (points, part_of, dropped)
}

/// Loops to segment cycles with patches.
fn close(
    source: Source<'_>,
    loops: Vec<Loop>,
    notes: &mut Vec<String>,
) -> Result<Surface<2>, ReadError> {
    let mut surface = Surface {
        vertices: Vec::new(),
        facets: Vec::new(),
        facet_patch: Vec::new(),
        patches: Vec::new(),
    };
    let mut known = HashMap::new();
    let (mut nameless, mut repeated) = (0, 0);
    for Loop {
        name,
        points,
        parts,
        line,
    } in loops
    {
        let (points, part_of, dropped) = segments(points, &parts);
        repeated += dropped;
        if points.len() < 3 {
            let found = format!("{} distinct ones", points.len());
            return Err(source.syntax(
                FORMAT,
                FilePlace::Line(line),
                "a loop of at least three points",
                found,
            ));
        }
        for (k, (_, part, line)) in parts.iter().enumerate() {
            if !part_of.contains(&(k + 1)) {
                let found = format!("no segment between '{part}' and the next part");
                let expected = "points behind a part's name";
                return Err(source.syntax(FORMAT, FilePlace::Line(*line), expected, found));
            }
        }
        let mut patch_of = vec![0; parts.len() + 1];
        for (k, patch) in patch_of.iter_mut().enumerate() {
            if !part_of.contains(&k) {
                continue;
            }
            let named = k.checked_sub(1).map(|k| parts[k].1.clone());
            let name = named.or_else(|| name.clone()).unwrap_or_else(|| {
                nameless += 1;
                if nameless == 1 {
                    DEFAULT_PATCH.to_string()
                } else {
                    format!("{DEFAULT_PATCH}_{nameless}")
                }
            });
            let number = *known.entry(name).or_insert_with_key(|name| {
                surface.patches.push(name.clone());
                surface.patches.len() - 1
            });
            *patch = u16::try_from(number).map_err(|_| {
                let expected = "at most 65536 names of loops and parts";
                source.syntax(FORMAT, FilePlace::Line(line), expected, "more")
            })?;
        }
        let (first, len) = (surface.vertices.len() as u32, points.len() as u32);
        surface
            .facets
            .extend((0..len).map(|k| [first + k, first + (k + 1) % len]));
        surface
            .facet_patch
            .extend(part_of.into_iter().map(|k| patch_of[k]));
        surface
            .vertices
            .extend(points.into_iter().map(|p| p.map(|x| x + 0.0)));
    }
    if repeated > 0 {
        notes.push(format!(
            "{repeated} points that repeat the one before were dropped"
        ));
    }
    if surface.patches.len() == 1 {
        surface.facet_patch = Vec::new();
    }
    Ok(surface)
}
