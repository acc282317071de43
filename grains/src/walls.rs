//! Contacts with walls: what they remember, kept by block.

use crate::law::Memory;
use crate::vec3::Vec3;

/// A contact of a grain with a wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WallRecord {
    /// Face of the box (0 to 5), or the facet + 6.
    pub(crate) key: u32,
    /// From the grain to the wall.
    pub(crate) normal: Vec3,
    pub(crate) memory: Memory,
}

/// Contacts of a block of grains with walls, now and before.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct WallBlock {
    /// End of the contacts of each grain.
    pub(crate) ends: Vec<u32>,
    pub(crate) records: Vec<WallRecord>,
    pub(crate) ends_before: Vec<u32>,
    pub(crate) before: Vec<WallRecord>,
}

impl WallBlock {
    /// Makes what is now what was before.
    pub(crate) fn begin(&mut self) {
        std::mem::swap(&mut self.ends, &mut self.ends_before);
        std::mem::swap(&mut self.records, &mut self.before);
        self.ends.clear();
        self.records.clear();
    }

    /// Forgets what was before.
    pub(crate) fn end(&mut self) {
        self.before.clear();
        self.ends_before.clear();
    }

    /// Contacts of a grain of the block.
    pub(crate) fn of(&self, row: usize) -> &[WallRecord] {
        range(&self.ends, &self.records, row)
    }

    /// Contacts of a grain before [`WallBlock::begin`].
    pub(crate) fn of_before(&self, row: usize) -> &[WallRecord] {
        range(&self.ends_before, &self.before, row)
    }
}

fn range<'a>(ends: &[u32], records: &'a [WallRecord], row: usize) -> &'a [WallRecord] {
    let end = ends.get(row).copied().unwrap_or(0);
    let begin = row.checked_sub(1).map_or(0, |r| ends[r]).min(end);
    &records[begin as usize..end as usize]
}
