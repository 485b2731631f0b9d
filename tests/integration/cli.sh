#!/bin/sh
# cli.sh [FOLDER]: the `svmx` command from outside: output, exit status, and what it says when something is wrong.
#
# $SVMX (or SVMX_TEST_COMMAND) is the command; FOLDER is for its files, a temporary one otherwise. SUPERVM_BACKEND_PATH says
# where plugins are, SVMX_TEST_DRIVER_PATH where the check-only ones are. What cannot run here is counted as skipped.
#
# SPDX-License-Identifier: Apache-2.0
set -u
unset XDG_CACHE_HOME SUPERVM_BACKENDS SUPERVM_VARIANT SUPERVM_THREADS SUPERVM_QUEUE_DEPTH SUPERVM_MIN_BUCKET SUPERVM_POOL_BYTES \
    SUPERVM_MAX_PIPELINES SUPERVM_TIMEOUT_MS SUPERVM_TIMEOUT_MIN_MS SUPERVM_DEBUG SUPERVM_VERIFY SUPERVM_LOAD_WARNING SUPERVM_LOAD_CRITICAL SUPERVM_STATS_DIR SUPERVM_WINDOW SUPERVM_PATIENCE_MS SUPERVM_GATHER_US SUPERVM_LOG SUPERVM_CACHE_DIR SUPERVM_CACHE_BYTES SUPERVM_PROFILE SUPERVM_SIM_MODEL SUPERVM_ISOLATE SUPERVM_DRIVER_PROBE
if [ $# -gt 0 ]; then
    work=$1
    mkdir -p "$work"
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
chmod 755 "$work"
HOME=$work/home # where nobody has a cache or a profile; not /nonexistent, which root would make
export HOME
. "$(dirname "$0")/command.sh"
: >"$work/none"
input=$work/none

empty_sha256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
abc_sha256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
commands='devices ops run explain bandwidth replay trace stats serve top tune threshold-scan conform cache profile config version help'
operations='vec_add_f32 vec_mul_f32 sum_f32 dot_f32 sha256 keccak256 merkle_root_sha256 merkle_tree_keccak256 grid_rotate_u8 eigh_f64'

call version
if ! exits 0; then
    verdict "the command runs" 1
    finish
fi
find_simd

echo "# help and usage"
call
exits 2 && err_has 'Usage: svmx COMMAND' && out_empty
verdict "no command: help on standard error, exit status 2" $?
for option in --help -h help; do
    call $option
    exits 0 && err_empty && out_has 'Usage: svmx COMMAND' && out_has 'Exit status: 0 done'
    verdict "svmx $option" $?
done
for command in $commands; do
    call "$command" --help
    exits 0 && err_empty && out_has "Usage: svmx $command" && out_has --json && out_has --help
    verdict "svmx $command --help" $?
    cp "$work/out" "$work/help"
    call help "$command"
    exits 0 && cmp -s "$work/help" "$work/out"
    verdict "svmx help $command is the same" $?
done
call help --json
json "help --json lists the commands" "[c['name'] for c in d['commands']] == '$commands'.split()"
call help run --json
json "help run --json has options with defaults" \
    "[o['default'] for o in d['commands'][0]['options'] if o['name'] == 'size'] == ['64K'] and len(d['commands']) == 1"
manual=${SVMX_TEST_SRCDIR:-$(dirname "$0")/../..}/man
call help --json
json "svmx.1 has every command and every option" "(lambda page: all('.Cm ' + c['name'] in page
    and all('Fl Fl ' + o['name'] in page for o in c['options']) for c in d['commands']))(open('$manual/svmx.1').read())"
for command in devices 'explain sha256 1000' 'stats --batches 2'; do
    # shellcheck disable=SC2086
    call $command --json
    json "svmx.1 names what $command --json has, and nothing else" "(lambda keys, re: keys(keys, d)
    == set(re.findall('[a-z_0-9]+', ' '.join(re.findall('^[.]Va (.*)', re.search('[.]It Cm ${command%% *}\\n([.]Va .*?)\\n[.]It',
    open('$manual/svmx.1').read(), re.S).group(1), re.M)))))(lambda k, v: set(v).union(*[k(k, x) for x in v.values()])
    if isinstance(v, dict) else set().union(*[k(k, x) for x in v]) if isinstance(v, list) else set(), __import__('re'))"
done
call config --json
json "svmx.7 has every variable" "(lambda page: all('.It Ev ' + s['variable'] in page for s in d['settings']))(
    open('$manual/svmx.7').read())"
