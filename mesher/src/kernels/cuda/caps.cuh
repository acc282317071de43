// The angle that a surface's caps subtend at a point: `tree.rs`, operation by operation. With +, -, *,
// / and the root alone, each rounded as IEEE 754 says (no fused products), results have the same bits.

#pragma once

#include "exact.cuh"

struct CapNode {
    double center[D];
    double radius, area;
    double first[D];
    double second[D][D];
    // The first facet, and the one behind the last.
    uint32_t facets[2];
    // The node behind the subtree.
    uint64_t skip;
};
static_assert(sizeof(CapNode) == (D == 2 ? 96 : 152), "as `Node` has it");

constexpr double CAP_PI = 3.14159265358979311600;
constexpr double CAP_FAR = 3.0;
// All directions.
constexpr double CAP_SPHERE = D == 2 ? 2.0 * CAP_PI : 4.0 * CAP_PI;

__device__ inline double dot(const double (&a)[D], const double (&b)[D]) {
    double sum = 0.0;
    for (int i = 0; i < D; i++) {
        sum = sum + a[i] * b[i];
    }
    return sum;
}

__device__ inline double norm(const double (&v)[D]) {
    return sqrt(dot(v, v));
}

__device__ inline double larger_of(double a, double b) {
    return a > b ? a : b;
}

__device__ inline double smaller_of(double a, double b) {
    return a < b ? a : b;
}

// atan2 by its series after two reductions.
__device__ inline double series_angle(double y, double x) {
    const double large = larger_of(fabs(x), fabs(y)), small = smaller_of(fabs(x), fabs(y));
    if (large == 0.0) {
        return 0.0;
    }
    double t = small / large;
    double base = 0.0;
    if (t > 0.41421356237309503) {
        t = (t - 1.0) / (t + 1.0);
        base = CAP_PI / 4.0;
    }
    const double square = t * t;
    double series = 0.0;
    for (int k = 16; k >= 0; k--) {
        series = 1.0 / static_cast<double>(2 * k + 1) - square * series;
    }
    double angle = base + t * series;
    if (fabs(y) > fabs(x)) {
        angle = 2.0 * (CAP_PI / 4.0) - angle;
    }
    if (x < 0.0) {
        angle = CAP_PI - angle;
    }
    return copysign(angle, y);
}

// A sum of angles, as whole turns and a complex number that has the rest as its argument.
struct Turn {
    int turns = 0;
    double re = 1.0, im = 0.0;

    // Adds the angle of y over x; the sign of zero counts.
    __device__ void add(double y, double x) {
        const double size = larger_of(fabs(x), fabs(y));
        if (size == 0.0) {
            return;
        }
        x = x / size;
        y = y / size;
        const bool below = signbit(im);
        const double next_re = re * x - im * y;
        double next_im = re * y + im * x;
        if (next_im == 0.0) {
            // Of a straight angle, the side is that of the larger part.
            next_im = copysign(next_im, im == 0.0 ? y : im);
        }
        re = next_re;
        im = next_im;
        // Two angles of one sign that add up to more than a half turn.
        if (below == static_cast<bool>(signbit(y)) && static_cast<bool>(signbit(im)) != below) {
            turns += below ? -1 : 1;
        }
        if (larger_of(fabs(re), fabs(im)) < 1e-100) {
            re *= 1e100;
            im *= 1e100;
        }
    }

    __device__ double angle() const { return 2.0 * CAP_PI * static_cast<double>(turns) + series_angle(im, re); }
};

struct Caps {
    const CapNode* nodes;
    uint32_t count;
    const Facet* facets;

    // A bound on |g| within `reach` of a point, or `enough` where it is at least that.
    __device__ double bound(const double (&p)[D], double reach, double enough) const {
        return sum_of<D - 1>(p, reach, enough, 1.0, 0.5);
    }

    // A bound on what g changes by within `reach` of a point, or `enough` where it is at least that.
    __device__ double variation(const double (&p)[D], double reach, double enough) const {
        const double steepest = static_cast<double>(D - 1) * reach;
        return sum_of<D>(p, reach, enough, steepest, INFINITE);
    }

