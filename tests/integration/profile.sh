#!/bin/sh
# profile.sh: `svmx profile` from outside: output, exit status, and what is left on the disk.
#
# SVMX_TEST_COMMAND is the command; tests/integration/fill_profile in SVMX_TEST_BUILDDIR makes a profile for it.
#
# SPDX-License-Identifier: Apache-2.0
set -u
build=${SVMX_TEST_BUILDDIR:?}
unset SUPERVM_CACHE_DIR SUPERVM_PROFILE
SUPERVM_BACKENDS=nosuchbackend # it loads none, so this does not matter
export SUPERVM_BACKENDS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
profile=$work/kept/profile
. "$(dirname "$0")/command.sh"
words=profile

fill() { run "$build/tests/integration/fill_profile" "$profile"; }

echo "# usage"
refused 2 'show|plot|clear is missing'
refused 2 "'list' is not show, plot or clear" list
refused 2 "is no absolute path" show --file relative
refused 2 "go with plot only" show --svg -
refused 2 "go with plot only" clear --work 64
refused 2 "do not go with clear" clear --op sha256
refused 2 "plot needs --op" plot
refused 2 "is no power of two" plot --op sha256 --work 3
refused 2 "both want standard output" plot --op sha256 --svg - --json

echo "# nothing there"
SUPERVM_PROFILE=$profile
export SUPERVM_PROFILE
call show
exits 0 && out_has "0 cells, in $profile" && err_empty
verdict "a profile that is not there is empty" $?
call show --json
json "and so in JSON" 0 "d['path'] == '$profile' and d['cells'] == [] and d['devices'] == [] and d['defect'] == ''"
refused 1 "nothing was measured yet" plot --op sha256
call clear
exits 0 && out_has "removed 0 cells, $profile"
verdict "clear has nothing to do" $?
[ ! -e "$work/kept" ]
verdict "looking makes nothing" $?
SUPERVM_PROFILE=off
for action in show clear; do
    call $action
    exits 0 && out_has "switched off (SUPERVM_PROFILE)" && err_empty
    verdict "$action says that it is off" $?
done
SUPERVM_PROFILE=$profile

echo "# show"
fill
call show
exits 0 && err_empty && out_has 'simd: Some CPU (avx512, 16 threads)' && out_has 'opencl: Some <GPU> & more (driver 1.2.3)' &&
    out_has '38 cells, in'
verdict "devices and their cells" $?
out_has 'sim: some-model (model 5) [MODELLED] [TEST DEVICE]'
verdict "a modelled device and one made for tests are labelled" $?
out_has 'opencl: Same CPU (driver 7) [CPU DEVICE]' && out_has 'simd: Some CPU (avx512, 16 threads)  '
verdict "a CPU behind a driver is labelled, and one without is not" $?
out_matches '^sha256 +0 simd +1,024 +64 +12\.5 us +11\.3 us - 15\.0 us +18 +250 ns \+ 0 ns \+ 12\.3 us$'
verdict "a cell has its size, time, spread, samples and parts" $?
! grep -q ' $' "$work/out"
verdict "no line ends in blanks" $?
call show --op vec_add_f32
exits 0 && out_has '11 cells' && ! out_matches '^sha256'
verdict "--op" $?
call show --device 1
exits 0 && ! out_matches '^sha256 +0 ' && out_matches '^sha256 +1 opencl'
verdict "--device by number" $?
call show --device 'Some <GPU>' --op sha256
exits 0 && out_has '8 cells'
verdict "--device by a part of its name" $?
refused 1 "nothing was measured of 'sha257' (did you mean sha256?)" show --op sha257
refused 1 "nothing was measured on a device 'nobody'" show --device nobody
call show --json
json "show --json" 0 "len(d['cells']) == 38 and len(d['devices']) == 4 and d['devices'][0]['threads'] == 16
    and sorted((x['name'], x['test'], x['modelled'], x['cpu_device']) for x in d['devices']) == [('Same CPU', False, False, True),
    ('Some <GPU> & more', False, False, False), ('Some CPU', False, False, False), ('some-model', True, True, False)]
    and [(c['ns'], c['work'], c['samples'], c['bytes']) for c in d['cells']
         if (c['operation'], c['device'], c['units'], c['work']) == ('sha256', 0, 1024, 65536)] == [(12538, 65536, 18, 102400)]
    and sorted(d['cells'][0]) == sorted('operation device units work bytes samples ns low_ns high_ns setup_ns transfer_ns compute_ns first_use_ns'.split())"

