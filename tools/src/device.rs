//! The device that a run was given, opened: where the tool tells backends apart.

#[cfg(feature = "cuda")]
use cutlink_device::{Backend as _, cuda::Cuda};
use cutlink_device::{Device, DeviceError};

/// A device that is ready to work.
#[derive(Debug, Clone)]
pub(crate) enum Opened {
    /// [`cutlink_device::Host`].
    Cpu,
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(Cuda),
}

impl Opened {
    pub(crate) fn open(device: Device) -> Result<Self, DeviceError> {
        match device {
            Device::Cpu => Ok(Self::Cpu),
            #[cfg(feature = "cuda")]
            Device::Cuda(ordinal) => Cuda::new(ordinal).map(Self::Cuda),
            #[cfg(not(feature = "cuda"))]
            Device::Cuda(_) => Err(DeviceError::NotCompiled),
        }
    }

    /// What the maker calls it; `None` for the CPU.
    pub(crate) fn model(&self) -> Option<String> {
        match self {
            Self::Cpu => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Some(cuda.name().to_owned()),
        }
    }

    /// Most bytes in use at once in the device's own memory; `None` for the CPU.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        match self {
            Self::Cpu => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Some(cuda.peak_bytes()),
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
            #[cfg(feature = "cuda")]
            $crate::device::Opened::Cuda($kernels) => $work,
        }
    };
}
pub(crate) use on;
