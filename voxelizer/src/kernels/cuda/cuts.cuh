// Lines of cell centres that meet a facet, and what is recorded where they do.

#pragma once

#include "local.cuh"

constexpr int PAIRS = DIRECTIONS / 2;
constexpr int SLOTS = CELLS * DIRECTIONS;

// Where a block lies.
struct Place {
    uint64_t fluid;
    // First and last cell of the box, seen from the block's first cell.
    int low[D], high[D];
    // Whether all cells around the block are in the box.
    bool inner;
    // Axes along which the box is periodic, a bit each; in which direction the facets being cut lie from
    // it, CENTER for the surface itself and others for its images.
    uint32_t periodic;
    int beyond;
    // By link: crossings on the face through which it leaves the box, with their signs, in bytes of shared memory,
    // four a word; and whether any were counted.
    uint32_t* on_face;
    uint32_t* any_on_face;
    // Whether they are known.
    bool settled;

    static __device__ void add(uint32_t* on_face, int slot, int sign) {
        const uint32_t one = 1u << 8 * (slot & 3);
        atomicAdd(&on_face[slot >> 2], sign < 0 ? ~one + 1 : one);
    }

    // The sum of a link: a byte's borrow is taken by those above it.
    static __device__ int sum(const uint32_t* on_face, int slot) {
        int32_t word = static_cast<int32_t>(on_face[slot >> 2]);
        int value = 0;
        for (int i = 0; i <= (slot & 3); i++) {
            value = static_cast<int8_t>(word & 0xff);
            word = (word - value) >> 8;
        }
        return value;
    }
};

// What is recorded of a cut: the bits of q, which are ordered as q is; above them nothing, below them
// the patch.
struct Plain {
    using Slot = uint32_t;
    // Whether links pass facets: see `pass.cuh`.
    static constexpr bool PASSES = false;
    static constexpr Slot EMPTY = ~0u;
    __device__ static Slot pack(float q, uint32_t) { return __float_as_uint(q); }
    __device__ static float q(Slot slot) { return __uint_as_float(slot); }
    __device__ static uint16_t patch(Slot) { return 0; }
};

struct Patched {
    using Slot = unsigned long long;
    static constexpr bool PASSES = false;
    static constexpr Slot EMPTY = ~0ull;
    __device__ static Slot pack(float q, uint32_t patch) { return static_cast<Slot>(__float_as_uint(q)) << 32 | patch; }
    __device__ static float q(Slot slot) { return __uint_as_float(static_cast<uint32_t>(slot >> 32)); }
    __device__ static uint16_t patch(Slot slot) { return static_cast<uint16_t>(slot); }
};

// The same where links pass facets.
template <typename Kind>
struct Passing : Kind {
    static constexpr bool PASSES = true;
};

// Facets, and the lists of them by row.
struct Lists {
    const Facet* corners;
    const uint16_t* patch;
    const uint32_t* starts;
    const uint32_t* facets;
};

__device__ inline double to_f64(double v) {
    return v;
}

__device__ inline double to_f64(int64_t v) {
    return __ll2double_rn(v);
}

// The coordinate of a point on an axis that is not known before the run, without an address.
__device__ inline int pick(const int32_t (&v)[D], int a) {
    if constexpr (D == 2) {
        return a == 0 ? v[0] : v[1];
    } else {
        return a == 0 ? v[0] : a == 1 ? v[1] : v[D - 1];
    }
}

template <typename I>
__device__ inline I pick_wide(const I (&v)[D], int a) {
    if constexpr (D == 2) {
        return a == 0 ? v[0] : v[1];
    } else {
        return a == 0 ? v[0] : a == 1 ? v[1] : v[D - 1];
    }
}

// A direction, seen with its own axis last: u and v are the axes behind it, in turn.
struct Ray {
    int direction, axis, axis_u, axis_v;
    int du, dv;

    __device__ explicit Ray(int direction) : direction(direction) {
        int d[D];
        axis = 0;
        for (int a = 0; a < D; a++) {
            d[a] = step(direction, a);
            axis = d[a] != 0 ? a : axis;
        }
        axis_u = axis + 1 == D ? 0 : axis + 1;
        axis_v = D == 2 ? axis : axis_u + 1 == D ? 0 : axis_u + 1;
        du = pick(d, axis_u);
        dv = D == 2 ? 0 : pick(d, axis_v);
    }

    // The same in 11 bits, from which it is quicker to have again than from the direction.
    __device__ uint32_t bits() const {
        return static_cast<uint32_t>(direction | axis << 5 | (du + 1) << 7 | (dv + 1) << 9);
    }

