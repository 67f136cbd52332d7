#!/usr/bin/env python3
"""What ./quickstart test says at its end: how many tests were skipped, why, and what makes them run.

    tests/support/skipped.py build/tests.xml

The file is ctest's (--output-junit). Python 3.9 or newer and nothing else.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree

# What a test that skips itself prints, or its name; why; the one command that makes it run.
REASONS = (
    (r"PySCF", "no Python with PySCF",
     "./quickstart packages python && datasets/verify.py && ./quickstart test"),
    (r"no Python package", "packages that the Python module uses where they are installed",
     "(cd datasets && python3 -m fmodata.venvrun requirements-python.txt) && ./quickstart test"),
    (r"no CuPy", "no CuPy, or no NVIDIA GPU for it",
     "python3 -m venv .venv && .venv/bin/pip install pyscf cupy-cuda13x gpu4pyscf-cuda13x && "
     "FMO_PYSCF_PYTHON=.venv/bin/python ./quickstart test (on a machine with a GPU)"),
    (r"built without MPI", "no MPI, so that messages between processes are not built",
     "./quickstart packages mpi && ./quickstart test"),
    (r"matplotlib", "no matplotlib",
     "python3 -m pip install -r driver/bench/requirements.txt && ./quickstart test"),
    (r"tmpfs", "no small file system may be mounted here", "sudo ./quickstart test (outside of a container or chroot)"),
    (r"GPU|gpu|CUDA", "no NVIDIA GPU here, or no nvcc",
     "FMO_REQUIRE_GPU=1 ./quickstart test (on a machine with both)"),
)
OTHER = ("for a reason of their own", "ctest --test-dir build -V -R NAME (says which)")


def skipped(path: str) -> dict[tuple[str, str], list[str]]:
    """Names of the skipped tests, by reason and command."""
    found: dict[tuple[str, str], list[str]] = {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("skipped") is None:
            continue
        name = case.get("name", "")
        text = name + "\n" + (case.findtext("system-out") or "")
        reason = next(((why, command) for pattern, why, command in REASONS if re.search(pattern, text)), OTHER)
        found.setdefault(reason, []).append(name)
    return found


def main() -> int:
    """Lines for people; nothing if all tests ran."""
    if len(sys.argv) != 2:
        print("usage: tests/support/skipped.py build/tests.xml", file=sys.stderr)
        return 2
    try:
        found = skipped(sys.argv[1])
    except (OSError, ElementTree.ParseError) as error:
        print(f"skipped.py: {sys.argv[1]}: {error}", file=sys.stderr)
        return 3
    total = sum(map(len, found.values()))
    if total:
        print(f"\n{total} test{'s were' if total != 1 else ' was'} skipped:")
    for (why, command), names in found.items():
        print(f"  {len(names)}: {why} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})\n"
              f"     to run: {command}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
