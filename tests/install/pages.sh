#!/bin/bash
# Manual pages and completions of an installation: every option of --help is in both, the pages are free of warnings where
# mandoc or man is there to say so, and bash completes options, values and experiments.
# pages.sh PREFIX BINDIR MANDIR DATADIR        (...DIR within PREFIX)
set -eu
prefix=$1 bindir=$2 mandir=$3 datadir=$4
fail() {
    echo "$*" >&2
    exit 1
}
compopt() { :; } # known only while a line is edited

# answers WORD...: what the completion of the first word offers for the last
answers() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    "_${1//-/_}"
    echo "${COMPREPLY[*]}"
}
expect() {
    local expected=$1 found
    shift
    found=$(answers "$@")
    [ "$found" = "$expected" ] || fail "completion of '$*': '$found', expected '$expected'"
}

for name in fmo-driver fmo-bench; do
    page=$prefix/$mandir/man1/$name.1 completion=$prefix/$datadir/bash-completion/completions/$name
    [ -s "$page" ] && [ -s "$completion" ] || fail "$name has no manual page or no completion"
    if command -v mandoc >/dev/null; then
        said=$(mandoc -T lint -W warning "$page") || fail "$said"
    fi
    if command -v man >/dev/null && man --version 2>/dev/null | grep -q '^man [0-9]'; then
        said=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -l -Tutf8 "$page" 2>&1 >/dev/null)
        [ -z "$said" ] || fail "man: $said"
    fi
    # shellcheck disable=SC1090
    . "$completion"
    complete -p "$name" | grep -q "_${name//-/_}" || fail "$name is not completed"
    options=$("$prefix/$bindir/$name" --help | grep -oE '^  (-[a-zA-Z], |    )--[a-z-]+' | grep -oE -- '--[a-z-]+$')
    [ "$(echo "$options" | wc -l)" -gt 30 ] || fail "$name --help shows too few options"
    for option in $options; do
        grep -qF -- "${option//-/\\-}" "$page" || fail "$page lacks $option"
        [[ " $(answers "$name" --) " == *" $option"[\ =]* ]] || fail "$completion lacks $option"
    done
done
expect "--mode --molden" fmo-driver --mo
expect "cpu" fmo-driver --mode c
expect "cpu" fmo-driver datasets/h2o_6-31g.h5 -m cp
expect "stored" fmo-driver --integrals = s
expect "table" fmo-driver --profile = t
expect "none check follow" fmo-driver --stability =
expect "" fmo-driver --threads 2
expect "kmeans" fmo-bench k
expect "cpu,gpu" fmo-bench fock --where cpu,g
expect "--geometry --geometries" fmo-bench fock --geom
