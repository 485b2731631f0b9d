#!/bin/sh
# test-long.sh [--again]: scripts/test.sh, with every operation on Level Zero over oclgrind, and then what takes longer:
# a million rounds of each fuzzer and 10,000 random blocks of contract-vm under the address sanitizer, scripts/fault-report.sh --long,
# and svmx cross-compiled for aarch64 and run under qemu.
#
# Of the suites those run that need no Criterion, of which there is none to link for aarch64. Then every operation is run
# on the scalar kernels and on the reference code there, and must give the bytes that it gives here. Some minutes more
# than test.sh on two cores. Installs what is missing (apt, with sudo when not root). The last line is
# `N passed, N failed, N skipped` for all of it.
#
#   SVMX_SIGNATURE_ROUNDS   signatures that the fuzzers of signatures compare with the libraries: 1,000,000. A hundred million
#                           take a night
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/common.sh"
case ${1:-} in -h | --help) help ;; esac
started=$(date +%s)

"$top/scripts/setup.sh" long || exit 1
SVMX_TEST_LONG=1 "$top/scripts/test.sh" "$@" || : # its logs are in the sum
cd "$top" || exit 1

say "fuzzing"
for suite in $(make -s -C build/asan --no-print-directory list-fuzz-suites 2>/dev/null); do
    log=build/asan/$suite-long.log
    rounds=1000000
    case $suite in *signatures | *ed25519) rounds=${SVMX_SIGNATURE_ROUNDS:-1000000} ;; esac
    (cd build/asan && SVMX_FUZZ_ROUNDS=$rounds SVMX_SUITE_SECONDS=7200 sh "$top/tests/run-suite" "./$suite") >"$log" 2>&1 || tail -n 5 "$log"
    echo "$log" >>build/test-logs
done

say "10,000 blocks of contract-vm"
log=build/asan/tests/integration/vm_blocks-long.log
(cd build/asan && SVMX_VM_BLOCKS=10000 SUPERVM_BACKEND_PATH=$top/build/asan/backends SUPERVM_PROFILE=off \
    SUPERVM_CACHE_DIR=off OCL_ICD_VENDORS=/no/drivers sh "$top/tests/run-suite" ./tests/integration/vm_blocks) >"$log" 2>&1 || tail -n 5 "$log"
echo "$log" >>build/test-logs

say "faults of every kind on every backend"
log=build/gcc/fault_sweep-long.log
scripts/fault-report.sh --long build/gcc >"$log.table" 2>&1 || tail -n 20 "$log.table"
cat "$log.table"
cp build/gcc/fault-report.log "$log" 2>/dev/null || : >"$log"
echo "$log" >>build/test-logs

# xxHash needs no library: its header has all of the code. A copy, because the rest of /usr/include is not for aarch64.
mkdir -p build/aarch64-include
cp /usr/include/xxhash.h build/aarch64-include/
[ ! -e /usr/include/xxh3.h ] || cp /usr/include/xxh3.h build/aarch64-include/

runner="qemu-aarch64 -L /usr/aarch64-linux-gnu"
if build aarch64 --host=aarch64-linux-gnu --enable-werror --with-xxhash=inline --without-criterion --without-openssl \
    --without-starpu "CPPFLAGS=-I$top/build/aarch64-include" "SVMX_RUNNER=$runner"; then
    say "aarch64: make check under qemu"
    make -C build/aarch64 -j"$jobs" check >build/aarch64/check-output.log 2>&1 ||
        grep -E '^(FAIL|ERROR|XPASS|make.*\*\*\*|.*error:)' build/aarch64/check-output.log
    make -s -C build/aarch64 --no-print-directory list-test-logs | sed 's|^|build/aarch64/|' >>build/test-logs
    say "aarch64: the same bits as here"
    # shellcheck disable=SC2086
    sh tests/build/same-bits.sh "$top/build/gcc" "$top/build/aarch64" $runner >build/aarch64/same-bits.log 2>&1 || :
    echo build/aarch64/same-bits.log >>build/test-logs
else
    echo build/aarch64/make-output.log >>build/test-logs
fi

say "$((($(date +%s) - started) / 60)) minutes"
# shellcheck disable=SC2046
"$top/scripts/sum-tests" $(cat build/test-logs)
