//! Lines from files, such as feature edges: the `l` elements of an OBJ file, or an edge mesh of OpenFOAM (`.eMesh`, ASCII).

use cutlink_common::{Error, config};
use cutlink_mesher::placement::Affine;
use std::path::Path;

type Point = [f64; 3];
/// A segment in the frame of the box.
type Segment<const D: usize> = [[f64; D]; 2];

/// The segments of a file, placed as the surface is.
///
/// # Errors
/// A file that cannot be read, is neither of the two, or has no lines; indices without a point.
pub(super) fn read<const D: usize>(
    path: &Path,
    affine: &Affine<D>,
) -> Result<Vec<Segment<D>>, Error> {
    let name = path.display().to_string();
    let text = config::table(path)?;
    let (points, edges) = match text.contains("FoamFile") {
        true => edge_mesh(&text),
        false => obj(&text),
    }
    .map_err(|why| {
        Error::input(format!("{name}: {why}"))
            .hint("lines are the l elements of an OBJ file, or points and edges of an ASCII .eMesh file of OpenFOAM")
    })?;
    if edges.is_empty() {
        return Err(Error::input(format!("{name} has no lines")));
    }
    let end = |point: usize| {
        let at = points
            .get(point)
            .filter(|at| at.iter().all(|x| x.is_finite()))?;
        Some(affine.apply(std::array::from_fn(|a| at[a])))
    };
    let segment = |&[a, b]: &[usize; 2]| Some([end(a)?, end(b)?]);
    let placed = edges.iter().map(|edge| {
        segment(edge).ok_or_else(|| {
            let [a, b] = edge;
            Error::input(format!(
                "{name}: a line joins points {a} and {b}, counted from 0, and one of them is not there or not finite"
            ))
        })
    });
    placed.collect()
}

type Found = Result<(Vec<Point>, Vec<[usize; 2]>), String>;

fn obj(text: &str) -> Found {
    let (mut points, mut edges) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut next = || words.next().and_then(|word| word.parse().ok());
                let point = [next(), next(), next()];
                let [Some(x), Some(y), Some(z)] = point else {
                    return Err(format!(
                        "line {number} is not a point with three coordinates"
                    ));
                };
                points.push([x, y, z]);
            }
            Some("l") => {
                let at = |word: &str| {
                    let index: i64 = word.split('/').next()?.parse().ok()?;
                    let from_0 = if index < 0 {
                        points.len() as i64 + index
                    } else {
                        index - 1
                    };
                    usize::try_from(from_0).ok()
                };
                let line: Option<Vec<usize>> = words.map(at).collect();
                let line = line.filter(|line| line.len() > 1);
                let line = line.ok_or_else(|| format!("line {number} does not name two points"))?;
                edges.extend(line.windows(2).map(|pair| [pair[0], pair[1]]));
            }
            _ => {}
        }
    }
    Ok((points, edges))
}

fn edge_mesh(text: &str) -> Found {
    if text.contains("binary;") {
        return Err("it is binary".into());
    }
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        plain.push_str(line.split("//").next().unwrap_or_default());
        plain.push(' ');
    }
    while let Some(from) = plain.find("/*") {
        let to = plain[from..].find("*/").ok_or("a comment has no end")?;
        plain.replace_range(from..from + to + 2, " ");
    }
    let header = plain.find('}').ok_or("its header has no end")?;
    let mut words = Words::new(&plain[header + 1..]);
    Ok((words.list("points", 3, |w| Some([w[0], w[1], w[2]]))?, {
        let whole = |x: f64| (x >= 0.0 && x.fract() == 0.0 && x < 4e9).then_some(x as usize);
        words.list("edges", 2, |w| Some([whole(w[0])?, whole(w[1])?]))?
    }))
}

/// Numbers and brackets.
struct Words<'a> {
    rest: std::iter::Peekable<std::vec::IntoIter<&'a str>>,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        let mut all = Vec::new();
        for word in text.split_whitespace() {
            let mut rest = word;
            while let Some(at) = rest.find(['(', ')']) {
                all.extend(
                    [&rest[..at], &rest[at..=at]]
                        .iter()
                        .filter(|w| !w.is_empty()),
                );
                rest = &rest[at + 1..];
            }
            all.extend((!rest.is_empty()).then_some(rest));
        }
        Self {
            rest: all.into_iter().peekable(),
        }
    }

    fn expect(&mut self, word: &str, of: &str) -> Result<(), String> {
        match self.rest.next() {
            Some(found) if found == word => Ok(()),
            found => Err(format!(
                "`{word}` is expected in its {of}, not `{}`",
                found.unwrap_or("the end of the file")
            )),
        }
    }

    /// `N ( (…) (…) … )`, each of so many numbers.
    fn list<T>(
        &mut self,
        of: &str,
        width: usize,
        item: impl Fn(&[f64]) -> Option<T>,
    ) -> Result<Vec<T>, String> {
        let count = self.rest.next().and_then(|word| word.parse::<usize>().ok());
        let count = count.ok_or_else(|| format!("the number of its {of} is missing"))?;
        self.expect("(", of)?;
        let mut all = Vec::new();
        while self.rest.peek() == Some(&"(") {
            self.expect("(", of)?;
            let numbers = (0..width).map(|_| self.rest.next()?.parse::<f64>().ok());
            let made = numbers.collect::<Option<Vec<f64>>>().and_then(|w| item(&w));
            let made = made.ok_or_else(|| format!("number {} of its {of} is none", all.len()))?;
            all.push(made);
            self.expect(")", of)?;
        }
        self.expect(")", of)?;
        match all.len() == count {
            true => Ok(all),
            false => Err(format!("it says {count} {of}, and has {}", all.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_formats_are_read_and_mistakes_named() {
        let text = "# a corner\nv 0 0 0\nv 1 0 0\nv 1 2 0\nf 1 2 3\nl 1 2 3\nl -1 1\n";
        let (points, edges) = obj(text).expect("lines");
        assert_eq!(points[2], [1.0, 2.0, 0.0]);
        assert_eq!(edges, [[0, 1], [1, 2], [2, 0]]);
        assert!(obj("v 0 0\n").expect_err("a plane").contains("line 1"));
        assert!(obj("v 0 0 0\nl 1\n").expect_err("one").contains("line 2"));
        let head = "FoamFile { class featureEdgeMesh; } // edges\n/* of\na box */\n";
        let mesh = format!("{head}3\n(\n(0 0 0)\n(1 0 0)\n(1 2 0)\n)\n2((0 1)(1 2))\n");
        let (points, edges) = edge_mesh(&mesh).expect("edges");
        assert_eq!((points.len(), edges), (3, vec![[0, 1], [1, 2]]));
        let short = format!("{head}4((0 0 0)(1 0 0))");
        assert!(
            edge_mesh(&short)
                .expect_err("two")
                .contains("says 4 points")
        );
        let bad = format!("{head}1((0 0 0))1((0 -1))");
        assert!(edge_mesh(&bad).expect_err("no point").contains("edges"));
    }
}
