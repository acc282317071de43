// Where leaves are wanted finer or coarser (`wish.rs`).

#include "forest.cuh"

// A box in root cells, and the levels allowed in it or whether it bounds anything: `BoxNumbers`.
struct Box {
    double lower[3], upper[3];
    uint32_t levels, bounds;

    // Whether the centre of a block lies in it.
    __device__ bool holds(int level, const Ints& coord) const {
        const double edge = 4.0 / static_cast<double>(1u << level);
        bool in = true;
        for (int a = 0; a < D; a++) {
            const double at = edge * (static_cast<double>(coord.v[a]) + 0.5);
            in = in && at >= lower[a] && at <= upper[a];
        }
        return in;
    }
};
static_assert(sizeof(Box) == 56, "six f64 and two u32");

extern "C" __global__ void limit(uint32_t count, const uint8_t* levels, const Ints* coord, const Box* boxes,
                                 uint32_t box_count, uint32_t most, uint8_t* out) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    uint32_t least = levels[i] == FREE ? 0 : most;
    for (uint32_t n = 0; levels[i] != FREE && n < box_count; n++) {
        if (boxes[n].holds(levels[i], coord[i])) {
            least = min(least, boxes[n].levels);
        }
    }
    out[i] = static_cast<uint8_t>(least);
}

extern "C" __global__ void weigh(const uint32_t* blocks, uint32_t slots, const uint32_t* first_child, uint32_t level,
                                 const Ints* coord, const float* values, Box within, float refine, float coarsen,
                                 float one_up, float* hot, float* cold) {
    const uint32_t i = thread_index();
    if (i >= slots || first_child[blocks[i]] != NONE || (within.bounds && !within.holds(level, coord[i]))) {
        return;
    }
    const uint32_t id = blocks[i];
    hot[id] = fmaxf(hot[id], values[i] / refine);
    cold[id] = fmaxf(cold[id], values[i] * one_up / coarsen);
}

extern "C" __global__ void want(const uint32_t* ids, uint32_t count, uint32_t level, const uint32_t* first_child,
                                const float* hot, const uint8_t* most, float raised, uint8_t* wanted) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t id = ids[i], first = first_child[id];
    bool wants = false;
    if (first == NONE) {
        wants = hot[id] > raised && level + 1 < most[id];
    } else {
        for (uint32_t child = first; !wants && child < first + CHILDREN; child++) {
            wants = wanted[child] || (first_child[child] == NONE && hot[child] > raised);
        }
    }
    if (wants) {
        wanted[id] = 1;
    }
}

// All that reach a block store the same number, so the order of the stores does not matter.
extern "C" __global__ void spread(const uint32_t* ids, uint32_t count, Root root, const uint32_t* families,
                                  uint32_t layer, uint8_t* wanted) {
    const uint32_t i = thread_index();
    if (i >= count || wanted[ids[i]] != layer) {
        return;
    }
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        const uint32_t near = neighbor(root, families, ids[i], direction);
        if (near < OUTSIDE && wanted[near] == 0) {
            wanted[near] = static_cast<uint8_t>(layer + 1);
        }
    }
}

extern "C" __global__ void mark_wanted(uint32_t count, const uint8_t* levels, const uint32_t* parent,
                                       const uint32_t* first_child, const float* cold, const uint8_t* most,
                                       float raised, const uint8_t* wanted, uint8_t* marks) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    uint8_t mark = KEEP;
    if (levels[i] != FREE && first_child[i] == NONE) {
        const uint32_t up = parent[i];
        if (wanted[i]) {
            mark = levels[i] + 1 < most[i] ? REFINE : KEEP;
        } else if (up != NONE && !wanted[up] && cold[i] < raised) {
            mark = COARSEN;
        }
    }
    marks[i] = mark;
}
