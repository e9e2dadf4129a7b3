#!/usr/bin/env bash
# Installs the packages that a build of ulpscope needs, on Debian and Ubuntu. Does nothing, and asks for no rights, when
# everything is there. Used by demo.sh, test.sh and .ci/run; `setup.sh --ci` adds what only the checks need.
set -euo pipefail

packages=(g++ cmake ninja-build libboost-dev libboost-program-options-dev libyaml-cpp-dev nlohmann-json3-dev rapidjson-dev
  libeigen3-dev libhwy-dev libfmt-dev libspdlog-dev libxlsxwriter-dev libsqlite3-dev libxxhash-dev libdeflate-dev
  zlib1g-dev libssl-dev libicu-dev doctest-dev python3)
# For `ulpscope check` and `replay`; not every release of Ubuntu has it, and everything else works without.
optional=(libtorch-dev)
if [ "${1:-}" = --ci ]; then packages+=(clang clang-format clang-tidy ccache chromium git mkdocs debootstrap lintian zsh fish groff python3-torch python3-numpy); fi

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
# Adds the optional packages that are missing and can be had.
add_optional() {
  for package in "${optional[@]}"; do
    is_installed "$package" || [ -z "$(apt-cache madison "$package" 2>/dev/null)" ] || missing+=("$package")
  done
}

missing=()
for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
[ ${#missing[@]} -gt 0 ] || add_optional
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup.sh: needs root or sudo to install packages" >&2; exit 1; }
  as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "installing: ${missing[*]}"
fail() {
  cat "$log" >&2
  echo "setup.sh: the packages could not be installed" >&2
  exit 1
}
"${as_root[@]}" apt-get update -qq >"$log" 2>&1 || fail
# What a machine can get is known only now, when its lists are new. A name that stands twice does no harm.
add_optional
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1 || fail
