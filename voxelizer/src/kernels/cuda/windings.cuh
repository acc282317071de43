// Winding numbers of the cells of a block, as crossings between neighbouring cells.

#pragma once

#include "cuts.cuh"
#include "warp_queue.cuh"

// Where a block's winding numbers start: at its first cell, or at the parent's cell around it.
struct Seeds {
    const int32_t* numbers;
    uint32_t from_parent;
    uint32_t first_parent;

    __device__ int32_t of(uint32_t row, const Ints& coord, uint32_t parent) const {
        if (!from_parent) {
            return numbers[row];
        }
        uint32_t child = 0;
        for (int a = D - 1; a >= 0; a--) {
            child = child * 2 + (coord.v[a] & 1);
        }
        return numbers[static_cast<size_t>(parent - first_parent) * CHILDREN + child];
    }
};

// How often facets count: `FacetArrays::times`.
struct Times {
    // None where each counts once.
    const int32_t* numbers;

    __device__ int of(uint32_t facet) const { return numbers != nullptr ? numbers[facet] : 1; }
};

// Walls in a list of facets: they come before caps.
__device__ inline uint32_t walls_in(const uint32_t* list, uint32_t length, uint32_t walls) {
    uint32_t low = 0, high = length;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (list[middle] < walls) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Crossings of a facet between neighbouring cells of the lines of one block, each at the second cell: lines along axis
// a run through the cells whose coordinates on the axes below a are 0; the first cell has those of the diagonal. One
// line's direction at a time: the axes, then the diagonal. Each counts `times` over. C holds coordinates, V values of the facet's plane.
template <typename C, typename V>
__device__ inline void cross_way(const Facet* facet, const Ints& center, int way, int times, int spacing, int shift,
                                 int32_t* sums) {
    const bool diagonal = way == D;
    // Along axis a the step is 3^a beyond the middle; the diagonal is the last direction.
    const int direction = diagonal ? DIRECTIONS - 1 : DIRECTIONS / 2 + (way == 0 ? 1 : way == 1 ? 3 : 9);
    const Ray ray(direction);
    Setup<C, int64_t, V> setup;
    if (!setup.start(Turned(facet, center, ray), ray, spacing, shift)) {
        return;
    }
    const int sign = setup.forward ? times : -times;
    for (int v = 0; v < setup.extent_v; v++) {
        const int at_v = setup.from_v + v;
        for (int u = 0; u < setup.extent_u; u++) {
            const int at_u = setup.from_u + u;
            // Lines along an axis go through the cells whose coordinates below it are 0.
            const bool off_u = (diagonal || ray.axis_u < ray.axis) && at_u != 0;
            const bool off_v = D == 3 && (diagonal || ray.axis_v < ray.axis) && at_v != 0;
            if (off_u || off_v) {
                continue;
            }
            int64_t both = -1, any = 0;
            for (int k = 0; k < D; k++) {
                const int64_t edge =
                    setup.edge[k] + static_cast<int64_t>(u) * setup.by_u[k] + static_cast<int64_t>(v) * setup.by_v[k];
                both &= edge;
                any |= edge;
            }
            if (both >= 0 && any < 0) {
                continue;
            }
            const V value = setup.value + static_cast<V>(u) * setup.step_u + static_cast<V>(v) * setup.step_v;
            if (diagonal) {
                // From the parent's centre, half a spacing above the first one on each axis, down.
                if (value < 0 && value + setup.rise / 2 >= 0) {
                    atomicAdd(&sums[0], sign);
                }
                continue;
            }
            if (value < 0 && value + 3 * setup.rise >= 0) {
                const int beyond = value + setup.rise >= 0 ? 1 : value + 2 * setup.rise >= 0 ? 2 : 3;
                const int cell =
                    at_u << 2 * ray.axis_u | (D == 2 ? 0 : at_v << 2 * ray.axis_v) | beyond << 2 * ray.axis;
                atomicAdd(&sums[cell], -sign);
            }
        }
    }
}

// The same of a small facet (`small_extent` in Rust).
__device__ inline void cross_small(const Facet* facet, const Ints& center, int way, int times, int spacing,
                                   int shift, int32_t* sums) {
    cross_way<int32_t, double>(facet, center, way, times, spacing, shift, sums);
}

// The same of any other facet. A call, so that its wide numbers take no registers from small facets.
__device__ __noinline__ static void cross_large(const Facet* facet, const Ints& center, int way, int times, int spacing,
                                                int shift, int32_t* sums) {
    if (Local(*facet, center, spacing, shift).is_narrow(spacing)) {
        cross_way<int64_t, int64_t>(facet, center, way, times, spacing, shift, sums);
    } else {
        cross_way<int64_t, Wide>(facet, center, way, times, spacing, shift, sums);
    }
}

// Lines that a facet's bounds reach: bits of the axes, and of the diagonal if `diagonal`.
__device__ inline uint32_t ways_of(const Local& local, bool diagonal) {
    for (int a = 0; a < D; a++) {
        diagonal &= local.low[a] <= 1 && local.high[a] >= 0;
    }
    uint32_t ways = static_cast<uint32_t>(diagonal) << D;
    for (int axis = 0; axis < D; axis++) {
        bool reached = local.low[axis] <= 3 && local.high[axis] >= 0;
        for (int a = 0; a < D; a++) {
            if (a != axis) {
                reached &= max(local.low[a], 0) <= min(local.high[a], a < axis ? 0 : 3);
            }
        }
        ways |= static_cast<uint32_t>(reached) << axis;
    }
    return ways;
}

// The crossings of part `part` of `parts` of a block's list, by the whole thread block; `waiting` is shared memory,
// WARP_QUEUE words per warp. Each facet is small or not by its own extent, unless ALL_SMALL.
template <bool ALL_SMALL>
__device__ inline void add_crossings(const Facet* corners, const Times& times, const uint32_t* list, uint32_t length, const Ints& center,
                                     int spacing, int small, bool from_parent, uint32_t part, uint32_t parts,
                                     int32_t* sums, uint32_t* waiting) {
    const int shift = __ffs(spacing) - 1, lane = threadIdx.x & 31;
    uint32_t* queue = waiting + threadIdx.x / 32 * WARP_QUEUE;
    int queued = 0;
    const auto run = [&](int pairs) {
        // Facet's place in its list (from bit 3), whether it is large (1 bit), way (2 bits).
        if (lane < pairs) {
            const uint32_t pair = queue[lane];
            const uint32_t f = list[pair >> 3];
            const Facet* facet = &corners[f];
            if (ALL_SMALL || (pair & 4) == 0) {
                cross_small(facet, center, pair & 3, times.of(f), spacing, shift, sums);
            } else {
                cross_large(facet, center, pair & 3, times.of(f), spacing, shift, sums);
            }
        }
        __syncwarp();
    };
    // The loop is uniform over the warp.
    for (uint32_t base = part * blockDim.x + (threadIdx.x & ~31u); base < length; base += parts * blockDim.x) {
        const uint32_t e = base + lane;
        uint32_t ways = 0, large = 0;
        if (e < length) {
            const Local local(corners[list[e]], center, spacing, shift);
            ways = ways_of(local, from_parent);
            large = !ALL_SMALL && local.facet.extent() > small ? 4 : 0;
        }
        for (int way = 0; way <= D; way++) {
            push<uint32_t>(queue, queued, ways >> way & 1, e << 3 | large | way, run);
        }
    }
    run(queued);
}

// The winding number of a cell, `start` that of the first one.
__device__ inline int32_t winding_at(int cell, int32_t start, const int32_t* sums) {
    int32_t winding = start;
    int line = 0;
    for (int a = D - 1; a >= 0; a--) {
        const int c = cell >> 2 * a & 3;
        for (int i = 1; i < 4; i++) {
            winding += i <= c ? sums[line + (i << 2 * a)] : 0;
        }
        line += c << 2 * a;
    }
    return winding;
}
