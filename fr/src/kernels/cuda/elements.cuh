// Lengths of what an element has, how its points are shared out to threads, and operations that are rounded as on the CPU:
// `sizes` of `kernels/mod.rs`.

#pragma once

#include "forest_constants.cuh"
#include "fr_constants.cuh"
#include "kernel.cuh"

// Unknowns: density, momentum, energy.
constexpr int V = D + 2;
// Variables whose gradients the viscous fluxes depend on: velocity, p / ρ. Also the unknowns that have viscous fluxes.
constexpr int G = D + 1;
// Faces of an element, and sub-faces of a hanging one.
constexpr int FACES = 2 * D;
constexpr int PARTS = 1 << (D - 1);
// Fluxes of a hanging face: of its sub-faces, and of the whole as its coarse side has it.
constexpr int SLOT_TRACES = PARTS + 1;

constexpr uint32_t FACE_ID = (1u << FACE_ID_BITS) - 1;

// The code of the faces of removed elements: `walls.rs`, which has those of walls too.
constexpr uint32_t REMOVED = FACE_OUTSIDE << FACE_ID_BITS | FACE_ID;

constexpr int THREADS = 32 * WARPS;

// Elements of Q points an axis. A group of threads has an element: one for each point of its lowest face along the last
// axis, with the column of points above it. A group lies in one warp; lanes that are left over have no element.
template <int Q>
struct Shape {
    static constexpr int FACE = D == 3 ? Q * Q : Q;
    static constexpr int NODES = FACE * Q;
    static constexpr int ELEMENT = V * NODES;
    static constexpr int TRACE = V * FACE;
    static constexpr int GRADIENT_TRACE = G * FACE;
    static constexpr int RATES = G * NODES;
    static constexpr int WALL = TRACE + FACE;
    static constexpr int PER_WARP = 32 / FACE;
    static constexpr int PER_BLOCK = WARPS * PER_WARP;

    // Numbers of a group in shared memory, of which each lane's column begins in another bank: 128 bytes are a row of banks.
    template <typename T>
    __host__ __device__ static constexpr int padded(int numbers) {
        constexpr int row = 128 / static_cast<int>(sizeof(T));
        return numbers + ((FACE - numbers) % row + row) % row;
    }
};

// A thread's place: its element, its point of a face, and the element's place among those of the thread block.
template <int Q>
struct Place {
    int point, group;
    uint32_t item;
    bool is_on;

    __device__ explicit Place(uint32_t count) {
        using S = Shape<Q>;
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const int of_warp = lane / S::FACE;
        point = lane % S::FACE;
        group = warp * S::PER_WARP + of_warp;
        item = blockIdx.x * S::PER_BLOCK + group;
        is_on = of_warp < S::PER_WARP && item < count;
    }
};

// `x * y + z`, rounded once. Products and sums elsewhere are rounded one by one: the kernels are compiled so.
__device__ inline double mul_add(double x, double y, double z) {
    return __fma_rn(x, y, z);
}

__device__ inline float mul_add(float x, float y, float z) {
    return __fmaf_rn(x, y, z);
}

__device__ inline double root_of(double x) {
    return __dsqrt_rn(x);
}

__device__ inline float root_of(float x) {
    return __fsqrt_rn(x);
}

__device__ inline double magnitude(double x) {
    return fabs(x);
}

__device__ inline float magnitude(float x) {
    return fabsf(x);
}

// Matrices of a basis in a buffer, by rows: `Operators::numbers`.
template <typename T, int Q>
struct Matrices {
    const T* all;

    __device__ const T* divergence(int row) const {
        return all + row * Q;
    }
    __device__ const T* correction(int upper) const {
        return all + Q * Q + upper * Q;
    }
    __device__ const T* edge(int upper) const {
        return all + Q * Q + (2 + upper) * Q;
    }
    __device__ const T* half(int which, int row) const {
        return all + Q * Q + 4 * Q + (which * Q + row) * Q;
    }
    __device__ const T* projection(int which, int row) const {
        return all + 3 * Q * Q + 4 * Q + (which * Q + row) * Q;
    }
};

// Numbers that a kernel has as an argument, 16 of them: `Sixteen` of `mod.rs`.
template <typename T>
struct Sixteen {
    T v[16];
};

// The divergence, corrections and edges of a basis as arguments, for places that are known when a kernel is compiled.
template <typename T, int Q>
struct Known {
    const Sixteen<T>&a, &b, &c;

    __device__ __forceinline__ T at(int i) const {
        return i < 16 ? a.v[i] : i < 32 ? b.v[i - 16] : c.v[i - 32];
    }
    __device__ __forceinline__ T divergence(int i, int j) const {
        return at(i * Q + j);
    }
    __device__ __forceinline__ T correction(int upper, int i) const {
        return at(Q * Q + upper * Q + i);
    }
    __device__ __forceinline__ T edge(int upper, int j) const {
        return at(Q * Q + (2 + upper) * Q + j);
    }
};
