"""The terminal speed of ten Cate's spheres in a long duct of their box's section, by simpleFoam on a mesh of snappyHexMesh.

A quarter of the duct in the frame of the sphere: oil comes in with the speed, the walls move with it. Two speeds near the terminal one give
the power law of the drag, and that the speed at which the drag is the weight less the buoyancy. A box with ends is not faster than a long
duct, so that this is an upper bound of the largest speed in ten Cate, Nieuwstad, Derksen & van den Akker (2002).
"""

import math
import shutil
import sys
from pathlib import Path

from measure import measured

sys.path.append(str(Path(__file__).resolve().parent.parent / "validation"))
from sources import TEN_CATE  # noqa: E402

RADIUS, BALL, GRAVITY = 7.5e-3, 1120.0, 9.81
# Levels of 2.5 mm cells: 24 and 48 cells a diameter.
LEVELS = {24: 2, 48: 3}

HEADER = "FoamFile {{ version 2.0; format ascii; class {0}; object {1}; }}\n"

BLOCK_MESH = """scale 0.001;
vertices ((0 0 -80)(50 0 -80)(50 50 -80)(0 50 -80)(0 0 80)(50 0 80)(50 50 80)(0 50 80));
blocks (hex (0 1 2 3 4 5 6 7) (20 20 64) simpleGrading (1 1 1));
edges ();
boundary
(
    inlet { type patch; faces ((0 3 2 1)); }
    outlet { type patch; faces ((4 5 6 7)); }
    middleX { type symmetryPlane; faces ((0 4 7 3)); }
    middleY { type symmetryPlane; faces ((0 1 5 4)); }
    walls { type wall; faces ((1 2 6 5)(2 3 7 6)); }
);
"""

CONTROL = """application simpleFoam;
startFrom startTime; startTime 0; stopAt endTime; endTime 600; deltaT 1;
writeControl timeStep; writeInterval 600; writeFormat ascii; writePrecision 8;
functions
{{
    forces
    {{
        type forces; libs ("libforces.so"); patches (ball); rho rhoInf; rhoInf {density}; CofR (0 0 0);
        writeControl timeStep; writeInterval 10;
    }}
}}
"""

SCHEMES = """ddtSchemes { default steadyState; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) bounded Gauss linear; div((nuEff*dev2(T(grad(U))))) Gauss linear; }
laplacianSchemes { default Gauss linear corrected; }
interpolationSchemes { default linear; }
snGradSchemes { default corrected; }
"""

SOLUTION = """solvers
{
    p { solver GAMG; smoother GaussSeidel; tolerance 1e-9; relTol 0.02; }
    U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-10; relTol 0.05; }
}
SIMPLE { nNonOrthogonalCorrectors 1; consistent yes; residualControl { p 1e-6; U 1e-7; } }
relaxationFactors { equations { U 0.9; } fields { p 0.9; } }
"""

SNAPPY = """castellatedMesh true; snap true; addLayers true;
geometry
{{
    ball {{ type searchableSphere; centre (0 0 0); radius 0.0075; }}
    near {{ type searchableSphere; centre (0 0 0); radius 0.011; }}
    middle {{ type searchableSphere; centre (0 0 0); radius 0.020; }}
    far {{ type searchableSphere; centre (0 0 0); radius 0.035; }}
}}
castellatedMeshControls
{{
    maxLocalCells 10000000; maxGlobalCells 10000000; minRefinementCells 0; nCellsBetweenLevels 3; features ();
    refinementSurfaces {{ ball {{ level ({level} {level}); }} }}
    resolveFeatureAngle 30;
    refinementRegions
    {{
        near {{ mode inside; levels ((1e15 {level})); }}
        middle {{ mode inside; levels ((1e15 {coarser})); }}
        far {{ mode inside; levels ((1e15 {coarsest})); }}
    }}
    locationInMesh (0.0311 0.0333 0.0313); allowFreeStandingZoneFaces true;
}}
snapControls {{ nSmoothPatch 5; tolerance 2; nSolveIter 50; nRelaxIter 8; }}
addLayersControls
{{
    relativeSizes true; layers {{ ball {{ nSurfaceLayers 3; }} }}
    expansionRatio 1.2; finalLayerThickness 0.6; minThickness 0.1; nGrow 0; featureAngle 60; nRelaxIter 5;
    nSmoothSurfaceNormals 1; nSmoothNormals 3; nSmoothThickness 10; maxFaceThicknessRatio 0.5;
    maxThicknessToMedialRatio 0.3; minMedianAxisAngle 90; nBufferCellsNoExtrude 0; nLayerIter 50;
}}
meshQualityControls
{{
    maxNonOrtho 65; maxBoundarySkewness 20; maxInternalSkewness 4; maxConcave 80; minVol 1e-30; minTetQuality 1e-30;
    minArea -1; minTwist 0.02; minDeterminant 0.001; minFaceWeight 0.05; minVolRatio 0.01; minTriangleTwist -1;
    nSmoothScale 4; errorReduction 0.75;
}}
mergeTolerance 1e-6;
"""

