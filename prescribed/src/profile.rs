//! Velocity profiles: tables from files, and predefined shapes as expressions.

use cutlink_common::Error;
use std::{collections::BTreeMap, path::Path};

const AXES: [&str; 3] = ["x", "y", "z"];
const COMPONENTS: [&str; 3] = ["u", "v", "w"];
const COLUMNS: &str = "columns: any of x, y, z (m) and any of u, v, w (m/s)";

/// Velocities at the points of a grid, interpolated linearly; outside the grid, the value at its nearest point.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileTable {
    /// Axes of the grid, with their coordinates in ascending order.
    axes: Vec<(usize, Vec<f64>)>,
    /// By component, in the order of the axes, the first one fastest; a missing component is 0.
    values: [Option<Vec<f64>>; 3],
}

/// Reads a file of columns with a header.
///
/// # Errors
/// A file that cannot be read; lines that are not numbers.
pub fn read(what: &str, path: &Path) -> Result<BTreeMap<String, Vec<f64>>, Error> {
    let name = path.display();
    let text = cutlink_common::config::table(path).map_err(|error| {
        let error = error.within(what);
        error.hint("paths are relative to the current folder")
    })?;
    let is_read = |(_, line): &(usize, &str)| !line.trim().is_empty() && !line.starts_with('#');
    let mut lines = text.lines().enumerate().filter(is_read);
    let header = lines.next().map_or("", |(_, line)| line);
    let names: Vec<String> = header
        .split(',')
        .map(|name| name.trim().to_owned())
        .collect();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for (at, line) in lines {
        let wrong = |why: String| {
            Error::input(format!("{what}: {name}, line {}: {why}", at + 1)).hint(COLUMNS)
        };
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != names.len() {
            let (found, wanted) = (fields.len(), names.len());
            return Err(wrong(format!("{found} values under {wanted} names")));
        }
        for (column, field) in columns.iter_mut().zip(fields) {
            match field.parse::<f64>() {
                Ok(value) if value.is_finite() => column.push(value),
                _ => return Err(wrong(format!("\"{field}\" is not a finite number"))),
            }
        }
    }
    Ok(names.into_iter().zip(columns).collect())
}

impl ProfileTable {
    /// A table from columns by name.
    ///
    /// # Errors
    /// Unknown names, axes that the mesh lacks, points that do not form a full grid.
    pub fn new<const D: usize>(
        what: &str,
        columns: &BTreeMap<String, Vec<f64>>,
    ) -> Result<Self, Error> {
        let wrong = |why: String| Error::input(format!("{what}: {why}")).hint(COLUMNS);
        let known = |name: &str| AXES[..D].contains(&name) || COMPONENTS[..D].contains(&name);
        if let Some(name) = columns.keys().find(|name| !known(name)) {
            return Err(wrong(format!(
                "the table has a column \"{name}\", but the mesh is {D}D"
            )));
        }
        let mut axes = Vec::new();
        for (axis, name) in AXES.iter().enumerate() {
            if let Some(places) = columns.get(*name) {
                let mut places = places.clone();
                places.sort_by(f64::total_cmp);
                places.dedup();
                axes.push((axis, places));
            }
        }
        let points: usize = axes.iter().map(|(_, places)| places.len()).product();
        let lengths: Vec<usize> = columns.values().map(Vec::len).collect();
        let has_values = COMPONENTS.iter().any(|name| columns.contains_key(*name));
        if axes.is_empty() || !has_values {
            return Err(wrong(
                "the table needs at least one coordinate and one velocity column".into(),
            ));
        }
        if points == 0 || lengths.iter().any(|&length| length != points) {
            let lines = lengths.first().copied().unwrap_or(0);
            let places: Vec<String> = axes.iter().map(|(_, p)| p.len().to_string()).collect();
            let grid = places.join(" x ");
            return Err(wrong(format!(
                "the points of the table do not form a full grid: {lines} lines for {grid} points"
            )));
        }
        let mut seen = vec![false; points];
        let mut values: [Option<Vec<f64>>; 3] = COMPONENTS.map(|name| {
            let is_there = columns.contains_key(name);
            is_there.then(|| vec![0.0; points])
        });
        for line in 0..points {
            let (mut at, mut stride) = (0, 1);
            for (axis, places) in &axes {
                let x = columns[AXES[*axis]][line];
                at += stride * places.partition_point(|&place| place < x);
                stride *= places.len();
            }
            if std::mem::replace(&mut seen[at], true) {
                return Err(wrong(format!(
                    "line {} repeats a point of the table",
                    line + 1
                )));
            }
            for (values, name) in values.iter_mut().zip(COMPONENTS) {
                if let Some(values) = values {
                    values[at] = columns[name][line];
                }
            }
        }
        Ok(Self { axes, values })
    }

    /// The velocity at a point, m; outside the grid that of its nearest point.
    pub fn at<const D: usize>(&self, x: [f64; D]) -> [f64; D] {
        let mut place = [0.0; 3];
        place[..D].copy_from_slice(&x);
        let u = self.interpolated(place);
        std::array::from_fn(|a| u[a])
    }

