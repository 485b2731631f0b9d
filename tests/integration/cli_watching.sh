#!/bin/sh
# cli_watching.sh: `svmx top`, and `svmx serve` as far as it can be seen without a browser: what is refused, and what is shown.
# What the server answers: tests/scripts/test_metrics.py.
#
# SPDX-License-Identifier: Apache-2.0
set -u
unset XDG_CACHE_HOME SUPERVM_BACKENDS SUPERVM_POLICY
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
. "$(dirname "$0")/command.sh"

echo "# top of a demonstration load"
call top --count 2 --interval 300 --device none
exits 0 && err_empty && [ "$(grep -c '^svmx top: a demonstration load' "$work/out")" -eq 2 ] &&
    out_matches '^DEVICE +STATE +PARTS/S +BUSY +USEFUL +QUEUE +MEMORY +NAME' &&
    out_matches '^reference:0 +healthy +[0-9]' && out_matches '^OPERATION +PARTS/S +MEDIAN +99 % +FAILURES +WHERE' &&
    out_matches '^sha256 +[0-9]' && out_has 'Found in caches: ' && out_has 'Chosen because: '
verdict "top: two pictures" $?
! grep -q "$(printf '\033')" "$work/out"
verdict "top: what is no terminal gets no codes of one" $?
call top --count 1 --interval 200 --device none --load 0
exits 0 && err_empty && out_has '0.0 batches/s' && ! out_has sha256
verdict "top --load 0: nothing is run" $?
call top --json --count 1 --interval 300 --device none
json "top --json" "d['work']['batches'] > 0 and d['devices'][-1]['id'] == 'reference:0' and
    {o['name'] for o in d['operations']} <= {'vec_add_f32', 'sigmoid_f32', 'dot_f32', 'sha256', 'keccak256'}"
call top --count 0 --device none
exits 0 && out_empty
verdict "top --count 0" $?
terminal() { # COLUMNS LINES: the last picture that a terminal of that size gets, in out; code 1: something of it does not fit
    called="svmx top, on a terminal of $1 x $2"
    : >"$work/err"
    run "$python" - "$1" "$2" "$SVMX" top --count 2 --interval 300 --device none >"$work/out" <<'PICTURE'
import fcntl, os, pty, struct, sys, termios
columns, lines = int(sys.argv[1]), int(sys.argv[2])
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    os.execv(sys.argv[3], sys.argv[3:])
text = b""
try:
    while piece := os.read(terminal, 65536):
        text += piece
except OSError:  # it is gone
    pass
os.waitpid(child, 0)
picture = text.decode().split("\033[2J")[-1].split("\033[?25h")[0].replace("\r", "")
print(picture, end="")
rows = picture.split("\n")
sys.exit(len(rows) > lines or max(map(len, rows)) > columns)
PICTURE
    code=$?
}
if [ -n "$python" ] && [ -z "${SVMX_TEST_RUNNER:-}" ]; then
    terminal 60 12
    exits 0 && out_matches '^svmx top: ' && out_has 'regret' && out_matches '^DEVICE ' && ! out_has WHERE
    verdict "top: a small terminal gets the head and the devices, and nothing wraps" $?
    terminal 100 50
    exits 0 && out_matches '^svmx top: ' && out_has 'regret' && out_matches '^OPERATION .*WHERE' && out_matches '^sha256 '
    verdict "top: a large one gets all" $?
else
    skip "top on a terminal" "needs python3, and no emulator" 2
fi
refused 2 "--interval" top --interval 5
refused 2 "--load" top --load 101
refused 2 "'nowhere' is no address: give HOST:PORT" top nowhere --count 1
refused 2 "'127.0.0.1:' is no address" top 127.0.0.1: --count 1
refused 2 "'127.0.0.1:http' is no address" top 127.0.0.1:http --count 1
refused 2 "'127.0.0.1:70000' is no address" top 127.0.0.1:70000 --count 1
refused 4 "does not answer" top 127.0.0.1:1 --count 1

echo "# top of texts that were made up"
if [ -n "$python" ] && [ -z "${SVMX_TEST_RUNNER:-}" ]; then
    mkdir "$work/made"
    cat >"$work/made/metrics" <<'END'
