//! Which cells are refined.
//!
//! ```text
//! box:X0,Y0,Z0,X1,Y1,Z1,levels=N             cells whose centre is in the box
//! sphere:X,Y,Z,r=R,levels=N
//! cylinder:X0,Y0,Z0,X1,Y1,Z1,r=R,levels=N
//! surface:FILE,distance=D,levels=N           cells that come within D of a facet, by the balls around them
//! field:NAME>VALUE,levels=N                  cells of the present mesh; also <; vectors by their length
//! ```
//! `levels` counts that of the parent, as everywhere: 2 halves its cells once.

use super::fields::Fields;
use super::surface::Facets;
use crate::refine::Refine;
use cutlink_common::Error;
use cutlink_hex::refine::{CellPlace, MAX_REFINEMENTS};
use cutlink_hex::{CellPath, RefinedMesh};
use cutlink_voxelizer::RegionShape;
use std::path::PathBuf;
use std::str::FromStr;

/// One rule of `cutlink refine --where`.
#[derive(Debug, Clone, PartialEq)]
pub struct CellRule {
    what: What,
    times: u8,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    Region(RegionShape),
    Surface {
        file: PathBuf,
        distance: f64,
    },
    Field {
        name: String,
        above: bool,
        value: f64,
    },
}

impl FromStr for CellRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let limited = |levels: usize| match (1..=usize::from(MAX_REFINEMENTS) + 1).contains(&levels)
        {
            true => Ok(levels as u8 - 1),
            false => Err(format!(
                "`{text}`: levels is {levels}, not 1 to {}",
                MAX_REFINEMENTS + 1
            )),
        };
        if let Some(rest) = text.trim().strip_prefix("surface:") {
            let (what, levels) = surface(rest).ok_or_else(|| {
                format!("`{text}` is not a rule; write surface:FILE,distance=D,levels=N")
            })?;
            return Ok(Self {
                what,
                times: limited(levels)?,
            });
        }
        if let Some(rest) = text.trim().strip_prefix("field:") {
            let grammar = "field:NAME>VALUE,levels=N";
            let wrong = || format!("`{text}` is not a rule; write {grammar}");
            let (test, levels) = rest.split_once(",levels=").ok_or_else(wrong)?;
            let at = test.find(['<', '>']).ok_or_else(wrong)?;
            let (name, value) = (test[..at].trim(), test[at + 1..].trim());
            let value = value
                .parse()
                .ok()
                .filter(|x: &f64| x.is_finite())
                .ok_or_else(wrong)?;
            let levels = levels.trim().parse().map_err(|_| wrong())?;
            let above = test[at..].starts_with('>');
            let what = What::Field {
                name: name.to_owned(),
                above,
                value,
            };
            return Ok(Self {
                what,
                times: limited(levels)?,
            });
        }
        let refine: Refine = text.parse()?;
        let region = refine.region().ok_or_else(|| {
            format!("`{text}` is not a region; write one of box, sphere, cylinder, surface:FILE,distance=D,levels=N, or \
                 field:NAME>VALUE,levels=N")
        })?;
        Ok(Self {
            what: What::Region(region),
            times: limited(refine.levels)?,
        })
    }
}

/// `FILE,distance=D,levels=N`, the keys in any order; file names may have commas.
fn surface(text: &str) -> Option<(What, usize)> {
    let (rest, last) = text.rsplit_once(',')?;
    let (file, first) = rest.rsplit_once(',')?;
    let value = |key: &str| {
        [first, last].into_iter().find_map(|item| {
            let (name, value) = item.split_once('=')?;
            (name.trim() == key).then(|| value.trim())
        })
    };
    let distance: f64 = value("distance")?.parse().ok()?;
    let levels = value("levels")?.parse().ok()?;
    let what = What::Surface {
        file: PathBuf::from(file.trim()),
        distance,
    };
    (distance.is_finite() && distance >= 0.0 && !file.trim().is_empty()).then_some((what, levels))
}

