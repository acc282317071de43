// Populations that enter through the faces of the box: `faces.rs`.

#pragma once

#include "walls.cuh"

constexpr double OUTFLOW_STRESS = D == 2 ? OUTFLOW_STRESS_2D : OUTFLOW_STRESS_3D;
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

// A component of a vector: by selection, since an index that is not known when this is compiled puts it into local memory.
template <class T, int N>
__device__ __forceinline__ T component(const T (&of)[N], int axis) {
    T found = of[0];
#pragma unroll
    for (int a = 1; a < D; a++) {
        found = a == axis ? of[a] : found;
    }
    return found;
}

// How much an outward speed counts as leaving, 0 to 1.
template <class T>
__device__ T share_leaving(T speed) {
    const T share = speed * T(1.0 / LEAVING);
    return share > T(1) ? T(1) : share > T(0) ? share : T(0);
}

// A population that enters through a face beside another one, which needs no others: see `Entry::balanced`.
template <class L, class S>
__device__ Real<S> slanted(const View<L, S>& view, const At& at, int q);

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

    // With STRAIGHT also populations along the normal that take all others into account.
    template <bool STRAIGHT>
    __device__ T value() const {
        switch (rule.kind) {
            case STREAM:
                return stream();
            case FAR:
                return far();
            default:
                if constexpr (STRAIGHT) {
                    if (is_straight()) {
                        return balanced();
                    }
                }
                return opened();
        }
    }

    __device__ bool is_straight() const {
        bool straight = true;
        for (int a = 0; a < D; a++) {
            straight = straight && (a == axis || L::c(q, a) == 0);
        }
        return straight;
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

    // A given velocity at the face, halfway to the ghost; where fluid leaves, at the ghost. Where fluid passes, it is the
    // mass flow that is given: the velocity is that of the fluid at rest.
    __device__ T stream() const {
        T inner[D], u[D], slopes[D];
        double wanted[3];
        const T rho = velocity_inside(inner);
        view.level.template velocity_at<L>(inside, 0, 0.5, rule, wanted);
        const double through = component(wanted, axis);
        const T share = T(through) != T(0) ? T(AT_REST) / (T(1) + rho) : T(1);
        const T outwards = T(through) * share * T(outward);
        if (outwards < T(0) && sheared(T(through) * share, share, slopes)) {
            return in_corner(rho, inner, wanted, share, slopes);
        }
        const bool leaves = outwards > T(0);
        for (int a = 0; a < D; a++) {
            const T given = T(wanted[a]) * share;
            u[a] = leaves ? given : given + given - inner[a];
        }
        return replaced(rho, inner, rho, u);
    }

    // A ghost in front of a cell beside a wall, where fluid enters.
    __device__ __noinline__ T in_corner(T rho, const T (&inner)[D], const double (&wanted)[3], T share,
                                        const T (&slopes)[D]) const {
        T u[D], flux = T(0), slope = T(0);
        for (int a = 0; a < D; a++) {
            const T given = T(wanted[a]) * share;
            u[a] = a == axis ? given + given - inner[a] : given;
        }
#pragma unroll 1
        for (int k = 1; k < L::Q; k++) {
            if (L::c(k, axis) != 0) {
                flux += view.f(inside, k);
            }
        }
        const T density = T(1) + rho, through = component(inner, axis);
        const T normal = flux - T(1.0 / 3.0) * rho - density * through * through;
        const double half_step = rule.relaxation * static_cast<double>(1u << view.level.index);
        for (int a = 0; a < D; a++) {
            if (a != axis) {
                slope += T(L::c(q, a)) * slopes[a];
            }
        }
        const T shear = T(-outward) * T(0.5 - half_step) * density * slope;
        return equilibrium<L>(q, rho, u) + T(3.0 * L::w(q)) * (normal + shear);
    }

    // How the given normal velocity changes along the face, by axis, in front of a cell beside a wall at rest, which brings it
    // to rest halfway. False where there is no wall.
    __device__ __noinline__ bool sheared(T own, T share, T (&slopes)[D]) const {
        const Links links = view.level.links(inside);
        bool is_beside = false;
        for (int a = 0; a < D; a++) {
            slopes[a] = T(0);
            if (a == axis) {
                continue;
            }
            T distance[2], beside[2];
            for (int side = 0; side < 2; side++) {
                int step[D] = {}, direction = 0;
                step[a] = 2 * side - 1;
                for (int b = D - 1; b >= 0; b--) {
                    direction = 3 * direction + step[b] + 1;
                }
                const At near = view.level.next(inside, step);
                distance[side] = T(1);
                beside[side] = own;
                const bool is_cut = links.cut(direction);
                const Rule* wall = is_cut ? &view.level.rules[2 * D + view.level.patch[links.place(direction)]]
                                 : near.slot == OUTSIDE ? &view.level.rules[2 * a + side]
                                                        : nullptr;
                if (wall != nullptr && wall->kind == WALL && !wall->moves()) {
                    is_beside = true;
                    distance[side] = T(0.5);
                    beside[side] = T(0);
                } else if (near.slot < view.level.slots && !view.level.is_solid(near)) {
                    double u[3];
                    view.level.template velocity_at<L>(near, 0, 0.5, rule, u);
                    beside[side] = T(component(u, axis)) * share;
                }
            }
            // Of the parabola through the three.
            const T below = (own - beside[0]) * (distance[1] / distance[0]);
            const T above = (beside[1] - own) * (distance[0] / distance[1]);
            slopes[a] = (below + above) * (T(1) / (distance[0] + distance[1]));
        }
        return is_beside;
    }

    // A far field of given density and velocity, by the characteristics along the normal.
    __device__ T far() const {
        T inner[D], u[D];
        double wanted[3];
        view.level.template velocity_at<L>(inside, 0, 0.5, rule, wanted);
        const T inner_rho = velocity_inside(inner), sign = T(outward), c = T(SOUND);
        const T rho = T(rule.density - 1.0);
        const T leaving = sign * component(inner, axis), entering = sign * T(component(wanted, axis));
        const T density = T(0.5) * (inner_rho + rho + (leaving - entering) / c);
        const T share = share_leaving(leaving);
        for (int a = 0; a < D; a++) {
            const T given = T(wanted[a]);
            u[a] = a == axis ? sign * T(0.5) * (leaving + entering + c * (inner_rho - rho))
                             : given + share * (inner[a] - given);
        }
        return replaced(inner_rho, inner, density, u);
    }

    // A given density, or through an outflow nearly that of the cells inside, with their velocity and no
    // non-equilibrium: of the population's row with a weight of tau, of the cell's own with the rest.
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
        T u[D];
        const T inner = view.velocity_near(at, step, row, u);
        return equilibrium<L>(q, ghost_density(row, inner, component(u, axis)), u);
    }

    // Density less 1 of the ghost cell in front of a cell. Of an outflow that the fluid passes along it is the given one.
    __device__ T ghost_density(const At& row, T inner, T normal) const {
        const T given = T(view.level.template density_at<L>(row, 0, rule) - 1.0);
        return rule.kind == OUTFLOW
                   ? given + T(1.0 - ANCHOR) * share_leaving(normal < T(0) ? -normal : normal) * (inner - given)
                   : given + given - inner;
    }

    // The population along the normal makes up for what the others that enter lack or have too much of.
    __device__ __noinline__ T balanced() const {
        T others = T(0);
#pragma unroll 1
        for (int k = 1; k < L::Q; k++) {
            if (L::c(k, axis) == -outward && k != q) {
                others += slanted<L, S>(view, at, k);
            }
        }
        return balanced(others);
    }

    __device__ __forceinline__ T balanced(T others) const {
        T u[D];
        const T inner = velocity_inside(u);
        const T own = component(u, axis), normal = own * T(outward);
        T flux = T(0);
#pragma unroll 1
        for (int k = 1; k < L::Q; k++) {
            if (L::c(k, axis) != 0) {
                flux += view.f(at, k);
            }
        }
        const T third = T(1.0 / 3.0), half = T(0.5);
        const T stress = half * (flux - third * inner - (T(1) + inner) * normal * normal);
        const T ghost = ghost_density(at, inner, own);
        const T whole = third * ghost + (T(1) + ghost) * (normal * normal - normal);
        T kept = T(OUTFLOW_STRESS) * stress;
        if (rule.kind != OUTFLOW) {
            const double half_step = rule.relaxation * static_cast<double>(1u << view.level.index);
            kept = T(PRESSURE_STRESS) * stress - T(half_step / 6.0) * curvature(normal);
        }
        return half * whole + kept - others;
    }

    // Second derivative along the face of the cell's outward velocity, which walls bring to rest halfway.
    __device__ T curvature(T own) const {
        const Links links = view.level.links(at);
        T sum = T(0);
        for (int a = 0; a < D; a++) {
            if (a == axis) {
                continue;
            }
            T distance[2], beside[2];
            for (int side = 0; side < 2; side++) {
                int step[D] = {}, direction = 0;
                step[a] = 2 * side - 1;
                for (int b = D - 1; b >= 0; b--) {
                    direction = 3 * direction + step[b] + 1;
                }
                const At near = view.level.next(at, step);
                distance[side] = T(0.5);
                beside[side] = T(0);
                if (links.cut(direction)) {
                    continue;
                }
                if (near.slot < view.level.slots) {
                    if (!view.level.is_solid(near)) {
                        T u[D];
                        view.velocity_near(at, step, near, u);
                        distance[side] = T(1);
                        beside[side] = component(u, axis) * T(outward);
                    }
                } else if (near.slot != OUTSIDE || view.level.rules[2 * a + side].kind != WALL) {
                    distance[side] = T(1);
                    beside[side] = own;
                }
            }
            const T slope = (beside[0] - own) * (T(1) / distance[0]) + (beside[1] - own) * (T(1) / distance[1]);
            sum += slope * (T(2) / (distance[0] + distance[1]));
        }
        return sum;
    }
};

