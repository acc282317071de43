//! Comparators: each names the first difference.

use crate::{
    chains::CELL,
    oracle::{Cut, Determinants, Oracle, Space},
};
use cutlink_amr::{CellRef, dims};
use cutlink_voxelizer::{Fill, Link, Mesh};
use std::{cmp::Ordering, collections::BTreeMap};

/// A difference between a mesh and the oracle.
#[derive(Debug, Clone, PartialEq)]
pub enum Mismatch<const D: usize> {
    /// A cell of a block, refined or not.
    Solid {
        /// Level and cell coordinate.
        cell: (usize, [i32; D]),
        /// What the mesh says.
        mesh: bool,
        /// The winding number.
        winding: i32,
    },
    /// Finest centres within a coarser leaf cell that are not of its class.
    NotUniform {
        /// Level and cell coordinate.
        cell: (usize, [i32; D]),
    },
    /// A link that only one of them has.
    Existence {
        /// Level and cell coordinate.
        cell: (usize, [i32; D]),
        /// Direction.
        direction: usize,
        /// Whether the mesh has it.
        mesh: bool,
    },
    /// Another distance.
    Distance {
        /// Level and cell coordinate.
        cell: (usize, [i32; D]),
        /// Direction.
        direction: usize,
        /// What the mesh says.
        mesh: f32,
        /// The exact distance.
        exact: Cut,
    },
    /// A patch that is not cut there.
    Patch {
        /// Level and cell coordinate.
        cell: (usize, [i32; D]),
        /// Direction.
        direction: usize,
        /// What the mesh says.
        mesh: u16,
    },
    /// Cells counted through the leaves, and at the centres of the finest level.
    SolidFinest {
        /// What the mesh says.
        mesh: u64,
        /// Count of centres.
        oracle: u64,
    },
}

/// What a comparison went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Cells.
    pub cells: u64,
    /// Solid cells.
    pub solid: u64,
    /// Links that are cut.
    pub links: u64,
    /// Links whose cell centre lies on the surface.
    pub on_surface: u64,
    /// Cut links with more than one crossing.
    pub several: u64,
    /// Links that are crossed and not cut, as their kind does not change.
    pub passed: u64,
    /// Cut links whose nearest crossing is not the cut.
    pub beyond: u64,
}

impl std::ops::Add for Seen {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cells: self.cells + other.cells,
            solid: self.solid + other.solid,
            links: self.links + other.links,
            on_surface: self.on_surface + other.on_surface,
            several: self.several + other.several,
            passed: self.passed + other.passed,
            beyond: self.beyond + other.beyond,
        }
    }
}

/// Distances differ by more than one unit in the last place, or one is on the surface and
/// the other is not.
fn differ(a: f32, b: f32) -> bool {
    let zero = |q: f32| q == f32::MIN_POSITIVE;
    zero(a) != zero(b) || a.to_bits().abs_diff(b.to_bits()) > 1
}

/// In a box that is periodic, the oracle's surface has to be so too, around the box as in it (see
/// [`Case::continued`](crate::chains::Case::continued)): links across faces are then links like all others.
///
/// Compares every mask bit, every link of every fluid leaf cell, every distance and patch, and,
/// where the surface lies in the finest level alone, that coarser leaf cells are uniform.
///
/// Links: cut where the kind changes.
///
/// Patches: of cuts at the same exact distance, the lowest patch; where other cuts round to
/// distances within one unit in the last place, any of theirs.
pub fn against_oracle<const D: usize>(
    mesh: &Mesh<D>,
    levels: usize,
    oracle: &Oracle<D>,
) -> Result<Seen, Mismatch<D>>
where
    Space: Determinants<D>,
{
    let mut seen = Seen::default();
    for id in mesh.forest.ids() {
        let level = usize::from(mesh.forest.level[id as usize]);
        let spacing = CELL << (levels - 1 - level);
        for cell in 0..dims::cells(D) as u32 {
            let at = CellRef { block: id, cell };
            let coord = mesh.forest.cell_coord(at);
            let center = coord.map(|c| c * spacing + spacing / 2);
            let solid = mesh.classes.solid[id as usize] >> cell & 1 == 1;
            let winding = oracle.winding(center);
            let key = (level, coord);
            seen.cells += 1;
            if solid != mesh.fill.is_solid(winding) {
                return Err(Mismatch::Solid {
                    cell: key,
                    mesh: solid,
                    winding,
                });
            }
            if !mesh.forest.is_leaf(id) {
                continue;
            }
            if !mesh.graded {
                check_within(mesh, oracle, key, levels - 1 - level, solid)?;
            }
            if solid {
                seen.solid += 1;
                continue;
            }
            check_links(mesh, oracle, at, key, spacing, &mut seen)?;
        }
    }
    Ok(seen)
}

