// Closes the marks of leaves under 2:1, a level at a time: see `cpu/close.rs`.

#include "linear.cuh"

// Marks only ever become REFINE, so the order of the stores does not matter.
extern "C" __global__ void close_refine(KeyGrid grid, uint32_t level, const uint64_t* keys, uint32_t count,
                                        uint8_t* marks) {
    const uint32_t i = thread_index();
    if (i >= count || marks[i] != REFINE || level_of(keys[i]) != level) {
        return;
    }
    const uint64_t own = morton(keys[i]);
    const int corner = child_number(grid, own, level);
    for (int axes = 1; axes < CHILDREN; axes++) {
        uint64_t at = cover(grid, own, level - 1);
        if (!around_corner(grid, at, level - 1, axes, corner)) {
            continue;
        }
        const uint32_t other = holder(keys, count, at);
        if (level_of(keys[other]) < level) {
            marks[other] = REFINE;
        }
    }
}

// Whether a block of `level` in `at`, a block of the coarser level in a direction of the group's parent, touches the
// group and is refined after the adaptation.
__device__ bool has_refined(const KeyGrid& grid, uint32_t level, const uint64_t* keys, uint32_t count, uint64_t at,
                            int direction, const uint8_t* marks, const uint8_t* going) {
    for (int child = 0; child < CHILDREN; child++) {
        bool touches = true;
        for (int a = 0; a < D; a++) {
            const int s = step(direction, a);
            touches = touches && (s == 0 || (s > 0) == ((child >> a & 1) == 0));
        }
        if (!touches) {
            continue;
        }
        const uint32_t leaf = holder(keys, count, child_of(grid, at, level - 1, child));
        const uint32_t there = level_of(keys[leaf]);
        if (there == level ? marks[leaf] == REFINE : there > level + 1 || !going[leaf]) {
            return true;
        }
    }
    return false;
}

// Reads the flags of the finer level and writes those of this level, so the order of the groups does not matter.
extern "C" __global__ void close_coarsen(KeyGrid grid, uint32_t level, const uint64_t* keys, uint32_t count,
                                         const uint8_t* marks, uint8_t* going) {
    const uint32_t first = thread_index();
    if (first >= count || marks[first] != COARSEN || level_of(keys[first]) != level) {
        return;
    }
    // Keys are sorted: all siblings are leaves if the last one is CHILDREN - 1 places behind the first.
    const uint64_t parent = morton(keys[first]);
    const uint64_t last = pack(child_of(grid, parent, level - 1, CHILDREN - 1), level);
    if (child_number(grid, parent, level) != 0 || count - first < CHILDREN || keys[first + CHILDREN - 1] != last) {
        return;
    }
    for (int child = 1; child < CHILDREN; child++) {
        if (marks[first + child] != COARSEN) {
            return;
        }
    }
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        uint64_t at = parent;
        bool inside = direction != CENTER;
        for (int a = 0; a < D; a++) {
            const int s = step(direction, a);
            inside = inside && (s == 0 || beside(grid, at, level - 1, a, s > 0));
        }
        if (!inside || level_of(keys[holder(keys, count, at)]) < level) {
            continue;
        }
        if (has_refined(grid, level, keys, count, at, direction, marks, going)) {
            return;
        }
    }
    for (int child = 0; child < CHILDREN; child++) {
        going[first + child] = 1;
    }
}

extern "C" __global__ void close_rest(uint32_t count, const uint8_t* going, uint8_t* marks) {
    const uint32_t i = thread_index();
    if (i < count && marks[i] != REFINE) {
        marks[i] = going[i] ? COARSEN : KEEP;
    }
}
