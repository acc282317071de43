//! The flow of another run as initial state: the polynomials of its checkpoint, on its own elements.

use super::{
    case::{FluxCase, FluxInitialTable},
    kinds::parse,
    resolve::{FluxSetting, positive},
    state::restore,
};
use crate::solve::{
    earlier::{find, of_this_kind},
    value::Value,
};
use cutlink_common::Error;
use cutlink_flow::checkpoint::{self, Header};
use cutlink_fr::{Primitive, TimeStep, kernels::Kernels};
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_solver::Precision;
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// The flow of another run at one step.
pub(super) struct EarlierGas<const D: usize> {
    path: PathBuf,
    step: u64,
    bounds: [[f64; D]; 2],
    state: State<D>,
}

/// The state at a point; none in boxes of removed elements.
type State<const D: usize> = Box<dyn Fn([f64; D]) -> Option<Primitive<D>> + Send + Sync>;

impl<const D: usize> fmt::Debug for EarlierGas<D> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("EarlierGas")
            .field("path", &self.path)
            .field("step", &self.step)
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}

/// Reads a checkpoint, or the last valid one of a folder. `free` bytes of memory are there for its elements.
///
/// # Errors
/// No checkpoint; one that is damaged, of the other kind, or in another number of dimensions.
pub(super) fn load<const D: usize>(path: &Path, free: u64) -> Result<EarlierGas<D>, Error>
where
    Facet<D>: Exact<D> + Meet<D>,
    f32: Kernels<D>,
    f64: Kernels<D>,
{
    let (path, header) = find(path)?;
    let name = path.display().to_string();
    let case: FluxCase = parse(&name, &header.case).map_err(of_this_kind)?;
    let dimensions = case.dimensions()?;
    if dimensions != D {
        return Err(Error::input(format!(
            "[initial] from: the flow of {name} is {dimensions}D, but this case is {D}D"
        ))
        .hint("use a flow with the same number of dimensions"));
    }
    // Its own initial state does not matter here, and its file may be gone.
    let at_rest = FluxInitialTable {
        density: Some(Value::Number(1.0)),
        velocity: Some(vec![Value::Number(0.0); D]),
        pressure: Some(Value::Number(1.0)),
        ..FluxInitialTable::default()
    };
    let case = FluxCase {
        initial: at_rest,
        ..case
    };
    let setting = case.setting::<D>(free).map_err(|e| e.within(&name))?;
    let state = match setting.precision {
        Precision::F32 => restored::<D, f32>(&path, &header, &setting)?,
        _ => restored::<D, f64>(&path, &header, &setting)?,
    };
    Ok(EarlierGas {
        step: header.step,
        bounds: setting.bounds,
        path,
        state,
    })
}

/// The flow of a checkpoint.
fn restored<const D: usize, T: Kernels<D>>(
    path: &Path,
    header: &Header,
    setting: &FluxSetting<D>,
) -> Result<State<D>, Error> {
    let mut flow = setting.flow::<T>()?;
    checkpoint::read(path, &header.case, header.mesh, |from| {
        restore(&mut flow, from)
    })
    .map_err(|failure| failure.within("[initial] from"))?;
    Ok(Box::new(move |x| flow.state_at(x)))
}

/// The length of steps of the last checkpoint in a folder, which a resumed run keeps.
///
/// # Errors
/// A folder without a checkpoint of such a run.
pub(super) fn saved_step(folder: &Path) -> Result<TimeStep, Error> {
    let (path, header) = find(folder).map_err(|_| {
        Error::input(format!(
            "{} has no checkpoint to resume from",
            folder.display()
        ))
        .hint("start without --resume")
    })?;
    let case: FluxCase = parse(&path.display().to_string(), &header.case)?;
    let dt = case.numerics.dt.unwrap_or(f64::NAN);
    Ok(TimeStep::Fixed(positive("[numerics] dt", dt)?))
}

