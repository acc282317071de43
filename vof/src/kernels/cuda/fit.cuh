// Curvature by a parabola through positions around a cell, by the threads of a warp: `heights.rs` and `curvature.rs`,
// which have the order of operations.

#pragma once

#include "curvature.cuh"

constexpr uint32_t ALL = 0xffffffffu;
constexpr int WARP = 32;

// Cells that positions are taken from, and how far away they are.
constexpr int REACH = 2;
constexpr int AROUND = D == 2 ? 25 : 125;

// Unknowns of the parabola, and the columns of its matrix with the right side.
constexpr int UNKNOWNS = D == 2 ? 3 : 6;
constexpr int COLUMNS = UNKNOWNS + 1;

// What a warp shares. Each cell around gives at most D positions.
struct Fit {
    Vector points[D * AROUND];
    double m[UNKNOWNS][COLUMNS];
};

// Adds the position along an axis in a cell, unless it is near one that is there. All threads have the same arguments.
__device__ inline void add(Fit& fit, int& count, Vector point) {
    const int lane = threadIdx.x % WARP;
    bool is_near = false;
    for (int p = lane; p < count; p += WARP) {
        double sum = -0.0;
        for (int a = 0; a < D; a++) {
            sum += fabs(fit.points[p].v[a] - point.v[a]);
        }
        is_near = is_near || !(sum > 0.1);
    }
    if (__any_sync(ALL, is_near)) {
        return;
    }
    if (lane == 0) {
        fit.points[count] = point;
    }
    count++;
    __syncwarp();
}

// The positions around a cell with a normal, relative to its centre, in cells; returns how many.
__device__ inline int gather(const Mesh& mesh, const Found& found, bool is_right, Cell of, Vector n, Fit& fit) {
    const int lane = threadIdx.x % WARP;
    int count = 0;
    for (int base = 0; base < AROUND; base += WARP) {
        Vector heights;
        bool has_any = false;
        if (base + lane < AROUND) {
            const Near near = near_cell(mesh, of, REACH, base + lane);
            // Mirrored cells would meet the wall at a right angle.
            if ((is_right || near.is_inside) && found.has_some(near.cell.block)) {
                const uint64_t i = found.index(near.cell);
                heights = found.positions.get(i);
                for (int a = 0; a < D; a++) {
                    has_any = has_any || !isnan(heights.v[a]);
                }
                has_any = has_any && !(dot(n, found.normals.get(i)) <= 0.0);
            }
        }
        for (uint32_t left = __ballot_sync(ALL, has_any); left != 0; left &= left - 1) {
            const int from = __ffs(static_cast<int>(left)) - 1;
            const Ints step = near_step(REACH, base + from);
            for (int axis = 0; axis < D; axis++) {
                const double height = __shfl_sync(ALL, heights.v[axis], from);
                if (isnan(height)) {
                    continue;
                }
                Vector point;
                for (int a = 0; a < D; a++) {
                    point.v[a] = static_cast<double>(step.v[a]);
                    point.v[a] += a == axis ? height : 0.0;
                }
                add(fit, count, point);
            }
        }
    }
    return count;
}

// The first of the points that are nearest to the centre.
__device__ inline Vector origin_of(const Fit& fit, int count) {
    double least = INFINITY;
    int first = count;
    for (int p = threadIdx.x % WARP; p < count; p += WARP) {
        const double square = dot(fit.points[p], fit.points[p]);
        if (square < least) {
            least = square;
            first = p;
        }
    }
    for (int to = WARP / 2; to > 0; to /= 2) {
        const double other = __shfl_xor_sync(ALL, least, to);
        const int other_first = __shfl_xor_sync(ALL, first, to);
        if (other < least || (other == least && other_first < first)) {
            least = other;
            first = other_first;
        }
    }
    return fit.points[first < count ? first : 0];
}

// Directions across a normal of length 1; the second one in 3D alone.
__device__ inline void tangents(Vector n, Vector& first, Vector& second) {
    second = {};
    if (D == 2) {
        first.v[0] = -n.v[1];
        first.v[1] = n.v[0];
        return;
    }
    // Across the axis of the smallest component.
    int least = 0;
    for (int a = 1; a < D; a++) {
        least = fabs(n.v[a]) < fabs(n.v[least]) ? a : least;
    }
    const Vector3 along = in_3d(n), across = {{least == 0 ? 1.0 : 0.0, least == 1 ? 1.0 : 0.0, least == 2 ? 1.0 : 0.0}};
    Vector3 s = cross(along, across);
    const double size = length(s);
    for (int a = 0; a < 3; a++) {
        s.v[a] /= size;
    }
    const Vector3 t = cross(along, s);
    for (int a = 0; a < D; a++) {
        first.v[a] = s.v[a];
        second.v[a] = t.v[a];
    }
}

