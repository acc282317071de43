// Winding numbers of the cells of a block, from the facets in its list alone: down the diagonal
// from the parent's cell to the first one, from there along z, along y and along x. See the twin for
// why this needs no order among blocks.

#include "local.cuh"

// Fill rules, as `Fill` numbers them.
__device__ inline bool is_solid(int32_t winding, uint32_t fill) {
    const bool zero = winding == 0, even = (winding & 1) == 0;
    switch (fill) {
        case 0:
            return !zero;
        case 1:
            return !even;
        case 2:
            return zero;
        default:
            return even;
    }
}

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

// Blocks without facets: one winding number, one class. One thread a block.
extern "C" __global__ void plain(uint32_t first, uint32_t count, const Ints* coord, const uint32_t* parent,
                                 const int32_t* seeds, uint32_t from_parent, uint32_t first_parent,
                                 const uint32_t* starts, uint32_t fill, uint32_t keep, int32_t* anchors,
                                 uint64_t* solid) {
    const uint32_t row = thread_index();
    if (row >= count || starts[row + 1] > starts[row]) {
        return;
    }
    const uint32_t id = first + row;
    const int32_t winding = Seeds{seeds, from_parent, first_parent}.of(row, coord[id], parent[id]);
    solid[id] = is_solid(winding, fill) ? FULL : 0;
    if (keep) {
        for (int i = 0; i < CHILDREN; i++) {
            anchors[static_cast<size_t>(row) * CHILDREN + i] = winding;
        }
    }
}

// Crossings between neighbouring cells of the lines of one block, each at the second cell: lines
// along axis a run through the cells whose coordinates on the axes below a are 0. The first cell
// has those of the diagonal.
template <typename I, typename V>
__device__ static void cross(const Local& local, int spacing, bool diagonal, int32_t* sums) {
    const Plane<I, V> plane(local.facet);
    if (diagonal) {
        // Down from the parent's centre, half a spacing above the first centre on each axis; a
        // line has the same hits in both directions.
        int up[D];
        Ints from, to;
        for (int a = 0; a < D; a++) {
            up[a] = 1;
            from.v[a] = spacing / 2;
            to.v[a] = 0;
        }
        const I along = plane.along(up);
        if (along != 0 && Lines<I>(local.facet, up, D - 1).meets(0, 0) && plane.is_outer(from) != plane.is_outer(to)) {
            atomicAdd(&sums[0], along > 0 ? 1 : -1);
        }
    }
    for (int axis = 0; axis < D; axis++) {
        if (local.low[axis] > 3 || local.high[axis] < 0 || plane.normal[axis] == 0) {
            continue;
        }
        int from[D], to[D], d[D];
        bool empty = false;
        for (int a = 0; a < D; a++) {
            d[a] = a == axis;
            from[a] = a == axis ? 0 : max(local.low[a], 0);
            to[a] = a == axis ? 0 : min(local.high[a], a < axis ? 0 : 3);
            empty |= from[a] > to[a];
        }
        if (empty) {
            continue;
        }
        const Lines<I> lines(local.facet, d, axis);
        const int sign = plane.normal[axis] > 0 ? 1 : -1;
        const V rise = static_cast<V>(plane.normal[axis]) * spacing;
        const int u = lines.axis_u, v = D == 2 ? axis : lines.axis_v;
        for (int at_v = from[v]; at_v <= to[v]; at_v++) {
            for (int at_u = from[u]; at_u <= to[u]; at_u++) {
                if (!lines.meets(static_cast<I>(at_u) * spacing, static_cast<I>(at_v) * spacing)) {
                    continue;
                }
                Ints p;
                int cell = (at_u << 2 * u) + (D == 2 ? 0 : at_v << 2 * v);
                for (int a = 0; a < D; a++) {
                    p.v[a] = a == u ? at_u * spacing : a == axis ? 0 : at_v * spacing;
                }
                V value = plane.value(p);
                bool before = plane.outer(value);
                for (int i = 1; i < 4; i++) {
                    value += rise;
                    cell += 1 << 2 * axis;
                    const bool now = plane.outer(value);
                    if (now != before) {
                        atomicAdd(&sums[cell], -sign);
                    }
                    before = now;
                }
            }
        }
    }
}

// Blocks with facets: one thread block each.
extern "C" __global__ void crossed(const Facet* corners, const uint32_t* rows, const uint32_t* starts,
                                   const uint32_t* facets, uint32_t first, int spacing, const Ints* coord,
                                   const uint32_t* parent, const int32_t* seeds, uint32_t from_parent,
                                   uint32_t first_parent, uint32_t fill, uint32_t keep, int32_t* anchors,
                                   uint64_t* solid) {
    __shared__ int32_t sums[CELLS];
    __shared__ uint32_t masks[2];
    const uint32_t row = rows[blockIdx.x];
    const uint32_t id = first + row;
    const Ints at = coord[id];
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        sums[cell] = 0;
    }
    if (threadIdx.x < 2) {
        masks[threadIdx.x] = 0;
    }
    __syncthreads();
    const int shift = __ffs(spacing) - 1;
    const Ints center = first_center(at, spacing);
    for (uint32_t e = starts[row] + threadIdx.x; e < starts[row + 1]; e += blockDim.x) {
        const Local local(corners[facets[e]], center, spacing, shift);
        bool diagonal = from_parent, lines = false;
        for (int a = 0; a < D; a++) {
            diagonal &= local.low[a] <= 1 && local.high[a] >= 0;
        }
        for (int axis = 0; axis < D; axis++) {
            bool reached = local.low[axis] <= 3 && local.high[axis] >= 0;
            for (int a = 0; a < D; a++) {
                if (a != axis) {
                    reached &= max(local.low[a], 0) <= min(local.high[a], a < axis ? 0 : 3);
                }
            }
            lines |= reached;
        }
        if (!diagonal && !lines) {
            continue;
        }
        if (local.is_small(spacing)) {
            cross<int32_t, int64_t>(local, spacing, diagonal, sums);
        } else {
            cross<int64_t, Wide>(local, spacing, diagonal, sums);
        }
    }
    __syncthreads();
    const int32_t start = Seeds{seeds, from_parent, first_parent}.of(row, at, parent[id]) + sums[0];
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        int32_t winding = start;
        int line = 0;
        bool even = true;
        for (int a = D - 1; a >= 0; a--) {
            const int c = cell >> 2 * a & 3;
            even &= (c & 1) == 0;
            for (int i = 1; i <= c; i++) {
                winding += sums[line + (i << 2 * a)];
            }
            line += c << 2 * a;
        }
        if (is_solid(winding, fill)) {
            atomicOr(&masks[cell / 32], 1u << (cell & 31));
        }
        if (keep && even) {
            int child = 0;
            for (int a = D - 1; a >= 0; a--) {
                child = child * 2 + (cell >> (2 * a + 1) & 1);
            }
            anchors[static_cast<size_t>(row) * CHILDREN + child] = winding;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        solid[id] = masks[0] | static_cast<uint64_t>(masks[1]) << 32;
    }
}