// The faces of the box beside a cell, but periodic ones: bit 2 a + side.
struct Faces {
    uint32_t beside = 0, take_moments = 0;

    __device__ Faces() {}

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
// gives there, without STRAIGHT.
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
    for (int a = 0; a < D; a++) {
        along[a] = a == axis ? 0 : along[a];
        mirrored[a] = a == axis ? -mirrored[a] : mirrored[a];
    }
    const At inside = view.level.next(at, along);
    if (rule.kind == SLIP) {
        return view.f(inside, velocity_with<L>(mirrored));
    }
    return Entry<L, S, M>{view, rule, axis, outward, q, at, inside, along}.template value<false>();
}

// What a step leaves the box through.
struct Crossed {
    // The first wall, and the open face of the highest kind.
    const Rule *wall = nullptr, *open = nullptr;
    int axis = 0, outward = 0;
    // Bit a for a face normal to axis a, bit D + a if it is a free-slip one.
    uint32_t faces = 0;

    __device__ Crossed(const Level& level, const At& at, const int (&step)[D]) {
        for (int a = 0; a < D; a++) {
            const int to = 4 * level.coord[at.slot].v[a] + at.x[a] + step[a];
            if (to >= 0 && to < level.extent.v[a]) {
                continue;
            }
            const Rule& rule = level.rules[2 * a + (to >= 0)];
            if (rule.kind == PERIODIC) {
                continue;
            }
            faces |= 1u << a;
            if (rule.kind == WALL) {
                wall = wall == nullptr ? &rule : wall;
            } else if (rule.kind == SLIP) {
                faces |= 1u << (D + a);
            } else if (open == nullptr || open->kind < rule.kind) {
                open = &rule;
                axis = a;
                outward = to < 0 ? -1 : 1;
            }
        }
    }

