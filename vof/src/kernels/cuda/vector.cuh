// Vectors of D and of three components: `vector.rs`.

#pragma once

#include "kernel.cuh"

struct Vector {
    double v[D];
};

struct Vector3 {
    double v[3];
};

// `f64::clamp`.
__device__ inline double clamped(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

// The sum of the components' absolute values.
__device__ inline double sum_of_sizes(Vector n) {
    double sum = fabs(n.v[0]);
    for (int a = 1; a < D; a++) {
        sum += fabs(n.v[a]);
    }
    return sum;
}

__device__ inline double dot(Vector a, Vector b) {
    double sum = a.v[0] * b.v[0];
    for (int k = 1; k < D; k++) {
        sum += a.v[k] * b.v[k];
    }
    return sum;
}

__device__ inline Vector over(Vector n, double divisor) {
    for (int a = 0; a < D; a++) {
        n.v[a] /= divisor;
    }
    return n;
}

__device__ inline Vector3 cross(Vector3 a, Vector3 b) {
    return {{a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2], a.v[0] * b.v[1] - a.v[1] * b.v[0]}};
}

__device__ inline double length(Vector3 a) {
    return sqrt(a.v[0] * a.v[0] + a.v[1] * a.v[1] + a.v[2] * a.v[2]);
}

// Components that are missing are zero.
__device__ inline Vector3 in_3d(Vector x) {
    return {{x.v[0], x.v[1], D == 3 ? x.v[D - 1] : 0.0}};
}
