//! A GPU's connection to those of other ranks: threads of this process whose GPUs reach each other's memory, else NCCL.

use super::{
    CudaBuf,
    context::Cuda,
    nccl::{self, Communicator, Nccl, UniqueId},
    peer::{Peer, RankGroup},
};
use crate::{DeviceError, Item, LinkChoice, Route, Share, lock};
use std::{
    collections::HashSet,
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, OnceLock, Weak},
};

/// A rank's end of a group of ranks, each with a GPU of its own.
#[derive(Clone)]
pub struct GpuLink(Arc<End>);

struct End {
    /// The same on all ranks of the group, and on no others.
    group: Vec<u8>,
    rank: usize,
    of: Cuda,
    kind: Kind,
}

enum Kind {
    Peer(Peer),
    Nccl {
        nccl: &'static Nccl,
        /// Nothing once it was aborted. Locked while work is submitted.
        communicator: Mutex<Option<Handle>>,
    },
}

/// A communicator of NCCL.
struct Handle(Communicator);

// SAFETY: NCCL's handles may be used from any thread, one call at a time, which the lock sees to.
unsafe impl Send for Handle {}

/// The ends of this process, so that a rank that fails can end the waiting of the others.
static OPEN: Mutex<Vec<Weak<End>>> = Mutex::new(Vec::new());

impl fmt::Debug for GpuLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GpuLink(rank {}, {})", self.0.rank, self.describe())
    }
}

/// What a rank tells the others of its GPU.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C)]
struct Told {
    /// Of the process: a random number.
    process: u64,
    /// Where the rank's flags are.
    flags: u64,
    /// The card's UUID.
    card: [u8; 16],
    ordinal: u32,
    /// Whether the rank's card reaches all others of the machine.
    reaches: u32,
    /// Whether another flow of the process shares this card with others: kernels of both could wait for one another in a circle.
    is_busy: u32,
    unused: u32,
}

impl Told {
    fn of(on: &Cuda, flags: &CudaBuf<u64>) -> Result<Self, DeviceError> {
        static PROCESS: OnceLock<u64> = OnceLock::new();
        let cards = (0..super::count()?).filter(|&other| other != on.ordinal());
        let reaches = cards.map(|other| on.reaches(other));
        let reaches = reaches.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            process: *PROCESS.get_or_init(|| RandomState::new().hash_one(0)),
            flags: flags.address(0),
            card: on.uuid()?,
            ordinal: on.ordinal(),
            reaches: reaches.into_iter().all(|reaches| reaches).into(),
            is_busy: open_ends()
                .iter()
                .any(|end| end.of.ordinal() == on.ordinal())
                .into(),
            unused: 0,
        })
    }

    /// What all ranks have told, of bytes.
    fn all(told: &[Vec<u8>]) -> Option<Vec<Self>> {
        let one = |bytes: &Vec<u8>| bytemuck::try_pod_read_unaligned(bytes).ok();
        told.iter().map(one).collect()
    }

    /// Whether several ranks have one card.
    fn share(told: &[Self]) -> bool {
        told.iter()
            .map(|told| told.card)
            .collect::<HashSet<_>>()
            .len()
            < told.len()
    }

    /// Whether kernels of all ranks may write into the memory of all others.
    fn reach_one_another(told: &[Self]) -> bool {
        told.iter()
            .all(|one| one.process == told[0].process && one.reaches != 0)
    }
}

