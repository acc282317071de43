//! Pages of surfaces and meshes for a browser: `cutlink view`, `--report`.
//!
//! A surface shows its patches, and in red what is wrong with it, each with a place to fly to: rims of holes, edges of more
//! than two facets or of facets that contradict one another, facets that intersect. A mesh shows the faces of its solid cells
//! by level, and the cells of three slices; a volume mesh its boundary by patch.

use super::{InspectReport, SurfaceReport};
use crate::mesh::report::{counted, short};
use cutlink_hex::PolyMesh;
use cutlink_mesher::Surface;
use cutlink_mesher::snap::Snapped;
use cutlink_pictures::blocks::block_slices;
use cutlink_pictures::solid_stl::solid_surface;
use cutlink_report::{
    PageCheck, PageChecks, PageColours, PageField, PageFigure, PageGrade, PagePlace, PageSlice,
    PageSurface, PageTable, PageVerdict, ReportPage,
};
use cutlink_voxelizer::{AnyMesh, Mesh};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Most places of a check.
const PLACES: usize = 40;
/// Most triangles of a staircase surface: beyond, that of a coarser level is shown.
const STAIRS: u64 = 2_000_000;

fn foot() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("Written by cutlink {version}. One file that loads nothing.")
}

fn figure(name: &str, value: String, note: &str) -> PageFigure {
    PageFigure {
        name: name.into(),
        value,
        unit: String::new(),
        note: note.into(),
    }
}

fn in_space<const D: usize>(p: &[f64; D]) -> [f64; 3] {
    std::array::from_fn(|a| p.get(a).copied().unwrap_or(0.0))
}

/// The page of a surface, with its report and the corners of facets that intersect others.
pub fn surface_page<const D: usize>(
    report: &SurfaceReport<D>,
    surface: &Surface<D>,
    crossing: &[[[f64; D]; D]],
) -> ReportPage {
    let health = &report.health;
    let name = report.path.file_name().unwrap_or(report.path.as_os_str());
    let extent: Vec<String> = (0..D)
        .map(|a| short(health.bounds[1][a] - health.bounds[0][a]))
        .collect();
    let mut page = ReportPage {
        title: name.to_string_lossy().into_owned(),
        subtitle: format!("{}, {D}D, {} facets", report.read.format, health.facets),
        figures: vec![
            figure("facets", health.facets.to_string(), ""),
            figure("vertices", health.vertices.to_string(), ""),
            figure(
                "components",
                health.components.to_string(),
                "parts that share no vertex",
            ),
            figure("extent", extent.join(" × "), "in the unit of the file"),
            figure(
                if D == 2 { "length" } else { "area" },
                short(health.area),
                "",
            ),
            figure(
                if D == 2 { "area" } else { "volume" },
                short(health.volume),
                "where it is closed",
            ),
        ],
        tables: vec![PageTable {
            title: "Patches".into(),
            head: vec![
                "patch".into(),
                if D == 2 { "length" } else { "area" }.into(),
            ],
            rows: report
                .patches
                .iter()
                .zip(&report.areas)
                .map(|(name, area)| vec![name.clone(), short(*area)])
                .collect(),
            ..PageTable::default()
        }],
        foot: foot(),
        ..ReportPage::default()
    };
    let edges = match D {
        3 => Edges::of(surface),
        _ => Edges::default(),
    };
    let (rows, marks) = health_rows(report, &edges, crossing);
    let worst = rows.iter().map(|row| row.grade).max_by_key(|g| *g as u8);
    page.verdict = Some(PageVerdict {
        grade: worst.unwrap_or_default(),
        title: match worst {
            Some(PageGrade::Bad) => "The surface is not closed, or contradicts itself.".into(),
            Some(PageGrade::Warn) => {
                "The surface can be meshed; look at what is named below.".into()
            }
            _ => "The surface is sound.".into(),
        },
        text: String::new(),
    });
    page.checks = vec![PageChecks {
        title: "Is the surface right?".into(),
        rows,
    }];
    page.marks = marks;
    show(&mut page, report, surface);
    page
}

