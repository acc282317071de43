// Coefficients on all levels, and their checks: `faces.rs` and `host/prepare.rs`.

#include "operator.cuh"

// Faces of a level's refined blocks, and of its leaves beside finer ones, from the fine faces. One thread a face.
extern "C" __global__ void restrict_faces(Blocks blocks, uint32_t first, uint32_t count, double same, double jump,
                                          double* values) {
    const uint32_t index = thread_index();
    if (index >= count * PER_BLOCK) {
        return;
    }
    const uint32_t block = first + index / PER_BLOCK;
    const FacePlace face = face_place(index % PER_BLOCK);
    const uint32_t child = blocks.first_child[block];
    const int side = face.side();
    const bool at_edge = is_at(side, face.cell);
    const uint32_t other = at_edge ? blocks.beside[block * static_cast<uint64_t>(SIDES) + side] : OUTSIDE;
    const auto value = [&](Cell fine, int of_side) {
        return values[fine.block * static_cast<uint64_t>(PER_BLOCK) + face_of(of_side, fine.cell)];
    };
    double sum = child == NONE ? -0.0 : 0.0;
    double factor = jump;
    if (child == NONE) {
        if (other >= COARSER || blocks.is_leaf(other)) {
            return;
        }
        for (int k = 0; k < CHILDREN / 2; k++) {
            sum += value(blocks.finer(other, side, face.cell, k), side ^ 1);
        }
    } else {
        for (int k = 0; k < CHILDREN; k++) {
            if ((k >> face.axis & 1) == face.upper) {
                const Below below = cell_below(face.cell, k);
                sum += value({child + below.child, below.cell}, side);
            }
        }
        factor = other < COARSER && blocks.is_leaf(other) ? jump : same;
    }
    values[block * static_cast<uint64_t>(PER_BLOCK) + index % PER_BLOCK] = factor * sum;
}

// Bits of the open faces of a block, and of the cells that a diagonal holds: `OpenFaces` of `regions.rs`.
static_assert(PER_BLOCK <= 32 * OF_FACES && CELLS <= 32 * OF_CELLS, "a bit for each");

// One thread block of 256 threads a block.
extern "C" __global__ void open_faces(const double* conductance, const double* diagonal, uint32_t has_diagonal,
                                      uint32_t* out) {
    const int i = threadIdx.x, warp = i / 32;
    const bool is_open = i < PER_BLOCK && conductance[blockIdx.x * static_cast<uint64_t>(PER_BLOCK) + i] > 0.0;
    const bool is_held =
        has_diagonal && i < CELLS && diagonal[blockIdx.x * static_cast<uint64_t>(CELLS) + i] > 0.0;
    const uint32_t open = __ballot_sync(~0u, is_open), held = __ballot_sync(~0u, is_held);
    uint32_t* const own = out + blockIdx.x * static_cast<uint64_t>(OF_FACES + OF_CELLS);
    if (i % 32 == 0 && warp < OF_FACES) {
        own[warp] = open;
    }
    if (i % 32 == 0 && warp < OF_CELLS) {
        own[OF_FACES + warp] = held;
    }
}

// The first leaf that has a negative, infinite or NaN value; `per` values a block. One thread a value.
extern "C" __global__ void first_bad(Blocks blocks, uint64_t count, uint32_t per, const double* values,
                                     uint32_t* first) {
    const uint64_t index = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= count) {
        return;
    }
    const double value = values[index];
    const uint32_t block = static_cast<uint32_t>(index / per);
    if (!(isfinite(value) && value >= 0.0) && blocks.is_leaf(block)) {
        atomicMin(first, block);
    }
}

// The first leaf of which a face would be opened or closed. One thread a face.
extern "C" __global__ void first_opened(Blocks blocks, uint64_t count, const double* before, const double* now,
                                        uint32_t* first) {
    const uint64_t index = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= count || (before[index] > 0.0) == (now[index] > 0.0)) {
        return;
    }
    const uint32_t block = static_cast<uint32_t>(index / PER_BLOCK);
    const FacePlace face = face_place(index % PER_BLOCK);
    const int side = face.side();
    // Faces beside finer blocks follow from those.
    const bool follows = is_at(side, face.cell) && blocks.is_finer(block, side);
    if (blocks.is_leaf(block) && !follows) {
        atomicMin(first, block);
    }
}

__device__ double one_over(double sum) {
    return sum > 0.0 ? 1.0 / sum : 0.0;
}

// One thread a cell.
extern "C" __global__ void inverses(Operator op, uint32_t cells, double* inverse) {
    const uint32_t index = thread_index();
    if (index < cells) {
        const double* const t = op.faces(index / CELLS);
        double sum = -0.0;
        for (int side = 0; side < SIDES; side++) {
            sum += t[face_of(side, index % CELLS)];
        }
        inverse[index] = one_over(sum + (op.diagonal ? op.diagonal[index] : 0.0));
    }
}

// The least share of the diagonal. One thread a cell.
extern "C" __global__ void least_share(Operator op, uint32_t cells, unsigned long long* least) {
    const uint32_t index = thread_index();
    // Numbers that are not negative are ordered as their bits.
    long long bits = __double_as_longlong(1.0);
    if (index < cells && op.blocks.is_leaf(index / CELLS) && op.inverse[index] > 0.0) {
        bits = min(bits, __double_as_longlong(op.diagonal[index] * op.inverse[index]));
    }
    for (int other = 16; other > 0; other /= 2) {
        bits = min(bits, __shfl_down_sync(~0u, bits, other));
    }
    if (threadIdx.x % 32 == 0) {
        atomicMin(least, static_cast<unsigned long long>(bits));
    }
}

// One thread a cell of a coarse layer.
extern "C" __global__ void layer_inverses(Operator op, Layers layers, uint32_t cells, double* inverse) {
    const uint32_t index = thread_index();
    if (index >= cells) {
        return;
    }
    const uint32_t block = layers.block[index / CELLS];
    const int cell = index % CELLS;
    double sum = op.diagonal ? op.diagonal[block * static_cast<uint64_t>(CELLS) + cell] : 0.0;
    for (int side = 0; side < SIDES; side++) {
        if (is_at(side, cell) && op.blocks.is_finer(block, side)) {
            const uint32_t other = op.blocks.beside[block * static_cast<uint64_t>(SIDES) + side];
            double fine = -0.0;
            for (int k = 0; k < CHILDREN / 2; k++) {
                const Cell below = op.blocks.finer(other, side, cell, k);
                fine += op.faces(below.block)[face_of(side ^ 1, below.cell)];
            }
            sum += fine;
        } else {
            sum += op.faces(block)[face_of(side, cell)];
        }
    }
    inverse[index] = one_over(sum);
}
