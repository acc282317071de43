//! Shapes as text, for a command line or a configuration file.
//!
//! ```text
//! shape   = name [ ":" item { "," item } ]
//! item    = key "=" value | digits          bare digits: naca and wing only
//! value   = number | number "x" number [ "x" number ]
//! polygon = "polygon:" x "," y { ";" x "," y }
//! ```
//! Names are not case-sensitive, keys are (a torus has `R` and `r`). Omitted keys keep the
//! proportions of the shape's default, whose longest extent is 1; a wing's chord is 1 unless
//! given, and the Ahmed body has its published size in metres. [`AnyShape`] prints in
//! the same grammar and reads back as the same shape.

use super::naca::digits_text;
use super::{Shape2, Shape3, ShapeError, ahmed};
use std::fmt;

/// A shape of either dimension.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyShape {
    /// A plane curve.
    D2(Shape2),
    /// A solid.
    D3(Shape3),
}

/// Name and grammar of each shape, for help texts.
pub const SHAPES: &[(&str, &str)] = &[
    ("sphere", "sphere:r=0.5 (or d=1)"),
    ("ellipsoid", "ellipsoid:r=0.5x0.25x0.25 (or d=1x0.5x0.5)"),
    ("box", "box:size=1x1x1"),
    ("cylinder", "cylinder:r=0.5,h=1 (or d=1,h=1)"),
    ("cone", "cone:r=0.5,h=1 (or d=1,h=1)"),
    (
        "capsule",
        "capsule:r=0.25,h=1 (or d=0.5,h=1; h from tip to tip)",
    ),
    ("torus", "torus:R=0.375,r=0.125 (or D=0.75,d=0.25)"),
    ("wing", "wing:0012,chord=1,span=1"),
    (
        "ahmed",
        "ahmed:slant=25,length=1.044,clearance=0.05 (slant in degrees, 0 to 40)",
    ),
    ("circle", "circle:r=0.5 (or d=1)"),
    ("ellipse", "ellipse:r=0.5x0.25 (or d=1x0.5)"),
    ("rectangle", "rectangle:size=1x1"),
    ("polygon", "polygon:0,0;1,0;0,1"),
    ("naca", "naca:0012,chord=1"),
];

/// Reads a shape from text such as `sphere`, `box:size=1x2x0.5` or `naca:2412`; see
/// [`SHAPES`] for each one's grammar. What this accepts, `surface` can build.
///
/// # Errors
/// An unknown name or key (the nearest valid one and all of them are named), text that does
/// not follow the grammar, or values that make no shape.
pub fn parse_shape(text: &str) -> Result<AnyShape, ShapeError> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let name = name.trim().to_ascii_lowercase();
    let Some(&(shape, grammar)) = SHAPES.iter().find(|(n, _)| *n == name) else {
        let names: Vec<&str> = SHAPES.iter().map(|s| s.0).collect();
        return Err(ShapeError::UnknownShape {
            nearest: nearest(&name, &names),
            all: names.join(", "),
            name,
        });
    };
    let parsed = match shape {
        "polygon" => AnyShape::D2(polygon(rest, grammar)?),
        _ => build(&mut Items::new(shape, grammar, rest)?)?,
    };
    // The coarsest surface: every check on the values, next to no work.
    match &parsed {
        AnyShape::D2(s) => s.surface(f64::MAX).map(|_| ())?,
        AnyShape::D3(s) => s.surface(f64::MAX).map(|_| ())?,
    }
    Ok(parsed)
}

