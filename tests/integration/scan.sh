#!/bin/sh
# scan.sh: `svmx threshold-scan` from outside: the file, the crossovers, what it says when something is wrong, Ctrl-C, and
# scripts/run-threshold-scan.sh.
#
# SVMX_TEST_COMMAND is the command. SUPERVM_BACKEND_PATH says where plugins are, SVMX_TEST_DRIVER_PATH where the check-only
# ones are, SVMX_TEST_SRCDIR where the scripts are. What cannot run here is counted as skipped.
#
# SPDX-License-Identifier: Apache-2.0
set -u
source=${SVMX_TEST_SRCDIR:?}
unset XDG_CACHE_HOME SUPERVM_CACHE_DIR SUPERVM_PROFILE SUPERVM_SIM_MODEL SUPERVM_BACKENDS SUPERVM_POLICY SUPERVM_LEARN SUPERVM_LOG
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
HOME=$work/home # where nobody has a cache or a profile
export HOME
. "$(dirname "$0")/command.sh"
backends=${SUPERVM_BACKEND_PATH:-}
pocl=/etc/OpenCL/vendors/pocl.icd
csv=$work/scan.csv

if [ -n "$python" ]; then
    rows() { # WHAT FILE EXPRESSION: r is the rows of a CSV file, as dictionaries; h is its header
        "$python" -S -c "import csv, sys
f = open('$2', newline='')
h = f.readline().rstrip('\n')
f.seek(0)
r = list(csv.DictReader(f, strict=True))
f = float
assert all(None not in row and None not in row.values() for row in r), 'a row is not whole'
sys.exit(0 if ($3) else 1)" 2>>"$work/err"
        verdict "$1" $?
    }
else
    rows() { skip "$1" "no python3"; }
fi

long='host,cpu,backend,device,driver,op,size,bucket,samples,cpu_us,gpu_us,cpu_median_us,cpu_p90_us,cpu_min_us,cpu_max_us,gpu_median_us,gpu_p90_us,gpu_min_us,gpu_max_us,first_us,setup_us,upload_us,compute_us,readback_us,device_ns,speedup,throughput,dispatches,readbacks,verified,winner,decided'
short='host,cpu,backend,device,driver,op,size,bucket,samples,cpu_us,gpu_us,first_us,setup_us,upload_us,compute_us,readback_us,device_ns,speedup,throughput,dispatches,readbacks,verified,winner'
# A row with a GPU is whole, and says the same twice.
good="all(x['verified'] == 'yes' and f(x['device_ns']) > 0 and f(x['cpu_min_us']) <= f(x['cpu_median_us']) <= f(x['cpu_p90_us'])
    <= f(x['cpu_max_us']) and f(x['gpu_min_us']) <= f(x['gpu_median_us']) <= f(x['gpu_p90_us']) <= f(x['gpu_max_us'])
    and abs(f(x['speedup']) * f(x['gpu_median_us']) - f(x['cpu_median_us'])) <= 0.01 + 0.001 * f(x['gpu_median_us'])
    and x.get('decided', 'yes') in ('yes', 'no') and x['winner'] == ('gpu' if f(x['gpu_median_us']) < 0.9 * f(x['cpu_median_us']) else 'cpu')
    and int(x['dispatches']) == 1 and f(x['first_us']) > 0 for x in r)"

echo "# options"
call threshold-scan --help
exits 0 && err_empty && out_has '--max-samples' && out_has '(default threshold-scan.csv)'
verdict "threshold-scan --help" $?
words="threshold-scan --output $csv"
refused 2 "did you mean sha256?" --op sha265
refused 2 "--op: a name is missing" --op sha256,
refused 2 "--op: all stands alone" --op all,sha256
refused 2 "--sizes: 'x' is no number" --sizes x
refused 2 "--sizes: a range is FROM:TO:STEP" --sizes 4K:1K
refused 2 "--sizes: a range is FROM:TO:STEP" --sizes 1K::4M
refused 2 "--sizes: a size is 0" --sizes 0
refused 2 "--samples: 0 is out of range" --samples 0
refused 2 "--max-samples is less than --samples" --samples 10 --max-samples 9
refused 2 "--samples 1 means one" --samples 1 --max-samples 9
refused 2 "--cpu: '+simd' is neither all, one, scalar" --cpu +simd
refused 2 "--format: 'xml' is neither csv nor prototype" --format xml
refused 2 "no column for the operation" --format prototype --op sha256,keccak256
refused 2 "a scan compares both sides" --policy auto
refused 2 "unknown option '--sample' (did you mean --samples?)" --sample 3
refused 2 "--json and --output - would mix" --json --output -
refused 2 "--append needs a file" --append --output -
refused 2 "--device and --backend exclude each other" --device simd --backend simd
refused 3 "cannot open nosuch" --cpu nosuch
refused 3 "no backend 'nosuch'" --device nosuch
refused 4 "--output: cannot write to $work/no/such/folder" --output "$work/no/such/folder" --policy cpu
[ ! -e "$csv" ]
verdict "a call that is refused leaves no file" $?
words=
refused 4 "every size is too large" threshold-scan --op vec_add_f32 --sizes 8589934592G --policy cpu --cpu scalar --quiet --output "$work/huge.csv"

