#!/bin/sh
# embedding.sh: other languages: the headers compile as C++, the samples of docs/EMBEDDING.md are those in examples/, and
# print what they say.
#
# CXX is the C++ compiler (default c++), PYTHON the Python (default python3); without one its part is skipped.
#
# SPDX-License-Identifier: Apache-2.0
set -u
src=${SVMX_TEST_SRCDIR:?} build=${SVMX_TEST_BUILDDIR:?} objdir=${SVMX_TEST_OBJDIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
cxx=${CXX:-c++} python=${PYTHON:-python3}
library=$build/$objdir

verdict() { # WHAT STATUS [FILE to show]
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    echo "failed: $1"
    [ $# -lt 3 ] || cat "$3"
}

skip() {
    skipped=$((skipped + 1))
    echo "skipped: $1"
}

# quoted LANGUAGE FILE FIRST: the document has the file as it is, from the line that begins with FIRST.
quoted() {
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$src/docs/EMBEDDING.md" | sed '1d; /^```$/,$d' >"$work/document"
    sed -n "/^$3/,\$p" "$src/$2" >"$work/example"
    diff "$work/example" "$work/document" >"$work/diff" 2>&1
    verdict "docs/EMBEDDING.md has $2 as it is" $? "$work/diff"
}
quoted cpp examples/embed.cpp '#include'
quoted python examples/embed.py 'import ctypes'

# Why a program that was not built here cannot be run with the library of the build tree; empty: it can.
cannot=
[ -z "${SVMX_TEST_RUNNER:-}" ] || cannot="the library is for another machine"
[ -z "${SVMX_TEST_SANITIZER:-}" ] || cannot="the library needs the run time of a sanitizer"
[ -e "$library/libsvmx.so.0" ] || cannot="there is no shared library"

printf '4e03657a...\nc5d24601...\n' >"$work/wanted"

# ran WHAT STATUS
ran() {
    [ "$2" -eq 0 ] && diff "$work/wanted" "$work/printed" >"$work/diff" 2>&1
    verdict "$1 prints what it says" $? "$work/printed"
}

if ! command -v "$cxx" >/dev/null 2>&1 || ! echo '#include <vector>' | "$cxx" -x c++ -fsyntax-only - 2>/dev/null; then
    skip "there is no C++ compiler (package g++; CXX says which)"
else
    for header in svmx ops plugin types metrics; do
        echo "#include <svmx/$header.h>" >"$work/header.cpp"
        "$cxx" -std=c++17 -Wall -Wextra -Wconversion -Werror -fsyntax-only -I"$src/include" "$work/header.cpp" \
            >"$work/err" 2>&1
        verdict "svmx/$header.h compiles as C++ by itself" $? "$work/err"
    done
    if [ -n "$cannot" ]; then
        skip "examples/embed.cpp is not run: $cannot"
    else
        "$cxx" -std=c++17 -Wall -Wextra -Werror -I"$src/include" "$src/examples/embed.cpp" -o "$work/embed" \
            "$library/libsvmx.so.0" >"$work/err" 2>&1
        verdict "examples/embed.cpp compiles" $? "$work/err"
        LD_LIBRARY_PATH=$library "$work/embed" >"$work/printed" 2>&1
        ran examples/embed.cpp $?
    fi
fi

if ! command -v "$python" >/dev/null 2>&1 || ! "$python" -c 'import ctypes' 2>/dev/null; then
    skip "there is no Python with ctypes (package python3; PYTHON says which)"
elif [ -n "$cannot" ]; then
    skip "examples/embed.py is not run: $cannot"
else
    LD_LIBRARY_PATH=$library "$python" "$src/examples/embed.py" >"$work/printed" 2>&1
    ran examples/embed.py $?
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
