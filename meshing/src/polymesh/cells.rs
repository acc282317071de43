//! The cells that are kept, their numbers, and what lies beyond each of their faces.

use super::grading::{Grading, child_of};
use cutlink_amr::{CellRef, Forest, NONE, NeighborCell, OUTSIDE, dims};
use cutlink_voxelizer::Mesh;

/// The share of a coarse link that reaches the centres of the finer cells beyond its face.
const TO_FINER_CENTRE: f32 = 0.75;

/// A side of a cell: -x, +x, -y, +y, -z, +z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side(pub(super) u8);

impl Side {
    pub(super) const ALL: [Self; 6] = [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5)];

    pub(super) fn axis(self) -> usize {
        usize::from(self.0 >> 1)
    }

    pub(super) fn is_upper(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) fn step(self) -> [i32; 3] {
        let mut step = [0; 3];
        step[self.axis()] = if self.is_upper() { 1 } else { -1 };
        step
    }

    /// The forest's number of the direction.
    pub(super) fn direction(self) -> usize {
        dims::direction(self.step())
    }

    pub(super) fn opposite(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// What lies beyond a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beyond {
    /// A kept cell, by its number.
    Cell(u32),
    /// A wall: a patch of the surface.
    Wall(u32),
    /// A face of the box.
    Box,
}

/// One face of a cell: all of a side, or a quarter of it where the cells beyond are finer.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellFace {
    pub(super) side: Side,
    /// Quarter, first along the axis after that of the side; `None` for all.
    pub(super) quarter: Option<u8>,
    pub(super) beyond: Beyond,
    /// A wall between two fluid cells.
    pub(super) baffle: bool,
    /// A wall without a cut link to tell its patch.
    pub(super) guessed: bool,
}

/// What lies one step from a cell over one of its sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// A face of the box that is not periodic.
    Outside,
    /// A cell of the same level.
    Same(CellRef),
    /// A coarser one.
    Coarser(CellRef),
    /// The place of a refined cell of the same level: its children.
    Finer(CellRef),
}

/// The fluid cells of a mesh in the order of their numbers: blocks depth first, which keeps neighbours close to one
/// another in memory, and in a block x fastest.
#[derive(Debug)]
pub(super) struct Cells<'a> {
    pub(super) mesh: &'a Mesh<3>,
    pub(super) grading: Grading,
    /// Leaf blocks, and refined ones with cells of their own, in order.
    pub(super) blocks: Vec<u32>,
    /// Place of each block in `blocks`, or [`NONE`].
    pub(super) slot: Vec<u32>,
    /// Cells of each block that are kept, by slot.
    pub(super) kept: Vec<u64>,
    /// Number of the first cell of each block, by slot.
    first: Vec<u32>,
    /// Number of cells.
    pub(super) count: u64,
}

impl<'a> Cells<'a> {
    /// All fluid cells of a grading.
    pub(super) fn new(mesh: &'a Mesh<3>, grading: Grading) -> Self {
        let forest = &mesh.forest;
        let blocks = in_order(forest, &grading);
        let mut slot = vec![NONE; forest.capacity()];
        for (at, &id) in blocks.iter().enumerate() {
            slot[id as usize] = at as u32;
        }
        let fluid = |&id: &u32| grading.used[id as usize] & !grading.solid[id as usize];
        let kept = blocks.iter().map(fluid).collect();
        let mut cells = Self {
            mesh,
            grading,
            blocks,
            slot,
            kept,
            first: Vec::new(),
            count: 0,
        };
        cells.number();
        cells
    }

    /// Numbers the cells that are kept. Numbers beyond 2^32 wrap; `count` does not.
    pub(super) fn number(&mut self) {
        self.count = 0;
        self.first.clear();
        for kept in &self.kept {
            self.first.push(self.count as u32);
            self.count += u64::from(kept.count_ones());
        }
    }

    fn is_kept(&self, at: CellRef) -> bool {
        self.kept[self.slot[at.block as usize] as usize] >> at.cell & 1 == 1
    }

    /// The number of a cell that is kept.
    pub(super) fn id(&self, at: CellRef) -> u32 {
        let slot = self.slot[at.block as usize] as usize;
        let before = self.kept[slot] & ((1 << at.cell) - 1);
        self.first[slot].wrapping_add(before.count_ones())
    }

    /// The patch that cuts a link.
    fn cut(&self, at: CellRef, side: Side) -> Option<u32> {
        let link = self.mesh.link(at, side.direction())?;
        Some(link.patch.into())
    }

