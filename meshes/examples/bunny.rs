//! Fetches the Stanford bunny into the current folder, closed, as `bunny.stl`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sample = cutlink_meshes::bunny(std::path::Path::new("."))?;
    let health =
        cutlink_mesher::health::check(&cutlink_mesher::read::read_surface(&sample.path)?.surface);
    #[expect(clippy::print_stdout, reason = "an example talks to its user")]
    {
        println!("{sample:?}\n{health}");
    }
    Ok(())
}
