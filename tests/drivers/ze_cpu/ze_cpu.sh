#!/bin/sh
# ze_cpu.sh [FOLDER]: the test driver for Level Zero by itself: a small client (client.c) runs SPIR-V on it, through the real
# loader and its validation layer, and through the stand-in for the loader; does things right, and wrong, which must be
# reported. FOLDER is for files, a temporary one otherwise.
#
# SPDX-License-Identifier: Apache-2.0
set -u
LC_ALL=C
export LC_ALL
build=${SVMX_TEST_BUILDDIR:?run by make check, which says where the driver is}/tests/drivers/ze_cpu
source=${SVMX_TEST_SRCDIR:?run by make check}/tests/drivers/ze_cpu
if [ $# -gt 0 ]; then
    work=$1
    mkdir -p "$work"
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
passed=0 failed=0 skipped=0 code=0
for name in $(env | sed -n 's/^\(ZE_CPU_[A-Z0-9_]*\)=.*/\1/p'); do unset "$name"; done
ZE_CPU_KEEP=$work/kept
export ZE_CPU_KEEP

ok() { # WHAT STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAILED  $1"
        sed 's/^/        /' "$work/out" "$work/report" 2>/dev/null | grep -v Sanitizer | tail -n 12
    fi
}

skip() { # WHY COUNT
    skipped=$((skipped + $2))
    echo "skipped $1"
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

# through loader|stand-in SCENARIO [VARIABLE=VALUE]...: plays it; out, report and code are what came of it.
through() {
    way=$1 scenario=$2
    shift 2
    rm -f "$work/report" "$work/hang"
    case $way in
    loader)
        set -- ZE_ENABLE_ALT_DRIVERS="$build/ze_cpu.so" ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_PARAMETER_VALIDATION=1 "$@"
        ;;
    stand-in) set -- LD_LIBRARY_PATH="$build/loader${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@" ;;
    esac
    env ZE_CPU_REPORT="$work/report" "$@" timeout 120 "$build/client" "$work" "$scenario" >"$work/out" 2>&1
    code=$?
}

says() { grep -qF -e "$2" "$work/$1"; } # out|report TEXT
clean() { [ "$code" -eq 0 ] && [ ! -s "$work/report" ]; }

# right WHAT WAY SCENARIO [VARIABLE=VALUE]...: it goes well, and there is nothing to report.
right() {
    what=$1
    shift
    through "$@"
    clean
    ok "$what" $?
}

# wrong SCENARIO TEXT: the client did what it wanted to, and the report has the text.
wrong() {
    through loader "$1"
    [ "$code" -eq 0 ] && says report "$2"
    ok "$1 is reported: $2" $?
}

# refused VARIABLE=VALUE TEXT: zeInit fails, and stderr has the text.
refused() {
    through loader regular "$1"
    [ "$code" -eq 2 ] && says out "zeInit" && says out "$2"
    ok "$1 is refused: $2" $?
}

# ---- SPIR-V for the client

for tool in clang-15 llvm-spirv-15 spirv-as; do
    command -v $tool >/dev/null && continue
    skip "all: there is no $tool, which makes and reads SPIR-V (scripts/setup.sh gpu)" 1
    finish
done
[ -r /etc/OpenCL/vendors/pocl.icd ] || {
    skip "all: there is no PoCL (package pocl-opencl-icd)" 1
    finish
}
for name in client client_fp64; do
    clang-15 -target spir64 -cl-std=CL2.0 -O2 -Xclang -finclude-default-header -emit-llvm -c "$source/$name.cl" \
        -o "$work/$name.bc" && llvm-spirv-15 --spirv-max-version=1.2 "$work/$name.bc" -o "$work/$name.spv" || exit 1
done
spirv-as --target-env spv1.0 "$source/client_constant.spvasm" -o "$work/client_constant.spv" || exit 1

# ---- what works, both ways

for way in loader stand-in; do
    for scenario in regular immediate arguments native constants doubles limits fills times; do
        right "$scenario through the $way" "$way" "$scenario"
    done
done
right "in-order lists and events that count, through the stand-in" stand-in in-order
right "in-order lists keep their order when all others are shuffled" stand-in in-order ZE_CPU_SHUFFLE=3
right "zeInitDrivers, through the stand-in" stand-in init-drivers
through loader in-order
[ "$code" -eq 1 ] && says out "the loader has no zeCommandListHostSynchronize"
ok "the real loader does not pass the newer functions on" $?

