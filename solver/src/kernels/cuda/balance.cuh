// Mass that walls put into cells: `balance.rs`.

#pragma once

#include "faces.cuh"

// Whether this is a wall whose cells keep their mass.
__device__ inline bool conserves(const Rule& rule, uint32_t which) {
    const bool turns = (rule.omega[0] != 0 || rule.omega[1] != 0 || rule.omega[2] != 0) && rule.profile == 0 &&
                       rule.scheme == BOUNCE_BACK;
    return rule.kind == WALL && (which == KEEPS_ALL || (which == KEEPS_TURNING && turns));
}

// How many ends of the box a cell is beside.
__device__ inline int ends_beside(const Level& level, const At& at) {
    int count = 0;
    for (int n = 0; n < 2 * D; n++) {
        int step[D] = {};
        step[n / 2] = 2 * (n % 2) - 1;
        count += level.next(at, step).slot == OUTSIDE;
    }
    return count;
}

// The volume at density 1 that the motion of a wall displaces along a link: that of a rigid body halfway along it.
template <class L>
__device__ double displaced(const Level& level, const At& at, int k, const Rule& rule) {
    double u[3], along = 0;
    level.template velocity_at<L>(at, k, 0.5, rule, u);
    for (int a = 0; a < D; a++) {
        along += L::c(k, a) * u[a];
    }
    return -(6.0 * L::w(k) * along);
}

// The first face with a wall that a step goes through, if there is one.
__device__ inline const Rule* face_wall(const Level& level, const At& at, const int (&step)[D]) {
    for (int a = 0; a < D; a++) {
        const int to = 4 * level.coord[at.slot].v[a] + at.x[a] + step[a];
        if (to >= 0 && to < level.extent.v[a]) {
            continue;
        }
        const Rule& rule = level.rules[2 * a + (to >= 0)];
        if (rule.kind == WALL) {
            return &rule;
        }
    }
    return nullptr;
}

// What the walls of a cell have put into it by the populations that have arrived, beyond what their motion displaces; `back` says
// which populations come from a wall or a face.
template <class L, class S, class F>
__device__ double surplus(const View<L, S>& view, const At& at, const Links& links, uint32_t back, uint32_t which,
                          const F& arrived) {
    const Level& level = view.level;
    double sum = 0;
#pragma unroll 1
    for (uint32_t rest = back; rest != 0; rest &= rest - 1) {
        const int q = __ffs(rest) - 1, k = opposite(q), direction = direction_of<L>(k);
        int step[D];
        View<L, S>::velocity(k, step);
        const Rule* rule = links.cut(direction) ? &level.rules[2 * D + level.patch[links.place(direction)]]
                                                : face_wall(level, at, step);
        if (rule != nullptr && conserves(*rule, which)) {
            sum += static_cast<double>(arrived(q) - view.f(at, k)) - displaced<L>(level, at, k, *rule);
        }
    }
    return sum;
}
