//! Fluxes of boundaries with a given velocity or mass flow.
//!
//! A velocity enters through the cut links of its patch, each with a share of the area. At the rim of the patch, links
//! are cut by neighbouring patches, so the area of the links is off by a few percent. The velocity is scaled so that
//! the flux of the links equals the flux through the surface. These links use halfway bounce-back, which exchanges
//! exactly the mass of the velocity; interpolation is off by up to 1 %.

use crate::solve::resolve::Resolved;
use cutlink_mesher::Surface;
use cutlink_mesher::surface::area_vector;
use cutlink_solver::{Motion, PatchCondition, Place, Plan, Space, WallScheme};

/// Net share of the flux through a patch above which it is an inlet or outlet; below, it is a moving wall.
const OPENING: f64 = 0.1;
/// Velocities are scaled by at most this factor or its inverse: beyond, the grid does not resolve the patch.
const MOST: f64 = 1.5;

impl<const D: usize> Resolved<D> {
    /// Volume flux of mass-flow boundaries at 1 m/s, m³/s (in 2D per metre of depth), for
    /// [`CaseGrid::areas`](super::resolve::CaseGrid::areas): of a face by the links that cross it, of a patch by its surface.
    pub fn areas(&self, plan: &Plan<'_, D>, surface: Option<&Surface<D>>) -> Vec<(Place, f64)> {
        let speed = self.physics.lattice_velocity;
        let cell = self.units.length.powi(D as i32 - 1);
        let area = |&place: &Place| {
            let by_links = plan.inflow(place) / speed * cell;
            let by_surface = surface.and_then(|surface| self.through(place, surface));
            let area =
                by_surface.map_or(by_links, |[flux, _]| by_links.signum() * flux.abs() / speed);
            (place, area)
        };
        self.by_mass.iter().map(area).collect()
    }

    /// Scales the velocities of inlet and outlet patches so that the flux of their links equals that through the
    /// surface. Returns the patches that the grid does not resolve, with the factor that would be needed.
    pub fn deliver(&mut self, plan: &Plan<'_, D>, surface: &Surface<D>) -> Vec<(usize, f64)> {
        let cell = self.units.length.powi(D as i32 - 1);
        let mut coarse = Vec::new();
        for patch in 0..self.params.patches.len() {
            let place = Place::Patch(patch);
            let Some([net, gross]) = self.through(place, surface) else {
                continue;
            };
            if gross == 0.0 || net.abs() < OPENING * gross {
                continue;
            }
            let factor = (net / cell / plan.inflow(place)).abs();
            if (1.0 / MOST..=MOST).contains(&factor) {
                self.scale(patch, factor);
            } else {
                coarse.push((patch, factor));
            }
        }
        coarse
    }

    fn scale(&mut self, patch: usize, factor: f64) {
        if let PatchCondition::Wall {
            motion: Motion::Uniform(own),
            scheme,
        } = &mut self.params.patches[patch]
        {
            (*own, *scheme) = (own.map(|u| u * factor), WallScheme::BounceBack);
        }
        for variation in &mut self.params.variations {
            if variation.place == Place::Patch(patch) {
                variation.scale(factor);
            }
        }
    }

    /// The flux of a patch's velocity (lattice units) through its surface, m² (in 2D m): net and absolute.
    fn through(&self, place: Place, surface: &Surface<D>) -> Option<[f64; 2]> {
        let Place::Patch(patch) = place else {
            return None;
        };
        let PatchCondition::Wall {
            motion: Motion::Uniform(own),
            ..
        } = self.params.patches[patch]
        else {
            return None;
        };
        let mut variations = self.params.variations.iter();
        let space = variations.find(|v| v.place == place).map(|v| &v.space);
        let frame = self.initial.frame();
        let moving = match space {
            Some(Space::Moving(of)) => Some(of(0.0)),
            _ => None,
        };
        let velocity = |x: [f64; D]| {
            let x = std::array::from_fn(|a| (x[a] - frame.origin[a]) / frame.dx);
            match (space, &moving) {
                (Some(Space::Steady(of)), _) => of(x).unwrap_or([0.0; D]),
                (_, Some(of)) => of(x).unwrap_or([0.0; D]),
                _ => own,
            }
        };
        Some(through(surface, patch, velocity))
    }
}

