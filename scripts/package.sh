#!/usr/bin/env bash
# Makes packages: `package.sh tarball` the one that runs on any Linux with glibc 2.35 (build/portable), `package.sh deb` the
# packages for the Debian or Ubuntu that it is run on (build/release). Prints the paths of what it made, one a line.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  tarball) preset=portable pattern='ulpscope-*.tar.gz' ;;
  deb) preset=release pattern='*.deb' ;;
  *) echo "package.sh: expected tarball or deb" >&2; exit 2 ;;
esac
folder=build/$preset
scripts/build.sh "$preset" ulpscope plugins torch_executor completions
mkdir -p "$folder/packages/$1"
rm -f "$folder/packages/$1"/*
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# What is packed was built above: cpack need not build the tests too.
if ! cpack --config "$folder/CPackConfig.cmake" -B "$folder/packages/$1" >"$log" 2>&1; then
  cat "$log" >&2
  echo "package.sh: cpack failed" >&2
  exit 1
fi
rm -rf "$folder/packages/$1/_CPack_Packages"
find "$PWD/$folder/packages/$1" -name "$pattern"