echo "# the CPU alone"
call threshold-scan --policy cpu --cpu scalar --op sum_f32,sha256 --sizes 64,1K --output "$csv"
exits 0 && err_empty && out_has "$csv: 4 rows" && out_has 'gpu: none asked for (--policy cpu): the CPU is measured alone'
verdict "threshold-scan --policy cpu --cpu scalar" $?
call threshold-scan --device none --cpu scalar --op sum_f32 --sizes 64 --output "$work/none.csv"
exits 0 && out_has 'gpu: none asked for (--device none): the CPU is measured alone'
verdict "threshold-scan --device none: why there is no GPU" $?
call threshold-scan --backend stop --cpu scalar --op sum_f32 --sizes 64 --output "$work/none.csv"
exits 0 && out_has 'gpu: none by --backend stop, so the CPU is measured alone'
verdict "threshold-scan --backend without a GPU: the list is named" $?
rows "without a GPU its columns are empty, and the CPU wins" "$csv" "h == '$long' and len(r) == 4
    and [(x['op'], x['size']) for x in r] == [('sum_f32', '64'), ('sum_f32', '1024'), ('sha256', '64'), ('sha256', '1024')]
    and all(x['backend'] == 'reference' and x['winner'] == 'cpu' and x['verified'] == 'yes' and f(x['cpu_us']) > 0
    and all(x[k] == '' for k in h.split(',') if k.startswith('gpu_') or k in ('first_us', 'setup_us', 'upload_us', 'compute_us',
    'readback_us', 'device_ns', 'speedup', 'throughput', 'dispatches', 'readbacks')) for x in r)"
call threshold-scan --policy cpu --cpu scalar --op sum_f32 --sizes 64 --output - --samples 1
exits 0 && [ "$(head -n 1 "$work/out")" = "$short" ] && [ "$(wc -l <"$work/out")" -eq 2 ] && err_has 'sum_f32'
verdict "--output -: rows on standard output, words on standard error; one sample, the short header" $?
call threshold-scan --policy cpu --cpu scalar --op sum_f32 --sizes 64 --output - --quiet
exits 0 && err_empty && [ "$(wc -l <"$work/out")" -eq 2 ]
verdict "--quiet" $?
call threshold-scan --policy cpu --cpu scalar --op sum_f32 --sizes 64 --json
exits 0
verdict "--json" $?
json "--json: one document" "len(d['rows']) == 1 and d['rows'][0]['op'] == 'sum_f32' and d['rows'][0]['cpu_median_us'] > 0
    and d['rows'][0]['gpu_us'] is None and d['crossovers'] == [] and d['interrupted'] is False and d['wrong'] == 0"
# once SAMPLES: no object of the document has a key twice, and every row says whether it is decided, as true or false
once() {
    call threshold-scan --policy cpu --cpu scalar --op sum_f32 --sizes 64 --samples "$1" --json
    exits 0 && "$python" -S -c "import json, sys
def pairs(pairs):
    assert len(dict(pairs)) == len(pairs), 'a key comes twice'
    return dict(pairs)
d = json.load(sys.stdin, object_pairs_hook=pairs)
sys.exit(0 if d['rows'] and all(x['decided'] is True for x in d['rows']) else 1)" <"$work/out" 2>>"$work/err"
    verdict "--json --samples $1: no key comes twice, decided is true or false" $?
}
if [ -n "$python" ]; then
    once 1
    once 3
else
    skip "--json: no key comes twice" "no python3" 2
