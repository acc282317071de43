//! `--device auto|cpu|cuda[:N]`: what a user asks for, and what it comes to.

use crate::DeviceError;
use std::{fmt, str::FromStr};

/// What a user asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The fastest device this program can use here.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The CUDA device of this ordinal.
    Cuda(u32),
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let unknown = || DeviceError::UnknownDevice { text: text.into() };
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|n| n.parse().ok())
                .map(Self::Cuda)
                .ok_or_else(unknown),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(n) => write!(f, "cuda:{n}"),
        }
    }
}

/// The device a run takes, and the reason where the user left the choice open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selected {
    /// `cpu`, as users write it.
    pub name: &'static str,
    /// Why this one.
    pub reason: &'static str,
}

/// Resolves a choice. A device without kernels is an error, never a quiet CPU run.
pub fn select(choice: DeviceChoice) -> Result<Selected, DeviceError> {
    match choice {
        DeviceChoice::Auto => Ok(Selected {
            name: "cpu",
            reason: "this build has no CUDA kernels",
        }),
        DeviceChoice::Cpu => Ok(Selected {
            name: "cpu",
            reason: "asked for",
        }),
        DeviceChoice::Cuda(_) => Err(DeviceError::NotCompiled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_round_trip_and_nonsense_is_refused() {
        for text in ["auto", "cpu", "cuda:0", "cuda:7"] {
            let choice: DeviceChoice = text.parse().expect("a device");
            assert_eq!(choice.to_string(), text, "round trip");
        }
        assert_eq!("cuda".parse(), Ok(DeviceChoice::Cuda(0)), "short form");
        for text in ["", "gpu", "cuda:", "cuda:x", "CPU"] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_device_without_kernels_is_an_error() {
        assert_eq!(
            select(DeviceChoice::Cuda(0)),
            Err(DeviceError::NotCompiled),
            "never a quiet CPU run"
        );
        assert_eq!(
            select(DeviceChoice::Auto).map(|s| s.name),
            Ok("cpu"),
            "auto"
        );
    }
}
