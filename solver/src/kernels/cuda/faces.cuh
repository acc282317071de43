// Populations that enter through the faces of the box: `faces.rs`.

#pragma once

#include "walls.cuh"

// As in `faces.rs`.
constexpr double ANCHOR = 0.02;
constexpr double LEAVING = 0.02;
constexpr double SOUND = 0.57735026918962576;

// A population of the second-order equilibrium, less its weight.
template <class L, class T>
__device__ T equilibrium(int q, T rho, const T (&u)[D]) {
    T along = T(0), square = T(0);
    for (int a = 0; a < D; a++) {
        along += u[a] * T(L::c(q, a));
        square += u[a] * u[a];
    }
    const T flux = T(3) * along + T(4.5) * along * along - T(1.5) * square;
    return T(L::w(q)) * (rho + (T(1) + rho) * flux);
}

// How much an outward speed counts as leaving, 0 to 1.
template <class T>
__device__ T share_leaving(T speed) {
    const T share = speed * T(1.0 / LEAVING);
    return share > T(1) ? T(1) : share > T(0) ? share : T(0);
}

// A face that a population enters through, once free-slip faces have mirrored it: `Entry`.
template <class L, class S, class M>
struct Entry {
    using T = Real<S>;

    const View<L, S, M>& view;
    const Rule& rule;
    int axis, outward, q;
    // The cell that the population enters, and the one inside that the ghost copies, a step `along` the face.
    const At &at, &inside;
    const int (&along)[D];

    __device__ T value() const {
        switch (rule.kind) {
            case STREAM:
                return stream();
            case FAR:
                return far();
            default:
                return opened();
        }
    }

    __device__ T velocity_inside(T (&u)[D]) const {
        return view.velocity_near(at, along, inside, u);
    }

    // A ghost's population: the inner cell's, with another equilibrium.
    __device__ T replaced(T inner_rho, const T (&inner)[D], T rho, const T (&u)[D]) const {
        const T rest =
            rule.projects ? of_stress(inner_rho, inner) : view.f(inside, q) - equilibrium<L>(q, inner_rho, inner);
        return equilibrium<L>(q, rho, u) + rest;
    }

    // The population's part of the inner cell's non-equilibrium stress.
    __device__ T of_stress(T rho, const T (&u)[D]) const {
        const T third = T(1.0 / 3.0);
        T sum = T(0);
#pragma unroll 1
        for (int k = 0; k < L::Q; k++) {
            T along = T(0), square = T(0);
            for (int a = 0; a < D; a++) {
                along += T(L::c(q, a) * L::c(k, a));
                square += T(L::c(k, a) * L::c(k, a));
            }
            sum += (along * along - third * square) * view.f(inside, k);
        }
        T along = T(0), square = T(0), own = T(0);
        for (int a = 0; a < D; a++) {
            along += T(L::c(q, a)) * u[a];
            square += u[a] * u[a];
            own += T(L::c(q, a) * L::c(q, a));
        }
        const T steady = (T(1) + rho) * (along * along - third * square) + third * rho * (own - T(D / 3.0));
        return T(4.5 * L::w(q)) * (sum - steady);
    }

    // A given velocity at the face, halfway to the ghost; where fluid leaves, at the ghost.
    __device__ T stream() const {
        T inner[D], u[D];
        double wanted[3];
        const T rho = velocity_inside(inner);
        view.level.template velocity_at<L>(inside, 0, 0.5, rule, wanted);
        const bool leaves = wanted[axis] * outward > 0;
        for (int a = 0; a < D; a++) {
            const T given = T(wanted[a]);
            u[a] = leaves ? given : given + given - inner[a];
        }
        return replaced(rho, inner, rho, u);
    }

    // A far field of given density and velocity, by the characteristics along the normal.
    __device__ T far() const {
        T inner[D], u[D];
        double wanted[3];
        view.level.template velocity_at<L>(inside, 0, 0.5, rule, wanted);
        const T inner_rho = velocity_inside(inner), sign = T(outward), c = T(SOUND);
        const T rho = T(rule.density - 1.0);
        const T leaving = sign * inner[axis], entering = sign * T(wanted[axis]);
        const T density = T(0.5) * (inner_rho + rho + (leaving - entering) / c);
        const T share = share_leaving(leaving);
        for (int a = 0; a < D; a++) {
            const T given = T(wanted[a]);
            u[a] = a == axis ? sign * T(0.5) * (leaving + entering + c * (inner_rho - rho))
                             : given + share * (inner[a] - given);
        }
        return replaced(inner_rho, inner, density, u);
    }

    // A given density, or where fluid leaves through an outflow nearly that of the cells inside, with their velocity
    // and no non-equilibrium: of the population's row with a weight of tau, of the cell's own with the rest.
    __device__ T opened() const {
        const T one = opened_row(along, inside);
        if (inside.slot == at.slot && inside.cell() == at.cell()) {
            return one;
        }
        const int here[D] = {};
        const double tau = 0.5 + rule.relaxation * static_cast<double>(1u << view.level.index);
        const T own = opened_row(here, at);
        return own + T(tau < 1 ? tau : 1) * (one - own);
    }