/// How often cells are refined.
pub(super) struct Wanted {
    regions: Vec<(RegionShape, u8)>,
    /// Facets, the distance from them, and how often.
    surfaces: Vec<(Facets, f64, u8)>,
    /// Cells of the present mesh that fields name, sorted.
    cells: Vec<(CellPath, u8)>,
}

/// Evaluates the rules for fields, and reads surfaces.
pub(super) fn wanted(
    rules: &[CellRule],
    old: &RefinedMesh,
    fields: &Fields,
) -> Result<Wanted, Error> {
    let mut times = vec![0u8; old.mesh.cells];
    let (mut regions, mut surfaces) = (Vec::new(), Vec::new());
    for rule in rules {
        match &rule.what {
            What::Region(shape) => regions.push((*shape, rule.times)),
            What::Surface { file, distance } => {
                surfaces.push((Facets::read(file)?, *distance, rule.times));
            }
            What::Field { name, above, value } => {
                let is_named = |x: f64| if *above { x > *value } else { x < *value };
                for (times, x) in times.iter_mut().zip(fields.lengths(name)?) {
                    *times = (*times).max(if is_named(x) { rule.times } else { 0 });
                }
            }
        }
    }
    let cells = old
        .paths
        .iter()
        .copied()
        .zip(times)
        .filter(|cell| cell.1 > 0)
        .collect();
    Ok(Wanted {
        regions,
        surfaces,
        cells,
    })
}

impl Wanted {
    /// How often a cell is to be refined in all.
    pub(super) fn of(&self, place: CellPlace) -> u8 {
        let regions = self
            .regions
            .iter()
            .filter(|(shape, _)| holds(shape, place.center))
            .map(|r| r.1);
        let most = regions.chain(self.of_fields(place.path)).max().unwrap_or(0);
        // The search is for cells that could be refined further by it.
        let least = most.max(place.path.level());
        let surfaces = self
            .surfaces
            .iter()
            .filter(|(facets, distance, times)| {
                *times > least && facets.are_within(place.center, distance + place.radius)
            })
            .map(|s| s.2);
        surfaces.max().unwrap_or(0).max(most)
    }

    /// How often a cell and all its parts are to be refined in all, at least: by regions that hold the ball around it, facets
    /// in reach of all of it, and fields of cells that hold it.
    pub(super) fn throughout(&self, place: CellPlace) -> u8 {
        let CellPlace {
            center,
            radius,
            path,
        } = place;
        let regions = (self.regions.iter())
            .filter(|(shape, _)| holds_ball(shape, center, radius))
            .map(|r| r.1);
        let surfaces = (self.surfaces.iter())
            .filter(|(facets, distance, _)| {
                *distance >= radius && facets.are_within(center, distance - radius)
            })
            .map(|s| s.2);
        let fields = (self.overlapping(path))
            .filter(|(cell, _)| cell.level() <= path.level())
            .map(|cell| cell.1);
        regions.chain(surfaces).chain(fields).max().unwrap_or(0)
    }

    /// Of the cells that overlap a cell.
    fn of_fields(&self, path: CellPath) -> impl Iterator<Item = u8> + '_ {
        self.overlapping(path).map(|cell| cell.1)
    }

    /// Cells that fields name which hold a cell or lie in it.
    fn overlapping(&self, path: CellPath) -> impl Iterator<Item = &(CellPath, u8)> {
        let from = self
            .cells
            .partition_point(|cell| !cell.0.overlaps(path) && cell.0 < path);
        self.cells[from..]
            .iter()
            .take_while(move |cell| cell.0.overlaps(path))
    }
}

/// Whether a region holds a ball. False where a cylinder without length has no inside.
fn holds_ball(shape: &RegionShape, center: [f64; 3], radius: f64) -> bool {
    match *shape {
        RegionShape::Box { lower, upper } => {
            (0..3).all(|a| lower[a] + radius <= center[a] && center[a] + radius <= upper[a])
        }
        RegionShape::Ball {
            center: of,
            radius: outer,
        } => {
            let rest = outer - radius;
            let ball = RegionShape::Ball {
                center: of,
                radius: rest,
            };
            rest >= 0.0 && holds(&ball, center)
        }
        RegionShape::Cylinder {
            from,
            to,
            radius: outer,
        } => {
            let axis: [f64; 3] = std::array::from_fn(|a| to[a] - from[a]);
            let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
            let cut = radius / length;
            let rest = outer - radius;
            let inner = RegionShape::Cylinder {
                from: std::array::from_fn(|a| from[a] + cut * axis[a]),
                to: std::array::from_fn(|a| to[a] - cut * axis[a]),
                radius: rest,
            };
            rest >= 0.0 && cut < 0.5 && holds(&inner, center)
        }
    }
}

