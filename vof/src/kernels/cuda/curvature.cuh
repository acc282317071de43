// What the passes of the curvature have: `curvature.rs`.

#pragma once

#include "heights.cuh"
#include "interface.cuh"
#include "near.cuh"

// Of cells of the finest level: `FoundAddresses` of `curvature.rs`.
struct Found {
    // Normals of cells at the interface, and positions in their own columns; zero and NaN of other cells.
    Vectors normals;
    Vectors positions;
    // 1/m; NaN where there is none.
    double* curvature;
    // The direction of the columns that the curvature is from, as a number; fits have none.
    uint8_t* directions;
    // By block of the finest level: whether it may have such cells. Normals, positions and directions of other blocks have
    // not been written.
    uint8_t* has;
    uint64_t first;

    __device__ bool has_some(uint32_t block) const { return block >= first && has[block - first]; }

    __device__ uint64_t index(Cell cell) const { return cell.index() - first * CELLS; }
};

// The curvature by heights of a cell beside, in the same column; NaN where there is none.
__device__ inline double of_column(const Mesh& mesh, const Found& found, Cell of, Vector n) {
    Direction tried[D];
    directions(n, tried);
    for (int i = 0; i < D; i++) {
        for (int k = -1; k <= 1; k += 2) {
            Ints step = {};
            step.v[tried[i].axis] = k;
            const Near near = near_at(mesh, of, step);
            if (!near.is_inside || !found.has_some(near.cell.block)) {
                continue;
            }
            const uint64_t beside = found.index(near.cell);
            if (found.directions[beside] == tried[i].number()) {
                return found.curvature[beside];
            }
        }
    }
    return nan("");
}
