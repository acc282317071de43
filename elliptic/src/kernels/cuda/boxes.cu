// The grids below the root level: `host/boxes.rs`.

#include "operator.cuh"

// Cells of the coarsest grid at most.
constexpr int COARSEST = 1 << D;

// A box of cells: `DeviceShape` of `boxes.rs`.
struct Shape {
    uint32_t n[D];
    uint32_t periodic[D];
    uint32_t first, first_face[D], first_ratio[D];

    __device__ uint32_t cells() const {
        uint32_t product = 1;
        for (int a = 0; a < D; a++) {
            product *= n[a];
        }
        return product;
    }

    __device__ Ints at(uint32_t cell) const {
        Ints at;
        for (int a = 0; a < D; a++) {
            at.v[a] = static_cast<int32_t>(cell % n[a]);
            cell /= n[a];
        }
        return at;
    }

    __device__ uint32_t cell(Ints at) const {
        uint32_t cell = 0;
        for (int a = D - 1; a >= 0; a--) {
            cell = cell * n[a] + static_cast<uint32_t>(at.v[a]);
        }
        return cell;
    }

    __device__ bool is_last(int axis, Ints at) const { return at.v[axis] + 1 == static_cast<int32_t>(n[axis]); }

    // The place of a cell's face in arrays of faces along the axis.
    __device__ uint32_t face(int axis, Ints at, int upper) const {
        if (!upper || !is_last(axis, at)) {
            at.v[axis] += upper;
            return first_face[axis] + cell(at);
        }
        uint32_t place = 0;
        for (int a = D - 1; a >= 0; a--) {
            if (a != axis) {
                place = place * n[a] + static_cast<uint32_t>(at.v[a]);
            }
        }
        return first_face[axis] + cells() + place;
    }

    // The cell beyond a face; NONE beyond the box.
    __device__ uint32_t beside(int axis, Ints at, int upper) const {
        const bool is_end = upper ? is_last(axis, at) : at.v[axis] == 0;
        if (is_end && !periodic[axis]) {
            return NONE;
        }
        const int32_t count = static_cast<int32_t>(n[axis]);
        at.v[axis] = is_end ? (upper ? 0 : count - 1) : at.v[axis] + (upper ? 1 : -1);
        return cell(at);
    }
};

// Coefficients and values of all grids: `BoxAddresses` of `boxes.rs`.
struct Boxes {
    const double* ratio[D];
    double* t[D];
    double* diagonal;
    double* inverse;
    double* matrix;
    double* b;
    double* x;
    double* d;
    double* r;

    __device__ void fill_from_finer(const Shape& fine, const Shape& coarse, uint32_t cell) const {
        const Ints up = coarse.at(cell);
        double sum = 0.0;
        for_fine(fine, up, [&](Ints at, int) { sum += diagonal[fine.first + fine.cell(at)]; });
        diagonal[coarse.first + cell] = sum;
        for (int axis = 0; axis < D; axis++) {
            for (int upper = 0; upper <= static_cast<int>(coarse.is_last(axis, up)); upper++) {
                const double scale = ratio[axis][coarse.first_ratio[axis] + up.v[axis] + upper];
                double faces = 0.0;
                for_fine(fine, up, [&](Ints at, int corner) {
                    if (upper ? fine.is_last(axis, at) : !(corner >> axis & 1)) {
                        faces += scale * t[axis][fine.face(axis, at, upper)];
                    }
                });
                t[axis][coarse.face(axis, up, upper)] = faces;
            }
        }
    }

    __device__ void finish(const Shape& shape, uint32_t cell) const {
        const Ints at = shape.at(cell);
        double sum = -0.0;
        for (int side = 0; side < SIDES; side++) {
            sum += t[side >> 1][shape.face(side >> 1, at, side & 1)];
        }
        sum += diagonal[shape.first + cell];
        inverse[shape.first + cell] = sum > 0.0 ? 1.0 / sum : 0.0;
    }

    __device__ double residual(const Shape& shape, const double* values, uint32_t cell) const {
        const Ints at = shape.at(cell);
        const double value = values[shape.first + cell];
        double rest = b[shape.first + cell] - diagonal[shape.first + cell] * value;
        for (int side = 0; side < SIDES; side++) {
            const uint32_t beside = shape.beside(side >> 1, at, side & 1);
            const double beyond = beside == NONE ? 0.0 : values[shape.first + beside];
            rest -= t[side >> 1][shape.face(side >> 1, at, side & 1)] * (value - beyond);
        }
        return rest;
    }

    // A step of the smoother, from one array to another one; the same one where the solution is zero.
    __device__ void smooth(const Shape& shape, uint32_t cell, double keep, double add, bool from_zero,
                           const double* from, double* to) const {
        const uint32_t own = shape.first + cell;
        const double rest = from_zero ? b[own] : residual(shape, from, cell);
        const double correction = keep * d[own] + add * inverse[own] * rest;
        d[own] = correction;
        to[own] = (from_zero ? 0.0 : from[own]) + correction;
    }

