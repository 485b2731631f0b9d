#!/bin/sh
# format.sh [--check | --apply]: compares the C sources with what clang-format 14 makes of them, or changes them to it.
#
# --check, the default, names the files that differ and ends with `N passed, N failed, N skipped`, a file each. Another
# version of clang-format lays out differently, so without version 14 all files are skipped.
#
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname "$0")/common.sh"

mode=check
case ${1:---check} in
-h | --help) help ;;
--check) ;;
--apply) mode=apply ;;
*) die "unknown argument '$1'; see --help" ;;
esac

cd "$top"
files=$(find include src plugins tests examples -name '*.[ch]' ! -path '*/abi_*' | sort) # old headers stay as they were
tool=
for candidate in clang-format-14 clang-format; do
    case $("$candidate" --version 2>/dev/null) in *"version 14."*) tool=$candidate; break ;; esac
done

if [ -z "$tool" ]; then
    [ "$mode" = check ] || die "clang-format 14 is not installed"
    echo "clang-format 14 is not installed"
    echo "0 passed, 0 failed, $(echo "$files" | wc -l) skipped"
    exit 0
fi
if [ "$mode" = apply ]; then
    echo "$files" | xargs "$tool" -i
    exit 0
fi
passed=0 failed=0
for file in $files; do
    if "$tool" --dry-run -Werror "$file" 2>/dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not as clang-format has it: $file (scripts/format.sh --apply)"
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
