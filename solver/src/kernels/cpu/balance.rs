//! Mass that walls put into cells (decision 046).

use super::{
    cell::{View, velocity},
    order::Toward,
};
use crate::{
    constants::{balance, condition, scheme},
    lattice::{Lattice, opposite},
    storage::Storage,
    tables::{At, Rule},
};
use cutlink_device::Real;

impl Rule {
    /// Whether this is a wall whose cells keep their mass; `which` is one of [`balance`].
    pub(super) fn conserves(&self, which: u32) -> bool {
        let turns =
            self.omega != [0.0; 3] && self.profile == 0 && self.scheme == scheme::BOUNCE_BACK;
        self.kind == condition::WALL
            && (which == balance::ALL || (which == balance::TURNING && turns))
    }
}

impl<const D: usize, L: Lattice, T: Real, S: Storage<Real = T>> View<'_, D, L, S> {
    /// How many ends of the box a cell is beside.
    pub(super) fn ends_beside(&self, at: At<D>) -> usize {
        let along = |n: usize| {
            let mut step = [0; D];
            step[n / 2] = 2 * (n % 2) as i32 - 1;
            self.leaves(at, step)
        };
        (0..2 * D).filter(|&n| along(n)).count()
    }

    /// The volume at density 1 that the motion of a wall displaces along a link: that of a rigid body halfway along it, so that a closed
    /// wall displaces nothing.
    pub(super) fn displaced(&self, at: At<D>, k: usize, rule: &Rule) -> f64 {
        let u = self.velocity_at(at, k, 0.5, rule);
        -(6.0 * L::W[k] * Self::along(k, &u))
    }

    /// What the walls of a cell have put into it by the populations that have arrived, beyond what their motion displaces.
    pub(super) fn surplus(&self, at: At<D>, which: u32, arrived: impl Fn(usize) -> T) -> f64 {
        let links = self.links(at);
        let mut sum = 0.0;
        for q in 1..L::Q {
            let k = opposite(q);
            let step = velocity::<D, L>(k);
            let rule = match links.place(Toward::<L>::DIRECTION[k]) {
                Some(link) => &self.level.rules[2 * D + usize::from(self.level.patch[link])],
                None if self.leaves(at, step) => match self.face_wall(at, step) {
                    Some(rule) => rule,
                    None => continue,
                },
                None => continue,
            };
            if rule.conserves(which) {
                sum += (arrived(q) - self.f(at, k)).wide() - self.displaced(at, k, rule);
            }
        }
        sum
    }
}
