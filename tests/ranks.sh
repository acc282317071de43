#!/usr/bin/env bash
# Flows and meshes on several ranks, threads and processes, as a user starts them: the same files for any number; resumed by another number;
# ended where a process is. From anywhere in a checkout:
#     MPIRUN=/path/to/mpirun tests/ranks.sh
# MPIRUN is Open MPI's or MPICH's launcher [mpirun]; CUTLINK the program [target/release/cutlink]. DEVICE=cuda runs on GPUs, with
# GPUS=N also on N GPUs of this machine, whose processes NCCL has to connect (CUTLINK_NCCL).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cutlink=$(realpath "${CUTLINK:-target/release/cutlink}")
mpirun=${MPIRUN:-mpirun}
[ "$mpirun" = mpirun ] || PATH=$(dirname "$mpirun"):$PATH
work=target/ci/ranks
rm -rf "$work" && mkdir -p "$work"
sed -e "s|^folder = .*|folder = \"$work/flow\"|" -e 's|^steps = .*|steps = 64\n|' tests/cases/fields.toml >"$work/case.toml"
device=${DEVICE:-cpu}
# A mesh that follows the flow, also after half of the steps.
sed -e "s|^folder = .*|folder = \"$work/flow\"|" -e 's|^steps = .*|steps = 64|' tests/cases/adaptive.toml >"$work/adaptive.toml"
solve=("$cutlink" solve "$work/case.toml" --device "$device" --quiet)
adapt=("$cutlink" solve "$work/adaptive.toml" --device "$device" --quiet)
options=()
if "$mpirun" --version 2>&1 | grep -q "Open MPI"; then
  # More processes than cores, on any machine, by any user.
  options=(--oversubscribe --bind-to none)
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
processes() { "$mpirun" -n "$1" "${options[@]}" "${@:2}"; }
keep() {
  rm -rf "${work:?}/$1" && mv "$work/flow" "$work/$1"
  # The last column has seconds.
  [ ! -e "$work/$1/adapt.csv" ] || sed -i 's/,[^,]*$//' "$work/$1/adapt.csv"
}
# But for times, and for the checkpoint in the middle that a resumed flow has too.
same() { diff --recursive --brief --exclude=summary.json --exclude=report.html --exclude=step_000000000032.ckpt "$work/$1" "$work/$2" && echo "$2: the same files"; }

"${solve[@]}" && keep one
for ranks in 2 3; do
  "${solve[@]}" --ranks "$ranks" && keep "threads-$ranks"
  same one "threads-$ranks"
done
for ranks in 2 4; do
  processes "$ranks" "${solve[@]}" && keep "processes-$ranks"
  same one "processes-$ranks"
done
python3 -c "import json; r = json.load(open('$work/processes-4/summary.json'))['ranks']; assert r['ranks'] == 4 and len(r['blocks']) == 4, r"

messages() { python3 -c "import json; print(json.load(open('$work/$1/summary.json'))['ranks']['messages'])"; }
if [ -n "${GPUS:-}" ]; then
  "${solve[@]}" --gpus "$GPUS" && keep gpus
  same one gpus
  echo "threads with $GPUS GPUs: $(messages gpus)"
  processes "$GPUS" "${solve[@]}" && keep gpu-processes
  same one gpu-processes
  echo "processes with $GPUS GPUs: $(messages gpu-processes)"
  [[ $(messages gpus) != "host memory" && $(messages gpu-processes) == NCCL* ]]
else
  [ "$(messages threads-2)" = "host memory" ]
fi

# A mesh in parts, with holes and a seed, whose first process does the rest.
mesh=("$cutlink" mesh --shape torus:R=0.5,r=0.2 --levels 5 --seed 0.9,0,0 --device "$device" --quiet --no-picture --force)
"${mesh[@]}" --output "$work/mesh-one"
"${mesh[@]}" --output "$work/mesh-parts" --ranks 5
processes 3 "${mesh[@]}" --output "$work/mesh-processes"
for parts in parts processes; do
  cmp "$work/mesh-one.cutlink" "$work/mesh-$parts.cutlink"
done
echo "meshes in parts: the same file"
if [ -n "${GPUS:-}" ]; then
  "${mesh[@]}" --output "$work/mesh-gpus" --gpus "$GPUS"
  cmp "$work/mesh-one.cutlink" "$work/mesh-gpus.cutlink"
fi

# Half of it on three processes, the rest on two threads; then the other way around.
processes 3 "${solve[@]}" --steps 32
"${solve[@]}" --resume --ranks 2 && keep resumed
same one resumed
"${solve[@]}" --ranks 3 --steps 32
processes 2 "${solve[@]}" --resume && keep resumed-by-processes
same one resumed-by-processes