if command -v mandoc >/dev/null; then
    called="mandoc -Tlint"
    mandoc -Tlint -W warning "$manual/svmx.1" "$manual/svmx.3" "$manual/svmx.7" "$manual/svmx-plugin.7" \
        "$manual/svmx-metrics.3" >"$work/out" 2>"$work/err"
    code=$?
    exits 0 && out_empty
    verdict "the manual is well-formed" $?
else
    skip "the manual is well-formed" "no mandoc"
fi
refused 2 "unknown command 'devics' (did you mean devices?); see svmx --help" devics
refused 2 "unknown command 'qqqqqq'; see svmx --help" qqqqqq
refused 2 "unknown command 'conf" help conf
refused 2 "unknown option '--jsn' (did you mean --json?)" ops --jsn
refused 2 "unknown option '--frobnicate'; see svmx ops --help" ops --frobnicate=1
refused 2 "unknown option '-z'" ops -z
refused 2 "unknown option '--threads'" ops --threads 1
refused 2 "--json takes no value" ops --json=yes
refused 2 "'b' is one argument too many" ops sha256 b
refused 2 "OPERATION is missing" run
refused 2 "--size needs a value: --size N" run sha256 --size
refused 2 "--size: '12x' is no number" run sha256 --size 12x
refused 2 "--size: '' is no number" run sha256 --size=
refused 2 "--size: '-1' is no number" run sha256 --size -1
refused 2 "--size: '18446744073709551616' is no number, or too large" run sha256 --size 18446744073709551616
refused 2 "--size: '17179869184G' is no number, or too large" run sha256 --size 17179869184G
refused 2 "--threads: 0 is out of range, 1 to 1024" run sha256 --threads=0
refused 2 "--tasks: 0 is out of range" run sha256 --tasks 0
refused 2 "--device and --backend exclude each other" devices --device simd --backend simd
for item in '' a,b +a -a ^a; do refused 2 "--device: '$item' is not NAME or NAME:DEVICE" devices --device "$item"; done
call ops -- --json
exits 2 && err_has "--json"
verdict "-- ends the options" $?

echo "# version"
call version
exits 0 && err_empty && grep -Eq '^svmx [0-9]+\.[0-9]+\.[0-9]+ \(library [0-9]+\.[0-9]+\.[0-9]+\)$' "$work/out"
verdict "svmx version" $?
cp "$work/out" "$work/version"
for option in --version -V; do
    call $option
    exits 0 && cmp -s "$work/out" "$work/version"
    verdict "svmx $option is the same" $?
done
call version --json
json "version --json" "sorted(d) == ['command', 'library'] and d['command'] == d['library']"

echo "# devices"
call devices
exits 0 && out_has 'in order of preference' && out_has BACKEND && out_has VERDICT && out_has 'reference code'
verdict "svmx devices: devices and load report" $?
exits 0 && [ "$(awk 'length > 120' "$work/out" | grep -vc /)" -eq 0 ] && ! grep -q ' $' "$work/out"
verdict "svmx devices: lines are short (but for paths) and do not end in blanks" $?
call devices --json
json "devices --json: reference code last, usable" "d['devices'][-1]['backend'] == 'reference'
    and all(v['usable'] for v in d['devices']) and [v['index'] for v in d['devices']] == list(range(len(d['devices'])))
    and set(d['devices'][0]) == set('index backend name kind variant threads driver pci memory_bytes max_alloc_bytes '
    'host_memory shares_cores test modelled usable health strikes quarantined health_reason device_ns backlog_ns '
    'clock uuid max_group local_bytes timer_ns fp64 fp32_reported fp64_reported proved refused operations'.split())
    and all(v['health'] == 'healthy' and v['strikes'] == 0 for v in d['devices'])"
json "devices --json: the reference code has all operations by definition" "d['devices'][-1]['refused'] == 0
    and all(sorted(o) == ['fitness', 'name', 'reason'] and o['fitness'] == 'proved' and o['reason'] == ''
    for o in d['devices'][-1]['operations']) and d['devices'][-1]['proved'] == len(d['devices'][-1]['operations']) > 40"
# of the kernels, so that a profile of others is not believed
json "devices --json: versions of plugins with kernels have a number of their sources" "all(b['version'].split('+')[1].isdigit()
    for b in d['backends'] if b['name'] in ('simd', 'opencl', 'levelzero') and b['verdict'] == 'loaded')"
