//! Random assemblies of bodies: overlapping, nested, touching in faces and edges, repeated; around and inside, in 2D
//! and 3D.
//!
//! A draw is a function of its seed. Its mesh is held against brute force over all facets in exact arithmetic: the
//! class of each cell, and each link of each fluid cell, which is cut where its kind changes first. A second oracle goes
//! by angles in f64 on the surface as it was before snapping, at some cells and at points along their links.
//!
//! `CUTLINK_MESH_DRAWS` and `CUTLINK_MESH_SEED` set how many draws there are and the first seed; the table is printed.

use cutlink_amr::{CellRef, dims};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
};
use cutlink_tests::{
    compare::{Seen, against_oracle},
    oracle::{Determinants, Oracle, Space},
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, embed, kernels::MeshKernels, prepare, validate,
};
use std::{collections::BTreeMap, f64::consts::PI};

/// SplitMix64 (Steele, Lea & Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> usize {
        (self.next() % n) as usize
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// On multiples of a quarter of a cell every other time: ties on cell centres and faces.
    fn length(&mut self, low: f64, high: f64) -> f64 {
        let free = self.between(low, high);
        match self.below(2) {
            0 => (free * 32.0).round() / 32.0,
            _ => free,
        }
    }
}

/// A body in its own frame, by corners.
#[derive(Clone)]
struct Body<const D: usize> {
    facets: Vec<[[f64; D]; D]>,
    /// Its box, if it is one.
    cuboid: Option<[[f64; D]; 2]>,
    /// Which of the draw's frames it stands in.
    pose: usize,
}

/// What depends on the dimension.
trait Shapes<const D: usize> {
    fn cuboid(low: [f64; D], high: [f64; D]) -> Vec<[[f64; D]; D]>;
    fn other(random: &mut Random, radius: f64) -> Vec<[[f64; D]; D]>;
    fn turn(random: &mut Random) -> [[f64; D]; D];
    /// The winding number of a closed surface by angles.
    fn winding(facets: &[[[f64; D]; D]], p: [f64; D]) -> f64;
}

struct Of;

fn loop_of(corners: &[[f64; 2]]) -> Vec<[[f64; 2]; 2]> {
    let next = |k: usize| corners[(k + 1) % corners.len()];
    (0..corners.len()).map(|k| [corners[k], next(k)]).collect()
}

fn polygon(sides: usize, radius: f64) -> Vec<[[f64; 2]; 2]> {
    let corner = |k: usize| {
        let (sin, cos) = (2.0 * PI * k as f64 / sides as f64).sin_cos();
        [radius * cos, radius * sin]
    };
    loop_of(&(0..sides).map(corner).collect::<Vec<_>>())
}

fn reversed<const D: usize>(facets: &[[[f64; D]; D]]) -> Vec<[[f64; D]; D]> {
    let mut turned = facets.to_vec();
    turned.iter_mut().for_each(|f| f.swap(0, 1));
    turned
}

impl Shapes<2> for Of {
    fn cuboid([x0, y0]: [f64; 2], [x1, y1]: [f64; 2]) -> Vec<[[f64; 2]; 2]> {
        loop_of(&[[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    }

    fn other(random: &mut Random, radius: f64) -> Vec<[[f64; 2]; 2]> {
        let sides = 3 + random.below(12);
        let mut facets = polygon(sides, radius);
        if random.below(3) == 0 {
            // A ring.
            facets.extend(reversed(&polygon(sides, 0.6 * radius)));
        }
        facets
    }

    fn turn(random: &mut Random) -> [[f64; 2]; 2] {
        let (sin, cos) = random.between(0.0, 2.0 * PI).sin_cos();
        [[cos, -sin], [sin, cos]]
    }

    fn winding(facets: &[[[f64; 2]; 2]], p: [f64; 2]) -> f64 {
        let angle = |[a, b]: &[[f64; 2]; 2]| {
            let [a, b] = [[a[0] - p[0], a[1] - p[1]], [b[0] - p[0], b[1] - p[1]]];
            (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1])
        };
        facets.iter().map(angle).sum::<f64>() / (2.0 * PI)
    }
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3])
}

