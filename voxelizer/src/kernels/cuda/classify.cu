// Winding numbers of the cells of a block, from the facets in its list alone: down the diagonal
// from the parent's cell to the first one, from there along z, along y and along x. See the twin for
// why blocks are independent.

#include "level.cuh"

// Blocks without facets: one winding number, one class. One thread a block.
extern "C" __global__ void plain(const Level level, uint32_t count) {
    const uint32_t row = thread_index();
    if (row >= count || level.starts[row + 1] > level.starts[row]) {
        return;
    }
    const uint32_t id = level.first + row;
    const int32_t winding = level.seeds.of(row, level.coord[id], level.parent[id]);
    level.solid[id] = is_solid(winding, level.fill) ? FULL : 0;
    if (level.keep) {
        // CHILDREN is a multiple of 4.
        int4* own = reinterpret_cast<int4*>(level.anchors + static_cast<size_t>(row) * CHILDREN);
        for (int i = 0; i < CHILDREN / 4; i++) {
            own[i] = make_int4(winding, winding, winding, winding);
        }
    }
}

// Blocks with facets: one thread block each. Kernels come in two: one for lists of small facets alone, and one where
// each facet is small or not by its own extent. The latter is bounded to the registers of the former: its wide numbers
// would halve the occupancy, which small facets need.
template <bool ALL_SMALL>
__device__ static void crossed(const Level& level) {
    __shared__ int32_t sums[CELLS];
    __shared__ uint32_t waiting[8 * WARP_QUEUE];
    const uint32_t row = level.rows[blockIdx.x];
    const Ints at = level.coord[level.first + row];
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        sums[cell] = 0;
    }
    __syncthreads();
    const uint32_t begin = level.starts[row], length = level.length(row);
    add_crossings<ALL_SMALL>(level.corners, level.times, level.facets + begin, length, first_center(at, level.spacing),
                             level.spacing, level.small, level.seeds.from_parent, 0, 1, sums, waiting);
    __syncthreads();
    if (threadIdx.x < 32) {
        level.finish(row, at, sums, threadIdx.x);
    }
}

extern "C" __global__ void crossed_small(const Level level) {
    crossed<true>(level);
}

extern "C" __global__ void __launch_bounds__(256, 3) crossed_mixed(const Level level) {
    crossed<false>(level);
}

// The same for short lists: a warp processes FEW blocks at a time, so that their facets fill its lanes.
constexpr int FEW = FEW_BLOCKS;

