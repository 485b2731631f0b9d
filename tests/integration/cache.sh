#!/bin/sh
# cache.sh: `svmx cache` from outside: output, exit status, and what is left on the disk.
#
# SVMX_TEST_COMMAND is the command; tests/integration/fill_cache in SVMX_TEST_BUILDDIR fills a cache for it.
#
# SPDX-License-Identifier: Apache-2.0
set -u
build=${SVMX_TEST_BUILDDIR:?}
unset SUPERVM_CACHE_DIR SUPERVM_CACHE_BYTES
SUPERVM_BACKENDS=nosuchbackend # it loads none, so this does not matter
export SUPERVM_BACKENDS
work=$(mktemp -d)
trap 'chmod 700 "$work/cache" 2>/dev/null; rm -rf "$work"' EXIT
cache=$work/cache
. "$(dirname "$0")/command.sh"
words=cache

files() { find "$cache" -name "${1:-*.bin}" | wc -l; }

fill() {
    rm -rf "$cache"
    run "$build/tests/integration/fill_cache" "$cache"
}

# of OPERATION: a file that mentions it
of() { grep -laF "$1" "$cache"/*.bin | head -n 1; }

echo "# usage"
refused 2 "list|verify|clear is missing"
refused 2 "'lst' is not list, verify or clear" lst
refused 2 "'x' is one argument too many" list x
refused 2 "--dir: 'cache' is no absolute path" list --dir cache
refused 2 "--older-than: 'x' is no number" clear --older-than x
refused 2 "--older-than does not go with verify" verify --older-than 1

echo "# no cache"
call list --dir "$cache"
exits 0 && err_empty && out_has "0 files, 0 B, in $cache" && [ ! -e "$cache" ]
verdict "a folder that is not there is empty, and is not made" $?
SUPERVM_CACHE_DIR=off
export SUPERVM_CACHE_DIR
for action in list verify clear; do
    call $action
    exits 0 && err_empty && [ "$(cat "$work/out")" = 'The cache is switched off (SUPERVM_CACHE_DIR).' ]
    verdict "$action of a cache that is off" $?
    call $action --json
    json "$action --json of a cache that is off" 0 "d['folder'] == ''"
done
SUPERVM_CACHE_DIR=cache
refused 3 "cannot open the cache: SUPERVM_CACHE_DIR is 'cache': give an absolute path, or off" list
SUPERVM_CACHE_DIR=$cache

echo "# list"
fill
verdict "three records are filed" $?
call list
exits 0 && err_empty && out_matches '^OPERATION +VARIANT +SIZE +LAST USED +BACKEND +DEVICE +DRIVER$' &&
    out_matches '^sha256 +0 +5[.0-9]* KiB +20[0-9-]+ [0-9:]+ +opencl +Some "GPU" \[CPU DEVICE\] \[TEST DEVICE\] +driver 1.2.3$' &&
    out_matches '^keccak256 +3 .* Some "GPU" +driver 1.2.3$' && out_matches '^keccak256 +choice ' && out_matches "^3 files, .* in $cache\$"
verdict "list" $?
call list --json
json "list --json" 0 "d['folder'] == '$cache' and len(d['files']) == 3 and all(set(f) == set('file kind operation variant '
    'bucket backend version abi device cpu_device test driver bytes last_used defect'.split()) for f in d['files'])"
json "list --json: what was filed" 0 "sorted((f['operation'], f['kind'], f['variant'], f['bucket']) for f in d['files']) ==
    [('keccak256', 'choice', 0, 16384), ('keccak256', 'pipeline', 3, 0), ('sha256', 'pipeline', 0, 0)]
    and all((f['backend'], f['version'], f['abi'], f['device'], f['driver'], f['defect']) ==
    ('opencl', '0.1.0', '1.1', 'Some \"GPU\"', 'driver 1.2.3', '') for f in d['files'])
    and all((f['cpu_device'], f['test']) == ((f['operation'] == 'sha256'),) * 2 for f in d['files'])
    and all(abs(time.time() - f['last_used']) < 3600 for f in d['files'])"
unset SUPERVM_CACHE_DIR
call list --dir "$cache" --json
json "list --dir" 0 "len(d['files']) == 3"
XDG_CACHE_HOME=$work/xdg
export XDG_CACHE_HOME
mkdir -m 700 "$work/xdg"
mv "$cache" "$work/xdg/svmx"
call list --json
json "list: the folder of XDG_CACHE_HOME" 0 "len(d['files']) == 3 and d['folder'] == '$work/xdg/svmx'"
mv "$work/xdg/svmx" "$cache"
SUPERVM_CACHE_DIR=$cache
export SUPERVM_CACHE_DIR

echo "# verify"
call verify
exits 0 && err_empty && out_has "3 files checked in $cache: all good" && [ "$(files)" -eq 3 ]
verdict "verify of a good cache" $?
call verify --json
json "verify --json of a good cache" 0 "d == {'bad': [], 'folder': '$cache', 'checked': 3}"
printf x | dd of="$(of sha256)" bs=1 seek=3000 conv=notrunc 2>/dev/null # in the middle of the payload
call list
exits 0 && ! out_has BAD
verdict "list reads headers only" $?
call verify
exits 1 && err_empty && out_matches '^bad: [0-9a-f]{32}\.bin: its checksum is wrong; removed$' &&
    out_has "3 files checked in $cache: 1 bad" && [ "$(files)" -eq 2 ]
verdict "verify: one byte differs" $?
call verify
exits 0 && out_has '2 files checked'
verdict "verify: then all is good" $?
echo foreign >"$cache/00000000000000000000000000000000.bin"
echo mine >"$cache/notes.txt"
call list
exits 0 && out_has 'BAD: 00000000000000000000000000000000.bin: it is cut short'
verdict "list shows a bad file" $?
call verify --json
json "verify --json of a bad file" 1 "d['checked'] == 3 and d['bad'] == [{'file': '0' * 32 + '.bin',
    'defect': 'it is cut short', 'removed': True}]"
[ -e "$cache/notes.txt" ] && [ "$(files)" -eq 2 ]
verdict "files of others stay" $?

echo "# clear"
fill
echo mine >"$cache/notes.txt"
touch -d '10 days ago' "$(of sha256)"
call list --older-than 9 --json
json "list --older-than" 0 "[f['operation'] for f in d['files']] == ['sha256']"
call clear --older-than 11
exits 0 && out_has 'removed 0 files, 0 B, from' && [ "$(files)" -eq 3 ]
verdict "clear --older-than 11: nothing is so old" $?
call clear --older-than 9
exits 0 && err_empty && out_matches "^removed 1 file, 5[.0-9]* KiB, from $cache; kept 2 files\$" && [ "$(files)" -eq 2 ]
verdict "clear --older-than 9" $?
call clear --json
json "clear --json" 0 "d['folder'] == '$cache' and d['removed'] == 2 and d['bytes'] > 5000 and d['kept'] == 0"
[ "$(files)" -eq 0 ] && [ -e "$cache/notes.txt" ]
verdict "clear removed what is ours" $?
call clear
exits 0 && out_has 'removed 0 files'
verdict "clear of an empty cache" $?

echo "# a folder that is not safe"
fill
chmod 777 "$cache"
for action in list verify clear; do refused 3 'others may write the folder: chmod go-w' $action; done
[ "$(files)" -eq 3 ]
verdict "it was left alone" $?
chmod 1777 "$cache" # as /tmp is
refused 3 "everybody may write into $cache: give a folder of its own in it" list --dir "$cache"

finish