json "devices --json: load report" "all(set(b) == set('name verdict status reason version licence path'.split())
    and b['verdict'] in ('loaded', 'skipped', 'refused') for b in d['backends'])
    and any(b['name'] == 'reference' and b['verdict'] == 'loaded' for b in d['backends'])"
for option in --device=none --device=reference --backend=none; do
    call devices $option --json
    json "devices $option: the reference code alone" "[v['backend'] for v in d['devices']] == ['reference']"
done
refused 3 "cannot open the executor: --backend: item 1: no backend 'nosuchbackend'; known: " devices --backend nosuchbackend
err_has nosuchbackend && err_has SVMX_ERR_UNKNOWN
verdict "an unknown backend is named, with its status" $?
refused 3 "cannot open the executor: --backend: item 2 at character 6, " devices --backend 'simd,,simd'
refused 3 "cannot open the executor: --device: no backend 'nosuchbackend'; known: " run sha256 --device nosuchbackend
refused 3 "cannot open the executor: --device: a device is missing after ':'" run sha256 --device simd:
refused 3 "cannot open the executor: --policy: 'never': give auto, cpu, " run sha256 --policy never
refused 3 "cannot open the executor: --policy: 'auto:9..5': LOW is more than HIGH" run sha256 --policy auto:9..5
setting=SUPERVM_POLICY=never
refused 3 "cannot open the executor: SUPERVM_POLICY: 'never': give auto, cpu, " run sha256
setting=SUPERVM_BACKENDS=nosuchbackend
refused 3 "cannot open the executor: SUPERVM_BACKENDS: item 1: no backend 'nosuchbackend'" run sha256
setting=
if [ $simd ]; then
    refused 3 "simd:gpu" devices --device simd:gpu
    call devices --device simd --threads 1 --variant scalar --json
    json "devices --device simd --threads 1 --variant scalar" "d['devices'][0]['backend'] == 'simd'
    and d['devices'][0]['threads'] == 1 and d['devices'][0]['variant'] == 'scalar' and len(d['devices']) == 2"
    refused 3 "no variant" devices --device simd --variant nosuchvariant
    call devices --device simd --json
    json "devices: nothing was tried yet" "d['devices'][0]['proved'] + d['devices'][0]['refused'] == 0
    and all(o['fitness'] == 'untried' for o in d['devices'][0]['operations'])"
    call devices --device simd --probe --json
    json "devices --probe: everything was tried" "d['devices'][0]['refused'] == 0
    and all(o['fitness'] == 'proved' for o in d['devices'][0]['operations'])"
    call devices --device simd --probe --verbose
    exits 0 && grep -Eq '^ +operations: [0-9]+ proved, 0 refused, 0 not tried$' "$work/out"
    verdict "devices --probe --verbose: the same as text" $?
else
    skip "simd by name, threads, variant, tried" "no simd backend" 6
fi
mkdir -p "$work/plugins"
chmod 755 "$work/plugins"
echo "no plugin at all" >"$work/plugins/broken.so"
chmod 644 "$work/plugins/broken.so"
setting=SUPERVM_BACKEND_PATH=$work/plugins
call devices --json
json "devices: a text file is refused, with a reason" "[(b['verdict'], b['status'], bool(b['reason']))
    for b in d['backends'] if b['name'] == 'broken'] == [('refused', 'SVMX_ERR_ABI', True)]"
call devices
exits 0 && grep -q '^broken  *refused ' "$work/out" && out_has "$work/plugins/broken.so"
verdict "devices: the same as text" $?
if [ -r "${SUPERVM_BACKEND_PATH:-}/opencl.so" ] && grep -q 'libOpenCL\.so\.1' "$SUPERVM_BACKEND_PATH/opencl.so"; then
    sed 's/libOpenCL\.so\.1/libOpenNN.so.1/' "$SUPERVM_BACKEND_PATH/opencl.so" >"$work/plugins/opencl.so"
    chmod 644 "$work/plugins/opencl.so"
    call devices --json
    json "devices: a plugin whose library is not installed is skipped, and the library is named" "[(b['verdict'], b['status'],
        'libOpenNN.so.1' in b['reason']) for b in d['backends'] if b['name'] == 'opencl'] == [('skipped', 'SVMX_ERR_UNSUPPORTED', True)]"
    ! err_has opencl
    verdict "devices: that is no reason to warn" $?
    rm "$work/plugins/opencl.so"
else
    skip "devices: a plugin whose library is not installed" "no opencl backend" 2
fi
setting=

