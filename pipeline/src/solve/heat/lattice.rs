//! From a case to the heat of a lattice Boltzmann flow.

use super::{GravityTable, HeatRecord, HeatTable, Patches, coarse::HeatCells};
use crate::solve::{
    case::{Case, FaceKind, FaceTable, PatchKind, PatchTable, PhysicsTable},
    conditions::FACES,
    resolve::{CaseGrid, Resolved, missing},
    units::{Physics, Units},
    value,
};
use cutlink_common::Error;
use cutlink_flow::{
    Check,
    fields::{FieldName, FieldUnit},
    setting::positive,
};
use cutlink_prescribed::expression::Expression;
use cutlink_solver::{FaceCondition, HeatCondition, HeatSums, LatticeFlow, LatticeHeat};
use cutlink_vof::HeatAccount;
use cutlink_voxelizer::Frame;
use std::{f64::consts::PI, sync::OnceLock};

/// Bars of how far temperatures leave the range of what is given, over that range.
const LEAVES: [f64; 2] = [0.02, 0.1];

/// The heat of a resolved case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseTemperature {
    /// The temperature at the start.
    start: Expression,
    /// Heat capacity, J/(m³ K).
    capacity: f64,
    /// Thermal diffusivity, m²/s.
    diffusivity: f64,
    reference: f64,
    /// Faces and patches that heat may come through.
    patches: Patches,
    /// Temperatures of faces and patches.
    held: Vec<f64>,
    /// Whether a face has a flux of heat.
    has_flux: bool,
    /// A root cell's length, m, and the longest edge of the box in such cells.
    length: f64,
    longest: f64,
}

/// The heat of a flow, what a run knows of it, and the tables with all values resolved: all but `[physics]` with heat alone.
pub(in crate::solve) struct ResolvedHeat<const D: usize> {
    pub(in crate::solve) of_flow: Option<LatticeHeat<D>>,
    pub(in crate::solve) temperature: Option<CaseTemperature>,
    pub(in crate::solve) table: Option<HeatTable>,
    pub(in crate::solve) physics: PhysicsTable,
    /// The field that outputs have.
    pub(in crate::solve) field: Option<(FieldName, FieldUnit)>,
}

/// Numbers of `[physics]` with heat.
#[derive(Debug, Clone, Copy)]
struct Fluid {
    heat_capacity: f64,
    diffusivity: f64,
    expansion: f64,
}

impl Fluid {
    fn of(given: &PhysicsTable, physics: &Physics) -> Result<Self, Error> {
        let number = |key: &str, value: Option<f64>| {
            let what = format!("[physics] {key}");
            value.map(|x| positive(&what, x)).transpose()
        };
        let capacity = number("heat_capacity", given.heat_capacity)?;
        let conductivity = number("conductivity", given.conductivity)?;
        let diffusivity = number("diffusivity", given.diffusivity)?;
        let prandtl = number("prandtl", given.prandtl)?;
        let diffusivity = match (conductivity, diffusivity, prandtl) {
            (Some(conductivity), None, None) => {
                let capacity = capacity.ok_or_else(|| {
                    missing("[physics] heat_capacity")
                        .hint("give it with conductivity, or diffusivity or prandtl in its place")
                })?;
                conductivity / (physics.density * capacity)
            }
            (None, Some(diffusivity), None) => diffusivity,
            (None, None, Some(prandtl)) => physics.viscosity / prandtl,
            (None, None, None) => {
                return Err(missing("[physics] diffusivity")
                    .hint("give diffusivity, prandtl, or conductivity and heat_capacity"));
            }
            _ => {
                return Err(Error::input(
                    "[physics] has more than one of conductivity, diffusivity and prandtl",
                )
                .hint("give one: the others follow from it"));
            }
        };
        let expansion = given.expansion.unwrap_or(0.0);
        if !expansion.is_finite() {
            return Err(Error::input(format!("[physics] expansion is {expansion}"))
                .hint("the number must be finite"));
        }
        Ok(Self {
            heat_capacity: capacity.unwrap_or(1.0),
            diffusivity,
            expansion,
        })
    }

    /// The table with these numbers.
    fn table(self, of: PhysicsTable) -> PhysicsTable {
        PhysicsTable {
            heat_capacity: Some(self.heat_capacity),
            diffusivity: Some(self.diffusivity),
            expansion: Some(self.expansion),
            ..of
        }
    }
}