# ---- engines

for scenario in regular immediate arguments native constants; do
    if [ -r /usr/lib/oclgrind/liboclgrind-rt-icd.so ]; then
        right "$scenario on oclgrind" loader $scenario ZE_CPU_ENGINE=oclgrind
    else
        skip "$scenario on oclgrind: it is not installed" 1
    fi
done
through loader regular ZE_CPU_TRANSLATOR=/no/such/llvm-spirv
[ "$code" -eq 2 ] && says out "/no/such/llvm-spirv fails, or is not there"
ok "without llvm-spirv the build log says so" $?
if [ -r /usr/lib/oclgrind/liboclgrind-rt-icd.so ]; then
    through loader beyond ZE_CPU_ENGINE=oclgrind OCLGRIND_LOG="$work/oclgrind"
    clean && grep -q 'Invalid write' "$work/oclgrind"
    ok "oclgrind finds a kernel that writes beyond its allocation" $?
else
    skip "oclgrind finds a kernel that writes beyond its allocation: it is not installed" 1
fi
right "SPIR-V that is damaged is refused" loader damaged ZE_CPU_TRANSLATOR=false
printf '#!/bin/sh\necho >>"%s"\nexec llvm-spirv-15 "$@"\n' "$work/translated" >"$work/translator"
chmod +x "$work/translator"
right "what is translated for the first time" loader regular ZE_CPU_TRANSLATOR="$work/translator"
cp "$work/translated" "$work/translated.first"
right "what was translated before" loader regular ZE_CPU_TRANSLATOR="$work/translator"
[ -s "$work/translated.first" ] && cmp -s "$work/translated" "$work/translated.first"
ok "is not translated again" $?

# ---- devices

through loader devices ZE_CPU_DEVICES=3 ZE_CPU_TILES=2
clean && [ "$(grep -c 'CPU test driver (not a GPU)' "$work/out")" -eq 9 ] &&
    [ "$(sed -n 's/.*largest //p' "$work/out" | sort -u | wc -l)" -eq 3 ] &&
    grep -q '^ze_cpu 0: .*, discrete,' "$work/out" && grep -q '^ze_cpu 1: .*, integrated,' "$work/out"
ok "three devices of two tiles each, no two alike, none said to be a GPU" $?
through loader devices ZE_CPU_INTEGRATED=1
clean && says out ", integrated,"
ok "an integrated device" $?
right "work on every device and tile" loader every-device ZE_CPU_DEVICES=3 ZE_CPU_TILES=2
through loader no-doubles ZE_CPU_NOFP64=1
clean && says out "uses doubles"
ok "a device without doubles refuses a module with them, and the log says why" $?

# ---- order, memory, time

different=0
for seed in 1 2 3 4 5 6 7 8 9 10; do
    through loader regular ZE_CPU_SHUFFLE=$seed
    clean || break
    through loader immediate ZE_CPU_SHUFFLE=$seed
    clean || break
done
clean
ok "ten orders of correct lists: always the same result" $?
for seed in 1 2 3 4 5 6 7 8 9 10; do
    through loader race ZE_CPU_SHUFFLE=$seed
    ! says out wrong || different=$((different + 1))
done
[ "$different" -gt 0 ]
ok "ten orders of a list without barriers: results are wrong in $different" $?
wrong race "a copy and a later kernel touch the same bytes, and nothing orders them"
through loader race
says report "a kernel and a later copy touch the same bytes"
ok "race is reported: a kernel and a later copy touch the same bytes" $?
through loader wait-is-no-barrier
[ "$(grep -c 'a copy and a later kernel' "$work/report")" -eq 1 ]
ok "wait-is-no-barrier is reported: of two copies the one that is not waited for" $?

through loader peek
[ "$code" -eq 0 ] && says out seen
ok "device memory is readable by default" $?
through loader peek ZE_CPU_STRICT=1
[ "$code" -ne 0 ] && ! says out seen
ok "device memory is unreadable with ZE_CPU_STRICT" $?
for scenario in regular immediate fills; do
    right "$scenario with unreadable device memory" loader $scenario ZE_CPU_STRICT=1
done

through loader times ZE_CPU_TSWRAP=1
clean && says out wrapped
ok "timestamps wrap" $?

