//! A surface as a wall: its facets in sorted cells, nearest points, and which side grains are on.
//!
//! **One contact per place.** A sphere that touches a surface has a contact at each local minimum of the distance from its
//! centre. The nearest point of a facet is one if it is inside the facet. On an edge or at a corner it is one unless
//! another facet that reaches that point comes nearer to the centre. Points nearer to one another than the radius
//! √(r δ) of the contact area are one contact, the deepest. So the faces, edges and vertices of any triangulation,
//! welded or not, are counted once.

use crate::GrainError;
use crate::vec3::{Vec3, along, cross, dot, norm, scale, sub};
use cutlink_device::memory;
use cutlink_mesher::{Surface, health};

/// The side of a closed surface that grains are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrainSide {
    /// Inside: the surface is a container.
    Inside,
    /// Outside: the surface is a body.
    Outside,
}

/// A facet with its unit normal; zero for a facet without area.
#[derive(Debug, Clone, Copy)]
struct Facet {
    corners: [Vec3; 3],
    normal: Vec3,
}

/// A surface that grains cannot enter.
#[derive(Debug, Clone)]
pub struct SurfaceWall {
    facets: Vec<Facet>,
    material: u8,
    side: Option<GrainSide>,
    bounds: [Vec3; 2],
    cells: FacetCells,
    columns: FacetCells,
}

/// The nearest point of a facet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nearest {
    pub(crate) at: Vec3,
    pub(crate) distance: f64,
    /// Unit vector from the centre to the point; the normal of the facet where the point is inside of it.
    pub(crate) normal: Vec3,
    /// Whether the point is inside the facet, not on its edges.
    pub(crate) is_inside: bool,
    pub(crate) facet: u32,
}

/// Lists of facets by cell of a grid; along z one cell only where it is of columns.
#[derive(Debug, Clone)]
struct FacetCells {
    lower: Vec3,
    edge: f64,
    count: [usize; 3],
    first: Vec<u32>,
    list: Vec<u32>,
}

impl Facet {
    fn new(corners: [Vec3; 3]) -> Self {
        let [a, b, c] = corners;
        let area = cross(sub(b, a), sub(c, a));
        let length = norm(area);
        let normal = match length > 0.0 {
            true => scale(1.0 / length, area),
            false => [0.0; 3],
        };
        Self { corners, normal }
    }

    fn bounds(&self) -> [Vec3; 2] {
        let [a, b, c] = self.corners;
        [
            std::array::from_fn(|k| a[k].min(b[k]).min(c[k])),
            std::array::from_fn(|k| a[k].max(b[k]).max(c[k])),
        ]
    }

    fn nearest(&self, to: Vec3, facet: u32) -> Nearest {
        let away = dot(self.normal, sub(to, self.corners[0]));
        let beside = |k: usize| {
            let (a, b) = (self.corners[k], self.corners[(k + 1) % 3]);
            dot(cross(self.normal, sub(b, a)), sub(to, a)) >= 0.0
        };
        if self.normal != [0.0; 3] && (0..3).all(beside) {
            let side = if away > 0.0 { -1.0 } else { 1.0 };
            return Nearest {
                at: along(to, -away, self.normal),
                distance: away.abs(),
                normal: scale(side, self.normal),
                is_inside: true,
                facet,
            };
        }
        let mut best = (f64::INFINITY, self.corners[0]);
        for k in 0..3 {
            let (a, b) = (self.corners[k], self.corners[(k + 1) % 3]);
            let edge = sub(b, a);
            let square = dot(edge, edge);
            let share = match square > 0.0 {
                true => (dot(sub(to, a), edge) / square).clamp(0.0, 1.0),
                false => 0.0,
            };
            let at = if share == 1.0 {
                b
            } else {
                along(a, share, edge)
            };
            let away = sub(at, to);
            let away = dot(away, away);
            if away < best.0 {
                best = (away, at);
            }
        }
        let distance = best.0.sqrt();
        let normal = match distance > 0.0 {
            true => scale(1.0 / distance, sub(best.1, to)),
            false => scale(-1.0, self.normal),
        };
        Nearest {
            at: best.1,
            distance,
            normal,
            is_inside: false,
            facet,
        }
    }
}

