//! ASCII STL, any number of solids.
//!
//! Words are separated by any white space, in any case, on any number of lines;
//! only a solid's name needs its line's end (or the next `facet`). Ignored: what
//! stands between `facet` and `outer` (the normal), and the rest of an `endsolid`
//! line. Forgiven: `end solid`, `end facet`, `end loop`, facets outside a solid, a
//! missing `endsolid`; the last two with a note. A facet has three vertices.
//!
//! Patches: one a name, in order of first appearance; solids of the same name are
//! one patch. The k-th solid without a name is `solid` (k = 1) or `solid_k`. A solid
//! without facets makes no patch and is noted.
//!
//! Method: the text is cut behind line-leading `endfacet` words into pieces of about
//! 1 MiB, parsed in parallel, and joined in order.

use rayon::prelude::*;

use super::sniff::strip_bom;
use super::source::Source;
use super::{Format, Loaded, ReadError, counted, loaded, weld};
use crate::Surface;

const FORMAT: Format = Format::StlAscii;
const PIECE: usize = 1 << 20;

/// Triangles in pieces that follow one another, and where solids begin and end.
pub(super) struct Soup {
    pub(super) triangles: Vec<Vec<[[f64; 3]; 3]>>,
    /// Number of triangles before the mark, and the mark; in file order.
    marks: Vec<(u64, Mark)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Mark {
    Solid(String),
    EndSolid,
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let Soup { triangles, marks } = soup(source)?;
    let facets_in_file: u64 = triangles.iter().map(|piece| piece.len() as u64).sum();
    if facets_in_file == 0 {
        return Err(source.no_facets(FORMAT, "it holds solids without a single facet"));
    }
    let (vertices, facets) = weld(&triangles).map_err(|e| source.weld(FORMAT, e))?;
    let mut notes = Vec::new();
    if source.bytes.len() != strip_bom(source.bytes).len() {
        notes.push("the byte order mark at the start was skipped".into());
    }
    let (patches, facet_patch) = patches(&marks, facets_in_file, &mut notes);
    let surface = Surface {
        vertices,
        facets,
        facet_patch,
        patches,
    };
    Ok(loaded(surface, FORMAT, facets_in_file, notes))
}

/// Turns the marks into runs of facets with a name, and those into patches.
fn patches(marks: &[(u64, Mark)], facets: u64, notes: &mut Vec<String>) -> (Vec<String>, Vec<u16>) {
    let mut runs: Vec<(String, u64)> = Vec::new();
    let mut open: Option<(String, u64)> = None;
    let (mut nameless, mut orphans, mut unended, mut empty) = (0, 0, 0, 0);
    let mut done = 0;
    let mut close = |name: String, from: u64, to: u64| {
        if to > from {
            runs.push((name, to - from));
        } else {
            empty += 1;
        }
    };
    let nameless_name = |k: u32| match k {
        1 => "solid".to_string(),
        _ => format!("solid_{k}"),
    };
    for (at, mark) in marks {
        match open.take() {
            Some((name, from)) => {
                close(name, from, *at);
                unended += u64::from(*mark != Mark::EndSolid);
            }
            None if *at > done => {
                orphans += at - done;
                nameless += 1;
                close(nameless_name(nameless), done, *at);
            }
            None => {}
        }
        done = *at;
        if let Mark::Solid(name) = mark {
            let name = if name.is_empty() {
                nameless += 1;
                nameless_name(nameless)
            } else {
                name.clone()
            };
            open = Some((name, *at));
        }
    }
    match open {
        Some((name, from)) => {
            close(name, from, facets);
            notes.push("the file ends without endsolid: it may be truncated".into());
        }
        None if facets > done => {
            orphans += facets - done;
            close(nameless_name(nameless + 1), done, facets);
        }
        None => {}
    }
    if unended > 0 {
        notes.push(format!(
            "{unended} solids begin before the last one's endsolid: all were kept"
        ));
    }
    if orphans > 0 {
        notes.push(format!(
            "kept {} outside any solid as a nameless one",
            counted(orphans, "facet")
        ));
    }
    if empty > 0 {
        notes.push(format!(
            "dropped {} without facets",
            counted(empty, "solid")
        ));
    }
    number(&runs, notes)
}

/// Patch names in order of first appearance, and the patch of each facet.
pub(super) fn number(runs: &[(String, u64)], notes: &mut Vec<String>) -> (Vec<String>, Vec<u16>) {
    let mut names: Vec<String> = Vec::new();
    let mut known = std::collections::HashMap::new();
    let mut facet_patch = Vec::new();
    for (name, len) in runs {
        let next = known.len();
        let patch = *known.entry(name.as_str()).or_insert_with(|| {
            names.push(name.clone());
            next
        });
        let Ok(patch) = u16::try_from(patch) else {
            notes.push(
                "more than 65536 patch names: all facets were put into the first's patch".into(),
            );
            names.truncate(1);
            return (names, Vec::new());
        };
        facet_patch.resize(facet_patch.len() + *len as usize, patch);
    }
    if names.len() == 1 {
        facet_patch = Vec::new();
    }
    (names, facet_patch)
}

pub(super) fn soup(source: Source<'_>) -> Result<Soup, ReadError> {
    let cuts = cuts(source.bytes);
    let pieces: Vec<Result<Piece, Fault>> = cuts
        .par_windows(2)
        .map(|cut| Piece::parse(&source.bytes[..cut[1]], cut[0]))
        .collect();
    let mut soup = Soup {
        triangles: Vec::with_capacity(pieces.len()),
        marks: Vec::new(),
    };
    let mut before = 0;
    for piece in pieces {
        let piece = piece.map_err(|fault| fault.into_error(source))?;
        let marks = piece.marks.into_iter();
        soup.marks
            .extend(marks.map(|(at, mark)| (before + at, mark)));
        before += piece.triangles.len() as u64;
        soup.triangles.push(piece.triangles);
    }
    Ok(soup)
}

/// Where pieces begin: at 0, and behind an `endfacet` that leads its line.
fn cuts(bytes: &[u8]) -> Vec<usize> {
    let mut cuts = vec![bytes.len() - strip_bom(bytes).len()];
    for k in 1..bytes.len() / PIECE {
        let from = (k * PIECE).max(*cuts.last().expect("the first cut should be there"));
        cuts.extend(next_cut(bytes, from));
    }
    cuts.push(bytes.len());
    cuts.dedup();
    cuts
}

fn next_cut(bytes: &[u8], from: usize) -> Option<usize> {
    // Further than this there is no regular facet: the piece just becomes larger.
    let window = &bytes[from..bytes.len().min(from + PIECE)];
    for word in [b"endfacet", b"ENDFACET"] {
        for at in memchr::memmem::find_iter(window, word) {
            let line = window[..at]
                .iter()
                .rposition(|&b| matches!(b, b'\n' | b'\r'));
            let leads = line.is_some_and(|line| window[line..at].trim_ascii().is_empty());
            let end = at + word.len();
            let ends = window.get(end).is_some_and(|&b| is_space(b));
            if leads && ends {
                return Some(from + end);
            }
        }
    }
    None
}

/// What is wrong in a piece, and at which byte of the file.
struct Fault {
    at: usize,
    problem: Problem,
}

enum Problem {
    Expected(&'static str),
    NotFinite(f64),
}

impl Fault {
    fn into_error(self, source: Source<'_>) -> ReadError {
        let place = source.line_of(self.at);
        match self.problem {
            Problem::Expected(what) => source.syntax(FORMAT, place, what, source.word_at(self.at)),
            Problem::NotFinite(value) => source.not_finite(FORMAT, place, value),
        }
    }
}

/// One piece's triangles, and its marks with the number of its triangles before each.
#[derive(Default)]
struct Piece {
    triangles: Vec<[[f64; 3]; 3]>,
    marks: Vec<(u64, Mark)>,
}

impl Piece {
    /// Parses `bytes[from..]`, which begins outside a facet.
    fn parse(bytes: &[u8], from: usize) -> Result<Self, Fault> {
        // The shortest facet has over 60 bytes, so that this never more than doubles memory.
        let mut piece = Self {
            triangles: Vec::with_capacity((bytes.len() - from) / 150 + 4),
            marks: Vec::new(),
        };
        let mut words = Words { bytes, at: from };
        loop {
            let (at, word) = words.next();
            let mark = if is(word, b"facet") {
                piece.triangles.push(words.facet()?);
                continue;
            } else if word.is_empty() {
                return Ok(piece);
            } else if is(word, b"solid") {
                Mark::Solid(words.name())
            } else if is(word, b"endsolid") || is(word, b"end") && is(words.next().1, b"solid") {
                words.name();
                Mark::EndSolid
            } else {
                let problem = Problem::Expected("'facet', 'solid' or 'endsolid'");
                return Err(Fault { at, problem });
            };
            piece.marks.push((piece.triangles.len() as u64, mark));
        }
    }
}

fn is_space(byte: u8) -> bool {
    byte <= b' '
}

fn is(word: &[u8], keyword: &[u8]) -> bool {
    word == keyword || word.eq_ignore_ascii_case(keyword)
}

/// The words of a text from `at` on.
struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn skip_space(&mut self) {
        while self.at < self.bytes.len() && is_space(self.bytes[self.at]) {
            self.at += 1;
        }
    }

