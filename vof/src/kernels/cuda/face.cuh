// Faces of cells of leaves, and their values: `forces.rs`.

#pragma once

#include "mesh.cuh"
#include "params.cuh"

// A wall of the box, a solid cell, or a periodic box of one cell; between two cells; an opening of the box.
enum class FaceKind { CLOSED, INNER, OPENING };

struct Face {
    FaceKind kind;
    // Of a face between two cells, in the order of the axis: the cells and their widths.
    Cell cells[2];
    double widths[2];
};

// What a face of a leaf is. Towards finer blocks: as if they were of the same level.
__device__ inline Face face_at(const Mesh& mesh, const Params& params, uint32_t block, int cell, int side) {
    if (mesh.is_solid(block, cell)) {
        return {FaceKind::CLOSED, {}, {}};
    }
    const Cell other = mesh.blocks.next(block, cell, side);
    if (other.block == OUTSIDE) {
        return {params.face(side).is_wall() ? FaceKind::CLOSED : FaceKind::OPENING, {}, {}};
    }
    if (mesh.is_solid(other.block, other.cell)) {
        return {FaceKind::CLOSED, {}, {}};
    }
    const Cell own = {block, cell};
    const double width = mesh.width(block), beyond = mesh.width(other.block);
    return side & 1 ? Face{FaceKind::INNER, {own, other}, {width, beyond}}
                    : Face{FaceKind::INNER, {other, own}, {beyond, width}};
}

// Whether a face that is open is one of given pressure.
__device__ inline bool is_pressure(const Params& params, FaceKind kind, int side) {
    return kind == FaceKind::OPENING && params.face(side).kind == BoxKind::PRESSURE;
}

__device__ inline Vector centre_of(const Mesh& mesh, uint32_t block, int cell) {
    Vector at;
    for (int a = 0; a < D; a++) {
        at.v[a] = mesh.centre(block, cell, a);
    }
    return at;
}

// The coordinate of a face along its axis, and of its centre along others, m.
__device__ inline Vector face_centre(const Mesh& mesh, uint32_t block, int cell, int side) {
    Vector at = centre_of(mesh, block, cell);
    const double half = 0.5 * mesh.width(block);
    at.v[side >> 1] += side & 1 ? half : -half;
    return at;
}

// A face of leaves: `of` has the values, by block, cell and side; refined blocks stay as they are. One thread a face.
template <typename Of>
__device__ void fill_faces(const Mesh& mesh, double* out, Of of) {
    const uint32_t n = thread_index(), block = n / PER_BLOCK;
    if (block < mesh.count && mesh.blocks.is_leaf(block)) {
        const FacePlace face = face_place(static_cast<int>(n % PER_BLOCK));
        out[n] = of(block, face.cell, face.side());
    }
}
