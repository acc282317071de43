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
//! | `judge` | runs a case; the table of errors by verdict |

mod answers;
mod draw;
mod judge;
mod random;
mod walls;

use draw::Drawn;
use judge::{Outcome, Table};
use random::Random;

/// Relative error above which a flow is wrong.
const BAR: f64 = 0.03;
/// Updates of cells of a flow that is run, with the tests and in a campaign; the others are drawn again.
const WORK: [f64; 2] = [2e6, 1.6e7];

/// Draws and runs flows; prints the silent ones.
fn campaign(seed: u64, count: usize, most: f64) -> (Table, Vec<String>) {
    let mut random = Random::new(seed);
    let (mut table, mut silent) = (Table::default(), Vec::new());
    for _ in 0..count {
        let drawn = std::iter::repeat_with(|| Drawn::new(&mut random))
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

#[test]
#[expect(clippy::print_stdout, reason = "the table of a campaign")]
fn no_drawn_flow_is_wrong_without_a_doubt() {
    let given = std::env::var("CUTLINK_CAMPAIGN").ok();
    let numbers = given.as_deref().map(|text| {
        let (seed, count) = text.split_once(',').expect("CUTLINK_CAMPAIGN=SEED,COUNT");
        (
            seed.parse().expect("a seed"),
            count.parse().expect("a number of flows"),
        )
    });
    let most = WORK[usize::from(numbers.is_some())];
    let (seed, count) = numbers.unwrap_or((5, 40));
    let (table, silent) = campaign(seed, count, most);
    println!("{table}");
    assert!(silent.is_empty(), "{}", silent.join("\n"));
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
