// A mesh, its faces by cell, and the numbers of a step, as kernels see them: `cpu/view.rs` and `cpu/cut.rs`.

#pragma once

#include "kernel.cuh"

// No point, no cell, no face.
constexpr uint32_t NONE = ~0u;

// `View` of `cpu/view.rs`; kernels take it by value.
struct View {
    const uint32_t* face_start;
    const uint32_t* face_points;
    const uint32_t* owner;
    const uint32_t* neighbour;
    const uint8_t* cell_levels;
    const uint8_t* point_levels;
    const uint32_t* start;
    const uint32_t* of_cell;
    uint32_t faces;
    uint32_t internal;
};

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
    const uint8_t level = v.cell_levels[cell];
    uint32_t found = NONE;
    bool whole = false;
    each_edge(v, cell, [&](uint32_t from, uint32_t to) {
        if (from == a) {
            whole = whole || to == b;
            if (to < found && v.point_levels[to] > level && has_edge(v, cell, to, b)) {
                found = to;
            }
        }
    });
    return whole ? NONE : found;
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

// The corners of a face of a cell's side, in its loop; NONE for those that are not there.
template <int N>
__device__ inline void side_of(const View& v, uint32_t face, uint32_t (&side)[N]) {
    const uint8_t level = face_level(v, face);
    const uint32_t end = v.face_start[face + 1];
    int count = 0;
    for (int i = 0; i < N; i++) {
        side[i] = NONE;
    }
    for (uint32_t at = v.face_start[face]; at < end && count < N; at++) {
        const uint32_t point = v.face_points[at];
        if (v.point_levels[point] <= level) {
            side[count++] = point;
        }
    }
}

// `Cut` of `cpu/cut.rs`: the numbers of a step; kernels take it by value.
struct Cut {
    View view;
    const uint32_t* corners;
    const uint8_t* marks;
    const uint32_t* first;
    const uint32_t* split;
    const uint64_t* edges;
    const uint32_t* edge_start;
    const uint32_t* marked;
    uint32_t marked_count;
    uint32_t points;
    uint32_t edge_count;
    uint32_t split_count;
};

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

// Whether a face becomes four.
__device__ inline bool is_split(const Cut& c, uint32_t face) {
    return c.split[face] != c.split[face + 1];
}

// The points in the middle of the edges of a face, each behind its corner: new ones, or those that hang there.
template <int N>
__device__ inline void middles_of(const Cut& c, uint32_t face, const uint32_t (&corners)[N], uint32_t (&middles)[N]) {
    const uint32_t first = c.view.face_start[face], count = c.view.face_start[face + 1] - first;
    for (int i = 0; i < N; i++) {
        const uint32_t a = corners[i], b = corners[(i + 1) % N];
        uint32_t at = 0;
        while (at < count && c.view.face_points[first + at] != a) {
            at++;
        }
        at = at < count ? at : 0;
        const uint32_t next = c.view.face_points[first + (at + 1) % count];
        middles[i] = next == b ? middle_of(c, a, b) : next;
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
