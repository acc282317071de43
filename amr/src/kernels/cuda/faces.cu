// Codes of faces and the table of hanging ones.

#include "linear.cuh"

constexpr uint32_t FACES = 2 * D;
constexpr uint32_t ID = (1u << FACE_ID_BITS) - 1;

// The bits of a child's number without that of an axis: `sub_face` of `linear/faces.rs`.
__device__ uint32_t sub_face(int child, int axis) {
    const int low = child & ((1 << axis) - 1);
    return static_cast<uint32_t>(low | child >> (axis + 1) << axis);
}

// One thread a face. Those with finer leaves beyond are counted: 1 in `hanging`, and a 0 behind the last face.
extern "C" __global__ void write_codes(KeyGrid grid, const uint64_t* keys, uint32_t count, uint32_t* codes,
                                       uint32_t* hanging) {
    const uint32_t i = thread_index();
    if (i >= count * FACES) {
        if (i == count * FACES) {
            hanging[i] = 0;
        }
        return;
    }
    const uint64_t key = keys[i / FACES];
    const int face = static_cast<int>(i % FACES), axis = face / 2;
    const uint32_t own = level_of(key);
    uint64_t at = morton(key);
    const int child = child_number(grid, at, own);
    uint32_t code = FACE_OUTSIDE << FACE_ID_BITS;
    bool hangs = false;
    if (beside(grid, at, own, axis, face % 2 == 1)) {
        const uint32_t other = holder(keys, count, at);
        const uint32_t there = level_of(keys[other]);
        hangs = there > own;
        if (there == own) {
            code = other;
        } else if (there < own) {
            code = (FACE_COARSER + sub_face(child, axis)) << FACE_ID_BITS | other;
        } else {
            code = FACE_FINER << FACE_ID_BITS;
        }
    }
    codes[i] = code;
    hanging[i] = hangs;
}

// `slot` is the number of hanging faces before each face. A hanging face gets its slot, and is listed there; the finer
// leaves write themselves to their places in the table.
extern "C" __global__ void write_slots(uint32_t count, const uint32_t* slot, uint32_t* codes, uint32_t* slots,
                                       uint32_t* table) {
    const uint32_t i = thread_index();
    if (i >= count * FACES) {
        return;
    }
    const uint32_t code = codes[i], kind = code >> FACE_ID_BITS;
    if (kind == FACE_FINER) {
        codes[i] = code | slot[i];
        slots[slot[i]] = i;
    } else if (kind >= FACE_COARSER) {
        const uint32_t there = slot[(code & ID) * FACES + (i % FACES ^ 1)];
        table[there * (CHILDREN / 2) + (kind - FACE_COARSER)] = i / FACES;
    }
}
