#!/bin/sh
# test.sh [--again] [CONFIGURATION...]: builds svmx in every configuration and runs all tests.
#
#   gcc      gcc, warnings are errors: every suite
#   clang    the same with clang: what a compiler may compute otherwise, the contract on the CPU and the suites of operations
#   asan     gcc with the address and undefined-behaviour sanitizers: the suites in C, but for the contract on devices, and the command
#   tsan     gcc with the thread sanitizer: the thread suites, which are plain C
#   fuzz     clang with libFuzzer and the address sanitizer: every fuzzer for ten seconds, but those of signatures
#   dist     make distcheck: the tarball builds, with the static library that others leave out,
#            out of tree, installs, is used by a stranger's program, uninstalls
#   gpu      device code compiles for a GPU of NVIDIA and one of AMD without spills, and to valid SPIR-V
#   format   the sources are as clang-format 14 would have them
#
# All of them without arguments. While suites of gcc run, which wait now and then, what compiles only is done beside them, at a
# low priority; and dist beside those of asan. Installs the packages that are missing (apt, with sudo when not root). Works in build/;
# a suite runs again only if it or anything that it uses was rebuilt, or if it failed, and gpu and format only if a file that
# they read, or one of their tools, is another; --again runs all. A suite that
# fails beside others is shown, and runs once more with the machine to itself: if it passes then it counts as passed, and is
# named as UNSTEADY at the end; its first log stays as NAME.log.first. The last line is `N passed, N failed, N skipped`, the
# sum over all suites and configurations; the status is 0 if nothing failed.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/common.sh"

again= wanted=
for argument; do
    case $argument in
    -h | --help) help ;;
    --again) again=yes ;;
    gcc | clang | asan | tsan | fuzz | dist | gpu | format) wanted="$wanted $argument" ;;
    *) die "unknown argument '$argument'; see --help" ;;
    esac
done
[ -n "$wanted" ] || wanted="gcc clang asan tsan fuzz dist gpu format"

"$top/scripts/setup.sh" test || exit 1
SVMX_TEST_CACHES=$top/build/test-caches
export SVMX_TEST_CACHES
cd "$top" || exit 1
mkdir -p "$SVMX_TEST_CACHES" # drivers make their own folder in it, and not all of them the one above
logs=build/test-logs unsteady=
: >"$logs"

# Logs of suites that failed last time are no reason not to run them.
forget_failures() {
    find "build/$1" -name '*.trs' | while IFS= read -r result; do
        if [ -n "$again" ] || grep -q '^:recheck: *yes' "$result"; then rm -f "$result" "${result%.trs}.log"; fi
    done
}

# configured CONFIGURATION: its arguments of configure, a line each. -g1: a sanitizer names the line, and with all of -g some files
# take gcc minutes. In the long form asan has all checks in SIMD kernels.
configured() {
    case ${SVMX_TEST_LONG:+long-}$1 in
    *gcc) printf '%s\n' --enable-werror --disable-static CC=gcc ;;
    *clang) printf '%s\n' --enable-werror --disable-static CC=clang CFLAGS=-O3 ;;
    *asan)
        printf '%s\n' --enable-sanitizer=address,undefined --disable-static CC=gcc 'CFLAGS=-O1 -g1'
        [ -z "${SVMX_TEST_LONG:-}" ] || echo SVMX_KERNEL_CFLAGS=
        ;;
    *tsan) printf '%s\n' --enable-sanitizer=thread --disable-static CC=gcc 'CFLAGS=-O1 -g1' ;;
    *fuzz)
        printf '%s\n' --enable-fuzzer --disable-static CC=clang 'CFLAGS=-O1 -g1' --disable-simd --disable-opencl \
            --disable-levelzero --disable-metrics
        ;;
    esac
}

computing='$(filter tests/contract/% tests/unit/test_op_% tests/unit/test_simd_%,$(criterion_suites))'

# suites_of CONFIGURATION: for make, which knows the lists; a variable that nobody reads where all are wanted. In the long form
# clang and asan run what gcc does.
suites_of() {
    case ${SVMX_TEST_LONG:+long-}$1 in
    clang) echo "TESTS=$computing" ;;
    asan) echo 'TESTS=$(criterion_suites) $(plain_suites) tests/integration/cli.sh tests/integration/cli_stdin.sh' ;;
    tsan | long-tsan) echo 'TESTS=$(filter-out $(fuzz_suites),$(plain_suites))' ;;
    *) echo NOTHING= ;;
    esac
}

