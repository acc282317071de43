// The tables of a level: which blocks have slots, in what order, and what is in and around them (`tables.rs`).

#include "forest.cuh"
#include "solver_constants.cuh"

// `Sums` of the device.
struct Sums {
    uint64_t v[3];
};

extern "C" __global__ void take_children(const uint32_t* children, uint32_t count, uint32_t* slot_of) {
    const uint32_t i = thread_index();
    if (i < count) {
        slot_of[children[i]] = i;
    }
}

// The kinds of a level's blocks by id, and for each block which of the three sorts of slots it takes, if it is not one of the
// children that have theirs. One thread more than blocks, so that the sums before it are the totals.
extern "C" __global__ void sort_blocks(const uint32_t* ids, uint32_t count, Root root, const uint32_t* families,
                                       const uint32_t* first_child, const uint64_t* solid, const uint64_t* boundary,
                                       const uint32_t* slot_of, uint8_t* kinds, Sums* sums) {
    const uint32_t i = thread_index();
    if (i > count) {
        return;
    }
    if (i == count) {
        sums[i] = {};
        return;
    }
    const uint32_t id = ids[i];
    const bool leaf = first_child[id] == NONE;
    bool to_leaf = false, to_refined = false, to_solid = false, ends = false;
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        const uint32_t next = neighbor(root, families, id, direction);
        if (next >= OUTSIDE) {
            ends = true;
            continue;
        }
        const bool next_is_leaf = first_child[next] == NONE;
        to_leaf = to_leaf || next_is_leaf;
        to_refined = to_refined || !next_is_leaf;
        to_solid = to_solid || solid[next] != 0;
    }
    const bool overlap = !leaf && to_leaf;
    const bool slot = leaf || overlap, exchanges = overlap || to_refined;
    const bool special = ends || to_solid || boundary[id] != 0;
    kinds[id] = (slot ? HAS_SLOT : 0) | (overlap ? OVERLAP : 0) | (exchanges ? EXCHANGES : 0) | (special ? IS_SPECIAL : 0);
    const bool own = slot && slot_of[id] == NONE;
    sums[i] = {{own && exchanges, own && !exchanges && special, own && !exchanges && !special}};
}

// Slots in the order: children, exchanging, special, plain; `sums` are the prefix sums of the above.
extern "C" __global__ void order_blocks(const uint32_t* ids, uint32_t count, const uint8_t* kinds, const Sums* sums,
                                        uint32_t exchanging, uint32_t special, uint32_t plain, uint32_t* slot_of,
                                        uint32_t* blocks) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t id = ids[i];
    const uint8_t kind = kinds[id];
    if (!(kind & HAS_SLOT) || slot_of[id] != NONE) {
        return;
    }
    const int sort = kind & EXCHANGES ? 0 : kind & IS_SPECIAL ? 1 : 2;
    const uint32_t first = sort == 0 ? exchanging : sort == 1 ? special : plain;
    const uint32_t slot = first + static_cast<uint32_t>(sums[i].v[sort]);
    slot_of[id] = slot;
    blocks[slot] = id;
}

extern "C" __global__ void flag_overlaps(const uint32_t* blocks, uint32_t count, const uint8_t* kinds, uint8_t* flags) {
    const uint32_t i = thread_index();
    if (i < count) {
        flags[i] = (kinds[blocks[i]] & OVERLAP) != 0;
    }
}

extern "C" __global__ void name_overlaps(const uint32_t* overlaps, uint32_t count, const uint32_t* blocks,
                                         const uint32_t* first_child, uint32_t* overlap_of, uint32_t* children) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t slot = overlaps[i], first = first_child[blocks[slot]];
    overlap_of[slot] = i;
    for (uint32_t child = 0; child < CHILDREN; child++) {
        children[i * CHILDREN + child] = first + child;
    }
}

// One thread a slot and direction.
extern "C" __global__ void find_neighbors(const uint32_t* blocks, uint32_t count, Root root, const uint32_t* families,
                                          const uint32_t* slot_of, uint32_t* neighbors) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= static_cast<size_t>(count) * DIRECTIONS) {
        return;
    }
    const uint32_t next = neighbor(root, families, blocks[i / DIRECTIONS], static_cast<int>(i % DIRECTIONS));
    neighbors[i] = next < OUTSIDE ? slot_of[next] : next;
}

extern "C" __global__ void gather_masks(const uint32_t* blocks, uint32_t count, const Ints* coords,
                                        const uint32_t* first_child, const uint64_t* solids, const uint64_t* ghosts,
                                        Ints* coord, uint64_t* stepped, uint64_t* solid, uint64_t* ghost) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const uint32_t id = blocks[i], first = first_child[id];
    coord[i] = coords[id];
    solid[i] = solids[id];
    uint64_t own = FULL & ~solids[id];
    if (first == NONE) {
        ghost[i] = ghosts[id];
    } else {
        ghost[i] = 0;
        // A refined block steps the cells over those that are ghosts of the finer level.
        uint64_t over = 0;
        for (int cell = 0; cell < CELLS; cell++) {
            int child = 0, corner = 0;
            for (int a = 0; a < D; a++) {
                const int x = cell_coord(cell, a);
                child |= (x >> 1) << a;
                corner |= (2 * (x & 1)) << 2 * a;
            }
            over |= (ghosts[first + child] >> corner & 1) << cell;
        }
        own &= over;
    }
    stepped[i] = own;
}

