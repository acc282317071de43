// Density and velocity by block id and cell: one thread block a slot or refined block, one thread a cell.

#include "forest.cuh"

// Values of the slots from `first` on.
extern "C" __global__ void put_by_block(const float* values, const uint32_t* blocks, uint32_t first, uint64_t all, float* density,
                                        float* velocity) {
    const int cell = threadIdx.x;
    if (cell >= CELLS) {
        return;
    }
    const float* row = values + static_cast<size_t>(blockIdx.x) * (1 + D) * CELLS + cell;
    const size_t at = static_cast<size_t>(blocks[first + blockIdx.x]) * CELLS + cell;
    density[at] = row[0];
    for (int a = 0; a < D; a++) {
        velocity[a * all + at] = row[(1 + a) * CELLS];
    }
}

// Means of the children's cells that are fluid; where there are none, density 1 and velocity 0.
extern "C" __global__ void fill_refined(const uint32_t* ids, const uint32_t* first_child, const uint64_t* solid, uint64_t all,
                                        float* density, float* velocity) {
    const int cell = threadIdx.x;
    if (cell >= CELLS) {
        return;
    }
    double sums[1 + D] = {};
    int count = 0;
    for (int corner = 0; corner < CHILDREN; corner++) {
        int child = 0, below = 0;
        for (int a = D - 1; a >= 0; a--) {
            const int x = cell_coord(cell, a);
            child = 2 * child + (x >> 1);
            below = 4 * below + 2 * (x & 1) + (corner >> a & 1);
        }
        // A refined child's own solid mask says nothing of what it holds.
        if (!(solid[static_cast<size_t>(blockIdx.x) * CHILDREN + child] >> below & 1)) {
            const size_t at = static_cast<size_t>(first_child[blockIdx.x] + child) * CELLS + below;
            sums[0] += density[at];
            for (int a = 0; a < D; a++) {
                sums[1 + a] += velocity[a * all + at];
            }
            count++;
        }
    }
    const size_t at = static_cast<size_t>(ids[blockIdx.x]) * CELLS + cell;
    density[at] = count > 0 ? static_cast<float>(sums[0] / count) : 1.0f;
    for (int a = 0; a < D; a++) {
        velocity[a * all + at] = count > 0 ? static_cast<float>(sums[1 + a] / count) : 0.0f;
    }
}
