// All proper ancestors of sorted keys. Each key gives those that the key before it does not have.

#include "linear.cuh"

// The levels of a key's own ancestors: from the first one on that the key before it does not have.
__device__ uint32_t first_new_ancestor(const KeyGrid& grid, const uint64_t* keys, uint32_t i) {
    if (i == 0) {
        return 0;
    }
    const uint64_t differ = morton(keys[i - 1]) ^ morton(keys[i]);
    const uint32_t before = level_of(keys[i - 1]);
    if (differ == 0) {
        return before;
    }
    const int above = static_cast<int>(grid.limit) - (63 - __clzll(static_cast<long long>(differ))) / D;
    return above < 0 ? 0 : min(static_cast<uint32_t>(above), before);
}

// How many ancestors each key gives, a 0 behind the last one; how many there are by level, and behind all levels the words
// that are no keys.
extern "C" __global__ void count_ancestors(KeyGrid grid, const uint64_t* keys, uint32_t count, uint32_t* counts,
                                           unsigned long long* by_level) {
    constexpr uint32_t LEVELS = 1u << LEVEL_BITS;
    __shared__ uint32_t sums[LEVELS + 1];
    for (uint32_t n = threadIdx.x; n <= LEVELS; n += blockDim.x) {
        sums[n] = 0;
    }
    __syncthreads();
    const uint32_t i = thread_index();
    if (i < count) {
        const bool is = is_key(grid, keys[i]);
        const bool both = is && (i == 0 || is_key(grid, keys[i - 1]));
        const uint32_t level = level_of(keys[i]);
        const uint32_t first = both ? min(first_new_ancestor(grid, keys, i), level) : level;
        counts[i] = level - first;
        for (uint32_t above = first; above < level; above++) {
            atomicAdd(&sums[above], 1u);
        }
        if (!is) {
            atomicAdd(&sums[LEVELS], 1u);
        }
    } else if (i == count) {
        counts[i] = 0;
    }
    __syncthreads();
    for (uint32_t n = threadIdx.x; n <= LEVELS; n += blockDim.x) {
        if (sums[n] > 0) {
            atomicAdd(&by_level[n], static_cast<unsigned long long>(sums[n]));
        }
    }
}

// Writes the ancestors, coarse ones first: all together in the order of keys.
extern "C" __global__ void write_ancestors(KeyGrid grid, const uint64_t* keys, uint32_t count, const uint32_t* starts,
                                           uint64_t* out) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t level = level_of(keys[i]), own = starts[i + 1] - starts[i];
    for (uint32_t n = 0; n < own; n++) {
        const uint32_t above = level - own + n;
        out[starts[i] + n] = pack(cover(grid, morton(keys[i]), above), above);
    }
}
