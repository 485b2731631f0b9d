#!/bin/sh
# cli_stdin.sh [FOLDER]: `svmx run OPERATION --stdin` from outside: lines of hex in, lines of hex out.
#
# $SVMX (or SVMX_TEST_COMMAND) is the command; FOLDER is for its files, a temporary one otherwise. SUPERVM_BACKEND_PATH says
# where plugins are. What cannot run here is counted as skipped.
#
# SPDX-License-Identifier: Apache-2.0
set -u
unset XDG_CACHE_HOME SUPERVM_CACHE_DIR SUPERVM_PROFILE SUPERVM_SIM_MODEL SUPERVM_BACKENDS SUPERVM_POLICY SUPERVM_LOG
if [ $# -gt 0 ]; then
    work=$1
    mkdir -p "$work"
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
chmod 755 "$work"
HOME=$work/home # where nobody has a cache or a profile
export HOME
. "$(dirname "$0")/command.sh"
: >"$work/none"
input=$work/none

empty_sha256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
abc_sha256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
empty_keccak=c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470
abc_keccak=4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45
find_simd

echo "# run --stdin"
feed '616263\n-\n'
call run keccak256 --stdin
exits 0 && err_empty && out_is "$abc_keccak
$empty_keccak"
verdict "keccak256 of abc and of nothing" $?
call run sha256 --stdin
exits 0 && err_empty && out_is "$abc_sha256
$empty_sha256"
verdict "sha256 of abc and of nothing" $?
call run sha256 --stdin --json
exits 0 && out_is '{"line":1,"valid":true,"outputs":["'$abc_sha256'"]}
{"line":2,"valid":true,"outputs":["'$empty_sha256'"]}'
verdict "--json: an object a line" $?
feed '0x616263\r\n0X616263\r\n0x\r\n4A4b\n4a4B\n616263'
call run sha256 --stdin
exits 0 && err_empty && [ "$(sed -n '1p;2p;6p' "$work/out" | sort -u)" = $abc_sha256 ] &&
    [ "$(sed -n 3p "$work/out")" = $empty_sha256 ] && [ "$(sed -n 4p "$work/out")" = "$(sed -n 5p "$work/out")" ] &&
    [ "$(wc -l <"$work/out")" -eq 6 ]
verdict "0x, CRLF, upper case, no newline at the end" $?
feed ''
call run sha256 --stdin
exits 0 && out_empty && err_empty
verdict "no line, no result" $?

# bad TEXT FORMAT: the second line is bad; the first is answered.
bad() {
    feed "616263\\n$2\\n616263\\n"
    call run sha256 --stdin
    exits 1 && err_has "line 2: $1" && out_is $abc_sha256
    verdict "a bad line: $1" $?
}
bad 'argument 1 (data): character 3 is no hex digit' '61zz'
bad 'argument 1 (data): character 4 is no hex digit' '0x6g'
bad 'argument 1 (data): character 1 is no hex digit' '\\t'
bad 'argument 1 (data): character 3 is no hex digit' '61\\000'
bad 'argument 1 (data) has an odd number of hex digits, 3' '616'
bad 'argument 1 (data) has an odd number of hex digits, 1' '0x6'
bad 'argument 1 (data) is missing' ''
bad 'argument 1 (data) is missing' ' 61'
bad 'it has more than 1 argument' '61 62'
bad 'it has more than 1 argument' '61 '
bad 'argument 1 (data): character 1 is no hex digit' '--'
feed '616263\n'
refused 2 "--stdin is for operations on bytes, and vec_add_f32 is none: its parameter 'out' is not made of bytes" \
    run vec_add_f32 --stdin
refused 2 "--stdin is for operations on bytes, and eigh_f64 is none: its parameter 'values' is not made of bytes" \
    run eigh_f64 --stdin
for option in --size --tasks --repeat --seed; do
    refused 2 "$option is for made-up data and does not go with --stdin" run sha256 --stdin $option 1
done

# Several arguments a line, and items that are not valid. The first line is a vector of go-ethereum, the second has v = 29.
call ops ecrecover
if exits 0; then
    hash=18c547e4f7b0f325ad1e56f57e26c745b09a3e503d86e00e5255ff7f715d3d1c
    zeros=00000000000000000000000000000000000000000000000000000000000000
    r=73b1693892219d736caba55bdb67216e485557ea6b6af75f37096c9aa6a5a75f
    s=eeb940b1d03b21e36b0e47e79769f095fe2ab855bd91e3a38756b7d75a9c4549
    address=a94f5374fce5edbc8e2a8697c15331677e6ebf0b
    feed "$hash ${zeros}1c 0x$r $s\n$hash ${zeros}1d $r $s\n$hash ${zeros}1c $r $s\n"
    call run ecrecover --stdin
    exits 0 && err_empty && out_is "$address
invalid
$address"
    verdict "ecrecover: an address, or the word invalid" $?
    call run ecrecover --stdin --json
    exits 0 && out_is '{"line":1,"valid":true,"outputs":["'$address'"]}
{"line":2,"valid":false,"outputs":[]}
{"line":3,"valid":true,"outputs":["'$address'"]}'
    verdict "ecrecover --json: valid or not, and no outputs if not" $?
    feed "$hash ${zeros}1c $r\n"
    refused 1 'line 1: it has 3 of 4 arguments' run ecrecover --stdin
    feed "$hash ${zeros}1c $r $s 00\n"
    refused 1 'line 1: it has more than 4 arguments' run ecrecover --stdin
    feed "$hash ${zeros}1c  $r $s\n"
    refused 1 'line 1: argument 3 (r) is missing: one space between arguments' run ecrecover --stdin
    feed "$hash 1c $r $s\n"
    refused 1 'line 1: argument 2 (v) has 1 bytes, must have 32' run ecrecover --stdin
    feed "$hash ${zeros}1c $r ${s}00\n"
    refused 1 'line 1: argument 4 (s) has 33 bytes, must have 32' run ecrecover --stdin
else
    skip "ecrecover --stdin" "built without libsecp256k1" 7
fi
call ops ed25519_verify
if exits 0; then
    # RFC 8032, TEST 1 (an empty message) and TEST 2.
    key1=d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a
    signature1=e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
    signature1=${signature1}5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
    key2=3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c
    signature2=92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
    signature2=${signature2}085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
    feed "$key1 $signature1 -\n$key2 $signature2 72\n$key2 $signature2 73\n$key2 $signature2 -\n"
    call run ed25519_verify --stdin
    exits 0 && err_empty && out_is "valid
valid
invalid
invalid"
    verdict "ed25519_verify: the words valid and invalid" $?
    call run ed25519_verify --stdin --json
    exits 0 && out_is '{"line":1,"valid":true,"outputs":[]}
{"line":2,"valid":true,"outputs":[]}
{"line":3,"valid":false,"outputs":[]}
{"line":4,"valid":false,"outputs":[]}'
    verdict "ed25519_verify --json" $?
else
    skip "ed25519_verify --stdin" "built without libsodium" 2
fi

echo "# run --stdin with scalars: a line is a task"
# Trees of zeros, as Ethereum's deposit contract (SHA-256) and many others (Keccak-256) have them; the third is hashlib's.
z=0000000000000000000000000000000000000000000000000000000000000000
two=f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b
four=db56114e00fdd4c1f85c892bf35ac9a89289aaecb1ebd0a96cde606a748b5d71
three=7a0501f5957bdf9cb3a8ff4966f02265f968658b7a9c62642cba1165e86642f5
feed "$z$z 0\n0x$z$z$z$z 0x0\n$z$z$z 00000000\n$z$z$z 01\n$z 1\n"
call run merkle_root_sha256 --stdin
exits 0 && err_empty && out_is "$two
$four
$four
$three
$z"
verdict "merkle_root_sha256: five trees, both rules" $?
call run merkle_tree_sha256 --stdin
exits 0 && err_empty && out_is "$two
$two$two$four
$two$two$four
$two$z$three
-"
verdict "merkle_tree_sha256: all nodes, and - where there are none" $?
call run merkle_tree_sha256 --stdin --json
exits 0 && [ "$(tail -n 1 "$work/out")" = '{"line":5,"valid":true,"outputs":[""]}' ] &&
    [ "$(head -n 1 "$work/out")" = '{"line":1,"valid":true,"outputs":["'$two'"]}' ]
verdict "merkle_tree_sha256 --json" $?
two=ad3228b676f7d3cd4284a5443f17f1962b36e491b30a40b2405849e597ba5fb5
four=b4c11951957c6f8f642c4af61cd6b24640fec6dc7fc607ee8206a99e92410d30
eight=21ddb9a356815c3fac1026b6dec5df3124afbadb485c9ba5a3e3398a04b7ba85
feed "$z$z 0\n$z$z$z$z 1\n$z$z$z$z$z$z$z$z 1\n"
call run merkle_root_keccak256 --stdin
exits 0 && err_empty && out_is "$two
$four
$eight"
verdict "merkle_root_keccak256: trees of 2, 4 and 8" $?
call run merkle_tree_keccak256 --stdin
exits 0 && err_empty && out_is "$two
$two$two$four
$two$two$two$two$four$four$eight"
verdict "merkle_tree_keccak256: trees of 2, 4 and 8" $?

# A grid by hand: 1 2 3 over 4 5 6.
feed '010203040506 2 3 1\n010203040506 2 3 2\n010203040506 0x2 3 3\n010203040506 3 2 1\n- 1 1 1\n'
call run grid_rotate_u8 --stdin
exits 0 && err_empty && out_is '040105020603
060504030201
030602050104
050301060402
-'
verdict "grid_rotate_u8: each line has its own scalars" $?
feed '010203040506 2 3 0\n0102030405060708090a0b0c 2 3 1\n'
call run grid_flip_u8 --stdin
exits 0 && err_empty && out_is '030201060504
0405060102030a0b0c070809'
verdict "grid_flip_u8: a grid, and two on one line" $?
feed '010203040506 2 3\n0a0b 00000001 2\n'
call run grid_transpose_u8 --stdin
exits 0 && err_empty && out_is '010402050306
0a0b'
verdict "grid_transpose_u8" $?

# bad_scalar TEXT LINE: the second line is bad; the first is answered.
bad_scalar() {
    feed "0102 1 2 0\\n$2\\n0102 1 2 0\\n"
    call run grid_flip_u8 --stdin
    exits 1 && err_has "line 2: $1" && out_is 0201
    verdict "a bad line: $1" $?
}
bad_scalar 'argument 4 (axis): character 2 is no hex digit' '0102 1 2 0g'
bad_scalar 'argument 4 (axis): character 3 is no hex digit' '0102 1 2 0x-'
bad_scalar 'argument 3 (width) is empty: give a number' '0102 1 - 0'
bad_scalar 'argument 3 (width) is empty: give a number' '0102 1 0x 0'
bad_scalar 'argument 3 (width) has 9 hex digits, may have 8' '0102 1 000000002 0'
bad_scalar 'argument 2 (height) is missing' '0102  2 0'
bad_scalar 'it has 3 of 4 arguments' '0102 1 2'
bad_scalar 'it has more than 4 arguments' '0102 1 2 0 0'
bad_scalar 'grid_flip_u8: axis is 2 but must be 0 to 1' '0102 1 2 2'
bad_scalar 'grid_flip_u8: grids has 2 bytes, which is no whole number of grids of 16 x 1 = 16' '0102 10 1 0'
feed "${z}00 0\n"
refused 1 'line 1: argument 1 (leaves) has 33 bytes, must have a multiple of 32' run merkle_root_sha256 --stdin
feed '0x 0\n'
refused 1 'line 1: merkle_root_sha256: leaves is empty: a tree has one leaf at least' run merkle_root_sha256 --stdin
refused 1 'line 1: merkle_tree_sha256: leaves is empty: a tree has one leaf at least' run merkle_tree_sha256 --stdin

# More than a chunk, each line a shape of its own.
awk 'BEGIN { for (i = 0; i < 70000; i++) printf "%08x %x %x %x\n", i, i % 2 ? 2 : 4, i % 2 ? 2 : 1, i % 2 }' >"$work/in"
awk 'BEGIN { for (i = 0; i < 70000; i++) { t = sprintf("%08x", i); print i % 2 ? substr(t, 5) substr(t, 1, 4) : t } }' >"$work/many"
input=$work/in
call run grid_flip_u8 --stdin
exits 0 && err_empty && cmp -s "$work/out" "$work/many"
verdict "70,000 lines with scalars: every result in its place" $?
sed -i '$s/ [^ ]*$/ 7/' "$work/in"
call run grid_flip_u8 --stdin
exits 1 && err_has 'line 70000: grid_flip_u8: axis is 7' && head -n 69999 "$work/many" | cmp -s - "$work/out"
verdict "70,000 lines, the last refused by the operation: the others are answered" $?
input=$work/none

echo "# run --stdin: chunks, pipes and readers that leave"
input=/
refused 1 "cannot read standard input after line 0" run sha256 --stdin
input=$work/none

# Three chunks and a bit; every line must come out in its place.
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "%08x\n", i }' >"$work/in"
input=$work/in
call run sha256 --stdin
cp "$work/out" "$work/many"
exits 0 && err_empty && [ "$(wc -l <"$work/out")" -eq 200000 ] && [ "$(sort -u "$work/out" | wc -l)" -eq 200000 ]
verdict "200,000 lines: as many results, all different" $?
call run sha256 --stdin --device none
exits 0 && cmp -s "$work/out" "$work/many"
verdict "200,000 lines: the same from the reference code" $?
sed -n '65536p;65537p;131073p;200000p' "$work/in" >"$work/some"
input=$work/some
call run sha256 --stdin
exits 0 && sed -n '65536p;65537p;131073p;200000p' "$work/many" | cmp -s - "$work/out"
verdict "200,000 lines: those at the seams are in their place" $?
{ head -n 70000 "$work/in" && echo zz; } >"$work/some"
call run sha256 --stdin
exits 1 && err_has 'line 70001: ' && head -n 70000 "$work/many" | cmp -s - "$work/out"
verdict "a bad line in the second chunk: 70,000 results, then its number" $?
if command -v sha256sum >/dev/null; then
    yes 'some bytes' | head -n 1600000 >"$work/large" # more than a chunk
    yes 736f6d652062797465730a | head -n 1600000 | tr -d '\n' >"$work/in" # the same in hex
    { echo && echo 616263; } >>"$work/in"
    input=$work/in
    call run sha256 --stdin
    exits 0 && out_is "$(sha256sum <"$work/large" | cut -c 1-64)
