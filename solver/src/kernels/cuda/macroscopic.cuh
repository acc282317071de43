// Density and velocity of a cell from its populations after collision, or from the 9 values that it keeps.

#pragma once

#include "kept.cuh"

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

// Density less 1 and velocity of a cell of a slot that keeps 9 values a cell, which those from `populated` on do.
template <class L, class S>
__device__ Real<S> kept_velocity(const S* from, uint32_t populated, uint32_t slot, int cell, Real<S> (&u)[D]) {
#if CUTLINK_D == 3
    if constexpr (sizeof(S) == sizeof(float)) {
        const Fluid<float> fluid = load_kept(kept_of<L>(from, populated), slot, cell);
        for (int a = 0; a < D; a++) {
            u[a] = fluid.u[a];
        }
        return fluid.rho;
    }
#endif
    return Real<S>(0);
}

// Density, and velocity by axis.
template <class L, class S>
__device__ void fields(const S* from, uint32_t populated, uint32_t slot, int cell, const Vector<Real<S>>& half_step,
                       float (&to)[1 + D]) {
    Real<S> j[D];
    if (slot >= populated) {
        to[0] = static_cast<float>(Real<S>(1) + kept_velocity<L>(from, populated, slot, cell, j));
        for (int a = 0; a < D; a++) {
            to[1 + a] = static_cast<float>(j[a]);
        }
        return;
    }
    const Real<S> density = Real<S>(1) + sums<L>(from, slot, cell, j);
    to[0] = static_cast<float>(density);
    for (int a = 0; a < D; a++) {
        // After collision half a step of the acceleration too much is in the momentum.
        to[1 + a] = static_cast<float>(j[a] / density - half_step.v[a]);
    }
}