/// The finest centres in a coarser leaf cell are of its class: all of them up to two levels
/// down, the outermost ones beyond.
fn check_within<const D: usize>(
    mesh: &Mesh<D>,
    oracle: &Oracle<D>,
    (level, coord): (usize, [i32; D]),
    below: usize,
    solid: bool,
) -> Result<(), Mismatch<D>>
where
    Space: Determinants<D>,
{
    if below == 0 {
        return Ok(());
    }
    let edge = 1i32 << below;
    let places: Vec<i32> = if below <= 2 {
        (0..edge).collect()
    } else {
        vec![0, edge - 1]
    };
    for i in 0..places.len().pow(D as u32) {
        let local = dims::unravel::<D>(i, places.len());
        let center = std::array::from_fn(|a| {
            (coord[a] * edge + places[local[a] as usize]) * CELL + CELL / 2
        });
        if mesh.fill.is_solid(oracle.winding(center)) != solid {
            return Err(Mismatch::NotUniform {
                cell: (level, coord),
            });
        }
    }
    Ok(())
}

/// Compares the links of one leaf cell.
///
/// # Panics
/// Where the mesh has no such leaf cell.
pub fn cell_against_oracle<const D: usize>(
    mesh: &Mesh<D>,
    levels: usize,
    oracle: &Oracle<D>,
    cell: (usize, [i32; D]),
) -> Result<Seen, Mismatch<D>>
where
    Space: Determinants<D>,
{
    let (level, coord) = cell;
    let block = mesh.forest.find(level, coord.map(|c| c >> 2));
    let block = block.expect("the cell should be in the box");
    assert_eq!(
        usize::from(mesh.forest.level[block as usize]),
        level,
        "{cell:?} is no leaf cell"
    );
    let local = dims::ravel(coord.map(|c| c & 3), 4) as u32;
    let at = CellRef { block, cell: local };
    let mut seen = Seen::default();
    check_links(
        mesh,
        oracle,
        at,
        cell,
        CELL << (levels - 1 - level),
        &mut seen,
    )?;
    Ok(seen)
}

fn check_links<const D: usize>(
    mesh: &Mesh<D>,
    oracle: &Oracle<D>,
    at: CellRef,
    cell: (usize, [i32; D]),
    spacing: i32,
    seen: &mut Seen,
) -> Result<(), Mismatch<D>>
where
    Space: Determinants<D>,
{
    let (level, coord) = cell;
    let center = coord.map(|c| c * spacing + spacing / 2);
    for direction in 0..dims::directions(D) {
        let step = dims::step::<D>(direction);
        // Whether the link leaves the box, and through periodic faces alone.
        let (mut leaves, mut is_open) = (false, direction != dims::center(D));
        for a in 0..D {
            let to = coord[a] + step[a];
            let beyond = to < 0 || to >= (mesh.frame.root_cells[a] as i32) << level;
            leaves |= beyond;
            is_open &= !beyond || mesh.forest.periodic[a];
        }
        let mut cuts = Vec::new();
        if is_open {
            let step = step.map(|s| s * spacing);
            cuts = oracle.cuts(center, step);
            if leaves && oracle.net_halfway(center, step) == 0 {
                // On the face itself, crossings that cancel are none.
                cuts.retain(|cut| 2 * cut.num != cut.den);
            }
        }
        let link = mesh.link(at, direction);
        let Some(exact) = wall(&mut cuts, mesh.fill, || oracle.winding(center)) else {
            seen.passed += u64::from(!cuts.is_empty());
            if link.is_some() {
                return Err(Mismatch::Existence {
                    cell,
                    direction,
                    mesh: true,
                });
            }
            continue;
        };
        let Some(Link { q, patch }) = link else {
            return Err(Mismatch::Existence {
                cell,
                direction,
                mesh: false,
            });
        };
        if differ(q, exact.rounded()) {
            return Err(Mismatch::Distance {
                cell,
                direction,
                mesh: q,
                exact,
            });
        }
        if !patch_fits(&cuts, &exact, patch) {
            return Err(Mismatch::Patch {
                cell,
                direction,
                mesh: patch,
            });
        }
        seen.links += 1;
        seen.on_surface += u64::from(exact.num == 0);
        seen.several += u64::from(cuts.len() > 1);
        seen.beyond += u64::from(cuts[0].compare(&exact) == Ordering::Less);
    }
    Ok(())
}

