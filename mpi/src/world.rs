//! The processes.

#![expect(unsafe_code, reason = "MPI is a C library")]

use crate::{
    MpiError,
    launcher::launched,
    library::{Functions, Handle, Status, open},
};
use std::{
    collections::VecDeque,
    ffi::c_int,
    fmt, ptr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// Bytes of one MPI message: counts are 32-bit numbers. A message that is exactly as long is followed by its rest.
const PIECE: usize = 1 << 30;

/// All messages have this tag.
const TAG: c_int = 1;

/// A message on its way: its request, and its bytes.
struct Sent {
    request: Handle,
    _bytes: Vec<u8>,
}

/// All processes that the launcher has started. To be opened once, and dropped by the thread that has opened it.
pub struct World {
    functions: Functions,
    rank: usize,
    size: usize,
    /// Calls come one after the other, by whatever thread.
    sent: Mutex<VecDeque<Sent>>,
    /// Whether no process waits for another one.
    is_released: AtomicBool,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}

fn check(function: &'static str, code: c_int) -> Result<(), MpiError> {
    match code {
        0 => Ok(()),
        code => Err(MpiError::Failed { function, code }),
    }
}

impl World {
    /// Joins the other processes; `None` where there are none.
    ///
    /// # Errors
    /// There is no MPI library, or it does not start.
    pub fn join() -> Result<Option<Self>, MpiError> {
        let Some(processes) = launched() else {
            return Ok(None);
        };
        let functions = open(processes)?;
        let (mut provided, mut rank, mut size) = (0, 0, 0);
        // SAFETY: the first call; arguments of a program are not wanted.
        let code = unsafe {
            (functions.init_thread)(
                ptr::null_mut(),
                ptr::null_mut(),
                functions.serialized,
                &raw mut provided,
            )
        };
        check("MPI_Init_thread", code)?;
        // SAFETY: the library is initialized; the handle is its own.
        check("MPI_Comm_rank", unsafe {
            (functions.comm_rank)(functions.world, &raw mut rank)
        })?;
        // SAFETY: as above.
        check("MPI_Comm_size", unsafe {
            (functions.comm_size)(functions.world, &raw mut size)
        })?;
        let world = Self {
            functions,
            rank: usize::try_from(rank).unwrap_or(0),
            size: usize::try_from(size).unwrap_or(1),
            sent: Mutex::default(),
            is_released: AtomicBool::new(false),
        };
        if provided < world.functions.serialized {
            return Err(MpiError::Failed {
                function: "MPI_Init_thread (calls from several threads)",
                code: provided,
            });
        }
        Ok(Some(world))
    }

    /// The rank of this process.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Processes.
    pub fn size(&self) -> usize {
        self.size
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Sent>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends bytes to a rank; does not wait until they are received.
    ///
    /// # Errors
    /// Where MPI fails.
    ///
    /// # Panics
    /// Where there is no such rank.
    pub fn send(&self, to: usize, bytes: Vec<u8>) -> Result<(), MpiError> {
        assert!(to < self.size, "rank {to} of {}", self.size);
        let mut sent = self.lock();
        let mut rest = bytes;
        loop {
            let next = (rest.len() >= PIECE).then(|| rest.split_off(PIECE));
            let mut request = 0;
            // SAFETY: the bytes stay where they are, in `sent`, until the request is done.
            check("MPI_Isend", unsafe {
                (self.functions.isend)(
                    rest.as_ptr(),
                    rest.len() as c_int,
                    self.functions.byte,
                    to as c_int,
                    TAG,
                    self.functions.world,
                    &raw mut request,
                )
            })?;
            sent.push_back(Sent {
                request,
                _bytes: rest,
            });
            match next {
                Some(more) => rest = more,
                None => return Ok(()),
            }
        }
    }

    /// Waits for the bytes that a rank sends.
    ///
    /// # Errors
    /// Where MPI fails.
    ///
    /// # Panics
    /// Where there is no such rank.
    pub fn receive(&self, from: usize) -> Result<Vec<u8>, MpiError> {
        assert!(from < self.size, "rank {from} of {}", self.size);
        let _one = self.lock();
        let (mut all, mut status): (Vec<u8>, Status) = (Vec::new(), Status::default());
        loop {
            let mut count = 0;
            // SAFETY: the status has room for that of any library.
            check("MPI_Probe", unsafe {
                (self.functions.probe)(from as c_int, TAG, self.functions.world, &raw mut status)
            })?;
            // SAFETY: the status of the message that was found.
            check("MPI_Get_count", unsafe {
                (self.functions.get_count)(&raw const status, self.functions.byte, &raw mut count)
            })?;
            let (first, piece) = (all.len(), usize::try_from(count).unwrap_or(0));
            all.resize(first + piece, 0);
            // SAFETY: there is room for as many bytes as were found.
            check("MPI_Recv", unsafe {
                (self.functions.recv)(
                    all[first..].as_mut_ptr(),
                    count,
                    self.functions.byte,
                    from as c_int,
                    TAG,
                    self.functions.world,
                    &raw mut status,
                )
            })?;
            if piece < PIECE {
                return Ok(all);
            }
        }
    }

    /// The bytes that a rank has sent, if they have arrived.
    ///
    /// # Errors
    /// Where MPI fails.
    ///
    /// # Panics
    /// Where there is no such rank.
    pub fn try_receive(&self, from: usize) -> Result<Option<Vec<u8>>, MpiError> {
        assert!(from < self.size, "rank {from} of {}", self.size);
        let (mut is_there, mut status) = (0, Status::default());
        {
            let _one = self.lock();
            // SAFETY: the status has room for that of any library.
            check("MPI_Iprobe", unsafe {
                (self.functions.iprobe)(
                    from as c_int,
                    TAG,
                    self.functions.world,
                    &raw mut is_there,
                    &raw mut status,
                )
            })?;
        }
        match is_there {
            0 => Ok(None),
            _ => self.receive(from).map(Some),
        }
    }

    /// Waits until what was sent has left.
    ///
    /// # Errors
    /// Where MPI fails.
    pub fn flush(&self) -> Result<(), MpiError> {
        let mut all = self.lock();
        while let Some(mut sent) = all.pop_front() {
            let mut status = Status::default();
            // SAFETY: a request of this library, with its bytes.
            check("MPI_Wait", unsafe {
                (self.functions.wait)(&raw mut sent.request, &raw mut status)
            })?;
        }
        Ok(())
    }

    /// No process waits for another one any more: all may end by themselves.
    pub fn release(&self) {
        self.is_released.store(true, Ordering::Release);
    }

    /// Whether [`release`](Self::release) was called.
    pub fn is_released(&self) -> bool {
        self.is_released.load(Ordering::Acquire)
    }

    /// Ends all processes, with this exit code.
    pub fn abort(&self, code: u8) {
        // SAFETY: MPI is initialized.
        unsafe { (self.functions.abort)(self.functions.world, code.into()) };
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Others may wait for what does not come.
            self.abort(101);
        }
        // Without this, the launcher takes the end of a process for a failure.
        let _ = self.flush();
        // SAFETY: MPI is initialized, and nothing is on its way.
        unsafe { (self.functions.finalize)() };
    }
}
