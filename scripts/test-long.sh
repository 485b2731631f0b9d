#!/bin/sh
# test-long.sh [--night]: scripts/test.sh --again with every suite in its long form, and then what takes longer still.
#
#   step           what                                                                            minutes on two cores
#   suites         test.sh --again: every operation on Level Zero over oclgrind, every small group,
#                  a heavy load before a light one; every suite with clang, and under the sanitizers, which there look at the
#                  arithmetic of pointers in SIMD kernels too: minutes of compiling                                  60
#   fuzzing        a million rounds of each fuzzer: address sanitizer, those of signatures without                   60
#   libFuzzer      a million inputs of each fuzzer, those that reach new code kept                                   60
#   signatures     with --night: a hundred million of each of the two, other ones on each core                      370
#   soak           ten minutes of random faults under the address sanitizer and under the thread sanitizer           10
#   floats         exp_all --all: every one of the 2^32 floats through the exponential and its kin                   20
#   blocks         10,000 random blocks of contract-vm on every backend under the address sanitizer                  60
#   faults         fault-report.sh --long                                                                           200
#   valgrind       unit and integration suites in C, but those that have to do with time, drivers or other processes 40
#   aarch64        svmx cross-compiled, and run under qemu: of the suites those that need no Criterion, of which there is
#                  none to link, and every operation on the scalar kernels and on the reference code, which must give
#                  the bytes that it gives here                                                                      15
#
# Each step says what it takes as it begins, and what it took at its end; one that hangs is ended after some times that. Installs
# what is missing (apt, with sudo when not root). The last line is `N passed, N failed, N skipped` for all of it.
#
#   SVMX_SIGNATURE_ROUNDS   signatures that each fuzzer of them compares with its library: 1,000,000, with --night 100,000,000
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/common.sh"
signature_rounds=1000000
for argument; do
    case $argument in
    -h | --help) help ;;
    --night) signature_rounds=100000000 ;;
    --again) ;; # always
    *) die "unknown argument '$argument'; see --help" ;;
    esac
done
signature_rounds=${SVMX_SIGNATURE_ROUNDS:-$signature_rounds}
started=$(date +%s) step=

# step NAME MINUTES [WHAT]: ends the step before it, if there is one, and begins this one.
step() {
    [ -z "$step" ] || say "$step: took $((($(date +%s) - step_started + 30) / 60)) minutes"
    step=$1 step_started=$(date +%s)
    [ -z "$step" ] || say "$step: about $2 minutes on two cores${3:+: $3}"
}

# as_suite CONFIGURATION SECONDS LOG [NAME=VALUE...] SUITE [OPTION...]: one suite of build/CONFIGURATION with the variables that
# `make check` gives it, for so long at most. Its log is in the sum.
as_suite() {
    folder=$top/build/$1 seconds=$2 log=build/$1/$3-long.log sanitizer= variables=
    case $1 in asan) sanitizer=address,undefined ;; tsan) sanitizer=thread ;; esac
    shift 3
    while case $1 in *=*) ;; *) false ;; esac; do variables="$variables $1" && shift; done
    mkdir -p "$(dirname "$log")"
    # shellcheck disable=SC2086
    (cd "$folder" && env SVMX_TEST_BACKEND_PATH="$folder/backends" SUPERVM_BACKEND_PATH="$folder/backends" \
        SVMX_TEST_DRIVER_PATH="$folder/test-backends" SVMX_TEST_SRCDIR="$top" SVMX_TEST_BUILDDIR="$folder" \
        SVMX_TEST_SANITIZER=$sanitizer SVMX_TEST_LONG=1 SUPERVM_POLICY=order SUPERVM_PROFILE=off SUPERVM_CACHE_DIR=off \
        OCL_ICD_VENDORS=/no/drivers SVMX_SUITE_SECONDS="$seconds" $variables \
        sh "$top/tests/run-suite" "$@") >"$log" 2>&1 || tail -n 5 "$log"
    echo "$log" >>build/test-logs
}

# beside COMMAND...: as_suite or the like, as many at once as there are cores. `wait` ends it.
running=0
beside() {
    "$@" &
    running=$((running + 1))
    [ $((running % jobs)) -ne 0 ] || wait
}

