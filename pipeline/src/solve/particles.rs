//! `[[particles]]`: spheres at the start, from a table of places, one by one, or as blocks. The table is that of every kind
//! of flow with particles.

mod file;

use super::placed::placed_surface;
use cutlink_common::{Error, ErrorKind, config, schema::ByName};
use cutlink_device::{Backend, Host};
use cutlink_grains::{
    BoxAxis, Grain, GrainBox, GrainError, GrainSide, SurfaceWall,
    pack::{MAX_PACKED, MAX_SIZES, PackSize, ScatterBlock},
};
use cutlink_mesher::placement::{Rotation, Unit};
use cutlink_meshing::options::{MeshOptions, Numbers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Bytes of a sphere in a run: `docs/performance-log.md`.
pub(super) const BYTES: u64 = 1_100;

/// Spheres at the start: a file, one sphere, or a block of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ParticlesTable {
    /// A table of places as `cutlink pack` writes it: CSV with columns `x`, `y`, `z` and `diameter` or `radius`, m, and on
    /// request `vx`, `vy`, `vz`, m/s, and `wx`, `wy`, `wz`, rad/s; this, `center`, `box`, `surface` or `shape`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Centre of one sphere, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center: Option<Vec<f64>>,
    /// Lower and upper corner of a block, m: spheres are whole within it.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Vec<f64>>,
    /// A closed surface, of any format that `cutlink mesh` reads, whose inside is the block; with `box` what is in both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<PathBuf>,
    /// A built-in shape such as `"cylinder:r=0.1,h=0.2"` in place of `surface`; `cutlink mesh --shape help` lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Of `surface`: its unit, as of `[mesh]`. Default: m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ByName<Unit>>")]
    pub unit: Option<Unit>,
    /// Of `surface` and `shape`: scale factor, or one per axis, as of `[mesh]`. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Numbers>,
    /// Of `surface` and `shape`: rotations about axes through the origin, degrees, as of `[mesh]`, such as `["z:30"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub rotate: Option<Vec<Rotation>>,
    /// Of `file`, `surface` and `shape`: translation, applied last, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translate: Option<Numbers>,
    /// Radius, m, or several of them. But for `file`, this or `diameter` is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<Numbers>,
    /// Diameter, m, or several of them, in place of `radius`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diameter: Option<Numbers>,
    /// Of several radii: their shares by number, in any unit. Default: equal ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<f64>,
    /// Of a block: number of spheres at random places without overlaps; with `spacing` at most so many. This or `spacing` is
    /// required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Of a block: distance of the spheres of a cubic lattice, m, at least a diameter; layers along z are filled one
    /// after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spacing: Option<f64>,
    /// Of random places: the seed. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Velocity, m/s. Default: 0, of a file what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Vec<f64>>,
    /// Angular velocity, rad/s. Default: 0, of a file what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spin: Option<Vec<f64>>,
    /// Name of the material. Default: the only one; required where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
}

/// Largest distance of the facets of a shape from the true surface, by default: this part of the longest edge of the box.
const DEVIATION: f64 = 2e-4;

/// The default for a box, m.
pub(super) fn deviation_in(domain: &GrainBox) -> f64 {
    DEVIATION * (0..3).map(|a| domain.length(a)).fold(0.0, f64::max)
}

/// Where spheres are put.
pub(super) struct Placing<'a> {
    /// The box.
    pub(super) domain: &'a GrainBox,
    /// Surfaces that spheres of blocks keep away from.
    pub(super) walls: &'a [&'a SurfaceWall],
    /// Names of materials, by index.
    pub(super) materials: &'a [String],
}

/// The index of a material by its name, or the only one.
///
/// # Errors
/// No such material, or no name where there are several.
pub(super) fn material(name: Option<&String>, materials: &[String]) -> Result<u8, Error> {
    let Some(name) = name else {
        return match materials.len() {
            1 => Ok(0),
            _ => Err(Error::input("material is missing")
                .hint(format!("name one of [materials]: {}", materials.join(", ")))),
        };
    };
    let known: Vec<&str> = materials.iter().map(String::as_str).collect();
    match materials.iter().position(|known| known == name) {
        Some(at) => Ok(at as u8),
        None => Err(Error::input(format!("there is no [materials.{name}]"))
            .hint(config::suggestion("material", name, &known))),
    }
}