// The mesh's table of cut links.
struct Table {
    const uint32_t* row_of;
    const uint32_t* cell_start;
    const uint64_t* cells;
    uint64_t cell_count, link_count;

    // First and last entries of a block, and the first and last of its links.
    __device__ void row(uint32_t id, bool leaf, uint64_t (&cell)[2], uint64_t (&link)[2]) const {
        const uint32_t row = row_of[id];
        if (row == NONE || !leaf) {
            cell[0] = cell[1] = link[0] = link[1] = 0;
            return;
        }
        for (int n = 0; n < 2; n++) {
            cell[n] = cell_start[row + n];
            link[n] = cell[n] < cell_count ? cells[cell[n]] >> DIRECTION_BITS : link_count;
        }
    }
};

// Boundary masks of special slots, and the numbers of their cut cells and links; one thread more than slots, for the totals.
extern "C" __global__ void count_cuts(const uint32_t* blocks, uint32_t count, const uint32_t* first_child,
                                      const uint64_t* boundaries, const uint32_t* row_of, const uint32_t* cell_start,
                                      const uint64_t* cells, uint64_t cell_count, uint64_t link_count,
                                      uint64_t* boundary, Sums* sums) {
    const uint32_t i = thread_index();
    if (i > count) {
        return;
    }
    if (i == count) {
        sums[i] = {};
        return;
    }
    const uint32_t id = blocks[i];
    uint64_t cell[2], link[2];
    Table{row_of, cell_start, cells, cell_count, link_count}.row(id, first_child[id] == NONE, cell, link);
    boundary[i] = cell[0] == cell[1] ? 0 : boundaries[id];
    sums[i] = {{cell[1] - cell[0], link[1] - link[0], 0}};
}

// One warp a slot; `sums` are the prefix sums of the above.
extern "C" __global__ void copy_cuts(const uint32_t* blocks, uint32_t count, const uint32_t* first_child,
                                     const uint32_t* row_of, const uint32_t* table_start, const uint64_t* table_cells,
                                     uint64_t cell_count, uint64_t link_count, const float* table_q,
                                     const uint16_t* table_patch, uint32_t has_patches, const Sums* sums,
                                     uint32_t* cell_start, uint64_t* cells, float* q, uint16_t* patch) {
    const uint32_t slot = thread_index() / 32, lane = threadIdx.x % 32;
    if (slot >= count) {
        return;
    }
    const uint32_t id = blocks[slot];
    uint64_t cell[2], link[2];
    Table{row_of, table_start, table_cells, cell_count, link_count}.row(id, first_child[id] == NONE, cell, link);
    const Sums at = sums[slot];
    if (lane == 0) {
        cell_start[slot] = static_cast<uint32_t>(at.v[0]);
    }
    for (uint64_t n = lane; n < cell[1] - cell[0]; n += 32) {
        const uint64_t entry = table_cells[cell[0] + n];
        const uint64_t first = (entry >> DIRECTION_BITS) - link[0] + at.v[1];
        cells[at.v[0] + n] = (entry & ((1ull << DIRECTION_BITS) - 1)) | first << DIRECTION_BITS;
    }
    for (uint64_t n = lane; n < link[1] - link[0]; n += 32) {
        q[at.v[1] + n] = table_q[link[0] + n];
        patch[at.v[1] + n] = has_patches ? table_patch[link[0] + n] : 0;
    }
}

extern "C" __global__ void flag_walls(const uint64_t* boundary, uint32_t count, uint32_t exchanging,
                                      const uint32_t* neighbors, const uint64_t* solid, uint32_t slots, uint8_t* linked,
                                      uint8_t* walled, uint8_t* faced, uint8_t* bounded, uint8_t* cut,
                                      uint8_t* open) {
    const uint32_t i = thread_index();
    if (i >= count) {
        return;
    }
    const bool link = boundary[i] != 0;
    bool ends = false, solids = false;
    int outside = 0;
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        const uint32_t next = neighbors[static_cast<size_t>(i) * DIRECTIONS + direction];
        outside += next == OUTSIDE;
        ends = ends || next == NONE;
        solids = solids || (next < slots && solid[next] != 0);
    }
    const bool face = i >= exchanging && !ends && !solids && !link && outside == DIRECTIONS / 3;
    linked[i] = link;
    walled[i] = link || outside > 0;
    faced[i] = face;
    bounded[i] = outside > 0 && !face;
    cut[i] = outside == 0 && (link || solids);
    open[i] = outside == 0 && !link && !solids;
}
