// Momentum of cells, and the weight that temperatures give them: one thread block a slot, one thread a cell.

#include "level.cuh"
#include "macroscopic.cuh"

template <class L, class S>
__device__ void momentum(const Vector<Real<S>>& half_step, const S* from, double* to) {
    const int cell = threadIdx.x;
    if (cell >= CELLS) {
        return;
    }
    const size_t slot = blockIdx.x;
    Real<S> j[D];
    const Real<S> density = Real<S>(1) + sums<L, S>(from, blockIdx.x, cell, j);
    for (int a = 0; a < D; a++) {
        // After collision half a step of the acceleration too much is in the momentum.
        to[(slot * D + a) * CELLS + cell] = static_cast<double>(j[a] - density * half_step.v[a]);
    }
}

template <class L, class S>
__device__ void lift(const uint64_t* there, const Vector<double>& lift, const double* temperature, S* populations) {
    using T = Real<S>;
    const int cell = threadIdx.x;
    const size_t slot = blockIdx.x;
    if (cell >= CELLS || !(there[slot] >> cell & 1)) {
        return;
    }
    S* f = populations + slot * (L::Q * CELLS) + cell;
    T j[D], force[D], middle[D], along = 0;
    const T density = T(1) + sums<L, S>(populations, blockIdx.x, cell, j);
    // Force a = ρ g, and the velocity halfway.
    for (int a = 0; a < D; a++) {
        force[a] = density * T(lift.v[a] * temperature[slot * CELLS + cell]);
        middle[a] = (j[a] + T(0.5) * force[a]) / density;
        along += force[a] * middle[a];
    }
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        T push = 0, drift = 0;
        for (int a = 0; a < D; a++) {
            push += T(L::c(q, a)) * force[a];
            drift += T(L::c(q, a)) * middle[a];
        }
        const T change = T(3) * push + T(9) * (push * drift) - T(3) * along;
        f[q * CELLS] = narrow_change<S>(widen(f[q * CELLS]) + T(L::w(q)) * change, 64 * q + cell);
    }
}

#define ENTRIES(L, l, S, s)                                                                                            \
    extern "C" __global__ void __launch_bounds__(64)                                                                   \
        momentum_##l##_##s(Vector<Real<S>> half_step, const S* from, double* to) {                                     \
        momentum<L, S>(half_step, from, to);                                                                           \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(64) lift_##l##_##s(                                                   \
        const uint64_t* there, Vector<double> by, const double* temperature, S* populations) {                         \
        lift<L, S>(there, by, temperature, populations);                                                               \
    }
EACH_LATTICE(ENTRIES)
