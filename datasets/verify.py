#!/usr/bin/env python3
"""Recompute what a data set says (overlap, J, K, G, energy ...) from its own basis and orbitals.

Needs plain python3 only, as make_dataset.py does. Read next: fmodata/checks.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fmodata import DatasetError, venvrun

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Exit code 0, or 1 if a check failed, 2 for usage (argparse), 3 for unreadable input."""
    parser = argparse.ArgumentParser(description="Verify data sets with PySCF.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE",
                        help="files to verify (default: every *.h5 beside this script)")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every check")
    options = parser.parse_args()
    worst = 0
    try:
        venvrun.reexec_inside(HERE / "requirements.txt")
        for path in options.files or sorted(HERE.glob("*.h5")):
            worst = max(worst, verify(path, options.verbose))
    except (DatasetError, OSError) as error:
        print(f"verify.py: {error}", file=sys.stderr)
        return 3
    return worst


def verify(path: Path, verbose: bool) -> int:
    """Print the outcome for one file; 0 if all checks passed, else 1."""
    from fmodata import checks

    results = checks.check_file(path)
    failed = [check for check in results if not check.passed]
    print(f"{path}: {len(results) - len(failed)} of {len(results)} checks passed", flush=True)
    for check in results if verbose else failed:
        verdict = "ok" if check.passed else "FAILED"
        print(f"  {verdict:6s} {check.name:26s} {check.error:8.1e} (at most {check.tolerance:.0e})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
