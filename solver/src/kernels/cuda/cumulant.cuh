// Cumulants on D3Q27 (Geier, Pasquali & Schönherr 2017): `collide/cumulant.rs`, which says what the values are.

#pragma once

#include "collide.cuh"

#if CUTLINK_D == 3

// Weights of -1, 0, 1 along an axis, and their moments for powers 0, 1, 2.
__device__ constexpr double axis_weight(int n) {
    return n == 1 ? 2.0 / 3.0 : 1.0 / 6.0;
}
__device__ constexpr double axis_power(int n) {
    return n == 0 ? 1.0 : n == 1 ? 0.0 : 1.0 / 3.0;
}

// Along an axis: the step between three values, the first place of a line, and the sum of its weights.
__device__ constexpr int step_along(int axis) {
    return axis == 0 ? 1 : axis == 1 ? 3 : 9;
}
__device__ constexpr int first_along(int axis, int line) {
    const int low = line % 3, high = line / 3;
    return axis == 0 ? 3 * low + 9 * high : axis == 1 ? low + 9 * high : low + 3 * high;
}
__device__ constexpr double shift_along(int axis, int line) {
    const int low = line % 3, high = line / 3;
    return axis == 0   ? axis_power(low) * axis_power(high)
           : axis == 1 ? axis_weight(low) * axis_power(high)
                       : axis_weight(low) * axis_weight(high);
}

template <class L>
__device__ constexpr int place_of(int q) {
    return 13 + L::c(q, 0) + 3 * L::c(q, 1) + 9 * L::c(q, 2);
}

// From populations along an axis to central moments.
template <int AXIS, class T>
__device__ __forceinline__ void forward(T (&m)[27], T u) {
    constexpr int STEP = step_along(AXIS);
#pragma unroll
    for (int line = 0; line < 9; line++) {
        const int at = first_along(AXIS, line);
        const T sum = m[at + 2 * STEP] + m[at], difference = m[at + 2 * STEP] - m[at];
        m[at] = sum + m[at + STEP];
        const T carried = u * (m[at] + T(shift_along(AXIS, line)));
        m[at + STEP] = difference - carried;
        m[at + 2 * STEP] = sum - u * (difference + difference - carried);
    }
}

// From central moments along an axis to populations.
template <int AXIS, class T>
__device__ __forceinline__ void backward(T (&m)[27], T u) {
    constexpr int STEP = step_along(AXIS);
#pragma unroll
    for (int line = 0; line < 9; line++) {
        const int at = first_along(AXIS, line);
        const T zeroth = m[at], one = m[at + STEP], two = m[at + 2 * STEP];
        const T carried = u * (zeroth + T(shift_along(AXIS, line)));
        const T difference = one + carried;
        const T sum = two + u * (one + difference);
        m[at] = T(0.5) * (sum - difference);
        m[at + STEP] = zeroth - sum;
        m[at + 2 * STEP] = T(0.5) * (sum + difference);
    }
}

// Rates of the third order (of sums, of differences, of xyz) and factors of the fourth.
template <class T>
struct Rates {
    T sums, differences, product, a, b;

    __device__ __forceinline__ explicit Rates(const Relaxation<T>& relax) {
        const T w = relax.even, less = w - T(2), square = w * w;
        sums = differences = product = T(1);
        a = b = T(0);
        if (w < T(1.75)) {
            return;
        }
        a = (T(4) + T(2) * w - T(3) * square) / (T(2) - T(7) * w + T(5) * square);
        b = (T(4) + T(28) * w - T(14) * square) / (T(6) - T(21) * w + T(15) * square);
        // Where levels meet, odd moments relax with a rate of 1.
        if (relax.odd == T(1)) {
            return;
        }
        sums = T(8) * less * (T(1) + T(2) * w) / (T(7) * square - T(14) * w - T(8));
        differences = T(8) * less * (T(4) * w - T(7)) / (T(9) * square - T(50) * w + T(56));
        product = T(24) * less * (T(3) * square - T(7) * w - T(2)) /
                  (((T(29) * w - T(130)) * w + T(152)) * w + T(48));
        // An eddy viscosity damps by itself.
        const T least = relax.closure == NO_EDDY ? T(1) - T(1.0 / LEAST_UNDAMPED) * (T(1) / w - T(0.5)) : T(0);
        sums = sums > least ? sums : least;
        differences = differences > least ? differences : least;
        product = product > least ? product : least;
    }
};

