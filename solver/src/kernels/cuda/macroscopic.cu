// Density and velocity from populations: one thread block a slot, one thread a cell.

#include "collide.cuh"

template <class T>
struct Vector {
    T v[3];
};

// Density less 1 and momentum of a cell.
template <class L, class S>
__device__ Real<S> sums(const S* from, uint32_t slot, int cell, Real<S> (&j)[D]) {
    using T = Real<S>;
    T rho = T(0);
    for (int a = 0; a < D; a++) {
        j[a] = T(0);
    }
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        const T f = widen(from[(static_cast<size_t>(slot) * L::Q + q) * CELLS + cell]);
        rho += f;
#pragma unroll
        for (int a = 0; a < D; a++) {
            j[a] += T(L::c(q, a)) * f;
        }
    }
    return rho;
}

template <class L, class S>
__device__ void macroscopic(const uint64_t* solid, uint32_t first, const Vector<Real<S>>& half_step, const S* from,
                            float* out) {
    using T = Real<S>;
    const uint32_t slot = first + blockIdx.x;
    const int cell = threadIdx.x;
    if (cell >= CELLS) {
        return;
    }
    float* row = out + static_cast<size_t>(blockIdx.x) * (1 + D) * CELLS + cell;
    T j[D];
    const T density = T(1) + sums<L>(from, slot, cell, j);
    const bool is_solid = solid[slot] >> cell & 1;
    row[0] = is_solid ? 1.0f : static_cast<float>(density);
    for (int a = 0; a < D; a++) {
        // After collision half a step of the acceleration too much is in the momentum.
        row[(1 + a) * CELLS] = is_solid ? 0.0f : static_cast<float>(j[a] / density - half_step.v[a]);
    }
}

// The largest squared speed of a slot's cells that are stepped and no ghosts; infinite where there is
// anything that is no number.
template <class L, class S>
__device__ void fastest(const uint64_t* stepped, const uint64_t* ghost, const S* from, float* out) {
    const uint32_t slot = blockIdx.x;
    const int cell = threadIdx.x;
    __shared__ uint32_t most;
    if (cell == 0) {
        most = 0;
    }
    __syncthreads();
    if (cell < CELLS && (stepped[slot] & ~ghost[slot]) >> cell & 1) {
        Real<S> j[D];
        const double density = 1.0 + static_cast<double>(sums<L>(from, slot, cell, j));
        double square = 0;
        for (int a = 0; a < D; a++) {
            const double u = static_cast<double>(j[a]) / density;
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
                                                     const S* from, float* out) {                                      \
        macroscopic<L, S>(solid, first, half_step, from, out);                                                         \
    }                                                                                                                  \
    extern "C" __global__ void fastest_##l##_##s(const uint64_t* stepped, const uint64_t* ghost, const S* from,        \
                                                 float* out) {                                                         \
        fastest<L, S>(stepped, ghost, from, out);                                                                      \
    }
EACH_LATTICE(ENTRIES)
