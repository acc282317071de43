// A mesh, its faces by cell, and the numbers of a step, as kernels see them: `cpu/view.rs` and `cpu/cut.rs`.

#pragma once

#include "kernel.cuh"

// No point, no cell, no face.
constexpr uint32_t NONE = ~0u;

// `View` of `cpu/view.rs`. Kernels take its members one by one, in this order.
struct View {
    const uint32_t* face_start;
    const uint32_t* face_points;
    const uint32_t* owner;
    const uint32_t* neighbour;
    uint32_t internal;
    const uint8_t* cell_levels;
    const uint8_t* point_levels;
    const uint32_t* start;
    const uint32_t* of_cell;
};

#define VIEW                                                                                                   \
    const uint32_t *face_start, const uint32_t *face_points, const uint32_t *owner, const uint32_t *neighbour, \
        uint32_t internal, const uint8_t *cell_levels, const uint8_t *point_levels, const uint32_t *start,     \
        const uint32_t *of_cell
#define VIEW_OF {face_start, face_points, owner, neighbour, internal, cell_levels, point_levels, start, of_cell}

// Calls `visit` with each edge of each face of a cell, in outward loops.
template <typename F>
__device__ inline void each_edge(const View& v, uint32_t cell, F visit) {
    const uint32_t end = v.start[cell + 1];
    for (uint32_t i = v.start[cell]; i < end; i++) {
        const uint32_t face = v.of_cell[i];
        const bool owns = v.owner[face] == cell;
        const uint32_t first = v.face_start[face], last = v.face_start[face + 1];
        uint32_t before = v.face_points[last - 1];
        for (uint32_t at = first; at < last; at++) {
            const uint32_t id = v.face_points[at];
            if (owns) {
                visit(before, id);
            } else {
                visit(id, before);
            }
            before = id;
        }
    }
}

__device__ inline bool has_edge(const View& v, uint32_t cell, uint32_t from, uint32_t to) {
    bool has = false;
    each_edge(v, cell, [&](uint32_t a, uint32_t b) { has = has || (a == from && b == to); });
    return has;
}

// The point that hangs between two corners of a cell, or NONE.
__device__ inline uint32_t hanging(const View& v, uint32_t cell, uint32_t a, uint32_t b) {
    uint32_t found = NONE;
    bool whole = false;
    each_edge(v, cell, [&](uint32_t from, uint32_t to) {
        if (from == a) {
            whole = whole || to == b;
            if (to < found && has_edge(v, cell, to, b)) {
                found = to;
            }
        }
    });
    return whole ? NONE : found;
}

// Whether a cell has six faces of four points: none hangs.
__device__ inline bool is_plain(const View& v, uint32_t cell) {
    const uint32_t first = v.start[cell], end = v.start[cell + 1];
    bool plain = end - first == 6;
    for (uint32_t i = first; plain && i < end; i++) {
        const uint32_t face = v.of_cell[i];
        plain = v.face_start[face + 1] - v.face_start[face] == 4;
    }
    return plain;
}

__device__ inline bool has_point(const View& v, uint32_t face, uint32_t point) {
    const uint32_t end = v.face_start[face + 1];
    for (uint32_t at = v.face_start[face]; at < end; at++) {
        if (v.face_points[at] == point) {
            return true;
        }
    }
    return false;
}

// The level of a face: that of the finer cell.
__device__ inline uint8_t face_level(const View& v, uint32_t face) {
    const uint8_t level = v.cell_levels[v.owner[face]];
    if (face >= v.internal) {
        return level;
    }
    const uint8_t other = v.cell_levels[v.neighbour[face]];
    return other > level ? other : level;
}

// The four corners of a face that is split, in its loop; NONE for those that are not there.
__device__ inline void quad_of(const View& v, uint32_t face, uint32_t (&quad)[4]) {
    const uint8_t level = face_level(v, face);
    const uint32_t end = v.face_start[face + 1];
    int count = 0;
    for (int i = 0; i < 4; i++) {
        quad[i] = NONE;
    }
    for (uint32_t at = v.face_start[face]; at < end && count < 4; at++) {
        const uint32_t point = v.face_points[at];
        if (v.point_levels[point] <= level) {
            quad[count++] = point;
        }
    }
}

// The corners of an edge: `EDGES` of `cpu/number.rs`, by axis, then the corners across.
__device__ inline int edge_corner(int edge, int end) {
    const int axis = edge / 4, q = edge % 4;
    const int low = axis == 0 ? 2 * q : axis == 1 ? (q & 1) | (q >> 1) << 2 : q;
    return low | end << axis;
}

