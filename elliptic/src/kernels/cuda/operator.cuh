// The operator on cells: `host/apply.rs`.

#pragma once

#include "blocks.cuh"

// Coefficients: `OperatorAddresses` of `mod.rs`.
struct Operator {
    Blocks blocks;
    const double* conductance;
    // None: nothing.
    const double* diagonal;
    const double* inverse;

    // What multiplies a cell's own value beside its faces, times the value.
    __device__ double own(uint64_t cell, double value) const { return diagonal ? diagonal[cell] * value : 0.0; }

    __device__ const double* faces(uint32_t block) const {
        return conductance + block * static_cast<uint64_t>(PER_BLOCK);
    }

    // On a cell of a block, as on a mesh whose finest level is the block's. `coarse` has the values of coarser leaves.
    __device__ double on_level(const double* x, const double* coarse, uint32_t block, int cell) const {
        const double* const t = faces(block);
        const uint64_t index = block * static_cast<uint64_t>(CELLS) + cell;
        const double value = x[index];
        double sum = own(index, value);
        for (int side = 0; side < SIDES; side++) {
            sum += t[face_of(side, cell)] * (value - beyond(x, coarse, block, cell, side));
        }
        return sum;
    }

    // On a cell of a leaf, with the finer cells beside it, whose values `finer_x` has.
    __device__ double on_leaf(const double* x, const double* finer_x, uint32_t block, int cell) const {
        const double* const t = faces(block);
        const uint64_t index = block * static_cast<uint64_t>(CELLS) + cell;
        const double value = x[index];
        double sum = own(index, value);
        uint32_t finer = 0;
        for (int side = 0; side < SIDES; side++) {
            const bool is_finer = is_at(side, cell) && blocks.is_finer(block, side);
            finer |= static_cast<uint32_t>(is_finer) << side;
            // No flux by the coarse face: the fine faces below have it.
            sum += t[face_of(side, cell)] * (value - (is_finer ? value : beyond(x, x, block, cell, side)));
        }
        for (int side = 0; finer >> side; side++) {
            if (!(finer >> side & 1)) {
                continue;
            }
            const uint32_t other = blocks.beside[block * static_cast<uint64_t>(SIDES) + side];
            for (int k = 0; k < CHILDREN / 2; k++) {
                const Cell fine = blocks.finer(other, side, cell, k);
                sum += faces(fine.block)[face_of(side ^ 1, fine.cell)] * (value - finer_x[fine.index()]);
            }
        }
        return sum;
    }

private:
    // The value beyond a side; 0 beyond the box.
    __device__ double beyond(const double* x, const double* coarse, uint32_t block, int cell, int side) const {
        const int step = side & 1 ? stride(side >> 1) : -stride(side >> 1);
        if (!is_at(side, cell)) {
            return x[block * static_cast<uint64_t>(CELLS) + cell + step];
        }
        const uint32_t other = blocks.beside[block * static_cast<uint64_t>(SIDES) + side];
        if (other == OUTSIDE) {
            return 0.0;
        }
        if (other >= COARSER) {
            return coarse[(other & ~COARSER) * static_cast<uint64_t>(CELLS) + blocks.coarser_cell(block, side, cell)];
        }
        return x[other * static_cast<uint64_t>(CELLS) + cell - 3 * step];
    }
};
static_assert(sizeof(Operator) == 64, "as Rust has it");

// Blocks of a level, and places of its coarse layers in lists: `LevelRange` of `mod.rs`.
struct Level {
    uint32_t first, count, first_place, places;
};

// Coarse layers: `LayerAddresses` of `mod.rs`.
struct Layers {
    const uint32_t* block;
    const uint64_t* cells;
};
