#!/bin/sh
# test-long.sh [--again]: scripts/test.sh, and then what takes longer: svmx cross-compiled for aarch64 and run under qemu.
#
# Of the suites those run that need no Criterion, which Debian's cross-compiler has no library for; and the command itself
# hashes on the scalar kernels. Some five minutes more than test.sh, which takes up to 25 on two cores. Installs what is
# missing (apt, with sudo when not root). The last line is `N passed, N failed, N skipped` for all of it.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/common.sh"
case ${1:-} in -h | --help) help ;; esac
started=$(date +%s)

"$top/scripts/setup.sh" long || exit 1
"$top/scripts/test.sh" "$@"
cd "$top" || exit 1

# xxHash needs no library: its header has all of the code. A copy, because the rest of /usr/include is not for aarch64.
mkdir -p build/aarch64-include
cp /usr/include/xxhash.h build/aarch64-include/
[ ! -e /usr/include/xxh3.h ] || cp /usr/include/xxh3.h build/aarch64-include/

if build aarch64 --host=aarch64-linux-gnu --enable-werror --with-xxhash=inline --without-criterion --without-openssl \
    --without-starpu "CPPFLAGS=-I$top/build/aarch64-include" "SVMX_RUNNER=qemu-aarch64 -L /usr/aarch64-linux-gnu"; then
    say "aarch64: make check under qemu"
    make -C build/aarch64 -j"$jobs" check >build/aarch64/check-output.log 2>&1 ||
        grep -E '^(FAIL|ERROR|XPASS|make.*\*\*\*|.*error:)' build/aarch64/check-output.log
    make -s -C build/aarch64 --no-print-directory list-test-logs | sed 's|^|build/aarch64/|' >>build/test-logs
else
    echo build/aarch64/make-output.log >>build/test-logs
fi

say "$((($(date +%s) - started) / 60)) minutes"
# shellcheck disable=SC2046
"$top/scripts/sum-tests" $(cat build/test-logs)
