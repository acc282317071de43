// Running means of density and velocity: one thread a cell.

#include "kernel.cuh"

// Means and sums of squared deviations, of density and then of each velocity. Products and sums are rounded one by one,
// as on the CPU.
extern "C" __global__ void accumulate(uint64_t cells, const float* density, const float* velocity, double share,
                                      double2* values) {
    const size_t cell = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (cell >= cells) {
        return;
    }
    for (int row = 0; row < 1 + D; row++) {
        const double now = row == 0 ? density[cell] : velocity[(row - 1) * cells + cell];
        double2 value = values[row * cells + cell];
        const double off = now - value.x;
        value.x = __dadd_rn(value.x, __dmul_rn(off, share));
        value.y = __dadd_rn(value.y, __dmul_rn(off, now - value.x));
        values[row * cells + cell] = value;
    }
}
