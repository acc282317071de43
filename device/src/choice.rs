//! `--device auto|cpu|cuda[:N]`: the requested device, and the one that is used.

use crate::DeviceError;
use std::{env, fmt, str::FromStr};

/// The requested device.
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

/// CUDA devices that this program can use here.
#[cfg(feature = "cuda")]
fn devices() -> u32 {
    crate::cuda::count().unwrap_or(0)
}

#[cfg(not(feature = "cuda"))]
fn devices() -> u32 {
    0
}

impl DeviceChoice {
    /// The device of one of several processes on this host, by its number there: each takes another GPU, as long as there are any,
    /// unless one that is not the first was named.
    pub fn of_process(self, number: usize) -> Self {
        self.of_process_with(number, devices())
    }

    fn of_process_with(self, number: usize, devices: u32) -> Self {
        match self {
            Self::Auto | Self::Cuda(0) if devices > 0 => Self::Cuda(number as u32 % devices),
            named => named,
        }
    }
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

/// What may connect the GPUs of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkChoice {
    /// The fastest that is there.
    #[default]
    Any,
    /// Kernels that write into the memory of other GPUs of the process, or else host memory.
    Peer,
    /// NCCL, or else host memory.
    Nccl,
    /// Host memory.
    Host,
}

impl LinkChoice {
    /// What the variable `CUTLINK_LINK` names.
    ///
    /// # Errors
    /// [`DeviceError::UnknownLink`].
    pub fn of_environment() -> Result<Self, DeviceError> {
        match env::var_os("CUTLINK_LINK") {
            None => Ok(Self::Any),
            Some(text) => text.to_string_lossy().parse(),
        }
    }

    /// Whether a connection is to be tried.
    pub fn allows(self, other: Self) -> bool {
        self == Self::Any || self == other
    }
}

impl FromStr for LinkChoice {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        match text {
            "peer" => Ok(Self::Peer),
            "nccl" => Ok(Self::Nccl),
            "host" => Ok(Self::Host),
            _ => Err(DeviceError::UnknownLink { text: text.into() }),
        }
    }
}

/// A device that a run can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// The CPU: [`crate::Host`].
    Cpu,
    /// The CUDA device of this ordinal.
    Cuda(u32),
}

/// The device a run takes, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The device.
    pub device: Device,
    /// Its name as users write it: `cpu`, `cuda:0`.
    pub name: String,
    /// Why this one.
    pub reason: String,
}

impl Selected {
    /// The CPU in place of a device that cannot be used: for [`DeviceChoice::Auto`] alone.
    pub fn cpu_because(why: &DeviceError) -> Self {
        Self::new(Device::Cpu, why.in_short())
    }

    fn new(device: Device, reason: impl Into<String>) -> Self {
        let choice = match device {
            Device::Cpu => DeviceChoice::Cpu,
            Device::Cuda(n) => DeviceChoice::Cuda(n),
        };
        Self {
            device,
            name: choice.to_string(),
            reason: reason.into(),
        }
    }
}

/// Whether this program can use a CUDA device here and now.
#[cfg(feature = "cuda")]
fn try_cuda(ordinal: u32) -> Result<(), DeviceError> {
    let devices = crate::cuda::count()?;
    if ordinal < devices {
        return Ok(());
    }
    Err(DeviceError::NoDevice { ordinal, devices })
}

#[cfg(not(feature = "cuda"))]
fn try_cuda(_: u32) -> Result<(), DeviceError> {
    Err(DeviceError::NotCompiled)
}

/// Resolves a choice; does not open the device, which takes a while and may fail. `auto` is the first CUDA device that
/// can be used, else the CPU, with the reason; a named device that cannot be used is an error, never silently replaced.
///
/// # Errors
/// A CUDA device was named, and there are no kernels for it, no driver, or no such device.
pub fn select(choice: DeviceChoice) -> Result<Selected, DeviceError> {
    select_by(choice, try_cuda)
}

