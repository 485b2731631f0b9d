#!/bin/sh
# vm.sh: the command contract-vm from outside: sample blocks have the roots that are written beside them in every mode, what
# it makes is the same for the same seed, on every backend, and what it says when something is wrong; and, where there is pyrevm
# or PyPI has it, a comparison with revm.
#
# SVMX_VM_DIFFERENTIAL is how many random blocks are compared with revm. PYTHON says which Python has pyrevm; where that has none
# it is installed into the build folder, once.
#
# SPDX-License-Identifier: Apache-2.0
set -u
src=${SVMX_TEST_SRCDIR:?} build=${SVMX_TEST_BUILDDIR:?}
blocks=$src/examples/contract-vm/blocks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# The command, through the emulator where there is one.
vm() {
    if [ -n "${SVMX_TEST_RUNNER:-}" ]; then
        # shellcheck disable=SC2086
        "$SVMX_TEST_LIBTOOL" --quiet --mode=execute $SVMX_TEST_RUNNER "$build/examples/contract-vm/contract-vm" "$@"
    else
        "$build/examples/contract-vm/contract-vm" "$@"
    fi
}

verdict() { # WHAT STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $1"
    fi
}

# same WHAT FILE FILE
same() {
    diff "$2" "$3" >"$work/diff" 2>&1
    verdict "$1" $?
    [ ! -s "$work/diff" ] || head -n 20 "$work/diff"
}

# refuses STATUS TEXT ARGUMENT...: ends with this status, and says this.
refuses() {
    wanted=$1 text=$2
    shift 2
    vm "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -eq "$wanted" ] && grep -qF -- "$text" "$work/err"
    verdict "contract-vm $*: status $wanted and \"$text\", not $code and $(cat "$work/err")" $?
}

# ---- without signatures there is no ecrecover to find senders with ----------------------------------------------------

signs=yes
vm gen transfers --count 1 >"$work/block" 2>"$work/err" || signs=no
if [ "$signs" = no ]; then
    grep -q 'ask for --unsigned' "$work/err"
    verdict "gen without libsecp256k1 says what to do" $?
fi

# ---- sample blocks: NAME GAS RESULTS CHANGES a line in ROOTS -------------------------------------------------------------

if [ "$signs" = yes ]; then
    while read -r name gas results changes; do
        for mode in --serial "--threads 2" "--batch 3" "--deadline-us 0" ""; do
            # shellcheck disable=SC2086
            vm run "$blocks/$name.json" $mode --json >"$work/json" 2>&1
            verdict "run $name $mode" $?
            grep -v '"how"' "$work/json" >"$work/all$mode"
            same "$name $mode: all but \"how\" is as serially" "$work/all--serial" "$work/all$mode"
        done
        vm run "$blocks/$name.json" >"$work/text"
        printf 'gas       %s\nresults   %s\nchanges   %s\n' "$gas" "$results" "$changes" >"$work/wanted"
        grep -E '^(gas|results|changes) ' "$work/text" >"$work/got"
        same "$name: gas and roots are those of ROOTS" "$work/wanted" "$work/got"
    done <"$blocks/ROOTS"
    vm gen transfers --count 12 >"$work/block"
    same "gen makes the sample block again" "$blocks/transfers.json" "$work/block"
else
    echo "skipped: sample blocks are signed, and this was built without libsecp256k1"
    skipped=$((skipped + 1))
fi

# ---- on every backend ----------------------------------------------------------------------------------------------------

# on_backend NAME SELECTION BLOCK...: the roots are those of ROOTS
on_backend() {
    backend=$1 selection=$2
    shift 2
    if ! SUPERVM_BACKENDS=+$selection,stop vm run "$work/empty" >"$work/out" 2>"$work/err"; then
        echo "skipped: sample blocks on $backend: $(head -n 1 "$work/err")"
        skipped=$((skipped + 1))
        return
    fi
    for name; do
        SUPERVM_BACKENDS=+$selection,stop SUPERVM_TIMEOUT_MS=60000 vm run "$blocks/$name.json" >"$work/text" 2>"$work/err"
        verdict "run $name on $backend" $?
        grep "^$name " "$blocks/ROOTS" |
            while read -r _ gas results changes; do
                printf 'gas       %s\nresults   %s\nchanges   %s\n' "$gas" "$results" "$changes"
            done >"$work/wanted"
        grep -E '^(gas|results|changes) ' "$work/text" >"$work/got"
        same "$name on $backend: gas and roots are those of ROOTS" "$work/wanted" "$work/got"
    done
}

if [ "$signs" = yes ]; then
    printf '{}' >"$work/empty"
    names=$(cut -d' ' -f1 "$blocks/ROOTS")
    # shellcheck disable=SC2086
    on_backend simd simd $names
    # shellcheck disable=SC2086
    on_backend sim sim:integrated $names
    case ${SVMX_TEST_SANITIZER:-} in
    *thread*) echo "skipped: sample blocks on PoCL and Level Zero: the thread sanitizer does not know PoCL's threads" && skipped=$((skipped + 2)) ;;
    *)
        vendors=${OCL_ICD_VENDORS-}
        OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd
        export OCL_ICD_VENDORS
        on_backend opencl opencl mixed
        OCL_ICD_VENDORS=$vendors
        ZE_ENABLE_ALT_DRIVERS=$build/tests/drivers/ze_cpu/ze_cpu.so
        export ZE_ENABLE_ALT_DRIVERS
        on_backend levelzero levelzero:0 mixed
        unset ZE_ENABLE_ALT_DRIVERS
        ;;
    esac
