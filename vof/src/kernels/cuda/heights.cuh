// Heights of the interface over columns of cells, and curvature from them: `heights.rs`, which has the order of
// operations. NaN stands for what is missing.

#pragma once

#include "tile.cuh"
#include "vector.cuh"

// The height of the liquid in a column from the lower end of the fourth cell on the liquid's side, in cells: through a
// cell along an axis, `sign` towards the empty side. NaN where an end is missing.
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

// Where the interface is in a cell's own columns: along each axis from the centre, in cells; NaN without a height,
// where it is outside of the cell, or where the normal's component is less than STEEPEST of the largest one.
__device__ inline Vector positions(const double* tile, int at, Vector n) {
    double most = 0.0;
    for (int a = 0; a < D; a++) {
        most = fmax(most, fabs(n.v[a]));
    }
    Vector found;
    for (int axis = 0; axis < D; axis++) {
        const int sign = n.v[axis] > 0.0 ? 1 : -1;
        const double from_centre = column(tile, at, axis, sign) - static_cast<double>(MARGIN) - 0.5;
        const bool is_there = !(fabs(n.v[axis]) < STEEPEST * most) && fabs(from_centre) <= 0.5;
        found.v[axis] = is_there ? static_cast<double>(sign) * from_centre : nan("");
    }
    return found;
}

// To the power 3/2.
__device__ inline double power(double x) {
    return x * sqrt(x);
}

// Of a surface over a plane, by its first derivatives, and xx, yy, xy.
__device__ inline double of_surface(double hx, double hy, double hxx, double hyy, double hxy) {
    const double above = hxx * (1.0 + hy * hy) + hyy * (1.0 + hx * hx) - 2.0 * hx * hy * hxy;
    return -above / power(1.0 + hx * hx + hy * hy);
}

// Curvature by the heights along an axis. What is missing makes the result NaN.
__device__ inline double along(const double* tile, int at, int axis, int sign) {
    const double middle = column(tile, at, axis, sign);
    if (isnan(middle)) {
        return middle;
    }
    const int x = tile_step(axis == 0 ? 1 : 0);
    double low = column(tile, at - x, axis, sign), high = column(tile, at + x, axis, sign);
    const double hx = 0.5 * (high - low), hxx = high - 2.0 * middle + low;
    if (D == 2) {
        return -hxx / power(1.0 + hx * hx);
    }
    if (isnan(hxx)) {
        return hxx;
    }
    const int y = tile_step(axis == 2 ? 1 : 2);
    low = column(tile, at - y, axis, sign);
    high = column(tile, at + y, axis, sign);
    const double hy = 0.5 * (high - low), hyy = high - 2.0 * middle + low;
    if (isnan(hyy)) {
        return hyy;
    }
    const double hxy = 0.25 * (column(tile, at + x + y, axis, sign) - column(tile, at + x - y, axis, sign) -
                               column(tile, at - x + y, axis, sign) + column(tile, at - x - y, axis, sign));
    return of_surface(hx, hy, hxx, hyy, hxy);
}

// The direction of columns: their axis, and 1 where their empty side is the upper one, else -1. Arrays have it as a
// number, NO_DIRECTION where there are no heights.
struct Direction {
    int axis;
    int sign;

    __device__ uint8_t number() const { return static_cast<uint8_t>(2 * axis + (sign > 0 ? 2 : 1)); }
};
constexpr uint8_t NO_DIRECTION = 0;

// Axes by the size of a normal's component, the largest first, with the sides that the normal points to.
__device__ inline void directions(Vector n, Direction (&found)[D]) {
    for (int a = 0; a < D; a++) {
        int i = a;
        for (; i > 0 && fabs(n.v[a]) > fabs(n.v[found[i - 1].axis]); i--) {
            found[i] = found[i - 1];
        }
        found[i] = {a, n.v[a] > 0.0 ? 1 : -1};
    }
}

// The sum of the principal curvatures times the cell's width, from heights along the normal's largest component, else
// along the next one, and the direction of these columns; NaN and no direction without heights.
__device__ inline double curvature(const double* tile, int at, Vector n, uint8_t& direction) {
    Direction tried[D];
    directions(n, tried);
    direction = NO_DIRECTION;
    for (int i = 0; i < D; i++) {
        const double found = along(tile, at, tried[i].axis, tried[i].sign);
        if (!isnan(found)) {
            direction = tried[i].number();
            return found;
        }
    }
    return nan("");
}
