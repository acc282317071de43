//! Sponge layers at faces of the box, from the tables of a case.

use crate::solve::case::{FaceKind, SpongeTable};
use crate::solve::conditions::{Conditions, FACES, Scale};
use cutlink_common::Error;
use cutlink_solver::{FaceCondition, Place, Sponge};

/// Default strength: exp(-5), 0.7 % of the amplitude of sound, remain (decision 017).
const STRENGTH: f64 = 5.0;

/// The sponges of the faces; resolves the values of their tables.
pub(super) fn sponges<const D: usize>(
    scale: &Scale<'_, D>,
    made: &mut Conditions<D>,
) -> Result<Vec<Sponge>, Error> {
    let mut sponges = Vec::new();
    for axis in 0..D {
        let edge = f64::from(scale.frame.root_cells[axis]) * scale.frame.dx;
        let mut whole = 0.0;
        for side in 0..2 {
            let kind = made.face_tables[axis][side].kind;
            let Some(given) = made.face_tables[axis][side].sponge else {
                continue;
            };
            let what = format!("[boundary] \"{}\" sponge", FACES[axis][side]);
            let SpongeTable { length, strength } = given;
            whole += length;
            if !(length.is_finite() && length > 0.0 && length <= edge) {
                return Err(
                    Error::input(format!("{what} length is {length}")).hint(format!(
                        "give a length above 0 and up to {edge}, the length of the box along that axis; one \
                         wavelength of the sound to absorb is a good choice"
                    )),
                );
            }
            if whole > edge {
                return Err(Error::input(format!(
                    "{what} length is {length}: with the opposite sponge it is {whole}, but the box is only {edge} long"
                ))
                .hint("make them shorter"));
            }
            let strength = strength.unwrap_or(STRENGTH);
            if !(strength.is_finite() && strength > 0.0) {
                return Err(
                    Error::input(format!("{what} strength is {strength}")).hint(format!(
                        "it must be positive: exp(-strength) of the sound remains; {STRENGTH} is the default"
                    )),
                );
            }
            if matches!(kind, FaceKind::Periodic | FaceKind::NoSlip) {
                return Err(
                    Error::input(format!("{what} is on a periodic or no-slip face"))
                        .hint("sponges are for open and free-slip faces"),
                );
            }
            sponges.push(Sponge {
                axis,
                side,
                length: length / scale.frame.dx,
                strength,
                stream: stream(&what, made, axis, side)?,
            });
            made.face_tables[axis][side].sponge = Some(SpongeTable {
                length,
                strength: Some(strength),
            });
        }
    }
    Ok(sponges)
}

/// The face whose velocity is the target of a sponge: its own, else the opposite one, else the first that has one.
fn stream<const D: usize>(
    what: &str,
    made: &Conditions<D>,
    axis: usize,
    side: usize,
) -> Result<[usize; 2], Error> {
    let moves = |[a, s]: [usize; 2]| match made.faces[a][s] {
        FaceCondition::Velocity(v) => v != [0.0; D],
        FaceCondition::FarField { .. } => true,
        _ => false,
    };
    let differs = |[a, s]: [usize; 2]| {
        let mut variations = made.variations.iter();
        variations.any(|v| v.place == Place::Face(a, s) && v.has_profile())
    };
    let own = [axis, side];
    let all = (0..D).flat_map(|a| [[a, 0], [a, 1]]);
    let found = match moves(own) {
        true => Some(own),
        false => [[axis, 1 - side]]
            .into_iter()
            .chain(all)
            .find(|&face| moves(face) && !differs(face)),
    };
    found
        .filter(|&face| !differs(face) && !differs(own))
        .ok_or_else(|| {
            Error::input(format!("{what} has no uniform target flow")).hint(
                "this face or another one must have a uniform velocity, and this face a uniform pressure",
            )
        })
}
