// Heights of the interface over columns of cells, and curvature from them: `heights.rs`, which has the order of operations.
// NaN stands for what is missing.

#pragma once

#include "tile.cuh"
#include "vector.cuh"

// Fractions closer than this to 0 and 1 end a column.
constexpr double END = 1e-9;

// Positions are taken from columns whose component of the normal is at least this part of the largest one.
constexpr double STEEPEST = 0.7;

// The height of the liquid in a column from the lower end of the fourth cell on the liquid's side, in cells: through a cell
// along an axis, `sign` towards the empty side. NaN where an end is missing.
__device__ inline double column(const double* tile, int at, int axis, int sign) {
    const int go = tile_step(axis) * sign;
    double sum = tile[at];
    bool full = false, empty = false;
    for (int t = 1; t <= MARGIN && !full; t++) {
        const double value = tile[at - t * go];
        sum += value;
        if (value >= 1.0 - END) {
            sum += static_cast<double>(MARGIN - t);
            full = true;
        }
    }
    for (int t = 1; t <= MARGIN && !empty; t++) {
        const double value = tile[at + t * go];
        sum += value;
        empty = value <= END;
    }
    return full && empty ? sum : nan("");
}
