// Entropic multi-relaxation on D2Q9 and D3Q27 (Karlin, Bösch & Chikatamarla 2014): `collide/kbc.rs`.

#pragma once

#include "collide.cuh"

struct Kbc {
    static constexpr bool READS_STRESS = true;

    // The acceleration shifts the equilibrium by what it adds to the velocity (Kupershtokh, Medvedev & Karpov 2009).
    template <class L, class T>
    static __device__ __forceinline__ void relax(const Relaxation<T>& relax, Fluid<T>& fluid, T (&f)[L::Q]) {
        T u[D], after[D];
        const T density = fluid.density();
#pragma unroll
        for (int a = 0; a < D; a++) {
            u[a] = fluid.u[a] - T(0.5) * relax.acceleration[a];
            after[a] = fluid.u[a] + T(0.5) * relax.acceleration[a];
        }
        int n = 0;
#pragma unroll
        for (int a = 0; a < D; a++) {
#pragma unroll
            for (int b = a; b < D; b++) {
                fluid.stress[n++] += density * (fluid.u[a] * fluid.u[b] - u[a] * u[b]);
            }
        }
        T trace = fluid.stress[0] + fluid.stress[D];
#if CUTLINK_D == 3
        trace += fluid.stress[5];
#endif
        without_trace(fluid, T(1));
        const T keep = T(1) - relax.even;
        // Where levels meet, as of odd moments elsewhere.
        if (relax.odd == T(1)) {
            regular<L>(keep, fluid.rho, after, fluid.stress, f);
            return;
        }
        // The trace of the stress relaxes with a time of 1.
#pragma unroll
        for (int q = 0; q < L::Q; q++) {
            f[q] -= T(L::w(q) * isotropic<L>(q)) * trace;
        }
        T shares[D][3], inverse[D][3];
        split(u, shares);
#pragma unroll
        for (int a = 0; a < D; a++) {
#pragma unroll
            for (int c = 0; c < 3; c++) {
                inverse[a][c] = T(1) / (T(weight(c)) + shares[a][c]);
            }
        }
        T both = T(0), square = T(0);
#pragma unroll
        for (int q = 0; q < L::Q; q++) {
            const T s = shear<L>(q, fluid.stress);
            const T h = f[q] - equilibrium<L>(q, fluid.rho, shares) - s;
            T by = T(1);
#pragma unroll
            for (int a = 0; a < D; a++) {
                by *= inverse[a][L::c(q, a) + 1];
            }
            both += s * h * by;
            square += h * h * by;
        }
        // (1 - βγ): what is left of the rest.
        const T left = (relax.even - T(1)) * both / (square + T(1e-30));
        T pushed[D][3];
        split(after, pushed);
#pragma unroll
        for (int q = 0; q < L::Q; q++) {
            const T s = shear<L>(q, fluid.stress);
            const T h = f[q] - equilibrium<L>(q, fluid.rho, shares) - s;
            f[q] = equilibrium<L>(q, fluid.rho, pushed) + keep * s + left * h;
        }
    }

    template <class L, class T>
    static __device__ __forceinline__ void build(const Relaxation<T>& to, T keep, Fluid<T> fluid, T (&f)[L::Q]) {
        without_trace(fluid, T(1));
        T u[D];
#pragma unroll
        for (int a = 0; a < D; a++) {
            u[a] = fluid.u[a] + T(0.5) * to.acceleration[a];
        }
        regular<L>(keep, fluid.rho, u, fluid.stress, f);
    }

  private:
    static __device__ constexpr double weight(int c) {
        return c == 1 ? 2.0 / 3.0 : 1.0 / 6.0;
    }

    // Shares of density that move by -1, 0, 1 along each axis, less the weights.
    template <class T>
    static __device__ __forceinline__ void split(const T (&u)[D], T (&shares)[D][3]) {
#pragma unroll
        for (int a = 0; a < D; a++) {
            const T square = u[a] * u[a];
            shares[a][0] = T(0.5) * (square - u[a]);
            shares[a][1] = -square;
            shares[a][2] = T(0.5) * (square + u[a]);
        }
    }

    // A population of the equilibrium, less its weight.
    template <class L, class T>
    static __device__ __forceinline__ T equilibrium(int q, T rho, const T (&shares)[D][3]) {
        const T x = T(weight(L::c(q, 0) + 1)), y = T(weight(L::c(q, 1) + 1));
        const T dx = shares[0][L::c(q, 0) + 1], dy = shares[1][L::c(q, 1) + 1];
        T flat = x * dy + y * dx + dx * dy;
#if CUTLINK_D == 3
        const T z = T(weight(L::c(q, 2) + 1)), dz = shares[2][L::c(q, 2) + 1];
        flat = x * y * dz + flat * (z + dz);
#endif
        return T(L::w(q)) * rho + (T(1) + rho) * flat;
    }

    // What a population has of the deviatoric stress in Hermite form (Latt & Chopard 2006, eq. 11).
    template <class L, class T>
    static __device__ __forceinline__ T projected(int q, const T (&deviator)[PAIRS]) {
        T sum = T(0);
        int n = 0;
#pragma unroll
        for (int a = 0; a < D; a++) {
#pragma unroll
            for (int b = a; b < D; b++) {
                const int product = (a == b ? 1 : 2) * L::c(q, a) * L::c(q, b);
                if (product != 0) {
                    sum += T(4.5 * L::w(q) * product) * deviator[n];
                }
                n++;
            }
        }
        return sum;
    }

    // Populations of a velocity and a deviatoric stress.
    template <class L, class T>
    static __device__ __forceinline__ void regular(T keep, T rho, const T (&u)[D], const T (&deviator)[PAIRS], T (&f)[L::Q]) {
        T shares[D][3];
        split(u, shares);
#pragma unroll
        for (int q = 0; q < L::Q; q++) {
            f[q] = equilibrium<L>(q, rho, shares) + keep * projected<L>(q, deviator);
        }
    }

    // What a population has of the deviatoric stress as a natural moment.
    template <class L, class T>
    static __device__ __forceinline__ T shear(int q, const T (&stress)[PAIRS]) {
        const int moving = square_of<L>(q);
        T part = T(0);
        int n = 0;
#pragma unroll
        for (int a = 0; a < D; a++) {
#pragma unroll
            for (int b = a; b < D; b++) {
                if (moving == 1 && a == b && L::c(q, a) != 0) {
                    part = T(0.5) * stress[n];
                } else if (moving == 2 && a != b && L::c(q, a) * L::c(q, b) != 0) {
                    part = T(0.25 * L::c(q, a) * L::c(q, b)) * stress[n];
                }
                n++;
            }
        }
        return part;
    }
};
