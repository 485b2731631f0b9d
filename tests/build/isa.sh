#!/bin/sh
# isa.sh: nothing of AVX in what runs on every machine: libsvmx and the common part of the SIMD plugin use no vector
# register wider than the baseline of x86-64, and no instruction that is spelt for AVX.
#
# SPDX-License-Identifier: Apache-2.0
set -u
build=${SVMX_TEST_BUILDDIR:?}
passed=0 failed=0

case $(uname -m) in x86_64) ;; *) echo "0 passed, 0 failed, 3 skipped"; exit 77 ;; esac
if ! command -v objdump >/dev/null || [ -n "${SVMX_TEST_RUNNER:-}" ]; then
    echo "objdump is not there, or this is no x86-64 build"
    echo "0 passed, 0 failed, 3 skipped"
    exit 77
fi

# Instructions of AVX begin with v; verr and verw, older than all that, never come from a compiler.
uses_avx() { objdump -d --no-show-raw-insn "$1" | grep -E '[yz]mm[0-9]|	v[a-z0-9]+ .*%|%k[1-7]' | head -n 3; }

# check WHAT FILE yes|no
check() {
    found=$(uses_avx "$2")
    if [ "$3" = no ] && [ -n "$found" ] || [ "$3" = yes ] && [ -z "$found" ]; then
        failed=$((failed + 1))
        printf 'failed: %s: %s\n%s\n' "$1" "$2" "$found"
    else
        passed=$((passed + 1))
    fi
}

check "the core uses no AVX" "$build/.libs/libsvmx-core.a" no
if [ -e "$build/plugins/simd/libsimd-common.la" ]; then
    check "the common part of the plugin uses no AVX" "$build/plugins/simd/.libs/libsimd-common.a" no
    check "the SHA part uses no AVX" "$build/plugins/simd/.libs/libsimd-shani.a" no
    check "the AVX2 part does, or this test sees nothing" "$build/plugins/simd/.libs/libsimd-avx2.a" yes
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
