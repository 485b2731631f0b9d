#!/bin/sh
# check-gpu-compile.sh [--quick] [--write] [OPERATION...]: compiles all device code with the compilers of real GPUs.
#
#   NVIDIA    clang to PTX, with libclc, then ptxas for sm_75, sm_86 and sm_89 where the CUDA toolkit is installed
#   AMD       clang with libclc, for gfx906, gfx1030 and gfx1100
#   SPIR-V    clang and llvm-spirv, then spirv-val
#
# Every variant of every operation in the catalog (plugins/kernels), or of the operations named. No GPU is needed. Prints
# a table, which is that of docs/GPU-CODE.md: registers, share of the places for waves that is filled (occupancy), spills.
# Variants for CPUs only are compiled to SPIR-V only.
#
#   --quick   one GPU of each maker (sm_75, gfx1030) and SPIR-V
#   --write   puts the table into docs/GPU-CODE.md; without it the table is compared with the one there
#
# PTXAS names another ptxas than that of the PATH or of /usr/local/cuda; empty: none.
#
# Installs the packages that are missing (scripts/setup.sh gpu). The last line is `N passed, N failed, N skipped`, a
# kernel and a target each. The status is 1 if code does not compile, if an operation has no variant without spills on
# one of the GPUs, or if docs/GPU-CODE.md is not current.
#
# SPDX-License-Identifier: Apache-2.0
set -u
. "$(dirname "$0")/common.sh"

work=$top/build/gpu-code
page=$top/docs/GPU-CODE.md
list=$work/list.tsv
clc=/usr/lib/clc
cl="clang-15 -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -Wall -Werror -Wno-unused-function"
export list work

# ---- one variant: writes lines "operation variant kernel target cell" -----------------------------------------------

# What ptxas says of each kernel; the limits of a multiprocessor are in NVIDIA's tables of compute capabilities. Functions that
# are called are listed behind the kernels, whoever calls them: what they spill is counted for every kernel of the variant.
read_nvidia='
    function ceil(a, b) { return int((a + b - 1) / b) }
    function least(a, b) { return a < b ? a : b }
    BEGIN {
        split("sm_75 32 16 65536 sm_86 48 16 102400 sm_89 48 24 102400", limits, " ")
        for (i = 1; limits[i] != target; i += 4);
        waves = limits[i + 1]; groups = limits[i + 2]; memory = limits[i + 3]
        split(kernels, pairs, " ")
        for (i in pairs) { split(pairs[i], pair, ":"); local_size[pair[1]] = pair[2] }
    }
    /Compiling entry function/ { split($0, parts, "\047"); kernel = parts[2]; order[++kernel_count] = kernel; entry[kernel] = 1 }
    /Function properties for/ { function_name = $NF }
    /bytes spill stores/ { stacks[function_name] = $1; spills[function_name] = $5 }
    /Used [0-9]+ registers/ {
        for (i = 1; i <= NF; i++) { if ($i == "Used") used[kernel] = $(i + 1); if ($(i + 2) ~ /^smem/) lds[kernel] = $i }
    }
    END {
        for (name in spills) if (!(name in entry)) called += spills[name]
        for (k = 1; k <= kernel_count; k++) {
            kernel = order[k]; registers = used[kernel]; shared = lds[kernel]; stack = stacks[kernel]
            spill = spills[kernel] + called
            group_waves = ceil(local_size[kernel], 32)
            by_registers = int(int(65536 / (ceil(registers * 32, 256) * 256)) / 4) * 4
            n = least(groups, least(int(by_registers / group_waves), int(waves / group_waves)))
            if (shared > 0) n = least(n, int(memory / (shared + (target == "sm_75" ? 0 : 1024))))
            cell(n * group_waves / waves)
        }
    }'
