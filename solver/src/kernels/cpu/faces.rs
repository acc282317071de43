//! Populations that enter through the faces of the box.
//!
//! A wall at rest, or one that moves along itself in a closed box, bounces populations back. Every other face
//! has *ghost cells* one step outside. A ghost takes density, velocity and non-equilibrium from the cell inside
//! it came from along the face, so that a uniform flow in any direction is a steady state, and replaces what the condition
//! prescribes (non-equilibrium extrapolation: Guo, Zheng & Shi, Chin. Phys. 11 (2002) 366). Which part is taken from
//! where is what makes the faces linearly stable at any viscosity (decision 016).

use super::{
    cell::{Next, View, velocity},
    moments::{Moments, State},
    order::Toward,
};
use crate::{
    constants::{
        condition,
        opening::{ANCHOR, AT_REST, LEAVING, OUTFLOW_STRESS, PRESSURE_STRESS},
    },
    lattice::{Lattice, opposite},
    storage::Storage,
    tables::{At, Links, Rule},
};
use cutlink_amr::dims;
use cutlink_device::Real;

/// A face that a population enters through, once free-slip faces have mirrored it.
struct Entry<'a, const D: usize> {
    rule: &'a Rule,
    axis: usize,
    /// 1 for an upper face, else -1.
    outward: i32,
    /// The population as the ghost cell has it.
    q: usize,
    /// The cell that the population enters.
    at: At<D>,
    /// The cell inside that the ghost copies, a step `along` the face.
    inside: At<D>,
    along: [i32; D],
}

impl<const D: usize> Entry<'_, D> {
    /// Whether the population enters along the normal.
    fn is_straight<L: Lattice>(&self) -> bool {
        let c = velocity::<D, L>(self.q);
        (0..D).all(|a| a == self.axis || c[a] == 0)
    }
}

