// The angle that a surface's caps subtend at a point, and bounds on its changes: `tree.rs`, `turn.rs` and `view.rs`, operation
// by operation. With +, -, *, / and the root alone, each rounded as IEEE 754 says (no fused products), results have the
// same bits.

#pragma once

#include "exact.cuh"
#include "mesher_constants.cuh"

struct CapNode {
    double center[D];
    double radius, size;
    double first[D];
    double second[D][D];
    // The first simplex, and the one behind the last.
    uint32_t range[2];
    // The node behind the subtree.
    uint64_t skip;
};
static_assert(sizeof(CapNode) == (D == 2 ? 96 : 152), "as `Node` has it");

constexpr double CAP_PI = 3.14159265358979311600;
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
        // Two straight angles make a whole turn; by sign, they are on its far side or cancel.
        const bool straight = re < 0.0 && x < 0.0 && im == 0.0 && y == 0.0;
        if (next_im == 0.0 && !straight) {
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

struct CapAngle {
    double value, error;
};

struct CapTree {
    const CapNode* nodes;
    // Caps, or open edges with the second end given twice; in 2D ends, given twice.
    const Facet* simplices;
    // Nodes.
    uint64_t count;

    // A sum of bounds, `of` that of a simplex, or `enough` where it is at least that.
    template <int POWER, typename Of>
    __device__ double sum_of(const double (&p)[D], double reach, double enough, const Of& of) const {
        double sum = 0.0;
        uint64_t at = 0;
        while (at < count) {
            const CapNode& node = nodes[at];
            double arm[D];
            for (int a = 0; a < D; a++) {
                arm[a] = p[a] - node.center[a];
            }
            const double free = norm(arm) - reach - node.radius;
            if (free > CAP_FAR * node.radius) {
                sum += share<POWER>(node.size, free);
                at = node.skip;
            } else {
                for (uint32_t i = node.range[0]; i < node.range[1]; i++) {
                    sum += of(simplices[i]);
                }
                at++;
            }
            if (sum >= enough) {
                return enough;
            }
        }
        return sum;
    }

    template <int POWER>
    __device__ static double share(double size, double r) {
        double raised = r;
        for (int i = 1; i < POWER; i++) {
            raised = raised * r;
        }
        return size / (CAP_SPHERE * raised);
    }
};

// The caps seen from a box: the angle of far nodes in its corners, bounds on its error there and interpolated, and the
// simplices that are near.
template <int MOST> struct CapView {
    double far[1 << D];
    double errors[2];
    uint32_t near[MOST];
    uint32_t count;
};

// Linear along each axis between values in the corners of a box; `t` in lengths of its edges.
__device__ inline double between(const double (&corners)[1 << D], const double (&t)[D]) {
    double values[1 << D];
    for (int i = 0; i < 1 << D; i++) {
        values[i] = corners[i];
    }
    for (int axis = D - 1; axis >= 0; axis--) {
        for (int i = 0; i < 1 << axis; i++) {
            values[i] += t[axis] * (values[i + (1 << axis)] - values[i]);
        }
    }
    return values[0];
}

struct Caps {
    CapTree caps, rim;

    // A bound on |g| within `reach` of a point, or `enough` where it is at least that.
    __device__ double bound(const double (&p)[D], double reach, double enough) const {
        return caps.sum_of<D - 1>(p, reach, enough, [&](const Facet& f) {
            double center[D];
            for (int a = 0; a < D; a++) {
                double sum = 0.0;
                for (int k = 0; k < D; k++) {
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
            double arm[D];
            for (int a = 0; a < D; a++) {
                arm[a] = p[a] - center[a];
            }
            const double free = norm(arm) - reach - radius;
            if (!(free > 0.0)) {
                return 0.5;
            }
            const Plane<int64_t, Wide> plane(f);
            double area[D];
            for (int a = 0; a < D; a++) {
                area[a] = (D == 2 ? 1.0 : 0.5) * static_cast<double>(plane.normal[a]);
            }
            return smaller_of(CapTree::share<D - 1>(norm(area), free), 0.5);
        });
    }

    // A bound on the gradient of W - g within `reach` of a point where no wall is, or `enough`.
    __device__ double gradient(const double (&p)[D], double reach, double enough) const {
        return of_rim<D - 1>(p, reach, enough);
    }

    // The same on its second derivatives along any direction.
    __device__ double curvature(const double (&p)[D], double reach, double enough) const {
        const double by = static_cast<double>(D - 1);
        return by * of_rim<D>(p, reach, enough / by);
    }

    // g at a point of the lattice, nodes replaced by their series where its remainder is at most `tolerance`.
    __device__ CapAngle angle(const Ints& p, double tolerance) const {
        double far = 0.0, error = 0.0;
        Turn near;
        uint64_t at = 0;
        while (at < caps.count) {
            const CapNode& node = caps.nodes[at];
            double r[D];
            for (int a = 0; a < D; a++) {
                r[a] = node.center[a] - static_cast<double>(p.v[a]);
            }
            double left, both;
            remainders(node, norm(r), 0.0, left, both);
            if (left <= tolerance) {
                far += by_moments(node, r);
                error += left;
                at = node.skip;
            } else {
                for (uint32_t f = node.range[0]; f < node.range[1]; f++) {
                    add_facet(near, caps.simplices[f].relative_to(p));
                }
                at++;
            }
        }
        // In 3D the tangents are of half the angle.
        return CapAngle{(far + static_cast<double>(D - 1) * near.angle()) / CAP_SPHERE, error};
    }

    // Whether |W - g| is at least a half; a rough g is computed again where it does not decide.
    __device__ bool is_inside(const Ints& p, int32_t winding, double half, CapAngle g) const {
        constexpr double FINER[2] = {CAP_ROUGH, 0.0};
        for (int i = 0; i < 2; i++) {
            const double size = fabs(static_cast<double>(winding) - g.value);
            if (fabs(size - half) > g.error) {
                return size >= half;
            }
            g = angle(p, FINER[i]);
        }
        return fabs(static_cast<double>(winding) - g.value) >= half;
    }

    // The caps seen from the points between `low` and `low + edge` on each axis, for `view` in shared memory. By 2^D
    // threads of one warp, one a corner; they all return whether no more than MOST simplices are near.
    template <int MOST>
    __device__ bool look(const Ints& low, int edge, double tolerance, int corner, CapView<MOST>& view) const {
        const double length = static_cast<double>(edge);
        double middle[D];
        for (int a = 0; a < D; a++) {
            middle[a] = static_cast<double>(low.v[a]) + 0.5 * length;
        }
        const double reach = 0.5 * length * sqrt(static_cast<double>(D));
        const double spread = static_cast<double>(D) * length * length / 4.0;
        const Ints point = corner_of(low, edge, corner);
        double far = 0.0, errors[2] = {0.0, 0.0};
        uint32_t count = 0;
        uint64_t at = 0;
        while (at < caps.count) {
            const CapNode& node = caps.nodes[at];
            double arm[D], r[D];
            for (int a = 0; a < D; a++) {
                arm[a] = node.center[a] - middle[a];
                r[a] = node.center[a] - static_cast<double>(point.v[a]);
            }
            double series, both;
            remainders(node, norm(arm) - reach, spread, series, both);
            if (both <= tolerance) {
                errors[0] += series;
                errors[1] += both;
                far += by_moments(node, r);
                at = node.skip;
            } else {
                if (count + (node.range[1] - node.range[0]) > MOST) {
                    return false;
                }
                for (uint32_t f = node.range[0]; f < node.range[1]; f++) {
                    if (corner == 0) {
                        view.near[count] = f;
                    }
                    count++;
                }
                at++;
            }
        }
        view.far[corner] = far;
        if (corner == 0) {
            view.errors[0] = errors[0];
            view.errors[1] = errors[1];
            view.count = count;
        }
        return true;
    }

    // g at a point, of which that of the far nodes is known.
    template <int MOST> __device__ double with_near(const CapView<MOST>& view, double far, const Ints& p) const {
        Turn near;
        for (uint32_t i = 0; i < view.count; i++) {
            add_facet(near, caps.simplices[view.near[i]].relative_to(p));
        }
        return (far + static_cast<double>(D - 1) * near.angle()) / CAP_SPHERE;
    }

    // g in a corner of the box.
    template <int MOST>
    __device__ double in_corner(const CapView<MOST>& view, const Ints& low, int edge, int corner) const {
        return with_near(view, view.far[corner], corner_of(low, edge, corner));
    }

    // g at a point of the box.
    template <int MOST>
    __device__ CapAngle seen(const CapView<MOST>& view, const Ints& low, int edge, const Ints& p) const {
        double t[D];
        for (int a = 0; a < D; a++) {
            t[a] = static_cast<double>(p.v[a] - low.v[a]) / static_cast<double>(edge);
        }
        return CapAngle{with_near(view, between(view.far, t), p), view.errors[1]};
    }

private:
    __device__ static Ints corner_of(const Ints& low, int edge, int corner) {
        Ints p;
        for (int a = 0; a < D; a++) {
            p.v[a] = low.v[a] + (corner >> a & 1) * edge;
        }
        return p;
    }

    template <int POWER>
    __device__ double of_rim(const double (&p)[D], double reach, double enough) const {
        return rim.sum_of<POWER>(p, reach, enough, [&](const Facet& f) {
            const double free = distance(f, p) - reach;
            if (free <= 0.0) {
                return __builtin_huge_val();
            }
            if constexpr (D == 2) {
                return CapTree::share<POWER>(1.0, free);
            } else {
                double along[D];
                for (int a = 0; a < D; a++) {
                    along[a] = static_cast<double>(f.v[1].v[a]) - static_cast<double>(f.v[0].v[a]);
                }
                const double part = CapTree::share<POWER>(norm(along), free);
                return smaller_of(part, CapTree::share<POWER - 1>(2.0, free));
            }
        });
    }

    // From a point to the segment between the first two corners.
    __device__ static double distance(const Facet& f, const double (&p)[D]) {
        double along[D], arm[D];
        for (int a = 0; a < D; a++) {
            const double first = static_cast<double>(f.v[0].v[a]);
            along[a] = static_cast<double>(f.v[1].v[a]) - first;
            arm[a] = p[a] - first;
        }
        const double square = dot(along, along);
        const double t = square > 0.0 ? smaller_of(larger_of(dot(along, arm) / square, 0.0), 1.0) : 0.0;
        for (int a = 0; a < D; a++) {
            arm[a] -= t * along[a];
        }
        return norm(arm);
    }

    // Bounds over all directions: on the remainder of the moments' series, and on its sum with that of a linear
    // interpolation.
    __device__ static void remainders(const CapNode& node, double length, double spread, double& series, double& both) {
        const double free = length - node.radius;
        if (free <= node.radius) {
            series = both = __builtin_huge_val();
            return;
        }
        const double square = node.radius * node.radius, by = free * free;
        const double scale = D == 2 ? node.size / (by * free * CAP_SPHERE) : 3.0 * node.size / (by * by * CAP_SPHERE);
        series = scale * square;
        both = scale * (square + spread);
    }

    // The angle by the first two moments.
    __device__ static double by_moments(const CapNode& node, const double (&r)[D]) {
        const double square = dot(r, r);
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
        // A point in the plane of a cap is moved to here: the tie rule.
        constexpr double ASIDE[3] = {1.0 / 4096.0, 1.0 / 524288.0, 1.0 / 67108864.0};
        const bool is_tie = value == 0;
        double size = to_f64(value < 0 ? -value : value);
        if (is_tie) {
            size = 0.0;
            for (int a = 0; a < D; a++) {
                size = size + static_cast<double>(plane.normal[a]) * ASIDE[a];
            }
            size = fabs(size);
        }
        const double det = plane.outer(value) ? -size : size;
        double v[D][D];
        for (int k = 0; k < D; k++) {
            for (int a = 0; a < D; a++) {
                v[k][a] = static_cast<double>(f.v[k].v[a]) - (is_tie ? ASIDE[a] : 0.0);
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
