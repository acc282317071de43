// Weight at an interface that is at an angle to the cells: `lines.rs`, which has the order of operations.

#pragma once

#include "components.cuh"
#include "interface.cuh"
#include "near.cuh"
#include "params.cuh"

// Lines between centres of cells at the interface.
struct Lines {
    const Mesh& mesh;
    const Params& params;
    const double* alpha;
    const Planes& planes;
    const Components& pulls;

    // The density of the line between the centres of two cells, in the order of the axis, kg/m³.
    __device__ double density(Cell a, Cell b, int axis) const {
        const double part = liquid(a, axis, 0.5) + liquid(b, axis, -0.5);
        return params.rho(0.5 * part);
    }

    // The acceleration of the heavier fluid around two cells along an axis, in the last step, m/s².
    __device__ double pull(const Cell (&cells)[2], int axis) const {
        const double most = fmax(params.density[0], params.density[1]);
        const double* const of = pulls.of[axis];
        double sum = 0.0, weights = 0.0;
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < DIRECTIONS; k++) {
                const Near near = near_cell(mesh, cells[i], 1, k);
                if (!near.is_inside || mesh.is_solid(near.cell.block, near.cell.cell)) {
                    continue;
                }
                const uint64_t own = near.cell.index();
                const double part = params.rho(alpha[own]) / most;
                const double square = part * part;
                const double weight = square * square;
                sum += weight * of[own];
                weights += weight;
            }
        }
        return sum / weights;
    }

private:
    // The part that is liquid of the line from a cell's centre along an axis, by so many widths.
    __device__ double liquid(Cell cell, int axis, double step) const {
        const double c = alpha[cell.index()];
        if (!is_mixed(c) || !planes.has_some(cell.block)) {
            return c;
        }
        const uint64_t i = planes.index(cell);
        const Vector n = planes.normals.get(i);
        // Distances from the plane, negative in the liquid; the constant is that of the normal `|n|`.
        const double centre = 0.5 * sum_of_sizes(n) - planes.constants[i];
        const double end = centre + step * n.v[axis];
        if (centre < 0.0) {
            return end < 0.0 ? 1.0 : centre / (centre - end);
        }
        return end < 0.0 ? end / (end - centre) : 0.0;
    }
};
