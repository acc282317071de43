//! The opened device of a run: the only place that distinguishes backends.

pub use cutlink_device::Host;
#[cfg(feature = "cuda")]
use cutlink_device::{Backend as _, cuda::Cuda};
use cutlink_device::{Device, DeviceChoice, DeviceError, Selected};

/// An opened device.
#[derive(Debug, Clone)]
pub enum Opened {
    /// [`cutlink_device::Host`].
    Cpu,
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(Cuda),
}

impl Opened {
    /// Opens the selected device. If `auto` selected a device that fails to open, the CPU replaces it, in `selected` as
    /// well.
    ///
    /// # Errors
    /// A device given by name fails to open, or its kernels are not compiled in.
    pub fn open(choice: DeviceChoice, selected: &mut Selected) -> Result<Self, DeviceError> {
        let opened = match selected.device {
            Device::Cpu => Ok(Self::Cpu),
            #[cfg(feature = "cuda")]
            Device::Cuda(ordinal) => Cuda::new(ordinal).map(Self::Cuda),
            #[cfg(not(feature = "cuda"))]
            Device::Cuda(_) => Err(DeviceError::NotCompiled),
        };
        match opened {
            Err(why) if choice == DeviceChoice::Auto => {
                *selected = Selected::cpu_because(&why);
                Ok(Self::Cpu)
            }
            opened => opened,
        }
    }

    /// Model name of the vendor; `None` for the CPU.
    pub fn model(&self) -> Option<String> {
        match self {
            Self::Cpu => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Some(cuda.name().to_owned()),
        }
    }

    /// Peak use of the device's own memory, in bytes; `None` for the CPU.
    pub fn peak_bytes(&self) -> Option<u64> {
        match self {
            Self::Cpu => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Some(cuda.peak_bytes()),
        }
    }
}

/// Runs generic work on the opened backend: `on!(opened, kernels => work(kernels))`.
#[cfg(feature = "cuda")]
#[macro_export]
macro_rules! on {
    ($opened:expr, $kernels:ident => $work:expr) => {
        match $opened {
            $crate::device::Opened::Cpu => {
                let $kernels = &$crate::device::Host;
                $work
            }
            $crate::device::Opened::Cuda($kernels) => $work,
        }
    };
}

/// Runs generic work on the opened backend: `on!(opened, kernels => work(kernels))`.
#[cfg(not(feature = "cuda"))]
#[macro_export]
macro_rules! on {
    ($opened:expr, $kernels:ident => $work:expr) => {
        match $opened {
            $crate::device::Opened::Cpu => {
                let $kernels = &$crate::device::Host;
                $work
            }
        }
    };
}
pub use on;

#[cfg(test)]
mod tests {
    use super::*;

    /// A device number beyond any machine.
    const NOWHERE: Device = Device::Cuda(4096);

    #[test]
    fn only_auto_takes_another_device_than_was_selected() {
        let selected = Selected {
            device: NOWHERE,
            name: "cuda:4096".into(),
            reason: "a test".into(),
        };
        let mut named = selected.clone();
        let refused = Opened::open(DeviceChoice::Cuda(4096), &mut named);
        assert!(refused.is_err(), "{refused:?}");
        assert_eq!(named, selected, "as it was");
        let mut auto = selected;
        let opened = Opened::open(DeviceChoice::Auto, &mut auto);
        assert!(matches!(opened, Ok(Opened::Cpu)), "{opened:?}");
        assert_eq!((auto.device, &*auto.name), (Device::Cpu, "cpu"));
        assert!(auto.reason.starts_with("no ") || auto.reason.contains("no CUDA"));
    }
}
