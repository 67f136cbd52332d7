#!/bin/sh
# fmo as a part of another project, by add_subdirectory and by FetchContent, from two copies of the sources in two
# places: the other project stays as it was (embedded/CMakeLists.txt), its programs run, and both builds give the same
# bytes, without a path of either place. Debugging information is on, and the compiler's cache is off.
# embedded.sh SOURCE WORK_DIR CTEST CMAKE GENERATOR COMPILER
set -eu
source=$1 work=$2 ctest=$3 cmake=$4 generator=$5 cc=$6
export CCACHE_DISABLE=1
unset LD_LIBRARY_PATH FMO_BASIS_PATH CMAKE_BUILD_TYPE
rm -rf "$work"
for method in add fetch; do
    copy=$work/$method-a-place/fmo
    mkdir -p "$copy/datasets"
    (cd "$source" && cp -R CMakeLists.txt README.md CHANGELOG.md LICENSE cmake base integrals accumulate io driver "$copy" &&
        cp -R datasets/basis datasets/hybrids datasets/xyz "$copy/datasets")
    "$cmake" -S "$source/tests/install/embedded" -B "$work/$method" -G "$generator" -DMETHOD="$method" -DFMO="$copy" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_COMPILER_LAUNCHER= -DCMAKE_C_FLAGS="-g -O0" -DFMO_CUDA=OFF \
        -DFMO_INSTALL_RPATH=OFF >"$work/$method.log"
    if grep -r --include=cmake_install.cmake 'file(INSTALL' "$work/$method"; then
        echo "$method: fmo installs itself with another project" >&2
        exit 1
    fi
    "$cmake" -DFMO_INSTALL=ON "$work/$method" >>"$work/$method.log"
    "$cmake" --build "$work/$method" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-2}" \
        --target all fmo-driver fmo-bench >>"$work/$method.log" 2>&1 || { tail -n 40 "$work/$method.log"; exit 1; }
    [ -x "$work/$method/alone" ] || { echo "$method: the project's own program is not where it belongs" >&2; exit 1; }
    "$ctest" --test-dir "$work/$method" --output-on-failure
    [ "$("$ctest" --test-dir "$work/$method" -N | sed -n 's/^Total Tests: //p')" = 2 ]
done

add=$work/add/fmo fetch=$work/fetch/_deps/fmo-build
for file in lib/libfmo.so lib/libfmo.a lib/libfmo_io.so lib/libfmo_scf.so lib/libfmo_fragment.so bin/fmo-driver bin/fmo-bench; do
    cmp "$add/$file" "$fetch/$file"
    if grep -a -o "$work[^ ]*" "$add/$file"; then
        echo "$file has paths of its build" >&2
        exit 1
    fi
    echo "$file: the same bytes from both folders"
done

# Installed files have no RPATH where packages want none.
for component in library programs; do
    "$cmake" --install "$work/add" --component $component --prefix "$work/prefix" >/dev/null
done
for file in "$work"/prefix/bin/fmo-* "$work"/prefix/lib*/libfmo*.so.*; do
    if objdump -p "$file" | grep -E 'RPATH|RUNPATH'; then
        echo "$file has a path for the loader in spite of FMO_INSTALL_RPATH=OFF" >&2
        exit 1
    fi
done
rm -rf "$work"
