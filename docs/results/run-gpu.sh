#!/bin/bash
# Measure again, on a machine with a GPU, everything in docs/ that was measured on one.
#
#     docs/results/run-gpu.sh PROGRAMS OUT [PART ...]
#
# PROGRAMS holds fmo-driver and fmo-bench (a build's bin/; tests are looked for in ../tests), OUT
# receives the files. Nothing is built here: neither compiler nor headers are needed, python3 is for
# the parts stored and strategies, ncu for fp64 and kernels, compute-sanitizer for sanitizer; what is
# missing is said and left out. Without PART all run, about half an hour on one H200; the shorter
# ones first:
#
#     fock growth scf untuned stored strategies batches threads experiments fp64 kernels tests
#     sanitizer
#
# Every text file begins with device, driver, revision, command and date; JSON files say the same in
# fields of their own. The revision is that of the clone this script is in, or FMO_REVISION. Data
# sets that are not committed are made by fmo-driver --scf, once, in OUT/datasets.
set -u
usage() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
root=$(cd "$(dirname "$0")/../.." && pwd)
for program in fmo-driver fmo-bench; do
    [ -x "$1/$program" ] || { echo "$0: no $program in $1" >&2; exit 2; }
done
programs=$(cd "$1" && pwd)
mkdir -p "$2/datasets" || exit 3
out=$(cd "$2" && pwd)
shift 2
all="fock growth scf untuned stored strategies batches threads experiments fp64 kernels tests sanitizer"
parts=${*:-$all}
for part in $parts; do
    case " $all " in *" $part "*) ;; *) usage ;; esac
done

driver=$programs/fmo-driver
bench=$programs/fmo-bench
tests=$programs/../tests
xyz=$root/datasets/xyz
export FMO_BASIS_PATH=${FMO_BASIS_PATH:-$root/datasets/basis}
device=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
version=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
revision=${FMO_REVISION:-$(git -C "$root" describe --always --abbrev=7 --match= --dirty 2>/dev/null)}
revision=${revision:-not known}
worst=0

head_of() { # file, command: the first lines of a file
    local file=$out/$1
    shift
    {
        echo "# device: ${device:-no GPU}, driver ${version:-none}; host: $cpu, $(nproc) cores"
        echo "# revision: $revision"
        echo "# command: $*"
        echo "# date: $(date -u +%Y-%m-%dT%H:%MZ)"
        echo
    } >"$file"
}

