//! The box of the mesh and its root grid, from the options and the extent of the surface.
//!
//! Root cells are cubes, a multiple of 4 on each axis. If the aspect ratio of the box does not allow that, a default
//! box is extended symmetrically, and so is a given box with `--snap-domain grow`; without it a given box is refused,
//! and the error names the nearest boxes that fit.
//!
//! `frame_of` is the only place that converts a box and its cells into a frame, so a box read back from a configuration
//! file gives a bit-identical frame.

use crate::compiled::compiled;
use crate::options::{Root, SnapDomain};
use cutlink_common::Error;
use cutlink_voxelizer::Frame;

/// Margin of the default box on each side, as a share of the longest extent.
pub const MARGIN: f64 = 0.25;
/// Relative tolerance below which an extent counts as a whole number of cells.
const TOLERANCE: f64 = 1e-6;

/// A box, lower and upper corner.
pub type BoxBounds<const D: usize> = [[f64; D]; 2];

/// A chosen box and its frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Domain<const D: usize> {
    /// Lower and upper corner, as in a configuration file.
    pub bounds: BoxBounds<D>,
    /// The frame.
    pub frame: Frame<D>,
    /// How it was chosen, for the user.
    pub how: String,
}

/// Where the box and the root grid are given: decides their names in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Options of the command line.
    Options,
    /// Keys of `[domain]` in a case, which has no key to extend the box.
    Case,
}

impl Names {
    fn domain(self) -> &'static str {
        match self {
            Self::Options => "--domain",
            Self::Case => "[domain] box",
        }
    }

    fn root(self) -> &'static str {
        match self {
            Self::Options => "--root",
            Self::Case => "[domain] root",
        }
    }

    /// A box in the syntax of its source.
    fn written<const D: usize>(self, bounds: &BoxBounds<D>) -> String {
        match self {
            Self::Options => comma_list(bounds),
            Self::Case => format!("{:?}", bounds.as_flattened()),
        }
    }
}

/// The box and the root grid of `[domain]` in a case.
///
/// # Errors
/// As [`choose`].
pub fn of_case<const D: usize>(given: &[f64], root: &Root) -> Result<Domain<D>, Error> {
    (compiled::<D>().domain_of_case)(given, root)
}

pub(crate) fn of_case_here<const D: usize>(given: &[f64], root: &Root) -> Result<Domain<D>, Error> {
    choose_by(Names::Case, [[0.0; D]; 2], Some(given), root, None)
}

/// Chooses the box and the root grid for a surface within `surface`.
///
/// # Errors
/// A root grid that is not a multiple of 4, an empty box or one with the wrong number of values, or a box whose aspect
/// ratio does not match the cells given for each axis.
pub fn choose<const D: usize>(
    surface: BoxBounds<D>,
    given: Option<&[f64]>,
    root: &Root,
    snap: Option<SnapDomain>,
) -> Result<Domain<D>, Error> {
    choose_by(Names::Options, surface, given, root, snap)
}

fn choose_by<const D: usize>(
    names: Names,
    surface: BoxBounds<D>,
    given: Option<&[f64]>,
    root: &Root,
    snap: Option<SnapDomain>,
) -> Result<Domain<D>, Error> {
    let (bounds, mut how) = match given {
        Some(numbers) => (parse::<D>(names, numbers)?, "as given".to_owned()),
        None => (
            grown(surface)?,
            format!(
                "the surface's box and {:.0} % of its longest extent on each side",
                100.0 * MARGIN
            ),
        ),
    };
    let extents: [f64; D] = std::array::from_fn(|a| bounds[1][a] - bounds[0][a]);
    let (dx, cells) = match root {
        Root::Longest(n) => from_longest(names, extents, *n)?,
        Root::Cells(cells) => from_cells(names, extents, cells)?,
    };
    let fits = |a: usize, cells: u32| {
        let whole = f64::from(cells);
        (extents[a] / dx - whole).abs() <= TOLERANCE * whole
    };
    let mut fitted = bounds;
    if !(0..D).all(|a| fits(a, cells[a])) {
        let with = |cells: [u32; D]| {
            let mut fitted = bounds;
            for a in (0..D).filter(|&a| !fits(a, cells[a])) {
                let middle = 0.5 * bounds[0][a] + 0.5 * bounds[1][a];
                let half = 0.5 * dx * f64::from(cells[a]);
                fitted[0][a] = middle - half;
                fitted[1][a] = middle + half;
            }
            fitted
        };
        fitted = with(cells);
        if given.is_some() && snap != Some(SnapDomain::Grow) {
            let is_free = matches!(root, Root::Longest(_));
            let smaller = std::array::from_fn(|a| match fits(a, cells[a]) || !is_free {
                true => cells[a],
                false => ((extents[a] / dx / 4.0).floor().max(1.0) as u32) * 4,
            });
            return Err(refusal(names, root, extents, dx, [&with(smaller), &fitted]));
        }
        how += ", extended to whole blocks";
    }
    let frame = frame_of(fitted, cells)?;
    Ok(Domain {
        bounds: fitted,
        frame,
        how,
    })
}

