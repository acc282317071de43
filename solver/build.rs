//! Compiles the kernels for CUDA, if requested, with the lattices' tables written out for them.

#[cfg(feature = "cuda")]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the module of the crate, of which the tables are wanted here"
)]
#[path = "src/lattice.rs"]
mod lattice;

#[cfg(feature = "cuda")]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the module of the crate, of which the numbers are wanted here"
)]
#[path = "src/constants.rs"]
mod constants;

#[cfg(feature = "cuda")]
mod write {
    use super::lattice::{D2Q9, D3Q19, D3Q27, Lattice, cubic_shares};
    use std::fmt::Write;

    /// Velocities by two masks an axis, weights by the number of components that are not 0: cheap where q is
    /// known only when a kernel runs, and nothing at all where it is known before.
    fn one<L: Lattice>(name: &str, to: &mut String) {
        let mask = |a: usize, sign: i32| {
            (0..L::Q).fold(0u32, |mask, q| mask | u32::from(L::C[q][a] == sign) << q)
        };
        let [mut velocity, mut shares] = [String::new(), String::new()];
        for a in 0..3 {
            let (plus, minus) = (mask(a, 1), mask(a, -1));
            let _ = writeln!(
                velocity,
                "        {}return int({plus:#x}u >> q & 1) - int({minus:#x}u >> q & 1);",
                if a < 2 {
                    format!("if (a == {a}) ")
                } else {
                    String::new()
                }
            );
        }
        // Shortest decimals that give back the same bits.
        let weight = |moving: i32| {
            let of = |q: &usize| L::C[*q].iter().map(|c| c.abs()).sum::<i32>() == moving;
            (0..L::Q).find(of).map_or(0.0, |q| L::W[q])
        };
        let [w0, w1, w2, w3] = [0, 1, 2, 3].map(weight);
        for q in 0..L::Q {
            for (n, share) in cubic_shares::<L>(q).into_iter().enumerate() {
                if share != 0.0 {
                    let _ = writeln!(shares, "        case {}: return {share:?};", 7 * q + n);
                }
            }
        }
        let q = L::Q;
        let _ = write!(
            to,
            "
struct {name} {{
    static constexpr int Q = {q};
    __host__ __device__ static constexpr int c(int q, int a) {{
{velocity}    }}
    __host__ __device__ static constexpr double w(int q) {{
        const int moving = c(q, 0) * c(q, 0) + c(q, 1) * c(q, 1) + c(q, 2) * c(q, 2);
        return moving == 0 ? {w0:?} : moving == 1 ? {w1:?} : moving == 2 ? {w2:?} : {w3:?};
    }}
    __host__ __device__ static constexpr double share(int q, int n) {{
        switch (7 * q + n) {{
{shares}        default: return 0.0;
        }}
    }}
}};
"
        );
    }

    /// `lattices.cuh`.
    pub(crate) fn lattices() -> String {
        let mut text = String::from(
            "// Velocities c(q, a), weights w(q) and shares of third-order coefficients share(q, n): `lattice.rs`.\n\n\
             #pragma once\n",
        );
        one::<D2Q9>("D2Q9", &mut text);
        one::<D3Q19>("D3Q19", &mut text);
        one::<D3Q27>("D3Q27", &mut text);
        text
    }
}

/// Sets `optimized` where functions may be inlined without regard to the stack: an unoptimized build gives every
/// temporary of every inlined function a place of its own, megabytes of them.
fn optimization() {
    println!("cargo::rustc-check-cfg=cfg(optimized)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level != "0") {
        println!("cargo::rustc-cfg=optimized");
    }
}

