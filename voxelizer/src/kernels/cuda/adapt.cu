// Marks that a mesh with a body can meet, and its rows after an adaptation.

#include "forest.cuh"

extern "C" __global__ void hold(uint32_t count, const uint32_t* parent, const uint8_t* held, uint8_t* marks) {
    const uint32_t i = thread_index();
    if (i < count && marks[i] == COARSEN && (parent[i] == NONE || held[parent[i]])) {
        marks[i] = KEEP;
    }
}

// Reads marks of the coarser level and writes those of this one, so the order of the blocks does not matter.
extern "C" __global__ void withdraw(const uint32_t* ids, uint32_t count, Root root, const uint32_t* families,
                                    const Ints* coord, const uint32_t* parent, const uint32_t* first_child,
                                    const uint64_t* solid, const uint64_t* boundary, uint8_t* marks,
                                    uint32_t* withheld) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t id = ids[i];
    if (marks[id] != REFINE || first_child[id] != NONE) {
        return;
    }
    bool met = solid[id] == 0 && boundary[id] == 0;
    for (int direction = 0; met && direction < DIRECTIONS; direction++) {
        if (neighbor(root, families, id, direction) == NONE) {
            met = marks[coarser_neighbor(root, families, coord[id], parent[id], direction)] == REFINE;
        }
    }
    if (!met) {
        marks[id] = KEEP;
        atomicAdd(withheld, 1);
    }
}

extern "C" __global__ void name_rows(uint32_t count, const uint32_t* row_of, uint32_t* blocks) {
    const uint32_t i = thread_index();
    if (i < count && row_of[i] != NONE) {
        blocks[row_of[i]] = i;
    }
}