# programs_of CONFIGURATION: likewise, what has to be built for them; with clang all, for their warnings.
programs_of() {
    case ${SVMX_TEST_LONG:+long-}$1 in
    *fuzz) echo 'check_PROGRAMS=$(fuzz_suites)' ;;
    *tsan) echo 'check_PROGRAMS=$(filter-out $(fuzz_suites),$(plain_suites))' ;;
    *) echo NOTHING= ;;
    esac
}

# made CONFIGURATION: builds it, and its suites. SPIR-V is the same whoever compiles the rest, and comes from the build of gcc.
made() {
    spirv=plugins/kernels/spirv.c
    if [ "$1" != gcc ] && [ -f "build/gcc/$spirv" ]; then
        mkdir -p "build/$1/plugins/kernels" && cp -pu "build/gcc/$spirv" "build/$1/$spirv"
    fi
    made_name=$1
    set -f
    IFS='
'
    # shellcheck disable=SC2046
    set -- $(configured "$1")
    unset IFS
    set +f
    build "$made_name" "$@" && build_suites "$made_name"
}

# check NAME: builds a configuration and runs its suites. A build that fails leaves a log without a count, which is a failure
# in the sum; what its suites said the last time is no news.
check() {
    name=$1
    suites=$(suites_of "$name")
    programs=$(programs_of "$name")
    if ! made "$name"; then
        echo "build/$name/make-output.log" >>"$logs"
        return
    fi
    forget_failures "$name"
    say "$name: make check (the suites as they end: build/$name/check-output.log)"
    beside "$name"
    # RECHECK_LOGS: leave the logs of suites for which nothing changed
    without=
    # compiling all device code once is enough, and so is a browser
    [ "$name" = gcc ] || without="SVMX_TEST_NO_OPENCL_CONTRACT=1 SVMX_TEST_NO_BROWSER=1"
    # shellcheck disable=SC2086
    env $without make -C "build/$name" -j"$jobs" check RECHECK_LOGS= "$suites" "$programs" \
        >"build/$name/check-output.log" 2>&1 || once_more
    alone
    make -s -C "build/$name" --no-print-directory list-test-logs "$suites" | sed "s|^|build/$name/|" >>"$logs"
}

# failed_logs: the logs of suites that failed in build/$name.
failed_logs() {
    find "build/$name" -name '*.trs' -exec grep -lE '^:(global-)?test-result: *(FAIL|ERROR|XPASS)' {} + |
        sed 's/\.trs$/.log/'
}

# Suites that failed, with the machine to themselves: what a busy machine did is told apart from what is broken.
once_more() {
    alone
    failed=$(failed_logs)
    for log in $failed; do
        echo "FAIL: $log"
        tail -n 30 "$log" | sed 's/^/    /'
        cp "$log" "$log.first"
        rm -f "$log" "${log%.log}.trs"
    done
    [ -n "$failed" ] || tail -n 20 "build/$name/check-output.log"
    say "$name: make check, once more for what failed"
    # shellcheck disable=SC2086
    env $without make -C "build/$name" check RECHECK_LOGS= "$suites" "$programs" >"build/$name/check-again.log" 2>&1
    for log in $failed; do
        grep -q '^:global-test-result: *PASS' "${log%.log}.trs" && unsteady="$unsteady $log.first"
    done
}

# The suites are programs too: built, and none run.
build_suites() { quietly "build/$1/make-output.log" make -C "build/$1" -j"$jobs" check TESTS= "$(programs_of "$1")"; }

# beside NAME: starts what is done while the suites of NAME run, out of their way; alone waits for it, and shows what it said. A
# build that fails here fails again when its turn comes, and is shown then; gpu, format and dist have had theirs.
helper= taken=
beside() {
    case $1 in
    gcc) work=compile_ahead taken="$taken gpu format" ;;
    asan) work=dist_ahead taken="$taken dist" ;;
    *) return ;;
    esac
    (
        renice -n 10 -p "$(exec sh -c 'echo "$PPID"')" >/dev/null
        $work
    ) >build/beside.log 2>&1 &
    helper=$!
}
alone() {
    [ -n "$helper" ] || return 0
    wait "$helper"
    helper=
    cat build/beside.log
}

