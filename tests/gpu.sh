#!/usr/bin/env bash
# All CUDA tests, on a machine with an NVIDIA GPU; from anywhere in a checkout:
#     tests/gpu.sh
# Builds with the feature `cuda` (needs Rust and nvcc; see tools/cuda-wheels.sh), or takes what tests/gpu-pack.sh made elsewhere:
#     PREBUILT=.gpu tests/gpu.sh            (needs the driver, python3 and nothing else)
# Then: every test `…::cuda`, and the program on both devices (tests/python/compare_devices.py). Fails where a test fails, none
# ran, a mesh differs, or too few were compared.
#
#   SCANS=folder   the scans [PREBUILT/meshes or ../shared/meshes]
#   FULL=1         bunny and dragon at 6 and 7 levels on the CPU as well, and the dragon from 4 and 9 times as many faces
#                  (minutes, 20 GiB of memory)
#   MOST=5         no more levels than this [no limit]
#   SANITIZE=1     the small tests under compute-sanitizer's memcheck, racecheck and initcheck too
#   ONLY=step      tests, cli or sanitize alone
#   DEVICE_B=cpu   another device than cuda for the second side: tests this script where there is no GPU
#   SHIFT_B=1      more levels on the second side, so that everything must differ: likewise
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
device=${DEVICE_B:-cuda}
only=${ONLY:-}
# No step longer than this, in seconds.
limit=480
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
summary=()
failed=0
say() {
  summary+=("$1")
  printf '%s (%ss)\n' "$1" "$SECONDS"
}

if [ -z "${PREBUILT:-}" ]; then
  PREBUILT=${CARGO_TARGET_DIR:-target}/gpu
  tests/gpu-pack.sh --no-scans "$PREBUILT"
fi
scans=${SCANS:-}
if [ -z "$scans" ]; then
  scans=../shared/meshes
  [ ! -d "$PREBUILT/meshes" ] || scans=$PREBUILT/meshes
fi
CUTLINK_SCANS=$(cd "$scans" && pwd)
export CUTLINK_SCANS
if [ "$device" = cuda ]; then
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || echo "nvidia-smi does not run"
fi

if [ -z "$only" ] || [ "$only" = tests ]; then
  ran=0
  for binary in "$PREBUILT"/tests/*; do
    name=$(basename "$binary")
    log=$logs/$name
    code=0
    timeout "$limit" "$binary" "::$device" --include-ignored >"$log" 2>&1 || code=$?
    passed=$(grep -c '^test .*::'"$device"' \.\.\. ok$' "$log" || true)
    bad=$(grep -c '^test .*::'"$device"' \.\.\. FAILED$' "$log" || true)
    ran=$((ran + passed + bad))
    if [ "$code" -ne 0 ]; then
      failed=1
      [ "$code" -ne 124 ] || say "$name took more than $limit s"
      # Names, and of each failure the first lines: what panicked and with what.
      grep -A 3 -E '^thread .* panicked' "$log" | cut -c 1-300 | head -n 40 || true
      grep -E '^test .* FAILED$' "$log" | head -n 20 || tail -n 5 "$log"
    fi
    say "tests of $name: $passed passed, $bad failed, exit code $code"
  done
  if [ "$ran" -eq 0 ]; then
    failed=1
    say "no test ran on $device"
  fi
fi

if [ -z "$only" ] || [ "$only" = cli ]; then
  code=0
  options=(--shift-b "${SHIFT_B:-0}" --most "${MOST:-99}")
  [ -z "${FULL:-}" ] || options+=(--full)
  python3 tests/python/compare_devices.py "$PREBUILT/cutlink" "$CUTLINK_SCANS" cpu "$device" "${options[@]}" >"$logs/cli" 2>&1 || code=$?
  # A failing run may differ everywhere: the first lines tell.
  head -n 45 "$logs/cli" | cut -c 1-400
  [ "$code" -eq 0 ] || failed=1
  say "program: $(tail -n 1 "$logs/cli" | cut -c 1-200)"
fi

if [ "$only" = sanitize ] || { [ -z "$only" ] && [ -n "${SANITIZE:-}" ]; }; then
  # Small, and every kernel is in one of them.
  small=(adapt::recycled_ids_and_fresh_ones_together adapt::refining_everything_and_nothing linear::conversion_of_trees_and_forests buffers::buffers_keep_what_they_are_given
    robust::a_bowl_and_an_arc shapes::nothing_at_all shapes::primitives_with_rules_and_regions shapes::root_grids_of_any_shape
    shapes::few_huge_facets_over_many_levels stages::stages_of_many_facets)
  sanitizer=$(command -v compute-sanitizer || find /usr/local/cuda*/ -name compute-sanitizer -type f -perm -u+x 2>"$logs/find" | head -n 1 || true)
  findings() { grep -E -A 6 '^=+ (Error|Invalid|Uninitialized|Race|Program)|panicked|FAILED' "$1" | cut -c 1-200 | head -n 25 || tail -n 5 "$1"; }
  summed() {
    local line
    line=$(grep 'SUMMARY' "$1" | tail -n 1 | tr -d = || true)
    echo "${line:- no summary}"
  }
  for tool in memcheck racecheck initcheck; do
    log=$logs/$tool
    code=0
    options=()
    [ "$tool" != initcheck ] || export CUTLINK_TEST_UNCHECKED=1
    # A launch asks the driver for one parameter more than its kernel has: that call fails as it should.
    [ "$tool" != memcheck ] || options=(--report-api-errors no)
    timeout "$limit" "${sanitizer:-compute-sanitizer}" --tool "$tool" "${options[@]}" --error-exitcode 99 --print-limit 10 \
      "$PREBUILT/tests/backends" "${small[@]/%/::$device}" --exact --include-ignored --test-threads 1 >"$log" 2>&1 || code=$?
    passed=$(grep -c '::'"$device"' \.\.\. ok$' "$log" || true)
    if [ "$code" -ne 0 ] || [ "$passed" -ne "${#small[@]}" ] || ! grep -q 'SUMMARY: 0 ' "$log"; then
      failed=1
      findings "$log"
    fi
    say "$tool: $passed of ${#small[@]} tests passed, exit code $code:$(summed "$log")"
    # A flow with levels, a body and faces of four kinds; racecheck was not done with the twins of tests/flows in 200 s.
    code=0
    timeout "$limit" "${sanitizer:-compute-sanitizer}" --tool "$tool" "${options[@]}" --error-exitcode 99 --print-limit 10 \
      "$PREBUILT/cutlink" solve tests/cases/fields.toml --steps 3 --device "$device" --force --quiet >"$log" 2>&1 || code=$?
    if [ "$code" -ne 0 ] || ! grep -q 'SUMMARY: 0 ' "$log"; then
      failed=1
      findings "$log"
    fi
    say "$tool: a flow, exit code $code:$(summed "$log")"
  done
fi

echo
printf '%s\n' "${summary[@]}"
if [ "$failed" -ne 0 ]; then
  echo FAILED
  exit 1
fi
echo "all as it should be"
