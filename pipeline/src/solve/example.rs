//! Example cases, each with comments on its purpose and the expected result.

use cutlink_common::{Error, config::suggestion};

/// Names and texts.
pub const EXAMPLES: [(&str, &str); 28] = [
    ("car", include_str!("examples/car.toml")),
    ("cavity", include_str!("examples/cavity.toml")),
    ("channel", include_str!("examples/channel.toml")),
    ("channel-180", include_str!("examples/channel-180.toml")),
    ("cylinder", include_str!("examples/cylinder.toml")),
    (
        "heated-cylinder",
        include_str!("examples/heated-cylinder.toml"),
    ),
    ("flapping", include_str!("examples/flapping.toml")),
    ("oscillating", include_str!("examples/oscillating.toml")),
    ("settling", include_str!("examples/settling.toml")),
    ("sphere", include_str!("examples/sphere.toml")),
    (
        "square-cylinder",
        include_str!("examples/square-cylinder.toml"),
    ),
    ("sphere-10000", include_str!("examples/sphere-10000.toml")),
    ("bunny", include_str!("examples/bunny.toml")),
    (
        "bunny-vortices",
        include_str!("examples/bunny-vortices.toml"),
    ),
    ("taylor-green", include_str!("examples/taylor-green.toml")),
    ("dam", include_str!("examples/dam.toml")),
    ("bubble", include_str!("examples/bubble.toml")),
    ("drop", include_str!("examples/drop.toml")),
    ("slosh", include_str!("examples/slosh.toml")),
    ("wave", include_str!("examples/wave.toml")),
    ("convection", include_str!("examples/convection.toml")),
    ("fluidize", include_str!("examples/fluidize.toml")),
    ("sediment", include_str!("examples/sediment.toml")),
    ("settle", include_str!("examples/settle.toml")),
    ("vortex", include_str!("examples/vortex.toml")),
    ("vortex-pair", include_str!("examples/vortex-pair.toml")),
    (
        "cavity-adaptive",
        include_str!("examples/cavity-adaptive.toml"),
    ),
    ("wake-adaptive", include_str!("examples/wake-adaptive.toml")),
];

/// The text of an example.
///
/// # Errors
/// An unknown name.
pub fn text(name: &str) -> Result<&'static str, Error> {
    match EXAMPLES.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Ok(text),
        None => Err(
            Error::input(format!("there is no example \"{name}\"")).hint(suggestion(
                "example",
                name,
                &EXAMPLES.map(|(known, _)| known),
            )),
        ),
    }
}
