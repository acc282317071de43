// Sums over the leaves and the cut links of a mesh. See the twin for what is summed.

#include "forest.cuh"
#include "voxelizer_constants.cuh"

// `mix`, `mix_with` and one more word of `mix_all`: `checksum.rs`.
__device__ inline uint64_t mix(uint64_t word) {
    uint64_t z = word + 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

__device__ inline uint64_t mix_with(uint64_t sequence, uint64_t mixed) {
    return mix(sequence ^ mixed);
}

__device__ inline uint64_t mix_next(uint64_t sequence, uint64_t word) {
    return mix_with(sequence, mix(word));
}

__device__ inline uint64_t block_key(uint32_t level, Ints coord) {
    uint64_t key = mix_next(0, level);
    for (int a = 0; a < D; a++) {
        key = mix_next(key, static_cast<uint32_t>(coord.v[a]));
    }
    return key;
}

// Adds the values of a warp's lanes to a number. By all of them together.
__device__ inline void add_up(uint64_t value, uint64_t* to) {
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_down_sync(~0u, value, step);
    }
    if ((threadIdx.x & 31) == 0 && value != 0) {
        atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
    }
}

extern "C" __global__ void tally_leaves(const uint32_t* ids, uint32_t count, uint32_t level, uint32_t levels,
                                        const Ints* coord, const uint32_t* first_child, const uint64_t* solid,
                                        const uint64_t* boundary, const uint64_t* ghost, const uint64_t* interface,
                                        uint64_t* sums) {
    uint64_t blocks = 0, at_boundary = 0, in_solid = 0, checksum = 0;
    for (size_t i = thread_index(); i < count; i += gridDim.x * blockDim.x) {
        const uint32_t id = ids[i];
        if (first_child[id] != NONE) {
            continue;
        }
        blocks++;
        at_boundary += __popcll(boundary[id]);
        in_solid += __popcll(solid[id]);
        uint64_t mixed = mix_next(0, block_key(level, coord[id]));
        mixed = mix_next(mixed, solid[id]);
        mixed = mix_next(mixed, boundary[id]);
        mixed = mix_next(mixed, ghost[id]);
        checksum += mix_next(mixed, interface[id]);
    }
    add_up(blocks, sums + 3 * level);
    add_up(at_boundary, sums + 3 * level + 1);
    add_up(in_solid, sums + 3 * level + 2);
    add_up(checksum, sums + 3 * levels);
}

// A block and the blocks of its level around it: which there are, a bit for each direction, and their solid cells.
struct Around {
    uint32_t there;
    const uint64_t* solid;

    // The direction of the block of a cell, seen from the block's first one, at most a block away.
    __device__ static int direction_of(Ints at) {
        int direction = 0;
        for (int a = D - 1; a >= 0; a--) {
            direction = direction * 3 + (at.v[a] >> 2) + 1;
        }
        return direction;
    }

    __device__ static int cell_of(Ints at) {
        int cell = 0;
        for (int a = D - 1; a >= 0; a--) {
            cell = cell * 4 + (at.v[a] & 3);
        }
        return cell;
    }

    __device__ bool is_solid(Ints at) const {
        return solid[direction_of(at)] >> cell_of(at) & 1;
    }

    // Whether there is a fluid cell of the level.
    __device__ bool is_fluid(Ints at) const {
        return (there >> direction_of(at) & 1) && !is_solid(at);
    }

    __device__ static Ints beside(Ints at, int direction) {
        for (int a = 0; a < D; a++) {
            at.v[a] += step(direction, a);
        }
        return at;
    }

    __device__ bool is_beside_solid(Ints at) const {
        bool found = false;
        for (int direction = 0; direction < DIRECTIONS && !found; direction++) {
            found = is_solid(beside(at, direction));
        }
        return found;
    }
};

__device__ inline bool is_along_axis(int direction) {
    int axes = 0;
    for (int a = 0; a < D; a++) {
        axes += step(direction, a) != 0;
    }
    return axes == 1;
}

