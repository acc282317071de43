// New faces: `cpu/outlines.rs`.

#include "hex.cuh"

// The i-th place of an inner face of a split cell: face 4 a + q is the quarter q across axis a.
__device__ inline int inner_place(int face, int i) {
    const int axis = face / 4, quarter = face % 4;
    const int du = i == 1 || i == 2, dv = i >= 2;
    const int steps[3] = {1, 3, 9};
    return steps[axis] + ((quarter & 1) + du) * steps[(axis + 1) % 3] + ((quarter >> 1) + dv) * steps[(axis + 2) % 3];
}

// The child on the lower side of an inner face.
__device__ inline uint32_t inner_child(int face) {
    const int axis = face / 4, quarter = face % 4;
    return static_cast<uint32_t>((quarter & 1) << (axis + 1) % 3 | (quarter >> 1) << (axis + 2) % 3);
}

__device__ inline uint32_t count_points(const Cut& cut, const uint32_t* ids, uint32_t count) {
    uint32_t points = 0;
    outline_of(cut, ids, count, [&](uint32_t) { points++; });
    return points;
}

extern "C" __global__ void count_faces(CUT, uint32_t faces, uint32_t* owners, uint32_t* neighbours, uint32_t* counts) {
    const uint32_t face = thread_index();
    if (face >= faces) {
        return;
    }
    const Cut cut = CUT_OF;
    const uint32_t slot = slot_of(cut, face), center = center_of_face(cut, face);
    if (center == NONE) {
        owners[slot] = behind(cut, owner[face], face, NONE);
        if (face < internal) {
            neighbours[slot] = behind(cut, neighbour[face], face, NONE);
        }
        const uint32_t at = face_start[face];
        counts[slot] = count_points(cut, face_points + at, face_start[face + 1] - at);
        return;
    }
    uint32_t quarters[4][4];
    quarters_of(cut, face, center, quarters);
    for (int i = 0; i < 4; i++) {
        owners[slot + i] = behind(cut, owner[face], face, quarters[i][0]);
        if (face < internal) {
            neighbours[slot + i] = behind(cut, neighbour[face], face, quarters[i][0]);
        }
        counts[slot + i] = count_points(cut, quarters[i], 4);
    }
}

// The arrays begin at the first slot of inner faces.
extern "C" __global__ void count_inner(CUT, const uint32_t* cells, const uint32_t* places, uint32_t* owners,
                                       uint32_t* neighbours, uint32_t* counts) {
    const uint32_t i = thread_index();
    if (i >= 12 * marked) {
        return;
    }
    const Cut cut = CUT_OF;
    const int face = static_cast<int>(i % 12);
    const uint32_t* own = places + 27 * static_cast<size_t>(i / 12);
    const uint32_t child = first[cells[i / 12]] + inner_child(face);
    uint32_t ids[4];
    for (int k = 0; k < 4; k++) {
        ids[k] = own[inner_place(face, k)];
    }
    owners[i] = child;
    neighbours[i] = child + (1u << face / 4);
    counts[i] = count_points(cut, ids, 4);
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

extern "C" __global__ void put_faces(CUT, uint32_t faces, const uint32_t* place, const uint32_t* new_start,
                                     uint32_t* new_points, uint32_t* from, uint32_t* bad, const uint32_t* rims,
                                     uint32_t new_internal, uint32_t* new_rims) {
    const uint32_t face = thread_index();
    if (face >= faces) {
        return;
    }
    const Cut cut = CUT_OF;
    const Out out = {place, new_start, new_points, from, bad};
    const uint32_t slot = slot_of(cut, face), center = center_of_face(cut, face);
    if (center == NONE) {
        const uint32_t at = face_start[face];
        const uint32_t to = put_face(cut, out, slot, face, face_points + at, face_start[face + 1] - at);
        if (face >= internal) {
            new_rims[to - new_internal] = rims[face - internal];
        }
        return;
    }
    uint32_t quarters[4][4];
    quarters_of(cut, face, center, quarters);
    for (int i = 0; i < 4; i++) {
        const uint32_t to = put_face(cut, out, slot + i, face, quarters[i], 4);
        if (face >= internal) {
            new_rims[to - new_internal] = rims[face - internal];
        }
    }
}

extern "C" __global__ void put_inner(CUT, const uint32_t* places, uint32_t first_slot, const uint32_t* place,
                                     const uint32_t* new_start, uint32_t* new_points, uint32_t* from, uint32_t* bad) {
    const uint32_t i = thread_index();
    if (i >= 12 * marked) {
        return;
    }
    const Cut cut = CUT_OF;
    const Out out = {place, new_start, new_points, from, bad};
    const uint32_t* own = places + 27 * static_cast<size_t>(i / 12);
    uint32_t ids[4];
    for (int k = 0; k < 4; k++) {
        ids[k] = own[inner_place(static_cast<int>(i % 12), k)];
    }
    put_face(cut, out, first_slot + i, NONE, ids, 4);
}
