#!/bin/sh
# coverage.sh [--html]: runs the suites on a build for gcov and prints how many lines and branches of src/ they reached.
#
# Status 1 under 85 % of branches, or when a suite failed. --html also writes build/coverage/html/index.html. Installs what
# is missing (apt, with sudo when not root).
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/common.sh"

asked=85
html=
for argument; do
    case $argument in
    -h | --help) help ;;
    --html) html=yes ;;
    *) die "unknown argument '$argument'; see --help" ;;
    esac
done

"$top/scripts/setup.sh" coverage
build coverage --enable-coverage CC=gcc
cd "$top/build/coverage"
find . -name '*.gcda' -exec rm -f {} +
say "coverage: make check"
# Without the contracts on OpenCL and Level Zero devices: they take long, and reach nothing more of src/.
SVMX_TEST_NO_OPENCL_CONTRACT=1 make -j"$jobs" check >check-output.log 2>&1 || :
# shellcheck disable=SC2046
suites=$("$top/scripts/sum-tests" $(make -s --no-print-directory list-test-logs)) && passed=yes || passed=

set -- --root "$top" --object-directory . --filter "$top/src/" --exclude-unreachable-branches
if [ -n "$html" ]; then
    mkdir -p html
    gcovr "$@" --html-details html/index.html .
fi
gcovr "$@" --branches --print-summary --fail-under-branch "$asked" . >report.txt 2>gcovr.log && reached=yes || reached=
cat report.txt
printf '%s\n' "$suites"
[ -n "$reached" ] || die "less than $asked % of the branches of src/ were reached, or gcovr failed: build/coverage/gcovr.log"
[ -n "$passed" ] || die "suites failed"
