//! Invalid cases.

use super::*;

/// Text of [`PLANE`] to replace, its replacement, and words of the error.
const CASES: &[(&str, &str, &[&str])] = &[
    ("re = 50", "", &["[physics] re is missing"]),
    (
        "re = 50",
        "re = 50\nviscosity = 1",
        &["both re and viscosity"],
    ),
    ("re = 50", "re = -1", &["[physics] re is -1"]),
    ("re = 50", "re = nan", &["[physics] re is NaN"]),
    ("length = 0.5", "", &["[physics] length is missing"]),
    ("velocity = 2\n", "\n", &["[physics] velocity is missing"]),
    (
        "velocity = 2\n",
        "velocity = 0\n",
        &["[physics] velocity is 0"],
    ),
    (
        "density = 1000",
        "mach = 0.1\nlattice_velocity = 0.1",
        &["both lattice_velocity and mach"],
    ),
    (
        "[4.0, 0.0]",
        "[4.0, 0.0, 0.0]",
        &["[physics] acceleration has 3 numbers", "2D"],
    ),
    ("[4.0, 0.0]", "[inf, 0.0]", &["[physics] acceleration is"]),
    (
        "[boundary]",
        "[numerics]\nlattice = \"d3q19\"\n[boundary]",
        &["lattice is d3q19", "2D"],
    ),
    (
        "[boundary]",
        "[numerics]\nlattice = \"d2q10\"\n[boundary]",
        &["line", "d2q10", "d2q9"],
    ),
    (
        "[boundary]",
        "[numerics]\ncollision = \"bgk\"\nmagic = 0.2\n[boundary]",
        &["magic applies only to"],
    ),
    (
        "\"y-\" = \"no-slip\"\n",
        "",
        &["\"y-\" is missing", "free-slip"],
    ),
    (
        "\"y-\" = \"no-slip\"",
        "\"y-\" = \"periodic\"",
        &["\"y-\" or \"y+\" is periodic"],
    ),
    (
        "\"y-\" = \"no-slip\"",
        "\"z-\" = \"no-slip\"\n\"y-\" = \"no-slip\"",
        &["\"z-\" is not a face"],
    ),
    (
        "\"y-\" = \"no-slip\"",
        "\"y-\" = \"no-slp\"",
        &[
            "unknown name `no-slp`",
            "did you mean `no-slip`",
            "line 15, column 8",
        ],
    ),
    (
        "\"y-\" = \"no-slip\"",
        "\"y-\" = { type = \"no-slip\", velocty = [0] }",
        &[
            "unknown key `velocty`",
            "did you mean `velocity`",
            "line 15",
        ],
    ),
    (
        "\"y-\" = \"no-slip\"",
        "\"y-\" = { type = \"no-slip\", velocity = [0, 0] }",
        &["\"y-\" has velocity", "\"no-slip\""],
    ),
    (
        "\"y-\" = \"no-slip\"",
        "\"y-\" = \"velocity\"",
        &["\"y-\" velocity is missing"],
    ),
    (
        "\"y-\" = \"no-slip\"",
        "\"y-\" = 3",
        &["line 15", "periodic"],
    ),
    ("\"y-\"", "\"y_\"", &["unknown key `y_`", "keys: x-, x+"]),
    (
        "16000.0",
        "-1e6",
        &["\"x+\" pressure is -1000000", "at rest"],
    ),
    (
        "patches.rotor",
        "patches.rotr",
        &["[patches.rotr] is not a patch", "did you mean `rotor`"],
    ),
    ("omega = 8", "", &["[patches.rotor] omega is missing"]),
    ("omega = 8", "omega = [1, 2]", &["omega has 2 numbers"]),
    (
        "center = [1.0, 0.5]",
        "",
        &["[patches.rotor] center is missing"],
    ),
    (
        "type = \"rotating\"",
        "",
        &["[patches.rotor] has center", "\"wall\""],
    ),
    (
        "type = \"rotating\"",
        "type = \"rotating\"\nwal = \"linear\"",
        &["did you mean `wall`"],
    ),
    (
        "seconds = 1.0",
        "",
        &["[run] has no duration", "flow_through"],
    ),
    (
        "seconds = 1.0",
        "seconds = 1.0\nsteps = 3",
        &["more than one duration"],
    ),
    (
        "seconds = 1.0",
        "settle = 0.1",
        &["settle and most must be given together"],
    ),
    (
        "seconds = 1.0",
        "steps = 3\nmost = 3",
        &["settle and most must be given together"],
    ),
    ("seconds = 1.0", "steps = 0", &["no steps"]),
    (
        "seconds = 1.0",
        "settle = 0.0\nmost = 3",
        &["[run] settle is 0"],
    ),
    ("seconds = 1.0", "seconds = inf", &["[run] seconds is inf"]),
    (
        "seconds = 1.0",
        "settle = 0.1\nmost = 3\n[output]\nforces_every = 0",
        &["settle needs forces"],
    ),
    (
        "seconds = 1.0",
        "seconds = 1e18",
        &["[run] amounts to", "units"],
    ),
    (
        "seconds = 1.0",
        "seconds = 1.0\n[[output.write]]\nkind = \"slise\"",
        &["unknown name `slise`", "did you mean `slice`"],
    ),
    (
        "seconds = 1.0",
        "seconds = 1.0\n[[output.write]]\nkind = \"slice\"\nevery_step = 3",
        &[
            "unknown key `every_step`",
            "did you mean `every_steps`",
            "line 27",
        ],
    ),
    (
        "seconds = 1.0",
        "seconds = 1.0\n[[output.write]]\nkind = \"slice\"\nevery_steps = 3\nevery_seconds = 1",
        &["output \"slice\"", "exclude one another"],
    ),
    (
        "seconds = 1.0",
        "seconds = 1.0\n[[output.write]]\nkind = \"slice\"\naverage = \"mean\"",
        &["\"slice\" is an average", "from_flow_through"],
    ),
    (
        "seconds = 1.0",
        "seconds = 1.0\n[output.averages]\nfrom_steps = 3\nfrom_seconds = 1",
        &["[output.averages]", "exclude one another"],
    ),
    (
        "seconds = 1.0",
        "seconds = 1.0\n[output.averages]\nevery_steps = 0",
        &["[output.averages] every_steps is 0"],
    ),
    (
        "[2.0, -1.0]",
        "[\"velocity * (1 - y\", 0]",
        &["[boundary] \"x-\" velocity", "column 12", "not closed"],
    ),
    (
        "[2.0, -1.0]",
        "[\"2*veloctiy\", 0]",
        &["\"x-\" velocity", "column 3", "did you mean `velocity`"],
    ),
    ("[2.0, -1.0]", "[\"z\", 0]", &["column 1", "no z here"]),
    (
        "[4.0, 0.0]",
        "[\"x\", 0]",
        &["[physics] acceleration", "no x here"],
    ),
    ("16000.0", "\"2 t\"", &["\"x+\" pressure", "column 3"]),
    (
        "velocity = [2.0, -1.0]",
        "profile = \"parabolc\"",
        &["profile is \"parabolc\"", "parabolic, power-law"],
    ),
    (
        "\"y-\" = \"no-slip\"",
        "\"y-\" = { type = \"velocity\", profile = \"parabolic\", mean = 1 }",
        &["no walls bound it", "center and radius"],
    ),
    (
        "velocity = [2.0, -1.0]",
        "profile = \"parabolic\", center = [0, 0], radius = 1",
        &["either mean or max"],
    ),
    (
        "velocity = [2.0, -1.0]",
        "velocity = [2.0, -1.0], mean = 1",
        &["\"x-\" has mean", "\"velocity\""],
    ),
    (
        "velocity = [2.0, -1.0]",
        "velocity = [2.0, -1.0], profile = \"power-law\"",
        &["reference_height is missing"],
    ),
    (
        "velocity = [2.0, -1.0]",
        "profile = \"nothing.csv\"",
        &["cannot read nothing.csv"],
    ),
    (
        "velocity = [2.0, -1.0]",
        "velocity = [2.0, -1.0], ramp = -1",
        &["\"x-\" ramp is -1", "sudden"],
    ),
    (
        "\"y-\" = \"no-slip\"",
        "\"y-\" = { type = \"no-slip\", sponge = { length = 1 } }",
        &[
            "\"y-\" sponge",
            "on a periodic or no-slip face",
            "free-slip",
        ],
    ),
    (
        "pressure = 16000.0",
        "pressure = 16000.0, sponge = { length = 0 }",
        &["\"x+\" sponge length is 0", "up to 4"],
    ),
    (
        "pressure = 16000.0",
        "sponge = { length = 4.1 }",
        &["\"x+\" sponge length is 4.1", "up to 4"],
    ),
    (
        "velocity = [2.0, -1.0] }\n\"x+\" = { type = \"pressure\"",
        "velocity = [2.0, -1.0], sponge = { length = 2.5 } }\n\"x+\" = { type = \"pressure\", sponge = { length = 2.5 }",
        &["it is 5,", "shorter"],
    ),
    (
        "pressure = 16000.0",
        "sponge = { length = 1, strength = -1 }",
        &["\"x+\" sponge strength is -1", "5 is the default"],
    ),
    (
        "pressure = 16000.0",
        "sponge = { strength = 1 }",
        &["length"],
    ),
    (
        "pressure = 16000.0",
        "pressure = \"y\", sponge = { length = 1 }",
        &["\"x+\" sponge", "no uniform target flow"],
    ),
    (
        "velocity = [2.0, -1.0] }\n\"x+\" = { type = \"pressure\"",
        "velocity = [\"y\", -1.0] }\n\"x+\" = { type = \"pressure\", sponge = { length = 2.5 }",
        &["no uniform target flow", "must have a uniform velocity"],
    ),
    (
        "type = \"velocity\", velocity = [2.0, -1.0]",
        "type = \"mass-flow\"",
        &["\"x-\" mass_flow is missing"],
    ),
    (
        "type = \"velocity\", velocity = [2.0, -1.0]",
        "type = \"mass-flow\", mass_flow = 1, direction = [0, 0]",
        &["direction is zero"],
    ),
    (
        "[run]",
        "[initial]\nvelocity = [\"sin(t)\", 0]\n[run]",
        &["[initial] velocity", "no t here"],
    ),
    (
        "[run]",
        "[initial]\ndensity = 1\npressure = 2\n[run]",
        &["both density and pressure"],
    ),
    (
        "[run]",
        "[initial]\npreset = \"taylor-gren\"\n[run]",
        &["unknown name `taylor-gren`", "did you mean `taylor-green`"],
    ),
    (
        "[run]",
        "[initial]\npreset = \"rest\"\nradius = 1\n[run]",
        &["[initial] has radius", "\"rest\""],
    ),
    ("re = 50", "re = 1e-310", &["[physics] viscosity"]),
    (
        "[mesh]",
        "[domain]\nbox = [0, 0, 1, 1]\nroot = 4\n[mesh]",
        &["both [mesh] and [domain]"],
    ),
    (
        "[mesh]\nshape = \"circle:r=0.25\"",
        "",
        &["neither [mesh] nor [domain]"],
    ),
    (
        "[mesh]\nshape = \"circle:r=0.25\"",
        "[domain]\nbox = [0, 1]\nroot = 4",
        &["box has 2 numbers"],
    ),
    (
        "[mesh]",
        "[mesh]\nrooot = 4",
        &[
            "unknown key `rooot`",
            "did you mean `root`",
            "line 3, column 1",
        ],
    ),
    (
        "re = 50",
        "re = 50400",
        &["u dx / nu", "lower Reynolds", "allow_unstable"],
    ),
    (
        "[2.0, -1.0]",
        "[8.0, 0.0]",
        &["Mach number", "allow_unstable"],
    ),
];

#[test]
fn invalid_cases_are_refused_by_table_and_key() {
    for (from, to, words) in CASES {
        let text = PLANE.replacen(from, to, 1);
        assert_ne!(text, PLANE, "{from} is there");
        let failure = plane(&text).expect_err(to);
        assert_eq!(failure.kind, cutlink_common::ErrorKind::Input);
        let message = failure.to_string();
        assert!(
            message.starts_with("case.toml"),
            "names the file: {message}"
        );
        for word in *words {
            assert!(message.contains(word), "{to}: {message} lacks {word}");
        }
        assert!(
            failure.hint.is_some() || message.contains("line"),
            "a way out: {message}"
        );
    }
}