// What collision leaves of a third-order cumulant, with the limiter (part II).
template <class T>
__device__ __forceinline__ T left_of(T value, T rate, T limit) {
    const T size = value < T(0) ? -value : value;
    const T limited = rate + (T(1) - rate) * size / (limit + size);
    return (T(1) - limited) * value;
}

// Collision: `m` has moments up to the third order before, and all of them after it.
template <class T>
__device__ __forceinline__ void collide_moments(T (&m)[27], const Relaxation<T>& relax, const T (&u)[D]) {
    const T one = T(1), half = T(0.5), third = T(1.0 / 3.0), two = T(2), four = T(4), w = relax.even;
    const Rates<T> rates(relax);
    const T rho = m[0], density = one + rho, inverse = one / density;

    // First order: the other half of the acceleration.
    m[1] = -m[1];
    m[3] = -m[3];
    m[9] = -m[9];

    // Second order, with velocity gradients times density.
    T d1 = m[2] - m[6], d2 = m[2] - m[18], trace = m[2] + m[6] + m[18];
    const T ux = u[0] * u[0], uy = u[1] * u[1], uz = u[2] * u[2];
    const T dx = half * (rho - trace) - half * w * (d1 + d2);
    const T dy = dx + T(1.5) * w * d1;
    const T dz = dx + T(1.5) * w * d2;
    const T galilean = T(3) * (one - half * w);
    d1 = (one - w) * d1 - galilean * (ux * dx - uy * dy);
    d2 = (one - w) * d2 - galilean * (ux * dx - uz * dz);
    trace = rho - T(1.5) * (ux * dx + uy * dy + uz * dz);
    const T xx = third * (d1 + d2 + trace), yy = xx - d1, zz = xx - d2;
    const T slow = one / w - half;
    const T even = T(-2.0 / 3.0) * slow * rates.a, mixed = slow * rates.b * w;
    const T mx = mixed * m[12], my = mixed * m[10], mz = mixed * m[4];
    const T xy = (one - w) * m[4], xz = (one - w) * m[10], yz = (one - w) * m[12];

    // Third order: xyy ± xzz, xxy ± yzz, xxz ± yyz, xyz.
    const T limit = density * relax.parameter;
    T sum = left_of(m[7] + m[19], rates.sums, limit), difference = left_of(m[7] - m[19], rates.differences, limit);
    const T xyy = half * (sum + difference), xzz = half * (sum - difference);
    sum = left_of(m[5] + m[21], rates.sums, limit), difference = left_of(m[5] - m[21], rates.differences, limit);
    const T xxy = half * (sum + difference), yzz = half * (sum - difference);
    sum = left_of(m[11] + m[15], rates.sums, limit), difference = left_of(m[11] - m[15], rates.differences, limit);
    const T xxz = half * (sum + difference), yyz = half * (sum - difference);
    const T xyz = left_of(m[13], rates.product, limit);

    // Moments of the fourth, fifth and sixth order, of cumulants and lower moments.
    const T ninth = T(1.0 / 9.0) * rho;
    const T sx = xx + third, sy = yy + third, sz = zz + third;
    const T xxyy = even * (dx + dy) + inverse * (xx * yy + two * xy * xy + third * (xx + yy) - ninth);
    const T xxzz = even * (dx + dz) + inverse * (xx * zz + two * xz * xz + third * (xx + zz) - ninth);
    const T yyzz = even * (dy + dz) + inverse * (yy * zz + two * yz * yz + third * (yy + zz) - ninth);
    const T xxyz = mx + inverse * (sx * yz + two * xy * xz);
    const T xyyz = my + inverse * (sy * xz + two * xy * yz);
    const T xyzz = mz + inverse * (sz * xy + two * xz * yz);
    const T xyyzz = inverse * (sz * xyy + sy * xzz + four * yz * xyz + two * (xz * yyz + xy * yzz));
    const T xxyzz = inverse * (sz * xxy + sx * yzz + four * xz * xyz + two * (yz * xxz + xy * xzz));
    const T xxyyz = inverse * (sy * xxz + sx * yyz + four * xy * xyz + two * (yz * xxy + xz * xyy));
    const T pairs = xx * yyzz + yy * xxzz + zz * xxyy;
    const T sums = T(1.0 / 9.0) * (xx + yy + zz) + third * (xxyy + xxzz + yyzz);
    const T fours = yz * xxyz + xz * xyyz + xy * xyzz;
    const T odd = xyy * xzz + xxy * yzz + xxz * yyz;
    const T products = T(16) * xy * xz * yz + four * (xz * xz * sy + yz * yz * sx + xy * xy * sz) +
                       two * xx * yy * zz + T(2.0 / 3.0) * (xx * yy + xx * zz + yy * zz) +
                       T(2.0 / 9.0) * (xx + yy + zz);
    m[26] = inverse * (four * xyz * xyz + pairs + sums + four * fours + two * odd +
                       inverse * (T(1.0 / 27.0) * rho * (one - rho) - products));
    m[2] = xx, m[6] = yy, m[18] = zz, m[4] = xy, m[10] = xz, m[12] = yz;
    m[5] = xxy, m[7] = xyy, m[11] = xxz, m[15] = yyz, m[19] = xzz, m[21] = yzz, m[13] = xyz;
    m[8] = xxyy, m[20] = xxzz, m[24] = yyzz, m[14] = xxyz, m[16] = xyyz, m[22] = xyzz;
    m[17] = xxyyz, m[23] = xxyzz, m[25] = xyyzz;
}

