//! What one population of one cell becomes by streaming: from a neighbour, a wall or a face.

use super::{
    moments::Moments,
    order::{Order, Toward},
};
use crate::{
    constants::{
        self, condition,
        scheme::{BOUNCE_BACK, CENTRAL_FROM, LINEAR, LOCAL},
    },
    lattice::{Lattice, opposite},
    profile,
    storage::Storage,
    tables::{At, Level, Links, Rule},
};
use cutlink_amr::{OUTSIDE, dims};
use cutlink_device::{Host, Real};
use std::marker::PhantomData;

/// A level and its populations after collision.
pub(super) struct View<'a, const D: usize, L, S> {
    pub(super) level: &'a Level<D, Host>,
    pub(super) from: &'a [S],
    pub(super) lattice: PhantomData<L>,
}

/// What lies a step away.
pub(super) enum Next<const D: usize> {
    Cell(At<D>),
    /// No cell of this level.
    End,
    /// Beyond the box.
    Outside,
}

/// The fluid cells that a wall's scheme takes populations from, besides the cell at the wall.
pub(super) enum Behind<const D: usize> {
    /// Bounce-back.
    None,
    /// Linear.
    One(At<D>),
    /// Central linear interpolation; linear near the wall.
    Central(At<D>),
    /// Quadratic.
    Two(At<D>, At<D>),
}

impl<const D: usize> Behind<D> {
    /// Weight of the wall's velocity relative to that of bounce-back (Bouzidi et al. 2001, eq. 5 and 14; Ginzburg et al. 2008,
    /// §5.2).
    pub(super) fn share(&self, q: f64) -> f64 {
        match self {
            Self::Central(_) if q >= CENTRAL_FROM => 2.0 / (1.0 + 2.0 * q),
            Self::One(_) if q >= 0.5 => 0.5 / q,
            Self::Two(..) if q >= 0.5 => 1.0 / (q * (2.0 * q + 1.0)),
            _ => 1.0,
        }
    }
}

/// A velocity as a step of so many dimensions.
#[inline]
pub(super) fn velocity<const D: usize, L: Lattice>(q: usize) -> [i32; D] {
    *L::C[q]
        .first_chunk()
        .expect("a lattice should have no more than three dimensions")
}

/// Density less 1 and momentum of a cell, the acceleration's share apart.
#[inline]
pub(super) fn sums<const D: usize, L: Lattice, S: Storage>(
    from: &[S],
    slot: usize,
    cell: usize,
) -> (S::Real, [S::Real; D]) {
    let none = S::Real::of(0.0);
    let (mut rho, mut j) = (none, [none; D]);
    for q in 0..L::Q {
        let f = from[slot * L::Q * dims::cells(D) + Order::<L>::of(q, cell)].load();
        rho += f;
        for a in 0..D {
            j[a] += S::Real::of(f64::from(L::C[q][a])) * f;
        }
    }
    (rho, j)
}

