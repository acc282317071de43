//! The backend: a memory space and, by the kernel traits of the crates above, the stages
//! that run in it. Buffers are opaque to the orchestration, which moves counts only.

use crate::{Device, DeviceError, Exported, Memory, memory};
use bytemuck::Pod;
use rayon::prelude::*;
use std::{convert::Infallible, fmt::Debug, ops::Range, time::Instant};

/// What a buffer may hold: plain data that host and device lay out alike.
pub trait Item: Pod + Send + Sync + Debug + PartialEq {}
impl<T: Pod + Send + Sync + Debug + PartialEq> Item for T {}

/// How buffers of one rank reach another one.
#[derive(Debug, Clone)]
pub enum Route<L> {
    /// From device to device, over this link.
    Direct(L),
    /// Through host memory; for devices the reason.
    Host(Option<String>),
}

/// Elements of a buffer that go to a rank, or come from it.
pub type Share = (usize, Range<usize>);

/// A memory space. The crates above add one kernel trait each on top of it.
pub trait Backend: Debug + Clone + Send + Sync + Sized + 'static {
    /// A one-dimensional buffer in this space.
    type Buf<T: Item>: Debug + Send + Sync;

    /// A point in the order of work, with its time: an event of a stream.
    type Stamp: Debug + Send;

    /// A recorded sequence of launches.
    type Graph: Debug + Send + Sync;

    /// A connection to the devices of other ranks. Clones share it.
    type Link: Debug + Clone + Send + Sync;

    /// Whose memory the buffers take.
    const MEMORY: Memory;

    /// The device whose number is `n` higher; the CPU is every device.
    ///
    /// # Errors
    /// [`DeviceError::NoDevice`] where there is none.
    fn nth_after(&self, n: u32) -> Result<Self, DeviceError>;

    /// Whether two handles share streams: then work of several threads must not be submitted to both.
    fn shares_streams(&self, other: &Self) -> bool;

    /// A handle to the same device with streams of its own.
    ///
    /// # Errors
    /// What the driver reports.
    fn apart(&self) -> Result<Self, DeviceError>;

    /// Connects the devices of so many ranks. Every rank calls this at the same time, on a thread or in a process of its own;
    /// `gather` collects bytes of each from all, in the order of ranks.
    ///
    /// # Errors
    /// Those of `gather`, and what the driver or the library that connects devices reports.
    fn link<E: From<DeviceError>>(
        &self,
        rank: usize,
        ranks: usize,
        gather: impl FnMut(Vec<u8>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<Route<Self::Link>, E>;

    /// What carries numbers over a link, with its version.
    fn describe(link: &Self::Link) -> String;

    /// Where the devices of linked ranks find a buffer.
    fn address<T: Item>(link: &Self::Link, buf: &mut Self::Buf<T>) -> u64;

    /// Ends the exchanges that wait for this rank, on all ranks of the process: for a rank that has failed.
    fn abort(link: &Self::Link);

    /// Moves host data into the space.
    ///
    /// # Errors
    /// As all methods that return a [`DeviceError`]: [`OutOfMemory`](DeviceError::OutOfMemory) where memory is short,
    /// else what the driver reports, also of earlier work.
    fn upload<T: Item>(&self, data: Vec<T>) -> Result<Self::Buf<T>, DeviceError>;

    /// Copies a buffer to the host.
    fn download<T: Item>(&self, buf: &Self::Buf<T>) -> Result<Vec<T>, DeviceError>;

    /// Copies some elements to the host.
    ///
    /// # Panics
    /// Where the buffer has fewer.
    fn download_part<T: Item>(
        &self,
        buf: &Self::Buf<T>,
        range: Range<usize>,
    ) -> Result<Vec<T>, DeviceError>;

    /// Writes host data over the elements from `first` on.
    ///
    /// # Panics
    /// Where the buffer has fewer.
    fn write<T: Item>(
        &self,
        data: Vec<T>,
        first: usize,
        to: &mut Self::Buf<T>,
    ) -> Result<(), DeviceError>;

    /// As [`download`](Self::download), for a buffer that is no longer needed.
    fn unload<T: Item>(&self, buf: Self::Buf<T>) -> Result<Vec<T>, DeviceError> {
        self.download(&buf)
    }

    /// Hands a buffer to other libraries of this process; waits until it is written.
    fn export<T: Item>(&self, buf: Self::Buf<T>) -> Result<Exported<T>, DeviceError>;

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

    /// A buffer of `len` unspecified elements in the memory of another one, if that is large enough and at most twice as
    /// large; else a new one with room for an eighth more, `value` where memory is filled anyway. For buffers whose
    /// length changes a little again and again.
    fn renew<T: Item>(
        &self,
        what: &'static str,
        buf: Self::Buf<T>,
        len: usize,
        value: T,
    ) -> Result<Self::Buf<T>, DeviceError>;

    /// A buffer of `rows` times a row.
    fn repeat<T: Item>(
        &self,
        what: &'static str,
        row: &[T],
        rows: usize,
    ) -> Result<Self::Buf<T>, DeviceError>;

    /// Copies a buffer over another one of the same length, at memory bandwidth: the reference
    /// for the speed of stages.
    ///
    /// # Panics
    /// Where the lengths differ.
    fn copy<T: Item>(&self, from: &Self::Buf<T>, to: &mut Self::Buf<T>) -> Result<(), DeviceError>;

    /// Elements in a buffer.
    fn len<T: Item>(buf: &Self::Buf<T>) -> usize;

    /// Bytes that a new allocation may take.
    fn free_bytes(&self) -> u64;

    /// Most bytes in use at once since the start, or since [`reset_peak`](Self::reset_peak): of
    /// the host, by the whole process; of a device, by this backend's buffers. 0 where unknown.
    fn peak_bytes(&self) -> u64;

    /// Counts the peak from what is in use now.
    fn reset_peak(&self);

    /// Kernel launches so far; `None` for a backend without launches.
    fn launches(&self) -> Option<u64> {
        None
    }

    /// A stamp after all work submitted so far. Does not wait for it.
    fn stamp(&self) -> Result<Self::Stamp, DeviceError>;

    /// Whether the work before a stamp is complete.
    fn has_passed(&self, stamp: &Self::Stamp) -> Result<bool, DeviceError>;

    /// Seconds of the backend's own clock between two stamps; waits for both.
    fn seconds(&self, from: &Self::Stamp, to: &Self::Stamp) -> Result<f64, DeviceError>;

    /// Runs two independent tasks, neither of which reads what the other writes, each on the handle it is given:
    /// concurrently where supported, `ahead` with the higher stream priority. Work submitted later waits for both.
    fn both<E: From<DeviceError>>(
        &self,
        ahead: impl FnOnce(&Self) -> Result<(), E>,
        behind: impl FnOnce(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        ahead(self)?;
        behind(self)
    }

    /// Records the launches of `work` without running them, for [`replay`](Self::replay) at the cost of one launch (a
    /// CUDA graph). A backend without launches runs the work and returns `None`. The work must neither allocate nor
    /// copy.
    fn record<E: From<DeviceError>>(
        &self,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<Self::Graph>, E> {
        work().map(|()| None)
    }

    /// Runs a recorded sequence.
    ///
    /// # Safety
    /// The buffers that the work was recorded with must still exist. No other thread replays the graph at the same time.
    #[expect(unsafe_code, reason = "a graph holds addresses, not buffers")]
    unsafe fn replay(&self, graph: &Self::Graph) -> Result<(), DeviceError>;

    /// Refuses `bytes` that do not fit, before anything is allocated. Below 1 MiB nothing is looked up: that takes longer than the
    /// allocation.
    fn reserve(&self, what: &'static str, bytes: u64) -> Result<(), DeviceError> {
        const LEAST: u64 = 1 << 20;
        if bytes < LEAST {
            return Ok(());
        }
        let free = self.free_bytes();
        if bytes > free {
            return Err(DeviceError::OutOfMemory {
                memory: Self::MEMORY,
                what,
                requested: bytes,
                free,
            });
        }
        Ok(())
    }
}

/// Whether memory for `capacity` elements serves for `len` of them: see [`Backend::renew`].
pub(crate) fn is_reusable(len: usize, capacity: usize) -> bool {
    len <= capacity && capacity / 2 <= len
}

/// Elements that [`Backend::renew`] makes room for.
pub(crate) fn with_room(len: usize) -> usize {
    len + len / 8
}

/// The CPU: buffers are vectors, kernels run on the current rayon thread pool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Host;

impl Backend for Host {
    type Buf<T: Item> = Vec<T>;
    type Stamp = Instant;
    type Graph = Infallible;
    type Link = Infallible;

    const MEMORY: Memory = Memory::Host;

    fn nth_after(&self, _: u32) -> Result<Self, DeviceError> {
        Ok(*self)
    }

    fn shares_streams(&self, _: &Self) -> bool {
        false
    }

    fn apart(&self) -> Result<Self, DeviceError> {
        Ok(*self)
    }

    fn link<E: From<DeviceError>>(
        &self,
        _: usize,
        _: usize,
        _: impl FnMut(Vec<u8>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<Route<Infallible>, E> {
        Ok(Route::Host(None))
    }

    fn describe(link: &Infallible) -> String {
        match *link {}
    }

    fn address<T: Item>(link: &Infallible, _: &mut Vec<T>) -> u64 {
        match *link {}
    }

    fn abort(link: &Infallible) {
        match *link {}
    }

    fn unload<T: Item>(&self, buf: Vec<T>) -> Result<Vec<T>, DeviceError> {
        Ok(buf)
    }

    fn upload<T: Item>(&self, data: Vec<T>) -> Result<Vec<T>, DeviceError> {
        Ok(data)
    }

    fn download<T: Item>(&self, buf: &Vec<T>) -> Result<Vec<T>, DeviceError> {
        Ok(buf.clone())
    }

    fn download_part<T: Item>(
        &self,
        buf: &Vec<T>,
        range: Range<usize>,
    ) -> Result<Vec<T>, DeviceError> {
        Ok(buf[range].to_vec())
    }

    fn write<T: Item>(
        &self,
        data: Vec<T>,
        first: usize,
        to: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        const CHUNK: usize = 1 << 16;
        let to = &mut to[first..first + data.len()];
        to.par_chunks_mut(CHUNK)
            .zip(data.par_chunks(CHUNK))
            .for_each(|(to, from)| to.copy_from_slice(from));
        Ok(())
    }

    #[expect(unsafe_code, reason = "a vector's own address and length")]
    fn export<T: Item>(&self, mut buf: Vec<T>) -> Result<Exported<T>, DeviceError> {
        let (address, len) = (buf.as_mut_ptr() as u64, buf.len());
        // SAFETY: the elements stay where they are while the vector moves; nobody else has it.
        Ok(unsafe { Exported::new(Device::Cpu, address, len, Box::new(buf)) })
    }

    fn alloc<T: Item>(
        &self,
        what: &'static str,
        len: usize,
        value: T,
    ) -> Result<Vec<T>, DeviceError> {
        let mut buf = memory::with_capacity(what, len)?;
        buf.resize(len, value);
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

    fn renew<T: Item>(
        &self,
        what: &'static str,
        mut buf: Vec<T>,
        len: usize,
        value: T,
    ) -> Result<Vec<T>, DeviceError> {
        if is_reusable(len, buf.capacity()) {
            buf.resize(len, value);
            return Ok(buf);
        }
        drop(buf);
        let mut buf = memory::with_capacity(what, with_room(len))?;
        buf.resize(len, value);
        Ok(buf)
    }

    fn repeat<T: Item>(
        &self,
        what: &'static str,
        row: &[T],
        rows: usize,
    ) -> Result<Vec<T>, DeviceError> {
        let Some(&first) = row.first() else {
            return Ok(Vec::new());
        };
        let mut buf = self.alloc(what, row.len() * rows, first)?;
        buf.par_chunks_mut(row.len())
            .for_each(|to| to.copy_from_slice(row));
        Ok(buf)
    }

    fn copy<T: Item>(&self, from: &Vec<T>, to: &mut Vec<T>) -> Result<(), DeviceError> {
        const CHUNK: usize = 1 << 16;
        assert_eq!(from.len(), to.len(), "a copy should keep the length");
        to.par_chunks_mut(CHUNK)
            .zip(from.par_chunks(CHUNK))
            .for_each(|(to, from)| to.copy_from_slice(from));
        Ok(())
    }

    fn len<T: Item>(buf: &Vec<T>) -> usize {
        buf.len()
    }

    fn free_bytes(&self) -> u64 {
        memory::available()
    }

    fn peak_bytes(&self) -> u64 {
        memory::peak_resident()
    }

    fn reset_peak(&self) {
        memory::reset_peak();
    }

    fn stamp(&self) -> Result<Instant, DeviceError> {
        Ok(Instant::now())
    }

    #[expect(unsafe_code, reason = "as declared")]
    unsafe fn replay(&self, graph: &Infallible) -> Result<(), DeviceError> {
        match *graph {}
    }

    fn has_passed(&self, _: &Instant) -> Result<bool, DeviceError> {
        Ok(true)
    }

    fn seconds(&self, from: &Instant, to: &Instant) -> Result<f64, DeviceError> {
        Ok((*to - *from).as_secs_f64())
    }
}