fn build(items: &mut Items<'_>) -> Result<AnyShape, ShapeError> {
    const R: &[&str] = &["r", "radius"];
    const D: &[&str] = &["d", "diameter"];
    const H: &[&str] = &["h", "height"];
    let shape = match items.shape {
        "sphere" | "circle" => {
            items.allow(&[R, D])?;
            let [radius] = items.radii(R, D)?.unwrap_or([0.5]);
            if items.shape == "circle" {
                AnyShape::D2(Shape2::Circle { radius })
            } else {
                AnyShape::D3(Shape3::Sphere { radius })
            }
        }
        "ellipsoid" => {
            items.allow(&[R, D])?;
            let radii = items.radii(R, D)?.unwrap_or([0.5, 0.25, 0.25]);
            AnyShape::D3(Shape3::Ellipsoid { radii })
        }
        "ellipse" => {
            items.allow(&[R, D])?;
            let radii = items.radii(R, D)?.unwrap_or([0.5, 0.25]);
            AnyShape::D2(Shape2::Ellipse { radii })
        }
        "box" => {
            items.allow(&[&["size"]])?;
            let size = items.numbers(&["size"])?.unwrap_or([1.0; 3]);
            AnyShape::D3(Shape3::Box { size })
        }
        "rectangle" => {
            items.allow(&[&["size"]])?;
            let size = items.numbers(&["size"])?.unwrap_or([1.0; 2]);
            AnyShape::D2(Shape2::Rectangle { size })
        }
        "cylinder" | "cone" | "capsule" => {
            items.allow(&[R, D, H])?;
            let slender = if items.shape == "capsule" { 4.0 } else { 2.0 };
            let radius = items.radii(R, D)?.map(|[r]| r);
            let height = items.numbers(H)?.map(|[h]| h);
            let (radius, height) = pair(radius, height, slender, 1.0 / slender);
            AnyShape::D3(match items.shape {
                "cylinder" => Shape3::Cylinder { radius, height },
                "cone" => Shape3::Cone { radius, height },
                _ => Shape3::Capsule { radius, height },
            })
        }
        "torus" => {
            const MAJOR: [&[&str]; 2] = [&["R", "major"], &["D"]];
            const MINOR: [&[&str]; 2] = [&["r", "minor"], &["d"]];
            items.allow(&[MAJOR[0], MINOR[0], MAJOR[1], MINOR[1]])?;
            let major = items.radii(MAJOR[0], MAJOR[1])?.map(|[r]| r);
            let minor = items.radii(MINOR[0], MINOR[1])?.map(|[r]| r);
            let (minor, major) = pair(minor, major, 3.0, 0.125);
            AnyShape::D3(Shape3::Torus { major, minor })
        }
        "wing" => {
            items.allow(&[&["digits"], &["chord"], &["span"]])?;
            let digits = items.digits()?;
            let [chord] = items.numbers(&["chord"])?.unwrap_or([1.0]);
            let [span] = items.numbers(&["span"])?.unwrap_or([chord]);
            AnyShape::D3(Shape3::NacaWing {
                digits,
                chord,
                span,
            })
        }
        "ahmed" => {
            items.allow(&[&["slant", "angle"], &["length"], &["clearance"]])?;
            let [slant] = items
                .numbers(&["slant", "angle"])?
                .unwrap_or([ahmed::DEFAULT_ANGLE]);
            let length = items.numbers(&["length"])?;
            let [length] = length.unwrap_or([ahmed::DEFAULT_LENGTH]);
            let clearance = items.numbers(&["clearance"])?;
            let [clearance] = clearance.unwrap_or([ahmed::CLEARANCE * ahmed::scale(length)]);
            AnyShape::D3(Shape3::Ahmed {
                length,
                slant,
                clearance,
            })
        }
        _ => {
            items.allow(&[&["digits"], &["chord"]])?;
            let digits = items.digits()?;
            let [chord] = items.numbers(&["chord"])?.unwrap_or([1.0]);
            AnyShape::D2(Shape2::Naca { digits, chord })
        }
    };
    Ok(shape)
}

/// Two lengths, the second `ratio` times the first by default.
fn pair(first: Option<f64>, second: Option<f64>, ratio: f64, default: f64) -> (f64, f64) {
    match (first, second) {
        (Some(a), Some(b)) => (a, b),
        (Some(a), None) => (a, a * ratio),
        (None, Some(b)) => (b / ratio, b),
        (None, None) => (default, default * ratio),
    }
}

/// `key=value` items of one shape; a bare item has the key `digits`.
struct Items<'a> {
    shape: &'static str,
    grammar: &'static str,
    items: Vec<(&'a str, &'a str)>,
}

impl<'a> Items<'a> {
    fn new(shape: &'static str, grammar: &'static str, text: &'a str) -> Result<Self, ShapeError> {
        let mut new = Self {
            shape,
            grammar,
            items: Vec::new(),
        };
        if text.trim().is_empty() {
            return Ok(new);
        }
        let takes_digits = matches!(shape, "naca" | "wing");
        for item in text.split(',').map(str::trim) {
            let (key, value) = match item.split_once('=') {
                Some((key, value)) => (key.trim(), value.trim()),
                None if takes_digits => ("digits", item),
                None => return Err(new.syntax("an item needs the form key=value", item)),
            };
            if new.items.iter().any(|(k, _)| *k == key) {
                return Err(new.syntax("a key is given twice", item));
            }
            new.items.push((key, value));
        }
        Ok(new)
    }

    fn syntax(&self, reason: &'static str, text: &str) -> ShapeError {
        ShapeError::Syntax {
            shape: self.shape,
            reason,
            text: text.to_owned(),
            grammar: self.grammar,
        }
    }

    fn allow(&self, keys: &[&[&str]]) -> Result<(), ShapeError> {
        let keys = keys.concat();
        match self.items.iter().find(|(k, _)| !keys.contains(k)) {
            None => Ok(()),
            Some((key, _)) => Err(ShapeError::UnknownKey {
                shape: self.shape,
                key: (*key).to_owned(),
                nearest: nearest(key, &keys),
                grammar: self.grammar,
            }),
        }
    }

