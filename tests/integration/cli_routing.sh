#!/bin/sh
# cli_routing.sh: what the `svmx` command says of choosing devices: explain, bandwidth, replay, trace, run --receipt, --policy, stats.
#
# SVMX_TEST_COMMAND is the command. SUPERVM_BACKEND_PATH says where plugins are, SVMX_TEST_DRIVER_PATH where the check-only
# ones are. What cannot run here is counted as skipped.
#
# SPDX-License-Identifier: Apache-2.0
set -u
unset XDG_CACHE_HOME SUPERVM_CACHE_DIR SUPERVM_PROFILE SUPERVM_SIM_MODEL SUPERVM_BACKENDS SUPERVM_POLICY SUPERVM_LEARN SUPERVM_PROBE_PERCENT SUPERVM_RECEIPTS SUPERVM_LOG
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
HOME=$work/home # where nobody has a cache or a profile
export HOME
SUPERVM_PROFILE=off # what one call measured must not decide the next
export SUPERVM_PROFILE
. "$(dirname "$0")/command.sh"

find_simd
plugins=${SUPERVM_BACKEND_PATH:-}
[ -e "$drivers/check.so" ] && check=yes || check=

echo "# run --receipt"
call run sum_f32 --size 2K --tasks 3 --repeat 4 --device none --receipt "$work/log"
exits 0 && err_empty && out_has 'sum_f32: 3 tasks' && [ "$(wc -l <"$work/log")" -eq 5 ]
verdict "run --receipt FILE: a line for each run, and the text as ever" $?
lines "run --receipt: what was run" "$work/log" "[(r['operation'], r['tasks'], r['backend'], r['place'], r['tag']) for r in l] ==
    [('sum_f32', 3, 'reference', 'host', i) for i in range(1, 6)] and all(r['bytes_in'] == 3 * 8192 and r['bytes_out'] == 12
    and r['redone'] == 0 and r['run_ns'] > 0 and r['time_ns'] > 10**18 and r['policy'] for r in l)
    and all(a['number'] < b['number'] and a['time_ns'] <= b['time_ns'] for a, b in zip(l, l[1:]))"
lines "run --receipt: the fields, in their order" "$work/log" "all(list(r) == 'number time_ns tag operation device backend name place modelled test driver policy why tasks units work '
    'bucket bytes_in bytes_out copied_bytes launches gathered redone reason learned first_use contended failed '
    'fused stretch compared expected_ns expected_setup_ns expected_transfer_ns expected_compute_ns expected_wait_ns setup_ns transfer_ns compute_ns upload_ns device_ns wait_ns stage_ns run_ns collect_ns '
    'result_hash shadow candidates'.split() for r in l)"
call run sum_f32 --size 2K --repeat 2 --device none --receipt - -q
exits 0 && [ "$(grep -c '^{"number":' "$work/out")" -eq 3 ] && [ "$(grep -Ec '^[0-9a-f]{64}$' "$work/out")" -eq 1 ]
verdict "run --receipt -: on standard output, before the result" $?
feed '616263\n-\n'
call run sha256 --stdin --receipt "$work/stdin.log"
exits 0 && [ "$(wc -l <"$work/out")" -eq 2 ] && [ "$(grep -c '"operation":"sha256"' "$work/stdin.log")" -ge 1 ]
verdict "run --stdin --receipt FILE" $?
input=/dev/null
refused 2 "--receipt - would mix with the results: give a file" run sha256 --stdin --receipt -
refused 2 "--receipt - would mix with the results: give a file" run sha256 --json --receipt -
refused 4 "--receipt: cannot write to $work/no/such/folder" run sha256 --size 10 --receipt "$work/no/such/folder"
if [ -c /dev/full ]; then
    call run sum_f32 --size 10 --device none --receipt /dev/full
    exits 4 && err_has '--receipt: cannot write to /dev/full'
    verdict "receipts that cannot be written: exit status 4" $?
