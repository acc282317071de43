//! From vertices, polygons and names of groups and materials to a surface, for formats with indexed faces.
//!
//! Polygons become triangles: convex ones a fan from their first corner, others by ear clipping (Meisters 1975) in the
//! plane of their area vector. A polygon of more than [`MOST_CLIPPED`] corners, or one that meets itself, is a fan from
//! where clipping ends: its boundary is that of the polygon all the same, so that a closed surface stays closed.
//!
//! Patches: one a group. Where the faces of a group have several materials, it is one for each, `group/material`;
//! of a file with a single group, `material`.

use std::collections::HashMap;

use cutlink_device::memory;

use super::source::Source;
use super::stl_ascii::number;
use super::{DEFAULT_PATCH, Format, Loaded, ReadError, counted, loaded};
use crate::Surface;

/// Most corners of a polygon that is cut into ears; the cost is quadratic.
const MOST_CLIPPED: usize = 256;

/// Most triangles of a file whose objects are placed several times.
pub(super) const MOST_INSTANCED: u64 = 1 << 25;

/// Group and material of faces, as numbers that the reader chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Tag {
    pub(super) group: u32,
    pub(super) material: u32,
}

/// A surface under construction.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) vertices: Vec<[f64; 3]>,
    pub(super) facets: Vec<[u32; 3]>,
    /// Tags of facets, and how many follow one another with it.
    runs: Vec<(Tag, u64)>,
    /// Faces and strips of the file so far.
    pub(super) faces: u64,
    /// Faces with fewer than three different corners.
    flat: u64,
    corners: Vec<u32>,
}

impl Assembly {
    /// With room for this many vertices and facets.
    pub(super) fn with_room(
        source: Source<'_>,
        vertices: usize,
        facets: usize,
    ) -> Result<Self, ReadError> {
        let memory = |e| source.memory(e);
        Ok(Self {
            vertices: memory::with_capacity("its vertices", vertices).map_err(memory)?,
            facets: memory::with_capacity("its triangles", facets).map_err(memory)?,
            ..Self::default()
        })
    }

    /// Appends a polygon; its corners must be in range.
    pub(super) fn polygon(&mut self, corners: &[u32], tag: Tag) {
        self.faces += 1;
        let before = self.facets.len();
        if let &[a, b, c] = corners {
            if a != b && b != c && c != a {
                self.facets.push([a, b, c]);
            }
        } else {
            let mut ring = std::mem::take(&mut self.corners);
            ring.clear();
            ring.extend_from_slice(corners);
            ring.dedup();
            while ring.len() > 1 && ring.first() == ring.last() {
                ring.pop();
            }
            triangulate(&self.vertices, &mut ring, &mut self.facets);
            self.corners = ring;
        }
        self.tag(before, tag);
    }