svmx_device_info{device="simd:0",kind="cpu",place="host",test="false",name="A CPU"} 1
svmx_device_info{device="opencl:0",kind="cpu",place="cores",test="true",name="No GPU"} 1
svmx_route_flips_total{operation="keccak256"} 1
END
    cat >"$work/made/stats.json" <<'END'
{"version":"1","devices":[{"index":0,"id":"simd:0","health":"healthy","health_reason":""},
{"index":1,"id":"opencl:0","health":"quarantined","health_reason":"sum_f32: wrong bytes"}],
"operations":[{"name":"keccak256","op":7,"unit":"message"},
{"name":"sha256","op":8}]}
END
    cat >"$work/made/curves.json" <<'END'
{"columns":["op","device","units","samples","ns","low_ns","high_ns"],
"points":[[7,0,256,9,100,90,110],
[7,0,1024,9,400,390,410],
[7,0,4096,9,1600,1500,1700],
[7,1,512,9,1,1,1],
[7,1,1024,9,900,800,1000],
[7,1,4096,9,950,900,1000],
[8,0,1024,9,5,5,5]]}
END
    i=1
    while [ "$i" -le 7 ]; do
        echo "{\"time_ns\":${i}000000000,\"operation\":\"sum_f32\",\"units\":$((1000 * i)),\"backend\":\"simd\",\"reason\":\"wrong bytes, number $i\"}"
        i=$((i + 1))
    done >"$work/made/fallbacks"
    "$python" -u -m http.server --bind 127.0.0.1 --directory "$work/made" 0 >"$work/serving" 2>/dev/null &
    server=$!
    while [ ! -s "$work/serving" ] && kill -0 "$server" 2>/dev/null; do sleep 0.1; done
    call top "127.0.0.1:$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$work/serving")" --count 1 --interval 200
    exits 0 && err_empty && out_has 'opencl:0 is quarantined: sum_f32: wrong bytes' && ! out_has 'simd:0 is'
    verdict "top: why a device is not healthy" $?
    out_has 'No GPU [CPU DEVICE] [TEST DEVICE]' && out_matches 'A CPU$'
    verdict "top: a CPU behind a driver, and a test device, are labelled" $?
    out_has '  keccak256: simd:0, from 4,096 messages on opencl:0' && ! out_has '  sha256: '
    verdict "top: crossovers, of sizes that were measured on two devices" $?
    out_matches 'sum_f32 of 7,000 units, done by simd: wrong bytes, number 7' && out_has 'number 3' && ! out_has 'number 2'
    verdict "top: the last five that were redone" $?
    kill "$server"
    wait "$server" 2>/dev/null
    server=
else
    skip "top of texts that were made up" "needs python3, and no emulator" 4
fi

echo "# serve, and top of it"
call serve --address nowhere
if exits 4; then
    skip "serve" "$(cat "$work/err")" 6
    finish
fi
exits 2 && err_has "address 'nowhere': give IPv4:PORT, [IPv6]:PORT or localhost:PORT" && out_empty
verdict "serve --address nowhere" $?
refused 2 "address '127.0.0.1:99999': a port is 1 to 65535" serve --address 127.0.0.1:99999
if [ -n "${SVMX_TEST_RUNNER:-}" ]; then
    skip "serve" "through an emulator there is no process to send a signal to" 4
    finish
fi
rm -f "$work/serving" # what another server said is no address
"$SVMX" serve --address 127.0.0.1:0 --load 100 --batches 20 --device none >"$work/serving" 2>"$work/serving.err" &
server=$!
while [ ! -s "$work/serving" ] && kill -0 "$server" 2>/dev/null; do sleep 0.1; done
grep -q '^The dashboard is at http://127.0.0.1:[0-9]*/ and the metrics are at' "$work/serving"
verdict "serve says where" $?
address=$(sed -n 's|.*is at http://\([0-9.:]*\)/ and.*|\1|p' "$work/serving")
batches=0
while [ -n "$address" ] && [ "$batches" != 20 ] && kill -0 "$server" 2>/dev/null; do
    call top "$address" --json --count 1 --interval 200
    batches=$(sed -n 's/.*"work":{"batches":\([0-9]*\),.*/\1/p' "$work/out")
done
[ "$batches" = 20 ]
verdict "top ADDRESS --json: so many batches as were asked for" $?
call top "$address" --count 1 --interval 200
exits 0 && err_empty && out_has "svmx top: $address, the last" && out_matches '^reference:0 +healthy'
verdict "top ADDRESS" $?
kill "$server"
wait "$server"
status=$?
server=
[ "$status" -eq 0 ] && [ ! -s "$work/serving.err" ]
verdict "SIGTERM ends serve, with exit status 0" $?
finish