fn select_by(
    choice: DeviceChoice,
    try_cuda: impl Fn(u32) -> Result<(), DeviceError>,
) -> Result<Selected, DeviceError> {
    match choice {
        DeviceChoice::Auto => Ok(match try_cuda(0) {
            Ok(()) => Selected::new(Device::Cuda(0), "the first CUDA device here"),
            Err(why) => Selected::cpu_because(&why),
        }),
        DeviceChoice::Cpu => Ok(Selected::new(Device::Cpu, "asked for")),
        DeviceChoice::Cuda(n) => {
            try_cuda(n)?;
            Ok(Selected::new(Device::Cuda(n), "asked for"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_take_one_gpu_after_the_other() {
        use DeviceChoice::{Auto, Cpu, Cuda};
        assert_eq!(
            [0, 1, 2].map(|n| Auto.of_process_with(n, 2)),
            [Cuda(0), Cuda(1), Cuda(0)]
        );
        assert_eq!(Cuda(0).of_process_with(3, 4), Cuda(3));
        assert_eq!(Cuda(1).of_process_with(3, 4), Cuda(1));
        assert_eq!(Cpu.of_process_with(3, 4), Cpu);
        assert_eq!(Auto.of_process_with(1, 0), Auto);
    }

    #[test]
    fn links_are_named_and_nonsense_is_refused() {
        let peer: LinkChoice = "peer".parse().expect("a connection");
        assert!(peer.allows(LinkChoice::Peer) && !peer.allows(LinkChoice::Nccl));
        assert!(LinkChoice::Any.allows(LinkChoice::Nccl));
        for text in ["", "NCCL", "mpi", "any"] {
            let error = text.parse::<LinkChoice>().expect_err("no connection");
            assert!(error.to_string().contains("peer, nccl or host"), "{error}");
        }
    }

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
    fn a_device_that_was_named_is_never_replaced() {
        let none = |_| Err(DeviceError::NotCompiled);
        let error = select_by(DeviceChoice::Cuda(0), none).expect_err("no quiet CPU run");
        assert_eq!(error, DeviceError::NotCompiled);
        assert!(error.to_string().contains("--device cpu"), "{error}");
        let only_first = |n| match n {
            0 => Ok(()),
            _ => Err(DeviceError::NotCompiled),
        };
        assert!(select_by(DeviceChoice::Cuda(1), only_first).is_err());
        let first = select_by(DeviceChoice::Cuda(0), only_first).expect("it is there");
        assert_eq!((first.device, &*first.name), (Device::Cuda(0), "cuda:0"));
    }

    #[test]
    fn every_refusal_of_a_device_names_the_cpu() {
        let (ordinal, device) = (3, "a card".to_owned());
        let refusals = [
            DeviceError::NotCompiled,
            DeviceError::NoDriver,
            DeviceError::OldDriver {
                version: (12, 4),
                needed: (13, 0),
            },
            DeviceError::NoDevice {
                ordinal,
                devices: 0,
            },
            DeviceError::NoDevice {
                ordinal,
                devices: 2,
            },
            DeviceError::WrongArchitecture { device },
        ];
        for error in refusals {
            let text = error.to_string();
            assert!(text.contains("--device cpu"), "{text}");
            assert!(error.in_short().len() < 60, "{}", error.in_short());
        }
    }

    #[test]
    #[cfg(feature = "cuda")]
    fn this_machine_has_a_device_or_says_why_not() {
        let auto = select(DeviceChoice::Auto).expect("the CPU is there");
        match select(DeviceChoice::Cuda(0)) {
            Ok(first) => assert_eq!(first.device, auto.device),
            Err(error) => assert_eq!((auto.device, auto.reason), (Device::Cpu, error.in_short())),
        }
        let error = select(DeviceChoice::Cuda(u32::MAX)).expect_err("no such device");
        assert!(error.to_string().contains("--device cpu"), "{error}");
    }

    #[test]
    fn auto_takes_the_device_or_says_why_not() {
        let auto = |tried: Result<(), DeviceError>| {
            select_by(DeviceChoice::Auto, |_| tried.clone()).expect("auto never fails")
        };
        assert_eq!(auto(Ok(())).device, Device::Cuda(0));
        let cpu = auto(Err(DeviceError::NotCompiled));
        assert_eq!((cpu.device, &*cpu.name), (Device::Cpu, "cpu"));
        assert_eq!(cpu.reason, "this build has no CUDA kernels");
        let asked = select_by(DeviceChoice::Cpu, |_| Ok(())).expect("always there");
        assert_eq!((asked.device, &*asked.reason), (Device::Cpu, "asked for"));
    }
}