    // Whether a wall beside the cell hides a ghost cell that has populations to give.
    __device__ bool is_beside_wall() const {
        return open != nullptr && (open->kind == STREAM || open->kind == FAR);
    }
};

// Population q of a cell at a face of given velocity or a far field beside a wall: `beside_wall`.
template <class L, class S>
__device__ Real<S> beside_wall(const View<L, S>& view, const Crossed& crossed, const At& at, int q) {
    int turned[D];
    const int here[D] = {};
    View<L, S>::velocity(opposite(q), turned);
    turned[crossed.axis] = -turned[crossed.axis];
    const int ghost = velocity_with<L>(turned);
    return Entry<L, S, Moments<Real<S>>>{view, *crossed.open, crossed.axis, crossed.outward, ghost, at, at, here}
        .template value<false>();
}

// Population q where its source lies beyond the box.
template <class L, bool STRAIGHT, class S>
__device__ Real<S> face(const View<L, S>& view, const At& at, int q) {
    using T = Real<S>;
    const Level& level = view.level;
    int mirrored[D], along[D], step[D];
    View<L, S>::velocity(q, mirrored);
    View<L, S>::velocity(opposite(q), step);
    View<L, S>::velocity(opposite(q), along);
    const Crossed crossed(level, at, step);
    if (crossed.wall != nullptr) {
        if (crossed.is_beside_wall()) {
            return beside_wall(view, crossed, at, q);
        }
        const int back = opposite(q);
        return view.f(at, back) - T(view.wall(at, back, 0.5, *crossed.wall));
    }
    bool mirrors = false;
    for (int a = 0; a < D; a++) {
        along[a] = crossed.faces >> a & 1 ? 0 : along[a];
        if (crossed.faces >> (D + a) & 1) {
            mirrored[a] = -mirrored[a];
            mirrors = true;
        }
    }
    const int reflected = mirrors ? velocity_with<L>(mirrored) : q;
    At next = at;
    const bool fluid = level.fluid(at, along, next);
    if (crossed.open == nullptr) {
        return fluid ? view.f(next, reflected) : view.f(at, opposite(q));
    }
    if (!fluid) {
        next = at;
        for (int& a : along) {
            a = 0;
        }
    }
    return Entry<L, S, Moments<T>>{view, *crossed.open, crossed.axis, crossed.outward, reflected, at, next, along}
        .template value<STRAIGHT>();
}

// Population q of a cell a step later, where a cut link or a face of the box is in the way; `links` are the cell's.
template <class L, bool STRAIGHT = true, class S>
__device__ __forceinline__ Real<S> pull(const View<L, S>& view, const At& at, int q, const Links& links) {
    const int back = opposite(q), direction = direction_of<L>(back);
    if (!links.cut(direction)) {
        return face<L, STRAIGHT>(view, at, q);
    }
    const uint64_t link = links.place(direction);
    const Rule& wall = view.level.rules[2 * D + view.level.patch[link]];
    if (wall.kind == WALL && !wall.moves()) {
        int step[D];
        View<L, S>::velocity(back, step);
        const Crossed crossed(view.level, at, step);
        if (crossed.is_beside_wall()) {
            return beside_wall(view, crossed, at, q);
        }
    }
    return view.returned(at, back, link, links);
}

template <class L, class S>
__device__ Real<S> slanted(const View<L, S>& view, const At& at, int q) {
    return pull<L, false>(view, at, q, view.level.links(at));
}
