//! Properties, numerics and what is written. Numerics: second order in space, limited where cells are skewed, as the
//! tutorials of OpenFOAM have it for castellated and snapped meshes.

use super::{Flow, Solver, Turbulence, dictionary, roles::Role};
use crate::polymesh::target::{cross, unit};

/// Times that the fluid passes the length of the flow in a run in time, and Courant number.
const PASSES: f64 = 20.0;
const COURANT: f64 = 0.8;
/// Seconds that a liquid is followed.
const SLOSHING: f64 = 2.0;
/// Density and kinematic viscosity of air, and of water; surface tension between them; gravity. SI units, at 20 °C.
const AIR: [f64; 2] = [1.2, 1.5e-5];
const WATER: f64 = 998.0;
const TENSION: f64 = 0.0727;
const GRAVITY: f64 = 9.81;

impl Flow<'_> {
    pub(super) fn dictionaries(&self) -> Vec<(&'static str, String)> {
        let file = |name: &'static str, entries: String| {
            let object = name.rsplit('/').next().unwrap_or(name);
            (name, dictionary("dictionary", object, &entries))
        };
        let model = match self.turbulence {
            Turbulence::Laminar => "simulationType laminar;\n",
            Turbulence::Sst => {
                "simulationType RAS;\nRAS { RASModel kOmegaSST; turbulence on; printCoeffs on; }\n"
            }
        };
        let mut files = vec![
            file("system/controlDict", self.control()),
            file("system/fvSchemes", self.schemes()),
            file("system/fvSolution", self.solution()),
            file("constant/transportProperties", self.properties()),
            file("constant/turbulenceProperties", model.to_owned()),
        ];
        if self.template.solver == Solver::Inter {
            let gravity = format!("dimensions [0 1 -2 0 0 0 0];\nvalue (0 0 -{GRAVITY});\n");
            files.push((
                "constant/g",
                dictionary("uniformDimensionedVectorField", "g", &gravity),
            ));
            files.push(file("system/setFieldsDict", self.liquid()));
        }
        files.extend(
            self.template
                .ranks
                .zip(self.parts())
                .map(|(ranks, [x, y, z])| {
                    // The method that needs no library.
                    let entries = format!(
                        "numberOfSubdomains {ranks};\nmethod hierarchical;\n\
                 hierarchicalCoeffs {{ n ({x} {y} {z}); delta 0.001; order xyz; }}\n"
                    );
                    file("system/decomposeParDict", entries)
                }),
        );
        files
    }

    /// Parts along each axis.
    pub(super) fn parts(&self) -> Option<[u32; 3]> {
        let ranks = self.template.ranks?;
        Some(parts(ranks, self.scales.span()))
    }

    fn properties(&self) -> String {
        let nu = self.template.viscosity;
        match self.template.solver {
            Solver::Inter => format!(
                "phases (water air);\n\
                 water {{ transportModel Newtonian; nu {nu}; rho {WATER}; }}\n\
                 air {{ transportModel Newtonian; nu {}; rho {}; }}\n\
                 sigma {TENSION};\n",
                AIR[1], AIR[0]
            ),
            _ => format!("transportModel Newtonian;\nnu {nu};\n"),
        }
    }

    /// The liquid below a height, at faces too, where inlets have its share.
    fn liquid(&self) -> String {
        let (low, high) = (self.scales.low, self.scales.high);
        let height = self.template.liquid.unwrap_or(0.5 * (low[2] + high[2]));
        let wide = (0..3).map(|a| high[a] - low[a]).sum::<f64>();
        let below = format!(
            "box ({} {} {}) ({} {} {height});",
            low[0] - wide,
            low[1] - wide,
            low[2] - wide,
            high[0] + wide,
            high[1] + wide
        );
        let fields = "fieldValues (volScalarFieldValue alpha.water 1);";
        format!(
            "defaultFieldValues (volScalarFieldValue alpha.water 0);\nregions\n(\n    \
             boxToCell {{ {below} {fields} }}\n    boxToFace {{ {below} {fields} }}\n);\n"
        )
    }

    fn control(&self) -> String {
        let (scales, solver) = (&self.scales, self.template.solver);
        let speed = self.template.speed();
        let times = match solver {
            Solver::Simple => {
                "startFrom latestTime;\nstartTime 0;\nstopAt endTime;\nendTime 500;\ndeltaT 1;\n\
                               writeControl timeStep;\nwriteInterval 500;\n"
                    .to_owned()
            }
            _ => {
                let end = match speed > 0.0 {
                    true => PASSES * scales.length / speed,
                    false => SLOSHING,
                };
                let first = match speed > 0.0 {
                    true => 0.1 * scales.finest / speed,
                    false => 1e-4_f64.min(0.1 * scales.finest),
                };
                let interface = match solver {
                    Solver::Inter => format!("maxAlphaCo {COURANT};\n"),
                    _ => String::new(),
                };
                format!(
                    "startFrom latestTime;\nstartTime 0;\nstopAt endTime;\nendTime {end};\ndeltaT {first};\n\
                     adjustTimeStep yes;\nmaxCo {COURANT};\n{interface}maxDeltaT {};\n\
                     writeControl adjustableRunTime;\nwriteInterval {};\n",
                    end / 20.0,
                    end / 20.0
                )
            }
        };
        format!(
            "application {};\n{times}writeFormat binary;\nwritePrecision 10;\nwriteCompression off;\n\
             timeFormat general;\ntimePrecision 8;\nrunTimeModifiable true;\nfunctions\n{{\n{}}}\n",
            solver.name(),
            self.functions()
        )
    }

    /// Forces on walls; of a stream their coefficients; of ducts the mean pressure of inlets.
    fn functions(&self) -> String {
        let (scales, template) = (&self.scales, self.template);
        let names = |role: &Role| {
            let found = self.patches.iter().filter(|(_, of)| of == role);
            found.map(|(name, _)| *name).collect::<Vec<_>>()
        };
        let every = "writeControl timeStep; writeInterval 1; log no;";
        let density = match template.solver {
            Solver::Inter => String::new(),
            _ => "rho rhoInf; rhoInf 1; ".to_owned(),
        };
        let center = scales.middle.map(|x| x.to_string()).join(" ");
        let walls = names(&Role::Wall).join(" ");
        let mut text = String::new();
        if !walls.is_empty() {
            text += &format!(
                "    forces\n    {{\n        type forces; libs (\"libforces.so\"); patches ({walls});\n        \
                 {density}CofR ({center}); {every}\n    }}\n"
            );
        }
        let is_stream = self.patches.iter().any(|(_, role)| *role == Role::Inlet);
        if is_stream && scales.area > 0.0 && template.solver != Solver::Inter {
            let speed = template.speed();
            let drag = template.velocity.map(|u| u / speed);
            // Lift: upwards, or along y in a vertical stream.
            let up = if drag[2].abs() < 0.9 { 2 } else { 1 };
            let lift: [f64; 3] =
                std::array::from_fn(|a| f64::from(u8::from(a == up)) - drag[up] * drag[a]);
            let lift = unit(lift);
            let text_of = |v: [f64; 3]| format!("({} {} {})", v[0], v[1], v[2]);
            text += &format!(
                "    coefficients\n    {{\n        type forceCoeffs; libs (\"libforces.so\"); patches ({walls});\n        \
                 {density}magUInf {speed}; lRef {}; Aref {};\n        dragDir {}; liftDir {}; pitchAxis {}; CofR ({center});\n        \
                 {every}\n    }}\n",
                scales.length,
                scales.area,
                text_of(drag),
                text_of(lift),
                text_of(cross(lift, drag)),
            );
        }
        let pressure = if template.solver == Solver::Inter {
            "p_rgh"
        } else {
            "p"
        };
        for name in names(&Role::NormalInlet) {
            text += &format!(
                "    {name}Pressure\n    {{\n        type surfaceFieldValue; libs (\"libfieldFunctionObjects.so\");\n        \
                 regionType patch; name {name}; operation areaAverage; fields ({pressure});\n        writeFields false; {every}\n    }}\n"
            );
        }
        text
    }

    fn schemes(&self) -> String {
        let steady = self.template.solver == Solver::Simple;
        let bounded = if steady { "bounded " } else { "" };
        let time = match self.template.solver {
            Solver::Simple => "steadyState",
            Solver::Pimple => "backward",
            Solver::Inter => "Euler",
        };
        let convection = match self.template.solver {
            Solver::Inter => "    div(rhoPhi,U) Gauss linearUpwind grad(U);\n    div(phi,alpha) Gauss vanLeer;\n    \
                              div(phirb,alpha) Gauss linear;\n    \
                              div(((rho*nuEff)*dev2(T(grad(U))))) Gauss linear;\n"
                .to_owned(),
            _ => format!(
                "    div(phi,U) {bounded}Gauss linearUpwind grad(U);\n    \
                 div((nuEff*dev2(T(grad(U))))) Gauss linear;\n"
            ),
        };
        let turbulent = match self.turbulence {
            Turbulence::Laminar => String::new(),
            Turbulence::Sst => format!(
                "    div(phi,k) {bounded}Gauss limitedLinear 1;\n    div(phi,omega) {bounded}Gauss limitedLinear 1;\n"
            ),
        };
        format!(
            "ddtSchemes {{ default {time}; }}\n\
             gradSchemes {{ default Gauss linear; grad(U) cellLimited Gauss linear 1; }}\n\
             divSchemes\n{{\n    default none;\n{convection}{turbulent}}}\n\
             laplacianSchemes {{ default Gauss linear limited 0.5; }}\n\
             interpolationSchemes {{ default linear; }}\n\
             snGradSchemes {{ default limited 0.5; }}\n\
             wallDist {{ method meshWave; }}\n"
        )
    }

    fn solution(&self) -> String {
        let symmetric = "solver GAMG; smoother GaussSeidel;";
        let other = "solver smoothSolver; smoother symGaussSeidel; tolerance 1e-9; relTol 0.1;";
        let reference = match self
            .patches
            .iter()
            .any(|(_, r)| matches!(r, Role::Outlet | Role::Atmosphere))
        {
            true => "",
            false => " pRefCell 0; pRefValue 0;",
        };
        match self.template.solver {
            Solver::Simple => format!(
                "solvers\n{{\n    p {{ {symmetric} tolerance 1e-8; relTol 0.05; }}\n    \
                 \"(U|k|omega)\" {{ {other} }}\n    Phi {{ {symmetric} tolerance 1e-6; relTol 0.01; }}\n}}\n\
                 SIMPLE {{ consistent yes; nNonOrthogonalCorrectors 0;{reference} residualControl {{ U 1e-5; p 1e-4; }} }}\n\
                 potentialFlow {{ nNonOrthogonalCorrectors 5; }}\n\
                 relaxationFactors {{ equations {{ U 0.9; k 0.7; omega 0.7; }} }}\n"
            ),
            Solver::Pimple => format!(
                "solvers\n{{\n    p {{ {symmetric} tolerance 1e-7; relTol 0.01; }}\n    \
                 pFinal {{ {symmetric} tolerance 1e-7; relTol 0; }}\n    \"(U|k|omega)\" {{ {other} }}\n    \
                 \"(U|k|omega)Final\" {{ solver smoothSolver; smoother symGaussSeidel; tolerance 1e-9; relTol 0; }}\n}}\n\
                 PIMPLE {{ nOuterCorrectors 1; nCorrectors 2; nNonOrthogonalCorrectors 1;{reference} }}\n"
            ),
            Solver::Inter => format!(
                "solvers\n{{\n    \"alpha.water.*\" {{ nAlphaCorr 2; nAlphaSubCycles 1; cAlpha 1; MULESCorr yes; nLimiterIter 5; \
                 solver smoothSolver; smoother symGaussSeidel; tolerance 1e-8; relTol 0; }}\n    \
                 \"pcorr.*\" {{ {symmetric} tolerance 1e-5; relTol 0; }}\n    \
                 p_rgh {{ {symmetric} tolerance 1e-8; relTol 0.01; }}\n    p_rghFinal {{ {symmetric} tolerance 1e-8; relTol 0; }}\n    \
                 \"(U|k|omega)\" {{ {other} }}\n    \
                 \"(U|k|omega)Final\" {{ solver smoothSolver; smoother symGaussSeidel; tolerance 1e-9; relTol 0; }}\n}}\n\
                 PIMPLE {{ momentumPredictor no; nOuterCorrectors 1; nCorrectors 3; nNonOrthogonalCorrectors 1;{reference} }}\n\
                 relaxationFactors {{ equations {{ \".*\" 1; }} }}\n"
            ),
        }
    }
}