fi

# ---- unsigned, as well ---------------------------------------------------------------------------------------------------

for kind in transfers hashes signatures mixed conflicts random; do
    # these two look at signatures while they run, and random ones may
    case $signs$kind in nosignatures | nomixed | norandom) continue ;; esac
    vm gen "$kind" --count 9 --seed 5 --unsigned >"$work/block"
    verdict "gen $kind --unsigned" $?
    vm run - --serial --json <"$work/block" | grep -v '"how"' >"$work/serial"
    vm run - --json <"$work/block" | grep -v '"how"' >"$work/batched"
    same "$kind, unsigned: batched is as serially" "$work/serial" "$work/batched"
    [ -s "$work/serial" ]
    verdict "$kind, unsigned: there is an outcome" $?
done

vm gen transfers --count 2 --unsigned >"$work/block"
vm run "$work/block" --trace 2>"$work/trace" >"$work/out"
grep -q '^tx 1 run 1 pc 6 KECCAK256 gas [0-9]* stack 2 top 0x00$' "$work/trace"
verdict "--trace shows instructions" $?

# ---- what is wrong -------------------------------------------------------------------------------------------------------

vm --help >"$work/out"
verdict "--help" $?
grep -q -- '--serial' "$work/out"
verdict "--help has the options" $?
refuses 2 'say run or gen'
refuses 2 'say which block' run
refuses 2 'there is no kind of block cheese' gen cheese
refuses 2 'there is no option --parallel' run x --parallel
refuses 2 'must follow --count' gen random --count many
refuses 2 'must follow --threads' run x --threads 0
refuses 2 'say --serial or --threads, not both' run x --serial --threads 2
refuses 2 'a word too many: y' run x y
refuses 1 'No such file' run "$work/nothing"
printf '{"number": 1,\n "cheese": 2}' >"$work/bad"
refuses 1 'line 2: there is no such key: "cheese"' run "$work/bad"
printf '{\n' >"$work/bad"
refuses 1 'the text ends in the middle' run "$work/bad"
printf '{"accounts": [{"nonce": 1}' >"$work/bad"
refuses 1 'the text ends in the middle' run "$work/bad"
printf '{"number": 1,}' >"$work/bad"
refuses 1 'a comma stands at the end' run "$work/bad"
printf '{"coinbase": "0x12"}' >"$work/bad"
refuses 1 'an address has 20' run "$work/bad"
printf '{"transactions": [{"nonce": 1}]}' >"$work/bad"
refuses 1 'either v, r and s, or "from"' run "$work/bad"
printf '{"number": 99999999999999999999}' >"$work/bad"
refuses 1 'write it as "0x..."' run "$work/bad"
printf '{"baseFee": "0xzz"}' >"$work/bad"
refuses 1 'a digit that is none' run "$work/bad"
printf '{"number": 1} x' >"$work/bad"
refuses 1 'something stands behind the end' run "$work/bad"
: >"$work/bad"
refuses 1 'an object' run "$work/bad"
# A block without transactions is one.
printf '{}' >"$work/bad"
vm run "$work/bad" >"$work/out"
verdict "an empty block runs" $?
if [ -w /dev/full ]; then
    vm run "$work/bad" 2>"$work/err" >/dev/full
    [ $? -eq 4 ] && grep -q 'cannot write to standard output: No space left' "$work/err"
    verdict "run: a full disk is said" $?
    vm gen transfers --unsigned 2>"$work/err" >/dev/full
    [ $? -eq 4 ] && grep -q 'cannot write to standard output: No space left' "$work/err"
    verdict "gen: a full disk is said" $?
else
    echo "skipped: a full disk: no /dev/full"
    skipped=$((skipped + 2))
fi

# ---- revm ----------------------------------------------------------------------------------------------------------------

# A Python with pyrevm: that which is there, or one of the build folder, if PyPI answers.
python=${PYTHON:-python3} venv=$build/tests/run/pyrevm
find_pyrevm() {
    "$python" -c 'import pyrevm' 2>"$work/err" && return
    python=$venv/bin/python
    "$python" -c 'import pyrevm' 2>"$work/err" && return
    /usr/bin/python3 -m venv "$venv" >"$work/err" 2>&1 || return
    timeout 120 "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 0 --timeout 5 pyrevm >"$work/err" 2>&1
}
if [ "$signs" = no ] || [ -n "${SVMX_TEST_RUNNER:-}" ] || ! find_pyrevm; then
    echo "skipped: no comparison with revm: it needs libsecp256k1 and pyrevm (pip install pyrevm; PYTHON says which Python)"
    skipped=$((skipped + 1))
else
    "$python" "$src/tests/integration/vm_differential.py" "$build/examples/contract-vm/contract-vm" \
        "${SVMX_VM_DIFFERENTIAL:-16}" >"$work/out" 2>&1
    verdict "contract-vm and revm agree" $?
    tail -n 20 "$work/out" | sed 's/ passed.*/ transactions are the same in revm/'
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