struct Cumulant {
    static constexpr bool READS_STRESS = false;

    template <class L, class T>
    static __device__ __forceinline__ void relax(const Relaxation<T>& relax, const Fluid<T>& fluid, T (&f)[L::Q]) {
        T m[27];
#pragma unroll
        for (int q = 0; q < L::Q; q++) {
            m[place_of<L>(q)] = f[q];
        }
        forward<2>(m, fluid.u[2]);
        forward<1>(m, fluid.u[1]);
        forward<0>(m, fluid.u[0]);
        finish<L>(m, relax, fluid, f);
    }

    template <class L, class T>
    static __device__ __forceinline__ void build(const Relaxation<T>& to, T, const Fluid<T>& fluid, T (&f)[L::Q]) {
        const T density = fluid.density(), third = T(1.0 / 3.0) * fluid.rho;
        T m[27];
#pragma unroll
        for (int n = 0; n < 27; n++) {
            m[n] = T(0);
        }
        m[0] = fluid.rho;
        int n = 0;
#pragma unroll
        for (int a = 0; a < D; a++) {
            m[step_along(a)] = -(T(0.5) * density * to.acceleration[a]);
            // About a velocity with half a step of the acceleration more than the momentum has.
#pragma unroll
            for (int b = a; b < D; b++) {
                const T push = T(0.5) * density * (fluid.u[a] * to.acceleration[b] + fluid.u[b] * to.acceleration[a]);
                m[step_along(a) + step_along(b)] = fluid.stress[n++] + (a == b ? third : T(0)) + push;
            }
        }
        finish<L>(m, to, fluid, f);
    }

  private:
    template <class L, class T>
    static __device__ __forceinline__ void finish(T (&m)[27], const Relaxation<T>& relax, const Fluid<T>& fluid,
                                                  T (&f)[L::Q]) {
        collide_moments(m, relax, fluid.u);
        backward<0>(m, fluid.u[0]);
        backward<1>(m, fluid.u[1]);
        backward<2>(m, fluid.u[2]);
#pragma unroll
        for (int q = 0; q < L::Q; q++) {
            f[q] = m[place_of<L>(q)];
        }
    }
};

#endif