#[cfg(feature = "cuda")]
fn main() -> Result<(), String> {
    use constants::{
        DIRECTION_BITS, F16_SCALE, NEAREST_BODIES, OperatorKind, balance, closure, condition,
        heat_face, indicator, kept, law, odd, profile, scheme, slot, source,
    };
    use cutlink_nvcc::Constant;
    optimization();
    let values = [
        ("DIRECTION_BITS", Constant::U32(DIRECTION_BITS)),
        ("NEAREST_BODIES", Constant::F64(f64::from(NEAREST_BODIES))),
        ("F16_SCALE", Constant::F64(f64::from(F16_SCALE))),
        ("KAPPA", Constant::F64(law::KAPPA)),
        ("LOG", Constant::F64(law::LOG)),
        ("BUFFER", Constant::F64(law::BUFFER)),
        ("DECAY", Constant::F64(law::DECAY)),
        ("NEWTON_STEPS", Constant::U32(law::NEWTON_STEPS)),
        ("SLACK", Constant::F64(law::SLACK)),
        ("WALL", Constant::U32(condition::WALL)),
        ("SLIP", Constant::U32(condition::SLIP)),
        ("OUTFLOW", Constant::U32(condition::OUTFLOW)),
        ("PRESSURE", Constant::U32(condition::PRESSURE)),
        ("FAR", Constant::U32(condition::FAR)),
        ("STREAM", Constant::U32(condition::STREAM)),
        ("PERIODIC", Constant::U32(condition::PERIODIC)),
        ("BOUNCE_BACK", Constant::U32(scheme::BOUNCE_BACK)),
        ("LINEAR", Constant::U32(scheme::LINEAR)),
        ("QUADRATIC", Constant::U32(scheme::QUADRATIC)),
        ("LOCAL", Constant::U32(scheme::LOCAL)),
        ("CENTRAL_FROM", Constant::F64(scheme::CENTRAL_FROM)),
        ("KEEPS_NONE", Constant::U32(balance::NONE)),
        ("KEEPS_TURNING", Constant::U32(balance::TURNING)),
        ("KEEPS_ALL", Constant::U32(balance::ALL)),
        ("BY_LINK", Constant::U32(profile::BY_LINK)),
        ("BY_FACE", Constant::U32(profile::BY_FACE)),
        ("HEAT_HELD", Constant::U32(heat_face::HELD)),
        ("HEAT_FLUX", Constant::U32(heat_face::FLUX)),
        ("HEAT_OPEN", Constant::U32(heat_face::OPEN)),
        ("HEAT_OPEN_HELD", Constant::U32(heat_face::OPEN_HELD)),
        ("HEAT_SHARED", Constant::U32(heat_face::SHARED)),
        ("SAME", Constant::U32(source::SAME)),
        ("CHILD_BLOCKS", Constant::U32(source::CHILD_BLOCKS)),
        ("OTHER_RANK", Constant::U32(source::OTHER_RANK)),
        ("PARENT", Constant::U32(source::PARENT)),
        ("VORTICITY", Constant::U32(indicator::VORTICITY)),
        ("Q_CRITERION", Constant::U32(indicator::Q_CRITERION)),
        ("STRAIN", Constant::U32(indicator::STRAIN)),
        ("VELOCITY_JUMP", Constant::U32(indicator::VELOCITY_JUMP)),
        (
            "PRESSURE_GRADIENT",
            Constant::U32(indicator::PRESSURE_GRADIENT),
        ),
        (
            "REGULARIZED",
            Constant::U32(OperatorKind::Regularized as u32),
        ),
        ("NO_EDDY", Constant::U32(closure::NONE)),
        ("SMAGORINSKY", Constant::U32(closure::SMAGORINSKY)),
        ("FIXED", Constant::U32(odd::FIXED)),
        ("AS_EVEN", Constant::U32(odd::AS_EVEN)),
        ("MAGIC", Constant::U32(odd::MAGIC)),
        ("HAS_SLOT", Constant::U8(slot::HAS_SLOT)),
        ("OVERLAP", Constant::U8(slot::OVERLAP)),
        ("EXCHANGES", Constant::U8(slot::EXCHANGES)),
        ("IS_SPECIAL", Constant::U8(slot::IS_SPECIAL)),
        ("KEPT", Constant::U32(kept::VALUES)),
        ("STEPPED", Constant::U32(kept::STEPPED)),
    ];
    let out = std::env::var("OUT_DIR").map_err(|e| e.to_string())?;
    println!("cargo::rerun-if-changed=src/lattice.rs");
    let header = format!("{out}/lattices.cuh");
    std::fs::write(&header, write::lattices()).map_err(|e| format!("{header}: {e}"))?;
    cutlink_nvcc::KernelBuild::of("src/kernels/cuda")?
        .constants(
            "solver_constants",
            "src/constants.rs",
            &[&values[..], &sizes()].concat(),
        )?
        .headers_of("amr")?
        .headers_of("device")?
        .headers_in(out.as_ref())
        .compile()
}

/// Launch sizes, sizes of sums, and numbers of openings.
#[cfg(feature = "cuda")]
fn sizes() -> [(&'static str, cutlink_nvcc::Constant); 19] {
    use constants::{LEAST_UNDAMPED, SUMS, integral, launch, opening};
    use cutlink_nvcc::Constant;
    [
        ("ANCHOR", Constant::F64(opening::ANCHOR)),
        (
            "OUTFLOW_STRESS_2D",
            Constant::F64(opening::OUTFLOW_STRESS[0]),
        ),
        (
            "OUTFLOW_STRESS_3D",
            Constant::F64(opening::OUTFLOW_STRESS[1]),
        ),
        ("PRESSURE_STRESS", Constant::F64(opening::PRESSURE_STRESS)),
        ("AT_REST", Constant::F64(opening::AT_REST)),
        ("LEAVING", Constant::F64(opening::LEAVING)),
        ("LEAST_UNDAMPED", Constant::F64(LEAST_UNDAMPED)),
        ("SUMS", Constant::Int(SUMS as i32)),
        ("THREADS", Constant::Int(launch::THREADS as i32)),
        ("ADDERS", Constant::Int(launch::ADDERS as i32)),
        ("PLAIN", Constant::Int(launch::PLAIN as i32)),
        ("OPEN", Constant::Int(launch::OPEN as i32)),
        ("FACED_2D", Constant::Int(launch::FACED[0] as i32)),
        ("FACED_3D", Constant::Int(launch::FACED[1] as i32)),
        ("BOUNDED", Constant::Int(launch::BOUNDED as i32)),
        ("TILE_EDGE", Constant::Int(launch::TILE_EDGE as i32)),
        ("TILE_AROUND", Constant::Int(launch::TILE_AROUND as i32)),
        ("INTEGRALS", Constant::Int(integral::VALUES as i32)),
        ("SUMMED", Constant::Int(integral::SUMMED as i32)),
    ]
}

#[cfg(not(feature = "cuda"))]
fn main() {
    optimization();
    println!("cargo::rerun-if-changed=build.rs");
}
