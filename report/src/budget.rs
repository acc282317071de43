//! A page that fits: what is decimated, in which order, and the sentence that says so.

use crate::html::{self, Built};
use crate::{LIMIT, PageField, PageSlice, PageSurface, ReportPage, pack, slice, surface};

/// Largest numbers before the size of the page is known.
const TRIANGLES: usize = 400_000;
const FRAMES: usize = 24;
const ACROSS: usize = 480;
const BLOCKS: usize = 60_000;
const SAMPLES: usize = 4000;

/// The least that a page that is too large is reduced to.
const LEAST: usize = 10_000;

impl ReportPage {
    /// The text of the page, at most [`LIMIT`] bytes unless its texts alone are longer. Cost: some 30 ns a byte of its
    /// arrays.
    pub fn html(&self) -> String {
        let mut page = self.clone();
        let mut said = Said::default();
        page.prepare(&mut said);
        loop {
            let built = html::build(&page, &said.sentence());
            let Built { text, slices, body } = built;
            if text.len() <= LIMIT || !page.reduce(slices > body, &mut said) {
                return text;
            }
        }
    }

    /// Checks, orders and bounds what was given.
    fn prepare(&mut self, said: &mut Said) {
        if let Some(given) = &self.surface {
            let whole = surface::at_points(given);
            let few = surface::decimate(&whole, TRIANGLES);
            said.triangles(whole.triangles.len(), few.triangles.len());
            self.surface = Some(surface::in_order(&few)).filter(|s| !s.triangles.is_empty());
        }
        for part in &mut self.slices {
            if !slice::is_whole(part) {
                part.times.clear();
                part.fields.clear();
                part.size = [0; 2];
            }
            while part.times.len() > FRAMES {
                slice::fewer_frames(part);
                said.frames = true;
            }
            while part.size.into_iter().max() > Some(ACROSS) {
                slice::coarser(part);
                said.grid = true;
            }
            said.blocks |= part.blocks.len() > BLOCKS;
            slice::fewer_blocks(part, BLOCKS);
            slice::sort(&mut part.blocks);
            close_range(part);
        }
        for plot in &mut self.plots {
            let every = plot.x.len().div_ceil(SAMPLES).max(1);
            said.samples |= every > 1;
            let count = plot.x.len();
            let thin = |values: &[f64]| values.iter().copied().step_by(every).collect();
            plot.x = thin(&plot.x);
            for series in plot.groups.iter_mut().flat_map(|g| &mut g.series) {
                series.values.resize(count, f64::NAN);
                series.values = thin(&series.values);
            }
        }
        let of_body = self.surface.iter_mut().flat_map(|s| &mut s.fields);
        of_body.for_each(settle);
    }

    /// One step towards a smaller page: of the slices, if these are the larger part. False where nothing is left to do.
    fn reduce(&mut self, slices_first: bool, said: &mut Said) -> bool {
        let by_slices = |page: &mut Self, said: &mut Said| {
            let frames = page.slices.iter().map(|s| s.times.len()).max();
            let across = page.slices.iter().flat_map(|s| s.size).max();
            let frames = frames.unwrap_or(0);
            let across = across.unwrap_or(0);
            if frames > 6 && frames * 40 >= across {
                page.slices.iter_mut().for_each(slice::fewer_frames);
                said.frames = true;
                true
            } else if across > 64 {
                page.slices.iter_mut().for_each(slice::coarser);
                said.grid = true;
                true
            } else {
                false
            }
        };
        let by_surface = |page: &mut Self, said: &mut Said| {
            let Some(body) = page.surface.as_ref() else {
                return false;
            };
            let count = body.triangles.len();
            if count < LEAST {
                return false;
            }
            let few = surface::in_order(&surface::decimate(body, count / 2));
            said.triangles(count, few.triangles.len());
            page.surface = Some(few);
            true
        };
        match slices_first {
            true => by_slices(self, said) || by_surface(self, said),
            false => by_surface(self, said) || by_slices(self, said),
        }
    }
}

/// Chooses the range of colours before values are decimated.
fn settle(field: &mut PageField) {
    if field.range.is_none() {
        field.range = Some(pack::shown(field.values.clone(), field.colours));
    }
}

fn close_range(part: &mut PageSlice) {
    for field in &mut part.fields {
        if field.range.is_none() {
            // The later half: a start has no part in it.
            let from = field.frames.len() / 2;
            let later = field.frames[from..].concat();
            field.range = Some(pack::shown(later, field.colours));
        }
    }
}

/// What was decimated.
#[derive(Debug, Default)]
struct Said {
    /// Triangles given and shown.
    triangles: Option<[usize; 2]>,
    frames: bool,
    grid: bool,
    blocks: bool,
    samples: bool,
}

impl Said {
    fn triangles(&mut self, from: usize, to: usize) {
        if from > to {
            let first = self.triangles.map_or(from, |[first, _]| first);
            self.triangles = Some([first, to]);
        }
    }

    fn sentence(&self) -> String {
        let mut parts = Vec::new();
        if let Some([from, to]) = self.triangles {
            parts.push(format!(
                "the surface has {to} of {from} triangles (points merged on a grid)"
            ));
        }
        let rules = [
            (self.frames, "slices have every second frame or fewer"),
            (self.grid, "values of slices are means of cells"),
            (self.blocks, "the finest blocks of slices are merged"),
            (self.samples, "histories are thinned evenly"),
        ];
        parts.extend(rules.iter().filter(|r| r.0).map(|r| r.1.to_owned()));
        match parts.is_empty() {
            true => String::new(),
            false => format!("Decimated for this page: {}.", parts.join("; ")),
        }
    }
}

/// Bytes of the arrays of a surface, before they are compressed.
pub(crate) fn bytes_of(surface: &PageSurface) -> usize {
    12 * surface.triangles.len() + surface.points.len() * (7 + 2 * surface.fields.len())
}
