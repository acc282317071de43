//! The device that work runs on, opened: the one place that tells backends apart.

pub use cutlink_device::Host;
#[cfg(feature = "cuda")]
use cutlink_device::{Backend as _, cuda::Cuda};
use cutlink_device::{Device, DeviceChoice, DeviceError, Selected};

/// A device that is ready to work.
#[derive(Debug, Clone)]
pub enum Opened {
    /// [`cutlink_device::Host`].
    Cpu,
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(Cuda),
}

impl Opened {
    /// Opens the device that was selected. One that `auto` took and that does not open is
    /// replaced by the CPU, in `selected` too.
    ///
    /// # Errors
    /// A device that is named and does not open, or whose kernels are not compiled in.
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

    /// What the maker calls it; `None` for the CPU.
    pub fn model(&self) -> Option<String> {
        match self {
            Self::Cpu => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Some(cuda.name().to_owned()),
        }
    }

    /// Most bytes in use at once in the device's own memory; `None` for the CPU.
    pub fn peak_bytes(&self) -> Option<u64> {
        match self {
            Self::Cpu => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Some(cuda.peak_bytes()),
        }
    }
}

/// Does the same work on whichever backend was opened: `on!(opened, kernels => work(kernels))`.
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

/// Does the same work on whichever backend was opened: `on!(opened, kernels => work(kernels))`.
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

    /// Far more than any machine has.
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
