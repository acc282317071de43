"""snappyHexMesh, castellated only, against `cutlink mesh`: one surface, box, base grid, finest cell.

`buffer` cases refine what the surface crosses and the layers that the mesher's own
default keeps between levels; `matched` cases refine up to the distance from the surface
at which there are about as many finest cells outside the body as in cutlink's mesh.
"""

import re
import shutil

from measure import cutlink, measured

HEADER = "FoamFile {{ version 2.0; format ascii; class dictionary; object {0}; }}\n"

BLOCK_MESH = """scale 1;
vertices ((0 0 0)(1 0 0)(1 1 0)(0 1 0)(0 0 1)(1 0 1)(1 1 1)(0 1 1));
blocks (hex (0 1 2 3 4 5 6 7) ({n} {n} {n}) simpleGrading (1 1 1));
edges ();
boundary (walls {{ type patch; faces ((0 3 2 1)(4 5 6 7)(0 1 5 4)(2 3 7 6)(1 2 6 5)(0 4 7 3)); }});
"""

CONTROL = """application snappyHexMesh;
startFrom startTime; startTime 0; stopAt endTime; endTime 1; deltaT 1;
writeControl timeStep; writeInterval 1; writeFormat binary; writePrecision 10;
"""

SCHEMES = """ddtSchemes {} gradSchemes {} divSchemes {} laplacianSchemes {}
interpolationSchemes {} snGradSchemes {}
"""

DECOMPOSE = "numberOfSubdomains {ranks}; method simple; simpleCoeffs {{ n ({ranks} 1 1); delta 0.001; }}\n"

SNAPPY = """castellatedMesh true; snap false; addLayers false;
geometry {{ body.stl {{ type triSurfaceMesh; name body; }} }}
castellatedMeshControls
{{
    maxLocalCells 100000000; maxGlobalCells 200000000; minRefinementCells 0;
    maxLoadUnbalance 0.1; nCellsBetweenLevels {between}; features ();
    refinementSurfaces {{ body {{ level ({level} {level}); }} }}
    resolveFeatureAngle 180;
    refinementRegions {{ {region} }}
    locationInMesh (0.0123 0.0217 0.0311); allowFreeStandingZoneFaces true;
}}
snapControls {{ nSmoothPatch 3; tolerance 2; nSolveIter 0; nRelaxIter 0; }}
addLayersControls
{{
    relativeSizes true; layers {{}} expansionRatio 1; finalLayerThickness 0.3; minThickness 0.1;
    nGrow 0; featureAngle 60; nRelaxIter 3; nSmoothSurfaceNormals 1; nSmoothNormals 3;
    nSmoothThickness 10; maxFaceThicknessRatio 0.5; maxThicknessToMedialRatio 0.3;
    minMedianAxisAngle 90; nBufferCellsNoExtrude 0; nLayerIter 50;
}}
meshQualityControls
{{
    maxNonOrtho 65; maxBoundarySkewness 20; maxInternalSkewness 4; maxConcave 80; minVol 1e-30;
    minTetQuality 1e-30; minArea -1; minTwist 0.02; minDeterminant 0.001; minFaceWeight 0.02;
    minVolRatio 0.01; minTriangleTwist -1; nSmoothScale 4; errorReduction 0.75;
}}
mergeTolerance 1e-6;
"""


def write_case(case, surface, n, level, between, distance, ranks):
    shutil.rmtree(case, ignore_errors=True)
    (case / "system").mkdir(parents=True)
    (case / "constant/triSurface").mkdir(parents=True)
    shutil.copy(surface, case / "constant/triSurface/body.stl")
    region = f"body {{ mode distance; levels (({distance} {level})); }}" if distance else ""
    files = {
        "blockMeshDict": BLOCK_MESH.format(n=n),
        "controlDict": CONTROL,
        "fvSchemes": SCHEMES,
        "fvSolution": "",
        "decomposeParDict": DECOMPOSE.format(ranks=ranks),
        "snappyHexMeshDict": SNAPPY.format(level=level, between=between, region=region),
    }
    for name, text in files.items():
        (case / "system" / name).write_text(HEADER.format(name) + text)


def mesh(case, ranks):
    """Wall time of each program, peak memory, and cells by level."""
    env = {
        "WM_PROJECT_DIR": "/usr/share/openfoam",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    steps = [("blockMesh", ["blockMesh"])]
    snappy = ["snappyHexMesh", "-overwrite"]
    if ranks > 1:
        steps.append(("decomposePar", ["decomposePar"]))
        snappy = ["mpirun", "--oversubscribe", "-np", ranks, *snappy, "-parallel"]
    steps.append(("snappyHexMesh", snappy))
    result = {"steps": {}, "ranks": ranks}
    for name, command in steps:
        run = measured(command, cwd=case, env=env, limit_gib=18, log=case / f"{name}.err")
        (case / f"{name}.log").write_text(run["out"])
        if run["code"] != 0:
            return {"failed": f"{name} ended with {run['code']}: see {case.name}/{name}.log"}
        result["steps"][name] = run["wall"]
        result["cpu"] = result.get("cpu", 0) + run["cpu"]
        result["peak"] = max(result.get("peak", 0), run["peak"])
    result["whole"] = sum(result["steps"].values())
    text = (case / "snappyHexMesh.log").read_text()
    rows = text.split("Cells per refinement level:")[-1].split("\n\n")[0]
    result["levels"] = [int(n) for n in re.findall(r"^\s+\d+\s+(\d+)\s*$", rows, re.M)]
    result["cells"] = sum(result["levels"])
    return result


CASES = {
    # name: levels of cutlink, cells between levels, distance refined
    "buffer-3": (3, 3, 0.0),
    "matched-3": (3, 3, 0.115),
    "buffer-5": (5, 1, 0.0),
}


def study(settings, only=None):
    surface = settings.scans / "bunny_unit.stl"
    rows = []
    for name, (levels, between, distance) in CASES.items():
        if only and name not in only:
            continue
        for ranks in settings.threads:
            case = settings.work / f"snappy-{name}-{ranks}"
            ours = ["--root", 64, "--levels", levels, "--wall-distance", 0.05]
            before = [cutlink(settings, [surface], ours, ranks) for _ in range(settings.repeat)]
            write_case(case, surface, 64, levels - 1, between, distance, ranks)
            theirs = mesh(case, ranks)
            after = [cutlink(settings, [surface], ours, ranks) for _ in range(settings.repeat)]
            runs = before + after
            counts = runs[0]["report"]["levels"]
            row = {
                "case": name,
                "threads": ranks,
                "snappy": theirs,
                "cutlink": {
                    "whole": sorted(r["whole"] for r in runs),
                    "work": sorted(r["work"] for r in runs),
                    "cpu": sorted(r["cpu"] for r in runs),
                    "peak": max(r["peak"] for r in runs),
                    "cells": runs[0]["report"]["cells"],
                    "finest_outside": counts[-1]["fluid"] + counts[-1]["boundary"],
                    "finest": counts[-1]["leaf_blocks"] * 64,
                },
            }
            rows.append(row)
            settings.save("snappy", row)
            shutil.rmtree(case / "constant", ignore_errors=True)
            for part in case.glob("processor*"):
                shutil.rmtree(part)
    return rows