/// The flux of a velocity through the facets of a patch along their normals, net and absolute, in the unit of the
/// velocity times m² (in 2D m). Exact for velocities that are parabolic over a facet.
fn through<const D: usize>(
    surface: &Surface<D>,
    patch: usize,
    velocity: impl Fn([f64; D]) -> [f64; D],
) -> [f64; 2] {
    let places = places(D);
    let patch_of = |n: usize| surface.facet_patch.get(n).map_or(0, |&p| usize::from(p));
    let mut sum = [0.0; 2];
    for (n, facet) in surface.facets.iter().enumerate() {
        if patch_of(n) != patch {
            continue;
        }
        let corners = facet.map(|v| surface.vertices[v as usize]);
        let area = area_vector(corners);
        for shares in &places {
            let mut x = corners[0];
            for (corner, share) in corners[1..].iter().zip(shares) {
                (0..D).for_each(|a| x[a] += share * (corner[a] - corners[0][a]));
            }
            let u = velocity(x);
            let driven = (0..D).map(|a| u[a] * area[a]).sum::<f64>() / places.len() as f64;
            sum = [sum[0] + driven, sum[1] + driven.abs()];
        }
    }
    sum
}

/// Quadrature points of equal weight in a facet, in barycentric coordinates from its first corner: the 2 Gauss points
/// of each of 8 parts of a segment, the 3 points of degree 2 of each of 64 parts of a triangle.
fn places(d: usize) -> Vec<[f64; 2]> {
    const PARTS: usize = 8;
    let part = |n: usize, within: f64| (n as f64 + within) / PARTS as f64;
    if d == 2 {
        let half = 0.5 / 3f64.sqrt();
        return (0..PARTS)
            .flat_map(|i| [0.5 - half, 0.5 + half].map(|x| [part(i, x), 0.0]))
            .collect();
    }
    let (near, far) = (1.0 / 6.0, 2.0 / 3.0);
    let inner = [[near, near], [far, near], [near, far]];
    let mut places = Vec::new();
    for (i, j) in (0..PARTS).flat_map(|i| (0..PARTS - i).map(move |j| (i, j))) {
        places.extend(inner.map(|[x, y]| [part(i, x), part(j, y)]));
        if i + j + 1 < PARTS {
            places.extend(inner.map(|[x, y]| [part(i, 1.0 - x), part(j, 1.0 - y)]));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::{case::Case, resolve::CaseGrid};
    use cutlink_common::config::parse;
    use cutlink_mesher::primitives::{Shape2, Shape3};
    use cutlink_meshing::mesh::build::embedded;
    use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};

    const DUCT: &str = "
        [domain]
        box = [0, 0, 3.2, 2]
        root = \"32x20\"
        [physics]
        re = 10
        length = 1
        velocity = 2
        lattice_velocity = 0.1
        [boundary]
        \"x-\" = \"no-slip\"
        \"x+\" = \"no-slip\"
        \"y-\" = \"no-slip\"
        \"y+\" = \"no-slip\"
        [run]
        steps = 10";

    /// A duct of 2.4 by 1.33 in the box of [`DUCT`].
    fn duct() -> (Mesh<2>, Surface<2>) {
        let shape = Shape2::Rectangle { size: [2.4, 1.33] };
        let mut surface: Surface<2> = shape.surface(1e-3).expect("a duct");
        for x in &mut surface.vertices {
            *x = [x[0] + 1.63, x[1] + 0.98];
        }
        let frame = Frame::new([0.0; 2], 0.1, [32, 20]).expect("a box");
        let params = EmbedParams::new(1, 0.0, Fill::Even);
        let (mesh, _) = embedded(&surface, frame, &params).expect("a mesh");
        (mesh, surface)
    }

    /// The ratio of the flux through the links of the left side to that through its surface, before and after scaling.
    fn shares(patch: &str, flux: f64) -> [f64; 2] {
        let (mesh, surface) = duct();
        let case = parse::<Case>(
            "test",
            &format!("{DUCT}\n{patch}\n[patches.\"x+\"]\ntype = \"pressure\""),
        );
        let grid = CaseGrid {
            patches: &mesh.patches,
            ..CaseGrid::of(&mesh)
        };
        let mut resolved = case.expect("a case").resolve("test", grid).expect("a flow");
        let left = mesh
            .patches
            .iter()
            .position(|name| name == "x-")
            .expect("a side");
        let plan =
            |resolved: &Resolved<2>| Plan::new(&mesh, resolved.params.clone()).expect("a plan");
        let share = |resolved: &Resolved<2>| {
            let metres = resolved.units.length.powi(2) / resolved.units.time;
            plan(resolved).inflow(Place::Patch(left)) * metres / flux
        };
        let before = share(&resolved);
        let first = plan(&resolved);
        assert_eq!(resolved.deliver(&first, &surface), [], "it is resolved");
        [before, share(&resolved)]
    }

    #[test]
    fn the_flux_of_links_is_that_through_the_surface() {
        for (velocity, flux) in [
            ("[2, 0]", 2.0 * 1.33),
            ("[2, 0.7]", 2.0 * 1.33),
            // A parabola between the walls: its mean is 2/3 of its maximum.
            ("[\"2*(1-((y-0.98)/0.665)^2)\", 0]", 2.0 * 1.33 * 2.0 / 3.0),
            (
                "[\"2*(1-((y-0.98)/0.665)^2)*cos(t)\", 0]",
                2.0 * 1.33 * 2.0 / 3.0,
            ),
        ] {
            let patch =
                format!("[patches.\"x-\"]\ntype = \"velocity\"\nvelocity = {velocity}\nramp = 0");
            let [before, after] = shares(&patch, flux);
            assert!((before - 1.0).abs() > 1e-3, "{velocity}: {before}");
            assert!((after - 1.0).abs() < 1e-12, "{velocity}: {after}");
        }
    }

    #[test]
    fn a_tangentially_moving_wall_is_not_scaled() {
        let (mesh, surface) = duct();
        let text =
            format!("{DUCT}\n[patches.\"y+\"]\ntype = \"velocity\"\nvelocity = [1, 0]\nramp = 0");
        let grid = CaseGrid {
            patches: &mesh.patches,
            ..CaseGrid::of(&mesh)
        };
        let case = parse::<Case>("test", &text).expect("a case");
        let mut resolved = case.resolve("test", grid).expect("a flow");
        let given = resolved.params.clone();
        let plan = Plan::new(&mesh, given.clone()).expect("a plan");
        assert_eq!(resolved.deliver(&plan, &surface), []);
        assert_eq!(resolved.params, given);
    }

    #[test]
    fn the_flux_through_a_surface_is_the_integral_of_the_divergence() {
        let size = [1.0, 2.0, 3.0];
        let surface = Shape3::Box { size }.surface(1e-3).expect("a box");
        let all = |velocity: fn([f64; 3]) -> [f64; 3]| -> f64 {
            (0..surface.patches.len())
                .map(|patch| through(&surface, patch, velocity)[0])
                .sum()
        };
        assert!((all(|x| [2.0 * x[0], x[1], -0.5 * x[2]]) - 2.5 * 6.0).abs() < 1e-12);
        assert!(all(|_| [1.0, -2.0, 0.5]).abs() < 1e-12);
        // The mean divergence of x³ over -1/2 to 1/2 is 1/4.
        assert!((all(|x| [x[0].powi(3), 0.0, 0.0]) - 0.25 * 6.0).abs() < 1e-12);
        let found = all(|x| [x[0] * x[1] * x[1], 0.0, 0.0]);
        assert!((found - 2.0).abs() < 1e-12, "the integral of y²: {found}");
    }
}
