//! Invariants of a bed.

use crate::Bed;
use crate::kernels::cpu::pairs::apart;
use crate::kernels::{APART, BLOCK};
use crate::vec3::{dot, norm, sub};

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BedViolation {
    /// Arrays whose lengths do not fit one another.
    #[error("{what} has {got} elements, not {expected}")]
    Length {
        /// The array.
        what: &'static str,
        /// Its length.
        got: usize,
        /// What it should be.
        expected: usize,
    },
    /// An id twice, or beyond the grains.
    #[error("id {id} is not that of one grain")]
    Id {
        /// The id.
        id: u32,
    },
    /// A row of candidates that is not ascending, or has a lower grain.
    #[error("the candidates of grain {row} are not above it and ascending")]
    Row {
        /// The lower grain, in sorted order.
        row: usize,
    },
    /// A pair that its rows by the higher grain do not have.
    #[error("pair {pair} is not in the row of its higher grain")]
    Back {
        /// The pair.
        pair: usize,
    },
    /// A pair that touches without a place, or has a place and does not touch.
    #[error("grains {first} and {second} are {gap} m apart, and are kept as {kept}")]
    Touch {
        /// Id of the first.
        first: u32,
        /// Id of the second.
        second: u32,
        /// Their distance, negative where they overlap.
        gap: f64,
        /// How they are kept.
        kept: &'static str,
    },
    /// Grains that touch and are no candidates, or that moved by more than half a skin since candidates were made.
    #[error("grain {id} is {distance} m from where candidates were made: the skin allows {most}")]
    Stale {
        /// Its id.
        id: u32,
        /// The distance.
        distance: f64,
        /// The largest one.
        most: f64,
    },
    /// A number of the state that is not finite.
    #[error("grain {id} has a place, velocity, force or torque that is not finite")]
    NotFinite {
        /// Its id.
        id: u32,
    },
}

impl Bed {
    /// Checks every invariant of the arrays; not whether candidates are complete, which takes all pairs. Cost: a step.
    ///
    /// # Errors
    /// The first violation.
    pub fn validate(&self) -> Result<(), BedViolation> {
        self.lengths()?;
        let (g, p, n) = (&self.grains, &self.contacts.pairs, self.len());
        let mut seen = vec![false; n];
        for &id in &g.id {
            match seen.get_mut(id as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(BedViolation::Id { id }),
            }
        }
        for i in 0..n {
            let id = g.id[i];
            let vectors = [g.x[i], g.v[i], g.w[i], g.f[i], g.t[i]];
            if !vectors.iter().flatten().all(|x| x.is_finite()) {
                return Err(BedViolation::NotFinite { id });
            }
            let distance = norm(sub(g.x[i], g.x_sorted[i]));
            let most = 0.5 * self.skin * (1.0 + 1e-12);
            if distance > most {
                return Err(BedViolation::Stale { id, distance, most });
            }
            let row = &p.other[p.first[i] as usize..p.first[i + 1] as usize];
            let above = row.first().is_none_or(|j| *j as usize > i);
            let inside = row.last().is_none_or(|j| (*j as usize) < n);
            if !above || !inside || row.windows(2).any(|w| w[0] >= w[1]) {
                return Err(BedViolation::Row { row: i });
            }
        }
        self.backwards()?;
        self.touches()
    }

    fn lengths(&self) -> Result<(), BedViolation> {
        let (g, p, n) = (&self.grains, &self.contacts.pairs, self.len());
        let pairs = p.first.last().copied().unwrap_or(0) as usize;
        let rolls = if self.params.materials.has_rolling() {
            pairs
        } else {
            0
        };
        let walls = self.contacts.wall_first.last().copied().unwrap_or(0) as usize;
        for (what, got, expected) in [
            ("velocities", g.v.len(), n),
            ("spins", g.w.len(), n),
            ("forces", g.f.len(), n),
            ("torques", g.t.len(), n),
            ("radii", g.r.len(), n),
            ("masses", g.m.len(), n),
            ("ids", g.id.len(), n),
            ("materials", g.material.len(), n),
            ("sorted places", g.x_sorted.len(), n),
            ("rows of pairs", p.first.len(), n + 1),
            ("pairs", p.other.len(), pairs),
            ("histories", p.slide.len(), pairs),
            ("rolling angles", p.roll.len(), rolls),
            ("places of pairs", p.place.len(), pairs),
            ("rows by the higher grain", p.back_first.len(), n + 1),
            ("pairs by the higher grain", p.back.len(), pairs),
            ("rows of walls", self.contacts.wall_first.len(), n + 1),
            ("walls", self.contacts.wall.len(), walls),
            ("blocks", self.contacts.walls.len(), n.div_ceil(BLOCK)),
        ] {
            if got != expected {
                return Err(BedViolation::Length {
                    what,
                    got,
                    expected,
                });
            }
        }
        Ok(())
    }

    fn backwards(&self) -> Result<(), BedViolation> {
        let p = &self.contacts.pairs;
        for j in 0..self.len() {
            for &q in &p.back[p.back_first[j] as usize..p.back_first[j + 1] as usize] {
                if p.other.get(q as usize) != Some(&(j as u32)) {
                    return Err(BedViolation::Back { pair: q as usize });
                }
            }
        }
        Ok(())
    }

    fn touches(&self) -> Result<(), BedViolation> {
        let (g, p) = (&self.grains, &self.contacts.pairs);
        for i in 0..self.len() {
            for q in p.first[i] as usize..p.first[i + 1] as usize {
                let j = p.other[q] as usize;
                let d = apart(g.x[i], g.x[j], &self.periods);
                let reach = g.r[i] + g.r[j];
                let touches = dot(d, d) < reach * reach;
                let is_clear = p.slide[q] == [0.0; 3];
                let kept = match (touches, p.place[q] != APART) {
                    (true, false) => "apart",
                    (false, true) => "touching",
                    (false, false) if !is_clear => "apart, with a history",
                    _ => continue,
                };
                return Err(BedViolation::Touch {
                    first: g.id[i],
                    second: g.id[j],
                    gap: norm(d) - reach,
                    kept,
                });
            }
        }
        Ok(())
    }
}