    __device__ void restrict(const Shape& fine, const Shape& coarse, uint32_t cell) const {
        double sum = 0.0;
        for_fine(fine, coarse.at(cell), [&](Ints at, int) { sum += r[fine.first + fine.cell(at)]; });
        b[coarse.first + cell] = sum;
    }

    // Into `r`, where the smoother begins.
    __device__ void prolong(const Shape& fine, const Shape& coarse, uint32_t cell) const {
        Ints at = fine.at(cell);
        for (int a = 0; a < D; a++) {
            at.v[a] /= 2;
        }
        r[fine.first + cell] = x[fine.first + cell] + x[coarse.first + coarse.cell(at)];
    }

    // A row of the coarsest grid's solution.
    __device__ void solve_coarsest(const Shape& shape, uint32_t row) const {
        const uint32_t n = shape.cells();
        double sum = 0.0;
        for (uint32_t column = 0; column < n; column++) {
            sum += matrix[row * n + column] * b[shape.first + column];
        }
        x[shape.first + row] = sum;
    }

    // A column of the coarsest grid's matrix: what sweeps, forward and backward, make of a unit vector.
    __device__ void coarsest_column(const Shape& shape, uint32_t column) const {
        const uint32_t n = shape.cells();
        double a[COARSEST][COARSEST] = {}, over[COARSEST] = {}, found[COARSEST] = {};
        for (uint32_t cell = 0; cell < n; cell++) {
            const Ints at = shape.at(cell);
            over[cell] = inverse[shape.first + cell];
            a[cell][cell] += diagonal[shape.first + cell];
            for (int side = 0; side < SIDES; side++) {
                const uint32_t beside = shape.beside(side >> 1, at, side & 1);
                if (beside == cell) {
                    continue;
                }
                const double face = t[side >> 1][shape.face(side >> 1, at, side & 1)];
                a[cell][cell] += face;
                if (beside != NONE) {
                    a[cell][beside] -= face;
                }
            }
        }
        for (int sweep = 0; sweep < 2 * COARSEST_SWEEPS; sweep++) {
            for (uint32_t k = 0; k < n; k++) {
                const uint32_t cell = sweep % 2 ? n - 1 - k : k;
                double rest = cell == column ? 1.0 : 0.0;
                for (uint32_t other = 0; other < n; other++) {
                    rest -= a[cell][other] * found[other];
                }
                found[cell] += over[cell] * rest;
            }
        }
        for (uint32_t row = 0; row < n; row++) {
            matrix[row * n + column] = found[row];
        }
    }

private:
    // The finer cells in a cell, in order.
    template <typename F>
    __device__ static void for_fine(const Shape& fine, Ints up, F each) {
        for (int corner = 0; corner < CHILDREN; corner++) {
            Ints at;
            bool exists = true;
            for (int a = 0; a < D; a++) {
                at.v[a] = 2 * up.v[a] + (corner >> a & 1);
                exists &= at.v[a] < static_cast<int32_t>(fine.n[a]);
            }
            if (exists) {
                each(at, corner);
            }
        }
    }
};

// The root block that a cell of the first grid is in, and the first of the 2^D of its cells that are in it.
__device__ Cell root_cell(const Shape& first, Ints up) {
    uint32_t block = 0;
    int cell = 0;
    for (int a = D - 1; a >= 0; a--) {
        block = block * (first.n[a] / 2) + static_cast<uint32_t>(up.v[a] / 2);
        cell |= (2 * (up.v[a] & 1)) << 2 * a;
    }
    return {block, cell};
}

// The cell of a root block at a corner of a cell of the first grid.
__device__ int at_corner(int cell, int corner) {
    for (int a = 0; a < D; a++) {
        cell += (corner >> a & 1) << 2 * a;
    }
    return cell;
}

// The first grid takes the root level's conductances and diagonal. One thread a cell of it.
extern "C" __global__ void fill_first(Operator op, Shape first, Boxes boxes) {
    const uint32_t index = thread_index();
    if (index >= first.cells()) {
        return;
    }
    const Ints up = first.at(index);
    const Cell root = root_cell(first, up);
    double sum = 0.0;
    for (int corner = 0; corner < CHILDREN; corner++) {
        const uint64_t cell = root.block * static_cast<uint64_t>(CELLS) + at_corner(root.cell, corner);
        sum += op.diagonal ? op.diagonal[cell] : 0.0;
    }
    boxes.diagonal[index] = sum;
    for (int axis = 0; axis < D; axis++) {
        for (int upper = 0; upper <= static_cast<int>(first.is_last(axis, up)); upper++) {
            double faces = 0.0;
            for (int corner = 0; corner < CHILDREN; corner++) {
                if ((corner >> axis & 1) == upper) {
                    faces += 0.5 * op.faces(root.block)[face_of(2 * axis + upper, at_corner(root.cell, corner))];
                }
            }
            boxes.t[axis][first.face(axis, up, upper)] = faces;
        }
    }
}

// One thread a cell of the coarser grid.
extern "C" __global__ void fill_from_finer(Shape fine, Shape coarse, Boxes boxes) {
    const uint32_t index = thread_index();
    if (index < coarse.cells()) {
        boxes.fill_from_finer(fine, coarse, index);
    }
}