fi
[ ! -e threshold-scan.csv ]
verdict "--json without --output writes no file" $?
call threshold-scan --policy cpu --cpu scalar --format prototype --sizes 64,128 --output - --quiet
exits 0 && [ "$(head -n 1 "$work/out")" = "size,device,duration_ms,first,backend_mask_hint" ] &&
    [ "$(grep -Ec '^(64|128),reference code,[0-9.]+,[0-9.]+,reference$' "$work/out")" -eq 2 ]
verdict "--format prototype" $?
# How long a scan takes is no test, but worth a look: most of what a newcomer gets without options, in small.
began=$(date +%s)
call threshold-scan --policy cpu --op vec_add_f32,sigmoid_f32,sha256,keccak256 --sizes 1K:256K:x4 --output "$csv"
ended=$(date +%s)
exits 0 && out_has "$csv: 20 rows"
verdict "four operations in five sizes: $((ended - began)) s" $?
call threshold-scan --policy cpu --cpu scalar --op eigh_f64 --sizes 64:1G:x4 --limit 1 --output "$csv"
exits 0 && out_has 'left out on reference: would take about' && out_has "rows left out"
verdict "--limit: what would take too long is left out, with a word" $?
# Sanitizers and emulators reserve more by themselves, and not every shell can limit memory.
# shellcheck disable=SC3045
if [ -z "${SVMX_TEST_SANITIZER:-}${SVMX_TEST_RUNNER:-}" ] && (ulimit -v 1000000) 2>/dev/null; then
    (
        ulimit -v 1000000
        call threshold-scan --policy cpu --cpu scalar --op sum_f32,max_f32 --sizes 64,1G,2G --output "$csv"
        exit "$code"
    )
    code=$? called='svmx threshold-scan of 4 GB, in 1 GB'
    exits 4 && err_has 'sum_f32, size 1073741824: no memory' && err_has 'max_f32, size 1073741824: no memory' &&
        err_has '2 rows could not be measured' && out_has "$csv: 2 rows"
    verdict "a size without memory: said, larger ones are left, the next operation goes on, exit status 4" $?
else
    skip "a size without memory" "memory cannot be limited here"
fi

echo "# --append"
first="--policy cpu --cpu scalar --op sum_f32 --sizes 64"
# shellcheck disable=SC2086
{
    call threshold-scan $first --output "$csv" && call threshold-scan $first --output "$csv" --append --seed 2 &&
        call threshold-scan $first --output "$csv" --append
}
exits 0 && [ "$(grep -c '^host,' "$csv")" -eq 1 ] && [ "$(wc -l <"$csv")" -eq 4 ]
verdict "--append twice: one header, three rows" $?
refused 1 "has other columns" threshold-scan --output "$csv" --append --policy cpu --cpu scalar --samples 1
refused 1 "has other columns" threshold-scan --output "$csv" --append --policy cpu --cpu scalar --format prototype
[ "$(wc -l <"$csv")" -eq 4 ]
verdict "a file with other columns stays as it is" $?
awk '{ printf "%s\r\n", $0 }' "$csv" >"$work/windows.csv"
# shellcheck disable=SC2086
call threshold-scan $first --output "$work/windows.csv" --append
exits 0 && [ "$(grep -c '^host,' "$work/windows.csv")" -eq 1 ] && [ "$(wc -l <"$work/windows.csv")" -eq 5 ]
verdict "--append to a file with lines of Windows" $?
printf 'vm,cut' >>"$csv"
refused 1 "the last line of $csv is cut off" threshold-scan --output "$csv" --append --policy cpu --cpu scalar
rm -f "$csv"
# shellcheck disable=SC2086
call threshold-scan $first --output "$csv" --append
exits 0 && [ "$(wc -l <"$csv")" -eq 2 ]
verdict "--append to a file that is not there begins it" $?