shown() { # a command line without the folders of this machine
    local line=" $*"
    line=${line// $programs\// }
    line=${line// $root\// }
    line=${line// $out\// }
    echo "${line# }"
}

run() { # file, command: appends its output, under the command line
    local file=$out/$1 code=0
    shift
    echo "== $(shown "$@")" >>"$file"
    "$@" >>"$file" 2>&1 || code=$?
    [ $code -eq 0 ] || { echo "exit code $code" >>"$file"; echo "   exit code $code: $(shown "$@")"; }
    [ $code -le $worst ] || worst=$code
}

dataset() { # geometry, basis: path of its data set, made if it is not there
    local file=$out/datasets/$1_$2.h5
    [ -e "$file" ] || "$driver" "$xyz/$1.xyz" --basis "$2" --scf --mode fused -o "$file" --quiet >/dev/null ||
        echo "   no data set $1 $2" >&2
    echo "$file"
}

needs() { # program: false, and said, if it is missing
    command -v "$1" >/dev/null && return 0
    echo "   left out: no $1"
    return 1
}

part_fock() { # docs/explanation/performance.md, bench.md, README
    head_of h200-bench-fock.txt "fmo-bench fock --geometries datasets/xyz --json h200-bench-fock.json"
    run h200-bench-fock.txt "$bench" fock --geometries "$xyz" --json "$out/h200-bench-fock.json"
}
part_growth() { # docs/explanation/performance.md, bench.md
    head_of h200-bench-growth.txt "fmo-bench growth --json h200-bench-growth.json"
    run h200-bench-growth.txt "$bench" growth --json "$out/h200-bench-growth.json"
}
part_scf() { # docs/reference/scf.md, README; the whole process, CUDA's start included
    local system start
    head_of h200-scf.txt "as printed, each twice"
    for system in water001:sto-3g water001:6-31g water008:sto-3g water008:6-31g alkane_C20H42:sto-3g \
        alkane_C20H42:6-31g water027:sto-3g water027:6-31g alkane_C60H122:sto-3g water064:sto-3g \
        gly30:sto-3g alkane_C60H122:6-31g water064:6-31g; do
        for _ in 1 2; do
            start=$(date +%s%N)
            run h200-scf.txt "$driver" "$xyz/${system%%:*}.xyz" --basis "${system##*:}" --scf --mode fused
            echo "whole process $(($(date +%s%N) / 1000000 - start / 1000000)) ms" >>"$out/h200-scf.txt"
        done
    done
}
part_untuned() { # docs/explanation/performance.md: systems and basis sets that nothing was tuned for
    head_of h200-untuned-systems.txt "fmo-bench fock --geometry FILE --basis NAME --mode fused --seconds 1"
    for system in water008:6-31++g water008:6-311++g water027:3-21g water027:sto-6g water027:6-31+g \
        alkane_C20H42:6-31+g alkane_C20H42:6-31++g gly30:3-21g alkane_C60H122:3-21g gly30:6-31g \
        water027:6-311g water027:pc-0 alkane_C20H42:6-311g water064:3-21g water027:midi gly30:sto-6g \
        water027:6-31++g; do
        run h200-untuned-systems.txt "$bench" fock --geometry "$xyz/${system%%:*}.xyz" \
            --basis "${system##*:}" --mode fused --seconds 1
    done
}
part_stored() { # docs/log/gpu.md, accumulate/gpu/schedule/stored.cu
    needs python3 || return
    head_of h200-stored.txt "fmo-driver DATASET --mode fused --integrals HOW --repeat 11 --profile=json"
    {
        echo "# ms: GPU, all of a build from and to host memory, before and after the quartets | each class with /"
        echo "# without commits, one after the other | share of adds"
    } >>"$out/h200-stored.txt"
    for how in direct stored; do
        for set in "$root/datasets/h2o_6-31g.h5" "$root/datasets/h2o8_sto-3g.h5" "$root/datasets/h2o8_6-31g.h5" \
            "$(dataset water027 sto-3g)" "$(dataset alkane_C20H42 6-31g)" "$(dataset water027 6-31g)"; do
            "$driver" "$set" --mode fused --integrals $how --repeat 11 --profile=json 2>>"$out/h200-stored.txt" |
                python3 -c '
import json, os, sys
b = json.load(sys.stdin)["builds"][0]
ms = lambda s: f"{1e3 * (s or 0.0):8.3f}"
c = b["classes"]
full, bare = (sum(k[n] or 0.0 for k in c) for n in ("seconds", "compute_seconds"))
how, name = b["integrals"] or "", os.path.basename(b["dataset"])
print(f"{how:8s}{name:26s} gpu", ms(b["gpu_seconds"]), "all",
      ms(b["seconds"]["median"]), "scr", ms(b["screening_seconds"]), "|",
      " ".join(ms(k["seconds"]) + "/" + ms(k["compute_seconds"]) for k in c),
      f"| adds {100 * (full - bare) / (full or 1.0):5.1f}%")' >>"$out/h200-stored.txt" 2>&1
        done
    done
}
part_strategies() { # docs/explanation/accumulation.md
    needs python3 || return
    python3 "$root/docs/results/measure.py" --driver "$driver" --out "$out/h200-strategies.json" \
        --limit "${FMO_LIMIT:-400}" --revision "$revision" "$root/datasets/h2s_hcl_6-31g.h5" \
        "$root/datasets/h2o8_6-31g.h5" "$(dataset water027 sto-3g)" "$(dataset alkane_C20H42 6-31g)" \
        "$(dataset water064 6-31g)" || worst=1
    head_of h200-strategies.md "docs/results/plot.py --tables h200-strategies.json.gz"
    gzip -9nf "$out/h200-strategies.json"
    python3 "$root/docs/results/plot.py" --tables "$out/h200-strategies.json.gz" >>"$out/h200-strategies.md"
}
part_batches() { # docs/log/ladder.md, rungs 42 to 46
    head_of h200-batches.txt "fmo-bench fock --geometry FILE --basis NAME --fragments N --mode fused --seconds 1"
    for system in water008:6-31g:4 water008:6-31g:16 water008:6-31g:200 water008:sto-3g:400 \
        alkane_C20H42:sto-3g:200 water001:6-31g:1000; do
        IFS=: read -r name basis number <<<"$system"
        run h200-batches.txt "$bench" fock --geometry "$xyz/$name.xyz" --basis "$basis" --fragments "$number" \
            --mode fused --seconds 1
    done
}
part_threads() { # docs/explanation/performance-cpu.md, of the host
    head_of cpu-threads.txt "OMP_WAIT_POLICY=passive, as printed"
    for set in "$(dataset alkane_C20H42 6-31g)" "$(dataset water027 6-31g)" "$root/datasets/h2o8_6-31g.h5"; do
        for threads in 1 2 4 8 16; do
            [ "$threads" -gt "$(nproc)" ] ||
                OMP_WAIT_POLICY=passive run cpu-threads.txt "$driver" "$set" --mode cpu --threads $threads --repeat 5
        done
    done
}
part_experiments() { # docs/log/bench-results.md; fock and growth with them, once more
    FMO_BENCH=$bench "$root/driver/bench/run-all.sh" "$out/experiments" || worst=1
    head_of bench.log "driver/bench/run-all.sh"
    cat "$out/experiments/bench.log" >>"$out/bench.log"
}
part_fp64() { # docs/explanation/gpu/profile.md: the build without commits does the same arithmetic
    needs ncu || return
    m=smsp__sass_thread_inst_executed_op
    for scatter in native segmented tile; do
        head_of h200-ncu-fp64-$scatter.csv "ncu --csv ... fmo-driver h2o8_6-31g.h5 --scatter $scatter --profile=json"
        run h200-ncu-fp64-$scatter.csv ncu --csv --clock-control none --kernel-name regex:fmo_gpu \
            --metrics ${m}_dadd_pred_on.sum,${m}_dmul_pred_on.sum,${m}_dfma_pred_on.sum \
            "$driver" "$root/datasets/h2o8_6-31g.h5" --mode fused --scatter $scatter --profile=json
    done
}
part_kernels() { # docs/log/gpu.md: the kernels under Nsight Compute
    needs ncu || return
    local peak=avg.pct_of_peak_sustained
    for set in "$(dataset water064 6-31g)" "$root/datasets/h2o8_6-31g.h5"; do
        name=h200-ncu-$(basename "$set" .h5).csv
        head_of "$name" "ncu --csv --page raw ... fmo-driver $(basename "$set") --mode fused --scatter segmented"
        run "$name" ncu --csv --page raw --graph-profiling node --metrics \
            "gpu__time_duration.sum,launch__registers_per_thread,sm__warps_active.${peak}_active,\
smsp__inst_executed.sum,smsp__inst_executed_pipe_fp64.sum,sm__pipe_fp64_cycles_active.${peak}_active,\
smsp__issue_active.${peak}_active,smsp__thread_inst_executed_per_inst_executed.ratio,\
lts__t_requests_op_red.sum,lts__t_sectors_op_red.sum,l1tex__data_pipe_lsu_wavefronts.${peak}_elapsed,\
l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct,dram__bytes.sum" \
            "$driver" "$set" --mode fused --scatter segmented --quiet
    done
}
part_tests() { # docs/explanation/gpu.md
    head_of h200-tests.txt "FMO_REQUIRE_GPU=1, each test program as named"
    for test in gpu_scatter gpu_fock gpu_stored gpu_batch gpu_stream gpu_atomics_example; do
        [ ! -x "$tests/$test" ] || FMO_REQUIRE_GPU=1 run h200-tests.txt "$tests/$test"
    done
}
part_sanitizer() { # docs/explanation/gpu.md
    needs compute-sanitizer || return
    head_of h200-sanitizer.txt "FMO_TEST_SMALL=1 compute-sanitizer --tool TOOL TEST; 280 s each at most"
    for test in gpu_stream gpu_scatter gpu_stored gpu_fock gpu_batch; do
        for tool in memcheck initcheck synccheck racecheck; do
            [ ! -x "$tests/$test" ] ||
                FMO_TEST_SMALL=1 run h200-sanitizer.txt timeout 280 compute-sanitizer --tool $tool "$tests/$test"
        done
    done
}

for part in $parts; do
    echo "$part"
    before=$SECONDS
    "part_$part"
    echo "   $((SECONDS - before)) s"
done
exit "$worst"
