// Insertion and removal of children, in contiguous groups.

#include "forest.cuh"

// One thread per child. The first parents take the recycled groups, the others fresh ids from `start`.
extern "C" __global__ void insert(const uint32_t* parents, uint32_t count, const uint32_t* recycled,
                                  uint32_t recycled_count, uint32_t start, uint8_t level, Ints* coord, uint8_t* levels,
                                  uint32_t* parent, uint32_t* first_child, uint8_t* marks, uint32_t* ids) {
    const uint32_t i = thread_index();
    if (i >= count * CHILDREN) {
        return;
    }
    const uint32_t k = i / CHILDREN, child = i % CHILDREN;
    const uint32_t up = parents[k];
    const uint32_t first = k < recycled_count ? recycled[k] : start + (k - recycled_count) * CHILDREN;
    const uint32_t id = first + child;
    const Ints from = coord[up];
    Ints at;
    for (int a = 0; a < D; a++) {
        at.v[a] = 2 * from.v[a] + static_cast<int>(child >> a & 1);
    }
    coord[id] = at;
    levels[id] = level;
    parent[id] = up;
    first_child[id] = NONE;
    marks[id] = KEEP;
    ids[i] = id;
    if (child == 0) {
        first_child[up] = first;
    }
}

// Parents become leaves; their groups' first ids go to `gaps`.
extern "C" __global__ void remove_groups(const uint32_t* parents, uint32_t count, uint32_t* first_child,
                                         uint8_t* levels, uint32_t* gaps) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t first = first_child[parents[i]];
    first_child[parents[i]] = NONE;
    gaps[i] = first;
    for (int child = 0; child < CHILDREN; child++) {
        levels[first + child] = FREE;
    }
}

// Blocks of a list that are not removed.
extern "C" __global__ void flag_alive(const uint32_t* ids, uint32_t count, const uint8_t* levels, uint8_t* flags) {
    const uint32_t i = thread_index();
    if (i < count) {
        flags[i] = levels[ids[i]] != FREE;
    }
}
