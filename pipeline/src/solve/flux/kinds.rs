//! The solver that a case is for, and keys of the other one.

use super::case::FluxCase;
use crate::solve::{case::Case, grains::GrainsCase, two_phase::TwoPhaseCase};
use cutlink_common::{Error, Observer, config, schema};
use cutlink_flow::{RunOptions, RunPlan, RunSummary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::path::{Path, PathBuf};

/// A solver, by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SolverKind {
    /// Nearly incompressible flows around bodies.
    #[default]
    LatticeBoltzmann,
    /// Compressible flows in boxes.
    FluxReconstruction,
    /// A liquid and a gas.
    TwoPhase,
    /// Spheres in contact.
    Grains,
}

impl SolverKind {
    fn name(self) -> &'static str {
        match self {
            Self::LatticeBoltzmann => "lattice-boltzmann",
            Self::FluxReconstruction => "flux-reconstruction",
            Self::TwoPhase => "two-phase",
            Self::Grains => "grains",
        }
    }

    fn page(self) -> &'static str {
        match self {
            Self::LatticeBoltzmann => "docs/case.md",
            Self::FluxReconstruction => "docs/flux-reconstruction.md",
            Self::TwoPhase => "docs/two-phase.md",
            Self::Grains => "docs/grains.md",
        }
    }
}

/// The solver of a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SolverTable {
    /// Kind of flow. Default: `lattice-boltzmann`.
    pub kind: SolverKind,
}

/// A case for one of the solvers.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one of them in a program"
)]
pub enum AnyCase {
    /// A nearly incompressible flow.
    LatticeBoltzmann(Case),
    /// A compressible flow.
    FluxReconstruction(FluxCase),
    /// A liquid and a gas.
    TwoPhase(TwoPhaseCase),
    /// Spheres in contact.
    Grains(GrainsCase),
}

impl AnyCase {
    /// Reads a case from a TOML file.
    ///
    /// # Errors
    /// A file that cannot be read, or is no case.
    pub fn read(path: &Path) -> Result<Self, Error> {
        // Once: it may be a pipe.
        let name = path.display().to_string();
        let text = config::text(path)?;
        Ok(match kind_of(&name, &text)? {
            SolverKind::FluxReconstruction => Self::FluxReconstruction(of_file(path, &text)?),
            SolverKind::LatticeBoltzmann => Self::LatticeBoltzmann(of_file(path, &text)?),
            SolverKind::TwoPhase => Self::TwoPhase(of_file(path, &text)?),
            SolverKind::Grains => Self::Grains(of_file(path, &text)?),
        })
    }

    /// A case from its tables.
    ///
    /// # Errors
    /// Tables that are no case.
    pub fn from_table(name: &str, table: toml::Table) -> Result<Self, Error> {
        let text = toml::to_string(&table)
            .map_err(|e| Error::input(format!("{name} cannot be read")).because(&e))?;
        Ok(match kind_of(name, &text)? {
            SolverKind::FluxReconstruction => Self::FluxReconstruction(
                config::from_table(name, table)
                    .map_err(|error| explain::<FluxCase>(name, &text, error))?,
            ),
            SolverKind::LatticeBoltzmann => Self::LatticeBoltzmann(
                config::from_table(name, table)
                    .map_err(|error| explain::<Case>(name, &text, error))?,
            ),
            SolverKind::TwoPhase => Self::TwoPhase(
                config::from_table(name, table)
                    .map_err(|error| explain::<TwoPhaseCase>(name, &text, error))?,
            ),
            SolverKind::Grains => Self::Grains(
                config::from_table(name, table)
                    .map_err(|error| explain::<GrainsCase>(name, &text, error))?,
            ),
        })
    }

    /// The output folder, if it is given.
    pub fn folder(&mut self) -> &mut Option<PathBuf> {
        match self {
            Self::LatticeBoltzmann(case) => &mut case.output.folder,
            Self::FluxReconstruction(case) => &mut case.output.folder,
            Self::TwoPhase(case) => &mut case.output.folder,
            Self::Grains(case) => &mut case.output.folder,
        }
    }

    /// The case as TOML, which reads back as the same case.
    ///
    /// # Errors
    /// None that a user can cause.
    pub fn to_toml(&self) -> Result<String, Error> {
        match self {
            Self::LatticeBoltzmann(case) => case.to_toml(),
            Self::FluxReconstruction(case) => case.to_toml(),
            Self::TwoPhase(case) => case.to_toml(),
            Self::Grains(case) => case.to_toml(),
        }
    }

