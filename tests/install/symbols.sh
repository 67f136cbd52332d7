#!/bin/sh
# The shared library exports every function that its headers declare and nothing else, and its file,
# soname and link name agree. It is not linked with the libraries of WITHOUT. NVIDIA's large libraries
# are loaded when they are needed (driver/scf/nvidia.h).
# symbols.sh LIBRARY.so VERSION SOVERSION WITHOUT HEADER...      WITHOUT: "hdf5|jansson", of their names
set -eu
library=$1 version=$2 soversion=$3 without=$4
shift 4
failed=0
complain() {
    echo "$*" >&2
    failed=1
}

name=$(basename "$library")
[ "$(readlink "$library")" = "$name.$soversion" ] || complain "$library is not a link to $name.$soversion"
[ "$(readlink "$library.$soversion")" = "$name.$version" ] ||
    complain "$library.$soversion is not a link to $name.$version"
soname=$(objdump -p "$library" | sed -n 's/^ *SONAME *//p')
[ "$soname" = "$name.$soversion" ] || complain "soname is $soname, expected $name.$soversion"

needed=$(objdump -p "$library" | sed -n 's/^ *NEEDED *//p' | grep -E "^lib(cublas|cusolver|cusparse|$without)" || true)
[ -z "$needed" ] || complain "$library needs" $needed

# Removes comments, joins each declaration to one line, and takes the name before the parenthesis.
declared=$(cat "$@" | sed 's|/\*[^*]*\*/||g' | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*FMO_\(API\|INNER\)[^(]*[ *]\(fmo_[a-z0-9_]*\)(.*/\2/p' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '{print $3}' | sort -u)
[ -n "$declared" ] || complain "no FMO_API in the headers"
for symbol in $exported; do
    echo "$declared" | grep -qx "$symbol" || complain "$symbol is exported and not declared"
done
for symbol in $declared; do
    echo "$exported" | grep -qx "$symbol" || complain "$symbol is declared and not exported"
done
echo "$(echo "$exported" | wc -l) symbols exported, $(echo "$declared" | wc -l) declared"
exit $failed
