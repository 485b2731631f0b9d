#!/bin/sh
# examples.sh: the example of the README is examples/embed.c; the examples compile, and print what they say.
#
# SPDX-License-Identifier: Apache-2.0
set -u
src=${SVMX_TEST_SRCDIR:?} build=${SVMX_TEST_BUILDDIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# same WHAT FILE FILE
same() {
    if diff "$2" "$3" >"$work/diff"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $1"
        cat "$work/diff"
    fi
}

# The first block of C in the README, and the example without its head comment.
sed -n '/^```c$/,/^```$/p' "$src/README.md" | sed '1d; /^```$/,$d' >"$work/readme"
sed -n '/^#include/,$p' "$src/examples/embed.c" >"$work/example"
same "README.md has examples/embed.c as it is" "$work/example" "$work/readme"

# run NAME: what it prints goes to $work/printed
run() {
    if [ -n "${SVMX_TEST_RUNNER:-}" ]; then
        # shellcheck disable=SC2086
        "$SVMX_TEST_LIBTOOL" --quiet --mode=execute $SVMX_TEST_RUNNER "$build/examples/$1" >"$work/printed" 2>&1
    else
        "$build/examples/$1" >"$work/printed" 2>&1
    fi
}

echo '4e03657a... 11 22 33 44' >"$work/wanted"
run embed
same "examples/embed prints what it says" "$work/wanted" "$work/printed"

# Which device it is depends on the machine; that one is named does not.
printf '%s\n' '1000 grids, 2000 objects, the largest of 20 cells' 'cleaned on' >"$work/wanted"
run grid-objects
sed -i 's/^\(cleaned on\) [a-z0-9_]*: ..*/\1/' "$work/printed"
same "examples/grid-objects prints what it says" "$work/wanted" "$work/printed"

# On a device, which compiles what the example brings: who cleaned is known.
pocl=/etc/OpenCL/vendors/pocl.icd
skipped=0
why=
case "${SVMX_TEST_SANITIZER:-}" in *thread*) why="the thread sanitizer does not know PoCL's threads" ;; esac
[ -z "${SVMX_TEST_RUNNER:-}" ] || why="in an emulator there are no drivers"
[ -r $pocl ] && [ -e "$build/backends/opencl.so" ] || why="no PoCL (package pocl-opencl-icd), or no opencl backend"
if [ -z "$why" ]; then
    printf '%s\n' '1000 grids, 2000 objects, the largest of 20 cells' 'cleaned on opencl' >"$work/wanted"
    (
        OCL_ICD_VENDORS=$pocl SUPERVM_BACKENDS=+opencl SUPERVM_POLICY=gpu SUPERVM_TIMEOUT_MS=60000
        export OCL_ICD_VENDORS SUPERVM_BACKENDS SUPERVM_POLICY SUPERVM_TIMEOUT_MS
        run grid-objects
    )
    sed -i 's/^\(cleaned on [a-z0-9_]*\): ..*/\1/' "$work/printed"
    same "examples/grid-objects is cleaned by OpenCL under the policy gpu" "$work/wanted" "$work/printed"
    echo '4 operations on 65536 floats: 4 launches apart, 2 chained; the same bytes: yes' >"$work/wanted"
    (
        OCL_ICD_VENDORS=$pocl SUPERVM_BACKENDS=+opencl SUPERVM_POLICY=gpu SUPERVM_TIMEOUT_MS=60000
        export OCL_ICD_VENDORS SUPERVM_BACKENDS SUPERVM_POLICY SUPERVM_TIMEOUT_MS
        run chain
    )
    same "examples/chain on OpenCL: three links are one launch" "$work/wanted" "$work/printed"
else
    echo "skipped: examples/grid-objects and examples/chain on OpenCL: $why"
    skipped=2
fi

# How many launches the chain takes depends on who computes it.
echo '4 operations on 65536 floats: 4 launches apart, N chained; the same bytes: yes' >"$work/wanted"
run chain
sed -i 's/[0-9] chained/N chained/' "$work/printed"
same "examples/chain prints what it says" "$work/wanted" "$work/printed"

# Times and totals depend on who computes; what an iteration takes does not.
cat >"$work/wanted" <<'END'
naive     scf_field eigh_f64 scf_density scf_mix max_abs_diff_f64 sum_f64 sum_f64, of a problem and a spin
          an iteration: 728 dispatches, 728 readbacks
resident  scf_field eigh_f64 scf_density scf_mix max_abs_diff_f64, of all; at the end sum_f64
          an iteration: 5 dispatches, 0.125 readbacks
the same bytes: yes
END
run scf
sed -i 's/; in all: .*//; s/^52 problems of [0-9]* to [0-9]* iterations; //' "$work/printed"
same "examples/scf prints what it says" "$work/wanted" "$work/printed"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
