// What the passes of the curvature have: `interface.rs`.

#pragma once

#include "heights.cuh"
#include "interface.cuh"

// Of cells of the finest level: `FoundAddresses` of `curvature.rs`.
struct Found {
    // Normals of cells at the interface, and positions in their own columns; zero and NaN of other cells.
    Vectors normals;
    Vectors positions;
    // 1/m; NaN where there is none.
    double* curvature;
    // By block of the finest level: whether it may have such cells. Normals and positions of other blocks have not been
    // written.
    uint8_t* has;
    uint64_t first;

    __device__ bool has_some(uint32_t block) const { return block >= first && has[block - first]; }

    __device__ uint64_t index(Cell cell) const { return cell.index() - first * CELLS; }
};
