"""Writes the seeds of all targets but mesh_file: one small file of each format and encoding, all made here.

The seeds of mesh_file are written by cutlink itself, as the end of this file says.
"""

import base64
import gzip
import io
import json
import pathlib
import struct
import zipfile
import zlib

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


floats = b"".join(struct.pack("<3f", *p) for p in points)
indices = b"".join(struct.pack("<3I", *f) for f in faces)
text = "".join("%g %g %g\n" % p for p in points)
lines = "".join("3 %d %d %d\n" % f for f in faces)
put(
    "parts.obj",
    "# by hand\nmtllib a.mtl\no shell\n"
    + "".join("v %g %g %g\n" % p for p in points)
    + "vn 0 0 1\nusemtl steel\nf 1//1 3//1 2//1\ng inlet\nf -4 -3 -1\nf 2 3 \\\n4\nl 1 2\nf 3 1 4\n",
)
put("concave.obj", "v 0 0 0\nv 2 0 0\nv 1 0.2 0\nv 1 2 0\nv 0 1 0\nf 1 2 3 4 5\n")
put("body.off", f"OFF\n4 4 0\n{text}{lines}")
put("colours.off", f"COFF\n# by hand\n4 1 0\n{text}4 0 1 2 3 255 0 0\n")


def model(components):
    vertices = "".join('<vertex x="%g" y="%g" z="%g"/>' % p for p in points)
    triangles = "".join('<triangle v1="%d" v2="%d" v3="%d"/>' % f for f in faces)
    return (
        '<model unit="inch"><resources><object id="1" name="a"><mesh><vertices>%s</vertices><triangles>%s</triangles>'
        '</mesh></object>%s</resources><build><item objectid="2" transform="1 0 0 0 1 0 0 0 -1 1 2 3"/></build></model>'
        % (vertices, triangles, components)
    )


for name, method in (("stored.3mf", zipfile.ZIP_STORED), ("packed.3mf", zipfile.ZIP_DEFLATED)):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as package:
        components = '<object id="2"><components><component objectid="1"/></components></object>'
        package.writestr(zipfile.ZipInfo("3D/3dmodel.model"), model(components), method)
    put(name, out.getvalue())

gltf = {
    "asset": {"version": "2.0"},
    "scenes": [{"nodes": [0]}],
    "nodes": [{"children": [1]}, {"name": "a", "mesh": 0, "scale": [1, -1, 1], "rotation": [0, 0, 0.6, 0.8]}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 1}, "indices": 0}]}],
    "accessors": [
        {"bufferView": 0, "componentType": 5125, "count": 12, "type": "SCALAR"},
        {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC3"},
    ],
    "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 48}],
    "buffers": [{"byteLength": 96}],
}
data = json.dumps(gltf).encode()
data += b" " * (-len(data) % 4)
chunks = struct.pack("<I4s", len(data), b"JSON") + data + struct.pack("<I4s", 96, b"BIN\0") + indices + floats
put("body.glb", b"glTF" + struct.pack("<2I", 2, 12 + len(chunks)) + chunks)
gltf["buffers"][0]["uri"] = "data:;base64," + base64.b64encode(indices + floats).decode()
put("body.gltf", json.dumps(gltf))

head = "# vtk DataFile Version 4.2\nby hand\n%s\nDATASET %s\nPOINTS 4 float\n"
big = b"".join(struct.pack(">3f", *p) for p in points)
put("ascii.vtk", head % ("ASCII", "POLYDATA") + f"{text}POLYGONS 4 16\n{lines}TRIANGLE_STRIPS 1 5\n4 0 1 2 3\n")
put("grid.vtk", head % ("ASCII", "UNSTRUCTURED_GRID") + f"{text}CELLS 2 9\n4 0 1 2 3\n3 0 1 2\nCELL_TYPES 2\n8 5\n")
put(
    "binary.vtk",
    (head % ("BINARY", "POLYDATA")).encode()
    + big
    + b"\nPOLYGONS 5 12\nOFFSETS vtktypeint64\n"
    + struct.pack(">5q", 0, 3, 6, 9, 12)
    + b"\nCONNECTIVITY vtktypeint64\n"
    + b"".join(struct.pack(">3q", *f) for f in faces),
)


