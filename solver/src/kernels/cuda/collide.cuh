// What collision operators have in common: `collide/mod.rs`. An operator is a file, a type with `READS_STRESS`, `relax`
// (populations after collision in place of those before) and `build` (populations after collision, of density, velocity
// and stress before it), and an OPERATOR line in step.cu and a line in EACH_ARRIVAL.

#pragma once

#include "level.cuh"

// `Relaxation`
template <class T>
struct Relaxation {
    T even, odd, acceleration[3], tau, eddy, parameter;
    uint32_t operation, closure, odd_by, bulk, conserves, dithers;

    // The rates of slots that exchange. Only even moments are transferred between levels: odd ones relax with a rate of 1.
    __device__ __forceinline__ Relaxation between_levels() const {
        Relaxation relax = *this;
        relax.odd = T(1);
        relax.odd_by = FIXED;
        return relax;
    }

    __device__ bool pushes() const {
        return acceleration[0] != T(0) || acceleration[1] != T(0) || acceleration[2] != T(0);
    }
};

// Population q of a cell of a block as it is stored, rounded by chance where the flow is driven slowly.
template <class S>
__device__ __forceinline__ S narrow_for(const Relaxation<Real<S>>& relax, Real<S> value, int q, int cell) {
    return relax.dithers ? narrow_dithered<S>(value, 64 * q + cell) : narrow<S>(value);
}

// Sum c[a] x[a] of a velocity that is known when this is compiled.
template <class L, class T, int N>
__device__ __forceinline__ T dot(int q, const T (&x)[N]) {
    T sum = T(0);
#pragma unroll
    for (int a = 0; a < D; a++) {
        if (L::c(q, a) == 1) {
            sum += x[a];
        } else if (L::c(q, a) == -1) {
            sum -= x[a];
        }
    }
    return sum;
}

// Density less 1, velocity with the acceleration's half step, and, where needed, stress: sum c c f -
// rho u u - rho / 3 less the weights' part (2D: xx, xy, yy; 3D: xx, xy, xz, yy, yz, zz).
template <class T>
struct Fluid {
    T rho, u[D], stress[PAIRS];

    __device__ __forceinline__ T density() const {
        return T(1) + rho;
    }
};

template <class L, class T>
__device__ __forceinline__ Fluid<T> fluid_of(const T (&f)[L::Q], const Relaxation<T>& relax) {
    Fluid<T> fluid;
    T j[D];
    fluid.rho = T(0);
#pragma unroll
    for (int a = 0; a < D; a++) {
        j[a] = T(0);
    }
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        fluid.rho += f[q];
#pragma unroll
        for (int a = 0; a < D; a++) {
            if (L::c(q, a) == 1) {
                j[a] += f[q];
            } else if (L::c(q, a) == -1) {
                j[a] -= f[q];
            }
        }
    }
    const T inverse = T(1) / fluid.density();
#pragma unroll
    for (int a = 0; a < D; a++) {
        fluid.u[a] = j[a] * inverse + T(0.5) * relax.acceleration[a];
    }
    return fluid;
}

template <class L, class T>
__device__ __forceinline__ void add_stress(const T (&f)[L::Q], Fluid<T>& fluid) {
    int n = 0;
#pragma unroll
    for (int a = 0; a < D; a++) {
#pragma unroll
        for (int b = a; b < D; b++) {
            T sum = -fluid.density() * fluid.u[a] * fluid.u[b];
            if (a == b) {
                sum -= T(1.0 / 3.0) * fluid.rho;
            }
#pragma unroll
            for (int q = 0; q < L::Q; q++) {
                if (L::c(q, a) * L::c(q, b) == 1) {
                    sum += f[q];
                } else if (L::c(q, a) * L::c(q, b) == -1) {
                    sum -= f[q];
                }
            }
            fluid.stress[n++] = sum;
        }
    }
}

// |c|^2 of a velocity.
template <class L>
__device__ constexpr int square_of(int q) {
    return L::c(q, 0) * L::c(q, 0) + L::c(q, 1) * L::c(q, 1) + L::c(q, 2) * L::c(q, 2);
}

// What a trace of 1 has of a population, its weight apart.
template <class L>
__device__ constexpr double isotropic(int q) {
    return 4.5 * (static_cast<double>(square_of<L>(q)) / D - 1.0 / 3.0);
}

// The acceleration's source (Guo, Zheng & Shi 2002, eq. 20): even parts times `even`, odd ones times `odd`, the trace
// times `trace`.
template <class L, class T>
__device__ __forceinline__ void push(const Relaxation<T>& relax, const Fluid<T>& fluid, T even, T odd, T trace,
                                     T (&f)[L::Q]) {
    T work = T(0);
#pragma unroll
    for (int a = 0; a < D; a++) {
        work += relax.acceleration[a] * fluid.u[a];
    }
    work *= fluid.density();
    const T bulk = (trace - even) * work;
    f[0] -= T(L::w(0)) * T(3) * (even * work + bulk);
#pragma unroll
    for (int p = 1; p < L::Q; p += 2) {
        const T along = dot<L>(p, fluid.u);
        const T pull = fluid.density() * dot<L>(p, relax.acceleration);
        const T e = even * (T(9) * along * pull - T(3) * work) + T(2.0 * isotropic<L>(p)) * bulk;
        const T o = odd * T(3) * pull;
        f[p] += T(L::w(p)) * (e + o);
        f[p + 1] += T(L::w(p)) * (e - o);
    }
}

// Takes `share` of the trace out of the stress.
template <class T>
__device__ __forceinline__ void without_trace(Fluid<T>& fluid, T share) {
#if CUTLINK_D == 2
    const T mean = share * T(0.5) * (fluid.stress[0] + fluid.stress[2]);
    fluid.stress[0] -= mean;
    fluid.stress[2] -= mean;
#else
    const T mean = share * T(1.0 / 3.0) * (fluid.stress[0] + fluid.stress[3] + fluid.stress[5]);
    fluid.stress[0] -= mean;
    fluid.stress[3] -= mean;
    fluid.stress[5] -= mean;
#endif
}
