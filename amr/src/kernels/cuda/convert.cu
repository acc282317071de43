// Leaves of a forest, and the refined blocks of a forest that is made of leaves.

#include "linear.cuh"

extern "C" __global__ void leaf_keys(KeyGrid grid, uint32_t count, const uint8_t* levels, const uint32_t* first_child,
                                     const Ints* coord, uint64_t* out) {
    const uint32_t i = thread_index();
    if (i < count) {
        const bool is_leaf = levels[i] != FREE && first_child[i] == NONE;
        out[i] = is_leaf ? key_of(grid, levels[i], coord[i]) : NO_KEY;
    }
}

extern "C" __global__ void mark_refined(KeyGrid grid, uint32_t level, const uint32_t* ids, uint32_t count,
                                        const Ints* coord, const uint64_t* refined, uint32_t refined_count,
                                        uint8_t* marks) {
    const uint32_t i = thread_index();
    if (i < count && is_among(refined, refined_count, key_of(grid, level, coord[ids[i]]))) {
        marks[ids[i]] = REFINE;
    }
}