/// Rings of corners from pole to pole, or closed into a torus.
fn revolved(rings: &[(f64, f64)], sides: usize, closed: bool) -> Vec<[[f64; 3]; 3]> {
    let at = |(r, z): (f64, f64), k: usize| {
        let (sin, cos) = (2.0 * PI * (k % sides) as f64 / sides as f64).sin_cos();
        [r * cos, r * sin, z]
    };
    let pairs = (0..rings.len() - usize::from(!closed)).map(|i| (i, (i + 1) % rings.len()));
    let mut facets = Vec::new();
    for (i, j) in pairs {
        for k in 0..sides {
            let quad = [
                at(rings[i], k),
                at(rings[i], k + 1),
                at(rings[j], k + 1),
                at(rings[j], k),
            ];
            facets.push([quad[0], quad[1], quad[2]]);
            facets.push([quad[0], quad[2], quad[3]]);
        }
    }
    facets.retain(|[a, b, c]| a != b && b != c && c != a);
    facets
}

impl Shapes<3> for Of {
    fn cuboid(low: [f64; 3], high: [f64; 3]) -> Vec<[[f64; 3]; 3]> {
        let corner = |i: usize| std::array::from_fn(|a| [low, high][i >> a & 1][a]);
        let quads = [
            [0, 4, 6, 2],
            [1, 3, 7, 5],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 2, 3, 1],
            [4, 5, 7, 6],
        ];
        let halves = |q: [usize; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]];
        let all = quads.into_iter().flat_map(halves);
        all.map(|t| t.map(corner)).collect()
    }

    fn other(random: &mut Random, radius: f64) -> Vec<[[f64; 3]; 3]> {
        match random.below(3) {
            0 => {
                let v = [
                    [1.0, 1.0, 1.0],
                    [1.0, -1.0, -1.0],
                    [-1.0, 1.0, -1.0],
                    [-1.0, -1.0, 1.0],
                ];
                let v = v.map(|p| p.map(|c: f64| c * radius));
                let faces = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
                faces.map(|f| f.map(|k| v[k])).to_vec()
            }
            1 => {
                let ring = |k: usize| {
                    let (sin, cos) = (PI * k as f64 / 5.0).sin_cos();
                    // The poles in one point each.
                    let r = if k.is_multiple_of(5) {
                        0.0
                    } else {
                        radius * sin
                    };
                    (r, -radius * cos)
                };
                revolved(&(0..6).map(ring).collect::<Vec<_>>(), 7, false)
            }
            _ => {
                let ring = |k: usize| {
                    let (sin, cos) = (2.0 * PI * k as f64 / 5.0).sin_cos();
                    (0.7 * radius + 0.3 * radius * cos, 0.3 * radius * sin)
                };
                revolved(&(0..5).map(ring).collect::<Vec<_>>(), 8, true)
            }
        }
    }

    fn turn(random: &mut Random) -> [[f64; 3]; 3] {
        // By a unit quaternion.
        let mut q: [f64; 4] = std::array::from_fn(|_| random.between(-1.0, 1.0));
        let size = q.iter().map(|c| c * c).sum::<f64>().sqrt().max(1e-3);
        q.iter_mut().for_each(|c| *c /= size);
        let [w, x, y, z] = q;
        [
            [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y - z * w),
                2.0 * (x * z + y * w),
            ],
            [
                2.0 * (x * y + z * w),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z - x * w),
            ],
            [
                2.0 * (x * z - y * w),
                2.0 * (y * z + x * w),
                1.0 - 2.0 * (x * x + y * y),
            ],
        ]
    }

    fn winding(facets: &[[[f64; 3]; 3]], p: [f64; 3]) -> f64 {
        // Van Oosterom & Strackee 1983.
        let angle = |f: &[[f64; 3]; 3]| {
            let [a, b, c] = f.map(|v| minus(v, p));
            let [x, y, z] = [a, b, c].map(|v| dot(v, v).sqrt());
            let below = x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y;
            2.0 * dot(a, cross(b, c)).atan2(below)
        };
        facets.iter().map(angle).sum::<f64>() / (4.0 * PI)
    }
}

