// Which cells are hexahedra, and their corners: `cpu/corners.rs`.

#include "hex.cuh"

// Corners of a cell by number, ascending, and for each the set of corners beyond its edges.
struct Cube {
    uint32_t all[8];
    uint32_t beyond[8];
};

// The number of a corner, or 8.
__device__ inline int index_of(const Cube& cube, uint32_t point) {
    for (int i = 0; i < 8; i++) {
        if (cube.all[i] == point) {
            return i;
        }
    }
    return 8;
}

// The smallest corner, other than `from`, that an edge leads to from a hanging point; or NONE.
__device__ inline uint32_t end_of(const View& v, uint32_t cell, uint32_t from, uint32_t hanging) {
    const uint8_t level = v.cell_levels[cell];
    uint32_t end = NONE;
    each_edge(v, cell, [&](uint32_t a, uint32_t b) {
        if (a == hanging && b != from && b < end && v.point_levels[b] <= level) {
            end = b;
        }
    });
    return end;
}

// False where there are not eight corners.
__device__ inline bool cube_of(const View& v, uint32_t cell, Cube& cube) {
    const uint8_t level = v.cell_levels[cell];
    int count = 0;
    for (int i = 0; i < 8; i++) {
        cube.all[i] = NONE;
        cube.beyond[i] = 0;
    }
    each_edge(v, cell, [&](uint32_t p, uint32_t) {
        if (count > 8 || v.point_levels[p] > level) {
            return;
        }
        int at = 0;
        while (at < 8 && cube.all[at] < p) {
            at++;
        }
        if (at < 8 && cube.all[at] == p) {
            return;
        }
        count++;
        for (int i = 7; i > at; i--) {
            cube.all[i] = cube.all[i - 1];
        }
        if (at < 8) {
            cube.all[at] = p;
        }
    });
    if (count != 8) {
        return false;
    }
    each_edge(v, cell, [&](uint32_t from, uint32_t to) {
        const int at = index_of(cube, from);
        if (at < 8) {
            const int end = index_of(cube, v.point_levels[to] <= level ? to : end_of(v, cell, from, to));
            if (end < 8) {
                cube.beyond[at] |= 1u << end;
            }
        }
    });
    return true;
}

// The set beyond a corner if it has three; else 0.
__device__ inline uint32_t three_of(const Cube& cube, int corner) {
    if (corner > 7) {
        return 0;
    }
    const uint32_t of = cube.beyond[corner];
    return __popc(of) == 3 ? of : 0;
}

// The lowest corner of a set, or 8.
__device__ inline int lowest(uint32_t set) {
    return set == 0 ? 8 : __ffs(static_cast<int>(set)) - 1;
}

// The corners before and after a corner in the outward loop of the first side that has it; NONE where there are none.
__device__ inline void loop_at(const View& v, uint32_t cell, uint32_t corner, uint32_t& x, uint32_t& y) {
    const uint32_t end = v.start[cell + 1];
    uint32_t i = v.start[cell];
    while (i < end && !has_point(v, v.of_cell[i], corner)) {
        i++;
    }
    x = NONE;
    y = NONE;
    if (i == end) {
        return;
    }
    const uint32_t face = v.of_cell[i], first = v.face_start[face], count = v.face_start[face + 1] - first;
    uint32_t at = 0;
    while (v.face_points[first + at] != corner) {
        at++;
    }
    const uint32_t after = v.face_points[first + (at + 1) % count];
    const uint32_t before = v.face_points[first + (at + count - 1) % count];
    const bool owns = v.owner[face] == cell;
    const uint8_t level = v.cell_levels[cell];
    x = owns ? before : after;
    y = owns ? after : before;
    x = v.point_levels[x] <= level ? x : end_of(v, cell, corner, x);
    y = v.point_levels[y] <= level ? y : end_of(v, cell, corner, y);
}

__device__ inline bool corners_of(const View& v, uint32_t cell, uint32_t (&corners)[8]) {
    const uint32_t faces = v.start[cell + 1] - v.start[cell];
    Cube cube;
    if (faces < 6 || faces > 24 || !cube_of(v, cell, cube)) {
        return false;
    }
    const uint32_t three = three_of(cube, 0);
    uint32_t point_x, point_y;
    loop_at(v, cell, cube.all[0], point_x, point_y);
    const int x = point_x == NONE ? 8 : index_of(cube, point_x), y = point_y == NONE ? 8 : index_of(cube, point_y);
    const uint32_t at_x = three_of(cube, x), at_y = three_of(cube, y);
    if (three == 0 || at_x == 0 || at_y == 0) {
        return false;
    }
    const uint32_t x_and_y = 1u << x | 1u << y;
    const int z = lowest(three & ~x_and_y);
    const uint32_t at_z = three_of(cube, z);
    const int xy = lowest(at_x & at_y & ~1u), xz = lowest(at_x & at_z & ~1u), yz = lowest(at_y & at_z & ~1u);
    const int last = lowest(three_of(cube, xy) & ~x_and_y);
    const int numbers[8] = {0, x, y, xy, z, xz, yz, last};
    uint32_t distinct = 0;
    for (int i = 0; i < 8; i++) {
        distinct |= 1u << numbers[i];
    }
    if (distinct != 0xffu) {
        return false;
    }
    for (int i = 0; i < 8; i++) {
        corners[i] = cube.all[numbers[i]];
    }
    return true;
}

extern "C" __global__ void find_corners(const View view, uint32_t cells, uint32_t* out, uint32_t* none) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    uint32_t corners[8];
    if (!corners_of(view, cell, corners)) {
        atomicAdd(none, 1u);
        for (int i = 0; i < 8; i++) {
            corners[i] = NONE;
        }
    }
    for (int i = 0; i < 8; i++) {
        out[8 * static_cast<size_t>(cell) + i] = corners[i];
    }
}