// A warp for each row, a lane for each cell.
extern "C" __global__ void tally_links(const uint32_t* blocks, uint32_t rows, uint32_t levels, Root root,
                                       const uint32_t* families, const uint8_t* level, const Ints* coord,
                                       const uint32_t* first_child, const uint64_t* solid, const uint64_t* boundary,
                                       const uint32_t* cell_start, const uint64_t* cells, const float* q,
                                       const uint16_t* patch, uint32_t has_patches, uint64_t* thin, uint8_t* flags,
                                       uint64_t* sums) {
    __shared__ uint64_t masks[TALLY_WARPS][DIRECTIONS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint64_t checksum = 0, links = 0;
    for (size_t row = thread_index() / 32; row < rows; row += gridDim.x * blockDim.x / 32) {
        const uint32_t id = blocks[row];
        const uint32_t n = lane < DIRECTIONS ? neighbor(root, families, id, lane) : NONE;
        const bool is_there = n < OUTSIDE;
        if (lane < DIRECTIONS) {
            masks[warp][lane] = is_there ? solid[n] : 0;
        }
        const Around around = {__ballot_sync(~0u, is_there), masks[warp]};
        __syncwarp();
        const bool is_leaf = first_child[id] == NONE;
        const uint64_t of_block = mix_next(0, block_key(level[id], coord[id]));
        const uint64_t mask = boundary[id];
        const uint32_t start = cell_start[row];
        uint64_t thin_cells = 0;
        for (int cell = lane; cell < CELLS; cell += 32) {
            if (!(mask >> cell & 1)) {
                continue;
            }
            const uint64_t entry = cells[start + __popcll(mask & ((1ull << cell) - 1))];
            uint32_t left = static_cast<uint32_t>(entry & ((1ull << DIRECTION_BITS) - 1));
            const uint64_t first = entry >> DIRECTION_BITS;
            const uint64_t of_cell = mix_next(of_block, static_cast<uint64_t>(cell) << 32 | left);
            Ints at;
            for (int a = 0; a < D; a++) {
                at.v[a] = cell_coord(cell, a);
            }
            for (uint32_t k = 0; left != 0; k++) {
                const int direction = __ffs(static_cast<int>(left)) - 1;
                left &= left - 1;
                if (is_leaf) {
                    const uint64_t of_patch = has_patches ? patch[first + k] : 0;
                    const uint64_t what = __float_as_uint(q[first + k]) | of_patch << 32;
                    checksum += mix_next(mix_next(of_cell, k), what);
                }
                const Ints end = Around::beside(at, direction);
                if (around.is_fluid(end)) {
                    links++;
                    if (is_along_axis(direction) && !around.is_beside_solid(at) && !around.is_beside_solid(end)) {
                        thin_cells |= 1ull << cell;
                    }
                }
            }
        }
        const uint32_t low = __reduce_or_sync(~0u, static_cast<uint32_t>(thin_cells));
        const uint32_t high = __reduce_or_sync(~0u, static_cast<uint32_t>(thin_cells >> 32));
        if (lane == 0) {
            thin[row] = low | static_cast<uint64_t>(high) << 32;
            flags[row] = (low | high) != 0;
        }
        // The masks are overwritten next.
        __syncwarp();
    }
    add_up(checksum, sums + 3 * levels);
    add_up(links, sums + 3 * levels + 1);
}

extern "C" __global__ void gather_thin(const uint32_t* rows, uint32_t count, const uint32_t* blocks,
                                       const uint64_t* cells, const uint8_t* level, const Ints* coord,
                                       uint32_t* to_blocks, uint64_t* to_cells, uint8_t* to_level, Ints* to_coord) {
    const uint32_t i = thread_index();
    if (i < count) {
        const uint32_t row = rows[i], id = blocks[row];
        to_blocks[i] = id;
        to_cells[i] = cells[row];
        to_level[i] = level[id];
        to_coord[i] = coord[id];
    }
}
