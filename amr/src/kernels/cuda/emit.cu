// New leaves from closed marks: counted, and written in order.

#include "linear.cuh"

// Whether a leaf is the last of its siblings, in whose place the parent is written.
__device__ bool is_last(const KeyGrid& grid, uint64_t key) {
    return child_number(grid, morton(key), level_of(key)) == CHILDREN - 1;
}

// How many new leaves each leaf becomes, a 0 behind the last one; of all, how many are refined, how many groups are
// coarsened, and a bit for each level that has new leaves.
extern "C" __global__ void count_new(KeyGrid grid, const uint64_t* keys, const uint8_t* marks, uint32_t count,
                                     uint32_t* becomes, unsigned long long* tally) {
    __shared__ uint32_t refined, coarsened, levels;
    if (threadIdx.x == 0) {
        refined = coarsened = levels = 0;
    }
    __syncthreads();
    const uint32_t i = thread_index();
    if (i < count) {
        const uint64_t key = keys[i];
        uint32_t own = 1, level = level_of(key);
        if (marks[i] == REFINE) {
            own = CHILDREN;
            level++;
            atomicAdd(&refined, 1u);
        } else if (marks[i] == COARSEN) {
            own = is_last(grid, key);
            level--;
            if (own == 1) {
                atomicAdd(&coarsened, 1u);
            }
        }
        becomes[i] = own;
        atomicOr(&levels, 1u << level);
    } else if (i == count) {
        becomes[i] = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&tally[0], static_cast<unsigned long long>(refined));
        atomicAdd(&tally[1], static_cast<unsigned long long>(coarsened));
        atomicOr(&tally[2], static_cast<unsigned long long>(levels));
    }
}

extern "C" __global__ void write_new(KeyGrid grid, const uint64_t* keys, const uint8_t* marks, uint32_t count,
                                     const uint32_t* first, uint64_t* out) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint64_t key = keys[i], at = morton(key);
    const uint32_t level = level_of(key);
    if (marks[i] == REFINE) {
        for (int child = 0; child < CHILDREN; child++) {
            out[first[i] + child] = pack(child_of(grid, at, level, child), level + 1);
        }
    } else if (marks[i] != COARSEN) {
        out[first[i]] = key;
    } else if (is_last(grid, key)) {
        out[first[i]] = pack(cover(grid, at, level - 1), level - 1);
    }
}