echo "# plot"
call plot --op sha256
exits 0 && err_empty && out_has 'sha256, 64 of work for each unit' && out_has '  A 0 simd: Some CPU' &&
    out_has 'from about 16,000 units on device 1 takes less than device 0' && out_has '1 cell with other work'
verdict "curves with the crossover" $?
! grep -q "$(printf '\033')" "$work/out" && ! LC_ALL=C grep -q '[^ -~]' "$work/out"
verdict "plain characters where the locale says so, and no colour in a file" $?
! grep -q ' $' "$work/out"
verdict "no line ends in blanks" $?
if locale -a 2>/dev/null | grep -qi '^C\.utf-\{0,1\}8$'; then
    LC_ALL=C.UTF-8
    call plot --op sha256
    LC_ALL=C
    exits 0 && out_has '●' && out_has '▲' && out_has '└'
    verdict "Unicode where the locale has it" $?
else
    skip Unicode "no locale C.UTF-8"
fi
call plot --op vec_add_f32
exits 0 && out_has 'no crossover in what was measured'
verdict "says that nothing crosses" $?
call plot --op sha256 --work 512
exits 0 && out_has '512 of work for each unit' && out_has '25 cells with other work'
verdict "--work" $?
refused 2 "with 2 of work for each unit" plot --op sha256 --work 2
call plot --op sha256 --json
json "plot --json" 0 "d['operation'] == 'sha256' and d['work_each'] == 64 and d['left_out'] == 1
    and [len(c['points']) for c in d['curves']] == [10, 8, 7]
    and len(d['crossings']) == 1 and 15000 < d['crossings'][0]['units'] < 18000
    and (d['crossings'][0]['before'], d['crossings'][0]['after']) == (0, 1)"
call plot --op sha256 --svg "$work/plot.svg"
exits 0 && out_empty && err_empty && grep -q '^<svg ' "$work/plot.svg" && grep -q '^</svg>' "$work/plot.svg" &&
    grep -q 'crossover at about 16,000 units' "$work/plot.svg" && grep -q 'Some &lt;GPU> &amp; more' "$work/plot.svg" &&
    grep -qF '[MODELLED]' "$work/plot.svg"
verdict "--svg writes a drawing" $?
call plot --op sha256 --svg -
exits 0 && cmp -s "$work/out" "$work/plot.svg"
verdict "--svg - is the same on standard output" $?
if [ -n "$python" ]; then
    "$python" -S -c 'import sys, xml.dom.minidom as x
root = x.parse(sys.argv[1]).documentElement
sys.exit(0 if root.tagName == "svg" and len(root.getElementsByTagName("text")) > 10 else 1)' "$work/plot.svg"
    verdict "it is XML" $?
else
    skip XML "no python3"
fi
refused 4 "cannot write $work/no/such.svg" plot --op sha256 --svg "$work/no/such.svg"

echo "# bad files"
cp "$profile" "$work/whole"
head -c 700 "$work/whole" >"$profile"
refused 1 "is ignored by executors: it is cut short" show
refused 1 "is ignored by executors: it is cut short" plot --op sha256
call show --json
[ $code -eq 1 ] && out_has '"defect": "it is cut short'
verdict "show --json has the defect" $?
sed 's/^cell sha256 10 6 18 12538 /cell sha256 10 6 18 nan /' "$work/whole" >"$profile"
refused 1 "'nan' is no number" show
chmod 666 "$profile"
refused 3 "others may write it" show
chmod 600 "$profile"
mkdir -m 777 "$work/open"
chmod 777 "$work/open"
refused 3 "others may write the folder" show --file "$work/open/profile"

echo "# clear"
fill
call clear
exits 0 && out_has "removed 38 cells, $profile" && [ ! -e "$profile" ]
verdict "clear removes it" $?
fill
call clear --json
json "clear --json" 0 "d == {'path': '$profile', 'removed': 38}"

printf 'my thesis\n' >"$work/thesis.txt"
refused 4 "is no profile, so it is left alone" clear --file "$work/thesis.txt"
[ "$(cat "$work/thesis.txt")" = "my thesis" ]
verdict "clear leaves what is no profile" $?

finish
