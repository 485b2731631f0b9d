#!/bin/sh
# test_sum_tests.sh: scripts/sum-tests and tests/run-suite, which all other counts go through.
#
# SPDX-License-Identifier: Apache-2.0
set -u
src=${SVMX_TEST_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0

# is WHAT WANTED GOT
is() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'failed: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
    fi
}

sum() { # last line and status
    "$src/scripts/sum-tests" "$@" >out 2>&1
    status=$?
    printf '%s: %s' "$status" "$(tail -n 1 out)"
}

printf 'noise\n3 passed, 0 failed\n' >a.log
printf '4 passed, 0 failed, 2 skipped\nmore noise\n' >b.log
printf '9 passed, 9 failed\n1 passed, 1 failed, 0 skipped\n' >c.log
printf 'Segmentation fault\n' >d.log
printf '  5 passed, 0 failed in a sentence\n' >e.log
printf '1000 passed, 0 failed, 0 skipped\n' >f.log
printf ':test-result: FAIL\n' >f.trs
printf ':test-result: PASS\n' >a.trs
printf '0 passed, 0 failed, 3 skipped\n' >g.log
printf ':test-result: SKIP\n' >g.trs

is "two suites are added up" "0: 7 passed, 0 failed, 2 skipped" "$(sum a.log b.log)"
is "the last count of a log wins" "1: 1 passed, 1 failed, 0 skipped" "$(sum c.log)"
is "no count is a failure" "1: 3 passed, 1 failed, 0 skipped" "$(sum a.log d.log)"
is "a count inside a sentence is none" "1: 0 passed, 1 failed, 0 skipped" "$(sum e.log)"
is "a missing log is a failure" "1: 3 passed, 1 failed, 0 skipped" "$(sum a.log none.log)"
is "a failure after the count is one" "1: 1000 passed, 1 failed, 0 skipped" "$(sum f.log)"
is "skipped suites are no failure" "0: 0 passed, 0 failed, 3 skipped" "$(sum g.log)"
is "nothing at all is no success" "1: 0 passed, 0 failed, 0 skipped" "$(sum)"
sum a.log d.log >/dev/null
is "what failed is named" "1" "$(grep -c 'FAILED: d.log' out)"

# suite NAME: a shell suite of stdin's text, run by run-suite: its status and last line
suite() {
    cat >"$1.sh"
    sh "$src/tests/run-suite" sh "./$1.sh" >out 2>&1
    status=$?
    printf '%s: %s' "$status" "$(tail -n 1 out)"
}
is "a suite that passes" "0: 2 passed, 0 failed" "$(echo 'echo 2 passed, 0 failed' | suite s1)"
is "a suite that counts a failure and forgets its status" "1: 2 passed, 1 failed" \
    "$(echo 'echo 2 passed, 1 failed' | suite s2)"
is "a suite without a count" "99: s3.sh: ended with status 0 and without a count" "$(echo 'echo fine' | suite s3)"
is "a suite that crashes before its count" "134: s4.sh: ended with status 134 and without a count" \
    "$(echo 'exit 134' | suite s4)"
is "a suite that is skipped" "77: 0 passed, 0 failed, 1 skipped" \
    "$(echo 'echo 0 passed, 0 failed, 1 skipped; exit 77' | suite s5)"
is "a Criterion report becomes a count, and what has no result failed" "1: 1 passed, 2 failed, 1 skipped" "$(
    suite s6 <<'SUITE'
printf '1..4\nok - a::b (0.00s)\nnot ok - a::c\nok - a::d # SKIP no device\n' >"${CRITERION_OUTPUTS#tap:}"
exit 1
SUITE
)"
is "a leak that the suite does not notice" "1: s8.sh: a sanitizer complained" \
    "$(echo 'echo "==1==ERROR: LeakSanitizer: detected memory leaks"; echo 2 passed, 0 failed' | suite s8)"
SVMX_SUITE_SECONDS=1
export SVMX_SUITE_SECONDS
is "a suite that hangs is ended" "124: s7.sh: ended with status 124 and without a count" \
    "$(echo 'exec sleep 60' | suite s7)"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
