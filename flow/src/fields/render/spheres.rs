//! Spheres and their walls in a render.

use super::{EDGE, Key, Legend};
use crate::fields::colours::{Map, colour, colours, of_level};
use crate::fields::picture::covering;
use crate::particles::{ParticleColour, ParticleState, ShownWalls};
use cutlink_pictures::{
    camera::{Camera, cross, dot, length, sub},
    canvas::Rgb,
    raster::Raster,
    scale::titled,
};
use rayon::prelude::*;

/// Walls.
const WALL: Rgb = [226, 230, 235];

/// Draws spheres and walls; returns the legend of the spheres.
pub(super) fn draw(
    raster: &mut Raster,
    particles: &ParticleState,
    by: ParticleColour,
    range: Option<[f64; 2]>,
    (camera, wide): (&Camera, f64),
) -> Option<Legend> {
    draw_walls(raster, &particles.walls, (camera, wide));
    let value = |i: usize| -> f32 {
        match by {
            ParticleColour::Speed => length(particles.velocity[i]) as f32,
            ParticleColour::Spin => length(particles.spin[i]) as f32,
            ParticleColour::Radius => particles.radius[i] as f32,
            ParticleColour::Contacts => particles.contacts[i] as f32,
            ParticleColour::Material => f32::from(particles.material[i]),
        }
    };
    let balls: Vec<_> = (0..particles.len())
        .into_par_iter()
        .filter_map(|i| camera.ball(particles.center[i], particles.radius[i], value(i)))
        .collect();
    let (name, unit) = match by {
        ParticleColour::Speed => ("speed", "m/s"),
        ParticleColour::Spin => ("spin", "rad/s"),
        ParticleColour::Radius => ("radius", "m"),
        ParticleColour::Contacts => ("contacts", "1"),
        ParticleColour::Material => {
            raster.draw_balls(&balls, |value| of_level(value as usize));
            let [first, last] = [
                particles.material.iter().min(),
                particles.material.iter().max(),
            ];
            return Some(Legend {
                title: "material".into(),
                key: Key::Levels(usize::from(*first?), usize::from(*last?)),
            });
        }
    };
    let values = || (0..particles.len()).map(value).collect();
    let range = range.unwrap_or_else(|| covering(values(), 0.998, Map::Sequential, 0.0));
    let colours = colours(Map::Sequential);
    raster.draw_balls(&balls, |value| colour(value, range, &colours));
    let title = match unit {
        "1" => name.to_owned(),
        unit => titled(name, unit),
    };
    Some(Legend {
        title,
        key: Key::Range(range, colours),
    })
}

fn draw_walls(raster: &mut Raster, walls: &ShownWalls, (camera, wide): (&Camera, f64)) {
    let far = walls.facets.par_iter().flat_map_iter(|&facet| {
        let normal = cross(sub(facet[1], facet[0]), sub(facet[2], facet[0]));
        let faces_away = dot(normal, camera.towards_eye(facet[0])) < 0.0;
        let corners = facet.map(|place| camera.see(place, normal, 0.0));
        faces_away
            .then(|| camera.projected(corners))
            .into_iter()
            .flatten()
    });
    let far: Vec<_> = far.collect();
    raster.draw(&far, |_| WALL);
    let edges = walls.edges.iter();
    let edges: Vec<_> = edges
        .filter_map(|&ends| camera.band(ends, wide))
        .flatten()
        .collect();
    raster.draw(&edges, |_| EDGE);
}