echo "# ops"
call ops
ok=0
exits 0 && err_empty || ok=1
for operation in $operations; do grep -q "^$operation " "$work/out" || ok=1; done
verdict "svmx ops lists the operations" $ok
call ops --json
json "ops --json" "[o['name'] for o in d['operations'] if o['name'] in '$operations'.split()] == '$operations'.split()
    and all(set(o) == set('name id summary unit stdin params'.split()) for o in d['operations'])
    and {o['name']: o['stdin'] for o in d['operations']}['vec_add_f32'] is False"
call ops keccak256
exits 0 && err_empty && out_has 'keccak256: ' && grep -Eq '^0 +digests +out +u8 +array +32 to an item$' "$work/out" &&
    grep -Eq '^1 +data +in +u8 +ragged ' "$work/out" && grep -Eq '^2 +offsets +in +u64 +offsets ' "$work/out" &&
    out_has 'svmx run --stdin'
verdict "svmx ops keccak256: the signature" $?
call ops vec_add_f32
exits 0 && grep -Eq '^2 +b +in +f32 +array +1 to an item$' "$work/out" && ! out_has stdin
verdict "svmx ops vec_add_f32: the signature" $?
call ops sha256 --json
json "ops sha256 --json" "[(p['name'], p['direction'], p['type'], p['shape'], p['record'])
    for p in d['operations'][0]['params']][0] == ('digests', 'out', 'u8', 'array', 32) and len(d['operations']) == 1
    and d['operations'][0]['stdin'] is True"
refused 2 "did you mean keccak256?" ops keccak25
refused 2 "see svmx ops" ops nosuchoperation
setting=SUPERVM_BACKENDS=nosuchbackend
call ops
exits 0
verdict "ops needs no backend: a bad SUPERVM_BACKENDS does not matter" $?
setting=

echo "# config"
call config
exits 0 && err_empty && grep -Eq '^queue_depth +SUPERVM_QUEUE_DEPTH +default +256$' "$work/out" &&
    grep -Eq '^backends +SUPERVM_BACKENDS +default +""$' "$work/out"
verdict "svmx config: settings with their defaults" $?
call config --json
json "config --json: every variable" "[s['variable'] for s in d['settings']] == ['SUPERVM_' + v for v in
    'BACKENDS BACKEND_PATH VARIANT THREADS QUEUE_DEPTH MIN_BUCKET POOL_BYTES MAX_PIPELINES TIMEOUT_MS TIMEOUT_MIN_MS LOG CACHE_DIR CACHE_BYTES '
    'POLICY LEARN PROBE_PERCENT RECEIPTS PROFILE DEBUG ISOLATE DRIVER_PROBE VERIFY LOAD_WARNING LOAD_CRITICAL STATS_DIR WINDOW PATIENCE_MS GATHER_US SIM_MODEL'.split()]
    and all(set(s) == set('name variable value source default help'.split()) and s['help'] for s in d['settings'])"
setting=SUPERVM_THREADS=1
call config
exits 0 && grep -Eq '^threads +SUPERVM_THREADS +environment +1$' "$work/out" && out_has '  default: auto'
verdict "config: a variable of the environment, and the default below it" $?
call config --threads 2 --json
json "config: an option wins over the environment" "[(s['value'], s['source'], s['default']) for s in d['settings']
    if s['name'] == 'threads'] == [('2', 'options', 'auto')]"
setting=SUPERVM_QUEUE_DEPTH=lots
refused 3 SUPERVM_QUEUE_DEPTH config
setting=SUPERVM_LOG=shout
refused 3 SUPERVM_LOG run sha256
setting=SUPERVM_CACHE_DIR=here
refused 3 "SUPERVM_CACHE_DIR is 'here': give an absolute path, or off" config
setting=

echo "# run, made-up data"
for operation in $operations; do
    call run "$operation" --size 1000 --tasks 3 --repeat 2 --seed 7 --device none -q
    exits 0 && err_empty && grep -Eq '^[0-9a-f]{64}$' "$work/out" && [ "$(wc -l <"$work/out")" -eq 1 ]
    verdict "run $operation -q on the reference code: a hash" $?
    reference=$(cat "$work/out")
    call run "$operation" --size 1000 --tasks 3 --repeat 1 --seed 7 --quiet
    exits 0 && out_is "$reference"
    verdict "run $operation: the same hash on the first device" $?
    call run "$operation" --size 1000 --tasks 3 --repeat 1 --seed 8 -q
    exits 0 && ! out_is "$reference"
    verdict "run $operation: another hash for another seed" $?
    if [ $simd ]; then
        call run "$operation" --size 1000 --tasks 3 --seed 7 -q --device simd --variant scalar --threads 1
        exits 0 && out_is "$reference"
        verdict "run $operation: the same hash with scalar code on one thread" $?
    else
        skip "run $operation with scalar code" "no simd backend"
    fi
