// What follows from embedding bodies anew on the blocks of a flow: uncovered cells, and whether bodies may be there
// (`embedded.rs`). Masks are those of `tables.cu`.

#include "forest.cuh"
#include "solver_constants.cuh"

// `Sums` of the device.
struct Sums {
    uint64_t v[3];
};

// The number of cells of each slot that were solid and are not; one thread more than slots, for the total.
extern "C" __global__ void count_uncovered(const uint64_t* before, const uint64_t* now, uint32_t count, Sums* sums) {
    const uint32_t i = thread_index();
    if (i <= count) {
        sums[i] = {{i < count ? static_cast<uint64_t>(__popcll(before[i] & ~now[i])) : 0, 0, 0}};
    }
}

// These cells, 4^D times the slot plus the cell; `sums` are the prefix sums of the above.
extern "C" __global__ void list_uncovered(const uint64_t* before, const uint64_t* now, uint32_t count, const Sums* sums,
                                          uint32_t* cells) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    uint64_t at = sums[i].v[0];
    for (uint64_t mask = before[i] & ~now[i]; mask != 0; mask &= mask - 1) {
        cells[at++] = CELLS * i + __ffsll(static_cast<long long>(mask)) - 1;
    }
}

// By patch its body, or the number of bodies.
struct Owners {
    const uint32_t* of;
    uint32_t bodies;

    __device__ bool moves(uint16_t patch) const {
        return of[patch] < bodies;
    }
};

// Sets the flag where a link of a body is in a slot that exchanges, and where the links of a cell to both sides along an axis end
// at two bodies, or a body and what is at rest, that are too near.
extern "C" __global__ void check_slots(const uint64_t* boundary, uint32_t count, uint32_t exchanging,
                                       const uint32_t* cell_start, const uint64_t* cells, const float* q,
                                       const uint16_t* patch, const uint32_t* owner, uint32_t bodies, uint32_t* flag) {
    const uint32_t slot = thread_index();
    if (slot >= count || boundary[slot] == 0) {
        return;
    }
    const Owners owners{owner, bodies};
    const int middle = DIRECTIONS / 2;
    bool is_fault = false;
    for (uint32_t n = 0; n < __popcll(boundary[slot]); n++) {
        const uint64_t entry = cells[cell_start[slot] + n];
        const uint32_t mask = static_cast<uint32_t>(entry & ((1ull << DIRECTION_BITS) - 1));
        const uint64_t first = entry >> DIRECTION_BITS;
        for (uint32_t link = 0; slot < exchanging && link < __popc(mask); link++) {
            is_fault = is_fault || owners.moves(patch[first + link]);
        }
        for (int axis = 0, direction = 1; axis < D; axis++, direction *= 3) {
            const uint32_t lower = 1u << (middle - direction), upper = 1u << (middle + direction);
            if ((mask & lower) == 0 || (mask & upper) == 0) {
                continue;
            }
            const uint64_t one = first + __popc(mask & (lower - 1)), two = first + __popc(mask & (upper - 1));
            is_fault = is_fault || (owner[patch[one]] != owner[patch[two]] && q[one] + q[two] < NEAREST_BODIES);
        }
    }
    if (is_fault) {
        *flag = 1;
    }
}

// Sets the flag where a row of the mesh's table has a link of a body above the finest level: one thread a row.
extern "C" __global__ void check_rows(const uint32_t* blocks, uint32_t count, const uint8_t* level, uint32_t finest,
                                      const uint32_t* cell_start, const uint64_t* cells, uint64_t cell_count,
                                      uint64_t link_count, const uint16_t* patch, uint32_t has_patches,
                                      const uint32_t* owner, uint32_t bodies, uint32_t* flag) {
    const uint32_t row = thread_index();
    if (row >= count || level[blocks[row]] == finest) {
        return;
    }
    uint64_t link[2];
    for (int n = 0; n < 2; n++) {
        const uint32_t cell = cell_start[row + n];
        link[n] = cell < cell_count ? cells[cell] >> DIRECTION_BITS : link_count;
    }
    const Owners owners{owner, bodies};
    for (uint64_t n = link[0]; n < link[1]; n++) {
        if (owners.moves(has_patches ? patch[n] : 0)) {
            *flag = 1;
            return;
        }
    }
}
