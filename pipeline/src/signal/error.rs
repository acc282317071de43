//! Why a history does not carry what was asked of it.

/// A history that does not tell what was asked, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// Fewer samples than any estimate needs.
    #[error("history of {samples} samples is too short: at least {needed} are needed")]
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
    /// An interval that is no length of time.
    #[error("interval between samples is {interval}: it must be finite and above zero")]
    Interval {
        /// The interval given.
        interval: f64,
    },
    /// A tolerance that nothing or everything meets.
    #[error("tolerance is {tolerance}: it must be finite and above zero")]
    Tolerance {
        /// The tolerance given.
        tolerance: f64,
    },
    /// Nothing oscillates.
    #[error("history is constant ({value}): it has no frequency")]
    Constant {
        /// The value of all samples.
        value: f64,
    },
    /// The slowest motion is the strongest.
    #[error(
        "history holds {cycles:.2} cycles of its strongest motion, {needed} are needed: drop the \
         transient, or run longer"
    )]
    FewCycles {
        /// Cycles of the highest peak of the spectrum.
        cycles: f64,
        /// Cycles needed.
        needed: f64,
    },
    /// The strongest motion is too fast for the interval of the samples.
    #[error(
        "history holds {samples_per_cycle:.2} samples a cycle of its strongest motion, {needed} \
         are needed: take samples more often"
    )]
    Coarse {
        /// Samples a cycle of the highest peak.
        samples_per_cycle: f64,
        /// Samples needed.
        needed: f64,
    },
    /// The highest peak is what noise makes.
    #[error(
        "history has no clear frequency: the highest peak is {ratio:.1} times the spectrum around \
         it, noise of that length reaches {needed:.1}"
    )]
    NoPeak {
        /// Power of the peak over the median about it.
        ratio: f64,
        /// The ratio that noise exceeds once in a thousand histories.
        needed: f64,
    },
    /// The sine fit left the peak it was started at.
    #[error(
        "sine fit started at frequency {frequency} did not converge in {iterations} iterations: \
         the history is no sine"
    )]
    NoFit {
        /// Frequency of the peak.
        frequency: f64,
        /// Iterations made.
        iterations: usize,
    },
}
