// Lists by cell: `cpu/group.rs`. A list is filled in any order, then sorted.

#include "hex.cuh"

// Cells of faces: owners of all `faces` but those that are NONE, neighbours of the first `internal`.
extern "C" __global__ void count_cells(const uint32_t* owner, const uint32_t* neighbour, uint32_t faces,
                                       uint32_t internal, uint32_t* counts) {
    const uint32_t face = thread_index();
    if (face >= faces) {
        return;
    }
    if (owner[face] != NONE) {
        atomicAdd(&counts[owner[face]], 1u);
    }
    if (face < internal) {
        atomicAdd(&counts[neighbour[face]], 1u);
    }
}

extern "C" __global__ void fill_lists(const uint32_t* owner, const uint32_t* neighbour, uint32_t faces,
                                      uint32_t internal, uint32_t* next, uint32_t* lists) {
    const uint32_t face = thread_index();
    if (face >= faces) {
        return;
    }
    if (owner[face] != NONE) {
        lists[atomicAdd(&next[owner[face]], 1u)] = face;
    }
    if (face < internal) {
        lists[atomicAdd(&next[neighbour[face]], 1u)] = face;
    }
}

// By insertion: lists have some three to 24 entries.
extern "C" __global__ void sort_faces(const uint32_t* start, uint32_t cells, uint32_t* lists) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    const uint32_t first = start[cell], end = start[cell + 1];
    for (uint32_t i = first + 1; i < end; i++) {
        const uint32_t face = lists[i];
        uint32_t at = i;
        while (at > first && lists[at - 1] > face) {
            lists[at] = lists[at - 1];
            at--;
        }
        lists[at] = face;
    }
}

// As above, by neighbour, then slot.
extern "C" __global__ void sort_slots(const uint32_t* start, uint32_t cells, const uint32_t* neighbour,
                                      uint32_t* lists) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    const uint32_t first = start[cell], end = start[cell + 1];
    for (uint32_t i = first + 1; i < end; i++) {
        const uint32_t slot = lists[i], key = neighbour[slot];
        uint32_t at = i;
        while (at > first) {
            const uint32_t other = lists[at - 1], other_key = neighbour[other];
            if (other_key < key || (other_key == key && other < slot)) {
                break;
            }
            lists[at] = other;
            at--;
        }
        lists[at] = slot;
    }
}
