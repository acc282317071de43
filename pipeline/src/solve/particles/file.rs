//! Spheres from a table: CSV with a line a sphere.

use super::wrong;
use cutlink_common::{Error, config};
use cutlink_grains::Grain;
use std::path::Path;

/// Names of columns; others are refused.
const KNOWN: [&str; 12] = [
    "id", "x", "y", "z", "diameter", "radius", "vx", "vy", "vz", "wx", "wy", "wz",
];

/// Where the columns of a table are.
struct Columns {
    count: usize,
    center: [usize; 3],
    /// The column of the size, and the radius over it.
    size: (usize, f64),
    velocity: Option<[usize; 3]>,
    spin: Option<[usize; 3]>,
}

/// The spheres of a file, moved by a vector.
///
/// # Errors
/// A file that cannot be read, columns that are missing or not known, numbers that are none.
pub(super) fn read(path: &Path, shift: [f64; 3]) -> Result<Vec<Grain>, Error> {
    let text = config::table(path)?;
    let broken = |line: usize, what: String| {
        Error::input(format!("{}, line {}: {what}", path.display(), line + 1))
            .hint("numbers are separated by commas, as `cutlink pack` writes them")
    };
    let mut lines = text.lines().enumerate();
    let head = lines.next().map_or("", |(_, line)| line);
    let columns = Columns::of(head).map_err(|what| broken(0, what))?;
    let mut grains = Vec::new();
    for (i, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let grain = columns.grain(line, shift);
        grains.push(grain.map_err(|what| broken(i, what))?);
    }
    match grains.is_empty() {
        true => wrong(
            format!("{} has no spheres", path.display()),
            "each line but the first is one",
        ),
        false => Ok(grains),
    }
}

impl Columns {
    fn of(head: &str) -> Result<Self, String> {
        let names: Vec<&str> = head.split(',').map(str::trim).collect();
        let column = |name: &str| names.iter().position(|known| *known == name);
        let three = |names: [&str; 3]| {
            let [a, b, c] = names.map(column);
            Some([a?, b?, c?])
        };
        if let Some(other) = names.iter().find(|name| !KNOWN.contains(name)) {
            return Err(format!("there is no column \"{other}\""));
        }
        let size = column("diameter").map(|at| (at, 0.5));
        let size = size.or_else(|| column("radius").map(|at| (at, 1.0)));
        match (three(["x", "y", "z"]), size) {
            (Some(center), Some(size)) => Ok(Self {
                count: names.len(),
                center,
                size,
                velocity: three(["vx", "vy", "vz"]),
                spin: three(["wx", "wy", "wz"]),
            }),
            _ => Err(format!(
                "the columns are \"{head}\", not x, y, z and diameter or radius"
            )),
        }
    }

    fn grain(&self, line: &str, shift: [f64; 3]) -> Result<Grain, String> {
        let numbers: Vec<&str> = line.split(',').map(str::trim).collect();
        if numbers.len() != self.count {
            return Err(format!(
                "{} numbers for {} columns",
                numbers.len(),
                self.count
            ));
        }
        let number = |at: usize| {
            let number = numbers[at].parse::<f64>().ok().filter(|x| x.is_finite());
            number.ok_or_else(|| format!("\"{}\" is no finite number", numbers[at]))
        };
        let three = |[a, b, c]: [usize; 3]| Ok::<_, String>([number(a)?, number(b)?, number(c)?]);
        let (center, (size, factor)) = (three(self.center)?, self.size);
        let radius = factor * number(size)?;
        if radius <= 0.0 {
            return Err("a size is not positive".into());
        }
        let mut grain = Grain::at(std::array::from_fn(|a| center[a] + shift[a]), radius);
        grain.velocity = self.velocity.map_or(Ok([0.0; 3]), three)?;
        grain.spin = self.spin.map_or(Ok([0.0; 3]), three)?;
        Ok(grain)
    }
}
