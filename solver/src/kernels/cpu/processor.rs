//! Processors that stages are compiled for, chosen at run time. An unoptimized build has one for any processor: code for
//! more of them relies on inlining.

use super::LAYER;
use crate::{F16, storage::Storage};

/// A kind of processor: a body that is inlined for one may use its instructions.
pub trait Processor: Copy {
    /// What 16-bit populations are.
    #[cfg_attr(optimized, inline(always))]
    fn widen(self, from: &[F16; LAYER], to: &mut [f32; LAYER]) {
        for i in 0..LAYER {
            to[i] = from[i].load();
        }
    }

    /// Values as 16-bit populations, rounded to nearest even.
    #[cfg_attr(optimized, inline(always))]
    fn narrow(self, from: &[f32; LAYER], to: &mut [F16; LAYER]) {
        for i in 0..LAYER {
            to[i] = F16::store(from[i]);
        }
    }

    /// Values as 16-bit populations, [dithered](Storage::store_dithered) from a place on.
    #[cfg_attr(optimized, inline(always))]
    fn dither(self, from: &[f32; LAYER], place: usize, to: &mut [F16; LAYER]) {
        for i in 0..LAYER {
            to[i] = F16::store_dithered(from[i], place + i);
        }
    }
}

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

/// Does work as it is compiled for the processor at hand.
#[cfg_attr(optimized, inline(always))]
#[cfg(all(target_arch = "x86_64", optimized))]
pub(super) fn dispatch<W: Work>(work: W) {
    use x86::{Avx2, Avx512, On};
    // Flows of the programs of tests run on it. For unit tests, it would only be compiled again.
    if !cfg!(test)
        && let Some(processor) = Avx512::try_new()
    {
        processor.vectorize(On(processor, work));
    } else if let Some(processor) = Avx2::try_new() {
        processor.vectorize(On(processor, work));
    } else {
        on_any(work);
    }
}

/// Work on any processor, once for all callers: inlined into each of them it would be most of the library.
#[inline(never)]
#[cfg(all(target_arch = "x86_64", optimized))]
fn on_any<W: Work>(work: W) {
    work.run(AnyProcessor);
}

/// Does work as it is compiled for the processor at hand.
#[cfg_attr(optimized, inline(always))]
#[cfg(not(all(target_arch = "x86_64", optimized)))]
pub(super) fn dispatch<W: Work>(work: W) {
    work.run(AnyProcessor);
}

#[cfg(all(target_arch = "x86_64", optimized))]
mod x86 {
    use super::{F16, LAYER, Processor, Work};
    use crate::{constants::F16_SCALE, f16::dithered};
    use std::arch::x86_64::{_MM_FROUND_TO_NEAREST_INT, _mm256_cvtph_ps, _mm256_cvtps_ph};

    /// Work for one kind of processor.
    pub(super) struct On<P, W>(pub(super) P, pub(super) W);

    impl<P: Processor, W: Work> pulp::NullaryFnOnce for On<P, W> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            self.1.run(self.0);
        }
    }

    // `V3` and `V4` of pulp, with the conversion of halves: x86-64-v3 has it, and pulp's token does not say so.
    pulp::simd_type! {
        /// x86-64-v3.
        pub(super) struct Avx2 {
            pub sse: "sse",
            pub sse2: "sse2",
            pub fxsr: "fxsr",
            pub sse3: "sse3",
            pub ssse3: "ssse3",
            pub sse4_1: "sse4.1",
            pub sse4_2: "sse4.2",
            pub popcnt: "popcnt",
            pub avx: "avx",
            pub avx2: "avx2",
            pub bmi1: "bmi1",
            pub bmi2: "bmi2",
            pub fma: "fma",
            pub lzcnt: "lzcnt",
            pub f16c: "f16c",
        }

        /// x86-64-v4.
        pub(super) struct Avx512 {
            pub sse: "sse",
            pub sse2: "sse2",
            pub fxsr: "fxsr",
            pub sse3: "sse3",
            pub ssse3: "ssse3",
            pub sse4_1: "sse4.1",
            pub sse4_2: "sse4.2",
            pub popcnt: "popcnt",
            pub avx: "avx",
            pub avx2: "avx2",
            pub bmi1: "bmi1",
            pub bmi2: "bmi2",
            pub fma: "fma",
            pub lzcnt: "lzcnt",
            pub f16c: "f16c",
            pub avx512f: "avx512f",
            pub avx512bw: "avx512bw",
            pub avx512cd: "avx512cd",
            pub avx512dq: "avx512dq",
            pub avx512vl: "avx512vl",
        }
    }

    /// Values of a vector.
    const WIDE: usize = 8;

    macro_rules! converts {
        ($type:ty) => {
            impl Processor for $type {
                #[cfg_attr(optimized, inline(always))]
                fn widen(self, from: &[F16; LAYER], to: &mut [f32; LAYER]) {
                    let (from, to) = (from.as_chunks::<WIDE>().0, to.as_chunks_mut::<WIDE>().0);
                    for n in 0..LAYER / WIDE {
                        #[expect(unsafe_code, reason = "the conversion is an intrinsic")]
                        // SAFETY: that there is such a token says that the processor has F16C.
                        let values = unsafe { _mm256_cvtph_ps(bytemuck::cast(from[n])) };
                        let values: [f32; WIDE] = bytemuck::cast(values);
                        for i in 0..WIDE {
                            to[n][i] = values[i] * (1.0 / F16_SCALE);
                        }
                    }
                }

                #[cfg_attr(optimized, inline(always))]
                fn narrow(self, from: &[f32; LAYER], to: &mut [F16; LAYER]) {
                    let mut scaled = [0.0; LAYER];
                    for i in 0..LAYER {
                        scaled[i] = from[i] * F16_SCALE;
                    }
                    self.halves(&scaled, to);
                }

                #[cfg_attr(optimized, inline(always))]
                fn dither(self, from: &[f32; LAYER], place: usize, to: &mut [F16; LAYER]) {
                    let mut scaled = [0.0; LAYER];
                    for i in 0..LAYER {
                        scaled[i] = dithered(from[i] * F16_SCALE, (place + i) as u32);
                    }
                    self.halves(&scaled, to);
                }
            }

            impl $type {
                /// Scaled values as halves.
                #[cfg_attr(optimized, inline(always))]
                fn halves(self, scaled: &[f32; LAYER], to: &mut [F16; LAYER]) {
                    let (from, to) = (scaled.as_chunks::<WIDE>().0, to.as_chunks_mut::<WIDE>().0);
                    for n in 0..LAYER / WIDE {
                        #[expect(unsafe_code, reason = "the conversion is an intrinsic")]
                        // SAFETY: as above.
                        let halves = unsafe {
                            _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(bytemuck::cast(from[n]))
                        };
                        to[n] = bytemuck::cast(halves);
                    }
                }
            }
        };
    }
    converts!(Avx2);
    converts!(Avx512);
}
