// Vectors with the operations of `geometry.rs`, in its order.

#pragma once

struct Vec {
    double x, y, z;
};

__device__ inline Vec add(Vec a, Vec b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}

__device__ inline Vec sub(Vec a, Vec b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}

__device__ inline Vec scale(Vec a, double s) {
    return {a.x * s, a.y * s, a.z * s};
}

__device__ inline double dot(Vec a, Vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ inline Vec cross(Vec a, Vec b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

__device__ inline double norm(Vec a) {
    return sqrt(dot(a, a));
}

__device__ inline Vec load(const double* points, uint32_t point) {
    const double* at = points + 3 * static_cast<size_t>(point);
    return {at[0], at[1], at[2]};
}

__device__ inline void store(double* points, uint32_t point, Vec v) {
    double* at = points + 3 * static_cast<size_t>(point);
    at[0] = v.x;
    at[1] = v.y;
    at[2] = v.z;
}
