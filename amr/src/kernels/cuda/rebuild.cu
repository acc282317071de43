// Which blocks have children after an adaptation, and what the blocks of the new forest were.

#include "forest.cuh"

extern "C" __global__ void flag_refined(uint32_t count, const uint8_t* levels, const uint32_t* first_child,
                                        const uint8_t* marks, uint8_t* flags) {
    const uint32_t i = thread_index();
    if (i < count) {
        flags[i] = levels[i] != FREE && (first_child[i] != NONE || marks[i] == REFINE);
    }
}

// Reads flags of the finer level and writes those of this one, so the order of the blocks does not matter.
extern "C" __global__ void clear_coarsened(const uint32_t* ids, uint32_t count, Root root, const uint32_t* families,
                                           const uint32_t* first_child, const uint8_t* marks, uint8_t* flags) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t first = first_child[ids[i]];
    bool go = first != NONE;
    for (int child = 0; go && child < CHILDREN; child++) {
        go = marks[first + child] == COARSEN && !flags[first + child];
        for (int direction = 0; go && direction < DIRECTIONS; direction++) {
            const uint32_t n = neighbor(root, families, first + child, direction);
            go = n >= OUTSIDE || !flags[n];
        }
    }
    if (go) {
        flags[ids[i]] = 0;
    }
}

// How many blocks of each level have children then; how many of them are new, and how many were there that go.
extern "C" __global__ void count_refined(uint32_t count, const uint8_t* levels, const uint32_t* first_child,
                                         const uint8_t* flags, unsigned long long* counts) {
    __shared__ uint32_t sums[REFINED_COUNTS];
    for (uint32_t n = threadIdx.x; n < REFINED_COUNTS; n += blockDim.x) {
        sums[n] = 0;
    }
    __syncthreads();
    const uint32_t i = thread_index();
    if (i < count && levels[i] != FREE) {
        const bool was = first_child[i] != NONE;
        if (flags[i]) {
            atomicAdd(&sums[levels[i]], 1);
        }
        if (flags[i] && !was) {
            atomicAdd(&sums[COUNT_NEW], 1);
        }
        if (!flags[i] && was) {
            atomicAdd(&sums[COUNT_GONE], 1);
        }
    }
    __syncthreads();
    for (uint32_t n = threadIdx.x; n < REFINED_COUNTS; n += blockDim.x) {
        if (sums[n] > 0) {
            atomicAdd(&counts[n], static_cast<unsigned long long>(sums[n]));
        }
    }
}

extern "C" __global__ void follow_marks(const uint32_t* ids, uint32_t count, const uint32_t* old_of,
                                        const uint8_t* flags, uint8_t* marks) {
    const uint32_t i = thread_index();
    if (i < count) {
        const uint32_t old = old_of[ids[i]];
        marks[ids[i]] = old != NONE && flags[old] ? REFINE : KEEP;
    }
}

// One thread a block of the level above. Blocks without a former id have no children.
extern "C" __global__ void follow_children(const uint32_t* ids, uint32_t count, const uint32_t* first_child,
                                           const uint32_t* old_first_child, uint32_t* old_of) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t first = first_child[ids[i]];
    if (first == NONE) {
        return;
    }
    const uint32_t was = old_first_child[old_of[ids[i]]];
    for (int child = 0; child < CHILDREN; child++) {
        old_of[first + child] = was == NONE ? NONE : was + child;
    }
}

// Values by former id as values by new id.
template <class T>
__device__ void follow(uint32_t count, const uint32_t* old_of, const T* values, T none, T* out) {
    const uint32_t i = thread_index();
    if (i < count) {
        const uint32_t old = old_of[i];
        out[i] = old == NONE ? none : values[old];
    }
}

extern "C" __global__ void follow_u8(uint32_t count, const uint32_t* old_of, const uint8_t* values, uint8_t none,
                                     uint8_t* out) {
    follow(count, old_of, values, none, out);
}

extern "C" __global__ void follow_u32(uint32_t count, const uint32_t* old_of, const uint32_t* values, uint32_t none,
                                      uint32_t* out) {
    follow(count, old_of, values, none, out);
}

extern "C" __global__ void follow_u64(uint32_t count, const uint32_t* old_of, const uint64_t* values, uint64_t none,
                                      uint64_t* out) {
    follow(count, old_of, values, none, out);
}
