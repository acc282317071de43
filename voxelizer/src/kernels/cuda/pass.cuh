// Links that pass facets with fluid on both sides: see the twin for the rule. A lane walks a link, from place to place:
// each time it looks for the next crossing among all facets of the block's lists. Few links need it.

#pragma once

#include "fill.cuh"
#include "windings.cuh"

// Where a facet crosses a link: the distance as an exact fraction of it, and what the winding number changes by.
struct Crossing {
    Wide far, whole;
    int change;
};

// What the winding number changes by where the surface and its image, beyond a periodic face, change it so: walls that go
// on beyond the face count once, ends in it cancel.
__device__ inline int change_at(int own, int image) { return own == image ? own : own + image; }

// Compares fractions, not negative, by their continued fractions: no product overflows.
__device__ inline int compare(Wide a, Wide b, Wide c, Wide d) {
    int sign = 1;
    while (true) {
        const Wide p = a / b, q = c / d;
        a %= b;
        c %= d;
        if (p != q) {
            return p < q ? -sign : sign;
        }
        // A remainder of 0 is the end of the one fraction.
        if (a == 0 || c == 0) {
            return a == c ? 0 : a < c ? -sign : sign;
        }
        const Wide e = a, f = c;
        a = b;
        b = e;
        c = d;
        d = f;
        sign = -sign;
    }
}

// Whether a facet, seen from a point, crosses the way from there along d (components -1, 0, 1) of `length` units on
// each axis.
__device__ inline bool crosses(const Facet& f, const int (&d)[D], int length, Crossing& found) {
    int axis = 0, up[D];
    Ints from, to;
    for (int a = 0; a < D; a++) {
        from.v[a] = 0;
        to.v[a] = d[a] * length;
        if (f.low(a) > max(to.v[a], 0) || f.high(a) < min(to.v[a], 0)) {
            return false;
        }
        axis = d[a] != 0 ? a : axis;
    }
    for (int a = 0; a < D; a++) {
        up[a] = d[axis] < 0 ? -d[a] : d[a];
    }
    const Plane<int64_t, Wide> plane(f);
    const Wide here = plane.value(from), there = plane.value(to);
    if (plane.outer(here) == plane.outer(there) || !Lines<int64_t>(f, up, axis).meets(0, 0)) {
        return false;
    }
    found.far = here < 0 ? -here : here;
    found.whole = there < here ? here - there : there - here;
    found.change = here < there ? -1 : 1;
    return found.whole != 0;
}

// A block whose links pass facets: its lists, and what is around it.
struct Passed {
    Lists lists, images;
    const uint32_t* first_image;
    uint32_t walls, row, first;
    Times times;
    // The level's winding numbers, 2^D a block, and marks, if any.
    const int32_t* numbers;
    const uint8_t* marks;
    uint32_t has_marks, fill;
    const uint64_t* solid;
    Root root;
    const uint32_t* families;
    Ints center;
    int spacing;

    __device__ bool is_certain(uint32_t id) const { return !has_marks || id >= OUTSIDE || marks[id - first] == CERTAIN; }

    // The winding number of a cell: from the first cell along the axes.
    __device__ int32_t winding(int cell) const {
        int32_t winding = numbers[static_cast<size_t>(row) * CHILDREN];
        Ints at = center;
        for (int axis = D - 1; axis >= 0; axis--) {
            const int length = (cell >> 2 * axis & 3) * spacing;
            int d[D];
            for (int a = 0; a < D; a++) {
                d[a] = a == axis;
            }
            for (uint32_t e = lists.starts[row]; length != 0 && e < lists.starts[row + 1]; e++) {
                const uint32_t f = lists.facets[e];
                Crossing crossing;
                if (f < walls && crosses(lists.corners[f].relative_to(at), d, length, crossing)) {
                    winding += crossing.change * times.of(f);
                }
            }
            at.v[axis] += length;
        }
        return winding;
    }

    // Calls `visit` with all crossings of a link: of the surface, and beyond a periodic face of its images in the
    // direction `beyond` from the box; on the face of both.
    template <typename Visit>
    __device__ void each(const Ints& at, const int (&d)[D], int beyond, Visit visit) const {
        Crossing crossing;
        for (uint32_t e = lists.starts[row]; e < lists.starts[row + 1]; e++) {
            const uint32_t f = lists.facets[e];
            if (f < walls && crosses(lists.corners[f].relative_to(at), d, spacing, crossing) &&
                (beyond == CENTER || 2 * crossing.far <= crossing.whole)) {
                crossing.change *= times.of(f);
                visit(crossing, lists.patch, f, false);
            }
        }
        if (beyond == CENTER || first_image == nullptr) {
            return;
        }
        for (uint32_t e = images.starts[row]; e < images.starts[row + 1]; e++) {
            const uint32_t f = images.facets[e];
            if (f >= first_image[beyond] && f < first_image[beyond + 1] &&
                crosses(images.corners[f].relative_to(at), d, spacing, crossing) &&
                2 * crossing.far >= crossing.whole) {
                visit(crossing, images.patch, f, true);
            }
        }
    }