impl FacetCells {
    /// Cells of at least `edge`; `flat`: columns along z.
    fn new(facets: &[Facet], bounds: [Vec3; 2], edge: f64, flat: bool) -> Result<Self, GrainError> {
        let most = (8 * facets.len()).max(4096) as f64;
        let axes = if flat { 2 } else { 3 };
        let extent: Vec3 = std::array::from_fn(|a| bounds[1][a] - bounds[0][a]);
        let cells = |edge: f64| -> f64 {
            (0..axes)
                .map(|a| (extent[a] / edge).floor() + 1.0)
                .product()
        };
        let mut edge = edge;
        while cells(edge) > most {
            edge *= 1.25;
        }
        let count = std::array::from_fn(|a| match a < axes {
            true => (extent[a] / edge).floor() as usize + 1,
            false => 1,
        });
        let mut made = Self {
            lower: bounds[0],
            edge,
            count,
            first: Vec::new(),
            list: Vec::new(),
        };
        let len = count.iter().product::<usize>() + 1;
        let mut sizes = Vec::new();
        memory::grow("cells of facets", &mut sizes, len, 0u32)?;
        let mut total = 0u64;
        for facet in facets {
            made.each_cell(facet, flat, |cell| {
                sizes[cell + 1] += 1;
                total += 1;
            });
        }
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        if total >= u32::MAX as usize {
            return Err(GrainError::TooMany {
                what: "entries of facets in cells",
                count: total,
                most: u32::MAX as usize,
            });
        }
        for cell in 1..len {
            sizes[cell] += sizes[cell - 1];
        }
        memory::grow("facets of cells", &mut made.list, total, 0u32)?;
        let mut next = sizes.clone();
        let mut list = std::mem::take(&mut made.list);
        for (f, facet) in facets.iter().enumerate() {
            made.each_cell(facet, flat, |cell| {
                list[next[cell] as usize] = f as u32;
                next[cell] += 1;
            });
        }
        made.list = list;
        made.first = sizes;
        Ok(made)
    }

    fn range(&self, axis: usize, from: f64, to: f64) -> [usize; 2] {
        let cell = |x: f64| {
            let cell = ((x - self.lower[axis]) / self.edge).floor();
            (cell.max(0.0) as usize).min(self.count[axis] - 1)
        };
        [cell(from), cell(to)]
    }

    /// The cells that a facet's box meets, less those beside its plane.
    fn each_cell(&self, facet: &Facet, flat: bool, mut of: impl FnMut(usize)) {
        let [lower, upper] = facet.bounds();
        let [x, y, z] = [0, 1, 2].map(|a| self.range(a, lower[a], upper[a]));
        let half = 0.5 * self.edge * (1.0 + 1e-9);
        let reach = half * facet.normal.iter().map(|n| n.abs()).sum::<f64>();
        for k in z[0]..=z[1] {
            for j in y[0]..=y[1] {
                for i in x[0]..=x[1] {
                    let cell = [i, j, k];
                    let center: Vec3 =
                        std::array::from_fn(|a| self.lower[a] + (cell[a] as f64 + 0.5) * self.edge);
                    let away = dot(facet.normal, sub(center, facet.corners[0])).abs();
                    // A rounding error of the plane, which is as large as its coordinates.
                    let rounding = 1e-12 * (norm(center) + norm(facet.corners[0]));
                    if flat || away <= reach + rounding {
                        of((k * self.count[1] + j) * self.count[0] + i);
                    }
                }
            }
        }
    }

    fn of(&self, cell: usize) -> &[u32] {
        &self.list[self.first[cell] as usize..self.first[cell + 1] as usize]
    }
}