# A mesh that follows the flow: the same mesh at the same steps, on any number, and resumed by another one.
"${adapt[@]}" && keep adapt-one
[ "$(awk -F, 'NR > 1 && $1 > 0 && $(NF - 3) > 0' "$work/adapt-one/adapt.csv" | wc -l)" -gt 1 ] || {
  echo "the mesh does not follow the flow:" >&2
  cat "$work/adapt-one/adapt.csv" >&2
  exit 1
}
"${adapt[@]}" --ranks 3 && keep adapt-threads
same adapt-one adapt-threads
processes 2 "${adapt[@]}" && keep adapt-processes
same adapt-one adapt-processes
processes 3 "${adapt[@]}" --steps 32
"${adapt[@]}" --resume --ranks 2 && keep adapt-resumed
same adapt-one adapt-resumed
if [ -n "${GPUS:-}" ]; then
  "${adapt[@]}" --gpus "$GPUS" && keep adapt-gpus
  same adapt-one adapt-gpus
  processes "$GPUS" "${adapt[@]}" && keep adapt-gpu-processes
  same adapt-one adapt-gpu-processes
fi

# What must fail does, and says why.
refused() {
  local text=$1 code=0
  shift
  "$@" >"$work/refused.txt" 2>&1 || code=$?
  if [ "$code" -eq 0 ] || ! grep -q "$text" "$work/refused.txt"; then
    echo "exit code $code instead of a refusal with \"$text\":" >&2
    cat "$work/refused.txt" >&2
    exit 1
  fi
}
refused CUTLINK_MPI env CUTLINK_MPI=/nowhere/libmpi.so OMPI_COMM_WORLD_SIZE=2 "${solve[@]}"
refused "peer, nccl or host" env CUTLINK_LINK=mpi "${solve[@]}" --ranks 2
refused "peer, nccl or host" env CUTLINK_LINK=mpi "$mpirun" -n 2 "${options[@]}" "${solve[@]}"
refused "share their work" env OMPI_COMM_WORLD_SIZE=2 "$cutlink" mesh --shape sphere:r=1 --dry-run
refused "leave them out" "$mpirun" -n 2 "${options[@]}" "${mesh[@]}" --output "$work/refused" --ranks 2
refused "all processes can read" "$mpirun" -n 2 "${options[@]}" "$cutlink" mesh - --output "$work/refused"
refused "leave --ranks out" "$mpirun" -n 2 "${options[@]}" "${solve[@]}" --ranks 3
refused "leave --gpus out" "$mpirun" -n 2 "${options[@]}" "${solve[@]}" --gpus 2
refused "asks for GPUs" "$cutlink" solve "$work/case.toml" --device cpu --gpus 2
refused "exclude each other\|cannot be used with" "${solve[@]}" --gpus 2 --ranks 2
refused "case.toml exists" bash -c "mkdir -p $work/flow && cp $work/one/* $work/flow/; $(printf '%q ' "$mpirun" -n 2 "${options[@]}" "${solve[@]}")"
rm -rf "$work/flow"

# A process that is killed ends all of them within 30 s, and the checkpoint before stays.
sed -e 's|^steps = .*|steps = 1000000|' "$work/case.toml" >"$work/long.toml"
printf '\n' >>"$work/long.toml"
killed=(3 "$cutlink" solve "$work/long.toml" --device cpu --quiet)
[ -z "${GPUS:-}" ] || killed=("$GPUS" "$cutlink" solve "$work/long.toml" --device cuda --quiet)
processes "${killed[@]}" &
launcher=$!
for _ in $(seq 300); do
  [ ! -e "$work/flow/forces.csv" ] || break
  sleep 0.1
done
sleep 2
victim=$(pgrep -f "$cutlink solve $work/long.toml" | tail -n 1)
kill -9 "$victim"
began=$SECONDS code=0
wait "$launcher" || code=$?
[ "$code" -ne 0 ] || { echo "a process was killed, and the exit code is 0" >&2; exit 1; }
[ $((SECONDS - began)) -le 30 ] || { echo "$((SECONDS - began)) s until the end" >&2; exit 1; }
for _ in $(seq 50); do
  pgrep -f "$cutlink solve $work/long.toml" >/dev/null || break
  sleep 0.1
done
if pgrep -f "$cutlink solve $work/long.toml"; then
  echo "processes are left" >&2
  exit 1
fi
echo "a process that is killed ends all"
