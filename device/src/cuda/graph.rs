//! Concurrent streams and CUDA graphs.
//!
//! A *lane* is a stream that forks from the main one and joins it again by events. Each next lane has a higher
//! priority: its short chains of small kernels get multiprocessors as soon as some are free, while a large
//! kernel of the lane below fills the rest. A graph keeps forks and priorities.

use super::context::{Cuda, check};
use crate::DeviceError;
use cudarc::driver::sys;
use std::ptr;

/// Forks within forks, and rows of lanes for forks within tasks that run behind others: see [`Place`].
const DEPTHS: usize = 16;
const ROWS: usize = 3;
/// Most lanes beside the main stream. Beyond, tasks run one after the other.
pub(super) const LANES: usize = DEPTHS * ROWS;

/// The stream that work is submitted to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// 0 for the main stream, else a lane.
    lane: usize,
    /// Lanes that this one was forked from.
    depth: usize,
    /// The row of its forks' lanes. The second of two concurrent tasks does not wait for the first one's forks, so its own
    /// need other lanes; and so do forks of these, since the first task's go as deep.
    row: usize,
}

impl Place {
    /// The lane for a fork of this stream, if there is one.
    fn next(self) -> Option<usize> {
        let exists = self.depth < DEPTHS && self.row < ROWS;
        exists.then_some(1 + self.depth + self.row * DEPTHS)
    }

    /// The two tasks of a fork: the one in the lane, and the one in this stream.
    fn fork(self, lane: usize) -> [Self; 2] {
        let ahead = Self {
            lane,
            depth: self.depth + 1,
            row: if self.row == 0 { 0 } else { self.row + 1 },
        };
        let row = self.row + 1;
        [ahead, Self { row, ..self }]
    }
}

/// A stream, and the events at which it forks from the one below it and joins it again.
#[derive(Debug)]
pub(super) struct Lane {
    stream: sys::CUstream,
    fork: sys::CUevent,
    join: sys::CUevent,
}

impl Lane {
    /// The device's context has to be current.
    fn new(number: usize) -> Result<Self, DeviceError> {
        let (mut least, mut greatest) = (0, 0);
        let mut lane = Self {
            stream: ptr::null_mut(),
            fork: ptr::null_mut(),
            join: ptr::null_mut(),
        };
        let silent = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: a context is current; all pointers are to variables of the types that are written.
        unsafe {
            check(
                "ask for priorities",
                sys::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest),
            )?;
            // Smaller numbers are of higher priority.
            let depth = (number - 1) % DEPTHS + 1;
            let priority = (least - depth as i32).max(greatest);
            check(
                "make a stream",
                sys::cuStreamCreateWithPriority(
                    &raw mut lane.stream,
                    sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32,
                    priority,
                ),
            )?;
            for event in [&raw mut lane.fork, &raw mut lane.join] {
                check("make an event", sys::cuEventCreate(event, silent))?;
            }
        }
        Ok(lane)
    }

    /// With the context current, and nothing else in use of it.
    ///
    /// # Safety
    /// To be called once, when the device is dropped.
    pub(super) unsafe fn destroy(&self) {
        // SAFETY: made by `new`, destroyed once; failures leave things to the end of the process.
        unsafe {
            sys::cuStreamDestroy_v2(self.stream);
            sys::cuEventDestroy_v2(self.fork);
            sys::cuEventDestroy_v2(self.join);
        }
    }
}

impl Cuda {
    /// The stream that work is submitted to.
    pub(super) fn stream(&self) -> sys::CUstream {
        match self.1.lane {
            0 => self.0.stream,
            lane => self.lane(lane).map_or(self.0.stream, |lane| lane.stream),
        }
    }

    /// A lane that exists.
    fn lane(&self, number: usize) -> Option<&Lane> {
        self.0.lanes[number - 1].get()
    }

