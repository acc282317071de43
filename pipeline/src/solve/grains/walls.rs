//! `[[wall]]`: surfaces as walls, and how pictures show them.

use super::case::{GrainWallTable, SurfaceSide};
use crate::solve::{
    particles::{BedOf, deviation_in, explained, material},
    placed::{placed, placed_surface},
};
use cutlink_common::Error;
use cutlink_flow::{particles::ShownWalls, setting::positive};
use cutlink_grains::{Grain, GrainBox, GrainError, GrainSide, SurfaceWall};
use cutlink_mesher::Surface;
use cutlink_meshing::options::MeshOptions;
use cutlink_pictures::camera::{cross, length, sub};
use std::collections::BTreeMap;

/// The cosine of the angle between facets from which on an edge is drawn: 25 degrees.
const SHARP: f64 = 0.906;

/// The surfaces of a case.
#[derive(Debug, Default)]
pub(in crate::solve) struct CaseWalls {
    /// Each with its side, by name.
    pub(in crate::solve) each: Vec<(String, SurfaceWall)>,
    /// All of them, which spheres meet.
    pub(in crate::solve) all: Option<SurfaceWall>,
    /// The end of the facets of each among those of all.
    pub(in crate::solve) ends: Vec<u32>,
    pub(in crate::solve) shown: ShownWalls,
}

/// A surface that is a wall.
pub(in crate::solve) struct WallSurface {
    /// What it is called in errors.
    pub(in crate::solve) what: String,
    pub(in crate::solve) name: String,
    /// Name of its material.
    pub(in crate::solve) material: Option<String>,
    /// The side that spheres are on.
    pub(in crate::solve) side: Option<SurfaceSide>,
    pub(in crate::solve) surface: Surface<3>,
}

/// The surfaces of tables, each with what it is called in errors.
///
/// # Errors
/// Files that cannot be read, keys that make no sense.
pub(in crate::solve) fn surfaces_of(
    tables: &[(String, GrainWallTable)],
    domain: &GrainBox,
) -> Result<Vec<WallSurface>, Error> {
    let each = tables.iter().enumerate().map(|(i, (what, table))| {
        let surface = table.surface(deviation_in(domain));
        Ok(WallSurface {
            what: what.clone(),
            name: table.name.clone().unwrap_or_else(|| match i {
                0 => "wall".into(),
                _ => format!("wall-{}", i + 1),
            }),
            material: table.material.clone(),
            side: table.side,
            surface: surface.map_err(|error| error.within(what))?,
        })
    });
    each.collect()
}

impl CaseWalls {
    /// Surfaces as walls.
    ///
    /// # Errors
    /// Surfaces with a side that are not closed, names and materials that make no sense.
    pub(in crate::solve) fn new(
        surfaces: Vec<WallSurface>,
        materials: &[String],
    ) -> Result<Self, Error> {
        let mut walls = Self::default();
        let mut together: Option<Surface<3>> = None;
        let mut of_all = None;
        for of in surfaces {
            let WallSurface { name, surface, .. } = of;
            let named = |error: Error| error.within(&of.what);
            let index = material(of.material.as_ref(), materials).map_err(named)?;
            if of_all.is_some_and(|other| other != index) {
                return Err(
                    named(Error::input("its material is not that of the others"))
                        .hint("all surfaces have one material; faces of the box may have another"),
                );
            }
            of_all = Some(index);
            if name.is_empty() || name.contains([',', '"', '\n', '\r']) {
                return Err(named(Error::input(format!("name is {name:?}")))
                    .hint("a name without commas and quotes, which is one of loads.csv"));
            }
            if walls.each.iter().any(|(other, _)| *other == name) {
                return Err(
                    named(Error::input(format!("another one has the name {name:?}")))
                        .hint("give each a name"),
                );
            }
            let side = of.side.map(|side| match side {
                SurfaceSide::Inside => GrainSide::Inside,
                SurfaceSide::Outside => GrainSide::Outside,
            });
            let wall = SurfaceWall::new(&surface, index, side).map_err(|error| {
                named(error.into()).hint(
                    "leave `side` out, and the surface may be open; `cutlink inspect FILE` shows where it is",
                )
            })?;
            show(&surface, side, &mut walls.shown);
            let before = together.as_ref().map_or(0, |all| all.facets.len());
            walls.ends.push((before + surface.facets.len()) as u32);
            walls.each.push((name, wall));
            together = Some(match together {
                None => surface,
                Some(all) => joined(all, &surface),
            });
        }
        walls.all = match (&walls.each[..], together) {
            ([], _) | (_, None) => None,
            ([(_, only)], _) => Some(only.clone()),
            // Sides are those of each.
            (_, Some(all)) => Some(SurfaceWall::new(&all, of_all.unwrap_or(0), None)?),
        };
        Ok(walls)
    }

