// Running means of density and velocity: one thread a cell.

#include "forest.cuh"

// Means and sums of squared deviations, of density and then of each velocity.
extern "C" __global__ void accumulate(uint64_t cells, const float* density, const float* velocity, double share, double2* values) {
    const size_t cell = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (cell >= cells) {
        return;
    }
    for (int row = 0; row < 1 + D; row++) {
        const double now = row == 0 ? density[cell] : velocity[(row - 1) * cells + cell];
        double2 value = values[row * cells + cell];
        const double off = now - value.x;
        value.x += off * share;
        value.y += off * (now - value.x);
        values[row * cells + cell] = value;
    }
}
