// Root blocks and children of refined blocks; NO_KEY in the place of those that are refined.

#include "linear.cuh"

extern "C" __global__ void write_roots(KeyGrid grid, Root root, uint32_t roots, const uint64_t* refined, uint32_t count,
                                       uint64_t* out) {
    const uint32_t i = thread_index();
    if (i >= roots) {
        return;
    }
    uint32_t rest = i;
    Ints coord;
    for (int a = 0; a < D; a++) {
        coord.v[a] = static_cast<int32_t>(rest % root.n[a]);
        rest /= root.n[a];
    }
    const uint64_t key = key_of(grid, 0, coord);
    out[i] = is_among(refined, count, key) ? NO_KEY : key;
}

// One thread a child of a refined block of `level`; `finer` are the refined blocks of the next finer one.
extern "C" __global__ void write_children(KeyGrid grid, uint32_t level, const uint64_t* refined, uint32_t count,
                                          const uint64_t* finer, uint32_t finer_count, uint64_t* out) {
    const uint32_t i = thread_index();
    if (i >= count << D) {
        return;
    }
    const uint64_t at = child_of(grid, morton(refined[i >> D]), level, static_cast<int>(i & (CHILDREN - 1)));
    const uint64_t key = pack(at, level + 1);
    out[i] = is_among(finer, finer_count, key) ? NO_KEY : key;
}
