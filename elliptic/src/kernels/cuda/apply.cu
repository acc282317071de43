// The operator applied to values: `host/apply.rs`.

#include "operator.cuh"

// One thread a cell.
extern "C" __global__ void apply(Operator op, uint32_t cells, const double* x, double* out) {
    const uint32_t index = thread_index();
    if (index < cells) {
        const uint32_t block = index / CELLS;
        out[index] = op.blocks.is_leaf(block) ? op.on_leaf(x, x, block, index % CELLS) : 0.0;
    }
}