/// An assembly and how it is meshed.
struct Draw<const D: usize> {
    facets: Vec<[[f64; D]; D]>,
    patch: Vec<u16>,
    levels: usize,
    fill: Fill,
    robust: bool,
    ray: [i32; D],
}

impl<const D: usize> Draw<D>
where
    Of: Shapes<D>,
{
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let random = &mut random;
        let mut bodies: Vec<Body<D>> = Vec::new();
        let mut poses: Vec<([[f64; D]; D], [f64; D])> = Vec::new();
        for _ in 0..1 + random.below(4) {
            let body = match bodies.get(random.below(4)) {
                Some(of) => Self::beside(&of.clone(), random),
                None => {
                    let turn = match random.below(2) {
                        0 => std::array::from_fn(|a| {
                            std::array::from_fn(|b| f64::from(u8::from(a == b)))
                        }),
                        _ => <Of as Shapes<D>>::turn(random),
                    };
                    poses.push((turn, std::array::from_fn(|_| random.length(0.2, 0.8))));
                    Self::free(poses.len() - 1, random)
                }
            };
            bodies.push(body);
        }
        let (mut facets, mut patch) = (Vec::new(), Vec::new());
        for (k, body) in (0..).zip(&bodies) {
            let (turn, at) = poses[body.pose];
            let placed = |p: [f64; D]| -> [f64; D] {
                std::array::from_fn(|a| at[a] + (0..D).map(|b| turn[a][b] * p[b]).sum::<f64>())
            };
            facets.extend(body.facets.iter().map(|f| f.map(placed)));
            patch.resize(facets.len(), k);
        }
        let fill = [Fill::NonZero, Fill::EvenOdd, Fill::Zero, Fill::Even][random.below(4)];
        Self {
            facets,
            patch,
            levels: 1 + random.below(5 - D as u64),
            fill,
            robust: !fill.by_parity() && random.below(4) == 0,
            ray: std::array::from_fn(|_| 3 + random.below(900) as i32),
        }
    }

    fn free(pose: usize, random: &mut Random) -> Body<D> {
        let mut cuboid = None;
        let facets = if random.below(2) == 0 {
            let half: [f64; D] = std::array::from_fn(|_| random.length(0.03, 0.35));
            let [low, high] = [half.map(|h| -h), half];
            cuboid = Some([low, high]);
            Of::cuboid(low, high)
        } else {
            let radius = random.between(0.1, 0.4);
            Of::other(random, radius)
        };
        Body {
            facets,
            cuboid,
            pose,
        }
    }

    /// A body that is related to another one in its frame.
    fn beside(of: &Body<D>, random: &mut Random) -> Body<D> {
        let mut body = of.clone();
        let axis = random.below(D as u64);
        let moved = |body: &mut Body<D>, by: [f64; D]| {
            let add = |p: [f64; D]| std::array::from_fn(|a| p[a] + by[a]);
            body.facets.iter_mut().for_each(|f| *f = f.map(add));
            body.cuboid = body.cuboid.map(|ends| ends.map(add));
        };
        match (random.below(5), of.cuboid) {
            // In it or around it.
            (0, _) => {
                let scale = random.between(0.3, 1.4);
                let scaled = |p: [f64; D]| p.map(|c| c * scale);
                body.facets.iter_mut().for_each(|f| *f = f.map(scaled));
                body.cuboid = of.cuboid.map(|ends| ends.map(scaled));
            }
            // Through it, with sides in common.
            (1, _) => {
                let mut by = [0.0; D];
                by[axis] = random.length(0.02, 0.3);
                moved(&mut body, by);
            }
            // Beside it: in touch with a face, an edge or a corner.
            (2 | 3, Some([low, high])) => {
                let all = random.below(3);
                let touches = |a: usize| a == axis || all == 0 || (all == 1 && a == (axis + 1) % D);
                let size: [f64; D] = std::array::from_fn(|a| high[a] - low[a]);
                let ends = [
                    std::array::from_fn(|a| if touches(a) { high[a] } else { low[a] }),
                    std::array::from_fn(|a| {
                        if touches(a) {
                            high[a] + size[a]
                        } else {
                            high[a]
                        }
                    }),
                ];
                body.cuboid = Some(ends);
                body.facets = Of::cuboid(ends[0], ends[1]);
            }
            // The same once more.
            (4, _) => {}
            _ => return Self::free(of.pose, random),
        }
        if random.below(3) == 0 {
            body.facets = reversed(&body.facets);
        }
        body
    }

    fn surface(&self) -> Surface<D> {
        let vertices = self.facets.as_flattened().to_vec();
        let corner = |f: usize, k: usize| (f * D + k) as u32;
        let facets = (0..self.facets.len()).map(|f| std::array::from_fn(|k| corner(f, k)));
        let mut surface = Surface {
            vertices,
            facets: facets.collect(),
            facet_patch: self.patch.clone(),
            patches: (0..4).map(|k| format!("body {k}")).collect(),
        };
        surface.weld();
        surface
    }

    /// Meshes the assembly and compares.
    fn check(&self, seed: u64) -> Result<Seen, String>
    where
        Facet<D>: Exact<D>,
        Space: Determinants<D>,
        Host: MeshKernels<D>,
    {
        let cells = if D == 2 { 16 } else { 8 };
        let frame = Frame {
            origin: [0.0; D],
            dx: 1.0 / f64::from(cells),
            root_cells: [cells; D],
        };
        let params = EmbedParams {
            robust: self.robust,
            ..EmbedParams::new(self.levels, 0.0, self.fill)
        };
        let made = prepare(&Host, &self.surface(), &frame, &params);
        let (snapped, _) = made.map_err(|e| format!("prepare: {e}"))?;
        let mesh = embed(&Host, &snapped, frame, &params, &mut ());
        let mesh = mesh.map_err(|e| format!("embed: {e}"))?;
        validate(&mesh).map_err(|e| format!("validate: {e}"))?;
        let oracle = Oracle::new(&snapped, self.ray);
        let seen = against_oracle(&mesh, self.levels, &oracle);
        let seen = seen.map_err(|m| format!("exact: {m:?}"))?;
        if !self.robust {
            self.by_angles(&mesh, &mut Random(!seed))?;
        }
        Ok(seen)
    }

    /// The winding number at a point, if snapping cannot have moved a facet past it: by `guard` along each axis it is
    /// the same.
    fn number(&self, p: [f64; D], guard: f64) -> Option<i32> {
        let number = |p| {
            let winding = <Of as Shapes<D>>::winding(&self.facets, p);
            ((winding - winding.round()).abs() < 1e-6).then(|| winding.round() as i32)
        };
        let own = number(p)?;
        let is_same = |k: usize| {
            let mut beside = p;
            beside[k / 2] += if k.is_multiple_of(2) { guard } else { -guard };
            number(beside) == Some(own)
        };
        (0..2 * D).all(is_same).then_some(own)
    }

    fn by_angles(&self, mesh: &Mesh<D>, random: &mut Random) -> Result<(), String> {
        // Snapping moves corners by less than one lattice unit.
        let guard = 3.0 * mesh.frame.dx_at(self.levels - 1) / 256.0;
        let number = |p| self.number(p, guard);
        let leaves: Vec<u32> = mesh.forest.leaves().collect();
        for _ in 0..60 {
            let block = leaves[random.below(leaves.len() as u64)];
            let cell = random.below(dims::cells(D) as u64) as u32;
            let at = CellRef { block, cell };
            let level = usize::from(mesh.forest.level[block as usize]);
            let coord = mesh.forest.cell_coord(at);
            let center = mesh.frame.center(level, coord);
            let is_solid = mesh.classes.solid[block as usize] >> cell & 1 == 1;
            if number(center).is_some_and(|n| self.fill.is_solid(n) != is_solid) {
                return Err(format!("angles: solid {is_solid} at {center:?}"));
            }
            let direction = random.below(dims::directions(D) as u64);
            let step = dims::step::<D>(direction);
            let last = (mesh.frame.root_cells[0] << level) as i32;
            let leaves = |a: usize| !(0..last).contains(&(coord[a] + step[a]));
            if is_solid || direction == dims::center(D) || (0..D).any(leaves) {
                continue;
            }
            let dx = mesh.frame.dx_at(level);
            let at_share = |t: f64| -> [f64; D] {
                std::array::from_fn(|a| center[a] + t * f64::from(step[a]) * dx)
            };
            let link = mesh.link(at, direction);
            let q = link.map_or(2.0, |link| f64::from(link.q));
            let what = || format!("from {center:?} along {step:?}, {link:?}");
            let is_in_solid = |t: &f64| number(at_share(*t)).is_some_and(|n| self.fill.is_solid(n));
            let mut shares = (1..=16).map(|k| f64::from(k) / 16.0);
            if shares.find(is_in_solid).is_some_and(|t| q > t) {
                return Err(format!("angles: solid before the cut {}", what()));
            }
            // No wall where the number changes between two numbers of the fluid.
            let [before, beyond] = [-4.0, 4.0].map(|n| number(at_share(q + n * guard / dx)));
            let fluid = |n: Option<i32>| n.filter(|&n| !self.fill.is_solid(n));
            if let (Some(_), Some(a), Some(b)) = (link, fluid(before), fluid(beyond))
                && a.abs_diff(b) == 1
            {
                return Err(format!("angles: a wall between {a} and {b} {}", what()));
            }
        }
        Ok(())
    }
}

