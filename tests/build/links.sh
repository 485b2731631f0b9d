#!/bin/sh
# links.sh: every relative link of a document leads to a file that is there, and every document is in the index.
#
# SPDX-License-Identifier: Apache-2.0
set -u
cd "${SVMX_TEST_SRCDIR:?}" || exit 1
passed=0 failed=0

verdict() { # WHAT STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $1"
    fi
}

for document in README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs/*.md docs/adr/*.md docs/examples/*.md \
    examples/*/*.md tests/drivers/*/*.md; do
    [ -e "$document" ] || continue
    folder=$(dirname "$document")
    # a link: "](" up to ")" or "#"; those with a scheme lead elsewhere
    for link in $(grep -oE '\]\([^)# ]+' "$document" | sed 's/^](//' | grep -v '^[a-z]*:' | sort -u); do
        [ -e "$folder/$link" ]
        verdict "$document: $link is not there" $?
    done
done

for document in docs/*.md; do
    name=$(basename "$document")
    [ "$name" = INDEX.md ] && continue
    grep -q "($name)" docs/INDEX.md
    verdict "docs/INDEX.md does not have $name" $?
done

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
