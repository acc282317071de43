// The smoother: `host/smooth.rs`.

#include "operator.cuh"

// A step of the smoother. The level's values are read from `x` and written to `to`: others are read meanwhile, but
// where the solution is zero, which no cell reads. Those of coarse leaves are in `coarse`; corrections of layers are
// added by `add_to_layers`, but where the solution is zero. One thread a cell, those of layers last.
extern "C" __global__ void smooth(__grid_constant__ const Operator op, Level level, Layers layers,
                                  const double* layer_inverse, const double* x, double* to, double* coarse,
                                  const double* b, double* d, const double* layer_b, double* layer_d, double keep,
                                  double add, uint32_t from_zero) {
    const uint32_t index = thread_index(), own = level.count * CELLS;
    if (index < own) {
        const uint32_t block = level.first + index / CELLS;
        const int cell = index % CELLS;
        const uint64_t at = block * static_cast<uint64_t>(CELLS) + cell;
        const double ax = from_zero ? 0.0 : op.on_level(x, coarse, block, cell);
        const double correction = keep * d[at] + add * op.inverse[at] * (b[at] - ax);
        d[at] = correction;
        to[at] = x[at] + correction;
    } else if (index < own + level.places * CELLS) {
        const uint32_t place = level.first_place + (index - own) / CELLS;
        const int cell = index % CELLS;
        const uint64_t at = place * static_cast<uint64_t>(CELLS) + cell;
        double correction = 0.0;
        if (layers.cells[place] >> cell & 1) {
            const double ax = from_zero ? 0.0 : op.on_leaf(coarse, x, layers.block[place], cell);
            const double r = layer_inverse[at] * (layer_b[at] - ax);
            correction = keep * layer_d[at] + add * r;
        }
        layer_d[at] = correction;
        if (from_zero) {
            coarse[layers.block[place] * static_cast<uint64_t>(CELLS) + cell] += correction;
        }
    }
}

// Adds corrections of coarse layers. One thread a cell of them.
extern "C" __global__ void add_to_layers(Level level, Layers layers, const double* layer_d, double* x) {
    const uint32_t index = thread_index();
    if (index < level.places * CELLS) {
        const uint32_t place = level.first_place + index / CELLS;
        const int cell = index % CELLS;
        x[layers.block[place] * static_cast<uint64_t>(CELLS) + cell] +=
            layer_d[place * static_cast<uint64_t>(CELLS) + cell];
    }
}
