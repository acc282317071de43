//! The report as text.

use super::{EdgeKind, EdgeSample, Health};
use std::fmt;

impl fmt::Display for EdgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Flipped => "flipped",
            // One term for what the summary counts under one.
            Self::Odd | Self::Nonmanifold => "non-manifold",
        })
    }
}

/// `(1.0, 2.5, -3e-7)`, nine significant digits: enough to find a place in a viewer.
struct Point<'a>(&'a [f64]);

impl fmt::Display for Point<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, x) in self.0.iter().enumerate() {
            let rounded = format!("{x:.8e}").parse().unwrap_or(*x);
            write!(f, "{}{rounded:?}", if i == 0 { "(" } else { ", " })?;
        }
        f.write_str(")")
    }
}

impl<const D: usize> fmt::Display for EdgeSample<D> {
    /// `open edge (0.0, 0.0, 0.0) to (1.0, 0.0, 0.0), facet 3`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if D == 2 { "vertex" } else { "edge" };
        write!(f, "{} {noun} ", self.kind)?;
        for (i, p) in self.at.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { " to " }, Point(p))?;
        }
        let facets: Vec<String> = self.facets.iter().map(ToString::to_string).collect();
        let uses = u64::from(self.forward) + u64::from(self.backward);
        let more = if uses > facets.len() as u64 {
            ", …"
        } else {
            ""
        };
        let s = if uses == 1 { "" } else { "s" };
        write!(f, ", facet{s} {}{more}", facets.join(", "))
    }
}

impl<const D: usize> fmt::Display for Health<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = if D == 2 {
            ["segments", "vertices", "length", "area"]
        } else {
            ["triangles", "edges", "area", "volume"]
        };
        writeln!(
            f,
            "{} {}, {} vertices, {} component{}",
            self.facets,
            words[0],
            self.vertices,
            self.components,
            if self.components == 1 { "" } else { "s" }
        )?;
        let [lower, upper] = &self.bounds;
        writeln!(f, "box {} to {}", Point(lower), Point(upper))?;
        writeln!(
            f,
            "{} {:.6e}, {} {:.6e}",
            words[2], self.area, words[3], self.volume
        )?;
        let verdict = match (self.facets, self.closed(), self.consistent()) {
            (0, ..) => "empty",
            (_, true, _) if self.inward => "closed, all facets inward",
            (_, true, _) => "closed, consistently oriented",
            (_, false, true) => "open",
            (_, false, false) if self.closed_evenodd() => "closed, but not consistently oriented",
            (_, false, false) => "open, and not consistently oriented",
        };
        write!(f, "{verdict}")?;
        let facets = words[0];
        let edges = words[1];
        let counts = [
            (self.open_edges, "open", edges),
            (self.flipped_edges, "flipped", edges),
            (self.nonmanifold_edges, "non-manifold", edges),
            (self.degenerate_facets, "degenerate", facets),
            (self.duplicate_facets, "duplicate", facets),
        ];
        for (i, (n, what, noun)) in counts.iter().filter(|c| c.0 > 0).enumerate() {
            write!(f, "{} {n} {what} {noun}", if i == 0 { ":" } else { "," })?;
        }
        for sample in &self.samples {
            write!(f, "\n  {sample}")?;
        }
        Ok(())
    }
}