echo "# devices that are wrong"
if [ -e "$drivers/check.so" ]; then
    SUPERVM_BACKEND_PATH=$drivers:$backends
    export SUPERVM_BACKEND_PATH
    call threshold-scan --cpu scalar --device check:plain --op sha256 --sizes 1K,4K --verify --output "$csv"
    exits 0 && err_empty && out_has 'never up to 4,096'
    verdict "a device that copies" $?
    ! out_matches '^sha256 .{94}' && out_matches '^sha256 +1,024 cpu .* check +[0-9.]+ [a-z]+ +\+-[0-9]+ % first .* x (cpu|gpu)' &&
        out_matches '^  sha256 .*; spread up to \+-[0-9]+ %'
    verdict "a row shows the spread and fits 100 columns; so does the crossover show it" $?
    rows "labelled, verified, one copy back" "$csv" "len(r) == 2 and $good and all('[TEST DEVICE]' in x['device']
        and x['readbacks'] == '1' and f(x['upload_us']) > 0 and f(x['readback_us']) > 0 for x in r)"
    refused 2 "--cpu check:plain is the device that is measured, check:0" threshold-scan --cpu check:plain --device check:plain --op sha256 --sizes 1K --output "$work/same.csv"
    # which dispatch is the first after the self-test is not for this suite to know
    n=0 caught=
    while [ $n -lt 20 ] && [ -z "$caught" ]; do
        n=$((n + 1))
        call threshold-scan --cpu scalar --device "check:dispatch@$n=bitflip" --op sha256 --sizes 1K --verify --output "$csv"
        err_has 'is not that of the reference code' && caught=yes
    done
    [ $caught ] && exits 4 && err_has '1 result: not the reference code' && out_has 'WRONG RESULT'
    verdict "a result that is wrong: said, exit status 4" $?
    rows "a wrong result is marked, and wins nothing" "$csv" "len(r) == 1 and r[0]['verified'] == 'no' and r[0]['winner'] == 'cpu'"
    call threshold-scan --cpu scalar --device check:plain --op vec_add_f32,sum_f32 --sizes 1K,16M --limit 0 --samples 1 --output "$csv"
    exits 0 && err_empty && out_has '16,777,216  left out on check: too large for it' && out_has '2 rows left out: too large for the device or the operation' &&
        [ "$(grep -c ',vec_add_f32,' "$csv") $(grep -c ',sum_f32,' "$csv")" = '1 1' ]
    verdict "a size that the device has no memory for: a word, and the scan goes on" $?
    call threshold-scan --cpu scalar --policy cpu --op matmul_f32,vec_add_f32 --sizes 16,8589934592G --samples 1 --output "$csv"
    exits 0 && err_empty && out_has 'left out on reference: too large for the operation' && grep -q ',vec_add_f32,16,' "$csv"
    verdict "a size that is too large for one operation does not end the scan" $?
    for clock in mute tick; do # no times at all; 1 ns whatever it did, of launches that are as short as any
        call threshold-scan --cpu scalar --device "check:wait@all=$clock" --op sha256 --sizes 64,1K --output "$csv"
        exits 4 && err_has 'its clock says nothing that can be believed' && err_has '2 rows could not be measured' &&
            [ "$(wc -l <"$csv")" -eq 1 ]
        verdict "device times that cannot be ($clock) are an error and no row" $?
    done
    call threshold-scan --cpu scalar --device 'check:submit@all=backend' --op sha256,keccak256 --sizes 1K,4K --output "$csv"
    exits 4 && err_has '2 rows could not be measured' && [ "$(wc -l <"$csv")" -eq 1 ]
    verdict "a device that fails: said for each operation, exit status 4" $?
    SUPERVM_BACKEND_PATH=$backends
else
    skip "devices that are wrong" "no check plugin" 8
fi

echo "# modelled devices"
# The CPU's side is modelled as well: a modelled device computes with the reference code, so no real CPU would be slower.
# Its times are long beside what computing takes, also without optimisation or under a sanitizer.
# Threads sleep in real time: a machine that is busy with other things may hold both up, so there are three attempts.
cat >"$work/cpu.model" <<'EOF'
name scan-cpu
memory shared
create 0.1 ms
dispatch 10 us
op vec_add_f32 rate 0.0036 work/ns
op sigmoid_f32 rate 0.0017 work/ns
op matmul_f32 rate 0.005 work/ns
op * rate 0.05 work/ns
cpu op * rate 1 work/ns
EOF
SUPERVM_SIM_MODEL=$work/cpu.model
export SUPERVM_SIM_MODEL
# What the texts of both models say: rtx4090-wgpu has 3 ms for each launch, 5 GB/s, 80 us for 1 M additions, 12.5 sigmoids
# a ns, 1.94 ms for a product of order 1000. At no size that is tested the ratio is within a quarter of the 0.9.
implied="
cpu = {'vec_add_f32': lambda n: 10e3 + n / 0.0036, 'sigmoid_f32': lambda n: 10e3 + n / 0.0017, 'matmul_f32': lambda n: 10e3 + n**3 / 0.005}
gpu = {'vec_add_f32': lambda n: 3e6 + 12 * n / 5 + 0.08 * n, 'sigmoid_f32': lambda n: 3e6 + 8 * n / 5 + n / 12.5,
       'matmul_f32': lambda n: 3e6 + 12 * n * n / 5 + 1.94e6 * n**3 / 1e9}