/// The spheres of all tables, in their order, and the end of each table among them.
///
/// # Errors
/// Tables that make no sense, files that cannot be read, blocks that do not hold their spheres, too little memory.
pub(super) fn place_all(
    tables: &[ParticlesTable],
    placing: &Placing<'_>,
) -> Result<(Vec<Grain>, Vec<usize>), Error> {
    let (mut grains, mut ends) = (Vec::new(), Vec::new());
    for (i, table) in tables.iter().enumerate() {
        let what = format!("[[particles]] {}", i + 1);
        let named = |error: Error| error.within(&what);
        let new = table.place(placing, &grains).map_err(named)?;
        check_memory(grains.len() as u64 + new.len() as u64).map_err(named)?;
        grains.extend(new);
        ends.push(grains.len());
    }
    Ok((grains, ends))
}

fn check_memory(count: u64) -> Result<(), Error> {
    let (bytes, free) = (count.saturating_mul(BYTES), Host.free_bytes());
    match bytes > free {
        true => Err(Error::new(
            ErrorKind::Memory,
            format!("{count} spheres need {bytes} bytes of memory, and {free} are free"),
        )
        .hint("fewer spheres")),
        false => Ok(()),
    }
}

fn wrong<T>(what: impl Into<String>, hint: &str) -> Result<T, Error> {
    Err(Error::input(what.into()).hint(hint.to_owned()))
}

/// Three finite numbers.
pub(super) fn vector(key: &str, given: &[f64]) -> Result<[f64; 3], Error> {
    let vector = given.try_into().ok();
    let finite = vector.filter(|of: &[f64; 3]| of.iter().all(|x| x.is_finite()));
    match finite {
        Some(vector) => Ok(vector),
        None => wrong(
            format!("{key} has {} numbers", given.len()),
            "it takes 3 finite ones",
        ),
    }
}

/// The corners of a box.
pub(super) fn corners(key: &str, given: &[f64]) -> Result<[[f64; 3]; 2], Error> {
    if given.len() != 6 {
        return wrong(
            format!("{key} has {} numbers", given.len()),
            "it takes 6: the lower and the upper corner, m",
        );
    }
    let [low, high] = [vector(key, &given[..3])?, vector(key, &given[3..])?];
    match (0..3).all(|a| low[a] < high[a]) {
        true => Ok([low, high]),
        false => wrong(
            format!("{key} is {given:?}"),
            "the lower corner comes first",
        ),
    }
}

impl ParticlesTable {
    fn place(&self, placing: &Placing<'_>, there: &[Grain]) -> Result<Vec<Grain>, Error> {
        let has_surface = self.surface.is_some() || self.shape.is_some();
        let is_block = self.bounds.is_some() || has_surface;
        let ways = [self.file.is_some(), self.center.is_some(), is_block];
        let count = ways.into_iter().filter(|of| *of).count();
        if count != 1 || self.surface.is_some() && self.shape.is_some() {
            return wrong(
                match count {
                    0 => "there is no place",
                    _ => "there are several places",
                },
                "give one of file, center, box, surface and shape; box and one of surface and shape go together",
            );
        }
        self.check_keys(is_block, has_surface)?;
        let index = material(self.material.as_ref(), placing.materials)?;
        let mut grains = match (&self.file, &self.center) {
            (Some(path), _) => {
                let shift = self.translate.as_ref();
                let shift = shift.map(|by| vector("translate", by.as_slice()));
                file::read(path, shift.transpose()?.unwrap_or_default())?
            }
            (_, Some(center)) => {
                let [size] = self.sizes()?[..] else {
                    return wrong("one sphere has several radii", "give one radius");
                };
                vec![Grain::at(vector("center", center)?, 0.5 * size.diameter)]
            }
            _ => self.block(placing, there)?,
        };
        let velocity = self.velocity.as_ref().map(|v| vector("velocity", v));
        let spin = self.spin.as_ref().map(|w| vector("spin", w));
        let (velocity, spin) = (velocity.transpose()?, spin.transpose()?);
        for grain in &mut grains {
            grain.material = index;
            grain.velocity = velocity.unwrap_or(grain.velocity);
            grain.spin = spin.unwrap_or(grain.spin);
        }
        Ok(grains)
    }