def vtp(attributes, arrays, end="</VTKFile>"):
    tags = [
        f'<DataArray type="{kind}" Name="{name}" {how}>{content}</DataArray>'
        for (kind, name), (how, content) in zip(
            (("Float32", "Points"), ("UInt32", "connectivity"), ("UInt32", "offsets")), arrays
        )
    ]
    return (
        f'<VTKFile type="PolyData" {attributes}><PolyData><Piece NumberOfPoints="4"><Points>{tags[0]}</Points>'
        f"<Polys>{tags[1]}{tags[2]}</Polys></Piece></PolyData>{end}"
    )


arrays = [floats, indices, struct.pack("<4I", 3, 6, 9, 12)]
put("ascii.vtp", vtp("", [('format="ascii"', t) for t in (text, "0 2 1 0 1 3 1 2 3 2 0 3", "3 6 9 12")]))
put(
    "base64.vtp",
    vtp("", [('format="binary"', base64.b64encode(struct.pack("<I", len(a)) + a).decode()) for a in arrays]),
)
packed = [(struct.pack("<4I", 1, len(a), 0, len(zlib.compress(a))), zlib.compress(a)) for a in arrays]
put(
    "zlib.vtp",
    vtp(
        'compressor="vtkZLibDataCompressor"',
        [('format="binary"', base64.b64encode(h).decode() + base64.b64encode(z).decode()) for h, z in packed],
    ),
)
raw, places = b"", []
for a in arrays:
    places.append((f'format="appended" offset="{len(raw)}"', ""))
    raw += struct.pack("<I", len(a)) + a
put("raw.vtp", vtp("", places, '<AppendedData encoding="raw">_').encode() + raw + b"</AppendedData></VTKFile>")

# Two cubes, one on the other, as volume meshes.
nodes = [(x, y, z) for z in range(3) for y in range(2) for x in range(2)]
loop = (0, 1, 3, 2, 4, 5, 7, 6)
hexes = [[4 * c + v for v in loop] for c in range(2)]
sides = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3)]
around = [[4 * c + v for v in side] for c in range(2) for side in sides]
cells = [0] * 4 + [1] * 4
rim = around[:4] + [[0, 2, 3, 1]] + around[4:] + [[8, 9, 11, 10]]
rims = [[4, 5, 7, 6]] + rim
owners, neighbours = [0] + [0] * 5 + [1] * 5, [1]


