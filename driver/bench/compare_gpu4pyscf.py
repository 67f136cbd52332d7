#!/usr/bin/env python3
"""SCFs by GPU4PySCF alone, by GPU4PySCF with J and K of libfmo (fmo.patch), and by fmo.RHF.

    FMO_LIBRARY=build/lib/libfmo.so python3 driver/bench/compare_gpu4pyscf.py [SYSTEM:BASIS[:RUNS]]...

Requires a GPU, PySCF, CuPy and GPU4PySCF. SYSTEM is a file of datasets/xyz without its suffix. Prints the
median and the range of seconds from geometry to converged energy (conv_tol 1e-9; GPU4PySCF
starts from minao, fmo.RHF from its own guess), after one run that is not counted, and the time of J and K alone.
"""

import os
import statistics
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "driver", "python"))

# pylint: disable=wrong-import-position
import cupy
from gpu4pyscf.scf.hf import RHF
from pyscf import gto

import fmo

DEFAULT = ("water008:6-31g", "alkane_C20H42:6-31g", "alkane_C60H122:6-31g", "gly30:sto-3g", "water064:6-31g:2",
           "alkane_C20H42:6-31g*")


def seconds(call, runs):
    """Return the result of the last call, and the seconds of all calls but the first."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        result = call()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
    return result, times[1:]


def told(times):
    return f"{statistics.median(times):8.3f} s ({min(times):.3f}-{max(times):.3f})"


def scf(mol, patched):
    mf = RHF(mol.copy())  # plans are stored with the molecule: a copy has none, like a new geometry
    mf.conv_tol = 1e-9
    mf.init_guess = "minao"
    if patched:
        fmo.patch(mf)
    mf.kernel()
    return mf


def ours(mol):
    mf = fmo.RHF(mol.copy())
    mf.conv_tol = 1e-9
    mf.kernel()
    return mf


def main():
    for argument in sys.argv[1:] or DEFAULT:
        system, basis, *rest = argument.split(":")
        runs = int(rest[0]) if rest else 3
        mol = gto.M(atom=os.path.join(SOURCE, "datasets", "xyz", system + ".xyz"), basis=basis, verbose=0,
                    cart="*" in basis)
        print(f"{system} {basis}: {mol.nao} functions", flush=True)
        dm = None
        for name, call in (("GPU4PySCF", lambda: scf(mol, False)), ("patched", lambda: scf(mol, True)),
                           ("fmo.RHF", lambda: ours(mol))):
            mf, times = seconds(call, runs)
            print(f"  {name:10} {told(times)}  E = {float(mf.e_tot):.9f}, {mf.cycles} cycles", flush=True)
            if name == "fmo.RHF":
                continue
            dm = mf.make_rdm1()
            for what, build in (("J+K", lambda: mf.get_jk(mol, dm)),
                                ("J, K", lambda: (mf.get_j(mol, dm), mf.get_k(mol, dm)))):
                print(f"    {what:8} {told(seconds(build, 5)[1])}", flush=True)


if __name__ == "__main__":
    main()