/// What heat is resolved for.
pub(in crate::solve) struct HeatScale<'a, const D: usize> {
    pub(in crate::solve) frame: &'a Frame<D>,
    pub(in crate::solve) physics: &'a Physics,
    pub(in crate::solve) units: &'a Units,
    pub(in crate::solve) faces: &'a [[FaceCondition<D>; 2]; D],
    /// Names of the patches.
    pub(in crate::solve) patches: &'a [String],
}

impl<'a, const D: usize> HeatScale<'a, D> {
    /// Of a case for a mesh.
    pub(in crate::solve) fn of(
        grid: &CaseGrid<'a, D>,
        physics: &'a Physics,
        units: &'a Units,
        faces: &'a [[FaceCondition<D>; 2]; D],
    ) -> Self {
        Self {
            frame: grid.frame,
            physics,
            units,
            faces,
            patches: grid.patches,
        }
    }
}

/// The heat of a case, if it has some, and its `[physics]`.
///
/// # Errors
/// Keys that are missing, make no sense, or are given without `[heat]`.
pub(in crate::solve) fn with_heat<const D: usize>(
    case: &Case,
    physics: PhysicsTable,
    scale: &HeatScale<'_, D>,
) -> Result<ResolvedHeat<D>, Error> {
    let none = ResolvedHeat {
        of_flow: None,
        temperature: None,
        table: None,
        physics,
        field: None,
    };
    let Some(table) = &case.heat else {
        return match key_of_heat(case) {
            None => Ok(none),
            Some(key) if key == "[gravity]" => {
                Err(Error::input("[gravity] is given, and neither [heat] nor [[particles]]").hint(
                    "it is the weight of spheres, or of fluid that expands; a fluid is driven by [physics] acceleration",
                ))
            }
            Some(key) => Err(Error::input(format!("{key} is given, and no [heat]"))
                .hint("give [heat] with the temperature at the start, or remove the key")),
        };
    };
    check_run(case)?;
    let fluid = Fluid::of(&case.physics, scale.physics)?;
    let (of_flow, temperature) = resolve(case, table, fluid, scale)?;
    let table = HeatTable {
        reference: Some(of_flow.reference),
        ..table.clone()
    };
    Ok(ResolvedHeat {
        of_flow: Some(of_flow),
        temperature: Some(temperature),
        table: Some(table),
        physics: fluid.table(none.physics),
        field: Some(temperature_field()?),
    })
}

/// The heat of a flow, and what a run knows of it.
fn resolve<const D: usize>(
    case: &Case,
    table: &HeatTable,
    fluid: Fluid,
    scale: &HeatScale<'_, D>,
) -> Result<(LatticeHeat<D>, CaseTemperature), Error> {
    let (physics, units) = (scale.physics, scale.units);
    let (faces, mut patches) = of_faces(case, scale)?;
    let of_patches = of_patches(case, scale.patches)?;
    let held = |of: &HeatCondition| match of {
        HeatCondition::Temperature(held) => Some(*held),
        _ => None,
    };
    for (n, of) in of_patches.iter().enumerate() {
        if held(of).is_some() {
            patches.push((2 * D + n, scale.patches[n].clone()));
        }
    }
    let start = table.temperature.as_ref();
    let start = start.ok_or_else(|| missing("[heat] temperature"))?;
    let scope = value::scope(D, false, physics);
    let start = start.expression("[heat] temperature", &scope)?;
    let expands = fluid.expansion != 0.0;
    let inflow =
        (faces.iter().flatten().zip(scale.faces.iter().flatten())).find_map(|(heat, flow)| {
            held(heat).filter(|_| !matches!(flow, FaceCondition::Velocity(v) if *v == [0.0; D]))
        });
    let reference = match table.reference {
        Some(given) => given,
        None if expands => {
            return Err(missing("[heat] reference")
                .hint("the temperature at which the fluid has its density"));
        }
        None => inflow.or_else(|| start.constant()).unwrap_or(0.0),
    };
    let gravity = gravity::<D>(case.gravity.as_ref(), expands)?;
    let per_diffusivity = units.time / (units.length * units.length);
    let per_acceleration = units.time * units.time / units.length;
    let capacity = physics.density * fluid.heat_capacity;
    let flux = |of: HeatCondition| match of {
        HeatCondition::Flux(q) => HeatCondition::Flux(q / (capacity * units.velocity())),
        of => of,
    };
    let of_flow = LatticeHeat {
        diffusivity: fluid.diffusivity * per_diffusivity,
        reference,
        lift: gravity.map(|g| -fluid.expansion * g * per_acceleration),
        faces: faces.map(|pair| pair.map(flux)),
        patches: of_patches,
    };
    let all = of_flow.faces.iter().flatten().chain(&of_flow.patches);
    let longest = scale.frame.root_cells.iter().max().copied().unwrap_or(0);
    let temperature = CaseTemperature {
        start,
        capacity,
        diffusivity: fluid.diffusivity,
        reference,
        patches,
        held: all.clone().filter_map(held).collect(),
        has_flux: all.clone().any(|of| matches!(of, HeatCondition::Flux(_))),
        length: units.length,
        longest: f64::from(longest),
    };
    Ok((of_flow, temperature))
}