    // The cut of a link from a fluid cell of this winding number; whether there is one. If not, whether the number
    // changes.
    template <typename Kind>
    __device__ bool cut(const Ints& at, const int (&d)[D], int beyond, int32_t winding, typename Kind::Slot& cut,
                        bool& changes) const {
        changes = false;
        // No distance is negative.
        Crossing last{-1, 1, 0};
        while (true) {
            Crossing next{0, 0, 0};
            float nearest = 0;
            uint32_t lowest = 0;
            int own = 0, image = 0;
            each(at, d, beyond, [&](const Crossing& crossing, const uint16_t* patches, uint32_t f, bool is_image) {
                if (last.far >= 0 && compare(crossing.far, crossing.whole, last.far, last.whole) <= 0) {
                    return;
                }
                const int order =
                    next.whole == 0 ? -1 : compare(crossing.far, crossing.whole, next.far, next.whole);
                if (order > 0) {
                    return;
                }
                // A centre on the surface is at the smallest distance there is.
                const float least = 1.17549435e-38f;
                const float q = fmaxf(__double2float_rn(to_f64(crossing.far) / to_f64(crossing.whole)), least);
                const uint32_t patch = sizeof(typename Kind::Slot) == 8 ? patches[f] : 0u;
                if (order < 0) {
                    next = crossing;
                    nearest = q;
                    lowest = patch;
                    own = image = 0;
                } else {
                    nearest = fminf(nearest, q);
                    lowest = min(lowest, patch);
                }
                (is_image ? image : own) += crossing.change;
            });
            if (next.whole == 0) {
                return false;
            }
            const int change = change_at(own, image);
            winding += change;
            changes |= change != 0;
            if (is_solid(winding, fill)) {
                cut = Kind::pack(nearest, lowest);
                return true;
            }
            last = next;
        }
    }
};

// Cuts the links of a block of which the nearest crossing may not be where the kind changes, those that are crossed more
// than once or end in no solid cell. By one warp, when it has recorded all cuts; returns on how many of those of the
// lane's cells that are not cut after all the winding number changes.
template <typename Kind>
__device__ inline uint32_t pass(typename Kind::Slot* nearest, uint32_t* directions, const Place& place,
                                const Passed& block, uint32_t id, int lane) {
    uint32_t passed = 0;
    for (int cell = lane; cell < CELLS && block.is_certain(id); cell += 32) {
        bool is_known = false;
        int32_t winding = 0;
        for (uint32_t rest = directions[cell]; rest != 0; rest &= rest - 1) {
            const int direction = __ffs(static_cast<int>(rest)) - 1;
            int toward = 0, to = 0, beyond = CENTER, d[D];
            Ints at;
            for (int a = D - 1; a >= 0; a--) {
                d[a] = step(direction, a);
                const int own = cell >> 2 * a & 3, c = own + d[a];
                toward = toward * 3 + 1 + (c > 3) - (c < 0);
                to |= (c & 3) << 2 * a;
                beyond += ((c > place.high[a]) - (c < place.low[a])) * (a == 0 ? 1 : a == 1 ? 3 : 9);
                at.v[a] = block.center.v[a] + own * block.spacing;
            }
            const uint32_t end = neighbor(block.root, block.families, id, toward);
            const bool into_solid = end < OUTSIDE && (block.solid[end] >> to & 1) != 0;
            const bool is_single = (directions[CELLS + cell] >> direction & 1) == 0;
            if ((into_solid && is_single) || !block.is_certain(end)) {
                continue;
            }
            winding = is_known ? winding : block.winding(cell);
            is_known = true;
            typename Kind::Slot cut;
            bool changes;
            if (block.cut<Kind>(at, d, beyond, winding, cut, changes)) {
                nearest[cell * DIRECTIONS + direction] = cut;
            } else {
                directions[cell] &= ~(1u << direction);
                passed += changes;
            }
        }
    }
    return passed;
}
