// The smoother: `host/smooth.rs`.

#include "operator.cuh"

// Corrections of a level's cells, and of its coarse layers. One thread a cell, those of layers last.
extern "C" __global__ void smooth(Operator op, Level level, Layers layers, const double* layer_inverse, const double* x,
                                  const double* b, double* d, const double* layer_b, double* layer_d, double keep,
                                  double add, uint32_t from_zero) {
    const uint32_t index = thread_index(), own = level.count * CELLS;
    if (index < own) {
        const uint32_t block = level.first + index / CELLS;
        const int cell = index % CELLS;
        const uint64_t at = block * static_cast<uint64_t>(CELLS) + cell;
        const double ax = from_zero ? 0.0 : op.on_level(x, block, cell);
        d[at] = keep * d[at] + add * op.inverse[at] * (b[at] - ax);
    } else if (index < own + level.places * CELLS) {
        const uint32_t place = level.first_place + (index - own) / CELLS;
        const int cell = index % CELLS;
        const uint64_t at = place * static_cast<uint64_t>(CELLS) + cell;
        double correction = 0.0;
        if (layers.cells[place] >> cell & 1) {
            const double ax = from_zero ? 0.0 : op.on_leaf(x, layers.block[place], cell);
            const double r = layer_inverse[at] * (layer_b[at] - ax);
            correction = keep * layer_d[at] + add * r;
        }
        layer_d[at] = correction;
    }
}

// Adds corrections.
extern "C" __global__ void add_corrections(Level level, Layers layers, const double* d, const double* layer_d, double* x) {
    const uint32_t index = thread_index(), own = level.count * CELLS;
    if (index < own) {
        const uint64_t at = level.first * static_cast<uint64_t>(CELLS) + index;
        x[at] += d[at];
    } else if (index < own + level.places * CELLS) {
        const uint32_t place = level.first_place + (index - own) / CELLS;
        const int cell = index % CELLS;
        x[layers.block[place] * static_cast<uint64_t>(CELLS) + cell] += layer_d[place * static_cast<uint64_t>(CELLS) + cell];
    }
}
