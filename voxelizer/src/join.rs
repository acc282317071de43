//! The whole mesh from the own blocks of its windows.

use crate::{
    Classes, EmbedParams, Frame, LinkTable, Mesh, VoxelError, Window, pack_cell, unpack_cell,
};
use cutlink_amr::{Forest, Mark, NONE};
use cutlink_device::{Backend, Host, Item};
use cutlink_mesher::snap::Snapped;

/// What a window owns of a level, in the order of its blocks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OwnLevel {
    /// By block: 1 where it has children, else 0.
    pub refined: Vec<u8>,
    /// By block: its masks of [`Classes`], `solid`, `boundary`, `ghost` and `interface`.
    pub classes: [Vec<u64>; 4],
    /// Blocks with cut links, by their place among the own blocks, ascending.
    pub rows: Vec<u32>,
    /// Direction mask and first link of each boundary cell of the rows, as [`LinkTable::cells`]; links are counted from the
    /// level's first own one.
    pub cells: Vec<u64>,
    /// Cut distance of each link.
    pub q: Vec<f32>,
    /// Patch of each link, or empty.
    pub patch: Vec<u16>,
}

/// What a window owns, by level.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OwnBlocks(pub Vec<OwnLevel>);

impl OwnBlocks {
    /// From the mesh of a window.
    pub fn of<const D: usize>(mesh: &Mesh<D>, window: &Window<D>) -> Self {
        let forest = &mesh.forest;
        let levels = 0..forest.levels.len();
        Self(levels.map(|level| own_level(mesh, window, level)).collect())
    }
}

/// Bytes of numbers behind their length.
fn put<T: Item>(numbers: &[T], bytes: &mut Vec<u8>) {
    bytes.extend((numbers.len() as u64).to_le_bytes());
    bytes.extend(bytemuck::cast_slice::<T, u8>(numbers));
}

/// The inverse of [`put`]; `None` where there are too few bytes.
fn take<T: Item>(bytes: &mut &[u8]) -> Option<Vec<T>> {
    let (len, rest) = bytes.split_first_chunk::<8>()?;
    let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
    let (numbers, rest) = rest.split_at_checked(len.checked_mul(size_of::<T>())?)?;
    *bytes = rest;
    let numbers = numbers.chunks_exact(size_of::<T>());
    Some(numbers.map(bytemuck::pod_read_unaligned).collect())
}

impl OwnLevel {
    /// Memory of its arrays.
    fn bytes(&self) -> u64 {
        let blocks = self.refined.len() * (1 + 4 * 8);
        let links = 4 * self.rows.len() + 8 * self.cells.len() + 4 * self.q.len();
        (blocks + links + 2 * self.patch.len()) as u64
    }
}

impl OwnBlocks {
    /// As bytes, for another process of the same program.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for level in &self.0 {
            put(&level.refined, &mut bytes);
            level.classes.iter().for_each(|mask| put(mask, &mut bytes));
            put(&level.rows, &mut bytes);
            put(&level.cells, &mut bytes);
            put(&level.q, &mut bytes);
            put(&level.patch, &mut bytes);
        }
        bytes
    }

    /// From [`to_bytes`](Self::to_bytes); `None` where the bytes are not from there.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut levels = Vec::new();
        while !bytes.is_empty() {
            let level = OwnLevel {
                refined: take(&mut bytes)?,
                classes: [
                    take(&mut bytes)?,
                    take(&mut bytes)?,
                    take(&mut bytes)?,
                    take(&mut bytes)?,
                ],
                rows: take(&mut bytes)?,
                cells: take(&mut bytes)?,
                q: take(&mut bytes)?,
                patch: take(&mut bytes)?,
            };
            let blocks = level.refined.len();
            let fits = level.classes.iter().all(|mask| mask.len() == blocks)
                && level.rows.iter().all(|&row| (row as usize) < blocks);
            levels.push(fits.then_some(level)?);
        }
        Some(Self(levels))
    }
}

