#!/bin/sh
# Runs Fock builds, then every experiment at its published and larger sizes, and writes JSON files and one
# log (docs/reference/bench.md describes each part).
#
#     driver/bench/run-all.sh FOLDER [fmo-bench]
#
# The second argument, or FMO_BENCH, names the program; the default is build/bin/fmo-bench.
# DATASET is the data set of the replay; FMO_BENCH_ITEMS_LARGE is the number of items of the run beyond 2^31.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] || { echo "usage: $0 FOLDER [fmo-bench]" >&2; exit 2; }
out=$1
bench=${2:-${FMO_BENCH:-$root/build/bin/fmo-bench}}
dataset=${DATASET:-$root/datasets/h2o8_6-31g.h5}
large=${FMO_BENCH_ITEMS_LARGE:-2200000000}
worst=0
mkdir -p "$out" || exit 3
: >"$out/bench.log"

part() { # name, arguments
    name=$1
    shift
    echo "== $name: fmo-bench $*" | tee -a "$out/bench.log"
    begin=$(date +%s)
    code=0
    "$bench" "$@" --json "$out/bench-$name.json" >>"$out/bench.log" 2>&1 || code=$?
    echo "   $name: exit code $code, $(($(date +%s) - begin)) s" | tee -a "$out/bench.log"
    [ "$code" -le "$worst" ] || worst=$code
}

# The basis sets and geometries of this folder are used, even if the program was built elsewhere.
export FMO_BASIS_PATH="${FMO_BASIS_PATH:-$root/datasets/basis}"
part fock fock --geometries "$root/datasets/xyz"
part growth growth
# 2013: 1e7 numbers, 1 to 1e7 bins, int and double bins.
part histogram-2013 histogram --items 1e7 --seconds 0.2
# 2023: 256 M int32 ids; 256 and 5 M bins; then the published grid of the second kernel.
part histogram-2023 histogram --items 2^28 --input ids --bins 256,5000000 --seconds 0.3
part histogram-2023-grid histogram --items 2^28 --input ids --bins 256 --type int32 \
    --scatter native --commit native --blocks 0,8192,262144 --where gpu --seconds 0.3
# Other distributions over the bins, double bins, native atomics and CAS.
part histogram-patterns histogram --items 2^25 --input ids --pattern uniform,zipf,runs \
    --bins 100,1e4,1e6 --type double --where gpu --seconds 0.2
part histogram-replay histogram --items 2^25 --input ids --pattern replay --dataset "$dataset" \
    --type double --where gpu --seconds 0.2
part histogram-large histogram --items "$large" --input ids --bins 256,1e6 --type int32 \
    --scatter native,warp-match --commit native --where gpu --seconds 6 --repeat 3
part reduction reduction --items 1e7 --type all --seconds 0.2
part reduction-large reduction --items 2^28 --scatter native,warp-match,segmented --seconds 0.3
part himeno himeno --seconds 0.3
part strip strip --seconds 0.2
part interchange interchange --seconds 0.3
part kmeans kmeans --seconds 0.3
part median median --seconds 0.3
echo "worst exit code $worst" | tee -a "$out/bench.log"
exit "$worst"
