//! Checks that a surface can be embedded: closed in the sense of the fill rule, and in the box.

use crate::mesh::domain::{BoxBounds, comma_list};
use crate::mesh::report::counted;
use cutlink_common::{Error, ErrorKind};
use cutlink_mesher::Surface;
use cutlink_mesher::health::{self, Health};
use cutlink_mesher::robust::RobustReport;
use cutlink_mesher::snap::Snapped;
use cutlink_voxelizer::{EmbedParams, Fill, Frame};

/// Checks that a surface is closed, and collects notes for the user.
///
/// An open surface passes if it is closed after snapping, which removes gaps below the lattice spacing.
///
/// # Errors
/// Geometry refused: open for the fill rule, or nothing remains after snapping.
pub fn check_closed<const D: usize>(
    name: &str,
    health: &Health<D>,
    snapped: &Snapped<D>,
    params: &EmbedParams,
) -> Result<Vec<String>, Error> {
    let fill = params.fill;
    let closed = |h: &Health<D>| {
        if fill.by_parity() {
            h.closed_evenodd()
        } else {
            h.closed()
        }
    };
    let mut notes = Vec::new();
    if snapped.facets.is_empty() {
        return Err(Error::new(
            ErrorKind::Geometry,
            format!(
                "{name} is too small: nothing remains of it on the snapping lattice of {:.3e} m",
                snapped.report.unit
            ),
        )
        .hint("check --unit and --scale, or give a smaller --domain"));
    }
    if params.robust || fill.is_sheets() {
        // Any surface is accepted.
    } else if !closed(health) {
        let after = health::check(&snapped.to_surface());
        if !closed(&after) {
            return Err(refuse(name, health, fill));
        }
        notes.push(format!(
            "the surface has gaps, but is closed after snapping to {:.3e} m: continuing",
            snapped.report.unit
        ));
    } else if fill.by_parity() && !health.closed() {
        notes.push("facets are inconsistently oriented, which --fill evenodd ignores".into());
    }
    if health.inward && !fill.is_sheets() {
        notes.push("all facets face inward, which makes no difference".into());
    }
    if health.duplicate_facets > 0 {
        notes.push(counted(health.duplicate_facets, "duplicate facet"));
    }
    Ok(notes)
}

/// A note on the changes made by closing a surface, if there were any.
pub fn closing(report: RobustReport) -> Option<String> {
    let RobustReport {
        turned_facets,
        open_edges,
        loops,
    } = report;
    if turned_facets == 0 && open_edges == 0 {
        return None;
    }
    Some(format!(
        "--robust: {} reoriented; {} in {} closed by generalized winding numbers",
        counted(turned_facets as u64, "facet"),
        counted(open_edges as u64, "open edge"),
        counted(loops as u64, "loop"),
    ))
}

fn refuse<const D: usize>(name: &str, health: &Health<D>, fill: Fill) -> Error {
    let noun = if D == 2 { "vertices" } else { "edges" };
    let one = if D == 2 { "vertex" } else { "edge" };
    let counts = [
        (health.open_edges, "open"),
        (health.flipped_edges, "flipped"),
        (health.nonmanifold_edges, "non-manifold"),
    ];
    let counted: Vec<String> = counts
        .iter()
        .filter(|c| c.0 > 0)
        .map(|&(n, what)| format!("{n} {what} {}", if n == 1 { one } else { noun }))
        .collect();
    let mut message = format!(
        "{name} is not closed: {} of {} facets{}",
        counted.join(", "),
        health.facets,
        if health.samples.is_empty() {
            ""
        } else {
            "; the first (coordinates as in the file):"
        },
    );
    for sample in &health.samples {
        message += &format!("\n    {sample}");
    }
    let hint = if !fill.by_parity() && health.closed_evenodd() {
        "facets are inconsistently oriented, but every edge has an even number of them: use --fill evenodd, which \
         is exact, or --robust, which reorients facets and merges overlapping bodies"
    } else if fill.by_parity() {
        "an edge with an odd number of facets leaves the inside undefined for --fill evenodd too: use --robust, \
         which closes holes by generalized winding numbers, or close them in a mesh editor"
    } else {
        "the inside is not well defined: use --robust, which closes holes by generalized winding numbers, --fill \
         sheets with a --seed in the fluid, which needs no inside, or close them in a mesh editor (--fill evenodd needs an \
         even number of facets at every edge)"
    };
    let mut failure = Error::new(ErrorKind::Geometry, message).hint(hint);
    failure = failure.details(serde_json::json!({ "health": health }));
    failure
}

