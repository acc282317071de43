//! The opened device of a run: the only place that distinguishes backends.

use crate::Error;
pub use cutlink_device::Host;
#[cfg(feature = "cuda")]
use cutlink_device::{Backend as _, cuda::Cuda};
use cutlink_device::{Device, DeviceChoice, DeviceError, Selected, select};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::panic::resume_unwind;
use std::str::FromStr;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

/// An opened device.
#[derive(Debug, Clone)]
pub enum Opened {
    /// [`cutlink_device::Host`].
    Cpu,
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(Cuda),
}

/// An opened device, and why it was selected.
#[derive(Debug, Clone)]
pub struct OpenedDevice {
    /// The device.
    pub opened: Opened,
    /// Its name, and the reason for it.
    pub selected: Selected,
}

impl OpenedDevice {
    /// Selects a device and opens it. `auto` falls back to the CPU.
    ///
    /// # Errors
    /// A device given by name that is not there, fails to open, or has no kernels in this build.
    pub fn new(choice: DeviceChoice) -> Result<Self, DeviceError> {
        let mut selected = select(choice)?;
        let opened = Opened::open(choice, &mut selected)?;
        Ok(Self { opened, selected })
    }
}

/// A device that is being opened on a thread of its own, beside work that does not need it yet: a driver takes 0.2 s.
#[derive(Debug)]
pub struct Opening {
    made: OnceLock<Result<OpenedDevice, DeviceError>>,
    thread: Mutex<Option<Thread>>,
}

type Thread = JoinHandle<Result<OpenedDevice, DeviceError>>;

impl Opening {
    /// Begins to select and open a device. The CPU is open at once, and a device that this build has no kernels for is
    /// refused at once.
    ///
    /// # Errors
    /// [`DeviceError::NotCompiled`] for a CUDA device given by name; all other errors are those of [`Self::get`].
    pub fn begin(choice: DeviceChoice) -> Result<Self, DeviceError> {
        if choice == DeviceChoice::Cpu || !cfg!(feature = "cuda") {
            let made = OnceLock::from(Ok(OpenedDevice::new(choice)?));
            let thread = Mutex::default();
            return Ok(Self { made, thread });
        }
        Ok(Self::run(move || OpenedDevice::new(choice)))
    }

    /// Runs `open` on a thread, or here if none can be started.
    fn run(
        open: impl FnOnce() -> Result<OpenedDevice, DeviceError> + Clone + Send + 'static,
    ) -> Self {
        let thread = thread::Builder::new().name("open the device".into());
        match thread.spawn(open.clone()) {
            Ok(thread) => Self {
                made: OnceLock::new(),
                thread: Mutex::new(Some(thread)),
            },
            Err(_) => Self {
                made: OnceLock::from(open()),
                thread: Mutex::default(),
            },
        }
    }

    fn join(&self) -> Option<Result<OpenedDevice, DeviceError>> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let made = thread.take()?.join();
        Some(made.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// The device; waits until it is open.
    ///
    /// # Errors
    /// As [`OpenedDevice::new`].
    pub fn get(&self) -> Result<&OpenedDevice, DeviceError> {
        let made = self.made.get_or_init(|| {
            let made = self.join();
            made.expect("a thread should open a device that is not open")
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl Drop for Opening {
    /// Waits for the thread: the process must not end while the driver starts.
    fn drop(&mut self) {
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // Nobody requested the device, so its error is nobody's.
            let _ = thread.join();
        }
    }
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

/// [`DeviceChoice`] with a form in TOML.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(auto|cpu|cuda(:[0-9]+)?)$"))]
pub struct DeviceOption(pub DeviceChoice);

impl FromStr for DeviceOption {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl TryFrom<String> for DeviceOption {
    type Error = DeviceError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<DeviceOption> for String {
    fn from(device: DeviceOption) -> Self {
        device.0.to_string()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct DeviceReport {
    pub name: String,
    pub reason: String,
    pub model: Option<String>,
    pub peak_bytes: Option<u64>,
}

impl DeviceReport {
    /// The device of a run, before its first use.
    pub fn new(selected: &Selected, opened: &Opened) -> Self {
        Self {
            name: selected.name.clone(),
            reason: selected.reason.clone(),
            model: opened.model(),
            peak_bytes: None,
        }
    }

    /// The processor, for a flow that uses no other device.
    pub fn cpu() -> Self {
        Self {
            name: "cpu".into(),
            reason: "the flow runs there".into(),
            model: None,
            peak_bytes: None,
        }
    }

    /// `cuda:0 (NVIDIA H200; asked for)`
    pub fn text(&self) -> String {
        let model = self.model.as_ref().map(|m| format!("{m}; "));
        format!(
            "{} ({}{})",
            self.name,
            model.unwrap_or_default(),
            self.reason
        )
    }
}

/// The first of so many GPUs, all of which are there.
pub fn first_gpu(choice: DeviceChoice, gpus: usize) -> Result<DeviceChoice, Error> {
    let first = match choice {
        DeviceChoice::Auto => 0,
        DeviceChoice::Cuda(first) => first,
        DeviceChoice::Cpu => {
            let message = format!("--gpus {gpus} asks for GPUs, and the device is the CPU");
            return Err(Error::input(message).hint("use --ranks on the CPU"));
        }
    };
    let last = u32::try_from(gpus - 1).unwrap_or(u32::MAX);
    select(DeviceChoice::Cuda(first.saturating_add(last))).map_err(|error| {
        let within = Error::from(error).within(&format!("--gpus {gpus}"));
        within.hint("leave --gpus out, or ask for as many GPUs as there are")
    })?;
    Ok(DeviceChoice::Cuda(first))
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
    fn a_device_opens_beside_other_work() {
        let (go, wait) = std::sync::mpsc::channel();
        let wait = std::sync::Arc::new(Mutex::new(wait));
        let opening = Opening::run(move || {
            let wait = wait.lock().expect("one user");
            wait.recv().expect("a word");
            OpenedDevice::new(DeviceChoice::Cpu)
        });
        // It did not wait for the thread, which waits for this.
        go.send(()).expect("the thread is there");
        for _ in 0..2 {
            let made = opening.get().expect("the CPU");
            assert_eq!(made.selected.device, Device::Cpu);
        }
    }

    #[test]
    fn errors_of_opening_come_with_the_first_use_and_again() {
        let error = DeviceError::NoDevice {
            ordinal: 1,
            devices: 1,
        };
        let failed = error.clone();
        let opening = Opening::run(move || Err(failed));
        for _ in 0..2 {
            assert_eq!(opening.get().map(|_| ()), Err(error.clone()));
        }
        let named = Opening::begin(DeviceChoice::Cuda(4096));
        let named = named.and_then(|opening| opening.get().map(|_| ()));
        let text = named.expect_err("no such device").to_string();
        assert!(text.contains("--device cpu"), "{text}");
        let auto = Opening::begin(DeviceChoice::Auto).expect("auto never fails");
        assert!(auto.get().is_ok(), "{auto:?}");
        // Not requested: waited for, and forgotten.
        drop(Opening::run(|| Err(DeviceError::NoDriver)));
    }

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
