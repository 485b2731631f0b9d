#!/bin/sh
# same-bits.sh BUILD OTHER RUNNER...: every operation gives the same bytes in two build folders, the second of which is for
# another architecture and needs RUNNER, an emulator, before its programs. Called by scripts/test-long.sh.
#
# SPDX-License-Identifier: Apache-2.0
set -u
here=$1 there=$2
shift 2
passed=0 failed=0

svmx_here() { SUPERVM_BACKEND_PATH=$here/backends "$here/svmx" "$@"; }
svmx_there() {
    device=$1
    shift
    SUPERVM_BACKEND_PATH=$there/backends "$there/libtool" --quiet --mode=execute $runner "$there/svmx" "$@" --device "$device"
}
runner=$*

for op in $(svmx_here ops | awk 'NR > 1 { print $1 }'); do
    for size in 1 255 4097 20000; do
        wanted=$(svmx_here run "$op" --size $size --tasks 3 --repeat 1 --quiet)
        for device in simd none; do
            got=$(svmx_there $device run "$op" --size $size --tasks 3 --repeat 1 --quiet)
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
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
