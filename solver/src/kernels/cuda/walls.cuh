// Populations that walls reflect: `cell.rs`.

#pragma once

#include "moments.cuh"

// A level and its populations after collision; with moments of some cells, if there are any.
template <class L, class S, class M = Moments<Real<S>>>
struct View {
    using T = Real<S>;

    const Level& level;
    const S* from;
    const M* moments;

    __device__ T f(const At& at, int q) const {
        return widen(from[(static_cast<size_t>(at.slot) * L::Q + q) * CELLS + at.cell()]);
    }

    static __device__ void velocity(int q, int (&c)[D]) {
        for (int a = 0; a < D; a++) {
            c[a] = L::c(q, a);
        }
    }

    // The velocity of a cell; gives its density less 1. UNROLL loads are under way at a time.
    template <int UNROLL>
    __device__ T velocity_of(const At& at, T (&u)[D]) const {
        T rho = T(0);
        for (int a = 0; a < D; a++) {
            u[a] = T(0);
        }
#pragma unroll UNROLL
        for (int q = 0; q < L::Q; q++) {
            const T value = f(at, q);
            rho += value;
            for (int a = 0; a < D; a++) {
                u[a] += value * T(L::c(q, a));
            }
        }
        const T inverse = T(1) / (T(1) + rho);
        for (int a = 0; a < D; a++) {
            u[a] *= inverse;
        }
        return rho;
    }

    // The velocity of a cell a step away from one of the block that the moments are of; gives its density less 1.
    __device__ T velocity_near(const At& at, const int (&step)[D], const At& near, T (&u)[D]) const {
        const int place = moments == nullptr ? 0 : moments->place(at.x, step);
        if (moments == nullptr || !moments->has(place)) {
            return velocity_of<1>(near, u);
        }
        for (int a = 0; a < D; a++) {
            u[a] = moments->values[(1 + a) * M::PLACES + place];
        }
        return moments->values[place];
    }

    // What a moving wall takes from a reflected population: 6 w rho c·u.
    __device__ double wall(const At& at, int k, double share, const Rule& rule) const {
        if (!rule.moves()) {
            return 0;
        }
        T of_cell[D];
        const int here[D] = {};
        const T rho = velocity_near(at, here, at, of_cell);
        double u[3], along = 0;
        level.template velocity_at<L>(at, k, share, rule, u);
        for (int a = 0; a < D; a++) {
            along += L::c(k, a) * u[a];
        }
        return 6.0 * L::w(k) * (1.0 + static_cast<double>(rho)) * along;
    }

    // The population that a cut link reflects, which population k has left on.
    __device__ T returned(const At& at, int k, uint64_t link, const Links& links) const {
        const Rule& rule = level.rules[2 * D + level.patch[link]];
        if (rule.kind == PRESSURE) {
            return open(at, k, f(at, k), level.template density_at<L>(at, k, rule));
        }
        const double taken = wall(at, k, level.q[link], rule);
        double share;
        const T value = reflected(at, k, link, links, rule, share);
        return value - T(share * taken);
    }

    // What a wall reflects of population k as if it were at rest, and the weight of its velocity relative to that of
    // bounce-back.
    __device__ T reflected(const At& at, int k, uint64_t link, const Links& links, const Rule& rule,
                           double& share) const {
        const T out = f(at, k);
        const double q = level.q[link];
        const int back = opposite(k), direction = direction_of<L>(back);
        int step[D];
        velocity(back, step);
        At inner = at, second = at;
        share = 1.0;
        if (rule.scheme == BOUNCE_BACK || links.cut(direction) || !level.fluid(at, step, inner)) {
            return out;
        }
        if (rule.scheme == LOCAL && q >= CENTRAL_FROM) {
            share = 2.0 / (1.0 + 2.0 * q);
            return out + T(share - 1.0) * (f(inner, k) - f(at, back));
        }
        if (rule.scheme == QUADRATIC && !level.links(inner).cut(direction) && level.fluid(inner, step, second)) {
            if (q < 0.5) {
                return T(q * (2.0 * q + 1.0)) * out + T(1.0 - 4.0 * q * q) * f(inner, k)
                    - T(q * (1.0 - 2.0 * q)) * f(second, k);
            }
            share = 1.0 / (q * (2.0 * q + 1.0));
            return T(share) * out + T((2.0 * q - 1.0) / q) * f(at, back)
                - T((2.0 * q - 1.0) / (2.0 * q + 1.0)) * f(inner, back);
        }
        if (q < 0.5) {
            return T(2.0 * q) * out + T(1.0 - 2.0 * q) * f(inner, k);
        }
        share = 0.5 / q;
        return T(share) * out + T(1.0 - share) * f(at, back);
    }

    // Anti-bounce-back at an open boundary of given density.
    __device__ T open(const At& at, int k, T out, double density) const {
        T u[D], along = T(0), square = T(0);
        const int here[D] = {};
        velocity_near(at, here, at, u);
        for (int a = 0; a < D; a++) {
            along += u[a] * T(L::c(k, a));
            square += u[a] * u[a];
        }
        const T even = T(density) * (T(4.5) * along * along - T(1.5) * square);
        return T(2.0 * L::w(k)) * (T(density - 1.0) + even) - out;
    }
};
