#!/bin/sh
# Programs of a prefix that was moved find its libraries without LD_LIBRARY_PATH.
# moved.sh PREFIX BINDIR LIBDIR WORK_DIR DATASET        (BINDIR and LIBDIR within PREFIX)
set -eu
prefix=$1 bindir=$2 libdir=$3 work=$4 dataset=$5
unset LD_LIBRARY_PATH
rm -rf "$work"
mkdir -p "$work/new place"
moved=$(cd "$work/new place" && pwd -P)
cp -R "$prefix/." "$moved"
"$moved/$bindir/fmo-driver" "$dataset" --check --quiet
"$moved/$bindir/fmo-bench" --version
for program in fmo-driver fmo-bench; do
    found=$(ldd "$moved/$bindir/$program" | grep 'libfmo') || found="no libfmo"
    echo "$found" | grep -v "$moved/$bindir/../$libdir/\|$moved/$libdir/" &&
        { echo "$program takes libraries from elsewhere, or none" >&2; exit 1; }
    echo "$program: all of its libfmo* moved along"
done
rm -rf "$work"