else
    skip "receipts that cannot be written" "no /dev/full"
fi

echo "# --policy"
refused 3 "'fast': give auto, cpu, gpu" run sha256 --policy fast
call run sha256 --size 10 --device none --policy gpu
exits 4 && err_has 'the policy is gpu'
verdict "run --policy gpu without one: an error, not the CPU in silence" $?
if [ $simd ]; then
    call run sha256 --size 10 --repeat 1 --policy cpu --receipt "$work/cpu.log"
    exits 0
    verdict "run --policy cpu" $?
    lines "run --policy: the receipt says it" "$work/cpu.log" "all(r['policy'] == 'cpu' and r['place'] == 'host' for r in l)"
else
    skip "run --policy cpu" "no simd backend" 2
fi

echo "# explain"
refused 2 "OPERATION SIZE is missing" explain sha256
refused 2 "did you mean sha256?" explain sha265 1
refused 2 "SIZE: '12x' is no number" explain sha256 12x
refused 2 "are too many for sha256" explain sha256 8589934592G
call explain sha256 1000 --device none
exits 0 && err_empty && out_has 'sha256: a task of 1,000 messages' && out_has 'No device but the reference code' &&
    out_has 'Crossover: none'
verdict "explain with the reference code alone" $?
if [ $simd ]; then
    for device in none simd; do
        call run keccak256 --size 100 --repeat 1 --hash --device $device --receipt "$work/hash-$device.log"
        grep -o '"result_hash":"[0-9a-f]*"' "$work/hash-$device.log" | sort -u >"$work/hash-$device"
    done
    [ "$(wc -l <"$work/hash-none")" = 1 ] && ! grep -q '"0*"' "$work/hash-none" && cmp -s "$work/hash-none" "$work/hash-simd"
    verdict "run --hash: receipts of any device have the same" $?
    call explain sha256 64K --device simd
    exits 0 && err_empty && out_matches '^  VERDICT +EXPECTED +SETUP +TRANSFER +COMPUTE' &&
        out_matches '^  CHOSEN .* a guess +simd: ' && out_has 'Nothing of this operation was measured yet'
    verdict "explain: text" $?
    call explain sha256 64K --device simd --json
    json "explain --json" 0 "d['operation'] == 'sha256' and d['size'] == 65536 and d['unit'] == 'message' and d['crossover'] is None
    and [(c['backend'], c['verdict'], c['known'], c['samples']) for c in d['candidates']] == [('simd', 'chosen', 'guessed', 0)]
    and d['candidates'][0]['expected_ns'] > 0"
else
    skip "run --hash, explain" "no simd backend" 3
fi

echo "# bandwidth"
call bandwidth --device none
exits 0 && err_empty && out_has "computes in the caller's memory: nothing to copy"
verdict "bandwidth: the reference code has nothing to copy" $?
refused 3 "no device is '7'" bandwidth 7 --device none
refused 3 "no device is 'simd'" bandwidth simd --device none
refused 2 "--bytes: 1 is out of range" bandwidth --bytes 1
if [ $check ]; then
    SUPERVM_BACKEND_PATH=$drivers
    export SUPERVM_BACKEND_PATH
    call bandwidth check --device check:plain --bytes 1M
    exits 0 && err_empty && out_matches '^0 .*/s .*check: ' && out_has 'copies of up to 1.00 MiB' && out_has 'TEST DEVICE'
    verdict "bandwidth of a device with memory of its own" $?
    call bandwidth 0 --device check:plain --bytes 1M --json
    json "bandwidth --json" 0 "len(d['devices']) == 1 and d['devices'][0]['status'] == 'SVMX_OK' and d['devices'][0]['test']
    and d['devices'][0]['bytes'] == 1 << 20 and all(d['devices'][0][k] > 0 for k in d['devices'][0]
    if k.endswith('_ns') or k.endswith('_per_s'))"
    call bandwidth --backend 'check:submit@3=backend,stop' --bytes 1M
    exits 4 && err_has 'a copy of 64 bytes failed'
    verdict "bandwidth of a device that fails: exit status 4, says why" $?
