// Exact predicates on the integer lattice, with the tie rule of `exact.rs`: a query point P stands
// for P + (e, e^2, e^3), so a value that vanishes takes the sign of its first coefficient that
// does not.
//
// Lines along d are points of the plane that d shears them to: with d[axis] = 1, the point p goes to
// p' = p - p[axis] d, whose other two coordinates u, v name the line. The signed volume of d, an edge
// e and an arm q is then e'_u q'_v - e'_v q'_u.

#pragma once

#include "kernel.cuh"

// Numbers of 128 bits, for values of planes far from small.
using Wide = __int128;

// The nearest f64 of 128 bits, ties to even.
__device__ inline double to_f64(Wide v) {
    const bool negative = v < 0;
    unsigned __int128 size = negative ? -static_cast<unsigned __int128>(v) : static_cast<unsigned __int128>(v);
    const uint64_t high = static_cast<uint64_t>(size >> 64);
    int shift = 0;
    if (high != 0) {
        // 64 bits are kept, and one of them tells whether any was lost: rounding sees the same.
        shift = 64 - __clzll(static_cast<long long>(high));
        const bool lost = (size & ((static_cast<unsigned __int128>(1) << shift) - 1)) != 0;
        size = size >> shift | static_cast<unsigned __int128>(lost);
    }
    const double rounded = ldexp(__ull2double_rn(static_cast<uint64_t>(size)), shift);
    return negative ? -rounded : rounded;
}

struct Facet {
    Ints v[D];

    __device__ Facet relative_to(Ints origin) const {
        Facet moved;
        for (int k = 0; k < D; k++) {
            for (int a = 0; a < D; a++) {
                moved.v[k].v[a] = v[k].v[a] - origin.v[a];
            }
        }
        return moved;
    }

    __device__ int low(int a) const {
        int least = min(v[0].v[a], v[1].v[a]);
        return D == 2 ? least : min(least, v[D - 1].v[a]);
    }

    __device__ int high(int a) const {
        int most = max(v[0].v[a], v[1].v[a]);
        return D == 2 ? most : max(most, v[D - 1].v[a]);
    }

    // The largest extent along an axis.
    __device__ int extent() const {
        int most = 0;
        for (int a = 0; a < D; a++) {
            most = max(most, high(a) - low(a));
        }
        return most;
    }

    // The most that a coordinate is away from 0.
    __device__ int reach() const {
        int most = 0;
        for (int k = 0; k < D; k++) {
            for (int a = 0; a < D; a++) {
                most = max(most, abs(v[k].v[a]));
            }
        }
        return most;
    }
};

// Coordinates up to this let a facet's edges and normal fit 32 bits, and its plane's values 64.
constexpr int SMALL = 1 << 13;

template <typename I>
__device__ inline I first_sign(const I (&w)[D]) {
    for (int a = 0; a < D; a++) {
        if (w[a] != 0) {
            return w[a] > 0 ? 1 : -1;
        }
    }
    return 0;
}

// The normal, outward for a closed body's facet, zero for a degenerate one; C holds edges, I their
// products.
template <typename C, typename I>
__device__ inline void normal_of(const Facet& f, I (&n)[D]) {
    C e[D], g[D];
    for (int a = 0; a < D; a++) {
        e[a] = static_cast<C>(f.v[1].v[a]) - f.v[0].v[a];
        g[a] = static_cast<C>(f.v[D - 1].v[a]) - f.v[0].v[a];
    }
    if constexpr (D == 2) {
        n[0] = e[1];
        n[1] = -e[0];
    } else {
        n[0] = static_cast<I>(e[1]) * g[2] - static_cast<I>(e[2]) * g[1];
        n[1] = static_cast<I>(e[2]) * g[0] - static_cast<I>(e[0]) * g[2];
        n[2] = static_cast<I>(e[0]) * g[1] - static_cast<I>(e[1]) * g[0];
    }
}

// The plane of a facet, with normals of type I and values of type V.
template <typename I, typename V>
struct Plane {
    I normal[D];
    Ints corner;
    bool tie;

    __device__ explicit Plane(const Facet& f) : corner(f.v[0]) {
        normal_of<I, I>(f, normal);
        tie = first_sign(normal) > 0;
    }

    // N . (p - corner): positive outside, without the tie.
    __device__ V value(const Ints& p) const {
        V sum = 0;
        for (int a = 0; a < D; a++) {
            sum += static_cast<V>(normal[a]) * static_cast<V>(static_cast<int64_t>(p.v[a]) - corner.v[a]);
        }
        return sum;
    }

    __device__ bool outer(V value) const { return value > 0 || (value == 0 && tie); }

    __device__ bool is_outer(const Ints& p) const { return outer(value(p)); }

    __device__ I along(const int (&d)[D]) const {
        I sum = 0;
        for (int a = 0; a < D; a++) {
            sum += normal[a] * d[a];
        }
        return sum;
    }
};

// Edge functions of a facet for lines along d, whose component on `axis` is 1.
template <typename I>
struct Lines {
    // Sheared corners.
    I u[D], v[D];
    // 1 for the edge functions whose zero counts as negative.
    I tie[D];
    int axis_u, axis_v;

