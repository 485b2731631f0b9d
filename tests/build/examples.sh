#!/bin/sh
# examples.sh: the example of the README is examples/embed.c, compiles, and prints what it says.
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

echo '4e03657a... 11 22 33 44' >"$work/wanted"
if [ -n "${SVMX_TEST_RUNNER:-}" ]; then
    # shellcheck disable=SC2086
    "$SVMX_TEST_LIBTOOL" --quiet --mode=execute $SVMX_TEST_RUNNER "$build/examples/embed" >"$work/printed" 2>&1
else
    "$build/examples/embed" >"$work/printed" 2>&1
fi
same "examples/embed prints what it says" "$work/wanted" "$work/printed"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
