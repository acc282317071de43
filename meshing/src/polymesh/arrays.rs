//! The arrays of a `polyMesh`, filled by chunks of blocks.

use super::cells::{Beyond, Block, CellFace, Cells};
use super::points::Points;
use super::writer::Writer;
use super::{CHUNK, Rim, Size, each_cell, first_of, reserve};
use cutlink_common::{Error, ErrorKind};
use cutlink_device::memory;
use cutlink_hex::{PolyLevels, PolyMesh};
use rayon::prelude::*;

/// The mesh with arrays of the right lengths.
pub(super) fn allocate(
    cells: &Cells<'_>,
    sizes: &[Size],
    rims: &[Rim],
    points: u64,
) -> Result<PolyMesh, Error> {
    let internal: u64 = sizes.iter().map(|s| u64::from(s.faces)).sum();
    let corners: u64 = sizes.iter().map(|s| u64::from(s.corners)).sum();
    let corners = corners + rims.iter().map(|r| u64::from(r.corners)).sum::<u64>();
    let faces = internal + rims.len() as u64;
    if points.max(corners).max(cells.count) > u64::from(u32::MAX) {
        return Err(Error::new(
            ErrorKind::Memory,
            format!(
                "a polyMesh of {} cells has more than 2^32 face corners",
                cells.count
            ),
        )
        .hint("use fewer levels or a coarser root grid"));
    }
    let bytes = 25 * points + cells.count + 4 * (corners + faces + 1 + faces + internal);
    reserve("a polyMesh", bytes)?;
    Ok(PolyMesh {
        points: filled("points", points, [0.0; 3])?,
        face_start: filled("faces", faces + 1, 0)?,
        face_points: filled("face corners", corners, 0)?,
        owner: filled("face owners", faces, 0)?,
        neighbour: filled("face neighbours", internal, 0)?,
        patches: Vec::new(),
        cells: cells.count as usize,
        levels: Some(PolyLevels {
            cell: filled("cell levels", cells.count, 0)?,
            point: filled("point levels", points, 0)?,
            edge: cells.mesh.frame.dx,
        }),
    })
}

fn filled<T: cutlink_device::Item>(
    what: &'static str,
    len: u64,
    value: T,
) -> Result<Vec<T>, Error> {
    let mut buf = memory::with_capacity(what, len as usize)?;
    buf.resize(len as usize, value);
    Ok(buf)
}

/// Splits an array into the parts of chunks of blocks.
fn split<T>(mut all: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut parts = Vec::new();
    for len in lengths {
        let (part, rest) = all.split_at_mut(len);
        parts.push(part);
        all = rest;
    }
    parts
}

pub(super) fn put_internal(
    mesh: &mut PolyMesh,
    cells: &Cells<'_>,
    points: &Points,
    sizes: &[Size],
) {
    let internal = mesh.internal_faces();
    let faces = || {
        sizes
            .chunks(CHUNK)
            .map(|c| c.iter().map(|s| s.faces as usize).sum::<usize>())
    };
    let corners = || {
        sizes
            .chunks(CHUNK)
            .map(|c| c.iter().map(|s| s.corners as usize).sum::<usize>())
    };
    let starts: Vec<usize> = corners()
        .scan(0, |sum, n| Some(std::mem::replace(sum, *sum + n)))
        .collect();
    let levels = mesh
        .levels
        .as_mut()
        .map_or(&mut [][..], |levels| &mut levels.cell[..]);
    let kept = cells.kept.chunks(CHUNK);
    let kept = kept.map(|c| c.iter().map(|k| k.count_ones() as usize).sum());
    let chunks: Vec<_> = split(&mut mesh.face_start[..internal], faces())
        .into_iter()
        .zip(split(&mut mesh.owner[..internal], faces()))
        .zip(split(&mut mesh.neighbour, faces()))
        .zip(split(&mut mesh.face_points, corners()))
        .zip(split(levels, kept))
        .zip(starts)
        .enumerate()
        .collect();
    chunks.into_par_iter().for_each(
        |(chunk, (((((starts, owner), neighbour), ids), levels), first))| {
            let slots = chunk * CHUNK..cells.blocks.len().min((chunk + 1) * CHUNK);
            let mut writer = Writer::new(points);
            let (mut face_at, mut id_at, mut cell_at) = (0, 0, 0);
            let mut found: Vec<(u32, CellFace)> = Vec::with_capacity(24);
            for slot in slots {
                let block = Block::new(cells, slot);
                let first_cell = first_of(cells, &block);
                writer.begin_block();
                each_cell(block.kept, |cell, rank| {
                    let id = first_cell + rank;
                    levels[cell_at] = block.level as u8;
                    cell_at += 1;
                    found.clear();
                    block.faces(cell, |face| {
                        if let Beyond::Cell(other) = face.beyond
                            && other > id
                        {
                            found.push((other, face));
                        }
                    });
                    found.sort_unstable_by_key(|f| f.0);
                    for &(other, face) in &found {
                        starts[face_at] = (first + id_at) as u32;
                        (owner[face_at], neighbour[face_at]) = (id, other);
                        face_at += 1;
                        id_at += writer.put(&block, cell, face, &mut ids[id_at..]);
                    }
                });
            }
        },
    );
}

