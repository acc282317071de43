//! A device, its stream and its memory pool.

use super::{
    CudaBuf,
    buffer::{Foreign, Raw},
    cache::{self, Cache},
    graph::{Graph, LANES, Lane, Place},
    launch::Loaded,
    link::GpuLink,
    staging::Pinned,
};
use crate::{
    Backend, Device, DeviceError, Exported, Item, Memory, Route,
    backend::{is_reusable, with_room},
    lock,
};
use cudarc::driver::sys;
use std::{
    collections::HashMap,
    ffi::CStr,
    fmt,
    ops::Range,
    ptr,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// The byte that [`Cuda::checked`] fills new buffers with.
const POISON: u8 = 0xa5;
/// Major compute capability of the oldest cards that there are kernels for (`cutlink-nvcc`).
const OLDEST: i32 = 8;
/// Driver version of the CUDA that the kernels are compiled with: 13.0.
const NEEDED: i32 = 13_000;

/// One NVIDIA GPU. Clones share it. The second member is the stream that work is submitted to: the main one except
/// within [`Backend::both`].
#[derive(Clone)]
pub struct Cuda(pub(super) Arc<Inner>, pub(super) Place);

pub(super) struct Inner {
    context: sys::CUcontext,
    pub(super) device: sys::CUdevice,
    pub(super) stream: sys::CUstream,
    pool: sys::CUmemoryPool,
    name: String,
    /// Bytes that were free when the device was opened.
    room: u64,
    used: AtomicU64,
    peak: AtomicU64,
    launches: AtomicU64,
    pub(super) checked: bool,
    pub(super) loaded: Mutex<HashMap<usize, Loaded>>,
    cache: Mutex<Cache>,
    pub(super) scratch: Mutex<Option<Raw>>,
    pub(super) pinned: Mutex<Option<Pinned>>,
    pub(super) lanes: [OnceLock<Lane>; LANES],
}

// SAFETY: the driver's handles may be used from any thread that has made the context current,
// which every call does first.
unsafe impl Send for Inner {}
// SAFETY: as above; the driver's interface is safe to call from several threads, and what is
// not the driver's is behind locks.
unsafe impl Sync for Inner {}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cuda({})", self.0.name)
    }
}

/// Turns a driver's return code into an error that names the operation.
pub(super) fn check(what: &'static str, code: sys::CUresult) -> Result<(), DeviceError> {
    if code == sys::CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    Err(DeviceError::Driver {
        what,
        reason: text_of(code),
    })
}

pub(super) fn text_of(code: sys::CUresult) -> String {
    let mut text = ptr::null();
    // SAFETY: the driver is loaded, for it gave the code; the text is static.
    let found = unsafe { sys::cuGetErrorString(code, &raw mut text) };
    if found != sys::CUresult::CUDA_SUCCESS || text.is_null() {
        return format!("error {}", code as u32);
    }
    // SAFETY: a string of the driver, ended by a zero.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// Loads the driver and starts it.
fn start() -> Result<(), DeviceError> {
    // SAFETY: looks for the library and loads it.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::NoDriver);
    }
    let mut version = 0;
    // SAFETY: the library is there; the version may be queried before the start.
    check("ask for the driver's version", unsafe {
        sys::cuDriverGetVersion(&raw mut version)
    })?;
    if version < NEEDED {
        return Err(DeviceError::OldDriver {
            version: (version / 1000, version % 1000 / 10),
            needed: (NEEDED / 1000, NEEDED % 1000 / 10),
        });
    }
    // SAFETY: as above.
    match unsafe { sys::cuInit(0) } {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => Err(DeviceError::NoDevice {
            ordinal: 0,
            devices: 0,
        }),
        code => check("start the driver", code),
    }
}

/// CUDA devices of this machine.
pub fn count() -> Result<u32, DeviceError> {
    match start() {
        Err(DeviceError::NoDevice { .. }) => return Ok(0),
        other => other?,
    }
    let mut count = 0;
    // SAFETY: the driver is started.
    check("count the devices", unsafe {
        sys::cuDeviceGetCount(&raw mut count)
    })?;
    Ok(count.unsigned_abs())
}

