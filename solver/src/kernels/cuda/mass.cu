// The mass of a level, and all its densities times a factor: one thread block a slot, one thread a cell.

#include "kept.cuh"

// Sums of density less 1 over a slot's cells that are stepped and no ghosts, in a fixed tree.
template <class L, class S>
__device__ void mass(const uint64_t* stepped, const uint64_t* ghost, const S* from, uint32_t populated, double* out) {
    __shared__ double sums[CELLS];
    const uint32_t slot = blockIdx.x;
    const int cell = threadIdx.x;
    if (cell < CELLS) {
        Real<S> rho = 0;
        if (slot >= populated) {
            // All cells are fluid. Of the 9 values that it keeps, a cell has the density first, four words side by side.
            rho = widen(kept_of<L>(from, populated)[static_cast<size_t>(slot) * (KEPT * CELLS) + 4 * cell]);
        } else if ((stepped[slot] & ~ghost[slot]) >> cell & 1) {
#pragma unroll
            for (int q = 0; q < L::Q; q++) {
                rho += widen(from[(static_cast<size_t>(slot) * L::Q + q) * CELLS + cell]);
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

template <class L, class S>
__device__ void rescale(double factor, S* populations) {
    using T = Real<S>;
    const int cell = threadIdx.x;
    if (cell >= CELLS) {
        return;
    }
    S* f = populations + static_cast<size_t>(blockIdx.x) * (L::Q * CELLS) + cell;
    for (int q = 0; q < L::Q; q++) {
        const T changed = widen(f[q * CELLS]) * T(factor) + T(L::w(q) * (factor - 1.0));
        f[q * CELLS] = narrow_change<S>(changed, 64 * q + cell);
    }
}

#if CUTLINK_D == 3
// The same of what the cells of a slot keep.
__device__ inline void rescale_kept(double factor, float* kept) {
    Fluid<float> fluid = load_kept(kept, blockIdx.x, threadIdx.x);
    fluid.rho = fluid.rho * static_cast<float>(factor) + static_cast<float>(factor - 1.0);
    for (float& stress : fluid.stress) {
        stress *= static_cast<float>(factor);
    }
    store_kept(kept, blockIdx.x, threadIdx.x, fluid);
}

extern "C" __global__ void __launch_bounds__(64) rescale_kept_d3q19_f32(double factor, uint32_t populated, float* to) {
    rescale_kept(factor, kept_of<D3Q19>(to, populated));
}
extern "C" __global__ void __launch_bounds__(64) rescale_kept_d3q27_f32(double factor, uint32_t populated, float* to) {
    rescale_kept(factor, kept_of<D3Q27>(to, populated));
}
#endif

#define ENTRIES(L, l, S, s)                                                                                            \
    extern "C" __global__ void __launch_bounds__(64)                                                                   \
        mass_##l##_##s(const uint64_t* stepped, const uint64_t* ghost, const S* from, uint32_t populated,              \
                       double* out) {                                                                                  \
        mass<L, S>(stepped, ghost, from, populated, out);                                                              \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(64) rescale_##l##_##s(double factor, S* populations) {                \
        rescale<L, S>(factor, populations);                                                                            \
    }
EACH_LATTICE(ENTRIES)