impl<const D: usize, L: Lattice, T: Real, S: Storage<Real = T>> View<'_, D, L, S> {
    pub(super) fn f(&self, at: At<D>, q: usize) -> T {
        self.from[at.slot * L::Q * dims::cells(D) + Order::<L>::of(q, at.cell())].load()
    }

    pub(super) fn is_solid(&self, at: At<D>) -> bool {
        self.level.solid[at.slot] >> at.cell() & 1 == 1
    }

    pub(super) fn next(&self, at: At<D>, step: [i32; D]) -> Next<D> {
        match self.level.step_from(at, step) {
            (OUTSIDE, _) => Next::Outside,
            (slot, to) if (slot as usize) < self.level.slots => Next::Cell(to),
            _ => Next::End,
        }
    }

    /// The fluid cell a step away, if there is one.
    pub(super) fn fluid(&self, at: At<D>, step: [i32; D]) -> Option<At<D>> {
        match self.next(at, step) {
            Next::Cell(next) if !self.is_solid(next) => Some(next),
            _ => None,
        }
    }

    pub(super) fn links(&self, at: At<D>) -> Links {
        self.level.links(at)
    }

    /// Density less 1 and velocity of a cell.
    pub(super) fn moments(&self, at: At<D>) -> (T, [T; D]) {
        let (rho, j) = sums::<D, L, S>(self.from, at.slot, at.cell());
        let inverse = T::of(1.0) / (T::of(1.0) + rho);
        (rho, j.map(|j| j * inverse))
    }

    /// Population `q` of a cell a step later, before collision.
    pub(super) fn pull(&self, at: At<D>, q: usize, links: Links, moments: &mut Moments<D, T>) -> T {
        if q == 0 {
            return self.f(at, 0);
        }
        let back = opposite(q);
        let step = velocity::<D, L>(back);
        if let Some(link) = links.place(Toward::<L>::DIRECTION[back]) {
            let wall = &self.level.rules[2 * D + usize::from(self.level.patch[link])];
            if self.leaves(at, step)
                && wall.kind == condition::WALL
                && !wall.moves()
                && let Some(value) = self.beside_wall(at, q, step, moments)
            {
                return value;
            }
            return self.returned(at, back, link, links, moments);
        }
        match self.next(at, step) {
            Next::Cell(next) if !self.is_solid(next) => self.f(next, q),
            Next::Cell(_) => self.f(at, back),
            Next::End => self.f(at, q),
            Next::Outside => self.face(at, q, step, moments),
        }
    }

    /// The population that a cut link reflects, which the population `k` has left on.
    pub(super) fn returned(
        &self,
        at: At<D>,
        k: usize,
        link: usize,
        links: Links,
        moments: &mut Moments<D, T>,
    ) -> T {
        let rule = &self.level.rules[2 * D + usize::from(self.level.patch[link])];
        let out = self.f(at, k);
        if rule.kind == condition::PRESSURE {
            return self.open(at, k, out, self.density_at(at, k, rule), moments);
        }
        let (value, share) = self.reflected(at, k, link, links, rule);
        let q = f64::from(self.level.q[link]);
        value - T::of(share * self.wall(at, k, q, rule, moments))
    }

    /// What a wall reflects of the population `k` as if it were at rest, and the weight of its velocity relative to that of
    /// bounce-back.
    pub(super) fn reflected(
        &self,
        at: At<D>,
        k: usize,
        link: usize,
        links: Links,
        rule: &Rule,
    ) -> (T, f64) {
        let (out, q) = (self.f(at, k), f64::from(self.level.q[link]));
        let back = opposite(k);
        let behind = self.behind(at, k, links, rule.scheme);
        let share = behind.share(q);
        let of = |value: f64| T::of(value);
        let value = match behind {
            Behind::None => out,
            Behind::Central(inner) if q >= CENTRAL_FROM => {
                out + of(share - 1.0) * (self.f(inner, k) - self.f(at, back))
            }
            Behind::One(inner) | Behind::Central(inner) if q < 0.5 => {
                of(2.0 * q) * out + of(1.0 - 2.0 * q) * self.f(inner, k)
            }
            Behind::One(_) | Behind::Central(_) => {
                of(share) * out + of(1.0 - share) * self.f(at, back)
            }
            Behind::Two(inner, second) if q < 0.5 => {
                of(q * (2.0 * q + 1.0)) * out + of(1.0 - 4.0 * q * q) * self.f(inner, k)
                    - of(q * (1.0 - 2.0 * q)) * self.f(second, k)
            }
            Behind::Two(inner, _) => {
                of(share) * out + of((2.0 * q - 1.0) / q) * self.f(at, back)
                    - of((2.0 * q - 1.0) / (2.0 * q + 1.0)) * self.f(inner, back)
            }
        };
        (value, share)
    }

    /// The cells behind one whose link along `k` is cut, as many as the wall's scheme takes.
    pub(super) fn behind(&self, at: At<D>, k: usize, links: Links, scheme: u32) -> Behind<D> {
        let back = opposite(k);
        let step = velocity::<D, L>(back);
        let further = |at: At<D>, links: Links| match links.place(Toward::<L>::DIRECTION[back]) {
            Some(_) => None,
            None => self.fluid(at, step),
        };
        if scheme == BOUNCE_BACK {
            return Behind::None;
        }
        let Some(inner) = further(at, links) else {
            return Behind::None;
        };
        match scheme {
            LINEAR => return Behind::One(inner),
            LOCAL => return Behind::Central(inner),
            _ => {}
        }
        further(inner, self.links(inner))
            .map_or(Behind::One(inner), |second| Behind::Two(inner, second))
    }

    /// The cut point of a link, in root cells from the lower corner.
    pub(super) fn cut(&self, at: At<D>, k: usize, q: f64) -> [f64; 3] {
        let point = self.level.point(at, velocity::<D, L>(k), q);
        std::array::from_fn(|a| point.get(a).copied().unwrap_or(0.0))
    }

    /// The velocity of a wall where it cuts a link.
    pub(super) fn velocity_at(&self, at: At<D>, k: usize, q: f64, rule: &Rule) -> [f64; 3] {
        let mut u = rule.velocity;
        if rule.profile != 0 {
            let first = self.profiled(at, k, rule);
            (0..D).for_each(|a| u[a] *= self.level.profile[first + a]);
        }
        if rule.omega != [0.0; 3] {
            let [x, o] = [self.cut(at, k, q), rule.omega];
            u[0] += o[1] * x[2] - o[2] * x[1];
            u[1] += o[2] * x[0] - o[0] * x[2];
            u[2] += o[0] * x[1] - o[1] * x[0];
        }
        u
    }

    /// The density of an open boundary where a link along `k` crosses it; of a face with ghost cells, `k` is 0.
    pub(super) fn density_at(&self, at: At<D>, k: usize, rule: &Rule) -> f64 {
        match rule.profile {
            0 => rule.density,
            _ => 1.0 + rule.density * self.level.profile[self.profiled(at, k, rule)],
        }
    }

    /// Where the profile's values of a link are, or in a face those beside the middle of a cell, for `k` 0.
    fn profiled(&self, at: At<D>, k: usize, rule: &Rule) -> usize {
        let place = if rule.profile == constants::profile::BY_LINK {
            let link = self.links(at).place(Toward::<L>::DIRECTION[k]);
            self.level.profile_link[link.expect("a link with a profile should be cut")] as usize
        } else {
            let face = (rule.profile - constants::profile::BY_FACE) as usize;
            let first = self.level.profile_face[2 * D * at.slot + face] as usize;
            first + profile::of_face(face / 2, at.local, velocity::<D, L>(k))
        };
        D * place
    }

    /// The velocity of the wall that cuts a link.
    pub(super) fn wall_velocity(&self, at: At<D>, k: usize, link: usize) -> [f64; 3] {
        let rule = &self.level.rules[2 * D + usize::from(self.level.patch[link])];
        self.velocity_at(at, k, f64::from(self.level.q[link]), rule)
    }

    /// c·u.
    pub(super) fn along(k: usize, u: &[f64; 3]) -> f64 {
        (0..D).map(|a| f64::from(L::C[k][a]) * u[a]).sum()
    }

    /// What a moving wall takes from a reflected population: 6 w ρ c·u, with the density of the
    /// cell (Ladd 1994, eq. 3.3).
    pub(super) fn wall(
        &self,
        at: At<D>,
        k: usize,
        q: f64,
        rule: &Rule,
        moments: &mut Moments<D, T>,
    ) -> f64 {
        if !rule.moves() {
            return 0.0;
        }
        let (rho, _) = self.moments_near(at, [0; D], at, moments);
        let u = self.velocity_at(at, k, q, rule);
        6.0 * L::W[k] * (1.0 + rho.wide()) * Self::along(k, &u)
    }

    /// Anti-bounce-back at an open boundary of given density.
    fn open(&self, at: At<D>, k: usize, out: T, density: f64, moments: &mut Moments<D, T>) -> T {
        let (_, u) = self.moments_near(at, [0; D], at, moments);
        let (mut along, mut square) = (T::of(0.0), T::of(0.0));
        for a in 0..D {
            along += u[a] * T::of(f64::from(L::C[k][a]));
            square += u[a] * u[a];
        }
        let even = T::of(density) * (T::of(4.5) * along * along - T::of(1.5) * square);
        T::of(2.0 * L::W[k]) * (T::of(density - 1.0) + even) - out
    }
}