fn holds(shape: &RegionShape, p: [f64; 3]) -> bool {
    let between = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| b[i] - a[i]) };
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    match *shape {
        RegionShape::Box { lower, upper } => (0..3).all(|a| lower[a] <= p[a] && p[a] <= upper[a]),
        RegionShape::Ball { center, radius } => {
            let d = between(center, p);
            dot(d, d) <= radius * radius
        }
        RegionShape::Cylinder { from, to, radius } => {
            let (axis, d) = (between(from, to), between(from, p));
            let along = dot(d, axis) / dot(axis, axis);
            let off: [f64; 3] = std::array::from_fn(|a| d[a] - along * axis[a]);
            (0.0..=1.0).contains(&along) && dot(off, off) <= radius * radius
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_wrong_ones_refused() {
        for text in [
            "sphere:0,0,0,r=1,levels=2",
            "box:0,0,0,1,1,1,levels=3",
            "field:alpha.water>0.5,levels=2",
            "surface:a,b.stl,levels=2,distance=0",
        ] {
            assert!(text.parse::<CellRule>().is_ok(), "{text}");
        }
        let field: CellRule = "field:p < -1e-3,levels=4".parse().expect("a rule");
        let what = What::Field {
            name: "p".into(),
            above: false,
            value: -1e-3,
        };
        assert_eq!(field, CellRule { what, times: 3 });
        for text in [
            "",
            "sphere:0,0,r=1,levels=2",
            "field:p,levels=2",
            "field:p>x,levels=2",
            "near:*,levels=2,distance=1",
            "surface:a.stl,levels=2",
            "surface:,distance=1,levels=2",
            "surface:a.stl,distance=-1,levels=2",
            "surface:a.stl,distance=1,distance=2",
            "circle:0,0,r=1,levels=2",
            "box:0,0,0,1,1,1,levels=12",
        ] {
            assert!(text.parse::<CellRule>().is_err(), "{text}");
        }
    }

    #[test]
    fn balls_in_regions() {
        let shapes = [
            RegionShape::Ball {
                center: [1.0, 0.0, 0.0],
                radius: 1.0,
            },
            RegionShape::Box {
                lower: [0.0, -1.0, -1.0],
                upper: [2.0, 1.0, 1.0],
            },
            RegionShape::Cylinder {
                from: [0.0; 3],
                to: [2.0, 0.0, 0.0],
                radius: 1.0,
            },
        ];
        // The largest ball around (1, 0, 0) is that of radius 1; around (1, 0.5, 0) of 0.5.
        for shape in shapes {
            let ball = |y: f64, radius| holds_ball(&shape, [1.0, y, 0.0], radius);
            assert!(ball(0.0, 0.99) && !ball(0.0, 1.01), "{shape:?}");
            assert!(ball(0.5, 0.49) && !ball(0.5, 0.51), "{shape:?}");
            assert!(!ball(3.0, 0.1), "{shape:?}");
        }
    }

    #[test]
    fn points_on_and_in_regions() {
        let ball = RegionShape::Ball {
            center: [1.0, 0.0, 0.0],
            radius: 1.0,
        };
        assert!(holds(&ball, [2.0, 0.0, 0.0]) && !holds(&ball, [2.0, 0.1, 0.0]));
        let rod = RegionShape::Cylinder {
            from: [0.0; 3],
            to: [0.0, 0.0, 2.0],
            radius: 0.5,
        };
        assert!(
            holds(&rod, [0.5, 0.0, 1.0])
                && !holds(&rod, [0.4, 0.4, 1.0])
                && !holds(&rod, [0.0, 0.0, 2.1])
        );
    }
}
