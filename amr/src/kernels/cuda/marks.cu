// Closes marks under 2:1, and flags the blocks to refine and to coarsen.

#include "forest.cuh"

// Every marked leaf marks the coarser leaves that touch it. Marks only ever become REFINE, so the
// order of the stores does not matter.
extern "C" __global__ void ripple(const uint32_t* ids, uint32_t count, Root root, const uint32_t* families,
                                  const Ints* coord, const uint32_t* parent, const uint32_t* first_child,
                                  uint8_t* marks) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t id = ids[i];
    if (marks[id] != REFINE || first_child[id] != NONE) {
        return;
    }
    const Ints at = coord[id];
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        if (neighbor(root, families, id, direction) != NONE) {
            continue;
        }
        marks[coarser_neighbor(root, families, at, parent[id], direction)] = REFINE;
    }
}

// Leaves that are marked to refine.
extern "C" __global__ void flag_refine(const uint32_t* ids, uint32_t count, const uint32_t* first_child,
                                       const uint8_t* marks, uint8_t* flags) {
    const uint32_t i = thread_index();
    if (i < count) {
        const uint32_t id = ids[i];
        flags[i] = marks[id] == REFINE && first_child[id] == NONE;
    }
}

// Blocks whose children are all leaves marked to coarsen, none of them beside a refined block.
extern "C" __global__ void flag_coarsen(const uint32_t* ids, uint32_t count, Root root, const uint32_t* families,
                                        const uint32_t* first_child, const uint8_t* marks, uint8_t* flags) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t first = first_child[ids[i]];
    bool go = first != NONE;
    for (int child = 0; go && child < CHILDREN; child++) {
        go = marks[first + child] == COARSEN;
        for (int direction = 0; go && direction < DIRECTIONS; direction++) {
            const uint32_t n = neighbor(root, families, first + child, direction);
            go = n >= OUTSIDE || first_child[n] == NONE;
        }
    }
    flags[i] = go;
}
