//! The names of choices, for the schema of a case.

use crate::{Collision, Indicator, Interpolation, LatticeKind, Les, Precision, WallScheme};
use cutlink_device::Named;

macro_rules! named {
    ($($type:ident),+) => {
        $(impl Named for $type {
            const NAME: &'static str = stringify!($type);

            fn names() -> Vec<&'static str> {
                Self::NAMES.to_vec()
            }
        })+
    };
}
named!(
    Collision,
    Interpolation,
    LatticeKind,
    Les,
    Precision,
    WallScheme
);

impl Named for Indicator {
    const NAME: &'static str = "Indicator";

    fn names() -> Vec<&'static str> {
        Self::NAMES.map(|(name, _)| name).to_vec()
    }
}