impl<const D: usize> EarlierGas<D> {
    /// A note on its file and step.
    pub(super) fn note(&self) -> String {
        format!("initial flow: {}, step {}", self.path.display(), self.step)
    }

    /// Checks that a box lies within the box of this flow.
    pub(super) fn check_covers(&self, [lower, upper]: &[[f64; D]; 2]) -> Result<(), Error> {
        let [own_lower, own_upper] = &self.bounds;
        let inside = |a: usize| {
            let slack = 1e-9 * (own_upper[a] - own_lower[a]);
            lower[a] >= own_lower[a] - slack && upper[a] <= own_upper[a] + slack
        };
        if (0..D).all(inside) {
            return Ok(());
        }
        Err(Error::input(format!(
            "[initial] from: the box of {} is {own_lower:?} to {own_upper:?}, this box is {lower:?} to {upper:?}",
            self.path.display()
        ))
        .hint("this box must lie within that one"))
    }

    /// The state at a point of a box that this flow [covers](Self::check_covers).
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn at(&self, x: [f64; D]) -> Result<Primitive<D>, String> {
        let path = self.path.display();
        let state =
            (self.state)(x).ok_or_else(|| format!("{x:?} m is in a body of the flow of {path}"))?;
        match state.density > 0.0 && state.pressure > 0.0 {
            true => Ok(state),
            false => Err(format!(
                "the flow of {path} has density {} and pressure {} at {x:?} m, both should be positive",
                state.density, state.pressure
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::{case::Case, flux::tests};
    use cutlink_common::ErrorKind;
    use cutlink_flow::RunOptions;
    use std::fs;

    /// The flow around a square, with more lines of integrals.
    fn square(folder: &Path, change: impl Fn(String) -> String) -> FluxCase {
        tests::square(folder, 40, |text| {
            change(text.replace("[output]", "[output]\nintegrals_every = 8"))
        })
    }

    /// The same from the flow of a folder or file, on other elements.
    fn from(folder: &Path, path: &Path, change: impl Fn(String) -> String) -> FluxCase {
        square(folder, |text| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let at = lines.iter().position(|line| line == "[initial]");
            let at = at.expect("an initial state");
            lines.splice(at + 1..at + 4, [format!("from = {path:?}")]);
            change(lines.join("\n"))
        })
    }

    /// The first or last line of `integrals.csv`: mass, momentum and energy; elements.
    fn totals(folder: &Path, last: bool) -> ([f64; 4], f64) {
        let text = fs::read_to_string(folder.join("integrals.csv")).expect("a file");
        let mut lines = text.lines().skip(1);
        let line = if last { lines.last() } else { lines.next() };
        let numbers: Vec<f64> = (line.expect("a line").split(','))
            .map(|x| x.parse().expect("a number"))
            .collect();
        ([numbers[2], numbers[3], numbers[4], numbers[5]], numbers[6])
    }

    fn one_level_finer(text: String) -> String {
        text.replace("levels = 4 ", "levels = 5 ")
            .replace("levels = [3, 4]", "levels = [4, 5]")
            .replace("levels = [3, 5]", "levels = [4, 5]")
    }

    #[test]
    fn finer_elements_have_the_same_mass_momentum_and_energy() {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let [first, second] = folders.each_ref().map(|folder| folder.path());
        let options = RunOptions::default();
        square(first, |text| text)
            .run_with(&options, &mut ())
            .expect("a run");
        // Each element of the other run is one of this one, or divided.
        let case = from(second, first, one_level_finer);
        case.run_with(&options, &mut ()).expect("a run");
        let ((before, coarse), (after, fine)) = (totals(first, true), totals(second, false));
        assert!(fine > 1.5 * coarse, "{coarse} and {fine} elements");
        for (before, after) in before.iter().zip(after) {
            assert!(
                (before - after).abs() < 1e-10 * before.abs().max(1.0),
                "{before} {after}"
            );
        }
        assert!(
            before[2].abs() > 1e-3,
            "the push aside is in it: {before:?}"
        );
        // Elements of the other order and precision, from the file: by interpolation.
        let file = checkpoint::list(first).remove(0);
        let replace = RunOptions {
            replace: true,
            ..RunOptions::default()
        };
        let other = |text: String| text.replace("order = 3", "order = 2\nprecision = \"f32\"");
        from(second, &file, other)
            .run_with(&replace, &mut ())
            .expect("a run");
        let (after, same) = totals(second, false);
        assert_eq!(same, coarse);
        for (before, after) in before.iter().zip(after) {
            assert!(
                (before - after).abs() < 2e-4 * before.abs().max(1.0),
                "{before} {after}"
            );
        }
    }

    #[test]
    fn a_run_is_resumed_without_the_one_that_it_began_from() {
        let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
        let [first, whole, parts] = folders.each_ref().map(|folder| folder.path());
        let options = RunOptions::default();
        square(first, |text| text)
            .run_with(&options, &mut ())
            .expect("a run");
        from(whole, first, |text| text)
            .run_with(&options, &mut ())
            .expect("a run");
        let half = RunOptions {
            steps: Some(16),
            ..RunOptions::default()
        };
        let case = from(parts, first, |text| text);
        case.run_with(&half, &mut ()).expect("half a run");
        for path in checkpoint::list(first) {
            fs::remove_file(path).expect("a checkpoint");
        }
        let resume = RunOptions {
            resume: true,
            ..RunOptions::default()
        };
        case.run_with(&resume, &mut ()).expect("the other half");
        for name in ["integrals.csv", "forces.csv"] {
            let [one, two] = [whole, parts].map(|folder| fs::read(folder.join(name)).expect(name));
            assert!(one == two, "{name}");
        }
        let refused = case.run_with(&options, &mut ()).expect_err("no checkpoint");
        assert!(
            refused.to_string().contains("has no checkpoint"),
            "{refused}"
        );
    }

    #[test]
    fn flows_that_do_not_fit_are_refused() {
        let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
        let [first, second, boltzmann] = folders.each_ref().map(|folder| folder.path());
        let options = RunOptions::default();
        square(first, |text| text.replace("steps = 40", "steps = 2"))
            .run_with(&options, &mut ())
            .expect("a run");
        let refused = |case: FluxCase, words: &str| {
            let failure = case.plan(&options, &mut ()).expect_err(words);
            assert!(failure.to_string().contains(words), "{words}: {failure}");
            assert_eq!(failure.kind, ErrorKind::Input, "{failure}");
        };
        refused(
            from(second, first, |text| {
                text.replace("box = [-16, -16, 32, 16]", "box = [-16, -16, 36, 16]")
                    .replace("elements = [12, 8]", "elements = [13, 8]")
            }),
            "this box must lie within",
        );
        refused(
            from(second, first, |text| {
                text.replace("box = [-0.5, -0.5, 0.5, 0.5]", "box = [1, -0.5, 2, 0.5]")
            }),
            "is in a body of the flow",
        );
        refused(
            from(second, first, |text| {
                text.replace("[initial]", "[initial]\ndensity = 1")
            }),
            "excludes the other keys",
        );
        refused(from(second, second, |text| text), "has no checkpoint");
        let text = format!(
            "[domain]\nbox = [0, 0, 1, 1]\nroot = 8\n[physics]\nvelocity = 1\nlength = 1\nre = 10\n\
             [boundary]\n\"x-\" = \"periodic\"\n\"x+\" = \"periodic\"\n\"y-\" = \"periodic\"\n\"y+\" = \"periodic\"\n\
             [run]\nsteps = 1\n[output]\nfolder = {boltzmann:?}\n"
        );
        Case::from_toml(&text)
            .expect("a case")
            .run_with(&options, &mut ())
            .expect("a run");
        refused(
            from(second, boltzmann, |text| text),
            "kind = \"lattice-boltzmann\"",
        );
    }
}
