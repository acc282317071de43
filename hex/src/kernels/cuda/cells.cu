// New cells: `cpu/cells.rs`.

#include "hex.cuh"

// `CellPath` of `refine/paths.rs`.
struct CellPath {
    uint32_t parent, code, level;
};
static_assert(sizeof(CellPath) == 12, "three words, as Rust has them");

extern "C" __global__ void put_cells(const uint8_t* levels, const CellPath* paths, const uint8_t* marks,
                                     const uint32_t* first, uint32_t cells, uint8_t* new_levels, CellPath* new_paths) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    const uint32_t at = first[cell];
    const CellPath path = paths[cell];
    if (marks[cell] == 0) {
        new_levels[at] = levels[cell];
        new_paths[at] = path;
        return;
    }
    const uint32_t level = path.level + 1;
    for (uint32_t child = 0; child < 8; child++) {
        new_levels[at + child] = levels[cell] + 1;
        new_paths[at + child] = {path.parent, path.code | child << (30 - 3 * level), level};
    }
}