sizes = {'vec_add_f32': [2**i for i in range(11, 17)], 'sigmoid_f32': [2**i for i in range(10, 15)], 'matmul_f32': [4, 8, 16, 32]}
def crossover(op):
    wins = [gpu[op](n) < 0.9 * cpu[op](n) for n in sizes[op]]
    return next((n for i, n in enumerate(sizes[op]) if all(wins[i:])), None)
"
modelled() { # OPERATION SIZES
    agrees=1
    for attempt in 1 2 3; do
        call threshold-scan --cpu sim:scan-cpu --device sim:rtx4090-wgpu --op "$1" --sizes "$2" --samples 9 --json
        exits 0 && "$python" -S -c "import json, sys
$implied
d = json.load(sys.stdin)
sys.exit(0 if [(c['op'], c['crossover']) for c in d['crossovers']] == [('$1', crossover('$1'))] and crossover('$1')
    and all('[MODELLED]' in x['device'] and '[MODELLED]' in x['cpu'] for x in d['rows']) else 1)" <"$work/out" && agrees=0 && break
    done
    verdict "the crossover of $1 is the one that the models imply (attempt $attempt)" $agrees
}
if [ -z "$python" ]; then
    skip "modelled devices" "no python3" 6
elif [ -e "$backends/sim.so" ]; then
    modelled vec_add_f32 2K:64K:1
    modelled sigmoid_f32 1K:16K:1
    modelled matmul_f32 4:32:1

    call threshold-scan --cpu scalar --backend sim:rtx4090-wgpu,sim:dx12-laptop,stop --op vec_add_f32 --sizes 20K --output "$csv"
    exits 0 && out_has 'sim:0' && out_has 'sim:4'
    verdict "two devices of one backend, each by itself" $?
    rows "two devices of one backend: the rows of each" "$csv" "[x['device'].split()[0] for x in r] == ['rtx4090-wgpu', 'dx12-laptop']
        and r[0]['driver'] != r[1]['driver']"

    # What the router learns of the same two devices, from work that it routes itself.
    both=sim:scan-cpu,sim:rtx4090-wgpu,stop
    SUPERVM_PROFILE=$work/profile
    export SUPERVM_PROFILE
    agrees=1
    for attempt in 1 2 3; do
        rm -f "$SUPERVM_PROFILE"
        for size in 2K 4K 8K 16K 32K 64K; do
            call run vec_add_f32 --size $size --repeat 40 --backend $both --quiet
        done
        learned=0
        for size in 65536 32768 16384 8192 4096 2048; do
            call explain vec_add_f32 $size --backend $both --json
            "$python" -S -c "import json, sys
c = json.load(sys.stdin)['candidates'][0]
sys.exit(0 if (c['name'], c['verdict']) == ('rtx4090-wgpu', 'chosen') else 1)" <"$work/out" || break
            learned=$size
        done
        "$python" -S -c "import sys
$implied
sys.exit(0 if $learned and crossover('vec_add_f32') / 2 <= $learned <= 2 * crossover('vec_add_f32') else 1)" && agrees=0 && break
    done
    verdict "the router learns the same crossover, within one bucket (attempt $attempt: $learned)" $agrees
    # a profile that knows one size alone: the others are inferred
    rm -f "$SUPERVM_PROFILE"
    call run vec_add_f32 --size 1M --repeat 60 --backend $both --quiet
    call explain vec_add_f32 1M --backend $both
    out_matches '^Crossover: from [0-9,]+ elements? on, sim: .*\[MODELLED\].* would have it\.$' &&
        out_matches '^That is not certain yet: at this size .* is known from (other sizes|a guess)\.$'
    verdict "explain: the crossover has a unit and a name, and says who is not known at that size" $?
    unset SUPERVM_PROFILE
else
    skip "modelled devices" "no sim backend" 7
fi

echo "# on a terminal"
# Python's pty is a terminal; what is written there is kept as it comes, with the bar and what wipes it away.
if [ -z "$python" ] || [ -n "${SVMX_TEST_RUNNER:-}" ]; then
    skip "on a terminal" "no python3, or an emulator" 2