/// Of the surface's size, a file that is so much smaller may be in another unit.
const OTHER_UNIT: f64 = 1.0 / 200.0;

/// A note on the patches of a placed surface, read from several files, that are so small beside the rest, or beside the
/// finest cells of `finest` metres, that their file may be in another unit.
pub fn other_units<const D: usize>(surface: &Surface<D>, finest: f64) -> Option<String> {
    let mut ends = vec![[[f64::INFINITY; D], [f64::NEG_INFINITY; D]]; surface.patches.len()];
    for f in 0..surface.facets.len() {
        let [low, high] = &mut ends[usize::from(surface.patch_of(f))];
        for corner in surface.corners(f) {
            for a in 0..D {
                low[a] = low[a].min(corner[a]);
                high[a] = high[a].max(corner[a]);
            }
        }
    }
    let size = |[low, high]: &[[f64; D]; 2]| (0..D).map(|a| high[a] - low[a]).fold(0.0, f64::max);
    let whole = size(&surface.bounds()?);
    let small: Vec<String> = surface
        .patches
        .iter()
        .zip(ends.iter().map(size))
        .filter(|&(_, size)| size > 0.0 && size < finest.max(OTHER_UNIT * whole))
        .map(|(name, size)| format!("\"{name}\" ({size:.3e} m)"))
        .collect();
    let (first, more) = small.split_first()?;
    let more = match more.len() {
        0 => String::new(),
        count => format!(" and {}", counted(count as u64, "other part")),
    };
    Some(format!(
        "{first}{more} is tiny beside the whole surface of {whole:.3e} m and finest cells of {finest:.3e} m: are all \
         files in the same unit? --unit holds for all of them"
    ))
}

/// Checks the position of a placed surface relative to the box, which is periodic along some axes; a note if it touches
/// or crosses another face.
///
/// # Errors
/// Geometry refused: entirely outside.
pub fn check_inside<const D: usize>(
    name: &str,
    surface: BoxBounds<D>,
    frame: &Frame<D>,
    periodic: [bool; 3],
) -> Result<Vec<String>, Error> {
    let [lower, upper] = surface;
    let (from, to) = (frame.origin, frame.upper());
    if (0..D).any(|a| upper[a] < from[a] || lower[a] > to[a]) {
        return Err(Error::new(
            ErrorKind::Geometry,
            format!(
                "{name} lies outside the box: it is at {}, the box at {}",
                comma_list(&surface),
                comma_list(&[from, to])
            ),
        )
        .hint("check --unit and the placement, or omit --domain for a box that contains it"));
    }
    let mut crossed = Vec::new();
    let mut touched = Vec::new();
    for (a, axis) in ["x", "y", "z"].into_iter().enumerate().take(D) {
        // Through a periodic face it comes back.
        if periodic[a] {
            continue;
        }
        let sides = [
            (lower[a], from[a], lower[a] < from[a], "lower"),
            (upper[a], to[a], upper[a] > to[a], "upper"),
        ];
        for (at, wall, beyond, side) in sides {
            if beyond {
                crossed.push(format!("{side} {axis}"));
            } else if at == wall {
                touched.push(format!("{side} {axis}"));
            }
        }
    }
    let mut notes = Vec::new();
    if !crossed.is_empty() {
        notes.push(format!(
            "the surface extends beyond the {} of the box: the part outside is ignored, the body ends there",
            named(&crossed)
        ));
    }
    if !touched.is_empty() {
        notes.push(format!(
            "the surface touches the {} of the box",
            named(&touched)
        ));
    }
    Ok(notes)
}

