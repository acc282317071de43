//! Processors that stages are compiled for, chosen at run time.

/// A kind of processor: a body that is inlined for one may use its instructions.
pub trait Processor: Copy {}

/// Any processor of the target.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnyProcessor;

impl Processor for AnyProcessor {}

/// Work to be compiled for each kind of processor. A closure would become a function of its own, which is then compiled
/// for the least of them.
pub(super) trait Work {
    /// Does it; to be inlined always.
    fn run<P: Processor>(self, processor: P);
}

/// Work for one kind of processor.
struct On<P, W>(P, W);

impl<P: Processor, W: Work> pulp::NullaryFnOnce for On<P, W> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.1.run(self.0);
    }
}

#[cfg(target_arch = "x86_64")]
impl Processor for pulp::x86::V3 {}

#[cfg(target_arch = "x86_64")]
impl Processor for pulp::x86::V4 {}

/// Does work as it is compiled for the processor at hand.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
pub(super) fn dispatch<W: Work>(work: W) {
    use pulp::x86::{V3, V4};
    if let Some(processor) = V4::try_new() {
        processor.vectorize(On(processor, work));
    } else if let Some(processor) = V3::try_new() {
        processor.vectorize(On(processor, work));
    } else {
        work.run(AnyProcessor);
    }
}

/// Does work as it is compiled for the processor at hand.
#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn dispatch<W: Work>(work: W) {
    pulp::Arch::new().dispatch(On(AnyProcessor, work));
}
