// Volumes of the unit cell below a plane, and the plane of a volume: `plane.rs`, which has the order of operations.

#pragma once

#include <cfloat>

#include "vector.cuh"
#include "vof_constants.cuh"

// The volume below a plane, and its derivative by the constant.
struct Filled {
    double volume, slope;
};

// Sorted components of a plane, their sum 1.
struct Sorted {
    double m1, m2, m3, scale;

    __device__ explicit Sorted(Vector n) {
        double a = fabs(n.v[0]), b = fabs(n.v[1]), c = D == 3 ? fabs(n.v[D - 1]) : 0.0;
        order(a, b);
        order(b, c);
        order(a, b);
        scale = a + b + c;
        m1 = a / scale;
        m2 = b / scale;
        m1 = m1 < FLAT ? 0.0 : m1;
        m2 = m2 < FLAT ? 0.0 : m2;
        m3 = 1.0 - m1 - m2;
    }

    // For a constant of at most 1/2.
    __device__ Filled lower_half(double c) const {
        const double m12 = m1 + m2;
        if (c < m1) {
            const double f = 1.0 / (6.0 * m1 * m2 * m3);
            return {c * c * c * f, 3.0 * c * c * f};
        }
        if (c < m2) {
            const double f = 1.0 / (2.0 * m2 * m3);
            return {c * (c - m1) * f + m1 * m1 * f / 3.0, (2.0 * c - m1) * f};
        }
        if (c < fmin(m12, m3)) {
            const double f = 1.0 / (6.0 * m1 * m2 * m3);
            const double v = c * c * (3.0 * m12 - c) + m1 * m1 * (m1 - 3.0 * c) + m2 * m2 * (m2 - 3.0 * c);
            return {v * f, 3.0 * (c * (2.0 * m12 - c) - m1 * m1 - m2 * m2) * f};
        }
        if (m12 <= m3) {
            return {(2.0 * c - m12) / (2.0 * m3), 1.0 / m3};
        }
        const double f = 1.0 / (6.0 * m1 * m2 * m3);
        const double v =
            c * c * (3.0 - 2.0 * c) + m1 * m1 * (m1 - 3.0 * c) + m2 * m2 * (m2 - 3.0 * c) + m3 * m3 * (m3 - 3.0 * c);
        const double square = m1 * m1 + m2 * m2 + m3 * m3;
        return {v * f, 3.0 * (2.0 * c * (1.0 - c) - square) * f};
    }

    // A constant to begin with, for a volume of at most 1/2.
    __device__ double start(double volume) const {
        const double cube = 6.0 * m1 * m2 * m3 * volume;
        if (cube < m1 * m1 * m1) {
            const double fourth = sqrt(sqrt(cube));
            return fmin(fourth * sqrt(sqrt(fourth)), m1);
        }
        const double c = 0.5 * m1 + sqrt(fmax(2.0 * m2 * m3 * volume - m1 * m1 / 12.0, 0.0));
        return c < m2 ? c : 0.5 * (m1 + m2) + m3 * volume;
    }

private:
    __device__ static void order(double& low, double& high) {
        if (high < low) {
            const double kept = low;
            low = high;
            high = kept;
        }
    }
};

// The part of the unit cell where `|n|·x` is below a constant; 0 to 1.
__device__ inline double volume(Vector n, double constant) {
    const Sorted sorted(n);
    const double c = constant / sorted.scale;
    if (c <= 0.0) {
        return 0.0;
    }
    if (c >= 1.0) {
        return 1.0;
    }
    if (c <= 0.5) {
        return clamped(sorted.lower_half(c).volume, 0.0, 1.0);
    }
    return clamped(1.0 - sorted.lower_half(1.0 - c).volume, 0.0, 1.0);
}

// The constant of the plane with the normal `|n|` that has a volume below, to rounding.
__device__ inline double constant(Vector n, double volume) {
    const Sorted sorted(n);
    const double wanted = fmax(fmin(volume, 1.0 - volume), 0.0);
    double low = 0.0, high = 0.5;
    double c = sorted.start(wanted);
    for (int i = 0; i < 60; i++) {
        const Filled filled = sorted.lower_half(c);
        if (filled.volume < wanted) {
            low = c;
        } else {
            high = c;
        }
        const double newton = c - (filled.volume - wanted) / filled.slope;
        if (fabs(newton - c) <= DBL_EPSILON) {
            break;
        }
        c = newton > low && newton < high ? newton : 0.5 * (low + high);
    }
    return sorted.scale * (volume > 0.5 ? 1.0 - c : c);
}

// The part of a slab of a cell that is below its plane: between two coordinates along an axis, as a part of the slab.
__device__ inline double slab(Vector n, double constant, int axis, double from, double to) {
    const double along = n.v[axis];
    const double low = along < 0.0 ? 1.0 - to : from;
    n.v[axis] = along * (to - from);
    return volume(n, constant - fabs(along) * low);
}

// The part of a smaller cell that is below a cell's plane: a cube of some width in it, by its lower corner.
__device__ inline double part(Vector n, double constant, Vector low, double width) {
    double below = -0.0;
    for (int a = 0; a < D; a++) {
        const double from = n.v[a] < 0.0 ? 1.0 - low.v[a] - width : low.v[a];
        below += fabs(n.v[a]) * from;
    }
    return volume(n, (constant - below) / width);
}
