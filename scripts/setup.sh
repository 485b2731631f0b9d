#!/bin/sh
# setup.sh [PROFILE]: installs the Debian or Ubuntu packages that a profile needs and that are missing, and says so.
#
#   quickstart   what scripts/quickstart.sh uses: compiler, make, autotools, xxHash: enough for the library, the command and
#                the SIMD plugin; and, where they are to be had, libsecp256k1 and libsodium, without which a few operations
#                are off, the headers and the loader of OpenCL with PoCL, a driver for the CPU, without which there is
#                nothing to scan, and Python and Chart.js, without which a scan has no page
#   full         quickstart and, where they are to be had, what else svmx can be built with: Level Zero and the compilers of
#                its device code, libmicrohttpd for libsvmx-metrics and svmx serve, and hwloc, by which SIMD threads keep near
#                their memory on machines with several nodes
#   test         all that scripts/test.sh uses: clang, g++, Python, mandoc, Criterion, OpenSSL, the libraries of signatures and
#                of libsvmx-metrics, and three OpenCL drivers: PoCL, Rusticl (Mesa) and oclgrind; and, where they are to
#                be had, the packages of gpu and Level Zero, Chromium with its driver and Selenium, without which pages
#                are not tested, libFuzzer, and Prometheus, without which the metrics are not scraped (its package starts a service
#                where there is systemd)
#   coverage     test and gcovr
#   bench        quickstart and the peers of the benchmarks: StarPU, OpenSSL, OpenBLAS, libsecp256k1, libsodium, and
#                libipsec-mb on x86-64; and, where they are to be had, a second OpenCL driver (Rusticl, of Mesa), the packages of gpu
#                and Level Zero
#   gpu          compilers of scripts/check-gpu-compile.sh: clang 15 with libclc, llvm-spirv and spirv-val
#   long         test, valgrind, a cross-compiler for aarch64 and qemu
#
# Uses apt-get, with sudo when not root. Takes a moment and touches nothing when nothing is missing.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/common.sh"

quickstart="gcc libc6-dev make autoconf automake libtool pkg-config libxxhash-dev"
tests="$quickstart clang clang-format g++ python3 binutils xz-utils mandoc libcriterion-dev libssl-dev"
tests="$tests libsecp256k1-dev libsodium-dev libhwloc-dev"
opencl="opencl-c-headers ocl-icd-opencl-dev pocl-opencl-icd"
levelzero="libze-dev clang-15 llvm-spirv-15 spirv-tools"
tests="$tests $opencl mesa-opencl-icd oclgrind"
gpu="clang-15 libclc-15-dev llvm-spirv-15 spirv-tools"
metrics="libmicrohttpd-dev libjs-chart.js"
tests="$tests $metrics"
report="python3 libjs-chart.js"
browser="chromium chromium-driver python3-selenium"
extras= # wanted, not needed
case ${1:-quickstart} in
quickstart)
    packages=$quickstart
    extras="libsecp256k1-dev libsodium-dev $opencl $report"
    ;;
full)
    packages=$quickstart
    extras="libsecp256k1-dev libsodium-dev $opencl $report libhwloc-dev $levelzero $metrics"
    ;;
test)
    packages=$tests
    extras="$gpu $levelzero $report $browser prometheus libclang-rt-14-dev"
    ;;
coverage) packages="$tests gcovr" ;;
bench)
    packages="$quickstart libstarpu-dev libssl-dev libopenblas0 libsecp256k1-dev libsodium-dev $opencl"
    extras="mesa-opencl-icd $gpu $levelzero $report $metrics"
    case $(uname -m) in x86_64) packages="$packages libipsec-mb-dev" ;; esac
    ;;
gpu) packages="gcc libc6-dev $gpu" ;;
long) packages="$tests valgrind gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" ;;
-h | --help) help ;;
*) die "unknown profile '$1': quickstart, full, test, coverage, bench, gpu or long" ;;
esac

if ! command -v dpkg-query >/dev/null; then
    say "set-up: this is neither Debian nor Ubuntu; if the build stops, install the like of: $packages"
    exit 0
fi

# missing_of PACKAGE...: those that are not installed, a blank before each.
missing_of() {
    for package; do
        state=$(dpkg-query -W -f='${db:Status-Status} ' "$package" 2>/dev/null) || state=
        case $state in *"installed "*) case $state in *not-installed*) printf ' %s' "$package" ;; esac ;;
        *) printf ' %s' "$package" ;; esac
    done
}

# shellcheck disable=SC2086
missing=$(missing_of $packages) extra=$(missing_of $extras)
if [ -z "$missing$extra" ]; then
    say "set-up: all packages for '${1:-quickstart}' are installed"
    exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        [ -z "$missing" ] || die "not root, and sudo is not there; as root: apt-get install$missing"
        say "set-up: going on without$extra: not root, and sudo is not there"
        exit 0
    fi
    as_root=sudo
fi
say "set-up: installing$missing$extra (apt-get${as_root:+, with sudo})"
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }
apt_install() { apt install -y --no-install-recommends "$@"; }
mkdir -p "$top/build"
quietly "$top/build/apt-update.log" apt update || [ -z "$missing" ] ||
    die "apt-get failed; these packages are needed:$missing"
# shellcheck disable=SC2086
[ -z "$missing" ] || quietly "$top/build/apt-install.log" apt_install $missing ||
    die "apt-get failed; these packages are needed:$missing"
for package in $extra; do
    apt_install "$package" >"$top/build/apt-extra.log" 2>&1 ||
        say "set-up: going on without $package: $(tail -n 1 "$top/build/apt-extra.log")"
done
say "set-up: done"
