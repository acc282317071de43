// Recursive regularization up to third order (Malaspinas 2015): `collide/regularized.rs`.

#pragma once

#include "collide.cuh"

// Momentum flux of the equilibrium and of what is kept of the stress, and third-order coefficients
// of both: xxy, xxz, xyy, yyz, xzz, yzz, xyz.
template <class T>
struct Orders {
    T flux[PAIRS], cubic[7];

    __device__ __forceinline__ Orders(const Fluid<T>& fluid, T keep) {
        const T density = fluid.density(), x = fluid.u[0], y = fluid.u[1];
        T kept[PAIRS];
        int n = 0;
#pragma unroll
        for (int a = 0; a < D; a++) {
#pragma unroll
            for (int b = a; b < D; b++) {
                kept[n] = keep * fluid.stress[n];
                flux[n] = density * fluid.u[a] * fluid.u[b] + kept[n];
                n++;
            }
        }
#if CUTLINK_D == 2
        const T xx = kept[0], xy = kept[1], yy = kept[2];
        cubic[0] = density * x * x * y + (T(2) * x * xy + y * xx);
        cubic[2] = density * x * y * y + (T(2) * y * xy + x * yy);
        cubic[1] = cubic[3] = cubic[4] = cubic[5] = cubic[6] = T(0);
#else
        const T z = fluid.u[2];
        const T xx = kept[0], xy = kept[1], xz = kept[2], yy = kept[3], yz = kept[4], zz = kept[5];
        cubic[0] = density * x * x * y + (T(2) * x * xy + y * xx);
        cubic[1] = density * x * x * z + (T(2) * x * xz + z * xx);
        cubic[2] = density * x * y * y + (T(2) * y * xy + x * yy);
        cubic[3] = density * y * y * z + (T(2) * y * yz + z * yy);
        cubic[4] = density * x * z * z + (T(2) * z * xz + x * zz);
        cubic[5] = density * y * z * z + (T(2) * z * yz + y * zz);
        cubic[6] = density * x * y * z + (x * yz + y * xz + z * xy);
#endif
    }
};

// What the rest particles' populations are of, weights apart.
template <class T>
__device__ __forceinline__ T even_base(const Fluid<T>& fluid, const Orders<T>& orders) {
    T trace = T(0);
    int diagonal = 0;
#pragma unroll
    for (int a = 0; a < D; a++) {
        trace += orders.flux[diagonal];
        diagonal += D - a;
    }
    return fluid.rho - T(1.5) * trace;
}

// The even part of population p, its weight apart.
template <class L, class T>
__device__ __forceinline__ T even_part(int p, T base, const Orders<T>& orders) {
    int n = 0;
#pragma unroll
    for (int a = 0; a < D; a++) {
#pragma unroll
        for (int b = a; b < D; b++) {
            const int times = L::c(p, a) * L::c(p, b);
            if (times != 0) {
                base += T((a == b ? 4.5 : 9.0) * times) * orders.flux[n];
            }
            n++;
        }
    }
    return base;
}

// The third-order part of population p, its weight apart.
template <class L, class T>
__device__ __forceinline__ T cubic_part(int p, const Orders<T>& orders) {
    T odd = T(0);
#pragma unroll
    for (int n = 0; n < 7; n++) {
        if (L::share(p, n) != 0.0) {
            odd += T(L::share(p, n)) * orders.cubic[n];
        }
    }
    return odd;
}

struct Regularized {
    static constexpr bool READS_STRESS = true;

    // The stress loses its trace, which relaxes with rate 1.
    template <class L, class T>
    static __device__ __forceinline__ void relax(const Relaxation<T>& relax, Fluid<T>& fluid, T (&f)[L::Q]) {
        without_trace(fluid, T(1));
        expand<L>(relax, T(1) - relax.even, fluid, f);
    }

    // Populations after collision, which leaves `keep` of a stress without trace.
    template <class L, class T>
    static __device__ __forceinline__ void expand(const Relaxation<T>& relax, T keep, const Fluid<T>& fluid,
                                                  T (&f)[L::Q]) {
        const Orders<T> orders(fluid, keep);
        const T base = even_base(fluid, orders);
        f[0] = T(L::w(0)) * base;
#pragma unroll
        for (int p = 1; p < L::Q; p += 2) {
            const T even = even_part<L>(p, base, orders);
            const T odd = T(3) * fluid.density() * dot<L>(p, fluid.u) + cubic_part<L>(p, orders);
            f[p] = T(L::w(p)) * (even + odd);
            f[p + 1] = T(L::w(p)) * (even - odd);
        }
        if (relax.pushes()) {
            // The half step of the acceleration is in the momentum already: of the odd part the other half is missing.
            push<L>(relax, fluid, T(1) - T(0.5) * relax.even, T(0.5), T(0.5), f);
        }
    }

    // Third-order parts only with an operator that makes them.
    template <class L, class T>
    static __device__ __forceinline__ void build(const Relaxation<T>& to, T keep, const Fluid<T>& fluid, T (&f)[L::Q]) {
        T half_step[3];
#pragma unroll
        for (int a = 0; a < 3; a++) {
            half_step[a] = T(0.5) * to.acceleration[a];
        }
        const T density = fluid.density();
        const Orders<T> orders(fluid, keep);
        const T base = even_base(fluid, orders);
        f[0] = T(L::w(0)) * base;
#pragma unroll
        for (int p = 1; p < L::Q; p += 2) {
            const T even = even_part<L>(p, base, orders);
            T odd = T(3) * density * (dot<L>(p, fluid.u) + dot<L>(p, half_step));
            if (to.operation == REGULARIZED) {
                odd += cubic_part<L>(p, orders);
            }
            f[p] = T(L::w(p)) * (even + odd);
            f[p + 1] = T(L::w(p)) * (even - odd);
        }
    }
};
