"""Volume meshes of Gmsh, meshio and VTK through `cutlink refine --polymesh`: counts, volumes and areas of theirs.

    check_meshes.py CUTLINK FOLDER [--must-fail]

Needs gmsh, meshio, vtk and numpy. `checkMesh` of OpenFOAM is asked too where it is on the path. With --must-fail a volume
is changed, and the script succeeds only if that is seen.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import gmsh
import meshio
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

CUTLINK, FOLDER = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
OFF = 1.001 if "--must-fail" in sys.argv else 1.0
FOAM = shutil.which("checkMesh") if os.environ.get("WM_PROJECT_DIR") else None


def near(a, b, what):
    assert abs(a * OFF - b) <= 1e-9 * max(abs(b), 1e-300), f"{what}: {a} and {b}"


# Meshes of Gmsh: each leaves a model with a mesh and groups.


def box():
    """A graded box of hexahedra, walls at two sides, in two volumes."""
    for x in (0.0, 1.0):
        gmsh.model.occ.addBox(x, 0, 0, 1, 2, 0.5)
    gmsh.model.occ.fragment([(3, 1)], [(3, 2)])
    gmsh.model.occ.synchronize()
    for _, curve in gmsh.model.getEntities(1):
        gmsh.model.mesh.setTransfiniteCurve(curve, 6, "Progression", 1.2)
    hexahedra()
    ends = [tag for d, tag in gmsh.model.getEntities(2) if abs(gmsh.model.occ.getCenterOfMass(d, tag)[0] - 1) > 0.9]
    middle = [tag for d, tag in gmsh.model.getEntities(2) if abs(gmsh.model.occ.getCenterOfMass(d, tag)[0] - 1) < 1e-9]
    middle = [tag for tag in middle if gmsh.model.occ.getMass(2, tag) == 1.0]
    gmsh.model.addPhysicalGroup(2, ends, 11, "in and out")
    gmsh.model.addPhysicalGroup(2, middle[:1], 12, "inside")
    gmsh.model.addPhysicalGroup(3, [1], 21, "left")
    gmsh.model.addPhysicalGroup(3, [2], 22, "right")


def hexahedra():
    for _, surface in gmsh.model.getEntities(2):
        gmsh.model.mesh.setTransfiniteSurface(surface)
        gmsh.model.mesh.setRecombine(2, surface)
    for _, volume in gmsh.model.getEntities(3):
        gmsh.model.mesh.setTransfiniteVolume(volume)
    gmsh.model.mesh.generate(3)


def pipe():
    """An unstructured mesh of quads, extruded: a round pipe."""
    disk = gmsh.model.occ.addDisk(0, 0, 0, 1, 1)
    out = gmsh.model.occ.extrude([(2, disk)], 0, 0, 2, [7], recombine=True)
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMax", 0.3)
    gmsh.option.setNumber("Mesh.RecombineAll", 1)
    gmsh.option.setNumber("Mesh.RecombinationAlgorithm", 2)
    gmsh.model.mesh.generate(3)
    gmsh.option.setNumber("Mesh.RecombineAll", 0)
    gmsh.model.addPhysicalGroup(2, [disk], 1, "inlet")
    gmsh.model.addPhysicalGroup(2, [tag for d, tag in out if d == 2 and tag != out[0][1]], 2, "wall")
    gmsh.model.addPhysicalGroup(2, [out[0][1]], 3, "outlet")
    gmsh.model.addPhysicalGroup(3, [tag for d, tag in out if d == 3], 4, "fluid")


def ball():
    """Tetrahedra."""
    gmsh.model.occ.addSphere(0, 0, 0, 1)
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMax", 0.4)
    gmsh.model.mesh.generate(3)
    gmsh.model.addPhysicalGroup(2, [1], 1, "skin")
    gmsh.model.addPhysicalGroup(3, [1], 2, "inside")


def of_gmsh():
    """Cells, volume, and areas of surface groups, by Gmsh."""
    kinds, elements, _ = gmsh.model.mesh.getElements(3)
    cells = sum(len(tags) for kind, tags in zip(kinds, elements))
    volume = sum(gmsh.model.mesh.getElementQualities(tags, "volume").sum() for tags in elements)
    areas = {}
    for d, group in gmsh.model.getPhysicalGroups(2):
        area = 0.0
        for entity in gmsh.model.getEntitiesForPhysicalGroup(2, group):
            for tags in gmsh.model.mesh.getElements(2, entity)[1]:
                area += gmsh.model.mesh.getElementQualities(tags, "volume").sum()
        areas[re.sub(r"\W", "_", gmsh.model.getPhysicalName(2, group))] = area
    return cells, volume, areas


# Meshes of OpenFOAM, read as text.


def foam(path):
    text = Path(path).read_text()
    return text[text.index("}") + 1 :].strip()


def numbers(path, columns=None):
    body = foam(path)
    body = body[body.index("(") + 1 : body.rindex(")")]
    values = np.array(re.sub(r"[()]", " ", body).split(), dtype=float)
    return values if columns is None else values.reshape(-1, columns)


class Case:
    def __init__(self, folder):
        at = Path(folder) / "constant/polyMesh"
        self.points = numbers(at / "points", 3)
        lines = re.findall(r"\d+\(([\d ]+)\)", foam(at / "faces"))
        self.faces = [np.array(line.split(), dtype=int) for line in lines]
        self.owner = numbers(at / "owner").astype(int)
        self.neighbour = numbers(at / "neighbour").astype(int)
        found = re.findall(r"(\S+)\s*\{[^}]*nFaces\s+(\d+);\s*startFace\s+(\d+);", foam(at / "boundary"))
        self.patches = {name: (int(start), int(count)) for name, count, start in found}
        self.cells = max(self.owner.max(), self.neighbour.max()) + 1
        areas, moments = [], []
        for ids in self.faces:
            p = self.points[ids]
            fan = np.cross(np.roll(p, -1, 0) - p, p.mean(0) - p) / 2
            area = fan.sum(0)
            # The volume below triangles from the centre: exact for any closed fan.
            thirds = (p + np.roll(p, -1, 0) + p.mean(0)) / 3
            areas.append(area)
            moments.append((fan * thirds).sum() / 3)
        self.areas, moments = np.array(areas), np.array(moments)
        self.volumes = np.bincount(self.owner, moments, self.cells)
        n = len(self.neighbour)
        self.volumes -= np.bincount(self.neighbour, moments[:n], self.cells)

    def area(self, patch):
        start, count = self.patches[patch]
        return np.linalg.norm(self.areas[start : start + count], axis=1).sum()


def run(file, case, *more):
    shutil.rmtree(case, ignore_errors=True)
    line = [CUTLINK, "refine", file, "--polymesh", case, "--polymesh-format", "ascii", "--json", *more]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, f"{file}: {done.stderr}"
    if FOAM:
        found = subprocess.run([FOAM, "-case", case, "-allTopology"], capture_output=True, text=True).stdout
        assert "Mesh OK" in found, f"{file} {more}: {found}"
    return json.loads(done.stdout), Case(case)


def check(file, expected, names=True):
    cells, volume, areas = expected
    report, case = run(file, FOLDER / "case")
    assert report["cells"] == case.cells == cells, f"{file}: {case.cells} cells, {cells} expected"
    near(case.volumes.sum(), volume, f"volume of {file}")
    assert case.volumes.min() > 0, f"{file}: a cell of volume {case.volumes.min()}"
    if names:
        for name, area in areas.items():
            if name in case.patches:
                # Twisted quads have an area that depends on how it is defined.
                assert abs(case.area(name) * OFF / area - 1) < 1e-6, f"area of {name} in {file}"
    return report, case


def of_vtk(file):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(file))
    size = vtk.vtkCellSizeFilter()
    size.SetInputConnection(reader.GetOutputPort())
    size.Update()
    volumes = vtk_to_numpy(size.GetOutput().GetCellData().GetArray("Volume"))
    return int((volumes != 0).sum()), float(volumes.sum()), {}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    checked = 0
    for make in (box, pipe, ball):
        gmsh.clear()
        make()
        expected = of_gmsh()
        for version in (2.2, 4.1):
            for binary in (0, 1):
                file = FOLDER / f"{make.__name__}-{version}-{binary}.msh"
                gmsh.option.setNumber("Mesh.MshFileVersion", version)
                gmsh.option.setNumber("Mesh.Binary", binary)
                gmsh.write(str(file))
                report, case = check(file, expected)
                missing = set(expected[2]) - set(case.patches) - set(report["zones"])
                assert not missing, f"{file}: no {missing}, but {list(case.patches)} and {report['zones']}"
                checked += 1
                refined, fine = run(file, FOLDER / "fine", "--where", "sphere:0.5,0,0.3,r=0.4,levels=3")
                assert refined["cells"] > expected[0], "some cells are refined"
                near(fine.volumes.sum(), expected[1], f"volume of {file}, refined")
                assert fine.volumes.min() > 0, f"{file}: a child of volume {fine.volumes.min()}"
        mesh = meshio.read(file)
        for name, more in {"4": {"file_format": "gmsh"}, "2": {"file_format": "gmsh22"}}.items():
            for binary in (False, True):
                out = FOLDER / f"{make.__name__}-meshio-{name}-{binary}.msh"
                mesh.write(out, binary=binary, **more)
                check(out, expected, names=name == "2")
                checked += 1
        solid = [block for block in mesh.cells if block.type in ("hexahedron", "tetra")]
        T = [np.linspace(0, 1, len(block.data)) for block in solid]
        only = meshio.Mesh(mesh.points, solid, cell_data={"T": T})
        for zlib in (None, "zlib"):
            for binary in (False, True):
                out = FOLDER / f"{make.__name__}-meshio-{zlib}-{binary}.vtu"
                only.write(out, file_format="vtu", binary=binary, compression=zlib)
                report, case = check(out, expected)
                assert report["fields"] == ["T"], report["fields"]
                checked += 1
        checked += by_vtk(out, expected)
    gmsh.finalize()
    print(f"{checked} meshes of gmsh, meshio and vtk agree" + (", checkMesh too" if FOAM else ""))


def by_vtk(file, expected):
    """The grid as VTK writes it, in every mode."""
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(file))
    reader.Update()
    count = 0
    for mode in ("SetDataModeToAscii", "SetDataModeToBinary", "SetDataModeToAppended"):
        for encode in (0, 1):
            for zlib in (False, True):
                for order in ("SetByteOrderToLittleEndian", "SetByteOrderToBigEndian"):
                    writer = vtk.vtkXMLUnstructuredGridWriter()
                    writer.SetInputData(reader.GetOutput())
                    getattr(writer, mode)()
                    getattr(writer, order)()
                    writer.SetEncodeAppendedData(encode)
                    writer.SetCompressorTypeToZLib() if zlib else writer.SetCompressorTypeToNone()
                    writer.SetHeaderTypeToUInt64() if encode else writer.SetHeaderTypeToUInt32()
                    out = FOLDER / f"vtk-{mode}-{encode}-{zlib}-{order}.vtu"
                    writer.SetFileName(str(out))
                    writer.Write()
                    cells, volume, _ = of_vtk(out)
                    assert cells == expected[0], "VTK counts as Gmsh"
                    report, case = check(out, (cells, case_volume(volume, expected), {}))
                    count += 1
    grid = vtk.vtkImageData()
    grid.SetDimensions(5, 4, 3)
    grid.SetSpacing(0.5, 1, 2)
    voxels = vtk.vtkAppendFilter()
    voxels.AddInputData(grid)
    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetInputConnection(voxels.GetOutputPort())
    writer.SetFileName(str(FOLDER / "voxels.vtu"))
    writer.Write()
    report, case = check(FOLDER / "voxels.vtu", (4 * 3 * 2, 2 * 3 * 4, {}))
    assert sorted(count for _, count in case.patches.values()) == [6, 6, 8, 8, 12, 12], case.patches
    return count + 1


def case_volume(by_vtk, expected):
    """VTK divides a hexahedron into tetrahedra, which differs where its faces are not plane."""
    assert abs(by_vtk / expected[1] - 1) < 1e-2, f"{by_vtk} by VTK, {expected[1]} by Gmsh"
    return expected[1]


try:
    main()
except AssertionError as error:
    if OFF == 1.0:
        raise
    print(f"seen: {error}")
else:
    assert OFF == 1.0, "a wrong volume was not seen"