/// `lower x face`, `lower x, upper z faces`.
fn named(faces: &[String]) -> String {
    let s = if faces.len() == 1 { "" } else { "s" };
    format!("{} face{s}", faces.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_mesher::primitives::Shape3;
    use cutlink_mesher::snap::{SnapLattice, snap};

    fn cube() -> Surface<3> {
        Shape3::Box { size: [1.0; 3] }.surface(1.0).expect("a box")
    }

    fn gate(surface: &Surface<3>, unit: f64, fill: Fill) -> Result<Vec<String>, Error> {
        let lattice = SnapLattice {
            origin: [-1.0; 3],
            unit,
        };
        let snapped = snap(surface, lattice).expect("in range");
        let params = EmbedParams::new(1, 0.0, fill);
        check_closed("cube", &health::check(surface), &snapped, &params)
    }

    #[test]
    fn closed_passes_open_is_refused_with_the_edges() {
        let mut surface = cube();
        assert_eq!(gate(&surface, 0.01, Fill::NonZero), Ok(vec![]), "closed");
        surface.facets.pop();
        for fill in [Fill::NonZero, Fill::EvenOdd] {
            let failure = gate(&surface, 0.01, fill).expect_err("open");
            assert_eq!(failure.kind, ErrorKind::Geometry, "{failure}");
            assert!(failure.message.contains("3 open edges"), "{failure}");
            assert!(failure.message.contains("0.5"), "coordinates: {failure}");
            assert_eq!(
                failure.details.expect("a report")["health"]["open_edges"],
                3,
                "in JSON too"
            );
        }
    }

    #[test]
    fn one_flipped_facet_needs_evenodd_and_the_hint_says_so() {
        let mut surface = cube();
        surface.facets[0].swap(0, 1);
        let failure = gate(&surface, 0.01, Fill::NonZero).expect_err("flipped");
        assert!(failure.hint.expect("a hint").contains("--fill evenodd"));
        assert_eq!(
            gate(&surface, 0.01, Fill::EvenOdd).expect("closed").len(),
            1
        );
    }

    #[test]
    fn a_gap_below_the_lattice_spacing_and_inward_facets_are_noted() {
        let mut surface = cube();
        let moved = surface.vertices[surface.facets[0][0] as usize].map(|x| x + 1e-6);
        surface.vertices.push(moved);
        surface.facets[0][0] = surface.vertices.len() as u32 - 1;
        assert_eq!(
            gate(&surface, 0.01, Fill::NonZero).expect("closed").len(),
            1
        );
        assert!(
            gate(&surface, 1e-7, Fill::NonZero).is_err(),
            "not on a finer lattice"
        );

        let mut surface = cube();
        surface.facets.iter_mut().for_each(|f| f.swap(0, 1));
        let notes = gate(&surface, 0.01, Fill::NonZero).expect("closed");
        assert!(notes[0].contains("inward"), "{notes:?}");
        assert!(
            gate(&surface, 1e3, Fill::NonZero).is_err(),
            "nothing remains"
        );
    }

    #[test]
    fn a_body_in_another_unit_is_named() {
        let mut both = cube();
        both.facet_patch = vec![0; both.facets.len()];
        let (vertices, facets) = (both.vertices.clone(), both.facets.clone());
        let count = vertices.len() as u32;
        for (scale, small) in [(1e-3, true), (0.02, false)] {
            let mut both = both.clone();
            both.patches = vec!["mm".into(), "m".into()];
            both.vertices
                .extend(vertices.iter().map(|v| v.map(|c| scale * c)));
            both.facets
                .extend(facets.iter().map(|f| f.map(|v| v + count)));
            both.facet_patch.resize(both.facets.len(), 1);
            let note = other_units(&both, 0.01);
            assert_eq!(note.is_some(), small, "{note:?}");
            assert!(note.is_none_or(|note| note.starts_with("\"m\" (1.000e-3 m) is tiny")));
            assert!(other_units(&both, 0.05).is_some(), "smaller than a cell");
        }
    }

    #[test]
    fn faces_are_crossed_touched_or_not_reached() {
        let frame = Frame::new([0.0; 3], 0.25, [4; 3]).expect("a box");
        let at = |lower: f64, upper: f64| {
            let of = [[lower, 0.2, 0.2], [upper, 0.8, 0.8]];
            let periodic = check_inside("it", of, &frame, [true, false, false]);
            assert!(periodic.is_err() || periodic == Ok(vec![]), "{periodic:?}");
            check_inside("it", of, &frame, [false; 3])
        };
        assert_eq!(at(0.2, 0.8), Ok(vec![]), "inside");
        let notes = at(-0.5, 1.0).expect("in part");
        assert!(
            notes[0].contains("lower x") && !notes[0].contains("upper"),
            "{notes:?}"
        );
        assert!(
            notes[1].contains("upper x") && notes.len() == 2,
            "{notes:?}"
        );
        assert_eq!(
            at(1.5, 2.0).map_err(|f| f.kind),
            Err(ErrorKind::Geometry),
            "outside"
        );
    }
}
