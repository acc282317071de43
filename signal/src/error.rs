//! Errors of the statistics of histories.

/// The reason why a history does not allow an estimate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// Fewer samples than any estimate needs.
    #[error("the history of {samples} samples is too short: at least {needed} are needed")]
    TooShort {
        /// Samples given.
        samples: usize,
        /// Samples needed.
        needed: usize,
    },
    /// A value that is not a number, or too large to be squared.
    #[error("sample {sample} of the history is {value}: the flow has diverged there")]
    NotFinite {
        /// The first such sample.
        sample: usize,
        /// Its value.
        value: f64,
    },
    /// An invalid sampling interval.
    #[error("the interval between samples is {interval}: it must be finite and above zero")]
    Interval {
        /// The interval given.
        interval: f64,
    },
    /// An invalid tolerance.
    #[error("the tolerance is {tolerance}: it must be finite and above zero")]
    Tolerance {
        /// The tolerance given.
        tolerance: f64,
    },
    /// A constant history.
    #[error("the history is constant ({value}): it has no frequency")]
    Constant {
        /// The value of all samples.
        value: f64,
    },
    /// Too few cycles of the dominant oscillation.
    #[error(
        "the history has {cycles:.2} cycles of its dominant oscillation, {needed} are needed: drop the transient, \
         or run longer"
    )]
    FewCycles {
        /// Cycles of the highest peak of the spectrum.
        cycles: f64,
        /// Cycles needed.
        needed: f64,
    },
    /// The dominant oscillation is too fast for the sampling interval.
    #[error(
        "the history has {samples_per_cycle:.2} samples per cycle of its dominant oscillation, {needed} are needed: \
         sample more often"
    )]
    Coarse {
        /// Samples per cycle of the highest peak.
        samples_per_cycle: f64,
        /// Samples needed.
        needed: f64,
    },
    /// The highest peak is within the noise.
    #[error(
        "the history has no clear frequency: the highest peak is {ratio:.1} times the spectrum around it, noise of \
         this length reaches {needed:.1}"
    )]
    NoPeak {
        /// Power of the peak over the median about it.
        ratio: f64,
        /// The ratio that noise exceeds once in a thousand histories.
        needed: f64,
    },
    /// The sine fit diverged from its initial peak.
    #[error(
        "the sine fit started at frequency {frequency} did not converge in {iterations} iterations: the history is \
         not a sine"
    )]
    NoFit {
        /// Frequency of the peak.
        frequency: f64,
        /// Iterations made.
        iterations: usize,
    },
}