// The i-th corner of a side: `SIDES` of `cpu/places.rs`, one digit a corner.
__device__ inline int side_corner(int side, int i) {
    const uint64_t low = 0x3762451057312640ull, high = 0x67541320ull;
    const uint64_t digits = side < 4 ? low >> 16 * side : high >> 16 * (side - 4);
    return static_cast<int>(digits >> 4 * i & 15);
}

// `Cut` of `cpu/cut.rs`: the numbers of a step.
struct Cut {
    View view;
    const uint32_t* corners;
    const uint8_t* marks;
    const uint32_t* first;
    const uint32_t* split;
    const uint64_t* edges;
    const uint32_t* edge_start;
    uint32_t points;
    uint32_t edge_count;
    uint32_t marked;
};

#define CUT                                                                                            \
    VIEW, const uint32_t *corners, const uint8_t *marks, const uint32_t *first, const uint32_t *split, \
        const uint64_t *edges, const uint32_t *edge_start, uint32_t points, uint32_t edge_count, uint32_t marked
#define CUT_OF {VIEW_OF, corners, marks, first, split, edges, edge_start, points, edge_count, marked}

// The new midpoint of an edge, or NONE.
__device__ inline uint32_t middle_of(const Cut& c, uint32_t a, uint32_t b) {
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low >= c.points) {
        return NONE;
    }
    const uint32_t end = c.edge_start[low + 1];
    for (uint32_t at = c.edge_start[low]; at < end; at++) {
        if (static_cast<uint32_t>(c.edges[at]) == high) {
            return c.points + at;
        }
    }
    return NONE;
}

// The new centre of a face, or NONE.
__device__ inline uint32_t center_of_face(const Cut& c, uint32_t face) {
    const uint32_t before = c.split[face];
    return c.split[face + 1] == before ? NONE : c.points + c.edge_count + before;
}

// The slot of a face or of its first quarter.
__device__ inline uint32_t slot_of(const Cut& c, uint32_t face) {
    return face + 3 * c.split[face] + (face < c.view.internal ? 0 : 12 * c.marked);
}

// The new number of a cell at one of its corners.
__device__ inline uint32_t child_at(const Cut& c, uint32_t cell, uint32_t corner) {
    const uint32_t first = c.first[cell];
    if (c.marks[cell] == 0) {
        return first;
    }
    for (uint32_t i = 0; i < 8; i++) {
        if (c.corners[8 * static_cast<size_t>(cell) + i] == corner) {
            return first + i;
        }
    }
    return first;
}

// The new number of a cell behind a face, or behind its quarter at a corner.
__device__ inline uint32_t behind(const Cut& c, uint32_t cell, uint32_t face, uint32_t quarter) {
    if (quarter != NONE && c.view.cell_levels[cell] == face_level(c.view, face)) {
        return child_at(c, cell, quarter);
    }
    if (c.marks[cell] == 0) {
        return c.first[cell];
    }
    // A quarter of one of the cell's sides: it has one of the cell's corners.
    const uint32_t end = c.view.face_start[face + 1];
    for (uint32_t at = c.view.face_start[face]; at < end; at++) {
        const uint32_t point = c.view.face_points[at];
        for (uint32_t i = 0; i < 8; i++) {
            if (c.corners[8 * static_cast<size_t>(cell) + i] == point) {
                return child_at(c, cell, point);
            }
        }
    }
    return child_at(c, cell, NONE);
}

// The outlines of the four quarters of a face, without midpoints of their edges.
__device__ inline void quarters_of(const Cut& c, uint32_t face, uint32_t center, uint32_t (&out)[4][4]) {
    uint32_t quad[4], middles[4];
    quad_of(c.view, face, quad);
    const uint32_t first = c.view.face_start[face], count = c.view.face_start[face + 1] - first;
    for (int i = 0; i < 4; i++) {
        const uint32_t a = quad[i], b = quad[(i + 1) & 3];
        uint32_t at = 0;
        while (at < count && c.view.face_points[first + at] != a) {
            at++;
        }
        at = at < count ? at : 0;
        const uint32_t next = c.view.face_points[first + (at + 1) % count];
        // The point between two corners: new, or one that hangs there already.
        middles[i] = next == b ? middle_of(c, a, b) : next;
    }
    for (int i = 0; i < 4; i++) {
        out[i][0] = quad[i];
        out[i][1] = middles[i];
        out[i][2] = center;
        out[i][3] = middles[(i + 3) & 3];
    }
}

// Calls `put` with each point of a face, with midpoints in its split edges.
template <typename F>
__device__ inline void outline_of(const Cut& c, const uint32_t* ids, uint32_t count, F put) {
    uint32_t next = ids[0];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t point = next;
        next = ids[i + 1 < count ? i + 1 : 0];
        put(point);
        const uint32_t middle = middle_of(c, point, next);
        if (middle != NONE) {
            put(middle);
        }
    }
}
