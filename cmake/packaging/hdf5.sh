#!/bin/sh
# A libhdf5 for wheels: static, C alone, without filters, network and tools. Prints its folder, for CMake's HDF5_ROOT.
#   hdf5.sh [SOURCE] [CMAKE_ARGUMENT]...
# SOURCE is a folder or a .tar.gz of HDF5's sources; without one they are Debian's (apt-get source, needs a network).
# The folder is build-hdf5/prefix, of this machine's processor, and is made once; remove it to have it made again.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd -P)
work=${FMO_HDF5_DIR:-$root/build-hdf5}
prefix=$work/prefix

fail() {
    echo "hdf5.sh: $*" >&2
    exit 1
}

# Downloads Debian's sources, whatever the machine's own list of packages says.
download() {
    mkdir -p "$work/apt/lists/partial"
    . /etc/os-release
    [ "$ID" = debian ] || fail "not Debian: give the sources of HDF5 as the first argument"
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb-src [signed-by=$key] http://deb.debian.org/debian $VERSION_CODENAME main" >"$work/apt/sources.list"
    set -- -qq -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$work/apt/lists"
    (cd "$work" && apt-get "$@" update && apt-get "$@" source --download-only hdf5) >&2 ||
        fail "apt-get source hdf5 failed: give the sources of HDF5 as the first argument"
    source=$(ls "$work"/hdf5_*.orig.tar.gz)
}

if [ ! -f "$prefix/lib/libhdf5.a" ]; then
    mkdir -p "$work/source"
    source=${1:-}
    [ -n "$source" ] || download
    if [ -f "$source" ]; then
        tar -xzf "$source" -C "$work/source" --strip-components=1
        source=$work/source
    fi
    source=$(cd "$source" && pwd -P)
    [ -f "$source/src/hdf5.h" ] || fail "$source: no sources of HDF5 there"
    [ $# -eq 0 ] || shift
    log=$work/log
    for option in BUILD_SHARED_LIBS BUILD_TESTING HDF5_BUILD_CPP_LIB HDF5_BUILD_HL_LIB HDF5_BUILD_FORTRAN \
        HDF5_BUILD_JAVA HDF5_BUILD_TOOLS HDF5_BUILD_UTILS HDF5_BUILD_EXAMPLES HDF5_ENABLE_SZIP_SUPPORT \
        HDF5_ENABLE_Z_LIB_SUPPORT HDF5_ENABLE_ROS3_VFD HDF5_ENABLE_HDFS HDF5_ENABLE_PARALLEL; do
        set -- "-D$option=OFF" "$@"
    done
    mkdir -p "$work/build"
    cd "$work/build" # HDF5's checks write into the current folder, and read from this
    cmake "$source" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_C_FLAGS="-fvisibility=hidden -w" "$@" >"$log" 2>&1 &&
        cmake --build . --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" >>"$log" 2>&1 &&
        cmake --install . >>"$log" 2>&1 || {
        tail -n 30 "$log" >&2
        fail "HDF5 could not be built; the whole output is in $log"
    }
fi
echo "$prefix"
