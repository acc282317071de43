//! The device that a run was given, opened: where the tool tells backends apart.

use cutlink_device::{Device, DeviceError};

/// A device that is ready to work.
#[derive(Debug, Clone)]
pub(crate) enum Opened {
    /// [`cutlink_device::Host`].
    Cpu,
}

impl Opened {
    pub(crate) fn open(device: Device) -> Result<Self, DeviceError> {
        match device {
            Device::Cpu => Ok(Self::Cpu),
            Device::Cuda(_) => Err(DeviceError::NotCompiled),
        }
    }

    /// What the maker calls it; `None` for the CPU.
    pub(crate) fn model(&self) -> Option<String> {
        match self {
            Self::Cpu => None,
        }
    }

    /// Most bytes in use at once in the device's own memory; `None` for the CPU.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        match self {
            Self::Cpu => None,
        }
    }
}

/// Does the same work on whichever backend was opened: `on!(opened, kernels => work(kernels))`.
macro_rules! on {
    ($opened:expr, $kernels:ident => $work:expr) => {
        match $opened {
            $crate::device::Opened::Cpu => {
                let $kernels = &cutlink_device::Host;
                $work
            }
        }
    };
}
pub(crate) use on;