/// # Errors
/// What a run with heat cannot have.
fn check_run(case: &Case) -> Result<(), Error> {
    let refused = |what: &str, hint: &str| {
        Err(Error::input(format!("a case has [heat] and {what}")).hint(hint.to_owned()))
    };
    if case.run.settle.is_some() && case.output.integrals_every == Some(0) {
        return refused(
            "[run] settle with [output] integrals_every = 0",
            "whether heat has settled is told by the lines of heat.csv: give integrals_every",
        );
    }
    if !case.motion.is_empty() {
        return refused(
            "[motion]",
            "bodies of flows with heat rest or rotate in place: remove one of both",
        );
    }
    if !case.particles.is_empty() {
        return refused(
            "[[particles]]",
            "spheres have no temperature: remove one of both",
        );
    }
    if case.adapt.is_some() {
        return refused(
            "[adapt]",
            "the mesh of a flow with heat stays: refine it by [mesh], or remove one of both",
        );
    }
    Ok(())
}

/// The field that outputs have of a flow with heat.
///
/// # Errors
/// None that a user can cause.
pub(in crate::solve) fn temperature_field() -> Result<(FieldName, FieldUnit), Error> {
    let name = FieldName::new("temperature");
    let name = name.ok_or_else(|| Error::input("temperature is no name of a field"))?;
    Ok((name, FieldUnit::new(1.0, "K")))
}

/// A key that only cases with heat have.
fn key_of_heat(case: &Case) -> Option<String> {
    let physics = &case.physics;
    let of_fluid = [
        ("heat_capacity", physics.heat_capacity),
        ("conductivity", physics.conductivity),
        ("diffusivity", physics.diffusivity),
        ("prandtl", physics.prandtl),
        ("expansion", physics.expansion),
    ];
    if let Some((key, _)) = of_fluid.into_iter().find(|(_, given)| given.is_some()) {
        return Some(format!("[physics] {key}"));
    }
    if case.gravity.is_some() && case.particles.is_empty() {
        return Some("[gravity]".into());
    }
    for (side, given) in case.boundary.faces().into_iter().flatten().enumerate() {
        let Some(face) = given else { continue };
        let keys = [
            ("temperature", face.temperature),
            ("heat_flux", face.heat_flux),
        ];
        if let Some((key, _)) = keys.into_iter().find(|(_, given)| given.is_some()) {
            return Some(format!(
                "[boundary] \"{}\": {key}",
                FACES[side / 2][side % 2]
            ));
        }
    }
    let (name, _) = case
        .patches
        .iter()
        .find(|(_, patch)| patch.temperature.is_some())?;
    Some(format!("[patches.{name}] temperature"))
}

fn gravity<const D: usize>(given: Option<&GravityTable>, expands: bool) -> Result<[f64; D], Error> {
    const WHAT: &str = "[gravity] acceleration";
    let Some(table) = given else {
        return match expands {
            true => {
                Err(missing("[gravity]")
                    .hint("fluid that expands needs a weight: give acceleration"))
            }
            false => Ok([0.0; D]),
        };
    };
    if !expands {
        return Err(Error::input("[gravity] is given, and [physics] expansion is none")
            .hint("weight acts by thermal expansion alone: give expansion, or use [physics] acceleration"));
    }
    let found = <[f64; D]>::try_from(table.acceleration.as_slice());
    match found {
        Ok(g) if g.iter().all(|g| g.is_finite()) => Ok(g),
        _ => Err(Error::input(format!("{WHAT} is {:?}", table.acceleration))
            .hint(format!("give {D} finite numbers"))),
    }
}