else
    skip "bandwidth of a device with memory of its own" "no check plugin" 3
fi

echo "# trace"
call trace "$work/log"
json "trace: an event for each stage that took time, and its receipt beside it" 0 "(lambda x: len(x) >= 5 and all(e['name'] == 'sum_f32'
    and e['dur'] > 0 and e['ts'] >= 0 and e['args']['tasks'] == 3 for e in x) and sorted({e['args']['number'] for e in x}) == list(range(5))
    and min(e['ts'] for e in x) == 0)([e for e in d['traceEvents'] if e['ph'] == 'X'])"
receipt() { # NUMBER END DEVICE WAIT STAGE RUN COLLECT: a line with what a trace needs
    printf '{"number":%s,"time_ns":%s,"operation":"sha256","device":%s,"backend":"sim","name":"a \\"b\\"","wait_ns":%s,"stage_ns":%s,"run_ns":%s,"collect_ns":%s,"candidates":[{"device":7}]}\n' "$@"
}
{ receipt 0 11000 0 0 1000 6000 2000; receipt 1 14000 0 4000 1000 5000 2000; receipt 2 9000 1 0 0 4500 0; } >"$work/trace.log"
lanes="lambda d: {(e['pid'], e['tid']): e['args']['name'] for e in d['traceEvents'] if e['name'] == 'thread_name'}"
call trace "$work/trace.log"
json "trace: lanes by device and stage, another where two overlap" 0 "sorted(($lanes)(d).values()) ==
    ['device', 'device', 'device 2', 'placing inputs', 'taking results', 'waiting']
    and {e['args']['name'] for e in d['traceEvents'] if e['name'] == 'process_name'} == {'0 sim: a \"b\"', '1 sim: a \"b\"'}"
json "trace: nothing overlaps in a lane, and times are microseconds from the first" 0 "(lambda x: all(a['ts'] + a['dur'] <= b['ts'] + 1e-9
    for a in x for b in x if a is not b and (a['pid'], a['tid']) == (b['pid'], b['tid']) and a['ts'] <= b['ts'])
    and [(e['ts'], e['dur']) for e in x if e['args']['number'] == 0] == [(0, 1), (1, 6), (7, 2)])([e for e in d['traceEvents'] if e['ph'] == 'X'])"
sed 's/"candidates"/"upload_ns":3000,"device_ns":5000,"compute_ns":1500,"candidates"/' "$work/trace.log" >"$work/engines.log"
call trace "$work/engines.log"
json "trace: engines of a device, each with one launch after another" 0 "(lambda x: [(e['cat'], e['ts'], e['dur']) for e in x
    if e['pid'] == 1 and e['tid'] > 5000 and e['args']['number'] < 2] == [('copying in', 1, 2), ('computing', 3, 1.5),
    ('copying out', 4.5, 1.5), ('copying in', 5, 2), ('computing', 7, 1.5), ('copying out', 8.5, 1.5)])([e for e in d['traceEvents'] if e['ph'] == 'X'])"
call trace "$work/trace.log" --output "$work/trace.json" --json
json "trace --output --json" 0 "(d['receipts'], d['lanes'], d['bad_lines']) == (3, 6, 0)"
{ cat "$work/trace.log"; echo '{"number":3}'; echo; echo '{"time_ns":12,"device":"x"'; } >"$work/bad.log"
call trace "$work/bad.log" --output "$work/bad.json"
exits 1 && err_has 'line 4: no receipt: time_ns' && err_has 'line 6: no receipt: device' && out_has '3 receipts in 6 lanes' &&
    cmp -s "$work/trace.json" "$work/bad.json"