    pub(super) fn side_by_side<E: From<DeviceError>>(
        &self,
        ahead: impl FnOnce(&Self) -> Result<(), E>,
        behind: impl FnOnce(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let number = match self.1.next() {
            Some(number) if !self.0.checked => number,
            _ => {
                ahead(self)?;
                return behind(self);
            }
        };
        self.bind()?;
        if self.lane(number).is_none() {
            let lane = Lane::new(number)?;
            if let Err(lane) = self.0.lanes[number - 1].set(lane) {
                // SAFETY: this one was never used.
                unsafe { lane.destroy() };
            }
        }
        let lane = self.lane(number).expect("the lane should be there");
        let after = |event, from, to| -> Result<(), DeviceError> {
            // SAFETY: events and streams live as long as the device.
            unsafe {
                check("fork or join a stream", sys::cuEventRecord(event, from))?;
                check(
                    "fork or join a stream",
                    sys::cuStreamWaitEvent(to, event, 0),
                )
            }
        };
        after(lane.fork, self.stream(), lane.stream)?;
        let [aside, here] = self.1.fork(number);
        let first = ahead(&Self(self.0.clone(), aside));
        let second = behind(&Self(self.0.clone(), here));
        // Joined whatever happened: memory is given back in the order of the main stream.
        after(lane.join, lane.stream, self.stream())?;
        first.and(second)
    }
}

/// Recorded launches, instantiated for the device.
#[derive(Debug)]
pub struct Graph {
    handle: sys::CUgraphExec,
    of: Cuda,
}

// SAFETY: a graph may be launched and destroyed from any thread.
unsafe impl Send for Graph {}
// SAFETY: only `Backend::replay` uses it by reference, whose caller promises that it does so from one thread at a time.
unsafe impl Sync for Graph {}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.of.bind().is_ok() {
            // SAFETY: made by this type, destroyed once; a run under way is finished first.
            unsafe { sys::cuGraphExecDestroy(self.handle) };
        }
    }
}

impl Graph {
    /// Records work on the main stream; a checked device, which waits for each launch, runs it.
    pub(super) fn record<E: From<DeviceError>>(
        on: &Cuda,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<Self>, E> {
        if on.0.checked {
            return work().map(|()| None);
        }
        on.bind()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        let (mut graph, mut handle) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the stream lives as long as the device.
        check("record work", unsafe {
            sys::cuStreamBeginCapture_v2(on.stream(), mode)
        })?;
        let done = work();
        // SAFETY: the capture that was begun; the graph is written.
        let ended = unsafe { sys::cuStreamEndCapture(on.stream(), &raw mut graph) };
        if done.is_err() && ended == sys::CUresult::CUDA_SUCCESS {
            // SAFETY: the graph that was just made.
            unsafe { sys::cuGraphDestroy(graph) };
        }
        done?;
        check("record work", ended)?;
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY.0;
        // SAFETY: a graph of this context, of which the executable one is independent.
        let made = unsafe {
            let made = sys::cuGraphInstantiateWithFlags(&raw mut handle, graph, flags.into());
            sys::cuGraphDestroy(graph);
            made
        };
        check("make a graph of recorded work", made)?;
        let of = on.clone();
        Ok(Some(Self { handle, of }))
    }

    pub(super) fn launch(&self, on: &Cuda) -> Result<(), DeviceError> {
        on.bind()?;
        // SAFETY: an executable graph of this context; its buffers are the caller's promise.
        let code = unsafe { sys::cuGraphLaunch(self.handle, on.stream()) };
        on.count_launch();
        check("launch recorded work", code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The lanes of a fork and of both of its tasks, which have none in common.
    fn fork(
        place: Place,
        ahead: impl FnOnce(Place) -> BTreeSet<usize>,
        behind: impl FnOnce(Place) -> BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        let lane = place.next().expect("a lane");
        let [aside, here] = place.fork(lane);
        let (mut first, second) = (ahead(aside), behind(here));
        assert!(first.insert(lane), "{lane} within itself");
        assert!(first.is_disjoint(&second), "{first:?} {second:?}");
        first.extend(second);
        first
    }

    /// A step of a level of a flow: blocks at walls beside other special ones, both beside plain ones.
    fn step(place: Place) -> BTreeSet<usize> {
        let none = |_| BTreeSet::new();
        fork(place, |special| fork(special, none, none), none)
    }

    /// Steps of so many levels, the finer ones ahead of their coarser one.
    fn levels(place: Place, count: usize) -> BTreeSet<usize> {
        match count {
            1 => step(place),
            _ => fork(place, |finer| levels(finer, count - 1), step),
        }
    }

    #[test]
    fn tasks_side_by_side_have_lanes_of_their_own() {
        for count in 1..DEPTHS {
            let lanes = levels(Place::default(), count);
            assert_eq!(lanes.len(), 3 * count - 1);
            assert!(lanes.iter().all(|lane| (1..=LANES).contains(lane)));
        }
    }

    #[test]
    fn there_are_no_lanes_beyond_the_last_depth_and_row() {
        let deepest = Place {
            depth: DEPTHS,
            ..Place::default()
        };
        assert_eq!(deepest.next(), None);
        let last = Place {
            row: ROWS,
            ..Place::default()
        };
        assert_eq!(last.next(), None);
    }
}