    __device__ static Ray of_bits(uint32_t bits) {
        Ray ray;
        ray.direction = bits & 31;
        ray.axis = bits >> 5 & 3;
        ray.axis_u = ray.axis + 1 == D ? 0 : ray.axis + 1;
        ray.axis_v = D == 2 ? ray.axis : ray.axis_u + 1 == D ? 0 : ray.axis_u + 1;
        ray.du = static_cast<int>(bits >> 7 & 3) - 1;
        ray.dv = static_cast<int>(bits >> 9 & 3) - 1;
        return ray;
    }

private:
    Ray() = default;
};

// A facet seen from a block's first centre, with a ray's own axis last.
struct Turned {
    int32_t u[D], v[D], w[D];

    __device__ Turned(const Facet* facet, const Ints& center, const Ray& ray) {
        // Corners are loaded in turn: an axis that is not known before the run costs an address.
        const int32_t* corner = facet->v[0].v;
        const int center_u = pick(center.v, ray.axis_u), center_w = pick(center.v, ray.axis);
        const int center_v = D == 2 ? 0 : pick(center.v, ray.axis_v);
        for (int k = 0; k < D; k++) {
            u[k] = corner[k * D + ray.axis_u] - center_u;
            v[k] = D == 2 ? 0 : corner[k * D + ray.axis_v] - center_v;
            w[k] = corner[k * D + ray.axis] - center_w;
        }
    }
};

// Lines of cell centres along a direction that may meet a facet, and its values at the first of them:
// C holds sheared coordinates and their steps, E edge functions and normals, V values of the plane.
template <typename C, typename E, typename V>
struct Setup {
    // First line and number of lines, on both axes.
    int from_u, from_v, extent_u, extent_v;
    // Edge functions, ties broken, and what steps to the next lines add to them.
    E edge[D];
    C by_u[D], by_v[D];
    // The plane's value at cell 0 of the line, what steps add to it, and its growth along the line.
    V value, step_u, step_v, rise, bias;
    // Whether the lines' direction is that of the normal.
    bool forward;

    // Whether there are any such lines.
    __device__ bool start(const Turned& f, const Ray& ray, int spacing, int shift) {
        C u[D], v[D];
        C low_u, high_u, low_v = 0, high_v = 0;
        int32_t low_w, high_w;
        for (int k = 0; k < D; k++) {
            u[k] = f.u[k] - static_cast<C>(ray.du) * f.w[k];
            v[k] = f.v[k] - static_cast<C>(ray.dv) * f.w[k];
            low_u = k == 0 ? u[k] : min(low_u, u[k]);
            high_u = k == 0 ? u[k] : max(high_u, u[k]);
            low_v = k == 0 ? v[k] : min(low_v, v[k]);
            high_v = k == 0 ? v[k] : max(high_v, v[k]);
            low_w = k == 0 ? f.w[k] : min(low_w, f.w[k]);
            high_w = k == 0 ? f.w[k] : max(high_w, f.w[k]);
        }
        // Lines that meet the facet's bounds, and the block or a cell beside it.
        from_u = max(static_cast<int>((low_u + (spacing - 1)) >> shift), -3 * max(ray.du, 0));
        extent_u = min(static_cast<int>(high_u >> shift), 3 - 3 * min(ray.du, 0)) + 1 - from_u;
        from_v = D == 2 ? 0 : max(static_cast<int>((low_v + (spacing - 1)) >> shift), -3 * max(ray.dv, 0));
        extent_v = D == 2 ? 1 : min(static_cast<int>(high_v >> shift), 3 - 3 * min(ray.dv, 0)) + 1 - from_v;
        if (extent_u <= 0 || extent_v <= 0 || low_w > 4 * spacing || high_w < -spacing) {
            return false;
        }
        E nu, nv = 0, nw;
        normal(f, ray, nu, nv, nw);
        const E ahead = nw + nu * ray.du + nv * ray.dv;
        if (ahead == 0) {
            return false;
        }
        forward = ahead > 0;
        bias = (first_of(ray, nu, nv, nw) > 0) != forward ? 1 : 0;
        const V dot = static_cast<V>(nu) * static_cast<V>(f.u[0]) + static_cast<V>(nv) * static_cast<V>(f.v[0]) +
                      static_cast<V>(nw) * static_cast<V>(f.w[0]);
        value = (forward ? -dot : dot) - bias;
        step_u = static_cast<V>(forward ? nu : -nu) * static_cast<V>(spacing);
        step_v = static_cast<V>(forward ? nv : -nv) * static_cast<V>(spacing);
        rise = static_cast<V>(forward ? ahead : -ahead) * static_cast<V>(spacing);
        value += static_cast<V>(from_u) * step_u + static_cast<V>(from_v) * step_v;
        edges(ray, u, v, spacing);
        return true;
    }