fn own_level<const D: usize>(mesh: &Mesh<D>, window: &Window<D>, level: usize) -> OwnLevel {
    let (own, links) = (window.own(&mesh.forest, level), &mesh.links);
    let classes = &mesh.classes;
    let row = |id: usize| links.blocks.partition_point(|&block| (block as usize) < id);
    let rows = row(own.start)..row(own.end);
    let cells = links.cell_start[rows.start] as usize..links.cell_start[rows.end] as usize;
    let first = |cell: usize| match links.cells.get(cell) {
        Some(&cell) => unpack_cell(cell).1 as usize,
        None => links.q.len(),
    };
    let cut = first(cells.start)..first(cells.end);
    let from_here = |&cell: &u64| {
        let (directions, link) = unpack_cell(cell);
        pack_cell(directions, link - cut.start as u64)
    };
    let patches = match links.patch.is_empty() {
        true => 0..0,
        false => cut.clone(),
    };
    OwnLevel {
        refined: mesh.forest.first_child[own.clone()]
            .iter()
            .map(|&first| u8::from(first != NONE))
            .collect(),
        classes: [
            &classes.solid,
            &classes.boundary,
            &classes.ghost,
            &classes.interface,
        ]
        .map(|mask| mask[own.clone()].to_vec()),
        rows: links.blocks[rows]
            .iter()
            .map(|&block| block - own.start as u32)
            .collect(),
        cells: links.cells[cells].iter().map(from_here).collect(),
        q: links.q[cut.clone()].to_vec(),
        patch: links.patch[patches].to_vec(),
    }
}

/// The whole mesh of a surface, of what its windows own, in their order: the same bits as [`embed`](crate::embed) makes.
///
/// Memory: that of the mesh, beside the parts.
///
/// # Errors
/// Parts that are not of one mesh; where memory is short.
pub fn join<const D: usize>(
    surface: &Snapped<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    parts: &[OwnBlocks],
) -> Result<Mesh<D>, VoxelError> {
    let forest = Forest::new(&Host, frame.root_blocks())?.with_periodic(params.periodic_axes());
    let bytes = parts.iter().flat_map(|part| &part.0).map(OwnLevel::bytes);
    Host.reserve("the mesh of all parts", bytes.sum())?;
    let mut mesh = Mesh {
        frame,
        forest,
        classes: Classes {
            solid: Vec::new(),
            boundary: Vec::new(),
            ghost: Vec::new(),
            interface: Vec::new(),
        },
        links: LinkTable {
            blocks: Vec::new(),
            row_of: Vec::new(),
            cell_start: vec![0],
            cells: Vec::new(),
            q: Vec::new(),
            patch: Vec::new(),
        },
        patches: surface.patches.clone(),
        fill: params.fill,
        graded: surface.caps > 0 || params.is_graded(surface.patches.len()),
    };
    for level in 0.. {
        let own: Vec<_> = parts.iter().filter_map(|part| part.0.get(level)).collect();
        let blocks: usize = own.iter().map(|own| own.refined.len()).sum();
        let there = mesh.forest.levels.get(level).map_or(0, Vec::len);
        if blocks != there {
            return Err(VoxelError::Windows {
                level,
                blocks,
                there,
            });
        }
        if blocks == 0 {
            break;
        }
        let mut first = mesh.forest.capacity() - blocks;
        let mut marks = vec![Mark::Keep as u8; first];
        for own in own {
            let is_refined = |&refined: &u8| match refined {
                0 => Mark::Keep as u8,
                _ => Mark::Refine as u8,
            };
            marks.extend(own.refined.iter().map(is_refined));
            mesh.append(own, first);
            first += own.refined.len();
        }
        mesh.forest.refine(&Host, level, &mut marks)?;
    }
    mesh.links.row_of = vec![NONE; mesh.forest.capacity()];
    for (row, &block) in (0..).zip(&mesh.links.blocks) {
        mesh.links.row_of[block as usize] = row;
    }
    Ok(mesh)
}

impl<const D: usize> Mesh<D> {
    /// Appends the masks and the links of blocks from id `first` on.
    fn append(&mut self, own: &OwnLevel, first: usize) {
        let [solid, boundary, ghost, interface] = &own.classes;
        self.classes.solid.extend(solid);
        self.classes.boundary.extend(boundary);
        self.classes.ghost.extend(ghost);
        self.classes.interface.extend(interface);
        let links = &mut self.links;
        let link = links.q.len() as u64;
        for &row in &own.rows {
            links.blocks.push(first as u32 + row);
            let before = links.cell_start.last().copied().unwrap_or(0);
            let cells = boundary[row as usize].count_ones();
            links.cell_start.push(before + cells);
        }
        links.cells.extend(own.cells.iter().map(|&cell| {
            let (directions, first) = unpack_cell(cell);
            pack_cell(directions, link + first)
        }));
        links.q.extend(&own.q);
        links.patch.extend(&own.patch);
    }
}
