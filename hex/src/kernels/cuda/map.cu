// Cells of two meshes of one parent, and what is mapped by them: `cpu/map.rs`.

#include "hex.cuh"

// `CellPath` of `refine/paths.rs`.
struct CellPath {
    uint32_t parent, code, level;
};

__device__ inline bool is_before(CellPath a, CellPath b) {
    return a.parent < b.parent || (a.parent == b.parent && a.code < b.code);
}

// Whether a cell is another one or holds it.
__device__ inline bool holds(CellPath a, CellPath b) {
    const uint32_t shift = 30 - 3 * a.level;
    return a.parent == b.parent && a.level <= b.level && a.code >> shift == b.code >> shift;
}

// First source and number of sources of each cell. Both lists are sorted.
extern "C" __global__ void find_ranges(const CellPath* from, uint32_t sources, const CellPath* to, uint32_t cells,
                                       uint32_t* first, uint32_t* counts) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    const CellPath path = to[cell];
    uint32_t low = 0, high = sources;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (is_before(from[middle], path)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint32_t at = low, count = 0;
    // The cell that holds the new one begins with it or before.
    if (low < sources && holds(from[low], path)) {
        count = 1;
    } else if (low > 0 && holds(from[low - 1], path)) {
        at = low - 1;
        count = 1;
    } else {
        while (low + count < sources && holds(path, from[low + count])) {
            count++;
        }
    }
    first[cell] = at;
    counts[cell] = count;
}

extern "C" __global__ void map_values(const uint32_t* first, const uint32_t* counts, uint32_t cells,
                                      const double* volumes, const double* values, double* out) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    const uint32_t at = first[cell], count = counts[cell];
    if (count == 1) {
        out[cell] = values[at];
        return;
    }
    double sum = 0.0, mean = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        sum += volumes[at + i];
    }
    for (uint32_t i = 0; i < count; i++) {
        mean += volumes[at + i] / sum * values[at + i];
    }
    out[cell] = mean;
}

// Whether a source of a cell wants more refinements than it has; how many are marked.
extern "C" __global__ void project_marks(const uint32_t* first, const uint32_t* counts, uint32_t cells,
                                         const uint8_t* wanted, const CellPath* paths, uint8_t* marks,
                                         uint32_t* total) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    const uint32_t at = first[cell], count = counts[cell], level = paths[cell].level;
    bool marked = false;
    for (uint32_t i = 0; i < count; i++) {
        marked = marked || wanted[at + i] > level;
    }
    marks[cell] = marked;
    if (marked) {
        atomicAdd(total, 1u);
    }
}
