//! Errors of a device, with the values that explain them.

use crate::{ErrorKind, Failure};
use std::fmt;

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// The machine's.
    Host,
    /// A device's own.
    Device,
}

impl Memory {
    /// What a user can do where it is short, beside a smaller problem.
    fn way_out(self) -> &'static str {
        match self {
            Self::Host => "",
            Self::Device => ", or `--device cpu`",
        }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "memory",
            Self::Device => "memory on the device",
        })
    }
}

fn no_device(ordinal: u32, devices: u32) -> String {
    match devices {
        0 => "no CUDA device found on this machine: look at nvidia-smi and CUDA_VISIBLE_DEVICES"
            .to_owned(),
        1 => format!("there is no CUDA device {ordinal}: this machine has one, cuda:0"),
        n => format!(
            "there is no CUDA device {ordinal}: this machine has {n}, up to cuda:{}",
            n - 1
        ),
    }
}

/// An error of a backend; the text is a lowercase fragment for "failed to …: …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// This program holds no kernels for the device that was requested.
    #[error(
        "this build of cutlink has no CUDA kernels: use `--device cpu` (or `auto`, which takes the CPU here)"
    )]
    NotCompiled,
    /// Not enough memory for an allocation that is about to be made.
    #[error(
        "not enough {memory} for {what}: {requested} bytes needed, {free} bytes free; \
         use fewer levels, a smaller wall distance or a coarser root grid{}", memory.way_out()
    )]
    OutOfMemory {
        /// Whose memory.
        memory: Memory,
        /// What the memory is for.
        what: &'static str,
        /// Bytes that the allocation needs.
        requested: u64,
        /// Bytes that were free.
        free: u64,
    },
    /// No library of NVIDIA's driver on this machine.
    #[error("no NVIDIA driver found on this machine (libcuda is missing): use `--device cpu`")]
    NoDriver,
    /// A driver older than the CUDA of this build.
    #[error(
        "the NVIDIA driver supports CUDA {}.{}, and this build needs {}.{}: update the driver, or use `--device cpu`",
        version.0, version.1, needed.0, needed.1
    )]
    OldDriver {
        /// What the driver supports, major and minor.
        version: (i32, i32),
        /// What is needed.
        needed: (i32, i32),
    },
    /// No device of this number.
    #[error("{}, or `--device cpu`", no_device(*ordinal, *devices))]
    NoDevice {
        /// The requested number.
        ordinal: u32,
        /// How many there are.
        devices: u32,
    },
    /// No machine code for this device, and no PTX that its driver could compile.
    #[error(
        "this build has no kernels for {device}: build with `CUTLINK_CUDA_ARCH` set to its compute capability, or use `--device cpu`"
    )]
    WrongArchitecture {
        /// The card's name.
        device: String,
    },
    /// A kernel that did not run, or failed.
    #[error("kernel {kernel} ({blocks} blocks of {threads} threads) failed: {reason}")]
    Launch {
        /// The kernel.
        kernel: &'static str,
        /// Thread blocks.
        blocks: u32,
        /// Threads a block.
        threads: u32,
        /// What the driver says.
        reason: String,
    },
    /// Another call of the driver that failed; kernels launched before may be the cause.
    #[error("the device failed to {what}: {reason}")]
    Driver {
        /// What was being done.
        what: &'static str,
        /// What the driver says.
        reason: String,
    },
    /// A call of NCCL that failed.
    #[error("NCCL failed to {what}: {reason}")]
    Link {
        /// What was being done.
        what: &'static str,
        /// What NCCL says.
        reason: String,
    },
    /// A variable of the environment that names no connection between GPUs.
    #[error("CUTLINK_LINK is {text:?}: use peer, nccl or host, or leave it out")]
    UnknownLink {
        /// What it is.
        text: String,
    },
    /// A name that is not a device's.
    #[error("unknown device {text:?}: use auto, cpu, cuda or cuda:N")]
    UnknownDevice {
        /// What was given.
        text: String,
    },
}

impl DeviceError {
    /// Why a device is not used, in few words: for the line that names the one that is.
    pub fn in_short(&self) -> String {
        match self {
            Self::NotCompiled => "this build has no CUDA kernels".to_owned(),
            Self::NoDriver => "no NVIDIA driver here".to_owned(),
            Self::OldDriver { version, needed } => format!(
                "the driver has CUDA {}.{}, and {}.{} is needed",
                version.0, version.1, needed.0, needed.1
            ),
            Self::NoDevice { devices: 0, .. } => "no CUDA device here".to_owned(),
            Self::NoDevice { ordinal, devices } => format!("no cuda:{ordinal} among {devices}"),
            Self::WrongArchitecture { device } => format!("no kernels for {device}"),
            error => error.to_string(),
        }
    }
}

impl Failure for DeviceError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::OutOfMemory { .. } => ErrorKind::Memory,
            Self::Launch { .. } | Self::Driver { .. } => ErrorKind::Runtime,
            // The device cannot be used, or not for this purpose: the user should choose another one.
            _ => ErrorKind::Input,
        }
    }

    fn of_device(&self) -> Option<&DeviceError> {
        Some(self)
    }
}
