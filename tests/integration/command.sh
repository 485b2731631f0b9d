# command.sh: what the suites that use the `svmx` command from outside share. Sourced, never run.
#
# Before: `work` is a folder for its files. SVMX (or SVMX_TEST_COMMAND) is the command. After: `finish`. Then `drivers` is where the
# check-only plugins are, if they are, and after `find_simd` `simd` says whether there is that backend: yes, or nothing.
#
# SPDX-License-Identifier: Apache-2.0
LC_ALL=C
export LC_ALL
SVMX=${SVMX:-${SVMX_TEST_COMMAND:?say in SVMX where the command is}}
passed=0 failed=0 skipped=0 code=0 called=
words=   # that stand before the arguments of every call
setting= # VARIABLE=VALUE for the environment of the next calls
input=/dev/null
drivers=${SVMX_TEST_DRIVER_PATH:-/nonexistent}

run() { # PROGRAM ARGUMENT...: through the emulator where there is one
    if [ -n "${SVMX_TEST_RUNNER:-}" ]; then
        # shellcheck disable=SC2086
        "$SVMX_TEST_LIBTOOL" --quiet --mode=execute $SVMX_TEST_RUNNER "$@"
    else
        "$@"
    fi
}

svmx() { run "$SVMX" "$@"; }

call() { # ARGUMENT...: svmx with them, on $input; keeps what it says in out, err and code
    called="$setting svmx $words $*"
    (
        # shellcheck disable=SC2163
        [ -z "$setting" ] || export "$setting"
        # shellcheck disable=SC2086
        svmx $words "$@"
    ) <"$input" >"$work/out" 2>"$work/err"
    code=$?
}

find_simd() {
    call devices
    case $(cat "$work/out") in *simd*) simd=yes ;; *) simd= ;; esac
}

feed() { # FORMAT: the next calls read this, through printf
    # shellcheck disable=SC2059
    printf "$1" >"$work/in"
    input=$work/in
}

verdict() { # WHAT STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAILED  $1"
        echo "        $called: exit status $code"
        sed 's/^/        out: /' "$work/out" | head -n 20
        sed 's/^/        err: /' "$work/err" | head -n 12
    fi
}

skip() { # WHAT WHY [COUNT]
    skipped=$((skipped + ${3:-1}))
    echo "skipped $1: $2"
}

exits() { [ "$code" -eq "$1" ]; }
out_has() { grep -qF -e "$1" "$work/out"; }
out_matches() { grep -Eq -e "$1" "$work/out"; }
out_is() { [ "$(cat "$work/out")" = "$1" ]; }
out_empty() { [ ! -s "$work/out" ]; }
err_has() { grep -qF -e "$1" "$work/err"; }
err_empty() { [ ! -s "$work/err" ]; }

refused() { # CODE TEXT ARGUMENT...: it exits so, says so on standard error, and prints nothing
    want=$1 text=$2
    shift 2
    call "$@"
    exits "$want" && err_has "$text" && out_empty
    verdict "svmx $words $*: exit status $want, says: $text" $?
}

# That of the system first: another python3 in PATH may be a script that looks for one, which takes longer than the check.
python=
for candidate in /usr/bin/python3 python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import json' 2>/dev/null || python=$candidate
done
if [ -n "$python" ]; then
    json() { # WHAT [CODE] EXPRESSION: the output is one JSON document d, and the expression is true
        [ $# -eq 3 ] || set -- "$1" 0 "$2"
        exits "$2" && "$python" -S -c "import json, sys, time
d = json.load(sys.stdin)
sys.exit(0 if ($3) else 1)" <"$work/out"
        verdict "$1" $?
    }
    lines() { # WHAT FILE EXPRESSION: every line of the file is JSON; l is the list of them
        "$python" -S -c "import json, sys
l = [json.loads(x) for x in open('$2')]
sys.exit(0 if ($3) else 1)"
        verdict "$1" $?
    }
else
    json() { skip "$1" "no python3"; }
    lines() { skip "$1" "no python3"; }
fi

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    exit $((failed > 0))
}
