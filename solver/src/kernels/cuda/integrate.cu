// Sums and extremes over the cells of blocks with nothing but fluid in them, and fluid or an end of the box beside them: one thread
// block a slot, one thread a cell; then these of all slots, one thread block a value.

#include "exact.cuh"
#include "macroscopic.cuh"

// A block with one cell of its neighbours beside each face.
constexpr int EDGE = 6;
constexpr int PADDED = D == 2 ? EDGE * EDGE : EDGE * EDGE * EDGE;
// Cells of a face of a block.
constexpr int FACE = CELLS / 4;

// Density and velocity of a cell of a block or beside it, x from -1 to 4.
struct Place {
    int x[D];

    __device__ int padded() const {
        int at = 0;
        for (int a = D - 1; a >= 0; a--) {
            at = EDGE * at + x[a] + 1;
        }
        return at;
    }
};

template <class L, class S>
__device__ void integrate(const uint32_t* chosen, const uint32_t* neighbors, double edge, double volume,
                          const Vector<Real<S>>& half_step, const S* from, uint32_t populated, uint32_t count,
                          double* parts) {
    __shared__ float velocity[D][PADDED];
    __shared__ double values[INTEGRALS][CELLS];
    const uint32_t slot = chosen[blockIdx.x];
    const int cell = threadIdx.x;
    float here[1 + D];
    int at = 0;
    if (cell < CELLS) {
        Place place;
        for (int a = 0; a < D; a++) {
            place.x[a] = cell_coord(cell, a);
        }
        at = place.padded();
        fields<L>(from, populated, slot, cell, half_step, here);
        for (int a = 0; a < D; a++) {
            velocity[a][at] = here[1 + a];
        }
    }
    for (int i = threadIdx.x; i < 2 * D * FACE; i += blockDim.x) {
        const int axis = i / (2 * FACE), side = i / FACE % 2;
        // Coordinates along the face in ascending order of the axes.
        int rest = i % FACE, toward = 0, other = 0;
        Place place;
        for (int a = 0; a < D; a++) {
            place.x[a] = a == axis ? (side ? 4 : -1) : rest & 3;
            rest >>= a == axis ? 0 : 2;
        }
        for (int a = D - 1; a >= 0; a--) {
            toward = 3 * toward + (place.x[a] >> 2) + 1;
            other = 4 * other + (place.x[a] & 3);
        }
        const uint32_t next = neighbors[static_cast<size_t>(slot) * DIRECTIONS + toward];
        if (next == OUTSIDE) {
            continue;
        }
        float beside[1 + D];
        fields<L>(from, populated, next, other, half_step, beside);
        for (int a = 0; a < D; a++) {
            velocity[a][place.padded()] = beside[1 + a];
        }
    }
    __syncthreads();
    if (cell < CELLS) {
        double g[D][D], square = 0, spin = 0;
        // Ends of the box beside the cell.
        bool ends[D][2];
        for (int axis = 0, stride = 1; axis < D; axis++, stride *= 3) {
            const uint32_t* own = neighbors + static_cast<size_t>(slot) * DIRECTIONS + DIRECTIONS / 2;
            ends[axis][0] = cell_coord(cell, axis) == 0 && own[-stride] == OUTSIDE;
            ends[axis][1] = cell_coord(cell, axis) == 3 && own[stride] == OUTSIDE;
        }
        for (int i = 0; i < D; i++) {
            const double middle = velocity[i][at];
            square += middle * middle;
            for (int axis = 0; axis < D; axis++) {
                const int step = axis == 0 ? 1 : axis == 1 ? EDGE : EDGE * EDGE;
                const double down = middle - static_cast<double>(velocity[i][at - step]);
                const double up = static_cast<double>(velocity[i][at + step]) - middle;
                g[i][axis] = (ends[axis][0] ? up : ends[axis][1] ? down : (up + down) / 2.0) * edge;
            }
        }
        // Components of the curl in ascending order, as on the CPU.
        for (int a = D == 2 ? 2 : 0; a < 3; a++) {
            const int i = (a + 2) % 3, j = (a + 1) % 3;
            const double curl = g[i][j] - g[j][i];
            spin += curl * curl;
        }
        const double density = here[0];
        values[0][cell] = volume * density;
        values[1][cell] = 0.5 * volume * density * square;
        values[2][cell] = 0.5 * volume * spin;
        values[3][cell] = square;
        values[4][cell] = density;
        values[5][cell] = density;
    }
    __syncthreads();
    // In the order of the cells, as on the CPU.
    if (threadIdx.x < INTEGRALS) {
        const int value = threadIdx.x;
        double all = value < SUMMED ? 0.0 : values[value][0];
        for (int n = 0; n < CELLS; n++) {
            const double one = values[value][n];
            all = value < SUMMED ? all + one : value == 4 ? fmin(all, one) : fmax(all, one);
        }
        parts[static_cast<size_t>(value) * count + blockIdx.x] = all;
    }
}

#define ENTRIES(L, l, S, s)                                                                                            \
    extern "C" __global__ void __launch_bounds__(64) integrate_##l##_##s(                                              \
        const uint32_t* chosen, const uint32_t* neighbors, double edge, double volume, Vector<Real<S>> half_step,      \
        const S* from, uint32_t populated, uint32_t count, double* parts) {                                            \
        integrate<L, S>(chosen, neighbors, edge, volume, half_step, from, populated, count, parts);                    \
    }
EACH_LATTICE(ENTRIES)

// What the values of all slots come to: the sums exactly.
extern "C" __global__ void all_slots(const double* parts, uint32_t count, ExactSum* sums, double* extremes) {
    __shared__ ExactSum scratch[ADDERS];
    __shared__ double most[ADDERS];
    const int value = blockIdx.x, thread = threadIdx.x;
    const double* row = parts + static_cast<size_t>(value) * count;
    ExactSum sum{0, 0};
    double extreme = row[0];
    for (uint32_t n = threadIdx.x; n < count; n += ADDERS) {
        if (value < SUMMED) {
            sum = sum + ExactSum::of(row[n]);
        } else {
            extreme = value == 4 ? fmin(extreme, row[n]) : fmax(extreme, row[n]);
        }
    }
    if (value < SUMMED) {
        const ExactSum all = sum_of<ADDERS>(sum, scratch);
        if (thread == 0) {
            sums[value] = all;
        }
        return;
    }
    most[thread] = extreme;
    for (int half = ADDERS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            const int other = thread + half;
            most[thread] = value == 4 ? fmin(most[thread], most[other]) : fmax(most[thread], most[other]);
        }
    }
    if (thread == 0) {
        extremes[value - SUMMED] = most[0];
    }
}
