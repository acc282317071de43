//! The points of split cells.

use super::{cut::Cut, group::filled, shape::Shape};
use crate::refine::RefineError;
use rayon::prelude::*;

pub(super) fn places<S: Shape>(cut: Cut<'_>) -> Result<Vec<u32>, RefineError> {
    let marked = &cut.numbers.marked;
    let mut places = filled("points of split cells", S::PLACES * marked.len())?;
    let each = places.par_chunks_mut(S::PLACES).zip(marked).enumerate();
    each.for_each(|(i, (places, &cell))| {
        places.copy_from_slice(S::places(cut, cell as usize, i).as_ref());
    });
    Ok(places)
}