done
# Computed by a program of its own from the recipe of made-up data: data and sums must be the same on every machine.
call run vec_add_f32 --size 1000 --tasks 3 --seed 7 -q
exits 0 && out_is aeca7a2c53beaaeb1024aca537ae01fa5a67aae15a54bbef9959f36c0352057f
verdict "run vec_add_f32: the known hash" $?
call run keccak256 --size 0 -q
exits 0 && out_is $empty_sha256
verdict "run keccak256 --size 0: the hash of nothing" $?
call run sum_f32 --size 2K --tasks=3 --seed 1K
ok=0
for line in device bucket launches 'first run' median rate 'fallback +none' 'sha256 +[0-9a-f]{64}'; do
    [ "$(grep -Ec "^  $line( |\$)" "$work/out")" -eq 1 ] || ok=1
done
exits 0 && err_empty && out_has 'sum_f32: 3 tasks, 2,048 elements each, seed 1024' && [ $ok -eq 0 ]
verdict "run sum_f32: text" $?
call run sum_f32 --size 2K --tasks 3 --repeat 4 --device none --json
json "run --json: what was asked for" "d['operation'] == 'sum_f32' and d['size'] == 2048 and d['tasks'] == 3
    and d['repeat'] == 4 and d['seed'] == 1 and d['unit'] == 'element'"
json "run --json: times and bytes" "0 < d['min_ns'] <= d['median_ns'] <= d['max_ns'] and d['first_ns'] > 0
    and d['units_per_s'] > 0 and d['bytes_per_s'] > 0 and d['bytes_in'] == 3 * 8192 and d['bytes_out'] == 12"
json "run --json: who answered" "len(d['parts']) == d['launches'] == 1 and d['parts'][0]['backend'] == 'reference'
    and d['parts'][0]['tasks'] == 3 and d['parts'][0]['bucket'] >= 1 and d['fallbacks'] == 0
    and d['tries'] == 0 and d['fallback_reason'] == '' and len(d['sha256']) == 64"
refused 2 "svmx: no operation is called 'sha265'; did you mean sha256?" run sha265
[ "$(wc -c <"$work/err")" -lt 100 ]
verdict "run sha265: the one that is near, not all" $?
refused 2 "svmx: no operation is called 'nosuchthing'; see svmx ops" run nosuchthing
refused 2 "see svmx ops" run nosuchoperation
refused 2 "--size: 9223372036854775808 messages are too many for sha256" run sha256 --size 8589934592G

echo "# a full disk"
called="... > /dev/full"
if [ -c /dev/full ]; then
    for arguments in 'run sha256 --stdin' 'ops' 'devices --json'; do
        # shellcheck disable=SC2086
        echo 616263 | svmx $arguments >/dev/full 2>"$work/err"
        code=$?
        exits 4 && err_has 'cannot write to standard output'
        verdict "svmx $arguments on a full disk: exit status 4" $?
    done
else
    skip "a full disk" "no /dev/full" 3
fi

echo "# stats"
call stats --batches 3
exits 0 && err_empty && grep -Eq '^work +batches +3$' "$work/out" && grep -Eq '^ +tasks +48$' "$work/out" &&
    grep -Eq '^pools +hits ' "$work/out" && grep -Eq '^sha256 +[0-9,]+ +[1-3]$' "$work/out" && out_has 'reference code'
verdict "svmx stats: counters, devices, sizes" $?
call stats --batches 5 --op vec_add_f32 --size 1000 --device none --json
json "stats --json: what was asked for is what was counted" "d['work']['batches'] == 5 and d['work']['tasks'] == 20
    and d['work']['launches'] == 5 and d['work']['fallbacks'] == 0 and d['pipelines']['misses'] >= 1
    and sorted(d) == 'cache choices devices fallbacks layouts operations pipelines pools work'.split()
    and [(o['name'], o['sizes']) for o in d['operations']] == [('vec_add_f32', [{'units': 4096, 'parts': 5}])]
    and sum(v['tasks'] for v in d['devices']) == 20 and d['devices'][0]['bytes_in'] == 160000"
