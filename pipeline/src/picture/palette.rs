//! The colours of a picture: at most 256, so that a pixel is one byte.

use super::draw::{self, Rgb, blend};

/// Index of the background.
pub(super) const PAPER: u8 = 0;
/// Index of frame and text.
pub(super) const INK: u8 = 1;

const FIRST: u8 = 2;

const COARSEST: Rgb = [255, 255, 255];
const FINEST: Rgb = [176, 208, 238];
const BOUNDARY: Rgb = [230, 159, 0];
const SOLID: Rgb = [58, 70, 84];
const LINE: Rgb = [40, 60, 90];
const LINE_IN_SOLID: Rgb = [150, 165, 180];

/// The part of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// Its area.
    Fill = 0,
    /// An edge inside its block.
    CellEdge = 1,
    /// An edge of its block.
    BlockEdge = 2,
}

/// Three tones for each fluid level, for boundary and for solid.
#[derive(Debug)]
pub(super) struct Palette {
    levels: usize,
    colours: Vec<Rgb>,
}

impl Palette {
    pub(super) fn new(levels: usize) -> Self {
        let mut colours = vec![draw::PAPER, draw::INK];
        let fills = (0..levels).map(|level| {
            let share = level as f64 / (levels.max(2) - 1) as f64;
            (blend(COARSEST, FINEST, share), LINE)
        });
        for (fill, line) in fills.chain([(BOUNDARY, LINE), (SOLID, LINE_IN_SOLID)]) {
            colours.extend([fill, blend(fill, line, 0.25), blend(fill, line, 0.6)]);
        }
        Self { levels, colours }
    }

    pub(super) fn fluid(&self, level: usize, tone: Tone) -> u8 {
        index(level.min(self.levels - 1), tone)
    }

    pub(super) fn boundary(&self, tone: Tone) -> u8 {
        index(self.levels, tone)
    }

    pub(super) fn solid(&self, tone: Tone) -> u8 {
        index(self.levels + 1, tone)
    }

    /// Red, green, blue of all indices.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.colours.concat()
    }
}

fn index(family: usize, tone: Tone) -> u8 {
    FIRST + 3 * family as u8 + tone as u8
}
