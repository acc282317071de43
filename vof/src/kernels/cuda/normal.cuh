// The interface's normal in a cell from the fractions around: `normal.rs`, which has the order of operations.

#pragma once

#include "heights.cuh"
#include "plane.cuh"

// Components scaled so that their absolute values add up to 1.
__device__ inline Vector scaled(Vector n) {
    return over(n, sum_of_sizes(n));
}

__device__ inline int largest(Vector n) {
    int axis = 0;
    for (int a = 1; a < D; a++) {
        axis = fabs(n.v[a]) > fabs(n.v[axis]) ? a : axis;
    }
    return axis;
}

__device__ inline Ints steps_of(int direction) {
    Ints steps;
    for (int a = 0; a < D; a++) {
        steps.v[a] = step(direction, a);
    }
    return steps;
}

// Minus the gradient of the fractions, from all 3^D cells; false where it is zero.
__device__ inline bool youngs(const double* tile, int at, Vector& n) {
    n = {};
    for (int k = 0; k < DIRECTIONS; k++) {
        const Ints steps = steps_of(k);
        const double value = tile[shifted(at, steps)];
        for (int a = 0; a < D; a++) {
            int others = 0;
            for (int b = 0; b < D; b++) {
                others += b != a && steps.v[b] == 0;
            }
            n.v[a] -= static_cast<double>(steps.v[a]) * static_cast<double>(1 << others) * value;
        }
    }
    const double sum = sum_of_sizes(n);
    n = over(n, sum);
    return sum > 1e-12;
}

__device__ inline bool from_heights(const double* tile, int at, Vector young, Vector& n) {
    const int axis = largest(young);
    const int sign = young.v[axis] > 0.0 ? 1 : -1;
    bool has_all = !isnan(column(tile, at, axis, sign));
    for (int b = 0; b < D; b++) {
        if (b == axis) {
            n.v[b] = static_cast<double>(sign);
            continue;
        }
        const double low = column(tile, at - tile_step(b), axis, sign);
        const double high = column(tile, at + tile_step(b), axis, sign);
        n.v[b] = -0.5 * (high - low);
        has_all = has_all && !isnan(n.v[b]);
    }
    n = scaled(n);
    return has_all;
}

// The sum of three cells along an axis.
__device__ inline double three(const double* tile, int at, int axis) {
    return tile[at - tile_step(axis)] + tile[at] + tile[at + tile_step(axis)];
}

// How badly a line with a normal gives the fractions around.
__device__ inline double misfit(const double* tile, int at, Vector n) {
    const double own = constant(n, tile[at]);
    double error = 0.0;
    for (int k = 0; k < DIRECTIONS; k++) {
        const Ints steps = steps_of(k);
        double moved = -0.0;
        for (int a = 0; a < D; a++) {
            moved += n.v[a] * static_cast<double>(steps.v[a]);
        }
        const double off = volume(n, own - moved) - tile[shifted(at, steps)];
        error += off * off;
    }
    return error;
}

// Of the normals of one-sided and centred differences of columns of three cells, and of Youngs', the one whose line
// gives the fractions around best: in 2D.
__device__ inline Vector elvira(const double* tile, int at, Vector young) {
    Vector best = scaled(young);
    double least = misfit(tile, at, best);
    if (!(least < INFINITY)) {
        best = young;
        least = INFINITY;
    }
    for (int axis = 0; axis < 2; axis++) {
        const int along = tile_step(axis), across = tile_step(1 - axis);
        const double low = three(tile, at - across, axis), own = three(tile, at, axis);
        const double high = three(tile, at + across, axis);
        const bool is_up = three(tile, at - along, 1 - axis) >= three(tile, at + along, 1 - axis);
        for (int k = 0; k < 3; k++) {
            const double slope = k == 0 ? low - own : k == 1 ? 0.5 * (low - high) : own - high;
            Vector n = {};
            n.v[axis] = is_up ? 1.0 : -1.0;
            n.v[1 - axis] = slope;
            n = scaled(n);
            const double error = misfit(tile, at, n);
            if (error < least) {
                best = n;
                least = error;
            }
        }
    }
    return best;
}

// Centred columns along the axis of Youngs' largest component; Youngs' normal where that is the steeper one.
__device__ inline Vector mixed(const double* tile, int at, Vector young) {
    Vector centred = young;
    double most = 0.0;
    for (int axis = 0; axis < D; axis++) {
        Vector n;
        for (int b = 0; b < D; b++) {
            if (b == axis) {
                n.v[b] = young.v[axis] >= 0.0 ? 1.0 : -1.0;
            } else {
                n.v[b] = 0.5 * (three(tile, at - tile_step(b), axis) - three(tile, at + tile_step(b), axis));
            }
        }
        n = scaled(n);
        if (fabs(n.v[axis]) > most) {
            most = fabs(n.v[axis]);
            centred = n;
        }
    }
    const int axis = largest(centred);
    return fabs(centred.v[axis]) < fabs(young.v[axis]) ? centred : young;
}

__device__ inline Vector first_axis() {
    Vector n = {};
    n.v[0] = 1.0;
    return n;
}

// The normal in a mixed cell; the first axis where there is no gradient at all.
__device__ inline Vector normal(const double* tile, int at) {
    Vector young, n;
    if (!youngs(tile, at, young)) {
        return first_axis();
    }
    if (from_heights(tile, at, young, n)) {
        return n;
    }
    return D == 2 ? elvira(tile, at, young) : mixed(tile, at, young);
}

// The mixed Youngs-centred normal alone, which tells the axis that heights are best taken along.
__device__ inline Vector coarse(const double* tile, int at) {
    Vector young;
    return youngs(tile, at, young) ? mixed(tile, at, young) : first_axis();
}