// One thread a cell.
extern "C" __global__ void finish(Shape shape, Boxes boxes) {
    const uint32_t index = thread_index();
    if (index < shape.cells()) {
        boxes.finish(shape, index);
    }
}

// One thread a column.
extern "C" __global__ void coarsest_matrix(Shape shape, Boxes boxes) {
    if (threadIdx.x < shape.cells()) {
        boxes.coarsest_column(shape, threadIdx.x);
    }
}

// Residuals of the root level, summed to the first grid. One thread a cell of it.
extern "C" __global__ void restrict_root(Shape first, const double* residuals, Boxes boxes) {
    const uint32_t index = thread_index();
    if (index < first.cells()) {
        const Cell root = root_cell(first, first.at(index));
        double sum = 0.0;
        for (int corner = 0; corner < CHILDREN; corner++) {
            sum += residuals[root.block * static_cast<uint64_t>(CELLS) + at_corner(root.cell, corner)];
        }
        boxes.b[index] = sum;
    }
}

// Adds the first grid's correction to the root level's values, into `to`. One thread a cell of root blocks.
extern "C" __global__ void add_to_root(Operator op, uint32_t cells, Shape first, Boxes boxes, const double* z,
                                       double* to) {
    const uint32_t index = thread_index();
    if (index >= cells) {
        return;
    }
    const uint32_t block = index / CELLS;
    double value = z[index];
    if (op.inverse[index] > 0.0) {
        Ints up;
        for (int a = 0; a < D; a++) {
            up.v[a] = 2 * op.blocks.coord[block * static_cast<uint64_t>(D) + a] + (cell_coord(index % CELLS, a) >> 1);
        }
        value += boxes.x[first.cell(up)];
    }
    to[index] = value;
}

// One thread a cell, here and below.
// A step of the smoother between `x` and `r`: what it begins with is in `r` on the way up.
extern "C" __global__ void smooth_box(Shape shape, Boxes boxes, double keep, double add, uint32_t from_zero,
                                      uint32_t to_r) {
    const uint32_t index = thread_index();
    if (index < shape.cells()) {
        double* const from = to_r || from_zero ? boxes.x : boxes.r;
        boxes.smooth(shape, index, keep, add, from_zero, from, to_r ? boxes.r : boxes.x);
    }
}

extern "C" __global__ void residual_box(Shape shape, Boxes boxes) {
    const uint32_t index = thread_index();
    if (index < shape.cells()) {
        boxes.r[shape.first + index] = boxes.residual(shape, boxes.x, index);
    }
}

extern "C" __global__ void restrict_box(Shape fine, Shape coarse, Boxes boxes) {
    const uint32_t index = thread_index();
    if (index < coarse.cells()) {
        boxes.restrict(fine, coarse, index);
    }
}

extern "C" __global__ void prolong_box(Shape fine, Shape coarse, Boxes boxes) {
    const uint32_t index = thread_index();
    if (index < fine.cells()) {
        boxes.prolong(fine, coarse, index);
    }
}

// Factors of the smoother's steps.
struct Factors {
    double keep[3], add[3];
};

// Calls with each cell of a grid, by one thread block, and waits for all.
template <typename F>
__device__ void each_cell(uint32_t cells, F with) {
    for (uint32_t cell = threadIdx.x; cell < cells; cell += blockDim.x) {
        with(cell);
    }
    __syncthreads();
}

__device__ void smooth_alone(const Shape& shape, const Boxes& boxes, const Factors& factors, bool from_zero) {
    for (int step = 0; step < 3; step++) {
        const bool zero = from_zero && step == 0, to_r = step == 1;
        double* const from = to_r || zero ? boxes.x : boxes.r;
        each_cell(shape.cells(), [&](uint32_t cell) {
            boxes.smooth(shape, cell, factors.keep[step], factors.add[step], zero, from, to_r ? boxes.r : boxes.x);
        });
    }
}

// Small grids: `Tail` of `boxes.rs`.
struct Tail {
    Shape shapes[12];
};

// The cycle over the small grids. One thread block.
extern "C" __global__ void cycle_tail(__grid_constant__ const Tail tail, uint32_t count, Boxes boxes, Factors factors) {
    const Shape* const shapes = tail.shapes;
    const uint32_t last = count - 1;
    for (uint32_t level = 0; level < last; level++) {
        const Shape fine = shapes[level], coarse = shapes[level + 1];
        smooth_alone(fine, boxes, factors, true);
        each_cell(fine.cells(),
                  [&](uint32_t cell) { boxes.r[fine.first + cell] = boxes.residual(fine, boxes.x, cell); });
        each_cell(coarse.cells(), [&](uint32_t cell) { boxes.restrict(fine, coarse, cell); });
    }
    each_cell(shapes[last].cells(), [&](uint32_t row) { boxes.solve_coarsest(shapes[last], row); });
    for (uint32_t level = last; level-- > 0;) {
        const Shape fine = shapes[level], coarse = shapes[level + 1];
        each_cell(fine.cells(), [&](uint32_t cell) { boxes.prolong(fine, coarse, cell); });
        smooth_alone(fine, boxes, factors, false);
    }
}
