// Populations of cells that a body has uncovered: one thread a cell of a list in ascending order.

#include "faces.cuh"

// Density less 1, velocity, and the stress that collision has left.
struct Fluid {
    double density, velocity[D], stress[D][D];

    __device__ void add(const Fluid& other, double weight) {
        density += weight * other.density;
        for (int a = 0; a < D; a++) {
            velocity[a] += weight * other.velocity[a];
            for (int b = 0; b < D; b++) {
                stress[a][b] += weight * other.stress[a][b];
            }
        }
    }
};

struct HalfStep {
    double v[3];
};

// Cells whose populations are not known yet: 4^D times the slot plus the cell.
struct Waiting {
    const uint32_t* places;
    uint32_t count;

    __device__ bool has(const At& at) const {
        const uint32_t place = CELLS * at.slot + at.cell();
        uint32_t first = 0, end = count;
        while (first < end) {
            const uint32_t middle = first + (end - first) / 2;
            if (places[middle] < place) {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        return first < count && places[first] == place;
    }
};

// c c less a third of the identity.
template <class L>
__device__ double second(int q, int a, int b) {
    return L::c(q, a) * L::c(q, b) - (a == b ? 1.0 / 3.0 : 0.0);
}

// The fluid of a cell; half a step of the acceleration is in its momentum after collision, and not in its velocity.
template <class L, class S>
__device__ Fluid fluid_of(const View<L, S>& view, const At& at, const HalfStep& half_step) {
    Fluid fluid{};
    double moved[D];
#pragma unroll 1
    for (int q = 0; q < L::Q; q++) {
        const double f = static_cast<double>(view.f(at, q));
        fluid.density += f;
        for (int a = 0; a < D; a++) {
            fluid.velocity[a] += L::c(q, a) * f;
        }
    }
    for (int a = 0; a < D; a++) {
        moved[a] = fluid.velocity[a] / (1.0 + fluid.density);
        fluid.velocity[a] = moved[a] - half_step.v[a];
    }
#pragma unroll 1
    for (int q = 0; q < L::Q; q++) {
        const double rest = static_cast<double>(view.f(at, q)) - equilibrium<L>(q, fluid.density, moved);
        for (int a = 0; a < D; a++) {
            for (int b = 0; b < D; b++) {
                fluid.stress[a][b] += second<L>(q, a, b) * rest;
            }
        }
    }
    return fluid;
}

// Whether the cell along velocity q is fluid that does not wait, and not behind a wall; `next` is that cell.
template <class L, class S>
__device__ bool known(const View<L, S>& view, const At& at, int q, const Links& links, const Waiting& waiting, At& next) {
    int step[D];
    View<L, S>::velocity(q, step);
    return !links.cut(direction_of<L>(q)) && view.level.fluid(at, step, next) && !waiting.has(next);
}

// The velocity between those of the walls that links meet and of the cells on the other side, if a link meets one.
template <class L, class S>
__device__ void between_walls(const View<L, S>& view, const At& at, const Links& links, const Waiting& waiting,
                              const HalfStep& half_step, double (&velocity)[D]) {
    double sum[D] = {}, weights = 0;
#pragma unroll 1
    for (int q = 1; q < L::Q; q++) {
        const int direction = direction_of<L>(q);
        if (!links.cut(direction)) {
            continue;
        }
        const uint64_t link = links.place(direction);
        const Rule& rule = view.level.rules[2 * D + view.level.patch[link]];
        if (rule.kind != WALL) {
            continue;
        }
        const double share = view.level.q[link];
        double wall[3];
        view.level.template velocity_at<L>(at, q, share, rule, wall);
        At inner = at;
        const bool has_inner = known(view, at, opposite(q), links, waiting, inner);
        const Fluid fluid = has_inner ? fluid_of(view, inner, half_step) : Fluid{};
        for (int a = 0; a < D; a++) {
            sum[a] += L::w(q) * (has_inner ? (wall[a] + share * fluid.velocity[a]) / (1.0 + share) : wall[a]);
        }
        weights += L::w(q);
    }
    if (weights > 0) {
        for (int a = 0; a < D; a++) {
            velocity[a] = sum[a] / weights;
        }
    }
}

// The fluid of a cell, from those of its neighbours that are known; whether there is such a neighbour.
template <class L, class S>
__device__ bool guess(const View<L, S>& view, const At& at, const Waiting& waiting, const HalfStep& half_step,
                      Fluid& found) {
    const Links links = view.level.links(at);
    Fluid mean{};
    double weights = 0;
#pragma unroll 1
    for (int q = 1; q < L::Q; q++) {
        At next = at;
        if (known(view, at, q, links, waiting, next)) {
            mean.add(fluid_of(view, next, half_step), L::w(q));
            weights += L::w(q);
        }
    }
    if (weights == 0) {
        return false;
    }
    found.add(mean, 1.0 / weights);
    between_walls(view, at, links, waiting, half_step, found.velocity);
    return true;
}

// A population by Grad's approximation.
template <class L>
__device__ double population(int q, const Fluid& fluid, const HalfStep& half_step) {
    double moved[D], stress = 0;
    for (int a = 0; a < D; a++) {
        moved[a] = fluid.velocity[a] + half_step.v[a];
        for (int b = 0; b < D; b++) {
            stress += second<L>(q, a, b) * fluid.stress[a][b];
        }
    }
    return equilibrium<L>(q, fluid.density, moved) + 4.5 * L::w(q) * stress;
}

template <class L, class S>
__device__ void refill(const Level& level, const Waiting& waiting, bool at_rest, const HalfStep& half_step,
                       S* populations, uint32_t* waits) {
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= waiting.count) {
        return;
    }
    const uint32_t place = waiting.places[thread];
    const At at(place / CELLS, static_cast<int>(place % CELLS));
    const View<L, S> view{level, populations, nullptr};
    Fluid fluid{};
    if (!at_rest && !guess(view, at, waiting, half_step, fluid)) {
        waits[thread] = 1;
        return;
    }
    waits[thread] = 0;
    S* f = populations + static_cast<size_t>(at.slot) * (L::Q * CELLS) + at.cell();
#pragma unroll 1
    for (int q = 0; q < L::Q; q++) {
        f[q * CELLS] = narrow<S>(static_cast<Real<S>>(population<L>(q, fluid, half_step)));
    }
}

#define ENTRIES(L, l, S, s)                                                                                            \
    extern "C" __global__ void __launch_bounds__(64)                                                                   \
        refill_##l##_##s(GivenLevel level, const uint32_t* places, uint32_t count, uint32_t at_rest,                   \
                         HalfStep half_step, S* populations, uint32_t* waits) {                                        \
        refill<L, S>(level, {places, count}, at_rest != 0, half_step, populations, waits);                             \
    }
EACH_LATTICE(ENTRIES)
