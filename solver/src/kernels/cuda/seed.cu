// Populations of a level whose blocks have changed, from those before: one thread block a slot, one thread a cell.

#include "exchange.cuh"

// What the populations of a slot are made of: `SlotSource`.
struct Source {
    uint32_t kind, at;
};

// How values leave a level: `Departure`.
template <class T>
struct Departure {
    T tau, keep, half_step[3];
};

// A level before the mesh changed, without those tables that are not needed here.
template <class S>
struct Origin {
    const uint32_t* neighbors;
    const uint64_t* solid;
    uint32_t slots;
    const S* populations;
    Departure<Real<S>> departure;
    Arrival<Real<S>> arrival;
};

// The values of a cell that pass between levels; stress only if collision has left enough of it.
template <class L, class S>
__device__ void values_of(const S* populations, uint32_t slot, int cell, const Departure<Real<S>>& from,
                          Values<Real<S>>& values) {
    using T = Real<S>;
    const S* row = populations + static_cast<size_t>(slot) * (L::Q * CELLS) + cell;
    T f[L::Q];
#pragma unroll
    for (int q = 0; q < L::Q; q++) {
        f[q] = widen(row[q * CELLS]);
    }
    // After collision half a step of the acceleration too much is in the momentum.
    Relaxation<T> relax{};
    for (int a = 0; a < D; a++) {
        relax.acceleration[a] = T(-2) * from.half_step[a];
    }
    Fluid<T> fluid = fluid_of<L>(f, relax);
    add_stress<L>(f, fluid);
    const T density = fluid.density();
    values[0] = fluid.rho;
    for (int a = 0; a < D; a++) {
        values[1 + a] = density * fluid.u[a];
    }
    int n = 0;
    for (int a = 0; a < D; a++) {
        for (int b = a; b < D; b++) {
            const T push = density * (fluid.u[a] * from.half_step[b] + from.half_step[a] * fluid.u[b]);
            values[1 + D + n] = from.keep == T(0) ? T(0) : (fluid.stress[n] - push) / from.keep;
            n++;
        }
    }
}

// The stress of the cells of a tile by the differences of their velocities, -2 rho tau S / 3; one-sided at the edge and
// beside cells that are not fluid.
template <class T>
__device__ void stress_by_gradient(Tile<T>& tile, T tau) {
    const int cell = threadIdx.x;
    const bool mine = cell < CELLS && (tile.fluid >> cell & 1);
    T slope[D][D];
    if (mine) {
        for (int axis = 0; axis < D; axis++) {
            const int x = cell_coord(cell, axis), step = 1 << 2 * axis;
            const bool below = x > 0 && (tile.fluid >> (cell - step) & 1);
            const bool above = x < 3 && (tile.fluid >> (cell + step) & 1);
            const int from = below ? cell - step : cell, to = above ? cell + step : cell;
            const T share = below && above ? T(0.5) : T(1);
            for (int a = 0; a < D; a++) {
                slope[a][axis] = share * (tile.values[1 + a][to] / (T(1) + tile.values[0][to]) -
                                          tile.values[1 + a][from] / (T(1) + tile.values[0][from]));
            }
        }
        const T scale = -(T(1.0 / 3.0) * (T(1) + tile.values[0][cell]) * tau);
        int n = 1 + D;
        for (int a = 0; a < D; a++) {
            for (int b = a; b < D; b++) {
                tile.values[n++][cell] = scale * (slope[a][b] + slope[b][a]);
            }
        }
    }
    __syncthreads();
}

// Fills a tile: `find` gives the slot and cell of each, and whether it is fluid.
template <class L, class S, class Find>
__device__ void fill(Tile<Real<S>>& tile, const Origin<S>& from, const Find& find) {
    using T = Real<S>;
    __syncthreads();
    if (threadIdx.x == 0) {
        tile.there = tile.fluid = 0;
    }
    __syncthreads();
    const int cell = threadIdx.x;
    uint32_t slot = NONE;
    int inner = 0;
    const bool there = cell < CELLS && find(cell, slot, inner);
    const bool fluid = there && !(from.solid[slot] >> inner & 1);
    if (fluid) {
        Values<T> values;
        values_of<L>(from.populations, slot, inner, from.departure, values);
        for (int n = 0; n < EXCHANGED; n++) {
            tile.values[n][cell] = values[n];
        }
    }
    if (there) {
        atomicOr(reinterpret_cast<unsigned long long*>(&tile.there), 1ull << cell);
    }
    if (fluid) {
        atomicOr(reinterpret_cast<unsigned long long*>(&tile.fluid), 1ull << cell);
    }
    __syncthreads();
    if (from.departure.keep == T(0)) {
        stress_by_gradient(tile, from.departure.tau);
    }
}

// The cells of a tile at one place along an axis.
__device__ inline uint64_t plane(int axis, int place) {
    constexpr uint64_t FIRST[3] = {0x1111111111111111ull, 0x000f000f000f000full, 0xffffull};
    return FIRST[axis] << (place << 2 * axis);
}