    /// The patch that separates a cell from a coarser one beyond its `side`: it cuts the link of either, as far as
    /// the centres of the finer cells.
    pub(super) fn cut_between_levels(
        &self,
        fine: CellRef,
        side: Side,
        coarse: CellRef,
    ) -> Option<u32> {
        self.cut(fine, side).or_else(|| {
            let link = self.mesh.link(coarse, side.opposite().direction())?;
            (link.q <= TO_FINER_CENTRE).then_some(link.patch.into())
        })
    }

    /// The patch that separates two fluid cells of a level: it cuts the link of either, one of which may be of a refined
    /// block, which has none. A link that only clips an edge of the body separates nothing.
    pub(super) fn cut_in_level(&self, at: CellRef, side: Side, other: CellRef) -> Option<u32> {
        let back = || self.cut(other, side.opposite());
        let patch = self.cut(at, side).or_else(back)?;
        (!self.is_clipped(at, side, other)).then_some(patch)
    }

    /// Whether the surface cuts off no more than an edge or a corner of a body between two fluid cells: one of them touches a solid
    /// cell, so the body goes on there, and three steps lead from one to the other around an edge of their face, so nothing
    /// is sealed. A wall there would stick out into the flow; only the first row of a part thinner than a cell is taken with
    /// it, if it ends within that row. Surfaces without a solid side are walls everywhere.
    fn is_clipped(&self, at: CellRef, side: Side, other: CellRef) -> bool {
        let ends = [at, other];
        let of_leaves = ends.iter().all(|at| self.mesh.forest.is_leaf(at.block));
        let touches = ends.into_iter().any(|at| self.touches_solid(at));
        if self.mesh.fill.is_sheets() || !of_leaves || !touches {
            return false;
        }
        let around = |step: &Side| {
            if step.axis() == side.axis() {
                return false;
            }
            let [near, far] = ends.map(|at| self.open_step(at, *step));
            let beside = near.and_then(|near| self.open_step(near, side));
            beside.is_some() && beside == far
        };
        Side::ALL.iter().any(around)
    }

    fn touches_solid(&self, at: CellRef) -> bool {
        let is_solid = |direction| match self.mesh.forest.neighbor_cell(at, direction) {
            NeighborCell::Same(n) => self.mesh.classes.solid[n.block as usize] >> n.cell & 1 == 1,
            _ => false,
        };
        (0..27).any(is_solid)
    }

    /// The fluid cell of the level one step away, if no wall is between.
    fn open_step(&self, at: CellRef, side: Side) -> Option<CellRef> {
        let NeighborCell::Same(to) = self.mesh.forest.neighbor_cell(at, side.direction()) else {
            return None;
        };
        let is_fluid = self.mesh.classes.solid[to.block as usize] >> to.cell & 1 == 0;
        (is_fluid && self.cut(at, side).is_none()).then_some(to)
    }

    /// The patch of a wall beside a fluid cell, and whether it is a guess: where the surface crosses levels, no link of
    /// the cell need lead to the wall.
    fn wall(&self, at: CellRef, side: Side) -> (u32, bool) {
        if let Some(patch) = self.cut(at, side) {
            return (patch, false);
        }
        let leads = |direction: usize| {
            let step = dims::step::<3>(direction)[side.axis()];
            step == side.step()[side.axis()]
        };
        let of = |at: CellRef, all: bool| {
            (0..27)
                .filter(|&direction| direction != dims::center(3) && (all || leads(direction)))
                .find_map(|direction| self.mesh.link(at, direction))
        };
        let around = || {
            (0..27).find_map(
                |direction| match self.mesh.forest.neighbor_cell(at, direction) {
                    NeighborCell::Same(n) | NeighborCell::Coarser(n) => of(n, true),
                    _ => None,
                },
            )
        };
        let found = of(at, false).or_else(|| of(at, true)).or_else(around);
        (found.map_or(0, |link| link.patch.into()), true)
    }
}

/// Leaf blocks, and refined ones that use cells of their own, depth first.
fn in_order(forest: &Forest<3>, grading: &Grading) -> Vec<u32> {
    let mut blocks = Vec::with_capacity(forest.blocks());
    let mut path = Vec::new();
    for root in 0..forest.roots() as u32 {
        path.push(root);
        while let Some(id) = path.pop() {
            let first = forest.first_child[id as usize];
            if first == NONE || grading.used[id as usize] != 0 {
                blocks.push(id);
            }
            if first != NONE {
                path.extend((0..8).rev().map(|child| first + child));
            }
        }
    }
    blocks
}

