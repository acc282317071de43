//! Cells inside or outside of a closed surface, by their centres.

use super::found::{Scene, reserve};
use crate::mesh::{build::embedded_here, gate, source};
use cutlink_amr::{CellRef, dims};
use cutlink_common::Error;
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_mesher::read::{AnySurface, Loaded, read_all};
use cutlink_voxelizer::{EmbedParams, Fill};
use std::any::Any;
use std::path::Path;

/// The cells of a level whose centres are inside the surface of a file, or outside.
///
/// # Errors
/// A file that cannot be read, a surface of another dimension or one that is not closed, memory that is not there.
pub(super) fn cells<const D: usize>(
    scene: &Scene<'_, D>,
    path: &Path,
    inside: bool,
    finest: usize,
) -> Result<Vec<[i32; D]>, Error>
where
    Facet<D>: Exact<D>,
{
    let name = path.display().to_string();
    let loaded: Box<dyn Any> = match read_all(&[path.to_path_buf()])? {
        AnySurface::D2(loaded) => Box::new(loaded),
        AnySurface::D3(loaded) => Box::new(loaded),
    };
    let Ok(loaded) = loaded.downcast::<Loaded<D>>() else {
        return Err(Error::input(format!(
            "{name} is not {D}D, as the surface is"
        )));
    };
    let Loaded {
        mut surface,
        report,
    } = *loaded;
    let (health, _) = source::health_of(&mut surface, &report);
    scene.affine.apply_surface(&mut surface);
    let params = EmbedParams {
        periodic: std::array::from_fn(|a| a < D && scene.periodic[a.min(D - 1)]),
        ..EmbedParams::new(finest + 1, 0.0, Fill::NonZero)
    };
    let (mesh, snapped) = embedded_here(&surface, *scene.frame, &params)?;
    gate::check_closed(&name, &health, &snapped, &params)?;
    let forest = &mesh.forest;
    let leaves = || forest.ids().filter(|&id| forest.is_leaf(id));
    let chosen = |id: u32| match inside {
        true => mesh.classes.solid[id as usize],
        false => !mesh.classes.solid[id as usize] & dims::full_mask(D),
    };
    let finer = |id: u32| finest - usize::from(forest.level[id as usize]);
    let count = |id: u32| f64::from(chosen(id).count_ones()) * f64::from(1u32 << (D * finer(id)));
    reserve("cells in a region", leaves().map(count).sum(), D)?;
    let mut cells = Vec::new();
    for id in leaves() {
        let (chosen, up) = (chosen(id), finer(id));
        for cell in (0..dims::cells(D) as u32).filter(|cell| chosen >> cell & 1 == 1) {
            let low = forest
                .cell_coord(CellRef { block: id, cell })
                .map(|c| c << up);
            for i in 0..1usize << (D * up) {
                let by = |a: usize| (i >> (a * up) & ((1 << up) - 1)) as i32;
                cells.push(std::array::from_fn(|a| low[a] + by(a)));
            }
        }
    }
    Ok(cells)
}
