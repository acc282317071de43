//! Buffers for other libraries of this process.

use crate::{Device, DeviceError, Item};
use std::fmt::Debug;

/// A buffer in the memory of a device, for other libraries of this process: they get its address. It is written when they get it, so
/// that they may use it on any stream. Dropping it waits for all work of the device, theirs included.
#[derive(Debug)]
pub struct Exported<T> {
    device: Device,
    address: u64,
    len: usize,
    memory: Box<dyn Held<T>>,
}

/// What holds the memory.
pub(crate) trait Held<T>: Debug + Send + Sync {
    /// A copy in host memory.
    fn to_host(&self) -> Result<Vec<T>, DeviceError>;
}

impl<T: Item> Exported<T> {
    /// # Safety
    /// So many elements are at the address, on the device, as long as `memory` lives, and nobody in this program writes them.
    #[expect(unsafe_code, reason = "others take the address at its word")]
    pub(crate) unsafe fn new(
        device: Device,
        address: u64,
        len: usize,
        memory: Box<dyn Held<T>>,
    ) -> Self {
        Self {
            device,
            address,
            len,
            memory,
        }
    }

    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Address of the first element, in the memory of the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A copy in host memory.
    ///
    /// # Errors
    /// Host memory is short, or the device fails.
    pub fn to_host(&self) -> Result<Vec<T>, DeviceError> {
        self.memory.to_host()
    }
}

impl<T: Item> Held<T> for Vec<T> {
    fn to_host(&self) -> Result<Vec<T>, DeviceError> {
        let mut copy = crate::memory::with_capacity("a copy of a buffer", self.len())?;
        copy.extend_from_slice(self);
        Ok(copy)
    }
}