/// A block and the blocks around it.
#[derive(Debug)]
pub(super) struct Block<'a, 'm> {
    pub(super) cells: &'a Cells<'m>,
    pub(super) id: u32,
    pub(super) level: usize,
    pub(super) kept: u64,
    /// Number of its first cell.
    first: u32,
    has_links: bool,
    around: [u32; 27],
    /// Directions that lead out of the box, a bit each.
    pub(super) outside: u32,
    /// Refined cells of the blocks around, itself in the middle.
    refined: [u64; 27],
    has_finer: bool,
}

impl<'a, 'm> Block<'a, 'm> {
    pub(super) fn new(cells: &'a Cells<'m>, slot: usize) -> Self {
        let (id, forest) = (cells.blocks[slot], &cells.mesh.forest);
        let mut around = [OUTSIDE; 27];
        let (mut outside, mut refined) = (0, [0; 27]);
        for (direction, block) in forest.neighbors_of(id).enumerate() {
            around[direction] = block;
            outside |= u32::from(!forest.is_inside(id, direction)) << direction;
            if block < OUTSIDE {
                refined[direction] = cells.grading.refined[block as usize];
            }
        }
        Self {
            cells,
            id,
            level: usize::from(forest.level[id as usize]),
            kept: cells.kept[slot],
            first: cells.first[slot],
            has_links: cells.mesh.classes.boundary[id as usize] != 0,
            around,
            outside,
            refined,
            has_finer: refined != [0; 27],
        }
    }

    /// The block in a direction, of the same level.
    pub(super) fn around(&self, direction: usize) -> u32 {
        self.around[direction]
    }

    /// Whether there are finer cells in the block or around it, so that points may hang.
    pub(super) fn has_finer(&self) -> bool {
        self.has_finer
    }

    /// Whether the place at local cell coordinates -1..=4 is filled by finer cells.
    fn is_finer(&self, place: [i32; 3]) -> bool {
        let (toward, within) = split(place);
        self.refined[toward] >> within & 1 == 1
    }

    /// Hands over the faces of a cell that is kept, side by side.
    pub(super) fn faces(&self, cell: u32, mut put: impl FnMut(CellFace)) {
        for side in Side::ALL {
            self.faces_on(cell, side, &mut put);
        }
    }

    fn faces_on(&self, cell: u32, side: Side, put: &mut impl FnMut(CellFace)) {
        let at = CellRef {
            block: self.id,
            cell,
        };
        let (toward, within) = split(beside(cell, side));
        // Most faces: between two cells of a block without walls.
        if toward == dims::center(3) && !self.has_links && self.kept >> within & 1 == 1 {
            let before = self.kept & ((1 << within) - 1);
            let id = self.first.wrapping_add(before.count_ones());
            return put(CellFace {
                side,
                quarter: None,
                beyond: Beyond::Cell(id),
                baffle: false,
                guessed: false,
            });
        }
        let is_out = self.outside >> toward & 1 == 1;
        let mut one = |quarter, (beyond, baffle, guessed): (Beyond, bool, bool)| {
            let is_box = is_out && matches!(beyond, Beyond::Cell(_));
            put(CellFace {
                side,
                quarter,
                beyond: if is_box { Beyond::Box } else { beyond },
                baffle,
                guessed,
            });
        };
        match self.next(cell, side) {
            Next::Outside => one(None, (Beyond::Box, false, false)),
            Next::Coarser(coarse) => {
                let cut = |cells: &Cells<'_>| cells.cut_between_levels(at, side, coarse);
                one(None, self.beyond(at, side, coarse, cut));
            }
            Next::Same(other) => {
                let cut = |cells: &Cells<'_>| cells.cut_in_level(at, side, other);
                one(None, self.beyond(at, side, other, cut));
            }
            Next::Finer(place) => {
                let children = self.cells.mesh.forest.first_child[place.block as usize];
                for quarter in 0..4 {
                    let fine = finer(children, place.cell, side, quarter);
                    let cut =
                        |cells: &Cells<'_>| cells.cut_between_levels(fine, side.opposite(), at);
                    one(Some(quarter), self.beyond(at, side, fine, cut));
                }
            }
        }
    }

