// New points: `cpu/points.rs`.

#include "hexes.cuh"
#include "tets.cuh"
#include "vectors.cuh"

// Centre and area vector of a quad.
__device__ inline Vec center_of(const Vec (&quad)[4], Vec& area) {
    Vec sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < 4; i++) {
        sum = add(sum, quad[i]);
    }
    const Vec mid = scale(sum, 0.25);
    Vec twice = {0.0, 0.0, 0.0}, weighted = {0.0, 0.0, 0.0};
    double weight = 0.0;
    for (int i = 0; i < 4; i++) {
        const Vec p = quad[i], q = quad[(i + 1) & 3];
        const Vec thrice = add(add(p, q), mid), part = cross(sub(q, p), sub(mid, p));
        const double length = norm(part);
        twice = add(twice, part);
        weight += length;
        weighted = add(weighted, scale(thrice, length));
    }
    if (weight == 0.0) {
        area = twice;
        return mid;
    }
    area = scale(twice, 0.5);
    return scale(weighted, 1.0 / (3.0 * weight));
}

// The level of a midpoint is one beyond that of the cells whose edge it halves.
template <typename S>
__device__ inline void level_edge(const Cut& cut, uint32_t* levels) {
    const uint32_t i = thread_index();
    if (i >= S::EDGES * cut.marked_count) {
        return;
    }
    const uint32_t cell = cut.marked[i / S::EDGES];
    const int edge = static_cast<int>(i % S::EDGES);
    const uint32_t* own = cut.corners + 8 * static_cast<size_t>(cell);
    const uint32_t point = middle_of(cut, own[S::edge_corner(edge, 0)], own[S::edge_corner(edge, 1)]);
    if (point != NONE) {
        atomicMax(&levels[point - cut.points], cut.view.cell_levels[cell] + 1u);
    }
}

extern "C" __global__ void level_edges_of_hexes(const Cut cut, uint32_t* levels) {
    level_edge<Hexes>(cut, levels);
}

extern "C" __global__ void level_edges_of_tets(const Cut cut, uint32_t* levels) {
    level_edge<Tets>(cut, levels);
}

// The arrays begin at the first midpoint of an edge.
extern "C" __global__ void put_edge_points(const double* old, const uint64_t* edges, uint32_t count,
                                           const uint32_t* of_edge, double* to, uint8_t* levels) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint64_t key = edges[i];
    const Vec a = load(old, static_cast<uint32_t>(key >> 32)), b = load(old, static_cast<uint32_t>(key));
    store(to, i, scale(add(a, b), 0.5));
    levels[i] = static_cast<uint8_t>(of_edge[i]);
}

// The arrays begin at the first centre of a face.
extern "C" __global__ void put_face_points(const View view, const double* old, const uint32_t* split, double* to,
                                           uint8_t* levels) {
    const uint32_t face = thread_index();
    if (face >= view.faces || split[face] == split[face + 1]) {
        return;
    }
    uint32_t ids[4];
    side_of(view, face, ids);
    Vec quad[4], area;
    for (int i = 0; i < 4; i++) {
        quad[i] = load(old, ids[i]);
    }
    const uint32_t at = split[face];
    store(to, at, center_of(quad, area));
    levels[at] = face_level(view, face) + 1;
}

// The arrays begin at the first centre of a cell.
extern "C" __global__ void put_cell_points(const double* old, const uint32_t* corners, const uint8_t* cell_levels,
                                           const uint32_t* cells, uint32_t count, double* to, uint8_t* levels) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t cell = cells[i];
    const uint32_t* own = corners + 8 * static_cast<size_t>(cell);
    Vec centers[6], areas[6], sum = {0.0, 0.0, 0.0};
    for (int side = 0; side < 6; side++) {
        Vec quad[4];
        for (int k = 0; k < 4; k++) {
            quad[k] = load(old, own[side_corner(side, k)]);
        }
        centers[side] = center_of(quad, areas[side]);
        sum = add(sum, centers[side]);
    }
    const Vec mid = scale(sum, 1.0 / 6.0);
    Vec weighted = {0.0, 0.0, 0.0};
    double volume = 0.0;
    for (int side = 0; side < 6; side++) {
        const double thrice = dot(areas[side], sub(centers[side], mid));
        volume += thrice;
        weighted = add(weighted, scale(add(scale(centers[side], 0.75), scale(mid, 0.25)), thrice));
    }
    store(to, i, volume == 0.0 ? mid : scale(weighted, 1.0 / volume));
    levels[i] = cell_levels[cell] + 1;
}
