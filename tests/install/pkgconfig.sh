#!/bin/sh
# A C program and a C++ program against the installed library, as pkg-config says.
# pkgconfig.sh LIBDIR DATASET WORK_DIR STATIC COMPILER CXX_COMPILER      (the last may be empty)
# STATIC: 1 if the static libraries were installed too.
set -eu
libdir=$1 dataset=$2 work=$3 static=$4 cc=$5 cxx=${6:-}
source=$(cd "$(dirname "$0")" && pwd)/consumer.c
export PKG_CONFIG_PATH="$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1
mkdir -p "$work"
cd "$work"

check() {
    "$@" || { echo "failed: $*" >&2; exit 1; }
}

# shellcheck disable=SC2046
check "$cc" -std=c11 -Wall -Wextra -Werror $(pkg-config --cflags fmo) "$source" -o shared \
    $(pkg-config --libs fmo) -lm
check env LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ./shared "$dataset"

if [ "$static" = 1 ]; then
    # shellcheck disable=SC2046
    check "$cc" -std=c11 $(pkg-config --cflags fmo) "$source" -o static \
        $(pkg-config --static --libs fmo | sed 's/-lfmo /-l:libfmo.a /')
    check env -u LD_LIBRARY_PATH ./static "$dataset"
    if ldd ./static | grep libfmo; then
        echo "static uses the shared libfmo" >&2
        exit 1
    fi
elif [ -e "$libdir/libfmo.a" ]; then
    echo "libfmo.a was installed and should not have been" >&2
    exit 1
fi

if pkg-config --exists fmo_scf; then
    # shellcheck disable=SC2046
    check "$cc" -std=c11 $(pkg-config --cflags fmo_scf) "$(dirname "$source")/scf.c" -o scf \
        $(pkg-config --libs fmo_scf) -lm
    check env LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ./scf "$dataset"
fi

if [ -n "$cxx" ]; then
    # shellcheck disable=SC2046
    check "$cxx" -x c++ -std=c++17 -Wall -Wextra -Werror $(pkg-config --cflags fmo) "$source" \
        -x none -o shared_cxx $(pkg-config --libs fmo)
    check env LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ./shared_cxx "$dataset"
fi