/// The error for a box that does not fit its cells, with the nearest boxes that do.
fn refusal<const D: usize>(
    names: Names,
    root: &Root,
    extents: [f64; D],
    dx: f64,
    [smaller, larger]: [&BoxBounds<D>; 2],
) -> Error {
    let blocks: Vec<String> = extents
        .iter()
        .map(|extent| format!("{:.6}", extent / dx / 4.0))
        .map(|text| text.trim_end_matches('0').trim_end_matches('.').to_owned())
        .collect();
    let fits = if smaller == larger {
        names.written(larger)
    } else {
        format!("{} or {}", names.written(smaller), names.written(larger))
    };
    let (what, or) = match root {
        Root::Longest(_) => {
            let blocks = blocks.join(" by ");
            let what = format!("the box is {blocks} blocks of 4 cubic cells, not a whole number");
            (what, String::new())
        }
        Root::Cells(_) => (
            format!("the cells are not cubes (edges {extents:?})"),
            format!(", or give a single number for {}", names.root()),
        ),
    };
    let (domain, grid) = (names.domain(), names.root());
    let failure = Error::input(format!("{domain} and {grid} {root} do not fit: {what}"));
    match names {
        Names::Options => failure.hint(format!(
            "use {domain} {fits}{or}, or --snap-domain grow, which extends the box"
        )),
        Names::Case => failure.hint(format!("give box = {fits}{or}")),
    }
}

/// The frame of a box whose cells are cubes up to rounding; the longest edge gives the cell size.
fn frame_of<const D: usize>(bounds: BoxBounds<D>, cells: [u32; D]) -> Result<Frame<D>, Error> {
    let longest = (0..D).rev().max_by_key(|&a| cells[a]).unwrap_or(0);
    let dx = (bounds[1][longest] - bounds[0][longest]) / f64::from(cells[longest]);
    Ok(Frame::new(bounds[0], dx, cells)?)
}

/// The numbers of a box separated by commas, as in `--domain`.
pub fn comma_list<const D: usize>(bounds: &BoxBounds<D>) -> String {
    let numbers: Vec<String> = bounds.iter().flatten().map(|x| format!("{x}")).collect();
    numbers.join(",")
}

fn parse<const D: usize>(names: Names, numbers: &[f64]) -> Result<BoxBounds<D>, Error> {
    if numbers.len() != 2 * D {
        return Err(Error::input(format!(
            "{} has {} numbers, but a box in {D}D needs {}",
            names.domain(),
            numbers.len(),
            2 * D
        ))
        .hint(match D {
            2 => "write x0,y0,x1,y1",
            _ => "write x0,y0,z0,x1,y1,z1",
        }));
    }
    let corner = |from: usize| std::array::from_fn(|a| numbers[from + a]);
    let bounds: BoxBounds<D> = [corner(0), corner(D)];
    match (0..D)
        .find(|&a| !(bounds[1][a] > bounds[0][a] && (bounds[1][a] - bounds[0][a]).is_finite()))
    {
        None => Ok(bounds),
        Some(a) => Err(Error::input(format!(
            "{} is empty along {}: from {} to {}",
            names.domain(),
            ["x", "y", "z"][a],
            bounds[0][a],
            bounds[1][a]
        ))
        .hint("give the lower corner first, then the upper one")),
    }
}

fn grown<const D: usize>(surface: BoxBounds<D>) -> Result<BoxBounds<D>, Error> {
    let longest = (0..D)
        .map(|a| surface[1][a] - surface[0][a])
        .fold(0.0, f64::max);
    if !(longest > 0.0 && longest.is_finite()) {
        return Err(Error::new(
            cutlink_common::ErrorKind::Geometry,
            format!("the surface has zero or infinite extent: its box is {surface:?}"),
        )
        .hint("check the coordinates in the file"));
    }
    let margin = MARGIN * longest;
    Ok([
        surface[0].map(|x| x - margin),
        surface[1].map(|x| x + margin),
    ])
}