verdict "trace: bad lines are named and left out" $?
call trace - --output "$work/empty.json"
exits 0 && out_has '0 receipts in 0 lanes'
verdict "trace of nothing" $?
refused 1 "cannot open $work/none" trace "$work/none"
refused 4 "--output: cannot write to $work/no/such/file" trace "$work/trace.log" --output "$work/no/such/file"

echo "# replay"
call replay "$work/log"
exits 0 && err_empty && out_has "$work/log: 5 lines, 0 bad" && out_matches 'no choice +5:' &&
    out_has 'no batch can be compared with the best device in hindsight'
verdict "replay of what run wrote" $?
call replay "$work/log" --json
json "replay --json" 0 "d['lines'] == d['batches'] == d['forced'] == 5 and d['bad_lines'] == d['compared'] == d['oracle_ns'] == 0
    and [(v['backend'], v['recorded'], v['chosen']) for v in d['devices']] == [('reference', 5, 5)]"

echo "# replay of shadow runs"
refused 2 "--shadow is for a log: give --receipt FILE, too" run sha256 --shadow
refused 2 "--hash is for a log: give --receipt FILE, too" run sha256 --hash
refused 2 "--shadow is for made-up data" run sha256 --stdin --shadow --receipt "$work/none.log"
call run sum_f32 --size 2K --device none --shadow --receipt "$work/none.log"
exits 4 && err_has '--shadow' && err_has 'the policy is gpu'
verdict "run --shadow without another device: an error" $?
both_sides() { # WHO DEVICE: what verified launches, and shadow runs, tell of time
    SUPERVM_VERIFY=full
    export SUPERVM_VERIFY
    call run keccak256 --size 256 --repeat 20 --backend "+simd,+$2,stop" --policy gpu --receipt "$work/verified.log"
    exits 0
    verdict "run with SUPERVM_VERIFY=full, $1" $?
    unset SUPERVM_VERIFY
    lines "receipts of verified launches have the time of simd, $1" "$work/verified.log" "len(l) == 21 and all(r['compared'] and
    [(s['backend'], s['device'], s['place'], s['ns'] > 0) for s in r['shadow']] == [('simd', 0, 'host', True)] for r in l)"
    call replay "$work/verified.log" --json
    json "replay of them: time against the better of both, $1" 0 "d['batches'] == d['compared'] == 21 and d['bad_lines'] == d['shadows'] == 0
    and 0 < d['oracle_ns'] <= d['compared_ns'] and d['oracle_ns'] <= d['compared_recorded_ns'] == d['recorded_ns']
    and sorted(v['backend'] for v in d['devices']) == sorted(['simd', '$2'.split(':')[0]])"
    call run keccak256 --size 256 --repeat 20 --backend "+simd,+$2,stop" --shadow --receipt "$work/shadow.log"
    exits 0 && [ "$(wc -l <"$work/shadow.log")" -eq 42 ]
    verdict "run --shadow writes both sides, $1" $?
    lines "run --shadow: each tag once on either side, $1" "$work/shadow.log" "sorted((r['tag'], r['place'] == 'host') for r in l) ==
    sorted((t, h) for t in range(1, 22) for h in (False, True))"
    call replay "$work/shadow.log" --json
    json "replay of them, $1" 0 "d['batches'] == d['shadows'] == d['compared'] == 21 and 0 < d['oracle_ns'] <= d['compared_ns']"
    lines "predictions in parts, $1" "$work/shadow.log" "any(r['expected_ns'] for r in l) and all(r['expected_ns'] == r['expected_setup_ns'] +
    r['expected_transfer_ns'] + r['expected_compute_ns'] for r in l)"
}
if [ $simd ] && [ $check ]; then
    SUPERVM_BACKEND_PATH=$plugins:$drivers
    both_sides "a test device" check:plain
    SUPERVM_BACKEND_PATH=$drivers
else
    skip "shadow runs beside a test device" "no simd backend or no check plugin" 7
fi