/// By side, and the sides that heat may come through.
type OfFaces<const D: usize> = ([[HeatCondition; 2]; D], Patches);

fn of_faces<const D: usize>(case: &Case, scale: &HeatScale<'_, D>) -> Result<OfFaces<D>, Error> {
    let (mut found, mut patches) = ([[HeatCondition::Insulated; 2]; D], Vec::new());
    for (axis, pair) in case.boundary.faces().into_iter().enumerate().take(D) {
        for (side, given) in pair.into_iter().enumerate() {
            let Some(table) = given else { continue };
            let flow = &scale.faces[axis][side];
            let of = of_face((axis, side), table, flow)?;
            if of != HeatCondition::Insulated || may_pass(table, flow, axis) {
                patches.push((2 * axis + side, FACES[axis][side].to_owned()));
            }
            found[axis][side] = of;
        }
    }
    Ok((found, patches))
}

/// Whether fluid may pass a face.
fn may_pass<const D: usize>(table: &FaceTable, flow: &FaceCondition<D>, axis: usize) -> bool {
    table.kind == FaceKind::MassFlow || flow.passes(axis)
}

fn of_face<const D: usize>(
    (axis, side): (usize, usize),
    table: &FaceTable,
    flow: &FaceCondition<D>,
) -> Result<HeatCondition, Error> {
    let name = format!("[boundary] \"{}\"", FACES[axis][side]);
    let of = match (table.temperature, table.heat_flux) {
        (Some(_), Some(_)) => {
            return Err(
                Error::input(format!("{name} has a temperature and a heat_flux"))
                    .hint("give one of both; without, a wall is insulated"),
            );
        }
        (Some(held), None) => HeatCondition::Temperature(held),
        (None, Some(flux)) => HeatCondition::Flux(flux),
        (None, None) => HeatCondition::Insulated,
    };
    let wrong =
        |text: &str, hint: &str| Err(Error::input(format!("{name}: {text}")).hint(hint.to_owned()));
    if table.kind == FaceKind::Periodic && of != HeatCondition::Insulated {
        return wrong(
            "heat at a periodic face",
            "remove temperature and heat_flux",
        );
    }
    if !may_pass(table, flow, axis) {
        return Ok(of);
    }
    if matches!(of, HeatCondition::Flux(_)) {
        return wrong(
            "heat_flux at a face that fluid passes",
            "give the temperature of what flows in",
        );
    }
    let along = match flow {
        FaceCondition::Velocity(v) | FaceCondition::FarField { velocity: v, .. } => v[axis],
        _ => 0.0,
    };
    let inward = if side == 0 { along } else { -along };
    if inward > 0.0 && of == HeatCondition::Insulated {
        return wrong("temperature is missing", "that of what flows in");
    }
    if inward < 0.0 && of != HeatCondition::Insulated && matches!(flow, FaceCondition::Velocity(_))
    {
        return wrong(
            "heat at an outflow",
            "what flows out has its own temperature: remove temperature",
        );
    }
    Ok(of)
}

fn of_patches(case: &Case, names: &[String]) -> Result<Vec<HeatCondition>, Error> {
    let of = |name: &String| {
        let none = PatchTable::default();
        let table = case.patches.get(name).unwrap_or(&none);
        if !matches!(table.kind, PatchKind::Wall | PatchKind::Rotating) {
            return Err(Error::input(format!(
                "a case has [heat], and fluid may pass [patches.{name}]"
            ))
            .hint("in flows with heat, let fluid pass faces of the box alone"));
        }
        Ok(table
            .temperature
            .map_or(HeatCondition::Insulated, HeatCondition::Temperature))
    };
    names.iter().map(of).collect()
}

impl CaseTemperature {
    /// Sets the temperatures of a flow at the start.
    ///
    /// # Errors
    /// An expression without a value.
    pub(in crate::solve) fn set<const D: usize>(
        &self,
        flow: &mut dyn LatticeFlow<D>,
        frame: &Frame<D>,
    ) -> Result<(), Error> {
        let failed = OnceLock::new();
        let of = |x: [f64; D]| {
            let at: [f64; D] = std::array::from_fn(|a| frame.origin[a] + frame.dx * x[a]);
            self.start.at(&at, 0.0).unwrap_or_else(|reason| {
                let _ = failed.set(reason);
                0.0
            })
        };
        flow.set_temperature(&of)?;
        match failed.into_inner() {
            None => Ok(()),
            Some(reason) => Err(Error::input(format!("[heat] temperature: {reason}"))),
        }
    }

