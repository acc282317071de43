//! The program of a library user runs. `.ci/run` also compiles it outside the workspace.

#[expect(
    unreachable_pub,
    clippy::print_stdout,
    reason = "a program of its own elsewhere"
)]
#[path = "../../tests/outside/src/main.rs"]
mod outside;

#[test]
fn it_meshes_reads_links_steps_and_runs_a_case() {
    let folder = tempfile::tempdir().expect("a folder");
    // The only test of this program, so that the change of folder affects no other test.
    std::env::set_current_dir(folder.path()).expect("a folder");
    outside::main().expect("it should run");
    assert!(folder.path().join("flow/forces.csv").exists());
}
