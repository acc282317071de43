//! NVIDIA's library for messages between GPUs, opened when it is first needed.

use crate::DeviceError;
use libloading::Library;
use std::{
    env,
    ffi::{CStr, c_char, c_int, c_void},
    path::PathBuf,
    sync::OnceLock,
};

/// `ncclComm_t`
pub(super) type Communicator = *mut c_void;
/// `cudaStream_t`, which is a `CUstream`.
pub(super) type Stream = *mut c_void;

/// What all ranks have to know to find one another.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct UniqueId(pub(super) [u8; 128]);

/// `ncclUint8`
const BYTES: c_int = 1;

type InitRank = unsafe extern "C" fn(*mut Communicator, c_int, UniqueId, c_int) -> c_int;
type OfCommunicator = unsafe extern "C" fn(Communicator) -> c_int;
type Send = unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Communicator, Stream) -> c_int;
type Recv = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Communicator, Stream) -> c_int;

/// The functions that are needed.
pub(super) struct Nccl {
    version: c_int,
    get_unique_id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    init_rank: InitRank,
    destroy: OfCommunicator,
    abort: OfCommunicator,
    group_start: unsafe extern "C" fn() -> c_int,
    group_end: unsafe extern "C" fn() -> c_int,
    send: Send,
    recv: Recv,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    /// Keeps the functions in memory.
    _library: Library,
}

/// The library, or why there is none.
pub(super) fn open() -> Result<&'static Nccl, String> {
    static OPENED: OnceLock<Result<Nccl, String>> = OnceLock::new();
    OPENED.get_or_init(find).as_ref().map_err(Clone::clone)
}

/// Opens what `CUTLINK_NCCL` names, else what the system's loader finds.
fn find() -> Result<Nccl, String> {
    let names: Vec<PathBuf> = match env::var_os("CUTLINK_NCCL") {
        Some(path) => vec![path.into()],
        None => vec!["libnccl.so.2".into(), "libnccl.so".into()],
    };
    for name in &names {
        // SAFETY: a library of this name runs its own initialization, as it does in any program that uses it.
        if let Ok(library) = unsafe { Library::new(name) } {
            return functions(library)
                .map_err(|reason| format!("{} is no NCCL that serves: {reason}", name.display()));
        }
    }
    let name = names[0].display();
    Err(format!(
        "{name} was not found; the variable CUTLINK_NCCL names the library"
    ))
}

fn functions(library: Library) -> Result<Nccl, String> {
    macro_rules! get {
        ($name:literal) => {
            // SAFETY: a function of this name in NCCL has the arguments of its documentation.
            *unsafe { library.get(concat!($name, "\0").as_bytes()) }
                .map_err(|error: libloading::Error| error.to_string())?
        };
    }
    let get_version: unsafe extern "C" fn(*mut c_int) -> c_int = get!("ncclGetVersion");
    let mut version = 0;
    // SAFETY: a number is written.
    unsafe { get_version(&raw mut version) };
    Ok(Nccl {
        version,
        get_unique_id: get!("ncclGetUniqueId"),
        init_rank: get!("ncclCommInitRank"),
        destroy: get!("ncclCommDestroy"),
        abort: get!("ncclCommAbort"),
        group_start: get!("ncclGroupStart"),
        group_end: get!("ncclGroupEnd"),
        send: get!("ncclSend"),
        recv: get!("ncclRecv"),
        error_string: get!("ncclGetErrorString"),
        _library: library,
    })
}

impl Nccl {
    /// The name with the version: 22809 is 2.28.9.
    pub(super) fn name(&self) -> String {
        let v = self.version;
        format!("NCCL {}.{}.{}", v / 10_000, v / 100 % 100, v % 100)
    }

    fn check(&self, what: &'static str, code: c_int) -> Result<(), DeviceError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: a static text of the library for any code.
        let text = unsafe { CStr::from_ptr((self.error_string)(code)) };
        Err(DeviceError::Link {
            what,
            reason: format!("{} (NCCL_DEBUG=WARN says more)", text.to_string_lossy()),
        })
    }

    /// What the ranks of a new group have to know.
    pub(super) fn unique_id(&self) -> Result<UniqueId, DeviceError> {
        let mut id = UniqueId([0; 128]);
        // SAFETY: 128 bytes are written.
        let code = unsafe { (self.get_unique_id)(&raw mut id) };
        self.check("begin a group of ranks", code)?;
        Ok(id)
    }

    /// A rank's end of a group; waits for all other ranks. The rank's device has to be current.
    pub(super) fn join(
        &self,
        id: UniqueId,
        rank: usize,
        ranks: usize,
    ) -> Result<Communicator, DeviceError> {
        let mut made = std::ptr::null_mut();
        // SAFETY: a handle is written.
        let code = unsafe { (self.init_rank)(&raw mut made, ranks as c_int, id, rank as c_int) };
        self.check("connect the ranks", code)?;
        Ok(made)
    }

    /// Runs sends and receives as one operation.
    pub(super) fn grouped(
        &self,
        calls: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let what = "exchange messages";
        // SAFETY: no arguments.
        self.check(what, unsafe { (self.group_start)() })?;
        let called = calls();
        // SAFETY: ends the group that was begun, whatever happened in it.
        let ended = unsafe { (self.group_end)() };
        called?;
        self.check(what, ended)
    }

    /// Sends bytes to a rank, in the order of a stream.
    ///
    /// # Safety
    /// The addresses are of a buffer of the group's device that outlives the work of the stream; handles are valid.
    pub(super) unsafe fn send(
        &self,
        (at, bytes): (u64, usize),
        to: usize,
        group: Communicator,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        // SAFETY: as promised.
        let code = unsafe {
            (self.send)(
                at as *const c_void,
                bytes,
                BYTES,
                to as c_int,
                group,
                stream,
            )
        };
        self.check("send a message", code)
    }

    /// Receives bytes from a rank, in the order of a stream.
    ///
    /// # Safety
    /// As [`send`](Self::send); nothing else reads or writes the bytes meanwhile.
    pub(super) unsafe fn receive(
        &self,
        (at, bytes): (u64, usize),
        from: usize,
        group: Communicator,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        // SAFETY: as promised.
        let code = unsafe {
            (self.recv)(
                at as *mut c_void,
                bytes,
                BYTES,
                from as c_int,
                group,
                stream,
            )
        };
        self.check("receive a message", code)
    }

    /// Ends a group whose work is done, or has failed.
    ///
    /// # Safety
    /// The handle is valid, and not used afterwards.
    pub(super) unsafe fn end(&self, group: Communicator, has_failed: bool) {
        // SAFETY: as promised. A failure leaves the memory taken.
        unsafe {
            match has_failed {
                true => (self.abort)(group),
                false => (self.destroy)(group),
            }
        };
    }
}
