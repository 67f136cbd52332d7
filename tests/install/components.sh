#!/bin/sh
# Components of the installation: each has what its name says, no file is in two, and together they are the prefix.
# components.sh BUILD PREFIX CMAKE WORK_DIR
set -eu
build=$1 prefix=$2 cmake=$3 work=$4
fail() {
    echo "$*" >&2
    exit 1
}
files() {
    (cd "$1" && find . ! -type d | sort)
}

rm -rf "$work"
for component in library development programs python; do
    "$cmake" --install "$build" --component $component --prefix "$work/$component" >/dev/null
    files "$work/$component" >"$work/$component.list"
done
sort "$work"/*.list >"$work/together"
[ -z "$(uniq -d "$work/together")" ] || fail "in two components: $(uniq -d "$work/together")"
files "$prefix" | grep -v '/__pycache__/' | diff - "$work/together" || fail "the components are not the whole installation"

# only COMPONENT REGEX: all of its files match, and there are some.
only() {
    [ -s "$work/$1.list" ] || fail "component $1 is empty"
    if grep -Ev "$2" "$work/$1.list"; then
        fail "in component $1, and nothing for it"
    fi
}
only library 'libfmo[a-z_]*[.]so[.]|/share/(fmo|doc)/'
only development '/include/fmo/|libfmo[a-z_]*[.](so|a)$|/cmake/fmo/|/pkgconfig/fmo'
only programs '/bin/fmo-|/man/man1/fmo-|/bash-completion/completions/fmo-'
only python '/fmo/[a-z_]*[.]py$|/fmo/py[.]typed$'
rm -rf "$work"