/// Adds the surface to its page: triangles in 3D, an outline in 2D.
fn show<const D: usize>(page: &mut ReportPage, report: &SurfaceReport<D>, surface: &Surface<D>) {
    let health = &report.health;
    if D == 3 {
        page.surface = Some(PageSurface {
            points: surface.vertices.iter().map(in_space).collect(),
            triangles: surface
                .facets
                .iter()
                .map(|f| std::array::from_fn(|k| f[k]))
                .collect(),
            patch: surface.facet_patch.clone(),
            patches: surface.patches.clone(),
            fields: Vec::new(),
        });
    } else {
        let size: [f64; 2] = std::array::from_fn(|a| health.bounds[1][a] - health.bounds[0][a]);
        let room = 0.05 * size[0].max(size[1]).max(f64::MIN_POSITIVE);
        let corner = |i: usize, by: f64| std::array::from_fn(|a| health.bounds[i][a] + by);
        let flat =
            |v: u32| -> [f64; 2] { std::array::from_fn(|a| surface.vertices[v as usize][a]) };
        page.slices = vec![PageSlice {
            name: "the surface".into(),
            axes: [0, 1],
            bounds: [corner(0, -room), corner(1, room)],
            outline: surface
                .facets
                .iter()
                .map(|f| [flat(f[0]), flat(f[1])])
                .collect(),
            is_closed: health.closed(),
            ..PageSlice::default()
        }];
    }
}

/// The rows of a surface's health, and what is drawn in red.
fn health_rows<const D: usize>(
    report: &SurfaceReport<D>,
    edges: &Edges,
    crossing: &[[[f64; D]; D]],
) -> (Vec<PageCheck>, Vec<[f64; 3]>) {
    let health = &report.health;
    let check = |is_ok: bool, other: PageGrade, titles: [String; 2], note: &str| PageCheck {
        grade: if is_ok { PageGrade::Ok } else { other },
        title: titles[usize::from(!is_ok)].clone(),
        note: if is_ok { String::new() } else { note.into() },
        places: Vec::new(),
    };
    let mut rows = vec![
        PageCheck {
            places: edges.holes.clone(),
            ..check(
                health.open_edges == 0,
                PageGrade::Bad,
                ["Closed".into(), format!("{} open edges", health.open_edges)],
                "mesh it with --robust, or close the holes",
            )
        },
        PageCheck {
            places: edges.crowded.clone(),
            ..check(
                health.nonmanifold_edges == 0,
                PageGrade::Warn,
                [
                    "No edge of more than two facets".into(),
                    format!("{} edges of more than two facets", health.nonmanifold_edges),
                ],
                "harmless where as many facets run along each one way as the other",
            )
        },
        check(
            health.flipped_edges == 0,
            PageGrade::Bad,
            [
                "Consistently oriented".into(),
                format!(
                    "{} edges between facets of opposite orientation",
                    health.flipped_edges
                ),
            ],
            "--robust, or unify the normals",
        ),
        check(
            !health.inward,
            PageGrade::Warn,
            ["Oriented outwards".into(), "Inside out".into()],
            "the fill rule nonzero does not mind",
        ),
        check(
            health.degenerate_facets + health.duplicate_facets == 0,
            PageGrade::Warn,
            [
                "No degenerate or duplicate facets".into(),
                format!(
                    "{} degenerate and {} duplicate facets",
                    health.degenerate_facets, health.duplicate_facets
                ),
            ],
            "",
        ),
    ];
    let mut marks = edges.marks.clone();
    if let Some(found) = &report.intersections {
        let titles = [
            "No self-intersections".into(),
            format!(
                "{} of {} intersect",
                counted(found.pairs, "pair"),
                counted(found.facets, "facet")
            ),
        ];
        let note = "harmless for the mesh: the winding number decides, and it is exact";
        rows.push(PageCheck {
            places: places_of(crossing, longest(health.bounds), &mut marks),
            ..check(found.pairs == 0, PageGrade::Warn, titles, note)
        });
    }
    if D != 3 {
        marks.clear();
    }
    (rows, marks)
}

/// Where facets intersect others, and their edges.
fn places_of<const D: usize>(
    crossing: &[[[f64; D]; D]],
    size: f64,
    marks: &mut Vec<[f64; 3]>,
) -> Vec<PagePlace> {
    let mut places = Vec::new();
    for facet in crossing {
        let corners: Vec<[f64; 3]> = facet.iter().map(in_space).collect();
        for k in 0..corners.len() {
            marks.extend([corners[k], corners[(k + 1) % corners.len()]]);
        }
        let place = PagePlace {
            at: mean(&corners),
            size: 0.02 * size,
            normal: [0.0; 3],
        };
        add_place(&mut places, place, size);
    }
    places
}

