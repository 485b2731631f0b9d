#!/bin/sh
# levelzero.sh: SUPERVM_BACKENDS=levelzero from end to end: every command of svmx that computes or measures, on the test
# driver (tests/drivers/ze_cpu), through the real loader under its validation layer and through the driver's stand-in for
# it; what is told of a device that is a CPU; several devices, tiles, no driver at all, a store of binaries.
#
# SVMX_TEST_COMMAND is the command, SVMX_TEST_BUILDDIR the build folder. What the driver reports fails the suite.
#
# SPDX-License-Identifier: Apache-2.0
set -u
build=${SVMX_TEST_BUILDDIR:?say where the build folder is}
driver=$build/tests/drivers/ze_cpu
work=$build/tests/run/levelzero
. "$(dirname "$0")/command.sh"

case ${SVMX_TEST_SANITIZER:-} in
*thread*)
    skip all "the thread sanitizer does not know PoCL's threads"
    finish
    ;;
esac
for file in "$driver/ze_cpu.so" /etc/OpenCL/vendors/pocl.icd /usr/bin/llvm-spirv-15; do
    [ -e "$file" ] && continue
    skip all "there is no $file"
    finish
done
rm -rf "$work"
mkdir -p "$work"
real() { LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-} ZE_ENABLE_ALT_DRIVERS=$driver/ze_cpu.so ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_PARAMETER_VALIDATION=1 "$@"; }
stand_in() { LD_LIBRARY_PATH=$driver/loader${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"; }
SUPERVM_BACKENDS=+levelzero,stop SUPERVM_POLICY=order SUPERVM_TIMEOUT_MS=60000 ZE_CPU_STRICT=1 ZE_CPU_REPORT=$work/report
export SUPERVM_BACKENDS SUPERVM_POLICY SUPERVM_TIMEOUT_MS ZE_CPU_STRICT ZE_CPU_REPORT
label='CPU test driver (not a GPU)'

# call LOADER [VARIABLE=VALUE]... COMMAND...: keeps what it says in out and err, and its status in code.
call() {
    loader=$1
    shift
    called="$loader $*"
    "$loader" env "$@" >"$work/out" 2>"$work/err"
    code=$?
}
content() { [ ! -s "$ZE_CPU_REPORT" ] || { sed 's/^/        report: /' "$ZE_CPU_REPORT"; rm -f "$ZE_CPU_REPORT"; false; }; }

# serve_and_look LOADER: a server with a load, and what it answers.
serve_and_look() {
    rm -f "$work/out"
    "$1" exec "$SVMX" serve --address 127.0.0.1:0 --load 100 --batches 3 >"$work/out" 2>"$work/err" &
    server=$!
    while [ ! -s "$work/out" ] && kill -0 $server 2>/dev/null; do sleep 0.1; done
    if grep -q 'built without libsvmx-metrics' "$work/err"; then # no libmicrohttpd
        skip "serve ($1)" "$(cat "$work/err")"
        return
    fi
    address=$(sed -n 's|.*is at http://\([0-9.:]*\)/ and.*|\1|p' "$work/out")
    "$SVMX" top "$address" --count 1 --interval 200 >"$work/top" 2>&1
    answer=$?
    kill $server
    wait $server
    code=$?
    cat "$work/top" >>"$work/out"
    [ $code -eq 0 ] && [ $answer -eq 0 ] && out_has "$label" && content
    verdict "serve ($1), and top of it: labelled" $?
}

# ---- every command says what it is ----------------------------------------------------------------------------------

for loader in real stand_in; do
    call $loader "$SVMX" devices
    [ $code -eq 0 ] && out_has "$label" && out_has "TEST DEVICE" && out_has "Level Zero CPU test driver" && content
    verdict "devices ($loader): labelled" $?
    call $loader "$SVMX" devices --json
    [ $code -eq 0 ] && out_has "$label" && out_has '"test": true' && content
    verdict "devices --json ($loader): labelled" $?
    for op in vec_add_f32 sum_f32 merkle_root_sha256; do
        call $loader "$SVMX" run $op
        [ $code -eq 0 ] && out_has "$label" && out_has '[TEST DEVICE]' && out_has 'fallback   none' && content
        verdict "run $op ($loader): on the device, labelled" $?
    done
    call $loader "$SVMX" run --json vec_add_f32
    [ $code -eq 0 ] && out_has '"test": true' && content
    verdict "run --json ($loader): labelled" $?
    call $loader "$SVMX" explain vec_add_f32 65536
    [ $code -eq 0 ] && out_has "$label" && out_has "TEST DEVICE" && content
    verdict "explain ($loader): labelled" $?
    call $loader "$SVMX" bandwidth
    [ $code -eq 0 ] && out_has "$label" && out_has "TEST DEVICE" && content
    verdict "bandwidth ($loader): labelled" $?
    call $loader "$SVMX" stats
    [ $code -eq 0 ] && out_has "$label" && content
    verdict "stats ($loader): labelled" $?
    call $loader "$SVMX" tune --batches 2
    [ $code -eq 0 ] && out_has SUPERVM_MIN_BUCKET= && content
    verdict "tune ($loader): sizes, and no times" $?
    call $loader SUPERVM_BACKENDS=levelzero SUPERVM_POLICY=gpu "$SVMX" run softmax_f32
    [ $code -eq 0 ] && out_has "$label" && out_has '[TEST DEVICE]' && out_has 'fallback   none' && content
    verdict "SUPERVM_BACKENDS=levelzero ($loader), under the policy gpu: on the device, labelled" $?
    call $loader SUPERVM_BACKENDS=levelzero "$SVMX" devices
    [ $code -eq 0 ] && out_has "$label" && grep -q '^0  *levelzero' "$work/out" && content
    verdict "SUPERVM_BACKENDS=levelzero ($loader): the first of the devices, labelled" $?
    call $loader "$SVMX" threshold-scan --op vec_add_f32 --sizes 1K --samples 1 --output "$work/$loader.csv"
    [ $code -eq 0 ] && out_has '[TEST DEVICE]' && grep -qF "$label" "$work/$loader.csv" && content
    verdict "threshold-scan ($loader): labelled in the table and in the file" $?
    call $loader "$SVMX" run sum_f32 --receipt "$work/$loader.log"
    call $loader "$SVMX" trace "$work/$loader.log"
    [ $code -eq 0 ] && out_has "$label" && content
    verdict "trace ($loader): labelled" $?
    call $loader "$SVMX" top --count 1 --interval 300
    [ $code -eq 0 ] && out_has "$label" && content
    verdict "top ($loader): labelled" $?
    serve_and_look $loader
    call $loader SUPERVM_CACHE_DIR="$work/kept-$loader" SUPERVM_PROFILE="$work/profile-$loader" "$SVMX" run sum_f32
    call $loader SUPERVM_CACHE_DIR="$work/kept-$loader" "$SVMX" cache list
    [ $code -eq 0 ] && out_has sum_f32 && out_has "$label" && content
    verdict "cache list ($loader): labelled" $?
    call $loader SUPERVM_PROFILE="$work/profile-$loader" "$SVMX" profile show
    [ $code -eq 0 ] && out_has "$label" && content
    verdict "profile show ($loader): labelled" $?
    for command in 'explain vec_add_f32 65536' bandwidth stats 'top --count 1 --interval 300' 'conform levelzero --op sum_f32'; do
        # shellcheck disable=SC2086
        call $loader "$SVMX" $command --json
        [ $code -eq 0 ] && out_has "$label" && grep -q '"test": *true' "$work/out" && content
        verdict "${command%% *} --json ($loader): labelled" $?
    done
    for op in vec_add_f32 sum_f32 softmax_f32; do
        call $loader "$SVMX" conform levelzero --op $op
        [ $code -eq 0 ] && out_has "$label" && out_has "TEST DEVICE" && out_has "levelzero conforms" && content
        verdict "conform ($loader): $op is exact, labelled" $?
    done
done

# ---- lists in order: every operation, byte for byte -------------------------------------------------------------------

if [ -n "${SVMX_TEST_NO_OPENCL_CONTRACT:-}" ]; then
    skip "conform (stand_in), every operation" "left out in this configuration (scripts/test.sh)"
else
    call stand_in ZE_CPU_COUNT="$work/count" "$SVMX" conform levelzero
    [ $code -eq 0 ] && out_has ' exact, 0 wrong, 0 refused, 0 not supported' && out_has 'levelzero conforms' && content
    verdict "conform (stand_in): every operation is exact" $?
fi

# ---- the commands that do not compute, and a log that is replayed -----------------------------------------------------

for command in ops config version "cache verify" "profile show"; do
    # shellcheck disable=SC2086
    call real SUPERVM_CACHE_DIR="$work/kept" "$SVMX" $command
    [ $code -eq 0 ] && content
    verdict "$command" $?
done
call real "$SVMX" run sum_f32 --receipt "$work/log"
[ $code -eq 0 ] && [ -s "$work/log" ] && ! grep -vqF "$label" "$work/log" && content
verdict "run --receipt: every line is labelled" $?
call real "$SVMX" replay "$work/log"
[ $code -eq 0 ] && out_has "$label" && content
verdict "replay: labelled" $?

# ---- devices --------------------------------------------------------------------------------------------------------

call real ZE_CPU_DEVICES=3 "$SVMX" devices
[ $code -eq 0 ] && [ "$(grep -c ' levelzero .*CPU test driver' "$work/out")" -eq 3 ] && out_has "1.00 GiB" && out_has " 256 MiB" && content
verdict "three devices, each with its memory" $?
for index in 0 1 2; do
    call real ZE_CPU_DEVICES=3 SUPERVM_BACKENDS="+levelzero:$index,stop" "$SVMX" run sum_f32
    [ $code -eq 0 ] && out_has "ze_cpu $index" && out_has 'fallback   none' && content
    verdict "device $index of three computes" $?
done
call real ZE_CPU_DEVICES=3 SUPERVM_POLICY=split "$SVMX" run vec_add_f32 --size 4M --repeat 12 --receipt "$work/log"
[ $code -eq 0 ] && out_has 'fallback   none' && ! grep -q '"why":"split"' "$work/log" && content
verdict "three devices under the policy split: on the same cores they are not cut for, and the answer is there" $?
call real ZE_CPU_TILES=2 "$SVMX" devices
[ $code -eq 0 ] && [ "$(grep -c ' levelzero .*CPU test driver' "$work/out")" -eq 2 ] && content
verdict "a device with two tiles is two devices" $?
call real ZE_CPU_TILES=2 SUPERVM_BACKENDS=+levelzero:1,stop "$SVMX" run sum_f32
[ $code -eq 0 ] && out_has "$label" && out_has 'fallback   none' && content
verdict "the second tile computes" $?
call real ZE_CPU_NOFP64=1 "$SVMX" conform levelzero --op vec_add_f64
grep -q 'vec_add_f64 *not supported' "$work/out" && content
verdict "a device without doubles does not offer them" $?

# ---- in a process of its own -----------------------------------------------------------------------------------------

call real "$SVMX" run keccak256 --size 1000
sum=$(sed -n 's/^ *sha256 *//p' "$work/out")
call real SUPERVM_ISOLATE=levelzero "$SVMX" run keccak256 --size 1000
[ $code -eq 0 ] && out_has "$label" && out_has 'fallback   none' && [ -n "$sum" ] && out_has "$sum" && content
verdict "isolated: the same bytes" $?

# ---- no driver ------------------------------------------------------------------------------------------------------

call env ZE_ENABLE_ALT_DRIVERS=/no/such/driver.so SUPERVM_BACKENDS=levelzero "$SVMX" devices
[ $code -eq 0 ] && grep -A 1 '^levelzero *skipped' "$work/out" | grep -q 'no Level Zero driver'
verdict "no driver: skipped with a word" $?
call env ZE_ENABLE_ALT_DRIVERS=/no/such/driver.so SUPERVM_BACKENDS=+levelzero "$SVMX" devices
[ $code -eq 3 ] && grep -q 'no Level Zero driver' "$work/err"
verdict "no driver, but demanded: an error that says why" $?
# cpu_ms COMMAND...: what ten runs take of a processor, in ms; a machine that is busy does not change it.
cpu_ms() {
    (
        for run in 1 2 3 4 5 6 7 8 9 10; do "$@" >"$work/out" 2>"$work/err"; done
        times
    ) | awk 'NR == 2 { gsub(/[ms]/, " "); print int(($1 * 60 + $2 + $3 * 60 + $4) * 1000) }'
}
absent() { env ZE_ENABLE_ALT_DRIVERS=/no/such/driver.so "$@"; }
without=$(cpu_ms absent SUPERVM_BACKENDS=simd,stop "$SVMX" devices)
with=$(cpu_ms absent SUPERVM_BACKENDS=simd,levelzero,stop "$SVMX" devices)
grep -q '^levelzero *skipped' "$work/out" && [ "$without" -gt 0 ] && [ "$with" -le $((3 * without)) ]
verdict "no driver: ten times skipped in $with ms of processor time, $without ms without the plugin" $?

# ---- binaries -------------------------------------------------------------------------------------------------------

# calls_of FUNCTION: how often the last command called it.
calls_of() { awk -v name="$1" '$1 == name { calls = $2 } END { print calls + 0 }' "$work/count"; }
call real SUPERVM_CACHE_DIR=off ZE_CPU_COUNT="$work/count" "$SVMX" run sum_f32
[ $code -eq 0 ] && [ "$(calls_of zeModuleCreate)" -gt 0 ] && [ "$(calls_of zeModuleGetNativeBinary)" -eq 0 ] && content
verdict "without a store the driver is not asked for compiled code" $?
call real SUPERVM_CACHE_DIR="$work/cache" ZE_CPU_COUNT="$work/count" "$SVMX" run sum_f32
[ $code -eq 0 ] && [ -n "$(find "$work/cache" -type f)" ] && [ "$(calls_of zeModuleGetNativeBinary)" -gt 0 ] && content
verdict "compiled code is kept on disk" $?
call real SUPERVM_CACHE_DIR="$work/cache" ZE_CPU_TRANSLATOR=/bin/false "$SVMX" run sum_f32
[ $code -eq 0 ] && out_has "$label" && out_has 'fallback   none' && content
verdict "and used by the next process, which compiles no SPIR-V" $?
# ze_result_t 7800000f: a binary that the driver does not take
call real SUPERVM_CACHE_DIR="$work/cache" ZE_CPU_FAIL=zeModuleCreate@1=7800000f ZE_CPU_COUNT="$work/count" "$SVMX" run sum_f32
[ $code -eq 0 ] && out_has 'fallback   none' && [ "$(calls_of zeModuleCreate)" -eq 2 ] && [ "$(calls_of zeModuleGetNativeBinary)" -gt 0 ] && content
verdict "what the driver refuses is compiled again, and kept in its place" $?
call real SUPERVM_CACHE_DIR="$work/cache" ZE_CPU_TRANSLATOR=/bin/false ZE_CPU_COUNT="$work/count" "$SVMX" run sum_f32
[ $code -eq 0 ] && out_has 'fallback   none' && [ "$(calls_of zeModuleCreate)" -eq 1 ] && content
verdict "which the process after that uses" $?

finish