template <bool ALL_SMALL>
__device__ static void crossed_few(const Level& level, uint32_t count) {
    constexpr int SHARE = 32 / FEW;
    __shared__ int32_t sums[FEW][CELLS];
    __shared__ uint32_t queue[WARP_QUEUE];
    const int spacing = level.spacing, shift = __ffs(spacing) - 1;
    const int lane = threadIdx.x, block = lane / SHARE;
    for (int i = lane; i < FEW * CELLS; i += 32) {
        sums[i / CELLS][i % CELLS] = 0;
    }
    __syncwarp();
    // Each group of SHARE lanes has one block; its values are broadcast from the first lane of the group.
    const uint32_t listed = blockIdx.x * FEW + block;
    const uint32_t row = listed < count ? level.rows[listed] : 0;
    const uint32_t begin = level.starts[row], length = listed < count ? level.length(row) : 0;
    const Ints at = level.coord[level.first + row], center = first_center(at, spacing);
    int queued = 0;
    const auto run = [&](int pairs) {
        // Facet's place in its list (from bit 5), block (2 bits from bit 3), whether it is large (1 bit), way (2 bits).
        const uint32_t pair = lane < pairs ? queue[lane] : 0;
        const int of = pair >> 3 & (FEW - 1);
        Ints its_center;
        for (int a = 0; a < D; a++) {
            its_center.v[a] = __shfl_sync(~0u, center.v[a], of * SHARE);
        }
        const uint32_t its_begin = __shfl_sync(~0u, begin, of * SHARE);
        if (lane < pairs) {
            const uint32_t f = level.facets[its_begin + (pair >> 5)];
            const Facet* facet = &level.corners[f];
            if (ALL_SMALL || (pair & 4) == 0) {
                cross_small(facet, its_center, pair & 3, level.times.of(f), spacing, shift, sums[of]);
            } else {
                cross_large(facet, its_center, pair & 3, level.times.of(f), spacing, shift, sums[of]);
            }
        }
        __syncwarp();
    };
    const uint32_t longest = __reduce_max_sync(~0u, length);
    for (uint32_t base = 0; base < longest; base += SHARE) {
        const uint32_t e = base + lane % SHARE;
        uint32_t ways = 0, large = 0;
        if (e < length) {
            const Local local(level.corners[level.facets[begin + e]], center, spacing, shift);
            ways = ways_of(local, level.seeds.from_parent);
            large = !ALL_SMALL && local.facet.extent() > level.small ? 4 : 0;
        }
        uint32_t any = __reduce_or_sync(~0u, ways);
        while (any != 0) {
            const int way = __ffs(static_cast<int>(any)) - 1;
            any &= any - 1;
            push<uint32_t>(queue, queued, ways >> way & 1, e << 5 | block << 3 | large | way, run);
        }
    }
    run(queued);
    for (int of = 0; of < FEW; of++) {
        const uint32_t its_row = __shfl_sync(~0u, row, of * SHARE);
        Ints its_at;
        for (int a = 0; a < D; a++) {
            its_at.v[a] = __shfl_sync(~0u, at.v[a], of * SHARE);
        }
        if (blockIdx.x * FEW + of < count) {
            level.finish(its_row, its_at, sums[of], lane);
        }
    }
}

extern "C" __global__ void __launch_bounds__(32) crossed_few_small(const Level level, uint32_t count) {
    crossed_few<true>(level, count);
}

extern "C" __global__ void __launch_bounds__(32, 24) crossed_few_mixed(const Level level, uint32_t count) {
    crossed_few<false>(level, count);
}

// The same for long lists, in two steps: several thread blocks per list add their crossings to `all`, zero before; then
// one warp per block.
template <bool ALL_SMALL>
__device__ static void crossed_parts(const Level& level, uint32_t parts, int32_t* all) {
    __shared__ int32_t sums[CELLS];
    __shared__ uint32_t waiting[8 * WARP_QUEUE];
    const uint32_t row = level.rows[blockIdx.x / parts];
    const Ints at = level.coord[level.first + row];
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        sums[cell] = 0;
    }
    __syncthreads();
    const uint32_t begin = level.starts[row], length = level.length(row);
    add_crossings<ALL_SMALL>(level.corners, level.times, level.facets + begin, length, first_center(at, level.spacing),
                             level.spacing, level.small, level.seeds.from_parent, blockIdx.x % parts, parts, sums,
                             waiting);
    __syncthreads();
    for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
        if (sums[cell] != 0) {
            atomicAdd(&all[static_cast<size_t>(blockIdx.x / parts) * CELLS + cell], sums[cell]);
        }
    }
}

extern "C" __global__ void crossed_parts_small(const Level level, uint32_t parts, int32_t* all) {
    crossed_parts<true>(level, parts, all);
}

extern "C" __global__ void __launch_bounds__(256, 3)
    crossed_parts_mixed(const Level level, uint32_t parts, int32_t* all) {
    crossed_parts<false>(level, parts, all);
}

extern "C" __global__ void crossed_end(const Level level, uint32_t count, const int32_t* all) {
    const uint32_t i = thread_index() / 32;
    if (i < count) {
        const uint32_t row = level.rows[i];
        level.finish(row, level.coord[level.first + row], all + static_cast<size_t>(i) * CELLS, threadIdx.x & 31);
    }
}
