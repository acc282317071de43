//! Areas of patches.

use crate::{Surface, snap::Snapped};

impl<const D: usize> Surface<D> {
    /// The area of each patch (2D: its length), in square lengths of the surface. Facets that lie on one another count
    /// each. Cost: one pass over the facets, in their order.
    pub fn patch_areas(&self) -> Vec<f64> {
        let mut areas = vec![0.0; self.patches.len()];
        for f in 0..self.facets.len() {
            areas[usize::from(self.patch_of(f))] += size(&self.corners(f));
        }
        areas
    }
}

impl<const D: usize> Snapped<D> {
    /// The area of each patch (2D: its length), caps included, in square lengths. Cost: one pass over the facets.
    pub fn patch_areas(&self) -> Vec<f64> {
        let mut areas = vec![0.0; self.patches.len()];
        let unit = self.lattice.unit;
        for (f, facet) in self.facets.iter().enumerate() {
            let corners = facet.map(|v| self.vertices[v as usize].map(|x| unit * f64::from(x)));
            let patch = self.facet_patch.get(f).copied().unwrap_or(0);
            areas[usize::from(patch)] += size(&corners);
        }
        areas
    }
}

/// Area of a triangle, length of a segment.
fn size<const D: usize>(corners: &[[f64; D]; D]) -> f64 {
    let from_first =
        |k: usize| -> [f64; D] { std::array::from_fn(|a| corners[k % D][a] - corners[0][a]) };
    let dot = |u: [f64; D], v: [f64; D]| (0..D).map(|a| u[a] * v[a]).sum::<f64>();
    let u = from_first(1);
    if D == 2 {
        return dot(u, u).sqrt();
    }
    // The cross product, not Lagrange's identity, which cancels for slivers.
    let v = from_first(2);
    let cross = |a: usize, b: usize| (u[a % D] * v[b % D] - u[b % D] * v[a % D]).powi(2);
    0.5 * (cross(0, 1) + cross(1, 2) + cross(2, 0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snap::{SnapLattice, snap};

    #[test]
    fn areas_and_lengths_are_those_of_the_patches() {
        let mut steps = Surface::single_patch(
            vec![
                [0.0, 0.0, 0.0],
                [3.0, 0.0, 0.0],
                [0.0, 4.0, 0.0],
                [0.0, 0.0, 1.0],
            ],
            vec![[0, 1, 2], [0, 1, 3], [0, 2, 3]],
            "floor",
        );
        steps.patches.push("sides".into());
        steps.facet_patch = vec![0, 1, 1];
        assert_eq!(steps.patch_areas(), [6.0, 1.5 + 2.0]);
        let lattice = SnapLattice {
            origin: [0.0; 3],
            unit: 0.25,
        };
        let snapped = snap(&steps, lattice).expect("near");
        assert_eq!(snapped.patch_areas(), [6.0, 3.5]);
        let lines = Surface::single_patch(vec![[0.0, 0.0], [3.0, 4.0]], vec![[0, 1]], "line");
        assert_eq!(lines.patch_areas(), [5.0]);
    }
}
