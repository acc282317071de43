// Slip velocities of modelled walls, one thread a cell: `slip.rs`, `wall_model.rs`.

#include "modeled.cuh"

#define ENTRIES(L, l, S, s)                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        slip_##l##_##s(GivenLevel level, const ModeledCell* modeled, uint32_t count, const S* from, double* slips) {   \
        const uint32_t n = blockIdx.x * THREADS + threadIdx.x;                                                         \
        if (n < count) {                                                                                               \
            const View<L, S> view{level, from, nullptr};                                                               \
            double here[D], more[D];                                                                                   \
            extrapolated(view, modeled[n], here, more);                                                                \
            for (int a = 0; a < D; a++) {                                                                              \
                slips[static_cast<size_t>(n) * D + a] = modeled[n].own[a] + here[a] + more[a];                         \
            }                                                                                                          \
        }                                                                                                              \
    }
EACH_LATTICE(ENTRIES)
