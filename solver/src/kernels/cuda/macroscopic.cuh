// Density and velocity of a cell from its populations after collision.

#pragma once

#include "level.cuh"

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

// Density, and velocity by axis.
template <class L, class S>
__device__ void fields(const S* from, uint32_t slot, int cell, const Vector<Real<S>>& half_step, float (&to)[1 + D]) {
    Real<S> j[D];
    const Real<S> density = Real<S>(1) + sums<L>(from, slot, cell, j);
    to[0] = static_cast<float>(density);
    for (int a = 0; a < D; a++) {
        // After collision half a step of the acceleration too much is in the momentum.
        to[1 + a] = static_cast<float>(j[a] / density - half_step.v[a]);
    }
}
