// Eddy viscosity from the non-equilibrium stress without its trace: `collide/closure.rs`.

#pragma once

#include "collide.cuh"

// X of `closure.rs`. In 2D Smagorinsky is the only model: QR is 0 there.
template <class T>
__device__ __forceinline__ T model(const Relaxation<T>& relax, const T (&stress)[PAIRS]) {
#if CUTLINK_D == 2
    const T half = T(0.5) * (stress[0] - stress[2]), xy = stress[1];
    return relax.eddy * sqrt(T(2) * (half * half + xy * xy));
#else
    const T mean = T(1.0 / 3.0) * (stress[0] + stress[3] + stress[5]);
    const T xx = stress[0] - mean, yy = stress[3] - mean, zz = stress[5] - mean;
    const T xy = stress[1], xz = stress[2], yz = stress[4];
    const T square = xx * xx + yy * yy + zz * zz + T(2) * (xy * xy + xz * xz + yz * yz);
    if (relax.closure == SMAGORINSKY) {
        return relax.eddy * sqrt(square);
    }
    const T det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    // No stress, no viscosity.
    return relax.eddy * (det > T(0) ? det : T(0)) / (T(0.5) * square + T(1e-30));
#endif
}

// The relaxation time of viscosity and eddy viscosity, of the stress before collision.
template <class T>
__device__ __forceinline__ T tau_of_stress(const Relaxation<T>& relax, const Fluid<T>& fluid) {
    const T x = model(relax, fluid.stress);
    return T(0.5) * (relax.tau + sqrt(relax.tau * relax.tau + T(18) * x / fluid.density()));
}

// The same of a rate of strain: of the stress that the viscosity alone would have.
template <class T>
__device__ __forceinline__ T tau_of_strain(const Relaxation<T>& relax, const Fluid<T>& fluid) {
    return relax.tau + T(4.5) * model(relax, fluid.stress) / (fluid.density() * relax.tau);
}

// The rates of a cell with this relaxation time.
template <class T>
__device__ __forceinline__ Relaxation<T> rates_of(const Relaxation<T>& relax, T tau) {
    Relaxation<T> rates = relax;
    rates.tau = tau;
    rates.even = T(1) / tau;
    if (relax.odd_by == AS_EVEN) {
        rates.odd = rates.even;
    } else if (relax.odd_by == MAGIC) {
        rates.odd = T(1) / (T(0.5) + relax.parameter / (tau - T(0.5)));
    }
    return rates;
}
