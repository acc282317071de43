//! VTK's XML with appended raw arrays.

use rayon::prelude::*;
use std::io::{self, Write};
use std::ops::Range;

/// What a file says of itself as a whole, as VTK's field data.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// `TimeValue`, which readers take for the time of the file.
    pub time: Option<f64>,
    /// Names and texts, such as the units of fields.
    pub notes: &'a [(&'a str, &'a str)],
}

/// Builds the text before the arrays; every array is announced with its length.
#[derive(Debug, Default)]
pub(super) struct Announced {
    pub(super) xml: String,
    /// Bytes of the arrays so far, with the 8 bytes of length before each.
    bytes: u64,
}

/// After the arrays.
const TAIL: &str = "\n  </AppendedData>\n</VTKFile>\n";

impl Announced {
    pub(super) fn new(kind: &str, version: &str) -> Self {
        let xml = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"{version}\" \
             byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
        );
        Self { xml, bytes: 0 }
    }

    pub(super) fn line(&mut self, text: &str) {
        self.xml.push_str(text);
        self.xml.push('\n');
    }

    /// An array of `tuples` times `components` elements that take `bytes` bytes.
    pub(super) fn array(
        &mut self,
        kind: &str,
        name: &str,
        components: usize,
        tuples: u64,
        bytes: u64,
    ) {
        let name = escaped(name);
        self.line(&format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             NumberOfTuples=\"{tuples}\" format=\"appended\" offset=\"{}\"/>",
            self.bytes
        ));
        self.bytes += 8 + bytes;
    }

    /// What the file says of itself: field data, in the text.
    pub(super) fn about(&mut self, about: &About<'_>) {
        if about.time.is_none() && about.notes.is_empty() {
            return;
        }
        self.line("<FieldData>");
        if let Some(time) = about.time {
            self.line(&format!(
                "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" \
                 format=\"ascii\">{time:?}</DataArray>"
            ));
        }
        for (name, text) in about.notes {
            // Strings are codes that end with a zero.
            let codes: Vec<String> = text.bytes().chain([0]).map(|b| b.to_string()).collect();
            self.line(&format!(
                "<DataArray type=\"String\" Name=\"{}\" NumberOfTuples=\"1\" format=\"ascii\">{}</DataArray>",
                escaped(name),
                codes.join(" ")
            ));
        }
        self.line("</FieldData>");
    }

    /// Ends the text; the arrays follow.
    pub(super) fn end(&mut self) {
        self.xml.push_str("<AppendedData encoding=\"raw\">\n_");
    }

    /// Bytes of the whole file.
    pub(super) fn file_bytes(&self) -> u64 {
        self.xml.len() as u64 + self.bytes + TAIL.len() as u64
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('_'),
            c => out.push(c),
        }
    }
    out
}

/// Writes the arrays in the order in which they were announced.
pub(super) struct Appended<W> {
    out: W,
    written: u64,
    /// Bytes of each piece of a parallel write, kept for the next.
    pieces: Vec<Vec<u8>>,
}

/// Items of a piece; a piece of the largest items (64 cells of 8 corners) is half a MiB.
const PIECE: usize = 256;

impl<W: Write> Appended<W> {
    pub(super) fn new(mut out: W, text: &Announced) -> io::Result<Self> {
        out.write_all(text.xml.as_bytes())?;
        Ok(Self {
            out,
            written: text.xml.len() as u64,
            pieces: Vec::new(),
        })
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// One array at once.
    pub(super) fn array(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put(&(bytes.len() as u64).to_le_bytes())?;
        self.put(bytes)
    }

    /// One array of `bytes` bytes, made of pieces: `fill` appends the bytes of a range of
    /// the `items`. The pieces are made in parallel and written in order.
    pub(super) fn pieces(
        &mut self,
        bytes: u64,
        items: usize,
        fill: impl Fn(Range<usize>, &mut Vec<u8>) + Sync,
    ) -> io::Result<()> {
        self.put(&bytes.to_le_bytes())?;
        let end = self.written + bytes;
        let at_once = 16 * rayon::current_num_threads();
        self.pieces.resize_with(at_once, Vec::new);
        let mut pieces = std::mem::take(&mut self.pieces);
        for from in (0..items).step_by(at_once * PIECE) {
            pieces.par_iter_mut().enumerate().for_each(|(i, piece)| {
                piece.clear();
                let from = from + i * PIECE;
                if from < items {
                    fill(from..items.min(from + PIECE), piece);
                }
            });
            for piece in &pieces {
                self.put(piece)?;
            }
        }
        self.pieces = pieces;
        debug_assert_eq!(self.written, end, "bytes announced and written");
        Ok(())
    }

    /// Ends the file; the bytes written in all.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.put(TAIL.as_bytes())?;
        self.out.flush()?;
        Ok(self.written)
    }
}
