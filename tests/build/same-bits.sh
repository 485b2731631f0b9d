#!/bin/sh
# same-bits.sh BUILD OTHER RUNNER...: every operation gives the same bytes in two build folders, the second of which is for
# another architecture and needs RUNNER, an emulator, before its programs. Called by scripts/test-long.sh.
#
# Signatures that are here and not there, because their libraries were not to be had for that architecture, are named and count
# as skipped. Everything else must give the bytes of here on both devices there.
#
# SPDX-License-Identifier: Apache-2.0
set -u
here=$1 there=$2
shift 2
passed=0 failed=0 skipped=0

svmx_here() { SUPERVM_BACKEND_PATH=$here/backends "$here/svmx" "$@"; }
svmx_there() { SUPERVM_BACKEND_PATH=$there/backends "$there/libtool" --quiet --mode=execute $runner "$there/svmx" "$@"; }
runner=$*

names() { awk 'NR > 1 { print $1 }'; }
ops_there=" $(svmx_there ops | names | tr '\n' ' ')"
for op in $(svmx_here ops | names); do
    case "$op $ops_there" in
    *" $op "*) ;;
    ecrecover* | ecdsa* | ed25519*)
        skipped=$((skipped + 1))
        echo "skipped: $op needs a library that the other build does not have"
        continue
        ;;
    esac
    for size in 1 255 4097 20000; do
        wanted=$(svmx_here run "$op" --size $size --tasks 3 --repeat 1 --quiet)
        for device in simd none; do
            got=$(svmx_there run "$op" --size $size --tasks 3 --repeat 1 --quiet --device $device)
            if [ -n "$wanted" ] && [ "$wanted" = "$got" ]; then
                passed=$((passed + 1))
            else
                failed=$((failed + 1))
                echo "failed: $op of $size on $device there: '$got', here: '$wanted'"
            fi
        done
    done
done
[ $((passed + failed)) -gt 0 ] || { echo "failed: no operations"; failed=1; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
