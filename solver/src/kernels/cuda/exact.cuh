// Sums of f64 that are the same in any order: `kernels/exact.rs`.

#pragma once

#include <stdint.h>

struct ExactSum {
    uint64_t low, high;

    static __device__ ExactSum of_bits(unsigned __int128 bits) {
        return {static_cast<uint64_t>(bits), static_cast<uint64_t>(bits >> 64)};
    }

    __device__ unsigned __int128 bits() const { return static_cast<unsigned __int128>(high) << 64 | low; }

    static __device__ unsigned __int128 not_a_number() { return static_cast<unsigned __int128>(1) << 127; }

    static __device__ ExactSum of(double value) {
        // Also where it is NaN.
        if (!(fabs(value) < 17592186044416.0)) {
            return of_bits(not_a_number());
        }
        // In two pieces of less than 2^62, both cut off towards zero.
        const long long upper = static_cast<long long>(value * 262144.0);
        const double rest = value - static_cast<double>(upper) * (1.0 / 262144.0);
        const long long lower = static_cast<long long>(ldexp(rest, 80));
        const __int128 sum = static_cast<__int128>(upper) * (static_cast<__int128>(1) << 62) + lower;
        return of_bits(static_cast<unsigned __int128>(sum));
    }

    __device__ ExactSum operator+(const ExactSum& other) const {
        const unsigned __int128 a = bits(), b = other.bits(), sum = a + b;
        // Overflow where both have the same sign and the sum another.
        const bool is_over = ((a ^ sum) & (b ^ sum)) >> 127;
        const bool is_none = a == not_a_number() || b == not_a_number();
        return of_bits(is_over || is_none ? not_a_number() : sum);
    }
};

// Adds a value of every thread; the sum is the first one's.
template <int N, class V>
__device__ V sum_of(V value, V* scratch) {
    scratch[threadIdx.x] = value;
    __syncthreads();
    for (int half = N / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            scratch[threadIdx.x] = scratch[threadIdx.x] + scratch[threadIdx.x + half];
        }
        __syncthreads();
    }
    const V sum = scratch[0];
    __syncthreads();
    return sum;
}
