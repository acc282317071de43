//! An MPI library that was opened, with the functions and handles that are needed of it.
//!
//! There are three binary interfaces. They differ in what handles are (addresses, 32-bit numbers, small numbers) and in the numbers
//! of constants; functions have the same arguments. Handles are passed as words of a register's size, of which libraries with 32-bit
//! handles read the lower half.

#![expect(unsafe_code, reason = "MPI is a C library")]

use crate::MpiError;
use libloading::Library;
use std::{
    env,
    ffi::{c_int, c_void},
    path::{Path, PathBuf},
};

/// A handle: an address or a number.
pub(crate) type Handle = usize;

/// Room for a status: libraries take 20 to 40 bytes.
pub(crate) type Status = [u64; 16];

type InitThread = unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int;
type CommNumber = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
type Isend =
    unsafe extern "C" fn(*const u8, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int;
type Recv =
    unsafe extern "C" fn(*mut u8, c_int, Handle, c_int, c_int, Handle, *mut Status) -> c_int;
type Probe = unsafe extern "C" fn(c_int, c_int, Handle, *mut Status) -> c_int;
type Iprobe = unsafe extern "C" fn(c_int, c_int, Handle, *mut c_int, *mut Status) -> c_int;
type GetCount = unsafe extern "C" fn(*const Status, Handle, *mut c_int) -> c_int;
type Wait = unsafe extern "C" fn(*mut Handle, *mut Status) -> c_int;
type Abort = unsafe extern "C" fn(Handle, c_int) -> c_int;
type Finalize = unsafe extern "C" fn() -> c_int;

/// The functions, and the handles of all processes and of bytes.
pub(crate) struct Functions {
    pub(crate) init_thread: InitThread,
    pub(crate) comm_rank: CommNumber,
    pub(crate) comm_size: CommNumber,
    pub(crate) isend: Isend,
    pub(crate) recv: Recv,
    pub(crate) probe: Probe,
    pub(crate) iprobe: Iprobe,
    pub(crate) get_count: GetCount,
    pub(crate) wait: Wait,
    pub(crate) abort: Abort,
    pub(crate) finalize: Finalize,
    /// `MPI_COMM_WORLD`
    pub(crate) world: Handle,
    /// `MPI_BYTE`
    pub(crate) byte: Handle,
    /// `MPI_THREAD_SERIALIZED`
    pub(crate) serialized: c_int,
    /// Keeps the functions in memory.
    _library: Library,
}

/// Names of libraries: Open MPI's, the standard interface's, MPICH's.
const NAMES: [&str; 3] = ["libmpi.so.40", "libmpi_abi.so.1", "libmpi.so.12"];

/// Where libraries may be: what `CUTLINK_MPI` says; else where the system finds them, and beside the launchers on the path. Those of
/// the launcher that has started the process come first.
fn candidates() -> Vec<PathBuf> {
    if let Some(path) = env::var_os("CUTLINK_MPI") {
        return vec![path.into()];
    }
    let mut names = NAMES.to_vec();
    if env::var_os("OMPI_COMM_WORLD_SIZE").is_none() {
        names.rotate_left(1);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path)
        .filter(|folder| folder.join("mpiexec").exists() || folder.join("mpirun").exists())
        .map(|folder| folder.join("../lib"))
        .collect();
    let beside = |name: &str| {
        let found = folders.iter().map(|folder| folder.join(name));
        found.filter(|path| path.exists()).collect::<Vec<_>>()
    };
    let of_name = |name: &&str| [beside(name), vec![PathBuf::from(name)]].concat();
    names.iter().flat_map(of_name).collect()
}

/// Opens the first library that is there.
pub(crate) fn open(processes: usize) -> Result<Functions, MpiError> {
    let mut tried = Vec::new();
    for path in candidates() {
        // SAFETY: a library of this name runs its own initialization, as it does in any MPI program.
        match unsafe { Library::new(&path) } {
            Ok(library) => return functions(library, &path),
            Err(_) => tried.push(path.display().to_string()),
        }
    }
    Err(MpiError::NotFound { processes, tried })
}

fn functions(library: Library, path: &Path) -> Result<Functions, MpiError> {
    let missing = |error: libloading::Error| MpiError::Library {
        path: path.display().to_string(),
        reason: error.to_string(),
    };
    macro_rules! get {
        ($name:literal) => {
            // SAFETY: a function of this name in an MPI library has the arguments of the standard.
            *unsafe { library.get(concat!($name, "\0").as_bytes()) }.map_err(missing)?
        };
    }
    // SAFETY: only the address is taken, of an object of the library.
    let address = |name: &[u8]| unsafe {
        let found = library.get::<*const c_void>(name);
        found.map(|symbol| symbol.into_raw().as_raw_ptr() as Handle)
    };
    let is_standard = path.to_string_lossy().contains("mpi_abi");
    let (world, byte, serialized) = match address(b"ompi_mpi_comm_world\0") {
        // Open MPI: addresses of its objects.
        Ok(world) => (world, address(b"ompi_mpi_byte\0").map_err(missing)?, 2),
        // MPI 5.0, appendix A.
        Err(_) if is_standard => (0x101, 0x247, 2048),
        // MPICH's `mpi.h`.
        Err(_) => (0x4400_0000, 0x4c00_010d, 2),
    };
    Ok(Functions {
        init_thread: get!("MPI_Init_thread"),
        comm_rank: get!("MPI_Comm_rank"),
        comm_size: get!("MPI_Comm_size"),
        isend: get!("MPI_Isend"),
        recv: get!("MPI_Recv"),
        probe: get!("MPI_Probe"),
        iprobe: get!("MPI_Iprobe"),
        get_count: get!("MPI_Get_count"),
        wait: get!("MPI_Wait"),
        abort: get!("MPI_Abort"),
        finalize: get!("MPI_Finalize"),
        world,
        byte,
        serialized,
        _library: library,
    })
}