    fn value(&self, keys: &[&str]) -> Result<Option<&'a str>, ShapeError> {
        let mut found = self.items.iter().filter(|(k, _)| keys.contains(k));
        match (found.next(), found.next()) {
            (first, None) => Ok(first.map(|f| f.1)),
            (_, Some(second)) => Err(self.syntax("the same length is given twice", second.0)),
        }
    }

    /// N numbers joined by `x`; one number stands for N equal ones.
    fn numbers<const N: usize>(&self, keys: &[&str]) -> Result<Option<[f64; N]>, ShapeError> {
        let Some(text) = self.value(keys)? else {
            return Ok(None);
        };
        let numbers: Vec<f64> = text
            .split('x')
            .map(|t| t.trim().parse())
            .collect::<Result<_, _>>()
            .map_err(|_| self.syntax("not a number", text))?;
        match (numbers.as_slice(), numbers.as_slice().try_into()) {
            ([one], _) => Ok(Some([*one; N])),
            (_, Ok(all)) => Ok(Some(all)),
            _ => Err(self.syntax("wrong count of numbers joined by 'x'", text)),
        }
    }

    /// Radii, given as such or as diameters.
    fn radii<const N: usize>(
        &self,
        radius: &[&str],
        diameter: &[&str],
    ) -> Result<Option<[f64; N]>, ShapeError> {
        match (self.numbers(radius)?, self.numbers::<N>(diameter)?) {
            (radii, None) => Ok(radii),
            (None, Some(diameters)) => Ok(Some(diameters.map(|d| 0.5 * d))),
            (Some(_), Some(_)) => {
                Err(self.syntax("radius and diameter are both given", diameter[0]))
            }
        }
    }

    fn digits(&self) -> Result<[u8; 4], ShapeError> {
        let text = self.value(&["digits"])?.unwrap_or("0012");
        match <[u8; 4]>::try_from(text.as_bytes()) {
            Ok(bytes) if text.bytes().all(|b| b.is_ascii_digit()) => Ok(bytes.map(|b| b - b'0')),
            _ => Err(self.syntax("a section is four digits", text)),
        }
    }
}

fn polygon(text: &str, grammar: &'static str) -> Result<Shape2, ShapeError> {
    let syntax = |reason, text: &str| ShapeError::Syntax {
        shape: "polygon",
        reason,
        text: text.to_owned(),
        grammar,
    };
    let text = text.trim();
    let list = text.strip_prefix("points=").unwrap_or(text);
    if list.is_empty() {
        return Err(syntax("points are missing", text));
    }
    let points = list
        .split(';')
        .map(|point| {
            let (x, y) = point
                .split_once(',')
                .ok_or_else(|| syntax("a point needs the form x,y", point))?;
            let number = |t: &str| {
                t.trim()
                    .parse::<f64>()
                    .map_err(|_| syntax("not a number", point))
            };
            Ok([number(x)?, number(y)?])
        })
        .collect::<Result<_, _>>()?;
    Ok(Shape2::Polygon { points })
}

/// The candidate of the least edit distance, the first among equals.
fn nearest(text: &str, candidates: &[&str]) -> String {
    candidates
        .iter()
        .min_by_key(|c| edit_distance(text, c))
        .map_or_else(String::new, ToString::to_string)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let replaced = diagonal + usize::from(x != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

impl AnyShape {
    /// The name that [`parse_shape`] knows it by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::D2(s) => s.name(),
            Self::D3(s) => s.name(),
        }
    }
}

/// Numbers joined by `x`.
struct Times<'a>(&'a [f64]);

impl fmt::Display for Times<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, x) in self.0.iter().enumerate() {
            let joint = if i == 0 { "" } else { "x" };
            write!(f, "{joint}{x}")?;
        }
        Ok(())
    }
}

impl fmt::Display for AnyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::D2(s) => s.fmt(f),
            Self::D3(s) => s.fmt(f),
        }
    }
}

impl fmt::Display for Shape2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.name())?;
        match self {
            Self::Circle { radius } => write!(f, "r={radius}"),
            Self::Ellipse { radii } => write!(f, "r={}", Times(radii)),
            Self::Rectangle { size } => write!(f, "size={}", Times(size)),
            Self::Polygon { points } => {
                for (i, [x, y]) in points.iter().enumerate() {
                    let joint = if i == 0 { "" } else { ";" };
                    write!(f, "{joint}{x},{y}")?;
                }
                Ok(())
            }
            Self::Naca { digits, chord } => {
                write!(f, "{},chord={chord}", digits_text(*digits))
            }
        }
    }
}

impl fmt::Display for Shape3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.name())?;
        match self {
            Self::Sphere { radius } => write!(f, "r={radius}"),
            Self::Ellipsoid { radii } => write!(f, "r={}", Times(radii)),
            Self::Box { size } => write!(f, "size={}", Times(size)),
            Self::Cylinder { radius, height }
            | Self::Cone { radius, height }
            | Self::Capsule { radius, height } => write!(f, "r={radius},h={height}"),
            Self::Torus { major, minor } => write!(f, "R={major},r={minor}"),
            Self::NacaWing {
                digits,
                chord,
                span,
            } => write!(f, "{},chord={chord},span={span}", digits_text(*digits)),
            Self::Ahmed {
                length,
                slant,
                clearance,
            } => write!(f, "slant={slant},length={length},clearance={clearance}"),
        }
    }
}
