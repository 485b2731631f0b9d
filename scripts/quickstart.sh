#!/bin/sh
# quickstart.sh [--full] [--prefix DIR]: from a fresh Debian or Ubuntu machine to a running svmx.
#
# Installs the packages that are missing (by apt, with sudo when not root): compiler, autotools and xxHash; and, where they are
# to be had, the libraries of signatures, OpenCL with a driver for the CPU, Python and Chart.js. With --full also what Level
# Zero, svmx serve and machines with several memory nodes need (scripts/setup.sh --help). Builds in build/release, installs
# into build/release/install (or DIR), lists the devices that were found, hashes something, and measures from which size on
# a GPU would win here (run-threshold-scan.sh --quick, into build/release/threshold-scan.csv, and a page of it beside).
# No GPU is needed. A second run takes seconds.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/common.sh"

prefix=$top/build/release/install profile=quickstart
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) help ;;
    --prefix) [ $# -gt 1 ] || die "--prefix needs a folder; see --help"; prefix=$2; shift ;;
    --full) profile=full ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    *) die "unknown argument '$1'; see --help" ;;
    esac
    shift
done

"$top/scripts/setup.sh" "$profile"
[ "$(cat "$top/build/release/set-up-as" 2>/dev/null)" = "$profile" ] || rm -f "$top/build/release/configured-as"
build release --without-criterion --without-starpu --without-openssl --prefix="$prefix"
printf '%s\n' "$profile" >"$top/build/release/set-up-as" # configure looks anew for libraries when this is another
say "release: make install into $prefix"
quietly "$top/build/release/install-output.log" make -C "$top/build/release" install
svmx=$prefix/bin/svmx

say "svmx devices"
"$svmx" devices
say "svmx run keccak256 --stdin: the hash of 'abc', of nothing"
printf '616263\n-\n' | "$svmx" run keccak256 --stdin
say "scripts/run-threshold-scan.sh --quick: from which size on would a GPU win here?"
scan=$top/build/release/threshold-scan
"$top/scripts/run-threshold-scan.sh" --quick --svmx "$svmx" --output "$scan.csv" ||
    say "the scan failed: the lines above say where"
if said=$("$top/scripts/report-html" "$scan.csv" --output "$scan.html" 2>&1); then
    say "the same as curves, for a browser: $scan.html"
else
    say "no page of it: $said"
fi

cat <<EOF

It works. To have the command on your PATH:
  export PATH="$prefix/bin:\$PATH"

What next:
  $svmx --help            all commands
  $svmx ops               the operations that there are
  scripts/run-threshold-scan.sh   more operations, more sizes, a CSV file
  scripts/report-html             a page of it; docs/examples has one
  README.md, examples/    how a program embeds the library:
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    cc examples/embed.c -o embed \$(pkg-config --cflags --libs svmx) -Wl,-rpath,$prefix/lib
  scripts/test.sh         the tests
EOF
[ "$profile" != full ] || cat <<EOF
  $svmx serve             a demonstration load; its dashboard is at http://127.0.0.1:9469/
EOF
