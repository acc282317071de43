//! Small flows drawn from a seed, each with a known answer: none may end without a doubt and be wrong.
//!
//! A flow is *silent* if it ends with a verdict of *ok* and is off by more than [`BAR`]. `CUTLINK_CAMPAIGN=SEED,COUNT` draws
//! others and more, and prints the table of `docs/validation.md`:
//!
//! ```sh
//! CUTLINK_CAMPAIGN=11,3000 cargo test --release --workspace --test campaign -- --nocapture
//! ```
//!
//! | module | what |
//! |---|---|
//! | `random` | numbers from a seed |
//! | `answers` | formulas and tables |
//! | `draw` | a case, and how to read its answer |
//! | `walls` | the same of flows that walls move, and of bodies in channels |
//! | `moving` | the same of bodies that move |
//! | `warm` | the same with heat |
//! | `two_phase`, `flux`, `grains` | the same of two-phase flow, flux reconstruction, grains |
//! | `judge` | runs a case; the table of errors by verdict |

mod answers;
mod draw;
mod flux;
mod grains;
mod judge;
mod moving;
mod random;
mod two_phase;
mod walls;
mod warm;

use draw::Drawn;
use judge::{Outcome, Table};
use random::Random;

/// Relative error above which a flow is wrong.
const BAR: f64 = 0.03;
/// Updates of cells of a flow that is run, with the tests and in a campaign; the others are drawn again.
const WORK: [f64; 2] = [2e6, 1.6e7];

/// Draws and runs flows; prints the silent ones.
fn campaign(
    draw: fn(&mut Random) -> Drawn,
    seed: u64,
    count: usize,
    most: f64,
) -> (Table, Vec<String>) {
    let mut random = Random::new(seed);
    let (mut table, mut silent) = (Table::default(), Vec::new());
    for _ in 0..count {
        let drawn = std::iter::repeat_with(|| draw(&mut random))
            .find(|drawn| drawn.work() <= most)
            .expect("small flows are drawn");
        let outcome = judge::run(&drawn);
        if outcome.is_silent(BAR) {
            silent.push(format!("{}: {outcome:?}\n{}", drawn.name, drawn.case));
        }
        table.add(drawn.kind, &outcome);
    }
    (table, silent)
}

/// Draws flows of one kind: as many as run with the tests, or as many as `CUTLINK_CAMPAIGN` asks for.
#[expect(clippy::print_stdout, reason = "the table of a campaign")]
fn run(kind: &str, draw: fn(&mut Random) -> Drawn, [seed, count]: [u64; 2]) {
    let given = std::env::var("CUTLINK_CAMPAIGN").ok();
    let asked = given.as_deref().map(|text| {
        let words: Vec<&str> = text.split(',').collect();
        let number = |n: usize| words[n].parse().expect("CUTLINK_CAMPAIGN=SEED,COUNT,KIND");
        (
            words.get(2).copied().unwrap_or("lattice"),
            [number(0), number(1)],
        )
    });
    if asked.is_some_and(|(other, _)| other != kind) {
        return;
    }
    let most = WORK[usize::from(asked.is_some())];
    let [seed, count] = asked.map_or([seed, count], |(_, numbers)| numbers);
    let (table, silent) = campaign(draw, seed, count as usize, most);
    println!("{table}");
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn no_drawn_flow_is_wrong_without_a_doubt() {
    run("lattice", Drawn::new, [5, 40]);
}

#[test]
fn no_drawn_two_phase_flow_is_wrong_without_a_doubt() {
    run("two-phase", Drawn::two_phase, [7, 30]);
}

#[test]
fn no_drawn_flow_by_flux_reconstruction_is_wrong_without_a_doubt() {
    run("flux", Drawn::flux, [7, 30]);
}

#[test]
fn no_drawn_flow_with_a_body_that_moves_is_wrong_without_a_doubt() {
    run("moving", Drawn::moving, [7, 20]);
}

#[test]
fn no_drawn_flow_with_heat_is_wrong_without_a_doubt() {
    run("heat", Drawn::warm, [7, 20]);
}

#[test]
fn no_drawn_grains_are_wrong_without_a_doubt() {
    run("grains", Drawn::grains, [7, 20]);
}

/// A flow whose answer is taken to be another one is caught, and so is one without a number.
#[test]
fn a_wrong_flow_without_a_doubt_is_seen() {
    let mut drawn = draw::plain_channel(16, 20.0);
    assert!(!judge::run(&drawn).is_silent(BAR), "right as it is");
    drawn.exact *= 1.05;
    assert!(judge::run(&drawn).is_silent(BAR), "5 % off");
    drawn.exact = f64::NAN;
    assert!(judge::run(&drawn).is_silent(BAR), "no number");
    let turning = moving::plain_turning();
    let outcome = judge::run(&turning);
    assert!(
        matches!(outcome, Outcome::Ended { grade: "doubtful", error } if error < 0.01),
        "{outcome:?}"
    );
    for mut drawn in [two_phase::plain_tank(), flux::plain_sound()] {
        assert!(!judge::run(&drawn).is_silent(BAR), "{drawn:?}");
        drawn.exact *= 1.05;
        assert!(judge::run(&drawn).is_silent(BAR), "{drawn:?}");
    }
    // At Re 0.3 and the lattice velocity that once was the default, regularized collision is 11 % off, and says so.
    let mut viscous = draw::plain_channel(16, 0.3);
    viscous.case = viscous.case.replace(
        "[numerics]",
        "lattice_velocity = 0.05\n[numerics]\ncollision = \"regularized\"",
    );
    let outcome = judge::run(&viscous);
    assert!(
        matches!(outcome, Outcome::Ended { grade: "wrong", error } if (0.09..0.14).contains(&error)),
        "{outcome:?}"
    );
}