$abc_sha256"
    verdict "one item of 17.6 MB: as sha256sum says" $?
    rm -f "$work/large" "$work/in"
else
    skip "one item of 17.6 MB" "no sha256sum"
fi
input=$work/none

# A program that writes a line and waits for its answer must get it before it closes the pipe.
called="svmx run sha256 --stdin (in a dialogue)"
rm -f "$work/to" "$work/from"
if mkfifo "$work/to" "$work/from" 2>/dev/null && command -v timeout >/dev/null; then
    svmx run sha256 --stdin <"$work/to" >"$work/from" 2>"$work/err" &
    partner=$!
    exec 3>"$work/to" 4<"$work/from"
    echo 616263 >&3
    timeout 60 head -n 1 <&4 >"$work/out"
    out_is $abc_sha256
    verdict "a dialogue: the answer comes before the end of the input" $?
    exec 3>&- 4<&-
    wait $partner
    code=$?
    exits 0 && err_empty
    verdict "a dialogue: ends well" $?
else
    skip "a dialogue" "no named pipes or no timeout" 2
fi

called="yes 61 | svmx run sha256 --stdin | head -n 1"
yes 61 | svmx run sha256 --stdin 2>"$work/err" | head -n 1 >"$work/out"
[ "$(wc -l <"$work/out")" -eq 1 ] && err_empty
verdict "a reader that leaves: it ends, and quietly" $?
# 300 MB of items through a process that may not have so much. Sanitizers and emulators reserve more by themselves, and
# not every shell can limit memory.
# shellcheck disable=SC3045
if [ -z "${SVMX_TEST_SANITIZER:-}${SVMX_TEST_RUNNER:-}" ] && (ulimit -v 220000) 2>/dev/null; then
    item=$(awk 'BEGIN { for (i = 0; i < 1500; i++) printf "ab" }')
    [ $simd ] && device="simd --threads 1" || device=none # which is slow
    called="svmx run sha256 --stdin --device $device (300 MB, in 220 MB)"
    yes "$item" | head -n 200000 | (
        ulimit -v 220000
        # shellcheck disable=SC2086
        svmx run sha256 --stdin --device $device
    ) 2>"$work/err" | sort | uniq -c >"$work/out"
    [ "$(awk '{ print $1 }' "$work/out")" = 200000 ] && err_empty
    verdict "a long pipe in bounded memory" $?
else
    skip "a long pipe in bounded memory" "memory cannot be limited here"
fi

finish
