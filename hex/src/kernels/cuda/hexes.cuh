// Hexahedra, 1 to 8: `cpu/hexes.rs`.

#pragma once

#include "shape.cuh"

// The corners of an edge: by axis, then the corners across.
__device__ inline int hex_edge_corner(int edge, int end) {
    const int axis = edge / 4, q = edge % 4;
    const int low = axis == 0 ? 2 * q : axis == 1 ? (q & 1) | (q >> 1) << 2 : q;
    return low | end << axis;
}

// The i-th corner of a side: `SIDES` of `cpu/hexes.rs`, one digit a corner.
__device__ inline int side_corner(int side, int i) {
    const uint64_t low = 0x3762451057312640ull, high = 0x67541320ull;
    const uint64_t digits = side < 4 ? low >> 16 * side : high >> 16 * (side - 4);
    return static_cast<int>(digits >> 4 * i & 15);
}

// The new centre of a face, or NONE.
__device__ inline uint32_t center_of_face(const Cut& c, uint32_t face) {
    return is_split(c, face) ? c.points + c.edge_count + c.split[face] : NONE;
}

struct Hexes {
    static constexpr uint32_t EDGES = 12, SIDES = 6, SIDE = 4, INNER = 12, PLACES = 27;

    static __device__ int edge_corner(int edge, int end) {
        return hex_edge_corner(edge, end);
    }

    // The four pieces of a split face; `corners` has what `child` knows them by.
    static __device__ void pieces(const Cut& c, uint32_t face, uint32_t (&corners)[4], uint32_t (&out)[4][4]) {
        const uint32_t center = center_of_face(c, face);
        uint32_t middles[4];
        side_of(c.view, face, corners);
        middles_of(c, face, corners, middles);
        for (int i = 0; i < 4; i++) {
            out[i][0] = corners[i];
            out[i][1] = middles[i];
            out[i][2] = center;
            out[i][3] = middles[(i + 3) & 3];
        }
    }

    // The child of a split cell behind a face: at a corner, or at the one that a quarter of a side has.
    static __device__ uint32_t child(const Cut& c, uint32_t cell, uint32_t face, uint32_t piece) {
        const uint32_t of_piece = corner_at<8>(c, cell, piece);
        if (of_piece < 8) {
            return of_piece;
        }
        const uint32_t end = c.view.face_start[face + 1];
        for (uint32_t at = c.view.face_start[face]; at < end; at++) {
            const uint32_t of_point = corner_at<8>(c, cell, c.view.face_points[at]);
            if (of_point < 8) {
                return of_point;
            }
        }
        return 0;
    }

    // A face inside: face 4 a + q is the quarter q across axis a.
    static __device__ void inner(const uint32_t* places, int face, uint32_t (&ids)[4], uint32_t& low, uint32_t& high) {
        const int axis = face / 4, quarter = face % 4;
        const int steps[3] = {1, 3, 9};
        for (int i = 0; i < 4; i++) {
            const int du = i == 1 || i == 2, dv = i >= 2;
            ids[i] = places[steps[axis] + ((quarter & 1) + du) * steps[(axis + 1) % 3] +
                            ((quarter >> 1) + dv) * steps[(axis + 2) % 3]];
        }
        low = static_cast<uint32_t>((quarter & 1) << (axis + 1) % 3 | (quarter >> 1) << (axis + 2) % 3);
        high = low + (1u << axis);
    }
};