    /// Runs the flow and writes the output folder.
    ///
    /// # Errors
    /// As [`Case::run_with`] and [`FluxCase::run_with`].
    pub fn run_with(
        &self,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RunSummary, Error> {
        match self {
            Self::LatticeBoltzmann(case) => case.run_with(options, observer),
            Self::FluxReconstruction(case) => case.run_with(options, observer),
            Self::TwoPhase(case) => case.run_with(options, observer),
            Self::Grains(case) => case.run_with(options, observer),
        }
    }

    /// Does everything up to the first step, and forecasts the run.
    ///
    /// # Errors
    /// As [`Case::plan`] and [`FluxCase::plan`].
    pub fn plan(
        &self,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RunPlan, Error> {
        match self {
            Self::LatticeBoltzmann(case) => case.plan(options, observer),
            Self::FluxReconstruction(case) => case.plan(options, observer),
            Self::TwoPhase(case) => case.plan(options, observer),
            Self::Grains(case) => case.plan(options, observer),
        }
    }
}

/// The solver that a text asks for.
///
/// # Errors
/// A text that is no TOML, or asks for none that there is.
fn kind_of(name: &str, text: &str) -> Result<SolverKind, Error> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Asked {
        solver: SolverTable,
    }
    config::parse::<Asked>(name, text).map(|asked| asked.solver.kind)
}

/// A case of one of the kinds.
pub(in crate::solve) trait OfKind:
    DeserializeOwned + Default + Serialize + JsonSchema
{
    /// The kind.
    const KIND: SolverKind;

    /// The file that it was read from.
    fn file(&mut self) -> &mut Option<PathBuf>;
}

impl OfKind for Case {
    const KIND: SolverKind = SolverKind::LatticeBoltzmann;

    fn file(&mut self) -> &mut Option<PathBuf> {
        &mut self.file
    }
}

impl OfKind for FluxCase {
    const KIND: SolverKind = SolverKind::FluxReconstruction;

    fn file(&mut self) -> &mut Option<PathBuf> {
        &mut self.file
    }
}

impl OfKind for TwoPhaseCase {
    const KIND: SolverKind = SolverKind::TwoPhase;

    fn file(&mut self) -> &mut Option<PathBuf> {
        &mut self.file
    }
}

impl OfKind for GrainsCase {
    const KIND: SolverKind = SolverKind::Grains;

    fn file(&mut self) -> &mut Option<PathBuf> {
        &mut self.file
    }
}

/// Reads a case of a kind from a file.
///
/// # Errors
/// A file that cannot be read, or is no such case.
pub(in crate::solve) fn read<C: OfKind>(path: &Path) -> Result<C, Error> {
    of_file(path, &config::text(path)?)
}

/// The case of a kind in the text of a file.
fn of_file<C: OfKind>(path: &Path, text: &str) -> Result<C, Error> {
    let mut case: C = parse(&path.display().to_string(), text)?;
    *case.file() = Some(path.to_owned());
    Ok(case)
}

/// Parses a case of a kind. Keys that only another kind has are named as such.
///
/// # Errors
/// A text that is no such case.
pub(in crate::solve) fn parse<C: OfKind>(name: &str, text: &str) -> Result<C, Error> {
    let (own, asked) = (C::KIND, kind_of(name, text)?);
    if asked != own {
        return Err(Error::input(format!(
            "{name} is a case of [solver] kind = \"{}\", not of \"{}\"",
            asked.name(),
            own.name()
        ))
        .hint("`cutlink solve` runs all kinds"));
    }
    config::parse(name, text).map_err(|error| explain::<C>(name, text, error))
}

/// The error of a text that is no case of a kind, or that a key of it is one of another kind.
fn explain<C: OfKind>(name: &str, text: &str, error: Error) -> Error {
    match foreign::<C>(text) {
        None => error,
        Some((key, kind)) => Error::input(format!(
            "{name}: {key} is a key of [solver] kind = \"{}\", and this case is of kind \"{}\"",
            kind.name(),
            C::KIND.name()
        ))
        .hint(format!(
            "remove it, or choose the other kind; {} has the keys of this one",
            C::KIND.page()
        )),
    }
}

/// The first key of a text that this kind has not, and another one has; and that kind.
fn foreign<C: OfKind>(text: &str) -> Option<(String, SolverKind)> {
    let table = text.parse::<toml::Table>().ok()?;
    let own = schema::of::<C>();
    let others = [
        (SolverKind::LatticeBoltzmann, schema::of::<Case>()),
        (SolverKind::FluxReconstruction, schema::of::<FluxCase>()),
        (SolverKind::TwoPhase, schema::of::<TwoPhaseCase>()),
        (SolverKind::Grains, schema::of::<GrainsCase>()),
    ];
    let owner = |path: &[&str], key: &str| {
        let mut others = others.iter().filter(|_| !schema::has(&own, path, key));
        let found = others.find(|(_, other)| schema::has(other, path, key));
        found.map(|(kind, _)| *kind)
    };
    for (name, value) in &table {
        if let Some(kind) = owner(&[], name) {
            return Some((format!("[{name}]"), kind));
        }
        let inside = value.as_table().into_iter().flatten();
        for (key, _) in inside {
            if let Some(kind) = owner(&[name], key) {
                return Some((format!("[{name}] {key}"), kind));
            }
        }
    }
    None
}