pub(super) fn put_boundary(mesh: &mut PolyMesh, cells: &Cells<'_>, points: &Points, rims: &[Rim]) {
    let internal = mesh.internal_faces();
    let corners: usize = rims.iter().map(|r| usize::from(r.corners)).sum();
    let mut start = mesh.face_points.len() - corners;
    for (face, rim) in rims.iter().enumerate() {
        mesh.face_start[internal + face] = start as u32;
        mesh.owner[internal + face] = rim.id;
        start += usize::from(rim.corners);
    }
    mesh.face_start[internal + rims.len()] = start as u32;
    let first = start - corners;
    let lengths = rims
        .chunks(CHUNK)
        .map(|c| c.iter().map(|r| usize::from(r.corners)).sum());
    let parts = split(&mut mesh.face_points[first..], lengths);
    rims.par_chunks(CHUNK).zip(parts).for_each(|(rims, ids)| {
        let (mut at, mut outline) = (0, Vec::with_capacity(8));
        for rim in rims {
            let block = Block::new(cells, rim.slot as usize);
            block.outline(rim.cell.into(), rim.face, &mut outline);
            for &p in &outline {
                ids[at] = points.id(&block, p);
                at += 1;
            }
        }
    });
}

pub(super) fn put_points(mesh: &mut PolyMesh, cells: &Cells<'_>, points: &Points) {
    let (slots, all) = (cells.blocks.len(), mesh.points.len());
    let range = |chunk: usize| chunk * CHUNK..slots.min((chunk + 1) * CHUNK);
    let lengths = || (0..slots.div_ceil(CHUNK)).map(|chunk| points.count(range(chunk), all));
    let forest = &cells.mesh.forest;
    let finest = forest.finest() as u32;
    // Half cells of the finest level: powers of two of the spacing, so that points have the same bits on all levels.
    let half = cells.mesh.frame.dx_at(finest as usize + 1);
    let levels = mesh
        .levels
        .as_mut()
        .map_or(&mut [][..], |levels| &mut levels.point[..]);
    let chunks: Vec<_> = split(&mut mesh.points, lengths())
        .into_iter()
        .zip(split(levels, lengths()))
        .enumerate()
        .collect();
    chunks
        .into_par_iter()
        .for_each(|(chunk, (places, levels))| {
            let mut to = 0;
            for slot in range(chunk) {
                let id = cells.blocks[slot] as usize;
                let up = finest - u32::from(forest.level[id]);
                points.of(slot, |at| {
                    let fine: [u32; 3] = std::array::from_fn(|a| {
                        (8 * forest.coord[id][a] as u32 + u32::from(at[a])) << up
                    });
                    places[to] = std::array::from_fn(|a| {
                        cells.mesh.frame.origin[a] + half * f64::from(fine[a])
                    });
                    // The spacing of level l is 2^(finest + 1 - l) halves.
                    let zeros = fine.map(u32::trailing_zeros).into_iter().min().unwrap_or(0);
                    levels[to] = (finest + 1).saturating_sub(zeros) as u8;
                    to += 1;
                });
            }
        });
}
