// What kernels read of blocks, and numbers of cells and faces: `blocks.rs` and `faces.rs`.

#pragma once

#include "elliptic_constants.cuh"
#include "forest.cuh"

// Faces of a block along one axis, and of all axes.
constexpr int PER_AXIS = 5 * CELLS / 4;
constexpr int PER_BLOCK = D * PER_AXIS;
constexpr int SIDES = 2 * D;

__device__ constexpr int stride(int axis) {
    return 1 << 2 * axis;
}

// The lower face of a cell along an axis; the upper one is `stride` further.
__device__ constexpr int lower_face(int axis, int cell) {
    return axis * PER_AXIS + (axis == 0 ? cell + (cell >> 2) : axis == 1 ? (cell & 15) + 20 * (cell >> 4) : cell);
}

__device__ constexpr int face_of(int side, int cell) {
    return lower_face(side >> 1, cell) + (side & 1) * stride(side >> 1);
}

// A face of a block by its number: its axis, a cell of which it is the lower face, or the upper one at the end of the
// block.
struct FacePlace {
    int axis, cell, upper;

    __device__ int side() const { return 2 * axis + upper; }
};

__device__ constexpr FacePlace face_place(int face) {
    const int axis = face / PER_AXIS, rest = face % PER_AXIS, step = stride(axis);
    const int along = rest / step % 5;
    const int upper = along == 4;
    return {axis, rest % step + step * (along - upper) + 4 * step * (rest / (5 * step)), upper};
}

// Whether a cell is the block's last one towards a side.
__device__ constexpr bool is_at(int side, int cell) {
    return cell_coord(cell, side >> 1) == (side & 1 ? 3 : 0);
}

// The cell of the next coarser level above a cell of the child with these bits.
__device__ constexpr int cell_above(int corner, int cell) {
    int up = 0;
    for (int a = 0; a < D; a++) {
        up |= (2 * (corner >> a & 1) + (cell_coord(cell, a) >> 1)) << 2 * a;
    }
    return up;
}

// Child and cell of the next finer level at a corner of a cell: `dims::below`.
struct Below {
    int child, cell;
};

__device__ constexpr Below cell_below(int cell, int corner) {
    Below below = {0, 0};
    for (int a = 0; a < D; a++) {
        const int c = cell_coord(cell, a);
        below.child |= (c >> 1) << a;
        below.cell |= (2 * (c & 1) + (corner >> a & 1)) << 2 * a;
    }
    return below;
}

// A cell of the mesh.
struct Cell {
    uint32_t block;
    int cell;

    __device__ uint64_t index() const { return static_cast<uint64_t>(block) * CELLS + cell; }
};

// Tables of the blocks: `DeviceBlocks` of `tables.rs`.
struct Blocks {
    // By block and side: the block there, perhaps with COARSER; OUTSIDE beyond the box.
    const uint32_t* beside;
    // NONE of leaves, and of root blocks.
    const uint32_t* first_child;
    const uint32_t* parent;
    const uint8_t* level;
    // Coordinates at the block's level, D a block.
    const int32_t* coord;

    __device__ bool is_leaf(uint32_t block) const { return first_child[block] == NONE; }

    __device__ bool is_finer(uint32_t block, int side) const {
        const uint32_t other = beside[block * static_cast<uint64_t>(SIDES) + side];
        return other < COARSER && !is_leaf(other);
    }

    // Bits of the block's place among its parent's children.
    __device__ int corner(uint32_t block) const {
        int bits = 0;
        for (int a = 0; a < D; a++) {
            bits |= (coord[block * static_cast<uint64_t>(D) + a] & 1) << a;
        }
        return bits;
    }

    // The cell of the coarser leaf beyond a side, beside a cell that is at it.
    __device__ int coarser_cell(uint32_t block, int side, int cell) const {
        const int axis = side >> 1;
        const int up = cell_above(corner(block), cell) & ~(3 << 2 * axis);
        return side & 1 ? up : up | 3 << 2 * axis;
    }

    // The cell beyond a side of a cell: of the same level, in a leaf or a refined block, or the coarser leaf's; of
    // block OUTSIDE beyond the box.
    __device__ Cell next(uint32_t block, int cell, int side) const {
        const int step = side & 1 ? stride(side >> 1) : -stride(side >> 1);
        if (!is_at(side, cell)) {
            return {block, cell + step};
        }
        const uint32_t other = beside[block * static_cast<uint64_t>(SIDES) + side];
        if (other == OUTSIDE) {
            return {OUTSIDE, 0};
        }
        if (other >= COARSER) {
            return {other & ~COARSER, coarser_cell(block, side, cell)};
        }
        return {other, cell - 3 * step};
    }

    // The k-th of the finer cells beyond a side of a leaf, whose neighbour there is refined, beside a cell that is at
    // it.
    __device__ Cell finer(uint32_t other, int side, int cell, int k) const {
        const int axis = side >> 1;
        const int across = cell ^ 3 << 2 * axis;
        int corner = 0, bit = 0;
        for (int a = 0; a < D; a++) {
            corner |= (a == axis ? 1 - (side & 1) : k >> bit++ & 1) << a;
        }
        const Below below = cell_below(across, corner);
        return {first_child[other] + below.child, below.cell};
    }
};