def save(folder, name, data):
    out = seeds / folder
    out.mkdir(parents=True, exist_ok=True)
    (out / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def foam(kind, form="ascii"):
    arch = '    arch "LSB;label=32;scalar=64";\n' if form == "binary" else ""
    return f"FoamFile\n{{\n    version 2.0;\n    format {form};\n    class {kind};\n{arch}}}\n"


def labels(values):
    return f"{len(values)}\n(\n" + "\n".join(map(str, values)) + "\n)\n"


def raw_list(count, data):
    return f"{count}\n(".encode() + data + b")\n"


def ints(values):
    return struct.pack(f"<{len(values)}i", *values)


text_points = "".join("(%g %g %g)\n" % p for p in nodes)
text_faces = "".join("4(%d %d %d %d)\n" % tuple(f) for f in rims)
boundary = "1\n(\n    walls\n    {\n        type patch;\n        nFaces 10;\n        startFace 1;\n    }\n)\n"
save("poly_mesh", "ascii.points", foam("vectorField") + f"12\n(\n{text_points})\n")
save("poly_mesh", "ascii.faces", foam("faceList") + f"11\n(\n{text_faces})\n")
save("poly_mesh", "ascii.owner", foam("labelList") + labels(owners))
save("poly_mesh", "ascii.neighbour", foam("labelList") + labels(neighbours))
save("poly_mesh", "ascii.boundary", foam("polyBoundaryMesh") + boundary)
save("poly_mesh", "ascii.cellZones", foam("regIOobject") + "1\n(\nall\n{\n    type cellZone;\ncellLabels List<label>\n2(0 1);\n}\n)\n")
flat = [v for f in rims for v in f]
starts = list(range(0, 45, 4))
doubles = struct.pack("<36d", *(x for p in nodes for x in p))
save("poly_mesh", "binary.points", foam("vectorField", "binary").encode() + raw_list(12, doubles))
compact = raw_list(12, ints(starts)) + raw_list(44, ints(flat))
save("poly_mesh", "binary.faces", foam("faceCompactList", "binary").encode() + compact)
save("poly_mesh", "binary.owner", foam("labelList", "binary").encode() + raw_list(11, ints(owners)))
save("poly_mesh", "binary.neighbour", foam("labelList", "binary").encode() + raw_list(1, ints(neighbours)))
save(
    "poly_mesh",
    "ascii.field",
    foam("volScalarField")
    + "dimensions [0 2 -2 0 0 0 0];\ninternalField nonuniform List<scalar> 2(1 2);\nboundaryField\n{\n    walls\n    {\n"
    + "        type fixedValue;\n        value nonuniform List<scalar> 10(" + "0 " * 10 + ");\n    }\n}\n",
)

names = '$PhysicalNames\n1\n3 1 "fluid"\n$EndPhysicalNames\n'
lines = "".join("%d %g %g %g\n" % (i + 1, *p) for i, p in enumerate(nodes))
corners = [[v + 1 for v in h] for h in hexes]
elements = "".join(f"{i + 1} 5 2 1 1 {' '.join(map(str, c))}\n" for i, c in enumerate(corners))
save(
    "volumes",
    "text22.msh",
    f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n{names}$Nodes\n12\n{lines}$EndNodes\n$Elements\n2\n{elements}$EndElements\n",
)
rows = b"".join(struct.pack("<i3d", i + 1, *p) for i, p in enumerate(nodes))
blocks = struct.pack("<3i", 5, 2, 2) + b"".join(struct.pack("<11i", i + 1, 1, 1, *c) for i, c in enumerate(corners))
save(
    "volumes",
    "binary22.msh",
    b"$MeshFormat\n2.2 1 8\n" + struct.pack("<i", 1) + b"\n$EndMeshFormat\n$Nodes\n12\n" + rows
    + b"\n$EndNodes\n$Elements\n2\n" + blocks + b"\n$EndElements\n",
)
tags = "".join(f"{i + 1}\n" for i in range(12))
places = "".join("%g %g %g\n" % p for p in nodes)
elements = "".join(f"{i + 1} {' '.join(map(str, c))}\n" for i, c in enumerate(corners))
save(
    "volumes",
    "text41.msh",
    f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n{names}$Entities\n0 0 0 1\n1 0 0 0 1 1 2 1 1 0\n$EndEntities\n"
    f"$Nodes\n1 12 1 12\n3 1 0 12\n{tags}{places}$EndNodes\n$Elements\n1 2 1 2\n3 1 5 2\n{elements}$EndElements\n",
)
entity = struct.pack("<4Q", 0, 0, 0, 1) + struct.pack("<i6dQiQ", 1, 0, 0, 0, 1, 1, 2, 1, 1, 0)
block = struct.pack("<4Q3iQ12Q", 1, 12, 1, 12, 3, 1, 0, 12, *range(1, 13)) + doubles
cube = struct.pack("<4Q3iQ", 1, 2, 1, 2, 3, 1, 5, 2) + b"".join(
    struct.pack("<9Q", i + 1, *c) for i, c in enumerate(corners)
)
save(
    "volumes",
    "binary41.msh",
    b"$MeshFormat\n4.1 1 8\n" + struct.pack("<i", 1) + b"\n$EndMeshFormat\n$Entities\n" + entity
    + b"\n$EndEntities\n$Nodes\n" + block + b"\n$EndNodes\n$Elements\n" + cube + b"\n$EndElements\n",
)


def vtu(attributes, parts, end="</VTKFile>"):
    kinds = [("Float64", "Points"), ("Int64", "connectivity"), ("Int64", "offsets"), ("UInt8", "types"), ("Float64", "p")]
    three = 'NumberOfComponents="3" '
    tags = [
        f'<DataArray type="{kind}" Name="{name}" {three * (name == "Points")}{how}>{content}</DataArray>'
        for (kind, name), (how, content) in zip(kinds, parts)
    ]
    return (
        f'<VTKFile type="UnstructuredGrid" {attributes}><UnstructuredGrid><Piece NumberOfPoints="12" NumberOfCells="2">'
        f"<Points>{tags[0]}</Points><Cells>{tags[1]}{tags[2]}{tags[3]}</Cells><CellData>{tags[4]}</CellData></Piece>"
        f"</UnstructuredGrid>{end}"
    )


ids = [v for h in hexes for v in h]
text = [" ".join(map(str, values)) for values in ([x for p in nodes for x in p], ids, [8, 16], [12, 12], [0.5, 1.5])]
save("volumes", "text.vtu", vtu("", [('format="ascii"', t) for t in text]))
arrays = [doubles, struct.pack("<16q", *ids), struct.pack("<2q", 8, 16), bytes([12, 12]), struct.pack("<2d", 0.5, 1.5)]
raw, parts = b"", []
for a in arrays:
    parts.append((f'format="appended" offset="{len(raw)}"', ""))
    raw += struct.pack("<Q", len(a)) + a
head = vtu('header_type="UInt64"', parts, '<AppendedData encoding="raw">_').encode()
save("volumes", "raw.vtu", head + raw + b"</AppendedData></VTKFile>")
packed = [struct.pack("<4Q", 1, len(a), 0, len(zlib.compress(a))) for a in arrays]
raw, parts = b"", []
for head, a in zip(packed, arrays):
    parts.append((f'format="appended" offset="{len(raw)}"', ""))
    raw += head + zlib.compress(a)
attributes = 'header_type="UInt64" compressor="vtkZLibDataCompressor"'
head = vtu(attributes, parts, '<AppendedData encoding="raw">_').encode()
save("volumes", "zlib.vtu", head + raw + b"</AppendedData></VTKFile>")

box = "[domain]\nbox = [0.0, 0.0, 1.0, 1.0]\nelements = [2, 2]\n"
sides = "[boundary]\n" + "".join(f'"{a}{e}" = "periodic"\n' for a in "xy" for e in "-+")
start = "[initial]\ndensity = {}\nvelocity = [0.1, 0.0]\npressure = 1.0\n"
end = '[numerics]\norder = 1\ndt = 1e-3\n[run]\nsteps = 2\n[output]\nfolder = "out"\nwrite = []\n'
case = f'[solver]\nkind = "flux-reconstruction"\n{box}{sides}{start.format("1.0")}{end}'
save("cases", "flux.toml", case)
adapt = "[adapt]\nlevels = 2\nevery = 1\nmomentum = 0.1\nbuffer = 1\n"
save("cases", "adapt.toml", case + adapt)
cavity = (
    "[domain]\nbox = [0.0, 0.0, 1.0, 1.0]\nroot = 8\n[physics]\nre = 10\nlength = 1\nvelocity = 1\n[boundary]\n"
    + "".join(f'"{a}{e}" = "no-slip"\n' for a, e in ("x-", "x+", "y-"))
    + '"y+" = { type = "velocity", velocity = [1.0, 0.0] }\n[run]\nsteps = 2\n'
)
save("cases", "cavity.toml", cavity)
for i, formula in enumerate(
    [
        "1 + 0.1*sin(2*pi*x)",
        "if(x > 0.5, exp(-y^2), 2)",
        "max(1, min(x, y)) + sqrt(abs(x - 0.3)) / 4",
        "1.5 - tanh(10*(y - 0.25)) * cos(x) ^ 2",
    ]
):
    save("expressions", f"{i}.txt", formula)

# In seeds/mesh_file, each with --no-picture:
#   cutlink mesh --shape sphere:r=0.5 --root 4 --levels 2 --output sphere.cutlink
#   cutlink mesh --shape naca:2412 --root 8 --levels 2 --output wing.cutlink
#   cutlink mesh --shape circle --domain -1,-1,1,1 --root 4 --levels 1 --wall-distance 0 --output circle.cutlink
