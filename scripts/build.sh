#!/usr/bin/env bash
# Configures and builds one preset quietly: build.sh PRESET TARGET... (no target: all). The compiler's output appears only
# when something goes wrong.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
cache=()
if command -v ccache >/dev/null; then
  # Every clone meets the same objects in the cache, whatever folder it is in.
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1
  cache=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { cmake --preset "$preset" "${cache[@]}" ${ULPSCOPE_CMAKE_ARGS:-} && \
    cmake --build --preset "$preset" ${*:+--target "$@"}; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "build.sh: preset $preset does not build" >&2
  exit 1
fi