    /// The next word and where it starts; empty at the end.
    fn next(&mut self) -> (usize, &'a [u8]) {
        self.skip_space();
        let start = self.at;
        while self.at < self.bytes.len() && !is_space(self.bytes[self.at]) {
            self.at += 1;
        }
        (start, &self.bytes[start..self.at])
    }

    fn expect(&mut self, keyword: &'static str) -> Result<(), Fault> {
        let (at, word) = self.next();
        if is(word, keyword.as_bytes()) {
            return Ok(());
        }
        let problem = Problem::Expected(keyword);
        Err(Fault { at, problem })
    }

    /// `endloop` or `end loop`, by the second half of the word.
    fn expect_end(&mut self, joined: &'static str) -> Result<(), Fault> {
        let (at, word) = self.next();
        let half = &joined.as_bytes()[3..];
        if is(word, joined.as_bytes()) || is(word, b"end") && is(self.next().1, half) {
            return Ok(());
        }
        let problem = Problem::Expected(joined);
        Err(Fault { at, problem })
    }

    /// The rest of the line, or up to `facet` where that stands on the same line.
    fn name(&mut self) -> String {
        let rest = &self.bytes[self.at..];
        let line = &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
        let lower = line.to_ascii_lowercase();
        let end = memchr::memmem::find_iter(&lower, b"facet normal")
            .find(|&at| at == 0 || is_space(lower[at - 1]))
            .unwrap_or(line.len());
        self.at += end;
        let words = String::from_utf8_lossy(&line[..end]);
        words.trim_matches(|c: char| c <= ' ').to_string()
    }

