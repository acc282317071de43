//! Messages between ranks, which are threads of a process or processes.

use super::communicator::{Communicator, bytes_of, numbers};
use crate::{SolverError, kernels::ExactSum};
use cutlink_device::Item;
use std::{
    any::Any,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, Sender, TryRecvError, channel},
    },
    thread,
    time::Duration,
};

/// How long a rank that waits, and has nothing to do meanwhile, spins before it sleeps.
const SPINS: u32 = 2000;
/// How long it sleeps before it looks again.
const NAP: Duration = Duration::from_micros(50);

type Message = Box<dyn Any + Send>;

/// A rank's communication with the others. Messages of one rank to another arrive in the order in which they were sent.
#[derive(Debug)]
pub(crate) enum Comm {
    Threads(ThreadComm),
    Processes(Arc<dyn Communicator>),
}

/// A rank's ends of channels, by the other rank: to it, and from it.
type Ends<T> = (Vec<Sender<T>>, Vec<Mutex<Receiver<T>>>);

/// A channel from each of so many ranks to each.
pub(super) fn all_to_all<T>(ranks: usize) -> Vec<Ends<T>> {
    let mut all: Vec<Ends<T>> = (0..ranks).map(|_| (Vec::new(), Vec::new())).collect();
    for from in 0..ranks {
        for to in 0..ranks {
            let (sender, receiver) = channel();
            all[from].0.push(sender);
            all[to].1.push(Mutex::new(receiver));
        }
    }
    all
}

/// The channels of a rank that is a thread.
#[derive(Debug)]
pub(crate) struct ThreadComm {
    rank: usize,
    to: Vec<Sender<Message>>,
    from: Vec<Mutex<Receiver<Message>>>,
    failed: Arc<AtomicBool>,
    /// What a test has ranks wait for before they send or receive; 0 for nothing.
    jitter: AtomicU64,
}

/// Tells the other ranks, when it is dropped, that this one has failed, unless it was turned off.
pub(crate) struct FailureGuard {
    failed: Arc<AtomicBool>,
    /// Ends what others wait for on their devices.
    end: Box<dyn Fn() + Send>,
    is_off: bool,
}

impl FailureGuard {
    /// The rank has not failed.
    pub(crate) fn turn_off(mut self) {
        self.is_off = true;
    }
}

impl Drop for FailureGuard {
    fn drop(&mut self) {
        if !self.is_off {
            self.failed.store(true, Ordering::Release);
            (self.end)();
        }
    }
}

impl ThreadComm {
    /// Waits for times that follow from a seed, if there is one.
    fn wait(&self) {
        let mut state = self.jitter.load(Ordering::Relaxed);
        if state == 0 {
            return;
        }
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.jitter.store(state, Ordering::Relaxed);
        if state.is_multiple_of(3) {
            thread::sleep(Duration::from_micros(state % 200));
        }
    }

    fn try_receive(&self, from: usize) -> Result<Option<Message>, SolverError> {
        let lost = || SolverError::Rank { rank: from };
        let receiver = &self.from[from];
        let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
        match receiver.try_recv() {
            Ok(message) => Ok(Some(message)),
            Err(TryRecvError::Empty) if !self.failed.load(Ordering::Acquire) => Ok(None),
            Err(_) => Err(lost()),
        }
    }
}

/// Tries again and again; meanwhile the thread does other work of its pool, such as the step of the coarser level.
fn until<T>(try_it: impl Fn() -> Result<Option<T>, SolverError>) -> Result<T, SolverError> {
    let mut idle = 0;
    loop {
        if let Some(found) = try_it()? {
            return Ok(found);
        }
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => idle = 0,
            _ if idle < SPINS => {
                idle += 1;
                thread::yield_now();
            }
            _ => thread::sleep(NAP),
        }
    }
}

