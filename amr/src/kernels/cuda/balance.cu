// What 2:1 needs refined on the next coarser level: see `cpu/balance.rs`.

#include "linear.cuh"

// One thread for each refined block of `level` and each block around the corner of its parent that it lies in. Missing
// ones are appended in any order, repeated; they are sorted afterwards.
extern "C" __global__ void missing(KeyGrid grid, uint32_t level, const uint64_t* finer, uint32_t count,
                                   const uint64_t* coarser, uint32_t coarser_count, uint64_t* out,
                                   unsigned long long* found) {
    const uint32_t i = thread_index();
    if (i >= count << D) {
        return;
    }
    const uint64_t own = morton(finer[i >> D]);
    uint64_t at = cover(grid, own, level - 1);
    if (!around_corner(grid, at, level - 1, i & (CHILDREN - 1), child_number(grid, own, level))) {
        return;
    }
    const uint64_t wanted = pack(at, level - 1);
    if (!is_among(coarser, coarser_count, wanted)) {
        out[atomicAdd(found, 1ull)] = wanted;
    }
}

// Two sorted lists without common keys as one: the place of a key is the sum of its places in both.
extern "C" __global__ void merge(const uint64_t* keys, uint32_t count, const uint64_t* more, uint32_t more_count,
                                 uint64_t* out) {
    const uint32_t i = thread_index();
    if (i < count) {
        out[i + first_not_below(more, more_count, keys[i])] = keys[i];
    } else if (i < count + more_count) {
        const uint32_t own = i - count;
        out[own + first_not_below(keys, count, more[own])] = more[own];
    }
}
