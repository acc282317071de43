"""Writes the seeds of read_stl, read_ply and read_any: one small file of each format and encoding, all made here.

The seeds of mesh_file are written by cutlink itself, as the end of this file says.
"""

import gzip
import pathlib
import struct

seeds = pathlib.Path(__file__).parent / "seeds"
points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]


def put(name, data):
    out = seeds / {".stl": "read_stl", ".ply": "read_ply"}.get(pathlib.Path(name).suffix, "read_any")
    out.mkdir(parents=True, exist_ok=True)
    (out / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def ascii_stl(name, end="\n"):
    lines = [f"solid {name}".rstrip()]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex %g %g %g" % points[v] for v in face]
        lines += ["endloop", "endfacet"]
    return end.join(lines + [f"endsolid {name}".rstrip(), ""])


def binary_stl(header, count=None, extra=b""):
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *(x for v in face for x in points[v]), 0) for face in faces)
    return header.ljust(80, b"\0") + struct.pack("<I", len(faces) if count is None else count) + body + extra


def ply(order):
    kind = {"<": "binary_little_endian", ">": "binary_big_endian", "": "ascii"}[order]
    head = (
        f"ply\nformat {kind} 1.0\ncomment made by hand\nelement vertex 4\n"
        "property float x\nproperty float y\nproperty float z\nproperty uchar red\n"
        "element face 4\nproperty list uchar int vertex_indices\nproperty int patch\nend_header\n"
    )
    if not order:
        rows = ["%g %g %g 7" % p for p in points] + ["3 %d %d %d 1" % f for f in faces]
        return (head + "\n".join(rows) + "\n").encode()
    rows = [struct.pack(order + "3fB", *p, 7) for p in points] + [struct.pack(order + "B3ii", 3, *f, 1) for f in faces]
    return head.encode() + b"".join(rows)


put("one.stl", ascii_stl("tetrahedron"))
put("nameless-crlf.stl", ascii_stl("", "\r\n").upper())
put("two-solids.stl", ascii_stl("a") + ascii_stl("b"))
put("binary.stl", binary_stl(b"made by hand"))
put("binary-solid.stl", binary_stl(b"solid made by hand"))
put("binary-count.stl", binary_stl(b"many", 2**32 - 1))
put("binary-longer.stl", binary_stl(b"longer", None, b"after"))
put("ascii.ply", ply(""))
put("little.ply", ply("<"))
put("big.ply", ply(">"))
put(
    "strips.ply",
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\n"
    "element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n6 0 1 2 3 0 1\n",
)
put("quads.ply", ply("").replace(b"3 0 2 1 1", b"4 0 2 1 3 1"))
put("loops.txt", "# hull\n0 0\n1 0\n1 1\n\n# hole\n0.2 0.2\n0.2 0.4\n0.4 0.4\n")
put("wing.dat", "NACA by hand\n1 0\n0.5 0.1\n0 0\n0.5 -0.1\n1 0\n")
put("packed.stl.gz", gzip.compress(ascii_stl("packed").encode(), mtime=0))

# In seeds/mesh_file, each with --no-picture:
#   cutlink mesh --shape sphere:r=0.5 --root 4 --levels 2 --output sphere.cutlink
#   cutlink mesh --shape naca:2412 --root 8 --levels 2 --output wing.cutlink
#   cutlink mesh --shape circle --domain -1,-1,1,1 --root 4 --levels 1 --wall-distance 0 --output circle.cutlink
