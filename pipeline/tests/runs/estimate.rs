//! Estimates against the plans of the same cases, and against one another.

use cutlink::{Case, EstimateOptions, RunOptions};
use serde_json::Value;

const SPHERE: &str = r#"
[mesh]
shape = "sphere:r=0.5"
domain = [-2, -2, -2, 4, 2, 2]
root = 48
levels = LEVELS

[physics]
re = 1e5
length = 1
velocity = 1

[boundary]
"x-" = { type = "velocity", velocity = [1, 0, 0] }
"x+" = "outflow"
"y-" = "free-slip"
"y+" = "free-slip"
"z-" = "free-slip"
"z+" = "free-slip"

[run]
steps = 1000

[numerics]
allow_unstable = true
"#;

fn case(text: &str) -> Case {
    Case::from_toml(text).expect("a case")
}

fn estimate(case: &Case, y_plus: Option<f64>, re: Option<f64>) -> Value {
    let mut options = EstimateOptions::default();
    (options.y_plus, options.re) = (y_plus, re);
    let made = case.estimate(&options).unwrap_or_else(|e| panic!("{e}"));
    assert!(made.text.contains("updates a step"), "{}", made.text);
    made.json
}

fn number(object: &Value) -> f64 {
    object
        .as_f64()
        .unwrap_or_else(|| panic!("a number, not {object}"))
}

fn off(a: f64, b: f64) -> f64 {
    (a / b - 1.0).abs()
}

/// How far estimated cells, updates and bytes are from those of a plan.
fn apart(flow: &Value, plan: &Value) -> [f64; 3] {
    let planned: f64 = plan["levels"]
        .as_array()
        .expect("levels")
        .iter()
        .map(|l| number(&l["cells"]))
        .sum();
    let [cpu, bytes] = [&flow["bytes"]["cpu"], &plan["bytes"]["flow"]].map(number);
    [
        off(number(&flow["cells"]), planned),
        off(
            number(&flow["updates_per_step"]),
            number(&plan["updates_per_step"]),
        ),
        off(cpu, bytes + number(&plan["bytes"]["output"])),
    ]
}

#[test]
fn estimates_are_what_plans_count() {
    // Three levels are built; the fourth one is extrapolated.
    let planned = |levels: &str| {
        let plan = case(&SPHERE.replace("LEVELS", levels)).plan(&RunOptions::default(), &mut ());
        plan.expect("a plan")
    };
    let four = planned("4").json;
    let found = estimate(&case(&SPHERE.replace("LEVELS", "4")), None, None);
    let [cells, updates, memory] = apart(&found["flow"], &four);
    assert!(
        cells < 0.06 && updates < 0.06 && memory < 0.15,
        "{cells} {updates} {memory}"
    );
    // The rows of one level less and more are other meshes.
    let rows = found["choices"].as_array().expect("rows");
    assert_eq!(rows.len(), 3, "{found}");
    for (row, levels) in rows.iter().zip(3..) {
        assert_eq!(row["levels"], levels);
    }
    assert!(apart(&rows[0], &four)[0] > 0.3, "and it is seen");
    let three = apart(&rows[0], &planned("3").json);
    assert!(three[0] < 0.01 && three[1] < 0.01, "{three:?}");
    // Plain updates of the same duration for each update, as the forecast of the run has them.
    let flow = &found["flow"];
    let plain =
        number(&flow["seconds"]) * number(&found["updates_per_second"]) / number(&flow["steps"]);
    let found = plain / number(&flow["updates_per_step"]);
    let counted = number(&four["work_per_step"]) / number(&four["updates_per_step"]);
    assert!(off(found, counted) < 0.15, "{found} {counted}");
    assert_eq!(flow["steps"], 1000.0);
}

#[test]
fn a_y_plus_has_its_cells() {
    let text = SPHERE.replace("LEVELS", "3");
    let found = estimate(&case(&text), Some(30.0), None);
    // C_f = 0.664 / sqrt(1e5), ν = 1e-5.
    let friction = 0.664 / 1e5f64.sqrt();
    let length = 1e-5 / (0.5 * friction).sqrt();
    assert!(
        off(number(&found["wall"]["viscous_length"]), length) < 1e-12,
        "{found}"
    );
    let target = &found["target"];
    assert!(
        off(number(&target["dx"]), 60.0 * length) < 1e-12,
        "{target}"
    );
    // Root cells are 0.125 m; 0.0185 m needs four levels.
    assert_eq!(
        (&target["levels"], &target["flow"]["levels"]),
        (&4.into(), &4.into())
    );
    let y_plus = number(&target["flow"]["y_plus"]);
    assert!(y_plus <= 30.0 && y_plus > 15.0, "{y_plus}");
    // At a higher Reynolds number the boundary layer is turbulent and thinner.
    let high = estimate(&case(&text), Some(30.0), Some(1e7));
    assert_eq!(high["wall"]["turbulent"], true);
    assert!(
        off(
            number(&high["wall"]["skin_friction"]),
            0.027 * 1e7f64.powf(-1.0 / 7.0)
        ) < 1e-12
    );
    assert_eq!(high["reynolds"], 1e7);
    let deep = &high["target"];
    assert!(number(&deep["levels"]) >= 9.0, "{deep}");
    assert!(
        number(&deep["flow"]["seconds"]) > 100.0 * number(&high["flow"]["seconds"]),
        "{deep}"
    );
    // Beyond the finest lattice there is a cell size, and no mesh.
    let beyond = estimate(&case(&text), Some(1e-3), Some(1e7));
    assert!(beyond["target"]["flow"].is_null(), "{beyond}");
    for re in [-1.0, f64::NAN] {
        let mut options = EstimateOptions::default();
        options.re = Some(re);
        assert!(case(&text).estimate(&options).is_err());
    }
}

#[test]
fn large_boxes_are_estimated_by_smaller_ones() {
    const CHANNEL: &str = r#"
[domain]
box = [0, 0, 0, 4, 2, 2]
root = "ROOT"

[physics]
re = 1000
length = 2
velocity = 1

[boundary]
"x-" = "periodic"
"x+" = "periodic"
"y-" = "no-slip"
"y+" = "no-slip"
"z-" = "periodic"
"z+" = "periodic"

[run]
seconds = 1
"#;
    let large = case(&CHANNEL.replace("ROOT", "256x128x128"));
    let found = estimate(&large, Some(0.5), None);
    let plan = large
        .plan(&RunOptions::default(), &mut ())
        .expect("a plan")
        .json;
    let [cells, updates, memory] = apart(&found["flow"], &plan);
    assert!(
        cells < 1e-9 && updates < 1e-9 && memory < 0.05,
        "{cells} {updates} {memory}"
    );
    assert!(off(number(&found["flow"]["steps"]), number(&plan["steps"])) < 1e-3);
    let target = &found["target"];
    let fine = &target["flow"];
    let share = number(&found["flow"]["dx"]) / number(&fine["dx"]);
    assert!(
        off(
            number(&fine["cells"]),
            share.powi(3) * number(&found["flow"]["cells"])
        ) < 1e-3
    );
    assert!(
        off(
            number(&fine["steps"]),
            share * number(&found["flow"]["steps"])
        ) < 1e-3
    );
    assert!(off(number(&fine["y_plus"]), 0.5) < 1e-12, "{fine}");
    assert!(number(&target["root"]) >= 256.0 * share, "{target}");
}
