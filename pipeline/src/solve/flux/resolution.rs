//! The check of the verdict of what the elements do not resolve.

use cutlink_common::Error;
use cutlink_device::larger_or_nan;
use cutlink_flow::Check;
use cutlink_fr::Unresolved;
use serde_json::{Value, json};

/// Rounding of a number near 1 in f32.
const ROUNDING: f64 = 6e-8;

/// What the elements of a run did not resolve so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct FluxResolution {
    /// The largest error of a state.
    now: f64,
    /// What has grown with time.
    grown: f64,
    /// Of the last sample: its time, and the rate of growth.
    last: Option<[f64; 2]>,
    /// The largest deviation.
    deviation: f64,
}

impl FluxResolution {
    /// Adds a sample. Between two the rate is taken to grow or fall exponentially.
    pub(super) fn add(&mut self, time: f64, of: Unresolved) {
        if let Some([before, rate]) = self.last {
            self.grown += (time - before) * (rate * of.rate).sqrt();
        }
        self.now = larger_or_nan(self.now, of.now);
        self.deviation = larger_or_nan(self.deviation, of.deviation);
        self.last = Some([time, of.rate]);
    }

    /// For the header of a checkpoint, by bits.
    pub(super) fn to_json(self) -> Value {
        let last = self.last.map(|pair| pair.map(f64::to_bits));
        json!({ "now": self.now.to_bits(), "grown": self.grown.to_bits(), "last": last, "deviation": self.deviation.to_bits() })
    }

    /// # Errors
    /// Values of another kind.
    pub(super) fn from_json(kept: &Value) -> Result<Self, Error> {
        let number = |value: &Value| value.as_u64().map(f64::from_bits);
        let last = |value: &Value| Some([number(&value[0])?, number(&value[1])?]);
        let all = number(&kept["now"]).zip(number(&kept["grown"]));
        let (now, grown) = all.ok_or_else(|| Error::input("a checkpoint has no resolution"))?;
        Ok(Self {
            now,
            grown,
            last: last(&kept["last"]),
            deviation: number(&kept["deviation"]).unwrap_or(0.0),
        })
    }

    /// The checks, after so many stages of steps in f32, or none.
    pub(super) fn judge(&self, stages: Option<f64>) -> Vec<Check> {
        let rounded = stages.filter(|_| self.deviation != 0.0).map(|stages| Check {
            name: "precision",
            value: ROUNDING * stages.sqrt() / self.deviation,
            bars: [0.01, f64::INFINITY],
            what: format!(
                "rounding of all steps in f32, over the deviation of density and momentum, {:.1e}",
                self.deviation
            ),
            remedy: Some("take [numerics] precision = \"f64\"".into()),
        });
        std::iter::once(self.of_elements()).chain(rounded).collect()
    }

    fn of_elements(&self) -> Check {
        let value = self.now.hypot(self.grown);
        Check {
            name: "resolution",
            value,
            bars: [0.01, f64::INFINITY],
            what: format!(
                "error by the size of elements, from the highest modes: {:.1e} of a state, {:.1e} that has grown with time",
                self.now, self.grown
            ),
            remedy: Some(
                "more [domain] elements, [adapt] levels or a higher [numerics] order".into(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_stays() {
        let of = |now, deviation| Unresolved {
            now,
            deviation,
            rate: 0.0,
        };
        let mut kept = FluxResolution::default();
        kept.add(0.0, of(f64::NAN, f64::NAN));
        kept.add(1.0, of(0.5, 0.5));
        let checks = kept.judge(Some(100.0));
        assert_eq!(checks.len(), 2);
        for check in checks {
            assert!(check.value.is_nan(), "{} is {}", check.name, check.value);
        }
    }
}
