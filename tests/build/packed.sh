#!/bin/sh
# packed.sh: every file of the checkout is in the tarball. A source that no local.mk names is the usual slip, and is seen
# by nobody until someone builds from the tarball. Skipped where there is no checkout to compare with.
#
# SPDX-License-Identifier: Apache-2.0
set -u
src=${SVMX_TEST_SRCDIR:?} build=${SVMX_TEST_BUILDDIR:?}
if ! tracked=$(git -C "$src" ls-files 2>/dev/null) || [ -z "$tracked" ]; then
    echo "this is no git checkout"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
fi
packed=$(cd "$build" && MAKEFLAGS='' make -s --no-print-directory list-distfiles) || packed=
missing=0
for file in $tracked; do
    case $file in .gitignore | */.gitignore | .gitattributes) continue ;; esac
    case " $(echo $packed) " in
    *" $file "* | *"/$file "*) continue ;;
    esac
    # EXTRA_DIST may name a folder
    folder=$file found=
    while [ "$folder" != "${folder%/*}" ]; do
        folder=${folder%/*}
        case " $(echo $packed) " in *" $folder "* | *"/$folder "*) found=yes ;; esac
    done
    [ -n "$found" ] || { echo "not in the tarball: $file (name it in the local.mk of its folder)"; missing=$((missing + 1)); }
done
[ "$missing" -eq 0 ] && echo "1 passed, 0 failed" || { echo "0 passed, 1 failed"; exit 1; }