    /// Appends a strip: every corner after the second makes a triangle, every second one is turned round; a triangle
    /// that repeats a corner is a seam, and dropped.
    pub(super) fn strip(&mut self, corners: &[u32], tag: Tag) {
        self.faces += 1;
        let before = self.facets.len();
        for (i, window) in corners.windows(3).enumerate() {
            let [a, b, c] = [window[0], window[1], window[2]];
            if a != b && b != c && c != a {
                self.facets
                    .push(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
            }
        }
        self.tag(before, tag);
    }

    fn tag(&mut self, before: usize, tag: Tag) {
        let added = (self.facets.len() - before) as u64;
        if added == 0 {
            self.flat += 1;
            return;
        }
        match self.runs.last_mut() {
            Some((last, len)) if *last == tag => *len += added,
            _ => self.runs.push((tag, added)),
        }
    }

    /// The surface; empty names are those of nameless groups and materials.
    pub(super) fn finish(
        self,
        source: Source<'_>,
        format: Format,
        groups: &[String],
        materials: &[String],
        mut notes: Vec<String>,
    ) -> Result<Loaded<3>, ReadError> {
        if self.facets.is_empty() {
            return Err(source.no_facets(format, "its faces have fewer than three corners"));
        }
        if self.flat > 0 {
            notes.push(format!(
                "skipped {} with fewer than three different corners",
                counted(self.flat, "face")
            ));
        }
        let names = names(&self.runs, groups, materials);
        let runs: Vec<(String, u64)> = self
            .runs
            .iter()
            .map(|(tag, len)| (names[tag].clone(), *len))
            .collect();
        let (patches, facet_patch) = number(&runs, &mut notes);
        let surface = Surface {
            vertices: self.vertices,
            facets: self.facets,
            facet_patch,
            patches,
        };
        Ok(loaded(surface, format, self.faces, notes))
    }
}

/// The patch of each tag.
fn names(runs: &[(Tag, u64)], groups: &[String], materials: &[String]) -> HashMap<Tag, String> {
    let name = |names: &[String], i: u32| names.get(i as usize).cloned().unwrap_or_default();
    // Several groups, or materials, of one name are one.
    let mut materials_of: HashMap<String, Vec<String>> = HashMap::new();
    let mut last = None;
    for &(tag, _) in runs {
        if last == Some(tag) {
            continue;
        }
        last = Some(tag);
        let material = name(materials, tag.material);
        let seen = materials_of.entry(name(groups, tag.group)).or_default();
        // Beyond two, which ones does not matter.
        if seen.len() < 2 && !seen.contains(&material) {
            seen.push(material);
        }
    }
    let one_group = materials_of.len() == 1;
    let of = |tag: Tag| {
        let (group, material) = (name(groups, tag.group), name(materials, tag.material));
        let several = materials_of.get(&group).is_some_and(|seen| seen.len() > 1);
        match (
            group.is_empty(),
            several && !material.is_empty(),
            material.is_empty(),
        ) {
            (true, _, false) => material,
            (true, _, true) => DEFAULT_PATCH.to_owned(),
            (false, true, _) if one_group => material,
            (false, true, _) => format!("{group}/{material}"),
            (false, false, _) => group,
        }
    };
    runs.iter().map(|&(tag, _)| (tag, of(tag))).collect()
}

/// Triangles of the polygon `ring`, whose corners are consumed.
fn triangulate(vertices: &[[f64; 3]], ring: &mut Vec<u32>, out: &mut Vec<[u32; 3]>) {
    if ring.len() < 3 {
        return;
    }
    if ring.len() > 3 && ring.len() <= MOST_CLIPPED {
        let flat = flatten(vertices, ring);
        let n = flat.len();
        let turn = |i: usize| area([flat[(i + n - 1) % n], flat[i], flat[(i + 1) % n]]);
        if !(0..n).all(|i| turn(i) >= 0.0) {
            clip(&flat, ring, out);
        }
    }
    for i in 1..ring.len().saturating_sub(1) {
        let facet = [ring[0], ring[i], ring[i + 1]];
        if facet[0] != facet[1] && facet[1] != facet[2] && facet[2] != facet[0] {
            out.push(facet);
        }
    }
}

/// The corners in the coordinate plane that sees most of the polygon's area vector (Newell's), counter-clockwise.
fn flatten(vertices: &[[f64; 3]], ring: &[u32]) -> Vec<[f64; 2]> {
    let at = |i: usize| vertices[ring[i % ring.len()] as usize];
    let origin = at(0);
    let from = |i: usize| {
        let p = at(i);
        [p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]]
    };
    let mut normal = [0.0; 3];
    for i in 0..ring.len() {
        let (p, q) = (from(i), from(i + 1));
        for a in 0..3 {
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            normal[a] += p[b] * q[c] - p[c] * q[b];
        }
    }
    let axis = (0..3).fold(0, |best, a| {
        if normal[a].abs() > normal[best].abs() {
            a
        } else {
            best
        }
    });
    let (mut b, mut c) = ((axis + 1) % 3, (axis + 2) % 3);
    if normal[axis] < 0.0 {
        (b, c) = (c, b);
    }
    (0..ring.len())
        .map(|i| {
            let p = from(i);
            [p[b], p[c]]
        })
        .collect()
}