else
    rm -f "$csv"
    called='svmx threshold-scan on a terminal'
    "$python" -S -c "import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError: # it has closed its end
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))" "$SVMX" threshold-scan --cpu scalar --policy cpu --op sum_f32,sha256 \
        --sizes 1K,4K,16K --output "$csv" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    exits 0 && "$python" -S -c "import re, sys
text = open('$work/out', newline='').read()
bars = re.findall(r'\[([#.]{30})\] +(\d+) %', text)
shares = [int(share) for hashes, share in bars]
sys.exit(0 if len(bars) >= 6 and shares[0] == 0 and shares == sorted(shares) and shares[-1] == 100
    and all(abs(hashes.count('#') - 0.3 * int(share)) <= 1.2 for hashes, share in bars)
    and re.search(r'about \d+ s left', text) else 1)" 2>>"$work/err"
    verdict "a bar that grows from 0 to 100 %, with the time that is left" $?
    # As a terminal shows it: what was drawn over is gone.
    "$python" -S -c "import re, sys
lines = [line.rsplit('\x1b[K')[-1].rstrip('\r') for line in open('$work/out', newline='').read().split('\n')]
sys.exit(0 if not any('%' in line for line in lines if line.startswith('[')) and sum(line.startswith('sum_f32 ') for line in lines) == 3
    else 1)" 2>>"$work/err"
    verdict "the bar is wiped away, and rows stand below one another" $?
fi

echo "# Ctrl-C"
# interrupt SIGNAL: sends it to a scan that has written a row.
interrupt() {
    rm -f "$csv"
    called="svmx threshold-scan, then SIG$1"
    "$SVMX" threshold-scan --cpu scalar --policy cpu --op sum_f32,sha256 --sizes 1K:64M:1 --samples 1000 --limit 0 \
        --output "$csv" </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
    waited=0
    while [ $waited -lt 300 ] && ! { [ -e "$csv" ] && [ "$(wc -l <"$csv")" -ge 3 ]; }; do
        sleep 0.1
        waited=$((waited + 1))
    done
    kill -"$1" $pid
    wait $pid
    code=$?
    exits 130 && err_has 'stopping after this step' && err_has 'interrupted: ' && out_has 'rows'
    verdict "SIG$1: exit status 130, says how much there is" $?
    rows "SIG$1: a whole file of what was measured" "$csv" "len(r) >= 2 and h == '$long' and r[-1]['winner'] == 'cpu'"
}
if [ -n "${SVMX_TEST_RUNNER:-}" ]; then
    skip "Ctrl-C" "the command runs in an emulator" 4
else
    interrupt TERM
    interrupt INT
fi
unset SUPERVM_SIM_MODEL

echo "# OpenCL on the CPU"
if [ -r $pocl ] && [ -e "$backends/opencl.so" ]; then
    OCL_ICD_VENDORS=$pocl
    export OCL_ICD_VENDORS
    call threshold-scan --backend opencl,stop --op vec_add_f32,sigmoid_f32 --sizes 16,1K --limit 600 --output "$csv"
    exits 0 && out_has 'Crossovers: ' && out_has '; cold '
    verdict "SIMD and OpenCL" $?
    rows "SIMD and OpenCL: the rows, labelled as CPU devices" "$csv" "h == '$long' and len(r) == 4 and $good
        and [(x['op'], x['size']) for x in r] == [(o, s) for o in ('vec_add_f32', 'sigmoid_f32') for s in ('16', '1024')]
        and all(x['backend'] == 'opencl' and '[CPU DEVICE]' in x['device'] for x in r)"
    call threshold-scan --device opencl --op sigmoid_f32 --sizes 1K --samples 1 --output "$csv" --quiet
    exits 0 && [ "$(head -n 1 "$csv")" = "$short" ] && [ "$(wc -l <"$csv")" -eq 2 ]
    verdict "SIMD and OpenCL: one sample" $?
    call explain sigmoid_f32 1K --device opencl
    exits 0 && out_has '[CPU DEVICE]'
    verdict "a CPU behind OpenCL is labelled: explain" $?
    call run sigmoid_f32 --size 1K --repeat 1 --device opencl
    exits 0 && out_matches '^  device +opencl: .*\[CPU DEVICE\]$'
    verdict "a CPU behind OpenCL is labelled: run" $?
    call devices --device opencl
    exits 0 && out_has 'CPU DEVICE: a CPU behind a driver, no GPU'
    verdict "a CPU behind OpenCL is labelled: devices" $?
    "$source/scripts/run-threshold-scan.sh" --svmx "$SVMX" --output "$csv" --quick -- --op vec_add_f32,sigmoid_f32 --sizes 1K --quiet >"$work/out" 2>"$work/err"
    code=$? called=run-threshold-scan.sh
    exits 0 && out_has 'threshold-scan: opencl'
    verdict "run-threshold-scan.sh: every backend that is there" $?
    rows "run-threshold-scan.sh: one file" "$csv" "h == '$long' and {'opencl'} == {x['backend'] for x in r} and len(r) == 2"
    OCL_ICD_VENDORS=/no/drivers
