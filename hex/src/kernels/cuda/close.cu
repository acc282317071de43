// Marks under 2:1: `cpu/close.rs`. Levels around points are words, for atomic minima and maxima.

#include "hex.cuh"

extern "C" __global__ void limit_levels(const uint8_t* cell_levels, const uint32_t* corners, uint32_t cells,
                                        uint8_t* most) {
    const uint32_t cell = thread_index();
    if (cell < cells) {
        most[cell] = cell_levels[cell] + (corners[8 * static_cast<size_t>(cell)] != NONE);
    }
}

// Levels of faces at their points: minima to lower, maxima to raise.
template <bool LOWER>
__device__ inline void at_points(const uint32_t* face_start, const uint32_t* face_points, const uint32_t* owner,
                                 const uint32_t* neighbour, uint32_t internal, uint32_t faces, const uint8_t* levels,
                                 uint32_t* at_point) {
    const uint32_t face = thread_index();
    if (face >= faces) {
        return;
    }
    uint32_t level = levels[owner[face]];
    if (face < internal) {
        const uint32_t other = levels[neighbour[face]];
        level = (LOWER ? other < level : other > level) ? other : level;
    }
    const uint32_t end = face_start[face + 1];
    for (uint32_t i = face_start[face]; i < end; i++) {
        uint32_t* at = &at_point[face_points[i]];
        // What is read may be old, and then the atomic operation does nothing.
        if (LOWER) {
            if (*at > level) {
                atomicMin(at, level);
            }
        } else if (*at < level) {
            atomicMax(at, level);
        }
    }
}

extern "C" __global__ void lower_points(const uint32_t* face_start, const uint32_t* face_points, const uint32_t* owner,
                                        const uint32_t* neighbour, uint32_t internal, uint32_t faces,
                                        const uint8_t* levels, uint32_t* at_point) {
    at_points<true>(face_start, face_points, owner, neighbour, internal, faces, levels, at_point);
}

extern "C" __global__ void raise_points(const uint32_t* face_start, const uint32_t* face_points, const uint32_t* owner,
                                        const uint32_t* neighbour, uint32_t internal, uint32_t faces,
                                        const uint8_t* levels, uint32_t* at_point) {
    at_points<false>(face_start, face_points, owner, neighbour, internal, faces, levels, at_point);
}

// What the points of faces have together: minima with `lower` 1, else maxima.
extern "C" __global__ void gather_faces(const uint32_t* face_start, const uint32_t* face_points, uint32_t faces,
                                        const uint32_t* at_point, uint32_t lower, uint8_t* of_face) {
    const uint32_t face = thread_index();
    if (face >= faces) {
        return;
    }
    uint32_t level = lower ? 255 : 0;
    const uint32_t end = face_start[face + 1];
    for (uint32_t i = face_start[face]; i < end; i++) {
        const uint32_t other = at_point[face_points[i]];
        level = (lower ? other < level : other > level) ? other : level;
    }
    of_face[face] = static_cast<uint8_t>(level);
}

// Lowers levels to one beyond the least around a cell, or raises them to one below the most. Counts changes.
extern "C" __global__ void change_cells(const uint32_t* start, const uint32_t* of_cell, uint32_t cells,
                                        const uint8_t* of_face, uint32_t lower, uint8_t* levels, uint32_t* changes) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    uint32_t around = lower ? 255 : 0;
    const uint32_t end = start[cell + 1];
    for (uint32_t i = start[cell]; i < end; i++) {
        const uint32_t other = of_face[of_cell[i]];
        around = (lower ? other < around : other > around) ? other : around;
    }
    const uint32_t before = levels[cell];
    uint32_t level = before;
    if (lower) {
        const uint32_t limit = around < 255 ? around + 1 : 255;
        level = limit < level ? limit : level;
    } else {
        const uint32_t limit = around > 0 ? around - 1 : 0;
        level = limit > level ? limit : level;
    }
    if (level != before) {
        levels[cell] = static_cast<uint8_t>(level);
        atomicAdd(changes, 1u);
    }
}

// Levels that marks ask for, as far as they may be; in the place of the latter.
extern "C" __global__ void target_levels(const uint8_t* cell_levels, const uint8_t* marks, uint32_t cells,
                                         uint8_t* most) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    const uint32_t level = cell_levels[cell], limit = most[cell];
    uint32_t target = level + (marks[cell] != 0);
    target = target < limit ? target : limit;
    most[cell] = static_cast<uint8_t>(target > level ? target : level);
}

// Closed marks; how many there are, and the most refinements of a marked cell so far.
extern "C" __global__ void mark_targets(const uint8_t* cell_levels, const uint8_t* target, const uint32_t* paths,
                                        uint32_t cells, uint8_t* marks, uint32_t* count, uint32_t* deepest) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    const bool marked = target[cell] > cell_levels[cell];
    marks[cell] = marked;
    if (marked) {
        atomicAdd(count, 1u);
        const uint32_t depth = paths[3 * static_cast<size_t>(cell) + 2];
        if (*deepest < depth) {
            atomicMax(deepest, depth);
        }
    }
}