impl SurfaceWall {
    /// Makes a wall of a surface, in metres. With a side, the surface has to be closed; grains at the start are then
    /// checked to be there. Without one, only their distance is checked.
    ///
    /// # Errors
    /// [`GrainError::NotClosed`]; no facet; no memory.
    pub fn new(
        surface: &Surface<3>,
        material: u8,
        side: Option<GrainSide>,
    ) -> Result<Self, GrainError> {
        let Some(bounds) = surface.bounds() else {
            return Err(GrainError::Length {
                what: "facets of a surface",
                got: 0,
                expected: 1,
            });
        };
        if side.is_some() {
            let mut welded = surface.clone();
            welded.weld();
            let edges = health::check(&welded).unbalanced_edges;
            if edges > 0 {
                return Err(GrainError::NotClosed {
                    edges: edges as usize,
                });
            }
        }
        let facets: Vec<Facet> = (0..surface.facets.len())
            .map(|f| Facet::new(surface.corners(f)))
            .collect();
        let extent = (0..3)
            .map(|a| bounds[1][a] - bounds[0][a])
            .reduce(f64::max)
            .unwrap_or(0.0);
        // Cells are coarser where this would be too many; a point as extent has one cell.
        let edge = (extent / 256.0).max(f64::MIN_POSITIVE);
        Ok(Self {
            cells: FacetCells::new(&facets, bounds, edge, false)?,
            columns: FacetCells::new(&facets, bounds, edge, true)?,
            facets,
            material,
            side,
            bounds,
        })
    }

    /// Its material.
    pub fn material(&self) -> u8 {
        self.material
    }

    /// The side that grains are on.
    pub fn side(&self) -> Option<GrainSide> {
        self.side
    }