compile_ahead() {
    for next in $wanted; do
        case $next in
        clang | asan | tsan | fuzz) made "$next" >/dev/null 2>&1 ;;
        gpu) check_gpu ;;
        format) check_format ;;
        esac
    done
}
dist_ahead() { case " $wanted " in *" dist "*) check_dist ;; esac; }

# distcheck is one suite, in the gcc build; its count is that of installcheck.
check_dist() {
    echo build/gcc/distcheck.log >>"$logs"
    [ -z "$again" ] || rm -f build/gcc/distcheck.log
    if made gcc; then
        say "dist: make distcheck"
        quietly build/gcc/distcheck-output.log make -C build/gcc -j"$jobs" distcheck.log && return
    fi
    rm -f build/gcc/distcheck.log
}

# kept LOG: whether what is read by a check, listed on stdin, is as it was when the check passed and left LOG. Else what is
# there now is noted beside it, for passed LOG.
kept() {
    sha256sum >"$1.now"
    [ -z "$again" ] && [ -f "$1" ] && cmp -s "$1.now" "$1.was"
}
passed() { mv "$1.now" "$1.was"; }

# sums FILE...: of files, and of all files in folders.
sums() { find "$@" -type f -exec sha256sum {} + | sort; }

# Without plugins, which need not be instrumented: the one that fuzz_batch wants is that of the gcc build, if there is one.
check_fuzz() {
    mkdir -p build/fuzz
    echo build/fuzz/fuzzers.log >>"$logs"
    if ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -x c -fsanitize=fuzzer,address,undefined - -o build/fuzz/tried >/dev/null 2>&1; then
        say "fuzz: skipped: this clang has no libFuzzer"
        echo "0 passed, 0 failed, 1 skipped" >build/fuzz/fuzzers.log
        return
    fi
    if made fuzz; then
        say "fuzz: ten seconds each"
        SVMX_TEST_BACKEND_PATH=$top/build/gcc/backends "$top/tests/fuzz/run-fuzzers" build/fuzz -max_total_time=10 \
            >build/fuzz/fuzzers.log 2>&1 || tail -n 60 build/fuzz/fuzzers.log
    else
        rm -f build/fuzz/fuzzers.log
    fi
}

check_gpu() {
    echo build/gpu.log >>"$logs"
    for tool in clang-15 llvm-spirv-15 spirv-val /usr/lib/clc/amdgcn--amdhsa.bc; do
        command -v "$tool" >/dev/null || [ -e "$tool" ] && continue
        say "gpu: skipped: $tool is not there"
        echo "0 passed, 0 failed, 1 skipped" >build/gpu.log
        return
    done
    if gpu_reads | kept build/gpu.log; then
        say "gpu: nothing changed since it passed"
        return
    fi
    say "gpu: check-gpu-compile.sh --quick"
    if "$top/scripts/check-gpu-compile.sh" --quick >build/gpu.log 2>&1; then
        passed build/gpu.log
    else
        grep -vE '^(\||==)' build/gpu.log | tail -n 20
    fi
}

gpu_reads() {
    sums plugins/kernels include docs/GPU-CODE.md scripts/check-gpu-compile.sh scripts/common.sh /usr/lib/clc
    clang-15 --version
    llvm-spirv-15 --version
    spirv-val --version
    echo "${PTXAS-} $(command -v ptxas)"
}

check_format() {
    echo build/format.log >>"$logs"
    if format_reads | kept build/format.log; then
        say "format: nothing changed since it passed"
        return
    fi
    say "format: clang-format"
    if "$top/scripts/format.sh" --check >build/format.log 2>&1; then
        passed build/format.log
    else
        tail -n 20 build/format.log
    fi
}

format_reads() {
    sums include src plugins tests examples .clang-format scripts/format.sh
    clang-format-14 --version
    clang-format --version
}

for configuration in $wanted; do
    case " $taken " in *" $configuration "*) continue ;; esac
    case $configuration in
    gcc | clang | asan | tsan) check "$configuration" ;;
    fuzz) check_fuzz ;;
    dist) check_dist ;;
    gpu) check_gpu ;;
    format) check_format ;;
    esac
done

say "sum over: $(echo $wanted)"
for log in $unsteady; do echo "UNSTEADY: failed beside other suites, passed alone: $log"; done
# shellcheck disable=SC2046
"$top/scripts/sum-tests" $(cat "$logs")