    /// The account of a flow's heat, and how unevenly it is spread, J K.
    fn account<const D: usize>(&self, of: &HeatSums) -> (HeatAccount, f64) {
        let cell = self.capacity * self.length.powi(D as i32);
        let account = HeatAccount {
            heat: cell * (of.heat + self.reference * of.volume),
            capacity: cell * of.volume,
            through: of.through.iter().map(|x| cell * x).collect(),
            defect: 0.0,
            extremes: of.extremes,
        };
        (account, cell * (of.square - of.heat * of.heat / of.volume))
    }

    /// The lowest and the highest temperature that is given, if no flux is.
    fn range(&self, start: &HeatSums) -> Option<[f64; 2]> {
        let [low, high] = start.extremes;
        let lowest = self.held.iter().copied().fold(low, f64::min);
        let highest = self.held.iter().copied().fold(high, f64::max);
        (!self.has_flux && highest > lowest).then_some([lowest, highest])
    }
}

/// The heat of a running flow.
pub(in crate::solve) struct RunningHeat {
    of: CaseTemperature,
    pub(in crate::solve) record: HeatRecord,
    /// The lowest and the highest temperature that is given.
    range: Option<[f64; 2]>,
    cells: HeatCells,
    time: f64,
    /// What the verdict has of it, once the run has ended.
    pub(in crate::solve) checks: Vec<Check>,
}

impl RunningHeat {
    /// Of a flow with the temperatures of its start, if it has some.
    ///
    /// # Errors
    /// Those of the flow.
    pub(in crate::solve) fn new<const D: usize>(
        resolved: &Resolved<D>,
        flow: &dyn LatticeFlow<D>,
    ) -> Result<Option<Self>, Error> {
        let (Some(of), Some(sums)) = (&resolved.heat, flow.heat()?) else {
            return Ok(None);
        };
        let step = resolved.units.time;
        let slowest = (of.longest * of.length / PI).powi(2) / of.diffusivity;
        let start = of.account::<D>(&sums);
        let numbers = [of.capacity, of.diffusivity];
        let cells = HeatCells::of(resolved, flow.mesh()?, numbers, start.1);
        Ok(Some(Self {
            of: of.clone(),
            record: HeatRecord::new(of.patches.clone(), start, slowest, step),
            range: of.range(&sums),
            cells,
            time: step,
            checks: Vec::new(),
        }))
    }

    /// The account now.
    ///
    /// # Errors
    /// Those of the flow.
    pub(in crate::solve) fn now<const D: usize>(
        &self,
        flow: &dyn LatticeFlow<D>,
    ) -> Result<(HeatAccount, f64), Error> {
        let sums = flow.heat()?;
        let sums = sums.ok_or_else(|| Error::input("a flow has lost its heat"))?;
        Ok(self.of.account::<D>(&sums))
    }

    /// Adds a line to `heat.csv`.
    ///
    /// # Errors
    /// Those of the flow.
    pub(in crate::solve) fn add<const D: usize>(
        &mut self,
        step: u64,
        flow: &dyn LatticeFlow<D>,
    ) -> Result<(), Error> {
        let (now, spread) = self.now(flow)?;
        self.record
            .add(step, (&now, spread), step as f64 * self.time);
        Ok(())
    }

    /// Checks at the end whether heat is balanced, and temperatures stay between what is given.
    pub(in crate::solve) fn check(&mut self, now: &HeatAccount) {
        let left = self.range.map(|[low, high]| {
            let [least, most] = now.extremes;
            Check {
                name: "temperature",
                value: match (most - least).is_finite() {
                    true => (low - least).max(most - high).max(0.0) / (high - low),
                    false => f64::NAN,
                },
                bars: LEAVES,
                what: "how far temperatures leave the range of those at the start, of walls and of inflows, over that range".into(),
                remedy: Some("finer cells where temperatures change steeply".into()),
            }
        });
        let of_cells = self.cells.checks(&self.record, now);
        let balance = self.record.check(now);
        self.checks = balance.into_iter().chain(left).chain(of_cells).collect();
    }
}
