//! `--template`: the files beside its mesh with which a case of OpenFOAM runs.
//!
//! ```text
//! SOLVER[,KEY=VALUE]...     simpleFoam,velocity=20,viscosity=1.5e-5; interFoam,liquid=0.4
//! ```
//!
//! | key | unit | default |
//! |---|---|---|
//! | `velocity` | m/s: a speed, or a vector in quotes, `velocity=20 0 1`. A speed is along x; through inlets of a surface it is inward | 1; interFoam 0 |
//! | `viscosity` | m²/s, kinematic; interFoam: of the liquid | 1.5e-5 (air); interFoam 1e-6 |
//! | `turbulence` | `laminar` or `kOmegaSST` | `laminar` up to a Reynolds number of 2000, and of interFoam |
//! | `intensity` | of turbulence at inlets, √(2 k / 3) over the speed | 0.05 |
//! | `length` | m, of the Reynolds number and of coefficients | edge of the box around the walls, along the flow; of a duct 4 V / S |
//! | `liquid` | m, height z of the liquid of interFoam at the start | middle of the mesh |
//! | `ranks` | parts: folders `processorN`, and `system/decomposeParDict` | none |
//!
//! | module | what |
//! |---|---|
//! | `roles` | what each patch is to the flow |
//! | `scales` | lengths, Reynolds number, y⁺ |
//! | `fields` | the files of `0` |
//! | `system` | the other ones |

mod fields;
mod roles;
mod scales;
mod system;
#[cfg(test)]
mod tests;

use super::{Castellated, processors};
use cutlink_common::{Error, output};
use roles::Role;
use scales::Scales;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, fs, io::ErrorKind, path::Path, str::FromStr};

const GRAMMAR: &str =
    "write SOLVER[,KEY=VALUE]..., such as simpleFoam,velocity=20,viscosity=1.5e-5";
/// Reynolds number up to which a flow is laminar where a template does not say.
const LAMINAR: f64 = 2000.0;

/// A program of OpenFOAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Solver {
    /// Steady, incompressible.
    Simple,
    /// The same in time.
    Pimple,
    /// Liquid and gas.
    Inter,
}

impl Solver {
    const ALL: [Self; 3] = [Self::Simple, Self::Pimple, Self::Inter];

    fn name(self) -> &'static str {
        match self {
            Self::Simple => "simpleFoam",
            Self::Pimple => "pimpleFoam",
            Self::Inter => "interFoam",
        }
    }
}

/// Models of turbulence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turbulence {
    Laminar,
    Sst,
}

/// `--template`, as given and as parsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(simple|pimple|inter)Foam(,|$)"))]
pub struct Template {
    text: String,
    solver: Solver,
    velocity: [f64; 3],
    viscosity: f64,
    turbulence: Option<Turbulence>,
    intensity: f64,
    length: Option<f64>,
    liquid: Option<f64>,
    ranks: Option<u32>,
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Template> for String {
    fn from(template: Template) -> Self {
        template.text
    }
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Template {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut items = text.split(',').map(str::trim);
        let name = items.next().unwrap_or_default();
        let Some(solver) = Solver::ALL.into_iter().find(|known| known.name() == name) else {
            let names = Solver::ALL.map(Solver::name).join(", ");
            return Err(format!("`{name}` is not one of {names}; {GRAMMAR}"));
        };
        let is_inter = solver == Solver::Inter;
        let mut template = Self {
            text: text.to_owned(),
            solver,
            velocity: [if is_inter { 0.0 } else { 1.0 }, 0.0, 0.0],
            viscosity: if is_inter { 1e-6 } else { 1.5e-5 },
            turbulence: None,
            intensity: 0.05,
            length: None,
            liquid: None,
            ranks: None,
        };
        let mut seen = Vec::new();
        for item in items {
            let Some((key, value)) = item.split_once('=') else {
                return Err(format!("`{item}` has no value; {GRAMMAR}"));
            };
            if seen.contains(&key) {
                return Err(format!("{key} is given twice"));
            }
            seen.push(key);
            template.set(key, value)?;
        }
        Ok(template)
    }
}

impl Template {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let positive = |what: &str| match value.parse::<f64>() {
            Ok(found) if found.is_finite() && found > 0.0 => Ok(found),
            _ => Err(format!("{key}={value}: {what} is a positive number")),
        };
        match key {
            "velocity" => self.velocity = velocity(value)?,
            "viscosity" => self.viscosity = positive("a viscosity in m²/s")?,
            "intensity" => self.intensity = positive("an intensity")?,
            "length" => self.length = Some(positive("a length in m")?),
            "turbulence" => {
                self.turbulence = Some(match value {
                    "laminar" => Turbulence::Laminar,
                    "kOmegaSST" => Turbulence::Sst,
                    _ => return Err(format!("turbulence={value}: it is laminar or kOmegaSST")),
                });
            }
            "liquid" if self.solver == Solver::Inter => {
                let height = value.parse().ok().filter(|height: &f64| height.is_finite());
                self.liquid =
                    Some(height.ok_or(format!("liquid={value}: a height in m is a number"))?);
            }
            "liquid" => return Err("liquid: only interFoam has two phases".to_owned()),
            "ranks" => {
                let ranks = value.parse().ok().filter(|&ranks| ranks > 0);
                self.ranks =
                    Some(ranks.ok_or(format!("ranks={value}: it is a positive number of parts"))?);
            }
            _ => {
                return Err(format!(
                    "there is no key `{key}`: keys are velocity, viscosity, turbulence, intensity, length, liquid, ranks"
                ));
            }
        }
        Ok(())
    }

