#!/bin/sh
# C programs and a C++ program against the installed libraries, as pkg-config says.
# pkgconfig.sh LIBDIR DATASET WORK_DIR STATIC COMPILER CXX_COMPILER      (the last may be empty)
# STATIC: 1 if the static libraries were installed too.
set -eu
libdir=$1 dataset=$2 work=$3 static=$4 cc=$5 cxx=${6:-}
source=$(cd "$(dirname "$0")/consumer" && pwd)
export PKG_CONFIG_PATH="$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1
mkdir -p "$work"
cd "$work"

check() {
    "$@" || { echo "failed: $*" >&2; exit 1; }
}

# try PACKAGE PROGRAM [ARGUMENT]: compiled, linked and run with the shared libraries, and with the
# static ones where there are any.
try() {
    package=$1 program=$2
    shift 2
    # shellcheck disable=SC2046
    check "$cc" -std=c11 -Wall -Wextra -Werror $(pkg-config --cflags "$package") \
        "$source/$program.c" -o "$program" $(pkg-config --libs "$package") -lm
    check env LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "./$program" "$@"
    [ "$static" = 1 ] || return 0
    # shellcheck disable=SC2046
    check "$cc" -std=c11 $(pkg-config --cflags "$package") "$source/$program.c" \
        -o "${program}_static" $(pkg-config --static --libs "$package" |
            sed 's/-l\(fmo[a-z_]*\)/-l:lib\1.a/g')
    check env -u LD_LIBRARY_PATH "./${program}_static" "$@"
    if ldd "./${program}_static" | grep libfmo; then
        echo "${program}_static uses shared libraries of fmo" >&2
        exit 1
    fi
}

if grep -E '^Libs[.]private:.*( |-L)/' "$libdir"/pkgconfig/fmo*.pc; then
    echo "a .pc file has absolute paths in Libs.private" >&2
    exit 1
fi

# libfmo reads no files: J and K link with -lfmo, and nothing of file formats comes along.
check "$cc" -std=c11 $(pkg-config --cflags fmo) "$source/alone.c" -o alone_plain \
    "-L$libdir" -lfmo -lm
check env LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ./alone_plain
formats='hdf5|libz|-lz|jansson|crypto|ssl|lapack'
if pkg-config --static --libs fmo | grep -E "$formats"; then
    echo "fmo.pc names libraries of file formats, or LAPACK" >&2
    exit 1
fi
if LD_LIBRARY_PATH=$libdir ldd ./alone_plain | grep -E "$formats"; then
    echo "a program with J and K alone loads libraries of file formats, or LAPACK" >&2
    exit 1
fi

try fmo alone
try fmo_io consumer "$dataset"
try "fmo_scf fmo_io" scf "$dataset"
try fmo_fragment fragment
if [ "$static" != 1 ] && [ -e "$libdir/libfmo.a" ]; then
    echo "libfmo.a was installed and should not have been" >&2
    exit 1
fi

if [ -n "$cxx" ]; then
    # shellcheck disable=SC2046
    check "$cxx" -x c++ -std=c++17 -Wall -Wextra -Werror $(pkg-config --cflags fmo_io) \
        "$source/consumer.c" -x none -o consumer_cxx $(pkg-config --libs fmo_io)
    check env LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ./consumer_cxx "$dataset"
fi