    __device__ T opened_row(const int (&step)[D], const At& row) const {
        const T given = T(view.level.template density_at<L>(row, 0, rule) - 1.0);
        T u[D];
        const T inner = view.velocity_near(at, step, row, u);
        const T rho = rule.kind == OUTFLOW
                          ? given + T(1.0 - ANCHOR) * share_leaving(u[axis] * T(outward)) * (inner - given)
                          : given + given - inner;
        return equilibrium<L>(q, rho, u);
    }
};

// The faces of the box beside a cell, but periodic ones: bit 2 a + side.
struct Faces {
    uint32_t beside = 0, take_moments = 0;

    __device__ Faces(const Level& level, const At& at) {
#pragma unroll
        for (int a = 0; a < D; a++) {
            const int x = 4 * level.coord[at.slot].v[a] + at.x[a];
            if (x == 0) {
                add(level.rules[2 * a], 2 * a);
            }
            if (x == level.extent.v[a] - 1) {
                add(level.rules[2 * a + 1], 2 * a + 1);
            }
        }
    }

    __device__ void add(const Rule& rule, int face) {
        beside |= static_cast<uint32_t>(rule.kind != PERIODIC) << face;
        const bool takes = rule.kind == WALL ? rule.moves() : rule.kind != SLIP && rule.kind != PERIODIC;
        take_moments |= static_cast<uint32_t>(takes) << face;
    }

    // The step to the cell whose moments population q enters by, from a cell at x. False where q enters through no such
    // face, and for cells within the block, each of which requests its own.
    template <class L>
    __device__ __forceinline__ bool beyond_block(const int (&x)[D], int q, int (&step)[D]) const {
        uint32_t through = 0;
        bool leaves = false;
#pragma unroll
        for (int a = 0; a < D; a++) {
            const int c = L::c(q, a);
            const uint32_t face = c == 0 ? 0 : 1u << (2 * a + (c < 0));
            through |= beside & face;
            step[a] = beside & face ? 0 : -c;
            leaves = leaves || x[a] + step[a] < 0 || x[a] + step[a] > 3;
        }
        return leaves && (through & take_moments);
    }
};

// The velocity with these components.
template <class L>
__device__ int velocity_with(const int (&c)[D]) {
    int found = 0;
#pragma unroll 1
    for (int q = 1; q < L::Q; q++) {
        bool same = true;
        for (int a = 0; a < D; a++) {
            same = same && L::c(q, a) == c[a];
        }
        found = same ? q : found;
    }
    return found;
}

// Population q where its source lies beyond one face, next to which there is nothing but fluid of the level: what `face`
// gives there.
template <class L, class S, class M>
__device__ Real<S> one_face(const View<L, S, M>& view, const Rule& rule, int axis, int outward, const At& at, int q) {
    using T = Real<S>;
    if (rule.kind == WALL) {
        const int back = opposite(q);
        return view.f(at, back) - T(view.wall(at, back, 0.5, rule));
    }
    int along[D], mirrored[D];
    view.velocity(opposite(q), along);
    view.velocity(q, mirrored);
    along[axis] = 0;
    mirrored[axis] = -mirrored[axis];
    const At inside = view.level.next(at, along);
    if (rule.kind == SLIP) {
        return view.f(inside, velocity_with<L>(mirrored));
    }
    return Entry<L, S, M>{view, rule, axis, outward, q, at, inside, along}.value();
}

// Population q where its source lies beyond the box.
template <class L, class S>
__device__ Real<S> face(const View<L, S>& view, const At& at, int q) {
    using T = Real<S>;
    const Level& level = view.level;
    int mirrored[D], along[D], step[D];
    View<L, S>::velocity(q, mirrored);
    View<L, S>::velocity(opposite(q), step);
    View<L, S>::velocity(opposite(q), along);
    const Rule* open = nullptr;
    int axis = 0, outward = 0;
    bool mirrors = false;
    for (int a = 0; a < D; a++) {
        const int to = 4 * level.coord[at.slot].v[a] + at.x[a] + step[a];
        if (to >= 0 && to < level.extent.v[a]) {
            continue;
        }
        const Rule& rule = level.rules[2 * a + (to >= 0)];
        if (rule.kind == PERIODIC) {
            continue;
        }
        if (rule.kind == WALL) {
            const int back = opposite(q);
            return view.f(at, back) - T(view.wall(at, back, 0.5, rule));
        }
        along[a] = 0;
        if (rule.kind == SLIP) {
            mirrored[a] = -mirrored[a];
            mirrors = true;
        } else if (open == nullptr || open->kind < rule.kind) {
            open = &rule;
            axis = a;
            outward = to < 0 ? -1 : 1;
        }
    }
    const int reflected = mirrors ? velocity_with<L>(mirrored) : q;
    At next = at;
    const bool fluid = level.fluid(at, along, next);
    if (open == nullptr) {
        return fluid ? view.f(next, reflected) : view.f(at, opposite(q));
    }
    if (!fluid) {
        next = at;
        for (int& a : along) {
            a = 0;
        }
    }
    return Entry<L, S, Moments<T>>{view, *open, axis, outward, reflected, at, next, along}.value();
}

// Population q of a cell a step later, where a cut link or a face of the box is in the way; `links` are the cell's.
template <class L, class S>
__device__ __forceinline__ Real<S> pull(const View<L, S>& view, const At& at, int q, const Links& links) {
    const int back = opposite(q), direction = direction_of<L>(back);
    return links.cut(direction) ? view.returned(at, back, links.place(direction), links) : face(view, at, q);
}