# device NUMBER: the fields of one of two devices.
device() {
    case $1 in
    0) printf '"device":0,"backend":"simd","name":"cpu","place":"host"' ;;
    1) printf '"device":1,"backend":"opencl","name":"gpu","place":"device"' ;;
    esac
}
# launch DEVICE TAG NS: a line under the policy auto.
launch() {
    [ "$1" -eq 0 ] && cpu=chosen gpu=slower || cpu=slower gpu=chosen
    printf '{"tag":%s,"operation":"keccak256",%s,"policy":"auto","why":"best","tasks":1,"units":4096,"work":4096,' "$2" \
        "$(device "$1")"
    printf '"bytes_in":64,"bytes_out":32,"learned":true,"setup_ns":0,"transfer_ns":0,"compute_ns":%s,' "$3"
    printf '"candidates":[{%s,"verdict":"%s"},{%s,"verdict":"%s"}]}\n' "$(device 0)" $cpu "$(device 1)" $gpu
}
tag=0
while [ $tag -lt 100 ]; do
    tag=$((tag + 1))
    launch 0 $tag 1000
    launch 1 $tag 250
done >"$work/both.log"
call replay - --learn strict --json
json "replay of nothing" 0 "d['lines'] == 0 and d['devices'] == []"
input=$work/both.log
call replay - --learn strict --json
json "replay: shadow runs, and the best in hindsight" 0 "d['lines'] == 200 and d['batches'] == d['shadows'] == d['compared'] == 100
    and d['oracle_ns'] == 100 * 250 and d['compared_recorded_ns'] == d['compared_ns'] == 100 * 1000 and d['same'] == 100"
call replay - --learn strict
exits 0 && out_has 'standard input: 200 lines, 0 bad' && out_has 'Time of the 100 of 100 batches' &&
    out_has '4.000 times the best in hindsight'
verdict "replay: the same as text" $?
cp "$work/out" "$work/first"
call replay - --learn strict
cmp -s "$work/out" "$work/first"
verdict "replay: the same log, the same text" $?
input=/dev/null
{ launch 0 1 1000 && echo nonsense && launch 0 2 1000 && echo '{"units":-1}'; } >"$work/bad.log"
call replay "$work/bad.log" --json
json "replay: bad lines are left out, exit status 1" 1 "d['lines'] == 4 and d['bad_lines'] == 2 and d['batches'] == 2"
err_has "$work/bad.log, line 2: an object is missing" && err_has "$work/bad.log, line 4: a number is missing"
verdict "replay: bad lines are named" $?
yes nonsense | head -n 30 >"$work/bad.log"
call replay "$work/bad.log"
exits 1 && [ "$(grep -c ', line ' "$work/err")" -eq 20 ] && err_has '10 more bad lines are not shown'
verdict "replay: not all of many bad lines are named" $?
out_has 'there is no batch in the log' && ! out_has 'the time of one device only'
verdict "replay: a log without one good line has no batch" $?
refused 1 "cannot open $work/nosuchfile: No such file" replay "$work/nosuchfile"
refused 1 "cannot read $work: " replay "$work"
refused 2 "LOG is missing" replay
refused 2 "--learn: 'frozen' is neither on nor strict" replay "$work/log" --learn frozen
refused 2 "--probe-percent: 51 is out of range" replay "$work/log" --probe-percent 51

echo "# stats and devices"
call stats --batches 3 --device none
exits 0 && out_matches '^choices +probes +0$' && out_matches '^ +receipts +[0-9]+$' && out_has 'Regret: not known' &&
    out_has 'BY ITS CLOCK'
verdict "stats: what choosing cost" $?
call stats --batches 3 --op sum_f32 --device none --json
json "stats --json: choices, clocks" 0 "set(d['choices']) == set('probes probe_ns drifts flips regret_ppm regret_low_ppm regret_high_ppm '
    'receipts'.split()) and d['choices']['receipts'] == 3 and d['devices'][0]['clock'] == 'none'
    and d['devices'][0]['backlog_ns'] == 0"

finish
