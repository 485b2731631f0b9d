#!/bin/sh
# symbols.sh: libsvmx exports the functions of svmx.h and nothing else, libsvmx-metrics those of metrics.h; plugins export one
# data symbol.
#
# SPDX-License-Identifier: Apache-2.0
set -u
src=${SVMX_TEST_SRCDIR:?} build=${SVMX_TEST_BUILDDIR:?} objdir=${SVMX_TEST_OBJDIR:?}
library=$build/$objdir/libsvmx.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# same WHAT FILE FILE
same() {
    if diff "$2" "$3" >"$work/diff"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $1"
        cat "$work/diff"
    fi
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] || exit 1
    [ "$passed" -gt 0 ] || exit 77
    exit 0
}

# Names that a shared object defines for others, without the nodes of the symbol map and without what sanitizers and gcov
# (mangle_path) add.
exported() {
    nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | grep -vE '^__|^mangle_path$' | sort -u
}

# functions HEADER: what it declares; listed MAP: what the symbol map has
functions() {
    sed -n 's/^#.*//; /SVMX_EXPORT/,/;/p' "$src/include/svmx/$1" | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*SVMX_EXPORT[^(]*[ *]\(svmx_[a-z0-9_]*\)(.*/\1/p' | sort -u
}
listed() { sed -n '/^global:/,/^local:/s/^ *\(svmx_[a-z0-9_]*\);$/\1/p' "$src/$1" | sort -u; }

functions svmx.h >"$work/header"
listed src/libsvmx.map >"$work/map"
same "the symbol map has the functions of svmx.h" "$work/header" "$work/map"
functions metrics.h >"$work/metrics-header"
listed src/metrics/libsvmx-metrics.map >"$work/metrics-map"
same "the symbol map of libsvmx-metrics has the functions of metrics.h" "$work/metrics-header" "$work/metrics-map"

if ! command -v nm >/dev/null || [ ! -e "$library" ]; then
    skipped=$((skipped + 3))
    finish
fi
exported "$library" >"$work/library"
same "libsvmx exports the functions of svmx.h" "$work/header" "$work/library"
if [ -e "$build/$objdir/libsvmx-metrics.so" ]; then
    exported "$build/$objdir/libsvmx-metrics.so" >"$work/metrics"
    same "libsvmx-metrics exports the functions of metrics.h" "$work/metrics-header" "$work/metrics"
else
    skipped=$((skipped + 1))
fi

echo svmx_plugin >"$work/plugin"
for module in "$build"/backends/*.so; do
    [ -e "$module" ] || continue
    exported "$module" >"$work/module"
    same "$(basename "$module") exports svmx_plugin only" "$work/plugin" "$work/module"
done
finish
