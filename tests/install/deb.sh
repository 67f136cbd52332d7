#!/bin/sh
# Packages for Debian, checked by lintian: no path for the loader in a program or library, a manual page for each program.
# Without lintian and dpkg-shlibdeps the test is skipped.
# deb.sh SOURCE WORK_DIR CMAKE CPACK GENERATOR COMPILER
set -eu
source=$1 work=$2 cmake=$3 cpack=$4 generator=$5 cc=$6
for tool in lintian dpkg-deb dpkg-shlibdeps; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
rm -rf "$work"
"$cmake" -S "$source" -B "$work" -G "$generator" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-g -O0" \
    -DCMAKE_INSTALL_PREFIX=/usr -DFMO_PYTHON_DIR=lib/python3/dist-packages -DFMO_CUDA=OFF -DFMO_EXPERIMENTS=OFF \
    -DBUILD_TESTING=OFF >"$work.log"
"$cmake" --build "$work" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-2}" >>"$work.log" 2>&1 ||
    { tail -n 40 "$work.log"; exit 1; }
cd "$work"
"$cpack" -G DEB >>"$work.log" 2>&1 || { tail -n 40 "$work.log"; exit 1; }
ls ./*.deb
[ "$(ls ./*.deb | wc -l)" = 4 ]
# What debhelper would add (cmake/packaging/deb.cmake), and a development version's contact, are no matter here.
lintian --allow-root --fail-on none --suppress-tags bogus-mail-host,no-changelog,no-copyright-file,\
uncompressed-manual-page,maintscript-calls-ldconfig,unstripped-binary-or-object ./*.deb >lintian.log 2>&1
if grep -E '^[EW]:' lintian.log; then
    exit 1
fi
rm -rf "$work" "$work.log"
