// What the host decides on after a step: `survey.rs`.

#include "mesh.cuh"
#include "vector.cuh"

// How far fractions may leave 0 to 1.
constexpr double BOUND = 1e-3;

// Arrays of a state.
struct State {
    const double* alpha;
    const double* velocity[D];
    const double* pressure;
    const double* flux;
};

// Numbers that are not negative are ordered as their bits, and NaN is above all of them.
__device__ inline unsigned long long key(double x) {
    return static_cast<unsigned long long>(__double_as_longlong(fabs(x)));
}

__device__ inline void keep_largest(unsigned long long* to, unsigned long long key) {
    for (int other = 16; other > 0; other /= 2) {
        const unsigned long long there = __shfl_down_sync(~0u, key, other);
        key = there > key ? there : key;
    }
    if (threadIdx.x % 32 == 0 && key > 0) {
        atomicMax(to, key);
    }
}

__device__ inline bool is_bad(const State& state, uint64_t own) {
    const double c = state.alpha[own];
    bool is_sound = c >= -BOUND && c <= 1.0 + BOUND && isfinite(state.pressure[own]);
    for (int a = 0; a < D; a++) {
        is_sound = is_sound && isfinite(state.velocity[a][own]);
    }
    return !is_sound;
}

// One thread a cell of all blocks. Keys of the largest velocity through a face over the width of its cells, and of the largest
// divergence; 1 where a cell is bad.
extern "C" __global__ void survey(const __grid_constant__ Mesh mesh, const __grid_constant__ State state,
                                  unsigned long long* out) {
    const uint64_t own = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint32_t block = static_cast<uint32_t>(own / CELLS);
    unsigned long long fastest = 0, divergence = 0, bad = 0;
    if (block < mesh.count && mesh.blocks.is_leaf(block)) {
        const double h = mesh.width(block);
        double sum = 0.0;
        for (int axis = 0; axis < D; axis++) {
            const double* const face =
                state.flux + block * static_cast<uint64_t>(PER_BLOCK) + lower_face(axis, own % CELLS);
            const double low = face[0], high = face[stride(axis)];
            sum = axis == 0 ? high - low : sum + (high - low);
            const unsigned long long keys[2] = {key(low / h), key(high / h)};
            for (int i = 0; i < 2; i++) {
                fastest = keys[i] > fastest ? keys[i] : fastest;
            }
        }
        divergence = key(sum / h);
        bad = is_bad(state, own);
    }
    keep_largest(out, fastest);
    keep_largest(out + 1, divergence);
    keep_largest(out + 2, bad);
}