/// Twice the signed area of a triangle.
fn area([a, b, c]: [[f64; 2]; 3]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Cuts ears off, until three corners are left in `ring` or no corner is an ear.
fn clip(flat: &[[f64; 2]], ring: &mut Vec<u32>, out: &mut Vec<[u32; 3]>) {
    let mut left: Vec<usize> = (0..ring.len()).collect();
    let (mut at, mut tried) = (0, 0);
    while left.len() > 3 && tried < left.len() {
        let n = left.len();
        at %= n;
        let ear = [left[(at + n - 1) % n], left[at], left[(at + 1) % n]];
        if is_ear(flat, &left, ear) {
            out.push(ear.map(|i| ring[i]));
            left.remove(at);
            // The next ear is looked for behind the next corner, so that triangles are no slivers of one fan.
            at += 1;
            tried = 0;
        } else {
            at += 1;
            tried += 1;
        }
    }
    *ring = left.into_iter().map(|i| ring[i]).collect();
}

fn is_ear(flat: &[[f64; 2]], left: &[usize], ear: [usize; 3]) -> bool {
    let [a, b, c] = ear.map(|i| flat[i]);
    if area([a, b, c]) <= 0.0 {
        return false;
    }
    left.iter().all(|&i| {
        let p = flat[i];
        let corner = ear.contains(&i) || p == a || p == b || p == c;
        corner || area([a, b, p]) < 0.0 || area([b, c, p]) < 0.0 || area([c, a, p]) < 0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangles(points: &[[f64; 3]]) -> Vec<[u32; 3]> {
        let mut ring: Vec<u32> = (0..points.len() as u32).collect();
        let mut out = Vec::new();
        triangulate(points, &mut ring, &mut out);
        out
    }

    fn areas(points: &[[f64; 3]], facets: &[[u32; 3]]) -> Vec<f64> {
        let flat = |i: u32| [points[i as usize][0], points[i as usize][1]];
        facets.iter().map(|f| area(f.map(flat)) / 2.0).collect()
    }

    #[test]
    fn a_concave_polygon_has_no_folds() {
        // An L of area 3, a comb of 60 teeth, and both seen from below.
        let l = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]
            .map(|p: [i32; 2]| [p[0].into(), p[1].into(), 0.0])
            .to_vec();
        let mut comb = vec![[60.0, 0.0, 5.0], [60.0, 2.0, 5.0]];
        for tooth in (0..60).rev() {
            let x = f64::from(tooth);
            comb.extend([[x + 0.5, 1.0, 5.0], [x, 2.0, 5.0]]);
        }
        comb.push([0.0, 0.0, 5.0]);
        // The strip of height 1, and 60 triangles of height 1 and base 1 on it.
        for (polygon, total) in [(l, 3.0), (comb, 60.0 + 30.0)] {
            let facets = triangles(&polygon);
            assert_eq!(facets.len(), polygon.len() - 2, "triangles");
            let each = areas(&polygon, &facets);
            assert!(each.iter().all(|&a| a > 0.0), "one orientation: {each:?}");
            assert!((each.iter().sum::<f64>() - total).abs() < 1e-12, "{each:?}");
            let below: Vec<[f64; 3]> = polygon.iter().rev().copied().collect();
            let each = areas(&below, &triangles(&below));
            assert!(each.iter().all(|&a| a < 0.0), "turned round: {each:?}");
        }
    }

    #[test]
    fn the_boundary_of_any_polygon_stays() {
        // A bow tie, and one beyond the limit: a fan from where clipping ends.
        let bow = vec![
            [0.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
        ];
        let mut large: Vec<[f64; 3]> = (0..1000).map(|i| [f64::from(i), 0.0, 0.0]).collect();
        large.extend(
            (0..1000)
                .rev()
                .map(|i| [f64::from(i), f64::from(i % 7), 1.0]),
        );
        for polygon in [bow, large] {
            let facets = triangles(&polygon);
            let mut net: HashMap<[u32; 2], i32> = HashMap::new();
            for f in &facets {
                for k in 0..3 {
                    let (a, b) = (f[k], f[(k + 1) % 3]);
                    *net.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
                }
            }
            net.retain(|_, n| *n != 0);
            assert_eq!(net.len(), polygon.len(), "the edges of the polygon");
        }
    }

    #[test]
    fn names_of_groups_and_materials() {
        let tag = |group, material| Tag { group, material };
        let text = |names: &[&str]| names.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let all = |runs: &[Tag], groups: &[&str], materials: &[&str]| -> Vec<String> {
            let runs: Vec<_> = runs.iter().map(|&tag| (tag, 1)).collect();
            let names = names(&runs, &text(groups), &text(materials));
            runs.iter().map(|(tag, _)| names[tag].clone()).collect()
        };
        let two = [tag(0, 0), tag(1, 0)];
        assert_eq!(all(&two, &["wing", "flap"], &["steel"]), ["wing", "flap"]);
        let both = [tag(0, 0), tag(0, 1), tag(1, 1)];
        assert_eq!(
            all(&both, &["wing", "flap"], &["steel", "glass"]),
            ["wing/steel", "wing/glass", "flap"]
        );
        assert_eq!(
            all(&both[..2], &["wing"], &["steel", "glass"]),
            ["steel", "glass"]
        );
        assert_eq!(
            all(&both, &["", ""], &["", "glass"]),
            ["body", "glass", "glass"]
        );
    }
}