    __device__ Lines(const Facet& f, const int (&d)[D], int axis) {
        axis_u = (axis + 1) % D;
        axis_v = (axis + 2) % D;
        for (int k = 0; k < D; k++) {
            u[k] = static_cast<I>(f.v[k].v[axis_u]) - static_cast<I>(d[axis_u]) * f.v[k].v[axis];
            v[k] = D == 2 ? 0 : static_cast<I>(f.v[k].v[axis_v]) - static_cast<I>(d[axis_v]) * f.v[k].v[axis];
        }
        for (int k = 0; k < D; k++) {
            I w[D];
            if constexpr (D == 2) {
                w[0] = k == 0 ? d[1] : -d[1];
                w[1] = k == 0 ? -d[0] : d[0];
            } else {
                I e[3];
                for (int a = 0; a < 3; a++) {
                    e[a] = static_cast<I>(f.v[(k + 1) % 3].v[a]) - f.v[k].v[a];
                }
                w[0] = d[1] * e[2] - d[2] * e[1];
                w[1] = d[2] * e[0] - d[0] * e[2];
                w[2] = d[0] * e[1] - d[1] * e[0];
            }
            tie[k] = first_sign(w) < 0;
        }
    }

    // The edge functions at a line; negative or not tells the sides.
    __device__ void at(I pu, I pv, I (&value)[D]) const {
        if constexpr (D == 2) {
            // The sign of d x (end - p) for the second end, and the opposite of the first one's.
            const I s = axis_u == 1 ? 1 : -1;
            value[0] = s * (u[1] - pu) - tie[0];
            value[1] = -s * (u[0] - pu) - tie[1];
        } else {
            for (int k = 0; k < 3; k++) {
                const int l = (k + 1) % 3;
                value[k] = (u[l] - u[k]) * (pv - v[k]) - (v[l] - v[k]) * (pu - u[k]) - tie[k];
            }
        }
    }

    // What a step of `spacing` along u and v adds to them.
    __device__ void steps(I spacing, I (&by_u)[D], I (&by_v)[D]) const {
        if constexpr (D == 2) {
            const I s = axis_u == 1 ? 1 : -1;
            by_u[0] = -s * spacing;
            by_u[1] = s * spacing;
            by_v[0] = by_v[1] = 0;
        } else {
            for (int k = 0; k < 3; k++) {
                const int l = (k + 1) % 3;
                by_u[k] = -(v[l] - v[k]) * spacing;
                by_v[k] = (u[l] - u[k]) * spacing;
            }
        }
    }

    __device__ static bool hit(const I (&value)[D]) {
        I both = -1, any = 0;
        for (int k = 0; k < D; k++) {
            both &= value[k];
            any |= value[k];
        }
        return both < 0 || any >= 0;
    }

    // Whether the line through (pu, pv) meets the facet.
    __device__ bool meets(I pu, I pv) const {
        I value[D];
        at(pu, pv, value);
        return hit(value);
    }
};

// Whether a facet, seen from the box's centre, has a point in common with the box ±half; V holds
// values of the facet's plane.
template <typename I, typename V>
__device__ inline bool overlaps_origin(const Facet& f, int half_edge) {
    const I half = half_edge;
    if constexpr (D == 3) {
        for (int k = 0; k < D; k++) {
            bool inside = true;
            for (int a = 0; a < D; a++) {
                inside &= abs(f.v[k].v[a]) <= half_edge;
            }
            if (inside) {
                return true;
            }
        }
    }
    for (int a = 0; a < D; a++) {
        if (f.low(a) > half_edge || f.high(a) < -half_edge) {
            return false;
        }
    }
    if constexpr (D == 3) {
        for (int k = 0; k < 3; k++) {
            I e[3];
            for (int a = 0; a < 3; a++) {
                e[a] = static_cast<I>(f.v[(k + 1) % 3].v[a]) - f.v[k].v[a];
            }
            for (int axis = 0; axis < 3; axis++) {
                const int i = (axis + 1) % 3, j = (axis + 2) % 3;
                // Two of the corners share this projection: the ends of the edge.
                const I p = e[i] * f.v[k].v[j] - e[j] * f.v[k].v[i];
                const I q = e[i] * f.v[(k + 2) % 3].v[j] - e[j] * f.v[(k + 2) % 3].v[i];
                const I radius = half * ((e[i] < 0 ? -e[i] : e[i]) + (e[j] < 0 ? -e[j] : e[j]));
                if ((p < q ? p : q) > radius || (p < q ? q : p) < -radius) {
                    return false;
                }
            }
        }
    }
    I n[D];
    normal_of<I, I>(f, n);
    V value = 0, radius = 0;
    for (int a = 0; a < D; a++) {
        value += static_cast<V>(n[a]) * f.v[0].v[a];
        radius += static_cast<V>(n[a] < 0 ? -n[a] : n[a]) * half;
    }
    return (value < 0 ? -value : value) <= radius;
}

// Whether a facet and the closed box `center ± half` have a common point: the separating axis test
// of Akenine-Moeller 2001 in integers.
__device__ inline bool overlaps(const Facet& facet, const Ints& center, int half) {
    const Facet f = facet.relative_to(center);
    if (half <= SMALL && f.reach() <= SMALL) {
        return overlaps_origin<int32_t, int64_t>(f, half);
    }
    return overlaps_origin<int64_t, Wide>(f, half);
}
