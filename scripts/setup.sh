#!/bin/sh
# setup.sh [PROFILE]: installs the Debian or Ubuntu packages that a profile needs and that are missing, and says so.
#
#   quickstart   compiler, make, autotools, xxHash: enough for the library, the command and the SIMD plugin
#   test         all that scripts/test.sh uses: clang, Criterion, OpenSSL as well
#   coverage     test and gcovr
#   bench        quickstart and StarPU, a peer of the benchmarks
#   long         test, a cross-compiler for aarch64 and qemu
#
# Uses apt-get, with sudo when not root. Takes a moment and touches nothing when nothing is missing.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/common.sh"

quickstart="gcc libc6-dev make autoconf automake libtool pkg-config libxxhash-dev"
tests="$quickstart clang clang-format binutils xz-utils libcriterion-dev libssl-dev"
case ${1:-quickstart} in
quickstart) packages=$quickstart ;;
test) packages=$tests ;;
coverage) packages="$tests gcovr" ;;
bench) packages="$quickstart libstarpu-dev" ;;
long) packages="$tests gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" ;;
-h | --help) help ;;
*) die "unknown profile '$1': quickstart, test, coverage, bench or long" ;;
esac

if ! command -v dpkg-query >/dev/null; then
    say "set-up: this is neither Debian nor Ubuntu; if the build stops, install the like of: $packages"
    exit 0
fi

missing=
for package in $packages; do
    state=$(dpkg-query -W -f='${db:Status-Status} ' "$package" 2>/dev/null) || state=
    case $state in *"installed "*) case $state in *not-installed*) missing="$missing $package" ;; esac ;;
    *) missing="$missing $package" ;; esac
done
if [ -z "$missing" ]; then
    say "set-up: all packages for '${1:-quickstart}' are installed"
    exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root, and sudo is not there; as root: apt-get install$missing"
    as_root=sudo
fi
say "set-up: installing$missing (apt-get${as_root:+, with sudo})"
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }
mkdir -p "$top/build"
# shellcheck disable=SC2086
{ quietly "$top/build/apt-update.log" apt update &&
    quietly "$top/build/apt-install.log" apt install -y --no-install-recommends $missing; } ||
    die "apt-get failed; these packages are needed:$missing"
say "set-up: done"