impl Comm {
    /// Communication between so many threads.
    pub(crate) fn of_threads(ranks: usize) -> Vec<Self> {
        let failed = Arc::new(AtomicBool::new(false));
        let of_rank = |(rank, (to, from))| {
            Self::Threads(ThreadComm {
                rank,
                to,
                from,
                failed: Arc::clone(&failed),
                jitter: AtomicU64::new(0),
            })
        };
        all_to_all(ranks)
            .into_iter()
            .enumerate()
            .map(of_rank)
            .collect()
    }

    /// Has a thread wait for times that follow from a seed, before it sends and receives.
    #[cfg(test)]
    pub(crate) fn delay(&self, seed: u64) {
        if let Self::Threads(channels) = self {
            channels.jitter.store(seed, Ordering::Relaxed);
        }
    }

    /// An alarm that goes off where the rank fails, with something else to do then. Where a process fails, all are ended.
    pub(crate) fn alarm(&self, end: Box<dyn Fn() + Send>) -> Option<FailureGuard> {
        match self {
            Self::Threads(channels) => Some(FailureGuard {
                failed: Arc::clone(&channels.failed),
                end,
                is_off: false,
            }),
            Self::Processes(_) => None,
        }
    }

    /// This rank, and all of them.
    pub(crate) fn ranks(&self) -> (usize, usize) {
        match self {
            Self::Threads(channels) => (channels.rank, channels.to.len()),
            Self::Processes(link) => (link.rank(), link.ranks()),
        }
    }

    /// Sends numbers to a rank; does not wait.
    ///
    /// # Errors
    /// Where that rank has failed.
    pub(crate) fn send<T: Item>(&self, to: usize, data: Vec<T>) -> Result<(), SolverError> {
        match self {
            Self::Threads(channels) => {
                channels.wait();
                let sent = channels.to[to].send(Box::new(data));
                sent.map_err(|_| SolverError::Rank { rank: to })
            }
            Self::Processes(link) => link.send(to, bytes_of(&data)),
        }
    }

    /// Waits for the numbers that a rank sends; the thread does other work of its pool meanwhile.
    ///
    /// # Errors
    /// Where a rank has failed.
    ///
    /// # Panics
    /// Where that rank has sent something else.
    pub(crate) fn receive<T: Item>(&self, from: usize) -> Result<Vec<T>, SolverError> {
        match self {
            Self::Threads(channels) => {
                channels.wait();
                let message = until(|| channels.try_receive(from))?;
                let data = message.downcast::<Vec<T>>();
                Ok(*data.expect("ranks should send what others wait for"))
            }
            Self::Processes(link) => Ok(numbers(&until(|| link.try_receive(from))?)),
        }
    }

    /// Waits until what was sent has left.
    ///
    /// # Errors
    /// Where a rank has failed.
    pub(crate) fn flush(&self) -> Result<(), SolverError> {
        match self {
            Self::Threads(_) => Ok(()),
            Self::Processes(link) => link.flush(),
        }
    }

    /// What each rank gives, in their order.
    ///
    /// # Errors
    /// Where a rank has failed.
    pub(crate) fn gather<T: Item>(&self, own: Vec<T>) -> Result<Vec<Vec<T>>, SolverError> {
        let (own_rank, ranks) = self.ranks();
        let mut others = (0..ranks).filter(|&rank| rank != own_rank);
        others.try_for_each(|rank| self.send(rank, own.clone()))?;
        let of_rank = |rank| match rank == own_rank {
            true => Ok(own.clone()),
            false => self.receive(rank),
        };
        let all = (0..ranks).map(of_rank).collect::<Result<_, _>>()?;
        self.flush()?;
        Ok(all)
    }

    /// The sums over all ranks, the same for all of them.
    ///
    /// # Errors
    /// Where a rank has failed.
    pub(crate) fn sums(&self, own: Vec<ExactSum>) -> Result<Vec<ExactSum>, SolverError> {
        let mut sums = vec![ExactSum::default(); own.len()];
        for of_rank in self.gather(own)? {
            let pairs = sums.iter_mut().zip(of_rank);
            pairs.for_each(|(sum, of_rank)| *sum += of_rank);
        }
        Ok(sums)
    }
}