fn longest<const D: usize>(bounds: [[f64; D]; 2]) -> f64 {
    (0..D)
        .map(|a| bounds[1][a] - bounds[0][a])
        .fold(0.0, f64::max)
}

fn mean(points: &[[f64; 3]]) -> [f64; 3] {
    std::array::from_fn(|a| points.iter().map(|p| p[a]).sum::<f64>() / points.len().max(1) as f64)
}

/// Adds a place unless one is near, by 2 % of the size of the surface, or there are many.
fn add_place(places: &mut Vec<PagePlace>, place: PagePlace, size: f64) {
    let is_near = |p: &PagePlace| {
        let squares: f64 = (0..3).map(|a| (p.at[a] - place.at[a]).powi(2)).sum();
        squares.sqrt() < 0.02 * size
    };
    if places.len() < PLACES && !places.iter().any(is_near) {
        places.push(place);
    }
}

/// Edges of a surface in 3D that are not those of two facets.
#[derive(Debug, Default)]
struct Edges {
    /// Holes: the middle of each rim, and the direction out of the body there; the largest ones first.
    holes: Vec<PagePlace>,
    /// Places of edges with more than two facets.
    crowded: Vec<PagePlace>,
    /// Ends of all these edges.
    marks: Vec<[f64; 3]>,
}

impl Edges {
    fn of<const D: usize>(surface: &Surface<D>) -> Self {
        let mut uses: HashMap<(u32, u32), (u32, bool)> = HashMap::new();
        for facet in surface
            .facets
            .iter()
            .filter(|f| f[0] != f[1] && f[1] != f[D - 1] && f[D - 1] != f[0])
        {
            for k in 0..D {
                let (a, b) = (facet[k], facet[(k + 1) % D]);
                let entry = uses.entry((a.min(b), a.max(b))).or_insert((0, a < b));
                entry.0 += 1;
            }
        }
        let mut all: Vec<_> = uses
            .into_iter()
            .filter(|(_, (count, _))| *count != 2)
            .collect();
        all.sort_unstable();
        let point = |v: u32| in_space(&surface.vertices[v as usize]);
        let size = longest(surface.bounds().unwrap_or([[0.0; D]; 2]));
        let mut edges = Self::default();
        let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &((low, high), (count, is_forward)) in &all {
            let (from, to) = if is_forward { (low, high) } else { (high, low) };
            edges.marks.extend([point(from), point(to)]);
            if count == 1 {
                next.entry(from).or_default().push(to);
            } else {
                let at = mean(&[point(from), point(to)]);
                add_place(
                    &mut edges.crowded,
                    PagePlace {
                        at,
                        size: 0.02 * size,
                        normal: [0.0; 3],
                    },
                    size,
                );
            }
        }
        let mut rims = Vec::new();
        while let Some((&first, _)) = next.iter().find(|(_, to)| !to.is_empty()) {
            let mut rim = vec![point(first)];
            let mut at = first;
            while let Some(to) = next.get_mut(&at).and_then(Vec::pop) {
                at = to;
                if at == first {
                    break;
                }
                rim.push(point(at));
            }
            next.retain(|_, to| !to.is_empty());
            rims.push(hole(&rim));
        }
        rims.sort_by(|a, b| b.size.total_cmp(&a.size));
        rims.truncate(PLACES);
        edges.holes = rims;
        edges
    }
}

/// The place of a hole. Facets have its rim on their left, so that the area that the rim encloses points into the body.
fn hole(rim: &[[f64; 3]]) -> PagePlace {
    let at = mean(rim);
    let from = |p: [f64; 3]| -> [f64; 3] { std::array::from_fn(|a| p[a] - at[a]) };
    let mut normal = [0.0; 3];
    for (k, &p) in rim.iter().enumerate() {
        let (u, v) = (from(p), from(rim[(k + 1) % rim.len()]));
        for (a, n) in normal.iter_mut().enumerate() {
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            *n -= u[b] * v[c] - u[c] * v[b];
        }
    }
    let far = rim
        .iter()
        .map(|&p| from(p).iter().map(|x| x * x).sum::<f64>().sqrt());
    PagePlace {
        at,
        size: 2.0 * far.fold(0.0, f64::max),
        normal,
    }
}