# What LLVM says of each kernel in the comments and the metadata of its assembly. The metadata knows kernels only: spills of
# functions that are called are their stores with that comment, but for the first of each register that a function must leave
# as it found it, eight of sixteen from v40 on, and for one more, in which it keeps the way back.
read_amd='
    BEGIN { waves = target == "gfx906" ? 10 : 16 }
    /-- Begin function/ { kernel = $NF }
    /-byte Folded Spill/ {
        match($0, /[ \t[]v[[0-9]*/); number = substr($0, RSTART + 2) + 0
        if (number < 40 || (number - 40) % 16 >= 8) number = "any"
        kept = !((kernel, number) in saved)
        saved[kernel, number] = 1
        match($0, /[0-9]+-byte Folded Spill/)
        if (!kept) folded[kernel] += substr($0, RSTART) + 0
    }
    /^; NumVgprs:/ { found[kernel] = $3 }
    /^; ScratchSize:/ { stacks[kernel] = $3 }
    /^; LDSByteSize:/ { lds[kernel] = $3 }
    /^; Occupancy:/ { occupancy[kernel] = $3 / waves }
    /^    \.name:/ { kernel = $2 }
    /^    \.(vgpr|sgpr)_spill_count:/ { spills[kernel] += $2 }
    END {
        split(kernels, pairs, " ")
        for (i in pairs) { split(pairs[i], pair, ":"); delete folded[pair[1]] }
        for (name in folded) called += folded[name]
        for (i in pairs) {
            split(pairs[i], pair, ":"); kernel = pair[1]
            if (!(kernel in found)) continue
            registers = found[kernel]; stack = stacks[kernel]; shared = lds[kernel]
            spill = stack > 0 ? 4 * spills[kernel] : 0 # scalars go to spare vector registers before they go to memory
            spill += called
            cell(occupancy[kernel])
        }
    }'
# Registers, occupancy, and what is not as it should be.
print_cell='
    function cell(share) {
        text = registers + 0 ", " int(100 * share) " %"
        if (spill > 0) text = text ", spills " spill " B"; else if (stack > 0) text = text ", stack " stack " B"
        print op "\t" variant "\t" kernel "\t" target "\t" text "\t" shared + 0
        shared = 0
    }'
cells() { awk -v op="$op" -v variant="$variant" -v target="$1" -v kernels="$kernels" "$print_cell $2" "$3" >>"$out"; }

# attempt TARGET COMMAND...: on failure every kernel of the variant fails there.
attempt() {
    attempt_target=$1
    shift
    "$@" >"$base.log" 2>&1 && return 0
    sed "s|^|$op $variant $attempt_target: |" "$base.log" | head -n 12 >&2
    for kernel in $kernels; do printf '%s\t%s\t%s\t%s\tfails\t0\n' "$op" "$variant" "${kernel%:*}" "$attempt_target" >>"$out"; done
    return 1
}

compile_nvidia() {
    # shellcheck disable=SC2086
    attempt "$1" $cl -O3 $options -target nvptx64--nvidiacl -Xclang -target-cpu -Xclang sm_75 \
        -Xclang -target-feature -Xclang +ptx63 -Xclang -mlink-bitcode-file -Xclang "$clc/nvptx64--nvidiacl.bc" \
        -S -o "$base.ptx" "$base.cl" || return
    for gpu; do
        [ -n "$ptxas" ] || continue
        attempt "$gpu" "$ptxas" -v "-arch=$gpu" -o "$base.cubin" "$base.ptx" && cells "$gpu" "$read_nvidia" "$base.log"
    done
}

compile_amd() {
    for gpu; do
        # shellcheck disable=SC2086
        attempt "$gpu" $cl -O3 $options -target amdgcn--amdhsa -mcpu="$gpu" -nogpulib \
            -Xclang -mlink-bitcode-file -Xclang "$clc/amdgcn--amdhsa.bc" -S -o "$base.s" "$base.cl" &&
            cells "$gpu" "$read_amd" "$base.s"
    done
}

# Without optimisation: that is the driver's part, and what llvm-spirv makes of optimised loops is not always valid.
compile_spirv() {
    # shellcheck disable=SC2086
    attempt SPIR-V $cl -O0 $options -target spir64 -emit-llvm -c -o "$base.bc" "$base.cl" &&
        attempt SPIR-V llvm-spirv-15 --spirv-max-version=1.2 -o "$base.spv" "$base.bc" &&
        attempt SPIR-V spirv-val --target-env opencl2.2 "$base.spv" || return
    for kernel in $kernels; do printf '%s\t%s\t%s\tSPIR-V\tvalid\t0\n' "$op" "$variant" "${kernel%:*}" >>"$out"; done
}

# The variant in line $1 of the list.
compile_one() {
    tab=$(printf '\t')
    IFS=$tab read -r op variant devices options sources kernels <<END
$(sed -n "$1p" "$list")
END
    base=$work/$op.$variant
    out=$base.cells
    : >"$out"
    for source in $sources; do printf '#line 1 "%s"\n' "$source" && cat "$top/plugins/kernels/$source"; done >"$base.cl"
    compile_spirv
    if [ "$devices" != cpu ]; then
        # shellcheck disable=SC2086
        compile_nvidia $nvidia
        # shellcheck disable=SC2086
        compile_amd $amd
    fi
    rm -f "$base".ptx "$base".cubin "$base".s "$base".bc "$base".spv
}

if [ "${1:-}" = --one ]; then # called by this script itself
    compile_one "$2"
    exit 0
fi

# ---- all of them ----------------------------------------------------------------------------------------------------

nvidia="sm_75 sm_86 sm_89" amd="gfx906 gfx1030 gfx1100" mode=check wanted=
for argument; do
    case $argument in
    -h | --help) help ;;
    --quick) nvidia=sm_75 amd=gfx1030 quick=yes ;;
    --write) mode=write ;;
    -*) die "unknown argument '$argument'; see --help" ;;
    *) wanted="$wanted $argument" ;;
    esac