    /// Refuses keys of another way.
    fn check_keys(&self, is_block: bool, has_surface: bool) -> Result<(), Error> {
        let is_file = self.file.is_some();
        let unused = [
            ("radius", self.radius.is_some() && is_file),
            ("diameter", self.diameter.is_some() && is_file),
            ("shares", !self.shares.is_empty() && !is_block),
            ("count", self.count.is_some() && !is_block),
            ("spacing", self.spacing.is_some() && !is_block),
            (
                "seed",
                self.seed.is_some() && (!is_block || self.spacing.is_some()),
            ),
            ("unit", self.unit.is_some() && self.surface.is_none()),
            ("scale", self.scale.is_some() && !has_surface),
            ("rotate", self.rotate.is_some() && !has_surface),
            (
                "translate",
                self.translate.is_some() && !has_surface && !is_file,
            ),
        ];
        match unused.into_iter().find(|(_, unused)| *unused) {
            Some((key, _)) => wrong(
                format!("{key} is given, and is not used"),
                "remove it: radii are of spheres without a file, count and spacing of blocks, seed of random places",
            ),
            None => Ok(()),
        }
    }

    /// Diameters and shares.
    fn sizes(&self) -> Result<Vec<PackSize>, Error> {
        let (key, numbers, factor) = match (&self.radius, &self.diameter) {
            (Some(radius), None) => ("radius", radius.as_slice(), 2.0),
            (None, Some(diameter)) => ("diameter", diameter.as_slice(), 1.0),
            _ => return wrong("there is no size", "give one of radius and diameter, m"),
        };
        if numbers.is_empty() || numbers.len() > MAX_SIZES {
            return wrong(
                format!("{key} has {} numbers", numbers.len()),
                "it takes 1 to 64",
            );
        }
        if let Some(bad) = numbers.iter().find(|x| !(**x > 0.0 && x.is_finite())) {
            return wrong(format!("{key} is {bad}"), "it must be finite and positive");
        }
        if !self.shares.is_empty() && self.shares.len() != numbers.len() {
            return wrong(
                format!(
                    "there are {} shares of {} sizes",
                    self.shares.len(),
                    numbers.len()
                ),
                "give a share for each size, or none",
            );
        }
        if let Some(bad) = self.shares.iter().find(|x| !(**x > 0.0 && x.is_finite())) {
            return wrong(
                format!("a share is {bad}"),
                "it must be finite and positive",
            );
        }
        let share = |i: usize| self.shares.get(i).copied().unwrap_or(1.0);
        let each = numbers.iter().enumerate().map(|(i, x)| PackSize {
            diameter: factor * x,
            share: share(i),
        });
        Ok(each.collect())
    }

    /// The inside of a surface, in the frame of the box; of a shape with facets that deviate by so much.
    fn inside(&self, deviation: f64) -> Result<Option<SurfaceWall>, Error> {
        if self.surface.is_none() && self.shape.is_none() {
            return Ok(None);
        }
        let options = MeshOptions {
            file: self.surface.clone().map(|file| vec![file]),
            shape: self.shape.clone(),
            unit: self.unit,
            scale: self.scale.clone(),
            rotate: self.rotate.clone(),
            translate: self.translate.clone(),
            deviation: self.shape.as_ref().map(|_| deviation),
            ..MeshOptions::default()
        };
        let surface = placed_surface(options)?;
        let wall = SurfaceWall::new(&surface, 0, Some(GrainSide::Inside));
        let wall = wall.map_err(|error| {
            Error::from(error).hint(
                "a block needs a closed surface: `cutlink inspect FILE` shows where it is open",
            )
        });
        wall.map(Some)
    }