    /// The magnitude of the velocity, m/s.
    pub(super) fn speed(&self) -> f64 {
        self.velocity.iter().map(|u| u * u).sum::<f64>().sqrt()
    }

    /// Files that it writes, from the folder of the case.
    fn files(&self) -> Vec<&'static str> {
        let mut files = vec![
            "system/controlDict",
            "system/fvSchemes",
            "system/fvSolution",
        ];
        files.extend([
            "constant/transportProperties",
            "constant/turbulenceProperties",
        ]);
        files.extend(["0/U", "0/k", "0/omega", "0/nut"]);
        match self.solver {
            Solver::Inter => files.extend([
                "0/p_rgh",
                "0/alpha.water",
                "constant/g",
                "system/setFieldsDict",
            ]),
            _ => files.push("0/p"),
        }
        files.extend(self.ranks.map(|_| "system/decomposeParDict"));
        files
    }
}

fn velocity(value: &str) -> Result<[f64; 3], String> {
    let wrong =
        || format!("velocity={value}: it is a speed in m/s, or three components such as `20 0 1`");
    let numbers: Result<Vec<f64>, _> = value.split_whitespace().map(str::parse).collect();
    let found = match numbers.map_err(|_| wrong())?[..] {
        [speed] if speed >= 0.0 => [speed, 0.0, 0.0],
        [x, y, z] => [x, y, z],
        _ => return Err(wrong()),
    };
    match found.iter().all(|u| u.is_finite()) {
        true => Ok(found),
        false => Err(wrong()),
    }
}

/// Checks before any work that the files of a template can be written.
///
/// # Errors
/// Files or parts that exist, without `force`.
pub fn check(template: &Template, case: &Path, force: bool) -> Result<(), Error> {
    processors::check(case, force)?;
    let there = |file: &&str| fs::symlink_metadata(case.join(file)).is_ok();
    match template.files().iter().find(|file| !force && there(file)) {
        Some(file) => Err(
            Error::input(format!("{} exists", case.join(file).display())).hint(
                "--force replaces the files that --template writes; without --template they stay",
            ),
        ),
        None => Ok(()),
    }
}

/// The distance from the wall of y⁺ 1, in m.
///
/// # Errors
/// Patches that the flow has no condition for.
pub(super) fn wall_unit(template: &Template, made: &Castellated) -> Result<f64, Error> {
    let roles = roles::of(template, made)?;
    // The centre of a cell of height 2 is at a distance of 1.
    Ok(1.0 / Scales::new(template, made, &roles, [1.0, 2.0]).y_plus)
}

/// The files of a case, and what to say about them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CaseFiles {
    files: Vec<(&'static str, String)>,
    /// All that its template may write.
    possible: Vec<&'static str>,
    /// Parts along each axis.
    pub(super) parts: Option<[u32; 3]>,
    /// Lines for the console.
    pub(super) told: Vec<String>,
}

