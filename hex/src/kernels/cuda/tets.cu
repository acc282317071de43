// The corners of tetrahedra in the order that decides on the diagonal: `cpu/tets.rs`.

#include "tets.cuh"
#include "vectors.cuh"

// `CellPath` of `refine/paths.rs`.
struct Path {
    uint32_t parent, code, level;
};

// Sorts by the five exchanges of a network, with indices that the compiler knows: the array stays in registers.
__device__ inline void sort_four(uint32_t (&four)[4]) {
    const auto order = [&](int a, int b) {
        const uint32_t low = min(four[a], four[b]), high = max(four[a], four[b]);
        four[a] = low;
        four[b] = high;
    };
    order(0, 1);
    order(2, 3);
    order(0, 2);
    order(1, 3);
    order(1, 2);
}

// The points of a cell that are its corners by their levels, ascending; false where there are not four.
__device__ inline bool four_of(const View& v, uint32_t cell, uint32_t (&four)[4]) {
    const uint8_t level = v.cell_levels[cell];
    int count = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        four[k] = NONE;
    }
    for (uint32_t i = v.start[cell]; i < v.start[cell + 1]; i++) {
        const uint32_t face = v.of_cell[i];
        for (uint32_t at = v.face_start[face]; at < v.face_start[face + 1]; at++) {
            const uint32_t point = v.face_points[at];
            bool known = v.point_levels[point] > level;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                known = known || four[k] == point;
            }
            if (known) {
                continue;
            }
            if (count == 4) {
                return false;
            }
#pragma unroll
            for (int k = 0; k < 4; k++) {
                four[k] = k == count ? point : four[k];
            }
            count++;
        }
    }
    sort_four(four);
    return count == 4;
}

// The corners of a cell's parent, ascending: each is that of the descendant that is taken at the same corner always.
__device__ inline bool root_of(const View& v, const Path* paths, uint32_t cells, uint32_t cell, uint32_t (&root)[4]) {
    const Path path = paths[cell];
    if (path.level == 0) {
        return four_of(v, cell, root);
    }
    if (v.cell_levels[cell] < path.level) {
        return false;
    }
    const uint32_t base = v.cell_levels[cell] - path.level;
    bool fits = true;
#pragma unroll
    for (int corner = 0; corner < 4; corner++) {
        // Three bits a level.
        const uint32_t code = corner * 01111111111u;
        uint32_t low = 0, high = cells;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            const Path other = paths[middle];
            if (other.parent < path.parent || (other.parent == path.parent && other.code <= code)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        uint32_t four[4], found = NONE;
        fits = fits && low > 0 && four_of(v, low - 1, four);
#pragma unroll
        for (int at = 3; fits && at >= 0; at--) {
            found = v.point_levels[four[at]] > base ? found : four[at];
        }
        fits = fits && found != NONE;
        root[corner] = found;
    }
    sort_four(root);
    return fits && root[0] != root[1] && root[1] != root[2] && root[2] != root[3];
}

__device__ inline double diagonal(const Vec (&x)[4], int a, int b, int c, int d) {
    const Vec along = sub(add(x[a], x[c]), add(x[b], x[d]));
    return dot(along, along);
}

// Where the corners of a cell are, from those of its parent in ascending order: by the sums that made its points.
__device__ inline void corner_places(Vec (&x)[4], Path path) {
    const double squares[3] = {diagonal(x, 0, 1, 2, 3), diagonal(x, 0, 2, 1, 3), diagonal(x, 0, 1, 3, 2)};
    int best = squares[1] < squares[0] ? 1 : 0;
    best = squares[2] < squares[best] ? 2 : best;
    if (best != 0) {
        const Vec swapped = x[2];
        x[2] = x[best == 1 ? 1 : 3];
        x[best == 1 ? 1 : 3] = swapped;
    }
    for (uint32_t level = 1; level <= path.level; level++) {
        const int child = static_cast<int>(path.code >> (30 - 3 * level) & 7);
        Vec all[10];
        for (int i = 0; i < 4; i++) {
            all[i] = x[i];
        }
        for (int edge = 0; edge < 6; edge++) {
            all[4 + edge] = scale(add(x[tet_edge_corner(edge, 0)], x[tet_edge_corner(edge, 1)]), 0.5);
        }
        // `CHILDREN` of `cpu/tets.rs`.
        const uint64_t children = child < 4 ? 0x3986927587146540ull : 0x9875986587548654ull;
        for (int i = 0; i < 4; i++) {
            x[i] = all[digit(children, 4 * (child & 3) + i)];
        }
    }
}

// The first four entries of each cell's eight; the first cell that does not lie where its path says.
extern "C" __global__ void order_corners(const View view, const double* points, const Path* paths, uint32_t cells,
                                         uint32_t* out, uint32_t* bad) {
    const uint32_t cell = thread_index();
    if (cell >= cells) {
        return;
    }
    uint32_t root[4], own[4], found[4] = {NONE, NONE, NONE, NONE};
    bool fits = root_of(view, paths, cells, cell, root) && four_of(view, cell, own);
    if (fits) {
        Vec x[4], places[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[i] = load(points, root[i]);
            places[i] = load(points, own[i]);
        }
        corner_places(x, paths[cell]);
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int k = 3; k >= 0; k--) {
                const Vec at = places[k];
                found[i] = at.x == x[i].x && at.y == x[i].y && at.z == x[i].z ? own[k] : found[i];
            }
            fits = fits && found[i] != NONE;
#pragma unroll
            for (int k = 0; k < i; k++) {
                fits = fits && found[k] != found[i];
            }
        }
    }
    if (!fits) {
        atomicMin(bad, cell);
    }
    for (int i = 0; i < 8; i++) {
        out[8 * static_cast<size_t>(cell) + i] = i < 4 ? found[i] : NONE;
    }
}
