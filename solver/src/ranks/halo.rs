//! What a rank exchanges with others on a level, and how: from device to device, or through host memory.

use super::comm::{Comm, FailureGuard};
use crate::{SolverError, kernels::FlowKernels, storage::Storage};
use cutlink_device::{Backend, Item, Route, Share};

/// The other ranks, as one of them reaches them.
#[derive(Debug)]
pub(crate) struct Peers<B: Backend> {
    pub(crate) comm: Comm,
    /// Connections from device to device; else messages pass through host memory, and for devices why.
    pub(crate) route: Route<B::Link>,
}

impl<B: Backend> Peers<B> {
    /// Whether messages need no host, so that they can be recorded with the work around them.
    pub(crate) fn are_linked(&self) -> bool {
        matches!(self.route, Route::Direct(_))
    }

    /// An alarm that goes off where the rank fails.
    pub(crate) fn alarm(&self) -> Option<FailureGuard> {
        let link = match &self.route {
            Route::Direct(link) => Some(link.clone()),
            Route::Host(_) => None,
        };
        let end = move || link.iter().for_each(B::abort);
        self.comm.alarm(Box::new(end))
    }
}

/// HaloPlaces in a buffer of a level, other rank by other rank.
#[derive(Debug)]
pub(crate) struct HaloPlaces<T: Item, B: Backend> {
    pub(crate) places: B::Buf<u64>,
    /// Which of them are of which rank.
    pub(crate) shares: Vec<Share>,
    /// Room for the numbers at these places, where they travel from device to device; for those that are received twice.
    pub(crate) numbers: B::Buf<T>,
}

impl<T: Item, B: Backend> HaloPlaces<T, B> {
    fn new(
        backend: &B,
        of_ranks: impl Iterator<Item = (usize, Vec<u64>)>,
    ) -> Result<Self, SolverError> {
        let (mut places, mut shares) = (Vec::new(), Vec::new());
        for (rank, more) in of_ranks.filter(|(_, places)| !places.is_empty()) {
            shares.push((rank, places.len()..places.len() + more.len()));
            places.extend(more);
        }
        Ok(Self {
            places: backend.upload(places)?,
            shares,
            numbers: backend.upload(Vec::new())?,
        })
    }

    fn make_room(&mut self, backend: &B, times: usize) -> Result<(), SolverError> {
        let len = times * B::len(&self.places);
        self.numbers = backend.alloc("messages between ranks", len, T::zeroed())?;
        Ok(())
    }
}

/// What is sent and what is received in one exchange.
#[derive(Debug)]
pub struct HaloLists<T: Item, B: Backend> {
    pub(crate) send: HaloPlaces<T, B>,
    pub(crate) receive: HaloPlaces<T, B>,
    /// By share that is sent: its first place and the one behind its last; where its numbers go in the memory of the rank that
    /// receives them, and how many elements behind that those of the next message go.
    pub(crate) targets: B::Buf<[u64; 4]>,
}

impl<T: Item, B: Backend> HaloLists<T, B> {
    pub(crate) fn new(
        backend: &B,
        send: impl Iterator<Item = (usize, Vec<u64>)>,
        receive: impl Iterator<Item = (usize, Vec<u64>)>,
    ) -> Result<Self, SolverError> {
        Ok(Self {
            send: HaloPlaces::new(backend, send)?,
            receive: HaloPlaces::new(backend, receive)?,
            targets: backend.upload(Vec::new())?,
        })
    }

    /// Makes room for messages that travel from device to device. Says where those of each rank go, and behind that how many
    /// numbers there are of all.
    fn make_room(
        &mut self,
        backend: &B,
        link: &B::Link,
        ranks: usize,
    ) -> Result<Vec<u64>, SolverError> {
        self.send.make_room(backend, 1)?;
        self.receive.make_room(backend, 2)?;
        let first = B::address(link, &mut self.receive.numbers);
        let mut inboxes = vec![0; ranks + 1];
        for (rank, range) in &self.receive.shares {
            inboxes[*rank] = first + (range.start * size_of::<T>()) as u64;
        }
        inboxes[ranks] = B::len(&self.receive.places) as u64;
        Ok(inboxes)
    }

