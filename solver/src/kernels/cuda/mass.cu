// The mass of a level, and all its densities times a factor: one thread block a slot, one thread a cell.

#include "collide.cuh"

// Sums of density less 1 over a slot's cells that are stepped and no ghosts, in a fixed tree.
template <class L, class T>
__device__ void mass(const uint64_t* stepped, const uint64_t* ghost, const T* from, double* out) {
    __shared__ double sums[CELLS];
    const uint32_t slot = blockIdx.x;
    const int cell = threadIdx.x;
    if (cell < CELLS) {
        T rho = T(0);
        if ((stepped[slot] & ~ghost[slot]) >> cell & 1) {
#pragma unroll
            for (int q = 0; q < L::Q; q++) {
                rho += from[(static_cast<size_t>(slot) * L::Q + q) * CELLS + cell];
            }
        }
        sums[cell] = static_cast<double>(rho);
    }
    for (int half = CELLS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (cell < half) {
            sums[cell] += sums[cell + half];
        }
    }
    if (cell == 0) {
        out[slot] = sums[0];
    }
}

template <class L, class T>
__device__ void rescale(double factor, T* populations) {
    const int cell = threadIdx.x;
    if (cell >= CELLS) {
        return;
    }
    T* f = populations + static_cast<size_t>(blockIdx.x) * (L::Q * CELLS) + cell;
    for (int q = 0; q < L::Q; q++) {
        f[q * CELLS] = f[q * CELLS] * T(factor) + T(L::w(q) * (factor - 1.0));
    }
}

#define ENTRIES(L, l, T, t)                                                                                            \
    extern "C" __global__ void __launch_bounds__(64)                                                                   \
        mass_##l##_##t(const uint64_t* stepped, const uint64_t* ghost, const T* from, double* out) {                   \
        mass<L, T>(stepped, ghost, from, out);                                                                         \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(64) rescale_##l##_##t(double factor, T* populations) {                \
        rescale<L, T>(factor, populations);                                                                            \
    }
EACH_LATTICE(ENTRIES)
