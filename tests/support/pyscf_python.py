"""Finds a Python that has PySCF for a test script: the one named by FMO_PYSCF_PYTHON, else an environment that the
scripts of datasets/ make, else this one. To be called before PySCF is imported.
"""

import os
import pathlib
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATASETS = os.path.join(SOURCE, "datasets")


def environment_folder(requirements="requirements.txt"):
    """Where the scripts of datasets/ keep the environment of a requirements file."""
    sys.path.insert(0, DATASETS)
    from fmodata import venvrun  # pylint: disable=import-outside-toplevel
    return venvrun.folder(pathlib.Path(requirements))


def run_where_it_is(modules="pyscf", path="", **environment):
    """Restart the script in an interpreter that can import the modules, with path in PYTHONPATH and the environment
    variables that are not set; return if it already runs in one. If there is none the script is skipped, or fails
    with FMO_REQUIRE_PYSCF=1."""
    if os.environ.get("FMO_TEST_INSIDE"):
        return
    made = [str(environment_folder(name) / "bin" / "python") for name in ("requirements-python.txt", "requirements.txt")]
    for python in (os.environ.get("FMO_PYSCF_PYTHON"), *made, sys.executable):
        if python and os.path.exists(python) and subprocess.run(
                [python, "-c", f"import {modules}"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            paths = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")]))
            os.execve(python, [python, *sys.argv],
                      {**environment, **os.environ, "PYTHONPATH": paths, "FMO_TEST_INSIDE": "1"})
    print(f"skipped: no Python with {modules} (datasets/verify.py makes one in the user's cache; or "
          "FMO_PYSCF_PYTHON=...)")
    sys.exit(1 if os.environ.get("FMO_REQUIRE_PYSCF", "0") not in ("", "0") else 77)
