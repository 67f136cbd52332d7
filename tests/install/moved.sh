#!/bin/sh
# A prefix that was moved: its programs, and a C program with its libraries, find libraries and data in the new place,
# without LD_LIBRARY_PATH and FMO_BASIS_PATH.
# moved.sh PREFIX BINDIR LIBDIR INCLUDEDIR DATADIR WORK_DIR SOURCE STATIC COMPILER
#     ...DIR: within PREFIX; STATIC: 1 if the static libraries were installed too
set -eu
prefix=$1 bindir=$2 libdir=$3 includedir=$4 datadir=$5 work=$6 source=$7 static=$8 cc=$9
unset LD_LIBRARY_PATH FMO_BASIS_PATH
fail() {
    echo "$*" >&2
    exit 1
}

rm -rf "$work"
mkdir -p "$work"
cp -R "$prefix" "$work/first"
mv "$work/first" "$work/new place"
moved=$(cd "$work/new place" && pwd -P)
driver=$moved/$bindir/fmo-driver bench=$moved/$bindir/fmo-bench data=$moved/$datadir/fmo

"$driver" "$source/datasets/h2o_sto-3g.h5" --check --quiet
"$bench" --version
for program in "$driver" "$bench"; do
    found=$(ldd "$program" | grep 'libfmo') || found="no libfmo"
    echo "$found" | grep -v "$moved/$bindir/../$libdir/\|$moved/$libdir/" &&
        fail "$program takes libraries from elsewhere, or none"
    echo "${program##*/}: all of its libfmo* moved along"
done
for file in "$moved/$bindir"/fmo-* "$moved/$libdir"/libfmo*.so.*; do
    paths=$(objdump -p "$file" | sed -n 's/^ *RU*NPATH *//p')
    case :$paths: in
    *:/lib* | *:/usr/lib* | *:"$source"* | *:"$prefix"*) fail "$file looks for libraries in $paths" ;;
    esac
done

# Names that are nowhere else are found, and what is broken or missing is named where it should be.
# A program is found by its own file, whatever it is called and from wherever it is started.
mv "$data/basis/sto-3g.json" "$data/basis/of-the-moved.json"
cd /
PATH=$moved/$bindir:$PATH fmo-driver "$data/xyz/h2.xyz" --basis of-the-moved --scf --quiet
"$driver" "$data/xyz/h2.xyz" --basis sto-3g --scf --quiet 2>&1 | grep of-the-moved ||
    fail "the names of basis sets come from elsewhere"
mv "$data/basis/of-the-moved.json" "$data/basis/sto-3g.json"
cp "$data/hybrids/hybrids.json" "$work"
echo '{' >"$data/hybrids/hybrids.json"
"$driver" "$source/datasets/fmo2/gly4_sto-3g.json" --fmo --basis sto-3g --quiet 2>&1 |
    grep "$data/hybrids/hybrids.json" || fail "hybrid orbitals come from elsewhere"
mv "$work/hybrids.json" "$data/hybrids/hybrids.json"
mv "$data/xyz/water001.xyz" "$work"
ln -s "$bench" "$work/a link"
"$work/a link" fock --quiet 2>&1 | grep "$data/xyz/water001.xyz" ||
    fail "geometries come from elsewhere"
mv "$work/water001.xyz" "$data/xyz"

# C programs: with the shared libraries, anywhere; with the static ones, in bin of the moved prefix.
cd "$work"
"$cc" "-I$moved/$includedir" "$source/tests/install/consumer/data.c" -o data "-L$moved/$libdir" -lfmo_io -lfmo \
    "-Wl,-rpath,$moved/$libdir"
path=$(./data)
[ "$path" = "$data/basis/sto-3g.json" ] || fail "libfmo_io takes data from $path"
if [ "$static" = 1 ]; then
    # shellcheck disable=SC2046
    "$cc" "-I$moved/$includedir" "$source/tests/install/consumer/data.c" -o "$moved/$bindir/data" \
        $(PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig" pkg-config --static --libs fmo_io |
            sed 's/-l\(fmo[a-z_]*\)/-l:lib\1.a/g')
    path=$("$moved/$bindir/data")
    [ "$path" = "$data/basis/sto-3g.json" ] || fail "a static libfmo_io takes data from $path"
    mv "$moved/$bindir/data" elsewhere
    if said=$(./elsewhere 2>&1) || ! echo "$said" | grep 'FMO_BASIS_PATH'; then
        fail "a static program far from the data: $said"
    fi
fi
cd /
rm -rf "$work"