impl Cuda {
    /// Opens the device of this ordinal.
    pub fn new(ordinal: u32) -> Result<Self, DeviceError> {
        Self::open(ordinal, false)
    }

    /// As [`new`](Self::new), for tests: new memory is poisoned, so that an element that no kernel writes shows, and
    /// every launch is synchronized, so that an error names its kernel.
    pub fn checked(ordinal: u32) -> Result<Self, DeviceError> {
        Self::open(ordinal, true)
    }

    fn open(ordinal: u32, checked: bool) -> Result<Self, DeviceError> {
        let devices = count()?;
        if ordinal >= devices {
            return Err(DeviceError::NoDevice { ordinal, devices });
        }
        let (mut device, mut context) = (0, ptr::null_mut());
        let (mut stream, mut pool) = (ptr::null_mut(), ptr::null_mut());
        let (mut free, mut total) = (0, 0);
        let mut name = [0; 128];
        let (mut keep, mut major) = (u64::MAX, 0);
        // SAFETY: the driver is started, the ordinal is in range, and all pointers are to
        // variables of the types that the calls write; a context is current from the second
        // call on.
        unsafe {
            check(
                "open the device",
                sys::cuDeviceGet(&raw mut device, ordinal as i32),
            )?;
            check(
                "open the device",
                sys::cuDevicePrimaryCtxRetain(&raw mut context, device),
            )?;
            check("open the device", sys::cuCtxSetCurrent(context))?;
            check(
                "make a stream",
                sys::cuStreamCreate(
                    &raw mut stream,
                    sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32,
                ),
            )?;
            check(
                "open the memory pool",
                sys::cuDeviceGetDefaultMemPool(&raw mut pool, device),
            )?;
            check(
                "open the memory pool",
                sys::cuMemPoolSetAttribute(
                    pool,
                    sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                    (&raw mut keep).cast(),
                ),
            )?;
            check(
                "ask for free memory",
                sys::cuMemGetInfo_v2(&raw mut free, &raw mut total),
            )?;
            check(
                "ask for the device's architecture",
                sys::cuDeviceGetAttribute(
                    &raw mut major,
                    sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                    device,
                ),
            )?;
            check(
                "ask for the device's name",
                sys::cuDeviceGetName(name.as_mut_ptr(), 127, device),
            )?;
        }
        // SAFETY: the driver ends the name with a zero, and the last byte is one.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        if major < OLDEST {
            return Err(DeviceError::WrongArchitecture {
                device: name.to_string_lossy().into_owned(),
            });
        }
        let inner = Inner {
            context,
            device,
            stream,
            pool,
            name: name.to_string_lossy().into_owned(),
            room: free as u64,
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            launches: AtomicU64::new(0),
            checked,
            loaded: Mutex::default(),
            cache: Mutex::default(),
            scratch: Mutex::default(),
            pinned: Mutex::default(),
            lanes: [const { OnceLock::new() }; LANES],
        };
        Ok(Self(Arc::new(inner), Place::default()))
    }

    /// The card's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether kernels of this card may write into the memory of another one of this process.
    pub(super) fn reaches(&self, ordinal: u32) -> Result<bool, DeviceError> {
        let mut reaches = 0;
        // SAFETY: the driver is started; a number is written.
        check("ask for access between devices", unsafe {
            sys::cuDeviceCanAccessPeer(&raw mut reaches, self.0.device, ordinal as i32)
        })?;
        Ok(reaches != 0)
    }

    /// Lets kernels of another card of this process write into this one's memory.
    pub(super) fn open_to(&self, ordinal: u32) -> Result<(), DeviceError> {
        let access = sys::CUmemAccessDesc_st {
            location: sys::CUmemLocation_st {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: ordinal as i32,
            },
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: the pool lives as long as `self`; one description is read.
        check("open memory to another device", unsafe {
            sys::cuMemPoolSetAccess(self.0.pool, &raw const access, 1)
        })
    }

    /// What tells the card from all others, of any host.
    pub(super) fn uuid(&self) -> Result<[u8; 16], DeviceError> {
        let mut uuid = sys::CUuuid_st { bytes: [0; 16] };
        // SAFETY: the driver is started; 16 bytes are written.
        check("ask for the device's UUID", unsafe {
            sys::cuDeviceGetUuid_v2(&raw mut uuid, self.0.device)
        })?;
        Ok(bytemuck::cast(uuid.bytes))
    }

    /// The number that it was opened by.
    pub(super) fn ordinal(&self) -> u32 {
        self.0.device.unsigned_abs()
    }

    /// Waits for the work of all streams of the device, also of other libraries.
    pub(super) fn wait_for_all(&self) -> Result<(), DeviceError> {
        self.bind()?;
        // SAFETY: the context is current.
        check("wait for the device", unsafe { sys::cuCtxSynchronize() })
    }

    pub(super) fn count_launch(&self) {
        self.0.launches.fetch_add(1, Relaxed);
    }

    /// Makes the device's context current for this thread, as every call does first.
    pub(super) fn bind(&self) -> Result<(), DeviceError> {
        // SAFETY: the context lives as long as `self`.
        check("use the device", unsafe {
            sys::cuCtxSetCurrent(self.0.context)
        })
    }

    /// Waits for all work.
    pub fn wait(&self) -> Result<(), DeviceError> {
        self.bind()?;
        // SAFETY: the stream lives as long as `self`.
        check("wait for the device", unsafe {
            sys::cuStreamSynchronize(self.0.stream)
        })
    }

    /// A buffer of unspecified elements, for a kernel to write.
    pub fn uninit<T: Item>(
        &self,
        what: &'static str,
        len: usize,
    ) -> Result<CudaBuf<T>, DeviceError> {
        CudaBuf::new(self, what, len)
    }

    /// Copies host data into a new buffer; `what` names it in an out-of-memory error.
    pub fn upload_slice<T: Item>(
        &self,
        what: &'static str,
        data: &[T],
    ) -> Result<CudaBuf<T>, DeviceError> {
        CudaBuf::from_host(self, what, data)
    }

    /// Memory of `bytes` bytes, which is unspecified. A checked device keeps nothing that was given back, so that a tool
    /// sees use after it.
    pub(super) fn take(&self, what: &'static str, bytes: usize) -> Result<Raw, DeviceError> {
        self.bind()?;
        let kept = match self.0.checked {
            true => None,
            false => lock(&self.0.cache).take(bytes),
        };
        let (at, size) = match kept {
            Some(kept) => kept,
            None => self.allocate(what, bytes)?,
        };
        let used = self.0.used.fetch_add(bytes as u64, Relaxed) + bytes as u64;
        self.0.peak.fetch_max(used, Relaxed);
        if self.0.checked {
            // SAFETY: the memory was just taken, and is of that size.
            check("poison memory", unsafe {
                sys::cuMemsetD8Async(at, POISON, size, self.0.stream)
            })?;
        }
        Ok(Raw {
            at,
            bytes: size,
            asked: bytes,
        })
    }

    /// New memory of the pool and its size; if there is none, after the pool got back what is kept.
    fn allocate(
        &self,
        what: &'static str,
        bytes: usize,
    ) -> Result<(sys::CUdeviceptr, usize), DeviceError> {
        let size = match self.0.checked {
            true => bytes,
            false => cache::rounded(bytes),
        };
        let (pool, stream) = (self.0.pool, self.0.stream);
        let mut at = 0;
        // SAFETY: pool and stream live as long as `self`; `at` is written.
        let mut ask = || unsafe { sys::cuMemAllocFromPoolAsync(&raw mut at, size, pool, stream) };
        let mut code = ask();
        if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            for at in lock(&self.0.cache).drain() {
                // SAFETY: as in `give_back`.
                unsafe { sys::cuMemFreeAsync(at, stream) };
            }
            // Only memory whose work is done can be mapped anew.
            self.wait()?;
            code = ask();
        }
        if code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Err(DeviceError::OutOfMemory {
                memory: Memory::Device,
                what,
                requested: bytes as u64,
                free: self.free_bytes(),
            });
        }
        check("allocate memory", code)?;
        Ok((at, size))
    }

    pub(super) fn give_back(&self, raw: Raw) {
        self.0.used.fetch_sub(raw.asked as u64, Relaxed);
        if !self.0.checked {
            return lock(&self.0.cache).keep(raw.at, raw.bytes);
        }
        if self.bind().is_ok() {
            // SAFETY: taken from the pool and not given back before; ordered behind all work
            // that uses it. A failure leaves the memory taken.
            unsafe { sys::cuMemFreeAsync(raw.at, self.0.stream) };
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Members that hold memory of the stream go first; they have no way back to this.
        let scratch = lock(&self.scratch).take();
        let pinned = lock(&self.pinned).take();
        let loaded = std::mem::take(&mut *lock(&self.loaded));
        // SAFETY: nobody else uses the handles any more; failures leave things to the end of the
        // process.
        unsafe {
            sys::cuCtxSetCurrent(self.context);
            let kept = lock(&self.cache).drain();
            for at in scratch.map(|raw| raw.at).into_iter().chain(kept) {
                sys::cuMemFreeAsync(at, self.stream);
            }
            sys::cuStreamSynchronize(self.stream);
            drop(pinned);
            for lane in self.lanes.iter().filter_map(OnceLock::get) {
                lane.destroy();
            }
            for module in loaded.into_values() {
                module.unload();
            }
            sys::cuStreamDestroy_v2(self.stream);
            sys::cuMemPoolTrimTo(self.pool, 0);
            sys::cuDevicePrimaryCtxRelease_v2(self.device);
        }
    }
}