else
    skip "OpenCL on the CPU" "no PoCL (package pocl-opencl-icd), or no opencl backend" 8
fi

echo "# Level Zero"
driver=${SVMX_TEST_BUILDDIR:-/nonexistent}/tests/drivers/ze_cpu/ze_cpu.so
if [ -e "$backends/levelzero.so" ] && [ -e "$driver" ] && [ -r $pocl ]; then
    ZE_ENABLE_ALT_DRIVERS=$driver ZE_CPU_REPORT=$work/report
    export ZE_ENABLE_ALT_DRIVERS ZE_CPU_REPORT
    call threshold-scan --backend levelzero,stop --op vec_add_f32 --sizes 1K,4K --output "$csv"
    exits 0 && out_has '[TEST DEVICE]'
    verdict "SIMD and Level Zero's test driver" $?
    rows "SIMD and Level Zero's test driver: labelled as such" "$csv" "len(r) >= 2 and $good
        and all(x['backend'] == 'levelzero' and '[TEST DEVICE]' in x['device'] for x in r)"
    [ ! -s "$ZE_CPU_REPORT" ] || { sed 's/^/        report: /' "$ZE_CPU_REPORT" && false; }
    verdict "SIMD and Level Zero's test driver: no misuse, no leak" $?
    unset ZE_ENABLE_ALT_DRIVERS ZE_CPU_REPORT
else
    skip "Level Zero" "no levelzero backend, or no test driver for it" 3
fi

echo "# the script"
"$source/scripts/run-threshold-scan.sh" --help >"$work/out" 2>"$work/err"
code=$? called='run-threshold-scan.sh --help'
exits 0 && out_has '--quick' && err_empty
verdict "run-threshold-scan.sh --help" $?
"$source/scripts/run-threshold-scan.sh" --fast >"$work/out" 2>"$work/err"
code=$? called='run-threshold-scan.sh --fast'
exits 1 && err_has "unknown argument '--fast'"
verdict "run-threshold-scan.sh: an unknown argument" $?
"$source/scripts/run-threshold-scan.sh" --svmx "$work/nosuch" >"$work/out" 2>"$work/err"
code=$? called='run-threshold-scan.sh --svmx nosuch'
exits 1 && err_has "there is no $work/nosuch"
verdict "run-threshold-scan.sh: no such command" $?
SUPERVM_BACKENDS=none "$source/scripts/run-threshold-scan.sh" --svmx "$SVMX" --output "$csv" -- --op sum_f32 --sizes 64 \
    --cpu scalar >"$work/out" 2>"$work/err"
code=$? called='run-threshold-scan.sh without a GPU'
exits 0 && out_has 'the CPU alone' && [ "$(wc -l <"$csv")" -eq 2 ]
verdict "run-threshold-scan.sh without a GPU" $?
cat >"$work/three" <<'EOF'
#!/bin/sh
# svmx with three backends, the first of which cannot be opened: threshold-scan --output FILE [--append] --backend NAME,stop
case "$*" in
devices) printf '0 one x\n1 two x\n2 three x\n' ;;
*one,stop*) exit 3 ;;
*--append*) echo "more: $*" >>"$3" ;;
*) echo "begun: $*" >"$3" ;;
esac
EOF
chmod +x "$work/three"
echo older >"$csv"
env -u SUPERVM_BACKENDS "$source/scripts/run-threshold-scan.sh" --svmx "$work/three" --output "$csv" >"$work/out" 2>"$work/err"
code=$? called='run-threshold-scan.sh with a backend that fails'
exits 3 && [ "$(sed 's/:.*-backend//' "$csv" | tr '\n' ' ')" = "begun two,stop more three,stop " ]
verdict "run-threshold-scan.sh: after a backend that fails the next one begins the file" $?

finish