done
"$top/scripts/setup.sh" gpu || exit 1
for tool in clang-15 llvm-spirv-15 spirv-val; do command -v "$tool" >/dev/null || missing="${missing:-} $tool"; done
[ -z "${missing:-}" ] || die "these are not installed:$missing"
ptxas=${PTXAS-$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null)}
[ -n "$ptxas" ] || say "ptxas is not there (CUDA toolkit): NVIDIA's code is compiled to PTX and not further"
[ "$mode" = check ] || { [ -n "$ptxas" ] && [ -z "${quick:-}$wanted" ]; } || die "--write needs ptxas and all of the table"
export nvidia amd ptxas

mkdir -p "$work"
quietly "$work/list.log" "${CC:-cc}" -I "$top/include" -o "$work/list" "$top/plugins/kernels/list.c" \
    "$top/plugins/kernels/catalog.c" || exit 1
"$work/list" >"$list.all" || die "the catalog could not be listed"
awk -F'\t' -v wanted="$wanted " 'wanted == " " || index(wanted, " " $1 " ")' "$list.all" >"$list"
[ -s "$list" ] || die "the catalog has none of:$wanted"
rm -f "$work"/*.cells
count=$(wc -l <"$list")
say "gpu: $count variants of $(cut -f 1 "$list" | sort -u | wc -l) operations for $nvidia $amd SPIR-V"
seq "$count" | xargs -n 1 -P "$jobs" sh "$0" --one

# ---- the table ------------------------------------------------------------------------------------------------------

columns="sm_75 sm_86 sm_89 gfx906 gfx1030 gfx1100 SPIR-V" # of docs/GPU-CODE.md
computed=$columns
[ -z "${quick:-}" ] || computed="sm_75 gfx1030 SPIR-V"
# In the order of the catalog, a line a kernel.
make_table='
    BEGIN {
        FS = "\t"; n = split(columns, column, " ")
        head = "| operation | variant | kernel | local memory |"; rule = "|---|---|---|---|"
        for (i = 1; i <= n; i++) { head = head " " column[i] " |"; rule = rule "---|" }
        print head "\n" rule
    }
    FILENAME != list { cell[$1, $2, $3, $4] = $5; if ($6 + 0 > shared[$1, $2, $3]) shared[$1, $2, $3] = $6 + 0; next }
    {
        m = split($6, kernels, " ")
        for (k = 1; k <= m; k++) {
            kernel = kernels[k]; sub(/:.*/, "", kernel)
            row = "| " $1 " | " $2 ($3 == "cpu" ? " (CPU only)" : "") " | " kernel " | " ($3 == "cpu" ? "-" : shared[$1, $2, kernel] + 0) " |"
            for (i = 1; i <= n; i++) {
                text = cell[$1, $2, kernel, column[i]]
                left_out = column[i] != "SPIR-V" && $3 == "cpu" || column[i] ~ /^sm_/ && ptxas == ""
                row = row " " (text != "" ? text : left_out ? "-" : "fails") " |"
            }
            print row
        }
    }'
