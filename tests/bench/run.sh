#!/bin/sh
# run.sh: what `make bench [SUITE="name ..."] [QUICK=1]` calls: runs the suites, prints their table, writes
# bench-results.json, and a page of it beside it (bench-results.html) where Python and Chart.js are there.
#
# A suite NAME is the program NAME and those called NAME_*. Each appends its rows, one JSON object a line, to a file that
# becomes the array. A program that fails, or that cannot be run, leaves a row that says so, and the status is then 1.
# An ask that was missed is no failure of the run: it is in the table, in the file, and in the last line. The first row of the
# file, of suite `run`, says where and when.
#
#   SVMX_BENCH_LIST      programs, with their paths
#   SVMX_BENCH_RESULTS   the file to write
#   SUITE                which suites; empty = all
#   QUICK                not empty: few rounds, unless SVMX_BENCH_ROUNDS says how many; suites with rounds of their own take
#                        fewer, too (SVMX_BENCH_QUICK). For a look, not for a document
#
# SPDX-License-Identifier: Apache-2.0
set -u

src=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
results=${SVMX_BENCH_RESULTS:-bench-results.json}
SVMX_BENCH_ROWS=$results.rows
# StarPU measures the machine once and keeps that in its home: not in the user's.
STARPU_HOME=${STARPU_HOME:-$results.starpu}
STARPU_SILENT=${STARPU_SILENT:-1}
export SVMX_BENCH_ROWS STARPU_HOME STARPU_SILENT
trap 'rm -rf "$SVMX_BENCH_ROWS" "$results.starpu"' EXIT
trap 'exit 1' HUP INT TERM

if [ -n "${QUICK:-}" ]; then
    SVMX_BENCH_ROUNDS=${SVMX_BENCH_ROUNDS:-7}
    SVMX_BENCH_QUICK=1
    export SVMX_BENCH_ROUNDS SVMX_BENCH_QUICK
fi

# One line of where and when, for people. Quotes would end the text of JSON.
machine() {
    model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | sed 1q)
    version=$(git -C "$src" describe --always --dirty 2>/dev/null) || version=
    printf '%s, %s CPUs; %s; %s%s; %s%s%s' "${model:-unknown processor}" "$(nproc 2>/dev/null || echo '?')" "$(uname -sm)" \
        "svmx ${SVMX_BENCH_VERSION:-}" "${version:+ ($version)}" "$(date -u +%Y-%m-%d)" \
        "${SUPERVM_VARIANT:+; SUPERVM_VARIANT=$SUPERVM_VARIANT}" "${QUICK:+; quick: few rounds}" | tr -d '"\\\n\t'
}

# Suite opencl is for every implementation that there is: Rusticl shows no device for CPUs unless it is asked to. What the user
# has set stays, an empty value as well. Rows say which device they are of.
run() {
    case $suite in
    opencl) RUSTICL_ENABLE=${RUSTICL_ENABLE-llvmpipe} "$1" ;;
    *) "$1" ;;
    esac
}

suite_of() {
    suite=${1##*/}
    suite=${suite%%_*}
}

known=
for program in ${SVMX_BENCH_LIST:?names no programs}; do
    suite_of "$program"
    case " $known " in *" $suite "*) ;; *) known="$known $suite" ;; esac
done
known=${known# }
for wanted in ${SUITE:-}; do
    case " $known " in
    *" $wanted "*) ;;
    *)
        echo "make bench: there is no suite '$wanted'; there are: $known" >&2
        exit 2
        ;;
    esac
done

: >"$SVMX_BENCH_ROWS" || exit 1
mkdir -p "$STARPU_HOME" || exit 1
status=0
printf '%-10s %-46s %9s %9s %-8s %-12s %7s  %-13s %s\n' suite case ours peer name unit ratio ask verdict
for program in $SVMX_BENCH_LIST; do
    suite_of "$program"
    case " ${SUITE:-$known} " in *" $suite "*) ;; *) continue ;; esac
    run "$program"
    ended=$?
    [ "$ended" -eq 0 ] && continue
    status=1
    note="${program##*/} ended with status $ended"
    printf '%-10s %s\n' "$suite" "$note"
    printf '{"suite":"%s","case":"%s","ours":null,"peer":null,"peer_name":null,"unit":null,"ratio":null,"ask":null,"ok":false,"note":"%s"}\n' \
        "$suite" "${program##*/}" "$note" >>"$SVMX_BENCH_ROWS"
done

{
    echo '['
    printf '{"suite":"run","case":"machine","ours":null,"peer":null,"peer_name":null,"unit":null,"ratio":null,"ask":null,"ok":null,"note":"%s"}' \
        "$(machine)"
    [ ! -s "$SVMX_BENCH_ROWS" ] || echo ,
    sed '$!s/$/,/' "$SVMX_BENCH_ROWS"
    echo ']'
} >"$results.new" && mv "$results.new" "$results" || exit 1
count() { grep -c "\"ok\":$1" "$SVMX_BENCH_ROWS"; }
echo "$(count true) met, $(count false) missed, $(count null) skipped or without an ask: $results"
page=${results%.json}.html
if said=$("$src/scripts/report-html" --bench "$results" --output "$page" 2>&1); then
    echo "page: $page"
else
    echo "no page: $said"
fi
exit "$status"