// Restricts the cells around a child to a box, all of which is there: `Around::restrict`.
template <class T>
__device__ void restrict_to_box(Tile<T>& tile, int child) {
    uint64_t ranges[D];
    for (int a = 0; a < D; a++) {
        ranges[a] = ~plane(a, child >> a & 1 ? 3 : 0);
    }
    uint64_t all = ~0ull;
    for (int a = 0; a < D; a++) {
        const uint64_t beyond = plane(a, child >> a & 1 ? 3 : 0);
        uint64_t slab = beyond & (CELLS == 64 ? ~0ull : (1ull << CELLS % 64) - 1);
        for (int b = 0; b < D; b++) {
            if (b != a) {
                slab &= ranges[b];
            }
        }
        if ((slab & ~tile.fluid) == 0) {
            ranges[a] |= beyond;
        }
        all &= ranges[a];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        tile.there &= all;
        tile.fluid &= all;
    }
    __syncthreads();
}

// A child of a block of the coarser level.
template <class L, class O, class S>
__device__ void from_parent(Tile<Real<S>>& tile, const Origin<S>& from, uint32_t block, int child, S* to) {
    fill<L>(tile, from, [&](int cell, uint32_t& slot, int& inner) {
        int toward = 0;
        for (int a = D - 1; a >= 0; a--) {
            const int x = 2 * (child >> a & 1) + cell_coord(cell, a) - 1;
            toward = 3 * toward + (x >> 2) + 1;
            inner |= (x & 3) << 2 * a;
        }
        slot = from.neighbors[static_cast<size_t>(block) * DIRECTIONS + toward];
        return slot < from.slots;
    });
    restrict_to_box(tile, child);
    if (threadIdx.x < CELLS) {
        interpolate<L, O>(tile, true, from.arrival, to);
    }
}

// A block of which the children are known; cells of which nothing is known are at rest.
template <class L, class O, class S>
__device__ void from_children(Tile<Real<S>>& tile, const Origin<S>& from, const uint32_t* group, S* to) {
    using T = Real<S>;
    const int cell = threadIdx.x;
    int child = 0, first = 0;
    for (int a = 0; a < D; a++) {
        const int x = cell_coord(cell, a);
        child |= (x >> 1) << a;
        first |= 2 * (x & 1) << 2 * a;
    }
    Values<T> values;
    int count = 0;
    for (int n = 0; n < EXCHANGED; n++) {
        values[n] = T(0);
    }
    for (int at = 0; at < CHILDREN; at++) {
        fill<L>(tile, from, [&](int cell, uint32_t& slot, int& inner) {
            slot = group[at];
            inner = cell;
            return slot != NONE;
        });
        if (at != child || cell >= CELLS) {
            continue;
        }
        for (int corner = 0; corner < CHILDREN; corner++) {
            int fine = first;
            for (int a = 0; a < D; a++) {
                fine += (corner >> a & 1) << 2 * a;
            }
            if (tile.fluid >> fine & 1) {
                count++;
                for (int n = 0; n < EXCHANGED; n++) {
                    values[n] += tile.values[n][fine];
                }
            }
        }
    }
    if (cell >= CELLS) {
        return;
    }
    if (count == 0) {
        for (int q = 0; q < L::Q; q++) {
            to[q * CELLS + cell] = narrow<S>(T(0));
        }
        return;
    }
    for (int n = 0; n < EXCHANGED; n++) {
        values[n] *= T(1.0 / count);
    }
    from.arrival.rescale(values);
    populations<L, O>(values, from.arrival, to + cell);
}

template <class L, class O, class S>
__device__ void seed(const Source* sources, const uint32_t* slot_of, const S* same, const Origin<S>& coarser,
                     const Origin<S>& finer, S* to) {
    __shared__ Tile<Real<S>> tile;
    constexpr size_t SIZE = L::Q * CELLS;
    const Source source = sources[blockIdx.x];
    to += blockIdx.x * SIZE;
    if (source.kind == SAME) {
        for (size_t i = threadIdx.x; i < SIZE; i += blockDim.x) {
            to[i] = same[source.at * SIZE + i];
        }
    } else if (source.kind == CHILD_BLOCKS) {
        from_children<L, O>(tile, finer, slot_of + source.at, to);
    } else if (source.kind != OTHER_RANK) {
        from_parent<L, O>(tile, coarser, source.at, static_cast<int>(source.kind - PARENT), to);
    }
}

#define ENTRIES(L, l, S, s, O, o)                                                                                      \
    extern "C" __global__ void __launch_bounds__(64)                                                                   \
        seed##o##_##l##_##s(const Source* sources, const uint32_t* slot_of, const S* same,                             \
                            const uint32_t* coarse_neighbors, const uint64_t* coarse_solid, uint32_t coarse_slots,     \
                            const S* coarse, Departure<Real<S>> down, Arrival<Real<S>> from_coarse,                    \
                            const uint64_t* fine_solid, uint32_t fine_slots, const S* fine, Departure<Real<S>> up,     \
                            Arrival<Real<S>> from_fine, S* to) {                                                       \
        const Origin<S> coarser{coarse_neighbors, coarse_solid, coarse_slots, coarse, down, from_coarse};              \
        const Origin<S> finer{nullptr, fine_solid, fine_slots, fine, up, from_fine};                                   \
        seed<L, O, S>(sources, slot_of, same, coarser, finer, to);                                                     \
    }
EACH_ARRIVAL(ENTRIES)
