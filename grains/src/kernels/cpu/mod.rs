//! The stages on CPU threads; see the table of the parent.

pub(crate) mod candidates;
pub(crate) mod gather;
pub(crate) mod integrate;
pub(crate) mod pairs;
pub(crate) mod sort;
pub(crate) mod walls;
