// Numbers of new cells, split faces and edges: `cpu/number.rs`.

#include "hexes.cuh"
#include "tets.cuh"

constexpr uint64_t NO_KEY = ~0ull;

// How many cells each cell becomes; 0 behind the last one.
extern "C" __global__ void count_children(const uint8_t* marks, uint32_t cells, uint32_t* first) {
    const uint32_t cell = thread_index();
    if (cell <= cells) {
        first[cell] = cell == cells ? 0 : marks[cell] != 0 ? 8 : 1;
    }
}

// 1 for each face that becomes four: a cell of its level is marked.
extern "C" __global__ void flag_faces(const View view, const uint8_t* marks, uint32_t* split) {
    const uint32_t face = thread_index();
    if (face > view.faces) {
        return;
    }
    if (face == view.faces) {
        split[face] = 0;
        return;
    }
    const uint8_t level = face_level(view, face);
    const uint32_t cell = view.owner[face];
    bool is_split = marks[cell] != 0 && view.cell_levels[cell] == level;
    if (face < view.internal) {
        const uint32_t other = view.neighbour[face];
        is_split = is_split || (marks[other] != 0 && view.cell_levels[other] == level);
    }
    split[face] = is_split;
}

// The first face to be split that has too few corners.
template <typename S>
__device__ inline void check_side(const View& view, const uint32_t* split, uint32_t* bad) {
    const uint32_t face = thread_index();
    if (face >= view.faces || split[face] == split[face + 1]) {
        return;
    }
    uint32_t side[S::SIDE];
    side_of(view, face, side);
    if (side[S::SIDE - 1] == NONE) {
        atomicMin(bad, face);
    }
}

// The keys of the edges of marked cells that have no point yet; NO_KEY for the others.
template <typename S>
__device__ inline void put_edge(const View& view, const uint32_t* corners, const uint32_t* marked, uint32_t count,
                                uint64_t* keys) {
    const uint32_t i = thread_index();
    if (i >= S::EDGES * count) {
        return;
    }
    const uint32_t cell = marked[i / S::EDGES];
    const int edge = static_cast<int>(i % S::EDGES);
    const uint32_t a = corners[8 * static_cast<size_t>(cell) + S::edge_corner(edge, 0)];
    const uint32_t b = corners[8 * static_cast<size_t>(cell) + S::edge_corner(edge, 1)];
    uint64_t key = NO_KEY;
    if (is_plain<S>(view, cell) || hanging(view, cell, a, b) == NONE) {
        key = static_cast<uint64_t>(a < b ? a : b) << 32 | (a < b ? b : a);
    }
    keys[i] = key;
}

#define KERNELS(NAME, S)                                                                                             \
    extern "C" __global__ void check_sides_of_##NAME(const View view, const uint32_t* split, uint32_t* bad) {        \
        check_side<S>(view, split, bad);                                                                             \
    }                                                                                                                \
    extern "C" __global__ void put_edges_of_##NAME(const View view, const uint32_t* corners, const uint32_t* marked, \
                                                   uint32_t count, uint64_t* keys) {                                 \
        put_edge<S>(view, corners, marked, count, keys);                                                             \
    }

KERNELS(hexes, Hexes)
KERNELS(tets, Tets)

// Edges by their smaller point.
extern "C" __global__ void count_edges(const uint64_t* edges, uint32_t count, uint32_t* starts) {
    const uint32_t i = thread_index();
    if (i < count) {
        atomicAdd(&starts[edges[i] >> 32], 1u);
    }
}

// Some entries of a list.
extern "C" __global__ void pick(const uint32_t* list, const uint32_t* at, uint32_t count, uint32_t* out) {
    const uint32_t i = thread_index();
    if (i < count) {
        out[i] = list[at[i]];
    }
}
