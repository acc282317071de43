#!/usr/bin/env bash
# Fetches NVIDIA's compiler for CUDA 13.0 from the Python package index into target/cuda (100 MB, 300 MB unpacked), for
# machines without an installed toolkit, and prints the line that makes a build use it:
#     eval "$(tools/cuda-wheels.sh)" && cargo build --release --features cuda
# Needs python3 with venv and pip; no GPU.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${CARGO_TARGET_DIR:-$root/target}/cuda
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" >&2
packages=()
for package in nvcc crt cccl runtime; do packages+=("nvidia-cuda-$package==13.0.*"); done
"$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" "nvidia-nvvm==13.0.*" >&2
nvcc=$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)
"$nvcc" --version >&2
printf 'export NVCC=%q\n' "$nvcc"
