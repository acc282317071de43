//! The measured cases: the given surface, built-in shapes, or scans in a folder.

use crate::cli::BenchMeshArgs;
use cutlink::Error;
use cutlink::options::{MeshOptions, Numbers, Root};
use cutlink_mesher::Surface;
use std::path::Path;

/// A surface and the options of its mesh.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// Name for `--case`; empty for the given surface.
    pub(super) name: String,
    /// As for `cutlink mesh`.
    pub(super) options: MeshOptions,
    /// Number of parts of each facet edge.
    pub(super) split: u32,
    /// Whether bumps are added to the shape.
    pub(super) bumps: bool,
}

/// The cases selected by the arguments.
pub(super) fn cases(args: &BenchMeshArgs) -> Result<Vec<Case>, Error> {
    let given = options(args);
    let of_case = |case: Case| Case {
        options: given.clone().or(case.options),
        split: args.split.unwrap_or(case.split),
        ..case
    };
    if given.file.is_some() || given.shape.is_some() {
        let case = of_case(Case {
            name: String::new(),
            options: MeshOptions::default(),
            split: 1,
            bumps: false,
        });
        return Ok(vec![case]);
    }
    let all = match &args.scans {
        Some(folder) => scans(folder),
        None => shapes(),
    };
    for wanted in &args.case {
        if !all.iter().any(|case| case.name == *wanted) {
            let names: Vec<&str> = all.iter().map(|case| case.name.as_str()).collect();
            return Err(
                Error::input(format!("there is no case `{wanted}`")).hint(format!(
                    "the cases are {}{}",
                    names.join(", "),
                    match args.scans {
                        Some(_) => "",
                        None => "; --scans DIR has others",
                    }
                )),
            );
        }
    }
    let wanted = |case: &Case| args.case.is_empty() || args.case.contains(&case.name);
    Ok(all.into_iter().filter(wanted).map(of_case).collect())
}

fn options(args: &BenchMeshArgs) -> MeshOptions {
    MeshOptions {
        file: args.file.clone().map(|file| vec![file]),
        shape: args.shape.clone(),
        domain: args.domain.clone(),
        root: args.root.clone(),
        levels: args.levels,
        wall_distance: args.wall_distance,
        fill: args.fill,
        flow: args.flow,
        robust: args.robust,
        device: args.run.device,
        threads: args.run.threads,
        ..MeshOptions::default()
    }
}

/// The unit box of the cases in the literature (J26 §4).
fn unit_box(levels: usize) -> MeshOptions {
    MeshOptions {
        domain: Some(Numbers::Many(vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0])),
        root: Some(Root::Longest(64)),
        levels: Some(levels),
        wall_distance: Some(0.05),
        ..MeshOptions::default()
    }
}

fn shapes() -> Vec<Case> {
    let case = |name: &str, shape: &str, bumps: bool| Case {
        name: name.to_owned(),
        options: MeshOptions {
            shape: Some(shape.to_owned()),
            translate: Some(Numbers::Many(vec![0.5; 3])),
            ..unit_box(4)
        },
        split: 1,
        bumps,
    };
    vec![
        case("sphere", "sphere:r=0.25", false),
        case("torus", "torus:R=0.25,r=0.1", false),
        case("bumps", "sphere:r=0.25", true),
    ]
}

fn scans(folder: &Path) -> Vec<Case> {
    let case = |stem: &str, extension: &str, split: u32, levels: usize| Case {
        name: match split {
            1 => format!("{stem}-{levels}"),
            _ => format!("{stem}-in-{}-{levels}", split * split),
        },
        options: MeshOptions {
            file: Some(vec![folder.join(format!("{stem}_unit.{extension}"))]),
            ..unit_box(levels)
        },
        split,
        bumps: false,
    };
    let dragon = |split: u32, levels: usize| case("dragon", "ply", split, levels);
    vec![
        case("bunny", "stl", 1, 5),
        case("bunny", "stl", 1, 7),
        dragon(1, 5),
        dragon(1, 7),
        dragon(2, 5),
        dragon(2, 7),
        dragon(3, 5),
    ]
}

/// Scales the vertices of a body around the origin radially by up to a fifth, so that it has concavities and narrow
/// gaps that vary with the direction. It stays closed and free of self-intersections, because each vertex stays on its
/// ray from the origin.
pub(super) fn add_bumps<const D: usize>(surface: &mut Surface<D>) {
    // The Chebyshev polynomial of degree 9: identical on every machine.
    let wave = |x: f64| {
        let y = x * x;
        x * (9.0 + y * (-120.0 + y * (432.0 + y * (-576.0 + y * 256.0))))
    };
    for vertex in &mut surface.vertices {
        let length = vertex.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            let sum: f64 = vertex.iter().map(|x| wave(x / length)).sum();
            let factor = 1.0 + 0.2 / D as f64 * sum;
            *vertex = vertex.map(|x| factor * x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_mesher::health::check;
    use cutlink_mesher::primitives::Shape3;

    #[test]
    fn the_bumpy_body_is_closed_and_bumpy() {
        let ball = Shape3::Sphere { radius: 1.0 };
        let mut surface = ball.surface(1e-3).expect("a ball");
        add_bumps(&mut surface);
        let health = check(&surface);
        assert!(health.closed() && health.volume > 0.0, "{health}");
        let lengths = surface.vertices.iter().map(|v| {
            let square: f64 = v.iter().map(|x| x * x).sum();
            square.sqrt()
        });
        let (least, most) = lengths.fold((f64::MAX, 0.0f64), |(least, most), x| {
            (least.min(x), most.max(x))
        });
        assert!((0.8..0.9).contains(&least), "{least}");
        assert!((1.1..1.2001).contains(&most), "{most}");
    }

    #[test]
    fn scans_are_the_cases_of_the_design() {
        let names: Vec<String> = scans(Path::new("x")).into_iter().map(|c| c.name).collect();
        assert_eq!(
            names.join(" "),
            "bunny-5 bunny-7 dragon-5 dragon-7 dragon-in-4-5 dragon-in-4-7 dragon-in-9-5"
        );
    }
}