    /// Takes what [`make_room`](Self::make_room) of each rank has said.
    fn take_targets(
        &mut self,
        backend: &B,
        rank: usize,
        of_rank: &dyn Fn(usize) -> Vec<u64>,
    ) -> Result<(), SolverError> {
        let target = |(other, range): &Share| {
            let inboxes = of_rank(*other);
            let all = inboxes[inboxes.len() - 1];
            [range.start as u64, range.end as u64, inboxes[rank], all]
        };
        self.targets = backend.upload(self.send.shares.iter().map(target).collect())?;
        Ok(())
    }
}

/// Lists of a level, and the buffer that their places are in.
pub(crate) type Listed<'a, T, B> = (&'a mut HaloLists<T, B>, &'a mut <B as Backend>::Buf<T>);

/// Sends what others wait for on some levels, and takes what they send. All ranks have the same levels: where there is none, none of them
/// sends.
pub(crate) fn exchange<const D: usize, T: Item, B: FlowKernels<D>>(
    backend: &B,
    peers: &Peers<B>,
    levels: &mut [Listed<'_, T, B>],
) -> Result<(), SolverError> {
    if levels.is_empty() {
        return Ok(());
    }
    match &peers.route {
        Route::Direct(link) => backend.exchange(link, levels),
        Route::Host(_) => through_host(backend, &peers.comm, levels),
    }
}

/// As [`exchange`], whatever connects the devices.
pub(crate) fn through_host<const D: usize, T: Item, B: FlowKernels<D>>(
    backend: &B,
    comm: &Comm,
    levels: &mut [Listed<'_, T, B>],
) -> Result<(), SolverError> {
    for (lists, buffer) in levels.iter() {
        let HaloPlaces { places, shares, .. } = &lists.send;
        for (rank, range) in shares {
            let mut numbers = backend.alloc("a message to a rank", range.len(), T::zeroed())?;
            backend.gather(places, range.clone(), buffer, &mut numbers)?;
            comm.send(*rank, backend.unload(numbers)?)?;
        }
    }
    for (lists, buffer) in levels {
        let HaloPlaces { places, shares, .. } = &lists.receive;
        for (rank, range) in shares {
            let numbers = backend.upload(comm.receive(*rank)?)?;
            backend.scatter(places, range.clone(), &numbers, buffer)?;
        }
    }
    comm.flush()
}

/// What a rank exchanges on a level; nothing where no rank receives anything.
#[derive(Debug)]
pub(crate) struct Halo<S: Storage, B: Backend> {
    /// Populations, after each step.
    pub(crate) populations: Option<HaloLists<S, B>>,
    /// Moments, before ghost cells are interpolated.
    pub(crate) moments: Option<HaloLists<S::Real, B>>,
}

/// Connects the device of a rank to those of the others, which all do this at the same time, if they can be.
pub(crate) fn link<B: Backend>(backend: &B, peers: &mut Peers<B>) -> Result<(), SolverError> {
    let Peers { comm, route } = peers;
    let (rank, ranks) = comm.ranks();
    *route = backend.link(rank, ranks, |own| comm.gather(own))?;
    Ok(())
}

/// Makes room for messages from device to device, and learns where the others have it, who all do this at the same time.
pub(crate) fn make_rooms<'a, S: Storage, B: Backend>(
    backend: &B,
    peers: &Peers<B>,
    halos: impl Iterator<Item = &'a mut Halo<S, B>>,
) -> Result<(), SolverError> {
    let Peers { comm, route } = peers;
    let (rank, ranks) = comm.ranks();
    let Route::Direct(link) = route else {
        return Ok(());
    };
    let mut halos: Vec<_> = halos.collect();
    let mut inboxes = Vec::new();
    for halo in &mut halos {
        if let Some(lists) = &mut halo.populations {
            inboxes.extend(lists.make_room(backend, link, ranks)?);
        }
        if let Some(lists) = &mut halo.moments {
            inboxes.extend(lists.make_room(backend, link, ranks)?);
        }
    }
    // The room is there before others learn of it.
    let stamp = backend.stamp()?;
    backend.seconds(&stamp, &stamp)?;
    let all = comm.gather(inboxes)?;
    // All ranks have the same lists, in the same order.
    let (all, mut first) = (&all, 0);
    let mut next = || {
        let row = first..first + ranks + 1;
        first = row.end;
        move |other: usize| all[other][row.clone()].to_vec()
    };
    for halo in halos {
        if let Some(lists) = &mut halo.populations {
            lists.take_targets(backend, rank, &next())?;
        }
        if let Some(lists) = &mut halo.moments {
            lists.take_targets(backend, rank, &next())?;
        }
    }
    Ok(())
}
