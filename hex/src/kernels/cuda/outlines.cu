// New faces: `cpu/outlines.rs`.

#include "hexes.cuh"
#include "tets.cuh"

__device__ inline uint32_t count_points(const Cut& cut, const uint32_t* ids, uint32_t count) {
    uint32_t points = 0;
    outline_of(cut, ids, count, [&](uint32_t) { points++; });
    return points;
}

// Owners, neighbours and corners of faces, in slots.
struct Slots {
    uint32_t* owners;
    uint32_t* neighbours;
    uint32_t* counts;
};

template <typename S>
__device__ inline void count_face(const Cut& cut, const Slots& out) {
    const uint32_t face = thread_index();
    if (face >= cut.view.faces) {
        return;
    }
    const View& v = cut.view;
    const uint32_t slot = slot_of<S>(cut, face);
    if (!is_split(cut, face)) {
        out.owners[slot] = behind<S>(cut, v.owner[face], face, WHOLE);
        if (face < v.internal) {
            out.neighbours[slot] = behind<S>(cut, v.neighbour[face], face, WHOLE);
        }
        const uint32_t at = v.face_start[face];
        out.counts[slot] = count_points(cut, v.face_points + at, v.face_start[face + 1] - at);
        return;
    }
    uint32_t corners[4], pieces[4][S::SIDE];
    S::pieces(cut, face, corners, pieces);
    for (int i = 0; i < 4; i++) {
        out.owners[slot + i] = behind<S>(cut, v.owner[face], face, corners[i]);
        if (face < v.internal) {
            out.neighbours[slot + i] = behind<S>(cut, v.neighbour[face], face, corners[i]);
        }
        out.counts[slot + i] = count_points(cut, pieces[i], S::SIDE);
    }
}

// The arrays begin at the first slot of inner faces.
template <typename S>
__device__ inline void count_inner_face(const Cut& cut, const uint32_t* places, const Slots& out) {
    const uint32_t i = thread_index();
    if (i >= S::INNER * cut.marked_count) {
        return;
    }
    const uint32_t first = cut.first[cut.marked[i / S::INNER]];
    uint32_t ids[S::SIDE], low, high;
    S::inner(places + S::PLACES * static_cast<size_t>(i / S::INNER), static_cast<int>(i % S::INNER), ids, low, high);
    out.owners[i] = first + low;
    out.neighbours[i] = first + high;
    out.counts[i] = count_points(cut, ids, S::SIDE);
}

// From slots to faces: the order of internal ones, then the boundary. Counts end with a 0.
extern "C" __global__ void gather_slots(const uint32_t* order, uint32_t internal, uint32_t faces,
                                        const uint32_t* owners, const uint32_t* neighbours, const uint32_t* counts,
                                        uint32_t* face_start, uint32_t* owner, uint32_t* neighbour, uint32_t* place) {
    const uint32_t face = thread_index();
    if (face > faces) {
        return;
    }
    if (face == faces) {
        face_start[face] = 0;
        return;
    }
    const uint32_t slot = face < internal ? order[face] : face;
    face_start[face] = counts[slot];
    owner[face] = owners[slot];
    if (face < internal) {
        neighbour[face] = neighbours[slot];
    }
    place[slot] = face;
}

// The new arrays that are written face by face.
struct Out {
    const uint32_t* place;
    const uint32_t* new_start;
    uint32_t* new_points;
    uint32_t* from;
    uint32_t* bad;
};

// Writes a face; returns its number.
__device__ inline uint32_t put_face(const Cut& cut, const Out& out, uint32_t slot, uint32_t of, const uint32_t* ids,
                                    uint32_t count) {
    const uint32_t face = out.place[slot], end = out.new_start[face + 1];
    uint32_t at = out.new_start[face];
    bool is_bad = false;
    const auto write = [&](uint32_t point) {
        out.new_points[at++] = point;
        is_bad = is_bad || point == NONE;
    };
    // A face of as many points as its outline has no midpoints.
    if (end - at == count) {
        for (uint32_t i = 0; i < count; i++) {
            write(ids[i]);
        }
    } else {
        outline_of(cut, ids, count, write);
    }
    out.from[face] = of;
    if (is_bad) {
        atomicMin(out.bad, face);
    }
    return face;
}

// What each new face of the boundary is part of.
struct Rims {
    const uint32_t* old;
    uint32_t new_internal;
    uint32_t* put;
};

template <typename S>
__device__ inline void put_old_face(const Cut& cut, const Out& out, const Rims& rims) {
    const uint32_t face = thread_index();
    if (face >= cut.view.faces) {
        return;
    }
    const View& v = cut.view;
    const uint32_t slot = slot_of<S>(cut, face);
    if (!is_split(cut, face)) {
        const uint32_t at = v.face_start[face];
        const uint32_t to = put_face(cut, out, slot, face, v.face_points + at, v.face_start[face + 1] - at);
        if (face >= v.internal) {
            rims.put[to - rims.new_internal] = rims.old[face - v.internal];
        }
        return;
    }
    uint32_t corners[4], pieces[4][S::SIDE];
    S::pieces(cut, face, corners, pieces);
    for (int i = 0; i < 4; i++) {
        const uint32_t to = put_face(cut, out, slot + i, face, pieces[i], S::SIDE);
        if (face >= v.internal) {
            rims.put[to - rims.new_internal] = rims.old[face - v.internal];
        }
    }
}

template <typename S>
__device__ inline void put_inner_face(const Cut& cut, const uint32_t* places, uint32_t first_slot, const Out& out) {
    const uint32_t i = thread_index();
    if (i >= S::INNER * cut.marked_count) {
        return;
    }
    uint32_t ids[S::SIDE], low, high;
    S::inner(places + S::PLACES * static_cast<size_t>(i / S::INNER), static_cast<int>(i % S::INNER), ids, low, high);
    put_face(cut, out, first_slot + i, NONE, ids, S::SIDE);
}

#define KERNELS(NAME, S)                                                                                              \
    extern "C" __global__ void count_faces_of_##NAME(const Cut cut, uint32_t* owners, uint32_t* neighbours,           \
                                                     uint32_t* counts) {                                              \
        count_face<S>(cut, {owners, neighbours, counts});                                                             \
    }                                                                                                                 \
    extern "C" __global__ void count_inner_of_##NAME(const Cut cut, const uint32_t* places, uint32_t* owners,         \
                                                     uint32_t* neighbours, uint32_t* counts) {                        \
        count_inner_face<S>(cut, places, {owners, neighbours, counts});                                               \
    }                                                                                                                 \
    extern "C" __global__ void put_faces_of_##NAME(const Cut cut, const uint32_t* place, const uint32_t* new_start,   \
                                                   uint32_t* new_points, uint32_t* from, uint32_t* bad,               \
                                                   const uint32_t* rims, uint32_t new_internal, uint32_t* new_rims) { \
        put_old_face<S>(cut, {place, new_start, new_points, from, bad}, {rims, new_internal, new_rims});              \
    }                                                                                                                 \
    extern "C" __global__ void put_inner_of_##NAME(const Cut cut, const uint32_t* places, uint32_t first_slot,        \
                                                   const uint32_t* place, const uint32_t* new_start,                  \
                                                   uint32_t* new_points, uint32_t* from, uint32_t* bad) {             \
        put_inner_face<S>(cut, places, first_slot, {place, new_start, new_points, from, bad});                        \
    }

KERNELS(hexes, Hexes)
KERNELS(tets, Tets)