VELOCITY = """dimensions [0 1 -1 0 0 0 0];
internalField uniform (0 0 {speed});
boundaryField
{{
    inlet {{ type fixedValue; value $internalField; }}
    outlet {{ type zeroGradient; }}
    "middle." {{ type symmetryPlane; }}
    walls {{ type fixedValue; value $internalField; }}
    ball {{ type noSlip; }}
}}
"""

PRESSURE = """dimensions [0 2 -2 0 0 0 0];
internalField uniform 0;
boundaryField
{
    outlet { type fixedValue; value uniform 0; }
    "middle." { type symmetryPlane; }
    "inlet|walls|ball" { type zeroGradient; }
}
"""


def write(case, level, density, viscosity, speed):
    """The files of a case, with cells of so many levels at the sphere."""
    shutil.rmtree(case, ignore_errors=True)
    text = {
        "system/blockMeshDict": BLOCK_MESH,
        "system/controlDict": CONTROL.format(density=density),
        "system/fvSchemes": SCHEMES,
        "system/fvSolution": SOLUTION,
        "system/snappyHexMeshDict": SNAPPY.format(level=level, coarser=level - 1, coarsest=level - 2),
        "constant/transportProperties": f"transportModel Newtonian; nu {viscosity};\n",
        "constant/turbulenceProperties": "simulationType laminar;\n",
        "0/U": VELOCITY.format(speed=speed),
        "0/p": PRESSURE,
    }
    kinds = {"U": "volVectorField", "p": "volScalarField"}
    for name, body in text.items():
        path = case / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER.format(kinds.get(path.name, "dictionary"), path.name) + body)


def drag(case, *given):
    """The drag on the whole sphere, N."""
    write(case, *given)
    for command in (["blockMesh"], ["snappyHexMesh", "-overwrite"], ["simpleFoam"]):
        run = measured(command, cwd=case, env={"WM_PROJECT_DIR": "/usr/share/openfoam"}, log=case / f"{command[0]}.err")
        (case / f"{command[0]}.log").write_text(run["out"])
        if run["code"] != 0:
            raise SystemExit(f"{command[0]} ended with {run['code']}: see {case}/{command[0]}.log")
    last = (case / "postProcessing/forces/0/force.dat").read_text().splitlines()[-1]
    # Quarter of the sphere: time, (total), (pressure), (viscous).
    return 4 * float(last.replace("(", " ").replace(")", " ").split()[3])


def study(settings, only):
    for name, (density, viscosity, _, _, found) in TEN_CATE.items():
        if only and name not in only:
            continue
        weight = 4 / 3 * math.pi * RADIUS**3 * (BALL - density) * GRAVITY
        for cells, level in LEVELS.items():
            speeds = [0.97 * found, found]
            pull = [drag(settings.work / "duct" / name, level, density, viscosity, u) for u in speeds]
            power = math.log(pull[1] / pull[0]) / math.log(speeds[1] / speeds[0])
            terminal = found * (weight / pull[1]) ** (1 / power)
            settings.save("duct", {
                "case": name, "cells a diameter": cells, "drag over weight at the measured speed": pull[1] / weight,
                "power of the drag": power, "terminal speed, m/s": terminal, "measured": found, "over measured": terminal / found - 1,
            })