    /// The rest of a facet, behind the word `facet`.
    fn facet(&mut self) -> Result<[[f64; 3]; 3], Fault> {
        self.normal()?;
        self.expect("loop")?;
        let mut corners = [[0.0; 3]; 3];
        for corner in &mut corners {
            self.expect("vertex")?;
            for x in corner {
                *x = self.number()?;
            }
        }
        self.expect_end("endloop")?;
        self.expect_end("endfacet")?;
        Ok(corners)
    }

    /// Skips up to `outer`, over `normal` and what were numbers once.
    fn normal(&mut self) -> Result<(), Fault> {
        for _ in 0..5 {
            let (at, word) = self.next();
            if is(word, b"outer") {
                return Ok(());
            }
            let stray = [
                &b"vertex"[..],
                b"endloop",
                b"endfacet",
                b"facet",
                b"solid",
                b"endsolid",
            ];
            if word.is_empty() || stray.iter().any(|stray| is(word, stray)) {
                let problem = Problem::Expected("'outer loop'");
                return Err(Fault { at, problem });
            }
        }
        self.expect("outer")
    }

    fn number(&mut self) -> Result<f64, Fault> {
        self.skip_space();
        let at = self.at;
        let parsed = fast_float2::parse_partial::<f64, _>(&self.bytes[at..]);
        let problem = match parsed {
            Ok((value, len)) if self.bytes.get(at + len).is_none_or(|&b| is_space(b)) => {
                self.at = at + len;
                if value.is_finite() {
                    return Ok(value);
                }
                Problem::NotFinite(value)
            }
            _ => Problem::Expected("a number"),
        };
        Err(Fault { at, problem })
    }
}