// About exp(-r²).
__device__ inline double weight_of(double square) {
    double weight = 1.0 - square / 16.0;
    for (int i = 0; i < 4; i++) {
        weight *= weight;
    }
    return weight;
}

// A term of the parabola.
__device__ inline double term(int k, double s, double t) {
    return k == 0 ? 1.0 : k == 1 ? s : k == 2 ? s * s : k == 3 ? t : k == 4 ? t * t : s * t;
}

// Sums up the parabola's matrix and right side: each thread two of the numbers, in the order of the points. False where
// there are too few points.
__device__ inline bool assemble(Fit& fit, int count, Vector n) {
    constexpr int NUMBERS = UNKNOWNS * COLUMNS;
    static_assert(NUMBERS <= 2 * WARP, "two numbers a thread");
    const int lane = threadIdx.x % WARP;
    const Vector origin = origin_of(fit, count);
    n = over(n, sqrt(dot(n, n)));
    Vector first, second;
    tangents(n, first, second);
    double sums[2] = {};
    int used = 0;
    for (int p = 0; p < count; p++) {
        Vector from = fit.points[p];
        for (int a = 0; a < D; a++) {
            from.v[a] -= origin.v[a];
        }
        // In 3D the parabola's place is where the normal through the centre meets it, in 2D the nearest point.
        const double s = dot(first, D == 2 ? from : fit.points[p]);
        const double t = D == 2 ? 0.0 : dot(second, fit.points[p]), height = dot(n, from);
        // Beyond, the surface is another one, or no graph over the tangents.
        if (fabs(s) > 2.5 || fabs(t) > 2.5 || fabs(height) > 2.0) {
            continue;
        }
        used++;
        const double weight = weight_of(s * s + t * t);
        for (int k = 0; k < 2; k++) {
            const int i = (lane + k * WARP) / COLUMNS, j = (lane + k * WARP) % COLUMNS;
            sums[k] += weight * term(i, s, t) * (j < UNKNOWNS ? term(j, s, t) : height);
        }
    }
    for (int k = 0; k < 2; k++) {
        const int number = lane + k * WARP;
        if (number < NUMBERS) {
            fit.m[number / COLUMNS][number % COLUMNS] = sums[k];
        }
    }
    __syncwarp();
    return used >= UNKNOWNS;
}

// Elimination with pivots; false where the matrix is singular.
__device__ inline bool solve(Fit& fit, double (&x)[UNKNOWNS]) {
    const int lane = threadIdx.x % WARP;
    for (int k = 0; k < UNKNOWNS; k++) {
        // The last one of equal pivots, as on the CPU.
        int pivot = k;
        for (int i = k + 1; i < UNKNOWNS; i++) {
            pivot = fabs(fit.m[i][k]) >= fabs(fit.m[pivot][k]) ? i : pivot;
        }
        if (fabs(fit.m[pivot][k]) < 1e-10) {
            return false;
        }
        __syncwarp();
        if (pivot != k && lane < COLUMNS) {
            const double kept = fit.m[k][lane];
            fit.m[k][lane] = fit.m[pivot][lane];
            fit.m[pivot][lane] = kept;
        }
        __syncwarp();
        for (int number = lane; number < UNKNOWNS * COLUMNS; number += WARP) {
            const int i = number / COLUMNS, j = number % COLUMNS;
            if (i > k && j > k) {
                fit.m[i][j] -= fit.m[i][k] / fit.m[k][k] * fit.m[k][j];
            }
        }
        __syncwarp();
    }
    for (int k = UNKNOWNS - 1; k >= 0; k--) {
        double sum = -0.0;
        for (int j = k + 1; j < UNKNOWNS; j++) {
            sum += fit.m[k][j] * x[j];
        }
        x[k] = (fit.m[k][UNKNOWNS] - sum) / fit.m[k][k];
    }
    return true;
}

// The sum of the principal curvatures times the cell's width by a fit of positions; NaN without one.
__device__ inline double fitted(Fit& fit, int count, Vector n) {
    double x[UNKNOWNS];
    if (count == 0 || !assemble(fit, count, n) || !solve(fit, x)) {
        return nan("");
    }
    if (D == 2) {
        return -2.0 * x[2] / power(1.0 + x[1] * x[1]);
    }
    return of_surface(x[1], x[UNKNOWNS / 2], 2.0 * x[2], 2.0 * x[UNKNOWNS - 2], x[UNKNOWNS - 1]);
}
