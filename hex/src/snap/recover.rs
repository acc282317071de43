//! Points that were moved back try again, now that those around them have found their places.
//!
//! In each round a quarter of these points go further: all the way, and after a try that failed half of what is left. Those
//! around a face or cell that becomes bad go back to where they were, until none is bad. The quarter is a hash of number and
//! round, so that neighbours seldom move together, and the order of threads does not matter.

use super::relax::State;

/// Rounds, and tries of a point that fail.
const ROUNDS: u64 = 48;
const TRIES: u8 = 6;
/// One of so many points moves in a round.
const PARTS: u64 = 4;

/// A number that looks random.
fn hash(point: u32, round: u64) -> u64 {
    let word = (u64::from(point) << 32 | round).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
}

pub(crate) fn recover(state: &mut State<'_>) {
    let mut behind: Vec<u32> = (0..state.points() as u32)
        .filter(|&p| state.share[p as usize] < 1.0 && state.moves(p))
        .collect();
    // Of the points behind: tries that failed.
    let mut failed = vec![0u8; state.points()];
    for round in 0..ROUNDS {
        behind.retain(|&p| state.share[p as usize] < 1.0 && failed[p as usize] < TRIES);
        let chosen = behind
            .iter()
            .filter(|&&p| hash(p, round).is_multiple_of(PARTS));
        // Ascending, with the shares before.
        let raised: Vec<(u32, f64)> = chosen.map(|&p| (p, state.share[p as usize])).collect();
        for &(p, share) in &raised {
            let is_whole = failed[p as usize].is_multiple_of(2);
            state.share[p as usize] = if is_whole { 1.0 } else { 0.5 * (1.0 + share) };
        }
        let mut changed: Vec<u32> = raised.iter().map(|&(p, _)| p).collect();
        while !changed.is_empty() {
            let bad = state.place(&changed);
            changed = state.points_of(&bad, true);
            changed.retain(|&p| {
                let before = raised.binary_search_by_key(&p, |&(q, _)| q);
                let Ok(before) = before.map(|at| raised[at].1) else {
                    return false;
                };
                let share = &mut state.share[p as usize];
                let is_up = *share > before;
                if is_up {
                    *share = before;
                    failed[p as usize] += 1;
                }
                is_up
            });
        }
    }
}
