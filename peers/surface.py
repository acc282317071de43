"""Surfaces as numpy arrays: the readers that peers without one are given, and spheres of any size."""

import numpy as np


def read_stl(path):
    raw = np.fromfile(path, np.uint8)
    count = int(raw[80:84].view("<u4")[0])
    rows = raw[84 : 84 + 50 * count].reshape(count, 50)
    return np.ascontiguousarray(rows[:, 12:48]).view("<f4").reshape(count, 3, 3)


def read_ply(path):
    """Binary little-endian, x y z as floats, all faces triangles with one-byte counts."""
    data = open(path, "rb").read()
    end = data.index(b"end_header\n") + 11
    head = data[:end].decode("ascii").split("\n")
    count = {line.split()[1]: int(line.split()[2]) for line in head if line.startswith("element")}
    floats = sum(line.startswith("property float") for line in head)
    vertices = np.frombuffer(data, "<f4", count["vertex"] * floats, end).reshape(-1, floats)[:, :3]
    face = np.dtype([("n", "u1"), ("v", "<i4", 3)])
    faces = np.frombuffer(data, face, count["face"], end + 4 * floats * count["vertex"])
    assert (faces["n"] == 3).all(), "triangles only"
    return vertices, faces["v"]


def indexed(path):
    """(vertices, triangles), equal vertices welded."""
    if str(path).endswith(".ply"):
        return read_ply(path)
    corners = read_stl(path).reshape(-1, 3)
    vertices, index = np.unique(corners, axis=0, return_inverse=True)
    return vertices, index.reshape(-1, 3).astype(np.int32)


def write_stl(path, vertices, faces):
    rows = np.zeros((len(faces), 50), np.uint8)
    corners = np.ascontiguousarray(vertices[faces].reshape(-1, 9).astype("<f4"))
    rows[:, 12:48] = corners.view(np.uint8)
    with open(path, "wb") as file:
        file.write(b"\0" * 80 + np.uint32(len(faces)).tobytes())
        rows.tofile(file)


def sphere(count, radius, center):
    """An octahedron, each face cut into m² and put onto the sphere: 8 m² facets, about `count`."""
    m = max(1, round((count / 8) ** 0.5))
    i, j = np.meshgrid(np.arange(m + 1), np.arange(m + 1), indexing="ij")
    keep = i + j <= m
    number = np.cumsum(keep.ravel()).reshape(keep.shape) - 1
    flat = np.stack([i[keep], j[keep], m - i[keep] - j[keep]], 1) / m
    up = (i + j < m).nonzero()
    down = (i + j < m - 1).nonzero()
    faces = np.concatenate(
        [
            np.stack([number[up], number[up[0] + 1, up[1]], number[up[0], up[1] + 1]], 1),
            np.stack(
                [number[down[0] + 1, down[1]], number[down[0] + 1, down[1] + 1], number[down[0], down[1] + 1]], 1
            ),
        ]
    )
    points, triangles = [], []
    for octant in range(8):
        sign = np.array([1 - 2 * (octant >> a & 1) for a in range(3)])
        triangles.append((faces if sign.prod() > 0 else faces[:, ::-1]) + octant * len(flat))
        points.append(flat * sign)
    points = np.concatenate(points)
    points /= np.linalg.norm(points, axis=1)[:, None]
    return points * radius + np.array(center), np.concatenate(triangles)


if __name__ == "__main__":
    import sys

    write_stl(sys.argv[2], *sphere(int(sys.argv[1]), 0.25, (0.5, 0.5, 0.5)))
