// How much resolution the cells of a level need: one thread block a slot, one thread a cell.

#include "level.cuh"

// Density (row 0) and velocity of a level's cells, 1 + D rows a slot.
struct Fields {
    const uint32_t* neighbors;
    const uint64_t* solid;
    const float* values;
    uint32_t slots;

    __device__ float row(const At& at, int row) const {
        return values[(static_cast<size_t>(at.slot) * (1 + D) + row) * CELLS + at.cell()];
    }

    // Whether the cell a step along an axis away is fluid and of this level; `to` is that cell.
    __device__ bool beside(const At& at, int axis, int by, At& to) const {
        to = at;
        int toward = 0;
        for (int a = D - 1; a >= 0; a--) {
            const int x = at.x[a] + (a == axis ? by : 0);
            toward = 3 * toward + (x >> 2) + 1;
            to.x[a] = x & 3;
        }
        to.slot = neighbors[static_cast<size_t>(at.slot) * DIRECTIONS + toward];
        return to.slot < slots && !(solid[to.slot] >> to.cell() & 1);
    }

    // Difference of a row along an axis over one cell: central, else to the one neighbour that is there, else 0.
    __device__ float slope(const At& at, int axis, int r) const {
        At low(0, 0), high(0, 0);
        const bool below = beside(at, axis, -1, low), above = beside(at, axis, 1, high);
        if (below && above) {
            return 0.5f * (row(high, r) - row(low, r));
        }
        return above ? row(high, r) - row(at, r) : below ? row(at, r) - row(low, r) : 0.0f;
    }

    __device__ float jump(const At& at) const {
        float most = 0;
        for (int axis = 0; axis < D; axis++) {
            for (int by = -1; by <= 1; by += 2) {
                At to(0, 0);
                if (!beside(at, axis, by, to)) {
                    continue;
                }
                float square = 0;
                for (int a = 1; a <= D; a++) {
                    const float jump = row(to, a) - row(at, a);
                    square += jump * jump;
                }
                most = fmaxf(most, square);
            }
        }
        return sqrtf(most);
    }

    __device__ float of_cell(uint32_t what, const At& at) const {
        if (what == VELOCITY_JUMP) {
            return jump(at);
        }
        if (what == PRESSURE_GRADIENT) {
            float sum = 0;
            for (int axis = 0; axis < D; axis++) {
                const float s = slope(at, axis, 0);
                sum += s * s;
            }
            return sqrtf(sum);
        }
        float g[D][D];
        for (int a = 0; a < D; a++) {
            for (int axis = 0; axis < D; axis++) {
                g[a][axis] = slope(at, axis, 1 + a);
            }
        }
        float spin = 0, strain = 0;
        for (int a = 0; a < D; a++) {
            strain += 2.0f * g[a][a] * g[a][a];
            for (int b = a + 1; b < D; b++) {
                const float less = g[a][b] - g[b][a], more = g[a][b] + g[b][a];
                spin += less * less;
                strain += more * more;
            }
        }
        if (what == VORTICITY) {
            return sqrtf(spin);
        }
        return what == STRAIN ? sqrtf(strain) : fmaxf(0.25f * (spin - strain), 0.0f);
    }
};

extern "C" __global__ void indicate(const uint32_t* neighbors, const uint64_t* solid, const uint64_t* stepped,
                                    const uint64_t* ghost, uint32_t slots, uint32_t what, const float* values,
                                    float* out) {
    const uint32_t slot = blockIdx.x;
    const int cell = threadIdx.x;
    __shared__ uint32_t most;
    if (cell == 0) {
        most = 0;
    }
    __syncthreads();
    if (cell < CELLS && (stepped[slot] & ~ghost[slot]) >> cell & 1) {
        const Fields fields{neighbors, solid, values, slots};
        const float value = fields.of_cell(what, At(slot, cell));
        // Non-negative floats are ordered as their bits are; what is no number counts as 0, as on the CPU.
        atomicMax(&most, value > 0.0f ? __float_as_uint(value) : 0u);
    }
    __syncthreads();
    if (cell == 0) {
        out[slot] = __uint_as_float(most);
    }
}