call stats --batches 2 --op vec_add_f32 --size 0 --json
json "stats: tasks of nothing count as one unit" "d['operations'][0]['sizes'] == [{'units': 1, 'parts': 2}]"
refused 2 "did you mean sha256?" stats --op sha265
refused 2 "--size: 9223372036854775808 messages are too many for sha256" stats --op sha256 --size 8589934592G

echo "# tune"
feed '# sizes\nsha256 1000 90\nsha256 20000 10\n\nkeccak256\t300\nsum_f32 16384 5\r\ndot_f32 1M'
for source in - "$work/in"; do
    call tune "$source"
    exits 0 && err_empty && grep -Eq '^sha256 +100 +1,024 +0.0 %$' "$work/out" &&
        [ "$(tail -n 1 "$work/out")" = 'SUPERVM_MIN_BUCKET=16384,dot_f32=1048576,sha256=1024,keccak256=512' ]
    verdict "svmx tune $source: the known proposal" $?
done
setting=$(tail -n 1 "$work/out")
call config --json
json "the proposal is a setting" "[s['value'] for s in d['settings'] if s['name'] == 'min_bucket'] ==
    ['16384,dot_f32=1048576,sha256=1024,keccak256=512']"
call run sha256 --size 100 --device none --json
json "the proposal counts" "d['parts'][0]['bucket'] == 1024"
setting=SUPERVM_MIN_BUCKET=64,sha265=1
refused 3 "SUPERVM_MIN_BUCKET: no operation is called 'sha265'" config
setting=
feed 'sha256 256 100\nsha256 4096 100\nsum_f32 1\nsum_f32 512 200\n'
call tune - --json
json "tune --json: at most a tenth is added, at least 256" "[(o['name'], o['launches'], o['min_bucket'],
    o['added_permille']) for o in d['operations']] == [('sum_f32', 201, 512, 5), ('sha256', 200, 512, 56)]
    and d['setting'] == '16384,sum_f32=512,sha256=512'"
! out_has '*'
verdict "tune: nothing is marked where a tenth is kept" $?
feed 'sum_f32 8 10\nsha256 1000\n'
call tune -
exits 0 && out_matches '^sum_f32 +10 +256 +96\.9 % \*$' && out_matches '^sha256 .* 0\.0 %$' &&
    out_has '* more than 10 %, because no minimum below 256 is proposed' && [ "$(tail -n 1 "$work/out" | cut -c 1-18)" = SUPERVM_MIN_BUCKET ]
verdict "tune: what the floor of 256 adds is marked" $?
call tune --batches 4
exits 0 && err_empty && out_has SUPERVM_MIN_BUCKET=16384 && grep -Eq '^keccak256 +4 ' "$work/out"
verdict "svmx tune without a file: a load of its own" $?
feed ''
call tune -
exits 0 && out_has SUPERVM_MIN_BUCKET=16384
verdict "no line, nothing proposed" $?
# line TEXT FORMAT: the second line is bad.
line() {
    feed "sha256 1\\n$2\\n"
    refused 1 "standard input, line 2: $1" tune -
}
line "no operation is called 'sha265'; see svmx ops" 'sha265 1'
line 'the size is missing' sha256
line "size '-1' is no number" 'sha256 -1'
line "count 'x' is no number" 'sha256 1 x'
line 'more than OPERATION SIZE [COUNT]' 'sha256 1 1 1'
line 'the counts of sha256 are too large' 'sha256 1 18446744073709551615'
input=$work/none
refused 1 "cannot open $work/nosuchfile: No such file" tune "$work/nosuchfile"
refused 2 "--size is for a load of our own and does not go with a file" tune - --size 1

