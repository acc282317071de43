use super::*;

#[test]
fn templates_read_back_and_mistakes_are_reported() {
    let texts = [
        "simpleFoam",
        "pimpleFoam,velocity=20 0 1,viscosity=1.5e-5,turbulence=kOmegaSST,intensity=0.01,length=2,ranks=4",
        "interFoam,liquid=-0.5",
    ];
    for text in texts {
        let template: Template = text.parse().expect(text);
        assert_eq!(template.to_string(), text);
    }
    let bad = [
        ("icoFoam", "not one of simpleFoam"),
        ("simpleFoam,velocity", "has no value"),
        ("simpleFoam,velocity=1 2", "three components"),
        ("simpleFoam,velocity=nan", "three components"),
        ("simpleFoam,velocity=-1", "three components"),
        ("simpleFoam,viscosity=0", "positive"),
        ("simpleFoam,turbulence=kEpsilon", "kOmegaSST"),
        ("simpleFoam,liquid=1", "two phases"),
        ("simpleFoam,ranks=0", "positive"),
        ("simpleFoam,speed=1", "there is no key"),
        ("simpleFoam,length=1,length=2", "twice"),
    ];
    for (text, why) in bad {
        let error = text.parse::<Template>().expect_err(text);
        assert!(error.contains(why), "{text}: {error}");
    }
}