# signatures SUITE: all rounds, a share of them on each core, with dice of its own. A folder each: run-suite writes where it is.
# A round takes a quarter of a millisecond or less on a core of its own; the limit is eight times that.
signatures() {
    share=$((signature_rounds / jobs + 1)) core=0
    while [ "$core" -lt "$jobs" ]; do
        log=build/gcc/$1-$core-long.log
        mkdir -p "build/gcc/tests/run/core-$core"
        (cd "build/gcc/tests/run/core-$core" && SVMX_FUZZ_SEED=$((core + 1)) SVMX_FUZZ_ROUNDS=$share \
            SVMX_SUITE_SECONDS=$((600 + share / 500)) sh "$top/tests/run-suite" "$top/build/gcc/$1") >"$log" 2>&1 ||
            tail -n 5 "$log" &
        echo "$log" >>build/test-logs
        core=$((core + 1))
    done
    wait
}

"$top/scripts/setup.sh" long || exit 1
step suites 60
SVMX_TEST_LONG=1 "$top/scripts/test.sh" --again || : # its logs are in the sum
cd "$top" || exit 1

step fuzzing 60
for suite in $(make -s -C build/asan --no-print-directory list-fuzz-suites 2>/dev/null); do
    case $suite in *signatures | *ed25519) continue ;; esac
    beside as_suite asan 7200 "$suite" SVMX_FUZZ_ROUNDS=1000000 "./$suite"
done
beside as_suite gcc 7200 tests/scripts/test_scan_fuzz SVMX_FUZZ_ROUNDS=1000000 \
    sh "$top/tests/scripts/run-python" "$top/tests/scripts/test_scan_fuzz.py"
wait

step libFuzzer 60
if build fuzz-long --enable-fuzzer CC=clang 'CFLAGS=-O1 -g' --disable-opencl --disable-levelzero --disable-metrics &&
    quietly build/fuzz-long/make-suites.log make -C build/fuzz-long -j"$jobs" check TESTS= 'check_PROGRAMS=$(fuzz_suites)'; then
    tests/fuzz/run-fuzzers build/fuzz-long -runs=1000000 >build/fuzz-long/fuzzers.log 2>&1 ||
        tail -n 60 build/fuzz-long/fuzzers.log
    echo build/fuzz-long/fuzzers.log >>build/test-logs
else
    echo build/fuzz-long/make-output.log >>build/test-logs
fi

step signatures $((signature_rounds / jobs / 140000 + 1)) "$signature_rounds rounds of each of the two, on $jobs cores"
signatures tests/fuzz/fuzz_signatures
signatures tests/fuzz/fuzz_ed25519

step soak 10
as_suite asan 1800 tests/integration/soak SVMX_SOAK_SECONDS=600 ./tests/integration/soak &
as_suite tsan 1800 tests/integration/soak SVMX_SOAK_SECONDS=600 ./tests/integration/soak &
wait

step floats 20
as_suite gcc 14400 tests/integration/exp_all ./tests/integration/exp_all --all

step blocks 60
as_suite asan 7200 tests/integration/vm_blocks SVMX_TEST_LONG=1 SVMX_VM_BLOCKS=10000 ./tests/integration/vm_blocks

step faults 200
log=build/gcc/fault_sweep-long.log
scripts/fault-report.sh --long build/gcc >"$log.table" 2>&1 || tail -n 20 "$log.table"
cat "$log.table"
cp build/gcc/fault-report.log "$log" 2>/dev/null || : >"$log"
echo "$log" >>build/test-logs

# Valgrind knows no AVX-512. Left out: drivers, which it knows nothing of; suites of deadlines and hangs, which it is too slow for;
# processes of others and allocators of their own; what computes for minutes without it.
step valgrind 40
variant=scalar
! grep -qw avx2 /proc/cpuinfo || variant=avx2
for log in $(make -s -C build/gcc --no-print-directory list-test-logs 'TESTS=$(criterion_suites) $(plain_suites)'); do
    suite=${log%.log}
    case $suite in
    */contract/* | *opencl* | *rusticl* | *levelzero* | */fuzz_* | *isolate* | *probe* | *fork* | *hangs | *stuck* | *recovery) continue ;;
    *heavy_light | *small_group* | *exp_all | *soak | *fault_sweep | *steady_state | *steady_device | *vm_blocks | *alloc_faults) continue ;;
    esac
    beside as_suite gcc 1800 "$suite-valgrind" SVMX_TEST_RUNNER="$top/tests/run-valgrind" SVMX_TEST_LIBTOOL="$top/build/gcc/libtool" \
        SUPERVM_VARIANT=$variant SVMX_BATCHES=2000 "./$suite"
done
wait

# xxHash needs no library: its header has all of the code. A copy, because the rest of /usr/include is not for aarch64.
step aarch64 15
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

step ''
say "$((($(date +%s) - started) / 60)) minutes"
# shellcheck disable=SC2046
"$top/scripts/sum-tests" $(cat build/test-logs)