impl GpuLink {
    /// See [`Backend::link`](crate::Backend::link).
    pub(super) fn new<E: From<DeviceError>>(
        on: &Cuda,
        rank: usize,
        ranks: usize,
        mut gather: impl FnMut(Vec<u8>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<Route<Self>, E> {
        let choice = LinkChoice::of_environment()?;
        let flags = Peer::flags(on, ranks)?;
        let told = gather(bytemuck::bytes_of(&Told::of(on, &flags)?).to_vec())?;
        let host = |why: &str| Ok(Route::Host(Some(why.to_owned())));
        let Some(told) = Told::all(&told) else {
            return host("the processes run different versions");
        };
        if Told::share(&told) {
            return host("several ranks share a GPU");
        }
        if told.iter().any(|told| told.is_busy != 0) {
            return host("another flow of this process shares these GPUs");
        }
        if choice.allows(LinkChoice::Peer) && Told::reach_one_another(&told) {
            let others = told.iter().filter(|other| other.ordinal != on.ordinal());
            let mut opened = others.map(|other| on.open_to(other.ordinal));
            opened.try_for_each(|opened| opened)?;
            let addresses: Vec<u64> = told.iter().map(|told| told.flags).collect();
            let peer = Peer::new(on, rank, flags, &addresses)?;
            // None goes on before the memory of all is open.
            gather(Vec::new())?;
            let group = bytemuck::bytes_of(&told[0]).to_vec();
            return Ok(Route::Direct(Self::open(on, rank, group, Kind::Peer(peer))));
        }
        drop(flags);
        Self::by_nccl(on, rank, choice, gather)
    }

    fn by_nccl<E: From<DeviceError>>(
        on: &Cuda,
        rank: usize,
        choice: LinkChoice,
        mut gather: impl FnMut(Vec<u8>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<Route<Self>, E> {
        let opened = match choice.allows(LinkChoice::Nccl) {
            true => nccl::open(),
            false => Err("CUTLINK_LINK asks for it".into()),
        };
        // 1, of the first rank the group's id too; or 0 and why not.
        let own = match &opened {
            Err(why) => [&[0], why.as_bytes()].concat(),
            Ok(nccl) if rank == 0 => [&[1], &nccl.unique_id()?.0[..]].concat(),
            Ok(_) => vec![1],
        };
        let told = gather(own)?;
        let (nccl, id) = match (opened, agree(&told)) {
            (Ok(nccl), Ok(id)) => (nccl, id),
            (Err(why), _) | (_, Err(why)) => return Ok(Route::Host(Some(why))),
        };
        on.bind()?;
        let communicator = Mutex::new(Some(Handle(nccl.join(id, rank, told.len())?)));
        let kind = Kind::Nccl { nccl, communicator };
        let link = Self::open(on, rank, id.0.to_vec(), kind);
        link.connect(told.len())?;
        Ok(Route::Direct(link))
    }

    fn open(on: &Cuda, rank: usize, group: Vec<u8>, kind: Kind) -> Self {
        let of = on.clone();
        let end = Arc::new(End {
            group,
            rank,
            of,
            kind,
        });
        lock(&OPEN).push(Arc::downgrade(&end));
        Self(end)
    }

    /// A first message to each of so many ranks: NCCL connects them then, which cannot be recorded.
    fn connect(&self, ranks: usize) -> Result<(), DeviceError> {
        let on = &self.0.of;
        let others = (0..ranks).filter(|&other| other != self.0.rank);
        let shares: Vec<Share> = (0..)
            .zip(others)
            .map(|(n, rank)| (rank, n..n + 1))
            .collect();
        let sent = on.upload_slice("first messages", &vec![0u64; shares.len()])?;
        let mut received = on.uninit("first messages", shares.len())?;
        self.exchange(on, &[(&shares, &sent)], &mut [(&shares, &mut received)])?;
        on.wait()
    }

    pub(super) fn describe(&self) -> String {
        match &self.0.kind {
            Kind::Peer(_) => "peer access".into(),
            Kind::Nccl { nccl, .. } => nccl.name(),
        }
    }

    /// What kernels have to know that write into the memory of other ranks; nothing where [`exchange`](Self::exchange) has to carry
    /// messages.
    ///
    /// # Errors
    /// [`DeviceError::Link`] where another rank has failed.
    pub fn group(&self) -> Result<Option<RankGroup>, DeviceError> {
        match &self.0.kind {
            Kind::Peer(peer) if peer.is_aborted() => Err(Self::failed()),
            Kind::Peer(peer) => Ok(Some(peer.group())),
            Kind::Nccl { .. } => Ok(None),
        }
    }

    fn failed() -> DeviceError {
        DeviceError::Link {
            what: "exchange messages",
            reason: "another rank has failed".into(),
        }
    }

    /// Sends parts of buffers to other ranks and fills parts of others with what they send, in the order of work. Every rank has to
    /// do this at the same place of its work. May be recorded.
    ///
    /// # Errors
    /// [`DeviceError::Link`].
    ///
    /// # Panics
    /// Where ranks write into each other's memory instead, or a part is not in its buffer.
    pub fn exchange<T: Item>(
        &self,
        on: &Cuda,
        sent: &[(&[Share], &CudaBuf<T>)],
        received: &mut [(&[Share], &mut CudaBuf<T>)],
    ) -> Result<(), DeviceError> {
        let Kind::Nccl { nccl, communicator } = &self.0.kind else {
            panic!("ranks that write into each other's memory should do that");
        };
        self.submit(on, nccl, communicator, sent, received)?;
        on.count_launch();
        match on.0.checked {
            true => on.wait(),
            false => Ok(()),
        }
    }

    fn submit<T: Item>(
        &self,
        on: &Cuda,
        nccl: &Nccl,
        communicator: &Mutex<Option<Handle>>,
        sent: &[(&[Share], &CudaBuf<T>)],
        received: &mut [(&[Share], &mut CudaBuf<T>)],
    ) -> Result<(), DeviceError> {
        let communicator = lock(communicator);
        let group = communicator.as_ref().ok_or_else(Self::failed)?.0;
        on.bind()?;
        let stream = on.stream().cast();
        let part = |buf: &CudaBuf<T>, share: &Share| {
            assert!(share.1.end <= buf.len(), "a share should lie in its buffer");
            (buf.address(share.1.start), share.1.len() * size_of::<T>())
        };
        nccl.grouped(|| {
            for (shares, from) in sent {
                for share in *shares {
                    // SAFETY: a part of the buffer; memory is given back in the order of the stream.
                    unsafe { nccl.send(part(from, share), share.0, group, stream) }?;
                }
            }
            for (shares, to) in received {
                for share in *shares {
                    // SAFETY: as above.
                    unsafe { nccl.receive(part(to, share), share.0, group, stream) }?;
                }
            }
            Ok(())
        })
    }

    /// See [`Backend::abort`](crate::Backend::abort).
    pub(super) fn abort(&self) {
        for end in open_ends().iter().filter(|end| end.group == self.0.group) {
            match &end.kind {
                Kind::Peer(peer) => peer.abort(),
                Kind::Nccl { .. } => end.end(true),
            }
        }
    }
}

fn open_ends() -> Vec<Arc<End>> {
    lock(&OPEN).iter().filter_map(Weak::upgrade).collect()
}

/// The id of the group that the first rank began, or why there is none.
fn agree(told: &[Vec<u8>]) -> Result<UniqueId, String> {
    if let Some(reason) = told.iter().find(|told| told.first() != Some(&1)) {
        let text = String::from_utf8_lossy(reason.get(1..).unwrap_or_default());
        return Err(text.into_owned());
    }
    let id = told[0][1..].try_into();
    id.map(UniqueId)
        .map_err(|_| "the processes run different versions".into())
}

impl End {
    /// Ends NCCL's part.
    fn end(&self, has_failed: bool) {
        let Kind::Nccl { nccl, communicator } = &self.kind else {
            return;
        };
        if let Some(handle) = lock(communicator).take() {
            // SAFETY: taken, so used no more.
            unsafe { nccl.end(handle.0, has_failed) };
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let has_failed = self.of.wait().is_err();
        self.end(has_failed);
        lock(&OPEN).retain(|end| end.strong_count() > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_agree_on_a_group_or_say_why_not() {
        let id = [7; 128];
        let first = [&[1], &id[..]].concat();
        let agreed = agree(&[first.clone(), vec![1]]);
        assert_eq!(agreed.map(|id| id.0), Ok(id));
        let missing = [&[0], &b"not found"[..]].concat();
        let missing = agree(&[first.clone(), missing]);
        assert_eq!(missing.map(|id| id.0), Err("not found".into()));
        assert!(agree(&[first[1..].to_vec(), vec![1]]).is_err());
    }

    #[test]
    fn cards_are_told_apart_by_process_and_uuid() {
        let told = |process, card, reaches| Told {
            process,
            flags: 0,
            card: [card; 16],
            ordinal: card.into(),
            reaches,
            is_busy: 0,
            unused: 0,
        };
        let two = [told(5, 0, 1), told(5, 1, 1)];
        assert!(!Told::share(&two) && Told::reach_one_another(&two));
        assert!(Told::share(&[told(5, 0, 1), told(6, 0, 1)]));
        assert!(!Told::reach_one_another(&[told(5, 0, 1), told(6, 1, 1)]));
        assert!(!Told::reach_one_another(&[told(5, 0, 1), told(5, 1, 0)]));
        let bytes = two.map(|told| bytemuck::bytes_of(&told).to_vec());
        assert_eq!(Told::all(&bytes).as_deref(), Some(&two[..]));
        assert_eq!(Told::all(&[bytes[0].clone(), vec![1]]), None);
    }
}
