// Between levels: `host/transfer.rs`.

#include "operator.cuh"

// One thread a cell.
extern "C" __global__ void begin_cycle(Blocks blocks, uint32_t cells, const double* r, double* z, double* b) {
    const uint32_t index = thread_index();
    if (index < cells) {
        z[index] = 0.0;
        if (blocks.is_leaf(index / CELLS)) {
            b[index] = r[index];
        }
    }
}

// One thread a cell of the level's coarse layers.
extern "C" __global__ void save_layers(Level level, Layers layers, const double* from, double* to) {
    const uint32_t index = thread_index();
    if (index < level.places * CELLS) {
        const uint32_t place = level.first_place + index / CELLS;
        to[place * static_cast<uint64_t>(CELLS) + index % CELLS] =
            from[layers.block[place] * static_cast<uint64_t>(CELLS) + index % CELLS];
    }
}

// Residuals of a level's cells into `d`, and what the layers' corrections take from the right side of the leaves that
// they touch. One thread a cell, those of touched leaves last.
extern "C" __global__ void residuals(Operator op, Level level, const uint32_t* touched, uint32_t first_touched,
                                     uint32_t touched_count, const double* x, double* b, double* d) {
    const uint32_t index = thread_index(), own = level.count * CELLS;
    const int cell = index % CELLS;
    if (index < own) {
        const uint32_t block = level.first + index / CELLS;
        const uint64_t at = block * static_cast<uint64_t>(CELLS) + cell;
        d[at] = b[at] - op.on_level(x, x, block, cell);
    } else if (index < own + touched_count * CELLS) {
        const uint32_t block = touched[first_touched + (index - own) / CELLS];
        b[block * static_cast<uint64_t>(CELLS) + cell] -= op.on_leaf(x, x, block, cell);
    }
}

// Puts what the coarse layers have aside. One thread a cell of them.
extern "C" __global__ void put_aside(Level level, Layers layers, double* x, double* to) {
    const uint32_t index = thread_index();
    if (index < level.places * CELLS) {
        const uint32_t place = level.first_place + index / CELLS;
        const uint64_t at = layers.block[place] * static_cast<uint64_t>(CELLS) + index % CELLS;
        to[place * static_cast<uint64_t>(CELLS) + index % CELLS] = x[at];
        x[at] = 0.0;
    }
}

// Sums of a share of the children's cells, in refined blocks of a level. One thread a cell.
extern "C" __global__ void sum_children(Blocks blocks, uint32_t first, uint32_t count, const double* from, double share,
                                        double* to) {
    const uint32_t index = thread_index();
    if (index >= count * CELLS) {
        return;
    }
    const uint32_t block = first + index / CELLS, child = blocks.first_child[block];
    if (child == NONE) {
        return;
    }
    double sum = 0.0;
    for (int corner = 0; corner < CHILDREN; corner++) {
        const Below below = cell_below(index % CELLS, corner);
        sum += share * from[(child + below.child) * static_cast<uint64_t>(CELLS) + below.cell];
    }
    to[block * static_cast<uint64_t>(CELLS) + index % CELLS] = sum;
}

// The coarser level's correction on a level's cells, into `to`, and what its coarse layers had before, in `x`. One
// thread a cell, those of layers last.
extern "C" __global__ void go_up(Operator op, Level level, Layers layers, const double* aside, double* x, double* to) {
    const uint32_t index = thread_index(), own = level.count * CELLS;
    const int cell = index % CELLS;
    if (index < own) {
        const uint32_t block = level.first + index / CELLS, parent = op.blocks.parent[block];
        const uint64_t at = block * static_cast<uint64_t>(CELLS) + cell;
        double value = x[at];
        // Cells without open faces are no unknowns.
        if (op.inverse[at] > 0.0) {
            value += x[parent * static_cast<uint64_t>(CELLS) + cell_above(op.blocks.corner(block), cell)];
        }
        to[at] = value;
    } else if (index < own + level.places * CELLS) {
        const uint32_t place = level.first_place + (index - own) / CELLS;
        x[layers.block[place] * static_cast<uint64_t>(CELLS) + cell] +=
            aside[place * static_cast<uint64_t>(CELLS) + cell];
    }
}