    fn block(&self, placing: &Placing<'_>, there: &[Grain]) -> Result<Vec<Grain>, Error> {
        let sizes = self.sizes()?;
        let inside = self.inside(deviation_in(placing.domain))?;
        let [lower, upper] = match (&self.bounds, &inside) {
            (Some(bounds), _) => corners("box", bounds)?,
            (None, Some(surface)) => surface.bounds(),
            (None, None) => unreachable!("a block has a box or a surface"),
        };
        let domain = placing.domain;
        for a in 0..3 {
            let slack = 1e-9 * domain.length(a);
            if inside.is_none()
                && (lower[a] < domain.lower[a] - slack || upper[a] > domain.upper[a] + slack)
            {
                return wrong(
                    format!("box {:?} is not within [domain] box", self.bounds),
                    "move it, or make it smaller",
                );
            }
        }
        // Spheres may be as deep in a wall as at any start; here they keep away from it.
        let is_clear = |x: [f64; 3], r: f64| {
            let is_off = |wall: &SurfaceWall| wall.is_free(x) && wall.distance(x, r).is_none();
            inside.as_ref().is_none_or(is_off) && placing.walls.iter().all(|wall| is_off(wall))
        };
        let periodic = std::array::from_fn(|a| {
            domain.axes[a] == BoxAxis::Periodic
                && (upper[a] - lower[a]) > (1.0 - 1e-9) * domain.length(a)
        });
        if let Some(spacing) = self.spacing {
            return self.lattice((lower, upper, periodic), spacing, &sizes, &is_clear);
        }
        let Some(count) = self.count else {
            return wrong("there is no number", "give one of count and spacing");
        };
        check_count(count)?;
        let block = ScatterBlock {
            lower,
            upper,
            periodic,
            sizes,
            count: count as usize,
            seed: self.seed.unwrap_or(1),
        };
        let grains = block.scatter(there, &is_clear).map_err(Error::from)?;
        match grains.len() as u64 == count {
            true => Ok(grains),
            false => wrong(
                format!("{} of count = {count} spheres find a place", grains.len()),
                "fewer or smaller ones, or a larger block: random places fill some 25 to 35 % of a volume; `cutlink pack` makes dense beds",
            ),
        }
    }

    fn lattice(
        &self,
        (lower, upper, periodic): ([f64; 3], [f64; 3], [bool; 3]),
        spacing: f64,
        sizes: &[PackSize],
        is_clear: &dyn Fn([f64; 3], f64) -> bool,
    ) -> Result<Vec<Grain>, Error> {
        let [size] = sizes else {
            return wrong(
                "a lattice has several sizes",
                "give one radius, or count without spacing",
            );
        };
        let diameter = size.diameter;
        if !(spacing >= diameter * (1.0 - 1e-12) && spacing.is_finite()) {
            return wrong(
                format!("spacing is {spacing}, and the diameter is {diameter}"),
                "it must be at least a diameter",
            );
        }
        // Spheres are whole within the block; a period has whole cells of the lattice.
        let along = |a: usize| {
            let length = upper[a] - lower[a];
            match periodic[a] {
                true => (length / spacing * (1.0 + 1e-12)).floor(),
                false => ((length - diameter) / spacing * (1.0 + 1e-12) + 1.0).floor(),
            }
        };
        let counts = [along(0), along(1), along(2)].map(|n| n.max(0.0));
        let sites = counts.iter().product::<f64>();
        let wanted = self.count.unwrap_or(u64::MAX);
        check_count((sites as u64).min(wanted).max(1))?;
        let counts = counts.map(|n| n as usize);
        let first: [f64; 3] = std::array::from_fn(|a| {
            let length = upper[a] - lower[a];
            lower[a] + 0.5 * (length - (counts[a].max(1) - 1) as f64 * spacing)
        });
        let mut grains = Vec::new();
        for k in 0..counts[2] {
            for j in 0..counts[1] {
                for i in 0..counts[0] {
                    let at = [i, j, k];
                    let x = std::array::from_fn(|a| first[a] + at[a] as f64 * spacing);
                    if (grains.len() as u64) < wanted && is_clear(x, 0.5 * diameter) {
                        grains.push(Grain::at(x, 0.5 * diameter));
                    }
                }
            }
        }
        let enough = self.count.is_none_or(|n| grains.len() as u64 == n);
        match enough && !grains.is_empty() {
            true => Ok(grains),
            false => wrong(
                format!("the lattice has {} places", grains.len()),
                "a smaller spacing or count, or a larger block",
            ),
        }
    }
}

