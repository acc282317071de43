// Sponges: one thread block a slot that a sponge reaches, one thread a cell: `damp.rs`.

#include "faces.cuh"
#include "macroscopic.cuh"

// Relaxes a cell's populations towards a given density and velocity by the difference of two equilibria, and its
// transferred moments alike.
template <class L, class S>
__device__ void damp(const uint32_t* slots, const float* rate, const Rule* rules, uint32_t density, uint32_t velocity,
                     uint32_t exchanging, const Vector<Real<S>>& half_step, S* populations, Real<S>* moments) {
    using T = Real<S>;
    const int cell = threadIdx.x;
    if (cell >= CELLS) {
        return;
    }
    const T share = T(rate[static_cast<size_t>(blockIdx.x) * CELLS + cell]);
    if (share == T(0)) {
        return;
    }
    const uint32_t slot = slots[blockIdx.x];
    S* f = populations + static_cast<size_t>(slot) * (L::Q * CELLS) + cell;
    T u[D], to[D];
    const T rho = sums<L>(populations, slot, cell, u);
    const T far = T(rules[density].density - 1.0), inverse = T(1) / (T(1) + rho);
    for (int a = 0; a < D; a++) {
        // After collision half a step of the acceleration too much is in the momentum.
        u[a] = u[a] * inverse - half_step.v[a];
        to[a] = T(rules[velocity].velocity[a]);
    }
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        const T drawn = share * (equilibrium<L>(q, rho, u) - equilibrium<L>(q, far, to));
        f[q * CELLS] = narrow_change<S>(widen(f[q * CELLS]) - drawn, 64 * q + cell);
    }
    if (slot >= exchanging) {
        return;
    }
    T* row = moments + static_cast<size_t>(slot) * (EXCHANGED * CELLS) + cell;
    row[0] -= share * (rho - far);
    for (int a = 0; a < D; a++) {
        row[(1 + a) * CELLS] -= share * ((T(1) + rho) * u[a] - (T(1) + far) * to[a]);
    }
}

#define ENTRIES(L, l, S, s)                                                                                            \
    extern "C" __global__ void __launch_bounds__(64) damp_##l##_##s(                                                   \
        const uint32_t* slots, const float* rate, const Rule* rules, uint32_t density, uint32_t velocity,              \
        uint32_t exchanging, Vector<Real<S>> half_step, S* populations, Real<S>* moments) {                            \
        damp<L, S>(slots, rate, rules, density, velocity, exchanging, half_step, populations, moments);                \
    }
EACH_LATTICE(ENTRIES)