    // g at a point of the lattice.
    __device__ double angle(const Ints& p) const {
        double far = 0.0;
        Turn near;
        uint64_t at = 0;
        while (at < count) {
            const CapNode& node = nodes[at];
            double r[D];
            for (int a = 0; a < D; a++) {
                r[a] = node.center[a] - static_cast<double>(p.v[a]);
            }
            const double square = dot(r, r);
            if (square > CAP_FAR * CAP_FAR * node.radius * node.radius) {
                far += by_moments(node, r, square);
                at = node.skip;
            } else {
                for (uint32_t f = node.facets[0]; f < node.facets[1]; f++) {
                    add_facet(near, facets[f].relative_to(p));
                }
                at++;
            }
        }
        // In 3D the tangents are of half the angle.
        return (far + static_cast<double>(D - 1) * near.angle()) / CAP_SPHERE;
    }

private:
    static constexpr double INFINITE = __builtin_huge_val();

    __device__ static double distance(const double (&p)[D], const double (&q)[D]) {
        double arm[D];
        for (int a = 0; a < D; a++) {
            arm[a] = p[a] - q[a];
        }
        return norm(arm);
    }

    template <int POWER>
    __device__ static double share(double factor, double area, double free) {
        double raised = free;
        for (int i = 1; i < POWER; i++) {
            raised = raised * free;
        }
        return factor * area / (CAP_SPHERE * raised);
    }

    template <int POWER>
    __device__ double sum_of(const double (&p)[D], double reach, double enough, double factor, double most) const {
        double sum = 0.0;
        uint64_t at = 0;
        while (at < count) {
            const CapNode& node = nodes[at];
            const double free = distance(p, node.center) - reach - node.radius;
            if (free > node.radius) {
                sum += share<POWER>(factor, node.area, free);
                at = node.skip;
            } else {
                double own = 0.0;
                for (uint32_t f = node.facets[0]; f < node.facets[1]; f++) {
                    own += of_facet<POWER>(facets[f], p, reach, factor, most);
                }
                sum += own;
                at++;
            }
            if (sum >= enough) {
                return enough;
            }
        }
        return sum;
    }

    template <int POWER>
    __device__ static double of_facet(const Facet& f, const double (&p)[D], double reach, double factor, double most) {
        double center[D];
        for (int a = 0; a < D; a++) {
            double sum = static_cast<double>(f.v[0].v[a]);
            for (int k = 1; k < D; k++) {
                sum += static_cast<double>(f.v[k].v[a]);
            }
            center[a] = sum / static_cast<double>(D);
        }
        double radius = 0.0;
        for (int k = 0; k < D; k++) {
            double arm[D];
            for (int a = 0; a < D; a++) {
                arm[a] = static_cast<double>(f.v[k].v[a]) - center[a];
            }
            radius = larger_of(radius, norm(arm));
        }
        const double free = distance(p, center) - reach - radius;
        if (!(free > 0.0)) {
            return most;
        }
        const Plane<int64_t, Wide> plane(f);
        double area[D];
        for (int a = 0; a < D; a++) {
            area[a] = (D == 2 ? 1.0 : 0.5) * static_cast<double>(plane.normal[a]);
        }
        return smaller_of(share<POWER>(factor, norm(area), free), most);
    }

    // The angle by the first two moments.
    __device__ static double by_moments(const CapNode& node, const double (&r)[D], double square) {
        const double power = D == 2 ? square : square * sqrt(square);
        double trace = 0.0, stretch = 0.0;
        for (int a = 0; a < D; a++) {
            trace += node.second[a][a];
            for (int b = 0; b < D; b++) {
                stretch += r[a] * node.second[a][b] * r[b];
            }
        }
        return (dot(node.first, r) + trace - static_cast<double>(D) * stretch / square) / power;
    }

    // Adds the angle of one facet seen from the origin, in 3D half of it.
    __device__ static void add_facet(Turn& near, const Facet& f) {
        const Plane<int64_t, Wide> plane(f);
        Ints origin;
        for (int a = 0; a < D; a++) {
            origin.v[a] = 0;
        }
        const Wide value = plane.value(origin);
        const double size = to_f64(value < 0 ? -value : value);
        const double det = plane.outer(value) ? -size : size;
        // Where a point is taken to be, as a tie.
        constexpr double ASIDE[3] = {1.0 / 64.0, 1.0 / 8192.0, 1.0 / 1048576.0};
        double v[D][D];
        for (int k = 0; k < D; k++) {
            for (int a = 0; a < D; a++) {
                v[k][a] = static_cast<double>(f.v[k].v[a]) - ASIDE[a];
            }
        }
        if constexpr (D == 2) {
            near.add(det, dot(v[0], v[1]));
        } else {
            const double la = norm(v[0]), lb = norm(v[1]), lc = norm(v[2]);
            near.add(det, la * lb * lc + dot(v[0], v[1]) * lc + dot(v[1], v[2]) * la + dot(v[2], v[0]) * lb);
        }
    }
};