# ---- faults

for call in zeCommandQueueSynchronize@1 command@2; do
    right "a device that is lost in $call stays so until there is a new context" loader lost \
        ZE_CPU_FAIL="$call=70000001"
done
right "what a lost device still runs is waited for by whoever destroys" loader lost-under-way \
    ZE_CPU_FAIL=zeCommandQueueSynchronize@1=70000001 ZE_CPU_HANG=command@1 ZE_CPU_HANG_FILE="$work/hang"
right "the second call fails, the others do not" loader second-fails ZE_CPU_FAIL=zeMemAllocDevice@2=70000003
right "a destroy that fails leaves no leak" loader destroy-fails ZE_CPU_FAIL=zeCommandListDestroy@1=7ffffffe
right "a call that hangs returns when it may" loader hang ZE_CPU_HANG=zeCommandListClose@1 ZE_CPU_HANG_FILE="$work/hang"
right "a command that hangs is waited for" loader late ZE_CPU_HANG=command@1 ZE_CPU_HANG_FILE="$work/hang"
through loader regular ZE_CPU_COUNT="$work/count"
clean && grep -qx 'zeCommandQueueExecuteCommandLists 4' "$work/count" && ! grep -q zeEventCreate "$work/count"
ok "calls are counted" $?
all=$(sed -n 's/^ *{"\([A-Za-z]*\)", 0},$/\1@1000000=7ffffffe/p' "$source/calls.c" | paste -s -d , -)
right "every function can be made to fail" loader regular "ZE_CPU_FAIL=${all:-none}"

# ---- settings

refused ZE_CPU_ENGINE=cuda "pocl or oclgrind is wanted"
refused ZE_CPU_DEVICES=0 "a number from 1 to 8 is wanted"
refused ZE_CPU_DEVICES=two "a number from 1 to 8 is wanted"
refused ZE_CPU_SHUFFLE= "a number from 0"
refused ZE_CPU_STRICT=yes "0 or 1 is wanted"
refused ZE_CPU_FAIL=zeMemFree "FUNCTION@N=HEXCODE"
refused ZE_CPU_FAIL=zeMemFrei@1=1 "no such function"
refused ZE_CPU_FAIL=zeMemFree@0=1 "FUNCTION@N=HEXCODE"
refused ZE_CPU_HANG=zeMemFree@x "FUNCTION@N[=MILLISECONDS]"
refused ZE_CPU_REPORTS=x "no such variable"

# ---- misuse and leaks

wrong unset-argument "argument 0 of vec_add was never set"
wrong argument-size "argument 3 of vec_add has 4 bytes, not 8"
wrong argument-pointer "argument 0 of vec_add points to no allocation"
wrong structure-type "the structure says that its type is"
wrong not-closed "a list is not closed"
wrong append-to-closed "the list is closed"
wrong destroyed-twice "the list was destroyed before"
wrong wrong-kind "the kernel was never made"
wrong kernel-on-copy-queue "a group of queues that only copies"
wrong reset-list-under-way "the list is under way"
wrong reset-event-in-use "commands under way wait for event 0 or signal it"
wrong free-in-use "is used by commands under way"
wrong signalled-twice "event 0 was signalled again before it was reset"
wrong no-timestamps "made without KERNEL_TIMESTAMP"
wrong copy-too-long "64 bytes where the allocation has 32"
wrong free-middle "no allocation begins at"
wrong kernel-gone "the kernel was destroyed before"
wrong counter-out-of-order "can be signalled by an in-order list only"
wrong leak-context "leak: 1 x context not destroyed"
wrong leak-module "leak: 1 x module not destroyed"
wrong leak-module "1 objects or allocations of the context are still there"
wrong leak-kernel "leak: 1 x kernel not destroyed"
for what in "100 bytes of host" "200 bytes of device" "300 bytes of shared"; do
    wrong leak-memory "leak: $what memory not freed"
done
wrong leak-lists "leak: 2 x list not destroyed"
wrong leak-lists "leak: 1 x queue not destroyed"
wrong leak-events "leak: 4 x event not destroyed"
wrong leak-events "leak: 1 x event pool not destroyed"
wrong leak-fence "leak: 1 x fence not destroyed"
wrong leak-log "leak: 1 x build log not destroyed"
finish
