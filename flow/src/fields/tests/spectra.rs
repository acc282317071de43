//! Spectra of probes.

use super::*;

#[test]
fn probes_have_the_spectra_of_what_passes_them() {
    let mesh = ball_mesh([4, 4], 3);
    let folder = tempfile::tempdir().expect("a folder");
    let spec = "kind = \"probes\"\npoints = [[0.0, 0.4], [0.31, 0.41]]\nspectrum = true";
    let start = Start::Fresh { force: false };
    let missing = FieldWriter::new(folder.path(), &[parsed(spec)], units(), &mesh, start);
    let missing = missing.expect_err("no period").to_string();
    assert!(missing.contains("spectrum"), "{missing}");
    let spec = parsed(&format!("{spec}\nevery_steps = 4"));
    let mut writer = fresh(folder.path(), std::slice::from_ref(&spec), &mesh);
    // A sine of 32 samples; steps of 1 ms. The last step is no multiple of the period.
    let (rise, last) = (std::f64::consts::TAU / 128.0, 2402);
    let mut files = Vec::new();
    for step in (0..last).step_by(4).chain([last]) {
        let flow = snapshot(&mesh, step, |_| {
            (1.0, [0.01 * (rise * step as f64).sin(), 0.02])
        });
        let moment = if step == last {
            Moment::End
        } else {
            Moment::Running
        };
        assert!(writer.is_due(step, moment));
        files = writer
            .write(&mesh, &flow.clone().into(), moment)
            .expect("written");
    }
    assert!(!writer.is_due(last, Moment::End), "once");
    let names: Vec<_> = files
        .iter()
        .map(|f| f.file_name().expect("a name").to_os_string())
        .collect();
    assert_eq!(
        names,
        ["probes.csv", "probes_spectrum.csv", "probes_spectrum.png"]
    );
    let text = std::fs::read_to_string(&files[1]).expect("a table");
    let header = text.lines().next().expect("a header");
    assert_eq!(
        header,
        "frequency (1/s),S_u1 ((m/s)^2 s),S_v1 ((m/s)^2 s),S_p1 ((Pa)^2 s),S_u2 ((m/s)^2 s),S_v2 ((m/s)^2 s),S_p2 ((Pa)^2 s)"
    );
    let rows: Vec<Vec<f64>> = (text.lines().skip(1))
        .map(|line| {
            line.split(',')
                .map(|x| x.parse().expect("a number"))
                .collect()
        })
        .collect();
    // 301 samples count: eight segments of 64, to half of 250 Hz.
    assert_eq!(rows.len(), 32);
    assert!((rows[31][0] - 125.0).abs() < 1e-9, "{:?}", rows[31]);
    let scale = 0.1 / 3.0 / 1e-3;
    let power = |column: usize| rows.iter().map(|row| row[column]).sum::<f64>() * rows[0][0];
    let wanted = 0.5 * (0.01 * scale) * (0.01 * scale);
    assert!(
        (power(1) / wanted - 1.0).abs() < 0.01,
        "{} {wanted}",
        power(1)
    );
    assert!(
        power(2) < 1e-9 * wanted && power(3) < 1e-9 * wanted,
        "what is steady has none"
    );
    let highest = rows
        .iter()
        .max_by(|a, b| a[1].total_cmp(&b[1]))
        .expect("rows");
    // 1 / 0.128 s.
    assert!((highest[0] - 7.8125).abs() < 1e-9, "{highest:?}");
    // They are of the run that is there, not of one that was longer.
    let resumed = Start::Resumed { step: 40 };
    let mut writer =
        FieldWriter::new(folder.path(), &[spec], units(), &mesh, resumed).expect("outputs");
    assert!(!files[1].exists() && !files[2].exists());
    writer
        .write(
            &mesh,
            &snapshot(&mesh, 44, |_| (1.0, [0.0; 2])).into(),
            Moment::End,
        )
        .expect("written");
    let text = std::fs::read_to_string(&files[1]).expect("a table");
    assert!(
        text.starts_with("# no spectrum") && text.contains("72"),
        "{text}"
    );
    assert!(!files[2].exists(), "no picture of it");
}