echo "# conform"
refused 2 "PLUGIN is missing" conform
refused 2 "is neither a file NAME.so nor the name of a backend" conform simd,none
refused 2 "--device: 'a,b' is not the number or the name of one device" conform simd --device a,b
refused 3 "cannot open the plugin './nosuchplugin.so': No such file" conform ./nosuchplugin.so
refused 3 "cannot open the executor: PLUGIN: no backend 'nosuchbackend'; known: " conform nosuchbackend
refused 3 "cannot open the executor: " conform "$work/plugins/broken.so"
if [ $simd ]; then
    call conform simd --size 1000 # all operations; in all sizes they are the contract suite's
    exits 0 && err_empty && grep -Eq '^sha256 +exact +[1-9][0-9]* +[1-9]' "$work/out" && out_has ' 0 wrong, 0 refused, ' &&
        [ "$(tail -n 1 "$work/out")" = 'simd conforms' ]
    verdict "conform simd: exact, it conforms" $?
    call conform simd --op vec_add_f32
    exits 0 && err_empty && grep -Eq '^vec_add_f32 +exact +[1-9]' "$work/out" && out_has 'simd conforms'
    verdict "conform simd: an operation in all sizes" $?
    refused 2 "did you mean sha256?" conform simd --op sha265
    refused 3 "cannot open the executor: --device demands simd:7, but no device of simd is that" conform simd --device 7
    call conform "$SUPERVM_BACKEND_PATH/../backends/simd.so" --op sum_f32 --size 1000 --json
    json "conform FILE --op --size --json" "d['conforms'] and d['plugin'].startswith('/') and '..' not in d['plugin']
    and [(o['name'], o['verdict'], o['batches'], o['tasks'], o['reason']) for v in d['devices'] for o in v['operations']]
    == [('sum_f32', 'exact', 6, 10, '')] and d['devices'][0]['exact'] == 1 and d['devices'][0]['wrong'] == 0"
else
    skip "conform simd" "no simd backend" 5
fi

call devices
if out_has 'no Level Zero driver ('; then
    out_has 'install the Level Zero driver of your GPU (docs/LEVEL-ZERO.md)'
    verdict "a machine without a Level Zero driver: what to install, whatever the distribution calls it" $?
else
    skip "no Level Zero driver" "there is one, or no levelzero backend"
fi

