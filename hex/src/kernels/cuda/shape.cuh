// How a kind of cells is divided: `cpu/shape.rs`. Shapes are `Hexes` and `Tets`.

#pragma once

#include "hex.cuh"

// A piece of a face that is split, as `child` needs it: its corner of the face, or one of these.
constexpr uint32_t WHOLE = NONE;
// The piece between the midpoints of a triangle.
constexpr uint32_t MIDDLE = NONE - 1;

// The number of a point among the corners of a cell, or the number of corners.
template <uint32_t N>
__device__ inline uint32_t corner_at(const Cut& c, uint32_t cell, uint32_t point) {
    const uint32_t* corners = c.corners + 8 * static_cast<size_t>(cell);
    uint32_t i = 0;
    while (i < N && corners[i] != point) {
        i++;
    }
    return i;
}

// The new number of a cell behind a face, or behind a piece of it.
template <typename S>
__device__ inline uint32_t behind(const Cut& c, uint32_t cell, uint32_t face, uint32_t piece) {
    const uint32_t first = c.first[cell];
    if (c.marks[cell] == 0) {
        return first;
    }
    const bool is_level = c.view.cell_levels[cell] == face_level(c.view, face);
    return first + S::child(c, cell, face, is_level ? piece : WHOLE);
}

// Whether a cell has no hanging points: as many faces as a whole one, of as many points.
template <typename S>
__device__ inline bool is_plain(const View& v, uint32_t cell) {
    const uint32_t first = v.start[cell], end = v.start[cell + 1];
    bool plain = end - first == S::SIDES;
    for (uint32_t i = first; plain && i < end; i++) {
        const uint32_t face = v.of_cell[i];
        plain = v.face_start[face + 1] - v.face_start[face] == S::SIDE;
    }
    return plain;
}

// The slot of a face or of its first piece.
template <typename S>
__device__ inline uint32_t slot_of(const Cut& c, uint32_t face) {
    return face + 3 * c.split[face] + (face < c.view.internal ? 0 : S::INNER * c.marked_count);
}