/// Factors of a number of parts by axis: the largest prime first, each along the axis where parts are longest.
fn parts(count: u32, mut edges: [f64; 3]) -> [u32; 3] {
    let (mut factors, mut rest, mut prime) = (Vec::new(), count, 2);
    while rest > 1 {
        match rest.is_multiple_of(prime) {
            true => {
                factors.push(prime);
                rest /= prime;
            }
            // What is left is a prime.
            false if prime > rest / prime => prime = rest,
            false => prime += 1,
        }
    }
    let mut parts = [1; 3];
    for &factor in factors.iter().rev() {
        let longest = if edges[0] >= edges[1].max(edges[2]) {
            0
        } else if edges[1] >= edges[2] {
            1
        } else {
            2
        };
        parts[longest] *= factor;
        edges[longest] /= f64::from(factor);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_follow_the_longest_edges() {
        assert_eq!(parts(1, [1.0; 3]), [1, 1, 1]);
        assert_eq!(parts(8, [1.0; 3]), [2, 2, 2]);
        assert_eq!(parts(6, [4.0, 1.0, 1.5]), [3, 1, 2]);
        assert_eq!(parts(12, [3.0, 2.0, 1.1]), [3, 2, 2]);
        assert_eq!(parts(7919, [1.0, 1.0, 9.0]), [1, 1, 7919]);
    }
}
