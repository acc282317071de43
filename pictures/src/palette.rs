//! The colours of the cells of a mesh.

use super::canvas::{Rgb, blend};

const COARSEST: Rgb = [255, 255, 255];
const FINEST: Rgb = [176, 208, 238];
const BOUNDARY: Rgb = [230, 159, 0];
const SOLID: Rgb = [58, 70, 84];
const LINE: Rgb = [40, 60, 90];
const LINE_IN_SOLID: Rgb = [150, 165, 180];
/// The surface.
pub(super) const SURFACE: Rgb = [190, 20, 60];

/// The part of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// Its area.
    Fill,
    /// An edge inside its block.
    CellEdge,
    /// An edge of its block.
    BlockEdge,
}

/// Three tones for each fluid level, for boundary and for solid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Palette {
    levels: usize,
}

impl Palette {
    pub(super) fn new(levels: usize) -> Self {
        Self { levels }
    }

    pub(super) fn fluid(&self, level: usize, tone: Tone) -> Rgb {
        let level = level.min(self.levels - 1);
        let share = level as f64 / (self.levels.max(2) - 1) as f64;
        toned(blend(COARSEST, FINEST, share), LINE, tone)
    }

    pub(super) fn boundary(&self, tone: Tone) -> Rgb {
        toned(BOUNDARY, LINE, tone)
    }

    pub(super) fn solid(&self, tone: Tone) -> Rgb {
        toned(SOLID, LINE_IN_SOLID, tone)
    }
}

fn toned(fill: Rgb, line: Rgb, tone: Tone) -> Rgb {
    match tone {
        Tone::Fill => fill,
        Tone::CellEdge => blend(fill, line, 0.25),
        Tone::BlockEdge => blend(fill, line, 0.6),
    }
}
