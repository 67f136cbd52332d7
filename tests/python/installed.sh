#!/bin/sh
# Tests of the Python module as a wheel of a build folder installs it, where neither the sources nor the build folder
# are: installed.sh BUILD. numpy and PySCF are those of FMO_PYSCF_PYTHON, or of the environment of datasets/.
set -eu
build=$(cd "$1" && pwd -P)
here=$(cd "$(dirname "$0")" && pwd -P)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$here/../../cmake/packaging/wheel.py" --build "$build" --output "$folder"
borrowed=${FMO_PYSCF_PYTHON:-$(cd "$here/../../datasets" && python3 -m fmodata.venvrun requirements.txt)/bin/python}
"$borrowed" -m venv "$folder/venv"
python=$folder/venv/bin/python
"$python" -m pip install --quiet --no-index --no-deps "$folder"/fmo*.whl
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$borrowed" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/borrowed.pth"

cp "$here"/*.py "$here"/../support/pyscf_python.py "$folder"
cd "$folder"
unset FMO_LIBRARY PYTHONPATH FMO_REQUIRE_PYTHON_EXTRAS
export FMO_TEST_INSIDE=1 OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive PATH="$folder/venv/bin:$PATH"
"$python" -c "import fmo; assert fmo.library_path().startswith('$site/fmo/lib/'), fmo.library_path()"
cat >water.xyz <<'XYZ'
3

O 0 0 0.117
H 0 0.757 -0.469
H 0 -0.757 -0.469
XYZ
fmo-driver water.xyz --basis 6-31g --scf --quiet | grep '^SCF: -75\.98'
for tests in "module.py Matrices Options Plans Fallback" "scf.py" "patch.py PatchAttributes" "molecule.py Alone" "results.py Properties"; do
    echo "installed: $tests"
    # shellcheck disable=SC2086
    "$python" $tests 2>&1 >log 2>&1 || { cat log; exit 1; }
    tail -n 3 log
done
