// Winding numbers of the cells of a block, from the facets in its list alone: down the diagonal
// from the parent's cell to the first one, from there along z, along y and along x. See the twin for
// why this needs no order among blocks.

#include "windings.cuh"

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

// Blocks with facets: one thread block each.
template <bool SMALL_FACETS>
__device__ static void crossed(const Facet* corners, const uint32_t* rows, const uint32_t* starts,
                               const uint32_t* facets, uint32_t first, int spacing, const Ints* coord,
                               const uint32_t* parent, const Seeds& seeds, uint32_t fill, uint32_t keep,
                               int32_t* anchors, uint64_t* solid) {
    __shared__ int32_t sums[CELLS];
    __shared__ uint32_t waiting[SMALL_FACETS ? 8 * WAITING : 1];
    const uint32_t row = rows[blockIdx.x];
    const uint32_t id = first + row;
    const Ints at = coord[id];
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        sums[cell] = 0;
    }
    __syncthreads();
    const uint32_t begin = starts[row];
    add_crossings<SMALL_FACETS>(corners, facets + begin, starts[row + 1] - begin, first_center(at, spacing), spacing,
                                seeds.from_parent, sums, waiting);
    __syncthreads();
    if (threadIdx.x >= 32) {
        return;
    }
    const int32_t start = seeds.of(row, at, parent[id]) + sums[0];
    uint64_t mask = 0;
    for (int base = 0; base < CELLS; base += 32) {
        const int cell = base + threadIdx.x;
        const int32_t winding = cell < CELLS ? winding_at(cell, start, sums) : 0;
        const uint32_t votes = __ballot_sync(~0u, cell < CELLS && is_solid(winding, fill));
        mask |= static_cast<uint64_t>(votes) << base;
        bool even = cell < CELLS;
        int child = 0;
        for (int a = D - 1; a >= 0; a--) {
            even &= (cell >> 2 * a & 1) == 0;
            child = child * 2 + (cell >> (2 * a + 1) & 1);
        }
        if (keep && even) {
            anchors[static_cast<size_t>(row) * CHILDREN + child] = winding;
        }
    }
    if (threadIdx.x == 0) {
        solid[id] = mask;
    }
}

extern "C" __global__ void crossed_small(const Facet* corners, const uint32_t* rows, const uint32_t* starts,
                                         const uint32_t* facets, uint32_t first, int spacing, const Ints* coord,
                                         const uint32_t* parent, const int32_t* seeds, uint32_t from_parent,
                                         uint32_t first_parent, uint32_t fill, uint32_t keep, int32_t* anchors,
                                         uint64_t* solid) {
    crossed<true>(corners, rows, starts, facets, first, spacing, coord, parent, Seeds{seeds, from_parent, first_parent},
                  fill, keep, anchors, solid);
}

extern "C" __global__ void crossed_any(const Facet* corners, const uint32_t* rows, const uint32_t* starts,
                                       const uint32_t* facets, uint32_t first, int spacing, const Ints* coord,
                                       const uint32_t* parent, const int32_t* seeds, uint32_t from_parent,
                                       uint32_t first_parent, uint32_t fill, uint32_t keep, int32_t* anchors,
                                       uint64_t* solid) {
    crossed<false>(corners, rows, starts, facets, first, spacing, coord, parent,
                   Seeds{seeds, from_parent, first_parent}, fill, keep, anchors, solid);
}
