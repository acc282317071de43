//! Sponges before faces of the box, from a case's tables.

use crate::error::Error;
use crate::solve::case::{FaceKind, SpongeTable};
use crate::solve::conditions::{Conditions, FACES, Scale};
use cutlink_solver::{FaceCondition, Place, Sponge};

/// What a sponge takes off sound where the user says nothing: exp(-5), 0.7 % of its amplitude are left (decision 017).
const STRENGTH: f64 = 5.0;

/// The sponges of the faces, whose tables get every value written out.
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
                        "give more than 0 and at most {edge}, the length of the box there; the longest waves to damp are a good measure"
                    )),
                );
            }
            if whole > edge {
                return Err(Error::input(format!(
                    "{what} length is {length}: it and that of the opposite face have {whole} together, and the box {edge}"
                ))
                .hint("make them shorter"));
            }
            let strength = strength.unwrap_or(STRENGTH);
            if !(strength.is_finite() && strength > 0.0) {
                return Err(
                    Error::input(format!("{what} strength is {strength}")).hint(format!(
                        "give more than 0: exp(-strength) of sound is left; {STRENGTH} is usual"
                    )),
                );
            }
            if matches!(kind, FaceKind::Periodic | FaceKind::NoSlip) {
                return Err(Error::input(format!(
                    "{what} is before a face that is periodic or a wall at rest"
                ))
                .hint("sponges are for faces that the flow passes, and for free-slip"));
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

/// The face whose velocity a sponge draws the flow to: its own, else the opposite one, else the first that has one.
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
            Error::input(format!("{what} has no one flow to draw to")).hint(
                "a velocity that is the same everywhere is needed, of this face or of another, and a pressure that is",
            )
        })
}