    /// Of several surfaces, each with its side; of one the bed itself looks.
    ///
    /// # Errors
    /// Spheres on the wrong side: how many, and the first.
    pub(in crate::solve) fn check_sides(
        &self,
        grains: &[Grain],
        ends: &[usize],
        bed: BedOf,
    ) -> Result<(), Error> {
        if self.each.len() < 2 {
            return Ok(());
        }
        for (name, wall) in &self.each {
            let mut wrong = grains
                .iter()
                .enumerate()
                .filter(|(_, g)| !wall.is_free(g.center));
            if let Some((id, grain)) = wrong.next() {
                let count = wrong.count() + 1;
                let error = GrainError::Place {
                    problem: "are on the wrong side of the surface",
                    count,
                    id: id as u32,
                    at: grain.center,
                    by: 0.0,
                };
                return Err(explained(error, ends, bed).within(&format!("[[wall]] {name}")));
            }
        }
        Ok(())
    }

    /// The surface of a facet of all.
    pub(in crate::solve) fn of_facet(&self, facet: u32) -> usize {
        self.ends.partition_point(|end| *end <= facet)
    }
}

/// The tables of `[[wall]]`, with their names in errors.
pub(in crate::solve) fn named_walls(tables: &[GrainWallTable]) -> Vec<(String, GrainWallTable)> {
    let each = tables.iter().enumerate();
    each.map(|(i, table)| (format!("[[wall]] {}", i + 1), table.clone()))
        .collect()
}

impl GrainWallTable {
    fn surface(&self, deviation: f64) -> Result<Surface<3>, Error> {
        if self.deviation.is_some() && self.file.is_some() {
            return Err(
                Error::input("deviation is given, and the facets are those of a file")
                    .hint("remove it: it is for `shape`"),
            );
        }
        let deviation = self.deviation.unwrap_or(deviation);
        match (&self.file, &self.shape) {
            (Some(_), None) => placed_surface(placed!(self)),
            (None, Some(_)) => placed_surface(MeshOptions {
                deviation: Some(positive("deviation", deviation)?),
                ..placed!(self)
            }),
            _ => Err(Error::input("there is no surface").hint("give one of file and shape")),
        }
    }
}

fn joined(mut all: Surface<3>, other: &Surface<3>) -> Surface<3> {
    let first = all.vertices.len() as u32;
    all.vertices.extend(&other.vertices);
    let facets = other.facets.iter().map(|f| f.map(|v| v + first));
    all.facets.extend(facets);
    // Patches are not used.
    all.facet_patch.clear();
    all
}

/// Adds sharp and open edges; of surfaces with a side the facets too.
fn show(surface: &Surface<3>, side: Option<GrainSide>, to: &mut ShownWalls) {
    let mut welded = surface.clone();
    welded.weld();
    let mut edges: BTreeMap<[u32; 2], (usize, [f64; 3], bool)> = BTreeMap::new();
    for (f, facet) in welded.facets.iter().enumerate() {
        let corners = welded.corners(f);
        let area = cross(sub(corners[1], corners[0]), sub(corners[2], corners[0]));
        if length(area) == 0.0 {
            continue;
        }
        let normal = area.map(|x| x / length(area));
        let [a, b, c] = corners;
        match side {
            Some(GrainSide::Inside) => to.facets.push([a, b, c]),
            // Of a body, what faces the eye is seen.
            Some(GrainSide::Outside) => to.facets.push([a, c, b]),
            None => {}
        }
        for k in 0..3 {
            let (a, b) = (facet[k], facet[(k + 1) % 3]);
            let key = [a.min(b), a.max(b)];
            let (count, other, is_sharp) = edges.entry(key).or_insert((0, normal, false));
            let cosine: f64 = (0..3).map(|i| other[i] * normal[i]).sum();
            *is_sharp |= cosine < SHARP;
            *count += 1;
        }
    }
    let drawn = edges
        .into_iter()
        .filter(|(_, (count, _, is_sharp))| *count != 2 || *is_sharp);
    to.edges
        .extend(drawn.map(|(key, _)| key.map(|v| welded.vertices[v as usize])));
}