impl CaseFiles {
    /// Of a mesh whose finest cells have edges of `finest` m, and those at walls a height of `height` m.
    ///
    /// # Errors
    /// Patches that the flow has no condition for.
    pub(super) fn new(
        template: &Template,
        made: &Castellated,
        finest: f64,
        height: f64,
    ) -> Result<Self, Error> {
        let roles = roles::of(template, made)?;
        let scales = Scales::new(template, made, &roles, [finest, height]);
        let turbulence = template.turbulence.unwrap_or(match template.solver {
            Solver::Inter => Turbulence::Laminar,
            _ if scales.reynolds <= LAMINAR => Turbulence::Laminar,
            _ => Turbulence::Sst,
        });
        let flow = Flow {
            template,
            turbulence,
            patches: made
                .mesh
                .patches
                .iter()
                .map(|patch| patch.name.as_str())
                .zip(roles)
                .collect(),
            scales,
        };
        let mut files = flow.fields();
        files.extend(flow.dictionaries());
        Ok(Self {
            files,
            possible: template.files(),
            parts: flow.parts(),
            told: flow.told(),
        })
    }

    /// The files of `0`.
    pub(super) fn fields(&self) -> Vec<(&str, &str)> {
        let files = self.files.iter().map(|(name, text)| (*name, text.as_str()));
        files.filter(|(name, _)| name.starts_with("0/")).collect()
    }

    /// Writes them into a case. Returns their bytes.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn write(&self, case: &Path) -> Result<u64, Error> {
        for name in &self.possible {
            // Of another flow: what this one has is written below.
            match fs::remove_file(case.join(name)) {
                Err(e) if e.kind() != ErrorKind::NotFound => {
                    return Err(output::failed(&case.join(name), &e));
                }
                _ => {}
            }
        }
        for (name, text) in &self.files {
            let path = case.join(name);
            let folder = path.parent().unwrap_or(case);
            fs::create_dir_all(folder).map_err(|e| output::failed(folder, &e))?;
            output::write_text(&path, true, text)?;
        }
        Ok(self.files.iter().map(|(_, text)| text.len() as u64).sum())
    }
}

/// A flow that files are written for.
struct Flow<'a> {
    template: &'a Template,
    turbulence: Turbulence,
    patches: Vec<(&'a str, Role)>,
    scales: Scales,
}

impl Flow<'_> {
    fn told(&self) -> Vec<String> {
        let (template, scales) = (self.template, &self.scales);
        let solver = template.solver.name();
        let model = match self.turbulence {
            Turbulence::Laminar => "laminar".to_owned(),
            Turbulence::Sst => format!("kOmegaSST, {}", self.wall_function().1),
        };
        let mut told = vec![match template.speed() > 0.0 {
            true => format!(
                "{solver}, Re {:.3e} by {:.3e} m and {:.3e} m/s, {model}",
                scales.reynolds,
                scales.length,
                template.speed()
            ),
            false => format!("{solver}, {model}"),
        }];
        let of = |role: fn(&Role) -> bool| {
            let names = self.patches.iter().filter(|(_, found)| role(found));
            names.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
        };
        let kinds = [
            (
                "inlet",
                of(|role| matches!(role, Role::Inlet | Role::NormalInlet)),
            ),
            ("outlet", of(|role| *role == Role::Outlet)),
            ("atmosphere", of(|role| *role == Role::Atmosphere)),
            ("slip", of(|role| *role == Role::Slip)),
        ];
        let kinds = kinds.iter().filter(|(_, names)| !names.is_empty());
        let kinds: Vec<String> = kinds
            .map(|(kind, names)| format!("{kind} {names}"))
            .collect();
        told.extend((!kinds.is_empty()).then(|| kinds.join("; ")));
        let run = |program: &str| match template.ranks {
            Some(ranks) => format!("mpirun -np {ranks} {program} -case CASE -parallel"),
            None => format!("{program} -case CASE"),
        };
        told.push(match template.solver {
            Solver::Inter => format!("run {}, then {}", run("setFields"), run("interFoam")),
            _ => format!("run {}", run(solver)),
        });
        told
    }
}

/// A dictionary of OpenFOAM with its header.
fn dictionary(class: &str, object: &str, entries: &str) -> String {
    format!(
        "FoamFile\n{{\n    version     2.0;\n    format      ascii;\n    class       {class};\n    \
         object      {object};\n}}\n\n{entries}"
    )
}
