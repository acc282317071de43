//! Two colour maps, constructed in OKLab (Ottosson 2020), which is perceptually uniform.
//!
//! Sequential: lightness increases linearly from dark violet over blue and green to light yellow, so the map works in
//! print and for colour-blind readers. Diverging: from blue over near white to red, with equal darkness at equal
//! distance from the middle. Colours outside sRGB keep lightness and hue and lose saturation.

use crate::picture::draw::Rgb;

/// Number of colours of a map.
pub(super) const STEPS: usize = 256;

/// The kind of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Map {
    /// For values that start at zero.
    Sequential,
    /// For values about a centre.
    Diverging,
}

/// The colours of a map from low to high.
pub(super) fn colours(map: Map) -> Vec<Rgb> {
    let at = |i: usize| {
        let t = i as f64 / (STEPS - 1) as f64;
        match map {
            Map::Sequential => sequential(t),
            Map::Diverging => diverging(t),
        }
    };
    (0..STEPS).map(at).collect()
}

fn sequential(t: f64) -> Rgb {
    let hue = 300.0 - 195.0 * t;
    let chroma = 0.075 + 0.085 * t.powi(3);
    shown(0.25 + 0.68 * t, chroma, hue)
}

fn diverging(t: f64) -> Rgb {
    let side = 2.0 * t - 1.0;
    let strength = side.abs();
    let hue = if side < 0.0 { 257.0 } else { 28.0 };
    // Saturation changes first, then lightness.
    let chroma = 0.15 * (1.0 - (1.0 - strength).powi(2));
    shown(0.97 - 0.55 * strength, chroma, hue)
}

/// The sRGB colour of this lightness and hue (in degrees), with the chroma reduced until it exists.
fn shown(lightness: f64, chroma: f64, hue: f64) -> Rgb {
    let (mut least, mut most) = (0.0, chroma);
    if let Some(colour) = srgb(lightness, chroma, hue) {
        return colour;
    }
    for _ in 0..20 {
        let middle = (least + most) / 2.0;
        match srgb(lightness, middle, hue) {
            Some(_) => least = middle,
            None => most = middle,
        }
    }
    srgb(lightness, least, hue).unwrap_or([(255.0 * lightness) as u8; 3])
}

/// From cylindrical OKLab to sRGB bytes; none outside sRGB.
fn srgb(lightness: f64, chroma: f64, hue: f64) -> Option<Rgb> {
    let (sin, cos) = hue.to_radians().sin_cos();
    let (a, b) = (chroma * cos, chroma * sin);
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    let linear = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ];
    let fits = linear.iter().all(|x| (-1e-4..=1.0001).contains(x));
    let encode = |x: f64| match x.clamp(0.0, 1.0) {
        x if x <= 0.003_130_8 => 12.92 * x,
        x => 1.055 * x.powf(1.0 / 2.4) - 0.055,
    };
    fits.then(|| linear.map(|x| (255.0 * encode(x)).round() as u8))
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
    fn white_grey_and_black_have_their_oklab_values() {
        assert_eq!(srgb(1.0, 0.0, 0.0), Some([255; 3]), "white");
        assert_eq!(srgb(0.0, 0.0, 0.0), Some([0; 3]), "black");
        // sRGB red, from the table of the definition.
        assert_eq!(
            srgb(0.627_955, 0.257_683, 29.233_9),
            Some([255, 0, 0]),
            "red"
        );
        assert_eq!(srgb(0.9, 0.3, 0.0), None, "no screen has it");
    }
}
