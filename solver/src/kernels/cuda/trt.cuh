// TRT (Ginzburg 2008), and BGK as its special case: `collide/trt.rs`.

#pragma once

#include "collide.cuh"

struct Trt {
    static constexpr bool READS_STRESS = false;

    // With `bulk` the trace of the stress relaxes with rate 1.
    template <class L, class T>
    static __device__ __forceinline__ void relax(const Relaxation<T>& relax, const Fluid<T>& fluid, T (&f)[L::Q]) {
        T square = T(0);
#pragma unroll
        for (int a = 0; a < D; a++) {
            square += fluid.u[a] * fluid.u[a];
        }
        const T density = fluid.density();
        const T base = fluid.rho - T(1.5) * density * square;
        T kept = T(0);
        if (relax.bulk) {
            kept = -density * square - T(D / 3.0) * fluid.rho;
#pragma unroll
            for (int q = 1; q < L::Q; q++) {
                kept += T(square_of<L>(q)) * f[q];
            }
            kept *= T(1) - relax.even;
        }
        f[0] -= relax.even * (f[0] - T(L::w(0)) * base);
#pragma unroll
        for (int p = 1; p < L::Q; p += 2) {
            const T along = dot<L>(p, fluid.u);
            const T even = T(L::w(p)) * (base + T(4.5) * density * along * along);
            const T odd = T(L::w(p)) * T(3) * density * along;
            const T change = relax.even * (T(0.5) * (f[p] + f[p + 1]) - even);
            const T turn = relax.odd * (T(0.5) * (f[p] - f[p + 1]) - odd);
            f[p] -= change + turn;
            f[p + 1] -= change - turn;
        }
        if (relax.bulk) {
#pragma unroll
            for (int q = 0; q < L::Q; q++) {
                f[q] -= T(L::w(q) * isotropic<L>(q)) * kept;
            }
        }
        if (relax.pushes()) {
            const T even = T(1) - T(0.5) * relax.even;
            push<L>(relax, fluid, even, T(1) - T(0.5) * relax.odd, relax.bulk ? T(0.5) : even, f);
        }
    }
};
