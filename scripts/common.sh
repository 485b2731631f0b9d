# common.sh: what the scripts of this folder share. Sourced, never run.
#
# SPDX-License-Identifier: Apache-2.0

top=$(CDPATH='' cd "$(dirname "$0")/.." && pwd)
jobs=$(nproc 2>/dev/null || echo 2)
umask 022 # the loader refuses plugins in folders that others may write to
LC_ALL=C
export LC_ALL
unset CDPATH MAKEFLAGS MAKELEVEL MFLAGS DESTDIR 2>/dev/null || :

say() { printf '== %s\n' "$*"; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# The comment at the head of a script is its --help.
help() {
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" | sed '/SPDX/,$d'
    exit 0
}

# quietly LOG COMMAND...: output goes to LOG; shown only when the command fails.
quietly() {
    quietly_log=$1
    shift
    mkdir -p "$(dirname "$quietly_log")"
    if "$@" >"$quietly_log" 2>&1; then return 0; fi
    grep -v '^  [A-Z]' "$quietly_log" | tail -n 60 # without the lines of make that say what is fine
    printf '%s failed; all of its output: %s\n' "$1" "$quietly_log" >&2
    return 1
}

# build FOLDER CONFIGURE-ARGUMENT...: configures build/FOLDER, if that was not done with the same arguments, and runs make.
build() {
    build_name=$1
    build_dir=$top/build/$1
    shift
    mkdir -p "$build_dir"
    [ -x "$top/configure" ] || quietly "$top/build/autoreconf.log" autoreconf -fi "$top" || return 1
    if [ ! -f "$build_dir/Makefile" ] || [ "$(cat "$build_dir/configured-as" 2>/dev/null)" != "$*" ]; then
        say "$build_name: configure $*"
        rm -f "$build_dir/configured-as"
        (cd "$build_dir" && quietly "$build_dir/configure-output.log" "$top/configure" "$@") || return 1
        printf '%s\n' "$*" >"$build_dir/configured-as"
    fi
    say "$build_name: make (minutes the first time; what it does: $build_dir/make-output.log)"
    quietly "$build_dir/make-output.log" make -C "$build_dir" -j"$jobs" all
}
