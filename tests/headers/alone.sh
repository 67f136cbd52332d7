#!/bin/sh
# Every public header compiles alone, and twice, without a warning.
# alone.sh COMPILER LANGUAGE STANDARD INCLUDE_DIR HEADER...    e.g. cc c c11 build/include fock.h
compiler=$1 language=$2 standard=$3 include=$4
shift 4
failed=0
[ $# -gt 0 ] || { echo "no headers given" >&2; exit 1; }
for header in "$@"; do
    printf '#include <fmo/%s>\n#include <fmo/%s>\nint fmo_header_test;\n' "$header" "$header" |
        "$compiler" -x "$language" -std="$standard" -pedantic-errors -Wall -Wextra -Werror \
            -fsyntax-only -I "$include" - && echo "fmo/$header: good" || failed=1
done
exit $failed
