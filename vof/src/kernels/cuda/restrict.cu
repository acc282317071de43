// Values of refined blocks: `restrict.rs`.

#include "mesh.cuh"

// Arrays of cells: `Arrays` of `restrict.rs`.
struct Arrays {
    double* of[4];
};

// One thread a cell of a level: the mean over its children, if its block has some.
extern "C" __global__ void restrict_level(const __grid_constant__ Mesh mesh, uint32_t first, uint32_t count,
                                          const __grid_constant__ Arrays arrays, int used) {
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= static_cast<uint64_t>(count) * CELLS) {
        return;
    }
    const uint32_t block = first + static_cast<uint32_t>(i / CELLS);
    if (mesh.blocks.is_leaf(block)) {
        return;
    }
    const Cell own = {block, static_cast<int>(i % CELLS)};
    const uint32_t child = mesh.blocks.first_child[block];
    constexpr double SHARE = 1.0 / CHILDREN;
    for (int k = 0; k < used; k++) {
        double sum = 0.0;
        for (int corner = 0; corner < CHILDREN; corner++) {
            const Below below = cell_below(own.cell, corner);
            sum += SHARE * arrays.of[k][Cell{child + below.child, below.cell}.index()];
        }
        arrays.of[k][own.index()] = sum;
    }
}