/// The page of a mesh file, or of a mesh with its surface.
pub fn mesh_page(mesh: &AnyMesh, report: &InspectReport) -> ReportPage {
    let mut page = match mesh {
        AnyMesh::D2(mesh) => page_of(mesh, None, &report.file.path),
        AnyMesh::D3(mesh) => {
            let mut page = page_of(mesh, None, &report.file.path);
            page.surface = stairs(mesh);
            page
        }
    };
    page.figures
        .push(figure("cut links", report.links.to_string(), ""));
    page.tables.push(PageTable {
        title: "Patches".into(),
        head: vec!["patch".into(), "cut links".into()],
        rows: report
            .patches
            .iter()
            .map(|patch| vec![patch.name.clone(), patch.links.to_string()])
            .collect(),
        ..PageTable::default()
    });
    if !report.checks.is_empty() {
        let rows = report.checks.iter().map(|check| PageCheck {
            grade: if check.passed {
                PageGrade::Ok
            } else {
                PageGrade::Bad
            },
            title: check.name.into(),
            note: check.violation.clone().unwrap_or_else(|| check.what.into()),
            places: Vec::new(),
        });
        page.checks.push(PageChecks {
            title: "Is the mesh right?".into(),
            rows: rows.collect(),
        });
    }
    page
}

/// The page of a mesh that was made of a surface.
pub fn meshed_page<const D: usize>(
    mesh: &Mesh<D>,
    surface: &Snapped<D>,
    name: &Path,
) -> ReportPage {
    let mut page = page_of(mesh, Some(surface), name);
    if D == 3 {
        let lattice = surface.lattice;
        let of_body = &surface.facets[..surface.facets.len() - surface.caps];
        let point = |v: &[i32; D]| {
            let at = |a: usize| lattice.origin[a] + lattice.unit * f64::from(v[a]);
            std::array::from_fn(at)
        };
        page.surface = Some(PageSurface {
            points: surface.vertices.iter().map(point).collect(),
            triangles: of_body
                .iter()
                .map(|f| std::array::from_fn(|k| f[k]))
                .collect(),
            patch: surface
                .facet_patch
                .iter()
                .copied()
                .take(of_body.len())
                .collect(),
            patches: surface.patches.clone(),
            fields: Vec::new(),
        });
    }
    page
}

fn page_of<const D: usize>(
    mesh: &Mesh<D>,
    surface: Option<&Snapped<D>>,
    path: &Path,
) -> ReportPage {
    let counts = mesh.level_counts();
    let sum = |c: &cutlink_voxelizer::LevelCounts| c.fluid + c.boundary + c.solid;
    let total: u64 = counts.iter().map(sum).sum();
    let row = |(level, count): (usize, &cutlink_voxelizer::LevelCounts)| {
        vec![
            level.to_string(),
            short(mesh.frame.dx_at(level)),
            count.fluid.to_string(),
            count.boundary.to_string(),
            count.solid.to_string(),
        ]
    };
    let name = path.file_name().unwrap_or(path.as_os_str());
    ReportPage {
        title: name.to_string_lossy().into_owned(),
        subtitle: format!("{D}D mesh, {total} leaf cells, {} levels", counts.len()),
        unit: "m".into(),
        figures: vec![
            figure("cells", total.to_string(), "leaves"),
            figure("levels", counts.len().to_string(), ""),
            figure(
                "finest cell",
                short(mesh.frame.dx_at(mesh.forest.finest())),
                "in m",
            ),
        ],
        domain: (D == 3).then(|| [in_space(&mesh.frame.origin), in_space(&mesh.frame.upper())]),
        slices: block_slices(mesh, surface),
        tables: vec![PageTable {
            title: "Cells by level".into(),
            head: ["level", "cell in m", "fluid", "boundary", "solid"]
                .map(str::to_owned)
                .into(),
            rows: counts.iter().enumerate().map(row).collect(),
            ..PageTable::default()
        }],
        foot: foot(),
        ..ReportPage::default()
    }
}