/// An event in the stream, timed by the device's clock (resolution half a microsecond).
#[derive(Debug)]
pub struct Event {
    handle: sys::CUevent,
    of: Cuda,
}

// SAFETY: events may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Drop for Event {
    fn drop(&mut self) {
        if self.of.bind().is_ok() {
            // SAFETY: made by this type, destroyed once.
            unsafe { sys::cuEventDestroy_v2(self.handle) };
        }
    }
}

impl Backend for Cuda {
    type Buf<T: Item> = CudaBuf<T>;
    type Stamp = Event;
    type Graph = Graph;
    type Link = GpuLink;
    const MEMORY: Memory = Memory::Device;

    fn nth_after(&self, n: u32) -> Result<Self, DeviceError> {
        match n {
            0 => Ok(self.clone()),
            _ => Self::open(self.ordinal().saturating_add(n), self.0.checked),
        }
    }

    fn shares_streams(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn apart(&self) -> Result<Self, DeviceError> {
        Self::open(self.ordinal(), self.0.checked)
    }

    fn link<E: From<DeviceError>>(
        &self,
        rank: usize,
        ranks: usize,
        gather: impl FnMut(Vec<u8>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<Route<GpuLink>, E> {
        GpuLink::new(self, rank, ranks, gather)
    }

    fn describe(link: &GpuLink) -> String {
        link.describe()
    }

    fn address<T: Item>(_: &GpuLink, buf: &mut CudaBuf<T>) -> u64 {
        buf.share()
    }

    fn abort(link: &GpuLink) {
        link.abort();
    }

    fn both<E: From<DeviceError>>(
        &self,
        ahead: impl FnOnce(&Self) -> Result<(), E>,
        behind: impl FnOnce(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.side_by_side(ahead, behind)
    }

    fn record<E: From<DeviceError>>(
        &self,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<Graph>, E> {
        Graph::record(self, work)
    }

    unsafe fn replay(&self, graph: &Graph) -> Result<(), DeviceError> {
        graph.launch(self)
    }

    fn upload<T: Item>(&self, data: Vec<T>) -> Result<CudaBuf<T>, DeviceError> {
        CudaBuf::from_host(self, "data", &data)
    }

    fn download<T: Item>(&self, buf: &CudaBuf<T>) -> Result<Vec<T>, DeviceError> {
        buf.to_host()
    }

    fn download_part<T: Item>(
        &self,
        buf: &CudaBuf<T>,
        range: Range<usize>,
    ) -> Result<Vec<T>, DeviceError> {
        let part = buf.piece("a part of a buffer", range.start, range.len())?;
        part.to_host()
    }

    fn write<T: Item>(
        &self,
        data: Vec<T>,
        first: usize,
        to: &mut CudaBuf<T>,
    ) -> Result<(), DeviceError> {
        to.copy_from(first, &self.upload(data)?)
    }

    fn export<T: Item>(&self, buf: CudaBuf<T>) -> Result<Exported<T>, DeviceError> {
        self.wait()?;
        let (device, address, len) = (Device::Cuda(self.ordinal()), buf.address(0), buf.len());
        // SAFETY: the buffer's own address and length; nobody else has it.
        Ok(unsafe { Exported::new(device, address, len, Box::new(Foreign(buf))) })
    }

    fn alloc<T: Item>(
        &self,
        what: &'static str,
        len: usize,
        value: T,
    ) -> Result<CudaBuf<T>, DeviceError> {
        let mut buf = CudaBuf::new(self, what, len)?;
        buf.fill(0, value)?;
        Ok(buf)
    }

    fn resize<T: Item>(
        &self,
        what: &'static str,
        buf: &mut CudaBuf<T>,
        len: usize,
        value: T,
    ) -> Result<(), DeviceError> {
        let old = buf.len();
        buf.grow(what, len)?;
        buf.fill(old.min(len), value)
    }

    fn renew<T: Item>(
        &self,
        what: &'static str,
        mut buf: CudaBuf<T>,
        len: usize,
        _: T,
    ) -> Result<CudaBuf<T>, DeviceError> {
        if is_reusable(len, buf.capacity()) {
            buf.grow(what, len)?;
            return Ok(buf);
        }
        drop(buf);
        let mut buf = CudaBuf::new(self, what, with_room(len))?;
        buf.truncate(len);
        Ok(buf)
    }

    fn repeat<T: Item>(
        &self,
        what: &'static str,
        row: &[T],
        rows: usize,
    ) -> Result<CudaBuf<T>, DeviceError> {
        let mut buf = CudaBuf::new(self, what, row.len() * rows)?;
        buf.fill_with(row)?;
        Ok(buf)
    }

    fn copy<T: Item>(&self, from: &CudaBuf<T>, to: &mut CudaBuf<T>) -> Result<(), DeviceError> {
        assert_eq!(from.len(), to.len(), "a copy should be as long");
        to.copy_from(0, from)
    }

    fn peak_bytes(&self) -> u64 {
        self.0.peak.load(Relaxed)
    }

    fn reset_peak(&self) {
        self.0.peak.store(self.0.used.load(Relaxed), Relaxed);
    }

    fn launches(&self) -> Option<u64> {
        Some(self.0.launches.load(Relaxed))
    }

    fn len<T: Item>(buf: &CudaBuf<T>) -> usize {
        buf.len()
    }

    fn free_bytes(&self) -> u64 {
        self.0.room.saturating_sub(self.0.used.load(Relaxed))
    }

    fn stamp(&self) -> Result<Event, DeviceError> {
        self.bind()?;
        let mut handle = ptr::null_mut();
        // SAFETY: writes a handle; the stream lives as long as `self`.
        unsafe {
            check("make an event", sys::cuEventCreate(&raw mut handle, 0))?;
            let event = Event {
                handle,
                of: self.clone(),
            };
            check("record an event", sys::cuEventRecord(handle, self.stream()))?;
            Ok(event)
        }
    }

    fn has_passed(&self, stamp: &Event) -> Result<bool, DeviceError> {
        self.bind()?;
        // SAFETY: a recorded event.
        match unsafe { sys::cuEventQuery(stamp.handle) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => check("ask for an event", code).map(|()| true),
        }
    }

    fn seconds(&self, from: &Event, to: &Event) -> Result<f64, DeviceError> {
        self.bind()?;
        let mut ms = 0.0;
        // SAFETY: recorded events of one device; the time is written.
        unsafe {
            check("wait for an event", sys::cuEventSynchronize(to.handle))?;
            check(
                "measure time",
                sys::cuEventElapsedTime_v2(&raw mut ms, from.handle, to.handle),
            )?;
        }
        Ok(f64::from(ms) / 1e3)
    }
}
