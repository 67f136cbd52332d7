#!/usr/bin/env python3
"""Compares a J and K build of mode cpu with one of libcint (PySCF from PyPI): same basis, density, cutoff.

    python3 datasets/make_dataset.py --benchmark alkane_C20H42_6-31g.h5
    driver/bench/compare_libcint.py datasets/made/alkane_C20H42_6-31g.h5 [FILE ...]

The two alternate, so that other load on the machine affects both; the ratio is that of the medians.
What either computes once per molecule (libcint's Schwarz bounds and optimizer, our plan) is not counted.
Errors of G are against the values in the file. Plain python3 is enough: PySCF comes from
datasets/requirements.txt into datasets/.venv on first use.
"""
from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Container

BUILDS = 4  # builds by fmo-driver in a turn, after the first one
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "datasets"))
from fmodata import DatasetError, venvrun  # noqa: E402


def command_line() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="Time mode cpu against libcint.")
    parser.add_argument("files", nargs="+", type=Path, metavar="DATASET.h5")
    parser.add_argument("--driver", type=Path, default=ROOT / "build" / "bin" / "fmo-driver",
                        help="the program to time (default build/bin/fmo-driver)")
    parser.add_argument("--cutoff", type=float, default=1e-10, help="of both (default 1e-10)")
    parser.add_argument("--threads", type=int, default=1, help="of both (default 1)")
    parser.add_argument("--turns", type=int, default=5, help="builds of each (default 5)")
    parser.add_argument("--time", choices=("wall", "cpu"), default="wall",
                        help="what to compare; cpu, the time that threads were running, is for a "
                        "machine with other load and one thread (default wall)")
    parser.add_argument("--option", action="append", default=[], metavar="OPTION",
                        help="one more argument of fmo-driver, such as --option=--scatter=fixed")
    return parser.parse_args()


def require_values(path: Path, file: Container[str]) -> None:
    """Raise DatasetError unless the data set has a density and a reference G."""
    missing = [name for name in ("/fmo/density", "/fmo/fock_2e") if name not in file]
    if missing:
        raise DatasetError(f"{path}: no {' and no '.join(missing)}: datasets/make_dataset.py makes data sets "
                           "that have both")


class Libcint:
    """J and K of the density in a data set, from PySCF's direct builder."""

    def __init__(self, path: Path, cutoff: float) -> None:
        import h5py
        import numpy as np
        from fmodata import files, rhf
        from pyscf import scf

        with h5py.File(path) as file:
            require_values(path, file)
            basis = files.read_basis(file)
            density = file["fmo/density"][...]
            self.reference = file["fmo/fock_2e"][...]
        self.mol, self.order = rhf.molecule_of(basis)
        self.scale = basis.ao_normalization
        self.density = np.empty_like(density)
        self.density[np.ix_(self.order, self.order)] = self.scale[:, None] * density * self.scale
        mf = scf.RHF(self.mol)
        mf.direct_scf_tol = cutoff
        self.opt = mf.init_direct_scf(self.mol)

    def build(self, clock: Callable[[], float]) -> tuple[float, object]:
        """Return the seconds of a build, and G in the order of the file."""
        from fmodata import rhf
        from pyscf.scf import _vhf

        start = clock()
        coulomb, exchange = _vhf.direct(self.density, self.mol._atm, self.mol._bas, self.mol._env,
                                        vhfopt=self.opt, hermi=1, cart=True)
        seconds = clock() - start
        return seconds, rhf.in_aos(coulomb - 0.5 * exchange, self.order, self.scale)


def run_driver(path: Path, options: argparse.Namespace, repeat: int,
               output: Path) -> tuple[dict, float]:
    """Return the profile of one run of fmo-driver, and its CPU time in seconds."""
    command = [options.driver, path, "--mode", "cpu", "--threads", str(options.threads), "--cutoff",
               repr(options.cutoff), "--repeat", str(repeat), "--profile=json", "--output", output,
               *options.option]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise DatasetError(f"{options.driver}: exit code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)["builds"][0], (after.ru_utime - before.ru_utime +
                                                  after.ru_stime - before.ru_stime)


def build_ours(path: Path, options: argparse.Namespace, folder: Path) -> tuple[float, object, int]:
    """Return the seconds of a build by fmo-driver, G, and the number of functions."""
    import h5py

    output = folder / "ours.h5"
    profile, longer = run_driver(path, options, 1 + BUILDS, output)
    seconds = profile["seconds"]["median"]
    if options.time == "cpu":  # both runs include reading, plan and writing
        _, shorter = run_driver(path, options, 1, output)
        seconds = (longer - shorter) / BUILDS
    with h5py.File(output) as file:
        return seconds, file["fmo/fock_2e"][...], profile["nao"]


def compare(path: Path, options: argparse.Namespace) -> None:
    """Print one line of the table."""
    import numpy as np

    libcint = Libcint(path, options.cutoff)
    clock = time.perf_counter if options.time == "wall" else time.process_time
    theirs, ours, worst = [], [], [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.turns):
            seconds, fock = libcint.build(clock)
            theirs.append(seconds)
            worst[0] = max(worst[0], np.abs(fock - libcint.reference).max())
            seconds, fock, nao = build_ours(path, options, Path(folder))
            ours.append(seconds)
            worst[1] = max(worst[1], np.abs(fock - libcint.reference).max())
    a, b = statistics.median(theirs), statistics.median(ours)
    print(f"{path.stem:22s} {nao:5d} {a:9.3f} ({min(theirs):.3f}-"
          f"{max(theirs):.3f}) {b:9.4f} ({min(ours):.4f}-{max(ours):.4f}) {a / b:7.2f}"
          f" {worst[0]:9.1e} {worst[1]:9.1e}", flush=True)


def main() -> int:
    """Return exit code 0, or 3 if a file or program could not be used."""
    options = command_line()
    try:
        venvrun.reexec_inside(ROOT / "datasets" / ".venv", ROOT / "datasets" / "requirements.txt",
                              options.threads)
        import pyscf
        from fmodata import rhf
        with open("/proc/cpuinfo", encoding="ascii") as info:
            model = next((line.split(":")[1].strip() for line in info
                          if line.startswith("model name")), "unknown processor")
        print(f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}; "
              f"{time.strftime('%Y-%m-%d %H:%M')}\nPySCF {pyscf.__version__}, libcint "
              f"{rhf.libcint_version()}; cutoff {options.cutoff:g}, {options.threads} threads, "
              f"{options.turns} turns of {1 + BUILDS} builds of ours, {options.time} time\n")
        print(f"{'data set':22s} {'nao':>5s} {'libcint s':>23s} {'fmo s':>27s} {'ratio':>7s}"
              f" {'|dG| lib':>9s} {'|dG| fmo':>9s}")
        for path in options.files:
            compare(path, options)
    except (DatasetError, OSError, KeyError) as error:
        print(f"compare_libcint.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