impl<const D: usize, L: Lattice, T: Real, S: Storage<Real = T>> View<'_, D, L, S> {
    /// The faces of the box that a step goes through, but periodic ones: axis, side (-1 or 1) and condition.
    fn crossed(&self, at: At<D>, step: [i32; D]) -> impl Iterator<Item = (usize, i32, &Rule)> {
        let block = self.level.coord[at.slot];
        (0..D).filter_map(move |a| {
            let side = match 4 * block[a] + at.local[a] + step[a] {
                to if to < 0 => 0,
                to if to >= self.level.extent[a] => 1,
                _ => return None,
            };
            let rule = &self.level.rules[2 * a + side];
            (rule.kind != condition::PERIODIC).then_some((a, 2 * side as i32 - 1, rule))
        })
    }

    /// The first face with a wall that a step goes through: of those in a corner, it alone counts.
    pub(super) fn face_wall(&self, at: At<D>, step: [i32; D]) -> Option<&Rule> {
        self.crossed(at, step)
            .map(|(.., rule)| rule)
            .find(|rule| rule.kind == condition::WALL)
    }

    /// Whether a step leaves the box.
    pub(super) fn leaves(&self, at: At<D>, step: [i32; D]) -> bool {
        matches!(self.next(at, step), Next::Outside)
    }

    /// Population `q` where its source, a step away, lies beyond the box. In a corner walls come first, then the kinds
    /// in descending order; but fluid that comes in beside a wall is not taken by it: see [`Self::beside_wall`].
    pub(super) fn face(
        &self,
        at: At<D>,
        q: usize,
        step: [i32; D],
        moments: &mut Moments<D, T>,
    ) -> T {
        if let Some(rule) = self.face_wall(at, step) {
            return self.beside_wall(at, q, step, moments).unwrap_or_else(|| {
                let back = opposite(q);
                self.f(at, back) - T::of(self.wall(at, back, 0.5, rule, moments))
            });
        }
        let (mut mirrored, mut along) = (velocity::<D, L>(q), step);
        for (a, _, rule) in self.crossed(at, step) {
            along[a] = 0;
            if rule.kind == condition::SLIP {
                mirrored[a] = -mirrored[a];
            }
        }
        let reflected = Toward::<L>::VELOCITY[dims::direction(mirrored)];
        let inside = self.fluid(at, along);
        let Some((axis, outward, rule)) = self.opening(at, step) else {
            return match inside {
                Some(inside) => self.f(inside, reflected),
                None => self.f(at, opposite(q)),
            };
        };
        let entry = Entry {
            rule,
            axis,
            outward,
            q: reflected,
            at,
            inside: inside.unwrap_or(at),
            along: inside.map_or([0; D], |_| along),
        };
        self.enter(&entry, moments)
    }

    /// The open face that a step goes through: axis, side (-1 or 1) and condition.
    fn opening(&self, at: At<D>, step: [i32; D]) -> Option<(usize, i32, &Rule)> {
        let open = |&(.., rule): &(usize, i32, &Rule)| {
            rule.kind != condition::WALL && rule.kind != condition::SLIP
        };
        let crossed = self.crossed(at, step).filter(open);
        crossed.reduce(|one, other| {
            if one.2.kind < other.2.kind {
                other
            } else {
                one
            }
        })
    }

    /// Population `q` of a cell at a face of given velocity or a far field, where a wall beside the cell hides the ghost
    /// cell that it would come from: the one that the ghost in front of the cell sends into the wall instead, turned
    /// round along the face. So what passes the face is what it is given, and the corner is stable.
    pub(super) fn beside_wall(
        &self,
        at: At<D>,
        q: usize,
        step: [i32; D],
        moments: &mut Moments<D, T>,
    ) -> Option<T> {
        let (axis, outward, rule) = self.opening(at, step)?;
        if rule.kind != condition::STREAM && rule.kind != condition::FAR {
            return None;
        }
        let mut turned = velocity::<D, L>(opposite(q));
        turned[axis] = -turned[axis];
        let entry = Entry {
            rule,
            axis,
            outward,
            q: Toward::<L>::VELOCITY[dims::direction(turned)],
            at,
            inside: at,
            along: [0; D],
        };
        Some(self.enter(&entry, moments))
    }

    fn enter(&self, entry: &Entry<'_, D>, moments: &mut Moments<D, T>) -> T {
        match entry.rule.kind {
            condition::STREAM => self.stream(entry, moments),
            condition::FAR => self.far(entry, moments),
            _ if entry.is_straight::<L>() => self.balanced(entry, moments),
            _ => self.opened(entry, moments),
        }
    }

    /// A ghost's population: the inner cell's, with another equilibrium.
    fn replaced(&self, entry: &Entry<'_, D>, inner: State<D, T>, ghost: State<D, T>) -> T {
        let rest = match entry.rule.projects {
            0 => self.f(entry.inside, entry.q) - equilibrium::<D, L, T>(entry.q, inner),
            _ => self.of_stress(entry.inside, entry.q, inner),
        };
        equilibrium::<D, L, T>(entry.q, ghost) + rest
    }

    /// The part of a cell's non-equilibrium stress in a population (Latt & Chopard 2006, eq. 11). With BGK and TRT
    /// other parts decay too slowly to be copied.
    fn of_stress(&self, at: At<D>, q: usize, (rho, u): State<D, T>) -> T {
        let c: [T; D] = velocity::<D, L>(q).map(|c| T::of(f64::from(c)));
        let third = T::of(1.0 / 3.0);
        // 9/2 (c c - δ/3) : Π, with Π = Σ c c f - ρ u u - δ ρ/3.
        let mut sum = T::of(0.0);
        for k in 0..L::Q {
            let other = velocity::<D, L>(k).map(|c| T::of(f64::from(c)));
            let (mut along, mut square) = (T::of(0.0), T::of(0.0));
            for a in 0..D {
                along += c[a] * other[a];
                square += other[a] * other[a];
            }
            sum += (along * along - third * square) * self.f(at, k);
        }
        let (mut along, mut square, mut own) = (T::of(0.0), T::of(0.0), T::of(0.0));
        for a in 0..D {
            along += c[a] * u[a];
            square += u[a] * u[a];
            own += c[a] * c[a];
        }
        let steady = (T::of(1.0) + rho) * (along * along - third * square)
            + third * rho * (own - T::of(D as f64 / 3.0));
        T::of(4.5 * L::W[q]) * (sum - steady)
    }

    /// The velocity that a face is given beside the cell inside.
    fn given(&self, entry: &Entry<'_, D>) -> [T; D] {
        let u = self.velocity_at(entry.inside, 0, 0.5, entry.rule);
        std::array::from_fn(|a| T::of(u[a]))
    }

    /// Of the cell inside.
    fn inner(&self, entry: &Entry<'_, D>, moments: &mut Moments<D, T>) -> State<D, T> {
        self.moments_near(entry.at, entry.along, entry.inside, moments)
    }

    /// A given velocity at the face, halfway to the ghost; where fluid leaves, at the ghost. Where fluid passes, it is
    /// the mass flow that is given: the velocity is that of the fluid at rest.
    fn stream(&self, entry: &Entry<'_, D>, moments: &mut Moments<D, T>) -> T {
        let inner = self.inner(entry, moments);
        let mut given = self.given(entry);
        let mut share = T::of(1.0);
        if given[entry.axis] != T::of(0.0) {
            share = T::of(AT_REST) / (T::of(1.0) + inner.0);
            given = given.map(|u| u * share);
        }
        let outward = given[entry.axis] * T::of(f64::from(entry.outward));
        if outward < T::of(0.0)
            && let Some(sheared) = self.sheared(entry, given[entry.axis], share)
        {
            return self.in_corner(entry, inner, given, sheared);
        }
        let leaves = outward > T::of(0.0);
        let u = std::array::from_fn(|a| match leaves {
            true => given[a],
            false => given[a] + given[a] - inner.1[a],
        });
        self.replaced(entry, inner, (inner.0, u))
    }

    /// A ghost in front of a cell beside a wall, where fluid enters. Of the non-equilibrium inside it takes the normal stress,
    /// which what passes the face depends on; the shear stress is that of the given velocities, and the velocity along the face
    /// the given one. With the cell's own shear, edges of two walls are unstable (decision 045).
    fn in_corner(
        &self,
        entry: &Entry<'_, D>,
        (rho, inner): State<D, T>,
        given: [T; D],
        sheared: [T; D],
    ) -> T {
        let axis = entry.axis;
        let mut u = given;
        u[axis] = given[axis] + given[axis] - inner[axis];
        let mut flux = T::of(0.0);
        for k in 1..L::Q {
            if L::C[k][axis] != 0 {
                flux += self.f(entry.inside, k);
            }
        }
        let density = T::of(1.0) + rho;
        let normal = flux - T::of(1.0 / 3.0) * rho - density * inner[axis] * inner[axis];
        let half_step = entry.rule.relaxation * f64::from(1u32 << self.level.index);
        let mut slope = T::of(0.0);
        for a in (0..D).filter(|&a| a != axis) {
            slope += T::of(f64::from(L::C[entry.q][a])) * sheared[a];
        }
        let inward = T::of(f64::from(-entry.outward));
        let shear = inward * T::of(0.5 - half_step) * density * slope;
        equilibrium::<D, L, T>(entry.q, (rho, u)) + T::of(3.0 * L::W[entry.q]) * (normal + shear)
    }

    /// How the given normal velocity changes along the face, by axis, in front of a cell beside a wall at rest, which brings it
    /// to rest halfway. None where there is no wall.
    fn sheared(&self, entry: &Entry<'_, D>, own: T, share: T) -> Option<[T; D]> {
        let links = self.links(entry.inside);
        let mut slopes = [T::of(0.0); D];
        let mut is_beside = false;
        for a in (0..D).filter(|&a| a != entry.axis) {
            let [(one, below), (other, above)] = [-1, 1].map(|side| {
                let mut step = [0; D];
                step[a] = side;
                if self.rests(entry.inside, step, links) {
                    is_beside = true;
                    return (0.5, T::of(0.0));
                }
                match self.next(entry.inside, step) {
                    Next::Cell(near) if !self.is_solid(near) => {
                        let u = self.velocity_at(near, 0, 0.5, entry.rule);
                        (1.0, T::of(u[entry.axis]) * share)
                    }
                    _ => (1.0, own),
                }
            });
            // Of the parabola through the three.
            let below = (own - below) * T::of(other / one);
            let above = (above - own) * T::of(one / other);
            slopes[a] = (below + above) * T::of(1.0 / (one + other));
        }
        is_beside.then_some(slopes)
    }

    /// Whether a wall at rest lies a step away.
    fn rests(&self, at: At<D>, step: [i32; D], links: Links) -> bool {
        let rule = match links.place(dims::direction(step)) {
            Some(link) => Some(&self.level.rules[2 * D + usize::from(self.level.patch[link])]),
            None => self.face_wall(at, step),
        };
        rule.is_some_and(|rule| rule.kind == condition::WALL && !rule.moves())
    }

    /// A far field of given density and velocity: what leaves along the normal's characteristics is taken from
    /// inside, what enters from far. The tangential velocity comes from where the fluid does.
    fn far(&self, entry: &Entry<'_, D>, moments: &mut Moments<D, T>) -> T {
        let inner = self.inner(entry, moments);
        let of = |value: f64| T::of(value);
        let (axis, sign) = (entry.axis, of(f64::from(entry.outward)));
        let given = self.given(entry);
        let rho = of(entry.rule.density - 1.0);
        let c = of(1.0 / 3.0f64.sqrt());
        let (leaving, entering) = (sign * inner.1[axis], sign * given[axis]);
        let density = of(0.5) * (inner.0 + rho + (leaving - entering) / c);
        let share = share_leaving(leaving);
        let mut u: [T; D] = std::array::from_fn(|a| given[a] + share * (inner.1[a] - given[a]));
        u[axis] = sign * of(0.5) * (leaving + entering + c * (inner.0 - rho));
        self.replaced(entry, inner, (density, u))
    }

    /// A given density, or through an outflow nearly that of the cells inside, with their velocity and no
    /// non-equilibrium: of the population's row with a weight of τ (at most 1), of the cell's own with the rest. To first
    /// order in the gradient of the normal velocity along the face this is the row's equilibrium with the shear stress
    /// that collision leaves.
    fn opened(&self, entry: &Entry<'_, D>, moments: &mut Moments<D, T>) -> T {
        let inner = self.inner(entry, moments);
        let one = self.opened_row(entry.inside, entry, inner);
        if entry.inside == entry.at {
            return one;
        }
        let tau = 0.5 + entry.rule.relaxation * f64::from(1u32 << self.level.index);
        let here = self.moments_near(entry.at, [0; D], entry.at, moments);
        let own = self.opened_row(entry.at, entry, here);
        own + T::of(tau.min(1.0)) * (one - own)
    }

    fn opened_row(&self, row: At<D>, entry: &Entry<'_, D>, state: State<D, T>) -> T {
        equilibrium::<D, L, T>(entry.q, (self.ghost_density(row, entry, state), state.1))
    }

    /// Density less 1 of the ghost cell in front of a cell. Of an outflow that the fluid passes along it is the given one.
    fn ghost_density(&self, row: At<D>, entry: &Entry<'_, D>, (inner, u): State<D, T>) -> T {
        let given = T::of(self.density_at(row, 0, entry.rule) - 1.0);
        match entry.rule.kind {
            condition::OUTFLOW => {
                let normal = u[entry.axis];
                let speed = if normal < T::of(0.0) { -normal } else { normal };
                given + T::of(1.0 - ANCHOR) * share_leaving(speed) * (inner - given)
            }
            // At the face, halfway to the ghost.
            _ => given + given - inner,
        }
    }

    /// The population that enters along the normal makes up for what the others, which come from the rows beside it or
    /// from walls, lack or have too much of: so that the mass which passes is that of the cell's own velocity and
    /// densities. In a steady flow as much passes as the cells have momentum, so the mean of their densities is the
    /// given one (decision 045).
    fn balanced(&self, entry: &Entry<'_, D>, moments: &mut Moments<D, T>) -> T {
        let Entry { at, axis, .. } = *entry;
        let inner = self.inner(entry, moments);
        let of = |value: f64| T::of(value);
        let normal = inner.1[axis] * of(f64::from(entry.outward));
        let (mut flux, mut others) = (of(0.0), of(0.0));
        let links = self.links(at);
        for q in 1..L::Q {
            let c = L::C[q][axis];
            if c != 0 {
                flux += self.f(at, q);
            }
            if c == -entry.outward && q != entry.q {
                others += self.pull(at, q, links, moments);
            }
        }
        let (third, half) = (of(1.0 / 3.0), of(0.5));
        let stress = half * (flux - third * inner.0 - (of(1.0) + inner.0) * normal * normal);
        let ghost = self.ghost_density(at, entry, inner);
        let whole = third * ghost + (of(1.0) + ghost) * (normal * normal - normal);
        let kept = match entry.rule.kind {
            condition::OUTFLOW => of(OUTFLOW_STRESS[D - 2]) * stress,
            _ => {
                let half_step = entry.rule.relaxation * f64::from(1u32 << self.level.index);
                of(PRESSURE_STRESS) * stress
                    - of(half_step / 6.0) * self.curvature(entry, normal, moments)
            }
        };
        half * whole + kept - others
    }

    /// Second derivative along the face of a cell's outward velocity, which walls bring to rest halfway.
    fn curvature(&self, entry: &Entry<'_, D>, own: T, moments: &mut Moments<D, T>) -> T {
        let links = self.links(entry.at);
        let mut sum = T::of(0.0);
        for a in (0..D).filter(|&a| a != entry.axis) {
            let [(one, below), (other, above)] = [-1, 1].map(|side| {
                let mut step = [0; D];
                step[a] = side;
                if links.place(dims::direction(step)).is_some() {
                    return (0.5, T::of(0.0));
                }
                match self.next(entry.at, step) {
                    Next::Cell(near) if !self.is_solid(near) => {
                        let (_, u) = self.moments_near(entry.at, step, near, moments);
                        (1.0, u[entry.axis] * T::of(f64::from(entry.outward)))
                    }
                    Next::Outside if self.face_wall(entry.at, step).is_none() => (1.0, own),
                    Next::End => (1.0, own),
                    _ => (0.5, T::of(0.0)),
                }
            });
            let slope = (below - own) * T::of(1.0 / one) + (above - own) * T::of(1.0 / other);
            sum += slope * T::of(2.0 / (one + other));
        }
        sum
    }
}

/// How much an outward speed counts as leaving, 0 to 1: see [`LEAVING`].
fn share_leaving<T: Real>(speed: T) -> T {
    let share = speed * T::of(1.0 / LEAVING);
    if share > T::of(1.0) {
        T::of(1.0)
    } else if share > T::of(0.0) {
        share
    } else {
        T::of(0.0)
    }
}

/// A population of the second-order equilibrium, less its weight.
#[inline]
pub(super) fn equilibrium<const D: usize, L: Lattice, T: Real>(
    q: usize,
    (rho, u): State<D, T>,
) -> T {
    let (mut along, mut square) = (T::of(0.0), T::of(0.0));
    for a in 0..D {
        along += u[a] * T::of(f64::from(L::C[q][a]));
        square += u[a] * u[a];
    }
    let density = T::of(1.0) + rho;
    let flux = T::of(3.0) * along + T::of(4.5) * along * along - T::of(1.5) * square;
    T::of(L::W[q]) * (rho + density * flux)
}
