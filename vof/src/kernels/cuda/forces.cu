// Accelerations of faces by surface tension and weight: `forces.rs`.

#include "cells.cuh"
#include "face.cuh"
#include "grain_cells.cuh"
#include "heights.cuh"
#include "lines.cuh"

// Curvature of the cells of the finest level, 1/m; none of others.
struct Curvatures {
    const double* of;
    // As of `Found`; written where there is a curvature.
    const uint8_t* directions;
    uint64_t first;

    __device__ uint64_t index(Cell cell) const { return cell.index() - first * CELLS; }

    __device__ double get(Cell cell) const { return cell.block >= first ? of[index(cell)] : nan(""); }

    // Whether the curvature of a cell, which has one, is by heights of its own columns, away from walls.
    __device__ bool is_sure(const Mesh& mesh, Cell cell) const {
        return directions[index(cell)] != NO_DIRECTION && !sees_wall(mesh, cell);
    }
};

// Curvature at a face: the mean of both cells', where both have one. Where both are sure they count the same.
__device__ inline double at_face(const Mesh& mesh, const double* alpha, const Curvatures& curvatures,
                                 const Cell (&cells)[2]) {
    double weight[2], k[2];
    for (int i = 0; i < 2; i++) {
        const double c = alpha[cells[i].index()];
        weight[i] = fmax(c * (1.0 - c), 0.0) + 1e-6;
        k[i] = curvatures.get(cells[i]);
    }
    if (isnan(k[0])) {
        return isnan(k[1]) ? 0.0 : k[1];
    }
    if (isnan(k[1])) {
        return k[0];
    }
    if (curvatures.is_sure(mesh, cells[0]) && curvatures.is_sure(mesh, cells[1])) {
        return 0.5 * (k[0] + k[1]);
    }
    return (weight[0] * k[0] + weight[1] * k[1]) / (weight[0] + weight[1]);
}

// One thread a face. `has_lines`: whether there are planes, smoothed.
extern "C" __global__ void accelerate(Mesh mesh, Params params, Grains grains, const double* alpha, const double* flux,
                                      Curvatures curvatures, Planes planes, Components pulls, uint32_t has_lines,
                                      double* out) {
    const Lines lines = {mesh, params, alpha, planes, pulls};
    const double sigma = params.surface_tension;
    fill_faces(mesh, out, [&](uint32_t block, int cell, int side) {
        const Face face = face_at(mesh, params, block, cell, side);
        if (is_pressure(params, face.kind, side)) {
            const double inside = grains.rho(params, alpha, Cell{block, cell}.index());
            const double beyond = params.rho(params.face(side).liquid);
            const double head = params.head(face_centre(mesh, block, cell, side));
            const double up = flux[face_index({block, cell}, side)];
            const double speed = fmin(side & 1 ? up : -up, 0.0);
            const double rise = head * (beyond - inside) - 0.5 * beyond * (speed * speed);
            const double pull = -rise / inside / (0.5 * mesh.width(block));
            return side & 1 ? pull : -pull;
        }
        if (face.kind != FaceKind::INNER) {
            return 0.0;
        }
        const Vector at = face_centre(mesh, block, cell, side);
        const int axis = side >> 1;
        const uint64_t low = face.cells[0].index(), high = face.cells[1].index();
        double turned = params.turned(at, axis), clear = 1.0;
        if (grains.are_there()) {
            turned += grains.drive[axis];
            // Grains have no tension, and no lines.
            clear = fmin(grains.clear[low], grains.clear[high]);
        }
        const double ca = alpha[low], cb = alpha[high];
        const bool has_both = is_mixed(ca) || is_mixed(cb);
        if (ca == cb && !has_both && clear == 1.0) {
            return turned;
        }
        const double ra = grains.rho(params, alpha, low), rb = grains.rho(params, alpha, high);
        const double mean = 0.5 * (ra + rb), distance = 0.5 * (face.widths[0] + face.widths[1]);
        double force = 0.0;
        if (sigma > 0.0) {
            const double k =
                params.has_fixed_curvature ? params.fixed_curvature : at_face(mesh, alpha, curvatures, face.cells);
            force += clear * (sigma * k * (cb - ca));
        }
        force -= params.head(at) * (rb - ra);
        if (has_lines && has_both) {
            const Cell a = face.cells[0], b = face.cells[1];
            const double rise =
                params.head(centre_of(mesh, b.block, b.cell)) - params.head(centre_of(mesh, a.block, a.cell));
            const double felt = rise + distance * (turned - lines.pull(face.cells, axis));
            const double fluid = 0.5 * (params.rho(ca) + params.rho(cb));
            force += clear * ((lines.density(a, b, axis) - fluid) * felt);
        }
        return force / mean / distance + turned;
    });
}