    fn interpolated(&self, x: [f64; 3]) -> [f64; 3] {
        // For each axis the lower grid index and the weight of the upper one.
        let weights = self.axes.iter().map(|(axis, places)| {
            let x = x[*axis];
            let upper = places.partition_point(|&place| place <= x);
            match (upper, places.len()) {
                (0, _) => (0, 0.0),
                (upper, count) if upper == count => (count - 1, 0.0),
                (upper, _) => {
                    let [a, b] = [places[upper - 1], places[upper]];
                    (upper - 1, (x - a) / (b - a))
                }
            }
        });
        let weights: Vec<(usize, f64)> = weights.collect();
        let mut sum = [0.0; 3];
        for corner in 0..1usize << weights.len() {
            let (mut share, mut at, mut stride) = (1.0, 0, 1);
            for (n, ((lower, upper_share), (_, places))) in
                weights.iter().zip(&self.axes).enumerate()
            {
                let upper = corner >> n & 1;
                share *= [1.0 - upper_share, *upper_share][upper];
                at += stride * (lower + upper);
                stride *= places.len();
            }
            if share != 0.0 {
                for (sum, values) in sum.iter_mut().zip(&self.values) {
                    *sum += share * values.as_ref().map_or(0.0, |values| values[at]);
                }
            }
        }
        sum
    }
}

/// `1 - (distance from the middle / half width)^2` along each given axis: its index and bounds.
pub fn channel(walls: &[(usize, [f64; 2])]) -> String {
    let factors = walls.iter().map(|(axis, [low, high])| {
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        format!("(1-(({}-({middle:?}))/{half:?})^2)", AXES[*axis])
    });
    factors.collect::<Vec<_>>().join("*")
}

/// The same over a round opening with the given center and unit normal; 0 beyond the radius.
pub fn round<const D: usize>(center: [f64; D], radius: f64, normal: [f64; D]) -> String {
    let from = |a: usize| format!("({}-({:?}))", AXES[a], center[a]);
    let square: Vec<String> = (0..D).map(|a| format!("{}^2", from(a))).collect();
    let along: Vec<String> = (0..D)
        .filter(|&a| normal[a] != 0.0)
        .map(|a| format!("{}*({:?})", from(a), normal[a]))
        .collect();
    let (square, along) = (square.join("+"), along.join("+"));
    format!("max(0,1-({square}-({along})^2)/{radius:?}^2)")
}

/// (height / `reference`)^exponent, with the height above `low` along an axis.
pub fn power_law(axis: usize, low: f64, reference: f64, exponent: f64) -> String {
    format!(
        "(max(0,{}-({low:?}))/{reference:?})^({exponent:?})",
        AXES[axis]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[(&str, &[f64])]) -> Result<ProfileTable, Error> {
        let columns = columns
            .iter()
            .map(|(name, values)| ((*name).to_owned(), values.to_vec()));
        ProfileTable::new::<3>("it", &columns.collect())
    }

    #[test]
    fn tables_are_linear_between_their_points_and_constant_beyond() {
        let made = table(&[("y", &[2.0, 0.0, 1.0]), ("u", &[4.0, 1.0, 2.0])]).expect("a table");
        for (y, u) in [
            (0.0, 1.0),
            (0.25, 1.25),
            (1.0, 2.0),
            (1.5, 3.0),
            (2.0, 4.0),
            (9.0, 4.0),
            (-1.0, 1.0),
        ] {
            assert_eq!(made.at([7.0, y, -3.0]), [u, 0.0, 0.0], "at {y}");
        }
        // 1 + 2 y + 3 z + 4 y z is bilinear.
        let of = |y: f64, z: f64| 1.0 + 2.0 * y + 3.0 * z + 4.0 * y * z;
        let points = [
            (0.0, 0.0),
            (0.0, 2.0),
            (1.0, 0.0),
            (1.0, 2.0),
            (4.0, 2.0),
            (4.0, 0.0),
        ];
        let [ys, zs] = [points.map(|p| p.0), points.map(|p| p.1)];
        let ws = points.map(|(y, z)| of(y, z));
        let made = table(&[("y", &ys), ("z", &zs), ("w", &ws)]).expect("a table");
        for (y, z) in [(0.3, 0.4), (2.0, 1.9), (4.0, 2.0), (1.0, 0.0)] {
            let [u, v, w] = made.at([0.0, y, z]);
            assert!(
                u == 0.0 && v == 0.0 && (w - of(y, z)).abs() < 1e-14,
                "{y} {z}: {w}"
            );
        }
    }

    #[test]
    fn points_that_form_no_grid_are_refused() {
        for (columns, word) in [
            (
                vec![("y", vec![0.0, 1.0])],
                "at least one coordinate and one velocity column",
            ),
            (vec![("r", vec![0.0]), ("u", vec![1.0])], "a column \"r\""),
            (
                vec![("y", vec![0.0, 0.0]), ("u", vec![1.0, 2.0])],
                "do not form a full grid",
            ),
            (
                vec![
                    ("y", vec![0.0, 1.0, 1.0, 0.0]),
                    ("z", vec![0.0, 1.0, 1.0, 0.0]),
                    ("u", vec![1.0; 4]),
                ],
                "repeats a point",
            ),
        ] {
            let columns: Vec<(&str, &[f64])> = columns.iter().map(|(n, v)| (*n, &v[..])).collect();
            let message = table(&columns).expect_err(word).to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
