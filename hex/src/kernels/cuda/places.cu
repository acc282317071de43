// The points of a cell that is split: `cpu/places.rs`.

#include "hexes.cuh"
#include "tets.cuh"

// The place of a corner among 27.
__device__ inline int place_of(int corner) {
    return 2 * (corner & 1) + 6 * (corner >> 1 & 1) + 18 * (corner >> 2);
}

// The first face of a cell that has some points, or NONE.
template <int N>
__device__ inline uint32_t face_with(const View& v, uint32_t cell, const uint32_t (&points)[N]) {
    const uint32_t end = v.start[cell + 1];
    for (uint32_t i = v.start[cell]; i < end; i++) {
        const uint32_t face = v.of_cell[i];
        bool has = true;
        for (int k = 0; has && k < N; k++) {
            has = has_point(v, face, points[k]);
        }
        if (has) {
            return face;
        }
    }
    return NONE;
}

// The point in the middle of a side: of its face, or common to its quarters.
__device__ inline uint32_t side_center(const Cut& c, uint32_t cell, const uint32_t (&quad)[4], uint32_t one,
                                       uint32_t two) {
    const View& v = c.view;
    const uint32_t whole = face_with(v, cell, quad);
    if (whole != NONE) {
        return center_of_face(c, whole);
    }
    // The quarter at the first corner has the midpoints of its two edges; its fourth corner is the centre.
    const uint32_t three[3] = {quad[0], one, two};
    const uint32_t face = face_with(v, cell, three);
    if (face == NONE) {
        return NONE;
    }
    // Points of a face exist, so these three do.
    uint8_t level = 0;
    for (int k = 0; k < 3; k++) {
        const uint8_t other = v.point_levels[three[k]];
        level = other > level ? other : level;
    }
    const uint32_t end = v.face_start[face + 1];
    for (uint32_t at = v.face_start[face]; at < end; at++) {
        const uint32_t point = v.face_points[at];
        if (point != three[0] && point != three[1] && point != three[2] && v.point_levels[point] <= level) {
            return point;
        }
    }
    return NONE;
}

extern "C" __global__ void find_places_of_hexes(const Cut cut, uint32_t* out) {
    const uint32_t i = thread_index();
    if (i >= cut.marked_count) {
        return;
    }
    const uint32_t cell = cut.marked[i];
    const uint32_t* own = cut.corners + 8 * static_cast<size_t>(cell);
    const bool plain = is_plain<Hexes>(cut.view, cell);
    uint32_t places[27];
    for (int k = 0; k < 27; k++) {
        places[k] = NONE;
    }
    places[13] = cut.points + cut.edge_count + cut.split_count + i;
    for (int corner = 0; corner < 8; corner++) {
        places[place_of(corner)] = own[corner];
    }
    for (int edge = 0; edge < 12; edge++) {
        const int a = hex_edge_corner(edge, 0), b = hex_edge_corner(edge, 1);
        uint32_t point = middle_of(cut, own[a], own[b]);
        if (point == NONE && !plain) {
            point = hanging(cut.view, cell, own[a], own[b]);
        }
        places[(place_of(a) + place_of(b)) / 2] = point;
    }
    for (int side = 0; side < 6; side++) {
        uint32_t quad[4];
        int at[4];
        for (int k = 0; k < 4; k++) {
            const int corner = side_corner(side, k);
            quad[k] = own[corner];
            at[k] = place_of(corner);
        }
        const uint32_t one = places[(at[0] + at[1]) / 2], two = places[(at[0] + at[3]) / 2];
        places[(at[0] + at[2]) / 2] = side_center(cut, cell, quad, one, two);
    }
    for (int k = 0; k < 27; k++) {
        out[27 * static_cast<size_t>(i) + k] = places[k];
    }
}

// The corner 1, 2 or 3 that is a point, or the other end of the edge from corner 0 that the point halves; 0 for others.
__device__ inline int beyond(const uint32_t (&places)[11], uint32_t point) {
    for (int k = 1; k < 4; k++) {
        if (point == places[k] || point == places[3 + k]) {
            return k;
        }
    }
    return 0;
}

// 1 for a cell whose corners 0, 1, 2 are clockwise seen from corner 3, as a face at corner 0 has it; 2 where none says
// so.
__device__ inline uint32_t mirrored(const View& v, uint32_t cell, const uint32_t (&places)[11]) {
    for (uint32_t i = v.start[cell]; i < v.start[cell + 1]; i++) {
        const uint32_t face = v.of_cell[i];
        const int step = v.owner[face] == cell ? 1 : 2;
        uint32_t ids[3];
        side_of(v, face, ids);
        for (int turn = 0; turn < 3; turn++) {
            if (ids[turn] == places[0]) {
                const int q = beyond(places, ids[(turn + step) % 3]), r = beyond(places, ids[(turn + 2 * step) % 3]);
                if (q != 0 && r != 0) {
                    return q % 3 + 1 == r;
                }
                break;
            }
        }
    }
    return 2;
}

extern "C" __global__ void find_places_of_tets(const Cut cut, uint32_t* out) {
    const uint32_t i = thread_index();
    if (i >= cut.marked_count) {
        return;
    }
    const uint32_t cell = cut.marked[i];
    const uint32_t* own = cut.corners + 8 * static_cast<size_t>(cell);
    const bool plain = is_plain<Tets>(cut.view, cell);
    uint32_t places[11];
    for (int k = 0; k < 4; k++) {
        places[k] = own[k];
    }
    for (int edge = 0; edge < 6; edge++) {
        const uint32_t a = own[tet_edge_corner(edge, 0)], b = own[tet_edge_corner(edge, 1)];
        uint32_t point = middle_of(cut, a, b);
        if (point == NONE && !plain) {
            point = hanging(cut.view, cell, a, b);
        }
        places[4 + edge] = point;
    }
    places[10] = mirrored(cut.view, cell, places);
    // Reported when the faces are written.
    for (int k = 4; k < 11 && places[10] == 2; k++) {
        out[11 * static_cast<size_t>(i) + k] = NONE;
    }
    const int known = places[10] == 2 ? 4 : 11;
    for (int k = 0; k < known; k++) {
        out[11 * static_cast<size_t>(i) + k] = places[k];
    }
}
