// Cells of grains from lists that the host makes: `grain_cells.rs`, which has the order of operations.

#include "cells.cuh"
#include "grain_cells.cuh"

// Lengths of the box, m.
struct Periods {
    double of[D];
};

// One thread block a grain. `place` is NONE before; which thread comes first does not matter to the least of places.
extern "C" __global__ void arms(const __grid_constant__ Mesh mesh, const uint32_t* first, const uint32_t* cell,
                                const uint8_t* image, const double* centre, const __grid_constant__ Periods periods,
                                uint32_t* grain, double* arm, uint32_t* place) {
    const uint32_t own = blockIdx.x;
    for (uint32_t at = first[own] + threadIdx.x; at < first[own + 1]; at += blockDim.x) {
        const uint32_t block = cell[at] / CELLS;
        int shift = image[at];
        for (int a = 0; a < 3; a++) {
            double along = 0.0;
            if (a < D) {
                const double shifts = static_cast<double>(shift % 3) - 1.0;
                const double from = centre[3 * own + a] + shifts * periods.of[a];
                along = mesh.centre(block, static_cast<int>(cell[at] % CELLS), a) - from;
            }
            arm[3 * static_cast<uint64_t>(at) + a] = along;
            shift /= 3;
        }
        grain[at] = own;
        atomicMin(place + cell[at], at);
    }
}

// One thread a cell of a grain. `clear` is 1 before, `mass` 0.
extern "C" __global__ void shares(const __grid_constant__ Grains grains, double* clear, double* mass) {
    const uint32_t own = thread_index();
    if (own >= grains.cells || !grains.is_first(own)) {
        return;
    }
    double free = 1.0, sum = 0.0;
    for (uint32_t at = own; at != NONE; at = grains.after[at]) {
        free = fmax(free - grains.part[at], 0.0);
        sum += grains.part[at] * grains.density[grains.grain[at]];
    }
    clear[grains.cell[own]] = free;
    mass[grains.cell[own]] = sum;
}