fn from_longest<const D: usize>(
    names: Names,
    extents: [f64; D],
    n: u32,
) -> Result<(f64, [u32; D]), Error> {
    check_multiple(names, n)?;
    let longest = extents.into_iter().fold(0.0, f64::max);
    let dx = longest / f64::from(n);
    let blocks = |extent: f64| {
        let exact = extent / dx / 4.0;
        let near = exact.round();
        if near >= 1.0 && (exact - near).abs() <= TOLERANCE * near {
            near
        } else {
            exact.ceil()
        }
    };
    Ok((dx, extents.map(|extent| 4 * blocks(extent) as u32)))
}

fn from_cells<const D: usize>(
    names: Names,
    extents: [f64; D],
    cells: &[u32],
) -> Result<(f64, [u32; D]), Error> {
    let cells: [u32; D] = cells.try_into().map_err(|_| {
        Error::input(format!(
            "{} has {} numbers, but the box is {D}D",
            names.root(),
            cells.len()
        ))
        .hint("give one number for the longest edge, or one per axis such as 64x32x32")
    })?;
    for n in cells {
        check_multiple(names, n)?;
    }
    let spacing = |a: usize| extents[a] / f64::from(cells[a]);
    Ok(((0..D).map(spacing).fold(0.0, f64::max), cells))
}