    // The normal: turning the axes in their order leaves cross products as they are.
    __device__ static void normal(const Turned& f, const Ray& ray, E& nu, E& nv, E& nw) {
        if constexpr (D == 2) {
            // (e_y, -e_x): with x last, u is y.
            const C eu = static_cast<C>(f.u[1]) - f.u[0], ew = static_cast<C>(f.w[1]) - f.w[0];
            nu = ray.axis == 0 ? -ew : ew;
            nw = ray.axis == 0 ? eu : -eu;
        } else {
            const C eu = static_cast<C>(f.u[1]) - f.u[0], gu = static_cast<C>(f.u[D - 1]) - f.u[0];
            const C ev = static_cast<C>(f.v[1]) - f.v[0], gv = static_cast<C>(f.v[D - 1]) - f.v[0];
            const C ew = static_cast<C>(f.w[1]) - f.w[0], gw = static_cast<C>(f.w[D - 1]) - f.w[0];
            nu = static_cast<E>(ev) * gw - static_cast<E>(ew) * gv;
            nv = static_cast<E>(ew) * gu - static_cast<E>(eu) * gw;
            nw = static_cast<E>(eu) * gv - static_cast<E>(ev) * gu;
        }
    }

    // The first of three numbers that is not 0, in the order of the axes they belong to.
    template <typename T>
    __device__ static T first_of(const Ray& ray, T u, T v, T w) {
        if constexpr (D == 2) {
            return ray.axis == 1 ? (u != 0 ? u : w) : (w != 0 ? w : u);
        } else {
            const T first = ray.axis == 2 ? u : ray.axis == 1 ? v : w;
            const T second = ray.axis == 2 ? v : ray.axis == 1 ? w : u;
            const T third = ray.axis == 2 ? w : ray.axis == 1 ? u : v;
            return first != 0 ? first : second != 0 ? second : third;
        }
    }

    // Sheared corners in, edge functions out.
    __device__ void edges(const Ray& ray, const C (&u)[D], const C (&v)[D], int spacing) {
        const C pu = static_cast<C>(from_u) * spacing, pv = static_cast<C>(from_v) * spacing;
        if constexpr (D == 2) {
            const C s = ray.axis_u == 1 ? 1 : -1;
            // First coefficients of d x (end - p), of the second end, and of the opposite for the first.
            const int d0 = ray.axis == 0 ? 1 : ray.du, d1 = ray.axis == 1 ? 1 : ray.du;
            const int sign = d1 != 0 ? d1 : -d0;
            edge[0] = s * (u[1] - pu) - (sign < 0);
            edge[1] = -s * (u[0] - pu) - (-sign < 0);
            by_u[0] = -s * spacing;
            by_u[1] = s * spacing;
            by_v[0] = by_v[1] = 0;
        } else {
            for (int k = 0; k < D; k++) {
                const int l = (k + 1) % D;
                const C eu = u[l] - u[k], ev = v[l] - v[k];
                // The coefficients d x e, in the order of the axes: of e, its shear along d does not count.
                const C wu = -ev, wv = eu, w = ray.du * ev - ray.dv * eu;
                const C sign = first_of(ray, wu, wv, w);
                edge[k] = static_cast<E>(eu) * (pv - v[k]) - static_cast<E>(ev) * (pu - u[k]) - (sign < 0);
                by_u[k] = -ev * spacing;
                by_v[k] = eu * spacing;
            }
        }
    }
};

template <typename Kind>
struct Cuts {
    // The nearest cut of each link, 3^D a cell, and which links have one; where links pass facets, also which are
    // crossed more than once, behind those of all cells.
    typename Kind::Slot* nearest;
    uint32_t* directions;
    const Place& place;
    uint32_t patch;