/// What the draws of a kind contained, and those that failed.
#[derive(Default)]
struct Row {
    draws: u64,
    seen: Seen,
    failed: Vec<(u64, String)>,
    /// Draws in which the nearest facet of a link is not its wall.
    passing: u64,
}

fn run(count: u64, first: u64) -> BTreeMap<String, Row> {
    let mut table = BTreeMap::<String, Row>::new();
    for seed in first..first + count {
        let (kind, result) = match seed % 2 {
            0 => {
                let draw = Draw::<2>::new(seed);
                (format!("plane, {}", draw.fill.name()), draw.check(seed))
            }
            _ => {
                let draw = Draw::<3>::new(seed);
                (format!("space, {}", draw.fill.name()), draw.check(seed))
            }
        };
        let row = table.entry(kind).or_default();
        row.draws += 1;
        match result {
            Ok(seen) => {
                row.seen = row.seen + seen;
                row.passing += u64::from(seen.passed + seen.beyond > 0);
            }
            Err(text) => row.failed.push((seed, text)),
        }
    }
    table
}

fn number(name: &str, otherwise: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(otherwise, |set| set.parse().expect("a whole number"))
}

#[test]
#[expect(clippy::print_stdout, reason = "the table of a campaign")]
fn random_assemblies_are_cut_where_the_kind_changes() {
    let count = number("CUTLINK_MESH_DRAWS", 40);
    let table = run(count, number("CUTLINK_MESH_SEED", 1));
    println!(
        "| assemblies | draws | failed | nearest facet no wall | cells | cut links | passed over | cut beyond |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (kind, row) in &table {
        let (seen, failed) = (row.seen, row.failed.len());
        let counts = [row.draws, failed as u64, row.passing, seen.cells];
        let counts = counts
            .into_iter()
            .chain([seen.links, seen.passed, seen.beyond]);
        let counts: Vec<String> = counts.map(|n| n.to_string()).collect();
        println!("| {kind} | {} |", counts.join(" | "));
    }
    let failed: Vec<_> = table.values().flat_map(|row| &row.failed).collect();
    assert!(
        failed.is_empty(),
        "{} of {count} fail: {:?}",
        failed.len(),
        failed[0]
    );
    // The draws contain what they are for.
    let total = table
        .values()
        .fold(Seen::default(), |sum, row| sum + row.seen);
    let enough = total.links > 100 * count && total.passed > count && total.several > count;
    assert!(enough, "{total:?} in {count} draws");
}
