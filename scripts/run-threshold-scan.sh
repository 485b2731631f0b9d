#!/bin/sh
# run-threshold-scan.sh [--quick] [--output FILE] [--svmx COMMAND] [-- OPTION...]: from which size on does a GPU win here?
#
# Runs `svmx threshold-scan` for every backend that `svmx devices` shows, each in a process of its own, so that one that
# fails does not spoil the others, and puts all rows into one CSV file (threshold-scan.csv). Without a GPU backend the CPU
# is measured alone. Needs no more than two minutes on two cores with OpenCL on a CPU; --quick (two operations, three sizes,
# three samples) takes seconds, after what drivers need to compile. OPTIONs go to svmx threshold-scan (see its --help).
#
# With SUPERVM_BACKENDS set there is one process, for what it names.
# COMMAND is svmx on the PATH, or else the one that quickstart.sh installed. The exit status is that of the last scan that
# failed, 130 after Ctrl-C, which keeps what was measured.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/common.sh"

output=threshold-scan.csv svmx='' quick=
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) help ;;
    --quick) quick=yes ;;
    --output) output=${2:?--output needs a file}; shift ;;
    --output=*) output=${1#--output=} ;;
    --svmx) svmx=${2:?--svmx needs a command}; shift ;;
    --svmx=*) svmx=${1#--svmx=} ;;
    --)
        shift
        break
        ;;
    *) die "unknown argument '$1'; options of svmx threshold-scan come after --, see --help" ;;
    esac
    shift
done
[ "$output" != - ] || die "--output: the rows of several processes go into a file, not to standard output"
if [ -z "$svmx" ]; then
    svmx=$top/build/release/install/bin/svmx
    if command -v svmx >/dev/null; then svmx=svmx; fi
fi
command -v "$svmx" >/dev/null || die "there is no $svmx: run scripts/quickstart.sh, or give --svmx COMMAND"
[ -z "$quick" ] || set -- --op vec_add_f32,keccak256 --sizes 4K:1M:x16 --samples 3 "$@"

# What computes in the caller's memory is the CPU's side.
"$svmx" devices >/dev/null
backends=$("$svmx" devices | awk '/^[0-9]+ / && $2 != "simd" && $2 != "reference" && !seen[$2]++ { print $2 }')

content() { [ ! -f "$output" ] || cksum <"$output"; }
older=$(content)

status=0 rest=
# scan ARGUMENT...: one process. The first one that gets so far begins the file: after one that failed before, the next one
# must not go on with an older file.
scan() {
    code=0
    # shellcheck disable=SC2086
    "$svmx" threshold-scan --output "$output" $rest "$@" || code=$?
    [ "$(content)" = "$older" ] || rest=--append
    [ $code -eq 0 ] || status=$code
    [ $code -ne 130 ] || exit 130
}

if [ -z "$backends" ]; then
    say "svmx threshold-scan: no GPU backend here, the CPU alone"
    scan --policy cpu "$@"
elif [ -n "${SUPERVM_BACKENDS:-}" ]; then
    say "svmx threshold-scan: SUPERVM_BACKENDS=$SUPERVM_BACKENDS"
    scan "$@"
else
    for backend in $backends; do
        say "svmx threshold-scan: $backend"
        scan --backend "$backend,stop" "$@"
    done
fi
exit $status
