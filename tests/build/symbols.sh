#!/bin/sh
# symbols.sh: libsvmx exports the functions of svmx.h and nothing else; plugins export one data symbol.
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

sed -n 's/^#.*//; /SVMX_EXPORT/,/;/p' "$src/include/svmx/svmx.h" | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*SVMX_EXPORT[^(]*[ *]\(svmx_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$work/header"
sed -n '/^global:/,/^local:/s/^ *\(svmx_[a-z0-9_]*\);$/\1/p' "$src/src/libsvmx.map" | sort -u >"$work/map"
same "the symbol map has the functions of svmx.h" "$work/header" "$work/map"

if ! command -v nm >/dev/null || [ ! -e "$library" ]; then
    skipped=$((skipped + 2))
    finish
fi
exported "$library" >"$work/library"
same "libsvmx exports the functions of svmx.h" "$work/header" "$work/library"

echo svmx_plugin >"$work/plugin"
for module in "$build"/backends/*.so; do
    [ -e "$module" ] || continue
    exported "$module" >"$work/module"
    same "$(basename "$module") exports svmx_plugin only" "$work/plugin" "$work/module"
done
finish