/// The faces of the solid cells, of the finest level that has not too many.
fn stairs(mesh: &Mesh<3>) -> Option<PageSurface> {
    let counts = mesh.level_counts();
    let is_small = |level: usize| {
        counts[..=level]
            .iter()
            .map(|c| 12 * c.boundary)
            .sum::<u64>()
            < STAIRS
    };
    let level = (0..=mesh.forest.finest())
        .rev()
        .find(|&level| is_small(level))?;
    let surface = solid_surface(mesh, level)?;
    let level_at = |facet: &[u32; 3]| {
        let corners = facet.map(|v| surface.vertices[v as usize]);
        let middle = mean(&corners);
        let at = std::array::from_fn(|a| (middle[a] - mesh.frame.origin[a]) / mesh.frame.dx);
        let leaf = mesh.forest.leaf_at(at);
        leaf.map_or(f32::NAN, |leaf| {
            f32::from(mesh.forest.level[leaf.block as usize])
        })
    };
    let levels = surface.facets.iter().map(level_at).collect();
    Some(PageSurface {
        points: surface.vertices,
        triangles: surface.facets,
        patch: Vec::new(),
        patches: vec![format!("solid cells of level {level}")],
        fields: vec![PageField {
            name: "level".into(),
            unit: "1".into(),
            values: levels,
            colours: PageColours::Steps,
            range: None,
        }],
    })
}

/// The page of a volume mesh: its boundary by patch.
pub fn polymesh_page(mesh: &PolyMesh, name: &Path) -> ReportPage {
    let mut triangles = Vec::new();
    let mut patch = Vec::new();
    for (number, of) in mesh.patches.iter().enumerate() {
        for face in of.start..of.start + of.faces {
            let corners = mesh.face(face);
            for k in 1..corners.len().saturating_sub(1) {
                triangles.push([corners[0], corners[k], corners[k + 1]]);
                patch.push(u16::try_from(number).unwrap_or(u16::MAX));
            }
        }
    }
    let row =
        |of: &cutlink_hex::PolyPatch| vec![of.name.clone(), of.kind.clone(), of.faces.to_string()];
    ReportPage {
        title: name
            .file_name()
            .unwrap_or(name.as_os_str())
            .to_string_lossy()
            .into_owned(),
        subtitle: format!("volume mesh, {} cells", mesh.cells),
        unit: "m".into(),
        figures: vec![
            figure("cells", mesh.cells.to_string(), ""),
            figure("faces", mesh.faces().to_string(), ""),
            figure("points", mesh.points.len().to_string(), ""),
        ],
        surface: Some(PageSurface {
            points: mesh.points.clone(),
            triangles,
            patch,
            patches: mesh.patches.iter().map(|p| p.name.clone()).collect(),
            fields: Vec::new(),
        }),
        tables: vec![PageTable {
            title: "Patches".into(),
            head: ["patch", "kind", "faces"].map(str::to_owned).into(),
            rows: mesh.patches.iter().map(row).collect(),
            ..PageTable::default()
        }],
        foot: foot(),
        ..ReportPage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube of 12 facets, outwards, without some.
    fn cube(without: &[usize]) -> Surface<3> {
        let corner = |i: u32| [i & 1, i >> 1 & 1, i >> 2 & 1].map(f64::from);
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let facets = quads
            .into_iter()
            .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
        let facets = facets.enumerate().filter(|(f, _)| !without.contains(f));
        Surface::single_patch(
            (0..8).map(corner).collect(),
            facets.map(|(_, facet)| facet).collect(),
            "cube",
        )
    }

    #[test]
    fn holes_are_found_with_their_direction() {
        let whole = Edges::of(&cube(&[]));
        assert!(whole.holes.is_empty() && whole.marks.is_empty() && whole.crowded.is_empty());
        // Without its upper face, z = 1.
        let open = Edges::of(&cube(&[2, 3]));
        assert_eq!(open.marks.len(), 8, "four edges");
        let [hole] = open.holes[..] else {
            panic!("one hole instead of {:?}", open.holes);
        };
        assert_eq!(hole.at, [0.5, 0.5, 1.0]);
        assert!(
            hole.normal[2] > 0.0 && hole.normal[0] == 0.0,
            "out of the cube: {hole:?}"
        );
        assert!((hole.size - 2f64.sqrt()).abs() < 1e-12);
        // Two faces that share no edge.
        assert_eq!(Edges::of(&cube(&[0, 1, 2, 3])).holes.len(), 2);
        // A facet twice: three edges of three facets.
        let mut twice = cube(&[]);
        twice.facets.push(twice.facets[0]);
        let crowded = Edges::of(&twice);
        assert_eq!((crowded.marks.len(), crowded.crowded.len()), (6, 3));
        assert!(crowded.holes.is_empty());
    }
}
