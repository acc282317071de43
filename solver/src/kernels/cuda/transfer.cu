// Where the populations of slots come from after the mesh has changed (`transfer.rs`).

#include "forest.cuh"
#include "solver_constants.cuh"

// What the populations of a slot are made of: `SlotSource`.
struct Source {
    uint32_t kind, at;
};

// Children of overlap blocks have slots always; those that are refined and beside no leaf hold nothing.
extern "C" __global__ void own_slots(const uint32_t* blocks, uint32_t slots, uint32_t exchanging,
                                     const uint32_t* overlap_of, const uint32_t* first_child, uint32_t* slot_of) {
    const uint32_t i = thread_index();
    if (i < slots && ((i < exchanging && overlap_of[i] != NONE) || first_child[blocks[i]] == NONE)) {
        slot_of[blocks[i]] = i;
    }
}

extern "C" __global__ void sources(const uint32_t* blocks, uint32_t slots, const uint32_t* parent,
                                   const uint32_t* first_child, const uint32_t* old_of, const uint32_t* old_slot_of,
                                   const uint32_t* old_first_child, Source* out) {
    const uint32_t i = thread_index();
    if (i >= slots) {
        return;
    }
    const uint32_t id = blocks[i], old = old_of[id];
    if (old == NONE) {
        const uint32_t up = parent[id];
        out[i] = {PARENT + (id - first_child[up]), old_slot_of[old_of[up]]};
        return;
    }
    const uint32_t slot = old_slot_of[old];
    out[i] = slot != NONE ? Source{SAME, slot} : Source{CHILD_BLOCKS, old_first_child[old]};
}
