// Density and velocity: one thread block a slot, one thread a cell.

#include "macroscopic.cuh"

template <class L, class S>
__device__ void macroscopic(const uint64_t* solid, uint32_t slot, const Vector<Real<S>>& half_step, const S* from,
                            uint32_t populated, float* out) {
    const int cell = threadIdx.x;
    if (cell >= CELLS) {
        return;
    }
    float* row = out + static_cast<size_t>(blockIdx.x) * (1 + D) * CELLS + cell;
    float here[1 + D];
    fields<L>(from, populated, slot, cell, half_step, here);
    const bool is_solid = solid[slot] >> cell & 1;
    for (int n = 0; n <= D; n++) {
        row[n * CELLS] = is_solid ? (n == 0 ? 1.0f : 0.0f) : here[n];
    }
}

// The largest squared speed of a slot's cells that are stepped and no ghosts; infinite where there is
// anything that is no number.
template <class L, class S>
__device__ void fastest(const uint64_t* stepped, const uint64_t* ghost, const S* from, uint32_t populated, float* out) {
    const uint32_t slot = blockIdx.x;
    const int cell = threadIdx.x;
    __shared__ uint32_t most;
    if (cell == 0) {
        most = 0;
    }
    __syncthreads();
    if (cell < CELLS && (stepped[slot] & ~ghost[slot]) >> cell & 1) {
        Real<S> j[D];
        const bool keeps = slot >= populated;
        const double density = 1.0
            + static_cast<double>(keeps ? kept_velocity<L>(from, populated, slot, cell, j)
                                        : sums<L>(from, slot, cell, j));
        double square = 0;
        for (int a = 0; a < D; a++) {
            const double u = static_cast<double>(j[a]) / (keeps ? 1.0 : density);
            square += u * u;
        }
        const bool sound = isfinite(square) && isfinite(density) && density > 0;
        // Non-negative floats are ordered as their bits are.
        atomicMax(&most, __float_as_uint(sound ? static_cast<float>(square) : INFINITY));
    }
    __syncthreads();
    if (cell == 0) {
        out[slot] = __uint_as_float(most);
    }
}

#define ENTRIES(L, l, S, s)                                                                                            \
    extern "C" __global__ void macroscopic_##l##_##s(const uint64_t* solid, uint32_t first, Vector<Real<S>> half_step, \
                                                     const S* from, uint32_t populated, float* out) {                  \
        macroscopic<L, S>(solid, first + blockIdx.x, half_step, from, populated, out);                                 \
    }                                                                                                                  \
    extern "C" __global__ void macroscopic_of_##l##_##s(const uint64_t* solid, const uint32_t* slots,                  \
                                                        Vector<Real<S>> half_step, const S* from, uint32_t populated,  \
                                                        float* out) {                                                  \
        macroscopic<L, S>(solid, slots[blockIdx.x], half_step, from, populated, out);                                  \
    }                                                                                                                  \
    extern "C" __global__ void fastest_##l##_##s(const uint64_t* stepped, const uint64_t* ghost, const S* from,        \
                                                 uint32_t populated, float* out) {                                     \
        fastest<L, S>(stepped, ghost, from, populated, out);                                                           \
    }
EACH_LATTICE(ENTRIES)