fn check_multiple(names: Names, n: u32) -> Result<(), Error> {
    if n > 0 && n.is_multiple_of(4) {
        return Ok(());
    }
    let below = n / 4 * 4;
    let near = match below {
        0 => "use 4".to_owned(),
        _ => format!("use {below} or {}", u64::from(below) + 4),
    };
    Err(Error::input(format!(
        "{}: {n} cells are not a whole number of blocks",
        names.root()
    ))
    .hint(format!("blocks have 4 cells per edge: {near}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: BoxBounds<3> = [[0.0; 3], [1.0, 0.5, 0.25]];

    #[test]
    fn an_open_box_grows_by_a_quarter_and_to_whole_blocks() {
        let domain = choose(UNIT, None, &Root::Longest(64), None).expect("a domain");
        let frame = domain.frame;
        assert_eq!(frame.dx, 1.5 / 64.0, "the longest edge gives the cell size");
        // 1.5, 1.0 and 0.75 long: 64, 42.67 and 32 cells.
        assert_eq!(frame.root_cells, [64, 44, 32], "whole blocks");
        assert_eq!(domain.bounds[0][0], -0.25, "a quarter below");
        let middle = 0.5 * (domain.bounds[0][1] + domain.bounds[1][1]);
        assert!((middle - 0.25).abs() < 1e-15, "grown symmetrically");
        assert!(domain.how.contains("extended"), "reported");
    }

    #[test]
    fn a_box_read_back_is_bit_identical() {
        for n in [4, 20, 36, 64, 100] {
            let surface = [[0.1, -0.3, 7.7], [1.3, 0.4, 8.123]];
            let first = choose(surface, None, &Root::Longest(n), None).expect("a domain");
            let numbers: Vec<f64> = first.bounds.iter().flatten().copied().collect();
            let root = Root::Cells(first.frame.root_cells.to_vec());
            let second = choose(surface, Some(&numbers), &root, None).expect("the same domain");
            assert_eq!(first.frame, second.frame, "root {n}");
            assert_eq!(first.bounds, second.bounds, "root {n}");
        }
    }

    #[test]
    fn rounding_in_the_last_digit_does_not_add_blocks() {
        let given = [0.0, 0.0, 0.0, 1.0, 0.300_000_000_01, 0.1];
        let domain = choose(UNIT, Some(&given), &Root::Longest(40), None).expect("a domain");
        assert_eq!(domain.frame.root_cells, [40, 12, 4], "0.3 and 0.1 of 40");
    }

    #[test]
    fn cells_on_every_axis_must_fit_a_given_box() {
        let given = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        let root = Root::Cells(vec![64, 32, 32]);
        let failure = choose(UNIT, Some(&given), &root, None).expect_err("no cubes");
        let hint = failure.hint.expect("a way out");
        let fitting = hint.strip_prefix("use --domain ").expect("a domain");
        let fitting = fitting.split(", or").next().expect("numbers");
        let numbers: Vec<f64> = fitting
            .split(',')
            .map(|x| x.parse().expect("a number"))
            .collect();
        assert!(
            choose(UNIT, Some(&numbers), &root, None).is_ok(),
            "it does fit"
        );
        assert!(
            choose(UNIT, None, &root, None).is_ok(),
            "an open box adapts"
        );
    }

    #[test]
    fn errors_of_a_case_name_its_keys() {
        for (given, root, words) in [
            (
                &[0.0, 0.0, 1.0, 0.3][..],
                Root::Longest(32),
                &["[domain] box and [domain] root 32", "give box = [0.0, "][..],
            ),
            (
                &[0.0, 0.0, 1.0, 1.0],
                Root::Cells(vec![32, 16]),
                &["not cubes", "or give a single number for [domain] root"],
            ),
            (
                &[0.0, 0.0, 1.0, 1.0],
                Root::Longest(30),
                &["[domain] root: 30 cells", "use 28 or 32"],
            ),
            (
                &[0.0, 0.0, 1.0, 0.0],
                Root::Longest(32),
                &["[domain] box is empty along y"],
            ),
        ] {
            let message = of_case::<2>(given, &root).expect_err("refused").to_string();
            assert!(!message.contains("--"), "no options: {message}");
            for word in words {
                assert!(message.contains(word), "{message} lacks {word}");
            }
        }
        let failure = of_case::<2>(&[0.0, 0.0, 1.0, 0.3], &Root::Longest(32));
        let hint = failure.expect_err("refused").hint.expect("a way out");
        let boxes = hint.strip_prefix("give box = ").expect("boxes");
        for text in boxes.split(" or ") {
            let fit: Vec<f64> = serde_json::from_str(text).expect("numbers");
            assert!(of_case::<2>(&fit, &Root::Longest(32)).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_given_box_is_never_moved_silently() {
        // 32 cells along x of 1/32 each; 0.3 are 9.6 cells, 2.4 blocks.
        let given = [0.0, -0.1, 0.0, 1.0, 0.2, 0.125];
        let root = Root::Longest(32);
        let failure = choose(UNIT, Some(&given), &root, None).expect_err("no whole blocks");
        assert!(
            failure.message.contains("8 by 2.4 by 1 blocks"),
            "{failure}"
        );
        let hint = failure.hint.expect("a way out");
        let fits: Vec<Vec<f64>> = hint
            .strip_prefix("use --domain ")
            .and_then(|rest| rest.split(", or").next())
            .expect("boxes")
            .split(" or ")
            .map(|numbers| {
                numbers
                    .split(',')
                    .map(|x| x.parse().expect("a number"))
                    .collect()
            })
            .collect();
        let edges: Vec<f64> = fits.iter().map(|fit| fit[4] - fit[1]).collect();
        assert_eq!(edges.len(), 2, "{hint}");
        assert!(
            (edges[0] - 0.25).abs() < 1e-12 && (edges[1] - 0.375).abs() < 1e-12,
            "{hint}"
        );
        for fit in &fits {
            assert!(choose(UNIT, Some(fit), &root, None).is_ok(), "{fit:?}");
        }
        let grown = choose(UNIT, Some(&given), &root, Some(SnapDomain::Grow)).expect("grown");
        assert!((grown.bounds[0][1] + 0.1375).abs() < 1e-12, "symmetrically");
        assert!(grown.how.contains("extended"), "reported");
    }

    #[test]
    fn bad_grids_and_boxes_are_usage_errors() {
        let box3 = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        let cases: [(&[f64], Root); 6] = [
            (&box3, Root::Longest(0)),
            (&box3, Root::Longest(30)),
            (&box3, Root::Cells(vec![64, 64])),
            (&box3[..4], Root::Longest(64)),
            (&[0.0, 0.0, 0.0, 1.0, 0.0, 1.0], Root::Longest(64)),
            (
                &[0.0, 0.0, 0.0, 1.0, f64::MAX, f64::INFINITY],
                Root::Longest(64),
            ),
        ];
        for (given, root) in cases {
            let failure = choose(UNIT, Some(given), &root, None).expect_err("refused");
            assert_eq!(failure.kind, cutlink_common::ErrorKind::Input, "{failure}");
        }
        let point = [[1.0; 3]; 2];
        let failure = choose(point, None, &Root::Longest(64), None).expect_err("a point");
        assert_eq!(
            failure.kind,
            cutlink_common::ErrorKind::Geometry,
            "{failure}"
        );
    }
}