cat "$work"/*.cells >"$work/cells.tsv"
awk -v columns="$computed" -v list="$list" -v ptxas="$ptxas" "$make_table" "$work/cells.tsv" "$list" >"$work/table.md"
cat "$work/table.md"
version() { "$@" | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1; }
clang="clang $(version clang-15 --version)" assembler="ptxas $([ -z "$ptxas" ] || version "$ptxas" --version)"

cell_count() { grep '^| [a-z].* |' "$work/table.md" | grep -v '^| operation' | tr '|' '\n' | grep -cE "$1"; }
passed=$(cell_count '^ (valid|[0-9]+, )')
failed=$(cell_count '^ fails $')
skipped=0
[ -n "$ptxas" ] || skipped=$(awk -F'\t' -v each="$(echo "$nvidia" | wc -w)" '$3 != "cpu" { n += each * split($6, kernels, " ") } END { print n + 0 }' "$list")
awk -F'\t' '
    $4 != "SPIR-V" { at = $1 " on " $4; seen[at] = 1; if ($5 ~ /fails|spills/) bad[at, $2] = 1; variants[at, $2] = at }
    END { for (v in variants) if (!(v in bad)) fine[variants[v]] = 1
          for (at in seen) if (!(at in fine)) print "no variant without spills: " at }' "$work/cells.tsv" >"$work/spills"
cat "$work/spills"
failed=$((failed + $(wc -l <"$work/spills")))

if [ "$mode" = write ]; then
    awk -v table="$work/table.md" -v versions="$clang, $assembler" '
        /^<!-- table -->/ { print; print "Written with " versions ".\n"; while ((getline line < table) > 0) print line; inside = 1; next }
        /^<!-- end -->/ { inside = 0 }
        !inside' "$page" >"$work/page.md" && cp "$work/page.md" "$page"
    say "gpu: wrote docs/GPU-CODE.md"
else
    # A row that is missing, or a cell that is not as computed by the same compilers.
    compared=
    grep -q "^Written with $clang, " "$page" && compared="gfx SPIR"
    grep -q "^Written with $clang, $assembler\.$" "$page" && compared="$compared sm"
    [ -n "$compared" ] || say "gpu: docs/GPU-CODE.md was written with other compilers: its numbers are not compared"
    awk -F ' *[|] *' -v compared=" $compared " -v all="$([ -n "$wanted" ] || echo yes)" '
        FNR == 1 { file++; inside = 0 }
        /^\| operation/ { for (i = 6; i < NF; i++) name[file, i] = $i; inside = 1; next }
        inside && /^\| [a-z]/ {
            key = $2 " " $3 " " $4
            if (file == 1) { known[key] = 1; for (i = 6; i < NF; i++) text[key, name[1, i]] = $i; next }
            now[key] = 1
            if (!(key in known)) { print "not in docs/GPU-CODE.md: " key; next }
            for (i = 6; i < NF; i++) {
                maker = name[2, i]; sub(/[^A-Za-z].*/, "", maker)
                if (!index(compared, " " maker " ") || $i == "-" || text[key, name[2, i]] == $i) continue
                print "docs/GPU-CODE.md is not current: " key " on " name[2, i] ": " text[key, name[2, i]] " is now " $i
            }
        }
        END { if (all == "yes") for (key in known) if (!(key in now)) print "no longer in the catalog: " key }' \
        "$page" "$work/table.md" >"$work/stale"
    cat "$work/stale"
    if [ -s "$work/stale" ]; then
        failed=$((failed + 1))
        echo "write it anew: scripts/check-gpu-compile.sh --write"
    fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
