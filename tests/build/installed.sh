#!/bin/sh
# installed.sh BINDIR LIBDIR INCLUDEDIR MANDIR: uses what `make install` left there as a stranger would: with pkg-config, a
# compiler and no variable that points into the build tree. Run by `make installcheck`, and so by distcheck.
#
# SPDX-License-Identifier: Apache-2.0
set -u
bin=$1 lib=$2 include=$3 man=$4
stage=${DESTDIR:-}
src=${SVMX_TEST_SRCDIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

unset SUPERVM_BACKENDS SUPERVM_BACKEND_PATH SUPERVM_VARIANT SUPERVM_THREADS
# Under DESTDIR nothing lies where it will lie: only then are pointers needed.
if [ -n "$stage" ]; then
    SUPERVM_BACKEND_PATH=$stage$lib/svmx/backends
    export SUPERVM_BACKEND_PATH
fi
LD_LIBRARY_PATH=$stage$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PKG_CONFIG_PATH=$stage$lib/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$stage
export LD_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
pkg=${PKG_CONFIG:-pkg-config}

# try WHAT COMMAND...: the command must succeed
try() {
    what=$1
    shift
    if "$@" >"$work/output" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $what: $*"
        cat "$work/output"
    fi
}

# header NUMBER-MACRO FILE
number() { sed -n "s/^#define $1  *\([0-9][0-9]*\).*/\1/p" "$stage$include/svmx/$2"; }
same() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; false; }; }

version=$(number SVMX_VERSION_MAJOR svmx.h).$(number SVMX_VERSION_MINOR svmx.h).$(number SVMX_VERSION_PATCH svmx.h)
abi=$(number SVMX_ABI_MAJOR plugin.h).$(number SVMX_ABI_MINOR plugin.h)
try "svmx.pc has the version of svmx.h" same "$($pkg --modversion svmx)" "$version"
try "svmx.pc has the ABI of plugin.h" same "$($pkg --variable=abi svmx)" "$abi"
backends=$($pkg --variable=backenddir svmx)
try "svmx.pc has the folder of plugins" same "${backends#"$stage"}" "$lib/svmx/backends"
try "the command has the version of svmx.h" sh -c "'$stage$bin/svmx' --version | grep -F '$version'"
for page in man1/svmx.1 man3/svmx-metrics.3 man3/svmx.3 man7/svmx.7 man7/svmx-plugin.7; do
    try "$page is there" test -s "$stage$man/$page"
done
try "no .la file beside plugins" sh -c "! ls '$stage$lib'/svmx/backends/*.la"

# shellcheck disable=SC2046,SC2086
try "a program compiles against what was installed" \
    ${SVMX_TEST_CC:-cc} "$src/examples/embed.c" -o "$work/embed" $($pkg --cflags --libs svmx)
try "and runs" "$work/embed"
try "the command lists devices" "$stage$bin/svmx" devices
if [ -e "$stage$lib/svmx/backends/simd.so" ]; then
    try "the installed plugin is found without being told where" \
        sh -c "'$stage$bin/svmx' devices --backend +simd | grep simd"
fi
if [ -e "$stage$lib/svmx/backends/sim.so" ]; then
    try "the installed svmx-host runs a plugin" \
        sh -c "SUPERVM_ISOLATE=sim '$stage$bin/svmx' devices --backend +sim | grep sim"
fi
if [ -e "$stage$lib/pkgconfig/svmx-metrics.pc" ]; then
    cat >"$work/watched.c" <<'PROGRAM'
#include <stdio.h>
#include <svmx/metrics.h>

int main(void) {
    svmx_executor_t *executor;
    svmx_metrics_t *metrics;
    if (svmx_open(&executor, NULL, NULL) != SVMX_OK) return 1;
    if (svmx_metrics_listen(&metrics, executor, "127.0.0.1:0", 0, NULL) != SVMX_OK) return 2;
    puts(svmx_metrics_address(metrics));
    svmx_metrics_close(metrics);
    svmx_close(executor);
    return 0;
}
PROGRAM
    # shellcheck disable=SC2046,SC2086
    try "a program that is watched compiles against what was installed" \
        ${SVMX_TEST_CC:-cc} "$work/watched.c" -o "$work/watched" $($pkg --cflags --libs svmx-metrics)
    try "and runs" "$work/watched"
fi
printf '616263\n-\n' >"$work/items"
cat >"$work/digests" <<'DIGESTS'
4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45
c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470
DIGESTS
try "the command hashes" sh -c "'$stage$bin/svmx' run keccak256 --stdin <'$work/items' | diff - '$work/digests'"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
