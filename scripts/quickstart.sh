#!/bin/sh
# quickstart.sh [--prefix DIR]: from a fresh Debian or Ubuntu machine to a running svmx.
#
# Installs the few packages that are missing (compiler, autotools, xxHash; by apt, with sudo when not root), builds in
# build/release, installs into build/release/install (or DIR), lists the devices that were found, hashes something, and
# measures from which size on a GPU would win here (run-threshold-scan.sh --quick, into build/release/threshold-scan.csv).
# No GPU is needed. A second run takes seconds.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/common.sh"

prefix=$top/build/release/install
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) help ;;
    --prefix) [ $# -gt 1 ] || die "--prefix needs a folder; see --help"; prefix=$2; shift ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    *) die "unknown argument '$1'; see --help" ;;
    esac
    shift
done

"$top/scripts/setup.sh" quickstart
build release --without-criterion --without-starpu --without-openssl --prefix="$prefix"
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

It works. What next:
  $svmx --help            all commands
  $svmx ops               the operations that there are
  scripts/run-threshold-scan.sh   more operations, more sizes, a CSV file
  scripts/report-html             a page of it; docs/examples has one
  README.md, examples/    how a program embeds the library:
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    cc examples/embed.c -o embed \$(pkg-config --cflags --libs svmx) -Wl,-rpath,$prefix/lib
  scripts/test.sh         the tests
EOF