/// Of the crossings of a link from a fluid cell, one at its wall: where the kind changes first, by all crossings of a
/// place together. From outside, the first facet is a wall even if it bounds nothing.
fn wall(cuts: &mut [Cut], fill: Fill, winding: impl FnOnce() -> i32) -> Option<Cut> {
    cuts.sort_by(Cut::compare);
    if !matches!(fill, Fill::Zero | Fill::Even) {
        return cuts.first().copied();
    }
    let mut number = winding();
    let places = cuts.chunk_by(|a, b| a.compare(b) == Ordering::Equal);
    let solid = |place: &&[Cut]| {
        number += place.iter().map(|cut| cut.change).sum::<i32>();
        match fill {
            Fill::Zero => number == 0,
            _ => number % 2 == 0,
        }
    };
    places.into_iter().find(solid).map(|place| place[0])
}

fn patch_fits(cuts: &[Cut], exact: &Cut, patch: u16) -> bool {
    let (mut lowest, mut close) = (u16::MAX, false);
    for cut in cuts {
        if cut.compare(exact) == Ordering::Equal {
            lowest = lowest.min(cut.patch);
        } else {
            close |= cut.patch == patch && !differ(cut.rounded(), exact.rounded());
        }
    }
    patch == lowest || close
}

/// The number of finest centres in the box that are inside, counted one by one, against the
/// count through the leaves.
pub fn solid_finest<const D: usize>(
    mesh: &Mesh<D>,
    levels: usize,
    oracle: &Oracle<D>,
) -> Result<u64, Mismatch<D>>
where
    Space: Determinants<D>,
{
    let cells = mesh.frame.root_cells.map(|n| (n as usize) << (levels - 1));
    let mut count = 0;
    for i in 0..cells.iter().product::<usize>() {
        let mut rest = i;
        let center = cells.map(|n| {
            let c = (rest % n) as i32;
            rest /= n;
            c * CELL + CELL / 2
        });
        count += u64::from(mesh.fill.is_solid(oracle.winding(center)));
    }
    let mesh = mesh.solid_at(levels - 1);
    if mesh == count {
        Ok(count)
    } else {
        Err(Mismatch::SolidFinest {
            mesh,
            oracle: count,
        })
    }
}

/// What a leaf cell is, without ids: its classes, and direction, distance bits and patch of
/// each link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellState {
    /// Inside.
    pub solid: bool,
    /// Has links.
    pub boundary: bool,
    /// Ghost.
    pub ghost: bool,
    /// Interface.
    pub interface: bool,
    /// Links by direction.
    pub links: Vec<(usize, u32, u16)>,
}

/// Leaf cells by level and cell coordinate.
pub type Cells<const D: usize> = BTreeMap<(usize, [i32; D]), CellState>;

/// All leaf cells, cell coordinates and directions taken through the caller's maps.
pub fn cells_through<const D: usize>(
    mesh: &Mesh<D>,
    place: impl Fn(usize, [i32; D]) -> [i32; D],
    turn: impl Fn([i32; D]) -> [i32; D],
) -> Cells<D> {
    let mut cells = Cells::new();
    for id in mesh.forest.leaves() {
        let level = usize::from(mesh.forest.level[id as usize]);
        for cell in 0..dims::cells(D) as u32 {
            let at = CellRef { block: id, cell };
            let bit = |mask: &[u64]| mask[id as usize] >> cell & 1 == 1;
            let mut links = Vec::new();
            for direction in 0..dims::directions(D) {
                if let Some(Link { q, patch }) = mesh.link(at, direction) {
                    let turned = dims::direction(turn(dims::step::<D>(direction)));
                    links.push((turned, q.to_bits(), patch));
                }
            }
            links.sort_unstable();
            let state = CellState {
                solid: bit(&mesh.classes.solid),
                boundary: bit(&mesh.classes.boundary),
                ghost: bit(&mesh.classes.ghost),
                interface: bit(&mesh.classes.interface),
                links,
            };
            cells.insert((level, place(level, mesh.forest.cell_coord(at))), state);
        }
    }
    cells
}

/// All leaf cells as they are.
pub fn cells<const D: usize>(mesh: &Mesh<D>) -> Cells<D> {
    cells_through(mesh, |_, at| at, |step| step)
}

/// Level and coordinate of the first cell that two meshes do not share or agree on.
pub fn same_cells<const D: usize>(a: &Cells<D>, b: &Cells<D>) -> Result<(), (usize, [i32; D])> {
    unequal_cells(a, b).first().map_or(Ok(()), |at| Err(*at))
}

/// All cells that two meshes do not share or agree on.
pub fn unequal_cells<const D: usize>(a: &Cells<D>, b: &Cells<D>) -> Vec<(usize, [i32; D])> {
    let unlike = a.iter().filter(|(at, state)| b.get(*at) != Some(*state));
    let more = b.keys().filter(|at| !a.contains_key(*at));
    unlike.map(|(at, _)| *at).chain(more.copied()).collect()
}
