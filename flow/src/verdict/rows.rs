//! Rows of the verdict that hold for every physics: each from numbers to a check with its bars (`docs/verdict.md`).

use super::Check;

/// No bar.
const NONE: f64 = f64::INFINITY;

/// How long the flow has taken against how long it takes at least before it can be judged.
pub fn duration(steps: u64, earliest: u64) -> Check {
    Check {
        name: "duration",
        value: earliest as f64 / steps.max(1) as f64,
        bars: [1.0, NONE],
        what: format!(
            "the run has {steps} root steps; ramps, sound across the box and back, and one length/velocity take {earliest}"
        ),
        remedy: Some(format!(
            "run at least {earliest} root steps: --resume with a longer [run]"
        )),
    }
}

/// Share of the samples in which nothing moved: `what` is the force or the fluid.
pub fn movement(share: f64, what: &str) -> Check {
    Check {
        name: "movement",
        value: share,
        bars: [0.5, 0.999],
        what: format!(
            "share of the samples in which {what} is exactly 0, although the flow is driven"
        ),
        remedy: Some(
            "run longer, until the flow has reached all of the box; else check [boundary]".into(),
        ),
    }
}

/// Growth of the spread of the forces: last quarter over the one before.
pub fn growth(value: f64) -> Check {
    Check {
        name: "growth",
        value,
        bars: [1.5, NONE],
        what: "spread of drag and lift in the last quarter over that in the quarter before".into(),
        remedy: Some(
            "run longer, until the oscillation stays: --resume with a longer [run]".into(),
        ),
    }
}

/// The swing of the drag over the drag.
pub fn swing(value: f64) -> Check {
    Check {
        name: "swing",
        value,
        bars: [1.0, NONE],
        what: "largest less smallest drag of the last quarter over the mean force".into(),
        remedy: Some(
            "if nothing in the case swings like this it is sound: far-field sides, a sponge or a farther outlet damp it".into(),
        ),
    }
}

/// The largest change of a mean or of an oscillation over the second half, over the force.
pub fn stationarity(value: f64, why: &[String]) -> Check {
    Check {
        name: "stationarity",
        value,
        bars: [0.01, NONE],
        what: match why {
            [] => "largest change of a mean or an oscillation over the second half, over the force"
                .into(),
            _ => why.join("; "),
        },
        remedy: Some("run longer: --resume with a longer [run]; errors include the drift".into()),
    }
}
