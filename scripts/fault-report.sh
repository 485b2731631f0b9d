#!/bin/sh
# fault-report.sh [--long] [BUILD-FOLDER]: injects faults into every backend that can be had here and prints what became of them.
#
# A table of faults and backends; a cell is survived / injected: all answers right, none missing, none twice, and the device
# serves again; where nothing hangs, memory, pipelines and tickets, or objects of the driver, are given back as well. Each
# fault is injected at the first, second and fifth call that it can be had at (a call that hangs: at the first and fifth), in
# some minutes; with --long in each of 200 batches over all operations, which takes up to some minutes for each cell (want of
# memory and builds: at the first, 51st, 101st and 151st of their calls). "-": the backend has no such call. Builds in build/gcc if no folder of a build is given. The status is 0 if every cell is 100 %.
#
# "opencl (driver)" and "opencl (driver, card)", with memory of its own, are the real plugin with a layer of OpenCL below it (tests/drivers/cl_fault); all others have the fault between
# the core and the plugin.
#
# The suite behind it is tests/integration/fault_sweep.c, which `make check` runs too. Faults at every call of the plugin ABI,
# of OpenCL and of Level Zero are in test_faults, test_opencl_faults and test_levelzero_faults; calls that never return in
# test_stuck and its like; crashes in test_isolate.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/common.sh"

long= folder=
for argument; do
    case $argument in
    -h | --help) help ;;
    --long) long=--long ;;
    -*) die "unknown argument '$argument'; see --help" ;;
    *) folder=$(CDPATH='' cd "$argument" && pwd) || exit 1 ;;
    esac
done
if [ -z "$folder" ]; then
    build gcc --enable-werror CC=gcc || exit 1
    folder=$top/build/gcc
fi
[ -f "$folder/Makefile" ] || die "$folder is no folder of a build: give one that configure made"
log=$folder/fault-report.log
quietly "$folder/fault-report-make.log" make -k -C "$folder" -j"$jobs" tests/integration/fault_sweep backends.stamp || exit 1
for driver in tests/drivers/ze_cpu/ze_cpu.so tests/drivers/cl_fault/layer.la; do
    make -C "$folder" -j"$jobs" "$driver" >>"$folder/fault-report-make.log" 2>&1 || : # else it is skipped
done

say "faults: $log"
(cd "$folder" && mkdir -p tests/run && SVMX_TEST_BACKEND_PATH=$folder/backends SUPERVM_BACKEND_PATH=$folder/backends \
    SVMX_TEST_BUILDDIR=$folder SUPERVM_PROFILE=off SUPERVM_CACHE_DIR=off ./tests/integration/fault_sweep $long) >"$log" 2>&1
status=$?
grep '^skipped' "$log" | sed 's/^skipped [^,]*, //' | sort -u | sed 's/^/skipped: /'

awk -F'|' '
    $1 == "cell" {
        if (!($2 in row)) { row[$2] = ++rows; fault[rows] = $2 }
        if (!($3 in column)) { column[$3] = ++columns; backend[columns] = $3 }
        cell[$2, $3] = $5 " / " $4
        injected += $4; survived += $5; redone += $6
    }
    END {
        if (!rows) exit
        line = "| survived / injected |"; rule = "|---|"
        for (c = 1; c <= columns; c++) { line = line " " backend[c] " |"; rule = rule "---|" }
        print line; print rule
        for (r = 1; r <= rows; r++) {
            line = "| " fault[r] " |"
            for (c = 1; c <= columns; c++) line = line " " ((fault[r], backend[c]) in cell ? cell[fault[r], backend[c]] : "-") " |"
            print line
        }
        printf "\nfaults injected: %d, survived: %d (%.4g %%), launches redone: %d\n", injected, survived, injected ? 100 * survived / injected : 0, redone
    }' "$log"
[ "$status" -eq 0 ] || { grep -vE '^(cell|skipped)' "$log" | tail -n 20; exit 1; }
