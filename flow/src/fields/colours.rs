//! The colour maps: viridis for values that start at zero, red and blue of ColorBrewer for values about a centre.
//!
//! Both are even in lightness, which the tests check, and distinguishable in the common kinds of colour blindness. Sources:
//! van der Walt & Smith (2015), the default map of matplotlib; Brewer, Hatchard & Harrower (2003), RdBu; tables of the
//! crate `colorous`.

use cutlink_pictures::canvas::Rgb;

/// Number of colours of a map.
const STEPS: usize = 256;

/// Colours of the levels from the coarsest, repeated (Okabe & Ito 2008).
pub(super) const LEVELS: [Rgb; 7] = [
    [230, 159, 0],
    [86, 180, 233],
    [0, 158, 115],
    [240, 228, 66],
    [0, 114, 178],
    [213, 94, 0],
    [204, 121, 167],
];

/// The colour of a level.
pub(super) fn of_level(level: usize) -> Rgb {
    LEVELS[level % LEVELS.len()]
}

/// The kind of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Map {
    /// For values that start at zero.
    Sequential,
    /// For values about a centre: blue below, red above.
    Diverging,
}

/// The colours of a map from low to high.
pub(super) fn colours(map: Map) -> Vec<Rgb> {
    let at = |i: usize| match map {
        Map::Sequential => colorous::VIRIDIS.eval_rational(i, STEPS),
        Map::Diverging => colorous::RED_BLUE.eval_rational(STEPS - 1 - i, STEPS),
    };
    (0..STEPS).map(|i| at(i).as_array()).collect()
}

/// The colour of a value in a range; the end colours beyond it.
pub(super) fn colour(value: f32, [low, high]: [f64; 2], colours: &[Rgb]) -> Rgb {
    let share = ((f64::from(value) - low) / (high - low)).clamp(0.0, 1.0);
    colours[(share * (colours.len() - 1) as f64).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lightness L* of CIE 1976, independent of the measure used to construct the maps.
    fn lightness(rgb: Rgb) -> f64 {
        let [r, g, b] = rgb.map(|x| {
            let x = f64::from(x) / 255.0;
            if x <= 0.04045 {
                x / 12.92
            } else {
                ((x + 0.055) / 1.055).powf(2.4)
            }
        });
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        if y > 0.008_856 {
            116.0 * y.cbrt() - 16.0
        } else {
            903.3 * y
        }
    }

    #[test]
    fn the_sequential_map_grows_lighter_evenly() {
        let light: Vec<f64> = colours(Map::Sequential)
            .into_iter()
            .map(lightness)
            .collect();
        assert!(
            light[0] < 20.0 && light[255] > 85.0,
            "{} to {}",
            light[0],
            light[255]
        );
        for pair in light.chunks(16).collect::<Vec<_>>().windows(2) {
            let step = pair[1][0] - pair[0][0];
            assert!((3.0..7.0).contains(&step), "an uneven step of {step}");
        }
    }

    #[test]
    fn the_diverging_map_is_even_on_both_sides() {
        let all = colours(Map::Diverging);
        assert!(
            lightness(all[127]) > 93.0 && lightness(all[128]) > 93.0,
            "light in the middle"
        );
        for i in 0..128 {
            let (cold, warm) = (all[i], all[255 - i]);
            let off = lightness(cold) - lightness(warm);
            assert!(off.abs() < 8.0, "{cold:?} and {warm:?} are {off} apart");
            if i < 100 {
                assert!(
                    cold[2] > cold[0] && warm[0] > warm[2],
                    "{cold:?} blue, {warm:?} red"
                );
            }
        }
    }

    #[test]
    fn colours_are_those_of_the_published_maps() {
        // Entries of matplotlib's table; RdBu of ColorBrewer with 11 classes begins and ends with these.
        let near = |found: Rgb, wanted: Rgb| (0..3).all(|i| found[i].abs_diff(wanted[i]) <= 2);
        let map = colours(Map::Sequential);
        for (i, wanted) in [
            (0, [68, 1, 84]),
            (128, [33, 145, 140]),
            (255, [253, 231, 37]),
        ] {
            assert!(near(map[i], wanted), "viridis: {:?}", map[i]);
        }
        let map = colours(Map::Diverging);
        for (i, wanted) in [(0, [5, 48, 97]), (255, [103, 0, 31])] {
            assert!(near(map[i], wanted), "RdBu: {:?}", map[i]);
        }
    }

    #[test]
    fn values_have_the_colours_of_their_place_in_the_range() {
        let map = colours(Map::Sequential);
        for (value, i) in [(2.0, 0), (4.0, 255), (3.0, 128), (1.0, 0), (9.0, 255)] {
            assert_eq!(colour(value, [2.0, 4.0], &map), map[i], "{value}");
        }
    }
}
