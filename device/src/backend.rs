//! The backend: a memory space and, by the kernel traits of the crates above, the stages
//! that run in it. Buffers are opaque to the orchestration, which moves counts only.

use crate::{DeviceError, memory};
use bytemuck::Pod;
use std::{fmt::Debug, time::Instant};

/// What a buffer may hold: plain data that host and device lay out alike.
pub trait Item: Pod + Send + Sync + Debug + PartialEq {}
impl<T: Pod + Send + Sync + Debug + PartialEq> Item for T {}

/// A memory space. The crates above add one kernel trait each on top of it.
pub trait Backend: Debug + Clone + Send + Sync + Sized + 'static {
    /// A one-dimensional buffer in this space.
    type Buf<T: Item>: Debug + Send + Sync;

    /// A moment between two pieces of work.
    type Stamp: Debug;

    /// Moves host data into the space.
    fn upload<T: Item>(&self, data: Vec<T>) -> Result<Self::Buf<T>, DeviceError>;

    /// Copies a buffer to the host.
    fn download<T: Item>(&self, buf: &Self::Buf<T>) -> Result<Vec<T>, DeviceError>;

    /// A buffer of `len` times `value`; `what` names it in an out-of-memory error.
    fn alloc<T: Item>(
        &self,
        what: &'static str,
        len: usize,
        value: T,
    ) -> Result<Self::Buf<T>, DeviceError>;

    /// Changes a buffer's length; new elements are `value`.
    fn resize<T: Item>(
        &self,
        what: &'static str,
        buf: &mut Self::Buf<T>,
        len: usize,
        value: T,
    ) -> Result<(), DeviceError>;

    /// Elements in a buffer.
    fn len<T: Item>(buf: &Self::Buf<T>) -> usize;

    /// Bytes that a new allocation may take.
    fn free_bytes(&self) -> u64;

    /// The moment when all work given so far is done. Does not wait for it.
    fn stamp(&self) -> Result<Self::Stamp, DeviceError>;

    /// Whether the work before a stamp is done.
    fn has_passed(&self, stamp: &Self::Stamp) -> Result<bool, DeviceError>;

    /// Seconds of the backend's own clock between two stamps; waits for both.
    fn seconds(&self, from: &Self::Stamp, to: &Self::Stamp) -> Result<f64, DeviceError>;

    /// Refuses `bytes` that do not fit, before anything is allocated.
    fn reserve(&self, what: &'static str, bytes: u64) -> Result<(), DeviceError> {
        let free = self.free_bytes();
        if bytes > free {
            return Err(DeviceError::OutOfMemory {
                what,
                requested: bytes,
                free,
            });
        }
        Ok(())
    }
}

/// The CPU: buffers are vectors, kernels run on the current rayon thread pool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Host;

impl Backend for Host {
    type Buf<T: Item> = Vec<T>;
    type Stamp = Instant;

    fn upload<T: Item>(&self, data: Vec<T>) -> Result<Vec<T>, DeviceError> {
        Ok(data)
    }

    fn download<T: Item>(&self, buf: &Vec<T>) -> Result<Vec<T>, DeviceError> {
        Ok(buf.clone())
    }

    fn alloc<T: Item>(
        &self,
        what: &'static str,
        len: usize,
        value: T,
    ) -> Result<Vec<T>, DeviceError> {
        let mut buf = Vec::new();
        memory::grow(what, &mut buf, len, value)?;
        Ok(buf)
    }

    fn resize<T: Item>(
        &self,
        what: &'static str,
        buf: &mut Vec<T>,
        len: usize,
        value: T,
    ) -> Result<(), DeviceError> {
        memory::grow(what, buf, len, value)
    }

    fn len<T: Item>(buf: &Vec<T>) -> usize {
        buf.len()
    }

    fn free_bytes(&self) -> u64 {
        memory::available()
    }

    fn stamp(&self) -> Result<Instant, DeviceError> {
        Ok(Instant::now())
    }

    fn has_passed(&self, _: &Instant) -> Result<bool, DeviceError> {
        Ok(true)
    }

    fn seconds(&self, from: &Instant, to: &Instant) -> Result<f64, DeviceError> {
        Ok((*to - *from).as_secs_f64())
    }
}
