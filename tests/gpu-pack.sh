#!/usr/bin/env bash
# Builds what tests/gpu.sh runs and copies it to a folder (default .gpu), stripped, for a machine with a GPU and no
# Rust: the program, the test binaries with CUDA tests, and the scans.
#     tests/gpu-pack.sh [--no-scans] [FOLDER]
# Needs the toolchain, nvcc (see tools/cuda-wheels.sh) and ../shared/meshes. FEATURES names other features than `cuda`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scans=../shared/meshes
if [ "${1:-}" = --no-scans ]; then
  scans=
  shift
fi
out=${1:-.gpu}
features=(--features "${FEATURES-cuda}")
mkdir -p "$out/tests"
rm -f "$out"/tests/* "$out/cutlink"

echo "== the program, release"
cargo build --release --locked -p cutlink-tools "${features[@]}"
target=$(cargo metadata --format-version 1 --no-deps --offline | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
install -m 755 "$target/release/cutlink" "$out/cutlink"

echo "== the tests"
cargo test --locked -p cutlink-tests --tests --no-run "${features[@]}" --message-format json-render-diagnostics |
  python3 -c 'import json, sys
for line in sys.stdin:
    line = line.startswith("{") and json.loads(line)
    if line and line.get("executable") and line["profile"]["test"]:
        print(line["target"]["name"], line["executable"])' |
  while read -r name binary; do
    if "$binary" --list --format terse | grep '::cuda: test$' >/dev/null; then
      install -m 755 "$binary" "$out/tests/$name"
    fi
  done
[ -n "$(ls "$out/tests")" ] || { echo "no binary has a CUDA test" >&2; exit 1; }
strip "$out/cutlink" "$out"/tests/*

if [ -n "$scans" ]; then
  mkdir -p "$out/meshes"
  for name in bunny_unit.stl bunny_open.stl dragon_unit.ply motorBike.stl; do
    [ -e "$out/meshes/$name.gz" ] || gzip -9 -n -c "$scans/$name" >"$out/meshes/$name.gz"
  done
  cp -r --no-preserve=mode "$scans/broken" "$out/meshes/"
fi
du -sh "$out"/* | sed 's/^/   /'
size=$(du -sm "$out" | cut -f 1)
echo "$out: $size MiB"
[ "$size" -lt 60 ] || { echo "more than 60 MiB" >&2; exit 1; }
