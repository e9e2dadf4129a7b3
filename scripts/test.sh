#!/usr/bin/env bash
# Runs every test: installs what is missing, builds Release with tests, runs them. Arguments go to ctest, for example
# `scripts/test.sh -L unit` or `scripts/test.sh -R npy`.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
echo "building (Release with tests, build/release)"
scripts/build.sh release
echo "testing"
ctest --preset release -j "$(nproc)" "$@"