fn check_count(count: u64) -> Result<(), Error> {
    if !(1..=MAX_PACKED as u64).contains(&count) {
        return wrong(
            format!("{count} spheres are asked for"),
            "1 to 100 million are possible",
        );
    }
    check_memory(count)
}

/// The table that a sphere is from, by its id.
pub(super) fn table_of(ends: &[usize], id: u32) -> String {
    let table = ends.partition_point(|end| *end <= id as usize);
    let first = table.checked_sub(1).map_or(0, |before| ends[before]);
    format!(
        "[[particles]] {}, sphere {}",
        table + 1,
        id as usize - first + 1
    )
}

/// Whose spheres they are, for the keys in hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BedOf {
    /// A case of kind `grains`.
    Grains,
    /// A case of kind `two-phase`.
    Flow,
}

/// The hint for an error about spheres.
fn hint_of(error: &GrainError, of: BedOf) -> Option<&'static str> {
    Some(match error {
        GrainError::Place { problem, .. }
            if of == BedOf::Flow && problem.contains("wall of the box") =>
        {
            "spheres at a face keep a radius away from it, unless it is \"periodic\": openings hold them too"
        }
        GrainError::Place { problem, .. }
            if of == BedOf::Flow && problem.contains("wrong side") =>
        {
            "move them out of the [[body]], or to where `side` of the [[wall]] says that spheres are"
        }
        GrainError::Place { problem, .. }
            if of == BedOf::Flow && problem.contains("reach into the surface") =>
        {
            "move them a radius away from the [[wall]] or [[body]]"
        }
        GrainError::SurfaceAtPeriod { .. } if of == BedOf::Flow => {
            "move the [[wall]] or [[body]] away from periodic faces: it is not repeated"
        }
        GrainError::TimeStep { .. } if of == BedOf::Flow => {
            "leave [numerics] contact_step out, or make it smaller; a smaller youngs_modulus allows longer steps"
        }
        GrainError::Place { problem, .. } if problem.contains("outside of the box") => {
            "all [[particles]] have to be within [domain] box"
        }
        GrainError::Place { problem, .. } if problem.contains("wall of the box") => {
            "spheres at a face keep a radius away from it, unless its [boundary] is \"open\" or \"periodic\""
        }
        GrainError::Place { problem, .. } if problem.contains("wrong side") => {
            "`side` of the [[wall]] says on which side spheres are, \"inside\" or \"outside\""
        }
        GrainError::Place { .. } => "move them a radius away from the [[wall]]",
        GrainError::Overlap { .. } => {
            "a larger spacing, fewer blocks in one place, or [numerics] max_overlap where it is meant"
        }
        GrainError::TimeStep { .. } => {
            "leave [numerics] time_step out, or make it smaller; a smaller youngs_modulus allows longer steps"
        }
        GrainError::Period { .. } => "a longer [domain] box, or smaller spheres",
        GrainError::SurfaceAtPeriod { .. } => {
            "move the [[wall]] away from periodic faces: it is not repeated"
        }
        _ => return None,
    })
}

/// An error of the bed with the tables and keys of the case.
pub(super) fn explained(error: GrainError, ends: &[usize], bed: BedOf) -> Error {
    let of = match &error {
        GrainError::Place { id, .. } | GrainError::TimeStep { id, .. } => Some(*id),
        GrainError::Overlap { first, .. } => Some(*first),
        _ => None,
    };
    let hint = hint_of(&error, bed);
    let mut error = Error::from(error);
    if let Some(id) = of {
        error.message += &format!(" ({})", table_of(ends, id));
    }
    if error.kind == ErrorKind::Memory {
        return error.hint("fewer spheres");
    }
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
