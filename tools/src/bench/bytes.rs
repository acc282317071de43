//! The bytes that each stage reads and writes, from the sizes of the data structures.
//!
//! Every pass over an array counts once; a gather counts its elements, not cache lines. Per level, with B blocks, P
//! pairs of a block and a facet in its list, F = 4 + 4 D² bytes per facet access (index and corners), N bytes for a
//! block's share in the neighbour table of its family, and the layers of refined blocks:
//!
//! | stage | bytes |
//! |---|---|
//! | upload | corners in and out, a key and an index per facet written and read in one pass of a sort |
//! | bins | F per pair of the level above, coordinate and parent per block; lengths and lists written in parts, read, and joined |
//! | voxelize | list start, coordinate, parent and its anchor per block; F per pair; mask and 2^D anchors written |
//! | refine | list starts; for every layer a copy of the marks, the neighbours and the mask; marks and children, twice; arrays of a new block, its neighbours cleared and written, those of the parent and their children read once per family; neighbours read and two masks written for ghosts and interfaces |
//! | links | on levels whose leaves have facets: list start and row per block, F per pair of a leaf; cells and links written in parts, read, and joined |

use cutlink_amr::dims;
use cutlink_device::{DeviceError, Host};
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_mesher::kernels::{BinKernels, Bins, ChildBoxes, Repeats};
use cutlink_mesher::snap::Snapped;
use cutlink_voxelizer::{EmbedParams, Mesh, SUBCELL_BITS, Stage, fluid_layers};

/// In the order of their first use.
pub(super) const STAGES: [Stage; 5] = [
    Stage::Upload,
    Stage::Bins,
    Stage::Voxelize,
    Stage::Refine,
    Stage::Links,
];

/// The counts of one level in the formulas.
struct Level {
    blocks: u64,
    pairs: u64,
    leaf_pairs: u64,
}

/// Bytes of each of [`STAGES`], for a mesh with these parameters and uniform rules of refinement.
pub(super) fn bytes<const D: usize>(
    surface: &Snapped<D>,
    mesh: &Mesh<D>,
    params: &EmbedParams,
) -> Result<[u64; 5], DeviceError>
where
    Facet<D>: Exact<D>,
{
    let d = D as u64;
    let [cells, children, directions] =
        [dims::cells(D), dims::children(D), dims::directions(D)].map(|n| n as u64);
    let (corners, coordinate) = (4 * d * d, 4 * d);
    let facet = 4 + corners;
    let neighbors = 4 * cells / children;

    let layers = u64::from(fluid_layers(params.wall_distance, mesh.frame.dx));
    let levels = levels(surface, mesh, params.levels - 1)?;
    let facets = surface.facets.len() as u64;
    let (mut bins, mut voxelize, mut refine, mut links) = (0, 0, 0, 0);
    for (i, level) in levels.iter().enumerate() {
        let (blocks, pairs) = (level.blocks, level.pairs);
        let from = i.checked_sub(1).map_or(facets, |up| levels[up].pairs);
        bins += facet * from + (coordinate + 4) * blocks + 3 * 4 * (blocks + pairs);
        voxelize += (4 + coordinate + 4 + 4) * blocks + facet * pairs;
        voxelize += (8 + 4 * children) * blocks;
        if i + 1 < levels.len() {
            refine += 5 * blocks + layers * (2 + neighbors + 8) * blocks + 2 * 5 * blocks;
        }
        if i > 0 {
            // Coordinate, level, parent, children, list, classes, link row.
            refine += (coordinate + 1 + 4 + 4 + 4 + 16 + 4) * blocks;
            refine += 2 * neighbors * blocks + 2 * 4 * directions * blocks / children;
        }
        refine += (neighbors + 16) * blocks;
        if level.leaf_pairs > 0 {
            links += (4 + 4) * blocks + facet * level.leaf_pairs;
        }
    }
    let table = &mesh.links;
    let entries = 8 * table.cells.len() + 4 * table.q.len() + 2 * table.patch.len();
    links += 3 * entries as u64;
    let upload = facets * (corners + 2 * 16 + corners);
    Ok([upload, bins, voxelize, refine, links])
}

/// The lists of every level, rebuilt on the finished forest.
fn levels<const D: usize>(
    surface: &Snapped<D>,
    mesh: &Mesh<D>,
    finest: usize,
) -> Result<Vec<Level>, DeviceError>
where
    Facet<D>: Exact<D>,
{
    let set = Host.facet_set(surface, Repeats::Merge)?;
    let forest = &mesh.forest;
    let (mut first, mut first_parent) = (0, 0);
    let mut above: Option<Bins> = None;
    let mut found = Vec::new();
    for (level, ids) in forest.levels.iter().enumerate() {
        let edge = 4 << (SUBCELL_BITS as usize + finest - level);
        let count = ids.len();
        let bins = match &above {
            None => Host.bin_root(&set, forest.root, edge),
            Some(above) => {
                let children = ChildBoxes {
                    coord: &forest.coord,
                    parent: &forest.parent,
                    first_child: &forest.first_child,
                    first,
                    count,
                    first_parent,
                    edge,
                };
                Host.bin_children(&set, above, children)
            }
        }?;
        let leaf_pairs = (0..count)
            .filter(|&row| forest.is_leaf((first + row) as u32))
            .map(|row| bins.of(row).len() as u64)
            .sum();
        found.push(Level {
            blocks: count as u64,
            pairs: bins.facets.len() as u64,
            leaf_pairs,
        });
        (first_parent, first) = (first, first + count);
        above = Some(bins);
    }
    Ok(found)
}