    /// What lies beside a used cell of the block.
    pub(super) fn next(&self, cell: u32, side: Side) -> Next {
        let place = beside(cell, side);
        let (toward, within) = split(place);
        let bit = |mask: u64| mask >> within & 1 == 1;
        let forest = &self.cells.mesh.forest;
        match self.around[toward] {
            OUTSIDE => Next::Outside,
            NONE => {
                // Its cells are two of this level wide; the box has a multiple of eight of them.
                let block = forest.coarser_neighbor(self.id, toward);
                let own = forest.coord[self.id as usize];
                let at: [i32; 3] = std::array::from_fn(|a| (4 * own[a] + place[a]) >> 1 & 3);
                let cell = dims::ravel(at, 4) as u32;
                Next::Coarser(CellRef { block, cell })
            }
            block => {
                let cell = within as u32;
                if bit(self.refined[toward]) {
                    Next::Finer(CellRef { block, cell })
                } else if bit(self.cells.grading.used[block as usize]) {
                    Next::Same(CellRef { block, cell })
                } else {
                    let child = dims::unravel::<3>(child_of(forest, block), 2);
                    let over = dims::above(child, dims::unravel::<3>(within, 4));
                    let cell = dims::ravel(over, 4) as u32;
                    let block = forest.parent[block as usize];
                    Next::Coarser(CellRef { block, cell })
                }
            }
        }
    }

    /// What lies beyond a face, whether it is a baffle, and whether its patch is a guess.
    fn beyond(
        &self,
        at: CellRef,
        side: Side,
        other: CellRef,
        cut: impl FnOnce(&Cells<'_>) -> Option<u32>,
    ) -> (Beyond, bool, bool) {
        let cells = self.cells;
        if !cells.is_kept(other) {
            let (patch, guessed) = cells.wall(at, side);
            return (Beyond::Wall(patch), false, guessed);
        }
        match cut(cells) {
            Some(patch) => (Beyond::Wall(patch), true, false),
            None => (Beyond::Cell(cells.id(other)), false, false),
        }
    }

    /// The points of a face in half cells from the block's lower corner, counter-clockwise seen from outside the cell.
    /// Between two corners there is a point if a finer cell has one there.
    pub(super) fn outline(&self, cell: u32, face: CellFace, put: &mut Vec<[u8; 3]>) {
        put.clear();
        let (axis, side) = (face.side.axis(), face.side);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let at = dims::unravel::<3>(cell as usize, 4);
        let mut low = at.map(|c| 2 * c as u8);
        low[axis] += if side.is_upper() { 2 } else { 0 };
        let mut size = 2;
        if let Some(quarter) = face.quarter {
            size = 1;
            low[u] += quarter & 1;
            low[v] += quarter >> 1;
        }
        // Corners (u, v), and the side of the edge that follows each: along u or v, down or up.
        let corners: [([u8; 2], usize, i32); 4] = match side.is_upper() {
            true => [
                ([0, 0], v, -1),
                ([1, 0], u, 1),
                ([1, 1], v, 1),
                ([0, 1], u, -1),
            ],
            false => [
                ([0, 0], u, -1),
                ([0, 1], v, 1),
                ([1, 1], u, 1),
                ([1, 0], v, -1),
            ],
        };
        for (i, &([cu, cv], toward, by)) in corners.iter().enumerate() {
            let corner = |[cu, cv]: [u8; 2]| {
                let mut p = low;
                p[u] += size * cu;
                p[v] += size * cv;
                p
            };
            let from = corner([cu, cv]);
            put.push(from);
            if face.quarter.is_some() || !self.has_finer {
                continue;
            }
            let mut beside = at;
            beside[toward] += by;
            if self.is_finer(beside) || self.is_finer(add(beside, side.step())) {
                let to = corner(corners[(i + 1) % 4].0);
                put.push(std::array::from_fn(|a| from[a].midpoint(to[a])));
            }
        }
    }
}

/// Local coordinates of the place beside a cell.
fn beside(cell: u32, side: Side) -> [i32; 3] {
    add(dims::unravel::<3>(cell as usize, 4), side.step())
}

/// The block that a place at local cell coordinates -1..=4 is in, by its direction, and the cell there.
fn split(place: [i32; 3]) -> (usize, usize) {
    let toward = dims::direction(place.map(|c| c.div_euclid(4)));
    (toward, dims::ravel(place.map(|c| c & 3), 4))
}

fn add(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    std::array::from_fn(|i| a[i] + b[i])
}

/// The finer cell beyond a quarter of a side, in the place of cell `within` of a refined block.
fn finer(children: u32, within: u32, side: Side, quarter: u8) -> CellRef {
    let axis = side.axis();
    let mut corner = [0; 3];
    corner[(axis + 1) % 3] = i32::from(quarter & 1);
    corner[(axis + 2) % 3] = i32::from(quarter >> 1);
    // The cells that touch the side are the nearer ones.
    corner[axis] = if side.is_upper() { 0 } else { 1 };
    let (child, cell) = dims::below(dims::unravel::<3>(within as usize, 4), corner);
    CellRef {
        block: children + child as u32,
        cell: dims::ravel(cell, 4) as u32,
    }
}
