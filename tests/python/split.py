#!/usr/bin/env python3
"""The same surface from more triangles: each edge in 2 or 3 parts, so each triangle in 4 or 9.

    split.py IN.ply PARTS OUT.ply

For binary little-endian PLY files of float x, y, z and triangles by `list uchar int`, gzip included. Points on an edge are
made once for both its triangles, so a closed surface stays closed. Some 10 s for a million triangles in 9.
"""

import array
import gzip
import struct
import sys


def read(path):
    """Coordinates, flat, and triangles."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    header, _, body = data.partition(b"end_header\n")
    lines = [line.split() for line in header.decode("ascii").splitlines()]
    if ["format", "binary_little_endian", "1.0"] not in lines or sys.byteorder != "little":
        sys.exit(f"{path} is not a binary little-endian PLY file")
    counts = [int(line[2]) for line in lines if line[0] == "element"]
    names = [line[-1] for line in lines if line[0] == "property"]
    if len(counts) != 2 or names[:3] != ["x", "y", "z"] or len(names) != 4:
        sys.exit(f"{path} has more than x, y, z and triangles")
    points = array.array("f", body[: 12 * counts[0]])
    faces = list(struct.iter_unpack("<B3i", body[12 * counts[0] :][: 13 * counts[1]]))
    if any(face[0] != 3 for face in faces):
        sys.exit(f"{path} has faces that are no triangles")
    return points, [face[1:] for face in faces]


def split(points, faces, parts):
    """Appends points; the new triangles."""
    on_edges = {}

    def on_edge(a, b, k):
        """The point k parts from a on the way to b."""
        if a > b:
            a, b, k = b, a, parts - k
        key = (a, b, k)
        found = on_edges.get(key)
        if found is None:
            found = on_edges[key] = len(points) // 3
            points.extend([(points[3 * a + i] * (parts - k) + points[3 * b + i] * k) / parts for i in range(3)])
        return found

    def middle(a, b, c):
        points.extend([(points[3 * a + i] + points[3 * b + i] + points[3 * c + i]) / 3 for i in range(3)])
        return len(points) // 3 - 1

    for a, b, c in faces:
        if parts == 2:
            ab, bc, ca = on_edge(a, b, 1), on_edge(b, c, 1), on_edge(c, a, 1)
            yield from ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))
            continue
        ab, ba = on_edge(a, b, 1), on_edge(a, b, 2)
        bc, cb = on_edge(b, c, 1), on_edge(b, c, 2)
        ca, ac = on_edge(c, a, 1), on_edge(c, a, 2)
        m = middle(a, b, c)
        yield from ((a, ab, ac), (b, bc, ba), (c, ca, cb))
        yield from ((ab, ba, m), (ba, bc, m), (bc, cb, m), (cb, ca, m), (ca, ac, m), (ac, ab, m))


def main():
    source, parts, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    points, faces = read(source)
    pack = struct.Struct("<B3i").pack
    body = bytearray()
    for face in split(points, faces, parts):
        body += pack(3, *face)
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points) // 3}\nproperty float x\nproperty float y\n"
        f"property float z\nelement face {len(body) // 13}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    with open(target, "wb") as file:
        file.write(header.encode("ascii"))
        points.tofile(file)
        file.write(body)


if __name__ == "__main__":
    main()