echo "# devices that fail"
if [ -e "$drivers/check.so" ]; then
    setting=SUPERVM_BACKEND_PATH=$drivers
    call devices --device check:plain
    exits 0 && out_has 'TEST DEVICE' && out_has MODELLED && grep -Eq '^0 +check +modelled ' "$work/out"
    verdict "a test device is labelled: devices" $?
    call devices --device check:plain --json
    json "a test device is labelled: devices --json" "d['devices'][0]['test'] and d['devices'][0]['modelled']
    and d['devices'][0]['kind'] == 'modelled' and not d['devices'][0]['host_memory']"
    call devices --device first_abi --probe --json
    json "a plugin of ABI 1.0: what it could not say is unknown, what it does not have is refused" "[
    d['devices'][0][k] for k in ('max_group', 'timer_ns', 'local_bytes', 'fp32_reported', 'uuid')] == [0, 0, 0, None, '']
    and {o['name']: (o['fitness'], o['reason']) for o in d['devices'][0]['operations']}['vec_add_f32'] == ('proved', '')
    and {o['name']: (o['fitness'], o['reason']) for o in d['devices'][0]['operations']}['sha256']
    == ('unsupported', 'the backend does not have it') and d['devices'][0]['proved'] == 1"
    call devices --device first_abi --probe
    exits 0 && grep -Eq '^ +refused: [a-z0-9_]+, .* and [0-9]+ more \(--verbose says why\)$' "$work/out" &&
        [ "$(awk 'length > 120' "$work/out" | grep -vc /)" -eq 0 ]
    verdict "refused operations: in short" $?
    call devices --device first_abi --probe --verbose
    exits 0 && grep -Eq '^ +sha256, unsupported: the backend does not have it$' "$work/out"
    verdict "refused operations: each with its reason" $?
    call devices --device 'check:submit@1=lost' --probe
    exits 1 && err_has 'was given up while it was probed: ' && out_has 'GIVEN UP, lost, 1 strike: ' &&
        out_matches '^ +[0-9]+ operations not tried: the device was given up before$'
    verdict "a device that is lost while it is probed: said, and how many operations were not tried; exit status 1" $?
    call devices --device check:plain --probe
    exits 0 && err_empty && ! out_has 'not tried'
    verdict "a device that is probed to the end: nothing is left untried" $?
    call run sha256 --size 100 --device check:plain
    exits 0 && grep -Eq '^  device +check: .*\[MODELLED\] \[TEST DEVICE\]$' "$work/out"
    verdict "a test device is labelled: run" $?
    call run sha256 --size 100 --repeat 1 --backend 'check:submit@all=backend,stop'
    exits 0 && grep -Eq '^  device +reference' "$work/out" && grep -Eq '^  fallback ' "$work/out" &&
        ! grep -Eq '^  fallback +none' "$work/out"
    verdict "a device that fails: the reference code answers, and the reason is shown" $?
    call run sha256 --size 100 --repeat 1 --backend 'check:submit@all=backend,stop' -q
    hash=$(cat "$work/out")
    setting=
    call run sha256 --size 100 -q
    exits 0 && out_is "$hash"
    verdict "a device that fails: the hash is the same" $?
    setting=SUPERVM_BACKEND_PATH=$drivers
    call run sha256 --size 100 --repeat 1 --device 'check:submit@all=backend'
    exits 4 && err_has '--device check:submit@all=backend did not answer' && out_empty
    verdict "a device that was demanded and fails: exit status 4" $?
    feed '616263\n'
    call run sha256 --stdin --device 'check:submit@all=backend'
    exits 4 && err_has 'did not answer' && out_empty
    verdict "the same with --stdin" $?
    call run sha256 --stdin --backend 'check:submit@all=backend,stop'
    exits 0 && out_is $abc_sha256 && err_has 'note: another device had to answer'
    verdict "--stdin: a note on standard error, and the result" $?
    call stats --batches 2 --op vec_add_f32 --size 10 --backend 'check:submit@1=lost,stop'
    exits 0 && out_has 'GIVEN UP, lost, 1 strike: '
    verdict "a device that is lost: stats says so, and why" $?
    call stats --batches 2 --op vec_add_f32 --size 10 --backend 'check:submit@1=lost,stop' --json
    json "a device that is lost: stats --json" "d['devices'][0]['health'] == 'lost' and d['devices'][0]['strikes'] == 1
    and 'SVMX_ERR_DEVICE_LOST' in d['devices'][0]['health_reason'] and d['devices'][1]['health'] == 'healthy'"
    setting=
    check=$drivers/check.so
    call conform "$check" --device plain --op vec_add_f32
    exits 0 && out_has '[TEST DEVICE]' && grep -Eq '^vec_add_f32 +exact ' "$work/out" && out_has "$check conforms"
    verdict "conform: a plugin by its file, a device by its name" $?
    call conform "$check" --device 'plain*2' --op sum_f32 --json
    json "conform: a device that was named is tried alone" "d['conforms'] and len(d['devices']) == 1"
    call conform "$check" --device 'dispatch@20=bitflip' --op vec_add_f32
    exits 4 && grep -Eq '^vec_add_f32 +WRONG ' "$work/out" && out_has 'out differs from byte ' &&
        out_has '0 exact, 1 wrong, 0 refused, 0 not supported' && out_has 'check.so DOES NOT CONFORM'
    verdict "conform: a wrong bit is found" $?
    call conform "$check" --device 'dispatch@20=bitflip' --op vec_add_f32
    exits 4 && grep -Eq '^vec_add_f32 +WRONG ' "$work/out"
    verdict "conform: and found again the next time" $?
    call conform "$check" --device 'dispatch@3=bitflip' --op vec_add_f32 --size 100
    exits 4 && out_has 'size 100, example of seed 1, 1 task a batch: out differs'
    verdict "conform: and which data it was: an example" $?
    call conform "$check" --device 'dispatch@7=bitflip' --op vec_add_f32 --size 100
    exits 4 && out_has 'size 100, wild data of seed 5, 1 task a batch: out differs'
    verdict "conform: wild data of four kinds" $?
    call conform "$check" --device 'dispatch@8=bitflip' --op sha256 --size 100
    exits 4 && out_has 'size 100, example of seed 1, 5 tasks a batch: digests differs'
    verdict "conform: all of it as one batch" $?
    call conform "$check" --device 'dispatch@all=bitflip' --op vec_add_f32
    exits 4 && grep -Eq '^vec_add_f32 +refused ' "$work/out" && out_has '0 exact, 0 wrong, 1 refused'
    verdict "conform: known answers that fail are a refusal" $?
    call conform "$check" --device 'pipeline_build@all=unsupported' --op vec_add_f32
    exits 4 && grep -Eq '^vec_add_f32 +not supported ' "$work/out" && out_has ': nothing to compare' &&
        ! out_has CONFORM
    verdict "conform: a plugin that offers nothing gets no verdict, and does not pass" $?
    call conform "$check" --device 'pipeline_build@1=unsupported' --size 100
    exits 0 && out_has ' 0 wrong, 0 refused, 1 not supported'
    verdict "conform: one operation that is not offered is no fault" $?
    call conform "$check" --device 'submit@40=lost'
    exits 4 && grep -Eq '^vec_add_f32 +refused ' "$work/out" && out_has 'the device was given up: ' && out_has ' 0 wrong, '
    verdict "conform: a device that is lost is a refusal" $?
else
    skip "devices that fail" "no check plugin in SVMX_TEST_DRIVER_PATH" 21
fi

finish
