// Collision of one cell: `collide.rs`.

#pragma once

#include "level.cuh"

// `Relaxation`
template <class T>
struct Relaxation {
    T even, odd, acceleration[3];
    uint32_t regularized, bulk;

    __device__ bool pushes() const {
        return acceleration[0] != T(0) || acceleration[1] != T(0) || acceleration[2] != T(0);
    }
};

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

// TRT, and BGK as its special case; with `bulk` the trace of the stress relaxes with rate 1.
template <class L, class T>
__device__ __forceinline__ void relax_trt(const Relaxation<T>& relax, const Fluid<T>& fluid, T (&f)[L::Q]) {
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

// Recursive regularization; the stress is needed, and loses its trace, which relaxes with rate 1.
template <class L, class T>
__device__ __forceinline__ void relax_regularized(const Relaxation<T>& relax, Fluid<T>& fluid, T (&f)[L::Q]) {
    without_trace(fluid, T(1));
    const Orders<T> orders(fluid, T(1) - relax.even);
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
