// Tetrahedra, 1 to 8: `cpu/tets.rs`.

#pragma once

#include "shape.cuh"

// The i-th of small numbers, one hexadecimal digit each.
__device__ inline int digit(uint64_t digits, int i) {
    return static_cast<int>(digits >> 4 * i & 15);
}

// The corners of an edge: 01 02 03 12 13 23.
__device__ inline int tet_edge_corner(int edge, int end) {
    return digit(end == 0 ? 0x211000 : 0x332321, edge);
}

struct Tets {
    static constexpr uint32_t EDGES = 6, SIDES = 4, SIDE = 3, INNER = 8, PLACES = 11;

    static __device__ int edge_corner(int edge, int end) {
        return tet_edge_corner(edge, end);
    }

    // The four pieces of a split face; `corners` has what `child` knows them by.
    static __device__ void pieces(const Cut& c, uint32_t face, uint32_t (&corners)[4], uint32_t (&out)[4][3]) {
        uint32_t side[3], middles[3];
        side_of(c.view, face, side);
        middles_of(c, face, side, middles);
        for (int i = 0; i < 3; i++) {
            corners[i] = side[i];
            out[i][0] = side[i];
            out[i][1] = middles[i];
            out[i][2] = middles[(i + 2) % 3];
            out[3][i] = middles[i];
        }
        corners[3] = MIDDLE;
    }

    // The child of a split cell behind a face: at a corner, or in the middle of the side opposite one.
    static __device__ uint32_t child(const Cut& c, uint32_t cell, uint32_t face, uint32_t piece) {
        const uint32_t of_piece = corner_at<4>(c, cell, piece);
        if (of_piece < 4) {
            return of_piece;
        }
        uint32_t ids[3];
        side_of(c.view, face, ids);
        // Corners that the side has, or that edges join to points of its part.
        uint32_t of_side = 0;
        for (int i = 0; i < 3; i++) {
            const uint32_t at = corner_at<4>(c, cell, ids[i]);
            if (at < 4 && piece != MIDDLE) {
                return at;
            }
            of_side |= at < 4 ? 1u << at : 0;
        }
        if (piece != MIDDLE) {
            each_edge(c.view, cell, [&](uint32_t from, uint32_t to) {
                if (to == ids[0] || to == ids[1] || to == ids[2]) {
                    const uint32_t at = corner_at<4>(c, cell, from);
                    of_side |= at < 4 ? 1u << at : 0;
                }
            });
        }
        for (int i = 0; i < 4; i++) {
            if ((of_side >> i & 1) == 0) {
                return static_cast<uint32_t>(digit(0x5467, i));
            }
        }
        return 0;
    }

    // A face inside, by places: `INNER` of `cpu/tets.rs`.
    static __device__ void inner(const uint32_t* places, int face, uint32_t (&ids)[3], uint32_t& low, uint32_t& high) {
        const bool mirrored = places[10] == 1;
        for (int i = 0; i < 3; i++) {
            const int at = 3 * face + (mirrored ? 2 - i : i);
            ids[i] = places[at < 12 ? digit(0x896975784654ull, at) : digit(0x895785865854ull, at - 12)];
        }
        low = static_cast<uint32_t>(digit(0x65443210, face));
        high = static_cast<uint32_t>(digit(0x77656754, face));
    }
};
