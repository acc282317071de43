//! Connections between the processes of a flow.

use crate::SolverError;
use cutlink_device::Item;
use std::fmt::Debug;

/// A connection to the processes that share a flow, each of which is a rank. Messages of one rank to another arrive in the order
/// in which they were sent. Where a process fails, whoever has started them ends all.
///
/// # Errors
/// All methods: [`SolverError::Communication`].
pub trait Communicator: Debug + Send + Sync {
    /// The rank of this process; 0 leads.
    fn rank(&self) -> usize;

    /// Processes.
    fn ranks(&self) -> usize;

    /// Sends bytes to a rank; does not wait until they are received.
    fn send(&self, to: usize, bytes: Vec<u8>) -> Result<(), SolverError>;

    /// Waits for the bytes that a rank sends.
    fn receive(&self, from: usize) -> Result<Vec<u8>, SolverError>;

    /// The bytes that a rank has sent, if they have arrived.
    fn try_receive(&self, from: usize) -> Result<Option<Vec<u8>>, SolverError>;

    /// The flow of the first rank has ended, and the others wait for nothing more.
    fn ended(&self) {}

    /// Waits until what was sent has left.
    fn flush(&self) -> Result<(), SolverError>;
}

/// Numbers as they are sent.
pub(crate) fn bytes_of<T: Item>(numbers: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(numbers).to_vec()
}

/// Numbers of the bytes that they were sent as.
pub(crate) fn numbers<T: Item>(bytes: &[u8]) -> Vec<T> {
    let numbers = bytes.chunks_exact(size_of::<T>());
    numbers.map(bytemuck::pod_read_unaligned).collect()
}