    // A line's crossing with a plane: `value` is that of its cell 0, growing by `rise` from cell to
    // cell, negative before the plane; `sign` says whether it goes with the normal, `over_rise` divides by the rise.
    template <typename V, typename Quotient>
    __device__ void line(const Ray& ray, int at_u, int at_v, V value, V rise, V bias, int sign,
                         Quotient over_rise) const {
        V beyond = value;
        int first = 0;
        for (int i = 0; i < 4; i++) {
            const bool before = beyond < 0;
            first += before;
            beyond = before ? beyond + rise : beyond;
        }
        const int head[3] = {at_u + first * ray.du, at_v + first * ray.dv, first};
        const int tail[3] = {head[0] - ray.du, head[1] - ray.dv, first - 1};
        const int head_cell = fluid_cell(ray, head), tail_cell = fluid_cell(ray, tail);
        if ((head_cell & tail_cell) == -1) {
            return;
        }
        // One end is in the block; on a link that leaves the box it matters which one is nearer.
        if (!place.inner) {
            const V to_tail = rise - beyond - bias, to_head = beyond + bias;
            const int opposite = DIRECTIONS - 1 - ray.direction;
            const bool found = tail_cell >= 0
                                   ? counts(ray, tail_cell * DIRECTIONS + ray.direction, head, to_tail, to_head, sign)
                                   : counts(ray, head_cell * DIRECTIONS + opposite, tail, to_head, to_tail, -sign);
            if (!found) {
                return;
            }
        }
        if (tail_cell >= 0) {
            record(tail_cell, ray.direction, over_rise(rise - beyond - bias));
        }
        if (head_cell >= 0) {
            record(head_cell, DIRECTIONS - 1 - ray.direction, over_rise(beyond + bias));
        }
    }

    // The number of a cell, if it is a fluid cell of the block, else -1.
    __device__ int fluid_cell(const Ray& ray, const int (&at)[3]) const {
        int cell = at[0] << 2 * ray.axis_u | at[2] << 2 * ray.axis;
        int bits = at[0] | at[2];
        if constexpr (D == 3) {
            cell |= at[1] << 2 * ray.axis_v;
            bits |= at[1];
        }
        return (bits & ~3) == 0 && place.fluid >> cell & 1 ? cell : -1;
    }

    // Whether a crossing counts on a link to a cell, given how far it is from the link's two ends, and the sign of
    // what winding numbers change by.
    template <typename V>
    __device__ bool counts(const Ray& ray, int slot, const int (&at)[3], V here, V there, int sign) const {
        const bool of_surface = place.beyond == CENTER;
        int toward = CENTER;
        bool leaves = step_out(at[0], ray.axis_u, toward);
        if constexpr (D == 3) {
            leaves |= step_out(at[1], ray.axis_v, toward);
        }
        leaves |= step_out(at[2], ray.axis, toward);
        if (toward == CENTER) {
            return of_surface;
        }
        const bool of_image = place.beyond == toward;
        if (leaves || !(of_surface || of_image)) {
            return false;
        }
        if (here == there) {
            if (!place.settled) {
                Place::add(place.on_face, slot, sign);
                *place.any_on_face = 1;
            }
            return place.settled && Place::sum(place.on_face, slot) != 0;
        }
        return here < there ? of_surface : of_image;
    }

    // Adds the side of the box on which a cell lies to its direction; whether the face there is not periodic.
    __device__ bool step_out(int at, int axis, int& toward) const {
        const int out = (at > pick(place.high, axis)) - (at < pick(place.low, axis));
        toward += out * (axis == 0 ? 1 : axis == 1 ? 3 : 9);
        return out != 0 && !(place.periodic >> axis & 1);
    }

    __device__ void record(int cell, int direction, double q) const {
        // A centre on the surface is at the smallest distance there is.
        const float least = 1.17549435e-38f;
        const float rounded = fmaxf(__double2float_rn(q), least);
        atomicMin(&nearest[cell * DIRECTIONS + direction], Kind::pack(rounded, patch));
        const uint32_t bit = 1u << direction;
        if constexpr (Kind::PASSES) {
            if ((atomicOr(&directions[cell], bit) & bit) != 0) {
                atomicOr(&directions[CELLS + cell], bit);
            }
        } else {
            atomicOr(&directions[cell], bit);
        }
    }

    // Goes over all lines of a setup.
    template <typename C, typename E, typename V>
    __device__ void all(const Ray& ray, Setup<C, E, V> setup) const {
        const V last = -4 * setup.rise;
        for (int v = 0; v < setup.extent_v; v++) {
            E here[D];
            for (int k = 0; k < D; k++) {
                here[k] = setup.edge[k];
                setup.edge[k] += setup.by_v[k];
            }
            V now = setup.value;
            setup.value += setup.step_v;
            for (int u = 0; u < setup.extent_u; u++) {
                const E both = here[0] & here[1] & here[D - 1], any = here[0] | here[1] | here[D - 1];
                if ((both < 0 || any >= 0) && now < setup.rise && now >= last) {
                    line(ray, setup.from_u + u, setup.from_v + v, now, setup.rise, setup.bias,
                         setup.forward ? 1 : -1, [&](V of) { return to_f64(of) / to_f64(setup.rise); });
                }
                for (int k = 0; k < D; k++) {
                    here[k] += setup.by_u[k];
                }
                now += setup.step_u;
            }
        }
    }
};
