#!/usr/bin/env bash
# Shows what ulpscope does: installs what is missing, builds Release, compares the bundled example, prints the finding and
# writes the reports. Safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
echo "building (Release, build/release)"
scripts/build.sh release ulpscope plugins
echo "comparing the bundled example: build/release/bin/ulpscope compare examples/dumps/target examples/dumps/golden"
echo
status=0
build/release/bin/ulpscope compare examples/dumps/target examples/dumps/golden -o ulpscope_out || status=$?
# The example holds a fault: finding it is exit code 1.
[ "$status" -eq 1 ] || { echo "demo.sh: expected exit code 1, got $status" >&2; exit 1; }
