#!/bin/sh
# quickstart.sh [--prefix DIR]: from a fresh Debian or Ubuntu machine to a running svmx.
#
# Installs the few packages that are missing (compiler, autotools, xxHash; by apt, with sudo when not root), builds in
# build/release, installs into build/release/install (or DIR), lists the devices that were found, and hashes a batch on
# them. No GPU is needed. A second run takes seconds.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/common.sh"

prefix=$top/build/release/install
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) help ;;
    --prefix) prefix=${2:?--prefix needs a folder}; shift ;;
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
say "svmx run keccak256: 100,000 made-up messages in one batch"
"$svmx" run keccak256 --size 100000
say "svmx run keccak256 --stdin: the hash of 'abc', of nothing"
printf '616263\n-\n' | "$svmx" run keccak256 --stdin

cat <<EOF

It works. What next:
  $svmx --help            all commands
  $svmx ops               the operations that there are
  README.md, examples/    how a program embeds the library:
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    cc examples/embed.c -o embed \$(pkg-config --cflags --libs svmx) -Wl,-rpath,$prefix/lib
  scripts/test.sh         the tests
EOF
