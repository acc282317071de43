// How much resolution the cells of a level need: one thread block a slot, one thread a cell.

#include "level.cuh"

// A block with one cell of its neighbours beside each face.
constexpr int EDGE = 6;
constexpr int PADDED = D == 2 ? EDGE * EDGE : EDGE * EDGE * EDGE;
// Cells of a face of a block.
constexpr int FACE = CELLS / 4;

// Density (row 0) and velocity of a block's cells and of those beside its faces: `Neighborhood`.
struct Neighborhood {
    float rows[1 + D][PADDED];
    // Whether a cell is fluid and of this level.
    bool there[PADDED];

    __device__ static int place(const int (&x)[D]) {
        int place = 0;
        for (int a = D - 1; a >= 0; a--) {
            place = EDGE * place + x[a] + 1;
        }
        return place;
    }

    __device__ void take(uint32_t slot, int cell, int to, const uint64_t* solid, const float* values) {
        for (int row = 0; row <= D; row++) {
            rows[row][to] = values[(static_cast<size_t>(slot) * (1 + D) + row) * CELLS + cell];
        }
        there[to] = !(solid[slot] >> cell & 1);
    }

    // By all threads of the block.
    __device__ void fill(uint32_t slot, const uint32_t* neighbors, const uint64_t* solid, uint32_t slots, const float* values) {
        for (int cell = threadIdx.x; cell < CELLS; cell += blockDim.x) {
            int x[D];
            for (int a = 0; a < D; a++) {
                x[a] = cell_coord(cell, a);
            }
            take(slot, cell, place(x), solid, values);
        }
        for (int i = threadIdx.x; i < 2 * D * FACE; i += blockDim.x) {
            const int axis = i / (2 * FACE), side = i / FACE % 2;
            // Coordinates along the face in ascending order of the axes.
            int rest = i % FACE, x[D], toward = 0, cell = 0;
            for (int a = 0; a < D; a++) {
                x[a] = a == axis ? (side ? 4 : -1) : rest & 3;
                rest >>= a == axis ? 0 : 2;
            }
            for (int a = D - 1; a >= 0; a--) {
                toward = 3 * toward + (x[a] >> 2) + 1;
                cell = 4 * cell + (x[a] & 3);
            }
            const uint32_t next = neighbors[static_cast<size_t>(slot) * DIRECTIONS + toward];
            const int to = place(x);
            if (next < slots) {
                take(next, cell, to, solid, values);
            } else {
                there[to] = false;
            }
        }
    }

    // Difference of a row along an axis over one cell: central, else to the one neighbour that is there, else 0.
    __device__ float slope(int r, int at, int axis) const {
        const int step = axis == 0 ? 1 : axis == 1 ? EDGE : EDGE * EDGE;
        const float* row = rows[r];
        const bool below = there[at - step], above = there[at + step];
        if (below && above) {
            return 0.5f * (row[at + step] - row[at - step]);
        }
        return above ? row[at + step] - row[at] : below ? row[at] - row[at - step] : 0.0f;
    }

    __device__ float jump(int at) const {
        float most = 0;
        for (int axis = 0; axis < D; axis++) {
            const int step = axis == 0 ? 1 : axis == 1 ? EDGE : EDGE * EDGE;
            for (int to = at - step; to <= at + step; to += 2 * step) {
                if (!there[to]) {
                    continue;
                }
                float square = 0;
                for (int a = 1; a <= D; a++) {
                    const float jump = rows[a][to] - rows[a][at];
                    square += jump * jump;
                }
                most = fmaxf(most, square);
            }
        }
        return sqrtf(most);
    }

    __device__ float of_cell(uint32_t what, int at) const {
        if (what == VELOCITY_JUMP) {
            return jump(at);
        }
        if (what == PRESSURE_GRADIENT) {
            float sum = 0;
            for (int axis = 0; axis < D; axis++) {
                const float s = slope(0, at, axis);
                sum += s * s;
            }
            return sqrtf(sum);
        }
        float g[D][D];
        for (int a = 0; a < D; a++) {
            for (int axis = 0; axis < D; axis++) {
                g[a][axis] = slope(1 + a, at, axis);
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
    __shared__ Neighborhood around;
    if (cell == 0) {
        most = 0;
    }
    around.fill(slot, neighbors, solid, slots, values);
    __syncthreads();
    if (cell < CELLS && (stepped[slot] & ~ghost[slot]) >> cell & 1) {
        int x[D];
        for (int a = 0; a < D; a++) {
            x[a] = cell_coord(cell, a);
        }
        const float value = around.of_cell(what, Neighborhood::place(x));
        // Non-negative floats are ordered as their bits are; what is no number counts as 0, as on the CPU.
        atomicMax(&most, value > 0.0f ? __float_as_uint(value) : 0u);
    }
    __syncthreads();
    if (cell == 0) {
        out[slot] = __uint_as_float(most);
    }
}