    /// Its bounding box.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        self.bounds
    }

    /// Facets.
    pub fn facets(&self) -> usize {
        self.facets.len()
    }

    /// How often the surface winds around a point: 0 outside of a closed surface, 1 inside. Counts facets above the
    /// point, which is moved by an infinitesimal amount off their edges (Edelsbrunner, Mücke 1990).
    pub fn winding(&self, point: [f64; 3]) -> i32 {
        let outside = (0..2).any(|a| point[a] < self.bounds[0][a] || point[a] > self.bounds[1][a]);
        if outside {
            return 0;
        }
        let [i, j] = [0, 1].map(|a| self.columns.range(a, point[a], point[a])[0]);
        let column = self.columns.of(j * self.columns.count[0] + i);
        let facets = column.iter().map(|&f| &self.facets[f as usize]);
        facets.map(|facet| crossing(facet, point)).sum()
    }

    /// Whether a point is on the side of the grains; true without a side.
    pub fn is_free(&self, point: [f64; 3]) -> bool {
        match self.side {
            None => true,
            Some(GrainSide::Inside) => self.winding(point) != 0,
            Some(GrainSide::Outside) => self.winding(point) == 0,
        }
    }

    /// Distance to the nearest facet, if it is below `reach`.
    pub fn distance(&self, point: [f64; 3], reach: f64) -> Option<f64> {
        let mut near = Vec::new();
        self.candidates(point, reach, &mut near);
        let each = near.iter().map(|&f| self.nearest(f, point).distance);
        each.filter(|d| *d < reach).reduce(f64::min)
    }

    /// Whether a facet is nearer than `reach`; ends with the first one.
    pub(crate) fn is_within(&self, point: Vec3, reach: f64) -> bool {
        let [x, y, z] = [0, 1, 2].map(|a| self.cells.range(a, point[a] - reach, point[a] + reach));
        let is_near = |f: &u32| {
            let facet = &self.facets[*f as usize];
            let away = dot(facet.normal, sub(point, facet.corners[0])).abs();
            away < reach && facet.nearest(point, *f).distance < reach
        };
        (z[0]..=z[1]).any(|k| {
            (y[0]..=y[1]).any(|j| {
                (x[0]..=x[1]).any(|i| {
                    let cell = (k * self.cells.count[1] + j) * self.cells.count[0] + i;
                    self.cells.of(cell).iter().any(is_near)
                })
            })
        })
    }

    /// The facets nearer than `reach`, ascending, appended to `into`.
    pub(crate) fn candidates(&self, point: Vec3, reach: f64, into: &mut Vec<u32>) {
        let from = into.len();
        let outside = (0..3)
            .any(|a| point[a] + reach < self.bounds[0][a] || point[a] - reach > self.bounds[1][a]);
        if outside {
            return;
        }
        let [x, y, z] = [0, 1, 2].map(|a| self.cells.range(a, point[a] - reach, point[a] + reach));
        for k in z[0]..=z[1] {
            for j in y[0]..=y[1] {
                for i in x[0]..=x[1] {
                    let cell = (k * self.cells.count[1] + j) * self.cells.count[0] + i;
                    into.extend_from_slice(self.cells.of(cell));
                }
            }
        }
        into[from..].sort_unstable();
        let mut kept = from;
        for at in from..into.len() {
            let facet = into[at];
            let is_new = kept == from || into[kept - 1] != facet;
            if is_new && self.nearest(facet, point).distance < reach {
                into[kept] = facet;
                kept += 1;
            }
        }
        into.truncate(kept);
    }

    #[inline]
    pub(crate) fn nearest(&self, facet: u32, point: Vec3) -> Nearest {
        self.facets[facet as usize].nearest(point, facet)
    }

    /// The contacts of a sphere among some facets; see the documentation of the module. `hits` is scratch.
    pub(crate) fn contacts(
        &self,
        (center, radius): (Vec3, f64),
        facets: impl Iterator<Item = u32>,
        hits: &mut Vec<Nearest>,
        kept: &mut Vec<Nearest>,
    ) {
        hits.clear();
        kept.clear();
        // Most candidates are farther away, and their planes tell it.
        let is_near = |f: &u32| {
            let facet = &self.facets[*f as usize];
            dot(facet.normal, sub(center, facet.corners[0])).abs() < radius
        };
        let near = facets.filter(is_near).map(|f| self.nearest(f, center));
        hits.extend(near.filter(|hit| hit.distance < radius));
        hits.sort_unstable_by(|a, b| {
            a.distance
                .total_cmp(&b.distance)
                .then(a.facet.cmp(&b.facet))
        });
        let tolerance = 1e-7 * radius;
        for at in 0..hits.len() {
            let hit = hits[at];
            let is_same = |other: &Nearest| {
                let apart = sub(hit.at, other.at);
                dot(apart, apart) < (radius * (radius - other.distance)).max(tolerance * tolerance)
            };
            let hides = |other: &Nearest| {
                other.distance < hit.distance - 1e-3 * tolerance
                    && self.nearest(other.facet, hit.at).distance < tolerance
            };
            if kept.iter().any(is_same) || !hit.is_inside && hits[..at].iter().any(hides) {
                continue;
            }
            kept.push(hit);
        }
    }
}

/// 1 or -1 for a facet above the point, by the side that it shows; else 0.
fn crossing(facet: &Facet, p: Vec3) -> i32 {
    let side = |k: usize| {
        let (a, b) = (facet.corners[k], facet.corners[(k + 1) % 3]);
        // The same numbers for both facets at an edge.
        let swapped = (a[0], a[1], a[2]) > (b[0], b[1], b[2]);
        let (from, to) = if swapped { (b, a) } else { (a, b) };
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let mut turn = dx * (p[1] - from[1]) - dy * (p[0] - from[0]);
        if turn == 0.0 {
            turn = if dy == 0.0 { dx } else { -dy };
        }
        let sign = i32::from(turn > 0.0) - i32::from(turn < 0.0);
        if swapped { -sign } else { sign }
    };
    let sign = side(0);
    if sign == 0 || side(1) != sign || side(2) != sign {
        return 0;
    }
    let above = dot(facet.normal, sub(facet.corners[0], p)) * f64::from(sign);
    if above > 0.0 { sign } else { 0 }
}
